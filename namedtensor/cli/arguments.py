"""Functions that find the formula of a command, its file, and the files of lessons."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..documents.suffixes import suffix_of
from ..files.streams import standard_input
from ..files.text import InputError, read_text
from .inputs import is_file


class FormulaSource(NamedTuple):
    """A formula with its syntax and its source. `name` is the file, or None for a formula from the command line."""

    text: str
    name: str | None
    syntax: str


SYNTAXES = {".nt": "text", ".tex": "latex"}
FILE_LIKE = re.compile(r"[\w./\\~-]+\.(?:nt|tex|md|markdown|ipynb)")


def source_of(options: Any) -> FormulaSource:
    """Return the formula that a command's options specify, with its imports inserted.

    Also store the formula in the options, so that error messages name its file.
    """
    word = options.formula[1:] if options.formula.startswith(" -") else options.formula
    options.source = read_source(word, options.syntax)
    if "from" in options.source.text:
        options.source = resolve_imports(options.source)
    return options.source


def resolve_imports(source: FormulaSource) -> FormulaSource:
    """Return a formula with its imports inserted. Paths are relative to its file or to the current folder.

    Raise NotationError if an import is not found.
    """
    from ..programs.imports import with_imports

    if source.name == "<stdin>":
        return source._replace(text=with_imports(source.text, source.syntax))
    file = None if source.name is None else Path(source.name)
    return source._replace(text=with_imports(source.text, source.syntax, "." if file is None else (), file))


def read_source(word: str, syntax: str) -> FormulaSource:
    """Return the text of a formula, a file, or standard input. Raise InputError if it cannot be read."""
    if word == "-":
        return FormulaSource(read_standard_input(), "<stdin>", syntax)
    if is_file(word):
        known = SYNTAXES.get(suffix_of(word), "auto")
        return FormulaSource(read_text(word), word, known if syntax == "auto" else syntax)
    if FILE_LIKE.fullmatch(word):
        raise InputError(f"there is no file {word}")
    return FormulaSource(word, None, syntax)


def read_standard_input() -> str:
    """Return the text of standard input. Raise InputError if it cannot be read."""
    data = standard_input()
    for encoding in ("utf-8-sig", getattr(sys.stdin, "encoding", None) or "utf-8"):
        try:
            return data.decode(encoding).replace("\r\n", "\n")
        except UnicodeDecodeError:
            continue
    raise InputError("standard input is not UTF-8 text")


def find_exercises(word: str) -> Path:
    """Return the file that an argument denotes: a lesson of the course, such as `lesson 1`, or any other file."""
    from ..teaching.course import course_file, is_course_name
    from ..teaching.exercise_files import ExerciseError

    try:
        return course_file(word) if is_course_name(word) else Path(word)
    except ExerciseError as problem:
        raise InputError(str(problem)) from None


def place_of(problem: NotationError, source: FormulaSource | None) -> str:
    """Return the position of an error as file:line:column, or an empty string if it is not in a file."""
    if source is None or source.name is None or problem.source != source.text:
        return ""
    line, column = problem.position()
    return f"{problem.file or source.name}:{line}:{column}"
