"""Array libraries: the namespace, dtype and device of an array; each library is imported on first use."""

from __future__ import annotations

from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from grammar.cache import Cache
from grammar.errors import NotationError
from grammar.locks import LOADING, all_or_none

from .hooks import seen

_NAMESPACES: Cache[type, Any] = Cache("namespaces of arrays", 256)


def namespace(array: object) -> Any:
    """The namespace of an array's functions: NumPy itself, or the Array API namespace of its library."""
    found = _NAMESPACES.get(type(array))
    return _NAMESPACES.get_or_build(type(array), lambda: _namespace(array)) if found is None else found


def _namespace(array: Any) -> Any:
    """The namespace of an array type that has not been met before."""
    import numpy as np

    if isinstance(array, (np.ndarray, np.generic)):
        return np
    with LOADING, all_or_none():
        import array_api_compat

        found = array_api_compat.array_namespace(array)
    for part in found.__name__.split("."):  # array_api_compat.torch, jax.numpy
        seen(part)
    return found


def wide(xp: Any) -> bool | None:
    """The library's 64-bit setting, `jax_enable_x64` of JAX; None where dtypes always have up to 64 bits."""
    if not xp.__name__.startswith("jax"):
        return None
    import jax

    return bool(getattr(jax.config, "jax_enable_x64"))  # noqa: B009


def at_once(xp: Any) -> Any:
    """A context of eager evaluation: arrays have values in it, also while JAX traces or PyTorch infers.

    What a plan computes beforehand outlives the call that it was planned for.
    """
    parts = xp.__name__.split(".")
    if "jax" in parts:
        import jax  # type: ignore[import-not-found]

        return jax.ensure_compile_time_eval()
    if "torch" in parts:
        import torch  # type: ignore[import-not-found]

        return torch.inference_mode(False)
    return nullcontext()


def is_array(value: Any) -> bool:
    """Whether a value is an array of some library, and no plain Python number."""
    return hasattr(value, "dtype") and hasattr(value, "shape")


def library_of_namespace(name: str) -> str:
    """The name of the library that a namespace of functions belongs to: jax of jax.numpy."""
    return name.removeprefix("array_api_compat.").partition(".")[0]


def library(array: Any) -> str:
    """The name of an array's library."""
    return type(array).__module__.partition(".")[0]


def converted(array: Any, like: Any) -> Any:
    """NumPy's numbers as an array of another's library, dtype and device."""
    xp = namespace(like)
    return xp.asarray(array, dtype=like.dtype, **({"device": like.device} if library(like) == "torch" else {}))


def kind_of(dtype: str) -> str:
    """The kind of a dtype by its name: b, i, u, f or c.

    >>> kind_of("bfloat16")
    'f'
    """
    for start, kind in (("bool", "b"), ("int", "i"), ("uint", "u"), ("complex", "c")):
        if dtype.startswith(start):
            return kind
    return "f"


@lru_cache(maxsize=256, typed=True)
def dtype_name(dtype: Any) -> str:
    """The name of a library's dtype.

    >>> import numpy as np
    >>> dtype_name(np.dtype("float32"))
    'float32'
    """
    return getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]


def placed(array: Any, backend: object, dtype: str | None = None, device: Any = None) -> Any:
    """NumPy's array as one of `backend`: "numpy", "torch" or "jax". Raises NotationError where that is not installed."""
    from importlib import import_module

    if not isinstance(backend, str) or backend not in BACKENDS:
        raise NotationError(409, f"unknown backend {backend!r}", hint=f"available: {', '.join(BACKENDS)}")
    try:
        xp = import_module(BACKENDS[backend])
    except ImportError:
        raise NotationError(408, f"{backend} is not installed", hint=f"pip install '.[{backend}]'") from None
    try:
        if backend == "numpy":
            return array if dtype is None else array.astype(dtype, copy=False)
        if backend == "torch":
            made = xp.from_numpy(array if array.flags.writeable else array.copy())
            return made.to(dtype=None if dtype is None else getattr(xp, dtype), device=device)
        made = xp.asarray(array, dtype=dtype)
        return made if device is None else made.to_device(device)
    except (TypeError, ValueError, AttributeError) as problem:
        what = f"the dtype {dtype!r}" if device is None else f"the dtype {dtype!r} or the device {device!r}"
        raise NotationError(
            405, f"{backend} does not have {what}: {problem}", hint='write "float32" or "float64"'
        ) from None


BACKENDS = {"numpy": "numpy", "torch": "torch", "jax": "jax.numpy"}
HALF = frozenset(("float16", "bfloat16"))  # the dtypes of half precision
