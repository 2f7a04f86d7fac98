"""Names, numbers and literals, and the errors of them all."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from .. import nodes
from ..errors import Hint, NotationError
from ..nodes import Axis, Name, Number, axis_of
from .values import Bracket, Row, around, nodes_among


class Literals:
    def __init__(self, source: str):
        self.source = source

    def fail(self, number, message, span, **more):
        raise NotationError(number, message, self.source, span, **more)

    def ambiguous(self, span, first, second):
        self.fail(
            107, f"{self.source[slice(*span)]} reads two ways", span, notes=(f"either {first}", f"or {second}"),
            hint=Hint("say which with brackets", first, second),
        )  # fmt: skip

    def name(self, children):
        token = children[0]
        return Name(token.text, token.span)

    def number(self, children):
        token = children[0]
        text = token.text
        if len(text) > 400:
            self.fail(404, f"a number of {len(text)} digits is too long", token.span, hint="write it as a power")
        value = int(text) if text.isdecimal() else float(text)
        if value == math.inf:
            self.fail(
                404,
                "this number is larger than any that can be computed with",
                token.span,
                hint=Hint("infinity is ∞", "∞"),
            )
        return Number(value, token.span)

    def simple(self, children):
        token = children[0]
        return self.number(children) if token.type == "NUMBER" else Name(token.text, token.span)

    def as_axis(self, node) -> Axis:
        axis = axis_of(node)
        if axis is None:
            self.fail(101, "here the name of an axis is due", node.span)
        return axis

    def literal(self, children):
        rows = tuple(child for child in children if type(child) is Row)
        span = around(children)
        if children[-1].text == "]_":
            return Bracket(rows, span)
        return replace(self.only_cell(rows, span), span=span)

    def row(self, children):
        return Row(nodes_among(children), around(children))

    def only_cell(self, rows, span):
        if len(rows) == 1 and len(rows[0].cells) == 1:
            return rows[0].cells[0]
        before, after = self.source[span[0] - 1 : span[0]], self.source[span[1] : span[1] + 1]
        if before.isalnum() or before in ("'", "}"):
            self.indexed_by_number(span)
        if before == "[" or (before == "," and after == "]"):
            self.fail(
                113, "a literal holds no literals: its rows end with ;", span, hint="write [1, 2; 3, 4]_{rows, columns}"
            )
        axes = "{axis}" if len(rows) == 1 else "{rows, columns}"
        self.fail(113, "a literal needs the names of its axes", span, hint=f"write them as its subscript: […]_{axes}")

    def filled(self, bracket, items, span):
        """A literal with its axes."""
        axes = tuple(self.as_axis(item) for item in items)
        rows = bracket.rows
        for row in rows:
            if len(row.cells) != len(rows[0].cells):
                self.fail(
                    311, "the rows of this literal differ in length", row.span,
                    notes=(f"the first row has {_entries(rows[0])}, this one {len(row.cells)}",),
                    hint="give every row as many entries",
                )  # fmt: skip
        seen = set()
        for axis in axes:
            if axis.name in seen:
                self.fail(303, f"the axis {axis.name} occurs twice", axis.span, hint="each axis needs its own name")
            seen.add(axis.name)
        if len(axes) > 2:
            self.fail(113, f"a literal has one axis or two, not {len(axes)}", span)
        if len(axes) == 1 and len(rows) > 1:
            if len(rows[0].cells) > 1:
                self.fail(
                    113, f"{len(rows)} rows need two axes, and there is one", span,
                    hint=f"name the axis of the rows and that of the columns: _{{rows, {axes[0].name}}}",
                )  # fmt: skip
            rows = (Row(tuple(row.cells[0] for row in rows), bracket.span),)
        return nodes.Literal(tuple(row.cells for row in rows), axes, span)

    def indexed_by_number(self, span):
        """A[0]: what Python would take for an index; E[x] is what a book of statistics has."""
        average = "an expectation says what is drawn: 𝔼_{x ∼ N(0, 1)}[x]; an average over an axis is mean_{axis} X"
        variance = "a variance over an axis is var_{axis} X; of what is drawn it is 𝔼[(x − 𝔼[x])^2]"
        if VARIANCE.search(self.source[: span[0]]):
            self.fail(101, "an index names its axis, and stands in a subscript", span, hint=variance)
        self.fail(
            101, "an index names its axis, and stands in a subscript", span,
            hint=average if EXPECTATION.search(self.source[: span[0]]) else "write X_{axis(1)}, which counts from 1; a product is X ⊙ […]",
        )  # fmt: skip


VARIANCE = re.compile(r"(?:^|\W)(?:Var|var|V|𝕍)\}?$")
EXPECTATION = re.compile(r"(?:^|\W)(?:E|𝔼|\\mathbb\{E\})$")


def _entries(row: Row) -> str:
    return f"{len(row.cells)} entr{'y' if len(row.cells) == 1 else 'ies'}"
