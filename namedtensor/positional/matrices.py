"""Translate the trees of matrix notation to values with rows, columns and an axis for each index letter.

A vector is a column, its transpose is a row, and a scalar has neither. `A B` contracts the columns of A with the rows
of B. Only a given vector that does not fit as a column may be used as a row, as in `x W` or in a bias that is added to
a matrix. A matrix is never transposed to fit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Node

from . import values
from .axes import Axes, AxisClashError, AxisVariable, Dim, Dims, axes_of
from .indices import canonical, factors_of, find_summed_letters, letters_in, occurrences, spell
from .matrix_leaves import EMPTY, SIZES, Matrix, MatrixLeaves
from .source_tree import Tree
from .values import AxisValue, call, number


class Walk(MatrixLeaves):
    """The translator of products and sums in matrix and index notation."""

    def entry(self, tree: Tree, name: str, items: tuple[str, ...]) -> Matrix:
        """Translate an indexed tensor. Ask whether A_{ii} alone is the trace or the diagonal."""
        value = super().entry(tree, name, items)
        known = {*self.inner, *self.letters.outer}
        letter = next((item for item in items if items.count(item) > 1 and item not in known), "")
        if self.letters.free is not None or letter not in dict(value.indices):
            return value
        options = (f"{letter} is summed", "the elements of the diagonal")
        return value if self.choose(tree.span, self.text(tree), options) else self.sum_over(value, [letter])

    # ------------------------------------------------------------------------------------------------------ products
    def product(self, tree: Tree) -> Matrix:
        """Return the value of a product, which is summed over repeated letters in index notation."""
        if tree.op == "after /":
            return self.parse_after_slash(tree)
        if not self.letters.active:
            return self.joined(tree)
        counts = occurrences(factors_of(tree), self.letters, self.names)
        summed = find_summed_letters(counts, self.letters) - {*self.inner}
        for letter in sorted(summed):
            if counts[letter] > 2:
                raise self.refuse(
                    tree, f"the index {letter} is {counts[letter]} times in a product", "write the sum: ∑_i"
                )
        if summed and self.letters.free is None and self.letters.bound:
            options = (f"{', '.join(sorted(summed))} is summed", "element by element")
            if self.choose(tree.span, self.text(tree), options) == 1:
                summed = set()
        with self.binding(summed):
            return self.einstein(tree, summed)

    @contextmanager
    def binding(self, letters: Collection[str], beside: Collection[str] = (), below: bool = False) -> Iterator[None]:
        """Open a context in which each of these letters denotes a new axis.

        If `below` is true, the letters are written below a ∑. `beside` contains all letters below this ∑, including
        letters in conditions that are bound elsewhere. Products in the context do not sum any of these letters.
        """
        outer, inner, summing = self.scope, self.inner, self.summing
        self.inner = inner | {*letters, *beside}
        self.summing = summing | {*letters} if below else summing
        self.scope = {**outer, **{letter: self.axes.new(hint=letter) for letter in letters}}
        yield
        unbound = {letter: axis for letter, axis in self.scope.items() if letter not in letters}
        self.scope = {**unbound, **{letter: outer[letter] for letter in letters if letter in outer}}
        self.inner, self.summing = inner, summing

    def einstein(self, tree: Tree, summed: set[str]) -> Matrix:
        if not summed:
            return self.joined(tree)
        factors = self.drop_deltas(factors_of(tree), summed)
        if not summed and len(factors) == 1:
            return self.read(factors[0])
        waiting = [letters_in(factor, self.letters, self.names) for factor in factors]
        total = self.read(factors[0])
        for position, factor in enumerate(factors[1:], 1):
            later = {letter for names in waiting[position + 1 :] for letter in names}
            total = self.times(total, self.read(factor), "product", tree)
            now = [letter for letter in sorted(summed & dict(total.indices).keys()) if letter not in later]
            total = self.sum_over(total, now)
        return self.sum_over(total, sorted(summed & dict(total.indices).keys()))

    def drop_deltas(self, factors: list[Tree], summed: set[str]) -> list[Tree]:
        """Remove each factor δ_{ij} with a summed index, and return the other factors.

        A sum over i of x_i δ_{ij} is x_j, so the index i is removed from `summed`, and `aliases` maps i to j. At least
        one factor remains.
        """
        trees = list(factors)
        for factor in factors:
            pair = self.letters.index_of(factor, self.names)
            if pair is None or pair[0] != "δ" or "δ" in self.names or len({*pair[1]}) != 2 or len(trees) == 1:
                continue
            bound = next((letter for letter in pair[1] if letter in summed), None)
            if bound is not None:
                other = pair[1][1 - pair[1].index(bound)]
                self.meet(factor, self.letter(other), self.letter(bound), bound)
                self.aliases[bound] = other
                summed.discard(bound)
                trees.remove(factor)
        return trees

    def sum_over(self, value: Matrix, letters: Sequence[str]) -> Matrix:
        if not letters:
            return value
        indices = dict(value.indices)
        over = [indices.pop(letter) for letter in letters]
        return self.reduced("∑", value, over, value.dims, indices)

    def reduced(
        self,
        operator: str,
        value: Matrix,
        over: Sequence[AxisVariable],
        dims: Dims,
        indices: Mapping[str, AxisVariable],
    ) -> Matrix:
        """Reduce a value over axes. The sum over a diagonal such as A_{ii} becomes a trace."""
        if operator == "∑" and value.twice and len(over) == 1 and over[0].root is value.twice[1].root:
            node: Node = call("trace", (value.twice[0],), value.twice[1:])
        else:
            node = values.reduce_value(
                self.axes, operator, AxisValue(value.node, value.dims, value.factors), over, dims
            ).node
        if operator == "∑" and len(over) == 1:
            self.summed = over[0]
        return Matrix(node, dims, indices=tuple(indices.items()))

    def parse_after_slash(self, tree: Tree) -> Matrix:
        """Read a / b c as (a / b) c if a is a number and c contains a name other than a size.

        Otherwise, ask for the intended grouping.
        """
        quotient, rest = tree.parts
        top = quotient.parts[0]
        known = top.op == "number" and any(part.op == "name" and not self.is_size(part.text) for part in rest.all())
        if known or self.choose(tree.span, self.text(tree), ("(a / b) c", "a / (b c)"), "/") == 0:
            return self.product(Tree("product", tree.span, (quotient, rest)))
        below = Tree("product", tree.span, (quotient.parts[1], rest))
        return self.read(Tree("/", tree.span, (top, below)))

    def joined(self, tree: Tree) -> Matrix:
        left, right = tree.parts
        if self.has_open_size(left) and not self.has_open_size(right):
            second = self.read(right)
            return self.times(self.read(left), second, tree.op, tree)
        return self.times(self.read(left), self.read(right), tree.op, tree)

    def has_open_size(self, tree: Tree) -> bool:
        """Return whether a tree mentions a size such as n that can only be inferred from the other factor."""
        return any(
            (name := canonical(spell(part))) and self.is_size(name) and name not in self.axes.given
            for part in tree.all()
        )

    def times(self, x: Matrix, y: Matrix, op: str, tree: Tree) -> Matrix:
        if op == "∘" and not x.is_number and not y.is_number:
            return self.elements("⊙", *self.with_sizes(x, y, tree), tree)
        if x.identity or y.identity:
            return self.with_identity(x, y)
        if x.ones or y.ones:
            return self.with_ones(x, y, tree)
        if x.reciprocal is not None:
            return self.divided(y, x.reciprocal, tree)
        if x.is_number or y.is_number:
            return self.scaled(x, y)
        if op == "·" and x.lying and y.lying and x.dims[0] and y.dims[0]:
            x = transpose_matrix(x)
        if x.diagonal or y.diagonal:
            return self.with_diagonal(x, y, tree)
        if bool(x.dims[1]) != bool(y.dims[0]):
            if x.dims[0] and y.dims[0] and not x.dims[1] and not y.dims[1]:
                options = ("the inner product", "element by element")
                if self.choose(tree.span, self.text(tree), options) == 1:
                    return self.elements("⊙", x, y, tree)
            elif not x.lying or bool(x.dims[0]) != bool(y.dims[0]):
                raise self.no_product(x, y, tree)
            x = transpose_matrix(x)
        return self.contract(x, y, tree)

    def contract(self, x: Matrix, y: Matrix, tree: Tree) -> Matrix:
        over = x.dims[1]
        inverse = x.inverse if over else None
        try:
            if over:
                self.axes.unify_dims(inverse.dims[0] if inverse else over, y.dims[0])
        except AxisClashError:
            raise self.no_product(x, y, tree) from None
        if len(over) == 1:
            self.summed = over[0]
        if inverse:  # M^{-1} y, over the rows of M; the result has its columns
            node = call("solve", (inverse.node, y.node), axes_of(inverse.dims))
            return self.make(node, (inverse.dims[1], y.dims[1]), inverse, y)
        result = self.make(call("⊙", (x.node, y.node), over), (x.dims[0], y.dims[1]), x, y)
        return result if over else replace(result, factors=(x, y))

    def no_product(self, x: Matrix, y: Matrix, tree: Tree) -> NotationError:
        left, right = (self.text(part) for part in tree.parts) if len(tree.parts) == 2 else (self.text(tree), "")
        columns = self.called(x.dims[1]) if x.dims[1] else "one"
        rows = self.called(y.dims[0]) if y.dims[0] else "one"
        fits = self.offers(x, y, left, right) if right else ()
        return self.refuse(
            tree, f"no product: the columns of {left} are {columns}, the rows of {right or 'the next factor'} are {rows}",
            f"write {' or '.join(fits)}" if fits else None,
        )  # fmt: skip

    def offers(self, x: Matrix, y: Matrix, left: str, right: str) -> list[str]:
        """Return alternatives, such as A^⊤ B, to a product whose axes do not fit."""
        ways = [
            (f"{left}^⊤ {right}", fits(x.dims[0], y.dims[0])),
            (f"{left} {right}^⊤", fits(x.dims[1], y.dims[1])),
            (f"{left} ∘ {right}", all(map(fits, x.dims, y.dims))),
        ]
        return [text for text, fit in ways if fit and x.is_full and y.is_full]

    def scaled(self, x: Matrix, y: Matrix) -> Matrix:
        """Return the product of a number with a value, in either order. Both operands may be numbers."""
        if x.literal == 1:
            return y
        numeral = x.literal is not None and x.literal >= 0
        dims = y.dims if x.is_number else x.dims
        if numeral and y.literal is None:
            result = self.make(nodes.Call("juxtaposed", (), (), (x.node, y.node)), dims, x, y)
            return replace(result, lying=y.lying)
        result = self.make(call("⊙", (x.node, y.node)), dims, x, y)
        return replace(result, factors=(x, y), lying=x.lying or y.lying)

    def with_identity(self, x: Matrix, y: Matrix) -> Matrix:
        """Return a product with an identity matrix: I M is M, λ I is a scaled identity, and (λ I) M is λ M."""
        eye, other = (x, y) if x.identity else (y, x)
        if other.is_number or other.identity:
            factor = self.scaled(
                Matrix(eye.node, EMPTY, literal=1 if eye.node == number(1) else None), replace(other, identity=False)
            )
            return replace(factor, identity=True, factors=None)
        if eye.node == number(1):
            return replace(other, lying=False)
        return self.scaled(Matrix(eye.node, EMPTY), replace(other, lying=False))

    def with_ones(self, x: Matrix, y: Matrix, tree: Tree) -> Matrix:
        """Return a product with a vector of ones, 𝟏^⊤ x or A 𝟏, as a sum. Raise NotationError for other products."""
        if x.ones and y.ones or x.is_number or y.is_number:
            raise self.refuse(tree, "nothing specifies how long this vector of ones is")
        if not fits(x.dims[1], y.dims[0]):
            raise self.no_product(x, y, tree)
        if x.ones and not x.dims[0] and y.dims[0]:
            return self.reduced("∑", y, y.dims[0], ((), y.dims[1]), dict(y.indices))
        if y.ones and not y.dims[1] and x.dims[1]:
            return self.reduced("∑", x, x.dims[1], (x.dims[0], ()), dict(x.indices))
        raise self.refuse(
            tree,
            "a vector of ones is only supported as a sum, 𝟏^⊤ x and A 𝟏",
            "write the sum as ∑_i x_i; numbers are broadcast",
        )

    def with_diagonal(self, x: Matrix, y: Matrix, tree: Tree) -> Matrix:
        """Return the product with a diagonal matrix.

        The product diag(s) M multiplies each row of M by one element of s, and M diag(s) multiplies each column.
        """
        vector, other, side = (x.diagonal, y, 0) if x.diagonal else (y.diagonal, x, 1)
        assert vector is not None
        if side == 1 and not other.dims[1] and other.lying:
            other = transpose_matrix(other)
        if not other.dims[side]:
            raise self.no_product(x, y, tree)
        try:
            self.axes.unify_dims(other.dims[side], vector.dims[0])
        except AxisClashError:
            raise self.no_product(x, y, tree) from None
        node = call("⊙", (vector.node, other.node) if side == 0 else (other.node, vector.node))
        return self.make(node, other.dims, vector, other)

    # ------------------------------------------------------------------------------------------ sums, element by element
    def added(self, tree: Tree) -> Matrix:
        x, y = (self.read(part) for part in tree.parts)
        if self.letters.active:
            self.same_letters(x, y, tree)
        if x.identity and y.identity:
            both = self.elements(tree.op, replace(x, identity=False), replace(y, identity=False), tree)
            return replace(both, identity=True)
        return self.elements(tree.op, *self.align_summands(*self.with_sizes(x, y, tree)), tree)

    def with_sizes(self, x: Matrix, y: Matrix, tree: Tree) -> tuple[Matrix, Matrix]:
        """Return both values. Give an identity matrix the axes of the other value, which must not be an identity."""
        if x.identity and y.identity:
            raise self.refuse(tree, "nothing specifies how large this identity is", "multiply it with a tensor")
        if x.identity:
            return self.identity_like(x, y, tree), y
        return (x, self.identity_like(y, x, tree)) if y.identity else (x, y)

    def same_letters(self, x: Matrix, y: Matrix, tree: Tree) -> None:
        first, second = dict(x.indices).keys(), dict(y.indices).keys()
        if first and second and first != second and not axes_of(x.dims) and not axes_of(y.dims):
            free = {*(self.letters.free or ()), *self.summing}
            if not (first | second) <= free:
                names = " and ".join(", ".join(sorted(names)) or "none" for names in (first, second))
                raise self.refuse(tree, f"the indices of the summands differ: {names}")

    def identity_like(self, eye: Matrix, other: Matrix, tree: Tree) -> Matrix:
        rows, columns = other.dims
        if len(rows) != 1 or len(columns) != 1 or not rows[0].kind.unify(columns[0].kind):
            raise self.refuse(
                tree, f"cannot add I, which is square, to a value with the axes {self.called(other.axes)}"
            )
        node: Node = values.identity(rows[0], columns[0])
        if eye.node != number(1):
            numeral = isinstance(eye.node, nodes.Number)
            node = nodes.Call("juxtaposed", (), (), (eye.node, node)) if numeral else call("⊙", (eye.node, node))
        return self.make(node, other.dims, replace(eye, identity=False))

    def align_summands(self, x: Matrix, y: Matrix) -> tuple[Matrix, Matrix]:
        """Return both summands. A given vector that is added to a matrix or row is turned into a row, as a bias."""
        if y.lying and y.dims[0] and (x.is_full or (x.dims[1] and not x.dims[0])):
            return x, replace(transpose_matrix(y), lying=True)
        if x.lying and x.dims[0] and (y.is_full or (y.dims[1] and not y.dims[0])):
            return replace(transpose_matrix(x), lying=True), y
        return x, y

    def elements(self, operator: str, x: Matrix, y: Matrix, tree: Tree) -> Matrix:
        """Apply an elementwise operator to both values. A given row is added to each row of a matrix, as a bias."""
        if x.ones or y.ones:
            if not all(map(fits, x.dims, y.dims)):
                raise self.misfit(x, y, tree)
            x, y = (replace(value, dims=EMPTY, ones=False, literal=1) if value.ones else value for value in (x, y))
        bias = (x.lying and not x.dims[0] or y.lying and not y.dims[0]) and (operator in "+-" or tree.op == "*")
        for one, two in zip(x.dims, y.dims):
            missing = bool(one) != bool(two) and not x.is_number and not y.is_number
            if missing and not bias:
                raise self.misfit(x, y, tree)
        try:
            plain = [AxisValue(value.node, value.dims) for value in (x, y)]
            dims = values.align_values(self.axes, *plain)
        except AxisClashError as clash:
            raise self.misfit(x, y, tree, clash) from None
        result = self.make(call(operator, (x.node, y.node)), dims, x, y)
        if operator == "⊙":
            result = replace(result, factors=(x, y))
        if x.lying and y.lying:
            result = replace(result, lying=True)
        return result

    def misfit(self, x: Matrix, y: Matrix, tree: Tree, clash: AxisClashError | None = None) -> NotationError:
        left, right = (self.text(part) for part in tree.parts[:2]) if len(tree.parts) > 1 else (self.text(tree), "")
        first, second = (f"{self.called(value.dims[0])} × {self.called(value.dims[1])}" for value in (x, y))
        pairs = [pair for one, two in zip(x.dims, y.dims[::-1]) for pair in zip(one, two)]
        turned = x.is_full and y.is_full and all(a.kind.fits(b.kind) for a, b in pairs)
        hint = f"write {left} {tree.op} {right}^⊤" if turned else None
        return self.refuse(tree, f"shapes differ: {left} is {first}, {right} is {second}", hint)

    def divided(self, x: Matrix, y: Matrix, tree: Tree) -> Matrix:
        if x.identity and y.is_number:
            return replace(self.divided(replace(x, identity=False), y, tree), identity=True)
        if is_sum_over(self.axes, x, y.size):
            assert isinstance(x.node, nodes.Call)
            return replace(x, node=nodes.Call("mean", (), x.node.subscript, x.node.arguments))
        if not y.is_number:
            divisor = canonical(spell(tree.parts[-1]))
            if divisor in self.names and self.names[divisor].guessed and SIZES.fullmatch(divisor):
                raise self.refuse(tree, f"{divisor} is read as a matrix", f'give {divisor}="" if it is a number')
            if x.is_number and y.is_full or y.is_full and x.dims != y.dims and not x.is_full or y.identity:
                raise self.refuse(
                    tree, "division by a matrix is not defined", "write the inverse A^{-1} B, or ∘ with elements"
                )
            self.remark(f"{self.text(tree)} divides element by element")
        literal_one = x.literal == 1
        dims = self.elements("/", x, y, tree)
        return replace(dims, reciprocal=y) if literal_one and y.is_number else dims


def is_sum_over(axes: Axes, value: Matrix, axis: AxisVariable | None) -> bool:
    """Return whether a value is a sum over a single axis, of the same kind as `axis`."""
    match value.node:
        case nodes.Call(operator="∑", subscript=(nodes.Name(text=key),)):
            return axis is not None and axes.all[key].kind is axis.kind
    return False


def fits(first: Dim, second: Dim) -> bool:
    """Return whether the axes of two dimensions can be unified. A dimension without axes fits every other."""
    return all(a.kind.fits(b.kind) for a, b in zip(first, second))


def transpose_matrix(value: Matrix) -> Matrix:
    return replace(
        value,
        dims=value.dims[::-1],
        lying=False,
        inverse=None if value.inverse is None else transpose_matrix(value.inverse),
        factors=None,
    )
