"""Grading of answers that are types or function signatures.

The names of the axes matter, but their order does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grammar import nodes
from grammar.parser import parse

from ..operators.usage import tensors
from .exercise_files import ExerciseText
from .references import Fits, axes_of, reference_of
from .verdicts import RefusedAnswerError, WrongAnswerError

BARE = re.compile(r"[({]?\s*[^\W\d]\w*['′*]*(?:\s*[×,]\s*[^\W\d]\w*['′*]*)*\s*[)}]?")  # n × k, {n, k}
UNBRACED = re.compile(r"[ℝR]\s*\^\s*\w+\s*[×,].*")  # ℝ^n × k
ARROW = re.compile(r"→|->|\\(?:rightarrow|to)\b")
BEFORE = re.compile(r"[^\W\d]\w*['′]*\s*(?:=|∈|\\in\b)\s*")  # answer = ℝ^{n}, X ∈ ℝ^{n}
BETWEEN = re.compile(r"(?<=})\s*,\s*(?=[ℝR])")  # the comma of two arguments


def types(exercise: ExerciseText, answer: str, seed: int) -> str:
    """Return feedback on the types of the requested parts, or raise WrongAnswerError if a type has wrong axes.

    The axes of a type may be in any order.
    """
    reference = reference_of(exercise, seed)
    expected = reference.types()
    lines = _lines(answer)
    if len(lines) != len(expected):
        raise RefusedAnswerError(
            f"{len(expected)} {'type is' if len(expected) == 1 else 'types are'} asked for, a line each, and here are {len(lines)}"
        )
    for text, (part, type_) in zip(lines, expected.items()):
        axes, fits = _axes(text), reference.fits(type_)
        if not fits(axes):
            wrong = axes_wrong(fits, axes, reference.setting.axes)
            raise WrongAnswerError(f"{part + ': ' if part else ''}not {tensors(axes)}: {wrong}")
    return "correct"


def _lines(answer: str) -> list[str]:
    return [line for line in answer.replace(";", "\n").splitlines() if line.strip()]


def _axes(line: str) -> tuple[str, ...]:
    return axes_of(set_of(BEFORE.sub("", line.strip()).rpartition(":")[2].strip()))


def find_stated_types(answer: str) -> list[frozenset[str]]:
    """Return the axes of each type that an answer states."""
    return [frozenset(_axes(line)) for line in _lines(answer)]


def set_of(text: str) -> nodes.Set:
    """Parse a set such as ℝ^{seq × key} in either syntax. Raise `RefusedAnswerError` if the text is not a set."""
    if UNBRACED.fullmatch(text) or (BARE.fullmatch(text) and text not in ("ℝ", "R")):
        raise RefusedAnswerError(f"{text} is not a type: write its axes in braces, as in ℝ^{{seq × key}}")
    spelled = f"X ∈ {text}" if "\\" not in text else f"X \\in {text}"
    statements = parse(spelled, "auto").statements
    if len(statements) != 1 or not isinstance(statements[0], nodes.Declaration) or len(statements[0].sets) != 1:
        raise RefusedAnswerError(f"{text} is not a type: write one such as ℝ^{{seq × key}}")
    return statements[0].sets[0]


def axes_wrong(fits: Fits, axes: tuple[str, ...], known: Sequence[str]) -> str:
    """Return feedback on the wrong axes of a type: an extra, missing, unknown or replaced axis."""
    if one_too_many(fits, axes):
        return f"the axis {one_too_many(fits, axes)} is not there: think of what is summed over"
    if one_too_few(fits, axes, known):
        return "an axis is missing"
    if unknown := [axis for axis in axes if axis not in known]:
        return f"what is given has no axis {unknown[0]}; an axis is missing or replaced by another"
    return "an axis is missing or replaced by another"


def one_too_many(fits: Fits, axes: tuple[str, ...]) -> str | None:
    """Return an axis whose removal would make the axes correct, or None if there is no such axis."""
    return next((axis for axis in axes if fits(tuple(name for name in axes if name != axis))), None)


def one_too_few(fits: Fits, axes: tuple[str, ...], known: Sequence[str]) -> bool:
    """Return whether the axes would be correct with one additional axis among the known axes."""
    return any(fits(tuple(sorted((*axes, axis)))) for axis in known if axis not in axes)


def signature(exercise: ExerciseText, answer: str, seed: int) -> str:
    """Return feedback on a function signature, or raise WrongAnswerError if it differs from the solution.

    The function may have any name. An extra axis is wrong, because lifting already provides it.
    """
    reference = reference_of(exercise, seed)
    *arguments, result = map(reference.fits, reference.signature())
    element = signature_of(answer)
    if len(element.domain) != len(arguments):
        raise WrongAnswerError(
            f"the function has {len(arguments)} arguments, and yours {len(element.domain)}{_result_wrong(element, result)}"
        )
    actual, expected = [axes_of(set_) for set_ in (*element.domain, element.codomain)], [*arguments, result]
    known = list(dict.fromkeys(axis for axes in actual for axis in axes))
    faults = [
        argument_wrong("the result" if at == len(arguments) else f"argument {at + 1}", at, actual, expected, known)
        for at, (axes, fits) in enumerate(zip(actual, expected))
        if not fits(axes)
    ]
    if faults:
        raise WrongAnswerError("; ".join(dict.fromkeys(faults)))
    return "correct"


def _result_wrong(signature: nodes.Signature, fits: Fits) -> str:
    axes = axes_of(signature.codomain)
    return "" if fits(axes) else f"; the result is not in {tensors(axes)} either"


def signature_of(answer: str) -> nodes.Signature:
    """Return the signature in an answer. The function name is optional, and commas may separate the arguments."""
    text = BETWEEN.sub(" × ", answer.strip())
    if ":" not in text and ARROW.search(text):
        text = f"f : {text}"
    if len(ARROW.findall(text)) > 1 and "(" not in text:
        raise RefusedAnswerError(
            "write the sets of the arguments before one arrow, × between them: f : ℝ^{a} × ℝ^{b} → ℝ^{c}"
        )
    statements = parse(text, "auto").statements
    statement = statements[-1] if statements else None
    if not isinstance(statement, nodes.Signature):
        raise RefusedAnswerError("expected a signature: f : ℝ^{a} × ℝ^{b} → ℝ^{c}")
    return statement


def argument_wrong(
    where: str, at: int, given: Sequence[tuple[str, ...]], expected: Sequence[Fits], known: Sequence[str]
) -> str:
    """Return feedback on the argument at index `at`. The index after the last argument denotes the result."""
    fits, axes = expected[at], given[at]
    for other, theirs in enumerate(expected[:-1]):
        if other != at < len(expected) - 1 and theirs(axes) and fits(given[other]):
            first, second = sorted((at + 1, other + 1))
            return f"arguments {first} and {second} have each other's axes: they are given in another order"
    if extra := one_too_many(fits, axes):
        return f"{where} has the axis {extra} too many: lifting takes care of it"
    if one_too_few(fits, axes, known):
        return f"{where} is missing an axis: it is not in {tensors(axes)}"
    return f"{where} is not in {tensors(axes)}: an axis is missing or is called otherwise"
