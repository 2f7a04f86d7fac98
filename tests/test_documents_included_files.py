r"""Documents of several files: what is read, what is not and said to be, and where findings stand."""

import json
import os
import re

import pytest

from namedtensor import cli
from namedtensor.documents import included_files
from namedtensor.documents.included_files import document_text, stretches, whole_document

SLIP = r"\[ Y = \nsum{\sqe} [1, 2]_{\seq} \]" + "\n"
DEFINED = "\\ndef{\\seq}{seq}\n"


@pytest.fixture
def paper(tmp_path, monkeypatch, capsys):
    """Write files, check paper.tex or another, and give the status and what is printed."""
    monkeypatch.chdir(tmp_path)

    def command(files, *words, root="paper.tex"):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        status = cli.main(["check", root, *words])
        return status, capsys.readouterr().out

    return command


def places(printed):
    """file:line:column of each error"""
    return re.findall(r"^(.+?:\d+:\d+): error", printed, re.MULTILINE)


def notes(printed):
    return [line for line in printed.splitlines() if ": note: " in line]


# ------------------------------------------------------------------------------------------------------- what is followed
@pytest.mark.parametrize(("included", "file"), [
    (r"\input{chapter}", "chapter.tex"),
    (r"\input{chapter.tex}", "chapter.tex"),
    (r"\input chapter ", "chapter.tex"),
    (r"\input{chapter.inc}", "chapter.inc"),
    (r"\input{ chapter }", "chapter.tex"),
    (r'\input{"my chapter"}', "my chapter.tex"),
    (r"\include{chapter}", "chapter.tex"),
    (r"\subfile{chapters/one}", "chapters/one.tex"),
    (r"\input{chapters/one}", "chapters/one.tex"),
    (r"\import{chapters/}{one}", "chapters/one.tex"),
    (r"\subimport{chapters}{one}", "chapters/one.tex"),
    (r"\InputIfFileExists{chapter}{}{}", "chapter.tex"),
    ("\\input{%\nchapter}", "chapter.tex"),
])  # fmt: skip
def test_the_files_of_a_document_are_read(paper, included, file):
    status, printed = paper({"paper.tex": f"{DEFINED}{included}\n$x$", file: f"line 1\n{SLIP}"})
    assert status == 1 and places(printed) == [f"{file}:2:14"]
    assert "1 formula in 1 section: 1 error" in printed.splitlines()[-1]


@pytest.mark.parametrize("not_followed", [
    r"% \input{chapter}", r"\begin{verbatim} \input{chapter} \end{verbatim}", r"\verb|\input{chapter}|", r"\\input{chapter}",
    r"\iffalse \input{chapter} \fi", r"\iffalse \ifx a b \else c \fi \input{chapter} \fi", r"\inputx{chapter}",
    r"\newcommand{\later}{\input{chapter}}", r"\endinput \input{chapter}", r"\end{document} \input{chapter}",
    r"\usepackage{amsmath,graphicx}", r"\input{figure.pgf}", r"\input", r"\input{", r"\usepackage", r"\import{chapter}",
])  # fmt: skip
def test_what_tex_does_not_read_is_not_followed(paper, not_followed):
    status, printed = paper(
        {"paper.tex": f"{DEFINED} $X = \\nsum{{\\seq}} [1]_{{\\seq}}$ {not_followed}\n", "chapter.tex": SLIP}
    )
    assert status == 0 and not notes(printed)


def test_an_else_of_what_is_never_read_is_read(paper):
    assert places(paper({"paper.tex": f"{DEFINED}\\iffalse \\[ X = \\nsum{{\\no}} \\] \\else\n{SLIP}\\fi"})[1]) == [
        "paper.tex:3:14"
    ]


def test_places_are_those_of_each_file(paper):
    files = {
        "paper.tex": f"{DEFINED}\\input{{one}}\n{SLIP}\\input{{one}}{SLIP}",
        "one.tex": f"{SLIP}\\input{{two}} {SLIP}",
        "two.tex": f"\n\n{SLIP}% no line ends here",
    }
    one = ["one.tex:1:14", "two.tex:3:14", "one.tex:2:26"]
    positions = [position for position in places(paper(files)[1]) if "one" in position or "two" in position]
    assert positions == one  # once each, however often a file is included
    assert [position for position in places(paper(files)[1]) if "paper" in position] == [
        "paper.tex:3:14",
        "paper.tex:4:25",
    ]


