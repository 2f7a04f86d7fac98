"""The command `help`: describes an operator or an error, or lists all operators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grammar.errors import CATALOGUE, KINDS, REMOVED_CODES

from ..core.suggestions import did_you_mean, near
from ..files.text import InputError
from ..operators import REGISTRY, Operator
from ..operators.prelude import equation_of
from ..operators.usage import format_usage, sentence, sets
from .console import Console
from .parsers import Argument, command


@command(
    Argument("name", "NAME", "a function, a symbol or an error code", {"nargs": "?"}),
    Argument("--json", "", "print one line of JSON"),
)
def help_command(options: Any, console: Console) -> None:
    """Describe a function, an operator or an error.

    namedtensor help
    namedtensor help softmax
    namedtensor help ⊙
    namedtensor help 301
    namedtensor help eval

    Without a name, the command lists all functions and symbols. A number is an error code.
    """
    if options.name is None:
        operator_entries = [operator_entry(record) for record in dict.fromkeys(REGISTRY.values())]
        console.json(operator_entries) if options.json else console.print(overview(operator_entries))
        return
    entry = error_entry(options.name) if options.name.isdecimal() else operator_entry(find_operator(options.name))
    if options.json:
        console.json(entry)
    else:
        console.print("\n".join(lines_of(entry)))


def find_operator(name: str) -> Operator:
    """Return the record of an operator, given its name, sign, ASCII form, LaTeX form or Python name.

    Raise InputError if the operator does not exist.
    """
    record = REGISTRY.get(name) or next(
        (operator for operator in REGISTRY.values() if name in (operator.ascii, operator.latex, operator.python)), None
    )
    if record is None:
        meant = did_you_mean(near(name, REGISTRY)) or "namedtensor help lists all of them"
        raise InputError(f"there is no function or symbol {name}; {meant}")
    return record


def operator_entry(record: Operator) -> dict[str, str]:
    entry = {
        "name": ", ".join((record.name, *record.aliases)),
        "meaning": sentence(record),
        "ASCII": "" if format_usage(record, ascii=True) == format_usage(record) else format_usage(record, ascii=True),
        "LaTeX": record.latex,
        "signature": sets(record),
        "NumPy": record.numpy,
        "Python": f"nt.{record.python_name}",
        "definition": equation_of(record.name),
        "differential": "; ".join(text for text in record.differentials if text != "0"),
        "section": record.section,
    }
    return {name: text for name, text in entry.items() if text}


def error_entry(number: str) -> dict[str, str]:
    """Return the entry of an error code for `help`. Raise InputError if the code does not exist or was removed."""
    if int(number) in REMOVED_CODES:
        raise InputError(f"error code {number} ({REMOVED_CODES[int(number)]}) was removed in 0.2")
    title = CATALOGUE.get(int(number))
    if title is None:
        raise InputError(f"there is no error code {number}; codes are between {min(CATALOGUE)} and {max(CATALOGUE)}")
    return {"name": number, "meaning": f"{KINDS[int(number) // 100]} error {number}: {title}"}


def lines_of(entry: dict[str, str]) -> Iterable[str]:
    """Yield the lines of an entry: its meaning, then its other fields in two columns."""
    yield entry["meaning"]
    rest = {name: text for name, text in entry.items() if name not in ("name", "meaning")}
    width = max(map(len, rest), default=0)
    yield from (f"  {name:<{width}}  {text}" for name, text in rest.items())


def overview(entries: list[dict[str, str]]) -> str:
    """Return the meanings of all entries as text, grouped by section of the paper."""
    sections = dict.fromkeys(entry["section"] for entry in entries)
    return "\n\n".join(
        "\n".join([section, *(f"  {entry['meaning']}" for entry in entries if entry["section"] == section)])
        for section in sections
    )
