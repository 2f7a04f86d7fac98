"""Proofs: an equation is proved if both sides have one index normal form, and disproved if random tensors differ.

    prove("∑_{a} softmax_{a} x = 1", x="ℝ^{a}")           proved

A proof uses no rewrite rule with singular cases: it holds wherever both sides have a value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
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
from ..core.tensor import NamedTensor, tensor
from ..operators.user_functions import known_functions
from ..programs.program import Formula
from ..scope.names import walk
from .closed_form import read_shapes, stripped
from .equal_forms import normal_form, program_of, sides_of

PROVED, FALSE, HOLDS = "proved", "disproved", "not disproved"
TRIALS, CLOSE = 8, 1e-6
DOES_NOT_HOLD = 403


@dataclass(frozen=True)
class Verdict:
    """What is known of an assertion: `status`, and where it is disproved the tensors that show it."""

    status: str
    counterexample: Mapping[str, Any] = field(default_factory=dict)
    sides: tuple[Any, ...] = ()

    @encodable
    def __str__(self) -> str:
        if not self.counterexample:
            return self.status
        return f"{self.status}: where {', '.join(f'{name} = {shown(value)}' for name, value in self.counterexample.items())}"

    __repr__ = __str__


def shown(value: Any) -> str:
    """Format a tensor in the input syntax of the command line."""
    if not isinstance(value, NamedTensor):
        return f"{value:.3g}"
    return f"{value.tolist(value.axes)}:{','.join(value.axes)}"


def prove(
    equation: str,
    /,
    *,
    syntax: str = "auto",
    sizes: Mapping[str, int] | None = None,
    trials: int = TRIALS,
    **shapes: Any,
) -> Verdict:
    """Test whether an equation holds for all tensors.

    Parameters
    ----------
    equation : str
        A program whose last statement is the equation.
    syntax : {"auto", "text", "latex"}
        The syntax of the text (default: "auto", which detects it).
    sizes : mapping of str to int, optional
        Sizes of axes that the types do not determine.
    trials : int
        Number of random tests that look for a counterexample (default: 8).
    **shapes : str, tensor or sequence of str
        The type of each input, as for `check`.

    Returns
    -------
    Verdict
        Its `status` is "proved", "disproved" (with a `counterexample`) or "not disproved".

    Raises
    ------
    NotationError
        If the text is not an equation, or is wrong as a formula.

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
    """
    tree = parse(equation, syntax, functions=frozenset(known_functions()))
    *before, last = tree.statements
    if not isinstance(last, Equation) or last.range is not None:
        raise NotationError(112, "a proof needs an equation", equation, last.span, hint="write u = v")
    sides = sides_of(last)
    with recursion_headroom(equation):
        inputs, proved = normal_form(equation, program_of(before, sides), sides, stripped(shapes), {})
        if proved:
            return Verdict(PROVED)
        return _tried(before, sides, inputs, read_shapes(shapes), dict(sizes or {}), trials)


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
    return _by_draws(programs, inputs, shapes, sizes, trials)


def _by_draws(
    programs: list[Formula], inputs: dict[Any, Any], shapes: dict[Any, Any], sizes: dict[str, int], trials: int
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
        verdict = _compared(results)
        if verdict is False:
            return Verdict(FALSE, values, tuple(results))
        seen += verdict is True
        if seen == trials:
            break
    return Verdict(HOLDS)


def _drawn(
    shape: Mapping[str, Any], extents: dict[Any, int], sizes: Mapping[str, int], draw: Random, attempt: int
) -> Any:
    """Generate a random tensor; half of the trials use positive elements."""
    lengths = []
    for axis, size in shape.items():
        size = sizes.get(axis, resolve(size))
        lengths.append(size if isinstance(size, int) else extents.setdefault(str(size), draw.randint(2, 4)))

    def number() -> float:
        return round(draw.uniform(0.2, 2), 2) if attempt % 2 else round(draw.gauss(0, 1), 2)

    if not shape:
        return number()
    flat = [number() for _ in range(math.prod(lengths))]
    for length in lengths[:0:-1]:
        flat = [flat[at : at + length] for at in range(0, len(flat), length)]  # type: ignore[misc]
    return tensor(flat, " ".join(shape))


def _compared(values: list[Any]) -> bool | None:
    """Whether values are equal; None where one has none."""
    first, *rest = values
    for other in rest:
        if set(first.axes) != set(other.axes):
            return False
        one, two = first.to_numpy(first.axes).ravel().tolist(), other.to_numpy(first.axes).ravel().tolist()
        if not all(map(math.isfinite, (*one, *two))):
            return None
        scale = max(1.0, *map(abs, one), *map(abs, two)) if one else 1.0
        if any(abs(left - right) > CLOSE * scale for left, right in zip(one, two)):
            return False
    return True
