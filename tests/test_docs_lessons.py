"""The lessons: each has a page with its six exercises, every solution is graded as correct and every mistake gets its own feedback,
with NumPy and without; boxes, questions, notebooks and the teacher's page are generated from the exercise files."""

import contextlib
import io
import json
import re
import sys
from pathlib import Path

import pytest

import namedtensor as nt
from namedtensor.cli import main
from namedtensor.teaching.course import PUZZLES, course
from namedtensor.teaching.exercise_files import ExerciseError
from namedtensor.teaching.sheet_files import faults, reference_answer
from namedtensor.webpage.answers import answer

DOCS = Path(__file__).parent.parent / "docs"
sys.path[:0] = [str(DOCS), str(DOCS / "_extensions")]
import exercise_boxes  # noqa: E402
import notebooks  # noqa: E402

FILES = {title: path for title, path in course().items() if title != PUZZLES}
EXERCISES = [(path, exercise) for path in FILES.values() for exercise in nt.exercises(path).values()]


def names(value):
    return value.stem if isinstance(value, Path) else value.name


def page_of(path):
    return (DOCS / "lessons" / f"{path.stem}.md").read_text(encoding="utf-8")


def all_pages():
    """The lessons and the other pages of the docs."""
    return [*map(page_of, FILES.values()), *(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))]


# ----------------------------------------------------------------------------------------------------------------- names
def test_lessons_are_numbered_and_in_the_index():
    assert [title.split()[1] for title in FILES] == [str(number) for number in range(1, 15)]
    index = (DOCS / "lessons" / "index.md").read_text(encoding="utf-8")
    assert all(f"\n{path.stem}\n" in index for path in FILES.values())
    assert {path.stem for path in notebooks.pages()} == {path.stem for path in FILES.values()}


@pytest.mark.parametrize("name", ["lesson 9", "lesson attention", "Lesson  9 attention"])
def test_a_lesson_is_found_by_number_and_topic(name):
    assert list(nt.exercises(name)) == list(nt.exercises(FILES["lesson 9 attention"]))


def test_the_puzzles_have_a_name_too():
    assert len(nt.exercises("puzzles")) == 25


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("lesson 15", "unknown lesson 15; the lessons are 1 axes, 2 elementwise, 3 errors"),
        ("lesson", "unknown lesson (no number); the lessons are 1 axes"),
        ("lesson atention", "unknown lesson atention; did you mean attention?"),
    ],
)
def test_an_unknown_lesson_is_one_sentence(name, sentence, capsys):
    with pytest.raises(ExerciseError) as problem:
        nt.exercises(name)
    assert str(problem.value).startswith(sentence) and "\n" not in str(problem.value)
    for command in (["exercises", "validate", name], ["playground", name, "--no-browser"]):
        assert main(command) == 2
        assert sentence in capsys.readouterr().err


def test_a_file_whose_name_begins_like_a_lesson_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lesson.nt").write_text("#: exercise total\nX ∈ ℝ^{n}\nanswer = ∑_{n} X\n", encoding="utf-8")
    assert list(nt.exercises("lesson.nt")) == ["total"]


def test_a_lesson_is_released_by_its_name(tmp_path, capsys):
    assert main(["exercises", "release", "lesson 1", "-o", str(tmp_path)]) == 0
    released = nt.exercises(tmp_path / "1_axes.nt")
    assert released["column-sums"].solution is None and released["column-sums"].grade("∑_{height} A").correct


def test_chosen_exercises_of_a_lesson_are_released(tmp_path, capsys):
    command = ["exercises", "release", "lesson 1", "-o", str(tmp_path), "--only"]
    assert main([*command, "revenue, column-sums"]) == 0
    assert list(nt.exercises(tmp_path / "1_axes.nt")) == ["column-sums", "revenue"]
    assert main(["exercises", "grade", str(tmp_path), "--key", "lesson 1", "--only", "revenue,column-sums"]) == 0
    assert "0 of 2 points" in capsys.readouterr().out
    assert main([*command, "revenu"]) == 2
    assert "there is no exercise revenu; did you mean revenue?" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------------- exercises
