"""Labels of axes: who keeps them, who drops them, and indexing by them; in Python, in formulas and on other libraries."""

import pickle
import sys

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.layers import Layer
from namedtensor.programs.bound_call import BoundCall

CITIES, DAYS = ["Oslo", "New York", "Kyiv"], ["Mon", "Tue"]
BOTH = {"day": DAYS, "city": CITIES}
A = nt.tensor([[3.0, 1.0, 4.0], [1.0, 5.0, 9.0]], "day city", labels=BOTH)
OTHER = nt.tensor([1.0, 2.0], "day", labels={"day": DAYS})

OPERATIONS = [  # in Python, as a formula of A and B, and the labels of the result
    (lambda A, B: A + 1, "A + 1", BOTH),
    (lambda A, B: A * A, "A ⊙ A", BOTH),
    (lambda A, B: 2 - A, "2 − A", BOTH),
    (lambda A, B: A + B, "A + B", BOTH),
    (lambda A, B: A.exp(), "exp A", BOTH),
    (lambda A, B: A > 2, "𝕀[A > 2]", BOTH),
    (lambda A, B: A.sum(axis="day"), "∑_{day} A", {"city": CITIES}),
    (lambda A, B: A.mean(axis=("day", "city")), "mean_{day, city} A", {}),
    (lambda A, B: nt.max(A, axis="city"), "max_{city} A", {"day": DAYS}),
    (lambda A, B: A.softmax(axis="city"), "softmax_{city} A", BOTH),
    (lambda A, B: A.cumsum(axis="city"), "cumsum_{city} A", BOTH),
    (lambda A, B: A.sort(axis="city"), "sort_{city} A", {"day": DAYS}),
    (lambda A, B: A.dot(A, axis="day"), "A ⊙_{day} A", {"city": CITIES}),
    (lambda A, B: A.rename(city="town"), "A_{city→town}", {"day": DAYS, "town": CITIES}),
    (lambda A, B: A.rename(city="day", day="city"), "A_{city→day, day→city}", {"city": DAYS, "day": CITIES}),
    (lambda A, B: A.merge(cell="day city"), "A_{(day,city)→cell}", {}),
    (lambda A, B: A.split(city={"a": 3, "b": 1}), None, {"day": DAYS}),
    (lambda A, B: A[{"city": 1}], "A_{city(2)}", {"day": DAYS}),
    (lambda A, B: A[{"city": slice(1, 3)}], "A_{city(2:3)}", {"day": DAYS, "city": CITIES[1:]}),
    (lambda A, B: nt.where(A > 2, A, 0), "{ A if A > 2; 0 otherwise }", BOTH),
    (lambda A, B: nt.stack(A, A, axis="copy"), "stack_{copy}(A, A)", BOTH),
    (lambda A, B: nt.concat(A, A, axis="day"), "A ⊕_{day} A", {"day": DAYS * 2, "city": CITIES}),
    (lambda A, B: np.exp(A), None, BOTH),
    (lambda A, B: np.hypot(A, 1), None, BOTH),
    (lambda A, B: nt.tensor(A, "city day"), None, BOTH),
]


@pytest.mark.parametrize("run, formula, labels", OPERATIONS)
def test_labels_of_an_operation(run, formula, labels):
    for _ in range(3):  # the first call, and those that find it prepared
        result = run(A, OTHER)
        assert result.labels == labels
        plain = run(A.with_labels(day=None, city=None), OTHER.with_labels(day=None))
        assert nt.allclose(plain, result) and plain.labels == {}
    if formula is not None:
        for _ in range(3):
            named = {"B": OTHER} if "B" in formula else {}
            assert nt.evaluate(formula, A=A, **named).labels == labels


def test_a_formula_gives_each_call_its_own_labels():
    formula = nt.formula("2 X")
    tensors = [A, A.with_labels(city=["a", "b", "c"]), A.with_labels(city=None, day=None), nt.tensor([1.0], "day")]
    for _ in range(3):
        for tensor in tensors:
            assert formula(X=tensor).labels == tensor.labels


