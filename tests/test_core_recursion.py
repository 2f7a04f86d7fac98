"""Formulas of thousands of terms: every command and function answers, and none ends in a RecursionError."""

import contextlib
import io
import json
import sys

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.cli import main
from namedtensor.webpage.answers import answer

COUNT = 3000
FORMULAS = {
    "sum": " + ".join(["x"] * COUNT),
    "sum of calls": " + ".join(["softmax_{a} x"] * COUNT),
    "product": " ⊙ ".join(["x"] * COUNT),
    "difference": " - ".join(["x"] * COUNT),
    "quotient": " / ".join(["x"] * COUNT),
    "nested": "(x + " * 180 + "x" + ")" * 180,
}
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


@pytest.mark.parametrize("name", ["sum", "difference", "nested"])
def test_check_reports_on_documents(name, tmp_path):
    for file, text in documents(FORMULAS[name]).items():
        (tmp_path / file).write_text(text)
        status, output = run("check", tmp_path / file)
        assert (status, "0 errors" in output or file.endswith(".nt")) == (0, True), output[-300:]
        assert nt.check_document(text, file).ok


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


def test_commands_on_long_formulas(tmp_path):
    path = tmp_path / "long.nt"
    path.write_text(DECLARED + FORMULAS["sum"])
    for words in (
        ("eval", path, "x=[1,1]:a"), ("explain", path, "x=[1,1]:a"), ("explain", "--cost", path, "x=ℝ^{a[2]}"), ("diagram", path),
        ("render", path, "--to", "latex"), ("render", path, "--to", "tree"), ("derive", path, "--wrt", "x"),
    ):  # fmt: skip
        status, output = run(*words)
        assert status == 0, (words, output[-300:])
    status, output = run("translate", FORMULAS["sum"])
    assert status == 1 and "error 115" in output


@pytest.mark.parametrize("name", FORMULAS)
def test_functions_on_long_formulas(name):
    source = DECLARED + FORMULAS[name]
    formula = nt.formula(source)
    assert (
        not nt.check(source).errors and str(formula) and repr(formula) and formula.to_latex() and str(formula.diagram())
    )
    expected = {
        "sum": COUNT,
        "sum of calls": COUNT / 2,
        "product": 1,
        "difference": 2 - COUNT,
        "quotient": 1,
        "nested": 181,
    }
    assert formula(x=X).to_array().tolist() == [pytest.approx(expected[name])] * 2


def test_long_formulas_are_compared():
    assert not nt.equivalent(FORMULAS["product"], "x", x="ℝ^{a[2]}")
    assert nt.equivalent(FORMULAS["sum"], f"{COUNT} x", x="ℝ^{a[2]}")


def test_an_exercise_is_graded_by_a_long_answer():
    sheet = nt.exercises("#: exercise one points 2\nx ∈ ℝ^{a}\nanswer = 300 x\n")
    assert sheet["one"].grade(" + ".join(["x"] * 300)).correct
    assert not sheet["one"].grade(" ⊙ ".join(["x"] * 300)).correct


@pytest.mark.parametrize("ask", ["check", "same", "translate"])
def test_replies_of_the_page(ask):
    texts = {"text": FORMULAS["sum"], "first": FORMULAS["sum"], "second": f"{COUNT} x"}
    reply = answer({"ask": ask, **texts, "inputs": {"x": "ℝ^{a[2]}"}})
    assert reply["ok"] and "recursion" not in json.dumps(reply)
