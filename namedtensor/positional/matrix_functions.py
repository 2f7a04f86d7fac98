"""The rules that translate trees such as transposes, inverses, quotients, powers, norms and inner products.

`RULES` maps each kind of tree to its rule. Other modules add rules to it, such as `matrix_calls` for named functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from grammar import nodes
from grammar.nodes import Node

from .axes import AxisVariable, axes_of
from .indices import canonical, is_letter, items_of, spell
from .matrices import Walk, transpose_matrix
from .matrix_leaves import EMPTY, RULES, Matrix
from .source_tree import Tree, base_of
from .values import call, number

Rule = Callable[[Walk, Tree], Matrix]


def rule(*ops: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, function))
        return function

    return register


def apply_elementwise(walk: Walk, operator: str, x: Matrix) -> Matrix:
    """Apply a function to each element of a value."""
    return replace(walk.make(call(operator, (x.node,)), x.dims, x), lying=x.lying)


def square(walk: Walk, tree: Tree, x: Matrix, what: str) -> tuple[AxisVariable, AxisVariable]:
    """Return the two axes of a square matrix. Raise NotationError if the matrix is not square."""
    rows, columns = x.dims
    if x.identity or len(rows) != 1 or len(columns) != 1 or not rows[0].kind.unify(columns[0].kind):
        raise walk.refuse(tree, f"{what} needs a square matrix, got {walk.called(x.axes)}")
    return rows[0], columns[0]


# ------------------------------------------------------------------------------------------------------ the simple ones
@rule("number")
def literal(walk: Walk, tree: Tree) -> Matrix:
    value = float(tree.text)
    exact = int(value) if "." not in tree.text and "e" not in tree.text.lower() and value != float("inf") else value
    return Matrix(number(exact), EMPTY, literal=exact)


def read_product(walk: Walk, tree: Tree) -> Matrix:
    """Translate adjacent factors.

    If an input is declared, raise NotationError for an unknown name before a name in brackets, as in κ(A).
    """
    pair, declared = tree, any(not source.guessed for source in walk.names.values())
    while declared and pair.op == "product":
        left, right = pair.parts[0].parts[1] if pair.parts[0].op == "product" else pair.parts[0], pair.parts[1]
        if right.op == "group" and right.parts[0].op == "name" and is_unknown(walk, left):
            name = canonical(spell(left))
            raise walk.refuse(left, f"unknown function {name}", f"give the shape of {name} if it is a factor")
        pair = pair.parts[0]
    return walk.product(tree)


def is_unknown(walk: Walk, tree: Tree) -> bool:
    """Return whether a tree is a name other than an input, an index, a size or a constant."""
    name, base = canonical(spell(tree)), base_of(tree)
    known = {*walk.names, *walk.axes.given, "e", "π", "I", "𝟏", "δ"}
    return bool(name) and not {name, base} & known and not walk.is_size(name) and not walk.counts(name)


RULES.update({
    "group": lambda walk, tree: walk.read(tree.parts[0]),
    "product": read_product,
    **dict.fromkeys(("after /", "·"), Walk.product),
    "@": lambda walk, tree: walk.times(walk.read(tree.parts[0]), walk.read(tree.parts[1]), "product", tree),
    **dict.fromkeys("+-", Walk.added),
})  # fmt: skip


@rule("negative")
def negative(walk: Walk, tree: Tree) -> Matrix:
    x = walk.read(tree.parts[0])
    node = call("negative", (x.node,))
    if x.identity:
        return replace(x, node=node)
    literal = None if x.literal is None else -x.literal
    return replace(walk.make(node, x.dims, x), lying=x.lying, literal=literal)


@rule("either")
def derivative_or_sum(walk: Walk, tree: Tree) -> Matrix:
    """Translate ∇_x f + g or ∑_i f + g_i. Ask whether the operator applies to f or, as in ∇_x (f + g), to all terms."""
    operator = tree.parts[1]
    while operator.op not in ("big", "gradient"):
        operator = operator.parts[-1]
    if {*operator.letters} & {*(walk.letters.free or ())}:
        return walk.read(tree.parts[0])  # i is an index on the left
    verb = "summed" if operator.op == "big" else "differentiated"
    options = (f"only the first term is {verb}", f"all terms are {verb}")
    return walk.read(tree.parts[walk.choose(tree.span, walk.text(tree), options, "∇")])


@rule("T")
def transpose(walk: Walk, tree: Tree) -> Matrix:
    if tree.text in ("'", "H"):
        over = " of real numbers" if tree.text == "H" else ""
        walk.remark(f"{walk.text(tree)} is read as the transpose{over}")
    return transpose_matrix(walk.read(tree.parts[0]))


@rule("inverse")
def inverse(walk: Walk, tree: Tree) -> Matrix:
    x = walk.read(tree.parts[0])
    if x.is_number:
        return walk.divided(literal(walk, Tree("number", tree.span, text="1")), x, tree)
    pair = square(walk, tree, x, "an inverse")
    return replace(walk.make(call("inv", (x.node,), pair), x.dims, x), inverse=x)


INDEPENDENT = ("the pseudoinverse of independent columns", "the pseudoinverse of independent rows")


@rule("pseudoinverse")
def pseudoinverse(walk: Walk, tree: Tree) -> Matrix:
    """Translate A^† or A^+ for a matrix of full rank. Ask whether its columns or its rows are independent.

    The general formula would need singular values.
    """
    (base,) = tree.parts
    if not walk.read(base).is_full:
        hint = "write max(x, 0) for the positive part" if tree.text == "+" else "write the transpose x^⊤"
        raise walk.refuse(tree, f"^{tree.text} of something other than a matrix is not supported", hint)
    turned = Tree("T", tree.span, (base,), "⊤")
    by_columns = walk.choose(tree.span, walk.text(tree), INDEPENDENT) == 0
    product = Tree("product", tree.span, (turned, base) if by_columns else (base, turned))
    inverted = Tree("inverse", tree.span, (product,))
    return walk.read(Tree("product", tree.span, (inverted, turned) if by_columns else (turned, inverted)))


@rule("∘", "*")
def hadamard(walk: Walk, tree: Tree) -> Matrix:
    if walk.letters.active:
        return walk.product(replace(tree, op="∘"))
    x, y = (walk.read(part) for part in tree.parts)
    if tree.op == "*" and axes_of(x.dims) and axes_of(y.dims):
        if walk.choose(tree.span, walk.text(tree), ("the product of matrices", "element by element")) == 0:
            return walk.times(x, y, "product", tree)
        return walk.elements("⊙", *walk.align_summands(x, y), tree)
    if any(part.op == "product" for part in tree.parts):
        walk.remark(f"{walk.text(tree)}: factors side by side are multiplied before ∘")
    return walk.times(x, y, "∘", tree)


@rule("×")
def cross(walk: Walk, tree: Tree) -> Matrix:
    x, y = (walk.read(part) for part in tree.parts)
    if x.is_number or y.is_number:
        return walk.scaled(x, y)
    raise walk.refuse(tree, "the cross product is not supported", "write its elements")


@rule("⊗")
def outer(walk: Walk, tree: Tree) -> Matrix:
    """Translate ⊗, which is the outer product of two vectors or the Kronecker product of two matrices."""
    x, y = (walk.read(part) for part in tree.parts)
    if x.identity or y.identity or x.ones or y.ones:
        raise walk.refuse(
            tree, "⊗ of an identity or of ones needs their sizes", "write it with an identity that is given"
        )
    if x.is_number or y.is_number:
        return walk.scaled(x, y)
    if not x.dims[1] and not y.dims[1]:
        y = transpose_matrix(y)
    dims = tuple((*one, *two) for one, two in zip(x.dims, y.dims))
    return walk.make(call("⊙", (x.node, y.node)), dims, x, y)


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
    return apply_elementwise(walk, "sqrt", x)


@rule("sub")
def element(walk: Walk, tree: Tree) -> Matrix:
    """Translate an index of a vector or matrix expression, such as (A x)_i, or a name with a label."""
    items, name = items_of(tree.text), canonical(spell(tree))
    letters = walk.letters.active and all(map(is_letter, items))
    if name and not letters:
        return walk.leaf(tree, name)
    x = walk.read(tree.parts[0])
    if tree.parts[0].op == "inner" and tree.text in ("F", "Fro"):
        return x
    free = [dim for dim in x.dims if dim]
    if not letters or len(items) > len(free):
        if name:
            return walk.leaf(tree, name)
        raise walk.refuse(tree, f"the index {tree.text} has nothing to be an index of")
    if len(items) < len(free):
        raise walk.refuse(tree, f"{walk.text(tree)} has {len(free)} axes, and {len(items)} indices")
    node, indices, counted = x.node, dict(x.indices), set[str]()
    for item, (axis,) in zip(items, free):
        if item in walk.ranges:
            node = nodes.Index(node, ((nodes.Axis(axis.key), walk.within(tree, item, axis, counted)),))
            continue
        walk.meet(tree, walk.letter(item), axis, item)
        indices[item] = axis
    return Matrix(node, EMPTY, indices=tuple(indices.items()))


# ------------------------------------------------------------------------------------------------- powers, norms, bars
@rule("^")
def power(walk: Walk, tree: Tree) -> Matrix:
    base, exponent = tree.parts
    name = canonical(spell(tree))
    label = exponent.op == "name" and exponent.text not in walk.names and exponent.text.isupper()
    if (label or exponent.op in ("label", "group")) and name and base.op in ("name", "sub"):
        return walk.leaf(tree, name)
    if base.op == "name" and base.text == "e" and "e" not in walk.names:
        return walk.read(Tree("call", tree.span, (exponent,), "exp"))
    x, p = walk.read(base), walk.read(exponent)
    if not p.is_number:
        raise walk.refuse(exponent, "an exponent is a number")
    if exponent.op == "name" and exponent.text in dict(p.indices) and not x.is_number:
        hint = f"write {walk.text(base)}_{exponent.text}"
        raise walk.refuse(tree, f"the upper index of {walk.text(tree)} is not supported", hint)
    if x.is_number:
        return raise_to_power(walk, x, p)
    return matrix_power(walk, tree, x, p) if x.is_full else vector_power(walk, tree, x, p)


def raise_to_power(walk: Walk, x: Matrix, p: Matrix) -> Matrix:
    """Raise each element of a value to a power."""
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
        return raise_to_power(walk, x, p)
    square(walk, tree, x, "a power")
    for _ in range(int(p.literal or 0) - 1):
        x = walk.contract(x, walk.read(tree.parts[0]), Tree("product", tree.span, (tree.parts[0], tree.parts[0])))
    return x


def vector_power(walk: Walk, tree: Tree, x: Matrix, p: Matrix) -> Matrix:
    if p.literal == 2 and len(axes_of(x.dims)) == 1:
        if walk.choose(tree.span, walk.text(tree), ("each element", "the inner product with itself")) == 1:
            column, other = (y if y.dims[0] else transpose_matrix(y) for y in (x, walk.read(tree.parts[0])))
            return walk.contract(transpose_matrix(column), other, Tree("product", tree.span, (tree.parts[0],) * 2))
        return raise_to_power(walk, x, p)
    walk.remark(f"{walk.text(tree)} is a power of each element")
    return raise_to_power(walk, x, p)


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
        options = ("Frobenius: the root of the sum of squares", "the largest singular value")
        if walk.choose(tree.span, walk.text(tree), options) == 1:
            return spectral(walk, tree, x)
    if order in ("∞", "\\infty"):
        return walk.reduced("max", apply_elementwise(walk, "abs", x), over, EMPTY, dict(x.indices))
    parameters: tuple[Node, ...] = ()
    if order not in ("", "2", "F", "Fro"):
        if not order.replace(".", "", 1).isdigit() or float(order) == 0:
            raise walk.refuse(
                tree, f"the norm with the subscript {order} is not supported", "write ‖x‖, ‖x‖_1, ‖x‖_2, ‖x‖_∞ or ‖A‖_F"
            )
        parameters = (number(float(order)),)
    node = call("norm", (x.node,), over, parameters)
    walk.axes.apart(x.axes)
    return Matrix(node, EMPTY, indices=x.indices)


def spectral(walk: Walk, tree: Tree, x: Matrix) -> Matrix:
    other = walk.read(tree.parts[0])
    gram = walk.contract(transpose_matrix(x), other, Tree("product", tree.span, tree.parts * 2))
    rows, columns = axes_of(gram.dims)
    largest = call("max", (call("eigvalsh", (gram.node,), (rows, columns)),), (rows,))
    return Matrix(call("sqrt", (largest,)), EMPTY, indices=x.indices)


@rule("bars")
def bars(walk: Walk, tree: Tree) -> Matrix:
    x = walk.read(tree.parts[0])
    if x.is_number:
        return apply_elementwise(walk, "abs", x)
    options = (
        ("the determinant", "element by element") if x.is_full else ("element by element", "the length of the vector")
    )
    if options[walk.choose(tree.span, walk.text(tree), options)] == "element by element":
        return apply_elementwise(walk, "abs", x)
    operator, over = ("det", square(walk, tree, x, "a determinant")) if x.is_full else ("norm", axes_of(x.dims))
    return Matrix(call(operator, (x.node,), over), EMPTY, indices=x.indices)


@rule("inner")
def inner(walk: Walk, tree: Tree) -> Matrix:
    """Translate the inner product ⟨x, y⟩, which is a contraction over all axes."""
    x, y = (walk.read(part) for part in tree.parts)
    if x.identity or y.identity or x.ones or y.ones:
        raise walk.refuse(tree, "⟨ ⟩ expects two vectors or two matrices")
    both = walk.elements("⊙", x, y, tree)
    if not axes_of(both.dims):
        return both
    return walk.reduced("∑", both, axes_of(both.dims), EMPTY, dict(both.indices))
