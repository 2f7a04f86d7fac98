"""Recognize assertions that look like definitions but have a known left-hand side.

If A is given, declared or defined, these equations are assertions:

    max_{height} A = [9, 9, 9]_{width}      A_{height(1), width(3)} = 4      σ(A) = …  after σ(x) = …
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar import nodes
from grammar.nodes import Axis, Index, Name, Number, axis_of
from grammar.symbols import FUNCTIONS
from grammar.traversal import names_in

from .dependencies import is_whole, matches, pattern_of
from .names import CONSTANTS, Key, Spelled, component, read_spelling, walk
from .symbols import Definition, FunctionDefinition, Replaced, Scope
from .uses import find_indices, uses_of

Given = Mapping[Key, frozenset[str]]  # Maps the names of the given tensors to their axes.
Head = tuple[int, int]  # The position of a statement, and the index of one of its sides.


def find_asserted_heads(scope: Scope, given: Given, open: bool = False) -> frozenset[Head]:
    """Return the left-hand sides that belong to assertions because their names are given, declared or defined.

    If `open` is true, later code may give more names. The result then also contains the second left-hand side of a
    function, if the two left-hand sides have different parameter names.
    """
    known = _Known(scope, given, open)
    definitions = [definition for group in scope.definitions.values() for definition in known.claims_among(group)]
    heads: list[Any] = [*definitions, *(function for function in scope.all_functions() if known.is_call(function))]
    claimed = {(head.position, head.statement.sides.index(head.head)) for head in heads}
    return frozenset(claimed | known.absolute_values())


class _Known:
    def __init__(self, scope: Scope, given: Given, open: bool):
        self.scope, self.given, self.open = scope, given, open
        self.declared = {name.key(): (position, sets) for position, name, sets, _ in scope.declarations}
        self.first: dict[tuple[Any, ...], FunctionDefinition] = {}
        for function in scope.all_functions():
            self.first.setdefault(scripts(function), function)
        self.patterns = [pattern_of(family.name, scope.indices) for family in scope.families]

    # ------------------------------------------------------------------------------------- elements and rows of tensors
    def claims_among(self, group: list[Definition]) -> list[Definition]:
        """Return the assertions among the equations for one name."""
        key = group[0].key
        if key in self.given or self.is_power(group[0].name):
            return group
        if key in self.declared and all(map(is_rearranged, group)):
            return group
        defining = [definition for definition in group if definition.statement.defines]
        if len(defining) == 1:
            return [definition for definition in group if definition is not defining[0]]
        plain = [definition for definition in group if not definition.elements]
        if plain:
            return [definition for definition in group if definition.elements]
        whole = [definition for definition in group if definition.range is None and not find_fixed_axes(definition)]
        if whole:
            return [definition for definition in group if definition.range is None and find_fixed_axes(definition)]
        parts = [definition for definition in group if definition.range is None]
        return parts if len(parts) == len(group) and self.cannot_fill(group) else []

    def is_power(self, name: Spelled) -> bool:
        """Return whether a superscript, as in x^2 or e^{c+d}, is an exponent of a known name rather than a label."""
        if len(name.superscript) != 1 or name.key() in self.declared:
            return False
        base, text = name.key()._replace(superscript=()), component(name.superscript[0])
        others = {
            *self.given,
            *self.declared,
            *(key for key, group in self.scope.definitions.items() if not is_computed(group[0].name)),
            *(family.name.key() for family in self.scope.families),
        }
        if any(key[:2] == base[:2] and key.superscript for key in others - {name.key()}):  # These are labels.
            return False
        if not is_computed(name):
            return base in others and is_whole(text) and not 0 <= int(text) < 2
        known = {key.base for key in others} | CONSTANTS.keys()
        is_known = base in others or str(base) in REPLACED
        return is_known and find_operands(name.superscript[0]) <= known - self.scope.indices

    def absolute_values(self) -> set[Head]:
        """Return the equation sides |x| that are absolute values, because x is a tensor and not an axis."""
        program = self.scope.program
        sides = [
            (position, index, side.axis)
            for position, statement in enumerate(program.statements)
            if isinstance(statement, nodes.Equation)
            for index, side in enumerate(statement.sides)
            if isinstance(side, nodes.Size)
        ]
        if not sides:
            return set()
        known = {*self.given, *self.declared, *self.scope.definitions}
        sized = {id(node.axis) for node in walk(program) if isinstance(node, nodes.Size)}
        axes = frozenset[str]().union(
            *self.given.values(), *(axes_named(n) for n in walk(program) if id(n) not in sized)
        )
        return {
            (position, index) for position, index, axis in sides if Key(axis.name) in known and axis.name not in axes
        }

    def cannot_fill(self, group: list[Definition]) -> bool:
        """Return whether equations for elements of a declared name leave some elements of the tensor undefined."""
        if group[0].key not in self.declared:
            return False
        places = [find_fixed_axes(definition) for definition in group]
        if any(len(position) != 1 for position in places):
            return True
        (sets, axes) = self.declared[group[0].key][1], {axis for position in places for axis in position}
        size = next((size for axis, size in sets[0].axes if {axis.name} == axes), None)
        numbers = {index for position in places for index in position.values()}
        full = size.value if isinstance(size, Number) else max(2, len(numbers))
        return len(axes) != 1 or numbers != set(range(1, int(full) + 1))

    # -------------------------------------------------------------------------------------------- calls of functions
    def is_call(self, function: FunctionDefinition) -> bool:
        """Return whether a left-hand side calls a known function. If it does, its equation is an assertion."""
        names = [name.key() for name in (*function.parameters, *function.options)]
        if function.operator in FUNCTIONS and not (function.facts or function.families or self.speaks(function, names)):
            return True  # An equation such as log Z = 3 defines neither log nor Z.
        if not all(self.knows(name, function) for name in names):
            first = self.first[scripts(function)].parameters
            return self.open and len(first) == len(function.parameters) and first != function.parameters
        others = self.scope.functions[function.operator]
        if function.operator in FUNCTIONS and not self.is_stated(function):
            return not self.is_general(function, names)
        axes = frozenset[str]().union(*map(self.axes_of, names))
        others = [
            definition
            for definition in others
            if definition.arity == function.arity and is_use(function, definition, axes)
        ]
        definitions = [
            definition
            for definition in others
            if not all(self.knows(part.key(), definition) for part in definition.parameters)
        ]
        return function is not (definitions or others)[0]

    def is_stated(self, function: FunctionDefinition) -> bool:
        """Return whether a signature such as σ : ℝ → ℝ declares that the program redefines a built-in function."""
        arguments = len(function.parameters)
        heads = ((signature.head, len(signature.domain)) for _, signature in self.scope.signatures)
        return any((head.operator, count) == (function.operator, arguments) for head, count in heads)

    def knows(self, name: Key, function: FunctionDefinition) -> bool:
        """Return whether a parameter name on the left-hand side of a function is also the name of a known value.

        A declaration below the left-hand side does not count, because it declares the parameter.
        """
        declared = self.declared.get(name)
        if name in self.given or name in self.scope.definitions or (declared and declared[0] < function.position):
            return True
        if any(matches(pattern, name) for pattern in self.patterns):
            return True
        is_power = declared is None and len(name.superscript) == 1 and is_whole(name.superscript[0])
        return is_power and self.knows(name._replace(superscript=()), function)  # x^2

    def is_general(self, function: FunctionDefinition, names: list[Key]) -> bool:
        """Return whether an equation defines a function for any tensor, as in mean_{ax}(X) = ∑_{ax} X / |ax|.

        The body must mention all parameters, and at least one parameter X must lack the axis ax.
        """
        axes = {axis.name for axis in map(axis_of, function.head.subscript) if axis is not None}
        return self.speaks(function, names) and any(axes - self.axes_of(name) for name in names)

    def speaks(self, function: FunctionDefinition, names: list[Key]) -> bool:
        """Return whether a function's body mentions all of its parameters."""
        return names_in(function.body).issuperset(name.base for name in names)

    def axes_of(self, name: Key, seen: frozenset[Key] = frozenset()) -> frozenset[str]:
        """Return the axes of a given or declared name. For a defined name, return all axes that its body may have."""
        if name in self.given:
            return self.given[name]
        if name in self.declared:
            return frozenset(axis.name for axis, _ in self.declared[name][1][0].axes)
        definition = self.scope.definitions.get(name) or [
            family for family in self.scope.families if family.name.base == name.base
        ]
        if name in seen:
            return frozenset()
        names: set[str] = set()
        for node in (part for candidate in definition for part in walk(candidate.statement)):
            inner = None if isinstance(node, Axis) else read_spelling(node)
            names |= axes_named(node)
            if inner is not None:
                names |= self.axes_of(inner.key(), seen | {name})
        return frozenset(names)


