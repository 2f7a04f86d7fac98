"""The `forward` method of a PyTorch module: source code for plain tensors, generated once for all open sizes.

    layer.module(X="batch seq chans")     the parameters determine the size of chans; X determines batch and seq

Other arguments, such as named tensors and other dtypes, are evaluated by an ordinary call of the formula.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..backends.entry_checks import NAMES_DTYPE, find_shared_dtypes
from ..backends.torch_modules import attribute, forward, order_results
from ..core.axes import check_axis, names_of
from ..planning.plan import Plan, PlanValue, axes_of, order_axes
from .arguments import DTYPE
from .entries import Entry, Several, WholeProgram
from .executable import Options
from .named_plans import plan_of, target_named

NUMBERED = re.compile(r"(.*)\[(\d+)\]")
EXAMPLE = 3  # the size that a hint shows
INDEX = "int64"  # the dtype of index inputs
Shape = dict[str, int | None]


def shape_of(axes: str | Iterable[str]) -> Shape:
    """Return the axes of an input of a module with their sizes, where None stands for an open size.

    >>> shape_of("batch seq[5]")
    {'batch': None, 'seq': 5}
    """
    words = axes.split() if isinstance(axes, str) and "," not in axes else axes
    if isinstance(words, str) or not isinstance(words, Iterable):
        return dict.fromkeys(names_of(words))
    shape: Shape = {}
    for word in words:
        numbered = NUMBERED.fullmatch(word) if isinstance(word, str) else None
        shape[check_axis(word if numbered is None else numbered[1])] = None if numbered is None else int(numbered[2])
    return shape


class Goal(NamedTuple):
    """The task of a module: the entry that it computes, sizes that no tensor determines, and the input order."""

    entry: WholeProgram | Entry | Several
    sizes: Mapping[str, int]
    order: tuple[str, ...]
    needed: tuple[str, ...]  # the inputs that the value requires
    orders: tuple[tuple[str, ...], ...] = ()  # the axes of each result; by default in the order of the inputs


class Forward(NamedTuple):
    """The generated `forward` function of a module, with its source text, inputs and results."""

    function: Callable[..., Any]
    text: str
    inputs: tuple[str, ...]  # in the order of its parameters
    axes: tuple[tuple[str, ...], ...]  # of each result
    plan: Plan
    shapes: tuple[tuple[Any, ...], ...]  # of the inputs: numbers, and symbols
    dtypes: tuple[str, ...]  # of inputs and parameters
    shared: tuple[str, ...]  # the floating dtypes that all floating arrays can have instead
    buffers: Mapping[str, Any]  # the constants, by the names of attributes of the module

    def accepts(self, arrays: Sequence[Any], parameters: Iterable[Any]) -> bool:
        """Return whether these arrays have the expected ranks and dtypes. Sizes are checked by the function itself."""
        dtypes = tuple([array.dtype for array in (*arrays, *parameters)])
        ranks = [array.ndim for array in arrays]
        return ranks == [*map(len, self.shapes)] and are_dtypes_fit(self.dtypes, self.shared, dtypes)


@lru_cache(maxsize=256)
def are_dtypes_fit(expected: tuple[str, ...], shared: tuple[str, ...], actual: tuple[Any, ...]) -> bool:
    """Return whether the dtypes are as expected. One dtype in `shared` may replace all other dtypes in `shared`."""
    names = [str(dtype).removeprefix("torch.") for dtype in actual]
    common = {name for name, dtype in zip(names, expected) if dtype in shared}
    return len(common) < 2 and all(
        name in shared if dtype in shared else name == dtype for name, dtype in zip(names, expected)
    )


def forward_for(
    goal: Goal, parameters: Mapping[str, Any], inputs: Mapping[str, Shape], keys: Mapping[str, str],
    taken: Callable[[str], bool],
) -> Forward:  # fmt: skip
    """Return the `forward` function of a module. `keys` contains the names of the parameters in PyTorch.

    Raises NotationError if the formula cannot be planned for unknown sizes, or its value is not an array.
    """
    missing = [name for name in goal.needed if name not in inputs]
    if missing:
        raise NotationError(
            309, f"the axes of {missing[0]} are missing", hint=f'write .module({missing[0]}="batch seq chans")'
        )
    names = tuple(name for name in goal.order if name in inputs) + tuple(
        name for name in inputs if name not in goal.order
    )
    tensors = {name: value for name, value in parameters.items() if name in keys}
    shapes = {name: fill_shape(inputs[name], tensors.values(), goal.sizes) for name in names}
    dtype = next((dtype for dtype in map(dtype_of, tensors.values()) if "float" in dtype), DTYPE)
    plan = plan_or_explain(goal, parameters, shapes, dict.fromkeys(names, dtype))
    indices = indices_of(plan, len(names))
    if indices:
        dtypes = {name: INDEX if number in indices else dtype for number, name in enumerate(names)}
        plan = plan_forward(goal, parameters, shapes, dtypes)
    inputs_of_plan = [value for value in plan.inputs if isinstance(value, PlanValue)]
    if any(not isinstance(result, PlanValue) for result in plan.results) or len(inputs_of_plan) < len(plan.inputs):
        raise NotationError(309, "the formula has no array for its value")
    axes = orders_of(plan, goal, shapes)
    plan = order_results(plan, [order_axes(result, order) for result, order in zip(plan.results, axes)])
    target = target_named("torch")
    attributes = {value: attribute(keys[name], taken) for value, name in zip(inputs_of_plan[len(names) :], tensors)}
    text, function, buffers = forward(target.backend, plan, attributes, target.xp)
    return Forward(
        function, text, names, axes, plan, tuple(tuple(value.shape) for value in inputs_of_plan[: len(names)]),
        tuple(value.dtype for value in inputs_of_plan), find_shared_dtypes(plan, NAMES_DTYPE), buffers,
    )  # fmt: skip


def orders_of(plan: Plan, goal: Goal, shapes: Mapping[str, Shape]) -> tuple[tuple[str, ...], ...]:
    """Return the axes of each result, in the order in which the module returns them."""
    if goal.orders:
        return goal.orders
    return tuple(order_of_result(result, shapes.values()) for result in plan.results)


def order_of_result(result: PlanValue, shapes: Iterable[Shape]) -> tuple[str, ...]:
    """Return the axes of a result. The axes of the inputs are first, in the order of the inputs.

    An axis whose size differs from the inputs counts as a new axis.
    """
    axes = axes_of(result)
    sizes = dict(zip(axes, result.shape))
    declared = [
        [
            axis
            for axis, size in shape.items()
            if not (type(size) is type(sizes.get(axis)) is int) or size == sizes[axis]
        ]
        for shape in shapes
    ]
    return order_of(axes, declared)


def order_of(axes: Collection[str], orders: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return the axes of a result: first the axes in `orders`, in this order, and then all other axes."""
    return tuple(dict.fromkeys([axis for order in orders for axis in order if axis in axes] + list(axes)))


