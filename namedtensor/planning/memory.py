"""Memory planning: dead buffers are reused in place, and other results are written to preallocated workspaces.

A plan does not write to an input, unless the caller donates the input (`Plan.donated`) and thereby makes it a buffer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .plan import Plan, PlanValue, Step

VIEWS = frozenset(
    "item part transpose reshape expand broadcast pick head same shifted unfold contiguous positions python keep_in_range".split()
)
FRESH = frozenset(
    "exp log log1p expm1 sqrt sin cos tan arctan arcsin arccos tanh sinh cosh abs sign floor ceil negative isfinite erf add subtract multiply divide "
    "power maximum minimum where cast sum prod max min matmul dot vecdot take put softmax standardize normalize normalize_slices scatter_add concat stack cumsum cumprod sort take_along".split()
)
WHOLE_VIEWS = frozenset(("reshape", "transpose", "keep_in_range"))  # views that contain each element once
HOLDERS = frozenset(("loop", "python"))  # steps that may keep an argument or return a view of it


def find_reused_arrays(plan: Plan, writes: frozenset[str]) -> dict[PlanValue, PlanValue]:
    """Return a map from the result of each step that can overwrite a dead array to this array.

    The array has the shape and dtype of the result. It is neither a result of the plan nor an input, unless the input
    is donated.
    """
    root: dict[Any, Any] = {}
    last: dict[PlanValue, int] = {}
    fresh: set[Any] = set(plan.donated)
    held = [argument for step in plan.steps if step.primitive in HOLDERS for argument in step.arguments]
    for number, step in enumerate(plan.steps):
        for argument in step.arguments:
            if isinstance(argument, PlanValue):
                last[root.get(argument, argument)] = number
        if step.primitive in VIEWS:
            origin = root[step.value] = root.get(step.arguments[0], step.arguments[0])
            if step.primitive in WHOLE_VIEWS and origin in fresh and step.arguments[0] in fresh:
                fresh.add(step.value)
        elif step.primitive in FRESH and not step.value.fixed and not step.value.dynamic and step.value.shape:
            fresh.add(step.value)
    for argument in (*plan.results, *held):
        if isinstance(argument, PlanValue):
            last[root.get(argument, argument)] = len(plan.steps)
    result: dict[PlanValue, PlanValue] = {}
    for number, step in enumerate(plan.steps):
        if step.primitive not in writes or step.value.fixed or step.value.dynamic or not step.value.shape:
            continue
        values = [operand for operand in step.arguments if isinstance(operand, PlanValue)]
        numbers = values[:2] if step.primitive == "put" else values  # The third argument of `put` is an index.
        for argument in values:
            if (
                argument in fresh
                and last[root.get(argument, argument)] == number
                and argument.shape == step.value.shape
                and argument.dtype == step.value.dtype
                and all(
                    other is argument or root.get(other, other) is not root.get(argument, argument) for other in values
                )
                and all(other.dtype == argument.dtype for other in numbers)
            ):
                result[step.value] = argument
                break
    return result


def find_donated(loop: Step) -> list[PlanValue]:
    """Return the arguments that a loop may overwrite, which are the family members that its body may overwrite."""
    body, steps, at = loop.options["plan"], loop.options["steps"], loop.options["states"] + loop.options["slices"]
    members = enumerate(body.inputs[at : at + loop.options["members"]])
    starts = [at + number * steps for number, member in members if member in body.donated]
    return [argument for start in starts for argument in loop.arguments[start : start + steps]]


# ---------------------------------------------------------------------------------------------------- workspaces
MIN_BLOCK_BUFFER_BYTES = 2**14  # the smallest array, in bytes, that has a buffer in the function of a block
MAX_DOT_BUFFER_NUMBERS = 2**10  # the largest product, in elements, that the method `dot` writes to a buffer


class Workspace(NamedTuple):
    """The buffers of one function, that is, the arrays that its steps write to.

    `places` maps values to the names of buffers, and `made` contains the shapes and dtypes of the allocated buffers.
    The step that computes `first`, if any, writes to the array that the caller passes as `out`.
    """

    places: dict[PlanValue, str]
    made: tuple[tuple[tuple[int, ...], str], ...]
    first: PlanValue | None
    out: bool = True  # whether the result is written to an array that the caller passes


def workspaces(
    plan: Plan, writes: frozenset[str], products: frozenset[str], over: Mapping[PlanValue, PlanValue], out: bool = True,
    fits: Callable[[PlanValue], bool] = lambda value: value.typical_count * 4 >= MIN_BLOCK_BUFFER_BYTES,
) -> Workspace:  # fmt: skip
    """Assign buffers to a function's large arrays according to their live ranges. Results have no buffers."""
    if not plan.in_place:
        return Workspace({}, (), None, out)
    until = _until(plan)
    returned = set() if out else _given_back(plan, over)
    able = {
        step.value for step in plan.steps if step.primitive in writes | products and _is_bufferable(step.value)
    } - returned
    first: PlanValue | None = None
    places: dict[PlanValue, str] = {}
    back: PlanValue | None = plan.results[0] if out else None
    while back is not None:  # Find the first step whose memory the plan's result reuses.
        first = back if back in able else first
        back = over.get(back)
    if first is not None:
        places[first] = "out"
    base: dict[PlanValue, PlanValue] = {}
    buffers: list[tuple[tuple[int, ...], str]] = []
    busy: list[float] = []
    held: dict[PlanValue, int] = {}
    for number, step in enumerate(plan.steps):
        value = step.value
        if step.primitive in WHOLE_VIEWS:
            seen: PlanValue = step.arguments[0]
            base[value] = base.get(seen, seen)
        if value in over and value is not first:
            lies = base.get(over[value], over[value])
            if lies in held:
                held[value] = held[lies]
                busy[held[value]] = until[value]
        elif value in able and value is not first and value not in plan.results and fits(value):
            kind = (value.shape, value.dtype)
            free = [index for index, buffer in enumerate(buffers) if buffer == kind and busy[index] < number]
            if not free:
                free = [len(buffers)]
                buffers.append(kind)
                busy.append(0.0)
            held[value], busy[free[0]] = free[0], until[value]
            places[value] = f"buffer_{free[0] + 1}"
    return Workspace(places, tuple(buffers), first, out)


