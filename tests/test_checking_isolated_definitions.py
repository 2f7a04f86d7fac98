"""A definition has one value and one error, whichever rule asks for it first."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference

X = np.array([10.0, 20.0, 30.0])
ROWS = "|lane| = 3\nM^k_{lane(p)} = x_{b(4-p)} for k = 1, …, 2\n"  # M^2 is x reversed
ASKED_UNDER_A_CONDITION = {
    "a member one position back": (
        ROWS + "A_{lane(p)} = { M^2_{lane(p-1)} if p ≥ 3; 0 otherwise }\nA",
        lambda m: [0, 0, m[1]],
    ),
    "the member again, without the condition": (
        ROWS + "A_{lane(p)} = { M^2_{lane(p-1)} if p ≥ 3; 0 otherwise }\nA + M^2",
        lambda m: [m[0], m[1], m[2] + m[1]],
    ),
    "a member in a sum up to the element": (
        ROWS + "A_{lane(p)} = ∑_{q=1}^{p} M^2_{lane(q)}\nA",
        np.cumsum,
    ),
    "a recurrence": (
        "|lane| = 3\nM^0_{lane(p)} = x_{b(4-p)}\nM^k_{lane(p)} = M^{k-1}_{lane(4-p)} + x_{b(4-p)} for k = 1, …, 2\n"
        "A_{lane(p)} = { M^2_{lane(p-1)} if p ≥ 3; 0 otherwise }\nA",
        lambda m: [0, 0, 2 * m[1] + m[1]],
    ),
    "a family of two indices": (
        "|lane| = 3\nM^{k,l}_{lane(p)} = x_{b(4-p)} for k = 1, …, 2 for l = 1, …, 2\n"
        "A_{lane(p)} = { M^{2,1}_{lane(p-1)} if p ≥ 3; 0 otherwise }\nA",
        lambda m: [0, 0, m[1]],
    ),
    "a family of a function": (
        ROWS + "A_{lane(p)} = { M^2_{lane(p-1)} if p ≥ 3; 0 otherwise }\nF(x) = A\nF(x)",
        lambda m: [0, 0, m[1]],
    ),
}


@pytest.mark.parametrize("case", ASKED_UNDER_A_CONDITION)
def test_a_condition_masks_no_member_of_a_family(case):
    text, expected = ASKED_UNDER_A_CONDITION[case]
    expected = expected(X[::-1])
    assert np.array_equal(nt.evaluate(text, x=nt.tensor(X, "b")).to_array(), expected)
    assert np.array_equal(reference.evaluate(text, {"x": reference.tensor(X.tolist(), "b")}).to_list("lane"), expected)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_a_condition_masks_no_member_in_any_library(library):
    pytest.importorskip(library)
    text, expected = ASKED_UNDER_A_CONDITION["a member one position back"]
    x = nt.tensor(X, "b").to(library)
    assert np.array_equal(nt.evaluate(text, x=x).to_numpy("lane"), expected(X[::-1]))
    slope = nt.derivative(text + " ⊙_{lane} A", "x")(x=x)
    assert np.array_equal(slope.to_numpy(), [0, 2 * X[1], 0])


def test_a_member_has_the_same_value_in_each_order_of_statements():
    text = ASKED_UNDER_A_CONDITION["a member one position back"][0].removesuffix("\nA")
    lines = text.split("\n")
    for first in range(len(lines)):
        turned = "\n".join(lines[first:] + lines[:first])
        assert np.array_equal(nt.evaluate(turned, x=nt.tensor(X, "b")).to_array("lane"), [0, 0, 20])


SIZES = {
    "an identity": ("Y = I_{a,a'}\n|a| = n\nn = |c|\nC = [1, 2, 3]_{c}\nY + n", np.eye(3) + 3),
    "an identity of a square": ("Y = I_{a,a'}\n|a| = k\nk = |c|^2\nC = [1, 2]_{c}\nY + k", np.eye(4) + 4),
}


@pytest.mark.parametrize("case", SIZES)
def test_a_number_has_its_value_when_a_size_asks_for_it_first(case):
    text, expected = SIZES[case]
    assert np.array_equal(nt.evaluate(text).to_array("a a'"), expected)


@pytest.mark.parametrize(
    "text",
    [
        "Z = { m if 1 = 2; 0 otherwise } + m\nm = X_{a(9)}",
        "Y = { m if 1 = 2; 0 otherwise }\nZ = Y + m\nm = X_{a(9)}",
        "Z = { M^1 if 1 = 2; 0 otherwise } + M^1\nM^k = X_{a(9)} for k = 1, …, 2",
        "f(x) = { m if 1 = 2; 0 otherwise } + m\nm = x_{a(9)}\nf(X)",
    ],
)
def test_a_case_that_is_ruled_out_hides_no_error(text):
    checked = nt.check(text, X="ℝ^{a[3]}")
    assert [error.code for error in checked.errors] == [401]
    assert checked.errors[0].span[0] == text.index("9")
