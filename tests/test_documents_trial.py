"""Claims of a document tried on random tensors: what comes of each, and that a counterexample is one."""

import json
import re

import numpy as np
import pytest

from grammar.parser import parse
from namedtensor.cli.commands import main
from namedtensor.documents.sections import check_document
from namedtensor.documents.trial import try_assertions
from namedtensor.documents.verdicts import CONDITION, FALSE, HOLDS, PROVED, UNTRIED, Draws

# a program as text, and what comes of its claims
CASES = {
    "X ∈ ℝ^{a × b}\nY = ∑_{a} X = |a| mean_{a} X": ["proved"],
    "X ∈ ℝ^{a × b}\nY = ∑_{a} X = mean_{a} X": ["disproved"],
    "∑_{a} softmax_{a} x = 1": ["proved"],
    "x ∈ ℝ^{a}\nmax_{a} x = -min_{a} (-x)": ["not disproved"],
    "x ∈ ℝ^{a}\nm = mean_{a} x\n∑_{a} (x - m)^2 = ∑_{a} x^2 - |a| m^2": ["proved"],
    "x ∈ ℝ^{a}\nm = mean_{a} x\n∑_{a} (x - m) = 1": ["disproved"],
    "x, y ∈ ℝ\nexp(x + y) = exp x + exp y": ["disproved"],
    "exp(x + y) = exp x + exp y": ["not tested"],
    "x, y ∈ ℝ\ne^{x+y} = e^x + e^y": ["disproved"],
    "x, y ∈ ℝ\ne^{x+y} = e^x ⊙ e^y\ne^{2 x} = e^x + e^x": ["proved", "disproved"],
    "x ∈ ℝ^{a}\ne^{1 + x_{a(i)}} = e^{x_{a(i)}}": ["disproved"],
    "x ∈ ℝ^{a}\ne^{1000 + x_{a(i)}^2} = 2 e^{1000 + x_{a(i)}^2}": ["not tested"],  # both sides overflow
    "f : ℝ^{a} → ℝ\nf(x) = ∑_{a} x^2 = x ⊙_{a} x": ["not disproved"],
    "f : ℝ^{a} → ℝ\nf(x) = ∑_{a} x^2 = 2 ∑_{a} x": ["disproved"],
    "A = [3, 1; 4, 1]_{h, w}\nA_{h(1), w(1)} = 3\nA_{h(2), w(1)} = 3": ["not disproved", "disproved"],
    "X ∈ ℝ^{a}\nS = 2 X\nS_{a(k)} = X_{a(k)} + X_{a(k)}\nS_{a(k)} = X_{a(k)} + 1": ["not disproved", "disproved"],
    "P ∈ ℝ^{q[m]}\nI ∈ [m]^{s}\nS = index_{q}(P, I)\nS_{s(k)} = P_{q(I_{s(k)})}": ["not disproved"],
    "P ∈ ℝ^{q[m]}\nI ∈ [m]^{s}\nS = index_{q}(P, I)\nS_{s(k)} = 2 P_{q(I_{s(k)})}": ["disproved"],
    "|q| = m\nP ∈ ℝ^{q}\nI ∈ [m]^{s}\nS = index_{q}(P, I)\nS_{s(k)} = P_{q(I_{s(k)})}": ["not disproved"],
    "∂(∑_{a} x^2) = 2 ∑_{a} (x ⊙ ∂x)": ["proved"],
    "x ∈ ℝ^{a}\nx > 0\n√(x ⊙ x) = x + 0": ["proved"],
    "x ∈ ℝ^{a}\nx > 0\n√(x ⊙ x) = x + 1": ["disproved"],
    "ε ∈ ℝ\nε > 0\nabs(ε) + 1 = 1 + ε": ["proved"],
    "x ∈ ℝ^{a}\n∂(∑_{a} x^2) = 3 ∑_{a} (x ⊙ ∂x)": ["disproved"],
    "|key| = |layer| / |heads|\nX ∈ ℝ^{layer}\nY = ∑_{heads} X_{layer→(heads,key)}\n∑_{key} Y = ∑_{layer} X": [
        "not disproved"
    ],
    "X ∈ {0, 1}^{seq × vocab}\n∑_{vocab} X^2 = ∑_{vocab} X": ["proved"],
    "X ∈ {0, 1}^{seq × vocab}\n∑_{vocab} X = 1\n∑_{vocab} X^2 = 1": ["condition", "condition"],
    "p ∈ [0, 1]^{a}\nmax_{a} (p ⊙ (1 - p)) = 0.25": ["condition"],
    "half(x) = x / 2\nX ∈ ℝ^{a}\nhalf(X) = [1, 2]_{a}": ["condition"],
    "x ∈ [0, 1]^{a}\nabs x = 1 x": ["proved"],
    "x ∈ ℝ^{a}\nabs x = 1 x": ["disproved"],
    "x ∈ ℝ^{a}\n√(x ⊙ x) = abs(x) + 0": ["proved"],
    "x ∈ ℝ^{a}\nlog(-exp x) = 1": ["not tested"],
    "f(X) = X ⊙_{ax} X\n∂f(X; H) = 2 X ⊙_{ax} H": ["proved"],
    "f(X) = X ⊙_{ax} X\n∂f(X; H) = 3 X ⊙_{ax} H": ["not tested"],
    "f(X) = X ⊙_{ax} X\nf(X + H) = (X + H) ⊙_{ax} (X + H) = X ⊙_{ax} X + 2 X ⊙_{ax} H + H ⊙_{ax} H": ["proved"],
    "X ∈ ℝ^{ax}\nf(X) = X ⊙_{ax} X\nf(2 X) = 4 f(X)": ["proved"],
    "X ∈ ℝ^{ax}\nf(X) = X ⊙_{ax} X\nf(2 X) = 2 f(X)": ["disproved"],
    "x ∈ ℝ^{ax}\nσ : ℝ → ℝ\nσ(x) = 1 / (1 + exp(-x))\nσ(-x) = 1 - σ(x)": ["proved"],
    "i ∈ [n]\nX ∈ ℝ^{ax}\n∑_{ax} X = ∑_{i} X_{ax(i)}": ["proved"],
    "m ∈ ℝ\n𝔼_{z ∼ 𝒩(0, 1)}[m + z] = m": ["not disproved"],
    "m ∈ ℝ\n𝔼_{z ∼ 𝒩(0, 1)}[(m + z)^2] = m^2": ["disproved"],  # it is m² + 1
    "lim_{n → ∞} (1 + 1/n)^n = 2": ["not tested"],
    "x ∈ ℝ^{a}\n√(x^2) = |x|": ["proved"],
    "x ∈ ℝ^{a}\n|x| + 1 = x": ["disproved"],
    "x ∈ ℝ^{a}\n|x| = ∑_{a} x": ["disproved"],
    "x ∈ ℝ^{a}\n|x| = 1": ["condition"],
    "x ∈ ℝ^{a}\n∑_{a} (x - x + 1) = |a|": [],  # the checker itself tests equations of sizes
    "12 · 64 = 768\n2 + 2 = 5\nsin π = 0": ["proved", "disproved", "condition"],
}

