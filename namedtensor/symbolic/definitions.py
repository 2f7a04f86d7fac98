"""Definitions that proofs expand, in the notation. The operands are X, Y and Z, and the axis is `ax`.

Closed forms keep these operators. Wherever an operator has a value, its definition has the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

from grammar import nodes

from ..operators import REGISTRY
from ..operators.record import NEVER_NEGATIVE
from ..terms.terms import Term
from . import algebra, canonical, matrices
from .applying import apply_operator, own_options
from .factors import is_function
from .forms import ONE_, Form, FormIndex, Product, head, number, single, size, square_of
from .forms import opened as opened_forms
from .signs import record_named
from .spelling import expression
from .work import count_rule

DEFINITIONS = {
    "var": "(∑_{ax} X^2) / |ax| − ((∑_{ax} X) / |ax|)^2",
    "std": "√((∑_{ax} X^2) / |ax| − ((∑_{ax} X) / |ax|)^2)",
    "norm": "√(∑_{ax} X^2)",
    "standardize": "(X − (∑_{ax} X) / |ax|) / √((∑_{ax} X^2) / |ax| − ((∑_{ax} X) / |ax|)^2 + eps)",
    "logsumexp": "log(∑_{ax} exp X)",
    "logsoftmax": "X − log(∑_{ax} exp X)",
    "softmax": "exp X / ∑_{ax} exp X",
    "σ": "1 / (1 + exp(−X))",
    "tanh": "(exp(2 X) − 1) / (exp(2 X) + 1)",
    "sinh": "(exp X − exp(−X)) / 2",
    "cosh": "(exp X + exp(−X)) / 2",
    "tan": "sin X / cos X",
    "softplus": "log(1 + exp X)",
    "logsigmoid": "−log(1 + exp(−X))",
    "silu": "X / (1 + exp(−X))",
    "log1p": "log(1 + X)",
    "expm1": "exp X − 1",
    "relu": "(X + abs X) / 2",
    "max": "(X + Y + abs(X − Y)) / 2",
    "min": "(X + Y − abs(X − Y)) / 2",
    "clip": "min(max(X, Y), Z)",
    "leaky_relu": "(101 X + 99 abs X) / 200",
    "gelu": "X (1 + erf(X / √2)) / 2",
}


def expand_definition(forms: Any, term: Term) -> Form | None:
    """Expand a term in a proof by its operator's definition or by a matrix rule. Return None if neither applies."""
    text = DEFINITIONS.get(term.operator)
    if text is not None:
        return opened(forms, term, text)
    rule = PROOF_DEFINITIONS.get(term.operator)
    return rule(forms, term) if rule is not None else None


def decide_condition(forms: Any, condition: Term) -> bool | None:
    """Return whether a condition is true whenever the formula has a value, or None if this cannot be decided."""
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


def equation_of(operator: str) -> str:
    """Return the equation that defines an operator, with the default values of its options."""
    text = DEFINITIONS[operator]
    for name, value in REGISTRY[operator].options:
        text = text.replace(name, f"{value:g}")
    axes = "_{ax}" if "ax}" in text else ""
    return f"{operator}{axes}({', '.join(letter for letter in 'XYZ' if letter in text)}) = {text}"


def opened(forms: Any, term: Term, text: str) -> Form | None:
    """Apply an operator's definition to a term's operands. Return None if the definition does not cover the term."""
    options = dict(own_options(REGISTRY[term.operator], term))
    if options.get("p", 2) != 2 or options.get("ddof") or ("ax}" in text) != bool(term.axes):
        return None
    count_rule(f"definition of {term.operator}")
    values = {name: number(Fraction(repr(value))) for name, value in options.items()}
    indices = forms.indices(term.arguments[0], term.axes)
    return value_of(expression(text), {**values, **dict(zip("XYZ", forms.parts(term)))}, indices)


def product_of_exponentials(forms: Any, term: Term) -> Form | None:
    """Return ∏_{ax} exp X as exp(∑_{ax} X), or None for other products."""
    form = forms.part(term, 0)
    (product,) = form if len(form) == 1 else (Product(ONE_),)
    powers = product.factors
    if product.coefficient != 1 or product.summed or not powers or not all(is_function(of, "exp") for of in powers):
        return None
    count_rule("product of exponentials")
    exponents = [algebra.scale_form(opened_forms(power)[0], power.exponent) for power in powers]
    return apply_operator(
        "exp", (algebra.sum_over(algebra.add(*exponents), forms.indices(term.arguments[0], term.axes)),)
    )


def value_of(node: Any, values: Mapping[str, Form], indices: tuple[FormIndex, ...]) -> Form:
    """Return a definition as a form, given the forms of its operands and the indices of its axes."""
    match node:
        case nodes.Name():
            return values[node.text]
        case nodes.Number():
            return number(Fraction(repr(node.value)))
        case nodes.Size():
            return reduce(algebra.multiply, [size(index.size) for index in indices])
        case nodes.Superscript():
            return algebra.power(value_of(node.base, values, indices), Fraction(node.components[0].value))  # type: ignore[union-attr]
    parts = [value_of(argument, values, indices) for argument in node.arguments]
    if node.operator == "∑":
        return algebra.sum_over(parts[0], indices)
    if node.operator in DEFINITIONS:
        return value_of(expression(DEFINITIONS[node.operator]), dict(zip("XY", parts)), ())
    return ARITHMETIC[node.operator](*parts) if node.operator in ARITHMETIC else apply_operator(node.operator, parts)


ARITHMETIC: dict[str, Callable[..., Form]] = {
    "+": algebra.add,
    "-": algebra.subtract,
    "negative": lambda x: algebra.scale_form(x, -1),
    "juxtaposed": algebra.multiply,
    "/": lambda left, right: algebra.multiply(left, algebra.power(right, -ONE_)),
    "sqrt": lambda x: algebra.power(x, Fraction(1, 2)),
}
PROOF_DEFINITIONS: dict[str, Callable[[Any, Term], Form | None]] = {
    **matrices.MATRICES,
    "∏": product_of_exponentials,
}


def root_of(value: float) -> Form | None:
    """Return an exact form, such as √2, √π or 2/√π, for a decimal number, or None if it does not have such a form."""
    square = square_of(value)
    if square is None:
        return None
    fraction, times = square
    of = number(fraction)
    of = algebra.multiply(of, single(head("constant", "π"), exponent=Fraction(times))) if times else of
    return algebra.scale_form(algebra.power(of, Fraction(1, 2)), -1 if value < 0 else 1)
