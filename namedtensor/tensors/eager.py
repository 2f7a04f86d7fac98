"""Eager operations: the functions behind `A + x` and `nt.softmax(A, axis="seq")`, specialized to the operands' layouts.

The first call with an operator, operand layouts and axes generates a function of positional arrays. The cache stores
this function with the layout of its result. A repeated call therefore needs only one lookup before it calls NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from grammar.cache import Cache
from grammar.errors import NotationError

from ..backends.function import PlanFunction, ignore_warnings, target_of
from ..core.arrays import MOST, Layout, dtype_name, evaluate_eagerly, has_dimensions, is_array
from ..core.axes import ShapeMismatchError, bind, broadcast
from ..core.dimensions import Dimensions, with_assumptions
from ..core.hooks import Injected
from ..core.memory import bytes_per_element, fit_in_memory
from ..core.settings import OUTER, Limits, guard_broadcast
from ..core.tensor import NamedTensor, _new, wrap_array, wrap_layout
from ..operators import REGISTRY
from ..operators.record import MANY, Operator
from ..planning.builder import PlanBuilder
from ..planning.dtypes import real_of
from ..planning.failures import OF_MATRICES, index_error, is_index_problem, make_matrix_error, overflow_error
from ..planning.planner import make_plan
from ..planning.regions import MIN_TILED_BYTES
from ..planning.whole_numbers import CHECKS
from ..terms.terms import Term
from .diagnostics import (
    make_mixed_libraries_error,
    no_names,
    outer_broadcast,
    shape_error,
    too_large,
    truth_error,
    warn_of_marks,
    warn_of_misspelt,
)

Prepared = tuple[Callable[..., Any], Layout]
MAX_OPERATORS = 1024  # names of operators that have separate calls
PREPARED: Cache[str, Cache[Any, Prepared]] = Cache("operators of tensors", MAX_OPERATORS)
NUMBERS = (bool, int, float)
labeled: Injected[[], Any] = Injected()  # the module of operations on tensors with labels
NO_OPTIONS: Mapping[str, Any] = {}


def calls_of_operator(name: str) -> Cache[Any, Prepared]:
    """Return the cache of an operator's prepared calls. Its keys contain layouts or number types, axes and options."""
    cache = PREPARED.get(name)
    return PREPARED.get_or_build(name, lambda: Cache(f"calls of {name}", MOST)) if cache is None else cache


# ---------------------------------------------------------------------------------------------- operators of Python
def infix(name: str) -> Callable[[Any, Any], Any]:
    """Return the method of an infix operator whose right operand is a tensor or a number."""
    find = calls_of_operator(name).get

    def operate(self, other):
        is_tensor = type(other) is NamedTensor
        known = find((self.layout, other.layout if is_tensor else type(other)))
        if known is None:
            try:
                return _first_time(name, self, other)
            except NotationError as problem:
                raise problem.alone() from None
        result = _new(NamedTensor)
        try:
            result._array = known[0](self._array, other._array if is_tensor else other)
        except OverflowError:
            raise too_large(other, self.layout) from None
        result.layout = known[1]
        return result

    return operate


def make_reflected_method(name: str) -> Callable[[Any, Any], Any]:
    """Return the reflected method of an infix operator, which is called if the left operand is a number."""
    find = calls_of_operator(name).get

    def operate(self, other):
        known = find((type(other), self.layout))
        if known is None:
            try:
                return _first_time(name, other, self)
            except NotationError as problem:
                raise problem.alone() from None
        try:
            return wrap_layout(known[0](other, self._array), known[1])
        except OverflowError:
            raise too_large(other, self.layout) from None

    return operate


def _first_time(name: str, left: Any, right: Any) -> Any:
    """Call an infix operator on operands with new layouts. Return NotImplemented if an operand is unsupported."""
    left, right = to_operand(left), to_operand(right)
    if left is None or right is None:
        return NotImplemented
    for operand in (left, right):
        if not isinstance(operand, (NamedTensor, *NUMBERS)):
            raise no_names(operand, name)
    return call(REGISTRY[name], (left, right))


def to_operand(value: Any) -> Any:
    """Convert a number, a tensor, another array or a sequence to an operand. Return None for any other value."""
    if isinstance(value, NamedTensor) or type(value) in NUMBERS:
        return value
    if isinstance(value, NUMBERS):  # np.float64 is a subclass of float, and must not change dtypes either
        return float(value) if isinstance(value, float) else int(value)
    if is_array(value):
        return wrap_array(value, ()) if len(value.shape) == 0 else value
    return value if isinstance(value, (list, tuple)) else None


