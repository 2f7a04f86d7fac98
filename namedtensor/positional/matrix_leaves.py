"""The values of matrix notation, and the leaves of its trees: names, sizes and indexed tensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.nodes import Node
from grammar.parser import parse

from . import values
from .axes import Axes, AxisClashError, AxisVariable, Dim, Dims, axes_of
from .backward_indices import count_back, element_at, is_fixed, reverse
from .indices import IndexLetters, canonical, entries_in, is_letter, spell
from .inputs import SourceInput
from .refusals import make_refusal
from .source_tree import Item, Tree, item_of
from .values import AxisValue, Leaf, call, iota, number, plus, rename_axes, size

CAUSAL = ("0 before its start", "only where all of it is known")  # interpretations of s_{t-k+1}
SIZES = re.compile(r"d|d_\w|d_\{\w+\}|[nmNMT]")


class Choose(Protocol):
    """A function that returns the index of the option chosen for an ambiguous expression, or raises QuestionError."""

    def __call__(self, span: Span, piece: str, options: Sequence[str], topic: str = "") -> int: ...


@dataclass(frozen=True)
class Matrix(AxisValue):
    """A value with rows and columns; `indices` contains the axis of each index letter.

    If `lying` is true, the value is a given vector, which may be a row or a column. The other fields simplify products.
    """

    indices: tuple[tuple[str, AxisVariable], ...] = ()
    lying: bool = False
    identity: bool = False  # whether the value is I times `node`
    ones: bool = False  # whether the value is 𝟏
    diagonal: Matrix | None = None  # s, if the value is diag(s)
    inverse: Matrix | None = None  # M, if the value is M^{-1}
    reciprocal: Matrix | None = None  # y, if the value is 1 / y
    size: AxisVariable | None = None  # the axis, if the value is |axis|
    literal: float | None = None  # the number, if the value is a number in the source
    twice: tuple[Node, AxisVariable, AxisVariable] | None = None  # A and its two axes, if the value is A_{ii}

    @property
    def axes(self) -> tuple[AxisVariable, ...]:
        return (*axes_of(self.dims), *(axis for _, axis in self.indices))

    @property
    def is_number(self) -> bool:
        return not axes_of(self.dims) and not self.identity and not self.ones

    @property
    def is_full(self) -> bool:
        return all(self.dims) and not self.identity


EMPTY: Dims = ((), ())


@dataclass(frozen=True)
class IndexRange:
    """The range of a partial sum from `first` to `last` or, if `last` is None, to |axis| / `divisor` − `less`."""

    first: int
    less: int
    last: int | None = None
    divisor: int = 1


class MatrixLeaves:
    """The translator of the leaves in the tree of one line.

    `names` contains the inputs and definitions, and `remarks` contains the assumptions of the line.
    """

    def __init__(self, source: str, axes: Axes, names: dict[str, SourceInput], letters: IndexLetters, choose: Choose):
        self.source, self.axes, self.names, self.letters, self.choose = source, axes, names, letters, choose
        self.remarks: list[str] = []
        self.statement = Tree("", (0, 0))
        self.scope: dict[str, AxisVariable] = {}
        self.ends: dict[str, AxisVariable] = {}
        self.lengths: dict[str, AxisVariable] = {}  # the axes of names that end sums
        self.sizes: dict[str, AxisVariable] = {}
        self.summed: AxisVariable | None = None
        self.inner: frozenset[str] = frozenset()  # letters that products and sums around the current tree have bound
        self.summing: frozenset[str] = frozenset()  # the letters among them that are below a ∑
        self.aliases: dict[str, str] = {}  # from the summed letter of a δ to its other letter
        self.ranges: dict[str, IndexRange] = {}  # letters of sums over a part of an axis
        self.from_zero: frozenset[str] = frozenset()  # letters that a sum counts from 0
        self.transposed_names: frozenset[str] = frozenset()

    # ------------------------------------------------------------------------------------------------------ pieces
    def refuse(self, tree: Tree, message: str, hint: str | None = None) -> NotationError:
        return make_refusal(self.source, tree.span, message, hint)

    def text(self, tree: Tree) -> str:
        return " ".join(self.source[slice(*tree.span)].split())

    def remark(self, line: str) -> None:
        if line not in self.remarks:
            self.remarks.append(line)

    def make(self, node: Node, dims: Sequence[Dim], *operands: Matrix) -> Matrix:
        """Return a value with this node and these dimensions, labeled with the index letters of all its operands."""
        if any(operand.identity or operand.ones for operand in operands):
            raise self.refuse(self.statement, "I and 𝟏 are only supported in sums and products")
        indices: dict[str, AxisVariable] = {}
        for operand in operands:
            indices |= dict(operand.indices)
        self.axes.apart(*(operand.axes for operand in operands), axes_of(dims))
        return Matrix(node, (dims[0], dims[1]), indices=tuple(indices.items()))

    def letter(self, letter: str) -> AxisVariable:
        """Return the axis that an index letter denotes in the current scope, creating the axis on first use."""
        if letter not in self.scope:
            self.scope[letter] = self.axes.new(hint=letter)
        return self.scope[letter]

    def called(self, axes: Sequence[AxisVariable]) -> str:
        return ", ".join(axis.key for axis in axes) or "one"

    # ------------------------------------------------------------------------------------------------------- leaves
    def read(self, tree: Tree) -> Matrix:
        """Return the value of a tree. Raise NotationError if it has no value, or QuestionError if it is ambiguous."""
        if pair := self.letters.index_of(tree, self.names):
            return self.entry(tree, *pair)
        name = spell(tree)
        if self.counts(name):
            if name in self.names:
                raise self.refuse(tree, f"{name} is both an input and an index", "call one of them otherwise")
            return self.counter(name)
        if name and (tree.op == "name" or canonical(name) in self.names or self.is_size(name)):
            return self.leaf(tree, canonical(name))
        rule = RULES.get(tree.op)
        if rule is None:
            raise self.refuse(tree, f"{self.text(tree)} cannot be read in matrix notation")
        return rule(self, tree)

    def is_size(self, name: str) -> bool:
        return name not in self.names and SIZES.fullmatch(name) is not None

    def leaf(self, tree: Tree, name: str) -> Matrix:
        if name not in self.names:
            if name in ("e", "π"):
                return Matrix(nodes.Name(name), EMPTY)
            if name == "I":
                return Matrix(number(1), EMPTY, identity=True)
            if name.partition("_")[0] == "𝟏":
                return self.ones(tree, name.partition("_")[2].strip("{}"))
            if self.is_size(name) and (known := self.size_named(tree, name)) is not None:
                return known
            self.guess(tree, name)
        source = self.names[name]
        if source.literal is not None:
            return Matrix(number(source.literal), EMPTY, literal=source.literal)
        used = source.leaf.use(self.axes)
        dims = used.dims
        if len(dims) > 2:
            hint = "write an index for each of its axes, or use einsum"
            raise self.refuse(tree, f"{name} has {len(dims)} axes, and matrix notation has two", hint)
        whole = {0: EMPTY, 1: ((), *dims) if source.row else (*dims, ()), 2: dims}[len(dims)]
        self.axes.apart(used.axes)
        return Matrix(used.node, (whole[0], whole[1]), lying=len(dims) == 1 and not source.defined)

    def ones(self, tree: Tree, script: str) -> Matrix:
        """Translate 𝟏, 𝟏_n or 𝟏_{n×k}.

        The other operand of the product determines each size for which the subscript does not name a given axis.
        """
        words = re.split("[×,]", script)
        if len(words) > 2:
            raise self.refuse(tree, f"{self.text(tree)} has more than two sizes")
        given = [self.axes.given.get(word) for word in words]
        axes = [self.axes.twin(axis) if axis else self.axes.new() for axis in given]
        return Matrix(number(1), ((axes[0],), tuple(axes[1:])), ones=True)

    def guess(self, tree: Tree, name: str) -> None:
        """Guess and record the type of an undeclared name from its first letter: number, vector or matrix."""
        letter = name[0]
        if not letter.isalpha() or "\\" in name:
            raise self.refuse(tree, f"{name} is not a name")
        rank = 2 if letter.isupper() else 0 if not letter.isascii() or self.is_size(name) else 1
        if self.letters.active and rank == 1 and name not in self.transposed_names:
            rank = 0
        leaf = Leaf(node_of(name), tuple((self.axes.new(),) for _ in range(rank)))
        self.names[name] = SourceInput(name, leaf, guessed=True)
        self.remark(f"{name} is read as a {('number', 'vector', 'matrix')[rank]}")

    def size_named(self, tree: Tree, name: str) -> Matrix | None:
        """Return the size that a name without a shape, such as d, d_k or n, represents, or None if no axis matches.

        The size belongs to an axis with a matching name, to the axis of a sum with this upper limit, or to the last
        summed axis.
        """
        word = name.partition("_")[2].strip("{}")
        axis = self.sizes.get(name) or self.ends.get(name) or self.axes.given.get(name)
        if axis is None and word in self.axes.given:
            axis = self.axes.given[word]
            if self.summed is not None and self.summed.kind is not axis.kind:
                options = [f"|{other.key}|" for other in (axis, self.summed)]
                axis = (axis, self.summed)[self.choose(tree.span, name, options)]
        if axis is None and self.summed is not None:
            axis = self.summed
            self.remark(f"{name} is read as |{axis.key}|, the axis summed before")
        if axis is None:
            return None
        if name not in self.sizes and axis is not self.summed:
            self.remark(f"{name} is read as |{axis.key}|")
        self.sizes[name] = axis
        return Matrix(size(axis), EMPTY, size=axis)

    def entry(self, tree: Tree, name: str, items: tuple[str, ...]) -> Matrix:
        """Translate an indexed tensor, such as x_i, A_{ij}, or X_i for a row of X."""
        if name == "δ" and name not in self.names:
            return self.delta(tree, items)
        if name == "ε" and len(items) == 3 and name not in self.names:
            raise self.refuse(tree, "the Levi-Civita symbol ε_{ijk} is not supported")
        if name not in self.names:
            leaf = Leaf(node_of(name), tuple((self.axes.new(hint=item if is_letter(item) else ""),) for item in items))
            self.names[name] = SourceInput(name, leaf, guessed=True)
        source = self.names[name]
        if not 0 <= len(source.leaf.dims) - len(items) <= 2:
            raise self.refuse(tree, f"{name} has {len(source.leaf.dims)} axes, and {len(items)} indices")
        used = source.leaf.use(self.axes)
        node, rest = used.node, used.dims[len(items) :]
        indices: dict[str, AxisVariable] = {}
        counted: set[str] = set()
        twice: tuple[Node, AxisVariable, AxisVariable] | None = None
        for item, (axis,) in zip(items, used.dims):
            if is_fixed(item):
                node = element_at(self, tree, node, axis, item)
            elif (read := item_of(item)) and len(read.letters) > 1:
                node, both = self.window(tree, node, axis, read, item)
                indices |= both
            elif read and read.length and read.offset == 1 and not self.ranges.keys() & {*read.letters}:
                letter = read.minus[0]
                node, variable = reverse(self, tree, node, axis, read)
                self.axes.apart((variable, *(other for other in used.axes if other is not axis)))
                if letter in indices:
                    twice = node, indices[letter], variable
                else:
                    self.meet(tree, self.letter(letter), variable, letter)
                    indices[letter] = variable
            elif item in self.ranges or not is_letter(item):
                node = nodes.Index(node, ((nodes.Axis(axis.key), self.within(tree, item, axis, counted)),))
            elif item in indices:
                if twice is not None or len(items) > 2:
                    raise self.refuse(tree, f"{self.text(tree)} has the index {item} more than once")
                twice = node, indices[item], axis
            else:
                self.meet(tree, self.letter(item), axis, item)
                indices[self.aliases.get(item, item)] = axis
        if twice:
            node = self.diagonal_node(tree, *twice)
        columns = (*rest, (), ())[:2]
        self.axes.apart(used.axes)
        return Matrix(node, (columns[0], columns[1]), indices=tuple(indices.items()), lying=len(rest) == 1, twice=twice)

    def window(
        self, tree: Tree, node: Node, axis: AxisVariable, item: Item, text: str
    ) -> tuple[Node, dict[str, AxisVariable]]:
        """Translate an index that combines two letters. Return the indexed node and the axes of the letters.

        Examples are x_{t+k-1} of a sliding window and s_{t-k+1} of a convolution. One letter is a position, and a sum
        binds the other letter, which is an offset.
        """
        bound = [letter for letter in item.letters if letter in self.summing]
        places = [letter for letter in item.plus if letter not in bound]
        turned = item.minus == (*bound,) and item.offset == 1
        if (
            len(bound) != 1
            or len(places) != 1
            or len(item.letters) != 2
            or not (turned or item.offset == -1 and not item.minus)
        ):
            hint = "write x_{t+k-1} or x_{t-k+1} under ∑_k, with k from 1"
            raise self.refuse(tree, f"the index {text.replace('|', '')} is not supported", hint)
        kernel = self.axes.new()
        if turned and self.choose(tree.span, f"{self.text(tree)} where {text} is below 1", CAUSAL) == 0:
            variable = self.axes.twin(axis)
            shifted = call("+", (call("-", (iota(variable), iota(kernel))), number(1)))
            inside = nodes.Index(node, ((nodes.Axis(axis.key), call("max", (number(1), shifted))),))
            node = nodes.Cases(((inside, call("≤", (iota(kernel), iota(variable)))), (number(0), None)))
            self.axes.facts.same.append((variable, axis))
        else:
            variable = self.axes.new(hint=axis.kind.hint)
            self.axes.facts.longer.append((axis, kernel))
            inner = self.axes.twin(kernel) if turned else kernel
            node = rename_axes(call("unroll", (node,), (axis, inner)), [(axis, variable)])
            self.axes.apart((axis, inner, variable))
            if turned:
                back = call("+", (call("-", (size(kernel), iota(kernel))), number(1)))
                node = nodes.Index(node, ((nodes.Axis(inner.key), back),))
                self.axes.apart((inner, kernel, variable))
                self.axes.facts.same.append((inner, kernel))
        self.axes.apart((axis, kernel, variable))
        self.meet(tree, self.letter(bound[0]), kernel, bound[0])
        self.meet(tree, self.letter(places[0]), variable, places[0])
        return node, {places[0]: variable, bound[0]: kernel}

    def counts(self, name: str) -> bool:
        """Return whether a letter outside of subscripts, such as the first i in i x_i, denotes an index's value."""
        if not self.letters.active or not is_letter(name):
            return False
        if name in self.scope or name in (self.letters.free or ()) or name in self.letters.outer:
            return True
        return name in entries_in(self.statement) and name not in self.letters.bound

    def counter(self, letter: str) -> Matrix:
        """Return the numeric value of an index letter. For example, i x_i is translated to iota ⊙ x."""
        if letter in self.ranges:
            return Matrix(nodes.Name(letter), EMPTY)
        axis = self.letter(letter)
        node = plus(iota(axis), -1) if letter in self.from_zero else iota(axis)
        return Matrix(node, EMPTY, indices=((letter, axis),))

    def within(self, tree: Tree, text: str, axis: AxisVariable, counted: set[str]) -> Node:
        """Return the node of an index such as i+1 or n-i in a sum over i. Raise NotationError if it can leave the axis.

        `counted` contains the letters that already index another axis of the same tensor.
        """
        item = item_of(text)
        if item and len(item.minus) == 1 and not item.plus and item.minus[0] in self.ranges:
            self.meet_range(tree, item.minus[0], axis, counted)
            return count_back(self, tree, item, axis)
        if item is None or item.letters != item.plus or len(item.plus) != 1 or item.plus[0] not in self.ranges:
            hint = "sum over the letter in its range: ∑_{i=1}^{n-1} x_{i+1}"
            raise self.refuse(tree, f"the index {text.replace('|', '')} is not supported", hint)
        (letter,) = item.plus
        span = self.ranges[letter]
        self.meet_range(tree, letter, axis, counted)
        leaves = axis.kind.size is not None and (span.last or 0) + item.offset > axis.kind.size
        if span.first + item.offset < 1 or (item.offset > span.less if span.last is None else leaves):
            raise self.refuse(tree, f"the index {text} leaves its axis", "sum over the indices that are in it")
        least = span.first + span.less + 1 if span.last is None else span.last + max(item.offset, 0)
        self.axes.facts.least.append((axis, least * span.divisor))
        if span.divisor > 1:
            self.axes.facts.divisors.append((axis, span.divisor))
        return plus(nodes.Name(letter), item.offset)

    def meet_range(self, tree: Tree, letter: str, axis: AxisVariable, counted: set[str]) -> None:
        """Unify an axis with the axis of a letter. The second axis of A_{ii} only gets the length of the first axis."""
        if letter not in counted:
            self.meet(tree, self.letter(letter), axis, letter)
        elif not self.letter(letter).kind.unify(axis.kind):
            raise self.refuse(tree, f"the index {letter} is both {self.letter(letter).key} and {axis.key}")
        counted.add(letter)

    def meet(self, tree: Tree, first: AxisVariable, second: AxisVariable, letter: str) -> None:
        try:
            self.axes.unify(first, second)
        except AxisClashError:
            raise self.refuse(tree, f"the index {letter} is both {first.key} and {second.key}") from None

    def diagonal_node(self, tree: Tree, node: Node, first: AxisVariable, second: AxisVariable) -> Node:
        if not first.kind.unify(second.kind):
            what = f"{self.text(tree)} is the diagonal of a square tensor"
            raise self.refuse(tree, f"{what}, and its axes are {first.key} and {second.key}")
        return values.diagonal(node, first, second)

    def delta(self, tree: Tree, items: tuple[str, ...]) -> Matrix:
        if len(items) != 2 or not all(map(is_letter, items)) or items[0] == items[1]:
            raise self.refuse(tree, "δ expects two different indices")
        first, second = map(self.letter, items)
        if not first.kind.unify(second.kind):
            raise self.refuse(tree, f"δ relates {first.key} and {second.key}, which are different axes")
        node = values.identity(first, second)
        return Matrix(node, EMPTY, indices=tuple(zip(items, (first, second))))


def node_of(name: str) -> Node:
    """Return a name with scripts as a node. For example, W^{(1)} becomes W_1, and W^Q becomes W_Q."""
    plain = re.sub(r"[{}()]", "", name.replace("^", "_")) if "^" in name else name
    plain = re.sub(r"_\{?\*\}?", "_{star}", plain)
    try:
        (statement,) = parse(plain).statements
        if isinstance(statement, nodes.Value) and isinstance(statement.body, (nodes.Name, nodes.Subscript)):
            return statement.body
    except (NotationError, ValueError):
        pass
    return nodes.Name("".join(character for character in plain if character.isalnum()) or "x")


RULES: dict[str, Callable[[Any, Tree], Matrix]] = {}
