"""Creation of tensors of random numbers from a shape, as in `nt.random_normal("a[3] b[4]", seed=1)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..core.memory import fit_in_memory
from ..core.seeds import generator_of
from ..core.tensor import NamedTensor, wrap_array
from .creation import make_tensor, sizes_of


def random_normal(
    shape: Any, seed: Any = 0, *, mean: float = 0, std: float = 1, dtype: str | None = None, library: str = "numpy", device: Any = None
) -> NamedTensor:  # fmt: skip
    """Create a tensor of normally distributed random numbers. In each library, equal seeds produce equal numbers.

    Parameters
    ----------
    shape : str or mapping of str to int
        Axis names with their sizes, such as "seq[3] chans[4]".
    seed : int, key of jax.random, or sequence of one of these and integers
        The seed (default: 0). Seeds such as (7, 0) and (7, 1) produce independent numbers. A key produces a JAX array.
    mean, std : float
        The mean and the standard deviation (default: 0 and 1).
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
        If the shape is invalid (310, 317), the tensor does not fit in memory (404), or the library is not installed (408).

    Examples
    --------
    >>> random_normal("seq[1000]", seed=1).std(axis="seq").item() > 0.9
    True
    """
    sizes = sizes_of(shape)
    return draw_tensor(partial(generator_of(seed).normal, mean, std), sizes, dtype, library, device)


def random_uniform(
    shape: Any, seed: Any = 0, *, low: float = 0, high: float = 1, dtype: str | None = None, library: str = "numpy", device: Any = None
) -> NamedTensor:  # fmt: skip
    """Create a tensor of uniformly distributed random numbers. In each library, equal seeds produce equal numbers.

    Parameters
    ----------
    shape : str or mapping of str to int
        Axis names with their sizes, such as "seq[3] chans[4]".
    seed : int, key of jax.random, or sequence of one of these and integers
        The seed (default: 0). Seeds such as (7, 0) and (7, 1) produce independent numbers. A key produces a JAX array.
    low, high : float
        The bounds of the numbers, excluding `high` (default: 0 and 1).
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
        If the shape is invalid (310, 317), the tensor does not fit in memory (404), or the library is not installed (408).

    Examples
    --------
    >>> random_uniform("seq[5]", seed=1).sizes
    {'seq': 5}
    """
    sizes = sizes_of(shape)
    return draw_tensor(partial(generator_of(seed).uniform, low, high), sizes, dtype, library, device)


def draw_tensor(
    draw: Callable[..., Any], sizes: Mapping[str, int], dtype: Any, library: str, device: Any
) -> NamedTensor:
    """Return random numbers as a tensor. If they come from a JAX key, they remain in a JAX array."""
    with fit_in_memory(sizes):
        numbers = draw(tuple(sizes.values()))
    if type(numbers).__module__.partition(".")[0] in ("numpy", "builtins"):
        return make_tensor(lambda *shape: np.asarray(numbers), sizes, dtype, library, device)
    result = wrap_array(numbers, tuple(sizes))
    return result if dtype is None else result.astype(dtype)  # type: ignore[attr-defined]
