"""First values of parameters: fans found from the formulas, spreads said as formulas."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.initializers import Constant, Normal, Uniform, glorot_uniform, he_normal

PROGRAM = """\
Y = (X ⊙_{chans} W^{1,Q} + b) ⊙_{heads, key} W^{1,O} ⊙ γ + E_{vocab(i)} + P_{seq→place}
X ∈ ℝ^{seq × chans}
W^{1,Q} ∈ ℝ^{heads × chans × key}
W^{1,O} ∈ ℝ^{heads × key × chans}
b ∈ ℝ^{heads × key}
γ ∈ ℝ^{chans}
E ∈ ℝ^{vocab × chans}
P ∈ ℝ^{seq × chans}"""
SIZES = {"seq": 3, "chans": 40, "heads": 10, "key": 30, "vocab": 50, "place": 3}
FANS = {"W^{1,Q}": (40, 300), "W^{1,O}": (300, 40), "E": (50, 40)}


def parameters(**options):
    return nt.program(PROGRAM).init(seed=3, sizes=SIZES, i=nt.tensor([1, 2, 3], "place"), **options)


def spread(tensor):
    return float(np.std(tensor.array))


@pytest.mark.parametrize("name", FANS)
def test_what_is_contracted_keeps_the_variance_of_its_input(name):
    fan_in, _ = FANS[name]
    assert spread(parameters()[name]) == pytest.approx(fan_in**-0.5, rel=0.05)


@pytest.mark.parametrize("count", [2, 3, 12])
def test_members_of_looped_layers_keep_the_variance_of_their_input(count):
    program = nt.program(
        "Y = X^L\nX^0 = X\nX^l = X^{l-1} + relu(X^{l-1} ⊙_{chans} W^{l,1}) ⊙_{hidden} W^{l,2} + b^l for l = 1, …, L\n"
        "W^{l,1}, W^{l,2} ∈ ℝ^{chans × hidden}\nb^l ∈ ℝ^{chans}\nX ∈ ℝ^{seq × chans}"
    )
    sizes = {"L": count, "chans": 100, "hidden": 25, "seq": 2}
    initial = program["Y"].init(seed=0, sizes=sizes, X="ℝ^{seq × chans}")
    for layer in range(1, count + 1):
        assert spread(initial[f"W^{{{layer},1}}"]) == pytest.approx(100**-0.5, rel=0.1)
        assert spread(initial[f"W^{{{layer},2}}"]) == pytest.approx(25**-0.5, rel=0.1)
        assert not initial[f"b^{layer}"].array.any()


@pytest.mark.parametrize("name", FANS)
def test_glorot_is_uniform_within_its_bound(name):
    fan_in, fan_out = FANS[name]
    bound = np.sqrt(6 / (fan_in + fan_out))
    array = parameters(initializers={"W": glorot_uniform, "E": glorot_uniform})[name].array
    assert np.abs(array).max() == pytest.approx(bound, rel=0.05) and np.abs(array).max() <= bound
    assert spread(nt.tensor(array, tuple("abc"[: array.ndim]))) == pytest.approx(bound / 3**0.5, rel=0.05)


def test_what_is_only_added_is_zero_and_γ_is_one():
    result = parameters()
    assert {float(result[name].array.min()) for name in ("b", "P")} == {0} and float(result["γ"].array.min()) == 1


SCHEMES = [
    ({"W": Normal("0.02")}, "W^{1,Q}", 0.02),
    ({"W": Normal("0.02"), "W^O": Normal("0.02 / √(2 heads)")}, "W^{1,O}", 0.02 / 20**0.5),
    ({"W": Normal("1"), "W^{1,Q}": he_normal}, "W^{1,Q}", (2 / 40) ** 0.5),
    ({"E": Uniform("√3")}, "E", 1),
    ({"b": Constant(4.0)}, "b", 0),
]


@pytest.mark.parametrize("initializers, name, expected", SCHEMES)
def test_the_nearest_scheme_serves(initializers, name, expected):
    assert spread(parameters(initializers=initializers)[name]) == pytest.approx(expected, rel=0.06)


def test_a_seed_gives_the_same_again_and_another_others():
    first, second = parameters(), parameters()
    assert all(np.array_equal(first[name].array, second[name].array) for name in first)
    other = nt.program("W ⊙_{a} X\nW ∈ ℝ^{a}\nX ∈ ℝ^{a}").init(seed=4, sizes={"a": 5})
    assert not np.array_equal(other["W"].array, other["X"].array)


def test_dtype_and_a_choice_of_names():
    result = parameters(dtype="float32", names=["E", "b"])
    assert {name: str(value.dtype) for name, value in result.items()} == {"b": "float32", "E": "float32"}


def test_a_wrong_scheme_shows_its_formula():
    with pytest.raises(nt.NotationError, match=r"undefined name inpts(.|\n)*√\(1 / inpts\)"):
        parameters(initializers={"W": Normal("√(1 / inpts)")})
