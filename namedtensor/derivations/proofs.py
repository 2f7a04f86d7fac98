"""Proofs: an equation is proved if both sides have one index normal form, and disproved if random tensors differ.

    prove("∑_{a} softmax_{a} x = 1", x="ℝ^{a}")           proved
    prove("x ≤ softplus x", x="ℝ^{a}")                    not proved; holds on 200 random tests

A proof uses no rewrite rule with singular cases: it holds wherever both sides have a value. An inequality has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Equation, Node, Value
from grammar.parser import parse
from grammar.plain_text import encodable
from grammar.printer import to_text

from ..core.settings import recursion_headroom
from ..core.sizes import resolve
from ..core.tensor import tensor
from ..operators.user_functions import known_functions
from ..programs.claims import along
from ..programs.program import Formula
from ..scope.names import walk
from .closed_form import read_shapes, stripped
from .differences import folded
from .equal_forms import normal_form, program_of, sides_of
from .points import shown

PROVED, FALSE, HOLDS = "proved", "disproved", "not disproved"
TRIALS, CLOSE = 8, 1e-6
INEQUALITY_TRIALS = 200
COMPARED = {
    "≤": (1, False),
    "≥": (-1, False),
    "<": (1, True),
    ">": (-1, True),
}  # the sign of right − left, and if it may be 0
DOES_NOT_HOLD = 403


@dataclass(frozen=True)
class Verdict:
    """What is known of an assertion: `status`, and where it is disproved the tensors that show it.

    `trials` is the number of random tests on which an assertion holds that is neither proved nor disproved.
    """

    status: str
    counterexample: Mapping[str, Any] = field(default_factory=dict)
    sides: tuple[Any, ...] = ()
    trials: int = 0
    is_equation: bool = True

    @encodable
    def __str__(self) -> str:
        if self.status == HOLDS:
            tests = f"holds on {self.trials} random tests" if self.trials else "undefined on every random test"
            return f"{HOLDS}: {tests}" if self.is_equation else f"not proved; {tests}"
        if not self.counterexample:
            return self.status
        return f"{self.status}: where {', '.join(f'{name} = {shown(value)}' for name, value in self.counterexample.items())}"

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
    """Test whether an equation holds for all tensors; an inequality is tested on random tensors only.

    Parameters
    ----------
    equation : str
        A program whose last statement is the equation, or an inequality.
    syntax : {"auto", "text", "latex"}
        The syntax of the text (default: "auto", which detects it).
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
        If the text is not an equation or an inequality, or is wrong as a formula.

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
    tree = parse(equation, syntax, functions=frozenset(known_functions()))
    *before, last = tree.statements
    if comparisons := comparisons_of(last):
        return _compared_on_draws(equation, before, comparisons, shapes, dict(sizes or {}), trials or INEQUALITY_TRIALS)
    if not isinstance(last, Equation) or last.range is not None:
        raise NotationError(
            112, "a proof needs an equation or an inequality", equation, last.span, hint="write u = v, or u ≤ v"
        )
    sides = sides_of(last)
    trials = trials or TRIALS
    with recursion_headroom(equation):
        inputs, proved = normal_form(equation, program_of(before, sides), sides, stripped(shapes), {})
        if proved:
            return Verdict(PROVED)
        return _tried(before, sides, inputs, read_shapes(shapes), dict(sizes or {}), trials)


def comparisons_of(statement: Any) -> list[nodes.Call]:
    """Return the comparisons of an inequality, of which 0 ≤ x < 1 has two; none of another statement."""
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


def _compared_on_draws(
    source: str, before: list[Any], comparisons: list[nodes.Call], shapes: Any, sizes: dict[str, int], trials: int
) -> Verdict:
    """Test an inequality on random tensors."""
    total = Verdict(HOLDS, trials=trials, is_equation=False)
    for comparison in comparisons:
        sides = comparison.arguments
        with recursion_headroom(source):
            inputs, _ = normal_form(source, program_of(before, sides), sides, stripped(shapes), {}, proof=False)
        programs = [Formula(to_text(nodes.Program((*before, Value(side))))) for side in sides]
        sign, strict = COMPARED[comparison.operator]

        def holds(values: list[Any], sign: int = sign, strict: bool = strict) -> bool | None:
            return _in_order(values[::sign], strict)

        verdict = _by_draws(programs, inputs, read_shapes(shapes), sizes, trials, holds)
        if verdict.status == FALSE:
            return replace(verdict, is_equation=False)
        total = replace(total, trials=min(total.trials, verdict.trials))
    return total


