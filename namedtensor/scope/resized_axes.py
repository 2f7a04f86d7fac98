"""Axes that windows and slices resize, such as d in unroll_{d,k}(X), pool_{d,k}(X) and X_{d(2:4)}.

The new size is computed from the original size, so it does not conflict with the size of d in `sizes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Name, Node, axis_of

from .names import walk
from .symbols import Scope

WINDOWS = frozenset({"unroll", "pool"})  # the operators that give their first axis another size


def may_resize(scope: Scope) -> bool:
    """Return whether a program contains an operator or slice that may resize an axis."""
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
                waiting += [(body, names) for body in bodies_named(scope, part.text)]
            elif isinstance(part, Call):
                for function in scope.functions.get(part.operator, ()):
                    waiting.append((function.body, names | function.over_axes))
    return False


def _find_resized(node: Any) -> Iterator[str]:
    """Yield the axes whose sizes the node itself changes."""
    if isinstance(node, Call) and node.operator in WINDOWS and node.subscript:
        first = axis_of(node.subscript[0])
        if first is not None:
            yield first.name
    elif isinstance(node, nodes.Index):
        yield from (axis.name for axis, at in node.items if isinstance(at, nodes.Slice))


def bodies_named(scope: Scope, base: str) -> Iterator[Node]:
    """Yield the bodies of all definitions of a name, in the program and in its functions."""
    for holder in (scope, *scope.all_functions()):
        yield from (definition.body for definition in holder.all_definitions() if definition.name.base == base)


def is_used(scope: Scope, node: Node, name: str) -> bool:
    """Return whether an expression uses a name, directly or through definitions and functions."""
    waiting: list[Any] = [node]
    seen: set[int] = set()
    while waiting:
        root = waiting.pop()
        if id(root) in seen:
            continue
        seen.add(id(root))
        for part in walk(root):
            if isinstance(part, Name):
                if part.text == name:
                    return True
                waiting += bodies_named(scope, part.text)
            elif isinstance(part, Call):
                waiting += [function.body for function in scope.functions.get(part.operator, ())]
    return False
