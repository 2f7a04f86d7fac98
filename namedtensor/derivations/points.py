"""Random inputs of a program: few elements, unequal sizes, the sets that it declares, and the equations that it states.

Equations are met by Gauss–Newton: each step is the smallest change that would satisfy them if they were linear, so ties stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.nodes import Call, Equation, Name, Node, Number, Value
from grammar.printer import to_text

from ..core.sizes import resolve
from ..core.tensor import NamedTensor, tensor
from ..programs.program import Formula
from ..scope.names import walk
from ..symbolic.linearizing import ReadingChecker
from ..symbolic.naming import words_of
from ..symbolic.spelling import call
from .differences import folded
from .indices import UNIT, at, linear, number_of
from .reading import Shapes, needed, reading_checker
from .recurrences import name_sizes, steps_of_recurrences

Values = dict[str, Any]
MAX_ELEMENTS = 400  # of the inputs together
EXTENTS = (
    (2, 3, 4, 5),
    (5, 3, 2, 4),
    (2, 2, 2, 2),
)  # sizes of axes by first appearance, unequal ones before equal ones
KINDS = ("normal", "positive", "negative", "ties", "equal", "zeros", "fraction", "large", "whole", "bits", "normal")
GENERIC = ("normal", "positive", "fraction", "negative", "large")
MAX_CORRECTIONS = 30  # steps of Gauss–Newton
MAX_LOST = 2  # random inputs that met no equations, after which no others are tried
SLOW = 4  # steps in which a residual that becomes 0 halves
STEP = 1e-7  # of differences
NOTHING = 1e-12  # Smaller numbers are 0.
MET = 1e-11  # residual of equations, of the largest number


def shown(value: Any) -> str:
    """Format a tensor in the input syntax of the command line."""
    if not isinstance(value, NamedTensor):
        return f"{value:.3g}"
    return f"{_rounded(value.tolist(value.axes))}:{','.join(value.axes)}"


def _rounded(numbers: Any) -> Any:
    return [*map(_rounded, numbers)] if isinstance(numbers, list) else round(numbers, 4)


@dataclass
class InputDraws:
    """The inputs of a program with their sizes, and its declarations and statements about them."""

    tree: nodes.Program
    shapes: dict[str, dict[str, int]]
    sizes: dict[str, int]
    sets: dict[str, nodes.Set]
    bounds: dict[str, tuple[float, int]]  # x > c: above or below c
    indices: frozenset[str]  # inputs that are positions along an axis
    stated: tuple[Any, ...]  # equations about inputs
    random: Random = field(default_factory=partial(Random, 0))

    def points(self) -> Iterator[tuple[str, Values]]:
        """Yield random inputs that satisfy the stated equations, with the kind of their elements."""
        lost = 0
        for kind in KINDS:
            values = self.corrected({name: self._elements(name, kind) for name in self.shapes})
            if values is not None:
                yield kind, values
            lost = lost + 1 if values is None else 0
            if lost == MAX_LOST:
                return

    def near(self, values: Values, distance: float) -> Values | None:
        """Return inputs at about this distance; None if no inputs satisfy the stated equations."""
        flat: dict[str, list[float]] = {}
        for name, shape in self.shapes.items():
            at = values[name]
            elements = at.to_numpy(tuple(shape)).ravel().tolist() if shape else [at]
            fixed = name in self.indices or name in self.sets
            flat[name] = elements if fixed else [x + distance * self.random.gauss(0, 1) for x in elements]
        return self.corrected(flat)

    # ------------------------------------------------------------------------------------------------------- elements
    def _elements(self, name: str, kind: str) -> list[float]:
        lengths = [*self.shapes[name].values()]
        elements = [round(self._element(name, kind), 2) for _ in range(math.prod(lengths))]
        if kind == "positive" and len(lengths) == 2 and lengths[0] == lengths[1]:  # far from singular
            for index in range(lengths[0]):
                elements[index * (lengths[0] + 1)] += 2 * lengths[0]
        return elements

    def _element(self, name: str, kind: str) -> float:
        draw = self.random
        if name in self.sets:
            number = _in_set(self.sets[name], draw)
            if number is not None:
                return number
        if name in self.indices:
            return draw.randint(1, 2)
        if name in self.bounds:
            bound, side = self.bounds[name]
            return bound + side * (draw.randint(1, 2) if kind == "ties" else draw.uniform(0.2, 2))
        match kind:
            case "positive" | "negative":
                return draw.uniform(0.2, 2) * (1 if kind == "positive" else -1)
            case "fraction" | "large":
                return draw.uniform(*((0.05, 0.95) if kind == "fraction" else (1.5, 4)))
            case "ties":
                return float(draw.randint(-1, 1))
            case "equal" | "zeros":
                return float(kind == "equal")
            case "whole" | "bits":
                return float(draw.randint(0, 1) + (kind == "whole"))
        return draw.gauss(0, 1)

    def _tensors(self, flat: Mapping[str, list[float]]) -> Values:
        return {
            name: tensor(folded(flat[name], [*shape.values()]), " ".join(shape)) if shape else flat[name][0]
            for name, shape in self.shapes.items()
        }

    # ------------------------------------------------------------------------------------------------------ equations
    def corrected(self, flat: dict[str, list[float]]) -> Values | None:
        """Return the inputs next to these elements that satisfy the stated equations; None if the search failed."""
        if not self.stated:
            return self._tensors(flat)
        import numpy as np

        free = [name for name in self._concerned() if name not in self.indices and name not in self.sets]
        flat = dict(flat)
        start = np.array([x for name in free for x in flat[name]])

        def residual(elements: Any) -> Any:
            ends = np.cumsum([0, *(len(flat[name]) for name in free)])
            moved = {name: elements[low:high].tolist() for name, low, high in zip(free, ends, ends[1:])}
            values = self._tensors({**flat, **moved})
            parts = [program(values={name: values[name] for name in names}, sizes=sizes or None)
                     for program, names, sizes in self._residuals]  # fmt: skip
            return values, np.concatenate([part.to_numpy(part.axes).ravel() for part in parts])

        try:
            return _gauss_newton(start, residual)
        except (NotationError, np.linalg.LinAlgError):
            return None

    def _concerned(self) -> list[str]:
        return [name for name in self.shapes if any(name in names for _, names, _ in self._residuals)]

    @cached_property
    def _residuals(self) -> list[tuple[Formula, list[str], dict[str, int]]]:
        """For each stated equation the program of the difference of its sides, and the inputs and sizes that it takes."""
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
        return Formula(to_text(program)), [name for name in self.shapes if name in names], sizes


def _gauss_newton(start: Any, residual: Any) -> Values | None:
    """Return the values with residual 0; None if it does not converge."""
    import numpy as np

    history: list[float] = []
    while len(history) < MAX_CORRECTIONS:
        values, rest = residual(np.where(np.abs(start) < NOTHING, 0.0, start))
        largest = float(np.max(np.abs(rest), initial=0))
        met = MET * max(1.0, float(np.max(np.abs(start), initial=0)))
        if largest == 0 or (history and max(largest, history[-1]) <= met):  # the last step was one of rounding
            return values
        history.append(largest)
        if not np.isfinite(largest) or not len(start) or (len(history) > SLOW and largest > history[-SLOW] / 2 > met):
            return None
        steps = STEP * np.eye(len(start))
        columns = [(residual(start + step)[1] - residual(start - step)[1]) / (2 * STEP) for step in steps]
        start = start - np.linalg.lstsq(np.stack(columns, 1), rest, rcond=1e-6)[0]
    return None


def _in_set(declared: nodes.Set, draw: Random) -> float | None:
    """Return an element of a set; None if all real numbers are in it, or it is not known."""
    numbers = [node.value for node in declared.elements if isinstance(node, Number)]
    match declared.domain:
        case "elements" if numbers:
            return draw.choice(numbers)
        case "interval" if len(numbers) == 2:
            return draw.uniform(*numbers)
        case "positive" | "nonnegative":
            return draw.uniform(0.2, 2)
        case "count" | "naturals" | "integers":
            return draw.randint(1, 2)
    return None


def input_draws(source: str, tree: nodes.Program, shapes: Shapes, sizes: Mapping[str, int]) -> Iterator[InputDraws]:
    """Yield the inputs of a program of these types, of several sizes.

    Raises NotationError if the program has no type.
    """
    steps = {} if sizes else steps_of_recurrences(tree)
    extents = {**steps, **sizes}
    taken = {name: {axis: extents.get(axis, size) for axis, size in shape.items()} for name, shape in shapes.items()}
    checker = reading_checker(source, tree, taken, extents)
    checker.whole()
    inputs = {
        str(name): {axis: resolve(size) for axis, size in term.shape.items()}
        for name, term in (*checker.top.variables.items(), *checker.parameters.items())
        if term.operator == "input"
    }
    words = set(inputs)
    numbers = {**extents, **name_sizes(tree, extents)}
    claims = [claim for claim in _claims(checker) if isinstance(claim, Equation)]
    equations = tuple(of for claim in claims for of in _members(claim, numbers))
    sets, bounds, positions = _sets(checker, words), _bounds(checker, words), positions_in(tree) & words
    for sizes_of_axes in EXTENTS:
        known = _sized(inputs, sizes_of_axes, tree, max(steps.values(), default=0))
        if sum(math.prod(shape.values()) for shape in known.values()) <= MAX_ELEMENTS:
            yield InputDraws(tree, known, extents, sets, bounds, positions, equations)


def _sized(inputs: Shapes, extents: tuple[int, ...], tree: nodes.Program, steps: int) -> dict[str, dict[str, int]]:
    """Return the shapes of inputs, each symbol of a size one of these numbers.

    Axes that are counted along have one element for each step, and one that others are merged into as many as these.
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


