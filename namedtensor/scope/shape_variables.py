"""Resolve shape variables. In X ∈ ℝ^{𝒮 × key}, 𝒮 represents all axes of X that its declaration does not name."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from grammar.symbols import CALLIGRAPHIC

from .names import MARKS, Key
from .symbols import Scope

LETTERS = frozenset(CALLIGRAPHIC.values())
SPELLINGS = (*LETTERS, "\\mathcal", "\\mathscr", "\\cal")  # A source with a shape variable contains one of these.


def is_shape(axis: str) -> bool:
    """Return whether an axis is a calligraphic letter, which represents any set of axes."""
    return axis[:1] in LETTERS


def stand_for(scope: Scope, shapes: Mapping[Key, Collection[str]]) -> dict[str, tuple[str, ...]]:
    """Return the axes that each shape variable represents, given the axes of the declared tensors.

    A declaration determines a shape variable if all of its other shape variables are known.
    """
    stand: dict[str, tuple[str, ...]] = {}
    declared = [(shapes[name], of[0].axes) for name in shapes if (of := scope.declaration(name)) is not None]
    declared = [(axes, named) for axes, named in declared if any(is_shape(axis.name) for axis, _ in named)]
    while True:
        before = len(stand)
        for axes, named in declared:
            names = [axis.name.rstrip(MARKS) for axis, _ in named]
            open = {name for name in names if is_shape(name) and name not in stand}
            if len(open) == 1:
                taken = {real for name in names if name not in open for real in stand.get(name, (name,))}
                stand[open.pop()] = tuple(axis for axis in axes if axis not in taken and "@" not in axis)
        if len(stand) == before:
            return stand
