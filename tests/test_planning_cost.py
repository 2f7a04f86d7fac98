"""What a formula costs: counted by hand, by loops, and printed by the command `cost`."""

import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import namedtensor as nt
import transformer
from namedtensor import cli
from namedtensor.core.extents import format_size, symbols_of, value_at
from namedtensor.planning.cost import cost_of
from namedtensor.programs.executable import Options
from namedtensor.programs.named_plans import plan_of, target_named

EXACT = ("tiling", "small-sum-as-matmul", "deferred-normalization", "scale-smaller-operand", "contraction-order")
ATTENTION = "softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def command(*words):
        status = cli.main([str(word) for word in words])
        printed, message = capsys.readouterr()
        return status, printed, message

    return command


def shape(**sizes):
    return "ℝ^{" + " × ".join(f"{axis}[{size}]" for axis, size in sizes.items()) + "}"


# ------------------------------------------------------------------------------------------------------------ counts
COUNTED = [
    ("X ⊙_{a} W", {"X": shape(n=5, a=7), "W": shape(a=7, b=3)}, 5 * 7 * 3, 5 * 7 * 3, 5 * 3 * 4),
    ("X ⊙_{a} y", {"X": shape(n=5, a=7), "y": shape(a=7)}, 5 * 7, 5 * 7, 5 * 4),
    ("x ⊙_{a} y", {"x": shape(a=7), "y": shape(a=7)}, 7, 7, 4),
    ("A ⊙_{c,d} B", {"A": shape(a=2, c=4, d=5), "B": shape(c=4, d=5, e=6)}, 2 * 4 * 5 * 6, 2 * 4 * 5 * 6, 2 * 6 * 4),
    ("A ⊙_{k} B", {"A": shape(h=2, q=3, k=4), "B": shape(h=2, s=5, k=4)}, 2 * 3 * 5 * 4, 2 * 3 * 5 * 4, 2 * 3 * 5 * 4),
    ("∑_{a} X", {"X": shape(n=5, a=7)}, 0, 5 * 7, 5 * 4),
    ("exp X", {"X": shape(n=5, a=7)}, 0, 5 * 7, 5 * 7 * 4),
    ("E_{v(2)}", {"E": shape(v=1000, a=3)}, 0, 0, 0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shapes", "multiply_adds", "operations", "size"), COUNTED)
def test_counted_by_hand(text, shapes, multiply_adds, operations, size):
    cost = nt.formula(text).cost(shapes, disable=EXACT)
    assert (cost.multiply_adds, cost.operations, cost.bytes, cost.largest) == (multiply_adds, operations, size, size)


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True),
       st.lists(st.sampled_from("cdef"), min_size=1, max_size=3, unique=True), st.data())  # fmt: skip
def test_a_contraction_costs_the_product_of_all_its_axes(left, right, data):
    shared = [axis for axis in left if axis in right]
    summed = data.draw(st.lists(st.sampled_from(shared), min_size=1, unique=True)) if shared else []
    sizes = dict(zip("abcdef", (2, 3, 5, 7, 11, 13)))
    text = f"A ⊙_{{{','.join(summed)}}} B" if summed else "A ⊙ B"
    cost = nt.formula(text).cost(A=shape(**{a: sizes[a] for a in left}), B=shape(**{b: sizes[b] for b in right}))
    assert cost.operations == math.prod(sizes[axis] for axis in {*left, *right})
    assert cost.multiply_adds == (cost.operations if summed else 0)
    assert set(cost.rows[-1].axes) == {*left, *right}


