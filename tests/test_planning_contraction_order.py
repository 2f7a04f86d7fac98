"""The order of a product of many: its price by hand, the cheapest of all orders, and how it is looked for."""

import itertools
import math

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.planning import contraction_order
from namedtensor.planning.contraction_order import CALL_MULTIPLY_ADDS, MATRIX_MULTIPLY_ADDS, MAX_FACTORS, best, price

SIZES = {"a": 2, "b": 3, "c": 5, "d": 7, "h": 11}
# two factors, the axes that are summed, those of further factors, and what it costs
PRICES = {
    "two matrices": ("ab", "bc", "b", "", 2 * 3 * 5 + 2 * 2 * 5),
    "a matrix and a vector": ("ab", "b", "b", "", 2 * (2 * 3) + 2 * 2),
    "two vectors": ("b", "b", "b", "", 2 * 3 + 2),
    "an axis that another factor has": ("ab", "bc", "b", "b", 8 * (2 * 3 * 5) + 2 * 2 * 3 * 5 + 3 * MATRIX_MULTIPLY_ADDS),
    "no axis in common": ("a", "c", "", "", 8 * (2 * 5) + 2 * 2 * 5),
    "one is summed alone": ("ab", "cd", "b", "", 8 * (2 * 3 * 5 * 7) + 2 * 2 * 5 * 7),
    "a stack of matrices": ("hab", "hbc", "b", "", 11 * 2 * 3 * 5 + 2 * 11 * 2 * 5 + 11 * MATRIX_MULTIPLY_ADDS),
    "a stack of matrices and vectors": ("hab", "hb", "b", "", 2 * 11 * 2 * 3 + 2 * 11 * 2 + 11 * MATRIX_MULTIPLY_ADDS),
    "two axes are summed": ("abd", "bcd", "bd", "", 2 * 3 * 5 * 7 + 2 * 2 * 5),
}  # fmt: skip


@pytest.mark.parametrize(("left", "right", "summed", "outside", "expected"), PRICES.values(), ids=PRICES)
def test_the_price_of_a_product_by_hand(left, right, summed, outside, expected):
    number = price(frozenset(left), frozenset(right), frozenset(summed), frozenset(outside), SIZES)
    assert number == expected + CALL_MULTIPLY_ADDS


def orders(places):
    """Every order of a product of these, as pairs of pairs."""
    if len(places) == 1:
        yield places[0]
    first, rest = places[0], places[1:]
    for count in range(len(rest)):
        for beside in itertools.combinations(rest, count):
            left, right = [first, *beside], [position for position in rest if position not in beside]
            yield from itertools.product(orders(left), orders(right))


def priced(tree, shapes, axes):
    """The price of an order, product by product, and the axes that are left."""
    if isinstance(tree, int):
        return 0.0, shapes[tree], {tree}
    (one, left, mine), (two, right, theirs) = (priced(item, shapes, axes) for item in tree)
    outside = frozenset().union(*(shape for index, shape in enumerate(shapes) if index not in mine | theirs))
    total = one + two + price(left, right, axes, outside, SIZES)
    return total, (left | right) - (axes - outside), mine | theirs


@pytest.mark.parametrize(
    ("shapes", "summed"),
    [("ab bc c", "bc"), ("ab bc cd d", "bcd"), ("hab hbc hc", "bc"), ("a b ab", "ab"), ("ab ab ab", "b"), ("ab cd bc ad", "bcd"),
     ("a abh bc ch", "abh"), ("ab bc cd da", "abcd")],
)  # fmt: skip
def test_no_order_is_cheaper(shapes, summed):
    sets, axes = [frozenset(word) for word in shapes.split()], frozenset(summed)
    cost, tree = best(sets, axes, SIZES)
    every = [priced(order, sets, axes)[0] for order in orders(list(range(len(sets))))]
    assert cost == min(every) == priced(tree, sets, axes)[0]
    assert len(every) == math.prod(range(1, 2 * len(sets) - 2, 2))


def chain(count, size=6):
    """A product of matrices and a vector, as it is read from the left, and the shapes of its factors."""
    shapes = {f"M_{n}": f"ℝ^{{x{n}[{size}] × x{n + 1}[{size}]}}" for n in range(1, count)}
    text = "M_1" + "".join(f" ⊙_{{x{n}}} M_{n}" for n in range(2, count))
    return f"({text}) ⊙_{{x{count}}} v", {**shapes, "v": f"ℝ^{{x{count}[{size}]}}"}


@pytest.mark.parametrize("count", [3, 5, MAX_FACTORS])
def test_a_chain_ends_in_a_vector_from_which_it_is_done(count):
    text, shapes = chain(count, 80)
    assert nt.formula(text).cost(shapes).multiply_adds == (count - 1) * 80**2
    assert nt.formula(text).cost(shapes, disable=("contraction-order",)).multiply_adds > (count - 1) * 80**2


@pytest.mark.parametrize("count", [3, 5, MAX_FACTORS])
def test_a_small_chain_is_computed_as_written(count):
    """Another order would save less than the examination of its values takes."""
    text, shapes = chain(count)
    assert nt.formula(text).cost(shapes).multiply_adds == (count - 2) * 6**3 + 6**2


