"""Expand definitions in proofs: definitions from the prelude, and matrix rules.

Closed forms keep these operators. If an operator has a value, its definition has the same value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from ..calculus.record_formulas import expand_definition
from ..operators import REGISTRY
from ..operators.prelude import OperatorDefinition, load_definitions
from ..operators.record import NEVER_NEGATIVE
from ..terms.terms import Term
from . import algebra, canonical, matrices
from .applying import apply_operator
from .factors import is_function
from .forms import ONE_, Form, Product, head, number, opened, single, square_of
from .signs import record_named
from .work import count_rule

IDENTITIES = {  # For operators that the prelude does not define.
    "max": OperatorDefinition("max(X, Y)", "(X + Y + abs(X − Y)) / 2"),
    "min": OperatorDefinition("min(X, Y)", "(X + Y − abs(X − Y)) / 2"),
}


@cache
def definitions() -> Mapping[str, OperatorDefinition]:
    """Return the definitions that proofs expand, by operator name. Definitions with conditions are left out."""
    expanded = {name: line for name, line in load_definitions().items() if not {"=", "if"} & {*line.body.split()}}
    return {name: line for name, line in {**expanded, **IDENTITIES}.items() if name not in PROOF_DEFINITIONS}


def expand(forms: Any, term: Term) -> Form | None:
    """Expand a term in a proof by a matrix rule or by its operator's definition. Return None if neither applies."""
    rule = PROOF_DEFINITIONS.get(term.operator)
    if rule is not None:
        return rule(forms, term)
    if math.inf in dict(term.options).values():
        return None
    expanded = expand_definition(forms.checker, term, definitions())
    if expanded is None:
        return None
    count_rule(f"definition of {term.operator}")
    return forms.of(expanded)


def decide_condition(forms: Any, condition: Term) -> bool | None:
    """Return whether a condition is true, assuming that the formula has a value. Return None if this is undecided."""
    if isinstance(condition.number, bool):
        return condition.number
    if condition.operator not in ("=", ">") or condition.arguments[1].number != 0:
        return None
    compared = condition.arguments[0]
    if not forms.nonzero or canonical.key(forms.known(compared)) not in forms.nonzero:
        return None
    if condition.operator == "=":
        return False
    return True if record_named(compared.operator).sign in NEVER_NEGATIVE else None


def equation_with_defaults(operator: str) -> str:
    """Return the equation that defines an operator, with the default values of its options."""
    text = definitions()[operator].equation
    for name, value in REGISTRY[operator].options:
        text = re.sub(rf"\b{name}\b", f"{value:g}", text.replace(f"; {name}", ""))
    return text


def product_of_exponentials(forms: Any, term: Term) -> Form | None:
    """Return ∏_{ax} exp X as exp(∑_{ax} X), or None for any other product."""
    form = forms.part(term, 0)
    (product,) = form if len(form) == 1 else (Product(ONE_),)
    powers = product.factors
    if product.coefficient != 1 or product.summed or not powers or not all(is_function(of, "exp") for of in powers):
        return None
    count_rule("product of exponentials")
    exponents = [algebra.scale_form(opened(power)[0], power.exponent) for power in powers]
    return apply_operator(
        "exp", (algebra.sum_over(algebra.add(*exponents), forms.indices(term.arguments[0], term.axes)),)
    )


PROOF_DEFINITIONS: dict[str, Callable[[Any, Term], Form | None]] = {
    **matrices.MATRICES,
    "∏": product_of_exponentials,
}


def root_of(value: float) -> Form | None:
    """Return an exact form of a decimal number, such as √2, √π or 2/√π, or None if there is none."""
    square = square_of(value)
    if square is None:
        return None
    fraction, times = square
    of = number(fraction)
    of = algebra.multiply(of, single(head("constant", "π"), exponent=Fraction(times))) if times else of
    return algebra.scale_form(algebra.power(of, Fraction(1, 2)), -1 if value < 0 else 1)
