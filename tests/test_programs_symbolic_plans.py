"""Calls whose sizes change: one plan with symbols gives what a plan of its own gives, at any size and in any order."""

from __future__ import annotations

import gc
import itertools
import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.planning import plan as plan_module
from namedtensor.planning.plan import Plan
from namedtensor.programs import call_cache, symbolic_plans
from namedtensor.programs.program import EntryPoint
from namedtensor.programs.symbolic_plans import MAX_PLANS

LENGTHS = (5, 9, 1, 2, 64, 3, 7, 65, 6, 12)
ACROSS_TILES = (513, 40, 512, 1030)
DEFAULTS = {"seq": 5, "batch": 2, "chans": 4, "key": 3, "query": 6, "val": 4}


class Case(NamedTuple):
    """A program with a value Y, the axes of its inputs, and the sizes of its calls."""

    text: str
    inputs: Mapping[str, str]
    sizes: tuple[Mapping[str, int], ...]
    whole: frozenset[str] = frozenset()  # inputs of whole numbers, each a place of the first axis of X
    planned: bool = True  # whether the third size is served by a plan that is there


def lengths(*sizes: int, **others: int) -> tuple[dict[str, int], ...]:
    return tuple({"seq": size, **others} for size in sizes or LENGTHS)


def case(
    text: str, sizes: tuple[dict[str, int], ...] = (), planned: bool = True, whole: str = "", **inputs: str
) -> Case:
    return Case(text, inputs or {"X": "seq chans"}, sizes or lengths(), frozenset(whole.split()), planned)


