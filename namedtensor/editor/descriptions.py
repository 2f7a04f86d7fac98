"""What is shown of a place: its type and meaning, and where it is defined."""

from __future__ import annotations

import re
from typing import NamedTuple

from grammar.errors import Span
from grammar.parser import GREEK_MACROS

from ..operators import REGISTRY, Operator
from ..operators.usage import sentence, sets
from ..scope.names import plain_key
from ..terms.inference import shown
from .analysis import EditedDocument, FormulaRegion
from .occurrences import AXIS, FUNCTION, INDEX, Occurrence, at_offset, macro_at, same_as
from .parts import innermost

WORD = re.compile(r"[^\W\d_][^\W_]*(?:_tanh|_relu)?|\\[A-Za-z]+|[^\w\s]")
MAX_SHOWN = 200  # characters of a formula that is quoted
MAX_TYPES = 4  # of the labels of a name
KINDS = {AXIS: "axis", FUNCTION: "function", INDEX: "index"}


class Description(NamedTuple):
    """A text in Markdown about a span."""

    span: Span
    text: str


def hover(document: EditedDocument, offset: int) -> Description | None:
    """The type of the smallest piece at a place, what defines its name, and the meaning of an operator."""
    parts = {part.span: part for part in document.parts}
    span = innermost(parts, offset)
    mention = at_offset(document, offset)
    lines: list[str] = []
    where = span
    if mention is not None:
        region = document.regions[mention.region]
        span_of_mention = region.place(mention.span)
        if mention.kind in KINDS and span_of_mention is not None:
            where = span_of_mention
            lines.append(f"{KINDS[mention.kind]} `{mention.name}`")
        if mention.kind == AXIS:
            lines += _sizes(document, mention)
        else:
            if span != span_of_mention and span_of_mention is not None:
                lines += _types(region, mention)
                where = where or span_of_mention
            lines += _quoted(document, mention, offset)
    operator = operator_at(document.text, offset)
    if operator is not None and (mention is None or mention.kind != AXIS):
        where, record = operator
        lines.append(f"{sentence(record)}  \n`{sets(record)}`" if sets(record) else sentence(record))
    if span is not None and (mention is None or mention.kind != AXIS):
        text = document.text[slice(*span)]
        short = " ".join(text.split()) if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + " …"
        lines.insert(0, f"`{short}` : `{shown(parts[span].shape)}`")
    return Description(where or (offset, offset), "\n\n".join(lines)) if lines and where is not None else None


def _sizes(document: EditedDocument, mention: Occurrence) -> list[str]:
    """The size of an axis, where the program knows it."""
    for part in document.parts:
        size = part.shape.get(mention.name)
        if isinstance(size, int):
            return [f"size {size}"]
    return []


def _types(region: FormulaRegion, mention: Occurrence) -> list[str]:
    """The types of a name, with each of its labels, where no piece of a formula shows them."""
    types = [f"`{name}` : `{text}`" for name, text in region.types.items() if plain_key(name).base == mention.name]
    return ["  \n".join(types[:MAX_TYPES])] if types else []


def _quoted(document: EditedDocument, mention: Occurrence, offset: int) -> list[str]:
    """The statement that defines a name, unless it is that one."""
    for defining in definitions(document, mention):
        region = document.regions[defining.region]
        statement = statement_of(region, defining.span)
        shown = region.place(statement) if statement is not None else None
        if statement is not None and not (shown is not None and shown[0] <= offset <= shown[1]):
            language = "latex" if region.latex else "namedtensor"
            return [f"```{language}\n{region.text[slice(*statement)][:MAX_SHOWN]}\n```"]
    return []


def statement_of(region: FormulaRegion, span: Span) -> Span | None:
    """The statement of a region that a span is in."""
    return next(
        (statement.span for statement in region.tree.statements if statement.span[0] <= span[0] < statement.span[1]),
        None,
    )


def operator_at(text: str, offset: int) -> tuple[Span, Operator] | None:
    """The built-in function or operator that is written at a place."""
    line = text.rfind("\n", 0, offset) + 1
    for word in WORD.finditer(text, line):
        if word.start() > offset:
            break
        if word.start() <= offset <= word.end():
            record = REGISTRY.get(word[0]) or next(
                (operator for operator in REGISTRY.values() if word[0] == operator.latex), None
            )
            if record is not None and word[0] not in GREEK_MACROS.values():
                return word.span(), record
    return None


# ---------------------------------------------------------------------------------------------------------- definitions
def definition(document: EditedDocument, offset: int) -> list[Span]:
    """Where the name or axis at a place is defined: its equation or signature, else its declaration, else its first mention."""
    mention = at_offset(document, offset)
    if mention is None:
        return macro_definition(document.text, offset)
    spans = spans_of(document, definitions(document, mention))
    return macro_definition(document.text, offset) or spans if mention.kind == AXIS else spans


def definitions(document: EditedDocument, mention: Occurrence) -> list[Occurrence]:
    """The mentions that define a name; of an axis, or a name without any, the first one."""
    mentions = same_as(document, mention)
    defining = [other for other in mentions if other.defines]
    return defining or mentions[:1]


def references(document: EditedDocument, offset: int) -> list[Span]:
    """All mentions of the name or axis at a place."""
    mention = at_offset(document, offset)
    return [] if mention is None else spans_of(document, same_as(document, mention))


def spans_of(document: EditedDocument, mentions: list[Occurrence]) -> list[Span]:
    """Where mentions are in the document, except those that are in another file."""
    regions = document.regions
    spans = (regions[mention.region].place(mention.span) for mention in mentions)
    return [span for span in spans if span is not None]


DEFINED = r"\\(?:ndef|(?:re)?newcommand|providecommand|DeclareMathOperator|def)\*?\s*\{{?\s*({})(?![A-Za-z@])"


def macro_definition(text: str, offset: int) -> list[Span]:
    """Where the macro of LaTeX at a place is defined in the same file."""
    macro = macro_at(text, offset)
    if macro is None:
        return []
    return [defined.span(1) for defined in re.finditer(DEFINED.format(re.escape(macro)), text)][:1]
