"""Information about the inputs: the axes given for each name, in any of the forms that `translate` accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Node
from grammar.parser import parse

from .axes import Axes, AxisClashError, AxisVariable
from .values import Leaf

AXIS = re.compile(r"([^\W\d][\w]*'*)(?:\[(\d+)\])?")
HINT = 'give names in order, such as W="out chans", sizes such as (3, 4), or an array'


@dataclass(frozen=True)
class SourceInput:
    """The name of an input with its declared axes. `literal` is a number that was given instead of a shape."""

    name: str
    leaf: Leaf
    literal: float | None = None
    guessed: bool = False
    defined: bool = False  # by an earlier line
    row: bool = False  # whether it is defined as a row


def inputs_of(axes: Axes, shapes: Mapping[str, Any], node_of: Any) -> dict[str, SourceInput]:
    """Return the given inputs by name. Raise NotationError for an invalid shape."""
    return {name: _input(axes, name, shape, node_of(name)) for name, shape in shapes.items()}


def _input(axes: Axes, name: str, shape: Any, node: Node) -> SourceInput:
    if isinstance(shape, (int, float)) and not isinstance(shape, bool):
        return SourceInput(name, Leaf(node, ()), float(shape) if isinstance(shape, float) else shape)
    if isinstance(shape, str):
        return SourceInput(name, Leaf(node, _name_axes(axes, name, shape)))
    if isinstance(shape, Mapping):
        sized = [(str(axis), size if isinstance(size, int) else None) for axis, size in shape.items()]
        return SourceInput(name, Leaf(node, _distinct(axes, sized)))
    order, lengths = getattr(shape, "axes", None), getattr(shape, "sizes", None)
    sizes: Any = getattr(shape, "shape", shape)
    if isinstance(order, tuple) and isinstance(lengths, Mapping):  # a named tensor
        return SourceInput(name, Leaf(node, _distinct(axes, [(str(axis), int(lengths[axis])) for axis in order])))
    if not isinstance(sizes, Sequence) or not all(
        isinstance(size, int) and not isinstance(size, bool) for size in sizes
    ):
        raise NotationError(316, f"invalid shape for {name}: {shape!r}"[:200], hint=HINT)
    return SourceInput(name, Leaf(node, tuple((axes.new(size=size),) if size != 1 else () for size in sizes)))


def _name_axes(axes: Axes, name: str, text: str) -> tuple[tuple[AxisVariable, ...], ...]:
    text = text.strip()
    if "ℝ" in text or text.startswith(("\\mathbb", "R^")):
        try:
            (statement,) = parse(f"x ∈ {text}").statements
        except NotationError as problem:
            raise NotationError(316, f"invalid shape for {name}: {text}", hint=HINT) from problem
        assert isinstance(statement, nodes.Declaration)
        pairs = [
            (axis.name, int(size.value) if isinstance(size, nodes.Number) else None)
            for axis, size in statement.sets[0].axes
        ]
        return _distinct(axes, pairs)
    words = [word for word in re.split(r"[\s,×]+", text) if word]
    pairs: list[tuple[str, int | None]] = []
    for word in words:
        match = AXIS.fullmatch(word)
        if match is None:
            raise NotationError(316, f"invalid axis name {word!r} in the shape of {name}", hint=HINT)
        pairs.append((match[1], int(match[2]) if match[2] else None))
    return _distinct(axes, pairs)


def _distinct(axes: Axes, pairs: Sequence[tuple[str, int | None]]) -> tuple[tuple[AxisVariable, ...], ...]:
    """Return one dimension for each name and size. Primes are appended to a repeated name."""
    seen: set[str] = set()
    result: list[tuple[AxisVariable, ...]] = []
    for name, size in pairs:
        while name in seen:
            name += "'"
        seen.add(name)
        try:
            result.append((axes.named(name, size),))
        except AxisClashError:
            raise NotationError(302, f"axis {name} has two sizes: {axes.named(name).kind.size} and {size}") from None
    return tuple(result)
