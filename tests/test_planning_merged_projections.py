"""Products of one X with several matrices: put together where X has many rows, as they lie where it has few."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.backends.function import backend
from namedtensor.backends.numpy_kernels import PADDED

TEXT = """
Q = X ⊙_{chans} W_Q + b
K = X ⊙_{chans} W_K + b
Y = Q ⊙ K
X ∈ ℝ^{seq × chans}
W_Q, W_K ∈ ℝ^{chans × key}
b ∈ ℝ^{key}
"""
CHANS, KEY = 256, 256
DRAW = np.random.default_rng(0)
W = DRAW.standard_normal((2, KEY, CHANS), dtype=np.float32)
LYING = {  # two matrices, and whether they are one as they lie
    "rows after rows": (lambda: tuple(W), "key chans", True),
    "columns beside columns": (lambda: tuple(np.ascontiguousarray(W.transpose(2, 0, 1)).swapaxes(0, 1)), "chans key", True),
    "apart": (lambda: (W[0].copy(), W[1].copy()), "key chans", False),
    "the other first": (lambda: (W[1], W[0]), "key chans", False),
    "the same twice": (lambda: (W[0], W[0]), "key chans", False),
    "of several layouts": (lambda: (W[0], np.ascontiguousarray(W[1].T).T), "key chans", False),
    "from a file": (lambda: tuple(np.frombuffer(W.tobytes(), np.float32).reshape(W.shape)), "key chans", True),
}  # fmt: skip


def program() -> nt.Program:
    return nt.program(TEXT)


@pytest.mark.parametrize("rows", [1, 3, 8, 20, 300])
@pytest.mark.parametrize("lying", LYING)
def test_the_products_are_those_of_each_matrix(lying, rows, monkeypatch):
    make, axes, is_one = LYING[lying]
    w_q, w_k = make()
    x, b = DRAW.standard_normal((rows, CHANS), dtype=np.float32), DRAW.standard_normal(KEY, dtype=np.float32)
    tensors = {
        "X": nt.tensor(x, "seq chans"),
        "W_Q": nt.tensor(w_q, axes),
        "W_K": nt.tensor(w_k, axes),
        "b": nt.tensor(b, "key"),
    }
    flat = [item if axes == "chans key" else item.T for item in (w_q, w_k)]
    want = (x @ flat[0] + b) * (x @ flat[1] + b)
    products: list[tuple[int, ...]] = []
    kernel = backend("numpy").globals(np)["projected"]
    padded_dot, separately = (kernel.__globals__[name] for name in ("padded_dot", "separately"))

    def one(left, right):
        products.append(right.shape if len(left) == rows else left.T.shape)
        return padded_dot(left, right)

    def several(left, matrices, whole, product):
        parts = separately(left, matrices, whole, product)
        products[:] = [matrix.shape for matrix in matrices]
        return parts

    with monkeypatch.context() as patch:
        patch.setitem(kernel.__globals__, "padded_dot", one)
        patch.setitem(kernel.__globals__, "separately", several)
        result = kernel(x, tuple(flat))
    np.testing.assert_allclose(result, np.concatenate([x @ item for item in flat], 1), rtol=1e-4, atol=1e-4)
    assert products == ([(CHANS, 2 * KEY)] if is_one else [(CHANS, KEY)] * 2)
    value = program()["Y"](values=tensors)
    np.testing.assert_allclose(value.to_array("seq key"), want, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "rows, key, how",
    [(8, KEY, "projected("), (100, KEY, "projected("), (300, KEY, ".dot("), (8, 128, ".dot("), (100, 128, ".dot(")],
)
def test_how_many_rows_and_numbers_it_takes(rows, key, how):
    text = program()["Y"].to_python(
        X={"seq": rows, "chans": CHANS}, b={"key": key}, **dict.fromkeys(("W_Q", "W_K"), {"chans": CHANS, "key": key}),
    )  # fmt: skip
    assert how in text and (how == "projected(") == ("def projected" in text)


def test_a_loaded_model_has_its_projections_side_by_side(tmp_path):
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    import transformer

    config = transformers.GPT2Config(vocab_size=9, n_embd=12, n_layer=2, n_head=3, n_positions=8)
    torch.manual_seed(0)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    parameters = transformer.load(tmp_path).parameters
    position = lambda name: parameters[name].array.__array_interface__["data"][0]
    for l in (1, 2):
        starts = [position(f"W^{{{l},{kind}}}") for kind in "QKV"]
        assert {after - before for before, after in zip(starts, starts[1:])} == {12 * 4}  # of one row of the matrix
        assert parameters[f"W^{{{l},Q}}"].axes == ("chans", "heads", "key")
        assert parameters[f"W^{{{l},Q}}"].array.strides == (3 * 12 * 4, 4 * 4, 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", range(1, 18))
def test_products_of_few_rows(rows, dtype):
    """A product of 5 to 7 rows takes longer than one of 8; the rows that are added leave no trace."""
    rng = np.random.default_rng(rows)
    x, w = rng.standard_normal((rows, 192)).astype(dtype), rng.standard_normal((192, 256)).astype(dtype)
    w[3] = np.inf
    X, W = nt.tensor(x, "seq chans"), nt.tensor(w, "chans hidden")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for formula, sides in (("X ⊙_{chans} W", (x, w)), ("W ⊙_{chans} X", (x, w))):
            value = nt.formula(formula)(X=X, W=W)
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(value.to_array("seq hidden"), np.matmul(*sides), rtol=1e-3, atol=1e-3)
    kernel = backend("numpy").globals(np)["padded_dot"]
    w[3] = 0
    np.testing.assert_allclose(kernel(x, w), x @ w, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(kernel(w.T, x.T), w.T @ x.T, rtol=1e-3, atol=1e-3)
    assert kernel(x, w).flags.c_contiguous
    shapes = {"X": {"seq": rows, "chans": 192}, "W": {"chans": 192, "hidden": 256}}
    assert ("padded_dot(" in nt.formula("X ⊙_{chans} W").to_python("numpy", shapes)) is (rows in PADDED)
