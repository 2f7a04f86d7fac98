"""Typed programs of assertions: the shapes of what they take, the least with which they are right, and of their values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

from grammar.errors import NotationError
from grammar.nodes import Program
from grammar.printer import to_text

from ..checking.report import check_program
from ..core.size_conditions import conditions
from ..programs.open_lengths import with_open_ends
from ..programs.parsed import ParsedProgram
from ..scope.names import key
from ..terms.inference import InputType
from ..terms.terms import resolved_shape
from .fitting_shapes import Shapes, Unfit, with_fitting_shapes


def taken(source: str, sizes: Mapping[str, int], shapes: Shapes) -> Shapes:
    """The shapes of what a program takes. Raises NotationError if it is wrong."""
    try:
        return checked(source, sizes, shapes).taken
    except Unfit as unfit:
        raise unfit.errors[0] from None


class TypedProgram(NamedTuple):
    """The shapes of what a program takes, and of its value; the ends of its ranges that nothing gives."""

    taken: Shapes
    value: Mapping[str, Any]
    ends: Collection[str]


def checked(source: str, sizes: Mapping[str, int], shapes: Shapes) -> TypedProgram:
    """The types of a program. Raises Unfit."""
    program = ParsedProgram(source, "text")
    inputs = {key(name): InputType(shape) for name, shape in shapes.items()}

    def check(ends: Mapping[str, Any]) -> tuple[tuple[NotationError, ...], TypedProgram]:
        try:
            checker = program.checker(inputs, {**sizes, **ends}, infer_parameters=True, recover=True)
            with conditions():  # sizes of the document may be symbols
                result = check_program(source, checker)
        except NotationError as problem:
            return (problem,), TypedProgram({}, {}, ends)
        terms = {**checker.top.variables, **checker.parameters}
        resolved_shapes = {
            str(name): resolved_shape(term.shape) for name, term in terms.items() if term.operator == "input"
        }
        return result.errors, TypedProgram(resolved_shapes, result.shape or {}, ends)

    (errors, typed_program), _ = with_open_ends(check, itemgetter(0))
    if errors:
        raise Unfit(errors)
    return typed_program


def typed(program: Program) -> tuple[Shapes, Mapping[str, Any]]:
    """What a program takes, with the least shapes with which it is right, and the shape of its value."""
    return with_fitting_shapes({}, partial(checked, to_text(program), {}), program)[:2]
