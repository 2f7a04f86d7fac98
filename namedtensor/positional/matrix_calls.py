"""Named functions of matrix notation, such as softmax, traces, determinants and diagonals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from grammar import nodes
from grammar.symbols import ELEMENTWISE

from . import values
from .axes import AxisClashError, axes_of
from .matrices import EMPTY, Matrix, Walk, transpose_matrix
from .matrix_functions import apply_elementwise, rule, square
from .matrix_sums import expectation
from .source_tree import Tree
from .values import call


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
    r"""Translate a logarithm such as \log_2 x. Its subscript is the base and, unlike other subscripts, not an axis."""
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
    """Translate softmax and log softmax, which apply within each row or over the index or axis in the subscript."""
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

    Return None if the argument is not a product of two matrices, or in index notation.
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
