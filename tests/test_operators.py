"""Every operator against its definition in plain Python, record by record, whatever the order of storage and the dtype."""

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import namedtensor as nt
from namedtensor.operators import REGISTRY
from namedtensor.tensors.eager import specialize_lowering

SIZES = {"a": 2, "b": 3, "c": 4, "d": 2, "e": 3}
RANDOM = np.random.default_rng(7)


# ------------------------------------------------------------------------------ tensors as functions of records
def tensor(axes: str, low: float = -2.0, high: float = 2.0, dtype=float):
    names = axes.split()
    numbers = RANDOM.uniform(low, high, [SIZES[axis] for axis in names])
    return nt.tensor(np.round(numbers).astype(dtype) if np.dtype(dtype).kind in "iu" else numbers.astype(dtype), axes)


def records(sizes):
    for indices in itertools.product(*(range(size) for size in sizes.values())):
        yield dict(zip(sizes, indices))


def at(X, record):
    """The element of a tensor at a record, which may have extra axes."""
    return X.array[tuple(record[axis] for axis in X.axes)].item()


def orders(X):
    """The tensor in every order of storage."""
    for axes in itertools.permutations(X.axes):
        yield nt.tensor(X.to_array(axes).copy(), axes)


def vector(X, record, axes):
    """The elements over some axes, at a record of the others."""
    return [at(X, {**record, **inner}) for inner in records({axis: X.sizes[axis] for axis in axes})]


def without(X, axes):
    return {axis: size for axis, size in X.sizes.items() if axis not in axes}


# ---------------------------------------------------------------------------------------------- functions of numbers
OF_NUMBERS = {
    "exp": math.exp, "sin": math.sin, "cos": math.cos, "tan": math.tan, "tanh": math.tanh, "sinh": math.sinh,
    "cosh": math.cosh, "erf": math.erf, "abs": abs, "sign": lambda x: (x > 0) - (x < 0), "floor": math.floor,
    "ceil": math.ceil, "negative": lambda x: -x, "relu": lambda x: max(x, 0), "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "silu": lambda x: x / (1 + math.exp(-x)), "softplus": lambda x: math.log(1 + math.exp(x)),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "odd": lambda x: x % 2 == 1, "even": lambda x: x % 2 == 0,
}  # fmt: skip
OF_POSITIVES = {"log": math.log, "sqrt": math.sqrt}


@pytest.mark.parametrize("name", [*OF_NUMBERS, *OF_POSITIVES])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8"])
def test_a_function_of_numbers_works_on_each(name, dtype):
    function = {**OF_NUMBERS, **OF_POSITIVES}[name]
    X = tensor("a b", 1 if name in OF_POSITIVES else -3, 4, dtype)
    result = getattr(nt, name)(X)
    assert result.sizes == X.sizes
    tolerance = 1e-6 if dtype == "float32" else 1e-14
    for record in records(X.sizes):
        assert at(result, record) == pytest.approx(function(at(X, record)), rel=tolerance, abs=tolerance)


@pytest.mark.parametrize(("name", "function"), [("arcsin", math.asin), ("arccos", math.acos)])
def test_the_angles_of_sines_and_cosines(name, function):
    numbers = [-1.0, -0.5, 0.0, 1e-9, 0.7, 1.0]
    array = getattr(nt, name)(nt.tensor(numbers, "a")).to_array()
    np.testing.assert_allclose(array, list(map(function, numbers)), rtol=1e-15, atol=1e-15)
    with np.errstate(invalid="ignore"):
        assert np.isnan(getattr(nt, name)(nt.tensor([1.5], "a")).to_array()).all()


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [("logsigmoid", -1000.0, -1000.0), ("logsigmoid", 1000.0, 0.0), ("elu", 1000.0, 1000.0), ("elu", -1000.0, -1.0),
     ("expm1", 1e-12, 1e-12), ("log1p", 1e-12, 1e-12), ("elu", -1e-12, -1e-12), ("arctan", 1e300, math.pi / 2)],
)  # fmt: skip
def test_nothing_overflows_and_nothing_small_is_lost(name, value, right):
    assert float(getattr(nt, name)(nt.tensor(value))) == pytest.approx(right, rel=1e-11, abs=1e-300)


