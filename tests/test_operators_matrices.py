"""Functions of matrices and the gamma function: the laws that define them over drawn matrices, on every library, and PyTorch's numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import namedtensor as nt
from grammar.errors import NotationError

torch = pytest.importorskip("torch")
jnp = pytest.importorskip("jax.numpy")
LIBRARIES = {"numpy": np.asarray, "torch": torch.tensor, "jax": jnp.asarray}
LAWS = {  # of a matrix S that is symmetric and positive definite, and of any X
    "a triangle is that of its product": "cholesky_{r,c} S ⊙_{c} [cholesky_{r,c} S]_{r→r'} = S_{c→r'}",
    "a triangle is lower": "{ cholesky_{r,c} S if iota_{r} < iota_{c}; 0 otherwise } = 0 S",
    "the determinant by the triangle": "logdet_{r,c} S = 2 ∑_{r} log (cholesky_{r,c} S ⊙_{c} I_{r,c})",
    "vectors are turned into multiples": "[eigh_{r,c} S]_{c→k} ⊙_{r} S = [eigvalsh_{r,c} S]_{r→k} ⊙ [eigh_{r,c} S]_{c→k, r→c}",
    "vectors are orthogonal": "eigh_{r,c} S ⊙_{r} [eigh_{r,c} S]_{c→c'} = I_{c,c'}",
    "the largest number of a vector is positive": "max_{r} (abs (eigh_{r,c} S)) = max_{r} (eigh_{r,c} S)",
    "the trace is the sum of the values": "trace_{r,c} S = ∑_{r} eigvalsh_{r,c} S",
    "values of the symmetric part": "eigvalsh_{r,c} X = eigvalsh_{r,c} X_{r→c, c→r}",
    "exponentials of opposites are inverse": "[expm_{r,c} X]_{c→k} ⊙_{k} [expm_{r,c} (−X)]_{r→k} = I_{r,c}",
    "the determinant of an exponential": "logdet_{r,c} (expm_{r,c} X) = trace_{r,c} X",
    "an exponential by its vectors": "expm_{r,c} S = [eigh_{r,c} S]_{c→k} ⊙_{k} (exp [eigvalsh_{r,c} S]_{r→k} ⊙ [eigh_{r,c} S]_{r→c, c→k})",
    "along what commutes": "expm_{r,c}(X, X) = [expm_{r,c} X]_{c→k} ⊙_{k} X_{r→k}",
    "twice along what commutes": "expm_{r,c}(X, X, I_{r,c}) = 2 [expm_{r,c} X]_{c→k} ⊙_{k} X_{r→k} − expm_{r,c}(X, X)",
}  # fmt: skip


@st.composite
def matrices(draw):
    size = draw(st.integers(1, 4))
    entries = arrays(np.float64, (size, size), elements=st.integers(-8, 8).map(lambda n: n / 8))
    return draw(entries)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@settings(max_examples=8)
@given(X=matrices())
def test_a_law(law, library, X):
    size = len(X)
    S = X @ X.T + np.diag(1 + np.arange(size))
    if "largest number" in law and np.ptp(np.sort(np.abs(np.linalg.eigh(S)[1]), 0)[-2:], 0).min() < 1e-3:
        return  # two of one size: which of them is positive is a matter of rounding
    make = LIBRARIES[library]
    values = {name: nt.tensor(make(array), "r c") for name, array in {"X": X, "S": S}.items() if name in law}
    left, right = law.rsplit(" = ", 1)
    sides = [nt.evaluate(side, values) for side in (left, right) if side != "I"]
    axes = sides[0].axes
    close = 1e-7 if library != "jax" else 1e-3 * max(1, float(np.abs(np.asarray(sides[0].array)).max()))
    np.testing.assert_allclose(*(np.asarray(tensor.to_array(axes)) for tensor in sides), rtol=close, atol=close)


ARGUMENTS = np.array([1e-3, 0.2, 0.5, 1, 1.4616, 2, 2.5, 7.9, 8, 50, 1e5, 1e40, -0.3, -1.2, -7.7, -20.4])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_the_gamma_function_is_that_of_pytorch(name, library):
    argument = ARGUMENTS if library != "jax" else ARGUMENTS[ARGUMENTS < 1e30]  # which single precision holds
    result = nt.evaluate(f"{name} X", X=nt.tensor(LIBRARIES[library](argument), "a"))
    right = getattr(torch, name)(torch.tensor(argument)).numpy()
    close = 1e-13 if np.asarray(result.array).dtype == np.float64 else 1e-3
    np.testing.assert_allclose(np.asarray(result.to_array("a")), right, rtol=close, atol=close)


@pytest.mark.parametrize("library", LIBRARIES)
def test_gamma_and_factorials_are_those_of_plain_numbers(library):
    """Whole where they can be, ∞ where Γ has a pole and where it is too large; within what the library's dtype holds."""
    above = np.array([0.1, 0.5, 1, 1.5, 2, 3.7, 5, 7.99, 9, 12, 20.5, 33])
    below = np.array([-0.1, -0.5, -1.5, -4.7, -10.3])
    make = LIBRARIES[library]
    result = nt.evaluate("Γ(X)", X=nt.tensor(make(np.concatenate([above, below])), "a")).to_numpy("a")
    right = [math.gamma(item) for item in (*above, *below)]
    close = 1e-13 if result.dtype == np.float64 else 1e-4
    np.testing.assert_allclose(result, right, rtol=close)
    whole = np.arange(17.0 if result.dtype == np.float64 else 7)
    exact = nt.evaluate("X!", X=nt.tensor(make(whole), "a")).to_numpy("a")
    assert exact.tolist() == [math.factorial(int(item)) for item in whole]
    poles = nt.evaluate("Γ(X)", X=nt.tensor(make([0.0, -1.0, -7.0, 200.0, math.inf]), "a")).to_numpy("a")
    assert poles.tolist() == [math.inf] * 5


