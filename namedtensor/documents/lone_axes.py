r"""Axes in definitions of functions that are in no other formula.

spread_{ax}(X) = ∑_{ax} (X - mean_{chans} X)^2 / |ax|
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from grammar import nodes

from ..operators import REGISTRY
from ..scope.names import walk
from .lines import DocumentLines, Line, Suspicion, is_call

CODE = 213
MIN_LIKE = 2  # how often an axis of the function is in the document, but for heads of functions


def lone_axes(lines: DocumentLines) -> Iterator[Suspicion]:
    """Yield a suspicion for each axis in a definition of a function of axes that is in no other formula."""
    functions = [line for line in lines.all if isinstance(line.head, nodes.Call) and line.head.subscript]
    counts = Counter(name for line in lines.all for name in axes_in(line.statement)) if functions else Counter[str]()
    for line in functions:
        like = max((axis.name for axis in axes_of(line.head)), key=counts.__getitem__, default="")
        if counts[like] < MIN_LIKE:
            continue
        indices = _indices(line)
        for node in line.body_nodes:
            # that of X ⊙_{key} Y, where neither is declared, may be in no other formula
            for axis in axes_of(node) if is_call(node, *REGISTRY) and len(node.arguments) == 1 else ():
                if counts[axis.name] == 1 and axis.name not in indices:
                    message = f"axis {axis.name} is in no other formula; {like} is in {counts[like]} places"
                    hint = f"write {like}, or declare a tensor with axis {axis.name}"
                    yield Suspicion(CODE, line, axis, message, hint)


def axes_of(call: nodes.Call) -> list[nodes.Axis]:
    """The axes in the subscript of a call."""
    return [axis for part in call.subscript if (axis := nodes.axis_of(part)) is not None]


def axes_in(node: Any) -> Iterator[str]:
    """The axes in a node, each as often as it is there; in LN_K, K is a label."""
    for below in walk(node):
        if isinstance(below, nodes.Axis):
            yield below.name
        elif is_call(below, *REGISTRY):
            yield from (axis.name for axis in axes_of(below))


def _indices(line: Line) -> set[str]:
    """The names in indices: i of X_{ax(i)}, which a sum has instead of an axis."""
    items = [at for node in line.body_nodes if isinstance(node, nodes.Index) for _, at in node.items]
    return {node.text for at in items for node in walk(at) if isinstance(node, nodes.Name)}
