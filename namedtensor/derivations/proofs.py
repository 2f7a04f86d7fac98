"""Proofs of equations by their index normal form, and counterexamples from random tensors.

    prove("∑_{a} softmax_{a} x = 1", x="ℝ^{a}")           proved
    prove("x ≤ softplus x", x="ℝ^{a}")                    not proved; holds on 200 random tests

A proof does not use rewrite rules with singular cases, so a proved equation is true wherever both sides have a value.
Inequalities are not proved. A random test counts only if both sides have a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Equation, Node, Value
from grammar.parser import parse
from grammar.plain_text import encodable
from grammar.printer import to_text

from ..core.settings import recursion_headroom
from ..core.sizes import resolve
from ..operators.user_functions import get_functions
from ..programs.boundaries import BOUNDARY
from ..programs.closeness import compare
from ..programs.conditions import condition_for_all
from ..programs.plain_values import PlainTensor, value_of
from ..programs.program import Formula
from ..programs.random_inputs import EXTREME, STYLES, RandomNumbers, domain_of, find_stated_domains, styles
from ..programs.sampling import Sampler
from ..programs.term_values import magnitude_of
from ..scope.names import walk
from .closed_form import read_shapes, strip_unknown_sizes
from .equal_forms import normal_form, program_of, sides_of
from .points import format_tensor

PROVED, FALSE, HOLDS = "proved", "disproved", "not disproved"
TRIALS = len(STYLES)
INEQUALITY_TRIALS = 200
COMPARED = {
    "≤": (1, False),
    "≥": (-1, False),
    "<": (1, True),
    ">": (-1, True),
}  # the sign of right − left, and if it may be 0
DOES_NOT_HOLD = 403
MAX_ATTEMPTS = 8  # tests for each with a value


@dataclass(frozen=True)
class Verdict:
    """The result of testing or proving an assertion, with its `status` and the tensors that disprove it.

    If an assertion is neither proved nor disproved, `trials` is the number of random tests that it passed. `domain` is
    None if both sides are defined for the same tensors. Otherwise, `domain` is the condition for both sides to be
    defined, or "" if this condition is unknown.
    """

    status: str
    counterexample: Mapping[str, Any] = field(default_factory=dict)
    sides: tuple[Any, ...] = ()
    trials: int = 0
    is_equation: bool = True
    domain: str | None = None

    @encodable
    def __str__(self) -> str:
        where = "" if self.domain is None else " wherever both sides are defined"
        where += f": {self.domain}" if self.domain else ""
        if self.status == HOLDS:
            tests = f"holds on {self.trials} random tests{where}" if self.trials else "undefined on every random test"
            return f"{HOLDS}: {tests}" if self.is_equation else f"not proved; {tests}"
        if not self.counterexample:
            return f"{self.status}{where}"
        return f"{self.status}: where {', '.join(f'{name} = {format_tensor(value)}' for name, value in self.counterexample.items())}"

    __repr__ = __str__


def prove(
    equation: str,
    /,
    *,
    syntax: str = "auto",
    sizes: Mapping[str, int] | None = None,
    trials: int | None = None,
    **shapes: Any,
) -> Verdict:
    """Test whether an equation is true for all tensors. An inequality is tested on random tensors only.

    Parameters
    ----------
    equation : str
        A program whose last statement is the equation, or an inequality.
    syntax : {"auto", "text", "latex"}
        The syntax of `equation` (default: "auto", which detects the syntax).
    sizes : mapping of str to int, optional
        Sizes of axes that the types do not determine.
    trials : int, optional
        Number of random tests that look for a counterexample (default: 8, or 200 for an inequality).
    **shapes : str, tensor or sequence of str
        The type of each input, as for `check`.

    Returns
    -------
    Verdict
        Its `status` is "proved", "disproved" (with a `counterexample`) or "not disproved".

    Raises
    ------
    NotationError
        If the last statement is not an equation or an inequality, or the program is invalid.

    Examples
    --------
    >>> prove("∑_{a} softmax_{a} x = 1", x="ℝ^{a}")
    proved
    >>> prove("∂(x ⊙_{a} x)/∂x* = 2 x^*", x="ℝ^{a}")
    proved
    >>> prove("∂(x ⊙ y) = ∂x ⊙ y + x ⊙ ∂y", x="ℝ^{a}", y="ℝ^{a}")
    proved
    >>> prove("exp(x + y) = exp x + exp y", x="ℝ", y="ℝ").status
    'disproved'
    >>> prove("x ≤ softplus x", x="ℝ^{a}")
    not proved; holds on 200 random tests
    """
    tree = parse(equation, syntax, functions=frozenset(get_functions()))
    *before, last = tree.statements
    if comparisons := comparisons_of(last):
        return _compare_on_random_tensors(
            equation, before, comparisons, shapes, dict(sizes or {}), trials or INEQUALITY_TRIALS
        )
    if not isinstance(last, Equation) or last.range is not None:
        raise NotationError(
            112, "a proof needs an equation or an inequality", equation, last.span, hint="write u = v, or u ≤ v"
        )
    sides = sides_of(last)
    trials = trials or TRIALS
    with recursion_headroom(equation):
        inputs, proved = normal_form(equation, program_of(before, sides), sides, strip_unknown_sizes(shapes), {})
        domain = domain_of_sides(before, sides, map(str, inputs))
        if proved:
            return Verdict(PROVED, domain=domain)
        verdict = _try_equation(before, sides, inputs, read_shapes(shapes), dict(sizes or {}), trials)
        return replace(verdict, domain=domain or verdict.domain) if verdict.status == HOLDS else verdict


def domain_of_sides(before: Sequence[Any], sides: Sequence[Node], inputs: Iterable[str]) -> str | None:
    """Return the conditions that only some of the sides need, or None if all sides need the same conditions."""
    return condition_for_all([nodes.Program((*before, Value(side))) for side in sides], inputs) or None


def comparisons_of(statement: Any) -> list[nodes.Call]:
    """Return the comparisons that an inequality consists of, such as both parts of 0 ≤ x < 1.

    For other statements, return [].
    """
    pending, result = [statement.condition] if isinstance(statement, nodes.Fact) else [], []
    while pending:
        condition = pending.pop(0)
        if isinstance(condition, nodes.Call) and condition.operator == "∧":
            pending += condition.arguments
        elif isinstance(condition, nodes.Call) and condition.operator in COMPARED:
            result.append(condition)
        else:
            return []
    return result


def _compare_on_random_tensors(
    source: str, before: list[Any], comparisons: list[nodes.Call], shapes: Any, sizes: dict[str, int], trials: int
) -> Verdict:
    """Test an inequality on random tensors, and return the verdict."""
    total = Verdict(HOLDS, trials=trials, is_equation=False)
    for comparison in comparisons:
        sides = comparison.arguments
        with recursion_headroom(source):
            inputs, _ = normal_form(
                source, program_of(before, sides), sides, strip_unknown_sizes(shapes), {}, proof=False
            )
        programs = [Formula(to_text(nodes.Program((*before, Value(side))))) for side in sides]
        sign, strict = COMPARED[comparison.operator]

        def holds(test: SidesOfTest, sign: int = sign, strict: bool = strict) -> bool | None:
            return _is_ordered(test, sign, strict)

        verdict = _test_randomly(before, programs, inputs, read_shapes(shapes), sizes, trials, holds)
        if verdict.status == FALSE:
            return replace(verdict, is_equation=False)
        total = replace(total, trials=min(total.trials, verdict.trials))
    return total


def _try_equation(
    before: list[Any],
    sides: tuple[Node, ...],
    inputs: dict[Any, Any],
    shapes: dict[Any, Any],
    sizes: dict[str, int],
    trials: int,
) -> Verdict:
    """Test an equation on random tensors, and return the verdict."""
    if any(isinstance(node, nodes.Differential) for side in sides for node in walk(side)):
        zero = Value(nodes.Number(0))  # for a differential by itself has no value
        programs = [Formula(to_text(nodes.Program((*before, Equation(sides), zero))))]
    else:
        programs = [Formula(to_text(nodes.Program((*before, Value(side))))) for side in sides]
    return _test_randomly(before, programs, inputs, shapes, sizes, trials, _equal)


class SidesOfTest(NamedTuple):
    """The values of an assertion's sides in one test, aligned to the same axes, and a function for their magnitudes."""

    style: str
    sides: list[Sequence[Any]]
    magnitudes: Callable[[], Sequence[float]]

    @property
    def is_partial(self) -> bool:
        """Whether, for some element, some of the sides have a finite value but not all."""
        return any(len(set(map(math.isfinite, numbers))) > 1 for numbers in zip(*self.sides))


