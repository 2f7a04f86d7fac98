"""Attention maps, which show the attention weights of each head next to the tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .layer import Layer

if TYPE_CHECKING:
    from ..display.pictures import Picture


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
    """Plot the attention weights of a model, one panel per head.

    Parameters
    ----------
    model : Layer
        The model.
    *arguments : tensor or number
        The inputs by position.
    tokens : sequence of str, optional
        The labels of the queries, and of the keys if there is one label for each key.
    name : str
        The name of the attention weights (default: "A^1", the weights of the first layer).
    rows, columns : str
        The axes of queries and keys (default: "seq" and "memory").
    of : mapping of str to int, optional
        The element to show along other axes, such as {"batch": 0}. Positions count from 0.
    **named : tensor or number
        The inputs by name.

    Returns
    -------
    Picture

    Raises
    ------
    NotationError
        If the model has no such name (201), or matplotlib is not installed (408).

    Examples
    --------
    >>> import namedtensor as nt
    >>> from transformer import GPT2
    >>> sizes = {"L": 2, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 10, "place": 6}
    >>> model, ids = GPT2.init(sizes=sizes), nt.tensor([3, 1, 4], "seq")
    >>> maps = attention_maps(model, ids, tokens=["the", "cat", "sat"], name="A^2")
    >>> maps.save("maps.svg")  # doctest: +SKIP
    """
    from ..display.pictures import heatmap

    weights = model.evaluate(name, *arguments, **named)[of or {}]
    words = {axis: tokens for axis in (rows, columns) if tokens is not None and weights.sizes.get(axis) == len(tokens)}
    if tokens is not None and rows in weights.axes:
        words[rows] = tokens
    return heatmap(weights, rows=rows, columns=columns, labels=words)
