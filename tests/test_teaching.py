"""`nt.equivalent`, exercises and their grading: verdicts, sentences, released files, what graders read."""

import dataclasses
import json
import re
import signal
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timing import at_most

import namedtensor as nt
from namedtensor.cli import main
from namedtensor.core.processes import EndedError, LateError
from namedtensor.programs.random_inputs import STYLES
from namedtensor.teaching import class_grades, grading, references, sheet_files
from namedtensor.teaching.class_grades import ClassGrader
from namedtensor.teaching.course import course_file
from namedtensor.teaching.exercise_files import ExerciseError
from namedtensor.teaching.mutants import mutants
from namedtensor.teaching.settings import Setting
from namedtensor.teaching.submissions import Student, Submission

PUZZLES = course_file("puzzles")
ATTENTION = {"Q": "ℝ^{seq' × key}", "K": "ℝ^{seq × key}", "V": "ℝ^{seq × val}"}
MODEL = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
SEEDS = range(20)

SAME = [  # two formulas with the same values, and the types of what they speak of
    ("mean_{n}(X^2) − (mean_{n} X)^2", "var_{n} X", {"X": "ℝ^{n × feature}"}),
    ("X_{a→b} ⊙ X", "X_{a→c} ⊙ X", {"X": "ℝ^{a}"}),
    (r"\nfun{\seq}{softmax} X", "exp X / ∑_{seq} exp X", {"X": "ℝ^{seq × m}"}),
    ("S = Q ⊙_{key} K\nA = softmax_{seq}(S / |key|^{1/2})\nA ⊙_{seq} V", MODEL, ATTENTION),
    ("f(X) = X / ∑_{n} X", "g(Y) = Y / ∑_{n} Y", {"X": "ℝ^{n}"}),
    ("X − X", "0 X", {"X": "ℝ^{n}"}),
    ("M ⊙ M", "M", {"M": "{0,1}^{n}"}),
    ("√(p p)", "p", {"p": "[0, 1]^{n}"}),
    ("E_{v(I)}", "onehot_{v} I ⊙_{v} E", {"E": "ℝ^{v × d}", "I": "[|v|]^{n}"}),
    ("logsumexp_{n} X", "log(∑_{n} exp X)", {"X": "ℝ^{n × m}"}),
    ("argmax_{n} X", "argmin_{n} (−X)", {"X": "ℝ^{n × m}"}),
    ("∂(softmax_{n} X)/∂X*", "softmax_{n} X ⊙ (I_{n,n*} − (softmax_{n} X)_{n→n*})", {"X": "ℝ^{n}"}),
    ("W ⊙ X", "X ⊙ W", {"X": "ℝ^{layer}", "W": "ℝ^{heads × key}", "given": "|key| = |layer|/|heads|"}),
]

DIFFERENT = [  # an answer, the model, types, what is said of it
    ("∑_{n} X / |n|", "∑_{n} X", {"X": "ℝ^{n}"}, "mean"),
    (
        "softmax_{seq'}(Q ⊙_{key} K / √|key|) ⊙_{seq} V",
        MODEL,
        ATTENTION,
        "with softmax_{seq'} instead of softmax_{seq}",
    ),
    ("softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V", MODEL, ATTENTION, "without / √|key|"),
    ("softmax_{seq}(Q ⊙_{key} K / |key|) ⊙_{seq} V", MODEL, ATTENTION, "without √"),
    ("softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙ V", MODEL, ATTENTION, "still has the axis seq"),
    ("X + 1", "X", {"X": "ℝ^{n}"}, "1 more"),
    ("X |n| / |m|", "X", {"X": "ℝ^{n × m}"}, "= |n|/|m| times"),
    ("−X", "X", {"X": "ℝ^{n}"}, "−1 times"),
    ("X_{n(|n| + 1 − iota_{n})}", "X", {"X": "ℝ^{n}"}, "in another order along n"),
    ("X + 0.00001 X^2", "X", {"X": "ℝ^{n}"}, "is close"),
    ("∑_{n} X", "X_{n→n'}", {"X": "ℝ^{n}"}, "lacks the axis n'"),
    ("[1, 2]_{k} ⊙ x", "[1, 2, 3]_{k} ⊙ x", {"x": "ℝ"}, "axis k has size 2 in the value of the first"),
    ("X / √(var_{n} X)", "X / √(var_{n} X + 0.00001)", {"X": "ℝ^{n}"}, "without + "),
    ("0 X", "X", {"X": "ℝ^{n}"}, "is 0"),
    ("(∑_{n} X)^2", "∑_{n} X^2", {"X": "ℝ^{n}"}, "(∑_{n} X)^2 instead of ∑_{n} X^2"),
    ("∑_{n} X^2", "(∑_{n} X)^2", {"X": "ℝ^{n}"}, "∑_{n} X^2 instead of (∑_{n} X)^2"),
    ("X ⊙_{n} X", "norm_{n} X", {"X": "ℝ^{n × m}"}, "the first is the square of the second"),
    ("norm_{n} X", "X ⊙_{n} X", {"X": "ℝ^{n × m}"}, "the first is the root of the second"),
    ("∏_{n} exp X", "∑_{n} X", {"X": "ℝ^{n × m}"}, "the first is the exponential of the second"),
    ("√(X^2)", "X", {"X": "ℝ^{n}"}, "the first is the absolute value of the second"),
    ("softmax_{n} (2 X)", "softmax_{n} X", {"X": "ℝ^{n}"}, "the first without 2"),
    ("inv_{r,c} X", "X", {"X": "ℝ^{r × c}", "given": "|r| = |c|"}, "without inv_{r, c}"),
]


