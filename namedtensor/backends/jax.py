"""The JAX backend, which generates pure functions that work with `jit`, `grad` and `vmap`.

Constant steps run in NumPy, so JAX never traces them.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from ..planning.whole_numbers import CHECKS
from . import range_checks
from .entry_checks import every_step
from .jax_loops import CHECKED_LOOP, IN_TURN, LOOKED_UP, SCANNED
from .lines import (
    COMMON,
    INDEX_ERROR,
    OF_NUMBERS,
    UNARY,
    exact,
    functions,
    loop,
    numbers,
    pick,
    python,
    write_scatter,
    write_tuple,
)
from .numpy import NumPy
from .source import Backend, is_done_before


def _dtype(name: str) -> str:
    return f"jnp.{name}"


def _write_reduction(name: str):
    def line(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
        keep = ", keepdims=True" if options["keep"] else ""
        return f"jnp.{name}({names[0]}, {options['at']}{keep})"

    return line


def _write_pick(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    """Return code that picks elements. JAX rejects a symbolic index, so the code slices and then removes the axis."""
    plain = [position is None or type(position) is int for position in options["places"]]
    places = [at if is_plain else f"{at}:{at + 1}" for at, is_plain in zip(options["places"], plain)]
    of_slices = ["0" if type(position) is str else ":" for position in places if type(position) is not int]
    text = pick(names, {"places": places}, step)
    return text if all(plain) else f"{text}[{', '.join(of_slices)}]"


IS_CONCRETE = '''
def is_concrete(array):
    """Return whether an array has concrete values, that is, whether JAX is not tracing the array."""
    return not isinstance(array, jax.core.Tracer)
'''
TELL_IF_TRACED = '''
def tell_if_traced(*arrays):
    """Warn that overflow is not detected if JAX traces one of the arrays."""
    if not all(map(is_concrete, arrays)):
        warnings.warn("integers that JAX traces are not checked for overflow", stacklevel=3)
'''
PASSED = '''
def passed(found):
    """Return whether an integer has overflowed, if the values are concrete."""
    return is_concrete(found) and bool(found.any())
'''
IN_BITS = '''
def in_bits(exact, dtype):
    """Raise OverflowError if a dtype cannot represent the exact results."""
    held = np.iinfo(dtype)
    if exact.size and not held.min <= exact.min() <= exact.max() <= held.max:
        raise OverflowError("integer overflow")
'''
EXACT_SUM = '''
def exact_sum(x, axes, keep):
    """Sum integers. Raise OverflowError if the dtype cannot represent a sum."""
    if is_concrete(x):
        in_bits(np.asarray(x).sum(axes, np.int64), x.dtype)
    return jnp.sum(x, axes, keepdims=keep)
'''
EXACT_CUMSUM = '''
def exact_cumsum(x, axis):
    """Return cumulative sums of integers. Raise OverflowError if the dtype cannot represent a sum."""
    if is_concrete(x):
        in_bits(np.asarray(x).cumsum(axis, np.int64), x.dtype)
    return jnp.cumsum(x, axis)
'''
EXACT_CAST = '''
def exact_cast(x):
    """Convert unsigned integers to signed integers. Raise OverflowError if one is out of range."""
    return of_64_bits(x.astype(int))
'''
POSITIONS = '''
def positions(indices, size, base):
    """Convert indices that start at `base` to positions from 0. Raise IndexError if one is out of range."""
    if is_concrete(indices):
        wrong = (indices < base) | (indices >= base + size)
        if wrong.any():
            raise index_error(int(indices[wrong][0]), size, base)
    return indices.astype(int) - base if base else indices
'''
SCATTER_ADD = '''
def scatter_add(x, places, axis, size):
    """Return an array of zeros with the elements of x added at the given indices along an axis."""
    whole = jnp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    return whole.at[(slice(None),) * axis + (places,)].add(x)
'''
WHOLE_POSITIONS = '''
def whole_positions(indices):
    """Convert float indices to integers. Raise IndexError if one is not a 64-bit integer."""
    if is_concrete(indices):
        wrong = (indices != jnp.floor(indices)) | ~(jnp.abs(indices) < 2.0**63)
        if wrong.any():
            raise index_error(float(indices[wrong][0]))
    return indices.astype(int)
'''
COVERED = '''
def covered(condition):
    """Raise ValueError if no case applies to some element."""
    if is_concrete(condition) and not condition.all():
        raise ValueError("no case applies to some elements")
'''
MULTIPLY_TRANSPOSED = '''
def multiply_transposed(x, matrix, scale=None):
    """Return x times the transpose of a scaled matrix. XLA converts the integers while it computes the product."""
    matrix = matrix.T.astype(x.dtype)
    return x @ (matrix if scale is None else matrix * scale)


multiply_transposed = jax.jit(multiply_transposed)
'''
WINDOWS = '''
def windows(x, axis, size):
    """Return the windows of `size` elements along an axis, with a new last axis for the elements of a window."""
    count = x.shape[axis] - size + 1
    at = np.arange(count)[:, None] + np.arange(size)
    return jnp.moveaxis(jnp.take(x, at, axis=axis), axis + 1, -1)
'''
COFACTORS = '''
def cofactors(x):
    """Return det(x) times the transposed inverse, computed by SVD if x is singular or nearly singular."""
    inverse = jnp.linalg.inv(x)
    found = jnp.linalg.det(x)[..., None, None] * jnp.swapaxes(inverse, -2, -1)
    finite = jnp.isfinite(x).all((-2, -1), keepdims=True)
    scale = jnp.abs(x).max((-2, -1), keepdims=True) * jnp.abs(inverse).max((-2, -1), keepdims=True)
    exact = (scale < jnp.finfo(x.dtype).eps ** -0.5) & jnp.isfinite(found).all((-2, -1), keepdims=True)
    whole = exact | ~finite

    def singular():
        u, s, v = jnp.linalg.svd(jnp.where(finite, x, 0))
        others = jnp.where(jnp.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]).prod(-1)
        sign = (jnp.linalg.det(u) * jnp.linalg.det(v))[..., None, None]
        return jnp.where(whole, found, sign * (u.conj() * others[..., None, :]) @ v.conj())

    return jax.lax.cond(whole.all(), lambda: found, singular)
'''
EIGENVECTORS = '''
def eigenvectors(x):
    """Return the eigenvectors of symmetric matrices as columns, each with its first largest component positive."""
    found = jnp.linalg.eigh(x)[1]
    sizes = jax.lax.stop_gradient(jnp.abs(found))
    near = sizes >= sizes.max(-2, keepdims=True, initial=0) * (1 - 1e-5)
    first = near & (near.cumsum(-2) == 1)
    return found * jnp.sign((jax.lax.stop_gradient(found) * first).sum(-2, keepdims=True))
'''
TRIANGLE = '''
def triangle(x):
    """Return the Cholesky factor. Raise ValueError if there is none, for which JAX itself returns NaN."""
    found = jnp.linalg.cholesky(x)
    if is_concrete(x) and not jnp.isfinite(found).all() and jnp.isfinite(x).all():
        raise ValueError("not positive definite")
    return found
'''
DESCENDING = '''
def descending(x):
    """Return the indices that sort the last axis in descending order. Equal elements keep their order."""
    return jnp.argsort(x, axis=-1, descending=True, stable=True)
'''
FAILS = frozenset(
    ("positions", "whole_positions", "covered", "inv", "cholesky", "python")
)  # primitives that fail depending on data


def has_steps(plan: Any, primitives: Set[str]) -> bool:
    """Return whether a plan or one of its inner plans runs a step with one of these primitives at call time."""
    return any(step.primitive in primitives and not is_done_before(step.value) for step in every_step(plan))


def must_see(plan: Any) -> bool:
    """Return whether a plan can fail depending on its data. If JAX traced this plan, the data would not be checked."""
    return has_steps(plan, FAILS | CHECKS)


def _loop(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    plan = options["plan"]
    in_turn, checked = has_steps(plan, FAILS), has_steps(plan, CHECKS)
    return loop(names, options, step, "loop_in_turn" if in_turn else "checked_loop" if checked else "loop")


EXACT_LINES = {"exact_sum": "exact_sum({0}, {at}, {keep})", "exact_cumsum": "exact_cumsum({0}, {at})"}
LINES: dict[str, Any] = {
    **COMMON,
    **functions("jnp.", *UNARY),
    **{name: f"jnp.{name}({{0}}, {{1}})" for name in ("maximum", "minimum", "logaddexp", "matmul", "vecdot")},
    **{name: _write_reduction(name) for name in ("sum", "prod", "max", "min", "any", "all", "mean")},
    "where": "jnp.where({0}, {1}, {2})", "erf": "jax.scipy.special.erf({0})", "dot": "jnp.matmul({0}, {1})", "multiply_transposed": lambda names, options, step: f"multiply_transposed({', '.join(names)})",
    "cast": lambda names, options, step: f"{names[0]}.astype({_dtype(options['to'])})",
    "cumsum": "jnp.cumsum({0}, {at})", "cumprod": "jnp.cumprod({0}, {at})", "sort": "jnp.sort({0}, {at})",
    "pick": _write_pick, "reshape": "{0}.reshape({sizes})", "contiguous": "{0}",
    "broadcast": "jnp.broadcast_to({0}, {sizes})",
    "concat": lambda names, options, step: f"jnp.concatenate({write_tuple(names)}, {options['at']})",
    "stack": lambda names, options, step: f"jnp.stack({write_tuple(names)})",
    "take": "jnp.take({0}, {1}, axis={at})", "scatter_add": write_scatter, "take_along": "jnp.take_along_axis({0}, {1}, axis=-1)",
    "constant": lambda names, options, step: f"jnp.asarray({options['number']!r}, dtype={_dtype(step.value.dtype)})",
    "arange": lambda names, options, step: f"jnp.arange({options['start']}, {options['stop']}, dtype={_dtype(step.value.dtype)})",
    "eye": lambda names, options, step: f"jnp.eye({options['size']}, dtype={_dtype(step.value.dtype)})",
    "numbers": lambda names, options, step: f"jnp.array({numbers(options['numbers'])}, dtype={_dtype(step.value.dtype)}).reshape({options['sizes']})",
    "as_array": lambda names, options, step: f"jnp.asarray({names[0]}, dtype={_dtype(step.value.dtype)})",
    "ascending": "jnp.argsort({0}, axis=-1)", "descending": "descending({0})", "argmax": "jnp.argmax({0}, axis=-1)", "logdet": "jnp.linalg.slogdet({0})[1]",
    "det": "jnp.linalg.det({0})", "inv": "jnp.linalg.inv({0})", "cofactors": "cofactors({0})",
    "trace": "jnp.trace({0}, axis1=-2, axis2=-1)", "lgamma": "jax.scipy.special.gammaln({0})",
    "cholesky": "triangle({0})", "eigvalsh": "jnp.linalg.eigvalsh({0})", "eigh": "eigenvectors({0})", "expm": "jax.scipy.linalg.expm({0})",
    "loop": _loop, "placed": python, **EXACT_LINES,
}  # fmt: skip


class FixedArguments(NumPy):
    """NumPy's table of lines, which JAX functions use for steps that do not depend on the data."""

    def __init__(self):
        super().__init__("jnp")
        self.lines = {**self.lines, **EXACT_LINES}


