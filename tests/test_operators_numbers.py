"""What numbers come out: names and dtypes of the operators, powers, extremes, accuracy, and what undoes what."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from records import assert_equal, entry, every_storage

import namedtensor as nt
from grammar.symbols import FUNCTIONS
from namedtensor.operators import REGISTRY

INF, NAN = math.inf, math.nan
CUBE = nt.tensor(np.round(np.random.default_rng(0).normal(size=(2, 3, 4)) * 4, 2), "a b c")


def test_the_grammar_knows_the_functions_that_are_registered():
    registered = {name for name in REGISTRY if name.isidentifier()} | {"size"}
    spelled_otherwise = {
        "I",
        "iota",
        "ones",
        "juxtaposed",
        "negative",
        "odd",
        "even",
        "sum",
        "prod",
        "dot",
        "identity",
        "logical_not",
    }
    assert registered - spelled_otherwise == FUNCTIONS


POWERS = [
    ([2, 3], 2, [4, 9], "float64"), ([2, 4], -1, [0.5, 0.25], "float64"), ([4.0, 9.0], 0.5, [2.0, 3.0], "float64"),
    ([2, 3], 0.5, [2**0.5, 3**0.5], "float64"), ([0.0, 2.0], 0, [1.0, 1.0], "float64"), ([2, 3], 0, [1, 1], "float64"),
    ([2, 3], [3, 2], [8, 9], "float64"), ([2, 4], [1, -1], [2.0, 0.25], "float64"), ([2.0, 3.0], [3, 2], [8.0, 9.0], "float64"),
    (2, [1, 3], [2, 8], "float64"), (2.0, [1, -1], [2.0, 0.5], "float64"), (2, [1, -1], [2.0, 0.5], "float64"),
]  # fmt: skip


@pytest.mark.parametrize(("base", "exponent", "want", "dtype"), POWERS, ids=str)
def test_a_power_is_floating_where_it_is_not_known_to_fit(base, exponent, want, dtype):
    base, exponent = (nt.tensor(item, "n") if isinstance(item, list) else item for item in (base, exponent))
    for _ in range(2):  # the second time it is prepared already
        result = base**exponent
        assert result.array.tolist() == pytest.approx(want)
        assert str(result.dtype) == dtype
        assert nt.allclose(nt.pow(base, exponent), result)


# ----------------------------------------------------------------------------------------------- indices and inverses
INDICES = {
    "no axis aligned": nt.tensor([[2, 0], [1, 1], [0, 2]], "p q"), "one aligned": nt.tensor([[2, 0], [1, 1]], "a q"),
    "all aligned": nt.tensor([[2, 0, 1, 1], [1, 1, 0, 2]], "a c"), "the axis itself": nt.tensor([2, 2, 0, 1], "b"),
    "no axes": nt.tensor(2, ()), "whole floats": nt.tensor([2.0, 0.0], "q"), "narrow": nt.tensor(np.array([2, 0], "uint8"), "q"),
}  # fmt: skip


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_an_index_picks_elements_from_0(index):
    for x, at in itertools.product(every_storage(CUBE), every_storage(index)):
        tensor = nt.index(x, at, axis="b")
        sizes = {"a": 2, "c": 4, **index.sizes}
        assert_equal(tensor, sizes, lambda record: entry(CUBE, {**record, "b": int(entry(index, record))}))


BAD_INDICES = [
    ([3], "401"),
    ([-1], "401"),
    ([0.5], "402"),
    ([NAN], "402"),
    ([INF], "402"),
    ([True], "402"),
    (7, "401"),
    (1.5, "402"),
]


@pytest.mark.parametrize(("index", "number"), BAD_INDICES, ids=str)
def test_an_index_never_wraps(index, number):
    at = nt.tensor(index, "q") if isinstance(index, list) else index
    for _ in range(2):
        with pytest.raises(nt.NotationError, match=f"value error {number}"):
            nt.index(CUBE, at, axis="b")


MATRIX = nt.tensor([[[2.0, 1.0], [0.5, 3.0]], [[1.0, -1.0], [4.0, 0.5]]], "batch r c")


def test_the_inverse_undoes_the_matrix():
    """Its rows are the matrix's columns: they carry the names of the rows and columns as a matrix is written."""
    for x in every_storage(MATRIX):
        inverse = nt.inv(x, axis=("r", "c"))
        assert inverse.sizes == MATRIX.sizes
        product = nt.dot(x, inverse.rename(r="c", c="r'"), axis="c")
        assert nt.allclose(product, nt.identity(axis=("r", "r'"), size=2) + 0 * product, atol=1e-12)
        assert nt.allclose(nt.inv(inverse, axis=("r", "c")), MATRIX)