def _is_bufferable(value: PlanValue) -> bool:
    return not value.fixed and not value.dynamic and bool(value.shape)


def _given_back(plan: Plan, over: Mapping[PlanValue, PlanValue]) -> set[Any]:
    """Return the results of a plan, and all values whose memory a result may share."""
    given_back = set(plan.results)
    for step in reversed(plan.steps):
        if step.value in given_back:
            given_back |= {over.get(step.value)} if step.primitive in FRESH else set(step.arguments)
    return given_back


def _until(plan: Plan) -> dict[Any, float]:
    """Return a map from each value to the number of the last step that reads the value or one of its views.

    The number is infinite if a result of the plan may share the value's memory.
    """
    until: dict[Any, float] = dict.fromkeys(plan.results, math.inf)
    for number, step in reversed(tuple(enumerate(plan.steps))):
        mine = until.get(step.value, number)
        for argument in step.arguments:
            if isinstance(argument, PlanValue):
                until[argument] = max(until.get(argument, -1), number if step.primitive in FRESH else mine, number)
    return until


MIN_RELEASED_NUMBERS = 2**17  # the smallest array, in elements, that is released at its last use


def last_uses(plan: Plan) -> dict[PlanValue, list[str]]:
    """Return a map from the value of a step to the names of the large arrays that can be released after this step."""
    if all(step.value.typical_count < MIN_RELEASED_NUMBERS for step in plan.steps):
        return {}
    steps = [step for step in plan.steps if not step.value.fixed and step.primitive != "same"]
    names = {
        plan.names.get(input_) for input_ in (*plan.inputs, *plan.results) if not isinstance(input_, (bool, int, float))
    }
    last: dict[str, PlanValue] = {}
    for step in steps[:-1]:
        for argument in (step.value, *step.arguments):
            if (
                isinstance(argument, PlanValue)
                and not argument.fixed
                and argument.typical_count >= MIN_RELEASED_NUMBERS
            ):
                last[plan.names[argument]] = step.value
    for argument in steps[-1].arguments if steps else ():
        last.pop(plan.names.get(argument, "") if isinstance(argument, PlanValue) else "", None)
    result: dict[PlanValue, list[str]] = {}
    for name, value in last.items():
        if name not in names:
            result.setdefault(value, []).append(name)
    return result
