"""The planner: the tables of rules and rewrites, applied to the roots of a typed graph.

Each rewrite lowers terms of certain kinds to different steps, as justified by its identity in `optimizations`. The
first enabled rewrite that matches a term is used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ..core.arrays import Layout, dtype_name, kind_of
from ..core.extents import typical
from ..core.settings import DEFAULT, Limits
from ..core.warned import warn
from ..operators import REGISTRY
from ..terms.loop_bodies import drop_dead_states
from ..terms.normalized_exponentials import with_softmax
from ..terms.terms import OPERATOR, Term, number_of_elements, substitute_variables, topological
from . import blocking, contraction_order, fused_kernels, regions, scaled_integers
from .dtypes import real_of
from .lowering import Analysis, Lowering, Rewrite, Tables, multiple
from .online_softmax import normalize_late
from .plan import Argument, Plan, PlanValue
from .step_builder import ENDS
from .structural import RULES
from .target import Target
from .whole_numbers import ROUNDED

MIN_SCALE = 1 / 16  # a smaller scale would cost a factor near its dtype's lower limit more than four bits of precision


def scale_smaller(lowering: Lowering, term: Term) -> Argument | None:
    """Return c (X ⊙_{ax} Y), computed by scaling the smaller of X and Y, or None if the rewrite does not apply.

    It applies if 1/16 ≤ |c| ≤ 1, X and Y have the same dtype, and the smaller factor has at most a quarter as many
    elements as the product.
    """
    b, scaled = lowering.builder, multiple(term)
    if scaled is None:
        return None
    product, scale = scaled
    if (
        not MIN_SCALE <= abs(scale) <= 1
        or product.operator != "⊙"
        or not product.axes
        or not lowering.has_one_use(product)
        or id(product) in lowering.regions
    ):
        return None
    stored = lowering.is_on("scaled-integers")
    if stored and any(scaled_integers.parts(lowering, argument) for argument in product.arguments):
        return None
    x, y = (lowering.value(argument) for argument in product.arguments)
    if not isinstance(x, PlanValue) or not isinstance(y, PlanValue) or x.dtype not in ENDS or x.dtype != y.dtype:
        return None
    if 4 * min(x.typical_count, y.typical_count) > typical(
        number_of_elements(product)
    ):  # a scaled copy of a factor would cost more than scaling the product in place
        return None
    x, y = (b.multiply(x, scale), y) if x.typical_count <= y.typical_count else (x, b.multiply(y, scale))
    return in_order(lowering, product, (x, y))


def in_order(lowering: Lowering, term: Term, operands: tuple[Argument, Argument] | None = None) -> Argument | None:
    """Return X ⊙_{ax} Y, or None if X or Y is not an array.

    If a softmax follows, directly or after elementwise operations, its axis becomes the last axis of the result. This
    requires that the softmax has one axis, which only one of X and Y has, and that no intermediate value is used twice.
    """
    x, y = operands or map(lowering.value, term.arguments)
    if not isinstance(x, PlanValue) or not isinstance(y, PlanValue):
        return None
    user, ordered = term, False
    while lowering.has_one_use(user):
        (user,) = lowering.uses[id(user)]
        if not isinstance(user, Term):  # The term is a result of the plan.
            break
        if user.operator in SOFTMAXES:
            ordered = len(user.axes) == 1 and (user.axes[0] in x.order) != (user.axes[0] in y.order)
            x, y = (y, x) if ordered and user.axes[0] in x.order else (x, y)
            break
        if user.axes or user.operator not in REGISTRY or REGISTRY[user.operator].kind not in ELEMENTWISE:
            break
    return REGISTRY["⊙"].lower(lowering.builder, (x, y), term.axes, {"in_order": ordered})


SOFTMAXES = ("softmax", "logsoftmax")
ELEMENTWISE = ("elementwise", "contraction")  # a contraction without axes multiplies elementwise
EXPONENTIALS = frozenset(("exp", "^"))


def normalize(roots: tuple[Term, ...], real: bool = True) -> tuple[Term, ...]:
    """Return the terms in normalized form, before they are lowered.

    Variables are replaced by their values, and dead states of loops are removed. Softmax is recognized if `real` is
    true.
    """
    roots = substitute_variables(roots)
    kinds = set(map(OPERATOR, topological(*roots)))
    if "loop" in kinds:
        roots = drop_dead_states(roots)
    return with_softmax(roots) if real and "∑" in kinds and not kinds.isdisjoint(EXPONENTIALS) else roots


REWRITES = (
    Rewrite("scaled-integers", ("contraction",), scaled_integers.product),
    Rewrite("scaled-elements", ("index",), scaled_integers.element),
    Rewrite("layer-norm", ("sum", "quotient"), fused_kernels.layer_norm),
    Rewrite("linear", ("sum",), fused_kernels.linear),
    Rewrite("scale-smaller-operand", ("quotient", "product"), scale_smaller),
    Rewrite("attention", ("contraction",), fused_kernels.attention),
    Rewrite("contraction-order", ("chain",), contraction_order.reorder),
    Rewrite("deferred-normalization", ("contraction",), normalize_late),
    Rewrite("score-order", ("contraction",), in_order),
)
ANALYSES = (Analysis("tiling", regions.MIN_SCORE_BYTES, blocking.find_regions),)
DTYPE = attrgetter("dtype")
TABLES = Tables(RULES, REWRITES, blocking.lower_region, ANALYSES, normalize)


def make_plan(
    source: str,
    roots: tuple[Term, ...],
    layouts: Mapping[str, Layout],
    target: Target,
    limits: Limits = DEFAULT,
    names: Mapping[str, str] | None = None,
    disable: Sequence[str] = (),
    donated: Collection[str] = (),
) -> tuple[Plan, list[Any]]:
    """Return the plan for `roots`, and the Python functions that the plan calls.

    The inputs have the given `layouts`, in this order, and the given `names`, if any. The plan may write to the
    `donated` inputs. Raises NotationError if a required size is unknown or a result is too large.
    """
    fromkeys = dict.fromkeys(map(DTYPE, layouts.values()))
    real = real_of(target, fromkeys)
    any_complex = any(kind_of(dtype_name(dtype)) == "c" for dtype in fromkeys)
    lowering = Lowering(source, target, limits, real, disable, TABLES)
    lowering.add_inputs(layouts, names or {}, donated)
    results = [lowering.builder.result(value) for value in lowering.lower_all(normalize(roots, not any_complex))]
    if lowering.builder.rounds:
        warn(ROUNDED)
    return lowering.builder.plan(source, results), lowering.user_functions
