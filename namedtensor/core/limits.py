"""Limits on what a formula may use, so that a mistake does not exhaust a machine. Exceeding one is a value error."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, fields
from typing import Any
from weakref import WeakSet

from grammar.errors import NotationError
from grammar.lengths import MAX_LITERAL_NUMBERS, MAX_TEXT_CHARS
from grammar.locks import locked

from .kinds import as_number


@dataclass(frozen=True)
class Limits:
    """Limits on the time and the memory that one formula may use.

    Attributes
    ----------
    max_nesting : int
        Depth of nested brackets and calls (default: 200).
    max_literal_elements : int
        Elements in the tensor literals of one formula.
    max_result_bytes : int
        Bytes of one result (default: 4 GiB).
    max_steps : int
        Steps of a recurrence, terms of a sum (default: 10**6).
    max_source_chars : int
        Characters of the source.
    max_expanded_nodes : int
        Nodes of the formula after calls, sums, recurrences and derivatives are expanded, where they add more than the source has
        characters (default: 50,000).

    Examples
    --------
    >>> Limits(max_steps=10).max_steps
    10
    """

    max_nesting: int = 200
    max_literal_elements: int = MAX_LITERAL_NUMBERS
    max_result_bytes: int = 4 * 2**30
    max_steps: int = 10**6
    max_source_chars: int = MAX_TEXT_CHARS
    max_expanded_nodes: int = 5 * 10**4

    def __post_init__(self) -> None:
        for each in fields(self):
            as_number(getattr(self, each.name), f"the limit {each.name}", 0, f"write Limits({each.name}=10**6)")


DEFAULT = Limits()
HEADROOM = 20_000  # nested calls of Python


class recursion_headroom:
    """Raise Python's recursion limit for deep trees: a formula of 200 brackets may need more than the default of 1000.

    All threads share the limit: the first that enters raises it, the last that leaves restores it. An interrupted
    thread is counted only while it lives, and a forked child does not count the threads of its parent.
    """

    inside: WeakSet[recursion_headroom] = WeakSet()
    before: int = 0  # the limit to set back; 0 where it is not raised

    def __init__(self, source: str | None = None):
        self.source: str | None = source

    def __enter__(self) -> None:
        locked(self._enter)

    def _enter(self) -> None:
        recursion_headroom.inside.add(self)
        limit = sys.getrecursionlimit()
        if limit < HEADROOM:
            recursion_headroom.before = limit
            sys.setrecursionlimit(HEADROOM)

    def __exit__(self, *problem: Any) -> None:
        locked(self._leave)
        if problem[0] is RecursionError:
            raise NotationError(
                404,
                "the formula is nested too deep",
                self.source,
                None if self.source is None else (0, len(self.source)),
                hint="define a part in an equation of its own",
            ) from None

    def _leave(self) -> None:
        recursion_headroom.inside.discard(self)
        if recursion_headroom.before and not recursion_headroom.inside:
            sys.setrecursionlimit(recursion_headroom.before)
            recursion_headroom.before = 0

    @classmethod
    def _after_fork(cls) -> None:
        """In a child the threads of its parent do not run; the one that forked goes on, inside or not."""
        cls.inside = WeakSet()
        if cls.before:
            sys.setrecursionlimit(cls.before)
            cls.before = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=recursion_headroom._after_fork)  # pyright: ignore[reportPrivateUsage]
