"""The reference evaluator, against values worked out by hand and by plain loops, and the arrays against it.

Two ways lead from checked terms to a value: the plan and the arrays; and the paper's definitions, record by record. What
the checker itself makes of a formula is compared with the values by hand here, and by `own_evaluator.py`.
"""

import contextlib
import math
import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import namedtensor as nt
from grammar import nodes
from grammar.errors import NotationError
from grammar.parser import parse
from grammar.symbols import FUNCTIONS
from namedtensor import reference
from namedtensor.operators import definitions as of_operators
from namedtensor.operators import matrix_definitions
from namedtensor.reference import definitions
from namedtensor.reference.definitions import Tensor, number, tensor
from namedtensor.scope.names import walk

A = tensor([[3, 1, 4], [1, 5, 9], [2, 6, 5]], "height width")
X = tensor([2, 7, 1], "height")
Y = tensor([1, 4, 1], "width")


def close(left, right) -> bool:
    if isinstance(right, list):
        return len(left) == len(right) and all(map(close, left, right))
    return left == right or (left != left and right != right) or math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)


# ----------------------------------------------------------------------------------------------------------- tensors
def test_a_tensor_is_a_function_from_records_to_numbers():
    assert A({"height": 1, "width": 3}) == 4
    assert A({"width": 3, "height": 2, "batch": 5}) == 9


def test_axes_have_no_order():
    assert A == tensor([[3, 1, 2], [1, 5, 6], [4, 9, 5]], "width height")
    assert A.to_list("width height") == [[3, 1, 2], [1, 5, 6], [4, 9, 5]]


def test_lists_are_of_the_axes_that_there_are():
    with pytest.raises(NotationError, match="the axes are height, width, not height"):
        A.to_list("height")


def test_a_number_takes_the_empty_record():
    assert number(3)({}) == 3
    assert number(3).to_list(()) == 3


def test_partial_indexing_leaves_the_other_axes():
    assert reference.at(A, {"height": 2}) == tensor([1, 5, 9], "width")


def test_broadcasting_is_over_the_union():
    assert reference.broadcast(lambda x, y: 10 * x + y, X, Y).to_list("height width")[1] == [71, 74, 71]


def test_lifting_computes_each_record_alone():
    seen = []

    def total(x):
        seen.append(x.shape)
        return number(sum(x.entries.values()))

    assert reference.lift(total, [A], [("width",)]) == tensor([8, 15, 13], "height")
    assert seen == [{"width": 3}] * 3


