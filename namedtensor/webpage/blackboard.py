"""Each step as one writes it on a blackboard: the symbols, their types, and the numbers at one record.

    Q ⊙_{key} K    ℝ^{key[4]} ⊙_{key} ℝ^{seq[5] × key[4]}    at seq(2)    0.4·0.7 + −0.8·0.1 + …

The numbers are a template: strings, and for each number the step and the place that it comes from; a page fills it in.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Union

from grammar import nodes
from grammar.nodes import Call, Name, Node, Number
from grammar.printer import to_text
from grammar.printer.text import FORMS

from ..display.colors import tints
from ..display.steps import ExplainedStep
from ..operators import REGISTRY
from .marked_latex import marked_latex
from .plans import latex_of
from .replies import Reply, shape_data
from .requests import Request
from .stages import Stages, named_axes, operands_of, over, stages_of
from .typed import typed

Item = Union[str, dict[str, Any]]
Place = Mapping[str, int]
TERMS = 6  # of a sum that are written out; of more, the first, a few dots and the last
INFIX = {"juxtaposed": "·", "⊙": "·", "dot": "·", "/": " / ", "^": "^"}
BETWEEN = {"∑": " + ", "sum": " + ", "mean": " + ", "∏": " · ", "prod": " · "}


def steps(request: Request) -> Reply:
    """The answer to `steps`."""
    stages = stages_of(typed(request))
    record = request.sizes("record")
    return {"steps": [step_answer(stages, number, step, record) for number, step in enumerate(stages.steps)]}


def step_answer(stages: Stages, number: int, step: ExplainedStep, record: Place) -> Reply:
    at = {axis: min(max(record.get(axis, 1), 1), size) for axis, size in step.axes.items()}
    shapes = with_types(stages, step)
    return {
        "step": number,
        "symbols": step.text,
        "latex_symbols": latex_of(stages, step.node) if hasattr(step.node, "span") else None,
        "shapes": None if shapes is None else to_text(shapes),
        "latex_shapes": None if shapes is None else latex_shapes(stages, step, shapes),
        "record": at,
        "numbers": numbers(stages, step, at),
        "axes": shape_data(step.axes),
    }


# ------------------------------------------------------------------------------------------------------------- shapes
def with_types(stages: Stages, step: ExplainedStep) -> Node | None:
    """A piece with the type of each operand in its place; None where it has none."""
    parts = operands_of(step.node)
    steps = [stages.step_of(part, step) for part in parts]
    if not any(at is not None and stages.steps[at].axes for at in steps):
        return None  # ℝ^2 would be read as pairs of numbers
    typed = [part if at is None else Name(type_of(stages.steps[at], step)) for part, at in zip(parts, steps)]
    return with_operands(step.node, typed)


def type_of(operand: ExplainedStep, step: ExplainedStep) -> str:
    """A type as an operand: in brackets before a script."""
    return f"({operand.type})" if hasattr(step.node, "base") and operand.axes else operand.type


def latex_shapes(stages: Stages, step: ExplainedStep, shapes: Node) -> str:
    operands = [stages.steps[at] for at in stages.operands(step) if at is not None]
    return marked_latex(
        shapes, tints(stages.typed.axes), operands={type_of(operand, step): operand.axes for operand in operands}
    )


def with_operands(node: Any, parts: list[Any]) -> Any:
    if isinstance(node, Call):
        count = len(node.arguments)
        return replace(node, arguments=tuple(parts[:count]), parameters=tuple(parts[count:]))
    if isinstance(node, nodes.Indicator):
        return replace(node, condition=parts[0])
    if isinstance(node, nodes.IndexSum):
        return replace(node, body=parts[0])
    return replace(node, base=parts[0]) if hasattr(node, "base") else None


# ------------------------------------------------------------------------------------------------------------ numbers
def numbers(stages: Stages, step: ExplainedStep, at: Place) -> list[Item] | None:
    """The numbers that make one number of a step; None where no line says them."""
    rule = RULES.get(rule_of(step.node))
    if rule is None or not stages.operands(step):
        return None
    try:
        return list(rule(Board(stages, step), at))
    except LookupError:  # an operand's axis that the record does not say
        return None


class Board:
    """A step and its operands."""

    def __init__(self, stages: Stages, step: ExplainedStep):
        self.found, self.step, self.node = stages, step, step.node
        self.parts = operands_of(step.node)

    def operand(self, position: int, at: Place) -> Item:
        """The number of an operand there."""
        part = self.parts[position]
        number = self.found.step_of(part, self.step)
        if number is None:
            if not isinstance(part, Number):
                raise LookupError
            return to_text(part)
        return {"step": number, "at": {axis: at[axis] for axis in self.found.steps[number].axes}}

    def along(self, at: Place) -> list[Place]:
        """The places along the axes that the step sums or looks along."""
        axes = over(self.step, self.found)
        sizes: dict[str, int] = {}
        for number in self.found.operands(self.step):
            if number is not None:
                sizes |= {axis: size for axis, size in self.found.steps[number].axes.items() if axis in axes}
        ranges = [range(1, sizes[axis] + 1) for axis in axes]
        return [{**at, **dict(zip(axes, indices))} for indices in itertools.islice(itertools.product(*ranges), 10_000)]


def rule_of(node: Any) -> str:
    if not isinstance(node, Call):
        return type(node).__name__
    record = REGISTRY.get(node.operator)
    if record is None:
        return ""
    if record.name in ("softmax", "mean", "negative", "sqrt", "⊙"):
        return record.name
    if record.kind == "elementwise" and FORMS.get(node.operator) in (
        "addition",
        "quotient",
        "juxtaposed",
        "product",
        "relation",
    ):
        return "infix"
    return record.kind


def terms(many: list[list[Item]], between: str) -> Iterator[Item]:
    """Terms with signs between them; of many the first, dots and the last."""
    shown = many if len(many) <= TERMS else [*many[: TERMS - 2], ["…"], many[-1]]
    for number, term in enumerate(shown):
        yield from ([between] if number else [])
        yield from term


def infix(board: Board, at: Place) -> Iterator[Item]:
    sign = INFIX.get(board.node.operator, f" {to_sign(board.node.operator)} ")
    yield from terms([[board.operand(index, at)] for index in range(len(board.parts))], sign)


def to_sign(operator: str) -> str:
    return "−" if operator == "-" else operator


def contraction(board: Board, at: Place) -> Iterator[Item]:
    if not list(named_axes(board.node)):
        yield from infix(board, at)
        return
    products = [[board.operand(0, point), "·", board.operand(1, point)] for point in board.along(at)]
    yield from terms(products, " + ")


def reduction(board: Board, at: Place) -> Iterator[Item]:
    operator = board.node.operator
    values = along(board, at)
    if operator in BETWEEN:
        yield from terms(values, BETWEEN[operator])
    else:
        yield f"{operator}("
        yield from terms(values, ", ")
        yield ")"


def along(board: Board, at: Place) -> list[list[Item]]:
    if len(board.parts) > 1:  # max(X, Y)
        return [[board.operand(index, at)] for index in range(len(board.parts))]
    return [[board.operand(0, point)] for point in board.along(at)]


def mean(board: Board, at: Place) -> Iterator[Item]:
    values = along(board, at)
    yield "("
    yield from terms(values, " + ")
    yield f") / {len(values)}"


def softmax(board: Board, at: Place) -> Iterator[Item]:
    yield from ["exp ", board.operand(0, at), " / ("]
    yield from terms([["exp ", element] for (element,) in along(board, at)], " + ")
    yield ")"


def elementwise(board: Board, at: Place) -> Iterator[Item]:
    yield f"{board.node.operator}("
    yield from terms([[board.operand(index, at)] for index in range(len(board.parts))], ", ")
    yield ")"


def before(sign: str) -> Callable[[Board, Place], Iterator[Item]]:
    return lambda board, at: iter([sign, board.operand(0, at)])


def power(board: Board, at: Place) -> Iterator[Item]:
    yield board.operand(0, at)
    yield "^" + ",".join(map(to_text, board.node.components))


def renamed(board: Board, at: Place) -> Iterator[Item]:
    """X_{a→b} at b(2) is X at a(2)."""
    where = dict(at)
    for old, new in board.node.items:
        if len(old) != 1 or len(new) != 1:
            raise LookupError
        where[old[0].name] = at[new[0].name]
    yield board.operand(0, where)


def indexed(board: Board, at: Place) -> Iterator[Item]:
    where = dict(at)
    for axis, index in board.node.items:
        if not isinstance(index, Number):
            raise LookupError
        where[axis.name] = int(index.value)
    yield board.operand(0, where)


def index_sum(board: Board, at: Place) -> Iterator[Item]:
    yield from terms(along(board, at), BETWEEN.get(board.node.operator, " + "))


def indicator(board: Board, at: Place) -> Iterator[Item]:
    yield from ["𝕀[", board.operand(0, at), "]"]


RULES: dict[str, Callable[[Board, Place], Iterator[Item]]] = {
    "infix": infix, "⊙": contraction, "reduction": reduction, "mean": mean, "softmax": softmax, "elementwise": elementwise,
    "negative": before("−"), "sqrt": before("√"), "Superscript": power, "Rename": renamed, "Index": indexed,
    "IndexSum": index_sum, "Indicator": indicator,
}  # fmt: skip
