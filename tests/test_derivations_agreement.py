"""Closed forms are compared with their derivatives before they are shown: wrong rules are noticed, right forms are not refused."""

# pyright: reportPrivateUsage=false

import pickle

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.cli import main
from namedtensor.core.sizes import SizeVariable
from namedtensor.derivations import agreement, points
from namedtensor.derivations.agreement import UNCHECKED, Comparison
from namedtensor.derivations.identification import DerivativeProgram
from namedtensor.symbolic import linearizing

VECTOR = {"x": "ℝ^{a}"}
WRONG = (  # an operator, what is read as its differential, a derivative whose closed form is wrong by that
    ("max", ("argmax_{ax} X ⊙_{ax} ∂X", "𝕀[X > Y] ⊙ ∂X", "𝕀[Y > X] ⊙ ∂Y"), "max(x, relu x)", VECTOR),
    ("max", ("argmin_{ax} X ⊙_{ax} ∂X", "𝕀[X ≥ Y] ⊙ ∂X", "𝕀[Y > X] ⊙ ∂Y"), "max_{a} x", VECTOR),
    ("min", ("argmin_{ax} X ⊙_{ax} ∂X", "𝕀[X ≥ Y] ⊙ ∂X", "𝕀[Y < X] ⊙ ∂Y"), "min(x, 2 x)", VECTOR),
    ("std", ("mean_{ax}(X ⊙ ∂X) / std_{ax} X",), "std_{a} x", VECTOR),
    ("^", ("Y ⊙ X^{Y} ⊙ ∂X", "log(X) ⊙ X^Y ⊙ ∂Y"), "x^{2.5}", VECTOR),
    ("std", ("mean_{ax}(X ⊙ ∂X) / std_{ax} X",), "10^{-20} std_{a} x", VECTOR),
    ("∏", ("(∏_{ax} X) ⊙ ∑_{ax} ∂X",), "∏_{a} x", VECTOR),
    ("cumprod", ("cumprod_{ax} X ⊙ cumsum_{ax} ∂X",), "cumprod_{a} x", VECTOR),
    ("det", ("det_{row,column} X ⊙ inv_{row,column} X ⊙_{row,column} ∂X",), "det_{a,b} x", {"x": "ℝ^{a × b}"}),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("operator", "differentials", "text", "shapes"), WRONG, ids=[f"{row[0]} {row[2]}" for row in WRONG]
)
def test_the_form_of_a_wrong_rule_is_refused(monkeypatch, operator, differentials, text, shapes):
    right = nt.derivative(text, "x").closed_form(**shapes)
    assert right.note == "" and right.steps
    monkeypatch.setitem(linearizing.READ, operator, (linearizing.READ[operator][0], differentials))
    wrong = nt.derivative(text, "x").closed_form(**shapes)
    for show in (str, lambda closed: closed.to_latex(), lambda closed: closed.steps, lambda closed: closed.program):
        with pytest.raises(nt.NotationError, match="differs from the derivative where x = ") as caught:
            show(wrong)
        assert caught.value.code == 405 and "evaluate the derivative itself" in caught.value.hint


def test_powers_of_one_factor_are_taken_out_once():
    """1/τ^4 and 1/τ^3 in one sum: what is taken out of both is 1/τ^3."""
    derivative = nt.formula("∂(∂(softmax_{a}(x / τ))/∂τ*)/∂τ†")
    values = {"x": nt.tensor([0.4, -1.3, 0.7], "a"), "τ": 0.6}
    first = nt.formula("∂(softmax_{a}(x / τ))/∂τ*")
    slope = (first(values={**values, "τ": 0.6 + 1e-5}) - first(values={**values, "τ": 0.6 - 1e-5})) / 2e-5
    closed = derivative.closed_form(x="ℝ^{a}", τ="ℝ")
    assert nt.allclose(closed(values=values), slope, rtol=1e-6)


def test_a_printed_derivative_that_is_wrong_stays_as_it_is_written(monkeypatch):
    monkeypatch.setitem(linearizing.READ, "std", ("std ≠ 0", ("mean_{ax}(X ⊙ ∂X) / std_{ax} X",)))
    assert str(nt.derivative("std_{a} x", "x")) == "∂std_a(x)/∂x*"


def test_the_command_refuses_a_wrong_form(monkeypatch, capsys):
    monkeypatch.setitem(linearizing.READ, "std", ("std ≠ 0", ("mean_{ax}(X ⊙ ∂X) / std_{ax} X",)))
    assert main(["derive", "std_{a} x", "--wrt", "x", "x=ℝ^{a}"]) == 1
    assert "differs from the derivative where x = " in capsys.readouterr().err


