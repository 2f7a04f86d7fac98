"""Find the left-hand sides of statements: the nodes that a statement defines, declares or gives a signature.

Y_{seq(i)} = …      Y_{seq(i)}          X, W ∈ ℝ^{n}      X and W          f : ℝ^{n} → ℝ      f
"""

from __future__ import annotations

from typing import Any

from grammar import nodes

SCRIPTED = (nodes.Subscript, nodes.Superscript, nodes.Starred, nodes.Index, nodes.Rename)


def heads(statement: Any) -> tuple[Any, ...]:
    """Return the nodes that a statement defines, updates, declares or gives a signature, or () for other statements."""
    if isinstance(statement, nodes.Signature):
        return (statement.head,)
    if isinstance(statement, nodes.Declaration):
        return statement.names
    if isinstance(statement, nodes.Update):
        return (statement.target,)
    return statement.sides[:1] if isinstance(statement, nodes.Equation) else ()


def base_of(node: Any) -> str:
    """Return the name in a node without scripts and indices.

    For a call, return the function's name. For any other node, return "".
    """
    while isinstance(node, SCRIPTED):
        node = node.base
    return node.text if isinstance(node, nodes.Name) else node.operator if isinstance(node, nodes.Call) else ""


def head_names(statement: Any) -> set[str]:
    """Return the names on the left-hand sides of a statement, without scripts."""
    return {base_of(head) for head in heads(statement)} - {""}


def function_head(statement: Any) -> nodes.Call | None:
    """Return the function on the left-hand side of a statement, or None if the left-hand side is not a function."""
    head = next(iter(heads(statement)), None)
    is_function = isinstance(head, nodes.Call) and (
        isinstance(statement, nodes.Signature) or head.operator[0].isalpha()
    )
    return head if is_function else None
