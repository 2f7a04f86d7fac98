"""A program with definitions replaced or taken out, and several names at once."""

import numpy as np
import pytest

import namedtensor as nt

BLOCK = """\
# a layer
Y = act(X ⊙_{in} W)   # one line
W ∈ ℝ^{in × out}
act(x) = gelu(x)
mask_{out(i)} = 1     # unless it is given
mask ∈ {0,1}^{out}
Z^t = 2 Z^{t-1} for t = 1, …, n
Z^0 = Y ⊙ mask"""

CASES = [
    ("act(x) = relu(x)", (), BLOCK.replace("act(x) = gelu(x)", "act(x) = relu(x)")),
    ("", ("mask",), BLOCK.replace("mask_{out(i)} = 1     # unless it is given\n", "")),
    ("Z^t = 3 Z^{t-1} for t = 1, …, n", (), BLOCK.replace("2 Z", "3 Z")),
    ("V = Y\nV ∈ ℝ^{out}", (), BLOCK + "\nV = Y\nV ∈ ℝ^{out}"),
    ("act(x) = b x\nb ∈ ℝ", ("mask", "Z^0"), None),
]


@pytest.mark.parametrize("text, without, expected", CASES)
def test_definitions_are_replaced_where_they_stand(text, without, expected):
    replace_definitions = nt.program(BLOCK).replace_definitions(text, without)
    if expected is not None:
        assert replace_definitions == nt.program(expected)
    assert set(nt.program(text or "x").names) <= set(replace_definitions.names)
    assert not set(without) & set(replace_definitions.names)


def test_facts_of_a_function_are_replaced():
    program = nt.program(
        "Y = f(X)\nf(t) = p + s\np_{a(2k-1)} = t for k = 1, …, 2\np_{a(2k)} = 0 for k = 1, …, 2\ns = 2 t"
    )
    changed = program.replace_definitions("p_{a(i)} = 10 t", ["s"]).replace_definitions("s = 3 t")
    assert program["Y"](X=1, sizes={"a": 4}).array.tolist() == [3, 2, 3, 2]
    assert changed["Y"](X=1, sizes={"a": 4}).array.tolist() == [13, 13, 13, 13]


def test_functions_of_the_program_are_known_to_the_new_text():
    program = nt.program("Y = f(X; a)\nf(t; a) = t + a")
    assert program.replace_definitions("Y = f(f(X; a); 2 a)") == nt.program("Y = f(f(X; a); 2 a)\nf(t; a) = t + a")


def test_the_program_itself_stays():
    program = nt.program(BLOCK)
    program.replace_definitions("act(x) = relu(x)", ["mask"])
    assert program == nt.program(BLOCK)


def test_a_definition_taken_out_becomes_an_input():
    program = nt.program(BLOCK)
    tensors = {"X": nt.tensor(np.ones(2), "in"), "W": nt.tensor(np.ones((2, 3)), "in out")}
    plain = program["Z^2"](values=tensors, sizes={"n": 2})
    mask = nt.tensor([[1, 0, 1], [0, 0, 1]], "batch out")
    masked = program.replace_definitions(remove=["mask"])["Z^2"](values={**tensors, "mask": mask}, sizes={"n": 2})
    assert nt.allclose(masked, plain * mask)


def test_a_name_to_take_out_is_defined():
    with pytest.raises(nt.NotationError) as caught:
        nt.program(BLOCK).replace_definitions(remove=["mesk"])
    assert str(caught.value) == "name error 201: mesk is not defined here\n  hint: did you mean mask?"


def test_several_names_are_computed_together():
    program = nt.program("K = 2 x\nV = K + 1\nx ∈ ℝ^{a}\nf(y) = y")
    x = nt.tensor([[1.0, 2.0]], "batch a")
    k, v = program["K", "V"](x=x)
    assert nt.allclose(k, 2 * x) and nt.allclose(v, 2 * x + 1)
    assert repr(program["K", "V"]) == "K, V of a program of 4 statements"
    assert program["K", "V"] is program["K", "V"]


def test_several_names_share_claims():
    program = nt.program("K = 2 x\nV = K + 1 = 3\nx ∈ ℝ")
    assert [float(item) for item in program["K", "V"](x=1.0)] == [2, 3]
    with pytest.raises(nt.NotationError, match="assertion failed"):
        program["K", "V"](x=2.0)


def test_several_names_are_all_known():
    with pytest.raises(nt.NotationError) as caught:
        nt.program("# doubles\nK = 2 x")["K", "W"](x=1.0)
    assert str(caught.value) == (  # it stands nowhere in the program, so there is no line to show
        "name error 201: undefined name W\n  defined names: K, x\n  hint: define W with an equation, or pass a value for it"
    )


def test_the_signature_of_a_function_goes_with_it():
    program = nt.program("f : ℝ → ℝ\nf(t) = t + 1\ng : ℝ → ℝ\ng(t) = 2 t\nY = g(X)")
    assert str(program.replace_definitions(remove=["f"])) == "g : ℝ → ℝ\ng(t) = 2 t\nY = g(X)"


def test_a_declaration_replaces_that_of_the_same_name_alone():
    program = nt.program("Y = W ⊙_{a} X + b\nW, V ∈ ℝ^{a}  # both\nb ∈ ℝ\nX ∈ ℝ^{a}")
    changed = program.replace_definitions("W ∈ ℝ^{a × c}\nb ∈ ℝ^{c}")
    assert str(changed).splitlines() == ["Y = W ⊙_{a} X + b", "V ∈ ℝ^{a}", "X ∈ ℝ^{a}", "W ∈ ℝ^{a × c}", "b ∈ ℝ^{c}"]
