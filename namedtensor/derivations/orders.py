"""Derive closed forms of derivatives of any order. Each order is identified before the next order is derived.

D' = ∂f(x)/∂x* = …        identification
∂D' = …                   the steps of the second order
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Derivative, Equation, Name, Value

from ..symbolic.facts import KnownFact
from ..symbolic.from_terms import NotReadableError
from ..symbolic.naming import NameReading, words_of
from ..symbolic.spelling import UnwritableError
from ..symbolic.work import TooLongError, open_budget, working
from .identification import DerivativeProgram, make_closed_program, names_of
from .indices import map_nodes
from .reading import equations_of, needed, words_in
from .steps import DerivationStep, DerivationSteps, steps_of

IDENTIFICATION, LAW = "identification", "the factor of ∂X* is the derivative"


def way_to(
    typed: DerivativeProgram, closed: nodes.Program, identified: bool, facts: Sequence[KnownFact] = ()
) -> DerivationSteps:
    """Return the steps of the derivation of a closed form.

    Return no steps if the notation cannot express one of them.
    """
    last = typed.tree.statements[-1]
    if not isinstance(last, Value):
        return DerivationSteps()
    try:
        with open_budget(typed.limit):
            way = _way(typed, closed, set())
            steps = _identify_derivative(typed, closed, last.body, facts) if identified else []
    except (NotReadableError, UnwritableError, TooLongError, ArithmeticError, NotationError):
        return DerivationSteps()
    if not (identified and isinstance(last.body, Derivative) and way.steps):
        return way
    other = others(typed.tree.statements[:-1], {name.sides[0] for name in way.names})
    definitions = [statement for statement in needed(other, words_of(last.body)) if statement not in way.kept]
    return replace(way, kept=(*way.kept, *definitions), steps=(*way.steps, *steps))


def others(statements: Sequence[Any], heads: set[Any]) -> tuple[Any, ...]:
    """Return the statements without the equations that define these names."""
    return tuple(line for line in statements if not isinstance(line, Equation) or line.sides[0] not in heads)


def _identify_derivative(
    typed: DerivativeProgram, closed: nodes.Program, derivative: nodes.Node, facts: Sequence[KnownFact]
) -> list[DerivationStep]:
    """Return the steps that identify the derivative as the factor of ∂X*.

    There is a further step for each assumption that changes the formula.
    """
    title, form = equation_of(closed)
    forms: list[tuple[Any, nodes.Node]] = []
    for count in range(len(facts) + 1) if facts else ():
        reading, *_ = typed.read(without={fact.name for fact in facts[count:]})
        node = _write_out(reading)
        if not forms or node != forms[-1][1]:
            forms.append((facts[count - 1] if count else None, node))
    forms = [*forms[:-1], (forms[-1][0] if forms else None, form)]
    steps = [DerivationStep(IDENTIFICATION, Equation((title, forms[0][1], derivative)), LAW)]
    for fact, node in forms[1:]:
        steps.append(DerivationStep(f"since {fact.name}", Equation((title, node)), fact.name, fact.node))
    return steps


def _write_out(reading: NameReading) -> nodes.Node:
    """Return a closed form as one formula, in which definitions replace the names."""
    node = reading.node
    for name in reversed(reading.names):
        node = map_nodes(node, lambda part, name=name: name.node if part == Name(name.name) else None)
    return node


def _way(typed: DerivativeProgram, closed: nodes.Program, taken: set[str]) -> DerivationSteps:
    last = typed.tree.statements[-1]
    taken = taken | words_in(closed) | words_in(typed.tree)
    if not (isinstance(last, Value) and isinstance(last.body, Derivative) and isinstance(last.body.body, Derivative)):
        return first_order(typed, taken)
    before = typed.of(nodes.Program((*typed.tree.statements[:-1], Value(last.body.body))))
    title = "D" + "'" * order_of(last.body.body)
    inner = align_lower_order(before, closed, title)
    way = _way(before, inner, taken)
    step = DerivationStep(IDENTIFICATION, Equation((last.body.body, equation_of(inner)[-1])), LAW)
    way = replace(way, steps=(*way.steps, step))
    defined = {name.sides[0] for name in way.names}
    derivative = Derivative(Name(title), last.body.variable, last.body.mark)
    declared = tuple(statement for statement in way.kept if statement not in inner.statements)
    outer = nodes.Program((*declared, *way.names, *others(inner.statements, defined), Value(derivative)))
    used = taken | words_in(inner).union(*(words_of(name) for name in way.names))
    further = first_order(typed.of(outer), used)
    definitions = (*way.kept, *inner.statements[:-1], *further.kept)
    names = (name for name in further.names if name.sides[0] not in defined)
    equated = {step.node.sides[0] for step in way.steps}  # A name gets only one step.
    steps = (step for step in further.steps if step.node.sides[0] not in equated)
    return DerivationSteps((*way.names, *names), (*way.steps, *steps), definitions)


def equation_of(closed: nodes.Program) -> tuple[Any, ...]:
    """Return the sides of a closed form's last equation."""
    last = closed.statements[-1]
    assert isinstance(last, Equation)
    return last.sides


def align_lower_order(typed: DerivativeProgram, closed: nodes.Program, title: str) -> nodes.Program:
    """Return the closed form of a lower-order derivative.

    Its names have the same definitions as in the closed form of the higher order.
    """
    program = make_closed_program(typed.tree, typed.read(without=None)[0], title)
    theirs = {equation.sides[0]: equation for equation in equations_of(closed)}
    if all(theirs.get(equation.sides[0], equation) == equation for equation in equations_of(program)):
        return program
    return make_closed_program(typed.tree, typed.read(words_in(closed), without=None)[0], title)


def order_of(node: nodes.Derivative) -> int:
    return 1 + (order_of(node.body) if isinstance(node.body, Derivative) else 0)


def first_order(typed: DerivativeProgram, words: set[str]) -> DerivationSteps:
    """Return the steps for the innermost derivative of a program, with the definitions that they need."""
    checker = typed.checker()
    term = checker.whole()
    if not checker.taken:
        return DerivationSteps()
    with working(limit=typed.limit):
        steps = steps_of(checker, checker.taken[0], names_of(checker, term), words)
    expected: set[str] = set()
    for equation in (*steps.names, *(step.node for step in steps.steps)):
        expected |= words_of(equation)
    other = others(typed.tree.statements[:-1], {name.sides[0] for name in steps.names})
    return replace(steps, kept=needed(other, expected))
