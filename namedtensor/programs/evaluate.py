"""Evaluation of a formula from its source text, with or without a record of every step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

from grammar.cache import Cache
from grammar.errors import NotationError
from grammar.parser import check_source

from ..core.kinds import is_mapping, wrong
from ..core.settings import DEFAULT, Limits
from ..operators.user_functions import NO_OPERATORS, using
from .arguments import BoundArguments, Values, all_values, keyword_names
from .call_cache import CachedCall, FormulaLike, new_cache
from .entries import WholeProgram
from .executable import Options
from .injected import with_translation
from .parsed import ParsedProgram

if TYPE_CHECKING:
    from ..core.behavior import Operand
    from ..core.tensor import NamedTensor
    from ..display.steps import Explanation

MAX_EVALUATORS = 2048
EXECUTABLES = new_cache("compiled plans of texts")
EVALUATORS: Cache[Any, CachedCall] = Cache("evaluators of texts", MAX_EVALUATORS)  # by text, or text and options


def evaluator(
    source: Any, syntax: str = "auto", strict: bool = False, limits: Limits = DEFAULT, by_element: bool = False
) -> CachedCall:
    """Return the evaluator of a source text. Evaluators are cached, so equal texts share one."""
    usual = limits is DEFAULT and not by_element
    key = source if usual and syntax == "auto" and not strict else (source, syntax, strict, limits, by_element)
    try:
        call = EVALUATORS.get(key)
    except TypeError:  # The source is not a string.
        call = None
    if call is None:
        if not isinstance(limits, Limits):
            raise wrong(limits, "limits=", "an nt.Limits", "write limits=nt.Limits(max_steps=10**7)")
        check_source(source, syntax)
        goal = WholeProgram(ParsedProgram(source, syntax, limits, bool(strict)))
        options, token = Options(by_element=by_element), f"{syntax} {bool(strict)} {source}" if usual else key
        call = EVALUATORS.get_or_build(key, lambda: CachedCall(goal, options, EXECUTABLES, token))
    return call


@overload
def evaluate(
    formula: FormulaLike,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    strict: bool = False,
    limits: Limits = DEFAULT,
    **named: Any,
) -> NamedTensor: ...
@overload
def evaluate(formula: FormulaLike, values: Values | None = None, /, **named: Operand) -> NamedTensor: ...  # **tensors


def evaluate(  # pyright: ignore[reportInconsistentOverload]
    formula: FormulaLike,
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
        The formula, or its text. If it has several statements, the value is the value of the last statement that no
        other statement uses.
    values : mapping of str to tensor or number, optional
        Inputs by name, if not passed as keywords. The mapping may contain names that the formula does not use.
    sizes : mapping of str to int, optional
        Sizes of axes that the inputs do not determine.
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).
    strict : bool
        Whether an outer broadcast, or a definition that replaces a built-in function, raises an error (default: False;
        see `nt.strict`).
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
        If the formula is valid but may not mean what you intend, such as one that replaces a built-in function.

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.evaluate("∑_{width} A", A=A).to_array().tolist()
    [8.0, 15.0]
    """
    plain = syntax == "auto" and not strict and limits is DEFAULT
    try:
        if "values" in named:  # An input named `values` cannot be passed to a callable as a keyword.
            values, named = all_values(values, named), {}
        if not isinstance(formula, CachedCall):
            return evaluator(formula, syntax, strict, limits)(values=values, sizes=sizes, **named)
        if plain:
            return formula(values=values, sizes=sizes, **named)
        return limit_call(formula, strict, limits)(values=values, sizes=sizes, **named)
    except NotationError as problem:
        if isinstance(formula, str):
            problem = with_translation(problem, formula, {**(values if is_mapping(values) else {}), **named})
        raise problem.alone() from None


def limit_call(formula: CachedCall, strict: bool, limits: Limits) -> CachedCall:
    """Return an evaluator for the same formula with other limits, and in strict mode if `strict` is true.

    Raises NotationError if the formula is a function or an entry point.
    """
    goal = formula._goal
    if not isinstance(goal, WholeProgram) or goal.entry() is not None:
        raise NotationError(
            304, "strict and limits need a formula with a value, but this one ends with a function",
            hint="end it with a call of the function",
        )  # fmt: skip
    program = goal.program
    strict = strict or program.strict
    if program.operators != NO_OPERATORS:  # The cached evaluator of this text may have other operators.
        with using(program.operators):
            program = ParsedProgram(program.source, program.syntax, limits, bool(strict))
        return CachedCall(WholeProgram(program))
    return evaluator(program.source, program.syntax, strict, limits)


def explain(
    formula: FormulaLike,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    **named: Any,
) -> Explanation:
    """Compute the value of a formula and record every step of the computation.

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
        The steps in order. Each step has a sub-formula, its type and its value.

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
    method = getattr(formula, "explain", None)
    if method is not None:
        return method(values=values, sizes=sizes, **named)
    from .explained import explain_goal

    check_source(formula, syntax)
    goal = WholeProgram(ParsedProgram(str(formula), syntax))
    return explain_goal(goal, BoundArguments(all_values(values, named)), sizes, keyword_names(values, named))
