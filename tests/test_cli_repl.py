"""The prompt: what a session keeps, what completion offers, and how lines come to it."""

import io
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from grammar.completion import Known, complete, macros, wants_axis
from grammar.errors import NotationError
from grammar.symbols import GREEK, SYMBOLS
from namedtensor import cli
from namedtensor.cli import repl
from namedtensor.cli.session import Session
from namedtensor.cli.session_commands import COMMANDS, enter
from namedtensor.files.text import InputError

ROOT = Path(__file__).parent.parent


def output_of(*lines):
    """What a session prints for the last of these lines."""
    session = Session()
    return [enter(session, line) for line in lines][-1]


# --------------------------------------------------------------------------------------------------------------- session
@pytest.mark.parametrize(("lines", "printed"), [
    (["1 + 1"], "2"),
    (["x = 3", "x²"], "9"),
    (["f(x) = 2 x", "f(3)"], "6"),
    (["f(x, y) = x − y", "f(5, 3)"], "2"),
    (["f(x) = 2 x", "f(x) = 3 x", "f(3)"], "9"),
    (["f(x) = 2 x", "g(x) = f(x) + 1", "g(3)"], "7"),
    (["f = 2", "f(x) = 2 x", "f(3)"], "6"),
    (["f(x) = 2 x", "f = 4", "f + 1"], "5"),
    (["g : ℝ^{a} → ℝ", "g(v) = ∑_{a} v", "∑_{b} g([1, 2; 3, 4]_{a, b})"], "10"),
    (["|a| = 3", "∑_{a} iota_{a}"], "6"),
    (["|a| = 3", "|a| = 4", "|a|"], "4"),
    (["n = 2", "∑_{a} [5, 7]_{a} ⊙ 1 + [5, 7]_{a}_{a(n)}"], "19"),
    (["X^0 = 1", "X^t = 2 X^{t-1} for t = 1, …, 5", "X^3"], "8"),
    (["|c| = 4", "p_{c(2k)} = 1 for k = 1, …, 2", "p_{c(2k-1)} = 3 for k = 1, …, 2", "∑_{c} p"], "8"),
    (["x = 3", "2 x = x + x"], "this holds"),
    (["W ∈ ℝ^{a}", "W = [1, 2]_{a}", "∑_{a} W"], "3"),
    (["f(x) = 2 x\ng(x) = f(x)\ng(4)"], "8"),
    (["mean = 3", "mean + 1"], "4"),
    ([r"Y = \frac{6}{2}", "Y"], "3"),
    (["f(x, y) = x − y", r"\text{f}(5, \frac{6}{2})"], "2"),
    (["x = 3", ":forget x", "x = 5", "x"], "5"),
    (["# a comment\n3"], "3"),
    (["L = 5", "X^0 = 1\nX^1 = 2 X^0 + 1\n⋮\nX^L = 2 X^{L-1} + 1", "X^4"], "31"),
    (["α, β ∈ ℝ^{a}", "α, β ∈ ℝ^{b}", "β = [1, 2]_{b}", "∑_{b} β"], "3"),
    (["α ∈ ℝ^{a}", "α = [1, 2]_{a}", ":type 2 α"], "ℝ^{a[2]}"),
    (["f(x) = 2 x", ":type f(3)"], "ℝ"),
])  # fmt: skip
def test_lines(lines, printed):
    assert output_of(*lines) == printed


@pytest.mark.parametrize(("lines", "number", "path"), [
    (["x = 3", "x + y"], 201, "y"),
    (["f(x) = x + y", "f(3)"], 201, "y"),
    (["A = [1, 2]_{a}", "A ⊙_{b} A"], 301, "b"),
    (["f(x) = x", "f(x) = "], 105, "="),
    (["x = 3", "2 x = 7"], 403, None),
    ([r"\frac{1}"], 109, None),
    (["W ∈ ℝ^{a}", "2 W"], 206, "W"),
    (["α β +"], 105, "+"),
    (["x = 3", "x = x + 1"], 203, "x"),
    (["x = 3", ":type x ⊙_{b} x"], 301, "b"),
    (["x = 3", ":type x + y)"], 103, ")"),
])  # fmt: skip
def test_errors_are_about_the_line(lines, number, path):
    with pytest.raises(NotationError) as caught:
        output_of(*lines)
    assert caught.value.code == number
    assert path is None or caught.value.span_text == path
    assert "\n" not in (caught.value.source or "")