RIGHT = (  # ties, zeros, singular points, positions, sets, facts, recurrences: forms that are right, and have been compared
    ("max(x, 2 x)", VECTOR), ("max_{a} x", VECTOR), ("min_{a} abs x", VECTOR), ("sort_{a} x", VECTOR), ("clip(x, 0, 1)", VECTOR),
    ("median_{a} x", VECTOR), ("cummax_{a} x", VECTOR), ("norm_{a} x", VECTOR), ("norm_{a}(x; ∞)", VECTOR), ("∏_{a} x", VECTOR),
    ("(max_{a} x)^2 relu(x)", VECTOR), ("log x", VECTOR), ("√(x − 1)", VECTOR), ("log(−x)", VECTOR), ("x^{1/3}", VECTOR),
    ("{ x if x > 0; 0 otherwise }", VECTOR), ("𝕀[x > 0] x", VECTOR), ("abs(x) sign x", VECTOR), ("floor(x) x", VECTOR),
    ("cholesky_{a,b} x", {"x": "ℝ^{a × b}"}), ("logdet_{a,b} x", {"x": "ℝ^{a × b}"}), ("inv_{a,b} x", {"x": "ℝ^{a × b}"}),
    ("logdet_{b,c}(x ⊙_{a} x_{b→c})", {"x": "ℝ^{a × b}"}),
    ("x_{v(w)}", {"x": "ℝ^{v × d}", "w": "ℝ^{t}"}), ("onehot_{v}(w) ⊙_{v} x", {"x": "ℝ^{v × d}", "w": "ℝ^{t}"}),
    ("w ∈ [v]^{t}\nL = x_{v(w)}", {"x": "ℝ^{v × d}"}), ("T ∈ {0, 1}^{a}\nL = ∑_{a} T ⊙ T ⊙ log x", VECTOR),
    ("x > 2\nL = log(x − 2)", VECTOR), ("1 > x\nL = √(1 − x) abs(x − 1)", VECTOR),
    ("∑_{a} T = 1\nL = −∑_{a} T ⊙ logsoftmax_{a} x", {**VECTOR, "T": "ℝ^{a}"}),
    ("S = S_{a→b, b→a}\nL = x ⊙_{a} S ⊙_{b} x_{a→b}", {**VECTOR, "S": "ℝ^{a × b}"}),
    ("Q ⊙_{n} Q_{m→k} = I_{m,k}\nL = ∑_{n} (Q ⊙_{m} x)^2", {"x": "ℝ^{m}", "Q": "ℝ^{n × m}"}),
    ("P ⊙_{b} P_{a→b, b→c} = P_{b→c}\nL = (P ⊙_{b} P_{a→b, b→c}) ⊙_{a} x", {**VECTOR, "P": "ℝ^{a × b}"}),
    ("norm_{a} w = 1\nL = x ⊙ (w ⊙_{a} w)", {**VECTOR, "w": "ℝ^{a}"}),
    ("x_{(a,b)→c} ⊙_{c} w", {"x": "ℝ^{a × b}", "w": "ℝ^{c}"}), ("unroll_{s,k} x ⊙_{k} w", {"x": "ℝ^{s}", "w": "ℝ^{k}"}),
    ("h^t = tanh(x h^{t-1} + y_{time(t)}) for t = 1, …, n\nh^0 = 1\nL = h^n", {"x": "ℝ", "y": "ℝ^{time}"}),
    ("n = |time|\nh^t = x h^{t-1} + y_{time(t)} for t = 1, …, n\nh^0 = 1\nL = h^n", {"x": "ℝ", "y": "ℝ^{time}"}),
    ("s^t = x s^{t-1} + s^{t-2} for t = 2, …, 3\ns^0 = 1\ns^1 = x\ny = s^3", {"x": "ℝ"}), ("∑_{k=1}^{n} x^k", {"x": "ℝ"}),
    ("f : ℝ^{a} → ℝ\nf(x) = ∑_{a} x^3", {}),
)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "shapes"), RIGHT, ids=[row[0] for row in RIGHT])
def test_a_right_form_is_compared_and_shown(text, shapes):
    closed = nt.derivative(text, "x").closed_form(**shapes)
    assert str(closed) and closed.note == ""


def test_a_form_that_cannot_be_compared_has_a_note():
    closed = nt.derivative("x ⊙ √(−1 − exp x)", "x").closed_form(x="ℝ")
    assert str(closed) and closed.note == UNCHECKED


def test_a_form_that_equal_sizes_need_says_so():
    """The axis b of the result has the size of c, and that of a tensor another one."""
    text = "y = (W ⊙_{b} x + d)_{c→b}"
    closed = nt.derivative(text, "d").closed_form(W="ℝ^{c × b}", x="ℝ^{b}", d="ℝ^{c}")
    assert str(closed) == "D = I_{b, c*}"
    text = "y = tanh(W ⊙_{b} x + d)_{c→b}"
    closed = nt.derivative(text, "d").closed_form(W="ℝ^{c × b}", x="ℝ^{b}", d="ℝ^{c}")
    assert str(closed) and closed.note.startswith("it has a value only for equal sizes: an identity must be square")


