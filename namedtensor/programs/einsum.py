"""Conversion of a formula to one einsum call. The formula must be a number times a sum of products of inputs.

Q ⊙_{key} K with Q ∈ ℝ^{query × key}, K ∈ ℝ^{seq × key}     einsum("qk,sk->qs", Q, K)
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from grammar.errors import NotationError

from ..core.settings import recursion_headroom
from ..planning.plan import safe
from ..scope.names import key
from ..terms.environment import source_name
from ..terms.terms import Term, topological
from .arguments import whole_sizes
from .checks import input_types
from .entries import Entry, WholeProgram, argument_types
from .executable import PLAIN, Options

MOST = 60  # the limit on operands; NumPy accepts 63
HINT = "einsum multiplies and sums what it is given, and nothing else"


class Letter:
    """A letter of an einsum call. It stands for one axis, or for several axes that are aligned with each other."""

    __slots__ = ("axis", "same")

    def __init__(self, axis: str):
        self.axis, self.same = axis, self

    def found(self) -> Letter:
        letter = self
        while letter.same is not letter:
            letter = letter.same
        return letter

    def meet(self, other: Letter) -> None:
        self.found().same = other.found()


@dataclass(frozen=True)
class Factors:
    """A product: a number, operands with a letter for each of their axes, and the letters of the result's axes."""

    number: int | float
    operands: tuple[tuple[str, tuple[Letter, ...]], ...]
    left: Mapping[str, Letter]


Rule = Callable[[Term, list[Factors]], Factors]


def to_einsum(goal: WholeProgram | Entry, given: Mapping[str, Any], options: Options = PLAIN) -> str:
    """Return the einsum call of a goal; see `Verbs.to_einsum`."""
    with recursion_headroom(goal.program.source):
        root, text = type_goal(goal, given, options)
        return einsum_of(root, text)


def type_goal(
    goal: WholeProgram | Entry, given: Mapping[str, Any], options: Options
) -> tuple[Term, Callable[[Any], NotationError]]:
    """Return the goal as a term, and a function that creates the error for a part that einsum cannot compute."""
    types, program = input_types(given), goal.program
    scope = program.scope_given(types)
    entry = goal.entry(scope)
    called = None if entry is None else entry.called(program.checker({}, scope=scope))
    argument_inputs = [] if entry is None or called is None else argument_types(entry, called[0], (), types)
    names = {name for name, _ in argument_inputs}
    checker = program.checker(
        {name: type_ for name, type_ in types.items() if name not in names}, whole_sizes(options.sizes), scope=scope,
        arguments=[type_ for _, type_ in argument_inputs], infer_parameters=True,
        by_keyword=None if options.by_keyword is None else [name for name in options.by_keyword if key(name) not in names],
    )  # fmt: skip
    (root,) = (entry or goal).terms(checker, [(str(name), type_) for name, type_ in argument_inputs])
    checker.check_unused()

    def refused(term: Term) -> NotationError:
        node = (
            term.arguments[0] if term.operator in ("pick", "index") else term
        ).node  # the indexed tensor, because the error must not show the index alone
        operator = term.operator if node is None else checker.text(node)
        span = None if node is None else node.span
        return NotationError(405, f"{operator} is not a sum of products", scope.source, span, hint=HINT)

    return root, refused


def einsum_of(root: Term, refused: Callable[[Term], NotationError]) -> str:
    """Return the einsum call of a term. Raise the error from `refused` for the first part that is not a product."""
    for term in topological(root):
        if not is_product(term):
            problem, part = refused(term), largest_part(root)
            raise (
                problem
                if part is None
                else problem.replace(hint=f"{HINT}; the largest part that is one: {call_of(part)}")
            )
    operands = operands_in(root)[id(root)]
    if operands > MOST:
        raise NotationError(404, f"einsum would need more than {MOST} operands")
    if operands == 0:
        raise NotationError(405, "the formula uses none of the inputs", hint=HINT)
    return call_of(root)


def largest_part(root: Term) -> Term | None:
    """Return the largest part of a term that one einsum of two or more operands computes, or None if there is none."""
    operands = operands_in(root)
    largest: Term | None = None
    for term in topological(root):
        if max(2, operands[id(largest)] if largest else 2) <= operands.get(id(term), 0) <= MOST:
            largest = term
    return largest


def call_of(root: Term) -> str:
    """Return the source text of the einsum call of a product."""
    result = factors(root)
    spelled: dict[Letter, str] = {}
    groups = ["".join(spelling(letter.found(), spelled) for letter in letters) for _, letters in result.operands]
    output = "".join(spelling(result.left[axis].found(), spelled) for axis in root.shape)
    call = f'einsum("{",".join(groups)}->{output}", {", ".join(identifiers([name for name, _ in result.operands]))})'
    sign = "-" if result.number < 0 else ""
    return f"{sign}{call}" if abs(result.number) == 1 else f"{result.number} * {call}"


