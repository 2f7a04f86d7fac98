"""Test repeated calls: they find what the first ones compiled, and have the same results."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError
from namedtensor.operators.user_functions import USER_FUNCTIONS
from namedtensor.programs import call_cache
from namedtensor.programs.arguments import BoundArguments
from namedtensor.scope.names import key_of


def with_values(asked):
    """What is asked for, called with a mapping that holds more than it needs."""
    return lambda X, Y: asked(values={"X": X, "Y": Y, "Z": X})


WAYS = {
    "formula": lambda text: nt.formula(f"f(X, Y) = {text}"),
    "compiled": lambda text: nt.formula(f"f(X, Y) = {text}").compile(),
    "entry": lambda text: nt.program(f"f(X, Y) = {text}\ng(X) = X")["f"],
    "by name": lambda text: lambda X, Y: nt.evaluate(text, X=X, Y=Y),
    "formula, with values": lambda text: with_values(nt.formula(text)),
    "compiled, with values": lambda text: with_values(nt.formula(text).compile()),
    "entry, with values": lambda text: with_values(nt.program(f"A = {text}\nB = A + 1")["A"]),
    "by mapping": lambda text: lambda X, Y: nt.evaluate(text, {"X": X, "Y": Y, "Z": X}),
}


@pytest.mark.parametrize("way", WAYS)
def test_repeated_calls_follow_what_they_are_given(way):
    """One kind again and again, then others between: other sizes, orders, dtypes, libraries."""
    call = WAYS[way]("X - 2 Y")
    rng = np.random.default_rng(0)
    kinds = [
        lambda: (nt.tensor(rng.normal(size=(2, 3)), "a b"), nt.tensor(rng.normal(size=(2, 3)), "a b")),
        lambda: (nt.tensor(rng.normal(size=(3, 2)), "b a"), nt.tensor(rng.normal(size=2), "a")),
        lambda: (nt.tensor(rng.integers(9, size=(2, 2)), "a b"), nt.tensor(rng.normal(size=(2, 2)), "b a")),
        lambda: (nt.tensor(rng.normal(size=4), "c"), 1.5),
    ]
    for kind in [0, 0, 0, 0, 1, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 0, 1, 2, 3]:
        X, Y = kinds[kind]()
        result = call(X, Y)
        assert result.axes == X.axes
        right = X.array - 2 * (Y if isinstance(Y, float) else eager_like(X, Y))
        assert np.allclose(result.to_array(X.axes), right)


def eager_like(X, Y):
    """Y as X has it, by position."""
    missing = tuple(axis for axis in X.axes if axis not in Y.axes)
    array = Y.array.reshape(Y.array.shape + (1,) * len(missing))
    return array.transpose([(*Y.axes, *missing).index(axis) for axis in X.axes])


@pytest.mark.parametrize("way", WAYS)
def test_a_repeated_call_that_fails_says_why(way):
    call = WAYS[way]("X_{a(Y)}")
    X = nt.tensor([3, 1, 4], "a")
    for index in (1, 2, 3, 1):
        assert int(call(X, nt.tensor(np.array(index)))) == [3, 1, 4][index - 1]
    for _ in range(2):
        with pytest.raises(NotationError, match="index 4 is out of range for axis a"):
            call(X, nt.tensor(np.array(4)))


def test_names_say_what_is_what_in_repeated_calls():
    f = nt.formula("f(X, Y) = X - Y")
    X, Y = nt.tensor([5, 6], "a"), nt.tensor([1, 2], "a")
    for _ in range(4):
        assert f(X, Y).array.tolist() == f(X=X, Y=Y).array.tolist() == f(Y=Y, X=X).array.tolist() == [4, 4]
        assert f(X, Y=Y).array.tolist() == nt.evaluate("X - Y", Y=Y, X=X).array.tolist() == [4, 4]
        assert nt.evaluate("x - class", {"x": X, "class": Y}).array.tolist() == [4, 4]


def test_a_compiled_formula_shows_the_plan_that_was_used_last():
    f = nt.formula("f(x) = 2 x").compile("numpy")
    tensors = {"one": nt.tensor(np.ones(3), "a"), "two": nt.tensor(np.ones((2, 3)), "b a")}
    for name in ["one", "one", "one", "two", "one", "two", "two", "two", "one"]:
        for call in (lambda x: f(x), lambda x: f(x=x)):
            call(tensors[name])
            assert ("b[2]" in str(f.plan)) == (name == "two")


def test_an_input_is_no_argument_in_repeated_calls():
    scale = nt.program("scale(x) = w x\nw ∈ ℝ")["scale"]
    x, w = nt.tensor(2.0, ()), nt.tensor(3.0, ())
    for _ in range(4):
        assert float(scale(x, w=w)) == 6
        with pytest.raises(NotationError, match="expects 1 argument"):
            scale(x, w)


def test_a_repeated_call_knows_of_new_functions():
    X = nt.tensor([5.0, 6.0], "a")
    for _ in range(3):
        assert np.allclose(nt.evaluate("sin(X)", X=X).array, np.sin(X.array))
    nt.custom_function("sin : ℝ → ℝ")(lambda x: x + 1)
    try:
        assert nt.evaluate("sin(X)", X=X).array.tolist() == [6, 7]
    finally:
        del USER_FUNCTIONS["sin"]
    assert np.allclose(nt.evaluate("sin(X)", X=X).array, np.sin(X.array))


def test_repeated_calls_are_quiet_in_several_threads(recwarn):
    from concurrent.futures import ThreadPoolExecutor

    f = nt.formula("f(X) = log(X)")
    X = nt.tensor([-1.0, 0.0, 1.0], "a")
    with ThreadPoolExecutor(4) as pool:
        result = list(pool.map(lambda _: [f(X).array.tolist() for _ in range(200)], range(8)))
    assert all(str(item) == "[nan, -inf, 0.0]" for several in result for item in several)
    assert not recwarn.list


KEPT = (
    "X ⊙_{b} Y ⊙_{c} Z", "∑_{d} (X ⊙_{b} Y ⊙_{c} Z)", "[−(X + X)]_{a→d}", "(X + X)_{a(1)} + 1", "X + X", "X",
    "max_{b} (2 X + X^2)", "[exp(X + 1)]_{(a,b)→d}", "(exp X + X) ⊙_{b} (Y + Y)", "[[X + X]_{a→d}]_{b→a}", "√(X ⊙ X)",
    "∑_{b} exp(X ⊙_{a} X_{a→a, b→e})", "[[X + X]_{a→d} ⊙ 1]_{d→a}",
)  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", KEPT)
@pytest.mark.parametrize("threads", [1, 4])
def test_what_a_repeated_call_gave_stays_as_it_is(text, threads):
    """Small arrays between steps are kept from call to call: no result may lie in one, nor two threads share one."""
    call = nt.formula(f"f(X, Y, Z) = {text}")
    rng = np.random.default_rng(1)
    draws = [[rng.normal(size=(3, 3)) for _ in "XYZ"] for _ in range(40)]
    tensors = [[nt.tensor(array, axes) for array, axes in zip(draw, ("a b", "b c", "c d"))] for draw in draws]
    expected = [nt.formula(f"f(X, Y, Z) = {text}")(*tensor) for tensor in tensors]  # each the first call of its own
    with ThreadPoolExecutor(threads) as pool:
        result = list(pool.map(lambda tensor: [call(*tensor) for _ in range(50)][-1], tensors))
    for right, item in zip(expected, result):
        assert nt.allclose(item, right)


@pytest.mark.parametrize("wrong", [2.5, "2", None])
def test_a_size_of_another_type_is_refused_after_a_call_with_an_equal_one(wrong):
    x = nt.tensor([1.0, 2.0], "a")
    for _ in range(3):
        assert nt.evaluate("x n", x=x, sizes={"n": 2}).tolist() == [2.0, 4.0]
        assert nt.evaluate("x n", x=x, sizes={"n": 3}).tolist() == [3.0, 6.0]
    with pytest.raises(nt.NotationError):
        nt.evaluate("x n", x=x, sizes={"n": wrong})


# ------------------------------------------------------------------------------------- whole numbers without axes
@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("Y = X_{seq(i)} + k", False),  # an index is asked for when it runs
        ("Y^0 = X\nY^t = 2 Y^{t-1} + k for t = 1, …, n\nY^n", True),
        ("∑_{t=1}^{n} k X", True),
    ],
)
def test_a_program_is_bound_again_only_for_what_it_may_need_as_a_number(text, needed, monkeypatch):
    program, bound = nt.program(text), []
    asked = program._goal.program
    seen = type(asked).scope_given
    values = {"X": nt.tensor([1.0, 2.0, 3.0], "seq"), "k": nt.tensor(2), "i": nt.tensor(1), "n": nt.tensor(3)}
    values = {name: value for name, value in values.items() if name in program.names or name in text}
    first = program(values=values)
    program(values=dict(values))
    monkeypatch.setattr(type(asked), "scope_given", lambda self, inputs: bound.append(1) or seen(self, inputs))
    values = values | {"k": nt.tensor(3), "spare": 4.0}
    program(values=values)
    bound.clear()
    assert not nt.allclose(program(values=values), first)
    assert bool(bound) is needed


class Heavy:
    def __init__(self, nbytes: int):
        self.nbytes = nbytes


def test_a_cache_keeps_so_many_bytes(monkeypatch):
    monkeypatch.setattr(call_cache, "BYTES", 100)
    cache = call_cache.new_cache("of a test")
    for number in range(50):
        stored = cache.store(number, Heavy(30))
        assert cache.store((number, "again"), stored) is stored and cache.bytes <= 100
    assert [*cache] == [47, (47, "again"), 48, (48, "again"), 49, (49, "again")]
    assert cache.bytes == 90
    large = cache.store("large", Heavy(1000))  # what was asked for last is kept, whatever its size
    assert cache.values() == [large] and cache.bytes == 1000
    cache.store("large", Heavy(10))
    assert cache.bytes == 10 and len(cache) == 1


def test_the_bytes_of_an_executable_are_those_of_its_constants_and_its_plan():
    text = "M_{a(i), b(j)} = { 0 if j ≤ i; −∞ otherwise }\nY = softmax_{b}(X + M)"
    sizes = {}
    for size in (5, 100):
        entry = nt.program(text)["Y"]
        entry(X=nt.tensor(np.ones((3, size, size)), "h a b"))
        sizes[size] = entry._plans.bytes
    assert 8 * 100**2 <= sizes[100] - sizes[5] <= 10 * 100**2 and sizes[5] < 50_000


def test_several_names_again_are_the_same_values_and_new_shapes_are_new_ones():
    program = nt.program("Y = ∑_{a} X\nZ = 2 X\nn = |a|")
    for size in (3, 3, 4, 3):
        X = nt.tensor(np.arange(float(size)), "a")
        Y, Z = program["Y", "Z"](X=X)
        assert float(Y) == sum(range(size)) and nt.allclose(Z, X + X) and Z.axes == ("a",)
        assert [float(item) for item in program["Y",](X=X)] == [float(Y)]
        assert [float(item) for item in program["n", "Y"](X=X)] == [size, float(Y)]
    with pytest.raises(nt.NotationError):
        program["Y", "Z"](X=nt.tensor([1.0], "b"))


def test_several_names_with_a_claim_are_judged_at_each_call():
    program = nt.program("Y = 2 X\nZ = 3 X\nY < Z")
    assert [float(item) for item in program["Y", "Z"](X=nt.tensor(1.0))] == [2.0, 3.0]
    assert [float(item) for item in program["Y", "Z"](X=nt.tensor(2.0))] == [4.0, 6.0]
    for _ in range(2):
        with pytest.raises(nt.NotationError, match="assertion failed"):
            program["Y", "Z"](X=nt.tensor(-1.0))


def test_values_that_hold_more_than_is_used_are_no_keywords():
    formula = nt.formula("∑_{a} X")
    X, W = nt.tensor([1.0, 2.0], "a"), nt.tensor([1.0], "b")
    for _ in range(3):
        assert float(formula(values={"X": X, "W": W})) == 3.0
        assert float(formula(values={"W": W}, X=X)) == 3.0
        with pytest.raises(nt.NotationError):
            formula(X=X, W=W)
        with pytest.raises(nt.NotationError):
            formula(values={"X": X}, W=W)


def test_a_mapping_of_values_is_found_by_its_layouts_whatever_it_holds_besides():
    text = "A ⊙_{b} x + 0.25"
    A, x, y = nt.tensor([[1.0, 2.0], [3.0, 4.0]], "a b"), nt.tensor([1.0, 2.0], "b"), nt.tensor([3.0, 5.0], "b")
    mappings: list[dict[str, nt.NamedTensor]] = [
        {"A": A, "x": x},
        {"A": A, "x": y},
        {"x": x, "A": A},
        {"A": A, "x": x, "y": y},
    ]
    for values in [mapping for mapping in mappings for _ in range(3)]:
        want = [row @ values["x"].to_array() + 0.25 for row in A.to_array("a b")]
        assert nt.evaluate(text, values).to_array().tolist() == pytest.approx(want)
    nt.evaluate(text, {"A": A}, x=x)  # names beside it, which must be in use
    for _ in range(2):
        with pytest.raises(nt.NotationError, match="y"):
            nt.evaluate(text, {"A": A, "x": x}, y=y)
        with pytest.raises(nt.NotationError, match="y"):
            nt.evaluate(text, A=A, x=x, y=y)
        assert nt.evaluate(text, {"A": A.rename(a="c"), "x": x}).axes == ("c",)


@pytest.mark.parametrize("way", [way for way in WAYS if "with values" in way])
def test_a_call_with_values_is_found_by_its_layouts(way, monkeypatch):
    call, X, Y = WAYS[way]("X - 2 Y"), nt.tensor([5.0, 6.0], "a"), nt.tensor([1.0, 2.0], "a")
    for _ in range(3):
        call(X, Y)
    monkeypatch.setattr(call_cache.CachedCall, "_slow_path", None)
    for _ in range(3):
        assert call(X, Y).array.tolist() == [3.0, 2.0]


@pytest.mark.parametrize(("text", "values"), [("x k", {"k": 2.0}), ("1 + 2", {})])
def test_a_repeated_call_of_the_slow_path_stores_nothing(text, values, monkeypatch):
    if values:
        values = values | {"x": nt.tensor([1.0, 2.0], "a")}
    first, stored = nt.evaluate(text, values), []
    store = call_cache.Cache.store
    monkeypatch.setattr(call_cache.Cache, "store", lambda *given: stored.append(1) or store(*given))
    assert nt.allclose(nt.evaluate(text, values), first) and not stored
    nt.evaluate(text, values | {"k": 3.0} if values else values, sizes={"a": 2} if values else None)
    assert bool(stored) is bool(values)  # another executable


@pytest.mark.parametrize("sizes", [None, {"a": 2}])
def test_assertions_are_checked_by_repeated_calls_that_look_up_layouts(sizes, monkeypatch):
    Y = nt.program("Y = 2 X\nY < 10")["Y"]
    values = {"X": nt.tensor([1.0, 2.0], "a")}
    for _ in range(2):
        assert Y(values=values, sizes=sizes).array.tolist() == [2.0, 4.0]
    monkeypatch.setattr(call_cache.CachedCall, "_slow_path", None)
    assert Y(values=values, sizes=sizes).array.tolist() == [2.0, 4.0]
    for _ in range(2):
        with pytest.raises(NotationError, match="assertion failed") as caught:
            Y(values={"X": nt.tensor([1.0, 20.0], "a")}, sizes=sizes)
        assert caught.value.__context__ is None


def test_names_of_many_layers_are_read_once():
    values = {f"W^{{{layer},{name}}}": 1.0 for layer in range(300) for name in "abcdefghijklmnop"}
    BoundArguments(values)
    misses = key_of.cache_info().misses
    assert BoundArguments(values).values.keys() == values.keys()
    assert key_of.cache_info().misses == misses


@pytest.mark.parametrize("numbers", [(0.0, -0.0, 0.0), (-0.0, 0.0), (1, 1.0, True, 1), (2.0, 3.0, float("nan"), 2.0)])
@pytest.mark.parametrize(
    "way", [lambda x: nt.evaluate("1 / x", x=x), nt.formula("f(x) = 1 / x"), nt.program("y = 1 / x")["y"]]
)
def test_equal_numbers_are_not_taken_for_each_other(way, numbers):
    """1 / 0.0 is ∞ and 1 / -0.0 is -∞, in whichever order."""
    for number in numbers:
        value = way(x=number) if not isinstance(way, nt.Formula) else way(number)
        with np.errstate(divide="ignore"):
            assert np.array_equal(np.asarray(value.array), np.float64(1) / np.float64(number), equal_nan=True)


def test_numbers_beside_tensors_are_looked_up_by_layout(monkeypatch):
    Y = nt.program("Y = X / c\nX ∈ {1, 2}^{a}")["Y"]
    X = nt.tensor([1.0, 2.0], "a")
    for c in (0.5, 2, 0.0, -0.0):
        for _ in range(2):
            Y(values={"X": X, "c": c})
    monkeypatch.setattr(call_cache.CachedCall, "_slow_path", None)
    assert Y(values={"X": X, "c": 0.5}).tolist() == [2.0, 4.0]
    assert Y(values={"X": X, "c": 2}).tolist() == [0.5, 1.0]
    with np.errstate(divide="ignore"):
        assert Y(values={"X": X, "c": 0.0}).tolist() == [np.inf, np.inf]
        assert Y(values={"X": X, "c": -0.0}).tolist() == [-np.inf, -np.inf]
    with pytest.raises(NotationError, match="not in"):
        Y(values={"X": nt.tensor([1.0, 3.0], "a"), "c": 0.5})
    with pytest.raises(TypeError):  # another number is compiled
        Y(values={"X": X, "c": 7.0})


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_members_of_a_set_of_numbers(dtype):
    Y = nt.program("Y = 2 X\nX ∈ {0.1, 3}^{a}" if dtype != "int64" else "Y = 2 X\nX ∈ {1, 3}^{a}")["Y"]
    good = [0.1, 3.0] if dtype != "int64" else [1, 3]
    assert nt.allclose(Y(X=nt.tensor(np.array(good, dtype), "a")), nt.tensor(2 * np.array(good, dtype), "a"))
    for wrong in ([3, 2], [np.nan, 3]) if dtype != "int64" else ([3, 2],):
        with pytest.raises(NotationError, match="not in"):
            Y(X=nt.tensor(np.array(wrong, dtype), "a"))


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
@pytest.mark.parametrize(("x", "y", "expected"), [(0.0, -0.0, np.inf), (-0.0, 0.0, -np.inf)])
def test_numbers_of_one_call_that_are_equal_are_not_one(library, x, y, expected):
    """In the terms, and in the steps of the plan."""
    ones = pytest.importorskip(library).ones(2)
    for text in ("a_1 / x - a_1 / y", "a_1 ⊙ (1 / x - 1 / y)"):
        assert nt.evaluate(text, a_1=nt.tensor(ones, "a"), x=x, y=y).tolist() == [expected, expected]
