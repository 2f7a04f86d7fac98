"""`check` as a linter of documents: its output in each format, its exit status, what is switched off and what is known."""

import json
import os
import re
from pathlib import Path

import pytest

from namedtensor import cli
from namedtensor.cli.check import check_command
from namedtensor.cli.check_documents import DOCUMENTS
from namedtensor.cli.parsers import Parser

ROOT = Path(__file__).parent.parent

HEAD = "\\ndef{\\ax}{ax} \\ndef{\\seq}{seq}\n"
SLIP = "\\[ Y = \\nsum{\\ax} [1, 2]_{\\seq} \\]\n"
FINE = "\\[ Z = \\nsum{\\seq} [1, 2]_{\\seq} \\]\n"
OUTER = "$A \\in \\reals^{\\ax}$ and $B \\in \\reals^{\\seq}$ \\[ C = A + B_{\\seq \\rightarrow \\key} \\]\n"
UNREAD = "\\[ \\langle X \\rangle = \\nsum{\\ax} X \\]\n"


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Writes files and checks them: the status, and what is printed."""
    monkeypatch.chdir(tmp_path)

    def command(files, *words):
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        status = cli.main(["check", *(name for name in files if not name.endswith((".nt", ".json"))), *words])
        return status, capsys.readouterr().out

    return command


# ---------------------------------------------------------------------------------------------------------------- text
def test_findings_are_lines_that_editors_read(check):
    status, printed = check({"a.tex": HEAD + SLIP + OUTER + UNREAD})
    findall = re.findall(r"^(a\.tex:\d+:\d+): (error|warning|not checked) (\d+): ", printed, re.MULTILINE)
    assert status == 1
    assert findall == [
        ("a.tex:2:14", "error", "301"),
        ("a.tex:3:55", "warning", "314"),
        ("a.tex:4:4", "not checked", "111"),
    ]
    assert "  2 | \\[ Y = \\nsum{\\ax} [1, 2]_{\\seq} \\]\n    |              ^^^" in printed
    assert printed.splitlines()[-1] == "4 formulas in 1 section: 1 error, 1 warning"


ORDINARY = r"""\section{One}
The gradient $\nabla f(x) = 0$ of $f$ and $\nabla g(x) = 1$, and $\int f = 1$.

