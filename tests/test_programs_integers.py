"""Integers from Python in indices, sizes, slices, ranges and parameters: each kind of whole number, and errors for the others."""

import math
from fractions import Fraction

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError

X = nt.tensor([1.0, 2.0, 3.0, 4.0], "a")
WHOLE = {"int": 2, "float": 2.0, "np.int64": np.int64(2), "np.uint8": np.uint8(2), "np.float32": np.float32(2),
         "0-d array": np.array(2), "0-d float array": np.array(2.0), "tensor": nt.tensor(2), "float tensor": nt.tensor(2.0)}  # fmt: skip
NOT_WHOLE = {"inf": math.inf, "−inf": -math.inf, "nan": math.nan, "np.inf": np.float32(np.inf), "half": 2.5,
             "np.nan": np.array(np.nan), "tensor of nan": nt.tensor(math.nan), "np.bool": np.bool_(True)}  # fmt: skip
FORMULAS = {  # with i = 2, and the value by hand
    "X_{a(i)}": 2.0, "X_{a(i + 1)}": 3.0, "X_{a(|a| − i)}": 2.0, "X_{a(1:i)}": [1.0, 2.0], "X_{a(i:4)}": [2.0, 3.0, 4.0],
    "iota_{b}\n|b| = i": [1, 2], "iota_{b}\n|b| = 6 / i": [1, 2, 3], "iota_{b}\n|b| = 2^i": [1, 2, 3, 4],
    "∑_{q} [X]_{a→(p,q)}\n|p| = i": [3.0, 7.0], "C = X\nC_{a(i)} ← 0\nC + 0": [1.0, 0.0, 3.0, 4.0],
    "maxk_{a,k}(X)\n|k| = i": [4.0, 3.0], "∑_{k} unroll_{a,k}(X)\n|k| = i": [3.0, 5.0, 7.0],
    "polygamma(X; i)_{a(1)}": -2.404113806319188, "X ⊙ onehot_{a}(i)": [0.0, 2.0, 0.0, 0.0], "∑_{n=1}^{i} n X": [3.0, 6.0, 9.0, 12.0],
    "h^0 = X\nh^n = h^{n-1} + X for n = 1, …, i\nh^i": [3.0, 6.0, 9.0, 12.0],
}  # fmt: skip


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("text", FORMULAS)
def test_every_kind_of_whole_number_is_an_integer(text, kind):
    value = nt.evaluate(text, {"X": X, "i": WHOLE[kind]})
    np.testing.assert_allclose(value.array, FORMULAS[text], 1e-12)


@pytest.mark.parametrize("kind", NOT_WHOLE)
@pytest.mark.parametrize("text", [*FORMULAS, "1 + X\n|a| = i"])
def test_another_number_raises_an_error_with_a_place_and_a_repair(text, kind):
    if kind == "np.bool" and "|a| = i" in text:
        return  # a boolean is no number, so the equation is not checked
    if kind == "half" and text in ("iota_{b}\n|b| = 6 / i", "iota_{b}\n|b| = 2^i"):
        return  # 6 / 2.5 and 2^2.5 are rejected for themselves
    with pytest.raises(NotationError) as raised:
        nt.evaluate(text, {"X": X, "i": NOT_WHOLE[kind]})
    assert raised.value.hint


@pytest.mark.parametrize("library", ("torch", "jax.numpy"))
@pytest.mark.parametrize("text", ["∑_{n=1}^{i} n X", "iota_{b} X_{a(1)}\n|b| = i", "X_{a(1:i)}", "norm_{a}(X; i)"])
def test_arrays_without_axes_of_other_libraries_are_integers(text, library):
    xp = pytest.importorskip(library)
    array = xp.tensor(2) if library == "torch" else xp.asarray(2)
    expected = {"∑": [3, 6, 9, 12], "i": [1, 2], "X": [1, 2], "n": math.sqrt(30)}[text[0]]
    np.testing.assert_allclose(nt.evaluate(text, {"X": X, "i": array}).array, expected)


@pytest.mark.parametrize("kind", WHOLE)
def test_every_kind_of_whole_number_is_a_size(kind):
    assert nt.evaluate("iota_{b}", sizes={"b": WHOLE[kind]}).sizes == {"b": 2}
    assert nt.evaluate("iota_{b}", sizes={"b": Fraction(4, 2)}).sizes == {"b": 2}
    assert nt.iota(axis="b", size=WHOLE[kind]).sizes == {"b": 2}
    assert nt.zeros({"b": WHOLE[kind]}).sizes == {"b": 2}


@pytest.mark.parametrize("kind", ["int", "np.int64", "np.uint8", "0-d array", "tensor"])
def test_every_integer_is_a_position(kind):
    assert X[{"a": WHOLE[kind]}].item() == 3
    assert X.take(WHOLE[kind], "a").item() == 3
    assert X.roll(a=WHOLE[kind]).array.tolist() == [3, 4, 1, 2]


@pytest.mark.parametrize("value", [*NOT_WHOLE.values(), True, Fraction(1, 2), np.array([1, 2]), "2"], ids=repr)
def test_another_value_is_no_size(value):
    for call in (
        lambda: nt.evaluate("iota_{b}", sizes={"b": value}),
        lambda: nt.iota(axis="b", size=value),
        lambda: nt.zeros({"b": value}),
        lambda: X.roll(a=value),
    ):
        with pytest.raises(NotationError) as raised:
            call()
        assert raised.value.hint


@pytest.mark.filterwarnings("ignore")  # norm shadows the operator
def test_a_parameter_of_a_function_of_the_program_may_be_a_tensor():
    text = "f(X; b) = X + b\nf(X; b) + quantile_{a}(X; q)"
    value = nt.evaluate(text, {"X": X, "b": nt.tensor(2.0), "q": np.array(0.5)})
    assert value.array.tolist() == [5.5, 6.5, 7.5, 8.5]
    mine = "norm_{a}(X; p) = ∑_{a} X + p\nnorm_{a}(X; p)"
    assert nt.evaluate(mine, {"X": X, "p": nt.tensor([2.0, 3.0], "b")}).array.tolist() == [12, 13]


def test_an_infinite_order_of_a_norm_is_a_number():
    for infinity in (math.inf, np.inf, np.float32(np.inf), np.array(np.inf), nt.tensor(math.inf)):
        assert nt.evaluate("norm_{a}(X; p)", {"X": X, "p": infinity}).item() == 4
    for quarter in (0.25, np.float32(0.25), np.array(0.25), nt.tensor(0.25)):
        assert nt.evaluate("quantile_{a}(X; q)", {"X": X, "q": quarter}).item() == 1.75
