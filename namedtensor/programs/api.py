"""The functions of `namedtensor` that take a text or a formula; the verbs of formulas are their methods too."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError
from grammar.locks import LOADING, all_or_none

from ..checking.report import CheckResult
from ..core.hooks import answered
from ..core.kinds import as_path
from .arguments import Values, all_values, keyword_names
from .checks import check_goal, check_program
from .parsed import ParsedProgram
from .program import Formula, Program
from .verbs import Verbs

if TYPE_CHECKING:
    from ..display.diagram_svg import Diagram
    from ..planning.cost import Cost
    from .compiled import CompiledFormula
    from .initializers import Initializers


# ---------------------------------------------------------------------------------------------------------- to make one
def program(text: str, syntax: str = "auto", *, strict: bool = False) -> Program:
    """Many definitions in one scope. With `strict`, an outer broadcast in any use of it is an error.

    Raises NotationError where the text is not in the notation, or defines a name twice.

    >>> block = program("f(x) = 2 x\\ng(x) = f(x) + 1")
    >>> float(block["g"](3))
    7.0
    """
    try:
        return Program(text, syntax, strict)
    except NotationError as problem:
        raise problem.alone() from None


def formula(text: str, syntax: str = "auto", *, strict: bool = False) -> Formula:
    """A formula or a function as an object: callable, inspectable; `strict` as in `program`.

    >>> f = formula("f(x, y) = x^2 + y")
    >>> float(f(3, 1))
    10.0
    """
    try:
        return Formula(text, syntax, strict)
    except NotationError as problem:
        raise problem.alone() from None


TENSORS_HINT = "read tensors with nt.load_tensors(path), a folder with a model's weights with transformer.load(path)"


def load_program(path: Any, syntax: str = "auto", section: str | None = None) -> Program:
    r"""A program from a file: `.nt` is text, `.tex` LaTeX.

    A document (`.tex` with sections or files that it includes, `.md`, `.ipynb`, `.html`) is read as `namedtensor check` reads it: with
    what it includes, its macros and the facts in its comments. Sections inherit, and what a later one says again counts:
    the program is what holds at the end, of the document or of the `section` with that title. Raises NotationError where
    the file cannot be read, or has no such section.

    >>> import pathlib, tempfile
    >>> place = pathlib.Path(tempfile.mkdtemp(), "notes.md")
    >>> _ = place.write_text(r"# Norms" "\n" r"$$ N = \sqrt{\nsum{\name{a}} X^2} $$")
    >>> load_program(place)
    N = √(∑_{a} X^2)
    """
    place = as_path(path)
    if section is not None or place.suffix in (".tex", ".md", ".markdown", ".ipynb", ".html", ".htm"):
        found = answered("document", str(place), section) if syntax in ("auto", "latex") else None
        if found is not None:
            return Program(found, "text")
    try:
        text = place.read_text(encoding="utf-8")
    except OSError as problem:
        raise NotationError(108, f"cannot read {place}: {problem}") from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise NotationError(108, f"{place} is not a text file in UTF-8", hint=TENSORS_HINT)
    if syntax == "auto" and place.suffix in (".nt", ".tex"):
        syntax = "text" if place.suffix == ".nt" else "latex"
    return Program(text, syntax)


def as_formula(formula: str | Verbs, syntax: str) -> Verbs:
    """A formula, of its text or as it is."""
    return formula if isinstance(formula, Verbs) else Formula(formula, syntax)


# ------------------------------------------------------------------------------------------------------------ the verbs
def check(
    formula: str | Verbs,
    shapes: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    **named: Any,
) -> CheckResult:
    """Types without data: the type of every name and sub-expression, every error, and warnings.

    The formula is a text, or what `formula` and `program` give; of a function of such, the type is that of its value for
    arguments of the shapes that are given. Keywords give shapes by name: A="ℝ^{height[3] × width[3]}"; sizes may be left out.
    A mapping of `shapes` may hold more than the formula uses.

    >>> check("∑_{width} A", A="ℝ^{height[3] × width[2]}").type
    'ℝ^{height[3]}'
    """
    return check_given(formula, all_values(shapes, named), sizes, syntax, keyword_names(shapes, named))


def check_given(
    formula: str | Verbs, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None, syntax: str,
    by_keyword: Collection[str] | None,
) -> CheckResult:  # fmt: skip
    """Implement `check`, with the names of the shapes that are passed by keyword."""
    if isinstance(formula, Verbs):
        return check_goal(formula._goal, shapes, sizes, by_keyword)
    return check_program(ParsedProgram(formula, syntax), shapes, sizes, by_keyword)


def derivative(formula: str | Verbs, wrt: str, syntax: str = "auto") -> Verbs:
    """The derivative of a formula by a name, itself a formula (paper §5): of a value ∂value/∂X*, of a function f(X) the
    function f'(X) = ∂f(X)/∂X*. The formula is a text, or what `formula` and `derivative` give.

    f : ℝ^{a} → ℝ^{b} gives f' : ℝ^{a} → ℝ^{b × a*}: the axes of what it is taken by are starred, or have the next mark
    (†, **) if a star is in use. Raises NotationError if `wrt` is not a name or does not occur in the formula.

    >>> derivative("softmax_{ax} X", "X")
    ∂softmax_{ax}(X)/∂X*
    >>> gradient = derivative("f(x) = x^3", "x")
    >>> gradient, float(gradient(2.0))
    (f(x) = x^3
    f'(x) = ∂f(x)/∂x*, 12.0)
    """
    return as_formula(formula, syntax).derivative(wrt)


def compile(
    formula: str | Verbs, backend: str | None = None, disable: str | Collection[str] = (), syntax: str = "auto"
) -> CompiledFormula:
    """Return a function of named tensors for repeated calls, planned once per input signature. See `Formula.compile`.

    >>> import namedtensor as nt
    >>> f = nt.compile("∑_{a} X^2")
    >>> float(f(X=nt.tensor([3.0, 4.0], "a")))
    25.0
    """
    return as_formula(formula, syntax).compile(backend, disable)


def cost(
    formula: str | Verbs, values: Values | None = None, /, *, sizes: Mapping[str, int] | None = None,
    disable: str | Collection[str] = (), syntax: str = "auto", **named: Any,
) -> Cost:  # fmt: skip
    """What a formula costs before it is run, for tensors or shapes: operations, bytes, the largest array, step by step.

    See `Formula.cost`.

    >>> import namedtensor as nt
    >>> nt.cost("X ⊙_{a} W", X="ℝ^{seq[100] × a[8]}", W="ℝ^{a[8] × b[4]}").multiply_adds
    3200
    """
    return as_formula(formula, syntax).cost(values, sizes=sizes, disable=disable, **named)


def parameters(
    formula: str | Verbs, /, sizes: Mapping[str, int] | None = None, syntax: str = "auto", **shapes: Any
) -> dict[str, str]:
    """The shape of everything that is declared and not defined, by name. See `Formula.parameters`.

    >>> import namedtensor as nt
    >>> nt.parameters("W ∈ ℝ^{a × b}\\nY = X ⊙_{a} W", sizes={"b": 2}, X="ℝ^{a[3]}")
    {'W': 'ℝ^{a[3] × b[2]}'}
    """
    return as_formula(formula, syntax).parameters(sizes, **shapes)


def init(
    formula: str | Verbs, /, seed: Any = 0, sizes: Mapping[str, int] | None = None, dtype: str = "float64",
    initializers: Initializers | None = None, names: Collection[str] | None = None, syntax: str = "auto", **shapes: Any,
) -> dict[str, Any]:  # fmt: skip
    """The parameters as tensors, drawn by `seed`. See `Formula.init`.

    >>> import namedtensor as nt
    >>> nt.init("W ∈ ℝ^{a × b}\\nY = X ⊙_{a} W", sizes={"b": 2}, X="ℝ^{a[3]}")["W"].shape
    ℝ^{a[3] × b[2]}
    """
    return as_formula(formula, syntax).init(seed, sizes, dtype, initializers, names, **shapes)


def diagram(
    formula: str | Verbs, /, *arguments: Any, sizes: Mapping[str, int] | None = None,
    expand: str | Collection[str] = (), values: Values | None = None, syntax: str = "auto", **shapes: Any,
) -> Diagram:  # fmt: skip
    """A drawing of where the values go on the way to a formula's value, each with its type. See `Formula.diagram`.

    >>> import namedtensor as nt
    >>> nt.diagram("Y = X + relu(X)", X="ℝ^{seq}").save("y.svg")  # doctest: +SKIP
    """
    return as_formula(formula, syntax).diagram(*arguments, sizes=sizes, expand=expand, values=values, **shapes)


def to_text(formula: str | Verbs, ascii: bool = False, colors: bool = False, syntax: str = "auto") -> str:
    """A formula in text, or in ASCII. See `Formula.to_text`.

    >>> import namedtensor as nt
    >>> nt.to_text(r"\\sum_{\\mathsf{seq}} x", ascii=True)
    'sum_{seq} x'
    """
    return as_formula(formula, syntax).to_text(ascii, colors)


def to_latex(
    formula: str | Verbs, macros: bool = False, colors: bool = False, syntax: str = "auto", width: float | None = None
) -> str:
    """A formula in LaTeX. See `Formula.to_latex`.

    >>> import namedtensor as nt
    >>> nt.to_latex("sum_{seq} x")
    '\\\\sum\\\\limits_{\\\\mathsf{seq}} x'
    """
    return as_formula(formula, syntax).to_latex(macros, colors, width)


def latex_preamble() -> str:
    """What a LaTeX document needs before `\\begin{document}` for all that `to_latex` prints.

    The macros are the paper's; those of the package `namedtensor` count where it is loaded before.

    >>> print(latex_preamble().splitlines()[0])
    \\usepackage{amsmath,amssymb,xcolor}
    """
    with LOADING, all_or_none():
        from grammar.printer.preamble import PREAMBLE

    return PREAMBLE


def to_python(
    formula: str | Verbs, library: str = "numpy", values: Values | None = None, /, *,
    sizes: Mapping[str, int] | None = None, style: str = "function", syntax: str = "auto", **named: Any,
) -> str:  # fmt: skip
    """The source text of a plain function for "numpy", "torch" or "jax", which runs without this project.

    See `Formula.to_python`.

    >>> import namedtensor as nt
    >>> print(nt.to_python("∑_{a} X", X="ℝ^{a[3]}").splitlines()[0])
    import numpy as np
    """
    return as_formula(formula, syntax).to_python(library, values, sizes=sizes, style=style, **named)


def to_javascript(
    formula: str | Verbs, values: Values | None = None, /, *,
    sizes: Mapping[str, int] | None = None, standalone: bool = False, syntax: str = "auto", **named: Any,
) -> str:  # fmt: skip
    """The source text of a module of JavaScript, which exports the function `formula` of arrays.

    See `Formula.to_javascript`.

    >>> import namedtensor as nt
    >>> print(nt.to_javascript("2 x", x="ℝ^{a[3]}").splitlines()[4])
      const t1 = nt.multiply(2, x);  // ℝ^{a[3]}
    """
    return as_formula(formula, syntax).to_javascript(values, sizes=sizes, standalone=standalone, **named)


def to_einsum(
    formula: str | Verbs, values: Values | None = None, /, *,
    sizes: Mapping[str, int] | None = None, syntax: str = "auto", **named: Any,
) -> str:  # fmt: skip
    """Return a formula as a call of einsum. Raises NotationError if a part of it is not a sum of products.

    See `Formula.to_einsum`.

    >>> import namedtensor as nt
    >>> print(nt.to_einsum("2 ∑_{a} X Y", X="ℝ^{a × b}", Y="ℝ^{a}"))
    2 * einsum("ab,a->b", X, Y)
    """
    return as_formula(formula, syntax).to_einsum(values, sizes=sizes, **named)
