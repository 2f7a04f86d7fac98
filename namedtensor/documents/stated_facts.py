"""A file of facts, `facts.nt`: statements that each section of a document begins with, as if a comment had them."""

from __future__ import annotations

from grammar.errors import NotationError

from ..files.text import InputError, read_text
from .directives import facts
from .included_files import FileParts, Whole, joined


def with_facts(whole: Whole, file: str) -> tuple[Whole, int]:
    """A document after the facts of a file, and where these end. Raises InputError where the file holds none."""
    try:
        text = read_text(file)
        stated = facts(text, (0, len(text)))
    except NotationError as problem:
        line, column = problem.position()
        raise InputError(f"{file}:{line}:{column}: {problem}") from None
    parts = FileParts(file, text)
    for fact in stated:
        start, end = fact.span
        parts.write("% namedtensor: ", start)
        parts.write(text[start:end].replace("\n", " "), start)
        parts.write("\n", end)
    before = parts.whole()
    return joined(whole.file, whole.parts[0].text, (before, whole)), len(before.text)
