"""Files that are replaced or changed while they are read: one version or the other, or an error, and never a mixture."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.files import formats

NAMES = tuple("abcdefgh")


def save_constant(path, value, size=1000):
    nt.save_tensors(path, {name: nt.tensor(np.full(size, float(value)), "i") for name in NAMES})


def values_in(tensors):
    return {float(value) for tensor in tensors.values() for value in np.unique(tensor.to_array())}


@pytest.fixture
def checkpoint(tmp_path):
    path = tmp_path / "weights.safetensors"
    save_constant(path, 1)
    return path


def test_an_open_file_stays_the_version_that_was_opened(checkpoint):
    file = nt.TensorFile(checkpoint)
    first = file["a"]
    nt.save_tensors(checkpoint, {name: nt.tensor(np.full(7, 2.0), "j") for name in NAMES})
    assert {float(value) for name in file for value in file[name]} == {1.0}
    assert first.shape == file["b"].shape == file.shape("h") == (1000,)
    assert values_in(nt.load_tensors(checkpoint)) == {2.0}


def test_loaded_tensors_stay_the_version_that_was_loaded(checkpoint):
    tensors = nt.load_tensors(checkpoint)
    save_constant(checkpoint, 2)
    checkpoint.unlink()
    assert values_in(tensors) == {1.0}


def test_loads_beside_writers_return_one_version(checkpoint):
    is_done = threading.Event()

    def write(start):
        value = start
        while not is_done.is_set():
            save_constant(checkpoint, value, 10)
            value += 2

    writers = [threading.Thread(target=write, args=(start,)) for start in (2, 3)]
    for writer in writers:
        writer.start()
    try:
        assert all(len(values_in(nt.load_tensors(checkpoint))) == 1 for _ in range(150))
    finally:
        is_done.set()
        for writer in writers:
            writer.join()


def test_a_layer_is_loaded_from_one_version(tmp_path, monkeypatch):
    class Scaled(nt.layers.Layer):
        notation = "Scaled : ℝ^{a} → ℝ^{a}\nw ∈ ℝ^{a}\nScaled(x) = w ⊙ x"

    path = tmp_path / "layer.safetensors"
    Scaled.init(sizes={"a": 2}).save(path)
    old = nt.TensorFile(path)["w"].copy()
    other = tmp_path / "other.safetensors"
    Scaled.init(sizes={"a": 5}).save(other)
    opened = nt.TensorFile.__init__

    def open_and_replace(self, name):
        opened(self, name)
        if other.exists():
            os.replace(other, path)

    monkeypatch.setattr(nt.TensorFile, "__init__", open_and_replace)
    layer = Scaled.load(path)
    assert np.array_equal(layer.parameters["w"].to_array(), old)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not list open files")
@pytest.mark.usefixtures("freeze_objects")
def test_open_files_are_bounded(tmp_path):
    path = tmp_path / "many.safetensors"
    nt.save_tensors(path, {f"w{number}": nt.tensor(np.full(3, float(number)), "i") for number in range(300)})
    before = len(os.listdir("/proc/self/fd"))
    tensors = nt.load_tensors(path)
    assert len(os.listdir("/proc/self/fd")) <= before + 2
    for _ in range(50):
        nt.load_tensors(path)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before + 2
    assert float(tensors["w299"].to_array()[0]) == 299
    del tensors
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.parametrize("change", ["truncate", "overwrite", "grow"])
def test_a_file_that_is_changed_in_place_is_refused(checkpoint, change):
    file = nt.TensorFile(checkpoint)
    assert file["a"][0] == 1
    whole = checkpoint.read_bytes()
    new = {"truncate": whole[:-100], "overwrite": whole[:-8] + b"\0" * 8, "grow": whole + b"\0" * 8}[change]
    with checkpoint.open("r+b") as handle:
        handle.write(new)
        handle.truncate(len(new))
    os.utime(checkpoint, ns=(0, 0))  # The clock of a file system may be too coarse for a test.
    with pytest.raises(nt.NotationError, match=r"409.*was changed in place after it was opened[\s\S]*open it again"):
        file["b"]
    if change != "overwrite":
        with pytest.raises(nt.NotationError, match="cut short|belong to no tensor"):
            nt.load_tensors(checkpoint)


@pytest.mark.parametrize("copy_file", [copy.copy, copy.deepcopy, lambda file: pickle.loads(pickle.dumps(file))])
@pytest.mark.usefixtures("freeze_objects")
def test_a_copy_of_an_open_file_reads_after_the_original_is_gone(checkpoint, copy_file):
    file = nt.TensorFile(checkpoint)
    other = copy_file(file)
    del file
    gc.collect()
    assert other["c"][0] == 1 and list(other) == list(NAMES)


def test_a_large_table_is_one_version(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    path, other = tmp_path / "table.csv", tmp_path / "other.csv"
    rows = 200_000
    path.write_text("a,b\n" + "1.5,2\n" * rows)
    other.write_text("c,d\n" + "3.5,4\n" * rows)
    read_csv = pandas.read_csv

    def replace_and_read(*arguments, **options):
        os.replace(other, path)
        return read_csv(*arguments, **options)

    monkeypatch.setattr(pandas, "read_csv", replace_and_read)
    tensor = nt.load_tensor(path, "row column")
    assert tensor.sizes == {"row": rows, "column": 2}
    assert tensor[{"column": "a"}].to_array().max() == 1.5 and tensor[{"column": "b"}].to_array().min() == 2


@pytest.mark.parametrize("change", ["replaced", "written", "extended"])
def test_a_zarr_store_that_changes_is_read_again_or_refused(tmp_path, monkeypatch, change):
    pytest.importorskip("zarr")
    xarray = pytest.importorskip("xarray")
    path, other = tmp_path / "x.zarr", tmp_path / "y.zarr"
    nt.save_tensor(path, nt.tensor(np.ones((4, 3)), "a b"))
    nt.save_tensor(other, nt.tensor(np.zeros((4, 3)), "a b"))
    open_zarr, calls = xarray.open_zarr, []

    def open_and_change(*arguments, **options):
        dataset = open_zarr(*arguments, **options)
        calls.append(change)
        if change == "written":
            chunk = path / "value" / "c" / "0" / "0"
            chunk.write_bytes(chunk.read_bytes())
            os.utime(chunk, ns=(0, len(calls)))
        elif change == "extended":
            (path / "value" / "c" / f"new{len(calls)}").touch()
        elif other.exists():
            path.rename(tmp_path / "old.zarr")
            other.rename(path)
        return dataset

    assert nt.load_tensor(path).array.sum() == 12
    monkeypatch.setattr(xarray, "open_zarr", open_and_change)
    if change == "replaced":
        assert nt.load_tensor(path).array.sum() == 0 and len(calls) == 2
        return
    with pytest.raises(nt.NotationError, match=r"409.*x\.zarr was changed while it was read[\s\S]*read it again"):
        nt.load_tensor(path)


def test_a_table_is_one_version_with_the_names_of_its_columns(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path, other = tmp_path / "x.parquet", tmp_path / "y.parquet"
    for file, value, columns in ((path, 1.5, ["a", "b"]), (other, 2.5, ["c", "d"])):
        pandas.DataFrame(np.full((3, 2), value), columns=columns).to_parquet(file)
    read = pandas.read_parquet

    def replace_and_read(file, **options):
        os.replace(other, path)
        return read(file, **options)

    monkeypatch.setattr(pandas, "read_parquet", replace_and_read)
    tensor = nt.load_tensor(path, "row column")
    assert tensor.labels["column"] == ["a", "b"] and (tensor.to_array("row column") == 1.5).all()


def test_a_zarr_store_with_broken_data_cannot_be_read(tmp_path):
    pytest.importorskip("zarr")
    pytest.importorskip("xarray")
    path = tmp_path / "x.zarr"
    nt.save_tensor(path, nt.tensor(np.ones((4, 3)), "a b"))
    (path / "value" / "c" / "0" / "0").write_bytes(b"broken")
    with pytest.raises(nt.NotationError, match=r"x\.zarr cannot be read"):
        nt.load_tensor(path)


AXES = {".npy": "a b", ".csv": "a b", ".tsv": "a b", ".parquet": "a b"}


def save_version(path, value, size=300):
    """Save a constant; a format that is only read has another program's file."""
    if path.suffix == ".safetensors":
        nt.save_tensors(path, {"x": nt.tensor(np.full((size, 4), value), "a b")})
    elif path.suffix == ".tsv":
        path.write_text("p\tq\tr\ts\n" + f"{value}\t{value}\t{value}\t{value}\n" * size)
    else:
        nt.save_tensor(path, nt.tensor(np.full((size, 4), value), "a b"))


