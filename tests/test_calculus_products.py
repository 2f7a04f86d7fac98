"""Derivatives of ∏ and cumprod along long axes: values by direct loops, zeros, and memory in proportion to the length."""

import tracemalloc

import numpy as np
import pytest

import namedtensor as nt

LENGTH = 70
RUNNING = "S = ∑_{a} g ⊙ cumprod_{a} x"
WHOLE = "S = ∏_{a} x"


def with_zeros(*positions):
    numbers = np.random.default_rng(1).uniform(0.5, 1.6, LENGTH) * np.where(np.arange(LENGTH) % 3, 1, -1)
    numbers[list(positions)] = 0
    return numbers


FACTORS = {
    "no zero": with_zeros(),
    "a zero": with_zeros(20),
    "a zero at the beginning": with_zeros(0),
    "a zero at the end": with_zeros(-1),
    "two zeros": with_zeros(3, 40),
    "two adjacent zeros": with_zeros(40, 41),
    "three zeros": with_zeros(0, 33, 69),
    "zeros": np.zeros(LENGTH),
    "tiny numbers": np.where(np.arange(LENGTH) < 4, 1e-200, 1.1) * np.where(np.arange(LENGTH) == 60, -1, 1),
    "a subnormal number": np.where(np.arange(LENGTH) == 10, 1e-310, with_zeros()),
    "huge and tiny numbers": np.where(np.arange(LENGTH) % 2, 1e150, 1e-150),
}
WEIGHTS = np.random.default_rng(2).standard_normal(LENGTH)
DIRECTION = np.random.default_rng(3).standard_normal(LENGTH)


def products_without(x, *left_out):
    """Return the product up to each element without some factors, and zero before the last of these."""
    retained = np.array(x)
    retained[list(left_out)] = 1
    return np.where(np.arange(len(x)) >= max(left_out), np.cumprod(retained), 0)


def slope(x, at):
    return products_without(x, at)


def bend(x, first, second):
    return products_without(x, first, second) if first != second else np.zeros(len(x))


def assert_near(actual, expected):
    expected = np.asarray(expected)
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12 * min(1, np.abs(expected).max() + 1e-300))


@pytest.fixture(params=FACTORS, name="x")
def factors(request):
    return FACTORS[request.param]


def label_axes(array, library="numpy", axes="a"):
    if library == "torch":
        array = pytest.importorskip("torch").tensor(array)
    if library == "jax":
        pytest.importorskip("jax")
        array = pytest.importorskip("jax.numpy").asarray(array)
    return nt.tensor(array, axes)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_the_gradient_of_running_products(x, library):
    given = {"x": label_axes(x, library), "g": label_axes(WEIGHTS, library)}
    actual = nt.evaluate(f"{RUNNING}\n∂S/∂x", given).to_array()
    assert_near(actual, [WEIGHTS @ slope(x, at) for at in range(LENGTH)])


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_the_gradient_of_a_product(x, library):
    actual = nt.evaluate(f"{WHOLE}\n∂S/∂x", x=label_axes(x, library)).to_array()
    assert_near(actual, [slope(x, at)[-1] for at in range(LENGTH)])


def test_the_tangent_of_running_products(x):
    given = {"x": label_axes(x), "v": label_axes(DIRECTION), "t": 0.0}
    actual = nt.evaluate("∂(cumprod_{a}(x + t v))/∂t", given).to_array()
    assert_near(actual, sum(DIRECTION[at] * slope(x, at) for at in range(LENGTH)))


@pytest.mark.parametrize("program", [RUNNING, WHOLE])
def test_second_derivatives(x, program):
    weights = WEIGHTS if program == RUNNING else np.arange(LENGTH) == LENGTH - 1
    given = {"x": label_axes(x), "v": label_axes(DIRECTION)} | (
        {"g": label_axes(WEIGHTS)} if program == RUNNING else {}
    )
    actual = nt.evaluate(f"{program}\nD = ∂S/∂x\n∂(∑_{{a}} v ⊙ D)/∂x", given).to_array()
    bends = np.array([[weights @ bend(x, at, other) for other in range(LENGTH)] for at in range(LENGTH)])
    assert_near(actual, bends @ DIRECTION)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("order", ["a b c", "b a c", "c b a"])
