"""Draws, for the reference evaluator: each computed alone, an expectation as the mean of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Draw, Expectation, Name

from ..scope.distributions import DEFAULT_DRAWS, DISTRIBUTIONS, is_categorical, is_finite, number_of
from ..scope.names import Key, component
from .definitions import Tensor, number
from .environment import Environment, plain, set_axes, whole
from .functions import apply
from .names import STEPS


def draw(evaluation: Any, node: Draw, env: Environment) -> Tensor:
    """x ∼ N(0, 1): one draw, the first."""
    return drawn(evaluation, node, 0, env)


def expectation(evaluation: Any, node: Expectation, env: Environment) -> Tensor:
    """𝔼_{x ∼ N(0, 1)} body"""
    if len(node.drawn) < max(1, len(node.draws)):
        raise NotationError(201, "what is drawn here is not said")
    for each in node.drawn:
        check_known(each)
    if all(map(is_finite, node.drawn)):
        return through(evaluation, node, node.drawn, 0, env)
    count = evaluation.size_value(Name("draws"), env)
    count = DEFAULT_DRAWS if count is None else count
    if not isinstance(count, int) or count < 1:
        raise NotationError(405, f"draws is {count}")
    if count > STEPS:
        raise NotationError(404, f"{count} draws are too many here")
    total = number(0)
    for each in range(1, count + 1):
        found = through(evaluation, node, node.drawn, each, env)
        total = apply("+", [total, found], (), (), len)
    return apply("/", [total, number(count)], (), (), len)


def through(evaluation: Any, node: Expectation, draws: Sequence[Draw], at: int, env: Environment) -> Tensor:
    """The body with the draws of this number; of what is finite the sum over all, by their probabilities."""
    if not draws:
        return evaluation.value(node.body, env)
    first, rest = draws[0], draws[1:]
    name = Key(first.name)

    def body(value: Tensor) -> Tensor:
        inner = Environment(parent=env, sizes_from=env, elements={name: value})
        return through(evaluation, node, rest, at, inner)

    if not is_finite(first):
        return body(drawn(evaluation, first, at, env))
    p = evaluation.value(first.arguments[0], env)
    if is_categorical(first):
        weights = [(place, p({its_axis(p): place})) for place in range(1, p.shape[its_axis(p)] + 1)]
    elif p.shape:
        raise NotationError(405, "the expectation goes through 0 and 1, and this has axes")
    else:
        weights = [(0, 1 - plain(p)), (1, plain(p))]
    total = number(0)
    for value, weight in weights:
        part = apply("⊙", [number(weight), body(number(value))], (), (), len)
        total = apply("+", [total, part], (), (), len)
    return total


def check_known(node: Draw) -> None:
    known = DISTRIBUTIONS.get(node.family)
    if known is None:
        raise NotationError(201, f"unknown distribution {node.family}")
    if len(node.arguments) != known.parameters:
        raise NotationError(304, f"{node.family} has {known.parameters} parameters")


def its_axis(p: Tensor) -> str:
    if len(p.shape) != 1:
        raise NotationError(405, "an index must be drawn from probabilities along one axis")
    return next(iter(p.shape))


def drawn(evaluation: Any, node: Draw, at: int, env: Environment) -> Tensor:
    """The draw of this number, for each record of the distribution's own axes."""
    check_known(node)
    given = evaluation.values(node.arguments, env)
    over = (its_axis(given[0]),) if is_categorical(node) else ()
    shape = {axis: size for each in given for axis, size in each.shape.items() if axis not in over}
    for axis, size in set_axes(nodes.Set("reals", (), node.axes, node.span), env):
        shape.setdefault(axis, evaluation.size(axis, env) if size is None else evaluation.size_value(size, env))
    axes = sorted(shape)
    known = evaluation.find(Key("seed"), env)
    seed = plain(known) if known is not None else evaluation.size_value(Name("seed"), env) or 0
    definition: Any = DISTRIBUTIONS[node.family].of
    labels = [whole(component(part, env.index)) for part in node.labels]
    which = number_of(node, [label is not None for label in labels])

    def uniform(place: int) -> Tensor:
        counts = [place, seed, which, *(each for each in labels if each is not None), at]
        return Tensor(
            {axis: shape[axis] for axis in axes},
            lambda s: plain(
                apply("uniform", [number(each) for each in (*counts, *(s[axis] for axis in axes))], (), (), len)
            ),
        )

    def op(name: str, *operands: Any, along: bool = False) -> Tensor:
        tensors = [each if isinstance(each, Tensor) else number(each) for each in operands]
        return apply(name, tensors, over if along else (), (), len)

    return definition(op, given, uniform(1), uniform(2))