INDICES = [
    ({"city": "Oslo"}, [3.0, 1.0], {"day": DAYS}),
    ({"city": ["Kyiv", "Oslo"]}, [[4.0, 3.0], [9.0, 1.0]], {"day": DAYS, "city": ["Kyiv", "Oslo"]}),
    ({"city": slice("New York", None)}, [[1.0, 4.0], [5.0, 9.0]], {"day": DAYS, "city": CITIES[1:]}),
    ({"city": slice(None, "New York")}, [[3.0, 1.0], [1.0, 5.0]], {"day": DAYS, "city": CITIES[:2]}),
    ({"city": [0, 2]}, [[3.0, 4.0], [1.0, 9.0]], {"day": DAYS, "city": ["Oslo", "Kyiv"]}),
    ({"city": [True, False, True], "day": "Tue"}, [1.0, 9.0], {"city": ["Oslo", "Kyiv"]}),
    ({"city": ["Oslo"], "day": ["Tue", "Mon"]}, [[1.0], [3.0]], {"day": ["Tue", "Mon"], "city": ["Oslo"]}),
    ({"city": -1}, [4.0, 9.0], {"day": DAYS}),
    ({"city": nt.tensor([2, 0], "pick")}, [[4.0, 3.0], [9.0, 1.0]], {"day": DAYS}),
]


@pytest.mark.parametrize("index, expected, labels", INDICES)
def test_an_index_by_label_or_position(index, expected, labels):
    selected = A[index]
    order = [axis for axis in (*A.axes, "pick") if axis in selected.axes]
    assert selected.tolist(order) == expected and selected.labels == labels


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_an_index_by_a_list_on_each_library(library):
    module = pytest.importorskip(library)
    data = np.arange(6, dtype="float32").reshape(2, 3)
    array = {"torch": lambda: module.from_numpy(data), "jax": lambda: module.numpy.asarray(data)}.get(
        library, data.copy
    )()
    labeled = nt.tensor(array, "day city", labels=BOTH)
    assert labeled[{"city": ["Kyiv", "Oslo"]}].tolist("day city") == [[2.0, 0.0], [5.0, 3.0]]
    assert (labeled + 1).labels == BOTH and nt.evaluate("X_{day(Tue)}", X=labeled).tolist() == [3.0, 4.0, 5.0]


def test_sel_takes_integers_and_dates_as_labels():
    days = np.array(["2024-01-01", "2024-01-02", "2024-01-05"], "datetime64[ns]")
    tensor = nt.tensor([[1, 2], [3, 4], [5, 6]], "day year", labels={"day": days, "year": [2019, 2020]})
    assert tensor.sel(year=2020).tolist() == [2, 4, 6]
    assert tensor.sel(day="2024-01-05", year=2019).item() == 5
    assert tensor.sel(day=slice("2024-01-02", "2024-01-05")).sizes == {"day": 2, "year": 2}
    assert tensor[{"day": days[1]}].tolist() == [3, 4]
    assert "2024-01-05 │" in str(tensor) and tensor.labels == {"day": [*days], "year": [2019, 2020]}


FORMULAS = [
    ("X_{day(Mon)}", [3.0, 1.0, 4.0]),
    ("X_{city(New York)}", [1.0, 5.0]),
    ("Y = X − mean_{day} X\nY_{city(Kyiv), day(Tue)}", 2.5),
    ("f(Z) = Z_{day(Tue)}\nf(2 X)", [2.0, 10.0, 18.0]),
    ("Y = X_{city→town}\nY_{town(Oslo)}", [3.0, 1.0]),
    ("X_{city(New York:Kyiv), day(Mon)}", [1.0, 4.0]),
    ("Mon = 2\nX_{day(Mon)}", [1.0, 5.0, 9.0]),  # a name of the program comes first
    ("∑_{i=1}^{2} X_{day(i)}", [4.0, 6.0, 13.0]),
]


