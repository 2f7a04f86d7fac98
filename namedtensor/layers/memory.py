"""Storage of a layer's parameters in one block of memory, in the order in which matrix products read them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grammar.nodes import Call, Index, Name, Subscript, Superscript
from grammar.printer import to_text

from ..core.arrays import dtype_name, kind_of, library
from ..core.tensor import NamedTensor, tensor
from ..programs.families import index_in, labels_of
from ..scope.names import key, walk

LINE = 64  # bytes of the processor's cache that are fetched at once


class MatrixProduct(NamedTuple):
    """A product with a parameter: the text of the other factors, and the axes that are summed over."""

    factors: tuple[str, ...]
    axes: frozenset[str]


NO_PRODUCT = MatrixProduct((), frozenset())


class PackedGroup(NamedTuple):
    """Parameters that are multiplied by the same factor, such as W^{l,Q} and W^{l,K}, or a single other parameter."""

    axes: frozenset[str]  # that the products sum over
    tensors: dict[str, NamedTensor]
    may_be_wide: bool  # whether one matrix may hold the tensors: not for a table, because an index reads whole rows

    @property
    def first(self) -> NamedTensor:
        return next(iter(self.tensors.values()))

    @property
    def rows(self) -> int:
        """The number of elements that a product with a parameter sums over."""
        return math.prod(self.first.sizes[axis] for axis in self.axes)

    @property
    def is_wide(self) -> bool:
        """Whether the matrices are stored as one matrix, which requires at least as many columns as rows.

        Measurements show that products of 1 to 64 rows with matrices are fastest if a matrix's longer side is
        contiguous.
        """
        elements = sum(math.prod(value.array.shape) for value in self.tensors.values())
        is_float = kind_of(dtype_name(self.first.array.dtype)) == "f"
        return self.may_be_wide and is_float and elements >= self.rows**2 > 0

    @property
    def nbytes(self) -> int:
        return sum(round_up(value.array.nbytes) for value in self.tensors.values())

    def copy_arrays(self, memory: Any) -> Iterator[tuple[str, NamedTensor]]:
        """Copy the tensors to `memory`, and yield the name and the copy of each.

        The copies form one wide matrix, or follow one another with the summed axes last.
        """
        if self.is_wide:
            yield from self._merge_matrices(memory)
            return
        for name, value in self.tensors.items():
            order = sorted(value.axes, key=self.axes.__contains__)
            yield name, fill_part(memory[: value.array.nbytes].view(value.array.dtype), value, order)
            memory = memory[round_up(value.array.nbytes) :]

    def _merge_matrices(self, memory: Any) -> Iterator[tuple[str, NamedTensor]]:
        used = sum(value.array.nbytes for value in self.tensors.values())
        matrix = memory[:used].view(self.first.array.dtype).reshape(self.rows, -1)
        start = 0
        for name, value in self.tensors.items():
            columns = math.prod(value.array.shape) // self.rows
            order = sorted(value.axes, key=lambda axis: axis not in self.axes)
            yield name, fill_part(matrix[:, start : start + columns], value, order)
            start += columns


def fill_part(part: Any, value: NamedTensor, order: Sequence[str]) -> NamedTensor:
    """Copy a tensor to a part of memory, with its axes in the given order, and return the copy."""
    array = value.to_array(order)
    part = part.reshape(array.shape)
    part[...] = array
    return tensor(part, order)


def round_up(nbytes: int) -> int:
    """Return a number of bytes rounded up to whole cache lines."""
    return -(-nbytes // LINE) * LINE


def place_in_one_piece(groups: Sequence[PackedGroup]) -> dict[str, NamedTensor]:
    """Place the tensors of the groups side by side in one block of memory.

    Mapped files and many small arrays are in pages of 4 KiB. A model then has about a hundred thousand pages, and
    products with one matrix after another wait for the page addresses. A large block of memory has pages of 2 MiB.
    """
    import numpy as np

    memory = np.empty(sum(group.nbytes for group in groups) + LINE, np.uint8)
    memory = memory[-memory.__array_interface__["data"][0] % LINE :]
    result: dict[str, NamedTensor] = {}
    for group in groups:
        result.update(group.copy_arrays(memory[: group.nbytes]))
        memory = memory[group.nbytes :]
    return result


def pack_parameters(parameters: Mapping[str, Any], tree: Any, one_matrix: bool) -> dict[str, Any]:
    """Return the parameters with all NumPy arrays in one block of memory.

    The block contains the factors of products, layer by layer, and then the other parameters, layer by layer.

    If `one_matrix` is true, store wide matrices that are multiplied by the same factor as one matrix.
    """
    tensors = {
        name: value
        for name, value in parameters.items()
        if isinstance(value, NamedTensor) and library(value.array) == "numpy"
    }
    known, tables = products_with(tree), find_indexed_names(tree)
    declared = {name: declaration_of(name, known) for name in tensors}
    products = {name: known.get(text, NO_PRODUCT) for name, text in declared.items()}
    groups: dict[Any, PackedGroup] = {}
    for name in sorted(tensors, key=lambda name: (not products[name].axes, layer_number(name))):
        value, (factors, axes) = tensors[name], products[name]
        may_be_wide = one_matrix and bool(axes) and declared[name] not in tables
        sizes = frozenset((axis, value.sizes[axis]) for axis in axes)
        shared = (factors, sizes, value.array.dtype, layer_number(name)) if may_be_wide else name
        groups.setdefault(shared, PackedGroup(axes, {}, may_be_wide)).tensors[name] = value
    return {**parameters, **place_in_one_piece([*groups.values()])}


def products_with(tree: Any) -> dict[str, MatrixProduct]:
    """Return, for each name that is a factor of a product ⊙_{…}, the first such product.

    For example, the product of W^{l,1} is X ⊙_{chans} W^{l,1}.
    """
    result: dict[str, MatrixProduct] = {}
    for node in walk(tree):
        if isinstance(node, Call) and node.operator == "⊙" and node.subscript:
            axes = frozenset(part.text for part in node.subscript if isinstance(part, Name))
            for factor in node.arguments:
                if isinstance(factor, Name | Superscript | Subscript):
                    others = tuple(to_text(other) for other in node.arguments if other is not factor)
                    result.setdefault(to_text(factor), MatrixProduct(others, axes))
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
