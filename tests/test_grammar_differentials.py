"""∂ before a function and its operand: what it is of, in text and in LaTeX."""

import pytest

from grammar.errors import NotationError
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


OPERATORS = (
    # a derivative as an operator before what it is of, and the same as a quotient
    ("∂/∂x* (∑_{a} x^2)", "∂(∑_{a} x^2)/∂x*"),
    ("∂/∂x* ∑_{a} x^2", "∂(∑_{a} x^2)/∂x*"),
    ("∂/∂x^* ∑_{a} x^2 ⊙ y", "∂(∑_{a} x^2 ⊙ y)/∂x*"),
    ("∂/∂x*(x ⊙ w)", "∂(x ⊙ w)/∂x*"),
    ("∂/∂x* [x ⊙ w]", "∂(x ⊙ w)/∂x*"),
    ("∂/∂x** tanh x", "∂tanh(x)/∂x**"),
    ("∂/∂W^{1,Q}* (x ⊙_{a} W^{1,Q})", "∂(x ⊙_{a} W^{1,Q})/∂W^{1,Q}*"),
    ("∂/∂b_1 (b_1 x)", "∂(b_1 x)/∂b_1"),
    ("∂/∂r r^3", "∂(r^3)/∂r"),
    ("2 ∂/∂x* ∑_{a} x^2 + y", "2 (∂(∑_{a} x^2)/∂x*) + y"),
    ("trace_{a,a*} ∂/∂x* (x^2)", "trace_{a,a*}(∂(x^2)/∂x*)"),
    ("y = ∂/∂x* x ⊙ w", "y = (∂x/∂x*) ⊙ w"),
    ("∂/∂x* ∂/∂w† ∑_{a} x ⊙ w", "∂(∂(∑_{a} x ⊙ w)/∂w†)/∂x*"),
    ("∂²/∂x*∂w† ∑_{a} x ⊙ w", "∂(∂(∑_{a} x ⊙ w)/∂w†)/∂x*"),
    ("∂²(∑_{a} x ⊙ w)/∂x*∂w†", "∂(∂(∑_{a} x ⊙ w)/∂w†)/∂x*"),
    ("∂^2 L/∂x* ∂w†", "∂(∂L/∂w†)/∂x*"),
    ("∂²L/∂r² + ∂²L/∂r∂s", "∂(∂L/∂r)/∂r + ∂(∂L/∂s)/∂r"),
    ("∂^{2}/∂r^{2} (r s)", "∂(∂(r s)/∂r)/∂r"),
    (r"\frac{\partial^2}{\partial x^* \partial w^\dagger} \nsum{a} x \odot w", "∂(∂(∑_{a} x ⊙ w)/∂w†)/∂x*"),
    (r"2 \frac{\partial^2}{\partial r^2} (r s)", "2 (∂(∂(r s)/∂r)/∂r)"),
    (r"\frac{\partial^{2} L}{\partial r^{2}}", "∂(∂L/∂r)/∂r"),
    (r"\frac{\partial^2 L}{\partial r \partial s}", "∂(∂L/∂s)/∂r"),
    # of any order
    ("∂³L/∂r³", "∂(∂(∂L/∂r)/∂r)/∂r"),
    ("∂^3(r^4)/∂r^3 + 1", "∂(∂(∂(r^4)/∂r)/∂r)/∂r + 1"),
    ("∂³L/∂r²∂s", "∂(∂(∂L/∂s)/∂r)/∂r"),
    ("∂³L/∂x*∂w†∂x**", "∂(∂(∂L/∂x**)/∂w†)/∂x*"),
    (r"\frac{\partial^3 L}{\partial r^3}", "∂(∂(∂L/∂r)/∂r)/∂r"),
    (r"\frac{\partial^{4} L}{\partial r^{2} \partial s^2}", "∂(∂(∂(∂L/∂s)/∂s)/∂r)/∂r"),
    (r"\frac{\partial^3 L}{\partial r^1 \partial r^2 \partial s}", "∂(∂(∂L/∂s)/∂r^2)/∂r^1"),
    (r"\frac{\partial^3}{\partial r^3} (r s)", "∂(∂(∂(r s)/∂r)/∂r)/∂r"),
    # in brackets of its own
    ("(∂/∂x*) (∑_{a} x^2)", "∂(∑_{a} x^2)/∂x*"),
    ("(∂/∂x*) softmax_{a} x", "∂softmax_{a}(x)/∂x*"),
    ("2 (∂/∂r)^2 (r s)", "2 (∂(∂(r s)/∂r)/∂r)"),
    (r"\left(\frac{\partial}{\partial r}\right)^{3} L", "∂(∂(∂L/∂r)/∂r)/∂r"),
)


@pytest.mark.parametrize(("text", "meant"), OPERATORS)
def test_a_derivative_stands_before_its_operand(text, meant):
    tree = parse(text)
    assert tree == parse(meant, "text")
    for spelled in (to_text(tree), to_text(tree, ascii=True), to_latex(tree)):
        assert parse(spelled) == tree


@pytest.mark.parametrize(
    "text",
    [
        "∂/∂",
        "∂/x",
        "∂/∂x*",
        "∂²",
        "∂²L/∂x*",
        "∂³L/∂r²",
        "∂^{12}L/∂r^{12}",
        "(∂/∂x*)",
        r"\frac{\partial^2 L}{\partial r}",
        r"\frac{\partial^3 L}{\partial r^2}",
        r"\frac{\partial^n L}{\partial r^n}",
    ],
)
def test_what_is_no_operator_is_an_error_of_the_language(text):
    with pytest.raises(NotationError):
        parse(text)
