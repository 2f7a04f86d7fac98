"""No graded answer is lost: if the grading process dies, a cell has an error, or a student hands in several files.

`web/test` has the page.
"""

import os

import pytest

import namedtensor as nt
from namedtensor.cli.commands import main
from namedtensor.teaching import grading, sheet_files
from namedtensor.webpage.answers import answer

SHEET = "#: exercise total points 2\nX ∈ ℝ^{n × m}\nanswer = ∑_{m} X\n\n#: exercise half\nX ∈ ℝ^{n}\nanswer = X / 2\n"


@pytest.fixture
def dying(monkeypatch):
    """Return the answers during which the grading process died; the process dies at the given number of answers."""
    process, lines = grading.PROCESS, []
    real = process._send

    def make(deaths):
        def die_first(line):
            lines.append(line)
            if len(lines) <= deaths:
                process.process.kill()
                process.process.wait()
            real(line)

        monkeypatch.setattr(process, "_send", die_first)
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


# ------------------------------------------------------------------------------------------------------- files of a class
def grade_folder(folder, texts, capsys, *words):
    """Grade files that all have the same date, and return the lines of the output and the notes."""
    handed = folder / "handed"
    handed.mkdir()
    (folder / "key.nt").write_text(SHEET, encoding="utf-8")
    for name, text in texts.items():
        (handed / name).write_text(text, encoding="utf-8")
        os.utime(handed / name, (1000, 1000))
    assert main(["exercises", "grade", str(handed), "--key", str(folder / "key.nt"), *words]) == 0
    output = capsys.readouterr()
    return output.out.splitlines(), output.err


def attempts(*formulas, student="Ada"):
    return f"#: student {student}\n" + "".join(f"#: exercise total\n{formula}\n" for formula in formulas)


@pytest.mark.parametrize(("counts", "points"), [("last", 2), ("best", 2), ("first", 2)])
def test_an_answer_that_is_given_again_is_the_last_and_the_first(tmp_path, capsys, counts, points):
    text = attempts("∑_{m} X", "∑_{n} X", "∑_{m} X")
    lines, _ = grade_folder(tmp_path, {"ada.nt": text}, capsys, "--counts", counts)
    assert lines == [f"Ada: {points} of 3 points; not solved: half"]


def test_the_second_download_is_later_than_the_first_if_an_archive_gives_both_one_date(tmp_path, capsys):
    texts = {"ada (10).nt": attempts("∑_{m} X"), "ada (9).nt": attempts("X"), "ada.nt": attempts("∑_{n} X")}
    lines, notes = grade_folder(tmp_path, texts, capsys)
    assert lines == ["Ada: 2 of 3 points; not solved: half"]
    assert "Ada: attempts from 3 files, oldest first: " in notes
    assert notes.index("ada.nt") < notes.index("ada (9).nt") < notes.index("ada (10).nt")


def test_files_without_a_name_are_of_different_students(tmp_path, capsys):
    texts = {"answers.nt": attempts("∑_{m} X", student=""), "answers (1).nt": attempts("X", student="")}
    lines, notes = grade_folder(tmp_path, texts, capsys)
    assert [line.partition(":")[0] for line in lines] == ["answers", "answers (1)"] and "attempts from" not in notes


def test_a_file_without_an_exercise_is_reported(tmp_path, capsys):
    _, notes = grade_folder(tmp_path, {"ada.nt": attempts("X"), "bob.nt": "∑_{m} X\n"}, capsys)
    assert "bob.nt has no line #: exercise NAME, so it has no answers" in notes and "ada.nt has" not in notes


def test_a_link_is_not_graded_when_it_is_named(tmp_path, capsys):
    (tmp_path / "key.nt").write_text(SHEET, encoding="utf-8")
    link = tmp_path / "answers.nt"
    link.symlink_to(tmp_path / "key.nt")
    assert main(["exercises", "grade", str(link), "--key", str(tmp_path / "key.nt")]) == 2
    assert "answers.nt is a link, and links are not followed" in capsys.readouterr().err


# -------------------------------------------------------------------------------------------------------- released sheets
def release(text):
    """Return the text of a released file, and its exercises."""
    result = sheet_files.release_sheet(text, nt.exercises(text))
    return result, nt.exercises(result)


def test_a_function_with_a_given_signature_is_a_right_answer_in_a_released_file():
    text = "#: exercise cubes\nf : ℝ^{n} → ℝ\nX ∈ ℝ^{n}\nf(X) = ∑_{n} X^3"
    for sheet in (nt.exercises(text), release(text)[1]):
        assert sheet["cubes"].grade("f(X) = ∑_{n} X^3") and sheet["cubes"].grade("∑_{n} X^3")
        assert "X is given" in sheet["cubes"].grade("X = 2").feedback


def test_a_released_file_has_no_comment_of_the_solution():
    text = "#: exercise a\n# The task.\nX ∈ ℝ^{n}\nanswer = (\n  # the secret\n  ∑_{n} X  # too\n)\n#: hint Think."
    result, sheet = release(text)
    assert "secret" not in result and "too" not in result and "# The task.\nX ∈ ℝ^{n}\n#: hint Think." in result
    assert sheet["a"].grade("∑_{n} X")


SIZES = """#: exercise weights   kind sizes
A ∈ ℝ^{heads × key}
U ∈ ℝ^{hidden × key}
answer = (4 |heads| |key|) + (2 |hidden| |key|)
#: mistake 4 |heads| |key| + |hidden| |key|   There are two matrices.
"""


def test_mistakes_of_sizes_have_their_feedback_in_a_released_file():
    for sheet in (nt.exercises(SIZES), release(SIZES)[1]):
        assert sheet["weights"].grade("|key| (|hidden| + 4 |heads|)").feedback == "There are two matrices."
        assert sheet["weights"].grade("2 |key| (|hidden| + 2 |heads|)").correct


@pytest.mark.parametrize("answer", ["0/0", "∞ − ∞", "log(−1)", "4 |heads| |key| + 0/0"])
def test_an_undefined_number_of_sizes_is_wrong(answer):
    for sheet in (nt.exercises(SIZES), release(SIZES)[1]):
        assert not sheet["weights"].grade(answer).correct


@pytest.mark.parametrize("lesson", ["lesson 11"])
def test_lessons_can_be_released(lesson, tmp_path):
    assert main(["exercises", "release", lesson, "-o", str(tmp_path / "sheet.nt")]) == 0
    assert "#: mistake" not in (tmp_path / "sheet.nt").read_text(encoding="utf-8")
