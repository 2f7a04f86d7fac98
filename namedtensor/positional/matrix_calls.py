"""Named functions of matrices, block matrices and derivatives.

The derivative of a scalar has the shape of the variable. The derivative of a vector with respect to a vector is a
matrix, whose rows belong to one of the two vectors. A matrix of numbers is a literal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from grammar import nodes
from grammar.symbols import ELEMENTWISE

from . import values
from .axes import AxisClashError, AxisVariable, axes_of
from .indices import canonical, is_letter, spell
from .matrices import Walk, transpose_matrix
from .matrix_functions import apply_elementwise, rule, square
from .matrix_leaves import EMPTY, Matrix
from .matrix_sums import expectation
from .source_tree import Tree
from .values import AxisValue, Leaf, call, number


# ---------------------------------------------------------------------------------------------------------- functions
@rule("call")
def function(walk: Walk, tree: Tree) -> Matrix:
    rule = FUNCTIONS.get(tree.text)
    if tree.upper and rule not in (apply_along_rows, reduce_all):
        return to_base(walk, tree)
    if len(tree.parts) == 1 and rule is not None:
        return rule(walk, tree, walk.read(tree.parts[0]))
    if tree.text in ("max", "min") and len(tree.parts) == 2:
        x, y = (walk.read(part) for part in tree.parts)
        return walk.elements(tree.text, x, y, tree)
    if rule is None and tree.text in ELEMENTWISE and len(tree.parts) == 1:
        x = walk.read(tree.parts[0])
        rows, columns = x.dims
        if tree.text in ("exp", "log", "sqrt") and x.is_full and rows[0].kind.root is columns[0].kind.root:
            return matrix_function(walk, tree, x)
        return apply_elementwise(walk, tree.text, x)
    raise walk.refuse(tree, f"{tree.text} of {len(tree.parts)} arguments is not supported")


def to_base(walk: Walk, tree: Tree) -> Matrix:
    r"""Translate a logarithm such as \log_2 x. Other subscripts are axes, but this subscript is the base."""
    if tree.text != "log" or not tree.upper.isdecimal():
        hint = "write log(x) / log(b)" if tree.text == "log" else "leave it out, or give the formula"
        raise walk.refuse(tree, f"the subscript {tree.upper} of {tree.text} is not supported", hint)
    base = walk.read(Tree("number", tree.span, text=tree.upper))
    return walk.elements("/", function(walk, replace(tree, upper="")), apply_elementwise(walk, "log", base), tree)


def matrix_function(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """Translate exp, log or sqrt of a square matrix elementwise. For exp(A), ask if the matrix exponential is meant."""
    if tree.text != "exp":
        walk.remark(f"{walk.text(tree)} is taken of each element")
        return apply_elementwise(walk, tree.text, x)
    if walk.choose(tree.span, walk.text(tree), ("element by element", "the exponential of the matrix")) == 0:
        return apply_elementwise(walk, tree.text, x)
    return walk.make(call("expm", (x.node,), axes_of(x.dims)), x.dims, x)


def apply_along_rows(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """Translate softmax and log softmax, which are computed within each row or over the axis in the subscript."""
    below, indices = tree.upper, dict(x.indices)
    if below in indices:
        return walk.make(call(tree.text, (x.node,), (indices[below],)), x.dims, x)
    axes = x.dims[1] or x.dims[0]
    if below in ("columns", "cols", "col", "column"):
        axes = x.dims[0]
    elif (named := walk.axes.given.get(below)) and [named.kind.root] == [axis.kind.root for axis in x.dims[1]]:
        axes = x.dims[1]
    elif below and below not in ("rows", "row"):
        raise walk.refuse(
            tree,
            f"{tree.text} over {below} is not supported",
            f"write an index of its argument, or {tree.text}(…) within each row",
        )
    if not axes and len(indices) == 1 and not below:
        axes = tuple(indices.values())
    if not axes:
        raise walk.refuse(
            tree, f"{tree.text} has no axis to be taken over", f"write the index below it: {tree.text}_j(…)"
        )
    if x.is_full:
        walk.remark(f"{tree.text} is over {walk.called(axes)}, within each {'column' if axes is x.dims[0] else 'row'}")
    return walk.make(call(tree.text, (x.node,), axes), x.dims, x)


def read_square_function(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """Translate det, trace and log det of a square matrix."""
    if tree.text == "trace" and (whole := trace_of_product(walk, tree, x)) is not None:
        return whole
    pair = square(walk, tree, x, tree.text)
    return Matrix(call(tree.text, (x.node,), pair), EMPTY, indices=x.indices)


def trace_of_product(walk: Walk, tree: Tree, x: Matrix) -> Matrix | None:
    """Translate tr(P Q) as a contraction over both axes.

    Return None in index notation, or if the argument is not a product of two matrices.
    """
    inside = tree.parts[0]
    if (
        inside.op != "product"
        or not isinstance(x.node, nodes.Call)
        or x.node.operator != "⊙"
        or len(x.node.subscript) != 1
        or walk.letters.active
    ):
        return None
    first, second = (walk.read(part) for part in inside.parts)
    if not first.is_full or not second.is_full:
        return None
    try:
        walk.axes.unify_dims(first.dims[1], second.dims[0])
        walk.axes.unify_dims(first.dims[0], second.dims[1])
    except AxisClashError:
        raise walk.refuse(tree, f"a trace needs a square matrix, got {walk.called(x.axes)}") from None
    walk.axes.apart(first.axes, second.axes)
    return Matrix(call("⊙", (first.node, second.node), axes_of(first.dims)), EMPTY, indices=x.indices)


def diagonal(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """Translate diag, which maps a vector to a diagonal matrix and a matrix to its diagonal."""
    if x.is_full:
        rows, columns = square(walk, tree, x, "a diagonal")
        walk.axes.apart(x.axes)
        return Matrix(values.diagonal(x.node, rows, columns), (x.dims[0], ()), indices=x.indices)
    (axis,) = axes_of(x.dims) or (None,)
    if axis is None:
        raise walk.refuse(tree, "diag needs a vector or a matrix")
    other = walk.axes.twin(axis)
    column = x if x.dims[0] else transpose_matrix(x)
    result = walk.make(call("diag", (x.node,), (axis, other)), ((axis,), (other,)), x)
    return replace(result, diagonal=replace(column, lying=False))


def stack_columns(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """Translate vec A, which is the vector that consists of the columns of A."""
    return walk.make(x.node, ((*x.dims[1], *x.dims[0]), ()), x)


def reduce_all(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """Translate a reduction over all axes, such as max x or mean x."""
    if not axes_of(x.dims):
        raise walk.refuse(tree, f"{tree.text} has no axis to be taken over", f"write the index below it: {tree.text}_i")
    if tree.upper:
        raise walk.refuse(tree, f"{tree.text} over {tree.upper} is not supported")
    if x.is_full and tree.text == "logsumexp":
        raise walk.refuse(tree, "logsumexp of a matrix needs an axis", "write an index below it")
    if x.is_full:
        walk.remark(f"{tree.text} is over all elements")
    return walk.reduced(tree.text, x, axes_of(x.dims), EMPTY, dict(x.indices))


FUNCTIONS: dict[str, Callable[[Walk, Tree, Matrix], Matrix]] = {
    "softmax": apply_along_rows, "logsoftmax": apply_along_rows, "trace": read_square_function, "det": read_square_function, "logdet": read_square_function, "diag": diagonal, "vec": stack_columns, "expectation": expectation,
    **dict.fromkeys(("max", "min", "mean", "var", "std", "norm", "logsumexp"), reduce_all),
}  # fmt: skip


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

    The node has the tensor's axes, and new axes that replace the starred axes of the input. The dimensions of the
    result contain only the new axes.
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
