"""Inputs for the random tests of equivalence, proofs, assertions, exercises and functions.

Sampler({"X": {"n": 3}}).inputs(0, "ties")       X = [0, 0, 1]_{n}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from grammar import nodes
from grammar.printer import to_text

from .boundaries import BoundarySearch, Inputs, names_in
from .evaluate import evaluate
from .plain_values import PlainTensor, value_of
from .random_inputs import ORDINARY, REALS, NumberDomain, RandomInputs

Evaluate = Callable[[nodes.Program, Inputs], PlainTensor]


def value_on(program: nodes.Program, inputs: Inputs) -> PlainTensor:
    """Return the value of a program. Inputs that the program does not use are ignored."""
    used = names_in(program)
    given = {name: value.to_operand() for name, value in inputs.items() if name in used}
    return value_of(evaluate(to_text(program), given, syntax="text"))


class Sampler(NamedTuple):
    """A sampler of inputs with given shapes. Ordinary numbers are rounded to `digits` to keep counterexamples short."""

    shapes: Mapping[str, Mapping[str, int]]
    domains: Mapping[str, NumberDomain] = {}
    digits: int | None = None

    def inputs(self, seed: int, style: str) -> dict[str, PlainTensor]:
        """Return the inputs of one random test. They depend only on the seed and the style."""
        elements = RandomInputs(seed, style)
        result: dict[str, PlainTensor] = {}
        for name, shape in self.shapes.items():
            extent = tuple(shape.values())
            numbers = elements.elements(extent, self.domains.get(name, REALS))
            if self.digits is not None and style in ORDINARY:
                numbers = tuple(round(number, self.digits) for number in numbers)
            result[name] = PlainTensor(tuple(shape), extent, numbers)
        return result

    def boundary_inputs(
        self,
        seed: int,
        tree: nodes.Program,
        known: nodes.Program | None = None,
        value: Evaluate = value_on,
        is_exact: Callable[[float], bool] = lambda number: True,
    ) -> Iterator[dict[str, PlainTensor]]:
        """Yield inputs at the boundaries of `tree` that are not in `known`.

        Boundary numbers replace elements of ordinary inputs only if `is_exact` accepts them.
        """

        def allows(name: str, number: float) -> bool:
            return is_exact(number) and number in self.domains.get(name, REALS)

        ordinary, whole = (self.inputs(seed, style) for style in ("normal", "whole"))
        yield from BoundarySearch(ordinary, whole, value, allows).found(tree, known)
