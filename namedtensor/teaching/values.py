"""Evaluation of formulas on plain numbers, by NumPy or, without it, by the reference evaluator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
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


def compute_value(text: str, values: Mapping[str, PlainTensor], of_magnitude: bool = False) -> PlainTensor:
    """Return the value of a formula, or its magnitudes if `of_magnitude` is true, and suppress warnings.

    Raise NotationError if there is no value.
    """
    evaluate = evaluate_by_numpy if has_numpy() else evaluate_by_definitions
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return evaluate(text, values, of_magnitude)


def compute_magnitude(text: str, values: Mapping[str, PlainTensor]) -> PlainTensor:
    """Return, for each element of a formula's value, the magnitude of the numbers in its computation."""
    return _magnitude(text, tuple(values.items()))


@lru_cache(maxsize=256)
def _magnitude(text: str, values: tuple[tuple[str, PlainTensor], ...]) -> PlainTensor:
    """Return the magnitudes of a formula's value. Cache them, since many students give the same wrong answer."""
    return compute_value(text, dict(values), True)


def evaluate_by_numpy(text: str, values: Mapping[str, PlainTensor], of_magnitude: bool) -> PlainTensor:
    """Return the value of a formula, or its magnitudes if `of_magnitude` is true, computed by NumPy."""
    from ..programs.evaluate import evaluate
    from ..programs.term_values import magnitude_of

    tensors = {name: value.to_tensor() for name, value in values.items()}
    return value_of(magnitude_of(text, tensors) if of_magnitude else evaluate(text, tensors, syntax="text"))


def evaluate_by_definitions(text: str, values: Mapping[str, PlainTensor], of_magnitude: bool) -> PlainTensor:
    """Return the value of a formula, or its magnitudes if `of_magnitude` is true, from the reference evaluator."""
    from .. import reference

    tensors: dict[str, Any] = {}
    for name, value in values.items():
        numbers = iter(value.numbers)
        tensors[name] = reference.Tensor(value.sizes, lambda record, numbers=numbers: next(numbers))
    result = (reference.magnitude if of_magnitude else reference.evaluate)(text, tensors)
    return PlainTensor(tuple(result.shape), tuple(result.shape.values()), tuple(result.entries.values()))