BATCHES = tuple(
    {"batch": batch, "seq": seq}
    for batch, seq in ((2, 5), (3, 9), (1, 7), (7, 1), (2, 2), (1, 1), (64, 3), (3, 65), (5, 5), (2, 64))
)
TWO = tuple({"seq": seq, "query": query} for seq, query in ((5, 6), (9, 4), (3, 3), (1, 7), (7, 1), (64, 65), (2, 2)))
EVEN = lengths(6, 10, 1, 2, 64, 3, 66, 8, 130, 12)  # but for two
ATTENTION = "Y = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
TABLE = {
    "a sum": case("Y = ∑_{seq} X"),
    "a contraction": case("Y = X ⊙_{chans} W", X="batch seq chans", W="chans val", sizes=BATCHES),
    "of the axis that changes": case("Y = X ⊙_{seq} X_{chans→val}"),
    "of several axes": case("Y = X ⊙_{batch, seq} X_{chans→val}", X="batch seq chans", sizes=BATCHES),
    "an axis that may have no index": case("|inner| = |seq| - 4\nY = X_{seq(iota_{inner} + 2)}"),
    "a size in a literal": case("Y = X [1.5, |seq|, 2, 1]_{chans}"),
    "softmax": case("Y = softmax_{seq} X"),
    "softmax over two axes": case("Y = softmax_{seq, chans} X"),
    "statistics": case("Y = standardize_{seq}(X) + max_{seq} X − mean_{seq, chans}(X) + var_{seq} X"),
    "attention": case(ATTENTION, Q="query key", K="seq key", V="seq val", sizes=TWO),
    "attention with itself": case("Y = softmax_{seq}(X ⊙_{chans} X_{seq→query} / √|chans|) ⊙_{seq} X", X="batch seq chans", sizes=BATCHES),
    "attention in tiles": case("Y = softmax_{seq}(X ⊙_{chans} X_{seq→query} / √|chans|) ⊙_{seq} X", sizes=lengths(64, 700, *ACROSS_TILES), planned=False),
    "a causal mask": case("Y = softmax_{seq}(X ⊙_{chans} X_{seq→query} + M) ⊙_{seq} X\nM_{query(i), seq(j)} = { 0 if j ≤ i; −∞ otherwise }\n|query| = |seq|"),
    "a mask of a window": case("Y = softmax_{seq}(X ⊙_{chans} X_{seq→query} + M) ⊙_{seq} X\nM_{query(i), seq(j)} = { 0 if j ≤ i and i − j < 3; −∞ otherwise }"),
    "a mask in tiles": case("Y = softmax_{seq}(X ⊙_{chans} X_{seq→query} + M) ⊙_{seq} X\nM_{query(i), seq(j)} = { 0 if j ≤ i; −∞ otherwise }", sizes=lengths(64, 700, *ACROSS_TILES), planned=False),
    "a case on a size": case("Y = { X if |seq| > 6; 2 X + 1 otherwise }"),
    "a case on an equal size": case("Y = { X if |seq| = 7; 2 X otherwise }"),
    "a case on places": case("Y_{seq(i)} = { X_{seq(i)} if i ≤ 5; 0 otherwise }"),
    "a case on the last place": case("Y_{seq(i)} = { X_{seq(i)} if i = |seq|; X_{seq(i+1)} if i < |seq| }"),
    "a truth of a size": case("Y = 𝕀[|seq| > 6] X"),
    "places": case("Y_{seq(i)} = i X_{seq(i)} / |seq|"),
    "places in a tensor of their own": case("P_{seq(i), chans(j)} = cos(i / 10^{j/|chans|})\nY = X + P"),
    "powers of a size": case("Y = X / √|seq| + |seq|² X + 1/|seq| + 2^{|seq|/100}"),
    "a sign by a size": case("Y = (−1)^{|seq|} X"),
    "the cosine of a size": case("Y = cos(|seq|) X − ⌊|seq|/2⌋"),
    "a product of sizes": case("Y = X / (|seq| |chans|) + |seq| |seq|"),
    "a function of a size": case("f(x) = cos(x)\nY = f(|seq|) X"),
    "a name for a size": case("n = |seq|\nm = n + 1\nY = X / n + m"),
    "a name that a shape gives": case("X ∈ ℝ^{seq[n] × chans}\nY = X / n"),
    "a size less one": case("n = |seq| − 1\nY = X n"),
    "a size of another": case("|seq| = 2 |half|\nZ_{half(i)} = i\nY = ∑_{half} Z + X", planned=False),
    "a number of a size that equals another": case("β = 1 / √|val|\n|val| = |chans|\nY = β X ⊙_{chans} W", X="seq chans", W="chans val", sizes=tuple({"seq": 3, "chans": n, "val": n} for n in LENGTHS)),
    "a size by its double": case("|long| = 2 |seq|\nZ_{long(i)} = i\nY = ∑_{long} Z + X"),
    "a size by a sum": case("|memory| = |seq| + 2\nZ_{memory(i)} = i\nY = Z ⊙ X"),
    "the first place": case("Y = X_{seq(1)}"),
    "the last place": case("Y = X_{seq(|seq|)} + X_{seq(1)}"),
    "the last place but one": case("Y = X_{seq(|seq| − 1)}"),
    "a place that few have": case("Y = X_{seq(3)}", planned=False),
    "a slice": case("Y = X_{seq(2:4)}", planned=False),
    "a slice to the end": case("Y = X_{seq(2:|seq|)}", planned=False),
    "a shifted difference": case("Y_{k(i)} = X_{seq(i+1)} − X_{seq(i)} for i = 1, …, |seq| − 1", planned=False),
    "a difference with its size": case("Y_{k(i)} = X_{seq(i+1)} − X_{seq(i)}\n|k| = |seq| − 1", planned=False),
    "windows": case("Y = unroll_{seq, kernel} X ⊙_{kernel} W", X="seq chans", W="kernel", sizes=tuple({"seq": n, "kernel": 3} for n in (*LENGTHS, 8)), planned=False),
    "places apart": case("Y_{k(i)} = X_{seq(2 i)}\n|seq| = 2 |k|", planned=False, sizes=EVEN),
    "a pool of two": case("Y = max_{kernel} pool_{seq, kernel} X\n|kernel| = 2", planned=False, sizes=EVEN),
    "merged axes": case("Y = X_{(seq,chans)→flat}"),
    "merged axes that two lengths have": case("Y = X_{(batch,seq)→flat}", X="batch seq chans", sizes=BATCHES),
    "a split by a number": case("Y = X_{chans→(heads,val)}\n|heads| = 2"),
    "a split of the length": case("Y = X_{seq→(half,pair)}\n|pair| = 2", planned=False, sizes=EVEN),
    "a split and merge": case("Z = X_{seq→(half,pair)}\n|pair| = 2\nY = Z_{(half,pair)→flat}", planned=False, sizes=EVEN),
    "heads": case("H = (X ⊙_{chans} W)_{flat→(heads,key)}\n|heads| = 2\nY = softmax_{seq}(H ⊙_{key} H_{seq→query}) ⊙_{seq} H", X="batch seq chans", W="chans flat", sizes=tuple({**batch, "flat": 6} for batch in BATCHES)),
    "joined": case("Y = X ⊕_{seq} Z", X="seq chans", Z="seq chans"),
    "stacked": case("Y = stack_{two}(X, 2 X)"),
    "one hot": case("Y = onehot_{seq}(3)\n|seq| = |seq|", planned=False),
    "ones": case("Y = X + ∑_{seq} ones_{seq, chans}"),
    "identity": case("Y = I_{seq, query} ⊙_{seq} X"),
    "a sum over places": case("Y = ∑_{i=1}^{|seq|} i X_{seq(i)}"),
    "a sum over pairs": case("Y = ∑_{i<j} X_{seq(i)} X_{seq(j)}"),
    "a product over places": case("Y = ∏_{i=1}^{|seq|} (1 + X_{seq(i)} / 10)"),
    "a cumulated sum": case("Y = cumsum_{seq} X + cumprod_{seq} X"),
    "sorted": case("Y = sort_{seq} X"),
    "the largest's place": case("Y = argmax_{seq} X"),
    "an index": case("Y = X_{seq(I)}", X="seq chans", I="query", whole="I", sizes=TWO),
    "an index that changes": case("Y = E_{vocab(I)}", E="vocab chans", I="seq", whole="I", sizes=tuple({"seq": n, "vocab": 6} for n in LENGTHS)),
    "a square matrix": case("Y = det_{seq, query}(X) + trace_{seq, query}(X)", X="seq query", sizes=tuple({"seq": n, "query": n} for n in (3, 5, 2, 1, 7, 4))),
    "an inverse": case("Y = inv_{seq, query}(X + 9 I_{seq, query}) ⊙_{query} Z", X="seq query", Z="query", sizes=tuple({"seq": n, "query": n} for n in (3, 5, 2, 1, 7, 4))),
    "a derivative": case("Y = ∂(∑_{seq} tanh(X ⊙_{chans} W))/∂W", X="seq chans", W="chans"),
    "of a mean": case("Y = ∂(mean_{seq} ((X ⊙_{chans} W)²))/∂W", X="seq chans", W="chans"),
    "of softmax": case("Y = ∂(∑_{seq} (softmax_{seq}(X) ⊙ Z))/∂X", X="seq", Z="seq"),
    "a matrix of slopes": case("Y = ∂(tanh X)/∂X*", X="seq"),
    "a recurrence to a number": case("h^0 = 0\nh^t = tanh(h^{t−1} + X) for t = 1, …, 3\nY = h^3"),
    "a recurrence over the length": case("h^0 = 0\nh^t = tanh(h^{t−1} + X_{seq(t)}) for t = 1, …, |seq|\nY = h^{|seq|}", planned=False),
    "a family by label": case("A^l = tanh(l X) for l = 1, …, 3\nY = A^1 + A^3"),
    "layers": case("A^0 = X\nA^l = standardize_{chans}(A^{l−1} + tanh(A^{l−1} ⊙_{seq} A^{l−1}_{chans→val} ⊙_{val} A^{l−1}_{chans→val}) / |seq|) for l = 1, …, 4\nY = A^4"),
    "a function with lifting": case("f: ℝ^{chans} → ℝ^{chans}\nf(x) = x / √(∑_{chans} x² + 1)\nY = f(X)", X="batch seq chans", sizes=BATCHES),
    "a function of an axis": case("f_{ax}: ℝ^{ax} → ℝ^{ax}\nf_{ax}(x) = x − mean_{ax} x + |ax|\nY = f_{seq}(X) + f_{chans}(X)"),
    "a function of many": case("g: ℝ^{key} × ℝ^{seq × key} → ℝ^{seq}\ng(q, k) = softmax_{seq}(q ⊙_{key} k)\nY = g(Q, K) ⊙_{seq} V", Q="query key", K="seq key", V="seq val", sizes=TWO),
    "a claim of a size": case("|seq| ≥ 1\nY = X"),
    "a claim that few meet": case("|seq| ≥ 3\nY = X", planned=False),
    "a claim of a multiple": case("X ∈ ℝ^{seq[3 k] × chans}\nY = X + k", planned=False),
    "a claim of values": case("∑_{seq} softmax_{seq} X = 1\nY = X"),
    "two lengths of one name": case("f: ℝ^{seq} → ℝ\nf(x) = max_{seq} x\nY = f(X) + f(Z_{query→seq})", X="seq", Z="query", sizes=TWO),
    "whole numbers": case("Y = ∑_{seq} (I ⊙ I) + |seq| I", I="seq", whole="I"),
    "a mean of truths": case("Y = mean_{seq} 𝕀[X > 0]"),
    "distances": case("Y = √(∑_{chans} (X − X_{seq→query})² + 1)"),
}  # fmt: skip