def test_other_axes(library, order):
    rows = np.stack(
        [with_zeros(), with_zeros(20), with_zeros(3, 40), np.full(LENGTH, 1e-3), -with_zeros(7), with_zeros(0)]
    )
    x = rows.reshape(2, 3, LENGTH)  # b, c, a
    g = np.random.default_rng(4).standard_normal(x.shape)
    axes = order.split()
    move = [("b", "c", "a").index(axis) for axis in axes]
    given = {"x": label_axes(x.transpose(move), library, order), "g": label_axes(g, library, "b c a")}
    running = nt.evaluate("∂(∑_{a,b,c} g ⊙ cumprod_{a} x)/∂x", given).to_array("b c a")
    product = nt.evaluate("∂(∑_{b,c} ∏_{a} x)/∂x", x=given["x"]).to_array("b c a")
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if library == "jax" else {"rtol": 1e-9, "atol": 1e-12}
    for b, c in np.ndindex(2, 3):
        slopes = [slope(x[b, c], at) for at in range(LENGTH)]
        np.testing.assert_allclose(running[b, c], [g[b, c] @ one for one in slopes], **tolerance)
        np.testing.assert_allclose(product[b, c], [one[-1] for one in slopes], **tolerance)


def test_a_product_over_two_axes():
    x = with_zeros(20).reshape(7, 10)
    actual = nt.evaluate("∂(∏_{a,b} x)/∂x", x=nt.tensor(np.tile(x, (10, 10)), "a b")).to_array("a b")
    assert np.count_nonzero(actual) == 0  # One hundred zeros.
    x = np.random.default_rng(5).uniform(0.9, 1.1, (80, 90))
    x[3, 5] = 0
    actual = nt.evaluate("∂(∏_{a,b} x)/∂x", x=nt.tensor(x, "a b")).to_array("a b")
    assert [*np.argwhere(actual)[0]] == [3, 5] and np.count_nonzero(actual) == 1
    assert actual[3, 5] == pytest.approx(np.prod(x[x != 0]))


@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 66, 127, 128, 129, 257])
def test_each_length(size):
    x = np.random.default_rng(size).uniform(-1.5, 1.5, size)
    x[size // 2] = 0
    formula = nt.formula("x ∈ ℝ^{a}\n∂(∑_{a} cumprod_{a} x)/∂x")
    for length in (size, 3):  # Both lengths use one formula, so the second could use a plan of the first.
        expected = [slope(x[:length], at).sum() for at in range(min(size, length))]
        assert_near(formula(x=nt.tensor(x[:length], "a")).to_array(), expected)


def test_a_formula_first_called_with_a_short_axis_and_then_with_a_long_one():
    formula = nt.formula("x ∈ ℝ^{a}\n∂(∑_{a} cumprod_{a} x)/∂x")
    for size in (3, 5, 8, 20_000):
        tracemalloc.start()
        value = formula(x=nt.tensor(np.ones(size), "a")).to_array()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.array_equal(value, np.arange(size, 0, -1.0))
        assert peak < 80 * 2**20


@pytest.mark.sampled(3)
@pytest.mark.parametrize("formula", [
    "∂(∑_{a} cumprod_{a} x)/∂x", "∂(∏_{a} x)/∂x", "D = ∂(∑_{a} cumprod_{a} x)/∂x\n∂(∑_{a} D ⊙ D)/∂x",
    "∂(cumprod_{a}(x + t))/∂t", "D = ∂(∏_{a} x)/∂x\n∂(∑_{a} D ⊙ D)/∂x",
])  # fmt: skip
def test_memory_grows_with_the_length(formula):
    peaks = {}
    for size in (30_000, 120_000):
        given = {"x": nt.tensor(np.ones(size), "a")} | ({"t": 0.0} if "t)" in formula else {})
        nt.evaluate(formula, given)
        tracemalloc.start()
        nt.evaluate(formula, given)
        peaks[size] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks[120_000] < 6 * peaks[30_000] < 6 * 400 * 8 * 30_000
