"""Promotion of integers: the choice of dtypes for their arithmetic, so that overflow is never silent.

Formulas are over ℝ, but dtypes have limits. Promotion depends on dtypes, literals and sizes, but not on values, so each
step of a plan has one dtype:

    narrower than 64 bits            widened before arithmetic
    a product, power, sum            64-bit if its interval fits 2^53; else in 64-bit floats
    a recurrence, a quotient         in 64-bit floats
    x + y, x − y, −x, |x|            64-bit, and an overflow raises an error

The rule is the same for every library. JAX without `jax_enable_x64` has 32 bits instead of 64, and its floats represent
integers exactly only up to 2^24. In this case, ∑ and recurrences remain integers, and a conversion to floats that may
round emits a warning. A function that JAX traces cannot inspect values, so it does not detect overflow.

A *weak* value is a float that was computed only from integers. Like an integer, it is cast to the dtype of other
floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Protocol

from ..core.axes import Order
from ..core.extents import upper_bound
from . import intervals
from .intervals import interval_of
from .plan import Argument, Interval, PlanValue, Scalar, Step
from .target import Target

CHECKED = {"add": "exact_add", "subtract": "exact_subtract", "negative": "exact_subtract", "abs": "exact_abs"}
ARITHMETIC = frozenset((*CHECKED, "multiply", "power"))
WEAK = attrgetter("weak")
WHOLE = frozenset("iub")  # the dtype kinds of integers and Booleans
CHECKED_REDUCTIONS = {
    "sum": "exact_sum",
    "cumsum": "exact_cumsum",
}  # used if a conversion to the widest float could round, as in JAX without `jax_enable_x64`
CHECKS = frozenset((*CHECKED.values(), *CHECKED_REDUCTIONS.values(), "exact_cast"))  # primitives that fail on overflow
ROUNDED = "JAX without jax_enable_x64 rounds integers beyond 16777216 here: they become float32"


class StepWriter(Protocol):
    """The part of the plan builder's interface that the rules for dtypes and sums use."""

    target: Target
    optimized: frozenset[str]
    half: str | None
    real: str
    in_block: bool
    steps: list[Step]
    rounds: bool

    def step(
        self, primitive: str, arguments: Sequence[Argument], order: Order, shape: Sequence[int], dtype: str | None = None,
        **options: Any,
    ) -> PlanValue: ...  # fmt: skip
    def kind(self, x: PlanValue) -> str: ...
    def written(self, x: PlanValue) -> Step | None: ...
    def cast(self, x: PlanValue, dtype: str) -> PlanValue: ...
    def unnamed(self, argument: Argument) -> Argument: ...
    def renamed(self, x: PlanValue, order: Order) -> PlanValue: ...
    def reshape(self, x: PlanValue, order: Order, shape: Sequence[int]) -> PlanValue: ...
    def constant(self, number: Any, dtype: str | None = None) -> PlanValue: ...
    def array(self, argument: Argument) -> PlanValue: ...
    def whole_dtype(self, *numbers: Any) -> str: ...


def is_weak(b: StepWriter, primitive: str, arguments: Sequence[Any], dtype: str) -> bool:
    """Return whether a step computes floats only from integers and plain numbers."""
    values = [argument for argument in arguments if isinstance(argument, PlanValue)]
    if primitive == "cast":
        return dtype == b.target.wide_float and (values[0].interval is not None or values[0].weak)
    weak = True in map(WEAK, values) and b.target.kind(dtype) == "f"
    return weak and all(value.weak or b.kind(value) in WHOLE or is_plain(b, value) for value in values)


def is_plain(b: StepWriter, x: PlanValue) -> bool:
    """Return whether a value consists only of plain numbers and thus does not widen the dtype of other operands."""
    step = b.written(x)
    return step is not None and step.primitive in ("constant", "as_array", "ones")


# ------------------------------------------------------------------------------------------------------------- dtypes
def common_dtype(b: StepWriter, arguments: Sequence[Any]) -> str:
    """Return the common dtype of integers: the dtype that all of them share, or otherwise the 64-bit dtype.

    If the 64-bit dtype cannot represent all of them, this may be the widest float dtype. Booleans are ignored.
    """
    values = [argument for argument in arguments if isinstance(argument, PlanValue) and b.kind(argument) != "b"]
    numbers = [
        argument for argument in arguments if (argument.kind if isinstance(argument, Scalar) else type(argument)) is int
    ]
    result = {value.dtype for value in values}
    if len(result) == 1 and not numbers and not result & b.target.stored:
        return result.pop()
    dtype = b.whole_dtype(*numbers)
    return wide_float(b, values) if b.target.is_narrow and not all_held(b, values) else dtype


def comparable(b: StepWriter, arguments: Sequence[Any]) -> bool:
    """Return whether integers can be compared with each other without widening narrow integer tensors."""
    dtypes = {argument.dtype for argument in arguments if isinstance(argument, PlanValue)}
    held = intervals.interval_of_dtype(dtypes.pop()) if len(dtypes) == 1 and not dtypes & b.target.stored else None
    numbers = [argument for argument in arguments if not isinstance(argument, PlanValue)]
    fit = held is not None and all(
        type(number) is int and intervals.is_within((number, number), held) for number in numbers
    )
    return fit and held != (0, 1)


