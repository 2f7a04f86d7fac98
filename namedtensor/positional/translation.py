"""`nt.translate`, which converts positional notation to a formula with named axes and checks the formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.printer import to_latex, to_text

from ..core.settings import recursion_headroom
from .algebra import Algebra
from .axes import axes_of
from .checked import check_dtypes, check_overflow, drop_ones, find_ones, verify
from .code import CodeReader
from .detection import kind_of
from .einsum import EinsumLetters
from .formula_writing import TranslatedProgram, name_value, statements_of
from .indices import canonical
from .library_functions import np
from .naming import RepeatedAxisError, names_of, names_of_axes, spell_names
from .refusals import ASKED, AmbiguousError, QuestionError, UnsafeError, make_refusal

if TYPE_CHECKING:
    from ..programs.program import Program as NamedProgram

MAX_READINGS = 8
MAX_CHARS = 20_000  # of a source
READERS: dict[str, Callable[..., Any]] = {
    "matrices": Algebra,
    "indices": Algebra,
    "einsum": EinsumLetters,
    "einops": lambda source, shapes, choose: EinsumLetters(source, shapes, choose, "einops"),
    "numpy": CodeReader,
    "torch": lambda source, shapes, choose: CodeReader(source, shapes, choose, "torch"),
}


@dataclass(eq=False, repr=False)
class Translation:
    """A formula in named tensor notation, with its source.

    Attributes
    ----------
    formula : str
        The formula or program as text.
    kind : str
        The source's notation: `matrices`, `indices`, `einsum`, `einops`, `numpy` or `torch`.
    axes : dict of str to tuple of str
        Each input's axis names, in the source's order.
    result : tuple of str
        The axis names of the value, in the source's order, without axes of length 1.
    reading : tuple of str
        Every assumption that the translation makes.
    checked : str
        A description of the check, which compares values with the source's library or checks only types.
    of_reals : bool
        Whether the source has a different value for arrays of integers. Such arrays are then rejected.
    of_integers : bool
        Whether the source's value for arrays of integers has an integer dtype, which can overflow.
    numbers : frozenset of str
        The inputs of code that are neither indices nor conditions.
    """

    source: str
    formula: str
    kind: str
    axes: dict[str, tuple[str, ...]]
    result: tuple[str, ...]
    reading: tuple[str, ...]
    chosen: tuple[str, ...]
    _tree: nodes.Program
    _spelled: dict[str, str]  # the name of each input in the formula
    _ones: tuple[int, ...] = ()  # the positions of axes of length 1, which the formula does not have
    _dropped: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # the same positions in each input
    checked: str = "not compared with the source"
    of_reals: bool = False
    of_integers: bool = False
    numbers: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return self.formula

    @property
    def latex(self) -> str:
        """The formula in LaTeX."""
        return to_latex(self._tree)

    @property
    def declared(self) -> str:
        """Declarations of the inputs, with their axes in the order of the source, followed by the formula.

        Examples
        --------
        >>> import namedtensor as nt
        >>> print(nt.translate("A x").declared)
        A ∈ ℝ^{i × j}
        x ∈ ℝ^{j}
        A ⊙_{j} x
        """
        sets = {name: "ℝ^{" + " × ".join(axes) + "}" if axes else "ℝ" for name, axes in self.axes.items()}
        value = f"{name_value(self.axes)} = " if sets and self.formula.startswith("-") else ""
        lines = (f"{self._spelled[name]} ∈ {domain}" for name, domain in sets.items())
        return "\n".join((*lines, value + self.formula))

    def program(self) -> NamedProgram:
        """Return the formula as a program, as `nt.program(translation.formula)` does."""
        from ..programs.program import Program as NamedProgram

        return NamedProgram(self.formula, "text")

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Evaluate the translation on plain arrays, whose axes are in the order of the source.

        Parameters
        ----------
        *arrays, **named : array_like
            The inputs, in the order of `axes` or by name.

        Returns
        -------
        numpy.ndarray
            The value, with the axes in `result` and the source's axes of length 1.

        Examples
        --------
        >>> import namedtensor as nt, numpy as np
        >>> float(nt.translate("x^T A y", x="m", A="m n", y="n")(np.ones(2), np.eye(2, 3), np.ones(3)))
        2.0
        """
        from ..core.tensor import tensor
        from ..programs.evaluate import evaluate

        inputs = dict(zip(self.axes, arrays)) | named
        missing = [name for name in self.axes if name not in inputs]
        if missing:
            raise NotationError(
                206, f"no array for {', '.join(missing)}", hint=f"the inputs are {', '.join(self.axes)}"
            )
        check_dtypes(self, inputs)
        values = {
            self._spelled[name]: tensor(array, axes) if axes else array
            for name, axes in self.axes.items()
            for array in [drop_ones(inputs[name], self._dropped.get(name, ()))]
        }
        value = evaluate(self.formula, values, syntax="text")
        array = value.to_array(list(self.result)) if self.result else np.asarray(value.to_array())
        check_overflow(self, inputs, array)
        return np.expand_dims(array, self._ones) if self._ones else array


