"""Sizes inside a function are found as at the top level: from its signature, its declarations, and filled axes."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference

X = np.array([1.0, 2.0, 3.0, 4.0])
SIGNATURES = {
    "one more": ("f : ℝ^{a[n + 1]} → ℝ\nf(x) = n ∑_{a} x\nf(x)", 3 * X.sum()),
    "twice": ("f : ℝ^{a[2 n]} → ℝ\nf(x) = n ∑_{a} x\nf(x)", 2 * X.sum()),
    "the half of a number less one": ("f : ℝ^{a[(n - 1) / 2]} → ℝ\nf(x) = n ∑_{a} x\nf(x)", 9 * X.sum()),
    "a size of the result": ("f : ℝ^{a[2 n]} → ℝ^{h[n]}\nf(x) = min_{k} x_{a→(h,k)}\nf(x)", X.reshape(2, 2).min(1)),
    "a later argument first": (
        "f : ℝ^{b[n + m]} × ℝ^{a[n]} → ℝ\nf(y, x) = m ∑_{a} x + n ∑_{b} y\nf(x_{a→b}, x_{a(1:3)})",
        X[:3].sum() + 3 * X.sum(),
    ),
    "the number is an argument": ("f : ℝ^{a[n + 1]} × ℝ → ℝ\nf(x, n) = n ∑_{a} x\nf(x, 3)", 3 * X.sum()),
    "each call has its own": (
        "f : ℝ^{a[n + 1]} → ℝ\nf(x) = n g(x)\ng : ℝ^{a[n - 1]} → ℝ\ng(x) = n + ∑_{a} x\nf(x)",
        3 * (5 + X.sum()),
    ),
    "a slice": ("f : ℝ^{a[n + 1]} → ℝ^{a[n]}\nf(x) = x_{a(2:n+1)} - x_{a(1:n)}\nf(x)", np.diff(X)),
    "a parameter after the semicolon": (
        "f(x; W) = n ∑_{a} x + ∑_{c} W\nW ∈ ℝ^{c[n + 2]}\nf(x; x_{a→c})",
        2 * X.sum() + X.sum(),
    ),
}
DECLARATIONS = {
    "a split": ("F(x) = Y\nY ∈ ℝ^{r[2]}\nY = min_{k} x_{a→(r,k)}\nF(x)", X.reshape(2, 2).min(1)),
    "a size that the argument gives": (
        "F : ℝ^{a[2 n]} → ℝ\nF(x) = ∑_{r} Y^2\nY ∈ ℝ^{r[n]}\nY = min_{k} x_{a→(r,k)}\nF(x)",
        (X.reshape(2, 2).min(1) ** 2).sum(),
    ),
    "by elements": ("F(x) = Y\nY ∈ ℝ^{r[2]}\nY_{r(i)} = x_{a(2 i)}\nF(x)", X[1::2]),
    "a number of it": ("F(x) = |r| ∑_{r} Y\nY ∈ ℝ^{r[2]}\nY = min_{k} x_{a→(r,k)}\nF(x)", 2 * 4.0),
}
FILLED = {
    "by a second definition": ("u_{c(i)} = 2 i for i = 1, …, 3\nv_{c(i)} = u_{c(i)} + 1\nv", [3, 5, 7]),
    "its size as a number": ("u_{c(i)} = 2 i for i = 1, …, 3\n|c| u", [6, 12, 18]),
    "by an identity": ("u_{c(i)} = 2 i for i = 1, …, 3\nI_{c,d} ⊙_{c} u", [2, 4, 6]),
    "in two parts": (
        "u_{c(2 i)} = 2 i for i = 1, …, 2\nu_{c(2 i - 1)} = 1 for i = 1, …, 2\nv_{c(i)} = u_{c(i)} + 1\nv",
        [2, 3, 2, 5],
    ),
    "a chain of definitions": (
        "w_{c(i)} = v_{c(4 - i)}\nv_{c(i)} = u_{c(i)} + 1\nu_{c(i)} = 2 i for i = 1, …, 3\nw",
        [7, 5, 3],
    ),
    "in a function": ("F(q) = v\nu_{c(i)} = 2 i q for i = 1, …, 3\nv_{c(i)} = u_{c(i)} + 1\nF(10)", [21, 41, 61]),
}


@pytest.mark.parametrize("case", SIGNATURES | DECLARATIONS)
def test_a_size_in_a_function(case):
    text, expected = (SIGNATURES | DECLARATIONS)[case]
    np.testing.assert_array_equal(nt.evaluate(text, x=nt.tensor(X, "a")).to_array(), expected)
    result = reference.evaluate(text, {"x": reference.tensor(X.tolist(), "a")})
    np.testing.assert_array_equal(result.to_list(" ".join(result.shape)), expected)
    for shape in ("ℝ^{a[4]}", "ℝ^{a}"):
        assert nt.check(text, x=shape).ok


@pytest.mark.parametrize("case", FILLED)
def test_the_size_of_a_filled_axis(case):
    text, expected = FILLED[case]
    np.testing.assert_array_equal(nt.evaluate(text).to_array(), expected)
    assert nt.check(text).ok


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_a_size_in_another_library_in_a_batch_and_in_a_derivative(library):
    pytest.importorskip(library)
    text = SIGNATURES["one more"][0].removesuffix("f(x)") + "f(z)"
    value = nt.evaluate(text, z=nt.tensor(np.stack([X, 2 * X]), "b a").to(library))
    np.testing.assert_allclose(value.to_numpy("b"), [3 * X.sum(), 6 * X.sum()])
    slope = nt.derivative(text, "z")(z=nt.tensor(X, "a").to(library))
    np.testing.assert_allclose(slope.to_numpy(), np.full(4, 3.0))


CONTRADICTIONS = {
    "a fraction": ("f : ℝ^{a[2 n]} → ℝ\nf(x) = n ∑_{a} x\nf(x_{a(1:3)})", "2 n, and n would be 3/2"),
    "two arguments": ("f : ℝ^{a[n + 1]} × ℝ^{b[2 n]} → ℝ\nf(x, y) = ∑_{a} x + ∑_{b} y\nf(x, x_{a→b})", "2 n = 6"),
    "an argument": ("f : ℝ^{a[n + 1]} × ℝ → ℝ\nf(x, n) = n ∑_{a} x\nf(x, 5)", "n + 1 = 6"),
    "a plain name": ("f : ℝ^{a[n]} × ℝ → ℝ\nf(x, n) = n ∑_{a} x\nf(x, 5)", "n = 5"),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_a_size_that_contradicts_the_signature(case):
    text, says = CONTRADICTIONS[case]
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, x=nt.tensor(X, "a"))
    assert caught.value.code == 308 and f"the signature says {says}" in caught.value.message
