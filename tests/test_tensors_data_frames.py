"""Data frames and series of pandas and polars as tensors, and tensors as these."""

import importlib

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError


def error_of(action):
    with pytest.raises(NotationError) as raised:
        action()
    return raised.value.code, raised.value.message, raised.value.hint


# ----------------------------------------------------------------------------------------------------------------- pandas
def test_the_levels_of_a_pandas_index_become_axes_in_the_order_of_their_labels():
    pandas = pytest.importorskip("pandas")
    index = pandas.MultiIndex.from_tuples([("b", 2), ("a", 1), ("b", 1), ("a", 2)], names=["city", "day"])
    series = nt.tensor(pandas.Series([1, 2, 3, 4], index=index))
    assert series.axes == ("city", "day") and series.array.tolist() == [[2, 4], [3, 1]]
    assert series.labels == {"city": ["a", "b"], "day": [1, 2]}
    frame = pandas.DataFrame([[1, 2], [3, 4], [5, 6], [7, 8]], index=index, columns=["low", "high"])
    value = nt.from_pandas(frame, "town day kind")
    assert value.array.tolist() == [[[3, 4], [7, 8]], [[5, 6], [1, 2]]] and value.labels["kind"] == ["low", "high"]


@pytest.mark.parametrize(
    "rows", [[("a", 1), ("b", 2)], [("a", 1), ("a", 2), ("b", 1), ("b", 1)], [("a", 1), ("a", 2), ("b", 1), (None, 2)]]
)
def test_each_combination_of_levels_of_a_pandas_index_must_occur_once(rows):
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(range(len(rows)), index=pandas.MultiIndex.from_tuples(rows, names=["city", "day"]))
    assert error_of(lambda: nt.tensor(series)) == (
        317,
        f"the MultiIndex of city, day has {len(rows)} rows for 4 combinations, and each must occur once",
        "fill in the missing ones: data.unstack().stack(future_stack=True), or drop duplicates",
    )


def test_columns_of_several_pandas_dtypes_come_back_as_they_were():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"count": [1, 2], "share": [0.5, 0.25], "is_open": [True, False]})
    frame = frame.rename_axis(index="shop", columns="what")
    value = nt.tensor(frame)
    assert value.array.tolist() == [[1, 0.5, 1], [2, 0.25, 0]] and value.dtype == np.float64
    pandas.testing.assert_frame_equal(value.to_pandas("shop what"), frame)
    assert value.to_pandas("what shop").loc["share"].tolist() == [0.5, 0.25]


def test_a_pandas_series_with_missing_values_keeps_its_name_and_its_dtype():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1, None, 3], dtype="Int64", name="amount").rename_axis("day")
    value = nt.tensor(series)
    np.testing.assert_array_equal(value.to_numpy(), [1, np.nan, 3])
    back = value.to_pandas()
    assert back.name == "amount" and back.index.name == "day" and back.dtype == "Int64"
    assert back.isna().tolist() == [False, True, False]


def test_an_index_of_pandas_is_an_array():
    pandas = pytest.importorskip("pandas")
    value = nt.tensor(pandas.Index([3, 1]), "day")
    assert value.axes == ("day",) and value.tolist() == [3, 1] and value.labels == {}


def test_what_is_no_table_of_pandas_has_its_error():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"name": ["a", "b"], "low": [1, 2], "note": ["c", "d"]})
    code, message, hint = error_of(lambda: nt.from_pandas(frame[["name", "note"]], "row column"))
    assert code == 317 and message.startswith("columns name, note hold no numbers (")
    assert hint == "convert one to numbers first"
    code, message, hint = error_of(lambda: nt.from_pandas(frame["name"], "row"))
    assert message.startswith("the Series holds no numbers (") and hint == "convert it to numbers first"
    assert error_of(lambda: nt.from_pandas(frame[["low"]], "row")) == (
        316, "the DataFrame has 2 axes, but 1 name was given", 'name its index, then its columns: nt.from_pandas(data, "day city")',
    )  # fmt: skip
    assert error_of(lambda: nt.from_pandas(frame["low"])) == (
        317, "the index of the Series has no name for an axis",
        'name them: nt.from_pandas(data, "day"), or data.rename_axis(…) in pandas',
    )  # fmt: skip
    assert error_of(lambda: nt.from_pandas(frame[["low"]].rename_axis("row")))[1] == (
        "the columns of the DataFrame have no name for an axis"
    )


@pytest.mark.parametrize(
    ("tensor", "hint"),
    [
        (nt.tensor(3, ()), "write A.item()"),
        (nt.tensor([[[3]]], "a b c"), "take one element or merge axes first; or write A.to_xarray()"),
    ],
)
def test_a_table_of_pandas_has_one_axis_or_two(tensor, hint):
    pytest.importorskip("pandas")
    assert error_of(tensor.to_pandas) == (318, f"a table of pandas has one axis or two, not {tensor.shape}", hint)


