"""Interleaved runs and medians of ratios: what other work on a machine adds, it adds to both sides."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable


def seconds(run: Callable[[], object], repeat: int = 1) -> float:
    """The time of one call, the mean of `repeat` in a row."""
    start = time.perf_counter()
    for _ in range(repeat):
        run()
    return (time.perf_counter() - start) / repeat


def compare(ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 60, repeat: int = 200):
    """(median of our time over theirs, our best time, their best time), the two measured in turn."""
    for run in (ours, theirs):
        run()
    pairs = [(seconds(ours, repeat), seconds(theirs, repeat)) for _ in range(rounds)]
    ratio = statistics.median(left / right for left, right in pairs)
    return ratio, min(left for left, _ in pairs), min(right for _, right in pairs)


def best(run: Callable[[], object], rounds: int = 100, repeat: int = 1) -> float:
    return min(seconds(run, repeat) for _ in range(rounds))


def processor_seconds(code: str, rounds: int = 9) -> float:
    """The processor's time for a fresh Python that runs `code`: what waiting for other work does not change."""
    import resource

    result = []
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    compiled |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # whose waiting would be counted
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True, env=compiled)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        result.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(result)
