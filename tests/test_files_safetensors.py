"""Files of named tensors: round trips, other programs' files, files that are broken."""

import json
import random
import struct
import tempfile
from pathlib import Path

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
    path = tmp_path / "x.safetensors"
    array = (np.arange(24).reshape(2, 3, 4) % 2).astype(dtype)
    nt.save_tensors(path, {"W^{1,Q}": nt.tensor(array, "a b c"), "β": nt.tensor(np.asarray(array[0, 0, 1])), "e": nt.tensor(array[:0], "a b c")})  # fmt: skip
    tensors = nt.load_tensors(path)
    assert {name: (tensor.axes, tensor.dtype) for name, tensor in tensors.items()} == {
        "W^{1,Q}": (("a", "b", "c"), np.dtype(dtype)), "β": ((), np.dtype(dtype)), "e": (("a", "b", "c"), np.dtype(dtype)),
    }  # fmt: skip
    assert np.array_equal(tensors["W^{1,Q}"].array, array) and tensors["e"].sizes == {"a": 0, "b": 3, "c": 4}


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
    result = TensorFile(tmp_path / "x.safetensors")["w"]
    assert result.dtype == np.float32 and np.array_equal(result, values.float().numpy())


def test_arrays_of_other_libraries_are_written(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    nt.save_tensors(tmp_path / "x.safetensors", {"w": nt.tensor(torch.ones(2, requires_grad=True), "a")})
    assert nt.load_tensors(tmp_path / "x.safetensors")["w"].array.tolist() == [1, 1]


def test_an_array_is_read_only_when_it_is_asked_for(tmp_path):
    path = tmp_path / "x.safetensors"
    nt.save_tensors(path, {"w": nt.tensor(np.ones(3), "a")})
    assert isinstance(TensorFile(path)["w"].base, np.memmap) or isinstance(TensorFile(path)["w"].base.base, np.memmap)


def head(entries, numbers=b"", **changes):
    text = json.dumps(entries).encode()
    return struct.pack("<Q", changes.get("length", len(text))) + text + numbers


def headed(text, numbers=b""):
    text = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(text)) + text + numbers


SOUND = {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
BROKEN = [
    (b"", "it is not a safetensors file"),
    (b"\x00" * 20, "it is not a safetensors file"),
    (struct.pack("<Q", 100) + b"{}", "it is cut short in its head"),
    (head([]), "it is not a safetensors file"),
    (struct.pack("<Q", 3) + b"{x}", "the head of {place} is not valid JSON: expecting property name enclosed in double quotes at line 1, column 2"),
    (head(SOUND, b"\x00" * 5), "it is cut short: w ends 3 bytes after the end of the file"),
    (head({"w": {**SOUND["w"], "shape": [3]}}, b"\x00" * 8), "its head gives w 8 bytes, and its sizes are 3"),
    (head({"w": {**SOUND["w"], "dtype": "F8_E4M3"}}, b"\x00" * 8), "w holds values of type F8_E4M3, which cannot be read"),
    (head({"w": {"dtype": "F32", "shape": [2]}}), "w has no proper entry in its head"),
    (head({"w": {**SOUND["w"], "data_offsets": [8, 0]}}, b"\x00" * 8), "w has no proper entry in its head"),
    (head({**SOUND, "v": {**SOUND["w"], "data_offsets": [4, 12]}}, b"\x00" * 12), "v overlaps another tensor by 4 bytes"),
    (head({"w": {**SOUND["w"], "data_offsets": [4, 12]}}, b"\x00" * 12), "4 bytes before w belong to no tensor"),
    (head(SOUND, b"\x00" * 11), "3 bytes at its end belong to no tensor"),
    (headed(json.dumps(SOUND)[:-1] + ", " + json.dumps(SOUND)[1:], b"\x00" * 8), "'w' occurs twice in one object"),
    (head({"__metadata__": {"axes": 1}, **SOUND}, b"\x00" * 8), "its __metadata__ must map strings to strings"),
    (headed(b'{"\xff": 1}'), "its head is not UTF-8"),
    (head(SOUND | {"__metadata__": []}, b"\x00" * 8), "its __metadata__ must map strings to strings"),
]  # fmt: skip


@pytest.mark.parametrize("content, why", BROKEN)
def test_a_broken_file_says_why(tmp_path, content, why):
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(nt.NotationError) as caught:
        nt.load_tensors(path)
    assert str(caught.value) == f"value error 409: cannot read {path}: {why.format(place=path)}"


# ------------------------------------------------------------------------------------------ beside the library itself
STRICTER = (
    "holds values of type F8_E4M3",
    "occurs twice",
)  # which the library reads: NumPy has no such values, and one name is one tensor


def damaged(mix):
    """A file of one to three tensors, with zero to three faults."""
    entries, numbers, end = {}, b"", 0
    for name in ["w", "v", "é"][: mix.randint(1, 3)]:
        kind, width = mix.choice([("F32", 4), ("I64", 8), ("U8", 1), ("BOOL", 1), ("BF16", 2)])
        shape = [mix.randint(0, 3) for _ in range(mix.randint(0, 2))]
        size = width * int(np.prod(shape))
        entries[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + size]}
        numbers += bytes(mix.randrange(2) for _ in range(size))
        end += size
    if mix.random() < 0.5:
        entries["__metadata__"] = {"format": "pt"}
    pairs = list(entries.items())
    faults = [mix.choice(FAULTS) for _ in range(mix.randint(0, 3))]
    for fault in faults:
        fault(mix, [entry for name, entry in pairs if name != "__metadata__" and isinstance(entry, dict)], pairs)
    numbers = numbers[: mix.randint(0, len(numbers))] if mix.random() < 0.1 else numbers
    numbers += b"\x00" * (mix.randint(1, 9) if mix.random() < 0.15 else 0)
    mix.shuffle(pairs)
    text = "{" + ", ".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in pairs) + "}"
    text = mix.choice(["", "", "", "", "", "", " ", "\n"]) + text + mix.choice(["", "", "  ", "    "])
    content = bytearray(headed(text, numbers))
    if mix.random() < 0.15:
        content[mix.randrange(len(content))] = mix.randrange(256)
    return bytes(content)


