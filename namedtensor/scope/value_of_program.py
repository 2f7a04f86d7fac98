"""Find the value of a program, which is a defined name or an expression."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Name, Node

from .symbols import Definition


def last_member(definition: Definition) -> Node:
    """Return the name that a definition defines, as a node. For a family, return the name of its last member.

    The name is Y for Y_{seq(i)} = …, and X^L for X^l = … for l = 1, …, L.
    """
    head = definition.head.base if isinstance(definition.head, nodes.Index) else definition.head
    over = definition.range
    if over is None or not definition.is_family:
        return head  # type: ignore[return-value]

    def at_end(node: Any) -> Any:
        if isinstance(node, Name):
            return next((range_.last for range_ in over.each if node.text == range_.variable.text), node)
        if isinstance(node, Call):
            return replace(node, arguments=tuple(map(at_end, node.arguments)))
        return node

    def filled(node: Any) -> Any:
        if isinstance(node, (nodes.Superscript, nodes.Subscript)):
            return replace(node, base=filled(node.base), components=tuple(map(at_end, node.components)))
        return node

    return filled(head)


def restore_written(program: nodes.Program, node: Node) -> Node:
    """Return the source form of a rewritten node, such as ∑_{i ≤ j < n} x_{j} for a sum over two ranges.

    If no bare expression has the node's span, return the node itself.
    """
    values = (statement.body for statement in program.statements if isinstance(statement, nodes.Value))
    return next((body for body in values if body.span == node.span), node)
