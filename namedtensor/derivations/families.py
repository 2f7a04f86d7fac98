"""Derivatives of any order of programs with families: by adjoints where a recurrence has them, else by sensitivities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.nodes import Derivative, Equation, Name, Value

from ..scope.names import walk
from ..symbolic.naming import words_of
from .adjoints import recurrent
from .orders import IDENTIFICATION, LAW, order_of
from .sensitivities import by_sensitivities, unused
from .steps import DerivationStep, DerivationSteps

Found = tuple[nodes.Program, int, DerivationSteps, Mapping[str, tuple[str, str]]]


def of_families(
    source: str, tree: nodes.Program, shapes: dict[str, dict[str, Any]], sizes: dict[str, int]
) -> Found | None:
    """The program whose last line is the derivative that is the value of `tree`, its length, the steps, and what is by X already."""
    *before, last = tree.statements or (None,)
    taken = last.body if isinstance(last, Value) else None
    if not isinstance(taken, Derivative):
        return None
    if not isinstance(taken.body, Derivative):
        inside = (node for part in (*before, taken.body) for node in walk(part))
        if any(isinstance(node, (Derivative, nodes.Differential)) for node in inside):
            return None
        result = recurrent(source, tree, taken, shapes, sizes)
        return by_sensitivities(source, tree, taken, shapes, sizes) if result is None else (*result, {})
    inner = of_families(source, nodes.Program((*before, Value(taken.body))), shapes, sizes)
    if inner is None:
        return None
    program, _, way, primed = inner
    *lines, equation = program.statements
    assert isinstance(equation, Equation)
    title = Name(
        unused(
            "D" + "'" * order_of(taken.body),
            words_of(tree).union(*map(words_of, lines)),
        )
    )
    outer = Derivative(title, taken.variable, taken.mark)
    known = primed if taken.variable == taken.body.variable else {}
    lines.append(Equation((title, equation.sides[1])))
    result = by_sensitivities(source, nodes.Program((*lines, Value(outer))), outer, shapes, sizes, known)
    if result is None:
        return None
    program, length, after, primed = result
    lower = DerivationStep(IDENTIFICATION, Equation((title, equation.sides[1], taken.body)), LAW)
    highest = replace(after.steps[-1], node=Equation((*after.steps[-1].node.sides[:-1], taken)))
    steps = (*way.steps[:-1], lower, *after.steps[:-1], highest)
    return program, length, DerivationSteps((), steps, (*way.kept, *after.kept)), primed
