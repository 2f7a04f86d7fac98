"""User-defined operators, created by `nt.operator` from a definition in the notation or from array functions.

    swish = nt.operator("swish", "->", definition="X σ(X)")
    nt.formula("swish(Z) + 1", operators=[swish])

An operator is available only in the programs that receive it. An operator with a definition becomes an equation before
the program's statements. An operator with functions becomes a term of the kind "python".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grammar import nodes
from grammar.composed import ComposedText, SourcePart
from grammar.errors import NotationError
from grammar.parser import parse, spelling_of
from grammar.printer import to_latex

from ..core.axes import AxisSignature, signature
from ..core.kinds import require_text, wrong
from ..core.suggestions import CREATED_OPERATORS, did_you_mean, near
from ..operators import REGISTRY
from ..operators.array_functions import ANY_LIBRARY, ArrayFunction
from ..operators.user_functions import program_operators, using
from .checks import check_program
from .operator_checks import LETTERS, check_differential, shapes_of
from .parsed import ParsedProgram
from .program import AnyProgram

LIBRARIES = ("numpy", "torch", "jax")
NAME = re.compile(r"[^\W\d_][^\W_]*'*")
MACRO = re.compile(r"\\[A-Za-z]+")
WORD = re.compile(r"[^\W\d]\w*")
SIGNATURE_HINT = 'write "->" for a function of one number, "ax -> ax", "ax, ax ->" or "row column -> row"'
MAX_OPERANDS = len(LETTERS)


@dataclass(frozen=True)
class CustomOperator:
    """A custom operator, created by `nt.operator` for `operators=` of `nt.program` and `nt.formula`.

    Attributes
    ----------
    name : str
        The operator's name in text.
    signature : str
        The operator's signature in the paper's form.
    definition : str
        The definition in the notation, with the operands X, Y and Z. It is empty if the operator has functions.
    differential : tuple of str
        The contribution of each operand to the differential. It is empty if the operator has no differential.
    latex : str
        The LaTeX macro, or an empty string.
    meaning : str
        A one-line description.

    Examples
    --------
    >>> import namedtensor as nt
    >>> swish = nt.operator("swish", "->", definition="X σ(X)", meaning="Swish")
    >>> swish.name, swish.meaning
    ('swish', 'Swish')
    """

    name: str
    signature: str
    definition: str = ""
    functions: Mapping[str, Callable[..., Any]] = field(
        default_factory=dict[str, Callable[..., Any]], repr=False, hash=False
    )
    differential: tuple[str, ...] = ()
    latex: str = ""
    meaning: str = ""

    @property
    def lifted(self) -> AxisSignature:
        """The parsed signature of the operator."""
        return read_signature(self.signature)

    @property
    def head(self) -> str:
        """The name of the operator with its axes, as in a formula."""
        axes = ", ".join(self.lifted.formals)
        return f"{self.name}_{{{axes}}}" if axes else self.name

    @property
    def stated(self) -> str:
        """The signature as a statement in the notation, such as swish_{ax} : ℝ^{ax} → ℝ^{ax}."""
        of = self.lifted
        return f"{self.head} : {' × '.join(map(_space, of.inputs))} → {_space(of.output)}"

    @property
    def use(self) -> str:
        """An example use of the operator, such as swish_{ax}(X)."""
        return f"{self.head}({', '.join(LETTERS[: len(self.lifted.inputs)])})"

    @property
    def text(self) -> str:
        """The statements that the operator stands for, if the operator has a definition."""
        return f"{self.stated}\n{self.use} = {self.definition}\n"

    @property
    def registered(self) -> Any:
        """The array function that the checker calls, if the operator is defined by functions."""
        (statement,) = parse(self.stated).statements
        assert isinstance(statement, nodes.Signature)
        return ArrayFunction(self.name, self.stated, statement, self.lifted, self.functions, self.differential)

    def __str__(self) -> str:
        return self.text.rstrip() if self.definition else self.stated


def _space(axes: Iterable[str]) -> str:
    axes = " × ".join(axes)
    return f"ℝ^{{{axes}}}" if axes else "ℝ"


def read_signature(text: Any) -> AxisSignature:
    """Return the parsed signature in a text. Raise NotationError if the signature is invalid for an operator."""
    text = require_text(text, "the signature", SIGNATURE_HINT).replace("→", "->")
    words = re.split(r"->|,|\s+", text.strip())
    if text.count("->") != 1 or not all(not word or WORD.fullmatch(word) for word in words):
        raise NotationError(101, f"invalid signature {text!r}", hint=SIGNATURE_HINT)
    lifted = signature(text)
    taken = {axis for group in lifted.inputs for axis in group}
    for axis in lifted.output:
        if axis not in taken:
            raise NotationError(
                309, f"the size of the result's axis {axis} cannot be inferred: no operand has it",
                hint="a result has axes of its operands; return a new axis by renaming, X_{ax→new}, in the program",
            )  # fmt: skip
    twice = next((group for group in (*lifted.inputs, lifted.output) if len({*group}) < len(group)), None)
    if twice is not None:
        raise NotationError(303, f"{' '.join(twice)} has one axis twice", hint="name each axis once")
    if len(lifted.inputs) > MAX_OPERANDS:
        raise NotationError(
            304, f"an operator has at most {MAX_OPERANDS} operands, got {len(lifted.inputs)}", hint=SIGNATURE_HINT
        )
    return lifted


def operator(
    name: str,
    signature: str,
    *,
    definition: str | None = None,
    functions: Callable[..., Any] | Mapping[str, Callable[..., Any]] | None = None,
    differential: str | Iterable[str] | None = None,
    latex: str | None = None,
    meaning: str = "",
) -> CustomOperator:
    r"""Create an operator for formulas, which `nt.program(text, operators=[…])` and `nt.formula` accept.

    Parameters
    ----------
    name : str
        The name in text: letters and digits, such as "swish".
    signature : str
        The axes of each operand and of the result, in the paper's form, such as "->" (a function of a number),
        "ax -> ax" or "ax, ax ->". A use names the axes, as in `swish_{seq} Z`. The operator is lifted over other axes.
    definition : str, optional
        The value in the notation, with the operands X, Y and Z over these axes. The derivatives follow from it.
    functions : callable or mapping of str to callable, optional
        Instead of a definition, one array function for all libraries, or one for each of "numpy", "torch" and "jax".
        In the arrays and the result, the aligned extra axes come first, then the axes of the signature in order.
    differential : str or iterable of str, optional
        The contribution of each operand to the differential, in terms of X, ∂X and so on, such as "σ(X) ⊙ ∂X", or "0"
        if the operand does not contribute. Only with `functions`.
    latex : str, optional
        A LaTeX macro, such as r"\swish", that formulas in LaTeX may use and `to_latex` writes.
    meaning : str
        A one-line description (default: "").

    Returns
    -------
    CustomOperator

    Raises
    ------
    NotationError
        If the definition does not fit the signature, the differential has other axes than the result, or a name is taken.

    Examples
    --------
    >>> import namedtensor as nt
    >>> center = nt.operator("center", "ax -> ax", definition="X − mean_{ax} X")
    >>> nt.formula("center_{a} Z", operators=[center])(Z=nt.tensor([1.0, 3.0], "a")).tolist()
    [-1.0, 1.0]
    >>> import numpy as np
    >>> cubed = nt.operator("cubed", "->", functions=lambda x: x * x * x, differential="3 X^2 ⊙ ∂X")
    >>> float(nt.formula("cubed(x)", operators=[cubed]).derivative("x")(x=2.0))
    12.0
    """
    custom = CustomOperator(
        _check_name(name), _normal(signature),
        "" if definition is None else require_text(definition, "definition=", 'write definition="X σ(X)"').strip(),
        _group_by_library(functions), _texts(differential), _check_macro(latex), require_text(meaning, "meaning=", 'write meaning="…"'),
    )  # fmt: skip
    if bool(custom.definition) == bool(custom.functions):
        hint = 'write definition="X σ(X)", or functions=swish with differential="…"'
        count = "both" if custom.definition else "neither"
        raise NotationError(304, f"an operator has a definition or functions, got {count}", hint=hint)
    if custom.definition:
        if custom.differential:
            hint = "leave it out, or pass functions= instead of the definition"
            raise NotationError(304, f"the differential of {name} follows from its definition", hint=hint)
        _check_definition(custom)
    elif custom.differential:
        check_differential(custom)
    CREATED_OPERATORS[name] = custom
    return custom


# ------------------------------------------------------------------------------------------------------- each argument
def _check_name(name: Any) -> str:
    name = require_text(name, "the name", 'write operator("swish", …)')
    if NAME.fullmatch(name) is None:
        raise NotationError(
            208, f"invalid operator name {name!r}", hint="use letters and digits, and primes at the end"
        )
    if name in REGISTRY or not _reads_as_name(name, name) or check_program(ParsedProgram(name), {}, None, None).ok:
        hint = "choose another name, or define it in the program itself, which replaces the built-in function there"
        raise NotationError(202, f"{name} is a built-in name", hint=hint)
    return name


def _reads_as_name(text: str, name: str) -> bool:
    """Return whether the language parses a text as a tensor name, as required for the name of a new operator."""
    try:
        (statement,) = parse(f"{text} (x)", "latex" if text != name else "text").statements
    except (NotationError, ValueError):
        return False
    product = nodes.Call("juxtaposed", (), (), (nodes.Name(name), nodes.Name("x")))
    return isinstance(statement, nodes.Value) and statement.body == product


def _normal(text: Any) -> str:
    lifted = read_signature(text)
    left, right = ", ".join(map(" ".join, lifted.inputs)), " ".join(lifted.output)
    return f"{left} -> {right}".strip()


def _group_by_library(functions: Any) -> dict[str, Callable[..., Any]]:
    if functions is None:
        return {}
    if callable(functions):
        return {ANY_LIBRARY: functions}
    if not isinstance(functions, Mapping) or not all(map(callable, functions.values())):
        raise wrong(
            functions, "functions=", "a function, or a function for each library", 'write functions={"numpy": swish}'
        )
    for library in functions:
        if library not in LIBRARIES:
            hint = did_you_mean(near(str(library), LIBRARIES)) or f"available: {', '.join(LIBRARIES)}"
            raise NotationError(408, f"unknown backend {library!r}", hint=hint)
    return dict(functions)


def _texts(differential: Any) -> tuple[str, ...]:
    if differential is None:
        return ()
    texts = (differential,) if isinstance(differential, str) else differential
    if not isinstance(texts, (tuple, list)):
        texts = (texts,)
    return tuple(require_text(text, "differential=", 'write differential="σ(X) ⊙ ∂X"') for text in texts)


def _check_macro(latex: Any) -> str:
    if latex is None:
        return ""
    latex = require_text(latex, "latex=", r'write latex=r"\swish"')
    if MACRO.fullmatch(latex) is None:
        raise NotationError(
            208, f"invalid LaTeX macro {latex!r}", hint=r'write latex=r"\swish", a backslash and letters'
        )
    if _reads_as_name(latex, latex[1:]):
        return latex
    raise NotationError(202, f"the macro {latex} has a meaning already", hint="choose another one")


# -------------------------------------------------------------------------------------------------------------- checks
def _check_definition(custom: CustomOperator) -> None:
    """Raise NotationError if the operator's definition does not fit its signature, by checking an example use."""
    text = ComposedText((SourcePart(custom.text, f"operator {custom.name}"), SourcePart(f"result = {custom.use}\n")))
    result = check_program(ParsedProgram(text, "text"), shapes_of(custom), None, None)
    if result.errors:
        raise result.errors[0]


