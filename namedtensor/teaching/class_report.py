"""Report on a class: how many students solved each exercise, and the most common mistakes with examples."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from string import Template

from .class_grades import Attempt, StudentResults
from .exercise_files import ExerciseText

MAX_MISTAKES = 8  # the most common mistakes of an exercise that are shown


@dataclass(frozen=True)
class CommonMistake:
    """A mistake with an example, and the students who made it, even if they corrected it later."""

    mistake: str
    students: tuple[str, ...]
    example: Attempt


@dataclass(frozen=True)
class ExerciseReport:
    """The report on an exercise: how many students are right, are wrong or gave no answer, and all their mistakes."""

    exercise: ExerciseText
    correct: int
    wrong: int
    missing: int
    attempts: int
    mistakes: tuple[CommonMistake, ...]


def reports(results: Sequence[StudentResults]) -> list[ExerciseReport]:
    """Return a report for each exercise, given the results of all students."""
    if not results:
        return []
    return [_report(results, at) for at in range(len(results[0].results))]


def _report(results: Sequence[StudentResults], at: int) -> ExerciseReport:
    answers = [(of.student.name, of.results[at]) for of in results]
    correct = sum(result.grade.correct for _, result in answers)
    missing = sum(not result.attempts for _, result in answers)
    students: dict[str, dict[str, Attempt]] = {}  # by the mistake
    for name, result in answers:
        for attempt in result.attempts:
            if not attempt.grade.correct:
                students.setdefault(attempt.grade.mistake or attempt.grade.feedback, {}).setdefault(name, attempt)
    common_mistakes = [CommonMistake(message, tuple(by), _example([*by.values()])) for message, by in students.items()]
    return ExerciseReport(
        answers[0][1].exercise, correct, len(answers) - correct - missing, missing, sum(len(result.attempts) for _, result in answers),
        tuple(sorted(common_mistakes, key=lambda common_mistake: -len(common_mistake.students))),
    )  # fmt: skip


def _example(attempts: Sequence[Attempt]) -> Attempt:
    """Return an attempt with the most frequent answer. If several answers are equally frequent, choose the shortest."""
    answers = [attempt.answer for attempt in attempts]
    return max(attempts, key=lambda attempt: (answers.count(attempt.answer), -len(attempt.answer)))


# ------------------------------------------------------------------------------------------------------------------ text
def text_report(results: Sequence[StudentResults], title: str, skipped: Sequence[str] = ()) -> str:
    """Return the report as plain text; `skipped` lists the files that were not graded."""
    lines = [title, "=" * len(title), "", *_summary(results), *(f"not graded: {name}" for name in skipped), ""]
    for report in reports(results):
        lines += [_head(report), *_mistake_lines(report), ""]
    return "\n".join(lines)


def _head(report: ExerciseReport) -> str:
    total = report.correct + report.wrong + report.missing
    counts = f"{report.correct} of {total} correct, {report.wrong} wrong, {report.missing} without an answer"
    return f"{report.exercise.name}: {counts}; {report.attempts} attempt{'s' * (report.attempts != 1)}"


def _mistake_lines(report: ExerciseReport) -> Iterator[str]:
    for mistake in report.mistakes[:MAX_MISTAKES]:
        yield f"  {len(mistake.students)} × {mistake.mistake}"
        yield f"      for example: {' ; '.join(mistake.example.answer.splitlines())}"
    rest = len(report.mistakes) - MAX_MISTAKES
    if rest > 0:
        yield f"  and {rest} rarer mistake{'s' * (rest != 1)}"


def _summary(results: Sequence[StudentResults]) -> list[str]:
    submitted = [student for student in results if any(result.attempts for result in student.results)]
    if not submitted:
        return ["no answers"]
    points = sorted(student.points for student in submitted)
    best = f"{points[-1]:g} of {submitted[0].max_points:g}"
    return [
        f"{len(submitted)} of {len(results)} students submitted answers",
        f"points: median {median(points):g}, lowest {points[0]:g}, highest {best}",
    ]


# ------------------------------------------------------------------------------------------------------------------ HTML
PAGE = Template("""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>$title</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
.bar { display: flex; height: 1rem; max-width: 30rem; border: 1px solid; border-radius: 0.25rem; overflow: hidden; }
.bar > * { display: block; }
.correct { background: #2da44e; }
.wrong { background: #cf222e; }
table { border-collapse: collapse; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid #8884; text-align: left; vertical-align: top; }
td:first-child { text-align: right; font-variant-numeric: tabular-nums; }
pre { white-space: pre-wrap; margin: 0; }
.task { max-width: 45rem; }
.table { overflow-x: auto; }
</style>
<h1>$title</h1>
<p>$summary</p>
$exercises
""")


def html_report(results: Sequence[StudentResults], title: str, skipped: Sequence[str] = ()) -> str:
    """Return the report as a standalone HTML page; `skipped` lists the files that were not graded."""
    exercises = "\n".join(_section(report) for report in reports(results))
    lines = [*_summary(results), *(f"not graded: {name}" for name in skipped)]
    summary = "<br>".join(map(html.escape, lines))
    return PAGE.substitute(title=html.escape(title), summary=summary, exercises=exercises)


def _section(report: ExerciseReport) -> str:
    total = max(1, report.correct + report.wrong + report.missing)
    name, _, counts = _head(report).partition(": ")
    bar = "".join(
        f'<span class="{kind}" style="width: {100 * count / total:.1f}%"></span>'
        for kind, count in (("correct", report.correct), ("wrong", report.wrong))
    )
    return (
        f"<h2>{html.escape(name)}</h2>\n"
        f'<p class="task">{html.escape(report.exercise.prose)}</p>\n'
        f'<div class="bar" role="img" aria-label="{html.escape(counts)}">{bar}</div>\n'
        f"<p>{html.escape(counts)}</p>\n{_mistake_table(report)}"
    )


def _feedback(text: str) -> str:
    """Return feedback as HTML. Feedback of several lines, such as an error with its caret, is preformatted."""
    shown = html.escape(text)
    return f"<pre>{shown}</pre>" if "\n" in text else shown


def _mistake_table(report: ExerciseReport) -> str:
    if not report.mistakes:
        return ""
    rows = "\n".join(
        f'<tr><td title="{html.escape(", ".join(mistake.students))}">{len(mistake.students)}</td>'
        f"<td>{html.escape(mistake.mistake)}</td><td><pre>{html.escape(mistake.example.answer)}</pre></td>"
        f"<td>{_feedback(mistake.example.grade.feedback)}</td></tr>"
        for mistake in report.mistakes[:MAX_MISTAKES]
    )
    head = "<tr><th>students</th><th>mistake</th><th>example</th><th>feedback</th></tr>"
    return f'<div class="table"><table>\n{head}\n{rows}\n</table></div>'
