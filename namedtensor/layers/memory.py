"""Storage of a layer's parameters in one block of memory, in the order in which matrix products read them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from grammar.nodes import Call, Index, Name, Subscript, Superscript
from grammar.printer import to_text

from ..core.arrays import dtype_name, kind_of, library
from ..core.tensor import NamedTensor, tensor
from ..programs.families import index_in, labels_of
from ..scope.names import key, walk

LINE = 64  # bytes of the processor's cache that are fetched at once


def order_for_products(value: NamedTensor, axes: Collection[str], may_be_wide: bool) -> list[str]:
    """Return the axes of a tensor in the order that makes products over `axes` fastest.

    Put `axes` last. If `may_be_wide` is true, put them first in a matrix that is at least as wide as high.
    Measurements show that products of 1 to 64 rows with matrices are fastest if a matrix's longer side is contiguous.
    """
    rows, is_float = math.prod(value.sizes[axis] for axis in axes), kind_of(dtype_name(value.array.dtype)) == "f"
    is_wide = may_be_wide and is_float and math.prod(value.array.shape) >= rows**2 > 0
    return sorted(value.axes, key=lambda axis: (axis in axes) != is_wide)


def round_up(nbytes: int) -> int:
    """Return a number of bytes rounded up to whole cache lines."""
    return -(-nbytes // LINE) * LINE


def copy_to_one_block(orders: Sequence[tuple[str, NamedTensor, Sequence[str]]]) -> dict[str, NamedTensor]:
    """Copy tensors, each with its axes in the given order, to one block of memory, one after the other.

    Mapped files and many small arrays are in pages of 4 KiB. A model then has about a hundred thousand pages, and
    products with one matrix after another wait for the page addresses. A large block of memory has pages of 2 MiB.
    """
    import numpy as np

    memory = np.empty(sum(round_up(value.array.nbytes) for _, value, _ in orders) + LINE, np.uint8)
    memory = memory[-memory.__array_interface__["data"][0] % LINE :]
    result: dict[str, NamedTensor] = {}
    for name, value, order in orders:
        array = value.to_array(order)
        part = memory[: array.nbytes].view(array.dtype).reshape(array.shape)
        part[...] = array
        result[name] = tensor(part, order)
        memory = memory[round_up(array.nbytes) :]
    return result


def pack_parameters(parameters: Mapping[str, Any], tree: Any, may_be_wide: bool) -> dict[str, Any]:
    """Return the parameters with all NumPy arrays in one block of memory.

    The block contains the factors of products, layer by layer, and then the other parameters, layer by layer.

    If `may_be_wide` is true, the axes that a product sums over come first in a matrix that is at least as wide as high.
    """
    tensors = {
        name: value
        for name, value in parameters.items()
        if isinstance(value, NamedTensor) and library(value.array) == "numpy"
    }
    known, tables = products_with(tree), find_indexed_names(tree)
    declared = {name: declaration_of(name, known) for name in tensors}
    axes = {name: known.get(text, frozenset()) for name, text in declared.items()}
    orders: list[tuple[str, NamedTensor, Sequence[str]]] = []
    for name in sorted(tensors, key=lambda name: (not axes[name], layer_number(name))):
        wide = (
            may_be_wide and bool(axes[name]) and declared[name] not in tables
        )  # An index reads whole rows of a table.
        orders.append((name, tensors[name], order_for_products(tensors[name], axes[name], wide)))
    return {**parameters, **copy_to_one_block(orders)}


def products_with(tree: Any) -> dict[str, frozenset[str]]:
    """Return, for each name that is a factor of a product ⊙_{…}, the axes that the first such product sums over.

    For example, the axes for W^{l,1} in X ⊙_{chans} W^{l,1} are {chans}.
    """
    result: dict[str, frozenset[str]] = {}
    for node in walk(tree):
        if isinstance(node, Call) and node.operator == "⊙" and node.subscript:
            axes = frozenset(part.text for part in node.subscript if isinstance(part, Name))
            for factor in node.arguments:
                if isinstance(factor, Name | Superscript | Subscript):
                    result.setdefault(to_text(factor), axes)
    return result


def find_indexed_names(tree: Any) -> set[str]:
    """Return the names of tensors that the formulas index, such as E for E_{vocab(ids)}."""
    return {to_text(node.base) for node in walk(tree) if isinstance(node, Index)}


def layer_number(name: str) -> int:
    """Return the layer number in a parameter's name, such as 2 for W^{2,Q}, or 0 if the name has no number."""
    return next((int(label) for label in labels_of(name) if label.isdecimal()), 0)


def declaration_of(name: str, declared: Collection[str]) -> str:
    """Return the name under which a parameter is declared, such as W^{l,Q} for W^{2,Q}, or else its own name."""
    if name in declared:
        return name
    base, labels = key(name).base, labels_of(name)
    families = [text for text in declared if key(text).base == base and index_in(labels, labels_of(text)) is not None]
    return min(families, key=lambda text: unlike(labels, labels_of(text)), default=name)


def unlike(labels: Sequence[str], others: Sequence[str]) -> int:
    """Return the number of positions at which two lists of labels differ."""
    return sum(label != other for label, other in zip(labels, others))
