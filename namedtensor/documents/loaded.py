"""A document as a program: the statements that apply at its end, or at the end of a section.

A section inherits statements and may redefine a name. From there on the new definition applies, and statements about
the old one, or that depend on it, are omitted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.printer import to_text

from ..core.settings import raise_recursion_limit
from ..files.text import InputError
from .document import Section
from .hypertext import whole_hypertext
from .included_files import Read, Whole, document_text, whole_of_one, whole_text
from .markdown import whole_markdown
from .notebook import whole_notebook
from .overridden import defined_by, without
from .restructured_text import whole_restructured_text
from .root import whole_chapter
from .sections import check_document
from .suffixes import HTML, MARKDOWN, NOTEBOOK, PYTHON, RESTRUCTURED_TEXT, TEX

READERS = {
    **dict.fromkeys(TEX, whole_chapter),  # the one that reads further files
    **dict.fromkeys(MARKDOWN, whole_markdown),
    **dict.fromkeys(RESTRUCTURED_TEXT, whole_restructured_text),
    **dict.fromkeys(NOTEBOOK, whole_notebook),
    **dict.fromkeys(HTML, whole_hypertext),
    **dict.fromkeys(PYTHON, whole_of_one),
}
PARTS = re.compile(r"\\(?:documentclass|begin\{document\}|(?:sub)*section\b|input\b|include\b)")


def whole_of(text: str, file: str, read: Read | None = None) -> Whole:
    """Return the whole document: with the files that it includes, or only the formulas of a Markdown file.

    `read` gives the texts of the files that it includes, in place of the disk.
    """
    reader = READERS.get(os.path.splitext(file)[1], whole_text)
    return whole_chapter(text, file, read) if reader is whole_chapter else reader(text, file)


@raise_recursion_limit
def program_of(file: str, section: str | None) -> str | None:
    """Return the program of a document, or of one of its sections, as text; None if the file is a formula.

    The program has no bare expressions: a document mentions them, and its value is a definition. Raise NotationError if
    the file cannot be read, or has no such section.
    """
    try:
        text, _ = document_text(file)
        if section is None and file.endswith(".tex") and not PARTS.search(text):
            return None
        sections = check_document(whole_of(text, file).text).sections
    except InputError as problem:
        raise NotationError(108, str(problem)) from None
    if section is not None:
        statements = list(_named(sections, section, file).holds)
    else:
        statements = []
        for other in sections:
            statements = _after([one for one in statements if one not in other.own], other.own)
    statements = [statement for statement in statements if not isinstance(statement, nodes.Value)]
    return to_text(nodes.Program(tuple(dict.fromkeys(statements))))


def _named(sections: Iterable[Section], title: str, file: str) -> Section:
    titles = {section.title: section for section in sections if section.holds}
    if title in titles:
        return titles[title]
    text = ", ".join(filter(None, titles)) or "no section with formulas"
    raise NotationError(108, f"{file} has no section {title!r} with formulas", notes=(f"it has {text}",))


def _after(before: list[Any], new: list[Any]) -> list[Any]:
    """Statements, and new ones after them that may say again what a name is."""
    again = {name for statement in new for name in defined_by(statement)}
    gone = {at for at, statement in enumerate(before) if again & defined_by(statement)}
    return without([*before, *new], gone)
