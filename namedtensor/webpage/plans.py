"""The value of every step as a function of JavaScript, so that numbers change without Python."""

from __future__ import annotations

from typing import Any

from grammar.nodes import Call, Superscript

from ..backends.javascript import runtime
from ..display.steps import ExplainedStep
from ..scope.names import spelled
from ..terms.environment import source_name
from ..terms.terms import Term, resolved_shape
from .functions import FunctionResult, function_of
from .marked_latex import marked_latex
from .replies import Reply, shape_data
from .requests import Request
from .stages import Stages, over, stages_of
from .typed import TypedText, typed


def plan(request: Request) -> Reply:
    """The answer to `plan`."""
    return plan_of(typed(request))


def plan_of(text: TypedText) -> Reply:
    """The plan of a text. Raises NotationError if it is wrong, or has no JavaScript."""
    stages = stages_of(text)
    function = function_of(stages)
    return {
        "source": function.source,
        "inputs": [
            name for name in stages.abstract if stages.typed.given[name] is not None and is_tensor(stages, name)
        ],
        "steps": [step_data(stages, step, result) for step, result in zip(stages.steps, function.steps)],
        "results": function.results,
        "value": stages.value,
        "claims": [
            {"span": list(span), "left": laid_out(left, result), "right": laid_out(right, other)}
            for (left, right, span), (result, other) in zip(stages.claims, function.claims)
        ],
    }


def is_tensor(stages: Stages, name: str) -> bool:
    return not isinstance(stages.abstract[name], (int, float))


def step_data(stages: Stages, step: ExplainedStep, result: FunctionResult | None) -> Reply:
    node = step.node if hasattr(step.node, "span") else None
    return {
        "span": list(node.span) if node is not None and node.span != (0, 0) else None,
        "text": step.text,
        "latex": None if node is None else latex_of(stages, node),
        "type": step.type,
        "axes": shape_data(step.axes) if result is None else result.stored(step.axes.items()),
        "place": list(step.inside),
        "result": None if result is None else result.number,
        "kind": kind(stages, step),
        "operands": stages.operands(step),
        "over": list(over(step, stages)),
    }


def laid_out(term: Term, result: FunctionResult) -> Reply:
    """A result with its axes."""
    axes = ((source_name(axis), size) for axis, size in resolved_shape(term.shape).items())
    return {"result": result.number, "axes": result.stored(axes)}


def latex_of(stages: Stages, node: Any) -> str:
    return marked_latex(node, stages.colors, stages.spans)


def kind(stages: Stages, step: ExplainedStep) -> str:
    node = step.node
    if isinstance(node, Call):
        return node.operator
    if isinstance(node, Superscript) and stages.operands(step):
        return "^"
    return "name" if hasattr(node, "span") and spelled(node) is not None else type(node).__name__.lower()


def runtime_source(request: Request) -> Reply:
    """The functions that plans call."""
    return {"source": runtime()}
