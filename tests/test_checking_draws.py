"""Draws: that they are distributed as they should be, hang on the seed and the name alone, and are the same wherever they are made."""

from zlib import crc32

import numpy as np
import pytest

import namedtensor as nt

MANY = 40_000


def draws(distribution: str, name: str = "z", **given) -> np.ndarray:
    """Many draws of one variable, each an element of one draw."""
    return nt.evaluate(f"{name} ∼ {distribution}^{{n}}", sizes={"n": MANY}, **given).to_array("n")


def pieces(array: np.ndarray, edges: np.ndarray) -> float:
    """By how many standard deviations χ² of the counts between edges of equal probability is off."""
    counts, expected = np.histogram(array, edges)[0], len(array) / (len(edges) - 1)
    free = len(edges) - 2
    return (((counts - expected) ** 2 / expected).sum() - free) / np.sqrt(2 * free)


QUANTILES = np.arange(51) / 50
INVERSE = {  # of each distribution function
    "U(2, 5)": lambda u: 2 + 3 * u,
    "Exponential(2)": lambda u: -np.log1p(-u) / 2,
    "Gumbel(1, 3)": lambda u: 1 - 3 * np.log(-np.log(u)),
    "N(1, 4)": lambda u: 1 + 2 * np.vectorize(normal_quantile)(u),
}


def normal_quantile(u: float) -> float:
    from statistics import NormalDist

    return -np.inf if u <= 0 else np.inf if u >= 1 else NormalDist().inv_cdf(u)


@pytest.mark.parametrize("distribution", INVERSE)
def test_draws_have_their_distribution(distribution):
    with np.errstate(divide="ignore"):
        edges = INVERSE[distribution](QUANTILES)
    for seed in (0, 1, 10**9):
        assert abs(pieces(draws(distribution, seed=seed), edges)) < 4


def test_neighbours_seeds_names_and_numbers_are_independent():
    first = draws("U(0, 1)", seed=1)
    others = [
        first[1:],
        draws("U(0, 1)", seed=2),
        draws("U(0, 1)", "y", seed=1),
        nt.evaluate("uniform(3, iota_{n})", sizes={"n": MANY}).array,
    ]
    for other in others:
        pairs = np.histogram2d(first[: len(other)], other, 12, [[0, 1], [0, 1]])[0]
        expected = len(other) / 144
        assert abs(((pairs - expected) ** 2 / expected).sum() - 143) / np.sqrt(2 * 143) < 4
        assert abs(np.corrcoef(first[: len(other)], other)[0, 1]) * np.sqrt(len(other)) < 4


def test_a_draw_does_not_hang_on_how_many_there_are():
    few, many = (nt.evaluate("z ∼ N(0, 1)^{a × b}", sizes={"a": 3, "b": size}).to_array("a b") for size in (2, 7))
    np.testing.assert_array_equal(few, many[:, :2])


def test_a_draw_is_uniform_of_the_seed_the_name_and_the_positions_from_1():
    sizes, name = {"a": 2, "b": 3}, crc32(b"z") % 2**20
    result = nt.evaluate("z ∼ U(0, 1)^{b × a}", sizes=sizes, seed=7)
    expected = nt.evaluate(f"uniform(1, 7, {name}, 0, iota_{{a}}, iota_{{b}})", sizes=sizes)
    np.testing.assert_array_equal(result.to_array("a b"), expected.to_array("a b"))


def test_what_is_lifted_shares_its_draws():
    text = "f : ℝ^{a} → ℝ\nf(m) = 𝔼_{z ∼ N(m, 1)}[max_{a} z]\nf(X)"
    row = np.array([0.5, -1.0, 2.0])
    X = nt.tensor(np.stack([row, row, row + 1]), "batch a")
    first, second, third = nt.evaluate(text, X=X, draws=200).to_array("batch")
    assert first == second and third == pytest.approx(first + 1)
    assert float(nt.evaluate(text, X=nt.tensor(row, "a"), draws=200)) == pytest.approx(first)


def test_an_expectation_comes_near_with_more_draws():
    errors = [
        abs(float(nt.evaluate("𝔼_{z ∼ N(0, 1)}[z^2] − 1", draws=count, seed=3))) for count in (100, 10_000, 1_000_000)
    ]
    assert errors[2] < 0.01 < 0.5 > errors[0]


def test_derivatives_go_through_draws_to_the_parameters():
    inputs = {"μ": 0.5, "v": 2.0, "draws": 400}
    text = "𝔼_{z ∼ N(μ, v)} exp z"
    for name in ("μ", "v"):
        ends = [float(nt.evaluate(text, {**inputs, name: inputs[name] + step})) for step in (1e-5, -1e-5)]
        slope = float(nt.evaluate(f"∂({text})/∂{name}", inputs))
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_single_precision_has_the_same_draws(library):
    make = pytest.importorskip("torch").tensor if library == "torch" else pytest.importorskip("jax.numpy").asarray
    array = nt.evaluate("z ∼ N(m, 1)\nz", m=nt.tensor(np.zeros(500), "n"), seed=7).array
    other = nt.evaluate("z ∼ N(m, 1)\nz", m=nt.tensor(make(np.zeros(500, "float32")), "n"), seed=7).array
    np.testing.assert_allclose(np.asarray(other), array, atol=2e-5)


