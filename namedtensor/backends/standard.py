"""The backend for any other library of the Python Array API standard; `xp` is the namespace of the library."""

from __future__ import annotations

from typing import Any

from ..core.arrays import dtype_name
from .lines import COMMON, INDEX_ERROR, LOOP, OF_NUMBERS, UNARY, exact, functions, numbers, write_tuple
from .numpy_kernels import ERF, HORNER_WITH_COEFFICIENTS
from .range_checks import KEEP
from .source import Backend


def _dtype(name: str) -> str:
    return f"xp.{name}"


def _write_reduction(name: str):
    return lambda names, options, step: f"xp.{name}({names[0]}, axis={options['at']}, keepdims={options['keep']})"


def _write_take(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    array, at = names
    if options["rank"] == 1:
        return f"xp.take({array}, {at}, axis={options['at']})"
    return f"xp.reshape(xp.take({array}, xp.reshape({at}, (-1,)), axis={options['at']}), {options['sizes']})"


def _write_scatter(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    array, at = names
    if options["rank"] != 1:
        sizes, start, count = options["sizes"], options["at"], step.arguments[1].count
        array = f"xp.reshape({array}, {(*sizes[:start], count, *sizes[start + 1 :])})"
        at = f"xp.reshape({at}, ({count},))"
    return f"scatter_add({array}, {at}, {options['at']}, {options['sizes'][options['at']]})"


FIRST = '''
def first(wrong, values):
    """Return the first wrong value."""
    place = int(xp.argmax(xp.astype(xp.reshape(wrong, (-1,)), xp.int8)))
    return float(xp.reshape(values, (-1,))[place])
'''
POSITIONS = '''
def positions(indices, size, base):
    """Convert indices that start at `base` to positions from 0. Raise IndexError if one is out of range."""
    wrong = (indices < base) | (indices >= base + size)
    if xp.any(wrong):
        raise index_error(int(first(wrong, indices)), size, base)
    return xp.astype(indices, xp.int64) - base if base else indices
'''
SCATTER_ADD = '''
def scatter_add(x, places, axis, size):
    """Return an array of zeros with the elements of x added at the given indices along an axis."""
    rows = xp.moveaxis(x, axis, 0)
    zeros = xp.zeros_like(rows[:1, ...])
    parts = [[] for _ in range(size)]
    for number in range(places.shape[0]):
        parts[int(places[number])].append(rows[number : number + 1, ...])
    found = [xp.sum(xp.concat(each), axis=0, keepdims=True, dtype=x.dtype) if each else zeros for each in parts]
    return xp.moveaxis(xp.concat(found) if size else zeros, 0, axis)
'''
WHOLE_POSITIONS = '''
def whole_positions(indices):
    """Convert float indices to integers. Raise IndexError if one is not a 64-bit integer."""
    wrong = (indices != xp.floor(indices)) | ~(xp.abs(indices) < 2.0**63)
    if xp.any(wrong):
        raise index_error(first(wrong, indices))
    return xp.astype(indices, xp.int64)
'''
COVERED = '''
def covered(condition):
    """Raise ValueError if no case applies to some element."""
    if not xp.all(condition):
        raise ValueError("no case applies to some elements")
'''
EXACT_CAST = '''
def exact_cast(x):
    """Convert unsigned integers to 64-bit signed integers. Raise OverflowError if one is out of range."""
    return of_64_bits(xp.astype(x, xp.int64))
'''
WINDOWS = '''
def windows(x, axis, size):
    """Return the windows of `size` elements along an axis, with a new last axis for the elements of a window."""
    count = x.shape[axis] - size + 1
    at = xp.reshape(xp.reshape(xp.arange(count), (count, 1)) + xp.arange(size), (-1,))
    found = xp.reshape(xp.take(x, at, axis=axis), (*x.shape[:axis], count, size, *x.shape[axis + 1 :]))
    return xp.moveaxis(found, axis + 1, -1)
'''
COFACTORS = '''
def cofactors(x):
    """Return det(x) times the transposed inverse, computed by SVD, so that x may be singular."""
    finite = xp.all(xp.isfinite(x), axis=(-2, -1), keepdims=True)
    u, s, v = xp.linalg.svd(xp.where(finite, x, xp.zeros_like(x)))
    others = xp.prod(xp.where(xp.eye(s.shape[-1], dtype=xp.bool), xp.asarray(1.0, dtype=s.dtype), s[..., None, :]), axis=-1)
    sign = (xp.linalg.det(u) * xp.linalg.det(v))[..., None, None]
    found = sign * xp.matmul(u * xp.astype(others, x.dtype)[..., None, :], v)
    return xp.where(finite, found, xp.full_like(x, xp.nan))
'''
EIGENVECTORS = '''
def eigenvectors(x):
    """Return the eigenvectors of symmetric matrices as columns, each with its first largest component positive."""
    found = xp.linalg.eigh(x)[1]
    sizes = xp.abs(found)
    near = xp.astype(sizes >= xp.max(sizes, axis=-2, keepdims=True) * (1 - 1e-5), xp.int64)
    first = xp.astype(near * (xp.cumulative_sum(near, axis=-2) == 1), found.dtype)
    return found * xp.sign(xp.sum(found * first, axis=-2, keepdims=True))
'''
EXPONENTIAL = '''
def exponential(x):
    """Return the matrix exponential, computed by the Taylor series of X / 2ˢ, which is then squared s times."""
    size = float(xp.max(xp.sum(xp.abs(x), axis=-1)))
    if not size < 1e300:
        return xp.full_like(x, xp.nan)
    halvings = 2
    while size > 1:
        halvings, size = halvings + 1, size / 2
    small = x / 2.0**halvings
    found = term = xp.zeros_like(x) + xp.eye(x.shape[-1], dtype=x.dtype)
    for n in range(1, 15):
        term = xp.matmul(term, small) / n
        found = found + term
    for _ in range(halvings):
        found = xp.matmul(found, found)
    return found
'''
DESCENDING = '''
def descending(x):
    """Return the indices that sort the last axis in descending order. Equal elements keep their order."""
    return xp.argsort(x, axis=-1, descending=True, stable=True)
'''
LINES: dict[str, Any] = {
    **COMMON,
    **functions("xp.", *UNARY), "arctan": "xp.atan({0})", "arcsin": "xp.asin({0})", "arccos": "xp.acos({0})",
    **{name: f"xp.{name}({{0}}, {{1}})" for name in ("maximum", "minimum", "logaddexp", "matmul", "vecdot")},
    **{name: _write_reduction(name) for name in ("sum", "prod", "max", "min", "any", "all", "mean")},
    "where": "xp.where({0}, {1}, {2})", "erf": "erf({0})", "dot": "xp.matmul({0}, {1})",
    "cast": lambda names, options, step: f"xp.astype({names[0]}, {_dtype(options['to'])})",
    "cumsum": "xp.cumulative_sum({0}, axis={at})", "cumprod": "xp.cumulative_prod({0}, axis={at})",
    "sort": "xp.sort({0}, axis={at})", "transpose": "xp.permute_dims({0}, {moves})",
    "reshape": "xp.reshape({0}, {sizes})", "contiguous": "{0}",
    "broadcast": "xp.broadcast_to({0}, {sizes})",
    "concat": lambda names, options, step: f"xp.concat({write_tuple(names)}, axis={options['at']})",
    "stack": lambda names, options, step: f"xp.stack({write_tuple(names)})",
    "pick": lambda names, options, step: f"{names[0]}[{', '.join(':' if at is None else str(at) for at in options['places'])}]",
    "take": _write_take, "scatter_add": _write_scatter, "take_along": "xp.take_along_axis({0}, {1}, axis=-1)", "ascending": "xp.argsort({0}, axis=-1)", "descending": "descending({0})", "argmax": "xp.argmax({0}, axis=-1)",
    "arange": lambda names, options, step: f"xp.arange({options['start']}, {options['stop']}, dtype={_dtype(step.value.dtype)})",
    "eye": lambda names, options, step: f"xp.eye({options['size']}, dtype={_dtype(step.value.dtype)})",
    "constant": lambda names, options, step: f"xp.asarray({options['number']!r}, dtype={_dtype(step.value.dtype)})",
    "numbers": lambda names, options, step: f"xp.reshape(xp.asarray({numbers(options['numbers'])}, dtype={_dtype(step.value.dtype)}), {options['sizes']})",
    "as_array": lambda names, options, step: f"xp.asarray({names[0]}, dtype={_dtype(step.value.dtype)})",
    "logdet": "xp.linalg.slogdet({0})[1]", "det": "xp.linalg.det({0})", "inv": "xp.linalg.inv({0})", "cofactors": "cofactors({0})", "trace": "xp.linalg.trace({0})",
    "cholesky": "xp.linalg.cholesky({0})", "eigvalsh": "xp.linalg.eigvalsh({0})", "eigh": "eigenvectors({0})", "expm": "exponential({0})",
}  # fmt: skip


# The standard does not require that a loop can iterate over an array.
STEPS = LOOP.replace("stacked", "xp.stack").replace(
    "zip(*slices) if slices else ((),) * steps",
    "([each[number] if isinstance(each, list) else each[number, ...] for each in slices] for number in range(steps))",
)
ERF_WITHOUT_OUT = ERF.replace("np.", "xp.").replace(", out=None", "").replace(", out)", ")")


class Standard(Backend):
    """The table of lines for the Array API standard."""

    def default_float(self, xp: Any) -> str:
        return dtype_name(xp.asarray(1.0).dtype)


BACKEND = Standard(
    "standard", "", LINES, {},
    {"horner": HORNER_WITH_COEFFICIENTS, "erf": ERF_WITHOUT_OUT, "first": FIRST,
     "index_error": INDEX_ERROR, "positions": POSITIONS, "scatter_add": SCATTER_ADD, "whole_positions": WHOLE_POSITIONS, "covered": COVERED, **exact("xp.any({0})"), "exact_cast": EXACT_CAST,
     "windows": WINDOWS, "keep_in_range": KEEP, "descending": DESCENDING, "cofactors": COFACTORS, "eigenvectors": EIGENVECTORS, "exponential": EXPONENTIAL, "loop": STEPS},
    numbers=OF_NUMBERS, prefix="xp",
)  # fmt: skip
