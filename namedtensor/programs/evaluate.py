"""Evaluation of a text, and every step to its value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grammar.cache import Cache
from grammar.errors import NotationError
from grammar.locks import LOADING, all_or_none
from grammar.nodes import Derivative
from grammar.parser import check_source

from ..backends.libraries import target_of
from ..checking.checker import Checker
from ..core.kinds import is_mapping, wrong
from ..core.limits import DEFAULT, Limits
from ..core.warned import warn
from ..scope.symbols import Definition
from .arguments import Arguments, Values, all_values, keyword_names, whole_sizes
from .call_cache import CachedCall, new_cache
from .entries import Goal, WholeProgram
from .executable import Executable, Options, Run, Typed, executable, typed
from .injected import with_translation
from .parsed import ParsedProgram

if TYPE_CHECKING:
    from ..core.tensor import NamedTensor
    from ..display.steps import Explanation

MAX_EVALUATORS = 2048
EXECUTABLES = new_cache("executables of texts")  # of all texts
EVALUATORS: Cache[Any, Any] = Cache(
    "evaluators of texts", MAX_EVALUATORS
)  # text, or formula → what evaluates it; else the text with its options


class Asked(CachedCall):
    """The base of everything that has a value by a call: a text, a formula, a name of a program."""

    _goal: Goal

    def explain(
        self, *arguments: Any, values: Values | None = None, sizes: Mapping[str, int] | None = None, **named: Any
    ) -> Explanation:
        """Every step to its value, in order."""
        raise NotImplementedError


class Evaluator(Asked):
    """A text that is evaluated."""

    def __init__(self, program: ParsedProgram, strict: bool = False):
        super().__init__(EXECUTABLES)
        self._goal, self._strict = WholeProgram(program), strict

    def _bound(self, arguments: tuple[Any, ...], by_name: dict[str, Any]) -> Arguments:
        return Arguments(by_name)

    @property
    def _read(self) -> ParsedProgram:
        return self._goal.program

    def _repeat(self, names: tuple[str, ...], run: Run) -> None:
        super()._repeat(names, run)
        self._by_name = names, run  # also where there are none: nothing comes by position

    def _made(
        self,
        given: Arguments,
        sizes: dict[str, int],
        by_keyword: tuple[str, ...],
        spread: Mapping[str, int] | None = None,
    ) -> Executable:
        with LOADING, all_or_none():
            from ..tensors.values import namespace_of

        target = target_of(namespace_of(given.arrays)).over(spread)
        return executable(self._typed(given, sizes, by_keyword), given.abstract, target)

    def _typed(self, given: Arguments, sizes: dict[str, int], by_keyword: tuple[str, ...]) -> Typed:
        found = typed(self._goal, given, [], Options(sizes, by_keyword, self._strict))
        assert found.checker is not None
        warn_of_checks(found.checker)
        return found


def evaluator(source: Any, syntax: str = "auto", strict: bool = False, limits: Limits = DEFAULT) -> Evaluator:
    """The evaluator of a text; the same one each time."""
    plain = syntax == "auto" and not strict and limits is DEFAULT
    key = source if plain else (source, syntax, strict, limits)
    try:
        found = EVALUATORS.get(key)
    except TypeError:  # it is no text
        found = None
    if found is None:
        if not isinstance(limits, Limits):
            raise wrong(limits, "limits=", "of the kind Limits", "write limits=nt.Limits(max_steps=10**7)")
        check_source(source, syntax)
        found = EVALUATORS.get_or_build(key, lambda: Evaluator(ParsedProgram(source, syntax, limits), bool(strict)))
    return found


WARNED = (107, 209, 319)  # the warnings of `check` that evaluating gives too, beside those of axes that may be misspelt


def warn_of_checks(checker: Checker) -> None:
    """Warn, on the first evaluation, of lines that continue an equation, of built-ins that a formula replaces, of axes that
    meet with a mark and without, and of claims whose values are not compared.
    """
    for each in checker.warnings:
        if each.code in WARNED or each.misspelt:
            warn(f"{each.message}: {checker.text(each.span)} ({each.hint})")
    for span, (reason, hint) in checker.only_typed.items():
        warn(f"this assertion was not checked: {reason}: {checker.text(span)} ({hint})")


def warned(found: Typed) -> Typed:
    """Return the types of a new signature, after a warning about axes that may be misspelled."""
    for each in found.checker.warnings if found.checker is not None else ():
        if each.misspelt:
            assert found.checker is not None
            warn(f"{each.message}: {found.checker.text(each.span)} ({each.hint})")
    return found


def evaluate(
    formula: str | Asked,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    strict: bool = False,
    limits: Limits = DEFAULT,
    **named: Any,
) -> NamedTensor:
    """Compute the value of a formula.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text. The value of several statements is that of the last one that no other uses.
    values : mapping of str to tensor or number, optional
        Inputs by name, if not passed as keywords. It may have names that the formula does not use.
    sizes : mapping of str to int, optional
        Sizes of axes that the inputs do not determine.
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).
    strict : bool
        Whether an outer broadcast, or a definition that replaces a built-in function, is an error (default: False; see
        `nt.strict`).
    limits : Limits
        Bounds of time and memory (default: `Limits()`).
    **named : tensor or number
        Inputs by name.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the formula or an input is wrong. The message shows where, and how to fix it.

    Warns
    -----
    NotationWarning
        If the formula is valid but may not mean what it says, as where it replaces a built-in function.

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.evaluate("∑_{width} A", A=A).to_array().tolist()
    [8.0, 15.0]
    """
    plain = syntax == "auto" and not strict and limits is DEFAULT
    if plain and sizes is None:
        try:
            if values is None:
                names, run = EVALUATORS.get(formula)._by_name  # type: ignore[union-attr]
                given = named
            else:
                names, run = EVALUATORS.get(formula)._by_mapping  # type: ignore[union-attr]
                given = values
            if (*given,) == names and (given is named or not named):
                result = run((*given.values(),))
                if result is not None:
                    return result
        except Exception:  # the slow path raises the proper error
            pass
    try:
        if not isinstance(formula, Asked):
            return evaluator(formula, syntax, strict, limits)._called((), values, sizes, named)
        if plain:
            return EVALUATORS.store(formula, formula)._called((), values, sizes, named)
        return limited(formula, strict, limits)._called((), values, sizes, named)
    except NotationError as problem:
        if isinstance(formula, str):
            problem = with_translation(problem, formula, {**(values if is_mapping(values) else {}), **named})
        raise problem.alone() from None


def limited(formula: Asked, strict: bool, limits: Limits) -> Evaluator:
    """An evaluator that is strict, or has limits of its own."""
    goal = formula._goal
    if not isinstance(goal, WholeProgram) or goal.entry() is not None:
        raise NotationError(
            304, "strict and limits need a formula with a value, but this one ends with a function",
            hint="end it with a call of the function",
        )  # fmt: skip
    return evaluator(goal.program.source, goal.program.syntax, strict, limits)


def explain(
    formula: str | Asked,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    **named: Any,
) -> Explanation:
    """Compute the value of a formula, and record every step to it.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    values : mapping of str to tensor or number, optional
        Inputs by name, if not passed as keywords.
    sizes : mapping of str to int, optional
        Sizes of axes that the inputs do not determine.
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).
    **named : tensor or number
        Inputs by name.

    Returns
    -------
    Explanation
        The steps in order: the sub-formula, its type and its value.

    Raises
    ------
    NotationError
        If `evaluate` would raise it.

    Examples
    --------
    >>> import namedtensor as nt
    >>> [step.text for step in nt.explain("2 x + 1", x=nt.tensor([1, 2], "a"))]
    ['x', '2 x', '2 x + 1']
    """
    if isinstance(formula, Asked):
        return formula.explain(values=values, sizes=sizes, **named)
    check_source(formula, syntax)
    return explain_value(ParsedProgram(formula, syntax), values, sizes, named)


def explain_value(program: ParsedProgram, values: Values | None, sizes: Any, named: dict[str, Any]) -> Explanation:
    """The steps to the value of a program."""
    with LOADING, all_or_none():
        from .explained import DerivedForm, explained

    given = Arguments(all_values(values, named)).with_numbers(program)
    checker = program.checker(given.inputs, whole_sizes(sizes), by_keyword=keyword_names(values, named))
    last = checker.scope.valued
    found = explained(checker, checker.whole, last.statement if isinstance(last, Definition) else last, given)
    warn_of_checks(checker)
    if isinstance(last, Derivative):
        return replace(found, derived=DerivedForm(program, given, sizes))
    return found
