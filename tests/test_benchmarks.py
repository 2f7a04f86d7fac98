"""The benchmarks: every side of a work gives the answer of the work by hand; medians; the shape of what is written.

No time is asserted.
"""

import json
import math
import re
import subprocess
import sys
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from layer_cases import CASES

import namedtensor as nt
from benchmarks import chains, first, gpu, plot, small, stacking, turns, worker
from benchmarks.__main__ import line, report, verdict
from benchmarks.orders import LAYERS, in_other_order
from benchmarks.peers import kernels_of_openblas, machine, missing, product_speed, versions
from benchmarks.turns import QUICK, Effort, Found, left_out, measure, median_ratio, rows_of
from benchmarks.work import ALONE, BY_HAND, Bar, LeftOut, Ready, Side, Work, arrays_of, both, difference, side
from benchmarks.works import GROUPS, HERE, WORKS, chosen

ROOT = Path(__file__).parent.parent


def small_answer(work, one):
    if reason := missing(one.needs):
        pytest.skip(reason)
    try:
        ready = one.make(**work.inputs(**work.small))
    except LeftOut as reason:
        pytest.skip(str(reason))
    return arrays_of(ready.answer(ready.call()))


def others():
    return [
        pytest.param(work, one, id=f"{work.name}: {one.name}")
        for work in WORKS.values()
        for one in work.sides
        if one.name != base(work).name and not one.name.endswith(ALONE)
    ]


def base(work):
    return work.side(work.base) if work.base else work.sides[-1]


@lru_cache(maxsize=1)  # the sides of a work come one after the other
def answer_of_the_base(name):
    return small_answer(WORKS[name], base(WORKS[name]))


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("work", "one"), others())
def test_a_side_gives_the_answer_of_the_base(work, one):
    assert difference(small_answer(work, one), answer_of_the_base(work.name)) < max(
        1e-5, (work in gpu.WORKS) * work.close
    )


@pytest.mark.parametrize("work", gpu.WORKS, ids=lambda work: work.name)
def test_what_is_for_a_gpu_gives_the_answer_by_hand(work, monkeypatch):
    monkeypatch.setattr(gpu, "device", lambda: "cpu")  # the same calls, where there is no GPU
    ours, by_hand = (small_answer(work, item) for item in work.sides)
    assert difference(ours, by_hand) < work.close


@pytest.mark.parametrize("work", [work for work in WORKS.values() if work.base], ids=lambda work: work.name)
def test_each_bar_is_over_a_side_of_its_work(work):
    names = {side.name for side in work.sides}
    assert work.base in names
    for bar in work.bars:
        assert bar.ours in names
        assert bar.over in names or bar.of == "memory"


def test_a_side_has_one_name():
    for work in WORKS.values():
        assert len({side.name for side in work.sides}) == len(work.sides)


# ------------------------------------------------------------------------------------------------ ratios and medians
@pytest.mark.parametrize(
    ("ours", "theirs", "ratio"),
    [
        ([2.0, 3.0, 40.0], [1.0, 2.0, 10.0], 2.0),  # 2, 1.5, 4: not the ratio of the medians, which is 1.5
        ([2.0, None, 8.0, 9.0], [1.0, 1.0, 2.0, None], 3.0),  # only rounds of both
        ([None], [1.0], None),
    ],
)
def test_a_ratio_is_the_median_of_the_rounds_ratios(ours, theirs, ratio):
    assert median_ratio(ours, theirs) == ratio


def nothing():
    return {}


def adding(name, bars=(), **more):
    sides = tuple(Side(item, lambda: Ready(lambda: 1.0)) for item in ("namedtensor", BY_HAND, BY_HAND + ALONE, "peer"))
    return Work(name, "adding", nothing, sides, bars=bars, **more)


FOUND = Found(
    seconds={"namedtensor": [1.0, 1.0], BY_HAND: [2.0, 2.0], BY_HAND + ALONE: [0.5, 0.25], "peer": [4.0, None]},
    processor={"namedtensor": [2.0, 2.0], "peer": [6.0, None]},
    memory={"namedtensor": 3_000_000, BY_HAND: None, BY_HAND + ALONE: 5, "peer": 7},
)


def test_ratios_are_to_the_faster_of_one_thread_and_many():
    rows = rows_of(adding("w"), FOUND)
    assert [(row["side"], row["value"]) for row in rows] == [
        ("namedtensor", 3.0), (BY_HAND, 6.0), (BY_HAND + ALONE, 1.0), ("peer", 8.0),
    ]  # fmt: skip
    assert rows[0]["least"] == 4.0 and rows[0]["seconds"] == 1.0 and "memory" not in rows[0]


