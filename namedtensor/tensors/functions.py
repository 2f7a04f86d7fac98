"""The Python functions and methods for operators, generated from the operators' records.

Examples are `nt.softmax(A, axis="seq")` and `A.softmax(axis="seq")`.

The operator's record specifies the number of tensors that a function accepts. Functions of one or two tensors have a
fast path that looks up the prepared call. The example in each docstring is also generated: the operator's signature
determines the call, and the lifting rule determines the shape of the result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from grammar.errors import NotationError

from ..core.arrays import is_array
from ..core.axes import ShapeMismatchError, broadcast, names_of, show
from ..core.kinds import to_integer
from ..core.tensor import NamedTensor, _new
from ..operators import REGISTRY
from ..operators.record import MANY, A, Example, Operator, S
from ..operators.usage import sentence, sets
from . import eager
from .diagnostics import shape_error

OPERANDS = ("X", "Y", "Z")


def axes_of(axis: Any) -> tuple[str, ...]:
    """Return the axis names in an `axis` argument as a tuple. The argument can be one name, several names or None."""
    if axis is None:
        return ()
    return names_of(axis)


def all_axes(record: Operator, tensors: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the default axes of a call: all axes of the tensor if the call reduces one tensor, or else none."""
    is_total = record.kind == "reduction" and record.lifted.variadic and len(tensors) == 1
    return getattr(tensors[0], "axes", ()) if is_total else ()


def make_function(record: Operator) -> Callable[..., Any]:
    """Return the Python function for the operator that a record describes."""
    if takes_sizes(record) or record.counts_from_zero and record.arity[0] > 1:
        function = _make_variadic_function(record)
    else:
        function = MAKERS.get(record.arity, _make_variadic_function)(record)
    function.__name__ = function.__qualname__ = record.python_name
    function.__module__ = "namedtensor"
    function.__doc__ = documentation(record)
    function.__signature__ = signature(record)  # type: ignore[attr-defined]
    return function


def _make_unary_function(record: Operator) -> Callable[..., Any]:
    find = eager.calls_of_operator(record.name).get

    def function(X, axis=None, **options):
        try:
            known = None if options else find((X.layout, axis))
        except (AttributeError, TypeError):  # X has no layout, or the axis cannot be a key
            known = None
        if known is None:
            try:
                return _run_and_prepare(record, (X,), axis, options)
            except NotationError as problem:
                raise problem.alone() from None
        result = _new(NamedTensor)
        result._array, result.layout = known[0](X._array), known[1]
        return result

    return function


def _make_binary_function(record: Operator) -> Callable[..., Any]:
    find = eager.calls_of_operator(record.name).get

    def function(X, Y=None, axis=None, **options):
        try:
            key = (X.layout, axis) if Y is None else (X.layout, Y.layout, axis)
            known = None if options else find(key)
        except (AttributeError, TypeError):  # an operand has no layout, or the axis cannot be a key
            known = None
        if known is None:
            tensors = (X,) if Y is None and record.arity[0] == 1 else (X, Y)
            try:
                return _run_and_prepare(record, tensors, axis, options)
            except NotationError as problem:
                raise problem.alone() from None
        result = _new(NamedTensor)
        result._array = known[0](X._array) if Y is None else known[0](X._array, Y._array)
        result.layout = known[1]
        return result

    return function


def _run_and_prepare(record: Operator, tensors: tuple[Any, ...], axis: Any, options: dict[str, Any]) -> Any:
    """Call a function of one or two tensors. Without options, cache the prepared call by the layouts and the axis."""
    prepared = eager.calls_of_operator(record.name)
    is_plain = not options
    result = general(record, tensors, axis, options)
    layouts = tuple(getattr(tensor, "layout", None) for tensor in tensors)
    axes = axes_of(axis) or all_axes(record, tensors)
    call = prepared.get(layouts if not axes else (axes, (), layouts))
    if is_plain and call is not None and None not in layouts and isinstance(axis, (str, tuple, type(None))):
        prepared.store((*layouts, axis), call)
    return result


def _make_variadic_function(record: Operator) -> Callable[..., Any]:
    def function(*tensors, axis=None, **options):
        if record.arity[1] == MANY and len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
            tensors = tuple(tensors[0])
        try:
            return general(record, tensors, axis, options)
        except NotationError as problem:
            raise problem.alone() from None

    return function


MAKERS = {(1, 1): _make_unary_function, (1, 2): _make_binary_function, (2, 2): _make_binary_function}


