"""Products of one X with several matrices: put together where X has many rows, as they lie where it has few."""

from __future__ import annotations

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.backends.function import backend

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


@pytest.mark.parametrize("rows", [1, 3, 8])
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

    class Counted(np.ndarray):
        def dot(self, other):
            products.append(other.shape)
            return np.asarray(self).dot(other)

    def counted(left, right, dot=np.dot):  # of matrices that are transposed
        products.append(left.T.shape)
        return dot(left, np.asarray(right))

    with monkeypatch.context() as patch:
        patch.setattr(np, "dot", counted)
        result = kernel(x.view(Counted), tuple(flat))
    np.testing.assert_allclose(result, np.concatenate([x @ item for item in flat], 1), rtol=1e-4, atol=1e-4)
    assert products == ([(CHANS, 2 * KEY)] if is_one else [(CHANS, KEY)] * 2)
    value = program()["Y"](values=tensors)
    np.testing.assert_allclose(value.to_array("seq key"), want, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "rows, key, how", [(8, KEY, "projected("), (9, KEY, ".dot("), (8, 128, ".dot("), (100, KEY, ".dot(")]
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
        assert {after - before for before, after in zip(starts, starts[1:])} == {parameters["W^{1,Q}"].array.nbytes}
        assert parameters[f"W^{{{l},Q}}"].axes == ("heads", "key", "chans")
