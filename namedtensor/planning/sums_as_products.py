"""Sums over the last axis or the first axes, computed as products of a matrix and a vector of ones."""

from __future__ import annotations

import math

from ..core.extents import typical
from ..operators.contraction import name_merged_axis
from .plan import PlanValue
from .whole_numbers import StepWriter

MAX_SUMMED_ENTRIES = 2**13  # for longer sums, adding parts is more accurate than one product
MAX_SHORT_ROW_ENTRIES = 512
MIN_LONG_ROW_ENTRIES = 128  # the shortest row for which a product of each row with ones is as fast
MAX_ENTRIES_ON_ONE_CORE = 9216  # OpenBLAS multiplies a larger matrix by a vector on all cores
MAX_PRODUCT_NUMBERS = 2**20  # a larger array does not fit into the caches, so a sum is as fast
DENSE = frozenset("exp multiply subtract add divide matmul dot max sum".split())


def sum_last(b: StepWriter, x: PlanValue, keep: bool) -> PlanValue | None:
    """Return the sum over the last axis as a product, or None if an ordinary sum is better.

    If `keep` is true, the axis remains with size 1.
    """
    if typical(x.shape[-1]) > MAX_SHORT_ROW_ENTRIES or not is_better_as_product(b, x):
        return None
    *outer, size = x.shape
    ones = b.step("ones", (), (x.order[-1],), (size,), x.dtype, size=size)
    if wakes_threads(b, x):
        total = b.step("vecdot", (x, ones), x.order[:-1], outer)
        return b.reshape(total, x.order, (*outer, 1)) if keep else total
    above = name_merged_axis(x.order[:-1])
    rows = b.reshape(x, (above, x.order[-1]), (math.prod(outer), size))
    total = b.step("dot", (rows, ones), (above,), (rows.shape[0],))
    if keep:
        return b.reshape(total, x.order, (*outer, 1))
    return b.reshape(total, x.order[:-1], tuple(outer))


def wakes_threads(b: StepWriter, x: PlanValue) -> bool:
    """Return whether computing a sum as one product would wake BLAS threads that no earlier product of the plan uses.

    These threads would delay the threads that compute blocks.
    """
    return (
        not b.in_block
        and typical(x.shape[-1]) >= MIN_LONG_ROW_ENTRIES
        and x.typical_count > MAX_ENTRIES_ON_ONE_CORE
        and not any(step.primitive in ("matmul", "dot") for step in b.steps)
    )


def sum_first(b: StepWriter, x: PlanValue, count: int) -> PlanValue | None:
    """Return the sum over the first `count` axes as a product, or None if a plain sum is better."""
    outer, rest = math.prod(x.shape[:count]), x.shape[count:]
    if not 1 < typical(outer) <= MAX_SUMMED_ENTRIES or not rest or not is_better_as_product(b, x):
        return None
    above, beside = (name_merged_axis(axes) for axes in (x.order[:count], x.order[count:]))
    ones = b.step("ones", (), (above,), (outer,), x.dtype, size=outer)
    matrix = b.reshape(x, (above, beside), (outer, math.prod(rest)))
    total = b.step("dot", (ones, matrix), (beside,), matrix.shape[1:])
    return b.reshape(total, x.order[count:], rest)


def is_better_as_product(b: StepWriter, x: PlanValue) -> bool:
    """Return whether a product with ones may replace a sum of this array.

    The optimization must be enabled, and the array must be dense, fit into the caches, and contain floats.
    """
    floats = x.dtype in ("float32", "float64") and len(x.order) > 1
    return (
        "small-sum-as-matmul" in b.optimized
        and floats
        and x.typical_count <= MAX_PRODUCT_NUMBERS
        and is_dense_and_new(b, x)
    )


def is_dense_and_new(b: StepWriter, x: PlanValue) -> bool:
    """Return whether an array was created by a step and is probably dense."""
    step = b.written(x)
    if step is not None and step.primitive == "reshape":
        step = b.written(step.arguments[0])
    return step is not None and step.primitive in DENSE
