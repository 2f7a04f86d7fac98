"""The functions of `namedtensor` that create formulas or call their methods.

Each function that calls a method accepts a formula or its source text.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

from ..checking.report import CheckResult
from .arguments import Values, all_values, keyword_names
from .checks import check_program
from .parsed import ParsedProgram
from .program import AnyProgram, Formula, Program
from .verbs import Verbs

if TYPE_CHECKING:
    from .custom_operators import CustomOperator

    Operators = Iterable[CustomOperator]
    Folders = str | PathLike[str] | Iterable[str | PathLike[str]]


def compose_program(
    kind: type[AnyProgram], text: str, syntax: str, strict: bool, operators: Operators, folders: Folders
) -> AnyProgram:
    """Create a program of the class `kind` from a source text that may use imports and user-defined operators."""
    from .custom_operators import program_with
    from .imports import with_imports

    return program_with(kind, with_imports(text, syntax, folders), syntax, strict, operators)


def program(
    text: str, syntax: str = "auto", *, strict: bool = False, operators: Operators = (), folders: Folders = ()
) -> Program:
    """Create a program, that is, several definitions in one scope.

    Parameters
    ----------
    text : str
        The definitions, one per line.
    syntax : {"auto", "text", "latex"}
        The syntax of the text (default: "auto", which detects it).
    strict : bool
        Whether every use of the program rejects an outer broadcast (default: False).
    operators : iterable of operators
        Operators of `nt.operator` that the text may use (default: none).
    folders : str, path or iterable of paths
        Folders that the text may import from (default: none; files of installed packages can always be imported).

    Returns
    -------
    Program
        The program. For example, `program["g"]` is a callable entry point for the name g.

    Raises
    ------
    NotationError
        If the text is not valid notation, defines a name twice, or imports a missing file or name.

    Examples
    --------
    >>> block = program("f(x) = 2 x\\ng(x) = f(x) + 1")
    >>> float(block["g"](3))
    7.0
    """
    try:
        if not operators and "from" not in str(text):
            return Program(text, syntax, strict)
        return compose_program(Program, text, syntax, strict, operators, folders)
    except NotationError as problem:
        raise problem.alone() from None


def formula(
    text: str, syntax: str = "auto", *, strict: bool = False, operators: Operators = (), folders: Folders = ()
) -> Formula:
    """Create a formula, or a function, that can be called and inspected.

    Parameters
    ----------
    text : str
        The formula. Several statements are a formula with definitions.
    syntax : {"auto", "text", "latex"}
        The syntax of the text (default: "auto", which detects it).
    strict : bool
        Whether an outer broadcast raises an error (default: False).
    operators : iterable of operators
        Operators of `nt.operator` that the text may use (default: none).
    folders : str, path or iterable of paths
        Folders that the text may import from (default: none; files of installed packages can always be imported).

    Returns
    -------
    Formula

    Raises
    ------
    NotationError
        If the text is not valid notation, defines a name twice, or imports a missing file or name.

    Examples
    --------
    >>> f = formula("f(x, y) = x^2 + y")
    >>> float(f(3, 1))
    10.0
    """
    try:
        if not operators and "from" not in str(text):
            return Formula(text, syntax, strict)
        return compose_program(Formula, text, syntax, strict, operators, folders)
    except NotationError as problem:
        raise problem.alone() from None


def to_formula(formula: str | Verbs, syntax: str) -> Verbs:
    """Parse a source text as a formula. A formula or program is returned unchanged."""
    return formula if isinstance(formula, Verbs) else Formula(formula, syntax)


def latex_preamble() -> str:
    """Return the LaTeX preamble that the output of `to_latex` needs: packages and the macros of the paper.

    Macros of the LaTeX package `namedtensor` take precedence if it is loaded before.

    Returns
    -------
    str

    Examples
    --------
    >>> print(latex_preamble().splitlines()[0])
    \\usepackage{amsmath,amssymb,xcolor}
    """
    from grammar.printer.preamble import PREAMBLE

    return PREAMBLE


# -------------------------------------------------------------------------------------------------- functions of methods
RETURNED = {"Verbs": "Formula | EntryPoint"}  # the public types of an annotation
FORMULA = "formula : str, Formula, Program or EntryPoint\n    The formula, or its text."
SYNTAX = 'syntax : {"auto", "text", "latex"}\n    The syntax of a text (default: "auto", which detects it).'


def function_of(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls this method of a formula. Its first argument is a formula or source text."""
    name = method.__name__

    def function(formula: str | Verbs, /, *arguments: Any, syntax: str = "auto", **named: Any) -> Any:
        return getattr(to_formula(formula, syntax), name)(*arguments, **named)

    return document_as(function, method)


def document_as(function: Callable[..., Any], method: Callable[..., Any]) -> Callable[..., Any]:
    """Copy a method's name, signature and docstring to a function, adding the parameters `formula` and `syntax`."""
    function.__name__ = function.__qualname__ = method.__name__
    function.__doc__ = documentation(method.__doc__ or "")
    function.__signature__ = signature_of(method)  # type: ignore[attr-defined]
    return function


def signature_of(method: Callable[..., Any]) -> inspect.Signature:
    """Return a method's signature, with `formula` as the first parameter and `syntax` as the last keyword parameter."""
    signature = inspect.signature(method)
    first, *rest = signature.parameters.values()
    formula = inspect.Parameter("formula", first.POSITIONAL_ONLY, annotation="FormulaLike")
    syntax = inspect.Parameter("syntax", first.KEYWORD_ONLY, default="auto", annotation="str")
    end = len(rest) - bool(rest and rest[-1].kind is first.VAR_KEYWORD)
    returned = RETURNED.get(signature.return_annotation, signature.return_annotation)
    return signature.replace(parameters=[formula, *rest[:end], syntax, *rest[end:]], return_annotation=returned)


def documentation(text: str) -> str:
    """Return a method's docstring with descriptions of the parameters `formula` and `syntax` added."""
    text = inspect.cleandoc(text)
    before, _, after = text.partition("Parameters\n----------\n")
    if not after:
        return text
    parameters, _, rest = after.partition("\n\n")
    first, star, last = parameters.partition("**")
    added = FORMULA, first.rstrip(), SYNTAX, star + last
    return f"{before}Parameters\n----------\n" + "\n".join(filter(None, added)) + f"\n\n{rest}"


def _check(
    formula: str | Verbs, shapes: Values | None = None, /, *, sizes: Any = None, syntax: str = "auto", **named: Any
) -> CheckResult:
    if isinstance(formula, Verbs):
        return formula.check(shapes, sizes=sizes, **named)
    # `Formula` raises the first error of a source text; the check must report all of them.
    return check_program(ParsedProgram(formula, syntax), all_values(shapes, named), sizes, keyword_names(shapes, named))


check = document_as(_check, Verbs.check)
derivative = function_of(Verbs.derivative)
compile = function_of(Verbs.compile)
cost = function_of(Verbs.cost)
parameters = function_of(Verbs.parameters)
init = function_of(Verbs.init)
diagram = function_of(Verbs.diagram)
to_text = function_of(Verbs.to_text)
to_latex = function_of(Verbs.to_latex)
to_python = function_of(Verbs.to_python)
to_javascript = function_of(Verbs.to_javascript)
to_einsum = function_of(Verbs.to_einsum)
FUNCTIONS = {
    function.__name__: function
    for function in (
        check, derivative, compile, cost, parameters, init, diagram, to_text, to_latex, to_python, to_javascript, to_einsum,
    )
}  # fmt: skip
