"""A class: submissions in folders, the attempt that counts, rosters, the tables of learning platforms, reports of mistakes."""

from __future__ import annotations

import csv
import io
import json
import os

import pytest
from timing import at_most

import namedtensor as nt
from namedtensor.cli import main
from namedtensor.files.text import InputError
from namedtensor.teaching import class_report, grade_formats
from namedtensor.teaching.class_grades import ClassGrader
from namedtensor.teaching.exercise_files import ExerciseError
from namedtensor.teaching.submissions import (
    MAX_FILE_BYTES,
    Student,
    Submission,
    answers,
    files_in,
    find_student,
    own_part,
    roster_of,
    student_of,
    submissions,
    text_of,
)

KEY = """#: counts best
#: exercise total   points 2
# Sum over `m`.
X ∈ ℝ^{n × m}
answer = ∑_{m} X
#: mistake ∑_{n} X   That sums over the other axis.

#: exercise half
X ∈ ℝ^{n × m}
answer = X / 2
#: counts last
"""


@pytest.fixture(scope="module")
def sheet():
    return nt.exercises(KEY)


def submitted(path, total, half="X / 2", head=""):
    lines = [head, *(f"#: exercise total\n{item}" for item in total), f"#: exercise half\n{half}\n"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    handed = tmp_path / "handed"
    submitted(handed / "ada.nt", ["∑_{n} X", "∑_{m} X"])
    submitted(handed / "bob (1).nt", ["∑_{n} X"], "X +")
    submitted(handed / "anything.nt", ["∑_{n} X"], "X", head="#: student Cleo Patra")
    submitted(handed / "=evil.nt", ["X"], "=1+1")
    (handed / "broken.nt").write_bytes(b"\xff\xfe")
    (handed / "essay.pdf").write_bytes(b"%PDF")
    (handed / ".hidden.nt").write_text("#: exercise total\nX", encoding="utf-8")
    (tmp_path / "key.nt").write_text(KEY, encoding="utf-8")
    (tmp_path / "students.csv").write_text(
        "Vorname;username;Surname;First name;Email address\n;ada;Lovelace;Ada;ada@example.org\n;cleo;Patra;Cleo;cleo@example.org\n"
        ";dora;Marquez;Dora;dora@example.org\n",
        encoding="utf-8",
    )
    return tmp_path


def grade(folder, *words):
    return main(["exercises", "grade", str(folder / "handed"), "--key", str(folder / "key.nt"), *map(str, words)])


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


# ----------------------------------------------------------------------------------------------------------- submissions
def test_answers_are_what_stands_below_each_header():
    handed = (
        "My name\nX\n#: hint none\n#: exercise a\n#: hint some\n0.5 X\n# a remark\n\n#: exercise b\n#: exercise a\nX\n"
    )
    assert answers(handed) == {"a": ["0.5 X", "X"], "b": []}


def test_given_lines_are_no_part_of_an_answer(sheet):
    assert own_part("X  ∈ ℝ^{n × m}\nX = 2\nanswer = X", sheet["half"]) == "X = 2\nanswer = X"


@pytest.mark.parametrize(
    ("path", "text", "student", "participant"),
    [
        ("ada.nt", "", "ada", ""),
        ("ada (2).nt", "", "ada", ""),
        ("ada.nt", "#: student Bob", "Bob", ""),
        ("ada/week3/answers.nt", "#: student Bob", "ada", ""),
        ("Ada Lovelace_123_assignsubmission_file_/answers.nt", "#: student Bob", "Ada Lovelace", "123"),
        ("Ada Lovelace_123_assignsubmission_file_answers.nt", "", "Ada Lovelace", "123"),
        ("(1).nt", "", "(1)", ""),
    ],
)
def test_the_student_of_a_file(tmp_path, path, text, student, participant):
    result = student_of(tmp_path / path, tmp_path, text)
    assert (result.id, result.participant) == (student, participant)


def test_a_file_may_state_its_student():
    assert find_student("# hello\n#: student  Ada Lovelace \n#: exercise a") == "Ada Lovelace"
    assert find_student("#: exercise a\nX") == ""


def test_several_files_of_a_student_are_attempts_in_the_order_of_their_dates(tmp_path):
    for number, name in enumerate(["b.nt", "a.nt"]):
        path = tmp_path / "ada" / name
        submitted(path, [f"{number} X"])
        os.utime(path, (1000 + number, 1000 + number))
    texts = {path: path.read_text(encoding="utf-8") for path in files_in(tmp_path)}
    (submission,) = submissions(texts, tmp_path, [])
    assert submission.student.id == "ada" and submission.answers["total"] == ("0 X", "1 X")


# ---------------------------------------------------------------------------------------------------------------- roster
def test_rosters_are_tables_with_a_header(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text("Name,SID,Email\nAda Lovelace,17,ada@example.org\n,,\n", encoding="utf-8")
    (ada,) = roster_of(path)
    assert ada == Student("ada", "Ada", "Lovelace", "ada@example.org", id_number="17")


@pytest.mark.parametrize("text", ["", "Ada,Lovelace\n", "username\nada\nada\n"])
def test_a_roster_that_is_wrong_is_reported(tmp_path, text):
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"expected a first row|is in two rows"):
        roster_of(path)


@pytest.mark.parametrize("name", ["ada", "Ada Lovelace", "ada_lovelace", "Lovelace Ada", "ADA@example.org", "17"])
def test_files_are_those_of_the_student_of_the_roster_whatever_they_are_called(tmp_path, name):
    ada = Student("ada", "Ada", "Lovelace", "ada@example.org", id_number="17")
    (submission,) = submissions({tmp_path / f"{name}.nt": "#: exercise total\nX"}, tmp_path, [ada])
    assert submission.student == ada and submission.answers == {"total": ("X",)}


def test_students_whose_ids_differ_in_punctuation_keep_their_answers(tmp_path):
    roster = [Student("j.smith"), Student("j_smith")]
    texts = {tmp_path / f"{student.id}.nt": f"#: exercise total\n{number} X" for number, student in enumerate(roster)}
    handed = {submission.student.id: submission.answers for submission in submissions(texts, tmp_path, roster)}
    assert handed == {"j.smith": {"total": ("0 X",)}, "j_smith": {"total": ("1 X",)}}


def test_a_student_without_a_name_is_found_by_the_rest_of_a_row(tmp_path):
    ada = Student("ada", id_number="17")
    (submission,) = submissions({tmp_path / "17.nt": "#: exercise total\nX"}, tmp_path, [ada])
    assert submission.student == ada


def test_a_file_that_is_too_large_is_no_submission(tmp_path):
    path = tmp_path / "ada.nt"
    path.write_bytes(b"X" * (MAX_FILE_BYTES + 1))
    with pytest.raises(InputError, match=f"has {MAX_FILE_BYTES + 1} bytes, and at most {MAX_FILE_BYTES} are read"):
        text_of(path)


# ---------------------------------------------------------------------------------------------------------------- grades
@pytest.mark.parametrize(
    ("counts", "points", "answer"),
    [("best", 2, "∑_{m} X"), ("first", 0, "∑_{n} X"), ("last", 0, "X"), (None, 2, "∑_{m} X")],
)
def test_the_attempt_that_counts(sheet, counts, points, answer):
    handed = Submission(Student("ada"), {"total": ("X +", "∑_{n} X", "∑_{m} X", "X", "X +")})
    total, half = ClassGrader(sheet, counts).results(handed).results
    assert (total.grade.points, total.counted.answer, len(total.attempts)) == (points, answer, 4)
    assert half.grade.feedback == "no answer submitted" and not half.attempts


def test_an_exercise_says_itself_which_attempt_counts(sheet):
    handed = Submission(Student("ada"), {"half": ("X / 2", "X")})
    assert sheet["total"].counts == "best" and sheet["half"].counts == "last"
    assert ClassGrader(sheet).results(handed).points == 0


def test_what_counts_is_one_of_three_words():
    with pytest.raises(ExerciseError, match="line 1: expected #: counts last, best or first, got all"):
        nt.exercises("#: counts all\n#: exercise a\nX ∈ ℝ^{n}\nanswer = X")


def test_equal_answers_are_graded_once(sheet, monkeypatch):
    from namedtensor.teaching import class_grades

    asked = []
    monkeypatch.setattr(
        class_grades, "grade", lambda exercise, answer, *rest: asked.append(answer) or sheet["half"].grade(answer)
    )
    grader = ClassGrader(sheet)
    for name in ("ada", "bob"):
        grader.results(Submission(Student(name), {"half": ("X / 2",), "total": ("X",)}))
    assert asked == ["X", "X / 2"]


def test_a_class_of_thirty_takes_seconds(tmp_path, sheet):
    """Forty answers that differ; what is measured is the processor's time of this process, and the grading process answers each."""
    from namedtensor.teaching import grading

    grader = ClassGrader(sheet)
    grader.results(Submission(Student("warm"), {"total": ("X",)}))
    process = grading.PROCESS.process
    with at_most(5):
        for number in range(30):
            grader.results(
                Submission(Student(str(number)), {"total": (f"{number} X",), "half": (f"X / {number + 1}",)})
            )
    assert grading.PROCESS.process is process


# --------------------------------------------------------------------------------------------------------------- command
@pytest.mark.parametrize("kind", ["file", "folder", "loop", "broken"])
def test_links_in_a_folder_are_not_followed_and_reported(folder, kind, capsys):
    solution = folder / "solved" / "solution.nt"
    submitted(solution, ["∑_{m} X"])
    targets = {"file": solution, "folder": solution.parent, "loop": folder / "handed", "broken": folder / "none"}
    link = folder / "handed" / "mallory.nt"
    link.symlink_to(targets[kind], target_is_directory=kind in ("folder", "loop"))
    assert grade(folder, "--to", "json") == 0
    output = capsys.readouterr()
    students = {student["student"] for student in json.loads(output.out)["students"]}
    assert students == {"ada", "bob", "Cleo Patra", "=evil"}
    assert f"skipped: {link} is a link" in output.err


def test_a_folder_as_a_table_with_totals(folder, capsys):
    out = folder / "out" / "grades.csv"
    assert grade(folder, "--to", "csv", "-o", out) == 0
    err = capsys.readouterr().err
    assert "broken.nt is not a text file in UTF-8" in err and "essay.pdf is not a .nt or .txt file" in err
    assert "4/4 " in err and "Traceback" not in err
    result = rows(out.read_text(encoding="utf-8"))
    assert len(result) == 4 * 3 and {item["student"] for item in result} == {"ada", "bob", "Cleo Patra", "'=evil"}
    by = {(item["student"], item["exercise"]): item for item in result}
    assert by["ada", "all exercises"]["points"] == "3" and by["ada", "half"]["points"] == "1"
    assert by["bob", "total"]["feedback"] == "That sums over the other axis."
    assert by["'=evil", "half"]["answer"] == "'=1+1"


def test_a_roster_gives_names_and_those_who_submitted_nothing(folder, capsys):
    assert grade(folder, "--to", "moodle", "--roster", folder / "students.csv") == 0
    readouterr = capsys.readouterr()
    result = rows(readouterr.out)
    assert [item["Username"] for item in result] == ["ada", "cleo", "dora", "", ""]
    assert result[0]["Full name"] == "Ada Lovelace" and result[0]["Email address"] == "ada@example.org"
    assert [item["Grade"] for item in result[:3]] == ["3", "0", "0"] and result[0]["Maximum grade"] == "3"
    assert result[1]["Feedback comments"].startswith("total: 0 of 2. That sums over the other axis.<br>half: ")
    assert "not on the roster: bob" in readouterr.err


def test_feedback_for_moodle_is_html(sheet):
    results = ClassGrader(sheet).results(Submission(Student("ada"), {"total": ("<b>X\nY",)}))
    (row,) = rows(grade_formats.table([results], "moodle", "week"))
    assert "<b>" not in row["Feedback comments"] and "\n" not in row["Feedback comments"]


def test_a_folder_of_moodle_goes_back_by_its_participants(tmp_path, sheet):
    path = tmp_path / "Ada Lovelace_123_assignsubmission_file_" / "answers.nt"
    (submission,) = submissions({path: "#: exercise total\n∑_{m} X"}, tmp_path, [])
    (row,) = rows(grade_formats.table([ClassGrader(sheet).results(submission)], "moodle", "week"))
    assert row["Identifier"] == "Participant 123" and row["Grade"] == "2"


def test_the_table_of_nbgrader(folder, capsys):
    assert grade(folder, "--to", "nbgrader", "--roster", folder / "students.csv") == 0
    result = rows(capsys.readouterr().out)
    assert list(result[0]) == [
        "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
        "late_submission_penalty", "score", "max_score",
    ]  # fmt: skip
    assert (result[0]["assignment"], result[0]["student_id"], result[0]["score"]) == ("key", "ada", "3")


def test_a_file_of_results_for_each_student_for_gradescope(folder, capsys):
    assert grade(folder, "--to", "gradescope") == 2 and "add -o FOLDER" in capsys.readouterr().err
    assert grade(folder, "--to", "gradescope", "-o", folder / "results") == 0
    data = json.loads((folder / "results" / "ada" / "results.json").read_text(encoding="utf-8"))
    assert data["score"] == 3 and [test["max_score"] for test in data["tests"]] == [2, 1]
    assert {test["status"] for test in data["tests"]} == {"passed"}
    assert sorted(path.name for path in (folder / "results").iterdir()) == ["Cleo Patra", "_evil", "ada", "bob"]


def test_names_of_students_leave_no_folder(sheet):
    names = ["../../etc", "a/b", "..", "a_b"]
    results = [ClassGrader(sheet).results(Submission(Student(name), {})) for name in names]
    files = grade_formats.gradescope_files(results)
    assert len(files) == 4 and all(".." not in path.split("/") and path.count("/") == 1 for path in files)


def test_the_class_as_json(folder, capsys):
    assert grade(folder, "--to", "json", "--counts", "first") == 0
    data = json.loads(capsys.readouterr().out)
    ada = next(student for student in data["students"] if student["student"] == "ada")
    assert ada["points"] == 1 and ada["grades"][0]["attempts"] == 2 and ada["grades"][0]["answer"] == "∑_{n} X"
    assert len(data["skipped"]) == 2


def test_the_class_as_lines(folder, capsys):
    assert grade(folder) == 0
    assert (
        "ada: 3 of 3 points\n" in (message := capsys.readouterr().out)
        and "bob: 0 of 3 points; not solved: total, half" in message
    )


@pytest.mark.parametrize("name", ["report.txt", "report.html"])
def test_a_report_has_the_commonest_mistakes_with_an_example(folder, name, capsys):
    assert grade(folder, "--report", folder / name) == 0
    text = (folder / name).read_text(encoding="utf-8")
    for message in (
        "1 of 4 correct, 3 wrong, 0 without an answer; 5 attempts", "That sums over the other axis.", "∑_{n} X", "X +", "syntax error 105",
        "broken.nt is not a text file",
    ):  # fmt: skip
        assert message in text, message
    assert "<script" not in text and capsys.readouterr().err


def test_mistakes_are_counted_by_students_the_commonest_first(sheet):
    grader = ClassGrader(sheet)
    handed = [
        Submission(Student("ada"), {"total": ("∑_{n} X", "∑_{n} X + 0", "∑_{m} X")}),
        Submission(Student("bob"), {"total": ("∑_{n} X",)}),
        Submission(Student("cleo"), {"total": ("∑_{m} X + 1",)}),
        Submission(Student("dora"), {}),
    ]
    exercise_report, _ = class_report.reports([grader.results(submission) for submission in handed])
    assert (exercise_report.correct, exercise_report.wrong, exercise_report.missing, exercise_report.attempts) == (
        1,
        2,
        1,
        5,
    )
    assert [(mistake.mistake, mistake.students, mistake.example.answer) for mistake in exercise_report.mistakes] == [
        ("That sums over the other axis.", ("ada", "bob"), "∑_{n} X"),
        ("your answer is 1 more than the expected value, everywhere", ("cleo",), "∑_{m} X + 1"),
    ]


def test_a_report_of_no_answers_says_so(sheet):
    results = [ClassGrader(sheet).results(Submission(Student("ada"), {}))]
    for text in (class_report.text_report(results, "week"), class_report.html_report(results, "week")):
        assert "no answers" in text and "<table" not in text


def test_a_report_counts_the_rarer_mistakes(sheet):
    grader = ClassGrader(sheet)
    results = [grader.results(Submission(Student(f"s{n}"), {"total": (f"∑_{{m}} X + {n}",)})) for n in range(2, 12)]
    assert "  and 2 rarer mistakes" in class_report.text_report(results, "week").splitlines()


def test_what_is_for_a_folder_is_refused_for_a_file(folder, capsys):
    for words in (["--to", "csv"], ["--to", "moodle"], ["--report", "r.html"], ["--roster", "s.csv"]):
        file = str(folder / "handed" / "ada.nt")
        assert main(["exercises", "grade", file, "--key", str(folder / "key.nt"), *words]) == 2
        assert "for a folder of submissions" in capsys.readouterr().err


def test_a_folder_without_a_submission_is_refused(tmp_path, capsys):
    (tmp_path / "handed").mkdir()
    (tmp_path / "key.nt").write_text(KEY, encoding="utf-8")
    assert grade(tmp_path) == 2 and "has no submission that can be read" in capsys.readouterr().err


# -------------------------------------------------------------------------------------------------------- one submission
def test_grades_of_a_file_for_graders(sheet):
    grades = ClassGrader(sheet).results(Submission(Student("ada"), {"total": ("X",), "half": ("X / 2",)})).grades
    assert grade_formats.gradescope(grades)["tests"][1] == {
        "name": "half", "score": 1, "max_score": 1, "status": "passed", "output": "correct on all 8 random tests",
        "output_format": "text", "visibility": "visible",
    }  # fmt: skip
    assert grade_formats.nbgrader(grades)["half"]["score"] == 1
    assert grade_formats.plain(grades)["max_points"] == 3 and json.dumps(grade_formats.plain(grades))
