"""Which tests take which line of the code, and the run of chosen tests in a process of its own, with a mutant or without.

    python tests/tests_by_line.py recorded      run all tests, and record in that folder

What is recorded is what `pytest --cov --cov-context=test --junitxml` writes: `coverage`, the lines of each test, and
`tests.xml`, its seconds.
"""

from __future__ import annotations

import ast
import importlib.util
import multiprocessing
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from mutations import ROOT, Mutant

SECONDS = 150  # of the processor, for one process of tests: a mutant that makes them endless is noticed too
MEMORY = 24 * 2**30  # addresses, most of which PyTorch reserves and never touches
EACH = 30  # of a file that is not one of the nearest
IMPORT = 2.0  # seconds of a file of tests, until its first one runs
LONG = 10.0  # seconds of a test that is not worth its time
TAKEN = """SELECT fromno, tono, context FROM arc JOIN file ON file.id = file_id JOIN context ON context.id = context_id
    WHERE path = ?"""
AT_IMPORT = ""  # the context of what runs before any test
LAST = "jax"  # plans are made alike for each library, and what this one compiles takes most of the time
FOREIGN = (
    "array_api_strict",
    "coverage",
    "hypothesis.strategies",
    "lark",
    "matplotlib",
    "numpy",
    "pytest",
    "torch",
    "xml.sax",
)


def environment() -> dict[str, str]:
    """That of this process, with one thread for each process of tests, and few draws."""
    names = ("CI", "HYPOTHESIS_PROFILE", "NAMEDTENSOR_FUZZ", "NAMEDTENSOR_DRAWS_SECONDS", "PYTEST_ADDOPTS")
    result = {name: value for name, value in os.environ.items() if name not in names}
    result |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return result | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


def record(folder: Path) -> int:
    """Run all tests once, keep in that folder which lines each takes, and return whether a test failed."""
    folder.mkdir(parents=True, exist_ok=True)
    options = "-q --whole -p no:cacheprovider --numprocesses=auto --dist=worksteal -o junit_family=xunit1".split()
    options += ["--cov", "--cov-branch", "--cov-context=test", "--cov-report=", f"--junitxml={folder / 'tests.xml'}"]
    where = environment() | {"COVERAGE_FILE": str(folder / "coverage")}
    status = subprocess.run([sys.executable, "-m", "pytest", *options, "tests"], cwd=ROOT, env=where).returncode
    if status not in (0, pytest.ExitCode.TESTS_FAILED):
        raise SystemExit(status)
    return status


@dataclass(frozen=True)
class Recorded:
    """The tests that go from one line of a file to another, and the seconds of each test."""

    ways: Callable[[str], dict[tuple[int, int], set[str]]]
    seconds: dict[str, float]

    @staticmethod
    def read(folder: Path) -> Recorded:
        seconds = {}
        for case in ElementTree.parse(folder / "tests.xml").iter("testcase"):
            within = case.get("classname", "").removeprefix(case.get("file", "")[:-3].replace("/", "."))
            name = "::".join([case.get("file", ""), *within.split(".")[1:], case.get("name", "")])
            seconds[name] = float(case.get("time", "0"))
        database = sqlite3.connect(folder / "coverage", check_same_thread=False)

        @cache
        def ways(path: str) -> dict[tuple[int, int], set[str]]:
            result: dict[tuple[int, int], set[str]] = defaultdict(set)
            for start, end, context in database.execute(TAKEN, (str(ROOT / path),)):
                result[start, end].add(context.rpartition("|")[0])  # of `test|setup`, `test|run` and `test|teardown`
            return dict(result)

        return Recorded(ways, seconds)

    def tests(self, path: str, line: int, budget: float, nearness: Callable[[str], Any]) -> list[str]:
        """Tests that take the line, so many seconds of them: of each way on from it, those of the nearest files first."""
        ways = self.ways(path)
        onward = [tests for (start, _), tests in ways.items() if start == line]
        if not onward:
            lines = statement(path, line)
            onward = [tests for (start, end), tests in ways.items() if start in lines or end in lines]
        if any(
            AT_IMPORT in tests for tests in onward
        ):  # what is made then may be used by all that the file is used for
            onward = [set().union(*ways.values())]
        chosen: dict[str, None] = {}
        files: set[str] = set()
        spent = 0.0
        for name in in_turn([self.by_file(tests, nearness) for tests in onward]):
            file = name.split("::")[0]
            spent += 0.0 if name in chosen else self.seconds.get(name, 0.0) + (0.0 if file in files else IMPORT)
            if spent > budget:
                break
            files.add(file)
            chosen[name] = None
        return list(chosen)

    def by_file(self, tests: set[str], nearness: Callable[[str], Any]) -> list[str]:
        """File by file, the nearest first and those of which many tests are among these for their time; of a far one its fastest."""
        files: dict[str, list[str]] = defaultdict(list)
        for name in sorted(tests - {AT_IMPORT}, key=lambda name: (LAST in name, self.seconds.get(name, 0.0), name)):
            if self.seconds.get(name, 0.0) < LONG:
                files[name.split("::")[0]].append(name)

        chosen = {file: names if any(nearness(file)) else names[:EACH] for file, names in files.items()}

        def tests_a_second(file: str) -> float:
            return len(chosen[file]) / (IMPORT + sum(self.seconds.get(name, 0.0) for name in chosen[file]))

        order = sorted(chosen, key=lambda file: (nearness(file), tests_a_second(file)), reverse=True)
        return [name for file in order for name in chosen[file]]


