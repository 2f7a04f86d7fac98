"""Files of named tensors: round trips, other programs' files, files that are broken."""

import json
import struct

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.files.safetensors import TensorFile

DTYPES = [
    "float64",
    "float32",
    "float16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_round_trip_keeps_names_sizes_and_dtype(tmp_path, dtype):
    place = tmp_path / "x.safetensors"
    array = (np.arange(24).reshape(2, 3, 4) % 2).astype(dtype)
    nt.save_tensors(place, {"W^{1,Q}": nt.tensor(array, "a b c"), "β": nt.tensor(np.asarray(array[0, 0, 1])), "e": nt.tensor(array[:0], "a b c")})  # fmt: skip
    found = nt.load_tensors(place)
    assert {name: (each.axes, each.dtype) for name, each in found.items()} == {
        "W^{1,Q}": (("a", "b", "c"), np.dtype(dtype)), "β": ((), np.dtype(dtype)), "e": (("a", "b", "c"), np.dtype(dtype)),
    }  # fmt: skip
    assert np.array_equal(found["W^{1,Q}"].array, array) and found["e"].sizes == {"a": 0, "b": 3, "c": 4}


def test_the_library_safetensors_reads_and_writes_the_same(tmp_path):
    numpy = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    arrays = {"w": np.random.default_rng(0).normal(size=(3, 5)).astype("f4"), "n": np.arange(4)}
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    nt.save_tensors(ours, {"w": nt.tensor(arrays["w"], "a b"), "n": nt.tensor(arrays["n"], "c")}, {"by": "us"})
    numpy.save_file(arrays, theirs)
    for name, array in numpy.load_file(ours).items():
        assert np.array_equal(array, arrays[name])
    assert all(np.array_equal(TensorFile(theirs)[name], arrays[name]) for name in arrays)
    assert TensorFile(ours).metadata["by"] == "us"


def test_half_precision_of_the_other_kind_is_read_as_float32(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    safetensors = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    values = torch.linspace(-3, 3, 10).to(torch.bfloat16)
    safetensors.save_file({"w": values}, tmp_path / "x.safetensors")
    found = TensorFile(tmp_path / "x.safetensors")["w"]
    assert found.dtype == np.float32 and np.array_equal(found, values.float().numpy())


def test_arrays_of_other_libraries_are_written(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    nt.save_tensors(tmp_path / "x.safetensors", {"w": nt.tensor(torch.ones(2, requires_grad=True), "a")})
    assert nt.load_tensors(tmp_path / "x.safetensors")["w"].array.tolist() == [1, 1]


def test_an_array_is_read_only_when_it_is_asked_for(tmp_path):
    place = tmp_path / "x.safetensors"
    nt.save_tensors(place, {"w": nt.tensor(np.ones(3), "a")})
    assert isinstance(TensorFile(place)["w"].base, np.memmap) or isinstance(TensorFile(place)["w"].base.base, np.memmap)


def head(entries, numbers=b"", **changes):
    text = json.dumps(entries).encode()
    return struct.pack("<Q", changes.get("length", len(text))) + text + numbers


SOUND = {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
BROKEN = [
    (b"", "it is no safetensors file"),
    (b"\x00" * 20, "it is no safetensors file"),
    (struct.pack("<Q", 100) + b"{}", "it is cut short in its head"),
    (head([]), "it is no safetensors file"),
    (struct.pack("<Q", 3) + b"{x}", "the head of {place} is no JSON: expecting property name enclosed in double quotes at line 1, column 2"),
    (head(SOUND, b"\x00" * 5), "it is cut short: w ends 3 bytes after the end of the file"),
    (head({"w": {**SOUND["w"], "shape": [3]}}, b"\x00" * 8), "its head gives w 8 bytes, and its sizes are 3"),
    (head({"w": {**SOUND["w"], "dtype": "F8_E4M3"}}, b"\x00" * 8), "w holds values of type F8_E4M3, which cannot be read"),
    (head({"w": {"dtype": "F32", "shape": [2]}}), "w has no proper entry in its head"),
    (head({"w": {**SOUND["w"], "data_offsets": [8, 0]}}, b"\x00" * 8), "w has no proper entry in its head"),
]  # fmt: skip


@pytest.mark.parametrize("content, why", BROKEN)
def test_a_broken_file_says_why(tmp_path, content, why):
    place = tmp_path / "x.safetensors"
    place.write_bytes(content)
    with pytest.raises(nt.NotationError) as caught:
        nt.load_tensors(place)
    assert str(caught.value) == f"value error 409: {place} cannot be read: {why.format(place=place)}"


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(nt.NotationError, match="cannot be read: no such file or directory"):
        nt.load_tensors(tmp_path / "x.safetensors")


def test_a_file_without_names_says_so(tmp_path):
    place = tmp_path / "x.safetensors"
    place.write_bytes(head(SOUND, b"\x00" * 8))
    with pytest.raises(nt.NotationError, match="does not say what the axes of w are called"):
        nt.load_tensors(place)


def test_what_was_there_stays_until_all_is_written(tmp_path):
    place = tmp_path / "x.safetensors"
    nt.save_tensors(place, {"w": nt.tensor([1.0], "a")})
    with pytest.raises(nt.NotationError, match="w holds complex128, which a safetensors file cannot hold"):
        nt.save_tensors(place, {"w": nt.tensor(np.array([1j]), "a")})
    assert nt.load_tensors(place)["w"].array.tolist() == [1] and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(nt.NotationError, match="cannot be written"):
        nt.save_tensors(tmp_path / "nowhere" / "x.safetensors", {})
