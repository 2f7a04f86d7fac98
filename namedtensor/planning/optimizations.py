"""The table of optimizations. The identity in each row explains why results stay the same up to rounding.

Each optimization can be disabled by its name (`formula.compile(disable=...)`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple


class Optimization(NamedTuple):
    """An optimization: its name, the identity that it relies on, the function that applies it, and its backends.

    Empty `targets` represent all backends.
    """

    name: str
    identity: str
    by: str
    targets: tuple[str, ...] = ()


ROWS = (
    Optimization("in-place", "a dead buffer is reused in place", "memory.find_reused_arrays", ("numpy",)),
    Optimization(
        "typed-constants",
        "a number combined with an array can be an array without axes in the same dtype",
        "dtypes.with_constants",
        ("numpy",),
    ),
    Optimization(
        "broadcast-constants",
        "max(X, c) = max(X, c I), where I is 1 everywhere",
        "dtypes.expand_to_rows",
        ("numpy",),
    ),
    Optimization(
        "contraction-order",
        "(A ⊙ B) ⊙ C = A ⊙ (B ⊙ C), if each axis has one meaning; ∑ (A ⊙ B) = A ⊙_{ax} B; not in half precision",
        "contraction_order.reorder",
    ),
    Optimization(
        "deferred-normalization",
        "(E / s) ⊙_{ax} V = (E ⊙_{ax} V) / s, where s lacks ax",
        "online_softmax.normalize_late",
        ("numpy",),
    ),
    Optimization(
        "unshifted-softmax",
        "softmax_{ax}(X) = exp X / ∑_{ax} exp X, if the sum is at least 1 and far from the end of the range of the dtype",
        "builder.PlanBuilder.exponentials",
        ("numpy",),
    ),
    Optimization("score-order", "softmax_{ax}(X ⊙ Y) = softmax_{ax}(Y ⊙ X)", "planner.in_order", ("numpy",)),
    Optimization(
        "scale-smaller-operand",
        "(c X) ⊙_{ax} Y = c (X ⊙_{ax} Y), if the size of c is between 1/16 and 1",
        "planner.scale_smaller",
        ("numpy",),
    ),
    Optimization(
        "attention",
        "softmax_{ax}(c Q ⊙_{key} K + M) ⊙_{ax} V is the library's scaled dot-product attention",
        "fused_kernels.attention",
        ("torch",),
    ),
    Optimization(
        "layer-norm",
        "(X − mean_{ax} X) / √(var_{ax} X + ε) ⊙ γ + β is the library's layer norm",
        "fused_kernels.layer_norm",
        ("torch",),
    ),
    Optimization("linear", "X ⊙_{ax} W + b is the library's linear map", "fused_kernels.linear", ("torch",)),
    Optimization(
        "tiling",
        "values that are mapped over an axis can be computed one slice of the axis at a time",
        "blocking.lower_region",
        ("numpy",),
    ),
    Optimization(
        "online-softmax",
        "X ⊙_{ax} Y is the sum of the products of its slices along ax",
        "online_softmax.share",
        ("numpy",),
    ),
    Optimization(
        "layer-tiling",
        "values that are mapped over an axis stay mapped after X ⊙_{ax} W, which has a row for each row of X",
        "regions.find_layers",
        ("numpy",),
    ),
    Optimization(
        "blas-thread-limit",
        "one BLAS thread per core computes the same matrix products as all threads for each product",
        "core_use.cores_for",
        ("numpy",),
    ),
    Optimization(
        "slice-update",
        "{ x if iota_{ax} = p; X otherwise } is X with x for one of its slices",
        "slice_update.put",
        ("numpy",),
    ),
    Optimization(
        "scaled-integers",
        "X ⊙_{ax} (Q ⊙ s) = (X ⊙_{ax} Q) ⊙ s, if Q has 8-bit integers, and s lacks ax",
        "scaled_integers.product",
        ("numpy", "torch", "jax"),
    ),
    Optimization(
        "scaled-elements",
        "(Q ⊙ s)_{ax(i)} = Q_{ax(i)} ⊙ s_{ax(i)}, if Q has 8-bit integers",
        "scaled_integers.element",
        ("numpy", "torch", "jax"),
    ),
    Optimization(
        "small-sum-as-matmul",
        "∑_{ax} X = X ⊙_{ax} I, where I is 1 everywhere",
        "sums_as_products.sum_last",
        ("numpy",),
    ),
)
OPTIMIZATIONS = {row.name: row for row in ROWS}


def select_enabled(target: str, disable: Iterable[str] = ()) -> frozenset[str]:
    """Return the names of the enabled optimizations for a target."""
    off = frozenset(disable)
    return _chosen(target, off if may_limit_blas() else off | {"blas-thread-limit"})


def may_limit_blas() -> bool:
    """Return whether BLAS threads may be limited: `threadpoolctl` is installed and the environment allows it."""
    return os.environ.get("NAMEDTENSOR_BLAS_LIMIT", "1") != "0" and _has_threadpoolctl()


@cache
def _has_threadpoolctl() -> bool:
    try:
        import threadpoolctl  # noqa: F401 # type: ignore[import-not-found]
    except ImportError:
        return False
    return True


@lru_cache(maxsize=256)
def _chosen(target: str, off: frozenset[str]) -> frozenset[str]:
    return frozenset(row.name for row in ROWS if (not row.targets or target in row.targets) and row.name not in off)
