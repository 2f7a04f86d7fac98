"""Check a whole program, and collect all types, all errors in recovery, and all warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grammar.cache import cached_property
from grammar.errors import NotationError, excerpt
from grammar.nodes import Number, Set
from grammar.plain_text import encodable

from ..core.extents import Extent
from ..core.sizes import SizeVariable
from ..core.suggestions import Suggests
from ..scope.dependencies import callers_of
from ..scope.names import Key, plain_key
from ..scope.symbols import Definition, FunctionDefinition
from ..terms.inference import AlreadyReportedError, format_shape
from ..terms.terms import Term, resolve_shape
from .application import scalar_term
from .checker import Checker
from .lifting import Bindings, inline_call


@dataclass(frozen=True)
class CheckResult(Suggests):
    """The result of a check.

    `types` maps names to their types, as text. `steps` contains each subexpression with its type, in order. `type` is
    the type of the result as text, and `shape` is the same type as a mapping. Both are None if an error prevents the
    inference of the type. `conditions` contains conditions on unknown range ends, such as `n ≤ 4`.
    """

    source: str
    shape: Mapping[str, Any] | None
    shapes: Mapping[str, Mapping[str, Any]]
    steps: tuple[tuple[str, str], ...]
    errors: tuple[NotationError, ...]
    warnings: tuple[Any, ...]
    conditions: tuple[str, ...] = ()
    tried: Callable[[], tuple[Any, ...]] = field(default=tuple, compare=False, repr=False)

    @cached_property
    def assertions(self) -> tuple[Any, ...]:
        """Return the outcome of each assertion. An assertion is an equation that does not define a name.

        The outcome has a `span` in the source and a `status`. An assertion is proved, disproved by a counterexample,
        not disproved by random tests, taken as a condition, or not tested. If it is disproved, `drawn` contains the
        tensors of the counterexample. If the program has errors, no assertion is tested, and the result is empty.
        """
        return self.tried() if self.ok else ()

    @property
    def ok(self) -> bool:
        """Whether the program has no errors."""
        return not self.errors

    @property
    def type(self) -> str | None:
        """The type of the result as text, or None if an error hides it."""
        return None if self.shape is None else format_shape(self.shape)

    @property
    def types(self) -> dict[str, str]:
        """The type of each name, as text."""
        return {name: format_shape(shape) for name, shape in self.shapes.items()}

    def raise_first(self) -> None:
        """Raise the first error, if any."""
        if self.errors:
            raise self.errors[0]

    @encodable
    def __str__(self) -> str:
        lines: list[str] = []
        if self.types:
            width = max(map(len, self.types))
            lines += [f"{name:<{width}} : {text}" for name, text in self.types.items()]
        if self.type is not None:
            lines.append(f"value : {self.type}" if self.types else self.type)
        lines += [f"where {condition}" for condition in self.conditions]
        for claim in self.assertions:
            start, end = claim.span
            lines.append(f"{' '.join(self.source[start:end].split())} : {claim}")
        for error in self.errors:
            lines += ["", str(error)]
        for warning in self.warnings:
            lines += ["", f"warning {warning.code}: {warning.message}", *excerpt(self.source, ((warning.span, ""),))]
            lines.append(f"  hint: {warning.hint}")
        return "\n".join(lines).lstrip("\n")

    __repr__ = __str__


def check_program(source: str, checker: Checker) -> CheckResult:
    """Check the definitions and values of a program in source order, then its functions and its assertions."""
    last: Any = None
    scope = checker.scope
    pending: list[tuple[int, Any]] = [(group[0].position, spelling) for spelling, group in scope.definitions.items()]
    pending += [(family.position, family) for family in scope.families]
    pending += list(scope.values)
    for _, what in sorted(pending, key=lambda entry: entry[0]):
        try:
            if isinstance(what, Key):
                term = checker.value(what)
            elif isinstance(what, Definition):
                term = checker.definition(what)
            else:
                term = checker.last_term(what)
        except NotationError as problem:
            checker.note(problem)
            continue
        except AlreadyReportedError:
            continue
        if what is scope.last or (isinstance(scope.last, Definition) and what == scope.last.key):
            last = term
    for function in scope.all_functions():
        _check_function(checker, function)
    return report(source, checker, last)


def report(source: str, checker: Checker, last: Any) -> CheckResult:
    """Run the final checks and return the result. `last` is the term of the program's value."""
    for finish in (checker.solver.check, checker.check_claims, checker.check_unused):
        try:
            finish()
        except NotationError as problem:
            checker.note(problem)
        except AlreadyReportedError:
            pass
    types = {str(k): resolve_shape(t.shape) for k, t in {**checker.top.variables, **checker.parameters}.items()}
    types |= checker.types
    steps = _steps(checker)
    return CheckResult(
        source,
        None if last is None else resolve_shape(last.shape),
        types,
        steps,
        tuple(sorted(checker.errors, key=lambda e: (e.span is None, e.span or (0, 0)))),
        tuple(checker.warnings),
    )


def _check_function(checker: Checker, function: FunctionDefinition) -> None:
    """Check the body of a function with arguments of exactly the stated shapes.

    Functions without stated shapes are skipped. Missing values and names that a caller provides are accepted.
    """
    domain = _domain(function)
    if domain is None:
        return
    numbers = {
        text: scalar_term(checker, SizeVariable(text), text, function.head)
        for kind, text in function.subscript
        if kind == "number"
    }
    axes = {text: (text,) for kind, text in function.subscript if kind == "axis"}
    indices = {text: text for kind, text in function.superscript if kind == "index"}
    arguments: list[Term] = []
    for name, of in zip(function.parameters, domain):
        shape = {axis.name: _size_of_argument(checker, axis.name) for axis, _ in of.axes}
        arguments.append(checker.graph.intern("input", options=(f"{function.title} {name.key()}",), shape=shape))
    bindings: Bindings = {"axes": axes, "numbers": {}, "indices": indices}
    before = len(checker.errors)
    try:
        inline_call(
            checker,
            function,
            bindings,
            numbers,
            tuple(arguments),
            (),
            function.head,
            function.head.arguments,
            checker.top,
        )
    except NotationError as problem:
        if problem.code not in (206, 309):
            checker.note(problem)
    except AlreadyReportedError:
        pass
    unknown = [problem for problem in checker.errors[before:] if problem.code == 201 and problem.symbol is not None]
    callers = callers_of(function, checker.scope.all_functions()) if unknown else []
    for problem in unknown:
        if any(caller.provides(plain_key(problem.symbol or "")) for caller in callers):
            checker.errors.remove(problem)


def _size_of_argument(checker: Checker, axis: str) -> Any:
    """Return the given size of an axis if it is symbolic, or a new size variable otherwise."""
    size = checker.given_sizes.get(axis)
    return size if type(size) is Extent else SizeVariable(f"|{axis}|")


def _domain(function: FunctionDefinition) -> list[Set] | None:
    """Return the declared sets of a function's arguments, or None if an argument is undeclared.

    Also return None for a function that has parameters after the semicolon but no signature.
    """
    if function.signature is not None:
        return list(function.signature.domain)
    declarations = [function.declarations.get(name.key()) for name in function.parameters]
    return None if None in declarations or function.options else declarations  # type: ignore[return-value]


def _steps(checker: Checker) -> tuple[tuple[str, str], ...]:
    result: dict[tuple[int, int], tuple[str, str]] = {}
    for node, term, _ in checker.trace:
        if node.span not in result and not isinstance(node, Number):
            result[node.span] = (checker.text(node), format_shape(term.shape))
    return tuple(result.values())
