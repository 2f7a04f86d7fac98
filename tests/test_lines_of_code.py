"""The count of lines that the budget of each package is compared with."""

import json
from collections import Counter

import lines_of_code
import pytest
from lines_of_code import ROOT, code_lines, counted, package_of, report


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", 0),
        ("# a comment\n\n", 0),
        ('"""A docstring\nof two lines."""\n', 0),
        ("x = 1  # one\n", 1),
        ('x = """a string\nof two lines"""\n', 2),
        ("f(\n    a,\n\n    b,\n)\n", 4),
        ('def f():\n    """What it does."""\n    return 1\n', 2),
        ('class A:\n    """What it is."""\n\n    x = 1\n', 2),
        ("x = 1; y = 2\n", 1),
    ],
)
def test_lines_that_count(text, lines):
    assert code_lines(text) == lines


def test_files_are_counted_by_package():
    files = [("grammar/latex/a.py", "x = 1"), ("namedtensor/core/b.py", "y = 2"), ("namedtensor/__init__.py", "z = 3")]
    assert counted(files) == {"grammar": 1, "namedtensor/core": 1, "namedtensor": 1}
    assert package_of("transformer/models/vit.py") == "transformer"


def test_a_release_is_compared_with():
    text = report(Counter(grammar=10, transformer=4), {"grammar": 50}, ("v1", Counter(grammar=12)))
    assert [line.split() for line in text.splitlines()] == [
        ["package", "lines", "budget", "v1"],
        ["grammar", "10", "50", "-2"],
        ["transformer", "4", "0", "+4"],
        ["all", "14", "50", "+2"],
    ]


@pytest.mark.parametrize(("budget", "words", "status"), [(3, ["--strict"], 0), (2, ["--strict"], 1), (2, [], 0)])
def test_a_package_that_outgrows_its_budget_is_named(budget, words, status, tmp_path, monkeypatch, capsys):
    (tmp_path / "budgets.json").write_text(json.dumps({"grammar": budget}))
    monkeypatch.setattr(lines_of_code, "BUDGETS", tmp_path / "budgets.json")
    monkeypatch.setattr(lines_of_code, "of_the_tree", lambda: Counter(grammar=3))
    assert lines_of_code.main(words) == status
    assert ("grammar has 3 lines of code, budget 2: " in capsys.readouterr().out) == (budget < 3)


def test_budgets_are_written_rounded_up(tmp_path, monkeypatch):
    monkeypatch.setattr(lines_of_code, "BUDGETS", tmp_path / "budgets.json")
    monkeypatch.setattr(lines_of_code, "of_the_tree", lambda: Counter(grammar=51, transformer=100))
    assert lines_of_code.main(["--write"]) == 0
    assert json.loads((tmp_path / "budgets.json").read_text()) == {"grammar": 100, "transformer": 100}


@pytest.mark.parametrize("package", lines_of_code.PACKAGES)
def test_no_file_of_a_package_is_longer_than_400_lines(package):
    files = {path: path.read_text(encoding="utf-8").count("\n") for path in (ROOT / package).rglob("*.py")}
    assert files and {str(path): count for path, count in files.items() if count > 400} == {}
