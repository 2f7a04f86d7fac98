"""Functions that follow a formula: sizes of calls, values, labels of a paper, and the plugin of pytest."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError
from namedtensor.positional import pytest_plugin

ATTENTION = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
AXES = {"Q": "batch query key", "K": "batch seq key", "V": "batch seq val", "gives": "batch query val"}
PAPER = r"""\documentclass{article}\begin{document}
\begin{equation} \label{eq:attention}
A = \left( \nfun{\seq}{softmax} \frac{Q \ndot{\key} K}{\sqrt{|\key|}} \right) \ndot{\seq} V
\end{equation}
\begin{equation} \label{eq:scores}
S = Q \ndot{\key} K
\end{equation}
\end{document}
"""


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@nt.follows(ATTENTION, **AXES)
def attention(q, k, v):
    return softmax(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])) @ v


@nt.follows(ATTENTION, **AXES)
def without_scale(q, k, v):
    return softmax(q @ k.swapaxes(1, 2)) @ v


def test_a_right_function_passes_and_is_itself():
    attention.verify()
    q, k, v = (np.ones(shape) for shape in ((2, 3, 4), (2, 5, 4), (2, 5, 6)))
    assert attention(q, k=k, v=v).shape == (2, 3, 6) and attention.__name__ == "attention"


def test_sizes_of_a_call_are_checked_by_name():
    q, k, v = (np.ones(shape) for shape in ((2, 3, 4), (2, 5, 4), (2, 6, 6)))
    with pytest.raises(nt.DifferenceError, match="attention: seq is 6 in v, and 5 in k"):
        attention(q, k, v)
    with pytest.raises(nt.DifferenceError, match=r"k has the shape \(5, 4\), and its axes are batch seq key"):
        attention(q, k[0], v)
    wrong = nt.follows("X", X="a b", gives="a b")(lambda x: x[1:])
    with pytest.raises(nt.DifferenceError, match="a is 2 in the result, and 3 in the arguments"):
        wrong(np.ones((3, 2)))


def test_a_wrong_function_is_told_in_the_same_words_each_time():
    message = set()
    for _ in range(2):
        with pytest.raises(nt.DifferenceError) as differs:
            without_scale.verify()
        message.add(str(differs.value))
    (words,) = message
    assert words.startswith(
        f"without_scale is not {ATTENTION}\n  with batch = 1, query = 1, key = 2, seq = 2, val = 1: at {{"
    )


def test_a_call_costs_little_and_nothing_where_it_is_off(monkeypatch):
    plain = nt.follows(ATTENTION, **AXES)(lambda q, k, v: v)
    v = np.ones((2, 3, 4))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(1000):
            plain(v, v, v)
        times.append(time.perf_counter() - start)
    assert min(times) / 1000 < 30e-6  # some 6 µs on an idle machine
    monkeypatch.setenv("NAMEDTENSOR_CHECK", "0")

    def function(q, k, v):
        return v

    assert nt.follows(ATTENTION, **AXES)(function) is function and callable(function.verify)


def test_a_call_is_checked_where_it_has_shapes():
    both = nt.follows("X + Y", X="a a", Y="a", gives="a a")(lambda x, y=None: [*x])
    assert both(np.ones((2, 2))) and both(np.ones((2, 2)), y=np.ones(2))
    with pytest.raises(nt.DifferenceError, match="^<lambda>: a is 3 in x, and 2 in x$"):
        both(np.ones((2, 3)), None)
    with pytest.raises(nt.DifferenceError, match="^<lambda>: a is 3 in y, and 2 in x$"):
        both(np.ones((2, 2)), y=np.ones(3))
    number = nt.follows("∑_{a} X", X="a", gives="")(lambda x: x)
    with pytest.raises(
        nt.DifferenceError, match=r"^<lambda>: the result has the shape \(2,\), and its axes are a number$"
    ):
        number(np.ones(2))


@pytest.mark.parametrize(
    ("function", "gives", "message"),
    [
        (lambda x: 2 * x[:, :1], "a b", "with a = 1, b = 2: its shape is (1, 1), and that of the formula (1, 2)"),
        (lambda x: x.missing, "a b", "<lambda> does not run on random arrays of numpy: AttributeError: "),
        (lambda x: np.where(x.shape[0] > 2, 3, 2) * x, "a b", "with a = 6, b = 1: at {"),
    ],
)
def test_a_function_with_other_values_is_told_at_the_smallest_sizes(function, gives, message):
    with pytest.raises(nt.DifferenceError) as differs:
        nt.follows("2 X", X="a b", gives=gives)(function).verify()
    assert message in str(differs.value)


def test_a_formula_with_other_axes_than_the_function_is_an_error():
    with pytest.raises(NotationError, match="the formula gives a b, and the function a c"):
        nt.follows("X", X="a b", gives="a c")(lambda x: x).verify()


def test_wrong_uses_are_told():
    with pytest.raises(NotationError, match="takes 1 arrays, and the formula has X, Y"):
        nt.follows("X + Y", X="a", Y="a", gives="a")(lambda x: x)
    with pytest.raises(NotationError, match='check= is "shapes" or "off"'):
        nt.follows("X", X="a", gives="a", check="all")
    with pytest.raises(NotationError, match="no document is given for #eq:x"):
        nt.follows("#eq:x", X="a", gives="a")(lambda x: x).verify()


def test_methods_and_functions_of_torch():
    torch = pytest.importorskip("torch")

    @nt.follows(ATTENTION, **AXES)
    def attend(q, k, v):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        weights = torch.softmax(scores, -2)
        return weights @ v

    with pytest.raises(nt.DifferenceError) as differs:
        attend.verify()
    words = str(differs.value)
    assert "weights = torch.softmax(scores, -2)" in words and "with softmax_{seq} instead of softmax_{query}" in words

    @nt.follows("2 X", X="a b", gives="a b")
    class Twice(torch.nn.Module):
        def forward(self, x):
            return 2 * x

    Twice.forward.verify(Twice())
    with pytest.raises(nt.DifferenceError, match="x has the shape"):
        Twice()(torch.ones(3))


@pytest.mark.sampled(3)
def test_functions_of_jax():
    jax = pytest.importorskip("jax")

    @nt.follows(ATTENTION, **AXES)
    def attend(q, k, v):
        return jax.nn.softmax(q @ k.swapaxes(1, 2) / q.shape[-1] ** 0.5, -1) @ v

    attend.verify()


def test_a_formula_by_its_label(tmp_path, monkeypatch):
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    nt.follows("paper.tex#eq:attention", **AXES)(attention.__wrapped__).verify()
    with pytest.raises(NotationError, match="no formula with the label eq:none") as problem:
        nt.follows("paper.tex#eq:none", **AXES)(attention.__wrapped__).verify()
    assert "eq:attention, eq:scores" in str(problem.value)
    (tmp_path / "plain.tex").write_text(r"\[ x + 1 \]", encoding="utf-8")
    with pytest.raises(NotationError, match="none of its formulas has a label"):
        nt.follows("plain.tex#eq:none", **AXES)(attention.__wrapped__).verify()


MODEL = """
import numpy as np
import namedtensor as nt

@nt.follows("#eq:scores", Q="query key", K="seq key", gives="query seq")
def right(q, k):
    return q @ k.T

@nt.follows("#eq:scores", Q="query key", K="seq key", gives="query seq")
def wrong(q, k):
    return 2 * q @ k.T
"""


@pytest.mark.parametrize(("document", "listed"), [(None, []), ("paper.tex", [os.path.abspath("paper.tex")])])
def test_the_plugin_keeps_a_document_as_long_as_a_session(monkeypatch, document, listed):
    class Config:
        def getoption(self, option):
            return document

    monkeypatch.setattr(pytest_plugin, "DOCUMENT", [])
    pytest_plugin.pytest_configure(Config())
    assert pytest_plugin.DOCUMENT == listed
    pytest_plugin.pytest_unconfigure(Config())
    assert pytest_plugin.DOCUMENT == []


@pytest.mark.slow
def test_the_plugin_tests_each_function(tmp_path):
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    root = Path(__file__).parent.parent
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "namedtensor.positional.pytest_plugin",
        "model.py",
        "--formulas",
        "paper.tex",
    ]
    # where the package is installed, pytest would load the plugin twice
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout
    assert "wrong is not #eq:scores" in done.stdout and "Traceback" not in done.stdout
