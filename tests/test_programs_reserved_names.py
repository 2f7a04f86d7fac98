"""Inputs whose names are those of options of Python functions, such as `sizes`, are given by a mapping, everywhere alike."""

import numpy as np
import pytest

import namedtensor as nt

X = nt.tensor([1.0, 2.0], "a")
NAMES = ("sizes", "strict", "values", "syntax", "limits", "formula", "given", "seed", "expand", "shapes", "inputs")
CALLS = {
    "evaluate": lambda text, name: float(nt.evaluate(text, {name: X})),
    "evaluate a formula": lambda text, name: float(nt.evaluate(nt.formula(text), {name: X})),
    "formula": lambda text, name: float(nt.formula(text)(values={name: X})),
    "program": lambda text, name: float(nt.program(f"Y = {text}")["Y"](values={name: X})),
    "evaluate of an entry": lambda text, name: float(nt.program(f"Y = {text}").Y.evaluate({name: X})),
    "explain": lambda text, name: float(nt.explain(text, {name: X}).value),
    "explain of a formula": lambda text, name: float(nt.formula(text).explain(values={name: X}).value),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("call", CALLS)
def test_an_input_of_any_name_is_given_by_a_mapping(call, name):
    assert CALLS[call](f"∑_{{a}} {name}^2", name) == 5


@pytest.mark.parametrize("name", NAMES)
def test_types_of_inputs_of_any_name(name):
    text = f"∑_{{a}} {name}"
    assert nt.check(text, {name: "ℝ^{a}"}).type == "ℝ"
    assert nt.equivalent(text, f"sum_{{a}} {name}", {name: "ℝ^{a}"})
    drawn = nt.diagram(f"Y = {text}", inputs={name: "ℝ^{a}"})
    assert name in drawn.to_svg()


DECLARED = "X ∈ ℝ^{n × m}\n"
EQUAL = {
    "both declare": (DECLARED + "Y = ∑_{n} X", DECLARED + "sum_{n} X", True),
    "one declares": (DECLARED + "Y = ∑_{n} X", "sum_{n} X", True),
    "another value": (DECLARED + "Y = ∑_{n} X", DECLARED + "2 sum_{n} X", False),
    "a definition between": (DECLARED + "Z = X^2\nY = ∑_{n} Z", DECLARED + "Y = X ⊙_{n} X", True),
}


@pytest.mark.parametrize("name", EQUAL)
@pytest.mark.parametrize("result", [str, nt.program, nt.formula])
def test_programs_that_declare_their_inputs_are_compared(name, result):
    first, second, equal = EQUAL[name]
    assert bool(nt.equivalent(result(first), result(second))) is equal


def test_a_type_by_name_counts_before_a_declaration_and_two_declarations_agree():
    assert nt.equivalent(DECLARED + "Y = ∑_{n} X", "sum_{n} X", X="ℝ^{n}")
    with pytest.raises(nt.NotationError, match="the formulas declare different inputs: X ∈ ℝ"):
        nt.equivalent(DECLARED + "∑_{n} X", "X ∈ ℝ^{n}\n∑_{n} X")


def test_a_diagram_of_a_program_that_declares_its_inputs():
    declared = nt.diagram(DECLARED + "Y = ∑_{n} X")
    given = nt.diagram("Y = ∑_{n} X", X="ℝ^{n × m}")
    assert declared.to_svg() == given.to_svg()
    with pytest.raises(nt.NotationError, match="Y uses none of the inputs"):
        nt.diagram("Y = ∑_{n} [1, 2]_{n}")


@pytest.mark.parametrize("text", ["softmax_{ax} X", "X ⊙_{ax} X", "f(X) = X^3"])
def test_a_derivative_prints_what_the_command_prints(text, capsys):
    from namedtensor.cli import main

    assert main(["derive", text, "--wrt", "X"]) == 0
    derivative = nt.derivative(text, "X")
    assert str(derivative) == repr(derivative) == capsys.readouterr().out.rstrip("\n")
    assert "∂" in derivative.to_text()


def test_a_derivative_without_a_closed_form_prints_as_it_is_written():
    derivative = nt.derivative("maxk_{a}(X; 2)", "X")
    assert str(derivative) == derivative.to_text()


def test_a_derivative_that_prints_as_its_closed_form_has_its_value():
    x = np.array([1.0, 2.0, 4.0])
    value = nt.derivative("softmax_{a} X", "X")(X=nt.tensor(x, "a")).to_array("a a*")
    soft = np.exp(x) / np.exp(x).sum()
    assert np.allclose(value, np.diag(soft) - np.outer(soft, soft))