def given(case: Case, sizes: Mapping[str, int], library: str = "numpy", dtype: str = "float64") -> dict[str, Any]:
    """Drawn inputs of these sizes, the same for the same sizes."""
    sizes = {**DEFAULTS, **sizes}
    result = {}
    for name, axes in case.inputs.items():
        shape = tuple(sizes[axis] for axis in axes.split())
        draw = np.random.default_rng([*shape, len(name)])
        low = min(sizes[axis] for axis in next(iter(case.inputs.values())).split())
        array = draw.integers(1, low + 1, shape) if name in case.whole else draw.normal(size=shape).astype(dtype)
        result[name] = tensor(array, axes, library)
    return result


def tensor(array: Any, axes: str, library: str = "numpy") -> nt.NamedTensor:
    if library == "torch":
        array = pytest.importorskip("torch").asarray(array)
    elif library == "jax":
        array = pytest.importorskip("jax.numpy").asarray(array)
    return nt.tensor(array, axes)


def outcome(call: Any, **named: Any) -> Any:
    """A value with its axes and dtype, or the text of its error."""
    try:
        value = call(**named)
    except nt.NotationError as problem:
        return str(problem)
    return value.axes, str(value.array.dtype), np.asarray(value.array)


def alone(text: str, **named: Any) -> Any:
    """What a program gives that nobody has called."""
    return outcome(nt.program(text)["Y"], **named)