OF_TWO = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y, "pow": lambda x, y: x**y, "max": max, "min": min, "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y, "less": lambda x, y: x < y, "less_equal": lambda x, y: x <= y,
    "greater": lambda x, y: x > y, "greater_equal": lambda x, y: x >= y,
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", OF_TWO)
@pytest.mark.parametrize(
    "axes", [("a b", "a b"), ("a b", "b"), ("a", "a b"), ("a b", "c"), ("a b c", "c a"), ("b a", "d b c")]
)
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_a_function_of_two_numbers_broadcasts_over_the_union_of_axes(name, axes, dtype):
    one, other = tensor(axes[0], 1, 4, dtype), tensor(axes[1], 1, 4, dtype)
    for X, Y in itertools.product(orders(one), orders(other)):
        result = getattr(nt, name)(X, Y)
        assert result.sizes == {**X.sizes, **Y.sizes}
        for record in records(result.sizes):
            assert at(result, record) == pytest.approx(OF_TWO[name](at(X, record), at(Y, record)), rel=1e-14)


@pytest.mark.parametrize("name", OF_TWO)
def test_a_plain_number_may_stand_on_either_side(name):
    X = tensor("a b", 1, 4)
    for record in records(X.sizes):
        assert at(getattr(nt, name)(X, 2), record) == pytest.approx(OF_TWO[name](at(X, record), 2))
        assert at(getattr(nt, name)(2, X), record) == pytest.approx(OF_TWO[name](2, at(X, record)))
        assert at(getattr(nt, name)(X, 1.5), record) == pytest.approx(OF_TWO[name](at(X, record), 1.5))


@pytest.mark.parametrize("name, function", [("logical_and", lambda x, y: x and y), ("logical_or", lambda x, y: x or y)])
def test_logic(name, function):
    P, Q = tensor("a b") > 0, tensor("b c") > 0
    result = getattr(nt, name)(P, Q)
    for record in records(result.sizes):
        assert at(result, record) is function(at(P, record), at(Q, record))
        assert at(nt.logical_not(P), record) is (not at(P, record))


def test_where_and_clip_take_three_that_broadcast():
    C, X, Y = tensor("a") > 0, tensor("b a"), tensor("c")
    result = nt.where(C, X, Y)
    for record in records({"a": 2, "b": 3, "c": 4}):
        assert at(result, record) == (at(X, record) if at(C, record) else at(Y, record))
    low, high = tensor("b", -1, 0), tensor("c", 0, 1)
    result = nt.clip(X, low, high)
    for record in records({"a": 2, "b": 3, "c": 4}):
        assert at(result, record) == min(max(at(X, record), at(low, record)), at(high, record))
    assert nt.clip(nt.tensor([-5, 0, 5], "a"), -1, 1).array.tolist() == [-1, 0, 1]
    assert nt.where(C, 1, 0).dtype == np.int64


def test_erf_is_accurate_to_the_last_digits_everywhere():
    numbers = np.concatenate([np.linspace(-8, 8, 40001), np.geomspace(1e-300, 1, 500), [0.0, np.inf, -np.inf]])
    array = nt.erf(nt.tensor(numbers, "a")).array
    expected = np.array([math.erf(number) for number in numbers])
    np.testing.assert_allclose(array, expected, rtol=1e-15, atol=0)
    assert math.isnan(float(nt.erf(nt.tensor(math.nan))))