def test_a_label_in_another_file_is_a_note(paper):
    files = {
        "paper.tex": DEFINED + "\\input{one}\n\\[ f(X) = X + \\nfun{\\seq}{softmax} X \\]",
        "one.tex": "text\n\\[ f \\colon \\reals^{\\seq} \\to \\reals \\]\n",
    }
    printed = paper(files)[1]
    assert places(printed) == ["paper.tex:3:11"] and "declared here: one.tex:2" in printed


def test_maths_may_go_on_in_another_file(paper):
    files = {"paper.tex": DEFINED + "\\[ Y = \\input{part} \\]", "part.tex": "\\nsum{\\sqe} [1]_{\\seq}"}
    assert places(paper(files)[1]) == ["part.tex:1:7"]


# ------------------------------------------------------------------------------------------------------- style files
@pytest.mark.parametrize(("used", "file"), [
    (r"\usepackage{local}", "local.sty"), (r"\usepackage[option]{amsmath, local}", "local.sty"), (r"\RequirePackage{local}", "local.sty"),
    (r"\documentclass[a4]{local}", "local.cls"), (r"\LoadClass{local}", "local.cls"), ("\\usepackage{%\n  amsmath, % why\n  local}", "local.sty"),
])  # fmt: skip
def test_macros_of_a_style_file_beside_the_document_count(paper, used, file):
    style = "\\catcode`\\$=3 \\newcommand{\\total}[2]{\\nsum{#1} #2}\n\\ndef{\\seq}{seq} \\[ no maths \\ndot{\n"
    status, printed = paper({"paper.tex": f"{used}\n\\[ Y = \\total{{\\sqe}}{{[1]_{{\\seq}}}} \\]", file: style})
    assert status == 1 and len(places(printed)) == 1 and "∑_{sqe} needs axis sqe" in printed


def test_style_files_read_others_once(paper):
    files = {
        "paper.tex": "\\usepackage{one}\\usepackage{two}\n$Y = \\nsum{\\seq} [1]_{\\seq}$",
        "one.sty": "\\RequirePackage{two}\\input{three}",
        "two.sty": "\\RequirePackage{one}",
        "three.tex": DEFINED,
    }
    status, printed = paper(files)
    assert status == 0 and not notes(printed) and "1 formula in 1 section" in printed


def test_the_package_itself_changes_nothing(paper):
    style = r"""\newcommand{\namedtensorstrut}{\vphantom{fg}}
\newcommand{\name}[1]{\ensuremath{\mathsf{\namedtensorstrut #1}}}
\newcommand{\nbin}[2]{\mathbin{\underset{\substack{#1}}{\namedtensorstrut #2}}}
\newcommand{\ndot}[1]{\nbin{#1}{\odot}} \newcommand{\nsum}[1]{\sum\limits_{\substack{#1}}}
\newcommand{\ndef}[2]{\newcommand{#1}{\name{#2}}}
"""
    text = "\\usepackage{namedtensor}\n" + DEFINED + SLIP
    assert places(paper({"paper.tex": text})[1]) == places(paper({"namedtensor.sty": style})[1]) == ["paper.tex:3:14"]


def test_macros_count_from_where_they_are_included(paper):
    files = {"paper.tex": "\\input{macros}\n\\input{chapter}", "macros.tex": DEFINED, "chapter.tex": SLIP}
    assert places(paper(files)[1]) == ["chapter.tex:1:14"]


# ------------------------------------------------------------------------------------------------- what is not, and said
def test_a_missing_file_is_a_note_and_no_error(paper):
    status, printed = paper(
        {"paper.tex": DEFINED + "\\input{none}\n$Y = \\nsum{\\seq} [1]_{\\seq}$\n\\include{\\folder/x}"}
    )
    assert status == 0
    assert notes(printed) == [
        "paper.tex:2: note: none is not here, so its formulas and macros are not read",
        "paper.tex:4: note: \\folder/x is not here, so its formulas and macros are not read",
    ]


LOOPS = {
    "of one": {"paper.tex": "\\input{paper}"},
    "of two": {"paper.tex": "\\input{one}", "one.tex": "\\input{./paper}"},
    "of three": {"paper.tex": "\\input{one}", "one.tex": "\\input{two}", "two.tex": "\\input{one}"},
}


@pytest.mark.parametrize("files", LOOPS.values(), ids=LOOPS)
def test_a_loop_ends(paper, files):
    status, printed = paper({name: text + "\n$x$" for name, text in files.items()})
    assert status == 0 and "includes itself" in notes(printed)[0]


