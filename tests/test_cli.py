"""The command line: what it prints, its exit status, and that no traceback ever reaches a person."""

import io
import json
import os
import re
import struct
import subprocess
import sys
import threading
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError
from namedtensor import cli
from namedtensor.cli import commands, formula_commands
from namedtensor.cli import inputs as files
from namedtensor.cli.commands import BUILT_IN, REMOVED
from namedtensor.cli.console import error_in_ascii, to_ascii
from namedtensor.cli.parsers import Command

ROOT = Path(__file__).parent.parent
A = "A=[[3,1,4],[1,5,9]]:height,width"
X = "x=[2,7,1]:width"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder: its status, what it printed, what it said on standard error."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        status = cli.main([str(word) for word in words])
        printed, message = capsys.readouterr()
        assert "Traceback" not in printed + message
        return status, printed, message

    return command


def process(*words, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    command = [sys.executable, "-m", "namedtensor", *words]
    return subprocess.run(command, capture_output=True, env=environment, timeout=60, **options)


def npy(array):
    np.save(file := io.BytesIO(), array)
    return file.getvalue()


def typing(monkeypatch, text):
    stream = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="cp1252")
    monkeypatch.setattr(sys, "stdin", stream)


# ------------------------------------------------------------------------------------------------------------------ eval
@pytest.mark.parametrize(("words", "numbers"), [
    (("1 + 1/2",), ["1.5"]),
    (("A ⊙_{width} x", A, X), ["1", "2", "17", "46"]),
    ((r"A \ndot{\width} x", A, X), ["1", "2", "17", "46"]),
    (("A @_{width} x", A, X, "--syntax", "text"), ["1", "2", "17", "46"]),
    (("--sizes", "a=2", "iota_{a}"), ["1", "2", "1", "2"]),
    (("iota_{a} + n", "n=3", "--sizes", "a=2"), ["1", "2", "4", "5"]),
    (("γ x", "gamma=2", "x=3"), ["6"]),
    (("f(x) = 2 x", "--call", "f", "5"), ["10"]),
    (("f(x, y) = x - y", "--call", "f", "p", "[1,2]:a", "p=5"), ["1", "2", "4", "3"]),
    (("f(x, y) = x - y", "p=5", "--call", "f", "p", "2"), ["3"]),
    (("f(x; W) = x + W\nW ∈ ℝ", "--call", "f", "1", "W=10"), ["11"]),
    (("--", "-A", "A=3"), ["-3"]),
    (("-3",), ["-3"]),
])  # fmt: skip
def test_a_value(run, words, numbers):
    status, printed, message = run("eval", *words)
    assert status == 0, message
    assert re.findall(r"-?\d+(?:\.\d+)?", printed) == numbers


def test_the_table_names_its_axes(run):
    assert run("eval", "A", A)[1].splitlines()[0] == "height\\width │ 1  2  3"


def test_a_formula_comes_from_a_file_or_from_standard_input(run, tmp_path, monkeypatch):
    (tmp_path / "two.nt").write_text("Y = 2 x  # twice\nY + 1", encoding="utf-8")
    (tmp_path / "two.tex").write_text(r"\[ Y = 2 x \] and \[ Y + 1 \]", encoding="utf-8")
    assert run("eval", "two.nt", "x=3")[1] == "7\n"
    assert run("eval", "two.tex", "x=3")[1] == "7\n"
    typing(monkeypatch, "∑_{a} x")
    assert run("eval", "-", "x=[1,2]:a")[1] == "3\n"


NO_AXIS = """shape error 317: x has 0 axes, got 1 name
  its sizes are none: it is one number
  the names are a
  hint: remove the names
"""


@pytest.mark.parametrize(
    ("data", "given", "printed"),
    [
        (b"[1, 2]", "x=-:a", "3\n"),
        (b'{"axes": ["a"], "data": [1, 3]}', "x=/dev/stdin", "4\n"),
        (b"u,v\n1,2\n3,4\n", "x=-[v]:a", "6\n"),
        (npy(np.arange(4.0)), "x=-:a", "6\n"),
        (b"", "x=-:a", "namedtensor: standard input is empty, and x was to come from it\n"),
        (b"u,v\n1,2\n3,no\n", "x=-[u]:a", "4\n"),
        (b"u,v\n1,2\n3,no\n", "x=-[w]:a", "namedtensor: standard input has no column w; it has u, v\n"),
        (b"[1, \xff]", "x=-:a", "namedtensor: standard input is not UTF-8 text: byte 4 cannot be read\n"),
        (b"[" * 100_000, "x=-:a", "namedtensor: standard input is not valid JSON: it is nested too deep\n"),
        (npy(np.array(3.0)), "x=-:a", NO_AXIS),
    ],
    ids=["list", "its own axes", "column", "npy", "empty", "another column", "no column", "no text", "deep", "no axis"],
)
def test_a_tensor_comes_through_standard_input(run, monkeypatch, data, given, printed):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert printed in run("eval", "∑_{a} x", given)[1:]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_tensor_comes_through_a_named_pipe(run, tmp_path):
    os.mkfifo(path := tmp_path / "pipe")
    writer = threading.Thread(target=path.write_text, args=("[1, 2, 4]",))
    writer.start()
    assert run("eval", "∑_{a} x", f"x={path}:a")[1] == "7\n"
    writer.join()


