"""Infer the shapes of undeclared inputs: search for the smallest shapes with which a program has a type.

    softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V       Q ∈ ℝ^{key}, K ∈ ℝ^{seq × key}, V ∈ ℝ^{seq}

An undeclared name starts as a scalar. The checker's errors then tell which axis an operand lacks. The search tries each
way to add this axis, and visits shapes with the fewest axes first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from heapq import heappop, heappush
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from grammar import nodes
from grammar.errors import NotationError, OperandNote
from grammar.nodes import Call
from grammar.parser import parse
from grammar.printer import to_text
from grammar.traversal import children

from ..checking.report import check_program
from ..core.size_conditions import conditions
from ..core.sizes import SizeVariable
from ..programs.open_lengths import with_open_ends
from ..programs.parsed import ParsedProgram
from ..scope.names import MARKS, key, read_spelling, walk
from ..terms.inference import InputType
from ..terms.terms import resolve_shape
from .reading import base_of, equations_of, find_defined_names

Shapes = Mapping[str, Mapping[str, Any]]
Way = frozenset[tuple[str, str]]  # Pairs of a name and the axis that is added to it.
Found = TypeVar("Found")
MOST = 40  # The maximum number of shapes that are tried.
UNTYPED = (201, 301, 303, 305, 307)  # Larger shapes may fix these errors.


def with_shapes(given: Shapes, run: Callable[[Shapes], Found], tree: nodes.Program) -> Found:
    """Return `run(given)` or, if this raises a type error, `run` with the smallest shapes of all inputs.

    If the second call also fails, raise the first error.
    """
    try:
        return run(given)
    except NotationError as problem:
        first = problem
    if first.code not in UNTYPED:
        raise first
    try:
        shapes = with_fitting_shapes(given, partial(fitting, to_text(tree)), tree)
        heads = [base_of(equation.sides[0]) for equation in equations_of(tree)]
        defined = tuple(head.text for head in heads if isinstance(head, nodes.Name))
        if not any(name.startswith(defined) for name in shapes.keys() - given.keys()):
            return run(shapes)
    except NotationError:
        pass
    raise first


def fitting(source: str, shapes: Shapes) -> Shapes:
    """Return the shapes if they give the program a type. Raise UnfitShapesError otherwise."""
    infer_shapes(source, {}, shapes)
    return shapes


def find_derivative_variables(tree: nodes.Program) -> set[str]:
    """Return the names in the denominators of derivatives, except names that the program defines or declares."""
    texts = {node.variable.text for node in walk(tree) if isinstance(node, nodes.Derivative)
             and isinstance(node.variable, nodes.Name)}  # fmt: skip
    return texts.difference(*map(find_defined_names, tree.statements))


class UnfitShapesError(Exception):
    """Raised for a program without a type. It contains all errors of the program."""

    def __init__(self, errors: tuple[NotationError, ...]):
        self.errors = errors


def with_fitting_shapes(
    given: Shapes, run: Callable[[Shapes], Found], tree: nodes.Program, expected: Mapping[str, tuple[str, ...]] = {}
) -> Found:
    """Return `run(shapes)`, with shapes of undeclared names that give the program a type.

    The search enlarges the shapes while `run` raises UnfitShapesError. The definitions and calls in `tree` determine
    the meaning of a name. `expected` contains axes that a name always has. Raise NotationError if no shapes fit.
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
        except UnfitShapesError as unfit:
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
    """Return, for each name, the expressions that determine its axes.

    They are the bodies of the name's definitions, or the arguments of calls for a parameter.
    """
    bodies: dict[str, tuple[Any, ...]] = {}
    for head, body in (equation.sides[:2] for equation in equations_of(tree)):
        if read_spelling(head) is not None:
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
    """Yield sets of axes to add to the shapes, which may resolve the problems. The most likely set comes first."""
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
    """Yield the source text of each operand that lacks an axis, with this axis."""
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
    """Yield the ways to add an axis to the shapes of the names in an operand.

    In a sum, every summand gets the axis. In a product, only one factor gets the axis.
    """
    if read_spelling(node) is not None:
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


def find_input_shapes(source: str, sizes: Mapping[str, int], shapes: Shapes) -> Shapes:
    """Return the shapes of a program's inputs. Raise NotationError if the program has no type."""
    try:
        return infer_shapes(source, sizes, shapes).taken
    except UnfitShapesError as unfit:
        raise unfit.errors[0] from None


class TypedProgram(NamedTuple):
    """The shapes of a program's inputs, the shape of its value, and the unknown names in its range ends."""

    taken: Shapes
    value: Mapping[str, Any]
    ends: Collection[str]


def infer_shapes(source: str, sizes: Mapping[str, int], shapes: Shapes) -> TypedProgram:
    """Return the shapes of a program's inputs and its value. Raise UnfitShapesError if the program has no type."""
    program = ParsedProgram(source, "text")
    inputs = {key(name): InputType(shape) for name, shape in shapes.items()}

    def check(ends: Mapping[str, Any]) -> tuple[tuple[NotationError, ...], TypedProgram]:
        try:
            checker = program.checker(inputs, {**sizes, **ends}, infer_parameters=True, recover=True)
            with conditions():  # The sizes of a document may be symbols.
                result = check_program(source, checker)
        except NotationError as problem:
            return (problem,), TypedProgram({}, {}, ends)
        terms = {**checker.top.variables, **checker.parameters}
        resolved_shapes = {
            str(name): resolve_shape(term.shape) for name, term in terms.items() if term.operator == "input"
        }
        return result.errors, TypedProgram(resolved_shapes, result.shape or {}, ends)

    (errors, typed_program), _ = with_open_ends(check, itemgetter(0))
    if errors:
        raise UnfitShapesError(errors)
    return typed_program


def find_least_shapes(program: nodes.Program) -> tuple[Shapes, Mapping[str, Any]]:
    """Return the smallest shapes of the inputs with which a program has a type, and the shape of its value."""
    return with_fitting_shapes({}, partial(infer_shapes, to_text(program), {}), program)[:2]
