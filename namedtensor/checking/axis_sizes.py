"""|seq|: the size of an axis, or the absolute value of a tensor; and sizes that nothing fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grammar import nodes
from grammar.errors import NotationError

from ..core.sizes import SizeVariable
from ..core.suggestions import near
from ..scope.names import Key, walk
from ..terms.environment import Conflict, Environment, source_name
from ..terms.terms import Term
from .made_sizes import may_make

if TYPE_CHECKING:
    from .checker import Checker


def unknown_size(checker: Checker, axis: str) -> SizeVariable:
    """The size of an axis of the program where one is known; where several are, none of them."""
    found = checker.top.sizes.get(axis)
    if found is None:
        found = checker.top.sizes[axis] = SizeVariable(f"|{axis}|")
    return SizeVariable(f"|{axis}|") if isinstance(found, Conflict) else found


def size_rule(checker: Checker, node: nodes.Size, env: Environment) -> Term:
    name = node.axis.name
    value = checker.solver.size(name, env, node)
    tensor = checker.find_quietly(node, env)
    if value is not None and tensor is not None and isinstance(tensor, Term) and tensor.operator != "number":
        raise checker.error(
            205,
            f"{name} is both an axis and a tensor",
            node,
            hint=f"write size({name}) for the size, or abs({name}) for the absolute value",
        )
    if value is not None:
        return checker.scalar_term(value, f"|{name}|", node)
    if tensor is not None:
        return checker.apply("abs", (tensor,), (), node, env, (node,))
    axes = sorted(checker.axes_in_sight(env))
    known = name in axes or checker.axis_is_mentioned(name)
    if checker.infer_parameters and (known or may_make(checker, name, env)):
        return checker.scalar_term(checker.unknown_size(name), f"|{name}|", node)
    if known:
        raise checker.unknown_axis_size(name, node)
    meant = near(name, axes)
    raise checker.error(
        204,
        f"there is no axis and no tensor {name}, so |{name}| has no value",
        node.axis,
        notes=(f"axes here: {', '.join(axes)}",) if axes else (),
        hint=f"did you mean |{meant[0]}|?" if meant else f"give the size by name: sizes={{{name!r}: 3}}",
    )


def unknown_axis_size(checker: Checker, name: str, place: Any):
    return checker.error(
        309,
        f"the size of {name} is not known",
        place,
        notes=("no input has this axis, and no equation gives its size",),
        hint=f"give it by name: sizes={{{name!r}: 3}}",
    )


def axis_is_mentioned(checker: Checker, name: str) -> bool:
    mentioned = checker.top.memo.get("axes")
    if mentioned is None:
        mentioned = {
            node.name
            for statement in checker.scope.program.statements
            if isinstance(statement, (nodes.Declaration, nodes.Signature, nodes.Equation))
            for node in walk(statement)
            if isinstance(node, nodes.Axis)
        } - {
            node.axis.name
            for statement in checker.scope.program.statements
            for node in walk(statement)
            if isinstance(node, nodes.Size)
        }
        mentioned |= {
            axis.name for _, _, sets, _ in checker.scope.declarations for each in sets for axis, _ in each.axes
        }
        checker.top.memo["axes"] = mentioned
    return name in mentioned


def find_quietly(checker: Checker, node: nodes.Size, env: Environment) -> Term | None:
    name = node.axis.name
    base, _, label = name.partition("_")
    try:
        return checker.find(Key(base, (label,) if label else ()), env, node)
    except NotationError:
        return None


def axes_in_sight(checker: Checker, env: Environment) -> set[str]:
    axes: set[str] = set()
    current: Environment | None = env
    while current is not None:
        axes |= set(current.sizes)
        axes |= {source_name(a) for term in current.variables.values() for a in term.shape}
        current = current.sizes_parent or current.parent
    return axes
