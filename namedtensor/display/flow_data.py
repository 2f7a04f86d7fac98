"""Data in a program: the names and calls in a formula that depend on inputs, and the type of each node.

All other names are parameters, which have no nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from grammar import nodes
from grammar.nodes import Call, Node
from grammar.printer.runs import axes_in

from ..checking.checker import Checker
from ..checking.lookup import evaluate_labels
from ..checking.matching import matching
from ..scope.names import Key, match_key, read_spelling, walk
from ..scope.symbols import Definition, FunctionDefinition
from ..terms.environment import Environment
from ..terms.terms import Term
from .flow_graph import ValueSource
from .flow_trees import lineage, needs, operands
from .steps import AxisNames


class Asked(NamedTuple):
    """The options of a diagram.

    `data` contains the names of the inputs. `expand` contains the functions to open, and the families or indices whose
    members are shown separately. `sizes` and `given` contain the given numbers and shapes.
    """

    data: frozenset[Key]
    expand: frozenset[str]
    sizes: Mapping[str, int]
    given: tuple[Mapping[str, Any], ...] = ()


class FlowData:
    """The types that a checker inferred, and the names and calls that depend on data."""

    def __init__(self, checker: Checker, asked: Asked):
        self.checker, self.asked, self.data = checker, asked, asked.data
        trace = checker.trace
        self.names = AxisNames(trace)
        self.terms = {(id(node), id(env)): (term, env) for node, term, env in trace}
        self.typed: dict[int, list[Environment]] = {}
        self.calls: dict[tuple[int, int], Environment] = {}
        for node, _, env in trace:
            self.typed.setdefault(id(node), []).append(env)
            self.note_call(env)
        self.axes = frozenset(axes_in(checker.scope.program))
        self.order = self.order_of_axes(asked.given)
        self.bound: dict[int, dict[Key, ValueSource | None]] = {}  # the arguments of calls that are drawn open
        self.carried: dict[tuple[int, int], dict[Key | int, None]] = {}
        self.with_data: dict[tuple[int, int, int | None], bool] = {}  # by definition, environment and index

    def note_call(self, env: Environment | None) -> None:
        while env is not None:
            if env.call is not None and env.caller is not None:
                self.calls.setdefault((id(env.call), id(env.caller)), env)
            env = env.caller if env.function is not None else env.parent

    def order_of_axes(self, given: Iterable[Mapping[str, Any]]) -> dict[str, int]:
        """Return the position of each axis in the order that all displayed types have.

        The given types come first, and then the declarations, longest first.
        """
        sets = [node for node in walk(self.checker.scope.program) if isinstance(node, nodes.Set)]
        declared = [[axis.name for axis, _ in of.axes] for of in sorted(sets, key=lambda of: -len(of.axes))]
        axes = [axis for shape in (*given, *declared) for axis in shape]
        return {axis: index for index, axis in enumerate(dict.fromkeys(axes))}

    def sort_axes(self, shape: Mapping[str, Any]) -> dict[str, Any]:
        def rank(axis: str) -> tuple[int, str]:
            return self.order.get(axis.rstrip("'*†"), len(self.order)), axis

        return {axis: shape[axis] for axis in sorted(shape, key=rank)}

    def shape(self, node: Any, env: Environment) -> dict[str, Any]:
        """Return the type of an expression in a formula.

        If the expression is a sum that the program does not contain, its type has the axes of all its terms.
        """
        term = self.terms.get((id(node), id(env)))
        if term is not None:
            return self.sort_axes(self.names.shape(*term))
        shape: dict[str, Any] = {}
        for part in operands(node):
            shape |= self.shape(part, env)
        return self.sort_axes(shape)

    def type_of(self, term: Term, env: Environment) -> dict[str, Any]:
        return self.sort_axes(self.names.shape(term, env))

    def definition_of(self, key: Key, holder: Environment) -> Definition | None:
        if holder.function is None and holder is not self.checker.top:
            return None
        scope: Any = self.checker.scope if holder.function is None else holder.function
        facts = scope.facts if holder.function is not None else scope.definitions
        if key in self.checker.top.variables and holder is self.checker.top:
            return None
        if key in facts:
            return facts[key][0]
        for family in scope.families:
            indices = match_key(family.name, key, self.checker.scope.indices)
            if indices is not None and all(str(index).isdecimal() for index in indices.values()):
                return family
        return None

    def index_of(self, key: Key, definition: Definition, holder: Environment) -> int | None:
        """Return the index of the family member to draw for a name, or None if one drawing represents all members."""
        if definition.range is None or not definition.is_family:
            return None
        variable = definition.range.variable.text
        names = {name for family in self.kin(definition, holder) for name in (str(family.key), family.name.base)}
        if not ({variable} | names) & self.asked.expand:
            return None
        indices = match_key(definition.name, key, self.checker.scope.indices) or {}
        return int(indices[variable])

    def environment_of(self, definition: Definition, holder: Environment, index: int | None) -> Environment | None:
        """Return the environment in which a definition was typed, or None if there is no such environment.

        For a family that is drawn once, return the environment of its first member.
        """
        for env in self.typed.get(id(definition.body), []):
            is_member = definition.range is None or index is None or env.index(definition.range.variable.text) == index
            if is_member and holder in lineage(env):
                return env
        return None

    def kin(self, definition: Definition, holder: Environment) -> list[Definition]:
        """Return the families that share a group in the diagram, because their equations use members of each other."""
        families = holder.function.families if holder.function is not None else self.checker.scope.families
        known, waiting = {id(definition)}, [definition]
        while waiting:
            one = waiting.pop()
            for other in families:
                if id(other) not in known and (needs(one, other) or needs(other, one)):
                    known.add(id(other))
                    waiting.append(other)
        return [family for family in families if id(family) in known]

    def called(self, node: Any, env: Environment) -> FunctionDefinition | None:
        if not isinstance(node, Call) or node.operator not in self.checker.scope.functions:
            return None
        for function, _ in matching(self.checker, node, env):
            return function
        return None

    def leaves(self, node: Node, env: Environment) -> dict[Key | int, None]:
        """Return the names and calls in an expression that depend on data, in textual order."""
        mark = (id(node), id(env))
        if mark not in self.carried:
            self.carried[mark] = self.found_leaves(node, env)
        return self.carried[mark]

    def found_leaves(self, node: Node, env: Environment) -> dict[Key | int, None]:
        key = self.name_in(node, env)
        if key is not None:
            return {key: None} if self.resolve_quietly(key, env) else {}
        found_leaves: dict[Key | int, None] = {}
        for part in operands(node):
            found_leaves |= self.leaves(part, env)
        function = self.called(node, env)
        if function is not None:
            inner = self.calls.get((id(node), id(env)))
            if found_leaves or self.free(function, inner):
                found_leaves[id(node)] = None
        return found_leaves

    def free(self, function: FunctionDefinition, inner: Environment | None) -> list[Key]:
        """Return the names of data that the body of a function uses, except for its parameters."""
        bodies = [function.body, *(definition.body for group in function.facts.values() for definition in group)]
        keys = {name.key() for name in (*function.parameters, *function.options)} | set(function.facts)
        result: dict[Key, None] = {}
        for body in bodies:
            for node in walk(body):
                name = read_spelling(node)
                key = name.key(inner.index if inner is not None else lambda _: None) if name is not None else None
                if key is not None and key not in keys and self.resolve_quietly(key, self.checker.top):
                    result[key] = None
        return list(result)

    def name_in(self, node: Any, env: Environment) -> Key | None:
        """Return the key of the tensor that an expression names, such as X or X^{l-1}.

        Return None for other expressions, such as the power X^2.
        """
        name = read_spelling(node)
        if name is None:
            return None
        key = name.key(env.index)
        if not self.means(key, env):
            key = evaluate_labels(self.checker, name, env)
        return key if self.means(key, env) else None

    def lookup(self, key: Key, env: Environment) -> tuple[Environment | None, Definition | None]:
        """Return the environment that contains a name, and the definition of the name. Either can be None."""
        for holder in lineage(env):
            is_bound = key in self.bound.get(id(holder), {})
            definition = None if is_bound else self.definition_of(key, holder)
            if is_bound or definition is not None or key in holder.variables:
                return holder, definition
        return None, None

    def means(self, key: Key, env: Environment) -> bool:
        return key in self.checker.parameters or self.lookup(key, env)[0] is not None

    def resolve_quietly(self, key: Key, env: Environment) -> bool:
        """Return whether a name depends on data. A definition that is still being examined does not count."""
        holder, definition = self.lookup(key, env)
        if holder is not None and definition is not None:
            return self.has_data(definition, holder, self.index_of(key, definition, holder))
        bound = self.bound.get(id(holder), {})
        if key in bound:
            return bound[key] is not None
        return holder in (None, self.checker.top) and key in self.data

    def has_data(self, definition: Definition, holder: Environment, index: int | None) -> bool:
        mark = (id(definition), id(holder), index)
        if mark not in self.with_data:
            self.with_data[mark] = False  # a recurrence has data if its first value, or a term added to it, has data
            env = self.environment_of(definition, holder, index)
            self.with_data[mark] = env is not None and bool(self.leaves(definition.body, env))
        return self.with_data[mark]
