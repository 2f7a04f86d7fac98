"""An HTML page with the findings of a check. It does not need other files.

The page shows every formula with colored axes and with types as tooltips. Below each formula are its findings, which
mark the affected source.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from grammar import nodes
from grammar.printer.runs import Run, axes_in, to_runs

from ..display.colors import Tint, rules, tints
from ..display.html import html_runs, style
from .document import Document, MathSpan, Section
from .findings import Finding
from .included_files import FileLocation, Whole

COLORS = {  # of a light and a dark page
    ".nt-report": ("background:#fff;color:#1b1b1b", "background:#151515;color:#e8e8e8"),
    ".nt-report a": ("color:#0b57d0", "color:#8ab4f8"),
    ".nt-report .place": ("color:#666", "color:#aaa"),
    ".nt-report .note": ("color:#666", "color:#aaa"),
    ".nt-report article": ("border-color:#ccc", "border-color:#555"),
    ".nt-report .error": ("color:#a3001b", "color:#ff8a94"),
    ".nt-report .warning": ("color:#8a5a00", "color:#ffc061"),
    ".nt-report mark": ("background:#ffd9d9;color:inherit", "background:#6b1d24;color:inherit"),
}
LIGHT, DARK = ({selector: pair[page] for selector, pair in COLORS.items()} for page in (0, 1))
STYLE = (
    "body{margin:0}.nt-report{font-family:ui-sans-serif,system-ui,sans-serif;line-height:1.5;"
    "box-sizing:border-box;min-height:100vh;padding:1em max(1em,calc(50% - 30em));overflow-wrap:break-word}"
    ".nt-report article{border-left:3px solid;margin:1em 0;padding:.2em 0 .2em 1em;overflow-x:auto}"
    ".nt-report pre{white-space:pre-wrap;font-size:.9em}.nt-report .place{font-size:.8em;text-decoration:none}"
    ".nt-report [title]{text-decoration:underline dotted;text-underline-offset:.25em;cursor:help}"
    ".nt-report p{margin:.3em 0}"
)


class PageDocument(NamedTuple):
    """A document on the page, with its report and findings."""

    name: str
    whole: Whole
    report: Document
    findings: list[Finding]


def page(documents: Iterable[PageDocument], summary: str) -> str:
    """Return an HTML page for several checked documents."""
    listed = list(documents)
    title = html.escape(", ".join(document.name for document in listed))
    body = "".join("".join(_document(number, document)) for number, document in enumerate(listed))
    look = style() + f"<style>{STYLE}{rules(LIGHT, DARK)}</style>"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>{look}</head>'
        f'<body><main class="nt-report"><h1>{title}</h1><p class="summary">{html.escape(summary)}</p>{body}</main></body></html>\n'
    )


def _document(number: int, document: PageDocument) -> Iterator[str]:
    formulas = _formulas(document)
    colors = tints(axis for formula in formulas if formula.program for axis in axes_in(formula.program))
    findings = _group_by_formula(document, formulas)
    yield _contents(number, document, findings)
    for section in document.report.scopes:
        indices = [at for at, formula in enumerate(formulas) if formula.section is section]
        if indices:
            yield f"<h2>{html.escape(section.title or 'Before the first section')}</h2>"
        for at in indices:
            yield from _article(f"d{number}f{at}", formulas[at], document.whole, findings.get(at, []), colors)
    if findings.get(-1):
        yield f'<section id="d{number}f-1">{"".join(map(_finding_line, findings[-1]))}</section>'


class PageFormula(NamedTuple):
    """A formula with its section and its program, which is None if the formula was not parsed."""

    maths: MathSpan
    section: Section
    program: nodes.Program | None


def _formulas(document: PageDocument) -> list[PageFormula]:
    """Return the checked formulas, and the unchecked formulas with named axes, in document order."""
    left = [skipped.span[0] for skipped in document.report.unread]
    result = []
    for section in document.report.sections:
        checked = {*section.formulas, *section.shapes}
        for maths in section.maths:
            skipped = any(maths.start <= start < maths.end for start in left)
            if not maths.written and (maths in checked or skipped):
                result.append(PageFormula(maths, section, section.programs.get(maths) if maths in checked else None))
    return sorted(result, key=lambda page_formula: page_formula.maths.start)


def _group_by_formula(document: PageDocument, formulas: list[PageFormula]) -> dict[int, list[Finding]]:
    """Return the findings for each formula, by its index. Findings outside of formulas have the index -1."""
    places: dict[str, list[tuple[int, int, int]]] = {}
    for at, formula in enumerate(formulas):
        location = document.whole.place(formula.maths[:2])
        places.setdefault(location.file, []).append((*location.span, at))
    findings: dict[int, list[Finding]] = {}
    for formula in document.findings:
        stretches = sorted(places.get(formula.file, []))
        start = formula.problem.span[0] if formula.problem.span else 0
        index = bisect_right(stretches, (start, len(formula.problem.source or ""), 0)) - 1
        inside = index >= 0 and start < stretches[index][1]
        findings.setdefault(stretches[index][2] if inside else -1, []).append(formula)
    return findings


def _contents(number: int, document: PageDocument, findings: Mapping[int, list[Finding]]) -> str:
    """Return an HTML list with a link to each finding, in document order."""
    files = {file: index for index, file in enumerate(document.whole.files)}
    all_of_them = [(at, finding) for at, findings in findings.items() for finding in findings]
    all_of_them.sort(key=lambda pair: (files.get(pair[1].file, 0), pair[1].problem.span or (0, 0)))
    lines = []
    for at, finding in all_of_them:
        words = f"{_where(finding)}: {finding.severity} {finding.problem.code}: {finding.problem.message}"
        lines.append(
            f'<li class="{finding.severity.split()[0]}"><a href="#d{number}f{at}">{html.escape(words)}</a></li>'
        )
    return f"<ul>{''.join(lines)}</ul>" if lines else ""


def _where(finding: Finding) -> str:
    line, column = finding.problem.position()
    return f"{finding.file}:{line}:{column}"


def _article(
    mark: str, formula: PageFormula, whole: Whole, findings: list[Finding], colors: Mapping[str, Tint]
) -> Iterator[str]:
    location = whole.place(formula.maths[:2])
    yield f'<article id="{mark}"><a class="place" href="#{mark}">{html.escape(location.file)}:{location.line}</a>'
    if formula.program is not None:
        types = {_bare(name): f"{name} : {text}" for name, text in formula.section.types.items()}
        alone = formula.maths in formula.section.shapes
        for message in formula.program.statements:
            statement = message.sets[0] if alone and isinstance(message, nodes.Declaration) else message
            yield f'<div class="nt-formula">{write_typed_runs(to_runs(statement, colors), types, colors)}</div>'
    yield f"<details{' open' if findings else ''}><summary>source</summary><pre>{mark_findings(location, findings)}</pre></details>"
    yield from map(_finding_line, findings)
    yield "</article>"


def _finding_line(finding: Finding) -> str:
    problem = finding.problem
    lines = [f"{finding.severity} {problem.code}: {problem.message}", *problem.notes]
    lines += [f"hint: {problem.hint}"] if problem.hint else []
    words = "<br>".join(map(html.escape, lines))
    return f'<p class="{finding.severity.split()[0]}">{html.escape(_where(finding))}: {words}</p>'


def mark_findings(location: FileLocation, findings: list[Finding]) -> str:
    """Return the source of a formula as HTML, in which its findings are marked."""
    start, end = location.span
    spans = sorted(
        (max(start, span[0]), min(end, span[1]), finding) for finding in findings if (span := finding.problem.span)
    )
    text, position = [], start
    for begin, over, finding in ((a, b, finding) for a, b, finding in spans if a < b):
        if begin >= position:
            message = html.escape(f"{finding.severity} {finding.problem.code}: {finding.problem.message}")
            text.append(html.escape(location.text[position:begin]))
            text.append(f'<mark title="{message}">{html.escape(location.text[begin:over])}</mark>')
            position = over
    return "".join(text) + html.escape(location.text[position:end])


# --------------------------------------------------------------------------------------------------- types on hover
def write_typed_runs(runs: Iterable[Run], types: Mapping[str, str], colors: Mapping[str, Tint]) -> str:
    """Format runs as HTML, with the type of each name as its title.

    >>> runs = (Run("X", slanted=True, name="X^1"), Run("1", ("above",), name="X^1"), Run(" + Y"))
    >>> write_typed_runs(runs, {"X^1": "X^1 : ℝ^{seq}"}, {})
    '<span title="X^1 : ℝ^{seq}"><i>X</i><sup>1</sup></span> + Y'
    """

    def title_of(run: Run) -> str | None:
        name = _bare(run.name)
        return types.get(name) or types.get(SCRIPTED.split(name)[0])

    texts: list[str] = []
    for title, group in groupby(runs, title_of):
        text = html_runs(group, colors)
        texts.append(f'<span title="{html.escape(title)}">{text}</span>' if title else text)
    return "".join(texts)


SCRIPTED = re.compile("[_^]")


def _bare(name: str) -> str:
    return name.translate(str.maketrans("", "", "{} "))
