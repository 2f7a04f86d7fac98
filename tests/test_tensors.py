"""NamedTensor: what it is made of, what is done with it by name, and what it refuses, with what to write instead."""

from __future__ import annotations

import copy
import inspect
import itertools
import math
import pickle

import numpy as np
import pytest
from records import assert_equal, entry, every_storage

import namedtensor as nt
from namedtensor.tensors.functions import FUNCTIONS, METHODS

DATA = [[3, 1, 4], [1, 5, 9]]
A = nt.tensor(DATA, "height width")
X = nt.tensor([2.0, 7.0], "height")
ONE = nt.tensor([1, 2, 3], "seq")
NUMBER = nt.tensor(2.5)


def text_of(run) -> str:
    """The whole text of the error that is raised."""
    with pytest.raises(nt.NotationError) as caught:
        run()
    return str(caught.value)


# ------------------------------------------------------------------------------------------------------------ making one
@pytest.mark.parametrize(
    ("data", "axes", "sizes"),
    [
        (DATA, "height width", {"height": 2, "width": 3}), (DATA, ("height", "width"), {"height": 2, "width": 3}),
        (DATA, ["height", "width"], {"height": 2, "width": 3}), (np.zeros((2, 0)), "a b", {"a": 2, "b": 0}), (3.5, "", {}),
        (3, (), {}), (np.float32(3), (), {}), (True, (), {}), ([1, 2], "seq'", {"seq'": 2}), ([1], "hidden_1", {"hidden_1": 1}),
        ([1], "seq*", {"seq*": 1}), ([[1]], "αβ x2", {"αβ": 1, "x2": 1}), (range(3), "n", {"n": 3}), ([], "n", {"n": 0}),
    ],
)  # fmt: skip
def test_a_tensor_has_the_axes_that_it_was_given(data, axes, sizes):
    tensor = nt.tensor(data, axes)
    assert tensor.sizes == tensor.shape == sizes
    assert tensor.axes == tuple(sizes) and tensor.ndim == len(sizes)
    assert isinstance(tensor.array, np.ndarray) and tensor.dtype == np.asarray(data).dtype
    assert isinstance(tensor, nt.NamedTensor)


def test_names_are_compared_as_the_language_compares_them():
    assert nt.tensor([1], "seq’").axes == nt.tensor([1], "seq'").axes == ("seq'",)
    assert nt.tensor([1], "ﬁ").axes == ("fi",)


def test_an_array_is_kept_as_it_is():
    array = np.arange(6.0).reshape(2, 3)
    assert np.shares_memory(nt.tensor(array, "a b").array, array)


def test_a_tensor_of_a_tensor():
    assert nt.tensor(A) is A
    assert nt.tensor(A, "width height").to_array("height width").tolist() == DATA
    assert nt.NamedTensor(DATA, "height width").sizes == A.sizes


def test_what_numpy_adds_to_arrays_is_taken_off():
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1, 2], [3, 4]])
    square = nt.tensor(matrix, "a b")
    assert type(square.array) is np.ndarray
    assert (square * square).array.tolist() == [[1, 4], [9, 16]]


MADE_WRONGLY = {
    "too few names": (lambda: nt.tensor(DATA, "height"), "shape error 316: the array has 2 axes (2 × 3), but 1 name was given"),
    "no name": (lambda: nt.tensor([1, 2]), "the array has 1 axis (2), but no names were given"),
    "too many": (lambda: nt.tensor(3, "a b"), "the array has no axes, but 2 names were given"),
    "how to name": (lambda: nt.tensor(DATA), 'hint: name each axis, separated with spaces: nt.tensor(data, "height width")'),
    "one twice": (lambda: nt.tensor(DATA, "a a"), "shape error 303: duplicate axis a"),
    "commas": (lambda: nt.tensor(DATA, "height, width"), 'axes are separated with spaces, not commas: "height width"'),
    "no name of an axis": (lambda: nt.tensor([1], "3d"), "name error 208: invalid axis name '3d'"),
    "not even text": (lambda: nt.tensor([1], [3]), "invalid axis name 3"),
    "a number for names": (lambda: nt.tensor([1], 3), "error 208"),
    "ragged": (lambda: nt.tensor([[1], [2, 3]], "a b"), "shape error 311: the nested lists differ in length"),
    "text": (lambda: nt.tensor(["x"], "a"), "expected numbers, got text"),
    "objects": (lambda: nt.tensor(np.array([None, 1]), "a"), "expected numbers, got objects"),
    "masked": (lambda: nt.tensor(np.ma.array([1], mask=[True]), "a"), "a masked array would lose its mask"),
    "other names": (lambda: nt.tensor(A, "a b"), "use rename to change axis names"),
    "a list of tensors": (lambda: nt.tensor([X, X], "a b"), "nt.stack(A, B, axis="),
}  # fmt: skip


