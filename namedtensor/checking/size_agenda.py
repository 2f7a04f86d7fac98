"""Schedule searches for sizes: the failed searches, and the values for which they wait."""

# pyright: reportUnknownVariableType=false
# The empty dicts and lists of new records have no known type.
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..terms.environment import Environment
from .size_facts import Symbol

SearchKey: TypeAlias = tuple[Any, ...]  # A symbol, its environment, and whether inferred types count.
Search: TypeAlias = tuple[Symbol, Environment]


@dataclass
class SizeAgenda:
    """Failed searches, indexed by the symbols in the same size equations.

    A failed search is retried once per new value of such a symbol. The number of attempts is therefore at most
    proportional to the number of pairs of a search and a symbol.
    """

    failed: dict[SearchKey, Search] = field(default_factory=dict)
    waiting: dict[tuple[Symbol, bool], list[SearchKey]] = field(default_factory=dict)
    announced: set[tuple[SearchKey, bool]] = field(default_factory=set)
    pending: list[Search] = field(default_factory=list)

    def fail(self, key: SearchKey, env: Environment, related: Iterable[Symbol]) -> None:
        """Record a failed search and the symbols whose values may let it succeed."""
        symbol, _, infers = key
        self.failed[key] = (symbol, env)
        for other in related:
            self.waiting.setdefault((other, infers), []).append(key)

    def announce(self, key: SearchKey, is_number: bool) -> None:
        """Schedule each failed search that waits for a new value, unless the value was announced before."""
        symbol, _, infers = key
        if (key, is_number) in self.announced:
            return
        self.announced.add((key, is_number))
        for failed in self.waiting.pop((symbol, infers), ()):
            search = self.failed.pop(failed, None)
            if search is not None:
                self.pending.append(search)
