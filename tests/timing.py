"""A limit of processor time, without the garbage collector, which takes seconds where thousands of tests ran before."""

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

WHILE_TRACED = 5  # times as much, where coverage is measured


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Assert that the body takes at most this much processor time of the process."""
    was_enabled = gc.isenabled()
    gc.disable()
    start = time.process_time()
    try:
        yield
        taken = time.process_time() - start
    finally:
        if was_enabled:
            gc.enable()
    assert taken < seconds * (WHILE_TRACED if sys.gettrace() else 1)
