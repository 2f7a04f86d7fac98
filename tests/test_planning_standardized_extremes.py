"""standardize of numbers whose squares overflow: as that of the same numbers in another unit, in every way to compute it."""

import warnings

import numpy as np
import pytest

import namedtensor as nt

SHAPES = {"short": (3,), "rows": (4, 7), "in blocks": (3000, 400)}
FACTORS = {"float64": (1e200, 1e300, 1e-200, 1.0), "float32": (1e25, 1e35, 1e-30, 1.0)}
CASES = [(dtype, factor) for dtype, factors in FACTORS.items() for factor in factors]


def drawn(shape, dtype, factor):
    return (np.random.default_rng(5).normal(size=shape) * factor).astype(dtype)


def by_hand(x, eps):
    """In long double, which has room for the squares."""
    wide = x.astype(np.longdouble)
    away = wide - wide.mean(-1, keepdims=True)
    return (away / np.sqrt((away**2).mean(-1, keepdims=True) + eps)).astype(x.dtype)


def ways(array, axes):
    x = nt.tensor(array, axes)
    text = "standardize_{a} X"
    yield nt.evaluate(text, X=x)
    yield nt.formula(text)(X=x)
    yield nt.formula(text).compile()(X=x)
    yield nt.formula(text).compile(without=("no largest",))(X=x)
    yield nt.standardize(x, axis="a")


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp < 5000, reason="long double is no wider than double here")
@pytest.mark.parametrize("dtype, factor", CASES)
@pytest.mark.parametrize("name", SHAPES)
def test_on_numpy(name, dtype, factor):
    array = drawn(SHAPES[name], dtype, factor)
    axes = "a" if array.ndim == 1 else "n a"
    want = by_hand(array, 1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for found in ways(array, axes):
            close = 2e-6 if dtype == "float32" else 1e-11
            np.testing.assert_allclose(found.to_array(axes), want, rtol=close, atol=close * np.abs(want).max())


@pytest.mark.parametrize("library", ["jax.numpy", "array_api_strict"])
def test_in_other_libraries(library):
    xp = pytest.importorskip(library)
    array = drawn((4, 7), "float32", 1e30)
    found = nt.evaluate("standardize_{a} X", X=nt.tensor(xp.asarray(array), "n a")).array
    np.testing.assert_allclose(np.asarray(found), by_hand(array, 1e-5), rtol=1e-4)


def test_what_is_infinite_stays_nan():
    array = np.array([1.0, np.inf, 2.0])
    with np.errstate(invalid="ignore"):
        assert np.isnan(nt.evaluate("standardize_{a} X", X=nt.tensor(array, "a")).array).any()
