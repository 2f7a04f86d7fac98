"""Every work by its name, and every group of figures."""

from __future__ import annotations

from collections.abc import Callable

from . import (
    attention,
    block,
    chains,
    contractions,
    decoding,
    eager,
    effects,
    elementwise,
    first,
    gpu,
    gradients,
    growth,
    lengths,
    mixed,
    models,
    orders,
    small,
    stacking,
    start,
)
from .work import Work

GROUPS: dict[str, tuple[Work, ...]] = {
    "attention": attention.WORKS,
    "elementwise": elementwise.WORKS,
    "block": block.WORKS,
    "gradients": gradients.WORKS,
    "contractions": contractions.WORKS,
    "models": models.WORKS,
    "first": first.WORKS,
    "gpu": gpu.WORKS,
}
WORKS = {work.name: work for works in GROUPS.values() for work in works}

# Figures that are measured in this process, each group by a function that gives its rows.
HERE: dict[str, Callable[[], list[dict]]] = {
    "start": start.rows, "eager": eager.rows, "imports": first.rows, "growth": growth.rows, "mixed": mixed.rows,
    "orders": orders.rows, "lengths": lengths.rows, "effects": effects.rows, "decoding": decoding.rows,
    "stacking": stacking.rows, "chains": chains.rows, "small": small.rows,
}  # fmt: skip


def chosen(names: list[str]) -> tuple[list[str], list[Work]]:
    """The groups measured here and the works that are meant by names of groups or of works; all where none is given.

    Raises KeyError with a name that is neither.
    """
    if not names:
        return list(HERE), list(WORKS.values())
    for name in names:
        if name not in {*HERE, *GROUPS, *WORKS}:
            raise KeyError(name)
    works = [work for group, several in GROUPS.items() for work in several if {group, work.name} & {*names}]
    return [name for name in HERE if name in names], works