# claims about names of which nothing is said: what comes of them, and what is supposed
SUPPOSED = {
    "∂(U_{ax→ax'}) = [∂U]_{ax→ax'}": ("proved", {"U": "∈ ℝ^{ax}"}),
    "X ⊙_{ax} Y = ∑_{i ∈ I} X_{ax(i)} Y_{ax(i)}": (
        "proved",
        {"I": "all indices of ax", "X": "∈ ℝ^{ax}", "Y": "∈ ℝ^{ax}"},
    ),
    "∂U_s = [∂U]_s": ("not disproved", {"s": "any record of 𝒮", "U": "∈ ℝ^{𝒮}"}),
    "f : ℝ → ℝ\n∂f(U) = (∂f(x)/∂x)|_{x = U} ⊙ ∂U": ("proved", {"f": "any smooth function", "U": "∈ ℝ"}),
    "f : ℝ → ℝ\n∂f(U) = (∂f(x)/∂x)|_{x = 2 U} ⊙ ∂U": (
        "not tested",
        {"f": "any smooth function", "U": "∈ ℝ"},
    ),
    "f : ℝ^{𝒮} → ℝ^{𝒯}\n∂f(U) = (∂f(X)/∂X*)|_{X = U} ⊙_{𝒮*} ∂(U_{𝒮→𝒮*})": (
        "proved",
        {"f": "any smooth function", "U": "∈ ℝ^{𝒮}"},
    ),
    "f : ℝ^{𝒮} → ℝ^{𝒯}\n[∂f(X)/∂X*]_{s*, t} = ∂f(X)_t/∂X_s": (
        "not disproved",
        {"s": "any record of 𝒮", "t": "any record of 𝒯", "f": "any smooth function", "X": "∈ ℝ^{𝒮}"},
    ),
    "f : ℝ^{𝒮} → ℝ^{𝒯}\ng(X) = ∂f(X)/∂X*\n∂f^{𝒮'}(X)/∂X* = g^{𝒮'}(X) ⊙ I_{𝒮',𝒮'*}": (
        "not disproved",
        {"f": "any smooth function", "f^{𝒮'}": "the lift of f", "g^{𝒮'}": "the lift of g", "X": "∈ ℝ^{𝒮' × 𝒮}"},
    ),
    "f : ℝ^{𝒮} → ℝ^{𝒯}\n[f^{𝒮'}(X)]_{s'} = f(X_{s'})": (
        "not disproved",
        {"s'": "any record of 𝒮'", "f": "any smooth function", "f^{𝒮'}": "the lift of f", "X": "∈ ℝ^{𝒮' × 𝒮}"},
    ),
    "α = softmax_{s}(Q ⊙_{k} K)\n∂Att(Q, K) = ∂(α ⊙_{s} V)\n∂Att(Q, K)/∂V* = α_{s→s*} ⊙ I_{v, v*}": (
        "proved",
        {"Att(Q, K)": "α ⊙_{s} V", "Q": "∈ ℝ^{k}", "K": "∈ ℝ^{k × s}", "V": "∈ ℝ^{s × v}"},
    ),
}


