"""One operation at once: what `A + x` and `nt.softmax(A, axis="seq")` do.

A call is prepared once for its kind: operator, axes, sizes and dtypes of the arguments, axes of the use. The prepared
function thinks nothing; a repeated call is one look-up and the NumPy calls themselves.
"""

from __future__ import annotations

import difflib
from typing import Any, Iterable, Mapping

from grammar.errors import NotationError

from .arrays import is_array, namespace
from .axes import AxisProblem, broadcast, lift, show
from .operators import REGISTRY
from .operators.dtypes import is_numpy
from .operators.lowering import fit, union
from .operators.record import IndexProblem, Operator

NamedTensor: Any = None  # set by `tensors`, which is made of this

_new = object.__new__
_PREPARED: dict[tuple, tuple] = {}


def made(array: Any, axes: tuple[str, ...]) -> Any:
    """A tensor of these parts, unchecked."""
    result = _new(NamedTensor)
    result.array = array
    result.axes = axes
    return result


def unary(name: str, tensor: Any) -> Any:
    """An elementwise operator on one tensor."""
    array, axes = tensor.array, tensor.axes
    mark = (name, axes, type(array))
    found = _PREPARED.get(mark)
    if found is None:
        found = _PREPARED[mark] = REGISTRY[name].lower(namespace(array), (axes,), (), {})
    return made(found[0](array), axes)


def binary(name: str, left: Any, right: Any) -> Any:
    """An infix operator on two tensors, or a tensor and a number."""
    try:
        a, b = left.array, right.array
        mark = (name, left.axes, a.shape, a.dtype.char, right.axes, b.shape, b.dtype.char)
        found = _PREPARED[mark]
    except (AttributeError, KeyError):
        return _binary(name, left, right)
    return made(found[0](a, b), found[1])


def _binary(name: str, left: Any, right: Any) -> Any:
    pair = []
    for each in (left, right):
        if isinstance(each, NamedTensor) or isinstance(each, (bool, int, float)):
            pair.append(each)
        elif is_array(each) and getattr(each, "ndim", 1) == 0:
            pair.append(made(each, ()))
        elif is_array(each) or isinstance(each, (list, tuple)):
            raise NotationError(
                317, f"an array without names cannot be used with {name}", hint='name its axes: nt.tensor(array, "seq chans")'
            )
        else:
            return NotImplemented
    left, right = pair
    record = REGISTRY[name]
    if isinstance(left, NamedTensor) and isinstance(right, NamedTensor):
        a, b = left.array, right.array
        _one_library(a, b)
        check_broadcast(name, (left, right))
        xp = namespace(a)
        found = record.lower(xp, (left.axes, right.axes), (), {"dtypes": (a.dtype, b.dtype)})
        if is_numpy(xp):
            _PREPARED[(name, left.axes, a.shape, a.dtype.char, right.axes, b.shape, b.dtype.char)] = found
        return made(found[0](a, b), found[1])
    tensor = left if isinstance(left, NamedTensor) else right
    at = 0 if tensor is left else 1
    mark = (name, tensor.axes, type(tensor.array), at, "number")
    found = _PREPARED.get(mark)
    if found is None:
        orders = (tensor.axes, None) if at == 0 else (None, tensor.axes)
        xp = namespace(tensor.array)
        found = _PREPARED[mark] = record.lower(xp, orders, (), {})
    return made(found[0](tensor.array, right) if at == 0 else found[0](left, tensor.array), tensor.axes)


def _one_library(a: Any, b: Any) -> None:
    if type(a) is not type(b) and namespace(a) is not namespace(b):
        raise NotationError(
            317,
            f"one tensor is of {type(a).__module__}, the other of {type(b).__module__}",
            hint="convert one of them first",
        )


def check_broadcast(name: str, tensors: tuple) -> None:
    try:
        broadcast(tuple(tensor.sizes for tensor in tensors))
    except AxisProblem as problem:
        raise error(problem, name, tensors, ()) from None


# ------------------------------------------------------------------------------------------- functions made of records
def call(record: Operator, arguments: tuple, axes: tuple[str, ...], options: Mapping[str, Any]) -> Any:
    """Any operator on tensors and numbers."""
    mark = _mark(record, arguments, axes, options)
    found = _PREPARED.get(mark)
    if found is None:
        found = prepare(record, arguments, axes, options)
        if mark is not None:
            _PREPARED[mark] = found
    function, order = found
    try:
        return made(
            function(*[each.array if isinstance(each, NamedTensor) else each for each in arguments]), order
        )
    except IndexProblem as problem:
        raise index_error(problem, options.get("base", 1)) from None


def _mark(record: Operator, arguments: tuple, axes: tuple[str, ...], options: Mapping[str, Any]) -> tuple:
    parts: list[Any] = [record.name, axes]
    if options:
        parts.append(tuple((name, str(value)) for name, value in options.items()))
    for each in arguments:
        if isinstance(each, NamedTensor):
            array = each.array
            parts.append((each.axes, array.shape, array.dtype, type(array)))
        else:
            parts.append(type(each))
    return tuple(parts)