@pytest.mark.parametrize("path", FILES.values(), ids=names)
def test_a_lesson_has_six_exercises_with_hints(path):
    sheet = nt.exercises(path)
    assert len(sheet) == 6 and all(exercise.hints and exercise.prose for exercise in sheet.values())
    assert all(exercise.mistakes for exercise in sheet.values() if exercise.kind != "derivation")
    *_, last = sheet.values()
    assert last.kind == "fix"


def test_names_of_exercises_differ_between_lessons():
    """The playground stores answers by the name of the exercise."""
    listed = [exercise.name for _, exercise in EXERCISES]
    assert len(set(listed)) == len(listed) == 84


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("path", "exercise"), EXERCISES, ids=names)
def test_solutions_are_correct_and_mistakes_get_their_own_feedback(path, exercise):
    assert list(faults(exercise)) == []


@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize(("path", "exercise"), EXERCISES, ids=names)
def test_the_playground_says_the_same(path, exercise, monkeypatch):
    def no_process(*given):
        raise OSError  # as in a page

    monkeypatch.setattr("namedtensor.teaching.grading._grade_in_process", no_process)
    monkeypatch.setattr("namedtensor.teaching.grading.SECONDS", 60)
    monkeypatch.setattr("namedtensor.teaching.values.has_numpy", lambda: False)
    file = path.read_text(encoding="utf-8")
    cases = [
        (reference_answer(exercise), None),
        *((mistake.formula, mistake.sentence) for mistake in exercise.mistakes),
    ]
    for text, sentence in cases:
        reply = answer({"ask": "grade", "file": file, "name": exercise.name, "answer": text})
        assert reply["ok"] and reply["correct"] is (sentence is None), reply
        assert sentence is None or reply["feedback"] == sentence


# ----------------------------------------------------------------------------------------------------------------- pages
@pytest.mark.parametrize("path", FILES.values(), ids=names)
def test_a_page_has_each_exercise_as_a_box_and_as_a_question(path):
    page = page_of(path)
    boxes = re.findall(r"^```\{exercise\} (\S+)$", page, re.M)
    assert sorted(boxes) == sorted(nt.exercises(path))
    assert re.findall(r"^<!-- markdown: exercise (\S+ \S+) -->$", page, re.M) == [
        f"{path.stem} {name}" for name in boxes
    ]


@pytest.mark.parametrize("path", FILES.values(), ids=names)
def test_a_page_asks_before_it_shows_and_has_no_answer_to_an_exercise(path):
    page = page_of(path)
    assert page.count("**Predict.**") >= 2
    assert all(
        re.match(r"\n\n(?:```\{run\}.*?```\n\n)?<details>", rest, re.S)
        for rest in (part[part.index("\n\n") :] for part in page.split("**Predict.**")[1:])
    )
    assert "answers.md" not in page and page.count("```{formula}") + page.count("```{run}") >= 5


@pytest.mark.parametrize("picture", sorted((DOCS / "_static" / "lessons").glob("*.svg")), ids=lambda path: path.stem)
def test_a_stored_picture_is_small_and_used(picture):
    assert picture.stat().st_size < 40_000
    assert any(f"_static/lessons/{picture.name})" in text for text in all_pages())


def test_pictures_of_the_pages_are_stored():
    used = {name for text in all_pages() for name in re.findall(r"^:picture: (\S+) \S", text, re.M)}
    assert used == {path.name for path in (DOCS / "_static" / "lessons").glob("*.svg")} and len(used) >= 12


@pytest.mark.parametrize(("path", "exercise"), EXERCISES, ids=names)
def test_a_box_has_the_task_and_no_solution(path, exercise):
    box = "\n".join(exercise_boxes.parts_of(path.stem, exercise.name, "../", True))
    assert exercise.prose.split(".")[0] in box and f'data-exercise="{exercise.name}"' in box
    assert exercise.solution not in box and all(mistake.sentence not in box for mistake in exercise.mistakes)
    assert all(hint.split()[0] in box for hint in exercise.hints)


def test_a_box_without_the_playground_has_no_form():
    box = "\n".join(exercise_boxes.parts_of("1_axes", "column-sums", "../", False))
    assert "<form" not in box and "playground.html" not in box and "For each column" in box


