"""Sample random inputs with few elements that satisfy a program's sets and equations.

The Gauss–Newton method solves the equations. Each step is the smallest change that would satisfy the equations if they
were linear. It therefore preserves ties.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.nodes import Call, Equation, Node, Value
from grammar.printer import to_text

from ..core.sizes import resolve
from ..core.tensor import NamedTensor
from ..programs.plain_values import PlainTensor, value_of
from ..programs.program import Formula
from ..programs.random_inputs import ORDINARY, NumberDomain, RandomNumbers, domain_of, find_stated_domains
from ..programs.sampling import Sampler
from ..scope.names import walk
from ..symbolic.naming import words_of
from ..symbolic.spelling import call
from .identification import DerivativeProgram
from .indices import UNIT, linear, number_of, substitute_index
from .reading import Shapes, needed
from .recurrences import name_sizes, steps_of_recurrences

Values = dict[str, Any]
Inputs = Mapping[str, PlainTensor]
MAX_ELEMENTS = 400  # The maximum number of elements in all inputs together.
EXTENTS = (
    (2, 3, 4, 5),
    (5, 3, 2, 4),
    (2, 2, 2, 2),
)  # Sizes of axes in order of appearance, unequal sizes first.
GENERIC = (*ORDINARY, "fraction", "above one")
POINTS = (*ORDINARY, "ties", "equal", "fraction", "above one", "whole", *GENERIC)  # The style of each point.
DIGITS = 2  # The number of decimals of the elements.
LEAST = 2  # The smallest axis size, so that positions up to 2 are valid.
MAX_CORRECTIONS = 30  # The maximum number of Gauss–Newton steps.
MAX_LOST = 2  # After this number of successive failures, no more inputs are tried.
SLOW = 4  # The residual must halve within this number of steps.
STEP = 1e-7  # The step of finite differences.
NOTHING = 1e-12  # Smaller numbers are 0.
MET = 1e-11  # The largest residual of a satisfied equation, relative to the largest element.


def format_tensor(value: Any) -> str:
    """Format a tensor as the command line accepts it."""
    if not isinstance(value, NamedTensor):
        return f"{value:.3g}"
    return f"{_round_numbers(value.tolist(value.axes))}:{','.join(value.axes)}"


def _round_numbers(numbers: Any) -> Any:
    return [*map(_round_numbers, numbers)] if isinstance(numbers, list) else round(numbers, 4)


def operands(inputs: Inputs) -> Values:
    """Convert random inputs to tensors, or to numbers if they have no axes."""
    return {name: value.to_operand() for name, value in inputs.items()}


@dataclass
class InputDraws:
    """A sampler of inputs for fixed sizes, with the declarations and equations that the inputs must satisfy."""

    tree: nodes.Program
    sampler: Sampler
    sizes: dict[str, int]
    fixed: frozenset[str]  # Inputs that are positions along an axis, or declared in sets other than ℝ.
    stated: tuple[Any, ...]  # The equations about inputs.
    changes: RandomNumbers = field(default_factory=partial(RandomNumbers, "near"))

    def points(self) -> Iterator[tuple[str, Values]]:
        """Yield sets of random inputs that satisfy the stated equations, each with the name of its style."""
        lost = 0
        for number, style in enumerate(POINTS):
            values = self.correct_inputs(self.sampler.inputs(number, style))
            if values is not None:
                yield style, values
            lost = lost + 1 if values is None else 0
            if lost == MAX_LOST:
                return

    def near(self, values: Values, distance: float) -> Values | None:
        """Return inputs at about this distance from `values` that satisfy the stated equations.

        Return None if no such inputs are found.
        """
        inputs: dict[str, PlainTensor] = {}
        for name, of in values.items():
            value = value_of(of) if isinstance(of, NamedTensor) else PlainTensor((), (), (of,))
            moved = (number + distance * self.changes.normal() for number in value.numbers)
            inputs[name] = value if name in self.fixed else replace(value, numbers=tuple(moved))
        return self.correct_inputs(inputs)

    # ------------------------------------------------------------------------------------------------------ equations
    def correct_inputs(self, inputs: Inputs) -> Values | None:
        """Return inputs near the given inputs that satisfy the stated equations, or None if the search fails."""
        if not self.stated:
            return operands(inputs)
        import numpy as np

        concerned = {name for _, names, _ in self._residuals for name in names}
        free = [name for name in inputs if name in concerned - self.fixed]
        ends = np.cumsum([0, *(len(inputs[name].numbers) for name in free)])

        def residual(elements: Any) -> Any:
            pieces = {name: tuple(elements[low:high].tolist()) for name, low, high in zip(free, ends, ends[1:])}
            moved = {name: replace(inputs[name], numbers=numbers) for name, numbers in pieces.items()}
            values = operands({**inputs, **moved})
            parts = [program(values={name: values[name] for name in names}, sizes=sizes or None)
                     for program, names, sizes in self._residuals]  # fmt: skip
            return values, np.concatenate([part.to_numpy(part.axes).ravel() for part in parts])

        try:
            return _gauss_newton(np.array([x for name in free for x in inputs[name].numbers]), residual)
        except (NotationError, np.linalg.LinAlgError):
            return None

    @cached_property
    def _residuals(self) -> list[tuple[Formula, list[str], dict[str, int]]]:
        """Return the differences between the sides of the equations, each as a formula with its inputs and sizes."""
        return [
            self._difference(first, other)
            for statement in self.stated
            for first, *others in (statement.sides,)
            for other in others
        ]

    def _difference(self, left: Node, right: Node) -> tuple[Formula, list[str], dict[str, int]]:
        difference = call("-", left, right)
        definitions = (line for line in self.tree.statements[:-1] if line not in self.stated)
        definitions = (line for line in definitions if isinstance(line, (Equation, nodes.Signature)))
        program = nodes.Program((*needed(tuple(definitions), words_of(difference)), Value(difference)))
        names = words_of(program) | {to_text(node) for node in walk(program) if hasattr(node, "base")}
        names |= {node.name for node in walk(program) if isinstance(node, nodes.Axis)}
        sizes = {name: size for name, size in self.sizes.items() if name in names}
        return Formula(to_text(program)), [name for name in self.sampler.shapes if name in names], sizes


def _gauss_newton(start: Any, residual: Any) -> Values | None:
    """Return values near `start` at which the residual is zero, or None if the iteration does not converge."""
    import numpy as np

    history: list[float] = []
    while len(history) < MAX_CORRECTIONS:
        values, rest = residual(np.where(np.abs(start) < NOTHING, 0.0, start))
        largest = float(np.max(np.abs(rest), initial=0))
        met = MET * max(1.0, float(np.max(np.abs(start), initial=0)))
        if largest == 0 or (history and max(largest, history[-1]) <= met):  # Only rounding errors remain.
            return values
        history.append(largest)
        if not np.isfinite(largest) or not len(start) or (len(history) > SLOW and largest > history[-SLOW] / 2 > met):
            return None
        steps = STEP * np.eye(len(start))
        columns = [(residual(start + step)[1] - residual(start - step)[1]) / (2 * STEP) for step in steps]
        start = start - np.linalg.lstsq(np.stack(columns, 1), rest, rcond=1e-6)[0]
    return None


def input_draws(typed: DerivativeProgram) -> Iterator[InputDraws]:
    """Yield samplers of a program's inputs, one for each choice of sizes in `EXTENTS`.

    Choices with too many elements are skipped. Raise NotationError if the program has no type for these shapes.
    """
    tree, steps = typed.tree, {} if typed.sizes else steps_of_recurrences(typed.tree)
    extents = {**steps, **typed.sizes}
    shapes = {
        name: {axis: extents.get(axis, size) for axis, size in shape.items()} for name, shape in typed.shapes.items()
    }
    checker = replace(typed, shapes=shapes, sizes=extents).checker()
    checker.whole()
    inputs = {
        str(name): {axis: resolve(size) for axis, size in term.shape.items()}
        for name, term in (*checker.top.variables.items(), *checker.parameters.items())
        if term.operator == "input"
    }
    numbers = {**extents, **name_sizes(tree, extents)}
    statements = {statement.span: statement for statement in tree.statements}
    claims = [statements[claim.span] for claim in checker.scope.claims if claim.span in statements]
    equations = tuple(of for claim in claims if isinstance(claim, Equation) for of in _members(claim, numbers))
    domains = {
        name: domain_of(sets[0], unknown=LEAST)
        for _, spelled, sets, _ in checker.scope.declarations
        for name in inputs
        if sets[0].domain != "reals" and name in (str(spelled.key()), spelled.base)
    }
    domains |= dict.fromkeys(positions_in(tree) & inputs.keys(), NumberDomain("count", (float(LEAST),)))
    fixed, domains = frozenset(domains), domains | find_stated_domains(claims)
    for sizes_of_axes in EXTENTS:
        known = _choose_sizes(inputs, sizes_of_axes, tree, max(steps.values(), default=0))
        if sum(math.prod(shape.values()) for shape in known.values()) <= MAX_ELEMENTS:
            yield InputDraws(tree, Sampler(known, domains, DIGITS), extents, fixed, equations)


def _choose_sizes(
    inputs: Shapes, extents: tuple[int, ...], tree: nodes.Program, steps: int
) -> dict[str, dict[str, int]]:
    """Replace each symbolic size in the inputs' shapes with one of the extents.

    If the program indexes an axis of symbolic size, the axis gets more elements than a recurrence has steps. The size
    of a merged axis is the product of its parts' sizes.
    """
    counted = {axis.name for node in walk(tree) if isinstance(node, nodes.Index) for axis, _ in node.items}
    numbers: dict[str, int] = {}

    def number(axis: str, size: Any) -> int:
        if isinstance(size, int):
            return size
        at_least = steps + 1 if axis in counted else 0
        return numbers.setdefault(str(size), max(extents[len(numbers) % len(extents)], at_least))

    shapes = {name: {axis: number(axis, size) for axis, size in shape.items()} for name, shape in inputs.items()}
    known = {axis: size for shape in shapes.values() for axis, size in shape.items()}
    merged: dict[str, int] = {}
    for node in walk(tree):
        for pair in node.items if isinstance(node, nodes.Rename) else ():
            whole, parts = sorted(pair, key=len)
            if len(parts) > len(whole) == 1 and all(axis.name in known for axis in parts):
                merged[whole[0].name] = math.prod(known[axis.name] for axis in parts)
    return {name: {axis: merged.get(axis, size) for axis, size in shape.items()} for name, shape in shapes.items()}


def _members(claim: Equation, sizes: Mapping[str, int]) -> list[Equation]:
    """Return one equation per index in an equation's range, such as ∑_{v} T^1 = 1, ∑_{v} T^2 = 1, ….

    Return [] if an end of the range is unknown, or if the range has several variables.
    """
    over = claim.range
    if over is None:
        return [claim]
    low, high = (number_of(linear(end), sizes) for end in (over.low, over.high))
    if len(over.each) > 1 or low is None or high is None:
        return []
    of_one = replace(claim, range=None)
    return [substitute_index(of_one, over.variable.text, {UNIT: index}) for index in range(low, high + 1)]


def positions_in(tree: nodes.Program) -> frozenset[str]:
    """Return the names whose values are positions along an axis, such as w in E_{v(w)} and onehot_{v} w."""
    words: set[str] = set()
    for node in walk(tree):
        if isinstance(node, nodes.Index):
            words |= set().union(*(words_of(item) for _, item in node.items))
        elif isinstance(node, Call) and node.operator == "onehot":
            words |= set().union(*map(words_of, node.arguments))
    return frozenset(words)