@pytest.mark.parametrize("formula, expected", FORMULAS)
def test_a_label_in_a_formula(formula, expected):
    for _ in range(2):
        assert nt.evaluate(formula, X=A).tolist() == expected


def test_a_label_in_latex_in_a_function_and_in_steps():
    assert nt.evaluate(r"X_{\text{day}(\text{Mon})}", X=A).tolist() == [3.0, 1.0, 4.0]
    function = nt.formula("f(X) = X_{day(Mon)}")
    assert [function(A).tolist() for _ in range(3)] == [[3.0, 1.0, 4.0]] * 3
    assert "Oslo" in str(nt.explain("X_{day(Mon)}", X=A)) and nt.explain("X_{day(Mon)}", X=A).value.labels == {
        "city": CITIES
    }
    assert "city[3]" in str(nt.check("X_{day(Mon)}", X=A))


WRONG = [
    (lambda: A[{"city": "Osl"}], "axis city has no label 'Osl'\n  hint: did you mean Oslo?"),
    (lambda: A[{"city": ["Oslo", "Zork"]}], "has no label 'Zork'\n  hint: its labels are Oslo, New York, Kyiv"),
    (lambda: A.with_labels(city=["a", "a", "b"])[{"city": "a"}], "the label 'a' occurs 2 times on axis city"),
    (lambda: A.with_labels(city=["a"]), "axis city has size 3, but 1 label"),
    (lambda: A.with_labels(town=["a"]), "with_labels needs axis town"),
    (lambda: A.with_labels(city="abc"), "labels must be a list"),
    (lambda: A.with_labels(city=[[1], [2], [3]]), "is not a label"),
    (lambda: nt.tensor([1, 2], "a")[{"a": "x"}], "axis a has no labels, and cannot be indexed by 'x'"),
    (lambda: nt.tensor([1, 2], "a")[{"a": ["x"]}], "axis a has no labels"),
    (lambda: nt.tensor([1, 2], "a")[{"a": slice("x", None)}], "the ends of a slice must be integers"),
    (lambda: nt.tensor([1, 2], "a")[{"a": [0, 5]}], "index 5 is out of range for axis a"),
    (lambda: nt.tensor([1, 2], "a")[{"a": [True]}], "axis a has size 2, but 1 conditions were given"),
    (lambda: A.sel(city=3), "axis city has no label 3"),
    (lambda: nt.evaluate("X_{day(Mno)}", X=A), "axis day has no label Mno, and nothing defines it"),
    (lambda: nt.evaluate("X_{dya(Mon)}", X=A), "X has no axis dya to index"),
    (lambda: nt.evaluate("X_{city(a)}", X=A.with_labels(city=["a", "b", "a"])), "hint: write its position: 1 or 3"),
]


@pytest.mark.parametrize("run, message", WRONG)
def test_a_wrong_label_is_said_in_a_sentence(run, message):
    with pytest.raises(nt.NotationError) as raised:
        run()
    assert message in str(raised.value)


def test_a_tensor_shows_its_labels():
    assert repr(A[{"day": 0}]) == 'NamedTensor([3.0, 1.0, 4.0], "city", labels={"city": ["Oslo", "New York", "Kyiv"]})'
    assert eval(repr(A), {"NamedTensor": nt.tensor}).labels == BOTH
    assert "New York" in str(A) and "<th" in A._repr_html_() and "New York" in A._repr_html_()
    assert "batch two\n" in str(nt.tensor(np.zeros((2, 1, 1)), "batch a b", labels={"batch": ["one", "two"]}))


def test_labels_survive_pickling_and_copies():
    import copy

    for copied in (pickle.loads(pickle.dumps(A)), copy.copy(A), copy.deepcopy(A)):
        assert copied.labels == BOTH and (copied + A).labels == BOTH