def test_an_error_changes_nothing():
    session = Session()
    for line in ("x = 3", "f(y) = 2 y"):
        enter(session, line)
    before = dict(session.facts), dict(session.values)
    for line in (
        "x = z",
        "x = ",
        "f(y) = ",
        "f(y) = 3 y\nx = z",
        ":load nothing.nt",
        ":nonsense",
        "x ⊙_{a} 1",
    ):
        with pytest.raises((NotationError, InputError)):
            enter(session, line)
        assert (session.facts, session.values) == before, line


def test_commands(tmp_path):
    (tmp_path / "f.nt").write_text("f(x) = 2 x\nh(x) = f(x) + 1\nY = h(n)", encoding="utf-8")
    (tmp_path / "f.tex").write_text(r"\[ f(x) = 2 x \] and \[ k(x, y) = f(x) + y \]", encoding="utf-8")
    (tmp_path / "a.csv").write_text("name,v\nann,1\nbob,2\n")
    session = Session()
    assert enter(session, f":load {tmp_path}/f.nt") == "f, h, Y"
    enter(session, "n = 4")
    assert enter(session, "Y") == "9"
    assert enter(session, f":load {tmp_path}/f.tex") == "f, k"
    assert enter(session, "k(1, 2)") == "4"
    assert enter(session, f":tensor X={tmp_path}/a.csv[v]:person") == "X : ℝ^{person[2]}"
    assert enter(session, ":tensor L=6") == "L : ℝ"
    assert enter(session, ":type 2 X") == "ℝ^{person[2]}"
    assert "2. 2 X : ℝ^{person[2]}" in enter(session, ":explain 2 X")
    assert "f(x) = 2 x" in enter(session, ":names") and "X : ℝ^{person[2]}" in enter(session, ":names")
    assert r"\frac" in enter(session, ":latex 1 / 2")
    assert enter(session, ":derive X ⊙_{person} X by X") == "D = 2 X^*"
    assert "multiply-adds" in enter(session, ":cost X ⊙_{person} X")
    assert enter(session, f":save X {tmp_path}/x.npy") == f"{tmp_path}/x.npy: ℝ^{{person[2]}}, axes in the order person"
    assert np.load(tmp_path / "x.npy").tolist() == [1, 2]
    assert all(f":{name}" in enter(session, ":help") for name in COMMANDS)
    assert enter(session, ":help softmax").startswith("softmax_{ax} X")
    with pytest.raises(InputError, match=":save NAME FILE"):
        enter(session, ":save X")
    assert not session.over and enter(session, ":q") == "" and session.over


@pytest.mark.parametrize("line", [":", ":wrong", ":load", ":tensor", ":type", ":latex", ":explain", ":forget", ":forget q",
                                  ":tensor X", ":tensor X=no.npy:a", ":load no.nt", ":t", ":derive", ":derive X", ":cost", ":save", ":save q x.npy", ":digits no"])  # fmt: skip
def test_a_wrong_command_is_a_sentence(line):
    with pytest.raises(InputError) as caught:
        enter(Session(), line)
    assert "\n" not in str(caught.value)


def test_digits_are_set_and_set_back():
    session = Session()
    try:
        enter(session, ":digits 9")
        assert enter(session, "1 / 3") == "0.333333333"
    finally:
        enter(session, ":digits")
    assert enter(session, "1 / 3") == "0.333333"


@pytest.mark.parametrize(("word", "over"), [("help", False), ("?", False), ("quit", True), ("exit", True)])
def test_help_and_quit_are_understood_without_the_colon(word, over):
    session = Session()
    assert (":quit" in enter(session, word)) is not over
    assert session.over is over


def test_a_name_that_is_defined_is_no_command():
    session = Session()
    enter(session, "help = 3")
    assert enter(session, "help") == "3"


# ------------------------------------------------------------------------------------------------------------ completion
def offered(text):
    known = Known(("Query", "x"), ("attend",), ("seq", "seq'", "key"))
    return [completion.text for completion in complete(text, known)]


