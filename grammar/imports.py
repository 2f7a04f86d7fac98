"""Import statements: `from "attention.nt" import Attention, scores as weights`, a line of its own in text.

    imports_of(text)      the statements, with the span of each part
    check_no_imports      raises where a text has one and nothing may be read

Reading the files is not done here: `namedtensor.programs.imports` replaces each statement by the definitions that it names.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .errors import Hint, NotationError, Span

STATEMENT = re.compile(r"^[ \t]*from(?:[ \t]*[\"'“”„]|[ \t]+[\w.:/]+[ \t]+import[ \t]).*$", re.MULTILINE)
WHOLE = re.compile(r"[ \t]*from[ \t]*\"(?P<path>[^\"]*)\"[ \t]+import[ \t]+(?P<names>[^#]*?)[ \t;]*(?:#.*)?", re.DOTALL)
ITEM = re.compile(r"(?P<name>[^\W\d]\w*'*)(?:[ \t]+as[ \t]+(?P<alias>[^\W\d]\w*'*))?")
FORM = 'write from "attention.nt" import Attention, FFN'


class ImportedName(NamedTuple):
    """A name that is imported, and what it is called here."""

    name: str
    alias: str
    span: Span


class ImportStatement(NamedTuple):
    """One statement: the file, and the names from it; `span` is the whole line, `path_span` what is between the quotes."""

    path: str
    names: tuple[ImportedName, ...]
    span: Span
    path_span: Span


def imports_of(source: str) -> list[ImportStatement]:
    """The import statements of a text, in their order. Raises NotationError where one is malformed.

    >>> [(each.path, [name.name for name in each.names]) for each in imports_of('from "a.nt" import f, g as h')]
    [('a.nt', ['f', 'g'])]
    """
    return [_statement(source, match) for match in STATEMENT.finditer(source)] if "from" in source else []


def _statement(source: str, line: re.Match[str]) -> ImportStatement:
    whole = WHOLE.fullmatch(line[0])
    start = line.start()
    if whole is None:
        raise NotationError(101, "malformed import", source, trimmed(source, line.span()), hint=FORM)
    names: list[ImportedName] = []
    position = start + whole.start("names")
    for text in whole["names"].split(","):
        span = trimmed(source, (position, position + len(text)))
        position += len(text) + 1
        item = ITEM.fullmatch(text.strip())
        if item is None:
            if text.strip() == "*":
                hint = "name what you use; a definition brings along what it needs"
                raise NotationError(101, "an import lists its names", source, span, hint=hint)
            base = re.match(r"[^\W\d]\w*'*(?=[\^_])", text.strip())
            hint = Hint(f"write {base[0]}: a name is imported with all its labels", base[0]) if base else FORM
            raise NotationError(101, f"{text.strip() or 'nothing'} is not a name to import", source, span, hint=hint)
        names.append(ImportedName(item["name"], item["alias"] or item["name"], span))
    path_span = start + whole.start("path"), start + whole.end("path")
    return ImportStatement(whole["path"], tuple(names), line.span(), path_span)


def trimmed(source: str, span: Span) -> Span:
    """A span without the blanks at its ends."""
    text = source[slice(*span)]
    start = span[0] + len(text) - len(text.lstrip())
    return start, max(start + len(text.strip()), start)


def check_no_imports(source: str) -> None:
    """Raise where a text imports, but is read where no file may be."""
    line = STATEMENT.search(source)
    if line is not None:
        raise NotationError(
            409, "an import is not read here: this text may not read files", source, trimmed(source, line.span()),
            hint='pass the text to nt.program with folders="…", or load its file with nt.load_program',
        )  # fmt: skip
