"""Lay out sets and statements in text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import nodes
from ..nodes import Axis, Call, Name, Number
from ..traversal import conjuncts
from .boxes import RELATION, SUM, Box, Part, begins, separate
from .operators import LOOSE, PRODUCTS, OperatorLayout, is_call

# For each set of numbers, its sign and the relation to 0 in its subscript.
NUMBERS = {"reals": ("ℝ", ""), "integers": ("ℤ", ""), "naturals": ("ℕ", "")}
NUMBERS |= {"positive": ("ℝ", ">"), "nonnegative": ("ℝ", "≥")}


class TextLayout(OperatorLayout):
    """The complete layout in text, including sets and statements."""

    # ----------------------------------------------------------------------------------------------------------- sets
    def shape(self, domain: Part, axes: Iterable[tuple[Axis, Any]]) -> Box:
        """Return the box of a set or a distribution with its axes."""
        sized = [Box((self.box_of(axis), self.square(self.tight(size, SUM)) if size else "")) for axis, size in axes]
        above = self.script("^", Box(separate(sized, self.signs[" × "])), always=True) if sized else ""
        return Box((domain, above))

    def set(self, node) -> Box:
        if node.domain in NUMBERS:
            sign, bound = NUMBERS[node.domain]
            relation = self.signs.get(bound, "")
            below = f"{relation} 0" if relation[-1:].isalpha() else f"{relation}0"  # \geq 0, >0
            return self.shape(Box((self.signs[sign], self.script("_", below, always=True) if bound else "")), node.axes)
        if node.domain == "field":
            return self.shape(node.elements[0].text, node.axes)
        opening, closing = (self.signs["{"], self.signs["}"]) if node.domain == "elements" else "[]"
        elements = Box(separate(self.list_parts(node.elements, SUM), ","))
        return self.shape(Box((opening, elements, closing)), node.axes)

    def range(self, node) -> Box:
        parts: list[Part] = []
        for over in node.each:
            first, last = self.each((over.first, over.last), SUM)
            if over.down:
                is_number = type(over.first) is Number
                second = Number(over.first.value - 1) if is_number else Call("-", (), (), (over.first, Number(1)))
                first = Box((first, ", ", self.tight(second, SUM)))
            bounds = Box((first, f", {self.signs['…']}, ", last))
            parts += [self.operator(self.signs["for"], LOOSE), self.word(over.variable.text), " = ", bounds]
        return Box(parts)

    # ----------------------------------------------------------------------------------------------------- statements
    def align(self) -> Box:
        return Box((self.mark,), kind="align")

    def relate(self, sign: str) -> Box:
        """Return the box of the sign before a set in a statement, preceded by an alignment mark."""
        return Box((" ", self.align(), Box((f"{self.signs[sign]} ",), kind="operator", data=LOOSE)))

    def value(self, node) -> Box:
        return Box((self.align(), self.part(node.body, SUM, last=True)))

    def equation(self, node) -> Box:
        if type(node.sides[-1]) is nodes.Draw:
            (head,) = self.sides(node.sides[:1])
            return self.statement([head, self.relate("∼"), self.distribution(node.sides[-1])], node)
        first, *others = self.sides(node.sides)
        sign = "≜" if node.defines else "="
        return self.statement([first, self.relate(sign), *self.chain(others, "=", LOOSE)], node)

    def chain(self, parts: list[Part], sign: str, looseness: int) -> list[Part]:
        """Return the parts with an operator between adjacent parts."""
        return [item for part in parts for item in (self.operator(self.signs[sign], looseness), part)][1:]

    def update(self, node) -> Box:
        target, body = self.each((node.target, node.body), SUM)
        return Box((target, self.relate("←"), body))

    def fact(self, node) -> Box:
        """Return the box of a comparison, with brackets around a first side that begins with a minus sign.

        Without brackets, the minus sign would join the side to the previous line.
        """
        box = self.box_of(node.condition)
        if begins(box, "-"):
            box = self.bracket_first(box, self.box_of(conjuncts(node.condition)[0].arguments[0]))
        return Box((self.align(), box))

    def bracket_first(self, box: Any, side: Box) -> Box:
        """Return the box of a condition with brackets around its first side."""
        return self.round(box) if box is side else Box((self.bracket_first(box.parts[0], side), *box.parts[1:]))

    def declaration(self, node) -> Box:
        return self.statement(separate(self.sides(node.names), ", "), node, is_aligned=True)

    def sides(self, sides: tuple[Any, ...]) -> list[Part]:
        """Return the boxes of an equation's sides.

        Bracket the first side if it could continue the previous line or define a function.
        """
        boxes: list[Part] = [self.part(side, RELATION if is_call(side, "nearly") else SUM, last=True) for side in sides]
        if begins(boxes[0], "-") or _is_like_a_head(sides[0]):
            boxes[0] = self.round(boxes[0])
        return boxes

    def statement(self, parts: list[Part], node: Any, is_aligned: bool = False) -> Box:
        """Return the box of an equation or declaration with its sets and range, such as ∈ ℝ^{a} for t = 1, …, n."""
        sign = "∈"
        for member in node.sets:
            parts += [self.relate(sign) if is_aligned else self.operator(self.signs[sign], LOOSE), self.box_of(member)]
            sign, is_aligned = "=", False
        return Box([*parts, self.box_of(node.range)] if node.range else parts)

    def signature(self, node) -> Box:
        colon = f" {self.signs[':']} "
        domain = self.chain([self.box_of(member) for member in node.domain], "×", PRODUCTS)
        return Box((self.signature_head(node.head), colon, *domain, self.relate("→"), self.box_of(node.codomain)))

    def imports(self, node) -> Box:
        """Return the box of an import, such as from "attention.nt" import Attention. LaTeX has no imports."""
        names = [
            Box((self.word(name.text), *(() if alias.text == name.text else (" as ", self.word(alias.text)))))
            for name, alias in node.names
        ]
        return Box((self.align(), f'from "{node.path}" import ', *separate(names, ", ")))

    def ellipsis(self, node) -> Box:
        return Box((self.align(), self.signs["⋮"]))

    def program(self, node) -> Box:
        return self.lines([self.line(node, position) for position in range(len(node.statements))])

    def line(self, program: Any, position: int) -> Box:
        """Return the box of a statement, in brackets if it could continue the previous line."""
        box = self.box_of(program.statements[position])
        if position and begins(box, "-"):
            return Box((self.align(), self.round(Box(box.parts[1:]))))
        return box

    def lines(self, lines: list[Box]) -> Box:
        return Box(separate(lines, "\n"))


def _is_like_a_head(node: Any) -> bool:
    """Return whether `node` is a product of two names. To the left of =, as in f X = …, it would define a function."""
    return is_call(node, "juxtaposition") and all(map(is_name, node.arguments))


def is_name(node: Any) -> bool:
    while hasattr(node, "base"):
        node = node.base
    return type(node) is Name
