"""The source's own value of sums of index notation: under conditions, and over a part of an axis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .indices import written_below
from .matrix_leaves import IndexRange
from .matrix_sums import NEUTRAL, range_of
from .optional_numpy import Unsupported, np
from .oracle import RULES, Oracle, PlainValues, number
from .source_tree import Tree

FUNCTIONS = {"∑": np.sum, "∏": np.prod, "max": np.max, "min": np.min, "mean": np.mean}
RELATIONS = {"≠": np.not_equal, "≤": np.less_equal, "<": np.less, "≥": np.greater_equal, ">": np.greater}


def big(oracle: Oracle, tree: Tree) -> PlainValues:
    bound = oracle.letters.bound_by(tree)
    if tree.lower == "0":
        outer_zero, oracle.from_zero = oracle.from_zero, oracle.from_zero | {*bound}
        value = big(oracle, replace(tree, lower="", upper=""))
        oracle.from_zero = outer_zero
        return value
    if tree.upper in oracle.arrays:
        tree = replace(tree, upper=str(int(oracle.arrays[tree.upper])))
    if (part := range_of(tree)) is not None:
        return over_range(oracle, tree, part)
    outer, oracle.inner = oracle.inner, oracle.inner | {*bound, *written_below(tree)}
    value = oracle.value(tree.parts[0])
    oracle.inner = outer
    if tree.conditions:
        value = masked(oracle, tree, value)
    return oracle.summed(value, bound, FUNCTIONS[tree.text])


def masked(oracle: Oracle, tree: Tree, value: PlainValues) -> PlainValues:
    """The value with what changes nothing where a condition fails."""
    extent = dict(zip(value.letters, value.array.shape))
    listed = dict.fromkeys((*value.letters, *written_below(tree)))
    letters = tuple(letter for letter in listed if letter not in oracle.fixed)
    for letter in letters:
        extent.setdefault(letter, oracle.extent(letter) or max(extent.values()))
    grids = np.indices([extent[letter] for letter in letters]) + 1
    places: dict[str, Any] = dict(zip(letters, grids)) | oracle.fixed
    holds: Any = True
    for left, relation, right in tree.conditions:
        sides = [int(side) if side.isdigit() else places[side] for side in (left, right)]
        holds = holds & RELATIONS[relation](*sides)
    holds = np.broadcast_to(holds, [extent[letter] for letter in letters])
    array = np.where(holds[..., None, None], value.over(letters), NEUTRAL[tree.text])
    return PlainValues(array, letters, value.vector)


def over_range(oracle: Oracle, tree: Tree, part: IndexRange) -> PlainValues:
    """Return the sum, one index after the other."""
    (letter,) = tree.letters
    extent = oracle.extent(letter, tree)
    if extent is None:
        raise Unsupported(letter)
    total: PlainValues | None = None
    last = extent // part.divisor - part.less if part.last is None else part.last
    for index in range(part.first, last + 1):
        oracle.fixed[letter] = index
        value = oracle.value(tree.parts[0])
        total = value if total is None else oracle.elementwise({"∑": np.add, "∏": np.multiply}[tree.text], total, value)
    oracle.fixed.pop(letter, None)
    return total if total is not None else number(0.0 if tree.text == "∑" else 1.0)


def counter(oracle: Oracle, tree: Tree) -> PlainValues:
    """A letter as a number."""
    letter = tree.text
    if letter in oracle.fixed:
        return number(float(oracle.fixed[letter]))
    extent = oracle.extent(letter)
    if extent is None:
        raise Unsupported(letter)
    return PlainValues(np.arange(1.0, extent + 1)[:, None, None] - (letter in oracle.from_zero), (letter,))


RULES.update(big=big, counter=counter)
