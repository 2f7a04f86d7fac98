"""Operators applied to typed operands: one lifting rule for all of them, and what each kind needs besides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grammar.nodes import Node

from ..core import axes as named
from ..core.axes import ShapeMismatch, bind, lift
from ..core.sizes import is_ground, resolve, unify
from ..core.suggestions import near
from ..operators import REGISTRY
from ..operators.record import Operator
from ..scope.names import component
from ..terms.folding import fold
from ..terms.terms import Term
from .diagnostics import operator_sign, shown
from .report import CheckWarning

if TYPE_CHECKING:
    from .checker import Checker


def broadcast(checker: Checker, terms, node: Any, span: Any, operator: str, parts) -> dict[str, Any]:
    try:
        return named.broadcast([term.shape for term in terms], unify)
    except ShapeMismatch as problem:
        raise checker.problem(problem, operator, terms, parts, span, ()) from None


def apply(
    checker: Checker,
    name: str,
    arguments: tuple[Term, ...],
    axes: tuple[tuple[str, Any], ...],
    node,
    env,
    parts,
    options=(),
):
    """Apply a built-in operator; `axes` pairs the axes of the use with the nodes that name them."""
    record = REGISTRY[name]
    names = tuple(axis for axis, _ in axes)
    if record.kind == "elementwise" or not names:
        return checker.elementwise(record, name, arguments, axes, node, parts, options)
    try:
        given = checker.given_by(record, arguments, names, node, env)
        if record.kind in ("reduction", "along") and len(arguments) == 1 and not record.lifted.variadic:
            if len(names) != 1 and len(record.lifted.formals) == 1:
                raise ShapeMismatch("number", detail=(1, len(names)))
        shapes = tuple(argument.shape for argument in arguments)
        shape = lift(record.lifted_over(len(arguments)), names, shapes, unify, given, differing=name in ("⊕", "concat"))
    except ShapeMismatch as problem:
        raise checker.problem(problem, name, arguments, parts, node, axes) from None
    static = tuple(options)
    if given:
        static += tuple((f"size {axis}", resolve(size)) for axis, size in given.items())
    return checker.graph.intern(record.name, arguments, names, static, shape, record.boolean[1], node)


def new_axis_sizes(checker: Checker, record: Operator, arguments, names, node, env) -> Mapping[str, Any] | None:
    if record.given is None:
        return None
    sizes: dict[str, Any] = {}
    made = set(record.lifted.output) - {formal for group in record.lifted.inputs for formal in group}
    bound = bind(record.lifted, names) if not record.lifted.variadic else {}
    for formal in (
        made if record.kind != "structure" else ()
    ):  # of what is joined or stacked, the size is that of the parts
        for axis in bound.get(formal, ()):
            size = checker.solver.size(axis, env, node)
            if size is None and checker.infer_parameters:
                size = checker.unknown_size(axis)
            if size is None:
                place = next((part for part in getattr(node, "subscript", ()) if component(part) == axis), node)
                raise checker.unknown_axis_size(axis, place)
            sizes[axis] = size
    if any(not is_ground(size) for size in sizes.values()):
        sizes = {axis: resolve(size) for axis, size in sizes.items()}
    return record.given(tuple(argument.shape for argument in arguments), names, sizes)


def elementwise(checker: Checker, record: Operator, name, arguments, axes, node, parts, options) -> Term:
    fewest, most = record.arity
    if (
        record.kind not in ("elementwise", "contraction")
        and not axes
        and not (name in ("max", "min") and len(arguments) == 2)
    ):
        if record.lifted.formals:
            raise checker.problem(
                ShapeMismatch("number", detail=(len(record.lifted.formals), 0)), name, arguments, parts, node, axes
            )
    if not fewest <= len(arguments) <= most:
        raise checker.problem(
            ShapeMismatch("arity", detail=(fewest if fewest == most else f"{fewest} to {most}", len(arguments))),
            name, arguments, parts, node, axes,
        )  # fmt: skip
    if axes:
        raise checker.problem(ShapeMismatch("number", detail=(0, len(axes))), name, arguments, parts, node, axes)
    checker.check_truth(record, name, arguments, parts)
    shape = checker.broadcast(arguments, node, node, name, parts)
    if name in ("+", "-", "⊙", "juxtaposed"):
        checker.watch_outer(name, arguments, node, parts)
    folded = fold(record.name, [argument.number for argument in arguments], options)
    if folded is not None:
        return checker.graph.number(folded, node, boolean=record.boolean[1])
    return checker.graph.intern(record.name, arguments, (), tuple(options), shape, record.boolean[1], node)


def check_truth(checker: Checker, record: Operator, name: str, arguments, parts) -> None:
    if name == "where":
        checker.truth(arguments[0], parts[0])
        return
    for argument, part in zip(arguments, parts):
        if record.boolean[0] and not argument.boolean:
            checker.truth(argument, part)
        if argument.boolean and not record.boolean[0] and record.name not in ("=", "≠"):
            raise checker.error(
                315, f"{name} takes numbers, and this is a condition", part, hint="𝕀[…] turns a condition into 0 and 1"
            )


def watch_outer(checker: Checker, name: str, arguments, node, parts) -> None:
    left, right = (argument.shape.keys() for argument in arguments)
    if left <= right or right <= left:
        return
    left, right = (frozenset(axis for axis in argument.shape if "@" not in axis) for argument in arguments)
    if left <= right or right <= left:
        return
    message = (
        f"{operator_sign(name)} joins {shown(arguments[0].shape)} with {shown(arguments[1].shape)}: an outer product"
    )
    meant = [(axis, close) for axis in sorted(left - right) for close in near(axis, right - left, 1)]
    hint = "if that is not meant, check the names of the axes" + (
        f": did you mean {meant[0][0]} or {meant[0][1]}?" if meant else ""
    )
    if checker.strict:
        raise checker.error(
            314, message, node, notes=[checker.described(p, a.shape) for p, a in zip(parts, arguments)], hint=hint
        )
    warning = CheckWarning(message, node.span, hint)
    if warning not in checker.warnings:
        checker.warnings.append(warning)


def truth(checker: Checker, term: Term, node: Node) -> Term:
    if not term.boolean:
        raise checker.error(
            315, "a condition is due here, and this is a number", node, hint="compare it with something: i ≤ j, i = 1"
        )
    return term