@pytest.mark.parametrize(("run", "message"), MADE_WRONGLY.values(), ids=MADE_WRONGLY)
def test_a_tensor_made_wrongly_says_what_is_wrong(run, message):
    assert message in text_of(run)


# ------------------------------------------------------------------------------------------------------- arithmetic by name
OPERATIONS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    "**": lambda a, b: a**b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


@pytest.mark.parametrize("sign", OPERATIONS)
def test_operators_go_by_name(sign):
    of = OPERATIONS[sign]
    for left in every_storage(A):
        assert_equal(of(left, X), A.sizes, lambda r: of(entry(A, r), entry(X, r)))
        assert_equal(of(X, left), A.sizes, lambda r: of(entry(X, r), entry(A, r)))
        assert_equal(of(left, 3), A.sizes, lambda r: of(entry(A, r), 3))
        assert_equal(of(2.5, left), A.sizes, lambda r: of(2.5, entry(A, r)))
        assert_equal(of(left, NUMBER), A.sizes, lambda r: of(entry(A, r), 2.5))


def test_operators_of_one_operand():
    assert (-A).array.tolist() == [[-3, -1, -4], [-1, -5, -9]]
    assert abs(-A).array.tolist() == DATA and (+A) is A
    assert (~(A > 1)).array.tolist() == [[False, True, False], [True, False, False]]


def test_an_assignment_makes_a_new_tensor():
    changed = A
    changed += 1
    assert A.array.tolist() == DATA and changed.array.tolist() == [[4, 2, 5], [2, 6, 10]]


def test_numbers_of_numpy_stand_on_either_side():
    single = nt.tensor(np.ones(2, "float32"), "a")
    doubled = [nt.dot(single, np.float64(2)) for _ in range(2)]
    for result in (single * np.float64(2), np.float64(2) * single, single * np.sqrt(4.0), *doubled):
        assert isinstance(result, nt.NamedTensor) and result.array.tolist() == [2, 2] and result.dtype == np.float32
    for result in (np.int64(2) * ONE, ONE * np.array(2), np.array(2) * ONE):
        assert isinstance(result, nt.NamedTensor) and result.array.tolist() == [2, 4, 6]


def test_what_is_no_tensor_is_left_to_python():
    assert (A == None) is False  # noqa: E711
    assert (A != "text") is True
    with pytest.raises(TypeError, match="unsupported operand"):
        A + "text"
    with pytest.raises(TypeError, match="unsupported operand"):
        {} - A


def test_equal_and_hash():
    assert (A == A).all(axis=("height", "width")).item() is True
    assert hash(A) == hash(A) and len({A, nt.tensor(DATA, "height width")}) == 2


def test_a_repeated_call_gives_the_same_as_the_first():
    for _ in range(3):
        for scale in (1, 2, 2.5, True):
            assert (A * scale).array.tolist() == [[x * scale for x in row] for row in DATA]
            assert type((A + scale).array[0, 0].item()) is (float if scale == 2.5 else int)
        assert nt.norm(X, axis="height", p=1).item() == 9 and nt.norm(X, axis="height", p=math.inf).item() == 7


# --------------------------------------------------------------------------------------------------------- other shapes
def test_rename_all_at_once():
    assert A.rename(height="rows").axes == ("rows", "width")
    assert A.rename({"height": "width", "width": "height"}).sizes == {"width": 2, "height": 3}
    assert A.rename({"height": "seq'"}, width="chans").axes == ("seq'", "chans")
    assert A.rename().array is A.array


@pytest.mark.parametrize("order", ["height width", "width height"])
def test_merge_is_row_major_in_the_order_written(order):
    stored = nt.tensor(A.to_array(order), order)
    assert stored.merge(layer=("height", "width")).array.tolist() == [3, 1, 4, 1, 5, 9]
    assert stored.merge(layer="width height").array.tolist() == [3, 1, 1, 5, 4, 9]
    assert stored.merge({"height": ("height", "width")}).sizes == {"height": 6}
    assert_equal(
        stored.merge(layer="height width").split(layer={"height": None, "width": 3}), A.sizes, lambda r: entry(A, r)
    )


