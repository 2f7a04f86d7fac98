"""Terms over all cells of a grid, rewritten as terms over fronts and lanes, for families over two indices.

    s_{a(i)} ≠ u_{b(j)}      needs no member: it is made for all cells at once, and gathered to fronts and lanes
    E^{i-1,j} + 1            needs one: its axes of i and j become the axes of the fronts and the lanes

An operator that maps element by element over the cells (i, j) also does so over any list of cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .loop_bodies import select_one
from .terms import Term, TermGraph, topological


def map_over_fronts(
    graph: TermGraph, roots: Sequence[Term], members: Mapping[int, Term], axes: frozenset[str], fronts: Mapping[str, Any],
    gathered: Callable[[Term], Term],
) -> list[Term]:  # fmt: skip
    """Return the roots with `axes` replaced by `fronts`, which has the new axes with their sizes.

    `members` maps terms, by identity, to those that replace them inside the loop; `gathered` returns a term that needs
    none of them.
    """
    terms = dict(members)
    rest: dict[int, Term] = {}

    def reshaped(shape: Mapping[str, Any]) -> dict[str, Any]:
        remaining = {axis: size for axis, size in shape.items() if axis not in axes}
        return {**fronts, **remaining} if len(remaining) < len(shape) else remaining

    def part(term: Term) -> Term:
        known = terms.get(id(term)) or rest.get(id(term))
        if known is None:
            known = rest[id(term)] = term if axes.isdisjoint(term.shape) else gathered(term)
        return known

    for term in topological(*roots):
        if id(term) not in terms and not terms.keys().isdisjoint(map(id, term.arguments)):
            terms[id(term)] = select_one(graph, axes, term, tuple(map(part, term.arguments)), reshaped)
    return [part(root) for root in roots]
