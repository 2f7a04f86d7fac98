"""The command `check`: types, errors and warnings of a formula, a file, or the formulas of a LaTeX document."""

from __future__ import annotations

import re
import sys
from typing import Any

from grammar.errors import NotationError

from .console import Console, error_record
from .files import is_file, read_value, split_given
from .formats import FileProblem
from .given import Source, place_of, sizes_of, source_of
from .given_names import Told


def check_command(options: Any, console: Console) -> int:
    source = source_of(options)
    shapes = shapes_of(options.inputs, console)
    if is_document(source):
        return _check_document(source, shapes, options, console)
    from .formula import check

    checked = check(source.text, sizes=sizes_of(options.sizes), syntax=source.syntax, **shapes)
    if options.json:
        console.json(checked_record(checked, source.name))
    else:
        _print_checked(checked, source, console)
    return int(bool(checked.errors or (options.strict and checked.warnings)))


RESERVED = ("sizes", "syntax")  # what Python's check takes by name beside the shapes


def shapes_of(words: list[str], console: Console) -> Told:
    """The shapes that NAME=… gives. Raises FileProblem where a word gives none."""
    shapes = Told()
    for name, text in map(split_given, words):
        if name in shapes or name in RESERVED:
            raise FileProblem(f"{name} is given twice" if name in shapes else f"no tensor can be called {name} here")
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


def is_document(source: Source) -> bool:
    """Whether LaTeX is a document with formulas in it, and not a formula."""
    whole = re.search(r"\\(?:documentclass|begin\{document\}|section\b)", source.text)
    tex = source.name is not None and source.name.endswith(".tex")
    return source.syntax != "text" and bool(whole or tex)


def _print_checked(checked: Any, source: Source, console: Console) -> None:
    types = dict(checked.types)
    if checked.type is not None:
        types["value"] = checked.type
    width = max(map(len, types), default=0)
    for name, text in types.items():
        console.print(f"{name:<{width}} : {text}" if checked.types else text)
    blank = bool(types)
    for text in _complaints(checked.errors, checked.warnings, source, console):
        console.print("\n" + text if blank else text)
        blank = True


def _complaints(errors: Any, warnings: Any, source: Source, console: Console) -> list[str]:
    """Errors, then warnings, each with its place and excerpt."""
    found = [console.error(error, place_of(error, source), sys.stdout) for error in errors]
    for warning in warnings:
        error = NotationError(314, warning.message, source.text, warning.span, hint=warning.hint)
        place = place_of(error, source)
        drawn = console.error(error, "", sys.stdout).partition(": ")[2]
        found.append(f"{place}: warning: {drawn}" if place else f"warning: {drawn}")
    return found


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
    record = error_record(NotationError(314, warning.message, source, warning.span, hint=warning.hint), file)
    return {**record, "kind": "warning"}


def _check_document(source: Source, shapes: dict[str, Any], options: Any, console: Console) -> int:
    from .documents import check_document

    report = check_document(source.text, options.all, shapes, sizes_of(options.sizes))
    if options.json:
        console.json(_document_record(report, source.name))
    else:
        _print_document(report, source, options, console)
    return int(bool(report.errors or (options.strict and report.warnings)))


def _print_document(report: Any, source: Source, options: Any, console: Console) -> None:
    name = source.name or "<formula>"
    for section in report.scopes if options.types else ():
        console.print(f"{name}:{_line(source, section.start)}: {section.title or 'before the first section'}")
        for each, text in section.types.items():
            console.print(f"  {each} : {text}")
    for text in _complaints(report.errors, report.warnings, source, console):
        console.print(text + "\n")
    for section in report.scopes:
        for each, start in section.unknown.items():
            console.print(f"{name}:{_line(source, start)}: note: nothing in this section says what {each} is")
    for left in report.left_out if options.all else ():
        console.print(f"{name}:{_line(source, left.span[0])}: note: left out, {left.reason}")
    console.print(_summary(report, name, options))


def _line(source: Source, position: int) -> int:
    return source.text.count("\n", 0, position) + 1


def _summary(report: Any, name: str, options: Any) -> str:
    text = f"{name}: {_number(report.formulas, 'formula')} in {_number(len(report.scopes), 'section')}: "
    text += f"{_number(len(report.errors), 'error')}, {_number(len(report.warnings), 'warning')}"
    left = len(report.left_out)
    return text + (
        f"; {left} left out, being of another notation (--all shows them)" if left and not options.all else ""
    )


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _document_record(report: Any, file: str | None) -> dict[str, Any]:
    return {
        "ok": not report.errors,
        "file": file,
        "formulas": report.formulas,
        "sections": [
            {"title": section.title, "types": section.types, "unknown": list(section.unknown)}
            for section in report.scopes
        ],
        "errors": [error_record(error, file) for error in report.errors],
        "warnings": [_warning_record(warning, report.source, file) for warning in report.warnings],
        "left_out": [{"span": list(left.span), "reason": left.reason} for left in report.left_out],
    }
