"""The DLPack protocol, which shares arrays with other libraries without a copy."""

from __future__ import annotations

from typing import Any

from grammar.errors import NotationError

from ..core.arrays import library_named
from ..core.kinds import wrong
from ..core.tensor import NamedTensor, tensor
from .elements import alone


def one_array(self: NamedTensor, what: str) -> Any:
    """Return the array of a tensor that has at most one axis. Raise NotationError if it has more."""
    if len(self.layout.axes) > 1:
        raise NotationError(
            318,
            f"{what} of {self.shape} needs an axis order",
            hint=f'pass the array: A.to_array("{" ".join(self.layout.axes)}")',
        )
    return self.array


def __dlpack__(self: NamedTensor, **options: Any) -> Any:
    return one_array(self, "DLPack").__dlpack__(**options)


def __dlpack_device__(self: NamedTensor) -> Any:
    return self.array.__dlpack_device__()


@alone
def from_dlpack(data: Any, axes: Any = (), *, library: str = "numpy") -> NamedTensor:
    """Convert an array with a `__dlpack__` method to a named tensor, which shares the array's memory if possible.

    Parameters
    ----------
    data : array
        The array.
    axes : str or iterable of str
        The axis names, in the order of the array's dimensions.
    library : {"numpy", "torch", "jax"}
        The library of the result (default: "numpy").

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the array has no `__dlpack__` (208), the library cannot accept the array (405), or the number of names is
        wrong (316).

    Examples
    --------
    >>> import numpy as np
    >>> from_dlpack(np.array([3, 1]), "a")
    NamedTensor([3, 1], "a")
    """
    if not hasattr(data, "__dlpack__"):
        raise wrong(data, "the argument of from_dlpack", "an array with __dlpack__", 'write nt.tensor(data, "a b")')
    xp = library_named(library)
    try:
        array = xp.from_dlpack(data)
    except (BufferError, RuntimeError, TypeError, ValueError) as problem:
        raise NotationError(
            405, f"{library} cannot take this array: {problem}", hint="copy it to the CPU first"
        ) from None
    return tensor(array, axes)
