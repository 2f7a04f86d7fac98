"""Represent symbolic JAX dimensions, which arrays have while `jax.export` traces a function for arbitrary lengths.

A plan has one symbol for each dimension, so it applies to every length. JAX must be able to confirm the plan's
assumptions about the symbols for these dimensions. If it cannot, the formula raises an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, TypeVar

from grammar.errors import NotationError

from .arrays import Layout, is_dimension
from .extents import Size, SizeSymbol, UndecidedSizeError, extent, symbols_of, value_at
from .size_conditions import SizeCondition, SizeConditions, conditions

Result = TypeVar("Result")


class Dimensions:
    """The size symbols that represent JAX dimensions. Each symbol has a unique name in the generated source."""

    def __init__(self, taken: Collection[str] = ()):
        self.taken = taken
        self.symbols: dict[Any, SizeSymbol] = {}

    def size(self, size: Any, axis: str) -> Size:
        if not is_dimension(size):
            return size
        if size not in self.symbols:
            name = f"size_{len(self.symbols) + 1}"
            while name in self.taken:
                name += "_"
            self.symbols[size] = SizeSymbol(name, axis)
        return extent(self.symbols[size])

    def layout(self, layout: Layout) -> Layout:
        """Replace the JAX dimensions of a layout with symbols."""
        sizes = tuple(self.size(size, axis) for axis, size in zip(layout.axes, layout.extent))
        return Layout(layout.axes, sizes, layout.dtype, layout.xp, layout.wide)


class Assumptions(NamedTuple):
    """The assumptions of a plan about its size symbols."""

    conditions: tuple[SizeCondition, ...]
    parts: dict[SizeSymbol, Size]  # Maps each symbol for a part of an axis to the quotient that it represents.

    @classmethod
    def of(cls, collected: SizeConditions) -> Assumptions:
        solved = (SizeCondition(extent(symbol), "==", size) for symbol, size in collected.solved.items())
        return cls((*collected.found, *solved), dict(collected.parts))

    def check(self, dimensions: Mapping[SizeSymbol, Any]) -> None:
        """Raise NotationError (302 or 309) if JAX cannot confirm the assumptions for the given dimensions."""
        values = dict(dimensions)
        for symbol, size in dimensions.items():
            if not is_true(lambda size=size: size >= 1):
                raise make_undecided_error(f"|{symbol.axis}| ≥ 1", size, ">=", 1)
        for symbol, size in self.parts.items():
            whole, part = quotient(size)
            dimension = value_at(whole, values)
            if not is_true(lambda size=dimension, part=part: size % part == 0):
                raise NotationError(
                    309, f"|{symbol.axis}| must be a multiple of {part}, which is not known for {dimension}",
                    hint=f'write {part}*n for it, or constraints=["mod({dimension}, {part}) == 0"]',
                )  # fmt: skip
            values[symbol] = dimension // part
        for condition in self.conditions:
            relation = condition.relation
            if is_of_one_axis(condition):
                left, right = (value_at(side, values) for side in condition[::2])
                if left != right:
                    raise NotationError(
                        302, f"{axis_of(condition.left)} has the dimensions {left} and {right}, which may differ",
                        hint=f'write one dimension for both, or constraints=["{left} == {right}"]',
                    )  # fmt: skip
                continue
            try:
                left, right = value_at(condition.left, values), value_at(condition.right, values)
            except Exception as problem:
                if not is_inconclusive(problem):
                    raise
                raise make_undecided_error(condition.shown, condition.left, relation, condition.right) from None
            if not is_true(lambda left=left, right=right, relation=relation: HOLDS[relation](left, right)):
                raise make_undecided_error(condition.shown, left, relation, right)


def quotient(size: Size) -> tuple[Size, Size]:
    """Return the dividend and the divisor of a floor quotient."""
    ((atom,),) = size.terms
    return atom.left, atom.right


def axis_of(size: Size) -> str | None:
    """Return the axis with the given symbolic size, or None if the size is not simply the size of an axis."""
    symbols = symbols_of(size)
    only = next(iter(symbols), None)
    return only.axis if only is not None and len(symbols) == 1 and size == extent(only) else None


def is_of_one_axis(condition: SizeCondition) -> bool:
    """Return whether a condition states that two sizes of one axis are equal."""
    return (
        condition.relation == "=="
        and axis_of(condition.left) is not None
        and axis_of(condition.left) == axis_of(condition.right)
    )


def are_apart(left: Any, right: Any) -> bool:
    """Return whether two dimensions certainly differ.

    In JAX, `==` returns False even for dimensions that may be equal.
    """
    difference = left - right
    return isinstance(difference, int) and difference != 0


HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda left, right: left == right,
    "!=": are_apart,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
}


def is_inconclusive(problem: Exception) -> bool:
    """Return whether an error means that JAX cannot decide a comparison of dimensions."""
    return type(problem).__name__ == "InconclusiveDimensionOperation"


def is_true(ask: Callable[[], bool]) -> bool:
    """Return whether JAX can confirm a condition on dimensions."""
    try:
        return bool(ask())
    except Exception as problem:
        if not is_inconclusive(problem):
            raise
        return False


def make_undecided_error(shown: str, left: Any, relation: str, right: Any) -> NotationError:
    if relation == ">":
        relation, right = ">=", right + 1
    if relation == "!=":
        repair = "give a number for one of the two"
    elif is_dimension(left) or is_dimension(right):
        repair = f'write jax.export.symbolic_shape("…", constraints=["{left} {relation} {right}"]), or give a number'
    else:
        repair = "give a number for the dimension"
    return NotationError(309, f"the formula needs {shown}, which is not known for {left} and {right}", hint=repair)


def with_assumptions(make: Callable[[], Result], dimensions: Dimensions) -> tuple[Result, Assumptions]:
    """Call `make`, and return its result and the assumptions that it made about the symbols.

    Raise NotationError (309) if `make` needs the value of a symbol.
    """
    try:
        with conditions() as collected:
            result = make()
    except UndecidedSizeError as problem:
        (symbol, *_) = problem.size.symbols
        axis = symbol.axis
        size = next((size for size, other in dimensions.symbols.items() if other.axis == axis), axis)
        raise NotationError(
            309, f"the formula needs the size of {axis} as a number, and it is the dimension {size}",
            hint=f"export with a number in place of {size}",
        ) from None  # fmt: skip
    return result, Assumptions.of(collected)
