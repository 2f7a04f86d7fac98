"""Renaming and reshaping (paper §3.6): tensors joined along an axis."""

from __future__ import annotations

from ..sizes import known
from .lowering import common, fit
from .record import Operator, register

SECTION = "§3.6 Renaming and reshaping"


def _others(orders, axis):
    rest: dict[str, None] = {}
    for order in orders:
        rest.update(dict.fromkeys(name for name in order or () if name != axis))
    return tuple(rest)


def _lower_concat(xp, orders, axes, options):
    (axis,) = axes
    order = (*_others(orders, axis), axis)
    fits = [fit(xp, own, order) for own in orders]

    def run(*arrays):
        arrays = common(xp, arrays)
        laid = [_full(xp, array if f is None else f(array), len(order)) for f, array in zip(fits, arrays)]
        extents = [max(array.shape[n] for array in laid) for n in range(len(order) - 1)]
        return xp.concat([xp.broadcast_to(a, (*extents, a.shape[-1])) for a in laid], axis=-1)

    return run, order


def _full(xp, array, count):
    """An array with axes of size 1 in front, up to `count` axes."""
    return array if array.ndim == count else xp.reshape(array, ((1,) * (count - array.ndim)) + tuple(array.shape))


def _lower_stack(xp, orders, axes, options):
    (axis,) = axes
    rest = _others(orders, None)
    fits = [fit(xp, own, rest) for own in orders]

    def run(*arrays):
        arrays = common(xp, arrays)
        laid = [array if f is None else f(array) for f, array in zip(fits, arrays)]
        return xp.stack(xp.broadcast_arrays(*laid), axis=-1)

    return run, (*rest, axis)


def _given_concat(shapes, axes, sizes):
    (axis,) = axes
    total = 0
    for shape in shapes:
        total = total + known(shape.get(axis, 0))
    return {axis: total}


def _given_stack(shapes, axes, sizes):
    return {axes[0]: len(shapes)}


register(
    Operator(
        "⊕", "structure", "ax, ax -> ax", _lower_concat, "the two joined along an axis", "np.concatenate((X, Y), axis)",
        SECTION, ("concat",), "concat", r"\oplus", (2, 64), given=_given_concat, python="concat",
    )
)  # fmt: skip
register(
    Operator(
        "stack", "structure", ", -> ax", _lower_stack, "tensors side by side along a new axis", "np.stack((X, Y), axis)",
        SECTION, arity=(1, 64), given=_given_stack,
    )
)  # fmt: skip