def prepare(record: Operator, arguments: tuple, axes: tuple[str, ...], options: Mapping[str, Any]) -> tuple:
    """The function that runs a call of this kind, and the axes of what it gives."""
    tensors = tuple(each for each in arguments if isinstance(each, NamedTensor))
    fewest, most = record.arity
    if not fewest <= len(arguments) <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise error(AxisProblem("arity", detail=(wanted, len(arguments))), record.name, tensors, axes)
    for each in arguments:
        if not isinstance(each, (NamedTensor, bool, int, float)):
            raise NotationError(
                317,
                f"{record.name} takes named tensors and numbers, not {type(each).__name__}",
                hint='name the axes of an array: nt.tensor(array, "seq chans")',
            )
    for other in tensors[1:]:
        _one_library(tensors[0].array, other.array)
    try:
        check_shapes(record, arguments, axes, options)
    except AxisProblem as problem:
        raise error(problem, record.name, tensors, axes) from None
    xp = namespace(tensors[0].array) if tensors else _numpy()
    orders = tuple(each.axes if isinstance(each, NamedTensor) else None for each in arguments)
    if orders and all(order is None for order in orders):
        function, order = record.lower(xp, ((),) * len(orders), axes, options)
        return (lambda *numbers: function(*map(xp.asarray, numbers))), order
    dtypes = tuple(each.array.dtype if isinstance(each, NamedTensor) else None for each in arguments)
    return record.lower(xp, orders, axes, {**options, "dtypes": dtypes})


def _numpy():
    import numpy as np

    return np


def check_shapes(record: Operator, arguments: tuple, axes: tuple[str, ...], options: Mapping[str, Any]) -> None:
    shapes = tuple(each.sizes if isinstance(each, NamedTensor) else {} for each in arguments)
    if record.kind == "elementwise" or (not axes and (record.kind == "contraction" or len(arguments) == 2 > record.arity[0])):
        if axes:
            raise AxisProblem("number", detail=(0, len(axes)))
        broadcast(shapes)
        return
    given = record.given(shapes, axes, options.get("sizes", {})) if record.given is not None else None
    lift(record.lifted_over(len(arguments)), axes, shapes, given=given, differing=record.kind == "structure")


def need_axes(tensor: Any, axes: Iterable[str], what: str) -> None:
    for axis in axes:
        if axis not in tensor.axes:
            near = difflib.get_close_matches(axis, tensor.axes, n=1, cutoff=0.5)
            raise NotationError(
                301,
                f"{what} needs the axis {axis}, which the tensor lacks",
                notes=(f"the tensor has {show(tensor.sizes)}",),
                hint=f"did you mean {near[0]}?" if near else None,
            )


def error(problem: AxisProblem, name: str, tensors: tuple, axes: tuple[str, ...]) -> NotationError:
    """What does not fit, with what each operand has."""
    labels = ("first", "second", "third", "fourth")
    notes = [f"{labels[n] if n < 4 else n + 1} operand : {show(each.sizes)}" for n, each in enumerate(tensors)]
    shown = name + ("_{" + ", ".join(axes) + "}" if axes else "")
    axis = problem.axis
    if problem.what == "missing":
        have = sorted({each for tensor in tensors for each in tensor.axes})
        near = difflib.get_close_matches(axis, have, n=1, cutoff=0.5)
        return NotationError(
            301, f"{shown} needs the axis {axis}, which the {labels[problem.argument]} operand lacks", notes=notes,
            hint=f"did you mean {near[0]}?" if near else f"the axes are {', '.join(have) or 'none'}",
        )  # fmt: skip
    if problem.what == "sizes":
        first, second = problem.detail
        return NotationError(
            302, f"{axis} is {first} on one side of {shown} and {second} on the other",
            notes=[*notes, f"they are one axis because they share the name {axis}"],
            hint="rename one of the two, or give tensors of one size",
        )  # fmt: skip
    if problem.what == "clash":
        return NotationError(306, f"{shown} gives the axis {axis}, which its operand has already", notes=notes,
                             hint=f'rename it first: A.rename({axis}="…")')  # fmt: skip
    if problem.what == "repeated":
        return NotationError(303, f"{axis} is named twice", notes=notes, hint="name each axis once")
    if problem.what == "arity":
        return NotationError(304, f"{shown} takes {problem.detail[0]} operands, and was given {problem.detail[1]}", notes=notes)
    if problem.what == "number":
        wanted, have_number = problem.detail
        return NotationError(316, f"{name} takes {wanted} axes, and was given {have_number}", notes=notes,
                             hint='say which: axis="seq", or axis=("height", "width")')  # fmt: skip
    return NotationError(310 if problem.what == "whole" else 301, str(problem.detail), notes=notes)


def index_error(problem: IndexProblem, base: int) -> NotationError:
    if problem.size is None:
        return NotationError(402, f"an index is a whole number, and this is {problem.value}")
    last = problem.size - 1 + base
    return NotationError(
        401, f"there is no element {problem.value}: the indices go from {base} to {last}",
        hint=None if base else "the Python functions count from 0, as Python does",
    )  # fmt: skip


