"""Block matrices, such as [A, B], [x; y] and LaTeX environments. A matrix of numbers is a literal."""

from __future__ import annotations

from collections.abc import Sequence

from grammar import nodes

from . import values
from .axes import AxisClashError, axes_of
from .matrices import Walk, transpose_matrix
from .matrix_functions import rule
from .matrix_leaves import Matrix
from .source_tree import Tree
from .values import AxisValue, call, number


@rule("block")
def block(walk: Walk, tree: Tree) -> Matrix:
    """Return a block matrix. Blocks of one row are joined side by side, and rows are placed below each other."""
    rows = [[walk.read(cell) for cell in row.parts] for row in tree.parts]
    if len({len(row) for row in rows}) > 1:
        raise walk.refuse(tree, "the rows of this matrix have different numbers of blocks")
    cells = [cell for row in rows for cell in row]
    if all(cell.literal is not None for cell in cells):
        return literal(walk, rows)
    if any(cell.identity or cell.ones for cell in cells) or any(cell.indices for cell in cells):
        raise walk.refuse(
            tree, "nothing specifies how large a block of this matrix is", "give each block a name and a shape"
        )
    return below(walk, tree, [join_columns(walk, tree, row) for row in rows])


def literal(walk: Walk, rows: Sequence[Sequence[Matrix]]) -> Matrix:
    lengths = len(rows), len(rows[0])
    dims = [(walk.axes.new(size=length),) if length > 1 else () for length in lengths]
    axes = axes_of(dims)
    walk.axes.facts.pinned.extend(zip(axes, (length for length in lengths if length > 1)))
    numbers = tuple(tuple(cell.node for cell in row) for row in rows)
    if lengths[1] == 1:
        numbers = (tuple(row[0] for row in numbers),)
    node = nodes.Literal(numbers, tuple(nodes.Axis(axis.key) for axis in axes))
    return walk.make(node, dims)


def below(walk: Walk, tree: Tree, blocks: Sequence[Matrix]) -> Matrix:
    return (
        transpose_matrix(join_columns(walk, tree, [transpose_matrix(part) for part in blocks]))
        if len(blocks) > 1
        else blocks[0]
    )


def join_columns(walk: Walk, tree: Tree, blocks: Sequence[Matrix]) -> Matrix:
    """Return blocks placed side by side. A vector becomes one column."""
    if len(blocks) == 1:
        return blocks[0]
    if len({bool(part.dims[0]) for part in blocks}) > 1:
        raise walk.refuse(tree, "the blocks of this matrix have different numbers of rows")
    try:
        rows = values.align_values(walk.axes, *(AxisValue(part.node, part.dims[:1]) for part in blocks))
    except AxisClashError:
        listed = " and ".join(walk.called(part.dims[0]) for part in blocks)
        raise walk.refuse(tree, f"the rows of the blocks differ: {listed}") from None
    joined = walk.axes.new()
    if not any(part.dims[1] for part in blocks):
        node = call("stack", [part.node for part in blocks], (joined,))
        walk.axes.facts.pinned.append((joined, len(blocks)))
        return walk.make(node, (rows[0], (joined,)), *blocks)
    wide = [with_column(walk, part) for part in blocks]
    walk.axes.facts.totals.append((joined, tuple(axis for part in wide for axis in part.dims[1])))
    if any(len(part.dims[1]) != 1 for part in wide):
        raise walk.refuse(tree, "a block with merged columns is not supported")
    for part in wide:
        walk.axes.apart((*axes_of(part.dims), joined))
    node = values.concatenate_nodes([(part.node, part.dims[1][0]) for part in wide], joined)
    return walk.make(node, (rows[0], (joined,)), *wide)


def with_column(walk: Walk, part: Matrix) -> Matrix:
    """Return a vector as a matrix of one column. A matrix is returned unchanged."""
    if part.dims[1]:
        return part
    axis = walk.axes.new(size=1)
    walk.axes.facts.pinned.append((axis, 1))
    one = nodes.Literal(((number(1),),), (nodes.Axis(axis.key),))
    return walk.make(call("⊙", (part.node, one)), (part.dims[0], (axis,)), part)
