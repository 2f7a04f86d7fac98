"""List the structural terms, which do not apply an operator, and verify typed graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..operators import REGISTRY
from .loop_bodies import Loop
from .terms import Term, topological

MAX_ARGUMENTS = 10**9


class Structural(NamedTuple):
    """A kind of structural term: its number of arguments, the names of its options, and its meaning."""

    name: str
    fewest: int
    most: int
    options: tuple[str, ...] | None  # None allows any number.
    meaning: str


ROWS = (
    Structural("input", 0, 0, None, "a tensor given from outside; the last option is its name"),
    Structural("number", 0, 0, ("value", "type"), "a plain number"),
    Structural("constant", 0, 0, ("axes", "extents", "numbers"), "a tensor of plain numbers"),
    Structural("unknown", 0, 0, ("name",), "a number that nothing gives yet"),
    Structural("iota", 0, 0, ("first", "size"), "first, first + 1, … along the axis"),
    Structural("identity", 0, 0, ("size",), "1 where the two axes have one index, else 0"),
    Structural("rename", 1, 1, None, "axes get other names; options are the pairs (old, new)"),
    Structural("merge", 1, 1, ("old axes", "new axis"), "axes become one"),
    Structural("split", 1, 1, ("old axis", "new axes with sizes"), "an axis becomes several"),
    Structural("spread", 1, 1, None, "the same value along new axes; options are the pairs (axis, size)"),
    Structural("pick", 1, 1, ("axis", "index from 0"), "one element of an axis"),
    Structural("fill", 1, MAX_ARGUMENTS, ("axis", "positions from 0"), "parts joined along an axis, then put in order"),
    Structural(
        "scatter",
        2,
        2,
        ("size", "axes"),
        "each number, along these axes of the indices, added to the element at its index",
    ),
    Structural("literal", 1, MAX_ARGUMENTS, ("axes", "extents"), "numbers joined to a tensor"),
    Structural("indicator", 1, 1, (), "1 where a condition holds, else 0"),
    Structural("cases", 1, MAX_ARGUMENTS, (), "value, condition, value, condition, …, and perhaps a last value"),
    Structural(
        "variable",
        1,
        1,
        ("name", "holder"),
        "the same tensor, apart from all that equals it, for a derivative with respect to it",
    ),
    Structural("python", 0, MAX_ARGUMENTS, ("function",), "a user's function of Python"),
    Structural(
        "members",
        1,
        MAX_ARGUMENTS,
        ("name",),
        "terms that are alike, one for each step, while the body of a loop is typed",
    ),
    Structural(
        "loop", 0, MAX_ARGUMENTS, ("body",), "a body run for a number of steps: initial states, slices, and constants"
    ),
    Structural("after", 1, 1, ("state", "step from 0"), "a state of a loop after a step"),
    Structural("through", 1, 1, ("state", "axis"), "a state of a loop after each step, along an axis"),
)
STRUCTURAL = {row.name: row for row in ROWS}

# Functions that are called with the roots that a pass returns: the checker, each derivative, and the rewrites of terms
# before lowering (such as the removal of dead states). Tests append `verify`.
after_pass: list[Callable[..., None]] = []


def run_pass_checks(*roots: Term) -> None:
    """Run the checks in `after_pass` on the roots that a pass returns."""
    for callback in after_pass:
        callback(*roots)


class MalformedTermError(AssertionError):
    """Raised for a malformed term, which indicates a defect in the pass that created it."""


def is_joining(operator: str) -> bool:
    """Return whether an operator joins its arguments, so that each argument becomes a separate part of the result."""
    return operator in ("fill", "literal", "members") or (operator in REGISTRY and REGISTRY[operator].joins)


def verify(*roots: Term) -> None:
    """Raise MalformedTermError if a term does not match this table or its operator's record."""
    for term in topological(*roots):
        problem = problem_of(term)
        if problem is not None:
            raise MalformedTermError(f"{problem}: {term!r}")
        for body in (option for option in term.options if isinstance(option, Loop)):
            verify(*body.results)


def problem_of(term: Term) -> str | None:
    """Return a description of a term's defect, or None if it has none. Its arguments must be well-formed."""
    count, row = len(term.arguments), STRUCTURAL.get(term.operator)
    if row is not None:
        if not row.fewest <= count <= row.most:
            return f"{row.name} has {count} arguments"
        if row.options is not None and len(term.options) != len(row.options):
            return f"the options of {row.name} are {', '.join(row.options) or 'none'}"
    elif term.operator not in REGISTRY:
        return f"no operator {term.operator}"
    elif not REGISTRY[term.operator].arity[0] <= count <= REGISTRY[term.operator].arity[1]:
        return f"{term.operator} has {count} arguments"
    if any(argument.serial >= term.serial for argument in term.arguments):
        return "an argument is made after what uses it"
    if term.operator in ("rename", "spread") and not all(len(pair) == 2 for pair in term.options):
        return f"the options of {term.operator} are pairs"
    return None