def test_a_grid_shows_each_element_and_its_axes():
    drawn = exercise_boxes.grid("X", ("a", "b", "c"), (2, 1, 2), [1.0, -2.0, float("inf"), 0.25])
    assert re.findall(r"<td[^>]*>([^<]*)<", drawn) == ["1", "−2", "∞", "0.25"]
    assert re.findall(r"<caption>([^<]*)<", drawn) == ["a(1)", "a(2)"] and "ℝ^{a[2] × b[1] × c[2]}" in drawn
    assert "<td" in exercise_boxes.grid("s", (), (), [3.0])


def test_the_teachers_page_has_all_answers_and_is_marked():
    text = (DOCS / "lessons" / "answers.md").read_text(encoding="utf-8")
    assert "**This page has the solutions.**" in text and "orphan: true" in text and "noindex" in text
    for _, exercise in EXERCISES:
        assert f"### {exercise.name}\n" in text
        assert all(mistake.sentence.replace("|", "\\|") in text for mistake in exercise.mistakes)


# ------------------------------------------------------------------------------------------------------------- notebooks
@pytest.mark.parametrize("page", notebooks.pages(), ids=lambda path: path.stem)
def test_a_notebook_is_its_page_and_runs(page, monkeypatch):
    pytest.importorskip("matplotlib", reason="lessons draw pictures")
    text = page.with_suffix(".ipynb").read_text(encoding="utf-8")
    assert text == notebooks.written(page), "run: python docs/_extensions/notebooks.py --write"
    monkeypatch.chdir(DOCS.parent)
    space: dict = {}
    sources = [cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    for source in sources:
        with contextlib.redirect_stdout(io.StringIO()):
            exec("\n".join(line for line in source.split("\n") if not line.startswith("%")), space)
    number = page.stem.partition("_")[0]
    assert [
        source.split()[-1] for source in sources if source.startswith(f"%%exercise lesson {number} ")
    ] == re.findall(r"^```\{exercise\} (\S+)$", page.read_text(encoding="utf-8"), re.M)


def test_what_is_folded_on_a_page_is_folded_in_its_notebook():
    page = "Ask.\n\n<details>\n<summary>Answer</summary>\n\nWords.\n\n```{run}\n1 + 1\n```\n\n</details>\n\nAfter.\n"
    cells = notebooks.notebook(page, "1_axes")["cells"][1:]
    assert [cell["source"] for cell in cells] == [
        "Ask.", "<details>\n<summary>Answer</summary>\n\nWords.\n\n</details>", "1 + 1", "After.",
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------ what the pages say is so
def outputs_of(stem):
    """The stored outputs of a page."""
    text = (DOCS / "lessons" / f"{stem}.md").read_text(encoding="utf-8")
    return re.findall(r"<!-- output -->\n```text\n(.*?)\n```", text, re.S)


def test_the_classifier_of_the_last_lesson_learns_as_numpy_does():
    import numpy as np

    features = np.loadtxt(DOCS / "examples" / "iris.csv", delimiter=",", skiprows=1)
    features = (features - features.mean(0)) / np.sqrt(features.var(0) + 1e-5)
    species = np.loadtxt(DOCS / "examples" / "iris_species.csv", skiprows=1).astype(int) - 1
    is_test = np.arange(150) % 3 == 0
    inputs, targets = features[~is_test], np.eye(3)[species[~is_test]]
    weights, bias, losses = np.zeros((3, 4)), np.zeros(3), []
    for _ in range(200):
        scores = inputs @ weights.T + bias
        probabilities = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        losses.append(round(float(-np.log((probabilities * targets).sum(1)).mean()), 3))
        difference = (probabilities - targets) / len(inputs)
        weights, bias = weights - 0.5 * difference.T @ inputs, bias - 0.5 * difference.sum(0)
    accuracy = ((features[is_test] @ weights.T + bias).argmax(1) == species[is_test]).mean()
    assert outputs_of("14_training")[-2:] == [str(losses[::40]), f"NamedTensor({accuracy})"]
    assert set(np.abs(weights[2]).argsort()[-2:]) == {2, 3}  # the petals, as the page says