def assert_same(actual: Any, local: Any, close: float) -> None:
    if isinstance(local, str) or isinstance(actual, str):
        assert actual == local
        return
    assert actual[:2] == local[:2] and actual[2].shape == local[2].shape
    scale = 1 + np.max(np.abs(local[2][np.isfinite(local[2])].astype(float)), initial=0)
    np.testing.assert_allclose(actual[2], local[2], rtol=close, atol=close * scale)


# ------------------------------------------------------------------------------------------------------- equal values
@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("name", TABLE)
def test_each_size_gives_what_a_plan_of_its_own_gives(name, library):
    row = TABLE[name]
    entry = nt.program(row.text)["Y"]
    for sizes in (*row.sizes, *row.sizes[:2]):
        values = given(row, sizes, library)
        assert_same(outcome(entry, **values), alone(row.text, **values), 1e-9)


OF_JAX = (
    "a size in a literal", "attention", "a causal mask", "a case on a size", "powers of a size", "a size of another", "windows", "merged axes", "a split of the length",
    "a sum over places", "an index", "a derivative", "a recurrence over the length", "a function with lifting", "places",
)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", OF_JAX)
def test_each_size_gives_what_a_plan_of_its_own_gives_on_jax(name):
    row = TABLE[name]
    entry = nt.program(row.text)["Y"]
    for sizes in row.sizes[:5]:
        values = given(row, sizes, "jax", "float32")
        assert_same(outcome(entry, **values), alone(row.text, **values), 1e-4)


