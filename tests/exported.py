"""Exported source, called with other sizes and dtypes than those of its export: it gives the right value, or one sentence.

`outcome` says which; a value that is wrong, an error that a library raises and one that says nothing are a fault.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

import namedtensor as nt

FILE = "<exported>"
SENTENCE = re.compile(
    r"\w+ must (have (dtype|axes) .+, got .+|be a .+, got .+)|axis \S+ of \w+ must have size \d+, got \d+"
    r"|an index must be .+, got .+|no case applies .+|integer overflow: exceeds int64|not positive definite"
)
CLOSE = {"float16": 3e-2, "bfloat16": 3e-2, "float32": 1e-4}
FLOATS = ("float16", "float32", "float64")
WHOLE = ("uint8", "int8", "int32", "int64")


class Exported(NamedTuple):
    """A function that exported text defines, and the tensors that it was exported for, by name."""

    text: str
    library: str
    function: Callable[..., Any]
    values: dict[str, Any]
    source: str


def export(text: str, library: str, values: Mapping[str, Any]) -> Exported:
    """Export a formula and define its function where there is nothing of the package."""
    source = nt.formula(text).to_python(library, values)
    space: dict[str, Any] = {}
    exec(compile(source, FILE, "exec"), space)
    return Exported(text, library, space["function"], dict(values), source)


def tensors(values: Mapping[str, Any]) -> dict[str, nt.NamedTensor]:
    return {name: value for name, value in values.items() if isinstance(value, nt.NamedTensor)}


def other_calls(values: Mapping[str, Any], mix: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tensors of a call, changed: an axis is longer, shorter or of size 1 or one more; the dtypes are others."""
    inputs = {name: (np.array(tensor.array), tensor.axes) for name, tensor in tensors(values).items()}
    axes = sorted({axis for _, axes in inputs.values() for axis in axes})
    for axis in mix.sample(axes, min(2, len(axes))):
        for how, times in (("longer", 2), ("one", None)):
            changed = {
                name: (np.take(array, [0], at) if times is None else np.concatenate([array] * times, at), axes)
                for name, (array, axes) in inputs.items()
                if axis in axes
                for at in [axes.index(axis)]
            }
            yield f"axis {axis} is {how}", {**inputs, **changed}
    if inputs:
        name = mix.choice(sorted(inputs))
        array, axes_of = inputs[name]
        yield f"{name} has one more axis", {**inputs, name: (np.stack([array, array]), ("batch", *axes_of))}
        yield f"{name} is another kind", {**inputs, name: (other_dtype(array, mix), axes_of)}
        for dtype in FLOATS:
            wide = {key: (x.astype(dtype) if x.dtype.kind == "f" else x, axes) for key, (x, axes) in inputs.items()}
            yield f"floats are {dtype}", wide
        for dtype in WHOLE:
            cut = {key: (x.astype(dtype) if x.dtype.kind in "iu" else x, axes) for key, (x, axes) in inputs.items()}
            yield f"integers are {dtype}", cut


def other_dtype(array: np.ndarray, mix: random.Random) -> np.ndarray:
    """The array in a dtype of another kind, with numbers that one has too."""
    kinds = [
        dtype
        for dtype in ("bool", "uint8", "int64", "float32", "complex64")
        if np.dtype(dtype).kind != array.dtype.kind
    ]
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(array).astype(mix.choice(kinds))


def in_library(library: str, array: np.ndarray) -> Any:
    if library == "numpy":
        return array
    if library == "torch":
        import torch

        return torch.asarray(array.copy())
    import jax.numpy as jnp

    return jnp.asarray(array)


def outcome(
    exported: Exported, given: Mapping[str, tuple[np.ndarray, tuple[str, ...]]], outcomes: Counter[str] | None = None
) -> str | None:
    """What is wrong with a call of exported source; None where it gave the right value, or refused in a sentence.

    `outcomes` counts the right values and the kinds of errors.
    """
    outcomes = Counter() if outcomes is None else outcomes
    arrays = {name: in_library(exported.library, array) for name, (array, _) in given.items()}
    try:
        with np.errstate(all="ignore"):
            result = exported.function(*arrays.values())
    except Exception as problem:
        outcomes[type(problem).__name__] += 1
        return unclear(problem)
    outcomes["right"] += 1
    values = {**exported.values, **{name: nt.tensor(array, given[name][1]) for name, array in arrays.items()}}
    try:
        expected = nt.evaluate(exported.text, values)
    except nt.NotationError as problem:
        return f"it gives {result}, where the formula is refused: {problem.message}"
    return wrong_value(np.asarray(result), expected, coarsest(values.values()))


def unclear(problem: Exception) -> str | None:
    """What is wrong with an error: it has to be raised by a line of the exported text, and to be a sentence."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised_here = trace is not None and trace.tb_frame.f_code.co_filename == FILE
    if not raised_here or not isinstance(problem, (ValueError, TypeError, IndexError, OverflowError)):
        return f"raw {type(problem).__name__}: {problem}"
    return None if SENTENCE.fullmatch(str(problem)) else f"no sentence: {problem}"


def coarsest(values: Any) -> str | None:
    """The coarsest dtype of the tensors that are given; None where there are none, and the library chooses."""
    dtypes = {str(value.dtype).rpartition(".")[2] for value in values if isinstance(value, nt.NamedTensor)}
    return next((dtype for dtype in CLOSE if dtype in dtypes), "float64") if dtypes else None


def wrong_value(result: np.ndarray, expected: nt.NamedTensor, dtype: str | None) -> str | None:
    array = np.asarray(expected.array)
    if dtype is not None and result.dtype != array.dtype:
        return f"the dtype {result.dtype}, expected {array.dtype}"
    if result.shape != array.shape:
        return f"the shape {result.shape}, expected {array.shape}"
    close = CLOSE.get(dtype or "float32", 1e-9)
    finite = np.abs(array[np.isfinite(array)].astype("float64"))
    if not np.allclose(result, array, rtol=close, atol=close * max(1.0, finite.max(initial=0.0)), equal_nan=True):
        return f"{result.tolist()}, expected {array.tolist()}"
    return None
