"""Blocks on several cores: by threads of our own, and with one thread of the BLAS only while they are computed; never where the
work is small."""

from __future__ import annotations

import contextvars
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.backends.function import backend
from namedtensor.planning import optimizations

threadpoolctl = pytest.importorskip("threadpoolctl")
ATTENTION = "softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V"
LONG = {"Q": "ℝ^{query[2000] × key[4]}", "K": "ℝ^{seq[1500] × key[4]}", "V": "ℝ^{seq[1500] × val[4]}"}
BESIDE_BLAS = "run_in_blocks(on_all_cores_beside_blas, "
LONG_BESIDE_BLAS = "run_in_blocks(functools.partial(on_all_cores_beside_blas, is_long=True), "


def ours() -> dict[str, Any]:
    return backend("numpy").globals(np)


def alone() -> dict[str, Any]:
    result: dict[str, Any] = {}
    exec(compile(nt.formula(ATTENTION).to_python("numpy", LONG), "<alone>", "exec"), result)
    return result


@pytest.fixture(params=[ours, alone])
def kernels(request, monkeypatch):
    """The kernels on two cores, with two threads of the BLAS while a test runs."""
    param = request.param()
    monkeypatch.setitem(param, "cores", lambda: 2)
    monkeypatch.setitem(param, "any_runs", lambda clocks: False)
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if set(counts()) != {2} or not param["blas_limit"].found():
            pytest.skip("this BLAS cannot have two threads, or one for each of ours")
        for item in param["blas_limit"].found():
            getattr(item, "clear_controlling_thread", int)()  # which else is the only one that may limit them
        yield param


def counts() -> list[int]:
    """The numbers of threads of NumPy's BLAS."""
    return [item.get_num_threads() for item in ours()["blas_limit"].found()]


def test_the_last_who_leaves_sets_the_number_back(kernels):
    """Two threads, the first of which ends while the second is at work."""
    second_in, first_out, seen = threading.Event(), threading.Event(), []
    limit, one, other = kernels["blas_limit"], kernels["blas_user"](), kernels["blas_user"]()

    def first():
        assert limit.enter(one)
        seen.append(counts())
        assert second_in.wait(60)
        limit.leave(one)
        first_out.set()

    def second():
        assert limit.enter(other)
        second_in.set()
        assert first_out.wait(60)
        seen.append(counts())
        limit.leave(other)

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(first), pool.submit(second)]:
            future.result(60)
    assert seen and all(set(item) == {1} for item in seen), seen
    assert set(counts()) == {2} and not limit.users


@pytest.mark.parametrize("problem", [ZeroDivisionError, KeyboardInterrupt, MemoryError])
def test_what_one_thread_raises_is_raised_and_the_number_is_set_back(kernels, problem):
    both = threading.Barrier(2)
    for raises in ("MainThread", "blocks"):

        def work(memory, raises=raises):
            both.wait(60)
            assert set(counts()) == {1}
            if threading.current_thread().name.startswith(raises):
                raise problem

        with pytest.raises(problem):
            kernels["on_all_cores_beside_blas"](work)
        assert set(counts()) == {2}


def interrupted_at(function, number: int, local) -> bool:
    """Whether an interrupt was raised at the line of this number, of those that are reached, while the function ran."""
    lines: list[tuple[Any, int]] = []

    def trace(frame, event, argument):
        line = frame.f_code, frame.f_lineno
        if frame.f_code in local and event == "line" and line not in lines:
            lines.append(line)
            if len(lines) == number:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(lambda memory: None)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_anywhere_leaves_the_number_as_it_was(kernels):
    """Raised at each line of what limits it."""
    function, limit = kernels["on_all_cores_beside_blas"], kernels["blas_limit"]
    number, codes = 1, {item.__code__ for item in (function, limit.enter)}
    while interrupted_at(function, number, codes):
        function(lambda memory: None)
        assert set(counts()) == {2} and not limit.users
        number += 1
    assert number > 10


def test_where_another_thread_limits_the_blas_products_stay_on_the_calling_thread(kernels):
    inside, leave = threading.Event(), threading.Event()

    def other():
        with threadpoolctl.threadpool_limits(2, user_api="blas"):
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    release = getattr(kernels["blas_limit"].found()[0], "clear_controlling_thread", None)
    if release is None:
        pytest.skip("any thread may limit it")
    release()
    thread.start()
    try:
        assert inside.wait(60)
        seen = []
        kernels["on_all_cores_beside_blas"](lambda memory: seen.append(threading.current_thread()))
        assert seen == [threading.main_thread()] and set(counts()) == {2}
    finally:
        leave.set()
        thread.join()


