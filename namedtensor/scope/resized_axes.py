"""Find axes that windows and slices resize, such as d in unroll_{d,k}(X), pool_{d,k}(X) and X_{d(2:4)}.

The new size is computed from the original size, so it does not conflict with the size of d in `sizes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Name, Node, axis_of
from grammar.traversal import names_in

from .names import walk
from .symbols import Scope
from .uses import reach

WINDOWS = frozenset({"unroll", "pool"})  # These operators resize their first axis.


def may_resize(scope: Scope) -> bool:
    """Return whether a program contains an operator or a slice that may resize an axis."""
    return any(True for node in walk(scope.program) for _ in _find_resized(node))


def resizes(scope: Scope, node: Node, axis: str) -> bool:
    """Return whether a window or slice may have changed the size of an axis in an expression."""
    waiting: list[tuple[Any, frozenset[str]]] = [(node, frozenset((axis,)))]
    seen: set[tuple[int, frozenset[str]]] = set()
    while waiting:
        root, names = waiting.pop()
        if (id(root), names) in seen:
            continue
        seen.add((id(root), names))
        for part in walk(root):
            if any(name in names for name in _find_resized(part)):
                return True
            if isinstance(part, Name):
                waiting += [(body, names) for body in scope.bodies_named(part.text)]
            elif isinstance(part, Call):
                for function in scope.functions.get(part.operator, ()):
                    waiting.append((function.body, names | function.over_axes))
    return False


def _find_resized(node: Any) -> Iterator[str]:
    """Yield the axes that the node itself resizes."""
    if isinstance(node, Call) and node.operator in WINDOWS and node.subscript:
        first = axis_of(node.subscript[0])
        if first is not None:
            yield first.name
    elif isinstance(node, nodes.Index):
        yield from (axis.name for axis, at in node.items if isinstance(at, nodes.Slice))


def is_used(scope: Scope, node: Node, name: str) -> bool:
    """Return whether an expression uses a name, directly or through definitions and functions."""

    def following(text: str) -> Iterable[str]:
        return chain.from_iterable(words_in(body) for body in scope.bodies_named(text))

    return name in reach(words_in(node), following)


def words_in(node: Node) -> set[str]:
    """Return the names and functions in an expression, without scripts."""
    return names_in(node) | {part.operator for part in walk(node) if isinstance(part, Call)}
