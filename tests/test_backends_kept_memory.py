"""Large arrays between the steps of a function of NumPy lie in memory that is kept for the next call; results never do."""

import functools
import itertools
import math
import os
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.backends import numpy as numpy_backend
from namedtensor.backends.numpy_kernels import KERNELS
from namedtensor.programs.call_cache import CachedCall

FORMULAS = [
    "exp X + Y",
    "[exp X + 1]_{a→c}",
    "(exp X)_{a(2)}",
    "exp X ⊙_{b} Y",
    "softmax_{c}(X ⊙_{b} [Y]_{a→c}) ⊙_{c} [Y]_{a→c}",
    "∑_{a} exp(X ⊙ Y)",
    "max_{b}(X + Y)",
    "relu(X ⊙ 2 + Y) / (1 + exp X)",
    "standardize_{b}(X + Y)",
    "[exp X]_{(a,b)→d}",
    "sort_{b}(X ⊙ 2)",
    "cumsum_{b}(exp X)",
]


def drawn(seed: int, *shape: int) -> nt.NamedTensor:
    return nt.tensor(np.random.default_rng(seed).standard_normal(shape), "a b")


@pytest.fixture
def every_array(monkeypatch):
    """All arrays between steps lie in kept memory, however small."""
    monkeypatch.setattr(numpy_backend, "MIN_KEPT_NUMBERS", 1)
    monkeypatch.setattr(numpy_backend, "MIN_KEPT_BYTES", 1)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_result_stays_what_it_is_while_further_calls_are_made(text, every_array):
    formula, plain = nt.formula(f"f(X, Y) = {text}"), nt.formula(f"g(X, Y) = {text}")
    X, Y = drawn(1, 5, 6), drawn(2, 5, 6)
    results = [(formula(x, y), x, y) for x, y in ((X, Y), (Y, X), (X * 2, Y), (X, Y * 3))]
    for result, x, y in results:
        assert nt.allclose(result, plain.compile(backend="numpy")(x, y))


def test_gradients_stay_what_they_are(every_array):
    text = "loss = ∑_{a, b} tanh(X ⊙_{b} W + X)^2\nX ∈ ℝ^{a × b}\nW ∈ ℝ^{b}"
    step = nt.gradient(text, "loss", ["X", "W"])
    values = [{"X": drawn(seed, 4, 3), "W": nt.tensor(np.arange(3.0), "b")} for seed in range(3)]
    results = [step(values=given) for given in values]
    copies = [[np.array(item.to_array(item.axes)) for item in gradient.values()] for gradient in results]
    again = [step(values=given) for given in reversed(values)][::-1]
    for gradient, copied, other in zip(results, copies, again):
        for item, before, repeated in zip(gradient.values(), copied, other.values()):
            np.testing.assert_array_equal(item.to_array(item.axes), before)
            np.testing.assert_array_equal(repeated.to_array(item.axes), before)


def test_attention_in_two_threads():
    formula = nt.formula("f(Q, K, V) = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V")
    generator = np.random.default_rng(0)

    def given() -> list[nt.NamedTensor]:
        axes = ("heads queries key", "heads seq key", "heads seq val")
        return [nt.tensor(generator.standard_normal((4, 256, 16), np.float32), names) for names in axes]

    def by_hand(q, k, v) -> np.ndarray:
        powers = np.exp(q @ k.swapaxes(1, 2) / 4)
        return powers / powers.sum(-1, keepdims=True) @ v

    calls = [given() for _ in range(24)]
    with ThreadPoolExecutor(2) as threads:
        results = list(threads.map(lambda tensors: formula(*tensors), calls))
    for result, tensors in zip(results, calls):
        expected = by_hand(*(tensor.to_array(tensor.axes) for tensor in tensors))
        np.testing.assert_allclose(result.to_array("heads queries val"), expected, rtol=1e-4, atol=1e-5)


