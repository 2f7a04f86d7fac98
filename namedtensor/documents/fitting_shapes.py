"""Minimal shapes for undeclared names with which an assertion has a type.

    softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V       Q ∈ ℝ^{key}, K ∈ ℝ^{seq × key}, V ∈ ℝ^{seq}

An undeclared name starts as a scalar. The errors then tell which axis an operand is missing: each way to add it is
tried, those with the fewest axes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from heapq import heappop, heappush
from typing import Any, TypeVar

from grammar import nodes
from grammar.errors import NotationError, OperandNote
from grammar.nodes import Call
from grammar.parser import parse
from grammar.printer import to_text
from grammar.traversal import children

from ..core.sizes import SizeVariable
from ..scope.names import MARKS, spelled, walk

Shapes = Mapping[str, Mapping[str, Any]]
Way = frozenset[tuple[str, str]]  # names, and the axis that each of them gets
Found = TypeVar("Found")
MOST = 40  # shapes that are tried


class Unfit(Exception):
    """All that is wrong with a program at once."""

    def __init__(self, errors: tuple[NotationError, ...]):
        self.errors = errors


def with_fitting_shapes(
    given: Shapes, run: Callable[[Shapes], Found], tree: nodes.Program, expected: Mapping[str, tuple[str, ...]] = {}
) -> Found:
    """Run with the shapes that are given and those of the names that nothing specifies, made larger until it is right.

    `tree` is the program, whose definitions and calls say what a name stands for; `wanted` are axes that names have in any case. Raises
    NotationError: what is wrong where nothing helps. `run` raises Unfit.
    """
    begun = {
        name: {axis: SizeVariable(f"|{axis}|") for axis in axes} for name, axes in expected.items() if name not in given
    }
    bodies = _bodies(tree)
    waiting: list[tuple[int, int, Shapes]] = [(0, 0, {**begun, **given})]
    seen: set[frozenset[tuple[str, str]]] = set()
    stuck = last = NotationError(404, "no consistent shapes found within the limit")
    for number in range(MOST):
        if not waiting:
            break
        _, _, shapes = heappop(waiting)
        try:
            return run({name: dict(shape) for name, shape in shapes.items()})
        except Unfit as unfit:
            names = {name for name in shapes if name not in given}
            ways = [*_ways(unfit.errors, shapes, names, bodies)]
            last = unfit.errors[0]
            if not ways and stuck.code == 404:
                stuck = last
        for at, way in enumerate(ways):
            larger = {name: dict(shape) for name, shape in shapes.items()}
            for name, axis in sorted(way):
                larger.setdefault(name, {})
                if axis:
                    larger[name][axis] = SizeVariable(f"|{axis.rstrip(MARKS)}|")
            mark = frozenset((name, axis) for name, shape in larger.items() for axis in (*shape, ""))
            if mark not in seen:
                seen.add(mark)
                heappush(waiting, (sum(map(len, larger.values())), number * MOST + at, larger))
    raise last if stuck.code == 404 else stuck


def _bodies(tree: nodes.Program) -> dict[str, tuple[Any, ...]]:
    """What names stand for: those that are defined, and those that functions take, for what they are called with."""
    equations = [statement for statement in tree.statements if isinstance(statement, nodes.Equation)]
    bodies: dict[str, tuple[Any, ...]] = {}
    for head, body in (equation.sides[:2] for equation in equations):
        if spelled(head) is not None:
            bodies[to_text(head)] = (*bodies.get(to_text(head), ()), body)
        elif isinstance(head, Call) and head.operator[:1].isalpha():
            for call in walk(tree):
                if isinstance(call, Call) and call.operator == head.operator and call.arguments != head.arguments:
                    for name, argument in zip(map(to_text, head.arguments), call.arguments):
                        bodies[name] = (*bodies.get(name, ()), argument)
    return bodies


def _ways(
    problems: tuple[NotationError, ...], shapes: Shapes, names: set[str], bodies: Mapping[str, tuple[Any, ...]]
) -> Iterator[Way]:
    """Return larger shapes that may resolve the problems, most likely first."""
    unknown = {error.span_text or "" for error in problems if error.code == 201} - {*shapes, *bodies, ""}
    if unknown := {name for name in unknown if not set(name) & {" ", "("}}:
        yield frozenset((name, "") for name in unknown)
        return
    problem = problems[0]
    for text, axis in _lacking(problem):
        try:
            operand = parse(text, "text").statements[0]
        except NotationError:
            continue
        yield from dict.fromkeys(_carriers(operand, axis, names, bodies, False))


def _lacking(problem: NotationError) -> Iterator[tuple[str, str]]:
    """The operands, as text, that lack an axis, and which."""
    types = [(note.operand, {*note.axes}) for note in problem.notes if isinstance(note, OperandNote)]
    if problem.code == 301 and problem.axis is not None:
        yield from ((text, problem.axis) for text, axes in types if problem.axis not in axes)
    elif problem.code == 305 and problem.axis is not None:
        yield problem.span_text or "", problem.axis
    elif problem.code == 307 and len(types) == 2:
        (left, some), (right, others) = types
        for text, axes in ((left, others - some), (right, some - others)):
            for axis in sorted(axes, key=lambda axis: (axis[-1] in MARKS, axis)):
                yield text, axis
                if axis[-1] in MARKS:
                    yield text, axis.rstrip(MARKS)


def _carriers(
    node: Any, axis: str, names: set[str], bodies: Mapping[str, tuple[Any, ...]], starred: bool
) -> Iterator[Way]:
    """The names of an operand that may have an axis: all terms of a sum, one factor of a product, the last of them first."""
    if spelled(node) is not None:
        name = to_text(node)
        if name in names:
            yield frozenset({(name, axis.rstrip(MARKS) if starred else axis)})
        elif name in bodies:
            for body in bodies[name]:
                yield from _carriers(body, axis, names, {**bodies, name: ()}, starred)
        elif isinstance(node, nodes.Superscript):  # x^2
            yield from _carriers(node.base, axis, names, bodies, starred)
    elif isinstance(node, Call) and node.operator in ("+", "-"):
        terms = [next(_carriers(argument, axis, names, bodies, starred), frozenset()) for argument in node.arguments]
        if whole := frozenset[tuple[str, str]]().union(*terms):
            yield whole
    else:
        below = node.arguments if isinstance(node, Call) else children(node)
        for part in reversed(below):
            yield from _carriers(part, axis, names, bodies, starred or isinstance(node, nodes.Starred))
