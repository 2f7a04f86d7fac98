"""Limits on what a formula may use, so that a slip of the pen does not exhaust a machine. Passing one is a value error."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from threading import Lock
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError
from grammar.lengths import LITERAL, TEXT

from .kinds import as_number

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


@dataclass(frozen=True)
class Limits:
    """`nesting` of brackets and calls, numbers in the `literal`s of a text, bytes of one `result`, `steps` of a recurrence or sum,
    characters of a `text`, `pieces` of a formula and what is made of them, where calls, sums and recurrences that are
    written out, and derivatives make more of them than the text has characters.

    >>> Limits(steps=10).steps
    10
    """

    nesting: int = 200
    literal: int = LITERAL
    result: int = 4 * 2**30
    steps: int = 10**6
    text: int = TEXT
    pieces: int = 5 * 10**4

    def __post_init__(self) -> None:
        for each in fields(self):
            as_number(getattr(self, each.name), f"the limit {each.name}", 0, f"write Limits({each.name}=10**6)")


DEFAULT = Limits()
HEADROOM = 20_000  # nested calls of Python


class recursion_headroom:
    """Room for deep trees: Python's own limit on nested calls is about 1000, a formula of 200 brackets may need more.

    The limit is one of all threads: the first that needs room raises it, the last that leaves sets it back.
    """

    inside: int = 0
    before: int = 0
    lock: AbstractContextManager[bool] = Lock()

    def __init__(self, source: str):
        self.source: str = source

    def __enter__(self) -> None:
        with recursion_headroom.lock:
            if recursion_headroom.inside == 0:
                recursion_headroom.before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(recursion_headroom.before, HEADROOM))
            recursion_headroom.inside += 1

    def __exit__(self, *problem: Any) -> None:
        with recursion_headroom.lock:
            recursion_headroom.inside -= 1
            if recursion_headroom.inside == 0:
                sys.setrecursionlimit(recursion_headroom.before)
        if problem[0] is RecursionError:
            raise NotationError(
                404,
                "this formula nests too deep",
                self.source,
                (0, len(self.source)),
                hint="name a part by an equation of its own",
            ) from None
