"""Regions to tile, that is, parts of a formula that are computed one slice of the result at a time.

Tiling avoids a large intermediate array. A term is *mapped over* an axis if each slice of the term along that axis
needs only the same slices of the arguments. Attention is mapped over its queries and heads, and a chain of elementwise
operations is mapped over every axis. The slices can be computed one by one, each small enough for the cache, and in
parallel on several cores. This module decides whether tiling is possible and worthwhile. The plan of one slice is an
ordinary plan, and the source of its function precedes the source of the complete function.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from ..core.extents import typical
from ..core.sizes import is_ground, resolve
from ..operators import REGISTRY
from ..terms.terms import Term

Axes = dict[str, str]  # axis of the result -> its name in a term
MAX_CHAIN_BYTES = 2**18  # bytes of an elementwise chain that fit the cache beside its temporaries
MAX_PRODUCT_BYTES = 2**20  # the largest array, in bytes, in a tile that ends with a product
TILE_ROWS_MULTIPLE = 16  # larger numbers of rows are rounded down to a multiple, so that similar sizes have equal tiles
MIN_BLOCKS = 8  # blocks at least, for several cores to share
MIN_TILED_BYTES = 2**21  # the smallest array, in bytes, that is worth tiling
MIN_SCORE_BYTES = 2**18  # the smallest scores between two products, in bytes, that are faster on several cores


class Tiling(NamedTuple):
    """A tiling of a region. A tile has one element along each `picked` axis and `rows` elements along `tiled`."""

    picked: tuple[str, ...]
    tiled: str
    rows: int


class Region(NamedTuple):
    """A region: its root, the terms computed in tiles, the terms that tiles read, the axes to cut, the largest term."""

    root: Term
    inside: dict[int, Axes]  # by the identity of the term
    inputs: list[tuple[Term, Axes]]
    axes: tuple[str, ...]
    largest: Term
    tiling: Tiling | None = None  # if it is known from the beginning


def sizes_of(term: Term) -> dict[str, int] | None:
    """Return the typical sizes of a term's axes, or None if any size is unknown. Tiling affects speed, not values."""
    result = {axis: resolve(size) for axis, size in term.shape.items()}
    return {axis: typical(size) for axis, size in result.items()} if all(map(is_ground, result.values())) else None


def count(term: Term) -> int:
    sizes = sizes_of(term)
    return 0 if sizes is None else math.prod(sizes.values())


