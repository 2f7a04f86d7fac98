"""Let threads share caches, and let a process fork while other threads use the package."""

import os
import sys
from collections.abc import Callable
from importlib import _bootstrap  # type: ignore[attr-defined]  # Python has no public list of imports in progress
from threading import RLock, get_ident
from time import monotonic, sleep
from typing import Any, TypeVar

Result = TypeVar("Result")

CACHES = RLock()
NAMES = RLock()  # is held while a public name of the package is loaded: its modules import each other
IMPORTED = {
    "grammar",
    "namedtensor",
    "transformer",
    "lark",
    "numpy",
    "torch",
    "jax",
    "jaxlib",
} | sys.stdlib_module_names
IMPORT_SECONDS = 10


def locked(action: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function while the lock of the caches is held."""
    # On one line: a tracer may raise between the lines of a block and its end, and the lock would stay taken.
    with CACHES: return action(*arguments)  # noqa: E701  # fmt: skip


def other_threads_import() -> bool:
    """Return whether another thread imports a module that this package may import within a function."""
    locks = ((name, reference()) for name, reference in [*getattr(_bootstrap, "_module_locks", {}).items()])
    return any(
        lock is not None and lock.owner not in (None, get_ident()) and name.partition(".")[0] in IMPORTED
        for name, lock in locks
    )


def _prepare_fork() -> None:
    """Wait until no other thread imports or loads a public name, and hold both locks.

    Python has a lock for each module that is being imported. A child that inherits a held lock would wait forever at
    its own import of that module.
    """
    end = monotonic() + IMPORT_SECONDS
    while monotonic() < end:
        if not other_threads_import() and NAMES.acquire(blocking=False):
            break
        sleep(0.001)
    else:
        NAMES.acquire()
    CACHES.acquire()


def _end_fork() -> None:
    CACHES.release()
    NAMES.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_prepare_fork, after_in_parent=_end_fork, after_in_child=_end_fork)