# ---------------------------------------------------------------------------------------------- operators in general
def call(
    record: Operator, arguments: tuple[Any, ...], axes: tuple[str, ...] = (), options: Mapping[str, Any] = NO_OPTIONS
) -> Any:
    """Call an operator on tensors and numbers. Raise NotationError if the operands do not fit."""
    prepared = calls_of_operator(record.name)
    kinds = tuple([argument.layout if type(argument) is NamedTensor else type(argument) for argument in arguments])
    key = kinds if not axes and not options else (axes, frozen(options), kinds)
    pair = prepared.get(key)
    try:
        if pair is None:
            return _run_first(record, arguments, axes, options, key)
        return wrap_layout(pair[0](*arrays_of(arguments)), pair[1])
    except IndexError as problem:
        if not is_index_problem(problem):
            raise
        raise index_error(problem, axes[0] if axes else record.name, options.get("base", 1)) from None
    except OverflowError:
        layout = next(argument.layout for argument in arguments if type(argument) is NamedTensor)
        raise too_large(next(argument for argument in arguments if type(argument) in NUMBERS), layout) from None


def frozen(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return options as a hashable cache key that distinguishes True and 1.0 from 1."""
    return tuple(
        (name, frozen(value) if isinstance(value, Mapping) else (type(value), value)) for name, value in options.items()
    )


def arrays_of(arguments: tuple[Any, ...]) -> list[Any]:
    return [argument._array if type(argument) is NamedTensor else argument for argument in arguments]


def _run_first(
    record: Operator, arguments: tuple[Any, ...], axes: tuple[str, ...], options: Mapping[str, Any], key: Any
) -> Any:
    if any(getattr(getattr(operand, "layout", None), "labels", ()) for operand in arguments):
        return labeled().run(record, arguments, axes, options, key)
    operands = tuple(to_operand(operand) for operand in arguments)
    for operand, argument in zip(operands, arguments):
        if not isinstance(operand, (NamedTensor, *NUMBERS)):
            raise no_names(argument, record.python_name)
    layouts = tuple(operand.layout if isinstance(operand, NamedTensor) else None for operand in operands)
    shape = check_operands(record, layouts, operands, axes, options)
    itemsize = max((bytes_per_element(layout.dtype) for layout in layouts if layout is not None), default=8)
    with fit_in_memory(shape, itemsize):
        function, order, steady = prepare(record, layouts, operands, axes, options)
    outer = outer_broadcast(record.name, operands) if record.name in OUTER and len(operands) == 2 else None
    function = guard_broadcast(function, outer)
    if (
        record.name in ("+", "-")
        and warn_of_marks(record.name, operands)
        or outer
        and warn_of_misspelt(outer, operands)
    ):
        steady = False  # each such call warns
    with fit_in_memory(shape, itemsize):
        result = wrap_array(function(*arrays_of(operands)), order)
    if steady and all(
        other is argument for other, argument in zip(operands, arguments)
    ):  # a conversion is repeated each time
        calls_of_operator(record.name).store(key, (function, result.layout))
    return result


def check_operands(
    record: Operator, layouts: tuple[Layout | None, ...], operands: tuple[Any, ...], axes: tuple[str, ...],
    options: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Return the shape of the result. Raise NotationError if the operands do not fit the operator."""
    one_library(layouts, record.python_name)
    shapes = tuple({} if layout is None else layout.sizes for layout in layouts)
    try:
        shape = check_shapes(record, shapes, axes, options)
    except ShapeMismatchError as problem:
        raise shape_error(problem, record, shapes, axes) from None
    check_truth(record, layouts, operands)
    return shape


def prepare(
    record: Operator, layouts: tuple[Layout | None, ...], arguments: tuple[Any, ...], axes: tuple[str, ...],
    options: Mapping[str, Any],
) -> tuple[Any, ...]:  # fmt: skip
    """Specialize a call. Return a function of all arguments, the axes of its result, and whether it can be cached."""
    xp = one_library(layouts, record.python_name)

    def lower(w, given):
        return record.lower(w, given, axes, options)

    if len(layouts) == 1 and layouts[0] is not None and is_large(record, layouts[0]) and not options:
        return compute_in_blocks(record, layouts[0], axes)
    kinds = tuple(layout or type(argument) for layout, argument in zip(layouts, arguments))
    quiet = record.warns and xp.__name__ == "numpy"
    if is_elementwise(record, len(arguments), axes):
        return specialize_lowering(lower, kinds, xp, quiet)
    signature = tuple(layout or argument for layout, argument in zip(layouts, arguments))
    function, order, steady = specialize_lowering(lower, signature, xp, quiet)
    return function, order, steady and all(layouts)


def is_large(record: Operator, layout: Layout) -> bool:
    """Return whether to compute a call in blocks, that is, an elementwise operator or axis map on many NumPy floats."""
    floats = layout.xp.__name__ == "numpy" and layout.dtype.kind == "f"
    return (
        record.kind in ("elementwise", "axis_map")
        and floats
        and math.prod(layout.extent) * layout.dtype.itemsize >= MIN_TILED_BYTES
    )


def compute_in_blocks(record: Operator, layout: Layout, axes: tuple[str, ...]) -> tuple[Any, ...]:
    """Return a specialized call, as `prepare` does, for an operator on one large tensor, computed in blocks."""
    target = target_of(layout.xp)
    term = Term("input", (), (), ("x",), layout.sizes, False, None, 0)
    root = Term(record.name, (term,), axes, (), layout.sizes, False, None, 1)
    plan, _ = make_plan("", (root,), {"x": layout}, target, Limits(max_result_bytes=2**63))
    return PlanFunction(plan, target, []), plan.results[0].order, True


def specialize_lowering(
    lower: Callable[..., Any], given: tuple[Any, ...], xp: Any, quiet: bool = False
) -> tuple[Any, ...]:
    """Compile the steps that `lower` builds for these layouts and numbers. Return the same values as `prepare`."""
    if has_dimensions(given):
        return specialize_for_dimensions(lower, given, xp, quiet)
    target = target_of(xp)
    w = PlanBuilder(target, real_of(target, [argument.dtype for argument in given if isinstance(argument, Layout)]))
    arguments = []
    for number, scalar in enumerate(given, 1):
        if isinstance(scalar, Layout):
            scalar = w.input(f"x{number}", scalar.axes, scalar.extent, dtype_name(scalar.dtype))
        elif isinstance(scalar, type):
            scalar = w.scalar(f"x{number}", scalar)
        arguments.append(scalar)
    if arguments and not any(isinstance(argument, Layout) for argument in given):
        arguments = [w.array(argument) for argument in arguments]
    result = w.array(w.result(lower(w, tuple(arguments))))
    with evaluate_eagerly(xp):
        run, _ = target.backend.function(w.plan("", (result,)), xp)
    if any(step.primitive in OF_MATRICES for step in w.steps):
        run = _translate_errors(run, make_matrix_error)
    if any(step.primitive in CHECKS for step in w.steps):
        run = _translate_errors(ignore_warnings(run), partial(_translate_overflow, dtype=target.default_whole))
    places = [index for index, item in enumerate(given) if isinstance(item, (Layout, type))]
    if quiet:
        run = ignore_warnings(run)
    if len(places) < len(given):
        run = _select_arguments(run, places)
    return run, result.order, not result.dynamic


def specialize_for_dimensions(lower: Callable[..., Any], given: tuple[Any, ...], xp: Any, quiet: bool) -> Any:
    """Return a call specialized with symbols for the sizes that are JAX dimensions. It is not cached."""
    dimensions = Dimensions(tuple(f"x{number}" for number in range(1, len(given) + 1)))
    layouts = tuple(dimensions.layout(argument) if isinstance(argument, Layout) else argument for argument in given)
    (run, order, _), assumptions = with_assumptions(lambda: specialize_lowering(lower, layouts, xp, quiet), dimensions)
    assumptions.check({symbol: size for size, symbol in dimensions.symbols.items()})
    return run, order, False


def _translate_errors(
    run: Callable[..., Any], error_of: Callable[[Exception], NotationError | None]
) -> Callable[..., Any]:
    """Return a function that calls `run` and replaces an exception with the error that `error_of` returns, if any."""

    def function(*arguments):
        try:
            return run(*arguments)
        except Exception as problem:
            if (wrong := error_of(problem)) is None:
                raise
            raise wrong from None

    return function


def _translate_overflow(problem: Exception, dtype: str) -> NotationError | None:
    """Return the error for integer overflow, which is a RuntimeError in PyTorch, or None for other errors."""
    return overflow_error(dtype) if isinstance(problem, (OverflowError, RuntimeError)) else None


def laid(tensor: Any, order: tuple[str, ...]) -> Any:
    """Return the array of a tensor, transposed and expanded to broadcast with arrays whose axes are `order`."""
    return specialize_lowering(lambda b, given: b.align(given[0], order), (tensor.layout,), tensor.layout.xp)[0](
        tensor._array
    )


def run_specialized(name: str, tensor: Any, lower: Callable[..., Any], *key: Any, others: Iterable[Any] = ()) -> Any:
    """Run the steps that `lower` builds for `tensor` and `others`, compiled once for their layouts and `key`."""
    if tensor.layout.labels:
        return labeled().merge_or_split(name, tensor, lower, *key)
    tensors = (tensor, *others)
    layouts, arrays = tuple(operand.layout for operand in tensors), [operand._array for operand in tensors]
    table, key = calls_of_operator(name), (layouts, *key)
    pair = table.get(key)
    if pair is None:
        run, order, _ = specialize_lowering(lower, layouts, tensor.layout.xp)
        result = wrap_array(run(*arrays), order)
        if not has_dimensions(layouts):
            table.store(key, (run, result.layout))
        return result
    return wrap_layout(pair[0](*arrays), pair[1])


def _select_arguments(run: Callable[..., Any], places: list[int]) -> Callable[..., Any]:
    """Return a function of all arguments that calls `run` with only the arguments at `places`."""
    return lambda *arguments: run(*[arguments[position] for position in places])


def one_library(layouts: tuple[Layout | None, ...], name: str) -> Any:
    """Return the array namespace that all tensors share, or NumPy if there are no tensors."""
    result = {getattr(layout.xp, "__name__", None): layout.xp for layout in layouts if layout is not None}
    if len(result) > 1:
        raise make_mixed_libraries_error(name, sorted(map(str, result)))
    if None in result:
        raise NotationError(
            317,
            f"{name} got a tensor that has a shape but no values",
            hint="pass it to jax.eval_shape or jax.export",
        )
    if result:
        return next(iter(result.values()))
    import numpy as np

    return np


# ---------------------------------------------------------------------------------------------------------- checking
def check_shapes(
    record: Operator, shapes: tuple[Any, ...], axes: tuple[str, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the shape of the result. Raise ShapeMismatchError if the arguments do not fit the operator.

    Raise NotationError if an axis has size 0 and the operator is undefined for it.
    """
    fewest, most = record.arity
    if not fewest <= len(shapes) <= most:
        expected = f"{fewest}" if fewest == most else f"{fewest} or more" if most == MANY else f"{fewest} or {most}"
        raise ShapeMismatchError("arity", detail=(expected, len(shapes)))
    if is_elementwise(record, len(shapes), axes):
        if axes:
            raise ShapeMismatchError("number", detail=(0, len(axes)))
        return broadcast(shapes)
    if record.kind == "reduction" and len(shapes) > 1:
        raise ShapeMismatchError("arity", detail=("1", len(shapes)))
    bind(record.lifted_over(len(shapes)), axes)
    sizes = record.new_sizes(shapes, axes, options.get("sizes", {})) if record.new_sizes is not None else None
    result = record.result_shape(shapes, axes, sizes)
    if record.kind in ("reduction", "axis_map") and not record.of_nothing:
        empty = next((axis for axis in axes for shape in shapes[:1] if shape[axis] == 0), None)
        if empty is not None:
            raise NotationError(405, f"{record.python_name} is undefined: axis {empty} has size 0")
    return result


def is_elementwise(record: Operator, arguments: int, axes: tuple[str, ...]) -> bool:
    """Return whether the operator is elementwise for these arguments and axes."""
    if record.kind == "elementwise":
        return True
    return not axes and (record.kind == "contraction" or (record.kind == "reduction" and arguments == 2))


def check_truth(record: Operator, layouts: tuple[Layout | None, ...], arguments: tuple[Any, ...]) -> None:
    """Raise NotationError if an operand of a logical operator, or the condition of `where`, is not boolean."""
    asked = arguments if record.boolean[0] else arguments[:1] if record.chooses else ()
    for layout, argument in zip(layouts, asked):
        if not (isinstance(argument, bool) if layout is None else layout.is_truth):
            raise truth_error(record.python_name, argument)
