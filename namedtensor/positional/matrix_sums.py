"""Translation of sums over whole axes, over parts of axes and under conditions, and of expectations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from grammar import nodes
from grammar.nodes import Node

from .axes import AxisVariable, axes_of
from .indices import find_letters_below, is_index_in, letters_of_item, split_indices
from .matrices import Walk
from .matrix_functions import rule
from .matrix_leaves import EMPTY, IndexRange, Matrix
from .source_tree import COUNTING, SumEnd, Tree, end_of
from .values import call, iota, number, size

NEUTRAL = {"∑": 0.0, "∏": 1.0, "max": -math.inf, "min": math.inf}


def range_of(tree: Tree) -> IndexRange | None:
    """Return the part of an axis that a sum covers, such as from 2 to n - 1.

    Return None if the sum covers the entire axis and no index such as i+1 is shifted, or if it has conditions or
    several letters.
    """
    end = end_of(tree.upper) or SumEnd("n")
    first = int(tree.lower or 1)
    shifted = {
        letter
        for part in tree.all()
        for item in ((split_indices(part) or ("", ()))[1])
        if len(item) > 1 and len(letters_of_item(item)) == 1
        for letter in letters_of_item(item)
    }
    if len(tree.letters) != 1 or tree.conditions:
        return None
    part = IndexRange(first, -end.shift, None if end.name else end.factor, end.divisor)
    return part if part != IndexRange(1, 0) or shifted & {*tree.letters} else None


def check_end(walk: Walk, tree: Tree) -> Tree:
    """Check the end of a sum, and return the sum. If the end is an input that is a given number, insert the number.

    Raise NotationError if the end is not the length of an axis, such as n, a part of it, such as n-1 or n/2, or a
    number.
    """
    source = walk.names.get(tree.upper)
    if source is not None and isinstance(source.literal, int):
        tree = replace(tree, upper=str(source.literal))
    end = end_of(tree.upper)
    if end is None:
        message = f"the end {tree.upper} of a sum is not supported"
        raise walk.refuse(tree, message, "end it at a number, n, n-1 or n/2")
    if end.name and (end.shift > 0 or end.factor > end.divisor):
        raise walk.refuse(tree, f"the sum ends at {tree.upper}, past its axis", f"end it at {end.name}")
    if end.name and (end.factor > 1 or end.shift < 0 and end.divisor > 1):
        raise walk.refuse(tree, f"the end {tree.upper} of a sum is not supported", "end it at a number, n, n-1 or n/2")
    if tree.conditions and end != SumEnd(end.name):
        hint = f"write the end as a condition, or end it at {end.name}"
        raise walk.refuse(tree, f"the end {tree.upper} of a sum with a condition is not supported", hint)
    if end.name in walk.names:
        raise walk.refuse(tree, f"{end.name} is a tensor, and the end of a sum is a length")
    if end.name in COUNTING and end.name not in walk.axes.given:
        hint = f"for each {end.name}, write y_{end.name} = …; for the whole axis, leave the end out"
        raise walk.refuse(tree, f"the sum ends at {end.name}, which is no index here and no length", hint)
    return tree


@rule("big")
def big(walk: Walk, tree: Tree) -> Matrix:
    """Translate an operator with an index below it, such as ∑_i, ∏_i or max_i, and its operand."""
    if not tree.letters:
        raise walk.refuse(tree, f"{tree.text} needs an index below it")
    if tree.lower == "0":
        return from_zero(walk, tree)
    if tree.upper:
        tree = check_end(walk, tree)
    part = range_of(tree)
    if part is not None:
        return sum_range(walk, tree, part)
    bound = walk.letters.bound_by(tree)
    with walk.binding(bound, find_letters_below(tree), below=True):
        if tree.upper and not tree.upper.isdigit():
            walk.ends[tree.upper] = walk.scope[tree.letters[0]]
        body = walk.read(tree.parts[0])
        body = under_conditions(walk, tree, body) if tree.conditions else body
    indices = dict(body.indices)
    lost = [letter for letter in bound if letter not in indices]
    if lost:
        raise walk.refuse(tree, f"nothing under the {tree.text} has the index {lost[0]}")
    over = [indices.pop(letter) for letter in bound]
    if tree.upper:
        set_upper_end(walk, tree, over)
    return walk.reduced(tree.text, body, over, body.dims, indices)


@rule("over")
def sum_over_axis(walk: Walk, tree: Tree) -> Matrix:
    r"""Translate a sum over a named axis, such as \sum_{\text{seq}} S."""
    body, named = walk.read(tree.parts[0]), walk.axes.given[tree.upper]
    over = [axis for axis in axes_of(body.dims) if axis.kind.root is named.kind.root]
    if len(over) != 1:
        raise walk.refuse(tree, f"{tree.text} over {tree.upper} needs one such axis, got {walk.called(body.axes)}")
    rows, columns = (tuple(axis for axis in dim if axis is not over[0]) for dim in body.dims)
    return walk.reduced(tree.text, body, over, (rows, columns), dict(body.indices))


def from_zero(walk: Walk, tree: Tree) -> Matrix:
    """Translate a sum such as ∑_{t=0}^{T-1} x_t, whose first element x_0 has the position 1."""
    (letter,) = tree.letters
    entries = [
        item for part in tree.all() for item in (split_indices(part) or ("", ()))[1] if letter in letters_of_item(item)
    ]
    if any(len(item) > 1 for item in entries):
        raise walk.refuse(tree, f"a shifted index in a sum from {letter}=0 is not supported", "count from 1")
    walk.remark(f"{letter} counts from 0: its first element has the index 0")
    outer, walk.from_zero = walk.from_zero, walk.from_zero | {letter}
    value = big(walk, replace(tree, lower="", upper=tree.upper.removesuffix("-1")))
    walk.from_zero = outer
    return value


def set_upper_end(walk: Walk, tree: Tree, over: Sequence[AxisVariable]) -> None:
    """Require that the axes of a sum have the length that its upper end names. Raise NotationError if they cannot."""
    name = end_of(tree.upper or "n") or SumEnd("n")
    for axis in over:
        named = walk.axes.given.get(name.name) or walk.lengths.setdefault(name.name, axis)
        if named.kind.root is not axis.kind.root and not named.kind.unify(axis.kind):
            raise walk.refuse(tree, f"the sum ends at |{named.key}|, and its axis is {axis.key}")
        if name.name not in walk.axes.given and axis.kind.root.name:
            walk.remark(f"{name.name} is read as |{axis.key}|")


# ------------------------------------------------------------------------------------------------------- conditions
def under_conditions(walk: Walk, tree: Tree, body: Matrix) -> Matrix:
    """Return the body with each element that violates a condition replaced by the operator's neutral element.

    The neutral element of ∑ is 0, for example.
    """
    if tree.text not in NEUTRAL:
        raise walk.refuse(tree, f"{tree.text} under a condition is not supported", "write it as a quotient of sums")
    indices = dict(body.indices)
    for letter in find_letters_below(tree):
        if letter not in walk.ranges and (letter not in indices or not is_index_in(walk.statement, letter)):
            indices[letter] = alone(walk, tree, letter, indices)
    conditions = [
        call(relation, (side(left, indices), side(right, indices))) for left, relation, right in tree.conditions
    ]
    condition = conditions[0]
    for other in conditions[1:]:
        condition = call("∧", (condition, other))
    cases = nodes.Cases(((body.node, condition), (number(NEUTRAL[tree.text]), None)))
    walk.axes.apart((*axes_of(body.dims), *indices.values()))
    return Matrix(cases, body.dims, indices=tuple(indices.items()))


def side(text: str, indices: Mapping[str, AxisVariable]) -> Node:
    """Return a side of a condition as a node.

    The side is a number, the positions along the axis of a letter, or the letter of a sum over numbers.
    """
    if text.isdigit():
        return number(int(text))
    return iota(indices[text]) if text in indices else nodes.Name(text)


def alone(walk: Walk, tree: Tree, letter: str, indices: Mapping[str, AxisVariable]) -> AxisVariable:
    """Return the axis of a letter that occurs in a condition of a sum but is not an index in the sum's body.

    If the letter indexes no tensor in the line, its axis gets the length of the axis that it is compared with.
    """
    axis = walk.letter(letter)
    if not is_index_in(walk.statement, letter):
        pairs = [(left, right) for left, _, right in tree.conditions if letter in (left, right)]
        other = next((name for pair in pairs for name in pair if name != letter and name in indices), None)
        if other is None or not axis.kind.unify(indices[other].kind):
            raise walk.refuse(tree, f"nothing has the index {letter}")
        walk.axes.facts.same.append((axis, indices[other]))
    return axis


# -------------------------------------------------------------------------------------------------- parts of an axis
def sum_range(walk: Walk, tree: Tree, part: IndexRange) -> Matrix:
    """Translate a ∑ or ∏ over part of an axis. For example, ∑_{i=1}^{n-1} x_{i+1} runs over 1 to |n| − 1."""
    (letter,) = tree.letters
    operator = tree.text
    end = end_of(tree.upper)
    if operator not in ("∑", "∏") or letter in walk.names:
        raise walk.refuse(
            tree, f"{operator} over this part of an axis is not supported", "write ∑_{i=1}^{n-1}, or ∑_{i=2}^n"
        )
    outer = dict(walk.ranges)
    walk.ranges[letter] = part
    with walk.binding((letter,), below=True):
        axis = walk.scope[letter]
        if end and end.name:
            walk.ends[end.name] = axis
        before = len(walk.axes.facts.least)
        body = walk.read(tree.parts[0])
    walk.ranges = outer
    if len(walk.axes.facts.least) == before:
        raise walk.refuse(tree, f"nothing under the {operator} has the index {letter}")
    if part.last is not None and part.first == 1 and axis.kind.size == part.last:
        walk.axes.facts.pinned.append((axis, part.last))
        return big(walk, replace(tree, upper=""))
    if end and end.name:
        set_upper_end(walk, tree, (axis,))
    last: Node = size(axis) if part.last is None else number(part.last)
    last = call("/", (last, number(part.divisor))) if part.divisor > 1 else last
    last = call("-", (last, number(part.less))) if part.less else last
    node = nodes.IndexSum(operator, nodes.Name(letter), number(part.first), last, body.node)
    return Matrix(node, body.dims, indices=body.indices)


# ------------------------------------------------------------------------------------------------------ expectations
def expectation(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """Translate 𝔼[x] as the mean of x over its only axis."""
    over = (*axes_of(x.dims), *(axis for _, axis in x.indices))
    if tree.upper or len(over) != 1:
        raise walk.refuse(
            tree, f"the expectation is over one axis, and there are {len(over)}", "write the index below it: 𝔼_i"
        )
    walk.remark(f"𝔼 is the mean over {walk.called(over)}")
    return walk.reduced("mean", x, over, EMPTY, {})
