"""A definition that speaks of the axis of a function's head belongs to it, for `ax` is whatever axis the use names."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference

V = np.array([1.0, 2.0, 4.0])
M = np.arange(1.0, 7.0).reshape(3, 2)
HEAD = "g_{ax}(X) = "
USE = "g_{c}(M) + ∑_{c} g_{b}(M)"


def of_each(one):
    """By hand: over c, and the sum over c of that over b."""
    return np.apply_along_axis(one, 0, M) + np.apply_along_axis(one, 1, M).sum(0)


FACTS = {
    "a size": ("n ∑_{ax} X", ("n = |ax|",), lambda x: len(x) * x.sum()),
    "made of a size": ("S ∑_{ax} X", ("S = 1/|ax|",), lambda x: x.mean()),
    "through another": ("S ∑_{ax} X", ("S = 1/n", "n = |ax|"), lambda x: x.mean()),
    "of both": ("n + m", ("n = |ax|", "m = ∑_{ax} X"), lambda x: len(x) + x.sum()),
    "positions": ("∑_{ax} (X ⊙ p)", ("p = iota_{ax} + 1",), lambda x: (x * (np.arange(len(x)) + 2)).sum()),
    "a reduction of positions": ("s ∑_{ax} X", ("s = ∑_{ax} iota_{ax}",), lambda x: x.sum() * len(x) * (len(x) + 1) / 2),
}  # fmt: skip


def ways(text, **given):
    tensors = {name: nt.tensor(array, axes) for name, (array, axes) in given.items()}
    yield nt.evaluate(text, tensors).to_numpy()
    yield nt.formula(text).compile()(values=tensors).to_numpy()
    slow = reference.evaluate(
        text, {name: reference.tensor(array.tolist(), axes) for name, (array, axes) in given.items()}
    )
    yield np.array([slow.entries[key] for key in sorted(slow.entries)]).reshape(slow_shape(slow))


def slow_shape(tensor):
    return tuple(max(key[at] for key in tensor.entries) for at in range(len(next(iter(tensor.entries)))))


@pytest.mark.parametrize("below", [True, False])
@pytest.mark.parametrize("name", FACTS)
def test_what_a_function_over_axes_says_of_its_axis(name, below):
    body, facts, by_hand = FACTS[name]
    lines = [HEAD + body, *facts] if below else [*facts, HEAD + body]
    for way in ways("\n".join([*lines, "g_{c}(V)"]), V=(V, "c")):
        np.testing.assert_allclose(way, by_hand(V))


@pytest.mark.parametrize("name", FACTS)
def test_each_use_has_its_own_axis(name):
    body, facts, by_hand = FACTS[name]
    want = np.apply_along_axis(by_hand, 0, M) + np.apply_along_axis(by_hand, 1, M).sum()
    for way in ways("\n".join([HEAD + body, *facts, USE]), M=(M, "c b")):
        np.testing.assert_allclose(way, want)


@pytest.mark.parametrize("rest, want", [("g_{c}(V) + n", 24.0), ("g_{c}(V) + 2 m\nm = n + 1", 29.0), ("n", 3.0)])
def test_what_is_meant_elsewhere_too_is_seen_there(rest, want):
    text = "n = |c|\ng_{c}(X) = n ∑_{c} X\n" + rest
    for way in ways(text, V=(V, "c")):
        np.testing.assert_allclose(way, want)


@pytest.mark.parametrize("text", ["f(X) = F\nF = |X|\nf(V)", "F = |X|\nf(X) = F\nf(V)", "f(X) = 2 F/2\nF = |X|\nf(V)"])
def test_bars_around_a_parameter(text):
    for way in ways(text, V=(-V, "c")):
        np.testing.assert_allclose(way, V)


@pytest.mark.parametrize("start", ["|c|", "|c| + 0", "0 + |c|", "2|c| − |c|"])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 2, 0, 3), (2, 3, 1, 0)])
def test_a_family_that_begins_with_a_size_beside_what_makes_the_axis(start, order):
    lines = ["D = [−0.5, 2]_{c}", f"F^{{0}} = {start}", "F^t = F^{t-1} + 1 for t = 1, …, 2", "out = F^{2} + ∑_{c} D"]
    for way in ways("\n".join(lines[item] for item in order)):
        np.testing.assert_allclose(way, 5.5)


# --------------------------------------------------------------------------------------- a tensor named like an axis
@pytest.mark.parametrize("text", ["Y = X + b\nb ∈ ℝ^{b}", "Y = f(X)\nf(X) = X ⊙ b\nb ∈ ℝ^{b}", "X b\nb ∈ {0, 1}^{b}"])
def test_a_size_is_no_value_of_a_tensor_that_is_declared(text):
    X, b = nt.tensor([1.0, 2.0], "a"), nt.tensor([0.0, 1.0], "b")
    with pytest.raises(nt.NotationError, match="no value for declared name b"):
        nt.evaluate(text, X=X, sizes={"b": 2})
    assert nt.evaluate(text, X=X, b=b, sizes={"b": 2}).sizes == {"a": 2, "b": 2}
    assert nt.program(text).parameters(sizes={"b": 2}, X="ℝ^{a[2]}") == {"b": "ℝ^{b[2]}"}


def test_a_size_is_the_value_of_a_number_that_is_declared():
    assert float(nt.evaluate("n + 1\nn ∈ ℝ", sizes={"n": 2})) == 3
