"""What is no regular file, streams that are closed or full, files that lie: a sentence, and nothing harmed."""

import copy
import io
import json
import os
import pickle
import re
import stat
import struct
import subprocess
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import namedtensor as nt
import transformer
from namedtensor.cli.inputs import read_value
from namedtensor.core.settings import Limits, recursion_headroom
from namedtensor.files import formats
from namedtensor.files import text as whole_files
from namedtensor.files.safetensors import TensorFile, axes_in
from namedtensor.files.text import InputError, whole_file

ROOT = Path(__file__).parent.parent
posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX's")


# ------------------------------------------------------------------------------------------- what is no regular file
def read_in_thread(path):
    result = []
    thread = threading.Thread(target=lambda: result.append(Path(path).read_bytes()), daemon=True)
    thread.start()
    return thread, result


X = nt.tensor([1.0, 2.0], "a")
WRITERS = {
    "bytes": lambda path: write_bytes(path),
    "a result": lambda path: formats.write(X, path),
    "a diagram": lambda path: nt.formula("∑_{a} X").diagram(X="ℝ^{a[3]}").save(path),
    "tensors": lambda path: nt.save_tensors(path, {"X": X}),
}
SUFFIX = {"a result": ".npz", "a diagram": ".svg"}


def write_bytes(path):
    with whole_file(path) as file:
        file.write(b"all of it")


@posix
@pytest.mark.parametrize("what", WRITERS)
def test_a_pipe_is_written_to_and_stays_a_pipe(what, tmp_path):
    path = tmp_path / f"pipe{SUFFIX.get(what, '')}"
    os.mkfifo(path)
    thread, result = read_in_thread(path)
    WRITERS[what](str(path))
    thread.join(10)
    assert not thread.is_alive() and len(result[0]) > 8
    assert stat.S_ISFIFO(os.stat(path).st_mode)


@posix
@pytest.mark.parametrize("what", WRITERS)
def test_a_link_to_a_device_is_written_to_and_stays(what, tmp_path):
    path = tmp_path / f"nothing{SUFFIX.get(what, '')}"
    path.symlink_to("/dev/null")
    before = os.stat("/dev/null")
    WRITERS[what](str(path))
    assert path.is_symlink() and stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert os.stat("/dev/null").st_ino == before.st_ino


@pytest.mark.parametrize("what", WRITERS)
def test_a_folder_is_refused(what, tmp_path):
    path = tmp_path / f"folder{SUFFIX.get(what, '')}"
    path.mkdir()
    with pytest.raises((OSError, nt.NotationError, InputError), match="it is a folder, and no file"):
        WRITERS[what](str(path))
    assert path.is_dir() and not any(tmp_path.glob(".*"))


def test_a_file_that_is_there_stays_until_all_is_written(tmp_path):
    path = tmp_path / "kept"
    path.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), whole_file(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"before" and [*tmp_path.iterdir()] == [path]


def test_threads_that_write_one_file_leave_one_of_theirs_whole(tmp_path):
    path, barrier = tmp_path / "shared.safetensors", threading.Barrier(6)
    tensors = [{"X": nt.tensor(np.full(20_000, float(number)), "a")} for number in range(6)]

    def save(given):
        barrier.wait()
        for _ in range(10):
            nt.save_tensors(path, given)

    with ThreadPoolExecutor(6) as pool:
        [*pool.map(save, tensors)]
    values = np.asarray(nt.load_tensors(path)["X"].to_numpy())
    assert len(values) == 20_000 and len({*values.tolist()}) == 1
    assert [*tmp_path.iterdir()] == [path]


@posix
@pytest.mark.parametrize("mode", [0o640, 0o755, 0o600])
def test_a_file_that_is_written_anew_keeps_its_permissions(mode, tmp_path):
    path = tmp_path / "kept"
    path.write_bytes(b"before")
    path.chmod(mode)
    write_bytes(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode and path.read_bytes() == b"all of it"


@posix
@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
@pytest.mark.parametrize("has_table", [True, False])
def test_a_new_file_has_the_permissions_of_any_new_file(umask, has_table, tmp_path, monkeypatch):
    if not has_table:  # of the process, as Linux has one
        monkeypatch.setattr(whole_files, "_umask", whole_files._umask_by_change)
    before = os.umask(umask)
    try:
        write_bytes(tmp_path / "written")
        (tmp_path / "plain").touch()
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    written, plain = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("written", "plain"))
    assert written == plain == 0o666 & ~umask


def test_a_file_with_a_long_name_is_written(tmp_path):
    path = tmp_path / ("é" * 120)
    write_bytes(path)
    assert path.read_bytes() == b"all of it"


WRITING = re.compile(r"""write_text\(|write_bytes\(|open\([^)]*["'][wax]b?["']|savefig\(place""")
IN_PLACE = {
    "grammar/parser.py",
    "namedtensor/files/text.py",
    "namedtensor/files/streams.py",
}  # a tool; this; a temporary file


def test_every_writer_of_files_writes_them_whole():
    for name in ("grammar", "namedtensor", "transformer"):
        for path in (ROOT / name).rglob("*.py"):
            lines = [line for line in path.read_text(encoding="utf-8").splitlines() if ">>>" not in line]
            file = path.relative_to(ROOT).as_posix()
            assert file in IN_PLACE or not WRITING.search("\n".join(lines)), file


def test_a_diagram_is_not_saved_under_another_formats_name(tmp_path):
    drawing = nt.formula("∑_{a} X").diagram(X="ℝ^{a[3]}")
    for name in ("s.gif", "s.jpg"):
        with pytest.raises(nt.NotationError) as caught:
            drawing.save(tmp_path / name)
        assert (caught.value.code, caught.value.hint) == (409, "use a name that ends in .svg")
    assert not any(tmp_path.iterdir())


# ------------------------------------------------------------------------------------------------------------ streams
def shell(command, **given):
    line = command.replace("namedtensor", f"'{sys.executable}' -m namedtensor")
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, encoding="utf-8", cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}, timeout=60, **given,
    )  # fmt: skip