@pytest.mark.parametrize("change", ["replaced", "overwritten", "overwritten each time"])
@pytest.mark.parametrize("suffix", [suffix for suffix in formats.FORMATS if suffix != ".zarr"])
def test_a_file_of_any_format_is_one_version(tmp_path, monkeypatch, suffix, change):
    path, other = tmp_path / f"x{suffix}", tmp_path / f"y{suffix}"
    try:
        save_version(path, 1.5)
        save_version(other, 2.5, 200)
    except nt.NotationError as problem:
        pytest.skip(problem.message)
    new, calls = other.read_bytes(), []
    row = formats.FORMATS[suffix]

    def read_and_change(*arguments):
        contents = row.read(*arguments)
        calls.append(change)
        if change == "replaced" and other.exists():
            os.replace(other, path)
        elif change == "overwritten each time" or change == "overwritten" and len(calls) == 1:
            path.write_bytes(new)
            os.utime(path, ns=(0, len(calls)))
        return contents

    if suffix in (".csv", ".tsv"):
        monkeypatch.setattr(formats, "read_csv", lambda *arguments, header: read_and_change(*arguments))
        monkeypatch.setitem(formats.FORMATS, suffix, row._replace(read=formats.read_csv))
    else:
        monkeypatch.setitem(formats.FORMATS, suffix, row._replace(read=read_and_change))
    if change == "overwritten each time":
        with pytest.raises(nt.NotationError, match=r"409.* was changed while it was read[\s\S]*read it again"):
            nt.load_tensor(path, AXES.get(suffix))
        return
    value = nt.load_tensor(path, AXES.get(suffix)).to_array(("a", "b"))
    assert value.tolist() == np.full((300, 4), 1.5).tolist() if change == "replaced" else (value == 2.5).all()
    assert len(calls) == (1 if change == "replaced" else 2)


