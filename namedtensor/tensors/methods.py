"""The behavior of NamedTensor: operators, functions, renaming and indexing, and NumPy's protocols.

The class NamedTensor in `core/tensor.py` does not define operators. This module adds them to the class when it is first
imported. For type checkers, `core/behavior.pyi` declares the methods. NamedTensor does not define `__getattr__`, which
would slow down attribute access. For an unknown attribute, Python's own error suggests the closest name. The module
`lazy` adds printed representations, rarely used methods, and hints for method names from other libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from grammar.errors import NotationError

from ..core.kinds import require_mapping
from ..core.tensor import NamedTensor, wrap_array
from . import lazy, numpy_protocol, reshaping
from .eager import infix, make_reflected_method
from .functions import FUNCTIONS, METHODS
from .mapped_axes import sizes_for_jax


# ------------------------------------------------------------------------------- renaming and reshaping (paper §3.6)
def rename(self: NamedTensor, names: Mapping[str, str] | None = None, /, **named: str) -> NamedTensor:
    """Rename several axes at once, as X_{height→rows} does in a formula.

    Parameters
    ----------
    names : mapping of str to str, optional
        The new name per axis, for axis names that are not Python identifiers.
    **named : str
        The new name per axis.

    Returns
    -------
    NamedTensor
        A tensor with the same elements and the new axis names.

    Raises
    ------
    NotationError
        If an axis is missing (301), or two axes would have the same name (312; paper §3.6).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([1, 2], "height").rename(height="rows")
    NamedTensor([1, 2], "rows")
    """
    try:
        if names is not None:
            hint = 'write rename({"a": "b"}), or rename(a="b")'
            named = {**require_mapping(names, "the argument of rename", hint), **named}
        return reshaping.rename(self, named)
    except NotationError as problem:
        raise problem.alone() from None


def merge(
    self: NamedTensor, groups: Mapping[str, str | Iterable[str]] | None = None, /, **named: str | Iterable[str]
) -> NamedTensor:
    """Merge axes into one axis in row-major order, as X_{(height,width)→layer} does in a formula.

    Parameters
    ----------
    groups : mapping of str to (str or iterable of str), optional
        The axes to merge per new axis, for axis names that are not Python identifiers.
    **named : str or iterable of str
        The axes to merge per new axis.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301) or named twice (303), or another axis has the new name (313; paper §3.6).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([[3, 1, 4], [1, 5, 9]], "height width").merge(layer="height width").array.tolist()
    [3, 1, 4, 1, 5, 9]
    """
    try:
        groups = require_mapping(groups, "the argument of merge", 'write merge(layer="height width")')
        return reshaping.merge_axes(self, {**groups, **named})
    except NotationError as problem:
        raise problem.alone() from None


def split(
    self: NamedTensor, axes: Mapping[str, Mapping[str, int | None]] | None = None, /, **named: Mapping[str, int | None]
) -> NamedTensor:
    """Split an axis into several axes, as X_{layer→(heads,key)} does in a formula.

    Parameters
    ----------
    axes : mapping of str to (mapping of str to int or None), optional
        The new axes with their sizes, per axis to split, for axis names that are not Python identifiers. One size may
        be None; the other sizes determine it.
    **named : mapping of str to int or None
        The new axes with their sizes, per axis to split.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), its size is not the product of the new sizes, or another axis has a new name
        (313; paper §3.6).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([1, 2, 3, 4, 5, 6], "layer").split(layer={"heads": 2, "key": None}).shape
    ℝ^{heads[2] × key[3]}
    """
    try:
        axes = require_mapping(axes, "the argument of split", 'write split(layer={"heads": 2, "key": None})')
        return reshaping.split_axes(self, {**axes, **named})
    except NotationError as problem:
        raise problem.alone() from None


selections_of = reshaping.SELECTIONS.get  # a local name is faster


def item_at(self: NamedTensor, index: Mapping[str, Any]) -> NamedTensor:
    """Select elements by axis name, as in A[{"height": 0}] and A[{"seq": slice(0, 2)}]. Positions count from 0."""
    try:
        if type(index) is dict:
            selections = selections_of(self.layout)
            select = None if selections is None else selections.get(tuple(index))
            if select is not None and (elements := select(self, index.values())) is not None:
                return elements
        if not isinstance(index, Mapping):
            axis = index if isinstance(index, str) else next(iter(self.axes), "height")
            message = f"the index along {axis} is missing" if axis == index else "an index needs its axis"
            raise NotationError(318, message, hint=f'write A[{{"{axis}": 0}}], which counts from 0')
        return reshaping.index_elements(self, index)
    except NotationError as problem:
        raise problem.alone() from None


# ------------------------------------------------------------------------------------- Python's and NumPy's protocols
def itself(self: NamedTensor) -> NamedTensor:
    """Return the tensor itself, which is the result of unary plus."""
    return self


def no_matrix_product(self: NamedTensor, other: Any) -> NamedTensor:
    """Raise NotationError with a hint that explains how to write a contraction."""
    raise NotationError(
        316,
        "@ does not state which axis to contract",
        hint='write nt.dot(A, B, axis="key"), or in a formula A ⊙_{key} B',
    )


def array_ufunc(self: NamedTensor, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Apply a NumPy ufunc to tensors, whose axes are aligned by name."""
    return numpy_protocol.ufunc(ufunc, method, inputs, options)


