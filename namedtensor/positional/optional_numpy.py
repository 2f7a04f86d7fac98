"""NumPy, which computes the values of array code, or None if it is not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING


class UnsupportedError(Exception):
    """The error for code whose value cannot be computed by its library."""


class UnknownFunctionError(UnsupportedError):
    """The error for a function of a known module that `library_functions` does not list."""


if TYPE_CHECKING:
    import numpy as np
else:
    try:
        import numpy as np
    except ImportError:
        np = None

HAS_VALUES = bool(np)
