"""Test the count of sentence patterns, and the baseline that may only fall."""

from pathlib import Path

import baseline
import prose
import pytest
import texts
from baseline import Hit

SOURCE = '''
"""Return the value of which it is made."""  # what a module needs

def renamed(x):
    """Whether `that of` code counts."""
    raise ValueError("an axis where there is no name")

def rename_axes(x):
    text = "# no comment where there is code"  # noqa: E501
    return x
'''


@pytest.mark.parametrize(
    ("sentence", "pattern"),
    [
        ("It has what changed.", "headless what"),
        ("The default is that of the file.", "that of"),
        ("an integer where it is a number", "where for if"),
        ("The sum of which it is made.", "of which"),
        ("the name of the axis of the value of the tensor", "chain of of"),
        ("It is a package of its own.", "of its own"),
        ("weights of 8 bits", "bits"),
        ("The value is replaced by another.", "bare pronoun"),
        ("It has the axes of W; of a gradient with marks.", "dropped verb"),
        ("The first axis meets the second.", "light verb"),
        ("An unknown label is an error.", "is an error"),
        ("It rounds as NumPy does.", "as it has"),
    ],
)
def test_each_pattern_is_found(sentence, pattern):
    assert prose.find_patterns(sentence) == [pattern]


@pytest.mark.parametrize(
    "sentence",
    [
        "What does this commit make the code do?",
        "Return whether an index names an axis.",
        "The place where the error starts.",
        "The error code of the formula.",
    ],
)
def test_plain_sentences_have_no_pattern(sentence):
    assert not prose.find_patterns(sentence)


def test_texts_of_python_are_docstrings_comments_messages_and_names():
    assert set(texts._read_python(SOURCE)) == {
        ("docstrings", "Return the value of which it is made."),
        ("comments", "what a module needs"),
        ("docstrings", "Whether ` code counts."),
        ("names", "renamed"),
        ("names", "rename_axes"),
        ("messages", "an axis where there is no name"),
    }


def test_sentences_end_with_paragraphs_rows_and_items():
    page = "# One two three\n\nA line of\na paragraph. It has two: yes it has\n\n- an item of it\n| a | row |\n| b | row |\n"
    assert texts.split_sentences(page) == [
        "# One two three",
        "A line of a paragraph.",
        "It has two:",
        "yes it has",
        "- an item of it",
        "| a | row |",
        "| b | row |",
    ]


def test_code_of_a_page_is_no_text(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Text `that of` the\n```text\nthat of\n```\n$that of$ [a](that-of.md) page.\n", "utf-8")
    assert list(texts.read_texts(page)) == [("docs", "Text ` the\n`\n` [a` page.\n")]


def test_texts_of_javascript_are_strings_and_comments(tmp_path):
    script = tmp_path / "page.js"
    script.write_text('let drawn = "so many"; // drawn again\nh("p", 1); <p>is told</p>', "utf-8")
    assert [text for _, text in texts.read_texts(script)] == ['"so many"', "// drawn again", ">is told<"]


def test_hits_and_sizes_of_a_file(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(SOURCE, "utf-8")
    sizes, hits = prose.check_file(path, "grammar/module.py")
    assert sizes == {"docstrings": 2, "comments": 1, "messages": 1, "names": 2}
    assert sorted(hit.kind for hit in hits) == ["comments", "docstrings", "messages", "names"]
    table = prose.format_rates({"grammar": sizes}, hits)
    assert table.split() == [
        *"package docstrings comments messages docs names".split(),
        *"grammar 500 1000 1000 50.0 %".split(),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("renamed", True),
        ("_of_the_tree", True),
        ("along", True),
        ("rename_axes", False),
        ("embed", False),
        ("need", False),
    ],
)
def test_function_names_begin_with_verbs(name, expected):
    assert prose.is_noun_phrase(name) == expected


@pytest.mark.parametrize(
    ("file", "package"),
    [("README.md", "docs"), ("docs/data.md", "docs"), ("grammar/text.py", "grammar"),
     ("namedtensor/planning/plan.py", "namedtensor/planning"), ("namedtensor/__init__.py", "namedtensor")],
)  # fmt: skip
def test_package_of_a_file(file, package):
    assert texts.package_of(file) == package


# ----------------------------------------------------------------------------------------------------- the baseline
HITS = [Hit("a.py", "comments", "that of: one"), Hit("a.py", "comments", "that of: two"), Hit("b.py", "names", "of")]


@pytest.mark.parametrize(
    ("allowed", "status"),
    [
        ({"a.py": {"comments": 2}, "b.py": {"names": 1}}, 0),
        ({"a.py": {"comments": 3}, "b.py": {"names": 1}}, 0),
        ({"a.py": {"comments": 1}, "b.py": {"names": 1}}, 1),
        ({"a.py": {"comments": 2}}, 1),  # a new file
        ({"a.py": {"names": 2}, "b.py": {"names": 1}}, 1),  # another kind
    ],
)
def test_no_file_exceeds_its_number(tmp_path, capsys, allowed, status):
    path = tmp_path / "baseline.json"
    baseline.write(path, allowed)
    assert baseline.run(path, HITS, []) == status
    assert ("rewrite these" in capsys.readouterr().out) == bool(status)


def test_write_only_lowers_the_baseline(tmp_path):
    path = tmp_path / "baseline.json"
    baseline.write(path, {"a.py": {"comments": 5, "names": 1}, "gone.py": {"names": 1}})
    assert baseline.run(path, HITS, ["--write"]) == 1  # b.py is new and has a hit
    assert baseline.read(path) == {"a.py": {"comments": 2}}
    baseline.write(path, {"a.py": {"comments": 1}})
    baseline.run(path, HITS, ["--write"])
    assert baseline.read(path) == {"a.py": {"comments": 1}}


def test_write_starts_a_baseline(tmp_path):
    path = tmp_path / "baseline.json"
    assert baseline.run(path, HITS, ["--write"]) == 0
    assert baseline.read(path) == {"a.py": {"comments": 2}, "b.py": {"names": 1}}
    assert len(path.read_text("utf-8").splitlines()) == 4


def test_hits_of_a_named_file_are_printed(tmp_path, capsys):
    baseline.write(tmp_path / "baseline.json", baseline.count(HITS))
    assert baseline.run(tmp_path / "baseline.json", HITS, ["a.py"]) == 0
    assert capsys.readouterr().out == "a.py: that of: one\na.py: that of: two\n"


def test_files_of_the_repository_are_found():
    files = {path.relative_to(texts.ROOT).as_posix() for path in texts.find_files(Path(texts.ROOT))}
    assert {"README.md", "docs/index.md", "grammar/errors.py", "web/src/main.jsx", "tools/prose.py"} <= files
