"""Sizes solved: what is |ax| here, and what is n in seq[n]?

Each frame knows the axes of its arguments; beyond that there are facts: `|key| = |layer|/|heads|`, the declaration
`W ∈ ℝ^{layer[n_1]}` of a tensor that is given. To find an unknown, take a fact that holds it once, compute the rest,
and undo the arithmetic around it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Node, Number, Size

from .frames import Conflict, Frame
from .names import Key, spelled, walk
from .scope import SizeFact
from .sizes import Unknown, agree, is_known, known

if TYPE_CHECKING:
    from .check import Checker

Symbol = tuple  # ("size", axis) or ("scalar", Key)


class Solver:
    def __init__(self, checker: Checker):
        self.checker = checker
        self.declared: list[tuple[SizeFact, Frame]] = []
        self.busy: set = set()

    # ------------------------------------------------------------------------------------------------------ symbols
    def size(self, axis: str, frame: Frame, node: Any = None) -> Any:
        """|axis| in this frame, or None where nothing fixes it. Raises where it is two things at once."""
        total: Any = 1
        for name in frame.real_axes(axis):
            found = self.find(("size", name), frame, node)
            if found is None:
                return None
            total = found if total == 1 else total * found
        return total

    def scalar(self, key: Key, frame: Frame, node: Any = None) -> Any:
        return self.find(("scalar", key), frame, node)

    def find(self, symbol: Symbol, frame: Frame, node: Any) -> Any:
        marker = (symbol, id(frame))
        if marker in self.busy:
            return None
        self.busy.add(marker)
        try:
            return self._find(symbol, frame, node)
        finally:
            self.busy.discard(marker)

    def _find(self, symbol: Symbol, frame: Frame, node: Any) -> Any:
        current: Frame | None = frame
        while current is not None:
            found = self.direct(symbol, current, node)
            if found is not None:
                return found
            own = current.function.sizes if current.function is not None else []
            found = self.by_facts(symbol, [(fact, current) for fact in own], node)
            if found is None and current.parent is not None and current.sizes:
                stated = [(fact, current) for fact in self.checker.scope.sizes if self.speaks_of(fact, current, symbol)]
                found = self.by_facts(symbol, stated, node)
            if found is not None:
                return found
            current = current.sizes_parent or self.named_by_caller(symbol, current) or current.parent
        stated = [(fact, frame) for fact in self.checker.scope.sizes] + self.declared
        found = self.by_facts(symbol, stated, node)
        return found if found is not None else self.bracketed(symbol, frame)

    def named_by_caller(self, symbol: Symbol, frame: Frame) -> Frame | None:
        """An axis that the use of a function names is one of the caller's: its size is known there."""
        if symbol[0] == "size" and any(symbol[1] in axes for axes in frame.axes.values()):
            return frame.caller
        return None

    def bracketed(self, symbol: Symbol, frame: Frame) -> Any:
        """The size that a declaration of a defined name says: D ∈ ℝ^{seq[5]}."""
        for _, _, sets, _ in self.checker.scope.declarations:
            for axis, size in (pair for each in sets for pair in each.axes):
                if size is not None and symbol == ("size", axis.name):
                    found = self.value(size, frame)
                    if found is not None:
                        return found
        return None

    def speaks_of(self, fact: SizeFact, frame: Frame, symbol: Symbol) -> bool:
        sides = [fact.left] + ([fact.right] if not isinstance(fact.right, int) else [])
        axes = {node.axis.name for side in sides for node in walk(side) if isinstance(node, Size)}
        return any(axis in frame.sizes and ("size", axis) != symbol for axis in axes)

    def direct(self, symbol: Symbol, frame: Frame, node: Any) -> Any:
        kind, name = symbol
        if kind == "scalar":
            found = frame.scalars.get(name)
            if found is None and name in frame.variables:
                found = frame.variables[name].number
            if found is None and not name[1] + name[2]:
                found = frame.indices.get(name.base)
            return int(found) if isinstance(found, str) and found.isdecimal() else found
        found = frame.sizes.get(name)
        if isinstance(found, Conflict):
            sources = "; ".join(f"{known(size)} in {source}" for source, size in found.sources[:3])
            raise self.checker.error(
                302,
                f"|{name}| is asked for, and {name} has several sizes here",
                node,
                notes=(f"{name} is {sources.replace('; ', ', ')}",),
                hint="rename one of the two axes, so that each size has a name",
            )
        return found

    # -------------------------------------------------------------------------------------------------------- facts
    def by_facts(self, symbol: Symbol, facts: list[tuple[SizeFact, Frame]], node: Any) -> Any:
        for fact, frame in facts:
            for side, other in ((fact.left, fact.right), (fact.right, fact.left)):
                if isinstance(side, int) or self.count(side, symbol, frame) != 1:
                    continue
                if not isinstance(other, int) and self.count(other, symbol, frame):
                    continue
                value = other if isinstance(other, int) else self.value(other, frame)
                if value is None:
                    continue
                solved = self.isolate(side, symbol, value, frame)
                if solved is not None:
                    return self.whole(solved, symbol, fact)
        return None

    def settle(self) -> None:
        """Give each size that stayed unknown at top level what the stated facts say of it."""
        top = self.checker.top
        facts = [*self.checker.scope.sizes, *(f for each in self.checker.scope.all_functions() for f in each.sizes)]
        stated = [(fact, top) for fact in facts]
        waiting = [axis for axis, size in top.sizes.items() if isinstance(known(size), Unknown)]
        before = len(waiting) + 1
        while len(waiting) < before:
            before = len(waiting)
            for axis in waiting:
                found = self.by_facts(("size", axis), stated, None)
                if found is not None and is_known(found):
                    agree(top.sizes[axis], known(found))
            waiting = [axis for axis in waiting if not is_known(top.sizes[axis])]

    def whole(self, value: Any, symbol: Symbol, fact: SizeFact) -> Any:
        if isinstance(value, Unknown):
            return value
        if value != int(value) or value < 0:
            name = f"|{symbol[1]}|" if symbol[0] == "size" else str(symbol[1])
            text = self.checker.scope.source[fact.span[0] : fact.span[1]]
            raise self.checker.error(
                310,
                f"{name} would be {Fraction(value)}, and a size is a whole number",
                fact.span,
                notes=(f"the formula says {text}",),
                hint="give sizes that divide",
            )
        return int(value)

    def symbol_of(self, node: Node, frame: Frame) -> Symbol | None:
        if isinstance(node, Size):
            real = frame.real_axes(node.axis.name)
            return ("size", real[0]) if len(real) == 1 else None
        name = spelled(node)
        return None if name is None else ("scalar", name.key(frame.index))

    def count(self, node: Node, symbol: Symbol, frame: Frame) -> int:
        if self.symbol_of(node, frame) == symbol:
            return 1
        if isinstance(node, Call):
            return sum(self.count(argument, symbol, frame) for argument in node.arguments)
        if isinstance(node, nodes.Superscript) and spelled(node) is None:
            return self.count(node.base, symbol, frame)
        return 0

    def value(self, node: Node, frame: Frame) -> Any:
        """The number that a size expression stands for, or None where something in it is not known."""
        if isinstance(node, Number):
            return node.value
        symbol = self.symbol_of(node, frame)
        if isinstance(node, Size):
            return self.size(node.axis.name, frame, node)
        if symbol is not None:
            found = self.find(symbol, frame, node)
            if found is None:
                found = self.checker.number_named(symbol[1], frame)
            return found
        if isinstance(node, Call) and node.operator in ("+", "-", "⊙", "juxtaposed", "/", "negative"):
            values = [self.value(argument, frame) for argument in node.arguments]
            if any(value is None for value in values):
                return None
            return _compute(node.operator, values)
        if isinstance(node, nodes.Superscript) and len(node.components) == 1:
            base, exponent = self.value(node.base, frame), self.value(node.components[0], frame)
            if isinstance(base, int) and isinstance(exponent, int) and 0 <= exponent < 64:
                return base**exponent
        return None

    def isolate(self, node: Node, symbol: Symbol, value: Any, frame: Frame) -> Any:
        """What `symbol` must be for the expression to be `value`; None where that cannot be undone."""
        while self.symbol_of(node, frame) != symbol:
            if not isinstance(node, Call):
                return None
            if node.operator == "negative":
                node, value = node.arguments[0], -value
                continue
            if len(node.arguments) != 2:
                return None
            left, right = node.arguments
            in_left = self.count(left, symbol, frame) == 1
            other = self.value(right if in_left else left, frame)
            if other is None:
                return None
            value = _undo(node.operator, value, other, in_left)
            if value is None:
                return None
            node = left if in_left else right
        return value

    # ----------------------------------------------------------------------------------------------------- checking
    def check(self) -> None:
        """Raise where a stated size and a known one differ."""
        top = self.checker.top
        for fact, frame in [(fact, top) for fact in self.checker.scope.sizes] + self.declared:
            left = self.value(fact.left, frame)
            right = fact.right if isinstance(fact.right, int) else self.value(fact.right, frame)
            if left is None or right is None or not is_known(left) or not is_known(right):
                continue
            if known(left) == known(right):
                continue
            if Fraction(known(left)).denominator != 1 or Fraction(known(right)).denominator != 1:
                self.whole(known(right) if Fraction(known(left)).denominator == 1 else known(left), ("size", "…"), fact)
            text = self.checker.scope.source[fact.span[0] : fact.span[1]]
            notes = [f"the left side is {known(left)}, the right side {known(right)}"]
            if fact.text:
                raise self.declared_otherwise(fact, text, known(left), known(right))
            raise self.checker.error(
                308,
                f"{text} does not hold",
                fact.span,
                notes=notes,
                hint="change the statement, or give a tensor that fits",
            )

    def declared_otherwise(self, fact: SizeFact, text: str, stated: Any, actual: Any) -> NotationError:
        """The size in a declaration is not that of the tensor that is given."""
        return self.checker.error(
            308, f"{text} has the size {stated} in this declaration, and {actual} in the tensor that is given", fact.span,
            notes=[f"given: {fact.text}"], hint="change the declaration, or give a tensor that fits",
        )  # fmt: skip


def _compute(operator: str, values: list) -> Any:
    if operator == "negative":
        return -values[0]
    left, right = values
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "/":
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return left / right
        if right == 0:
            return None
        quotient = Fraction(left) / Fraction(right)
        return int(quotient) if quotient.denominator == 1 else quotient
    return left * right


def _undo(operator: str, value: Any, other: Any, in_left: bool) -> Any:
    if operator == "+":
        return value - other
    if operator == "-":
        return value + other if in_left else other - value
    if operator in ("⊙", "juxtaposed"):
        return None if other == 0 else _compute("/", [value, other])
    if operator == "/":
        if in_left:
            return value * other
        return None if value == 0 else _compute("/", [other, value])
    return None
