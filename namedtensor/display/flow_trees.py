"""Operations on syntax trees for diagrams, in which • replaces values that are drawn elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Name, Node
from grammar.traversal import map_nodes

from ..scope.names import Key, component_node, read_spelling, walk
from ..scope.symbols import Definition
from ..terms.environment import Environment

DOT = Name("•")  # a value without a name


def make_name_tree(key: Key) -> Node:
    """Return the syntax node of a name, given its key."""
    node: Any = Name(key.base)
    if key.subscript:
        node = nodes.Subscript(node, tuple(map(component_node, key.subscript)))
    return nodes.Superscript(node, tuple(map(component_node, key.superscript))) if key.superscript else node


BODIES = (nodes.IndexSum, nodes.Over, nodes.Expectation, nodes.AtPoint, nodes.Derivative)
OPERANDS: dict[type, tuple[str, ...]] = {  # the fields of each node type that contain tensors
    Call: ("arguments", "parameters"), nodes.Superscript: ("base", "components"), nodes.Indicator: ("condition",),
    nodes.Literal: ("rows",), nodes.Cases: ("branches",), **dict.fromkeys(BODIES, ("body",)),
    **dict.fromkeys((nodes.Rename, nodes.Starred, nodes.Subscript), ("base",)),
}  # fmt: skip


def operands(node: Any) -> tuple[Any, ...]:
    """Return the operands of an expression, that is, its parts that are tensors."""
    fields = OPERANDS.get(node.__class__, ())
    if isinstance(node, nodes.Index):
        return (node.base, *(index for _, index in node.items))
    return tuple(flatten([getattr(node, name) for name in fields]))


def flatten(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from flatten(value)
        elif value is not None:
            yield value


def regroup(node: Any, has_data: Callable[[Any], bool]) -> Any:
    """Return a sum X + F + b regrouped as X + (F + b) if b is a parameter, so that F and b are drawn together."""
    if not isinstance(node, Call) or node.operator != "+":
        return node
    terms = summands(node)
    groups: list[list[Any]] = []
    for term in terms:
        if groups and not has_data(term):
            groups[-1].append(term)
        else:
            groups.append([term])
    if len(groups) < 2 or all(len(group) == 1 for group in groups) or not has_data(groups[0][0]):
        return node
    parts = [total(group) for group in groups]
    return total(parts)


def summands(node: Any) -> list[Any]:
    if isinstance(node, Call) and node.operator == "+":
        return [*summands(node.arguments[0]), node.arguments[1]]
    return [node]


def total(terms: list[Any]) -> Any:
    result = terms[0]
    for term in terms[1:]:
        result = Call("+", (), (), (result, term))
    return result


def replace_parts(node: Any, gone: set[int]) -> Any:
    """Return a tree in which the parts with these ids are replaced by •."""
    return map_nodes(node, lambda part: DOT if id(part) in gone else None)


def lineage(env: Environment | None) -> list[Environment]:
    environments: list[Environment] = []
    while env is not None:
        environments.append(env)
        env = env.parent
    return environments


def needs(one: Definition, other: Definition) -> bool:
    """Return whether a family's equation uses another family at an index such as l or l - 1."""
    if one.range is None or other.range is None or one.range.variable.text != other.range.variable.text:
        return False
    variable = one.range.variable.text
    for node in walk(one.body):
        if (
            isinstance(node, nodes.Superscript)
            and (name := read_spelling(node)) is not None
            and name.base == other.name.base
        ):
            if any(
                isinstance(inner, Name) and inner.text == variable for part in node.components for inner in walk(part)
            ):
                return True
    return False
