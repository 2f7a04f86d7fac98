"""The JavaScript function of a text: one for all sizes that its plan is right for, which it reads from its arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from grammar.cache import Cache
from grammar.errors import NotationError

from ..backends.javascript import BACKEND, TARGET, steps
from ..core.layout import Layout
from ..display.steps import Step
from ..planning.plan import Value
from ..programs.symbolic_plans import Sizes, symbols_of_call, with_symbols
from ..terms.terms import Term
from .stages import Stages, stages_for

MOST = 4 * 10**6  # numbers of all steps together; of more, the value alone
LONGEST = 2000  # steps
MAX_TEXTS = 16


class Result(NamedTuple):
    """A result of a function: its number, and its axes in storage order, as positions in the shape of its term."""

    number: int
    order: tuple[int, ...]

    def stored(self, axes: Iterable[tuple[str, Any]]) -> list[list[Any]]:
        """Axes of its term with their sizes, in the order in which the value is stored."""
        shape = list(axes)
        return [list(shape[position]) for position in self.order]


class Function(NamedTuple):
    """The text of a function, the number of its results, and which of them are those of steps and of sides of claims."""

    source: str
    results: int
    steps: tuple[Result | None, ...]
    claims: tuple[tuple[Result, Result], ...]
    outline: tuple[Any, ...]


_FUNCTIONS: Cache[Any, Sizes[Function]] = Cache("functions of a page's texts", MAX_TEXTS)


def function_of(stages: Stages) -> Function:
    """The function of a text. Raises NotationError where it has no JavaScript."""
    layouts = {name: each for name, each in stages.abstract.items() if isinstance(each, Layout)}
    places = [(name, position) for name, layout in layouts.items() for position in range(len(layout.extent))]
    sizes = tuple([layouts[name].extent[position] for name, position in places])
    others = sizes_of_no_input(stages, layouts)
    every, outline = has_every_value(stages), outline_of(stages)
    known = _FUNCTIONS.get_or_build(key_of(stages, others, every), Sizes[Function])
    for plan in known.plans:
        if plan.fits(sizes) and plan.executable.outline == outline:
            return plan.executable
    if known.is_full:
        return planned(stages, every)

    def make(symbolic: Mapping[str, Layout]) -> Function:
        found = stages_for(stages.typed, {**stages.abstract, **symbolic}, others)
        return planned(with_steps_of(found, outline), every)

    made = with_symbols(known, stages.abstract, sizes, places, make, TARGET.backend.reserved)
    if made is not None and made.executable.outline == outline:
        known.plans = (made, *known.plans)
        return made.executable
    found = planned(stages, every)
    if symbols_of_call(known, stages.abstract, sizes, places):
        known.failures += 1
    return found


def sizes_of_no_input(stages: Stages, layouts: Mapping[str, Layout]) -> dict[str, int]:
    """The sizes that are given by the names of axes, and that no array says."""
    read = {each for layout in layouts.values() for each in layout.sizes.items()}
    return {axis: size for axis, size in stages.typed.sizes.items() if (axis, size) not in read}


def key_of(stages: Stages, others: Mapping[str, int], every: bool) -> Any:
    """All that a function depends on but the sizes of arrays."""
    program = stages.typed.program
    inputs = [
        (name, each.axes if isinstance(each, Layout) else repr(each))  # −0.0 is not 0, and 1.0 not 1
        for name, each in stages.abstract.items()
    ]
    return program.source, program.syntax, tuple(inputs), tuple(others.items()), every


def has_every_value(stages: Stages) -> bool:
    """Whether the values of all steps are computed, or that of the last alone, as they are too many."""
    numbers = sum(math.prod(step.axes.values()) for step in stages.steps)
    return numbers <= MOST and len(stages.steps) <= LONGEST


def outline_of(stages: Stages) -> tuple[Any, ...]:
    """What the steps of a text are apart from sizes: a function for other sizes has to compute the same ones."""
    claims = [(span, len(left.shape), len(right.shape)) for left, right, span in stages.claims]
    return (stages.value, *map(row_of, stages.steps), *claims)


def row_of(step: Step) -> tuple[Any, ...]:
    return step.text, getattr(step.node, "span", None), step.inside, tuple(step.axes), len(step.term.shape)


def with_steps_of(stages: Stages, outline: tuple[Any, ...]) -> Stages:
    """The same without steps that are none where sizes are numbers: |seq|, where that is the end of a sum."""
    return replace(stages, steps=tuple([step for step in stages.steps if row_of(step) in outline]))


def planned(stages: Stages, every: bool) -> Function:
    """The function for the sizes of a text's types. Raises NotationError where it has no JavaScript."""
    terms = [step.term for step in stages.steps] if every else [stages.steps[stages.value].term]
    terms += [side for claim in stages.claims for side in claim[:2]]
    roots = list({id(term): term for term in terms}.values())
    plan, python = stages.plan(TARGET, roots)
    refused = next((step for step in steps(plan) if step.primitive not in BACKEND.lines), None)
    if python or refused is not None:
        what = "a Python function" if refused is None else refused.primitive
        raise NotationError(408, f"a page has no JavaScript for {what}")
    results = {
        id(term): Result(number, order_of(term, value)) for number, (term, value) in enumerate(zip(roots, plan.results))
    }
    return Function(
        BACKEND.function_text(plan, tupled=True),
        len(roots),
        tuple([results.get(id(step.term)) for step in stages.steps]),
        tuple([(results[id(left)], results[id(right)]) for left, right, _ in stages.claims]),
        outline_of(stages),
    )


def order_of(term: Term, value: Any) -> tuple[int, ...]:
    axes = list(term.shape)
    return tuple(map(axes.index, value.order)) if isinstance(value, Value) else ()
