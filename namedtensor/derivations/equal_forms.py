"""Whether an equation has a proof: both of its sides have one index normal form. Nothing here needs an array.

∑_{a} softmax_{a} x = 1       has one
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Equation, Name, Node, Value
from grammar.parser import parse

from ..calculus.derivative import perturbing
from ..core.settings import recursion_headroom
from ..operators.user_functions import known_functions
from ..scope.names import walk
from ..symbolic import algebra
from ..symbolic.from_terms import Forms, NotReadable
from ..symbolic.known import recognized
from ..symbolic.work import TooLong, working
from ..terms.terms import Term
from .program_facts import facts_of
from .reading import reading_checker


def has_proof(claim: str, shapes: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether the last equation of a program, written as text, has a proof for inputs of these shapes."""
    tree = parse(claim, "text", functions=frozenset(known_functions()))
    *before, last = tree.statements
    if not isinstance(last, Equation):
        return False
    sides = sides_of(last)
    try:
        with recursion_headroom(claim):
            return normal_form(claim, program_of(before, sides), sides, shapes, {})[1]
    except NotationError:
        return False


def program_of(before: Sequence[Any], sides: tuple[Node, ...]) -> nodes.Program:
    """A program whose values are the sides of an equation."""
    return nodes.Program((*before, *(Value(side) for side in sides)))


def sides_of(equation: Equation) -> tuple[Node, ...]:
    """The expressions that are asserted to be equal: a name alone at the head of three or more only names them."""
    first, *rest = equation.sides
    if len(rest) > 1 and isinstance(first, Name):
        words = {node.text for side in rest for node in walk(side) if isinstance(node, Name)}
        if first.text not in words:
            return tuple(rest)
    return equation.sides


def normal_form(
    claim: str, program: nodes.Program, sides: tuple[Node, ...], shapes: Any, sizes: Any
) -> tuple[dict[Any, Any], bool]:
    """The shapes of the inputs, and whether the sides have one normal form."""
    with working(proving=True) as work:
        checker = reading_checker(claim, program, shapes, sizes)
        with perturbing(checker, sides, checker.top):
            terms = [checker.infer(side, checker.top) for side in sides]
        result = {str(name): dict(term.shape) for name, term in (*checker.top.variables.items(), *checker.parameters.items())
                 if term.operator == "input"}  # fmt: skip
        if len({frozenset(term.shape) for term in terms}) > 1 or any(term.boolean for term in terms):
            return result, False
        try:
            if checker.scope.claims or checker.scope.declarations:  # the equation holds where these do
                work.facts = facts_of(checker, {}, ())
            return result, _equal(terms)
        except (NotReadable, TooLong, ArithmeticError):
            return result, False


def _equal(terms: list[Term]) -> bool:
    forms = Forms({}, room=10**6)
    first, *rest = [recognized(forms.of(term)) for term in terms]
    return all(not algebra.add(first, algebra.scaled(products, -1)) for products in rest)
