"""Tensor methods that are imported on first use, and hints for method names from other libraries.

Both are descriptors on the class, so NamedTensor does not need `__getattr__`, which would slow down attribute access.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..core.tensor import NamedTensor
from . import eager

MODULES = {  # the module of each method
    "..core.data_frames": ("to_pandas", "to_polars"),
    "..core.interchange": ("to_xarray",),
    ".dlpack": ("__dlpack__", "__dlpack_device__"),
    ".elements": ("astype", "flip", "pad", "roll", "to", "unstack", "where"),
    ".labeled": ("sel", "with_labels"),
    ".latex": ("to_latex",),
    ".selection": ("take", "topk"),
    ".tables": ("__format__", "__repr__", "__str__", "_repr_html_", "to_text"),
}
MODULE = {name: module for module, names in MODULES.items() for name in names}


def load(name: str) -> Callable[..., Any]:
    """Import the module of a method and return its function."""
    return getattr(import_module(MODULE[name], __package__), name)


class LazyMethod:
    """A descriptor that imports a method on first access and replaces itself with the function."""

    def __init__(self, name: str):
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        function = load(self.name)
        setattr(NamedTensor, self.name, function)
        return function if instance is None else getattr(instance, self.name)


class ForeignName:
    """A descriptor for an attribute name of another library. Access raises an error that names the equivalent."""

    def __init__(self, name: str):
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(f"named tensors have no {self.name}: {FOREIGN_NAMES[self.name]}", name=self.name)


FOREIGN_NAMES = {
    # NumPy, PyTorch, JAX
    "T": "the order of axes means nothing; rename them, A.rename(a='b', b='a'), or write A.to_array('b a')",
    "mT": "the order of axes means nothing; rename them, A.rename(a='b', b='a'), or write A.to_array('b a')",
    "transpose": "the order of axes means nothing; write A.to_array('b a') for an array in that order",
    "permute": "the order of axes means nothing; write A.to_array('b a') for an array in that order",
    "swapaxes": "the order of axes means nothing; rename them, A.rename(a='b', b='a')",
    "reshape": "merge and split axes by name, A.merge(c='a b') and A.split(c={'a': 3, 'b': None})",
    "view": "merge and split axes by name, A.merge(c='a b') and A.split(c={'a': 3, 'b': None})",
    "flatten": "merge its axes by name, A.merge(all='a b')",
    "ravel": "merge its axes by name, A.merge(all='a b')",
    "squeeze": "take the only element of an axis by name, A[{'a': 0}]",
    "unsqueeze": "no axis of size 1 is needed, for operations align axes by name",
    "expand": "no axis needs to be repeated, for operations align axes by name",
    "expand_dims": "no axis of size 1 is needed, for operations align axes by name",
    "size": "write A.sizes for the size of each axis, and A.array.size for the number of elements",
    "numel": "write A.sizes for the size of each axis, and A.array.numel() for the number of elements",
    "numpy": "write A.to_numpy('a b'), with the order of the axes",
    "cpu": "write A.to(device='cpu')",
    "cuda": "write A.to(device='cuda')",
    "type": "write A.astype('float32')",
    "copy": "tensors are not changed in place, so none needs a copy",
    "clone": "tensors are not changed in place, so none needs a copy",
    "amax": "write A.max(axis='a')",
    "amin": "write A.min(axis='a')",
    "matmul": "name the axis to contract, A.dot(B, axis='a')",
    "mm": "name the axis to contract, A.dot(B, axis='a')",
    "gather": "index by a tensor of positions, A.take(I, axis='a')",
    "scatter": "define the result by its elements in a formula, Y_{a(I)} = X",
    "masked_fill": "write nt.where(condition, value, A)",
    "repeat": "no axis needs to be repeated, for operations align axes by name",
    "chunk": "take slices by name, A[{'a': slice(0, 2)}]",
    "ptp": "write A.max(axis='a') - A.min(axis='a')",
    # xarray, pandas
    "dims": "write A.axes",
    "coords": "write A.labels, and give them with A.with_labels(a=[…])",
    "isel": "index by position, A[{'a': 0}]",
    "loc": "write A.sel(a='label')",
    "iloc": "index by position, A[{'a': 0}]",
    "values": "write A.to_numpy('a b'), with the order of the axes",
    "data": "write A.array for the array, or A.to_array('a b') for one in that order",
    "stack": "merge axes with A.merge(c='a b'), and join tensors with nt.stack(A, B, axis='new')",
    "assign_coords": "write A.with_labels(a=[…])",
    "dropna": "write A[{'a': keep}], with a list of positions or conditions",
    "groupby": "contract with the groups as one-hot numbers, nt.dot(A, nt.onehot(groups, axis='group', size=3), axis='a')",
    "rolling": "take windows, nt.unroll(A, axis=('a', 'window'), size=3), and reduce over them",
    # einops, haliax
    "rearrange": "merge, split and rename axes by name: A.merge(c='a b'), A.split(c={'a': 3}), A.rename(a='b')",
    "reduce": "name the axis, A.sum(axis='a')",
    "einsum": "name the axes to contract, nt.dot(A, B, axis='a'), or write a formula: nt.evaluate('A ⊙_{a} B', A=A, B=B)",
    "resolve_axis": "write A.sizes['a']",
    "broadcast_axis": "no axis needs to be repeated, for operations align axes by name",
    "flatten_axes": "write A.merge(c='a b')",
    "unflatten_axis": "write A.split(c={'a': 3, 'b': None})",
}  # fmt: skip


def public_names(tensor: NamedTensor) -> list[str]:
    """Return the attribute names of a tensor, without the names that come from other libraries."""
    return [name for name in object.__dir__(tensor) if name not in FOREIGN_NAMES]


def load_labeled() -> Callable[[], Any]:
    module = import_module(".labeled", __package__)
    return lambda: module


eager.labeled.load = load_labeled
for _name in MODULE:
    setattr(NamedTensor, _name, LazyMethod(_name))
for _name in FOREIGN_NAMES:
    setattr(NamedTensor, _name, ForeignName(_name))
