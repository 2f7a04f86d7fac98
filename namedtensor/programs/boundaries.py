"""Inputs at the boundaries of a formula, such as x = 0.5 for p > 0.5 and x = y for x > y.

A boundary is a pair of expressions: the sides of a comparison, the arguments of a maximum, a denominator and 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Name, Number, Size
from grammar.printer import to_text

from ..scope.names import walk
from .plain_values import PlainTensor, records

Inputs = Mapping[str, PlainTensor]
COMPARISONS = ("<", "≤", ">", "≥", "=", "≠")
QUOTIENTS = ("/", "frac")
AT_ZERO = ("log", "sqrt", "abs", "relu", "sign")  # functions whose derivative or value changes at 0
ZERO = Number(0)
FILLS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0)
MAX_BOUNDARIES = 6  # of a formula, each searched by a few evaluations
MAX_CONSTANTS = 4
MAX_FILLED = 2  # inputs that are tried in turn
BISECTIONS = 60
NAMED = (Name, nodes.Subscript, nodes.Superscript)


class Boundary(NamedTuple):
    """Two expressions, and the statements that they may use."""

    left: Any
    right: Any
    before: tuple[Any, ...]

    @property
    def sides(self) -> tuple[Any, Any]:
        return self.left, self.right

    @property
    def text(self) -> tuple[str, str]:
        return to_text(self.left), to_text(self.right)


def boundaries(tree: nodes.Program) -> list[Boundary]:
    """Return the boundaries of a program, each once."""
    found: dict[tuple[str, str], Boundary] = {}
    for at, statement in enumerate(tree.statements):
        before = tree.statements[:at]
        for node in walk(statement):
            for left, right in _pairs(node):
                boundary = Boundary(left, right, before)
                found.setdefault(boundary.text, boundary)
    return [*found.values()]


def _pairs(node: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(node, nodes.Superscript) and any(_is_negative(part) for part in node.components):
        yield node.base, ZERO
    if not isinstance(node, Call) or not node.arguments:
        return
    first, *others = node.arguments
    if node.operator in (*COMPARISONS, "max", "min") and len(others) == 1:
        yield first, others[0]
    elif node.operator == "clip":
        yield from ((first, bound) for bound in (*others, *node.parameters))
    elif node.operator in QUOTIENTS and len(others) == 1 and not is_positive(others[0]):
        yield others[0], ZERO
    elif node.operator in AT_ZERO and not is_positive(first):
        yield first, ZERO


def _is_negative(node: Any) -> bool:
    return isinstance(node, Call) and node.operator == "negative"


def is_positive(node: Any) -> bool:
    """Return whether an expression is clearly positive: a number, a size, exp, and sums, means and products of these."""
    if isinstance(node, (Number, Size)):
        return isinstance(node, Size) or node.value > 0
    if isinstance(node, nodes.Superscript):
        return is_positive(node.base)
    if not isinstance(node, Call) or not node.arguments:
        return False
    if node.operator in ("exp", "softmax", "sigmoid", "σ", "softplus"):
        return True
    if node.operator == "+":
        one, two = node.arguments
        return any(is_positive(a) and (is_positive(b) or is_nonnegative(b)) for a, b in ((one, two), (two, one)))
    return node.operator in POSITIVE_OF_POSITIVE and all(map(is_positive, node.arguments))


POSITIVE_OF_POSITIVE = ("∑", "sum", "mean", "⊙", "juxtaposed", "/", "frac", "sqrt", "∏", "prod", "max", "min")


def is_nonnegative(node: Any) -> bool:
    """Return whether an expression is a square, an absolute value, or a sum or mean of these."""
    if isinstance(node, nodes.Superscript):
        return any(isinstance(part, Number) and part.value % 2 == 0 for part in node.components)
    if not isinstance(node, Call):
        return False
    if node.operator in ("abs", "norm", "relu", "var", "std", "sqrt"):
        return True
    return node.operator in ("∑", "sum", "mean") and all(map(is_nonnegative, node.arguments))


def constants(tree: nodes.Program) -> list[float]:
    """Return the numbers other than 0 that boundaries of a program have as a side."""
    sides = (side for boundary in boundaries(tree) for side in boundary.sides)
    return [*dict.fromkeys(number for side in sides if (number := _number(side)))]


def _number(node: Any) -> float | None:
    if isinstance(node, Call) and node.operator == "negative":
        inner = _number(node.arguments[0])
        return None if inner is None else -inner
    return float(node.value) if isinstance(node, Number) else None


class BoundarySearch(NamedTuple):
    """A search for inputs at the boundaries of formulas.

    `inputs` are those of an ordinary test, and `whole` small whole numbers. `value` evaluates a program on inputs, and
    `allows` returns whether a number lies in the set of an input.
    """

    inputs: Inputs
    whole: Inputs
    value: Callable[[nodes.Program, Inputs], PlainTensor]
    allows: Callable[[str, float], bool]

    def found(self, tree: nodes.Program, known: nodes.Program | None = None) -> Iterator[dict[str, PlainTensor]]:
        """Yield inputs at each boundary of a program that another, known one lacks."""
        before = () if known is None else constants(known)
        for number in [one for one in constants(tree) if one not in before][:MAX_CONSTANTS]:
            yield {name: self._partly(name, [number] * len(tensor.numbers)) for name, tensor in self.inputs.items()}
        texts = set() if known is None else {boundary.text for boundary in boundaries(known)}
        searched = (one for one in boundaries(tree) if one.text not in texts and not self._has_number_and_input(one))
        for boundary in itertools.islice(searched, MAX_BOUNDARIES):
            values = self._assigned(boundary) or self._filled(boundary)
            if values is not None:
                yield values

    def _has_number_and_input(self, boundary: Boundary) -> bool:
        """Return whether tests of constants, or of zeros, include the boundary."""
        return any(
            _number(one) is not None and to_text(other) in self.inputs
            for one, other in (boundary.sides, boundary.sides[::-1])
        )

    def _partly(self, name: str, numbers: Sequence[float]) -> PlainTensor:
        """Return an input with every other element replaced, as far as its set allows."""
        tensor = self.inputs[name]
        pairs = zip(records(tensor.extent), tensor.numbers, numbers)
        taken = (new if sum(record) % 2 == 0 and self.allows(name, new) else old for record, old, new in pairs)
        return replace(tensor, numbers=tuple(taken))

    def _assigned(self, boundary: Boundary) -> dict[str, PlainTensor] | None:
        """Return inputs with one side, which is an input, equal to the other side."""
        for side, other in (boundary.sides, boundary.sides[::-1]):
            name = to_text(side)
            if name not in self.inputs or name in names_in(other):
                continue
            if (value := self._evaluated(boundary, other, self.inputs)) is None:
                return None
            sizes = self.inputs[name].sizes
            numbers = value.first_along(sizes).broadcast_to(sizes).numbers
            return {**self.inputs, name: self._partly(name, numbers)}
        return None

    def _filled(self, boundary: Boundary) -> dict[str, PlainTensor] | None:
        """Return inputs with one input constant, if an element of both sides is then equal."""
        gap = Call("-", (), (), boundary.sides)
        names = [name for name in self.inputs if name in names_in(nodes.Program((*boundary.before, nodes.Value(gap))))]
        numbers = [number for node in walk(gap) if (number := _number(node))]
        for name in sorted(names, key=lambda name: name not in names_in(gap))[:MAX_FILLED]:
            tries = [number for number in dict.fromkeys((*FILLS, *numbers)) if self.allows(name, number)]
            seen: list[tuple[float, float]] = []
            for number in tries:
                values = self._with_fill(name, number)
                gaps = self._evaluated(boundary, gap, values)
                if gaps is None:
                    return None
                if 0 in gaps.numbers:
                    return values
                seen.append((number, float(gaps.numbers[0]) if gaps.numbers else math.nan))
            if (number := self._bisected(boundary, gap, name, sorted(seen))) is not None:
                return self._with_fill(name, number)
        return None

    def _bisected(self, boundary: Boundary, gap: Any, name: str, seen: list[tuple[float, float]]) -> float | None:
        """Return a number that makes the first element of a gap 0, between two numbers with unlike signs."""
        ends = next(((a, b) for a, b in itertools.pairwise(seen) if a[1] * b[1] < 0), None)
        if ends is None:
            return None
        (low, sign), (high, _) = ends
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            gaps = self._evaluated(boundary, gap, self._with_fill(name, middle))
            if gaps is None:
                return None
            if 0 in gaps.numbers:
                return middle
            low, high = (middle, high) if float(gaps.numbers[0]) * sign > 0 else (low, middle)
        return None

    def _with_fill(self, name: str, number: float) -> dict[str, PlainTensor]:
        tensor = self.whole[name]
        return {**self.whole, name: replace(tensor, numbers=(number,) * len(tensor.numbers))}

    def _evaluated(self, boundary: Boundary, expression: Any, values: Inputs) -> PlainTensor | None:
        """Return the value of an expression; None if it has none by itself, as of a function's parameter."""
        if not names_in(expression):
            return None
        try:
            return self.value(nodes.Program((*boundary.before, nodes.Value(expression))), values)
        except NotationError:
            return None


def names_in(node: Any) -> set[str]:
    """Return the texts of the names in a tree."""
    return {to_text(part) for part in walk(node) if isinstance(part, NAMED)}
