"""Errors of formulas at the edges of what is taken: sets of numbers, slices, axes of what axes alone make."""

import numpy as np
import pytest

import namedtensor as nt

TABLE = "E^{i,0} = 0 for i = 0, …, 3\nE^{0,j} = 0 for j = 0, …, 3\nE^{i,j} = E^{i-1,j} + 1 for i = 1, …, 3 for j = 1, …, 3\n"
ERRORS = [
    ("∑_{i ∈ X} i", {"X": "ℝ^{a[2] × b[3]}"}, 405, "X must have exactly one axis", "write [n], {1, 3}, or a tensor of one axis"),
    ("X_{a(i:j)}", {"X": "ℝ^{a}", "i": "ℕ", "j": "ℕ"}, 309, "cannot infer the length of the slice i:j", "write one end in terms of the other: t-2:t"),
    ("X_{a(1:n)}", {"X": "ℝ^{a}", "n": "ℕ"}, 309, "cannot infer the length of the slice 1:n", "write one end in terms of the other: t-2:t"),
    ("ones_{a+1}", {}, 201, "undefined name ones_{a+1}", "define ones_{a+1} with an equation, or pass a value for it"),
    ("var_{a}(X; 3)", {"X": "ℝ^{a[3]}"}, 405, "var is undefined: 3 elements less 3", "give a smaller ddof, or reduce over more elements"),
    ("std_{a,b}(X; 7)", {"X": "ℝ^{a[2] × b[3]}"}, 405, "std is undefined: 6 elements less 7", "give a smaller ddof, or reduce over more elements"),
    ("√t = 2\nt", {}, 201, "undefined name t", "give t a value, or define it: an equation cannot define √t, a built-in sign"),
    (f"{TABLE}E^{{5,1}}", {}, 201, "undefined name E^{5,1}: E is defined for i = 0, …, 3", "extend the range to 5"),
    (f"{TABLE}E^{{1,7}}", {}, 201, "undefined name E^{1,7}: E is defined for j = 0, …, 3", "extend the range to 7"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "types", "code", "message", "hint"), ERRORS)
def test_an_edge_is_an_error_of_the_checker(text, types, code, message, hint):
    error = nt.check(text, **types).errors[0]
    assert (error.code, error.message, error.hint) == (code, message, hint)


def test_a_sum_over_the_numbers_of_a_tensor_is_that_of_its_elements():
    x = np.array([1.0, 2.0, 5.0])
    assert float(nt.evaluate("∑_{i ∈ X} i^2", X=nt.tensor(x, "a"))) == (x**2).sum()


@pytest.mark.parametrize("ddof", [0, 1, 2])
def test_a_variance_with_degrees_of_freedom_is_that_of_numpy(ddof):
    x = np.array([1.0, 2.0, 5.0])
    assert float(nt.evaluate(f"var_{{a}}(X; {ddof})", X=nt.tensor(x, "a"))) == pytest.approx(x.var(ddof=ddof))


@pytest.mark.parametrize(("number", "dtype"), [("1", "int64"), ("1.0", "float64")])
def test_literals_of_equal_numbers_keep_their_dtypes(number, dtype):
    result = nt.evaluate(
        f"{{ [{number}, 2]_{{a}} if ∑_{{a}} [1.0, 2]_{{a}} > ∑_{{a}} [0, 2]_{{a}}; [3, 4]_{{a}} otherwise }}"
    )
    assert result.dtype == dtype


def test_literals_keep_the_sign_of_zero():
    values = nt.evaluate("[1/[0.0, 1]_{a}, 1/[-0.0, 1]_{a}]_{b}").to_array("b a")
    assert values.tolist() == [[np.inf, 1], [-np.inf, 1]]
