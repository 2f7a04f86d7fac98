"""Determine which terms are finite, positive or nonnegative if all inputs are finite.

Zero times a finite term is zero, so a product with the term does not need a mask (`selection`). The analysis ignores
overflow in sums and products.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..core.sizes import resolve
from ..operators import REGISTRY
from ..operators.record import NEVER_NEGATIVE
from ..terms.terms import Term

MAX_SIGN_DEPTH = 8  # The maximum depth of the search for a sign.

# Rules for structural terms. The records of operators contain their rules.
ALWAYS = frozenset("indicator input".split())
MOVES = frozenset("rename merge split spread pick fill literal variable".split())
KEEPS = MOVES | {"cases", "scatter"}
SIGNS = {"indicator": "≥ 0", "scatter": "≥ 0 of ≥ 0"}


def finite_where(operator: str) -> str:
    """Return the condition under which an operator's term is finite, from its record or from a structural rule."""
    if operator in ALWAYS:
        return "always"
    if operator in KEEPS:
        return "of finite"
    return REGISTRY[operator].finite if operator in REGISTRY else ""


def sign_of(operator: str) -> str:
    """Return the sign of an operator's terms, from its record or a structural rule, or "" if it is unknown."""
    if operator in MOVES:
        return "of operands"
    if operator in REGISTRY:
        return REGISTRY[operator].sign
    return SIGNS.get(operator, "")


class Finite:
    """The finiteness analysis. Results are stored by the ids of terms."""

    def __init__(self) -> None:
        self.found: dict[int, bool] = {}

    def __call__(self, term: Term) -> bool:
        stack = [term]
        while stack:
            here = stack[-1]
            open_ = [argument for argument in here.arguments if id(argument) not in self.found]
            if open_ and id(here) not in self.found:
                stack += open_
            else:
                self.found[id(here)] = here.boolean or self.alone(here)
                stack.pop()
        return self.found[id(term)]

    def reciprocal(self, term: Term) -> bool:
        """Return whether the reciprocal of a term is finite."""
        return self(term) and is_nowhere_zero(term)

    def alone(self, term: Term) -> bool:
        """Return whether a term is finite, given the results for its arguments."""
        if term.operator == "number":
            value = number(term)
            return value is None or math.isfinite(value)
        if term.operator == "constant":
            return all(map(math.isfinite, term.options[2]))
        where = finite_where(term.operator)
        if where == "X of finite or −∞":
            return self.is_masked(term.arguments[0], term.axes)
        if where not in DOMAINS:
            return where == "always"
        return all(self.found[id(argument)] for argument in term.arguments) and DOMAINS[where](term)

    def is_masked(self, term: Term, axes: tuple[str, ...]) -> bool:
        """Return whether each element of a term is finite or −∞, with a finite element along the axes.

        The softmax of such a term is finite.
        """
        if self(term):
            return True
        parts = term.arguments
        if term.operator == "+":
            return any(self(part) and self.is_masked(other, axes) for part, other in (parts, parts[::-1]))
        if term.operator == "-":
            return self(parts[1]) and self.is_masked(parts[0], axes)
        if term.operator in ("spread", "variable"):
            return self.is_masked(parts[0], axes)
        if term.operator == "rename":
            old = {new: old for old, new in term.options}
            return self.is_masked(parts[0], tuple(old.get(axis, axis) for axis in axes))
        if term.operator == "cases" and len(parts) == 3:
            (chosen, condition, other), holds = parts, True
        elif term.operator == "where":
            (condition, chosen, other), holds = parts, True
        else:
            return False
        if number(chosen) == -math.inf:
            chosen, other, holds = other, chosen, False
        return self(chosen) and number(other) == -math.inf and is_somewhere(condition, axes, holds)


def _power(term: Term) -> bool:
    base, exponent = term.arguments
    times = number(exponent)
    if is_positive(base):
        return True
    return times is not None and times >= 0 and (times % 1 == 0 or is_never_negative(base))


DOMAINS: dict[
    str, Callable[[Term], bool]
] = {  # For each condition in a record, whether finite operands certainly satisfy it.
    "of finite": lambda term: True,
    "Y ≠ 0": lambda term: is_nowhere_zero(term.arguments[1]),
    "X ≥ 0": lambda term: is_never_negative(term.arguments[0]),
    "X > 0": lambda term: is_positive(term.arguments[0]),
    "X ≤ 0": lambda term: is_never_positive(term.arguments[0]),
    "X > 0 ∨ Y ≥ 0": _power,
}


# ---------------------------------------------------------------------------------------------------------- signs
def is_nowhere_zero(term: Term) -> bool:
    return bool(number(term)) or is_positive(term)


