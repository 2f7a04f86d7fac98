"""Descriptions of positions in a document: the type, meaning and definition of the expression at a position."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from grammar.errors import Span
from grammar.parser import GREEK_MACROS

from ..operators import REGISTRY, Operator
from ..operators.usage import sentence, sets
from ..scope.names import plain_key
from ..terms.inference import format_shape
from .analysis import EditedDocument, FormulaRegion
from .occurrences import AXIS, FUNCTION, INDEX, Occurrence, find_occurrence, macro_at, same_as
from .parts import innermost

WORD = re.compile(r"[^\W\d_][^\W_]*(?:_tanh|_relu)?|\\[A-Za-z]+|[^\w\s]")
MAX_SHOWN = 200  # characters of a formula that is quoted
MAX_TYPES = 4  # of the labels of a name
KINDS = {AXIS: "axis", FUNCTION: "function", INDEX: "index"}


class Description(NamedTuple):
    """A description, in Markdown, of a span of the document."""

    span: Span
    text: str


def hover(document: EditedDocument, offset: int) -> Description | None:
    """Return a description of the piece at an offset, or None if there is no piece.

    It contains the piece's type, the definition of a name, and the meaning of an operator.
    """
    parts = {part.span: part for part in document.parts}
    span = innermost(parts, offset)
    mention = find_occurrence(document, offset)
    lines: list[str] = []
    where = span
    if mention is not None:
        if mention.kind in KINDS and mention.at is not None:
            where = mention.at
            lines.append(f"{KINDS[mention.kind]} `{mention.name}`")
        if mention.kind == AXIS:
            sizes = [part.shape[mention.name] for part in parts.values() if mention.name in part.shape]
            lines += [f"size {size}" for size in sizes if isinstance(size, int)][:1]
        else:
            if mention.at not in (span, None):
                lines += types_of(document.regions[mention.region], mention)
                where = where or mention.at
            lines += definition_of(document, mention, offset)
    operator = operator_at(document.text, offset)
    if operator is not None and (mention is None or mention.kind != AXIS):
        where, record = operator
        lines.append(f"{sentence(record)}  \n`{sets(record)}`" if sets(record) else sentence(record))
    if span is not None and (mention is None or mention.kind != AXIS):
        text = document.text[slice(*span)]
        short = " ".join(text.split()) if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + " …"
        lines.insert(0, f"`{short}` : `{format_shape(parts[span].shape)}`")
    return Description(where or (offset, offset), "\n\n".join(lines)) if lines and where is not None else None


def types_of(region: FormulaRegion, mention: Occurrence) -> list[str]:
    """Return the types of a name as Markdown, one line for each of its labels."""
    types = [f"`{name}` : `{text}`" for name, text in region.types.items() if plain_key(name).base == mention.name]
    return ["  \n".join(types[:MAX_TYPES])] if types else []


def definition_of(document: EditedDocument, mention: Occurrence, offset: int) -> list[str]:
    """Return the statement that defines a name as a Markdown code block.

    A statement that contains the offset is left out, so the list can be empty.
    """
    for defining in definitions(document, mention):
        region = document.regions[defining.region]
        for statement in (other.span for other in region.tree.statements):
            if statement[0] <= defining.span[0] < statement[1]:
                shown = region.place(statement)
                if shown is None or not shown[0] <= offset <= shown[1]:
                    language = "latex" if region.latex else "namedtensor"
                    return [f"```{language}\n{region.text[slice(*statement)][:MAX_SHOWN]}\n```"]
                break
    return []


def operator_at(text: str, offset: int) -> tuple[Span, Operator] | None:
    """Return the span and the operator of the built-in function or sign at an offset, or None if there is neither."""
    line = text.rfind("\n", 0, offset) + 1
    for word in WORD.finditer(text, line):
        if word.start() > offset:
            break
        if offset <= word.end() and word[0] not in GREEK_MACROS.values():
            record = REGISTRY.get(word[0]) or next(
                (entry for entry in REGISTRY.values() if word[0] == entry.latex), None
            )
            if record is not None:
                return word.span(), record
    return None


# ---------------------------------------------------------------------------------------------------------- definitions
def definition(document: EditedDocument, offset: int) -> list[Span]:
    """Return the spans of the definitions of the name or axis at an offset.

    These are its equations or signatures. If there are none, return its declaration or, otherwise, its first mention.
    """
    mention = find_occurrence(document, offset)
    if mention is None:
        return macro_definition(document.text, offset)
    spans = spans_of(definitions(document, mention))
    return macro_definition(document.text, offset) or spans if mention.kind == AXIS else spans


def definitions(document: EditedDocument, mention: Occurrence) -> list[Occurrence]:
    """Return the mentions that define a name. If no mention does, as for an axis, return the first mention."""
    mentions = same_as(document, mention)
    defining = [other for other in mentions if other.defines]
    return defining or mentions[:1]


def references(document: EditedDocument, offset: int) -> list[Span]:
    """Return the spans of all mentions of the name or axis at an offset."""
    mention = find_occurrence(document, offset)
    return [] if mention is None else spans_of(same_as(document, mention))


def spans_of(mentions: Iterable[Occurrence]) -> list[Span]:
    """Return the document's spans for mentions, leaving out mentions in included files."""
    return [mention.at for mention in mentions if mention.at is not None]


DEFINED = r"\\(?:ndef|(?:re)?newcommand|providecommand|DeclareMathOperator|def)\*?\s*\{{?\s*({})(?![A-Za-z@])"


def macro_definition(text: str, offset: int) -> list[Span]:
    """Return a list with the span that defines the LaTeX macro at an offset, or an empty list without a definition."""
    macro = macro_at(text, offset)
    if macro is None:
        return []
    return [defined.span(1) for defined in re.finditer(DEFINED.format(re.escape(macro)), text)][:1]
