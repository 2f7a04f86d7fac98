"""Formulas that are well typed and contradict nothing, and are probably not what was meant.

Each rule knows something that a right document does not do; one that is right is not reported. Their figures, on planted
mistakes, are in `docs/linter_findings.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..terms.inference import CheckWarning
from .document import Document, MathSpan
from .index_ranges import wrong_indices
from .inverted import inverted_quotients
from .lines import DocumentLines, Suspicion
from .lone_axes import lone_axes
from .missing_members import missing_members
from .offsets import lost_offsets
from .residuals import lost_residuals
from .rotations import broken_rotations
from .signs import wrong_signs
from .unused_results import unused_results
from .usual_definitions import unusual_definitions

RULES: tuple[Callable[[DocumentLines], Iterator[Suspicion]], ...] = (
    missing_members,
    unused_results,
    wrong_indices,
    inverted_quotients,
    wrong_signs,
    broken_rotations,
    lone_axes,
    lost_offsets,
    lost_residuals,
    unusual_definitions,
)


def suspicious_formulas(document: Document, reported: set[MathSpan]) -> Iterator[CheckWarning]:
    """Yield a warning for each formula, of those that are reported, that is probably not what was meant."""
    lines = DocumentLines(document, reported)
    for rule in RULES:
        for code, line, node, message, hint in rule(lines):
            span = lines.source_span(line, node) if lines.is_reported(line) else None
            if span is not None:
                yield CheckWarning(code, message, span, hint)
