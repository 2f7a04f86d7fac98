"""Steps as they would appear on a blackboard: in symbols, in types, and in the numbers of one element.

    Q ⊙_{key} K    ℝ^{key[4]} ⊙_{key} ℝ^{seq[5] × key[4]}    at seq(2)    0.4·0.7 + −0.8·0.1 + …

The numbers are a template of strings and references. Each reference names a step and the element to insert. The page
inserts the values.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Union

from grammar.nodes import Call, Name, Node, Number
from grammar.printer import to_text

from ..display.code_libraries import ATOM, INFIX, LOOPS, PRODUCT, SUM, CodeExpression
from ..display.code_loop_rules import LOOP_RULES, make_template_rule
from ..display.code_loops import LoopWriter, extents
from ..display.code_statements import UnreadableFormulaError
from ..display.colors import tints
from ..display.steps import ExplainedStep
from ..operators import REGISTRY
from ..terms.terms import Term
from .marked_latex import write_marked_latex
from .plans import latex_of
from .replies import Reply, shape_data
from .requests import Request
from .stages import Stages, operands_of, stages_of
from .typed import read_typed_text

Item = Union[str, dict[str, Any]]
Place = Mapping[str, int]
TERMS = 6  # elements of a sum that are written out; a longer sum shows the first, dots and the last
MAX_PARTS = 100  # in the text of one element
HOLE = "\0"  # delimits a reference, which the page replaces with a number
SUMS = "{0} += {1}"
BETWEEN = {SUMS: " + ", "{0} *= {1}": " · "}
SIGNS = {"⊙": "·", "-": " − ", "^": "^"}
BOARD = LOOPS._replace(signs={name: sign._replace(sign=SIGNS.get(name, f" {name} ")) for name, sign in INFIX.items()})


def steps(request: Request) -> Reply:
    """Return the reply to a request `steps`."""
    stages = stages_of(read_typed_text(request))
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
    """Return a step's expression with types in place of its operands, or None if no operand has axes."""
    parts = operands_of(step.node)
    steps = [stages.step_of(part, step) for part in parts]
    if not any(at is not None and stages.steps[at].axes for at in steps):
        return None  # ℝ^2 would be read as pairs of numbers
    typed = [part if at is None else Name(type_of(stages.steps[at], step)) for part, at in zip(parts, steps)]
    return with_operands(step.node, typed)


def type_of(operand: ExplainedStep, step: ExplainedStep) -> str:
    """Return the type of an operand as text, in parentheses if the operand has a script in the step."""
    return f"({operand.type})" if hasattr(step.node, "base") and operand.axes else operand.type


def latex_shapes(stages: Stages, step: ExplainedStep, shapes: Node) -> str:
    operands = [stages.steps[at] for at in stages.operands(step) if at is not None]
    return write_marked_latex(
        shapes, tints(stages.typed.axes), operands={type_of(operand, step): operand.axes for operand in operands}
    )


def with_operands(node: Any, parts: list[Any]) -> Any:
    """Return an expression with its operands replaced. For a literal or cases, return None."""
    if isinstance(node, Call):
        count = len(node.arguments)
        return replace(node, arguments=tuple(parts[:count]), parameters=tuple(parts[count:]))
    name = next((name for name in ("base", "condition", "body") if hasattr(node, name)), None)
    return replace(node, **{name: parts[0]}) if name is not None else None


# ------------------------------------------------------------------------------------------------------------ numbers
def numbers(stages: Stages, step: ExplainedStep, at: Place) -> list[Item] | None:
    """Return the numbers that one element of a step is computed from, as a template.

    Return None if the step has no operands, its operation cannot be written out, or the numbers do not fit on a line.
    """
    operands = {id(stages.steps[number].term): number for number in stages.operands(step) if number is not None}
    term = unfold_step(stages, step) if step.term.number is not None else step.term
    if not operands or id(term) in operands:
        return None
    try:
        text = Board(stages, step, operands, at).code(term).text
    except (LookupError, UnreadableFormulaError):
        return None
    return [item if index % 2 == 0 else json.loads(item) for index, item in enumerate(text.split(HOLE)) if item]