def moved(mix, entries, pairs):
    entry = mix.choice(entries)
    by = mix.choice([-1, 1, 4])
    entry["data_offsets"] = [item + by for item in entry.get("data_offsets", [0, 4])]


def stretched(mix, entries, pairs):
    mix.choice(entries).setdefault("data_offsets", [0, 4])[mix.randrange(2)] += mix.choice([-4, -1, 1, 4])


def reshaped(mix, entries, pairs):
    mix.choice(entries)["shape"] = mix.choice([[2], [0], [2**62, 4], [1.5], [-1], "2", None, [True]])


def retyped(mix, entries, pairs):
    mix.choice(entries)["dtype"] = mix.choice(["F32", "F16", "f32", "F8_E4M3", None, 1])


def repeated(mix, entries, pairs):
    pairs.append(mix.choice(pairs))


def described(mix, entries, pairs):
    pairs.append(("__metadata__", mix.choice([None, {}, [], {"a": 1}, {"a": None}, "x"])))


def shortened(mix, entries, pairs):
    entry = mix.choice(entries)
    entry.pop(mix.choice(sorted(entry) or ["shape"]), None)


def widened(mix, entries, pairs):
    mix.choice(entries)["more"] = mix.choice([1, None, "x"])


FAULTS = [moved, stretched, reshaped, retyped, repeated, described, shortened, widened]


@pytest.mark.sampled(3)
@pytest.mark.slow
def test_damaged_files_are_refused_as_the_library_refuses_them():
    library = pytest.importorskip("safetensors", reason="safetensors is not installed")
    refused = accepted = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.safetensors"
        for seed in range(3000):
            content = damaged(random.Random(seed))
            path.write_bytes(content)
            try:
                theirs = {name: bytes(entry["data"]) for name, entry in library.deserialize(content)}
            except library.SafetensorError:
                theirs = None
            try:
                file = TensorFile(path)
                ours = {name: content[file.start :][entry.first : entry.last] for name, entry in file.entries.items()}
            except nt.NotationError as problem:
                if any(words in problem.message for words in STRICTER):
                    refused += 1
                    continue
                ours = None
            assert ours == theirs, (seed, content)
            refused, accepted = refused + (ours is None), accepted + (ours is not None)
    assert refused > 1000 and accepted > 500


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(nt.NotationError, match="cannot read .*: no such file or directory"):
        nt.load_tensors(tmp_path / "x.safetensors")


def test_a_file_without_names_says_so(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(head(SOUND, b"\x00" * 8))
    with pytest.raises(nt.NotationError, match="does not contain axis names for w"):
        nt.load_tensors(path)


def test_what_was_there_stays_until_all_is_written(tmp_path):
    path = tmp_path / "x.safetensors"
    nt.save_tensors(path, {"w": nt.tensor([1.0], "a")})
    with pytest.raises(nt.NotationError, match="w has dtype complex128, which the safetensors format does not support"):
        nt.save_tensors(path, {"w": nt.tensor(np.array([1j]), "a")})
    assert nt.load_tensors(path)["w"].array.tolist() == [1] and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(nt.NotationError, match="cannot write"):
        nt.save_tensors(tmp_path / "nowhere" / "x.safetensors", {})