def _test_randomly(
    before: Sequence[Any],
    programs: list[Formula],
    inputs: dict[Any, Any],
    shapes: dict[Any, Any],
    sizes: dict[str, int],
    trials: int,
    holds: Callable[[SidesOfTest], bool | None],
) -> Verdict:
    """Evaluate the sides of an assertion on random tensors, and return the verdict of `holds` on their values."""
    known = {axis: size for shape in shapes.values() for axis, size in shape.items() if isinstance(size, int)}
    tests = _tests(before, programs, {str(name): shape for name, shape in inputs.items()}, {**known, **sizes}, trials)
    domain: str | None = None
    seen = 0
    for style, values in tests:
        if seen >= trials and style != BOUNDARY:
            continue
        given = {name: value.to_operand() for name, value in values.items()}
        try:
            results = [program(values=given, sizes=sizes or None) for program in programs]
        except NotationError as problem:
            # If there are several programs, an assumption failed.
            if problem.code == DOES_NOT_HOLD and len(programs) == 1:
                return Verdict(FALSE, given)
            if problem.kind != "value":
                raise
            continue
        test = _test(style, programs, results, values, sizes)
        domain = "" if style not in EXTREME and test.is_partial else domain
        verdict = holds(test)
        if verdict is False:
            return Verdict(FALSE, given, tuple(results))
        seen += verdict is True and style != BOUNDARY
    return Verdict(HOLDS, trials=seen, domain=domain)


