"""Errors about sources that cannot be translated and questions about ambiguous sources, with their positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grammar.errors import NotationError, Span

REFUSED, ASKED = 115, 116


class AmbiguousError(NotationError):
    """The error for an ambiguous source. `readings` contains its translations, and `reading=1` selects the first."""

    readings: tuple[Any, ...] = ()


class UnsafeError(NotationError):
    """The error for a translation whose check fails, because of its types or because its values differ."""


class QuestionError(Exception):
    """Raised if an expression in the source is ambiguous and none of its interpretations has been chosen."""

    def __init__(self, span: Span, piece: str, options: Sequence[str]):
        super().__init__(piece)
        self.span, self.piece, self.options = span, piece, tuple(options)


def make_refusal(source: str, span: Span, message: str, hint: str | None = None) -> NotationError:
    """Return the error for a span of the source that cannot be translated."""
    return NotationError(REFUSED, message, source, span, hint=hint)
