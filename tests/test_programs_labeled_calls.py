"""Labels are compared once per call: every call aligns or rejects its inputs, as pandas and xarray align them."""

import itertools
import re

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.layers import Layer
from namedtensor.programs.bound_call import BoundCall

CITIES = ["Oslo", "Rome", "Kyiv", "Bern"]


def series(values, labels, axis="city"):
    return nt.tensor(np.array(values, dtype="float64"), axis, labels={axis: labels})


def key_by_label(tensor):
    """The elements of a tensor over one axis, or two, by their labels."""
    axes = tensor.axes
    labels = [tensor.labels[axis] for axis in axes]
    return dict(zip(itertools.product(*labels), tensor.to_array(axes).ravel().tolist()))


A = series([1, 2, 4], ["Oslo", "Rome", "Kyiv"])
B = series([10, 20, 40], ["Rome", "Kyiv", "Oslo"])
UNLABELED = nt.tensor(np.array([5.0, 6.0, 7.0]), "city")
OTHER = series([3, 5, 7], ["Oslo", "Rome", "Bern"])
FEWER = series([3, 5], ["Kyiv", "Oslo"])


# ------------------------------------------------------------------------------------------------ every way to call
class Sum(Layer):
    """A sum of two arguments and a number."""

    notation = "Sum : ℝ^{city} × ℝ^{city} → ℝ^{city}\nSum(X, Y) = X + Y + 0 · b\nb ∈ ℝ"


ADD = nt.formula("A + B")
COMPILED = ADD.compile()
PROGRAM = nt.program("S = A + B\nT = 2 B\nf(x, y) = x + y")
LAYER = Sum.init(0)


def differentiate_square(A, B):
    """The sum by a derivative: half of ∂(∑ (A + B)^2)/∂A."""
    return nt.derivative("∑_{city} (A + B)^2", "A")(A=A, B=B).rename({"city*": "city"}) / 2