def test_a_file_that_is_cut_short_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    path = tmp_path / "x.npy"
    save_version(path, 1.5)
    whole, load = path.read_bytes(), np.load

    def cut_and_load(*arguments, **options):
        monkeypatch.setattr(np, "load", load)
        path.write_bytes(whole[:200])
        try:
            return load(*arguments, **options)
        finally:
            path.write_bytes(whole)
            os.utime(path, ns=(0, 0))

    monkeypatch.setattr(np, "load", cut_and_load)
    assert (nt.load_tensor(path, "a b").to_array("a b") == 1.5).all()


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".json", ".parquet", ".nc", ".zarr"])
def test_files_that_another_process_replaces_are_one_version(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    try:
        for value in (1.5, 2.5):
            save_version(tmp_path / f"{value}{suffix}", value)
    except nt.NotationError as problem:
        pytest.skip(problem.message)
    writer = subprocess.Popen([sys.executable, "-c", REPLACE, str(path), f"1.5{suffix}", f"2.5{suffix}"], cwd=tmp_path)
    try:
        seen, begin = set(), time.monotonic()
        while time.monotonic() < begin + 2 or len(seen) < 2 and time.monotonic() < begin + 60:
            try:
                value = nt.load_tensor(path, AXES.get(suffix)).to_array("a b")
            except nt.NotationError as problem:  # a folder has no name between two renames
                assert problem.code == 409
                continue
            assert value.shape == (300, 4) and len(np.unique(value)) == 1
            seen.add(float(value.flat[0]))
        assert seen == {1.5, 2.5}
    finally:
        writer.kill()
        writer.wait()


REPLACE = """
import itertools, os, shutil, sys, time
path, *sources = sys.argv[1:]
for number in itertools.count():
    source, new, old = sources[number % 2], f"new{number}", f"old{number}"
    if os.path.isdir(source):
        shutil.copytree(source, new)
        if number:
            os.rename(path, old)
        os.rename(new, path)
        shutil.rmtree(old, ignore_errors=True)
        time.sleep(0.05 * (number % 4))
    else:
        shutil.copy(source, new)
        os.replace(new, path)
"""
