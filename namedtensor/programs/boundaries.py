"""Inputs at the boundaries of a formula, such as x = 0.5 for p > 0.5 and x = y for x > y.

A boundary is a pair of expressions, such as the sides of a comparison, the arguments of a maximum, or a denominator
and 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Name, Number
from grammar.printer import to_text

from ..scope.names import walk
from .conditions import POSITIVE, Conditions, head_of, inline, read_fraction
from .plain_values import PlainTensor, records
from .program_names import read_bars

Inputs = Mapping[str, PlainTensor]
COMPARISONS = ("<", "≤", ">", "≥", "=", "≠")
ZERO_OPERANDS = {  # functions that change or end at 0, and the position of the operand that is 0
    "/": 1, "frac": 1, **dict.fromkeys(("log", "ln", "sqrt", "abs", "relu", "sign"), 0),
}  # fmt: skip
JUMPS = {"round": (0.5, 1.5), "floor": (1,), "ceil": (1,)}
INVERTING = ("inv", "solve", "logdet")
ZERO = Number(0)
FILLS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, 1000.0, -1000.0)
OUTWEIGHED = -1000.0  # beside zeros at the first two positions: softmax is exactly 1/2 at both
BOUNDARY = "boundary"  # the style of tests at boundaries
MAX_BOUNDARIES = 24  # of a formula, each searched by a few evaluations
MAX_CONSTANTS = 64
ORDINARY = (1e-6, 1e4)  # magnitudes of constants that have random numbers on both sides
ASIDE = (1000, 0.001)  # the factors that give inputs on both sides of all other constants
MAX_BASE, MAX_EXPONENT = 1e6, 40  # of a power that is a constant
MAX_FILLED = 2  # inputs that are tried in turn
BISECTIONS = 60
NAMED = (Name, nodes.Subscript, nodes.Superscript)


class Boundary(NamedTuple):
    """A boundary: two expressions that can be equal, and the statements that these expressions may depend on."""

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
    """Return the boundaries in a program, without duplicates."""
    matches: dict[tuple[str, str], Boundary] = {}
    (tree,) = read_bars([tree])
    signs = Conditions(tree.statements)
    for at, statement in enumerate(tree.statements):
        if head_of(statement) in signs.functions:
            continue
        later = tuple(other for other in tree.statements[at + 1 :] if not isinstance(other, nodes.Value))
        for node in inline(statement, signs.functions):
            for left, right in _pairs(node, signs):
                boundary = Boundary(left, right, (*tree.statements[:at], *later))
                matches.setdefault(boundary.text, boundary)
    return [*matches.values()]


def _pairs(node: Any, signs: Conditions) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of expressions whose equality is a boundary of a node's operator.

    At the boundary, the operator changes its formula, jumps or becomes undefined.
    """
    if isinstance(node, nodes.Superscript):
        exponents = [number for part in node.components if (number := read_fraction(part)) is not None]
        if any(number < 0 or number.denominator > 1 for number in exponents) and signs.sign(node.base) != POSITIVE:
            yield node.base, ZERO
    if not isinstance(node, Call) or not node.arguments:
        return
    first, *others = node.arguments
    if node.operator in (*COMPARISONS, "max", "min") and len(others) == 1:
        yield first, others[0]
    elif node.operator == "clip":
        yield from ((first, bound) for bound in (*others, *node.parameters))
    elif node.operator in JUMPS:
        yield from ((first, Number(number)) for number in JUMPS[node.operator])
    elif node.operator in INVERTING:
        yield replace(node, operator="det", arguments=(first,)), ZERO
    elif node.operator in ZERO_OPERANDS:
        operand = node.arguments[ZERO_OPERANDS[node.operator]]
        if signs.sign(operand) != POSITIVE:
            yield operand, ZERO


def constants(tree: nodes.Program) -> list[float]:
    """Return the nonzero numbers that are one side of a boundary in a program, without duplicates."""
    sides = (side for boundary in boundaries(tree) for side in boundary.sides)
    return [*dict.fromkeys(number for side in sides if (number := _number(side)))]


def _number(node: Any) -> float | None:
    """Return the number that an expression stands for, such as −10^6.

    Return None if the expression is not a number, or a power whose base or exponent exceeds the limits.
    """
    if isinstance(node, Call) and node.operator == "negative":
        number = _number(node.arguments[0])
        return None if number is None else -number
    if isinstance(node, nodes.Superscript) and len(node.components) == 1:
        base, exponent = _number(node.base), _number(node.components[0])
        if base is None or exponent is None or not 0 < base < MAX_BASE or abs(exponent) > MAX_EXPONENT:
            return None
        return base**exponent
    number = read_fraction(node)
    return None if number is None else float(number)