def unfold_step(stages: Stages, step: ExplainedStep) -> Term:
    """Return the operation of a step as a term, for a step whose own term was folded to a number."""
    operands = [
        Term("number", (), (), (), {}, False, part, 0) if number is None else stages.steps[number].term
        for part, number in zip(operands_of(step.node), stages.operands(step))
    ]
    return Term(getattr(step.node, "operator", ""), (*operands,), (), (), {}, False, step.node, 0)


class Board(LoopWriter):
    """A writer for the computation of one element of a step. It expands sums into operations on elements."""

    def __init__(self, stages: Stages, step: ExplainedStep, operands: Mapping[int, int], at: Place):
        self.library, self.rules, self.stages, self.helpers = BOARD, RULES, stages, {}
        self.parts = 0
        self.written = {term: CodeExpression(str(number)) for term, number in operands.items()}
        self.at = {axis: CodeExpression(str(at[name] - 1)) for axis, name in zip(step.term.shape, step.axes)}

    def rule(self, term: Term) -> Any:
        self.parts += 1
        if self.parts > MAX_PARTS:
            raise self.unreadable(term)
        return super().rule(term)

    def element(self, name: str, axes: Iterable[str]) -> CodeExpression:
        indices = [int(self.at[axis].text) + 1 for axis in axes]
        hole = {"step": int(name), "at": dict(zip(self.stages.steps[int(name)].axes, indices))}
        return CodeExpression(f"{HOLE}{json.dumps(hole)}{HOLE}")

    def shared(self, term: Term, name: str, compute: Callable[[], Any]) -> Any:
        return compute()

    def total(
        self, term: Term, name: str, start: str, step: str, element: Callable[[], CodeExpression], ends: Mapping[str, str] | None = None,
    ) -> CodeExpression:  # fmt: skip
        return CodeExpression(self.listed(term, element, BETWEEN[step]), level=SUM if step == SUMS else PRODUCT)

    def listed(self, term: Term, element: Callable[[], CodeExpression], between: str) -> str:
        """Return the elements along the axes of a term as text, separated by an operator.

        A long list contains only the first elements, dots, and the last element.
        """
        sizes = {axis: size for axis, size in extents(term).items() if axis in term.axes}
        places = list(itertools.islice(itertools.product(*map(range, sizes.values())), TERMS + 1))
        level, texts = PRODUCT if between == BETWEEN[SUMS] else SUM, list[str]()
        last = tuple(size - 1 for size in sizes.values())
        for position in places if len(places) <= TERMS else [*places[: TERMS - 2], last]:
            indices = {axis: CodeExpression(str(index)) for axis, index in zip(sizes, position)}
            texts.append(self.read({**self.at, **indices}, element).within(level))
        return between.join(texts if len(places) <= TERMS else [*texts[:-1], "…", texts[-1]])


def reduction(w: Board, term: Term) -> CodeExpression:
    """Return a reduction such as max(a, b, …), over the elements along the axes or over several tensors."""
    if len(term.arguments) > 1 or not term.axes:
        return function(w, term)
    return CodeExpression(f"{term.operator}({w.listed(term, lambda: w.code(term.arguments[0]), ', ')})")


def function(w: Board, term: Term) -> CodeExpression:
    return CodeExpression(f"{term.operator}({', '.join(w.code(argument).text for argument in term.arguments)})")


def number(w: Board, term: Term) -> CodeExpression:
    return CodeExpression(to_text(term.node) if isinstance(term.node, Number) else f"{term.number:g}")


def softmax(w: Board, term: Term) -> CodeExpression:
    def exponential() -> CodeExpression:
        return CodeExpression(f"exp {w.code(term.arguments[0]).within(ATOM)}")

    return CodeExpression(f"{exponential().text} / ({w.listed(term, exponential, ' + ')})", level=PRODUCT)


RULES: dict[str, Any] = {
    **{record.name: function for record in REGISTRY.values() if record.kind == "elementwise"},
    **{record.name: reduction for record in REGISTRY.values() if record.kind == "reduction"},
    **{name: LOOP_RULES[name] for name in (*INFIX, "dot", "juxtaposed", "∑", "∏", "mean", "rename", "pick", "variable", "spread")},
    "number": number, "softmax": softmax, "negative": make_template_rule("−{:atom}", PRODUCT),
    "sqrt": make_template_rule("√{:atom}"), "indicator": make_template_rule("𝕀[{:loose}]"),
}  # fmt: skip
