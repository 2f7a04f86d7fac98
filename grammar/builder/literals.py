"""Build names, numbers and literals, and define the intermediate results and the error method of all builders."""

from __future__ import annotations

import math
import re
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple

from lark import Transformer

from .. import nodes
from ..errors import Hint, NotationError
from ..nodes import Axis, Name, Node, Number, axis_of
from ..tokens import Token


class Head(NamedTuple):
    """An operator or function with its scripts, which is parsed before its operands."""

    name: str
    superscript: tuple
    subscript: tuple
    parameters: tuple
    name_span: tuple[int, int]
    span: tuple[int, int]


class Script(NamedTuple):
    kind: str  # The kind: SUB, SUP or shape.
    items: tuple
    span: tuple[int, int]


class LiteralRow(NamedTuple):
    cells: tuple
    span: tuple[int, int]


class Bracket(NamedTuple):
    """A bracket […] before a subscript: a literal, or an expression to index or rename."""

    rows: tuple
    span: tuple[int, int]


class Indexed(NamedTuple):
    axis: Axis
    index: Node
    span: tuple[int, int]


class Renamed(NamedTuple):
    old: tuple
    new: tuple
    span: tuple[int, int]


class ArgumentList(NamedTuple):
    ordinary: tuple
    parameters: tuple


class Bound(NamedTuple):
    variable: Node
    first: Node
    span: tuple[int, int]


class VariableRange(NamedTuple):
    """A variable with its set, condition or limit, as in i ∈ [n], j ≠ i or α → 0.

    It exists only until its operator is built.
    """

    variable: Axis
    over: Any
    span: tuple[int, int]


class Results(NamedTuple):
    """The two sides of an equation with several results, as in A, B = X, Y or A, B = f(x)."""

    heads: tuple
    bodies: tuple
    span: tuple[int, int]


class Member(NamedTuple):
    sets: tuple
    span: tuple[int, int]


def find_outer_span(children) -> tuple[int, int]:
    return start_of(children[0]), end_of(children[-1])


def covering(children) -> tuple[int, int]:
    r"""Return the span that covers all children.

    Children may be out of order. In LaTeX, \nfun{\seq}{softmax}, the axes precede the name.
    """
    return min(map(start_of, children)), max(map(end_of, children))


def start_of(value) -> int:
    return value.start if type(value) is Token else value.span[0]


def end_of(value) -> int:
    return value.end if type(value) is Token else value.span[1]


def nodes_among(children) -> tuple:
    return tuple(child for child in children if type(child) is not Token)


def operator_of(name: str, operands: tuple) -> str:
    """Return ⊕ for concat with two operands, as in concat_{ax}(X, Y), or the name itself otherwise."""
    return "⊕" if name == "concat" and len(operands) == 2 else name


SOURCE: ContextVar[str] = ContextVar("SOURCE")  # The source of the current formula. All formulas share one builder.


