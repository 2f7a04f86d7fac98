"""The derivative of a recurrence: an adjoint that goes back and a sum over the steps, right for any number of steps."""

# pyright: reportAttributeAccessIssue=false
import time

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError
from grammar.parser import parse
from transformer import paper

EXTENTS = {"h": 3, "g": 3, "i": 2, "o": 2, "a": 3}
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
    ("h^t = w ⊙ h^{t-1} for t = 1, …, n\nh^0 = b\nf(x) = ∑_{a} x^3\nL = f(h^n)", {"w": "a", "b": "a"}, "w b"),
)  # fmt: skip

ADJOINT = [
    "a^n = 2 h^n",
    "a^t = a^{t+1}_{h→g} ⊙ (1 - h^{t+1}_{h→g}^2) ⊙_{g} U for t = n - 1, …, 0",
    "D = ∑_{t=1}^{n} (a^t ⊙ (1 - (h^t)^2) ⊙ x_{time(t)})^*",
]


def drawn(shapes, steps: int):
    generator = np.random.default_rng(steps)
    extents = {**EXTENTS, "time": steps}
    return {
        name: nt.tensor(generator.normal(size=[extents[axis] for axis in axes.split()]), axes)
        if axes
        else float(generator.uniform(0.3, 0.9))
        for name, axes in shapes.items()
    }


def written(shapes):
    return {name: f"ℝ^{{{' × '.join(axes.split())}}}" if axes else "ℝ" for name, axes in shapes.items()}


def worked_out(text: str, by: str, shapes):
    return nt.derivative(text, by).worked_out(**written(shapes))


@pytest.mark.parametrize(("text", "shapes", "names"), CASES, ids=[case[0].strip().splitlines()[-1] for case in CASES])
def test_a_recurrence_is_right_for_any_number_of_steps(text, shapes, names):
    for by in names.split():
        start = time.process_time()
        closed = worked_out(text, by, shapes)
        assert time.process_time() - start < 2
        for spelled in (closed.to_text(ascii=True), closed.to_latex(), closed.to_latex(macros=True)):
            assert parse(spelled) == closed.closed.tree, spelled
        assert [step.rule for step in closed.steps][-1] == "identification"
        assert "identification" in closed.to_latex(steps=True, macros=True)
        closed.check(drawn(shapes, 3), sizes={"n": 3})
        for steps in (1, 2, 5):
            values = drawn(shapes, steps)
            expected = nt.derivative(text, by)(values=values, sizes={"n": steps})
            found = nt.evaluate(closed.to_text(), values, sizes={"n": steps})
            assert set(found.axes) == set(expected.axes) and nt.allclose(found, expected, rtol=1e-6, atol=1e-9), str(
                closed
            )


def test_how_it_reads():
    found = worked_out(RNN + "L = ∑_{h} (h^n)^2", "W", OF_RNN)
    assert str(found).splitlines()[2:] == ADJOINT


def test_steps_go_back_from_the_end():
    found = worked_out(RNN + "L = ∑_{h} (h^n)^2", "W", OF_RNN)
    end, chain = (line.split(" = ", 1)[1] for line in ADJOINT[:2])
    assert [(step.rule, step.equation) for step in found.steps] == [
        ("end", f"∂L/∂h^n = {end}"),
        ("chain", f"∂L/∂h^t = {chain}"),
        ("identification", f"{ADJOINT[2]} = ∂L/∂W*"),
    ]
    latex = found.to_latex(steps=True)
    assert (
        r"\frac{\partial L}{\partial h^t} &\overset{\text{chain}}{=} a^{t+1}" in latex
        and r"t = n - 1, \ldots, 0" in latex
    )


def test_a_step_that_is_wrong_is_found():
    """Each step is a claim, those of all t as well."""
    text = worked_out(RNN + "L = ∑_{h} (h^n)^2", "W", OF_RNN).derivation.to_text()
    values = drawn(OF_RNN, 3)
    for right, wrong in (("∂L/∂h^n = 2", "∂L/∂h^n = 3"), ("∂L/∂h^t = a", "∂L/∂h^t = −a"), ("D = ∑", "D = 2 ∑")):
        assert right in text
        with pytest.raises(NotationError, match="does not hold"):
            nt.evaluate(text.replace(right, wrong), values, sizes={"n": 3})


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
        closed = nt.derivative(text, by).worked_out(X="ℝ^{seq × input}")
        assert by == "h^0" or "for t = n - 1, …, 0" in str(closed)
        assert nt.allclose(nt.evaluate(closed.to_text(), values), nt.derivative(text, by)(values=values))


def test_it_is_as_long_for_many_steps_as_for_few():
    text, shapes = RNN + "L = ∑_{h} (h^n)^2", written(OF_RNN)
    few, many = (nt.derivative(text, "U").worked_out(**shapes, sizes={"n": steps}) for steps in (2, 100_000))
    assert str(few) == str(many)


def test_no_member_stands_for_another():
    """A recurrence of two steps, and one whose member is asked for by its number, are written out."""
    text = "F^t = r F^{t-1} + F^{t-2} for t = 2, …, n\nF^0 = r\nF^1 = 1\ny = F^n"
    closed = nt.derivative(text, "r").worked_out(r="ℝ", sizes={"n": 5})
    expected = nt.derivative(text, "r")(r=0.7, sizes={"n": 5})
    assert nt.allclose(nt.evaluate(closed.to_text(), r=0.7, sizes={"n": 5}), expected)
    text = "h^t = w h^{t-1} for t = 1, …, n\nh^0 = w\ny = h^2 ⊙ h^n"
    closed = nt.derivative(text, "w").worked_out(w="ℝ", sizes={"n": 4})
    assert nt.allclose(
        nt.evaluate(closed.to_text(), w=0.7, sizes={"n": 4}), nt.derivative(text, "w")(w=0.7, sizes={"n": 4})
    )
