"""The JavaScript function of a text: one for all sizes that its plan is right for, which it reads from its arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from grammar.cache import Cache
from grammar.errors import NotationError
from grammar.nodes import Declaration, Node, Number

from ..backends.entry_checks import every_step
from ..backends.javascript import BACKEND, TARGET
from ..core.arrays import Layout
from ..display.steps import ExplainedStep
from ..planning.plan import PlanValue
from ..programs.entries import WholeProgram
from ..programs.parsed import ParsedProgram
from ..programs.symbolic_plans import Place, PlanSignature, SignaturePlans, symbols_of_call, with_symbols
from ..scope.names import spelled
from ..terms.terms import Term
from .stages import Stages, stages_for

MOST = 4 * 10**6  # numbers of all steps together; of more, the value alone
LONGEST = 2000  # steps
MAX_TEXTS = 16


class FunctionResult(NamedTuple):
    """A result of a function: its number, and its axes in storage order, as positions in the shape of its term."""

    number: int
    order: tuple[int, ...]

    def stored(self, axes: Iterable[tuple[str, Any]]) -> list[list[Any]]:
        """Axes of its term with their sizes, in the order in which the value is stored."""
        shape = list(axes)
        return [list(shape[position]) for position in self.order]


class PageFunction(NamedTuple):
    """The text of a function, the number of its results, and which of them are those of steps and of sides of assertions."""

    source: str
    results: int
    steps: tuple[FunctionResult | None, ...]
    claims: tuple[tuple[FunctionResult, FunctionResult], ...]
    outline: tuple[Any, ...]


_FUNCTIONS: Cache[Any, SignaturePlans[PageFunction]] = Cache("functions of a page's texts", MAX_TEXTS)


def function_of(stages: Stages) -> PageFunction:
    """The function of a text. Raises NotationError if it has no JavaScript."""
    every, outline = has_every_value(stages), outline_of(stages)
    source, others = without_sizes(stages), sizes_of_no_input(stages)
    key, sizes, places = signature_of(stages, (source, tuple(others.items()), every))
    known = _FUNCTIONS.get_or_build(key, SignaturePlans[PageFunction])
    for plan in known.plans:
        if plan.fits(sizes) and plan.executable.outline == outline:
            return plan.executable

    def make(layouts: Mapping[str, Layout]) -> PageFunction:
        goal = WholeProgram(ParsedProgram(source, stages.typed.program.syntax))
        symbolic = stages_for(replace(stages.typed, goal=goal), {**stages.abstract, **layouts}, others)
        return planned(with_steps_of(symbolic, outline), every)

    reserved = TARGET.backend.reserved
    plan = None if known.is_full else with_symbols(known, stages.abstract, sizes, places, make, reserved)
    if plan is not None and plan.executable.outline == outline:
        known.plans = (plan, *known.plans)
        return plan.executable
    function = planned(stages, every)
    if symbols_of_call(known, stages.abstract, sizes, places):
        known.failures += 1
    return function


def signature_of(stages: Stages, extra: tuple[Any, ...]) -> PlanSignature:
    """All that a function depends on: its sizes are those of arrays."""
    key: list[Any] = [stages.typed.program.syntax, extra]
    sizes: list[int] = []
    places: list[Place] = []
    for name, value in stages.abstract.items():
        if isinstance(value, Layout):
            key.append((name, value.axes))
            sizes += value.extent
            places += [(name, number) for number in range(len(value.extent))]
        else:
            key.append((name, repr(value)))  # −0.0 is not 0, and 1.0 not 1
    return PlanSignature(tuple(key), tuple(sizes), tuple(places))


def sizes_of_no_input(stages: Stages) -> dict[str, int]:
    """The sizes that are given by the names of axes, and that no array has."""
    layouts = [layout for layout in stages.abstract.values() if isinstance(layout, Layout)]
    read = {size for layout in layouts for size in layout.sizes.items()}
    return {axis: size for axis, size in stages.typed.sizes.items() if (axis, size) not in read}


def without_sizes(stages: Stages) -> str:
    """The text with blanks for the sizes in its declarations of inputs, ℝ^{seq   } for ℝ^{seq[5]}: arrays have them."""
    program = stages.typed.program
    source = program.source
    for statement in program.tree.statements:
        if isinstance(statement, Declaration) and all(name_of(name) in stages.abstract for name in statement.names):
            for start, end in (size.span for one in statement.sets for _, size in one.axes if isinstance(size, Number)):
                if source[start - 1] + source[end] == "[]":
                    source = source[: start - 1] + " " * (end - start + 2) + source[end + 1 :]
    return source


def name_of(node: Node) -> str | None:
    name = spelled(node)
    return None if name is None else str(name.key())


def has_every_value(stages: Stages) -> bool:
    """Whether the values of all steps are computed, or that of the last alone, as they are too many."""
    numbers = sum(math.prod(step.axes.values()) for step in stages.steps)
    return numbers <= MOST and len(stages.steps) <= LONGEST


def outline_of(stages: Stages) -> tuple[Any, ...]:
    """What the steps of a text are apart from sizes: a function for other sizes has to compute the same ones."""
    claims = [(span, len(left.shape), len(right.shape)) for left, right, span in stages.claims]
    return (stages.value, *map(row_of, stages.steps), *claims)


def row_of(step: ExplainedStep) -> tuple[Any, ...]:
    return step.text, getattr(step.node, "span", None), step.inside, tuple(step.axes), len(step.term.shape)


def with_steps_of(stages: Stages, outline: tuple[Any, ...]) -> Stages:
    """The same with those steps alone: |seq|, the end of a sum, is none where sizes are numbers."""
    rows = {*outline}
    return replace(stages, steps=tuple([step for step in stages.steps if row_of(step) in rows]))


def planned(stages: Stages, every: bool) -> PageFunction:
    """The function for the sizes of a text's types. Raises NotationError if it has no JavaScript."""
    terms = [step.term for step in stages.steps] if every else [stages.steps[stages.value].term]
    terms += [side for claim in stages.claims for side in claim[:2]]
    roots = list({id(term): term for term in terms}.values())
    plan, python = stages.plan(TARGET, roots)
    missing = [step.primitive for step in every_step(plan) if step.primitive not in (*BACKEND.lines, "same")]
    if python or missing:
        what = missing[0] if missing else "a Python function"
        raise NotationError(408, f"a page has no JavaScript for {what}")
    results = {
        id(term): FunctionResult(number, order_of(term, value))
        for number, (term, value) in enumerate(zip(roots, plan.results))
    }
    return PageFunction(
        BACKEND.function_text(plan, tupled=True),
        len(roots),
        tuple([results.get(id(step.term)) for step in stages.steps]),
        tuple([(results[id(left)], results[id(right)]) for left, right, _ in stages.claims]),
        outline_of(stages),
    )


def order_of(term: Term, value: Any) -> tuple[int, ...]:
    axes = list(term.shape)
    return tuple(map(axes.index, value.order)) if isinstance(value, PlanValue) else ()
