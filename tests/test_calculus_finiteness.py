"""What is seen to be finite is finite, of whatever numbers; what is not seen is told from it by a table."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.calculus.finiteness import Finite, is_never_negative, is_never_positive, is_nowhere_zero, is_positive
from namedtensor.scope.names import key
from namedtensor.terms.inference import InputType

NUMBERS = nt.tensor([0.0, -0.5, 1.0, -1.0, 2.0, 3.5, -7.0, 1e3, -1e3, 1e-3], "a")

FINITE = [
    "X", "X + 1", "2 X - X", "tanh(X)", "|X| X", "X / 2", "-X", "1 / 4",
    "1 / (1 + X^2)", "X / √(1 + X^2)", "1 / (2 (1 + X^2))", "1 / max(1, X^2)", "1 / (exp(-X^2) + 1)",
    "√(X^2)", "√(X ⊙ X)", "√|X|", "√(1 + √(X^2))", "√(∑_{a} X^2)",
    "log(1 + X^2)", "log((1 + X^2) (2 + X^2))", "log(√(1 + X^2))", "log [1 + X^2]_{a(2)}", "log(3)",
    "exp(-X^2)", "exp(-√(X^2))", "exp((-2) ⊙ X^2)", "exp(-3)",
    "X^2", "X^3", "(X^2)^0.5", "(1 + X^2)^{-1}", "(1 + X^2)^{-0.5}", "(1 + X^2)^{X / 100}", "(X^2)^{1.5}", "X^0",
]  # fmt: skip
NOT_SEEN = [
    "1 / X", "1 / X^2", "1 / 0", "X / (X - 8)", "1 / (X^2 - 1)", "1 / (X + 1)", "1 / max(X, X^2)", "1 / max(-1, X)", "1 / mean_{a}(1 + X^2)",
    "√X", "√(X - 1)", "√(X^3)", "√(-X^2)", "√(1 - X^2)", "√(X ⊙ |X|)", "√(-2)",
    "log(X)", "log(X^2)", "log(1 - X)", "log(0)", "log(|X|)", "log [X^2]_{a(1)}",
    "exp(X^2)", "exp(X)", "exp(-X)", "exp(X^3)", "exp(-X^3)", "exp((-2) ⊙ X^3)", "exp(2 ⊙ X^2)",
    "X^{-1}", "X^{-2}", "X^0.5", "X^1.5", "(X^2)^{-1}", "(X^2)^{-0.5}", "(1 - X^2)^{-1}", "2^X / X", "(X^2)^X",
]  # fmt: skip
SIGNS = {
    is_positive: (
        ["2", "1 + X^2", "max(1, X^2)", "(1 + X^2) / (2 + |X|)", "√(1 + X^2)", "[1 + X^2]_{a(1)}", "[1 + X^2]_{a→b}"],
        ["0", "-1", "X", "X^2", "1 - X^2", "1 + X", "max(-1, X^2)", "√(X^2)", "(1 + X^2) X", "X^2 + X^2"],
    ),
    is_never_negative: (
        ["0", "3", "X^2", "X^4", "|X|", "X ⊙ X", "|X|^3", "|X| + X^2", "|X| ⊙ X^2", "exp(X)", "√(X^2)", "∑_{a} X^2", "X / X"],
        ["-1", "X", "X^3", "-X^2", "X^2 - 1", "X ⊙ |X|", "X + |X|", "tanh(X)", "∑_{a} X", "X^1"],
    ),
    is_never_positive: (
        ["0", "-3", "-X^2", "-|X|", "(-X^2) / (1 + X^2)", "(-2) ⊙ X^2"],
        ["2", "X", "-X", "X^2", "(-X^2) ⊙ X", "X ⊙ X^2", "X^2 ⊙ X^2", "-X^3"],
    ),
    is_nowhere_zero: (["2", "-2", "1 + X^2"], ["0", "X", "X^2", "1 - X^2"]),
}  # fmt: skip


def term_of(text):
    """The term of a formula, as calculus sees it."""
    program = nt.program(text)._goal.program
    return program.checker({key("X"): InputType(dict(NUMBERS.sizes))}, {}).whole()


DEEP = [
    (is_never_negative, "X^2", ["({}) + 1", "({})^3", "({}) / 2", "({}) ⊙ |X|", "max(1, {})"]),
    (is_positive, "2 + X^2", ["({}) + 1", "({}) / 2", "({}) ⊙ (1 + X^2)", "max(1, {})", "√({})"]),
    (is_never_positive, "-X^2", ["({}) / 2", "({}) ⊙ |X|"]),
]


@pytest.mark.parametrize(("sign", "inner", "outer"), [(sign, inner, name) for sign, inner, of in DEEP for name in of])
def test_a_sign_is_looked_for_a_few_operations_deep(sign, inner, outer):
    """What a sign costs is bounded, however long the formula is."""
    nested = [inner]
    for _ in range(12):
        nested.append(outer.format(nested[-1]))
    assert [sign(term_of(nested[depth])) for depth in (5, 12)] == [True, False]


@pytest.mark.parametrize("text", FINITE)
def test_it_is_seen_to_be_finite_and_is(text):
    assert Finite()(term_of(text))
    assert np.isfinite(nt.evaluate(text, {"X": NUMBERS}).array).all()


@pytest.mark.parametrize("text", NOT_SEEN)
def test_it_is_not_seen_to_be_finite(text):
    assert not Finite()(term_of(text))


@pytest.mark.parametrize(
    ("sign", "text", "expected"),
    [
        (sign, text, expected)
        for sign, texts in SIGNS.items()
        for expected, of in zip((True, False), texts)
        for text in of
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_sign_is_seen_or_not(sign, text, expected):
    assert sign(term_of(text)) is expected
