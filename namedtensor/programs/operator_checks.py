"""Checks of user-defined differentials: they must have the correct axes and be linear in the change."""

from __future__ import annotations

import re
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.parser import parse

from ..operators.user_functions import ProgramOperators, using
from ..scope.names import walk
from .checks import check_program
from .parsed import ParsedProgram

LETTERS = ("X", "Y", "Z")  # names of the operands in definitions and differentials
CHANGE = "change"  # the axis of the directions in which a differential is tried


def check_differential(custom: Any) -> None:
    """Raise NotationError if an operator's differentials are invalid.

    The differential of an operand X must be "0", or an expression that has the correct axes and is linear in ∂X. This
    expression must not contain the change of another operand, or apply the operator itself to ∂X.
    """
    count = len(custom.lifted.inputs)
    if len(custom.differential) != count:
        hint = 'pass one for each operand, "0" where it contributes nothing'
        raise NotationError(
            304, f"{custom.name} has {count} operands, got {len(custom.differential)} differentials", hint=hint
        )
    functions = frozenset((custom.name,))
    for letter, text in zip(LETTERS, custom.differential):
        if text.strip() == "0":
            continue
        tree = parse(text, "text", functions=functions)
        changes = [node for node in walk(tree) if isinstance(node, nodes.Differential)]
        if not changes or any(node.body != nodes.Name(letter) for node in changes):
            hint = f"write it as a linear function of ∂{letter}, such as {letter} ⊙ ∂{letter}"
            raise NotationError(
                114,
                f"the differential of {custom.name} with respect to {letter} does not contain ∂{letter} alone",
                text,
                (0, len(text)),
                hint=hint,
            )
        for node in walk(tree):
            within = node.arguments if isinstance(node, nodes.Call) and node.operator == custom.name else ()
            if any(isinstance(inner, nodes.Differential) for part in within for inner in walk(part)):
                hint = "state it with built-in operators, and the operator itself on X only"
                raise NotationError(
                    405, f"{custom.name} is applied to ∂{letter} in its own differential", text, node.span, hint=hint
                )
        check_axes(custom, letter, text)
        check_linear(custom, letter, text)


def check_axes(custom: Any, letter: str, text: str) -> None:
    """Raise NotationError if a differential has other axes than the operator's result, or does not depend on ∂X."""
    changed = with_name(text, letter)
    shapes = shapes_of(custom)
    shapes[f"d{letter}"] = {**shapes[letter], CHANGE: 5}
    axes = ", ".join(custom.lifted.formals)
    with using(ProgramOperators({custom.name: custom.registered})):
        result = check_program(ParsedProgram(changed, "text"), shapes, None, None)
    if result.errors:
        problem = result.errors[0]
        raise problem.replace(message=f"the differential of {custom.name}: {problem.message}")
    expected, got = {*custom.lifted.output, CHANGE}, {*(result.shape or ())}
    if CHANGE not in got:
        raise NotationError(
            114,
            f"the differential of {custom.name} loses ∂{letter}",
            text,
            (0, len(text)),
            hint=f"multiply by ∂{letter}",
        )
    if got != expected:
        show = [" × ".join(sorted(axes - {CHANGE})) or "no axes" for axes in (got, expected)]
        raise NotationError(
            307, f"the differential of {custom.name} with respect to {letter} has {show[0]}, expected {show[1]}", text, (0, len(text)),
            notes=(f"its signature is {custom.stated}",),
            hint=f"a differential has the axes of the result; it may use {axes}" if axes else "a differential of numbers is a number",
        )  # fmt: skip


def check_linear(custom: Any, letter: str, text: str) -> None:
    """Raise NotationError unless a change multiplied by −2 multiplies the differential by −2, as linearity requires.

    If evaluation fails, such as for an operator without a NumPy function, skip the check.
    """
    import numpy as np

    from ..core.tensor import tensor
    from .program import Formula

    random = np.random.default_rng(0)
    shapes = shapes_of(custom)
    inputs = {name: tensor(random.uniform(0.5, 1.5, (*shape.values(),)), (*shape,)) for name, shape in shapes.items()}
    change = tensor(random.normal(size=(*shapes[letter].values(),)), (*shapes[letter],))
    try:
        with using(ProgramOperators({custom.name: custom.registered})):
            formula = Formula(with_name(text, letter), "text")
        once, other = (formula(values={**inputs, f"d{letter}": times * change}).to_numpy() for times in (1.0, -2.0))
    except Exception:  # The operator's function may not accept NumPy arrays.
        return
    if not np.allclose(-2 * once, other, equal_nan=True):
        hint = f"write it as a sum of products with one factor ∂{letter} each, such as {letter} ⊙ ∂{letter}"
        message = f"the differential of {custom.name} with respect to {letter} is not linear in ∂{letter}"
        raise NotationError(114, message, text, (0, len(text)), hint=hint)


def with_name(text: str, letter: str) -> str:
    """Return the source text of a differential in which the name dX replaces ∂X."""
    return re.sub(rf"∂\s*{letter}", f" d{letter}", text)


def shapes_of(custom: Any) -> dict[str, dict[str, int]]:
    sizes = {axis: number + 2 for number, axis in enumerate(custom.lifted.formals)}
    return {letter: {axis: sizes[axis] for axis in axes} for letter, axes in zip(LETTERS, custom.lifted.inputs)}
