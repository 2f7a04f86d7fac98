"""Define the operators on plain numbers and lists, as reference definitions in the operators' records.

The reference evaluator lifts the definitions to tensors. The fast evaluators do not use them. A function of numbers has
a value for every argument. If Python raises an error, the function follows the rules of floating-point arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from grammar.errors import NotationError


# ------------------------------------------------------------------------------------------- functions of numbers
def total(function: Callable[..., Any], otherwise: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return a function that returns nan, or the result of `otherwise`, if the given function raises an error."""

    def with_value(*numbers: Any) -> Any:
        try:
            return function(*numbers)
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan if otherwise is None else otherwise(*numbers)

    return with_value


def power(base: Any, exponent: Any) -> Any:
    """Compute base^exponent. Return NaN for a fractional power of a negative number."""
    whole = isinstance(base, int) and isinstance(exponent, int) and exponent >= 0
    if whole and exponent * abs(base).bit_length() < 1024:
        return base**exponent
    return total(math.pow, _infinite_power)(base, exponent)


def _infinite_power(base: Any, exponent: Any) -> float:
    if abs(base) < 1 and exponent > 0 or base < 0 and exponent != int(exponent):
        return math.nan
    return -math.inf if base < 0 and exponent % 2 else math.inf


def infinity(*x: Any) -> float:
    return math.inf


def _infinity_of_sign(x: float) -> float:
    return math.copysign(math.inf, x)


def _itself(x: float) -> float:
    return x


def _quotient(x: Any, y: Any) -> Any:
    return x / y


def _value_at_zero(x: Any) -> float:
    return -math.inf if x == 0 else math.nan


def _divide_by_zero(x: Any, y: Any) -> float:
    return math.copysign(math.inf, x) * math.copysign(1, y) if x and x == x else math.nan


exp = total(math.exp, infinity)
log = total(math.log, _value_at_zero)
sinh = total(math.sinh, _infinity_of_sign)
cosh = total(math.cosh, infinity)
floor = total(math.floor, _itself)
ceil = total(math.ceil, _itself)
divide = total(_quotient, _divide_by_zero)


def sign(x: Any) -> Any:
    return x if x != x else (x > 0) - (x < 0)


def softplus(x: Any) -> float:
    return max(x, 0) + math.log1p(exp(-abs(x)))


def log1p(x: float) -> float:
    return math.log1p(x) if x > -1 else -math.inf if x == -1 else math.nan


def expm1(x: float) -> float:
    return math.inf if x >= 700 else math.expm1(x)


def is_nan(x: Any) -> bool:
    return x != x


def nearest(x: float) -> float:
    return round(x) if math.isfinite(x) else x


def remainder(x: float, y: float) -> float:
    return x % y if y else math.nan


# ------------------------------------------------------------------------------------------- functions of vectors
def nan_last(entry: Any) -> Any:
    """Return a sort key that puts nan last in ascending order."""
    return entry != entry, entry


def ascending(x: list[Any]) -> list[Any]:
    """Sort numbers in ascending order, with nan last."""
    return sorted(x, key=nan_last)


def places_ascending(x: list[Any]) -> list[int]:
    """Return the 1-based positions of the numbers in ascending order. Equal numbers keep their order."""
    return [index + 1 for index in sorted(range(len(x)), key=lambda index: nan_last(x[index]))]


def largest(x: list[Any]) -> Any:
    return max(x, key=nan_last)


def smallest(x: list[Any]) -> Any:
    return -largest([-entry for entry in x])


def larger(x: Any, y: Any) -> Any:
    return largest([x, y])


def smaller(x: Any, y: Any) -> Any:
    return smallest([x, y])


def mean(x: list[Any]) -> float:
    total = divide(sum(x), len(x))
    if math.isfinite(total) or not all(map(math.isfinite, x)):
        return total
    return sum(entry / len(x) for entry in x)  # The sum would exceed the range of floats.


def distances(x: list[Any]) -> list[Any]:
    """Return the difference of each number from the mean."""
    center = mean(x)
    return [entry - center for entry in x]


def deviation(x: list[Any]) -> float:
    """Compute √(∑ (difference from the mean)² / n). Scale the differences to avoid overflow and underflow."""
    away = distances(x)
    most = largest([abs(number) for number in away])
    if not most or not math.isfinite(most):
        return most if most == 0 else math.nan
    return most * math.sqrt(mean([(number / most) ** 2 for number in away]))


def norm(x: list[Any], p: float = 2) -> float:
    """Compute (∑ |x|^p)^{1/p}, scaled by the largest entry to avoid overflow."""
    most = largest([abs(entry) for entry in x])
    if most == 0 or most == math.inf or most != most or p == math.inf:
        return most
    return most * sum((abs(entry) / most) ** p for entry in x) ** (1 / p)


def logsumexp(x: list[Any]) -> float:
    most = largest(x)
    return most if most in (math.inf, -math.inf) else most + log(sum(exp(entry - most) for entry in x))


def softmax(x: list[Any]) -> list[Any]:
    """Compute exp x / ∑ exp x, shifted by the largest entry to avoid overflow (§3.5)."""
    most = largest(x)
    powers = [exp(entry - most) for entry in x]
    return [element / sum(powers) for element in powers]


