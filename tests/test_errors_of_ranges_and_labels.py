"""Errors for ranges in parentheses, families without ranges, and labels of functions that look like axes."""

import re

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
        r"z_{\name{k}(t)} = 2 t \quad (t \in [3])",
        "z_{k(t)} = 2 t (t = 1, …, 3)",
        "z_{k(t)} = 2 t for (t = 1, …, 3)",
        "z_{k(t)} = 2 t, t = 1, …, 3",
        "z_{k(t)} = 2 t, t ∈ [3]",
        "z_{k(t)} = 2 t, 1 ≤ t ≤ 3",
    ],
)
def test_a_range_in_parentheses_or_after_a_comma_is_refused_with_a_repair(text):
    problem = refuse(text)
    assert re.match("write (the range without parentheses|for before a range)", str(problem.hint))
    (((start, end), edit),) = problem.edits
    np.testing.assert_array_equal(nt.evaluate(text[:start] + edit + text[end:]).to_array(), [2, 4, 6])


@pytest.mark.parametrize("cell", [r"(t = 1, \ldots, 3)", r"(1 \le t \le 3)", r"(0 < t \le 3)", r"(t = 1, 2, 3)"])
def test_latex_reads_a_range_in_parentheses(cell):
    assert float(nt.evaluate(rf"z_t = 2 t \quad {cell} \\ w = z_1 + z_2 + z_3")) == 12


@pytest.mark.parametrize("index", ["2^t", "⌊t/2⌋", "t mod 2"])
def test_an_index_that_only_an_axis_can_have(index):
    problem = refuse(f"y_t = x_{{{index}}} for t = 1, …, 3\ny_2")
    assert problem.hint == "other indices need an axis: x_{axis(2^t)}, x_{axis(floor(t/2))}"
    if index != "t mod 2":
        x = nt.tensor([3.0, 4.0, 5.0, 6.0], "k")
        assert float(nt.evaluate(f"y_t = x_{{k({index})}} for t = 2, …, 2\ny_2", x=x)) == {"2^t": 6, "⌊t/2⌋": 3}[index]


def test_a_number_after_an_index_is_repaired():
    text = "x_1 = 5\nx_2 = 7\ny_t = x_{t 2} for t = 1, …, 1\ny_1"
    problem = refuse(text)
    (((start, end), edit),) = problem.edits
    assert float(nt.evaluate(text[:start] + edit + text[end:])) == 7


def test_a_quotient_of_indices_is_a_member_if_it_is_whole():
    text = "x_1 = 5\nx_2 = 7\ny_t = x_{t/2} for t = {}, …, 4\ny_4"
    assert float(nt.evaluate(text.replace("{}", "4"))) == 7
    assert "undefined name x_{3/2}" in str(refuse(text.replace("{}", "3")))


@pytest.mark.parametrize("head", ["x_{2 t}", "x_{2 t + 1}", "x_{t/2}", "x_{t^2}"])
def test_an_index_that_is_not_alone_on_the_left_is_explained(head):
    problem = refuse(f"{head} = t for t = 1, …, 4\nx_4")
    assert problem.hint == f"an equation for {head} defines no members: write the index t alone"


@pytest.mark.parametrize(
    "text, hint",
    [
        ("h^0 = 0\nh^t = h^{t-1} + 1\nh^3", "h^t needs a range: h^t = … for t = 1, …, n"),
        ("h_0 = 0\nh_t = h_{t-1} + 1\nh_3", "h_t needs a range: h_t = … for t = 1, …, 3"),
        ("z_t = 2 t\ns_t = s_{t-1} + z_t for t = 2, …, 4\ns_1 = 0\ns_4", "z_t needs a range: z_t = … for t = 2, …, 4"),
    ],
)
def test_a_family_without_a_range_is_named(text, hint):
    assert refuse(text).hint == hint


@pytest.mark.parametrize("body", ["X_{a(1)}", "X_{a→b}", "|a|"])
def test_an_axis_of_the_equation_is_no_index_of_a_family(body):
    assert refuse(f"x_a = {body}\nx_1", X=nt.tensor([1.0, 2.0], "a")).hint == "did you mean x_a?"


def test_a_label_that_looks_like_an_axis_is_explained():
    assert "ax is a label of F: call F_{ax}(…)" in str(refuse("F_{ax}(a) = a + 1\nF_{k}(x)", x=X).hint)
    np.testing.assert_array_equal(nt.evaluate("F_{ax}(a) = a + 1\nF_{ax}(x)", x=X).to_array(), [2, 4, 3])


def test_the_hint_for_too_many_arguments_names_the_inputs():
    with pytest.raises(NotationError) as caught:
        nt.compile("x + w")(X)
    assert caught.value.hint == "pass inputs by name: formula(w=w, x=x)"
    with pytest.raises(NotationError) as caught:
        nt.compile("x + class")(X, X)
    assert caught.value.hint == "pass inputs by name: formula(values={'class': …, 'x': …})"
    with pytest.raises(NotationError) as caught:
        nt.compile("f(x) = x + class")(X, X)
    assert caught.value.hint == "it is defined as f(x)"
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