@pytest.mark.parametrize(("text", "first"), [
    (r"A \odot", "⊙"), (r"A \odo", "⊙"), (r"\alpha", "α"), (r"\al", "α"), (r"x \in", "∈"), (r"\sum", "∑"), (r"\le", "≤"),
    (r"\to", "→"), (r"\reals", "ℝ"), (r"\Omega", "Ω"), (r"\sqrt", "√"), (r"\star", "★"), (r"\infty", "∞"), (r"\varepsilon", "ε"),
])  # fmt: skip
def test_macros(text, first):
    assert offered(text)[0] == first


def test_every_sign_and_letter_has_a_macro():
    signs = {symbol.text.split()[0] for symbol in SYMBOLS if not symbol.text.split()[0].isascii()}
    assert signs <= set(macros().values()) | {"→", "≠", "≤", "≥", "…"}
    assert {f"\\{name}" for name in GREEK} <= set(macros())


@pytest.mark.parametrize(("text", "some", "none"), [
    ("Q", ["Query"], ["seq"]),
    ("x + at", ["attend"], []),
    ("soft", ["softmax", "softplus"], ["seq"]),
    ("softmax_{se", ["seq", "seq'"], ["x"]),
    ("x ⊙_{", ["seq", "key"], ["softmax", "Query"]),
    ("X ∈ ℝ^{", ["seq"], ["Query"]),
    ("X ∈ ℝ^{seq × k", ["key"], []),
    ("|s", ["seq"], []),
    ("x ", ["⊙", "+", "="], ["softmax"]),
    ("x +", ["x", "Query", "softmax"], ["⊙"]),
    ("x + su", ["∑"], []),
    ("{ 0 ", ["if"], []),
    ("x \0 ", [], ["x"]),
])  # fmt: skip
def test_what_may_come_next(text, some, none):
    names = offered(text)
    assert set(some) <= set(names) and not set(none) & set(names)


def test_places_of_axes():
    assert [wants_axis(text) for text in ("A_", "A_{a,", "ℝ^{", "x^{", "f(|", "f(", "[1]_{", "A_{a(", "")] == [
        True, True, True, False, True, False, True, False, False,
    ]  # fmt: skip


def test_completion_knows_the_session():
    session = Session()
    for line in ("Weight ∈ ℝ^{chans}", "apply(x) = 2 x", "Y = [1, 2]_{height}", "X^t = X^{t-1} for t = 1, …, 3"):
        enter(session, line)
    known = session.known()
    assert (
        {"Weight", "Y"} <= set(known.tensors)
        and known.functions == ("apply",)
        and {"chans", "height"} <= set(known.axes)
    )


def test_the_tabulator_gives_whole_lines():
    assert repl.whole_lines(r"A \in", Session()) == ["A ∈"]
    assert repl.whole_lines("sof", Session()) == ["softmax", "softplus"]


# ----------------------------------------------------------------------------------------------------------------- lines
@pytest.mark.parametrize(("lines", "statements"), [
    (["1", "2"], ["1", "2"]),
    (["f(x,", "  y)"], ["f(x,\n  y)"]),
    (["A +", "", "B"], ["A +", "B"]),
    (["A +", ":help"], ["A +", ":help"]),
    (["(", "# nothing", "1)"], ["(\n# nothing\n1)"]),
    (["# nothing", "", "1"], ["1"]),
    (["A +", repl.INTERRUPT, "1"], ["1"]),
    (["A ⊙_{", "b} B", "C"], ["A ⊙_{\nb} B", "C"]),
    (["Y ="], ["Y ="]),
    (["A + * B", "C"], ["A + * B", "C"]),
])  # fmt: skip
def test_lines_become_statements(lines, statements):
    assert list(repl.entries(iter(lines), [])) == statements


@pytest.fixture
def piped(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def command(text, *words, encoding="utf-8"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding=encoding))
        status = cli.main(["repl", *words])
        return status, *capsys.readouterr()

    return command