def logsoftmax(x: list[Any]) -> list[Any]:
    most = largest(x)
    total = log(sum(exp(entry - most) for entry in x))
    return [entry - most - total for entry in x]


def standardize(x: list[Any], eps: float = 1e-5) -> list[Any]:
    away = distances(x)
    spread = (
        math.hypot(deviation(x), math.sqrt(eps))
        if eps >= 0
        else total(math.sqrt)(mean([number * number for number in away]) + eps)
    )
    return [divide(number, spread) for number in away]


def quantile(x: list[float], q: float = 0.5) -> float:
    """Compute the q-quantile by interpolation between two adjacent sorted entries."""
    if not 0 <= q <= 1:
        raise NotationError(405, f"q must be between 0 and 1, got {q}")
    if any(entry != entry for entry in x):
        return math.nan
    ascending, count = sorted(x), q * (len(x) - 1)
    low, high, part = ascending[math.floor(count)], ascending[math.ceil(count)], count - math.floor(count)
    return low if low == high else (1 - part) * low + part * high


# ---------------------------------------------------------------------------- functions between vectors and matrices
# The arguments of each function are tensors with only the axes that it needs, the names of these axes in the call, and
# the sizes of new axes. A tensor has a shape, and it is a function from positions to numbers.
def like(x: Any, shape: Mapping[str, int], element: Callable[[Mapping[str, int]], Any]) -> Any:
    """Return a tensor of the same class as x with the given shape. `element` computes the element at each position."""
    return type(x)(shape, element)


def position(value: Any, size: int, axis: str) -> int:
    """Convert an index to an integer. Raise NotationError if it is not an integer from 1 to the size."""
    if isinstance(value, bool) or value != value or value in (math.inf, -math.inf) or value != int(value):
        raise NotationError(402, f"index must be an integer, got {value}", hint="indices start at 1")
    if not 1 <= value <= size:
        raise NotationError(401, f"index {int(value)} is out of range for axis {axis} (1 to {size})")
    return int(value)


def unroll(x: Any, seq: str, kernel: str, sizes: Any) -> Any:
    """Compute [unroll x]_{seq(i), kernel(j)} = x_{seq(i+j-1)} (§4.4)."""
    windows = x.shape[seq] - sizes[kernel] + 1
    if windows < 0:
        raise NotationError(310, f"axis {kernel} has size {sizes[kernel]}, but axis {seq} only {x.shape[seq]}")
    return like(x, {seq: windows, kernel: sizes[kernel]}, lambda s: x({seq: s[seq] + s[kernel] - 1}))


def pool(x: Any, seq: str, kernel: str, sizes: Any) -> Any:
    """Compute [pool x]_{seq(i), kernel(j)} = x_{seq((i-1)·|kernel| + j)} (§4.5)."""
    n, k = x.shape[seq], sizes[kernel]
    if k == 0 or n % k:
        raise NotationError(310, f"axis {seq} of size {n} is not divisible into windows of {k} ({kernel})")
    return like(x, {seq: n // k, kernel: k}, lambda s: x({seq: (s[seq] - 1) * k + s[kernel]}))


def ranking(x: Any, k: int) -> list[int]:
    """Return the positions of the k largest entries in descending order, with nan first.

    Equal entries keep their order.
    """
    entries = list(x.entries.values())
    if k > len(entries):
        raise NotationError(308, f"cannot take {k} of {len(entries)} elements")
    return sorted(range(1, len(entries) + 1), key=lambda i: (entries[i - 1] == entries[i - 1], -entries[i - 1]))[:k]


def maxk(x: Any, ax: str, k: str, sizes: Any) -> Any:
    """Return the k largest entries in descending order, with nan first."""
    ranks = ranking(x, sizes[k])
    return like(x, {k: sizes[k]}, lambda s: x({ax: ranks[s[k] - 1]}))


def argmaxk(x: Any, ax: str, k: str, sizes: Any) -> Any:
    """Return a tensor with a 1 at the position of each of the k largest entries."""
    ranks = ranking(x, sizes[k])
    return like(x, {ax: x.shape[ax], k: sizes[k]}, lambda s: int(ranks[s[k] - 1] == s[ax]))


def onehot(i: Any, ax: str, sizes: Any) -> Any:
    """Return a tensor along one axis with 1 at the index i and 0 elsewhere."""
    one = position(i({}), sizes[ax], ax)
    return like(i, {ax: sizes[ax]}, lambda s: int(s[ax] == one))


def concat(*tensors_and_axis: Any) -> Any:
    """Concatenate the elements of X and the elements of Y along an axis: X ⊕_{ax} Y."""
    *parts, ax, _ = tensors_and_axis
    entries = [x({ax: i}) for x in parts for i in range(1, x.shape[ax] + 1)]
    return like(parts[0], {ax: len(entries)}, lambda s: entries[s[ax] - 1])


def stack(*tensors_and_axis: Any) -> Any:
    """Stack tensors along a new axis: stack_{ax}(X, Y, …)."""
    *parts, ax, _ = tensors_and_axis
    return like(parts[0], {ax: len(parts)}, lambda s: parts[s[ax] - 1]({}))
