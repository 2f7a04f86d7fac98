"""The comparison of a closed form with its derivative at random points, including points with ties and zeros.

At a tie of max, sort or abs, the derivative is the mean of the derivatives around the tie, but a closed form has only
one of these values. The closed form is accepted if it agrees with the derivative around the tie, and if its value at
the tie lies between the neighboring values. At nested ties, only the first condition is required.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.printer import to_text

from ..core.settings import recursion_headroom
from ..core.tensor import tensor
from ..core.warned import silent
from ..operators import REGISTRY
from ..programs.claims import align_array
from ..programs.closeness import compare
from ..programs.program import Formula
from ..programs.term_values import magnitude_of
from ..scope.names import walk
from .points import GENERIC, InputDraws, Values, format_tensor, input_draws

UNKNOWN_SIZE, DOES_NOT_HOLD = 309, 403
POINTS = 6  # at which a closed form is compared
LARGEST = 1e8  # of a value: next to a singular point it is larger, and little of it is right
CLOSE = 1e-6  # of the larger number
NEAR, NEIGHBORS, MAX_NEIGHBORS = 1e-4, 8, 64  # the distance of the points around a tie, and how many of them
SLOPE_CHANGE = 1e-2  # of the largest number: by how much derivatives differ within that distance
JUMPS = ("𝕀", "{ ", "arg", "sign", "where")  # in a differential
UNCHECKED = "it was not compared with the derivative: no inputs were found for which both have a value"
UNEQUAL = "it has a value only for equal sizes"
HINT = "evaluate the derivative itself, which has a value"


class NoClosedValue(Exception):
    """The exception for a closed form that cannot be evaluated as a formula."""


class NoDerivative(Exception):
    """The exception for a derivative that cannot be evaluated as a formula for inputs of these sizes."""


class BothValues(NamedTuple):
    """The values of a derivative and of its closed form at one point, as arrays with the same order of axes."""

    derivative: Any
    closed: Any
    magnitudes: Callable[[], Sequence[float]]  # of the numbers that both are computed from

    @property
    def scale(self) -> float:
        import numpy as np

        return max(1.0, float(np.max(np.abs(self[:2]), initial=0.0)))

    @property
    def agrees(self) -> bool:
        derivative, closed = self.derivative.ravel().tolist(), self.closed.ravel().tolist()
        return not any(compare(derivative, closed, self.magnitudes, CLOSE))


@dataclass(frozen=True)
class Comparison:
    """A derivative and its closed form, as programs with the same inputs, and the shapes and sizes of these inputs."""

    source: str
    tree: nodes.Program
    shapes: Mapping[str, Mapping[str, Any]]
    sizes: Mapping[str, int]
    closed: nodes.Program

    def __call__(self) -> str:
        """Compare the two sides, and return "" or a sentence that explains why they could not be compared.

        Raises NotationError if the two sides differ.
        """
        problem = ""
        with recursion_headroom(self.source), silent():
            derivative, closed = Formula(to_text(self.tree)), Formula(to_text(self.closed))
            has_nested_ties = sum(map(has_ties, walk(self.tree))) > 1
            for draws in self.draws():
                try:
                    if self.agree(Sides(draws, derivative, closed, has_nested_ties)):
                        return f"{UNEQUAL}: {problem}" if problem else ""
                except NoClosedValue as error:
                    problem = problem or str(error)
        if problem:
            raise self.refusal(f"has no value: {problem}")
        return UNCHECKED

    def draws(self) -> Iterator[InputDraws]:
        try:
            yield from input_draws(self.source, self.tree, self.shapes, self.sizes)
        except NotationError:
            return

    def agree(self, sides: Sides) -> bool:
        """Return whether both sides agree at any of these points.

        Raises NotationError if the sides differ at a point, and NoClosedValue if the closed form cannot be evaluated.
        """
        counted = without_value = 0
        for kind, values in sides.draws.points():
            try:
                pair = sides.at(values)
                agrees = None if pair is None else pair.agrees or sides.tie(values, pair)
                if agrees is False:
                    where = ", ".join(f"{name} = {format_tensor(of)}" for name, of in values.items())
                    raise self.refusal(f"differs from the derivative{f' where {where}' if where else ''}")
            except NoDerivative:
                return False
            counted += agrees is True
            without_value += sides.is_lost and kind in GENERIC
            if counted == POINTS:
                break
        if not counted and without_value > 1:
            raise self.refusal("has no finite value where the derivative has one")
        return counted > 0

    def refusal(self, reason: str) -> NotationError:
        message = f"no closed form is known for this: the one that was computed {reason}"
        return NotationError(405, message, self.source, self.tree.statements[-1].span, hint=HINT)


def has_ties(node: Any) -> bool:
    """Return whether a node is an operator whose derivative jumps, such as max, abs or cases."""
    differentials = REGISTRY[node.operator].differentials if getattr(node, "operator", None) in REGISTRY else ()
    jumps = any(word in text for text in differentials or () for word in JUMPS)
    return jumps or isinstance(node, (nodes.Cases, nodes.Indicator))


@dataclass
class Sides:
    """A derivative and its closed form, as formulas that are evaluated on the same random inputs."""

    draws: InputDraws
    derivative: Formula
    closed: Formula
    has_nested_ties: bool = False
    is_lost: bool = False  # whether, at the last point, the derivative alone had a finite value

    def at(self, values: Values) -> BothValues | None:
        """Return both values at a point, or None if either is undefined.

        Raises NoDerivative or NoClosedValue if the derivative or the closed form cannot be evaluated as a formula.
        """
        import numpy as np

        self.is_lost, sizes = False, self.draws.sizes or None
        try:
            expected = self.derivative(values=values, sizes=sizes)
        except NotationError as problem:
            if problem.kind != "value":
                raise NoDerivative from None
            return None
        try:
            value = self.evaluate_closed_form(values, {axis: int(size) for axis, size in expected.sizes.items()})
        except NotationError as problem:
            if problem.kind != "value" or problem.code == DOES_NOT_HOLD:  # The assertions of the program raise this.
                raise NoClosedValue(problem.message) from None
            return None
        order = tuple(dict.fromkeys((*expected.axes, *value.axes)))
        arrays = (align_array(of.to_numpy(of.axes), of.axes, order) for of in (expected, value))
        derivative, closed = np.broadcast_arrays(*arrays)
        pair = BothValues(derivative, closed, lambda: self.magnitudes(values, order, derivative.shape))
        has_value = [bool(np.all(np.abs(side) < LARGEST)) for side in pair[:2]]
        self.is_lost = has_value == [True, False]
        return pair if all(has_value) else None

    def magnitudes(self, values: Values, order: tuple[str, ...], shape: tuple[int, ...]) -> Sequence[float]:
        """Return, for each element, the sum of the magnitudes of the numbers that both values are computed from.

        Numbers that cannot be computed are left out.
        """
        import numpy as np

        given = {name: tensor(value) for name, value in values.items()}
        total = np.zeros(shape)
        for program in (self.derivative, self.closed):
            try:
                value = magnitude_of(to_text(program.tree), given, self.draws.sizes or None)
            except NotationError:  # a size that only the derivative knows
                continue
            total = total + np.nan_to_num(align_array(value.to_numpy(value.axes), value.axes, order), posinf=0.0)
        return np.broadcast_to(total, shape).ravel().tolist()

    def evaluate_closed_form(self, values: Values, sizes: Mapping[str, int]) -> Any:
        """Return the value of the closed form. Sizes are passed only for the axes and names that it mentions."""
        spoken = {node.name if isinstance(node, nodes.Axis) else node.text for node in walk(self.closed.tree)
                  if isinstance(node, (nodes.Axis, nodes.Name))}  # fmt: skip
        known = {name: size for name, size in self.draws.sizes.items() if name in spoken}
        try:
            return self.closed(values=values, sizes=known or None)
        except NotationError as problem:
            if problem.code != UNKNOWN_SIZE:
                raise
        return self.closed(values=values, sizes={**sizes, **known})

    def tie(self, values: Values, pair: BothValues) -> bool | None:
        """Return whether a difference at a point is due to a tie.

        A tie explains the difference if both sides agree around the point, and the closed form lies between the values
        around it. The method returns None if the derivative is too close to a singular point to be computed. It also
        returns None if tied values contain further ties, because the closed form and the derivative may both be outside
        this range.
        """
        import numpy as np

        gradients: list[Any] = []
        low = high = pair.derivative
        for number in range(1, MAX_NEIGHBORS + 1):
            near = self.draws.near(values, NEAR)
            neighbor = None if near is None else self.at(near)
            if near is not None and neighbor is not None and not neighbor.agrees:
                return False if self.is_stable(near, neighbor) else None
            gradients += [] if neighbor is None else [neighbor.derivative]
            if number >= NEIGHBORS and gradients:
                room = SLOPE_CHANGE * pair.scale
                low, high = np.min(gradients, axis=0) - room, np.max(gradients, axis=0) + room
                if np.all((low <= pair.closed) & (pair.closed <= high)):
                    return True
        return False if gradients and not self.has_nested_ties else None

    def is_stable(self, values: Values, pair: BothValues) -> bool:
        """Return whether the derivative hardly changes between a point and a neighboring point."""
        import numpy as np

        near = self.draws.near(values, NEAR**2)
        neighbor = None if near is None else self.at(near)
        if neighbor is None:
            return False
        return bool(np.all(np.abs(neighbor.derivative - pair.derivative) <= SLOPE_CHANGE * pair.scale))
