"""Size-generic functions: the text of several plans that differ by one size, with that size as a parameter.

Three plans that differ by one size give texts that differ in numbers alone, and each of these follows from the size by a law:

    reshape((31, 64))    reshape((36, 64))    reshape((57, 64))        reshape((n, 64))
    arange(1, 32)        arange(1, 37)        arange(1, 58)            arange(1, n + 1)

The text with names for such numbers is compiled once; for another size it is run with other numbers. No law is guessed: one
that the three numbers do not all follow, or a text that differs otherwise, means that there is no such function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, cached_property
from math import sqrt
from types import CodeType
from typing import Any, NamedTuple

from ..core.arrays import at_once
from ..planning.plan import Plan, Step
from ..planning.target import Target
from .function import PlanFunction, bytes_of, warnings_ignored
from .kept_code import CODE, SplitText, code_of, joined, split_at_numbers
from .source import FILE, function_in, source_to_run

SPACE = 20_000  # bytes of the names that a function knows
SAMPLES = 3  # sizes that a law is read off, and checked by


class Law(NamedTuple):
    """A law by which a number follows from the size: c nᵖ + d, in whole numbers where it is whole."""

    power: int | float
    factor: Fraction | float
    added: Fraction | int

    def at(self, size: int) -> int | float | None:
        """The number for a size; None where it would be no whole number from 0."""
        if isinstance(self.factor, float):
            return scaled(self.factor, size, self.power)
        found = self.factor * size**self.power + self.added
        return int(found) if found.denominator == 1 and found >= 0 else None


def scaled(factor: float, size: int, power: int | float) -> float:
    return {1: factor * size, -1: factor / size, 0.5: factor * sqrt(size), -0.5: factor / sqrt(size)}[power]


def law_of(sizes: Sequence[int], numbers: Sequence[int | float]) -> Law | None:
    """The law that all numbers follow from the sizes; None where there is none."""
    if all(isinstance(each, int) for each in numbers):
        slope = Fraction(numbers[1]) - numbers[0], sizes[1] - sizes[0]  # type: ignore[operator]
        factor = slope[0] / slope[1]
        squares = Fraction(numbers[0], sizes[0] ** 2) if sizes[0] else Fraction(0)  # type: ignore[arg-type]
        tried = [Law(1, factor, numbers[0] - factor * sizes[0]), Law(2, squares, 0)]  # type: ignore[arg-type]
    elif sizes[0] and all(isinstance(each, float) for each in numbers):
        first, size = numbers[0], sizes[0]
        factors = {1: first / size, -1: first * size, 0.5: first / sqrt(size), -0.5: first * sqrt(size)}
        tried = [Law(power, factor, 0) for power, each in factors.items() for factor in {each, float(round(each))}]
    else:
        return None
    return next((law for law in tried if all(law.at(n) == number for n, number in zip(sizes, numbers))), None)


def read(number: str) -> int | float:
    return int(number) if number.isdecimal() else float(number)


class Names:
    """The laws of the numbers that differ, each under one name."""

    def __init__(self, sizes: Sequence[int]):
        self.sizes = tuple(sizes)
        self.laws: dict[Law, str] = {}
        self.found: dict[Any, str | None] = {}  # many numbers follow the size alike

    def of(self, numbers: Sequence[int | float]) -> str | None:
        """The name for numbers that differ; None where they follow no law."""
        mark = *numbers, *map(type, numbers)  # 2 is not 2.0
        if mark not in self.found:
            law = law_of(self.sizes, numbers)
            self.found[mark] = None if law is None else self.laws.setdefault(law, f"size_{len(self.laws) + 1}")
        return self.found[mark]

    def at(self, size: int) -> dict[str, int | float] | None:
        found = {name: law.at(size) for law, name in self.laws.items()}
        return None if None in found.values() else found  # type: ignore[return-value]


class Pattern(NamedTuple):
    """What functions of plans that differ by a size have in common, without what one of them holds: a plan that has their
    inputs and results, if not the sizes.
    """

    plan: Plan
    target: Target
    quiet: bool

    @classmethod
    def of(cls, function: PlanFunction) -> Pattern:
        return cls(function.like, function.target, function.quiet)

    @property
    def nbytes(self) -> int:
        return bytes_of(self.plan)


class Template:
    """A function parametrised by one size, from several plans that differ by it; `at` instantiates it between them."""

    def __init__(self, like: Pattern, text: SplitText, names: Names):
        self.like, self.text, self.names = like, text, names

    @cached_property
    def code(self) -> CodeType:
        """Its code, which the first instance needs."""
        return code_of(joined(*self.text), FILE)

    @property
    def nbytes(self) -> int:
        """The memory of its code and of the pieces of its text."""
        return (1 + CODE) * sum(map(len, self.text.between))

    def at(self, size: int, make: Callable[[], PlanFunction]) -> PlanFunction | None:
        """Instantiate the function for a size; `make` plans it where somebody reads the plan. None where there is none."""
        numbers, target = self.names.at(size), self.like.target
        if numbers is None:
            return None
        whole = cache(make)
        space = {
            **target.backend.globals(target.xp), **numbers,
            "function_fallback": lambda *arrays: whole().run.__globals__["function_fallback"](*arrays),
        }  # fmt: skip
        with warnings_ignored(), at_once(target.xp):
            exec(self.code, space)
        return Resized(self.like, function_in(space), whole)

    def gives(self, size: int, text: SplitText) -> bool:
        """Whether the instance for a size has the same text as the function that was planned for it."""
        sized = self.names.at(size)
        if sized is None or text.between != self.text.between:
            return False
        own = (sized[each] if each in sized else read(each) for each in self.text.numbers)
        return all(one == read(other) for one, other in zip(own, text.numbers))


class Resized(PlanFunction):
    """An instance for a size that was never planned; its plan is made when somebody reads it."""

    __slots__ = ("whole",)

    def __init__(self, like: Pattern, run: Callable[..., Any], whole: Callable[[], PlanFunction]):
        self.like, self.target, self.quiet = like
        self.run, self.whole, self.steps, self.own = run, whole, {}, False

    @property
    def plan(self) -> Plan:  # type: ignore[override]
        return self.whole().plan

    @property
    def nbytes(self) -> int:
        return SPACE + self.held

    def lines(self) -> dict[int, Step]:
        before = len(self.target.backend.lines_of_data(self.plan))
        return {line + before: step for line, step in super().lines().items()}


def text_of(function: PlanFunction) -> SplitText | None:
    """The text of a planned function, with all that is done before it; None where it calls functions of Python."""
    if function.own:
        return None
    backend, plan = function.target.backend, function.plan
    before = split_at_numbers("".join([f"{line}\n" for line in backend.lines_of_data(plan)]))
    own = split_at_numbers(source_to_run(backend, plan).text)
    meet = before.between[-1] + own.between[0]
    return SplitText((*before.between[:-1], meet, *own.between[1:]), before.numbers + own.numbers)


def template(like: Pattern, texts: Mapping[int, SplitText]) -> Template | None:
    """The template of functions for these sizes, whose texts differ by numbers alone; None where a number follows no
    law.
    """
    names, found = Names((*texts,)), []
    for numbers in zip(*(each.numbers for each in texts.values())):
        same = all(each == numbers[0] for each in numbers)
        named = numbers[0] if same else names.of([read(each) for each in numbers])
        if named is None:
            return None
        found.append(named)
    return Template(like, SplitText(next(iter(texts.values())).between, tuple(found)), names)
