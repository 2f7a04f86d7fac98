"""While blocks run OpenBLAS has one thread, and afterwards as many as before: with several threads, in the text that stands
alone too, and after a fork."""

from __future__ import annotations

import os
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
    get, put = functions
    before = get()
    put(2)
    if get() != 2:
        put(before)
        pytest.skip("this OpenBLAS cannot have two threads")
    yield found
    put(before)


def test_the_last_who_goes_sets_the_number_back(kernels):
    """Two threads, the first of which ends while the second is at work."""
    get, _ = kernels["blas_threads"]()
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
    get, _ = kernels["blas_threads"]()
    with pytest.raises(ZeroDivisionError), kernels["one_thread_of_blas"]():
        assert get() == 1
        raise ZeroDivisionError
    assert get() == 2


def test_formulas_in_several_threads(kernels):
    get, _ = kernels["blas_threads"]()
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


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="this system does not fork")
def test_in_a_forked_process_nobody_is_left(kernels):
    get, _ = kernels["blas_threads"]()
    with kernels["one_thread_of_blas"]():
        kernels["without_blas_users"]()  # what a child does as it begins
        assert (get(), kernels["blas_users"]) == (2, [])
    assert get() == 2
