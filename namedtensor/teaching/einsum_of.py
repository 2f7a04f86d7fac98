"""A typed formula as a call of einsum, where it is one: a sum of products of what is given.

Q ⊙_{key} K with Q ∈ ℝ^{query × key}, K ∈ ℝ^{seq × key}     einsum("qk,sk->qs", Q, K)
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from grammar.errors import NotationError

from ..terms.environment import source_name
from ..terms.terms import Term, topological

PRODUCTS = ("⊙", "dot", "juxtaposed")
SUMS = ("∑", "sum")
MOST = 60  # operands


@dataclass
class Factors:
    """A product: a number, operands with a letter for each axis, and the letters of the axes that are left."""

    number: float
    operands: tuple[tuple[str, tuple[Any, ...]], ...]
    left: dict[str, Any]


class Letter:
    """An axis of some operands; two that meet become one."""

    __slots__ = ("axis", "same")

    def __init__(self, axis: str):
        self.axis, self.same = axis, self

    def found(self) -> Letter:
        letter = self
        while letter.same is not letter:
            letter = letter.same
        return letter


def einsum_of(root: Term, text: Callable[[Any], str]) -> str:
    """The call. Raises NotationError, which says what is no product, where there is none."""
    if operands_in(root) > MOST:
        raise NotationError(404, f"einsum would take more than {MOST} operands")
    found = factors(root, text)
    spelled: dict[Letter, str] = {}
    groups = ["".join(spelling(each.found(), spelled) for each in letters) for _, letters in found.operands]
    output = "".join(spelling(found.left[axis].found(), spelled) for axis in root.shape)
    names = ", ".join(name for name, _ in found.operands)
    call = f'einsum("{",".join(groups)}->{output}", {names})'
    return call if found.number == 1 else f"{found.number:g} * {call}"


def operands_in(root: Term) -> int:
    """How many operands a product would have, where a part that is used twice counts twice."""
    count: dict[int, int] = {}
    for term in topological(root):
        count[id(term)] = max(1, sum(count[id(each)] for each in term.arguments))
    return count[id(root)]


def factors(term: Term, text: Callable[[Any], str]) -> Factors:
    """A term as a product."""
    if term.operator == "input":
        letters = {axis: Letter(source_name(axis)) for axis in term.shape}
        return Factors(1, ((str(term.options[-1]), tuple(letters.values())),), letters)
    if term.operator == "number":
        return Factors(float(term.number or 0), (), {})
    if term.operator == "negative":
        found = factors(term.arguments[0], text)
        return Factors(-found.number, found.operands, found.left)
    if term.operator == "rename":
        found = factors(term.arguments[0], text)
        names = dict(term.options)
        return Factors(found.number, found.operands, {names.get(axis, axis): each for axis, each in found.left.items()})
    if term.operator in SUMS:
        found = factors(term.arguments[0], text)
        return Factors(found.number, found.operands, without(found.left, term.axes))
    if term.operator in PRODUCTS:
        first, second = (factors(each, text) for each in term.arguments)
        return product(first, second, term.axes)
    said = text(term.node) if term.node is not None else term.operator
    raise NotationError(
        405, f"{said} is no sum of products", hint="einsum multiplies and sums what it is given, and nothing else"
    )


def product(first: Factors, second: Factors, axes: tuple[str, ...]) -> Factors:
    for axis, letter in second.left.items():
        if axis in first.left:
            letter.found().same = first.left[axis].found()
    left = without({**second.left, **first.left}, axes)
    return Factors(first.number * second.number, (*first.operands, *second.operands), left)


def without(left: Mapping[str, Any], axes: tuple[str, ...]) -> dict[str, Any]:
    return {axis: letter for axis, letter in left.items() if axis not in axes}


def spelling(letter: Letter, spelled: dict[Letter, str]) -> str:
    """The first letter of the axis' name that is free, else any that is."""
    if letter not in spelled:
        own = [each for each in letter.axis.lower() if each in string.ascii_lowercase]
        free = [each for each in (*own, *string.ascii_letters) if each not in spelled.values()]
        if not free:
            raise NotationError(404, f"einsum has {len(string.ascii_letters)} letters, and this needs more")
        spelled[letter] = free[0]
    return spelled[letter]
