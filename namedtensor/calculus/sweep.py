"""Compute derivatives with respect to several variables in one backward sweep (reverse mode).

For example, the derivatives ∂loss/∂W^1*, …, ∂loss/∂W^96* share one backward sweep and one linearization, in which all
variables change.
"""

from __future__ import annotations

from grammar.errors import NotationError

from ..terms.builder import TermBuilder
from ..terms.inference import Inference
from ..terms.terms import Term, topological
from .linearize import DIFFERENTIAL, Linearization
from .nested import DerivativeRecord
from .transpose import transpose_leaves

Cotangents = dict[int, Term]  # The keys are the ids of the variables.


def swept(checker: Inference, make: TermBuilder, taken: DerivativeRecord) -> Term | None:
    """Return a derivative from the backward sweep that its body shares with other derivatives.

    Return None if the derivative needs a separate sweep.
    """
    body = taken.body
    if body.shape or taken.constant:
        return None
    if id(body) not in checker.sweeps:
        checker.sweeps[id(body)] = body, sweep(checker, make, body)
    term = checker.sweeps[id(body)][1].get(id(taken.by))
    return None if term is None else make.rename(term, taken.starred)


def sweep(checker: Inference, make: TermBuilder, body: Term) -> Cotangents:
    """Return the derivatives of a number with respect to all variables of the program, from one backward sweep.

    Return {} if there are fewer than two variables, if a variable has no derivative, or if all derivatives are zero.
    Include only inputs if a function has an argument that is a variable but depends on other terms.
    """
    inside = topological(body)
    variables = [term for term in inside if term.operator == "variable"]
    leaves = [term for term in inside if term.operator in ("input", "variable") and is_asked(checker, term)]
    inputs = {id(term) for term in leaves if term.operator == "input"}
    if any(argument.operator != "input" or id(argument) in inputs for v in variables for argument in v.arguments):
        leaves = [term for term in leaves if id(term) in inputs]  # An argument needs a separate sweep.
    if len(leaves) < 2:
        return {}
    changes = {id(term): make.leaf("differential", term.shape) for term in leaves}
    try:
        whole = Linearization(checker, make, changes).of(body)
    except NotationError:  # A derivative with respect to one variable is unknown.
        return {}
    if whole is None:
        return {}
    back = transpose_leaves(make, whole, [*changes.values()], {}, {})
    return {mark: back[id(change)] for mark, change in changes.items() if id(change) in back}


def is_asked(checker: Inference, term: Term) -> bool:
    """Return whether the program contains a derivative with respect to the name of this term."""
    name = term.options[0]
    return isinstance(name, str) and name != DIFFERENTIAL and checker.scope.varies(name)