def test_a_formula_through_standard_input_that_is_no_text(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x + \xff"), encoding="utf-8"))
    assert run("eval", "-", "x=1") == (2, "", "namedtensor: standard input is not UTF-8 text\n")


def test_a_file_of_one_number_and_one_of_one_tensor(run, tmp_path):
    (tmp_path / "n.npy").write_bytes(npy(np.array(3.0)))
    assert run("eval", "2 x", "x=n.npy")[1] == "6\n"
    assert run("eval", "x", "x=n.npy[q]")[::2] == (2, "namedtensor: n.npy holds one tensor; leave [q] out\n")


def test_json_of_a_value_and_of_an_error(run):
    record = json.loads(run("eval", "A", A, "--json")[1])["value"]
    assert record["axes"] == ["height", "width"] and record["data"] == [[3, 1, 4], [1, 5, 9]]
    assert record["type"] == "ℝ^{height[2] × width[3]}"
    status, printed, _ = run("eval", "A ⊙_{widht} x", A, X, "--json")
    error = json.loads(printed)["error"]
    assert status == 1
    assert (error["kind"], error["code"], error["line"], error["column"]) == ("shape", 301, 1, 6)
    assert error["span"] == [5, 10] and error["span_text"] == "widht" and "width" in error["hint"]
    error = json.loads(run("eval", "A", "A=none.npy:a", "--json")[1])["error"]
    assert error["kind"] == "input" and "none.npy" in error["message"]
    assert json.loads(run("eval", "[1, ∞, −∞]_{a} / 1", "--json")[1])["value"]["data"] == [1, "Infinity", "-Infinity"]


def test_strict_refuses_an_outer_product(run):
    words = ("x + y", "x=[1]:a", "y=[2]:b")
    assert run("eval", *words)[0] == 0
    status, _, message = run("eval", *words, "--strict")
    assert status == 1 and "314" in message


def test_a_limit_is_raised(run):
    assert (
        "--limit max_steps=N"
        in run("eval", "X^t = X^{t-1} for t = 1, …, 20\nX^20", "X^0=1", "--limit", "max_steps=10")[2]
    )
    assert run("eval", "X^t = X^{t-1} for t = 1, …, 20\nX^20", "X^0=1", "--limit", "max_steps=20")[1] == "1\n"


def test_hints_are_in_the_words_of_the_command_line(run):
    assert "--sizes ax=3" in run("eval", "iota_{ax}")[2]
    assert "W=FILE:axis,axis" in run("eval", "W ∈ ℝ^{a}\n2 W")[2]
    assert "--call" in run("eval", "f(x) = x")[2]


# ------------------------------------------------------------------------------------------------------- files of tensors
def safetensors(path, **arrays):
    kinds = {"float32": "F32", "int64": "I64", "uint16": "BF16", "bool": "BOOL"}
    head, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        offsets = [len(data), len(data) + array.nbytes]
        head[name] = {"dtype": kinds[str(array.dtype)], "shape": list(array.shape), "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def value(word):
    name, text = files.split_given(word)
    return files.read_value(text, name).value


def test_arrays_of_every_format(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    array = np.array([[1.5, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype="float32")
    np.save("a.npy", array)
    np.savez("one.npz", only=array)
    np.savez("two.npz", first=array, second=array + 1)
    Path("a.json").write_text(json.dumps(array.tolist()))
    Path("named.json").write_text(json.dumps({"axes": ["r", "c"], "data": array.tolist()}))
    Path("a.csv").write_text("\n".join(",".join(map(str, row)) for row in array.tolist()))
    Path("a.tsv").write_text("\n".join("\t".join(map(str, row)) for row in array.tolist()))
    safetensors(Path("a.safetensors"), w=array, ids=np.array([1, 2]))
    for word in ("a.npy:r,c", "one.npz:r,c", "two.npz[first]:r,c", "a.json:r,c", "named.json", "a.csv:r,c", "a.tsv:r,c",
                 "a.safetensors[w]:r,c", "[[1.5,2,3],[4,5,6]]:r,c"):  # fmt: skip
        result = value(f"X={word}")
        assert result.axes == ("r", "c"), word
        np.testing.assert_array_equal(result.to_array("r c"), array)
    assert value("X=a.npy:r,c").dtype == "float32"
    assert value("X=a.safetensors[ids]:n").to_array().tolist() == [1, 2]
    assert value("X=named.json:p,q").axes == ("p", "q")


def test_half_of_a_float_is_read(tmp_path):
    halves = (np.array([1.0, -2.5], dtype="<f4").view("<u4") >> 16).astype("uint16")
    safetensors(tmp_path / "b.safetensors", w=halves)
    assert value(f"X={tmp_path / 'b.safetensors'}:a").to_array().tolist() == [1.0, -2.5]


@pytest.mark.parametrize(("text", "data", "note"), [
    ("1,2\n3,4\n", [[1, 2], [3, 4]], None),
    ("a,b\n1,2\n", [[1, 2]], "took the first row as header: a, b"),
    ("\ufeffa;b\r\n1;2,5\n".replace(",", "."), [[1, 2.5]], "took the first row as header: a, b"),
    ("# a comment\nname,x,kind,y\nann,1,c,2\nbob,3,d,4\n", [[1, 2], [3, 4]], "left out kind"),
    ("ann,1\nbob,2\n", [[1], [2]], None),
    ("ann,1,x\nbob,2,y\n", [[1], [2]], "left out column 3"),
    ("name,x,note\nann,1,\nbob,2,\n", [[1], [2]], "left out note"),
    ("ann,1,\nbob,2,\n", [[1], [2]], None),
    ("x\ty\n1\t\n3\t4\n", [[1, np.nan], [3, 4]], "1 missing value"),
])  # fmt: skip
def test_tables(tmp_path, text, data, note):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    inputs = files.read_value(f"{path}:r,c", "X")
    np.testing.assert_array_equal(inputs.value.to_array("r c"), data)
    assert note is None and not inputs.notes or any(note in name for name in inputs.notes)


def test_a_column_of_a_table(tmp_path):
    (tmp_path / "t.csv").write_text("name,one,two\nann,1,2\nbob,3,4\n")
    (tmp_path / "c.csv").write_text("species\n1\n2\n")
    assert value(f"X={tmp_path}/t.csv[two]:r").to_array().tolist() == [2, 4]
    assert value(f"X={tmp_path}/c.csv:r").to_array().tolist() == [1, 2]


def test_the_dropped_columns_are_told(run, tmp_path):
    (tmp_path / "t.csv").write_text("name,x,kind\nann,1,c\nbob,2,d\n")
    status, printed, message = run("eval", "∑_{r} X", "X=t.csv:r,c")
    assert status == 0 and "left out kind" in message and "name:" not in message and "3" in printed


BROKEN = {
    "bad.json": "[1, 2",
    "ragged.json": "[[1], [2, 3]]",
    "words.json": '["a"]',
    "object.json": '{"a": 1}',
    "axes.json": '{"axes": "a", "data": [1]}',
    "deep.json": "[" * 100_000,
    "bad.npy": "no array",
    "bad.npz": "no archive",
    "bad.csv": "1,2\n3\n",
    "typo.csv": "age\n1\n2x\n",
    "words.csv": "a,b\nc,d\n",
    "empty.csv": "",
    "bad.safetensors": "\x08\0\0\0\0\0\0\0nonsense",
    "short.safetensors": "xx",
    "bad.xyz": "1",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_sentence(run, tmp_path, name):
    (tmp_path / name).write_text(BROKEN[name])
    status, printed, message = run("eval", "X", f"X={name}:a,b")
    assert status in (1, 2) and not printed
    assert message.count("\n") <= 4 and (name in message or "X" in message)


@pytest.mark.parametrize(("words", "message", "status"), [
    (("X", "X=nothing.npy:a"), "there is no file nothing.npy", 2),
    (("X", "X=ℝ^{a[3]}"), "X needs values, and ℝ^{a[3]} is a shape: write X='[1, 2]:axis'", 2),
    (("X", "X"), "'X' is not an input", 2),
    (("X", "X="), "is not an input", 2),
    (("X", "X=1", "X=2"), "X is given twice", 2),
    (("X", "X=[1,2]"), "X has 1 axis without a name", 1),
    (("X", "X=[1,2]:a,b"), "X has 1 axis, got 2 names", 1),
    (("X", "X=[[1,2]]:a,a"), "duplicate axis a", 1),
    (("X", "X=[[1,2]]:a,b c"), "invalid axis name 'b c'", 1),
    (("X", "X=[[1],[2,3]]:a,b"), "row 1 has 1 entry, row 2 has 2 entries", 1),
    (("X", "X=[1,[2]]:a"), "row 1 is a number, row 2 has 1 entry", 1),
    (("X", "X=[1,2:a"), "is not a nested list", 2),
    (("X", "X=1", "--sizes", "a=b"), "'a=b' is not a size", 2),
    (("X", "X=1", "--sizes", "a=-1"), "cannot be -1", 1),
    (("X", "X=1", "--limit", "time=1"), "'time=1' is not a limit", 2),
    (("X", "X=1", "--out", "x.txt"), "ends in .json, .npy, .npz, .csv", 2),
    (("f(x) = x", "--call", "f", "y"), "y is not an input, number or tensor file", 2),
    (("f(x) = x", "--call", "g", "1"), "g", 1),
    (("nothing.nt",), "there is no file nothing.nt", 2),
    (("nothing.tex",), "there is no file nothing.tex", 2),
    (("A +",), "syntax error 105", 1),
    (("",), "syntax error 108", 1),
    (("X\0",), "syntax error 106", 1),
    (("\udcff",), "syntax error 106", 1),
    (("(" * 100_000,), "error 404", 1),
    (("-X", "X=1"), "put -- before", 2),
    ((), "FORMULA", 2),
])  # fmt: skip
def test_what_is_wrong_is_told_in_a_sentence(run, words, message, status):
    result, printed, messages = run("eval", *words)
    assert result == status and message in messages and not printed


@pytest.mark.parametrize(("text", "shape"), [
    ("query[2]", "Q='ℝ^{query[2]}'"), ("query[2],key", "Q='ℝ^{query[2] × key}'"), ("query key[n]", "Q='ℝ^{query × key[n]}'"),
    ("query' × key", "Q=\"ℝ^{query' × key}\""),
])  # fmt: skip
def test_axes_in_place_of_a_shape_show_the_shape(run, text, shape):
    status, printed, message = run("check", "2 Q", f"Q={text}")
    assert (
        status == 2
        and not printed
        and message.strip().endswith(f"there is no file {text} for Q; write a shape as {shape}")
    )
    assert run("check", "2 Q", shape.replace("'ℝ", "ℝ").strip("\"'").replace('"', ""))[0] == 0
    assert "shape" not in run("check", "2 Q", "Q=query.npy:query")[2]
    assert run("check", "2 Q", "Q=inf")[0] == 0  # a number


def test_an_error_in_a_file_names_its_place(run, tmp_path):
    (tmp_path / "f.nt").write_text("Y = 2 x\nZ = Y ⊙_{b} x\n", encoding="utf-8")
    assert run("eval", "f.nt", "x=[1]:a")[2].startswith("f.nt:2:10: shape error 301: ")


# -------------------------------------------------------------------------------------------------------------- --out
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".json", ".csv"])
def test_a_result_is_written_and_read_again(run, suffix):
    status, printed, message = run("eval", "2 A", A, "--out", f"B{suffix}")
    assert status == 0 and not printed and "height, width" in message
    axes = "" if suffix in (".npz", ".json") else ":height,width"
    assert run("eval", "B", f"B=B{suffix}{axes}")[1] == run("eval", "2 A", A)[1]


def test_a_table_of_one_axis_and_of_none(run, tmp_path):
    run("eval", "∑_{width} A", A, "--out", "s.csv")
    assert (tmp_path / "s.csv").read_text() == "height\n8.0\n15.0\n"
    run("eval", "2 A", A, "--out", "t.csv")
    assert (tmp_path / "t.csv").read_text() == "width(1),width(2),width(3)\n6.0,2.0,8.0\n2.0,10.0,18.0\n"
    run("eval", "1/2", "--out", "n.csv")
    assert (tmp_path / "n.csv").read_text() == "value\n0.5\n"


def test_nothing_is_lost_where_writing_fails(run, tmp_path, monkeypatch):
    path = tmp_path / "B.csv"
    path.write_text("kept")
    status, _, message = run("eval", "A ⊙ z", A, "z=[1,2]:deep", "--out", "B.csv")
    assert status == 2 and "two axes at most" in message
    assert run("eval", "A +", A, "--out", "B.csv")[0] == 1
    monkeypatch.setattr(os, "replace", lambda *names: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    status, _, message = run("eval", "A", A, "--out", "B.csv")
    assert status == 2 and "no space left" in message
    assert path.read_text() == "kept" and [other.name for other in tmp_path.iterdir()] == ["B.csv"]


def test_a_folder_that_is_not_there(run):
    status, _, message = run("eval", "1", "--out", "no/where.npy")
    assert status == 2 and "cannot write" in message


# ----------------------------------------------------------------------------------------------------------------- check
def test_types_of_all_names(run):
    status, printed, _ = run("check", "Y = A ⊙_{width} x\nY + 1", "A=ℝ^{height[3] × width}", "x=R^{width}")
    assert status == 0
    types = dict(line.split(" : ") for line in printed.splitlines())
    assert {name.strip(): shape for name, shape in types.items()}["Y"] == "ℝ^{height[3]}"
    assert types["value"] == "ℝ^{height[3]}"


def test_every_error_and_warnings(run):
    status, printed, _ = run("check", "Y = A ⊙_{b} A\nZ = A + q", "A=ℝ^{a[2]}")
    assert status == 1 and "301" in printed and "201" in printed
    status, printed, _ = run("check", "x + y", "x=ℝ^{a}", "y=[1,2]:b")
    assert status == 0 and "warning 314: + broadcasts ℝ^{a} against ℝ^{b[2]}" in printed
    assert run("check", "x + y", "x=ℝ^{a}", "y=[1,2]:b", "--strict")[0] == 1


def test_check_in_json(run):
    record = json.loads(run("check", "2 x", "x=ℝ^{a}", "--json")[1])
    assert record["ok"] and record["type"] == "ℝ^{a}" and record["types"] == {"x": "ℝ^{a}"}
    assert record["steps"][-1] == {"text": "2 x", "type": "ℝ^{a}"}
    record = json.loads(run("check", "2 x +", "--json")[1])
    assert not record["ok"] and record["errors"][0]["code"] == 105


@pytest.mark.parametrize(
    "shape", ["ℝ^{a[2] × b}", "R^{a[2], b}", "{0,1}^{a × b}", "[0,1]^{a}", "[n]^{a}", "[5]", "3", "[1,2]:a"]
)
def test_shapes(run, shape):
    assert run("check", "2 X", f"X={shape}")[0] == 0


def test_a_shape_of_a_table_tells_what_it_leaves_out(run, tmp_path):
    (tmp_path / "t.csv").write_text("ann,1,x\nbob,2,y\n")
    status, printed, message = run("check", "∑_{a} X", "X=t.csv:b,a")
    assert (
        status == 0 and printed.endswith("value : ℝ^{b[2]}\n") and message == "X: left out column 3: no numbers there\n"
    )


def test_a_wrong_shape(run):
    assert run("check", "2 X", "X=ℝ^{a")[0] == 1
    assert run("check", "2 X", "X=nothing")[0] == 2
    assert run("check", "2 X", "X=3", "X=3")[0] == 2
    assert run("check", "2 sizes", "sizes=3")[0] == 2


# -------------------------------------------------------------------------------------------------------------- derive
def test_derive_prints_the_formula_or_its_value(run):
    assert run("derive", "∑_{a} X^2", "--wrt", "X")[:2] == (0, "D = 2 X^*\n")
    assert run("derive", "∑_{a} X ⊙ Y", "--wrt", "X", "X=ℝ^{a × b}", "Y=ℝ^{a}")[:2] == (0, "D = Y^* ⊙ I_{b, b*}\n")
    assert run("derive", "∑_{a} X^2", "--wrt", "X", "--as-written")[:2] == (0, "∂(∑_{a} X^2)/∂X*\n")
    assert run("derive", "∑_{a} X^2", "--wrt", "X", "--as-written", "--ascii")[1] == "d(sum_{a} X^2)/dX*\n"
    latex = ("derive", r"\nsum{\a} X", "--wrt", "X", "--to", "latex-macros", "--as-written")
    assert run(*latex)[1].startswith(r"\frac{\partial ")
    status, printed, _ = run("derive", "∑_{a} X^2", "--wrt", "X", "X=[1,2]:a", "--json")
    assert (status, json.loads(printed)["value"]["axes"], json.loads(printed)["value"]["data"]) == (0, ["a*"], [2, 4])
    assert run("derive", "f(x) = x^3", "--wrt", "x", "x=2")[1] == "12\n"


def test_derive_prints_steps_of_what_has_no_parts_to_name(run):
    status, printed, _ = run("derive", "∑_{k=1}^{n} r^k", "--wrt", "r", "--steps")
    assert (status, printed) == (0, "D = ∑_{k=1}^{n} k ⊙ r^{k-1} = ∂(∑_{k=1}^{n} r^k)/∂r*   identification\n")


def test_derive_prints_each_step_with_its_rule(run):
    status, printed, _ = run("derive", "tanh(x ⊙_{a} W)", "--wrt", "W", "--steps")
    lines = [line.split("   ") for line in printed.splitlines()]
    assert status == 0 and [line[-1].strip() for line in lines[3:]] == ["ndot", "elementwise", "identification"]
    latex = run("derive", "tanh(x ⊙_{a} W)", "--wrt", "W", "--steps", "--to", "latex-macros")[1]
    assert r"\partial z &\overset{\text{ndot}}{=} x \ndot{\name{a}} \partial W" in latex
    steps = json.loads(run("derive", "x ⊙ x", "--wrt", "x", "--steps", "--json")[1])["steps"]
    assert [step["rule"] for step in steps] == ["odot", "identification"]


def test_derive_holds_a_closed_form_against_differences(run):
    status, printed, _ = run("derive", "softmax_{a} X", "--wrt", "X", "--check", "X=[1,2,3]:a")
    assert status == 0 and "finite differences" in printed and printed.splitlines()[-1].endswith("2 steps hold")
    record = json.loads(run("derive", "x^3 ⊙ y", "--wrt", "x", "--json", "--check", "x=2", "y=[1,3]:a")[1])
    assert record["ok"] and record["value"]["data"] == pytest.approx([12, 36]) and record["largest"] < 1e-6
    assert run("derive", "x^3 ⊙ y", "--wrt", "x", "--check", "x=2")[0] == 1
    assert "no value for x" in run("derive", "x^3 ⊙ y", "--wrt", "x", "--check", "y=2")[2]


def test_derive_holds_a_number_against_differences(run):
    assert run("derive", "x^2", "--wrt", "x", "--check", "x=3")[1].splitlines()[:4] == [
        "D = 2 x",
        "",
        "value of the closed form",
        "6",
    ]


def test_derive_says_what_is_wrong(run):
    status, printed, message = run("derive", "A ⊙_{b} A", "--wrt", "A", "A=ℝ^{a}")
    assert (status, printed) == (1, "") and message.startswith("shape error 301: ⊙_{b} needs axis b")
    assert (
        run("derive", "x^2", "--wrt", "y")[0] == 1
        and "with respect to y: the formula uses x\n  hint: write --wrt x" in run("derive", "x^2", "--wrt", "y")[2]
    )
    assert run("derive", "x^2", "--wrt", "x+1")[0] == 1
    assert run("derive", "x^2")[0] == 2


# ------------------------------------------------------------------------------------------------------ render, explain
def test_spellings(run):
    formula = "softmax_{seq}(Q @_{key} K / sqrt(|key|))"
    assert run("render", formula, "--to", "text")[1] == "softmax_{seq}(Q ⊙_{key} K / √|key|)\n"
    assert run("render", formula, "--to", "ascii")[1].isascii()
    assert run("render", r"\nsum{\seq} X")[1] == "∑_{seq} X\n"
    assert run("render", "∑_{seq} X", "--ascii", "--to", "text")[1] == "sum_{seq} X\n"
    assert json.loads(run("render", "2 x", "--to", "text", "--json")[1]) == {"to": "text", "text": "2 x"}
    assert run("render", "2 x +")[0] == 1


@pytest.mark.parametrize("to", ["latex", "latex-macros"])
def test_latex(run, to):
    from grammar.parser import parse

    formula = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
    status, printed, _ = run("render", formula, "--to", to)
    assert status == 0 and parse(printed, "latex") == parse(formula)


def test_a_tree(run):
    assert run("render", "2 x", "--to", "tree")[1].splitlines()[2:] == [
        "    body: Call operator='juxtaposed'",
        "      arguments: Number value=2",
        "      arguments: Name text='x'",
    ]
    tree = json.loads(run("render", "2 x", "--to", "tree", "--json")[1])["tree"]
    assert tree["statements"][0]["body"]["arguments"][1] == {"node": "Name", "text": "x", "span": [2, 3]}


def test_the_steps(run):
    status, printed, _ = run("explain", "2 x + 1", "x=[1,2]:a")
    assert status == 0 and "3. 2 x + 1 : ℝ^{a[2]}" in printed
    steps = json.loads(run("explain", "2 x + 1", "x=[1,2]:a", "--json")[1])["steps"]
    assert [step["text"] for step in steps] == ["x", "2 x", "2 x + 1"]
    assert steps[-1]["value"]["data"] == [3, 5]


# ----------------------------------------------------------------------------------------------- encodings, pipes, help
def test_json_in_ascii(run):
    status, printed, _ = run("eval", "A ⊙_{q} γ", "A=1", "γ=2", "--ascii", "--json")
    error = json.loads(printed)["error"]
    assert status == 1 and printed.isascii() and error["notes"] == ["A : R", "gamma : R"]
    assert error["message"] == "@_{q} needs axis q, missing from A and gamma"


def test_an_error_without_a_place_in_ascii():
    assert str(error_in_ascii(NotationError(301, "⊙_{b}", hint="γ"))) == "shape error 301: @_{b}\n  hint: gamma"


@pytest.mark.parametrize(("text", "plain"), [
    ("A ⊙_{a} B ⊙ C", "A @_{a} B * C"),
    ("ℝ^{a[3] × b} × ℝ → ℝ", "R^{a[3], b} x R -> R"),
    ("αβ + 2γ ≤ ∞", "alpha beta + 2 gamma <= inf"),
    ("x₁₂ + x² − Xᵀ", "x_{12} + x^2 - X^T"),
    ("│─┼…“é”日", '|-+..."e"?'),
])  # fmt: skip
def test_ascii(text, plain):
    assert to_ascii(text) == plain


def test_carets_stay_under_what_they_mean():
    error = NotationError(301, "⊙_{b}", "α ⊙_{b} γ²", (4, 7), labels=(((8, 10), "here"),))
    assert str(error_in_ascii(error)).splitlines() == [
        "shape error 301: @_{b}",
        "  1 | alpha @_{b} gamma^2",
        "    |         ^^^",
        "    |             ^^^^^^^ here",
    ]


def test_ascii_output(run):
    for words in (
        ("eval", "A", A),
        ("check", "A + z", A, "z=ℝ^{b}"),
        ("eval", "γ ⊙_{q} A", A, "γ=2"),
        ("explain", "2 A", A),
    ):
        _, printed, message = run(*words, "--ascii")
        assert printed.isascii() and message.isascii() and (printed or message)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
@pytest.mark.parametrize("words", [
    ("eval", "A ⊙_{width} x", A, X),
    ("eval", "γ ⊙_{widht} x", X, "γ=2"),
    ("eval", "ž\udcff日 +"),
    ("check", "A + y", A, "y=ℝ^{b}"),
    ("check", "2 A", A, "--json"),
    ("eval", "--help"),
    ("eval", "--ℝ"),
    ("eval", "x", "x=日本.npy:a"),
    ("--help",),
])  # fmt: skip
def test_every_encoding_is_printed_in(words, encoding):
    words = [word.encode("utf-8", "surrogateescape") for word in words]
    ran = process(*words, env={"PYTHONIOENCODING": encoding})
    stdout = ran.stdout + ran.stderr
    assert b"Traceback" not in stdout and stdout
    assert encoding == "utf-8" or stdout.isascii()


@pytest.mark.slow
def test_standard_input_is_utf_8_in_any_terminal():
    ran = process("eval", "-", "x=[1,2]:a", input="∑_{a} x".encode(), env={"PYTHONIOENCODING": "cp1252"})
    assert ran.stdout.strip() == b"3"


@pytest.mark.slow
def test_a_reader_that_has_gone_is_no_error():
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "namedtensor", "eval", "iota_{a}", "--sizes", "a=10000", "--json"]
    ran = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, cwd=ROOT, timeout=60)
    os.close(write)
    assert ran.stderr == b""


def test_an_interrupt_ends_quietly(run, monkeypatch):
    monkeypatch.setattr(formula_commands, "compute_value", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run("eval", "1") == (130, "", "")


def test_memory_that_is_not_there_is_an_error(run, monkeypatch):
    monkeypatch.setattr(formula_commands, "compute_value", lambda *given: (_ for _ in ()).throw(MemoryError))
    status, _, message = run("eval", "1")
    assert status == 1 and "404" in message


@pytest.mark.parametrize("name", BUILT_IN)
def test_help_has_examples(run, name):
    status, printed, _ = run(name, "--help")
    assert status == 0 and f"namedtensor {name}" in printed.split("examples:")[1] and "exit status" in printed


def test_the_overview(run):
    assert all(name in run("--help")[1] for name in BUILT_IN)
    assert run()[0] == 0
    assert run("--version")[1].startswith("namedtensor 0.")
    assert run("nonsense")[0] == 2


def test_the_help_fits_one_screen(run):
    lines = run("--help")[1].splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80


@pytest.mark.parametrize(("word", "instead"), REMOVED.items())
def test_a_removed_word_names_its_successor(run, word, instead):
    status, printed, message = run(word, "2 x", "x=1")
    assert (status, printed) == (2, "") and f"write namedtensor {instead}\n" in message
    assert instead.split()[0] in BUILT_IN


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("eval", "x", "--gradient", "x", "--out", "y.npy"), "--out does not apply to --gradient"),
        (("eval", "x", "--gradient", ","), "write --gradient W,b_1"),
        (("eval", "f(x) = x", "--of", "f", "--call", "f", "1"), "leave one out"),
        (("explain", "x", "--cost", "--inside", "x"), "--inside does not apply to --cost"),
        (("explain", "x", "--disable", "tiling"), "add --cost"),
        (("to-code", "x", "--standalone"), "add --library javascript"),
        (("to-code", "x", "--library", "einsum", "--style", "module"), "einsum has one style"),
    ],
)
def test_options_that_contradict_each_other(run, words, message):
    status, printed, errors = run(*words)
    assert (status, printed) == (2, "") and message in errors


def test_the_value_of_a_name(run):
    assert run("eval", "y = 2 x\nz = 3 y", "--of", "y", "x=2")[1] == "4\n"


def test_other_packages_add_commands(run, monkeypatch):
    def arguments(parser):
        parser.add_argument("name")

    def command(options, console):
        console.print(f"hello {options.name}")

    class FakeEntry:
        name = "greet"

        def load(self):
            return Command("greet somebody", arguments, command, "  namedtensor greet Ada")

    monkeypatch.setattr(commands, "entry_points", lambda group: [FakeEntry()] if group == commands.GROUP else [])
    assert run("greet", "Ada") == (0, "hello Ada\n", "")
    assert "greet somebody" in run("--help")[1] and "namedtensor greet Ada" in run("greet", "--help")[1]


def test_a_command_that_cannot_be_loaded_disturbs_no_other(run, monkeypatch):
    broken = EntryPoint("greet", "no_such_package:GREET", commands.GROUP)
    monkeypatch.setattr(commands, "entry_points", lambda group: [broken] if group == commands.GROUP else [])
    assert run("eval", "1 + 1")[:2] == (0, "2\n")
    assert "(cannot be loaded from no_such_package:GREET)" in run("--help")[1]
    status, printed, message = run("greet", "Ada")
    assert (status, printed) == (2, "")
    assert message.startswith("namedtensor: the command greet cannot be loaded from no_such_package:GREET: No module")


@pytest.mark.parametrize("words", [("eval",), ("check",), ("derive", "--wrt", "x"), ("translate",), ("read",)])
def test_only_required_arguments_are_reported_as_missing(run, words):
    status, _, message = run(*words)
    (line,) = [line for line in message.splitlines() if "required" in line or "missing" in line]
    assert status == 2 and "NAME" not in line.replace("FILE.py:NAME", "")


def test_a_formula_without_inputs_needs_no_name(run):
    assert run("eval", "1 + 1/2")[1].strip() == "1.5"


def examples():
    """The commands of the help that need no file, and end."""
    import shlex

    for entry in BUILT_IN.values():
        for line in entry.load().examples.replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            if (
                words[:1] == ["namedtensor"]
                and words[1] not in ("repl", "playground", "lsp", "mcp")
                and not re.search(r"\.(nt|tex|npy|npz|py)\b", line)
            ):
                yield words[1:]


def test_a_formula_as_code_is_what_its_method_gives(run):
    program = nt.program("f(X) = X ⊙_{a} W\nW ∈ ℝ^{a × b}")
    words = [str(program), "--of", "f", "--sizes", "a=3,b=2"]
    assert run("explain", "--parameters", *words, "X=ℝ^{a}")[1] == "W ∈ ℝ^{a[3] × b[2]}\n"
    assert json.loads(run("explain", "--parameters", *words, "X=ℝ^{a}", "--json")[1]) == {"W": "ℝ^{a[3] × b[2]}"}
    shapes = {"X": "ℝ^{a[3]}", "W": "ℝ^{a[3] × b[2]}"}
    formula, texts = "X ⊙_{a} W", [f"{name}={shape}" for name, shape in shapes.items()]
    for library in ("numpy", "torch", "jax", "loops"):
        expected = nt.to_python(formula, library, **shapes)
        assert run("to-code", formula, "--library", library, *texts)[1] == expected
        assert json.loads(run("to-code", formula, "--library", library, "--json", *texts)[1])["source"] == expected
    assert run("to-code", formula, "--library", "javascript", "--standalone", *texts)[1] == nt.to_javascript(
        formula, standalone=True, **shapes
    )
    assert run("to-code", "--library", "einsum", formula, "X=ℝ^{a}", "W=ℝ^{a × b}")[1] == 'einsum("a,ab->b", X, W)\n'
    assert run("to-code", "--library", "einsum", *words[:3], "X=ℝ^{seq × a}")[1] == 'einsum("sa,ab->sb", X, W)\n'
    code, _, messages = run("to-code", "--library", "einsum", "exp X", "X=ℝ^{a}")
    assert code == 1 and "exp X is not a sum of products" in messages
    assert run("explain", "--parameters", str(program), "--of", "g")[0] == 1


def test_a_formula_is_printed_as_a_module_of_pytorch(run):
    pytest.importorskip("torch", reason="a module is PyTorch's")
    text = "f : ℝ^{a} → ℝ^{b}\nf(X) = X ⊙_{a} W\nW ∈ ℝ^{a × b}"
    words = ["to-code", text, "--of", "f", "--style", "module", "--sizes", "a=3,b=2", "X=ℝ^{n × a[3]}"]
    expected = nt.program(text)["f"].to_python("torch", style="module", X="ℝ^{n × a[3]}", sizes={"a": 3, "b": 2})
    assert run(*words)[1] == expected and "class F(torch.nn.Module):" in expected
    assert run(*words, "--library", "torch")[1] == expected
    code, _, message = run(*words, "--library", "numpy")
    assert code == 1 and "modules are supported for torch only" in message


@pytest.mark.sampled(4)
@pytest.mark.parametrize("words", list(examples()), ids=" ".join)
def test_the_examples_of_the_help_run(run, words):
    if words[0] == "devices":  # in a process of its own, whose JAX has as many devices as it asks for
        pytest.importorskip("jax", reason="JAX compiles for devices")
        command = [sys.executable, "-m", "namedtensor", *words]
        assert subprocess.run(command, capture_output=True, cwd=ROOT, timeout=240).returncode == 0
        return
    assert run(*words)[0] == int("widht" in "".join(words[1:2]))


@pytest.mark.slow
def test_check_and_help_do_not_import_numpy():
    code = "import sys; from namedtensor.cli import main; main(sys.argv[1:]); sys.exit('numpy' in sys.modules)"
    for words in (["--help"], ["check", "2 x", "x=ℝ^{a}"], ["render", "2 x", "--to", "tree"]):
        ran = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, cwd=ROOT, timeout=60)
        assert ran.returncode == 0, ran.stderr
