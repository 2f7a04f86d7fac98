"""Conversion of numbers to tensors with the library, dtype and device of a given tensor."""

from __future__ import annotations

from typing import Any

import namedtensor as nt


def tensor_like(tensor: nt.NamedTensor, numbers: Any, *axes: str) -> nt.NamedTensor:
    """Return numbers as a tensor with the library, dtype and device of `tensor`."""
    return nt.tensor(numbers, axes).to(tensor)


def largest(tensor: nt.NamedTensor) -> int:
    return int(nt.max(tensor, axis=tensor.axes) if tensor.axes else tensor)
