"""Rewrite terms over all cells of a grid as terms over wavefronts and lanes, for families over two indices.

    s_{a(i)} ≠ u_{b(j)}      does not depend on a member: computed for all cells at once, then gathered
    E^{i-1,j} + 1            depends on a member: the axes of i and j become the axes of wavefronts and lanes

An operator that is elementwise over the cells (i, j) is also elementwise over any list of cells.
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
    """Replace the `axes` of the roots with wavefront axes. `fronts` maps the wavefront axes to their sizes.

    `members` maps the ids of terms to their replacements inside the loop. `gathered` returns the replacement of a term
    that does not depend on a member.
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