@pytest.mark.parametrize("library", LIBRARIES)
def test_binomials_are_whole_and_continue_beyond_whole_numbers(library):
    n, k = np.meshgrid(np.arange(-6.0, 30), np.arange(-3.0, 33), indexing="ij")
    pairs = {name: nt.tensor(LIBRARIES[library](array), "a b") for name, array in (("n", n), ("k", k))}
    result = nt.evaluate("binom(n, k)", pairs).to_numpy("a b")
    right = np.array([[binomial(int(a), int(b)) for b in k[0]] for a in n[:, 0]], dtype=float)
    if result.dtype == np.float64:
        assert (result == right)[abs(right) < 1e12].all()
    np.testing.assert_allclose(result, right, rtol=1e-11 if result.dtype == np.float64 else 1e-3)
    halves = nt.evaluate("binom(n, 2)", n=nt.tensor(LIBRARIES[library]([2.5, -1.5, 0.5]), "a")).to_numpy("a")
    np.testing.assert_allclose(halves, [1.875, 1.875, -0.125], rtol=1e-5)


def binomial(n: int, k: int) -> int:
    """By Pascal's rule, also of n below nought."""
    if k < 0:
        return 0
    return math.comb(n, k) if n >= 0 else (-1) ** k * math.comb(k - n - 1, k)


@pytest.mark.parametrize(
    "text, value",
    [("20!", 2432902008176640000), ("binom(52, 5)", 2598960), ("0!", 1), ("Γ(5)", 24), ("binom(3, 5)", 0)],
)
def test_of_plain_numbers_they_are_exact(text, value):
    assert float(nt.evaluate(text)) == value


