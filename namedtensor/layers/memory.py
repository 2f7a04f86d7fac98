"""The parameters of a layer in one piece of memory, in the order in which products read them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from grammar.nodes import Call, Name, Subscript, Superscript
from grammar.printer import to_text

from ..core.arrays import library
from ..core.tensor import NamedTensor, tensor
from ..programs.families import index_in, labels_of
from ..scope.names import key, walk

LINE = 64  # bytes of the processor's cache that are fetched at once


def in_one_piece(tensors: Mapping[str, NamedTensor], last: Mapping[str, Collection[str]]) -> dict[str, NamedTensor]:
    """The tensors side by side in one piece of memory, each dense, those of its axes that are named in `last` at its end.

    A file that is mapped, and many small pieces, lie in pages of 4 KiB, and products with matrix after matrix then wait for
    the addresses of their pages, a hundred thousand for a model; large memory has pages of 2 MiB. A matrix whose rows are
    what a product sums over is read by each core in a piece of its own: with one vector a fifth faster.
    """
    import numpy as np

    orders = {name: sorted(value.axes, key=last[name].__contains__) for name, value in tensors.items()}
    starts = [0]
    for value in tensors.values():
        starts.append(starts[-1] + -(-value.array.nbytes // LINE) * LINE)
    whole = np.empty(starts[-1] + LINE, np.uint8)
    whole = whole[-whole.__array_interface__["data"][0] % LINE :]
    result: dict[str, NamedTensor] = {}
    for (name, value), start in zip(tensors.items(), starts):
        array = value.to_array(orders[name])
        part = whole[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        part[...] = array
        result[name] = tensor(part, orders[name])
    return result


def packed(parameters: Mapping[str, Any], tree: Any) -> dict[str, Any]:
    """The parameters with those of NumPy in one piece of memory: layer by layer, factors of products before all others."""
    tensors = {
        name: value
        for name, value in parameters.items()
        if isinstance(value, NamedTensor) and library(value.array) == "numpy"
    }
    summed = summed_axes(tree)
    last = {name: summed.get(declaration_of(name, summed), frozenset[str]()) for name in tensors}
    order = sorted(tensors, key=lambda name: (not last[name], layer_number(name)))
    return {**parameters, **in_one_piece({name: tensors[name] for name in order}, last)}


def summed_axes(tree: Any) -> dict[str, frozenset[str]]:
    """The axes that formulas sum over in a product with a parameter, X ⊙_{chans} W^{l,1}, by its name."""
    result: dict[str, frozenset[str]] = {}
    for node in walk(tree):
        if isinstance(node, Call) and node.operator == "⊙" and node.subscript:
            axes = frozenset(part.text for part in node.subscript if isinstance(part, Name))
            for factor in node.arguments:
                if isinstance(factor, Name | Superscript | Subscript):
                    result.setdefault(to_text(factor), axes)
    return result


def layer_number(name: str) -> int:
    """The number of the layer in the name of a parameter: 2 of W^{2,Q}; 0 where it has none."""
    return next((int(label) for label in labels_of(name) if label.isdecimal()), 0)


def declaration_of(name: str, declared: Collection[str]) -> str:
    """The declared name that a parameter has, W^{l,Q} of W^{2,Q}, or its own."""
    if name in declared:
        return name
    base, labels = key(name).base, labels_of(name)
    families = [text for text in declared if key(text).base == base and index_in(labels, labels_of(text)) is not None]
    return min(families, key=lambda text: unlike(labels, labels_of(text)), default=name)


def unlike(labels: Sequence[str], others: Sequence[str]) -> int:
    """How many labels differ."""
    return sum(label != other for label, other in zip(labels, others))
