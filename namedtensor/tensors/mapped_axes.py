"""Axes that `jax.vmap` and `jax.lax.scan` map over: a tensor loses such an axis by name, and a result regains it.

    jax.vmap    takes named tensors as they are, and specifies which axis it maps: by position, or by name, in_axes="batch"
    lax.scan    takes a tree apart, and makes it again of slices along the first axis

The name of the axis is noted for the trace that maps over it. Where two tensors have two names for it, or none has one, the
result is `UnnamedAxes`, an error for anyone who uses it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, ref

from grammar.errors import NotationError

from ..core.arrays import UnnamedAxes
from ..core.tensor import NamedTensor, wrap_array, wrap_layout

_MAPPED: WeakKeyDictionary[Any, tuple[str, ...]] = WeakKeyDictionary()  # of traces, the names of the axis they map over


class MappedNames(tuple[str, ...]):
    """The axes of a tensor in a tree of JAX; equal to others of the same axes, whatever axis is mapped over.

    `added` are the names of the axis that JAX may put in front of this tensor after the trace `within` has ended.
    """

    added: tuple[str, ...] = ()
    within: ref[Any] | None = None


def names_for_tree(tensor: NamedTensor) -> tuple[str, ...]:
    """Return the names of a tensor that JAX takes apart, with the axis that the current trace maps over."""
    layout = tensor.layout
    names = layout.names if type(layout) is UnnamedAxes else layout.axes
    if not _MAPPED or (trace := current_trace()) is None or trace not in _MAPPED:
        return names
    within = MappedNames(names)
    within.added, within.within = _MAPPED[trace], ref(trace)
    return within


def current_trace() -> Any:
    """Return the current trace of JAX, or None if JAX does not tell."""
    try:
        from jax.extend.core import get_opaque_trace_state  # type: ignore[import-not-found]

        return get_opaque_trace_state()._trace_ref()
    except (ImportError, AttributeError):
        return None


def note(trace: Any, name: str) -> None:
    """Note that a trace maps over an axis of this name."""
    noted = _MAPPED.get(trace, ())
    if name not in noted:
        _MAPPED[trace] = (*noted, name)


# --------------------------------------------------------------------------------------------------------------- scan
def is_scanned(leaf: Any) -> bool:
    """Return whether an array is an input of the function that JAX is tracing, and not made by it."""
    trace = getattr(leaf, "_trace", None)
    return trace is not None and getattr(leaf, "parent", leaf) is None and trace is current_trace()


def name_slice(leaf: Any, names: tuple[str, ...]) -> NamedTensor:
    """Return the tensor of a slice along the first of these axes, which a trace maps over."""
    note(leaf._trace, names[0])
    return wrap_array(leaf, names[1:])


def name_stacked(leaf: Any, names: tuple[str, ...]) -> NamedTensor | None:
    """Return the tensor of an array with an extra leading axis; None if that axis was not mapped over."""
    if not isinstance(names, MappedNames) or names.within is None or names.within() is current_trace():
        return None
    if len(names.added) != 1 or names.added[0] in names:
        return name_mismatched(leaf, tuple(names), make_unnamed_axis_error(names, names.added, "scan"))
    return wrap_array(leaf, (*names.added, *names))


# --------------------------------------------------------------------------------------------------------------- vmap
class MappedSizes(tuple[int, ...]):
    """The sizes of a tensor as `jax.vmap` asks for them: by position, and by name."""

    names: tuple[str, ...] = ()

    def __getitem__(self, axis: Any) -> Any:
        if isinstance(axis, str):  # an IndexError is JAX's sign that this argument is not mapped over
            return super().__getitem__(self.names.index(axis) if axis in self.names else len(self))
        is_named = len(self) == len(self.names)
        if is_named and isinstance(axis, int) and not -len(self) <= axis < len(self):
            raise NotationError(
                316, f"in_axes={axis} is given for a tensor with {list_names(self.names)}",
                hint='name the axis: in_axes="batch"; None is for a tensor that is not mapped over',
            )  # fmt: skip
        return super().__getitem__(axis)


def sizes_for_jax(tensor: NamedTensor) -> MappedSizes | None:
    """Return the shape that np.shape gives to JAX, or None for other callers."""
    if not sys._getframe(2).f_globals.get("__name__", "").startswith("jax."):
        return None
    layout = tensor.layout
    if isinstance(layout, UnnamedAxes):
        return MappedSizes(layout.array_shape)
    sizes = MappedSizes(layout.extent)
    sizes.names = layout.axes
    return sizes


def register_vmap() -> None:
    """Have `jax.vmap` take named tensors, and the names of their axes as `in_axes` and `out_axes`."""
    try:
        from jax.interpreters.batching import register_vmappable  # type: ignore[import-not-found]
    except ImportError:  # vmap takes trees apart then, and its results are `UnnamedAxes`
        return
    register_vmappable(NamedTensor, str, int, one_element, whole_result, None)


def one_element(mapped: Callable[..., Any], index: Any, tensor: NamedTensor, spec: Any) -> NamedTensor:
    """Return the tensor inside of a mapped function: without the axis that `in_axes` gives, by position or by name."""
    layout = tensor.layout
    names = layout.names if isinstance(layout, UnnamedAxes) else layout.axes
    if spec is None or is_empty(tensor) or (isinstance(spec, str) and spec not in names):
        return tensor
    if isinstance(layout, UnnamedAxes):
        if spec != 0 or len(layout.array_shape) != len(names) + 1:
            raise layout.problem.replace()
        return wrap_array(mapped(tensor._array, 0), names)
    position = names.index(spec) if isinstance(spec, str) else spec % len(names)
    array = mapped(tensor._array, position)
    note(array._trace, names[position])
    return wrap_array(array, (*names[:position], *names[position + 1 :]))


def is_empty(tensor: NamedTensor) -> bool:
    """Return whether a tree without leaves, such as None, is instead of the array."""
    return tensor._array is None or (isinstance(tensor._array, tuple) and not tensor._array)


def whole_result(mapped: Callable[..., Any], size: int, tensor: NamedTensor, spec: Any) -> NamedTensor:
    """Return a result of a mapped function, with the axis at the position that `out_axes` gives, or first."""
    layout = tensor.layout
    names = layout.names if isinstance(layout, UnnamedAxes) else layout.axes
    if is_empty(tensor):
        return tensor
    if spec is None:
        return wrap_layout(mapped(size, tensor._array, None), layout)
    trace = current_trace()
    added = (spec,) if isinstance(spec, str) else () if trace is None else _MAPPED.get(trace, ())
    position = 0 if isinstance(spec, str) else spec
    array = mapped(size, tensor._array, position)
    if isinstance(array, NamedTensor):
        return nest_jacobian(array, names)
    if isinstance(layout, UnnamedAxes):
        return name_mismatched(array, names, layout.problem)
    if not isinstance(position, int) or len(added) != 1 or added[0] in names:
        return name_mismatched(array, names, make_unnamed_axis_error(names, added, "vmap"))
    position %= len(names) + 1
    return wrap_array(array, (*names[:position], *added, *names[position:]))


# ------------------------------------------------------------------------------------------------------------- errors
def name_mismatched(leaf: Any, names: tuple[str, ...], problem: NotationError | None = None) -> NamedTensor:
    """Return the tensor of an array whose axes differ from its names."""
    shape = tuple(leaf.shape)
    return wrap_layout(
        leaf, UnnamedAxes(names, shape, getattr(leaf, "dtype", None), problem or misfit_error(names, shape))
    )


def nest_jacobian(leaf: NamedTensor, names: tuple[str, ...]) -> NamedTensor:
    """Return the tree that JAX makes of a Jacobian: a tensor in place of another tensor's array."""
    problem = NotationError(
        316, f"JAX put a named tensor instead of an array with {list_names(names)}",
        hint="differentiate by name: nt.derivative gives a Jacobian as one tensor",
    )  # fmt: skip
    return wrap_layout(leaf, UnnamedAxes(names, (), None, problem))


