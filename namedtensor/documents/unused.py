"""Names that a document declares but does not use, which can indicate that a formula lacks a term.

Conv2d(X; W, b) = W ⊙_{chans, kh, kw} unroll X        the display does not use the parameter b
X^1 = σ(W^1 ⊙_{inp} X^0)    b^1 ∈ ℝ^{hidden}           no formula uses b^1, which is declared beside the formulas
W^{l,1}, W^{l,2} ∈ ℝ^{a × b}                           the document uses W^{l,1} but not W^{l,2}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from grammar import nodes
from grammar.errors import Span
from grammar.printer import to_text

from ..scope.heads import base_of
from ..scope.known_heads import REPLACED
from ..scope.names import walk
from ..scope.uses import reach
from ..terms.inference import CheckWarning
from .assembled import assemble_program
from .document import Document, MathSpan

CODE = 207


def find_unused_names(document: Document) -> Iterator[CheckWarning]:
    """Yield a warning for each parameter, and each name declared in a display, that no formula uses."""
    local = [
        (section, maths)
        for section in document.sections
        for maths in section.formulas
        if not maths.written and maths not in section.inherited
    ]
    everywhere: set[str] = set()
    uses: dict[str, set[str]] = {}  # for each name, the names in its definitions
    for section, maths in local:
        for statement in section.programs[maths].statements:
            names = _names_in(statement)
            everywhere |= names
            if isinstance(statement, nodes.Equation):
                bound = map(base_of, parameters_of(statement))
                uses.setdefault(base_of(statement.sides[0]), set()).update(names.difference(bound))
    unread = unread_spans(document, {maths for _, maths in local})
    later: set[str] = set()
    for section, maths in reversed(local):
        statements = section.programs[maths].statements
        definitions = [statement for statement in statements if isinstance(statement, nodes.Equation)]
        later.update(*map(_names_in, statements))
        if not maths.display or maths.start in document.unread_rows:
            continue
        work = assemble_program(document, [maths])
        unused = {
            to_text(name): (name, "parameter {} is not used")
            for definition in definitions
            for name in parameters_of(definition)
            if not _is_used(name, _names_used(definition, uses))
        }
        for name in (name for statement in statements for name in getattr(statement, "names", ())):
            if not isinstance(name, _PLAIN) or _is_used(name, later if definitions else everywhere):
                continue
            text = document.source[slice(*(work.span(name.span) or (0, 0)))]
            is_known = bool(definitions) or isinstance(name, _MEMBER) or _is_single_word(document, to_text(name))
            if is_known and not occurs(text, document, unread):
                unused.setdefault(to_text(name), (name, "{} is declared and not used"))
        for name, message in unused.values():
            span = work.span(name.span)
            if span is not None:
                text = document.source[slice(*span)]
                yield CheckWarning(CODE, message.format(text), span, "use it, or remove it")


def unread_spans(document: Document, read: set[MathSpan]) -> list[Span]:
    """Return the spans of the formulas that are not in `read`, and of display rows that were not parsed."""
    unread = [maths[:2] for section in document.sections for maths in section.maths if maths not in read]
    return [*unread, *(span for rows in document.unread_rows.values() for span in rows)]


def occurs(text: str, document: Document, spans: list[Span]) -> bool:
    """Return whether a name, as text, occurs in one of the given spans of a document."""
    occurrence = re.compile(rf"(?<![A-Za-z\\]){re.escape(text)}(?![A-Za-z])")
    return any(occurrence.search(document.source, *span) for span in spans)


def _is_single_word(document: Document, text: str) -> bool:
    """Return whether a name is a word that occurs only once in the document.

    Single letters are ignored, because running text often mentions them.
    """
    word = rf"(?<![A-Za-z]){re.escape(text)}(?![A-Za-z])"
    return len(text) > 1 and text.isalpha() and len(re.findall(word, document.source)) == 1


def parameters_of(definition: nodes.Equation) -> list[nodes.Node]:
    """Return the parameters of a function definition."""
    head, *bodies = definition.sides
    if not isinstance(head, nodes.Call) or not head.operator[:1].isalpha():
        return []
    if any(isinstance(body, nodes.Literal) for body in bodies) or not any(map(_names_in, bodies)):
        return []  # the value of a known tensor: exp A = [[1, 2], [3, 4]]
    parameters = (*head.arguments, *head.parameters)
    if any(isinstance(parameter, nodes.Superscript) and base_of(parameter) in REPLACED for parameter in parameters):
        return []  # a call with a power of e: log(e^c) = c
    return list(parameters) if all(isinstance(parameter, _PLAIN) for parameter in parameters) else []


def _names_in(statement: Any) -> set[str]:
    """Return the names that a statement uses, except for those that it declares or defines."""
    if isinstance(statement, (nodes.Declaration, nodes.Signature)):
        return set()
    parts: tuple[Any, ...] = (statement,)
    if isinstance(statement, nodes.Equation) and isinstance(statement.sides[0], (*_PLAIN, nodes.Call)):
        parts = statement.sides[1:]
    used = [node for part in parts for node in walk(part)]
    return {*map(base_of, used), *(to_text(node) for node in used if isinstance(node, _PLAIN))} - {""}


def _names_used(definition: nodes.Equation, uses: dict[str, set[str]]) -> set[str]:
    """Return the names that a definition uses, directly or through other definitions. Parameters are not followed."""
    local = set(map(base_of, parameters_of(definition)))
    return {*reach(_names_in(definition), lambda name: () if name in local else uses.get(name, ()))}


def _is_used(name: nodes.Node, used: set[str]) -> bool:
    """Return whether a name is among the used names. A use of W^l is also a use of a member such as W^1."""
    text, base = to_text(name), base_of(name)
    if len(text) == 1 and any(text in other for other in used if other.isalpha() and other.isupper()):
        return True  # the Q of QK^⊤
    others = (other for other in used if other.startswith((f"{base}^", f"{base}_")))
    return text in used or text != base and any(_may_be_one(text, other) for other in others)


def _may_be_one(member: str, other: str) -> bool:
    """Return whether two names could be the same member of a family.

    W^{l,1} and W^{l,i} could be, but W^{l,1} and W^{l,2} could not.
    """
    ours, theirs = INDICES.findall(member), INDICES.findall(other)
    pairs = list(zip(ours, theirs))
    same = len(ours) == len(theirs) and not any(
        one != two and FIXED.fullmatch(one) and FIXED.fullmatch(two) for one, two in pairs
    )
    labels = [{index for index in indices if FIXED.fullmatch(index)} for indices in (ours, theirs)]
    related = not all(labels) or bool(labels[0] & labels[1])  # b^{pool} is not b^{l,Q}, and b^Q may be
    return same or len(ours) != len(theirs) and related and not other[-1:].isdigit()


INDICES = re.compile(r"(?<=[\^_{, ])[^\^_{}, ]+")
FIXED = re.compile(r"\d+|[A-Z]\w*|[a-z]{2,}\w*")  # an index that is not a variable

_MEMBER = (nodes.Subscript, nodes.Superscript)
_PLAIN = (nodes.Name, *_MEMBER)
