"""Plans, the low-level IR, which consists of primitive steps on positional arrays, from inputs to results.

A plan is a printable value that does not depend on a library's functions, and the source text is generated from the
plan alone. Everything that is known without data is already resolved: axes are positions, sizes are numbers, dtypes are
names, and casts are separate steps.

    t1 = multiply(Q, 0.5)                  : seq'[3] × key[4]
    t2 = transpose(K; moves 1 0)           : key[4] × seq[5]
    t3 = matmul(t1, t2)                    : seq'[3] × seq[5]

A *fixed* step does not depend on the elements of inputs and runs once, before the function is called. If a fixed step
depends on axis sizes that are read from the inputs, it is *sized* and runs once for each combination of these sizes.
"""

from __future__ import annotations

import keyword
import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from grammar.plain_text import encodable

from ..core.axes import Order, show
from ..core.extents import Extent, SizeSymbol, symbols_of, typical
from ..core.size_conditions import SizeCondition
from ..terms.environment import distinct_names, source_name

Interval = tuple[Any, Any]  # the least and the greatest of a set of integers, each an int, −∞ or ∞


class PlanValue:
    """The value of a step: its axes in storage order, their sizes, and the name of its dtype.

    A `fixed` value does not depend on inputs, except on their sizes if it is also `sized`. The actual dtype of a
    `dynamic` value is known only at run time, because the value comes from a user's Python function. `interval`
    contains the bounds of the elements if all of them are integers, in any dtype; otherwise, it is None. A `weak` value
    is a float that was computed only from integers. If it is combined with other floats, it is cast to their dtype.
    """

    __slots__ = ("order", "shape", "dtype", "fixed", "dynamic", "interval", "weak", "sized")

    def __init__(
        self, order: Order, shape: tuple[int, ...], dtype: str, fixed: bool = False, dynamic: bool = False,
        interval: Interval | None = None, weak: bool = False,
    ):  # fmt: skip
        self.order: Order = order
        self.shape: tuple[int, ...] = shape
        self.dtype: str = dtype
        self.fixed: bool = fixed
        self.dynamic: bool = dynamic
        self.interval: Interval | None = interval
        self.weak: bool = weak
        self.sized: bool = False

    def size(self, axis: str) -> int:
        return self.shape[self.order.index(axis)]

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def typical_count(self) -> int:
        """The typical number of elements, for decisions about speed."""
        return typical(self.count)

    @encodable
    def __repr__(self) -> str:
        return f"{self.shown} {self.dtype}"

    @property
    def shown(self) -> str:
        return show(dict(zip(distinct_names(self.order).values(), self.shape)))


class Scalar:
    """A plain Python number that is passed when the plan runs. Its type is known: bool, int or float."""

    __slots__ = ("kind",)
    fixed = dynamic = False

    def __init__(self, kind: type):
        self.kind: type = kind


CHECKS: list[Callable[[Plan], None]] = []  # checks of every new plan; the tests add `verify`
Argument = Any  # a PlanValue, a Scalar, or a plain Python number


class Step(NamedTuple):
    """A step of a plan, which computes `value` by `primitive` from the arguments and options.

    `origin` is the term that the step is part of, if known.
    """

    value: PlanValue
    primitive: str
    arguments: tuple[Argument, ...]
    options: dict[str, Any]
    origin: Any = None