@pytest.mark.parametrize("name", ["attention with itself", "a causal mask", "statistics", "layers"])
def test_each_size_gives_what_a_plan_of_its_own_gives_in_single_precision(name):
    row = TABLE[name]
    entry = nt.program(row.text)["Y"]
    for sizes in row.sizes:
        values = given(row, sizes, dtype="float32")
        assert_same(outcome(entry, **values), alone(row.text, **values), 1e-4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TABLE)
def test_another_order_of_sizes_gives_the_same(name):
    row = TABLE[name]
    entry = nt.program(row.text)["Y"]
    for sizes in (*row.sizes[::-1], *row.sizes[::2]):
        values = given(row, sizes)
        assert_same(outcome(entry, **values), alone(row.text, **values), 1e-9)


@pytest.mark.parametrize("how", ["evaluate", "formula", "compile", "call", "mapping"])
def test_every_way_to_call_serves_new_sizes(how):
    text = "softmax_{seq}(X ⊙_{chans} X_{seq→query} / √|seq|) ⊙_{seq} X"
    program, formula = nt.program(f"Y = {text}"), nt.formula(text)
    compiled = formula.compile("numpy")
    ways = {
        "evaluate": lambda x: nt.evaluate(text, X=x), "formula": lambda x: formula(X=x), "compile": lambda x: compiled(X=x),
        "call": lambda x: program["Y"](X=x), "mapping": lambda x: program["Y"](values={"X": x}),
    }  # fmt: skip
    for length in LENGTHS:
        x = tensor(np.random.default_rng(length).normal(size=(length, 4)), "seq chans")
        for _ in range(3):
            value = ways[how](x)
            assert value.axes == ("query", "chans") or {*value.axes} == {"query", "chans"}
            assert nt.allclose(value, nt.program(f"Y = {text}")["Y"](X=x))


# ---------------------------------------------------------------------------------------------------------- few plans
@pytest.fixture
def plans(monkeypatch) -> list[Any]:
    """The calls that were planned."""
    result: list[Any] = []
    make = EntryPoint._made

    def noted(self: Any, goal: Any, options: Any, given: Any) -> Any:
        result.append(given)
        return make(self, goal, options, given)

    monkeypatch.setattr(EntryPoint, "_made", noted)
    return result


ONE_PLAN = [name for name, value in TABLE.items() if value.planned]
WITHIN = ({"seq": 20, "batch": 20, "query": 20}, {"seq": 30, "batch": 24, "query": 27})  # of one factor of 4


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("name", ONE_PLAN)
def test_a_third_size_is_not_planned(name, library, plans):
    row = TABLE[name]
    square = "matrix" in name or "inverse" in name
    entry = nt.program(row.text)["Y"]
    calls = [{**row.sizes[0], **sizes} for sizes in WITHIN]
    calls += [{axis: n + more for axis, n in zip(("seq", "batch", "query"), (21, 22, 23))} for more in range(5)]
    for number, sizes in enumerate(calls):
        sizes = {**row.sizes[0], **{axis: sizes[axis] for axis in row.sizes[0] if axis in sizes}}
        sizes = {**sizes, "query": sizes["seq"]} if square else sizes
        sizes = {**sizes, **dict.fromkeys(("chans", "val"), sizes["seq"])} if "equals another" in name else sizes
        entry(**given(row, sizes, library))
        if number == 1:
            before = len(plans)
    assert len(plans) == before <= 3, [plan.values for plan in plans[before:]]


