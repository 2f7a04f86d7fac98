"""The paper's definitions, computed one by one. A tensor is a function from records to numbers, and nothing else.

A record says an index for each of some axes, counted from 1: {"height": 1, "width": 3}. The shape of a tensor says which
records it takes. From these two come lifting (the one rule that makes every function of small tensors a function of
large ones) and every operation of the notation. Here nothing is fast and nothing is clever, so that it can be read
beside the paper and trusted; it needs Python alone.

    records, tensors        what they are
    broadcast, lift         how a function of numbers, or of small tensors, works on large ones
    reduce, along, …        the paper's operations, by lifting
    ELEMENTWISE, REDUCTIONS, ALONG, BLOCKS      every built-in function, by name
    evaluate, call          formulas (`reference_programs.py` gives names and calls their meaning)
"""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any, Callable, Iterator, Mapping

from grammar.errors import NotationError

Record = Mapping[str, int]
Shape = Mapping[str, int]
LARGEST = 10**6  # numbers in one tensor


# --------------------------------------------------------------------------------------------- records and tensors
def records(shape: Shape) -> Iterator[dict[str, int]]:
    """The records of a shape (§2.3): every choice of one index for each axis.

    >>> list(records({"a": 2, "b": 1}))
    [{'a': 1, 'b': 1}, {'a': 2, 'b': 1}]
    """
    for indices in itertools.product(*(range(1, size + 1) for size in shape.values())):
        yield dict(zip(shape, indices))