def general(record: Operator, tensors: tuple[Any, ...], axis: Any, options: dict[str, Any]) -> Any:
    """Call an operator with arbitrary Python arguments. Raise NotationError if the arguments do not fit."""
    if is_array(axis):
        raise shape_error(ShapeMismatchError("arity", detail=(str(record.arity[1]), len(tensors) + 1)), record, (), ())
    axes = axes_of(axis) or all_axes(record, tensors)
    if takes_sizes(record):
        options["sizes"] = new_sizes(record, axes, options.pop("size", None), options.pop("sizes", None) or {})
    if record.counts_from_zero:
        options["base"] = 0
    unknown = set(options) - {name for name, _ in record.options} - {"sizes", "base"}
    if unknown:
        raise TypeError(f"{record.python_name} has no parameter {sorted(unknown)[0]!r}")
    return eager.call(record, tensors, axes, options)


# ---------------------------------------------------------------------------------------------------- sizes of new axes
def takes_sizes(record: Operator) -> bool:
    return bool(record.new_formals)


def new_sizes(record: Operator, axes: tuple[str, ...], size: Any, sizes: Mapping[str, Any]) -> dict[str, int]:
    """Return the size of each new axis in a call, from `sizes` or else `size`. Raise NotationError if one is missing.

    A creation function such as `identity` uses the first known size for every axis without a size.
    """
    formals = record.lifted.formals
    new = [axis for axis, formal in zip(axes, formals) if formal in record.new_formals]
    result: dict[str, Any] = {axis: sizes.get(axis, size) for axis in new}
    for axis, value in result.items():
        if value is None and record.kind == "creation":
            value = result[axis] = next((size_ for size_ in result.values() if size_ is not None), False)
        if not is_size(value):
            raise NotationError(
                309, f"{record.python_name} needs the size of its new axis {axis}",
                hint=f'write size=3, or sizes={{"{axis}": 3}}',
            )  # fmt: skip
    return {axis: int(value) for axis, value in result.items()}


def is_size(value: Any) -> bool:
    """Return whether a value is a non-negative integer."""
    integer = to_integer(value)
    return integer is not None and integer >= 0


# ---------------------------------------------------------------------------------------- signatures and docstrings
def signature(record: Operator) -> inspect.Signature:
    kind = inspect.Parameter
    if record.arity[1] == MANY:
        parameters = [kind("tensors", kind.VAR_POSITIONAL)]
    else:
        parameters = [kind(name, kind.POSITIONAL_OR_KEYWORD) for name in OPERANDS[: record.arity[0]]]
        parameters += [
            kind(name, kind.POSITIONAL_OR_KEYWORD, default=None) for name in OPERANDS[record.arity[0] : record.arity[1]]
        ]
    if record.kind != "elementwise":
        parameters.append(kind("axis", kind.KEYWORD_ONLY, default=None))
    if takes_sizes(record):
        parameters += [kind(name, kind.KEYWORD_ONLY, default=None) for name in ("size", "sizes")]
    parameters += [kind(name, kind.KEYWORD_ONLY, default=value) for name, value in record.options]
    return inspect.Signature(parameters)


def documentation(record: Operator) -> str:
    """Return the NumPy-style docstring of the function for an operator's record."""
    lines = [sentence(record), ""]
    lines += [f"Signature: {sets(record)} (paper {record.section}). In NumPy: `{record.numpy}`.", ""]
    lines += ["Parameters", "----------", *_parameters(record), "", "Returns", "-------", "NamedTensor", ""]
    lines += ["Raises", "------", "NotationError", "    If an axis is missing (301), or has two sizes (302)."]
    if record.python_name in EXAMPLES:
        example, shown = EXAMPLES[record.python_name]
        lines += ["", "Examples", "--------", f">>> {example}", shown]
    return "\n".join(lines)


def _parameters(record: Operator) -> list[str]:
    """Return the lines of the docstring section Parameters."""
    lines: list[str] = []
    if record.arity[1] == MANY:
        lines += ["*tensors : tensor or number", "    The operands."]
    else:
        names, required = OPERANDS[: record.arity[1]], OPERANDS[: record.arity[0]]
        for name in names:
            lines += [f"{name} : tensor or number" + ("" if name in required else ", optional")]
            lines += ["    Indices count from 0 here, and from 1 in formulas."] if record.counts_from_zero else []
    if record.kind != "elementwise":
        several = record.kind != "structure"
        lines += ["axis : str or iterable of str" if several else "axis : str"]
        lines += [f"    {AXIS.get(record.kind, 'The axes of the signature; the function is lifted over all others.')}"]
    if takes_sizes(record):
        lines += ["size : int, optional", "    Size of the new axis.", "sizes : mapping of str to int, optional"]
        lines += ["    Sizes of the new axes by name."]
    lines += [f"{name} : {type(value).__name__} (default: {value})" for name, value in record.options]
    return lines


