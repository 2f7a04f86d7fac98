"""The value of every step as a function of JavaScript, so that numbers change without Python."""

from __future__ import annotations

import math
from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Call, Superscript

from ..backends.javascript import BACKEND, TARGET, runtime, steps
from ..display.steps import Step
from ..planning.plan import Plan, Value
from ..scope.names import spelled
from ..terms.environment import source_name
from ..terms.terms import Term
from .marked_latex import marked_latex
from .replies import Reply, shape_data
from .requests import Request
from .stages import Stages, over, stages_of
from .typed import Typed, typed

MOST = 4 * 10**6  # numbers of all steps together; of more, the value alone
LONGEST = 2000  # steps


def plan(request: Request) -> Reply:
    """The answer to `plan`."""
    return plan_of(typed(request))


def plan_of(text: Typed) -> Reply:
    """The plan of a text. Raises NotationError where it is wrong, or has no JavaScript."""
    found = stages_of(text)
    terms = wanted(found)
    claims = [(left, right, span) for left, right, span in found.checker.claim_terms if isinstance(right, Term)]
    roots = list({id(term): term for term in [*terms, *(side for claim in claims for side in claim[:2])]}.values())
    made, python = found.plan(TARGET, roots)
    refused = next((step for step in steps(made) if step.primitive not in BACKEND.lines), None)
    if python or refused is not None:
        what = "a Python function" if refused is None else refused.primitive
        raise NotationError(408, f"a page has no JavaScript for {what}")
    places = {id(term): number for number, term in enumerate(roots)}
    return {
        "source": BACKEND.function_text(made, tupled=True),
        "inputs": [name for name in found.abstract if found.typed.given[name] is not None and is_tensor(found, name)],
        "steps": [step_data(found, step, made, places) for step in found.steps],
        "results": len(roots),
        "value": value_of(found),
        "claims": [
            {"span": list(span), "left": laid_out(made, places[id(left)]), "right": laid_out(made, places[id(right)])}
            for left, right, span in claims
        ],
    }


def is_tensor(found: Stages, name: str) -> bool:
    return not isinstance(found.abstract[name], (int, float))


def wanted(found: Stages) -> list[Term]:
    """The terms of all steps, or of the last alone where they are too many."""
    numbers = sum(math.prod(step.axes.values()) for step in found.steps)
    if numbers > MOST or len(found.steps) > LONGEST:
        return [found.steps[value_of(found)].term]
    return [step.term for step in found.steps]


def value_of(found: Stages) -> int:
    """The step that is the whole."""
    same = [number for number, step in enumerate(found.steps) if step.term is found.root]
    return same[-1] if same else len(found.steps) - 1


def step_data(found: Stages, step: Step, made: Plan, places: dict[int, int]) -> Reply:
    number = places.get(id(step.term))
    node = step.node if hasattr(step.node, "span") else None
    return {
        "span": list(node.span) if node is not None and node.span != (0, 0) else None,
        "text": step.text,
        "latex": None if node is None else latex_of(found, node),
        "type": step.type,
        "axes": shape_data(step.axes) if number is None else stored(step, made.results[number]),
        "place": list(step.inside),
        "result": number,
        "kind": kind(found, step),
        "operands": found.operands(step),
        "over": list(over(step, found)),
    }


def stored(step: Step, result: Any) -> list[list[Any]]:
    """The axes of a step in the order in which its value is stored."""
    if not isinstance(result, Value):
        return []
    names = dict(zip(step.term.shape, step.axes))
    return [[names[axis], size] for axis, size in zip(result.order, result.shape)]


def laid_out(made: Plan, number: int) -> Reply:
    """A result with its axes."""
    result = made.results[number]
    axes = (
        [[source_name(axis), size] for axis, size in zip(result.order, result.shape)]
        if isinstance(result, Value)
        else []
    )
    return {"result": number, "axes": axes}


def latex_of(found: Stages, node: Any) -> str:
    return marked_latex(node, found.colors, found.spans)


def kind(found: Stages, step: Step) -> str:
    node = step.node
    if isinstance(node, Call):
        return node.operator
    if isinstance(node, Superscript) and found.operands(step):
        return "^"
    return "name" if hasattr(node, "span") and spelled(node) is not None else type(node).__name__.lower()


def runtime_source(request: Request) -> Reply:
    """The functions that plans call."""
    return {"source": runtime()}