# ----------------------------------------------------------------------------------------------------------------- polars
def test_a_first_column_of_words_in_polars_becomes_the_labels_of_the_rows():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"city": ["Oslo", "Rome"], "low": [3, 1], "high": [5, 7]})
    value = nt.from_polars(frame, "city kind")
    assert value.array.tolist() == [[3, 5], [1, 7]]
    assert value.labels == {"city": ["Oslo", "Rome"], "kind": ["low", "high"]}
    flags = nt.tensor(polars.DataFrame({"a": [True, False], "b": [False, False]}), "row column")
    assert flags.array.tolist() == [[True, False], [False, False]] and flags.labels == {"column": ["a", "b"]}


def test_a_polars_series_keeps_its_name():
    polars = pytest.importorskip("polars")
    value = nt.tensor(polars.Series("amount", [1.5, 2.5]), "day")
    assert value.tolist() == [1.5, 2.5] and value.axes == ("day",)
    pytest.importorskip("pandas")
    assert value.to_pandas().name == "amount"


def test_what_is_no_table_of_polars_has_its_error():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"low": [3, 1], "city": ["Oslo", "Rome"]})
    assert error_of(lambda: nt.from_polars(polars.Series("low", [3]))) == (
        317, "the Series has no name for its axis", 'write nt.from_polars(data, "day")',
    )  # fmt: skip
    hint = 'name rows and columns: nt.from_polars(data, "day city")'
    assert error_of(lambda: nt.from_polars(frame)) == (317, "a DataFrame of polars has no names of axes", hint)
    assert error_of(lambda: nt.from_polars(frame, "a")) == (316, "the DataFrame has 2 axes, but 1 name was given", hint)
    assert error_of(lambda: nt.from_polars(frame, "a b c"))[1] == "the DataFrame has 2 axes, but 3 names were given"
    assert error_of(lambda: nt.from_polars(frame[["city"]], "a b")) == (
        317, "no column of the DataFrame holds numbers", "convert one to numbers first",
    )  # fmt: skip


MIXED = {"low": [3, 1], "city": ["Oslo", "Rome"], "high": [5.0, 9.0], "note": ["wet", "dry"]}
LIBRARIES = {"parquet": ["pyarrow"], "polars": ["polars"]}


def read_mixed(tmp_path, source):
    """Read the table of `MIXED` in one of the ways."""
    frame = importlib.import_module("pandas").DataFrame(MIXED)
    if source == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False)
        return nt.load_tensor(tmp_path / "t.csv", "row kind")
    if source == "parquet":
        frame.to_parquet(tmp_path / "t.parquet")
        return nt.load_tensor(tmp_path / "t.parquet", "row kind")
    if source == "polars":
        return nt.from_polars(importlib.import_module("polars").DataFrame(MIXED), "row kind")
    return nt.from_pandas(frame, "row kind") if source == "pandas" else nt.tensor(frame, "row kind")


@pytest.mark.parametrize("source", ["csv", "parquet", "pandas", "polars", "tensor"])
def test_a_column_of_words_labels_the_rows_and_the_others_are_left_out_with_a_warning(tmp_path, source):
    for library in ("pandas", *LIBRARIES.get(source, ())):
        pytest.importorskip(library)
    with pytest.warns(nt.NotationWarning, match="left out note: no numbers there") as caught:
        table = read_mixed(tmp_path, source)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert table.to_array("row kind").tolist() == [[3, 5], [1, 9]]
    assert table.labels == {"row": ["Oslo", "Rome"], "kind": ["low", "high"]}


def test_a_tensor_as_a_table_of_polars_has_its_labels_in_the_first_column():
    polars = pytest.importorskip("polars")
    value = nt.tensor([[3, 5], [1, 7]], "city kind").with_labels(city=["Oslo", "Rome"])
    expected = polars.DataFrame({"city": ["Oslo", "Rome"], "kind(1)": [3, 1], "kind(2)": [5, 7]})
    assert value.to_polars("city kind").equals(expected)
    assert value.to_polars("kind city").to_dict(as_series=False) == {"Oslo": [3, 5], "Rome": [1, 7]}
    assert nt.tensor([3, 1], "day").to_polars().to_dict(as_series=False) == {"value": [3, 1]}
    assert error_of(nt.tensor([[[3]]], "a b c").to_polars) == (
        318, "a table of polars has one axis or two, not ℝ^{a[1] × b[1] × c[1]}", "take one element or merge axes first",
    )  # fmt: skip
