"""Methods that move or convert elements, such as `A.roll(seq=1)`, `A.flip("seq")` and `A.to("torch")`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from grammar.errors import NotationError

from ..core.array_data import concrete
from ..core.arrays import BACKENDS, convert_array, library_of_namespace, place_array
from ..core.axes import names_of
from ..core.kinds import require_mapping, to_count, to_integer
from ..core.labels import Labels, labels_of, make_labeled_layout
from ..core.tensor import NamedTensor, wrap_array, wrap_layout
from .functions import FUNCTIONS
from .reshaping import need_axes


def replace_array(
    self: NamedTensor, array: Any, labels: Mapping[str, Labels], axes: tuple[str, ...] | None = None
) -> NamedTensor:
    """Return a tensor with another array and other labels. Its axes are `axes`, or the tensor's axes if not given."""
    result = wrap_array(array, self.layout.axes if axes is None else axes)
    return wrap_layout(result._array, make_labeled_layout(result.layout, labels)) if labels else result


def alone(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method whose NotationErrors have tracebacks that omit this package."""

    @wraps(method)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except NotationError as problem:
            raise problem.alone() from None

    return run


def need_one(self: NamedTensor, axis: Any, what: str) -> tuple[str, ...]:
    """Return the axis that a method requires, as a tuple. Raise NotationError unless it is one axis of the tensor."""
    axes = names_of(axis)
    if len(axes) != 1:
        raise NotationError(316, f"{what} expects 1 axis, got {len(axes)}", hint=f'name it: A.{what}(axis="seq")')
    need_axes(self.layout, axes, what)
    return axes


# ------------------------------------------------------------------------------------------------- libraries and dtypes
@alone
def to(
    self: NamedTensor, library: str | NamedTensor | None = None, device: Any = None, dtype: str | None = None
) -> NamedTensor:
    """Convert the array to another library, device or dtype.

    Parameters
    ----------
    library : {"numpy", "torch", "jax"} or NamedTensor, optional
        The library (default: the tensor's library). If it is a tensor, use its library, device and dtype.
    device : optional
        The device, such as "cuda" (default: unchanged, or the default of a new library).
    dtype : str, optional
        The dtype of the elements, such as "float32" (default: unchanged).

    Returns
    -------
    NamedTensor
        A tensor with the same elements and labels.

    Raises
    ------
    NotationError
        If the library is unknown (409) or not installed (408), or does not have the dtype or the device (405).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([1.5, 2.5], "a").to("torch").array  # doctest: +SKIP
    tensor([1.5000, 2.5000], dtype=torch.float64)
    """
    if isinstance(library, NamedTensor):
        array = self.array if self.layout.xp is library.layout.xp else concrete(self.array)
        result = replace_array(self, convert_array(array, library.array), labels_of(self.layout))
        return result if device is None and dtype is None else to(result, None, device, dtype)
    current = library_of_namespace(self.layout.xp.__name__)
    if library in (None, current) and current in BACKENDS:
        result = self if dtype is None else astype(self, dtype)
        if device is None or current == "numpy":
            return result
        array = result.array.to(device) if current == "torch" else result.array.to_device(device)
    else:
        array = place_array(concrete(self.array), current if library is None else library, dtype, device)
    return replace_array(self, array, labels_of(self.layout))


@alone
def astype(self: NamedTensor, dtype: Any) -> NamedTensor:
    """Convert the elements to another dtype.

    Parameters
    ----------
    dtype : str or dtype
        The name of the dtype, such as "float32", or a dtype of the array's library.

    Returns
    -------
    NamedTensor
        A tensor with the same labels.

    Raises
    ------
    NotationError
        If the library has no such dtype (405).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([1.5, 2.5], "a").astype("int64")
    NamedTensor([1, 2], "a")
    """
    xp = self.layout.xp
    named = {"float": "float64", "int": "int64"}
    kinds = ((float, "float64"), (int, "int64"), (bool, "bool"), (complex, "complex128"))
    kind = next((name for type_, name in kinds if dtype is type_), dtype)
    try:
        target = getattr(xp, named.get(kind, kind)) if isinstance(kind, str) else kind
        array = xp.astype(self.array, target)
    except (AttributeError, TypeError, ValueError, RuntimeError):
        library = library_of_namespace(xp.__name__)
        raise NotationError(
            405, f"{library} has no dtype {dtype!r}", hint='write "float32", "int64" or "bool"'
        ) from None
    return replace_array(self, array, labels_of(self.layout))


# ----------------------------------------------------------------------------------------------------- along named axes
@alone
def pad(self: NamedTensor, axes: Mapping[str, Any] | None = None, /, *, value: float = 0, **named: Any) -> NamedTensor:
    """Pad axes with elements before the first element and after the last element.

    Parameters
    ----------
    axes : mapping of str to (int, int), optional
        The number of new elements before and after, per axis, for axis names that are not Python identifiers.
    value : number
        The value of the new elements (default: 0).
    **named : (int, int)
        The number of new elements before and after, per axis.

    Returns
    -------
    NamedTensor
        A tensor without labels on the padded axes.

    Raises
    ------
    NotationError
        If an axis is missing (301), or a number is not a non-negative integer (208).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([1, 2], "seq").pad(seq=(1, 2))
    NamedTensor([0, 1, 2, 0, 0], "seq")
    """
    hint = "write pad(seq=(1, 2))"
    given = {**require_mapping(axes, "the argument of pad", hint), **named}
    need_axes(self.layout, given, "pad")
    array, xp = self.array, self.layout.xp
    for axis, widths in given.items():
        if not isinstance(widths, (tuple, list)) or len(widths) != 2:
            raise NotationError(208, f"pad expects two numbers for axis {axis}, got {widths!r}", hint=hint)
        position, shape = self.layout.axes.index(axis), list(array.shape)
        ends = []
        for width in widths:
            shape[position] = to_count(width, f"the padding of {axis}", hint)
            ends.append(_make_filled(array, xp, shape, value))
        array = xp.concat([ends[0], array, ends[1]], axis=position)
    return replace_array(
        self, array, {axis: current for axis, current in labels_of(self.layout).items() if axis not in given}
    )


def _make_filled(array: Any, xp: Any, shape: list[int], value: Any) -> Any:
    """Return an array of this shape filled with `value`, in the dtype and on the device of `array`."""
    device = {"device": array.device} if library_of_namespace(xp.__name__) == "torch" else {}
    return xp.full(tuple(shape), value, dtype=array.dtype, **device)


@alone
def roll(self: NamedTensor, shifts: Mapping[str, int] | None = None, /, **named: int) -> NamedTensor:
    """Shift the elements along axes. Elements that move past the end reenter at the start. Labels do not move.

    Parameters
    ----------
    shifts : mapping of str to int, optional
        The number of positions to shift by, per axis, for axis names that are not Python identifiers.
    **named : int
        The number of positions to shift by, per axis.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or a shift is not an integer (402).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([1, 2, 3], "seq").roll(seq=1)
    NamedTensor([3, 1, 2], "seq")
    """
    given = {**require_mapping(shifts, "the argument of roll", "write roll(seq=1)"), **named}
    need_axes(self.layout, given, "roll")
    labels = self.layout.labels
    for axis, shift in given.items():
        places = to_integer(shift) if hasattr(shift, "__index__") else None
        if places is None:
            raise NotationError(
                402, f"axis {axis} is shifted by {shift!r}, which is not an integer", hint="write roll(seq=1)"
            )
        size = self.layout.sizes[axis]
        self = self[{axis: [(at - places) % size for at in range(size)]}]
    return self.with_labels(dict(labels)) if labels else self


@alone
def flip(self: NamedTensor, axis: Any) -> NamedTensor:
    """Reverse the order of the elements along axes, together with their labels.

    Parameters
    ----------
    axis : str or iterable of str
        The axes to reverse.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([1, 2, 3], "seq").flip("seq")
    NamedTensor([3, 2, 1], "seq")
    """
    axes = names_of(axis)
    need_axes(self.layout, axes, "flip")
    places, labels = tuple(map(self.layout.axes.index, axes)), labels_of(self.layout)
    flipped = {
        name: current.part(slice(None, None, -1)) if name in axes else current for name, current in labels.items()
    }
    return replace_array(self, self.layout.xp.flip(self.array, axis=places), flipped)


@alone
def unstack(self: NamedTensor, axis: str) -> list[NamedTensor]:
    """Return the slices along an axis as a list, as in `for row in A.unstack("seq")`.

    Parameters
    ----------
    axis : str
        The axis to remove.

    Returns
    -------
    list of NamedTensor

    Raises
    ------
    NotationError
        If the axis is missing (301).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([[1, 2], [3, 4]], "seq chans").unstack("seq")
    [NamedTensor([1, 2], "chans"), NamedTensor([3, 4], "chans")]
    """
    (axis,) = need_one(self, axis, "unstack")
    position, rest = self.layout.axes.index(axis), tuple(name for name in self.layout.axes if name != axis)
    before, array = (slice(None),) * position, self.array
    labels = {name: current for name, current in labels_of(self.layout).items() if name != axis}
    return [replace_array(self, array[(*before, at)], labels, rest) for at in range(self.layout.sizes[axis])]


@alone
def where(self: NamedTensor, condition: Any, otherwise: Any = None) -> NamedTensor:
    """Keep the elements that satisfy a condition, and replace the other elements.

    Parameters
    ----------
    condition : NamedTensor
        A tensor of booleans. It may have additional axes.
    otherwise : tensor or number, optional
        The replacement for the other elements (default: nan).

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the condition does not consist of booleans (315), or the axes do not match (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([3, 1, 4], "a")
    >>> A.where(A > 2, 0)
    NamedTensor([3, 0, 4], "a")
    """
    return FUNCTIONS["where"](condition, self, math.nan if otherwise is None else otherwise)
