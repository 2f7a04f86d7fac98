"""The command `check`: types, errors and warnings of a formula or a file of formulas."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from grammar.errors import CATALOGUE, REMOVED_CODES

from ..documents.suffixes import EXPECTED
from ..files.text import InputError
from ..programs.arguments import KeywordValues
from .arguments import FormulaSource, place_of, source_of
from .check_documents import DocumentInput, check_documents, documents_of, draws_of, is_document, write_findings
from .console import Console, error_record
from .inputs import shapes_of, sizes_of
from .parsers import LIST, Argument, command, formula_with, read_count

FORMATS = ("text", "json", "github", "sarif", "html")


@command(
    *formula_with("shapes, A='ℝ^{height[3] × width}', or tensors; or further documents"),
    Argument("--strict", "", "also fail on warnings and on formulas that were not checked"),
    Argument(
        "--format",
        FORMATS,
        "text, JSON, GitHub annotations, SARIF 2.1.0, or an HTML page (default: text)",
        {"default": "text"},
    ),
    Argument("--ignore", "N,...", "error codes that are not reported: 301,307", LIST),
    Argument("--random", "", "prove each assertion if possible, and test it on random tensors"),
    Argument("--trials", "N", "number of random tests per assertion (default: 8)", {"type": read_count, "default": 8}),
    Argument("--seed", "N", "seed of the random tensors (default: 0)", {"type": read_count, "default": 0}),
    Argument("--page", "FILE.html", "also write the page of --format html to this file"),
    Argument("--all", "", "also check formulas without a named axis, and list what was skipped"),
    Argument("--types", "", "print the types of all names"),
    Argument("--assumptions", "FILE.nt", "statements that apply at the start of each section (default: none)"),
    Argument("--baseline", "FILE", "suppress the findings listed in the file"),
    Argument("--write-baseline", "", "write the findings to the baseline, and exit"),
)
def check_command(options: Any, console: Console) -> int:
    """Print types, errors and warnings, with no data needed.

    namedtensor check 'A ⊙_{widht} x' A='ℝ^{height[3] × width[3]}' x='R^{width[3]}'
    namedtensor check layers.nt --sizes heads=8 X=x.npy:seq,chans
    namedtensor check paper.tex notes.md talk.ipynb      documents, with the files they include
    namedtensor check model.py --all                     formulas in strings that are passed to nt.evaluate, nt.program, …
    namedtensor check paper.tex --strict --format github --ignore 314
    namedtensor check paper.tex --assumptions assumptions.nt --baseline known.json

    The options from --page on are for documents: .tex, .md, .rst, .ipynb, .html or .py.
    """
    if options.json:
        options.format = "json"
    console.machine = options.format == "json"
    ignored = numbers_of(options.ignore)
    documents = documents_of(options)
    source = documents[0].source if documents else source_of(options)
    shapes = shapes_of(options.inputs, options.header, console)
    if documents or is_document(source):
        return check_documents(documents or [DocumentInput(source)], shapes, ignored, options, console)
    if options.assumptions or options.baseline or options.page or options.format == "html":
        raise InputError(f"--assumptions, --baseline, --page and --format html are for documents: {EXPECTED}")
    from ..positional.offers import remark_on
    from ..programs.api import check

    checked = check(source.text, sizes=sizes_of(options.sizes), syntax=source.syntax, **shapes)
    errors = tuple(error for error in checked.errors if error.code not in ignored)
    warnings = tuple(warning for warning in checked.warnings if warning.code not in ignored)
    checked = replace(checked, errors=errors, warnings=warnings)
    tried = _try_assertions(source, shapes, options) if options.random and not checked.errors else checked.assertions
    wrong = [attempt.error(source.text) for attempt in tried if attempt.status == "disproved" and 403 not in ignored]
    checked = replace(checked, errors=(*errors, *wrong))
    _write(checked, source, options.format, console)
    remark = None if errors or checked.shape is None else remark_on(source.text, shapes, checked.shape)
    if remark and options.format == "text":
        console.note(f"if this is matrix notation: {remark}")
    for item in tried if options.format == "text" else ():
        if item.status != "disproved":
            line = source.text.count("\n", 0, item.span[0]) + 1
            console.print(f"{source.name or '<formula>'}:{line}: note: assertion: {item}")
    return int(bool(checked.errors or (options.strict and checked.warnings)))


def _try_assertions(source: FormulaSource, shapes: KeywordValues, options: Any) -> list[Any]:
    """Test the assertions of a formula that has no errors, and return the results."""
    from grammar.parser import parse

    from ..documents.trial import try_assertions

    program = parse(source.text, source.syntax)
    return list(try_assertions(source.text, program, shapes, sizes_of(options.sizes), draws_of(options)))


def numbers_of(words: list[str]) -> frozenset[int]:
    """Return the error codes in options such as --ignore 301,307. Raise InputError for a code that does not exist."""
    numbers = set()
    for word in filter(None, (name.strip() for name in ",".join(words).split(","))):
        if word.isdecimal() and int(word) in REMOVED_CODES:
            raise InputError(f"error code {word} was removed in 0.2; remove it from --ignore")
        if not word.isdecimal() or int(word) not in CATALOGUE:
            raise InputError(f"{word} is not an error code; write --ignore 301,307")
        numbers.add(int(word))
    return frozenset(numbers)


def _write(checked: Any, source: FormulaSource, format: str, console: Console) -> None:
    """Write the result of a check in a format, such as "json" or "text"."""
    if format == "json":
        console.json(make_check_record(checked, source.name))
    elif format == "text":
        print_checked(checked, source, console)
    else:
        from ..documents.findings import ERROR, WARNING, Finding

        name, warnings = source.name or "", [warning.make_strict_error(source.text) for warning in checked.warnings]
        findings = [Finding(ERROR, name, error, source.text) for error in checked.errors]
        findings += [Finding(WARNING, name, warning, source.text) for warning in warnings]
        write_findings(findings, format, console)


def print_checked(checked: Any, source: FormulaSource, console: Console) -> None:
    """Print the types, conditions, errors and warnings that a check found, separated by blank lines."""
    types = {**checked.types} if checked.type is None else {**checked.types, "value": checked.type}
    width = max(map(len, types), default=0)
    lines = [f"{name:<{width}} : {text}" if checked.types else text for name, text in types.items()]
    lines += [f"where {condition}" for condition in checked.conditions]
    texts = [console.error(error, place_of(error, source), sys.stdout) for error in checked.errors]
    for warning in checked.warnings:
        problem = warning.make_strict_error(source.text)
        title = f"{path}: warning" if (path := place_of(problem, source)) else "warning"
        drawn = console.error(problem, "", sys.stdout).partition(": ")[2]
        texts.append(f"{title} {problem.code}: {drawn}")
    if not (types or texts):
        lines.append("no errors; no type to report: a function without a signature has none")
    console.print("\n\n".join(["\n".join(lines)] * bool(lines) + texts))


def make_check_record(checked: Any, file: str | None) -> dict[str, Any]:
    """Return the result of a check as a record for JSON."""
    warnings = [error_record(warning.make_strict_error(checked.source), file) for warning in checked.warnings]
    return {
        "ok": checked.ok,
        "type": checked.type,
        "types": checked.types,
        "conditions": list(checked.conditions),
        "steps": [{"text": text, "type": type} for text, type in checked.steps],
        "errors": [error_record(error, file) for error in checked.errors],
        "warnings": [{**record, "kind": "warning"} for record in warnings],
    }
