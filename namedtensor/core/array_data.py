"""Convert the data of tensors, which are arrays from any library or nested lists, to arrays."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np

from grammar.errors import NotationError

from .arrays import is_array, is_shape, library, namespace, shape_error
from .memory import fit_in_memory
from .seeds import is_key


def require_array(data: Any, axes: tuple[str, ...] = ()) -> Any:
    """Return the data as an array of numbers. Raise NotationError if it is not numeric or does not fit in memory."""
    if is_array(data):
        return check_array(data)
    with fit_in_memory(dict(zip(axes, lengths_of(data)))):
        return from_lists(data)


def from_lists(data: Any) -> Any:
    if _has_tensors(data):
        raise NotationError(
            317,
            "a list of named tensors is not an array",
            hint='stack them along a new axis: nt.stack(A, B, axis="new")',
        )
    try:
        array = np.asarray(data)
    except (ValueError, TypeError, OverflowError):
        array = None
    if array is None or (array.dtype == object and _is_ragged(_rows(data) or ())):
        raise NotationError(311, "the nested lists differ in length", hint="give every row the same number of entries")
    return check_array(array)


def lengths_of(data: Any) -> list[int]:
    """Return the length of a nested sequence at each level, based on the first entry of each sequence."""
    if isinstance(data, range):  # `len` fails for a range of 2^63 numbers
        return [1 + (data[-1] - data[0]) // data.step if data else 0]
    rows = _rows(data)
    return [len(rows), *lengths_of(rows[0])] if rows else []


def _rows(data: Any) -> Sequence[Any] | None:
    """Return the data if it is a list or a tuple, or None otherwise."""
    return cast("Sequence[Any]", data) if isinstance(data, (list, tuple)) else None


def _has_tensors(data: Any) -> bool:
    return any(hasattr(row, "layout") or _has_tensors(row) for row in (_rows(data) or ())[:1])


def _is_ragged(rows: Sequence[Any]) -> bool:
    parts = [_rows(row) for row in rows]
    lengths = {None if part is None else len(part) for part in parts}
    return len(lengths) > 1 or any(part is not None and _is_ragged(part) for part in parts)


def is_numpys(array: Any) -> bool:
    return isinstance(array, (np.ndarray, np.generic))


def check_array(array: Any) -> Any:
    """Return the data as a plain numeric array. Raise NotationError for masked arrays, text and other objects."""
    if not is_numpys(array):
        if hasattr(array, "dims"):
            raise NotationError(
                317, f"{type(array).__name__} already has axis names", hint="write nt.from_xarray(array)"
            )
        try:
            namespace(array)
        except TypeError:  # For example, a column of a data frame.
            if is_shape(array):
                return array
            return check_array(np.asarray(array))
        if is_key(array):
            raise NotationError(
                317, "expected numbers, got keys of jax.random",
                hint="pass a key as a seed, or map over keys: jax.vmap(lambda key: …)(keys)",
            )  # fmt: skip
        return array
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())  # NumPy imports this module only on request.
    if isinstance(array, masked):
        raise NotationError(
            317, "a masked array would lose its mask", hint="fill it first, or pass the mask as a tensor"
        )
    if array.dtype.kind not in "biufcV" or array.dtype.type is np.void:
        what = "text" if array.dtype.kind in "US" else f"objects of Python ({array.dtype})"
        hint = "convert it to numbers first"
        if array.dtype.kind == "V":
            what = f"records ({array.dtype})"
        elif array.dtype.kind == "O" and array.size and all(type(number) is int for number in array.flat):
            what, hint = "integers that exceed 64 bits", "pass them as floats: nt.tensor(np.asarray(data, float), …)"
        raise NotationError(317, f"expected numbers, got {what}", hint=hint)
    return np.asarray(array)


@lru_cache(maxsize=4096)
def permutation(names: tuple[str, ...], axes: tuple[str, ...]) -> tuple[int, ...] | None:
    """Return the permutation that reorders `names` into `axes`, or None if they do not contain the same names."""
    return tuple([names.index(axis) for axis in axes]) if sorted(axes) == sorted(names) else None


def round_array(array: Any, digits: int) -> Any:
    """Round an array to a number of decimals with the functions of its library."""
    xp = namespace(array)
    if not xp.isdtype(array.dtype, ("real floating", "complex floating")):
        return array if digits >= 0 else xp.astype(round_array(xp.astype(array, xp.float64), digits), array.dtype)
    scale = 10.0 ** abs(digits)
    return xp.round(array * scale) / scale if digits > 0 else xp.round(array / scale) * scale


def concrete(array: Any) -> Any:
    """Convert an array to NumPy. Raise NotationError for a JAX ShapeDtypeStruct, which has no values."""
    if is_shape(array):
        raise shape_error(array)
    if library(array) == "torch":
        array = array.detach().cpu()
        array = array.float() if str(array.dtype) == "torch.bfloat16" else array
    return np.asarray(array)


def wrong_number(array: Any, names: tuple[str, ...]) -> NotationError:
    rank = len(array.shape)
    sizes = f" ({' × '.join(map(str, array.shape))})" if rank else ""
    has = f"{rank or 'no'} {'axis' if rank == 1 else 'axes'}{sizes}"
    text = f"{len(names) or 'no'} {'name was' if len(names) == 1 else 'names were'} given"
    return NotationError(
        316, f"the array has {has}, but {text}", notes=(f"the names are {', '.join(names)}",) if names else (),
        hint='name each axis, separated with spaces: nt.tensor(data, "height width")',
    )  # fmt: skip


def reorder_array(given: Any, names: tuple[str, ...]) -> Any:
    """Return a tensor's array with its axes in the order `names`. Raise NotationError if the tensor has other axes."""
    if sorted(names) != sorted(given.axes):
        raise NotationError(
            316, f"the tensor already has axes {', '.join(given.axes) or 'none'}, not {', '.join(names)}",
            hint="use rename to change axis names",
        )  # fmt: skip
    return given.to_array(names)
