"""Assign stars, which distinguish the axes of nested derivatives, such as the axes of X and X* in ∂²L/∂X²."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from grammar.nodes import Axis, Derivative, Name, Starred
from grammar.traversal import map_nodes, rebuilt, walk

STARS = re.compile(r"[*†]+$")


def marks() -> Iterator[str]:
    """Yield the stars for successive derivatives: *, †, **, ††, …"""
    count = 1
    while True:
        yield from ("*" * count, "†" * count)
        count += 1


def marks_in(tree: Any) -> set[str]:
    """Return the stars on all axes, names and derivatives in a tree."""
    used: set[str] = set()
    for node in walk(tree):
        if isinstance(node, Derivative):
            used.add(mark_of(node))
        elif isinstance(node, Starred):
            used.add(node.mark)
        elif isinstance(node, (Axis, Name)):
            stars = STARS.search(node.name if isinstance(node, Axis) else node.text)
            used |= {stars[0]} if stars else set()
    return used


def mark_of(node: Derivative) -> str:
    """Return the star for a derivative's axes: its star in the source, or the next star if the body uses that star.

    The body uses the star if the body is itself a derivative with the same variable and star.
    """
    inner, depth = node.body, 0
    while isinstance(inner, Derivative) and (inner.variable, inner.mark) == (node.variable, node.mark):
        inner, depth = inner.body, depth + 1
    if not depth:
        return node.mark
    used = marks_in(inner) | {node.mark}
    free = (mark for mark in marks() if mark not in used)
    return next(islice(free, depth - 1, None))


def with_distinct_marks(tree: Any) -> Any:
    """Return the tree with an explicit, distinct star for each derivative."""
    if any(isinstance(node, Derivative) and mark_of(node) != node.mark for node in walk(tree)):
        return map_nodes(tree, _with_mark)
    return tree


def _with_mark(node: Any) -> Any:
    if not isinstance(node, Derivative):
        return None
    return replace(rebuilt(node, lambda part: map_nodes(part, _with_mark)), mark=mark_of(node))
