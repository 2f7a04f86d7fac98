"""Symbolic sizes, which a function reads from its arrays at run time.

An `Extent` is an integer polynomial in normal form, such as `batch * seq + 1`. Its variables are axis sizes, floor
quotients, and maxima of polynomials. A constant polynomial is always an `int`, so `type(size) is int` is a fast test.

Two sizes are equal if their normal forms are equal. A comparison such as `a <= b` returns a result if bounds of the
polynomials prove or disprove it. Otherwise, it raises `UndecidedSizeError`, as does an operation that needs a number,
such as `range(size)`. So plans never depend on example sizes by accident. Three functions always return a result:

    proves_at_most(a, b)   for rewrites that must be valid for every size. False if there is no proof.
    assume_equal(a, b)     for the meaning of a formula. Without a proof, the plan gets a condition (`size_conditions`).
    typical(size)          for speed. The example size, which does not influence the values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import inf
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from grammar.cache import cached_property

from .monomials import Interval, UndecidedSizeError, floor_quotient, format_polynomial, is_dominated, products, quotient

TYPICAL_SIZE = 64  # The example size of an axis that is declared without an example.
MAX_SIZE = 2**24  # The largest axis size that a symbolic plan accepts. Its bounds rely on this limit.


class SizeSymbol(NamedTuple):
    """A symbol for an axis size, with its name in source text, the axis, and an example value. The size is at least 1.

    `axis` is empty if the symbol represents another number, such as an unspecified n in 1, …, n.
    """

    name: str
    axis: str
    example: int = TYPICAL_SIZE
    part: int = 1  # If the symbol is one of several equal parts of an axis, their number.
    kind = "symbol"

    def __str__(self) -> str:
        return self.name

    @property
    def shown(self) -> str:
        whole = f"|{self.axis}|" if self.axis else self.name
        return whole if self.part == 1 else f"{whole}/{self.part}"


class Quotient(NamedTuple):
    """The quotient of two sizes, rounded down if it is not an integer."""

    left: Size
    right: Size
    kind = "quotient"

    def __str__(self) -> str:
        return f"{bracket_size(self.left, str)} // {bracket_size(self.right, str)}"

    @property
    def shown(self) -> str:
        return f"⌊{bracket_size(self.left, format_size)} / {bracket_size(self.right, format_size)}⌋"

    @property
    def example(self) -> int:
        return typical(self.left) // max(typical(self.right), 1)

    def at(self, sizes: Mapping[SizeSymbol, int]) -> int:
        return value_at(self.left, sizes) // value_at(self.right, sizes)


class Largest(NamedTuple):
    """The larger of two sizes."""

    left: Size
    right: Size
    kind = "largest"

    def __str__(self) -> str:
        return f"max({self.left}, {self.right})"

    @property
    def shown(self) -> str:
        return f"max({', '.join(map(format_size, self.sizes()))})"

    def sizes(self) -> list[Size]:
        """Return the sizes in this maximum. Nested maxima are flattened."""
        sizes: list[Size] = []
        for size in (self.left, self.right):
            atom = only_atom(size)
            sizes += atom.sizes() if isinstance(atom, Largest) else [size]
        return sizes

    @property
    def example(self) -> int:
        return max(typical(self.left), typical(self.right))

    def at(self, sizes: Mapping[SizeSymbol, int]) -> int:
        return max(value_at(self.left, sizes), value_at(self.right, sizes))


Atom: TypeAlias = SizeSymbol | Quotient | Largest
Monomial: TypeAlias = tuple[Atom, ...]  # Sorted by their texts.
Terms: TypeAlias = dict[Monomial, int]


class Extent:
    """A size in normal form (see the module docstring). `extent` creates a size from an atom."""

    __slots__ = ("__dict__", "terms")

    def __init__(self, terms: Terms):
        self.terms: Terms = terms

    # --------------------------------------------------------------------------------------------------- arithmetic
    def __add__(self, other: Any) -> Any:
        if not is_size(other):
            return self._combine_with(other)
        terms = dict(self.terms)
        for monomial, count in terms_of(other).items():
            terms[monomial] = terms.get(monomial, 0) + count
        return normal(terms)

    def __neg__(self) -> Any:
        return normal({monomial: -count for monomial, count in self.terms.items()})

    def __sub__(self, other: Any) -> Any:
        return self + -other if is_size(other) else self._combine_with(other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def _combine_with(self, other: Any) -> Any:
        """Raise UndecidedSizeError if `other` is a Python number. Return NotImplemented for any other value."""
        if isinstance(other, (int, float, complex, Fraction)):
            raise UndecidedSizeError(self)
        return NotImplemented

    def __truediv__(self, other: Any) -> Any:
        return self._combine_with(other if not is_size(other) else 1)

    __rtruediv__ = __truediv__

    def __mul__(self, other: Any) -> Any:
        if not is_size(other):
            return self._combine_with(other)
        terms: Terms = {}
        for left, count in self.terms.items():
            for right, times in terms_of(other).items():
                both = tuple(sorted((*left, *right), key=str))
                terms[both] = terms.get(both, 0) + count * times
        return normal(terms)

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, exponent: Any) -> Any:
        if type(exponent) is not int or exponent < 0:
            return NotImplemented
        total: Any = 1
        for _ in range(exponent):
            total = total * self
        return total

    def __floordiv__(self, other: Any) -> Any:
        if not is_size(other):
            return self._combine_with(other)
        exact = exact_quotient(self, other)
        return extent(Quotient(self, other)) if exact is None else exact

    def __rfloordiv__(self, other: Any) -> Any:
        return 0 if other == 0 else extent(Quotient(other, self)) if is_size(other) else self._combine_with(other)

    def __mod__(self, other: Any) -> Any:
        return self - other * (self // other)

    def __rmod__(self, other: Any) -> Any:
        return other - self * (other // self)

    # ---------------------------------------------------------------------------------------------------- questions
    def __eq__(self, other: object) -> bool:
        return type(other) is Extent and self.terms == other.terms

    @cached_property
    def _hash(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: Any) -> bool:
        return not self._is_at_least(other)

    def __le__(self, other: Any) -> bool:
        return not self._is_at_least(other + 1)

    def __gt__(self, other: Any) -> bool:
        return self._is_at_least(other + 1)

    def __ge__(self, other: Any) -> bool:
        return self._is_at_least(other)

    def _is_at_least(self, other: Any) -> bool:
        """Return whether this size is at least `other`. Raise UndecidedSizeError if this depends on the arrays."""
        low, high = bounds(self - other)
        if low is not None and low >= 0:
            return True
        if high is not None and high < 0:
            return False
        raise UndecidedSizeError(self)

    def _number(self) -> int:
        raise UndecidedSizeError(self)

    __index__ = __int__ = _number

    def __float__(self) -> float:
        raise UndecidedSizeError(self)

    def __bool__(self) -> bool:
        low, high = bounds(self)
        if (low is not None and low > 0) or (high is not None and high < 0):
            return True
        raise UndecidedSizeError(self)

    @cached_property
    def example(self) -> int:
        """Return the value of this size if each symbol has its example value."""
        total = 0
        for monomial, count in self.terms.items():
            for atom in monomial:
                count *= atom.example
            total += count
        return total

    def at(self, sizes: Mapping[SizeSymbol, int]) -> int:
        """Return the value of this size for the given axis sizes."""
        total = 0
        for monomial, count in self.terms.items():
            for atom in monomial:
                count *= sizes[atom] if isinstance(atom, SizeSymbol) else atom.at(sizes)
            total += count
        return total

    @property
    def symbols(self) -> dict[SizeSymbol, None]:
        """The symbols that occur in this size, sorted by name."""
        result: dict[SizeSymbol, None] = {}
        for monomial in self.terms:
            for atom in monomial:
                if isinstance(atom, SizeSymbol):
                    result[atom] = None
                else:
                    result |= symbols_of(atom.left) | symbols_of(atom.right)
        return dict.fromkeys(sorted(result))

    # --------------------------------------------------------------------------------------------------------- text
    @cached_property
    def _text(self) -> str:
        return format_polynomial(self.terms, str, " * ")

    def __repr__(self) -> str:
        """Return the size as a Python expression over the names of its symbols."""
        return self._text

    __str__ = __repr__


Size: TypeAlias = Any  # An int or an Extent.


def is_size(value: Any) -> bool:
    return type(value) is int or type(value) is Extent


def terms_of(size: Size) -> Terms:
    """Return a map from each monomial of a size to its coefficient."""
    return size.terms if isinstance(size, Extent) else {(): size} if size else {}


def normal(terms: Terms) -> Size:
    """Return the sum of monomials as a size. If the sum is a number, return an `int`."""
    terms = {monomial: count for monomial, count in terms.items() if count}
    return terms.get((), 0) if terms.keys() <= {()} else Extent(terms)


def extent(atom: Atom) -> Extent:
    return Extent({(atom,): 1})


def only_atom(size: Size) -> Atom | None:
    """Return the only atom of a size, or None if the size is not a single atom."""
    monomials = [*terms_of(size).items()]
    is_atom = len(monomials) == 1 and monomials[0][1] == 1 and len(monomials[0][0]) == 1
    return monomials[0][0][0] if is_atom else None


def symbols_of(size: Any) -> dict[SizeSymbol, None]:
    """Return the symbols in a size, or in nested tuples and mappings of sizes."""
    if type(size) is Extent:
        return size.symbols
    symbols: dict[SizeSymbol, None] = {}
    for part in size.values() if isinstance(size, dict) else size if isinstance(size, (tuple, list)) else ():  # type: ignore[union-attr]
        symbols |= symbols_of(part)
    return symbols


def typical(size: Size) -> int:
    """Return a size's value, or an example value if the value is unknown. Use this only for decisions about speed."""
    return size.example if type(size) is Extent else size  # type: ignore[return-value]


