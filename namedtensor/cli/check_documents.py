"""The command `check` on documents: LaTeX, Markdown, reStructuredText, notebooks, HTML and Python."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from typing import Any, NamedTuple

from ..documents.suffixes import DOCUMENTS, EXPECTED, PYTHON, suffix_of
from ..files.text import InputError, save_text
from .arguments import FILE_LIKE, FormulaSource
from .console import Console, error_record
from .inputs import sizes_of

MOST = 200  # groups of findings of each severity, and notes, that are printed for each document
RECURRING = 5  # findings with one message that are printed separately; more are grouped
UNSUPPORTED = 111  # the code of a macro that is not read
MAX_LINES = 8  # line numbers that are printed for a recurring finding


class DocumentInput(NamedTuple):
    """A document that was given on the command line, and a note about how it is read."""

    source: FormulaSource
    remark: str | None = None


class CheckedDocument(NamedTuple):
    """A checked document: its text with included files, its report, and the findings that are not ignored."""

    given: DocumentInput
    whole: Any
    report: Any
    findings: list[Any]
    known: int = 0  # the number of findings that the baseline contains

    @property
    def name(self) -> str:
        return self.given.source.name or "<formula>"

    def of(self, severity: str) -> list[Any]:
        return [finding for finding in self.findings if finding.severity == severity]


def documents_of(options: Any) -> list[DocumentInput]:
    """Remove the documents from the arguments of a command and return them. The list may be empty.

    Raise InputError if there are several files and one of them is not a document or does not exist.
    """
    if options.syntax == "text" or not _is_document_file(options.formula):
        return []
    words = [word for word in options.inputs if FILE_LIKE.fullmatch(word) or "=" not in word and os.path.exists(word)]
    for word in words:
        if not _is_document_file(word):
            there = os.path.exists(word)
            raise InputError(f"{word} is not a document: expected {EXPECTED}" if there else f"there is no file {word}")
    options.inputs = [word for word in options.inputs if word not in words]
    inputs = [_read_input(word) for word in dict.fromkeys([options.formula, *words])]
    options.source = inputs[0].source
    return inputs


def _is_document_file(word: str) -> bool:
    return suffix_of(word) in (*DOCUMENTS, *PYTHON) and "\n" not in word and os.path.exists(word)


def _read_input(word: str) -> DocumentInput:
    from ..documents.included_files import document_text

    text, remark = document_text(word)
    return DocumentInput(FormulaSource(text, word, "latex"), remark)


def is_document(source: FormulaSource) -> bool:
    """Return whether a source is a document with formulas, rather than a single formula."""
    whole = re.search(r"\\(?:documentclass|begin\{document\}|section\b)", source.text)
    named = source.name is not None and suffix_of(source.name) in (*DOCUMENTS, *PYTHON)
    return source.syntax != "text" and bool(whole or named)


def whole_of(source: FormulaSource) -> Any:
    """Return a document with the files that it includes, converted to LaTeX if it has another format."""
    from ..documents import loaded

    return loaded.whole_of(source.text, source.name or "<formula>")


def check_documents(
    given: list[DocumentInput], shapes: Any, ignored: frozenset[int], options: Any, console: Console
) -> int:
    """Check documents and write the findings, and return the exit status."""
    from .formats import new_findings, read_baseline, write_baseline

    checked = [_check_input(source, whole, shapes, ignored, options) for source, whole in _roots(given)]
    if options.write_baseline:
        if not options.baseline:
            raise InputError("--write-baseline needs the file: --baseline FILE")
        result = [finding for document in checked for finding in document.findings]
        write_baseline(options.baseline, result)
        console.print(f"{options.baseline}: {_number(len(result), 'finding')} written")
        return 0
    if options.baseline:
        known = read_baseline(options.baseline)
        for at, document in enumerate(checked):
            new = new_findings(document.findings, known, options.baseline)
            checked[at] = document._replace(findings=new, known=len(document.findings) - len(new))
    _write(checked, options, console)
    if options.page:
        save_text(options.page, _page(checked))
    findings = [finding for document_ in checked for finding in document_.findings]
    return int(bool(findings) if options.strict else any(finding.severity == "error" for finding in findings))


def _roots(given: list[DocumentInput]) -> list[tuple[DocumentInput, Any]]:
    """Return each document with its included files. Documents that another document includes are left out."""
    wholes = [(source, whole_of(source.source)) for source in given]
    names = [os.path.realpath(source.source.name or "") for source in given]
    files = [{os.path.realpath(file) for file in whole.files} for _, whole in wholes]
    return [
        pair
        for at, pair in enumerate(wholes)
        if not any(names[at] in files[other] and names[other] not in files[at] for other in range(len(wholes)))
    ]


def _check_input(
    given: DocumentInput, whole: Any, shapes: Any, ignored: frozenset[int], options: Any
) -> CheckedDocument:
    from ..documents.findings import findings_of
    from ..documents.loaded import with_assumptions
    from ..documents.sections import check_document

    common = 0
    if given.source.name is not None and given.source.name.endswith(".py"):
        from ..documents.check_files import check_python

        if options.assumptions:
            raise InputError(f"--assumptions is for documents with sections, and {given.source.name} is Python")
        report = check_python(whole.text, whole.file, shapes, sizes_of(options.sizes), draws_of(options))
    else:
        if options.assumptions:
            whole, common = with_assumptions(whole, options.assumptions)
        report = check_document(whole.text, options.all, shapes, sizes_of(options.sizes), common, draws_of(options))
    findings = [finding for finding in findings_of(report, whole) if finding.problem.code not in ignored]
    return CheckedDocument(given, whole, report, findings)


def draws_of(options: Any) -> Any:
    """Return the settings of the random tests of assertions, or None if these tests are disabled."""
    if not options.random:
        return None
    from ..documents.verdicts import Draws

    return Draws(max(1, options.trials), options.seed)


# ------------------------------------------------------------------------------------------------------------- writing
def _write(checked: list[CheckedDocument], options: Any, console: Console) -> None:
    if options.format == "json":
        records = [_record(document) for document in checked]
        whole = {"ok": all(record["ok"] for record in records), "documents": records}
        console.json(records[0] if len(records) == 1 else whole)
    elif options.format == "text":
        for document in checked:
            _print(document, options, console)
        console.print(_summary(checked))
    elif options.format == "html":
        console.page(_page(checked))
    else:
        write_findings([finding for document_ in checked for finding in document_.findings], options.format, console)


def _page(checked: list[CheckedDocument]) -> str:
    from ..documents.page import PageDocument, page

    return page(
        (PageDocument(document.name, document.whole, document.report, document.findings) for document in checked),
        _summary(checked),
    )


def write_findings(findings: list[Any], format: str, console: Console) -> None:
    """Write findings as GitHub annotations, one per line, or as a single SARIF log."""
    from .formats import github, sarif

    if format == "sarif":
        console.json(sarif(findings))
    else:
        for finding in findings:
            console.print(github(finding))


def _print(checked: CheckedDocument, options: Any, console: Console) -> None:
    whole, report = checked.whole, checked.report
    if checked.given.remark:
        console.print(f"{checked.name}: note: {checked.given.remark}")
    for section in report.scopes if options.types else ():
        console.print(f"{_line(whole, section.start)}: {section.title or 'before the first section'}")
        for name, text in section.types.items():
            console.print(f"  {name} : {text}")
    for severity in ("error", "warning", "not checked"):
        groups = group_findings(checked.of(severity), options.all)
        texts = [format_finding(first, console, others) for first, *others in groups[:MOST]]
        _print_lines(texts, len(groups), f"further of these ({severity})", checked, console)
    notes = _notes(checked, options)
    shown = notes if options.all else notes[:MOST]
    _print_lines(shown, len(notes), f"further note{'s' * (len(notes) - MOST != 1)}", checked, console)


def _print_lines(texts: list[str], count: int, more: str, checked: CheckedDocument, console: Console) -> None:
    """Print lines, followed by a note on how many of `count` lines are not shown."""
    for text in texts:
        console.print(text)
    if count > len(texts):
        console.print(f"{checked.name}: note: {count - len(texts)} {more}, not shown")


def group_findings(findings: list[Any], everything: bool) -> list[list[Any]]:
    """Group findings that have the same cause, such as an unsupported construct or a message that recurs often."""
    causes = Counter((finding.problem.code, finding.problem.message) for finding in findings)
    groups: dict[Any, list[Any]] = {}
    for finding in findings:
        problem, cause = finding.problem, (finding.problem.code, finding.problem.message)
        is_unread = finding.severity == "not checked" or problem.code == UNSUPPORTED
        is_unread = is_unread or (everything and problem.kind == "syntax")
        groups.setdefault(cause if is_unread or causes[cause] > RECURRING else id(finding), []).append(finding)
    return list(groups.values())


def lines_shown(findings: list[Any], first: Any) -> str:
    """Return a phrase that lists the lines of recurring findings, such as "3 more: lines 12, 20 and 31"."""
    places = [(other.file, other.problem.position()[0]) for other in findings]
    texts = [str(line) if file == first.file else f"{file}:{line}" for file, line in dict.fromkeys(places)]
    return f"{len(findings)} more: {'line' if len(texts) == 1 else 'lines'} {', '.join(texts[:MAX_LINES])}" + (
        ", …" if len(texts) > MAX_LINES else ""
    )


def format_finding(finding: Any, console: Console, others: Any = ()) -> str:
    """Return a finding as text: path:line:column: error 301: …, followed by its excerpt if it was checked.

    `others` are findings with the same cause. Only their lines are written.
    """
    line, column = finding.problem.position()
    drawn = console.error(finding.problem, "", sys.stdout).partition(": ")[2]
    title = f"{finding.file}:{line}:{column}: {finding.severity} {finding.problem.code}: "
    more = lines_shown(list(others), finding) if others else ""
    if finding.severity == "not checked":
        return title + drawn.partition("\n")[0] + (f" (and {more})" if more else "")
    return title + drawn + ("\n  " + more if more else "") + "\n"


def _notes(checked: CheckedDocument, options: Any) -> list[str]:
    """Return the notes about a document as lines of text. Notes are neither errors nor warnings."""
    whole, report = checked.whole, checked.report
    texts = [f"{at.file}:{at.line}: note: {text}" for at, text in whole.notes]
    texts += [f"{_line(whole, note.position)}: note: {note.text}" for note in report.notes]
    for tried in report.tried:
        if tried.status != "disproved":
            texts.append(f"{_line(whole, tried.span[0])}: note: assertion: {tried}")
    for section in report.scopes:
        for name, start in section.unknown.items():
            texts.append(f"{_line(whole, start)}: note: {name} is not declared in this section")
    left_out: dict[tuple[str, str], list[int]] = {}
    for left in sorted(report.skipped, key=lambda skipped: skipped.span) if options.all else ():
        file, _, line = _line(whole, left.span[0]).rpartition(":")
        left_out.setdefault((file, left.reason), []).append(int(line))
    for (file, why), lines in left_out.items():
        more = f" ({_number(len(lines), 'formula')}, the last in line {lines[-1]})" if len(lines) > 1 else ""
        texts.append(f"{file}:{lines[0]}: note: left out, {why}{more}")
    if not report.formulas and not report.errors:
        texts.append(f"{whole.file}: note: nothing was checked: {_nothing(report)}")
    if checked.known:
        texts.append(f"{checked.name}: note: {_number(checked.known, 'finding')} of the baseline, not shown")
    return texts


def _nothing(report: Any) -> str:
    pieces = sum(not maths.written for section in report.sections for maths in section.maths)
    return f"none of {_number(pieces, 'math span')} is a formula with named axes" if pieces else "no formulas"


def _line(whole: Any, position: int) -> str:
    """Return a position in a document as file:line."""
    at = whole.place((position, position))
    return f"{at.file}:{at.line}"


def _summary(checked: list[CheckedDocument]) -> str:
    """Return the last line of the output, which counts the formulas, errors and warnings of all documents."""
    formulas = sum(document.report.formulas for document in checked)
    sections = sum(len(document.report.scopes) for document in checked)
    errors, warnings = (sum(len(document.of(severity)) for document in checked) for severity in ("error", "warning"))
    text = f"{_number(formulas, 'formula')} in {_number(sections, 'section')}"
    return f"{text}: {_number(errors, 'error')}, {_number(warnings, 'warning')}"


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _record(checked: CheckedDocument) -> dict[str, Any]:
    """Return the report of a document as a record for JSON."""
    file, whole, report = checked.given.source.name, checked.whole, checked.report

    def records(severity: str) -> list[dict[str, Any]]:
        return [error_record(finding.problem, finding.file if file else None) for finding in checked.of(severity)]

    def position_record(span: tuple[int, int]) -> dict[str, Any]:
        at = whole.place(span)
        return {"file": at.file, "line": at.line, "span": list(at.span)}

    noted = [(whole.place((note.position, note.position)), note.text) for note in report.notes]
    return {
        "ok": not checked.of("error"),
        "file": file,
        "files": whole.files if file else [],
        "formulas": report.formulas,
        "sections": [
            {"title": section.title, "types": section.types, "unknown": list(section.unknown)}
            for section in report.scopes
        ],
        "errors": records("error"),
        "warnings": [{**record, "kind": "warning"} for record in records("warning")],
        "not_checked": [{**record, "kind": "not checked"} for record in records("not checked")],
        "notes": [{"file": at.file, "line": at.line, "text": text} for at, text in [*whole.notes, *noted]],
        "tried": [
            {**position_record(tried.span), "status": tried.status, "trials": tried.draws, "text": str(tried)}
            for tried in report.tried
        ],
        "left_out": [
            {**position_record(left.span), "reason": left.reason, "named": left.named} for left in report.skipped
        ],
    }