class Jax(Backend):
    """The table of JAX lines, for functions that are traced before their values are known."""

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self.modules = ("warnings",)

    def default_float(self, xp: Any) -> str:
        return self.canonical(xp, "float64")

    def canonical(self, xp: Any, dtype: str) -> str:
        from jax import dtypes  # type: ignore[import-not-found]

        return str(dtypes.canonicalize_dtype(dtype)) if dtype.endswith("64") else dtype

    def opening(self, plan: Any) -> list[str]:
        whole = [plan.names[input_] for input_ in plan.inputs if getattr(input_, "interval", None) is not None]
        if plan.is_inner or not whole or not has_steps(plan, CHECKS):
            return []
        return [f"    tell_if_traced({', '.join(whole)})"]

    def result(self, plan: Any, result: Any) -> str:
        text = super().result(plan, result)
        return f"jnp.asarray({text})" if getattr(result, "fixed", False) else text


BACKEND = Jax(
    "jax", "import jax\nimport jax.numpy as jnp\nimport numpy as np", LINES, {},
    {"is_concrete": IS_CONCRETE, "index_error": INDEX_ERROR, "positions": POSITIONS, "scatter_add": SCATTER_ADD, "whole_positions": WHOLE_POSITIONS, "covered": COVERED,
     "multiply_transposed": MULTIPLY_TRANSPOSED, **range_checks.JAX, "windows": WINDOWS, "descending": DESCENDING, "cofactors": COFACTORS, "eigenvectors": EIGENVECTORS, "triangle": TRIANGLE, "loop": SCANNED, "checked_loop": CHECKED_LOOP, "tell_if_traced": TELL_IF_TRACED, "passed": PASSED, "in_bits": IN_BITS,
     **exact("passed({0})"), "exact_sum": EXACT_SUM, "exact_cumsum": EXACT_CUMSUM, "exact_cast": EXACT_CAST, "looked_up": LOOKED_UP, "loop_in_turn": IN_TURN},
    numbers=OF_NUMBERS | {"maximum", "minimum", "where"}, prefix="jnp", fixed=FixedArguments(),
)  # fmt: skip
