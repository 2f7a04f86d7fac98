"""Infer the types of literals, such as numbers and [[1, 2], [3, 4]]_{a,b}."""

from __future__ import annotations

from grammar import nodes
from grammar.lengths import too_many_cells

from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Numbers, Term
from .application import broadcast
from .indexing import find_indexed_axis


def number(checker: Inference, node: nodes.Number, env: Environment) -> Term:
    return checker.graph.number(node.value, node)


def literal(checker: Inference, node: nodes.Literal, env: Environment) -> Term:
    """Return the term of a literal. If all cells are numbers, it is a constant."""
    cells = [cell for row in node.rows for cell in row]
    if len(cells) > checker.limits.max_literal_elements:  # A macro can produce more cells than the source contains.
        raise too_many_cells(len(cells), checker.limits.max_literal_elements, checker.scope.source, node.span)
    extent = (len(node.rows), len(node.rows[0])) if len(node.axes) == 2 else (len(cells),)
    names = tuple(find_indexed_axis(checker, axis, env, "a literal") for axis in node.axes)
    if len(set(names)) < len(names):
        raise checker.error(
            303, f"axis {names[0]} is named twice", node, hint="name two different axes for rows and columns"
        )
    shape = dict(zip(names, extent))
    entries = checker.infer_all(cells, env)
    for entry, cell in zip(entries, cells):
        clash = [axis for axis in names if axis in entry.shape]
        if clash:
            raise checker.error(
                306, f"this entry already has axis {clash[0]} of the literal", cell,
                hint=f"rename it, or join tensors along it: concat_{{{clash[0]}}}(…, …)",
            )  # fmt: skip
    shape = {**broadcast(checker, [entry.shape for entry in entries], node.span, "[…]", cells), **shape}
    if all(entry.number is not None for entry in entries):
        numbers = Numbers(tuple(entry.number for entry in entries))
        return checker.graph.intern("constant", options=(names, extent, numbers), shape=shape, node=node)
    return checker.graph.intern("literal", entries, options=(names, extent), shape=shape, node=node)
