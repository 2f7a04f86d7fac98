"""Named tensors: how they are made, combined, taken apart, and what they refuse, with the words of each refusal."""

import copy
import inspect
import math
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import namedtensor as nt
from namedtensor import layouts
from namedtensor.functions import FUNCTIONS, METHODS

A = nt.tensor([[3, 1, 4], [1, 5, 9], [2, 6, 5]], "height width")
x = nt.tensor([2, 7, 1], "height")
y = nt.tensor([1, 4, 1], "width")


def refusal(function, *arguments, **options) -> nt.NotationError:
    with pytest.raises(nt.NotationError) as caught:
        function(*arguments, **options)
    return caught.value


# ------------------------------------------------------------------------------------------------------ making tensors
@pytest.mark.parametrize("axes", ["height width", ("height", "width"), ["height", "width"], "  height   width "])
def test_axes_are_named_in_the_order_of_the_array(axes):
    made = nt.tensor([[1, 2, 3], [4, 5, 6]], axes)
    assert made.axes == ("height", "width")
    assert made.sizes == {"height": 2, "width": 3}
    assert str(made.shape) == "ℝ^{height[2] × width[3]}"
    assert made.dtype == np.int64 and made.ndim == 2


def test_a_number_is_a_tensor_without_axes():
    for number in (3, 3.5, True, np.float32(3.5), np.array(3)):
        made = nt.tensor(number)
        assert made.axes == () and made.item() == number and isinstance(made.array, np.ndarray)
    assert str(nt.tensor(3).shape) == "ℝ"


def test_an_array_is_not_copied():
    array = np.zeros((2, 3))
    assert nt.tensor(array, "a b").array is array


