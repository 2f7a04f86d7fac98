"""The readers, by the notation that they read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import patterns  # noqa: F401 — registers its calls
from .algebra import Algebra
from .code import Code
from .einsum import Letters

READERS: dict[str, Callable[..., Any]] = {
    "matrices": Algebra,
    "indices": Algebra,
    "einsum": Letters,
    "einops": lambda source, shapes, choose: Letters(source, shapes, choose, "einops"),
    "numpy": Code,
    "torch": lambda source, shapes, choose: Code(source, shapes, choose, "torch"),
}