def plan_forward(
    goal: Goal, parameters: Mapping[str, Any], shapes: Mapping[str, Shape], dtypes: Mapping[str, str]
) -> Plan:
    """Return the plan for inputs of these shapes, with a symbol for each open size."""
    given = {**shapes, **{name: value for name, value in parameters.items() if name not in shapes}}
    plan, python = plan_of(goal.entry, target_named("torch"), given, Options(goal.sizes, ()), dtypes)
    if python:
        raise NotationError(408, "a formula that calls a Python function has no source text")
    return plan


def plan_or_explain(
    goal: Goal, parameters: Mapping[str, Any], shapes: Mapping[str, Shape], dtypes: Mapping[str, str]
) -> Plan:
    """Return the plan. If it needs an open size as a number, raise an error that names the axis."""
    try:
        return plan_forward(goal, parameters, shapes, dtypes)
    except NotationError as problem:
        for axis in dict.fromkeys(axis for shape in shapes.values() for axis, size in shape.items() if size is None):
            numbered = {name: {**shape, axis: EXAMPLE} if axis in shape else shape for name, shape in shapes.items()}
            try:
                plan_forward(goal, parameters, numbered, dtypes)
            except NotationError:
                continue
            name, shape = next((name, shape) for name, shape in shapes.items() if axis in shape)
            words = " ".join(f"{other}[{EXAMPLE}]" if other == axis else other for other in shape)
            raise NotationError(
                309, f"the formula needs the size of {axis} as a number", hint=f'write .module({name}="{words}")'
            ) from None
        raise problem from None


def fill_shape(shape: Shape, tensors: Iterable[Any], sizes: Mapping[str, int]) -> Shape:
    """Fill the open sizes of a shape from `sizes` or, if the tensors agree on a size, from the tensors."""
    known: dict[str, set[int]] = {}
    for tensor in tensors:
        for axis, size in tensor.sizes.items():
            known.setdefault(axis, set()).add(size)
    agreed = {axis: next(iter(several)) for axis, several in known.items() if len(several) == 1} | dict(sizes)
    return {axis: agreed.get(axis) if size is None else size for axis, size in shape.items()}


def dtype_of(value: Any) -> str:
    return str(value.array.dtype).removeprefix("torch.")


def indices_of(plan: Plan, count: int) -> set[int]:
    """Return the positions of inputs, among the first `count`, that have a floating dtype but are used as indices."""
    arguments = {step.value: step.arguments for step in plan.steps}
    pending = [step.arguments[0] for step in plan.steps if step.primitive == "whole_positions"]
    indices: set[Any] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, PlanValue) and value not in indices:
            indices.add(value)
            pending += arguments.get(value, ())
    return {number for number, value in enumerate(plan.inputs[:count]) if value in indices}
