"""Attention maps: the weights of attention, by head, with the tokens beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import namedtensor as nt

from .layer import Layer

if TYPE_CHECKING:
    from namedtensor.display.pictures import Picture


def attention_maps(
    model: Layer,
    *arguments: Any,
    tokens: Sequence[str] | None = None,
    name: str = "A^1",
    rows: str = "seq",
    columns: str = "memory",
    of: Mapping[str, int] | None = None,
    **named: Any,
) -> Picture:
    """Plot the attention weights of a model, one panel per head: A^1 of the first layer, A^2 of the second.

    A row is a query, a column a key; `tokens` label both. `of` selects an element of a batch: of={"batch": 0}. Raises
    NotationError if the model has no such name or matplotlib is missing.

    >>> from transformer import GPT2
    >>> sizes = {"L": 2, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 10, "place": 6}
    >>> model, ids = GPT2.init(sizes=sizes), nt.tensor([3, 1, 4], "seq")
    >>> maps = attention_maps(model, ids, tokens=["the", "cat", "sat"], name="A^2")
    >>> maps.save("maps.svg")  # doctest: +SKIP
    """
    weights = model.evaluate(name, *arguments, **named)[of or {}]
    words = {axis: tokens for axis in (rows, columns) if tokens is not None and weights.sizes.get(axis) == len(tokens)}
    if tokens is not None and rows in weights.axes:
        words[rows] = tokens
    return nt.heatmap(weights, rows=rows, columns=columns, labels=words)
