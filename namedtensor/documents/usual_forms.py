r"""Forms of expressions that are the same for different ways to write one formula.

γ ⊙ \frac{X - mean X}{\sqrt{var X + ε}} and (X - 1/|ax| ∑_{ax} X) ⊙ (var X + ε)^{-1/2} ⊙ γ have one form: sums and products
without an order, quotients and roots as powers, functions of statistics by their definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from grammar import nodes
from grammar.printer import to_text
from grammar.traversal import children

Form = Any  # a nested tuple, or a Fraction
HALF, MINUS = Fraction(1, 2), Fraction(-1)
ACTIVATIONS = frozenset("relu ReLU gelu GELU GeLU silu SiLU swish Swish tanh σ sigmoid act Act f g activation".split())


class UsualForms:
    """Forms of expressions in which names and axes are what `renamed` gives, and all activation functions may be one."""

    def __init__(
        self, renamed: Callable[[str], str], any_activation: bool, is_label: Callable[[str], bool] = lambda text: False
    ):
        self.renamed = renamed
        self.any_activation = any_activation
        self.is_label = is_label  # whether a text such as W^1 is a name, and not a power

    def of(self, node: Any) -> Form:
        """The form of an expression."""
        if isinstance(node, nodes.Number):
            return Fraction(str(node.value))
        if isinstance(node, nodes.Size):
            return "size", self.axis(node.axis.name)
        if isinstance(node, nodes.Name):
            return "name", self.renamed(node.text)
        if isinstance(node, (nodes.Superscript, nodes.Subscript)):
            return self._scripted(node)
        if isinstance(node, nodes.Call):
            return self._call(node)
        return type(node).__name__, to_text(node) if not children(node) else tuple(map(self.of_part, children(node)))

    def of_part(self, node: Any) -> Form:
        """The form of a part of a node, which may be an axis."""
        return ("axis", self.axis(node.name)) if isinstance(node, nodes.Axis) else self.of(node)

    def axis(self, name: str) -> str:
        return self.renamed(f"|{name}|")

    def _scripted(self, node: Any) -> Form:
        is_power = isinstance(node, nodes.Superscript) and len(node.components) == 1
        number = self._exponent(node.components[0]) if is_power else None
        if number is None or self.is_label(to_text(node)):
            return "name", self.renamed(to_text(node))
        return power(self.of(node.base), number)

    def _exponent(self, node: Any) -> Fraction | None:
        if isinstance(node, nodes.Name):
            return None
        form = self.of(node)
        return form if isinstance(form, Fraction) else None

    def _call(self, call: nodes.Call) -> Form:
        operator = call.operator
        axes = tuple(sorted(self.axis(to_text(axis)) for axis in call.subscript))
        operands = [self.of(argument) for argument in call.arguments]
        options = [self.of(parameter) for parameter in call.parameters]
        match operator, operands:
            case "+", [left, right]:
                return total(left, right)
            case "-", [left, right]:
                return total(left, product(MINUS, right))
            case "negative", [only]:
                return product(MINUS, only)
            case (("⊙" | "juxtaposed" | "·"), [left, right]):
                return ("∑", axes, product(left, right)) if axes else product(left, right)
            case "/", [left, right]:
                return product(left, power(right, MINUS))
            case "sqrt", [only]:
                return power(only, HALF)
            case "∑", [only]:
                return "∑", axes, only
            case "mean", [only]:
                return mean(axes, only)
            case "var", [only]:
                return variance(axes, only)
            case "std", [only]:
                return power(variance(axes, only), HALF)
            case "norm", [only]:
                return power(("∑", axes, power(only, Fraction(2))), HALF)
            case "softmax", [only]:
                return product(("exp", only), power(("∑", axes, ("exp", only)), MINUS))
            case "standardize", [only]:
                small = options[0] if options else ("name", self.renamed("ε"))
                deviation = power(total(variance(axes, only), small), -HALF)
                return product(total(only, product(MINUS, mean(axes, only))), deviation)
            case "exp", [only]:
                return "exp", only
            case (("σ" | "sigmoid"), [only]) if not self.any_activation:
                return power(total(Fraction(1), ("exp", product(MINUS, only))), MINUS)
            case _:
                is_activation = len(operands) == 1 and not axes and self.any_activation and operator in ACTIVATIONS
                name = "activation" if is_activation else operator
                return "call", name, axes, (*operands, *options)


def without_names(form: Form) -> Form:
    """The form with all names and axes alike."""
    if not isinstance(form, tuple):
        return form
    match form:
        case ("name", _):
            return ("name",)
        case ("size", _):
            return ("size",)
        case ("+", terms):
            return "+", tuple(sorted(map(without_names, terms), key=repr))
        case ("*", coefficient, factors):
            return "*", coefficient, tuple(sorted(map(without_names, factors), key=repr))
        case ("∑", axes, body):
            return "∑", len(axes), without_names(body)
        case ("call", name, axes, operands):
            return "call", name, len(axes), tuple(map(without_names, operands))
        case _:
            return tuple(map(without_names, form))


def mean(axes: tuple[str, ...], form: Form) -> Form:
    return product(("∑", axes, form), *(power(("size", axis), MINUS) for axis in axes))


def variance(axes: tuple[str, ...], form: Form) -> Form:
    return mean(axes, power(total(form, product(MINUS, mean(axes, form))), Fraction(2)))


def total(*terms: Form) -> Form:
    """The form of a sum: like terms are one."""
    counts: dict[Form, Fraction] = {}
    for term in terms:
        for coefficient, rest in _terms(term):
            counts[rest] = counts.get(rest, Fraction(0)) + coefficient
    parts = [_scaled(coefficient, rest) for rest, coefficient in counts.items() if coefficient]
    if not parts:
        return Fraction(0)
    return parts[0] if len(parts) == 1 else ("+", tuple(sorted(parts, key=repr)))


def _terms(form: Form) -> list[tuple[Fraction, Form]]:
    if isinstance(form, Fraction):
        return [(form, ())]
    if form[0] == "+":
        return [part for term in form[1] for part in _terms(term)]
    if form[0] == "*":
        return [(form[1], ("*", Fraction(1), form[2]) if len(form[2]) > 1 else form[2][0])]
    return [(Fraction(1), form)]


def _scaled(coefficient: Fraction, rest: Form) -> Form:
    return coefficient if rest == () else product(coefficient, rest)


def product(*factors: Form) -> Form:
    """The form of a product: a coefficient, and the factors with their powers."""
    coefficient, powers = Fraction(1), dict[Form, Fraction]()
    for factor in factors:
        number, parts = _factors(factor)
        coefficient *= number
        for base, exponent in parts:
            powers[base] = powers.get(base, Fraction(0)) + exponent
    parts = sorted((_raised(base, exponent) for base, exponent in powers.items() if exponent), key=repr)
    if not parts or not coefficient:
        return coefficient
    return parts[0] if len(parts) == 1 and coefficient == 1 else ("*", coefficient, tuple(parts))


def _factors(form: Form) -> tuple[Fraction, list[tuple[Form, Fraction]]]:
    if isinstance(form, Fraction):
        return form, []
    if form[0] == "*":
        return form[1], [pair for factor in form[2] for pair in _factors(factor)[1]]
    return Fraction(1), [(form[1], form[2]) if form[0] == "^" else (form, Fraction(1))]


def power(base: Form, exponent: Fraction) -> Form:
    """The form of a power with a number."""
    number, parts = _factors(base)
    if number <= 0 and exponent.denominator != 1 or number == 0:
        return _raised(base, exponent)
    if exponent.denominator == 1:
        scale: Form = number**exponent.numerator
    else:
        scale = Fraction(1) if number == 1 else _raised(number, exponent)
    return product(scale, *(_raised(inner, of * exponent) for inner, of in parts)) if parts else scale


def _raised(base: Form, exponent: Fraction) -> Form:
    return base if exponent == 1 else ("^", base, exponent)