def test_split():
    six = nt.tensor([[3, 1, 4, 1, 5, 9]], "batch layer")
    parts = six.split(layer={"outer": 2, "inner": 3})
    assert_equal(parts, {"batch": 1, "outer": 2, "inner": 3}, lambda r: [3, 1, 4, 1, 5, 9][3 * r["outer"] + r["inner"]])
    assert six.split(layer={"layer": None, "inner": 2}).sizes == {"batch": 1, "layer": 3, "inner": 2}
    assert six.split({"layer": {"a": 6, "b": 1}}).sizes == {"batch": 1, "a": 6, "b": 1}


INDICES = [
    ({"height": 0}, [3, 1, 4]), ({"height": -1}, [1, 5, 9]), ({"width": np.int64(2)}, [4, 9]), ({"height": 1, "width": 0}, 1),
    ({"width": slice(1)}, [[3], [1]]), ({"width": slice(None, None, 2)}, [[3, 4], [1, 9]]), ({}, DATA),
    ({"width": slice(None, None, -1)}, [[4, 1, 3], [9, 5, 1]]), ({"height": 1, "width": slice(-2, None)}, [5, 9]),
]  # fmt: skip


@pytest.mark.parametrize(("index", "want"), INDICES, ids=str)
def test_elements_are_counted_from_0_as_python_does(index, want):
    tensor = A[index]
    assert tensor.array.tolist() == want
    assert isinstance(tensor.array, np.ndarray)
    assert tensor.axes == tuple(axis for axis in A.axes if axis not in index or isinstance(index[axis], slice))


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_later_indices_of_the_same_axes_are_checked_as_the_first(library):
    xp = pytest.importorskip("jax.numpy" if library == "jax" else library)
    tensor = nt.tensor(xp.asarray(DATA), "height width")
    for axes in (["height"], ["width"], ["width", "height"], ["height", "width"]):
        for entries in itertools.product(
            [0, -1, 1, slice(1), slice(None, None, 2), np.int64(1), [1, 0]], repeat=len(axes)
        ):
            index = dict(zip(axes, entries))
            result, want = tensor[index], np.asarray(DATA)
            for axis in sorted(axes, reverse=True):
                want = want[:, index[axis]] if axis == "width" else want[index[axis]]
            assert np.asarray(result.array).tolist() == want.tolist()
            rest = [axis for axis in A.axes if isinstance(index.get(axis, slice(None)), (slice, list))]
            assert result.sizes == dict(zip(rest, want.shape))
    for selector, number in ((2, 401), (-3, 401), (True, 402), (1.0, 402), (slice("x", None), 402), ("north", 401)):
        with pytest.raises(nt.NotationError) as problem:
            tensor[{"height": selector}]
        assert problem.value.code == number, selector


def test_elements_by_tensors_of_indices():
    columns, rows = nt.tensor([2, 0], "pick"), nt.tensor([1, 0], "pick")
    assert_equal(A[{"width": columns}], {"height": 2, "pick": 2}, lambda r: DATA[r["height"]][[2, 0][r["pick"]]])
    assert A[{"width": columns, "height": rows}].array.tolist() == [9, 3]
    assert A[{"width": nt.tensor([2, 0], "height")}].array.tolist() == [4, 1]
    assert A[{"width": columns, "height": 0}].array.tolist() == [4, 3]
    swapped = A[{"width": nt.tensor([1, 0], "height"), "height": nt.tensor([0, 1, 1], "width")}]
    assert_equal(swapped, {"height": 2, "width": 3}, lambda r: DATA[[0, 1, 1][r["width"]]][[1, 0][r["height"]]])


