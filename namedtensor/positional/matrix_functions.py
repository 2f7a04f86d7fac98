"""What a tree means that is not a name, product or sum of indices: powers, norms, traces, functions; one rule each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from grammar import nodes
from grammar.nodes import Node

from . import values
from .axes import Axis, Clash, axes_of
from .indices import canonical, is_letter, items_of, spelled
from .matrices import EMPTY, RULES, Matrix, Walk, transposed
from .trees import Tree
from .values import call, number

Rule = Callable[[Walk, Tree], Matrix]


def rule(*ops: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, function))
        return function

    return register


def applied(walk: Walk, operator: str, x: Matrix) -> Matrix:
    """A function of each element."""
    return replace(walk.make(call(operator, (x.node,)), x.dims, x), lying=x.lying)


def square(walk: Walk, tree: Tree, x: Matrix, what: str) -> tuple[Axis, Axis]:
    """The two axes of a square matrix. Raises NotationError where it is not."""
    rows, columns = x.dims
    if x.identity or len(rows) != 1 or len(columns) != 1 or not rows[0].kind.fits(columns[0].kind):
        raise walk.refuse(tree, f"{what} needs a square matrix, got {walk.called(x.axes)}")
    rows[0].kind.unify(columns[0].kind)
    return rows[0], columns[0]


# ------------------------------------------------------------------------------------------------------ the simple ones
@rule("number")
def literal(walk: Walk, tree: Tree) -> Matrix:
    value = float(tree.text)
    exact = int(value) if "." not in tree.text and "e" not in tree.text.lower() and value != float("inf") else value
    return Matrix(number(exact), EMPTY, literal=exact)


@rule("group")
def group(walk: Walk, tree: Tree) -> Matrix:
    return walk.read(tree.parts[0])


@rule("negative")
def negative(walk: Walk, tree: Tree) -> Matrix:
    x = walk.read(tree.parts[0])
    node = call("negative", (x.node,))
    if x.identity:
        return replace(x, node=node)
    literal = None if x.literal is None else -x.literal
    return replace(walk.make(node, x.dims, x), lying=x.lying, literal=literal)


@rule("T")
def transpose(walk: Walk, tree: Tree) -> Matrix:
    if tree.text == "'":
        walk.remark(f"{walk.text(tree)} is read as the transpose")
    return transposed(walk.read(tree.parts[0]))


@rule("inverse")
def inverse(walk: Walk, tree: Tree) -> Matrix:
    x = walk.read(tree.parts[0])
    if x.is_number:
        return walk.divided(literal(walk, Tree("number", tree.span, text="1")), x, tree)
    pair = square(walk, tree, x, "an inverse")
    return replace(walk.make(call("inv", (x.node,), pair), x.dims, x), inverse=x)


@rule("product", "after /", "·")
def product(walk: Walk, tree: Tree) -> Matrix:
    return walk.product(tree)


@rule("@")
def matmul(walk: Walk, tree: Tree) -> Matrix:
    return walk.times(walk.read(tree.parts[0]), walk.read(tree.parts[1]), "product", tree)


@rule("∘", "*")
def hadamard(walk: Walk, tree: Tree) -> Matrix:
    if walk.letters.active:
        return walk.product(replace(tree, op="∘"))
    x, y = (walk.read(part) for part in tree.parts)
    if tree.op == "*" and axes_of(x.dims) and axes_of(y.dims):
        if walk.choose(tree.span, walk.text(tree), ("the product of matrices", "element by element")) == 0:
            return walk.times(x, y, "product", tree)
    if x.is_number or y.is_number or x.identity or y.identity:
        return walk.times(x, y, "product", tree)
    if any(part.op == "product" for part in tree.parts):
        walk.remark(f"{walk.text(tree)}: factors side by side are multiplied before ∘")
    return walk.elements("⊙", x, y, tree)


@rule("×")
def cross(walk: Walk, tree: Tree) -> Matrix:
    x, y = (walk.read(part) for part in tree.parts)
    if x.is_number or y.is_number:
        return walk.scaled(x, y)
    raise walk.refuse(tree, "the cross product is not supported", "write its elements")


@rule("⊗")
def outer(walk: Walk, tree: Tree) -> Matrix:
    """Of vectors the outer product, of matrices Kronecker's."""
    x, y = (walk.read(part) for part in tree.parts)
    if x.identity or y.identity or x.ones or y.ones:
        raise walk.refuse(
            tree, "⊗ of an identity or of ones needs their sizes", "write it with an identity that is given"
        )
    if x.is_number or y.is_number:
        return walk.scaled(x, y)
    if not x.dims[1] and not y.dims[1]:
        y = transposed(y)
    dims = tuple((*one, *two) for one, two in zip(x.dims, y.dims))
    return walk.make(call("⊙", (x.node, y.node)), dims, x, y)


