"""The number of cores that compute the blocks of a region. Small regions stay on the calling thread.

Waking a thread and waiting for it costs about as much as a millisecond of work. Several cores are therefore worthwhile
from about two milliseconds of work on one core. This time is estimated from the numbers of multiply-adds and bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..operators import REGISTRY
from ..terms.terms import Term
from . import regions
from .regions import Region

ONE, SEVERAL, BESIDE_BLAS, LONG_BESIDE_BLAS = "one", "several", "several, BLAS on one", "several for long, BLAS on one"
LIMIT = "blas-thread-limit"  # the optimization
MIN_TILED_MS = 1.0  # the shortest time on one core that is worth blocks with products, even on one core
MIN_SHARED_MS = 2.0  # the shortest time on one core that is worth several cores
MIN_TILED_CHAIN_MS = MIN_SHARED_MS  # the same threshold for blocks without products, which never pay off on one core
MIN_SHARED_BESIDE_MS = 40.0  # the same after products that woke the BLAS threads, which stay awake for about this time
MIN_LONG_MS = 300.0  # the BLAS threads fall asleep early in work that takes longer than this on one core
MIN_WAKING_MULTIPLY_ADDS = 2**23  # the smallest product, in multiply-adds, that wakes the threads of the BLAS
# Measured on one core.
BYTES_MULTIPLIED_PER_MS = 2**28  # multiply-adds times the bytes of a number; up to twice as many with 512-bit vectors
MS_PER_BYTE = 5e-8  # for an elementwise operation or a sum, in the cache
MS_PER_BYTE_HEAVY = 1.5e-7  # for a heavy operation such as exp


def milliseconds(region: Region, itemsize: int) -> float:
    """Return the approximate time that one core needs for a region, in milliseconds."""
    return sum(_milliseconds(term, itemsize) for term in regions.terms_of(region.root, region.inside))


def _milliseconds(term: Term, itemsize: int) -> float:
    record = REGISTRY.get(term.operator)
    if term.operator == "rename" or record is None:
        return 0.0
    if regions.is_product(term):
        return regions.multiply_adds(term) * itemsize / BYTES_MULTIPLIED_PER_MS
    largest = max(map(regions.count, (term, *term.arguments)))
    return largest * itemsize * (MS_PER_BYTE_HEAVY if record.heavy else MS_PER_BYTE)


def has_products(region: Region) -> bool:
    """Return whether the blocks of a region contain products that call BLAS."""
    return any(regions.is_product(term) for term in regions.terms_of(region.root, region.inside))


def wakes_blas(terms: Sequence[Term], taken: Collection[int]) -> bool:
    """Return whether a product outside of all regions is so large that it wakes BLAS threads."""
    return any(
        regions.is_product(term) and id(term) not in taken and regions.multiply_adds(term) >= MIN_WAKING_MULTIPLY_ADDS
        for term in terms
    )


def is_small(region: Region, itemsize: int) -> bool:
    """Return whether a region is so small that computing whole arrays is as fast as computing blocks.

    If the region has no products, the limit is the work for which one core suffices.
    """
    return milliseconds(region, itemsize) < (MIN_TILED_MS if has_products(region) else MIN_TILED_CHAIN_MS)


def cores_for(region: Region, itemsize: int, may_limit: bool, blas_awake: bool) -> str:
    """Return the cores that compute the blocks of a region: ONE, SEVERAL, BESIDE_BLAS or LONG_BESIDE_BLAS."""
    products = has_products(region)
    least = MIN_SHARED_BESIDE_MS if products and blas_awake else MIN_SHARED_MS
    duration = milliseconds(region, itemsize)
    if duration < least or products and not may_limit:
        return ONE
    if not products:
        return SEVERAL
    return LONG_BESIDE_BLAS if duration >= MIN_LONG_MS else BESIDE_BLAS
