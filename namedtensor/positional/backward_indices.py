"""Indices that count backward, such as n-i+1 in x_{n-i+1}, and fixed indices, such as the length n in x_n."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.nodes import Node

from .axes import AxisVariable
from .indices import canonical, items_of, spell
from .source_tree import Item, Tree, item_of
from .values import call, iota, number, plus, size


def count_back(walk: Any, tree: Tree, item: Item, axis: AxisVariable) -> Node:
    """Return the node of an index such as n-i+1 or 4-i in a sum over i.

    Raise NotationError if the index can leave its axis.
    """
    (letter,), offset = item.minus, item.offset
    span = walk.ranges[letter]
    last = axis.kind.size - span.less if span.last is None and axis.kind.size else span.last
    if item.length:
        check_length(walk, tree, item, axis)
        least = span.first + span.less + 1 if span.last is None else span.last - offset + 1
        inside = offset <= span.first and (span.last is not None or offset + span.less >= (span.divisor == 1))
    elif last is None:
        raise walk.refuse(tree, f"the index {item.text} leaves its axis", "count from the length of the axis: n-i+1")
    else:
        least = offset - span.first
        inside = offset > last and (axis.kind.size is None or least <= axis.kind.size)
    if not inside:
        raise walk.refuse(tree, f"the index {item.text} leaves its axis", "sum over the indices that are in it")
    walk.axes.facts.least.append((axis, max(least, 1) * span.divisor))
    if span.divisor > 1:
        walk.axes.facts.divisors.append((axis, span.divisor))
    first = size(axis) if item.length else number(offset)
    return plus(call("-", (first, nodes.Name(letter))), offset if item.length else 0)


def reverse(walk: Any, tree: Tree, node: Node, axis: AxisVariable, item: Item) -> tuple[Node, AxisVariable]:
    """Return a tensor reversed along an axis, so that its element i is x_{n-i+1}, and the new axis of the result."""
    check_length(walk, tree, item, axis)
    variable = walk.axes.twin(axis)
    back = call("+", (call("-", (size(axis), iota(variable))), number(1)))
    walk.axes.facts.same.append((variable, axis))
    return nodes.Index(node, ((nodes.Axis(axis.key), back),)), variable


def is_fixed(item: str) -> bool:
    """Return whether an index is fixed, that is, a number or a marked length such as |n| or |n|-1."""
    return item.isdigit() or (read := item_of(item)) is not None and not read.letters and read.length != ""


def element_at(walk: Any, tree: Tree, node: Node, axis: AxisVariable, text: str) -> Node:
    """Return the element at a fixed index, such as 2, n or n-1. Raise NotationError if the index leaves its axis."""
    item = item_of(text) or Item((), (), 0)
    if item.length:
        check_length(walk, tree, item, axis)
    outside = item.offset > 0 if item.length else item.offset < 1
    if outside or not item.length and axis.kind.size is not None and item.offset > axis.kind.size:
        raise walk.refuse(tree, f"the index {item.text} leaves its axis", "indices count from 1")
    walk.axes.facts.least.append((axis, 1 - item.offset if item.length else item.offset))
    position = plus(size(axis), item.offset) if item.length else number(item.offset)
    return nodes.Index(node, ((nodes.Axis(axis.key), position),))


def with_lengths(tree: Tree, letters: Collection[str], names: Collection[str]) -> Tree:
    """Return the tree in which each of the letters is marked as a length if it is an index.

    For example, x_n becomes x_{|n|}, and x_{n-1} becomes x_{|n|-1}.
    """
    parts = tuple(with_lengths(part, letters, names) for part in tree.parts)
    text = tree.text
    if tree.op == "sub" and spell(tree.parts[0]) in names and canonical(spell(tree)) not in names:
        items = ((item, re.fullmatch(r"(\w)(-\d+)?", item)) for item in items_of(text.strip("{}")))
        marked = [f"|{match[1]}|{match[2] or ''}" if match and match[1] in letters else item for item, match in items]
        text = ",".join(marked) if any("|" in item for item in marked) else text
    return replace(tree, parts=parts, text=text)


def check_length(walk: Any, tree: Tree, item: Item, axis: AxisVariable) -> None:
    """Raise NotationError if the n of x_{n-i+1} is not the length of the axis."""
    named = walk.axes.given.get(item.length) or walk.ends.get(item.length)
    if named is None or named.kind.root is not axis.kind.root:
        raise walk.refuse(tree, f"the index {item.text} does not count from the length of {axis.key}")