WRONG_SHAPES = {
    "rename what is missing": (lambda: A.rename(heigt="a"), "rename needs axis heigt", "did you mean height?"),
    "rename onto another": (lambda: A.rename(height="width"), "shape error 312", "width"),
    "rename to no name": (lambda: A.rename(height="3"), "name error 208", "invalid axis name"),
    "merge what is missing": (lambda: A.merge(layer=("height", "with")), "301", "did you mean width?"),
    "merge twice": (lambda: A.merge(layer=("height", "height")), "shape error 303", "height"),
    "merge onto another": (lambda: A.merge(width=("height",)), "shape error 313", "another"),
    "split what is missing": (lambda: A.split(high={"a": 2}), "301", "high"),
    "split onto another": (lambda: A.split(height={"width": 2}), "shape error 313", "width"),
    "split unevenly": (lambda: A.split(width={"a": 2, "b": None}), "cannot split axis width of size 3 into", "313"),
    "split wrongly": (lambda: A.split(width={"a": 2, "b": 2}), "cannot split axis width of size 3 into", "313"),
    "split with two unknown": (lambda: A.split(width={"a": None, "b": None}), "313", "one may be None"),
    "split into zero": (lambda: A.split(width={"a": 0, "b": None}), "313", "cannot split"),
    "index by position": (lambda: A[0], "an index needs its axis", 'A[{"height": 0}]'),
    "axis without an index": (lambda: A["width"], "the index along width is missing", 'A[{"width": 0}]'),
    "index of a missing axis": (lambda: A[{"hight": 0}], "301", "did you mean height?"),
    "index out of range": (lambda: A[{"height": 2}], "index 2 is out of range for axis height (0 to 1)", "start at 0"),
    "index below range": (lambda: A[{"height": -3}], "value error 401", "-3"),
    "index not whole": (lambda: A[{"height": 0.5}], "value error 402", "not an integer"),
    "index by a truth value": (lambda: A[{"height": True}], "value error 402", "True"),
    "index tensor out of range": (lambda: A[{"height": nt.tensor([0, 2], "a")}], "value error 401", "2"),
}  # fmt: skip


@pytest.mark.parametrize(("run", "message", "further"), WRONG_SHAPES.values(), ids=WRONG_SHAPES)
def test_a_shape_that_cannot_be_is_refused(run, message, further):
    text = text_of(run)
    assert message in text and further in text


# ------------------------------------------------------------------------------------------------------- what goes wrong
MISFITS = {
    "two sizes": (lambda: A + nt.tensor([1, 2], "width"), "shape error 302: axis width has size 3 on one side of + and size 2 on the other",
                  "share the name width"),
    "what each has": (lambda: A + nt.tensor([1, 2], "width"), "the first operand has ℝ^{height[2] × width[3]}",
                      "the second operand has ℝ^{width[2]}"),
    "a missing axis": (lambda: nt.softmax(A, axis="heigth"), "softmax_{heigth} needs axis heigth", "did you mean height?"),
    "missing in one": (lambda: nt.dot(A, X, axis="width"), "⊙_{width} needs axis width", "missing from the second operand"),
    "one axis twice": (lambda: nt.sum(A, axis=("width", "width")), "shape error 303: axis width is named twice", "once"),
    "no axis": (lambda: nt.softmax(A), "shape error 316: softmax expects", 'pass it: axis="height"'),
    "an axis too many": (lambda: nt.cumsum(A, axis=("height", "width")), "shape error 316: cumsum expects 1 axis", "got 2"),
    "an axis of numbers": (lambda: nt.exp(A, axis="width"), "316", "exp"),
    "a name that is none": (lambda: nt.sum(A, axis="width,"), "208", "invalid axis name"),
    "a position": (lambda: nt.sum(A, axis=1), "error 208: 1 does not name axes", "height width"),
    "an array": (lambda: A + np.ones(3), "an array of 3 without axis names", "nt.tensor(array"),
    "an array on the left": (lambda: np.ones(3) + A, "without axis names", "nt.tensor(array"),
    "a list": (lambda: A + [1, 2, 3], "shape error 317", "nt.tensor"),
    "text": (lambda: nt.concat(A, "width"), "got the string 'width'", 'axis="width"'),
    "no operand": (lambda: nt.dot(A, None), "317", "NoneType"),
    "an axis that is there": (lambda: nt.unroll(A, axis=("height", "width"), size=1), "shape error 306", "width"),
    "numbers for truth": (lambda: A & A, "error 315", "compare first"),
    "no truth for where": (lambda: nt.where(A, 1, 0), "error 315", "compare first"),
    "too large": (lambda: nt.max(nt.tensor(np.ones(2, "int8"), "a"), 2**70), "too large for the dtype int64", "floating"),
    "beyond 64 bits": (lambda: nt.tensor([2**63 - 1], "a") + 1, "integer overflow", "float64"),
    "nothing to take the largest of": (lambda: nt.max(nt.tensor([], "n"), axis="n"), "value error 405", "n"),
    "no size": (lambda: nt.onehot(ONE, axis="vocab"), "needs the size of its new axis", "size=3"),
    "an index out of range": (lambda: nt.index(A, 3, axis="width"), "index 3 is out of range for axis width (0 to 2)", "start at 0"),
}  # fmt: skip