def test_formulas_in_several_threads(kernels):
    random = np.random.default_rng(0)
    shapes = {"Q": (2000, 4), "K": (1500, 4), "V": (1500, 4)}
    arrays = {name: random.normal(size=shape) for name, shape in shapes.items()}
    axes = {"Q": "query key", "K": "seq key", "V": "seq val"}
    tensors = {name: nt.tensor(array, axes[name]) for name, array in arrays.items()}
    call = (lambda: kernels["function"](*arrays.values())) if "function" in kernels else (
        lambda: nt.evaluate(ATTENTION, tensors).array
    )  # fmt: skip
    weights = np.exp(arrays["Q"] @ arrays["K"].T)
    want = weights @ arrays["V"] / weights.sum(1, keepdims=True)
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(call) for _ in range(12)]
    for future in futures:
        np.testing.assert_allclose(future.result(), want, rtol=1e-5, atol=1e-6)
    assert set(counts()) == {2} and not kernels["blas_limit"].users


def names_of_threads(kernels, caller: str) -> set[str]:
    names: list[str] = []
    several = threading.Barrier(2)

    def work(memory):
        try:
            several.wait(5 if caller != "in_buffers" else 0.05)  # so that each of two threads does it once
        except threading.BrokenBarrierError:
            pass
        names.append(threading.current_thread().name.partition("_")[0])

    kernels[caller](work)
    return set(names)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has clocks of other threads")
@pytest.mark.parametrize("source", [ours, alone])
def test_a_thread_that_runs_is_seen(source):
    """By the clock of its processor time, which does not move while it waits."""
    kernels = source()
    run, end, ready = threading.Event(), threading.Event(), threading.Barrier(2)

    def spin():
        ready.wait(60)
        run.wait(60)
        while not end.is_set():
            sum(range(1000))

    thread = threading.Thread(target=spin)
    thread.start()
    ready.wait(60)
    clocks = [~thread.native_id << 3 | 6]
    assert clocks[0] in kernels["thread_clocks"]()
    deadline = time.perf_counter() + 60
    while kernels["any_runs"](clocks):
        assert time.perf_counter() < deadline
    run.set()
    while not kernels["any_runs"](clocks):
        assert time.perf_counter() < deadline
    end.set()
    thread.join()
    while clocks:  # until the system has forgotten the thread
        kernels["any_runs"](clocks)
        assert time.perf_counter() < deadline


@pytest.mark.slow
def test_while_threads_of_the_blas_are_awake_products_stay_on_the_calling_thread(kernels, monkeypatch):
    """But for long work, and where work has gone on for a while: its own products keep them awake."""
    limit, now = kernels["blas_limit"], [100.0]
    monkeypatch.setitem(kernels, "any_runs", lambda clocks: True)
    monkeypatch.setitem(kernels, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(limit, "last", 0.0)

    def is_limited(**options) -> bool:
        seen: list[set[int]] = []
        kernels["on_all_cores_beside_blas"](lambda memory: seen.append(set(counts())), **options)
        return seen[0] == {1}

    assert not is_limited() and is_limited(is_long=True)
    calls = 0
    while not is_limited():
        now[0] += 0.001
        calls += 1
    assert 190 < calls < 210
    now[0] += 0.01  # a pause: another's product may have come between
    assert not is_limited()


def test_without_threadpoolctl_products_stay_on_the_calling_thread(kernels, monkeypatch):
    assert names_of_threads(kernels, "on_all_cores_beside_blas") == {"MainThread", "blocks"}
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    monkeypatch.setattr(kernels["blas_limit"], "libraries", None)
    seen = []
    kernels["on_all_cores_beside_blas"](lambda memory: seen.append(threading.current_thread()))
    assert seen == [threading.main_thread()]
    assert names_of_threads(kernels, "on_all_cores") == {"MainThread", "blocks"}


def test_where_no_thread_starts_this_one_does_it_all(kernels, monkeypatch):
    def pool():
        raise RuntimeError("can't start new thread")

    monkeypatch.setitem(kernels, "pool", pool)
    seen = []
    kernels["on_all_cores"](lambda memory: seen.append(threading.current_thread()))
    assert seen == [threading.main_thread()]


def test_threads_have_the_context_of_the_call(kernels):
    variable = contextvars.ContextVar("variable", default="another")
    both, seen = threading.Barrier(2), []

    def work(memory):
        both.wait(60)
        seen.append(variable.get())

    def call():
        variable.set("mine")
        kernels["on_all_cores"](work)

    contextvars.copy_context().run(call)
    assert seen == ["mine", "mine"]


def test_first_calls_of_many_threads_make_one_pool(kernels, monkeypatch):
    kernels["pools"].clear()
    start, result = threading.Barrier(8), []

    def first():
        start.wait(60)
        result.append(kernels["pool"]())

    threads = [threading.Thread(target=first) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, result))) == 1


