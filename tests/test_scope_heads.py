"""An equation defines its head, whatever the head is and wherever it stands: against plain numbers and the reference."""

from __future__ import annotations

import itertools
import random
import re
import warnings

import pytest

import namedtensor as nt
from grammar.errors import NotationError
from namedtensor import reference

V = [1.0, 2.0, 4.0]  # over c


def both(text: str, **sizes: int) -> list[float]:
    """The value of a program that gives one number, by the package and by the reference evaluator."""
    result = nt.evaluate(text, {"V": nt.tensor(V, "c")}, sizes=sizes)
    of_reference = reference.evaluate(text, {"V": reference.tensor(V, "c")}, sizes=sizes)
    return [float(result), float(of_reference.entries[()])]


# ------------------------------------------------------------------------------------ a right side that is a size alone
HEADS = {  # a head, with the rest of what it is part of; @ is the right side; and what the value is for @ = 3
    "f(X) = @\nf(2) + ∑_{c} V": 3 + 7,
    "f : ℝ^{c} → ℝ\nf(X) = @\nf(V)": 3,
    "f(X; w) = @\nf(2; 1) + ∑_{c} V": 3 + 7,
    "f(X) = F\nF_1 = @\nF = X + F_1\nf(2) + ∑_{c} V": 5 + 7,
    "X ★ Y = @\n(1 ★ 2) + ∑_{c} V": 3 + 7,
    "n = @\nn + ∑_{c} V": 3 + 7,
    "n_1 = @\nn_1 + ∑_{c} V": 3 + 7,
    "W^Q = @\nW^Q + ∑_{c} V": 3 + 7,
    "W_{1}^{Q} = @\nW_{1}^{Q} + ∑_{c} V": 3 + 7,
    "f(X) = @ = 3\nf(2) + ∑_{c} V": 3 + 7,
    "Z_{b(i)} = @\n|b| = 2\n∑_{b} Z + ∑_{c} V": 2 * 3 + 7,
    "Z_{b(1)} = @\nZ_{b(2)} = 4\n|b| = 2\n∑_{b} Z + ∑_{c} V": 3 + 4 + 7,
    "Z_{b(k)} = @ for k = 1, …, 2\n|b| = 2\n∑_{b} Z + ∑_{c} V": 2 * 3 + 7,
    "h^0 = @\nh^t = h^{t-1} + 1 for t = 1, …, 2\nh^2 + ∑_{c} V": 3 + 2 + 7,
    "h^t = @ for t = 1, …, 2\nh^2 + ∑_{c} V": 3 + 7,
    "h^0 = @\nh^t = @ for t = 1, …, 2\nh^2 + h^0 + ∑_{c} V": 3 + 3 + 7,
    "f(X) = h^2\nh^0 = @\nh^t = h^{t-1} + X for t = 1, …, 2\nf(2) + ∑_{c} V": 3 + 4 + 7,
}


@pytest.mark.parametrize("right", ["|c|", "0 + |c|", "3"])
@pytest.mark.parametrize("program", HEADS)
def test_a_head_is_defined_whatever_its_right_side(program, right):
    text = program.replace("@", right)
    assert both(text) == [HEADS[program]] * 2


def test_the_size_is_that_of_the_call():
    text = """\
f : ℝ^{c} → ℝ
f(X) = h^1 + ∑_{c} X
h^0 = |c|
h^t = h^{t-1} + X_{c(1)} for t = 1, …, 1
f([1,2]_{c}) + |c| ⊙ ∑_{c} V"""
    assert both(text) == [2 + 1 + 3 + 3 * 7] * 2


@pytest.mark.parametrize("fact", ["n = |b|", "|b| = n", "n_1 = |b| = n", "|b| = n = 2"])
def test_facts_of_sizes_are_read_from_both_sides(fact):
    """They say what |b| is where n is given, too."""
    assert both(f"{fact}\n∑_{{b}} iota_{{b}} + ∑_{{c}} V", n=2) == [3 + 7] * 2


