"""The way to a closed form, for derivatives of any order: that of the first, identified, then that of its derivative.

D' = ∂f(x)/∂x* = …        identification
∂D' = …                   the steps of the second order
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Derivative, Equation, Name, Value
from grammar.printer import to_text

from ..symbolic.from_terms import NotReadable
from ..symbolic.naming import words_of
from ..symbolic.spelling import Unwritable
from ..symbolic.work import TooLong, budgeted, working
from .identification import Typed, closed_program, names_of
from .reading import needed
from .steps import Step, Steps, steps_of

IDENTIFICATION, LAW = "identification", "the factor of ∂X* is the derivative"


def way_to(typed: Typed, closed: nodes.Program, identified: bool) -> Steps:
    """The steps to a closed form; none where a part cannot be written."""
    try:
        with budgeted(typed.limit):
            found = _way(typed, closed, set())
    except (NotReadable, Unwritable, TooLong, ArithmeticError, NotationError):
        return Steps()
    last = typed.tree.statements[-1]
    if identified and isinstance(last, Value) and isinstance(last.body, Derivative) and found.steps:
        title, form = equation_of(closed)
        named = {each.sides[0] for each in found.names}
        kept = [each for each in needed(typed.tree.statements[:-1], words_of(last.body)) if each not in found.kept]
        kept = [each for each in kept if not isinstance(each, Equation) or each.sides[0] not in named]
        found = replace(found, kept=(*found.kept, *kept))
        return found.then(Step(IDENTIFICATION, Equation((title, form, last.body)), LAW))
    return found


def _way(typed: Typed, closed: nodes.Program, taken: set[str]) -> Steps:
    last = typed.tree.statements[-1]
    taken = taken | words_in(closed) | words_in(typed.tree)
    if not (isinstance(last, Value) and isinstance(last.body, Derivative) and isinstance(last.body.body, Derivative)):
        return first_order(typed, taken)
    before = typed.of(nodes.Program((*typed.tree.statements[:-1], Value(last.body.body))))
    title = "D" + "'" * order_of(last.body.body)
    inner = in_agreement(before, closed, title)
    way = _way(before, inner, taken).then(Step(IDENTIFICATION, Equation((last.body.body, equation_of(inner)[-1])), LAW))
    said = {each.sides[0] for each in way.names}
    lines = (each for each in inner.statements if not isinstance(each, Equation) or each.sides[0] not in said)
    derivative = Derivative(Name(title), last.body.variable, last.body.mark)
    outer = nodes.Program((*way.names, *lines, Value(derivative)))
    used = taken | words_in(inner).union(*(words_of(each) for each in way.names))
    further = first_order(typed.of(outer), used)
    kept = (*way.kept, *inner.statements[:-1], *further.kept)
    names = (each for each in further.names if each.sides[0] not in said)
    steps = (each for each in further.steps if each not in way.steps)
    return Steps((*way.names, *names), (*way.steps, *steps), kept)


def equation_of(closed: nodes.Program) -> tuple[Any, ...]:
    """The sides of the last line of a closed form."""
    last = closed.statements[-1]
    assert isinstance(last, Equation)
    return last.sides


def in_agreement(typed: Typed, closed: nodes.Program, title: str) -> nodes.Program:
    """The closed form of a lower order, none of whose names is another thing in the higher one."""
    found = closed_program(typed.tree, typed.read()[0], title)
    theirs = {each.sides[0]: each for each in closed.statements if isinstance(each, Equation)}
    if all(theirs.get(each.sides[0], each) == each for each in found.statements if isinstance(each, Equation)):
        return found
    return closed_program(typed.tree, typed.read(words_in(closed))[0], title)


def order_of(node: nodes.Derivative) -> int:
    return 1 + (order_of(node.body) if isinstance(node.body, Derivative) else 0)


def words_in(program: nodes.Program) -> set[str]:
    return {word for statement in program.statements for word in words_of(statement)} | {"D", "I", "e"}


def first_order(typed: Typed, words: set[str]) -> Steps:
    """The steps of the first derivative that was taken, and the definitions that these need."""
    checker = typed.checker()
    term = checker.whole()
    if not checker.taken:
        return Steps()
    with working(limit=typed.limit):
        found = steps_of(checker, checker.taken[0], names_of(checker, term), words)
    wanted: set[str] = set()
    for equation in (*found.names, *(step.node for step in found.steps)):
        wanted |= words_of(equation)
    kept: tuple[Any, ...] = needed(typed.tree.statements[:-1], wanted)
    restated = {to_text(each.sides[0]) for each in found.names}
    kept = tuple(each for each in kept if not (isinstance(each, Equation) and to_text(each.sides[0]) in restated))
    return Steps(found.names, found.steps, kept)
