"""Programs, for the reference evaluator: `evaluate` and `call`.

A program is a function of its arguments and of the inputs that it declares and uses: it is lifted by that type.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Call, Name
from grammar.parser import parse
from grammar.symbols import FUNCTIONS

from ..core.limits import recursion_headroom
from ..scope.binder import bind
from ..scope.names import Key, by_key, component_node, key, plain_key
from ..scope.shape_variables import stand_for
from ..scope.symbols import Scope
from .calls import needed_axes
from .definitions import Tensor, at, lift, number
from .environment import Environment, set_axes
from .evaluation import Evaluation

Values = Mapping[str, Any]
Sizes = Mapping[str, int]


def input_axes(scope: Scope, name: Key, X: Tensor, shapes: Environment) -> tuple[str, ...]:
    """The axes that the program itself gives an input; all others are extra."""
    declared = scope.declaration(name)
    of = declared[0] if declared is not None else None
    for function in scope.all_functions():
        if of is None and function.signature is not None and name in (option.key() for option in function.options):
            of = function.declarations.get(name)
    return tuple(X.shape) if of is None else tuple(axis for axis, _ in set_axes(of, shapes))


def as_tensor(value: Any, name: str) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (bool, int, float)):
        return number(value)
    raise NotationError(317, f"{name} was given as {type(value).__name__}, which is neither a Tensor nor a number")


def run(scope: Scope, inputs: Mapping[Key, Tensor], sizes: Sizes, arguments, needed, compute) -> Tensor:
    """A program is a function of its arguments and of the declared inputs that it uses: it is lifted by that type."""
    used: set[Key] = set()
    by_key(sizes, plain_key)

    def result(*parts: Tensor) -> Tensor:
        evaluation = Evaluation(scope, dict(zip(inputs, parts)), sizes)
        value = compute(evaluation, parts[len(inputs) :])
        used.update(evaluation.used)
        return value

    tensors = [*inputs.values(), *arguments]
    shapes = Environment(axes=stand_for(scope, {name: X.shape for name, X in inputs.items()}))
    axes = [*(input_axes(scope, name, X, shapes) for name, X in inputs.items()), *needed]
    with recursion_headroom():
        anywhere = [first(X, own) for X, own in zip(tensors, axes)]
        value = result(*anywhere)  # tells which inputs are used
        lifted = [*(name in used for name in inputs), *(True for _ in arguments)]
        tensors = [X if chosen else part for X, part, chosen in zip(tensors, anywhere, lifted)]
        return value if all(map(operator.is_, tensors, anywhere)) else lift(result, tensors, axes)


def first(X: Tensor, axes: tuple[str, ...]) -> Tensor:
    """The part of a tensor at the first record of its extra axes; itself where it has none."""
    extra = {axis: 1 for axis in X.shape if axis not in axes}
    return at(X, extra) if extra else X


def read(source: str, syntax: str, values: Mapping[str, Any]) -> tuple[Scope, dict[Key, Tensor]]:
    inputs = by_key({name: as_tensor(value, name) for name, value in values.items()})
    shadowed = frozenset(str(name) for name in inputs if str(name) in FUNCTIONS or name != Key(name.base))
    given = {name: frozenset(X.shape) for name, X in inputs.items()}
    return bind(source, parse(source, syntax, shadowed), given), inputs


def evaluate(formula: str, values: Values | None = None, *, sizes: Sizes | None = None, syntax: str = "auto") -> Tensor:
    """The value of a formula or program, its tensors given by name as `Tensor`s or numbers.

    Raises NotationError.

    >>> from namedtensor.reference import tensor
    >>> evaluate("∑_{width} A", {"A": tensor([[3, 1, 4], [1, 5, 9]], "height width")})
    tensor([8, 15], 'height')
    """
    scope, inputs = read(formula, syntax, values or {})
    return run(scope, inputs, sizes or {}, [], [], lambda evaluation, _: evaluation.whole())


def call(
    program: str,
    name: str,
    *arguments: Any,
    values: Values | None = None,
    sizes: Sizes | None = None,
    syntax: str = "auto",
) -> Tensor:
    """The value of a name that a program defines: of a function for these arguments, or of a tensor.

    Raises NotationError.

    >>> call("f(x, y) = x^2 + y", "f", 3, 1)
    tensor(10, '')
    """
    scope, inputs = read(program, syntax, values or {})
    wanted = key(name)
    if wanted.base in scope.functions:
        return call_function(scope, inputs, sizes or {}, wanted, arguments)
    if arguments:
        raise NotationError(304, f"{name} is not a function, got {len(arguments)} arguments")
    return run(
        scope, inputs, sizes or {}, [], [], lambda evaluation, _: evaluation.checked(evaluation.find_known(wanted))
    )


def call_function(
    scope: Scope, inputs: dict[Key, Tensor], sizes: Sizes, wanted: Key, arguments: Sequence[Any]
) -> Tensor:
    superscript, subscript = (tuple(map(component_node, parts)) for parts in (wanted.superscript, wanted.subscript))
    use = Call(wanted.base, superscript, subscript, (Name(""),) * len(arguments))
    function, bound = Evaluation(scope, {}, sizes).matching(use, Environment())
    assert function is not None
    tensors = [as_tensor(argument, f"argument {place}") for place, argument in enumerate(arguments, 1)]
    tensors += [inputs[name.key()] for name in function.parameters[len(tensors) :] if name.key() in inputs]
    count = len(function.parameters)

    def compute(evaluation: Evaluation, parts) -> Tensor:
        numbers = {text: evaluation.value(part, evaluation.top) for text, part in bound["numbers"].items()}
        value = evaluation.apply_function(function, bound, numbers, parts[:count], parts[count:], evaluation.top)
        return evaluation.checked(value)

    return run(scope, inputs, sizes, tensors, needed_axes(function, bound["axes"], tensors), compute)
