"""Printing of sets and statements, which completes the printer. There is one method per node type."""

from __future__ import annotations

from .. import nodes
from ..nodes import Call, Name, Number
from ..traversal import conjuncts
from .operators import FORMS, Operators
from .pieces import RELATION, SUM, Piece

# The sign of each set of numbers, and the relation to 0 below it.
NUMBERS = {"reals": ("ℝ", ""), "integers": ("ℤ", ""), "naturals": ("ℕ", "")}
NUMBERS |= {"positive": ("ℝ", ">"), "nonnegative": ("ℝ", "≥")}


class Text(Operators):
    """The text syntax. The ASCII and LaTeX printers override the methods that differ."""

    times = " × "  # between the axes of a shape
    braces = "{", "}"  # of a set of elements
    defining = "≜"  # of an equation that is not an assertion
    mark = ""  # before the relation of a statement: & in a table

    # ----------------------------------------------------------------------------------------------------------- sets
    def set(self, node):
        if node.domain in NUMBERS:
            sign, bound = NUMBERS[node.domain]
            domain = self.signs[sign] + (self.scripted("_", self.bound(bound), always=True) if bound else "")
        elif node.domain == "field":
            domain = node.elements[0].text
        else:
            elements = ",".join((yield from self.listed(node.elements, SUM)))
            opening, closing = self.braces if node.domain == "elements" else "[]"
            domain = opening + elements + closing
        return Piece((yield from self.shaped(domain, node.axes)))

    def bound(self, sign: str) -> str:
        """Return a bound such as >0, or in LaTeX \\geq 0."""
        shown = self.signs[sign]
        return f"{shown} 0" if shown[-1].isalpha() else f"{shown}0"

    def shaped(self, domain: str, axes):
        """Print a set or a distribution with its axes."""
        sized = yield from self.gathered(self.sized(axis, size) for axis, size in axes)
        return domain + (self.scripted("^", self.times.join(sized), always=True) if sized else "")

    def sized(self, axis, size):
        text = self.axis(axis).text
        return text if size is None else text + self.square((yield from self.tight(size, SUM)))

    def range(self, node):
        texts = []
        for over in node.each:
            first, last = yield from self.each((over.first, over.last), SUM)
            variable = self.word(over.variable.text)
            if over.down:
                second = nodes.Call("-", (), (), (over.first, Number(1)))
                if type(over.first) is Number:
                    second = Number(over.first.value - 1)
                following = yield from self.tight(second, SUM)
                first = f"{first}, {following}"
            texts.append(f" {self.signs['for']} {variable} = {first}, {self.signs['…']}, {last}")
        return Piece("".join(texts))

    # ----------------------------------------------------------------------------------------------------- statements
    def value(self, node):
        piece = yield from self.part(node.body, SUM, last=True)
        return Piece(self.mark + piece.text)

    def equation(self, node):
        if type(node.sides[-1]) is nodes.Draw:
            (head,) = yield from self.sides(node.sides[:1])
            result = yield from self.distribution(node.sides[-1])
            return (yield from self.statement(f"{head} {self.mark}{self.signs['∼']} {result}", node))
        first, *others = yield from self.sides(node.sides)
        sign = self.defining if node.defines else "="
        return (yield from self.statement(f"{first} {self.mark}{sign} {' = '.join(others)}", node))

    def update(self, node):
        target, body = yield from self.each((node.target, node.body), SUM)
        return Piece(f"{target} {self.mark}{self.signs['←']} {body}")

    def fact(self, node):
        """Print an assumption, with brackets if its first sign could join it to the previous line."""
        piece = yield self.visit(node.condition)
        text = piece.text
        if text.startswith("-"):
            first = yield from self.part(conjuncts(node.condition)[0].arguments[0], SUM, last=True)
            text = self.round(first.text) + text.removeprefix(first.text)
        return Piece(self.mark + text)

    def declaration(self, node):
        names = yield from self.sides(node.names)
        return (yield from self.statement(", ".join(names), node, self.mark))

    def sides(self, sides):
        """Print the sides of an equation. The first side must not join the previous line or look like another head."""
        texts = []
        for side in sides:
            nearly = type(side) is Call and FORMS.get(side.operator) == "nearly"
            texts += yield from self.each((side,), RELATION if nearly else SUM)
        if texts[0].startswith("-") or _like_a_head(sides[0]):
            texts[0] = self.round(texts[0])
        return texts

    def statement(self, text: str, node, mark: str = ""):
        """Print the end of an equation or declaration, such as ∈ ℝ^{a} for t = 1, …, n."""
        for position, member in enumerate(node.sets):
            piece = yield self.visit(member)
            text += f" = {piece.text}" if position else f" {mark}{self.signs['∈']} {piece.text}"
        if node.range is None:
            return Piece(text)
        piece = yield self.visit(node.range)
        return Piece(text + piece.text)

    def signature(self, node):
        head = yield from self.defined(node.head)
        sets = []
        for member in (*node.domain, node.codomain):
            piece = yield self.visit(member)
            sets.append(piece.text)
        domain = f" {self.signs['×']} ".join(sets[:-1])
        return Piece(f"{head} {self.signs[':']} {domain} {self.mark}{self.signs['→']} {sets[-1]}")

    def defined(self, node):
        """Print the function or operator that a signature declares."""
        if FORMS.get(node.operator) == "product":
            return (yield from self.infix(node))
        if FORMS.get(node.operator) == "big":
            return self.big_sign(node.operator, (yield from self.below(node.subscript)))
        if node.operator == "→":
            old, new = (self.axis_word(axis.text) for axis in node.subscript)
            return f"[]_{{{old}{self.signs['→']}{new}}}"
        return (yield from self.head(node)).strip()

    def imports(self, node) -> Piece:
        """Print from "attention.nt" import Attention, in text and in ASCII. LaTeX does not have imports."""
        names = [
            self.word(name.text) + ("" if alias.text == name.text else f" as {self.word(alias.text)}")
            for name, alias in node.names
        ]
        return Piece(f'{self.mark}from "{node.path}" import {", ".join(names)}')

    def ellipsis(self, node) -> Piece:
        return Piece(self.mark + self.signs["⋮"])

    def program(self, node):
        lines = []
        for statement in node.statements:
            piece = yield self.visit(statement)
            text = piece.text.removeprefix(self.mark)
            joins = lines and text.startswith("-")  # the line before
            lines.append(self.mark + self.round(text) if joins else piece.text)
        return Piece(self.joined(lines))

    def joined(self, lines: list[str]) -> str:
        return "\n".join(lines)


def _like_a_head(node) -> bool:
    """Return whether `node` is a product of two names. To the left of =, as in f X = …, it would define a function."""
    return type(node) is Call and node.operator == "juxtaposed" and all(map(_is_name, node.arguments))


def _is_name(node) -> bool:
    while hasattr(node, "base"):
        node = node.base
    return type(node) is Name
