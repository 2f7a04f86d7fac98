"""One tensor in a file of each format: there and back, from Python and in commands; what is missing or wrong is a sentence."""

import sys

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.cli import main

LABELS = {"city": ["Oslo", "Rome", "Kyiv, old"], "day": ["Mon", "Tue"]}
A = nt.tensor([[3.0, 1.0], [4.0, np.nan], [6.5, 7.0]], "city day", labels=LABELS)
FORMATS = {  # the packages that a format needs, whether it keeps axes and labels
    ".json": ((), True, True),
    ".csv": ((), False, True),
    ".npy": ((), False, False),
    ".npz": ((), True, False),
    ".parquet": (("pandas", "pyarrow"), True, True),
    ".nc": (("xarray", "h5netcdf"), True, True),
    ".zarr": (("xarray", "zarr"), True, True),
}


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_tensor_is_saved_and_loaded(tmp_path, capsys, suffix):
    packages, keeps_axes, keeps_labels = FORMATS[suffix]
    for package in packages:
        pytest.importorskip(package)
    path = tmp_path / f"a{suffix}"
    nt.save_tensor(path, A)
    loaded = nt.load_tensor(path, None if keeps_axes else "city day")
    assert nt.allclose(loaded, A) and loaded.labels == (LABELS if keeps_labels else {})
    given = f"A={path}" + ("" if keeps_axes else ":city,day")
    assert main(["eval", "A_{day(1)}", given]) == 0
    assert capsys.readouterr().out == f"{loaded[{'day': 0}]}\n"
    out = tmp_path / f"b{suffix}"
    assert main(["eval", "2 A", given, "--out", str(out)]) == 0
    assert nt.allclose(nt.load_tensor(out, None if keeps_axes else "city day"), 2 * A)


@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet", ".nc", ".zarr"])
def test_one_axis_is_saved_and_loaded(tmp_path, suffix):
    for package in FORMATS[suffix][0]:
        pytest.importorskip(package)
    row = A[{"day": 0}]
    nt.save_tensor(tmp_path / f"a{suffix}", row)
    loaded = nt.load_tensor(tmp_path / f"a{suffix}", "city")
    assert nt.allclose(loaded, row) and loaded.labels == {"city": LABELS["city"]}


def test_a_column_and_a_variable_are_chosen_by_name(tmp_path):
    (tmp_path / "t.csv").write_text("name,x,y\nann,1,2\nbob,3,4\n", encoding="utf-8")
    y = nt.load_tensor(tmp_path / "t.csv", "person", member="y")
    assert y.tolist() == [2, 4] and y.labels == {"person": ["ann", "bob"]}
    assert nt.load_tensor(tmp_path / "t.csv", "row column", header=True).labels["column"] == ["x", "y"]
    np.savez(tmp_path / "t.npz", a=np.ones(2), b=np.zeros(3))
    assert nt.load_tensor(tmp_path / "t.npz", "k", member="b").sizes == {"k": 3}


def test_coordinates_of_a_file_are_labels(tmp_path):
    xarray = pytest.importorskip("xarray")
    days = np.array(["2024-01-01", "2024-01-02"], "datetime64[ns]")
    data = {"low": (("day", "city"), [[1.0, 2.0], [3.0, 4.0]]), "high": (("day", "city"), [[5.0, 6.0], [7.0, 8.0]])}
    xarray.Dataset(data, coords={"day": days, "city": ["Oslo", "Rome"]}).to_netcdf(tmp_path / "t.nc", engine="scipy")
    high = nt.load_tensor(tmp_path / "t.nc", member="high")
    assert high.sel(day="2024-01-02", city="Rome").item() == 8.0
    with pytest.raises(nt.NotationError, match=r"holds 2 variables \(low, high\)"):
        nt.load_tensor(tmp_path / "t.nc")


def test_columns_of_words_in_parquet_are_labels_or_left_out(tmp_path, capsys):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    frame = pandas.DataFrame({"x": [1, 2], "name": ["ann", "bob"], "y": [3, 4], "note": ["a", "b"]})
    frame.to_parquet(path)
    table = nt.load_tensor(path, "person what")
    assert table.array.tolist() == [[1, 3], [2, 4]] and table.labels == {"person": ["ann", "bob"], "what": ["x", "y"]}
    column = nt.load_tensor(path, "person", member="y")
    assert column.tolist() == [3, 4] and column.labels == {"person": ["ann", "bob"]}
    with pytest.raises(nt.NotationError, match=r"has no column z; it has x, y"):
        nt.load_tensor(path, member="z")
    assert main(["eval", "∑_{what} A", f"A={path}:person,what"]) == 0
    assert "left out note: no numbers there" in capsys.readouterr().err
    frame.rename_axis("row").set_index(pandas.Index(["p", "q"], name="row")).to_parquet(path)
    table = nt.load_tensor(path, "person what")
    assert table.labels == {"person": ["p", "q"], "what": ["x", "y"]} and table.array.tolist() == [[1, 3], [2, 4]]


