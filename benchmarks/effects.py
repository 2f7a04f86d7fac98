"""What it costs to leave the process alone: long blocks with and without the limit on the threads of the BLAS, and before.

Rested, right after a product of NumPy's, and call after call; each round a fresh process for each variant, in shuffled order.
`BENCHMARKS_BEFORE=FOLDER` measures the packages of another checkout too, `BENCHMARKS_ROUNDS=N` as many rounds, and
`BENCHMARKS_EFFECTS=block,minilm` these works alone.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .work import BY_HAND, Ready

ROOT = Path(__file__).parent.parent
REST_SECONDS = 0.15  # longer than threads wait
WARM_SECONDS = 0.3  # of calls before those that are timed call after call
MAX_STATE_SECONDS = 1.5
MIN_CALLS, MAX_CALLS = 3, 15
MAX_BLOCK_WITHOUT_LIMIT = 0.92  # times by hand
RESTED, AFTER, AGAIN = "after a rest", "right after a product", "call after call"
WITH, WITHOUT, BEFORE = "with the limit", "without the limit", "before"
ATTENTION = tuple(
    (f"attention-{batch}x{heads}x{seq}x{key}", {"batch": batch, "heads": heads, "seq": seq, "key": key})
    for batch, heads, seq, key in (
        (1, 4, 128, 32), (1, 8, 128, 64), (1, 8, 256, 64), (1, 8, 512, 64), (1, 8, 1024, 64), (4, 8, 2048, 64),
    )
)  # fmt: skip
NAMES = ("block", "minilm", *(name for name, _ in ATTENTION))
START = "import sys; here, tree, work = sys.argv[1:]; sys.path.insert(0, tree); import grammar, namedtensor, transformer; sys.path.insert(0, here); from benchmarks.effects import main; main(work)"


def sides(name: str) -> tuple[Ready, Ready]:
    """Ours and the work by hand, prepared."""
    if name.startswith("attention"):
        from . import attention

        inputs = attention.inputs(**dict(ATTENTION)[name])
        return attention.by_formula.make(**inputs), attention.by_hand.make(**inputs)
    if name == "block":
        from .block import WORKS
    else:
        from .models import WORKS
    work = next(other for other in WORKS if other.name == name)
    inputs = work.inputs(**work.sizes)
    ours = next(side for side in work.sides if side.is_ours)
    return ours.make(**inputs), work.side(BY_HAND).make(**inputs)


def timed(call: Callable[[], Any]) -> list[float]:
    """The seconds, and those that all cores together worked."""
    processor, start = time.process_time(), time.perf_counter()
    call()
    return [time.perf_counter() - start, time.process_time() - processor]


def measured(calls: list[Callable[[], Any]]) -> dict[str, list[list[list[float]]]]:
    """For each state, the times of each side."""
    import numpy as np

    a = np.random.default_rng(0).standard_normal((1000, 1000), dtype=np.float32)
    for call in calls * 2:
        call()
    longest = max(timed(call)[0] for call in calls)
    count = max(MIN_CALLS, min(MAX_CALLS, round(MAX_STATE_SECONDS / (longest + REST_SECONDS))))
    numbers: dict[str, list[list[list[float]]]] = {RESTED: [[], []], AFTER: [[], []], AGAIN: [[], []]}
    for state, prepare in ((RESTED, lambda: time.sleep(REST_SECONDS)), (AFTER, lambda: a @ a)):
        for _ in range(count):
            for number, call in enumerate(calls):
                prepare()
                numbers[state][number].append(timed(call))
    for number, call in enumerate(calls):
        end = time.perf_counter() + WARM_SECONDS
        while time.perf_counter() < end:
            call()
        numbers[AGAIN][number] = [timed(call) for _ in range(count)]
    return numbers


def main(name: str) -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    print(json.dumps(measured([ready.call for ready in sides(name)])), file=out, flush=True)


def variants() -> dict[str, tuple[Path, dict[str, str]]]:
    """The packages and the environment of each."""
    result = {WITH: (ROOT, {"NAMEDTENSOR_BLAS_LIMIT": "1"}), WITHOUT: (ROOT, {"NAMEDTENSOR_BLAS_LIMIT": "0"})}
    before = os.environ.get("BENCHMARKS_BEFORE")
    return result if before is None else result | {BEFORE: (Path(before), {})}


def run(name: str, tree: Path, local: dict[str, str]) -> dict[str, list[list[list[float]]]]:
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_") and key != "PYTHONPATH"
    }
    command = [sys.executable, "-P", "-c", START, str(ROOT), str(tree), name]
    return json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment | local, text=True).stdout
    )


def rows() -> list[dict]:
    """A row for each work, variant and state: the median of the processes' medians over those of the work by hand."""
    chosen = [name for name in os.environ.get("BENCHMARKS_EFFECTS", "").split(",") if name] or list(NAMES)
    rounds, result = int(os.environ.get("BENCHMARKS_ROUNDS", "7")), []
    for name in chosen:
        runs: dict[str, list[Any]] = {variant: [] for variant in variants()}
        for _ in range(rounds):
            for text in random.sample(list(runs), len(runs)):
                runs[text].append(run(name, *variants()[text]))
        for text, several in runs.items():
            result += [row(name, text, state, several) for state in (RESTED, AFTER, AGAIN)]
    return result


def row(name: str, variant: str, state: str, runs: list[Any]) -> dict:
    """`spread` is that of the work by hand, its third quartile over its first: how noisy the machine was."""
    medians = [[[statistics.median(column) for column in zip(*side)] for side in other[state]] for other in runs]
    hand = sorted(theirs[0] for _, theirs in medians)
    bar = MAX_BLOCK_WITHOUT_LIMIT if (name, variant) == ("block", WITHOUT) else None
    return {
        "figure": f"{name}, {variant}, {state}", "mixed": True, "unit": f"× {BY_HAND}", "bar": bar,
        "value": statistics.median(ours[0] / theirs[0] for ours, theirs in medians),
        "least": min(ours[0] for ours, _ in medians) / hand[0],
        "seconds": statistics.median(ours[0] for ours, _ in medians),
        "processor": statistics.median(ours[1] for ours, _ in medians),
        "by_hand": [statistics.median(theirs[which] for _, theirs in medians) for which in (0, 1)],
        "spread": hand[-1 - len(hand) // 4] / hand[len(hand) // 4],
    }  # fmt: skip