def test_a_session_of_a_pipe(piped, tmp_path):
    assert piped("x = 3\nx + 1\n") == (0, "3\n4\n", "")
    status, printed, messages = piped("A +* B\n1 + 1\n:quit\n5\n", encoding="cp1252")
    assert status == 1 and printed == "2\n" and messages.startswith("syntax error") and "^" in messages
    status, printed, messages = piped("2 x\nW ∈ ℝ^{a}\n2 W\n", "x=5")
    assert printed == "10\n" and ":tensor W=FILE:axis,axis" in messages
    (tmp_path / "f.nt").write_text("f(y) = y x", encoding="utf-8")
    assert piped("f(2)", str(tmp_path / "f.nt"), "x=5") == (0, "10\n", "")
    assert piped("α = 2", "--ascii") == (0, "2\n", "")
    (tmp_path / "t.csv").write_text("ann,1,x\nbob,2,y\n")
    messages = piped("∑_{a,b} T", f"T={tmp_path / 't.csv'}:a,b")
    assert messages == (0, "3\n", "T: left out column 3: no numbers there\n")
    assert piped("", "none.nt")[0] == 2
    assert piped("") == (0, "", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("plain", [True, False])
def test_a_terminal(plain, tmp_path):
    """History, \\odot and the tabulator, Ctrl-C and Ctrl-D, at a real prompt."""
    pty = pytest.importorskip("pty")
    if plain:
        pytest.importorskip("readline")
    else:
        pytest.importorskip("prompt_toolkit")
    talk = _Terminal(pty, tmp_path, ["--plain"] if plain else [])
    talk.until(">")
    talk.type("A = [3, 4]_{ax}\r", "4\r\n", ">")
    talk.type(r"A \odo" + "\t", "⊙")
    talk.type("_{ax} A\r", "25", ">")
    talk.type("7", "7")
    talk.interrupt()
    talk.type("A ⊙_{b} A\r", "hint", ">")
    talk.type("2 + 3\r", "5\r\n", ">")
    talk.type("\x04")
    assert talk.end() == 0
    assert "A ⊙_{ax} A" in (tmp_path / "namedtensor" / "history").read_text(encoding="utf-8")


class _Terminal:
    """A prompt on a pseudo-terminal."""

    def __init__(self, pty, folder, words):
        self.child, self.file = pty.fork()
        if self.child == 0:
            environment = {**os.environ, "XDG_STATE_HOME": str(folder), "TERM": "xterm", "PYTHONPATH": str(ROOT)}
            environment["PYTHONIOENCODING"] = "utf-8"
            environment["LC_ALL"] = "C.UTF-8"
            signal.signal(
                signal.SIGINT, signal.SIG_DFL
            )  # a shell's job in the background ignores it, and so would its child
            os.execve(sys.executable, [sys.executable, "-m", "namedtensor", "repl", *words], environment)
        self.seen = b""

    def until(self, text, seconds=20):
        """Read until `text` is seen, and forget what was up to there."""
        import select
        import time

        end = time.monotonic() + seconds
        while text.encode() not in self.seen and time.monotonic() < end:
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    data = os.read(self.file, 65536)
                except OSError:
                    break
                if b"\x1b[6n" in data:  # where is the cursor?
                    os.write(self.file, b"\x1b[1;1R")
                self.seen += data
        assert text.encode() in self.seen, self.seen
        self.seen = self.seen.partition(text.encode())[2]

    def type(self, text, *answers):
        self.seen = b""
        os.write(self.file, text.encode())
        for answer in answers:
            self.until(answer)

    def interrupt(self):
        """Press Ctrl-C until there is a new prompt: between two keys Python notices it only at the next."""
        for _ in range(20):
            try:
                os.write(self.file, b"\x03")
                return self.until(">", 1)
            except AssertionError:
                continue
        raise AssertionError("Ctrl-C gives no new prompt")

    def end(self):
        import time

        for _ in range(200):
            child, status = os.waitpid(self.child, os.WNOHANG)
            if child:
                os.close(self.file)
                return status
            time.sleep(0.1)
        os.kill(self.child, 9)
        raise AssertionError("the prompt does not end")


def test_prompt_toolkit_completes_and_keeps_history(tmp_path, monkeypatch):
    pytest.importorskip("prompt_toolkit")
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with create_pipe_input() as pipe:
        pipe.send_text("1 + 1\r\x04")
        assert list(repl.prompted(Session(), [], input=pipe, output=DummyOutput())) == ["1 + 1"]
    assert "1 + 1" in (tmp_path / "namedtensor" / "history").read_text()


def test_a_history_that_cannot_be_kept_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert repl.history_file() is None


def test_the_prompt_does_without_prompt_toolkit(monkeypatch):
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    assert repl._lines(Session(), False, []).gi_code is repl.typed.__code__
