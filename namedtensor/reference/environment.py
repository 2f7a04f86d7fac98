"""Environments of the reference evaluator: where names are looked up, and what names of axes and indices stand for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Node, axis_of

from ..scope.names import Key
from ..scope.symbols import FunctionDefinition
from .definitions import Tensor, listed


class Fact(NamedTuple):
    """left = right between sizes, where an environment says what its names are."""

    left: Node
    right: Node | int
    env: Environment


@dataclass(eq=False)
class Environment:
    """One environment: of the program, of a call, or of a piece of an equation.

    `parent` is where a name is looked for next, `sizes_from` where a size is. `axes` says what the axes of a function
    over axes stand for, `indices` what l is in FFN^l, `elements` what i is in Y_{seq(i)}; `facts` are equations between
    sizes that hold here.
    """

    parent: Environment | None = None
    sizes_from: Environment | None = None
    function: FunctionDefinition | None = None
    variables: dict[Key, Tensor] = field(default_factory=dict)
    elements: dict[Key, Tensor] = field(default_factory=dict)
    axes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    indices: dict[str, Any] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    memo: dict[Any, Tensor] = field(default_factory=dict)

    def outwards(self) -> Iterator[Environment]:
        env: Environment | None = self
        while env is not None:
            yield env
            env = env.parent

    def index(self, name: str) -> Any:
        """What an index such as l stands for, or None."""
        for env in self.outwards():
            if name in env.indices:
                return env.indices[name]
            for known in (env.elements, env.variables):
                if Key(name) in known:
                    return whole(plain(known[Key(name)]))
        return None

    def real(self, axis: str) -> tuple[str, ...]:
        """The axes that the name of an axis stands for; ax* for those that ax does, marked."""
        own = next((env.axes[axis] for env in self.outwards() if axis in env.axes), None)
        if own is None and axis.endswith(("*", "†", "‡")):
            return tuple(each + axis[-1] for each in self.real(axis[:-1]))
        return (axis,) if own is None else own


def plain(X: Tensor | None) -> Any:
    """The number that a tensor without axes is, or None."""
    return X.entries[()] if X is not None and not X.shape else None


def whole(value: Any) -> int | None:
    """Return the integer that a value or a label is, or None."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def nearest_call(env: Environment) -> Environment:
    """The environment of the call that is being computed, or of the program."""
    while env.function is None and env.parent is not None:
        env = env.sizes_from or env.parent
    return env


def set_axes(of: nodes.Set, env: Environment) -> list[tuple[str, Node | None]]:
    """The axes of a set, each with what the set says of its size."""
    axes = [(real, size) for axis, size in of.axes for real in env.real(axis.name)]
    if len({axis for axis, _ in axes}) != len(axes):
        raise NotationError(303, "an axis occurs twice in one shape")
    return axes


def need(X: Tensor, *axes: str) -> None:
    for axis in axes:
        if axis not in X.shape:
            raise NotationError(301, f"there is no axis {axis}; the axes are {listed(X.shape)}")


def one_axis(axis: nodes.Axis, env: Environment) -> str:
    """The axis that an index goes along."""
    real = env.real(axis.name)
    if len(real) != 1:
        raise NotationError(316, "an index takes one axis")
    return real[0]


def axis_named(node: Node) -> str:
    axis = axis_of(node)
    if axis is None:
        raise NotationError(301, "expected an axis name")
    return axis.name
