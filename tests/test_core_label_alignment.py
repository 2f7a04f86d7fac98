"""Labels that are compared: the repair of different ones, other dtypes, indices, gradients, functions of Python."""

import numpy as np
import pytest

import namedtensor as nt


def series(values, labels):
    return nt.tensor(np.array(values, dtype="float64"), "city", labels={"city": labels})


def key_by_label(tensor):
    """The elements of a tensor over one axis by their labels."""
    ((axis, labels),) = tensor.labels.items() if tensor.axes else [("", [])]
    dates = [label.astype("datetime64[ns]") if isinstance(label, np.datetime64) else label for label in labels]
    return dict(zip(dates, tensor.tolist()))  # Before NumPy 2.2, equal dates of different units had different hashes.


A = series([1, 2, 4], ["Oslo", "Rome", "Kyiv"])
B = series([10, 20, 40], ["Rome", "Kyiv", "Oslo"])
OTHER = series([3, 5, 7], ["Oslo", "Rome", "Bern"])
FEWER = series([3, 5], ["Kyiv", "Oslo"])


# -------------------------------------------------------------------------------------------------------- the repair
DAYS = np.array(["2024-01-01", "2024-01-02", "2024-01-05"], "datetime64[ns]")
DIFFERENT = [
    (A, OTHER),
    (A, FEWER),
    (FEWER, A),
    (series([1, 2, 4], [2019, 2020, 2021]), series([10, 20, 40], [2021, 2020, 2022])),
    (series([1, 2, 4], [0, 1, 2]), series([10, 20, 40], [2, 3, 0])),
    (series([1, 2, 4], [0.5, 1.5, 2.5]), series([20, 40], [2.5, 0.5])),
    (series([1, 2, 4], DAYS), series([10, 20], DAYS[::-2].astype("datetime64[D]"))),
    (series([1, 2, 4], [1, "x", 2]), series([10, 20], ["x", 3])),
]


@pytest.mark.parametrize("text", ["X + Y", "X ⊙_{city} Y", "∑_{city} X ⊙ Y"])
@pytest.mark.parametrize("X, Y", DIFFERENT)
def test_the_repair_works_as_printed(X, Y, text):
    with pytest.raises(nt.NotationError, match="X and Y have different labels on axis city") as raised:
        nt.evaluate(text, X=X, Y=Y)
    repaired = {"X": X, "Y": Y}
    assignment, _, both = raised.value.hint.partition(", then ")
    assert assignment == 'common = [c for c in X.labels["city"] if c in Y.labels["city"]]'
    exec(assignment, repaired)
    first, second = both.split(" and ")
    left, right = eval(first, repaired), eval(second, repaired)
    result = nt.evaluate(text, X=left, Y=right)
    left, right = key_by_label(left), key_by_label(right)
    assert left and {*left} == {*right} and {*left.items()} <= {*key_by_label(X).items()}
    if result.axes:
        assert key_by_label(result) == {label: left[label] + right[label] for label in left}
    else:
        assert result.item() == sum(left[label] * right[label] for label in left)


def test_the_repair_of_tables_makes_them_tensors():
    pandas = pytest.importorskip("pandas")
    X = pandas.Series([1.0, 2.0, 4.0], index=pandas.Index(["a", "b", "c"], name="k"))
    Y = pandas.Series([10.0, 20.0], index=pandas.Index(["c", "a"], name="k"))
    with pytest.raises(nt.NotationError, match="different labels") as raised:
        nt.evaluate("X + Y", X=X, Y=Y)
    names = {"X": X, "Y": Y, "nt": nt}
    repair, _, prepared = raised.value.hint.removesuffix(")").partition(" (after ")
    assignment, _, both = repair.partition(", then ")
    exec(f"{prepared}\n{assignment}", names)
    first, second = both.split(" and ")
    expected = (X + Y).dropna()
    assert key_by_label(nt.evaluate("X + Y", X=eval(first, names), Y=eval(second, names))) == dict(expected.items())


