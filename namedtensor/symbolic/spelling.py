"""Build nodes of the notation from names and numbers, and measure the length of a formula.

The length is the number of names (including stars and scripts), numbers, sizes and operators. Brackets do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
from math import isfinite
from typing import Any, NamedTuple

from grammar import nodes
from grammar.cache import Cache
from grammar.nodes import Axis, Call, Name, Node, Number, Rename, Starred
from grammar.traversal import children

from ..calculus.record_formulas import expression
from .applying import OPPOSITE
from .forms import DELTA, FormHead, FormIndex, Product
from .work import current

MARKS = "*†"


@lru_cache(maxsize=4096)
def component(axis: str) -> Node:
    """Return the node for an axis in a subscript."""
    node = expression(f"∑_{{{axis}}} x")
    assert isinstance(node, Call)
    return node.subscript[0]


def components(axes: Iterable[str]) -> tuple[Node, ...]:
    return tuple(map(component, axes))


def call(operator: str, *arguments: Node, axes: Iterable[str] = (), parameters: tuple[Node, ...] = ()) -> Call:
    return Call(operator, (), components(axes), arguments, parameters)


def shortest(candidates: Iterable[Node | None]) -> Node:
    return min(
        (candidate for candidate in candidates if candidate is not None), key=lambda node: (length(node), renames(node))
    )


def renames(node: Node) -> int:
    """Return the number of renames and stars in an expression."""
    return isinstance(node, (Rename, Starred)) + sum(map(renames, children(node)))


def distinct(axes: Iterable[str]) -> list[str]:
    """Append primes to repeated axis names."""
    names: list[str] = []
    for axis in axes:
        while axis in names:
            axis += "'"
        names.append(axis)
    return names


def rename(node: Node, names: Mapping[str, str]) -> Node:
    """Rename the axes of a node.

    The result is X^* if every axis gets the same star, and X_{a→b} otherwise.
    """
    moved = {old: new for old, new in names.items() if old != new}
    if not moved:
        return node
    marks = {new[len(old) :] if new.startswith(old) else "" for old, new in names.items()}
    if len(marks) == 1 and "" not in marks and set("".join(marks)) <= set(MARKS):
        return Starred(node, marks.pop())
    return Rename(node, tuple(((Axis(old),), (Axis(new),)) for old, new in moved.items()))


def number_node(value: Any) -> Node:
    if value == float("inf"):
        return Name("∞")
    above, below = number_parts(Fraction(value))
    above = above or Number(1)
    return above if below is None else call("/", above, below)


def number_parts(value: Fraction) -> tuple[Node | None, Node | None]:
    """Return nodes for the numerator and the denominator of a coefficient, or None for 1.

    Decimals such as 0.8 and 0.0625 are kept.
    """
    if (value.denominator > 16 or value.denominator % 5 == 0) and Fraction(repr(float(value))) == value:
        return Number(float(value)), None
    above = None if value.numerator == 1 else Number(value.numerator)
    return above, None if value.denominator == 1 else Number(value.denominator)


def size_node(text: str) -> Node:
    return expression(text if text.startswith("|") and text.count("|") == 2 else f"({text})")


def with_axes(node: Node, axes: Iterable[str]) -> Node:
    """Add axes to a node by multiplying it by ones_{ax}."""
    if not (axes := ",".join(axes)):
        return node
    ones = expression(f"ones_{{{axes}}}")
    if isinstance(node, Number):
        return ones if node == Number(1) else call("juxtaposed", node, ones)
    return call("⊙", node, ones)


_LENGTHS: Cache[int, tuple[Node, int]] = Cache(
    "lengths of expressions", 20_000
)  # Each entry keeps its node alive, so that the id is not reused.


def length(node: Node) -> int:
    """Return the number of symbols in an expression.

    >>> from grammar.parser import parse
    >>> length(parse("s ⊙ (I_{a,a*} − s_{a→a*})").statements[0].body)
    10
    """
    known = _LENGTHS.get(id(node))
    return _LENGTHS.store(id(node), (node, _length(node)))[1] if known is None else known[1]


def _length(node: Node) -> int:
    match node:
        case nodes.Number() | nodes.Name() | nodes.Axis() | nodes.Size():
            return 1
        case nodes.Subscript(base=nodes.Name(text="I" | "ones"), components=components):
            return 1 + len(components)
        case nodes.Subscript(base=nodes.Name(text="iota")):
            return 2
        case nodes.Superscript(base=base, components=components):
            label = isinstance(base, (nodes.Name, nodes.Subscript)) and (
                len(components) > 1 or any(isinstance(part, (nodes.Name, nodes.Starred)) for part in components)
            )
            return 1 if label else length(base) + sum(map(length, components))
        case nodes.Subscript():
            return 1
        case nodes.Rename(base=base, items=items):
            return length(base) + sum(len(old) + len(new) + 1 for old, new in items)
        case nodes.Starred(base=base):
            return length(base) + (not isinstance(base, (nodes.Name, nodes.Superscript, nodes.Subscript)))
        case nodes.Call(operator=operator, subscript=subscript):
            return (operator != "juxtaposed") + len(subscript) + sum(map(length, (*node.arguments, *node.parameters)))
        case nodes.Cases(branches=branches):
            return sum(length(value) + 1 + (0 if test is None else length(test)) for value, test in branches)
        case nodes.Derivative(body=body):
            return length(body) + 3
        case nodes.IndexSum():
            return 4 + length(node.body)
    return (not isinstance(node, nodes.Index)) + sum(map(length, children(node)))


class ProductPart(NamedTuple):
    """A factor as a node, with its indices, and whether it is a divisor."""

    node: Node
    indices: frozenset[FormIndex]
    below: bool = False


def indices_in(parts: Iterable[ProductPart]) -> frozenset[FormIndex]:
    return frozenset(index for part in parts for index in part.indices)


class UnwritableError(Exception):
    """Raised for a form that the notation cannot express."""


def off_diagonal(product: Product) -> Product:
    """Replace X_{i,i} I_{i,j} in a product with X_{i,j} I_{i,j}, in which X has no repeated index."""
    pairs = [factor.indices for factor in product.factors if factor.head is DELTA]
    if not pairs:
        return product
    result = []
    for factor in product.factors:
        for one, other in pairs:
            for old, new in ((one, other), (other, one)):
                if factor.head is not DELTA and factor.indices.count(old) == 2 and new not in factor.indices:
                    at = len(factor.indices) - 1 - factor.indices[::-1].index(old)
                    factor = factor._replace(indices=(*factor.indices[:at], new, *factor.indices[at + 1 :]))
        result.append(factor)
    return product._replace(factors=tuple(result))


def has_size(name: str, index: FormIndex, product: Product) -> bool:
    """Return whether an axis with this name can have the size of an index.

    For example, the axis k of ∑_{k=1}^{2} has size 2, so it cannot have the size of the k in ∑_{k=1}^{3}.
    """
    if not str(index.size).isdigit():
        return name not in current().numbered
    if current().numbered.get(name, index.size) != index.size:
        return False
    tensors = (factor for factor in product.factors if factor.head.kind == "tensor")
    axes = (pair for factor in tensors for pair in zip(factor.indices, factor.head.axes))
    return all(axis != name or str(other.size) == str(index.size) for other, axis in axes)


def formal_axes(head: FormHead, outs: Iterable[str], slots: Iterable[str]) -> dict[int, str]:
    """Return the names of an operator's axes by position.

    The result axes are named `outs`. Other axes are named after their bound indices. Primes distinguish the names from
    each other and from `slots`.
    """
    _, (at, outputs) = head.options
    taken, formal = set(slots), dict(zip(outputs, outs))
    for index, node in zip(head.bound, at):
        formal.setdefault(node, index.name)
    for node, axis in sorted(formal.items()):
        while axis in taken:
            axis += "'"
        formal[node] = axis
        taken.add(axis)
    return formal


# ------------------------------------------------------------------------------------ operators with a special syntax
def _write_between(head: FormHead, axes: list[str], *operands: Node) -> Node:
    return call(head.label, *operands)


def _write_cases(head: FormHead, axes: list[str], *operands: Node) -> Node:
    pairs = zip_longest(operands[::2], operands[1::2])
    return nodes.Cases(tuple(pairs))


def _write_reshaped(head: FormHead, axes: list[str], whole: Node) -> Node:
    old = len(head.bound)
    return Rename(whole, ((tuple(map(Axis, axes[:old])), tuple(map(Axis, axes[old:]))),))


def _write_literal(head: FormHead, axes: list[str], _: Node) -> Node:
    extent, numbers = head.options[0]
    cells = [number_node(Fraction(repr(value))) if isfinite(value) else Name("∞") for value in numbers]
    width = extent[-1]
    rows = tuple(tuple(cells[at : at + width]) for at in range(0, len(cells), width))
    return nodes.Literal(rows, tuple(map(Axis, axes)))


def _write_joined(head: FormHead, axes: list[str], *operands: Node) -> Node:
    if not all(head.parts):
        raise UnwritableError("a zero along an axis has no size to be written")
    return operands[0] if len(operands) == 1 else call("⊕", *operands, axes=axes)


# Each writer accepts the head, its axes, and the operands as nodes.
WRITERS: dict[str, Callable[..., Node]] = {
    "^": lambda head, axes, base, exponent: nodes.Superscript(base, (exponent,)),
    "indicator": lambda head, axes, condition: nodes.Indicator(condition),
    "index": lambda head, axes, whole, at: nodes.Index(whole, ((Axis(axes[0]), at),)),
    "iota": lambda head, axes, _: expression(f"iota_{{{axes[0]}}}"),
    "cases": _write_cases,
    "merge": _write_reshaped,
    "split": _write_reshaped,
    "literal": _write_literal,
    "⊕": _write_joined,
    **dict.fromkeys((*OPPOSITE, "∧", "∨", "¬", "odd", "even"), _write_between),
}