class Literals(Transformer):
    @property
    def source(self) -> str:
        return SOURCE.get()

    def fail(self, number, message, span, **more):
        raise NotationError(number, message, self.source, span, **more)

    def ambiguous(self, span, first, second):
        self.fail(
            107, f"{self.source[slice(*span)]} is ambiguous", span, notes=(f"could mean {first}", f"could mean {second}"),
            hint=Hint("add parentheses", first, second),
        )  # fmt: skip

    def name(self, children):
        token = children[0]
        return Name(token.text, token.span)

    def number(self, children):
        token = children[0]
        text = token.text
        if len(text) > 400:
            self.fail(404, f"a number with {len(text)} digits is too long", token.span, hint="write it as a power")
        value = int(text) if text.isdecimal() else float(text)
        if value == math.inf:
            self.fail(
                404,
                "this number is larger than the largest floating-point number",
                token.span,
                hint=Hint("write ∞ for infinity", "∞"),
            )
        return Number(value, token.span)

    def simple(self, children):
        token = children[0]
        return self.number(children) if token.type == "NUMBER" else Name(token.text, token.span)

    def to_axis(self, node) -> Axis:
        axis = axis_of(node)
        if axis is None:
            self.fail(101, "expected an axis name", node.span)
        return axis

    def literal(self, children):
        rows = tuple(child for child in children if type(child) is LiteralRow)
        span = find_outer_span(children)
        if children[-1].text == "]_":
            return Bracket(rows, span)
        return replace(self.only_cell(rows, span), span=span)

    def row(self, children):
        return LiteralRow(nodes_among(children), find_outer_span(children))

    def only_cell(self, rows, span):
        if len(rows) == 1 and len(rows[0].cells) == 1:
            return rows[0].cells[0]
        before, after = self.source[span[0] - 1 : span[0]], self.source[span[1] : span[1] + 1]
        if before.isalnum() or before in ("'", "}"):
            self.refuse_python_index(span)
        if before == "[" or (before == "," and after == "]"):
            self.fail(
                113,
                "tensor literals cannot be nested: separate the rows with ;",
                span,
                hint="write [1, 2; 3, 4]_{rows, columns}",
            )
        axes = "{axis}" if len(rows) == 1 else "{rows, columns}"
        self.fail(113, "tensor literal without axis names", span, hint=f"add them as a subscript: […]_{axes}")

    def filled(self, bracket, items, span):
        """Build a literal from a bracket and the axes in its subscript."""
        axes = tuple(self.to_axis(item) for item in items)
        rows = bracket.rows
        for row in rows:
            if len(row.cells) != len(rows[0].cells):
                self.fail(
                    311, "the rows of this literal differ in length", row.span,
                    notes=(f"the first row has {_entries(rows[0])}, this one {len(row.cells)}",),
                    hint="give every row the same number of entries",
                )  # fmt: skip
        seen = set()
        for axis in axes:
            if axis.name in seen:
                self.fail(303, f"duplicate axis {axis.name}", axis.span, hint="give each axis its own name")
            seen.add(axis.name)
        if len(axes) > 2:
            self.fail(113, f"a tensor literal has one or two axes, got {len(axes)}", span)
        if len(axes) == 1 and len(rows) > 1:
            if len(rows[0].cells) > 1:
                self.fail(
                    113, f"{len(rows)} rows need two axes, got one", span,
                    hint=f"name the axes of the rows and the columns: _{{rows, {axes[0].name}}}",
                )  # fmt: skip
            rows = (LiteralRow(tuple(row.cells[0] for row in rows), bracket.span),)
        return nodes.Literal(tuple(row.cells for row in rows), axes, span)

    def refuse_python_index(self, span):
        """Raise NotationError for A[0], which is Python's index syntax.

        For E[x] and Var[x], which are common in statistics books, the hint suggests an expectation or a variance.
        """
        average = "name the random variable: 𝔼_{x ∼ N(0, 1)}[x]; an average over an axis is mean_{axis} X"
        variance = "a variance over an axis is var_{axis} X; of a random variable it is 𝔼[(x − 𝔼[x])^2]"
        if VARIANCE.search(self.source[: span[0]]):
            self.fail(101, "an index needs an axis name, in a subscript", span, hint=variance)
        self.fail(
            101, "an index needs an axis name, in a subscript", span,
            hint=average if EXPECTATION.search(self.source[: span[0]]) else "write X_{axis(1)}, where indices start at 1; for a product write X ⊙ […]",
        )  # fmt: skip


VARIANCE = re.compile(r"(?:^|\W)(?:Var|var|V|𝕍)\}?$")
EXPECTATION = re.compile(r"(?:^|\W)(?:E|𝔼|\\mathbb\{E\})$")


def _entries(row: LiteralRow) -> str:
    return f"{len(row.cells)} entr{'y' if len(row.cells) == 1 else 'ies'}"