TOLD = [  # an answer, the model, types, what is said in full
    ("X / 0", "X", {"X": "ℝ^{a}"}, "the second equals the first without / 0; at {a(1)} the second is 0.6121, the first is ∞ (3 of 3 elements differ)"),
    ("log(−1 − X^2)", "X", {"X": "ℝ^{a}"}, "at {a(1)} the first is undefined, the second is 0.6121 (3 of 3 elements differ)"),
    ("X", "log(−1 − X^2)", {"X": "ℝ^{a}"}, "at {a(1)} the first is 0.6121, the second is undefined (3 of 3 elements differ)"),
    ("log(−1 − exp X)", "log(−1 − X^2)", {"X": "ℝ^{a}"}, "both are undefined on every random test"),
    ("√2 X", "X", {"X": "ℝ^{a}"}, "the first is 1.414 times the second; at {a(3)} the first is −1.07, the second is −0.7563 (3 of 3 elements differ)"),
    ("X_{r→c, c→r}", "X", {"X": "ℝ^{r × c}", "given": "|r| = |c|"}, "the first has the axes r and c exchanged; at {r(2), c(3)} the first is −0.4769, the second is 0.5588 (6 of 9 elements differ)"),
    ("X", "X_{r→c, c→r}", {"X": "ℝ^{r × c}", "given": "|r| = |c|"}, "the first has the axes c and r exchanged; at {c(2), r(3)} the first is −0.4769, the second is 0.5588 (6 of 9 elements differ)"),
    ("clip(X, 0, 1)", "clip(X, 0, 2)", {"X": "ℝ^{a}"}, "the first equals the second with 1 instead of 2; at {a(3)} the first is 1, the second is 2 (2 of 5 elements differ)"),
    ("log_3(X)", "log_2(X)", {"X": "ℝ^{a}"}, "at {a(1)} the first is −0.4469, the second is −0.7083 (1 of 3 elements differ)"),
    ("sin X", "cos(X^3) + tanh X", {"X": "ℝ^{a}"}, "at {a(2)} the first is −0.2327, the second is 0.7693 (3 of 3 elements differ)"),
    ("2 X_{a→c, b→d}", "X_{a→e, b→f}", {"X": "ℝ^{a × b}"}, "the first is 2 times the second; at {e(1), f(3)} the first is −1.513, the second is −0.7563 (12 of 12 elements differ)"),
    ("X_{a→c} ⊙ X_{a→d}^2", "X_{a→e}^3 ⊙ X_{a→f}", {"X": "ℝ^{a}"}, "the first equals the second with 2 instead of 3; at {f(3), e(3)} the first is −0.4326, the second is 0.3272 (9 of 9 elements differ)"),
    ("X_{a(|a| + 1 − iota_{a}), b(|b| + 1 − iota_{b})}", "X", {"X": "ℝ^{a × b}"}, "the first has the elements of the second, at other positions; at {a(1), b(2)} the first is 0.7381, the second is −0.2349 (12 of 12 elements differ)"),
    ("X", "max(X, Y)", {"X": "ℝ^{a}", "Y": "ℝ^{a}"}, "the first equals the second with X instead of max(X, Y); at {a(3)} the first is −0.7563, the second is 0.5588 (2 of 3 elements differ)"),
    ("min(X, Y)", "max(X, Y)", {"X": "ℝ^{a}", "Y": "ℝ^{a}"}, "the first equals the second with min instead of max; at {a(3)} the first is −0.7563, the second is 0.5588 (3 of 3 elements differ)"),
    ("all_{a}(X > 0)", "any_{a}(X > 0)", {"X": "ℝ^{a}"}, "the first is false, the second is true"),
    ("I", "2 I", {"I": "[q]^{n}"}, "the first equals the second without 2; at {n(3)} the first is 2, the second is 4 (3 of 3 elements differ)"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "types", "message"), TOLD)
def test_a_difference_is_told_in_full(first, second, types, message):
    comparison = nt.equivalent(first, second, **types)
    assert not comparison and comparison.message == message


@pytest.mark.parametrize(
    ("first", "types", "number", "message"),
    [
        ("X", {"X": "ℝ^{a}\nY ∈ ℝ"}, 203, "is not a type"),
        ("X + |b|", {"X": "ℝ^{a × b}", "given": "|a| = |b| + 1000"}, 302, "no sizes below 9"),
        ("f(t, 2) = 3 t", {}, 201, "undefined function f"),
        ("X > 0", {"X": "ℝ^{a}"}, 403, "assertion failed at a(2)"),
    ],
)
def test_what_cannot_be_compared_is_an_error(first, types, number, message):
    with pytest.raises(nt.NotationError, match=re.escape(message)) as caught:
        nt.equivalent(first, first, **types)
    assert caught.value.code == number


@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize(("first", "second", "types"), SAME)
def test_they_are_the_same_on_every_seed(first, second, types):
    for seed in SEEDS:
        comparison = nt.equivalent(first, second, seed=seed, **types)
        assert comparison and comparison.difference == "same" and comparison.trials >= len(STYLES), comparison


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("first", "second", "types", "message"), DIFFERENT)
def test_they_differ_and_how_is_said(first, second, types, message):
    for seed in SEEDS:
        assert not nt.equivalent(first, second, seed=seed, **types)
    comparison = nt.equivalent(first, second, **types)
    assert message in str(comparison), comparison
    assert comparison.difference != "same"


def test_a_difference_has_its_record():
    comparison = nt.equivalent("X^2", "X", X="ℝ^{n}")
    at = dict(comparison.index or {})["n"]
    assert set(comparison.index or ()) == {"n"} and 1 <= at <= 3
    assert comparison.actual == pytest.approx(comparison.expected**2)


@pytest.mark.parametrize(
    ("first", "second", "types", "proved"),
    [
        ("mean_{n}(X^2) − (mean_{n} X)^2", "var_{n} X", {"X": "ℝ^{n × m}"}, True),
        ("X ⊙_{n} Y", "∑_{n} (Y ⊙ X)", {"X": "ℝ^{n}", "Y": "ℝ^{n}"}, True),
        ("relu x", "max(x, 0)", {"x": "ℝ^{a}"}, True),
        ("sort_{a}(2 x)", "2 sort_{a} x", {"x": "ℝ^{a}"}, False),  # the same, which no rule of the prover states
        ("X ⊙ X_{n→m}", "X ⊙ X_{n→k}", {"X": "ℝ^{n}"}, False),  # but for a name, which a claim would not forgive
    ],
)
def test_what_is_the_same_is_proved_where_it_can_be(first, second, types, proved):
    comparison = nt.equivalent(first, second, **types)
    assert comparison and comparison.proved is proved and ("proved" in str(comparison)) is proved


def test_the_second_may_be_the_one_that_lacks_something():
    comparison = nt.equivalent("X ⊙ exp X", "X", X="ℝ^{n}")
    assert comparison.difference == "mistake" and str(comparison).startswith(
        "the second equals the first without ⊙ exp"
    )
    assert nt.equivalent("X", "X ⊙ exp X", X="ℝ^{n}").message.startswith("the first equals the second without ⊙ exp")


def test_sizes_that_are_stated_hold_for_what_the_second_does_not_name():
    assert nt.equivalent("Q ⊙_{key} K − Q ⊙_{key} K + V", "V", Q="ℝ^{key[4]}", K="ℝ^{key[4]}", V="ℝ^{seq}")


def test_new_axes_are_matched_and_told():
    comparison = nt.equivalent("X_{a→b, b→a} ⊙ Y_{c→d}", "X_{a→b, b→a} ⊙ Y_{c→e}", X="ℝ^{a × b}", Y="ℝ^{c}")
    assert comparison and comparison.axes == {"d": "e"}


def test_a_wrong_formula_is_its_own_error():
    with pytest.raises(nt.NotationError) as caught:
        nt.equivalent("softmax_{sek} X", "X", X="ℝ^{seq}")
    assert caught.value.source == "softmax_{sek} X" and caught.value.span_text == "sek"
    with pytest.raises(nt.NotationError, match="expected a set"):
        nt.equivalent("X", "X", X="X = 3")


