"""What is said of claims: proved, false with tensors that show it, or holding on what was tried."""

import pytest

import namedtensor as nt
from namedtensor.cli.commands import main

SHAPES = {"x": "ℝ^{a}", "y": "ℝ^{a}", "A": "ℝ^{a × b}", "s": "ℝ"}
DIFFERENTIALS = (
    ("∂(x ⊙ y) = ∂x ⊙ y + x ⊙ ∂y", "proved"),
    ("∂(x ⊙_{a} A) = ∂x ⊙_{a} A + x ⊙_{a} ∂A", "proved"),
    ("Z = softmax_{a}(x ⊙ y)\n∂Z = Z ⊙ (∂(x ⊙ y) − Z ⊙_{a} ∂(x ⊙ y))", "proved"),
    ("∂(x + A) = ∂x + ∂A", "proved"),
    ("∂(norm_{a} x) = x / norm_{a} x ⊙_{a} ∂x", "proved"),
    ("∂(x ⊙ y) = ∂x ⊙ y − x ⊙ ∂y", "disproved"),
    ("∂(x ⊙ y) = 0 x", "disproved"),
    ("Z = softmax_{a}(x ⊙ y)\n∂Z = Z ⊙ (∂(x ⊙ y) + Z ⊙_{a} ∂(x ⊙ y))", "disproved"),
    ("∂(log(abs(det_{a,b} A))) = 0", "disproved"),
    ("∑_{k=1}^{2} k x = ∑_{k=1}^{3} k x", "disproved"),  # of two lengths
    ("∑_{k=1}^{2} exp(k x) = ∑_{k=1}^{3} exp(k x)", "disproved"),
    ("∑_{k=1}^{2} exp(k x) = ∑_{j=1}^{2} exp(x j)", "proved"),
    ("∑_{a} x ⊙ ∑_{a} iota_{a} = ∑_{a} x ⊙ ∑_{b} iota_{b} + 0 ∑_{a} y ∑_{b} (A ⊙_{a} x)", "disproved"),
)


@pytest.mark.parametrize(("claim", "verdict"), DIFFERENTIALS)
def test_equations_of_differentials(claim, verdict):
    result = nt.prove(claim, **SHAPES)
    assert result.status == verdict and bool(result.counterexample) == (verdict == "disproved")


IDENTITIES = (
    ("abs(x)^3 ⊙ sign(x) = x^3", "proved"),
    ("√(x^2) = x", "disproved"),
    ("√(x^2) = abs x", "proved"),
    ("sort_{a}(−x) = −sort_{a} x", "disproved"),
    ("sort_{a}(2 x) = 2 sort_{a} x", "not disproved"),
    ("{ 0 if x > 0; 1 otherwise } = 𝕀[x ≤ 0]", "proved"),
    ("{ 0 if x > 0 ∧ x < 1; 1 otherwise } = 𝕀[¬(x > 0 ∧ x < 1)]", "proved"),
    ("{ 0 if ¬ x > 0; 1 otherwise } = 𝕀[x > 0]", "proved"),
    ("{ 0 if x > 1; 0 otherwise } = 0 x", "proved"),
    ("8^{1/3} s = 2 s", "proved"),
    ("√8 s = 2 √2 s", "proved"),
    ("e^s = exp s", "proved"),
    ("log 1 = 0", "proved"),
    ("log(6) = log 2 + log 3", "proved"),
    ("log(√2 exp s) = log(2) / 2 + s", "not disproved"),
    ("log(√2 exp s) = log(2) / 3 + s", "disproved"),
    ("log(∏_{a} (1 + x^2)) = ∑_{a} log(1 + x^2)", "proved"),
    ("log(9 s^2) = 2 log(3 abs s)", "proved"),
    ("log(9 s^2) = 3 log(3 abs s)", "disproved"),
    ("det_{a,c} I_{a,c} = 1", "proved"),
    ("det_{a,c}(s ⊙ I_{a,c}) = s^{|a|}", "proved"),
    ("det_{a,c} I_{a,c} = 0", "disproved"),
    ("log(6) = log 2 + log 5", "disproved"),
    ("log(e s) = 1 + log s", "proved"),
    ("s^{2|a|} = s^{|a|} ⊙ s^{|a|}", "proved"),
    ("s^{|a| + 1} = s ⊙ s^{|a|}", "proved"),
    ("s^{|a| + 1} = s^{|a|}", "disproved"),
    ("log(−x) = 3", "disproved"),
    ("s = x", "disproved"),
    ("x / 0 = x / 0", "not disproved"),
    ("x ⊙ y = y ⊙ x = x", "disproved"),
)


@pytest.mark.parametrize(("claim", "verdict"), IDENTITIES)
def test_claims_about_cases_roots_and_numbers(claim, verdict):
    result = nt.prove(claim, **SHAPES)
    assert result.status == verdict
    assert str(result).startswith(f"{verdict}: where " if verdict == "disproved" else verdict)


def test_a_number_that_shows_it_is_said():
    assert str(nt.prove("s^2 = s", s="ℝ")) == "disproved: where s = 0.61"


CLAIMS = "Y = ∑_{a} softmax_{a} x = 1\nY + norm_{a}(x)^2 = 1 + x ⊙_{a} x\nsort_{a}(2 x) = 2 sort_{a} x\nx ⊙_{a} y = x ⊙_{a} x"


def test_check_says_what_is_known_of_each_claim():
    report = nt.check(CLAIMS, x="ℝ^{a}", y="ℝ^{a}")
    assert [assertion.status for assertion in report.assertions] == ["proved", "proved", "not disproved", "disproved"]
    assert set(report.assertions[-1].drawn) == {"x", "y"}
    lines = str(report).splitlines()
    assert "Y = ∑_{a} softmax_{a} x = 1 : proved" in lines
    assert "sort_{a}(2 x) = 2 sort_{a} x : holds on 8 random tests" in lines
    assert any(line.startswith("x ⊙_{a} y = x ⊙_{a} x : disproved: assertion failed") for line in lines)


def test_check_says_nothing_of_what_is_wrong_or_claims_nothing():
    assert nt.check("x ⊙_{a} q = 1", x="ℝ^{a}", q="ℝ^{b}").assertions == ()
    assert nt.check("y = x + 1", x="ℝ^{a}").assertions == ()
    assert [assertion.status for assertion in nt.check("y = x + 1", x="ℝ^{a}", y="ℝ^{a}").assertions] == ["disproved"]


def test_the_command_says_the_same(capsys):
    assert main(["check", CLAIMS.replace("= x ⊙_{a} x", "= y ⊙_{a} x"), "x=ℝ^{a}", "y=ℝ^{a}"]) == 0
    assert capsys.readouterr().out.count("note: assertion: proved") == 3
    assert main(["check", CLAIMS, "x=ℝ^{a}", "y=ℝ^{a}"]) == 1
    assert "error 403: assertion failed" in capsys.readouterr().out


def test_an_equation_of_many_terms_is_proved():
    names = [f"x_{number}" for number in range(240)]
    left, right = " + ".join(names), " + ".join(reversed(names))
    assert str(nt.prove(f"∑_{{a}} exp({left}) = ∑_{{a}} exp({right})", **dict.fromkeys(names, "ℝ^{a}"))) == "proved"
