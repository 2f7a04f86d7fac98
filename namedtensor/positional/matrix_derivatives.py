"""Derivatives of a number: ∇_x f, ∂L/∂W, ∂L/∂W_{ij}, of the shape of what they are taken by."""

from __future__ import annotations

from grammar import nodes

from .axes import axes_of
from .indices import canonical, is_letter, spelled
from .matrices import Walk
from .matrix_functions import rule
from .matrix_leaves import EMPTY, Matrix
from .source_tree import Tree
from .values import Leaf


@rule("gradient")
def gradient(walk: Walk, tree: Tree) -> Matrix:
    body, by = tree.parts
    pair = walk.letters.index_of(by, walk.names) if walk.letters.active else None
    name = pair[0] if pair else canonical(spelled(by))
    if not name:
        raise walk.refuse(by, "a derivative is taken by an input", "write ∇_x, or ∂/∂W")
    value = walk.read(body)
    if name not in walk.names:
        walk.read(by)
    given = walk.names[name]
    if given.defined or given.literal is not None:
        raise walk.refuse(by, f"{name} is not an input: a derivative is taken by one")
    if not value.is_number or value.indices:
        raise walk.refuse(body, "only derivatives of a number are supported", "write the derivative of one element")
    used = Leaf(nodes.Derivative(value.node, given.leaf.node, ""), given.leaf.dims).use(walk.axes)
    if pair is None:
        if len(used.dims) > 2:
            raise walk.refuse(by, f"{name} has {len(used.dims)} axes", "write an index for each of its axes")
        walk.remark(f"the derivative has the shape of {name}")
        dims = {0: EMPTY, 1: (*used.dims, ()), 2: used.dims}[len(used.dims)]
        return walk.make(used.node, dims)
    items = pair[1]
    if len(items) != len(used.dims) or len({*items}) < len(items) or not all(map(is_letter, items)):
        raise walk.refuse(by, f"{name} needs a letter for each of its {len(used.dims)} axes")
    for item, axis in zip(items, axes_of(used.dims)):
        walk.meet(by, walk.letter(item), axis, item)
    return Matrix(used.node, EMPTY, indices=tuple(zip(items, axes_of(used.dims))))
