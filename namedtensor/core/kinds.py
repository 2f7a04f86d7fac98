"""Validate the arguments of Python functions, and create the error for a value of the wrong type."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from grammar.errors import NotationError

if TYPE_CHECKING:
    from pathlib import Path


def to_integer(value: Any) -> int | None:
    """Return a whole number as a Python integer, or None for any other value.

    Whole numbers include Python and NumPy integers, floats such as 3.0, and fractions such as 6/2. Arrays and tensors
    without axes count if they contain a whole number. Booleans, ∞, nan and traced values are not whole numbers.

    >>> to_integer(3.0), to_integer(2.5), to_integer(float("inf")), to_integer(True)
    (3, None, None, None)
    """
    if type(value) is int:
        return value
    try:
        value = getattr(value, "array", value)
        number = value if isinstance(value, (int, float, Fraction)) else value.item()
        integer: int = int(number)
        is_whole = not isinstance(number, (bool, complex)) and number == integer
    except Exception:  # The value has several elements, is not a finite number, or is traced.
        return None
    return integer if is_whole else None


def is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def is_sequence(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence)


def is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def wrong(value: Any, what: str, expected: str, hint: str) -> NotationError:
    """Return the error for an argument of the wrong type, with the actual value, the expected type and a hint."""
    text = "nothing" if value is None else repr(value) if isinstance(value, (str, int, float)) else type(value).__name__
    return NotationError(208, f"{what} must be {expected}, got {text}", hint=hint)


def require_mapping(value: Any, what: str, hint: str) -> dict[str, Any]:
    """Return a copy of a mapping with string keys, or {} for None. Raise NotationError for anything else."""
    if value is None:
        return {}
    mapping = cast("Mapping[Any, Any]", value) if isinstance(value, Mapping) else None
    if mapping is None or not all(isinstance(name, str) for name in mapping):
        raise wrong(value, what, "a mapping from names", hint)
    return dict(mapping)


def require_text(value: Any, what: str, hint: str) -> str:
    """Return the value if it is a string. Raise NotationError for any other value."""
    if not isinstance(value, str):
        raise wrong(value, what, "a text", hint)
    return value


def require_names(value: Any, what: str, hint: str) -> tuple[str, ...]:
    """Return one name or several names as a tuple. Raise NotationError for anything else."""
    if isinstance(value, str):
        return (value,)
    items = tuple(cast("Iterable[Any]", value)) if isinstance(value, Iterable) else (None,)
    names = tuple(name for name in items if isinstance(name, str))
    if len(names) != len(items):
        raise wrong(value, what, "a name, or several", hint)
    return names


def require_path(value: Any) -> Path:
    """Convert a string or a path to a Path. Raise NotationError for anything else."""
    if not isinstance(value, (str, os.PathLike)):
        raise wrong(value, "the path of a file", "a text or a path", 'write "model.safetensors"')
    from pathlib import Path

    return Path(cast("str | os.PathLike[str]", value))


def require_number(value: Any, what: str, least: float, hint: str) -> Any:
    """Return the value if it is a real number and at least `least`. Raise NotationError for any other value."""
    if isinstance(value, bool) or not hasattr(value, "__float__") or getattr(value, "shape", ()) or not value >= least:
        raise wrong(value, what, f"a number from {least:g}", hint)
    return value


def to_count(value: Any, what: str, hint: str) -> int:
    """Return a non-negative whole number as a Python integer. Raise NotationError for any other value."""
    integer = to_integer(value)
    if integer is None or integer < 0:
        raise wrong(value, what, "a non-negative integer", hint)
    return integer