@pytest.mark.sampled(3)
@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["X ⊙_{n} Y", "softmax_{n}(X) ⊙ Y + 1", "mean_{n}(X Y)", "X / (1 + Y^2)"]), st.integers(0, 10**6)
)
def test_no_mutant_is_taken_for_its_model(model, seed):
    """Every mutant that differs from its model on the reals is told apart from it."""
    from grammar.parser import parse
    from grammar.printer import to_text

    for tree, _ in mutants(parse(model), ("n", "m")):
        text = to_text(tree)
        try:
            comparison = nt.equivalent(text, model, X="ℝ^{n × m}", Y="ℝ^{n}", seed=seed)
        except nt.NotationError:
            continue
        assert not comparison, text


def test_sizes_are_apart_unless_the_model_makes_them_meet():
    setting = Setting("X ∈ ℝ^{a × c}\nY ∈ ℝ^{b × c}")
    assert setting.sizes("X ⊙ Y_{b→d}") == {"a": 3, "c": 4, "b": 5}
    met = setting.sizes("X_{a→b} ⊙_{b} Y")
    assert met["a"] == met["b"] != met["c"]
    split = Setting("X ∈ ℝ^{layer}\nW ∈ ℝ^{heads × key}\n|key| = |layer|/|heads|").sizes("X ⊙ W")
    assert split["key"] * split["heads"] == split["layer"] and min(split.values()) > 1


# ------------------------------------------------------------------------------------------------------------ grading
SHEET = """
#: exercise attention   points 2   kind formula
# Each query asks.
Q ∈ ℝ^{seq' × key}
K ∈ ℝ^{seq × key}
answer = softmax_{seq}(Q ⊙_{key} K / √|key|)
#: hint Which axis must sum to one?
#: mistake softmax_{seq'}(Q ⊙_{key} K / √|key|)   These sum to one over the queries.
#: exercise type kind types
X ∈ ℝ^{n × m}
∑_{n} X
#: exercise signature kind signature
f : ℝ^{key} × ℝ^{seq × key} → ℝ^{seq}
#: exercise sizes kind sizes
W ∈ ℝ^{in × out}
|in| |out| + |out|
#: exercise einsum kind einsum
A ∈ ℝ^{i × j}
B ∈ ℝ^{k × l}
|j| = |k|
A_{j→k} ⊙_{k} B
#: exercise order kind derivation
X ∈ ℝ^{n}
answer = ∑_{n} (X + X) = ∑_{n} 2 X = 2 ∑_{n} X
#: exercise hole kind fill-in
#: hole softmax_{seq}(?) ⊙_{seq} V
Q ∈ ℝ^{key}
K ∈ ℝ^{seq × key}
V ∈ ℝ^{seq × val}
answer = Q ⊙_{key} K
#: exercise gradient kind gradient
W ∈ ℝ^{y × x}
v ∈ ℝ^{x}
t ∈ ℝ^{y}
∂(norm_{y}(W ⊙_{x} v − t)^2 / 2)/∂v*
#: exercise centered
X ∈ ℝ^{n × m}
(X − mean_{n} X) / √(mean_{n} X^2)
#: exercise function
X ∈ ℝ^{n}
f(X) = X / ∑_{n} X
#: exercise written-out
X ∈ ℝ^{n}
exp X / ∑_{n} exp X
#: forbid softmax
#: draw X = [1, 1, 1]_{n}
"""

RIGHT = [
    ("attention", "softmax_{seq}(Q ⊙_{key} K / √|key|)"),
    ("attention", r"\nfun{\seq}{softmax} \left( \frac{Q \ndot{\key} K}{\sqrt{|\key|}} \right)"),
    ("attention", "answer = softmax_{seq}(K ⊙_{key} Q / √|key|)"),
    ("type", "ℝ^{m}"),
    ("type", r"\mathbb{R}^{\mathsf{m}}"),
    ("type", "answer = ℝ^{m}"),
    ("type", "answer ∈ ℝ^{m}"),
    ("signature", "g : ℝ^{key} × ℝ^{key × seq} → ℝ^{seq}"),
    ("signature", "ℝ^{key} × ℝ^{key × seq} → ℝ^{seq}"),
    ("signature", "f: R^{key}, R^{seq,key} -> R^{seq}"),
    ("sizes", "|out| (|in| + 1)"),
    ("sizes", "|in| × |out| + |out|"),
    ("sizes", "|in|·|out| + |out|"),
    ("einsum", 'einsum("ab,bc->ac", A, B)'),
    ("einsum", "np.einsum('xy,yz->zx', A, B)"),
    ("einsum", "A ⊙_{j} B_{k→j}"),
    ("einsum", 'einsum("ab,bc", A, B)'),
    ("einsum", 'torch.einsum("ab,bc->ac", [A, B])'),
    ("einsum", "ab,bc -> ca"),
    ("order", "∑_{n} (X + X)\n= ∑_{n} 2 X\n= 2 ∑_{n} X"),
    ("order", "∑_{n} (X + X) = ∑_{n} 2 X = 2 ∑_{n} X"),
    ("order", "∑_{n} (X + X)\n∑_{n} X + ∑_{n} X\n∑_{n} 2 X\n2 ∑_{n} X"),
    ("order", "∑_{n} (X + X)\n2 ∑_{n} X"),
    ("hole", "Q ⊙_{key} K"),
    ("hole", "answer = K ⊙_{key} Q"),
    ("gradient", "(W ⊙_{y} (W ⊙_{x} v − t))_{x→x*}"),
    ("function", "g(X) = X / ∑_{n} X"),
    ("function", "g(Y) = Y / ∑_{n} Y"),
    ("function", "X / ∑_{n} X"),
    ("written-out", "exp(X) / ∑_{n}(exp X)"),
]