def _tried(
    before: list[Any],
    sides: tuple[Node, ...],
    inputs: dict[Any, Any],
    shapes: dict[Any, Any],
    sizes: dict[str, int],
    trials: int,
) -> Verdict:
    """Test the equation on random tensors."""
    if any(isinstance(node, nodes.Differential) for side in sides for node in walk(side)):
        zero = Value(nodes.Number(0))  # for a differential by itself has no value
        programs = [Formula(to_text(nodes.Program((*before, Equation(sides), zero))))]
    else:
        programs = [Formula(to_text(nodes.Program((*before, Value(side))))) for side in sides]
    return _by_draws(programs, inputs, shapes, sizes, trials, _equal)


def _by_draws(
    programs: list[Formula],
    inputs: dict[Any, Any],
    shapes: dict[Any, Any],
    sizes: dict[str, int],
    trials: int,
    holds: Callable[[list[Any]], bool | None],
) -> Verdict:
    """Whether programs have one value, and whether their assertion holds, on random tensors."""
    known = {axis: size for shape in shapes.values() for axis, size in shape.items() if isinstance(size, int)}
    draw, seen = Random(0), 0
    for attempt in range(2 * trials):
        extents: dict[Any, int] = {}
        values = {name: _drawn(shape, extents, {**known, **sizes}, draw, attempt) for name, shape in inputs.items()}
        try:
            results = [program(values=values, sizes=sizes or None) for program in programs]
        except NotationError as problem:
            if problem.code == DOES_NOT_HOLD and len(programs) == 1:  # of several, it is what the program assumes
                return Verdict(FALSE, values)
            if problem.kind != "value":
                raise
            continue
        verdict = holds(results)
        if verdict is False:
            return Verdict(FALSE, values, tuple(results))
        seen += verdict is True
        if seen == trials:
            break
    return Verdict(HOLDS, trials=seen)


def _drawn(
    shape: Mapping[str, Any], extents: dict[Any, int], sizes: Mapping[str, int], draw: Random, attempt: int
) -> Any:
    """Generate a random tensor: of positive elements in every other trial, of negative ones or integers in every fourth."""
    lengths = []
    for axis, size in shape.items():
        size = sizes.get(axis, resolve(size))
        lengths.append(size if isinstance(size, int) else extents.setdefault(str(size), draw.randint(2, 4)))

    def number() -> float:
        if attempt % 4 == 2:
            return -round(draw.uniform(0.2, 2), 2) if attempt < 2 * TRIALS else draw.randint(-3, 3)  # where ties are
        return round(draw.uniform(0.2, 2), 2) if attempt % 2 else round(draw.gauss(0, 1), 2)

    if not shape:
        return number()
    flat = [number() for _ in range(math.prod(lengths))]
    return tensor(folded(flat, lengths), " ".join(shape))


def _sides(values: list[Any]) -> Iterator[tuple[list[float], list[float], float]]:
    """Yield the first of some values and each other, along the same axes, and the largest number on either side."""
    import numpy as np

    first, *rest = values
    for other in rest:
        order = tuple(dict.fromkeys((*first.axes, *other.axes)))
        sides = (along(side.to_numpy(side.axes), side.axes, order) for side in (first, other))
        one, two = (side.ravel().tolist() for side in np.broadcast_arrays(*sides))
        yield one, two, max(1.0, *map(abs, one), *map(abs, two)) if one else 1.0


def _equal(values: list[Any]) -> bool | None:
    """Whether values are equal; None where one has none."""
    for one, two, scale in _sides(values):
        if not all(map(math.isfinite, (*one, *two))):
            return None
        if any(abs(left - right) > CLOSE * scale for left, right in zip(one, two)):
            return False
    return True


def _in_order(values: list[Any], strict: bool) -> bool | None:
    """Whether each number of the first is at most that of the second; None where one has no value."""
    ((one, two, scale),) = _sides(values)
    if any(map(math.isnan, (*one, *two))):
        return None
    return not any(left > right + CLOSE * scale or (strict and left == right) for left, right in zip(one, two))
