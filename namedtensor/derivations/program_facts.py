"""Collect the assumptions about a program's tensors from declared equations, comparisons, sets and definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Equation, Number
from grammar.printer import to_text

from ..scope.names import walk
from ..symbolic.fact_kinds import PROVED, RECOGNIZED, idempotent
from ..symbolic.facts import NO_FACTS, KnownFact, KnownFacts, Statement, group_facts
from ..symbolic.forms import ONE_, ZERO, NamedValue, Product, indices_of
from ..symbolic.from_terms import Forms, NotReadableError
from ..symbolic.linearizing import ReadingChecker
from ..symbolic.read_back import ReadBack
from ..symbolic.spelling import UnwritableError, call, distinct
from ..symbolic.work import current, tensor
from ..terms.environment import source_name
from ..terms.terms import Term
from .reading import definitions, find_named_term

NO_LAW = (NotationError, NotReadableError, UnwritableError, ArithmeticError)
COMPARISONS = (">", "≥", "<", "≤")


def facts_of(checker: ReadingChecker, names: Mapping[int, str], without: Collection[str] | None = None) -> KnownFacts:
    """Return the assumptions that a typed program states or implies, except the assumptions in `without`.

    If `without` is None, return only the assumptions that follow from definitions. Earlier assumptions help to prove
    later assumptions. Symmetries therefore come first, then other declared assumptions, definitions and sets.
    """
    work, rules = current(), current().rules.copy()
    named, declared = definitions(checker, names), [] if without is None else list(declarations(checker))
    work.facts, chosen = NO_FACTS, {}

    def add(facts: Iterable[KnownFact]) -> None:
        for fact in facts:
            if fact.name not in (without or ()):
                chosen.setdefault(fact.name, fact)
        work.facts = group_facts(chosen.values())

    with work.budget.part():
        for with_orders in (True, False):  # After the first pass, a symmetric tensor has another head.
            for node, statement in declared:
                add(_read_declared_facts(node, statement, names, with_orders))
            for name, term in named:
                add(_read_proved_facts(name, term, names, with_orders))
        for of, term in () if without is None else sets(checker):
            add(_read_set_facts(of, term))
    work.rules = rules  # Count only the rules of the derivation.
    return work.facts


def declarations(checker: ReadingChecker) -> Iterator[tuple[Any, tuple[Term, str, Term]]]:
    """Yield the equations and comparisons that a program asserts, with the compared terms."""
    statements = {statement.span: statement for statement in checker.scope.program.statements}
    for claim in checker.scope.claims:
        statement, relation = statements.get(claim.span), "="
        sides: tuple[Any, ...] = (claim.left, claim.right)
        if isinstance(statement, nodes.Fact):
            condition = statement.condition
            if not isinstance(condition, Call) or condition.operator not in COMPARISONS:
                continue
            relation, sides = condition.operator, condition.arguments
        if statement is None or claim.range is not None or any(isinstance(side, nodes.Set) for side in sides):
            continue
        if any(isinstance(node, (nodes.Derivative, nodes.Differential)) for side in sides for node in walk(side)):
            continue
        try:
            left, right = (checker.infer(side, checker.top) for side in sides)
            yield statement, (left, relation, right)
        except NotationError:
            continue


def sets(checker: ReadingChecker) -> Iterator[tuple[Any, Term]]:
    """Yield each declared set of a name, with the name's term. Skip names without a known term."""
    for _, name, declared, over in checker.scope.declarations:
        try:
            term = find_named_term(checker, name.key()) if over is None else None
        except NotationError:
            continue
        if term is not None:
            yield from ((of, term) for of in declared)


def _read_declared_facts(
    node: Any, terms: tuple[Term, str, Term], names: Mapping[int, str], with_orders: bool
) -> Iterator[KnownFact]:
    forms, (left, relation, right) = Forms(names), terms
    try:
        statement = forms.of(left), relation, forms.of(right)
    except NO_LAW:
        return
    for recognize in RECOGNIZED:
        fact = recognize(statement)
        if fact is not None and bool(fact.orders) == with_orders:
            yield _name_fact(fact, node, True)
            return


def _read_proved_facts(name: str, term: Term, names: Mapping[int, str], with_orders: bool) -> Iterator[KnownFact]:
    forms = Forms({key: text for key, text in names.items() if key != id(term)})
    try:
        value = forms.of(term)
    except NO_LAW:
        return
    (product,) = tensor(name, tuple(map(source_name, term.shape)), forms.indices(term))
    for prove in PROVED:
        for fact in prove(NamedValue(product.factors[0], value)):
            if bool(fact.orders) == with_orders:
                try:
                    yield _name_fact(fact, write_assumption(fact.statement))
                except UnwritableError:
                    continue


def _read_set_facts(of: nodes.Set, term: Term) -> Iterator[KnownFact]:
    """Yield the assumptions that follow from a declared set, such as x > 0 for x ∈ ℝ_{>0}.

    Another example is T² = T for T ∈ {0, 1}.
    """
    if term.operator != "input":
        return
    ((_, (factor,), _),) = Forms({}).of(term)
    product, values = Product(ONE_, (factor,)), [node.value for node in of.elements if isinstance(node, Number)]
    positive, bounded = of.domain in ("positive", "count"), values and len(values) == len(of.elements)
    if positive or of.domain in ("nonnegative", "naturals") or (bounded and min(values) >= 0):
        statement = (product,), ">" if positive else "≥", ZERO
        fact = KnownFact(statement, sign=(factor.head, "positive" if positive else "nonnegative"))
        yield _name_fact(fact, write_assumption(statement), True)
    if of.domain == "elements" and bounded and set(values) <= {0, 1}:
        fact = idempotent(factor)
        yield _name_fact(fact, write_assumption(fact.statement), True)


def _name_fact(fact: KnownFact, node: Any, declared: bool = False) -> KnownFact:
    return fact._replace(name=to_text(node), node=node, declared=declared)


def write_assumption(statement: Statement) -> Any:
    """Convert an assumption to a statement in the notation."""
    left, relation, right = statement
    indices = sorted(indices_of(left) | indices_of(right), key=lambda index: index.number)
    names = dict(zip(indices, distinct(index.name for index in indices)))
    sides = tuple(ReadBack().form(form, names) for form in (left, right))
    return Equation(sides) if relation == "=" else nodes.Fact(call(relation, *sides))
