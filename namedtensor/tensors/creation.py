"""Creation of tensors from a shape, as in `nt.zeros("a[3] b[4]")`, or like another tensor, as in `nt.zeros_like(X)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from grammar.errors import NotationError

from ..core.arrays import place_array
from ..core.axes import check_axis
from ..core.kinds import to_count, wrong
from ..core.labels import labels_of, make_labeled_layout
from ..core.memory import bytes_per_element, fit_in_memory
from ..core.tensor import NamedTensor, wrap_array, wrap_layout
from ..operators import REGISTRY
from .functions import axes_of, new_sizes

SHAPE_HINT = 'write "seq[3] chans[4]", or {"seq": 3, "chans": 4}'
PART = re.compile(r"(?P<axis>[^\s,×\[\]]+)(?:\[(?P<size>[^\]]*)\])?")


def sizes_of(shape: Any) -> dict[str, int]:
    """Return the size of each axis in a shape, given as a string or mapping. Raise NotationError if it is invalid."""
    if isinstance(shape, Mapping):
        return {check_axis(axis): to_count(size, f"the size of {axis}", SHAPE_HINT) for axis, size in shape.items()}
    if not isinstance(shape, str):
        raise wrong(shape, "a shape", "a text such as seq[3] chans[4]", SHAPE_HINT)
    text = re.fullmatch(r"\s*(?:[ℝR]\^\{)?([^{}]*)\}?\s*", shape)
    rest = PART.sub("", text[1] if text else shape).strip(" ,×")
    if text is None or rest:
        raise NotationError(317, f"invalid shape {shape!r}", hint=SHAPE_HINT)
    sizes: dict[str, int] = {}
    for match in PART.finditer(text[1]):
        axis, size = check_axis(match["axis"]), match["size"]
        if size is None or not size.strip().isdecimal():
            problem = "no size" if size is None else f"the size {size}"
            raise NotationError(310, f"axis {axis} of the shape has {problem}", hint=f"write {axis}[4]")
        if axis in sizes:
            raise NotationError(303, f"axis {axis} occurs twice", hint="name each axis once")
        sizes[axis] = int(size)
    return sizes


def make_tensor(
    make: Callable[..., Any], sizes: Mapping[str, int], dtype: Any, library: str, device: Any
) -> NamedTensor:
    """Create a tensor from the NumPy array that `make` returns for the axis sizes."""
    with fit_in_memory(sizes):
        return wrap_array(place_array(make(*sizes.values()), library, dtype, device), tuple(sizes))


def check_number(value: Any, what: str, hint: str = 'write full("a[3]", 0.5)') -> None:
    if not isinstance(value, (bool, int, float, complex, np.number)):
        raise wrong(value, what, "a number", hint)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise NotationError(405, f"{what} exceeds 64 bits", hint="pass it as a float")


def zeros(shape: Any, dtype: str | None = None, *, library: str = "numpy", device: Any = None) -> NamedTensor:
    """Create a tensor of zeros.

    Parameters
    ----------
    shape : str or mapping of str to int
        Axis names with their sizes, such as "seq[3] chans[4]".
    dtype : str, optional
        The dtype of the elements (default: "float64", or "float32" in JAX without 64-bit types).
    library : {"numpy", "torch", "jax"}
        The library of the array (default: "numpy").
    device : optional
        The device of the array (default: the library's default).

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the shape is invalid (208, 303, 310, 317), the tensor does not fit in memory (404), the dtype or device is not
        supported (405), or the library is not installed (408) or unknown (409).

    Examples
    --------
    >>> zeros("a[2] b[3]")
    NamedTensor([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], "a b")
    """
    return full(shape, 0.0, dtype, library=library, device=device)


def ones(
    shape: Any = None, dtype: str | None = None, *, library: str = "numpy", device: Any = None, axis: Any = None, size: Any = None,
    sizes: Mapping[str, int] | None = None,
) -> NamedTensor:  # fmt: skip
    """Create a tensor of ones.

    Parameters
    ----------
    shape : str or mapping of str to int
        Axis names with their sizes, such as "seq[3] chans[4]".
    dtype : str, optional
        The dtype of the elements (default: "float64", or "float32" in JAX without 64-bit types).
    library : {"numpy", "torch", "jax"}
        The library of the array (default: "numpy").
    device : optional
        The device of the array (default: the library's default).
    axis : str or iterable of str, optional
        Axis names, instead of a shape.
    size : int, optional
        The size of each axis in `axis`.
    sizes : mapping of str to int, optional
        The sizes of the axes in `axis`, by name.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the shape is invalid (208, 303, 310, 317), the tensor does not fit in memory (404), the dtype or device is not
        supported (405), or the library is not installed (408) or unknown (409).

    Examples
    --------
    >>> ones("a[3]")
    NamedTensor([1.0, 1.0, 1.0], "a")
    """
    if shape is None and axis is not None:
        shape = {name: new_sizes(REGISTRY["ones"], (name,), size, sizes or {})[name] for name in axes_of(axis)}
    return full(shape, 1.0, dtype, library=library, device=device)


def full(
    shape: Any, value: float, dtype: str | None = None, *, library: str = "numpy", device: Any = None
) -> NamedTensor:
    """Create a tensor whose elements all equal one number.

    Parameters
    ----------
    shape : str or mapping of str to int
        Axis names with their sizes, such as "seq[3] chans[4]".
    value : number
        The value of each element.
    dtype : str, optional
        The dtype of the elements (default: the number's dtype).
    library : {"numpy", "torch", "jax"}
        The library of the array (default: "numpy").
    device : optional
        The device of the array (default: the library's default).

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the shape is invalid (208, 303, 310, 317), `value` is not a number (208), the tensor does not fit in memory
        (404), the dtype or device is not supported (405), or the library is not installed (408) or unknown (409).

    Examples
    --------
    >>> full("a[2]", 7)
    NamedTensor([7, 7], "a")
    """
    sizes = sizes_of(shape)
    check_number(value, "the value of full")
    return make_tensor(lambda *shape: np.full(shape, value), sizes, dtype, library, device)


def arange(
    shape: Any, start: float = 0, step: float = 1, dtype: str | None = None, *, library: str = "numpy", device: Any = None
) -> NamedTensor:  # fmt: skip
    """Create a tensor of evenly spaced numbers along one axis.

    Parameters
    ----------
    shape : str or mapping of str to int
        One axis with its size, such as "seq[4]".
    start, step : number
        The first element, and the difference between consecutive elements (default: 0 and 1).
    dtype : str, optional
        The dtype of the elements (default: the dtype of the numbers).
    library : {"numpy", "torch", "jax"}
        The library of the array (default: "numpy").
    device : optional
        The device of the array (default: the library's default).

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the shape is not one axis (316), the tensor does not fit in memory (404), or the library is not installed (408).

    Examples
    --------
    >>> arange("seq[4]")
    NamedTensor([0, 1, 2, 3], "seq")
    """
    sizes = sizes_of(shape)
    if len(sizes) != 1:
        raise NotationError(316, f"arange expects one axis, got {len(sizes)}", hint='write arange("seq[4]")')
    for value, what in ((start, "the start of arange"), (step, "the step of arange")):
        check_number(value, what, 'write arange("seq[4]", start=1)')
    return make_tensor(lambda size: start + step * np.arange(size), sizes, dtype, library, device)


def eye(shape: Any, dtype: str | None = None, *, library: str = "numpy", device: Any = None) -> NamedTensor:
    """Create a matrix with ones on the diagonal and zeros elsewhere.

    Parameters
    ----------
    shape : str or mapping of str to int
        Two axes with their sizes, such as "row[3] column[3]".
    dtype : str, optional
        The dtype of the elements (default: "float64").
    library : {"numpy", "torch", "jax"}
        The library of the array (default: "numpy").
    device : optional
        The device of the array (default: the library's default).

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the shape does not have two axes (316), the tensor does not fit in memory (404), or the library is not installed
        (408).

    Examples
    --------
    >>> eye("row[2] column[2]")
    NamedTensor([[1.0, 0.0], [0.0, 1.0]], "row column")
    """
    sizes = sizes_of(shape)
    if len(sizes) != 2:
        raise NotationError(316, f"eye expects two axes, got {len(sizes)}", hint='write eye("row[3] column[3]")')
    return make_tensor(np.eye, sizes, dtype, library, device)


# ----------------------------------------------------------------------------------------- tensors like a given tensor
def full_like(X: NamedTensor, value: float) -> NamedTensor:
    """Create a tensor like `X` whose elements all equal one number.

    The result has the axes, labels, dtype, library and device of `X`.

    Parameters
    ----------
    X : NamedTensor
        The tensor to imitate.
    value : number
        The value of each element.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If `X` is not a named tensor or `value` is not a number (208).

    Examples
    --------
    >>> import namedtensor as nt
    >>> full_like(nt.tensor([1.5, 2.5], "a"), 7)
    NamedTensor([7.0, 7.0], "a")
    """
    if not isinstance(X, NamedTensor):
        raise wrong(X, "the tensor of full_like", "a named tensor", 'write nt.full("a[3]", 0.5)')
    check_number(value, "the value of full_like")
    layout = X.layout
    with fit_in_memory(layout.sizes, bytes_per_element(layout.dtype)):
        return wrap_layout(layout.xp.full_like(X.array, value), make_labeled_layout(layout, labels_of(layout)))


def zeros_like(X: NamedTensor) -> NamedTensor:
    """Create a tensor of zeros with the axes, labels, dtype, library and device of `X`.

    Parameters
    ----------
    X : NamedTensor
        The tensor to imitate.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If `X` is not a named tensor (208).

    Examples
    --------
    >>> import namedtensor as nt
    >>> zeros_like(nt.tensor([1, 2], "a"))
    NamedTensor([0, 0], "a")
    """
    return full_like(X, 0)


def ones_like(X: NamedTensor) -> NamedTensor:
    """Create a tensor of ones with the axes, labels, dtype, library and device of `X`.

    Parameters
    ----------
    X : NamedTensor
        The tensor to imitate.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If `X` is not a named tensor (208).

    Examples
    --------
    >>> import namedtensor as nt
    >>> ones_like(nt.tensor([1, 2], "a"))
    NamedTensor([1, 1], "a")
    """
    return full_like(X, 1)