def array_function(self: NamedTensor, function: Any, types: Any, arguments: Any, options: Any) -> Any:
    """Raise NotationError for each NumPy function that is not a ufunc, except for `np.shape` if JAX calls it."""
    if function.__name__ == "shape" and (sizes := sizes_for_jax(self)) is not None:
        return sizes
    raise numpy_protocol.function(function.__name__, self.axes)


def restore_tensor(
    array: Any, axes: tuple[str, ...], labels: Mapping[str, Any] | None = None, origin: Any = None
) -> NamedTensor:
    """Restore a pickled tensor. Unpickling imports this module, which adds the tensor's methods."""
    result = wrap_array(array, axes)
    if labels:
        result = result.with_labels(labels)
    if origin is not None:
        result._origin = origin
    return result


def arguments_for_pickle(self: NamedTensor) -> tuple[Callable[..., NamedTensor], tuple[Any, ...]]:
    """Return the function that restores a pickled tensor, and its arguments."""
    labels, origin = self.layout.labels, getattr(self, "_origin", None)
    if not labels and origin is None:
        return restore_tensor, (self.array, self.axes)
    return restore_tensor, (self.array, self.axes, {axis: axis_labels.values for axis, axis_labels in labels}, origin)


# ------------------------------------------------------------------------------------------------- the added methods
INFIX = {  # operator -> the methods for tensors on its left, and for numbers on its left
    "+": ("__add__", "__radd__"),
    "-": ("__sub__", "__rsub__"),
    "⊙": ("__mul__", "__rmul__"),
    "/": ("__truediv__", "__rtruediv__"),
    "^": ("__pow__", "__rpow__"),
    "∧": ("__and__", "__rand__"),
    "∨": ("__or__", "__ror__"),
}
COMPARISONS = {"=": "__eq__", "≠": "__ne__", "<": "__lt__", "≤": "__le__", ">": "__gt__", "≥": "__ge__"}
WRITTEN: dict[str, Callable[..., Any]] = {
    "__neg__": FUNCTIONS["negative"],
    "__abs__": FUNCTIONS["abs"],
    "__invert__": FUNCTIONS["logical_not"],
    "__pos__": itself,
    "__matmul__": no_matrix_product,
    "__rmatmul__": no_matrix_product,
    "rename": rename,
    "merge": merge,
    "split": split,
    "__getitem__": item_at,
    "__array_ufunc__": array_ufunc,
    "__array_function__": array_function,
    "__reduce__": arguments_for_pickle,
    "__dir__": lazy.public_names,
}


def behavior() -> dict[str, Callable[..., Any]]:
    """Return, by name, the methods that this package adds to NamedTensor."""
    result: dict[str, Callable[..., Any]] = {}
    for sign, (from_left, from_right) in INFIX.items():
        result[from_left], result[from_right] = infix(sign), make_reflected_method(sign)
    for sign, name in COMPARISONS.items():
        result[name] = infix(sign)
    return {**result, **WRITTEN, **METHODS}


for _name, _method in behavior().items():
    setattr(NamedTensor, _name, _method)