# ------------------------------------------------------------------------------------------------------------- dtypes
F32, F64, I64, I8, U8, B = (np.dtype(name) for name in ("float32", "float64", "int64", "int8", "uint8", "bool"))
MEETINGS = [
    (F32, F32, F32), (F32, F64, F64), (I64, F32, F32), (F32, I64, F32), (I8, F32, F32), (B, F32, F32), (I64, F64, F64),
    (I64, I64, I64), (I8, I64, I64), (B, I64, I64), (I8, I8, I8), (B, B, I64), (I8, U8, I64),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "want"), MEETINGS, ids=str)
def test_the_dtype_of_two_that_meet(left, right, want):
    x, y = nt.tensor(np.ones(2, left), "a"), nt.tensor(np.ones(2, right), "a")
    for name in ("add", "subtract"):
        assert getattr(nt, name)(x, y).dtype == (I64 if want.kind == "i" else want), name
    assert nt.multiply(x, y).dtype == (F64 if want.kind == "i" and I64 in (left, right) else nt.add(x, y).dtype)
    for name in ("max", "min"):
        assert getattr(nt, name)(x, y).dtype == want, name
    assert nt.where(x > 0, x, y).dtype == want
    assert nt.concat(x, y, axis="a").dtype == want
    assert nt.stack(x, y, axis="b").dtype == want
    assert (x / y).dtype == (want if want.kind == "f" else F64)
    assert (x == y).dtype == B


NUMBERS = [
    (F32, 2, F32),
    (F32, 0.1, F32),
    (F32, True, F32),
    (I64, 2, I64),
    (I64, 0.5, F64),
    (I8, 2, I64),
    (F64, 2, F64),
    (B, 1, I64),
]


@pytest.mark.parametrize(("dtype", "number", "want"), NUMBERS, ids=str)
def test_a_python_number_never_widens_floats(dtype, number, want):
    x = nt.tensor(np.ones(2, dtype), "a")
    for result in (x + number, number + x, number - x, nt.max(x, number), nt.clip(x, number, number)):
        assert result.dtype == want
    assert (x * number).dtype == (F64 if want == I64 else want)
    assert nt.where(x > 0, x, number).dtype == want
    assert nt.stack(x, number, axis="b").dtype == want
    assert (x / number).dtype == (want if want.kind == "f" else F64)
    assert (x + np.float64(0.1)).dtype == (F64 if dtype.kind in "ib" else dtype)


# ----------------------------------------------------------------------------------------------------------- extremes
def one(name, values, **options):
    with np.errstate(all="ignore"):
        return getattr(nt, name)(nt.tensor(np.array(values, "float64"), "n"), axis="n", **options).array.tolist()