def value_at(size: Size, sizes: Mapping[SizeSymbol, int]) -> int:
    """Return the value of a size for the given axis sizes."""
    return size.at(sizes) if type(size) is Extent else size  # type: ignore[return-value]


def upper_bound(size: Size, largest: int = MAX_SIZE) -> int:
    """Return an upper bound of a size, provided that no axis has more than `largest` elements."""
    return int(interval(size, largest)[1])


def largest(left: Size, right: Size) -> Size:
    """Return the larger of two sizes."""
    if proves_at_most(left, right):
        return right
    return left if proves_at_most(right, left) else extent(Largest(left, right))


def exact_quotient(size: Size, divisor: Size) -> Size | None:
    """Return the quotient of a size and a single monomial if it is exact for every size, or None otherwise."""
    if size == divisor:
        return 1
    if divisor == 0 or len(terms_of(divisor)) != 1:
        return None
    result = quotient(terms_of(size), *next(iter(terms_of(divisor).items())))
    return None if result is None else normal(result)


def bounds(size: Size) -> tuple[int | None, int | None]:
    """Return bounds of a size if each axis has at least one element. An unknown bound is None."""
    low, high = interval(size)
    return None if low == -inf else int(low), None if high == inf else int(high)


def interval(size: Size, most: float = inf) -> Interval:
    """Return a lower and an upper bound of a size if each axis has from one to `most` elements."""
    low: float = 0
    high: float = 0
    for monomial, count in terms_of(size).items():
        product: Interval = (count, count)
        for atom in monomial:
            product = products(product, (1, most) if isinstance(atom, SizeSymbol) else interval_of(atom, most))
        low, high = low + product[0], high + product[1]
    return low, high