def test_bars_give_verdicts_and_rows():
    bars = (Bar("namedtensor", 3.5, BY_HAND), Bar("namedtensor", 0.2, "peer"), Bar("namedtensor", 2, of="memory"))
    rows = rows_of(adding("w", bars, memory=True), FOUND)
    with_bars = [row for row in rows if row["bar"] is not None]
    assert [(row["value"], row["unit"], verdict(row)) for row in with_bars] == [
        (3.0, f"× {BY_HAND}", "met"), (0.25, "× peer", "missed"), (3.0, "MB", "missed"),
    ]  # fmt: skip
    assert rows[1]["memory"] is None
    assert all(line(row) for row in rows)


def test_a_work_without_a_base_gives_milliseconds():
    rows = rows_of(adding("w", (Bar("namedtensor", 900),), base=""), FOUND)
    assert (rows[0]["value"], rows[0]["unit"], rows[0]["bar"], verdict(rows[0])) == (1000.0, "ms", 900, "missed")
    assert [row["bar"] for row in rows[1:]] == [None] * 3


def test_a_row_without_a_value_has_no_verdict():
    assert verdict({"bar": 1.0, "value": None}) == ""


def test_answers_that_differ_in_shape_are_infinitely_apart():
    assert difference([np.zeros(2)], [np.zeros(3)]) == math.inf
    assert difference([np.array([1.0, 2.0])], [np.array([1.0, 4.0])]) == 0.5


def test_a_norm_may_be_lenient_with_a_single_entry():
    right = np.full((30, 30), 2.0)
    left = right.copy()
    left[4, 5] = 6.0
    assert difference([left], [right]) == 2.0
    assert difference([left], [right], 2) == pytest.approx(2 / 30)


# --------------------------------------------------------------------------------------------------------- a whole run
SHORT = Effort(rounds=3, fewest=2, seconds=0.01)


@pytest.mark.slow
def test_sides_take_turns_in_processes_of_their_own():
    work = replace(WORKS["chain-4-8"], sides=WORKS["chain-4-8"].sides[:2])
    result = measure(work, SHORT)
    assert result.seconds.keys() == {"namedtensor", BY_HAND} and not result.left_out and not result.failed
    for seconds in result.seconds.values():
        assert 2 <= sum(number is not None for number in seconds) <= 3 and all(
            number > 0 for number in seconds if number
        )
    assert [row["figure"] for row in rows_of(work, result)] == [
        "chain of 4 factors, n = 8: namedtensor", f"chain of 4 factors, n = 8: {BY_HAND}",
    ]  # fmt: skip


def test_a_side_that_cannot_take_part_says_why(tmp_path):
    absent = Side("peer", lambda: Ready(lambda: 1.0), needs=("no_such_package",))
    with pytest.raises(LeftOut, match="no_such_package not installed"):
        worker.prepared(adding("w"), absent)
    result = Found(left_out={"peer": "no_such_package not installed"}, failed={"namedtensor": "ValueError: no"})
    assert left_out(adding("w"), result) == [
        {"work": "w", "side": "peer", "reason": "no_such_package not installed"},
        {"work": "w", "side": "namedtensor", "reason": "failed: ValueError: no"},
    ]


def test_a_wrong_answer_is_not_measured(tmp_path):
    class Stub:
        def __init__(self, name, value):
            self.side, self.value = Side(name, lambda: Ready(lambda: value)), value

        def values(self):
            return [np.array(self.value)]

    turns.agree(adding("w"), [Stub(BY_HAND, 1.0), Stub("peer", 1.00001)])
    with pytest.raises(AssertionError, match="w: peer and NumPy by hand differ"):
        turns.agree(adding("w"), [Stub(BY_HAND, 1.0), Stub("peer", 1.1)])
    right, left = np.ones(900), np.ones(900)
    left[5] = 1.3  # a norm of 0.3 / 30
    lenient = adding("w", norm=2, close=0.011)
    turns.agree(lenient, [Stub(BY_HAND, right), Stub("peer", left)])
    with pytest.raises(AssertionError, match="w: peer and NumPy by hand differ"):
        turns.agree(replace(lenient, norm=math.inf), [Stub(BY_HAND, right), Stub("peer", left)])


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the highest use of memory is told by Linux alone"
)
def test_memory_is_what_a_call_needs_beside_what_was_there():
    ones = np.ones(4_000_000)  # 32 MB that are there before
    value, peak = worker.peak_of(lambda: (np.exp(ones) + 1).sum())
    assert value == pytest.approx(4_000_000 * (math.e + 1))
    if peak is not None:
        assert 30e6 < peak < 100e6  # one or two temporaries of 32 MB


