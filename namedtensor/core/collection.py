"""Python's collector of garbage, paused while a formula is planned: what is made there lives until it is done.

A pass of it looks through tens of thousands of new objects in vain, and takes them for old ones, which makes full passes more
frequent; one of these takes several times as long as a plan.
"""

from __future__ import annotations

import gc
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


class collection_paused:
    """A context without collections; the last thread that leaves one allows them again, where they were allowed."""

    inside: int = 0
    before: bool = False
    lock: AbstractContextManager[bool] = Lock()

    def __enter__(self) -> None:
        with collection_paused.lock:
            if collection_paused.inside == 0:
                collection_paused.before = gc.isenabled()
                gc.disable()
            collection_paused.inside += 1

    def __exit__(self, *problem: Any) -> None:
        with collection_paused.lock:
            collection_paused.inside -= 1
            if collection_paused.inside == 0 and collection_paused.before:
                gc.enable()