def test_without_a_common_label_the_repair_combines_by_position():
    other = series([10, 20, 40], ["x", "y", "z"])
    with pytest.raises(nt.NotationError, match="different labels") as raised:
        nt.evaluate("X + Y", X=A, Y=other)
    assert raised.value.hint == "they have no label in common; to combine by position: Y.with_labels(city=None)"
    assert nt.evaluate("X + Y", X=A, Y=other.with_labels(city=None)).tolist() == [11, 22, 44]


def test_the_error_marks_the_operation():
    with pytest.raises(nt.NotationError) as raised:
        nt.evaluate("Y = 2 A\nZ = Y + D ⊙ 3", A=A, D=OTHER)
    assert raised.value.span_text == "Y + D ⊙ 3" and "A and D have different labels" in raised.value.message
    with pytest.raises(nt.NotationError) as raised:
        nt.evaluate("h^0 = A\nh^t = h^{t-1} + D for t = 1, …, 100\nh^{100}", A=A, D=OTHER)
    assert raised.value.span_text == "h^{t-1} + D"
    with pytest.raises(nt.NotationError) as raised:
        nt.evaluate("A + 0\nA = D", A=A, D=OTHER)
    assert raised.value.span_text == "A = D"


# ------------------------------------------------------------------------------------------------------------ dtypes
@pytest.mark.parametrize(
    "left, right",
    [
        (DAYS, DAYS[[2, 0, 1]].astype("datetime64[D]")),
        (np.array([0, 1, 2], "datetime64[D]"), np.array([2 * 86400, 0, 86400], "datetime64[s]")),
        (DAYS.astype("datetime64[D]"), [*DAYS[[2, 0, 1]]]),
        (np.array([2019, 2020, 2021], "int32"), [2021, 2019, 2020]),
        ([1, 2, 3], [3.0, 1.0, 2.0]),
        (["a", "b", "c"], [np.str_("c"), np.str_("a"), np.str_("b")]),
        (np.array(["a", "b", "c"]), ["c", "a", "b"]),
        ([0.5, np.nan, 1.5], [1.5, 0.5, np.nan]),
        (np.array([1, 2, 3], "timedelta64[D]"), np.array([72, 24, 48], "timedelta64[h]")),
    ],
)
def test_labels_of_other_dtypes_are_equal(left, right):
    X, Y = series([1, 2, 4], left), series([40, 10, 20], right)
    for _ in range(2):
        assert nt.evaluate("X + Y", X=X, Y=Y).tolist() == (X + Y).tolist() == [11, 22, 44]
        same = series([10, 20, 40], [Y.labels["city"][at] for at in (1, 2, 0)])
        assert len(nt.evaluate("X + Y", X=X, Y=same).labels["city"]) == len((X + same).labels["city"]) == 3


@pytest.mark.parametrize(
    "left, right",
    [(["1", "2"], [1, 2]), (["2024-01-01", "2024-01-02"], DAYS[:2]), ([1, 2], np.array([1, 2], "datetime64[ns]"))],
)
def test_text_is_no_number_and_no_date(left, right):
    X, Y = series([1, 2], left), series([10, 20], right)
    for call in (lambda: nt.evaluate("X + Y", X=X, Y=Y), lambda: X + Y):
        with pytest.raises(nt.NotationError, match="different labels"):
            call()


def test_times_of_pandas_equal_dates_of_numpy():
    pandas = pytest.importorskip("pandas")
    X = series([1, 2, 4], [*map(pandas.Timestamp, DAYS)])
    assert nt.evaluate("X + Y", X=X, Y=series([40, 10, 20], DAYS[[2, 0, 1]])).tolist() == [11, 22, 44]