def test_numpy_has_a_plan_for_each_factor_of_four_and_pytorch_one(plans):
    text = TABLE["attention with itself"].text
    for library, most in (("numpy", 7), ("torch", 2)):
        if library == "torch":
            pytest.importorskip("torch")
        plans.clear()
        entry = nt.program(text)["Y"]
        for length in (*range(5, 80), *range(100, 1000, 100)):
            entry(X=tensor(np.ones((1, length, 4)), "batch seq chans", library))
        assert len(plans) <= most, library


def test_batches_and_lengths_that_change_together_have_one_plan(plans):
    entry = nt.program(TABLE["attention with itself"].text)["Y"]
    calls = [*itertools.product((4, 5, 9, 15), (16, 17, 40, 63))]
    for batch, length in np.random.default_rng(0).permutation(calls).tolist():
        entry(X=tensor(np.ones((batch, length, 4)), "batch seq chans"))
    assert len(plans) <= 4  # numbers, what differs first, both


def test_what_is_computed_has_a_limit_and_an_input_has_none(monkeypatch):
    """A plan for all lengths is one for inputs that are larger than the limit of a result too."""
    results: list[Plan] = []
    monkeypatch.setattr(plan_module, "CHECKS", [*plan_module.CHECKS, results.append])
    limits = nt.Limits(max_result_bytes=25 * 4 * 8)
    for length in (20, 22, 24, 30):
        X = tensor(np.ones((length, 4)), "seq chans")
        assert nt.evaluate("∑_{seq} X", X=X, limits=limits).array.tolist() == [length] * 4
    assert len(results) == 2
    for length in (20, 22, 24):
        nt.evaluate("∑_{seq} exp X", X=tensor(np.ones((length, 4)), "seq chans"), limits=limits)
    with pytest.raises(nt.NotationError, match="the result needs 960 bytes; the limit is 800 bytes"):
        nt.evaluate("∑_{seq} exp X", X=X, limits=limits)


def test_a_size_that_decides_the_form_is_a_number_and_others_are_not(plans):
    row = case("h^0 = 0\nh^t = tanh(h^{t−1} + X_{seq(t)}) for t = 1, …, |seq|\nY = h^{|seq|}", X="seq batch")
    entry = nt.program(row.text)["Y"]
    for batch in (20, 30, 25, 26, 27):
        entry(**given(row, {"seq": 6, "batch": batch}))
    assert len(plans) == 2
    entry(**given(row, {"seq": 7, "batch": 20}))
    before = len(plans)
    for batch in (28, 29):
        values = given(row, {"seq": 7, "batch": batch})
        assert_same(outcome(entry, **values), alone(row.text, **values), 1e-9)
    assert before <= 6


def test_a_failing_call_at_a_symbolic_size_is_planned_once(plans):
    select = nt.program("Y = X_{seq(I)}")["Y"]
    index = nt.tensor([99], "k")
    for size, expected in ((3, 1), (4, 3), (5, 4), (5, 4), (5, 4), (4, 4)):
        with pytest.raises(nt.NotationError, match=rf"index 99 is out of range for axis seq \(1 to {size}\)"):
            select(X=nt.tensor(np.ones(size), "seq"), I=index)
        assert len(plans) == expected


def test_a_sum_of_unrelated_axes_warns_once_for_all_sizes():
    add = nt.formula("X + w")
    w = nt.tensor(np.ones(2), "chans")
    with pytest.warns(nt.NotationWarning, match="broadcasts") as warned:
        for size in (3, 4, 5, 6):
            add(X=nt.tensor(np.ones(size), "seq"), w=w)
    assert len(warned) == 1


def test_a_repeated_call_asks_no_plan_at_all(plans, monkeypatch):
    entry = nt.program(TABLE["softmax"].text)["Y"]
    calls = [tensor(np.ones((length, 4)), "seq chans") for length in (20, 30, 25)]
    for x in calls:
        entry(X=x)
    monkeypatch.setattr(call_cache, "find_plan", lambda *_: pytest.fail("looked for a plan"))
    for x in calls * 2:
        entry(X=x)


