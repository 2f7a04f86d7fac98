"""Suggestions for names that are misspelled: names of the program come before built-in names unless those are closer."""

import pytest

import namedtensor as nt

CASES = [
    ("Y = weigths ⊙_{a} X\nX, weights ∈ ℝ^{a}", "did you mean weights?"),
    ("weights = 2 X\nY = weigths ⊙_{a} X\nX ∈ ℝ^{a}", "did you mean weights?"),
    ("Y = 2 weigths", "did you mean eigh?"),
    ("Y = sofmax + X\nX, max ∈ ℝ^{a}", "did you mean softmax"),
    ("Y = W^{Qq} + X\nX, W^Q ∈ ℝ^{a}", "did you mean W^Q?"),
]


@pytest.mark.parametrize(("text", "hint"), CASES)
def test_names_of_the_program_come_first(text, hint):
    result = nt.check(text)
    assert len(result.errors) == 1 and result.errors[0].code == 201
    assert str(result.errors[0].hint).startswith(hint)
