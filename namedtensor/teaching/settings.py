"""Settings of comparisons: the names that formulas may use, the axis sizes, and random values for the inputs.

    X ∈ ℝ^{n × feature}        |n| = 3, |feature| = 4, and X sampled in each style

If possible, axes without a stated size have distinct sizes of at least 3. Equal sizes would hide a transpose, and a size
of 2 would hide n/(n − 1). Axes that the solution aligns have the same size.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import NotationError, NotationWarning, relocate
from grammar.nodes import Declaration, Equation, Set, Size
from grammar.parser import parse
from grammar.printer import to_text

from ..core.kinds import wrong
from ..core.sizes import resolve
from ..programs.api import check
from ..programs.boundaries import BOUNDARY, boundaries
from ..programs.closeness import RELATIVE, UNIT
from ..programs.plain_values import PlainTensor
from ..programs.random_inputs import ORDINARY, STYLES, NumberDomain, domain_of, find_stated_domains
from ..programs.sampling import Sampler
from ..scope.heads import heads
from ..scope.names import walk
from .comparison import ComparedValue, RandomTest, SampledInputs, has_value
from .spelling import head_text
from .values import compute_magnitude, compute_value

FIRST = 3  # the smallest size that does not hide n/(n − 1)
MOST, TRIES = 9, 1000  # with size equations: the bound of all sizes, and the number of combinations to try
RELATIVE_OF_CONSTANTS, UNIT_OF_CONSTANTS = 1e-6, 2.0**-23
REDRAWS = 20  # attempts per style to find inputs for which the solution has a value

OFFSETS = (0, 2)  # Two sets of sizes alternate. A ratio that equals a size by chance in one differs in the other.


def write_declarations(types: Mapping[str, Any]) -> str:
    """Return declarations such as X ∈ ℝ^{n × feature} as text. Each type is a string, a set or a tensor."""
    lines: list[str] = []
    for name, type_ in types.items():
        shape = type_ if isinstance(type_, str) else getattr(type_, "shape", None)
        if shape is None:
            raise wrong(type_, f"{name}=", "a type, or a tensor of it", f'write {name}="ℝ^{{seq × chans}}"')
        text = f"{name} ∈ {shape}"
        statements = parse(text, "auto").statements
        if len(statements) != 1 or not isinstance(statements[0], Declaration):
            raise NotationError(
                203, f"{name} = {type_!r} is not a type", hint=f'write a set: {name}="ℝ^{{seq × chans}}"'
            )
        lines.append(to_text(parse(text, "auto")))
    return "\n".join(lines)


@dataclass(frozen=True)
class Setting:
    """The inputs of a comparison. `given` contains the declarations and definitions that the formulas may use."""

    given: str
    constants: tuple[tuple[str, PlainTensor], ...] = ()  # inputs with a fixed value, in single precision

    @property
    def precision(self) -> tuple[float, float]:
        """The relative tolerance of a comparison, and the unit that values are rounded to."""
        return (RELATIVE_OF_CONSTANTS, UNIT_OF_CONSTANTS) if self.constants else (RELATIVE, UNIT)

    @cached_property
    def tree(self) -> nodes.Program:
        return parse(self.given, "text") if self.given.strip() else nodes.Program(())

    @cached_property
    def sets(self) -> dict[str, Set]:
        """Return the set of each input by name. The inputs are the names that are declared but not defined."""
        statements = self.tree.statements
        defined = {to_text(statement.sides[0]) for statement in statements if isinstance(statement, Equation)}
        declarations = (statement for statement in statements if isinstance(statement, Declaration))
        sets = {to_text(name): statement.sets[0] for statement in declarations for name in statement.names}
        return {name: of for name, of in sets.items() if name not in defined}

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names that an answer must not redefine: inputs, and names that the given statements define.

        A signature alone defines no function.
        """
        types = Declaration, nodes.Signature
        statements = (statement for statement in self.tree.statements if not isinstance(statement, types))
        return frozenset(self.sets) | {head_text(head) for statement in statements for head in heads(statement)}

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """Return the axes of the inputs, in declaration order."""
        names = (axis.name for set_ in self.sets.values() for axis, _ in set_.axes)
        return tuple(dict.fromkeys(names))

    def with_formula(self, formula: str) -> str:
        begins = "answer = " if formula.lstrip()[:1] in ("−", "-", "+") else ""  # to end the line above
        return f"{self.given.rstrip()}\n{begins}{formula}".lstrip("\n")

    def check(self, formula: str) -> Any:
        """Check a formula in this setting, and return the report. Suppress warnings.

        Raise the first error, with a position that refers to the formula alone.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotationWarning)
            report = check(self.with_formula(formula), syntax="text")
        if report.errors:
            raise self.own(report.errors[0], formula)
        return report

    def own(self, problem: NotationError, formula: str) -> NotationError:
        """Return an error whose position refers to the formula alone.

        An error that is not in the formula is returned unchanged.
        """
        return relocate(problem, formula, len(self.with_formula(formula)) - len(formula))

    def value(self, formula: str, drawn: SampledInputs) -> PlainTensor:
        """Return the value of a formula on the given random inputs."""
        try:
            return compute_value(self.with_formula(formula), drawn.values)
        except NotationError as problem:
            raise self.own(problem, formula) from None

    def test(self, formula: str, drawn: SampledInputs) -> RandomTest:
        """Return the random test whose expected value is the value of a formula on the given inputs."""
        return RandomTest(drawn, self.value(formula, drawn), partial(self.magnitude, formula, drawn))

    @lru_cache(maxsize=256)
    def sizes(self, solution: str, offset: int = 0) -> dict[str, int]:
        """Return sizes for all axes. If possible, sizes that are not stated start at `FIRST + offset`.

        The sizes fit the solution, and axes that the solution aligns have the same size. Raise NotationError if no
        sizes are found that satisfy the size equations.
        """
        met = self._met(solution)
        kinds = list(dict.fromkeys(met.get(axis, axis) for axis in self.axes))
        free = [kind for kind in kinds if not isinstance(kind, int)]
        fixed = {kind: kind for kind in kinds if isinstance(kind, int)}
        plain = list(range(FIRST + offset, FIRST + offset + len(free)))
        if offset:
            plain.reverse()  # Otherwise, each axis would always be one longer than the axis before it.
        if not _has_size_equations(self.tree) and not _has_size_equations(parse(solution, "text")):
            return self._said({**fixed, **dict(zip(free, plain))}, met)
        for numbers in (tuple(plain), *_choose_numbers(len(free), offset)):
            sizes = self._said({**fixed, **dict(zip(free, numbers))}, met)
            if self._fits(solution, sizes):
                return sizes
        raise NotationError(
            302, f"no sizes below {MOST} were found that fit the equations between them", solution, (0, len(solution)),
            hint="state the sizes in the declarations",
        )  # fmt: skip

    def _said(self, chosen: Mapping[Any, int], met: Mapping[str, Any]) -> dict[str, int]:
        return {axis: chosen[met.get(axis, axis)] for axis in self.axes}

    def _fits(self, solution: str, sizes: Mapping[str, int]) -> bool:
        try:
            self.value(solution, self.drawn(0, "normal", sizes))
        except NotationError:
            return False
        return True

    def _met(self, solution: str) -> dict[str, Any]:
        """Return the size of each axis by its name.

        An unknown size is a string, which is the same for axes that must have equal sizes.
        """
        result: dict[str, Any] = self._read_stated_sizes()
        for shape in self.check(solution).shapes.values():
            for axis, size in shape.items():
                size = resolve(size)
                result.setdefault(axis, size if isinstance(size, int) else f"size {id(size)}")
        return result

    def _read_stated_sizes(self) -> dict[str, Any]:
        """Return the axis sizes that declarations and constants state as numbers, such as 4 in ℝ^{key[4]}."""
        axes = ((axis.name, size) for set_ in self.sets.values() for axis, size in set_.axes)
        stated = {name: size.value for name, size in axes if isinstance(size, nodes.Number)}
        return stated | {axis: size for _, value in self.constants for axis, size in value.sizes.items()}

    def magnitude(self, formula: str, drawn: SampledInputs) -> PlainTensor | None:
        """Return, for each element of a formula's value, the magnitude of the numbers in its computation.

        Return None if the magnitude cannot be computed.
        """
        try:
            return compute_magnitude(self.with_formula(formula), drawn.values)
        except NotationError:
            return None

    @cached_property
    def domains(self) -> dict[str, NumberDomain]:
        return find_stated_domains(self.tree.statements)

    def sampler(self, sizes: Mapping[str, int]) -> Sampler:
        """Return a sampler of all inputs whose axes have these sizes."""
        shapes = {name: {axis.name: sizes[axis.name] for axis, _ in of.axes} for name, of in self.sets.items()}
        of_sets = {name: domain_of(of, partial(_bound, sizes=sizes), FIRST) for name, of in self.sets.items()}
        return Sampler(shapes, {**of_sets, **self.domains})

    def drawn(self, seed: int, style: str, sizes: Mapping[str, int]) -> SampledInputs:
        """Return random inputs in a style, for a seed and axis sizes. Constants keep their values."""
        return SampledInputs({**self.sampler(sizes).inputs(seed, style), **dict(self.constants)}, seed, style)

    def said(self, seed: int, text: str, sizes: Mapping[str, int]) -> SampledInputs:
        """Return random inputs in which one tensor is given as text, such as X = [1, 1, 1]_{n}.

        The tensor determines the sizes of its axes.
        """
        name, _, written = text.partition("=")
        value = compute_value(written.strip(), {})
        sizes = {**sizes, **value.sizes}
        drawn = self.drawn(seed, "normal", sizes)
        return SampledInputs({**drawn.values, name.strip(): value}, seed, text)

    def draws(self, solution: str, seed: int = 0, other: str | None = None) -> Iterator[RandomTest]:
        """Yield random tests, each with the solution's value.

        The tests use several styles, and inputs at the boundaries of the solution's conditions.

        If the solution or the other formula is undefined in a test, another test of the same style follows. A test
        is skipped if the given statements raise a value error or, at special inputs, if a formula raises a value error.
        If all tests are skipped, raise the first such error.
        """
        extents = [self.sizes(solution, offset) for offset in OFFSETS]
        problem: NotationError | None = None
        count = 0
        for at, style in enumerate(STYLES):
            for again in range(REDRAWS):
                drawn = self.drawn(seed + 1000 * again, style, extents[at % len(extents)])
                try:
                    test = self.test(solution, drawn)
                    has_values = has_value(test.expected) and (other is None or has_value(self.value(other, drawn)))
                except NotationError as error:
                    if error.kind != "value" or (style in ORDINARY and error.source in (solution, other)):
                        raise
                    problem = problem or error
                    continue
                if has_values or again == 0:
                    count += 1
                    yield test
                if has_values:
                    break
        if not count and problem is not None:
            raise problem
        yield from self.boundary_draws(solution, solution, seed)

    def boundary_draws(self, formula: str, solution: str, seed: int = 0) -> Iterator[RandomTest]:
        """Yield tests at the boundaries of a formula's conditions, with the solution's values.

        If the formula is not the solution, the boundaries of the solution are left out.
        """
        tree = parse(self.with_formula(formula), "text")
        known = None if formula == solution else parse(self.with_formula(solution), "text")
        if not boundaries(tree):
            return
        constants = dict(self.constants)

        def value(program: nodes.Program, values: Mapping[str, PlainTensor]) -> PlainTensor:
            return compute_value(to_text(program), {**values, **constants})

        for values in self.sampler(self.sizes(solution)).boundary_inputs(seed, tree, known, value):
            drawn = SampledInputs({**values, **constants}, seed, BOUNDARY)
            try:
                yield self.test(solution, drawn)
            except NotationError as error:
                if error.kind != "value":
                    raise

    def compared(self, formula: str, tests: Iterable[RandomTest]) -> list[ComparedValue]:
        """Return the values of a formula in random tests. A value error at special inputs makes the value undefined."""
        result: list[ComparedValue] = []
        for test in tests:
            try:
                value = self.value(formula, test.drawn)
            except NotationError as error:
                if error.kind != "value" or test.drawn.style in ORDINARY:
                    raise
                value = replace(test.expected, numbers=(math.nan,) * len(test.expected.numbers))
            result.append(ComparedValue(test, value, partial(self.magnitude, formula, test.drawn), self.precision))
        return result


def _choose_numbers(count: int, offset: int) -> list[tuple[int, ...]]:
    """Return combinations of sizes to try.

    They are sorted by the number of different sizes, highest first. Ties are sorted by the largest size, ascending.
    """
    choices = itertools.islice(itertools.product(range(2 + bool(offset), MOST + 2 * offset), repeat=count), 10**5)
    return sorted(choices, key=lambda choice: (-len(set(choice)), max(choice, default=0)))[:TRIES]


def _has_size_equations(tree: nodes.Program) -> bool:
    """Return whether a program has equations between sizes, such as |key| = |layer|/|heads|."""
    return any(
        isinstance(statement, Equation) and any(isinstance(side, Size) for side in statement.sides)
        for statement in tree.statements
    )


def _bound(node: Any, sizes: Mapping[str, int]) -> float | None:
    """Return the value of a bound of a set, which is an expression of numbers, or an axis size such as |v| or v.

    Return None if the size is unknown, or if a longer expression contains a size or another name.
    """
    if isinstance(node, (nodes.Name, Size)):
        return sizes.get(node.text if isinstance(node, nodes.Name) else node.axis.name)
    named = any(isinstance(part, (nodes.Name, Size)) for part in walk(node))
    return None if named else compute_value(to_text(node), {}).number
