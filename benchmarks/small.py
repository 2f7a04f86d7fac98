"""Small attention beside NumPy by hand, in processes of its own: one alone, and one for each core at the same time.

Each process measures both ways of computing in turns, without a pause and with a rest before each call. A row is the median
over the processes of their median ratios; the control is the ratio of one half of the calls by hand to the other half.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from .attention import by_formula, by_hand, inputs
from .work import BY_HAND

SIZES = ((4, 128, 32), (8, 64, 64), (8, 128, 64), (8, 192, 64))  # heads, tokens, features of a key
PROCESSES, ROUNDS, RESTED_ROUNDS = 9, 150, 12
REST = 0.12  # seconds, longer than threads wait for work
STATES = {"call after call": (0.0, ROUNDS), "after a rest": (REST, RESTED_ROUNDS)}
MAX_RATIO = 0.8
Ratios = dict[str, tuple[float, float]]  # by the figure: ours over that by hand, and the control


def seconds(call: Callable[[], object], rest: float) -> float:
    if rest:
        time.sleep(rest)
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def ratios() -> Ratios:
    """The ratios in this process."""
    result: Ratios = {}
    for heads, seq, key in SIZES:
        given = inputs(heads, seq, key, 1)
        sides = by_formula.make(**given), by_hand.make(**given)
        np.testing.assert_allclose(*(side.answer(side.call()) for side in sides), rtol=1e-3, atol=1e-5)
        ours, theirs = (side.call for side in sides)
        for call in (ours, theirs) * 10:
            call()
        for state, (rest, rounds) in STATES.items():
            calls = [(ours, theirs), (theirs, ours)] * (rounds // 2)
            times = [{call: seconds(call, rest) for call in pair} for pair in calls]
            between = statistics.median(pair[ours] / pair[theirs] for pair in times)
            control = [statistics.median(pair[theirs] for pair in times[start::2]) for start in (0, 1)]
            result[f"attention, heads {heads}, key {key}, seq {seq}, {state}"] = between, control[0] / control[1]
    return result


def in_processes(at_once: int, count: int = PROCESSES) -> list[Ratios]:
    """The ratios in so many processes, some of them at the same time."""
    command = [sys.executable, "-m", "benchmarks.small"]

    def measured(_: int) -> Ratios:
        folder = Path(__file__).parent.parent
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout)

    with ThreadPoolExecutor(at_once) as threads:
        return [*threads.map(measured, range(count))]


def rows(count: int = PROCESSES) -> list[dict]:
    """A row for each size and state, alone and with a process for each core, and their control."""
    result = []
    for title, at_once in (("", 1), (", one process for each core", os.cpu_count() or 1)):
        measurements = in_processes(at_once, -(-count // at_once) * at_once)
        for figure in measurements[0]:
            both = zip(*(measured[figure] for measured in measurements))
            for name, values, bar in zip((figure + title, f"{figure}{title}: control"), both, (MAX_RATIO, None)):
                value = statistics.median(values)
                result.append({"figure": name, "small": True, "value": value, "unit": f"× {BY_HAND}", "bar": bar})
    return result


if __name__ == "__main__":
    print(json.dumps(ratios()))