@rule("+", "-")
def total(walk: Walk, tree: Tree) -> Matrix:
    return walk.added(tree)


@rule("/")
def quotient(walk: Walk, tree: Tree) -> Matrix:
    above, below = tree.parts
    x = walk.read(above)
    return walk.divided(x, walk.read(below), tree)


@rule("sqrt")
def root(walk: Walk, tree: Tree) -> Matrix:
    x = walk.read(tree.parts[0])
    if x.is_full:
        walk.remark(f"{walk.text(tree)} is the root of each element")
    return applied(walk, "sqrt", x)


@rule("big")
def big(walk: Walk, tree: Tree) -> Matrix:
    return walk.big(tree)


@rule("sub")
def element(walk: Walk, tree: Tree) -> Matrix:
    """(A x)_i, softmax(z)_i: the index of a vector or matrix."""
    items = items_of(tree.text)
    x = walk.read(tree.parts[0])
    free = [dim for dim in x.dims if dim]
    if not walk.letters.active or not all(map(is_letter, items)) or len(items) > len(free):
        if spelled(tree):
            return walk.leaf(tree, canonical(spelled(tree)))
        raise walk.refuse(tree, f"the index {tree.text} has nothing to be an index of")
    if len(items) < len(free):
        raise walk.refuse(tree, f"{walk.text(tree)} has {len(free)} axes, and {len(items)} indices")
    indices = dict(x.indices)
    for item, (axis,) in zip(items, free):
        walk.meet(tree, walk.letter(item), axis, item)
        indices[item] = axis
    return Matrix(x.node, EMPTY, indices=tuple(indices.items()))


# ------------------------------------------------------------------------------------------------- powers, norms, bars
@rule("^")
def power(walk: Walk, tree: Tree) -> Matrix:
    base, exponent = tree.parts
    name = canonical(spelled(tree))
    if (
        exponent.op == "label"
        or exponent.op == "group"
        or (exponent.op == "name" and exponent.text not in walk.names and exponent.text.isupper())
    ):
        if name and base.op in ("name", "sub"):
            return walk.leaf(tree, name)
    if base.op == "name" and base.text == "e" and "e" not in walk.names:
        return applied(walk, "exp", walk.read(exponent))
    x, p = walk.read(base), walk.read(exponent)
    if not p.is_number:
        raise walk.refuse(exponent, "an exponent is a number")
    if x.is_number:
        return raised(walk, x, p)
    return matrix_power(walk, tree, x, p) if x.is_full else vector_power(walk, tree, x, p)


def raised(walk: Walk, x: Matrix, p: Matrix) -> Matrix:
    """Each element to a power."""
    return replace(walk.make(nodes.Superscript(x.node, (p.node,)), x.dims, x, p), lying=x.lying)


def matrix_power(walk: Walk, tree: Tree, x: Matrix, p: Matrix) -> Matrix:
    options = ("a product of matrices", "each element")
    whole = isinstance(p.literal, int) and 1 < p.literal <= 8
    rows, columns = x.dims
    is_square = len(rows) == len(columns) == 1 and rows[0].kind.fits(columns[0].kind)
    if not is_square or not whole:
        raise walk.refuse(
            tree,
            f"{walk.text(tree)}: only whole powers of a square matrix and its inverse are supported",
            "write an elementwise power with ∘: A ∘ A",
        )
    if walk.choose(tree.span, walk.text(tree), options) == 1:
        return raised(walk, x, p)
    square(walk, tree, x, "a power")
    for _ in range(int(p.literal or 0) - 1):
        x = walk.contract(x, walk.read(tree.parts[0]), Tree("product", tree.span, (tree.parts[0], tree.parts[0])))
    return x


