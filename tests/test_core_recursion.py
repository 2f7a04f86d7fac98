"""Formulas of thousands of terms: every command and function answers, and none ends in a RecursionError."""

import contextlib
import io
import json
import sys

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.cli import main
from namedtensor.core import settings
from namedtensor.webpage.answers import answer

COUNT = 1200  # a walk with one call per term exceeds Python's limit of 1000
LONGEST = 3000
HEADROOM = settings.HEADROOM


def formulas(count):
    """Return formulas of `count` terms, and a deeply nested formula."""
    return {
        "sum": " + ".join(["x"] * count),
        "sum of calls": " + ".join(["softmax_{a} x"] * count),
        "product": " ⊙ ".join(["x"] * count),
        "difference": " - ".join(["x"] * count),
        "quotient": " / ".join(["x"] * count),
        "nested": "(x + " * 180 + "x" + ")" * 180,
    }


FORMULAS = formulas(COUNT)
DECLARED = "x ∈ ℝ^{a}\n"
X = nt.tensor(np.array([1.0, 1.0]), "a")


def documents(formula):
    """Return the texts of documents of each kind that contain a formula."""
    latex = nt.to_latex(formula)
    markdown = f"# Long\n\nLet $x \\in \\reals^{{\\name{{a}}}}$.\n\n$$ y = {latex} $$\n"
    python = f"import namedtensor as nt\nnt.evaluate({formula!r}, x=x)\n"
    cells = [{"cell_type": "markdown", "source": markdown, "metadata": {}}]
    return {
        "long.nt": f"{DECLARED}y = {formula}\n",
        "long.md": markdown,
        "long.html": f"<p>Let \\(x \\in \\reals^{{\\name{{a}}}}\\).</p>\n$$ y = {latex} $$\n",
        "long.tex": "\\documentclass{article}\n\\begin{document}\n"
        + markdown.replace("# Long", "\\section{Long}")
        + "\\end{document}\n",
        "long.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
        "long.py": python,
    }


def run(*words):
    """Run a command with Python's default recursion limit and return its status and output."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = main([str(word) for word in words])
    return status, output.getvalue()


@pytest.fixture(autouse=True)
def default_recursion_limit():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    assert sys.getrecursionlimit() == 1000
    sys.setrecursionlimit(before)


@pytest.fixture(autouse=True)
def headroom_of_long_formulas(monkeypatch):
    """Allow each term of a long formula as many nested calls as a term of the longest formula has."""
    monkeypatch.setattr(settings, "HEADROOM", HEADROOM * COUNT // LONGEST)


@pytest.fixture
def whole_headroom(headroom_of_long_formulas, monkeypatch):
    monkeypatch.setattr(settings, "HEADROOM", HEADROOM)


def verify_report(formula, file, folder):
    """Check a document that contains a formula, by the command and by the function."""
    text = documents(formula)[file]
    (folder / file).write_text(text)
    status, output = run("check", folder / file)
    assert (status, "0 errors" in output or file.endswith(".nt")) == (0, True), output[-300:]
    assert nt.check_document(text, file).ok


@pytest.mark.sampled(6)
@pytest.mark.parametrize("file", ["long.nt", "long.md", "long.html", "long.tex", "long.ipynb", "long.py"])
@pytest.mark.parametrize("name", ["sum", "difference", "nested"])
def test_check_reports_on_documents(name, file, tmp_path):
    verify_report(FORMULAS[name], file, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("whole_headroom")
def test_check_reports_on_the_longest_documents(tmp_path):
    verify_report(formulas(LONGEST)["sum"], "long.md", tmp_path)


def test_an_error_beside_a_long_formula_is_reported(tmp_path):
    text = documents(FORMULAS["sum"])["long.md"] + "\n$$ z = \\nsum{\\name{b}} x $$\n"
    (tmp_path / "long.md").write_text(text)
    status, output = run("check", tmp_path / "long.md")
    assert status == 1 and "error 301" in output and "1 error" in output


def test_a_document_with_a_long_formula_is_a_program(tmp_path):
    path = tmp_path / "long.md"
    path.write_text(documents(FORMULAS["sum"])["long.md"])
    program = nt.load_program(path)
    assert program(x=X).to_array().tolist() == [COUNT, COUNT]
    assert not hasattr(program, "unknown_name")


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    "words",
    [
        ("eval", "x=[1,1]:a"), ("explain", "x=[1,1]:a"), ("explain", "--cost", "x=ℝ^{a[2]}"), ("diagram",),
        ("render", "--to", "latex"), ("render", "--to", "tree"), ("derive", "--wrt", "x"),
    ],
)  # fmt: skip
def test_commands_on_long_formulas(words, tmp_path):
    path = tmp_path / "long.nt"
    path.write_text(DECLARED + FORMULAS["sum"])
    status, output = run(words[0], path, *words[1:])
    assert status == 0, output[-300:]


def test_translate_refuses_a_long_formula():
    status, output = run("translate", FORMULAS["sum"])
    assert status == 1 and "error 115" in output


def verify_functions(name, count):
    """Check, print, draw and evaluate a formula of `count` terms."""
    source = DECLARED + formulas(count)[name]
    formula = nt.formula(source)
    assert not nt.check(source).errors
    assert str(formula) and repr(formula) and formula.to_latex() and str(formula.diagram())
    expected = {
        "sum": count,
        "sum of calls": count / 2,
        "product": 1,
        "difference": 2 - count,
        "quotient": 1,
        "nested": 181,
    }
    assert formula(x=X).to_array().tolist() == [pytest.approx(expected[name])] * 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FORMULAS)
def test_functions_on_long_formulas(name):
    verify_functions(name, COUNT)


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.usefixtures("whole_headroom")
@pytest.mark.parametrize("name", ["sum of calls", "product", "quotient"])
def test_functions_on_the_longest_formulas(name):
    verify_functions(name, LONGEST)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "other", "equal"), [("product", "x", False), ("sum", f"{COUNT} x", True)])
def test_long_formulas_are_compared(name, other, equal):
    assert bool(nt.equivalent(FORMULAS[name], other, x="ℝ^{a[2]}")) is equal


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("operator", "correct"), [("+", True), ("⊙", False)])
def test_an_exercise_is_graded_by_a_long_answer(operator, correct):
    sheet = nt.exercises("#: exercise one points 2\nx ∈ ℝ^{a}\nanswer = 300 x\n")
    assert sheet["one"].grade(f" {operator} ".join(["x"] * 300)).correct is correct


@pytest.mark.parametrize("ask", ["check", "same", "translate"])
def test_replies_of_the_page(ask):
    texts = {"text": FORMULAS["sum"], "first": FORMULAS["sum"], "second": f"{COUNT} x"}
    reply = answer({"ask": ask, **texts, "inputs": {"x": "ℝ^{a[2]}"}})
    assert reply["ok"] and "recursion" not in json.dumps(reply)
