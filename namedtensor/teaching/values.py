"""Evaluation of formulas on plain numbers, by NumPy or, without it, by the reference evaluator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from ..programs.plain_values import PlainTensor, value_of


@cache
def has_numpy() -> bool:
    try:
        import_module("numpy")
    except ImportError:
        return False
    return True


def compute_value(text: str, values: Mapping[str, PlainTensor]) -> PlainTensor:
    """Return the value of a formula. Raise NotationError if it is undefined."""
    return evaluate_by_numpy(text, values) if has_numpy() else evaluate_by_definitions(text, values)


def magnitude(text: str, values: Mapping[str, PlainTensor]) -> PlainTensor:
    """Return for each element of a formula's value the magnitude of the numbers that it is computed from."""
    return _magnitude(text, tuple(values.items()))


@lru_cache(maxsize=256)
def _magnitude(text: str, values: tuple[tuple[str, PlainTensor], ...]) -> PlainTensor:
    """Return the result of `magnitude`. It is cached, since many students give the same wrong answer."""
    return (
        evaluate_by_numpy(text, dict(values), True)
        if has_numpy()
        else evaluate_by_definitions(text, dict(values), True)
    )


def evaluate_by_numpy(text: str, values: Mapping[str, PlainTensor], of_magnitude: bool = False) -> PlainTensor:
    """Return the value of a formula, or its magnitudes if `of_magnitude` is true, computed by NumPy."""
    from ..programs.evaluate import evaluate
    from ..programs.term_values import magnitude_of

    tensors = {name: value.to_tensor() for name, value in values.items()}
    return value_of(magnitude_of(text, tensors) if of_magnitude else evaluate(text, tensors, syntax="text"))


def evaluate_by_definitions(text: str, values: Mapping[str, PlainTensor], of_magnitude: bool = False) -> PlainTensor:
    """Return the value of a formula, or its magnitudes if `of_magnitude` is true, from the reference evaluator."""
    from .. import reference

    tensors = {
        name: reference.tensor(nest_numbers(value.numbers, value.extent), value.axes) for name, value in values.items()
    }
    result = (reference.magnitude if of_magnitude else reference.evaluate)(text, tensors)
    axes = tuple(result.shape)
    return PlainTensor(axes, tuple(result.shape.values()), tuple(flat(result.to_list(axes), len(axes))))


def nest_numbers(numbers: Sequence[Any], extent: Sequence[int]) -> Any:
    """Return numbers as nested lists, with the first axis outermost."""
    if not extent:
        return numbers[0]
    step = math.prod(extent[1:])
    return [nest_numbers(numbers[index * step : (index + 1) * step], extent[1:]) for index in range(extent[0])]


def flat(nested: Any, depth: int) -> Iterator[Any]:
    if depth == 0:
        yield nested
        return
    for part in nested:
        yield from flat(part, depth - 1)
