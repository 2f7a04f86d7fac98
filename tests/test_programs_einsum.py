"""Formulas as calls of einsum: the calls give what the formulas do, and what is none is refused with the part that is none."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import namedtensor as nt

SIZES = {"a": 2, "b": 3, "c": 4, "query": 3, "key": 3, "seq": 4, "batch": 5}
TYPES = {
    "X": "a b", "Y": "a", "Z": "b c", "S": "a", "k": "", "Q": "batch query key", "K": "batch seq key", "W^Q": "a c", "W_Q": "b",
    "R": "query key seq", "D": "a c",
}  # fmt: skip


def tensors(text):
    draws = np.random.default_rng(3)
    return {
        name: nt.tensor(draws.normal(size=[SIZES[axis] for axis in axes.split()]), axes)
        for name, axes in TYPES.items()
        if mentions(text, name)
    }


def mentions(text, name):
    return re.search(rf"(?<![\w{{→^,]){re.escape(name)}(?![A-Za-z0-9'])", text) is not None


def axes_of(text, values):
    """The axes of the result in the order of its type."""
    checked: Any = nt.formula(text).check(**values)
    return list(checked.shape)


def run(call, values):
    """The value of a call, of arrays in the order of their own axes; letters that stand for different sizes are refused."""
    names: dict[str, Any] = {"einsum": np.einsum}
    identifiers = {"W^Q": "W_Q", "W_Q": "W_Q_2"}
    for name, value in values.items():
        names[identifiers.get(name, name)] = value.array
    return eval(call, names)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("Q ⊙_{key} K", 'einsum("bqk,bsk->bqs", Q, K)'),
        ("X", 'einsum("ab->ab", X)'),
        ("X ⊙_{a} Y", 'einsum("ab,a->b", X, Y)'),
        ("Y ⊙ Z", 'einsum("a,bc->abc", Y, Z)'),
        ("X ⊙_{b} Z ⊙_{a} Y", 'einsum("ab,bc,a->c", X, Z, Y)'),
        ("X ⊙_{a} X_{b→c}", 'einsum("ab,ac->bc", X, X)'),
        ("X ⊙_{a,b} X", 'einsum("ab,ab->", X, X)'),
        ("∑_{a,b} X^2", 'einsum("ab,ab->", X, X)'),
        ("∑_i ∑_j X_{a(i),b(j)} Y_{a(i)}", 'einsum("ab,a->", X, Y)'),
        ("trace_{query,key} R", 'einsum("qqs->s", R)'),
        ("−X", '-einsum("ab->ab", X)'),
        ("2 X Y / 5", '0.4 * einsum("ab,a->ab", X, Y)'),
        ("0.12345678901 Y", '0.12345678901 * einsum("a->a", Y)'),
        ("√2 X k", '1.4142135623730951 * einsum("ab,->ab", X, k)'),
        ("|b| X", '3 * einsum("ab->ab", X)'),
        ("Y^3", 'einsum("a,a,a->a", Y, Y, Y)'),
        ("U = X ⊙_{a} Y\nU ⊙_{b} U", 'einsum("ab,a,cb,c->", X, Y, X, Y)'),
        ("f(x) = x ⊙_{a} S\nf(X) f(Y)", 'einsum("ab,a,c,c->b", X, S, Y, S)'),
        ("∂(X ⊙_{a} Y)/∂Y*", 'einsum("ab->ba", X)'),
        ("X ⊙_{a} W^Q W_Q", 'einsum("ab,ac,b->bc", X, W_Q, W_Q_2)'),
    ],
)  # fmt: skip
def test_a_sum_of_products_is_the_call_that_gives_its_value(text, call):
    values = tensors(text)
    formula = nt.formula(text)
    einsum = formula.to_einsum(values)
    assert einsum == call
    axes = axes_of(text, values)
    assert np.allclose(run(einsum, values), formula(values=values).to_array(axes))
    types = {name: f"ℝ^{{{' × '.join(value.axes)}}}" for name, value in values.items()}
    if "|" not in text:  # no size is needed, but where the formula speaks of one
        assert nt.to_einsum(text, types) == call


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("softmax_{a} X ⊙_{a} Y", "softmax_{a} X"), ("X + X", "X + X"), ("exp(X) Y", "exp(X)"), ("mean_{a} X", "mean_{a} X"),
        ("X^{1/2}", "X^{1/2}"), ("X^0", "X^0"), ("X^{-1}", "X^{-1}"), ("2/X", "2/X"), ("X/Y", "X/Y"), ("X/0", "X/0"),
        ("X_{a(1)}", "X_{a(1)}"), ("Y X_{b(Y)}", "X_{b(Y)}"), ("∏_{a} X", "∏_{a} X"), ("X ⊙_{a} ones_{a}", "ones_{a}"), ("max_{a} X", "max_{a} X"),
        ("Y 𝕀[Y > 0]", "Y > 0"),
    ],
)  # fmt: skip
def test_what_is_none_is_refused_with_the_part_that_is_none(text, message):
    with pytest.raises(nt.NotationError) as raised:
        nt.to_einsum(text, tensors(text))
    problem: Any = raised.value
    assert (problem.code, problem.message) == (405, f"{message} is not a sum of products")
    assert "einsum multiplies and sums" in problem.hint and problem.span_text.replace(" ", "") in text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("softmax_{a}(X ⊙_{b} Z) ⊙_{a} Y", 'einsum("ab,bc->ac", X, Z)'),
        ("X ⊙_{a} Y + 1", 'einsum("ab,a->b", X, Y)'),
        ("exp(X ⊙ Y) + X ⊙_{b} Z ⊙_{a} Y", 'einsum("ab,bc,a->c", X, Z, Y)'),
    ],
)
def test_largest_part_that_is_one_einsum_is_in_the_hint(text, call):
    with pytest.raises(nt.NotationError) as raised:
        nt.to_einsum(text, tensors(text))
    assert raised.value.hint.endswith(f"; the largest part that is one: {call}")


@pytest.mark.parametrize(
    ("text", "number", "message"),
    [
        ("2 · 3", 405, "uses none of the inputs"),
        ("X^{61}", 404, "more than 60 operands"),
        ("X^{1000000000}", 404, "more than 60 operands"),
        ("\n".join(["A_0 = X", *(f"A_{{{n + 1}}} = A_{n} A_{n}" for n in range(40)), "A_{40}"]), 404, "60 operands"),
        ("X ⊙_{c} Y", 301, "needs axis c"),
        ("X ⊙_{a}", 105, "needs an operand"),
        ("X ⊙_{a} U", 201, "undefined name U"),
    ],
)
def test_what_cannot_be_asked_is_an_error_of_the_notation(text, number, message):
    with pytest.raises(nt.NotationError) as raised:
        nt.to_einsum(text, X=nt.tensor(np.ones((2, 3)), "a b"), Y="ℝ^{a}") if "Y" in text else nt.to_einsum(
            text, {"X": "ℝ^{a × b}"}
        )
    assert raised.value.code == number and message in raised.value.message


def test_more_axes_than_letters_are_refused():
    axes = [f"x{n}" for n in range(53)]
    with pytest.raises(nt.NotationError, match="52 letters"):
        nt.to_einsum("X", X=f"ℝ^{{{' × '.join(axes)}}}")
    spec = nt.to_einsum("X", X=f"ℝ^{{{' × '.join(axes[1:])}}}").split('"')[1].split("->")
    assert spec[0] == spec[1] and len(set(spec[0])) == 52


def test_what_is_declared_need_not_be_given_and_a_signature_types_its_arguments():
    program = nt.program("f : ℝ^{a} → ℝ^{b}\nf(x) = x ⊙_{a} W\nW ∈ ℝ^{a × b}")
    assert program.to_einsum() == program["f"].to_einsum() == 'einsum("a,ab->b", x, W)'
    assert program["f"].to_einsum(x="ℝ^{seq × a}") == 'einsum("sa,ab->sb", x, W)'
    assert nt.to_einsum("Q ∈ ℝ^{u × v}\nK ∈ ℝ^{v × w}\nQ ⊙_{v} K") == 'einsum("uv,vw->uw", Q, K)'
    assert nt.to_einsum(r"Q \ndot{\key} K", Q="ℝ^{key}", K="ℝ^{seq × key}") == 'einsum("k,sk->s", Q, K)'


@st.composite
def products(draw):
    """A drawn sum of products of X, Y, Z, S and k, some of them renamed."""
    parts = draw(
        st.lists(st.sampled_from(["X", "Y", "Z", "S", "k", "X_{b→c}", "Z_{c→a}", "D"]), min_size=1, max_size=4)
    )
    text = " ".join(f"{part}" for part in parts)
    number = draw(st.sampled_from(["", "2 ", "−", "0.5 "]))
    axes = sorted({axis for part in parts for axis in _axes(part)})
    summed = draw(st.lists(st.sampled_from(axes), unique=True)) if axes else []
    return f"{number}∑_{{{','.join(summed)}}} ({text})" if summed else number + text


def _axes(part):
    name, _, scripts = part.partition("_")
    old, new = scripts.strip("{}").split("→") if scripts else ("", "")
    return [new if axis == old else axis for axis in TYPES[name].split()]


@pytest.mark.slow
@given(products())
@settings(max_examples=60, deadline=None)
def test_a_drawn_sum_of_products_is_its_einsum(text):
    sizes = {"a": 3, "b": 3, "c": 3}
    draws = np.random.default_rng(5)
    values = {
        name: nt.tensor(draws.normal(size=[sizes[axis] for axis in TYPES[name].split()]), TYPES[name])
        for name in TYPES
        if mentions(text, name)
    }
    result = run(nt.to_einsum(text, values), values)
    assert np.allclose(result, nt.evaluate(text, values).to_array(axes_of(text, values)))