CALLS = {
    "evaluate": lambda A, B: nt.evaluate("A + B", A=A, B=B),
    "mapping": lambda A, B: nt.evaluate("A + B", {"A": A, "B": B, "unused": 2.0}),
    "formula": lambda A, B: ADD(A=A, B=B),
    "compiled": lambda A, B: COMPILED(A=A, B=B),
    "entry": lambda A, B: PROGRAM["S"](A=A, B=B),
    "entries": lambda A, B: PROGRAM["S", "T"](A=A, B=B)[0],
    "function": lambda A, B: PROGRAM["f"](A, B),
    "function by name": lambda A, B: PROGRAM["f"](x=A, y=B),
    "bound": lambda A, B: BoundCall(PROGRAM["S"], {"A": A})({"B": B}),
    "layer": lambda A, B: LAYER(A, B),
    "explain": lambda A, B: nt.explain("A + B", A=A, B=B).value,
    "explain a function": lambda A, B: PROGRAM["f"].explain(A, B).value,
    "elements": lambda A, B: nt.evaluate("Y_{city(i)} = A_{city(i)} + B_{city(i)}", A=A, B=B),
    "sizes": lambda A, B: nt.evaluate("A + B + n − |city|", A=A, B=B, n=A.sizes["city"]),
    "derivative": differentiate_square,
    "operator": lambda A, B: A + B,
    "function of Python": lambda A, B: nt.add(A, B),
    "NumPy": lambda A, B: np.logaddexp(A, B) * 0 + np.add(A, B),
    "vmap": lambda A, B: nt.vmap(lambda a, b: a + b, axis="city")(A, B).with_labels(city=A.labels["city"]),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_same_labels_in_another_order_are_aligned(name):
    call = CALLS[name]
    same = B[{"city": A.labels["city"]}]
    for first, second in (
        (A, B),
        (A, same),
        (B, A),
        (A, B),
        (same, A),
        (A, B),
    ):  # the second call with the other order, too
        result = call(first, second)
        assert key_by_label(result) == {("Oslo",): 41, ("Rome",): 12, ("Kyiv",): 24}
        assert result.labels == first.labels


@pytest.mark.parametrize("other", [OTHER, FEWER], ids=["different labels", "fewer labels"])
@pytest.mark.parametrize("name", CALLS)
def test_different_labels_are_refused(name, other):
    if name == "elements" and other is FEWER:
        pytest.skip("the axis of the definition has two sizes, which raises another error")
    for _ in range(2):
        with pytest.raises(nt.NotationError) as raised:
            CALLS[name](A, other)
        assert raised.value.code == 412
        assert "have different labels on axis city" in raised.value.message
        assert "'Oslo', 'Rome', 'Kyiv'" in raised.value.notes[0]


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_libraries_align_in_the_same_way(library):
    pytest.importorskip(library)
    left, right = move_to(A, library), move_to(B, library)
    for name, call in CALLS.items():
        if name not in ("layer", "NumPy"):
            assert key_by_label(call(left, right)) == {("Oslo",): 41, ("Rome",): 12, ("Kyiv",): 24}, name


def move_to(tensor, library):
    module = pytest.importorskip(library)
    convert = module.asarray if library == "torch" else module.numpy.asarray
    return nt.tensor(convert(tensor.to_array("city")), "city", labels=tensor.labels)


def test_a_module_of_pytorch_and_a_sharded_program_compare_what_they_are_called_with():
    torch = pytest.importorskip("torch")
    left, right = move_to(A, "torch"), move_to(B, "torch")
    module = PROGRAM["S"].compile("torch").module({"n": nt.tensor(torch.tensor(0.0), "")})
    assert key_by_label(module(A=left, B=right)) == {("Oslo",): 41, ("Rome",): 12, ("Kyiv",): 24}
    with pytest.raises(nt.NotationError, match="different labels"):
        module(A=left, B=move_to(OTHER, "torch"))


def test_a_sharded_program_aligns_before_it_enters_jax():
    jax = pytest.importorskip("jax")
    from namedtensor.sharding.sharded import shard_program
    from namedtensor.sharding.sharding import Sharding

    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("data",))
    entry = shard_program(PROGRAM, Sharding({"city": "data"}, mesh))["f"]
    left, right = move_to(A, "jax"), move_to(B, "jax")
    assert entry(left, right).tolist() == [41, 12, 24]
    with pytest.raises(nt.NotationError, match="different labels"):
        entry(left, move_to(OTHER, "jax"))


def test_a_bound_call_aligns_each_of_its_calls():
    call = BoundCall(PROGRAM["S"], {"A": A})
    for B_of_call in (B, B[{"city": CITIES[:3]}], B, A):
        expected = {city: value + key_by_label(B_of_call)[city] for city, value in key_by_label(A).items()}
        assert key_by_label(call({"B": B_of_call})) == expected


@pytest.mark.parametrize("first, second", [(A, B), (B, A)])
def test_a_derivative_without_its_variable_is_aligned_like_its_body(first, second):
    for call in (
        lambda X, Y: nt.evaluate("∂(∑_{city} X ⊙ Y)/∂X*", X=X, Y=Y),
        lambda X, Y: nt.evaluate("f(a) = ∑_{city} a ⊙ Y\n∂f(X)/∂X*", X=X, Y=Y),
        lambda X, Y: nt.evaluate("∂(∑_{city} X)/∂X* − 1 + Y_{city→city*}", X=X, Y=Y),
        lambda X, Y: nt.derivative("∑_{city} X ⊙ Y", "X")(X=X, Y=Y),
    ):
        result = call(first, second)
        assert key_by_label(result) == key_by_label(second)
        assert result.labels == {"city*": first.labels["city"]}
        with pytest.raises(nt.NotationError, match="X and Y have different labels on axis city"):
            call(first, OTHER)
    with pytest.raises(nt.NotationError, match="Z has no labels on axis city"):
        nt.evaluate("∂(∑_{city} X ⊙ Y ⊙ Z)/∂X*", X=first, Y=second, Z=UNLABELED)


