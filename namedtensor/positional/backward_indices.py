"""Indices that count backward, such as n-i+1 in x_{n-i+1} and 4-i in x_{4-i}."""

from __future__ import annotations

from typing import Any

from grammar import nodes
from grammar.nodes import Node

from .axes import AxisVariable
from .binders import Item
from .source_tree import Tree
from .values import call, iota, number, plus, size


def count_back(walk: Any, tree: Tree, item: Item, axis: AxisVariable) -> Node:
    """Return an index such as n-i+1 or 4-i in a sum over i. Raise NotationError if it can leave its axis."""
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
    """Return a tensor reversed along an axis, with x_{n-i+1} as the element for each i, and the new axis."""
    check_length(walk, tree, item, axis)
    variable = walk.axes.twin(axis)
    back = call("+", (call("-", (size(axis), iota(variable))), number(1)))
    walk.axes.facts.same.append((variable, axis))
    return nodes.Index(node, ((nodes.Axis(axis.key), back),)), variable


def check_length(walk: Any, tree: Tree, item: Item, axis: AxisVariable) -> None:
    """Raise NotationError if the n of x_{n-i+1} is not the length of the axis."""
    named = walk.axes.given.get(item.length) or walk.ends.get(item.length)
    if named is None or named.kind.root is not axis.kind.root:
        raise walk.refuse(tree, f"the index {item.text} does not count from the length of {axis.key}")