@pytest.mark.parametrize("order", [2, 3, 5])
def test_polygamma_is_that_of_pytorch(order):
    above = ARGUMENTS[(ARGUMENTS > 0) & (ARGUMENTS < 1e10)]
    result = nt.evaluate(f"polygamma(X; {order})", X=nt.tensor(above, "a"))
    np.testing.assert_allclose(
        result.to_array("a"), torch.special.polygamma(order, torch.tensor(above)).numpy(), rtol=1e-9
    )


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_polygamma_below_zero_follows_its_recurrence(order):
    """ψ⁽ⁿ⁾(x + 1) = ψ⁽ⁿ⁾(x) + (−1)ⁿ n! / xⁿ⁺¹, from far below zero to above it."""
    law = "polygamma(X + 1; n) = polygamma(X; n) + (−1)^n F X^{−n − 1}".replace("n", str(order))
    inputs = {"X": nt.tensor([-6.3, -2.5, -0.8, 0.1, 3.7], "a"), "F": np.prod(np.arange(1, order + 1))}
    left, right = law.split(" = ")
    assert nt.allclose(nt.evaluate(left, inputs), nt.evaluate(right, inputs), rtol=1e-10)


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_not_positive_definite_is_refused(library):
    X = nt.tensor(LIBRARIES[library]([[1.0, 2.0], [2.0, 1.0]]), "r c")
    for act in (lambda: nt.evaluate("cholesky_{r,c} X", X=X), lambda: X.cholesky(axis=("r", "c"))):
        with pytest.raises(NotationError, match="not positive definite, so it has no Cholesky factor"):
            act()


@pytest.mark.parametrize("text", ["polygamma(X; 1.5)", "polygamma(X; −1)", "polygamma(X; 31)"])
def test_an_order_of_polygamma_that_is_none(text):
    with pytest.raises(NotationError, match="must be an integer from 0 to 30"):
        nt.evaluate(text, X=nt.tensor([1.0], "a"))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("ones_{b} ⊙ x", [[1, 1], [2, 2]]),
        ("ones_{a,b} + 0 x", [[1, 1], [1, 1]]),
        (r"\mathbf{1}_{\name{b}} \odot x", [[1, 1], [2, 2]]),
    ],
)
def test_ones_along_axes(text, expected):
    x = nt.tensor([1.0, 2.0], "a")
    assert nt.evaluate(text, {"x": x}, sizes={"b": 2}).to_array("a b").tolist() == expected
    tree = nt.formula(text)
    assert nt.formula(tree.to_latex()).to_text() == tree.to_text() and "\\mathbf{1}_" in tree.to_latex()


def test_a_name_of_the_program_goes_before_ones():
    assert nt.evaluate("ones = 3\nones x", x=nt.tensor([1.0, 2.0], "a")).tolist() == [3, 6]


def test_ones_have_the_size_of_the_axis_without_the_mark():
    x = nt.tensor([1.0, 2.0, 5.0], "a")
    assert nt.evaluate("∂(∑_{a} x)/∂x* = ones_{a*}\nx", x=x).shape == {"a": 3}


@pytest.mark.parametrize(
    ("n", "k", "expected"),
    [
        (3000, 1500, np.inf),
        (5000.5, 2000.25, np.inf),
        (10**9, 3, 10**9 * (10**9 - 1) * (10**9 - 2) / 6),
        (-3, 5000, 12507501),
        (0.5, 10**9, -8.9206206e-15),  # scipy.special.binom
        (-5.5, 2001, -13786015173977.686),
        (2.5, 3000, -7.163668845498651e-13),
    ],
)
def test_binomials_of_large_numbers_take_no_time(n, k, expected):
    """Of plain numbers, by which the reference evaluator computes too, and of arrays."""
    pair = {"n": nt.tensor([float(n)], "a"), "k": nt.tensor([float(k)], "a")}
    number = float(nt.evaluate(f"binom({n}, {k})" if n >= 0 else f"binom(0 − {-n}, {k})"))
    by_arrays = nt.evaluate("binom(n, k)", pair).to_numpy("a")[0]
    for value in (number, by_arrays):
        assert value == expected or abs(value / expected - 1) < 1e-5
