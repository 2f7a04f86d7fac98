"""Dtype promotion: the common dtype of the arguments of a step, and the dtype of the result.

If integers and floats are combined, the result has the float dtype. `whole_numbers` contains the rules for integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.arrays import dtype_name
from ..core.extents import typical
from . import whole_numbers
from .intervals import PRODUCTS, exact_in, is_within
from .plan import Argument, PlanValue, Scalar
from .target import Target
from .whole_numbers import StepWriter

TRUTH = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
         "logical_not", "isfinite", "any", "all"}  # fmt: skip
KEEPING = PRODUCTS | whole_numbers.CHECKS
FLOATING = ("f", "c")
RANGES = {"float16": (2.0**-14, 65504.0), "bfloat16": (2.0**-126, (2 - 2.0**-7) * 2.0**127)}  # of normal numbers
PLAIN = {bool, int, float, Scalar}  # types of plain numbers, which do not affect the dtype of the result


def dtype_of(b: StepWriter, primitive: str, arguments: tuple[Argument, ...], options: dict[str, Any]) -> str:
    """Return the dtype of a primitive's result.

    This is bool for comparisons and logical operations, and the common dtype of the arguments if the primitive keeps
    it. Otherwise, the library determines the dtype.
    """
    if primitive in TRUTH:
        return "bool"
    dtypes = {argument.dtype if isinstance(argument, PlanValue) else type(argument) for argument in arguments} - PLAIN
    if len(dtypes) == 1 and primitive != "abs":
        (only,) = dtypes
        if (
            isinstance(only, str)
            and b.target.is_native(only)
            and (primitive in KEEPING or b.target.kind(only) in FLOATING)
        ):
            return only
    return b.target.ask(primitive, arguments, options)


def real_of(target: Target, dtypes: Iterable[Any]) -> str:
    """Return the dtype of constants for inputs with these dtypes, which is the common dtype of the real float inputs.

    If no input is a real float, this is the widest float dtype. If there are no inputs, it is the library's default.
    """
    names = [target.canonical(dtype_name(dtype)) for dtype in dtypes]
    floating = [name for name in names if target.kind(name) == "f"]
    if floating:
        return target.result_type(floating)
    return target.wide_float if names else target.default_float


def default_float(b: StepWriter, arguments: Sequence[Argument]) -> str:
    """Return the float dtype to use for integers that are converted to floats.

    This is the formula's dtype if no integer depends on inputs, and otherwise the widest float dtype.
    """
    values = [argument for argument in arguments if isinstance(argument, PlanValue)]
    return b.real if values and all(value.fixed for value in values) else whole_numbers.wide_float(b, values)


def common_dtype(b: StepWriter, arguments: Sequence[Argument], floats: bool = False) -> str:
    target = b.target
    dtypes = dict.fromkeys([argument.dtype for argument in arguments if isinstance(argument, PlanValue)])
    floating = [dtype for dtype in dtypes if target.kind(dtype) in FLOATING]
    if floating:
        strong = dict.fromkeys(
            [argument.dtype for argument in arguments if isinstance(argument, PlanValue) and not argument.weak]
        )
        floating = [dtype for dtype in floating if dtype in strong] or floating
        if b.half not in floating:
            return target.result_type(floating)
        return b.half if all(is_held_in_half(b, argument) for argument in arguments) else b.real
    if floats or any(
        isinstance(argument, float) or (isinstance(argument, Scalar) and argument.kind is float)
        for argument in arguments
    ):
        return default_float(b, arguments)
    return whole_numbers.common_dtype(b, arguments)


def is_held_in_half(b: StepWriter, argument: Argument) -> bool:
    """Return whether half precision can represent an argument.

    Integers, and floats computed from integers, must be exact. A plain float must be zero, not finite, or within the
    range of normal numbers. Other arrays of floats are always accepted.
    """
    assert b.half is not None
    if isinstance(argument, PlanValue):
        if b.kind(argument) in FLOATING and not argument.weak:
            return True
        return argument.interval is not None and is_within(argument.interval, exact_in(b.half))
    if isinstance(argument, int):
        return is_within((argument, argument), exact_in(b.half))
    if not isinstance(argument, float) or not math.isfinite(argument) or argument == 0:
        return True
    low, high = RANGES[b.half]
    return low <= abs(argument) <= high


def common(b: StepWriter, arguments: Sequence[Argument], floats: bool = False, numbers: bool = False) -> list[Argument]:
    """Cast arguments to one dtype. Plain numbers stay plain unless `numbers` requires arrays.

    If integers and floats are combined, all are cast to the float dtype. A plain Boolean is converted to 0 or 1 unless
    the common dtype is bool.
    """
    dtype = common_dtype(b, arguments, floats)
    kind = b.target.kind(dtype)
    result: list[Argument] = []
    for argument in arguments:
        if isinstance(argument, PlanValue):
            result.append(b.cast(argument, dtype))
        elif numbers:
            result.append(b.constant(argument, dtype))
        else:
            result.append(fitting(b, argument, dtype, kind))
    return result


def fitting(b: StepWriter, number: Any, dtype: str, kind: str) -> Any:
    """Convert a plain number to the form that the library needs to combine it with arrays of this dtype."""
    if isinstance(number, Scalar):
        return b.constant(number, dtype) if number.kind is bool else number
    if kind in FLOATING:
        return number if type(number) is int and abs(number) < 2**31 else float(number)  # JAX has 32-bit integers
    return int(number) if kind in "iu" else number


def coerce_arguments(b: StepWriter, arguments: Sequence[Argument], rule: str) -> list[Argument]:
    """Convert arguments by the dtype rule of a primitive.

    The rule "as they are" only converts plain numbers to arrays. Otherwise, the arguments receive a common dtype, which
    is a float dtype with the rule "floats". The rule "compared" leaves narrow integers unchanged if they can be
    compared.
    """
    if rule == "compared":
        arguments = whole_numbers.replace_out_of_range(b, arguments)
    if rule == "as they are" or (rule == "compared" and whole_numbers.comparable(b, arguments)):
        return [b.array(argument) if rule == "as they are" else argument for argument in arguments]
    return common(b, arguments, floats=rule == "floats")


def with_constants(b: StepWriter, primitive: str, arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """Return the arguments with numbers replaced by arrays, which saves NumPy a check.

    Numbers are replaced only if the arrays share a real float dtype and the primitive is not a power.
    """
    dtypes = {argument.dtype for argument in arguments if isinstance(argument, PlanValue)}
    if len(dtypes) > 1 or b.target.kind(next(iter(dtypes))) != "f" or primitive == "power":
        return tuple(arguments)
    (dtype,) = dtypes
    plain = (PlanValue, Scalar)
    constants = tuple(
        argument if isinstance(argument, plain) else b.constant(argument, dtype) for argument in arguments
    )
    return expand_to_rows(b, constants) if primitive in ("maximum", "minimum") else constants


ROW, LONGEST, MANY = 64, 2**16, 2**10  # the smallest and the largest row, and the smallest array, in elements


def expand_to_rows(b: StepWriter, arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """Replace a number that is combined with a large array by a row of copies, because NumPy is faster with rows."""
    arrays = [argument for argument in arguments if isinstance(argument, PlanValue) and argument.shape]
    numbers = [
        argument for argument in arguments if isinstance(argument, PlanValue) and not argument.shape and argument.fixed
    ]
    if "broadcast-constants" not in b.optimized or len(arrays) != 1 or len(numbers) != 1:
        return arguments
    (x,), (number,) = arrays, numbers
    if x.fixed or not ROW <= typical(x.shape[-1]) <= LONGEST or x.typical_count < MANY:
        return arguments
    ones = b.step("ones", (), x.order[-1:], x.shape[-1:], x.dtype, size=x.shape[-1])
    row = b.step("multiply", (ones, number), ones.order, ones.shape)
    return tuple(row if argument is number else argument for argument in arguments)


def with_arrays(b: StepWriter, arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """Return the arguments, with plain numbers as arrays that have the dtype of the first array that is not Boolean."""
    dtypes = [argument.dtype for argument in arguments if isinstance(argument, PlanValue) and argument.dtype != "bool"]
    if not dtypes:
        return tuple(map(b.array, arguments))
    return tuple(
        argument if isinstance(argument, PlanValue) else b.constant(argument, dtypes[0]) for argument in arguments
    )