def test_depth_number_and_size_are_bounded(paper, monkeypatch):
    chain = {f"f{n}.tex": f"\\input{{f{n + 1}}}" for n in range(30)} | {"paper.tex": "\\input{f0}"}
    assert "more than 20 deep" in paper(chain)[1]
    fan = {f"g{n}.tex": f"\\input{{g{n + 1}}}" * 10 for n in range(8)} | {"paper.tex": "\\input{g0}", "g8.tex": "$x$"}
    assert "more than 2000 files" in paper(fan)[1]
    monkeypatch.setattr(included_files, "CHARACTERS", 1000)
    long = {"paper.tex": "\\input{h}\\input{h}", "h.tex": "x" * 600}
    assert [("longer than" in note) for note in notes(paper(long)[1])] == [True, False]


def outside(tmp_path):
    """Files beside the document's folder, and links to them."""
    (tmp_path / "secret").write_text("$ secret")
    (tmp_path / "macros.tex").write_text(DEFINED)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder" / "pipe.tex")
    for name, target in (
        ("link.tex", "../secret"),
        ("good.tex", "../macros.tex"),
        ("null.tex", "/dev/null"),
        ("self.tex", "self.tex"),
    ):
        (tmp_path / "folder" / name).symlink_to(target)
    (tmp_path / "folder" / "directory.tex").mkdir()


@pytest.mark.parametrize(("name", "why"), [
    ("../secret", "outside"), ("link", "outside"), ("/dev/null", "outside"), ("/proc/self/environ", "outside"), ("/etc/passwd", "outside"),
    ("null", "outside"), ("pipe", "not a regular file"), ("self", "not here"), ("directory", "not here"), ("..", "not here"),
    ("/", "not here"), ("a" * 5000, "not here"), ("~/x", "not here"), ("binary", "NUL"),
])  # fmt: skip
def test_only_texts_are_opened(tmp_path, monkeypatch, capsys, name, why):
    outside(tmp_path)
    monkeypatch.chdir(tmp_path / "folder")
    (tmp_path / "folder" / "binary.tex").write_bytes(b"\\[ \0\x01 \\]")
    (tmp_path / "folder" / "paper.tex").write_text(f"\\input{{{name}}}\n$x$")
    assert cli.main(["check", "paper.tex"]) == 0
    printed = capsys.readouterr().out
    assert any(why in note for note in notes(printed)) and "secret is" not in printed.replace("../secret", "")


@pytest.mark.parametrize("name", ["../macros", "good", "../macros.tex"])
def test_a_file_of_tex_may_lie_outside(tmp_path, monkeypatch, capsys, name):
    outside(tmp_path)
    (tmp_path / "folder" / "paper.tex").write_text(f"\\input{{{name}}}\n{SLIP}")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check", "folder/paper.tex"]) == 1
    assert places(capsys.readouterr().out) == ["folder/paper.tex:2:14"]