FORK = """
import os, threading, time
import numpy as np
import namedtensor as nt
import threadpoolctl
from namedtensor.backends.function import backend

kernels = backend("numpy").globals(np)
limit = kernels["blas_limit"]
kernels["cores"] = lambda: 2
kernels["any_runs"] = lambda clocks: False
threadpoolctl.threadpool_limits(2, user_api="blas")
before = [each.get_num_threads() for each in limit.found()]
counts = lambda: [each.get_num_threads() for each in limit.libraries]
started = threading.Event()

def work(memory):
    started.set()
    time.sleep(0.3)

at_work = threading.Thread(target=kernels["on_all_cores_beside_blas"], args=(work,))
at_work.start()
assert started.wait(60)
child = os.fork()
if child == 0:
    right = counts() == before and not limit.users
    both = threading.Barrier(2)
    kernels["on_all_cores_beside_blas"](lambda memory: both.wait(60))
    os._exit(0 if right and counts() == before and not limit.users else 1)
at_work.join(60)
assert os.waitpid(child, 0)[1] == 0 and counts() == before
"""


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="this system does not fork")
def test_a_fork_while_blocks_are_computed():
    """The child has the number of before, and a pool of its own."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], check=True, timeout=120)


# ------------------------------------------------------------------------------------------------------------- plans
def shapes_of(heads: int, seq: int, key: int) -> dict[str, dict[str, int]]:
    of = {"Q": ("query", "key"), "K": ("seq", "key"), "V": ("seq", "val")}
    sizes = {"query": seq, "seq": seq, "key": key, "val": key}
    return {name: {"heads": heads, **{axis: sizes[axis] for axis in axes}} for name, axes in of.items()}


@pytest.mark.parametrize(
    ("heads", "seq", "key", "expected"),
    [
        (4, 128, 32, ""),
        (8, 128, 64, ""),
        (8, 256, 64, BESIDE_BLAS),
        (8, 512, 64, BESIDE_BLAS),
        (32, 2048, 64, LONG_BESIDE_BLAS),
    ],
)
def test_small_attention_stays_on_the_calling_thread(heads, seq, key, expected):
    text = nt.formula(ATTENTION).to_python("numpy", shapes_of(heads, seq, key))
    assert expected in text and ("run_in_blocks(" in text) is bool(expected)


@pytest.mark.parametrize(
    ("size", "expected"), [(300_000, ""), (1_000_000, ""), (20_000_000, "run_in_blocks(on_all_cores, ")]
)
def test_chains_are_in_blocks_where_several_cores_take_them(size, expected):
    text = nt.formula("tanh(exp(X) + 1)").to_python("numpy", X={"a": size // 100, "b": 100})
    assert expected in text and ("run_in_blocks(" in text) is bool(expected)
    assert "blas_limit" not in text


@pytest.mark.parametrize("off", ["option", "environment", "absent"])
def test_the_limit_can_be_turned_off(off, monkeypatch):
    shapes = shapes_of(8, 1024, 64)
    assert BESIDE_BLAS in nt.formula(ATTENTION).to_python("numpy", shapes)
    if off == "environment":
        monkeypatch.setenv("NAMEDTENSOR_BLAS_LIMIT", "0")
    if off == "absent":
        monkeypatch.setattr(optimizations, "_has_threadpoolctl", lambda: False)
    without = ["blas-thread-limit"] if off == "option" else []
    compiled = nt.formula(ATTENTION).compile("numpy", disable=without)
    rng = np.random.default_rng(0)
    tensors = {
        name: nt.tensor(rng.standard_normal([*sizes.values()], dtype=np.float32), list(sizes))
        for name, sizes in shapes.items()
    }
    result = compiled(**tensors)
    assert "run_in_blocks(in_buffers, " in compiled.source and "blas_limit" not in compiled.source
    assert nt.allclose(
        result, nt.formula(ATTENTION).compile("numpy", disable=["tiling"])(**tensors), rtol=1e-4, atol=1e-4
    )


def test_products_beside_attention_keep_short_blocks_on_the_calling_thread():
    """Where threads of the BLAS are awake, ours would share their cores with them."""
    projected = "K = X ⊙_{chans} W\nY = softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V"
    shapes = shapes_of(8, 512, 64)
    shapes |= {"X": {"seq": 512, "chans": 2048}, "W": {"chans": 2048, "key": 64}}
    del shapes["K"]
    text = nt.program(projected)["Y"].to_python("numpy", shapes)
    assert "run_in_blocks(in_buffers, " in text


def test_layers_on_the_calling_thread_have_no_blocks_for_several():
    """A block for each core would multiply fewer rows at a time by each matrix, with nothing gained."""
    layer = """
    Y = relu(T ⊙_{chans} W_1) ⊙_{hidden} W_2 + T
    T = X ⊙_{chans'} W_0
    Z = Y ⊙_{chans} (T ⊙_{seq} X)
    """
    sizes = {"seq": 128, "chans": 768, "chans'": 768, "hidden": 3072}
    axes = {"X": "seq chans'", "W_0": "chans' chans", "W_1": "chans hidden", "W_2": "hidden chans"}
    shapes = {name: {axis: sizes[axis] for axis in text.split()} for name, text in axes.items()}
    text = nt.program(layer)["Z"].to_python("numpy", shapes)
    assert "ℝ^{seq[128] × hidden[3072]}" in text and "seq[64]" not in text
