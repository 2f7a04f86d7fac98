"""Evaluation of the terms in a typed graph. Structural terms have rules, and operators have definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grammar.errors import NotationError

from ..calculus.record_formulas import expand_terms, make_checker
from ..checking.checker import Checker
from ..core.sizes import is_ground, resolve
from ..operators import REGISTRY
from ..operators.definitions import position
from ..operators.record import Operator
from ..terms.environment import source_name
from ..terms.terms import Term, topological
from .definitions import (
    Record,
    Shape,
    Tensor,
    at,
    broadcast,
    contract,
    index,
    lift,
    lift_vector_function,
    merge,
    number,
    records,
    reduce,
    rename,
    split,
)


def values_of(roots: Sequence[Term], inputs: Mapping[str, Tensor], source: str) -> list[Tensor]:
    """Return the values of terms, given the values of the inputs."""
    result: dict[int, Tensor] = {}
    roots = expand_terms(make_checker(Checker), roots, is_without_value)
    for term in topological(*roots):
        tensors = [result[id(argument)] for argument in term.arguments]
        try:
            result[id(term)] = input_value(term, inputs) if term.operator == "input" else value_of(term, tensors)
        except NotationError as problem:
            raise problem if problem.source or term.node is None else locate_error(problem, source, term.node) from None
    return [result[id(root)] for root in roots]


def is_without_value(term: Term) -> bool:
    """Return whether only the prelude defines a term's operator, so that the operator has no definition on numbers."""
    return term.operator in REGISTRY and REGISTRY[term.operator].definition is None


def locate_error(problem: NotationError, source: str, node: Any) -> NotationError:
    return NotationError(problem.code, problem.message, source, node.span, problem.notes, problem.hint)


def value_of(term: Term, tensors: Sequence[Tensor]) -> Tensor:
    """Return the value of a term, given the values of its arguments."""
    rule = RULES.get(term.operator)
    return _apply_definition(term, tensors) if rule is None else rule(term, *tensors)


def shape_of(term: Term) -> dict[str, int]:
    """Return the sizes of a term's axes. Raise NotationError if a size is unknown."""
    shape = {axis: resolve(size) for axis, size in term.shape.items()}
    if not all(map(is_ground, shape.values())):
        raise NotationError(309, "a size cannot be inferred")
    return shape


# -------------------------------------------------------------------------------------------------- structural terms
def input_value(term: Term, inputs: Mapping[str, Tensor]) -> Tensor:
    """Return the value of an input. During lifting, its extra axes are renamed to separate names."""
    return rename(inputs[term.options[0]], {source_name(axis): axis for axis in term.shape})


def _constant(term: Term) -> Tensor:
    axes, extents, numbers = term.options
    return Tensor(dict(zip(axes, extents)), lambda record: numbers[place_of(record, axes, extents)])


def _literal(term: Term, *cells: Tensor) -> Tensor:
    axes, extents = term.options
    return Tensor(shape_of(term), lambda record: cells[place_of(record, axes, extents)](record))


def place_of(record: Record, axes: Sequence[str], extents: Sequence[int]) -> int:
    """Return the position, counted from 0, of a record in the sequence of all records over these axes."""
    offset = 0
    for axis, size in zip(axes, extents):
        offset = offset * size + record[axis] - 1
    return offset


def _iota(term: Term) -> Tensor:
    (axis,), first = term.axes, term.options[0]
    return Tensor(shape_of(term), lambda record: first + record[axis] - 1)


def _identity(term: Term) -> Tensor:
    rows, columns = term.axes
    return Tensor(shape_of(term), lambda record: int(record[rows] == record[columns]))


def _split(term: Term, x: Tensor) -> Tensor:
    axis, parts = term.options
    return split(x, axis, {name: shape_of(term)[name] for name, _ in parts})


def _fill(term: Term, *parts: Tensor) -> Tensor:
    axis, positions = term.options
    elements = [at(part, {axis: number}) for part in parts for number in range(1, part.shape[axis] + 1)]
    filled = dict(zip(positions, elements))
    return Tensor(shape_of(term), lambda record: filled[record[axis] - 1](record))


def _scatter(term: Term, x: Tensor, places: Tensor) -> Tensor:
    (axis,), (size, summed) = term.axes, term.options
    over: Shape = {name: places.shape[name] for name in summed}

    def total(record: Record) -> Any:
        sources = ({**record, **source} for source in records(over))
        return sum(x(source) for source in sources if position(places(source), resolve(size), axis) == record[axis])

    return Tensor(shape_of(term), total)


def _cases(term: Term, *entries: Tensor) -> Tensor:
    pairs = [*zip(entries[0::2], entries[1::2])]

    def chosen(record: Record) -> Any:
        for value, condition in pairs:
            if condition(record):
                return value(record)
        if len(entries) % 2 == 0:
            raise NotationError(405, "no case applies to some elements")
        return entries[-1](record)

    return Tensor(shape_of(term), chosen)


def _python(term: Term, *arguments: Tensor) -> Tensor:
    raise NotationError(405, "a Python function computes with arrays, which the reference evaluator does not have")


RULES: Mapping[str, Callable[..., Tensor]] = {
    "number": lambda term: number(term.number),
    "constant": _constant,
    "literal": _literal,
    "ones": lambda term: Tensor(shape_of(term), lambda record: 1),
    "iota": _iota,
    "identity": _identity,
    "I": _identity,
    "rename": lambda term, x: rename(x, dict(term.options)),
    "merge": lambda term, x: merge(x, *term.options),
    "split": _split,
    "spread": lambda term, x: Tensor(shape_of(term), x),
    "pick": lambda term, x: at(x, {term.options[0]: term.options[1] + 1}),
    "fill": _fill,
    "scatter": _scatter,
    "indicator": lambda term, x: broadcast(int, x),
    "cases": _cases,
    "variable": lambda term, x: x,
    "python": _python,
}


# --------------------------------------------------------------------------------------------------------- operators
def _apply_definition(term: Term, tensors: Sequence[Tensor]) -> Tensor:
    """Lift the definition of a term's operator, and apply it. Raise NotationError if it fails for these numbers."""
    record, named = REGISTRY[term.operator], dict(term.options)
    options = [named[name] for name, _ in record.options if name in named]
    try:
        return _lift_operator(record, term, tensors, options)
    except (ArithmeticError, ValueError) as problem:
        message = f"{term.operator} cannot be computed of these numbers: {problem}"
        raise NotationError(405, message) from None


def _lift_operator(record: Operator, term: Term, tensors: Sequence[Tensor], options: Sequence[Any]) -> Tensor:
    define, axes = record.definition, term.axes
    if record.kind == "contraction" and axes:
        return contract(tensors[0], tensors[1], axes)
    if define is None:
        return lift(lambda x, i: index(x, {axes[0]: i}), tensors, [axes, ()])
    if record.kind in ("elementwise", "contraction"):
        return broadcast(lambda *numbers: define(*numbers, *options), *tensors)
    if record.kind in ("reduction", "axis_map"):
        if not axes:
            return broadcast(lambda *numbers: define([*numbers]), *tensors)
        rule = reduce if record.kind == "reduction" else lift_vector_function
        return rule(lambda numbers: define(numbers, *options), tensors[0], axes)
    real = dict(zip(record.lifted.formals, axes))
    needed = [tuple(real[formal] for formal in group) for group in record.lifted_over(len(tensors)).inputs]
    sizes = {real[formal]: shape_of(term)[real[formal]] for formal in record.new_formals}
    return lift(lambda *x: define(*x, *axes, sizes), tensors, needed)
