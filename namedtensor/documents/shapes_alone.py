r"""Shapes and types without names in running text, which are checked separately.

$\reals^{\height \times \width}$, $\reals^{\ax[I]} \rightarrow \reals^{\ax[I]}$, $\ax[n]$, $\ax[I] \in \mathcal{S}$
"""

from __future__ import annotations

import re

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Program
from grammar.parser import parse

from .assembled import assemble_program
from .document import Document, MathSpan

INSIDE = re.compile(r"(?:\$|\\\()\s*(.*?)\s*(?:\$|\\\))", re.DOTALL)
COUNTED = re.compile(r"\[\s*\\\{\s*1\s*,\s*\\[lc]?dots\s*,([^{}\[\]]*)\\\}\s*\]")  # [\{1, …, n\}]
IN_SHAPE = re.compile(r"(.*)\\in\s*(?:\{\s*)?\\math(?:cal|scr)\s*\{?\s*[A-Z]\s*\}?\s*'?(?:\s*\})?", re.DOTALL)
ARROW = re.compile(r"\\(?:rightarrow|to|longrightarrow)(?![A-Za-z])")
LONGEST = 500


def shape_alone(document: Document, maths: MathSpan) -> Program | None:
    """Return a formula parsed as a shape or a type, or None if it is neither.

    Raise NotationError if a shape contains an axis twice.
    """
    match = INSIDE.fullmatch(document.source, maths.start, min(maths.end, maths.start + LONGEST))
    if maths.display or maths.written or match is None:
        return None
    body = COUNTED.sub(r"[\1]", match[1])
    of_shape = IN_SHAPE.fullmatch(body)
    spellings = [rf"x \in {body}", rf"x \in \mathbb{{R}}^{{{of_shape[1] if of_shape else body}}}"]
    for text in [rf"f \colon {body}"] if ARROW.search(body) else spellings:
        try:
            program = parse(assemble_program(document, [maths._replace(written=rf"\({text}\)")]).text, "latex")
        except NotationError:
            continue
        sets = _sets(program)
        shown = [
            axis
            for of in sets
            for axis, size in of.axes
            if size is not None or len(of.axes) > 1 or text != spellings[1]
        ]
        if sets and shown:
            _distinct(document, maths, sets)
            return program
    return None


def _sets(program: Program) -> list[nodes.Set]:
    """Return the sets of a program that consists of one declaration or signature, or an empty list."""
    statement = program.statements[0] if len(program.statements) == 1 else None
    if isinstance(statement, nodes.Declaration) and len(statement.names) == 1:
        sets = list(statement.sets)
    elif isinstance(statement, nodes.Signature):
        sets = [*statement.domain, statement.codomain]
    else:
        return []
    return sets if all(isinstance(of, nodes.Set) and of.domain in ("reals", "field") for of in sets) else []


def _distinct(document: Document, maths: MathSpan, sets: list[nodes.Set]) -> None:
    for of in sets:
        names = [axis.name for axis, _ in of.axes]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            hint = "an axis occurs once in a shape: mark or rename one of them"
            raise NotationError(303, f"this shape has the axis {twice} twice", document.source, maths[:2], hint=hint)
