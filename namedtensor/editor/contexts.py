"""The context of a statement, that is, the definitions and types in its program on which it depends.

A context contains functions with their definitions, and tensors with their types.

    Y = Attention(Q, K)       Attention(Q, K) = …;  Q ∈ ℝ^{seq × key};  K ∈ ℝ^{seq × key}

With its context, a changed statement can be checked separately, even in a long program.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from grammar import nodes

from ..documents.notation import names_in
from ..scope.heads import function_head, head_names
from ..scope.names import plain_key
from .statements import StatementText, statement_at

MAX_STATEMENTS = 80  # of a context


class Contexts:
    """The statements of a checked program, indexed by the names that they define."""

    def __init__(self, statements: list[StatementText], tree: nodes.Program, types: Mapping[str, str]):
        self.statements = statements
        self.trees: list[list[Any]] = [[] for _ in statements]
        self.defining: dict[str, list[int]] = {}
        self.of_sizes: list[int] = []
        self.functions: frozenset[str] = frozenset()
        self.tensors: frozenset[str] = frozenset()
        for statement in tree.statements:
            at = statement_at(statements, statement.span)
            if at is not None:
                self._add(at, statement)
        self.types: dict[str, list[str]] = {}  # of the names that equations define, declarations
        for name, text in types.items():
            self.types.setdefault(plain_key(name).base, []).append(f"{name} ∈ {text}")

    def _add(self, at: int, statement: Any) -> None:
        self.trees[at].append(statement)
        head = function_head(statement)
        names = head_names(statement)
        if head is not None:
            self.functions |= names
        else:
            self.tensors |= names
        for name in names:
            places = self.defining.setdefault(name, [])
            if at not in places:
                places.append(at)
        if any(isinstance(side, nodes.Size) for side in getattr(statement, "sides", ())):
            self.of_sizes.append(at)

    def of(self, changed: nodes.Program, unchanged: Collection[int]) -> str:
        """Return the context of a changed statement as source text.

        It consists of unchanged statements, and of declarations with types that replace others.
        """
        defined = {name for statement in changed.statements for name in head_names(statement)}
        chosen: dict[int, None] = {at: None for at in self.of_sizes if at in unchanged}
        declared: dict[str, None] = {}
        waiting = [
            *names_in(changed),
            *(name for at in chosen for other in self.trees[at] for name in names_in(other)),
        ]
        seen: set[str] = set()
        while waiting and len(chosen) < MAX_STATEMENTS:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for at in self.defining.get(name, ()):
                if at not in unchanged or self._is_value(at):
                    declared |= dict.fromkeys(() if name in defined else self.types.get(name, ()))
                elif at not in chosen:
                    chosen[at] = None
                    waiting += [other for statement in self.trees[at] for other in names_in(statement)]
        texts = [self.statements[at].text for at in sorted(chosen)]
        stated = {name for at in chosen for other in self.trees[at] for name in head_names(other)}
        return "\n".join(
            [*texts, *(other for other in declared if plain_key(other.partition(" ∈ ")[0]).base not in stated)]
        )

    def _is_value(self, at: int) -> bool:
        """Return whether a statement defines only tensors, so that a declaration of their types can replace it."""
        return all(
            isinstance(statement, (nodes.Equation, nodes.Update)) and function_head(statement) is None
            for statement in self.trees[at]
        )