def vector_power(walk: Walk, tree: Tree, x: Matrix, p: Matrix) -> Matrix:
    if p.literal == 2 and len(axes_of(x.dims)) == 1:
        if walk.choose(tree.span, walk.text(tree), ("each element", "the inner product with itself")) == 1:
            column = x if x.dims[0] else transposed(x)
            other = walk.read(tree.parts[0])
            return walk.contract(
                transposed(column),
                other if other.dims[0] else transposed(other),
                Tree("product", tree.span, (tree.parts[0],) * 2),
            )
        return raised(walk, x, p)
    walk.remark(f"{walk.text(tree)} is a power of each element")
    return raised(walk, x, p)


@rule("norm")
def norm(walk: Walk, tree: Tree) -> Matrix:
    x, order = walk.read(tree.parts[0]), tree.text
    over = axes_of(x.dims)
    if not over:
        raise walk.refuse(tree, "a norm needs a vector or a matrix", "write |x| for the absolute value of a number")
    if x.is_full and order not in ("F", "Fro", "F,"):
        if order not in ("", "2"):
            raise walk.refuse(
                tree, f"the norm ‖A‖_{order} of a matrix is not supported", "‖A‖_F is the root of the sum of squares"
            )
        if (
            walk.choose(
                tree.span, walk.text(tree), ("Frobenius: the root of the sum of squares", "the largest singular value")
            )
            == 1
        ):
            return spectral(walk, tree, x)
    if order in ("∞", "\\infty"):
        return walk.reduced("max", applied(walk, "abs", x), over, EMPTY, dict(x.indices))
    parameters: tuple[Node, ...] = ()
    if order not in ("", "2", "F", "Fro"):
        if not order.replace(".", "", 1).isdigit():
            raise walk.refuse(
                tree, f"the norm with the subscript {order} is not supported", "write ‖x‖, ‖x‖_1, ‖x‖_2, ‖x‖_∞ or ‖A‖_F"
            )
        parameters = (number(float(order)),)
    node = call("norm", (x.node,), over, parameters)
    walk.axes.apart(x.axes)
    return Matrix(node, EMPTY, indices=x.indices)


