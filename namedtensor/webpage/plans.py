"""Plans, which compute the values of all steps as a JavaScript function, so that inputs can change without Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from grammar.errors import NotationError
from grammar.nodes import Call, Superscript

from ..backends.entry_checks import every_step
from ..backends.javascript import BACKEND, TARGET, runtime
from ..display.steps import ExplainedStep
from ..planning.plan import PlanValue
from ..scope.names import read_spelling
from ..terms.environment import source_name
from ..terms.terms import Term, resolve_shape
from .marked_latex import write_marked_latex
from .replies import Reply, shape_data
from .requests import Request
from .stages import Stages, find_reduced_axes, stages_of
from .typed import TypedText, read_typed_text

MOST = 4 * 10**6  # elements of all steps together; if there are more, the function returns only the value
LONGEST = 2000  # steps; if there are more, the function returns only the value


class FunctionResult(NamedTuple):
    """The index of a function's result, and the axes of its array in storage order."""

    number: int
    order: tuple[str, ...]


def plan(request: Request) -> Reply:
    """Return the reply to a request `plan`."""
    return plan_of(read_typed_text(request))


def plan_of(text: TypedText) -> Reply:
    """Return the plan of a formula as data. Raise NotationError if it is invalid or has no JavaScript form."""
    stages = stages_of(text)
    count = sum(math.prod(step.axes.values()) for step in stages.steps)
    every = count <= MOST and len(stages.steps) <= LONGEST
    terms = [step.term for step in stages.steps] if every else [stages.steps[stages.value].term]
    terms += [side for claim in stages.claims for side in claim[:2]]
    roots = list({id(term): term for term in terms}.values())
    plan, python = stages.plan(TARGET, roots)
    missing = [step.primitive for step in every_step(plan) if step.primitive not in (*BACKEND.lines, "same")]
    if python or missing:
        raise NotationError(408, f"a page has no JavaScript for {missing[0] if missing else 'a Python function'}")
    results = {
        id(term): FunctionResult(number, value.order if isinstance(value, PlanValue) else ())
        for number, (term, value) in enumerate(zip(roots, plan.results))
    }
    return {
        "source": BACKEND.function_text(plan, tupled=True),
        "inputs": [
            name for name, value in stages.abstract.items()
            if text.given[name] is not None and not isinstance(value, (int, float))
        ],
        "steps": [step_data(stages, step, results) for step in stages.steps],
        "results": len(roots),
        "value": stages.value,
        "assertions": [
            {"span": list(span), "left": laid_out(left, results), "right": laid_out(right, results)}
            for left, right, span in stages.claims
        ],
    }  # fmt: skip


def laid_out(term: Term, results: Mapping[int, FunctionResult]) -> Reply:
    """Return the index of a term's result, and the names and sizes of its axes in storage order, as data."""
    shape, result = resolve_shape(term.shape), results[id(term)]
    return {"result": result.number, "axes": [[source_name(axis), shape[axis]] for axis in result.order]}


def step_data(stages: Stages, step: ExplainedStep, results: Mapping[int, FunctionResult]) -> Reply:
    """Return the data of a step, which `answers` describes as STEP."""
    node = step.node if hasattr(step.node, "span") else None
    axes, result = dict(zip(step.term.shape, step.axes.items())), results.get(id(step.term))
    return {
        "span": list(node.span) if node is not None and node.span != (0, 0) else None,
        "text": step.text,
        "latex": None if node is None else latex_of(stages, node),
        "type": step.type,
        "axes": shape_data(step.axes) if result is None else [list(axes[axis]) for axis in result.order],
        "place": list(step.inside),
        "result": None if result is None else result.number,
        "kind": kind(stages, step),
        "operands": stages.operands(step),
        "over": list(find_reduced_axes(step, stages)),
    }


def latex_of(stages: Stages, node: Any) -> str:
    return write_marked_latex(node, stages.colors, stages.spans)


def kind(stages: Stages, step: ExplainedStep) -> str:
    node = step.node
    if isinstance(node, Call):
        return node.operator
    if isinstance(node, Superscript) and stages.operands(step):
        return "^"
    return "name" if hasattr(node, "span") and read_spelling(node) is not None else type(node).__name__.lower()


def runtime_source(request: Request) -> Reply:
    """Return a reply that contains the source of the JavaScript functions that plans call."""
    return {"source": runtime()}
