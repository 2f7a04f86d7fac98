"""Brackets that a document gives a name: \\DeclarePairedDelimiter, and environments of its own."""

import pytest

import namedtensor as nt
from grammar.errors import NotationError

X = nt.tensor([3.0, -4.0], "a")
HEAD = r"""
\newcommand{\a}{\name{a}}
\DeclarePairedDelimiter{\norm}{\lVert}{\rVert}
\DeclarePairedDelimiter\abs{\lvert}{\rvert}
\DeclarePairedDelimiter\floor\lfloor\rfloor
\DeclarePairedDelimiterX{\inner}[2]{(}{)}{#1 \ndot{\a} #2}
\let\length=\norm
\newenvironment{shown}[1]{\begin{align}}{\end{align}}
"""


@pytest.mark.parametrize(("formula", "meant"), [
    (r"$\norm{x}$", "norm_{a} x"), (r"$\norm*{x - 1}$", "norm_{a} (x - 1)"), (r"$\norm[\big]{x} + 1$", "norm_{a} x + 1"),
    (r"$\length*{x}$", "norm_{a} x"), (r"$\abs{x}$", "abs(x)"), (r"$\abs*{\frac{x}{2}}$", "abs(x / 2)"), (r"$\floor{x / 2}$", "floor(x / 2)"),
    (r"$\inner{x}{(x - 1)}$", "x ⊙_{a} (x - 1)"), (r"$\inner*{x}{x}^2$", "(x ⊙_{a} x)^2"),
    (r"\begin{shown}{2} y &= x \ndot{\a} x \\ z &= y^2 \end{shown}", "(x ⊙_{a} x)^2"),
])  # fmt: skip
def test_they_are_read_as_what_they_show(formula, meant):
    assert nt.allclose(nt.evaluate(HEAD + formula, x=X), nt.evaluate(meant, x=X))


@pytest.mark.parametrize(("source", "number"), [
    (r"\DeclarePairedDelimiterX{\q}[n]{(}{)}{#1} $\q{x}$", 111),
    (r"\newenvironment{q}[1][2][3]{\begin{align}}{\end{align}} \begin{q} x \end{q}", 111),
    (r"\newenvironment{q}{\begin{q}}{\end{q}} \begin{q} x \end{q}", 109),
])  # fmt: skip
def test_what_is_beyond_the_notation_is_refused(source, number):
    with pytest.raises(NotationError) as raised:
        nt.evaluate(source, x=X, syntax="latex")
    assert raised.value.code == number


@pytest.mark.parametrize(
    "closing", ["⌋", "⌉", r"\rfloor", r"\rceil", r"\rVert", ")", "]", r"\right)", r"\right|_{x=1}"]
)
@pytest.mark.parametrize(
    "around", [r"\frac{%s x}{2}", r"x_{%s \a}", r"\sqrt{%s x}", r"x \ndot{%s \a} x", r"\left. x \frac{%s}{2}"]
)
def test_a_bracket_that_closes_in_another_argument_is_refused(around, closing):
    with pytest.raises(NotationError) as raised:
        nt.evaluate(HEAD + f"${around % closing}$", x=X, syntax="latex")
    assert 101 <= raised.value.code <= 110
