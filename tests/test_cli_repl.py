"""The prompt: what a session keeps, what completion offers, and how lines come to it."""

import io
import os
import signal
import sys
from pathlib import Path

import pytest

from grammar.completion import Known, complete, macros, wants_axis
from grammar.errors import NotationError
from grammar.symbols import GREEK, SYMBOLS
from namedtensor import cli
from namedtensor.cli.console import Console
from namedtensor.cli.repl import Prompt, history_file

ROOT = Path(__file__).parent.parent


def session():
    return Prompt(Console(), {})


def output_of(*lines):
    """Return the text that a session prints for the last of these lines."""
    prompt = session()
    return [prompt.enter(line) for line in lines][-1]


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
    (["x = 1", "y = 2 x", "x = 5", "y"], "10"),
    (["# a comment\n3"], "3"),
    (["L = 5", "X^0 = 1\nX^1 = 2 X^0 + 1\n⋮\nX^L = 2 X^{L-1} + 1", "X^4"], "31"),
    (["α, β ∈ ℝ^{a}", "α, β ∈ ℝ^{b}", "β = [1, 2]_{b}", "∑_{b} β"], "3"),
])  # fmt: skip
def test_lines(lines, printed):
    assert output_of(*lines) == printed


@pytest.mark.parametrize(("lines", "number", "path"), [
    (["x = 3", "x + y"], 201, "y"),
    (["A = [1, 2]_{a}", "A ⊙_{b} A"], 301, "b"),
    (["f(x) = x", "f(x) = "], 105, "="),
    (["x = 3", "2 x = 7"], 403, None),
    ([r"\frac{1}"], 109, None),
    (["W ∈ ℝ^{a}", "2 W"], 206, "W"),
    (["α β +"], 105, "+"),
    (["x = 3", "x = x + 1"], 203, "x"),
    (["x = 3", "x ⊙_{b} x"], 301, "b"),
    (["x = 3", "x + y)"], 103, ")"),
])  # fmt: skip
def test_errors_are_about_the_line(lines, number, path):
    with pytest.raises(NotationError) as caught:
        output_of(*lines)
    assert caught.value.code == number
    assert path is None or caught.value.span_text == path
    assert "\n" not in (caught.value.source or "")


def test_an_error_in_an_earlier_line_shows_that_line():
    with pytest.raises(NotationError, match="undefined name y") as caught:
        output_of("f(x) = x + y", "f(3)")
    assert "1 | f(x) = x + y" in str(caught.value)


def test_an_error_changes_nothing():
    prompt = session()
    for line in ("x = 3", "f(y) = 2 y"):
        prompt.enter(line)
    before = prompt.entries
    for line in ("x = z", "x = ", "f(y) = ", "f(y) = 3 y\nx = z", "x ⊙_{a} 1"):
        with pytest.raises(NotationError):
            prompt.enter(line)
        assert prompt.entries == before, line


def test_elements_are_defined_one_line_after_the_other():
    prompt = session()
    for line in ("|c| = 2", "p_{c(1)} = 5"):
        prompt.enter(line)
    assert prompt.enter("p_{c(2)} = 7").split()[-2:] == ["5", "7"]
    assert prompt.enter("p_{c(1)} = 1").split()[-2:] == ["1", "7"]
    assert prompt.enter("p = [3, 4]_{c}").split()[-2:] == ["3", "4"]


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
    prompt = session()
    for line in ("Weight ∈ ℝ^{chans}", "apply(x) = 2 x", "Y = [1, 2]_{height}", "X^t = X^{t-1} for t = 1, …, 3"):
        prompt.enter(line)
    known = prompt.known()
    assert (
        {"Weight", "Y"} <= set(known.tensors)
        and known.functions == ("apply",)
        and {"chans", "height"} <= set(known.axes)
    )


def test_tab_completes_whole_lines():
    assert [session().complete_line(r"A \in", state) for state in range(2)] == ["A ∈", None]
    assert [session().complete_line("sof", state) for state in range(3)] == ["softmax", "softplus", None]


# ----------------------------------------------------------------------------------------------------------------- lines
@pytest.mark.parametrize(("lines", "statements"), [
    (["1", "2"], ["1", "2"]),
    (["f(x,", "  y)"], ["f(x,\n  y)"]),
    (["A +", "", "B"], ["A +", "B"]),
    (["(", "# nothing", "1)"], ["(\n# nothing\n1)"]),
    (["# nothing", "", "1"], ["1"]),
    (["A ⊙_{", "b} B", "C"], ["A ⊙_{\nb} B", "C"]),
    (["Y ="], ["Y ="]),
    (["A + * B", "C"], ["A + * B", "C"]),
])  # fmt: skip
def test_lines_become_statements(lines, statements, monkeypatch):
    entered = []
    monkeypatch.setattr(Prompt, "enter", lambda prompt, text: entered.append(text) or "")
    prompt = session()
    for line in [*lines, ""]:
        prompt.push(line)
    assert entered == statements


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
    assert piped("1 + 1\nquit\n2 + 2\n") == (0, "2\n", "")
    status, printed, messages = piped("A +* B\n1 + 1\n", encoding="cp1252")
    assert status == 1 and printed == "2\n" and messages.startswith("syntax error") and "^" in messages
    status, printed, messages = piped("2 x\nW ∈ ℝ^{a}\n2 W\n", "x=5")
    assert printed == "10\n" and "namedtensor repl W=FILE:axis,axis" in messages
    (tmp_path / "f.nt").write_text("f(y) = y x", encoding="utf-8")
    assert piped("f(2)", str(tmp_path / "f.nt"), "x=5") == (0, "10\n", "")
    assert piped("α = 2", "--ascii") == (0, "2\n", "")
    (tmp_path / "t.csv").write_text("ann,1,x\nbob,2,y\n")
    messages = piped("∑_{a,b} T", f"T={tmp_path / 't.csv'}:a,b")
    assert messages == (0, "3\n", "T: left out column 3: no numbers there\n")
    assert piped("", "none.nt")[0] == 2
    status, printed, messages = piped(":type x\n", "x=5")
    assert (status, printed) == (1, "") and "write namedtensor check, explain" in messages
    assert piped("") == (0, "", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal(tmp_path):
    """Use the history, \\odot and Tab, Ctrl-C and Ctrl-D at a real prompt."""
    pty = pytest.importorskip("pty")
    pytest.importorskip("readline")
    talk = _Terminal(pty, tmp_path)
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

    def __init__(self, pty, folder):
        self.child, self.file = pty.fork()
        if self.child == 0:
            environment = {**os.environ, "XDG_STATE_HOME": str(folder), "TERM": "xterm", "PYTHONPATH": str(ROOT)}
            environment["PYTHONIOENCODING"] = "utf-8"
            environment["LC_ALL"] = "C.UTF-8"
            signal.signal(
                signal.SIGINT, signal.SIG_DFL
            )  # a shell's job in the background ignores it, and so would its child
            os.execve(sys.executable, [sys.executable, "-m", "namedtensor", "repl"], environment)
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


def test_a_history_that_cannot_be_kept_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("builtins.input", lambda prompt: "exit")
    with pytest.raises(OSError):
        history_file()
    session().run_terminal()
