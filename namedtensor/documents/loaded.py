"""Load a document as a program of the statements that apply at the end of the document or of a section.

A section inherits statements and may redefine a name. After a redefinition, statements that use the old definition are
omitted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.printer import to_text

from ..core.settings import raise_recursion_limit
from ..files.text import InputError, read_text
from .conflicts import drop_superseded, head_keys, mention_keys
from .directives import facts
from .document import Section
from .hypertext import whole_hypertext
from .included_files import Read, Whole, document_text, whole_of_one, whole_text
from .markdown import whole_markdown, whole_notebook
from .restructured_text import whole_restructured_text
from .root import whole_chapter
from .sections import check_document
from .suffixes import HTML, MARKDOWN, NOTEBOOK, PYTHON, RESTRUCTURED_TEXT, TEX, suffix_of

READERS = {
    **dict.fromkeys(TEX, whole_chapter),  # the one that reads further files
    **dict.fromkeys(MARKDOWN, whole_markdown),
    **dict.fromkeys(RESTRUCTURED_TEXT, whole_restructured_text),
    **dict.fromkeys(NOTEBOOK, whole_notebook),
    **dict.fromkeys(HTML, whole_hypertext),
    **dict.fromkeys(PYTHON, whole_of_one),
}
LEFT_OUT = (nodes.Value, nodes.Declaration, nodes.Fact)  # values of other formulas, and types that the code states
PLAIN = (nodes.Name, nodes.Subscript, nodes.Superscript)
LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
PARTS = re.compile(r"\\(?:documentclass|begin\{document\}|(?:sub)*section\b|input\b|include\b)")


def whole_of(text: str, file: str, read: Read | None = None) -> Whole:
    """Return the whole document: the formulas of a file, and for LaTeX also the files that it includes.

    `read` maps the path of an included file to its text (default: read from disk).
    """
    reader = READERS.get(suffix_of(file), whole_text)
    return whole_chapter(text, file, read) if reader is whole_chapter else reader(text, file)


@raise_recursion_limit
def program_of(file: str, section: str | None) -> str | None:
    """Return the program of a document or section as text, or None if the file is a single formula.

    Expressions without a name are left out, so that the last definition is the value of the program. Raise
    NotationError if the file cannot be read or does not have the section.
    """
    try:
        text, _ = document_text(file)
        if section is None and suffix_of(file) in TEX and not PARTS.search(text):
            return None
        sections = check_document(whole_of(text, file).text).sections
    except InputError as problem:
        raise NotationError(108, str(problem)) from None
    if section is not None:
        statements = list(_find_section(sections, section, file).holds)
    else:
        statements = []
        for other in sections:
            statements = _append_statements([one for one in statements if one not in other.own], other.own)
    statements = [statement for statement in statements if not isinstance(statement, nodes.Value)]
    return to_text(nodes.Program(tuple(dict.fromkeys(statements))))


def _find_section(sections: Iterable[Section], title: str, file: str) -> Section:
    titles = {section.title: section for section in sections if section.holds}
    if title in titles:
        return titles[title]
    text = ", ".join(filter(None, titles)) or "no section with formulas"
    raise NotationError(108, f"{file} has no section {title!r} with formulas", notes=(f"it has {text}",))


def _append_statements(before: list[Any], new: list[Any]) -> list[Any]:
    """Return the earlier and new statements, without earlier statements that the new ones supersede."""
    again = {name for statement in new for name in head_keys(statement)}
    gone = {at for at, statement in enumerate(before) if again & head_keys(statement)}
    return drop_superseded([*before, *new], gone)


# -------------------------------------------------------------------------------------------- a formula by its label
def find_labeled(file: str, label: str) -> str:
    """Return the program whose value is the labeled formula, with the definitions that it needs.

    Raise NotationError if the file cannot be read, or if no formula has that label.
    """
    try:
        text, _ = document_text(file)
        whole = whole_of(text, file).text
        sections = check_document(whole).sections
    except InputError as problem:
        raise NotationError(108, str(problem)) from None
    known: list[str] = []
    for section in sections:
        for maths, program in section.programs.items():
            labels = LABEL.findall(whole[maths.start : maths.end])
            known += labels
            if label in labels and program.statements:
                return to_text(nodes.Program(tuple(with_value(section.holds, chosen(program, labels.index(label))))))
    listed = ", ".join(dict.fromkeys(known))
    note = f"its labels are {listed}" if listed else "none of its formulas has a label"
    raise NotationError(108, f"{file} has no formula with the label {label}", notes=(note,))


def chosen(program: nodes.Program, position: int) -> Any:
    """Return the equation or expression with this index in a program.

    If the index is too large, return the last equation or expression.
    """
    defining = [statement for statement in program.statements if isinstance(statement, (nodes.Equation, nodes.Value))]
    return defining[min(position, len(defining) - 1)] if defining else program.statements[-1]


def with_value(holds: list[Any], statement: Any) -> list[Any]:
    """Return the definitions that a statement needs, followed by the statement and an expression with its value."""
    others = [fromkey for fromkey in dict.fromkeys(holds) if fromkey != statement and not isinstance(fromkey, LEFT_OUT)]
    needed: list[Any] = [statement]
    for line in needed:
        names = mention_keys(line)
        needed += [one for one in others if one not in needed and (not head_keys(one) or head_keys(one) & names)]
    result = [earlier for earlier in others if earlier in needed]
    if isinstance(statement, nodes.Equation) and isinstance(statement.sides[0], PLAIN):
        return [*result, statement, nodes.Value(statement.sides[0])]
    return [*result, statement]


# ----------------------------------------------------------------------------------------------- files of assumptions
def with_assumptions(whole: Whole, file: str) -> tuple[Whole, int]:
    """Return a document preceded by the assumptions in a file, and the position where the assumptions end.

    Raise InputError if the assumptions are invalid.
    """
    try:
        text = read_text(file)
        assumptions = facts(text, (0, len(text)))
    except NotationError as problem:
        line, column = problem.position()
        raise InputError(f"{file}:{line}:{column}: {problem}") from None
    before = Whole(file, text)
    for assumption in assumptions:
        start, end = assumption.span
        before.write("% namedtensor: ", start)
        before.write(text[start:end].replace("\n", " "), start)
        before.write("\n", end)
    both = Whole(whole.file, whole.source)
    both.add(before)
    both.add(whole)
    return both, before.length
