"""Free names of expressions: those that appear as axes, and those that appear as operands or indices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grammar import nodes
from grammar.nodes import Axis, Call, Index, Name, Size, axis_of
from grammar.traversal import children

from .names import MARKS, component_names, spelled, walk

OF_AXES = frozenset({"iota", "ι", "I", "ones"})  # tensors that only their axes make
ARITHMETIC = {"+", "-", "⊙", "/", "^", "juxtaposed", "negative", "∑", "∏", "=", "≠", "<", "≤", ">", "≥", "∧", "∨", "¬"}


def axes_spoken_of(roots: Iterable[Any]) -> frozenset[str]:
    """The axes named at and below some nodes, without their marks."""
    axes: set[str] = set()
    for root in roots:
        collect_usage(root, axes, set(), OF_AXES)
    return frozenset(axes)


def collect_usage(root: Any, axes: set[str], variables: set[str], names: frozenset[str]) -> None:
    """Add to `axes` the names that appear as axes at and below `root`, and to `variables` those that appear as operands."""
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Axis):
            axes.add(node.name.rstrip(MARKS))
        elif isinstance(node, Name):
            variables.add(node.text)
        elif isinstance(node, Call):
            for part in node.subscript:
                axis = axis_of(part)
                if axis is not None:
                    axes.add(axis.name.rstrip(MARKS))
                    if isinstance(part, nodes.Subscript) or node.operator in ARITHMETIC:
                        continue
                else:
                    stack.append(part)
            stack.extend(node.arguments)
            stack.extend(node.parameters)
            for part in node.superscript:
                variables.update(component_names(part))
        elif isinstance(node, (nodes.Superscript, nodes.Subscript)):
            stack.append(node.base)
            name = spelled(node)
            if isinstance(node, nodes.Subscript) and name is not None and name.base in names:
                axes.update(axis.name for axis in map(axis_of, node.components) if axis is not None)
            plain = isinstance(node, nodes.Subscript) and name is not None  # whose words are labels
            for part in node.components:
                if any(is_term(inner) for inner in walk(part)):
                    stack.append(part)  # an exponent: 2^{∑_{ax} X}, X^{|ax|}
                elif not (plain and isinstance(part, Name)):
                    variables.update(component_names(part))
        else:
            stack.extend(children(node))


def is_term(node: Any) -> bool:
    """Whether what holds this in a superscript is surely an exponent, and no index or label."""
    return isinstance(node, (Index, Size)) or (isinstance(node, Call) and bool(node.subscript))


def is_open(node: Any) -> bool:
    """Whether a side of an assertion holds what has a type and no value: a limit, a minimum over all tensors."""
    return any(
        isinstance(part, nodes.Over)
        and (part.operator == "lim" or isinstance(part.over, nodes.Set) and part.over.domain not in COUNTED)
        for part in walk(node)
    )


NEARLY = frozenset({"≈", "∝"})  # relations that say nothing of values that could be checked
COUNTED = ("elements", "count", "field")  # sets of numbers that can be gone through