def is_positive(term: Term, depth: int = MAX_SIGN_DEPTH) -> bool:
    """Return whether all elements of a term are known to be positive."""
    value = number(term)
    if value is not None:
        return value > 0
    if depth == 0:
        return False
    sign, parts = sign_of(term.operator), term.arguments
    if sign.endswith("> 0 of one > 0") and len(parts) == 2:
        return any(is_positive(part, depth - 1) for part in parts) and is_never_negative(term, depth - 1)
    if sign in ("of operands", "of factors") or sign.endswith("> 0 of > 0"):
        return bool(parts) and all(is_positive(entry, depth - 1) for entry in values(term))
    return False


def is_never_negative(term: Term, depth: int = MAX_SIGN_DEPTH) -> bool:
    """Return whether all elements of a term are known to be nonnegative."""
    value = number(term)
    if value is not None:
        return value >= 0
    sign = sign_of(term.operator)
    if sign in NEVER_NEGATIVE:
        return True
    if depth == 0:
        return False
    parts = term.arguments
    if term.operator == "^":
        exponent = number(parts[1])
        even = exponent is not None and exponent % 2 == 0
        return even or is_never_negative(parts[0], depth - 1)
    if sign == "of factors" and len(parts) == 2 and parts[0] is parts[1]:
        return True
    if sign:
        return all(is_never_negative(entry, depth - 1) for entry in values(term))
    return False


def is_never_positive(term: Term, depth: int = MAX_SIGN_DEPTH) -> bool:
    """Return whether all elements of a term are known to be nonpositive."""
    value = number(term)
    if value is not None:
        return value <= 0
    if depth == 0:
        return False
    if term.operator == "negative":
        return is_never_negative(term.arguments[0], depth - 1)
    if sign_of(term.operator) == "of factors":
        first, second = term.arguments
        return is_never_positive(first, depth - 1) and is_never_negative(second, depth - 1)
    return False


def number(term: Term) -> float | None:
    """Return the value of a term that is a number, or None for any other term."""
    return term.number if isinstance(term.number, (int, float)) else None


def values(term: Term) -> tuple[Term, ...]:
    """Return the arguments that provide the elements of a term. Indices are left out."""
    return term.arguments[:1] if term.operator in ("index", "scatter") else term.arguments


# ----------------------------------------------------------------------------------------------------- indices compared
OPPOSITE = {"≤": ">", ">": "≤", "<": "≥", "≥": "<"}
TURNED = {"≤": "≥", "≥": "≤", "<": ">", ">": "<", "=": "="}


def is_somewhere(condition: Term, axes: tuple[str, ...], holds: bool = True) -> bool:
    """Return whether a condition on indices is certainly true somewhere along the axes.

    It must be true for all positions along other axes. If `holds` is false, return whether the condition is certainly
    false somewhere.
    """
    operator, parts = condition.operator, condition.arguments
    if operator == "¬":
        return is_somewhere(parts[0], axes, not holds)
    if operator == ("∨" if holds else "∧"):
        return any(is_somewhere(part, axes, holds) for part in parts)
    operator = operator if holds else OPPOSITE.get(operator, "")
    if operator not in TURNED:
        return False
    one, other = map(ends_of, parts)
    if one is None or other is None:
        return False
    (left, low, high), (right, least, most) = one, other
    if right in axes:
        operator, left, right, low, high, least, most = TURNED[operator], right, left, least, most, low, high
    if left not in axes or right in axes:
        return False
    if operator == "=":
        return low <= least and most <= high
    return {"≤": low <= least, "<": low < least, "≥": high >= most, ">": high > most}[operator]


def ends_of(term: Term) -> tuple[str | None, float, float] | None:
    """Return the axis and the first and last value of an index that is a position plus a number.

    For a plain number, the axis is None, and both values are the number. Return None for any other term.
    """
    value = number(term)
    if value is not None:
        return None, value, value
    if term.operator == "iota" and isinstance(term.options[0], int) and isinstance(resolve(term.options[1]), int):
        first, size = term.options[0], resolve(term.options[1])
        return (term.axes[0], first, first + size - 1) if size else None
    if term.operator in ("+", "-"):
        ends, moved = ends_of(term.arguments[0]), number(term.arguments[1])
        if ends is None or moved is None:
            return None
        away = moved if term.operator == "+" else -moved
        return ends[0], ends[1] + away, ends[2] + away
    if term.operator == "rename":
        ends = ends_of(term.arguments[0])
        return None if ends is None else (dict(term.options).get(ends[0], ends[0]), *ends[1:])
    return ends_of(term.arguments[0]) if term.operator in ("spread", "variable") else None
