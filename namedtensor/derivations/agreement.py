"""Compare a closed form with its derivative at random points, including points with ties and zeros.

At a tie of max, sort or abs, the derivative is the mean of the derivatives around the tie, but a closed form has only
one of these values. The closed form is correct if two conditions are true. It agrees with the derivative around the
tie, and its value at the tie is between the neighboring values. If the program has several operators with ties, a point
that violates only the second condition is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.printer import to_text

from ..core.settings import recursion_headroom
from ..core.warned import silent
from ..operators import REGISTRY
from ..operators.prelude import load_definitions
from ..programs.closeness import compare
from ..programs.program import Formula
from ..scope.names import walk
from .identification import DerivativeProgram
from .points import GENERIC, InputDraws, Values, format_tensor, input_draws
from .side_values import SideValues, align_sides

UNKNOWN_SIZE, DOES_NOT_HOLD = 309, 403
POINTS = 6  # The number of points at which a closed form must agree before the comparison ends.
LARGEST = 1e8  # Larger values count as undefined, since they are inaccurate next to a singular point.
CLOSE = 1e-6  # The relative tolerance.
NEAR, NEIGHBORS, MAX_NEIGHBORS = 1e-4, 8, 64  # around a tie: distance, minimum and maximum number of points
SLOPE_CHANGE = 1e-2  # The largest difference between neighboring derivatives, relative to the largest number.
JUMPS = ("𝕀", "{ ", "arg", "sign", "where")  # Texts in a differential that indicate a jump.
UNCHECKED = "it was not compared with the derivative: no inputs were found for which both have a value"
UNEQUAL = "it has a value only for equal sizes"
HINT = "evaluate the derivative itself, which has a value"


class NoFormulaError(Exception):
    """Raised if a closed form or derivative is not a valid formula. For a closed form, the message gives the reason."""


@dataclass(frozen=True)
class Comparison:
    """A derivative, and its closed form as a program."""

    typed: DerivativeProgram
    closed: nodes.Program

    def __call__(self) -> str:
        """Compare both sides. Return "" if the comparison is complete, or else a sentence about its limits.

        A comparison is incomplete if the sides have a value only for equal sizes, or at no point.

        Raise NotationError if the sides differ, or if the closed form has no value.
        """
        problem = ""
        with recursion_headroom(self.typed.source), silent():
            for draws in self.draws():
                try:
                    if self.agree(draws):
                        return f"{UNEQUAL}: {problem}" if problem else ""
                except NoFormulaError as error:
                    problem = problem or str(error)
        if problem:
            raise self.refusal(f"has no value: {problem}")
        return UNCHECKED

    def draws(self) -> Iterator[InputDraws]:
        try:
            yield from input_draws(self.typed)
        except NotationError:
            return

    @cached_property
    def programs(self) -> tuple[Formula, Formula]:
        """Return the derivative and its closed form as formulas."""
        return Formula(to_text(self.typed.tree)), Formula(to_text(self.closed))

    def agree(self, draws: InputDraws) -> bool:
        """Return whether both sides agree at one of these points.

        Raise NotationError if the sides differ at a point, or if the closed form has no finite value at several points
        where the derivative has one. Raise NoFormulaError if a side cannot be evaluated.
        """
        counted = lost = 0
        for style, values in draws.points():
            pair = self.at(draws, values)
            if pair is None:
                continue
            defined = [is_defined(side) for side in pair.sides]
            lost += defined == [True, False] and style in GENERIC
            agrees = (agree_at(pair) or self.tie(draws, values, pair)) if all(defined) else None
            if agrees is False:
                where = ", ".join(f"{name} = {format_tensor(of)}" for name, of in values.items())
                raise self.refusal(f"differs from the derivative{f' where {where}' if where else ''}")
            counted += agrees is True
            if counted == POINTS:
                break
        if not counted and lost > 1:
            raise self.refusal("has no finite value where the derivative has one")
        return counted > 0

    def refusal(self, reason: str) -> NotationError:
        message = f"no closed form is known for this: the one that was computed {reason}"
        return NotationError(405, message, self.typed.source, self.typed.tree.statements[-1].span, hint=HINT)

    def at(self, draws: InputDraws, values: Values) -> SideValues | None:
        """Return both values at a point, or None if one of them is undefined.

        Raise NoFormulaError if the derivative or the closed form cannot be evaluated as a formula.
        """
        derivative, closed = self.programs
        try:
            expected = derivative(values=values, sizes=draws.sizes or None)
        except NotationError as problem:
            if problem.kind != "value":
                raise NoFormulaError from None
            return None
        words = {getattr(node, "text", getattr(node, "name", None)) for node in walk(self.closed)}
        sizes = {name: size for name, size in draws.sizes.items() if name in words}
        try:
            try:
                result = closed(values=values, sizes=sizes or None)
            except NotationError as problem:
                if problem.code != UNKNOWN_SIZE:  # of an axis of inputs that the closed form does not use
                    raise
                result = closed(values=values, sizes={**expected.sizes, **sizes})
        except NotationError as problem:
            if problem.kind != "value" or problem.code == DOES_NOT_HOLD:  # The assertions of the program raise this.
                raise NoFormulaError(problem.message) from None
            return None
        return align_sides(self.programs, (expected, result), values, draws.sizes)

    def near(self, draws: InputDraws, values: Values, distance: float) -> tuple[Values, SideValues] | None:
        """Return a point at about this distance from `values`, and both sides at this point.

        Return None if no such point is found, or if a side is undefined there.
        """
        near = draws.near(values, distance)
        pair = None if near is None else self.at(draws, near)
        if near is None or pair is None or not all(map(is_defined, pair.sides)):
            return None
        return near, pair

    def tie(self, draws: InputDraws, values: Values, pair: SideValues) -> bool | None:
        """Return whether a tie explains a difference at a point.

        A tie explains the difference if both sides agree around the point, and the closed form at the point is between
        the neighboring values. Return None if the point is so close to a singular point that the derivative is
        inaccurate, or if no neighboring point can be evaluated. Also return None if the program has several operators
        with ties, because the closed form and the derivative may then both be outside this range.
        """
        derivatives: list[Sequence[float]] = []
        for number in range(1, MAX_NEIGHBORS + 1):
            neighbor = self.near(draws, values, NEAR)
            if neighbor is not None and not agree_at(neighbor[1]):
                return False if self.is_stable(draws, *neighbor) else None
            derivatives += [] if neighbor is None else [neighbor[1].sides[0]]
            if number >= NEIGHBORS and derivatives:
                room = slope_change(pair)
                around = zip(pair.sides[1], zip(*derivatives))
                if all(min(slopes) - room <= value <= max(slopes) + room for value, slopes in around):
                    return True
        return False if derivatives and sum(map(has_ties, walk(self.typed.tree))) <= 1 else None

    def is_stable(self, draws: InputDraws, values: Values, pair: SideValues) -> bool:
        """Return whether the derivative changes only slightly between a point and a neighboring point."""
        neighbor = self.near(draws, values, NEAR**2)
        if neighbor is None:
            return False
        slopes = zip(pair.sides[0], neighbor[1].sides[0])
        return all(abs(one - other) <= slope_change(pair) for one, other in slopes)


def is_defined(side: Sequence[float]) -> bool:
    return all(abs(number) < LARGEST for number in side)


def agree_at(pair: SideValues) -> bool:
    derivative, closed = pair.sides
    return not any(compare(derivative, closed, pair.magnitudes, CLOSE))


def slope_change(pair: SideValues) -> float:
    """Return the largest acceptable difference between the derivatives at neighboring points."""
    return SLOPE_CHANGE * max(1.0, *(abs(number) for side in pair.sides for number in side))


def has_ties(node: Any) -> bool:
    """Return whether a node is an operator with a derivative that can jump, such as max, abs or cases."""
    return isinstance(node, (nodes.Cases, nodes.Indicator)) or can_jump(getattr(node, "operator", ""))


@lru_cache(maxsize=256)
def can_jump(operator: str) -> bool:
    """Return whether the derivative of an operator can jump, according to its differentials or its definition."""
    if operator not in REGISTRY:
        return False
    texts = REGISTRY[operator].differentials
    if not texts and operator in load_definitions():
        texts = (load_definitions()[operator].body,)
        names = {word.rstrip("_") for word in re.findall(r"[a-z]\w*", texts[0])}
        if any(map(can_jump, names - {operator})):
            return True
    return any(word in text for text in texts for word in JUMPS)