# --------------------------------------------------------------------------------------------- indices and gradients
def test_an_index_by_label_finds_its_element_once_inputs_are_aligned():
    assert nt.evaluate("B_{city(Rome)} + 0 ⊙ A", A=A, B=B).tolist() == [10, 10, 10]
    assert nt.evaluate("(A + B)_{city(Rome)}", A=A, B=B).item() == 12
    assert nt.program("f(x, y) = (x + y)_{city(Kyiv)}")["f"](A, B).item() == 24
    with pytest.raises(nt.NotationError, match="A and D have different labels"):
        nt.evaluate("(A + D)_{city(Rome)}", A=A, D=OTHER)


LOSSES = [
    "∑_{city} (A + B)^2 ⊙ B",
    "∑_{city} A ⊙ sort_{city} (A + B)",
    "∑_{city} A ⊙ softmax_{city} B",
    "B_{city(Oslo)} ⊙ A_{city(Rome)} + 3 ⊙ B_{city(Kyiv)}^2",
    "∑_{city} A ⊙ cumsum_{city} B",
    "∑_{town} B_{city→town}^3 ⊙ A_{city→town}",
    "h^0 = 0\nh^t = h^{t-1}/2 + A_{city(t)} ⊙ B_{city(t)}^2 for t = 1, …, 3\nL = h^3",
]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_gradient_has_the_order_and_the_labels_of_its_parameter(loss):
    text = loss if "L = " in loss else f"L = {loss}"
    given, value = {"A": A, "B": B}, nt.program(text)["L"]
    gradients = nt.gradient(text, "L", ["A", "B"])(**given)
    for name, tensor in given.items():
        assert gradients[name].labels == tensor.labels
        for at, slope in enumerate(gradients[name].tolist()):
            moved = []
            for step in (1e-5, -1e-5):
                array = tensor.to_array("city").copy()
                array[at] += step
                moved.append(float(value(**(given | {name: nt.tensor(array, "city", labels=tensor.labels)}))))
            assert slope == pytest.approx((moved[0] - moved[1]) / 2e-5, rel=1e-4, abs=1e-6)


# ----------------------------------------------------------------------------------------------- functions of Python
def test_functions_of_python_align_the_axes_that_they_combine():
    mask = A > 1
    assert key_by_label(nt.where(mask, A, B)) == {"Oslo": 40, "Rome": 2, "Kyiv": 4}
    assert A.dot(B, axis="city").item() == 40 + 20 + 80
    assert key_by_label(np.hypot(A, B * 0)) == key_by_label(A)
    assert nt.concat(A, B, axis="city").labels == {"city": A.labels["city"] + B.labels["city"]}
    assert nt.stack(A, B, axis="copy").tolist("copy city") == [[1, 2, 4], [40, 10, 20]]
    assert nt.allclose(A, A[{"city": ["Rome", "Kyiv", "Oslo"]}]) and not nt.allclose(A, B)
    assert not nt.allclose(A, A.with_labels(city=["Oslo", "Rome", "Bern"])) and nt.allclose(A, A.with_labels(city=None))
    T = nt.tensor(np.arange(6.0).reshape(3, 2), "city day", labels={"city": A.labels["city"]})
    days = nt.tensor(np.array([1, 0, 1]), "city", labels={"city": B.labels["city"]})  # of Rome, Kyiv, Oslo
    assert key_by_label(T[{"day": days}]) == {"Oslo": 1, "Rome": 3, "Kyiv": 4}
    assert nt.scan(lambda state, x: (state + x, x), A, nt.stack(B, B, axis="time"), axis="time")[0].tolist() == [
        81,
        22,
        44,
    ]
    last, _ = nt.scan(lambda state, x: (state + x, x), 0.0, B, axis="city")
    assert last.item() == 70


def test_a_rolled_tensor_keeps_labels_in_place_and_a_flipped_one_moves_them():
    assert (A - A.roll(city=1)).tolist() == [1 - 4, 2 - 1, 4 - 2]
    assert nt.evaluate("X − Y", X=A, Y=A.roll(city=1)).labels == A.labels
    assert (A - A.flip("city")).tolist() == [0, 0, 0]
