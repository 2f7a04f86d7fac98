"""The JAX backend: pure functions, which `jit`, `grad` and `vmap` take as they are. Constant steps are NumPy's, so none
is ever traced.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from ..planning.whole_numbers import CHECKS
from .lines import COMMON, INDEX_ERROR, LOOP, OF_NUMBERS, UNARY, exact, functions, listed, loop, pick, scattered
from .numpy import NumPy
from .source import Backend, is_done_before


def _dtype(name: str) -> str:
    return f"jnp.{name}"


def _reduced(name: str):
    def line(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
        keep = ", keepdims=True" if options["keep"] else ""
        return f"jnp.{name}({names[0]}, {options['at']}{keep})"

    return line


def _transposed(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    moves = options["moves"]
    return f"{names[0]}.T" if moves == (1, 0) else f"{names[0]}.transpose{moves}"


def _picked(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    """An element at a position that depends on a size is a slice: JAX takes no symbolic dimension as an index."""
    places = [place if place is None or type(place) is int else Part(place) for place in options["places"]]
    of_slices = ["0" if isinstance(place, Part) else ":" for place in places if type(place) is not int]
    text = pick(names, {"places": places}, step)
    return f"{text}[{', '.join(of_slices)}]" if "0" in of_slices else text


class Part(str):
    """The slice of one element at a position."""

    def __new__(cls, place: Any):
        return super().__new__(cls, f"{place}:{place + 1}")


IS_CONCRETE = '''
def is_concrete(array):
    """Whether an array has its numbers, and is not being traced."""
    return not isinstance(array, jax.core.Tracer)
'''
TELL_IF_TRACED = '''
def tell_if_traced(*arrays):
    """Warn where the numbers are not there, so that no overflow is found out."""
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
    """Fail where a dtype cannot hold what the right numbers are."""
    held = np.iinfo(dtype)
    if exact.size and not held.min <= exact.min() <= exact.max() <= held.max:
        raise OverflowError("integer overflow")
'''
EXACT_SUM = '''
def exact_sum(x, axes, keep):
    """Sum integers; overflow is an error."""
    if is_concrete(x):
        in_bits(np.asarray(x).sum(axes, np.int64), x.dtype)
    return jnp.sum(x, axes, keepdims=keep)
'''
EXACT_CUMSUM = '''
def exact_cumsum(x, axis):
    """Cumulative sum of integers; overflow is an error."""
    if is_concrete(x):
        in_bits(np.asarray(x).cumsum(axis, np.int64), x.dtype)
    return jnp.cumsum(x, axis)
'''
EXACT_CAST = '''
def exact_cast(x):
    """Convert unsigned integers to signed ones."""
    return of_64_bits(x.astype(int))
'''
CHECKED_LOOP = '''
def checked_loop(step, states, slices, given, steps, kept, listed=()):
    """A loop over integers: step by step if the values are concrete and can be checked, else traced by JAX."""
    run = loop_in_turn if all(map(is_concrete, jax.tree.leaves((states, slices, given)))) else loop
    return run(step, states, slices, given, steps, kept, listed)
'''
POSITIONS = '''
def positions(indices, size, base):
    """Indices that count from `base`, as positions from 0; each must lie in range."""
    if is_concrete(indices):
        wrong = (indices < base) | (indices >= base + size)
        if wrong.any():
            raise index_error(int(indices[wrong][0]), size, base)
    return indices.astype(int) - base if base else indices
'''
SCATTER_ADD = '''
def scatter_add(x, places, axis, size):
    """Zeros, to whose elements along an axis those of x are added at their places."""
    whole = jnp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    return whole.at[(slice(None),) * axis + (places,)].add(x)
'''
WHOLE_POSITIONS = '''
def whole_positions(indices):
    """Convert indices from floats to integers."""
    if is_concrete(indices):
        wrong = (indices != jnp.floor(indices)) | ~jnp.isfinite(indices)
        if wrong.any():
            raise index_error(float(indices[wrong][0]))
    return indices.astype(int)
'''
COVERED = '''
def covered(condition):
    """Fail where no case holds."""
    if is_concrete(condition) and not condition.all():
        raise ValueError("no case applies to some elements")
'''
WINDOWS = '''
def windows(x, axis, size):
    """Windows along an axis."""
    count = x.shape[axis] - size + 1
    at = np.arange(count)[:, None] + np.arange(size)
    return jnp.moveaxis(jnp.take(x, at, axis=axis), axis + 1, -1)
'''
COFACTORS = '''
def cofactors(x):
    """det x times the transposed inverse; by singular values where there is none, or one that is far from exact."""
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
    """Those of symmetric matrices, as columns, each with its largest number positive, of equals the first."""
    found = jnp.linalg.eigh(x)[1]
    sizes = jax.lax.stop_gradient(jnp.abs(found))
    near = sizes >= sizes.max(-2, keepdims=True, initial=0) * (1 - 1e-5)
    first = near & (near.cumsum(-2) == 1)
    return found * jnp.sign((jax.lax.stop_gradient(found) * first).sum(-2, keepdims=True))
'''
TRIANGLE = '''
def triangle(x):
    """The Cholesky factor; JAX gives nan where there is none."""
    found = jnp.linalg.cholesky(x)
    if is_concrete(x) and not jnp.isfinite(found).all() and jnp.isfinite(x).all():
        raise ValueError("not positive definite")
    return found
'''
DESCENDING = '''
def descending(x):
    """The positions of the largest along the last axis, the largest first; of equals the first comes first."""
    return jnp.argsort(x, axis=-1, descending=True, stable=True)
'''
SCANNED = '''
def loop(step, states, slices, given, steps, kept, listed=()):
    """Run a loop over the slices; return the final states, and the states `kept` after each step."""
    states, slices = tuple(map(jnp.asarray, states)), tuple(slices)
    return looked_up(step, steps, (*kept, *listed), states, slices, tuple(given))


loop = jax.jit(loop, static_argnums=(0, 4, 5, 6))
'''
SCANNED_FROM = 24  # steps with vast tensors of their own: fewer are written out where a derivative is taken
VAST = 2**17  # numbers of a tensor whose copy for a step takes longer than what XLA does for a step that is written out
LARGE = 2**14  # numbers of a tensor that is looked up in its step; smaller ones are put together, which costs little
LOOKED_UP = f'''
def in_steps(once, steps, is_large, states, slices, others=()):
    """A scan of `once`, which is given the states, and of each slice and of the others its own: of tensors in a list the
    large are looked up in their step, the others put together."""
    large = [isinstance(each, list) and is_large(each[0]) for each in slices]
    turns = [*zip(*(each for each, own in zip(slices, large) if own))]
    along = [None if own else jnp.stack(each) if isinstance(each, list) else each for each, own in zip(slices, large)]

    def one(states, at):
        number, elements, further = at
        own = iter(jax.lax.switch(number, [lambda turn=turn: turn for turn in turns]) if turns else ())
        return once(states, [next(own) if each is None else each for each in elements], further)

    def scan(wrapped=lambda each: each):
        return jax.lax.scan(wrapped(one), states, (jnp.arange(steps), along, others), steps)

    return scan


def scanned(step, steps, kept, is_large, states, slices, given, wrapped=lambda each: each):
    """Run a loop as a scan; return the final states, and the states `kept` after each step."""

    def once(states, elements, further):
        states = step(*states, *elements, *given)
        return states, tuple(states[number] for number in kept)

    states, through = in_steps(once, steps, is_large, states, slices)(wrapped)
    return (*states, *through)


def without_copies(one):
    """A step whose derivative keeps no other form of its weights, as matrices say: it reshapes them again."""
    again = ("reshape", "transpose", "convert_element_type", "squeeze", "broadcast_in_dim")
    return jax.checkpoint(one, prevent_cse=False, policy=lambda primitive, *_, **__: primitive.name not in again)


def is_looked_up(each):
    """Whether a tensor in a list is looked up in its step."""
    return each.size >= {LARGE}


def looked_up(step, steps, kept, states, slices, given):
    """The same, by whatever is fastest where no derivative is taken; a GPU would wait to know which tensor it is."""
    waits = jax.default_backend() == "gpu"
    if waits and few(steps, slices):
        return loop_in_turn(jax.jit(step), states, slices, given, steps, kept)
    return scanned(step, steps, kept, lambda each: not waits and is_looked_up(each), states, slices, given)


def differentiated(step, steps, kept, values, changes):
    """The same and its differential."""
    leaves, tree = jax.tree.flatten(values)
    changes = jax.tree.leaves(changes, is_leaf=is_constant)
    if is_worth_steps(steps, *values[:2]):
        return step_by_step(step, steps, kept, values, jax.tree.unflatten(tree, changes))
    places = [place for place, each in enumerate(changes) if not is_constant(each)]

    def of(*moving):
        found = [*leaves]
        for place, each in zip(places, moving):
            found[place] = each
        states, slices, given = jax.tree.unflatten(tree, found)
        if few(steps, slices):
            return loop_in_turn(jax.jit(step), states, slices, given, steps, kept)
        return scanned(step, steps, kept, lambda each: False, states, slices, given, without_copies)

    return jax.jvp(of, [leaves[place] for place in places], [changes[place] for place in places])


def is_worth_steps(steps, states, slices):
    """Whether a differential looks tensors up: those of many steps, whose states have differentials."""
    own = any(isinstance(each, list) and is_looked_up(each[0]) for each in slices) and not few(steps, slices)
    return own and jax.default_backend() != "gpu" and all(jnp.issubdtype(each.dtype, jnp.inexact) for each in states)


def step_by_step(step, steps, kept, values, changes):
    """The same where tensors are looked up: a second scan is given the states before each step, and makes the inside of a
    step again, so that no step keeps a copy of its own tensors. Their differentials alone are put together."""
    states, slices, given = values
    count = len(states)
    found = looked_up(step, steps, (*range(count),), states, slices, given)
    before = [jnp.concatenate([first[None], each[:-1]]) for first, each in zip(states, found[count:])]
    moved = [together(*pair) for pair in zip(slices, changes[1])]
    which = [each is not None for each in moved]
    also = [not is_constant(each) for each in changes[2]]

    def once(changes_of_states, elements, further):
        states, moved = further

        def of(states, moving, more):
            moving, more = iter(moving), iter(more)
            own = [next(moving) if each else element for each, element in zip(which, elements)]
            same = [next(more) if each else value for each, value in zip(also, given)]
            return step(*states, *own, *same)

        own = [element for element, each in zip(elements, which) if each]
        same = [value for value, each in zip(given, also) if each]
        more = [change for change, each in zip(changes[2], also) if each]
        _, after = jax.jvp(of, (states, own, same), (list(changes_of_states), moved, more))
        return after, tuple(after[number] for number in kept)

    first = tuple(jnp.zeros_like(state) if is_constant(each) else each for state, each in zip(states, changes[0]))
    others = before, [each for each in moved if each is not None]
    scan = in_steps(once, steps, is_looked_up, first, slices, others)
    after, through = scan(lambda one: jax.checkpoint(one, prevent_cse=False))
    return (*found[:count], *(found[count + number] for number in kept)), (*after, *through)


def together(own, changes):
    """The differentials of a slice along the axis of the steps; None where it does not change."""
    if not isinstance(own, list):
        return None if is_constant(changes) else changes
    if all(map(is_constant, changes)):
        return None
    return jnp.stack([jnp.zeros_like(each) if is_constant(change) else change for each, change in zip(own, changes)])


def few(steps, slices):
    """Whether so few steps, with vast tensors of their own, are written out: what takes a derivative of them runs faster."""
    return steps < {SCANNED_FROM} and any(isinstance(each, list) and each[0].size >= {VAST} for each in slices)


def is_constant(change):
    """Whether a differential is that of what does not change."""
    return isinstance(change, jax.custom_derivatives.SymbolicZero)


looked_up = jax.custom_jvp(looked_up, nondiff_argnums=(0, 1, 2))
looked_up.defjvp(differentiated, symbolic_zeros=True)
'''
IN_TURN = LOOP.replace("def loop", "def loop_in_turn").replace("stacked", "jnp.stack")
FAILS = frozenset(
    ("positions", "whole_positions", "covered", "inv", "cholesky", "python")
)  # on data, which it must see


def has_steps(plan: Any, primitives: Set[str]) -> bool:
    """Whether a plan, or one within it, has a step of these primitives that is done when it runs."""
    return any(
        step.primitive in primitives or ("plan" in step.options and has_steps(step.options["plan"], primitives))
        for step in plan.steps
        if not is_done_before(step.value)
    )


def must_see(plan: Any) -> bool:
    """Whether a plan fails on data: it cannot be traced."""
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
    **{name: _reduced(name) for name in ("sum", "prod", "max", "min", "any", "all", "mean")},
    "where": "jnp.where({0}, {1}, {2})", "erf": "jax.scipy.special.erf({0})", "dot": "jnp.matmul({0}, {1})",
    "cast": lambda names, options, step: f"{names[0]}.astype({_dtype(options['to'])})",
    "cumsum": "jnp.cumsum({0}, {at})", "cumprod": "jnp.cumprod({0}, {at})", "sort": "jnp.sort({0}, {at})",
    "pick": _picked, "transpose": _transposed, "reshape": "{0}.reshape({sizes})", "contiguous": "{0}",
    "broadcast": "jnp.broadcast_to({0}, {sizes})",
    "concat": lambda names, options, step: f"jnp.concatenate({listed(names)}, {options['at']})",
    "stack": lambda names, options, step: f"jnp.stack({listed(names)})",
    "take": "jnp.take({0}, {1}, axis={at})", "scatter_add": scattered, "take_along": "jnp.take_along_axis({0}, {1}, axis=-1)",
    "constant": lambda names, options, step: f"jnp.asarray({options['number']!r}, dtype={_dtype(step.value.dtype)})",
    "arange": lambda names, options, step: f"jnp.arange({options['start']}, {options['stop']}, dtype={_dtype(step.value.dtype)})",
    "eye": lambda names, options, step: f"jnp.eye({options['size']}, dtype={_dtype(step.value.dtype)})",
    "as_array": lambda names, options, step: f"jnp.asarray({names[0]}, dtype={_dtype(step.value.dtype)})",
    "ascending": "jnp.argsort({0}, axis=-1)", "descending": "descending({0})", "argmax": "jnp.argmax({0}, axis=-1)", "logdet": "jnp.linalg.slogdet({0})[1]",
    "det": "jnp.linalg.det({0})", "inv": "jnp.linalg.inv({0})", "cofactors": "cofactors({0})",
    "trace": "jnp.trace({0}, axis1=-2, axis2=-1)", "lgamma": "jax.scipy.special.gammaln({0})",
    "cholesky": "triangle({0})", "eigvalsh": "jnp.linalg.eigvalsh({0})", "eigh": "eigenvectors({0})", "expm": "jax.scipy.linalg.expm({0})",
    "loop": _loop, **EXACT_LINES,
}  # fmt: skip


class Fixed(NumPy):
    """NumPy's table for what is known before there is data."""

    def __init__(self):
        super().__init__("jnp")
        self.lines = {**self.lines, **EXACT_LINES}


