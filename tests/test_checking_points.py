"""Evaluation at a point, f|_{u = 1}: what has no u is refused, an axis is no tensor, and a plain 0 is zeros of a tensor's type."""

import pytest

import namedtensor as nt
from namedtensor import reference

VALUES = {"x": ([1.0, 2.0], "a"), "u": (3.0, ""), "M": ([[1.0, 2.0], [3.0, 4.0]], "a b")}


def given(text, tensor):
    return {name: tensor(*VALUES[name]) if VALUES[name][1] else VALUES[name][0] for name in text}


# the formula, what is given, the text under the caret, the message, and the hint
REFUSED = [
    ("x|_{u=1}", "x", "u", "x does not contain u", None),
    (r"\left. x \right|_{u=1}", "x", "u", "x does not contain u", None),
    ("(x + 1)|_{u=1}", "xu", "u", "x + 1 does not contain u", None),
    ("(2 y)|_{u=1}\ny = x + 1", "x", "u", "2 y does not contain u", None),
    ("f(x)|_{u=1}\nf(t) = t + 1", "x", "u", "f(x) does not contain u", None),
    ("(x + u)|_{u=1, v=2}", "xu", "v", "x + u does not contain v", None),
    ("x|_{a=1}", "x", "a", "a is an axis of x, not a tensor in it", "write x_{a(1)} for an element along the axis a"),
    (r"\left. x \right|_{a=2}", "x", "a", "a is an axis of x, not a tensor in it", "write x_{a(2)} for an element along the axis a"),
    ("(x + M)|_{b=1}", "xM", "b", "b is an axis of x + M, not a tensor in it", "write [x + M]_{b(1)} for an element along the axis b"),
    (f"({' + '.join('x' * 15)})|_{{u=1}}", "x", "u", f"{' + '.join('x' * 15)} does not contain u", None),
    (f"({' + '.join('x' * 16)})|_{{u=1}}", "x", "u", "this expression does not contain u", None),
    (f"({' + '.join('x' * 16)})|_{{a=1}}", "x", "a", "a is an axis of this expression, not a tensor in it", "write X_{a(1)} for an element along the axis a"),
    ("(rate ⊙ x)|_{rat=1}\nrate = 2", "x", "rat", "rate ⊙ x does not contain rat", "did you mean rate?"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "names", "under", "message", "hint"), REFUSED)
def test_a_point_of_what_is_not_there_is_an_error(text, names, under, message, hint):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, given(names, nt.tensor))
    problem = caught.value
    assert (problem.code, problem.span_text, problem.message, problem.hint) == (201, under, message, hint)
    with pytest.raises(nt.NotationError) as caught:
        reference.evaluate(text, given(names, reference.tensor))
    assert caught.value.code == 201


# the formula, what is given, and the value
SUBSTITUTED = [
    ("x|_{x=0}", "x", [0.0, 0.0]),
    (r"\left. x \right|_{x=0}", "x", [0.0, 0.0]),
    ("(x ⊙ x + 1)|_{x=0}", "x", [1.0, 1.0]),
    ("(2 y)|_{x=0}\ny = x + 1", "x", [2.0, 2.0]),
    ("(∂(x ⊙_{a} x)/∂x)|_{x=0}", "x", [0.0, 0.0]),
    ("(∂y/∂x)|_{x=0}\ny = x ⊙_{a} x + ∑_{a} x", "x", [1.0, 1.0]),
    ("(∂y/∂x)|_{x=0}\ny = 3 ∑_{a} x", "x", [3.0, 3.0]),
    ("z|_{x=0}\nz = ∂y/∂x\ny = 3 ∑_{a} x", "x", [3.0, 3.0]),
    ("(∑_{b} M + x)|_{M=0}", "xM", [1.0, 2.0]),
    ("(x + u)|_{u=1}", "x", [2.0, 3.0]),
    ("(x + u)|_{u=0}", "xu", [1.0, 2.0]),
    ("f(v)|_{v=1} x\nf(t) = t + 1", "x", [2.0, 4.0]),
    ("(x + y)|_{x=2 x, y=0}\ny = 5", "x", [2.0, 4.0]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "names", "value"), SUBSTITUTED)
def test_a_plain_zero_is_zeros_of_the_type(text, names, value):
    for result in (
        nt.evaluate(text, given(names, nt.tensor)),
        nt.formula(text).compile()(values=given(names, nt.tensor)),
    ):
        assert result.to_array("a").tolist() == pytest.approx(value)
    assert reference.evaluate(text, given(names, reference.tensor)).to_list(("a",)) == pytest.approx(value)
    assert nt.check(text, given(names, nt.tensor)).ok


def test_another_number_is_no_tensor():
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("x|_{x=2}", given("x", nt.tensor))
    assert caught.value.code == 307
