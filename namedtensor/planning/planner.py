"""The planner: the tables of rules and rewrites, applied to the roots of a typed graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ..core.arrays import dtype_name, kind_of
from ..core.layout import Layout
from ..core.limits import DEFAULT, Limits
from ..core.warned import warn
from ..terms.loop_bodies import for_planning
from ..terms.terms import Term
from . import blocking, merged_projections
from .dtypes import real_of
from .fast_path import MAX_REPEATED_STEPS
from .lowering import Lowering, Tables
from .plan import Plan
from .rewrites import REWRITES
from .structural import RULES
from .target import Target
from .whole_numbers import ROUNDED

ANALYSES = (("tiling", blocking.find_regions), ("fused-projections", merged_projections.find_groups))
DTYPE = attrgetter("dtype")
TABLES = Tables(RULES, REWRITES, blocking.lower_region, ANALYSES)


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
    """The plan of `roots`, and the Python functions that it calls.

    Its inputs are those of `layouts`, in this order, called as `names` says or as they are; in those `donated` it may
    write. Raises NotationError where something is not known, or too large.
    """
    given = dict.fromkeys(map(DTYPE, layouts.values()))
    real = real_of(target, given)
    any_complex = any(kind_of(dtype_name(dtype)) == "c" for dtype in given)
    lowering = Lowering(source, target, limits, real, disable, TABLES)
    lowering.add_inputs(layouts, names or {}, donated)
    results = [lowering.builder.result(value) for value in lowering.lower_all(for_planning(roots, not any_complex))]
    if lowering.builder.rounds:
        warn(ROUNDED)
    short = 0 if lowering.blocks else MAX_REPEATED_STEPS
    return lowering.builder.plan(source, results, short=short), lowering.user_functions