def test_a_form_is_compared_once_and_when_it_is_shown(monkeypatch):
    calls = []
    compare = Comparison.__call__
    monkeypatch.setattr(Comparison, "__call__", lambda self: calls.append(self) or compare(self))
    closed = nt.derivative("softmax_{a} x", "x").closed_form(x="ℝ^{a}")
    assert not calls and closed.rules
    assert str(closed) == closed.to_text() and closed.to_latex() and len(calls) == 1
    assert str(pickle.loads(pickle.dumps(closed))) == str(closed)


COMPARED = (  # a derivative, a formula beside it, whether they are one; of ties, the formula has one of both slopes
    ("∂(max(x, y))/∂x", "𝕀[x ≥ y]", True), ("∂(max(x, y))/∂x", "𝕀[x > y]", True), ("∂(max(x, y))/∂x", "𝕀[x < y]", False),
    ("∂(max(x, y))/∂x", "{ 2 if x = y; 1 if x > y; 0 otherwise }", False), ("∂(abs x)/∂x", "sign x", True),
    ("∂(abs x)/∂x", "{ 1 if x ≥ 0; −1 otherwise }", True), ("∂(abs x)/∂x", "{ 3 if x = 0; sign x otherwise }", False),
    ("∂(relu x)/∂x", "𝕀[x ≥ 0]", True), ("∂(relu x)/∂x", "{ −1 if x = 0; 𝕀[x > 0] otherwise }", False),
    ("∂(x^3)/∂x", "3 x^2", True), ("∂(x^3)/∂x", "3 abs(x)^2", True), ("∂(x^3)/∂x", "3 abs(x) x", False),
    ("∂(x^3)/∂x", "3 x^2 + 0.0001", False), ("∂(x^2)/∂x", "2 x^2 / x", True), ("∂(x^2)/∂x", "log(−1 − x^2)", False),
    ("∂(x ⊙ y)/∂x", "y + z", False),
)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("derivative", "formula", "right"), COMPARED, ids=[f"{row[0]} {row[1]}" for row in COMPARED])
def test_a_formula_is_the_derivative_or_not(derivative, formula, right):
    shapes = {name: {} for name in ("x", "y") if name in derivative}
    trees = [nt.formula(text).tree for text in (derivative, formula)]
    comparison = Comparison(DerivativeProgram(derivative, trees[0], shapes, {}, 0), trees[1])
    if right:
        assert comparison() == ""
    else:
        with pytest.raises(nt.NotationError) as caught:
            comparison()
        assert caught.value.code == 405


FACTS = (  # equations that inputs are to satisfy, and inputs
    ("∑_{c} T = 1", {"T": "c"}), ("S = S_{a→b, b→a}", {"S": "a b"}), ("Q ⊙_{n} Q_{m→k} = I_{m,k}", {"Q": "n m"}),
    ("P ⊙_{b} P_{a→b, b→c} = P_{b→c}", {"P": "a b"}), ("norm_{a} w = 1", {"w": "a"}), ("T ⊙ T = T", {"T": "a"}),
    ("S ⊙_{b} V_{a→c} = I_{a,c}", {"S": "a b", "V": "b a"}), ("∑_{n} X = 0\nS = S_{a→b, b→a}", {"X": "n a", "S": "a b"}),
    ("x ⊙ y = 1", {"x": "a", "y": "a"}), ("x ⊙_{a} y = 1\nx ⊙_{a} x = 2", {"x": "a", "y": "a"}),
)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("facts", "inputs"), FACTS, ids=[row[0] for row in FACTS])
def test_random_inputs_satisfy_the_facts(facts, inputs):
    used = " + ".join(f"0 ∑_{{{axes.replace(' ', ',')}}} {name}" for name, axes in inputs.items())
    tree = nt.formula(f"{facts}\n{used}").tree
    shapes = {name: {axis: SizeVariable(f"|{axis}|") for axis in axes.split()} for name, axes in inputs.items()}
    drawn = [
        values
        for draws in points.input_draws(DerivativeProgram("", tree, shapes, {}, 0))
        for _, values in draws.points()
    ]
    assert len(drawn) >= 4
    for values in drawn:
        nt.evaluate(f"{facts}\n0", values)
    assert any(np.std(values[name].to_numpy(axes)) > 0.1 for values in drawn for name, axes in inputs.items())


def test_sizes_are_unequal_where_the_inputs_are_small():
    tree = nt.formula("A ⊙_{b} B").tree
    shapes = {name: {axis: SizeVariable(f"|{axis}|") for axis in axes} for name, axes in (("A", "ab"), ("B", "bc"))}
    first, *_ = points.input_draws(DerivativeProgram("A ⊙_{b} B", tree, shapes, {}, 0))
    assert first.sampler.shapes == {"A": {"a": 2, "b": 3}, "B": {"b": 3, "c": 4}}
    assert agreement.POINTS >= 3