def test_a_store_of_zarr_is_not_written_over(tmp_path):
    pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    path = tmp_path / "a.zarr"
    nt.save_tensor(path, A)
    with pytest.raises(nt.NotationError, match="there is .*a.zarr already; remove it first, or write another folder"):
        nt.save_tensor(path, 2 * A)
    assert nt.allclose(nt.load_tensor(path), A)


def test_integers_beyond_64_bits_are_floats(tmp_path):
    (tmp_path / "x.json").write_text(f"[{2**70}, 1, {-(10**400)}]", encoding="utf-8")
    assert nt.load_tensor(tmp_path / "x.json", "a").tolist() == [2.0**70, 1.0, -np.inf]


WRONG = [
    ("x.nc", "hello", "is not a NetCDF file, although it is named .nc"),
    ("x.parquet", "hello", "is not a Parquet file, although it is named .parquet"),
    ("x.npy", "hello", "is not a NumPy file"),
    ("x.txt", "hello", "ends in no suffix of a tensor file"),
    ("x.csv", "a,b\n1,2\n3,oops\n", "line 3, b: 'oops' is not a number"),
    ("x.csv", "1,2\n3,4\n", "has 2 axes without names (2 × 2)"),
    ("x.json", "[1, [2]]", "the rows of"),
    ("x.json", "{", "is not valid JSON"),
]


@pytest.mark.parametrize("name, text, message", WRONG)
def test_a_wrong_file_is_said_in_a_sentence(tmp_path, name, text, message):
    if name.endswith((".nc", ".parquet")):
        pytest.importorskip("xarray" if name.endswith(".nc") else "pyarrow")
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(nt.NotationError) as raised:
        nt.load_tensor(tmp_path / name)
    assert message in str(raised.value)


def test_arrays_of_other_kinds_than_numbers_are_said(tmp_path):
    np.save(tmp_path / "words.npy", np.array(["a", "b"]))
    np.save(tmp_path / "single.npy", np.array([1, 2]))
    (tmp_path / "single.npy").rename(tmp_path / "single.npz")
    np.save(tmp_path / "one.npy", np.array([1, 2]))
    for name, member, message in (
        ("words.npy", None, "holds values of type <U1, which are not real numbers"),
        ("single.npz", None, "is not an archive of arrays, although it is named .npz"),
        ("one.npy", "x", "holds one tensor; leave x out"),
    ):
        with pytest.raises(nt.NotationError, match=message):
            nt.load_tensor(tmp_path / name, "a", member=member)
    with pytest.raises(nt.NotationError, match="has 1 axis, but 2 names were given"):
        nt.load_tensor(tmp_path / "one.npy", "a b")


def test_what_cannot_be_loaded_or_saved_is_said(tmp_path):
    pytest.importorskip("pyarrow")
    for run, message in (
        (lambda: nt.save_tensor(tmp_path / "a.parquet", nt.tensor(3)), "a table has one axis or two"),
        (lambda: nt.load_tensor(tmp_path / "no.csv"), "there is no file"),
        (lambda: nt.load_tensor(tmp_path / "no.zarr"), "there is no folder"),
        (lambda: nt.save_tensor(tmp_path / "a.xyz", A), "a result is written to a file that ends in"),
        (lambda: nt.save_tensor(tmp_path / "a.csv", {"A": A}), "save_tensors"),
        (lambda: nt.save_tensor(tmp_path / "a.csv", nt.tensor(np.zeros((1, 1, 1)), "a b c")), "two axes at most"),
        (lambda: nt.load_tensor(3), "the path of a file"),
    ):
        with pytest.raises(nt.NotationError) as raised:
            run()
        assert message in str(raised.value)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "suffix, missing, message",
    [
        (".parquet", ["pyarrow", "fastparquet"], "needs pyarrow; write pip install pyarrow"),
        (".parquet", ["pandas"], "needs pandas; write pip install pandas"),
        (".nc", ["xarray"], "needs xarray; write pip install xarray"),
        (".zarr", ["xarray", "zarr"], "needs xarray and zarr; write pip install xarray zarr"),
    ],
)
def test_a_missing_package_is_named(tmp_path, monkeypatch, suffix, missing, message):
    from namedtensor.files import data_files

    there = {"pandas", "pyarrow", "xarray", "zarr", "scipy", "h5netcdf"} - {*missing}
    monkeypatch.setattr(data_files, "find_spec", lambda name: name in there or None)
    with pytest.raises(nt.NotationError, match=message):
        nt.save_tensor(tmp_path / f"a{suffix}", A)


def test_importing_the_package_loads_no_library_of_tables():
    import subprocess

    code = "import sys, namedtensor as nt; nt.tensor([1], 'a') + 1; print([m for m in ('pandas', 'xarray', 'polars') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "[]\n", run.stderr
