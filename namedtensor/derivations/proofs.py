"""Prove equations by their index normal form, and find counterexamples in random tests.

    prove("∑_{a} softmax_{a} x = 1", x="ℝ^{a}")           proved
    prove("x ≤ softplus x", x="ℝ^{a}")                    not proved; holds on 200 random tests

Proofs use no rewrite rules with singular cases, so a proved equation is true whenever both sides have a value.
Inequalities are only tested. A random test counts only if both sides have a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

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
from ..programs.plain_values import PlainTensor
from ..programs.program import Formula
from ..programs.random_inputs import EXTREME, OVERFLOWING, STYLES, RandomNumbers, domain_of, find_stated_domains, styles
from ..programs.sampling import Sampler
from ..scope.names import walk
from .closed_form import read_shapes, strip_unknown_sizes
from .equal_forms import normal_form, program_of, sides_of
from .points import format_tensor
from .side_values import SideValues, align_sides

PROVED, FALSE, HOLDS = "proved", "disproved", "not disproved"
TRIALS = len(STYLES)
INEQUALITY_TRIALS = 200
COMPARED = {
    "≤": (1, False),
    "≥": (-1, False),
    "<": (1, True),
    ">": (-1, True),
}  # The sign of right − left, and whether equality is excluded.
DOES_NOT_HOLD = 403
MAX_ATTEMPTS = 8  # The maximum number of generated tests per required test.


@dataclass(frozen=True)
class Verdict:
    """The result of a proof or of random tests, with its `status` and the tensors that disprove the assertion.

    If an assertion is neither proved nor disproved, `trials` is the number of random tests that it passed. `domain` is
    None if both sides are defined for the same tensors. Otherwise, `domain` is the condition under which both sides are
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
    """Prove or test an equation for all tensors. Inequalities are only tested, on random tensors.

    Parameters
    ----------
    equation : str
        A program whose last statement is the equation, or an inequality.
    syntax : {"auto", "text", "latex"}
        The syntax of `equation` (default: "auto", which detects the syntax).
    sizes : mapping of str to int, optional
        The sizes of axes that the types do not determine.
    trials : int, optional
        The number of random tests (default: 8, or 200 for an inequality).
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
    comparisons = comparisons_of(last)
    if not comparisons and (not isinstance(last, Equation) or last.range is not None):
        raise NotationError(
            112, "a proof needs an equation or an inequality", equation, last.span, hint="write u = v, or u ≤ v"
        )
    given, numbers = strip_unknown_sizes(shapes), dict(sizes or {})
    pairs = (pair for shape in read_shapes(shapes).values() for pair in shape.items())
    lengths = {axis: size for axis, size in pairs if isinstance(size, int)} | numbers
    test = partial(_test_randomly, before, sizes=numbers, lengths=lengths)
    with recursion_headroom(equation):
        if isinstance(last, Equation):
            sides = sides_of(last)
            inputs, proved = normal_form(equation, before, sides, given)
            domain = condition_for_all([program_of(before, (side,)) for side in sides], map(str, inputs)) or None
            if proved:
                return Verdict(PROVED, domain=domain)
            verdict = test(sides, inputs, trials=trials or TRIALS, holds=_equal)
            return replace(verdict, domain=domain or verdict.domain) if verdict.status == HOLDS else verdict
        held = trials = trials or INEQUALITY_TRIALS
        for comparison in comparisons:
            sides, (sign, strict) = comparison.arguments, COMPARED[comparison.operator]
            inputs, _ = normal_form(equation, before, sides, given, proof=False)
            verdict = test(sides, inputs, trials=trials, holds=partial(_is_ordered, sign=sign, strict=strict))
            if verdict.status == FALSE:
                return replace(verdict, is_equation=False)
            held = min(held, verdict.trials)
        return Verdict(HOLDS, trials=held, is_equation=False)


def comparisons_of(statement: Any) -> list[nodes.Call]:
    """Return the comparisons in an inequality, such as 0 ≤ x and x < 1 in 0 ≤ x < 1.

    For any other statement, return [].
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


def _test_randomly(
    before: Sequence[Any],
    sides: Sequence[Node],
    inputs: Mapping[Any, Mapping[str, Any]],
    sizes: Mapping[str, int],
    lengths: Mapping[str, Any],
    trials: int,
    holds: Callable[[SideValues, str], bool | None],
) -> Verdict:
    """Test an assertion on random tensors and return the verdict. `holds` compares the values of its sides."""
    programs = [Formula(to_text(program_of(before, (side,)))) for side in sides]
    if any(isinstance(node, nodes.Differential) for side in sides for node in walk(side)):
        zero = Value(nodes.Number(0))  # A differential has no value outside of an equation.
        programs = [Formula(to_text(nodes.Program((*before, Equation(tuple(sides)), zero))))]
    tests = _tests(before, programs, {str(name): shape for name, shape in inputs.items()}, lengths, trials)
    domain: str | None = None
    seen = 0
    for style, values in tests:
        if seen >= trials and style != BOUNDARY:
            continue
        given = {name: value.to_operand() for name, value in values.items()}
        try:
            results = [program(values=given, sizes=dict(sizes) or None) for program in programs]
        except NotationError as problem:
            # With several programs, an assumption has failed.
            if problem.code == DOES_NOT_HOLD and len(programs) == 1:
                return Verdict(FALSE, given)
            if problem.kind != "value":
                raise
            continue
        test = align_sides(programs, results, given, sizes)
        domain = "" if style not in EXTREME and test.is_partial else domain
        verdict = holds(test, style)
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
    """Yield sets of random inputs, each with the name of its style. Some inputs are on the boundaries of their sets.

    Axes of unknown size get random sizes from 2 to 4.
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


def _equal(test: SideValues, style: str) -> bool | None:
    """Return whether the values of all sides are equal.

    Return None if an element is defined on only some sides, or if no element of the first side is finite.
    """
    first, *others = test.sides
    compared = [compare(first, side, test.magnitudes, overflows=style in OVERFLOWING) for side in others]
    if any(elements.one_sided for elements in compared):  # An operator such as sort moves undefined elements.
        return None
    if any(elements.wrong for elements in compared):
        return False
    return True if not first or any(map(math.isfinite, first)) else None


def _is_ordered(test: SideValues, style: str, sign: int, strict: bool) -> bool | None:
    """Return whether no element of the smaller side exceeds the larger side's element, or None if an element is NaN.

    If `sign` is 1, the first side is the smaller side, as in left ≤ right. If `sign` is −1, it is the larger side.
    Equal elements violate a strict inequality. In a test with extreme values, however, an overflow may make elements
    equal, so the result is None.
    """
    one, two = test.sides[::sign]
    if any(map(math.isnan, (*one, *two))):
        return None
    larger = [index for index, (left, right) in enumerate(zip(one, two)) if left > right]
    left, right = ([side[index] for index in larger] for side in (one, two))
    if any(compare(left, right, lambda: [test.magnitudes()[index] for index in larger])):
        return False
    if strict and any(left == right for left, right in zip(one, two)):
        return None if style in EXTREME else False
    return True
