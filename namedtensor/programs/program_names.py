"""The names that a program mentions, grouped into declarations, definitions and inputs.

Some names can be accessed as `program.NAME`. The meaning of the other names is known only from a value or a shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.nodes import Call, IndexSum, Name
from grammar.traversal import children, map_nodes

from ..scope.names import CONSTANTS, Key, key, read_spelling, walk
from ..scope.symbols import FunctionDefinition, Scope
from ..scope.uses import OF_AXES, uses_of


class ProgramNames:
    """The names of a scope, grouped by the statements that introduce them."""

    def __init__(self, scope: Scope):
        self.scope = scope
        families = [*scope.families, *(family for function in scope.all_functions() for family in function.families)]
        self.bases = {family.key.base for family in families} | set(
            scope.functions
        )  # a use of these may have any index
        self.declared = {name.key() for _, name, _, _ in scope.declarations}
        self.defined = set(scope.definitions) | {fact for function in scope.all_functions() for fact in function.facts}
        self.indices = scope.indices | set[str]().union(*map(bound_by, walk(scope.program)))

    @cached_property
    def spoken(self) -> set[Key]:
        """All names in the text, except those such as W that occur only as the base of a declared or defined W^Q."""
        parts = [part for statement in self.scope.program.statements for part in children(statement)]
        return {result for part in parts for result in find_used_names(part, self._find_labeled_names)}

    @property
    def free(self) -> list[str]:
        """The names that must be inputs, because the program neither defines nor binds them, in alphabetical order."""
        explained = self.bases | self.indices | set(CONSTANTS)
        parameters = {key for function in self.scope.all_functions() for key in function.bound}
        return sorted(
            str(name)
            for name in self.spoken - self.defined
            if not (name.base in OF_AXES and name.subscript)  # I_{a,b}
            and name not in {Key(other.base) for other in self.spoken if other != Key(other.base)}
            and not {name.base, Key(name.base)} & (explained | parameters | self.defined)
        )

    def has(self, name: str) -> bool:
        """Return whether the program defines or declares the name, or accepts it as an input."""
        try:
            expected = key(name)
        except NotationError:
            return False
        return expected.base in self.bases or (expected in self.spoken and name not in self.indices)

    @cached_property
    def _find_labeled_names(self) -> set[Key]:
        """Return the declared and defined names, whose scripts are labels rather than powers."""
        return self.declared | self.defined

    def asked(self, function: FunctionDefinition) -> list[Key]:
        """Return the parameters of a function: declared names, and names that are neither arguments nor definitions."""
        bodies = [function.body, *(fact.body for facts in function.facts.values() for fact in facts)]
        keys = {name.key() for name in (*function.parameters, *function.options)}
        fromkeys = dict.fromkeys(name for body in bodies for name in find_used_names(body, self._find_labeled_names))
        return [
            fromkey
            for fromkey in fromkeys
            if fromkey in self.declared or not self._is_explained_name(fromkey, keys, function)
        ]

    def _is_explained_name(self, name: Key, keys: set[Key], function: FunctionDefinition) -> bool:
        plain = Key(name.base)
        return (
            bool({name, plain} & (keys | self.defined))
            or name.base in self.bases | self.indices | function.bound
            or name.base in CONSTANTS
        )


def find_used_names(node: nodes.Node, labeled: set[Key]) -> Iterator[Key]:
    """Yield the names that an expression uses. For X^2, also yield X if X^2 is not itself a labeled name."""
    stack: list[Any] = [node]
    while stack:  # A long sum is deeper than Python's recursion limit.
        current = stack.pop()
        name = None if isinstance(current, nodes.Axis) else read_spelling(current)
        if name is not None:
            yield name.key()
            if isinstance(current, (nodes.Superscript, nodes.Subscript)) and name.key() not in labeled:
                stack.append(current.base)
        else:
            is_call = isinstance(current, nodes.Call)
            parts = (*current.arguments, *current.parameters) if is_call else children(current)
            stack.extend(reversed(parts))


def bound_by(node: Any) -> set[str]:
    """Return the index variables that a node binds, such as i in ∑_i and ∑_{i=1}^n, or t in `for t = 1, …, n`."""
    if isinstance(node, (IndexSum, nodes.Range)):
        return {node.variable.text}
    if isinstance(node, nodes.Expectation):
        return {draw.name if isinstance(draw, nodes.Draw) else draw.text for draw in node.draws}
    if isinstance(node, nodes.Over):
        return {node.variable.text}
    parts = node.subscript if isinstance(node, nodes.Call) else ()
    return {part.text for part in parts if isinstance(part, nodes.Name)}


def read_bars(trees: Sequence[nodes.Program], inputs: Iterable[str] = ()) -> list[nodes.Program]:
    """Return the programs with |x| read as an absolute value if x is an input or an operand, and is never an axis."""
    uses = uses_of(*trees)
    operands = uses.variables.union(inputs) - uses.named_axes

    def change(node: Any) -> Any:
        is_absolute = isinstance(node, nodes.Size) and node.axis.name in operands
        if not is_absolute:
            return None
        return Call("abs", (), (), (Name(node.axis.name, node.span),), (), node.span, node.span)

    return [map_nodes(tree, change) for tree in trees]