@pytest.mark.usefixtures("freeze_objects")
def test_calls_at_further_sizes_keep_no_input():
    entry, inputs = nt.program("Y = ∑_{seq} X²")["Y"], []
    for length in (20, 30, 25, 26, 27):
        x = np.ones(length)
        inputs.append(weakref.ref(x))
        for _ in range(2):
            assert float(entry(X=nt.tensor(x, "seq"))) == length
        del x
    gc.collect()
    assert not any(reference() is not None for reference in inputs)


# -------------------------------------------------------------------------------------------------------------- errors
WRONG = {
    "an index beyond the axis": ("Y = X_{seq(9)}", {"X": "seq"}, {"seq": 5}),
    "an axis of another size": ("Y = X + Z", {"X": "seq chans", "Z": "seq"}, {"Z": {"seq": 4}}),
    "a missing axis": ("Y = ∑_{seq} X", {"X": "chans"}, {}),
    "a size that does not divide": ("Y = X_{chans→(heads,val)}\n|heads| = 3", {"X": "seq chans"}, {}),
    "a claim": ("|seq| = 100\nY = X", {"X": "seq"}, {}),
    "a claim of values": ("∑_{seq} X = 0.5\nY = X", {"X": "seq"}, {}),
    "an index of values": ("Y = E_{vocab(X)}", {"E": "vocab chans", "X": "seq"}, {"vocab": 3}),
    "no case": ("Y = { X if |seq| > 100 }", {"X": "seq"}, {}),
}  # fmt: skip


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("name", WRONG)
def test_an_error_has_one_text_at_every_length(name, library):
    text, inputs, wrong = WRONG[name]
    pytest.importorskip(library)
    entry = nt.program(text)["Y"]
    for length in (5, 9, 6, 3, 17, 2, 64, 30, 31, 1):
        sizes = {**DEFAULTS, "seq": length, "vocab": 3}
        values = {}
        for key, axes in inputs.items():
            of_input = sizes | (wrong[key] if isinstance(wrong.get(key), dict) else {})  # type: ignore[dict-item]
            shape = tuple(of_input[axis] for axis in axes.split())
            array = np.full(shape, 7) if name == "an index of values" and key == "X" else np.ones(shape)
            values[key] = tensor(array, axes, library)
        result, local = outcome(entry, **values), alone(text, **values)
        assert isinstance(result, str) == isinstance(local, str), length
        if isinstance(local, str):
            assert result == local, length


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_an_error_between_calls_that_fit_has_its_text_and_changes_nothing(library):
    text = "Y = softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V"
    attention = TABLE["attention"]
    entry = nt.program(text)["Y"]
    for number, sizes in enumerate(TWO * 2):
        values = given(attention, sizes, library)
        assert_same(outcome(entry, **values), alone(text, **values), 1e-9)
        broken = {**values, "V": tensor(np.ones((sizes["seq"] + 1 + number % 2, 4)), "seq val", library)}
        assert outcome(entry, **broken) == alone(text, **broken)
        assert isinstance(outcome(entry, **broken), str)


def test_a_value_beyond_the_memory_limit_is_refused_at_each_length():
    text = "Y = ∑_{seq, query, k} 2^{X + X_{seq→query} + X_{seq→k}} ⊙ 𝕀[X + X_{seq→query} > X_{seq→k}]"
    entry = nt.program(text)["Y"]
    for length in (5, 9, 7, 60_000, 8, 70_000, 6):
        x = tensor(np.zeros(length), "seq")
        if length < 100:
            assert_same(outcome(entry, X=x), alone(text, X=x), 1e-9)
        else:
            result = outcome(entry, X=x)
            assert isinstance(result, str) and result == alone(text, X=x)


