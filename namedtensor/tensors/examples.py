"""An example of each Python function, made of its record; each is run as a doctest.

What is written goes by the operator's signature, so a new operator has its example at once; what is shown is the shape
that the lifting rule gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..core.axes import Shape, broadcast, lift, show
from ..operators import REGISTRY
from ..operators.record import Operator


class Call(NamedTuple):
    """What is written after the function's name, and the shapes, axes and sizes that this stands for."""

    written: str
    shapes: tuple[Shape, ...] = ()
    axes: tuple[str, ...] = ()
    sizes: Mapping[str, int] = {}
    order: tuple[str, ...] = ()  # of storage, where it is not the rule's


PICTURE = 'A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")'
SQUARE = 'S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")'
A: Shape = {"height": 2, "width": 3}
S: Shape = {"row": 2, "column": 2}

BY_SIGNATURE = {
    "->": Call("(A)", (A,)),
    ", ->": Call("(A, 2)", (A, {})),
    ", , ->": Call("(A, 2, 4)", (A, {}, {})),
    "ax… ->": Call('(A, axis="width")', (A,), ("width",)),
    "ax… -> ax…": Call('(A, axis="width")', (A,), ("width",)),
    "ax -> ax": Call('(A, axis="width")', (A,), ("width",)),
    "ax…, ax… ->": Call('(A, A.rename(height="rows"), axis="width")', (A, {"rows": 2, "width": 3}), ("width",)),
    "ax, ax -> ax": Call('(A, A, axis="width")', (A, A), ("width",)),
    "seq -> seq kernel": Call('(A, axis=("width", "kernel"), size=3)', (A,), ("width", "kernel"), {"kernel": 3}),
    "ax, ->": Call('(A, 0, axis="width")', (A, {}), ("width",)),
    "ax -> k": Call('(A, axis=("width", "k"), size=2)', (A,), ("width", "k"), {"k": 2}),
    "ax -> ax k": Call('(A, axis=("width", "k"), size=2)', (A,), ("width", "k"), {"k": 2}, ("height", "k", "width")),
    "-> ax": Call('(axis="seq", size=4)', (), ("seq",), {"seq": 4}),
    "-> ax ax'": Call('(axis=("row", "column"), size=4)', (), ("row", "column"), {"row": 4, "column": 4}),
    "row column ->": Call('(S, axis=("row", "column"))', (S,), ("row", "column")),
    "row column -> row column": Call('(S, axis=("row", "column"))', (S,), ("row", "column")),
}
BY_NAME = {
    "stack": Call('(A, A, axis="copy")', (A, A), ("copy",), order=("copy", "height", "width")),
    "onehot": Call('(A, axis="vocab", size=10)', (A,), ("vocab",), {"vocab": 10}),
    "where": Call("(A > 2, A, 0)", (A, A, {})),
    "any": Call('(A > 2, axis="width")', (A,), ("width",)),
    "all": Call('(A > 2, axis="width")', (A,), ("width",)),
    "logical_not": Call("(A > 2)", (A,)),
    "logical_and": Call("(A > 2, A < 5)", (A, A)),
    "logical_or": Call("(A < 2, A > 5)", (A, A)),
}


def shape_of(record: Operator, call: Call) -> dict[str, int]:
    """The shape of what a call gives."""
    if record.kind == "elementwise":
        return broadcast(call.shapes)
    given = record.given(call.shapes, call.axes, call.sizes) if record.given is not None else None
    return lift(
        record.lifted_over(len(call.shapes)), call.axes, call.shapes, given=given, differing=record.kind == "structure"
    )


def example(record: Operator) -> tuple[str, str] | None:
    """The lines that are written, and the one that is shown; None for a signature that has no example here."""
    call = BY_NAME.get(record.python_name) or BY_SIGNATURE.get(record.signature)
    if call is None:
        return None
    lines = ["import namedtensor as nt", f"nt.{record.python_name}{call.written}.shape"]
    lines[1:1] = [SQUARE] if "S" in call.written else [PICTURE] if "A" in call.written else []
    shape = shape_of(record, call)
    return "\n>>> ".join(lines), show({axis: shape[axis] for axis in call.order or shape})


EXAMPLES: dict[str, tuple[str, str]] = {
    record.python_name: found for record in dict.fromkeys(REGISTRY.values()) if (found := example(record)) is not None
}