OF_TENSORS = [
    (lambda: reference.lift(lambda x: x, [X], [("width",)]), 301, "the axis width is needed, and here are height"),
    (lambda: reference.lift(lambda x: x, [Tensor({"a": 0, "b": 2}, None)], [("b",)]), 405, "a has no element, so nothing"),
    (lambda: reference.lift(lambda x: Y, [A], [("height",)]), 306, "lifting over width would duplicate axis width"),
    (lambda: definitions.rename(A, {"height": "width"}), 312, "two axes would have one name: width, width"),
    (lambda: definitions.merge(A, ("height",), "width"), 312, "another axis has the name width"),
    (lambda: definitions.split(X, "height", {"a": 2, "b": 2}), 313, "height is 3, which is not 2 · 2"),
    (lambda: definitions.split(A, "height", {"width": 3, "b": 1}), 312, "another axis has one of the names width, b"),
    (lambda: of_operators.unroll(X, "height", "k", {"k": 5}), 310, "axis k has size 5, but axis height only 3"),
    (lambda: of_operators.pool(X, "height", "k", {"k": 2}), 310, "axis height of size 3 is not divisible into windows"),
    (lambda: of_operators.pool(X, "height", "k", {"k": 0}), 310, "axis height of size 3 is not divisible into windows"),
    (lambda: of_operators.ranking(X, 4), 308, "cannot take 4 of 3 elements"),
    (lambda: of_operators.position(1.5, 3, "height"), 402, "index must be an integer, got 1.5"),
    (
        lambda: matrix_definitions.matrix(tensor([[1], [2]], "a b"), "a", "b"),
        308, "the matrix must be square, but axis a has size 2 and axis b has size 1",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("action", "code", "message"), OF_TENSORS)
def test_a_definition_is_refused_for_tensors_that_it_does_not_take(action, code, message):
    with pytest.raises(NotationError) as raised:
        action()
    assert raised.value.code == code and raised.value.message.startswith(message)


def test_the_mean_of_numbers_whose_sum_is_too_large_for_a_float_is_finite():
    mean = reference.evaluate("mean_{a} x", {"x": tensor([1e308, 1.5e308, 0.5e308], "a")})
    assert math.isclose(mean({}), 1e308)


@pytest.mark.parametrize("data, axes", [([[1, 2], [3]], "a b"), ([1, 2], "a a")])
def test_what_is_no_tensor_is_refused(data, axes):
    with pytest.raises(NotationError):
        tensor(data, axes)


def test_arguments_are_tensors_or_numbers():
    with pytest.raises(NotationError, match="list"):
        reference.evaluate("X", {"X": [1, 2]})


def test_what_is_too_large_is_refused_before_it_is_made():
    with pytest.raises(NotationError, match="too large"):
        Tensor({"a": 10**4, "b": 10**4}, lambda record: 0)


# ------------------------------------------------------------------------------------------------- values by hand
BY_HAND = [
    # formula, axes of the value, value
    ("A + x", "height width", [[5, 3, 6], [8, 12, 16], [3, 7, 6]]),
    ("A ⊙ y", "height width", [[3, 4, 4], [1, 20, 9], [2, 24, 5]]),
    ("x ⊙ y", "height width", [[2, 8, 2], [7, 28, 7], [1, 4, 1]]),
    ("∑_{height} A", "width", [6, 12, 18]),
    ("∑_{height, width} A", "", 36),
    ("mean_{width} A", "height", [8 / 3, 5, 13 / 3]),
    ("var_{width} A", "height", [14 / 9, 32 / 3, 26 / 9]),
    ("max_{height} A", "width", [3, 6, 9]),
    ("min_{width} A", "height", [1, 1, 2]),
    ("norm_{height}(x)", "", math.sqrt(54)),
    ("norm_{height}(x; 1)", "", 10),
    ("∏_{width} A", "height", [12, 45, 60]),
    ("A ⊙_{height} x", "width", [15, 43, 76]),
    ("A ⊙_{width} A_{height→height'}", "height height'", [[26, 44, 32], [44, 107, 77], [32, 77, 65]]),
    ("x ⊙_{height} A ⊙_{width} y", "", 15 + 4 * 43 + 76),
    ("argmax_{height} A", "height width", [[1, 0, 0], [0, 0, 1], [0, 1, 0]]),
    ("argmax_{a} [1, 3, 3]_{a}", "a", [0, 0.5, 0.5]),
    ("cumsum_{height} x", "height", [2, 9, 10]),
    ("cumprod_{height} x", "height", [2, 14, 14]),
    ("sort_{height} x", "height", [1, 2, 7]),
    ("A_{height(2), width(3)}", "", 9),
    ("A_{height(1)}", "width", [3, 1, 4]),
    ("index_{height}(A, [3, 1]_{pick})", "pick width", [[2, 6, 5], [3, 1, 4]]),
    ("index_{height}(A, [3, 1, 1]_{width})", "width", [2, 1, 4]),
    ("A_{height([2, 2, 1]_{height})}", "height width", [[1, 5, 9], [1, 5, 9], [3, 1, 4]]),
    ("A_{height→width, width→height}", "width height", [[3, 1, 4], [1, 5, 9], [2, 6, 5]]),
    ("A_{(height,width)→layer}", "layer", [3, 1, 4, 1, 5, 9, 2, 6, 5]),
    ("A_{(width,height)→layer}", "layer", [3, 1, 2, 1, 5, 6, 4, 9, 5]),
    ("L = [1, 2, 3, 4, 5, 6]_{layer}\n|row| = 2\nL_{layer→(row,column)}", "row column", [[1, 2, 3], [4, 5, 6]]),
    ("x ⊕_{height} x", "height", [2, 7, 1, 2, 7, 1]),
    ("stack_{new}(x, x + 1)", "new height", [[2, 7, 1], [3, 8, 2]]),
    ("(x)^*", "height*", [2, 7, 1]),
    ("{ x if x > 1; -x otherwise }", "height", [2, 7, -1]),
    ("𝕀[x ≥ 2 ∧ ¬ x = 7]", "height", [1, 0, 0]),
    ("∑_i A_{height(i), width(i)}", "", 13),
    ("∑_{i=2}^{3} x_{height(i)}^i", "", 50),
    ("√(|height| + 6) + |x|", "height", [5, 10, 4]),
    ("det_{height,width} A", "", 3 * (25 - 54) - (5 - 18) + 4 * (6 - 10)),
    ("trace_{height,width} A", "", 13),
    ("|kernel| = 2\nunroll_{height,kernel} x ⊙_{kernel} [2, 1]_{kernel}", "height", [11, 15]),
    ("|kernel| = 2\npool_{seq,kernel} [1, 2, 3, 4]_{seq} ⊙_{kernel} [2, 1]_{kernel}", "seq", [4, 10]),
    ("|k| = 2\n[1, 2]_{k} + maxk_{height,k} x", "k", [8, 4]),
    ("|k| = 2\nargmaxk_{height,k} x", "k height", [[0, 1, 0], [1, 0, 0]]),
    ("x ⊕_{height} onehot_{height}(2)", "height", [2, 7, 1, 0, 1, 0]),
    ("x · iota_{height}", "height", [2, 14, 3]),
    ("I_{height,h'} ⊙_{height} x", "h'", [2, 7, 1]),
    ("f(t) = t^2\nf(x) + 1", "height", [5, 50, 2]),
    ("X^0 = 1\nX^n = 2 X^{n-1} + n for n = 1, …, 4\nX^4", "", 42),
    ("Y ∈ ℝ^{height}\nY_{height(i)} = ∑_{j=1}^{3} x_{height(j)} 𝕀[j ≤ i]", "height", [2, 9, 10]),
    ("Z ∈ ℝ^{p[4]}\nZ_{p(2k+1)} = 10k for k = 0, …, 1\nZ_{p(2k+2)} = -k for k = 0, …, 1", "p", [0, 0, 10, -1]),
    ("B = A_{height(1)} = [3, 1, 4]_{width}\n∑_{width} B = 8\nB", "width", [3, 1, 4]),
    ("f : ℝ^{height} → ℝ\nf(t) = ∑_{height} t\nf(A)", "width", [6, 12, 18]),
    ("f : ℝ^{a} × ℝ^{b} → ℝ\nf(s, t) = (∑_{a} s) (∑_{b} t)\nf([1, 2; 3, 4]_{a,b}, [1, 1]_{b})", "b", [8, 12]),
    ("total_{ax} : ℝ^{ax} → ℝ\ntotal_{ax}(t) = ∑_{ax} t\ntotal_{width}(A)", "height", [8, 15, 13]),
    ("g_k(t) = t^k + k\ng_3(x)", "height", [11, 346, 4]),
    ("s ★_{ax} t = ∑_{ax} (s − t)^2\nA ★_{height} x", "width", [38, 30, 24]),
    ("f(t; w) = w t\nf(x; 3)", "height", [6, 21, 3]),
    ("f(t; w_1) = t ⊙ G\nG = 2 w_1\nf(x; 3)", "height", [12, 42, 6]),
    ("∑_m (∑_m A_{height(m)})_{width(m)}", "", 36),
    ("Y ∈ ℝ^{height}\nY_{height(i)} = ∑_{j=1}^{i} x_{height(j)}", "height", [2, 9, 10]),
    ("Y ∈ ℝ^{height}\nY_{height(i)} = { 0 if i = 1; x_{height(i-1)} otherwise }", "height", [0, 2, 7]),
    ("W^1 = x\nW^2 = 2 x\nW^i ∈ ℝ^{height} for i = 1, …, 2\n∑_{i=1}^{2} W^i", "height", [6, 21, 3]),
    ("|m| = 2 |height|\nD ∈ ℝ^{m}\nD_{m(i)} = i", "m", [1, 2, 3, 4, 5, 6]),
    ("(-0.5)^∞ + 2^{-∞}", "", 0),
    ("(-∞)^3", "", -math.inf),
    ("2^2000", "", math.inf),
    ("det_{a,b}([0, 0; 0, 4]_{a,b})", "", 0),
    ("lgamma(0) + lgamma(∞)", "", math.inf),
    ("uniform(∞, 1)", "", math.nan),
    ("|q| = 0\n∑_{q} iota_{q} + ∏_{q} iota_{q}", "", 1),
    ("x ⊙ 3^{-2}", "height", [2 / 9, 7 / 9, 1 / 9]),
    ("f_k(t) = k t\nf_{2 + 1}(x)", "height", [6, 21, 3]),
    ("H ∈ ℝ^{p[3]}\nH_{p(4 - t)} = h^t for t = 1, …, 3\nh^t = x_{height(t)} for t = 1, …, 3\nH", "p", [1, 7, 2]),
    ("h^0 = x\nh^t = h^{t-1} + f^{t-1}(2) for t = 1, …, 20\nf^k(s) = s k\nh^20", "height", [382, 387, 381]),
    ("h^0 = x\nh^t = h^{t-1} + g^{t+2} for t = 1, …, 20\ng^t = g^{t+1} + 1 for t = 30, …, 1\ng^31 = 1\nh^20", "height", [392, 397, 391]),
    ("h^0 = x\nh^t = h^{t-1} + 1 for t = 1, …, 20\nf(s) = k^3 + s\nk^0 = 1\nk^t = k^{t-1} + h^20 for t = 1, …, 20\nf(2)", "height", [69, 84, 66]),
    ("∑_{j ≠ 2} x_{height(j)}", "", 3),
    ("max_{j > 5} x_{height(j)}", "", -math.inf),
    ("max_{i ∈ [0]} i", "", -math.inf),
    ("min_{i ∈ [0]} i", "", math.inf),
    ("mean_{i ∈ {1, 2}} i", "", 1.5),
    ("∑_i x_{height(i)} ∑_{i=1}^{2} A_{height(i)}", "width", [40, 60, 130]),
    ("∑_i (x_{height(i)} + ∑_{i=1}^{2} i)", "", 19),
    ("Y ∈ ℝ^{height}\nY_{height(i)} = ∑_{j=5}^{i} 1", "height", [0, 0, 0]),
    ("‖∑_{height} x‖", "", 10),
    ("g_{ax} : ℝ^{ax} → ℝ\ng_{ax}(t) = (∑_{height} ones_{height}) ∑_{ax} t\ng_{height}(A)", "width", [18, 36, 54]),
    ("g_{ax} : ℝ^{ax} × ℝ → ℝ\ng_{ax}(t, s) = s (∑_{height} ones_{height}) ∑_{ax} t\ng_{height}(x, x)", "height", [60, 210, 30]),
    ("g_{ax} : ℝ^{ax} → ℝ\ng_{ax}(t) = (∑_{height} ones_{height}) ∑_{ax} t\ng_{height}(A) + ∑_{height'} A_{width→height'}", "height width", [[26, 44, 62], [33, 51, 69], [31, 49, 67]]),
    ("f^{l,l}(t) = l t\nf^{3,3}(x)", "height", [6, 21, 3]),
    ("f(t; w) = w t\nw ∈ ℝ^{q[n]}\nf(x; [1, 2]_{q})", "q height", [[2, 7, 1], [4, 14, 2]]),
    ("12 / |p| = |height|\niota_{p} + 0 ∑_{height} x", "p", [1, 2, 3, 4]),
    ("12 / k = |height|\nk x", "height", [8, 28, 4]),
    ("|height| = 2 k + 1\nk x", "height", [2, 7, 1]),
    ("k ∈ ℝ\nk x\n|height| = k", "height", [6, 21, 3]),
    ("|p| = 2^{|height|}\n∑_{p} ones_{p} x", "height", [16, 56, 8]),
    ("W ∈ ℝ^{seq[5]}\nB = W\n∑_{seq} ones_{seq}", "", 5),
    ("f(t) = D\nD ∈ ℝ^{seq[4]}\nD_{seq(i)} = t\nf(3) + ones_{seq}", "seq", [4, 4, 4, 4]),
    ("E^{i,j} = 2 i + j for i = 1, …, 30 for j = 1, …, i\nF^{i} = E^{i,2} for i = 2, …, 30\n∑_{i=2}^{30} F^i", "", 2 * 464 + 58),
    ("C = A\nC_{height([1, 2]_{p}), width([1, 2, 3]_{q})} ← 1\nC", "height width", [[1, 1, 1], [1, 1, 1], [2, 6, 5]]),
    ("h^0 = x\nh^t = h^{t-1} + g^{t,3} for t = 1, …, 20\ng^{i,j} = i + j for i = 1, …, 20 for j = 1, …, 3\nh^20", "height", [272, 277, 271]),
    ("h^0 = x\nh^t = h^{t-1} + t ∑_{t=1}^{2} t for t = 1, …, 20\nh^20", "height", [632, 637, 631]),
]  # fmt: skip


@pytest.mark.parametrize("formula, axes, value", BY_HAND, ids=[row[0] for row in BY_HAND])
def test_values_by_hand(formula, axes, value):
    result = reference.evaluate(formula, {"A": A, "x": X, "y": Y})
    assert close(result.to_list(axes), value)


@pytest.mark.parametrize("formula, axes, value", BY_HAND, ids=[row[0] for row in BY_HAND])
def test_the_arrays_give_the_values_by_hand(formula, axes, value):
    import namedtensor as nt

    result = nt.evaluate(formula, {"A": as_array(A), "x": as_array(X), "y": as_array(Y)})
    assert close(as_lists(result, tuple(axes.split())), value)


def test_attention_by_loops():
    random.seed(0)
    q, k, v = ([[random.gauss(0, 1) for _ in range(n)] for _ in range(m)] for m, n in ((2, 3), (4, 3), (4, 2)))
    expected = []
    for query in q:
        scores = [math.exp(sum(a * b for a, b in zip(query, key)) / math.sqrt(3)) for key in k]
        expected.append([sum(s * row[j] for s, row in zip(scores, v)) / sum(scores) for j in range(2)])
    result = reference.call(
        "Attention : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}\n"
        "Attention(Q, K, V) = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V",
        "Attention", tensor(q, "seq key"), tensor(k, "seq key"), tensor(v, "seq val"),
    )  # fmt: skip
    assert close(result.to_list("seq val"), expected)


def test_a_name_of_a_program_by_itself():
    program = "B = 2 x\nC = 3 B\nq + 1 = 3"  # of q nothing is known, and B needs none
    assert reference.call(program, "B", values={"x": X}) == tensor([4, 14, 2], "height")
    with pytest.raises(NotationError, match="undefined name q"):
        reference.evaluate(program, {"x": X})


@pytest.mark.parametrize(
    "name, arguments, number, words", [("B", (X,), 304, "B is not a function"), ("D", (), 201, "undefined name D")]
)
def test_calls_of_what_is_no_function(name, arguments, number, words):
    with pytest.raises(NotationError, match=words) as caught:
        reference.call("B = 2 x", name, *arguments, values={"x": X})
    assert caught.value.code == number


def test_a_program_is_lifted_over_what_its_inputs_have_besides():
    program = "X ∈ ℝ^{a}\nw ∈ ℝ^{a}\nX ⊙_{a} w"
    X, w = tensor([[1, 2], [3, 4]], "batch a"), tensor([[1, 0], [0, 1]], "batch a")
    assert reference.evaluate(program, {"X": X, "w": w}) == tensor([1, 4], "batch")


# ------------------------------------------------------------------------------------- the arrays against the reference
NUMBERS = """exp log sqrt sin cos tan tanh sinh cosh abs sign floor ceil σ sigmoid relu ReLU gelu gelu_tanh silu softplus
erf ln log1p expm1 arctan arcsin arccos round logsigmoid leaky_relu elu lgamma digamma polygamma Γ factorial"""
VECTORS = "∑ ∏ mean var std norm min max logsumexp softmax logsoftmax argmax argmin standardize"
CUMULATIVE = "cumsum cumprod sort cummax cummin argsort"
RELATIONS = "= ≠ < ≤ > ≥"
ATTENTION = """Attention : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}
Attention(Q, K, V) = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V
"""
SELF_ATTENTION = (
    ATTENTION
    + """SelfAtt^l : ℝ^{seq × chans} → ℝ^{seq × chans}
SelfAtt^l(Z) = Y
|seq| = |seq'|
|key| = |val| = |chans|/|heads|
U = W^{l,Q} ⊙_{chans} Z_{seq→seq'}
V = W^{l,V} ⊙_{chans} Z
W^{l,Q} ∈ ℝ^{heads × key × chans}
W^{l,V} ∈ ℝ^{heads × val × chans}
M ∈ ℝ^{seq × seq'}
M_{seq(i), seq'(j)} = { 0 if i ≤ j; -1 otherwise }
Y = (Attention(U, V_{val→key}, V) + ∑_{seq} M)_{seq'→seq, (heads,val)→chans}
"""
)
FORMULAS = [
    *(f"{name}(T)" for name in NUMBERS.split()),
    *(f"{name}_{{b}} T" for name in VECTORS.split()),
    *(f"{name}_{{a, b}} T" for name in VECTORS.split()),
    *(f"{name}_{{c}} T" for name in CUMULATIVE.split()),
    *(f"{name}_{{b}} log T" for name in "nansum nanmean nanmin nanmax nanvar nanstd".split()),
    "nansum_{a, b} log T", "nanvar_{a, b}(log T; 1)", "nanstd_{b}(log T; 1)", "nanmax_{a} (0 / 0 ⊙ T)", "var_{b}(T; 1)", "std_{a, b}(T; 2)",
    "𝕀[isnan(log T)]", "fillna(log T, u)", "fillna(log T, 0)",
    *(f"𝕀[T {sign} u]" for sign in RELATIONS.split()),
    "all_{b}(T > 0) ∧ any_{b}(T > 1) ∨ T < −2".join(("𝕀[", "]")),
    "𝕀[¬ T > u]", "where(T > u, T, u)", "clip(T, -0.5, u)", "pow(T^2, u)", "binom(T^2 + u, u)", "max(T, u)", "min(T, u)",
    "norm_{a}(T; 3)", "standardize_{a, c}(T; 0.1)", "sin^2 T", "T / u", "T − u − v", "2T √2 / |a|", "size(a) T",
    "T ⊙ u", "T ⊙_{a} S", "T ⊙_{a, b} S", "−T^2", "T^{-1} u^{1/2}", "exp(1000 T)", "log(T)", "1 / (T − T)", "0 ⊙ log(0 T)",
    "T_{a(2)}", "T_{a(1), c(2)}", "[T + S]_{b(|b|)}", "T_{a(J)}", "T_{a(J), c(J)}", "index_{b}(T, J)", "T_{a(K)}",
    "T_{a→d}", "T_{a→b, b→a}", "T_{(a,c)→d}", "T_{(c,a)→a}", "[T_{(a,b)→d}]_{d→(b,a)}", "T_{a→d, (b,c)→a}",
    "T^*", "(T + S)^† ⊙_{a†} S_{a→a†}", "T ⊕_{a} S", "concat_{a}(T, S, T)", "stack_{d}(T, u)",
    "unroll_{b,k} T", "pool_{c,k} T", "maxk_{b,k} T", "argmaxk_{b,k} T", "onehot_{vocab}(J)",
    "iota_{a} T", "ι_{a} − T", "I_{a,a'} ⊙_{a} T", "det_{a,a'} G", "inv_{a,a'} G", "cofactors_{a,a'} G", "trace_{a,a'} G", "logdet_{a,a'} G", "solve_{a,a'}(G, ∑_{a'} G)", "diag_{a,d} T", "eigvalsh_{a,a'} G", "eigh_{a,a'} G", "expm_{a,a'} G", "expm_{a,a'}(G, G + 1, G_{a→a', a'→a})",
    "cholesky_{a,a'}([G ⊙_{a'} G_{a→d}]_{d→a'} + I_{a,a'})", "ones_{d} ⊙ u ⊙ v", "polygamma(T; 3)", "quantile_{b}(T; 0.3)", "median_{a} T", "log_2 (T^2)",
    "max_{j ∈ [2]} T_{a(j)}", "T_{a(1:2)}", "C = T\nC ← C + u\nC", "mod(T, u)", "‖T‖", "2 > 1\nT", "lim_{h→0} (T + h) = T\nT",
    "uniform(floor(3 T), 7, 2)", "𝔼_{z ∼ N(u, 1), i ∼ q, k ∼ Bernoulli(1 / i)}[z k T]\nq = [0.5, 0.25, 0.25]_{d}\ndraws = 5\nseed = 2", "(t T)|_{t = u}",
    "[1, u; 2 u, -1]_{r, s}", "[3, 1, 4]_{d} ⊙ u", "{ T if T > u; u if T < 0; 1 otherwise }",
    "∑_i T_{a(i)} ⊙ S_{a(i)}", "∑_i ∑_j G_{a(i), a'(j)} 𝕀[i ≠ j]", "∑_{i=1}^{3} i T^i", "∏_{i=1}^{2} (u + i)",
    "∑_{i=3}^{2} T", "∏_{i=3}^{2} u", "∑_{a} T ⊙ S + u", "u ⊙ ∑_{b} T ⊙ S", "π + e + 0 ε", "x² T", "n T^n",
    "P = T + 1\nQ = P ⊙_{b} S\nQ / n", "f(t) = t^2 + u\nf(T) f(S)", "f(t; w) = t w\nf(T; u) + f(S; 2)",
    "s ★_{ax} t = ∑_{ax} (s − t)^2\nT ★_{b} S", "f : ℝ → ℝ\nf(t) = { t if t > 0; exp(t) − 1 otherwise }\nf(T)",
    "center_{ax} : ℝ^{ax} → ℝ^{ax}\ncenter_{ax}(t) = t − (1/|ax|) ∑_{ax} t\ncenter_{a, c}(T) + center_{b} T",
    "f^l(t) = w^l t\nw^1 = 3\nw^2 = u\nf^1(T) + f^2(T)", "g_m(t) = t^m + m\ng_2(T) − g_3(S)",
    "f(t) = r + t\nr = t^2 + q\nq = 2 t\nf(u)", "r = 7\nf(t) = r + t\nf(u) + r", "X^0 = T\nX^l = X^{l-1} / 2 + l for l = 1, …, n\nX^n",
    "X^0 = u\nX^1 = 2 X^0\n⋮\nX^L = 2 X^{L-1}\nX^3",
    "D ∈ ℝ^{a × b × c}\nD_{a(i), b(j)} = T_{a(i), b(|b| − j + 1)} + i / j", "D_{a(i)} = G_{a(i), a'(i)}",
    "D ∈ ℝ^{d[4] × c}\nD_{d(2k+1)} = k + u for k = 0, …, 1\nD_{d(2k+2)} = −k for k = 0, …, 1",
    "D ∈ ℝ^{a × d}\n|d| = |a| + 1\nD_{a(i), d(j)} = { 1 if i < j; -∞ otherwise }\nD + T",
    "f : ℝ^{b[m]} → ℝ^{b[m-1]}\nf(t) = D\nD_{b(i)} = t_{b(i+1)} − t_{b(i)}\nf(T)",
    "f : ℝ^{b[m]} → ℝ\nf(t) = m ∑_{b} t\nf(T) + f(G_{a→b})", "B = T ⊙_{b} S = S ⊙_{b} T ∈ ℝ^{a × c}\nB",
    "T ∈ ℝ^{b × c}\n∑_{b} T", "T ∈ ℝ^{b × c}\nS ∈ ℝ^{b × c}\nsoftmax_{b} T ⊙_{b} S",
    ATTENTION + "Attention(T_{b→key, c→seq}, S_{b→key, c→seq}, S_{b→val, c→seq})",
    ATTENTION + "Attention(T_{b→key, a→seq}, S_{b→key, c→seq}, S_{b→val, c→seq, a→key})",
    SELF_ATTENTION + "SelfAtt^1(T_{b→seq, (a,c)→chans})", SELF_ATTENTION + "SelfAtt^2(SelfAtt^1(Z0))",
    r"\nfun{\name{a}}{softmax} \frac{T \ndot{\name{b}} S}{\sqrt{|\name{b}|}}",
]  # fmt: skip


def drawn(axes: dict, seed: int, low=-2.0, high=2.0) -> Tensor:
    numbers = random.Random(seed)
    return Tensor(axes, lambda record: round(numbers.uniform(low, high), 3))


VALUES = {
    "T": drawn({"a": 2, "b": 3, "c": 4}, 1), "S": drawn({"a": 2, "b": 3, "c": 4}, 2), "u": drawn({"c": 4}, 3, 0.1, 2),
    "v": drawn({"d": 2}, 4), "G": drawn({"a": 3, "a'": 3}, 5), "J": tensor([2, 1, 2], "pick"),
    "K": tensor([2, 1, 1, 2], "a"), "n": 2, "x": 1.5,
    "W^{1,Q}": drawn({"heads": 2, "key": 4, "chans": 8}, 6), "W^{1,V}": drawn({"heads": 2, "val": 4, "chans": 8}, 7),
    "W^{2,Q}": drawn({"heads": 2, "key": 4, "chans": 8}, 8), "W^{2,V}": drawn({"heads": 2, "val": 4, "chans": 8}, 9),
    "Z0": drawn({"seq": 3, "chans": 8, "t": 2}, 10),
}  # fmt: skip
SIZES = {"k": 2, "vocab": 3, "n": 2, "L": 3}


def used(formula: str) -> dict:
    """The values whose names a formula uses and does not give itself."""
    result = {}
    tree = parse(formula)
    names = {node.text for node in walk(tree) if isinstance(node, nodes.Name)}
    for name, value in VALUES.items():
        if name in names or ("^" in name and "SelfAtt" in formula):
            result[name] = value
    return result


def as_array(value):
    """The same tensor, or number, as the arrays have it."""
    import namedtensor as nt

    return nt.tensor(value.to_list(tuple(value.shape)), tuple(value.shape)) if isinstance(value, Tensor) else value


def as_lists(value, axes: tuple):
    return value.to_array(axes).tolist() if axes else float(value)


def agree(actual, expected: Tensor) -> None:
    """That arrays gave what the reference gave: the same axes and sizes, and close numbers."""
    axes = tuple(expected.shape)
    assert sorted(getattr(actual, "axes", ())) == sorted(axes)
    assert near(as_lists(actual, axes), expected.to_list(axes), scale_of(expected)), (actual, expected)


def scale_of(expected: Tensor) -> float:
    return max((abs(x) for x in expected.entries.values() if abs(x) < math.inf), default=0.0)


def near(left, right, scale: float) -> bool:
    if isinstance(right, list):
        return len(left) == len(right) and all(near(x, y, scale) for x, y in zip(left, right))
    return left == right or (left != left and right != right) or abs(left - right) <= 1e-9 * (scale + 1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_arrays_agree_with_the_reference(formula):
    import namedtensor as nt

    values = used(formula)
    words = re.findall(r"\w+", formula)
    sizes = {name: size for name, size in SIZES.items() if name not in values and name in words}
    expected = reference.evaluate(formula, values, sizes=sizes)
    agree(nt.evaluate(formula, {name: as_array(value) for name, value in values.items()}, sizes=sizes), expected)


def test_inputs_may_be_called_as_the_steps_of_a_plan_are():
    import namedtensor as nt

    formula, values = "exp(t1 ⊙ t2) + t1 / c1", {"t1": 2.0, "t2": 0.5, "c1": 4.0}
    assert float(nt.evaluate(formula, values)) == pytest.approx(math.e + 0.5)


def test_the_table_uses_every_built_in():
    called = {node.operator for formula in FORMULAS for node in walk(parse(formula)) if isinstance(node, nodes.Call)}
    assert FUNCTIONS - called == set()


def test_the_table_uses_every_kind_of_node():
    kinds = {type(node) for formula in FORMULAS for node in walk(parse(formula))}
    written = {kind for kind in vars(nodes).values() if isinstance(kind, type) and kind.__module__ == nodes.__name__}
    assert {kind.__name__ for kind in written - kinds} == {
        "Differential", "Derivative",
        "Imports",  # read before the reference evaluates
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------- what is refused
WRONG = [
    # formula, kind of error
    ("A +", "syntax"), ("A ) x", "syntax"), ("(A", "syntax"),
    ("A + z", "name"), ("sofmax_{height} A", "name"), ("A / |depth|", "name"), ("B = A\nB = x\nB", "name"),
    ("B = C\nC = B\nB", "name"), ("f(t) = f(t)\nf(x)", "name"), ("X^l = X^l for l = 1, …, 2\nX^2", "name"), ("A ★ x", "name"),
    ("∑_{key} A", "shape"), ("A ⊙_{width} x", "shape"), ("A + [1, 2]_{height}", "shape"), ("A_{depth→d}", "shape"),
    ("A_{height→width}", "shape"), ("A_{height→r, width→r}", "shape"), ("A_{(height,width)→l} + A_{height→l}", "shape"),
    ("x_{height→(a,b)}", "shape"), ("[1, 2, 3]_{c}_{c→(a,b)}", "shape"), ("softmax A", "shape"),
    ("exp_{height} A", "shape"), ("index_{height}(A)", "shape"), ("unroll_{height,width} A", "shape"),
    ("cumsum_{height, width} A", "shape"), ("A_{height([1, 2]_{width})}", "shape"), ("I_{height,height}", "shape"),
    ("f : ℝ^{height} → ℝ\nf(t) = 2 t\nf(x)", "shape"), ("f : ℝ^{a} → ℝ\nf(t) = ∑_{a} t\nf(x)", "shape"),
    ("f : ℝ^{height} → ℝ^{width}\nf(t) = t_{height→width}\nf(A)", "shape"), ("f(s, t) = s t\nf(x)", "shape"),
    ("A ∈ ℝ^{height[4] × width}\nA + 1", "shape"), ("|height| = 4\nA ∈ ℝ^{height × width}\nA", "shape"),
    ("B = ∑_{height} A ∈ ℝ^{height}\nB", "shape"), ("D ∈ ℝ^{d}\nD_{d(i)} = i", "shape"), ("A + (A > 1)", "shape"),
    ("{ A if x; 1 otherwise }", "shape"), ("|d| = |height|/2\nD ∈ ℝ^{d}\nD_{d(i)} = i + A", "shape"),
    ("A_{height(4)}", "value"), ("A_{height(0)}", "value"), ("A_{height(1.5)}", "value"), ("B = x = 2x\nB", "value"),
    ("{ A if A > 5 }", "value"), ("D ∈ ℝ^{d[3]}\nD_{d(2k+1)} = k for k = 0, …, 1", "value"),
    ("x ∈ {0, 1}^{height}\nx", "value"), ("∂x", "value"),
]  # fmt: skip


@pytest.mark.parametrize("formula, kind", WRONG)
def test_wrong_formulas_are_refused(formula, kind):
    values = {"A": A, "x": X}
    with pytest.raises(NotationError) as caught:
        reference.evaluate(formula, values)
    assert caught.value.kind == kind, str(caught.value)


@pytest.mark.parametrize("formula, kind", WRONG)
def test_the_arrays_refuse_them_for_the_same_reason(formula, kind):
    import namedtensor as nt

    with pytest.raises(NotationError) as caught:
        nt.evaluate(formula, {"A": as_array(A), "x": as_array(X)})
    assert caught.value.kind == kind, str(caught.value)


ALIKE = {  # by the number of the error
    101: (
        "|height| = k^2\nones_{p[k]}",
    ),
    105: (
        "f(t) = t", "x ∈ ℝ^{height}", "y ≈ ∂x", "size()",
    ),
    112: (
        "(A + 1)_{2}",
    ),
    201: (
        "∂(x ⊙ x)/∂q*", "h^1(t) = t\nh^2(x)", "h_{1,2}(t) = t\nh_3(x)", "g_{ax}^Q(t) = ∑_{ax} t\ng_{width}(A)",
        "g_{ax}^Q(t) = ∑_{ax} t\ng_{width}^K(A)", "g_{ax}(t) = ∑_{ax} t\ng(A)", "g_{ax}(t) = ∑_{ax} t\ng_{2}(A)",
        "g_{ax,bx}(t) = ∑_{ax,bx} t\ng_{height,2}(A)", "f^{l,l}(t) = l t\nf^{1,2}(x)", "𝔼_{z ∼ Foo(0, 1)}[z]",
        "A_{1,2}", "(A + 1)^{1,2}", "{ q if x > 1; 0 otherwise }", "k = 4\nf^l(t) = l t\nf^k(x)", "I_{a,b,c}",
        "I_{height}", "iota_{height,width}", "norm_{height}(x; q)", "f^n(t) = t_{a_n}\nf^1(x)",
    ),
    203: (
        "X^l = X^{l-1} for l = 1, …, 3\nX^0 = X^3\nX^2",
    ),
    204: (
        "size(x)", "size(depth)",
    ),
    205: (
        "height = x\n|height|",
    ),
    206: (
        "f(t; w) = w t\nw ∈ ℝ^{height}\nf(x)",
    ),
    301: (
        "∑_{2} x", "x_{q(1:2)}", "∑_i x_{width(i)}", "max_{q} [1, 2]_{q}_{q→r}",
    ),
    302: (
        "I_{a,b}\n|a| = 2\n|b| = 3", "∑_i A_{height(i)} ⊙ [1, 2]_{q}_{q(i)}",
        "f : ℝ^{height} → ℝ\nf(t; w) = (∑_{height} t) w\nw ∈ ℝ\nf(A; [1, 2]_{width})",
    ),
    303: (
        "∂(x_{height→height*})/∂x*", "B ∈ ℝ^{a × a}\nB = A\nB", "A_{height(1), height(2)}", "A_{height→a, height→b}",
        "ones_{height,height}", "∑_{height,height} A",
    ),
    304: (
        "f : ℝ × ℝ → ℝ\nf(t) = t\nf(x)", "𝔼_{z ∼ N(0)}[z]", "softmax_{height}(x; 3)", "norm_{height}(x; 1, 2)",
        "norm_{height}(x; x)", "size(height, width)", "f(t; w) = w t\nf(x; 3, 4)",
    ),
    306: (
        "D ∈ ℝ^{height}\nD_{height(i)} = x\nD",
        "H_{height(t)} = h^t for t = 1, …, 3\nh^0 = x\nh^t = 2 h^{t-1} for t = 1, …, 3\nH", "[x, 1]_{height}",
        "f : ℝ^{height} → ℝ^{r}\nf(t; w) = [1, 2]_{r} (∑_{height} t) w\nw ∈ ℝ\nf(x; [1, 2]_{r})",
    ),
    307: (
        "x + 0 = A", "x ≈ A", "B = x ∈ ℝ^{width}\nB",
    ),
    308: (
        "|k| = 9\nmaxk_{height,k} x", "det_{a,b}([1, 2, 3; 4, 5, 6]_{a,b})", "B = x ∈ ℝ^{height[5]}\nB",
        "f : ℝ^{height[4]} → ℝ^{height}\nf(t) = t\nf(x)",
        "f(t; w) = w t\nw ∈ ℝ^{q[5]}\nf(x; [1, 2]_{q})",
        "f : ℝ^{height[n]} × ℝ^{width[n]} → ℝ\nf(t, s) = ∑_{height} t + ∑_{width} s\nf(x, [1, 2]_{width})",
    ),
    309: (
        "max_{i ∈ [k]} i", "∑_{j ≠ 2} j", "I_{a,b}", "D_{p(2k)} = 1 for k = 1, …, 2\nD", "𝔼_{z ∼ N(0, 1)^{q}}[z]",
        "H ∈ ℝ^{seq}\nH_{seq(t)} = h^t\nh^0 = 1\nh^t = 2 h^{t-1} for t = 1, …, 4\nH",
        "D ∈ ℝ^{seq[n]}\nD_{seq(i)} = 1\n∑_{seq} ones_{seq}", "|p|^2 = |height|\n∑_{p} ones_{p} x",
        "0 |p| = |height|\n∑_{p} ones_{p} x", "|height| / 0 = |p|\n∑_{p} ones_{p} x",
        "|height| / |p| = 0\n∑_{p} ones_{p} x", "exp(|p|) = |height|\n∑_{p} ones_{p} x",
        "|p|^2 + |p| = |height|\n∑_{p} ones_{p} x", "max(|p|, 2) = |height|\n∑_{p} ones_{p} x",
    ),
    310: (
        "|k| = 9\nunroll_{height,k} x", "|k| = 2\npool_{height,k} x",
        "D ∈ ℝ^{p[|height|/2]}\nD_{p(i)} = i ∑_{height} x\nD",
    ),
    312: (
        "stack_{q}(A, A)_{(height,q)→width}", "|a| = 1\nA_{height→(width,a)}",
    ),
    313: (
        "|a| = 3\n[1, 2, 3, 4]_{c}_{c→(a,b)}", "|a| = 2\n|b| = 3\nx_{height→(a,b)}",
    ),
    316: (
        "C = x\nC_{height([1, 2; 2, 3]_{p,q})} ← 1\nC",
        "f_{ax} : ℝ^{ax} → ℝ\nf_{ax}(t) = t_{ax(1)}\nf_{height,width}(A)",
        "f_{ax} : ℝ^{ax} → ℝ\nf_{ax}(t) = ∑_i t_{ax(i)}\nf_{height,width}(A)",
        "f_{ax} : ℝ^{ax} → ℝ\nf_{ax}(t) = ∑_{ax} t_{ax(1:2)}\nf_{height,width}(A)",
        "f_{ax} : ℝ^{ax} → ℝ^{ax}\nf_{ax}(t) = D\nD ∈ ℝ^{ax}\nD_{ax(i)} = t_{ax(i)}\nf_{height,width}(A)",
        "lgamma_{height} x",
    ),
    317: (
        "x ∈ ℝ^{depth}\nx",
    ),
    401: (
        "A_{height(1), width(y)}",
        "C = A\nC_{height(4)} ← 0\nC", "A_{height(3:2)}",
    ),
    402: (
        "C = x\nC_{height(1.5)} ← 1\nC",
    ),
    403: (
        "h^0 = x\nh^t = 2 h^{t-1} for t = 1, …, 20\nh^3 = x\nh^20",
    ),
    404: (
        "𝔼_{z ∼ N(0, 1)}[z]\ndraws = 10000000", "∑_{i=1}^{2000000} i", "D_{p(k)} = k for k = 1, …, 2000000\nD",
    ),
    405: (
        "inv_{a,b}([1, 2; 2, 4]_{a,b})", "quantile_{height}(x; 2)", "|q| = 0\nquantile_{q}(iota_{q}; 0.5)", "|q| = 0\nnorm_{q} iota_{q}",
        "B = x ≈ ∂x\nB", "𝔼_{z ∼ N(0, 1)}[z]\ndraws = 0", "𝔼_{z ∼ Bernoulli(x)}[z]", "𝔼_{z ∼ Categorical(A)}[z]",
        "{ 1 if 1 > 2 }", "argmax_{i ∈ [0]} i", "max_{i ∈ ℝ} i", "lim_{h→0} x", "|q| = 0\nmean_{q} ones_{q}",
        "|q| = 0\nmax_{q} iota_{q}", "|q| = 0\nargmax_{q} iota_{q}",
    ),
    406: (
        "D_{p(k)} = 1 for k = 1, …, 2\nD_{p(k)} = 2 for k = 2, …, 3\nD",
        "D ∈ ℝ^{p[2]}\nD_{p(k+1)} = 1 for k = 0, …, 0\nD_{p(i)} = 2\nD",
        "D ∈ ℝ^{p[2] × q[2]}\nD_{p(k+0), q(j)} = 1 for k = 1, …, 2\nD_{p(i), q(k+0)} = 2 for k = 1, …, 2\nD",
    ),
}  # fmt: skip


@pytest.mark.parametrize("number, formula", [(number, formula) for number, value in ALIKE.items() for formula in value])
def test_both_roads_refuse_by_the_same_number(number, formula):
    import namedtensor as nt

    values = {"A": A, "x": X, "y": Y}
    with pytest.raises(NotationError) as by_definition:
        reference.evaluate(formula, values)
    with pytest.raises(NotationError) as by_arrays:
        nt.evaluate(formula, {name: as_array(value) for name, value in values.items()})
    assert (by_definition.value.code, by_arrays.value.code) == (number, number)


# --------------------------------------------------------------------------------------------------- without NumPy
ALONE = """
import sys
sys.modules["numpy"] = sys.modules["array_api_compat"] = None
from grammar.parser import parse
from grammar.printer import to_latex
import namedtensor as nt
import namedtensor as nt
from namedtensor import reference
text = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
assert parse(to_latex(parse(text))) == parse(text)
assert nt.check(text, Q="ℝ^{key[1]}", K="ℝ^{seq[2] × key[1]}", V="ℝ^{seq[2]}").type == "ℝ"
tensor = reference.tensor
print(reference.evaluate(text, {"Q": tensor([0], "key"), "K": tensor([[1], [2]], "seq key"), "V": tensor([1, 4], "seq")}))
"""


def test_it_runs_where_numpy_is_not_installed():
    root = Path(__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", ALONE]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, encoding="utf-8")
    assert run.stdout.strip() == "tensor(2.5, '')", run.stderr


def test_the_larger_of_more_than_two():
    x, y = [1.0, 5.0, 2.0], [3.0, 1.0]
    for text, meant in {
        "max(x, y, 2)": lambda a, b: max(a, b, 2),
        "min(x, 4, y, 2)": lambda a, b: min(a, 4, b, 2),
        "max(x, y, 2)^2": lambda a, b: max(a, b, 2) ** 2,
    }.items():
        expected = [[meant(a, b) for b in y] for a in x]
        result = nt.evaluate(text, x=nt.tensor(x, "a"), y=nt.tensor(y, "b")).tolist("a b")
        local = reference.evaluate(text, {"x": reference.tensor(x, "a"), "y": reference.tensor(y, "b")})
        assert result == local.to_list("a b") == expected


# --------------------------------------------------------------------------------------- near the end of the range
FAR = [1e308, -1e308, 1.5e308, 3.0]
AT_THE_END = {
    "gelu_tanh(x)": [1e308, 0.0, 1.5e308, 2.9963627],
    "gelu(x)": [1e308, 0.0, 1.5e308, 2.9959503],
    "mean_{a} x": 3.75e307,
    "var_{a} x": math.inf,
    "std_{a} x": 9.60143218e307,
    "standardize_{a} x": [0.65094456, -1.43207803, 1.17170021, -0.39056674],
    "logsoftmax_{a} x": [-5e307, -math.inf, 0.0, -1.5e308],
    "logsoftmax_{a} (0 x + 1e308)": [-math.log(4)] * 4,
    "logsumexp_{a} x": 1.5e308,
    "norm_{a} (x / 4)": 5.1538820e307,
    "lgamma(abs(x))": [math.inf, math.inf, math.inf, math.log(2)],
    "digamma(abs(x))": [709.19620864, 709.19620864, 709.60167375, 0.92278434],
    "x^3": [math.inf, -math.inf, math.inf, 27.0],
    "exp(x)": [math.inf, 0.0, math.inf, math.exp(3)],
    "quantile_{a}(x; 0.5)": 5e307,
}


@pytest.mark.parametrize("text", AT_THE_END)
def test_numbers_near_the_end_of_the_range(text):
    result = reference.evaluate(text, {"x": reference.tensor(FAR, "a")})
    numbers = result.to_list(("a",)) if result.shape else result({})
    assert numbers == pytest.approx(AT_THE_END[text], rel=1e-7)


@pytest.mark.parametrize("text", ["polygamma(x; 29)", "x^x", "round(x) mod 3", "∏_{a} x", "x^{-x}", "(x/x - 1)^{-3}"])
def test_no_number_ends_in_a_bare_error(text):
    with contextlib.suppress(NotationError):
        reference.evaluate(text, {"x": reference.tensor([*FAR, 5e-324, -0.5], "a")})


def test_what_plain_numbers_refuse_is_an_error_of_value(monkeypatch):
    from namedtensor.operators import REGISTRY

    monkeypatch.setitem(REGISTRY, "tanh", replace(REGISTRY["tanh"], definition=lambda x: math.exp(x)))
    with pytest.raises(NotationError, match="tanh cannot be computed of these numbers: math range error") as caught:
        reference.evaluate("tanh(x)", {"x": reference.tensor(FAR, "a")})
    assert caught.value.code == 405
