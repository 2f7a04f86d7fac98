"""How what comes before a first value grows with a text: by counted calls of Python functions, which are the same each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import namedtensor as nt
from benchmarks.growth import BAR, CURVES, calls_of, counted, exponent
from namedtensor.terms import structural

X = nt.tensor(np.arange(4.0), "a")
MANY = 10_000


@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_calls_grow_no_faster_than_the_text(curve, monkeypatch):
    monkeypatch.setattr(
        structural, "after_pass", []
    )  # no verification, which goes through all terms of each derivative
    assert exponent(*counted(curve, curve.few)) <= BAR


def test_an_exponent_is_that_of_a_power():
    def quadratic(n):
        return n, calls_of(lambda: [str(k).__len__() or calls_of for k in (j for j in range(n**2))])

    assert exponent(quadratic(30), quadratic(90)) == pytest.approx(2, abs=0.05)


# -------------------------------------------------------------------------------------------------------- long texts
def chain(step: str, many: int = MANY) -> str:
    return "\n".join(["Y_0 = X", *(step.format(k, k - 1) for k in range(1, many + 1)), f"Y_{{{many}}}"])


LONG = {
    "a flat sum": (" + ".join(f"{k} X" for k in range(MANY)), lambda x: x * sum(range(MANY))),
    "a flat difference": ("X" + " − 1" * MANY, lambda x: x - MANY),
    "equations in a chain": (chain("Y_{0} = Y_{1} + X"), lambda x: x * (MANY + 1)),
    "equations in a chain, in a function": (
        f"f(Z) = Y_{{{MANY}}}\n{chain('Y_{0} = Y_{1} + Z').rpartition('Y_')[0].replace('Y_0 = X', 'Y_0 = Z')}f(X)",
        lambda x: x * (MANY + 1),
    ),
}


@pytest.mark.sampled(8)
@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_long_program_is_read_printed_checked_planned_and_computed(name):
    text, value = LONG[name]
    program = nt.program(text)
    assert str(nt.program(str(program))) == str(program) and len(program.to_latex()) > MANY
    compiled = nt.formula(text).compile("numpy")
    assert np.allclose(compiled(X=X).to_array("a"), value(np.arange(4.0)))
    assert len(compiled.plan.steps) >= MANY


@pytest.mark.sampled(8)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["a flat sum", "equations in a chain"])
def test_a_long_program_is_checked(name):
    assert nt.check(LONG[name][0], X=X).type is not None


MIXED = {
    "a chain begins with a function of a chain": "T_0 = f(X)\nY_0 = Z",
    "a function's chain begins with a chain": "T_0 = X\nY_0 = Z + T_{1000}",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MIXED)
def test_long_chains_in_functions_and_outside(name):
    inside = "\n".join(f"Y_{{{k}}} = Y_{{{k - 1}}} + Z" for k in range(1, 1001))
    outside = "\n".join(f"T_{{{k}}} = T_{{{k - 1}}} + X" for k in range(1, 1001))
    asked = "T_{1000}" if "f(X)" in MIXED[name] else "f(X)"
    text = f"f(Z) = Y_{{1000}}\n{MIXED[name]}\n{inside}\n{outside}\n{asked}"
    expected = 2001 + ("f(X)" not in MIXED[name])
    assert np.allclose(nt.evaluate(text, X=X).to_array("a"), expected * np.arange(4.0))


@pytest.mark.slow
def test_a_long_chain_that_needs_itself_is_an_error():
    with pytest.raises(nt.NotationError, match="circular definition|nested too deep"):
        nt.evaluate(chain("Y_{0} = Y_{1} + X", 3000).replace("Y_0 = X", "Y_0 = Y_{3000}"), X=X)


def test_what_a_long_chain_does_not_need_may_be_wrong():
    text = chain("Y_{0} = Y_{1} + X", 1000).replace("Y_0 = X", "Y_0 = X\nZ = Y_0 + missing")
    assert np.allclose(nt.evaluate(text, X=X).to_array("a"), np.arange(4.0) * 1001)


def test_errors_in_a_long_sum_are_all_told():
    text = "good" + "".join(f" + (X + wrong_{k})" for k in range(1000))
    report = nt.check(text, X="ℝ^{a[4]}", good="ℝ^{a[4]}")
    assert len(report.errors) == 1000 and all(error.code == 201 for error in report.errors)


# ----------------------------------------------------------------------------- names of one base, found by their labels
@pytest.mark.parametrize(
    ("text", "given", "value"),
    [
        ("f_1(t) = t\nf_2(t) = 2 t\nf_1(X) + f_2(X)", {}, 3),
        ("f^l(t) = l · t\nf^2(X) + f^5(X)", {}, 7),
        ("f^l(t) = l · t\nf^2(t) = 100 t\nf^2(X) + f^5(X)", {}, 105),
        ("f_n(t) = n t for n = 1, …, 3\nf_3(X)", {}, 3),
        ("W_1, W_2 ∈ ℝ^{a}\nW_1 + W_2", {"W_1": X, "W_2": X}, 2),
        ("W^{l,Q} ∈ ℝ^{a} for l = 1, …, 2\nW^{1,Q} + W^{2,Q}", {"W^{1,Q}": X, "W^{2,Q}": X}, 2),
        ("Y^l = l · X for l = 1, …, 3\nZ^l = Y^l + X for l = 1, …, 3\nZ^3", {}, 4),
        ("Y^0 = X\nY^l = Y^{l-1} + X for l = 1, …, 2\nY^l = Y^{l-1} + 2 X for l = 3, …, 4\nY^4", {}, 7),
    ],
)
def test_a_name_is_found_among_those_of_its_base(text, given, value):
    assert np.allclose(nt.evaluate(text, {"X": X, **given}).to_array("a"), value * np.arange(4.0))


@pytest.mark.parametrize("name", ["W_3", "W^{1,K}", "V_1", "W_{1,2}"])
def test_a_given_name_that_stands_nowhere_is_refused(name):
    fromkeys: dict[str, Any] = dict.fromkeys(("W_1", "W_2", "W^{1,Q}", "W^{2,Q}", name), X)
    with pytest.raises(nt.NotationError, match="the formula does not use it"):
        nt.evaluate("W_1 + W_2 + ∑_{l=1}^{2} W^{l,Q}", **fromkeys)


# ------------------------------------------------------------------------------------------ derivatives by several names
LOSS = """
Y^0 = X
Y^l = Y^{l-1} + tanh(Y^{l-1} ⊙_{a} W^l)_{b→a} for l = 1, …, 3
W^l ∈ ℝ^{a × b}
L = ∑_{a} (Y^3)^2
"""


def test_derivatives_by_several_names_are_those_by_each_alone():
    draw = np.random.default_rng(0)
    tensors = {"X": X, **{f"W^{l}": nt.tensor(draw.normal(size=(4, 4)), "a b") for l in (1, 2, 3)}}
    together = nt.gradient(LOSS, "L", ["X", "W^1", "W^2", "W^3"])(values=tensors)
    for name, slope in together.items():
        alone = nt.evaluate(f"{LOSS}∂L/∂{name}*", tensors)
        assert np.array_equal(slope.to_array(slope.axes), alone.to_array(tuple(axis + "*" for axis in slope.axes)))


def test_a_number_without_a_derivative_by_one_name_has_those_by_others():
    text = "L = ∑_{a} X ⊙ T + ∑_{a} argmax_{a} Z\n∂L/∂X* + ∂L/∂T*"
    assert np.allclose(nt.evaluate(text, X=X, T=X, Z=X).to_array("a*"), 2 * np.arange(4.0))
