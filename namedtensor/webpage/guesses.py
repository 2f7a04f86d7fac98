"""Types that was not given: the least with which a text is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.nodes import Call

from ..core.kinds import is_mapping
from ..core.sizes import SizeVariable
from ..derivations.least_shapes import MAX_INFERRED_SIZES, widened
from ..programs.checks import checked_goal
from ..programs.entries import WholeProgram
from ..scope.names import spelled, walk


def guessed(goal: WholeProgram, given: Mapping[str, Any], free: set[str], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The shapes that are given, and for names that have none the least that makes the text right; numbers where none does.

    Those that are `free` are numbers so far, and may be larger.
    """
    shapes: dict[str, Any] = {name: copied(value) for name, value in given.items()}
    first: dict[str, Any] | None = dict(shapes) if free else None
    names = names_by_span(goal.program.tree)
    for _ in range(MAX_INFERRED_SIZES):
        errors = checked_goal(goal, shapes, sizes, None).result.errors
        unknown = [names.get(error.span, "") for error in errors if error.code == 201]
        unknown = [name for name in unknown if name not in shapes and goal.program.names.has(name)]
        if unknown:
            shapes |= {name: {} for name in unknown}
            first = first or dict(shapes)
        elif not errors or first is None:
            return shapes
        elif not larger(goal.program.tree, shapes, given.keys() - free, errors[0]):
            return first
    return first or shapes


def names_by_span(tree: nodes.Program) -> dict[Span | None, str]:
    """The name at each position of a text: A_ij where that says A_{ij}, and W_h where it says \\mathbf{W}_h."""
    spellings = ((node.span, spelled(node)) for node in walk(tree) if hasattr(node, "span"))
    return {span: str(name.key()) for span, name in spellings if name is not None}


def copied(shape: Any) -> Any:
    return dict(shape) if is_mapping(shape) else shape


def larger(tree: nodes.Program, shapes: dict[str, Any], given: set[str], problem: NotationError) -> bool:
    """Whether a name that was not given could get an axis that an operator needs."""
    if problem.code not in (301, 303):
        return False
    tensors: dict[str, dict[str, Any]] = {name: shape for name, shape in shapes.items() if isinstance(shape, dict)}
    if widened(tree, tensors, given):  # changes the shapes in place
        return True
    for call in walk(tree):
        axes = call.subscript if isinstance(call, Call) else ()
        for axis in filter(None, map(nodes.axis_of, axes)):
            if problem.span is not None and axis.span == problem.span:
                return sum(given_axis(operand, axis.name, tensors, given) for operand in call.arguments) > 0
    return False


def given_axis(operand: Any, axis: str, shapes: dict[str, dict[str, Any]], given: set[str]) -> bool:
    """Whether the last name of an operand got the axis: in softmax_{seq}(Q ⊙_{key} K) the keys have it."""
    names = [str(name.key()) for node in walk(operand) if (name := spelled(node)) is not None]
    texts = [name for name in names if name in shapes and name not in given]
    if not texts or any(axis in shapes[name] for name in names if name in shapes):
        return False
    shapes[texts[-1]][axis] = SizeVariable(f"|{axis}|")
    return True
