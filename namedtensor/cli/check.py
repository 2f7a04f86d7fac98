"""The command `check`: types, errors and warnings of a formula, a file, or the formulas of a LaTeX or Markdown document."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from grammar.errors import NotationError

from ..files.text import InputError
from ..programs.arguments import Told
from .arguments import Source, place_of, sizes_of, source_of
from .console import Console, error_record
from .inputs import is_file, read_value, split_given


def check_command(options: Any, console: Console) -> int:
    source, remark = document_of(options) or (source_of(options), None)
    shapes = shapes_of(options.inputs, console)
    if is_document(source):
        return _check_document(source, remark, shapes, options, console)
    from ..programs.api import check

    checked = check(source.text, sizes=sizes_of(options.sizes), syntax=source.syntax, **shapes)
    if options.json:
        console.json(checked_record(checked, source.name))
    else:
        _print_checked(checked, source, console)
    return int(bool(checked.errors or (options.strict and checked.warnings)))


RESERVED = ("sizes", "syntax")  # what Python's check takes by name beside the shapes


def shapes_of(words: list[str], console: Console) -> Told:
    """The shapes that NAME=… gives. Raises InputError where a word gives none."""
    shapes = Told()
    for name, text in map(split_given, words):
        if name in shapes or name in RESERVED:
            raise InputError(f"{name} is given twice" if name in shapes else f"no tensor can be called {name} here")
        shapes[name] = shape_given(name, text, console)
    return shapes


SHAPE = re.compile(r"\s*(?:ℝ|R\b|\\mathbb|\\reals|\{|\[[^\]]*\]\s*(?:\^.*)?$)", re.DOTALL)


def shape_given(name: str, text: str, console: Console) -> Any:
    """What NAME=… says of a shape: its text, or that of the tensor it gives."""
    if SHAPE.match(text) and not is_file(text):
        return text
    value, notes = read_value(text, name)
    for note in notes:
        console.note(f"{name}: {note}")
    return value


DOCUMENTS = (".tex", ".md", ".markdown")


def document_of(options: Any) -> tuple[Source, str | None] | None:
    """The document that a command is about, and a remark on how it is read; None where it is about another thing."""
    word = options.formula
    if options.syntax == "text" or not word.endswith(DOCUMENTS) or "\n" in word or not os.path.exists(word):
        return None
    from ..documents.included_files import document_text

    text, remark = document_text(word)
    options.source = Source(text, word, "latex")
    return options.source, remark


def is_document(source: Source) -> bool:
    """Whether LaTeX or Markdown is a document with formulas in it, and not a formula."""
    whole = re.search(r"\\(?:documentclass|begin\{document\}|section\b)", source.text)
    named = source.name is not None and source.name.endswith(DOCUMENTS)
    return source.syntax != "text" and bool(whole or named)


def whole_of(source: Source) -> Any:
    """A document with all that belongs to it: the files that it includes, or of Markdown the maths alone."""
    from ..documents.included_files import whole_document, whole_text
    from ..documents.markdown import whole_markdown

    name = source.name or "<formula>"
    if name.endswith(DOCUMENTS[1:]):
        return whole_markdown(source.text, name)
    return whole_document(source.text, name) if name.endswith(DOCUMENTS) else whole_text(source.text, name)


def _print_checked(checked: Any, source: Source, console: Console) -> None:
    types = dict(checked.types)
    if checked.type is not None:
        types["value"] = checked.type
    width = max(map(len, types), default=0)
    for name, text in types.items():
        console.print(f"{name:<{width}} : {text}" if checked.types else text)
    blank = bool(types)
    if not (types or checked.errors or checked.warnings):
        console.print("no errors; there is no value whose type could be told: a function without a signature has none")
    for text in _complaints(checked.errors, checked.warnings, source, console):
        console.print("\n" + text if blank else text)
        blank = True


def _complaints(errors: Any, warnings: Any, source: Source, console: Console) -> list[str]:
    """Errors, then warnings, each with its place and excerpt."""
    found = [console.error(error, place_of(error, source), sys.stdout) for error in errors]
    return found + [_told(_as_error(warning, source.text), source, console) for warning in warnings]


def _as_error(warning: Any, source: str) -> NotationError:
    return NotationError(314, warning.message, source, warning.span, hint=warning.hint)


def _told(warning: NotationError, source: Source, console: Console) -> str:
    """A warning with its place and excerpt."""
    place = place_of(warning, source)
    drawn = console.error(warning, "", sys.stdout).partition(": ")[2]
    return f"{place}: warning: {drawn}" if place else f"warning: {drawn}"


def checked_record(checked: Any, file: str | None) -> dict[str, Any]:
    """What check found, for machines."""
    return {
        "ok": checked.ok,
        "type": checked.type,
        "types": checked.types,
        "steps": [{"text": text, "type": type} for text, type in checked.steps],
        "errors": [error_record(error, file) for error in checked.errors],
        "warnings": [_warning_record(warning, checked.source, file) for warning in checked.warnings],
    }


def _warning_record(warning: Any, source: str, file: str | None) -> dict[str, Any]:
    return {**error_record(_as_error(warning, source), file), "kind": "warning"}


# ------------------------------------------------------------------------------------------------------------- documents
MOST = 200  # findings of one kind that are printed


def _check_document(source: Source, remark: str | None, shapes: dict[str, Any], options: Any, console: Console) -> int:
    from ..documents.sections import check_document

    whole = whole_of(source)
    report = check_document(whole.text, options.all, shapes, sizes_of(options.sizes))
    name = source.name or "<formula>"
    if options.json:
        console.json(_document_record(report, whole, source.name))
    else:
        if remark:
            console.print(f"{name}: note: {remark}")
        _print_document(report, whole, name, options, console)
    return int(bool(report.errors or (options.strict and report.warnings)))


def _print_document(report: Any, whole: Any, name: str, options: Any, console: Console) -> None:
    for section in report.scopes if options.types else ():
        console.print(f"{_line(whole, section.start)}: {section.title or 'before the first section'}")
        for each, text in section.types.items():
            console.print(f"  {each} : {text}")
    for error in report.errors[:MOST]:
        file, found = whole.error(error)
        console.print(console.error(found, _placed(file, found), sys.stdout) + "\n")
    for warning in report.warnings[:MOST]:
        file, found = whole.error(_as_error(warning, whole.text))
        console.print(_told(found, Source(found.source, file, "latex"), console) + "\n")
    notes = _notes(report, whole, options)
    for note in notes[: None if options.all else MOST]:
        console.print(note)
    for count, word in ((len(report.errors), "error"), (len(report.warnings), "warning"), (len(notes), "note")):
        if count > MOST and not (word == "note" and options.all):
            console.print(f"{name}: note: {_number(count - MOST, f'further {word}')}, not shown")
    console.print(_summary(report, whole, name, options))


def _placed(file: str, error: NotationError) -> str:
    line, column = error.position()
    return f"{file}:{line}:{column}"


def _notes(report: Any, whole: Any, options: Any) -> list[str]:
    """What should be known besides errors and warnings, a line each."""
    found = [f"{at.file}:{_line_of(at)}: note: {text}" for at, text in whole.notes]
    found += [f"{_line(whole, note.position)}: note: {note.text}" for note in report.notes]
    for section in report.scopes:
        for each, start in section.unknown.items():
            found.append(f"{_line(whole, start)}: note: nothing in this section says what {each} is")
    for left in report.skipped if options.all else ():
        found.append(f"{_line(whole, left.span[0])}: note: left out, {left.reason}")
    if not report.formulas and not report.errors:
        found.append(f"{whole.file}: note: nothing was checked: {_nothing(report)}")
    return found


def _nothing(report: Any) -> str:
    pieces = sum(len(section.maths) for section in report.sections)
    return (
        f"none of {_number(pieces, 'piece')} of maths is a formula with named axes" if pieces else "there is no maths"
    )


def _line(whole: Any, position: int) -> str:
    """file:line"""
    at = whole.place((position, position))
    return f"{at.file}:{_line_of(at)}"


def _line_of(at: Any) -> int:
    return at.text.count("\n", 0, at.span[0]) + 1


def _summary(report: Any, whole: Any, name: str, options: Any) -> str:
    text = f"{name}: {_number(report.formulas, 'formula')} in {_number(len(report.scopes), 'section')}"
    text += f" of {len(whole.files)} files" if len(whole.files) > 1 else ""
    text += f": {_number(len(report.errors), 'error')}, {_number(len(report.warnings), 'warning')}"
    unread = len(report.unread)
    other = len(report.skipped) - unread
    left = [f"{unread} with named axes not read"] * bool(unread)
    left += [f"{other} left out, being of another notation"] * bool(other)
    return text + (f"; {', '.join(left)} (--all shows them)" if left and not options.all else "")


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _document_record(report: Any, whole: Any, file: str | None) -> dict[str, Any]:
    def record(error: NotationError) -> dict[str, Any]:
        place, found = whole.error(error)
        return error_record(found, place if file else None)

    left_out = [(whole.place(left.span), left) for left in report.skipped]
    return {
        "ok": not report.errors,
        "file": file,
        "files": whole.files if file else [],
        "formulas": report.formulas,
        "sections": [
            {"title": section.title, "types": section.types, "unknown": list(section.unknown)}
            for section in report.scopes
        ],
        "errors": [record(error) for error in report.errors],
        "warnings": [{**record(_as_error(warning, whole.text)), "kind": "warning"} for warning in report.warnings],
        "notes": [
            {"file": at.file, "line": _line_of(at), "text": text}
            for at, text in [*whole.notes, *_located(report, whole)]
        ],
        "left_out": [
            {"file": at.file, "line": _line_of(at), "span": list(at.span), "reason": left.reason, "named": left.named}
            for at, left in left_out
        ],
    }


def _located(report: Any, whole: Any) -> list[tuple[Any, str]]:
    return [(whole.place((note.position, note.position)), note.text) for note in report.notes]