def list_names(names: tuple[str, ...]) -> str:
    return f"the {'axis' if len(names) == 1 else 'axes'} {', '.join(names)}" if names else "no axes"


def misfit_error(names: tuple[str, ...], shape: tuple[Any, ...]) -> NotationError:
    rank = len(shape)
    sizes = f"{rank} {'axis' if rank == 1 else 'axes'} ({' × '.join(map(str, shape))})" if rank else "no axes"
    return NotationError(
        316, f"JAX put an array with {sizes} instead of one with {list_names(names)}",
        hint='name its axes: nt.tensor(A.array, "…")',
    )  # fmt: skip


def make_unnamed_axis_error(names: tuple[str, ...], added: tuple[str, ...], by: str) -> NotationError:
    """Return the error of a result with an added axis whose name is unknown."""
    if len(added) == 1:
        return NotationError(
            303, f"{by} maps over the axis {added[0]}, and its result has the axis {added[0]} already",
            hint="rename one of the two",
        )  # fmt: skip
    many = f", which is {' and '.join(added)} in its arguments" if added else ", which has no name in its arguments"
    hint = (
        'write out_axes="batch"' if by == "vmap" else 'rename its arguments, or name the axes: nt.tensor(A.array, "…")'
    )
    return NotationError(316, f"{by} adds an axis to a tensor with {list_names(tuple(names))}{many}", hint=hint)
