"""Accounting of one simplification: the laws that it used, how often, and what is left of its limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .forms import Head

LIMIT = 200_000  # rewrites


class TooLong(Exception):
    """More rewrites than the limit allows."""


class Work:
    """`proving`: nothing but what holds wherever both sides have a value, and every bracket is multiplied out."""

    def __init__(self, proving: bool = False, limit: int = LIMIT):
        self.proving, self.limit, self.spent = proving, limit, 0
        self.laws: Counter[str] = Counter()
        self.made: dict[str, Any] = {}  # the axes that operators make as they are written, with their sizes
        self.numbered: dict[str, Any] = {}  # the summed axes whose size is a number, as they are named
        self.sums: dict[
            Head, tuple[str, tuple[int, ...]]
        ] = {}  # names of a softmax and its kin, with the places of its axes

    def spend(self, amount: int = 1) -> None:
        self.spent += amount
        if self.spent > self.limit:
            raise TooLong(f"this takes more than {self.limit} rewrites")


_WORK: ContextVar[Work | None] = ContextVar("work", default=None)


def current() -> Work:
    return _WORK.get() or Work()


def used(law: str) -> None:
    """Count one use of a law."""
    work = _WORK.get()
    if work is not None:
        work.laws[law] += 1


@contextmanager
def working(proving: bool = False, limit: int = LIMIT) -> Iterator[Work]:
    work = Work(proving, limit)
    token = _WORK.set(work)
    try:
        yield work
    finally:
        _WORK.reset(token)
