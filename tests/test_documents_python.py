"""Python files: which of their strings are read as formulas, and what their calls say of the inputs."""

import pytest

import namedtensor as nt
from namedtensor.documents.check_files import check_python
from namedtensor.documents.verdicts import CONDITION, PROVED, Draws

IMPORT = "import namedtensor as nt\n"
CASES = {  # the file, and the code, line, column and text of each error
    "a function that is imported": (
        "from namedtensor import evaluate as ev\nev('∑_{b} x', x='ℝ^{a}')",
        [(301, 2, 8, "b")],
    ),
    "a function of a module of the same name": (
        "from .namedtensor import evaluate\nevaluate('∑_{b} x', x='ℝ^{a}')",
        [],
    ),
    "a method of what a call returns": (IMPORT + "f().evaluate('∑_{b} x', x='ℝ^{a}')", []),
    "no formula": (IMPORT + "nt.evaluate()\nnt.evaluate('∑_{b} x', x='ℝ^{a}')", [(301, 3, 17, "b")]),
    "a tensor whose axes are a number": (IMPORT + "x = nt.tensor([1, 2], 3)\nnt.evaluate('∑_{b} x', x=x)", []),
    "inputs that are not shown": (IMPORT + "nt.evaluate('∑_{a} x + y', x='ℝ^{a}', **others)", []),
    "inputs whose names are not shown": (IMPORT + "nt.evaluate('∑_{a} x + y', {'x': 'ℝ^{a}', name: 1})", []),
    "a size that contradicts a shape": (
        IMPORT + "nt.evaluate('∑_{b} x', sizes={'b': 3}, x='ℝ^{b[4]}')",
        [(308, 2, 17, "b")],
    ),
    "sizes that are not shown": (IMPORT + "nt.evaluate('∑_{b} x', sizes=sizes, x='ℝ^{b[4]}')", []),
    "a shape that cannot be read is wrong at the formula": (
        IMPORT + "nt.evaluate('∑_{a} x', x='ℝ^{a')",
        [(102, 2, 14, "∑_{a} x")],
    ),
    "a formula that cannot be read": (IMPORT + "nt.formula('∑_{a x')", [(102, 2, 15, "{")]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_errors_of_a_python_file(name):
    text, expected = CASES[name]
    result = nt.check_document(text, "model.py")
    assert [(error.code, *error.position(), error.span_text) for error in result.errors] == expected


def test_the_assertions_of_a_python_file_are_tested_on_draws():
    text = IMPORT + "nt.program('''x ∈ ℝ^{a}\n∑_{a} softmax_{a} x = 1''')\n"
    report = check_python(text, "model.py", draws=Draws())
    (proved,) = report.tried
    assert (proved.status, text[slice(*proved.span)]) == (PROVED, "∑_{a} softmax_{a} x = 1") and not report.errors

    wrong = check_python(text.replace("= 1", "= 2"), "model.py", draws=Draws())
    assert [tried.status for tried in wrong.tried] == [CONDITION]  # all names in it are inputs

    (error,) = check_python(text.replace("= 1", "= 2 ∑_{a} x"), "model.py", draws=Draws()).errors
    assert (error.code, error.position(), error.span_text) == (403, (3, 1), "∑_{a} softmax_{a} x = 2 ∑_{a} x")


@pytest.mark.parametrize(("path", "options", "message", "hint"), [
    ("notes.xyz", {}, "cannot tell what notes.xyz is", "expected one of .nt, .py, .tex, .md, .markdown, .qmd, .rmd, .mdx, .rst, .ipynb, .html, .htm"),
    ("notes.tex", {"read": 3}, "read= must be a function of a path, got 3", "write read=lambda path: texts.get(path)"),
])  # fmt: skip
def test_what_is_wrong_with_the_arguments_of_check_document(path, options, message, hint):
    with pytest.raises(nt.NotationError) as caught:
        nt.check_document("$x$", path, **options)
    assert (caught.value.message, str(caught.value.hint)) == (message, hint)
