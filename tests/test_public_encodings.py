"""What is printed where standard output cannot encode the notation: ASCII, and never a UnicodeEncodeError."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ENCODINGS = ("ascii", "cp1252", "latin-1", "cp437")
PRINTED = r"""
import namedtensor as nt, numpy as np
X = nt.tensor(np.arange(6.0).reshape(2, 3), "α' height")
f = nt.formula("softmax_{β}(Q ⊙_{κ} K / √(|κ|)) ⊙_{β} V · γ²")
shapes = {"Q": "ℝ^{κ[2]}", "K": "ℝ^{β[3] × κ[2]}", "V": "ℝ^{β[3]}", "γ": "ℝ"}
print(X, repr(X), f"{X:.2f}", X.shape, nt.tensor(2.0), sep="\n")
print(f, repr(f), nt.program("y = x ⊙ x\n|a| = 3"), sep="\n")
print(nt.check(f, **shapes), f.cost(shapes), f.compile("numpy").specialize(**shapes).plan, sep="\n")
print(f.highlight())
print(nt.explain("∑_{a} α", α=nt.tensor([1.0, 2.0], "a")))
print(nt.equivalent("∑_{a} x", "∑_{a} x^2", x="ℝ^{a}"), nt.prove("∑_{a} 2 x = 2 ∑_{a} x", x="ℝ^{a}"))
closed = nt.derivative("∑_{a} γ^2", "γ").closed_form(γ="ℝ^{a}")
print(closed, repr(closed), *closed.steps, sep="\n")
print(nt.gradient(nt.program("w ∈ ℝ^{a}\nL = ∑_{a} w^2"), "L", wrt=["w"]))
print(nt.exercises("#: exercise one\n# Was ist ∑?\nX ∈ ℝ^{n}\nanswer = ∑_{n} X"))
print(nt.exercises("#: exercise one\nX ∈ ℝ^{n}\nanswer = ∑_{n} X")["one"].grade("X ⊙ X"))
for wrong in ("X ⊙_{β} Y", "σ(", "∑_{a} ξ"):
    try:
        nt.evaluate(wrong, X=X, Y=X)
    except nt.NotationError as problem:
        print(problem, repr(problem))
import transformer
print(transformer.LayerNorm.init(seed=0, sizes={"chans": 4}), transformer.LayerNorm.formula)
"""


def python(*arguments: str, encoding: str, utf8: str = "0") -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding, "PYTHONUTF8": utf8}
    return subprocess.run([sys.executable, *arguments], capture_output=True, env=environment, stdin=subprocess.DEVNULL)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_all_that_is_public_can_be_printed(encoding, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PRINTED, encoding="utf-8")
    done = python(str(script), encoding=encoding)
    assert done.returncode == 0, done.stderr.decode(encoding, "replace")
    text = done.stdout.decode(encoding)
    assert "softmax_beta(Q @_{kappa} K / sqrt|kappa|) @_{beta} V * gamma^2" in text
    assert "(x * x)" not in text and "y = x * x" in text
    assert "?" not in text.replace("Was ist sum?", "")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8"])
def test_a_stream_that_can_show_the_notation_gets_it(encoding, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PRINTED, encoding="utf-8")
    done = python(str(script), encoding=encoding)
    assert done.returncode == 0, done.stderr.decode()
    assert "√|κ|) ⊙_{β} V ⊙ γ^2" in done.stdout.decode()


CARETS = """
import namedtensor as nt
try:
    nt.evaluate("γ ⊙_{β} ξξ", γ=nt.tensor([1.0], "a"))
except nt.NotationError as problem:
    print(problem)
"""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_the_carets_of_an_error_stay_where_they_belong(encoding, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(CARETS, encoding="utf-8")
    lines = python(str(script), encoding=encoding).stdout.decode(encoding).splitlines()
    source, caret = lines[1], lines[2]
    assert "gamma @_{beta}" in source, lines
    assert source[caret.index("^") :].startswith("xi"), lines


COMMANDS = [
    ("render", "A ⊙_{κ} γ"),
    ("eval", "∑_{a} X", "X=[1, 2]:a"),
    ("check", "A ⊙_{κ} γ", "A=ℝ^{κ[3]}", "γ=ℝ^{κ[3]}"),
    ("explain", "∑_{α} X", "X=[1, 2]:α"),
    ("derive", "∑_{a} x^2", "--wrt", "x", "x=ℝ^{a[2]}", "--steps"),
    ("explain", "--cost", "A ⊙_{κ} γ", "A=ℝ^{κ[3]}", "γ=ℝ^{κ[3]}"),
    ("eval", "σ("),
    ("help",),
    ("help", "softmax"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command))
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_every_command_can_be_printed(encoding, command):
    code = f"import sys; from namedtensor.cli import main; sys.exit(main({list(command)!r}))"
    done = python("-c", code.encode("ascii", "backslashreplace").decode(), encoding=encoding)
    assert done.returncode in (0, 1), done.stderr
    assert b"Traceback" not in done.stderr and (done.stdout or done.stderr), done.stderr
    done.stdout.decode("ascii")
