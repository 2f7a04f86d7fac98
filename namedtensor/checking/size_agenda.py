"""The agenda of one search for sizes: what had no value, and which values make it worth another try."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypeAlias

from ..terms.environment import Environment
from .size_facts import Symbol

SearchKey: TypeAlias = tuple[Any, ...]  # a symbol, its environment, and whether types count
Search: TypeAlias = tuple[Symbol, Environment]


class SizeAgenda:
    """Failed searches by the symbols that share a size equation with them.

    A failed search is tried again once for each new value of such a symbol, so their number is bounded by that of pairs.
    """

    def __init__(self):
        self.failed: dict[SearchKey, Search] = {}
        self.waiting: dict[tuple[Symbol, bool], list[SearchKey]] = defaultdict(list)
        self.announced: set[tuple[SearchKey, bool]] = set()
        self.pending: list[Search] = []

    def fail(self, key: SearchKey, env: Environment, related: Iterable[Symbol]) -> None:
        """Record that a search found nothing."""
        symbol, _, infers = key
        self.failed[key] = (symbol, env)
        for other in related:
            self.waiting[other, infers].append(key)

    def announce(self, key: SearchKey, is_number: bool) -> None:
        """Schedule the failed searches that a value may help, unless it was announced before."""
        symbol, _, infers = key
        if (key, is_number) in self.announced:
            return
        self.announced.add((key, is_number))
        for failed in self.waiting.pop((symbol, infers), ()):
            search = self.failed.pop(failed, None)
            if search is not None:
                self.pending.append(search)

    def clear(self) -> None:
        for record in (self.failed, self.waiting, self.announced, self.pending):
            record.clear()
