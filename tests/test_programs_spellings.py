"""Two spellings of one name in one mapping, γ and gamma, W_1 and W₁: none of them is taken in silence."""

import pytest

import namedtensor as nt
from namedtensor import reference
from namedtensor.cli import main
from namedtensor.derivations.reading import reading_checker
from namedtensor.layers.layer import Layer, kind, write

X = nt.tensor([1.0, 2.0], "a")
Y = nt.tensor([3.0, 5.0], "a")
FORMULA = "γ + W_1"
PAIRS = {
    "greek": ("γ", "gamma", "γ"),
    "subscript": ("W_1", "W₁", "W_1"),
    "braces": ("W_1", "W_{1}", "W_1"),
    "ASCII first": ("gamma", "γ", "γ"),
}


def values(first, second, name, X=X, Y=Y):
    """Both spellings, and the other name of the formula."""
    other = {"γ": "W_1", "W_1": "γ"}[name]
    return {first: X, second: Y, other: X}


class Scaled(Layer):
    notation = "γ ∈ ℝ^{a}\nW_1 ∈ ℝ^{a}\nf : ℝ^{a} → ℝ^{a}\nf(X) = γ ⊙ X + W_1"
    output = "f"


def shapes(given):
    return dict.fromkeys(given, "ℝ^{a[2]}")


TAKERS = {
    "evaluate": lambda given: nt.evaluate(FORMULA, given),
    "evaluate, a mapping and keywords": lambda given: nt.evaluate(FORMULA, dict([*given.items()][:1]), **dict([*given.items()][1:])),
    "evaluate, keywords": lambda given: nt.evaluate(FORMULA, **given),
    "formula": lambda given: nt.formula(FORMULA)(values=given),
    "program": lambda given: nt.program(f"y = {FORMULA}")["y"](values=given),
    "a function": lambda given: nt.program(f"f(x) = x + {FORMULA}")["f"](X, values=given),
    "explain": lambda given: nt.explain(FORMULA, given),
    "compile": lambda given: nt.formula(FORMULA).compile()(values=given),
    "module": lambda given: nt.formula(FORMULA).compile("torch").module(given),
    "to_python": lambda given: nt.formula(FORMULA).to_python("numpy", given),
    "to_javascript": lambda given: nt.formula(FORMULA).to_javascript(given),
    "cost": lambda given: nt.formula(FORMULA).cost(given),
    "check, tensors": lambda given: nt.check(FORMULA, given).raise_first(),
    "check, shapes": lambda given: nt.check(FORMULA, shapes(given)).raise_first(),
    "diagram": lambda given: nt.program(f"y = {FORMULA}")["y"].diagram(**shapes(given)),
    "parameters": lambda given: nt.program(f"y = {FORMULA}").parameters(**shapes(given)),
    "reading": lambda given: reading_checker(FORMULA, nt.program(FORMULA).tree, {name: {"a": 2} for name in given}, None),
    "reference": lambda given: reference.evaluate(FORMULA, {name: reference.tensor([1.0, 2.0], "a") for name in given}),
    "a layer": lambda given: Scaled(given),
    "a layer's call": lambda given: Scaled({"γ": X, "W_1": X})(X, **given),
    "replace": lambda given: Scaled({"γ": X, "W_1": X}).replace(given),
    "initializers": lambda given: Scaled.init(sizes={"a": 2}, initializers={name: nt_constant() for name in given}),
}  # fmt: skip


def nt_constant():
    from namedtensor.initializers import Constant

    return Constant("1")


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("taker", TAKERS)
def test_two_spellings_of_one_name_are_refused(taker, pair):
    first, second, name = PAIRS[pair]
    if taker == "module":
        pytest.importorskip("torch")
    TAKERS[taker]({name: X, **dict.fromkeys({"γ", "W_1"} - {name}, X)})
    with pytest.raises(nt.NotationError) as caught:
        TAKERS[taker](values(first, second, name))
    problem = caught.value
    assert (problem.code, problem.symbol) == (202, name)
    assert problem.message == f"{first} and {second} are the same name" and problem.hint == "pass one of them"


def test_a_repeated_call_refuses_them_too():
    formula = nt.formula(FORMULA)
    for _ in range(3):
        formula(values={"γ": X, "W_1": X})
        with pytest.raises(nt.NotationError, match="are the same name"):
            formula(values={"γ": X, "gamma": Y, "W_1": X})


@pytest.mark.parametrize("evaluate", [nt.evaluate, reference.evaluate])
def test_two_spellings_of_a_size_are_refused(evaluate):
    formula = "∑_{i=1}^{γ} i"
    evaluate(formula, sizes={"gamma": 3})
    with pytest.raises(nt.NotationError) as caught:
        evaluate(formula, sizes={"gamma": 3, "γ": 4})
    assert caught.value.code == 202


def test_a_call_of_a_layer_takes_either_spelling():
    layer = Scaled({"gamma": X, "W₁": X})
    assert nt.allclose(layer(X, gamma=Y), layer(X, γ=Y))
    assert nt.allclose(layer.explain(X, gamma=Y)[-1].value, layer(X, γ=Y))


def test_a_file_of_parameters_with_two_spellings_is_refused(tmp_path):
    layer = Scaled({"γ": X, "W_1": X})
    write(tmp_path / "one.safetensors", kind(Scaled), {"gamma": X, "W_1": X}, layer._about)
    assert nt.allclose(Scaled.load(tmp_path / "one.safetensors")(X), layer(X))
    write(tmp_path / "two.safetensors", kind(Scaled), {"γ": X, "gamma": Y, "W_1": X}, layer._about)
    with pytest.raises(nt.NotationError, match="are the same name"):
        Scaled.load(tmp_path / "two.safetensors")


@pytest.mark.parametrize(
    "words",
    [
        ["eval", "γ + 1", "γ=2", "gamma=3"],
        ["check", "γ + 1", "γ=2", "gamma=3"],
        ["eval", "∑_{i=1}^{γ} i", "--sizes", "γ=3,gamma=4"],
    ],
)
def test_the_command_line_refuses_them(words, capsys):
    assert main(words) != 0
    assert "are the same name" in "".join(capsys.readouterr())


def test_a_size_is_given_once_on_the_command_line(capsys):
    assert main(["eval", "iota_{a}", "--sizes", "a=3,a=4"]) == 2
    assert "the size of a is given twice" in capsys.readouterr().err


def test_the_playground_says_which_input_is_given_twice():
    from namedtensor.webpage.answers import answer

    result = answer({"ask": "check", "text": "γ + 1", "inputs": {"γ": "ℝ^{a}", "gamma": "ℝ^{b}"}})
    assert [error["code"] for error in result["errors"]] == [202]