# ------------------------------------------------------------------------------------- reassociation, pandas and xarray
def permute_labels(random, axes):
    """A random tensor over axes whose labels are in a random order."""
    labels = {axis: [*random.permutation(ALL[axis])] for axis in axes}
    array = random.normal(size=[len(labels[axis]) for axis in axes])
    return nt.tensor(array, axes, labels=labels)


ALL = {"city": CITIES, "day": ["Mon", "Tue", "Wed"]}
AXES = {"A": ["city"], "B": ["city"], "C": ["city"], "M": ["day", "city"], "N": ["city", "day"]}
FORMULAS = {  # of the same value in xarray
    "A + B + C": lambda A, B, C, M, N: A + B + C,
    "C + (B + A)": lambda A, B, C, M, N: A + B + C,
    "A + (C + B)": lambda A, B, C, M, N: A + B + C,
    "A ⊙ B + A ⊙ C": lambda A, B, C, M, N: A * (B + C),
    "A ⊙ (B + C)": lambda A, B, C, M, N: A * (B + C),
    "(A ⊙ B) ⊙_{city} M": lambda A, B, C, M, N: (A * B * M).sum("city"),
    "A ⊙_{city} (B ⊙ M)": lambda A, B, C, M, N: (A * B * M).sum("city"),
    "(M ⊙_{city} A) ⊙_{day} N": lambda A, B, C, M, N: ((M * A).sum("city") * N).sum("day"),
    "(M ⊙ A) ⊙_{day} N + 0 ⊙ B": lambda A, B, C, M, N: (M * A * N).sum("day") + 0 * B,
    "M + N − A": lambda A, B, C, M, N: M + N - A,
    "N − (A − M)": lambda A, B, C, M, N: M + N - A,
    "max_{day} (M ⊙ N) − mean_{city} B": lambda A, B, C, M, N: (M * N).max("day") - B.mean("city"),
    "{ A if B > C; M otherwise }": lambda A, B, C, M, N: A.where(B > C, M),
    "f(x) = x + B\nf(A) + M": lambda A, B, C, M, N: A + B + M,
    "s^0 = A\ns^t = s^{t-1}/2 + B for t = 1, …, 3\ns^3": lambda A, B, C, M, N: A / 8 + B * 1.75,
}


@pytest.mark.parametrize("text", FORMULAS)
def test_values_are_those_of_xarray_in_any_grouping_and_order(text):
    xarray = pytest.importorskip("xarray")
    random = np.random.default_rng(len(text))
    for _ in range(4):
        tensors = {name: permute_labels(random, axes) for name, axes in AXES.items() if re.search(rf"\b{name}\b", text)}
        arrays = {name: tensor.to_xarray() for name, tensor in tensors.items()}
        with xarray.set_options(arithmetic_join="exact"):  # which needs one order
            orders = {axis: labels for tensor in tensors.values() for axis, labels in tensor.labels.items()}
            same = {name: array.sel(pick(orders, array.dims)) for name, array in arrays.items()}
            expected = FORMULAS[text](**{name: same.get(name) for name in AXES})
        names = [*random.permutation([*tensors])]
        result = nt.evaluate(text, {name: tensors[name] for name in names})
        for axis in result.axes if result.labels else ():
            first = next(tensors[name] for name in names if axis in tensors[name].axes)
            assert result.labels[axis] == first.labels[axis]
        if not result.labels:  # in the order of the first input
            first = {axis: labels for name in reversed(names) for axis, labels in tensors[name].labels.items()}
            result = result.with_labels(pick(first, result.axes))
        np.testing.assert_allclose(
            result.to_array(list(expected.dims)),
            expected.sel(pick(result.labels, expected.dims)).values, rtol=1e-12, atol=1e-12,
        )  # fmt: skip


