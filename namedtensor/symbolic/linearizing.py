"""Linearize terms for closed forms. ∂X is a leaf of the typed graph that becomes a product of identities.

A derivative is a `variable` term with a `Change` as its option. The term represents the differential of a formula with
∂X = I ⊙ ∂X*. The differential of the term is the differential of its argument, so a single rule handles derivatives of
any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from grammar import nodes

from ..calculus.derivative import DerivativeBuilder, derivative, is_name, parameters
from ..calculus.linearize import Linearization
from ..calculus.stars import mark_of
from ..checking.checker import Checker
from ..core.sizes import SizeVariable, resolve
from ..operators import REGISTRY
from ..operators.record import Operator
from ..terms.environment import Environment
from ..terms.terms import Term
from .work import current

# Differentials that replace an operator's differential and also cover its singular points (the rule "guard"). Each has
# the condition under which both are equal.
READ: dict[str, tuple[str, tuple[str, ...]]] = {
    "det": ("det ≠ 0", ("det_{row,column} X ⊙ [inv_{row,column} X]_{row→column, column→row} ⊙_{row,column} ∂X",)),
    "std": ("std ≠ 0", ("mean_{ax}((X − mean_{ax} X) ⊙ ∂X) / std_{ax} X",)),
    "∏": ("factors ≠ 0", ("(∏_{ax} X) ⊙ ∑_{ax} (∂X / X)",)),
    "cumprod": ("factors ≠ 0", ("cumprod_{ax} X ⊙ cumsum_{ax}(∂X / X)",)),
    "^": ("base > 0", ("Y ⊙ X^{Y − 1} ⊙ ∂X", "log(X) ⊙ X^Y ⊙ ∂Y")),
    "max": ("no tie", ("argmax_{ax} X ⊙_{ax} ∂X", "𝕀[X ≥ Y] ⊙ ∂X", "𝕀[Y > X] ⊙ ∂Y")),
    "min": ("no tie", ("argmin_{ax} X ⊙_{ax} ∂X", "𝕀[X ≤ Y] ⊙ ∂X", "𝕀[Y < X] ⊙ ∂Y")),
}
STRICT = str.maketrans("≥≤", "><")  # For a constant other argument: on a region of ties, neither changes.
NORMS = {
    2: "X / norm_{ax} X ⊙_{ax} ∂X",
    1: "sign(X) ⊙_{ax} ∂X",
    float("inf"): "(sign(X) ⊙ argmax_{ax} abs(X)) ⊙_{ax} ∂X",
}
NORM = "sign(X) ⊙ abs(X)^{p − 1} / norm_{ax}(X; p)^{p − 1} ⊙_{ax} ∂X"


def texts_read(operator: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the terms of an operator's differential, as formulas."""
    if operator == "norm":
        return (NORMS.get(options.get("p", 2), NORM),)
    if operator in READ:
        return READ[operator][1]
    record = REGISTRY.get(operator)
    return record.differentials if record is not None else ()


class Change(NamedTuple):
    """The variable of a derivative: the name of its leaf ∂X, and the starred name of each axis of X."""

    leaf: str
    marks: tuple[tuple[str, str], ...]


def change_of(term: Term) -> Change | None:
    """Return the `Change` of a leaf ∂X, or None for any other term."""
    option = term.options[0] if term.operator == "variable" else None
    return option if isinstance(option, Change) else None


class LinearReading(Linearization):
    """A linearization whose terms are translated to forms instead of being evaluated."""

    is_computed = False

    def next(self, term: Term) -> Term | None:
        if change_of(term) is not None:
            part = self.found[id(term.arguments[0])]
            if part is None:
                return None
            return self.make.graph.intern("variable", (part,), (), term.options, term.shape, node=term.node)
        return super().next(term)

    def by_rule(self, record: Operator, text: str, term: Term, position: int, part: Term) -> Term:
        if current().proving:
            return super().by_rule(record, text, term, position, part)
        texts = texts_read(record.name, dict(term.options) if record.options else {})
        count = len(term.arguments)
        chosen = (texts[-count:] if count > 1 else texts[:1])[position] if texts else text
        if record.name in READ and count == 2 and self.found[id(term.arguments[1 - position])] is None:
            chosen = chosen.translate(STRICT)
        return super().by_rule(record, chosen, term, position, part)


class TakenElement(NamedTuple):
    """A derivative in the program: its body, its variable, and its node."""

    body: Term
    by: Term
    node: nodes.Derivative


class ReadingChecker(Checker):
    """A checker that keeps derivatives as linearizations and sizes as symbols.

    `taken` contains the derivatives. `called` contains, for each call of a function in the program, its value and the
    values of its arguments.
    """

    def __init__(self, *arguments: Any, **named: Any):
        self.taken: list[TakenElement] = []
        self.called: list[tuple[Term, tuple[Term, ...]]] = []
        super().__init__(*arguments, **named)
        self.rolls = not self.scope.varied  # Unroll families that contain the variable of a derivative.


def kept_derivative(checker: ReadingChecker, node: nodes.Derivative, env: Environment) -> Term:
    """Return the term of a derivative: the differential of its body with ∂X as a leaf."""
    if not is_name(checker, node.variable, env):
        return derivative(checker, node, env)  # This call raises an error.
    by, body = checker.infer(node.variable, env), checker.infer(node.body, env)
    starred = {axis: axis + mark_of(node) for axis in by.shape}
    if body.boolean or by.boolean or set(starred.values()) & body.shape.keys():
        return derivative(checker, node, env)
    derivation = DerivativeBuilder(checker, node)
    leaf = derivation.make.leaf("differential", by.shape)
    whole = LinearReading(
        checker, derivation.make, {**{id(parameter): None for parameter in parameters(checker, env)}, id(by): leaf}
    ).of(body)
    if whole is None:
        return derivation.nothing(body, by, starred)
    shape = {**body.shape, **{starred[axis]: extent for axis, extent in by.shape.items()}}
    change = Change(leaf.options[0], tuple(starred.items()))
    checker.taken.append(TakenElement(body, by, node))
    return checker.graph.intern("variable", (whole,), (), (change, None), shape, node=node)


def kept_size(checker: ReadingChecker, node: nodes.Size, env: Environment) -> Term:
    """Return |ax| as a symbol for the axis that ax denotes here, or as a number if the size is known."""
    rules = Checker.RULES[nodes.Size](checker, node, env)
    size = resolve(checker.solver.size(node.axis.name, env, node)) if rules.operator == "unknown" else None
    if not isinstance(size, SizeVariable):
        return rules
    return checker.graph.intern("unknown", options=(size.text,), node=node)


def kept_call(checker: ReadingChecker, node: nodes.Call, env: Environment) -> Term:
    """Return the term of a call. If the program defines the function, record the value and the arguments."""
    rules = Checker.RULES[nodes.Call](checker, node, env)
    if node.arguments and node.operator in checker.scope.functions:
        checker.called.append((rules, tuple(checker.infer(argument, env) for argument in node.arguments)))
    return rules


RULES = {nodes.Derivative: kept_derivative, nodes.Size: kept_size, nodes.Call: kept_call}
ReadingChecker.RULES = {**Checker.RULES, **RULES}  # type: ignore[reportAttributeAccessIssue]
