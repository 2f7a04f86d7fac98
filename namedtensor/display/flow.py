"""The data flow of a program as a graph that shows the path of each value.

    X ──► LayerNorm ──► FFN ──► + ──► Y        Y = X + FFN(LayerNorm(X))
     └──────────────────────────┘

The data are the inputs and all values that depend on them. Parameters are not nodes. They are written beside their
uses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Name, Node
from grammar.printer.runs import Run, to_runs

from ..checking.checker import Checker
from ..core.sizes import resolve
from ..scope.names import Key, walk
from ..scope.symbols import Definition, FunctionDefinition
from ..terms.environment import Environment, source_name
from .flow_data import Asked, FlowData
from .flow_graph import NAMING, DrawnFunction, Edge, FlowGraph, Port, ValueSource
from .flow_trees import make_name_tree, operands, regroup, replace_parts

JOINING = ("+", "-", "⊙", "/", "⊕", "juxtaposed")  # drawn as a sign, not as a box
WHOLE = (
    nodes.Cases,
    nodes.IndexSum,
    nodes.Over,
    nodes.Expectation,
    nodes.AtPoint,
    nodes.Draw,
    nodes.Literal,
    nodes.Indicator,
)  # expressions that are always drawn as one box


# ------------------------------------------------------------------------------------------------------------ the flow
class Flow(FlowData):
    """A builder of the data flow graph from the terms that a checker has typed."""

    def __init__(self, checker: Checker, asked: Asked):
        super().__init__(checker, asked)
        self.root = FlowGraph()
        self.graphs: dict[int, FlowGraph] = {
            id(checker.top): self.root
        }  # the graphs of expanded calls, and of the program
        self.made: dict[Any, ValueSource | None] = {}
        self.plates: dict[Any, FlowGraph] = {}

    def runs(self, node: Any) -> tuple[Run, ...]:
        return to_runs(node, self.axes)

    # ------------------------------------------------------------------------------------------------------ the roots
    def function(self, function: FunctionDefinition) -> ValueSource | None:
        """Draw a function separately, with its parameters as inputs, and return the node of its result."""
        env = self.calls[id(function.head), id(self.checker.top)]
        self.graphs[id(env)] = self.root
        bound = self.bound[id(env)] = {}
        for name in function.parameters:
            shape = self.type_of(env.variables[name.key()], env)
            bound[name.key()] = self.root.add(DrawnFunction("input", self.runs(make_name_tree(name.key())), shape))
        return self.flow(function.body, env, self.root)

    def value(self, node: Node | Definition | Key) -> ValueSource | None:
        """Return the node that provides the value of a name, an expression or a definition.

        For a family, return the node of its last member. Return None if the value does not depend on data.
        """
        if isinstance(node, Definition):
            over = node.range
            top = self.checker.top
            last = None
            if over is not None:
                last = {range_.variable.text: self.checker.solver.value(range_.last, top) for range_ in over.each}
            node = node.key if last is None else node.name.key(last.get)
        if not isinstance(node, Key):
            return self.flow(node, self.checker.top, self.root)
        source = self.resolve(node, self.checker.top)
        if source is None or source.graph is self.root:
            return source
        result = self.root.add(DrawnFunction("result", self.runs(make_name_tree(node)), source.drawn.axes))
        self.root.connect(source, result)
        return result

    # -------------------------------------------------------------------------------------------------------- a name
    def resolve(self, key: Key, env: Environment) -> ValueSource | None:
        """Return the node that provides the value of a name, or None if the name does not depend on data."""
        holder, definition = self.lookup(key, env)
        if holder is not None and definition is not None:
            return self.defined(key, definition, holder)
        bound = self.bound.get(id(holder), {})
        return bound[key] if key in bound else self.input(key) if key in self.data else None

    def input(self, key: Key) -> ValueSource:
        if key not in self.made:
            variables, declared = self.checker.top.variables, self.checker.parameters
            shape = self.type_of(variables[key] if key in variables else declared[key], self.checker.top)
            self.made[key] = self.root.add(DrawnFunction("input", self.runs(make_name_tree(key)), shape))
        return self.made[key]  # type: ignore[return-value]

    def defined(self, key: Key, definition: Definition, holder: Environment) -> ValueSource | None:
        """Return the node that provides the value of a definition. The node is added on first use.

        Return None if the definition does not depend on data.
        """
        index = self.index_of(key, definition, holder)
        mark = (id(definition), id(holder), index)
        if mark not in self.made:
            self.made[mark] = None
            env = self.environment_of(definition, holder, index)
            if env is not None:
                graph = self.graph_of(definition, holder, index)
                if definition.elements:
                    source = self.box(definition.body, env, graph, self.leaves(definition.body, env))
                    source.drawn.axes = self.shape_of(definition, key)
                else:
                    source = self.flow(definition.body, env, graph)
                self.made[mark] = self.named(source, definition, index)
        return self.made[mark]

    def shape_of(self, definition: Definition, key: Key) -> dict[str, Any]:
        return self.sort_axes(
            {source_name(axis): resolve(size) for axis, size in self.checker.types.get(str(key), {}).items()}
        )

    def named(self, source: ValueSource | None, definition: Any, index: int | None) -> ValueSource | None:
        """Give the value of a node the name of a definition, if the value has no name yet, and return the node."""
        if source is not None and not source.drawn.name and source.drawn.kind not in NAMING:
            indices = {definition.range.variable.text: index} if index is not None else {}
            source.drawn.name = self.runs(make_name_tree(definition.name.key(indices.get)))
        return source

    # ------------------------------------------------------------------------------------------------------- families
    def graph_of(self, definition: Definition, holder: Environment, index: int | None) -> FlowGraph:
        """Return the graph in which a definition is drawn.

        For a family, it is the group of the family. Otherwise, it is the graph of the function or the program.
        """
        graph = self.graphs[id(holder)]
        if definition.range is None or not definition.is_family:
            return graph
        mark = (id(holder), id(self.kin(definition, holder)[0]), index)
        if mark not in self.plates:
            self.plates[mark] = graph.group(self.range_title(definition.range, holder, index))
        return self.plates[mark]

    def range_title(self, over: nodes.Range, holder: Environment, index: int | None) -> tuple[Run, ...]:
        if index is not None:
            return (*self.runs(over.variable), Run(f" = {index}"))
        title = tuple(
            run._replace(text=run.text.lstrip()) if position == 0 else run
            for position, run in enumerate(self.runs(over))
        )
        last = self.checker.solver.value(over.last, holder)
        stated = isinstance(over.last, Name) and isinstance(last, int) and over.last.text in self.asked.sizes
        return (*title, Run(" ("), *self.runs(over.last), Run(f" = {last})")) if stated else title

    # -------------------------------------------------------------------------------------------------- an expression
    def flow(self, node: Node, env: Environment, graph: FlowGraph) -> ValueSource | None:
        """Return the node that provides the value of an expression, or None if it does not depend on data."""
        leaves = self.leaves(node, env)
        if not leaves:
            return None
        if (key := self.name_in(node, env)) is not None:
            return self.resolve(key, env)
        function = self.called(node, env)
        if function is not None:
            assert isinstance(node, Call)
            return (
                self.opened(node, function, env, graph)
                if self.opens(function)
                else self.closed(node, function, env, graph)
            )
        whole = isinstance(node, WHOLE) or (len(leaves) == 1 and all(isinstance(leaf, Key) for leaf in leaves))
        if whole:
            return self.box(node, env, graph, leaves)
        node = regroup(node, lambda part: bool(self.leaves(part, env)))
        parts = [part for part in operands(node) if self.leaves(part, env)]
        if len(parts) > 1:
            return self.joined(node, parts, env, graph)
        return self.through(node, parts[0], env, graph)

    def through(self, node: Node, part: Node, env: Environment, graph: FlowGraph) -> ValueSource | None:
        """Add a box for an operation on one value, and return its node."""
        while len(inner := [operand for operand in operands(part) if self.leaves(operand, env)]) == 1:
            if self.called(part, env) is not None or self.name_in(part, env) is not None or isinstance(part, WHOLE):
                break
            part = inner[0]
        source = self.flow(part, env, graph)
        if source is None:
            return None
        through = graph.add(
            DrawnFunction("formula", self.runs(replace_parts(node, self.nameless([part], env))), self.shape(node, env))
        )
        graph.connect(source, through, self.runs(part) if self.name_in(part, env) else ())
        return through

    def joined(self, node: Node, parts: list[Node], env: Environment, graph: FlowGraph) -> ValueSource:
        """Add a sign or box for an operation on several values, and return its node."""
        sources = [(self.flow(part, env, graph), part) for part in parts]
        if isinstance(node, Call) and node.operator in JOINING and len(parts) == len(node.arguments):
            kind, text = "sign", self.sign(node)
        else:
            kind, text = "formula", self.runs(replace_parts(node, self.nameless(parts, env)))
        joined = graph.add(DrawnFunction(kind, text, self.shape(node, env)))
        for source, part in sources:
            if source is not None:
                graph.connect(source, joined, self.runs(part) if self.name_in(part, env) else ())
        return joined

    def sign(self, node: Call) -> tuple[Run, ...]:
        """Return the sign of an operation without its operands, such as + or ⊙_{key}."""
        if node.operator == "juxtaposed":
            return (Run("⊙"),)
        between = self.runs(dataclasses.replace(node, arguments=(Name("\ue010"), Name("\ue010"))))
        return tuple(run._replace(text=text) for run in between if (text := run.text.replace("\ue010", "").strip()))

    def nameless(self, parts: Iterable[Node], env: Environment) -> set[int]:
        return {id(part) for part in parts if self.name_in(part, env) is None}

    def box(self, node: Node, env: Environment, graph: FlowGraph, leaves: Iterable[Any]) -> ValueSource:
        """Add one box for a whole expression, with edges from the given leaves."""
        box = graph.add(DrawnFunction("formula", self.runs(node), self.shape(node, env)))
        for leaf in leaves:
            if isinstance(leaf, Key):
                source = self.resolve(leaf, env)
                if source is not None:
                    graph.connect(source, box, self.as_written(leaf, node, env))
        return box

    def as_written(self, key: Key, node: Node, env: Environment) -> tuple[Run, ...]:
        """Return a name as an expression writes it, such as X^{l-1} for the key X^0."""
        for part in walk(node):
            if self.name_in(part, env) == key:
                return self.runs(part)
        return ()

    # ------------------------------------------------------------------------------------------------------ functions
    def opens(self, function: FunctionDefinition) -> bool:
        return bool({function.operator, function.title} & self.asked.expand)

    def title(self, node: Call) -> tuple[Run, ...]:
        """Return the text of a call without its arguments, for the title of its box."""
        runs = self.runs(dataclasses.replace(node, arguments=(), parameters=()))
        return tuple(run._replace(text=text) for run in runs if (text := run.text.removesuffix("()")))

    def closed(self, node: Call, function: FunctionDefinition, env: Environment, graph: FlowGraph) -> ValueSource:
        """Add a call as one box with the function's name. Arguments without data are listed below the name."""
        arguments = [part for part in (*node.arguments, *node.parameters) if not self.leaves(part, env)]
        detail: list[Run] = []
        for part in arguments:
            detail += ([Run(", ")] if detail else []) + list(self.runs(part))
        closed = graph.add(DrawnFunction("function", self.title(node), self.shape(node, env), tuple(detail)))
        for part in (*node.arguments, *node.parameters):
            source = self.flow(part, env, graph)
            if source is not None:
                graph.connect(source, closed, self.runs(part) if self.name_in(part, env) else ())
        inner = self.calls.get((id(node), id(env)))
        for leaf in self.free(function, inner):
            source = self.resolve(leaf, self.checker.top)
            if source is not None:
                graph.connect(source, closed)
        return closed

    def opened(
        self, node: Call, function: FunctionDefinition, env: Environment, graph: FlowGraph
    ) -> ValueSource | None:
        """Add a call as a group that contains the drawing of the function's body, and return the node of its result."""
        inner = self.calls[(id(node), id(env))]
        sources = [self.flow(part, env, graph) for part in (*node.arguments, *node.parameters)]
        group = graph.group(self.title(node))
        self.graphs[id(inner)] = group
        bound = self.bound[id(inner)] = {}
        for name, source in zip((*function.parameters, *function.options), sources):
            bound[name.key()] = None
            if source is not None:
                shape = self.type_of(inner.variables[name.key()], inner)
                entry = group.add(DrawnFunction("entry", self.runs(make_name_tree(name.key())), shape))
                graph.edges.append(Edge(graph.port(source), Port(group.place, Port(entry.node))))
                bound[name.key()] = entry
        return self.flow(function.body, inner, group)