def find(root: Term, uses: Mapping[int, list[Term]], itemsize: int) -> Region | None:
    """Return the region that ends with a term if it is worth tiling; otherwise return None."""
    record = REGISTRY.get(root.operator)
    if record is None or not root.shape:
        return None
    product = is_product(root)
    if not product and (
        record.kind not in ("elementwise", "axis_map", "contraction") or count(root) * itemsize < MIN_TILED_BYTES
    ):
        return None
    enough = max(2 * count(root), -(-MIN_SCORE_BYTES // itemsize))
    if product and all(count(argument) < enough for argument in root.arguments):
        return None
    axes = tuple(axis for axis in root.shape if axis not in root.axes)
    if product:
        big = max(root.arguments, key=count)
        axes = tuple(axis for axis in axes if axis in big.shape)
    region = _grow(root, axes, uses, product, itemsize)
    while region is not None and region.axes != axes:  # An axis that some term consumes cannot be cut.
        axes = region.axes
        region = _grow(root, axes, uses, product, itemsize) if axes else None
    if region is None or not region.axes:
        return None
    work = sum(_work(term) for term in terms_of(root, region.inside))
    return region if work >= 2 else None


def _work(term: Term) -> int:
    if term.operator == "rename":
        return 0
    record = REGISTRY.get(term.operator)
    return 3 if record is not None and record.heavy else 1


def terms_of(root: Term, inside: Mapping[int, Axes]) -> list[Term]:
    terms, stack, seen = [], [root], set()
    while stack:
        term = stack.pop()
        if id(term) in inside and id(term) not in seen:
            seen.add(id(term))
            terms.append(term)
            stack.extend(term.arguments)
    return terms


def _grow(root: Term, axes: tuple[str, ...], uses, product: bool, itemsize: int) -> Region | None:
    """Return the region of large terms that are used only to compute a root, or None if a region has no benefit."""
    inside: dict[int, Axes] = {}
    inputs: dict[int, tuple[Term, Axes]] = {}
    texts = set(axes)
    least = MIN_SCORE_BYTES if product else count(root) * itemsize

    def visit(term: Term, axis_names: Axes, first: bool = False) -> None:
        if id(term) in inside or id(term) in inputs:
            seen = inside.get(id(term)) or (inputs[id(term)][1] if id(term) in inputs else {})
            if seen != axis_names:
                texts.difference_update(axis for axis in (*seen, *axis_names) if seen.get(axis) != axis_names.get(axis))
            return
        consumed = {axis for axis, name in axis_names.items() if name in term.axes}
        if (
            consumed
            and (texts & set(axis_names)) - consumed
            and _belongs(
                term,
                {axis: name for axis, name in axis_names.items() if axis not in consumed},
                inside,
                uses,
                product,
                least,
                itemsize,
            )
        ):  # The term joins the region, which then cannot be cut along the consumed axes.
            texts.difference_update(consumed)
            axis_names = {axis: name for axis, name in axis_names.items() if axis not in consumed}
        if not first and not _belongs(term, axis_names, inside, uses, product, least, itemsize):
            inputs[id(term)] = (term, axis_names)
            return
        inside[id(term)] = axis_names
        back = {new: old for old, new in term.options} if term.operator == "rename" else {}
        for argument in term.arguments:
            names = {axis: back.get(name, name) for axis, name in axis_names.items()}
            visit(argument, {axis: name for axis, name in names.items() if name in argument.shape})

    start = {axis: axis for axis in axes}
    if any(axis in root.axes for axis in axes):
        return None
    visit(root, start, True)
    cut = tuple(axis for axis in axes if axis in texts)
    among = terms_of(root, inside)
    largest = max((term for term in among if not product or term is not root), key=count, default=root)
    if product and count(largest) < 2 * count(root):
        return None
    cut = tuple(axis for axis in cut if axis in inside[id(largest)])
    return Region(root, inside, list(inputs.values()), cut, largest)


ALLOWED = {"elementwise", "axis_map", "reduction", "contraction"}
STRUCTURAL = ("rename", "cases", "indicator")


def _belongs(term, axes: Axes, inside, uses, product: bool, least: int, itemsize: int) -> bool:
    """Return whether a region should contain a term, which requires that the region contains all users of the term."""
    if not axes or not term.arguments or count(term) * itemsize < least // 4:
        return False
    if any(id(user) not in inside for user in uses[id(term)]):
        return False
    if term.operator in STRUCTURAL:
        return True
    if not _mappable(term) or any(name in term.axes for name in axes.values()):
        return False
    if is_product(term):
        is_score = count(term) * itemsize >= MIN_SCORE_BYTES
        return product and is_score and all(count(term) > count(argument) for argument in term.arguments)
    return True


# ------------------------------------------------------------------------------------------- with products of matrices
MIN_LAYER_MULTIPLY_ADDS = 2**27  # the fewest multiply-adds by matrices that are worth separate blocks
MAX_BLOCK_BYTES = 2**22  # bytes of the largest array in such a block
MIN_MATRIX_ROWS = 64  # in a product with fewer rows, each row takes longer
MIN_BUSY_SHARE = 0.8  # the least share of the time in which all cores are busy


@cache
def cores() -> int:
    """Return the number of threads that can run at the same time on this machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sizes_of_layers(terms: Sequence[Term]) -> set[int]:
    """Return the sizes of axes whose halves still have enough rows for a product with a matrix.

    The result is empty if all products together are too small for blocks.
    """
    products = [term for term in terms if _count_multiply_adds(term)]
    if sum(map(_count_multiply_adds, products)) < MIN_LAYER_MULTIPLY_ADDS:
        return set()
    sizes = ((term, axis, size) for term in products for axis, size in (sizes_of(term) or {}).items())
    return {size for term, axis, size in sizes if not _is_narrow(term, axis, -(-size // 2))}


def find_layers(
    terms: Sequence[Term],
    position: int,
    uses: Mapping[int, list[Term]],
    itemsize: int,
    sizes: Collection[int],
    threads: int,
) -> Region | None:
    """Return the region that ends with the term at a position: products of rows and matrices, and all terms between.

    Among the axes with these sizes, choose the axis with the most multiply-adds. Return None if no axis can be cut.
    """
    root = terms[position]
    names = {axis for axis, size in (sizes_of(root) or {}).items() if size in sizes and axis not in root.axes}
    if not names or not root.arguments or not _mappable(root):
        return None
    regions = [_layers(terms, position, axis, uses, itemsize, threads) for axis in root.shape if axis in names]
    return max(filter(None, regions), key=_work_of, default=None)


def _layers(terms: Sequence[Term], position: int, axis: str, uses, itemsize: int, threads: int) -> Region | None:
    """Return the region that ends with a term and is cut along an axis, or None if this is impossible or not useful."""
    root = terms[position]
    half = -(-(sizes_of(root) or {})[axis] // 2)
    asked = {id(root): axis}  # the name that the axis has in each term that is needed
    inside: dict[int, Axes] = {}
    among: list[Term] = []
    inputs: list[tuple[Term, Axes]] = []
    for number in range(position, -1, -1):
        term = terms[number]
        name = asked.get(id(term))
        if name is None:
            continue
        axis_names = {axis: name} if name in term.shape else {}
        alone = term is root or all(id(user) in inside for user in uses[id(term)])
        if axis_names and alone and name not in term.axes and term.arguments and _mappable(term):
            if _is_narrow(term, name, half):
                return None
            inside[id(term)] = axis_names
            among.append(term)
            old = {new: old for old, new in term.options} if term.operator == "rename" else {}
            before = old.get(name, name)
            if any(asked.setdefault(id(argument), before) != before for argument in term.arguments):
                return None
        else:
            inputs.append((term, axis_names))
        if len(asked) == len(inside) + len(inputs):
            break
    if sum(map(_count_multiply_adds, among)) < MIN_LAYER_MULTIPLY_ADDS or any(sizes_of(term) is None for term in among):
        return None
    if all(is_product(term) or term.operator == "rename" for term in among):
        return None
    region = Region(root, inside, inputs, (axis,), max(among, key=count))
    rows = _rows(region, among, axis, itemsize, threads)
    return region._replace(tiling=Tiling((), axis, rows)) if rows else None


def _work_of(region: Region) -> int:
    """Return the number of multiply-adds in a region's products of rows with matrices that all blocks share."""
    return sum(map(_count_multiply_adds, terms_of(region.root, region.inside)))


def _rows(region: Region, among: Sequence[Term], axis: str, itemsize: int, threads: int) -> int:
    """Return the number of rows in each block along an axis, or 0 if blocks are unsuitable.

    The number of blocks is the smallest multiple of the number of threads for which each block fits the cache. Blocks
    are unsuitable if they leave threads idle for too long or have too few rows for products.
    """
    size, most = (sizes_of(region.root) or {})[axis], count(region.largest) * itemsize
    rows = -(-size // (threads * -(-most // (threads * MAX_BLOCK_BYTES))))
    turns = -(-size // (rows * threads))
    fits = most // size * rows <= 2 * MAX_BLOCK_BYTES and size >= MIN_BUSY_SHARE * rows * threads * turns
    narrow = any(_is_narrow(term, region.inside[id(term)][axis], rows) for term in among)
    return rows if fits and not narrow and rows < size else 0


def _mappable(term: Term) -> bool:
    """Return whether a term is mapped over each axis that its operator does not work along."""
    record = REGISTRY.get(term.operator)
    sized = record is not None and any(name.startswith("size ") for name, *_ in term.options)
    return term.operator in STRUCTURAL or (record is not None and record.kind in ALLOWED and not sized)


def is_product(term: Term) -> bool:
    """Return whether a term is a product summed over axes."""
    return term.operator == "⊙" and bool(term.axes)


def _count_multiply_adds(term: Term) -> int:
    """Count the multiply-adds that a product of two matrices needs. Return 0 for any other term."""
    if not is_product(term):
        return 0
    left, right = term.arguments
    return multiply_adds(term) if set(left.shape) & set(right.shape) <= set(term.axes) else 0


def multiply_adds(term: Term) -> int:
    """Return the multiply-adds of a contraction: one per element of the result and position along the summed axes."""
    sizes = {axis: size for argument in term.arguments for axis, size in (sizes_of(argument) or {}).items()}
    return count(term) * math.prod(sizes.get(axis, 1) for axis in term.axes)


def _is_narrow(term: Term, name: str, rows: int) -> bool:
    """Return whether a product has too few rows within a block that contains `rows` rows along an axis."""
    if not is_product(term):
        return False
    left, right = (sizes_of(argument) or {} for argument in term.arguments)
    if name in left and name in right:
        return False
    mine, other = (left, right) if name in left else (right, left)
    beside = (size for axis, size in mine.items() if axis not in other and axis not in term.axes and axis != name)
    return rows * math.prod(beside) < MIN_MATRIX_ROWS


def cut(region: Region, order: tuple[str, ...], itemsize: int, share: float = 1.0) -> Tiling | None:
    """Return tiles of a region that just fit the cache, or None if the region has no axis to cut or fits one tile.

    `order` ranks the axes. `share` is the fraction of a block's largest array that exists at once.
    """
    if region.tiling is not None:
        return region.tiling
    product = is_product(region.root)
    sizes = sizes_of(region.root) or {}
    largest = int(count(region.largest) * itemsize * share)
    target = min(MAX_PRODUCT_BYTES, largest // MIN_BLOCKS) if product else MAX_CHAIN_BYTES
    shared = {axis: sum(axis in axis_names for _, axis_names in region.inputs) for axis in region.axes}
    axes = sorted(region.axes, key=lambda axis: (-shared[axis] if product else 0, order.index(axis)))
    inner = largest // max(1, math.prod(sizes[axis] for axis in axes))
    picked: list[str] = []
    for index, axis in enumerate(axes):
        later = inner * math.prod(sizes[name] for name in axes[index + 1 :])
        if later <= target or index == len(axes) - 1:
            least = 64 if product and shared[axis] == 1 else 1
            rows = max(least, target // max(1, later))
            rows = min(sizes[axis], rows - rows % TILE_ROWS_MULTIPLE if rows > TILE_ROWS_MULTIPLE else rows)
            return Tiling(tuple(picked), axis, rows) if rows < sizes[axis] or picked else None
        picked.append(axis)
    return None


TILE_ENTRIES = 512  # the size of each slice of an axis that is summed over slice by slice


def tileable(root: Term, axis: str) -> Region | None:
    """Return the region of a root and the terms below it that map over an axis, or None if the axis cannot be cut."""
    inside: dict[int, Axes] = {}
    inputs: dict[int, tuple[Term, Axes]] = {}

    def visit(term: Term, axes: Axes) -> bool:
        seen = inside.get(id(term)) or (inputs[id(term)][1] if id(term) in inputs else None)
        if seen is not None:
            return seen == axes
        if not axes or not term.arguments or not _mappable(term) or axes[axis] in term.axes:
            inputs[id(term)] = (term, axes)
            return True
        inside[id(term)] = axes
        back = {new: old for old, new in term.options} if term.operator == "rename" else {}
        name = back.get(axes[axis], axes[axis])
        return all(visit(argument, {axis: name} if name in argument.shape else {}) for argument in term.arguments)

    return Region(root, inside, list(inputs.values()), (axis,), root) if visit(root, {axis: axis}) and inside else None


def tile(region: Region, how: Tiling) -> tuple[Term, list[tuple[Term, Axes]]]:
    """Return the root of a region as a term for one tile, and the terms that the tile reads, with their axis names."""
    terms: dict[int, Term] = {}
    parts: list[tuple[Term, Any]] = []
    inputs = {id(term): axis_names for term, axis_names in region.inputs}

    def shape_of(term: Term, axes: Axes) -> dict[str, Any]:
        picked = {axes[axis] for axis in how.picked if axis in axes}
        rows = axes.get(how.tiled)
        return {axis: how.rows if axis == rows else size for axis, size in term.shape.items() if axis not in picked}

    def build(term: Term) -> Term:
        result = terms.get(id(term))
        if result is None:
            result = terms[id(term)] = _built(term)
        return result

    def _built(term: Term) -> Term:
        if id(term) in inputs:
            if term.operator == "number":
                return term
            axis_names = inputs[id(term)]
            name = f"part_{len(parts) + 1}"
            parts.append((term, axis_names))
            shape = shape_of(term, axis_names)
            return Term("input", (), (), (name,), shape, term.boolean, term.node, term.serial)
        axis_names = region.inside[id(term)]
        arguments = tuple(build(argument) for argument in term.arguments)
        shape, options = shape_of(term, axis_names), term.options
        if term.operator == "rename":
            picked = {axis_names[axis] for axis in how.picked if axis in axis_names}
            options = tuple((old, new) for old, new in options if new not in picked)
        return Term(term.operator, arguments, term.axes, options, shape, term.boolean, term.node, term.serial)

    return build(region.root), parts