class Choices:
    """Options for the ambiguous expressions in a source. `plan` lists the options in the order of the expressions."""

    def __init__(self, plan: Sequence[int]):
        self.plan, self.decisions, self.chosen = plan, dict[Any, int](), list[str]()

    def __call__(self, span: Span, piece: str, options: Sequence[str], topic: str = "") -> int:
        """Return the index of the option chosen for an expression. Raise QuestionError if none is chosen yet."""
        if (topic, span) not in self.decisions:
            if len(self.decisions) >= len(self.plan):
                raise QuestionError(span, piece, options)
            option = self.plan[len(self.decisions)]
            self.decisions[topic, span] = option
            self.chosen.append(f"{piece} is read as {options[option]}")
        return self.decisions[topic, span]


def translate(
    text: str, shapes: Mapping[str, Any] | None = None, /, *, kind: str = "", reading: int | None = None, check: bool = True, **named: Any
) -> Translation:  # fmt: skip
    r"""Translate matrix notation, index notation, einsum, einops or array code to a formula with named axes.

    Translated code is compared on random arrays with the result of its library, such as NumPy. Matrix and index
    notation have no library to compare with, so only the types of their formulas are checked.

    Parameters
    ----------
    text : str
        The source as text, LaTeX or Python. It is never executed.
    shapes : mapping, optional
        The axes of inputs whose names are not Python names, such as `h_{t-1}`.
    kind : str, optional
        The source's notation: `matrices`, `indices`, `einsum`, `einops`, `numpy` or `torch` (default: detected).
    reading : int, optional
        The number of the interpretation of an ambiguous source, counted from 1.
    check : bool, optional
        Whether to compare code with its library, or to check the types of other notation (default: True).
    **named : str, tuple of int, array or number
        The axes of each input in order, such as `"query key"`, or its sizes, an array of its shape, `""` for a scalar,
        or the number that the input stands for.

    Returns
    -------
    Translation
        The formula, its axes and its assumptions.

    Raises
    ------
    NotationError
        With code 115 if a part is unsupported or the check fails, or with code 116 and `readings` if the source is
        ambiguous.

    Examples
    --------
    >>> import namedtensor as nt
    >>> translation = nt.translate(r"\text{softmax}(QK^\top/\sqrt{d_k})V", Q="query key", K="seq key", V="seq val")
    >>> translation
    softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V
    >>> translation.result
    ('query', 'val')
    """
    whole = {**(shapes or {}), **named}
    if not isinstance(text, str):  # type: ignore[redundant-expr]
        raise NotationError(
            208, f"the source is a string, got {type(text).__name__}", hint='nt.translate("A x", A="m n", x="n")'
        )
    if len(text) > MAX_CHARS:
        raise NotationError(404, f"the source is longer than {MAX_CHARS} characters")
    if kind and kind not in READERS:
        raise NotationError(208, f"unknown kind {kind!r}", hint=f"available: {', '.join(READERS)}")
    with recursion_headroom(text):
        readings, span = _readings(text, whole, kind or kind_of(text, whole), check)
    if reading is None and len(readings) > 1:
        raise _make_ambiguous(text, readings, span)
    if reading is not None and not 1 <= reading <= len(readings):
        raise NotationError(208, f"there is no reading {reading}", hint=f"the readings are 1 to {len(readings)}")
    translation = readings[(reading or 1) - 1]
    if isinstance(translation, Translation):
        return translation
    raise translation.alone()


def from_einsum(
    text: str, shapes: Mapping[str, Any] | None = None, /, *, check: bool = True, **named: Any
) -> Translation:
    """Translate a call of einsum, or its subscripts.

    Parameters
    ----------
    text : str
        The subscripts or the call, such as `"bqd,bkd->bqk"` or `'np.einsum("bqd,bkd->bqk", Q, K)'`.
    shapes, check, **named
        As in `translate`.

    Returns
    -------
    Translation
        The formula.

    Raises
    ------
    NotationError
        If the letters do not match the inputs.

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.from_einsum('np.einsum("nd,kd->nk", X, C)', X="n d", C="col d")
    X ⊙_{d} C
    """
    return translate(text, shapes, kind="einsum", check=check, **named)