WRONG = [  # an answer, what is said of it, whether it counts as a try
    ("attention", "softmax_{seq'}(Q ⊙_{key} K / √|key|)", "These sum to one over the queries.", True),
    ("attention", "softmax_{seq}(Q ⊙_{key} K)", "your answer equals the solution without / √|key|", True),
    ("attention", "Q = 3\nQ", "Q is given", False),
    ("attention", "K ∈ ℝ^{seq}\nsoftmax_{seq} K", "K is given; an answer must not redefine it", False),
    ("attention", "K : ℝ^{seq} → ℝ^{seq}\nK(Q)", "K is given; an answer must not redefine it", False),
    ("attention", 3, "written as text", False),
    ("attention", "", "no answer submitted", False),
    ("attention", "x" * 30_000, "at most 20000 characters", False),
    ("attention", "softmax_{", "{ is not closed", False),
    ("attention", "softmax_{sek} Q", "needs axis sek", False),
    ("type", "ℝ^{n × m}", "the axis n is not there", True),
    ("type", "ℝ^{k}", "what is given has no axis k", True),
    ("type", "ℝ^{n}", "replaced by another", True),
    ("type", "ℝ", "an axis is missing", True),
    ("type", "n × m", "write its axes in braces", False),
    ("type", "{m}", "write its axes in braces", False),
    ("type", "ℝ^n×m", "write its axes in braces", False),
    ("attention", "softmax_{seq}(Q ⊙_{key} K / √|seq|)", "with |seq| instead of |key|", True),
    ("attention", "softmax_{seq}(Q ⊙_{key} K ⊙ √|key|)", "with ⊙ instead of /", True),
    ("attention", "logsoftmax_{seq}(Q ⊙_{key} K / √|key|)", "with logsoftmax_{seq} instead of softmax_{seq}", True),
    ("attention", "exp(Q ⊙_{key} K / √|key|)", "with exp instead of softmax_{seq}", True),
    ("centered", "(X + mean_{n} X) / √(mean_{n} X^2)", "with + instead of -", True),
    ("centered", "(X − mean_{m} X) / √(mean_{m} X^2)", "with m instead of n throughout", True),
    ("signature", "g : ℝ^{key × seq} × ℝ^{key} → ℝ^{seq}", "arguments 1 and 2 have each other's axes", True),
    ("signature", "g : ℝ^{key} × ℝ^{seq} → ℝ^{seq}", "argument 2 is missing an axis", True),
    ("signature", "g : ℝ^{key} × ℝ^{seq × key} → ℝ", "the result is missing an axis", True),
    ("signature", "g : ℝ^{d} × ℝ^{seq × d} → ℝ^{seq}", "called otherwise", True),
    ("signature", "g : ℝ^{key} → ℝ^{seq × key} → ℝ^{seq}", "before one arrow", False),
    ("sizes", "in * out + out", "write the size of an axis between bars: |in|", False),
    ("type", "ℝ^{m}\nℝ^{n}", "1 type is asked for", False),
    ("signature", "g : ℝ^{key} × ℝ^{key × seq} → ℝ^{seq × key}", "the result has the axis key too many: lifting", True),
    ("signature", "g : ℝ^{key} → ℝ^{seq}", "2 arguments", True),
    ("signature", "g : ℝ^{key} → ℝ", "2 arguments, and yours 1; the result is not in ℝ either", True),
    (
        "signature",
        "g : ℝ^{key × seq} × ℝ^{seq} → ℝ",
        "argument 1 has the axis seq too many: lifting takes care of it; argument 2 is missing an axis: it is not in ℝ^{seq}; the result is missing an axis",
        True,
    ),
    (
        "attention",
        "softmax_{seq}(Q ⊙_{key} K) / √|key|",
        "your answer equals the solution with √|key| outside softmax_{seq}",
        True,
    ),
    ("attention", "0.9999 softmax_{seq}(Q ⊙_{key} K / √|key|)", "your answer is 0.9999 times", True),
    ("attention", "0.999999 softmax_{seq}(Q ⊙_{key} K / √|key|)", "at most: was a number rounded?", True),
    ("einsum", "(A_{j→k} ⊙_{k} B)_{i→l, l→i}", "your answer has the axes i and l exchanged", True),
    ("signature", "g", "expected a signature", False),
    ("sizes", "|in| |out|", "with |in| = 3, |out| = 4 got 12, expected 16", True),
    ("einsum", 'einsum("ab,bc->a", A, B)', "lacks the axis l", True),
    ("einsum", 'einsum("ab,b->a", A, B)', "B has 2 axes, k, l, and 1 letters", False),
    ("einsum", 'einsum("ab,bc->ac", A, C)', "C is not given", False),
    ("einsum", 'einsum("ab->ad", A)', "d is a letter of no operand", False),
    ("einsum", "einsum(A, B)", "einsum expects its letters as a string", False),
    ("einsum", 'einsum("ab,bc->ac", A)', "there are 2 groups of letters, and 1 operands", False),
    ("einsum", 'einsum("ab->a->b", A)', "einsum expects letters, commas and ->", False),
    ("einsum", 'einsum("aa->a", A)', "the letter a is two different axes", False),
    ("sizes", "iota_{in}", "expected a number", False),
    ("einsum", 'einsum("...b,bc->...c", A, B)', "a letter for every axis", False),
    ("einsum", 'einsum("ab,cb->ac", A, B)', "the letter b stands for j of A and for l of B", False),
    ("order", "∑_{n} (X + X)\n∑_{n} 2 X\n∑_{n} 2 X", "is line 2 once more", True),
    ("hole", "softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V", "not the whole formula", False),
    ("hole", "?", "the part for the question mark", False),
    ("gradient", "∂(norm_{y}(W ⊙_{x} v − t)^2 / 2)/∂v", "rename x: _{x→x*}", True),
    ("order", "∑_{n} 2 X\n∑_{n} (X + X)\n2 ∑_{n} X", "line 1, ∑_{n} 2 X, is not what the derivation begins with", True),
    ("order", "∑_{n} (X + X)\n∑_{n} 3 X\n2 ∑_{n} X", "does not follow from the one above", True),
    ("order", "2 ∑_{n} X", "expected at least 2 lines of a derivation", False),
    (
        "order",
        "∑_{n} (X + X)\n∑_{n} X + ∑_{n} X\n∑_{n} 2 X",
        "lines 1 to 3 are correct; the derivation is not complete",
        True,
    ),
    ("order", "∑_{n} (X + X)\n∑_{n} X", "line 1 is correct; line 2, ∑_{n} X, does not follow", True),
    ("hole", "K", "still has the axis key", True),
    ("hole", "Q ⊙_{key} K / √|key|", "the expected value is", True),
    ("gradient", "W ⊙_{y} (W ⊙_{x} v − t)", "lacks the axis x*", True),
    ("gradient", "W_{x→x*} ⊙_{y} (t − W ⊙_{x} v)", "−1 times", True),
    ("written-out", "softmax_{n} X", "without softmax", False),
    ("written-out", "X", "the expected value is", True),
    ("written-out", "∑_{i=1}^{10000000000} X", "exceeds the limit", False),
]


@pytest.fixture(scope="module")
def sheet():
    return nt.exercises(SHEET)


@pytest.fixture(scope="module")
def released(sheet):
    """The same exercises as a released file has them."""
    return nt.exercises(sheet_files.release_sheet(SHEET, sheet))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_a_right_answer_is_right_on_every_seed(sheet, released, name, answer):
    for seed in SEEDS:
        grade = sheet[name].grade(answer, seed=seed)
        assert grade.correct and grade.points == sheet[name].points, grade.feedback
    assert released[name].grade(answer).correct, released[name].grade(answer).feedback


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "answer", "message", "tried"), WRONG)
def test_a_wrong_answer_is_told_so(sheet, released, name, answer, message, tried):
    grade = sheet[name].grade(answer)
    assert not grade and grade.points == 0 and grade.counts_as_attempt is tried, grade.feedback
    assert message in grade.feedback
    model = sheet[name].solution.removeprefix("answer = ")
    assert len(model) < 12 or model not in grade.feedback
    assert not released[name].grade(answer)
    for seed in SEEDS[:5]:
        assert not sheet[name].grade(answer, seed=seed)


