"""The steps that compute a formula's value. Each step is a term with its operands and its piece of the formula."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import Span
from grammar.nodes import Call, Node, Number

from ..checking.checker import Checker
from ..core.settings import recursion_headroom
from ..display.colors import Tint, tints
from ..display.flow_trees import operands
from ..display.steps import ExplainedStep, Explanation, explanation
from ..planning.plan import Plan
from ..planning.target import Target
from ..programs.arguments import Abstract, layout_of, normalize_names
from ..programs.executable import Options, plan_terms
from ..programs.named_plans import check_by_name
from ..scope.symbols import Definition
from ..terms.terms import Term
from .typed import TypedText


@dataclass(frozen=True)
class Stages:
    """The steps of a formula, as terms that are typed for inputs of the given layouts."""

    typed: TypedText
    checker: Checker
    root: Term
    abstract: Abstract
    steps: tuple[ExplainedStep, ...]

    @cached_property
    def places(self) -> dict[tuple[Any, Any], int]:
        """Return the number of the first step for each piece of the formula.

        A key contains the span or the text of a piece, and the definitions that contain the piece.
        """
        places: dict[tuple[Any, Any], int] = {}
        for number, step in enumerate(self.steps):
            places.setdefault((getattr(step.node, "span", None), step.place), number)
            places.setdefault((step.text, step.place), number)
        return places

    @cached_property
    def value(self) -> int:
        """Return the number of the step that computes the formula's value."""
        same = [number for number, step in enumerate(self.steps) if step.term is self.root]
        return same[-1] if same else len(self.steps) - 1

    @cached_property
    def claims(self) -> list[tuple[Term, Term, Span]]:
        """Return the left side, the right side and the span of each assertion that two terms are equal."""
        return [(left, right, span) for left, right, span, _ in self.checker.claim_terms if isinstance(right, Term)]

    @cached_property
    def spans(self) -> set[Any]:
        """Return the spans of the steps in the formula."""
        return {step.node.span for step in self.steps if hasattr(step.node, "span")}

    @cached_property
    def colors(self) -> dict[str, Tint]:
        return tints(self.typed.axes)

    def operands(self, step: ExplainedStep) -> list[int | None]:
        """Return the step number of each operand of a step in textual order.

        The entry is None for a literal number, and for an operand that is not a step.
        """
        steps = [self.step_of(node, step) for node in operands_of(step.node)]
        return [] if isinstance(step.node, nodes.Superscript) and steps == [None] else steps  # x^t is a name

    def step_of(self, node: Node, step: ExplainedStep) -> int | None:
        if isinstance(node, Number):
            return None
        position = self.places.get((node.span, step.place))
        return self.places.get((self.checker.text(node), step.place)) if position is None else position

    def plan(self, target: Target, roots: list[Term]) -> tuple[Plan, list[Any]]:
        """Return a plan that computes the given terms, and the Python functions that it calls."""
        source = self.checker.scope.source
        with recursion_headroom(source):
            return plan_terms(source, roots, self.abstract, target)


def stages_of(typed_text: TypedText) -> Stages:
    """Return the steps of a formula. Raise the first error if the formula has errors."""
    typed_text.right()
    sizes = dict(typed_text.sizes)
    abstract = normalize_names({name: layout_of(value, name, sizes) for name, value in typed_text.given.items()})
    with recursion_headroom(typed_text.program.source):
        checker, (root,) = check_by_name(typed_text.goal, abstract, Options(sizes))
        last = checker.scope.valued
        whole = last.statement if isinstance(last, Definition) else last
        explained: Explanation = explanation(
            checker, root, title(typed_text) if whole is None else whole, None, nothing
        )
    return Stages(typed_text, checker, root, abstract, explained.stages)


def title(typed_text: TypedText) -> str:
    entry = typed_text.goal.entry()
    return "value" if entry is None else entry.name


def nothing(terms: list[Term]) -> list[Any]:
    return []


BASES = (nodes.Index, nodes.Superscript)
WHOLE = (nodes.Over, nodes.Expectation, nodes.AtPoint, nodes.Derivative, nodes.Subscript)  # no part of these is a step


def operands_of(node: Any) -> tuple[Node, ...]:
    """Return the direct parts of an expression whose values are needed to compute it."""
    return (node.base,) if isinstance(node, BASES) else () if isinstance(node, WHOLE) else operands(node)


def find_reduced_axes(step: ExplainedStep, stages: Stages) -> tuple[str, ...]:
    """Return the axes in a step's subscript that an operand has. The step operates over these axes."""
    return tuple(dict.fromkeys(axis for axis in find_named_axes(step.node) if has_axis(step, stages, axis)))


def has_axis(step: ExplainedStep, stages: Stages, axis: str) -> bool:
    return any(axis in stages.steps[number].axes for number in stages.operands(step) if number is not None)


def find_named_axes(node: Any) -> Iterator[str]:
    """Yield the axes in the subscript of a call, or the variable of an index sum."""
    if isinstance(node, nodes.IndexSum):
        yield node.variable.text
    for part in node.subscript if isinstance(node, Call) else ():
        axis = nodes.axis_of(part)
        if axis is not None:
            yield axis.name
