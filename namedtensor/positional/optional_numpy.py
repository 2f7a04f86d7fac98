"""NumPy, which computes the values of sources. Where it is not installed, `np` stands for it and has no values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


class Unsupported(Exception):
    """A piece of a source whose own value cannot be computed."""


class MissingNumPy(type):
    """The type of `np` without NumPy: each of its names is the class itself, and a call raises Unsupported."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise Unsupported("NumPy is not installed")


if TYPE_CHECKING:
    import numpy as np
else:
    try:
        import numpy as np
    except ImportError:
        np = MissingNumPy("np", (), {})

HAS_VALUES = not isinstance(np, MissingNumPy)
