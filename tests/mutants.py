"""Mutation testing: one operator, constant or branch is changed at a time, and the tests have to notice.

    python tests/mutants.py                     two hundred mutants, drawn by seed 0, on all processors
    python tests/mutants.py 40 7 --rooms calculus
    python tests/mutants.py --again             the survivors of the last run once more, for which tests were written since

Each mutant is written into a copy of the tree and the tests of its room run there, the fastest first, until one fails. The
survivors are listed; of those in `EQUIVALENT` it is known why no test can notice them. The exit status says whether fewer
than 95 of a hundred of the others were noticed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from equivalent_mutants import EQUIVALENT

ROOT = Path(__file__).parent.parent
COPIED = ("grammar", "namedtensor", "transformer", "tests", "docs", "benchmarks", "pyproject.toml", "README.md")
KEPT = Path(tempfile.gettempdir()) / "namedtensor_survivors.json"
WANTED = 0.95
SECONDS = 120  # of the processor, for one process of tests: a mutant that makes them endless is noticed too

# Fastest first; a tuple is run as one process. The golden errors run the whole way and notice most of what is wrong.
TESTS = {
    "checking": (
        ("test_errors", "test_checking", "test_checking_elements", "test_checking_axis_arguments",
         "test_checking_axes_in_bodies", "test_checking_claims", "test_checking_families", "test_scope_heads",
         "test_checking_families_of_functions", "test_checking_sizes_of_derivatives"),
        ("test_programs_given_names", "test_planning_cost", "test_reference", "test_checking_sizes", "test_checking_lifting", "test_tensors"),
        ("test_calculus", "test_checking_loops", "test_core_limits", "test_differential"),
    ),
    "calculus": (
        ("test_planning_golden", "test_checking_sizes_of_derivatives", "test_calculus"),
        ("test_calculus_at_edges", "test_errors", "test_calculus_higher", "test_checking_claims"),
        ("test_checking_loops", "test_differential"),
    ),
    "planning": (
        ("test_planning_golden", "test_planning_intervals", "test_planning_repeated_addends", "test_planning_online_softmax", "test_planning_unsigned_integers",
         "test_planning_whole_numbers_contracted", "test_planning_cost", "test_planning"),
        ("test_planning_standardized_extremes", "test_planning_whole_numbers", "test_operators", "test_errors",
         "test_operators_numbers", "test_planning_extremes", "test_backends_absent"),
        ("test_checking_loops", "test_calculus", "test_differential"),
    ),
}  # fmt: skip
LEFT_OUT = "not jax"  # plans are made alike for each library, and its own take most of the time


@dataclass(frozen=True)
class Mutant:
    """A change of one piece of a file: which, from which byte to which, and what stands there then."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str
    text: str  # of its first line, by which it is known where lines are added or taken out above it

    @property
    def room(self) -> str:
        return self.path.split("/")[1]

    @property
    def key(self) -> str:
        return f"{self.path}: `{self.text}`: {flat(self.before)} → {flat(self.after)}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {flat(self.before)} → {flat(self.after)}"


def flat(text: str) -> str:
    return " ".join(text.split())


# ------------------------------------------------------------------------------------------------------- what is changed
COMPARED = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


def changed(node: ast.AST) -> ast.AST | None:
    """The node with its operator, its constant or its branch changed; None where there is nothing of these."""
    match node:
        case ast.Compare(left, [op, *ops], comparators):
            return ast.Compare(left, [COMPARED[type(op)](), *ops], comparators)
        case ast.BoolOp(op, values):
            return ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            return operand
        case ast.BinOp(left, op, right) if type(op) in COMPUTED:
            return ast.BinOp(left, COMPUTED[type(op)](), right)
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            return ast.Constant(value + 1)
        case ast.Constant(str(value)):
            return ast.Constant(value + "!")
        case ast.Break():
            return ast.Continue()
        case ast.Continue():
            return ast.Break()
    return None


