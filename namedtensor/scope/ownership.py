"""Assign definitions, signatures, declarations, sizes and assertions to functions or to the program.

A definition belongs to a function if and only if the function's body needs it and it mentions a parameter, index or
axis of the function, directly or through another such definition (language.md §4). The value of the program is its last
bare expression. If the program has no bare expression, the value is the last definition that no other statement uses:

    Y = X - m               the value, because no statement uses Y
    m = mean_{chans} X      used by Y

Names in assertions, declarations and sizes do not count as uses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from operator import attrgetter, itemgetter
from typing import Any

from grammar import nodes
from grammar.nodes import Node
from grammar.traversal import children, names_in

from .dependencies import BindingGroup, BindingGroups
from .names import Key, Spelled, read_spelling, walk
from .statements import Statements, spelling
from .symbols import Definition, FunctionDefinition, Scope
from .uses import NOTHING, Uses, number_components, reach, uses_of


class Ownership(Statements):
    def own_facts(self) -> None:
        owned: set[int] = set()
        shared: list[
            Definition
        ] = []  # They belong to a function only because of its axes or calls. Other statements may need them, too.
        bindings = BindingGroups(self.scope, self.tensors, self.scope.indices)
        for function in self.functions:
            definitions = definitions_of(function, bindings)
            named = definitions if not function.over_axes else definitions_of(function, bindings, frozenset())
            shared += [candidate for candidate in definitions if candidate not in named]
            claim_definitions(function, definitions, owned)
        bindings.leave_to_callers(self.functions)
        if bindings.left:
            for function in self.functions:
                had = {*map(id, function.all_definitions())}
                further = [other for other in definitions_of(function, bindings) if id(other) not in had]
                shared += further
                claim_definitions(function, further, owned)
            bindings.leave_to_callers(self.functions)
        owned -= {id(candidate) for candidate in self.needed_elsewhere(shared, owned, bindings)} if shared else set()
        for definition in self.tensors:
            if id(definition) in owned:
                continue
            if definition.is_family:
                self.scope.families.append(definition)
            else:
                self.scope.definitions.setdefault(definition.key, []).append(definition)

    def needed_elsewhere(self, these: list[Definition], owned: set[int], bindings: BindingGroups) -> list[Definition]:
        """Return the definitions in `these` that statements outside functions need, directly or indirectly."""
        inside = {id(tensor.statement) for tensor in self.tensors if id(tensor) in owned}
        inside |= {id(function.statement) for function in self.functions}
        statements = [statement for statement in self.scope.program.statements if id(statement) not in inside]
        for signature in [statement for statement in statements if isinstance(statement, nodes.Signature)]:
            statements.remove(signature)  # A signature's left-hand side is not a call.
            statements += [*signature.domain, signature.codomain]  # type: ignore[list-item]

        def needed(uses: Uses) -> list[Definition]:
            meant = {part for key in bindings.needed(uses) for binding in bindings.meant(key) for part in binding}
            return [definition for definition in these if definition in meant]

        return [*reach(needed(uses_of(*statements)), lambda definition: needed(definition.uses))]

    def attach_signatures(self) -> None:
        for function in self.functions:
            signature = self.signatures.get(spelling(function.head), [])
            fitting = [other for other in signature if len(other.domain) == len(function.parameters)]
            function.signature = (fitting or signature or [None])[-1]

    def owner(
        self, position: int, names: Iterable[Any], having: dict[Any, list[FunctionDefinition]]
    ) -> FunctionDefinition | None:
        """Return the nearest preceding function that has one of these names, or None if there is none.

        `having` maps a name to the functions that have it.
        """
        above = [function for name in names for function in having.get(name, ()) if function.position <= position]
        return max(above, key=attrgetter("position"), default=None)

    def attach_declarations(self) -> None:
        typed = group_by_name(self.functions, find_names_to_type)
        defined = self.scope.definitions.keys()
        declarations, self.scope.declarations = self.scope.declarations, []
        for position, name, sets, over in declarations:
            plain = name.key()
            owner = self.owner(position, (plain,), typed)
            if owner is not None and plain not in defined:
                owner.declarations[plain] = sets[0]
                if plain in owner.facts or over is not None or not self.is_used_outside(plain):
                    continue
            self.scope.declarations.append((position, name, sets, over))

    def is_used_outside(self, name: Key) -> bool:
        """Return whether a function's parameter name is also used outside the functions that bind it."""
        bodies = [definition.body for definition in self.scope.all_definitions()]
        bodies += [body for _, body in self.scope.values]
        for function in self.functions:
            if name.base not in function.bound and name not in {
                typed_name.key() for typed_name in list_typed_names(function)
            }:
                bodies += [function.body, *(definition.body for definition in function.all_definitions())]
        return any(name in names_used(body) for body in bodies)

    def attach_sizes(self) -> None:
        bound = group_by_name(self.functions, attrgetter("bound"))
        defining = group_by_name(
            self.functions, lambda function: (definition.position for definition in function.all_definitions())
        )
        at_top = {definition.position for definition in self.scope.all_definitions()}
        for position, fact in self.size_facts:
            if position in defining and position not in at_top:  # It defines a local name, as in h^0 = |ax|.
                for function in defining[position]:
                    function.sizes.append(fact)
                continue
            mentioned = names_in(fact.left) | names_in(fact.right)
            owner = self.owner(position, mentioned, bound)
            (owner.sizes if owner is not None else self.scope.sizes).append(fact)

    def attach_claims(self) -> list[tuple[int, Node]]:
        """Assign each assertion to a function or to the program.

        Return the positions and left-hand sides of the program's assertions without a range or a differential.
        """
        claimed: list[tuple[int, Node]] = []
        bound = group_by_name(self.functions, attrgetter("bound"))
        stated = {definition.name.base for definition in self.tensors}
        stated |= {name.base for _, name, _, _ in self.scope.declarations}
        for position, claim in self.claims:
            mentioned = names_in(claim.left)
            if not isinstance(claim.right, nodes.Set):
                mentioned |= names_in(claim.right)
            owner = self.owner(position, mentioned, bound)
            if owner is not None and not (mentioned & owner.bound) <= stated:
                owner.local_claims.append(claim)
            else:
                self.scope.claims.append(claim)
                if claim.range is None and not any(
                    isinstance(node, nodes.Differential)
                    for node in walk(claim.left)  # The left-hand side has no value.
                ):
                    claimed.append((position, claim.left))
        return claimed