def from_einops(
    text: str, shapes: Mapping[str, Any] | None = None, /, *, check: bool = True, **named: Any
) -> Translation:
    """Translate a call of einops: rearrange, reduce, repeat or einsum.

    Parameters
    ----------
    text : str
        The call, such as `"rearrange(x, 't (k c) -> k t c', k=3)"`.
    shapes, check, **named
        As in `translate`.

    Returns
    -------
    Translation
        The formula.

    Raises
    ------
    NotationError
        If the pattern does not match the input.

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.from_einops("reduce(x, 'b c -> b', 'mean')", x="b c")
    mean_c(x)
    """
    return translate(text, shapes, kind="einops", check=check, **named)


# --------------------------------------------------------------------------------------------------------- readings
def _readings(
    text: str, shapes: Mapping[str, Any], kind: str, check: bool
) -> tuple[list[Translation | NotationError], Span]:
    """Return the translation for each interpretation of a source, and the span of the first ambiguous expression.

    Interpretations that cannot be translated are left out. If none can be translated, or if a check finds wrong types
    or values, the list contains only the first error.
    """
    whole = 0, len(text)
    results: list[Translation | NotationError] = []
    question: QuestionError | None = None
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        plan = waiting.pop(0)
        try:
            results.append(_translate_text(text, shapes, kind, Choices(plan), check))
        except QuestionError as asked:
            question = question or asked
            if len(results) + len(waiting) + len(asked.options) > MAX_READINGS:
                raise make_refusal(
                    text,
                    asked.span,
                    f"{asked.piece} is ambiguous, and so are other pieces",
                    "write it with brackets and explicit signs",
                ) from None
            waiting = [(*plan, number) for number in range(len(asked.options))] + waiting
        except NotationError as problem:
            results.append(problem)
    if question is None:
        return results, whole
    right = [result for result in results if isinstance(result, Translation)]
    if not right or any(isinstance(result, UnsafeError) for result in results):
        return [next(result for result in results if isinstance(result, NotationError))], whole
    if len(right) == 1:
        right[0].reading = (*right[0].reading, *right[0].chosen)
    return [*right], question.span


def _make_ambiguous(text: str, readings: Sequence[Any], span: Span) -> AmbiguousError:
    notes = [
        f"{number}. {translation.chosen[0]}: {translation.formula.splitlines()[-1]}"
        for number, translation in enumerate(readings, 1)
    ]
    error = AmbiguousError(
        ASKED, f"{text[slice(*span)].strip()} is ambiguous", text, span, notes, "choose with reading=1, reading=2, …"
    )
    error.readings = tuple(readings)
    return error


def _translate_text(text: str, shapes: Mapping[str, Any], kind: str, choices: Choices, check: bool) -> Translation:
    reader = READERS[kind](text, shapes, choices)
    try:
        program: TranslatedProgram = reader.read()
        names = names_of(program.axes, {*program.inputs})
    except RepeatedAxisError:
        raise make_refusal(
            text, (0, len(text)), "a value would have one axis twice", "write the diagonal with indices, y_i = A_{ii}"
        ) from None
    except NotationError as problem:
        known = names_of_axes(reader)
        hint = None if problem.hint is None else spell_names(str(problem.hint), known)
        raise problem.replace(message=spell_names(problem.message, known), hint=hint) from None
    translation = _build_translation(text, program, names, choices)
    if check:
        translation.checked = verify(translation, program, text)
    return translation


def _build_translation(
    text: str, program: TranslatedProgram, names: Mapping[str, tuple[str, ...]], choices: Choices
) -> Translation:
    """Build a translation from a program and its axis names.

    Raise NotationError if the formula would use one name for two inputs.
    """
    statements, result = statements_of(program, names)
    axes = {
        name: tuple(part for axis in axes_of(leaf.dims) for part in names[axis.key])
        for name, leaf in program.inputs.items()
    }
    spellings = {name: to_text(leaf.node) for name, leaf in program.inputs.items()}
    reading = [spell_names(line, names) for line in program.remarks]
    for name, spelled in spellings.items():
        if [*spellings.values()].count(spelled) > 1:
            raise make_refusal(
                text, (0, len(text)), f"{name} and another input would both be called {spelled}", "rename one of them"
            )
        if canonical(spelled) != canonical(name):
            reading.append(f"{name} is called {spelled}")
    tree = nodes.Program(tuple(statements))
    ones = find_ones(program.lines[-1].dims) if program.source else ()
    dropped = {name: find_ones(leaf.dims) for name, leaf in program.inputs.items()}
    facts = program.axes.facts
    numbers = frozenset({*axes}.difference(facts.indices, facts.truths) if program.source else ())
    return Translation(
        text, to_text(tree), program.kind, axes, result, tuple(reading), tuple(choices.chosen), tree, spellings, ones, dropped, numbers=numbers
    )  # fmt: skip
