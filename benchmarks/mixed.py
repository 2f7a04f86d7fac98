"""A formula in a program that does other work: after a rest, right after a product of NumPy's, in turns with the work by hand.

OpenBLAS's threads ask for work in a loop for a while after a product, so who comes right after one may find a core taken.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .work import BY_HAND, Times

ROUNDS = 15
REST = 0.15  # seconds, longer than threads wait
RESTED, AFTER, IN_TURNS = "after a rest", "right after a product", "call after call"
SIDES = {"block": "namedtensor", "attention-512": "namedtensor, formula"}
NAMES = {"block": "pre-LN block", "attention-512": "attention, heads 8, key 64, seq 512"}
BARS = {
    ("block", 2, RESTED): 0.85, ("block", 2, IN_TURNS): 1.0, ("block", 1, IN_TURNS): 1.0, ("attention-512", 2, IN_TURNS): 0.8,
}  # fmt: skip
MOST_AFTER = 1.05  # times a call after a rest


def timed(call: Callable[[], Any]) -> Times:
    processor, start = time.process_time(), time.perf_counter()
    call()
    end = time.perf_counter()
    return Times(end - start, time.process_time() - processor)


def rounds(work: str) -> dict[str, list[tuple[Times, Times]]]:
    """For each state the times of ours and of the work by hand, round by round."""
    import numpy as np

    from .works import WORKS

    inputs = WORKS[work].inputs(**WORKS[work].sizes)
    calls = [WORKS[work].side(name).make(**inputs).call for name in (SIDES[work], BY_HAND)]
    a = np.random.default_rng(0).standard_normal((1000, 1000), dtype=np.float32)
    before = {RESTED: lambda: time.sleep(REST), AFTER: lambda: a @ a, IN_TURNS: lambda: None}
    for call in calls * 2:
        call()
    result: dict[str, list[tuple[Times, Times]]] = {state: [] for state in before}
    for _ in range(ROUNDS):
        for state, prepare in before.items():
            pair = []
            for call in calls:
                prepare()
                pair.append(timed(call))
            result[state].append((pair[0], pair[1]))
    return result


def measured(work: str, cores: int) -> dict[str, list[tuple[Times, Times]]]:
    """The same by a process that has so many cores from its beginning."""
    command = [sys.executable, "-m", "benchmarks.mixed", work]
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:cores])
    try:
        text = subprocess.run(
            command, check=True, capture_output=True, text=True, cwd=Path(__file__).parent.parent
        ).stdout
    finally:
        os.sched_setaffinity(0, every)
    return {state: [(Times(*x), Times(*y)) for x, y in pairs] for state, pairs in json.loads(text).items()}


def rows() -> list[dict]:
    """A row for each work, number of cores and state, and one for what a product just before costs."""
    result = []
    if not hasattr(os, "sched_setaffinity"):
        return result
    for work in SIDES:
        for cores in (2, 1):
            times = measured(work, cores)
            title = f"{NAMES[work]}, {'one core' if cores == 1 else 'two cores'}"
            for state, pairs in times.items():
                ours, theirs = zip(*pairs)
                result.append(
                    {
                        "figure": f"{title}, {state}", "mixed": True, "unit": f"× {BY_HAND}",
                        "value": statistics.median(x.seconds / y.seconds for x, y in pairs),
                        "bar": BARS.get((work, cores, state)), "seconds": middle(ours, 0), "processor": middle(ours, 1),
                        "by_hand": [middle(theirs, 0), middle(theirs, 1)],
                    }
                )  # fmt: skip
            if cores > 1:
                ratio = middle([x for x, _ in times[AFTER]], 0) / middle([x for x, _ in times[RESTED]], 0)
                bar = MOST_AFTER if work == "block" else None
                unit = "× after a rest"
                result.append({"figure": f"{title}, {AFTER}", "mixed": True, "value": ratio, "unit": unit, "bar": bar})
    return result


def middle(times: Any, which: int) -> float:
    return statistics.median(time_[which] for time_ in times)


def main() -> None:
    print(json.dumps(rounds(sys.argv[1])))


if __name__ == "__main__":
    main()