def pick(labels, axes):
    return {axis: labels[axis] for axis in axes}


def test_operators_of_python_are_those_of_pandas():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    for operate in (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: a > b):
        left, right = permute_labels(random, ["day", "city"]), permute_labels(random, ["city", "day"])
        expected = operate(*(tensor.to_pandas("day city").sort_index().sort_index(axis=1) for tensor in (left, right)))
        result = operate(left, right).to_pandas("day city")
        assert [*result.index] == left.labels["day"] and [*result.columns] == left.labels["city"]
        pandas.testing.assert_frame_equal(result.sort_index().sort_index(axis=1), expected)


def test_tables_of_pandas_and_xarray_are_aligned():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"low": [-3.0, 8.0], "high": [2.0, 14.0]}, index=["Oslo", "Rome"])
    frame = frame.rename_axis(index="city", columns="kind")
    for other in (frame.iloc[::-1], frame[["high", "low"]], frame.iloc[::-1][["high", "low"]]):
        result = nt.evaluate("T + U", T=frame, U=other).to_pandas("city kind")
        pandas.testing.assert_frame_equal(result, frame + frame)
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray([1.0, 2.0], dims="city", coords={"city": ["Rome", "Oslo"]})
    result = nt.evaluate("T + a", T=frame, a=array).to_pandas("city kind")
    pandas.testing.assert_frame_equal(result, frame.add(array.to_pandas(), axis=0).loc[frame.index])


# -------------------------------------------------------------------------------------------------------------- lags
YEARS = series([1, 2, 4, 8], [2001, 2002, 2003, 2004], "time")
BACKWARDS = series([8, 4, 2, 1], [2004, 2003, 2002, 2001], "time")
LATER = series([100, 200, 300], [2002, 2003, 2004], "time")
EARLIER = series([100, 200, 300], [2001, 2002, 2003], "time")
NEXT = series([10, 20, 30, 40], [2002, 2003, 2004, 2005], "time")

LAGS = [  # values by hand, and the labels if all combined axes have the same labels
    ("X_{time(2:4)} − X_{time(1:3)}", {}, [1, 2, 4], {}),
    ("X_{time(2:4)} − Y_{time(1:3)}", {"Y": BACKWARDS}, [1, 2, 4], {}),
    ("X_{time(2:4)} − Y_{time(2:4)}", {"Y": BACKWARDS}, [0, 0, 0], {"time": [2002, 2003, 2004]}),
    ("X_{time(2:4)} + Y", {"Y": LATER}, [102, 204, 308], {"time": [2002, 2003, 2004]}),
    ("X_{time(1:3)} + Y", {"Y": LATER}, [101, 202, 304], {}),
    ("X_{time(2:4)} − X_{time(1:3)} + Y", {"Y": LATER}, [101, 202, 304], {}),
    ("X_{time(2:4)} + Y − X_{time(1:3)}", {"Y": LATER}, [101, 202, 304], {}),
    ("Y − X_{time(1:3)} + X_{time(2:4)}", {"Y": LATER}, [101, 202, 304], {}),
    ("Y + (X_{time(2:4)} − X_{time(1:3)})", {"Y": LATER}, [101, 202, 304], {}),
    ("X_{time(2:4)} ⊙ (Y − X_{time(1:3)})", {"Y": LATER}, [198, 792, 2368], {}),
    ("X_{time(2:4)} ⊙ Y − X_{time(2:4)} ⊙ X_{time(1:3)}", {"Y": LATER}, [198, 792, 2368], {}),
    ("X_{time(1)} + 0 ⊙ Y − Y_{time(1)}", {"Y": BACKWARDS}, [0, 0, 0, 0], {"time": [2001, 2002, 2003, 2004]}),
]
LAST, FIRST = {"s": [2002, 2003, 2004]}, {"s": [2001, 2002, 2003]}
SHIFTS = [  # each s has three elements
    ("X_{time(iota_{s})}", {}, [1, 2, 4], FIRST),
    ("X_{time(iota_{s} + 1)}", {}, [2, 4, 8], LAST),
    ("X_{time(1 + iota_{s})} − Y_{time(iota_{s} + 1)}", {"Y": BACKWARDS}, [0, 0, 0], LAST),
    ("X_{time(5 − iota_{s})}", {}, [8, 4, 2], {"s": [2004, 2003, 2002]}),
    ("X_{time(iota_{s} + 1)} − X_{time(iota_{s})}", {}, [1, 2, 4], {}),
    ("X_{time(iota_{s})} − X_{time(iota_{s} + 1)}", {}, [-1, -2, -4], {}),
    ("D_{s(k)} = X_{time(k + 1)} − X_{time(k)}", {}, [1, 2, 4], {}),
    ("D_{s(k)} = X_{time(k + 1)} + 2 X_{time(1 + k)}", {}, [6, 12, 24], LAST),
    ("D_{time(k)} = { X_{time(k)} − X_{time(k-1)} if k > 1; 0 otherwise }", {}, [0, 1, 2, 4], {}),
    ("D_{time(k)} = X_{time(k)} + X_{time(5 − k)}", {}, [9, 6, 6, 9], {}),
    ("D_{time(k)} = X_{time(k)} + Y_{time(5 − k)}", {"Y": NEXT}, [41, 32, 24, 18], {}),
    ("(X_{time(2:4)} − X_{time(1:3)})_{time(1:2)} + Y_{time(2:3)}", {"Y": LATER}, [201, 302], {}),
]