def test_a_turn_is_its_fastest_chunk(monkeypatch):
    times = iter([worker.Times(0.3, 0.5), worker.Times(0.1, 0.2), worker.Times(0.2, 0.1)])
    monkeypatch.setattr(worker, "mean", lambda call, repeat: next(times))
    assert worker.turn(lambda: None, 1, 3) == (0.1, 0.2)


def test_processor_time_is_that_of_the_work():
    asleep, awake = worker.mean(lambda: time.sleep(0.02), 3), worker.mean(lambda: sum(range(300_000)), 3)
    assert asleep.seconds >= 0.02 and asleep.processor < asleep.seconds / 2
    assert awake.processor > 0


def test_short_calls_are_repeated_and_long_ones_are_not(monkeypatch):
    monkeypatch.setattr(worker, "LONG", 0.02)
    short = worker.repeated(lambda: None)
    assert short["repeat"] > 100 and short["chunks"] > 1
    assert worker.repeated(lambda: time.sleep(0.03)) | {"seconds": 0} == {"repeat": 1, "chunks": 1, "seconds": 0}


def test_one_blas_thread_is_a_side_of_its_own():
    plain, alone = both(side("NumPy by hand")(lambda: Ready(lambda: 1.0)))
    assert (plain.threads, alone.threads, alone.name) == (None, 1, BY_HAND + ALONE)


# ------------------------------------------------------------------------------------------------------------ the report
def test_names_choose_groups_and_works():
    assert chosen([]) == (list(HERE), list(WORKS.values()))
    assert chosen(["start", "gelu", "block"]) == (["start"], [WORKS["gelu"], *GROUPS["block"]])
    with pytest.raises(KeyError, match="gelo"):
        chosen(["gelo"])


@pytest.mark.sampled(6)
@pytest.mark.slow
def test_the_command_writes_json(tmp_path):
    path = tmp_path / "figures.json"
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", "chain-5-8", "--quick", "--json", str(path)],
        cwd=ROOT, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    written = json.loads(path.read_text("utf-8"))
    assert written.keys() == {"date", "machine", "load", "quick", "versions", "rows", "left_out"}
    assert {"work", "side", "figure", "value", "unit", "bar", "seconds", "least", "verdict"} <= written["rows"][
        0
    ].keys()
    assert written["versions"]["numpy"] == np.__version__
    assert "chain of 5 factors, n = 8: namedtensor" in run.stdout and "at most 0.6" in run.stdout


def test_an_unknown_name_is_told_the_known_ones():
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", "gelo"], cwd=ROOT, capture_output=True, encoding="utf-8"
    )  # fmt: skip
    assert run.returncode == 2 and "gelu-tanh" in run.stderr


def test_machine_and_versions_are_plain_words():
    assert "cores" in machine() and "python" in versions()


@pytest.mark.parametrize("core", ["Nehalem", "Haswell"])
def test_the_kernels_that_products_use_are_told(core, monkeypatch):
    if not kernels_of_openblas():
        pytest.skip("NumPy's BLAS is not an OpenBLAS that says what it picks")
    monkeypatch.setenv("OPENBLAS_CORETYPE", core)
    assert kernels_of_openblas() == core and f"{core}, which OPENBLAS_CORETYPE asks for" in machine()
    monkeypatch.delenv("OPENBLAS_CORETYPE")
    assert "OPENBLAS_CORETYPE" not in machine()


def attention_figures():
    """A report of one work that the page shows."""
    rows = rows_of(adding("attention-512", memory=True), FOUND)
    return report(
        [row | {"side": "namedtensor, formula"} if row["side"] == "namedtensor" else row for row in rows], [], True
    )


def test_page_has_a_row_for_each_measured_work():
    text = plot.page(attention_figures())
    assert (
        text.index("speed.svg")
        < text.index("| attention, 512 tokens | 3 | hand-written NumPy |")
        < text.index("## Method")
    )
    assert "GELU" not in text