def is_computed(name: Spelled) -> bool:
    """Return whether a name has a computed superscript, such as c+d in e^{c+d}."""
    return any(isinstance(part, (nodes.Call, nodes.Superscript, Index)) for part in name.superscript)


def find_operands(exponent: Any) -> set[str]:
    """Return the names of the tensors in an exponent. Leave out indices, such as i in e^{x_{ax(i)}}."""
    items = [item for node in walk(exponent) if isinstance(node, Index) for item in node.items]
    indices = {index.text for _, index in items if isinstance(index, Name)}
    return {*uses_of(exponent).variables} - find_indices(exponent) - indices


def axes_named(node: Any) -> set[str]:
    """Return the axes that a node names outside its operands, such as a in ∑_{a} X."""
    parts = node.subscript if isinstance(node, nodes.Call) else ()
    return {axis.name for axis in (node if isinstance(node, Axis) else None, *map(axis_of, parts)) if axis is not None}


def is_rearranged(definition: Definition) -> bool:
    """Return whether an equation only rearranges elements of one tensor, as in A_{h(i), w(j)} = A_{h(j), w(i)}."""
    key = definition.key
    uses = [node for node in walk(definition.body) if isinstance(node, Index) and is_spelled(node.base, key)]
    named = [node for node in walk(definition.body) if isinstance(node, Name) and node.text == key.base]
    plain = all(isinstance(index, Name) for use in uses for _, index in use.items)
    return bool(definition.elements and uses) and plain and len(named) == len(uses)


