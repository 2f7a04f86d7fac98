"""Suggest a translation for a formula that has an error.

A translation is suggested if the formula is in positional notation and the types of its inputs are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grammar.errors import Hint, NotationError

from .refusals import AmbiguousError

CODES = {101, 103, 105, 106, 109, 111, 112, 114, 201, 204, 301, 302, 304, 312, 314, 316, 318}
SIGNS = re.compile(  # signs that named notation lacks or hardly uses
    r"\^\s*\{?\s*(?:⊤|\\top|T\b|\\intercal|-\s*1)|ᵀ|⁻¹|_\{?[a-z]{2}\b|[ᵢⱼₖ]|[Σ∑]|\\sum|@|->|\.\w+\(|\.T\b|\[[:\d.]|\bnp\.|\btorch\."
    r"|‖|\\\||\b[A-Z]{2,3}\b|\b[A-Z]\s+[A-Za-z]\b|\b[A-Z][a-z]\b|\b(?:tr|Tr)\b|\\(?:frac|mathbf|circ|langle)"
)
NAMED = ("⊙", "\\ndot", "\\nfun", "\\nsum", "dot_", "@_")
MAX_CHARS = 300
OUTER = 314  # the code of the warning about a product whose factors have no axis in common


def looks_positional(source: str) -> bool:
    """Return whether a short source resembles matrices, indices or array code rather than named notation."""
    return len(source) <= MAX_CHARS and SIGNS.search(source) is not None and not any(sign in source for sign in NAMED)


def names_axes(source: str, values: Mapping[str, Any]) -> bool:
    """Return whether a source names an axis of one of the values, which occurs only in named notation."""
    words = set(re.findall(r"[^\W\d_]{2,}", source))
    return any(not words.isdisjoint(getattr(value, "axes", ())) for value in values.values())


def offer_of(source: str, values: Mapping[str, Any]) -> Hint | None:
    """Return a hint with the translation of a formula in positional notation, or None if no translation exists.

    `values` contains the known inputs, that is, named tensors, sets or numbers. The translation uses their axes. It is
    suggested only if its check succeeds.
    """
    return to_hint(translations_of(source, values), source)


def remark_on(source: str, values: Mapping[str, Any], axes: Iterable[str]) -> Hint | None:
    """Return a hint if a correct formula is also valid positional notation, but all its translations have other axes.

    Return None if a translation has the axes in `axes`, or if there is no translation.
    """
    readings = translations_of(source, values)
    if any({*reading.result} == {*axes} for reading in readings):
        return None
    return to_hint(readings, source)


def to_hint(readings: Sequence[Any], source: str) -> Hint | None:
    formulas = [" ; ".join(reading.formula.splitlines()) for reading in readings]
    formulas = [*dict.fromkeys(formula for formula in formulas if formula != source.strip())]
    return Hint(f"in named axes: {' or '.join(formulas)}", *formulas, at=(0, len(source))) if formulas else None


def translations_of(source: str, values: Mapping[str, Any]) -> Sequence[Any]:
    """Return all translations of a source in positional notation that use no inputs other than `values`.

    Return () if the source does not look positional or cannot be translated.
    """
    if not values or not looks_positional(source) or names_axes(source, values):
        return ()
    try:
        from .translation import translate
    except ImportError:  # the reader of array code needs NumPy
        return ()
    try:
        used = {name: value for name, value in values.items() if not name.isascii() or name in source}
        used = {name: "" if isinstance(value, float) else value for name, value in used.items()}
        readings: Sequence[Any] = (translate(source, used),)
    except AmbiguousError as question:
        readings = question.readings
    except Exception:  # The caller reports the error of the formula, whatever fails here.
        return ()
    return [reading for reading in readings if {*values} >= {*reading.axes}]


def with_offer(problem: NotationError, source: str, values: Mapping[str, Any]) -> NotationError:
    """Return the error with the translation of the source as its hint.

    The error is unchanged if no translation exists or the error's code is not in `CODES`.
    """
    hint = offer_of(source, values) if problem.code in CODES else None
    # A translation that is only a name is a transpose. The error already reports that axes have no order.
    if hint is None or hint.edits[0][1] in values:
        return problem
    where = {} if problem.source else {"source": source, "span": (0, len(source))}
    return problem.replace(hint=hint, **where)


def with_offers(warnings: Sequence[Any], source: str, values: Mapping[str, Any]) -> list[Any]:
    """Return the warnings, with the source's translation as the hint of each warning about an outer product.

    Without a translation, the warnings are unchanged.
    """
    if not any(warning.code == OUTER for warning in warnings):
        return [*warnings]
    hint = offer_of(source, values)
    return [warning._replace(hint=hint) if hint and warning.code == OUTER else warning for warning in warnings]
