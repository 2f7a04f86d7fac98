"""Test first calls of a process: in threads, interrupted, and in processes that are forked meanwhile; see `first_calls.py`.

An interrupt during an import follows Python's own rule, and is not tested.

NAMEDTENSOR_FIRST_CALLS is the number of lines that are interrupted in all cases together, or `all`. If it is at least 1,000,
fifty fresh processes are tested.
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
LONG = ASKED == "all" or int(ASKED) >= 1000
FRESH = {"numpy": 20, "torch": 15, "jax": 15} if LONG else {"numpy": 2, "torch": 1, "jax": 1}
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def run(*arguments, minutes=10):
    process = subprocess.run(
        [sys.executable, "-W", "ignore", *arguments], capture_output=True, text=True, encoding="utf-8", cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}, timeout=60 * minutes,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr[-5000:]
    return process.stdout


def first_calls(*arguments):
    return run("tests/first_calls.py", *arguments, minutes=600 if LONG else 10)


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


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("code", [AT_ONCE, FROM_NAMES], ids=["a formula", "the names of the package"])
@pytest.mark.parametrize("library", FRESH)
def test_threads_of_a_fresh_process_evaluate_their_first_formulas(library, code):
    if library != "numpy":
        pytest.importorskip(library)
    for _ in range(FRESH[library]):
        run("-c", code.replace("LIBRARY", library))


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("library", FRESH)
def test_threads_of_a_forked_process_evaluate_their_first_formulas(library):
    if library != "numpy":
        pytest.importorskip(library)
    first_calls("threads", library, str(2 * FRESH[library]))


# ----------------------------------------------------------------------------------------------------------- interrupts
@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_call_after_one_that_was_interrupted_is_right(case):
    if CASES[case][0] != "numpy":
        pytest.importorskip(CASES[case][0])
    assert f"{case}: " in first_calls("interrupts", case, LINES)


# ---------------------------------------------------------------------------------------------------------------- forks
@pytest.mark.sampled(6)
@pytest.mark.slow
def test_processes_that_are_forked_while_threads_compile_end():
    first_calls("forks", "20")


IMPORTING = """
import os, sys, threading
import namedtensor as nt

nt.evaluate  # loads the package
started, end = threading.Event(), threading.Event()

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "namedtensor.display.slides":
            started.set()
            end.wait(60)

sys.meta_path.insert(0, Finder())
threading.Thread(target=__import__, args=("namedtensor.display.slides",)).start()
started.wait(60)
threading.Timer(0.5, end.set).start()
child = os.fork()
if not child:
    import namedtensor.display.slides
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""


def test_a_fork_waits_until_other_threads_have_imported():
    assert run("-c", IMPORTING, minutes=1) == "0\n"


LOADING_NAMES = """
import os, signal, threading, time
import namedtensor as nt

thread = threading.Thread(target=__import__, args=("transformer",))  # whose modules load public names
thread.start()
begin = time.monotonic()
child = os.fork()
is_late = time.monotonic() - begin > 9
if not child:
    signal.alarm(30)
    import transformer
    os._exit(0)
print(os.waitpid(child, 0)[1], is_late)
"""


def test_a_fork_lets_an_import_load_public_names():
    assert run("-c", LOADING_NAMES, minutes=2) == "0 False\n"