def test_of_too_many_no_order_is_looked_for(monkeypatch):
    longest = []
    monkeypatch.setattr(
        contraction_order, "best", lambda shapes, *more: longest.append(len(shapes)) or best(shapes, *more)
    )
    text, shapes = chain(MAX_FACTORS + 1)
    assert nt.formula(text).cost(shapes).multiply_adds > MAX_FACTORS * 6**2
    assert MAX_FACTORS == max(longest) == 8


def test_each_product_of_a_long_chain_is_looked_at_once(monkeypatch):
    looked = []
    parts = contraction_order._parts
    monkeypatch.setattr(contraction_order, "_parts", lambda term, *more: looked.append(term) or parts(term, *more))
    counts = []
    for count in (20, 40):
        looked.clear()
        nt.formula(chain(count)[0]).cost(chain(count)[1])
        counts.append(len(looked))
    assert counts[1] < 2.5 * counts[0]


def test_what_is_used_twice_is_computed_once_and_is_a_factor():
    text = "Y = A ⊙_{b} B ⊙_{c} C\n(Y ⊙_{d} v) ⊙ (Y ⊙_{d} w)"
    shapes = {"A": "ℝ^{a[6] × b[6]}", "B": "ℝ^{b[6] × c[6]}", "C": "ℝ^{c[6] × d[6]}", "v": "ℝ^{d[6]}", "w": "ℝ^{d[6]}"}
    assert nt.formula(text).cost(shapes).multiply_adds == 2 * 6**3 + 2 * 6**2


@pytest.mark.parametrize(
    "text", ["A ⊙_{b} B ⊙_{c} v", "∑_{b} (A ⊙ (B ⊙_{c} v) ⊙ w)", "(A ⊙ w) ⊙_{b} B ⊙_{c} v", "∑_{c} (A ⊙_{b} (B ⊙ v))"]
)
def test_another_order_gives_the_same(text):
    draw = np.random.default_rng(0)
    axes = {"A": "a b", "B": "b c", "v": "c", "w": "b"}
    tensors = {
        name: nt.tensor(draw.normal(size=[SIZES[axis] for axis in order.split()]), order)
        for name, order in axes.items()
    }
    tensors = {name: tensor for name, tensor in tensors.items() if name in text}
    left = nt.evaluate(text, tensors)
    assert nt.allclose(left, nt.formula(text).compile(disable=("contraction-order",))(**tensors))


@pytest.mark.parametrize(
    ("text", "late"),
    [("(softmax_{seq}(S) ⊙_{seq} V) ⊙_{heads, val} W", True), ("W ⊙_{heads, val} (V ⊙_{seq} softmax_{seq}(S))", True),
     ("softmax_{seq}(S) ⊙_{seq} (V ⊙_{val} W_{heads(1)})", False)],
)  # fmt: skip
def test_what_softmax_weighs_is_divided_late_within_a_chain_too(text, late):
    """By as few numbers as the product has, where the order that was written is the cheapest."""
    draw = np.random.default_rng(6).normal
    sizes = {"heads": 2, "q": 40, "seq": 60, "val": 8, "chans": 24}
    axes = {"S": "heads q seq", "V": "heads seq val", "W": "heads val chans"}
    values = {name: nt.tensor(draw(size=[sizes[a] for a in axis.split()]), axis) for name, axis in axes.items()}
    compiled = nt.formula(text).compile("numpy")
    result, right = compiled(**values), nt.evaluate(text, values)
    divided = [step.value.count for step in compiled.plan.steps if step.primitive == "normalize"]
    assert (divided == [2 * 40 * 8]) == late
    weights = np.exp(values["S"].array)
    weights /= weights.sum(-1, keepdims=True)
    W = values["W"].array if late else values["W"].array[:1]
    by_hand = np.einsum("hqs,hsv,hvc->qc" if late else "hqs,hsv,xvc->hqc", weights, values["V"].array, W)
    np.testing.assert_allclose(result.to_array("q chans" if late else "heads q chans"), by_hand, rtol=1e-12)
    np.testing.assert_allclose(right.to_array(result.axes), result.array, rtol=1e-12)


def test_the_limit_is_that_of_the_order_that_is_computed():
    draw = np.random.default_rng(7).normal
    axes, sizes = {"G": "t v", "α": "t s", "K": "s k", "V": "s v"}, {"t": 16, "s": 16, "k": 8, "v": 8}
    values = {name: nt.tensor(draw(size=[sizes[a] for a in axis.split()]), axis) for name, axis in axes.items()}
    limits = nt.Limits(max_result_bytes=16 * 16 * 8 * 8)  # the product of the first three has 8 times as many
    result = nt.evaluate("G ⊙ α ⊙ K ⊙_{s, v} V", values, limits=limits)
    by_hand = np.einsum("tv,ts,sk,sv->tk", *(values[name].to_array(axis) for name, axis in axes.items()))
    np.testing.assert_allclose(result.to_array("t k"), by_hand)
    for text in ("G ⊙ α ⊙ K ⊙ V", "∑_{s} exp(G ⊙ α ⊙ K)", "P = G ⊙ α ⊙ K\n(P ⊙_{s, v} V) + ∑_{s, v} P^2"):
        with pytest.raises(nt.NotationError, match=r"the result needs 128 KiB; the limit is 16 KiB"):
            nt.evaluate(text, values, limits=limits)