def interval_of(atom: Quotient | Largest, most: float) -> Interval:
    (low, high), (least, greatest) = interval(atom.left, most), interval(atom.right, most)
    if isinstance(atom, Largest):
        return max(low, least), max(high, greatest)
    if least < 1:
        return -inf, inf
    return floor_quotient(low, least if low < 0 else greatest), floor_quotient(high, greatest if high < 0 else least)


def proves_at_most(left: Size, right: Size) -> bool:
    """Return whether `left` is provably at most `right` for all arrays."""
    difference = right - left
    low, _ = bounds(difference)
    return (low is not None and low >= 0) or is_dominated(terms_of(difference))


# ----------------------------------------------------------------------------------------------------------------- text
def format_size(size: Any) -> str:
    """Format a size as it appears in formulas.

    >>> seq, key = extent(SizeSymbol("seq", "seq")), extent(SizeSymbol("key", "key"))
    >>> format_size(2 * seq * seq * key + 1), 2 * seq * key - 3
    ('2 |key| |seq|² + 1', 2 * key * seq - 3)
    """
    return (
        format_polynomial(size.terms, attrgetter("shown"), " ", powers=True) if isinstance(size, Extent) else str(size)
    )


def is_size_of(axis: str, size: Any) -> bool:
    """Return whether a size is exactly the size of the given axis. Messages do not repeat such a size."""
    return type(size) is Extent and format_size(size) == f"|{axis}|"


def bracket_size(size: Size, text: Callable[[Any], str]) -> str:
    """Format an operand of a division, in brackets unless it is a symbol, a maximum or a non-negative number."""
    if isinstance(size, Extent):
        atom = only_atom(size)
        is_plain = atom is not None and not isinstance(atom, Quotient)
    else:
        is_plain = size >= 0
    return text(size) if is_plain else f"({text(size)})"
