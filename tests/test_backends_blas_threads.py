"""While blocks run OpenBLAS has one thread, and afterwards as many as before: with several threads, in the text that stands
alone too, and after a fork."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.backends.libraries import backend

ATTENTION = "softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V"
LONG = {"Q": "ℝ^{query[2000] × key[4]}", "K": "ℝ^{seq[1500] × key[4]}", "V": "ℝ^{seq[1500] × val[4]}"}


def ours() -> dict[str, Any]:
    return backend("numpy").globals(np)


def alone() -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(compile(nt.formula(ATTENTION).to_python("numpy", LONG), "<alone>", "exec"), found)
    return found


@pytest.fixture(params=[ours, alone])
def kernels(request):
    """The kernels, with OpenBLAS set to two threads while a test runs."""
    found = request.param()
    functions = found["blas_threads"]()
    if functions is None:
        pytest.skip("NumPy has another BLAS than its own OpenBLAS")
    get, put, _ = functions
    before = get()
    put(2)
    if get() != 2:
        put(before)
        pytest.skip("this OpenBLAS cannot have two threads")
    yield found
    put(before)


def test_the_last_who_goes_sets_the_number_back(kernels):
    """Two threads, the first of which ends while the second is at work."""
    get, *_ = kernels["blas_threads"]()
    second_in, first_out = threading.Event(), threading.Event()
    seen = []

    def first():
        with kernels["one_thread_of_blas"]():
            seen.append(get())
            assert second_in.wait(60)
        first_out.set()

    def second():
        with kernels["one_thread_of_blas"]():
            second_in.set()
            assert first_out.wait(60)
            seen.append(get())

    with ThreadPoolExecutor(2) as pool:
        for each in [pool.submit(first), pool.submit(second)]:
            each.result(60)
    assert (seen, get()) == ([1, 1], 2)


def test_an_error_sets_it_back_too(kernels):
    get, *_ = kernels["blas_threads"]()
    with pytest.raises(ZeroDivisionError), kernels["one_thread_of_blas"]():
        assert get() == 1
        raise ZeroDivisionError
    assert get() == 2


def test_formulas_in_several_threads(kernels):
    get, *_ = kernels["blas_threads"]()
    random = np.random.default_rng(0)
    shapes = {"Q": (2000, 4), "K": (1500, 4), "V": (1500, 4)}
    arrays = {name: random.normal(size=shape) for name, shape in shapes.items()}
    axes = {"Q": "query key", "K": "seq key", "V": "seq val"}
    given = {name: nt.tensor(array, axes[name]) for name, array in arrays.items()}
    call = (lambda: kernels["function"](*arrays.values())) if "function" in kernels else (
        lambda: nt.evaluate(ATTENTION, given).array
    )  # fmt: skip
    weights = np.exp(arrays["Q"] @ arrays["K"].T)
    want = weights @ arrays["V"] / weights.sum(1, keepdims=True)
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(call) for _ in range(12)]
    for each in found:
        np.testing.assert_allclose(each.result(), want, rtol=1e-5, atol=1e-6)
    assert get() == 2 and kernels["blas_users"] == []


def test_blocks_are_computed_by_the_threads_of_the_blas(kernels, monkeypatch):
    """By those that may still wait in a loop for the next product; where they are at work, by threads of ours."""
    if kernels["blas_threads"]()[2] is None:
        pytest.skip("this OpenBLAS starts no function of others")
    monkeypatch.setitem(kernels, "cores", lambda: 2)
    both = threading.Barrier(2)

    def names():
        found = []

        def work(memory):
            both.wait(60)  # so that each of two threads does it once
            found.append(threading.current_thread().name)
            both.wait(60)

        kernels["on_all_cores"](work)
        return sorted(name.partition("_")[0].partition("-")[0] for name in found)

    assert names() == ["Dummy", "MainThread"]
    with kernels["one_thread_of_blas"]():
        assert names() == ["MainThread", "blocks"]
    assert names() == ["Dummy", "MainThread"]


def test_what_one_thread_raises_is_raised(kernels, monkeypatch):
    monkeypatch.setitem(kernels, "cores", lambda: 2)
    both = threading.Barrier(2)

    def work(memory):
        both.wait(60)
        if threading.current_thread() is not threading.main_thread():
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            kernels["on_all_cores"](work)
    get, *_ = kernels["blas_threads"]()
    assert get() == 2 and not kernels["blas_at_work"].locked()


FORK = """
import os, threading, time
import numpy as np
import namedtensor as nt
from namedtensor.backends.libraries import backend

kernels = backend("numpy").globals(np)
get, put, _ = kernels["blas_threads"]()
put(2)
kernels["cores"] = lambda: 2
started = threading.Event()

def work(memory):
    started.set()
    time.sleep(0.2)

at_work = threading.Thread(target=kernels["on_all_cores"], args=(work,))
at_work.start()
assert started.wait(60)
child = os.fork()
if child == 0:
    kernels["on_all_cores"](lambda memory: None)
    os._exit(0 if get() == 2 and kernels["blas_users"] == [] else 1)
at_work.join(60)
assert os.waitpid(child, 0)[1] == 0 and get() == 2
"""


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="this system does not fork")
@pytest.mark.parametrize("whose", ["its own", "ours"])
def test_a_fork_while_blocks_are_computed(whose):
    """It waits for the threads of the BLAS, which it ends; in the child nobody is left, and blocks are computed."""
    if ours()["blas_threads"]() is None:
        pytest.skip("NumPy has another BLAS than its own OpenBLAS")
    others = 'kernels["blas_at_work"].acquire()\nthreading.Timer(0.1, kernels["blas_at_work"].release).start()\n'
    text = FORK.replace("at_work =", others + "at_work =") if whose == "ours" else FORK
    subprocess.run([sys.executable, "-W", "ignore", "-c", text], check=True, timeout=60)
