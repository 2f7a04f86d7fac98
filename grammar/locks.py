"""Lock shared caches, and let a process fork safely while other threads use the package."""

import _imp
import logging  # noqa: F401  # Hooks run last in, first out: its lock must be taken after ours, or an import may wait for it.
import os
import sys
from collections.abc import Callable
from importlib import _bootstrap  # type: ignore[attr-defined]  # Python has no public list of imports in progress
from threading import RLock, get_ident
from time import monotonic, sleep
from typing import Any, TypeVar

Result = TypeVar("Result")

CACHES = RLock()
NAMES = RLock()  # Held during the load of a public name, because the modules import each other.
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
_FORKING: list[Callable[[], None]] = []  # Functions that release the locks after a fork.


def call_with_lock(action: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function while holding the cache lock, and return its result."""
    # On one line: a tracer may raise between two lines, and then the lock would never be released.
    with CACHES: return action(*arguments)  # noqa: E701  # fmt: skip


def other_threads_import() -> bool:
    """Return whether another thread is importing a module that this package may import inside a function.

    Python keeps a lock for each module that is being imported. A lock without an owner also indicates an import,
    because Python creates the lock before the thread acquires it.
    """
    locks = ((name, reference()) for name, reference in [*getattr(_bootstrap, "_module_locks", {}).items()])
    return any(
        lock is not None and lock.owner != get_ident() and name.partition(".")[0] in IMPORTED for name, lock in locks
    )


def _prepare_fork() -> None:
    """Acquire the locks after all other threads have finished imports and loads of public names.

    If a child process inherited a module lock that another thread holds, it would wait forever when it imports that
    module. No import can begin while the import lock is held. After `IMPORT_SECONDS`, the process forks even if an
    import is in progress, because the import may be waiting for the fork. On a busy machine, an import can take longer,
    so each new module restarts the time limit.
    """
    modules, end = -1, 0.0
    while True:
        if len(sys.modules) != modules:
            modules, end = len(sys.modules), monotonic() + IMPORT_SECONDS
        is_late = monotonic() > end
        is_loading = not NAMES.acquire(blocking=False)
        if not is_loading:
            _FORKING.append(NAMES.release)
        CACHES.acquire()
        _imp.acquire_lock()
        _FORKING.extend((CACHES.release, _imp.release_lock))
        if is_late or not (is_loading or other_threads_import()):
            return
        _end_fork()  # An import may wait for one of the locks.
        sleep(0.001)


def _end_fork() -> None:
    while _FORKING:
        _FORKING.pop()()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_prepare_fork, after_in_parent=_end_fork, after_in_child=_end_fork)
