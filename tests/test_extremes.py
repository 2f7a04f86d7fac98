"""Softmax that does not take the largest off first, unless the numbers are extreme: the same in every case."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import namedtensor as nt

ATTENTION = "Attention(Q, K, V) = softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V"
SMALL = {"heads": 2, "queries": 4, "seq": 5, "key": 8, "val": 3}
LATE = SMALL | {"seq": 9}  # more keys than values: the sums divide last
BLOCKED = {"heads": 2, "queries": 700, "seq": 900, "key": 8, "val": 16}
AXES = {"Q": "heads queries key", "K": "heads seq key", "V": "heads seq val"}


def drawn(sizes, dtype="float32"):
    generator = np.random.default_rng(3)
    return {
        name: generator.normal(size=[sizes[axis] for axis in axes.split()]).astype(dtype) for name, axes in AXES.items()
    }


def moderate(arrays):
    return arrays


def large(arrays):
    """Scores of hundreds, in all rows."""
    return arrays | {"Q": 100 * arrays["Q"]}


def one_large(arrays):
    """Scores of thousands in one row, moderate ones elsewhere."""
    Q = arrays["Q"].copy()
    Q[1, 3] *= 1000
    return arrays | {"Q": Q}


def far_below(arrays):
    """Scores that are all about −500: every exponential is zero in float32."""
    Q, K = np.abs(arrays["Q"]) + 1, -np.abs(arrays["K"]) - 1
    return arrays | {"Q": 30 * Q, "K": K}


def large_values(arrays):
    """Sums that are moderate, and values near the end of what numbers there are."""
    V = arrays["V"] * arrays["V"].dtype.type(2.0 ** (100 if arrays["V"].dtype == np.float32 else 900))
    return arrays | {"Q": 5 * arrays["Q"], "V": V}


def nothing_there(arrays):
    K = arrays["K"].copy()
    K[0, 2] = np.nan
    return arrays | {"K": K}


KINDS = {
    each.__name__.replace("_", " "): each
    for each in (moderate, large, one_large, far_below, large_values, nothing_there)
}


def by_definition(Q, K, V):
    """Row by row in float64, or wider where there is more."""
    Q, K, V = (each.astype(np.longdouble) for each in (Q, K, V))
    found = np.empty((*Q.shape[:2], V.shape[-1]), np.longdouble)
    for h in range(Q.shape[0]):
        for q in range(Q.shape[1]):
            scores = K[h] @ Q[h, q]
            weights = np.exp(scores - scores.max())
            found[h, q] = (weights / weights.sum()) @ V[h]
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", [SMALL, LATE, BLOCKED], ids=["small", "late", "blocked"])
@pytest.mark.parametrize("kind", KINDS)
def test_extreme_numbers_make_no_difference(kind, sizes, dtype):
    arrays = KINDS[kind](drawn(sizes, dtype))
    tensors = {name: nt.tensor(array, AXES[name]) for name, array in arrays.items()}
    formula = nt.formula(ATTENTION)
    hasty, careful = formula.compile("numpy"), formula.compile("numpy", without=("no largest",))
    order = "heads queries val"
    with np.errstate(all="ignore"):
        right = by_definition(**arrays)
    for _ in range(3):
        found, other = (each(*tensors.values()).to_array(order) for each in (hasty, careful))
        scores = np.abs(arrays["Q"]).max() * np.abs(arrays["K"]).max() * sizes["key"]  # whose rounding exp makes larger
        close = {"rtol": float(20 * np.finfo(dtype).eps * max(10.0, scores)), "equal_nan": True}
        size = float(np.nanmax(np.abs(right)))
        assert np.allclose(found / size, (right / size).astype(dtype), atol=close["rtol"], **close)
        assert np.allclose(found / size, other / size, atol=close["rtol"], **close)
    text = hasty.source
    assert "moderate(" in text and "moderate(" not in careful.source


def test_the_plan_checks_the_sums():
    tensors = {name: nt.tensor(array, AXES[name]) for name, array in drawn(SMALL).items()}
    compiled = nt.formula(ATTENTION).compile("numpy")
    compiled(*tensors.values())
    plan = compiled.plan
    assert "max(" not in str(plan) and "moderate(t6; low 5.421010862427522e-20; high 1.8446744073709552e+19)\n" in str(
        plan
    )
    assert "max(" in str(plan.careful) and "moderate" not in str(plan.careful)


def test_a_softmax_written_out_is_done_as_written():
    """exp(X − max X) is what it says, also beside a softmax of the same."""
    X = nt.tensor([[1.0, 2.0, 4.0], [0.0, 1.0, 0.0]], "b a")
    found = nt.evaluate("softmax_{a} X + exp(X − max_{a} X)", X=X).to_array("b a")
    away = np.exp(X.array - X.array.max(1, keepdims=True))
    assert np.allclose(found, away / away.sum(1, keepdims=True) + away)


@pytest.mark.parametrize("sizes", [SMALL, BLOCKED], ids=["small", "blocked"])
def test_the_text_with_both_forms_runs_by_itself(tmp_path, sizes):
    arrays = one_large(drawn(sizes))
    tensors = {name: nt.tensor(array, AXES[name]) for name, array in arrays.items()}
    formula = nt.formula(ATTENTION)
    text = formula.to_python("numpy", **tensors)
    np.savez(tmp_path / "arrays.npz", **arrays)
    (tmp_path / "alone.py").write_text(
        f"{text}\n\narrays = np.load('arrays.npz')\nnp.save('found.npy', function(*(arrays[name] for name in 'QKV')))\n"
    )
    subprocess.run([sys.executable, "-I", "alone.py"], cwd=tmp_path, check=True)
    found = np.load(tmp_path / "found.npy")
    assert np.allclose(found, by_definition(**arrays), atol=1e-3)


def test_rows_of_nothing_but_masks_have_no_answer():
    X = nt.tensor(np.array([[-np.inf, -np.inf], [0.0, -np.inf]]), "b a")
    found = nt.evaluate("softmax_{a} X", X=X).to_array("b a")
    assert np.isnan(found[0]).all() and found[1].tolist() == [1, 0]
