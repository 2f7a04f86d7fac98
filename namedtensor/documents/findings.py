"""The findings of a report, with their positions in files. Findings that comments silence are left out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from grammar.errors import NotationError, Span

from .directives import Ignored
from .document import Document, MathSpan, Skipped
from .included_files import Whole

ERROR, WARNING, NOT_CHECKED = "error", "warning", "not checked"


class Finding(NamedTuple):
    """A finding with its severity, file, problem and formula."""

    severity: str
    file: str
    problem: NotationError
    formula: str = ""  # its text, on one line


class _Silenced(NamedTuple):
    """A range of a file in which a comment silences findings with certain codes, or all findings."""

    file: str
    start: int
    end: int
    numbers: frozenset[int]

    def holds(self, file: str, problem: NotationError) -> bool:
        position = problem.span[0] if problem.span else 0
        is_there = self.file == file and self.start <= position <= self.end
        return is_there and (not self.numbers or problem.code in self.numbers)


def findings_of(report: Document, whole: Whole) -> list[Finding]:
    """Return the errors, the warnings, and the unchecked formulas with named axes, each group in document order."""
    maths = sorted({formula for section in report.sections for formula in section.maths if not formula.written})
    silenced = [_stretch(ignored, whole, maths) for ignored in report.ignored]
    findings: dict[object, Finding] = {}  # one finding for each problem, even if a file is included several times
    for severity, problem in _problems(report, whole):
        span = problem.span or (0, 0)
        index = bisect_right(maths, span[0], key=lambda formula: formula.start) - 1
        span_of_formula = maths[index][:2] if index >= 0 and span[0] < maths[index].end else _line(whole.text, span[0])
        formula = " ".join(whole.text[slice(*span_of_formula)].split())
        file, error = whole.error(problem)
        if not any(stretch.holds(file, error) for stretch in silenced):
            findings.setdefault(
                (severity, file, error.span, error.code, error.message), Finding(severity, file, error, formula)
            )
    return list(findings.values())


def _problems(report: Document, whole: Whole) -> Iterator[tuple[str, NotationError]]:
    yield from ((ERROR, error) for error in report.errors)
    yield from ((WARNING, warning.make_strict_error(whole.text)) for warning in report.warnings)
    yield from (
        (NOT_CHECKED, _to_error(left, whole.text)) for left in sorted(report.unread, key=lambda skipped: skipped.span)
    )


def _to_error(left: Skipped, source: str) -> NotationError:
    problem = left.problem
    if problem is None or problem.span is None:
        return NotationError(404, left.reason, source, left.span)
    return problem.replace(source=source, labels=())


def _line(text: str, position: int) -> Span:
    end = text.find("\n", position)
    return text.rfind("\n", 0, position) + 1, end if end >= 0 else len(text)


# ------------------------------------------------------------------------------------------------------------- silence
def _stretch(ignored: Ignored, whole: Whole, maths: list[MathSpan]) -> _Silenced:
    """Return the range that a directive applies to.

    After other text on a line, a directive applies to that line and to the formula that ends on it. Within a formula, a
    directive on a separate line applies to the next line. Elsewhere, it applies to the next formula.
    """
    at = whole.place((ignored.position, ignored.position))
    start, end = _line(at.text, at.span[0])
    index = bisect_left(maths, ignored.position, key=lambda formula: formula.end)
    if at.text[start : at.span[0]].strip(" \t%><!-"):
        before = maths[index - 1] if index else None
        ends_here = before is not None and start <= whole.place(before[:2]).span[1] <= at.span[0]
        start = min(start, whole.place(before[:2]).span[0]) if before and ends_here else start
    elif index < len(maths) and maths[index].start <= ignored.position:
        start, end = _line(at.text, min(end + 1, len(at.text)))
    elif index < len(maths):
        start, end = whole.place(maths[index][:2]).span
    return _Silenced(at.file, start, end, ignored.numbers)