def test_the_model_is_shown_only_where_the_file_says_so(sheet):
    assert sheet["attention"].grade("Q").solution is None
    shown = nt.exercises("#: exercise a\n#: show solution\nX ∈ ℝ^{n}\nanswer = X")
    assert shown["a"].grade("2 X").solution == "answer = X"


def test_a_released_file_holds_no_model(sheet):
    text = sheet_files.release_sheet(SHEET, sheet)
    for exercise in sheet.values():
        if exercise.kind != "signature":
            assert exercise.solution.removeprefix("answer = ") not in text
    assert "mistake" not in text and "These sum" not in text and "#: hint Which axis" in text
    changed = text.replace("#: expected ", "#: expected A", 1)
    assert "cannot be read" in nt.exercises(changed)["attention"].grade("Q").feedback


def test_a_released_file_is_released_as_it_is(sheet, released):
    text = sheet_files.release_sheet(SHEET + "\n\n\n", sheet)
    assert sheet_files.release_sheet(text, released) == text
    assert [list(sheet_files.faults(exercise)) for exercise in released.values()] == [[]] * len(sheet)


def test_an_exercise_without_a_value_is_no_mark():
    (exercise,) = nt.exercises("#: exercise a\nX ∈ ℝ^{n}\nlog(−1 − X^2)").values()
    grade = exercise.grade("X")
    assert not grade and not grade.counts_as_attempt and grade.feedback == "the exercise has no value to compare with"


def test_a_solution_that_is_no_signature_is_no_wrong_answer():
    (exercise,) = nt.exercises("#: exercise a kind signature\nanswer = 3").values()
    grade = exercise.grade("f : ℝ^{a} → ℝ^{b}")
    assert not grade.counts_as_attempt and "the solution of a is not a signature" in grade.feedback


def test_a_released_file_keeps_the_sentences_of_slips(released):
    assert (
        released["attention"].grade("softmax_{seq'}(Q ⊙_{key} K / √|key|)").feedback
        == "These sum to one over the queries."
    )


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (name, answer)
        for name, answer, message, _ in WRONG
        if "the solution" in message or " instead of " in message or "exchanged" in message
    ],
)
def test_a_released_file_keeps_the_words_of_generated_mistakes(sheet, released, name, answer):
    assert released[name].grade(answer).mistake == sheet[name].grade(answer).mistake


def test_the_words_of_generated_mistakes_are_opened_by_their_values_alone(sheet):
    result = references.opened(references.kept_of(sheet["attention"]), "attention")
    assert 10 < len(result["changes"]) <= references.MAX_KEPT_CHANGES
    words = "without / √|key|"
    assert words not in json.dumps(result, ensure_ascii=False)
    assert all(references.unlock_text(text, "1 2 3") != words for _, text in result["changes"])


@pytest.mark.parametrize("name", ["variance", "covariance", "softmax-written-out"])
def test_no_feedback_names_the_solution_or_more_than_half_of_it(name):
    from grammar.parser import parse
    from namedtensor.teaching import grading, mutants

    exercise = nt.exercises(PUZZLES)[name]
    tree = parse(exercise.solution, "text")
    hidden = mutants.large_parts(tree)
    assert mutants.short(tree.statements[-1].sides[-1]) in hidden
    messages = [
        (text, grading.grade_answer(exercise, text, 0)) for text, _ in mutants.distinct_mutants(tree, ("n", "m"), True)
    ]
    assert len(messages) > 10 and any("equals the solution" in grade.feedback for _, grade in messages)
    for text, grade in messages:
        if not grade.correct and grade.error is None:
            assert not [part for part in hidden if part in grade.feedback], (text, grade.feedback)


@pytest.mark.sampled(3)
@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_whatever_is_handed_in_is_answered(text):
    sheet = nt.exercises(SHEET)
    for exercise in sheet.values():
        assert isinstance(exercise.grade(text).feedback, str)


