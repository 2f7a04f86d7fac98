"""Identities of a first course are proved, near misses are not, and inequalities are tried on random tensors."""

import sys
from pathlib import Path

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NO_VALUE

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))

from identities import INEQUALITIES, SECTIONS, shapes_of

IDENTITIES = [identity for rows in SECTIONS.values() for identity in rows]


def test_there_are_sixty_identities_of_a_first_course():
    assert len({identity.text for identity in IDENTITIES}) >= 60
    assert len({identity.wrong for identity in IDENTITIES}) >= 60


@pytest.mark.sampled(3)
@pytest.mark.parametrize("identity", IDENTITIES, ids=lambda identity: identity.text)
def test_an_identity_is_proved_and_holds_at_points(identity):
    assert nt.prove(identity.text, **shapes_of(identity.text)).status == "proved"
    draw = np.random.default_rng(0)
    sizes = {"a": 3, "n": 4, "k": 2, "d": 3, "r": 3, "c": 3}
    for sample in (draw.standard_normal, lambda shape: draw.uniform(0.2, 2, shape)):
        tensors = {}
        for name, shape in shapes_of(identity.text).items():
            axes = shape.removeprefix("ℝ").strip("^{}").split(" × ") if "^" in shape else []
            tensors[name] = nt.tensor(sample([sizes[axis] for axis in axes]), " ".join(axes))
        try:
            nt.evaluate(f"{identity.text}\n0", **tensors)
        except nt.NotationError as problem:  # such as where a side is the logarithm of a negative number
            assert problem.reason == NO_VALUE and sample == draw.standard_normal


@pytest.mark.sampled(3)
@pytest.mark.parametrize("identity", IDENTITIES, ids=lambda identity: identity.wrong)
def test_a_near_miss_is_disproved_by_tensors_that_show_it(identity):
    verdict = nt.prove(identity.wrong, **shapes_of(identity.wrong))
    assert verdict.status == "disproved"
    assert verdict.counterexample.keys() == shapes_of(identity.wrong).keys()


@pytest.mark.parametrize("text", INEQUALITIES)
def test_an_inequality_is_tried_on_random_tensors(text):
    assert str(nt.prove(text, **shapes_of(text))) == "not proved; holds on 200 random tests"
    wrong = nt.prove(INEQUALITIES[text], **shapes_of(INEQUALITIES[text]))
    assert wrong.status == "disproved" and str(wrong).startswith("disproved: where x = ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("log(−x^2 − 1) ≤ x", "not proved; undefined on every random test"),
        ("x / 0 = x / 0", "not disproved: undefined on every random test"),
        ("sort_{a} x = sort_{a} (sort_{a} x)", "not disproved: holds on 8 random tests"),
        (
            "sign(x^{1/3}) = sign x + 0 √x",
            "not disproved: holds on 8 random tests wherever both sides are defined: x ≥ 0",
        ),
        ("abs(x^{1/3}) = (abs x)^{1/3} + 0 √x", "proved wherever both sides are defined: x ≥ 0"),
        ("Y = ∑_{a} x^2\nY ≥ 0", "not proved; holds on 200 random tests"),
    ],
)
def test_what_is_neither_proved_nor_disproved_says_on_how_many_draws_it_holds(text, expected):
    assert str(nt.prove(text, x="ℝ^{a}")) == expected


def test_what_asserts_nothing_is_an_error():
    with pytest.raises(nt.NotationError, match="needs an equation or an inequality"):
        nt.prove("x + 1", x="ℝ^{a}")


UNSOUND = (  # near the laws: true for positive numbers, or where nothing is 0, and no more
    "log(x ⊙ y) = log(abs x) + log(abs y) + 0 log(−x)",
    "√(x^2 ⊙ y) = x ⊙ √y",
    "abs(x)^3 = x^3",
    "sign(x)^2 = 1",
    "𝕀[x ≥ 0] = (1 + sign x) / 2",
    "max_{a} x = (∑_{a} x + abs(∑_{a} x)) / 2",
    "(−s)^{|a|} = s^{|a|} + 0 ∑_{a} x",
    "∑_{n} (q / ∑_{n} q) ⊙ ∑_{n} q = ∑_{n} q^2",
    "∑_{n} (X ⊙_{k} w / ∑_{n} q) = 1",
    "tanh(x) = sinh(x) ⊙ cosh(x)",
    "det_{r,c}(A ⊙ B) = det_{r,c} A ⊙ det_{r,c} B",
    "inv_{r,c}(A + B) = inv_{r,c} A + inv_{r,c} B",
    "det_{r,c}(A_{c→m} ⊙_{m} B_{r→m}) = det_{r,c}(A + B)",
    "∏_{a} exp x = ∑_{a} exp x",
)


@pytest.mark.parametrize("text", UNSOUND)
def test_what_holds_only_in_part_is_not_proved(text):
    assert nt.prove(text, **shapes_of(text)).status != "proved"
