"""Initialization of parameters: the fan-in and the initializer of each parameter, and its sampled values."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from grammar.errors import NotationError

from ..core.seeds import KeyGenerator, is_key
from ..core.sizes import resolve
from ..scope.names import Key, index_by_key, key_of
from ..terms.environment import source_name
from ..terms.terms import Term, topological
from .arguments import spelling_of
from .entries import Entry, WholeProgram
from .initializers import Initializer, Initializers, lecun_normal, ones, zeros
from .parameters import infer_types, shapes_of


# ------------------------------------------------------------------------------------------------------------- fans
def fans(parameters: Mapping[Any, Term], terms: list[Term]) -> dict[Any, tuple[str, ...]]:
    """Return the fan-in axes of each parameter, from its last contraction or, if never contracted, its first lookup."""
    names = {id(term): (spelling, dict(zip(term.shape, term.shape))) for spelling, term in parameters.items()}
    result: dict[Any, tuple[str, ...]] = {}
    for term in terms:
        if term.operator == "loop":
            result |= {names[id(outer)][0]: axes for outer, axes in fans_in_loop(term) if id(outer) in names and axes}
        if term.operator == "rename" and id(term.arguments[0]) in names:
            spelling, axis_names = names[id(term.arguments[0])]
            new = dict(term.options)
            names[id(term)] = spelling, {new.get(axis, axis): first for axis, first in axis_names.items()}
        for argument in term.arguments:
            if id(argument) in names and term.axes and term.operator in ("⊙", "index"):
                spelling, axis_names = names[id(argument)]
                if term.operator == "⊙" or spelling not in result:
                    result[spelling] = tuple(source_name(axis_names[axis]) for axis in term.axes if axis in axis_names)
    return result


def fans_in_loop(term: Term) -> Iterator[tuple[Term, tuple[str, ...]]]:
    """Yield the arguments of a loop with their fan-in axes, except for initial states and sliced arguments.

    Each family has `steps` arguments, one per loop step. The other arguments are shared by all steps.
    """
    (loop,) = term.options
    begin = len(loop.states) + len(loop.slices)
    groups = [term.arguments[begin + at * loop.steps :][: loop.steps] for at in range(len(loop.members))]
    groups += [(outer,) for outer in term.arguments[begin + len(loop.members) * loop.steps :]]
    inputs = (*loop.members, *loop.given)
    summed = fans(dict(enumerate(inputs)), topological(*loop.results))
    for number, group in enumerate(groups):
        for outer in group:
            yield outer, summed.get(number, ())


def draw_parameters(
    goal: WholeProgram | Entry, seed: Any, sizes: Mapping[str, int] | None, dtype: str, initializers: Initializers,
    unwanted: Collection[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """Return an initialized tensor for each parameter of a program, except for names in `unwanted`; see `initial`."""
    checker = infer_types(goal, sizes, {}, by_keyword=())
    summed = fans(checker.parameters, checker.graph.all())
    shapes = {name: shape for name, shape in shapes_of(checker, {}).items() if name not in unwanted}
    return initial(shapes, summed, seed, dtype, initializers, sizes)


def fans_in(
    goal: WholeProgram | Entry, sizes: Mapping[str, int] | None, inputs: Mapping[str, Any]
) -> dict[str, tuple[Initializer, int]]:
    """Return the default initializer and the fan-in of each parameter of a program that is not among the inputs."""
    checker = infer_types(goal, sizes, inputs, by_keyword=inputs)
    summed = fans(checker.parameters, checker.graph.all())
    result: dict[str, tuple[Initializer, int]] = {}
    for name, shape in shapes_of(checker, inputs).items():
        over = summed.get(key_of(name), ())
        initializer = initializer_for(name, key_of(name), {}, bool(over))
        result[name] = initializer, math.prod(size for axis in over if isinstance(size := shape[axis], int))
    return result


def initial(
    shapes: Mapping[str, Mapping[str, Any]],
    summed: Mapping[Key, tuple[str, ...]],
    seed: Any,
    dtype: str,
    initializers: Initializers | None = None,
    scalars: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return an initialized tensor for each shape. The initializer is chosen by name, base or use in the formulas.

    By default, γ is 1. A tensor that is contracted or indexed is normally distributed with variance 1/fan_in, which
    preserves the variance of the input of a product. Any other tensor, such as a bias, is 0.
    """
    import numpy as np

    from ..core.arrays import layout_of
    from ..core.tensor import wrap_array, wrap_layout

    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError):
        raise NotationError(405, f"invalid dtype {dtype!r}", hint='write "float32" or "float64"') from None
    initializers = index_by_key(initializers or {}, spelling_of)
    by_key_of_jax = is_key(seed)
    generator: Any = None if by_key_of_jax else np.random.default_rng(seed)
    result: dict[str, Any] = {}
    known: dict[Any, tuple[Any, dict[str, float]]] = {}  # layouts and variables by shape and fan-in axes
    for name, shape in shapes.items():
        spelling = key_of(name)
        over = summed.get(spelling, ())
        alike = tuple(shape), tuple(shape.values()), over
        if alike not in known:
            extent, fan_in = whole(name, shape), math.prod(map(shape.__getitem__, over))
            numbers = {"fan_in": fan_in, "fan_out": math.prod(extent) // max(fan_in, 1), **(scalars or {})}
            known[alike] = layout_of(np.broadcast_to(np.empty((), kind), extent), tuple(shape)), numbers
        layout, sizes = known[alike]
        initializer = initializer_for(name, spelling, initializers, bool(over))
        if by_key_of_jax:
            array = to_jax(initializer.draw(KeyGenerator(seed, name), layout.extent, sizes), kind)
            result[name] = wrap_array(array, layout.axes)
        else:
            result[name] = wrap_layout(
                np.asarray(initializer.draw(generator, layout.extent, sizes), dtype=kind), layout
            )
    return result


def to_jax(numbers: Any, dtype: Any) -> Any:
    """Return numbers as a JAX array of this dtype, or of the 32-bit dtype if 64-bit dtypes are disabled in JAX."""
    import jax  # type: ignore[import-not-found]

    return jax.numpy.asarray(numbers, dtype=jax.dtypes.canonicalize_dtype(dtype))


def whole(name: str, shape: Mapping[str, Any]) -> tuple[int, ...]:
    for axis, size in shape.items():
        if type(size) is not int and not isinstance(resolve(size), int):
            raise NotationError(
                309,
                f"the size of axis {axis} in {name} is missing",
                hint=f"pass it: sizes={{{axis!r}: 3}}",
            )
    return tuple(shape.values())


def initializer_for(name: str, spelling: Key, initializers: Initializers, contracted: bool) -> Initializer:
    """Return the initializer for a parameter's name, or else for a shorter form of the name, or else the default.

    The shorter forms are the base with the last label, and the base alone.

    For example, the initializer of W^O applies to every W^{l,O}.
    """
    labels = spelling.superscript[-1:] or spelling.subscript[-1:]
    sign = "^" if spelling.superscript else "_"
    usual = ones if spelling.base == "γ" else lecun_normal if contracted else zeros
    return (
        initializers.get(name)
        or initializers.get(spelling.base + sign + "".join(labels))
        or initializers.get(spelling.base, usual)
    )