# -------------------------------------------------------------------------------------------------------- reshaping
def merged(tensor: Any, old: tuple[str, ...], new: str) -> Any:
    need_axes(tensor, old, "merge")
    rest = tuple(axis for axis in tensor.axes if axis not in old)
    if len(set(old)) != len(old):
        raise NotationError(303, f"{old[0]} is merged twice", hint="name each axis once")
    if new in rest:
        raise NotationError(
            313, f"no axis can be merged into {new}: another axis has this name", notes=(f"the tensor has {show(tensor.sizes)}",)
        )
    xp, sizes = namespace(tensor.array), tensor.sizes
    total = 1
    for axis in old:
        total *= sizes[axis]
    array = tensor.to_array((*rest, *old))
    return made(xp.reshape(array, (*(sizes[axis] for axis in rest), total)), (*rest, new))


def divided(tensor: Any, old: str, new: Mapping[str, int | None]) -> Any:
    need_axes(tensor, (old,), "split")
    rest = [axis for axis in tensor.axes if axis != old]
    clash = [axis for axis in new if axis in rest]
    if clash:
        raise NotationError(313, f"{old} cannot be split into {clash[0]}: another axis has this name")
    whole = tensor.sizes[old]
    known = 1
    for size in new.values():
        known *= 1 if size is None else size
    unknown = [axis for axis, size in new.items() if size is None]
    if len(unknown) > 1 or known < 1 or whole % known or (not unknown and known != whole):
        text = " · ".join(f"{axis}[{'?' if size is None else size}]" for axis, size in new.items())
        raise NotationError(
            313, f"{old} is {whole}, which cannot be split into {text}",
            hint="give sizes whose product is that of the axis; one may be None",
        )  # fmt: skip
    sizes = {axis: whole // known if size is None else size for axis, size in new.items()}
    axes: list[str] = []
    extent: list[int] = []
    for axis, size in tensor.sizes.items():
        axes += sizes if axis == old else [axis]
        extent += sizes.values() if axis == old else [size]
    return made(namespace(tensor.array).reshape(tensor.array, tuple(extent)), tuple(axes))


def indexed(tensor: Any, index: Mapping[str, Any]) -> Any:
    """Elements by axis: whole numbers and slices as Python has them, or tensors of indices; from 0."""
    need_axes(tensor, index, "an index")
    at: list[Any] = []
    rest: list[str] = []
    later = {}
    for axis, size in tensor.sizes.items():
        wanted = index.get(axis, slice(None))
        if isinstance(wanted, NamedTensor):
            later[axis] = wanted
            wanted = slice(None)
        if isinstance(wanted, slice):
            rest.append(axis)
        elif hasattr(wanted, "__index__") and not isinstance(wanted, bool):
            wanted = int(wanted)
            if not -size <= wanted < size:
                raise NotationError(
                    401, f"{axis} has no element {wanted}: its indices go from 0 to {size - 1}",
                    hint="the Python methods count from 0, as Python does",
                )  # fmt: skip
        else:
            raise NotationError(402, f"{axis} is indexed by {wanted!r}, which is no whole number, slice or tensor")
        at.append(wanted)
    result = made(tensor.array[tuple(at)], tuple(rest))
    apart = {axis: f"{axis}@" for axis in later}
    result = made(result.array, tuple(apart.get(axis, axis) for axis in result.axes))
    for axis, wanted in later.items():
        result = call(REGISTRY["index"], (result, wanted), (f"{axis}@",), {"base": 0})
    return result


# ------------------------------------------------------------------------------------------------------- NumPy's ufuncs
def ufunc(function: Any, method: str, inputs: tuple, options: Mapping[str, Any]) -> Any:
    """np.exp(A), np.maximum(A, B): elementwise functions go by name; anything else is refused with what to write."""
    if method != "__call__":
        raise NotationError(
            318, f"np.{function.__name__}.{method} goes by the order of axes, and a named tensor has none",
            hint='reduce by name: A.sum(axis="seq")',
        )  # fmt: skip
    if options:
        raise NotationError(318, f"np.{function.__name__} takes no {', '.join(options)} with named tensors")
    if function.signature is not None:
        raise NotationError(318, f"np.{function.__name__} goes by the order of axes", hint="use nt.dot with an axis")
    tensors = []
    for each in inputs:
        if isinstance(each, NamedTensor):
            tensors.append(each)
        elif is_array(each) and getattr(each, "ndim", 0) > 0:
            raise NotationError(
                317, f"an array without names cannot be used with np.{function.__name__}", hint='name its axes: nt.tensor(array, "seq")'
            )  # fmt: skip
    check_broadcast(f"np.{function.__name__}", tuple(tensors))
    orders = tuple(each.axes if isinstance(each, NamedTensor) else None for each in inputs)
    order = union(orders)
    laid = []
    for each, own in zip(inputs, orders):
        place = fit(own, order)
        array = each.array if isinstance(each, NamedTensor) else each
        laid.append(array if place is None else place(array))
    result = function(*laid)
    if isinstance(result, tuple):
        return tuple(made(each, order) for each in result)
    return made(result, order)
