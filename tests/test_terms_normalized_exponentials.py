"""exp(s) / ∑ exp(s), however it is written, is softmax: for scores of any size, on every library, and under derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import namedtensor as nt

INF = math.inf
SCORES = {
    "small": [[0.5, -1.0, 2.0], [0.0, 0.25, -0.5]],
    "far apart": [[1000.0, -1000.0, 999.0], [-1000.0, -1001.0, -1000.0]],
    "beyond exp": [[800.0, 700.0, 790.0], [-800.0, -790.0, -750.0]],
    "masked": [[1.0, -INF, 2.0], [1000.0, -INF, -INF]],
    "not a number": [[1.0, math.nan, 2.0], [0.0, 1.0, 2.0]],
    "a row of nothing": [[-INF, -INF, -INF], [0.0, 1.0, 2.0]],
    "∞": [[INF, 1.0, 2.0], [INF, INF, -INF]],
}
SOFTMAX = {
    "a quotient": "exp(s) / ∑_{a} exp(s)",
    "a name": "E = exp(s)\nE / ∑_{a} E",
    "two names": "E = exp(s)\nZ = ∑_{a} E\nE / Z",
    "a reciprocal": "Z = ∑_{a} exp(s)\nexp(s) ⊙ (1 / Z)",
    "a reciprocal before": "(1 / ∑_{a} exp(s)) exp(s)",
    "a power": "exp(s) (∑_{a} exp(s))^{-1}",
    "e": "e^s / ∑_{a} e^s",
    "elements": "p_{a(i)} = exp(s_{a(i)}) / ∑_{j} exp(s_{a(j)})",
    "a function": "f(x) = exp(x)\nf(s) / ∑_{a} f(s)",
    "a function of an axis": "g_{ax} : ℝ^{ax} → ℝ^{ax}\ng_{ax}(x) = exp(x) / ∑_{ax} exp(x)\ng_{a}(s)",
}
WEIGHTED = {
    "over": "(exp(s) ⊙_{a} V) / ∑_{a} exp(s)",
    "within": "(exp(s) / ∑_{a} exp(s)) ⊙_{a} V",
    "sums": "(∑_{a} exp(s) ⊙ V) / (∑_{a} exp(s))",
    "a product": "∑_{a} (exp(s) ⊙ V / ∑_{a} exp(s))",
}
LIBRARIES = ("numpy", "torch", "jax.numpy", "array_api_strict")


def tensor(library: str, numbers: Any, axes: str) -> nt.NamedTensor:
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    array = np.array(numbers)
    return nt.tensor(xp.from_numpy(array) if library == "torch" else xp.asarray(array), axes)


def plain(actual: nt.NamedTensor, *order: str) -> np.ndarray:
    array = actual.to_array(order)
    return np.asarray(getattr(array, "_array", array), dtype="float64")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("form", SOFTMAX)
def test_a_quotient_of_exponentials_is_softmax(form, kind, library):
    s = tensor(library, SCORES[kind], "b a")
    result, expected = nt.evaluate(SOFTMAX[form], s=s), nt.evaluate("softmax_{a} s", s=s)
    np.testing.assert_allclose(plain(result, "b", "a"), plain(expected, "b", "a"), rtol=1e-6, atol=1e-30)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("form", WEIGHTED)
def test_a_weighted_mean_is_one_by_softmax(form, kind, library):
    values = {
        "s": tensor(library, SCORES[kind], "b a"),
        "V": tensor(library, [[1.0, 2.0], [3.0, -4.0], [0.5, 8.0]], "a c"),
    }
    result, expected = nt.evaluate(WEIGHTED[form], values), nt.evaluate("softmax_{a} s ⊙_{a} V", values)
    np.testing.assert_allclose(plain(result, "b", "c"), plain(expected, "b", "c"), rtol=1e-5)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", SCORES)
def test_the_logarithm_of_a_sum_is_logsumexp(kind, library):
    s = tensor(library, SCORES[kind], "b a")
    for text in ("log(∑_{a} exp(s))", "Z = ∑_{a} exp(s)\nlog Z"):
        np.testing.assert_allclose(
            plain(nt.evaluate(text, s=s), "b"), plain(nt.evaluate("logsumexp_{a} s", s=s), "b"), rtol=1e-6
        )


@pytest.mark.parametrize("kind", ["small", "far apart", "beyond exp", "masked"])
@pytest.mark.parametrize("form", SOFTMAX)
def test_its_derivative_is_that_of_softmax(form, kind):
    values = {
        "s": tensor("numpy", SCORES[kind], "b a"),
        "y": tensor("numpy", [[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]], "b a"),
    }
    *before, last = SOFTMAX[form].splitlines()
    text = "\n".join([*before, last if last.startswith("p_") else f"p = {last}", "L = ∑_{a,b} y ⊙ p", "∂L/∂s*"])
    expected = nt.evaluate("L = ∑_{a,b} y ⊙ softmax_{a} s\n∂L/∂s*", values)
    np.testing.assert_allclose(
        plain(nt.evaluate(text, values), "b*", "a*"), plain(expected, "b*", "a*"), rtol=1e-12, atol=1e-15
    )


def test_the_other_derivatives_stay():
    """By the exponentials themselves, or by their sum, the quotient is no function of the scores."""
    s = tensor("numpy", [1.0, 2.0, 3.0], "a")
    E = np.exp(s.array)
    result = nt.evaluate("E = exp(s)\nL = (E / ∑_{a} E)_{a(1)}\n∂L/∂E*", s=s)
    np.testing.assert_allclose(result.array, np.array([1, 0, 0]) / E.sum() - E[0] / E.sum() ** 2, rtol=1e-12)
    by_sum = nt.evaluate("Z = ∑_{a} exp(s)\np = exp(s) / Z\n∂p/∂Z", s=s)
    np.testing.assert_allclose(by_sum.array, -E / E.sum() ** 2, rtol=1e-12)


NOT_SOFTMAX = {
    "exp(s) / ∑_{b} exp(s)": lambda E, V: E / E.sum(0, keepdims=True),  # which is softmax over b
    "exp(s) / ∑_{a} exp(2 s)": lambda E, V: E / (E**2).sum(1, keepdims=True),
    "exp(s) / (1 + ∑_{a} exp(s))": lambda E, V: E / (1 + E.sum(1, keepdims=True)),
    "V / ∑_{a} exp(s)": lambda E, V: V / E.sum(1, keepdims=True),
    "(exp(s) ⊙_{b} V) / ∑_{a} exp(s)": lambda E, V: (E * V).sum(0)[None] / E.sum(1)[:, None],
    "∑_{a} exp(s) / exp(s)": lambda E, V: np.full(2, 3.0),
    "log(∑_{a} V ⊙ exp(s))": lambda E, V: np.log((V * E).sum(1)),
    "p_{a(i)} = exp(s_{a(i)}) / ∑_{j} exp(s_{a(j)} + V_{a(i)})": lambda E, V: E / (E.sum(1, keepdims=True) * np.exp(V)),
}


@pytest.mark.parametrize("text", NOT_SOFTMAX)
def test_what_only_looks_alike_keeps_its_meaning(text):
    s, V = np.array([[0.5, -1.0, 2.0], [0.0, 0.25, -0.5]]), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    expected = NOT_SOFTMAX[text](np.exp(s), V)
    result = nt.evaluate(text, {"s": nt.tensor(s, "b a")} | ({"V": nt.tensor(V, "b a")} if "V" in text else {}))
    order = [item for item in ("b", "a") if item in result.axes]
    np.testing.assert_allclose(
        plain(result, *order), np.broadcast_to(expected, plain(result, *order).shape), rtol=1e-12
    )


def test_complex_scores_stay_a_quotient():
    s = np.array([1j, 2.0, 0.5 + 1j])
    np.testing.assert_allclose(
        nt.evaluate("exp(s) / ∑_{a} exp(s)", s=nt.tensor(s, "a")).array, np.exp(s) / np.exp(s).sum()
    )


def test_it_is_one_plan():
    s = nt.tensor(np.zeros((4, 5)), "b a")
    for text in SOFTMAX.values():
        if "_{a(i)}" not in text:
            assert (
                nt.program(text).to_python("torch", {"s": s}).partition("def function")[2].count("torch.softmax") == 1
            ), text


def test_a_recurrence_of_attention_by_hand():
    text = "h^0 = x\nh^t = (exp(9 h^{t-1}) / ∑_{a} exp(9 h^{t-1})) ⊙ x for t = 1, …, %d\nL = ∑_{a} h^{%d}\n%s"
    x = nt.tensor(np.array([100.0, 200.0, -300.0]), "a")
    for steps in (3, 70):
        for value in ("L", "∂L/∂x*"):
            result = nt.evaluate(text % (steps, steps, value), x=x)
            by_name = (text % (steps, steps, value)).replace(
                "(exp(9 h^{t-1}) / ∑_{a} exp(9 h^{t-1}))", "softmax_{a}(9 h^{t-1})"
            )
            np.testing.assert_allclose(result.array, nt.evaluate(by_name, x=x).array, rtol=1e-12)
            assert np.isfinite(result.array).all()


def test_a_layer_that_writes_it_out():
    from transformer import learning_records

    layer = learning_records.KeyQueryValueAttention.init(seed=0, sizes={"chans": 8, "key": 8, "val": 8})
    h = nt.tensor(np.random.default_rng(0).normal(size=(5, 8)) * 100, "seq chans")
    scores = layer.evaluate("s", h).array
    assert np.abs(scores).max() > 800
    assert np.isfinite(layer(h).array).all()