class Jax(Backend):
    """The table of JAX, which records functions whose numbers are not there yet."""

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self.modules = ("warnings",)

    def default_float(self, xp: Any) -> str:
        return self.canonical(xp, "float64")

    def canonical(self, xp: Any, dtype: str) -> str:
        from jax import dtypes  # type: ignore[import-not-found]

        return str(dtypes.canonicalize_dtype(dtype)) if dtype.endswith("64") else dtype

    def opening(self, plan: Any) -> list[str]:
        whole = [plan.names[each] for each in plan.inputs if getattr(each, "interval", None) is not None]
        if plan.is_inner or not whole or not has_steps(plan, CHECKS):
            return []
        return [f"    tell_if_traced({', '.join(whole)})"]

    def result(self, plan: Any, result: Any) -> str:
        text = super().result(plan, result)
        return f"jnp.asarray({text})" if getattr(result, "fixed", False) else text


BACKEND = Jax(
    "jax", "import jax\nimport jax.numpy as jnp\nimport numpy as np", LINES, {},
    {"is_concrete": IS_CONCRETE, "index_error": INDEX_ERROR, "positions": POSITIONS, "scatter_add": SCATTER_ADD, "whole_positions": WHOLE_POSITIONS, "covered": COVERED,
     "windows": WINDOWS, "descending": DESCENDING, "cofactors": COFACTORS, "eigenvectors": EIGENVECTORS, "triangle": TRIANGLE, "loop": SCANNED, "checked_loop": CHECKED_LOOP, "tell_if_traced": TELL_IF_TRACED, "passed": PASSED, "in_bits": IN_BITS,
     **exact("passed({0})"), "exact_sum": EXACT_SUM, "exact_cumsum": EXACT_CUMSUM, "exact_cast": EXACT_CAST, "looked_up": LOOKED_UP, "loop_in_turn": IN_TURN},
    numbers=OF_NUMBERS | {"maximum", "minimum", "where"}, prefix="jnp", fixed=Fixed(),
)  # fmt: skip
