"""A file of assumptions, `facts.nt`: statements that each section of a document begins with, as if a comment had them."""

from __future__ import annotations

from grammar.errors import NotationError

from ..files.text import InputError, read_text
from .directives import facts
from .included_files import FileParts, Whole, joined


def with_assumptions(whole: Whole, file: str) -> tuple[Whole, int]:
    """Return a document after the assumptions of a file, and where these end. Raises InputError if the file has none."""
    try:
        text = read_text(file)
        assumptions = facts(text, (0, len(text)))
    except NotationError as problem:
        line, column = problem.position()
        raise InputError(f"{file}:{line}:{column}: {problem}") from None
    parts = FileParts(file, text)
    for assumption in assumptions:
        start, end = assumption.span
        parts.write("% namedtensor: ", start)
        parts.write(text[start:end].replace("\n", " "), start)
        parts.write("\n", end)
    before = parts.whole()
    return joined(whole.file, whole.parts[0].text, (before, whole)), len(before.text)
