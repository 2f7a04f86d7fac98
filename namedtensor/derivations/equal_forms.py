"""Prove equations, such as ∑_{a} softmax_{a} x = 1, without arrays.

A proof converts both sides to the same index normal form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Equation, Name, Node, Value
from grammar.parser import parse

from ..calculus.derivative import perturbing
from ..core.settings import recursion_headroom
from ..operators.user_functions import get_functions
from ..scope.names import walk
from ..symbolic import algebra, canonical
from ..symbolic.factoring import vanishes
from ..symbolic.forms import FormHead, head
from ..symbolic.from_terms import Forms, NotReadableError
from ..symbolic.work import TooLongError, working
from ..terms.environment import source_name
from ..terms.terms import Term
from .program_facts import facts_of
from .reading import reading_checker

MAX_PROOF_OPERATIONS = 100_000  # The maximum number of operations in one proof.
SELECTING = frozenset(("cases", "where", "indicator", "max", "min", "argmax", "argmin", "sort", "clip", "fillna"))


def has_proof(claim: str, shapes: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether the last equation of a program can be proved for inputs of these shapes."""
    tree = parse(claim, "text", functions=frozenset(get_functions()))
    *before, last = tree.statements
    if not isinstance(last, Equation):
        return False
    sides = sides_of(last)
    try:
        with recursion_headroom(claim):
            return normal_form(claim, before, sides, shapes)[1]
    except NotationError:
        return False


def program_of(before: Sequence[Any], sides: Sequence[Node]) -> nodes.Program:
    """Return a program with the statements `before`, then each side of an equation as a value."""
    return nodes.Program((*before, *(Value(side) for side in sides)))


def sides_of(equation: Equation) -> tuple[Node, ...]:
    """Return the sides of an equation. Omit the first side if it is only a name for two or more other sides."""
    first, *rest = equation.sides
    if len(rest) > 1 and isinstance(first, Name):
        words = {node.text for side in rest for node in walk(side) if isinstance(node, Name)}
        if first.text not in words:
            return tuple(rest)
    return equation.sides


def normal_form(
    claim: str, before: Sequence[Any], sides: Sequence[Node], shapes: Any, proof: bool = True
) -> tuple[dict[Any, Any], bool]:
    """Return the shapes of the inputs, and whether all sides have the same normal form.

    If `proof` is false, the second result is False, and the normal forms are not compared.
    """
    with working(proving=True, limit=MAX_PROOF_OPERATIONS) as work:
        checker = reading_checker(claim, program_of(before, sides), shapes, {})
        with perturbing(checker, sides, checker.top):
            terms = [checker.infer(side, checker.top) for side in sides]
        broadcast = max((term.shape.keys() for term in terms), key=len)
        result = {str(name): dict(term.shape) for name, term in (*checker.top.variables.items(), *checker.parameters.items())
                 if term.operator == "input"}  # fmt: skip
        if not proof or any(term.boolean or not term.shape.keys() <= broadcast for term in terms):
            return result, False
        work.positive = positive_inputs(terms)
        try:
            # The equation need only be true under the assumptions.
            if checker.scope.claims or checker.scope.declarations:
                work.facts = facts_of(checker, {}, ())
        except (NotReadableError, TooLongError, ArithmeticError):
            return result, False
        return result, _equal(terms)


def _equal(terms: list[Term]) -> bool:
    """Return whether all terms are provably equal because their differences vanish in normal form."""
    try:
        forms = Forms({}, room=10**6)
        for term in nonzero_terms(terms):
            forms.nonzero.add(canonical.key(forms.of(term)))
        first, *rest = map(forms.of, terms)
        return all(vanishes(algebra.subtract(first, side)) for side in rest)
    except (NotReadableError, TooLongError, ArithmeticError):
        return False


def find_evaluated_terms(terms: Sequence[Term]) -> Iterator[Term]:
    """Yield the terms that are always evaluated with the given terms. Conditions and selected cases are left out."""
    pending, seen = list(terms), set[int]()
    while pending:
        term = pending.pop()
        if id(term) not in seen and not term.boolean and term.operator not in SELECTING:
            seen.add(id(term))
            yield term
            pending += term.arguments


def positive_inputs(terms: Sequence[Term]) -> frozenset[FormHead]:
    """Return the heads of the inputs whose logarithms or square roots occur in the terms.

    These inputs are nonnegative if the terms have a value.
    """
    inputs = [term.arguments[0] for term in find_evaluated_terms(terms) if term.operator in ("log", "sqrt")]
    return frozenset(
        head("tensor", term.options[-1], tuple(map(source_name, term.shape)))
        for term in inputs
        if term.operator == "input"
    )


def nonzero_terms(terms: Sequence[Term]) -> list[Term]:
    """Return the terms that must be nonzero or invertible for the given terms to have a value, inner terms first.

    They are divisors, arguments of logarithms, the factors of these terms, and the operands of inv, solve and logdet.
    If one of these terms is a det, its operand must be invertible, too.
    """
    inside = list(find_evaluated_terms(terms))[::-1]
    below = [term.arguments[1] for term in inside if term.operator == "/"]
    below += [term.arguments[0] for term in inside if term.operator == "log"]
    for term in below:  # A product is 0 if one of its factors is 0.
        if term.operator in ("abs", "sqrt", "negative") or (term.operator == "⊙" and not term.axes):
            below += term.arguments
        elif term.operator == "^" and term.arguments[1].number:
            below.append(term.arguments[0])
    matrices = [term for term in inside if term.operator in ("inv", "solve", "logdet")]
    matrices += [term for term in below if term.operator == "det"]
    return [*below[::-1], *(term.arguments[0] for term in matrices)]