def test_without_labels_nothing_looks_for_them():
    """Calls of tensors without labels enter no function of the modules of labels."""
    x, formula = nt.tensor(np.ones((2, 3)), "a b"), nt.formula("softmax_{a} X")
    trips = [
        lambda: x + x,
        lambda: x.softmax(axis="a"),
        lambda: x[{"a": 0}],
        lambda: x.rename(a="c"),
        lambda: formula(X=x),
    ]
    seen, files = [], ("core/labels.py", "operators/labels.py", "terms/labels.py", "labeled.py", "labeled_calls.py")

    def profiler(frame, event, _):
        if event == "call" and frame.f_code.co_filename.endswith(files):
            seen.append(frame.f_code.co_name)

    for trip in trips:
        trip()
        sys.setprofile(profiler)
        try:
            trip()
        finally:
            sys.setprofile(None)
    assert seen == []


def test_many_labels_fill_no_cache_of_calls():
    from namedtensor.core.labels import MAX_CACHED_LABELS
    from namedtensor.tensors.eager import calls_of_operator

    count = MAX_CACHED_LABELS + 1
    large = nt.tensor(np.arange(count), "row", labels={"row": [f"r{at}" for at in range(count)]})
    before = len(calls_of_operator("+"))
    assert (large + 5).labels == large.labels and (large + 5)[{"row": "r7"}].item() == 12
    assert all(large.layout not in key for key in calls_of_operator("+")) and len(calls_of_operator("+")) <= before + 1


class Scaled(Layer):
    """A scale for each channel."""

    notation = "Scaled : ℝ^{chans} → ℝ^{chans}\nScaled(X) = X ⊙ w\nw ∈ ℝ^{chans}"


CALLS = [  # of A over day and chans, whose elements have labels
    nt.formula("2 A"),
    nt.formula("2 A").compile(),
    nt.program("S = A + 1\nT = 2 S")["S", "T"],
    nt.program("S = A + 1\nT = 2 S")["T",].bind({}),
    Scaled.init(0, sizes={"chans": 3}),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_each_kind_of_call_keeps_labels(call, library):
    pytest.importorskip(library)
    labels = {"day": ["Mon", "Tue"], "chans": ["r", "g", "b"]}
    data = nt.random_normal("day[2] chans[3]", library=library)
    for given in (labels, {"day": ["Wed", "Thu"]}, labels, {}):
        A = data.with_labels(given) if given else data
        if isinstance(call, Layer):
            run = call.to(library)(A)
        else:
            run = call({"A": A}) if isinstance(call, BoundCall) else call(A=A)
        results = run if isinstance(run, tuple) else (run,)
        assert [result.labels for result in results] == [given] * len(results)


def test_labels_do_not_make_jax_compile_again():
    jax = pytest.importorskip("jax")
    traced = []

    @jax.jit
    def twice(A):
        traced.append(A.labels)
        return 2 * A

    for day in (["Mon", "Tue"], ["Wed", "Thu"], None):
        A = nt.random_normal("day[2]", library="jax").with_labels(day=day)
        result = twice(A)
        assert result.labels == {} and jax.tree.map(lambda a, b: a + b, A, result).axes == ("day",)
        assert result.with_labels(A.labels).labels == A.labels
    assert traced == [{}]


@pytest.mark.parametrize("size, end", [(5, "Kiev"), (6, "Kiev, …")])
def test_a_hint_lists_a_few_labels(size, end):
    cities = ["Oslo", "Rome", "Bern", "Paris", "Kiev", "Lima"][:size]
    x = nt.tensor(np.arange(float(size)), "city", labels={"city": cities})
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("x_{city(zzzzzz)}", x=x)
    assert str(caught.value.hint) == f"its labels are Oslo, Rome, Bern, Paris, {end}"


@pytest.mark.parametrize("labels", [["x", "y"], [2, 1], [np.datetime64("2024-02"), np.datetime64("2024-01")]])
def test_a_slice_without_ends_selects_all_labels(labels):
    tensor = nt.tensor([3, 1], "c").with_labels(c=labels)
    assert tensor.sel(c=slice(None)).to_array().tolist() == [3, 1]
