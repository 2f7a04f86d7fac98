"""Random tensors with the declared sets and sizes, used to test assertions of a document."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from random import Random
from typing import Any

from grammar.errors import NotationError, NotationWarning
from grammar.nodes import Name, Set, Size
from grammar.printer import to_text

from ..core.extents import symbols_of, value_at
from ..core.sizes import resolve
from ..core.tensor import NamedTensor
from ..programs.evaluate import evaluate, evaluator
from ..programs.random_inputs import NumberDomain, domain_of

SEEDS, DRAWS, FAR = 12, 2000, 8  # estimates, samples of each, and the standard errors that disprove an assertion


def with_sizes(shape: Mapping[str, Any], sizes: Mapping[str, int]) -> Mapping[str, Any]:
    """Return a shape in which open sizes are replaced by the given numbers."""
    result = {axis: resolve(size) for axis, size in shape.items()}
    return {
        axis: value_at(size, {symbol: sizes[symbol.name] for symbol in symbols_of(size)})
        for axis, size in result.items()
    }


def draw_length(size: Any, extents: dict[str, int], random: Random) -> int:
    """Return a size if it is known, or else a random number, which is stored in `extents` and reused."""
    known = resolve(size)
    return known if isinstance(known, int) else extents.setdefault(str(known), random.randint(2, 4))


def sample_domain(of: Set | None, sizes: dict[str, int], random: Random) -> NumberDomain:
    """Return the domain of a set. Unknown bounds of the set are random numbers."""
    return domain_of(of, lambda element: _bound(element, sizes, random))


def _bound(node: Any, sizes: dict[str, int], random: Random) -> float:
    text = to_text(node)
    if isinstance(node, (Name, Size)):
        return sizes.setdefault(text.strip("|"), random.randint(2, 4))
    return float(evaluate(text, syntax="text"))


def evaluate_test(source: str, values: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """Evaluate a program with its assertions.

    Raise NotationError if an assertion fails or the value is not finite.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotationWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        test = evaluator(source, "text", by_element=True)
        result = test(values=dict(values), sizes=dict(sizes) or None)
    if isinstance(result, NamedTensor) and not all(map(math.isfinite, result.to_numpy(result.axes).ravel().tolist())):
        raise NotationError(405, "no random test has finite values")


# ----------------------------------------------------------------------------------------------------------- estimates
def farthest(source: str, values: Mapping[str, Any], sizes: Mapping[str, int]) -> float:
    """Return the largest distance from 0 of an element's mean over several seeds, measured in standard errors."""
    numbers = [_numbers(source, {"draws": DRAWS, **values, "seed": seed}, sizes) for seed in range(1, SEEDS + 1)]
    return max((_standard_errors(item) for item in zip(*numbers)), default=0.0)


def _standard_errors(estimates: tuple[float, ...]) -> float:
    mean = sum(estimates) / SEEDS
    spread = math.sqrt(sum((estimate - mean) ** 2 for estimate in estimates) / (SEEDS - 1) / SEEDS)
    return abs(mean) / max(spread, 1e-9 * max(1, *map(abs, estimates)))


def _numbers(source: str, values: Mapping[str, Any], sizes: Mapping[str, int]) -> list[float]:
    """Return the elements of a formula's value as a list, with its axes in alphabetical order."""
    result = evaluate(source, dict(values), sizes=dict(sizes) or None, syntax="text")
    return result.to_numpy(sorted(result.axes)).ravel().tolist() if isinstance(result, NamedTensor) else [float(result)]
