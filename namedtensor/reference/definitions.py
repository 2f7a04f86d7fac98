"""The paper's definitions, implemented one by one. A tensor is a function from records to numbers.

A record maps each of several axes to an index that counts from 1: {"height": 1, "width": 3}. The shape of a tensor
determines the records that the tensor accepts. All operations of the notation follow from these definitions and from
lifting, which extends a function of small tensors to tensors with more axes. The code favors clarity over speed, so that
it can be compared with the paper. It needs only Python.

    records, Tensor                 the definitions of records and tensors
    broadcast, lift                 functions of numbers and of small tensors, applied to larger tensors
    reduce, contract, rename, …     the paper's operations
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from grammar.errors import NotationError
from grammar.plain_text import encodable

from ..operators.definitions import position

Record = Mapping[str, int]
Shape = Mapping[str, int]
MAX_TENSOR_NUMBERS = 10**6  # numbers in one tensor


# --------------------------------------------------------------------------------------------- records and tensors
def records(shape: Shape) -> Iterator[dict[str, int]]:
    """Yield the records of a shape (§2.3). A record chooses one index for each axis.

    >>> list(records({"a": 2, "b": 1}))
    [{'a': 1, 'b': 1}, {'a': 2, 'b': 1}]
    """
    for indices in itertools.product(*(range(1, size + 1) for size in shape.values())):
        yield dict(zip(shape, indices))


class Tensor:
    """A function from the records of a shape to numbers (§2.3), stored as a table. A record may have extra axes.

    >>> A = Tensor({"height": 2, "width": 3}, lambda s: 10 * s["height"] + s["width"])
    >>> A({"height": 2, "width": 1, "batch": 7})
    21
    """

    def __init__(self, shape: Shape, function: Callable[[dict[str, int]], Any]):
        if math.prod(shape.values()) > MAX_TENSOR_NUMBERS:
            raise NotationError(404, f"a tensor of more than {MAX_TENSOR_NUMBERS} numbers is too large here")
        self.shape: dict[str, int] = dict(shape)
        self.entries: dict[tuple[int, ...], Any] = {
            tuple(record.values()): function(record) for record in records(shape)
        }

    def __call__(self, record: Record) -> Any:
        return self.entries[tuple(record[axis] for axis in self.shape)]

    def __eq__(self, other: object) -> bool:
        """Return whether two tensors are equal as functions, regardless of the order of their axes."""
        return isinstance(other, Tensor) and self.shape == other.shape and all(
            self(record) == other(record) for record in records(self.shape)
        )  # fmt: skip

    @encodable
    def __repr__(self) -> str:
        return f"tensor({self.to_list(tuple(self.shape))}, {' '.join(self.shape)!r})"

    def to_list(self, axes: str | tuple[str, ...]) -> Any:
        """Return nested lists with the first axis outermost, or a number if there are no axes."""
        axes = _names(axes)
        if set(axes) != set(self.shape) or len(axes) != len(self.shape):
            raise NotationError(301, f"the axes are {join_names(self.shape)}, not {join_names(axes)}")
        if not axes:
            return self.entries[()]
        return [at(self, {axes[0]: i}).to_list(axes[1:]) for i in range(1, self.shape[axes[0]] + 1)]


def tensor(data: Any, axes: str | tuple[str, ...] = ()) -> Tensor:
    """Return a tensor from nested lists and the names of their axes.

    >>> tensor([[3, 1, 4], [1, 5, 9]], "height width")({"height": 1, "width": 3})
    4
    """
    names = _names(axes)
    if len(set(names)) != len(names):
        raise NotationError(303, f"an axis occurs twice in {' '.join(names)}")
    sizes: list[int] = []
    part: Any = data
    for _ in names:
        sizes.append(len(part))
        part = part[0] if len(part) else ()
    return Tensor(dict(zip(names, sizes)), lambda record: _entry(data, tuple(record.values()), tuple(sizes)))


def _entry(data: Any, indices: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    for index, size in zip(indices, sizes):
        if len(data) != size:
            raise NotationError(311, "the rows of this tensor differ in length")
        data = data[index - 1]
    return data


def join_names(names) -> str:
    return ", ".join(names) or "none"


def _names(axes: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(axes.split()) if isinstance(axes, str) else tuple(axes)


def number(value: Any) -> Tensor:
    """Return a number as a tensor without axes, whose only record is empty."""
    return Tensor({}, lambda record: value)


def at(X: Tensor, fixed: Record) -> Tensor:
    """Return X_s by partial indexing (§2.3). It is the tensor t ↦ X_{s ∪ t} over the axes that s does not fix."""
    rest = {axis: size for axis, size in X.shape.items() if axis not in fixed}
    return Tensor(rest, lambda record: X({**fixed, **record}))


# ---------------------------------------------------------------------------------------- broadcasting and lifting
def unite(*shapes: Shape) -> dict[str, int]:
    """Return the union of shapes (§3.2). An axis in several shapes must have the same size in all of them."""
    union: dict[str, int] = {}
    for shape in shapes:
        for axis, size in shape.items():
            if union.setdefault(axis, size) != size:
                raise NotationError(302, f"{axis} has the sizes {union[axis]} and {size}")
    return union


def broadcast(function: Callable[..., Any], *tensors: Tensor) -> Tensor:
    """Apply a function of numbers elementwise (§3.2), over the union of the axes: [f(X, Y)]_s = f(X_s, Y_s)."""
    shape = unite(*(X.shape for X in tensors))
    return Tensor(shape, lambda record: function(*(X(record) for X in tensors)))


def lift(function: Callable[..., Tensor], tensors, needed) -> Tensor:
    """Lift (§3) a function of tensors with exactly the axes `needed`, and apply it to tensors with more axes.

    The function is mapped over the extra axes: [f(X, Y)]_s = f(X_s, Y_s) for every record s over these axes. Extra axes
    with the same name are one axis. The result of f must not have an axis with the name of an extra axis.
    """
    for X, axes in zip(tensors, needed):
        for axis in axes:
            if axis not in X.shape:
                raise NotationError(301, f"the axis {axis} is needed, and here are {join_names(X.shape)}")
    extra = unite(*({a: n for a, n in X.shape.items() if a not in axes} for X, axes in zip(tensors, needed)))
    results = {}
    for s in records(extra):
        parts = [at(X, {a: s[a] for a in X.shape if a not in axes}) for X, axes in zip(tensors, needed)]
        results[tuple(s.values())] = function(*parts)
    return assemble(extra, results)


def assemble(extra: Shape, results: Mapping[tuple[Any, ...], Tensor]) -> Tensor:
    """Return the tensor whose part at each record of `extra` is the corresponding result."""
    if not results:
        raise NotationError(405, f"{join_names(extra)} has no element, so nothing can be computed one by one")
    shape = unite(*(part.shape for part in results.values()))
    for axis in shape:
        if axis in extra:
            raise NotationError(306, f"lifting over {axis} would duplicate axis {axis} of the result")
    return Tensor({**extra, **shape}, lambda record: results[tuple(record[axis] for axis in extra)](record))


# ------------------------------------------------------------------------------------------ the paper's operations
def reduce(function: Callable[..., Any], X: Tensor, axes: tuple[str, ...]) -> Tensor:
    """Lift a function from vectors to numbers, such as a sum, and apply it (§3.3)."""
    return lift(lambda x: number(function(list(x.entries.values()))), [X], [axes])


def lift_vector_function(function: Callable[..., list[Any]], X: Tensor, axes: tuple[str, ...]) -> Tensor:
    """Lift a function from vectors to vectors, such as softmax, and apply it (§3.5)."""

    def apply(x: Tensor) -> Tensor:
        result = dict(zip(x.entries, function(list(x.entries.values()))))
        return Tensor(x.shape, lambda record: result[tuple(record[axis] for axis in x.shape)])

    return lift(apply, [X], [axes])


def contract(X: Tensor, Y: Tensor, axes: tuple[str, ...]) -> Tensor:
    """Return X ⊙_{ax} Y = ∑_{ax} X ⊙ Y (§3.4): the inner product of two vectors, lifted."""

    def inner(x: Tensor, y: Tensor) -> Tensor:
        return number(sum(x(record) * y(record) for record in records(unite(x.shape, y.shape))))

    return lift(inner, [X, Y], [axes, axes])


def rename(X: Tensor, names: Mapping[str, str]) -> Tensor:
    """Return X_{a→b} (§3.6): [X_{a→b}]_{b(i)} = X_{a(i)}. Several axes are renamed simultaneously."""
    new = {axis: names.get(axis, axis) for axis in X.shape}
    if len(set(new.values())) != len(new):
        raise NotationError(312, f"two axes would have one name: {join_names(new.values())}")
    return Tensor(
        {new[axis]: size for axis, size in X.shape.items()}, lambda record: X({a: record[new[a]] for a in X.shape})
    )


def merge(X: Tensor, axes: tuple[str, ...], into: str) -> Tensor:
    """Return X_{(a,b)→c} (§3.6): the axes are merged into one, with the last of them varying fastest."""
    order = {axis: X.shape[axis] for axis in axes}
    rest = {axis: size for axis, size in X.shape.items() if axis not in axes}
    if into in rest:
        raise NotationError(312, f"another axis has the name {into}")
    pieces = list(records(order))
    return Tensor({**rest, into: len(pieces)}, lambda record: X({**record, **pieces[record[into] - 1]}))


def split(X: Tensor, axis: str, into: Shape) -> Tensor:
    """Return X_{c→(a,b)} (§3.6), the inverse of merging."""
    pieces = [tuple(piece.values()) for piece in records(into)]
    rest = {name: size for name, size in X.shape.items() if name != axis}
    if len(pieces) != X.shape[axis]:
        raise NotationError(313, f"{axis} is {X.shape[axis]}, which is not {' · '.join(map(str, into.values()))}")
    if any(name in rest for name in into):
        raise NotationError(312, f"another axis has one of the names {join_names(into)}")
    position = {piece: number for number, piece in enumerate(pieces, 1)}
    return Tensor({**rest, **into}, lambda record: X({**record, axis: position[tuple(record[name] for name in into)]}))


def index(X: Tensor, indices: Mapping[str, Tensor]) -> Tensor:
    """Return X_{a(I), b(J)} (§3.7): at each record, I and J simultaneously select an element along a and b."""
    rest = {axis: size for axis, size in X.shape.items() if axis not in indices}
    shape = unite(rest, *(I.shape for I in indices.values()))

    def element(record: Record) -> Any:
        chosen = {axis: position(I(record), X.shape[axis], axis) for axis, I in indices.items()}
        return X({**record, **chosen})

    return Tensor(shape, element)