def branches(node: ast.AST) -> Iterator[ast.expr]:
    """The conditions on which a branch hangs, each of which is turned round."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield node.test
    elif isinstance(node, ast.comprehension):
        yield from node.ifs


def idle(node: ast.AST) -> Iterator[ast.AST]:
    """Pieces of a node that are never run, or that change no answer: docstrings, types, imports for types."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node
    if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None:
        yield node.annotation
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
        yield node.returns
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        yield node
    if isinstance(node, (ast.JoinedStr, ast.Assert)):  # pieces of a JoinedStr have no places of their own
        yield node
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.targets[0], ast.Name):
        if node.targets[0].id[0].isupper() and isinstance(node.value.op, ast.BitOr):  # Operand = Term | int
            yield node


def mutants_of(path: Path) -> list[Mutant]:
    """All single changes of a file, in the order of the text."""
    source = path.read_bytes()
    starts = [0]
    lines = source.splitlines(keepends=True)
    for line in lines:
        starts.append(starts[-1] + len(line))
    found: dict[tuple[int, int, str], Mutant] = {}

    def note(node: Any, new: ast.AST) -> None:
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        text = ast.unparse(ast.fix_missing_locations(new))
        after = f"({text})" if isinstance(new, ast.expr) and not isinstance(new, ast.Constant) else text
        name, line = path.relative_to(ROOT).as_posix(), lines[node.lineno - 1].decode().strip()
        found[start, end, after] = Mutant(name, node.lineno, start, end, source[start:end].decode(), after, line)

    def visit(node: ast.AST) -> None:
        left_out = {id(each) for each in idle(node)}
        if id(node) in left_out:
            return
        if (new := changed(node)) is not None:
            note(node, new)
        for test in branches(node):
            if not isinstance(test, (ast.Compare, ast.UnaryOp)):  # these are turned round by themselves
                note(test, ast.UnaryOp(ast.Not(), test))
        for child in ast.iter_child_nodes(node):
            if id(child) not in left_out:
                visit(child)

    visit(ast.parse(source))
    return [found[place] for place in sorted(found)]


def drawn(count: int, seed: int, rooms: list[str]) -> list[Mutant]:
    """So many mutants of these rooms, each as likely as every other."""
    files = [path for room in rooms for path in sorted((ROOT / "namedtensor" / room).rglob("*.py"))]
    every = [mutant for path in files for mutant in mutants_of(path)]
    return random.Random(seed).sample(every, min(count, len(every)))


# ------------------------------------------------------------------------------------------------------------- are they seen
def copy_of_tree(folder: Path) -> Path:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("_build", "node_modules"))
        else:
            shutil.copy(source, folder / name)
    return folder


def passing(tree: Path, tests: tuple[str, ...]) -> str | None:
    """What pytest says of the first test that fails; None where all pass."""
    kept = ("CI", "HYPOTHESIS_PROFILE", "NAMEDTENSOR_FUZZ", "NAMEDTENSOR_DRAWS_SECONDS", "PYTEST_ADDOPTS")
    environment = {name: value for name, value in os.environ.items() if name not in kept}
    environment |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "--hypothesis-seed=0", "-k", LEFT_OUT]
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))"
    start = f"{limit}; import pytest; import sys; sys.exit(pytest.main(sys.argv[1:]))"
    command = [sys.executable, "-c", start, *options, *tests]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    if done.returncode < 0:
        return f"does not end: {signal.Signals(-done.returncode).name}"
    if done.returncode == 0:
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return lines[0] if lines else (done.stdout + done.stderr).strip().splitlines()[-1]


def failing_anyway(found: dict[Mutant, str | None], tree: Path) -> list[str]:
    """Of the tests that noticed mutants those that fail in the tree as it is: they notice nothing."""
    failed = [said.removeprefix("FAILED ") for said in found.values() if said and said.startswith("FAILED ")]
    noticing = {said.split(" - ")[0].split("[")[0] for said in failed}  # with all cases, whose names may hold anything
    return [test for test in sorted(noticing) if passing(tree, (test,)) is not None]


