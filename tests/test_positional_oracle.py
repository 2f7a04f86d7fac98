"""The value of a source by itself, with which a translation is compared: where it has one, and where it has none."""

import numpy as np
import pytest

import namedtensor as nt

COMPARED, NOT_COMPARED = (
    "equal to our own reading on 5 random inputs",
    "not compared: the source has no value of its own here",
)
ROWS = [  # source, shapes, reading, formula, whether it is compared
    ("∑_j δ_{ij} x_j", "x=n", None, "I_{n', n} ⊙_{n} x", NOT_COMPARED),
    ("∑_{ij} δ_{ij} A_{kl}", "A=n n", None, "∑_{i, i'} I_{i, i'} ⊙ A", NOT_COMPARED),
    ("A_{ij} δ_{ij}", "A=n n", None, "trace_{n, n'}(A)", COMPARED),
    ("exp(A)", "A=n n", 2, "expm_{n, n'}(A)", NOT_COMPARED),
    ("∑_{k=1}^{n} k", "x=n", None, "∑_{n} iota_n", NOT_COMPARED),
    ("a / b c", "a=;b=;c=", 1, "(a / b) ⊙ c", COMPARED),
    ("a / b c", "a=;b=;c=", 2, "a / (b ⊙ c)", COMPARED),
    ("x / 2 y", "x=n;y=n", 2, "(x / 2) ⊙ y", COMPARED),
    ("A_{ij} ∘ B_{ij}", "A=n m;B=n m", None, "A ⊙_{n, m} B", COMPARED),
    ("∑_i x_i y_i ∘ z_i", "x=n;y=n;z=n", None, "x ⊙ y ⊙_{n} z", COMPARED),
    ("I/2 + A", "A=n n", None, "(1 / 2) ⊙ I_{n, n'} + A", COMPARED),
    ("diag(x_i y)", "x=n;y=m", None, "diag_{m, m'}(x ⊙ y)", NOT_COMPARED),
    ("a ⊗ B", "a=;B=n m", None, "a ⊙ B", COMPARED),
    (
        "(x_i A) ⊗ B",
        "x=n;A=n m;B=n m",
        None,
        "[x ⊙ A_{n→n'} ⊙ B_{n→n'', m→m'}]_{(n',n'')→nn}_{(m,m')→mm}",
        NOT_COMPARED,
    ),
    ("∂ log det X / ∂X", "X=n n", None, "∂log(det_{n, n'}(X))/∂X", "equal to our own reading on 2 random inputs"),
    ("∑_k x_{t-k+1}", "x=n", 2, "|k'| = |k|\n∑_{k} [unroll_{n, k'}(x)]_{n→t}_{k'(|k| - iota_k + 1)}", NOT_COMPARED),
]


@pytest.mark.parametrize(("source", "shapes", "reading", "formula", "checked"), ROWS)
def test_a_translation_is_compared_where_its_source_has_a_value(source, shapes, reading, formula, checked):
    inputs = dict(pair.split("=") for pair in shapes.split(";")) if shapes else {}
    translation = nt.translate(source, inputs, reading=reading)
    assert (translation.formula, translation.checked) == (formula, checked)


def test_the_second_reading_of_a_slash_divides_by_all_that_follows():
    numbers = {"a": np.array(12.0), "b": np.array(2.0), "c": np.array(3.0)}
    values = [
        float(np.asarray(nt.translate("a / b c", dict.fromkeys("abc", ""), reading=n)(**numbers))) for n in (1, 2)
    ]
    assert values == [18.0, 2.0]