def spectral(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    other = walk.read(tree.parts[0])
    gram = walk.contract(transposed(x), other, Tree("product", tree.span, tree.parts * 2))
    rows, columns = axes_of(gram.dims)
    largest = call("max", (call("eigvalsh", (gram.node,), (rows, columns)),), (rows,))
    return Matrix(call("sqrt", (largest,)), EMPTY, indices=x.indices)


@rule("bars")
def bars(walk: Walk, tree: Tree) -> Matrix:
    x = walk.read(tree.parts[0])
    if x.is_number:
        return applied(walk, "abs", x)
    if x.is_full:
        if walk.choose(tree.span, walk.text(tree), ("the determinant", "element by element")) == 0:
            return Matrix(call("det", (x.node,), square(walk, tree, x, "a determinant")), EMPTY, indices=x.indices)
        return applied(walk, "abs", x)
    if walk.choose(tree.span, walk.text(tree), ("element by element", "the length of the vector")) == 0:
        return applied(walk, "abs", x)
    return Matrix(call("norm", (x.node,), axes_of(x.dims)), EMPTY, indices=x.indices)


@rule("inner")
def inner(walk: Walk, tree: Tree) -> Matrix:
    """⟨x, y⟩: over all axes of both"""
    x, y = (walk.read(part) for part in tree.parts)
    if x.identity or y.identity or x.ones or y.ones:
        raise walk.refuse(tree, "⟨ ⟩ expects two vectors or two matrices")
    both = walk.elements("⊙", x, y, tree)
    if not axes_of(both.dims):
        return both
    return walk.reduced("∑", both, axes_of(both.dims), EMPTY, dict(both.indices))


@rule("gradient")
def gradient(walk: Walk, tree: Tree) -> Matrix:
    raise walk.refuse(
        tree, "derivatives are not read", "write the function in named notation, and ∂f/∂x for its derivative"
    )


# ---------------------------------------------------------------------------------------------------------- functions
@rule("call")
def function(walk: Walk, tree: Tree) -> Matrix:
    rule = FUNCTIONS.get(tree.text)
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
        return applied(walk, tree.text, x)
    raise walk.refuse(tree, f"{tree.text} of {len(tree.parts)} arguments is not supported")


def matrix_function(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """exp(A) of a square matrix: element by element, or of the matrix."""
    if tree.text != "exp":
        walk.remark(f"{walk.text(tree)} is taken of each element")
        return applied(walk, tree.text, x)
    if walk.choose(tree.span, walk.text(tree), ("element by element", "the exponential of the matrix")) == 0:
        return applied(walk, tree.text, x)
    return walk.make(call("expm", (x.node,), axes_of(x.dims)), x.dims, x)


ELEMENTWISE = set("exp log sin cos tan tanh sinh cosh sqrt abs sign relu gelu silu elu softplus erf arctan σ".split())


def along(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """softmax, log softmax: within each row, or over the index below it."""
    below, own = tree.upper, dict(x.indices)
    if below in own:
        return walk.make(call(tree.text, (x.node,), (own[below],)), x.dims, x)
    axes = x.dims[1] or x.dims[0]
    if below in ("columns", "cols", "col", "column"):
        axes = x.dims[0]
    elif below and below not in ("rows", "row"):
        raise walk.refuse(
            tree,
            f"{tree.text} over {below} is not supported",
            f"write an index of its argument, or {tree.text}(…) within each row",
        )
    if not axes and len(own) == 1 and not below:
        axes = tuple(own.values())
    if not axes:
        raise walk.refuse(
            tree, f"{tree.text} has no axis to be taken over", f"write the index below it: {tree.text}_j(…)"
        )
    if x.is_full:
        walk.remark(f"{tree.text} is over {walk.called(axes)}, within each {'column' if axes is x.dims[0] else 'row'}")
    return walk.make(call(tree.text, (x.node,), axes), x.dims, x)


def of_square(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """det, trace, log det"""
    if tree.text == "trace" and (whole := trace_of_product(walk, tree, x)) is not None:
        return whole
    pair = square(walk, tree, x, tree.text)
    return Matrix(call(tree.text, (x.node,), pair), EMPTY, indices=x.indices)


def trace_of_product(walk: Walk, tree: Tree, x: Matrix) -> Matrix | None:
    """tr(P Q) as one contraction, over both axes."""
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
    if not first.is_full or not second.is_full or first.inverse or first.diagonal or second.diagonal:
        return None
    try:
        walk.axes.unify_dims(first.dims[1], second.dims[0])
        walk.axes.unify_dims(first.dims[0], second.dims[1])
    except Clash:
        raise walk.refuse(tree, f"a trace needs a square matrix, got {walk.called(x.axes)}") from None
    walk.axes.apart(first.axes, second.axes)
    return Matrix(call("⊙", (first.node, second.node), axes_of(first.dims)), EMPTY, indices=x.indices)


def diagonal(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """diag of a vector is a matrix, of a matrix its diagonal."""
    if x.is_full:
        rows, columns = square(walk, tree, x, "a diagonal")
        identity = nodes.Subscript(nodes.Name("I"), (values.name(rows), values.name(columns)))
        walk.axes.apart(x.axes)
        return Matrix(call("⊙", (x.node, identity), (columns,)), (x.dims[0], ()), indices=x.indices)
    (axis,) = axes_of(x.dims) or (None,)
    if axis is None:
        raise walk.refuse(tree, "diag needs a vector or a matrix")
    other = walk.axes.twin(axis)
    column = x if x.dims[0] else transposed(x)
    result = walk.make(call("diag", (x.node,), (axis, other)), ((axis,), (other,)), x)
    return replace(result, diagonal=replace(column, lying=False))


def stacked(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """vec A: the columns of A below each other."""
    return walk.make(x.node, ((*x.dims[1], *x.dims[0]), ()), x)


def over_all(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    """max x, mean x: over all axes."""
    if not axes_of(x.dims):
        raise walk.refuse(tree, f"{tree.text} has no axis to be taken over", f"write the index below it: {tree.text}_i")
    if tree.upper:
        raise walk.refuse(tree, f"{tree.text} over {tree.upper} is not supported")
    if x.is_full and tree.text == "logsumexp":
        raise walk.refuse(tree, "logsumexp of a matrix: over which axis is not said", "write an index below it")
    if x.is_full:
        walk.remark(f"{tree.text} is over all elements")
    return walk.reduced(tree.text, x, axes_of(x.dims), EMPTY, dict(x.indices))


FUNCTIONS: dict[str, Callable[[Walk, Tree, Matrix], Matrix]] = {
    "softmax": along, "logsoftmax": along, "trace": of_square, "det": of_square, "logdet": of_square, "diag": diagonal, "vec": stacked,
    **dict.fromkeys(("max", "min", "mean", "var", "std", "norm", "logsumexp"), over_all),
}  # fmt: skip
