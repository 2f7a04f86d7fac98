"""Find the sizes of a program's axes, and the axes that a scope mentions. Variables represent unknown sizes."""

from __future__ import annotations

from typing import Any

from grammar import nodes
from grammar.errors import SIZE_NEEDED, NotationError

from ..core.sizes import SizeVariable
from ..scope.names import walk
from ..terms.environment import Conflict, Environment, source_name
from ..terms.inference import Inference


def unknown_size(checker: Inference, axis: str) -> SizeVariable:
    """Return the recorded size of an axis in the program. If there is none, record and return a size variable.

    If the recorded sizes conflict, return a new size variable without recording it.
    """
    size = checker.top.sizes.get(axis)
    if size is None:
        size = checker.top.sizes[axis] = SizeVariable(f"|{axis}|")
    return SizeVariable(f"|{axis}|") if isinstance(size, Conflict) else size


def size_left_open(checker: Inference, axis: str, node: Any) -> SizeVariable:
    """Return a size variable for an axis whose size is unknown.

    Raise NotationError (309) if the program has values, because an evaluation needs the size.
    """
    if not checker.infer_parameters:
        raise unknown_axis_size(checker, axis, node)
    return unknown_size(checker, axis)


def size_of_made(checker: Inference, axis: str, env: Environment, part: Any) -> Any:
    """Return the size of an axis that an expression creates, or a size variable if the size is unknown."""
    size = checker.solver.size_of(axis, env, part)
    return size_left_open(checker, axis, part) if size is None else size


def unknown_axis_size(checker: Inference, name: str, node: Any) -> NotationError:
    return checker.error(
        309,
        f"cannot infer the size of axis {name}",
        node,
        notes=("no input has it and no equation determines it",),
        hint=f"state it, |{name}| = |{name.rstrip(PRIME)}|, or pass it: sizes={{{name!r}: 3}}"
        if name.endswith(PRIME)
        else f"pass it: sizes={{{name!r}: 3}}",
        symbol=name, axis=name, reason=SIZE_NEEDED,
    )  # fmt: skip


PRIME = "'"


def axis_is_mentioned(checker: Inference, name: str) -> bool:
    if checker.axes_stated is None:
        mentioned = {
            node.name
            for statement in checker.scope.program.statements
            if isinstance(statement, (nodes.Declaration, nodes.Signature, nodes.Equation))
            for node in walk(statement)
            if isinstance(node, nodes.Axis)
        }
        mentioned -= {node.axis.name for node in walk(checker.scope.program) if isinstance(node, nodes.Size)}
        mentioned |= {
            axis.name for _, _, sets, _ in checker.scope.declarations for set_ in sets for axis, _ in set_.axes
        }
        checker.axes_stated = frozenset(mentioned)
    return name in checker.axes_stated


def axes_in_sight(env: Environment) -> set[str]:
    axes: set[str] = set()
    current: Environment | None = env
    while current is not None:
        axes |= set(current.sizes)
        axes |= {source_name(a) for term in current.variables.values() for a in term.shape}
        current = current.sizes_parent or current.parent
    return axes