# ---------------------------------------------------------------------------------------------------- where-clauses
def definitions_of(
    function: FunctionDefinition, bindings: BindingGroups, over: frozenset[str] | None = None
) -> list[Definition]:
    """Return the definitions that belong to a function because they use its arguments or the axes `over`.

    `over` defaults to the axes that the function's left-hand side binds. If a name has several definitions, prefer the
    nearest definition below the function, then the nearest definition above it.
    """
    bound = function.bound
    axes = function.over_axes if over is None else over
    parameters = {name.key() for name in (*function.parameters, *function.options)}
    labeled = {key for key in parameters if key.subscript or key.superscript}

    def candidates(key: Key) -> list[BindingGroup]:
        """Return the definitions that a name may refer to, best first.

        Definitions of the exact name come before families.
        """

        def far(binding: BindingGroup) -> tuple[Any, ...]:
            return (
                key not in binding.options,
                binding.position < function.position,
                abs(binding.position - function.position),
            )

        return sorted(bindings.meant(key), key=far)

    touching: dict[int, bool] = {}  # Maps the id of each visited equation to the result of `touches`.

    def touches(definitions: list[Definition]) -> bool:
        """Return whether the definitions use, directly or indirectly, a name or axis that the function binds."""
        users: dict[int, list[int]] = {}
        stack, reached = list(definitions), list[int]()
        while stack:
            definition = stack.pop()
            if id(definition) in touching:
                reached.append(id(definition))
                continue
            needs = bindings.needs(definition)
            is_own = bool(needs.words & bound or axes and axes & definition.uses.axes())
            is_own = is_own or any(key in labeled for key in needs.keys)
            touching[id(definition)] = is_own
            reached.append(id(definition))
            for other in () if is_own else needs.meant:
                users.setdefault(id(other), []).append(id(definition))
                stack.append(other)
        mentioning = [other for other in reached if touching[other]]
        while mentioning:
            for user in users.get(mentioning.pop(), ()):
                if not touching[user]:
                    touching[user] = True
                    mentioning.append(user)
        return any(touching[id(definition)] for definition in definitions)

    verdicts: dict[int, bool] = {}

    def belongs(binding: BindingGroup) -> bool:
        if id(binding) not in verdicts:
            verdicts[id(binding)] = touches([*binding])
        return verdicts[id(binding)]

    taken: dict[int, list[Definition]] = {}
    pending = bindings.needed(function.uses)
    while pending:
        key = pending.pop()
        if key in parameters:
            continue
        binding = next((binding for binding in candidates(key) if belongs(binding)), None)
        if binding is None or id(binding) in taken:
            continue
        whole = taken[id(binding)] = list(binding.parts)
        for groups in binding.options.values():
            whole += next((group for group in groups if len(groups) > 1 and touches(group)), groups[0])
        for definition in whole:
            pending += bindings.needs(definition).keys
    return [definition for whole in taken.values() for definition in whole]


