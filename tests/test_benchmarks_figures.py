"""A file of figures of which some are measured anew."""

from __future__ import annotations

from benchmarks.__main__ import renewed


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
