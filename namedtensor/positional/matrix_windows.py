"""Two letters in one index: x_{t+k-1} of a sliding window, s_{t-k+1} of a convolution."""

from __future__ import annotations

from grammar import nodes
from grammar.nodes import Node

from .axes import AxisVariable
from .binders import Item
from .matrix_leaves import WINDOWS, MatrixLeaves
from .source_tree import Tree
from .values import call, iota, number, renamed, size

CAUSAL = ("0 before its start", "only where all of it is known")


def window(
    walk: MatrixLeaves, tree: Tree, node: Node, axis: AxisVariable, item: Item, text: str
) -> tuple[Node, dict[str, AxisVariable]]:
    """A tensor indexed by a place and an offset that a sum binds; the axes of both letters."""
    bound = [letter for letter in item.letters if letter in walk.summing]
    places = [letter for letter in item.plus if letter not in bound]
    turned = item.minus == (*bound,) and item.offset == 1
    if (
        len(bound) != 1
        or len(places) != 1
        or len(item.letters) != 2
        or not (turned or item.offset == -1 and not item.minus)
    ):
        raise walk.refuse(
            tree, f"the index {text} is not supported", "write x_{t+k-1} or x_{t-k+1} under ∑_k, with k from 1"
        )
    offset, kernel = bound[0], walk.axes.new()
    if turned and walk.choose(tree.span, f"{walk.text(tree)} where {text} is below 1", CAUSAL) == 0:
        variable = walk.axes.twin(axis)
        shifted = call("+", (call("-", (iota(variable), iota(kernel))), number(1)))
        inside = nodes.Index(node, ((nodes.Axis(axis.key), call("max", (number(1), shifted))),))
        result: Node = nodes.Cases(((inside, call("≤", (iota(kernel), iota(variable)))), (number(0), None)))
        walk.axes.facts.same.append((variable, axis))
    else:
        variable = walk.axes.new(hint=axis.kind.hint)
        walk.axes.facts.longer.append((axis, kernel))
        inner = walk.axes.twin(kernel) if turned else kernel
        result = renamed(call("unroll", (node,), (axis, inner)), [(axis, variable)])
        walk.axes.apart((axis, inner, variable))
        if turned:
            back = call("+", (call("-", (size(kernel), iota(kernel))), number(1)))
            result = nodes.Index(result, ((nodes.Axis(inner.key), back),))
            walk.axes.apart((inner, kernel, variable))
            walk.axes.facts.same.append((inner, kernel))
    walk.axes.apart((axis, kernel, variable))
    walk.meet(tree, walk.letter(offset), kernel, offset)
    walk.meet(tree, walk.letter(places[0]), variable, places[0])
    return result, {places[0]: variable, offset: kernel}


WINDOWS["window"] = window
