"""What is given to a program: its inputs, with the axes and sizes that their declarations say, the rest lifted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Node

from ..core.sizes import SizeVariable
from ..scope.names import Key, arithmetic, plain_key
from ..scope.symbols import SizeEquation
from ..terms.environment import Environment, lifted_name
from .diagnostics import shown
from .given_sizes import agree_with_given
from .report import InputType

if TYPE_CHECKING:
    from .checker import Checker


def prepare_inputs(checker: Checker) -> None:
    for name, size in checker.given_sizes.items():
        if isinstance(name, str) and not isinstance(size, bool) and isinstance(size, (int, SizeVariable)):
            checker.top.scalars[plain_key(name)] = size
            continue
        raise NotationError(308, f"the size of {name} is a whole number, not {size!r}")
    for key, given in checker.inputs.items():
        shape = checker.lifted_input(key, given)
        if given.number is not None:
            checker.top.variables[key] = checker.graph.number(given.number)
        else:
            checker.top.variables[key] = checker.graph.intern(
                "input", options=(str(key),), shape=dict(shape), boolean=given.boolean
            )
            own = {a: s for a, s in shape.items() if "@" not in a}
            if not checker.speaks.names_it(key):
                checker.unnamed.note_sizes(str(key), own)
                continue
            checker.top.note_sizes(str(key), own)
            checker.sized |= own.keys()
            agree_with_given(checker, str(key), shape, own)
    for name, size in checker.given_sizes.items():
        found = checker.top.sizes.get(name)
        if found is None:
            checker.top.sizes[name] = size


def lifted_input(checker: Checker, key: Key, given: InputType) -> Mapping[str, Any]:
    """The shape of an input, its axes beyond those of its declaration lifted; the declaration's sizes noted."""
    declared, env = checker.declaration(key)
    if declared is None or not isinstance(given.shape, Mapping):
        return given.shape
    axes = checker.set_axes(declared, env)
    for axis, size, node in axes:
        if axis not in given.shape:
            raise checker.error(
                317,
                f"{key} lacks the axis {axis} of its declaration",
                node,
                notes=(f"{key} was given with {shown(given.shape)}",),
                hint=f"give {key} with the axes {', '.join(a for a, _, _ in axes)}" if axes else None,
            )
        if size is not None:
            where = f"{key} : {shown(given.shape)}"
            checker.solver.declared.append((SizeEquation(size, given.shape[axis], node.span, where), env))
        agree_with_given(checker, str(key), given.shape, [axis], node)
    names = {axis for axis, _, _ in axes}
    return {axis if axis in names else lifted_name(axis, 0): size for axis, size in given.shape.items()}


def declaration(checker: Checker, key: Key) -> tuple[nodes.Set | None, Environment]:
    """The set that a top-level name is declared to be in, and an environment that knows its indices."""
    declared = checker.scope.declaration(key)
    if declared is None:
        return None, checker.top
    return declared[0], Environment(parent=checker.top, indices=declared[1])


def set_axes(checker: Checker, of: nodes.Set, env: Environment) -> list[tuple[str, Node | None, Any]]:
    found: list[tuple[str, Node | None, Any]] = []
    seen: set[str] = set()
    for axis, size in of.axes:
        for real in env.real_axes(axis.name):
            if real in seen:
                raise checker.error(
                    303, f"the axis {real} occurs twice in one shape", axis, hint="each axis needs its own name"
                )
            seen.add(real)
            number = None if size is None else arithmetic(size, lambda name: None)
            if number is not None and number < 0:
                raise checker.error(
                    310, f"the size of {real} cannot be {number}", size, hint="a size is a whole number from 0"
                )
            found.append((real, size, axis))
    return found
