"""Evaluation of programs by the reference evaluator: `evaluate` and `call`. Recurrences are unrolled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from grammar.errors import NotationError

from ..core.settings import recursion_headroom
from ..programs.entries import Entry, WholeProgram, name_argument
from ..programs.executable import Options, TypedValues, check_goal
from ..programs.magnitudes import magnitudes_of
from ..programs.parsed import ParsedProgram
from ..scope.names import index_by_key, plain_key
from ..terms.inference import InputType
from ..terms.terms import Term
from .claims import check_equal, check_member
from .definitions import Tensor, number
from .terms import values_of

Values = Mapping[str, Any]
Sizes = Mapping[str, int]


def evaluate(formula: str, values: Values | None = None, *, sizes: Sizes | None = None, syntax: str = "auto") -> Tensor:
    """Return the value of a formula or program for `Tensor`s or numbers passed by name.

    Raises NotationError if the formula is invalid or an input does not fit.

    >>> from namedtensor.reference import tensor
    >>> evaluate("∑_{width} A", {"A": tensor([[3, 1, 4], [1, 5, 9]], "height width")})
    tensor([8, 15], 'height')
    """
    return _value(WholeProgram(ParsedProgram(formula, syntax)), values or {}, {}, sizes)


def call(
    program: str,
    name: str,
    *arguments: Any,
    values: Values | None = None,
    sizes: Sizes | None = None,
    syntax: str = "auto",
) -> Tensor:
    """Return the value of a defined function for these arguments, or of a defined tensor.

    Raises NotationError if the program is invalid or an argument does not fit.

    >>> call("f(x, y) = x^2 + y", "f", 3, 1)
    tensor(10, '')
    """
    entry = Entry(ParsedProgram(program, syntax), name)
    named = {name_argument(entry, index): value for index, value in enumerate(arguments)}
    return _value(entry, values or {}, named, sizes)


def magnitude(formula: str, values: Values) -> Tensor:
    """Return, for each element of a formula's value, the magnitude of the numbers that the element is computed from."""
    typed, tensors = _infer_terms(WholeProgram(ParsedProgram(formula)), values, {}, None)
    return _magnitudes(typed.roots[:1], tensors, typed.source)[0]


def _infer_terms(
    goal: WholeProgram | Entry, values: Values, arguments: Values, sizes: Sizes | None
) -> tuple[TypedValues, dict[str, Tensor]]:
    """Return the typed terms of a program, and its inputs by name."""
    index_by_key(sizes or {}, plain_key)
    element = {name: to_tensor(value, str(name)) for name, value in index_by_key(values).items()}
    passed = {name: to_tensor(value, name) for name, value in arguments.items()}
    types = [(name, type_of(X)) for name, X in passed.items()]
    with recursion_headroom(goal.program.source):
        inputs = {name: type_of(X) for name, X in element.items()}
        typed = TypedValues.of(*check_goal(goal, inputs, types, Options(sizes, unrolled=True)))
    return typed, {str(name): X for name, X in element.items()} | passed


def _value(goal: WholeProgram | Entry, values: Values, arguments: Values, sizes: Sizes | None) -> Tensor:
    """Return the value of a program. Raise NotationError if an assertion does not hold."""
    typed, tensors = _infer_terms(goal, values, arguments, sizes)
    with recursion_headroom(goal.program.source):
        result, *sides = values_of(typed.roots, tensors, typed.source)
    for left, right, claim in typed.claims:
        if isinstance(right, Term):
            magnitudes = partial(_magnitudes, (left, right), tensors, typed.source)
            check_equal(sides.pop(0), sides.pop(0), typed.source, claim.span, magnitudes)
        else:
            domain, ends = right
            check_member(sides.pop(0), domain, ends, typed.source, claim.span)
    return result


def _magnitudes(sides: Sequence[Term], inputs: Mapping[str, Tensor], source: str) -> list[Tensor]:
    """Return, for each side of an assertion, the magnitudes of the numbers that its elements are computed from."""
    with recursion_headroom(source):
        return values_of(magnitudes_of(sides), inputs, source)


def type_of(X: Tensor) -> InputType:
    """Return the input type of a tensor for the checker."""
    truth = bool(X.entries) and all(isinstance(entry, bool) for entry in X.entries.values())
    return InputType(X.shape, None if X.shape else X.entries[()], truth)


def to_tensor(value: Any, name: str) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (bool, int, float)):
        return number(value)
    raise NotationError(317, f"{name} was given as {type(value).__name__}, which is neither a Tensor nor a number")
