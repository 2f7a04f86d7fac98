"""Checks without data: the results of `check` for a source text, a program or one of its names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from grammar.errors import NotationError
from grammar.nodes import Equation, Program

from ..checking.checker import Checker
from ..checking.report import CheckResult, report
from ..checking.report import check_program as check_whole
from ..core.extents import Extent
from ..core.settings import recursion_headroom
from ..scope.names import Key, index_by_key, key, read_spelling
from ..terms.inference import AlreadyReportedError, InputType
from .arguments import shape_of, whole_sizes
from .entries import Entry, WholeProgram, argument_types
from .injected import claims, with_translation
from .open_lengths import with_open_ends
from .parsed import ParsedProgram


class CheckedProgram(NamedTuple):
    """The result of a check, and the checker that computed it. If there was nothing to check, the checker is None."""

    result: CheckResult
    checker: Checker | None


def check_goal(
    goal: WholeProgram | Entry, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None,
    by_keyword: Iterable[str] | None,
) -> CheckResult:  # fmt: skip
    """Return the result of `check` for a goal. The formula must use all shapes that are passed `by_keyword`.

    If `shapes` contains an argument of the function, the result has the type of the function's value.
    """
    if isinstance(goal, Entry) or goal.takes(shapes):

        def check(ends: Mapping[str, Extent]) -> CheckResult:
            return check_goal_types(goal, shapes, sizes, by_keyword, ends).result

        return for_any_length(check)
    return check_program(goal.program, shapes, sizes, by_keyword)


def check_goal_types(
    goal: WholeProgram | Entry, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None,
    by_keyword: Iterable[str] | None, ends: Mapping[str, Extent] = {},
) -> CheckedProgram:  # fmt: skip
    """Check a goal for the given shapes and return the result with its checker. `shapes` can also contain numbers."""
    entry = goal.entry() if isinstance(goal, Entry) or goal.takes(shapes) else None
    if entry is not None:
        return check_entry(entry, shapes, sizes, by_keyword, ends)
    return check_program_types(goal.program, shapes, sizes, by_keyword, ends)


def check_program(
    program: ParsedProgram, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None, by_keyword: Iterable[str] | None
) -> CheckResult:
    """Check a whole source text, which may have errors of any kind. The result tests assertions on first access."""

    def check(ends: Mapping[str, Extent]) -> CheckResult:
        return check_program_types(program, shapes, sizes, by_keyword, ends).result

    result = for_any_length(check)
    if not result.ok:
        first, *others = result.errors
        return replace(result, errors=(with_translation(first, program.source, dict(shapes)), *others))
    if not claims_something(program.tree, shapes):
        return result
    return replace(result, tried=partial(try_assertions, program.source, program.tree, dict(shapes), sizes))


def try_assertions(
    source: str, tree: Program, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None
) -> tuple[Any, ...]:
    """Test the assertions of a source text on random tensors, and return the outcomes."""
    return claims(source, tree, shapes, sizes)


def claims_something(tree: Program, shapes: Iterable[str]) -> bool:
    """Return whether a program has an equation that may be an assertion rather than the definition of a name."""
    keys = {key(name) for name in shapes}
    for statement in tree.statements:
        if isinstance(statement, Equation):
            head, *bodies = statement.sides
            name = read_spelling(head)
            if len(bodies) > 1 or name is None or name.key() in keys:
                return True
    return False


def for_any_length(check: Callable[[Mapping[str, Extent]], CheckResult]) -> CheckResult:
    """Run a check with size symbols for the open ends of ranges. Return its result, which is valid for any length."""
    result, conditions = with_open_ends(check, lambda result: result.errors)
    return replace(result, conditions=tuple(condition.shown for condition in conditions)) if conditions else result


def check_program_types(
    program: ParsedProgram,
    shapes: Mapping[str, Any],
    sizes: Mapping[str, int] | None,
    by_keyword: Iterable[str] | None,
    ends: Mapping[str, Extent] = {},
) -> CheckedProgram:
    try:
        inputs = input_types(shapes)
        checker = program.checker(
            inputs, {**whole_sizes(sizes), **ends}, by_keyword=by_keyword, infer_parameters=True, recover=True
        )
    except NotationError as problem:
        return CheckedProgram(CheckResult(program.source, None, {}, (), (problem,), ()), None)
    with recursion_headroom(program.source):
        return CheckedProgram(check_whole(program.source, checker), checker)


def check_entry(
    entry: Entry,
    shapes: Mapping[str, Any],
    sizes: Mapping[str, int] | None,
    by_keyword: Iterable[str] | None,
    ends: Mapping[str, Extent] = {},
) -> CheckedProgram:
    """Check a name of a program and the definitions that it depends on.

    The shapes of a function's arguments come from `shapes` or, if missing there, from the function's signature.
    """
    program = entry.program
    try:
        types = input_types(shapes)
        scope = program.scope_given(types)
        called = entry.called(program.checker({}, scope=scope))
        argument_inputs = [] if called is None else argument_types(entry, called[0], (), types)
        names = {name for name, _ in argument_inputs}
        inputs = {name: shape for name, shape in types.items() if name not in names}
        by_keyword = None if by_keyword is None else [name for name in by_keyword if key(name) not in names]
        checker = program.checker(
            inputs, {**whole_sizes(sizes), **ends}, scope=scope, arguments=[type_ for _, type_ in argument_inputs], by_keyword=by_keyword,
            infer_parameters=True, recover=True,
        )  # fmt: skip
    except NotationError as problem:
        return CheckedProgram(CheckResult(program.source, None, {}, (), (problem,), ()), None)
    term = None
    with recursion_headroom(program.source):
        try:
            term = entry.term(checker, [(str(name), shape) for name, shape in argument_inputs])
        except NotationError as problem:
            checker.note(problem)
        except AlreadyReportedError:
            pass
        return CheckedProgram(report(program.source, checker, term), checker)


def input_types(shapes: Mapping[str, Any]) -> dict[Key, InputType]:
    """Return the input type of each name, given its shape or integer."""
    types = {
        name: InputType(
            shape_of(text, name),
            text if isinstance(text, int) else None,
            labels=getattr(getattr(text, "layout", None), "labels", ()),
        )
        for name, text in shapes.items()
    }
    return index_by_key(types)