@pytest.mark.sampled(3)
@posix
@pytest.mark.parametrize(
    "command, says",
    [
        ("namedtensor eval '1 + 1' >&-", "namedtensor: cannot write to standard output: it is closed"),
        ("namedtensor eval '1 + 1' --json >&-", "namedtensor: cannot write to standard output: it is closed"),
        ("namedtensor check - <&-", "namedtensor: standard input is closed"),
        ("namedtensor eval - <&-", "namedtensor: standard input is closed"),
        ("namedtensor repl <&-", "namedtensor: standard input is closed"),
    ],
)
def test_streams_that_are_closed_are_told_in_a_sentence(command, says):
    run = shell(command)
    assert (run.returncode, run.stderr.strip(), run.stdout) == (2, says, "")


@pytest.mark.sampled(3)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "command", ["eval '1 + 1'", "render x", "--help", "eval --help", "eval 1 --json", "explain '1 + 1'"]
)
def test_a_full_device_is_told_in_a_sentence(command):
    run = shell(f"namedtensor {command} > /dev/full")
    assert run.returncode == 2
    assert run.stderr.strip() == "namedtensor: cannot write to standard output: no space left on device"


@pytest.mark.slow
@posix
def test_nobody_is_told_where_nobody_listens():
    assert shell("namedtensor eval '1 +' >&- 2>&-").stderr == ""
    assert shell("namedtensor eval '1 + 1' 2>&-").stdout == "2\n"


# -------------------------------------------------------------------------------------------------------- files that lie
def safetensors(path, head, data=b"\0" * 8):
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


SOUND = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}
HEADS = {
    "a truth value for a size": {"w": {**SOUND, "shape": [True]}},
    "a list of dtypes": {"w": {**SOUND, "dtype": ["F64"]}},
    "an object for a dtype": {"w": {**SOUND, "dtype": {}}},
    "a hundred axes": {"w": {**SOUND, "shape": [1] * 100}},
    "none of very many": {"w": {**SOUND, "shape": [0, 2**62], "data_offsets": [0, 0]}},
    "none of too many": {"w": {**SOUND, "shape": [0, 2**70], "data_offsets": [0, 0]}},
    "a negative size": {"w": {**SOUND, "shape": [-1]}},
    "half a size": {"w": {**SOUND, "shape": [1.0]}},
    "a word for a shape": {"w": {**SOUND, "shape": "1"}},
    "a word for the places": {"w": {**SOUND, "data_offsets": "08"}},
    "true for a place": {"w": {**SOUND, "data_offsets": [True, 8]}},
    "no entry": {"w": 3},
    "a list for a head": [SOUND],
    "brackets without end": b"[" * 10**5,
    "no text": b"\xff\xfe" * 50,
}


@pytest.mark.parametrize("name", HEADS)
def test_a_head_that_lies_is_told_in_a_sentence(name, tmp_path):
    path = safetensors(tmp_path / "w.safetensors", HEADS[name])
    with pytest.raises(nt.NotationError) as caught:
        nt.load_tensors(path)
    assert caught.value.code == 409 and str(path) in caught.value.message
    with pytest.raises(InputError):
        read_value(f"{path}:a", "W")


@pytest.mark.parametrize("axes", ['{"w": 3}', '{"w": [1]}', "[" * 10**5, "3", "{", '["a"]'])
def test_names_of_axes_that_are_none_are_passed_over(axes, tmp_path):
    path = safetensors(tmp_path / "w.safetensors", {"__metadata__": {"axes": axes}, "w": SOUND})
    assert axes_in(TensorFile(path)) == {}
    with pytest.raises(nt.NotationError, match="does not contain axis names for w"):
        nt.load_tensors(path)
    assert read_value(f"{path}:a", "W").value.sizes == {"a": 1}