class Plan:
    """A plan: its inputs, steps and results. See the module docstring."""

    def __init__(
        self, source: str, names: Iterable[str], inputs: Iterable[PlanValue | Scalar], steps: Iterable[Step],
        results: Iterable[Argument], in_place: bool = True, prefix: str = "", donated: Iterable[PlanValue] = (),
    ):  # fmt: skip
        self.source: str = source
        self.in_place: bool = in_place
        self.is_inner: bool = bool(prefix)  # whether another plan calls it
        self.donated: frozenset[PlanValue] = frozenset(donated)  # inputs whose memory may be written to
        self.inputs: tuple[PlanValue | Scalar, ...] = tuple(inputs)
        self.results: tuple[Argument, ...] = tuple(results)
        self.conditions: tuple[SizeCondition, ...] = ()  # on the sizes of the inputs
        self.steps: tuple[Step, ...] = needed(steps, self.results)
        self.names: dict[Any, str] = _named(names, self.inputs, self.steps, prefix, self._sizes if prefix else set())
        for check in CHECKS:
            check(self)

    @property
    def _sizes(self) -> set[str]:
        """The names of sizes that the source text may use."""
        values = (*self.inputs, *(step.value for step in self.steps))
        shapes = symbols_of([value.shape for value in values if isinstance(value, PlanValue)])
        return {symbol.name for symbol in (*self.symbols, *shapes)}

    @property
    def symbols(self) -> tuple[SizeSymbol, ...]:
        """The symbols of axis sizes that the steps, their inner plans and the conditions use, in sorted order."""
        used = symbols_of([(step.options, step.arguments) for step in self.steps])
        inner = [symbol for step in self.steps if "plan" in step.options for symbol in step.options["plan"].symbols]
        tested = [symbol for one in self.conditions for symbol in (*symbols_of(one.left), *symbols_of(one.right))]
        return tuple(sorted({*used, *inner, *tested}))

    @property
    def is_open(self) -> bool:
        """Whether an input has an axis size that is known only at run time."""
        shapes = [value.shape for value in self.inputs if isinstance(value, PlanValue)]
        return Extent in set(map(type, chain.from_iterable(shapes)))

    @property
    def steps_of_sizes(self) -> tuple[Step, ...]:
        """The steps that depend only on the sizes of the inputs."""
        return tuple(step for step in self.steps if step.value.sized and step.primitive != "same")

    def text_of(self, argument: Argument) -> str:
        """Return the text of an argument as it appears in the plan and in source text."""
        if isinstance(argument, (PlanValue, Scalar)):
            return self.names[argument]
        text = repr(argument)
        return f"({text})" if text.startswith("-") or type(argument) is Extent else text

    @encodable
    def __str__(self) -> str:
        lines: list[str] = []
        for step in self.steps:
            if step.primitive == "same":
                continue
            text = ", ".join(map(self.text_of, step.arguments))
            shown = {name: value for name, value in step.options.items() if value is not False and name != "plan"}
            options = "; ".join(f"{name} {_option(value)}" for name, value in shown.items())
            inside = "; ".join(filter(None, (text, options)))
            if "plan" in step.options:
                lines += [
                    f"{step.options['function']}:",
                    *(f"    {line}" for line in str(step.options["plan"]).splitlines()),
                ]
            lines.append(f"{self.names[step.value]} = {step.primitive}({inside}) : {step.value.shown}")
        return "\n".join(lines)


def _option(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def needed(steps: Iterable[Step], results: tuple[Argument, ...]) -> tuple[Step, ...]:
    """Return the steps that the results need, and all `covered` steps. Other steps are dead code."""
    needed, steps_needed = set(results), []
    for step in reversed(tuple(steps)):
        if step.value in needed or step.primitive == "covered":
            needed.update(step.arguments)
            steps_needed.append(step)
    return tuple(reversed(steps_needed))


def _named(
    names: Iterable[str], inputs: tuple[Any, ...], steps: tuple[Step, ...], prefix: str, sizes: set[str]
) -> dict[Any, str]:
    """Return a map from each input and each step's value to its name.

    The names differ from each other and from `sizes`, but a value with renamed axes has the name of its original.
    """
    result: dict[Any, str] = {}
    taken = {*sizes}
    for name, value in zip(names, inputs):
        name = safe(name)
        result[value] = name if name not in taken else _unique(name, taken)
        taken.add(result[value])
    number = {"t": 0, f"{prefix}c": 0}
    for step in steps:
        if step.primitive == "same":
            result[step.value] = result[step.arguments[0]]
            continue
        letter = f"{prefix}c" if step.value.fixed else "t"
        while True:
            number[letter] += 1
            name = f"{letter}{number[letter]}"
            if name not in taken:
                break
        result[step.value] = name
    return result


@lru_cache(maxsize=4096)
def _letter(letter: str) -> str:
    return letter if f"a{letter}".isidentifier() else "_"


@lru_cache(maxsize=4096)
def safe(name: str) -> str:
    """Return a Python identifier that resembles a name in a formula but is not a keyword or a library name.

    >>> safe("W^Q"), safe("seq'"), safe("lambda"), safe("γ")
    ('W_Q', 'seq__', 'lambda_', 'γ')
    """
    text = unicodedata.normalize("NFKC", name)
    text = "".join(map(_letter, text))
    if not text or not text[0].isalpha():
        text = f"x{text}"
    lower = text.islower() and text.isascii() and len(text) > 1  # like every function that the source may call
    return f"{text}_" if keyword.iskeyword(text) or lower else text


def _unique(name: str, taken: set[str]) -> str:
    """Return the name itself if it is unused; otherwise, append the first of _2, _3, … that makes it unused."""
    text, number = name, 1
    while text in taken:
        number += 1
        text = f"{name}_{number}"
    return text


def order_axes(result: PlanValue, axes: Sequence[str]) -> tuple[str, ...]:
    """Return the plan's names for the axes of a result, given the user's names `axes` in the desired order."""
    return tuple(result.order[axes_of(result).index(axis)] for axis in axes)


def axes_of(result: Any) -> tuple[str, ...]:
    """Return the user's names for the axes of a plan's result, in array order. A plain number has no axes."""
    return tuple(map(source_name, result.order)) if isinstance(result, PlanValue) else ()
