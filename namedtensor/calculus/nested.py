"""Compute nested derivatives, in which the inner derivative holds the outer variable constant.

    R = Y^2                     ∂(∑_{a} ∂(R^2)/∂Y*)/∂R†

∂(…)/∂R differentiates its body as a function of R. Inside the body, R is an independent variable rather than a function
of Y, so ∂(R^2)/∂Y* is zero. The inner derivative is first computed separately, with R = Y^2. The outer derivative then
recomputes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..terms.terms import Term, TermGraph, made_since


@dataclass(frozen=True, eq=False)
class DerivativeRecord:
    """The record of one derivative: the body, the variable, the new axes, and the constant terms."""

    body: Term
    by: Term
    starred: dict[str, str]
    constant: tuple[Term, ...]


def attach_record(graph: TermGraph, term: Term, taken: DerivativeRecord) -> Term:
    """Attach the record of a derivative to its term if an outer derivative may have to recompute it."""
    if not any(term.operator == "variable" for term in find_terms_between(taken)):
        return term
    return graph.intern("variable", (term,), (), ("∂", taken), term.shape, term.boolean, term.node)


def find_terms_between(taken: DerivativeRecord) -> list[Term]:
    """Return the terms through which the body depends on the variable."""
    terms: dict[int, Term] = {id(taken.by): taken.by}
    constant = {id(term) for term in taken.constant}
    for term in made_since(taken.by, taken.body):
        if id(term) not in constant and any(id(argument) in terms for argument in term.arguments):
            terms.setdefault(id(term), term)
    return [*terms.values()][1:]


def held(graph: TermGraph, body: Term, fixed: Term, take: Callable[[DerivativeRecord], Term]) -> Term:
    """Recompute each inner derivative that depends on a newly constant term, and return the body."""
    terms: dict[int, Term] = {id(fixed): fixed}

    def rebuilt(root: Term) -> Term:
        for term in made_since(fixed, root):
            if id(term) not in terms:
                terms[id(term)] = again(term)
        return terms.get(id(root), root)

    def again(term: Term) -> Term:
        if term.operator == "variable" and isinstance(term.options[1], DerivativeRecord):
            return anew(term, term.options[1])
        arguments = tuple(terms.get(id(argument), argument) for argument in term.arguments)
        if arguments == term.arguments:
            return term
        return graph.intern(term.operator, arguments, term.axes, term.options, term.shape, term.boolean, term.node)

    def anew(term: Term, taken: DerivativeRecord) -> Term:
        constant = tuple(rebuilt(term_) for term_ in taken.constant)
        other = replace(taken, body=rebuilt(taken.body), by=rebuilt(taken.by), constant=constant)
        if fixed in find_terms_between(other):
            return take(replace(other, constant=(*constant, fixed)))
        same = (other.body, other.by, other.constant) == (taken.body, taken.by, taken.constant)
        return term if same else take(other)

    if not any(
        term.operator == "variable" and isinstance(term.options[1], DerivativeRecord)
        for term in made_since(fixed, body)
    ):
        return body
    return rebuilt(body)
