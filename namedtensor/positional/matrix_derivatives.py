"""Derivatives, such as ∇_x f, ∂L/∂W, ∂L/∂W_{ij} and ∂y_k/∂x_i, and differentials, such as ∂X.

The derivative of a scalar has the shape of the variable. The derivative of a vector with respect to a vector is a
matrix, whose rows belong to one of the two vectors.
"""

from __future__ import annotations

from grammar import nodes

from .axes import AxisVariable, axes_of
from .indices import canonical, is_letter, spell
from .matrices import Walk, transpose_matrix
from .matrix_functions import rule
from .matrix_leaves import EMPTY, Matrix
from .source_tree import Tree
from .values import AxisValue, Leaf

LAYOUTS = ("rows are those of the function", "rows are those of the variable")


@rule("gradient")
def gradient(walk: Walk, tree: Tree) -> Matrix:
    body, by = tree.parts
    pair = walk.letters.index_of(by, walk.names) if walk.letters.active else None
    name = pair[0] if pair else canonical(spell(by))
    if not name:
        raise walk.refuse(by, "a derivative is taken with respect to an input", "write ∇_x, or ∂/∂W")
    value = walk.read(body)
    if name not in walk.names:
        walk.read(by)
    source = walk.names.get(name)
    if source is None or source.defined or source.literal is not None:
        raise walk.refuse(by, f"{name} is not an input: a derivative is taken with respect to one")
    if pair is None and (axes_of(value.dims) or value.indices):
        return derive_vector(walk, tree, value, source.leaf)
    if axes_of(value.dims) or value.identity or value.ones:
        raise walk.refuse(body, "only derivatives of a number are supported", "write the derivative of one element")
    whole = bool(value.indices)
    used = derive_tensor(walk, value, source.leaf) if whole else plain(walk, value, source.leaf)
    if pair is None:
        walk.remark(f"the derivative has the shape of {name}")
        dims = {0: EMPTY, 1: (*used.dims, ()), 2: used.dims}.get(len(used.dims))
        if dims is None:
            raise walk.refuse(by, f"{name} has {len(used.dims)} axes", "write an index for each of its axes")
        return walk.make(used.node, dims)
    items = pair[1]
    free = {letter for letter, _ in value.indices}
    if len(items) != len(used.dims) or len({*items} - free) < len(items) or not all(map(is_letter, items)):
        raise walk.refuse(by, f"{name} needs a separate letter for each of its {len(used.dims)} axes")
    for item, axis in zip(items, used.axes):
        walk.meet(by, walk.letter(item), axis, item)
    return Matrix(used.node, EMPTY, indices=(*value.indices, *zip(items, used.axes)))


def plain(walk: Walk, value: Matrix, leaf: Leaf) -> AxisValue:
    """Return the derivative of a scalar with respect to an input. It has the axes of the input."""
    return Leaf(nodes.Derivative(value.node, leaf.node, ""), leaf.dims).use(walk.axes)


def derive_tensor(walk: Walk, value: Matrix, leaf: Leaf) -> AxisValue:
    """Return the derivative of a tensor with respect to an input.

    Its node has the axes of the tensor, and new axes in place of the starred axes of the input. Its dimensions contain
    only the new axes.
    """
    pairs: list[tuple[AxisVariable, AxisVariable]] = [(axis, walk.axes.twin(axis)) for axis in axes_of(leaf.dims)]
    items = tuple(((nodes.Axis(f"{old.key}*"),), (nodes.Axis(new.key),)) for old, new in pairs)
    walk.axes.apart((*value.axes, *(new for _, new in pairs)))
    variables = dict(pairs)
    node = nodes.Rename(nodes.Derivative(value.node, leaf.node, "*"), items)
    return AxisValue(node, tuple(tuple(variables[axis] for axis in dim) for dim in leaf.dims))


def derive_vector(walk: Walk, tree: Tree, value: Matrix, leaf: Leaf) -> Matrix:
    """Return the Jacobian ∂y/∂x of two vectors. Ask whether its rows belong to y or to x."""
    body = tree.parts[0]
    if value.indices or len(axes_of(value.dims)) != 1 or not value.dims[0] or len(axes_of(leaf.dims)) != 1:
        raise walk.refuse(body, "only derivatives of a number are supported", "write the derivative of one element")
    choice = walk.choose(tree.span, walk.text(tree), LAYOUTS)
    used = derive_tensor(walk, value, leaf)
    result = Matrix(used.node, (value.dims[0], used.dims[0]))
    return transpose_matrix(result) if choice else result


@rule("differential")
def differential(walk: Walk, tree: Tree) -> Matrix:
    """Translate a differential such as ∂X or ∂(X Y)."""
    value = walk.read(tree.parts[0])
    if value.identity or value.ones:
        raise walk.refuse(tree, "a constant has no differential")
    return Matrix(nodes.Differential(value.node), (value.dims[0], value.dims[1]), indices=value.indices)