def in_turn(lists: list[list[str]]) -> list[str]:
    """The first of each list, then the second of each, and so on."""
    return list(filter(None, chain.from_iterable(zip_longest(*lists))))


def statement(path: str, line: int) -> range:
    """The lines of the smallest statement that has the line."""
    every = [node for node in ast.walk(ast.parse((ROOT / path).read_bytes())) if isinstance(node, ast.stmt)]
    around = [(node.lineno, node.end_lineno or node.lineno) for node in every]
    start, end = min(((a, b) for a, b in around if a <= line <= b), key=lambda lines: lines[1] - lines[0])
    return range(start, end + 1)


def preload(bytecode: Path) -> None:
    """Import what is not ours, so that a process that is forked from this one has it; of what is ours keep the bytecode."""
    sys.pycache_prefix, sys.dont_write_bytecode = str(bytecode), False
    expected = environment()
    os.environ.clear()
    os.environ.update(expected)
    for name in FOREIGN:
        if importlib.util.find_spec(name.split(".")[0]):
            importlib.import_module(name)
    sys.path.insert(0, str(ROOT))


def failing(tests: list[str], mutant: Mutant | None, stop: bool = True) -> list[str]:
    """The first of the tests that fails with the mutant, or all; or what befell the process."""
    fork = multiprocessing.get_context("fork")
    receive, send = fork.Pipe(duplex=False)
    process = fork.Process(target=run, args=(tests, mutant, stop, send))
    process.start()
    send.close()
    process.join(4 * SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
    try:
        return receive.recv()
    except EOFError:
        return [
            f"does not end: {signal.Signals(-(process.exitcode or 0)).name}" if (process.exitcode or 0) < 0 else "dies"
        ]


class Chosen:
    """Keeps the chosen tests alone, in their order, and notes which fail."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {name: number for number, name in enumerate(tests)}
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.place), key=lambda item: self.place[item.nodeid]
        )

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(f"import of {report.nodeid}")


def run(tests: list[str], mutant: Mutant | None, stop: bool, send: Any) -> None:
    """In a process of its own: the tests, with the mutant where its file would be imported."""
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    if mutant is not None:
        put(mutant)
    chosen = Chosen(tests)
    options = ["-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", *(["-x"] if stop else [])]
    options += ["--assert=plain"]  # where the package is installed, its modules would be rewritten, by another loader
    code = pytest.main([*options, *dict.fromkeys(name.split("::")[0] for name in tests)], plugins=[chosen])
    send.send(chosen.failed if chosen.failed or code == 0 else [f"pytest ends with {code!s}"])


def put(mutant: Mutant) -> None:
    """Let the import of the mutant's file give the mutant."""
    path, source, unchanged = str(ROOT / mutant.path), mutant.source(), SourceFileLoader.get_code

    def changed(loader: SourceFileLoader, name: str) -> Any:
        return compile(source, path, "exec", dont_inherit=True) if loader.path == path else unchanged(loader, name)

    SourceFileLoader.get_code = changed  # pyright: ignore[reportAttributeAccessIssue]


if __name__ == "__main__":
    sys.exit(record(Path(sys.argv[1]).resolve()))
