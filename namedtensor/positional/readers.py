"""The readers of the notations, such as matrices, indices, einsum and array code, by the notation's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import patterns  # noqa: F401 — registers its calls
from .algebra import Algebra
from .code import CodeReader
from .einsum import EinsumLetters

READERS: dict[str, Callable[..., Any]] = {
    "matrices": Algebra,
    "indices": Algebra,
    "einsum": EinsumLetters,
    "einops": lambda source, shapes, choose: EinsumLetters(source, shapes, choose, "einops"),
    "numpy": CodeReader,
    "torch": lambda source, shapes, choose: CodeReader(source, shapes, choose, "torch"),
}
