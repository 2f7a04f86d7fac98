"""The registry of backends, by name and by the namespace of arrays; a file each has their lines."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from grammar.cache import Cache
from grammar.locks import LOADING, all_or_none

from ..planning.target import Target
from .source import Backend

NAMES = ("numpy", "torch", "jax", "standard")


@lru_cache(maxsize=len(NAMES))
def backend(name: str) -> Backend:
    """A backend by its name."""
    with LOADING, all_or_none():
        return import_module(f"..{name}", __name__).BACKEND


def backend_of(namespace: str) -> Backend:
    """The backend of the arrays of a namespace."""
    if namespace in ("numpy", "array_api_compat.numpy"):
        return backend("numpy")
    if namespace.endswith("torch"):
        return backend("torch")
    return backend("jax" if namespace.startswith("jax") else "standard")


_TARGETS: Cache[Any, Target] = Cache("libraries of arrays", 64)


def target_of(xp: Any) -> Target:
    """The target of arrays whose namespace is `xp`."""
    return _TARGETS.get_or_build(xp, lambda: Target(backend_of(xp.__name__), xp))