def _tests(
    before: Sequence[Any],
    programs: Sequence[Formula],
    inputs: Mapping[str, Mapping[str, Any]],
    sizes: Mapping[str, int],
    trials: int,
) -> Iterator[tuple[str, dict[str, PlainTensor]]]:
    """Yield random inputs of several styles, each with its style. Some inputs lie at boundaries of their sets.

    Axes get sizes in order of appearance.
    """
    sets = {to_text(name): of.sets[0] for of in before if isinstance(of, nodes.Declaration) for name in of.names}
    domains = {name: domain_of(of) for name, of in sets.items()} | find_stated_domains(before)

    def sampler(seed: int) -> Sampler:
        lengths = RandomNumbers(f"{seed}")
        extents: dict[str, int] = {}

        def length(axis: str, size: Any) -> int:
            size = sizes.get(axis, resolve(size))
            return size if isinstance(size, int) else extents.setdefault(str(size), lengths.whole(2, 4))

        shapes = {name: {axis: length(axis, size) for axis, size in shape.items()} for name, shape in inputs.items()}
        return Sampler(shapes, domains, 2)

    for attempt, style in enumerate(styles(MAX_ATTEMPTS * trials)):
        yield style, sampler(attempt).inputs(attempt, style)
    for program in programs:
        yield from ((BOUNDARY, values) for values in sampler(0).boundary_inputs(0, program.tree))


def _test(
    style: str,
    programs: Sequence[Formula],
    results: Sequence[Any],
    values: Mapping[Any, PlainTensor],
    sizes: dict[str, int],
) -> SidesOfTest:
    """Return the values of the sides for one test, aligned to the same axes."""
    tensors = [value_of(result) for result in results]
    shape: dict[str, int] = {}
    for program, tensor in zip(programs, tensors):
        for axis, size in tensor.sizes.items():
            if shape.setdefault(axis, size) != size:
                one, other = (to_text(side.tree.statements[-1]) for side in (programs[0], program))
                message = f"axis {axis} has size {shape[axis]} in {one} and size {size} in {other}"
                hint = "rename one of the two axes, or compare tensors of the same sizes"
                raise NotationError(302, message, f"{one}, {other}", (0, len(one)), hint=hint)

    @cache
    def magnitudes() -> list[float]:
        given = {str(name): value.to_tensor() for name, value in values.items()}
        total = [0.0] * math.prod(shape.values())
        for program in programs:
            try:
                of = value_of(magnitude_of(to_text(program.tree), given, sizes or None)).broadcast_to(shape).numbers
            except NotationError:  # a differential has a value only within an equation
                continue
            total = [sum(pair) for pair in zip(total, of)]
        return [number if math.isfinite(number) else 0.0 for number in total]

    return SidesOfTest(style, [of.broadcast_to(shape).numbers for of in tensors], magnitudes)


def _equal(test: SidesOfTest) -> bool | None:
    """Return whether the values of all sides are equal.

    Return None if an element is defined on some sides only, or if there are no elements.
    """
    first, *others = test.sides
    compared = [compare(first, side, test.magnitudes) for side in others]
    if any(elements.one_sided for elements in compared):  # an operator such as sort moves undefined elements
        return None
    if any(elements.wrong for elements in compared):
        return False
    return True if not first or any(map(math.isfinite, first)) else None


def _is_ordered(test: SidesOfTest, sign: int, strict: bool) -> bool | None:
    """Return whether each element of the first side is at most the element of the second, or None without values.

    Equal elements violate a strict inequality. In a test with extreme values, however, equal elements may be the result
    of an overflow, and the function returns None.
    """
    one, two = test.sides[::sign]
    if any(map(math.isnan, (*one, *two))):
        return None
    larger = [index for index, (left, right) in enumerate(zip(one, two)) if left > right]
    left, right = ([side[index] for index in larger] for side in (one, two))
    if any(compare(left, right, lambda: [test.magnitudes()[index] for index in larger])):
        return False
    if strict and any(left == right for left, right in zip(one, two)):
        return None if test.style in EXTREME else False
    return True
