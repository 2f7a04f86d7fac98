"""Tiling: a region of the graph is lowered as one step, which runs the plan of one tile many times.

The module `regions` finds the regions.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.extents import proves_at_most
from ..core.size_conditions import assume_at_most, is_by_example
from ..terms.terms import Term, number_of_elements, resolve_shape, topological
from . import contraction_order, core_use, online_softmax, regions, scaled_integers
from .lowering import Lowering
from .plan import Argument, PlanValue
from .regions import Region


def find_regions(lowering: Lowering, terms: Sequence[Term], counts: Sequence[int]) -> None:
    """Find the disjoint regions of a graph that are worth tiling.

    A region of layers is cut into blocks for all cores. If only one core would compute these regions, all regions are
    found again for one core.
    """
    threads = regions.cores() if lowering.is_on(core_use.LIMIT) else 1
    _find(lowering, terms, threads)
    layers = [region for region in lowering.regions.values() if region.tiling is not None]
    if threads > 1 and layers and all(cores_for(lowering, region) == core_use.ONE for region in layers):
        lowering.regions.clear()
        _find(lowering, terms, 1)


def _find(lowering: Lowering, terms: Sequence[Term], threads: int) -> None:
    """Find the regions that are worth tiling for a given number of threads, from the graph's roots to its inputs."""
    taken: set[int] = set()
    # The step for these products already converts integers piece by piece.
    converted = {id(term) for term in terms if scaled_integers.is_product(lowering, term)}
    sizes = regions.sizes_of_layers(terms) if lowering.is_on("layer-tiling") and not converted else ()
    chains: dict[int, contraction_order.Parts] = {}
    for number in reversed(range(len(terms))):
        term = terms[number]
        if id(term) not in taken and id(term) not in converted and not _is_reordered(lowering, term, chains):
            region = None
            if sizes:
                region = regions.find_layers(terms, number, lowering.uses, lowering.itemsize, sizes, threads)
            region = region or regions.find(term, lowering.uses, lowering.itemsize)
            if region is None or taken & set(region.inside) or core_use.is_small(region, lowering.itemsize):
                continue
            lowering.regions[id(term)] = region
            taken |= set(region.inside)
    lowering.wakes_blas = core_use.wakes_blas(terms, taken)


def cores_for(lowering: Lowering, region: Region) -> str:
    """Return the cores that compute the blocks of a region, as a constant of `core_use` such as "several"."""
    return core_use.cores_for(region, lowering.itemsize, lowering.is_on(core_use.LIMIT), lowering.wakes_blas)


def _is_reordered(lowering: Lowering, term: Term, chains: dict[int, contraction_order.Parts]) -> bool:
    """Return whether a term ends a chain of contractions that may be computed in an order other than the written one.

    Such a chain is not tiled, because the cheapest order may avoid the large array without tiles.
    """
    if not lowering.is_on("contraction-order") or lowering.builder.half:
        return False
    return contraction_order.chain_of(term, lowering.is_separable, chains) is not None


def lower_region(lowering: Lowering, term: Term) -> Argument:
    """Lower a region as one tiled step, or lower its terms separately if it cannot be tiled."""
    region = lowering.regions[id(term)]
    values = [lowering.value(term) for term, _ in region.inputs]
    largest = max(
        (value for value in values if isinstance(value, PlanValue)), key=lambda value: value.typical_count, default=None
    )
    if largest is None or any(isinstance(value, PlanValue) and value.dynamic for value in values):
        return _one_by_one(lowering, region)
    names = {name: axis for axis, name in region.inputs[values.index(largest)][1].items()}
    order = tuple(names.get(axis, axis) for axis in largest.order)
    share = online_softmax.share(lowering, region.root)
    tiling = regions.cut(region, (*order, *region.root.shape), lowering.itemsize, share)
    if tiling is None or not is_for_every_size(tiling, region):
        return _one_by_one(lowering, region)
    return _lower_in_blocks(lowering, region, tiling)


def is_for_every_size(tiling: regions.Tiling, region: Region) -> bool:
    """Return whether a tile is certain to fit within its axis, or shorter axes have a separate plan."""
    return is_by_example() or proves_at_most(tiling.rows, resolve_shape(region.root.shape)[tiling.tiled])


def _lower_in_blocks(lowering: Lowering, region: Region, tiling: regions.Tiling) -> PlanValue:
    root, parts = regions.tile(region, tiling)
    inner = lowering.inner()
    inner.prefix = f"{lowering.prefix}block_{lowering.blocks + 1}_"
    inputs, cuts = [], []
    for number, (term, axis_names) in enumerate(parts, 1):
        value = lowering.array(term)
        picked = {axis_names[axis]: index for index, axis in enumerate(tiling.picked) if axis in axis_names}
        rows = axis_names.get(tiling.tiled)
        names = tuple(axis for axis in value.order if axis not in picked)
        shape = tuple(
            tiling.rows if axis == rows else size for axis, size in zip(value.order, value.shape) if axis in names
        )
        part = inner.inputs[f"part_{number}"] = inner.builder.input(f"x{number}", names, shape, value.dtype, value)
        if rows is not None:
            inner.builder.cut.add(part)
        inputs.append(value)
        last = len(tiling.picked)
        cuts.append(tuple(picked.get(axis, last if axis == rows else None) for axis in value.order))
    result = inner.builder.array(*inner.lower_all((root,)))
    cores = cores_for(lowering, region)
    lowering.blocks += 1
    order = (*tiling.picked, *result.order)
    sizes = resolve_shape(region.root.shape)
    assume_at_most(tiling.rows, sizes[tiling.tiled])  # The last tile overlaps the previous one, so one tile must fit.
    shape = tuple(sizes[axis] for axis in order)
    plan = inner.builder.plan(lowering.source, (result,), f"{lowering.prefix}b{lowering.blocks}_")
    return lowering.builder.step(
        "tiling", inputs, order, shape, result.dtype, plan=plan, function=f"{lowering.prefix}block_{lowering.blocks}", cuts=tuple(cuts),
        counts=(*[sizes[axis] for axis in tiling.picked], sizes[tiling.tiled]), rows=tiling.rows,
        at=order.index(tiling.tiled), sizes=shape, cores=cores,
    )  # fmt: skip


def _one_by_one(lowering: Lowering, region: Region) -> Argument:
    lowering.regions.pop(id(region.root))
    for term in topological(region.root):
        if id(term) in region.inside and lowering.known(term) is None:
            lowering.check_memory(term, number_of_elements(term))
            lowering.values[id(term)] = lowering.lower(term)
    return lowering.value(region.root)
