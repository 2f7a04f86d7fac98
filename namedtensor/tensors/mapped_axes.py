"""Names of the axes that `jax.vmap` and `jax.lax.scan` map over.

Inside the mapped function, a tensor lacks the mapped axis. The results have it again.

    jax.vmap    accepts named tensors, and the mapped axis by position or by name, as in in_axes="batch"
    lax.scan    flattens a tree, and rebuilds it with slices along the first axis

This module records the name of the mapped axis for each trace. If the tensors have different names for this axis, or no
name, the layout of the result is `UnnamedAxes`, and any use of the result raises an error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, ref

from grammar.errors import NotationError

from ..core.arrays import UnnamedAxes
from ..core.tensor import NamedTensor, wrap_array, wrap_layout

_MAPPED: WeakKeyDictionary[Any, tuple[str, ...]] = WeakKeyDictionary()  # per trace, the names of the mapped axis


class MappedNames(tuple[str, ...]):
    """The axis names of a tensor in a JAX tree. Comparisons ignore the axis that a trace maps over.

    After the trace `within` ends, JAX may add a leading axis to the array. `added` contains the names of this axis.
    """

    added: tuple[str, ...] = ()
    within: ref[Any] | None = None


def names_for_tree(tensor: NamedTensor) -> tuple[str, ...]:
    """Return the axis names that JAX stores for a tensor, with the axis that the current trace maps over, if any."""
    layout = tensor.layout
    names = layout.names if type(layout) is UnnamedAxes else layout.axes
    if not _MAPPED or (trace := current_trace()) is None or trace not in _MAPPED:
        return names
    within = MappedNames(names)
    within.added, within.within = _MAPPED[trace], ref(trace)
    return within


def current_trace() -> Any:
    """Return the current JAX trace, or None if this version of JAX does not provide it."""
    try:
        from jax.extend.core import get_opaque_trace_state  # type: ignore[import-not-found]

        return get_opaque_trace_state()._trace_ref()
    except (ImportError, AttributeError):
        return None


def note(trace: Any, name: str) -> None:
    """Record that a trace maps over an axis with this name."""
    noted = _MAPPED.get(trace, ())
    if name not in noted:
        _MAPPED[trace] = (*noted, name)


# --------------------------------------------------------------------------------------------------------------- scan
def is_scanned(leaf: Any) -> bool:
    """Return whether an array is an input of the function that JAX is tracing, rather than a computed value."""
    trace = getattr(leaf, "_trace", None)
    return trace is not None and getattr(leaf, "parent", leaf) is None and trace is current_trace()


def name_slice(leaf: Any, names: tuple[str, ...]) -> NamedTensor:
    """Return a slice as a tensor without the first axis in `names`. Record that its trace maps over that axis."""
    note(leaf._trace, names[0])
    return wrap_array(leaf, names[1:])


def name_stacked(leaf: Any, names: tuple[str, ...]) -> NamedTensor | None:
    """Return a stacked array as a tensor with the mapped axis first.

    Return None if no trace mapped over an axis of the array, or if that trace has not ended.
    """
    if not isinstance(names, MappedNames) or names.within is None or names.within() is current_trace():
        return None
    if len(names.added) != 1 or names.added[0] in names:
        return name_mismatched(leaf, tuple(names), make_unnamed_axis_error(names, names.added, "scan"))
    return wrap_array(leaf, (*names.added, *names))


# --------------------------------------------------------------------------------------------------------------- vmap
class MappedSizes(tuple[int, ...]):
    """The sizes of a tensor, indexed by position or by axis name, as `jax.vmap` requires."""

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
    """Return the sizes of a tensor if JAX is the caller of `np.shape`, or None if another package is."""
    if not sys._getframe(2).f_globals.get("__name__", "").startswith("jax."):
        return None
    layout = tensor.layout
    if isinstance(layout, UnnamedAxes):
        return MappedSizes(layout.array_shape)
    sizes = MappedSizes(layout.extent)
    sizes.names = layout.axes
    return sizes


def register_vmap() -> None:
    """Register named tensors with `jax.vmap`, so that axis names can be used in `in_axes` and `out_axes`."""
    try:
        from jax.interpreters.batching import register_vmappable  # type: ignore[import-not-found]
    except ImportError:  # Without registration, vmap flattens tensors, and its results are `UnnamedAxes`.
        return
    register_vmappable(NamedTensor, str, int, one_element, whole_result, None)


def one_element(mapped: Callable[..., Any], index: Any, tensor: NamedTensor, spec: Any) -> NamedTensor:
    """Return an argument of a mapped function for one element along the axis that `in_axes` specifies."""
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
    """Return whether a tensor contains an empty JAX tree, such as None, in place of an array."""
    return tensor._array is None or (isinstance(tensor._array, tuple) and not tensor._array)


def whole_result(mapped: Callable[..., Any], size: int, tensor: NamedTensor, spec: Any) -> NamedTensor:
    """Combine the results of a mapped function for all elements into one tensor.

    The mapped axis is at the position in `out_axes`, or first if `out_axes` names it.
    """
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
    """Return a tensor that raises an error on use, because the shape of its array does not match the names."""
    shape = tuple(leaf.shape)
    return wrap_layout(
        leaf, UnnamedAxes(names, shape, getattr(leaf, "dtype", None), problem or misfit_error(names, shape))
    )


def nest_jacobian(leaf: NamedTensor, names: tuple[str, ...]) -> NamedTensor:
    """Return a tensor that contains a tensor in place of an array. JAX builds such a tensor for a Jacobian."""
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
    """Return the error for a result of `by` whose added axis has no single name or a name that is already in use."""
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
