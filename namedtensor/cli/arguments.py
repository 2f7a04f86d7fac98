"""Arguments of commands: the formula, with where it came from, and the tensors, sizes and limits beside it."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..files.streams import standard_input
from ..files.text import InputError, as_number, read_text
from ..programs.arguments import KeywordValues
from ..scope.names import by_key, plain_key
from .console import Console
from .inputs import headers_of, is_file, read_given


class FormulaSource(NamedTuple):
    """A formula with where it came from; `name` is None where it appeared in the command."""

    text: str
    name: str | None
    syntax: str


SYNTAXES = {".nt": "text", ".tex": "latex"}
FILE_LIKE = re.compile(r"[\w./\\~-]+\.(?:nt|tex|md|markdown|ipynb)")


def source_of(options: Any) -> FormulaSource:
    """The formula that a command is about, also noted in `options` for errors to name its file."""
    word = options.formula[1:] if options.formula.startswith(" -") else options.formula
    options.source = read_source(word, options.syntax)
    if "from" in options.source.text:
        options.source = imported(options.source)
    return options.source


def imported(source: FormulaSource) -> FormulaSource:
    """A formula with what it imports: a file from its own folder, the argument of a command from the current one.

    Raises NotationError where something is not there.
    """
    from ..programs.imports import with_imports

    if source.name == "<stdin>":
        return source._replace(text=with_imports(source.text, source.syntax))
    file = None if source.name is None else Path(source.name)
    return source._replace(text=with_imports(source.text, source.syntax, "." if file is None else (), file))


def read_source(word: str, syntax: str) -> FormulaSource:
    """The text of a formula, a file, or standard input. Raises InputError."""
    if word == "-":
        return FormulaSource(typed_in(), "<stdin>", syntax)
    if is_file(word):
        known = SYNTAXES.get(os.path.splitext(word)[1], "auto")
        return FormulaSource(read_text(word), word, known if syntax == "auto" else syntax)
    if FILE_LIKE.fullmatch(word):
        raise InputError(f"there is no file {word}")
    return FormulaSource(word, None, syntax)


def typed_in() -> str:
    """The text of standard input. Raises InputError."""
    data = standard_input()
    for encoding in ("utf-8-sig", getattr(sys.stdin, "encoding", None) or "utf-8"):
        try:
            return data.decode(encoding).replace("\r\n", "\n")
        except UnicodeDecodeError:
            continue
    raise InputError("standard input is not UTF-8 text")


def values_of(words: list[str], header: list[str], console: Console) -> KeywordValues:
    """The tensors and numbers of NAME=…; notes on their files go to standard error. `header` are the words of --header."""
    values, headers = KeywordValues(), headers_of(header)
    for word in words:
        inputs = read_given(word, headers)
        if inputs.name in values:
            raise InputError(f"{inputs.name} is given twice")
        values[inputs.name] = inputs.value
        by_key(values, plain_key)
        for note in inputs.notes:
            console.note(note)
    unknown = next((name for name in headers if name not in values), None)
    if unknown is not None:
        raise InputError(f"--header {unknown}: no input {unknown} is given")
    return values


def sizes_of(words: list[str], example: str = "--sizes heads=8,seq=3") -> dict[str, int]:
    sizes: dict[str, int] = {}
    for word in ",".join(words).split(",") if words else ():
        name, _, text = word.partition("=")
        number = as_number(text.strip()) if text else None
        if not name.strip() or not isinstance(number, int):
            raise InputError(f"{word!r} is not a size; write {example}")
        if name.strip() in sizes:
            raise InputError(f"the size of {name.strip()} is given twice")
        sizes[name.strip()] = number
    return sizes


def limits_of(words: list[str]) -> Any:
    from ..core.settings import Limits

    known = [field.name for field in fields(Limits)]
    chosen = {}
    for word in words:
        name, _, text = word.partition("=")
        number = as_number(text) if text else None
        if name not in known or not isinstance(number, (int, float)) or number != number or number < 1:
            raise InputError(f"{word!r} is not a limit; write --limit NAME=NUMBER, where NAME is {', '.join(known)}")
        chosen[name] = int(min(number, sys.maxsize))
    return Limits(**chosen)


def place_of(problem: NotationError, source: FormulaSource | None) -> str:
    """file:line:column of an error, where it is about a file."""
    if source is None or source.name is None or problem.source != source.text:
        return ""
    line, column = problem.position()
    return f"{problem.file or source.name}:{line}:{column}"
