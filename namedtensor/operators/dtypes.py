"""Which kind of number a result has.

Dtypes follow the inputs. Whole numbers that meet floating ones take their dtype; functions that need floating numbers
give whole ones the namespace's default; a truth value among numbers is 0 or 1; a plain Python number takes the dtype of
the arrays beside it. NumPy and its kin agree on most of this, and where all arguments are settled already nothing is
done: a kernel remembers the dtypes for which that was so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Kernel = Callable[..., Any]
FLOATING = ("real floating", "complex floating")


def is_numpy(xp: Any) -> bool:
    return xp.__name__ in ("numpy", "array_api_compat.numpy")


def default_float(xp: Any) -> Any:
    return xp.asarray(1.0).dtype


def default_whole(xp: Any) -> Any:
    return xp.asarray(1).dtype


def floating(xp: Any, array: Any) -> Any:
    """An array of floating numbers: whole numbers and truth values become the namespace's default."""
    return array if xp.isdtype(array.dtype, FLOATING) else xp.astype(array, default_float(xp))


def numeric(xp: Any, array: Any) -> Any:
    """An array of numbers: truth values become 0 and 1."""
    return xp.astype(array, default_whole(xp)) if xp.isdtype(array.dtype, "bool") else array


def common_dtype(xp: Any, values: Sequence[Any], need_floats: bool = False) -> Any:
    """The dtype in which these arrays and plain numbers meet."""
    dtypes = [value.dtype for value in values if hasattr(value, "dtype")]
    floats = [dtype for dtype in dtypes if xp.isdtype(dtype, FLOATING)]
    if floats:
        return xp.result_type(*floats) if len(floats) > 1 else floats[0]
    if need_floats or any(isinstance(value, float) for value in values):
        return default_float(xp)
    whole = [dtype for dtype in dtypes if not xp.isdtype(dtype, "bool")]
    if not whole:
        return default_whole(xp)
    return xp.result_type(*whole) if len(whole) > 1 else whole[0]


def common(xp: Any, values: Sequence[Any], need_floats: bool = False) -> list[Any]:
    """Arrays and plain numbers as arrays of one dtype."""
    dtype = common_dtype(xp, values, need_floats)
    return [as_array(xp, value, values, dtype) for value in values]


def as_array(xp: Any, value: Any, beside: Sequence[Any], dtype: Any) -> Any:
    """A value as an array of `dtype`, on the device of the arrays beside it."""
    if hasattr(value, "dtype"):
        return value if value.dtype == dtype else xp.astype(value, dtype)
    device = next((other.device for other in beside if hasattr(other, "device")), None)
    if device is None or is_numpy(xp) or xp.__name__.startswith("jax"):  # JAX brings a number to where arrays are
        return xp.asarray(value, dtype=dtype)
    return xp.asarray(value, dtype=dtype, device=device)


# ------------------------------------------------------------------------------------- what a kernel asks for, by name
def _one_number_dtype(xp: Any, dtypes: Sequence[Any]) -> bool:
    return all(dtype == dtypes[0] for dtype in dtypes) and not xp.isdtype(dtypes[0], "bool")


def _one_float_dtype(xp: Any, dtypes: Sequence[Any]) -> bool:
    return all(dtype == dtypes[0] for dtype in dtypes) and xp.isdtype(dtypes[0], FLOATING)


def _one_wide_dtype(xp: Any, dtypes: Sequence[Any]) -> bool:
    """Sums of products of narrow whole numbers overflow, so those are widened, as sums of them are."""
    wide = (default_whole(xp), getattr(xp, "uint64", None))
    return _one_float_dtype(xp, dtypes) or (_one_number_dtype(xp, dtypes) and dtypes[0] in wide)


def _widened(xp: Any, values: Sequence[Any]) -> list[Any]:
    values = common(xp, values)
    if _one_wide_dtype(xp, [values[0].dtype]):
        return values
    return [xp.astype(value, default_whole(xp)) for value in values]


# rule: (whether arguments of these dtypes can stay as they are, what brings the others there)
RULES: dict[str, tuple[Callable[..., bool], Callable[..., list[Any]]]] = {
    "numbers": (_one_number_dtype, common),
    "floats": (_one_float_dtype, lambda xp, values: common(xp, values, need_floats=True)),
    "sums": (_one_wide_dtype, _widened),
    "as they are": (lambda xp, dtypes: is_numpy(xp), lambda xp, values: list(values)),
}


def coerced(
    xp: Any, kernel: Kernel, rule: str, numbers: tuple[bool, ...], dtypes: Sequence[Any] | None = None
) -> Kernel:
    """`kernel` for arguments of any dtype; `numbers` says which are plain Python numbers.

    Where the arrays' dtypes are told beforehand and are those that the rule asks for, it is `kernel` itself.
    """
    settles, bring = RULES[rule]
    weak = is_numpy(xp)  # NumPy gives plain numbers the dtype of the array itself
    if rule == "as they are" or (any(numbers) and not weak):
        return lambda *values: kernel(*bring(xp, values))
    if dtypes is not None:
        known = [dtype for dtype in dtypes if dtype is not None]
        return kernel if settles(xp, known) else lambda *values: kernel(*bring(xp, values))
    return _watched(xp, kernel, settles, bring, numbers)


def _watched(xp: Any, kernel: Kernel, settles: Callable, bring: Callable, numbers: tuple[bool, ...]) -> Kernel:
    """`kernel`, looking at the dtypes of each call; a plain number may come where an array was told of."""
    settled: set[Any] = set()

    def other(*values):
        if all(plain or hasattr(value, "dtype") for value, plain in zip(values, numbers)):
            dtypes = tuple(value.dtype for value, plain in zip(values, numbers) if not plain)
            if settles(xp, dtypes):
                settled.add(dtypes)
                return kernel(*values)
        return kernel(*bring(xp, values))

    def one(x):
        return kernel(x) if (getattr(x, "dtype", None),) in settled else other(x)

    def two(x, y):
        return kernel(x, y) if (getattr(x, "dtype", None), getattr(y, "dtype", None)) in settled else other(x, y)

    def several(*values):
        dtypes = tuple([getattr(value, "dtype", None) for value, plain in zip(values, numbers) if not plain])
        return kernel(*values) if dtypes in settled else other(*values)

    return {(False,): one, (False, False): two}.get(numbers, several)
