"""The graph that a diagram draws: nodes, edges, and nested groups.

A node has the type of its value and one of these kinds:

    input       a given tensor
    function    a call of one of the program's functions that is not opened
    sign        an operation that combines several values: +, ⊙_{key}
    formula     a piece of a formula that transforms values, with • for a value without a name
    entry       a value that comes from outside of a group
    result      the requested value, if it leaves a group
    group       the members of a family in a single drawing, or the body of an opened function
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grammar.printer.runs import Run

NAMING = ("input", "entry", "result")  # the text of these nodes is the name of their value


@dataclass
class DrawnFunction:
    """A node: its kind, its text, a second line of text, its value's name and type, and the nested graph of a group."""

    kind: str
    runs: tuple[Run, ...]
    axes: dict[str, Any] = field(default_factory=dict[str, Any])
    detail: tuple[Run, ...] = ()
    name: tuple[Run, ...] = ()
    inside: FlowGraph | None = None


class Port(NamedTuple):
    """A node that is an end of an edge. If the node is a group, `within` is the node inside the group."""

    node: int
    within: Port | None = None


class Edge(NamedTuple):
    source: Port
    target: Port


@dataclass
class FlowGraph:
    """A graph of nodes and edges. A nested graph is inside the node with index `place` in the graph `outer`."""

    outer: FlowGraph | None = None
    place: int = 0
    nodes: list[DrawnFunction] = field(default_factory=list[DrawnFunction])
    edges: list[Edge] = field(default_factory=list[Edge])
    entries: dict[Any, int] = field(default_factory=dict[Any, int])

    def add(self, node: DrawnFunction) -> ValueSource:
        self.nodes.append(node)
        return ValueSource(self, len(self.nodes) - 1)

    def group(self, title: tuple[Run, ...]) -> FlowGraph:
        """Add a node for a nested graph with this title, and return the nested graph."""
        inner = FlowGraph(self, len(self.nodes))
        self.nodes.append(DrawnFunction("group", title, inside=inner))
        return inner

    def connect(self, source: ValueSource, target: ValueSource, written: tuple[Run, ...] = ()) -> None:
        """Add an edge to a node of this graph from a value, which can be in another graph."""
        edge = Edge(self.port(source, written), Port(target.node))
        if edge not in self.edges:
            self.edges.append(edge)

    def port(self, source: ValueSource, written: tuple[Run, ...] = ()) -> Port:
        """Return the port that provides a value in this graph.

        It is a node, a node within a group, or an entry that is created for a value from outside.
        """
        port, graph = Port(source.node), source.graph
        while graph is not self and graph.outer is not None:
            port, graph = Port(graph.place, port), graph.outer
        if graph is self:
            return port
        return Port(self.entry(source, written or source.drawn.name or source.drawn.runs))

    def entry(self, source: ValueSource, written: tuple[Run, ...]) -> int:
        mark = (id(source.graph), source.node)
        if mark not in self.entries:
            assert self.outer is not None
            entry = self.add(DrawnFunction("entry", written, source.drawn.axes))
            self.entries[mark] = entry.node
            outside = self.outer.port(source)
            self.outer.edges.append(Edge(outside, Port(self.place, Port(entry.node))))
        return self.entries[mark]

    def everything(self) -> Iterable[DrawnFunction]:
        """Yield the nodes of this graph and of all nested graphs."""
        for node in self.nodes:
            yield node
            if node.inside is not None:
                yield from node.inside.everything()


class ValueSource(NamedTuple):
    """A value, given by the graph and the node that provide it."""

    graph: FlowGraph
    node: int

    @property
    def drawn(self) -> DrawnFunction:
        return self.graph.nodes[self.node]
