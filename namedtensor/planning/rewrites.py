"""The table of rewrites, in order: each computes terms of some kinds by another plan, by the law of its row in
`optimizations`.

Of the rewrites of a term's kind the first that matches is taken.
"""

from __future__ import annotations

from ..core.extents import Extent, typical
from ..operators import REGISTRY
from ..terms.terms import Term
from . import contraction_order, fused_kernels, merged_projections, online_softmax
from .lowering import Lowering, Rewrite, count
from .plan import Argument, Value


def scale_smaller(lowering: Lowering, term: Term) -> Argument | None:
    """c (X ⊙_{ax} Y) with the smaller of X and Y scaled, where that is the cheaper."""
    b = lowering.builder
    product, factor = term.arguments
    if product.number is not None and term.operator != "/":
        product, factor = factor, product
    number = factor.number
    record = REGISTRY.get(product.operator)
    if (
        number is None
        or type(number) is Extent
        or isinstance(number, bool)
        or record is None
        or record.kind != "contraction"
    ):
        return None
    if not product.axes or not lowering.has_one_use(product) or number == 0 or id(product) in lowering.regions:
        return None
    x, y = (lowering.value(each) for each in product.arguments)
    if not isinstance(x, Value) or not isinstance(y, Value) or b.kind(x) != "f" or x.dtype != y.dtype:
        return None
    if 4 * min(x.typical_count, y.typical_count) > typical(
        count(product)
    ):  # a new array costs more than a pass over one in place
        return None
    scale = 1.0 / number if term.operator == "/" else float(number)
    x, y = (b.multiply(x, scale), y) if x.typical_count <= y.typical_count else (x, b.multiply(y, scale))
    return REGISTRY["⊙"].lower(b, (x, y), product.axes, {})


REWRITES = (
    Rewrite("layer-norm", ("sum", "quotient"), fused_kernels.layer_norm),
    Rewrite("linear", ("sum",), fused_kernels.linear),
    Rewrite("scale-smaller-operand", ("quotient", "product"), scale_smaller),
    Rewrite("fused-projections", ("contraction",), merged_projections.project),
    Rewrite("attention", ("contraction",), fused_kernels.attention),
    Rewrite("contraction-order", ("contraction", "total"), contraction_order.reorder),
    Rewrite("deferred-normalization", ("contraction",), online_softmax.normalize_late),
)
