"""Infer the types of operators over a variable in a set, such as max_{i ∈ [n]} …, ∑_{j ≠ i} … or ∑_{i ∈ I} ….

The variable becomes a tensor along a separate axis, like the index of a sum. The operators argmin_{x ∈ ℝ^{n}} and lim
have a type but no value.
"""

from __future__ import annotations

from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Node, Number

from ..core.extents import is_size
from ..core.sizes import is_ground, resolve
from ..operators import REGISTRY
from ..scope.names import Key
from ..scope.uses import COUNTED
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .application import takes_index
from .axis_sizes import unknown_size
from .declarations import end_needed, set_axes
from .indexing import iota
from .sums import JOINED, NEUTRAL, apply_over_index, implicit_sum, index_sum, is_label, uses, write_out_sum


def type_over_variable(checker: Inference, node: nodes.Over, env: Environment) -> Term:
    if isinstance(node.over, nodes.Set):
        return type_over_set(checker, node, node.over, env)
    if node.operator == "lim":
        return type_without_value(checker, node, {}, env)
    return restrict_sum(checker, node, env)


def type_over_set(checker: Inference, node: nodes.Over, of: nodes.Set, env: Environment) -> Term:
    if of.domain not in COUNTED:
        sizes = [
            (axis, None if size is None else checker.solver.number(size, env))
            for axis, size, _ in set_axes(checker, of, env)
        ]
        shape = {axis: unknown_size(checker, axis) if size is None else size for axis, size in sizes}
        return type_without_value(checker, node, shape, env)
    if of.axes:
        raise checker.error(405, "a counting variable is one number, but this set has axes", of, hint="write [n]")
    record = REGISTRY.get(node.operator)
    if record is None or not takes_index(node.operator):
        raise checker.error(
            301,
            f"{node.operator} cannot range over the numbers of a set",
            node,
            hint="use ∑, ∏, max, min, argmax, argmin or mean",
        )
    if of.domain == "count":
        last = checker.solver.number(of.elements[0], env)
        if is_size(last) and node.operator in NEUTRAL:
            first = Number(1, of.span)
            return index_sum(
                checker, nodes.IndexSum(node.operator, node.variable, first, of.elements[0], node.body, node.span), env
            )
        if not is_size(last):
            raise end_needed(checker, of.elements[0], f"the set {checker.text(of)}", env)
    labels = [label_of(checker, element, env) for element in of.elements] if of.domain == "elements" else []
    if labels and node.operator in JOINED and is_label(checker, node.variable.text, node.body, env):
        return write_out_sum(checker, node, labels, env)
    depth = env.depth + 1
    axis = f"{node.variable.text}@{depth}"
    members = members_of(checker, of, axis, node, env)
    inner = env.within(depth=depth)
    inner.variables[Key(node.variable.text)] = members
    term = checker.infer(node.body, inner)
    return apply_over_index(
        checker, node.operator, axis, members.shape[axis], term, node.variable, node.body, node, env, members
    )


def label_of(checker: Inference, element: Node, env: Environment) -> int | str:
    """Return an element of a set as a number, such as 3 in {1, 3}, or as text, such as Q in {Q, K}."""
    number = checker.solver.value(element, env)
    return number if isinstance(number, int) else checker.text(element)


def members_of(checker: Inference, of: nodes.Set, axis: str, node: nodes.Over, env: Environment) -> Term:
    """Return a tensor with the elements of a set along an axis.

    The elements are 1, …, n, the listed numbers, or the elements of a 1-D tensor.
    """
    if of.domain == "count":
        return iota(checker, axis, 1, checker.solver.number(of.elements[0], env), of)  # type: ignore[arg-type]
    if of.domain == "elements":
        row = tuple(of.elements)
        return checker.infer(nodes.Literal((row,), (nodes.Axis(axis, of.span),), of.span), env)
    (name,) = of.elements
    infer = checker.infer(name, env)
    names = [text for text in infer.shape if "@" not in text]
    if len(names) != 1:
        raise checker.error(
            405, f"{checker.text(name)} must have exactly one axis", name,
            notes=(checker.describe_with_shape(name, infer.shape),), hint="write [n], {1, 3}, or a tensor of one axis",
        )  # fmt: skip
    return checker.renamed(infer, {names[0]: axis}, name)


def restrict_sum(checker: Inference, node: nodes.Over, env: Environment) -> Term:
    """Return the term of a reduction under a condition, such as ∑_{j ≠ i} …, as a masked reduction."""
    neutral = NEUTRAL.get(node.operator)
    if neutral is None:
        raise checker.error(
            301,
            f"{node.operator} is undefined for elements that a condition excludes",
            node,
            hint="use ∑, ∏, max or min",
        )

    def unbounded() -> NotationError:
        return checker.error(
            309, f"the range of {node.variable.text} is unknown", node.variable,
            hint=f"index with it, as in X_{{ax({node.variable.text})}}, or write {node.variable.text} ∈ [n]",
        )  # fmt: skip

    if not any(True for _ in uses(node.variable.text, node.body)):
        raise unbounded()
    span = node.body.span
    empty: Node = Number(neutral, span)
    body = nodes.Cases(((node.body, node.over), (empty, None)), span)  # type: ignore[arg-type]
    call = Call(node.operator, (), (node.variable,), (body,), (), node.span, node.span)
    term = implicit_sum(checker, call, env)
    if term is None:
        raise unbounded()
    return term


def type_without_value(checker: Inference, node: nodes.Over, shape: dict[str, Any], env: Environment) -> Term:
    """Return a term with the type of a limit or minimum whose value cannot be computed.

    The term has the type of the body or, for argmin and argmax, the type of the variable.
    """
    if not checker.infer_parameters and not checker.typing:
        known = all(is_ground(resolve(size)) for size in shape.values())
        raise checker.error(
            405, f"{checker.text(node)[:60]} has a type but no value", node,
            hint="limits and minima over all tensors can be checked, but not evaluated"
            if known
            else "state its sizes",
        )  # fmt: skip
    inner = env.within()
    name = f"{node.variable.text} {len(checker.graph)}"
    inner.variables[Key(node.variable.text)] = checker.graph.intern("input", options=(name,), shape=shape, node=node)
    body = checker.infer(node.body, inner)
    return inner.variables[Key(node.variable.text)] if node.operator.startswith("arg") else body