def test_what_would_overflow_does_not():
    X = nt.tensor([-1e4, -750.0, 0.0, 750.0, 1e4], "a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nt.sigmoid(X).array.tolist() == pytest.approx([0, 0, 0.5, 1, 1])
        assert nt.softplus(X).array.tolist() == pytest.approx([0, 0, math.log(2), 750, 1e4])
        assert nt.silu(X).array.tolist() == pytest.approx([0, 0, 0, 750, 1e4])
        assert nt.softmax(X, axis="a").array.tolist() == pytest.approx([0, 0, 0, 0, 1])
        assert float(nt.logsumexp(X, axis="a")) == 1e4
        assert float(nt.norm(X * 1e300, axis="a")) == pytest.approx(math.sqrt(2 * (1e4**2 + 750**2)) * 1e300)
        assert float(nt.norm(X * 1e-300, axis="a")) == pytest.approx(math.sqrt(2 * (1e4**2 + 750**2)) * 1e-300)
    assert float(nt.sigmoid(nt.tensor(-40.0))) == pytest.approx(math.exp(-40), rel=1e-12)


def test_large_arrays_are_worked_in_pieces_with_the_same_result():
    numbers = RANDOM.normal(size=200_001)
    for name in ("gelu", "gelu_tanh", "sigmoid", "silu", "softplus", "erf"):
        whole = getattr(nt, name)(nt.tensor(numbers, "a")).array
        parts = [getattr(nt, name)(nt.tensor(part, "a")).array for part in np.array_split(numbers, 11)]
        np.testing.assert_allclose(whole, np.concatenate(parts), rtol=1e-14)
        turned = getattr(nt, name)(nt.tensor(numbers[:200_000].reshape(400, 500).T, "b a")).array
        np.testing.assert_allclose(turned, whole[:200_000].reshape(400, 500).T, rtol=1e-14)


# -------------------------------------------------------------------------------------------------------- reductions
def mean(x):
    return sum(x) / len(x)


def variance(x):
    return mean([(y - mean(x)) ** 2 for y in x])


REDUCTIONS = {
    "sum": sum, "prod": math.prod, "mean": mean, "var": variance, "std": lambda x: math.sqrt(variance(x)),
    "norm": lambda x: math.sqrt(sum(y * y for y in x)), "max": max, "min": min,
    "logsumexp": lambda x: math.log(sum(map(math.exp, x))),
}  # fmt: skip
OVER = ["a", "b", "c", "a b", "c a", "a b c"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_a_reduction_takes_the_elements_over_its_axes(name, over, dtype):
    one, axes = tensor("a b c", 1, 4, dtype), over.split()
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    for X in orders(one):
        result = getattr(nt, name)(X, axis=over)
        assert result.sizes == without(X, axes)
        for record in records(result.sizes):
            assert at(result, record) == pytest.approx(REDUCTIONS[name](vector(X, record, axes)), rel=tolerance)


@pytest.mark.parametrize("name, function", [("any", any), ("all", all)])
@pytest.mark.parametrize("over", OVER)
def test_any_and_all(name, function, over):
    P, axes = tensor("a b c") > -1, over.split()
    result = getattr(nt, name)(P, axis=over)
    for record in records(result.sizes):
        assert at(result, record) is function(vector(P, record, axes))


@pytest.mark.parametrize("p", [1, 2, 3, 0.5, math.inf, -1])
def test_the_p_norm(p):
    X = tensor("a b")
    for record in records({"a": 2}):
        x = [abs(y) for y in vector(X, record, ["b"])]
        expected = max(x) if p == math.inf else sum(y**p for y in x) ** (1 / p)
        assert at(nt.norm(X, axis="b", p=p), record) == pytest.approx(expected)


def test_the_norm_of_zeros_and_infinities():
    assert float(nt.norm(nt.tensor([0.0, 0.0], "a"), axis="a")) == 0
    assert float(nt.norm(nt.tensor([math.inf, 1.0], "a"), axis="a")) == math.inf
    with pytest.raises(nt.NotationError, match="p = 0"):
        nt.norm(nt.tensor([1.0, 2.0], "a"), axis="a", p=0)


def test_half_precision_is_summed_in_single():
    X = nt.tensor(np.full(3000, 100, dtype="float16"), "a")
    assert float(nt.mean(X, axis="a")) == 100
    assert nt.mean(X, axis="a").dtype == np.float16


# --------------------------------------------------------------------------------------------------------- along axes
def softmax(x):
    return [math.exp(y) / sum(map(math.exp, x)) for y in x]


def share(x, best):
    return [(y == best) / x.count(best) for y in x]


ALONG = {
    "softmax": softmax, "logsoftmax": lambda x: [math.log(y) for y in softmax(x)],
    "argmax": lambda x: share(x, max(x)), "argmin": lambda x: share(x, min(x)),
    "standardize": lambda x: [(y - mean(x)) / math.sqrt(variance(x) + 1e-5) for y in x],
}  # fmt: skip
ALONG_ONE = {
    "cumsum": lambda x: list(itertools.accumulate(x)),
    "cumprod": lambda x: list(itertools.accumulate(x, lambda y, z: y * z)),
    "sort": sorted,
}
CASES = [(name, over) for name in ALONG for over in OVER] + [(name, over) for name in ALONG_ONE for over in "abc"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name, over", CASES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_a_function_along_axes_keeps_them(name, over, dtype):
    one, axes = tensor("a b c", -3, 3, dtype), over.split()
    function = {**ALONG, **ALONG_ONE}[name]
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    if name == "standardize" and dtype == "float32":
        tolerance = 1e-4  # what a mean of numbers up to 3 is rounded by, over √eps
    for X in orders(one):
        result = getattr(nt, name)(X, axis=over)
        assert result.sizes == X.sizes
        for record in records(without(X, axes)):
            expected = function(vector(X, record, axes))
            assert vector(result, record, axes) == pytest.approx(expected, rel=tolerance, abs=tolerance)


def test_a_row_with_some_minus_infinity_is_fine_and_one_of_nothing_else_is_nan_without_a_warning():
    X = nt.tensor([[-math.inf, 0.0, 0.0], [-math.inf] * 3], "a b")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        soft = nt.softmax(X, axis="b")
        total = nt.logsumexp(X, axis="b")
        logs = nt.logsoftmax(X, axis="b")
    assert soft[{"a": 0}].array.tolist() == [0, 0.5, 0.5]
    assert np.isnan(soft[{"a": 1}].array).all()
    assert logs[{"a": 0}].array.tolist() == pytest.approx([-math.inf, -math.log(2), -math.log(2)])
    assert total.array.tolist() == pytest.approx([math.log(2), -math.inf])


def test_standardize_takes_its_own_eps():
    X = nt.tensor([1.0, 3.0], "a")
    assert nt.standardize(X, axis="a", eps=3.0).array.tolist() == [-0.5, 0.5]


# -------------------------------------------------------------------------------------------------------- contraction
@st.composite
def contractions(draw):
    """Two tensors of any axes in any order, and axes that both have."""
    names = list(SIZES)
    left = draw(st.permutations(draw(st.lists(st.sampled_from(names), min_size=1, unique=True))))
    right = draw(st.permutations(draw(st.lists(st.sampled_from(names), unique=True))))
    both = [axis for axis in left if axis in right]
    axes = draw(st.permutations(draw(st.lists(st.sampled_from(both), unique=True)))) if both else []
    dtypes = draw(st.tuples(*[st.sampled_from(["float64", "float32", "int64", "int8", "bool"])] * 2))
    return tuple(left), tuple(right), tuple(axes), dtypes


@pytest.mark.slow
@given(contractions())
@settings(max_examples=settings().max_examples * 2)
def test_a_contraction_is_the_sum_of_the_products(case):
    left, right, axes, dtypes = case
    X, Y = (
        nt.tensor((RANDOM.uniform(-9, 9, [SIZES[a] for a in local])).astype(dtype), local)
        for local, dtype in zip((left, right), dtypes)
    )
    result = nt.dot(X, Y, axis=axes or None)
    wide = [value.array.astype("float64") for value in (X, Y)]
    keep = [axis for axis in dict.fromkeys((*left, *right)) if axis not in axes]
    expected = np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(keep)}", *wide)
    assert result.sizes == {axis: SIZES[axis] for axis in keep}
    np.testing.assert_allclose(result.to_array(keep), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("layout", ["batch query key", "key batch query", "query key batch", "batch key query"])
def test_a_contraction_works_on_views_that_are_not_contiguous(layout):
    sizes = {"batch": 3, "query": 5, "key": 4}
    data = RANDOM.normal(size=[2 * sizes[axis] for axis in layout.split()])[::2, ::2, ::2]
    X, Y = nt.tensor(data, layout), nt.tensor(RANDOM.normal(size=(4, 6, 3)), "key seq batch")
    expected = np.einsum("bqk,ksb->bqs", X.to_array("batch query key"), Y.array)
    np.testing.assert_allclose(nt.dot(X, Y, axis="key").to_array("batch query seq"), expected)


def test_an_empty_axis_sums_to_zero():
    X, Y = nt.tensor(np.zeros((2, 0)), "a k"), nt.tensor(np.zeros((0, 3)), "k b")
    assert nt.dot(X, Y, axis="k").to_array("a b").tolist() == [[0, 0, 0], [0, 0, 0]]
    assert nt.sum(X, axis="k").array.tolist() == [0, 0]
    assert nt.prod(X, axis="k").array.tolist() == [1, 1]
    for name in ("max", "mean", "softmax", "argmax"):
        with pytest.raises(nt.NotationError, match="axis k has size 0"):
            getattr(nt, name)(X, axis="k")
        with pytest.raises(nt.NotationError) as caught:
            nt.evaluate(f"{name}_{{k}} X", X=X)
        assert caught.value.code == 405
        assert caught.value.message == f"{name} of no numbers has no value: the size of k is 0"
        assert caught.value.hint == "give the axis a size of at least 1"


@pytest.mark.parametrize("name", ["var", "std"])
def test_a_variance_needs_more_elements_than_its_ddof(name):
    X = nt.tensor([1.0, 3.0, 8.0], "a")
    assert float(nt.evaluate(f"{name}_{{a}}(X; 2)", X=X)) == pytest.approx(getattr(np, name)([1, 3, 8], ddof=2))
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(f"{name}_{{a}}(X; 3)", X=X)
    assert caught.value.code == 405
    assert caught.value.message == f"{name} is undefined: 3 elements less 3"
    assert caught.value.hint == "give a smaller ddof, or reduce over more elements"


# ----------------------------------------------------------------------------------------------------------- indexing
@pytest.mark.parametrize("local", ["", "d", "d e", "a", "c a", "b", "b d", "a b c"])
@pytest.mark.parametrize("whole", ["int64", "int32", "uint8", "float64"])
def test_index_takes_the_element_at_each_index(local, whole):
    one = tensor("a b c")
    shape = tuple(SIZES[axis] for axis in local.split())
    other = nt.tensor(np.asarray(RANDOM.integers(0, 3, shape)).astype(whole), local)
    for X, I in itertools.product(orders(one), orders(other)):
        result = nt.index(X, I, axis="b")
        assert result.sizes == {"a": 2, "c": 4, **I.sizes}
        for record in records(result.sizes):
            assert at(result, record) == at(X, {**record, "b": int(at(I, record))})


@pytest.mark.parametrize("base", [0, 1])
def test_an_index_counts_from_its_base(base):
    X = nt.tensor([10, 20, 30], "b")
    index: Any = REGISTRY["index"].lower
    lower = lambda w, *operands: index(w, *operands, axes=("b",), options={"base": base})
    function, order, _ = specialize_lowering(lower, (X.layout, nt.tensor([2, 1], "a").layout), np)
    assert order == ("a",)
    assert function(X.array, np.array([2, 1]) + base).tolist() == [30, 20]
    function, *_ = specialize_lowering(lower, (X.layout, 2 + base), np)
    assert function(X.array, 2 + base) == 30


@pytest.mark.parametrize("wrong", [-1, 3, 100])
@pytest.mark.parametrize(
    "make", [lambda i: i, nt.tensor, lambda i: nt.tensor([0, i, 1], "a"), lambda i: nt.tensor([0.0, i], "d")]
)
def test_an_index_out_of_range_is_never_wrapped(wrong, make):
    with pytest.raises(nt.NotationError) as caught:
        nt.index(tensor("b c"), make(wrong), axis="b")
    assert caught.value.code == 401
    assert f"index {wrong} is out of range for axis b (0 to 2)" in str(caught.value)


@pytest.mark.parametrize("wrong", [0.5, math.nan, math.inf, True])
@pytest.mark.parametrize("make", [lambda i: i, nt.tensor, lambda i: nt.tensor([i, i], "a")])
def test_an_index_is_a_whole_number(wrong, make):
    with pytest.raises(nt.NotationError) as caught:
        nt.index(tensor("b c"), make(wrong), axis="b")
    assert caught.value.code == 402


def test_narrow_unsigned_indices_do_not_wrap_around_below_zero():
    def taken(array, indices):
        return nt.evaluate("X_{b(I)}", X=nt.tensor(array, "b"), I=nt.tensor(np.array(indices, "uint8"), "a")).array

    with pytest.raises(nt.NotationError, match=r"index 0 is out of range for axis b \(1 to 3\)"):
        taken(np.array([10, 20, 30]), [0, 1])
    large = np.arange(200)
    assert taken(large, [200]).tolist() == [199]
    with pytest.raises(nt.NotationError, match="401"):
        taken(large, [201])


@pytest.mark.parametrize("k", [0, 1, 2, 4])
@pytest.mark.parametrize("dtype", ["float64", "int64", "uint8"])
def test_maxk_gives_the_largest_in_order_and_argmaxk_where_they_stand(k, dtype):
    one = nt.tensor(np.array([[3, 1, 3, 2], [5, 5, 5, 0], [1, 2, 3, 4]], dtype=dtype), "b c")
    for X in orders(one):
        most = nt.maxk(X, axis=("c", "k"), size=k)
        where = nt.argmaxk(X, axis=("c", "k"), size=k)
        assert most.sizes == {"b": 3, "k": k} and where.sizes == {"b": 3, "k": k, "c": 4}
        for record in records({"b": 3}):
            row = vector(X, record, ["c"])
            ranked = sorted(range(4), key=lambda index: (-row[index], index))[:k]
            assert vector(most, record, ["k"]) == [row[position] for position in ranked]
            for rank, position in enumerate(ranked):
                assert vector(where, {**record, "k": rank}, ["c"]) == [float(position == other) for other in range(4)]


def test_maxk_of_more_than_there_are_is_refused():
    with pytest.raises(nt.NotationError, match="c has 4 elements, fewer than k, which is 5"):
        nt.maxk(tensor("b c"), axis=("c", "k"), size=5)


def test_onehot_iota_identity():
    other = nt.tensor([[2, 0], [1, 1]], "a d")
    for I in orders(other):
        result = nt.onehot(I, axis="b", size=3)
        for record in records({"a": 2, "d": 2, "b": 3}):
            assert at(result, record) == (at(I, record) == record["b"])
    assert nt.onehot(2, axis="b", size=3).array.tolist() == [0, 0, 1]
    assert nt.iota(axis="b", size=3).array.tolist() == [1, 2, 3]
    assert nt.identity(axis=("a", "b"), size=2).to_array("a b").tolist() == [[1, 0], [0, 1]]
    with pytest.raises(nt.NotationError, match="index 3 is out of range for axis b"):
        nt.onehot(3, axis="b", size=3)


# ------------------------------------------------------------------------------------------------- joining and windows
def test_concat_joins_along_an_axis_and_broadcasts_the_rest():
    one, other, Z = tensor("a b"), tensor("b a"), nt.tensor([7.0, 8.0], "b")
    for X, Y in itertools.product(orders(one), orders(other)):
        result = nt.concat(X, Y, Z, axis="b")
        assert result.sizes == {"a": 2, "b": 8}
        for record in records(result.sizes):
            b = record["b"]
            part, inside = (X, b) if b < 3 else (Y, b - 3) if b < 6 else (Z, b - 6)
            assert at(result, record) == at(part, {**record, "b": inside})
    assert nt.concat(X, axis="b").sizes == X.sizes


def test_stack_makes_an_axis_and_broadcasts_the_rest():
    one, Y = tensor("a b"), tensor("b")
    for X in orders(one):
        result = nt.stack(X, Y, 5.0, axis="c")
        assert result.sizes == {"c": 3, "a": 2, "b": 3}
        for record in records(result.sizes):
            assert at(result, record) == (at(X, record), at(Y, record), 5.0)[record["c"]]
    assert nt.stack(1, 2, axis="c").array.tolist() == [1, 2]


@pytest.mark.parametrize("kernel", [1, 2, 3])
def test_unroll_gives_the_window_at_each_element(kernel):
    for X in orders(tensor("a c")):
        result = nt.unroll(X, axis=("c", "kernel"), size=kernel)
        assert result.sizes == {"a": 2, "c": 4 - kernel + 1, "kernel": kernel}
        for record in records(result.sizes):
            assert at(result, record) == at(X, {**record, "c": record["c"] + record["kernel"]})


def test_windows_are_not_written_to():
    X = tensor("c")
    with pytest.raises(ValueError):
        nt.unroll(X, axis=("c", "kernel"), size=2).array[0, 0] = 1


@pytest.mark.parametrize("kernel", [1, 2, 4])
def test_pool_cuts_an_axis_into_windows(kernel):
    for X in orders(tensor("a c")):
        result = nt.pool(X, axis=("c", "kernel"), size=kernel)
        assert result.sizes == {"a": 2, "c": 4 // kernel, "kernel": kernel}
        for record in records(result.sizes):
            assert at(result, record) == at(X, {**record, "c": record["c"] * kernel + record["kernel"]})


@pytest.mark.parametrize(
    "name, size, words",
    [
        ("pool", 3, "not a multiple of the window size 3"),
        ("unroll", 5, "shorter than the window"),
        ("pool", None, "needs the size of"),
    ],
)
def test_windows_that_do_not_fit(name, size, words):
    with pytest.raises(nt.NotationError, match=words):
        getattr(nt, name)(tensor("a c"), axis=("c", "kernel"), size=size)


# ------------------------------------------------------------------------------------------------------------ matrices
def determinant(m):
    """Laplace."""
    if not m:
        return 1
    return sum((-1) ** j * m[0][j] * determinant([row[:j] + row[j + 1 :] for row in m[1:]]) for j in range(len(m)))


def test_det_inv_trace_of_rows_and_columns():
    one = nt.tensor(RANDOM.normal(size=(2, 3, 3)), "a row column")
    for X in orders(one):
        inverse = nt.inv(X, axis=("row", "column"))
        for record in records({"a": 2}):
            matrix = [[at(X, {**record, "row": i, "column": j}) for j in range(3)] for i in range(3)]
            assert at(nt.det(X, axis=("row", "column")), record) == pytest.approx(determinant(matrix))
            assert at(nt.trace(X, axis=("row", "column")), record) == pytest.approx(sum(matrix[i][i] for i in range(3)))
            for i, k in itertools.product(range(3), repeat=2):
                product = sum(matrix[i][j] * at(inverse, {**record, "row": j, "column": k}) for j in range(3))
                assert product == pytest.approx(float(i == k), abs=1e-9)


def test_matrices_without_an_inverse_and_those_that_are_not_square():
    with pytest.raises(nt.NotationError) as caught:
        nt.inv(nt.tensor([[1, 2], [2, 4]], "row column"), axis=("row", "column"))
    assert caught.value.code == 405
    with pytest.raises(nt.NotationError, match="a is 2 where b is 3"):
        nt.det(tensor("a b"), axis=("a", "b"))
    assert nt.trace(nt.tensor(np.array([[1, 2], [3, 4]], "int8"), "row column"), axis="row column").dtype == np.int64


# -------------------------------------------------------------------------------------------------------------- dtypes
DTYPES = [
    ("add", "float32", "float32", "float32"), ("add", "int64", "float32", "float32"), ("add", "float32", "float64", "float64"),
    ("add", "int8", "int8", "int64"), ("add", "int8", "int32", "int64"), ("add", "int64", "int64", "int64"), ("add", "bool", "bool", "int64"),
    ("add", "bool", "float32", "float32"), ("subtract", "bool", "bool", "int64"), ("divide", "int64", "int64", "float64"),
    ("divide", "int8", "float16", "float16"), ("dot", "int8", "int8", "int64"), ("dot", "bool", "bool", "int64"),
    ("dot", "int64", "float32", "float32"), ("dot", "float32", "float32", "float32"), ("dot", "uint64", "uint64", "float64"), ("dot", "int64", "int8", "float64"),
    ("max", "int64", "float32", "float32"), ("pow", "int64", "int64", "float64"), ("max", "int8", "int8", "int8"), ("max", "int8", "uint8", "int64"), ("less", "int64", "float32", "bool"),
]  # fmt: skip


@pytest.mark.parametrize("name, left, right, expected", DTYPES)
def test_the_dtype_of_two_follows_from_theirs(name, left, right, expected):
    X, Y = nt.tensor(np.ones(2, left), "a"), nt.tensor(np.ones(2, right), "a")
    axis = {"axis": "a"} if name == "dot" else {}
    assert getattr(nt, name)(X, Y, **axis).dtype == expected
    assert getattr(nt, name)(Y, X, **axis).dtype == expected
    sign = {"add": "+", "subtract": "-", "divide": "/", "dot": "⊙_{a}"}.get(name)
    if sign and left != "bool":
        assert nt.evaluate(f"X {sign} Y", X=X, Y=Y).dtype == expected


OF_ONE = [
    ("exp", "int8", "float64"), ("exp", "float32", "float32"), ("exp", "bool", "float64"), ("exp", "float16", "float16"),
    ("mean", "int64", "float64"), ("mean", "float32", "float32"), ("softmax", "int8", "float64"), ("sum", "int8", "int64"), ("sum", "int64", "float64"), ("sort", "uint64", "uint64"),
    ("sum", "bool", "int64"), ("sum", "float32", "float32"), ("abs", "int8", "int64"), ("negative", "bool", "int64"),
    ("argmax", "float32", "float32"), ("argmax", "int64", "float64"), ("cumsum", "bool", "int64"), ("sort", "int8", "int8"),
    ("relu", "float32", "float32"), ("norm", "float32", "float32"), ("standardize", "float32", "float32"),
    ("gelu", "float32", "float32"), ("erf", "float32", "float32"), ("max", "int8", "int8"), ("logsumexp", "float32", "float32"),
]  # fmt: skip


@pytest.mark.parametrize("name, given, expected", OF_ONE)
def test_the_dtype_of_one_follows_from_its_own(name, given, expected):
    record = REGISTRY[name]
    axis = {} if record.kind == "elementwise" else {"axis": "a"}
    assert getattr(nt, name)(nt.tensor(np.ones(2, given), "a"), **axis).dtype == expected


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int64"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "max", "pow"])
def test_a_plain_number_never_widens_a_tensor_of_floats(dtype, name):
    """Whole ones have 64 bits beside it, and a product that may pass 2^53 is floating."""
    X = nt.tensor(np.ones(2, dtype), "a")
    expected = dtype if "float" in dtype else "float64" if name in ("multiply", "pow") else "int64"
    assert getattr(nt, name)(X, 2).dtype == expected
    assert getattr(nt, name)(2, X).dtype == expected
    if "float" in dtype:
        assert getattr(nt, name)(X, 2.5).dtype == dtype
        assert getattr(nt, name)(X, np.float64(2.5)).dtype == dtype


def test_a_number_that_64_bits_cannot_hold_is_an_error_of_ours():
    X = nt.tensor(np.ones(2, "int8"), "a")
    assert (X + 300).array.tolist() == [301, 301] and (300 - X).array.tolist() == [299, 299]
    for wrong in (lambda: X + 2**63, lambda: 2**63 - X, lambda: nt.tensor([2**63 - 1, 0], "a") + X):
        for _ in range(2):
            with pytest.raises(nt.NotationError, match="integer overflow"):
                wrong()


def test_powers_of_whole_numbers():
    X = nt.tensor([1, 2, 4], "a")
    assert (X**2).array.tolist() == [1, 4, 16] and (X**2).dtype == np.float64
    assert (X**-1).array.tolist() == [1, 0.5, 0.25]
    assert (2**X).array.tolist() == [2, 4, 16]
    assert (X**0.5).array.tolist() == pytest.approx([1, math.sqrt(2), 2])
    assert (X ** nt.tensor([1, -1], "b")).to_array("b a").tolist() == [[1, 2, 4], [1, 0.5, 0.25]]
    assert (X ** nt.tensor([1, 2], "b")).dtype == np.float64


# ---------------------------------------------------------------------------------------------------------------- laws
BY_NAME = [
    *[(name, "a b c", {}) for name in ("exp", "negative", "relu", "gelu")],
    *[(name, "a b c", {"axis": "b"}) for name in (*REDUCTIONS, *ALONG, *ALONG_ONE)],
    *[(name, "a b c", {"axis": ("c", "a")}) for name in (*REDUCTIONS, *ALONG)],
    ("unroll", "a b c", {"axis": ("c", "kernel"), "size": 2}),
    ("pool", "a b c", {"axis": ("c", "kernel"), "size": 2}),
    ("maxk", "a b c", {"axis": ("c", "k"), "size": 2}),
    ("argmaxk", "a b c", {"axis": ("b", "k"), "size": 2}),
    ("trace", "b e c", {"axis": ("b", "e")}),
    ("det", "b e c", {"axis": ("e", "b")}),
]  # fmt: skip


@given(st.sampled_from(BY_NAME), st.data())
def test_the_order_of_storage_never_changes_a_result(case, data):
    name, axes, options = case
    numbers = data.draw(st.lists(st.integers(-4, 4), min_size=math.prod(SIZES[a] for a in axes.split())))
    shape = [SIZES[axis] for axis in axes.split()]
    X = nt.tensor(np.array(numbers[: math.prod(shape)], float).reshape(shape), axes)
    order = data.draw(st.permutations(X.axes))
    turned = nt.tensor(X.to_array(order).copy(), order)
    assert nt.allclose(getattr(nt, name)(X, **options), getattr(nt, name)(turned, **options))


def test_every_record_is_complete():
    for record in set(REGISTRY.values()):
        assert record.meaning and record.numpy and record.section.startswith("§")
        assert record.python_name.isidentifier(), record.name
        assert callable(getattr(nt, record.python_name))


AT_ZERO = {
    "sigmoid": 0.25,
    "silu": 0.5,
    "softplus": 0.5,
    "gelu": 0.5,
    "gelu_tanh": 0.5,
    "relu": 0.0,
    "logsigmoid": 0.5,
    "elu": 1.0,
    "leaky_relu": 0.01,
    "arctan": 1.0,
    "arcsin": 1.0,
    "expm1": 1.0,
    "log1p": 1.0,
    "erf": 2 / math.sqrt(math.pi),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_the_slope_at_zero_is_right_where_a_library_differentiates(name):
    torch = pytest.importorskip("torch")
    zero = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    getattr(nt, name)(nt.tensor(zero, "a")).array.backward()
    assert zero.grad.item() == pytest.approx(AT_ZERO[name])
