"""Type calls of Python functions that `nt.custom_function` or `nt.operator` registers."""

from __future__ import annotations

from typing import Any

from grammar.nodes import Call

from ..core.axes import ShapeMismatchError
from ..core.sizes import unify
from ..terms.environment import Environment, source_name
from ..terms.inference import Inference
from ..terms.terms import Term
from .application import Axes
from .axis_sizes import size_left_open
from .diagnostics import shape_error
from .lifting import StatedSize, solve_size


def call_python(checker: Inference, node: Call, env: Environment, axes: Axes) -> Term:
    """Return the term of a call of a Python function over the given axes, lifted by its signature."""
    registered = checker.python[node.operator]
    arguments = checker.infer_all(node.arguments, env)
    signature = registered.signature
    if len(arguments) != len(signature.domain):
        raise checker.error(
            304, f"{node.operator} expects {len(signature.domain)} arguments, got {len(arguments)}", node,
            notes=(f"its signature is {registered.text}",),
        )  # fmt: skip
    actual: dict[str, str] = {}
    if registered.formals:
        actual = actual_axes(checker, registered, node, axes)
        registered = registered.over(tuple(actual.values()))
    needed: list[dict[str, Any]] = [
        {actual.get(axis.name) or axis.name: size for axis, size in of.axes} for of in signature.domain
    ]
    given: dict[str, Any] = {actual.get(axis.name) or axis.name: size for axis, size in signature.codomain.axes}
    extras: dict[str, Any] = {}
    sizes: dict[str, Any] = {}
    renamed: list[Term] = []
    inner = Environment(parent=env, sizes_parent=env, depth=env.depth)  # This call determines the n in ℝ^{a[n]}.
    for argument, names, part in zip(arguments, needed, node.arguments):
        for axis, name in names.items():
            if axis not in argument.shape:
                raise checker.error(
                    305, f"{node.operator}: argument {checker.text(part)} is missing axis {axis}", part,
                    notes=(checker.describe_with_shape(part, argument.shape), f"its signature is {registered.text}"),
                    symbol=node.operator, axis=axis,
                )  # fmt: skip
            sizes[axis] = argument.shape[axis]
            if name is not None:
                solve_size(checker, StatedSize(name, argument.shape[axis], axis, part), inner)
        apart: dict[str, str] = {}
        for axis, size in argument.shape.items():
            if axis in names:
                continue
            if axis in given or (axis in extras and not unify(extras[axis], size)):
                raise shape_error(checker,
                    ShapeMismatchError("clash" if axis in given else "sizes", axis, detail=(extras.get(axis), size)),
                    node.operator, [term.shape for term in arguments], node.arguments, node, (),
                )  # fmt: skip
            extras[axis] = size
            apart[axis] = f"{source_name(axis)}@python"
        renamed.append(checker.renamed(argument, apart, part))
    shape = {f"{source_name(axis)}@python": size for axis, size in extras.items()}
    for axis, name in given.items():
        size = sizes.get(axis)
        if size is None:
            size = checker.solver.size_of(axis, env, node) if name is None else checker.solver.value(name, inner)
        shape[axis] = size_left_open(checker, axis, node) if size is None else size
    term = checker.graph.intern("python", tuple(renamed), options=(registered,), shape=shape, node=node)
    return checker.renamed(term, {f"{source_name(axis)}@python": axis for axis in extras}, node)


def actual_axes(checker: Inference, registered: Any, node: Call, axes: Axes) -> dict[str, str]:
    """Return a map from each formal axis in an operator's signature to the actual axis in a call."""
    if len(axes) != len(registered.formals) or len({axis for axis, _ in axes}) < len(axes):
        count = len(registered.formals)
        raise checker.error(
            316, f"{node.operator} expects {count} {'different axes' if count > 1 else 'axis'}, got {len(axes)}", node,
            notes=(f"its signature is {registered.text}",),
            hint=f"write {node.operator}_{{{', '.join(registered.formals)}}} with names of axes",
        )  # fmt: skip
    return {formal: axis for formal, (axis, _) in zip(registered.formals, axes)}
