"""∂ before a function and its operand: what it is of, in text and in LaTeX."""

import pytest

from grammar.parser import parse
from grammar.printer import to_latex, to_text

MEANT = (
    ("∂softmax_{a} x / ∂x*", "∂(softmax_{a}(x))/∂x*"),
    ("2 ∂softmax_{a} x ⊙ y", "(2 ∂(softmax_{a}(x))) ⊙ y"),
    ("∂exp x^2 + y", "∂(exp(x^2)) + y"),
    ("A ⊙_{k} ∂exp (x + y) z", "A ⊙_{k} ∂(exp(x + y)) z"),
    (r"\partial \nfun{a}{softmax} x = x", "∂(softmax_{a}(x)) = x"),
    (r"\frac{\partial \nfun{a}{softmax} x}{\partial x^*}", "∂(softmax_{a}(x))/∂x*"),
)


@pytest.mark.parametrize(("text", "meant"), MEANT)
def test_a_differential_of_a_function(text, meant):
    tree = parse(text)
    assert to_text(tree) == to_text(parse(meant, "text"))
    assert parse(to_text(tree)) == tree and parse(to_latex(tree)) == tree
