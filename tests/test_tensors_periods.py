"""Partial dates: `sel` selects the period, like pandas and xarray."""

import datetime

import numpy as np
import pytest

import namedtensor as nt

DAYS = np.arange("2024-01-30", "2024-04-04", dtype="M8[D]")
HOURS = np.arange("2024-01-30T00", "2024-02-03T00", dtype="M8[h]")
BUSINESS = DAYS[np.is_busday(DAYS)]


def label_by_position(dates):
    return nt.tensor(np.arange(len(dates)), "time").with_labels(time=dates)


def count_within(dates, first, last):
    """Return the positions from one date to another, both included."""
    return np.flatnonzero((dates >= np.datetime64(first)) & (dates <= np.datetime64(last))).tolist()


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
@pytest.mark.parametrize(("selection", "first", "last"), [
    ("2024-03", "2024-03-01", "2024-03-31"), ("2024", "2024-01-01", "2024-12-31"),
    (slice("2024-02", "2024-03"), "2024-02-01", "2024-03-31"), (slice("2023", "2024-02"), "2023-01-01", "2024-02-29"),
    (slice("2024-03-30", None), "2024-03-30", "2030-01-01"), (slice(None, "2024-02-01"), "2000-01-01", "2024-02-01"),
    (slice("2024-03-30", "2030"), "2024-03-30", "2030-12-31"), (slice("2025", "2026"), "2025-01-01", "2026-12-31"),
])  # fmt: skip
@pytest.mark.parametrize("dates", [DAYS, BUSINESS], ids=["days", "business days"])
def test_a_partial_date_is_its_period(dates, unit, selection, first, last):
    tensor = label_by_position(dates.astype(f"M8[{unit}]"))
    expected = count_within(dates, first, last)
    for matches in (tensor.sel(time=selection), tensor[{"time": selection}]):
        assert matches.axes == ("time",) and matches.tolist() == expected
        assert [np.datetime64(date, "D") for date in matches.labels["time"]] == [*dates[expected]]


@pytest.mark.parametrize(
    "selection", ["2024-03", "2024", slice("2024-02", None), slice("2024-02-10", "2024-03"), "2024-02-29"]
)
@pytest.mark.parametrize("kind", ["date", "datetime"])
def test_a_partial_date_among_dates_of_python_is_its_period(kind, selection):
    days = label_by_position(DAYS)
    python = label_by_position(DAYS.astype("M8[D]" if kind == "date" else "M8[us]").astype(object))
    assert type(python.labels["time"][0]) is getattr(datetime, kind)
    assert python.sel(time=selection).tolist() == days.sel(time=selection).tolist()
    if selection == "2024-03":
        with pytest.raises(nt.NotationError, match="is a period, but a list contains single labels"):
            python.sel(time=[selection])


def test_dates_with_time_zones_have_no_periods():
    zoned = [datetime.datetime(2024, 3, day, tzinfo=datetime.UTC) for day in (1, 2)]
    with pytest.raises(nt.NotationError, match="no label '2024-03'"):
        label_by_position(zoned).sel(time="2024-03")


@pytest.mark.parametrize(("selection", "expected"), [
    ("2024-02", list(range(48, 96))), ("2024-02-01", list(range(48, 72))), ("2024-02-01T05", 53), ("2024-02-01 05:00", 53),
    (slice("2024-02-01", "2024-02-01T02"), [48, 49, 50]),
])  # fmt: skip
def test_a_date_among_hours_is_a_period_and_an_hour_is_a_label(selection, expected):
    assert label_by_position(HOURS).sel(time=selection).tolist() == expected


@pytest.mark.parametrize("unit", ["M", "Y"])
def test_a_date_of_the_unit_of_the_labels_is_a_label(unit):
    dates = np.array(["2023", "2024", "2025"], dtype=f"M8[{unit}]")
    assert label_by_position(dates).sel(time=str(dates[1])).tolist() == 1


@pytest.mark.parametrize("selection", ["2025", "2023-13", "2024-02-30", "March", ["2024-03"], slice("March", None)])
def test_a_date_without_labels_is_an_error(selection):
    with pytest.raises(nt.NotationError) as raised:
        label_by_position(DAYS).sel(time=selection)
    assert raised.value.code == 401 and raised.value.hint


@pytest.mark.parametrize("selection", [
    "2024-02-01T05", datetime.datetime(2024, 2, 1, 5), np.datetime64("2024-02-01T05"), True, 19789, "now",
])  # fmt: skip
@pytest.mark.parametrize("unit", ["D", "s"])
def test_a_time_between_days_is_no_day(selection, unit):
    with pytest.raises(nt.NotationError, match="has no label"):
        label_by_position(DAYS.astype(f"M8[{unit}]")).sel(time=selection)


@pytest.mark.parametrize(
    "selection", ["2024-02-01T00", datetime.date(2024, 2, 1), datetime.datetime(2024, 2, 1), np.datetime64("2024-02")]
)
def test_a_day_is_selected_in_any_unit(selection):
    assert label_by_position(DAYS).sel(time=selection).tolist() == 2


def test_dates_out_of_order_have_periods_but_no_slices():
    tensor = label_by_position(DAYS[::-1])
    assert tensor.sel(time="2024-04").tolist() == [0, 1, 2]
    with pytest.raises(nt.NotationError, match="not in order") as raised:
        tensor.sel(time=slice("2024-02", None))
    ordered = sort_as_hinted(tensor)
    assert raised.value.code == 401 and ordered.sel(time=slice("2024-04", None)).tolist() == [2, 1, 0]


def sort_as_hinted(tensor):
    """Return the tensor as the hint of the error says."""
    return tensor[{"time": sorted(tensor.labels["time"])}]


def test_words_are_no_dates():
    tensor = nt.tensor([1, 2], "year").with_labels(year=["2024-03", "2024-04"])
    assert tensor.sel(year="2024-03").tolist() == 1
    with pytest.raises(nt.NotationError):
        tensor.sel(year="2024")


def test_selections_equal_those_of_xarray():
    xarray = pytest.importorskip("xarray")
    for dates in (DAYS, HOURS):
        values = np.arange(len(dates), dtype=float)
        array = xarray.DataArray(values, dims="time", coords={"time": dates.astype("M8[ns]")})
        tensor = nt.tensor(array)
        for selection in ("2024-02", "2024", "2024-02-01", slice("2024-02", "2024-02-02"), slice(None, "2024-01")):
            np.testing.assert_array_equal(tensor.sel(time=selection).to_numpy(), array.sel(time=selection).values)