class Tensor:
    """A function from the records of a shape to numbers (§2.3), tabulated. A record may have further axes.

    >>> A = Tensor({"height": 2, "width": 3}, lambda s: 10 * s["height"] + s["width"])
    >>> A({"height": 2, "width": 1, "batch": 7})
    21
    """

    def __init__(self, shape: Shape, function: Callable[[dict[str, int]], Any]):
        if math.prod(shape.values()) > LARGEST:
            raise NotationError(404, f"a tensor of more than {LARGEST} numbers is too large here")
        self.shape = dict(shape)
        self.entries = {tuple(record.values()): function(record) for record in records(shape)}

    def __call__(self, record: Record) -> Any:
        return self.entries[tuple(record[axis] for axis in self.shape)]

    def __eq__(self, other) -> bool:
        """The same function: axes have no order."""
        return isinstance(other, Tensor) and self.shape == other.shape and all(
            self(record) == other(record) for record in records(self.shape)
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"tensor({self.to_list(tuple(self.shape))}, {' '.join(self.shape)!r})"

    def to_list(self, axes: str | tuple[str, ...]) -> Any:
        """Nested lists, the first axis outermost; a number where there are no axes."""
        axes = _names(axes)
        if set(axes) != set(self.shape) or len(axes) != len(self.shape):
            raise NotationError(301, f"the axes are {', '.join(self.shape) or 'none'}, not {', '.join(axes) or 'none'}")
        if not axes:
            return self.entries[()]
        return [at(self, {axes[0]: i}).to_list(axes[1:]) for i in range(1, self.shape[axes[0]] + 1)]


def tensor(data: Any, axes: str | tuple[str, ...] = ()) -> Tensor:
    """A tensor from nested lists and the names of their axes.

    >>> tensor([[3, 1, 4], [1, 5, 9]], "height width")({"height": 1, "width": 3})
    4
    """
    names = _names(axes)
    if len(set(names)) != len(names):
        raise NotationError(303, f"an axis occurs twice in {' '.join(names)}")
    sizes, part = [], data
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


def _names(axes: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(axes.split()) if isinstance(axes, str) else tuple(axes)


def number(value: Any) -> Tensor:
    """A number is a tensor without axes: it takes the empty record."""
    return Tensor({}, lambda record: value)


def at(X: Tensor, fixed: Record) -> Tensor:
    """X_s, partial indexing (§2.3): the tensor t ↦ X_{s ∪ t} over the axes that s leaves."""
    rest = {axis: size for axis, size in X.shape.items() if axis not in fixed}
    return Tensor(rest, lambda record: X({**fixed, **record}))


# ---------------------------------------------------------------------------------------- broadcasting and lifting
def unite(*shapes: Shape) -> dict[str, int]:
    """The union of shapes (§3.2); an axis that two of them have is one axis, so it has one size."""
    union: dict[str, int] = {}
    for shape in shapes:
        for axis, size in shape.items():
            if union.setdefault(axis, size) != size:
                raise NotationError(302, f"{axis} has the sizes {union[axis]} and {size}")
    return union


def broadcast(function: Callable[..., Any], *tensors: Tensor) -> Tensor:
    """A function of numbers, element by element (§3.2): [f(X, Y)]_s = f(X_s, Y_s) over the union of the axes."""
    shape = unite(*(X.shape for X in tensors))
    return Tensor(shape, lambda record: function(*(X(record) for X in tensors)))


def lift(function: Callable[..., Tensor], tensors, needed) -> Tensor:
    """Lifting (§3): a function of tensors with just the axes `needed`, applied to tensors with more.

    The extra axes are mapped over: [f(X, Y)]_s = f(X_s, Y_s) for every record s of them. Extra axes of one name are one
    axis; an axis that f gives itself cannot be one of them.
    """
    for X, axes in zip(tensors, needed):
        for axis in axes:
            if axis not in X.shape:
                raise NotationError(301, f"the axis {axis} is needed, and here are {', '.join(X.shape) or 'none'}")
    extra = unite(*({a: n for a, n in X.shape.items() if a not in axes} for X, axes in zip(tensors, needed)))
    results = {}
    for s in records(extra):
        parts = [at(X, {a: s[a] for a in X.shape if a not in axes}) for X, axes in zip(tensors, needed)]
        results[tuple(s.values())] = function(*parts)
    return assemble(extra, results)


def assemble(extra: Shape, results: Mapping[tuple, Tensor]) -> Tensor:
    """The tensor whose part at each record of `extra` is given."""
    if not results:
        raise NotationError(405, f"{_list(extra)} has no element, so nothing can be computed one by one")
    given = unite(*(part.shape for part in results.values()))
    for axis in given:
        if axis in extra:
            raise NotationError(306, f"{axis} is mapped over, and is an axis of each result besides")
    return Tensor({**extra, **given}, lambda record: results[tuple(record[axis] for axis in extra)](record))


# ------------------------------------------------------------------------------------------ the paper's operations
def reduce(function: Callable[..., Any], X: Tensor, axes: tuple[str, ...]) -> Tensor:
    """A function from vectors to numbers (§3.3), such as a sum, lifted."""
    return lift(lambda x: number(function(list(x.entries.values()))), [X], [axes])


def along(function: Callable[..., list], X: Tensor, axes: tuple[str, ...]) -> Tensor:
    """A function from vectors to vectors (§3.5), such as softmax, lifted."""

    def apply(x: Tensor) -> Tensor:
        found = dict(zip(x.entries, function(list(x.entries.values()))))
        return Tensor(x.shape, lambda record: found[tuple(record[axis] for axis in x.shape)])

    return lift(apply, [X], [axes])


def contract(X: Tensor, Y: Tensor, axes: tuple[str, ...]) -> Tensor:
    """X ⊙_{ax} Y = ∑_{ax} X ⊙ Y (§3.4): the inner product of two vectors, lifted."""

    def inner(x: Tensor, y: Tensor) -> Tensor:
        return number(sum(x(record) * y(record) for record in records(unite(x.shape, y.shape))))

    return lift(inner, [X, Y], [axes, axes])


def rename(X: Tensor, names: Mapping[str, str]) -> Tensor:
    """X_{a→b} (§3.6): [X_{a→b}]_{b(i)} = X_{a(i)}; several axes change at once."""
    new = {axis: names.get(axis, axis) for axis in X.shape}
    if len(set(new.values())) != len(new):
        raise NotationError(312, f"two axes would have one name: {_list(new.values())}")
    return Tensor(
        {new[axis]: size for axis, size in X.shape.items()}, lambda record: X({a: record[new[a]] for a in X.shape})
    )


def merge(X: Tensor, axes: tuple[str, ...], into: str) -> Tensor:
    """X_{(a,b)→c} (§3.6): the axes become one, the last of them counting fastest."""
    order = {axis: X.shape[axis] for axis in axes}
    rest = {axis: size for axis, size in X.shape.items() if axis not in axes}
    if into in rest:
        raise NotationError(312, f"another axis has the name {into}")
    pieces = list(records(order))
    return Tensor({**rest, into: len(pieces)}, lambda record: X({**record, **pieces[record[into] - 1]}))


def split(X: Tensor, axis: str, into: Shape) -> Tensor:
    """X_{c→(a,b)} (§3.6), which merging undoes."""
    pieces = [tuple(piece.values()) for piece in records(into)]
    rest = {name: size for name, size in X.shape.items() if name != axis}
    if len(pieces) != X.shape[axis]:
        raise NotationError(313, f"{axis} is {X.shape[axis]}, which is not {' · '.join(map(str, into.values()))}")
    if any(name in rest for name in into):
        raise NotationError(312, f"another axis has one of the names {_list(into)}")
    position = {piece: place for place, piece in enumerate(pieces, 1)}
    return Tensor(
        {**rest, **into}, lambda record: X({**record, axis: position[tuple(record[name] for name in into)]})
    )


def index(X: Tensor, indices: Mapping[str, Tensor]) -> Tensor:
    """X_{a(I), b(J)} (§3.7): at each record, I and J say which element of a and b is taken; all at once."""
    rest = {axis: size for axis, size in X.shape.items() if axis not in indices}
    shape = unite(rest, *(I.shape for I in indices.values()))

    def element(record: Record) -> Any:
        chosen = {axis: position(I(record), X.shape[axis], axis) for axis, I in indices.items()}
        return X({**record, **chosen})

    return Tensor(shape, element)


def position(value: Any, size: int, axis: str) -> int:
    """An index, as a whole number from 1 to the size."""
    if isinstance(value, bool) or value != value or value in (math.inf, -math.inf) or value != int(value):
        raise NotationError(402, f"an index is a whole number, and this is {value}", hint="indices count from 1")
    if not 1 <= value <= size:
        raise NotationError(401, f"{axis} has no element {int(value)}: its indices go from 1 to {size}")
    return int(value)


# ------------------------------------------------------------------------------------------- functions of numbers
def total(function: Callable[..., Any], otherwise: Callable[..., Any] = lambda *x: math.nan) -> Callable[..., Any]:
    """The function with a value everywhere: what Python refuses is `otherwise`, by default no number."""

    def with_value(*numbers):
        try:
            return function(*numbers)
        except (ValueError, OverflowError, ZeroDivisionError):
            return otherwise(*numbers)

    return with_value


def power(base: Any, exponent: Any) -> Any:
    """base^exponent; the even root of a negative number is no number."""
    if isinstance(base, int) and isinstance(exponent, int) and 0 <= exponent and exponent * abs(base).bit_length() < 1024:
        return base**exponent
    return total(math.pow, _infinite_power)(base, exponent)


def _infinite_power(base: Any, exponent: Any) -> float:
    if abs(base) < 1 and exponent > 0 or base < 0 and exponent != int(exponent):
        return math.nan
    return -math.inf if base < 0 and exponent % 2 else math.inf


def sign(x: Any) -> Any:
    return x if x != x else (x > 0) - (x < 0)


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


def gelu_tanh(x: float) -> float:
    return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


exp = total(math.exp, lambda x: math.inf)
log = total(math.log, lambda x: -math.inf if x == 0 else math.nan)
divide = total(operator.truediv, lambda x, y: math.copysign(math.inf, x) * math.copysign(1, y) if x else math.nan)

NUMBERS = {
    "exp": exp, "log": log, "sqrt": total(math.sqrt), "sin": total(math.sin), "cos": total(math.cos),
    "tan": total(math.tan), "tanh": math.tanh, "sinh": total(math.sinh, lambda x: math.copysign(math.inf, x)),
    "cosh": total(math.cosh, lambda x: math.inf), "abs": abs, "sign": sign,
    "floor": total(math.floor, lambda x: x), "ceil": total(math.ceil, lambda x: x),
    "σ": sigmoid, "sigmoid": sigmoid, "relu": lambda x: max(x, 0), "ReLU": lambda x: max(x, 0),
    "gelu": lambda x: x / 2 * (1 + math.erf(x / math.sqrt(2))), "gelu_tanh": gelu_tanh,
    "silu": lambda x: x * sigmoid(x), "softplus": lambda x: max(x, 0) + math.log1p(exp(-abs(x))), "erf": math.erf,
    "negative": operator.neg, "¬": operator.not_, "odd": lambda x: x % 2 == 1, "even": lambda x: x % 2 == 0,
}  # fmt: skip
PAIRS = {
    "+": operator.add, "-": operator.sub, "⊙": operator.mul, "juxtaposed": operator.mul, "/": divide,
    "^": power, "pow": power, "max": lambda x, y: largest([x, y]), "min": lambda x, y: smallest([x, y]),
    "=": operator.eq, "≠": operator.ne, "<": operator.lt, "≤": operator.le, ">": operator.gt, "≥": operator.ge,
    "∧": lambda x, y: x and y, "∨": lambda x, y: x or y,
}  # fmt: skip
TRIPLES = {
    "clip": lambda x, low, high: min(max(x, low), high),
    "where": lambda condition, x, y: x if condition else y,
}
ELEMENTWISE = {1: NUMBERS, 2: PAIRS, 3: TRIPLES}
OF_CONDITIONS = {"¬", "∧", "∨", "any", "all"}


# ------------------------------------------------------------------------------------------- functions of vectors
def largest(x: list) -> Any:
    return max(x, key=lambda entry: (entry != entry, entry))


def smallest(x: list) -> Any:
    return -largest([-entry for entry in x])


def mean(x: list) -> float:
    return divide(sum(x), len(x))


def variance(x: list) -> float:
    centre = mean(x)
    return mean([(entry - centre) ** 2 for entry in x])


def norm(x: list, p: float = 2) -> float:
    """(∑ |x|^p)^{1/p}, over the largest entry so that nothing overflows."""
    most = largest([abs(entry) for entry in x])
    if most == 0 or most == math.inf or most != most or p == math.inf:
        return most
    return most * sum((abs(entry) / most) ** p for entry in x) ** (1 / p)


def logsumexp(x: list) -> float:
    most = largest(x)
    return most if most in (math.inf, -math.inf) else most + log(sum(exp(entry - most) for entry in x))


def softmax(x: list) -> list:
    """exp x / ∑ exp x, over the largest entry so that nothing overflows (§3.5)."""
    most = largest(x)
    powers = [exp(entry - most) for entry in x]
    return [power / sum(powers) for power in powers]


def argmax(x: list) -> list:
    """One at the largest entry, zero elsewhere; equal entries share, as in the limit of softmax αX (§3.5)."""
    most = max(x)
    return [(entry == most) / x.count(most) for entry in x]


def standardize(x: list, eps: float = 1e-5) -> list:
    centre, spread = mean(x), math.sqrt(variance(x) + eps)
    return [divide(entry - centre, spread) for entry in x]


REDUCTIONS = {
    "∑": sum, "∏": math.prod, "mean": mean, "var": variance, "std": lambda x: math.sqrt(variance(x)), "norm": norm,
    "max": largest, "min": smallest, "any": any, "all": all, "logsumexp": logsumexp,
}  # fmt: skip
ALONG = {
    "softmax": softmax, "logsoftmax": lambda x: [entry - logsumexp(x) for entry in x],
    "argmax": argmax, "argmin": lambda x: argmax([-entry for entry in x]), "standardize": standardize,
    "cumsum": lambda x: list(itertools.accumulate(x)),
    "cumprod": lambda x: list(itertools.accumulate(x, operator.mul)), "sort": sorted,
}  # fmt: skip
ONE_AXIS = {"cumsum", "cumprod", "sort"}


# ---------------------------------------------------------------------------- functions between vectors and matrices
# Each takes tensors that have just the axes it needs, then the names of the use, then the sizes of the new axes.
def unroll(x: Tensor, seq: str, kernel: str, sizes: Shape) -> Tensor:
    """[unroll x]_{seq(i), kernel(j)} = x_{seq(i+j-1)} (§4.4)."""
    windows = x.shape[seq] - sizes[kernel] + 1
    if windows < 0:
        raise NotationError(310, f"{kernel} is {sizes[kernel]}, and {seq} only {x.shape[seq]}")
    return Tensor({seq: windows, kernel: sizes[kernel]}, lambda s: x({seq: s[seq] + s[kernel] - 1}))


def pool(x: Tensor, seq: str, kernel: str, sizes: Shape) -> Tensor:
    """[pool x]_{seq(i), kernel(j)} = x_{seq((i-1)·|kernel| + j)} (§4.5)."""
    n, k = x.shape[seq], sizes[kernel]
    if k == 0 or n % k:
        raise NotationError(310, f"{seq} is {n}, which {kernel}, {k}, does not divide")
    return Tensor({seq: n // k, kernel: k}, lambda s: x({seq: (s[seq] - 1) * k + s[kernel]}))


def ranking(x: Tensor, k: int) -> list[int]:
    """The indices of the k largest entries, the first index first among equals."""
    entries = list(x.entries.values())
    if k > len(entries):
        raise NotationError(310, f"{k} of {len(entries)} elements are asked for")
    return sorted(range(1, len(entries) + 1), key=lambda i: -entries[i - 1])[:k]


def maxk(x: Tensor, ax: str, k: str, sizes: Shape) -> Tensor:
    """The k largest entries, in order."""
    ranks = ranking(x, sizes[k])
    return Tensor({k: sizes[k]}, lambda s: x({ax: ranks[s[k] - 1]}))


def argmaxk(x: Tensor, ax: str, k: str, sizes: Shape) -> Tensor:
    """For each of the k largest entries a one where it stands."""
    ranks = ranking(x, sizes[k])
    return Tensor({ax: x.shape[ax], k: sizes[k]}, lambda s: int(ranks[s[k] - 1] == s[ax]))


def onehot(i: Tensor, ax: str, sizes: Shape) -> Tensor:
    """A one at the index i, zero elsewhere."""
    one = position(i({}), sizes[ax], ax)
    return Tensor({ax: sizes[ax]}, lambda s: int(s[ax] == one))


def concat(*tensors_and_axis: Any) -> Tensor:
    """X ⊕_{ax} Y: the elements of X, then those of Y."""
    *parts, ax, _ = tensors_and_axis
    entries = [x({ax: i}) for x in parts for i in range(1, x.shape[ax] + 1)]
    return Tensor({ax: len(entries)}, lambda s: entries[s[ax] - 1])


def stack(*tensors_and_axis: Any) -> Tensor:
    """stack_{ax}(X, Y, …): the tensors side by side along a new axis."""
    *parts, ax, _ = tensors_and_axis
    return Tensor({ax: len(parts)}, lambda s: parts[s[ax] - 1]({}))


def matrix(x: Tensor, rows: str, columns: str) -> list[list]:
    if x.shape[rows] != x.shape[columns]:
        raise NotationError(302, f"{rows} is {x.shape[rows]} and {columns} {x.shape[columns]}: this is not square")
    return x.to_list((rows, columns))


def eliminate(left: list[list], right: list[list]) -> float:
    """Gauss and Jordan: bring `left` to the identity, doing the same to `right`; gives the determinant."""
    product = 1.0
    for column in range(len(left)):
        pivot = max(range(column, len(left)), key=lambda row: abs(left[row][column]))
        if left[pivot][column] == 0:
            return 0.0
        for side in (left, right):
            side[column], side[pivot] = side[pivot], side[column]
        scale = left[column][column]
        product *= scale if pivot == column else -scale
        for side in (left, right):
            side[column] = [entry / scale for entry in side[column]]
        for row in range(len(left)):
            factor = left[row][column] if row != column else 0
            for side in (left, right):
                side[row] = [entry - factor * above for entry, above in zip(side[row], side[column])]
    return product


def det(x: Tensor, rows: str, columns: str, _: Shape) -> Tensor:
    return number(eliminate(square := matrix(x, rows, columns), [[] for _ in square]))


def inv(x: Tensor, rows: str, columns: str, _: Shape) -> Tensor:
    square = matrix(x, rows, columns)
    inverse = [[float(i == j) for j in range(len(square))] for i in range(len(square))]
    if eliminate(square, inverse) == 0:
        raise NotationError(405, "this matrix has no inverse")
    return tensor(inverse, (rows, columns)) if inverse else x


def trace(x: Tensor, rows: str, columns: str, _: Shape) -> Tensor:
    return number(sum(row[place] for place, row in enumerate(matrix(x, rows, columns))))


# name: (the function, how many of the axes that a use names each argument needs, how many it names, which are new)
BLOCKS = {
    "unroll": (unroll, 1, 2, (1,)), "pool": (pool, 1, 2, (1,)),
    "maxk": (maxk, 1, 2, (1,)), "argmaxk": (argmaxk, 1, 2, (1,)), "onehot": (onehot, 0, 1, (0,)),
    "⊕": (concat, 1, 1, ()), "concat": (concat, 1, 1, ()), "stack": (stack, 0, 1, ()),
    "det": (det, 2, 2, ()), "inv": (inv, 2, 2, ()), "trace": (trace, 2, 2, ()),
}  # fmt: skip
SEVERAL = {"⊕", "concat", "stack"}


# ---------------------------------------------------------------------------------------------- a built-in, by name
def apply(name: str, tensors, axes: tuple[str, ...], options: tuple, size: Callable[[str], int]) -> Tensor:
    """A built-in operator applied; `size` gives the size of an axis that the operator makes."""
    check_truth(name, tensors)
    if len(set(axes)) != len(axes):
        raise NotationError(303, f"an axis is named twice in {_list(axes)}")
    if not axes and name in ELEMENTWISE.get(len(tensors), ()):
        return broadcast(ELEMENTWISE[len(tensors)][name], *tensors)
    if name == "⊙" and axes:
        check_number(name, 2, len(tensors))
        return contract(tensors[0], tensors[1], axes)
    if name in REDUCTIONS or name in ALONG:
        return apply_to_vector(name, tensors, axes, options)
    if name == "index":
        check_number(name, 2, len(tensors))
        check_axes(name, 1, axes)
        return lift(lambda x, i: index(x, {axes[0]: i}), tensors, [axes, ()])
    if name in BLOCKS:
        function, taken, named, new = BLOCKS[name]
        check_axes(name, named, axes)
        if name not in SEVERAL:
            check_number(name, 1, len(tensors))
        sizes = {axes[place]: size(axes[place]) for place in new}
        return lift(lambda *x: function(*x, *axes, sizes), tensors, [axes[:taken]] * len(tensors))
    for count, group in ELEMENTWISE.items():
        if name in group:
            check_axes(name, 0, axes)
            check_number(name, count, len(tensors))
    raise NotationError(201, f"{name} is not known")


def apply_to_vector(name: str, tensors, axes: tuple[str, ...], options: tuple) -> Tensor:
    check_number(name, 1, len(tensors))
    if not axes or (name in ONE_AXIS and len(axes) != 1):
        raise NotationError(316, f"{name} takes {'one axis' if name in ONE_AXIS else 'axes'}, not {len(axes)}")
    if any(tensors[0].shape.get(axis) == 0 for axis in axes) and name not in ("∑", "∏", "any", "all"):
        raise NotationError(405, f"{name} of no numbers has no value")
    function = REDUCTIONS.get(name) or ALONG[name]
    rule = reduce if name in REDUCTIONS else along
    return rule(lambda x: function(x, *options), tensors[0], axes)


def check_axes(name: str, wanted: int, axes: tuple[str, ...]) -> None:
    if len(axes) != wanted:
        raise NotationError(316, f"{name} takes {wanted} axes, and was given {len(axes)}")


def check_number(name: str, wanted: int, found: int) -> None:
    if found != wanted:
        raise NotationError(304, f"{name} takes {wanted} operands, and was given {found}")


def check_truth(name: str, tensors) -> None:
    """Conditions are true or false, and numbers are neither."""
    for place, X in enumerate(tensors):
        truths = any(isinstance(entry, bool) for entry in X.entries.values())
        wanted = name in OF_CONDITIONS or (name == "where" and place == 0)
        if X.entries and truths != wanted and name not in ("=", "≠"):
            what = "a number where a condition is due" if wanted else "a condition where a number is due"
            raise NotationError(315, f"{name} was given {what}", hint="𝕀[…] turns a condition into 0 and 1")


def _list(names) -> str:
    return ", ".join(names)


# ------------------------------------------------------------------------------------------------------- formulas
def evaluate(formula: str, values: Mapping[str, Any] | None = None, *, sizes=None, syntax: str = "auto") -> Tensor:
    """The value of a formula or program, its tensors given by name as `Tensor`s or numbers.

    >>> evaluate("∑_{width} A", {"A": tensor([[3, 1, 4], [1, 5, 9]], "height width")})
    tensor([8, 15], 'height')
    """
    from .reference_programs import evaluate

    return evaluate(formula, values or {}, sizes or {}, syntax)


def call(program: str, name: str, *arguments: Any, values=None, sizes=None, syntax: str = "auto") -> Tensor:
    """The value of a name that a program defines: of a function for these arguments, or of a tensor.

    >>> call("f(x, y) = x^2 + y", "f", 3, 1)
    tensor(10, '')
    """
    from .reference_programs import call

    return call(program, name, arguments, values or {}, sizes or {}, syntax)