EXTREMES = [
    ("softmax", [1000.0, 1000.0], [0.5, 0.5]), ("softmax", [-1000.0, -1000.0], [0.5, 0.5]), ("softmax", [1e308, -1e308], [1, 0]),
    ("softmax", [-INF, 0.0], [0, 1]), ("softmax", [-INF, -INF, 3.0], [0, 0, 1]), ("softmax", [-INF, -INF], [NAN, NAN]),
    ("logsoftmax", [1000.0, 0.0], [0, -1000]), ("logsoftmax", [-INF, 0.0], [-INF, 0]),
    ("logsoftmax", [-1000.0, -1000.0], [-math.log(2)] * 2), ("logsumexp", [1000.0, 1000.0], 1000 + math.log(2)),
    ("logsumexp", [-1000.0, -1000.0], -1000 + math.log(2)), ("logsumexp", [-INF, -INF], -INF), ("logsumexp", [INF, 0.0], INF),
    ("logsumexp", [-INF, 1.0], 1), ("norm", [3e200, 4e200], 5e200), ("norm", [3e-200, 4e-200], 5e-200), ("norm", [0.0, 0.0], 0),
    ("norm", [INF, 1.0], INF), ("norm", [NAN, 1.0], NAN), ("standardize", [1e8, 1e8 + 2], [-1 / math.sqrt(1.00001), 1 / math.sqrt(1.00001)]),
    ("standardize", [7.0, 7.0], [0, 0]), ("var", [1e9, 1e9 + 2], 1), ("argmax", [-INF, -INF], [0.5, 0.5]), ("argmax", [INF, 1.0], [1, 0]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values", "want"), EXTREMES, ids=str)
def test_extremes_along_axes(name, values, want):
    np.testing.assert_allclose(one(name, values), want, rtol=1e-9)


@pytest.mark.parametrize("p", [1, 2, 3, INF])
def test_a_norm_neither_overflows_nor_vanishes(p):
    for scale in (1e250, 1e-250):
        result = one("norm", [scale, -scale], p=p)
        assert result == pytest.approx(scale * (1 if p == INF else 2 ** (1 / p)), rel=1e-12)


EXTREME_NUMBERS = [
    ("sigmoid", 1000.0, 1.0), ("sigmoid", -1000.0, 0.0), ("sigmoid", INF, 1.0), ("sigmoid", -INF, 0.0),
    ("softplus", 1000.0, 1000.0), ("softplus", -1000.0, 0.0), ("softplus", -40.0, math.exp(-40)), ("softplus", INF, INF),
    ("silu", -1000.0, 0.0), ("silu", 1000.0, 1000.0), ("gelu", -40.0, 0.0), ("gelu", 40.0, 40.0), ("gelu_tanh", -1000.0, 0.0),
    ("erf", INF, 1.0), ("erf", -INF, -1.0), ("erf", NAN, NAN), ("erf", 1e-300, 2e-300 / math.sqrt(math.pi)), ("erf", 30.0, 1.0),
    ("relu", NAN, NAN), ("relu", -INF, 0.0), ("tanh", 1000.0, 1.0), ("log", 0.0, -INF), ("sign", NAN, NAN),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "want"), EXTREME_NUMBERS, ids=str)
def test_extremes_of_numbers(name, value, want):
    with np.errstate(all="ignore"):
        result = getattr(nt, name)(nt.tensor([value, 0.0], "n")).array.tolist()[0]
    np.testing.assert_allclose(result, want, rtol=1e-14)


def test_the_error_function_is_accurate():
    grid = np.concatenate([np.linspace(-6, 6, 20_001), np.geomspace(1e-300, 1, 500), [0.0, 27.0]])
    array = nt.erf(nt.tensor(grid, "n")).array
    want = np.array([math.erf(x) for x in grid])
    assert np.all(np.abs(array - want) <= 4e-16 * np.abs(want))
    assert np.signbit(nt.erf(nt.tensor([-0.0], "n")).array[0])


def test_the_error_function_of_32_bits_is_accurate():
    """To 3.2 units in the last place, in more numbers than one part has, and where squares overflow."""
    grid = np.concatenate([np.linspace(-6, 6, 100_001), np.geomspace(1e-38, 1, 500), [-np.inf, -1e30, 1e30, np.inf]])
    grid = grid.astype("float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        array = nt.erf(nt.tensor(grid, "n")).array
    want = np.array([math.erf(x) for x in grid.tolist()])
    assert array.dtype == np.float32
    assert np.all(np.abs(array - want) <= 3.2 * np.spacing(np.abs(want).astype("float32")))
    assert np.signbit(nt.erf(nt.tensor(np.float32([-0.0]), "n")).array[0])  # type: ignore
    assert np.isnan(nt.erf(nt.tensor(np.float32([np.nan]), "n")).array[0])  # type: ignore


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_error_function_writes_where_it_is_told(dtype):
    """Over its own argument too, and into columns of a larger array."""
    from namedtensor.backends.numpy import BACKEND

    erf = BACKEND.globals(np)["erf_single" if dtype == "float32" else "erf"]
    whole = np.linspace(-3, 3, 60, dtype=dtype).reshape(6, 10)
    want, part = np.vectorize(math.erf)(whole), whole[:, 2:7]
    assert erf(part, part) is part
    np.testing.assert_allclose(part, want[:, 2:7], rtol=4e-7 if dtype == "float32" else 1e-15)
    assert whole[0, 0] == -3 and whole[-1, -1] == 3