# ---------------------------------------------------------------------------------------- families that share one base
PAIRS = [  # two names of one base, which differ in their labels alone
    ("h_1^{@}", "h_2^{@}"), ("h^{1,@}", "h^{2,@}"), ("h^{@,Q}", "h^{@,K}"), ("h_Q^{@}", "h_{Q,K}^{@}"),
    ("h^{@}", "h_1^{@}"), ("h'^{@}", "h^{@}"), ("h_{@}", "h_{@,1}"), ("h_{@}", "h^{@}"),
]  # fmt: skip
SHARING = """\
f(X) = {0:3}
{0:0} = 2
{0:t} = X + {0:t-1} for t = 1, …, 3
g(X, Y) = {1:3}
{1:1} = 1
{1:t} = X ⊙ Y for t = 2, …, 3
f(1) + g(2, 3)"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pair", PAIRS)
def test_families_of_one_base_are_told_apart_in_every_order(pair):
    *statements, value = filled(SHARING, pair).splitlines()
    orders = list(itertools.permutations(statements))
    for order in random.Random(7).sample(orders, 24):
        assert both("\n".join([*order, value])) == [5 + 6] * 2, order


def filled(text: str, names: tuple[str, ...]) -> str:
    """{0:t} as the member t of the first of the families."""
    return re.sub(r"\{(\d):([^{}]*)\}", lambda match: names[int(match[1])].replace("@", match[2]), text)


# ------------------------------------------------------------------------------ where a function speaks of its subscript
SPOKEN = {  # a function over c, or of k = 3, as facts in any order; and its value of V, summed
    "g_{ax}(X) = X ⊙ iota_{ax}\n∑_{c} g_{c}(V)": 1 + 4 + 12,
    "g_{ax}(X) = X ⊙ ι_{ax}\n∑_{c} g_{c}(V)": 1 + 4 + 12,
    "g_{ax}(X) = S + X\nS = X/|ax|\n∑_{c} g_{c}(V)": 7 / 3 + 7,
    "g_{ax}(X) = S ⊙ X\nS = ∑_{ax} X\n∑_{c} g_{c}(V)": 49,
    "g_{ax}(X) = S ⊙ X\nS = T + 1\nT = ∑_{ax} X\n∑_{c} g_{c}(V)": 8 * 7,
    "g_{ax}(X) = S ⊙ X\nS = X_{ax(1)}\n∑_{c} g_{c}(V)": 7,
    "g_{ax}(X) = h^2\nh^0 = ∑_{ax} X\nh^t = h^{t-1} + X for t = 1, …, 2\n∑_{c} g_{c}(V)": 3 * 7 + 14,
    "g_{ax}(X) = S ⊙ X\nS = X ⊙_{ax} iota_{ax}\n∑_{c} g_{c}(V)": 17 * 7,
    "g_{ax}(X) = 0 ⊙ X + 2^{∑_{ax} X}\n∑_{c} g_{c}(V)": 3 * 2**7,
    "g_{ax}(X) = 0 ⊙ X + S\nS = 2^{∑_{ax} X}\n∑_{c} g_{c}(V)": 3 * 2**7,
    "g_{ax}(X) = X^{X ⊙_{ax} [1, 0, 0]_{ax}}\n∑_{c} g_{c}(V)": 7,
    "g_k(X) = X^{k-1}\n∑_{c} g_3(V)": 21,
    "g_k(X) = S ⊙ X\nS = k + 1\n∑_{c} g_3(V)": 4 * 7,
    "g_k(X) = X_{c(k)} + S\nS = k\ng_3(V)": 4 + 3,
    "g^l(X) = S ⊙ X\nS = l + 1\n∑_{c} g^3(V)": 4 * 7,
    "g^l(X) = S ⊙ X\nS = W^l\nW^3 = 5\n∑_{c} g^3(V)": 5 * 7,
}


@pytest.mark.parametrize("program", SPOKEN)
def test_a_subscript_is_read_by_what_the_function_says_wherever_it_stands(program):
    *statements, value = program.splitlines()
    for order in itertools.permutations(statements):
        assert both("\n".join([*order, value])) == pytest.approx([SPOKEN[program]] * 2), order


@pytest.mark.parametrize("tensor", ["I_ax", "iota_ax"])
def test_a_tensor_of_that_name_has_a_label(tensor):
    text = f"g_{{ax}}(X) = X ⊙ {tensor}\n{tensor} = 5\n∑_{{c}} g_{{ax}}(V)"
    assert both(text) == [35, 35]
    with pytest.raises(nt.NotationError, match="matches this use"):
        both(text.replace("g_{ax}(V)", "g_{c}(V)"))


# ------------------------------------------------------------------------------------------------ the marks of an axis
MARKED = [  # bodies of g_{ax}(X) that speak of ax with a mark, each a number
    "∑_{ax} [∂(∑_{ax} X^2)/∂X*]_{ax*→ax}", "∑_{ax*} (X)^*", "∑_{ax†} (X)^† ⊙ (X)^†", "∑_{ax} (X)^*_{ax*→ax}",
    "∑_{ax,ax*} X ⊙ (X)^*", "∑_{ax**} ((X)^*)^*", "∑_{ax*} ∂(∑_{ax} X^3)/∂X*", "∑_{ax} X ⊙ X_{ax→ax*} ⊙_{ax*} (X)^*",
    "∑_{ax*,ax†} ∂(∂(∑_{ax} X^3)/∂X*)/∂X†", "(X)^*_{ax*(2)}", "∑_{ax*} [1, 2, 3]_{ax*} ⊙ (X)^*", "∑_{ax,ax*} I_{ax,ax*} ⊙ X",
    "∑_{ax*} iota_{ax*} ⊙ (X)^*", "max_{ax*} ((X)^*) ⊙ |ax*|",
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("body", MARKED)
def test_a_mark_on_an_axis_of_the_head_is_one_on_the_axis_of_the_use(body, signed):
    plainly = re.sub(r"\bax", "c", body).replace("X", "V")
    expected = both(plainly)
    assert expected[0] == pytest.approx(expected[1])
    signature = "g_{ax} : ℝ^{ax} → ℝ\n" if signed else ""
    assert both(f"{signature}g_{{ax}}(X) = {body}\ng_{{c}}(V)") == pytest.approx(expected)


def test_marks_within_marks_and_within_calls():
    text = "g_{ax}(X) = ∑_{ax*} (X)^* ⊙ h_{ax*}((X)^*)\nh_{ax}(X) = [∂(∑_{ax} X^2)/∂X*]_{ax*→ax}\ng_{c}(V)"
    assert both(text) == pytest.approx([2 * 21] * 2)


def test_marks_of_several_axes():
    text = "g_{ax}(X) = ∑_{ax*} ∂(∑_{ax} X^2)/∂X*\ng_{b,c}(V ⊙ [1, 2]_{b})"
    assert both(text) == pytest.approx([2 * 7 * 3] * 2)


# ------------------------------------------------------------------------------------- the axes that a body has inside
INSIDE = {  # bodies of g_{ax} : ℝ^{ax} → … that have an axis c of their own, and the result's axes
    "∑_{ax} ∑_{c} (X ⊙ [1, 2]_{c})": "", "∑_{c} [1, 2]_{c} ⊙ X": "ax",
    "X ⊙ [∑_{ax} X, 2]_{c} ⊙_{c} [1, 3]_{c}": "ax", "X_{ax→c} ⊙_{c} [1, 2, 3]_{c}": "",
    "∑_{c} (X_{ax→c} ⊙ [1, 2, 3]_{c} + X_{ax(1)})": "", "[X ⊙ [1, 2]_{c}]_{c(2)}": "ax", "X ⊙ S": "ax",
    "∑_{ax} h^2": "", "∑_{ax,c} X ⊙ U": "", "[∂(∑_{ax,c} X^2 ⊙ [1, 2]_{c})/∂X*]_{ax*→ax}": "ax",
    "max_{c} (X ⊙ [1, 2, 0]_{c}) + X": "ax", "∑_{c} k_{c}([1, 2]_{c}) ⊙ X": "ax",
}  # fmt: skip
FACTS = {
    "S": "S = ∑_{c} X ⊙ [1, 2]_{c}\n",
    "h^2": "h^0 = 0 ⊙ X\nh^t = h^{t-1} + X ⊙ [1, 2]_{c} ⊙_{c} [2, 1]_{c} for t = 1, …, 2\n",
    "U": "U = [1, 5]_{c}\n",
    "k_{c}": "k_{ax} : ℝ^{ax} → ℝ^{ax}\nk_{ax}(X) = X ⊙ ∑_{c} [2, 2, 2]_{c}\n",
}


@pytest.mark.parametrize("body", INSIDE)
def test_an_axis_of_the_body_is_not_that_of_the_use(body):
    """By another name of the axis of the use the value is the same."""
    gives = f"ℝ^{{{INSIDE[body]}}}" if INSIDE[body] else "ℝ"
    facts = "".join(FACTS[fact] for fact in FACTS if fact in body)
    text = f"g_{{ax}} : ℝ^{{ax}} → {gives}\ng_{{ax}}(X) = {body}\n{facts}"
    weigh = "∑_{@} [1, 10, 100]_{@} ⊙ " if INSIDE[body] else ""
    expected = both(f"{text}{weigh.replace('@', 'w')}g_{{w}}(V_{{c→w}})")
    assert expected[0] == pytest.approx(expected[1])
    assert both(f"{text}{weigh.replace('@', 'c')}g_{{c}}(V)") == pytest.approx(expected)


def test_an_axis_of_the_body_is_not_that_of_the_use_beside_other_arguments():
    text = "g_{ax} : ℝ^{ax} × ℝ → ℝ\ng_{ax}(X, y) = ∑_{ax} ∑_{c} X ⊙ y ⊙ [1, 2]_{c}\ng_{c}(V, 4)"
    assert both(text) == [7 * 4 * (1 + 2)] * 2


def test_a_tensor_of_the_program_meets_the_axis_of_the_use():
    """What the body takes from outside has its axes outside."""
    text = "g_{ax} : ℝ^{ax} → ℝ\ng_{ax}(X) = ∑_{ax} X ⊙ V\ng_{c}(V)"
    assert both(text) == [21, 21]


def test_without_a_signature_axes_meet_by_name():
    assert both("g_{ax}(X) = ∑_{ax} X ⊙ [1, 2, 3]_{c}\ng_{c}(V)") == [1 + 4 + 12] * 2


@pytest.mark.parametrize("result", ["I_{k,k'}", "ones_{k,k'} ⊙ I_{k,k'}"])
def test_what_axes_make_at_the_end_of_an_equation_is_no_name(result):
    """Q ⊙_{r} Q_{k→k'} = I_{k,k'} says that Q is orthogonal, and defines no I."""
    Q = nt.tensor([[0.6, 0.8], [-0.8, 0.6]], "r k")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nt.evaluate(f"Q ⊙_{{r}} Q_{{k→k'}} = {result}\n∑_{{r,k}} Q", Q=Q).item() == pytest.approx(1.2)
        with pytest.raises(NotationError, match="assertion failed"):
            nt.evaluate(f"Q ⊙_{{r}} Q_{{k→k'}} = {result}\n∑_{{r,k}} Q", Q=2 * Q)