@pytest.mark.parametrize("text, more, values, labels", LAGS + SHIFTS)
def test_a_lag_combines_by_position(text, more, values, labels):
    sizes = {"s": 3} if "s(" in text or "{s}" in text else None
    for _ in range(2):
        result = nt.evaluate(text, {"X": YEARS, **more}, sizes=sizes)
        assert result.tolist() == values and result.labels == labels


@pytest.mark.parametrize(
    "text", ["X_{time(2:4)} + Y + Z", "X_{time(2:4)} + (Y + Z)", "Z + X_{time(2:4)} + Y", "(X_{time(1:3)} + Z) ⊙ Y"]
)
def test_a_lag_hides_no_difference_of_other_inputs(text):
    with pytest.raises(nt.NotationError, match=r"[YZ] and [YZ] have different labels on axis time"):
        nt.evaluate(text, X=YEARS, Y=LATER, Z=EARLIER)


# ------------------------------------------------------------------------------------------------------ renamed axes
def test_renamed_axes_are_aligned():
    M = series([100, 1000, 10], ["Kyiv", "Oslo", "Rome"], "town")
    for text in ("A_{city→town} ⊙_{town} M", "M ⊙_{town} A_{city→town}", "∑_{city} A ⊙ M_{town→city}"):
        assert nt.evaluate(text, A=A, M=M).item() == 1 * 1000 + 2 * 10 + 4 * 100
    result = nt.evaluate("A_{city→town} + M", A=A, M=M)
    assert (
        key_by_label(result) == {("Oslo",): 1001, ("Rome",): 12, ("Kyiv",): 104}
        and result.labels["town"] == A.labels["city"]
    )
    with pytest.raises(nt.NotationError, match="city of A and town of M have different labels"):
        nt.evaluate("A_{city→town} ⊙_{town} M", A=A, M=M.with_labels(town=["Kyiv", "Oslo", "Paris"]))


