"""What a length costs that a model was never called with, beside its run, and what many lengths leave in memory.

Measured in three processes, of which each length's median is taken: from the call to a function that is ready to run, with its
masks; the run itself is left out.
A full collection of Python's garbage, which falls on some call of a process now and then, is made before each length.
"""

from __future__ import annotations

import gc
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .growth import calls_of

LAYERS = 30
SIZES = {
    "Llama": {"vocab": 50, "chans": 576, "hidden": 1536, "groups": 3, "queries": 3, "pair": 32, "val": 64},
    "GPT2": {"vocab": 50, "chans": 64, "hidden": 128, "heads": 4, "key": 16, "val": 16, "place": 1100},
}  # the widths of SmolLM, and small ones
LENGTHS = (
    31, 36, 1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 300, 512, 513, 1000, 40, 41, 50, 100, 5, 700, 20, 900, 33, 6, 200, 128,
)  # fmt: skip
MANY = 1000
PROCESSES = 3
LONGEST = 1024
MOST, MEMORY = 20, 256  # milliseconds of a length; MB of so many lengths


def lengths(kind: str) -> dict[str, Any]:
    """The milliseconds of the processor for the first length and for each later one, the calls of Python functions of the
    last of all, and the MB that many lengths leave behind."""
    import numpy as np

    import namedtensor as nt
    import transformer
    from namedtensor.programs.executable import CompiledPlan

    def ids(length: int) -> Any:
        return nt.tensor(np.arange(length) % SIZES[kind]["vocab"], "seq")

    def ready(self: CompiledPlan, *arrays: Any) -> None:
        self.function.run  # noqa: B018

    model = getattr(transformer, kind).init(0, SIZES[kind] | {"L": LAYERS}, "float32")
    CompiledPlan.__call__ = ready  # type: ignore[method-assign]
    spent = [timed(model, ids(length)) for length in LENGTHS]
    calls = calls_of(lambda: model(ids(LENGTHS[0] + 1)))
    order = [length for length in range(1, LONGEST) if length not in LENGTHS]
    before = resident()
    for length in random.Random(0).sample(order, MANY - len(LENGTHS)):
        model(ids(length))
    return {"first": spent[0], "later": spent[1:], "calls": calls, "memory": resident() - before}


def timed(model: Any, given: Any) -> float:
    gc.collect()
    start = time.thread_time()
    model(given)
    return 1e3 * (time.thread_time() - start)


def resident() -> float:
    """The MB that this process has in memory; 0 where that is not known."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def rows() -> list[dict]:
    """For each model the dearest and the middle one of its new lengths, and the memory of many."""
    rows = []
    for kind in SIZES:
        runs = [measured(kind) for _ in range(PROCESSES)]
        result, title = runs[0], f"{kind}, {LAYERS} layers, chans {SIZES[kind]['chans']}"
        later, unit = [statistics.median(item) for item in zip(*(run["later"] for run in runs))], "ms of the processor"
        rows += [
            {"figure": f"{what}: {title}", "value": value, "unit": unit, "bar": bar, "of_lengths": (title, what)}
            for what, value, unit, bar in (
                ("first length", statistics.median(run["first"] for run in runs), unit, None), ("dearest new length", max(later), unit, MOST),
                ("middle new length", statistics.median(later), unit, None),
                ("length between known ones", result["calls"], "calls of Python functions", None),
                (f"{MANY:,} lengths", max(run["memory"] for run in runs), "MB", MEMORY),
            )
        ]  # fmt: skip
    return rows


def measured(kind: str) -> dict[str, Any]:
    """What a process of its own finds."""
    command = [sys.executable, "-m", "benchmarks.lengths", kind]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    print(json.dumps(lengths(sys.argv[1])))


if __name__ == "__main__":
    main()
