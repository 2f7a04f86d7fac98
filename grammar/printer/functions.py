"""Functions with their arguments, literals and cases."""

from __future__ import annotations

from ..nodes import Name
from .pieces import OR, POSTFIXED, SUM, Piece
from .scripts import Scripts


class Functions(Scripts):
    def function(self, node):
        if node.operator == "‖":
            return (yield from self.norm(node))
        head = yield from self.head(node)
        arguments = yield from self.arguments(node)
        return Piece(head + self.round(arguments))

    def norm(self, node):
        """‖x‖, ‖x‖_1"""
        (operand,) = yield from self.each(node.arguments, SUM)
        below = yield from self.above(node.parameters)
        return Piece(self.bars(operand) + (f"_{self.braced(below)}" if below else ""), POSTFIXED)

    def bars(self, operand: str) -> str:
        return f"‖{operand}‖" if "‖" not in operand else f"‖({operand})‖"

    def head(self, node):
        """A function's name with its scripts. d( would begin a derivative."""
        below = yield from self.below(node.subscript)
        above = yield from self.above(node.superscript)
        scripts = (f"_{self.braced(below)}" if below else "") + (f"^{self.braced(above)}" if above else "")
        return "d " if node.operator == "d" and not scripts else self.word(node.operator) + scripts

    def arguments(self, node):
        ordinary = yield from self.listed(node.arguments, OR)
        parameters = yield from self.listed(node.parameters, OR)
        return ", ".join(ordinary) + ("; " + ", ".join(parameters) if parameters else "")

    def listed(self, parts, level: int):
        """The texts of parts that stand in brackets, where `in` is no ∈."""
        texts = yield from self.each(parts, level)
        return [self.word(part.text) if type(part) is Name else text for part, text in zip(parts, texts)]

    def size(self, node) -> Piece:
        return Piece(f"|{self.axis(node.axis).text}|")

    def literal(self, node):
        rows = yield from self.rows(node)
        axes = ", ".join(self.axis(axis).text for axis in node.axes)
        return Piece(f"[{'; '.join(', '.join(row) for row in rows)}]_{{{axes}}}", POSTFIXED)

    def rows(self, node):
        rows = []
        for row in node.rows:
            rows.append((yield from self.listed(row, SUM)))
        return rows

    def cases(self, node):
        branches = []
        for body, condition in node.branches:
            branches.append((yield from self.branch(body, condition)))
        return Piece(f"{{ {'; '.join(branches)} }}")

    def branch(self, body, condition):
        piece = yield from self.part(body, SUM, last=True)
        if condition is None:
            return f"{piece.text} otherwise"
        test = yield self.visit(condition)
        return f"{piece.text} if {test.text}"

    def indicator(self, node):
        condition = yield self.visit(node.condition)
        return Piece(self.signs["𝕀"] + self.square(condition.text))