@pytest.mark.parametrize("name", ["pipe.tex", "directory.tex", "null.tex", "self.tex"])
def test_a_document_is_a_regular_file(tmp_path, monkeypatch, capsys, name):
    outside(tmp_path)
    monkeypatch.chdir(tmp_path / "folder")
    assert cli.main(["check", name]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(("data", "message"), [
    ((DEFINED + SLIP).encode("utf-16"), None),
    (b"\xef\xbb\xbf" + (DEFINED + SLIP).encode(), None),
    ((DEFINED + SLIP).replace("\n", "\r\n").encode(), None),
    ((DEFINED + SLIP).replace("\n", "\r").encode(), None),
    ((DEFINED + SLIP + "é").encode("latin-1"), "Latin-1"),
    (DEFINED.encode() + b"% \xff\xfe\x80\n" + SLIP.encode(), "Latin-1"),
])  # fmt: skip
def test_encodings(paper, data, message):
    for files, file in (({"paper.tex": data}, "paper"), ({"paper.tex": "\\input{one}", "one.tex": data}, "one")):
        status, printed = paper(files)
        assert status == 1 and places(printed)[0].startswith(f"{file}.tex:")
        assert bool(notes(printed)) == bool(message) and (message or "") in printed


@pytest.mark.parametrize(
    "data", [b"\0" * 100, "x\0".encode("utf-16"), b"\xff\xfe\x00", b"x" * (included_files.CHARACTERS + 1)]
)
def test_what_is_no_text_is_a_sentence(tmp_path, capsys, data):
    (tmp_path / "paper.tex").write_bytes(data)
    status = cli.main(["check", str(tmp_path / "paper.tex")])
    readouterr = capsys.readouterr()
    assert (status, readouterr.err.count("\n")) == (2, 1) or status == 0 and "note" in readouterr.out


# ------------------------------------------------------------------------------------------------------ other ways in
def test_a_whole_of_one_file_is_its_text():
    text = "a % b\n\\iffalse c \\fi\\input{none} d"
    whole = whole_document(text, "nowhere/paper.tex")
    assert whole.text == "a % b\n d" and whole.files == ["nowhere/paper.tex"]
    assert whole.place((6, 8)).span == (len(text) - 2, len(text))


def test_stretches_of_definitions_alone():
    text = "\\newcommand{\\a}{b} text \\input{c} \\def\\d#1{e}"
    first, second, third = stretches(text, definitions=True)
    assert (text[slice(*first)], second.names, text[slice(*third)]) == ("\\newcommand{\\a}{b}", ["c"], "\\def\\d#1{e}")


def test_json_names_the_files(paper):
    record = json.loads(
        paper({"paper.tex": DEFINED + "\\input{one}\\input{none}", "one.tex": SLIP + "$Z = \\nsum{\\seq}$"}, "--json")[
            1
        ]
    )
    assert record["files"] == ["paper.tex", "one.tex"]
    assert [(error["file"], error["line"]) for error in record["errors"]] == [("one.tex", 1), ("one.tex", 2)]
    assert record["notes"] == [
        {"file": "paper.tex", "line": 2, "text": "none is not here, so its formulas and macros are not read"}
    ]


def test_the_text_of_a_document(tmp_path):
    (tmp_path / "a.tex").write_bytes(b"a\r\nb\rc")
    assert document_text(str(tmp_path / "a.tex")) == ("a\nb\nc", None)


# -------------------------------------------------------------------------------------------------- the root of a chapter
CHAPTER = "\\[ Y = \\nsum{\\sqe} [1, 2]_{\\seq} \\]\n"
ROOT = "\\documentclass{article}\n\\input{macros}\n\\begin{document} \\[ W = \\nsum{\\sqe} [1]_{\\seq} \\] %s \\end{document}\n"


@pytest.mark.parametrize(("files", "expected"), [
    ({"paper.tex": ROOT % "\\input{part}", "part.tex": CHAPTER}, True),
    ({"paper.tex": ROOT % "\\include{all}", "all.tex": "\\input{part}", "part.tex": CHAPTER}, True),
    ({"paper.tex": ROOT % "", "part.tex": CHAPTER}, False),
    ({"paper.tex": ROOT % "\\input{part}", "part.tex": "\\documentclass{article}" + CHAPTER}, False),
    ({"paper.tex": "\\input{part}", "part.tex": CHAPTER}, False),
])  # fmt: skip
def test_the_macros_of_its_root_count_in_a_chapter(tmp_path, monkeypatch, capsys, files, expected):
    monkeypatch.chdir(tmp_path)
    for name, text in {**files, "macros.tex": "\\newcommand{\\seq}{\\name{sequence}} \\[ 1 + \\]"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert cli.main(["check", "part.tex"]) == 1
    printed = capsys.readouterr().out
    assert ("read with the macros of paper.tex" in printed) == expected
    assert ("its axes are sequence" in printed) == expected and printed.count(": error ") == 1


def test_a_chapter_beside_its_root_is_checked_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in {"paper.tex": ROOT % "\\input{part}", "part.tex": CHAPTER, "macros.tex": ""}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for names in (("part.tex", "paper.tex"), ("paper.tex", "part.tex")):
        assert cli.main(["check", *names]) == 1
        printed = capsys.readouterr().out
        assert printed.count("part.tex:1:") == 1 and "2 formulas in 1 section: 2 errors" in printed


def test_a_chapter_may_name_its_root(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "paper.tex").write_text(ROOT % "\\input{a/b/part}", encoding="utf-8")
    (tmp_path / "macros.tex").write_text("\\newcommand{\\seq}{\\name{sequence}}", encoding="utf-8")
    (tmp_path / "a" / "b" / "part.tex").write_text("% !TEX root = ../../paper.tex\n" + CHAPTER, encoding="utf-8")
    assert cli.main(["check", "a/b/part.tex"]) == 1
    assert "its axes are sequence" in capsys.readouterr().out
