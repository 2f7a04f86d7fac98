"""Conversion between named tensors and plans: inputs become arrays with axes, results named tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar.errors import NotationError

from ..core.arrays import library_of_namespace, namespace
from ..core.seeds import is_key, number_of_key
from ..core.tensor import NamedTensor, is_shape, shape_error
from .eager import NUMBERS, as_operand, made


def as_value(value: Any, name: str) -> Any:
    """A given value as a tensor or a plain number. Raises NotationError for anything else."""
    if is_key(value):
        return made(number_of_key(value), ())
    if value is not None:
        found = as_operand(value)
        if isinstance(found, (NamedTensor, *NUMBERS)):
            return found
    rank = len(getattr(value, "shape", ()))
    if rank:
        what, hint = f"an array of {rank} axes without names", 'pass them: nt.tensor(array, "seq chans")'
    elif isinstance(value, (list, tuple)):
        what, hint = f"a {type(value).__name__}", 'convert it: nt.tensor(data, "seq chans")'
    elif isinstance(value, Mapping):
        what = "a mapping"
        hint = (
            'pass a mapping of values as the second argument: evaluate(formula, {"X": X}), or pass values by name: X=X'
        )
    elif callable(value) and not isinstance(value, type):
        what = type(value).__name__
        hint = (
            f'declare the signature of a Python function, @nt.custom_function("{name} : ℝ → ℝ"), and use it by its name'
        )
    else:
        what = "a string" if isinstance(value, str) else "nothing" if value is None else type(value).__name__
        hint = "pass a named tensor or a number"
    raise NotationError(317, f"{name} must be a named tensor, got {what}", hint=hint)


def namespace_of(arrays: Mapping[str, Any]) -> Any:
    """The namespace that all arrays share; NumPy's where there is none. Raises NotationError where they differ."""
    import numpy as np

    kinds = {(type(array), array.dtype): name for name, array in arrays.items()}
    for name in kinds.values():
        if is_shape(arrays[name]):
            raise shape_error(arrays[name])
    spaces = {(xp := namespace(arrays[name])).__name__: (xp, name) for name in kinds.values()}
    if len(spaces) > 1:
        text = ", ".join(f"{name} is of {library_of_namespace(space)}" for space, (_, name) in sorted(spaces.items()))
        raise NotationError(
            317, f"the tensors come from different libraries: {text}", hint="convert them to one of the two"
        )
    return next(iter(spaces.values()))[0] if spaces else np


def wrap(array: Any, axes: tuple[str, ...], xp: Any):
    """An array with its axes as a named tensor."""
    return made(array if hasattr(array, "dtype") else xp.asarray(array), axes)