AXIS = {
    "reduction": "The axes to reduce over. For a single tensor, None means all axes.",
    "contraction": "The axes to contract; None for the elementwise product. Other shared axes are aligned.",
    "structure": "The axis of the signature; the function is lifted over all others.",
}


# ------------------------------------------------------------------------------------------------------ examples of use
PICTURE = 'A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")'
SQUARE = 'S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")'
BY_SIGNATURE = {
    "->": Example("(A)", (A,)),
    ", ->": Example("(A, 2)", (A, {})),
    ", , ->": Example("(A, 2, 4)", (A, {}, {})),
    "ax… ->": Example('(A, axis="width")', (A,), ("width",)),
    "ax… -> ax…": Example('(A, axis="width")', (A,), ("width",)),
    "ax -> ax": Example('(A, axis="width")', (A,), ("width",)),
    "ax ->": Example('(A, axis="width")', (A,), ("width",)),
    "ax…, ax… ->": Example('(A, A.rename(height="rows"), axis="width")', (A, {"rows": 2, "width": 3}), ("width",)),
    "ax, ax -> ax": Example('(A, A, axis="width")', (A, A), ("width",)),
    "seq -> seq kernel": Example('(A, axis=("width", "kernel"), size=3)', (A,), ("width", "kernel"), {"kernel": 3}),
    "ax, ->": Example('(A, 0, axis="width")', (A, {}), ("width",)),
    "ax -> k": Example('(A, axis=("width", "k"), size=2)', (A,), ("width", "k"), {"k": 2}),
    "ax -> ax k": Example('(A, axis=("width", "k"), size=2)', (A,), ("width", "k"), {"k": 2}, ("height", "k", "width")),
    "-> ax": Example('(axis="seq", size=4)', (), ("seq",), {"seq": 4}),
    "-> ax ax'": Example('(axis=("row", "column"), size=4)', (), ("row", "column"), {"row": 4, "column": 4}),
    "row column ->": Example('(S, axis=("row", "column"))', (S,), ("row", "column")),
    "row column -> row": Example('(S, axis=("row", "column"))', (S,), ("row", "column")),
    "row column, row -> column": Example(
        '(S, nt.tensor([1.0, 2.0], "row"), axis=("row", "column"))', (S, {"row": 2}), ("row", "column")
    ),
    "row column -> row column": Example('(S, axis=("row", "column"))', (S,), ("row", "column")),
}


def shape_of(record: Operator, call: Example) -> dict[str, int]:
    """Return the shape of the result of an example call."""
    if record.kind == "elementwise":
        return broadcast(call.shapes)
    sizes = record.new_sizes(call.shapes, call.axes, call.sizes) if record.new_sizes is not None else None
    return record.result_shape(call.shapes, call.axes, sizes)


def example(record: Operator) -> tuple[str, str] | None:
    """Return an example for the docstring: its code and its output. Return None if the signature has no example."""
    call = record.example or BY_SIGNATURE.get(record.signature)
    if call is None:
        return None
    lines = ["import namedtensor as nt", f"nt.{record.python_name}{call.written}.shape"]
    lines[1:1] = [SQUARE] if "S" in call.written else [PICTURE] if "A" in call.written else []
    shape = shape_of(record, call)
    return "\n>>> ".join(lines), show({axis: shape[axis] for axis in call.order or shape})


EXAMPLES: dict[str, tuple[str, str]] = {
    record.python_name: usage for record in dict.fromkeys(REGISTRY.values()) if (usage := example(record)) is not None
}


# -------------------------------------------------------------------------------------------------- the tables
def _all() -> dict[str, Callable[..., Any]]:
    result: dict[str, Callable[..., Any]] = {}
    for record in dict.fromkeys(REGISTRY.values()):
        function = make_function(record)
        for name in (record.python_name, *record.aliases):
            if name.isidentifier() and name.isascii():
                result.setdefault(name, function)
    return result


FUNCTIONS = _all()
METHODS = {
    name: FUNCTIONS[name]
    for record in REGISTRY.values()
    for name in (record.python_name, *record.aliases)
    if record.method and name in FUNCTIONS
}
__test__ = FUNCTIONS  # doctest runs their examples