# ------------------------------------------------------------------------------------------------ a term as a product
def input_factors(term: Term, _: list[Factors]) -> Factors:
    letters = {axis: Letter(source_name(axis)) for axis in term.shape}
    return Factors(1, ((str(term.options[-1]), tuple(letters.values())),), letters)


def constant(term: Term, _: list[Factors]) -> Factors:
    return Factors(term.number, (), {})


def negative(_: Term, parts: list[Factors]) -> Factors:
    return Factors(-parts[0].number, parts[0].operands, parts[0].left)


def quotient(_: Term, parts: list[Factors]) -> Factors:
    return Factors(parts[0].number / parts[1].number, parts[0].operands, parts[0].left)


def rename_letters(term: Term, parts: list[Factors]) -> Factors:
    names = dict(term.options)
    left = {names.get(axis, axis): letter for axis, letter in parts[0].left.items()}
    return Factors(parts[0].number, parts[0].operands, left)


def sum_letters(term: Term, parts: list[Factors]) -> Factors:
    return Factors(parts[0].number, parts[0].operands, drop_letters(parts[0].left, term.axes))


def trace_letters(term: Term, parts: list[Factors]) -> Factors:
    first, second = (parts[0].left[axis] for axis in term.axes)
    second.meet(first)
    return sum_letters(term, parts)


def product(term: Term, parts: list[Factors]) -> Factors:
    number: int | float = 1
    operands: list[tuple[str, tuple[Letter, ...]]] = []
    left: dict[str, Letter] = {}
    for part in parts:
        number *= part.number
        operands += part.operands
        for axis, letter in part.left.items():
            if axis in left:
                letter.meet(left[axis])
            left.setdefault(axis, letter)
    return Factors(number, tuple(operands), drop_letters(left, term.axes))


RULES: dict[str, Rule] = {
    "input": input_factors, "number": constant, "negative": negative, "/": quotient, "rename": rename_letters, "∑": sum_letters, "sum": sum_letters,
    "trace": trace_letters, "⊙": product, "^": product,
}  # fmt: skip


def is_product(term: Term) -> bool:
    if term.operator == "number":
        return not isinstance(term.number, (bool, complex))
    if term.operator == "/":
        return bool(term.arguments[1].number)
    if term.operator == "^":
        return exponent(term) is not None
    return term.operator in RULES


def exponent(term: Term) -> int | None:
    """Return the exponent of a power, which is its number of factors, or None if it is not a positive integer."""
    number = term.arguments[1].number
    return number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else None


def parts_of(term: Term) -> tuple[Term, ...]:
    """Return the factors of a product. For a power, return its base once per factor."""
    if term.operator == "^":
        return (term.arguments[0],) * (exponent(term) or 0)
    return term.arguments


def operands_in(root: Term) -> dict[int, int]:
    """Return the number of operands of each product in a term. Count a part twice if it is used twice."""
    result: dict[int, int] = {}
    for term in topological(root):
        if is_product(term) and all(id(argument) in result for argument in term.arguments):
            parts = sum(result[id(argument)] for argument in term.arguments)
            times = (exponent(term) or 0) if term.operator == "^" else 1
            result[id(term)] = 1 if term.operator == "input" else parts * times
    return result


def factors(term: Term) -> Factors:
    """Return a term as a product. If a part is used several times, each use has its own letters."""
    return RULES[term.operator](term, [factors(part) for part in parts_of(term)])


def drop_letters(left: Mapping[str, Letter], axes: tuple[str, ...]) -> dict[str, Letter]:
    return {axis: letter for axis, letter in left.items() if axis not in axes}


# ------------------------------------------------------------------------------------------------------- output syntax
def spelling(letter: Letter, spelled: dict[Letter, str]) -> str:
    """Return the letter for an axis: the first free letter of the axis's name, or else any free letter."""
    if letter not in spelled:
        names = [name for name in letter.axis.lower() if name in string.ascii_lowercase]
        free = [name for name in (*names, *string.ascii_letters) if name not in spelled.values()]
        if not free:
            raise NotationError(404, f"this needs more than the {len(string.ascii_letters)} letters of einsum")
        spelled[letter] = free[0]
    return spelled[letter]


def identifiers(names: list[str]) -> list[str]:
    """Return a Python identifier for each input, such as W_Q for W^Q."""
    result: dict[str, str] = {}
    for name in names:
        if name not in result:
            plain = safe(name)
            spellings = (plain if number == 1 else f"{plain}_{number}" for number in count(1))
            result[name] = next(text for text in spellings if text not in result.values())
    return [result[name] for name in names]
