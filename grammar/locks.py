"""The locks that the threads of a process share. A fork waits for them, so that no child inherits one taken by a thread
that it does not have.

Python has a lock for each module while that is imported, and a child inherits it, too: it would wait forever at its own import
of the module. So an import inside a function is under `LOADING`, and a fork waits until it is whole:

    with LOADING, all_or_none():
        from .latex.lexer import tokenize

If such an import is interrupted, all modules that it imported are dropped and the next import starts over: a complete
module may refer to an incomplete one, which would then exist twice.

Contract: no module takes `LOADING` while it is imported itself, for the thread that holds it may wait for that module. `CACHES`
is taken last, and for a few look-ups only.
"""

from __future__ import annotations

import logging  # noqa: F401  its handlers of forks are registered before ours, so that its lock is taken after LOADING
import os
import sys
from collections.abc import Callable
from threading import RLock
from typing import Any, TypeVar

Result = TypeVar("Result")

LOADING = RLock()
CACHES = RLock()


def locked(action: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function while the lock of the caches is held."""
    # On one line: a tracer may raise between the lines of a block and its end, and the lock would stay taken.
    with CACHES: return action(*arguments)  # noqa: E701  # fmt: skip


class all_or_none:
    """A context of imports: where one fails, no module of ours stays that came with it; one that is missing drops nothing."""

    __slots__ = ("count",)

    def __enter__(self) -> None:
        self.count = len(sys.modules)

    def __exit__(self, kind: type[BaseException] | None, *about: object) -> None:
        if kind is None or issubclass(kind, ImportError):
            return
        for name in [*sys.modules][self.count :]:  # they are in import order
            package, _, text = name.rpartition(".")
            if name.startswith(("grammar.", "namedtensor.", "transformer.")):
                module = sys.modules.pop(name, None)
                if getattr(sys.modules.get(package), text, None) is module:
                    delattr(sys.modules[package], text)


def _take_all() -> None:
    LOADING.acquire()
    CACHES.acquire()


def _release_all() -> None:
    CACHES.release()
    LOADING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_all, after_in_parent=_release_all, after_in_child=_release_all)
