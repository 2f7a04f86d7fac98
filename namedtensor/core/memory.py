"""The memory that a tensor needs, and the error for a tensor that does not fit."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from grammar.errors import NotationError

from .axes import show

ADDRESSABLE_BYTES = 2**63  # PyTorch and JAX count bytes in int64, and JAX aborts the process beyond


@contextmanager
def fit_in_memory(sizes: Mapping[str, Any], itemsize: int = 8) -> Generator[None]:
    """Raise NotationError if a tensor of these sizes does not fit in memory, before or while it is created.

    Symbolic sizes are ignored.
    """
    total = math.prod(size for size in sizes.values() if isinstance(size, int)) * itemsize
    if total < ADDRESSABLE_BYTES:
        try:
            yield
            return
        except (MemoryError, RuntimeError) as problem:
            if not is_out_of_memory(problem):
                raise
    message = f"a tensor of {show(sizes)} needs {bytes_in_words(total)}, more than the available memory"
    raise NotationError(404, message, hint="choose smaller sizes or a smaller dtype") from None


def bytes_per_element(dtype: Any) -> int:
    """Return the bytes of an element of this dtype, or 8 if the library does not state them."""
    return getattr(dtype, "itemsize", 8)


def is_out_of_memory(problem: Exception) -> bool:
    """Return whether NumPy, PyTorch or JAX raised this exception because an array does not fit in memory."""
    text = str(problem).lower()
    return isinstance(problem, MemoryError) or "out of memory" in text or "allocate memory" in text


def bytes_in_words(count: float) -> str:
    """Return a number of bytes in the largest unit that it fills.

    >>> bytes_in_words(3 * 2**29)
    '1.5 GiB'
    """
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if count == int(count) else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.0f} TiB" if count == int(count) else f"{count:.1f} TiB"
