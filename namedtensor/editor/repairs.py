"""Repairs of errors, for buttons and quick fixes. They are edits that an error's hint suggests.

softmax_{sek} X     seq      replaces the span of the error

An edit is offered only if the edited text has fewer errors, or if its first syntax error comes later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from grammar.errors import NotationError, Span

MOST = 4  # repairs of one error
Errors = Sequence[NotationError]


class Edit(NamedTuple):
    """A replacement for a span of a text."""

    span: Span
    text: str


def repairs(problem: NotationError, errors: Errors, errors_of: Callable[[str], Errors]) -> list[Edit]:
    """Return the edits that can repair a problem. `errors_of` returns the errors of an edited text."""
    replies: list[Edit] = []
    for (start, end), text in candidates(problem):
        source = problem.source or ""
        put = source[:start] + text + source[end:]
        if put != source and mends(problem, errors, errors_of(put), start + len(text)):
            replies.append(Edit((start, end), text))
        if len(replies) == MOST:
            break
    return replies


def candidates(problem: NotationError) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the edits that an error's hint suggests. In LaTeX, a macro is replaced by another macro."""
    for (start, end), text in problem.edits:
        macro = (problem.source or "")[start : start + 1] == "\\" and text.isalpha()
        yield (start, end), f"\\{text}" if macro else text


def mends(problem: NotationError, errors: Errors, left: Errors, end: int) -> bool:
    """Return whether an edit repairs a problem, given the errors before and after the edit.

    For a syntax error, no syntax errors may remain before the `end` of the edit. For other errors, fewer errors must
    remain.
    """
    if problem.kind != "syntax":
        return len(left) < len(errors)
    return all(error.kind != "syntax" or start_of(error) >= end for error in left)


def start_of(problem: NotationError) -> int:
    return -1 if problem.span is None else problem.span[0]
