"""Names that a document declares and does not use: a term may have been dropped from a formula.

Conv2d(X; W, b) = W ⊙_{chans, kh, kw} unroll X        the parameter b occurs nowhere in its display
X^1 = σ(W^1 ⊙_{inp} X^0)    b^1 ∈ ℝ^{hidden}           b^1 is declared beside the formulas and occurs in none
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from grammar import nodes
from grammar.printer import to_text

from ..scope.names import walk
from ..terms.inference import CheckWarning
from .assembled import AssembledProgram, assembled
from .document import Document, MathSpan
from .notation import base_of, heads_of
from .shown_axes import shows_axes

CODE = 207


def unused_names(document: Document) -> Iterator[CheckWarning]:
    """Yield a warning for each parameter or declaration in a display that no formula uses."""
    own = [
        (section, maths)
        for section in document.sections
        for maths in section.formulas
        if not maths.written and maths not in section.inherited
    ]
    uses: dict[str, set[str]] = {}  # of a name, the names in its definitions
    for section, maths in own:
        for statement in section.programs[maths].statements:
            for name in heads_of(nodes.Program((statement,))):
                uses.setdefault(name, set()).update(_names_in(statement))
    read = {maths for _, maths in own}
    unread = [maths for section in document.sections for maths in section.maths if maths not in read]
    unread += [MathSpan(*span, True) for rows in document.unread.values() for span in rows]
    later: set[str] = set()
    for section, maths in reversed(own):
        statements = section.programs[maths].statements
        definitions = [statement for statement in statements if isinstance(statement, nodes.Equation)]
        later.update(*map(_names_in, statements))
        if not maths.display or maths.start in document.unread or not definitions or not shows_axes(document, maths):
            continue
        work = assembled(document, [maths])
        for definition in definitions:
            names = _names_in(definition) - {""}
            is_known = any(isinstance(side, nodes.Literal) for side in definition.sides)
            for name in parameters_of(definition) if names and not is_known else ():
                if not _is_used(name, _closure(names, uses)):
                    yield _warning(document, work, name, "parameter {} is not used")
        for statement in statements:
            if isinstance(statement, nodes.Declaration):
                for name in statement.names:
                    if (
                        isinstance(name, _PLAIN)
                        and not _is_used(name, later)
                        and not _occurs(document, work, name, unread)
                    ):
                        yield _warning(document, work, name, "{} is declared and not used")


def _warning(document: Document, work: AssembledProgram, name: nodes.Node, message: str) -> CheckWarning:
    span = work.span(name.span)
    assert span is not None
    return CheckWarning(CODE, message.format(document.source[slice(*span)]), span, "use it, or remove it")


def _occurs(document: Document, work: AssembledProgram, name: nodes.Node, formulas: list[MathSpan]) -> bool:
    """Return whether the text of a name occurs in formulas that were not read."""
    text = document.source[slice(*(work.span(name.span) or (0, 0)))]
    occurrence = re.compile(rf"(?<![A-Za-z\\]){re.escape(text)}(?![A-Za-z])")
    return any(occurrence.search(document.source, *maths[:2]) for maths in formulas)


def parameters_of(definition: nodes.Equation) -> list[nodes.Node]:
    """Return the names in the head of a function's definition."""
    head = definition.sides[0]
    if not isinstance(head, nodes.Call) or not head.operator[:1].isalpha():
        return []
    parameters = (*head.arguments, *head.parameters)
    return list(parameters) if all(isinstance(parameter, _PLAIN) for parameter in parameters) else []


def _names_in(statement: Any) -> set[str]:
    """Return the names that a statement uses: not those that it declares, or defines by an equation."""
    if isinstance(statement, (nodes.Declaration, nodes.Signature)):
        return set()
    parts: tuple[Any, ...] = (statement,)
    if isinstance(statement, nodes.Equation) and isinstance(statement.sides[0], (*_PLAIN, nodes.Call)):
        parts = statement.sides[1:]
    nodes_used = [node for part in parts for node in walk(part)]
    return {text for node in nodes_used for text in (base_of(node), to_text(node) if isinstance(node, _PLAIN) else "")}


def _closure(names: set[str], uses: dict[str, set[str]]) -> set[str]:
    """Return the names with those in their definitions."""
    known, waiting = set(names), list(names)
    while waiting:
        new = uses.get(waiting.pop(), set()) - known
        known |= new
        waiting += new
    return known


def _is_used(name: nodes.Node, used: set[str]) -> bool:
    """Return whether a name is used, or for a member such as W^1 another member of its family, W^l."""
    text, base = to_text(name), base_of(name)
    others = (other for other in used if other.startswith((f"{base}^", f"{base}_")))
    return text in used or text != base and any(not other[len(base) + 1 :].isdigit() for other in others)


_PLAIN = (nodes.Name, nodes.Subscript, nodes.Superscript)