# the axes of the last product, of which some groups of a matrix are none and some several
AXES = [
    ("A ⊙_{k} b", {"A": shape(h=2, s=3, k=5), "b": shape(h=2, k=5)}),
    ("b ⊙_{k} A", {"A": shape(h=2, s=3, k=5), "b": shape(h=2, k=5)}),
    ("A ⊙_{k} B", {"A": shape(h=2, q=7, s=3, k=5), "B": shape(h=2, k=5)}),
    ("∑_{k} exp X", {"X": shape(h=2, s=3, k=5)}),
    ("∑_{h} exp X", {"X": shape(h=5, s=3, k=2)}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shapes"), AXES)
def test_a_product_works_over_the_axes_of_its_factors(text, shapes):
    numbers = {axis: int(size) for other in shapes.values() for axis, size in re.findall(r"(\w)\[(\d+)", other)}
    assert nt.formula(text).cost(shapes).rows[-1].axes == numbers


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_attention_has_the_same_products_in_every_library(library):
    pytest.importorskip(library)
    inputs = {"Q": shape(h=2, q=3, key=4), "K": shape(h=2, seq=5, key=4), "V": shape(h=2, seq=5, val=6)}
    plan, _ = plan_of(
        nt.formula(ATTENTION)._goal, target_named(library), inputs, Options(disable=("small-sum-as-matmul",))
    )
    assert cost_of(plan).multiply_adds == 2 * 3 * 5 * (4 + 6)


def test_no_axis_is_one_that_the_formula_lacks():
    shapes = {"X": shape(heads=2, seq=4, chans=8), "W": shape(heads=2, chans=8, key=3), "b": shape(key=3)}
    cost = nt.formula("softmax_{seq}(standardize_{chans} X ⊙_{chans} W + b)").cost(shapes)
    assert {axis for row in cost.rows for axis in row.axes} <= {"heads", "seq", "chans", "key"}
    assert {"chans", "seq", "key"} <= {axis for row in cost.rows for axis in row.axes}


def test_what_blocks_write_is_counted_for_each():
    shapes = {"Q": shape(q=2048, key=8), "K": shape(seq=2048, key=8), "V": shape(seq=2048, val=8)}
    cost = nt.formula(ATTENTION).cost(shapes)
    exp = next(row for row in cost.rows if row.step == "exp")
    assert exp.times > 1 and exp.operations == exp.times * exp.axes["q"] * exp.axes["seq"] >= 2048 * 2048
    assert cost.bytes == sum(row.bytes * row.times for row in cost.rows) > 10 * cost.largest


def test_sizes_fill_shapes_and_what_is_declared():
    text = "f(X; W, b) = X ⊙_{a} W + b\nW ∈ ℝ^{a × h}\nb ∈ ℝ^{h}"
    cost = nt.formula(text).cost(X="ℝ^{n × a[3]}", sizes={"n": 5, "h": 2})
    assert cost.multiply_adds == 5 * 3 * 2
    open_cost = nt.formula(text).cost(X="ℝ^{n × a[3]}", sizes={"h": 2})
    assert format_size(open_cost.multiply_adds) == "6 |n|"


OPEN = {"Q": "ℝ^{query × key}", "K": "ℝ^{seq × key}", "V": "ℝ^{seq × val}"}


def test_open_sizes_make_polynomials():
    cost = nt.formula(ATTENTION).cost(OPEN, disable=EXACT)
    assert format_size(cost.multiply_adds) == "|key| |query| |seq| + |query| |seq| |val|"
    assert format_size(cost.largest) == "max(4 |query| |seq|, 4 |query| |val|)"
    assert "  |key| |query| |seq| + |query| |seq| |val| multiply-adds\n" in repr(cost)


@pytest.mark.parametrize("text", [ATTENTION, transformer.FFN.notation], ids=["attention", "feed-forward"])
def test_polynomials_have_the_values_of_the_cost_of_numbers(text):
    names = {"query": 3, "key": 4, "seq": 5, "val": 2} if text == ATTENTION else {"seq": 5, "hidden": 6, "chans": 7}
    shapes = OPEN if text == ATTENTION else {"X": "ℝ^{seq × chans}"}
    of_numbers = nt.formula(text).cost(shapes, sizes=names, disable=EXACT)
    of_symbols = nt.formula(text).cost(shapes, disable=EXACT)
    for total in ("multiply_adds", "operations", "bytes", "largest"):
        polynomial = getattr(of_symbols, total)
        values = {symbol: names[symbol.axis] for symbol in symbols_of(polynomial)}
        assert value_at(polynomial, values) == getattr(of_numbers, total), total


def test_the_command_prints_polynomials(run):
    status, printed, _ = run("explain", "--cost", "X ⊙_{a} W", "X=ℝ^{n × a}", "W=ℝ^{a × b[3]}")
    assert status == 0 and printed.endswith("in all\n  3 |a| |n| multiply-adds\n  3 |a| |n| operations\n  12 |n| bytes\n"
                                            "  12 |n| bytes of the largest array\n")  # fmt: skip
    status, printed, _ = run("explain", "--cost", "X ⊙_{a} W", "X=ℝ^{n × a}", "W=ℝ^{a × b[3]}", "--json")
    assert json.loads(printed)["multiply_adds"] == "3 |a| |n|" and json.loads(printed)["steps"][0]["axes"]["b"] == 3


# ----------------------------------------------------------------------------------------------------------- command
WORDS = (
    "explain",
    "--cost",
    "X ⊙_{a} W + b",
    "X=ℝ^{n × a[300]}",
    "W=ℝ^{a[300] × h[20]}",
    "--sizes",
    "n=100",
    "b=ℝ^{c[2]}",
)


def test_the_table(run):
    status, printed, message = run(*WORDS)
    assert (status, message) == (0, "")
    assert printed.splitlines() == [
        "multiply-adds  operations   bytes  step",
        "      600,000     600,000   8,000  dot over n[100] × h[20] × a[300]: X ⊙_{a} W",
        "            0       4,000  16,000  add over c[2] × n[100] × h[20]: X ⊙_{a} W + b",
        "      600,000     604,000  24,000  in all; the largest array 16,000 B",
    ]


def test_as_json(run):
    status, printed, _ = run(*WORDS, "--json")
    record = json.loads(printed)
    assert status == 0
    assert {name: record[name] for name in ("multiply_adds", "operations", "bytes", "largest")} == {
        "multiply_adds": 600_000, "operations": 604_000, "bytes": 24_000, "largest": 16_000,
    }  # fmt: skip
    assert record["steps"][0] == {
        "step": "dot", "part": "X ⊙_{a} W", "axes": {"n": 100, "h": 20, "a": 300}, "times": 1,
        "multiply_adds": 600_000, "operations": 600_000, "bytes": 8_000,
    }  # fmt: skip


def test_in_ascii(run):
    _, printed, _ = run(*WORDS, "--ascii")
    assert printed.isascii() and "dot over n[100] x h[20] x a[300]: X @_{a} W" in printed


def test_a_formula_from_a_file_costs_what_its_tensors_do(run, tmp_path):
    (tmp_path / "two.nt").write_text("Y = 2 X  # twice\nY ⊙_{a} X", encoding="utf-8")
    assert run("explain", "--cost", "two.nt", "X=[[1,2],[3,4]]:a,b")[1].splitlines()[-1].split()[0] == "4"


def test_an_optimization_is_turned_off(run):
    words = ("explain", "--cost", "gelu X", "X=ℝ^{a[40960] × b[512]}")
    assert "blocks" in run(*words)[1] and "blocks" not in run(*words, "--disable", "tiling")[1]


RECURRENCE = "h^0 = 0\nh^t = tanh(h^{t−1} + X_{a(t)}) for t = 1, …, |a|\nh^{|a|}"
REFUSED = [
    (("explain", "--cost", "X ⊙_{c} W", *WORDS[3:5]), 1, "301"),
    (("explain", "--cost", "x ⊙ y", "x=ℝ^{a[100000]}", "y=ℝ^{b[100000]}"), 1, r"404.*\n.*x ⊙ y"),
    (("explain", "--cost", RECURRENCE, "X=ℝ^{a}"), 1, "309: the formula needs the size of a"),
    (("explain", "--cost", "X", "X=none.npy:a"), 2, "none.npy"),
    (("explain", "--cost", "X", "X=ℝ^{a[3]}", "--disable", "speed"), 2, "small-sum-as-matmul"),
]


@pytest.mark.parametrize(("words", "status", "message"), REFUSED)
def test_what_is_refused(run, words, status, message):
    result = run(*words)
    assert (result[0], result[1]) == (status, "") and re.search(message, result[2]), result[2]


def test_what_holds_nothing_costs_nothing():
    rows = nt.formula("exp(X) + X").cost(X="ℝ^{a[0]}").rows
    assert rows and all(row.multiply_adds == row.operations == row.bytes == 0 for row in rows)