Also $\nabla h(x) = 2$, $\textsf{A}$ and $\textsf{B}$.
"""


def test_what_cannot_be_read_is_reported_once_with_its_lines(check):
    status, printed = check({"a.tex": ORDINARY, "b.tex": "\\input{a} and \\input{a}"}, "--all")
    assert status == 1
    assert printed.count("unsupported macro \\nabla") == 1 and "  2 more: lines 2, 4\n" in printed
    assert printed.count("unsupported macro \\int") == 1
    assert (
        "a.tex:2: note: left out, a symbol (6 formulas, the last in line 4)" in printed
    )  # $f$, $\\textsf{A}$ and $\\textsf{B}$, twice
    assert printed.splitlines()[-1] == "0 formulas in 0 sections: 4 errors, 0 warnings"


def test_mistakes_of_one_kind_are_reported_each(check):
    _, printed = check({"a.tex": HEAD + SLIP + "and " + SLIP.replace("Y", "Z")})
    assert len(re.findall(r"^a\.tex:[23]:\d+: error 301: ", printed, re.MULTILINE)) == 2


def test_a_mistake_that_recurs_is_one_finding_with_its_lines(check):
    status, printed = check({"a.tex": HEAD + "".join(SLIP.replace("Y", name) for name in "YZUVWT")})
    assert status == 1 and printed.count(": error 301: ") == 1 and "5 more: lines 3, 4, 5, 6, 7\n" in printed
    assert printed.splitlines()[-1].endswith("6 errors, 0 warnings")


ORDINARY_TEXTS = (
    r"\name{Ada Lovelace} \email{ada@example.org} \begin{document} $x$ \end{document}",
    "\\begin{alltt}\nR> model$values\n\\end{alltt} and $x$",
    "\\begin{Soutput}\n## $values\n\\end{Soutput} and $x$",
)


@pytest.mark.parametrize("text", ORDINARY_TEXTS)
def test_an_ordinary_document_raises_no_alarm(check, text):
    status, printed = check({"a.tex": text})
    assert status == 0 and printed.endswith("0 errors, 0 warnings\n")


def test_one_line_sums_up_the_whole_run(check):
    files = {"a.tex": HEAD + SLIP, "b.md": "# One\n$$ " + r"\nsum{\seq} [1]_{\seq}" + " $$\n", "c.tex": "nothing"}
    status, printed = check(files)
    assert status == 1 and len(re.findall(r"formulas? in \d", printed)) == 1
    assert printed.splitlines()[-1] == "2 formulas in 2 sections: 1 error, 0 warnings"


def test_what_another_file_of_the_run_includes_is_checked_once(check):
    files = {"paper.tex": HEAD + "\\input{part}", "part.tex": SLIP}
    _, printed = check(files)
    assert printed.count("error 301") == 1 and "part.tex:1:14: error 301" in printed
    files = {"a.tex": HEAD + "\\input{b}", "b.tex": SLIP + "\\input{a}"}
    assert "error 301" in check(files)[1]


@pytest.mark.parametrize(("words", "status"), [
    (["a.tex", "none.tex"], 2), (["a.tex", "a.nt"], 2), (["a.tex", "--ignore", "999"], 2), (["a.tex", "--ignore", "212"], 2), (["a.tex", "--ignore", "x"], 2),
    (["a.tex", "--write-baseline"], 2), (["a.tex", "--baseline", "none.json"], 2), (["a.tex", "--baseline", "a.nt"], 2),
    (["a.tex", "--assumptions", "none.nt"], 2), (["a.tex", "--assumptions", "a.tex"], 2), (["a.ipynb"], 2), (["2 + 2", "--assumptions", "a.nt"], 2),
    (["a.tex", "--format", "xml"], 2), (["a.tex", "X=ℝ^{seq}"], 0),
])  # fmt: skip
def test_wrong_use(tmp_path, monkeypatch, capsys, words, status):
    monkeypatch.chdir(tmp_path)
    for name, text in {"a.tex": HEAD + FINE, "a.nt": "X ∈ ℝ^{seq}", "a.ipynb": "{"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert cli.main(["check", *words]) == status
    assert status == 0 or capsys.readouterr().err


# -------------------------------------------------------------------------------------------------------------- status
@pytest.mark.parametrize(("body", "words", "status"), [
    (FINE, [], 0), (FINE, ["--strict"], 0), (SLIP, [], 1), (SLIP, ["--ignore", "301"], 0), (SLIP, ["--ignore", "302, 307"], 1),
    (OUTER, [], 0), (OUTER, ["--strict"], 1), (OUTER, ["--strict", "--ignore", "314"], 0),
    (FINE + UNREAD, [], 0), (FINE + UNREAD, ["--strict"], 1), (FINE + UNREAD, ["--strict", "--ignore", "301,111"], 0),
    (UNREAD, [], 1), ("The macro \\ndot{\\ax} alone, $x$.", [], 1), ("\\newcommand{\\more}{\\ndot{\\ax}} $x$", [], 0),
    ("\\verb|\\ndot| and % \\ndot\n", [], 0),
])  # fmt: skip
@pytest.mark.parametrize("format", ["text", "json", "github", "sarif"])
def test_the_status_is_the_severity(check, body, words, status, format):
    assert check({"a.tex": HEAD + body}, *words, "--format", format)[0] == status


# ------------------------------------------------------------------------------------------------------------- formats
def test_annotations_of_github(check):
    status, printed = check({"a,b.tex": HEAD + SLIP + OUTER + UNREAD}, "--format", "github")
    first, second, third = printed.splitlines()
    assert status == 1
    assert first.startswith(
        "::error file=a%2Cb.tex,line=2,endLine=2,col=14,endColumn=17,title=error 301::∑_{ax} needs axis ax"
    )
    assert "%0Ahint: " in first and second.startswith("::warning file=a%2Cb.tex,line=3,")
    assert third.startswith("::notice file=a%2Cb.tex,line=4,")
    assert check({"a.tex": HEAD + FINE}, "--format", "github") == (0, "")


def test_sarif(check):
    _, printed = check({"a b.tex": HEAD + SLIP + SLIP.replace("Y", "W") + OUTER + UNREAD}, "--format", "sarif")
    log = json.loads(printed)
    (run,) = log["runs"]
    assert log["version"] == "2.1.0" and [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        "111",
        "301",
        "314",
    ]
    assert [(result["ruleId"], result["ruleIndex"], result["level"]) for result in run["results"]] == [
        ("301", 1, "error"), ("301", 1, "error"), ("314", 2, "warning"), ("111", 0, "note")
    ]  # fmt: skip
    physicalLocation = run["results"][0]["locations"][0]["physicalLocation"]
    assert physicalLocation["artifactLocation"]["uri"] == "a%20b.tex"
    assert physicalLocation["region"] == {"startLine": 2, "startColumn": 14, "endLine": 2, "endColumn": 17}
    assert run["results"][0]["partialFingerprints"] != run["results"][1]["partialFingerprints"]


def test_json_of_several_documents(check):
    one = json.loads(check({"a.tex": HEAD + SLIP}, "--json")[1])
    assert (one["file"], one["errors"][0]["code"]) == ("a.tex", 301)
    several = json.loads(check({"a.tex": HEAD + SLIP, "b.tex": HEAD + FINE + UNREAD}, "--format", "json")[1])
    assert not several["ok"] and [document["ok"] for document in several["documents"]] == [False, True]
    assert several["documents"][1]["not_checked"][0]["kind"] == "not checked"


@pytest.mark.parametrize(
    ("format", "expected"),
    [("github", "::error title=error 301::"), ("sarif", '"ruleId": "301"'), ("json", '"code": 301')],
)
def test_a_formula_in_each_format(capsys, format, expected):
    assert cli.main(["check", "∑_{b} A", "A=ℝ^{a}", "--format", format]) == 1
    assert expected in capsys.readouterr().out
    assert cli.main(["check", "∑_{b} A", "A=ℝ^{a}", "--format", format, "--ignore", "301"]) == 0


# ------------------------------------------------------------------------------------------------------------ silence
@pytest.mark.parametrize(("body", "errors"), [
    ("% namedtensor: ignore\n" + SLIP, 0),
    ("% namedtensor: ignore\nsome prose\n\n" + SLIP + SLIP.replace("Y", "W"), 1),
    ("%namedtensor: ignore 301\n" + SLIP, 0),
    ("%% namedtensor: ignore 302, 307\n" + SLIP, 1),
    (SLIP.rstrip() + " % namedtensor: ignore\n", 0),
    (SLIP + "% namedtensor: ignore", 1),
    (SLIP.rstrip() + " % no namedtensor: ignore\n", 1),
    ("\\begin{align} Y &= \\nsum{\\ax} [1]_{\\seq} \\\\ % namedtensor: ignore\nW &= \\nsum{\\ax} [1]_{\\seq} \\end{align}", 1),
    ("\\begin{align}\n% namedtensor: ignore\nY &= \\nsum{\\ax} [1]_{\\seq} \\\\\nW &= \\nsum{\\ax} [1]_{\\seq} \\end{align}", 1),
    ("\\begin{align}\nY &= \\nsum{\\ax} [1]_{\\seq} \\\\\nW &= \\nsum{\\ax} [1]_{\\seq}\n\\end{align} % namedtensor: ignore\n", 0),
])  # fmt: skip
def test_findings_that_a_comment_asks_to_ignore(check, body, errors):
    status, printed = check({"a.tex": HEAD + body})
    assert (status, printed.count(": error 301: ")) == (int(errors > 0), errors)


def test_ignore_in_markdown(check):
    body = "<!-- namedtensor: ignore -->\n$$ " + r"\nsum{\ax} [1]_{\seq}" + " $$\n"
    assert check({"a.md": body})[0] == 0
    assert check({"a.md": body.replace("ignore", "ignore 302")})[0] == 1


# --------------------------------------------------------------------------------------------------------------- facts
USE = "\\[ Y = \\nsum{\\ax} X \\]\n"


@pytest.mark.parametrize(("fact", "errors"), [
    ("X ∈ ℝ^{seq}", ["a.tex:3:14: error 301"]),
    ("X \\in \\reals^{\\seq}", ["a.tex:3:14: error 301"]),
    ("X ∈ ℝ^{ax}", []),
    ("x ∈ ℝ^{seq}; X ∈ ℝ^{ax × seq}", []),
    ("X = 2 ⊙ x; x = [1, 2]_{seq}", ["a.tex:3:14: error 301"]),
    ("X ∈ ℝ^{seq", ["a.tex:2:22: error 102"]),
    ("ingore", ["a.tex:2:16: error 101"]),
    ("X = ∑_{seq} [1]_{ax}", ["a.tex:2:16: error 301"]),
])  # fmt: skip
def test_assumptions_in_comments(check, fact, errors):
    _, printed = check({"a.tex": f"{HEAD}% namedtensor: {fact}\n{USE}"})
    assert re.findall(r"^a\.tex:\d+:\d+: error \d+", printed, re.MULTILINE) == errors
    assert printed.splitlines()[-1].startswith("1 formula in 1 section")


def test_assumptions_in_a_display_and_in_markdown(check):
    inside = "\\[ Y =\n% namedtensor: X ∈ ℝ^{seq}\n\\nsum{\\ax} X \\]"
    assert "a.tex:4:7: error 301" in check({"a.tex": HEAD + inside})[1]
    assert (
        "a.md:2:14: error 301" in check({"a.md": "<!-- namedtensor: X ∈ ℝ^{seq} -->\n$$ Y = " + r"\nsum{\ax} X $$"})[1]
    )


def test_a_file_of_assumptions_counts_in_each_section(check):
    files = {"a.tex": HEAD + USE + "\\section{Two}\n" + USE, "f.nt": "X ∈ ℝ^{seq ×\n  key}\nf(x) = ∑_{seq} x\n"}
    _, printed = check(files, "--assumptions", "f.nt")
    assert re.findall(r"^a\.tex:(\d+):14: error 301", printed, re.MULTILINE) == ["2", "4"]
    assert printed.splitlines()[-1] == "2 formulas in 2 sections: 2 errors, 0 warnings"
    files["f.nt"] = "X ∈ ℝ^{ax}\nq = ∑_{b} [1]_{a}"
    assert check(files, "--assumptions", "f.nt")[1].count("f.nt:2:1: error 301") == 1
    files["f.nt"] = "X ∈ ℝ^{"
    assert check(files, "--assumptions", "f.nt")[0] == 2


# ------------------------------------------------------------------------------------------------------------ baseline
def test_a_baseline_lets_only_new_findings_fail(check):
    files = {"a.tex": HEAD + SLIP + FINE + UNREAD}
    words = ["--baseline", "known.json", "--strict"]
    assert check(files, *words, "--write-baseline") == (0, "known.json: 2 findings written\n")
    status, printed = check(files, *words)
    assert status == 0 and "2 findings of the baseline, not shown" in printed and "0 errors" in printed
    moved = {"a.tex": "\n\n" + files["a.tex"].replace("Y =", "Y  =")}
    assert check(moved, *words)[0] == 0
    twice = {"a.tex": files["a.tex"] + "\\section{Again}" + SLIP}
    status, printed = check(twice, *words)
    assert status == 1 and printed.count("error 301") == 1
    assert check({"a.tex": files["a.tex"].replace("Y =", "V =")}, *words)[0] == 1


# ----------------------------------------------------------------------------------------------------------- notebooks
def test_notebooks(check):
    cells = [
        {"cell_type": "code", "source": ["x = '$'"]},
        {"cell_type": "markdown", "source": ["# One\n", "\n", "$$ Y = \\nsum{\\ax} [1, 2]_{\\seq} $$"]},
        {"cell_type": "markdown", "source": "$$ Z = Y $$ and $5"},
    ]
    notebook = json.dumps({"cells": cells, "nbformat": 4})
    status, printed = check({"a.ipynb": notebook})
    assert status == 1 and "a.ipynb:cell 2:3:14: error 301" in printed
    assert printed.splitlines()[-1] == "2 formulas in 1 section: 1 error, 0 warnings"
    assert check({"a.ipynb": notebook}, "--format", "github")[1].startswith(
        "::error file=a.ipynb,title=error 301::cell 2, line 3: "
    )
    location = json.loads(check({"a.ipynb": notebook}, "--format", "sarif")[1])["runs"][0]["results"][0]["locations"][0]
    assert location == {"physicalLocation": {"artifactLocation": {"uri": "a.ipynb"}}}


@pytest.mark.parametrize("content", ["[]", "{}", '{"cells": 3}', '{"cells": [3, {"cell_type": "markdown"}]}', "null"])
def test_notebooks_without_maths(check, content):
    assert check({"a.ipynb": content})[0] == 0


# ------------------------------------------------------------------------------------------------------- builds, pages
def test_the_page_names_every_option():
    parser = Parser()
    check_command.arguments(parser)
    options = {name for action in parser._actions for name in action.option_strings if name.startswith("--")}
    page = (ROOT / "docs" / "linter.md").read_text(encoding="utf-8")
    assert {name for name in options if f"`{name}" not in page} == {"--header", "--help", "--syntax"}


def test_the_hook_and_the_action_call_the_command():
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (files,) = re.findall(r"files: (.+)", hook)
    assert "entry: namedtensor check\n" in hook and all(re.search(files, f"a{ending}") for ending in DOCUMENTS)
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    (step,) = re.findall(r"run: namedtensor (check .+)", action)
    words = step.replace("$FILES", "docs/examples/draft.tex").replace("$ARGUMENTS", "--ignore 301").split()
    before = os.getcwd()
    os.chdir(ROOT)
    try:
        assert cli.main(words) == 0
    finally:
        os.chdir(before)


@pytest.mark.parametrize("arguments", [["check", "x + 1", "--ignore", "301,212"], ["help", "410"]])
def test_a_removed_error_code_is_refused(arguments, capsys):
    assert cli.main(arguments) == 2
    assert "was removed in 0.2" in capsys.readouterr().err
