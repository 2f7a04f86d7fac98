"""Quantization of tensors to 8-bit integers Q and a scale s, such that W ≈ Q ⊙ s."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grammar.errors import NotationError

from ..core.arrays import kind_of, library
from ..core.axes import names_of
from ..core.tensor import NamedTensor, wrap_array
from .reshaping import need_axes

MAX_INTEGER = 127  # the integers are −127, …, 127, a symmetric range
PIECE_ELEMENTS = 2**22  # number of elements converted at a time, which keeps temporary arrays small


def quantize(tensor: NamedTensor, axis: str | Iterable[str]) -> tuple[NamedTensor, NamedTensor]:
    """Convert a tensor to 8-bit integers and a scale. Their product equals the tensor up to rounding.

    The scale is the largest absolute value along the axes divided by 127. Rounding therefore changes each element by at
    most half the scale. A contraction over these axes, such as `X ⊙_{in} (Q ⊙ s)`, and an index into the other axes use
    the integers directly. They never store the product Q ⊙ s as an array.

    Parameters
    ----------
    tensor : NamedTensor
        A tensor of floats.
    axis : str or iterable of str
        The axes that share a scale. For a weight, pass the axes that are contracted with the input.

    Returns
    -------
    integers : NamedTensor
        Integers from −127 to 127 with the axes of the tensor. In memory, the axes in `axis` are last.
    scale : NamedTensor
        The scale, which has the remaining axes.

    Raises
    ------
    NotationError
        If an axis is missing (301), or the elements are not finite floats (405).

    Examples
    --------
    >>> import namedtensor as nt
    >>> W = nt.tensor([[0.5, -1.27], [0.2, 0.05]], "out in")
    >>> Q, s = nt.quantize(W, "in")
    >>> Q.tolist("out in")
    [[50, -127], [127, 32]]
    >>> nt.evaluate("X ⊙_{in} (Q ⊙ s)", X=nt.tensor([1.0, 2.0], "in"), Q=Q, s=s).to_array().round(2).tolist()
    [-2.04, 0.3]
    """
    if not isinstance(tensor, NamedTensor):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise NotationError(
            317, f"quantize expects a named tensor, got {type(tensor).__name__}",
            hint='name its axes: nt.tensor(array, "out in")',
        )  # fmt: skip
    axes = names_of(axis)
    need_axes(tensor.layout, axes, "quantize")
    kind = kind_of(str(tensor.layout.dtype).rpartition(".")[2])
    if not axes or kind != "f":
        problem = "needs an axis" if not axes else f"expects floats, got {tensor.layout.dtype}"
        raise NotationError(405, f"quantize {problem}", hint='write nt.quantize(W.astype("float32"), axis="in")')
    scale_axes = tuple(name for name in tensor.axes if name not in axes)
    array = tensor.to_array((*scale_axes, *axes))
    integers, scale = _quantize_in_pieces(tensor.layout.xp, array, len(scale_axes))
    return wrap_array(integers, (*scale_axes, *axes)), wrap_array(scale, scale_axes)


def _quantize_in_pieces(xp: Any, array: Any, rank: int) -> tuple[Any, Any]:
    """Quantize an array in pieces. Return the integers and the scale, which has the first `rank` axes of the array."""
    shape = tuple(array.shape)
    rows = array.shape[0] if rank else 0
    step = max(1, PIECE_ELEMENTS // max(1, array.size // max(rows, 1))) if library(array) == "numpy" else rows
    if step >= rows:
        return _quantize_piece(xp, array, tuple(range(rank, len(shape))))
    integers, scale = xp.empty(shape, dtype=xp.int8), xp.empty(shape[:rank], dtype=array.dtype)
    for start in range(0, rows, step):
        at = slice(start, start + step)
        integers[at], scale[at] = _quantize_piece(xp, array[at], tuple(range(rank, len(shape))))
    return integers, scale


def _quantize_piece(xp: Any, array: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    largest = xp.max(xp.abs(array), axis=axes)
    if not bool(xp.all(xp.isfinite(largest))):
        raise NotationError(
            405, "quantize expects finite elements, got ∞ or nan", hint="replace them before, or keep floats"
        )
    scale = xp.where(largest > 0, largest / MAX_INTEGER, xp.ones_like(largest))
    wide = xp.reshape(scale, (*scale.shape, *(1 for _ in axes)))
    return xp.astype(xp.round(array / wide), xp.int8), scale
