"""Which library an array belongs to; what needs it is imported on first use."""

from __future__ import annotations

from typing import Any

_NAMESPACES: dict[type, Any] = {}


def namespace(array: Any) -> Any:
    """The functions for an array: NumPy itself, or the Array API namespace of its library."""
    found = _NAMESPACES.get(type(array))
    if found is None:
        found = _NAMESPACES[type(array)] = _namespace(array)
    return found


def _namespace(array: Any) -> Any:
    import numpy as np

    if isinstance(array, (np.ndarray, np.generic)):
        return np
    import array_api_compat

    found = array_api_compat.array_namespace(array)
    if array_api_compat.is_jax_array(array):
        from .jax_trees import register

        register()
    return found


def is_array(value: Any) -> bool:
    """Whether a value is an array of some library, and no plain Python number."""
    return hasattr(value, "dtype") and hasattr(value, "shape")


def library(array: Any) -> str:
    """The name of an array's library."""
    return type(array).__module__.partition(".")[0]
