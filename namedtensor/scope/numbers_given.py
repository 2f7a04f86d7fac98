"""Convert values that planning needs as integers, such as L in X^L, or n in `for t = 1, …, n` or in seq[n].

Planning needs Python integers. Other scalars, such as np.int64(3) and arrays or tensors without axes, are converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Axis, Call, IndexSum, Name, Node, Range, Size
from grammar.symbols import FUNCTIONS
from grammar.traversal import names_in

from ..core.kinds import to_integer
from .names import read_spelling, walk
from .symbols import Scope


def convert_integers(
    values: Mapping[str, Any],
    single: Iterable[str],
    possible: Callable[[frozenset[str]], frozenset[str]],
    scope: Callable[[], Scope],
) -> Mapping[str, Any]:
    """Convert the scalars in `values` that the formula needs as integers, such as L in X^L, to plain numbers.

    Scalar parameters of built-in operators are also converted. `single` contains the names of the scalars. The fast
    function `possible` returns all names that the formula might need as integers. The slower function `scope` is called
    only if `single` contains one of these names. Raise NotationError if the end of a range is not an integer.
    """
    if possible(frozenset(values)).isdisjoint(single):
        return values
    needed = set(numbers_in(scope())).intersection(single)
    plain = needed.union(set(parameters_in(scope())).intersection(single))
    numbers = {name: to_number(value) if name in plain else value for name, value in values.items()}
    for name in needed.intersection(ends_in(scope())):
        check_whole(name, numbers[name])
    return numbers


def to_number(value: Any) -> Any:
    """Convert a scalar tensor to a number, if possible an integer. Return other values, such as tracers, unchanged."""
    integer = to_integer(value)
    if integer is not None or not hasattr(value, "array"):
        return value if integer is None else integer
    try:
        return float(value.array)
    except Exception:
        return value


def check_whole(name: str, value: Any) -> None:
    """Raise NotationError if the value of a range end is not an integer."""
    try:
        number = float(value if isinstance(value, (int, float)) else value.array)
    except Exception:
        return
    if not number.is_integer():
        raise NotationError(
            402,
            f"{name} is the end of a range, so it must be an integer, got {number:g}",
            hint=f"pass an integer for {name}",
        )


def parameters_in(scope: Scope) -> Iterator[str]:
    """Yield the names after the semicolon of a built-in operator, such as p in norm_{ax}(X; p)."""
    functions = {function.operator for function in scope.all_functions()}
    for node in walk(scope.program):
        if isinstance(node, Call) and node.operator in FUNCTIONS and node.operator not in functions:
            for part in node.parameters:
                yield from names_in(part)


def ends_in(scope: Scope) -> set[str]:
    """Return the names in the ends of ranges and sums, and the names that are ends of slices."""
    ends: list[Node] = []
    for node in walk(scope.program):
        if isinstance(node, (Range, IndexSum)):
            ends += (node.first, node.last)
        elif isinstance(node, nodes.Slice):
            ends += (end for end in (node.first, node.last) if isinstance(end, Name))
    return set[str]().union(*map(names_in, ends))


def numbers_in(scope: Scope) -> Iterator[str]:
    """Yield the names whose values the formula needs as integers."""
    ranged = [family.name.base for family in scope.families]
    ranged += [family.name.base for function in scope.all_functions() for family in function.families]
    ranged += [name.base for _, name, _, over in scope.declarations if over is not None]
    for node in walk(scope.program):
        for part in whole_parts(node, frozenset(ranged)):
            yield from names_in(part)


def possible_numbers(program: nodes.Program) -> frozenset[str]:
    """Return all names that a formula might need as integers.

    Any name with scripts is treated as a possible member of a family. Unlike `numbers_in`, this function does not need
    the scope, so it is faster.
    """
    parts = (part for node in walk(program) for part in whole_parts(node, None))
    return frozenset[str]().union(*map(names_in, parts))


def whole_parts(node: Any, ranged: frozenset[str] | None) -> tuple[Node, ...]:
    """Return the children of a node that may have to be integers, such as member indices, range ends and sizes.

    `ranged` contains the names that have members. If it is None, every name may have members.
    """
    if isinstance(node, (Range, IndexSum, nodes.Slice)):
        return (node.first, node.last)
    if isinstance(node, nodes.Expectation):
        return (Name("draws"),)
    if isinstance(node, nodes.Set):
        return tuple(size for _, size in node.axes if size is not None)
    if isinstance(node, nodes.Equation):
        return node.sides if any(isinstance(side, Size) for side in node.sides) else ()
    if isinstance(node, Call):
        return (*node.superscript, *node.subscript, *(node.parameters if ranged is None else ()))
    name = None if isinstance(node, Axis) else read_spelling(node)
    if name is None or (ranged is not None and name.base not in ranged):
        return ()
    return (*name.subscript, *name.superscript)
