"""NumPy's protocols. `np.exp(A)` aligns axes by name, and `np.sum(A)` raises an error that suggests `nt.sum`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar.errors import NotationError

from ..core.axes import ShapeMismatchError, broadcast, union
from ..core.labels import find_common_labels, labels_of, make_labeled_layout
from ..core.tensor import NamedTensor, wrap_array, wrap_layout
from ..operators import REGISTRY
from . import eager, functions
from .diagnostics import no_names, shape_error

# ufunc -> operator, if the names differ
OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "⊙", "divide": "/", "true_divide": "/", "power": "^", "absolute": "abs",
    "maximum": "max", "minimum": "min", "equal": "=", "not_equal": "≠", "less": "<", "less_equal": "≤", "greater": ">",
    "greater_equal": "≥", "logical_and": "∧", "logical_or": "∨", "logical_not": "¬", "bitwise_and": "∧",
    "bitwise_or": "∨", "invert": "¬",
}  # fmt: skip
# NumPy's name -> our name, if they differ
FUNCTIONS = {
    "amax": "max", "amin": "min", "concatenate": "concat", "einsum": "dot", "tensordot": "dot", "matmul": "dot",
    "take": "index", "take_along_axis": "index"
}  # fmt: skip

OPERANDS = {"dot": "A, B", "concat": "A, B", "stack": "A, B", "index": "A, I"}


def ufunc(function: Any, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Apply a ufunc, as in `np.exp(A)`.

    Raise NotationError for a generalized ufunc, for a method such as `np.add.reduce`, and for options such as `out`.
    """
    name = function.__name__
    if method != "__call__" or function.signature is not None or options:
        raise make_positional_error(name if method == "__call__" else f"{name}.{method}", _add_advice(name, method))
    operands = tuple(eager.to_operand(input_) for input_ in inputs)
    for operand in operands:
        if not isinstance(operand, (NamedTensor, *eager.NUMBERS)):
            raise no_names(operand, f"np.{name}")
    record = REGISTRY.get(OPERATORS[name] if name in OPERATORS else name)
    return eager.call(record, operands) if record is not None else _elementwise(function, operands)


def _add_advice(name: str, method: str) -> str:
    return {("add", "reduce"): "sum", ("multiply", "reduce"): "prod", ("maximum", "reduce"): "max",
            ("minimum", "reduce"): "min", ("add", "accumulate"): "cumsum", ("matmul", "__call__"): "dot",
            ("vecdot", "__call__"): "dot"}.get((name, method), "")  # fmt: skip


def _elementwise(function: Any, operands: tuple[Any, ...]) -> Any:
    """Apply an elementwise ufunc that the notation has no operator for. The result has the axes of all operands."""
    if any(getattr(getattr(operand, "layout", None), "labels", ()) for operand in operands):
        axes = dict.fromkeys(axis for operand in operands for axis in getattr(operand, "axes", ()))
        operands = eager.labeled().align(operands, axes)
    labels = find_common_labels([labels_of(getattr(operand, "layout", None)) for operand in operands])
    layouts = [operand.layout if isinstance(operand, NamedTensor) else None for operand in operands]
    shapes = tuple({} if layout is None else layout.sizes for layout in layouts)
    try:
        broadcast(shapes)
    except ShapeMismatchError as problem:
        raise shape_error(problem, REGISTRY["+"], shapes, ()) from None
    order = union(tuple(layout and layout.axes for layout in layouts))
    result = function(
        *[operand if layout is None else eager.laid(operand, order) for operand, layout in zip(operands, layouts)]
    )
    results = tuple(wrap_array(array, order) for array in (result if isinstance(result, tuple) else (result,)))
    if labels:
        results = tuple(wrap_layout(value._array, make_labeled_layout(value.layout, labels)) for value in results)
    return results if isinstance(result, tuple) else results[0]


def function(name: str, axes: tuple[str, ...]) -> NotationError:
    """Return the error for a NumPy function that depends on the order of axes, as in `np.sum(A)`."""
    ours = FUNCTIONS.get(name, name)
    return make_positional_error(name, ours if ours in functions.FUNCTIONS else "", axes)


def make_positional_error(name: str, ours: str, axes: tuple[str, ...] = ()) -> NotationError:
    axis = axes[0] if axes else "seq"
    operands = OPERANDS.get(ours, "A")
    hint = (
        f'write nt.{ours}({operands}, axis="{axis}")'
        if ours
        else 'take its array in an explicit order: A.to_array("…")'
    )
    return NotationError(318, f"np.{name} depends on the order of axes, which a named tensor does not have", hint=hint)
