"""Conversion of Python values to tensors or plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar.errors import NotationError

from ..core.hooks import from_table
from ..core.seeds import is_key, number_of_key
from ..core.tensor import NamedTensor
from .eager import NUMBERS, to_operand, wrap_array


def convert_value(value: Any, name: str) -> Any:
    """Convert a value to a tensor or a plain number. Raise NotationError if this is not possible."""
    if is_key(value):
        return wrap_array(number_of_key(value), ())
    if hasattr(value, "to_numpy"):
        table = from_table(value, None)
        if table is not None:
            return table
    if value is not None:
        operand = to_operand(value)
        if isinstance(operand, (NamedTensor, *NUMBERS)):
            return operand
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
