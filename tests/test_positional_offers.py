"""The command `translate`, and the translation of a formula that failed as a hint of `eval`."""

import json

import pytest

import namedtensor as nt
from grammar.errors import NotationError
from namedtensor.cli.commands import main
from namedtensor.positional.offers import with_offer


def test_positional_command_prints_the_formula_and_its_reading(capsys):
    assert main(["translate", "QK^T / √d_k", "Q=query,key", "K=seq,key"]) == 0
    output = capsys.readouterr()
    assert output.out == "Q ⊙_{key} K / √|key|\n"
    assert (
        output.err
        == "d_k is read as |key|, the axis summed before\nthe types are checked, the values are not compared\n"
    )


def test_positional_command_writes_json_and_latex(capsys):
    assert main(["translate", "λ x", "x=n", "λ=", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["formula"], record["axes"], record["kind"]) == ("λ ⊙ x", {"λ": [], "x": ["n"]}, "matrices")
    assert main(["translate", "A x", "A=m,n", "x=n", "--to", "latex"]) == 0
    assert capsys.readouterr().out.startswith("A \\")


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["u v", "u=n", "v=n"], 1, "choose with --reading 1, --reading 2, …"),
        (["A B", "A=m,n", "B=p,q"], 1, "no product"),
        (["A B", "A"], 2, "is not an input"),
    ],
)
def test_positional_command_reports_errors(capsys, words, status, message):
    assert main(["translate", *words]) == status
    assert message in capsys.readouterr().err


INPUTS = {
    "A": nt.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]], "m n"),
    "s": 2.5,
    "x": nt.tensor([1.0, 2.0, 3.0], "n"),
    "Q": nt.tensor([[1.0, 2.0]], "query key"),
    "K": nt.tensor([[1.0, 2.0], [3.0, 4.0]], "seq key"),
}


@pytest.mark.parametrize(
    ("formula", "names", "offer"),
    [
        ("A_{ij} x_j", "Ax", "in named axes: A ⊙_{n} x"),
        ("A @ x", "Ax", "in named axes: A ⊙_{n} x"),
        ("A A^T", "A", "in named axes: A ⊙_{n} A_{m→m'}"),
        ("softmax(QK^T/√d_k)", "QK", "in named axes: softmax_{seq}(Q ⊙_{key} K / √|key|)"),
        ("A.sum(axis=0)", "A", "in named axes: ∑_{m} A"),
        ("s A^T", "sA", "in named axes: s ⊙ A"),
        (r"\sum_i x_i^2", "x", "in named axes: ∑_{n} x^2"),
    ],
)
def test_positional_failed_formula_gets_its_translation_as_a_hint(formula, names, offer):
    values = {name: INPUTS[name] for name in names}
    with pytest.raises(NotationError) as caught:
        nt.evaluate(formula, values)
    error = with_offer(caught.value, formula, values)
    assert error.hint == offer
    ((_, repair),) = error.edits or (((0, 0), offer.removeprefix("in named axes: ")),)
    nt.evaluate(repair, values)


def test_positional_error_without_a_translation_is_left_alone():
    problem = NotationError(201, "undefined name q", "q + 1", (0, 1), hint="did you mean Q?")
    assert with_offer(problem, "q + 1", {"Q": 1.0}) is problem
    assert with_offer(problem, "A q", {"A": INPUTS["A"]}) is problem


@pytest.mark.parametrize(
    ("formula", "remark"),
    [
        ("A x", "if this is matrix notation: in named axes: A ⊙_{n} x\n"),
        ("2 A x + 1", "if this is matrix notation: in named axes: 2 A ⊙_{n} x + 1\n"),
        ("A ⊙_{n} x", ""),
        ("A ⊙ x", ""),
        (r"\frac{x}{2}", ""),  # the translation has the same axes
        ("A B", ""),  # two matrices of the same type are multiplied element by element in both
        ("∑_n A x", ""),
    ],
)
def test_positional_notation_that_is_right_by_accident_has_a_remark(capsys, formula, remark):
    inputs = ["A=[[1,2],[3,4]]:m,n", "B=[[1,2],[3,4]]:m,n", "x=[1,2]:n"]
    inputs = [input_ for input_ in inputs if input_[0] in formula]
    assert main(["eval", formula, *inputs]) == 0
    assert capsys.readouterr().err == remark
    assert main(["check", formula, *inputs]) == 0
    assert capsys.readouterr().err == remark


def test_positional_check_offers_the_translation(capsys):
    assert main(["check", "A_{ij} x_j", "A=ℝ^{m × n}", "x=ℝ^{n}"]) == 1
    assert "hint: in named axes: A ⊙_{n} x" in capsys.readouterr().out


def test_positional_eval_offers_the_translation(capsys):
    assert main(["eval", "A_{ij} x_j", "A=[[1,2],[3,4]]:m,n", "x=[1,2]:n"]) == 1
    assert "hint: in named axes: A ⊙_{n} x" in capsys.readouterr().err