def test_what_a_python_function_keeps_is_its_own(every_array):
    received = []

    @nt.custom_function("remembered : ℝ^{b} → ℝ^{b}")
    def remembered(x):
        received.append(x)
        return x

    formula = nt.formula("g(X) = remembered_{b}(exp X + X)")
    X = drawn(1, 2, 3)
    formula(X)
    first = [np.array(tensor.to_array(tensor.axes)) for tensor in received]
    formula(X * 2)
    for tensor, before in zip(received, first):
        np.testing.assert_array_equal(tensor.to_array(tensor.axes), before)


def test_a_further_call_takes_new_memory_for_its_result_alone():
    X = nt.tensor(np.ones((400, 400), np.float32), "a b")
    formula = nt.formula("f(X) = exp(X ⊙_{b} [X]_{a→c} / 400) ⊙_{c} [X]_{a→c}")
    for _ in range(3):
        formula(X)
    tracemalloc.start()
    try:
        formula(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert X.array.nbytes <= peak < 1.2 * X.array.nbytes


def test_large_arrays_of_one_plan_lie_in_kept_memory_and_small_ones_do_not():
    def buffers(size: int) -> bool:
        X = nt.tensor(np.ones((size, size), np.float32), "a b")
        compiled = nt.program("Y = exp(X ⊙_{b} [X]_{a→c}) ⊙_{c} [X]_{a→c}")
        entry = compiled["Y"]
        entry(X=X)
        plan = entry._last_used.function.plan
        return numpy_backend.BACKEND.kept_buffers(plan) is not None

    assert buffers(400) and not buffers(40)


@pytest.fixture
def in_buffers():
    """The kernel of this name, which has kept no memory yet."""
    modules = {"np": np, "math": math, "itertools": itertools, "functools": functools, "os": os}
    for name in ("cores", "in_buffers"):
        exec(KERNELS[name], modules)
    return modules["in_buffers"]


@pytest.mark.parametrize("count", [5, 70_000, 300_001, 2**20 - 48])
def test_buffers_start_at_lines_of_the_cache(count, in_buffers):
    """Products that two threads write take up to 15 % longer where a line of the cache is shared between them."""
    shapes = [((count,), np.float32), ((3, 7), np.float64), ((count,), bool)]
    arrays = in_buffers(lambda memory: memory(shapes))
    assert [array.ctypes.data % 64 for array in arrays] == [0, 0, 0]
    assert not any(np.shares_memory(one, other) for one, other in itertools.combinations(arrays, 2))


@pytest.mark.parametrize(("nbytes", "is_kept"), [(2**22, True), (2**22 + 64, False)])
def test_memory_up_to_the_limit_is_kept(nbytes, is_kept, in_buffers):
    first, again = (in_buffers(lambda memory: memory((((nbytes,), np.uint8),)))[0] for _ in range(2))
    assert np.shares_memory(first, again) == is_kept


CONSTANTS = "exp(X / 3) ⊙_{b} (Y / 7 + [1, 2, 3, 4, 5, 6]_{b})", "exp(X / 3 + 2 ⊙ [1, 2, 3, 4, 5, 6]_{b}) + Y"


@pytest.mark.parametrize("text", CONSTANTS)
def test_constants_count_as_memory_of_the_function(text, monkeypatch):
    """The cache of executables is bounded by the bytes that they hold, whichever function within another holds them."""
    counts = []
    for least in (2**30, 1):
        monkeypatch.setattr(numpy_backend, "MIN_KEPT_NUMBERS", least)
        monkeypatch.setattr(numpy_backend, "MIN_KEPT_BYTES", least)
        function = nt.formula(f"f(X, Y) = {text}")["f"]
        function(drawn(1, 5, 6), drawn(2, 5, 6))
        counts.append(function._last_used.function.held)
    assert counts[0] == counts[1] >= 6 * 8


@pytest.mark.parametrize("text", [*FORMULAS, *CONSTANTS])
def test_a_repeated_call_runs_what_the_first_one_ran(text, every_array, monkeypatch):
    function, X, Y = nt.formula(f"f(X, Y) = {text}")["f"], drawn(1, 5, 6), drawn(2, 5, 6)
    expected = [function(X, Y) for _ in range(3)][0]
    monkeypatch.setattr(CachedCall, "_slow_path", None)
    assert nt.allclose(function(X, Y), expected)