def _claims(checker: ReadingChecker) -> Iterator[Any]:
    statements = {statement.span: statement for statement in checker.scope.program.statements}
    for claim in checker.scope.claims:
        statement = statements.get(claim.span)
        if statement is not None:
            yield statement


def _members(claim: Equation, sizes: Mapping[str, int]) -> list[Equation]:
    """Return an equation for each index, ∑_{v} T^t = 1 for t = 1, …, n; no equations if a range is not known."""
    over = claim.range
    if over is None:
        return [claim]
    ends = [_number(end, sizes) for end in (over.low, over.high)]
    if len(over.each) > 1 or None in ends:
        return []
    of_one = replace(claim, range=None)
    return [at(of_one, over.variable.text, {UNIT: index}) for index in range(ends[0], ends[1] + 1)]


def _number(end: Node, sizes: Mapping[str, int]) -> Any:
    """Return the number of an end, n − 1, by these sizes; None if it is not known."""
    symbols = linear(end)
    if symbols is None or any(symbol != UNIT and symbol.strip("|") not in sizes for symbol in symbols):
        return None
    return number_of(symbols, sizes)


def _sets(checker: ReadingChecker, inputs: set[str]) -> dict[str, nodes.Set]:
    """Return the sets that inputs are declared to be in, except the set of all real numbers."""
    declared = [(name, sets[0]) for _, name, sets, _ in checker.scope.declarations if sets[0].domain != "reals"]
    return {text: of for text in inputs for name, of in declared if text in (str(name.key()), name.base)}


def _bounds(checker: ReadingChecker, inputs: set[str]) -> dict[str, tuple[float, int]]:
    """Read x > c, x ≤ c, c < x: the number, and the side of it on which the input lies."""
    result: dict[str, tuple[float, int]] = {}
    for statement in _claims(checker):
        condition = statement.condition if isinstance(statement, nodes.Fact) else None
        if not isinstance(condition, Call) or condition.operator not in ("<", "≤", ">", "≥"):
            continue
        left, right = condition.arguments
        side = 1 if condition.operator in (">", "≥") else -1
        if isinstance(left, Number):
            left, right, side = right, left, -side
        if isinstance(left, Name) and left.text in inputs and isinstance(right, Number):
            result[left.text] = (right.value, side)
    return result


def positions_in(tree: nodes.Program) -> frozenset[str]:
    """Return the names that are positions along an axis: w of E_{v(w)} and of onehot_{v} w."""
    words: set[str] = set()
    for node in walk(tree):
        if isinstance(node, nodes.Index):
            words |= set().union(*(words_of(item) for _, item in node.items))
        elif isinstance(node, Call) and node.operator == "onehot":
            words |= set().union(*map(words_of, node.arguments))
    return frozenset(words)
