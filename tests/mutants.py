"""Mutation testing: one operator, constant or branch is changed at a time, and the tests have to notice.

    python tests/mutants.py                     two hundred mutants, drawn by seed 0, on all processors
    python tests/mutants.py 40 7 --packages calculus
    python tests/mutants.py --again             the survivors of the last run once more, for which tests were written since

First the tests run once, and it is recorded which of them take which lines; `--recorded` says where that is kept
(`tests_by_line.py` records alone). Then each mutant has processes of its own, forked from one that has imported what is not
ours, in which tests that take its line, some for each way on from there, run until one fails: those of the files that are
most about it first. The survivors are listed; of those in `EQUIVALENT` it is known why no test can notice them. The exit
status says whether fewer than 95 of a hundred of the others were noticed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

from equivalent_mutants import EQUIVALENT
from mutations import ROOT, Mutant, drawn
from tests_by_line import Recorded, failing, preload, record

PACKAGES = ("checking", "calculus", "planning")
KEPT = Path(tempfile.gettempdir()) / "namedtensor_survivors.json"
WANTED = 0.95
WORD_FOR_WORD = ("tests/test_errors.py", "tests/test_planning_golden.py")
FILES = 4
BUDGET = 120.0  # seconds of the tests, as recorded with coverage, that are run for one mutant


def nearness(mutant: Mutant, file: str) -> tuple[bool, bool, bool]:
    return mutant.module in file, file in WORD_FOR_WORD, mutant.package in file


def batches(tests: list[str]) -> list[list[str]]:
    """The tests in the order in which they are tried, those of one process together: of a few files, then of the others."""
    few = list(dict.fromkeys(test.split("::")[0] for test in tests))[:FILES]
    near = [test for test in tests if test.split("::")[0] in few]
    return [near, [test for test in tests if test not in near]]


def noticed(mutant: Mutant, tests: list[str]) -> tuple[str | None, float]:
    """Which of the tests fails with the mutant, if any; and the seconds."""
    began = time.monotonic()
    for batch in batches(tests):
        if batch and (failed := failing(batch, mutant)):
            return failed[0], time.monotonic() - began
    return None, time.monotonic() - began


def tried(mutants: list[Mutant], recorded: Recorded, bytecode: Path, processes: int) -> dict[Mutant, str | None]:
    """By which test each was noticed."""
    chosen = [recorded.tests(mutant.path, mutant.line, BUDGET, partial(nearness, mutant)) for mutant in mutants]
    preload(bytecode)
    result: dict[Mutant, str | None] = {}
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, mp_context=fork) as pool:
        for mutant, tests, (message, seconds) in zip(mutants, chosen, pool.map(noticed, mutants, chosen)):
            result[mutant] = message
            print(f"{seconds:5.0f} s  {mutant}\n         {message or f'SURVIVES {len(tests)} tests'}", flush=True)
    return result


def known_survivors(every: list[Mutant]) -> list[Mutant]:
    keys = {Mutant(**load).key for load in json.loads(KEPT.read_text(encoding="utf-8"))}
    return [mutant for mutant in every if mutant.key in keys]


def report(actual: dict[Mutant, str | None]) -> int:
    """Print the survivors and the share that was noticed of those that a test can notice."""
    survivors = [mutant for mutant, message in actual.items() if message is None]
    KEPT.write_text(json.dumps([asdict(mutant) for mutant in survivors]), encoding="utf-8")
    open_ones = [mutant for mutant in survivors if mutant.key not in EQUIVALENT]
    print()
    for mutant in survivors:
        reason = EQUIVALENT.get(mutant.key)
        print(f"survives: {mutant}" + (f"\n    equivalent: {reason}" if reason else ""))
    equivalent = len(survivors) - len(open_ones)
    judged = len(actual) - equivalent
    share = 1 - len(open_ones) / judged if judged else 1.0
    print(f"{len(actual)} mutants, {equivalent} equivalent, {len(open_ones)} not noticed: {share:.1%}")
    return share < WANTED


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("count", type=int, nargs="?", default=200)
    arguments.add_argument("seed", type=int, nargs="?", default=0)
    arguments.add_argument("--packages", nargs="+", choices=PACKAGES, default=list(PACKAGES))
    arguments.add_argument("--processes", type=int, default=os.cpu_count())
    arguments.add_argument("--recorded", type=Path, help="the folder of what is recorded; made where it is missing")
    arguments.add_argument("--again", action="store_true", help=f"those that are kept in {KEPT}")
    arguments.add_argument("--skip", type=int, default=0, help="how many of those that are drawn were tried before")
    arguments.add_argument("--list", action="store_true", help="say which are drawn, and run nothing")
    args = arguments.parse_args()
    every = drawn(10**9, args.seed, args.packages)
    known = {mutant.key for mutant in every}
    for key in EQUIVALENT:
        if key.split("/")[1] in args.packages and key not in known:
            print(f"there is no such mutant any more: {key}")
    mutants = known_survivors(every) if args.again else every[args.skip : args.count]
    if args.list:
        print(*mutants, f"{len(mutants)} of {len(every)}", sep="\n")
        return 0
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        path = args.recorded or Path(folder)
        if not (path / "coverage").exists():
            record(path)  # a test that fails without a mutant is named at the end
        result = tried(mutants, Recorded.read(path), Path(folder) / "bytecode", args.processes)
    noticing = sorted({message for message in result.values() if message and "::" in message})
    if anyway := failing(noticing, None, stop=False):
        print("these fail without a mutant too:", *anyway, sep="\n    ")
        return 1
    return report(result)


if __name__ == "__main__":
    sys.exit(main())
