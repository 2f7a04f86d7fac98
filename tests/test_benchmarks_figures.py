"""A file of figures of which some are measured anew."""

from __future__ import annotations

from benchmarks.__main__ import renewed
from benchmarks.plot import lengths, small


def test_figures_measured_anew_take_the_places_of_earlier_ones():
    """Those of works that were not measured stay; of a work that was, none that it has no more."""
    earlier = [
        {"figure": "a", "unit": "ms", "value": 1},
        {"figure": "b: x", "unit": "× y", "work": "b", "value": 2},
        {"figure": "b: x", "unit": "× z", "work": "b", "value": 3},
        {"figure": "c: x", "unit": "× y", "work": "c", "value": 4},
    ]
    rows = [{"figure": "d", "unit": "ms", "value": 5}, {"figure": "b: x", "unit": "× y", "work": "b", "value": 6}]
    assert [row["value"] for row in renewed(earlier, rows)] == [1, 6, 4, 5]


def test_new_lengths_stand_in_a_table_of_their_own_on_the_page():
    rows = [
        {"figure": f"{what}: {model}", "unit": unit, "value": value, "bar": None, "of_lengths": [model, what]}
        for model in ("A", "B")
        for what, unit, value in (("first length", "ms", 30.0), ("1,000 lengths", "MB", 131.2))
    ]
    report = {"rows": rows, "left_out": []}
    assert lengths(report).splitlines() == [
        "| model | first length, ms | 1,000 lengths, MB |", "| --- | --- | --- |", "| A | 30 | 131 |", "| B | 30 | 131 |",
    ]  # fmt: skip
    assert "131" not in small(report) and not lengths({"rows": []})
