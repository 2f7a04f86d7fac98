"""Quick fixes: the edits that errors and warnings suggest, each tried before it is offered."""

from __future__ import annotations

from typing import NamedTuple

from grammar.errors import NotationError, Span

from .analysis import EditedDocument
from .repairs import Edit, repairs
from .text_programs import Problem

MAX_PROBLEMS = 5  # the limit on problems that overlap a span


class Fix(NamedTuple):
    """A quick fix: its description, its edit, and the problem that it fixes."""

    title: str
    edit: Edit
    problem: Problem


def fixes(document: EditedDocument, span: Span) -> list[Fix]:
    """Complete the check of a document, and return the quick fixes for the problems that overlap a span."""
    document.settle()
    problems = [
        candidate
        for candidate in document.problems
        if candidate.error.source == document.text and touches(candidate, span)
    ]
    before = list_findings(document)
    offered: list[Fix] = []
    for problem in [candidate for candidate in problems if candidate.error.edits][:MAX_PROBLEMS]:
        for repair in repairs(problem.error, before, lambda text: _check_edited(document, text)):
            old = document.text[slice(*repair.span)]
            title = (
                f"Replace {old} by {repair.text}"
                if old and repair.text
                else f"Remove {old}"
                if old
                else f"Insert {repair.text}"
            )
            offered.append(Fix(title, repair, problem))
    return offered


def touches(problem: Problem, span: Span) -> bool:
    """Return whether a problem overlaps a span."""
    start, end = problem.error.span or (0, 0)
    return start <= span[1] and span[0] <= end


def list_findings(document: EditedDocument) -> list[NotationError]:
    """Return the errors and warnings of a document, without findings that are only information."""
    return [problem.error for problem in document.problems if problem.severity != "information"]


def _check_edited(document: EditedDocument, text: str) -> list[NotationError]:
    other = document.copy()
    other.update(text)
    other.settle()
    return list_findings(other)
