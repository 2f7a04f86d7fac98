"""No graded answer is lost if the grading process dies or a `%%exercise` cell has an error; `web/test` has the page."""

import pytest

import namedtensor as nt
from namedtensor.teaching import grading
from namedtensor.webpage.answers import answer

SHEET = "#: exercise total points 2\nX ∈ ℝ^{n × m}\nanswer = ∑_{m} X\n\n#: exercise half\nX ∈ ℝ^{n}\nanswer = X / 2\n"


@pytest.fixture
def dying(monkeypatch):
    """Return the answers during which the grading process died; the process dies at the given number of answers."""
    process, lines = grading.PROCESS, []
    real = process._answer

    def make(deaths):
        def die_first(line, seconds):
            lines.append(line)
            if len(lines) <= deaths:
                process.process.kill()
                process.process.wait()
            return real(line, seconds)

        monkeypatch.setattr(process, "_answer", die_first)
        return lines

    return make


def test_an_answer_is_graded_again_if_the_process_dies(dying):
    lines = dying(1)
    grade = nt.exercises(SHEET)["total"].grade("∑_{m} X")
    assert grade.correct and grade.points == 2 and len(lines) == 2


def test_an_answer_over_which_every_process_dies_is_graded_twice_at_most(dying):
    lines = dying(9)
    grade = nt.exercises(SHEET)["total"].grade("∑_{m} X")
    assert not grade.correct and "died" in grade.feedback and len(lines) == 2
    grading.PROCESS.close()


def test_the_page_has_the_grade_although_the_process_dies(dying):
    dying(1)
    reply = answer({"ask": "grade", "file": SHEET, "name": "total", "answer": "∑_{m} X"})
    assert reply["ok"] and reply["correct"] and reply["counts_as_attempt"] and reply["points"] == 2


class Shell:
    """The part of IPython's shell that the magics use."""

    def __init__(self):
        self.user_ns, self.cells = {}, {}
        nt.load_ipython_extension(self)  # pyright: ignore[reportAttributeAccessIssue]

    def register_magic_function(self, function, kind, name):
        self.cells[name] = function


ERRORS = {  # the line of a cell, its text, and the message in words
    ("none.nt total", "X"): "none.nt: No such file or directory",
    ("lesson 99 total", "X"): "unknown lesson 99",
    ("totl", "X"): "there is no exercise totl; did you mean total?",
    ("", "X"): "name the exercise: %%exercise total",
    ("total", "∑_{m"): "syntax error 102: { is not closed",
    ("total", "∑_{k} X"): "shape error 301: ∑_{k} needs axis k, missing from X",
    ("total", ""): "no answer submitted",
}


def test_a_notebook_keeps_its_exercises_and_grades_after_every_error(tmp_path):
    shell, path = Shell(), tmp_path / "week 3.nt"
    path.write_text(SHEET, encoding="utf-8")
    exercise = shell.cells["exercise"]
    first = exercise(f"{path} total", "∑_{m} X")
    assert first.correct and first.grade.points == 2
    for (line, cell), message in ERRORS.items():
        wrong = exercise(line, cell)
        assert wrong.correct is False and repr(wrong).startswith(message), repr(wrong)
        assert first.correct and exercise("total", "∑_{m} X").grade.points == 2
    assert exercise("half", "X / 2").correct


def test_a_notebook_has_the_grade_although_the_process_dies(dying):
    shell = Shell()
    assert shell.cells["exercise"]("lesson 1 column-sums", "∑_{height} A").correct
    lines = dying(1)
    result = shell.cells["exercise"]("column-sums", "∑_{height} A")
    assert result.correct and result.grade.points == result.grade.max_points and len(lines) == 2
