r"""Formulas of Markdown: which are found, what is none, and where findings stand."""

import re

import pytest

from namedtensor import cli
from namedtensor.documents.markdown import whole_markdown
from namedtensor.documents.maths import find

FENCE = "```"


def maths(text):
    source = whole_markdown(text, "a.md").text
    return [source[formula.start : formula.end] for section in find(source).sections for formula in section.maths]


@pytest.mark.parametrize(("text", "expected"), [
    ("let $x$ and $y+1$.", ["$x$", "$y+1$"]),
    ("$$ x\n= 1 $$", ["$$ x\n= 1 $$"]),
    (f"{FENCE}math\nx\n{FENCE}", ["\\[x\n\\]"]),
    (f"> {FENCE} math\n> x\n> {FENCE}", ["\\[> x\n\\]"]),
    ("~~~math\nx\n~~~", ["\\[x\n\\]"]),
    ("$`x`$ and $`y`$", ["$x$", "$y$"]),
    (r"\(x\) and \\(y\\) and \[z\] and \\[w\\]", [r"\(x\)", r"\(y\)", r"\[z\]", r"\[w\]"]),
    ("\\begin{align*}\nx &= 1\n\\end{align*}", ["\\begin{align*}\nx &= 1\n\\end{align*}"]),
    ("100% of $x$, at once", ["$x$"]),
])  # fmt: skip
def test_maths_is_found(text, expected):
    assert maths(text) == expected


@pytest.mark.parametrize("text", [
    "it costs $5 and $6", "$ x $", "\\$x\\$", "`$x$`", "`` ` $x$ ``", "a $x\n\nb$", "$$ x\n\ny $$", "$$ never closed",
    f"{FENCE}\n$x$\n{FENCE}", f"{FENCE}python\n$x$\n{FENCE}", "~~~~\n$x$\n~~~\n$y$\n~~~~", f"{FENCE}tex\n$x$", "<!-- $x$\n$y$ -->", "$",
    "[link](a_(b\\)c)", "\\[x", "\\begin{align} x", "", "\n\n", "$x$5",
])  # fmt: skip
def test_what_is_no_maths(text):
    assert maths(text) == []


def test_headings_are_sections_and_deeper_ones_are_not():
    source = whole_markdown("$a$\n# One $x$\n$b$\n### deeper\n$c$\n## Two\n$d$\n#no heading $e$", "a.md").text
    assert [(section.title, len(section.maths)) for section in find(source).sections] == [
        ("", 1),
        ("One $x$", 2),
        ("Two", 2),
    ]


DOCUMENT = rf"""# Attention

Let $X \in \reals^{{\name{{seq}}}}$ cost $5.

{FENCE}math
Y = \nsum{{\name{{sqe}}}} X
{FENCE}

$$\newcommand{{\seq}}{{\name{{seq}}}} Z = \nsum{{\seq}} X$$

- \\(W = \nsum{{\sq}} X\\)
- `$X \ndot$`, $`V = \nsum{{\seq}} [1, 2]_{{\seqs}}`$
"""


def test_findings_have_their_place(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("notes.md", "notes.markdown"):
        (tmp_path / name).write_text(DOCUMENT, encoding="utf-8")
        assert cli.main(["check", name]) == 1
        printed = capsys.readouterr().out
        assert re.findall(r"^\S+:(\d+:\d+): error", printed, re.MULTILINE) == ["6:11", "11:16", "12:28"]
        assert "6 | Y = \\nsum{\\name{sqe}} X\n" in printed and "4 formulas in 1 section" not in printed
    assert cli.main(["check", "nowhere.md"]) == 2


PROGRAM = f"""# One

{FENCE}nt
X ∈ ℝ^{{seq × k}}
Y = sum_{{sek}} X
Z = softmax_{{seq}} X
  + ∑_{{kee}} X
{FENCE}

Then $Z + Y$.

{FENCE}nt
W = ∑_{{seq X
{FENCE}
"""


def test_a_block_of_the_text_notation_is_read(tmp_path, capsys):
    path = tmp_path / "a.md"
    path.write_text(PROGRAM, "utf-8")
    assert cli.commands.main(["check", str(path)]) == 1
    printed = capsys.readouterr().out
    assert f"{path}:5:1: error 301: ∑_{{sek}} needs axis sek" in printed  # of a spelling that LaTeX does not have
    assert f"{path}:7:8: error 301: ∑_{{kee}} needs axis kee" in printed
    assert f"{path}:13:7: not checked 102:" in printed
    assert printed.endswith("4 formulas in 1 section: 2 errors, 0 warnings\n")
