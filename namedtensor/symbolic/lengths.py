"""The length of a formula to a reader: names with their marks and scripts, numbers, sizes and signs; brackets do not
count.
"""

from __future__ import annotations

from grammar import nodes
from grammar.cache import Cache
from grammar.nodes import Node
from grammar.traversal import children

_LENGTHS: Cache[int, tuple[Node, int]] = Cache(
    "lengths of expressions", 20_000
)  # each holds its node, so that ids last


def length(node: Node) -> int:
    """The number of symbols of an expression.

    >>> from grammar.parser import parse
    >>> length(parse("s ⊙ (I_{a,a*} − s_{a→a*})").statements[0].body)
    10
    """
    known = _LENGTHS.get(id(node))
    return _LENGTHS.store(id(node), (node, _length(node)))[1] if known is None else known[1]


def _length(node: Node) -> int:
    match node:
        case nodes.Number() | nodes.Name() | nodes.Axis() | nodes.Size():
            return 1
        case nodes.Subscript(base=nodes.Name(text="I" | "ones"), components=components):
            return 1 + len(components)
        case nodes.Subscript(base=nodes.Name(text="iota")):
            return 2
        case nodes.Superscript(base=base, components=components):
            label = isinstance(base, (nodes.Name, nodes.Subscript)) and (
                len(components) > 1 or any(isinstance(each, (nodes.Name, nodes.Starred)) for each in components)
            )
            return 1 if label else length(base) + sum(map(length, components))
        case nodes.Subscript():
            return 1
        case nodes.Rename(base=base, items=items):
            return length(base) + sum(len(old) + len(new) + 1 for old, new in items)
        case nodes.Starred(base=base):
            return length(base) + (not isinstance(base, (nodes.Name, nodes.Superscript, nodes.Subscript)))
        case nodes.Call(operator=operator, subscript=subscript):
            return (operator != "juxtaposed") + len(subscript) + sum(map(length, (*node.arguments, *node.parameters)))
        case nodes.Cases(branches=branches):
            return sum(length(value) + 1 + (0 if test is None else length(test)) for value, test in branches)
        case nodes.Derivative(body=body):
            return length(body) + 3
        case nodes.IndexSum():
            return 4 + length(node.body)
    return (not isinstance(node, nodes.Index)) + sum(map(length, children(node)))
