"""The values of indices: sums of multiples of variables, such as 2 i + m - 2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grammar import nodes


@dataclass(frozen=True)
class Affine:
    """A constant and a multiple of each variable, |seq| among them."""

    coefficients: Mapping[str, int]
    constant: int

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.coefficients)

    def at(self, values: Mapping[str, int]) -> int:
        """The value where the variables have these values."""
        return self.constant + sum(factor * values[name] for name, factor in self.coefficients.items())

    def plus(self, other: Affine, sign: int = 1) -> Affine:
        names = {**self.coefficients, **other.coefficients}
        sums = {name: self.coefficients.get(name, 0) + sign * other.coefficients.get(name, 0) for name in names}
        return Affine({name: factor for name, factor in sums.items() if factor}, self.constant + sign * other.constant)

    def times(self, factor: int) -> Affine:
        return Affine({name: factor * of for name, of in self.coefficients.items() if factor}, factor * self.constant)


def affine(node: Any, meanings: Mapping[str, Affine] | None = None) -> Affine | None:
    """A node as a sum of multiples of variables, or None; `meanings` are values of names."""
    known = meanings or {}
    if isinstance(node, nodes.Number):
        return Affine({}, node.value) if isinstance(node.value, int) else None
    if isinstance(node, nodes.Name):
        return known[node.text] if node.text in known else Affine({node.text: 1}, 0)
    if isinstance(node, nodes.Size):
        return Affine({f"|{node.axis.name}|": 1}, 0)
    if not isinstance(node, nodes.Call) or node.subscript or node.superscript or node.parameters:
        return None
    operands = [affine(argument, known) for argument in node.arguments]
    if any(operand is None for operand in operands):
        return None
    match node.operator, operands:
        case "+", [Affine() as left, Affine() as right]:
            return left.plus(right)
        case "-", [Affine() as left, Affine() as right]:
            return left.plus(right, -1)
        case "negative", [Affine() as only]:
            return only.times(-1)
        case (("juxtaposed" | "⊙"), [Affine() as left, Affine() as right]) if not left.names or not right.names:
            return right.times(left.constant) if not left.names else left.times(right.constant)
        case _:
            return None
