r"""Renaming of an axis or a name wherever it has the same meaning.

The new text is checked before the renaming is offered. A renaming that would cause an error or merge two names is
rejected. In LaTeX, an axis is renamed with its macro, both in all uses (\seq) and in the definition (\ndef{\seq}{seq}).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grammar.errors import NotationError
from grammar.latex.tables import is_known
from grammar.parser import parse

from ..scope.names import MARKS
from .analysis import EditedDocument
from .descriptions import spans_of
from .occurrences import AXIS, FUNCTION, MACRO, Occurrence, find_occurrence, occurrences, same_as
from .repairs import Edit

NAMED = re.compile(r"(\\(?:name|mathsf|text|mathrm|operatorname|textrm|textsf)\s*\{)[^{}]*(\})")
PLAIN = re.compile(r"[^\W\d_][^\W_]*(?:_[^\W_]+)?['′]*")


def rename(document: EditedDocument, offset: int, new: str) -> list[Edit]:
    """Return the edits that rename the name or axis at an offset. Raise NotationError if this would not be safe."""
    new = new.strip()
    chosen = find_occurrence(document, offset)
    if chosen is None:
        raise refuse_renaming("there is no name or axis here")
    if any(other.broken for other in document.regions):
        problem = next((other.error for other in document.problems if other.error.kind == "syntax"), None)
        line = problem.position()[0] if problem is not None else 1
        raise refuse_renaming(f"line {line} does not parse, so a name in it would be missed", "fix that line first")
    latex = document.regions[chosen.region].latex
    check_name(chosen, new, latex)
    if new == chosen.name:
        return []
    _check_free(document, chosen, new)
    edits = sorted(set(_edits(document, chosen, new)))
    _check_result(document, edits, new)
    return edits


def refuse_renaming(message: str, hint: str | None = None) -> NotationError:
    """Return the error for a rejected renaming."""
    return NotationError(312, message, hint=hint)


def check_name(chosen: Occurrence, new: str, latex: bool) -> None:
    """Raise NotationError if a new name is invalid. Axes, functions and tensors have different rules."""
    what = "an axis" if chosen.kind == AXIS else "a tensor or a function"
    try:
        text = f"∑_{{{new}}} x" if chosen.kind == AXIS else f"{new}(x) = x" if chosen.kind == FUNCTION else f"{new} = 1"
        is_name = len(parse(text, "text").statements) == 1 and PLAIN.fullmatch(new) is not None
    except NotationError:
        is_name = False
    if not is_name:
        raise refuse_renaming(f"{new!r} cannot be the name of {what}", "use letters and digits, as in seq or W1")
    if latex and chosen.kind == AXIS and not new.isalpha():
        raise refuse_renaming(f"{new!r} cannot be the macro of an axis", "use letters alone")


def _check_free(document: EditedDocument, chosen: Occurrence, new: str) -> None:
    """Raise NotationError if a region that contains the old name already uses the new name."""
    regions = {mention.region for mention in same_as(document, chosen)}
    for mention in occurrences(document):
        if mention.name == new and mention.region in regions:
            line = document.text.count("\n", 0, (mention.at or (0, 0))[0]) + 1
            what = "an axis" if mention.kind == AXIS else "a name"
            raise refuse_renaming(f"{new} is {what} already, in line {line}", "choose another name")


def _edits(document: EditedDocument, chosen: Occurrence, new: str) -> Iterator[Edit]:
    latex = document.regions[chosen.region].latex
    for span in spans_of(same_as(document, chosen)):
        written = document.text[slice(*span)]
        named, macro = NAMED.match(written), MACRO.match(written)
        if not latex:
            marks = written[len(written.rstrip(MARKS)) :] if chosen.kind == AXIS else ""
            yield Edit(span, new + marks)
        elif macro and chosen.kind == AXIS and not named:
            yield from _macro_edits(document, macro[0], chosen.name, new)
        else:
            yield Edit(span, f"{named[1]}{new}{named[2]}" if named else new if len(new) == 1 else rf"\text{{{new}}}")


def _macro_edits(document: EditedDocument, macro: str, old: str, new: str) -> Iterator[Edit]:
    r"""Yield the edits that rename the macro of an axis, both in its definition and wherever it is used."""
    if is_known(f"\\{new}"):
        raise refuse_renaming(rf"\{new} is a macro of LaTeX or of the notation", "choose another name")
    if re.search(rf"\\{new}(?![A-Za-z@])", document.text):
        raise refuse_renaming(rf"\{new} is used already", "choose another name")
    for use in re.finditer(rf"{re.escape(macro)}(?![A-Za-z@])", document.text):
        yield Edit(use.span(), f"\\{new}")
    definition = rf"\\ndef\s*\{{\s*{re.escape(macro)}\s*\}}\s*\{{\s*({re.escape(old)})\s*\}}"
    body = rf"\\(?:(?:re)?newcommand|def)\s*\{{?\s*{re.escape(macro)}\s*\}}?\s*\{{\s*\\(?:name|mathsf)\s*\{{\s*({re.escape(old)})\s*\}}"
    for pattern in (definition, body):
        for use in re.finditer(pattern, document.text):
            yield Edit(use.span(1), new)


def apply_edits(text: str, edits: list[Edit]) -> str:
    """Return the text after applying some edits to it."""
    for span, put in sorted(edits, reverse=True):
        text = text[: span[0]] + put + text[span[1] :]
    return text


def _check_result(document: EditedDocument, edits: list[Edit], new: str) -> None:
    """Raise NotationError if the edited document has an error that the document did not have before the edits."""
    after = EditedDocument(document.path, document.read)
    after.update(apply_edits(document.text, edits))
    after.settle()
    known = [problem.error.code for problem in document.problems]
    for error in (problem.error for problem in after.problems):
        if error.code not in known:
            raise refuse_renaming(
                f"with the name {new} there would be an error: {error.message}", "choose another name"
            )
        known.remove(error.code)