def test_an_index_that_is_drawn_has_its_probabilities():
    p = nt.tensor([0.1, 0.2, 0.3, 0.4], "k")
    array = nt.evaluate("i ∼ p", p=p, seed=nt.tensor(np.arange(5000), "run")).to_array("run")
    np.testing.assert_allclose(np.bincount(array.astype(int), minlength=5)[1:] / 5000, p.array, atol=0.03)


def test_a_claim_about_an_estimate_is_one_about_types():
    with pytest.warns(nt.NotationWarning, match="not checked: it is about an estimate: L = 𝔼"):
        assert float(nt.evaluate("L = 𝔼_{z ∼ N(0, 1)} z = 5", draws=10)) != 5
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("L = 𝔼_{b ∼ Bernoulli(q)} b = 5", q=0.5)
    assert caught.value.code == 403


def test_a_claim_about_a_limit_is_one_about_types(recwarn):
    assert float(nt.evaluate("Y = 2 X\nlim_{α→∞}(α Y) = Y", X=1.0)) == 2
    assert "not checked: a limit" in str(recwarn.pop(nt.NotationWarning).message)
    nt.evaluate("Y = 2 X\nX + X = Y + 0", X=1.0)
    assert not recwarn.list


DECLARED = {  # an expectation over declared variables, and the same with their definitions in place of their names
    "z ∼ N(0, 1)\nf(a) = a z\n𝔼_z[f(X)]": "𝔼_{z ∼ N(0, 1)}[X z]",
    "z ∼ N(0, 1)\nh^t = z + h^{t-1} for t = 1, …, 3\nh^0 = X\n𝔼_z[(h^3)^2]": "𝔼_{z ∼ N(0, 1)}[(X + 3 z)^2]",
    "z ∼ N(0, 1)^{b}\nm = X ⊕_{b} z\n𝔼_z[max_{b} m]": "𝔼_{z ∼ N(0, 1)^{b}}[max_{b}(X ⊕_{b} z)]",
    "z ∼ N(0, 1)\nm = [z, 2 z]_{a}\n𝔼_z[m ⊙ m]": "𝔼_{z ∼ N(0, 1)}[[z, 2 z]_{a} ⊙ [z, 2 z]_{a}]",
    "x ∼ N(z, 1)\nz ∼ U(0, 1)\nm = x^2 z\n𝔼[m]": "𝔼_{z ∼ U(0, 1), x ∼ N(z, 1)}[x^2 z]",
    "z ∼ N(0, 1)\ny ∼ U(0, 1)\nm = 𝔼_z[z^2 y]\n𝔼_{z,y}[m z^2 y]": "𝔼_{z ∼ N(0, 1), y ∼ U(0, 1)}[𝔼_{z ∼ N(0, 1)}[z^2 y] z^2 y]",
    "i ∼ [0.2, 0.3, 0.5]_{k}\nm = X_{b(i)} i\n𝔼_i[m + i]": "𝔼_{i ∼ [0.2, 0.3, 0.5]_{k}}[X_{b(i)} i + i]",
    "c ∼ Bernoulli(0.25)\nm = { X if c = 1; 0 otherwise }\n𝔼_c[m^2]": "𝔼_{c ∼ Bernoulli(0.25)}[{ X if c = 1; 0 otherwise }^2]",
    "z ∼ N(0, 1)\nm = z^3\n𝔼_z[∂m/∂z]": "𝔼_{z ∼ N(0, 1)}[3 z^2]",
}


@pytest.mark.parametrize("text", DECLARED)
def test_an_expectation_over_declared_variables_is_one_over_their_distributions(text):
    X = nt.tensor([0.5, -1.0, 2.0], "b")
    given, sizes = {"X": X} if "X" in text else {}, {"b": 3} if "{b}" in text else {}
    values = [nt.evaluate(form, given, draws=50, seed=3, sizes=sizes) for form in (text, DECLARED[text])]
    np.testing.assert_allclose(*(value.to_array(" ".join(sorted(value.shape))) for value in values), rtol=1e-12)


def test_a_claim_about_a_mean_of_declared_outcomes_is_checked():
    text = "b ∼ Bernoulli(q)\nm = 4 b\n𝔼[m] = {}\nq + 0"
    assert float(nt.evaluate(text.format(1), q=0.25)) == 0.25
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text.format(2), q=0.25)
    assert caught.value.code == 403