@pytest.mark.parametrize(
    "text",
    [
        "Y = ∑_{seq} X",
        "Y = max_{seq} X",
        "Y = softmax_{seq} X",
        "Y = mean_{seq} X",
        "Y = X + |seq|",
        "Y = X_{(seq,chans)→flat}",
    ],
)
def test_an_axis_of_size_0_is_as_it_is_alone(text):
    entry = nt.program(text)["Y"]
    for length in (3, 5, 0, 7, 0, 2, 0):
        x = tensor(np.ones((length, 4)), "seq chans")
        with np.errstate(all="ignore"):
            assert_same(outcome(entry, X=x), alone(text, X=x), 1e-9)


def test_a_plan_never_serves_sizes_that_break_its_conditions():
    """A place that few have, both ways round: the plan of those that have it, and the error of those that have not."""
    for order in ((9, 12, 1, 2, 30), (1, 2, 9, 12, 2), (2, 12, 1, 9, 3)):
        entry = nt.program("Y = { X_{seq(3)} if |seq| > 2; X_{seq(1)} otherwise }")["Y"]
        for length in order:
            x = tensor(np.arange(length), "seq")
            assert_same(outcome(entry, X=x), alone("Y = { X_{seq(3)} if |seq| > 2; X_{seq(1)} otherwise }", X=x), 1e-9)


# ------------------------------------------------------------------------------------------------- threads and bounds
def test_threads_at_new_lengths_give_each_its_own_value():
    entry = nt.program(TABLE["attention with itself"].text)["Y"]
    problems: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for length in np.random.default_rng(seed).permutation(range(1, 40)).tolist():
                x = tensor(np.random.default_rng(length).normal(size=(2, length, 4)), "batch seq chans")
                values = {"X": x}
                value = entry(**values)
                assert {*value.axes} == {"batch", "query", "chans"} and value.sizes["query"] == length
                scores = np.einsum("bqc,bsc->bqs", x.array, x.array) / 2
                weights = np.exp(scores - scores.max(-1, keepdims=True))
                expected = np.einsum("bqs,bsc->bqc", weights / weights.sum(-1, keepdims=True), x.array)
                np.testing.assert_allclose(value.to_array("batch query chans"), expected, atol=1e-9)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems[0]


def test_plans_of_a_signature_are_bounded(monkeypatch):
    """Where each length has a condition of its own, their plans are at most so many."""
    result: list[Any] = []
    plan = symbolic_plans.plan_symbolically
    monkeypatch.setattr(symbolic_plans, "plan_symbolically", lambda *rest: result.append(rest) or plan(*rest))
    entry = nt.program("Y = { X_{seq(1)} if |seq| = 7; X_{seq(|seq|)} otherwise }")["Y"]
    for length in range(1, 60):
        entry(X=tensor(np.arange(length), "seq"))
    assert len(result) <= MAX_PLANS


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.usefixtures("freeze_objects")
def test_many_lengths_leave_little_behind():
    import tracemalloc

    entry = nt.program(TABLE["a causal mask"].text)["Y"]
    tensors = [tensor(np.ones((length, 4)), "seq chans") for length in range(65, 165)]
    for x in tensors[:20]:
        entry(X=x)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for x in tensors[20:]:
            entry(X=x)
        gc.collect()
        position = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert position < 80 * 20_000  # the masks would take 58 to 217 KB each


# ------------------------------------------------------------------------------------------------------------- random
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_random_numbers_of_a_seed_are_those_of_a_plan_of_its_own(library):
    text = "Y = X + uniform_{seq, chans}(s)" if False else "Y = uniform(0, X)"
    entry = nt.program(text)["Y"]
    for length in LENGTHS:
        values = {"X": tensor(np.ones((length, 4)), "seq chans", library)}
        local, result = alone(text, **values), outcome(entry, **values)
        assert_same(result, local, 1e-9)


def pairs(sizes: tuple[Mapping[str, int], ...]) -> Iterator[tuple[Mapping[str, int], Mapping[str, int]]]:
    yield from itertools.pairwise(sizes)
