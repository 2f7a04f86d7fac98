"""The value of a source by itself: its tree walked over plain arrays, as its notation defines it.

It knows nothing of names. A value is an array whose first axes are the index letters, and whose last two are rows and
columns, 1 where there are none. All sizes differ and are at least 2, so a vector lies where it fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .binders import Item, item_of
from .indices import (
    IndexLetters,
    canonical,
    factors_of,
    is_index_in,
    is_letter,
    items_of,
    occurrences,
    spelled,
    summed_by,
)
from .optional_numpy import Unsupported, np
from .plain_functions import inverse
from .source_tree import Tree

Array = Any


@dataclass(frozen=True)
class PlainValues:
    """An array: a dimension for each letter, then rows and columns. `special` is I or 𝟏, with `array` its factor."""

    array: Array
    letters: tuple[str, ...] = ()
    vector: bool = False
    special: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape[-2:]

    @property
    def is_number(self) -> bool:
        return self.shape == (1, 1) and not self.special

    @property
    def T(self) -> PlainValues:
        return PlainValues(
            np.swapaxes(self.array, -1, -2),
            self.letters,
            False,
            self.special + "^⊤" if self.special == "𝟏" else self.special,
        )

    def over(self, letters: Sequence[str]) -> Array:
        """The array with a dimension for each of these letters, 1 where it has none."""
        order = [self.letters.index(letter) for letter in letters if letter in self.letters]
        array = np.transpose(self.array, (*order, -2, -1)) if order else self.array
        shape = [self.array.shape[self.letters.index(letter)] if letter in self.letters else 1 for letter in letters]
        return array.reshape(*shape, *self.shape)


def number(value: float, special: str = "") -> PlainValues:
    return PlainValues(np.full((1, 1), float(value)), special=special)


@dataclass
class Oracle:
    """The walk. `arrays` and `sizes` are by name; `decisions` what was chosen where a piece is ambiguous."""

    arrays: Mapping[str, Array]
    sizes: Mapping[str, float]
    letters: IndexLetters
    decisions: Mapping[Any, int]
    statement: Tree
    inputs: Mapping[str, Array]
    again: Callable[[dict[str, Array]], Mapping[str, Array]]  # the lines before, for other inputs
    inner: frozenset[str] = frozenset()
    from_zero: frozenset[str] = frozenset()  # letters that a sum counts from 0
    fixed: dict[str, int] = field(default_factory=dict)  # letters of sums whose terms are taken one by one

    def extent(self, letter: str, within: Tree | None = None) -> int | None:
        """How many indices a letter has: the size of the axis where it is an index."""
        whole = within or self.statement
        for tree in whole.all():
            pair = self.letters.index_of(tree, self.arrays) if self.letters.active else None
            if pair is None or pair[0] not in self.arrays:
                continue
            for position, text in enumerate(pair[1]):
                item = item_of(text)
                if item is not None and item.letters == (letter,) and not item.minus:
                    return self.arrays[pair[0]].shape[position]
        others = {
            side
            for tree in whole.all()
            for left, _, right in tree.conditions
            if letter in (left, right)
            for side in (left, right)
        }
        beside = (self.extent(other) for other in others - {letter} if is_letter(other) and is_index_in(whole, other))
        return next((extent for extent in beside if extent is not None), None)

    def value(self, tree: Tree) -> PlainValues:
        if pair := self.letters.index_of(tree, self.arrays):
            return self.entry(tree, *pair)
        name = canonical(spelled(tree))
        if name in self.arrays:
            return self.named(self.arrays[name])
        if name in self.sizes:
            return number(self.sizes[name])
        if tree.op == "name":
            if tree.text in CONSTANTS:
                return number(CONSTANTS[tree.text], tree.text if tree.text in SPECIAL else "")
            return RULES["counter"](self, tree)
        rule = RULES.get(tree.op)
        if rule is None:
            raise Unsupported(tree.op)
        return rule(self, tree)

    def decided(self, tree: Tree, topic: str = "") -> int:
        return self.decisions.get((topic, tree.span), 0)

    def named(self, array: Array) -> PlainValues:
        if array.ndim > 2:
            raise Unsupported("more than two axes")
        return PlainValues(array.reshape(array.shape + (1,) * (2 - array.ndim)), (), array.ndim == 1)

    def entry(self, tree: Tree, name: str, items: tuple[str, ...]) -> PlainValues:
        if name == "δ" and name not in self.arrays:
            raise Unsupported("δ")
        array, letters = self.arrays[name], []
        position = 0
        for item in items:
            if (both := item_of(item)) and len(both.letters) > 1:
                array = self.windows(array, position, both, tree)
                letters.extend(both.letters)
                position += 2
            elif item.isdigit() or item in self.fixed or not is_letter(item):
                array = np.take(array, self.index(item) - 1, axis=position)
            elif item in letters:
                array = np.moveaxis(
                    np.diagonal(array, axis1=letters.index(item), axis2=position), -1, letters.index(item)
                )
            else:
                letters.append(item)
                position += 1
        rest = array.ndim - len(letters)
        return PlainValues(array.reshape(array.shape + (1,) * (2 - rest)), tuple(letters), rest == 1)

    def windows(self, array: Array, position: int, item: Item, tree: Tree) -> Array:
        """x_{t+k-1} and s_{t-k+1}: a dimension for each letter, in their order."""
        path, kernel = item.letters if item.letters[0] not in self.inner else item.letters[::-1]
        width, extent = self.extent(kernel), array.shape[position]
        if width is None:
            raise Unsupported(kernel)
        padded = bool(item.minus) and self.decided(tree) == 0
        places = np.arange(extent if padded else extent - width + 1)[:, None] + (
            width - 1 if item.minus and not padded else 0
        )
        offsets = np.arange(width)[None]
        where = places - offsets if item.minus else places + offsets
        taken = np.take(array, np.maximum(where, 0), axis=position)
        shape = [1] * position + [*where.shape] + [1] * (taken.ndim - position - 2)
        result = np.where((where >= 0).reshape(shape), taken, 0)
        return result if (path, kernel) == item.letters else np.swapaxes(result, position, position + 1)

    def index(self, text: str) -> int:
        """The number that an index is: 3, or i+1 with i of a sum."""
        item = item_of(text)
        if item is None or not {*item.letters} <= self.fixed.keys():
            raise Unsupported(text)
        return (
            sum(self.fixed[letter] for letter in item.plus)
            - sum(self.fixed[letter] for letter in item.minus)
            + item.offset
        )

    # ------------------------------------------------------------------------------------------------------- products
    def product(self, tree: Tree) -> PlainValues:
        if tree.op == "after /" and self.slash(tree) is not None:
            return self.value(self.slash(tree) or tree)
        factors = factors_of(tree)
        summed: set[str] = set()
        if self.letters.active:
            summed = summed_by(occurrences(factors, self.letters, self.arrays), self.letters) - self.inner
            if summed and self.letters.free is None and self.letters.bound and self.decided(tree) == 1:
                summed = set()
        inner, self.inner = self.inner, self.inner | summed
        if summed:
            result = self.einstein(factors, summed)
        elif tree.op == "∘" and self.letters.active:
            result = self.elementwise(np.multiply, *parts(self, tree))
        else:
            result = self.times(self.value(tree.parts[0]), self.value(tree.parts[1]), tree)
        self.inner = inner
        return result

    def einstein(self, factors: list[Tree], summed: set[str]) -> PlainValues:
        """All factors multiplied, then summed: no order of contraction matters."""
        deltas = [pair[1] for factor in factors if (pair := self.delta(factor))]
        factors = [factor for factor in factors if not self.delta(factor)]
        if not factors:
            raise Unsupported("δ")
        total = self.value(factors[0])
        for factor in factors[1:]:
            total = self.times(total, self.value(factor), Tree("product", (0, 0)))
        for first, second in deltas:
            known = first if first in total.letters else second
            if known not in total.letters:
                raise Unsupported("δ")
            size = total.array.shape[total.letters.index(known)]
            total = self.elementwise(np.multiply, total, PlainValues(np.eye(size)[:, :, None, None], (first, second)))
        return self.summed(total, [letter for letter in total.letters if letter in summed])

    def delta(self, tree: Tree) -> tuple[str, tuple[str, ...]] | None:
        pair = self.letters.index_of(tree, self.arrays)
        return pair if pair is not None and pair[0] == "δ" and "δ" not in self.arrays else None

    def summed(self, value: PlainValues, letters: Sequence[str], function: Any = np.sum) -> PlainValues:
        if not letters:
            return value
        over = tuple(value.letters.index(letter) for letter in letters)
        return PlainValues(
            function(value.array, axis=over),
            tuple(letter for letter in value.letters if letter not in letters),
            value.vector,
        )

    def slash(self, tree: Tree) -> Tree | None:
        """a / (b c), where that was chosen."""
        if self.decided(tree, "/") != 1:
            return None
        quotient, rest = tree.parts
        return Tree(
            "/",
            tree.span,
            (quotient.parts[0], Tree("group", tree.span, (Tree("product", tree.span, (quotient.parts[1], rest)),))),
        )

    def times(self, x: PlainValues, y: PlainValues, tree: Tree) -> PlainValues:
        if x.special or y.special:
            return self.with_special(x, y)
        if x.is_number or y.is_number:
            return self.elementwise(np.multiply, x, y)
        if tree.op == "·" and x.vector and y.vector:
            x = x.T
        if x.shape[1] != y.shape[0]:
            if x.shape[1] == y.shape[1] == 1:
                if self.decided(tree) == 1:
                    return self.elementwise(np.multiply, x, y)
                x = x.T
            elif x.vector and x.shape[0] == y.shape[0]:
                x = x.T
        letters = tuple(dict.fromkeys((*x.letters, *y.letters)))
        if x.shape[1] != y.shape[0]:
            raise ValueError("its shapes do not fit")
        return PlainValues(x.over(letters) @ y.over(letters), letters)

    def with_special(self, x: PlainValues, y: PlainValues) -> PlainValues:
        if "I" in (x.special, y.special):
            result = self.elementwise(np.multiply, PlainValues(x.array, x.letters), PlainValues(y.array, y.letters))
            return PlainValues(
                result.array, result.letters, False, "I" if x.is_number or y.is_number or x.special == y.special else ""
            )
        if x.special == "𝟏^⊤":
            return PlainValues(y.array.sum(-2, keepdims=True), y.letters)
        if y.special == "𝟏":
            return PlainValues(x.array.sum(-1, keepdims=True), x.letters)
        raise Unsupported("𝟏")

    def elementwise(self, function: Callable[..., Array], *operands: PlainValues) -> PlainValues:
        """A function element by element; a vector lies where the others have its size."""
        x = operands[0]
        if len(operands) == 2:
            x, y = operands
            if "I" in (x.special, y.special) and x.special != y.special:
                side = max(*x.shape, *y.shape)
                x, y = (
                    PlainValues(np.eye(side) * operand.array, operand.letters) if operand.special else operand
                    for operand in (x, y)
                )
            if x.vector and not y.vector and x.shape[0] == y.shape[1] != 1:
                x = x.T
            elif y.vector and not x.vector and y.shape[0] == x.shape[1] != 1:
                y = y.T
            letters = tuple(dict.fromkeys((*x.letters, *y.letters)))
            special = "I" if x.special == y.special == "I" else ""
            return PlainValues(
                function(x.over(letters), y.over(letters)),
                letters,
                x.vector and y.vector or (x.vector and y.is_number),
                special,
            )
        return PlainValues(function(x.array), x.letters, x.vector)


# --------------------------------------------------------------------------------------------------------------- rules
SPECIAL = {"I", "𝟏"}  # whose size depends on what appears beside them
CONSTANTS = {"e": math.e, "π": math.pi, **dict.fromkeys(SPECIAL, 1.0)}


def part(oracle: Oracle, tree: Tree) -> PlainValues:
    return oracle.value(tree.parts[0])


def parts(oracle: Oracle, tree: Tree) -> Iterator[PlainValues]:
    return map(oracle.value, tree.parts)


def power(oracle: Oracle, tree: Tree) -> PlainValues:
    base, exponent = tree.parts
    if base.op == "name" and base.text == "e" and "e" not in oracle.arrays:
        return oracle.value(Tree("call", tree.span, (exponent,), "exp"))
    x, p = oracle.value(base), oracle.value(exponent)
    rows, columns = x.shape
    if rows > 1 and columns > 1 and oracle.decided(tree) == 0:
        result = x.array
        for _ in range(int(p.array[0, 0]) - 1):
            result = result @ x.array
        return PlainValues(result, x.letters)
    if (
        rows * columns > 1
        and p.letters == ()
        and p.array.item() == 2
        and oracle.decided(tree) == 1
        and (rows == 1 or columns == 1)
    ):
        return PlainValues((x.array**2).sum((-1, -2), keepdims=True), x.letters)
    return oracle.elementwise(np.power, x, p)


def quotient(oracle: Oracle, tree: Tree) -> PlainValues:
    x, y = parts(oracle, tree)
    if x.special == "I" and y.is_number:
        both = oracle.elementwise(np.divide, PlainValues(x.array, x.letters), y)
        return PlainValues(both.array, both.letters, special="I")
    if x.special or y.special:
        raise Unsupported("a quotient of I")
    return oracle.elementwise(np.divide, x, y)


def inner(oracle: Oracle, tree: Tree) -> PlainValues:
    both = elements(np.multiply)(oracle, tree)
    return PlainValues(both.array.sum((-1, -2), keepdims=True), both.letters)


def kronecker(oracle: Oracle, tree: Tree) -> PlainValues:
    x, y = parts(oracle, tree)
    if x.is_number or y.is_number:
        return oracle.elementwise(np.multiply, x, y)
    if x.letters or y.letters:
        raise Unsupported("⊗ with indices")
    if x.shape[1] == y.shape[1] == 1:
        y = y.T
    return PlainValues(np.kron(x.array, y.array))


def element(oracle: Oracle, tree: Tree) -> PlainValues:
    """(A x)_i"""
    items, x = items_of(tree.text), part(oracle, tree)
    if tree.parts[0].op == "inner" and tree.text in ("F", "Fro"):
        return x
    sizes = [size for size in x.shape if size > 1]
    if len(items) != len(sizes) or not all(map(is_letter, items)) or {*items} & {*x.letters}:
        raise Unsupported("index of a value")
    return PlainValues(x.array.reshape(*x.array.shape[:-2], *sizes, 1, 1), (*x.letters, *items))


def hadamard(oracle: Oracle, tree: Tree) -> PlainValues:
    if oracle.letters.active:
        return oracle.product(Tree("∘", tree.span, tree.parts))
    x, y = parts(oracle, tree)
    of_matrices = tree.op == "*" and max(x.shape) > 1 and max(y.shape) > 1 and oracle.decided(tree) == 0
    if of_matrices or "𝟏" in (x.special, y.special):
        return oracle.times(x, y, tree)
    return oracle.elementwise(np.multiply, x, y)


def elements(function: Callable[..., Array]) -> Callable[[Oracle, Tree], PlainValues]:
    """A function of the elements of all parts."""
    return lambda oracle, tree: oracle.elementwise(function, *parts(oracle, tree))


RULES: dict[str, Callable[[Oracle, Tree], PlainValues]] = {
    "number": lambda oracle, tree: number(float(tree.text)),
    "group": part,
    "either": lambda oracle, tree: oracle.value(tree.parts[oracle.decided(tree, "∇")]),
    "negative": lambda oracle, tree: (lambda x: PlainValues(-x.array, x.letters, x.vector, x.special))(part(oracle, tree)),
    "T": lambda oracle, tree: part(oracle, tree).T,
    "inverse": lambda oracle, tree: (lambda x: PlainValues(1 / x.array if x.is_number else inverse(x.array), x.letters))(part(oracle, tree)),
    **dict.fromkeys(("product", "·", "after /"), Oracle.product),
    "@": lambda oracle, tree: oracle.times(oracle.value(tree.parts[0]), oracle.value(tree.parts[1]), Tree("product", tree.span)),
    "∘": hadamard, "*": hadamard, "⊗": kronecker, "/": quotient, "inner": inner, "^": power, "sub": element,
    "×": elements(np.multiply), "+": elements(np.add), "-": elements(np.subtract), "sqrt": elements(np.sqrt),
}  # fmt: skip
