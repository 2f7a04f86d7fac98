"""What a formula that failed may have meant: its translation, where it is in positional notation and the types are known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from grammar.errors import Hint, NotationError
from grammar.locks import LOADING, all_or_none

from .refusals import Ambiguous

CODES = {101, 103, 105, 106, 107, 109, 111, 112, 114, 201, 204, 301, 302, 304, 312, 314, 316, 318}
SIGNS = re.compile(  # what named notation does not have, or hardly
    r"\^\s*\{?\s*(?:⊤|\\top|T\b|\\intercal|-\s*1)|ᵀ|⁻¹|_\{?[a-z]{2}\b|[ᵢⱼₖ]|[Σ∑]|\\sum|@|->|\.\w+\(|\.T\b|\[[:\d.]|\bnp\.|\btorch\."
    r"|‖|\\\||\b[A-Z]{2,3}\b|\b[A-Z]\s+[A-Za-z]\b|\b[A-Z][a-z]\b|\b(?:tr|Tr)\b|\\(?:frac|mathbf|circ|langle)"
)
NAMED = ("⊙", "\\ndot", "\\nfun", "\\nsum", "dot_", "@_")
MAX_CHARS = 300
OUTER = 314  # the code of a product that has no axis in common


def offer_of(source: str, values: Mapping[str, Any]) -> Hint | None:
    """The translation of a text in positional notation as a hint, made with the axes of `values`; None where there is none.

    `values` are the inputs at hand: named tensors, sets or numbers. Only what was compared with the source is offered.
    """
    if not values or len(source) > MAX_CHARS or not SIGNS.search(source) or any(sign in source for sign in NAMED):
        return None
    try:
        with LOADING, all_or_none():
            from .translation import translate
    except ImportError:  # the comparison with the source needs NumPy
        return None
    try:
        translation = translate(source, dict(values))
        formulas = [translation.formula] if {*values} >= {*translation.axes} else []
    except Ambiguous as question:
        formulas = [getattr(reading, "formula", "") for reading in question.readings]
    except NotationError:
        return None
    formulas = [" ; ".join(formula.splitlines()) for formula in formulas if formula and formula != source.strip()]
    if not formulas:
        return None
    text = f"in named axes: {' or '.join(dict.fromkeys(formulas))}"
    return Hint(text, *dict.fromkeys(formulas), at=(0, len(source)))


def with_offer(problem: NotationError, source: str, values: Mapping[str, Any]) -> NotationError:
    """The error with the translation of its source as its hint, where there is one; else the error as it is."""
    hint = offer_of(source, values) if problem.code in CODES else None
    if hint is None:
        return problem
    where = {} if problem.source else {"source": source, "span": (0, len(source))}
    return problem.replace(hint=hint, **where)


def with_offers(warnings: Sequence[Any], source: str, values: Mapping[str, Any]) -> list[Any]:
    """The warnings of a text, those of outer products with its translation as their hint."""
    if not any(warning.code == OUTER for warning in warnings):
        return [*warnings]
    hint = offer_of(source, values)
    return [warning._replace(hint=hint) if hint and warning.code == OUTER else warning for warning in warnings]
