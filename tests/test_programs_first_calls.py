"""The first calls of a process: in threads, interrupted, and in processes that are forked meanwhile; see `first_calls.py`.

NAMEDTENSOR_FIRST_CALLS says how many lines are interrupted, over all cases; `all`: each of them, and fifty fresh processes.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from first_calls import CASES

ROOT = Path(__file__).parent.parent
ASKED = os.environ.get("NAMEDTENSOR_FIRST_CALLS", "60")
LINES = ASKED if ASKED == "all" else str(max(1, int(ASKED) // len(CASES)))
FRESH = {"numpy": 20, "torch": 15, "jax": 15} if ASKED == "all" else {"numpy": 2, "torch": 1, "jax": 1}
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def run(*arguments, minutes=10):
    process = subprocess.run(
        [sys.executable, "-W", "ignore", *arguments], capture_output=True, text=True, encoding="utf-8", cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}, timeout=60 * minutes,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr[-5000:]
    return process.stdout


def first_calls(*arguments):
    return run("tests/first_calls.py", *arguments, minutes=600 if ASKED == "all" else 10)


# -------------------------------------------------------------------------------------------------------------- threads
AT_ONCE = """
import sys
sys.path.insert(0, "tests")
from first_calls import ones, in_threads, numbers, TEXT
import namedtensor as nt
X = nt.tensor(ones("LIBRARY", 3, 4), "seq key")
f = nt.formula(TEXT)
assert len({str(numbers(each)) for each in in_threads(8, lambda _: f(X=X))}) == 1
"""
FROM_NAMES = """
import sys
sys.path.insert(0, "tests")
from first_calls import ones, in_threads, numbers
import namedtensor as nt
ones("LIBRARY")
CALLS = (
    lambda: numbers(nt.softmax(nt.tensor(ones("LIBRARY", 3), "a"), axis="a") * 3),
    lambda: numbers(nt.evaluate("softmax_{a} x ⊙ 3", x=nt.tensor(ones("LIBRARY", 3), "a"))),
    lambda: numbers(nt.formula(r"3 \\nfun{\\name{a}}{softmax} x")(x=nt.tensor(ones("LIBRARY", 3), "a"))),
    lambda: numbers(nt.tensor(ones("LIBRARY", 3), "a") + 0),
)
assert in_threads(8, lambda place: CALLS[place % 4]()) == [[1.0, 1.0, 1.0]] * 8
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [AT_ONCE, FROM_NAMES], ids=["a formula", "the names of the package"])
@pytest.mark.parametrize("library", FRESH)
def test_threads_of_a_fresh_process_evaluate_their_first_formulas(library, code):
    if library != "numpy":
        pytest.importorskip(library)
    for _ in range(FRESH[library]):
        run("-c", code.replace("LIBRARY", library))


@pytest.mark.slow
@pytest.mark.parametrize("library", FRESH)
def test_threads_of_a_forked_process_evaluate_their_first_formulas(library):
    if library != "numpy":
        pytest.importorskip(library)
    first_calls("threads", library, str(2 * FRESH[library]))


# ----------------------------------------------------------------------------------------------------------- interrupts
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_call_after_one_that_was_interrupted_is_right(case):
    if CASES[case][0] != "numpy":
        pytest.importorskip(CASES[case][0])
    assert f"{case}: " in first_calls("interrupts", case, LINES)


# ---------------------------------------------------------------------------------------------------------------- forks
@pytest.mark.slow
def test_processes_that_are_forked_while_threads_compile_end():
    first_calls("forks", "20")


LOADED = """
import sys
from pathlib import Path
sys.path.insert(0, "tests")
from first_calls import CASES, named, ones
from grammar.locks import LOADING
ones("LIBRARY")
if "LIBRARY" == "numpy":
    import concurrent.futures.thread
outside = []
class Finder:
    def find_spec(self, name, path=None, target=None):
        if not LOADING._is_owned() and not name.startswith(("jax", "libtpu")):
            outside.append(name)
sys.meta_path.insert(0, Finder())
import namedtensor as nt
outside.clear()
for case, (library, before, call) in CASES.items():
    if case != "layer":
        call("LIBRARY")
X = nt.tensor(ones("LIBRARY", 3, 4), "seq key")
nt.explain("X + 1", X=X), str(X), nt.formula("X^2").derivative("X").closed_form(X="ℝ^{a}")
nt.formula("X + 1").to_python("numpy", {"X": X}), nt.formula("X + 1").compile()(X=X)
for wrong in ("gelu(X", "X + Z", "∑_{bla} X", "sort_{key} X_{"):
    try:
        nt.evaluate(wrong, X=X)
    except nt.NotationError as problem:
        str(problem)
print(outside)
"""


@pytest.mark.parametrize("library", FRESH)
def test_calls_load_modules_only_where_a_fork_waits_for_them(library):
    if library != "numpy":
        pytest.importorskip(library)
    assert run("-c", LOADED.replace("LIBRARY", library)) == "[]\n"


TAKEN = """
import importlib, pkgutil, sys
from grammar import locks
taken = []
class Watched:
    def __enter__(self):
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_name != "<module>":
            frame = frame.f_back
        if frame is not None and frame.f_globals["__name__"] != "__main__":
            taken.append(frame.f_globals["__name__"])
    def __exit__(self, *problem):
        pass
locks.LOADING = Watched()
import grammar, namedtensor
for package in (grammar, namedtensor):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith("__main__"):
            try:
                importlib.import_module(found.name)
            except ModuleNotFoundError as problem:
                assert problem.name in ("torch", "jax", "IPython", "lsprotocol", "mcp", "pygls", "pygments"), problem
print(taken)
"""


@pytest.mark.slow
def test_no_module_waits_for_others_while_it_is_imported():
    """Who holds the lock may wait for that module: neither would go on."""
    assert run("-c", TAKEN) == "[]\n"
