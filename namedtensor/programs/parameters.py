"""Parameter inference: the shape of each name that a program declares and uses but does not define."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

from grammar.errors import TYPE_NEEDED, NotationError

from ..checking.checker import Checker
from ..checking.open_labels import counts_members
from ..core.extents import Extent
from ..core.sizes import SizeVariable
from ..scope.names import index_by_key, key
from ..terms.inference import InputType
from ..terms.terms import resolve_shape
from .arguments import shape_of, whole_sizes
from .entries import Entry, WholeProgram
from .open_lengths import with_open_ends

Shapes = dict[str, dict[str, Any]]  # by name and axis: the size, or None if it is unknown


def infer_types(
    goal: WholeProgram | Entry, sizes: Mapping[str, int] | None, shapes: Mapping[str, Any],
    by_keyword: Iterable[str] | None = None,
) -> Checker:  # fmt: skip
    """Return a checker that has typed the goal, in which each declared name is an input.

    A range end without a given value is a size symbol. If it counts parameters, such as L in W^l for l = 1, …, L, the
    function raises NotationError.
    """
    numbers = {name: value for name, value in shapes.items() if isinstance(value, int)}
    inputs = index_by_key({name: InputType(shape_of(text, name), numbers.get(name)) for name, text in shapes.items()})
    program, extent = goal.program, whole_sizes(sizes)
    first: NotationError | None = None

    def check(ends: Mapping[str, Extent]) -> tuple[Checker, tuple[NotationError, ...]]:
        nonlocal first
        checker = program.checker(
            inputs, {**extent, **ends}, scope=program.scope, by_keyword=by_keyword, infer_parameters=True
        )
        try:
            goal.infer_parameters(checker)
            checker.check_unused()
        except NotationError as problem:
            first = first or problem
            return checker, (problem,)
        return checker, ()

    (checker, errors), _ = with_open_ends(check, itemgetter(1))
    if first is not None and any(counts_members(checker, name) for name in checker.parameters):
        raise first
    for problem in errors:
        raise problem
    return checker


def parameter_shapes(
    goal: WholeProgram | Entry, sizes: Mapping[str, int] | None, shapes: Mapping[str, Any],
    by_keyword: Iterable[str] | None = None,
) -> Shapes:  # fmt: skip
    """Return the shapes of the names that the goal uses and that are declared, but neither defined nor in `shapes`."""
    return shapes_of(infer_types(goal, sizes, shapes, by_keyword), shapes)


def shapes_of(checker: Checker, shapes: Mapping[str, Any]) -> Shapes:
    texts = {str(key(name)) for name in shapes}
    known: dict[int, dict[str, Any]] = {}  # by the identity of a term's shape, which members of a family share
    result: Shapes = {}
    for name, term in checker.parameters.items():
        if str(name) in texts:
            continue
        if id(term.shape) not in known:
            known[id(term.shape)] = {
                axis: None if isinstance(size, (SizeVariable, Extent)) else size
                for axis, size in resolve_shape(term.shape).items()
            }
        result[str(name)] = dict(known[id(term.shape)])
    return result


def ask_for_type(problem: NotationError) -> NotationError:
    """Return an error that asks for a name's type if `problem` is a missing type. Otherwise, return `problem`."""
    name = problem.symbol
    if problem.reason != TYPE_NEEDED:
        return problem
    hint = f'pass {name}="ℝ^{{a × b}}", or define {name} with an equation'
    return NotationError(201, f"the type of {name} is unknown", problem.source, problem.span, hint=hint, symbol=name)


def need_shapes(goal: WholeProgram | Entry, shapes: Mapping[str, Any]) -> None:
    """Raise NotationError if a function with parameters has no signature and the shape of an argument is unknown."""
    keys, names = {key(name) for name in shapes}, goal.program.names
    for function in goal.functions():
        missing = [str(name.key()) for name in function.parameters if name.key() not in keys]
        asked = names.asked(function) if missing and function.signature is None else []
        if asked:
            undeclared = [str(name) for name in asked if name not in names.declared]
            say = f"declare {undeclared[0]} ∈ ℝ^{{…}}, and " if undeclared else ""
            raise NotationError(
                206, f"{function.title} has no signature, and the type of its argument {missing[0]} is missing",
                notes=(f"so the shape of {asked[0]} is unknown",),
                hint=f'{say}write {function.title} : ℝ^{{seq × chans}} → …, or pass {missing[0]}="ℝ^{{seq × chans}}"',
            )  # fmt: skip