@pytest.mark.parametrize(("run", "message", "further"), MISFITS.values(), ids=MISFITS)
def test_what_does_not_fit_is_refused_twice_in_the_same_words(run, message, further):
    first, second = text_of(run), text_of(run)
    assert message in first and further in first
    assert first == second


def test_an_unknown_parameter_is_an_error_of_pythons():
    with pytest.raises(TypeError, match="keepdims"):
        nt.sum(A, axis="width", keepdims=True)


# ----------------------------------------------------------------------------------------------------- positional arrays
def test_to_array_asks_for_the_order():
    assert A.to_array("width height").tolist() == [[3, 1], [1, 5], [4, 9]]
    assert A.to_array(("height", "width")).tolist() == DATA
    assert ONE.to_array().tolist() == [1, 2, 3] and NUMBER.to_array().tolist() == 2.5


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: A.to_array(), 'to_array needs an axis order; the axes are height, width\n  hint: write to_array("height width")'),
        (lambda: A.to_array("height"), "to_array got height; the axes are height, width"),
        (lambda: A.to_array("a b"), "to_array got a, b"), (lambda: ONE.to_array("seq seq"), "318"),
        (lambda: np.asarray(A), 'converting ℝ^{height[2] × width[3]} to an array needs an axis order\n  hint: pass it: A.to_array("height width")'),
        (lambda: np.array(A, dtype=float), "needs an axis order"), (lambda: np.array([A, A]), "318"),
        (lambda: len(A), "sizes gives"), (lambda: list(A), "no first axis"), (lambda: 3 in A, "318"), (lambda: bool(A), "318"),
        (lambda: float(ONE), "float needs a tensor without axes, got ℝ^{seq[3]}"), (lambda: int(A), "318"),
        (lambda: ONE.item(), "index or reduce it first"), (lambda: A @ X, 'nt.dot(A, B, axis="key")'),
        (lambda: np.ones((2, 2)) @ A, "nt.dot"), (lambda: np.sum(A), "nt.sum(A"), (lambda: np.mean(A, axis=0), "nt.mean(A"),
        (lambda: np.add.reduce(A), "depends on the order of axes"), (lambda: np.add.outer(A, X), "318"),
        (lambda: np.concatenate([A, A]), "nt.concat"), (lambda: np.einsum("ab->b", A), "318"), (lambda: np.matmul(A, X), "nt.dot"),
        (lambda: np.dot(A, X), "nt.dot"), (lambda: np.transpose(A), "318"), (lambda: np.linalg.norm(A), "318"),
        (lambda: np.exp(A, out=np.zeros((2, 3))), "318"), (lambda: np.add(A, np.ones((2, 3))), "without axis names"),
        (lambda: np.where(A > 1, A, 0), "nt.where"), (lambda: np.linalg.inv(A), "318"),
    ],
)  # fmt: skip
def test_what_needs_an_order_is_refused_with_what_to_write(run, message):
    assert message in text_of(run)


def test_one_axis_or_none_has_no_order():
    assert np.asarray(ONE).tolist() == [1, 2, 3] and np.asarray(ONE, dtype=float).dtype == float
    assert np.asarray(NUMBER).shape == () and math.sqrt(nt.tensor(4.0)) == 2
    copied = np.array(ONE)
    copied[0] = 9
    assert ONE.array.tolist() == [1, 2, 3]


def test_a_number_without_axes_is_one():
    assert float(NUMBER) == 2.5 and int(NUMBER) == 2 and bool(NUMBER) and not nt.tensor(0)
    assert type(NUMBER.item()) is float and type((NUMBER > 1).item()) is bool
    assert f"{float(A.sum(axis=A.axes))}" == "23.0"
    assert isinstance(A.sum(axis=A.axes).array, np.ndarray) and isinstance((NUMBER + 1).array, np.ndarray)


UFUNCS = [
    (np.exp, "exp"), (np.log, "log"), (np.sqrt, "sqrt"), (np.abs, "abs"), (np.tanh, "tanh"), (np.negative, "negative"),
    (np.floor, "floor"), (np.sign, "sign"),
]  # fmt: skip


@pytest.mark.parametrize(("ufunc", "name"), UFUNCS, ids=lambda item: getattr(item, "__name__", item))
def test_numpys_functions_of_numbers_go_by_name(ufunc, name):
    result = ufunc(A)
    assert isinstance(result, nt.NamedTensor) and nt.allclose(result, getattr(nt, name)(A))