def claim_definitions(function: FunctionDefinition, definitions: Iterable[Definition], owned: set[int]) -> None:
    """Assign definitions to a function and add their ids to `owned`."""
    for definition in definitions:
        owned.add(id(definition))
        if definition.is_family:
            function.families.append(definition)
        else:
            function.facts.setdefault(definition.key, []).append(definition)


def list_typed_names(function: FunctionDefinition) -> tuple[Spelled, ...]:
    return (*function.parameters, *function.options)


def names_used(body: Node) -> set[Key]:
    """Return the names in an expression. For X^2, they are X^2 and X."""
    keys: set[Key] = set()
    waiting: list[Any] = [body]
    while waiting:
        node = waiting.pop()
        name = read_spelling(node)
        if name is None:
            waiting += children(node)
            continue
        keys.add(name.key())
        if isinstance(node, nodes.Superscript):
            waiting.append(node.base)
    return keys


def find_names_to_type(function: FunctionDefinition) -> set[Key]:
    """Return the names in a function that a declaration may describe."""
    names = (*(() if function.signature else function.parameters), *function.options)
    return {*function.facts, *(name.key() for name in names)}


def group_by_name(
    functions: Iterable[FunctionDefinition], names: Callable[[FunctionDefinition], Iterable[Any]]
) -> dict[Any, list[FunctionDefinition]]:
    """Return a map from names to functions. `names` returns the names under which a function is listed."""
    definitions: dict[Any, list[FunctionDefinition]] = {}
    for function in functions:
        for name in names(function):
            definitions.setdefault(name, []).append(function)
    return definitions


# ---------------------------------------------------------------------------------------------------- the value
def value_of(scope: Scope, claimed: list[tuple[int, Node]]) -> tuple[Any, Definition | None]:
    """Return the program's value and, if any, the last unused definition after the value.

    The value is a Definition or an expression, or None if the program has only functions. The second result is None
    unless the value is an expression. `claimed` contains the left-hand sides of the program's assertions and their
    positions.
    """
    bindings = BindingGroups(scope, [*scope.all_definitions()], scope.indices)
    needs = {
        group: set[BindingGroup]().union(*(find_used(bindings, part.uses, part.local) for part in group))
        for group in bindings.groups
    }
    circles = number_components(needs)
    used = {other for group, needed in needs.items() for other in needed if circles[other] != circles[group]}
    used.update(*(find_used(bindings, uses_of(node)) for _, node in scope.values))
    used.update(*(find_used_in(bindings, function) for function in scope.all_functions()))
    members = {
        group for families in bindings.families.values() for family in families for group in bindings.overriding(family)
    }
    groups = [group for group in bindings.groups if group not in members]
    unused = [group for group in groups if group not in used]
    result: list[tuple[int, Any]] = [(group.last.position, group.last) for group in unused if not group.is_size]
    position, last = max(result, key=itemgetter(0), default=(0, None))
    if scope.values:
        asked_at, value = max(scope.values, key=itemgetter(0))
        return value, last if position > asked_at else None
    if last is None and not scope.functions:
        result = [(group.last.position, group.last) for group in unused or groups] or claimed[:1]
        _, last = max(result, key=itemgetter(0), default=(0, None))
    return last, None


def find_used(bindings: BindingGroups, uses: Uses, local: Collection[str] = NOTHING) -> set[BindingGroup]:
    """Return the definitions that expressions use.

    Skip `local` names, because they have another meaning in the expressions.
    """
    return {group for key in bindings.needed(uses, local) for group in bindings.meant(key)}


def find_used_in(bindings: BindingGroups, function: FunctionDefinition) -> set[BindingGroup]:
    """Return the definitions that a function uses.

    Skip names that have another meaning in the function.
    """
    keys = {name.key() for name in (*function.parameters, *function.options)} | set(function.facts)
    words = {key.base for key in keys if key == Key(key.base)} | function.bound
    words |= {family.name.base for family in function.families}
    groups = find_used(bindings, uses_of(function.body))
    groups.update(*(find_used(bindings, part.uses, part.local) for part in function.all_definitions()))
    return groups.difference(*(bindings.exact.get(key, ()) for key in {*keys, *map(Key, words)}))
