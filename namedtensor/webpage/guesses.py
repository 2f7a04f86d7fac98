"""Inferred types for names without a declaration: the smallest types that make a formula valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.printer import to_text

from ..core.kinds import is_mapping
from ..derivations.least_shapes import MOST, Shapes, UnfitShapesError, with_fitting_shapes
from ..programs.checks import check_goal_types
from ..programs.entries import WholeProgram
from ..programs.parsed import ParsedProgram
from ..scope.names import read_spelling, walk


def guess_shapes(
    goal: WholeProgram, given: Mapping[str, Any], free: set[str], sizes: Mapping[str, int]
) -> dict[str, Any]:
    """Return the given shapes, and the smallest fitting shapes for other names.

    If no shapes fit, treat the other names as scalars.

    The inputs in `free` are scalars in `given`, but can get axes.
    """
    numbers = with_numbers(goal, given, sizes)
    if not free and numbers.keys() == given.keys():
        return numbers
    program = WholeProgram(ParsedProgram(to_text(goal.program.tree), "text"))
    values = {name: shape for name, shape in given.items() if not is_mapping(shape)}
    fixed = {name: shape for name, shape in given.items() if name not in free | values.keys()}

    def check(shapes: Shapes) -> dict[str, Any]:
        together = {**shapes, **values}
        if errors := check_goal_types(program, together, sizes, None).result.errors:
            raise UnfitShapesError(errors)
        return together

    try:
        shapes = with_fitting_shapes(fixed, check, program.program.tree, dict.fromkeys(free, ()))
    except NotationError:
        return numbers
    return shapes if shapes.keys() == numbers.keys() else numbers


def with_numbers(goal: WholeProgram, given: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the given shapes, and a scalar's shape for each undefined name in the formula."""
    shapes: dict[str, Any] = {name: dict(shape) if is_mapping(shape) else shape for name, shape in given.items()}
    names = names_by_span(goal.program.tree)
    for _ in range(MOST):
        errors = check_goal_types(goal, shapes, sizes, None).result.errors
        unknown = {names.get(error.span, "") for error in errors if error.code == 201} - shapes.keys()
        unknown = {name for name in unknown if goal.program.names.has(name)}
        if not unknown:
            break
        shapes |= {name: {} for name in sorted(unknown)}
    return shapes


def names_by_span(tree: nodes.Program) -> dict[Span | None, str]:
    """Return the names in a formula by their spans, such as A_ij for A_{ij}, and W_h for \\mathbf{W}_h."""
    spellings = ((node.span, read_spelling(node)) for node in walk(tree) if hasattr(node, "span"))
    return {span: str(name.key()) for span, name in spellings if name is not None}
