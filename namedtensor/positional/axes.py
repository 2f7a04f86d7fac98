"""The axes of positional notation. They are variables that have a name already or receive one at the end.

A positional program identifies axes by position. Each use of a tensor gets separate axes, and each operation unifies
axes (`unify`). `A B` unifies the last axis of A with the first axis of B, and `A + B` unifies both axes. Finally, each
class of unified axes gets one name (see `naming`).

Axes that may be unified, but need not be, share a *kind*. For example, both axes of `X X^⊤` are rows of X, so they
have the same size, and their names differ only by primes. Two kinds with different names or different sizes cannot be
unified, and an attempt to unify their axes raises `AxisClashError`. If an axis without a given name is split into
parts, every axis of its kind is split as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self


class AxisClashError(Exception):
    """The error for two axes that cannot be unified. The reader converts it to an error with a position."""

    def __init__(self, first: AxisVariable, second: AxisVariable):
        super().__init__(first, second)
        self.first, self.second = first, second


class Unified:
    """An object that can be unified with others of its type. Objects that are unified have the same `root`."""

    __slots__ = ("same",)
    same: Self | None

    @property
    def root(self) -> Self:
        one = self
        while one.same is not None:
            one = one.same
        return one


class AxisKind(Unified):
    """The name, size and other properties that all axes of one kind share.

    `name` is the given name, usually without primes, `size` is the known size, and `hint` is a suggested name. If the
    axes are split, `parts` contains the kinds of their parts.
    """

    __slots__ = ("hint", "name", "parts", "size")

    def __init__(self, name: str = "", size: int | None = None, hint: str = ""):
        self.name, self.size, self.hint = name, size, hint
        self.parts: tuple[AxisKind, ...] = ()
        self.same: AxisKind | None = None

    def fits(self, other: AxisKind) -> bool:
        """Return whether two kinds can be unified because their names, sizes and parts are compatible."""
        first, second = self.root, other.root
        if first is second:
            return True
        if first.name and second.name and first.name != second.name:
            return False
        if first.size is not None and second.size is not None and first.size != second.size:
            return False
        if not (first.parts and second.parts):
            return not (first.parts and second.name) and not (second.parts and first.name)
        return len(first.parts) == len(second.parts) and all(map(AxisKind.fits, first.parts, second.parts))

    def unify(self, other: AxisKind) -> bool:
        """Unify two kinds, and return True. If they are incompatible, change nothing and return False."""
        first, second = self.root, other.root
        if first is second:
            return True
        if not first.fits(second):
            return False
        for one, two in zip(first.parts, second.parts):
            one.unify(two)
        first.name, first.hint = first.name or second.name, first.hint or second.hint
        first.size = second.size if first.size is None else first.size
        first.parts = first.parts or second.parts
        second.same = first
        return True


class AxisVariable(Unified):
    """An axis in one use of a tensor. `fixed` is the name of a given axis, with its primes, or "" for other axes."""

    __slots__ = ("_kind", "_parts", "fixed", "key")

    def __init__(self, key: str, kind: AxisKind, fixed: str = ""):
        self.key, self.fixed, self._kind = key, fixed, kind
        self.same: AxisVariable | None = None
        self._parts: tuple[AxisVariable, ...] = ()

    @property
    def kind(self) -> AxisKind:
        return self.root._kind.root

    def __repr__(self) -> str:
        return f"Axis({self.root.fixed or self.kind.name or self.kind.hint or self.root.key})"


# The axes of one dimension of an array: usually one, several if axes are merged, and none if the size is 1.
Dim = tuple[AxisVariable, ...]
Dims = tuple[Dim, ...]


class Move(NamedTuple):
    """A declared axis and the axis that replaces it in one use.

    If both axes get the same name, the use needs no rename.
    """

    declared: AxisVariable
    used: AxisVariable


@dataclass
class Facts:
    """Assumptions about the sizes in a source and the values of its inputs.

    The formula states the sizes in `stated`, such as |k| = 3, and the equal sizes in `same`, such as |n'| = |n|.
    `products` lists each split axis with its parts, and `totals` lists each concatenated axis with its parts. Each
    entry of `steps` lists the axis that counts the windows, the original axis, the axis within a window, and the step
    size.

    Most other attributes serve the comparison with the source. `pinned` contains sizes that the source requires but
    the formula does not state, `least` contains minimum sizes, and `longer` contains axes that are at least as long as
    another axis. `divisors` and `multiples` contain divisibility constraints. For each input that is an index,
    `indices` contains the axes that it indexes, each with its first index. `definite` contains the row axes of matrices
    that are symmetric and positive definite in the comparison. `truths` contains inputs that are conditions. `assumed`
    describes assumptions in words.
    """

    stated: list[tuple[AxisVariable, int]] = field(default_factory=list)
    products: list[tuple[AxisVariable, tuple[AxisVariable, ...]]] = field(default_factory=list)
    totals: list[tuple[AxisVariable, tuple[AxisVariable, ...]]] = field(default_factory=list)
    pinned: list[tuple[AxisVariable, int]] = field(default_factory=list)
    least: list[tuple[AxisVariable, int]] = field(default_factory=list)
    same: list[tuple[AxisVariable, AxisVariable]] = field(default_factory=list)
    longer: list[tuple[AxisVariable, AxisVariable]] = field(default_factory=list)
    divisors: list[tuple[AxisVariable, int]] = field(default_factory=list)
    multiples: list[tuple[AxisVariable, AxisVariable, int]] = field(default_factory=list)
    steps: list[tuple[AxisVariable, AxisVariable, AxisVariable, int]] = field(default_factory=list)
    indices: dict[str, list[tuple[AxisVariable, int]]] = field(default_factory=dict)
    definite: list[AxisVariable] = field(default_factory=list)
    truths: set[str] = field(default_factory=set)
    assumed: list[str] = field(default_factory=list)


class Axes:
    """All axes of one translation, and the constraints on their names.

    `together` contains groups of values in one operation; different axes in a group need different names. `inputs`
    contains the inputs of array code by name. `moves` contains, in the order of uses, each declared axis with the axis
    that represents it in a use.
    """

    def __init__(self) -> None:
        self.all: dict[str, AxisVariable] = {}
        self.given: dict[str, AxisVariable] = {}
        self.kinds: dict[str, AxisKind] = {}
        self.together: list[tuple[tuple[AxisVariable, ...], ...]] = []
        self.moves: list[Move] = []
        self.facts = Facts()
        self.inputs: Mapping[str, Any] = {}

    def new(self, kind: AxisKind | None = None, *, size: int | None = None, hint: str = "") -> AxisVariable:
        """Return a new axis of the given kind. If no kind is given, create a new kind."""
        axis = AxisVariable(f"⟨{len(self.all)}⟩", (kind or AxisKind(size=size, hint=hint)).root)
        self.all[axis.key] = axis
        return axis

    def named(self, name: str, size: int | None = None) -> AxisVariable:
        """Return the axis with a given name, creating the axis on first use.

        Raise AxisClashError if the axis already has a different size.
        """
        if name not in self.given:
            kind = self.kind_of(name, size)
            axis = AxisVariable(f"⟨{len(self.all)}⟩", kind, name)
            self.all[axis.key] = self.given[name] = axis
        axis = self.given[name]
        if size is not None:
            if axis.kind.size not in (None, size):
                raise AxisClashError(axis, self.new(size=size))
            axis.kind.size = size
        return axis

    def kind_of(self, name: str, size: int | None) -> AxisKind:
        """Return the kind of a given axis. Axes whose names differ only in primes share a kind.

        If their sizes differ, the axis has a separate kind.
        """
        base = name.rstrip("'")
        kind = self.kinds.setdefault(base, AxisKind(base)).root
        if size is None or kind.size in (None, size):
            return kind
        if name == base:  # The same name with primes came first.
            twin = next(other for other, axis in self.given.items() if axis.kind is kind)
            kind.name = twin
            self.kinds[base] = AxisKind(base)
            return self.kinds[base]
        return self.kinds.setdefault(name, AxisKind(name)).root

    def unify(self, first: AxisVariable, second: AxisVariable) -> None:
        """Unify two axes. If both have names or their kinds do not fit, raise AxisClashError and change nothing."""
        first, second = first.root, second.root
        if first is second:
            return
        if (first.fixed and second.fixed) or not first.kind.unify(second.kind):
            raise AxisClashError(first, second)
        if second.fixed:
            first, second = second, first
        second.same = first
        if first._parts and second._parts:
            for one, two in zip(first._parts, second._parts):
                self.unify(one, two)
        first._parts = first._parts or second._parts

    def unify_dims(self, first: Dim, second: Dim) -> None:
        """Unify two dimensions. If their axes differ in number or kind, raise AxisClashError and change nothing."""
        one, two = self.expand_axes(first), self.expand_axes(second)
        if len(one) != len(two):
            raise AxisClashError(first[0], second[0])
        for a, b in zip(one, two):
            if not a.kind.fits(b.kind):
                raise AxisClashError(a, b)
        for a, b in zip(one, two):
            self.unify(a, b)

    def split(self, axis: AxisVariable, parts: Sequence[AxisKind]) -> None:
        """Split an axis, and all other axes of its kind, into parts of the given kinds.

        Raise AxisClashError if the kind has a given name or incompatible parts.
        """
        kind = axis.kind
        whole = AxisKind()
        whole.parts = tuple(parts)
        if not kind.unify(whole):
            raise AxisClashError(axis, axis)

    def parts(self, axis: AxisVariable) -> tuple[AxisVariable, ...]:
        """Return the smallest parts of an axis, or the axis itself if it has no parts."""
        axis = axis.root
        kind = axis.kind
        if not kind.parts:
            return (axis,)
        if not axis._parts:
            axis._parts = tuple(self.new(part) for part in kind.parts)
        return tuple(part for half in axis._parts for part in self.parts(half))

    def expand_axes(self, axes: Iterable[AxisVariable]) -> tuple[AxisVariable, ...]:
        """Return the axes, replacing each axis that has parts by its parts."""
        return tuple(part for axis in axes for part in self.parts(axis))

    def apart(self, *values: Iterable[AxisVariable]) -> None:
        """Record that these values occur in one operation, so their distinct axes must get different names."""
        self.together.append(tuple(tuple(axes) for axes in values))

    def twin(self, axis: AxisVariable) -> AxisVariable:
        """Return a new axis of the same kind."""
        return self.new(axis.kind)


def axes_of(dims: Iterable[Dim]) -> tuple[AxisVariable, ...]:
    """Return the axes of all dimensions as one flat tuple."""
    return tuple(axis for dim in dims for axis in dim)
