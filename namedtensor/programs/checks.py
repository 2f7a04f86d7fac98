"""Types without data: what `check` gives, for a text, a program, or a name of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grammar.errors import NotationError

from ..checking.report import CheckResult, report
from ..checking.report import check_program as check_whole
from ..core.limits import recursion_headroom
from ..scope.names import key
from ..terms.inference import AlreadyReported, InputType
from .arguments import shape_of, whole_sizes
from .entries import Entry, WholeProgram, argument_types
from .parsed import ParsedProgram


def check_goal(
    goal: WholeProgram | Entry, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None,
    told: Iterable[str] | None,
) -> CheckResult:  # fmt: skip
    """What `check` gives; shapes that are not `told` of this formula may be of names that it has not.

    Of a function that one of the shapes is an argument of, the type is that of its value.
    """
    entry = goal.entry() if isinstance(goal, Entry) or goal.takes(shapes) else None
    if entry is not None:
        return check_entry(entry, shapes, sizes, told)
    return check_program(goal.program, shapes, sizes, told)


def check_program(
    program: ParsedProgram, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None, told: Iterable[str] | None
) -> CheckResult:
    """The same for all that a text says, which may have errors of any kind."""
    try:
        inputs = {key(name): InputType(shape_of(text, name)) for name, text in shapes.items()}
        checker = program.checker(inputs, whole_sizes(sizes), told=told, infer_parameters=True, recover=True)
    except NotationError as problem:
        return CheckResult(program.source, None, {}, (), (problem,), ())
    with recursion_headroom(program.source):
        return check_whole(program.source, checker)


def check_entry(
    entry: Entry, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None, told: Iterable[str] | None
) -> CheckResult:
    """The same for one name of a program, and what it needs; a function of arguments as its signature has them."""
    program = entry.program
    try:
        given = {key(name): InputType(shape_of(text, name)) for name, text in shapes.items()}
        scope = program.scope_given(given)
        called = entry.called(program.checker({}, scope=scope))
        own = [] if called is None else argument_types(entry, called[0], (), given)
        names = {name for name, _ in own}
        inputs = {name: shape for name, shape in given.items() if name not in names}
        told = None if told is None else [name for name in told if key(name) not in names]
        checker = program.checker(
            inputs, whole_sizes(sizes), scope=scope, arguments=[each for _, each in own], told=told,
            infer_parameters=True, recover=True,
        )  # fmt: skip
    except NotationError as problem:
        return CheckResult(program.source, None, {}, (), (problem,), ())
    term = None
    with recursion_headroom(program.source):
        try:
            term = entry.term(checker, [(str(name), shape) for name, shape in own])
        except NotationError as problem:
            checker.note(problem)
        except AlreadyReported:
            pass
        return report(program.source, checker, term)
