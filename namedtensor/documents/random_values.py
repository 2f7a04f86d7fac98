"""Random tensors of the sets and sizes that a document declares, for tests of its assertions."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np

from grammar.nodes import Name, Set, Size
from grammar.printer import to_text

from ..core.extents import symbols_of, value_at
from ..core.sizes import resolve
from ..core.tensor import tensor
from ..programs.evaluate import evaluate


def with_sizes(shape: Mapping[str, Any], sizes: Mapping[str, int]) -> Mapping[str, Any]:
    """A shape where ends that nothing gives have these sizes."""
    result = {axis: resolve(size) for axis, size in shape.items()}
    return {
        axis: value_at(size, {symbol: sizes[symbol.name] for symbol in symbols_of(size)})
        for axis, size in result.items()
    }


def drawn_length(size: Any, extents: dict[str, int], random: Random) -> int:
    """A size, if it is known, else a number that `extents` keeps for it."""
    known = resolve(size)
    return known if isinstance(known, int) else extents.setdefault(str(known), random.randint(2, 4))


def tensor_of(numbers: list[float], axes: tuple[str, ...], lengths: list[int]) -> Any:
    """A tensor with these numbers in their order; a number where it has no axes."""
    return tensor(np.reshape(numbers, lengths), axes) if axes else numbers[0]


def drawn_number(of: Set | None, sizes: dict[str, int], random: Random, positive: bool) -> float:
    """A number of a set."""
    bounds = [_bound(element, sizes, random) for element in of.elements] if of is not None else []
    if of is not None and of.domain == "count" and bounds:
        return random.randint(1, max(1, int(bounds[0])))
    if of is not None and of.domain == "interval" and len(bounds) == 2:
        return round(random.uniform(*bounds), 3)
    if of is not None and of.domain == "elements" and bounds:
        return random.choice(bounds)
    return round(random.uniform(0.2, 2), 2) if positive else round(random.gauss(0, 1), 2)


def _bound(node: Any, sizes: dict[str, int], random: Random) -> float:
    text = to_text(node)
    if isinstance(node, (Name, Size)):
        return sizes.setdefault(text.strip("|"), random.randint(2, 4))
    return float(evaluate(text, syntax="text"))
