"""The sides of a work measured in turns, round by round; ratios within a round, and their medians.

What other work on the machine adds in a round, it adds to all sides.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .work import ALONE, Bar, Side, Work, difference

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}


@dataclass(frozen=True)
class Effort:
    """How long to measure: the most rounds, the fewest, and the seconds for one side of one work."""

    rounds: int = 15
    fewest: int = 5
    seconds: float = 2.0


QUICK = Effort(7, 3, 0.7)


@dataclass
class Found:
    """What is known of the sides of a work, by their names; `seconds` has one entry a round, None where a side sat out.

    `processor` are the seconds that all cores together worked in a round.
    """

    seconds: dict[str, list[float | None]] = field(default_factory=dict)
    processor: dict[str, list[float | None]] = field(default_factory=dict)
    memory: dict[str, int | None] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


class Player:
    """A process that has prepared one side."""

    def __init__(self, work: Work, side: Side, path: Path):
        self.side, self.place = side, path
        environment = os.environ | (ONE_THREAD if 1 in (work.threads, side.threads) else {})
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", work.name, side.name, str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            env=environment, cwd=Path(__file__).parent.parent,
        )  # fmt: skip
        self.errors = ThreadPoolExecutor(1).submit(self.process.stderr.read)  # type: ignore[union-attr]
        self.about = self.answer()
        self.count = 0

    def answer(self) -> dict[str, Any]:
        line = self.process.stdout.readline()  # type: ignore[union-attr]
        if line:
            return json.loads(line)
        status = self.process.wait()
        last = (self.errors.result().strip().splitlines() or [""])[-1]
        return {"failed": f"the process ended with {status} {last}".strip()}

    def plan(self, effort: Effort) -> None:
        """How many calls make a turn, and in how many rounds to take part."""
        self.line = f"{self.about['repeat']} {self.about['chunks']}\n"
        seconds = self.about["seconds"] * self.about["repeat"] * self.about["chunks"]
        self.count = max(effort.fewest, min(effort.rounds, round(effort.seconds / seconds)))

    def turn(self) -> dict[str, float]:
        try:
            self.process.stdin.write(self.line)  # type: ignore[union-attr]
            self.process.stdin.flush()  # type: ignore[union-attr]
        except BrokenPipeError:
            return {}
        return self.answer()

    def values(self) -> list[np.ndarray]:
        with np.load(self.place) as stored:
            return [stored[name] for name in sorted(stored, key=lambda name: int(name.removeprefix("arr_")))]

    def end(self) -> None:
        self.process.stdin.close()  # type: ignore[union-attr]
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def measure(work: Work, effort: Effort = Effort(), only: frozenset[str] | None = None) -> Found:
    """All sides of a work, or those of `only`. Raises AssertionError where two of them disagree about the answer."""
    sides = [side for side in work.sides if only is None or side.name in only]
    result = Found()
    with tempfile.TemporaryDirectory() as folder:
        with ThreadPoolExecutor(1 if work.heavy else 2) as pool:
            element = pool.map(lambda pair: Player(work, pair[1], Path(folder, f"{pair[0]}.npz")), enumerate(sides))
            players = list(element)
        try:
            playing = sorted_out(players, result)
            agree(work, playing)
            take_turns(playing, effort, result)
        finally:
            for player in players:
                player.end()
    return result


def sorted_out(players: list[Player], actual: Found) -> list[Player]:
    for player in players:
        for kind, where in (("left_out", actual.left_out), ("failed", actual.failed)):
            if kind in player.about:
                where[player.side.name] = player.about[kind]
    playing = [player for player in players if "repeat" in player.about]
    actual.memory = {player.side.name: player.about["memory"] for player in playing}
    return playing


def agree(work: Work, players: list[Player]) -> None:
    """A quick way to a wrong answer is none."""
    if not players:
        return
    first = next((player for player in players if player.side.name == work.base), players[0])
    right = first.values()
    for player in players:
        apart = difference(player.values(), right, work.norm)
        assert apart <= work.close, f"{work.name}: {player.side.name} and {first.side.name} differ by {apart:.1e}"


def take_turns(players: list[Player], effort: Effort, actual: Found) -> None:
    for player in players:
        player.plan(effort)
        actual.seconds[player.side.name], actual.processor[player.side.name] = [], []
    for number in range(max((player.count for player in players), default=0)):
        start = number % len(players)
        for player in players[start:] + players[:start]:
            times = player.turn() if number < player.count else {}
            actual.seconds[player.side.name].append(times.get("seconds"))
            actual.processor[player.side.name].append(times.get("processor"))


# -------------------------------------------------------------------------------------------------------------- rows
def median_ratio(ours: list[float | None], theirs: list[float | None]) -> float | None:
    """The median of the ratios of the rounds in which both took part."""
    ratios = [left / right for left, right in zip(ours, theirs) if left is not None and right is not None]
    return statistics.median(ratios) if ratios else None


def least_ratio(ours: list[float | None], theirs: list[float | None]) -> float | None:
    """The ratio of the shortest times: nearer the truth than the median where others use the same cores all the while."""
    left, right = ([number for number in side if number is not None] for side in (ours, theirs))
    return min(left) / min(right) if left and right else None


def median(seconds: list[float | None]) -> float | None:
    taken = [number for number in seconds if number is not None]
    return statistics.median(taken) if taken else None


def best_of(name: str, actual: Found) -> list[float | None] | None:
    """The times of a side, or of the same with one thread of the BLAS where that is faster."""
    known = [actual.seconds[text] for text in (name, name + ALONE) if text in actual.seconds]
    return min(known, key=lambda seconds: median(seconds) or float("inf"), default=None)


def rows_of(work: Work, actual: Found) -> list[dict[str, Any]]:
    """A row for each side and each further bar."""
    base = best_of(work.base, actual)
    rows = []
    for name, seconds in actual.seconds.items():
        ratio = median_ratio(seconds, base) if base else None
        time = median(seconds)
        unit = f"× {work.base}" if base else "ms"
        value = ratio if base else time and time * 1e3
        bar = next(
            (bar.most for bar in work.bars if bar.ours == name and bar.over == work.base and bar.of == "time"), None
        )
        if not work.base:
            bar = next((bar.most for bar in work.bars if bar.ours == name and not bar.over), None)
        row = {"work": work.name, "side": name, "figure": f"{work.title}: {name}", "value": value, "unit": unit}
        memory = {"memory": actual.memory.get(name)} if work.memory else {}
        times = {"seconds": time, "processor": median(actual.processor.get(name, []))}
        rows.append(row | {"bar": bar, "least": base and least_ratio(seconds, base)} | times | memory)
    return rows + [row for bar in work.bars if (row := further(work, bar, actual))]


def further(work: Work, bar: Bar, actual: Found) -> dict[str, Any] | None:
    """The row of a bar that is not over the base."""
    about = {"work": work.name, "side": bar.ours, "bar": bar.most}
    if bar.of == "memory":
        memory = actual.memory.get(bar.ours)
        title = f"{work.title}: {bar.ours}, memory over inputs and output"
        return None if memory is None else about | {"figure": title, "value": memory / 1e6, "unit": "MB"}
    if not bar.over or bar.over == work.base or not {bar.ours, bar.over} <= actual.seconds.keys():
        return None
    value = median_ratio(actual.seconds[bar.ours], actual.seconds[bar.over])
    least = least_ratio(actual.seconds[bar.ours], actual.seconds[bar.over])
    return about | {"figure": f"{work.title}: {bar.ours}", "value": value, "unit": f"× {bar.over}", "least": least}


def left_out(work: Work, actual: Found) -> list[dict[str, str]]:
    reasons: Mapping[str, str] = {**actual.left_out, **{name: f"failed: {why}" for name, why in actual.failed.items()}}
    return [{"work": work.name, "side": name, "reason": reason} for name, reason in reasons.items()]
