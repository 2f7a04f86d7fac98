"""A line that begins with + or − at the left margin goes on with the equation above it, and a warning says so."""

import warnings

import pytest

import namedtensor as nt
from namedtensor.webpage.answers import answer

X = nt.tensor([1.0, 2.0, 4.0], "a")
CONTINUED = {  # with the texts of both repairs
    "y = 2 x\n−∑_{a} x": ["y = 2 x\n  −∑_{a} x", "y = 2 x\n(−∑_{a} x)"],
    "y = 2 x\n- x": ["y = 2 x\n  - x", "y = 2 x\n(- x)"],
    "y = 2 x\n+ x": ["y = 2 x\n  + x", "y = 2 x\nx"],
    "  y = 2 x  # twice\n\n  − x\n": ["  y = 2 x  # twice\n\n    − x\n", "  y = 2 x  # twice\n\n  (− x)\n"],
    "y = 2 x\n- x = x": ["y = 2 x\n  - x = x", "y = 2 x\n(- x) = x"],
    "f(u) = u\n- 1\nf(x)": ["f(u) = u\n  - 1\nf(x)", "f(u) = u\n(- 1)\nf(x)"],
    "h^t = h^{t-1}\n+ x for t = 1, …, 3\nh^0 = x\nh^3": [
        "h^t = h^{t-1}\n  + x for t = 1, …, 3\nh^0 = x\nh^3", "h^t = h^{t-1}\nx for t = 1, …, 3\nh^0 = x\nh^3",
    ],
    "y = softmax_{a}(\n  x\n)\n− x": ["y = softmax_{a}(\n  x\n)\n  − x", "y = softmax_{a}(\n  x\n)\n(− x)"],
}  # fmt: skip
PLAIN = ["y = 2 x\n  − x", "y = 2 x −\nx", "y = (2 x\n− x)", "y = 2 x +\n− x", "y = softmax_{a}(x\n− 1)", "x\n− x", "y = 2 x\n⊙ x", "y = − x\nz = − y",
         "y = 2 x\n# − x", r"\begin{align*} y &= 2x \\" "\n- x \\end{align*}", "y = x_{a(1\n+ 1)}"]  # fmt: skip


def of_continued(actual):
    return [warning for warning in actual.warnings if "continues the equation above it" in warning.message]


@pytest.mark.parametrize("text", CONTINUED)
def test_a_sign_at_the_left_margin_is_warned_of_with_both_repairs(text):
    (warning,) = of_continued(nt.check(text, x="ℝ^{a[3]}"))
    start, _ = warning.span
    assert warning.code == 107 and text[start] in "+-−"
    assert [text[: at[0]] + put + text[at[1] :] for at, put in warning.hint.edits] == CONTINUED[text]
    indented, apart = CONTINUED[text]
    assert not of_continued(nt.check(indented, x="ℝ^{a[3]}")) and not of_continued(nt.check(apart, x="ℝ^{a[3]}"))
    with pytest.warns(nt.NotationWarning, match="continues the equation above it"):
        value = nt.evaluate(text, {"x": X})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nt.allclose(nt.evaluate(indented, {"x": X}), value)
    with pytest.raises(nt.NotationError, match="syntax error 107"):
        nt.evaluate(text, {"x": X}, strict=True)


@pytest.mark.parametrize("text", PLAIN)
def test_what_goes_on_in_another_way_is_not(text):
    report = nt.check(text, x="ℝ^{a[3]}")
    assert not report.errors and not of_continued(report)


def test_the_playground_offers_both_repairs():
    text = "y = 2 x\n−∑_{a} x"
    (warning,) = answer({"ask": "check", "text": text, "inputs": {"x": "ℝ^{a[3]}"}})["warnings"]
    assert [
        text[: repair["span"][0]] + repair["text"] + text[repair["span"][1] :] for repair in warning["repairs"]
    ] == CONTINUED[text]
