"""Define the concatenation of tensors along an axis (paper §3.6).

Renames, merges and splits are not operators. A rename does not move elements, and the plan builder implements merges
and splits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.axes import Order, union
from . import definitions, transposes
from .builder import OperatorBuilder
from .new_sizes import concatenate_sizes, count_arguments
from .record import MANY, MOVES, A, Example, Operator, register

SECTION = "§3.6 Renaming and reshaping"
JOINS: dict[str, Any] = {"joins": True, **MOVES}


def _concat(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    """Concatenate the operands along an axis. Align the other axes first."""
    (axis,) = axes
    parts = b.common([b.array(argument) for argument in arguments], numbers=True)
    order = max((part.order for part in parts), key=len)
    further = dict.fromkeys(name for part in parts for name in part.order if name not in order)
    order = (*further, *order)
    sizes = {name: size for part in parts for name, size in zip(part.order, part.shape)}
    whole = [
        b.broadcast(part, order, [part.size(axis) if name == axis else sizes[name] for name in order]) for part in parts
    ]
    return b.concat(whole, axis)


def _stack(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    parts = b.common(arguments, numbers=True)
    order = union([part.order for part in parts])
    shape = b.shape_over(order, parts)
    return b.stack([b.broadcast(part, order, shape) for part in parts], axes[0])


register(
    Operator(
        "⊕", "structure", "ax, ax -> ax", _concat, "X and Y concatenated along an axis",
        "np.concatenate([X, Y], axis)", SECTION, aliases=("concat",), ascii="concat", latex=r"\ncat", arity=(1, MANY),
        new_sizes=concatenate_sizes, python="concat", complex=True, definition=definitions.concat,
        transpose=transposes.transpose_concatenation, **JOINS,
    )
)  # fmt: skip
register(
    Operator(
        "stack", "structure", "-> ax", _stack, "X, Y, … stacked along a new axis", "np.stack([X, Y])", SECTION,
        arity=(1, MANY), new_sizes=count_arguments, complex=True, definition=definitions.stack,
        transpose=transposes.transpose_stacked, method=False, **JOINS,
        example=Example('(A, A, axis="copy")', (A, A), ("copy",), order=("copy", "height", "width")),
    )
)  # fmt: skip