ODD = [
    "", " \n\t", "?", "🙂", "\x00X", "\ud800", "ＸＸ", "X\u0301", "日本語", "42", "I don't know", "∞ − ∞", "0/0", "√(−1)", "nan", "None",
    "X" + " " * 19_000, "X" * 10_000, "(" * 9_000, "(" * 500 + "Q" + ")" * 500, "Q^" * 500 + "Q", "9^9^9^9", "2^(2^(2^(2^(2^2))))", "9" * 5000,
    "f(n) = f(n+1)\nf(1)", "f(x) = f(f(x))\nf(Q)", "h^t = h^{t+1}\nh^1", "∑_{i=1}^{100000000} i", "∑_{i=1}^{∞} 1/i", "|q| = 100000000000\niota_{q}",
    "\\softmax", "\\frac{1}{2}", "$$x$$", "\\begin{align} x &= 1", "\\newcommand{\\a}{\\a\\a}\\a", "import os; os.system('ls')", "__import__('os')",
    "np.sum(X, axis=0)", "lambda x: x", "X @ X.T", "<script>alert(1)</script>", "'; drop table students; --", "answer = answer", "Q = 3\nQ", "=", "||", "X_{",
    "∂" * 200 + "Q", "Q;" * 500, "a" * 20_001, "x_{" + ",".join(f"a{n}" for n in range(500)) + "}", "f(x) = x + x\n" + "f(" * 60 + "Q" + ")" * 60,
    None, 3, b"Q", [], {}, nt,
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("answer", ODD, ids=range(len(ODD)))
def test_whatever_is_handed_in_there_is_a_sentence_in_time(sheet, released, answer):
    for exercise in (sheet["attention"], released["attention"], sheet["type"], sheet["einsum"]):
        with at_most(2.5):
            grade = exercise.grade(answer)
            assert not grade and grade.feedback.strip() and "Traceback" not in grade.feedback


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system stops no processes")
def test_marking_ends_in_time(sheet, monkeypatch):
    """The process that was late is ended, and the next answer has another."""
    from namedtensor.teaching import grading

    sheet["attention"].grade("Q")
    late = grading.PROCESS.process
    late.send_signal(signal.SIGSTOP)  # however fast it is, it does not answer
    with monkeypatch.context() as patched:
        patched.setattr(grading, "SECONDS", 0.1)
        grade = sheet["attention"].grade("Q")
    assert not grade and grade.feedback == grading.LATE.format(0) and late.poll() is not None
    assert "could not be graded" not in sheet["attention"].grade("Q").feedback


def test_one_process_marks_all_answers(sheet):
    from namedtensor.teaching import grading

    sheet["attention"].grade("Q")
    before = grading.PROCESS.process
    for answer in ("K", "V", "Q +", "softmax_{seq}(Q ⊙_{key} K / √|key|)"):
        sheet["attention"].grade(answer)
    assert grading.PROCESS.process is before and before.poll() is None


def test_a_process_that_died_is_a_sentence_and_no_end(sheet):
    from namedtensor.teaching import grading

    sheet["attention"].grade("Q")
    grading.PROCESS.process.kill()
    grading.PROCESS.process.wait()
    assert "could not be graded" not in sheet["attention"].grade("Q").feedback


@pytest.mark.parametrize("problem", [OSError("no processes"), EndedError(), LateError()])
def test_without_a_process_there_is_a_mark_too(sheet, monkeypatch, problem):
    from namedtensor.teaching import grading

    def ask(line, seconds):
        raise problem

    monkeypatch.setattr(grading.PROCESS, "ask", ask)
    grade = sheet["attention"].grade("Q")
    assert isinstance(grade, grading.Grade) and grade.counts_as_attempt
    assert ("could not be graded" in grade.feedback) is not isinstance(problem, OSError)


@pytest.mark.parametrize("answer", ["Q", "Q +", "Q ⊙_{nokey} K", "softmax_{seq'}(Q ⊙_{key} K / √|key|)", "?", ""])
def test_the_process_marks_as_this_one_does(sheet, answer):
    from namedtensor.teaching import grading

    for exercise in sheet.values():
        grade, expected = exercise.grade(answer), grading.grade_answer(exercise, answer, 0)
        assert grade.json() == expected.json() and (grade.hints, grade.solution) == (expected.hints, expected.solution)
        assert (grade.error is None) == (expected.error is None) and str(grade.error) == str(expected.error)
        if expected.error is not None:
            assert grade.error.edits == expected.error.edits and grade.error.span == expected.error.span


def test_functions_of_this_process_may_be_used(sheet):
    from namedtensor.operators.user_functions import USER_FUNCTIONS
    from namedtensor.teaching import grading

    nt.custom_function("Same : ℝ^{a} → ℝ^{a}")(lambda x: x)
    try:
        assert USER_FUNCTIONS and sheet["attention"].grade(
            grading.text_of(sheet["attention"].solution).partition("=")[2]
        )
    finally:
        del USER_FUNCTIONS["Same"]


def test_a_fault_of_ours_is_a_sentence(sheet, monkeypatch):
    from namedtensor.teaching import grading

    monkeypatch.setitem(grading.KINDS, "formula", lambda *given: {}["missing"])
    assert "could not be graded" in grading.grade_answer(sheet["attention"], "Q", 0).feedback


# ------------------------------------------------------------------------------------------------------------ files
def test_the_puzzles_are_proved():
    sheet = nt.exercises(PUZZLES)
    assert len(sheet) == 25
    for exercise in sheet.values():
        assert not list(sheet_files.faults(exercise)), exercise.name
        answer = sheet_files.reference_answer(exercise)
        assert all(exercise.grade(answer, seed=seed) for seed in SEEDS[:5]), exercise.name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#: exercise a kind frmula\nX", "line 1: no kind frmula; did you mean formula?"),
        ("#: exercise a\n#: hnt x\nX", "line 2: no word hnt; did you mean hint?"),
        *(
            (f"#: exercise a points {text}\nX", f"line 1: points must be a number from 0 to 10000, got {text}")
            for text in ("x", "inf", "-inf", "nan", "-5", "-1e-9", "1e308", "10001")
        ),
        ("#: exercise a\nX ⊙ \n", "line 2: exercise a: ⊙ needs an operand"),
        ("#: exercise\n", "begins with: #: exercise NAME"),
        ("#: exercise a\nX\n#: exercise a\nX", "line 3: a second exercise a"),
        ("#: exercise a\nX\n#: mistake X", "two or more spaces"),
        ("#: exercise a\nX ∈ ℝ^{n}", "has no solution"),
        ("x\ny", "no exercise"),
    ],
)
def test_a_file_that_is_wrong_is_told_by_line(text, message):
    with pytest.raises(ExerciseError) as caught:
        nt.exercises(text)
    assert message in str(caught.value)


def test_an_unknown_exercise_is_told_the_nearest(sheet):
    with pytest.raises(KeyError, match="did you mean attention"):
        sheet["atention"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mistakes": (("X", "no"),)}, "is graded as correct"),
        ({"mistakes": (("2 X", "no"), ("2 X", "other"))}, "gets other feedback"),
        ({"hints": ("x" * 201,)}, "201 characters"),
        ({"forbidden": ("X",)}, "the reference solution is graded as incorrect"),
        ({"solution": "answer = (mean_{n}(X − mean_{n} X))^2"}, "the reference solution is 0 on every random test"),
    ],
)
def test_the_faults_of_an_exercise_are_found(change, message):
    from namedtensor.teaching.exercise_files import Mistake

    (exercise,) = nt.exercises("#: exercise a\nX ∈ ℝ^{n}\nanswer = X").values()
    change = {
        name: tuple(Mistake(*item) for item in value) if name == "mistakes" else value for name, value in change.items()
    }
    assert any(message in fault for fault in sheet_files.faults(dataclasses.replace(exercise, **change)))


def test_the_command(tmp_path, capsys):
    key, handed = tmp_path / "week.nt", tmp_path / "ada.nt"
    key.write_text(SHEET, encoding="utf-8")
    handed.write_text("#: exercise type\nℝ^{m}\n", encoding="utf-8")
    assert main(["exercises", "validate", str(key)]) == 0
    assert "11 exercises: 0 faults, 1 warning" in capsys.readouterr().out
    assert main(["exercises", "release", str(key), "-o", str(tmp_path / "student")]) == 0
    assert nt.exercises(tmp_path / "student" / "week.nt")["type"].grade("ℝ^{m}")
    assert main(["exercises", "grade", str(handed), "--key", str(key)]) == 0
    assert "type: 1 of 1" in capsys.readouterr().out
    assert (
        main(
            ["exercises", "grade", str(handed), "--key", str(key), "--to", "gradescope", "-o", str(tmp_path / "r.json")]
        )
        == 0
    )
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["tests"][1]["score"] == 1
    assert main(["exercises", "grade", str(handed), "--key", str(key), "--to", "nbgrader"]) == 0
    assert json.loads(capsys.readouterr().out)["type"]["score"] == 1
    key.write_text("#: exercise sums\n#: mistake 2 X   No.\nX ∈ ℝ^{a}\nanswer = 2 X\n", encoding="utf-8")
    assert main(["exercises", "validate", str(key)]) == 1
    assert f"{key}:1: sums: " in capsys.readouterr().out
    for words in (
        ["validate", "none.nt"],
        ["grade", str(handed)],
        ["release", str(key), "-o", str(key)],
        ["validate", str(tmp_path)],
    ):
        assert main(["exercises", *words]) == 2
        assert "Traceback" not in capsys.readouterr().err


def test_what_a_released_file_keeps_comes_back(sheet):
    sealed = references.opened(references.kept_of(sheet["attention"]), "attention")
    assert len(sealed["draws"]) == len(STYLES) and sealed["mistakes"][0][0] == "These sum to one over the queries."


