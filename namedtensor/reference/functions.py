"""The built-in functions by name: each by the definition in its operator's record, on plain numbers, lifted to tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grammar.errors import NotationError

from ..operators import REGISTRY
from ..operators.record import Operator
from .definitions import Tensor, along, broadcast, contract, index, lift, reduce


def apply(name: str, tensors, axes: tuple[str, ...], options: tuple[Any, ...], size: Callable[[str], int]) -> Tensor:
    """A built-in operator applied; where plain numbers fail, an error of value."""
    try:
        return _applied(name, tensors, axes, options, size)
    except (ArithmeticError, ValueError) as problem:
        raise NotationError(405, f"{name} cannot be computed of these numbers: {problem}") from None


def _applied(name: str, tensors, axes: tuple[str, ...], options: tuple[Any, ...], size: Callable[[str], int]) -> Tensor:
    """A built-in operator applied; `size` gives the size of an axis that the operator makes."""
    record = REGISTRY.get(name)
    if record is None or (record.definition is None and record.kind != "index"):
        raise NotationError(201, f"{name} is not known")
    check_number(record, name, tensors)
    check_truth(record, name, tensors)
    if len(set(axes)) != len(axes):
        raise NotationError(303, f"an axis is named twice in {', '.join(axes)}")
    if record.kind == "contraction" and axes:
        return contract(tensors[0], tensors[1], axes)
    definition = record.definition
    if record.kind in ("elementwise", "contraction"):
        assert definition is not None
        check_axes(name, 0, axes)
        return broadcast(lambda *numbers: definition(*numbers, *options), *tensors)
    if record.kind in ("reduction", "axis_map"):
        return _of_vector(record, name, tensors, axes, options)
    formals, inputs = record.lifted.formals, record.lifted_over(len(tensors)).inputs
    check_axes(name, len(formals), axes)
    real = dict(zip(formals, axes))
    needed = [tuple(map(real.__getitem__, each)) for each in inputs]
    if definition is None:
        return lift(lambda x, i: index(x, {axes[0]: i}), tensors, needed)
    new = {real[formal] for formal in formals if not any(formal in group for group in inputs)}
    sizes = {axis: size(axis) for axis in new} if record.kind != "structure" else {}
    return lift(lambda *x: definition(*x, *axes, sizes), tensors, needed)


def _of_vector(record: Operator, name: str, tensors, axes: tuple[str, ...], options: tuple[Any, ...]) -> Tensor:
    """A function of a list of numbers, over axes of one tensor; or between two tensors, as max and min are."""
    definition = record.definition
    assert definition is not None
    if not axes and len(tensors) == 2:
        return broadcast(lambda *numbers: definition([*numbers]), *tensors)
    if not axes or len(tensors) != 1 or (not record.lifted.variadic and len(axes) != 1):
        raise NotationError(316, f"{name} takes {'axes' if record.lifted.variadic else 'one axis'}, not {len(axes)}")
    if not record.of_nothing and any(tensors[0].shape.get(axis) == 0 for axis in axes):
        raise NotationError(405, f"{name} of no numbers has no value")
    rule = reduce if record.kind == "reduction" else along
    return rule(lambda x: definition(x, *options), tensors[0], axes)


def is_reduction(name: str) -> bool:
    """Whether a function makes one number of those along an axis."""
    return name in REGISTRY and REGISTRY[name].kind == "reduction"


def check_axes(name: str, wanted: int, axes: tuple[str, ...]) -> None:
    if len(axes) != wanted:
        raise NotationError(316, f"{name} takes {wanted} axes, and was given {len(axes)}")


def check_number(record: Operator, name: str, tensors) -> None:
    fewest, most = record.arity
    if not fewest <= len(tensors) <= most:
        raise NotationError(304, f"{name} takes {fewest} operands, and was given {len(tensors)}")


def check_truth(record: Operator, name: str, tensors) -> None:
    """Conditions are true or false, and numbers are neither."""
    for place, X in enumerate(tensors):
        truths = any(isinstance(entry, bool) for entry in X.entries.values())
        wanted = record.boolean[0] or (record.chooses and place == 0)
        if X.entries and truths != wanted and name not in ("=", "≠"):
            what = "expected a Boolean, got a number" if wanted else "expected a number, got a Boolean"
            raise NotationError(315, f"{name}: {what}", hint="𝕀[…] turns a condition into 0 and 1")