def existing(files: tuple[str, ...]) -> tuple[str, ...]:
    missing = [name for name in files if not (ROOT / "tests" / f"{name}.py").exists()]
    if missing:
        raise SystemExit(f"no such tests: {', '.join(missing)}")
    return files


def noticed(mutant: Mutant, tree: Path, stages: int | None) -> str | None:
    """What fails with the mutant in that tree; None where nothing does in so many stages."""
    path = tree / mutant.path
    source = path.read_bytes()
    for kept in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        kept.unlink()
    try:
        path.write_bytes(source[: mutant.start] + mutant.after.encode() + source[mutant.end :])
        for files in TESTS[mutant.room][:stages]:
            said = passing(tree, tuple(f"tests/{name}.py" for name in files))
            if said is not None:
                return said
        return None
    finally:
        path.write_bytes(source)


def tried(mutants: list[Mutant], processes: int, stages: int | None) -> tuple[dict[Mutant, str | None], list[str]]:
    """What each was noticed by, in as many copies of the tree as there are processes; and tests that fail without any."""
    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(processes):
            trees.put(copy_of_tree(Path(folder) / str(number)))

        def try_one(mutant: Mutant) -> str | None:
            tree = trees.get()
            began = time.monotonic()
            try:
                said = noticed(mutant, tree, stages)
            finally:
                trees.put(tree)
            print(f"{time.monotonic() - began:5.0f} s  {mutant}\n         {said or 'SURVIVES'}", flush=True)
            return said

        with ThreadPoolExecutor(processes) as pool:
            found = dict(zip(mutants, pool.map(try_one, mutants)))
        return found, failing_anyway(found, trees.get())


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("count", type=int, nargs="?", default=200)
    arguments.add_argument("seed", type=int, nargs="?", default=0)
    arguments.add_argument("--rooms", nargs="+", choices=TESTS, default=list(TESTS))
    arguments.add_argument("--processes", type=int, default=os.cpu_count())
    arguments.add_argument("--again", action="store_true", help=f"those that are kept in {KEPT}")
    arguments.add_argument(
        "--skip", type=int, default=0, help="how many of those that are drawn have been tried before"
    )
    arguments.add_argument("--stages", type=int, help="run only so many of the processes of tests of each room")
    arguments.add_argument("--list", action="store_true", help="say which are drawn, and run nothing")
    given = arguments.parse_args()
    for stages in TESTS.values():
        for files in stages:
            existing(files)
    every = drawn(10**9, given.seed, given.rooms)
    mutants = every[given.skip : given.count] if not given.again else known_survivors(every)
    if given.list:
        print(*mutants, f"{len(mutants)} of {len(every)}", sep="\n")
        return 0
    found, failing = tried(mutants, given.processes, given.stages)
    if failing:
        print("these fail without a mutant too:", *failing, sep="\n    ")
        return 1
    survivors = [mutant for mutant, said in found.items() if said is None]
    KEPT.write_text(json.dumps([asdict(mutant) for mutant in survivors]), encoding="utf-8")
    return told(found, survivors)


def known_survivors(every: list[Mutant]) -> list[Mutant]:
    kept = {Mutant(**each).key for each in json.loads(KEPT.read_text(encoding="utf-8"))}
    return [mutant for mutant in every if mutant.key in kept]


def told(found: dict[Mutant, str | None], survivors: list[Mutant]) -> int:
    """Print the survivors and the share that was noticed of those that a test can notice."""
    open_ones = [mutant for mutant in survivors if mutant.key not in EQUIVALENT]
    print()
    for mutant in survivors:
        reason = EQUIVALENT.get(mutant.key)
        print(f"survives: {mutant}" + (f"\n    equivalent: {reason}" if reason else ""))
    judged = len(found) - (len(survivors) - len(open_ones))
    share = 1 - len(open_ones) / judged if judged else 1.0
    print(
        f"{len(found)} mutants, {len(survivors) - len(open_ones)} equivalent, {len(open_ones)} not noticed: {share:.1%}"
    )
    return share < WANTED


if __name__ == "__main__":
    raise SystemExit(main())
