"""Every built-in function of the notation, for the reference evaluator: small Python functions in tables.

A function of numbers works element by element; one of a list of numbers, giving a number or a list, works on vectors;
the others work on small tensors that have just the axes they need. `apply` lifts them (`reference.py` says how).
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

from grammar.errors import NotationError

from ..operators import REGISTRY
from ..operators.record import Operator
from .definitions import Shape, Tensor, along, broadcast, contract, index, lift, number, position, reduce, tensor


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
    whole = isinstance(base, int) and isinstance(exponent, int) and exponent >= 0
    if whole and exponent * abs(base).bit_length() < 1024:
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
    "exp": exp, "log": log, "ln": log, "sqrt": total(math.sqrt), "sin": total(math.sin), "cos": total(math.cos),
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
def largest(x: list[Any]) -> Any:
    return max(x, key=lambda entry: (entry != entry, entry))


def smallest(x: list[Any]) -> Any:
    return -largest([-entry for entry in x])


def mean(x: list[Any]) -> float:
    return divide(sum(x), len(x))


def variance(x: list[Any]) -> float:
    centre = mean(x)
    return mean([(entry - centre) ** 2 for entry in x])


def norm(x: list[Any], p: float = 2) -> float:
    """(∑ |x|^p)^{1/p}, over the largest entry so that nothing overflows."""
    most = largest([abs(entry) for entry in x])
    if most == 0 or most == math.inf or most != most or p == math.inf:
        return most
    return most * sum((abs(entry) / most) ** p for entry in x) ** (1 / p)


def logsumexp(x: list[Any]) -> float:
    most = largest(x)
    return most if most in (math.inf, -math.inf) else most + log(sum(exp(entry - most) for entry in x))


def softmax(x: list[Any]) -> list[Any]:
    """exp x / ∑ exp x, over the largest entry so that nothing overflows (§3.5)."""
    most = largest(x)
    powers = [exp(entry - most) for entry in x]
    return [power / sum(powers) for power in powers]


def argmax(x: list[Any]) -> list[Any]:
    """One at the largest entry, zero elsewhere; equal entries share, as in the limit of softmax αX (§3.5)."""
    most = max(x)
    return [(entry == most) / x.count(most) for entry in x]


def standardize(x: list[Any], eps: float = 1e-5) -> list[Any]:
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


def matrix(x: Tensor, rows: str, columns: str) -> list[list[Any]]:
    if x.shape[rows] != x.shape[columns]:
        raise NotationError(302, f"{rows} is {x.shape[rows]} and {columns} {x.shape[columns]}: this is not square")
    return x.to_list((rows, columns))


def eliminate(left: list[list[Any]], right: list[list[Any]]) -> float:
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


def cofactors(x: Tensor, rows: str, columns: str, _: Shape) -> Tensor:
    """Each the determinant of what is left without its row and column, with the signs of a chessboard."""
    square = matrix(x, rows, columns)

    def cofactor(s) -> float:
        left = [
            [entry for j, entry in enumerate(row, 1) if j != s[columns]]
            for i, row in enumerate(square, 1)
            if i != s[rows]
        ]
        return (-1) ** (s[rows] + s[columns]) * eliminate(left, [[] for _ in left])

    return Tensor(x.shape, cofactor)


def trace(x: Tensor, rows: str, columns: str, _: Shape) -> Tensor:
    return number(sum(row[place] for place, row in enumerate(matrix(x, rows, columns))))


# name: (the function, how many of the axes that a use names each argument needs, how many it names, which are new)
BLOCKS = {
    "unroll": (unroll, 1, 2, (1,)), "pool": (pool, 1, 2, (1,)),
    "maxk": (maxk, 1, 2, (1,)), "argmaxk": (argmaxk, 1, 2, (1,)), "onehot": (onehot, 0, 1, (0,)),
    "⊕": (concat, 1, 1, ()), "concat": (concat, 1, 1, ()), "stack": (stack, 0, 1, ()),
    "det": (det, 2, 2, ()), "inv": (inv, 2, 2, ()), "cofactors": (cofactors, 2, 2, ()), "trace": (trace, 2, 2, ()),
}  # fmt: skip
SEVERAL = {"⊕", "concat", "stack"}


# ---------------------------------------------------------------------------------------------- a built-in, by name
def apply(name: str, tensors, axes: tuple[str, ...], options: tuple[Any, ...], size: Callable[[str], int]) -> Tensor:
    """A built-in operator applied; `size` gives the size of an axis that the operator makes."""
    check_truth(name, tensors)
    if len(set(axes)) != len(axes):
        raise NotationError(303, f"an axis is named twice in {', '.join(axes)}")
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
    record = REGISTRY.get(name)
    if record is not None and record.definition is not None:
        return apply_definition(record, tensors, axes, options, size)
    raise NotationError(201, f"{name} is not known")


def is_reduction(name: str) -> bool:
    """Whether a function makes one number of those along an axis."""
    return name in REDUCTIONS or name in REGISTRY and REGISTRY[name].kind == "reduction"


def apply_definition(
    record: Operator, tensors, axes: tuple[str, ...], options: tuple[Any, ...], size: Callable[[str], int]
) -> Tensor:
    """An operator whose definition stands in its record: of numbers, of a list of them, or of tensors of just the axes
    that its signature names, which is then given the axes of the use and the sizes of those that are new."""
    definition = record.definition
    assert definition is not None
    fewest, most = record.arity
    if not fewest <= len(tensors) <= most:
        raise NotationError(304, f"{record.name} takes {fewest} operands, and was given {len(tensors)}")
    if record.kind == "elementwise":
        check_axes(record.name, 0, axes)
        return broadcast(lambda *x: definition(*x, *options), *tensors)
    if record.kind in ("reduction", "along"):
        if not axes:
            raise NotationError(316, f"{record.name} takes axes, not 0")
        rule = reduce if record.kind == "reduction" else along
        return rule(lambda x: definition(x, *options), tensors[0], axes)
    formals, inputs = record.lifted.formals, record.lifted_over(len(tensors)).inputs
    check_axes(record.name, len(formals), axes)
    real = dict(zip(formals, axes))
    new = {real[formal] for formal in formals if not any(formal in group for group in inputs)}
    sizes = {axis: size(axis) for axis in new} if record.kind != "structure" else {}
    return lift(
        lambda *x: definition(*x, *axes, sizes), tensors, [tuple(map(real.__getitem__, each)) for each in inputs]
    )


def apply_to_vector(name: str, tensors, axes: tuple[str, ...], options: tuple[Any, ...]) -> Tensor:
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
