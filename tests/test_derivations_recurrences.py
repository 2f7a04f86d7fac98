"""The derivative of a recurrence: an adjoint that goes back and a sum over the steps, right for any number of steps."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import re

import numpy as np
import pytest
from program_lengths import program_length

import namedtensor as nt
from grammar.errors import NotationError
from grammar.nodes import Equation
from grammar.parser import parse
from namedtensor.derivations.differences import differences, distance
from transformer import paper

EXTENTS = {"h": 3, "g": 3, "i": 2, "o": 2, "a": 3, "b": 3}
RNN = "h^t = tanh([h^{t-1} ⊙_{h} U]_{g→h} + x_{time(t)} ⊙_{i} W + b) for t = 1, …, n\nh^0 = s\n"
OF_RNN = {"s": "h", "U": "h g", "W": "i h", "x": "time i", "b": "h"}
GRU = """
z^t = σ(x_{time(t)} ⊙_{i} W^z + [h^{t-1} ⊙_{h} U^z]_{g→h}) for t = 1, …, n
r^t = σ(x_{time(t)} ⊙_{i} W^r + [h^{t-1} ⊙_{h} U^r]_{g→h}) for t = 1, …, n
m^t = tanh(x_{time(t)} ⊙_{i} W^m + [(r^t ⊙ h^{t-1}) ⊙_{h} U^m]_{g→h}) for t = 1, …, n
h^t = z^t ⊙ h^{t-1} + (1 − z^t) ⊙ m^t for t = 1, …, n
h^0 = s
L = norm_{h}(h^n)
"""
OF_GRU = {"s": "h", "x": "time i", **{f"U^{gate}": "h g" for gate in "zrm"}, **{f"W^{gate}": "i h" for gate in "zrm"}}
LSTM = """
f^t = σ(x_{time(t)} ⊙_{i} W^f + [h^{t-1} ⊙_{h} U]_{g→h}) for t = 1, …, n
c^t = f^t ⊙ c^{t-1} + (1 − f^t) ⊙ tanh(x_{time(t)} ⊙_{i} W^c) for t = 1, …, n
h^t = tanh(c^t) for t = 1, …, n
h^0 = s
c^0 = s
L = ∑_{h} (h^n ⊙ c^n)
"""
OF_LSTM = {"s": "h", "x": "time i", "U": "h g", "W^f": "i h", "W^c": "i h"}
FIBONACCI = "s^t = r s^{t-1} + s^{t-2} for t = 2, …, n\ns^0 = 1\ns^1 = r\ny = s^n"
POWERS = "h^t = w h^{t-1} for t = 1, …, n\nh^0 = w\n"
CELLS = "h^t = tanh(h^{t-1} ⊙ w) for t = 1, …, n\nh^0 = b\ny = h^n ⊙_{a} w\n"
OF_CELLS = {"w": "a", "b": "a"}
CASES = (
    # a program, the shapes of its inputs, what the derivative is by
    (RNN + "L = ∑_{h} (h^n)^2", OF_RNN, "U W b s x"),
    (RNN + "L = ∑_{t=1}^{n} norm_{h}(h^t − y_{time(t)})^2", {**OF_RNN, "y": "time h"}, "U W s y"),
    (RNN + "q^t = h^t ⊙_{h} V for t = 1, …, n\nL = ∑_{t=1}^{n} logsumexp_{o}(q^t)", {**OF_RNN, "V": "h o"}, "U V"),
    (RNN + "L = log(∑_{t=1}^{n} ∑_{h} (h^t)^2) + ∑_{h} h^n ⊙ b", OF_RNN, "U b"),
    (RNN + "y = h^n", OF_RNN, "U s"),
    (GRU, OF_GRU, "U^z U^r W^m s"),
    (LSTM, OF_LSTM, "U W^f s"),
    ("s^t = r s^{t-1} + 1 for t = 1, …, n\ns^0 = 1\ny = s^n", {"r": ""}, "r"),
    ("∑_{k=1}^{n} r^k", {"r": ""}, "r"),
    ("∑_{k=0}^{n} r^k / (k + 1)", {"r": ""}, "r"),
    ("s^t = r s^{t-1} for t = 1, …, n\ns^0 = r\ny = ∑_{t=1}^{n} s^t", {"r": ""}, "r"),
    ("s^k = x ⊙ s^{k-1} + w for k = 2, …, n + 1\ns^1 = w\ny = ∑_{a} s^{n+1}", {"x": "a", "w": "a"}, "x w"),
    ("h^t = tanh(u h^{t-1} + x_{time(t)}) for t = 1, …, n\nh^0 = 0\nL = ∑_{i} h^n", {"u": "", "x": "time i"}, "u x"),
    ("s^t = tanh(r s^{t+1} + x_{time(t)}) for t = n, …, 1\ns^{n+1} = r\ny = s^1", {"r": "", "x": "time i"}, "r x"),
    ("s^t = w ⊙ s^{t-1} for t = 4, …, n + 4\ns^3 = w\ny = ∑_{t=4}^{n+4} s^t", {"w": "a"}, "w"),
    ("p^t = p^{t-1} / 2 for t = 1, …, n\np^0 = 1\nh^t = tanh(p^t w h^{t-1}) for t = 1, …, n\nh^0 = w\ny = h^n", {"w": ""}, "w"),
    # equal sums
    ("∑_{k=1}^{n} r^k + ∑_{k=1}^{n} r^k", {"r": ""}, "r"),
    ("log(∑_{k=1}^{n} r^k) + ∑_{k=1}^{n} r^k", {"r": ""}, "r"),
    (POWERS + "y = ∑_{t=1}^{n} h^t + 2 ∑_{t=1}^{n} h^t", {"w": ""}, "w"),
    # families of one name with two scripts, sums of what does not depend on the variable
    ("h_a^t = w h_a^{t-1} for t = 1, …, n\nh_a^0 = w\nh_b^t = 2 h_b^{t-1} + h_a^t for t = 1, …, n\nh_b^0 = w\ny = h_b^n", {"w": ""}, "w"),
    ("h^t = w ⊙ h^{t-1} for t = 1, …, n\nh^0 = b\nf(x) = ∑_{a} x^3\nL = f(h^n)", {"w": "a", "b": "a"}, "w b"),
    # states without effect, labels, an index that is turned round, sums within steps
    (POWERS + "y = w^2 + 0 h^n", {"w": ""}, "w"),
    (POWERS + "S = ∑_{t=1}^{n} h^t\ny = h^n + 0 S", {"w": ""}, "w"),
    ("h_a^t = w h_a^{t-1} for t = 1, …, n\nh_a^0 = w\ny = h_a^n", {"w": ""}, "w"),
    ("h^t = w h^{-1+t} for t = 1, …, n\nh^0 = w\ny = h^n", {"w": ""}, "w"),
    ("h^0 = w\nh^t = x ⊙ h^{t-1} for t = 1, …, n\ny = h^n", {"w": "", "x": "a"}, "w x"),
    ("y = ∑_{k=1}^{n} ∑_{a} x^k", {"x": "a b"}, "x"),
    ("h^t = w h^{t-1} + ∑_{k=1}^{2} k w + ∑_{k=1}^{3} k w for t = 1, …, n\nh^0 = w\ny = h^n", {"w": ""}, "w"),
    ("h^t = w h^{t-1} + ∑_{t=1}^{2} t w for t = 1, …, n\nh^0 = w\ny = h^n", {"w": ""}, "w"),
)  # fmt: skip

ADJOINT = [
    "a^n = 2 h^n",
    "a^t = a^{t+1}_{h→g} ⊙ (1 - h^{t+1}_{h→g}^2) ⊙_{g} U for t = n - 1, …, 0",
    "D = ∑_{t=1}^{n} (a^t ⊙ (1 - (h^t)^2) ⊙ x_{time(t)})^*",
]


ORDERS = (
    (POWERS + "y = h^n\n∂(∂y/∂w)/∂w", {"w": ""}),
    (FIBONACCI + "\n∂(∂y/∂r)/∂r", {"r": ""}),
    (FIBONACCI + "\n∂(∂(∂y/∂r)/∂r)/∂r", {"r": ""}),
    ("∂(∂(∑_{k=1}^{n} r^k)/∂r)/∂r", {"r": ""}),
    ("∂(∂(∂(∑_{k=1}^{n} r^k)/∂r)/∂r)/∂r", {"r": ""}),
    (CELLS + "∂(∂y/∂w*)/∂w†", OF_CELLS),
    (CELLS + "∂(∂y/∂w*)/∂b†", OF_CELLS),
    (CELLS + "∂(∂y/∂b*)/∂b†", OF_CELLS),
    (RNN + "L = ∑_{h} (h^n)^2\n∂(∂L/∂b*)/∂b†", OF_RNN),
)


def drawn(shapes, steps: int):
    generator = np.random.default_rng(steps)
    extents = {**EXTENTS, "time": steps}
    return {
        name: nt.tensor(generator.normal(size=[extents[axis] for axis in axes.split()]), axes)
        if axes
        else float(generator.uniform(0.3, 0.9))
        for name, axes in shapes.items()
    }


def written(shapes) -> dict[str, str]:
    return {name: f"ℝ^{{{' × '.join(axes.split())}}}" if axes else "ℝ" for name, axes in shapes.items()}


def closed_form(text: str, by: str, shapes):
    return nt.derivative(text, by).closed_form(**written(shapes))


def holds_for(text: str, by: str, shapes, numbers):
    """A closed form whose values and steps are right for these numbers of steps, and that is read back."""
    derivative = nt.derivative(text, by)
    closed = derivative.closed_form(**written(shapes))
    for spelled in (closed.to_text(ascii=True), closed.to_latex(), closed.to_latex(macros=True)):
        assert parse(spelled) == closed.expression.tree, spelled
    assert [step.rule for step in closed.steps][-1] == "identification"
    assert "identification" in closed.to_latex(steps=True, macros=True)
    closed.check(drawn(shapes, 3), sizes={"n": 3})
    for steps in numbers:
        values = drawn(shapes, steps)
        expected = derivative(values=values, sizes={"n": steps})
        result = nt.evaluate(closed.to_text(), values, sizes={"n": steps})
        assert set(result.axes) == set(expected.axes) and nt.allclose(result, expected, rtol=1e-6, atol=1e-9), str(
            closed
        )


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize(("text", "shapes", "names"), CASES, ids=[case[0].strip().splitlines()[-1] for case in CASES])
def test_a_recurrence_is_right_for_any_number_of_steps(text, shapes, names):
    for by in names.split():
        holds_for(text, by, shapes, (1, 2, 5))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "shapes"), ORDERS, ids=[case[0].split("\n", 1)[-1] for case in ORDERS])
def test_write_out_the_members_for_higher_orders(text, shapes):
    formula, values = nt.formula(text), drawn(shapes, 3)
    closed = formula.closed_form(sizes={"n": 3}, **written(shapes))
    used = {name: value for name, value in values.items() if re.search(rf"\b{name}(\b|_)", str(closed))}
    result = closed(values=used, sizes={"n": 3} if re.search(r"\bn\b", str(closed)) else None)
    assert nt.allclose(result, formula(values=values, sizes={"n": 3}), rtol=1e-6, atol=1e-9)


def test_how_it_reads():
    result = closed_form(RNN + "L = ∑_{h} (h^n)^2", "W", OF_RNN)
    assert str(result).splitlines()[2:] == ADJOINT


def test_steps_go_back_from_the_end():
    result = closed_form(RNN + "L = ∑_{h} (h^n)^2", "W", OF_RNN)
    chain, over = ADJOINT[1].split(" for ")
    assert [(step.rule, step.equation) for step in result.steps] == [
        ("end", f"{ADJOINT[0]} = ∂L/∂h^n"),
        ("chain", f"{chain} = ∂L/∂h^t for {over}"),
        ("identification", f"{ADJOINT[2]} = ∂L/∂W*"),
    ]
    latex = result.to_latex(steps=True)
    assert r"a^t &\overset{\text{chain}}{=} a^{t+1}" in latex and r"= \frac{\partial L}{\partial h^t}" in latex
    assert r"t = n - 1, \ldots, 0" in latex


STEPS = (
    # a program, by what, what one step says, and that with a mistake
    (RNN + "L = ∑_{h} (h^n)^2", "W", OF_RNN, "a^n = 2", "a^n = 3"),
    (RNN + "L = ∑_{h} (h^n)^2", "W", OF_RNN, "a^t = a", "a^t = −a"),
    (RNN + "L = ∑_{h} (h^n)^2", "W", OF_RNN, "D = ∑", "D = 2 ∑"),
    (RNN + "L = ∑_{t=1}^{n} norm_{h}(h^t − y_{time(t)})^2", "U", {**OF_RNN, "y": "time h"}, "a^t = 2", "a^t = 3"),
    (RNN + "L = ∑_{t=1}^{n} norm_{h}(h^t − y_{time(t)})^2", "s", {**OF_RNN, "y": "time h"}, "a^0 = a", "a^0 = −a"),
    (LSTM, "U", OF_LSTM, "b^t = a^t", "b^t = 2 a^t"),
    (LSTM, "U", OF_LSTM, "b^{t+1} ⊙ f^{t+1} = ", "b^{t+1} ⊙ f^t = "),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "by", "shapes", "right", "wrong"), STEPS, ids=[case[-1] for case in STEPS])
def test_a_step_that_is_wrong_is_found(text, by, shapes, right, wrong):
    """Each step is a claim, those of all t as well."""
    derivation = closed_form(text, by, shapes).derivation.to_text()
    assert right in derivation
    with pytest.raises(NotationError, match="assertion failed"):
        nt.evaluate(derivation.replace(right, wrong), drawn(shapes, 3), sizes={"n": 3})


@pytest.mark.slow
def test_the_network_of_the_paper():
    text = f"{paper.RNN.notation}\nL = ∑_{{hidden}} Y^2"
    generator = np.random.default_rng(0)
    shapes = {"X": "seq input", "W^h": "hidden hidden'", "W^i": "input hidden'", "b": "hidden'", "h^0": "hidden"}
    extents = {"seq": 4, "input": 2, "hidden": 3, "hidden'": 3}
    values = {
        name: nt.tensor(generator.normal(size=[extents[axis] for axis in axes.split()]), axes)
        for name, axes in shapes.items()
    }
    for by in shapes:
        closed = nt.derivative(text, by).closed_form(X="ℝ^{seq × input}")
        assert by == "h^0" or "for t = n - 1, …, 0" in str(closed)
        assert nt.allclose(nt.evaluate(closed.to_text(), values), nt.derivative(text, by)(values=values))


OTHER_KINDS = (
    # recurrences without an adjoint
    ("q^t = w t for t = 1, …, n\nh^t = q^t h^{t-1} for t = 1, …, n\nh^0 = w\ny = h^n", {"w": ""}, "w"),
    (POWERS + "g = ∂(w^2)/∂w*\ny = g h^n", {"w": ""}, "w"),
    ("E^{i,j} = w i + j for i = 1, …, n for j = 1, …, n\ny = E^{1,2} w", {"w": ""}, "w"),
    ("h^t = w h^{t-1} + ∑_{k=1}^{t} k w for t = 1, …, n\nh^0 = w\ny = h^n", {"w": ""}, "w"),
    ("h^t = h^{t-1} + ∑_{k=1}^{n} w^k for t = 1, …, n\nh^0 = w\ny = h^n", {"w": ""}, "w"),
    ("h^t = W^{2t} h^{t-1} for t = 1, …, n\nh^0 = 1\ny = h^n", {"W^2": "", "W^4": "", "W^6": ""}, "W^2"),
    ("h^t = W_t^t h^{t-1} for t = 1, …, n\nh^0 = 1\ny = h^n", {"W_1^1": "", "W_2^2": "", "W_3^3": ""}, "W_2^2"),
    ("y = ∑_{k=1}^{n^2} w^k", {"w": ""}, "w"),
    # several previous steps, parts of ranges, selected members, several sums
    (FIBONACCI.partition("y")[0] + "y = ∑_{k=1}^{n} s^k + ∑_{k=1}^{n} s^k", {"r": ""}, "r"),
    (POWERS + "y = ∑_{k=1}^{n} 2 h^n", {"w": ""}, "w"),
    (FIBONACCI, {"r": ""}, "r"),
    ("s^t = r s^{t-1} + s^{t-2} for t = 2, …, n\ny = s^n", {"r": "", "s^0": "", "s^1": ""}, "r s^0 s^1"),
    ("s^t = r s^{t-1} + s^{t-3} for t = 3, …, n + 2\ns^0 = r\ns^1 = 1\ns^2 = r^2\ny = ∑_{t=0}^{n+2} s^t", {"r": ""}, "r"),
    (POWERS + "y = h^1 ⊙ h^n", {"w": ""}, "w"),
    (POWERS + "y = ∑_{t=2}^{n} (h^t)^2", {"w": ""}, "w"),
    (POWERS + "y = log(∑_{t=0}^{n-1} h^t ⊙ h^{t+1})", {"w": ""}, "w"),
    (RNN + "L = ∑_{t=0}^{n} ∑_{h} (h^t)^2", OF_RNN, "b s"),
    (POWERS + "y = h^1 ⊙ h^n", {"w": ""}, "h^0"),
    ("h^t = r h^{t-1} + ∑_{k=0}^{t-1} h^k for t = 1, …, n\nh^0 = r\ny = h^n", {"r": ""}, "r"),
    ("∑_{k=1}^{n} ∑_{j=1}^{k} r^j", {"r": ""}, "r"),
    ("∏_{k=1}^{n} (r + k)", {"r": ""}, "r"),
    (POWERS + "a^t = a^{t-1} + h^t for t = 2, …, n\na^1 = h^1\ny = a^n", {"w": ""}, "w"),
    (POWERS + "y = ∑_{t=1}^{n} h^t + ∑_{t=2}^{n} (h^t)^2", {"w": ""}, "w"),
    (POWERS + "y = ∑_{t=1}^{n} ∑_{k=1}^{n} h^t h^k", {"w": ""}, "w"),
    ("h^t = w h^{t-1} + g^{t+1} for t = 1, …, n\ng^t = w g^{t+1} for t = n, …, 1\ng^{n+1} = w\nh^0 = w\ny = h^n", {"w": ""}, "w"),
    ("h^t = x ⊙ h^{t-1} for t = 1, …, n\ny = h^n", {"h^0": "", "x": "a"}, "x h^0"),
    ("y = log(∑_{k=1}^{n} w^k) ∑_{k=2}^{n} k w", {"w": ""}, "w"),
    ("s^t = tanh(w ⊙ s^{t-1} + [s^{t-2} ⊙_{a} V]_{b→a}) for t = 2, …, n\ns^0 = w\ns^1 = tanh w\ny = norm_{a} s^n",
        {"w": "a", "V": "a b"}, "w V"),
)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "shapes", "names"), OTHER_KINDS, ids=[case[0] for case in OTHER_KINDS])
def test_write_out_a_recurrence_without_an_adjoint(text, shapes, names):
    values = drawn(shapes, 3)
    for by in names.split():
        derivative = nt.derivative(text, by)
        closed = derivative.closed_form(sizes={"n": 3}, **written(shapes))
        result = closed(values=values, sizes={"n": 3} if re.search(r"\bn\b", str(closed)) else None)
        expected = (
            differences(derivative, values, {"n": 3}) if by in shapes else derivative(values=values, sizes={"n": 3})
        )
        assert distance(result, expected) < 1e-6


def test_ask_for_the_number_of_steps_without_an_adjoint():
    with pytest.raises(NotationError, match=re.escape("pass it: sizes={'n': 3}")):
        nt.derivative(FIBONACCI, "r").closed_form(r="ℝ")


MEMBERS = (
    # by one member: of the parameters, and of the states
    ("h^t = tanh(W^t h^{t-1}) for t = 1, …, n\nh^0 = 1\ny = h^n", "W^2", {"W^1": "", "W^2": "", "W^3": ""}, "D = g^2 ⊙ (1 - (h^2)^2) ⊙ h^1"),
    ("h^t = h^{t-1} + tanh(h^{t-1} ⊙_{a} W^t)_{b→a} for t = 1, …, n\nh^0 = x\ny = norm_{a} h^n", "W^3",
        {"x": "a", "W^1": "a b", "W^2": "a b", "W^3": "a b"}, "⊙ h^2)^*"),
    (POWERS + "y = h^n", "h^2", {"w": ""}, "D = g^2"),
    ("h^t = W^{Q,t} W^{K,t} h^{t-1} for t = 1, …, n\nh^0 = 1\ny = h^n", "W^{Q,2}", {f"W^{{{name},{t}}}": "" for name in "QK" for t in (1, 2, 3)}, "D = g^2 ⊙ W^{K,2} ⊙ h^1"),
    ("h^t = W^{t} W^{1} h^{t-1} for t = 1, …, n\nh^0 = 1\ny = h^n", "W^1", {"W^1": "", "W^2": "", "W^3": ""}, "D = ∑_{t=1}^{n} g^t ⊙ W^t ⊙ h^{t-1} + g^1"),
    (POWERS + "y = h^n", "h^0", {"w": ""}, "D = g^0"),
    (CELLS.replace("y = h^n ⊙_{a} w\n", "y = h^n"), "h^1", OF_CELLS, "D = g^1"),
    (CELLS, "h^1", OF_CELLS, "D = (g^1)^*"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "by", "shapes", "message"), MEMBERS, ids=[f"{case[0]}, {case[1]}" for case in MEMBERS]
)
def test_a_derivative_by_one_member(text, by, shapes, message):
    holds_for(text, by, shapes, (3,))
    assert message in str(closed_form(text, by, shapes))


BY_HAND = (
    # from Goodfellow, Bengio, Courville 2016, 10.20 to 10.26; Hochreiter, Schmidhuber 1997; Williams, Zipser 1989
    (RNN + "L = ∑_{t=1}^{n} norm_{h}(h^t − y_{time(t)})^2", "W", {**OF_RNN, "y": "time h"},
        "a^n = 2 (h^n − y_{time(n)})\n"
        "a^t = 2 (h^t − y_{time(t)}) + [a^{t+1} ⊙ (1 − (h^{t+1})^2)]_{h→g} ⊙_{g} U for t = n − 1, …, 1\n"
        "D = ∑_{t=1}^{n} (a^t ⊙ (1 − (h^t)^2) ⊙ x_{time(t)})^*"),
    (LSTM, "W^c", OF_LSTM,
        "a^n = c^n\nb^n = h^n + a^n ⊙ (1 − (h^n)^2)\nj^t = tanh(x_{time(t)} ⊙_{i} W^c) for t = 1, …, n\n"
        "a^t = [b^{t+1} ⊙ (c^t − j^{t+1}) ⊙ f^{t+1} ⊙ (1 − f^{t+1})]_{h→g} ⊙_{g} U for t = n − 1, …, 0\n"
        "b^t = a^t ⊙ (1 − (h^t)^2) + b^{t+1} ⊙ f^{t+1} for t = n − 1, …, 1\n"
        "D = ∑_{t=1}^{n} (b^t ⊙ (1 − f^t) ⊙ (1 − (j^t)^2) ⊙ x_{time(t)})^*"),
    ("∑_{k=1}^{n} r^k", "r", {"r": ""}, "D = ∑_{k=1}^{n} k r^{k-1}"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "by", "shapes", "hand"), BY_HAND, ids=[case[0].splitlines()[-1] for case in BY_HAND])
def test_a_family_reads_as_it_would_by_hand(text, by, shapes, hand):
    closed, values = closed_form(text, by, shapes), drawn(shapes, 3)
    local = text if isinstance(parse(text).statements[-1], Equation) else ""
    assert nt.allclose(nt.evaluate(f"{local}\n{hand}", values, sizes={"n": 3}), closed(values=values, sizes={"n": 3}))
    assert closed.length <= 1.2 * program_length(parse(hand))


@pytest.mark.sampled(3)
def test_it_is_as_long_for_many_steps_as_for_few():
    text, shapes = RNN + "L = ∑_{h} (h^n)^2", written(OF_RNN)
    few, many = (nt.derivative(text, "U").closed_form(sizes={"n": steps}, **shapes) for steps in (2, 100_000))
    assert str(few) == str(many)
