"""A name that a function leaves open belongs to the call around it: a parameter, or a definition below it."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference

X = np.array([10.0, 20.0, 60.0])
Z = np.stack([X, [1.0, 2.0, 3.0]])
SIGNED = "g : ℝ^{k} → ℝ^{k}\n"
PARAMETERS = {
    "ε": ("F(a, ε) = g(a)\ng(u) = u ⊙ ε\nF(x, 3)", 3 * X),
    "π": ("F(a, π) = g(a)\ng(u) = u + π\nF(x, 3)", X + 3),
    "e": ("F(a, e) = g(a) - e\ng(u) = u ⊙ e\nF(x, 3)", 3 * X - 3),
    "another number": ("F(a, c) = g(a)\ng(u) = u ⊙ c\nF(x, 3)", 3 * X),
    "a tensor": ("F(a, w) = g(2 a)\ng(u) = u ⊙ w\nF(x, x)", 2 * X * X),
    "through another function": ("F(a, w) = h(a)\nh(v) = g(v) + 1\ng(u) = u ⊙ w\nF(x, x)", X * X + 1),
    "the ε of standardize": (
        "F(a, ε) = g(a)\ng(u) = standardize_{k} u\nF(x, 100)",
        (X - X.mean()) / np.sqrt(X.var() + 100),
    ),
    "the parameter of the nearest call": ("F(a, c) = G(a, 2 c)\nG(b, c) = g(b)\ng(u) = u ⊙ c\nF(x, 3)", 6 * X),
    "the program's own definition": ("F(a, c) = g(a)\ng(u) = u ⊙ c\nc = 2\nF(x, 3)", 2 * X),
}
DEFINITIONS = {
    "a mean": ("F(a) = g(a)\ng(u) = u - c\nc = mean_{k} a\nF(x)", X - X.mean()),
    "a mean that the caller uses too": ("F(a) = g(a) + c\ng(u) = u - c\nc = mean_{k} a\nF(2 x)", 2 * X),
    "two functions away": (
        "F(a) = h(2 a)\nh(v) = g(v) + d\ng(u) = u - c\nc = mean_{k} a + 1\nd = max_{k} a\nF(x)",
        2 * X - (X.mean() + 1) + X.max(),
    ),
    "two callers": ("F(a) = g(a)\nG(a) = g(3 a)\ng(u) = u - c\nc = mean_{k} a\nF(x) + G(x)", 4 * X - 2 * X.mean()),
    "its own before its caller's": ("F(u) = g(2 u)\ng(u) = u - c\nc = mean_{k} u\nF(x)", 2 * X - 2 * X.mean()),
    "a recurrence": (
        "F(a) = g(a)\ng(u) = u - s^2\ns^0 = a\ns^t = s^{t-1} / 2 for t = 1, …, 2\nF(x)",
        X * 0.75,
    ),
    "by elements": ("F(a) = g(a)\ng(u) = u - c\n|k| = 3\nc_{k(i)} = a_{k(4-i)}\nF(x)", X - X[::-1]),
    "also needed outside": ("F(x) = g(x)\ng(u) = u - c\nc = mean_{k} x\nF(2 x) + g(x)", 3 * X - 3 * X.mean()),
    "only needed outside": ("F(x) = g(x)\nH(b) = g(b)\ng(u) = u - c\nc = mean_{k} x\nH(2 x)", 2 * X - X.mean()),
}


@pytest.mark.parametrize("signature", ["", SIGNED])
@pytest.mark.parametrize("case", PARAMETERS | DEFINITIONS)
def test_an_open_name_is_the_callers(case, signature):
    text, expected = (PARAMETERS | DEFINITIONS)[case]
    np.testing.assert_allclose(nt.evaluate(signature + text, x=nt.tensor(X, "k")).to_array(), expected)
    inputs = {"x": reference.tensor(X.tolist(), "k")}
    np.testing.assert_allclose(reference.evaluate(signature + text, inputs).to_list("k"), expected)
    assert nt.check(signature + text, x="ℝ^{k[3]}").ok


@pytest.mark.parametrize("caller", ["", "F : ℝ^{k} → ℝ^{k}\n"])
@pytest.mark.parametrize("called", ["", SIGNED, "g : ℝ → ℝ\n"])
def test_the_callers_name_is_lifted_with_the_arguments(caller, called):
    text = "F(a) = g(a)\ng(u) = u - c\nc = mean_{k} a\nF(z)"
    value = nt.evaluate(caller + called + text, z=nt.tensor(Z, "b k"))
    np.testing.assert_allclose(value.to_array("b k"), Z - Z.mean(1, keepdims=True))


@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize("text", [PARAMETERS["a tensor"][0], DEFINITIONS["a mean"][0]])
def test_an_open_name_in_another_library_and_in_a_derivative(library, text):
    pytest.importorskip(library)
    expected = (PARAMETERS | DEFINITIONS)["a tensor" if "w" in text else "a mean"][1]
    x = nt.tensor(X, "k").to(library)
    np.testing.assert_allclose(nt.evaluate(SIGNED + text, x=x).to_numpy(), expected, rtol=1e-6)
    slope = nt.derivative(SIGNED + text.replace("\nF(", "\nY = F(") + "\n∑_{k} Y^2", "x")(x=x).to_numpy()
    by_hand = 16 * X**3 if "w" in text else 2 * (X - X.mean())
    np.testing.assert_allclose(slope, by_hand, rtol=1e-5)


NUMBERS_OF_THE_PROGRAM = {
    "defined above": ("c = 3\n", {}),
    "given": ("", {"values": {"c": 3.0}}),
    "declared and given": ("c ∈ ℝ\n", {"values": {"c": 3.0}}),
    "given as a size": ("", {"sizes": {"c": 3}}),
    "named by a size equation": ("|k| = c\n", {}),
    "the size of an input": ("x ∈ ℝ^{k[c]}\n", {}),
}


@pytest.mark.parametrize("signature", ["", SIGNED])
@pytest.mark.parametrize("case", NUMBERS_OF_THE_PROGRAM)
def test_a_callers_parameter_does_not_replace_a_number_of_the_program(case, signature):
    stated, given = NUMBERS_OF_THE_PROGRAM[case]
    text = f"{stated}{signature}F(a, c) = g(a)\ng(u) = u ⊙ c\nF(x, 100)"
    inputs = {"x": nt.tensor(X, "k"), **given.get("values", {})}
    sizes = given.get("sizes", {})
    np.testing.assert_allclose(nt.evaluate(text, inputs, sizes=sizes).to_array(), 3 * X)
    np.testing.assert_allclose(nt.program(text)(values=inputs, sizes=sizes).to_array(), 3 * X)
    np.testing.assert_allclose(nt.compile(text)(values=inputs, sizes=sizes).to_array(), 3 * X)
    of_x = nt.derivative(f"{text.replace('F(x, 100)', 'Y = F(x, 100)')}\n∑_{{k}} Y", "x")
    np.testing.assert_allclose(of_x(values=inputs, sizes=sizes).to_array(), [3, 3, 3])


def test_a_name_that_no_call_around_has_is_undefined():
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("F(a, c) = g(a)\ng(u) = u ⊙ c\ng(x)", x=nt.tensor(X, "k"))
    assert caught.value.code == 201
