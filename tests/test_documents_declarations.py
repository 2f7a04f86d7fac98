"""A name that the head of a function binds, and that a document declares and uses by itself: its declaration counts there too."""

import pytest

import namedtensor as nt
from namedtensor.cli import main

HEAD = r"\documentclass{article}\usepackage{namedtensor}\ndef{\chans}{chans}\ndef{\hidden}{hidden}\ndef{\seq}{seq}\begin{document}"
WEIGHTS = r"W \in \reals^{\chans}"
FUNCTION = r"f(Z) = Z \ndot{\chans} W"
DECLARED = r"Z \in \reals^{\seq \times \chans}"
USES = {
    "a definition": r"Y = Z \ndot{%s} W",
    "an expression": r"Z \ndot{%s} W",
    "another function": r"g(X) = X + Z \ndot{%s} W \quad V = g(2)",
    "a definition by another": r"Y = 2 V \quad V = Z \ndot{%s} W",
    "a power": r"Y = Z^2 \ndot{%s} W",
    "an index": r"Y = Z_{\seq(1)} \ndot{%s} W",
}
ORDERS = {
    "declared last": (WEIGHTS, FUNCTION, DECLARED, None),
    "declared first": (DECLARED, WEIGHTS, FUNCTION, None),
    "declared before the function": (WEIGHTS, DECLARED, FUNCTION, None),
    "declared after the use": (WEIGHTS, FUNCTION, None, DECLARED),
    "two functions": (WEIGHTS, FUNCTION, r"e(Z) = 2 Z", DECLARED, None),
    "a function between": (WEIGHTS, FUNCTION, DECLARED, r"e(Z) = 2 Z", None),
}


def displays(lines):
    return "\n".join(rf"\[ {line} \]" for line in lines)


def rows(lines):
    return "\\begin{align*}\n" + " \\\\\n".join(f"& {line}" for line in lines) + "\n\\end{align*}"


def sections(lines):
    return "\n".join(rf"\subsection{{S{n}}} \[ {line} \]" for n, line in enumerate(lines))


WAYS = {"displays": displays, "rows of one display": rows, "subsections": sections}


def checked(tmp_path, lines, way, capsys):
    path = tmp_path / "paper.tex"
    path.write_text(HEAD + "\\section{A}\n" + WAYS[way](lines) + r"\end{document}", encoding="utf-8")
    status = main(["check", str(path), "--all"])
    return status, "".join(capsys.readouterr())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("use", USES)
def test_a_wrong_use_of_what_is_declared_is_an_error(tmp_path, capsys, use, order, way):
    if way == "subsections" and order == "declared after the use":
        pytest.skip("a later subsection says nothing of an earlier one")
    lines = [USES[use] % r"\hidden" if item is None else item for item in ORDERS[order]]
    status, message = checked(tmp_path, lines, way, capsys)
    assert status == 1 and "error 301" in message and "hidden" in message, message
    assert "Z is not declared in this section" not in message
    right = [USES[use] % r"\chans" if item is None else item for item in ORDERS[order]]
    status, message = checked(tmp_path, right, way, capsys)
    assert status == 0 and "Z is not declared in this section" not in message, message


@pytest.mark.parametrize("use", ["y = Z ⊙_{chans} W", "Z ⊙_{chans} W", "g(X) = X + Z ⊙_{chans} W\ng(2)"])
def test_a_program_takes_such_a_name_as_declared(use):
    text = f"W ∈ ℝ^{{chans}}\nf(Z) = Z ⊙_{{chans}} W\nZ ∈ ℝ^{{seq × chans}}\n{use}"
    assert nt.check(text).ok and nt.check(text.replace("⊙_{chans} W\nf", "⊙_{chans} W\nf")).type == "ℝ^{seq}"
    assert "Z" in nt.program(text).declared
    wrong = nt.check(text.removesuffix(use) + use.replace("chans", "hidden"))
    assert [error.code for error in wrong.errors] == [301]


@pytest.mark.parametrize("text", [
    "f(Z) = 2 Z\nZ ∈ ℝ^{a}",
    "f(Z) = 2 Z\nZ ∈ ℝ^{a}\ny = f(x)\nx ∈ ℝ^{a}",
    "f(Z) = 2 Z\nZ ∈ ℝ^{a}\ng(Z) = f(Z)",
    "f(X; Z) = X + Z\nZ ∈ ℝ^{a}\ny = f(x; z)\nx, z ∈ ℝ^{a}",
    "f(Z) = 2 Z\nZ ∈ ℝ^{a}\ny = Z_1 + 1\nZ_1 ∈ ℝ^{b}",
])  # fmt: skip
def test_what_only_heads_bind_is_no_parameter(text):
    assert "Z" not in nt.program(text).declared


def test_the_type_of_the_parameter_stays():
    text = "f(Z) = 2 Z\nZ ∈ ℝ^{seq × chans}\ny = ∑_{chans} Z\nf(x)"
    assert nt.check(text, x="ℝ^{chans × seq}").ok
    assert not nt.check(text, x="ℝ^{chans}").ok