# ------------------------------------------------------------------------------------------------------------ notebooks
class Shell:
    def __init__(self):
        self.user_ns, self.cells = {}, {}

    def register_magic_function(self, function, kind, name):
        assert kind == "cell"
        self.cells[name] = function


def test_cells_of_notebooks(tmp_path):
    shell = Shell()
    nt.load_ipython_extension(shell)  # pyright: ignore[reportAttributeAccessIssue]
    shell.user_ns["X"] = nt.tensor([1.0, 2.0], "n")
    assert float(shell.cells["nt"]("Y", "∑_{n} X")) == 3 and float(shell.user_ns["Y"]) == 3
    assert float(shell.cells["nt"](" ", "∏_{n} X")) == 2 and shell.user_ns.keys() == {"X", "Y"}
    assert "needs axis m" in repr(shell.cells["nt"]("", "∑_{m} X"))
    assert "name the file once" in repr(shell.cells["exercise"]("one", "X"))
    key = tmp_path / "week.nt"
    key.write_text("#: exercise one\nX ∈ ℝ^{n}\nanswer = ∑_{n} X", encoding="utf-8")
    assert "correct" in shell.cells["exercise"](f"{key} one", "∑_{n} X")._repr_html_()
    cells = shell.cells["exercise"]("one", "<script>")
    assert cells.correct is False and "<script>" not in cells._repr_html_()
    assert "did you mean one" in repr(shell.cells["exercise"]("onne", "X"))
    key.write_text("X ∈ ℝ^{n}", encoding="utf-8")
    assert (
        repr(shell.cells["exercise"](f"{key} one", "X"))
        == f"{key}: no exercise; one begins with the line #: exercise NAME"
    )
    assert "none.nt: No such file" in repr(shell.cells["exercise"]("none.nt one", "X"))


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        ("ℤ^{n}", lambda x: x == int(x)), ("ℕ^{n}", lambda x: x == int(x) >= 0), ("{0, 1}^{n}", lambda x: x in (0, 1)),
        ("[2, 3]^{n}", lambda x: 2 <= x <= 3), ("[5]^{n}", lambda x: x == int(x) and 1 <= x <= 5),
        ("ℝ_{>0}^{n}", lambda x: x > 0), ("ℝ_{≥0}^{n}", lambda x: x >= 0), ("ℝ^{n}", lambda x: True),
    ],
)  # fmt: skip
def test_what_is_drawn_lies_in_its_set(given, holds):
    setting = Setting(f"X ∈ {given}")
    for style in STYLES:
        (value,) = setting.drawn(1, style, {"n": 40}).values.values()
        assert all(map(holds, value.numbers))
        assert len(set(value.numbers)) > 1 or style in ("equal", "ties", "tiny"), style


# ------------------------------------------------------------------------------- an author's mistakes in answers without a value
ANTICIPATED = """
#: exercise types kind types
A ∈ ℝ^{height × width}
x ∈ ℝ^{height}
answer = A + x
#: part A + x
#: part A ⊙_{height} x
#: mistake ℝ^{height × width}; ℝ^{height}   The contraction removes height.
#: exercise signature kind signature
answer : ℝ^{key} × ℝ^{seq × key} → ℝ^{seq}
#: mistake f : ℝ^{q × key} × ℝ^{seq × key} → ℝ^{q × seq}   Lifting adds the queries.
#: exercise sizes kind sizes
A ∈ ℝ^{in × out}
B ∈ ℝ^{out × last}
answer = (|in| |out|) + (|out| |last|)
#: mistake |in| |out|   The second matrix is missing.
"""


@pytest.mark.parametrize(
    ("name", "answer", "feedback"),
    [
        ("types", "ℝ^{width × height}\nℝ^{height}", "The contraction removes height."),
        ("types", "ℝ^{width × height}\nℝ^{width}", "correct"),
        ("types", "ℝ^{width}\nℝ^{height}", "A + x: not ℝ^{width}"),
        ("signature", "score : ℝ^{key × q} × ℝ^{seq × key} → ℝ^{seq × q}", "Lifting adds the queries."),
        ("signature", "ℝ^{key} × ℝ^{seq × key} → ℝ^{seq}", "correct"),
        ("sizes", "|out| |in|", "The second matrix is missing."),
        ("sizes", "|in| |out| + |out| |last|", "correct for three sets of sizes"),
        ("sizes", "|out| (|in| + |last|)", "correct for three sets of sizes"),
        ("sizes", "|in| |last|", "with |in| = "),
    ],
)
def test_mistakes_of_types_signatures_and_sizes_get_their_sentence(name, answer, feedback):
    grade = nt.exercises(ANTICIPATED)[name].grade(answer)
    assert grade.feedback.startswith(feedback) and grade.correct is feedback.startswith("correct")


def test_a_released_file_of_such_exercises_has_no_sentence_and_grades_the_same():
    sheet = nt.exercises(sheet_files.release_sheet(ANTICIPATED, nt.exercises(ANTICIPATED)))
    assert "Lifting adds" not in sheet_files.release_sheet(ANTICIPATED, nt.exercises(ANTICIPATED))
    assert sheet["sizes"].grade("|in| |out| + |out| |last|").correct and not sheet["sizes"].grade("|in| |out|").correct
    assert not sheet["types"].grade("ℝ^{width × height}\nℝ^{height}").correct


# ----------------------------------------------------------------------------------------------------------- limits of time
AFTER_PREPARE = """
import sys
from namedtensor.teaching import grading
from namedtensor.teaching.exercise_files import read
(exercise,) = read("#: exercise a\\nX ∈ ℝ^{n × m}\\nanswer = softmax_{n} X")
grading.prepare()
loaded = set(sys.modules)
assert grading.grade_answer(exercise, "exp X / ∑_{n} exp X", 0).correct
print(sorted(set(sys.modules) - loaded))
"""


def test_the_process_loads_what_grading_needs_before_its_first_answer():
    run = subprocess.run([sys.executable, "-c", AFTER_PREPARE], capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.split()) < 8, run.stdout  # the modules of the operators that the formulas use


def test_a_class_is_graded_with_more_time_than_one_answer(monkeypatch):
    sheet = nt.exercises("#: exercise total\nX ∈ ℝ^{n × m}\nanswer = ∑_{n} X")
    limits = []
    monkeypatch.setattr(grading, "USER_FUNCTIONS", {})  # whatever other tests have registered: the process grades
    monkeypatch.setattr(
        grading.PROCESS, "ask", lambda line, seconds: limits.append(seconds) or grading.answer_line(line)
    )
    assert sheet["total"].grade("∑_{n} X")
    submission = Submission(Student("ada"), {"total": ("∑_{n} X",)})
    assert ClassGrader(sheet).results(submission).points == 1
    assert limits == [grading.SECONDS, class_grades.SECONDS] and class_grades.SECONDS >= 5 * grading.SECONDS