NAMES = ["seq", "seq'", "seq''", "hidden_1", "seq*", "seq†", "W2", "γ", "γ'", "ax_in", "x1'", "heads_1_2"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_axes(name):
    assert nt.tensor([1, 2], name).axes == (name,)
    assert nt.tensor([1, 2], name).rename({name: "other"}).axes == ("other",)


def test_names_are_folded_as_the_language_folds_them():
    assert nt.tensor([1, 2], "seq’").axes == ("seq'",)
    assert nt.tensor([1, 2], "ϵ").axes == nt.tensor([1, 2], "ε").axes


WRONG = [
    ([[1, 2]], "height, width", 208, "spaces, not commas", '"height width"'),
    ([[1, 2]], ("height,", "width"), 208, "spaces, not commas", ""),
    ([[1, 2]], "height", 316, "2 axes (1 × 2), and 1 name was given", "the names are height"),
    ([1, 2], "a b", 316, "1 axis (2), and 2 names were given", "a, b"),
    ([1, 2], (), 316, "1 axis (2), and no names were given", "nt.tensor(data"),
    (3, "a", 316, "no axes, and 1 name was given", ""),
    ([[1, 2]], "a a", 303, "the axis a occurs twice", ""),
    ([1, 2], "1a", 208, "'1a' is no name of an axis", ""),
    ([1, 2], "a-b", 208, "'a-b' is no name of an axis", ""),
    ([1, 2], (3,), 208, "3 is no name of an axis", ""),
    ([1, 2], 3, 208, "3 names no axes", '"height width"'),
    ([[1, 2], [3]], "a b", 311, "differ in length", ""),
    (["a", "b"], "a", 317, "holds text", ""),
    ([None, 1], "a", 317, "objects of Python", ""),
    ([2**70], "a", 317, "objects of Python", ""),
    ([x, x], "a b", 317, "a list of named tensors is no array", "nt.stack"),
    (np.ma.masked_array([1, 2], [True, False]), "a", 317, "mask", ""),
]  # fmt: skip


@pytest.mark.parametrize("data, axes, number, message, more", WRONG)
def test_what_is_no_tensor_is_refused_with_what_it_has(data, axes, number, message, more):
    error = refusal(nt.tensor, data, axes)
    assert error.number == number
    assert message in str(error) and more in str(error)


def test_a_tensor_of_a_tensor():
    assert nt.tensor(A) is A
    assert nt.tensor(A, "width height").axes == ("width", "height")
    assert nt.allclose(nt.tensor(A, "width height"), A)
    assert "already" in str(refusal(nt.tensor, A, "a b"))
    assert nt.NamedTensor([1, 2], "a").axes == ("a",)


# ------------------------------------------------------------------------------------------------- what is inside
def test_to_array_needs_an_order_where_there_are_several_axes():
    assert A.to_array("width height").tolist() == A.array.T.tolist()
    assert A.to_array(("height", "width")) is A.array
    assert x.to_array() is x.array
    assert nt.tensor(3).to_array() == 3
    assert 'write to_array("height width")' in str(refusal(A.to_array))
    for wrong in ("height", "height depth", "height width depth", "height height"):
        assert refusal(A.to_array, wrong).number == 318
    assert refusal(x.to_array, ()).number == 318


def test_an_implicit_conversion_of_several_axes_is_refused_and_names_to_array():
    for convert in (np.asarray, np.array, lambda tensor: np.asarray(tensor, dtype="float32")):
        assert 'A.to_array("height width")' in str(refusal(convert, A))
    assert np.asarray(x).tolist() == [2, 7, 1]
    assert np.asarray(x, dtype="float32").dtype == np.float32
    assert np.asarray(nt.tensor(3)) == 3
    assert np.array(x) is not x.array and np.array(x, copy=True) is not x.array


def test_numbers_come_out_of_tensors_without_axes_alone():
    whole = A.sum(axis=("height", "width"))
    assert (float(whole), int(whole), whole.item(), bool(whole > 3)) == (36.0, 36, 36, True)
    assert isinstance(whole.item(), int) and isinstance(float(whole), float)
    assert isinstance(whole.array, np.ndarray) and whole.array.shape == ()
    for function in (float, int, bool, nt.NamedTensor.item):
        assert "this one has ℝ^{height[3] × width[3]}" in str(refusal(function, A))


def test_what_would_go_along_a_first_axis_is_refused():
    for function in (
        len,
        list,
        iter,
        lambda tensor: 3 in tensor,
        lambda tensor: tensor[0],
        lambda tensor: tensor["height"],
    ):
        assert refusal(function, A).number == 318
    assert "nt.dot(A, B" in str(refusal(lambda: A @ A))
    assert "nt.dot(A, B" in str(refusal(lambda: np.eye(3) @ A))


# ------------------------------------------------------------------------------------------------------- arithmetic
INFIX = [
    ("+", lambda a, b: a + b), ("-", lambda a, b: a - b), ("*", lambda a, b: a * b), ("/", lambda a, b: a / b),
    ("**", lambda a, b: a**b), ("<", lambda a, b: a < b), ("<=", lambda a, b: a <= b), (">", lambda a, b: a > b),
    (">=", lambda a, b: a >= b), ("==", lambda a, b: a == b), ("!=", lambda a, b: a != b),
]  # fmt: skip


@pytest.mark.parametrize("sign, function", INFIX, ids=[sign for sign, _ in INFIX])
def test_infix_operators_go_by_name(sign, function):
    for _ in range(2):  # the second time the call is prepared
        assert function(A, x).to_array("height width").tolist() == function(A.array, x.array[:, None]).tolist()
        assert function(x, A).to_array("height width").tolist() == function(x.array[:, None], A.array).tolist()
        assert function(A, y).to_array("height width").tolist() == function(A.array, y.array).tolist()
        assert function(x, y).to_array("height width").tolist() == function(x.array[:, None], y.array).tolist()
        assert function(A, 2).to_array("height width").tolist() == function(A.array, 2).tolist()
        assert function(2, A).to_array("height width").tolist() == function(2, A.array).tolist()
        assert function(A, 0.5).to_array("height width").tolist() == function(A.array, 0.5).tolist()
        assert function(A, np.array(2)).to_array("height width").tolist() == function(A.array, 2).tolist()
        assert function(np.int64(2), A).to_array("height width").tolist() == function(2, A.array).tolist()


def test_prefix_operators():
    assert (-A).to_array("height width").tolist() == (-A.array).tolist()
    assert +A is A
    assert abs(-A).to_array("height width").tolist() == A.array.tolist()
    assert (~(x > 2)).array.tolist() == [True, False, True]
    assert ((x > 1) & (x < 5)).array.tolist() == [True, False, False]
    assert ((x > 5) | (x < 2)).array.tolist() == [False, True, True]
    assert (True & (x > 5)).array.tolist() == [False, True, False]


def test_truth_values_count_as_numbers_and_numbers_not_as_truth_values():
    assert ((x > 1) + (x > 5)).array.tolist() == [1, 2, 0]
    assert int((x > 1).sum(axis="height")) == 2
    assert ((x > 1) * 0.5).array.tolist() == [0.5, 0.5, 0]
    for wrong in (
        lambda: x & x,
        lambda: ~x,
        lambda: x.any(axis="height"),
        lambda: nt.where(x, 1, 0),
        lambda: (x > 1) | 1,
    ):
        assert refusal(wrong).number == 315


def test_an_array_without_names_is_no_operand():
    for wrong in (
        lambda: A + np.ones(3), lambda: np.ones(3) + A, lambda: A * [1, 2, 3], lambda: [1, 2, 3] * A, lambda: A == np.ones(3),
        lambda: nt.dot(A, np.ones(3), axis="height"), lambda: nt.exp(np.ones(3)), lambda: nt.add(A, np.ones((2, 3))),
    ):  # fmt: skip
        error = refusal(wrong)
        assert error.number == 317
        assert "nt.tensor(array" in str(error)


def test_what_is_no_number_is_no_operand():
    with pytest.raises(TypeError):
        A + "text"
    with pytest.raises(TypeError):
        None - A
    assert (A == None) is False and (A != "text") is True  # noqa: E711
    assert 'if it names an axis: axis="height"' in str(refusal(nt.concat, A, "height"))


def test_tensors_hash_by_identity():
    assert len({A, x, A}) == 2


# ------------------------------------------------------------------------------------------- what does not fit, in words
def test_two_sizes_of_one_axis():
    assert str(refusal(lambda: A + nt.tensor([1, 2], "height"))) == (
        "shape error 302: height is 3 on one side of + and 2 on the other\n"
        "  the first operand has ℝ^{height[3] × width[3]}\n"
        "  the second operand has ℝ^{height[2]}\n"
        "  they are one axis because they share the name height\n"
        "  hint: rename one of the two, or give tensors of one size"
    )


def test_an_axis_that_is_missing():
    assert str(refusal(nt.softmax, A, axis="heigth")) == (
        "shape error 301: softmax_{heigth} needs the axis heigth, which the tensor lacks\n"
        "  the tensor has ℝ^{height[3] × width[3]}\n"
        "  hint: did you mean height?"
    )
    assert str(refusal(nt.dot, A, x, axis="width")) == (
        "shape error 301: ⊙_{width} needs the axis width, which the second operand lacks\n"
        "  the first operand has ℝ^{height[3] × width[3]}\n"
        "  the second operand has ℝ^{height[3]}\n"
        "  hint: did you mean height?"
    )


FITS_NOT = [
    (lambda: nt.sum(A), 316, 'axis="height", or axis=(\'height\', \'width\') for all'),
    (lambda: nt.sum(A, axis=("height", "height")), 303, "height is named twice"),
    (lambda: nt.cumsum(A, axis=("height", "width")), 316, "takes 1 axis, and was given 2 axes"),
    (lambda: nt.det(A, axis="height"), 316, "takes 2 axes, and was given 1 axis"),
    (lambda: nt.max(A, x, axis="height"), 304, "takes 1 operand, and was given 2"),
    (lambda: nt.concat(axis="height"), 304, "takes 1 or more operands, and was given 0"),
    (lambda: nt.concat(A, y, axis="height"), 301, "which the second operand lacks"),
    (lambda: nt.stack(A, x, axis="height"), 306, "gives the axis height, which its operand has already"),
    (lambda: nt.unroll(A, axis=("height", "width"), size=2), 306, "gives the axis width"),
    (lambda: nt.unroll(A, axis=("height", "kernel")), 309, 'sizes={"kernel": 3}'),
    (lambda: nt.index(A, x), 316, "takes 1 axis, and was given no axes"),
    (lambda: nt.index(A, nt.tensor([0, 1], "width"), axis="height"), 302, "width is 3 on one side"),
    (lambda: nt.softmax(A, axis="height, width"), 208, "spaces, not commas"),
    (lambda: nt.softmax(A, axis=3), 208, "names no axes"),
]  # fmt: skip


@pytest.mark.parametrize("wrong, number, words", FITS_NOT)
def test_what_does_not_fit(wrong, number, words):
    error = refusal(wrong)
    assert (error.number, words in str(error)) == (number, True), str(error)
    assert error.source is None


def test_a_parameter_that_a_function_lacks():
    with pytest.raises(TypeError, match="softmax has no parameter 'p'"):
        nt.softmax(A, axis="height", p=2)
    assert "exp takes 1 operand, and was given 2" in str(refusal(nt.exp, A, A))
    assert "+ takes 2 operands, and was given 3" in str(refusal(nt.add, A, A, A))


# ------------------------------------------------------------------------------------------------------------- renaming
def test_rename_is_all_at_once():
    assert A.rename(height="rows").axes == ("rows", "width")
    assert A.rename({"height": "rows"}).axes == ("rows", "width")
    assert A.rename(height="width", width="height").axes == ("width", "height")
    assert A.rename({"height": "height'"}, width="columns").axes == ("height'", "columns")
    assert A.rename(height="rows").array is A.array
    assert refusal(A.rename, heigth="rows").number == 301
    assert "did you mean height?" in str(refusal(A.rename, heigth="rows"))
    assert refusal(A.rename, height="width").number == 312
    assert refusal(A.rename, height="a b").number == 208


def test_merging_is_row_major_in_the_order_written():
    X = nt.tensor(np.arange(24).reshape(2, 3, 4), "a b c")
    for group in (("a", "b"), ("b", "a"), ("b", "c"), ("c", "a"), ("a", "b", "c"), ("c", "b", "a"), ("b",)):
        for stored in ("a b c", "c a b", "b c a"):
            turned = nt.tensor(X, stored)
            merged = turned.merge(m=group)
            rest = [axis for axis in "abc" if axis not in group]
            wanted = X.to_array((*rest, *group)).reshape(*[X.sizes[axis] for axis in rest], -1)
            assert merged.to_array((*rest, "m")).tolist() == wanted.tolist()
            back = merged.split(m={axis: X.sizes[axis] for axis in group})
            assert nt.allclose(back, X)
    assert A.merge(layer="height width").sizes == {"layer": 9}
    assert A.merge({"height": ("height", "width")}).sizes == {"height": 9}
    assert refusal(A.merge, width="height").number == 313
    assert refusal(A.merge, layer="height depth").number == 301
    assert refusal(A.merge, layer=("height", "height")).number == 303


def test_splitting_finds_one_size():
    assert A.split(height={"outer": 3, "inner": 1}).sizes == {"outer": 3, "inner": 1, "width": 3}
    assert A.split(height={"outer": None, "inner": 3}).sizes == {"outer": 1, "inner": 3, "width": 3}
    assert A.split({"height": {"height": 3, "one": None}}).sizes == {"height": 3, "one": 1, "width": 3}
    for wrong in (
        {"o": 2, "i": 2},
        {"o": 2, "i": None},
        {"o": None, "i": None},
        {"o": 0, "i": None},
        {"width": 3, "i": 1},
        {},
        "oi",
    ):
        assert refusal(A.split, height=wrong).number == 313
    assert "height is 3, which cannot be split into o[2] × i" in str(refusal(A.split, height={"o": 2, "i": None}))
    assert refusal(A.split, depth={"a": 1}).number == 301
    assert nt.tensor(np.zeros((0, 2)), "a b").split(a={"c": 0, "d": 5}).sizes == {"c": 0, "d": 5, "b": 2}


# ------------------------------------------------------------------------------------------------------------- indexing
def test_indices_count_from_zero_as_python_does():
    assert A[{"height": 0}].array.tolist() == [3, 1, 4]
    assert A[{"height": -1}].array.tolist() == [2, 6, 5]
    assert A[{"width": 1}].axes == ("height",)
    assert A[{"width": 1, "height": 2}].item() == 6
    assert A[{"height": slice(1, 3)}].sizes == {"height": 2, "width": 3}
    assert A[{"height": slice(None, None, -1)}][{"height": 0}].array.tolist() == [2, 6, 5]
    assert A[{"height": np.int64(1)}].array.tolist() == [1, 5, 9]
    assert A[{}].array.tolist() == A.array.tolist()


def test_tensors_of_indices_are_taken_all_at_once():
    i, j = nt.tensor([2, 0], "new"), nt.tensor([[0, 1, 1], [2, 2, 0]], "new width")
    assert A[{"height": i}].to_array("new width").tolist() == A.array[[2, 0]].tolist()
    assert A[{"height": i, "width": i}].array.tolist() == [A.array[2, 2], A.array[0, 0]]
    assert A[{"height": j}].to_array("new width").tolist() == np.take_along_axis(A.array, j.array, 0).tolist()
    assert A[{"height": i, "width": 1}].array.tolist() == [6, 1]
    assert A[{"height": i, "width": slice(0, 2)}].to_array("new width").tolist() == A.array[[2, 0], :2].tolist()
    transposed = A[{"height": nt.tensor([0, 1, 2], "width"), "width": nt.tensor([0, 1, 2], "height")}]
    assert transposed.to_array("height width").tolist() == A.array.T.tolist()
    assert A.index(i, axis="height").to_array("new width").tolist() == A.array[[2, 0]].tolist()


INDEXED_WRONGLY = [
    ({"height": 3}, 401, "height has no element 3: its indices go from 0 to 2"),
    ({"height": -4}, 401, "-4"),
    ({"height": nt.tensor([0, 3], "i")}, 401, "no element 3"),
    ({"height": nt.tensor([0, -1], "i")}, 401, "no element -1"),
    ({"height": nt.tensor([0.5], "i")}, 402, "0.5"),
    ({"height": 1.0}, 402, "1.0"),
    ({"height": True}, 402, "True"),
    ({"height": [0, 1]}, 402, "nt.tensor"),
    ({"height": np.array([0, 1])}, 402, "nt.tensor"),
    ({"heigth": 0}, 301, "did you mean height?"),
    ({"height": nt.tensor([0, 1], "width")}, 302, "width is 3"),
]


@pytest.mark.parametrize("index, number, words", INDEXED_WRONGLY)
def test_indices_that_are_refused(index, number, words):
    error = refusal(lambda: A[index])
    assert (error.number, words in str(error)) == (number, True), str(error)


# ------------------------------------------------------------------------------------------------- NumPy's own functions
def test_numpys_functions_of_numbers_go_by_name():
    assert nt.allclose(np.exp(A), nt.exp(A))
    assert nt.allclose(np.add(A, x), A + x)
    assert nt.allclose(np.maximum(A, x), nt.max(A, x))
    assert nt.allclose(np.log1p(A), nt.tensor(np.log1p(A.array), "height width"))
    assert nt.allclose(np.arctan2(A, x), nt.tensor(np.arctan2(A.array, x.array[:, None]), "height width"))
    assert nt.allclose(np.multiply(2, A), A * 2)
    assert (
        nt.allclose(np.float64(2) * A, A * 2) and (np.float64(2) * nt.tensor(np.float32([1]), "a")).dtype == np.float32
    )
    fraction, whole = np.modf(A / 2)
    assert nt.allclose(fraction + whole, A / 2)
    assert refusal(np.arctan2, A, nt.tensor([1, 2], "height")).number == 302


BY_POSITION = [
    (lambda: np.add.reduce(A), 'nt.sum(A, axis="seq")'),
    (lambda: np.maximum.reduce(A), 'nt.max(A, axis="seq")'),
    (lambda: np.sum(A, axis=0), 'nt.sum(A, axis="height")'),
    (lambda: np.concatenate([A, A]), 'nt.concat(A, B, axis="height")'),
    (lambda: np.einsum("ij->i", A), 'nt.dot(A, B, axis="height")'),
    (lambda: np.matmul(A, A), 'nt.dot(A, B, axis="seq")'),
    (lambda: np.transpose(A), "A.to_array"),
    (lambda: np.add(A, A, out=np.zeros((3, 3))), "has none"),
]


@pytest.mark.parametrize("wrong, words", BY_POSITION)
def test_numpys_functions_by_position_are_refused_with_what_to_write(wrong, words):
    error = refusal(wrong)
    assert error.number == 318
    assert words in str(error)
    assert "goes by the order of axes" in str(error)


# ------------------------------------------------------------------------------------------------- functions and methods
def test_every_function_of_one_tensor_is_a_method():
    record_free = {"rename", "merge", "split", "item", "to_array", "to_text", "to_xarray"}
    for name, function in METHODS.items():
        assert getattr(nt.NamedTensor, name) is function is FUNCTIONS[name]
    assert not record_free & set(METHODS)
    assert nt.allclose(A.softmax(axis="height"), nt.softmax(A, axis="height"))
    assert nt.allclose(A.dot(x, axis="height"), nt.dot(A, x, axis="height"))


def test_functions_say_what_they_take():
    assert str(inspect.signature(nt.softmax)) == "(X, *, axis=None)"
    assert str(inspect.signature(nt.norm)) == "(X, *, axis=None, p=2)"
    assert str(inspect.signature(nt.concat)) == "(*tensors, axis=None)"
    assert str(inspect.signature(nt.unroll)) == "(X, *, axis=None, size=None)"
    assert str(inspect.signature(nt.where)) == "(X, Y, Z)"
    assert "count from 0" in nt.index.__doc__ and "`ax… -> ax…`" in nt.softmax.__doc__
    assert nt.softmax.__name__ == "softmax"


def test_sizes_of_new_axes_by_name():
    s = nt.tensor([1, 2, 3], "seq")
    assert nt.unroll(s, axis=("seq", "kernel"), sizes={"kernel": 2}).sizes == {"seq": 2, "kernel": 2}
    assert nt.identity(axis=("a", "b"), sizes={"b": 3}).sizes == {"a": 3, "b": 3}
    assert nt.onehot(s - 1, axis="vocab", sizes={"vocab": 4}).sizes == {"seq": 3, "vocab": 4}


def test_options_are_kept_apart_in_what_is_prepared():
    s = nt.tensor([3.0, 4.0], "seq")
    assert [float(nt.norm(s, axis="seq", p=p)) for p in (1, 2, 1, math.inf)] == pytest.approx([7, 5, 7, 4])
    windows = [nt.pool(nt.iota(axis="seq", size=6), axis=("seq", "k"), size=size).sizes["k"] for size in (2, 3, 2)]
    assert windows == [2, 3, 2]


def test_the_same_call_with_other_sizes_and_dtypes():
    for size in (1, 2, 3):
        for dtype in ("int64", "float32", "float64"):
            s = nt.tensor(np.ones(size, dtype), "seq")
            assert float(nt.sum(s, axis="seq")) == size
            assert nt.sum(s, axis="seq").dtype == dtype
            assert (s + s).dtype == dtype and (s + 1).sizes == {"seq": size}


def test_what_is_prepared_does_not_grow_without_end(monkeypatch):
    from namedtensor.eager import PREPARED

    monkeypatch.setattr(layouts, "MOST", 50)
    for size in range(1, 200):
        s = nt.tensor(np.ones(size), "seq")
        assert float(((s + s) * 2).sum(axis="seq")) == 4 * size
    assert len(layouts._INTERNED) <= 50
    assert len(PREPARED["+"]) <= 50


# -------------------------------------------------------------------------------------------------- comparing, copying
def test_allclose_goes_by_name():
    assert nt.allclose(A, nt.tensor(A.array.T, "width height"))
    assert nt.allclose(A, A + 1e-12) and not nt.allclose(A, A + 0.1)
    assert not nt.allclose(A, A.rename(height="rows")) and not nt.allclose(A, x)
    assert nt.allclose(nt.tensor(3.0), 3)
    assert nt.allclose(nt.tensor([math.nan], "a"), nt.tensor([math.nan], "a"))
    assert nt.allclose(A, A + 0.1, atol=0.2)


def test_tensors_are_copied_and_pickled():
    for made in (
        pickle.loads(pickle.dumps(A)),
        copy.copy(A),
        copy.deepcopy(A),
        pickle.loads(pickle.dumps(A.sum(axis="height width"))),
    ):
        assert nt.allclose(made, A if made.axes else A.sum(axis="height width"))
    assert copy.copy(A).array is A.array
    assert copy.deepcopy(A).array is not A.array


def test_layouts_are_one_object_where_they_are_equal():
    s = nt.tensor(np.ones(3), "seq")
    assert nt.tensor(np.ones(3), "seq").layout is nt.tensor(np.zeros(3), "seq").layout
    assert (s + s).layout is s.layout
    assert nt.tensor(np.ones(3), "seq").layout is not nt.tensor(np.ones(3, "float32"), "seq").layout
    assert nt.softmax(s, axis="seq").layout is s.layout and (s < s).layout is not s.layout


def test_to_xarray_where_it_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    error = refusal(A.to_xarray)
    assert "xarray is not installed" in str(error) and "namedtensor[xarray]" in str(error)


def test_to_and_from_xarray():
    pytest.importorskip("xarray")
    there = A.to_xarray()
    assert there.dims == ("height", "width")
    assert nt.allclose(nt.from_xarray(there), A)


# ------------------------------------------------------------------------------------------------------------------ laws
SIZES = {"a": 2, "b": 3, "c": 1}


@st.composite
def tensors(draw):
    axes = draw(st.permutations(draw(st.lists(st.sampled_from(list(SIZES)), unique=True))))
    shape = tuple(SIZES[axis] for axis in axes)
    numbers = draw(st.lists(st.integers(-5, 5), min_size=math.prod(shape), max_size=math.prod(shape)))
    return nt.tensor(
        np.array(numbers, dtype=draw(st.sampled_from(["int64", "float32", "float64"]))).reshape(shape), axes
    )


@given(tensors(), tensors(), tensors())
def test_laws_of_arithmetic(X, Y, Z):
    assert nt.allclose(X + Y, Y + X)
    assert nt.allclose((X + Y) + Z, X + (Y + Z))
    assert nt.allclose(X * (Y + Z), X * Y + X * Z)
    assert nt.allclose(X - Y, -(Y - X))
    assert bool((X == X).all(axis=X.axes)) if X.axes else bool(X == X)


@given(tensors(), tensors())
def test_a_contraction_is_a_product_and_a_sum(X, Y):
    shared = tuple(axis for axis in X.axes if axis in Y.axes)
    if shared:
        assert nt.allclose(nt.dot(X, Y, axis=shared), nt.sum(X * Y, axis=shared))
    assert nt.allclose(nt.dot(X, Y), X * Y)