def tried(text, draws=8, seed=0):
    return list(try_assertions(text, parse(text, "text"), {}, None, Draws(draws, seed)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", CASES)
def test_what_comes_of_the_claims_of_a_program(text):
    assert [attempt.status for attempt in tried(text)] == CASES[text]


@pytest.mark.parametrize("text", SUPPOSED)
def test_what_is_supposed_of_names_of_which_nothing_is_said(text):
    functions = frozenset({"f", "g", "R"})
    *_, last = try_assertions(text, parse(text, "text", functions=functions), {}, None, Draws())
    assert (last.status, dict(last.supposed)) == SUPPOSED[text]


def test_a_name_that_is_one_side_of_an_equation_is_what_the_other_says():
    first, second, third = tried(
        "X ∈ ℝ^{s}\n∂(∑_{s} X^2)/∂X* = D\n∂(∑_{s} X^2) = D ⊙_{s*} ∂(X^*)\n∑_{s*} D = 2 ∑_{s} X"
    )
    assert (str(first), second.status, third.status) == ("taken as what D is", PROVED, PROVED)


def test_an_estimate_of_each_element_is_not_tested():
    (result,) = tried("x ∈ ℝ^{a}\ny = 𝔼_{z ∼ 𝒩(0, 1)}[z + x]\ny_{a(k)} = x_{a(k)}")
    assert (result.status, result.said) == (UNTRIED, "it is about estimates, one for each of many")


def test_a_derivation_of_a_function_without_a_signature_is_not_tested():
    (result,) = tried("f(x) = x^2 = x ⊙ x")
    assert (result.status, result.said) == (UNTRIED, "f, x are not declared")


def test_the_names_that_nothing_says_are_told():
    (result,) = tried("∂f(X) = D ⊙_{s*} ∂(X^*) + const")
    assert result.status == UNTRIED and result.said == "D, X, const, f are not declared"


def test_a_counterexample_is_one():
    (result,) = tried("x ∈ ℝ^{a}\ny ∈ ℝ^{a}\nabs x ⊙_{a} y = x ⊙_{a} abs y")
    x, y = (result.drawn[name].to_numpy("a") for name in "xy")
    assert result.status == FALSE and not np.isclose(np.abs(x) @ y, x @ np.abs(y))
    assert f"{np.abs(x) @ y:.4g}"[:4] in result.said


def test_the_same_seed_draws_the_same_and_another_does_not():
    text = "x ∈ ℝ^{a}\nabs x = 1 x"
    first, again, other = (tried(text, seed=seed)[0].drawn["x"].tolist("a") for seed in (0, 0, 1))
    assert first == again != other


@pytest.mark.parametrize("number", [1, 3, 20])
def test_a_claim_holds_on_as_many_draws_as_are_asked_for(number):
    (result,) = tried("x ∈ ℝ^{a}\nmax_{a} x = -min_{a} (-x)", number)
    assert (result.status, result.draws) == (HOLDS, number) and str(result).startswith(f"holds on {number} random test")


def test_what_is_not_a_number_on_both_sides_does_not_hold():
    (result,) = tried("x ∈ [1, 2]^{a}\n√(-x) = log(-x)")
    assert result.status == UNTRIED


PAPER = r"""
\section{One}
Let $X \in \mathbb{R}^{\mathsf{seq} \times \mathsf{chans}}$.
\begin{align*}
Y &= \sum_{\mathsf{seq}} X \\
  &= |\mathsf{seq}| \, \mathrm{mean}_{\mathsf{seq}} X \\
Z &= \exp(X + X) \\
  &= \exp X + \exp X
\end{align*}
\section{Two}
\[ \sum_{\mathsf{seq}} (X - X) = 0 \]
"""


def test_claims_of_a_document_are_told_at_their_lines():
    report = check_document(PAPER, draws=Draws())
    lines = [(PAPER.count("\n", 0, attempt.span[0]) + 1, attempt.status) for attempt in report.tried]
    assert lines == [(5, PROVED), (7, FALSE), (11, PROVED)]
    (error,) = report.errors
    assert error.code == 403 and error.position() == (8, 6) and error.notes[0].startswith("with X = [[")
    assert not check_document(PAPER).tried and not check_document(PAPER).errors


DERIVATION = r"""
\begin{align}
A &= X \ndot{\mathsf{b}} w \\
B &= (A + 1)^2 \\
  &= A^2 + 2 A + 1 \\
  &= A^2 + 2 A - 1 \\
  &= (1 + A)^2
\end{align}
"""
DECLARED = r"where $X \in \mathbb{R}^{\mathsf{a} \times \mathsf{b}}$ and $w \in \mathbb{R}^{\mathsf{b}}$."


def test_the_first_step_of_a_derivation_that_does_not_hold_is_named():
    (error,) = check_document(DERIVATION + DECLARED, draws=Draws()).errors
    assert error.position() == (6, 6) and error.span_text == "A^2 + 2 A - 1" and "the first side" in error.message
    report = check_document(DERIVATION, draws=Draws())
    (warning,) = report.warnings
    assert not report.errors and warning.code == 403 and "where X ∈ ℝ^{b}" in warning.message
    assert DERIVATION[slice(*warning.span)] == "A^2 + 2 A - 1"


def test_the_command_tells_of_claims(tmp_path, capsys):
    paper = tmp_path / "a.tex"
    paper.write_text(PAPER)
    assert main(["check", str(paper), "--random", "--trials", "2"]) == 1
    printed = capsys.readouterr().out
    assert f"{paper}:5: note: assertion: proved" in printed and f"{paper}:8:6: error 403: assertion failed" in printed
    assert printed.endswith("\n3 formulas in 2 sections: 1 error, 0 warnings\n")
    assert main(["check", str(paper), "--random", "--ignore", "403"]) == 0
    capsys.readouterr()
    assert main(["check", str(paper), "--random", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)["tried"]
    assert [(item["line"], item["status"]) for item in result] == [
        (5, "proved"),
        (7, "disproved"),
        (11, "proved"),
    ]


def test_the_command_tries_the_claims_of_a_formula(capsys):
    assert main(["check", "x + y = y + x", "x=ℝ^{a}", "y=ℝ^{a}", "--random"]) == 0
    assert "assertion: proved" in capsys.readouterr().out
    assert main(["check", "abs x = x + 0", "x=ℝ^{a}", "--random"]) == 1
    assert "403" in capsys.readouterr().out
    assert main(["check", "x + y = y + x", "--random", "--trials", "many"]) == 2


def told_of(document):
    report = check_document(document, draws=Draws())
    lines = [(document.count("\n", 0, attempt.span[0]) + 1, attempt.status) for attempt in report.tried]
    return (
        lines,
        [(warning.code, document.count("\n", 0, warning.span[0]) + 1) for warning in report.warnings],
        report.errors,
    )


KNOWN = r"""
\section{One}
\begin{align*}
A &\in \mathbb{R}^{\mathsf{h}[2] \times \mathsf{w}[2]} \\
A &= \nmatrix{\mathsf{h}}{\mathsf{w}}{3 & 1 \\ 1 & 5}
\end{align*}
\section{Two}
If $A \in \mathbb{R}^{\mathsf{h}[2] \times \mathsf{w}[2]}$ is as above, then
\[ \sum_{\mathsf{h}, \mathsf{w}} A = @ \]
\[ A_{\mathsf{h}\rightarrow\mathsf{h'}} \ndot{\mathsf{w}} A = A \ndot{\mathsf{w}} A_{\mathsf{h}\rightarrow\mathsf{h'}} \]
\section{Three}
For any $A \in \mathbb{R}^{\mathsf{h} \times \mathsf{w}}$
\[ \sum_{\mathsf{h}, \mathsf{w}} A = 10 \]
"""


def test_a_tensor_that_an_earlier_section_wrote_out_is_that_tensor_where_a_later_one_says_no_more_of_it():
    lines, _, errors = told_of(KNOWN.replace("@", "10"))
    assert lines == [(9, HOLDS), (10, PROVED), (13, CONDITION)] and not errors
    lines, _, (error,) = told_of(KNOWN.replace("@", "11"))
    assert lines[0] == (9, FALSE) and error.code == 403 and error.position()[0] == 9


ROWS = r"""
\section{One}
If $f(X) = X \ndot{\mathsf{ax}} X$ where $X \in \mathbb{R}^{\mathsf{ax}}$, then
\begin{align*}
f(2X) &= 4 X \ndot{\mathsf{ax}} X
\end{align*}
In general
\begin{align*}
\partial f(U) &= \left.\frac{\partial f(X)}{\partial X^*}\right|_{X=U} \ndot{\mathcal{S}^*} \partial U_{\mathcal{S}\rightarrow\mathcal{S}^*} && f \colon \mathbb{R}^{\mathcal{S}} \rightarrow \mathbb{R}^{\mathcal{T}} \\
\partial f(U) &= \left.\frac{\mathrm{d} f(x)}{\mathrm{d} x}\right|_{x=U} \odot \partial U && f \colon \mathbb{R} \rightarrow \mathbb{R}
\end{align*}
"""


def test_a_signature_in_a_row_is_of_any_function():
    assert told_of(ROWS) == ([(5, PROVED), (9, PROVED), (10, PROVED)], [], [])


LIFTED = r"""
\section{One}
Let $f \colon \mathbb{R}^{\mathcal{S}} \rightarrow \mathbb{R}^{\mathcal{T}}$, and \[ g(X) = \frac{\partial f(X)}{\partial X^*}. \]
\[ \partial f^{\mathcal{S'}} (X) = g^{\mathcal{S'}}(X) \ndot{\mathcal{S}^*} \partial X_{\mathcal{S}\rightarrow\mathcal{S}^*} \]
\[ \frac{\partial f^{\mathcal{S'}}(X)}{\partial X} = g^{\mathcal{S'}}(X) \]
"""


def test_a_derivative_of_a_lift_that_lacks_its_mark_is_warned_of():
    assert told_of(LIFTED) == ([(4, HOLDS)], [(303, 5)], [])


@pytest.mark.parametrize(("text", "note"), [
    ("m ∈ ℝ\n2 m = m + 3", r"with m = -?\d+(\.\d+)?"),
    ("x ∈ ℝ^{a}\n2 x = x + 3", r"with x = \[.*\] over a"),
    ("X ∈ ℝ^{a × b × c × d × e}\n2 X = X + 3", r"with X = a tensor of ℝ\^\{a\[\d\] × b\[\d\] × c\[\d\] × d\[\d\] × e\[\d\]\}"),
])  # fmt: skip
def test_the_error_of_a_claim_shows_a_number_a_small_tensor_and_the_shape_of_a_large_one(text, note):
    (result,) = tried(text)
    (shown,) = result.error(text).notes
    assert re.fullmatch(note, shown), shown


WITHOUT_NAMED_AXES = r"""Let $x, y \in \mathbb{R}^{\mathsf{n}}$.
$$ \sum_{\mathsf{n}} (x + y) = \sum_{\mathsf{n}} x + \sum_{\mathsf{n}} y $$
$$ \exp(x + y) = \exp(x) \odot \exp(y) $$
$$ x - y = y - x $$
$$ u - v = v - u $$
"""


def test_equations_without_named_axes_are_tested_if_their_names_are_declared():
    report = check_document(WITHOUT_NAMED_AXES, draws=Draws())
    assert [(error.code, error.span_text.strip()) for error in report.errors] == [(403, "x - y = y - x")]
    assert [note.text for note in report.notes] == ["1 equation is not tested: no named axes (--all tests it)"]
    assert not check_document(WITHOUT_NAMED_AXES).errors
    everything = check_document(WITHOUT_NAMED_AXES, everything=True, draws=Draws())
    assert "u - v = v - u" in [everything.source[slice(*warning.span)].strip() for warning in everything.warnings]


def test_each_row_of_a_display_that_is_not_tested_is_counted():
    text = WITHOUT_NAMED_AXES + r"\begin{align} u &= v \\ v &= w \end{align}"
    (note,) = check_document(text, draws=Draws()).notes
    assert note.text == "3 equations are not tested: no named axes (--all tests them)"


ANYTHING = r"Let $A \in \mathbb{R}^{\mathsf{a}}$, $B \in \mathbb{R}^{\mathsf{b}}$. "


@pytest.mark.parametrize(("text", "statuses", "errors"), [
    (r"\[ f(x) = x + 1 \] \[ \sum_{\mathsf a} A^{f(2)} = \sum_{\mathsf a} A^3 \]", [PROVED], 0),
    (r"\[ f(x) = x + 1 \] \[ \sum_{\mathsf a} A^{f(2)} = \sum_{\mathsf a} A^3 + 1 \]", [FALSE], 1),
    (r"\[ p' = 3 \] \[ \sum_{\mathsf a} A^{p'} = \sum_{\mathsf a} A^3 \]", [PROVED], 0),
    (r"\[ p' = \sum_{\mathsf a} A \] \[ \sum_{\mathsf b} B^{p'} = \sum_{\mathsf b} B \]", [FALSE], 1),
    (r"\[ \sum_{\mathsf a} |A| = \sum_{\mathsf a} A \] \[ \max_{\mathsf b} B = \min_{\mathsf b} B \]", [FALSE] * 2, 2),
])  # fmt: skip
def test_functions_primes_and_magnitudes_in_an_assertion(text, statuses, errors):
    report = check_document(ANYTHING + text, draws=Draws())
    assert [attempt.status for attempt in report.tried] == statuses
    assert [problem.code for problem in report.errors] == [403] * errors


@pytest.mark.parametrize(("text", "statuses", "errors"), [
    (r"\[ \sum_{\mathsf a} A = 1 \] \[ \sum_{\mathsf b} B^2 = \sum_{\mathsf b} B \]", [CONDITION, FALSE], 1),
    (r"\[ \sum_{\mathsf a} A = 1 \] \[ \sum_{\mathsf a} A^2 = \sum_{\mathsf a} A \]", [CONDITION] * 2, 0),
])  # fmt: skip
def test_a_condition_does_not_excuse_assertions_about_other_tensors(text, statuses, errors):
    report = check_document(ANYTHING + text, draws=Draws())
    assert [attempt.status for attempt in report.tried] == statuses
    assert [problem.code for problem in report.errors] == [403] * errors