def test_an_answer_graded_by_a_thread_has_the_time_it_is_given(monkeypatch):
    """Functions of one's own are known to this process alone, so that a thread grades."""
    sheet = nt.exercises("#: exercise total\nX ∈ ℝ^{n × m}\nanswer = ∑_{n} X")
    released = threading.Event()
    monkeypatch.setattr(grading, "USER_FUNCTIONS", {"f": None})
    monkeypatch.setattr(grading, "grade_answer", lambda *arguments: released.wait(60))
    try:
        assert grading.grade(sheet["total"], "∑_{n} X", seconds=0.01).feedback == grading.LATE.format(0.01)
    finally:
        released.set()


def test_a_value_of_too_many_elements_is_not_drawn():
    from namedtensor.webpage.answers import answer

    request = {"ask": "grade", "file": "#: exercise a\nX ∈ ℝ^{n}\nanswer = X", "name": "a"}
    small, large = (" ⊙ ".join(f"X_{{n→{axis}}}" for axis in axes) for axes in ("bc", "bcdefgh"))
    assert len(answer({**request, "answer": small})["own"]["data"]) == 3**2
    reply = answer({**request, "answer": large})
    assert reply["own"] is None and not reply["correct"] and "lacks the axis n" in reply["feedback"]


def test_a_sheet_that_is_opened_starts_the_process_that_grades():
    from namedtensor.webpage.answers import answer

    grading.PROCESS.close()
    assert answer({"ask": "exercises", "file": "#: exercise a\nX ∈ ℝ^{n}\nanswer = X"})["ok"]
    process = grading.PROCESS.process
    assert process is not None and grading.PROCESS.is_running
    grading.PROCESS.begin()
    assert grading.PROCESS.process is process


# ------------------------------------------------------------------------------------------- shortcuts and solutions
SHORTCUTS = {
    "#: exercise a kind fill-in\n#: hole X ⊙ ?\nX ∈ ℝ^{n × m}\nY ∈ ℝ^{n}\nanswer = X ⊙ Y": "is the whole formula",
    "#: exercise a kind fill-in\n#: hole ∑_{n} (X ⊙ ?)\nX ∈ ℝ^{n × m}\nY ∈ ℝ^{n}\nanswer = ∑_{n} X Y": "is the whole formula",
    "#: exercise a kind fill-in\n#: hole X ⊙ ?\nX ∈ ℝ^{n × m}\nY ∈ ℝ^{n}\nanswer = Y": "",
    "#: exercise a kind fill-in\n#: hole 2 + ?\nX ∈ ℝ^{n}\nanswer = 3 X": "",
    "#: exercise a kind fill-in\n#: hole ? ?\nX ∈ ℝ^{n × m}\nanswer = X X": "",
    "#: exercise a kind gradient\nX ∈ ℝ^{n}\nanswer = 2 X": "add #: forbid ∂",
    "#: exercise a kind gradient\n#: forbid ∂\nX ∈ ℝ^{n}\nanswer = 2 X": "",
    "#: exercise a kind derivation\nX ∈ ℝ^{n}\nanswer = ∑_{n} (X + X) = ∑_{n} 2 X = 2 ∑_{n} X": "add #: lines 3",
    "#: exercise a kind derivation\n#: lines 3\nX ∈ ℝ^{n}\nanswer = ∑_{n} (X + X) = ∑_{n} 2 X = 2 ∑_{n} X": "",
    "#: exercise a kind derivation\nX ∈ ℝ^{n}\nanswer = ∑_{n} 2 X = 2 ∑_{n} X": "",
    "#: exercise a\n#: forbid softmaxx\nX ∈ ℝ^{n}\nanswer = 2 X": "#: forbid softmaxx has no effect",
    "#: exercise a\n#: forbid √ X ‖ ∂\nX ∈ ℝ^{n}\nanswer = exp 2": "",
}


@pytest.mark.parametrize(("text", "fault"), SHORTCUTS.items())
def test_validate_reports_shortcuts(text, fault):
    exercise = nt.exercises(text)["a"]
    matches = [*sheet_files.faults(exercise), *sheet_files.shortcuts(exercise)]
    assert [fault in entry for entry in matches] == [True] * bool(fault)


def test_a_derivation_has_at_least_as_many_lines_as_its_exercise_says():
    text = "#: exercise a kind derivation\n#: lines 3\nX ∈ ℝ^{n}\nanswer = ∑_{n} (X + X) = ∑_{n} 2 X = 2 ∑_{n} X"
    exercise = nt.exercises(text)["a"]
    short = exercise.grade("∑_{n} (X + X)\n2 ∑_{n} X")
    assert not short and not short.counts_as_attempt and "at least 3 lines" in short.feedback
    assert exercise.grade("∑_{n} (X + X)\n∑_{n} 2 X\n2 ∑_{n} X")
    released = sheet_files.release_sheet(text, nt.exercises(text))
    assert nt.exercises(released)["a"].lines == 3


@pytest.mark.parametrize("word", ["", "one", "1", "-3", "2.5"])
def test_the_least_number_of_lines_is_an_integer(word):
    with pytest.raises(ExerciseError, match="line 2: expected #: lines N"):
        nt.exercises(f"#: exercise a kind derivation\n#: lines {word}\nX ∈ ℝ^{{n}}\nanswer = X = X")


@pytest.mark.parametrize(("forbidden", "answer"), [
    ("softmax", "exp(logsoftmax_{n} X)"), ("∑", "sum_{n} X"), ("sum", "∑_{n} X"), ("√", "sqrt(X)"), ("max", "maxk_{n,1} X"),
    ("argmax", "∑_{n} X"), ("relu", "ReLU(X)"), ("ReLU", "relu X"), ("log", "ln X"), ("norm", "‖X‖"), ("abs", "|X|"),
    ("σ", "exp(logsigmoid X)"), ("sigmoid", "σ(X)"), ("𝕀", "𝕀[X > 0]"), ("mean", "nanmean_{n} X"), ("abs", "Z = X\n|Z|"),
])  # fmt: skip
def test_a_forbidden_function_is_forbidden_under_its_other_names(forbidden, answer):
    exercise = nt.exercises(f"#: exercise a\n#: forbid {forbidden}\nX ∈ ℝ^{{n}}\nanswer = X")["a"]
    assert ("to be written without" in exercise.grade(answer).feedback) == (forbidden != "argmax")


def test_no_text_of_an_exercise_shows_its_solution():
    text = "#: exercise total points 2\nX ∈ ℝ^{n × m}\n#: mistake ∑_{m} X   The other axis.\nanswer = ∑_{n} X"
    sheet = nt.exercises(text)
    for shown in (repr(sheet["total"]), str(sheet["total"]), repr(sheet), repr([*sheet.values()]), f"{dict(sheet)}"):
        assert "∑" not in shown
    assert repr(sheet["total"]) == "<exercise total: formula, 2 points>"
