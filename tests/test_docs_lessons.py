"""The ten lessons: each has a page and three exercises, every model is right and every slip is told in its own words, with NumPy
and without."""

import contextlib
import io
import json
import sys
from pathlib import Path

import pytest

import namedtensor as nt
from namedtensor.teaching.sheet_files import faults
from namedtensor.webpage.answers import answer

DOCS = Path(__file__).parent.parent / "docs"
sys.path.insert(0, str(DOCS / "_extensions"))
import notebooks  # noqa: E402

FILES = sorted((DOCS / "examples" / "lessons").glob("*.nt"), key=lambda path: int(path.name.split("_")[0]))
EXERCISES = [(path, exercise) for path in FILES for exercise in nt.exercises(path).values()]


def names(item):
    return item.stem if isinstance(item, Path) else item.name


def test_there_are_ten_with_a_page_each():
    assert [path.name.split("_")[0] for path in FILES] == [str(number) for number in range(1, 11)]
    index = (DOCS / "lessons" / "index.md").read_text(encoding="utf-8")
    for path in FILES:
        page = (DOCS / "lessons" / f"{path.stem}.md").read_text(encoding="utf-8")
        assert f"examples/lessons/{path.name}" in page and f"\n{path.stem}\n" in index
        assert page.count("```{formula}") + page.count("```{run}") >= 5


@pytest.mark.parametrize("path", FILES, ids=names)
def test_each_has_three_exercises_and_a_slip_of_a_published_text(path):
    sheet = nt.exercises(path)
    assert len(sheet) == 3 and all(exercise.hints and exercise.prose for exercise in sheet.values())
    *_, last = sheet.values()
    assert last.kind == "fix" and last.mistakes
    page = (DOCS / "lessons" / f"{path.stem}.md").read_text(encoding="utf-8")
    assert all(f'sheet["{name}"].grade(' in page for name in sheet)


@pytest.mark.parametrize(("path", "exercise"), EXERCISES, ids=names)
def test_models_are_right_and_slips_wrong_in_their_own_words(path, exercise):
    assert list(faults(exercise)) == []


@pytest.mark.parametrize(("path", "exercise"), EXERCISES, ids=names)
def test_the_page_says_the_same(path, exercise, monkeypatch):
    def no_process(*given):
        raise OSError  # as in a page

    monkeypatch.setattr("namedtensor.teaching.grading._graded_in_process", no_process)
    monkeypatch.setattr("namedtensor.teaching.grading.SECONDS", 60)
    monkeypatch.setattr("namedtensor.teaching.values.has_numpy", lambda: False)
    file = path.read_text(encoding="utf-8")
    for inputs, expected in [
        (exercise.solution, None),
        *((mistake.formula, mistake.sentence) for mistake in exercise.mistakes),
    ]:
        result = answer({"ask": "grade", "file": file, "name": exercise.name, "answer": inputs})
        assert result["ok"] and result["correct"] is (expected is None), result
        assert expected is None or result["feedback"] == expected


# ------------------------------------------------------------------------------------------------------------- notebooks
@pytest.mark.parametrize("page", notebooks.pages(), ids=lambda path: path.stem)
def test_a_notebook_is_its_page_and_runs(page, monkeypatch):
    text = page.with_suffix(".ipynb").read_text(encoding="utf-8")
    assert text == notebooks.written(page), "run: python docs/_extensions/notebooks.py --write"
    monkeypatch.chdir(DOCS.parent)
    names: dict = {}
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            with contextlib.redirect_stdout(io.StringIO()):
                exec("\n".join(line for line in cell["source"].split("\n") if not line.startswith("%")), names)
    assert "sheet" in names
