"""Ownership: which function a definition, signature, declaration, size or assertion belongs to; the rest is the program's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from grammar import nodes
from grammar.nodes import Node
from grammar.traversal import children, names_in

from .names import Key, Spelled, spelled, walk
from .statements import Statements, spelling
from .symbols import Definition, FunctionDefinition
from .where_clauses import BindingGroups, definitions_of, expressions_of


class Ownership(Statements):
    def own_facts(self) -> None:
        owned: set[int] = set()
        shared: list[
            Definition
        ] = []  # They belong to a function for its axes or calls alone, and others may need them.
        bindings = BindingGroups(self.tensors, self.scope.indices)
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
        """Return the definitions that a statement outside all functions needs, directly or through another of them."""
        inside = {id(tensor.statement) for tensor in self.tensors if id(tensor) in owned}
        inside |= {id(function.statement) for function in self.functions}
        statements = [statement for statement in self.scope.program.statements if id(statement) not in inside]
        for signature in [statement for statement in statements if isinstance(statement, nodes.Signature)]:
            statements.remove(signature)  # Its head is no call.
            statements += [*signature.domain, signature.codomain]  # type: ignore[list-item]
        pending = bindings.needed(statements)  # type: ignore[arg-type]
        definitions: dict[int, Definition] = {}
        while pending:
            meant = {id(definition) for binding in bindings.meant(pending.pop()) for definition in binding}
            for definition in these:
                if id(definition) in meant and id(definition) not in definitions:
                    definitions[id(definition)] = definition
                    pending += bindings.needed(expressions_of(definition))
        return list(definitions.values())

    def attach_signatures(self) -> None:
        for function in self.functions:
            signature = self.signatures.get(spelling(function.head), [])
            fitting = [other for other in signature if len(other.domain) == len(function.parameters)]
            function.signature = (fitting or signature or [None])[-1]

    def owner(
        self, position: int, names: Iterable[Any], having: dict[Any, list[FunctionDefinition]]
    ) -> FunctionDefinition | None:
        """The nearest function above a position that has one of these names."""
        above = [function for name in names for function in having.get(name, ()) if function.position <= position]
        return max(above, key=attrgetter("position"), default=None)

    def attach_declarations(self) -> None:
        typed = gathered(self.functions, typed_by)
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
        """Whether a name that the head of a function binds is used where no head binds it: there it is the program's own."""
        bodies = [definition.body for definition in self.scope.all_definitions()]
        bodies += [body for _, body in self.scope.values]
        for function in self.functions:
            if name.base not in function.bound and name not in {
                typed_name.key() for typed_name in typed_names(function)
            }:
                bodies += [function.body, *(definition.body for definition in function.all_definitions())]
        return any(name in names_used(body) for body in bodies)

    def attach_sizes(self) -> None:
        bound = gathered(self.functions, attrgetter("bound"))
        defining = gathered(
            self.functions, lambda function: (definition.position for definition in function.all_definitions())
        )
        at_top = {definition.position for definition in self.scope.all_definitions()}
        for position, fact in self.size_facts:
            if position in defining and position not in at_top:  # it defines a number of the functions', h^0 = |ax|
                for function in defining[position]:
                    function.sizes.append(fact)
                continue
            mentioned = names_in(fact.left) | names_in(fact.right)
            owner = self.owner(position, mentioned, bound)
            (owner.sizes if owner is not None else self.scope.sizes).append(fact)

    def attach_claims(self) -> list[tuple[int, Node]]:
        """Give each assertion to its function, or to the program; the left sides of the program's, which may be its value."""
        claimed: list[tuple[int, Node]] = []
        bound = gathered(self.functions, attrgetter("bound"))
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
                    for node in walk(claim.left)  # which has no value
                ):
                    claimed.append((position, claim.left))
        return claimed


def claim_definitions(function: FunctionDefinition, definitions: Iterable[Definition], owned: set[int]) -> None:
    """Give definitions to a function, and note that they are `owned`."""
    for definition in definitions:
        owned.add(id(definition))
        if definition.is_family:
            function.families.append(definition)
        else:
            function.facts.setdefault(definition.key, []).append(definition)


def typed_names(function: FunctionDefinition) -> tuple[Spelled, ...]:
    return (*function.parameters, *function.options)


def names_used(body: Node) -> set[Key]:
    """The names that appear in an expression: of W_1 that, of X^2 also X."""
    keys: set[Key] = set()
    waiting: list[Any] = [body]
    while waiting:
        node = waiting.pop()
        name = spelled(node)
        if name is None:
            waiting += children(node)
            continue
        keys.add(name.key())
        if isinstance(node, nodes.Superscript):
            waiting.append(node.base)
    return keys


def typed_by(function: FunctionDefinition) -> set[Key]:
    """The names whose declaration can be that of a function's parameter or fact, which no signature types."""
    names = (*(() if function.signature else function.parameters), *function.options)
    return {*function.facts, *(name.key() for name in names)}


def gathered(
    functions: Iterable[FunctionDefinition], names: Callable[[FunctionDefinition], Iterable[Any]]
) -> dict[Any, list[FunctionDefinition]]:
    """The functions by the names that each has."""
    definitions: dict[Any, list[FunctionDefinition]] = {}
    for function in functions:
        for name in names(function):
            definitions.setdefault(name, []).append(function)
    return definitions
