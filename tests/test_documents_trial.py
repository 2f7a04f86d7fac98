"""Claims of a document tried on random tensors: what comes of each, and that a counterexample is one."""

import json

import numpy as np
import pytest

from grammar.parser import parse
from namedtensor.cli.commands import main
from namedtensor.documents.sections import check_document
from namedtensor.documents.trial import tried_claims
from namedtensor.documents.verdicts import FALSE, HOLDS, PROVED, UNTRIED, Draws

# a program as text, and what comes of its claims
CASES = {
    "X ∈ ℝ^{a × b}\nY = ∑_{a} X = |a| mean_{a} X": ["proved"],
    "X ∈ ℝ^{a × b}\nY = ∑_{a} X = mean_{a} X": ["false"],
    "∑_{a} softmax_{a} x = 1": ["proved"],
    "x ∈ ℝ^{a}\nmax_{a} x = -min_{a} (-x)": ["holds"],
    "x ∈ ℝ^{a}\nm = mean_{a} x\n∑_{a} (x - m)^2 = ∑_{a} x^2 - |a| m^2": ["proved"],
    "x ∈ ℝ^{a}\nm = mean_{a} x\n∑_{a} (x - m) = 1": ["false"],
    "x, y ∈ ℝ\nexp(x + y) = exp x + exp y": ["false"],
    "exp(x + y) = exp x + exp y": ["not tried"],
    "f : ℝ^{a} → ℝ\nf(x) = ∑_{a} x^2 = x ⊙_{a} x": ["holds"],
    "f : ℝ^{a} → ℝ\nf(x) = ∑_{a} x^2 = 2 ∑_{a} x": ["false"],
    "A = [3, 1; 4, 1]_{h, w}\nA_{h(1), w(1)} = 3\nA_{h(2), w(1)} = 3": ["holds", "false"],
    "X ∈ ℝ^{a}\nS = 2 X\nS_{a(k)} = X_{a(k)} + X_{a(k)}\nS_{a(k)} = X_{a(k)} + 1": ["holds", "false"],
    "P ∈ ℝ^{q[m]}\nI ∈ [m]^{s}\nS = index_{q}(P, I)\nS_{s(k)} = P_{q(I_{s(k)})}": ["holds"],
    "P ∈ ℝ^{q[m]}\nI ∈ [m]^{s}\nS = index_{q}(P, I)\nS_{s(k)} = 2 P_{q(I_{s(k)})}": ["false"],
    "|q| = m\nP ∈ ℝ^{q}\nI ∈ [m]^{s}\nS = index_{q}(P, I)\nS_{s(k)} = P_{q(I_{s(k)})}": ["holds"],
    "∂(∑_{a} x^2) = 2 ∑_{a} (x ⊙ ∂x)": ["proved"],
    "x ∈ ℝ^{a}\nx > 0\n√(x ⊙ x) = x + 0": ["holds"],
    "x ∈ ℝ^{a}\nx > 0\n√(x ⊙ x) = x + 1": ["false"],
    "ε ∈ ℝ\nε > 0\nabs(ε) + 1 = 1 + ε": ["holds"],
    "x ∈ ℝ^{a}\n∂(∑_{a} x^2) = 3 ∑_{a} (x ⊙ ∂x)": ["false"],
    "|key| = |layer| / |heads|\nX ∈ ℝ^{layer}\nY = ∑_{heads} X_{layer→(heads,key)}\n∑_{key} Y = ∑_{layer} X": ["holds"],
    "X ∈ {0, 1}^{seq × vocab}\n∑_{vocab} X^2 = ∑_{vocab} X": ["holds"],
    "X ∈ {0, 1}^{seq × vocab}\n∑_{vocab} X = 1\n∑_{vocab} X^2 = 1": ["condition", "condition"],
    "p ∈ [0, 1]^{a}\nmax_{a} (p ⊙ (1 - p)) = 0.25": ["condition"],
    "half(x) = x / 2\nX ∈ ℝ^{a}\nhalf(X) = [1, 2]_{a}": ["condition"],
    "x ∈ [0, 1]^{a}\nabs x = 1 x": ["holds"],
    "x ∈ ℝ^{a}\nabs x = 1 x": ["false"],
    "x ∈ ℝ^{a}\n√(x ⊙ x) = abs(x) + 0": ["holds"],
    "x ∈ ℝ^{a}\nlog(-exp x) = 1": ["not tried"],
}


def tried(text, draws=8, seed=0):
    return list(tried_claims(text, parse(text, "text"), {}, None, Draws(draws, seed)))


@pytest.mark.parametrize("text", CASES)
def test_what_comes_of_the_claims_of_a_program(text):
    assert [each.verdict for each in tried(text)] == CASES[text]


def test_a_counterexample_is_one():
    (found,) = tried("x ∈ ℝ^{a}\ny ∈ ℝ^{a}\nabs x ⊙_{a} y = x ⊙_{a} abs y")
    x, y = (found.drawn[name].to_numpy("a") for name in "xy")
    assert found.verdict == FALSE and not np.isclose(np.abs(x) @ y, x @ np.abs(y))
    assert f"{np.abs(x) @ y:.4g}"[:4] in found.said


def test_the_same_seed_draws_the_same_and_another_does_not():
    text = "x ∈ ℝ^{a}\nabs x = 1 x"
    first, again, other = (tried(text, seed=seed)[0].drawn["x"].tolist("a") for seed in (0, 0, 1))
    assert first == again != other


@pytest.mark.parametrize("number", [1, 3, 20])
def test_a_claim_holds_on_as_many_draws_as_are_asked_for(number):
    (found,) = tried("x ∈ ℝ^{a}\nmax_{a} x = -min_{a} (-x)", number)
    assert (found.verdict, found.draws) == (HOLDS, number) and str(found).startswith(f"holds on {number} draw")


def test_what_is_not_a_number_on_both_sides_does_not_hold():
    (found,) = tried("x ∈ [1, 2]^{a}\n√(-x) = log(-x)")
    assert found.verdict == UNTRIED


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
    lines = [(PAPER.count("\n", 0, each.span[0]) + 1, each.verdict) for each in report.tried]
    assert lines == [(5, PROVED), (7, FALSE), (11, HOLDS)]
    (error,) = report.errors
    assert error.number == 403 and error.position()[0] == 7 and error.notes[0].startswith("with X = [[")
    assert not check_document(PAPER).tried and not check_document(PAPER).errors


def test_the_command_tells_of_claims(tmp_path, capsys):
    paper = tmp_path / "a.tex"
    paper.write_text(PAPER)
    assert main(["check", str(paper), "--random", "--draws", "2"]) == 1
    printed = capsys.readouterr().out
    assert f"{paper}:5: note: claim: proved" in printed and f"{paper}:7:1: error 403: this does not hold" in printed
    assert printed.endswith("\n3 formulas in 2 sections: 1 error, 0 warnings\n")
    assert main(["check", str(paper), "--random", "--ignore", "403"]) == 0
    capsys.readouterr()
    assert main(["check", str(paper), "--random", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["tried"]
    assert [(each["line"], each["verdict"]) for each in found] == [(5, "proved"), (7, "false"), (11, "holds")]


def test_the_command_tries_the_claims_of_a_formula(capsys):
    assert main(["check", "x + y = y + x", "x=ℝ^{a}", "y=ℝ^{a}", "--random"]) == 0
    assert "claim: proved" in capsys.readouterr().out
    assert main(["check", "abs x = x + 0", "x=ℝ^{a}", "--random"]) == 1
    assert "403" in capsys.readouterr().out
    assert main(["check", "x + y = y + x", "--random", "--draws", "many"]) == 2
