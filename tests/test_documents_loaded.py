"""Documents as programs: what holds at their end, inputs followed, is what the checker saw."""

import json

import pytest

import namedtensor as nt
from grammar import nodes
from grammar.parser import parse
from grammar.printer import to_text
from namedtensor.cli.commands import main
from namedtensor.documents.conflicts import drop_superseded

MACROS = r"\ndef{\seq}{seq} \ndef{\key}{key} \newcommand{\reals}{\mathbb{R}}"
PAPER = (
    r"\documentclass{article}" + MACROS + r"\begin{document} \section{One} \input{one} \section{Two}"
    "\n% namedtensor: |seq| = 3\n"
    r"\[ Y = \nsum{\seq} 2 X \] and $\nsum{\seq} Y$ \[ W = Y + 1 \] \end{document}"
)
ONE = r"Let $X \in \reals^{\seq}$. \[ Y = \nsum{\seq} X \] \[ Z = Y + 1 \] \[ V = X + 1 \]"


@pytest.fixture
def paper(tmp_path):
    (tmp_path / "paper.tex").write_text(PAPER)
    (tmp_path / "one.tex").write_text(ONE)
    return tmp_path / "paper.tex"


def test_of_a_document_what_holds_at_its_end_is_loaded(paper):
    program = nt.load_program(paper)
    assert str(program) == "X ∈ ℝ^{seq}\nV = X + 1\n|seq| = 3\nY = ∑_{seq} 2 X\nW = Y + 1"
    assert float(program["W"](X=nt.tensor([1.0, 2.0, 3.0], "seq"))) == 13


@pytest.mark.parametrize(("title", "text"), [
    ("One", "X ∈ ℝ^{seq}\nY = ∑_{seq} X\nZ = Y + 1\nV = X + 1"),
    ("Two", "X ∈ ℝ^{seq}\n|seq| = 3\nY = ∑_{seq} 2 X\nW = Y + 1"),
])  # fmt: skip
def test_a_section_is_loaded_with_what_it_inherits(paper, title, text):
    assert str(nt.load_program(paper, section=title)) == text


def test_a_section_that_is_not_there_is_refused_with_those_that_are(paper):
    with pytest.raises(nt.NotationError, match="has no section 'Three'") as caught:
        nt.load_program(paper, section="Three")
    assert caught.value.notes == ("it has One, Two",)


def test_what_check_types_is_what_load_has(paper, capsys):
    assert main(["check", str(paper), "--json"]) == 0
    types = {}
    for section in json.loads(capsys.readouterr().out)["sections"]:
        types |= section["types"]
    loaded = nt.load_program(paper)
    checked = nt.check(loaded).types
    without_sizes = {name: text.replace("[3]", "") for name, text in checked.items()}
    assert without_sizes == {name: types[name].replace("[3]", "") for name in "XVYW"}


@pytest.mark.parametrize(("name", "source"), [
    ("notes.md", "# Two\n$X \\in \\mathbb{R}^{\\name{seq}}$\n```math\nY = \\nsum{\\name{seq}} X\n```\n"),
    ("notes.ipynb", json.dumps({"cells": [
        {"cell_type": "markdown", "source": ["$X \\in \\mathbb{R}^{\\name{seq}}$\n", "$$Y = \\nsum{\\name{seq}} X$$"]},
        {"cell_type": "code", "source": "$Z = 1$"},
    ]})),
])  # fmt: skip
def test_markdown_and_notebooks_are_loaded(tmp_path, name, source):
    (tmp_path / name).write_text(source)
    assert str(nt.load_program(tmp_path / name)) == "X ∈ ℝ^{seq}\nY = ∑_{seq} X"


def test_a_file_that_is_one_formula_is_no_document(tmp_path):
    (tmp_path / "formula.tex").write_text(r"Y = \nsum{\name{seq}} X \\ Z = Y + 1")
    program = nt.load_program(tmp_path / "formula.tex")
    assert program.source.startswith("Y = \\nsum")


# what holds of statements where some are gone: lines, the numbers of those that are gone, and of those that are left
HOLDS = {
    "what needs the old goes": ("A = 1\nB = A + 1\nA = 2\nC = A", {0}, [2, 3]),
    "and what needs that": ("A = 1\nB = A + 1\nC = B + 1\nA = 2", {0}, [3]),
    "below too, where nothing defines it again": ("A = 1\nB = A + 1\nA = 2\nC = B + 1", {0}, [2]),
    "a function by its name": ("f(x) = 1\nB = f(2)\nf(x) = 2\nC = f(3)", {0}, [2, 3]),
    "names with other scripts stay": ("A_1 = 1\nB = A_2\nA_1 = 2", {0}, [1, 2]),
    "nothing gone": ("A = 1\nB = A", set(), [0, 1]),
}


@pytest.mark.parametrize("case", HOLDS)
def test_what_holds_at_the_end(case):
    text, gone, left = HOLDS[case]
    statements = parse(text).statements
    lines = text.split("\n")
    assert to_text(nodes.Program(tuple(drop_superseded(statements, gone)))).split("\n") == [
        lines[number] for number in left
    ]


def test_the_syntax_of_a_file_without_an_extension_of_its_own(tmp_path):
    (tmp_path / "program.txt").write_text("Y = 2 x\n")
    for options in ({}, {"syntax": "text"}):
        assert str(nt.load_program(tmp_path / "program.txt", **options)) == "Y = 2 x"


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "program.nt").write_bytes(b"\xff\xfe x")
    with pytest.raises(nt.NotationError) as caught:
        nt.load_program(tmp_path / "program.nt")
    assert caught.value.message == f"{tmp_path / 'program.nt'} is not a text file in UTF-8"
    assert "nt.load_tensors(path)" in str(caught.value.hint)
