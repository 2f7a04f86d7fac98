"""Errors for ranges in parentheses, families without ranges, and labels of functions that look like axes."""

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError

X = nt.tensor(np.array([1.0, 3.0, 2.0]), "k")


def refuse(text, **given):
    with pytest.raises(NotationError) as caught:
        nt.evaluate(text, given)
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        r"z_{\name{k}(t)} = 2 t \quad (t = 1, \ldots, 3)",
        r"z_{\name{k}(t)} = 2 t \quad (t \in [3])",
        "z_{k(t)} = 2 t (t = 1, …, 3)",
        "z_{k(t)} = 2 t for (t = 1, …, 3)",
    ],
)
def test_a_range_in_parentheses_is_refused_with_a_repair(text):
    problem = refuse(text)
    assert "write the range without parentheses" in str(problem.hint)
    (((start, end), edit),) = problem.edits
    np.testing.assert_array_equal(nt.evaluate(text[:start] + edit + text[end:]).to_array(), [2, 4, 6])


@pytest.mark.parametrize(
    "text, hint",
    [
        ("h^0 = 0\nh^t = h^{t-1} + 1\nh^3", "h^t needs a range: h^t = … for t = 1, …, n"),
        ("h_0 = 0\nh_t = h_{t-1} + 1\nh_3", "h_t needs a range: h_t = … for t = 1, …, 3"),
    ],
)
def test_a_family_without_a_range_is_named(text, hint):
    assert refuse(text).hint == hint


def test_a_label_that_looks_like_an_axis_is_explained():
    assert "ax is a label of F: call F_{ax}(…)" in str(refuse("F_{ax}(a) = a + 1\nF_{k}(x)", x=X).hint)
    np.testing.assert_array_equal(nt.evaluate("F_{ax}(a) = a + 1\nF_{ax}(x)", x=X).to_array(), [2, 4, 3])


def test_the_hint_for_too_many_arguments_names_the_inputs():
    with pytest.raises(NotationError) as caught:
        nt.compile("x + w")(X)
    assert caught.value.hint == "pass inputs by name: f(w=w, x=x)"
    with pytest.raises(NotationError) as caught:
        nt.compile("f(x) = x + class")(X, X)
    assert caught.value.hint == "pass inputs by name: f(x, values={'class': …})"
    with pytest.raises(NotationError) as caught:
        nt.formula("[1, 2]_{a}")(3)
    assert caught.value.hint == "call formula()"


@pytest.mark.parametrize("text", ["y = softmax_{k}(x ∈ k)", "y = (t = 1, …, 3) x", "softmax_{k k} x"])
def test_a_hint_for_a_range_or_axes_is_not_given_elsewhere(text):
    hint = str(refuse(text, x=X).hint)
    assert "range without parentheses" not in hint and "commas" not in hint


def test_a_label_that_the_equation_does_not_use_is_no_index():
    assert "range" not in str(refuse("W_q = 3\nW ⊙ 2").hint)


def test_a_range_in_parentheses_without_a_space_command_is_repaired():
    text = r"z_{\name{k}(t)} = 2 t (t = 1, \ldots, 3)"
    (((start, end), edit),) = refuse(text).edits
    np.testing.assert_array_equal(nt.evaluate(text[:start] + edit + text[end:]).to_array(), [2, 4, 6])


@pytest.mark.parametrize("inside", [r"\rm arg\,max", r"arg\,max", r"\rm arg~max", r"\mathrm{arg\,max}", r"\bf argmax"])
def test_a_math_operator_is_one_name(inside):
    np.testing.assert_array_equal(nt.evaluate(rf"\mathop{{{inside}}}_{{\name{{k}}}} x", x=X).to_array(), [0, 1, 0])
    assert float(nt.evaluate(r"\mathop{\sum}_{\name{k}} x", x=X)) == 6