def test_rows_and_columns_of_one_matrix_are_aligned():
    labels = {"city": ["Oslo", "Rome", "Kyiv"], "city'": ["Kyiv", "Oslo", "Rome"]}
    distances = {("Oslo", "Rome"): 2.0, ("Oslo", "Kyiv"): 1.5, ("Rome", "Kyiv"): 1.7}
    distance = lambda row, column: 0.0 if row == column else distances.get((row, column)) or distances[column, row]
    D = nt.tensor(
        np.array([[distance(row, column) for column in labels["city'"]] for row in labels["city"]]),
        "city city'",
        labels=labels,
    )
    both = nt.evaluate("D − D_{city→city', city'→city}", D=D)
    assert np.abs(both.array).max() == 0 and both.labels["city"] == both.labels["city'"] == labels["city"]
    for text in (
        "D ⊙_{city'} B_{city→city'}",
        "B_{city→city'} ⊙_{city'} D",
        "D_{city→city', city'→city} ⊙_{city'} B_{city→city'}",
    ):
        value = nt.evaluate(text, B=B, D=D)
        expected = {
            row: sum(distance(row, city) * weight for (city,), weight in key_by_label(B).items()) for row in CITIES[:3]
        }
        assert key_by_label(value) == pytest.approx({(city,): number for city, number in expected.items()})


# ------------------------------------------------------------------------------------- duplicates, and no labels
def test_labels_that_are_not_unique_are_aligned_only_in_one_order():
    twice, moved = series([1, 2, 3], ["a", "a", "b"]), series([1, 2, 3], ["a", "b", "a"])
    assert nt.evaluate("X + Y", X=twice, Y=twice * 2).tolist() == [3, 6, 9]
    assert (twice + twice).labels == twice.labels
    for call in (lambda: nt.evaluate("X + Y", X=twice, Y=moved), lambda: twice + moved):
        with pytest.raises(nt.NotationError, match="different orders in . and ., and 'a' is not unique"):
            call()
    with pytest.raises(nt.NotationError, match="have different labels"):
        nt.evaluate("X + Y", X=twice, Y=series([1, 2, 3], ["a", "b", "b"]))
    joined = nt.evaluate("X ⊕_{city} Y", X=twice, Y=moved)  # which combines no elements
    assert joined.tolist() == [1, 2, 3, 1, 2, 3] and joined.labels["city"] == ["a", "a", "b", "a", "b", "a"]


def test_an_input_without_labels_is_combined_by_position_unless_others_are_aligned():
    assert nt.evaluate("A + C", A=A, C=UNLABELED).tolist() == (A + UNLABELED).tolist() == [6, 8, 11]
    assert nt.evaluate("A + B + C", A=A, B=B[{"city": A.labels["city"]}], C=UNLABELED).labels == A.labels
    for text in ("A + B + C", "C + (A + B)", "(A ⊙ B) ⊙_{city} C", "(A + B)_{city→town} ⊙_{town} C_{city→town}"):
        with pytest.raises(nt.NotationError, match="C has no labels on axis city, and A and B have them") as raised:
            nt.evaluate(text, A=A, B=B, C=UNLABELED)
        repaired = B[{"city": A.labels["city"]}]
        assert raised.value.hint == 'if C has the order of A, pass B=B[{"city": A.labels["city"]}]'
        assert nt.allclose(
            nt.evaluate(text, A=A, B=repaired, C=UNLABELED),
            nt.evaluate(text, A=A, B=repaired, C=UNLABELED.with_labels(A.labels)),
        )
    unused = {"C": UNLABELED, "D": OTHER}
    assert nt.evaluate("A + B", {**unused, "B": B, "A": A}).labels == B.labels
    with pytest.raises(nt.NotationError, match="w has no labels on axis city"):
        nt.program("f(x, y) = x ⊙ w + y\nw ∈ ℝ^{city}")["f"](A, B, w=UNLABELED)


@pytest.mark.parametrize("name", ["evaluate", "compile", "formula"])
def test_a_sum_of_unrelated_axes_warns_once_if_labels_are_aligned(name):
    given = {"A": A, "B": B, name: series([1, 2], ["x", "y"], "other")}
    text = f"A + {name} + B"
    with pytest.warns(nt.NotationWarning, match="broadcasts") as warned:
        nt.evaluate(text, given) if name == "evaluate" else getattr(nt, name)(text)(**given)
    assert len(warned) == 1