def test_page_tells_of_both_orders_and_of_the_limits_that_are_missed():
    def row(figure: str, value: float, bar: float | None, unit: str = "× NumPy") -> dict:
        return {"figure": figure, "value": value, "unit": unit, "bar": bar}

    figures = attention_figures()
    assert "## Orders" not in plot.page(figures)
    figures["rows"] += [
        row("order: paper.RNN, products exchanged", 1.01, 1.03, "× as it is written"),
        row("order: paper.CBOW, products exchanged", 1.05, 1.03, "× as it is written"),
        row("chain X Y + X, 100,000 numbers, float32", 0.9, 1.05),
        row("chain of 4 matrices, n = 8: namedtensor", 40.0, None),
        row("chains, 100,000 numbers, float32: control, NumPy against itself", 0.99, None),
    ]
    text = plot.page(figures)
    assert "of 2 layers" in text and "factor of 1.01 to 1.05 (median 1.03; the limit is 1.03)" in " ".join(text.split())
    assert "10⁷ numbers take 0.90 to 0.90 times" in text and "NumPy against itself: 0.99 to 0.99" in text
    assert "| order: paper.CBOW, products exchanged | 1.05 × as it is written | 1.03 |" in text
    assert "paper.RNN" not in text


def test_machine_says_how_fast_products_are():
    assert 1 < product_speed() < 1e5
    assert re.search(r"products of float32 at \d+ GFLOP/s on one core", machine())


def test_page_of_the_figures_has_all_rows_and_a_control():
    shown = plot.rows_shown(json.loads(plot.FIGURES.read_text("utf-8")))
    assert len(shown) == len(plot.SHOWN) and abs(shown[-1][1]["value"] - 1) < 0.05 and not shown[-1][0].bar


@pytest.mark.slow
def test_picture_is_the_same_each_time(tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("one.svg", "two.svg"):
        plot.picture(attention_figures(), tmp_path / name)
    drawn = (tmp_path / "one.svg").read_bytes()
    assert drawn.startswith(b"<?xml") and drawn == (tmp_path / "two.svg").read_bytes()


def test_the_page_is_made_from_the_figures():
    assert plot.PAGE.read_text("utf-8") == plot.page(json.loads(plot.FIGURES.read_text("utf-8")))


def test_imports_are_measured_beside_a_bare_python(monkeypatch):
    asked = []
    monkeypatch.setattr(first, "processor_seconds", lambda code, rounds: asked.append(code) or len(asked))
    rows = first.rows()
    assert asked[0] == "pass" and rows[0] == {"figure": "import numpy", "value": 1000, "unit": "ms", "bar": None}
    assert QUICK.rounds < Effort().rounds


@pytest.mark.parametrize("case", [case for case in CASES if case.kind in LAYERS], ids=lambda case: case.title)
def test_a_layer_with_the_sides_of_its_products_exchanged_has_the_same_value(case):
    layer, given = case.layer(), case.inputs()
    other = in_other_order(case.kind).init(0, case.sizes).replace(layer.parameters)
    assert other.notation != layer.notation
    assert nt.allclose(other(*given), layer(*given))


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("goal", stacking.GOALS)
def test_stacked_and_separate_layers_are_measured(goal):
    pytest.importorskip("jax")
    small = {"vocab": 7, "chans": 8, "hidden": 16, "heads": 2, "key": 4, "val": 4, "place": 64}
    for is_stacked in (True, False):
        figures = stacking.measured(goal, is_stacked, 8, small)
        assert figures.keys() == stacking.TITLES.keys() and min(figures.values()) > 0


def test_chains_are_measured_beside_numpy():
    rows = chains.rows((10**4,))
    assert len(rows) == len(chains.DTYPES) * (len(chains.CHAINS) + 1)
    assert all(row["value"] > 0 and (row["bar"] is None) == ("control" in row["figure"]) for row in rows)


def test_small_attention_is_measured_alone_and_on_each_core(monkeypatch):
    monkeypatch.setattr(small, "SIZES", ((2, 6, 4), (1, 5, 3)))
    monkeypatch.setattr(small, "STATES", {"call after call": (0.0, 4), "after a rest": (0.001, 4)})
    monkeypatch.setattr(small, "in_processes", lambda at_once, count: [small.ratios() for _ in range(count)])
    rows = small.rows(2)
    assert len({row["figure"] for row in rows}) == len(rows) == 2 * 2 * 2 * 2
    assert all(row["value"] > 0 and (row["bar"] is None) == ("control" in row["figure"]) for row in rows)
