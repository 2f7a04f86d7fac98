"""The errors of shapes that do not fit an operator: one table, and two vocabularies for the operands.

The checker names the parts of a formula (`checking.diagnostics`); the Python functions name the first and the second operand
(`tensors.diagnostics`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .axes import ShapeMismatch

SIGNS = {"juxtaposed": "the product", "negative": "−", "-": "−"}
SAME_SIZES = "rename one of the two axes, or pass tensors of the same size"
NAME_ONCE = "name each axis once"


class Operands(Protocol):
    """The operands, in the words of a caller."""

    @property
    def word(self) -> str: ...

    def lacking(self) -> str:
        """Those without the axis of the problem."""
        ...

    def sizes(self) -> tuple[str, str]:
        """The two sizes of the axis, each with its operands."""
        ...


def code_and_message(problem: ShapeMismatch, sign: str, axes: Sequence[str], operands: Operands) -> tuple[int, str]:
    """The code of a mismatch, and what happened."""
    axis, use = problem.axis, sign + (f"_{{{', '.join(axes)}}}" if axes else "")
    match problem.kind:
        case "missing":
            return 301, f"{use} needs axis {axis}, missing from {operands.lacking()}"
        case "sizes":
            first, second = operands.sizes()
            return 302, f"axis {axis.partition('@')[0]} has size {first} and size {second}"
        case "clash":
            return 306, f"{use} returns axis {axis}, but its operand already has an axis {axis}"
        case "repeated":
            return 303, f"axis {axis} is named twice"
        case "arity":
            wanted, got = problem.detail
            return 304, f"{use} expects {wanted} {operands.word}{'' if str(wanted) == '1' else 's'}, got {got}"
        case "number":
            wanted, got = problem.detail
            return 316, f"{sign} expects {wanted or 'no'} {'axis' if wanted == 1 else 'axes'}, got {got}"
        case "whole":
            return 310, str(problem.detail)
        case "other":
            return 308, str(problem.detail)


def operator_sign(operator: str) -> str:
    """An operator as messages show it."""
    return SIGNS.get(operator, operator)
