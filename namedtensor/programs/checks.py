"""Types without data: what `check` gives, for a text, a program, or a name of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Number

from ..checking.checker import Checker
from ..checking.diagnostics import shown
from ..checking.lifting import Bindings, inline_call
from ..checking.report import AlreadyReported, CheckResult, InputType
from ..core.limits import recursion_headroom
from ..core.sizes import SizeVariable
from ..scope.names import Key, key
from ..scope.symbols import Definition, FunctionDefinition
from ..terms.terms import resolved_shape
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
        return _check_all(program.source, checker)


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
        return _report(program.source, checker, term)


def _check_all(source: str, checker: Checker) -> CheckResult:
    last: Any = None
    scope = checker.scope
    pending: list[tuple[int, Any]] = [(group[0].position, spelling) for spelling, group in scope.definitions.items()]
    pending += [(family.position, family) for family in scope.families]
    pending += list(scope.values)
    for _, what in sorted(pending, key=lambda entry: entry[0]):
        try:
            if isinstance(what, Key):
                term = checker.find(what, checker.top, scope.program)
            elif isinstance(what, Definition):
                term = checker.definition(what, checker.top)
            else:
                term = checker.last_term(what)
        except NotationError as problem:
            checker.note(problem)
            continue
        except AlreadyReported:
            continue
        if what is scope.last or (isinstance(scope.last, Definition) and what == scope.last.key) or what is scope.last:
            last = term
    for function in scope.all_functions():
        _check_function(checker, function)
    return _report(source, checker, last)


def _report(source: str, checker: Checker, last: Any) -> CheckResult:
    """What a checker has found, where `last` is the value of the whole."""
    for finish in (checker.solver.check, checker.check_claims):
        try:
            finish()
        except NotationError as problem:
            checker.note(problem)
        except AlreadyReported:
            pass
    types = {str(k): resolved_shape(t.shape) for k, t in {**checker.top.variables, **checker.parameters}.items()}
    types |= checker.types
    steps = _steps(checker)
    return CheckResult(
        source,
        None if last is None else resolved_shape(last.shape),
        types,
        steps,
        tuple(sorted(checker.errors, key=lambda e: e.span or (0, 0))),
        tuple(checker.warnings),
    )


def _check_function(checker: Checker, function: FunctionDefinition) -> None:
    """Check the body of a function that has a signature, for arguments of exactly its shape."""
    if function.signature is None or any(kind == "number" for kind, _ in function.subscript):
        return
    axes = {text: (text,) for kind, text in function.subscript if kind == "axis"}
    indices = {text: text for kind, text in function.superscript if kind == "index"}
    arguments = []
    for name, of in zip(function.parameters, function.signature.domain):
        shape = {axis.name: SizeVariable(f"|{axis.name}|") for axis, _ in of.axes}
        arguments.append(checker.graph.intern("input", options=(f"{function.title} {name.key()}",), shape=shape))
    bindings: Bindings = {"axes": axes, "numbers": {}, "indices": indices}
    try:
        inline_call(
            checker, function, bindings, {}, tuple(arguments), (), function.head, function.head.arguments, checker.top
        )
    except NotationError as problem:
        if problem.number not in (206, 309):
            checker.note(problem)
    except AlreadyReported:
        pass


def _steps(checker: Checker) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[int, int], tuple[str, str]] = {}
    for node, term, _ in checker.trace:
        if node.span not in found and not isinstance(node, Number):
            found[node.span] = (checker.text(node), shown(term.shape))
    return tuple(found.values())