def test_numpys_functions_of_two_go_by_name():
    swapped = nt.tensor(A.to_array("width height"), "width height")
    for ufunc, want in ((np.add, A + X), (np.multiply, A * X), (np.maximum, nt.max(A, X)), (np.less, A < X), (np.divide, A / X),
                        (np.minimum, nt.min(A, X)), (np.power, A**X), (np.subtract, A - X)):  # fmt: skip
        assert nt.allclose(ufunc(swapped, X), want)
    assert np.maximum(A, 3).array.tolist() == [[3, 3, 4], [3, 5, 9]]
    assert_equal(np.hypot(swapped, X), A.sizes, lambda r: math.hypot(entry(A, r), entry(X, r)))
    assert_equal(np.arctan(swapped), A.sizes, lambda r: math.atan(entry(A, r)))
    whole, part = np.divmod(A, 2)[0], np.modf(X)[0]
    assert whole.array.tolist() == [[1, 0, 2], [0, 2, 4]] and part.array.tolist() == [0, 0]


# --------------------------------------------------------------------------------------------------- copies, comparisons
@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))], ids=["copy", "deep", "pickle"]
)
def test_copies_are_the_same_tensor(again):
    for tensor in (A, X, NUMBER, ONE.rename(seq="seq'"), A > 2):
        result = again(tensor)
        assert result.axes == tensor.axes and result.dtype == tensor.dtype and nt.allclose(result, tensor)
        assert (result == tensor).array.all()


def test_a_deep_copy_has_its_own_numbers():
    assert not np.shares_memory(copy.deepcopy(A).array, A.array) and np.shares_memory(copy.copy(A).array, A.array)


def test_allclose():
    assert nt.allclose(A, nt.tensor(A.to_array("width height"), "width height"))
    assert nt.allclose(A, A + 1e-9) and not nt.allclose(A, A + 1e-3) and nt.allclose(A, A + 1e-3, atol=1e-2)
    assert nt.allclose(X, X * (1 + 1e-4), rtol=1e-3) and not nt.allclose(X, X * (1 + 1e-4))
    assert not nt.allclose(A, A.rename(height="rows")) and not nt.allclose(A, X)
    assert nt.allclose(nt.tensor([math.nan, math.inf], "a"), nt.tensor([math.nan, math.inf], "a"))
    assert nt.allclose(NUMBER, 2.5) and not nt.allclose(NUMBER, 2.6)


# ---------------------------------------------------------------------------------------------------- functions, methods
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_is_a_name_of_the_package_and_says_what_it_does(name):
    function = getattr(nt, name)
    assert name in dir(nt)
    if name == "ones":  # a constructor by shape, too
        assert nt.allclose(function(axis="a", size=2), FUNCTIONS[name](axis="a", size=2))
        return
    assert function is FUNCTIONS[name]
    assert (
        "(paper §" in function.__doc__
        and "Raises\n------\nNotationError" in function.__doc__
        and "NumPy" in function.__doc__
    )
    assert ">>> " in function.__doc__  # run by the doctests of `namedtensor.tensors.functions`
    parameters = inspect.signature(function).parameters
    assert "options" not in parameters and parameters


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_function_of_one_tensor_is_a_method_too(name):
    assert getattr(nt.NamedTensor, name) is FUNCTIONS[name]


def test_every_function_of_one_tensor_is_a_method():
    for name in "exp softmax sum mean norm standardize argmax cumsum sort relu gelu max min maxk unroll pool index onehot".split():
        assert name in METHODS, name
    assert A.sum(axis="width").array.tolist() == [8, 15]
    assert A.dot(X, axis="height").array.tolist() == [13.0, 37.0, 71.0]
    assert A.standardize(axis=("height", "width"), eps=0.0).var(axis=A.axes).item() == pytest.approx(1)
    assert A.unroll(axis=("width", "w"), size=2).sizes == {"height": 2, "width": 2, "w": 2}


def test_what_the_package_lacks():
    with pytest.raises(AttributeError, match="no attribute 'sotfmax'"):
        nt.sotfmax  # noqa: B018


def test_a_subclass_is_refused_with_a_sentence():
    with pytest.raises(TypeError, match="My cannot subclass NamedTensor: results of operations are plain NamedTensors"):
        type("My", (nt.NamedTensor,), {})