def test_a_place_with_a_nul_is_told():
    with pytest.raises(nt.NotationError, match="cannot read .*: embedded null byte"):
        nt.load_tensors("w\0.safetensors")


CONFIG = {"model_type": "gpt2", "n_layer": 1, "n_head": 1, "n_embd": 1, "vocab_size": 1, "n_positions": 1}
FOLDERS = {
    "brackets in config.json": {"config.json": "[" * 10**5},
    "brackets in the index": {
        "config.json": json.dumps(CONFIG),
        "model.safetensors.index.json": "[" * 10**5,
    },
    "a NUL in a name": {
        "config.json": json.dumps(CONFIG),
        "model.safetensors.index.json": json.dumps({"weight_map": {"w": "a\0b"}}),
    },
    "a name too long": {
        "config.json": json.dumps(CONFIG),
        "model.safetensors.index.json": json.dumps({"weight_map": {"w": "a" * 5000}}),
    },
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_lies_is_told_in_a_sentence(name, tmp_path):
    for file, text in FOLDERS[name].items():
        (tmp_path / file).write_text(text)
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(tmp_path)
    assert caught.value.code == 409


COUNTS = {
    "gpt2": "n_layer",
    "bert": "num_hidden_layers",
    "vit": "num_hidden_layers",
    "llama": "num_hidden_layers",
    "marian": "encoder_layers",
}


@pytest.mark.parametrize("kind", COUNTS)
def test_more_layers_than_arrays_are_refused_before_they_are_counted_out(kind, tmp_path):
    numbers = {"hidden_size", "num_attention_heads", "intermediate_size", "vocab_size", "max_position_embeddings", "d_model",
               "type_vocab_size", "image_size", "patch_size", "num_channels", "num_key_value_heads", "n_head", "n_embd",
               "n_positions", "encoder_attention_heads", "decoder_attention_heads", "encoder_ffn_dim", "decoder_ffn_dim",
               "encoder_layers", "decoder_layers", "n_layer", "num_hidden_layers", "head_dim", "n_inner", "pad_token_id",
               "decoder_start_token_id", "eos_token_id", "bos_token_id"}  # fmt: skip
    config = {"model_type": kind, **dict.fromkeys(numbers, 2), COUNTS[kind]: 10**9, "layer_norm_eps": 1e-5,
              "layer_norm_epsilon": 1e-5, "rms_norm_eps": 1e-5, "rope_theta": 1e4}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    safetensors(tmp_path / "model.safetensors", {"w": SOUND})
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(tmp_path)
    assert caught.value.code == 409
    assert "has 1000000000 layers, but the folder has 1 arrays" in caught.value.message


def test_an_archive_is_measured_before_it_is_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, small=np.ones(3), large=np.zeros(10**6))
    monkeypatch.setattr(formats, "DEFAULT", Limits(max_result_bytes=10**5))
    assert read_value(f"{path}[small]:a", "X").value.sizes == {"a": 3}  # what is not asked for is not unpacked
    with pytest.raises(InputError, match=r"large in .* unpacks to 8000128 bytes, and at most 100000 are read"):
        read_value(f"{path}[large]:a", "X")


def test_a_member_that_is_no_array_is_told(tmp_path):
    path = tmp_path / "odd.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("w.npy", b"no array")
    with pytest.raises(InputError, match="w in .* cannot be read"):
        read_value(f"{path}:a", "X")


# -------------------------------------------------------------------------------------------------- copies and threads
@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
def test_what_holds_functions_is_copied_without_them(again):
    compiled = nt.formula("softmax_{a} X + 1").compile()
    want = compiled(X=X)
    assert nt.allclose(again(compiled)(X=X), want)
    steps = nt.explain("softmax_{a} X + 1", X=X)
    assert str(again(steps)) == str(steps)
    late = nt.explain("softmax_{a} X + 1", X=X)  # nothing is computed yet
    assert nt.allclose(again(late)[1].value, nt.softmax(X, axis="a"))


def test_python_s_limit_is_set_back_by_the_last_that_leaves():
    before = sys.getrecursionlimit()
    first, second = recursion_headroom(""), recursion_headroom("")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getrecursionlimit() >= 20_000  # the second is still within
    second.__exit__(None, None, None)
    assert sys.getrecursionlimit() == before


def test_python_s_limit_is_as_before_after_threads():
    before = sys.getrecursionlimit()
    threads = [threading.Thread(target=lambda n=n: nt.formula(f"X + {n}").compile()(X=X)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.getrecursionlimit() == before


def test_standard_input_may_be_a_stream_of_text(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("[1, 2.5]"))
    assert read_value("-:a", "X").value.tolist() == [1, 2.5]