class BoundarySearch(NamedTuple):
    """A search for inputs at the boundaries of formulas.

    `inputs` contains the inputs of an ordinary test, and `whole` contains inputs whose elements are small integers.
    `value` evaluates a program on inputs. `allows` returns whether an input's set contains a number.
    """

    inputs: Inputs
    whole: Inputs
    value: Callable[[nodes.Program, Inputs], PlainTensor]
    allows: Callable[[str, float], bool]

    def found(self, tree: nodes.Program, known: nodes.Program | None = None) -> Iterator[dict[str, PlainTensor]]:
        """Yield inputs that contain a constant of a program's boundaries, and then inputs at the other boundaries.

        Skip the constants and boundaries that the known program also has, and boundaries for which no inputs are found.
        """
        before = () if known is None else constants(known)
        for constant in [one for one in constants(tree) if one not in before][:MAX_CONSTANTS]:
            is_ordinary = ORDINARY[0] <= abs(constant) <= ORDINARY[1]
            for factor in (1,) if is_ordinary else (1, *ASIDE):
                yield {
                    name: self._partly(name, [factor * constant] * len(tensor.numbers))
                    for name, tensor in self.inputs.items()
                }
        texts = set() if known is None else {boundary.text for boundary in boundaries(known)}
        searched = (one for one in boundaries(tree) if one.text not in texts and not self._has_number_and_input(one))
        for boundary in itertools.islice(searched, MAX_BOUNDARIES):
            values = self._assign(boundary) or self._fill(boundary)
            if values is not None:
                yield values

    def _has_number_and_input(self, boundary: Boundary) -> bool:
        """Return whether a boundary equates an input with a number. Other tests cover such boundaries."""
        return any(
            _number(one) is not None and to_text(other) in self.inputs
            for one, other in (boundary.sides, boundary.sides[::-1])
        )

    def _partly(self, name: str, numbers: Sequence[float]) -> PlainTensor:
        """Replace every second element of an input by a number in `numbers`, if the input's set contains the number."""
        tensor = self.inputs[name]
        pairs = zip(records(tensor.extent), tensor.numbers, numbers)
        taken = (new if sum(record) % 2 == 0 and self.allows(name, new) else old for record, old, new in pairs)
        return replace(tensor, numbers=tuple(taken))

    def _assign(self, boundary: Boundary) -> dict[str, PlainTensor] | None:
        """Change the input on one side of a boundary so that every second element equals the element of the other side.

        Return all inputs, or None if no side is an input that is absent from the other side, or the other side has no
        value.
        """
        for side, other in (boundary.sides, boundary.sides[::-1]):
            name = to_text(side)
            if name not in self.inputs or name in names_in(other):
                continue
            zeros = Call("⊙", (), (), (ZERO, side))  # Sizes in `other`, such as |a|, come from this input.
            if (value := self._evaluate(boundary, Call("+", (), (), (other, zeros)), self.inputs)) is None:
                return None
            sizes = self.inputs[name].sizes
            numbers = value.first_along(sizes).broadcast_to(sizes).numbers
            return {**self.inputs, name: self._partly(name, numbers)}
        return None

    def _fill(self, boundary: Boundary) -> dict[str, PlainTensor] | None:
        """Fill one input with a number that makes both sides equal at some position.

        Also try an input whose first two positions outweigh all others. Return the inputs, or None if no input fits.
        """
        gap = Call("-", (), (), boundary.sides)
        names = [name for name in self.inputs if name in names_in(nodes.Program((*boundary.before, nodes.Value(gap))))]
        numbers = [number for node in walk(gap) if (number := _number(node))]
        for name in sorted(names, key=lambda name: name not in names_in(gap))[:MAX_FILLED]:
            tries = [number for number in dict.fromkeys((*FILLS, *numbers)) if self.allows(name, number)]
            pairs = [(0.0, OUTWEIGHED)] if self.allows(name, 0.0) and self.allows(name, OUTWEIGHED) else []
            seen: list[tuple[float, float]] = []
            for number, other in (*((number, number) for number in tries), *pairs):
                values = self._with_fill(name, number, other)
                gaps = self._evaluate(boundary, gap, values)
                if gaps is None:
                    return None
                if 0 in gaps.numbers:
                    return values
                if number == other:
                    seen.append((number, float(gaps.numbers[0]) if gaps.numbers else math.nan))
            if (number := self._bisect(boundary, gap, name, sorted(seen))) is not None:
                return self._with_fill(name, number)
        return None

    def _bisect(self, boundary: Boundary, gap: Any, name: str, seen: list[tuple[float, float]]) -> float | None:
        """Return a fill value for an input such that an element of `gap`, the difference of two sides, is 0.

        Bisection starts between two values in `seen` for which the first element has different signs. Return None if
        there are no such values, or no element becomes exactly 0.
        """
        ends = next(((a, b) for a, b in itertools.pairwise(seen) if a[1] * b[1] < 0), None)
        if ends is None:
            return None
        (low, sign), (high, _) = ends
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            gaps = self._evaluate(boundary, gap, self._with_fill(name, middle))
            if gaps is None:
                return None
            if 0 in gaps.numbers:
                return middle
            low, high = (middle, high) if float(gaps.numbers[0]) * sign > 0 else (low, middle)
        return None

    def _with_fill(self, name: str, number: float, other: float | None = None) -> dict[str, PlainTensor]:
        """Fill one input with `number`, or with `other` at all but its first positions, and return all inputs."""
        tensor, other = self.whole[name], number if other is None else other
        numbers = tuple(number if sum(record) < 2 else other for record in records(tensor.extent))
        return {**self.whole, name: replace(tensor, numbers=numbers)}

    def _evaluate(self, boundary: Boundary, expression: Any, values: Inputs) -> PlainTensor | None:
        """Return the value of an expression.

        Return None if the expression contains no names, or if its evaluation raises NotationError, for example because
        it depends on a function's parameter.
        """
        if not names_in(expression):
            return None
        try:
            return self.value(nodes.Program((*boundary.before, nodes.Value(expression))), values)
        except NotationError:
            return None


def names_in(node: Any) -> set[str]:
    """Return the source texts of all names in a tree."""
    return {to_text(part) for part in walk(node) if isinstance(part, NAMED)}
