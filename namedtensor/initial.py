"""First values for parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from grammar.errors import NotationError

from .names import key


def initial(shapes: Mapping[str, Mapping[str, Any]], seed: int, dtype: str) -> dict[str, Any]:
    """A tensor for each shape: γ one, vectors zero, all else normal with variance 1/(numbers that one output sums)."""
    import numpy as np

    from .tensors import tensor

    generator = np.random.default_rng(seed)
    found = {}
    for name, shape in shapes.items():
        unknown = [axis for axis, size in shape.items() if not isinstance(size, int)]
        if unknown:
            raise NotationError(
                309,
                f"the size of {unknown[0]} in {name} is not known",
                hint=f"give it by name: sizes={{{unknown[0]!r}: 3}}",
            )
        extent = tuple(shape.values())
        if key(name).base == "γ":
            array = np.ones(extent)
        elif len(extent) < 2:
            array = np.zeros(extent)
        else:
            array = generator.standard_normal(extent) / math.sqrt(math.prod(extent) / max(extent[-1], 1))
        found[name] = tensor(array.astype(dtype), tuple(shape))
    return found