def is_spelled(node: Any, key: Key) -> bool:
    name = read_spelling(node)
    return name is not None and name.key() == key


def find_fixed_axes(definition: Definition) -> dict[str, int]:
    """Return the axes with a numeric index on a left-hand side, such as {height: 1} for A_{height(1), width(j)}."""
    return {axis.name: int(index.value) for axis, index in definition.elements if isinstance(index, Number)}


def scripts(function: FunctionDefinition) -> tuple[Any, ...]:
    return function.operator, function.head.subscript, function.head.superscript, function.arity


def is_use(call: FunctionDefinition, of: FunctionDefinition, axes: frozenset[str]) -> bool:
    """Return whether a left-hand side can be a call of the function that the left-hand side `of` defines.

    Both must have the same labels. Where `of` has an axis, the call must also name an axis.
    """
    parts = list(zip((*call.subscript, *call.superscript), (*of.subscript, *of.superscript)))
    counts = [[len(script) for script in (function.subscript, function.superscript)] for function in (call, of)]
    return counts[0] == counts[1] and all(
        names == other or (other[0] == "axis" and (names[0] == "axis" or names[1] in axes)) for names, other in parts
    )


# ------------------------------------------------------------------------------------------------- what goes before
REPLACED = CONSTANTS.keys() - {"ε"}  # A program usually defines its own ε.


def find_replacements(scope: Scope) -> tuple[Replaced, ...]:
    """Return the built-in functions and numbers that the program redefines."""
    result = [
        Replaced(function.operator, function.head.span)
        for function in scope.all_functions()
        if function.operator in FUNCTIONS
    ]
    tensors = [group[0] for group in scope.definitions.values()]
    named = {tensor.name.base for tensor in tensors} & FUNCTIONS
    applied = {find_juxtaposed_name(node) for node in walk(scope.program)} if named else set[Any]()
    for tensor in tensors:
        plain = not tensor.key.subscript and not tensor.key.superscript
        identity = tensor.name.base == "I" and len(tensor.name.subscript) == 2 and not tensor.elements
        if identity or (plain and tensor.name.base in (*REPLACED, *(applied & FUNCTIONS))):
            head = tensor.head.base if isinstance(tensor.head, Index) else tensor.head
            result.append(Replaced(tensor.name.base, head.span))  # type: ignore[union-attr]
    return tuple(result)


def find_juxtaposed_name(node: Any) -> str:
    """Return the name of the first factor in a juxtaposition, such as σ in σ(X), or "" for any other node."""
    if isinstance(node, nodes.Call) and node.operator == "juxtaposed":
        name = read_spelling(node.arguments[0])
        return name.base if name is not None else ""
    return ""
