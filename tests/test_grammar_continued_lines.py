"""A line that begins with + or − at the left margin, below a complete equation, raises an error with both repairs."""

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


@pytest.mark.parametrize("text", CONTINUED)
def test_a_sign_at_the_left_margin_is_an_error_with_both_repairs(text):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, {"x": X})
    error = caught.value
    start, _ = error.span
    assert error.code == 107 and text[start] in "+-−" and "below a complete equation" in error.message
    assert [text[: at[0]] + put + text[at[1] :] for at, put in error.hint.edits] == CONTINUED[text]
    indented, apart = CONTINUED[text]
    assert not nt.check(indented, x="ℝ^{a[3]}").errors
    assert all(error.code != 107 for error in nt.check(apart, x="ℝ^{a[3]}").errors)


@pytest.mark.parametrize("text", PLAIN)
def test_a_line_continues_in_another_way(text):
    assert not nt.check(text, x="ℝ^{a[3]}").errors


def test_the_playground_offers_both_repairs():
    text = "y = 2 x\n−∑_{a} x"
    problem = answer({"ask": "check", "text": text, "inputs": {"x": "ℝ^{a[3]}"}})["errors"][0]
    assert [
        text[: repair["span"][0]] + repair["text"] + text[repair["span"][1] :] for repair in problem["repairs"]
    ] == CONTINUED[text]