# ------------------------------------------------------------------------------------------------------------ programs
def check_operators(operators: Any) -> tuple[CustomOperator, ...]:
    """Return the operators in an `operators=` argument.

    Raises NotationError if an element is not an operator, or two different operators share a name or macro.
    """
    given = (operators,) if isinstance(operators, CustomOperator) else operators
    try:
        given = tuple(given)
    except TypeError:
        given = (given,)
    seen: dict[str, CustomOperator] = {}
    for custom in given:
        if not isinstance(custom, CustomOperator):
            raise wrong(custom, "operators=", "operators of nt.operator", 'write operators=[nt.operator("swish", …)]')
        for spelling in filter(None, (custom.name, custom.latex)):
            if seen.setdefault(spelling, custom) != custom:
                raise NotationError(202, f"two operators are called {spelling}", hint="rename one of them")
    return tuple(dict.fromkeys(seen.values()))


def program_with(kind: Callable[..., AnyProgram], text: str, syntax: str, strict: bool, operators: Any) -> AnyProgram:
    """Return a program whose source text may use user-defined operators."""
    chosen = check_operators(operators)
    if not chosen or not isinstance(text, str):
        return kind(text, syntax, strict)
    syntax = spelling_of(text) if syntax == "auto" else syntax
    functions = {custom.name: custom.registered for custom in chosen if custom.functions}
    macros = {custom.name: custom.latex for custom in chosen if custom.latex}
    with using(program_operators(functions, macros)):
        return kind(_with_definitions(text, syntax, chosen), syntax, strict)


def _with_definitions(text: str, syntax: str, chosen: tuple[CustomOperator, ...]) -> str:
    """Return the definitions of the chosen operators followed by the text. In LaTeX, macros precede them."""
    parts: list[SourcePart] = []
    if syntax == "latex":
        for custom in chosen:
            if custom.latex:
                parts.append(
                    SourcePart(f"\\DeclareMathOperator{{{custom.latex}}}{{{custom.name}}}\n", f"operator {custom.name}")
                )
    for custom in chosen:
        if custom.definition:
            written = f"{to_latex(parse(custom.text, 'text'))} \\\\\n" if syntax == "latex" else custom.text
            parts.append(SourcePart(written, f"operator {custom.name}"))
    if not parts:
        return text
    whole = text.parts if isinstance(text, ComposedText) else (SourcePart(text),)
    return ComposedText((*parts, *whole))