def replace_out_of_range(b: StepWriter, arguments: Sequence[Any]) -> Sequence[Any]:
    """Replace integers that are compared with an out-of-range number by 0, and replace this number by 1 or −1."""
    ends = intervals.interval_of_dtype(b.target.default_whole)
    assert ends is not None
    far = [type(argument) in (int, float) and (argument < ends[0] or argument > ends[1]) for argument in arguments]
    whole = [
        isinstance(argument, PlanValue) and b.kind(argument) in WHOLE and is_held(b, argument) for argument in arguments
    ]
    if True not in far or True not in whole:
        return arguments
    return [b.step("multiply", (value, 0), value.order, value.shape) if isinstance(value, PlanValue)
            else 1 if value > 0 else -1 for value in held(b, arguments, b.target.default_whole)]  # fmt: skip


def undo_cast(b: StepWriter, x: PlanValue) -> PlanValue:
    """Return integers in the dtype that they had before they were cast, to avoid a second cast.

    A value that was not cast from other integers is returned unchanged.
    """
    step = b.written(x)
    if step is None or step.primitive not in ("cast", "exact_cast") or x.dynamic or b.kind(x) not in WHOLE:
        return x
    (before,) = step.arguments
    return b.renamed(before, x.order) if b.kind(before) in WHOLE else x


def passes(b: StepWriter, x: PlanValue, dtype: str) -> bool:
    """Return whether an element of a value may exceed the range of an integer dtype."""
    held = intervals.interval_of_dtype(dtype)
    return held is not None and dtype != "bool" and x.interval is not None and not intervals.is_within(x.interval, held)


# --------------------------------------------------------------------------------------------------------- arithmetic
def safe(b: StepWriter, primitive: str, arguments: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Return the primitive for an integer operation without silent overflow, and the arguments in the dtype it needs.

    The operation remains an integer operation if its result fits or if overflow can be checked; otherwise, the
    arguments are cast to the widest float dtype.
    """
    pair = intervals.transfer_step(primitive, [interval_of(argument) for argument in arguments], {})
    if pair is not None and fits(b, pair, primitive in CHECKED):
        return primitive, held(b, arguments, b.target.default_whole)
    if primitive not in CHECKED or (b.target.is_narrow and not all_held(b, arguments)):
        return primitive, held(b, arguments, wide_float(b, arguments))
    arguments = held(b, arguments, b.target.default_whole)
    return CHECKED[primitive], (0, *arguments) if primitive == "negative" else arguments


def summable(b: StepWriter, arguments: Sequence[PlanValue], kind: str, count: int) -> list[PlanValue]:
    """Cast integers to a dtype that can represent a reduction of `count` integers, or of their products.

    This is the 64-bit integer dtype if the result certainly fits, and otherwise the widest float dtype.
    """
    pair = intervals.transfer_step(kind, [argument.interval for argument in arguments], {}, upper_bound(count))
    enough = pair is not None and fits(b, pair, False)
    return held(b, arguments, b.target.default_whole if enough else wide_float(b, arguments))


def reducible(b: StepWriter, kind: str, x: PlanValue, count: int) -> tuple[str, PlanValue]:
    """Return the primitive for a reduction of integers without silent overflow, and its argument in the dtype it needs.

    On a target with 32-bit dtypes, sums remain integers and check for overflow if necessary.
    """
    if b.target.is_narrow and kind in CHECKED_REDUCTIONS and b.kind(x) in WHOLE and is_held(b, x):
        pair = intervals.transfer_step(kind, [x.interval], {}, count)
        exact = pair is not None and fits(b, pair, True)
        return kind if exact else CHECKED_REDUCTIONS[kind], b.cast(x, b.target.default_whole)
    return kind, summable(b, (x,), kind, count)[0]


def for_recurrence(b: StepWriter, x: PlanValue) -> PlanValue:
    """Cast the initial integers of a recurrence to the widest float dtype, or to int32 if the target lacks int64."""
    if b.target.is_narrow and is_held(b, x):
        return b.cast(x, b.target.default_whole)
    return b.cast(x, wide_float(b, (x,)))


def wide_float(b: StepWriter, arguments: Sequence[Any]) -> str:
    """Return the dtype of floats computed from these integers: the widest float dtype of the target.

    If this dtype has 32 bits and may round one of the integers, set `b.rounds`.
    """
    dtype = b.target.wide_float
    result = (argument.interval for argument in arguments if isinstance(argument, PlanValue) and not argument.fixed)
    exact = intervals.exact_in(dtype)
    if b.target.is_narrow and not all(interval is None or intervals.is_within(interval, exact) for interval in result):
        b.rounds = True
    return dtype


def all_held(b: StepWriter, arguments: Sequence[Any]) -> bool:
    """Return whether the target's int64 can represent all of these values."""
    return all(is_held(b, argument) for argument in arguments if isinstance(argument, PlanValue))


def is_held(b: StepWriter, x: PlanValue) -> bool:
    """Return whether the target's int64 can represent all elements of a value."""
    return x.interval is not None and fits(b, x.interval, True)


def fits(b: StepWriter, interval: Interval, checked: bool) -> bool:
    """Return whether an interval lies within the range of the target's int64, which has 32 bits in JAX without x64.

    Unless `checked` is true, the interval must also contain only integers that 64-bit floats represent exactly.
    """
    natural = intervals.interval_of_dtype(b.target.default_whole)
    assert natural is not None
    return intervals.is_within(interval, natural) and (checked or intervals.is_within(interval, intervals.EXACT))


def held(b: StepWriter, arguments: Sequence[Any], dtype: str) -> list[Any]:
    """Cast integer tensors to a dtype, leaving plain numbers unchanged."""
    return [b.cast(argument, dtype) if isinstance(argument, PlanValue) else argument for argument in arguments]
