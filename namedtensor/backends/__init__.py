"""The libraries that plans are written for; each is a table from primitives to a line of source text."""

from __future__ import annotations

from functools import cache

from .source import Backend

NAMES = ("numpy", "torch", "jax", "standard")


@cache
def backend(name: str) -> Backend:
    """A backend by its name."""
    from importlib import import_module

    return import_module(f".{name}", __name__).BACKEND


def backend_of(namespace: str) -> Backend:
    """The backend of the arrays of a namespace."""
    if namespace in ("numpy", "array_api_compat.numpy"):
        return backend("numpy")
    if namespace.endswith("torch"):
        return backend("torch")
    return backend("jax" if namespace.startswith("jax") else "standard")


__all__ = ["NAMES", "Backend", "backend", "backend_of"]
