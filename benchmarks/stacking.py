"""Layers on JAX whose weights are in one array for each family, beside separate arrays: compile, run, and memory.

Each measurement is a process of its own, which compiles GPT-2 with `depth` blocks and runs it nine times; both kinds take
turns. What counts is the processor's time.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
import time
from typing import Any

BAR_RUN, BAR_MEMORY, BAR_TEN = 1.1, 1.3, 1.0
SIZES = {"vocab": 1000, "chans": 256, "hidden": 1024, "heads": 4, "key": 64, "val": 64, "place": 128}
DEPTHS = (24, 48)
GOALS = ("values", "gradients")
RUNS = 9


def measured(goal: str, is_stacked: bool, depth: int, sizes: dict[str, int] = SIZES) -> dict[str, float]:
    """The seconds of the first call, of a call, and of the first and ten more; and the bytes of temporary arrays."""
    import jax
    import numpy as np

    import namedtensor as nt
    from transformer import GPT2

    layer: Any = GPT2.init(0, {**sizes, "L": depth}, "float32").to("jax")
    layer = layer.stack_layers() if is_stacked else layer.unstack_layers()
    ids = nt.tensor(jax.numpy.asarray(np.arange(64) % sizes["vocab"]), "seq")
    if goal == "values":
        function = jax.jit(lambda layer, ids: layer(ids).array)
    else:
        function = jax.jit(jax.grad(lambda layer, ids: (layer(ids).array ** 2).mean()))

    def seconds() -> float:
        start = time.process_time()
        jax.block_until_ready(jax.tree.leaves(function(layer, ids)))
        return time.process_time() - start

    first, run = seconds(), statistics.median(seconds() for _ in range(RUNS))
    analysis: Any = function.lower(layer, ids).compile().memory_analysis()
    return {"first": first, "run": run, "ten": first + 10 * run, "memory": analysis.temp_size_in_bytes}


def in_a_process(goal: str, is_stacked: bool, depth: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.stacking", goal, str(int(is_stacked)), str(depth)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def rows(rounds: int = 9) -> list[dict]:
    """The medians of one array for each family over those of separate arrays."""
    result: list[dict] = []
    if importlib.util.find_spec("jax") is None:
        return result
    for depth in DEPTHS:
        for goal in GOALS:
            pairs = [[in_a_process(goal, is_stacked, depth) for is_stacked in (True, False)] for _ in range(rounds)]
            for what, bar in (("first", None), ("run", BAR_RUN), ("ten", BAR_TEN), ("memory", BAR_MEMORY)):
                ratio = statistics.median(stacked[what] / separate[what] for stacked, separate in pairs)
                title = f"stacked layers on JAX, {depth} blocks, {goal}: {TITLES[what]}"
                result.append({"figure": title, "value": ratio, "unit": "× separate arrays", "bar": bar})
    return result


TITLES = {"first": "first call", "run": "a call", "ten": "first call and ten more", "memory": "temporary memory"}


if __name__ == "__main__":
    goal, is_stacked, depth = sys.argv[1:]
    print(json.dumps(measured(goal, bool(int(is_stacked)), int(depth))))
