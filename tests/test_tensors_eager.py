"""Calls that are prepared once: what they are kept by, that they are not kept for ever, and laws that all of them obey."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import namedtensor as nt
from namedtensor.core import arrays as layouts
from namedtensor.tensors.eager import calls_of_operator


def refusal(function) -> nt.NotationError:
    with pytest.raises(nt.NotationError) as caught:
        function()
    return caught.value


# ------------------------------------------------------------------------------------------------ what a call is kept by
def test_layouts_are_one_object_where_they_are_equal():
    s = nt.tensor(np.ones(3), "seq")
    assert s.layout is nt.tensor(np.zeros(3), "seq").layout
    assert (s + s).layout is s.layout and nt.softmax(s, axis="seq").layout is s.layout
    assert s.rename(seq="a").rename(a="seq").layout is s.layout
    others = [s < s, nt.tensor(np.ones(3, "float32"), "seq"), s.rename(seq="a"), nt.tensor(np.ones(2), "seq")]
    assert len({tensor.layout for tensor in (s, *others)}) == 5


def test_options_are_part_of_it():
    s = nt.tensor([3.0, 4.0], "seq")
    assert [float(nt.norm(s, axis="seq", p=p)) for p in (1, 2, 1, math.inf)] == pytest.approx([7, 5, 7, 4])
    windows = [nt.pool(nt.iota(axis="seq", size=6), axis=("seq", "k"), size=size).sizes["k"] for size in (2, 3, 2)]
    assert windows == [2, 3, 2]


def test_sizes_and_dtypes_are_part_of_it():
    for size in (1, 2, 3):
        for dtype in ("int64", "float32", "float64"):
            s = nt.tensor(np.ones(size, dtype), "seq")
            assert float(nt.sum(s, axis="seq")) == size
            assert nt.max(s, axis="seq").dtype == (s + s).dtype == dtype
            assert (s + 1).sizes == {"seq": size}


def test_axes_may_be_written_in_several_ways():
    A = nt.tensor(np.arange(6.0).reshape(2, 3), "a b")
    for axis in ("a b", ("a", "b"), ["a", "b"], "b a", iter(["a", "b"])):
        assert float(nt.sum(A, axis=axis)) == 15
        assert refusal(lambda: nt.cumsum(A, axis=("a", "b"))).code == 316
    for axis in ("a", ("a",), ["a"]):
        assert nt.sum(A, axis=axis).array.tolist() == [3, 5, 7]


def test_what_is_prepared_does_not_grow_without_end(monkeypatch):
    for cache in (layouts._INTERNED, calls_of_operator("+")):
        monkeypatch.setattr(cache, "limit", 50)
    for size in range(1, 200):
        s = nt.tensor(np.ones(size), "seq")
        assert float(((s + s) * 2).sum(axis="seq")) == 4 * size
    assert len(layouts._INTERNED) <= 50
    assert len(calls_of_operator("+")) <= 50


# --------------------------------------------------------------------------------------------------------- truth values
def test_truth_values_count_as_numbers():
    x = nt.tensor([2, 7, 1], "a")
    assert ((x > 1) + (x > 5)).array.tolist() == [1, 2, 0]
    assert ((x > 1) * 0.5).array.tolist() == [0.5, 0.5, 0]
    assert int((x > 1).sum(axis="a")) == 2 and float((x > 1).mean(axis="a")) == pytest.approx(2 / 3)
    assert int(nt.dot(x > 1, x, axis="a")) == 9
    assert (-(x > 1)).array.tolist() == [-1, -1, 0]


def test_numbers_do_not_count_as_truth_values():
    x = nt.tensor([2, 7, 1], "a")
    wrong = (
        lambda: x & x,
        lambda: ~x,
        lambda: x.any(axis="a"),
        lambda: nt.where(x, 1, 0),
        lambda: (x > 1) | 1,
        lambda: 1 & (x > 1),
    )
    for function in wrong:
        assert refusal(function).code == 315
    assert ((x > 1) & True).array.tolist() == [True, True, False]


def test_large_tensors_are_as_small_ones():
    X = nt.tensor(np.random.default_rng(0).normal(size=(1025, 301)), "a b")
    for function in (nt.gelu, nt.exp, lambda x: nt.softmax(x, axis="b"), lambda x: nt.standardize(x, axis="b")):
        rows = [function(X[{"a": slice(n, n + 205)}]).array for n in range(0, 1025, 205)]
        np.testing.assert_allclose(function(X).to_array("a b"), np.concatenate(rows), rtol=1e-12, atol=1e-14)


# ------------------------------------------------------------------------------------------------------ words of refusal
A = nt.tensor([[3, 1, 4], [1, 5, 9], [2, 6, 5]], "height width")
x = nt.tensor([2, 7, 1], "height")


def test_the_whole_text_of_two_refusals():
    assert str(refusal(lambda: A + nt.tensor([1, 2], "height"))) == (
        "shape error 302: axis height has size 3 on one side of + and size 2 on the other\n"
        "  the first operand has ℝ^{height[3] × width[3]}\n"
        "  the second operand has ℝ^{height[2]}\n"
        "  they are one axis because they share the name height\n"
        "  hint: rename one of the two axes, or pass tensors of the same size"
    )
    assert str(refusal(lambda: nt.softmax(A, axis="heigth"))) == (
        "shape error 301: softmax_{heigth} needs axis heigth, missing from the tensor\n"
        "  the tensor has ℝ^{height[3] × width[3]}\n"
        "  hint: did you mean height?"
    )


FITS_NOT = [
    (lambda: nt.det(A, axis="height"), 316, "expects 2 axes, got 1"),
    (lambda: nt.max(A, x, axis="height"), 304, "expects 1 operand, got 2"),
    (lambda: nt.exp(A, A), 304, "exp expects 1 operand, got 2"),
    (lambda: nt.add(A, A, A), 304, "+ expects 2 operands, got 3"),
    (lambda: nt.concat(axis="height"), 304, "expects 1 or more operands, got 0"),
    (lambda: nt.concat(A, x.rename(height="width"), axis="height"), 301, "missing from the second operand"),
    (lambda: nt.stack(A, x, axis="height"), 306, "returns axis height, but its operand already has an axis height"),
    (lambda: nt.unroll(A, axis=("height", "kernel")), 309, 'sizes={"kernel": 3}'),
    (lambda: nt.index(A, x), 316, "expects 1 axis, got 0"),
    (lambda: nt.index(A, nt.tensor([0, 1], "width"), axis="height"), 302, "axis width has size 3 on one side"),
    (lambda: nt.softmax(A, axis="height, width"), 208, "spaces, not commas"),
]


@pytest.mark.parametrize("wrong, number, words", FITS_NOT)
def test_what_does_not_fit(wrong, number, words):
    error = refusal(wrong)
    assert (error.code, words in str(error)) == (number, True), str(error)
    assert error.source is None


# ------------------------------------------------------------------------------------------------------------------ laws
SIZES = {"a": 2, "b": 3, "c": 1}


@st.composite
def tensors(draw):
    axes = draw(st.permutations(draw(st.lists(st.sampled_from(list(SIZES)), unique=True))))
    shape = tuple(SIZES[axis] for axis in axes)
    numbers = draw(st.lists(st.integers(-5, 5), min_size=math.prod(shape), max_size=math.prod(shape)))
    dtype = draw(st.sampled_from(["int64", "float32", "float64"]))
    return nt.tensor(np.array(numbers, dtype=dtype).reshape(shape), axes)


@given(tensors(), tensors(), tensors())
def test_laws_of_arithmetic(X, Y, Z):
    assert nt.allclose(X + Y, Y + X)
    assert nt.allclose((X + Y) + Z, X + (Y + Z))
    assert nt.allclose(X * (Y + Z), X * Y + X * Z)
    assert nt.allclose(X - Y, -(Y - X))
    assert (X == X).array.all()


@given(tensors(), tensors())
def test_a_contraction_is_a_product_and_a_sum(X, Y):
    shared = tuple(axis for axis in X.axes if axis in Y.axes)
    if shared:
        assert nt.allclose(nt.dot(X, Y, axis=shared), nt.sum(X * Y, axis=shared))
    assert nt.allclose(nt.dot(X, Y), X * Y)


@given(tensors(), st.data())
def test_merging_is_row_major_in_the_order_written_and_splitting_undoes_it(X, data):
    if not X.axes:
        return
    group = data.draw(st.lists(st.sampled_from(X.axes), min_size=1, unique=True))
    merged = X.merge(m=group)
    rest = [axis for axis in X.axes if axis not in group]
    expected = X.to_array((*rest, *group)).reshape(*[X.sizes[axis] for axis in rest], -1)
    assert merged.to_array((*rest, "m")).tolist() == expected.tolist()
    assert nt.allclose(merged.split(m={axis: X.sizes[axis] for axis in group}), X)
    assert nt.allclose(merged.split(m={axis: X.sizes[axis] if axis != group[0] else None for axis in group}), X)


def test_an_empty_axis_is_split_into_sizes_that_are_all_said():
    assert nt.tensor(np.zeros((0, 2)), "a b").split(a={"c": 0, "d": 5}).sizes == {"c": 0, "d": 5, "b": 2}
    assert refusal(lambda: nt.tensor(np.zeros((0, 2)), "a b").split(a={"c": 0, "d": None})).code == 313
    assert refusal(lambda: A.split(height="ab")).code == 313
    assert refusal(lambda: A.split(height={})).code == 313
    assert refusal(lambda: A.merge(layer=())).code == 313


def test_a_sign_costs_what_the_ufunc_costs():
    A = nt.tensor(np.ones((3, 4)), "a b")
    assert (-A).shape == A.shape
    runs = [run for run, _ in calls_of_operator("negative").values()]
    assert np.negative in runs
