"""What a formula that failed may have meant: its translation, where it is in positional notation and the types are known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from grammar.errors import Hint, NotationError

from .refusals import Ambiguous
from .translation import translate

CODES = {101, 103, 105, 106, 107, 109, 111, 112, 114, 201, 204, 301, 302, 304, 312, 314, 316, 318}
SIGNS = re.compile(  # what named notation does not have, or hardly
    r"\^\s*\{?\s*(?:⊤|\\top|T\b|\\intercal|-\s*1)|ᵀ|⁻¹|_\{?[a-z]{2}\b|[ᵢⱼₖ]|[Σ∑]|\\sum|@|->|\.\w+\(|\.T\b|\[[:\d.]|\bnp\.|\btorch\."
    r"|‖|\\\||\b[A-Z]{2,3}\b|\b[A-Z]\s+[A-Za-z]\b|\b[A-Z][a-z]\b|\b(?:tr|Tr)\b|\\(?:frac|mathbf|circ|langle)"
)
NAMED = ("⊙", "\\ndot", "\\nfun", "\\nsum", "dot_", "@_")
MAX_CHARS = 300


def with_offer(problem: NotationError, source: str, values: Mapping[str, Any]) -> NotationError:
    """The error with the translation of its source as a hint, where there is one; else the error as it is.

    `values` are the inputs at hand, named tensors or numbers: a translation is made with their axes, and offered only
    where it was compared with the source.
    """
    if problem.code not in CODES or len(source) > MAX_CHARS or not values:
        return problem
    if not SIGNS.search(source) or any(sign in source for sign in NAMED):
        return problem
    try:
        found = translate(source, dict(values.items()))
        formulas = [found.formula] if set(values) >= set(found.axes) else []
    except Ambiguous as question:
        formulas = [getattr(reading, "formula", "") for reading in question.readings]
    except NotationError:
        return problem
    formulas = [" ; ".join(formula.splitlines()) for formula in formulas if formula and formula != source.strip()]
    if not formulas:
        return problem
    text = f"in named axes: {' or '.join(dict.fromkeys(formulas))}"
    whole = 0, len(source)
    where = {} if problem.source else {"source": source, "span": whole}
    return problem.replace(hint=Hint(text, *dict.fromkeys(formulas), at=whole), **where)
