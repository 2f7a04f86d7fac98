"""Formulas in LaTeX documents: which are found, what is said of them, and where."""

import json
import subprocess
import sys

import pytest
from timing import at_most

from namedtensor import cli
from namedtensor.documents import conflicts
from namedtensor.documents.assembled import AssembledProgram
from namedtensor.documents.findings import findings_of
from namedtensor.documents.included_files import whole_text
from namedtensor.documents.maths import find
from namedtensor.documents.sections import check_document

HEAD = r"""\documentclass{article}
\ndef{\ax}{ax} \ndef{\seq}{seq} \ndef{\key}{key} \ndef{\val}{val} \ndef{\height}{height} \ndef{\width}{width}
\begin{document}
"""


def maths(source):
    return [source[formula.start : formula.end] for section in find(source).sections for formula in section.maths]


def check(body, **options):
    return check_document(HEAD + body, **options)


def errors(body, **options):
    return [(error.code, error.span_text) for error in check(body, **options).errors]


# --------------------------------------------------------------------------------------------------------------- finding
@pytest.mark.parametrize(("source", "expected"), [
    (r"a $x$ b \(y\) c \[z\] d $$w$$", ["$x$", r"\(y\)", r"\[z\]", "$$w$$"]),
    (r"\begin{align*} a &= b \end{align*}", [r"\begin{align*} a &= b \end{align*}"]),
    (r"it costs \$5, or $x$", ["$x$"]),
    ("% $ no maths\n$x$ % $ nor here\n", ["$x$"]),
    (r"line \\ $x$ \\[2pt] and \\% 50 $y$", ["$x$"]),
    (r"\verb|$| $x$ \begin{verbatim} $y$ \end{verbatim}", ["$x$"]),
    (r"\[ x \text{ if $i$ is odd} \]", [r"\[ x \text{ if $i$ is odd} \]"]),
    (r"$a$$b$", ["$a$", "$b$"]),
    (r"\begin{equation} \begin{aligned} a \end{aligned} \end{equation}",
     [r"\begin{equation} \begin{aligned} a \end{aligned} \end{equation}"]),
    ("", []),
    ("no maths", []),
])  # fmt: skip
def test_maths_is_found(source, expected):
    assert maths(source) == expected


@pytest.mark.parametrize(("source", "opening", "rest"), [
    ("a $x\n\nb $y$", "$", ["$y$"]),
    ("a $x", "$", []),
    (r"\[ x", r"\[", []),
    (r"\begin{align} x", r"\begin{align}", []),
    ("\\[ x \\section{Next} $y$", r"\[", []),
])  # fmt: skip
def test_maths_that_is_never_closed(source, opening, rest):
    (error,) = find(source).errors
    assert (error.code, error.span_text) == (102, opening)
    assert maths(source) == rest


def test_sections():
    index = find("$a$ \\section{One} $b$ \\section*{Two $x$} \\subsection{of two} $c$")
    assert [(section.title, len(section.maths)) for section in index.sections] == [("", 1), ("One", 1), ("Two $x$", 1)]


@pytest.mark.parametrize("definition", [
    r"\newcommand{\seq}{\name{seq}}", r"\newcommand\seq{\mathsf{seq}}", r"\def\seq{\name{seq}}", r"\ndef{\seq}{seq}",
])  # fmt: skip
def test_macros_of_axes(definition):
    assert find(definition).axes == {r"\seq"}


def test_definitions_that_cannot_be_read_do_no_harm():
    body = r"""\makeatletter\def\x@y#1.{#1} \newcommand{\foo}[1][a]{\ifx#1b\fi} \newcommand{\open}{ \let\a=b \def"""
    assert errors(body + "\n}" + r"\[ Y = \nfun{\ax}{softmax} [1, 2]_{\ax} \]") == []


# ------------------------------------------------------------------------------------------- what is checked, and what not
@pytest.mark.parametrize("prose", [
    "$A$ and $i$, $W^Q$, $\\seq$, $|\\seq|$, $3$, $X'$",
    r"$E = mc^2$ and $i = 1$ and then $i = 2$ and $x > 0$",
    r"$\seq \times \key$, $\ndot{\key}$, $\nfun{\seq}{softmax}$, $\reals^{\seq}$",
    r"$\{\height(i), \width(j)\} \in \rec \mathcal{S}$ and \[ \int_0^1 f(x)\,dx = \langle a, b \rangle \]",
    r"\[ \mathcal{L} = \sum_i \ell_i^2 + \| \theta \| \] and \[ x^2 + \]",
    r"\[ E = mc^2 \] \[ E = 3 \]",
])  # fmt: skip
def test_other_maths_is_passed_over(prose):
    report = check(prose + r" \[ Y = [1]_{\ax} \]")  # where nothing at all is a formula, that is an error
    assert not report.errors and not report.warnings and not report.unread


def test_all_reports_it_too():
    assert errors(r"\[ x^2 + \]", everything=True) == [(105, "+")]
    assert errors(r"$\mathfrak{S}$", everything=True) == [(111, r"\mathfrak")]


@pytest.mark.parametrize(("body", "expected"), [
    (r"$A \in \reals^{\height \times \width}$ \[ C = A \ndot{\widht} A \]", [(301, r"\widht")]),
    (r"\[ D = \nfun{\height}{softmax} (A + \]", [(102, "(")]),
    (r"\[ D = A \ndot{\height} \]", [(105, r"\ndot{\height}")]),
    (r"$D = \nsum{\height}$", [(105, r"\nsum{\height}")]),
    (r"\[ A = [1, 2]_{\height} \] and \[ B = A \ndot{\height} [1,2,3]_{\height} \]", [(302, r"A \ndot{\height} [1,2,3]_{\height}")]),
    (r"\begin{align} Y &= [1]_{\height} \\ Y &= [2]_{\height} \end{align}", [(202, "Y")]),
    (r"\[ Y = [1]_{\height} \] then \[ Y = [2]_{\height} \]", []),
    (r"\section{A} \[ Y = [1]_{\height} \] \section{B} \[ Y = [2]_{\height} \]", []),
    (r"\[ Q \in \reals^{\key} \] \[ S = \nfun{\key}{softmx} Q \]", [(201, "softmx")]),
])  # fmt: skip
def test_errors(body, expected):
    assert errors(body) == expected


ATTENTION = r"""
\begin{align}
  \text{Att} \colon \reals^{\key} \times \reals^{\seq\times\key} \times \reals^{\seq\times\val} &\rightarrow \reals^{\val} \\
  \text{Att}(Q,K,V) &= \left( \nfun{\seq}{softmax} \frac{Q \ndot{\key} K}{\sqrt{|\key|}} \right) \ndot{\seq} V
\end{align}
Let $q \in \reals^{\key}$, $k \in \reals^{\seq \times \key}$ and $v \in \reals^{\seq\times\val}$.
"""


def test_a_definition_is_known_in_later_displays_of_its_section():
    assert errors(ATTENTION + r"\[ Y = \text{Att}(q, k, v) \]") == []
    assert errors(ATTENTION + r"so \( Y = \text{Att}(q, v, k) \)") == [(305, "v")]
    assert check(ATTENTION + r"\[ Y = \text{Att}(q, k, v) \]").scopes[0].types["Y"] == "ℝ^{val}"


def test_what_no_formula_explains_is_noted_and_no_error():
    report = check(r"\section{One} \[ Y = X \ndot{\seq} W \]")
    assert not report.errors and "X" in report.scopes[0].unknown
    report = check_document(HEAD + r"\[ Y = X \ndot{\seq} X \]", shapes={"X": "ℝ^{seq[3]}"})
    assert not report.errors and report.scopes[0].types["Y"] == "ℝ"


def test_a_formula_that_cannot_be_sorted_is_left_out_of_its_section():
    body = r"\[ Y = [1]_{\ax}, \quad Y = [2]_{\ax} \] \[ Z = [1]_{\ax} \ndot{\ax} [1,2]_{\ax} \]"
    assert [number for number, _ in errors(body)] == [202, 302]


def test_warnings_have_their_place():
    source = (
        HEAD
        + "$A \\in \\reals^{\\height}$, $B \\in \\reals^{\\width}$\n\\[ C = A + B \\]\\[ D = B_{\\width\\rightarrow\\ax} + A \\]"
    )
    report = check_document(source)
    assert [source[slice(*warning.span)] for warning in report.warnings] == [r"B_{\width\rightarrow\ax} + A"]


def test_spans_lead_back_through_macros():
    source = "\\newcommand{\\two}[2]{#1 \\ndot{\\height} #2}\n\nText.\n\n\\[ Y = \\two{A}{B} + \\nfun{\\height}{sofmax} A \\]"
    (error,) = check_document(source).errors
    assert error.span_text == "sofmax" and error.position() == (5, 36)


def test_a_patchwork_leads_back():
    source = "0123456789"
    work = AssembledProgram(source, [(6, 8), (1, 3)])
    assert work.text == "12\n67"
    assert [work.span((at, at + 1)) for at in (0, 1, 3, 4)] == [(1, 2), (2, 3), (6, 7), (7, 8)]
    assert work.span((0, 5)) == (1, 8) and work.span((2, 2)) == (3, 3)


# ------------------------------------------------------------------------------------------------ texts of no statement
@pytest.mark.parametrize("nothing", [
    r"$\text{inv}$", r"$\text{a, b}$", r"\[ \text{so} \]", r"\begin{align} \text{so} \\ \text{that} \end{align}", "$ $", "$%\n$", "$,$",
    r"$\label{a}$", r"$\text{}$", r"\begin{align} & \\ & \end{align}", r"\[ \intertext{so} \]", r"\[ \quad \text{where} \quad \]",
])  # fmt: skip
@pytest.mark.parametrize("before", ["", r"$X \ndot{\name{ax}} Y = Z$ here "])
def test_maths_without_a_statement_is_left_out(before, nothing):
    report = check_document(f"{before}and {nothing} there.")
    assert report.formulas == bool(before) and not report.errors
    report = check_document(f"{before}and {nothing} there.", everything=True)
    assert report.formulas <= 1 + bool(before)


# ----------------------------------------------------------------------------------------------- what running text may do
@pytest.mark.parametrize(("body", "types"), [
    (r"\[ Y = [1, 2]_{\ax} \] \[ Z = Y \] \[ Y = [1, 2, 3]_{\ax} \] \[ W = Y \]", {"Z": "ℝ^{ax[2]}", "W": "ℝ^{ax[3]}"}),
    (r"\[ f(x) = \nsum{\ax} x \] \[ f(x) = \nsum{\seq} x \] \[ Y = f([1]_{\seq}) \]", {"Y": "ℝ"}),
    (r"\begin{align} Y &= [1]_{\ax} & V &= [2]_{\seq} \end{align} \[ Y = V \odot [3]_{\seq} \]", {"Y": "ℝ^{seq[1]}", "V": "ℝ^{seq[1]}"}),
])  # fmt: skip
def test_a_later_display_may_define_a_name_again(body, types):
    report = check(body)
    assert not report.errors and "defined again" in report.notes[0].text
    assert types.items() <= report.scopes[0].types.items()


def test_a_section_is_parsed_once_however_often_a_name_is_defined_again(monkeypatch):
    parsed: list[str] = []
    parse = conflicts.parse
    monkeypatch.setattr(conflicts, "parse", lambda source, syntax: parsed.append(source) or parse(source, syntax))
    again = "".join(rf"\[ X = \nsum{{\ax}} Y^{{{number}}} \]" + "\n" for number in range(2, 22))
    report = check(r"\(Y \in \mathbb{R}^{\ax}\) " + again)
    assert not report.errors and len(report.notes) == 19
    assert len(parsed) == 1


def test_no_numpy_is_needed_to_check_a_document(tmp_path):
    (tmp_path / "paper.tex").write_text(HEAD + r"\[ X = Y \ndot{\ax} Y \]")
    script = (
        "import sys; from namedtensor import cli; cli.main(['check', 'paper.tex']); sys.exit('numpy' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=False, capture_output=True).returncode == 0
    )


@pytest.mark.parametrize("claim", [
    r"$A_{\height(1), \width(2)} = 1$", r"\[ \sigma(A) = \nmatrix{\height}{\width}{1 & 2 \\ 3 & 4} \]",
])  # fmt: skip
def test_an_element_or_a_call_of_what_is_known_defines_nothing(claim):
    known = r"\[ A = \nmatrix{\height}{\width}{3 & 1 \\ 1 & 5} \] \[ \sigma(x) = 1 + \exp x \] "
    assert errors(known + claim + r" \[ B = A \ndot{\seq} A \]") == [(301, r"\seq")]


@pytest.mark.parametrize("claim", [
    r"\[ \sigma(A) = A \ndot{\seq} A \]", r"\[ f(A) = A \ndot{\seq} A \]", r"\[ A_{\height(1), \width(2)} = A \ndot{\seq} A \]",
])  # fmt: skip
def test_a_claim_about_what_is_known_is_checked(claim):
    known = r"\[ A = \nmatrix{\height}{\width}{3 & 1 \\ 1 & 5} \] \[ f(x) = x + x \] \[ \sigma(x) = 1 + \exp x \] "
    report = check(known + claim)
    assert [(error.code, error.span_text) for error in report.errors] == [(301, r"\seq")] and not report.unread


def test_a_function_that_seems_called_and_is_defined_anew_is_told_of():
    report = check(r"\[ f(x, y) = \nsum{\ax} x + y \] \[ f(x, B) = 3 \ndot{\seq} B \] \[ B = [1, 2]_{\ax} \]")
    assert not report.unread and "f(x, B) is defined again" in report.notes[0].text


@pytest.mark.parametrize("prose", [
    r"we write $\ax(i)$ for it", r"the expression $\partial (X \ndot{\ax} X)$", r"$x, y \in \reals^{\ax}$ and \[ X \ndot{\ax} Y \]",
    r"\[ h^{t} = h^{t-1} \ndot{\ax} w \qquad t = 1, \ldots, n \]", r"\[ Y = \frac{\nsum{\ax} x}{|\key|} \]",
])  # fmt: skip
def test_what_prose_may_say_is_no_error(prose):
    assert errors(prose) == []


def test_a_macro_of_the_notation_may_mean_another_thing():
    assert not check_document(r"\newcommandx\nbin[1][1=r]{NBin(#1)} \[ X \sim \nbin[r], \quad x = \nbin + \]").errors
    assert not check_document(r"\newcommand{\refl}[1]{\mathsf{refl}_{#1}} \[ p = \refl{x} \cdot + \]").errors


# -------------------------------------------------------------------------------------------------------- nothing is read
UNREADABLE = r"\[ \langle X \rangle = \nsum{\ax} X \ndot{\ax} \langle Y \rangle \]"


def test_a_document_of_which_nothing_was_read_is_no_success():
    (error,) = check(UNREADABLE).errors
    assert error.code == 108 and error.span_text == UNREADABLE
    report = check(UNREADABLE + r"\[ Y = [1]_{\ax} \]")
    assert not report.errors and len(report.unread) == 1


@pytest.mark.parametrize(("body", "message"), [
    ("no maths", "nothing was checked: no formulas"),
    ("$x$ and $\\ax$", "nothing was checked: none of 2 math spans is a formula with named axes"),
    (r"\[ Y = [1]_{\ax} \] " + UNREADABLE, "not checked 111: "),
])  # fmt: skip
def test_what_was_not_read_is_said(tmp_path, capsys, body, message):
    (tmp_path / "a.tex").write_text(HEAD + body)
    assert cli.main(["check", str(tmp_path / "a.tex")]) == 0
    assert message in capsys.readouterr().out


@pytest.mark.parametrize("program", ["f(x) = 2 x", "|a| = 3", "f(x) = g(x)\ng(x) = y + x", "⋮"])
def test_a_program_without_a_type_is_not_passed_in_silence(capsys, program):
    assert cli.main(["check", program]) == 0
    assert "no type to report" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------------------ bounded time
MANY = 100_000
AXES = r"\ndef{\ax}{ax} "
TOO_MUCH = {
    "displays never closed": "\\[ x\n\n" * MANY,
    "verbatim never closed": r"\begin{verbatim} " * MANY,
    "definitions never closed": r"\def\a{" * MANY,
    "definitions": r"\def\a{b}" * MANY,
    "groups": "{" * MANY,
    "titles never closed": r"\section{" * MANY,
    "text never closed": r"\[" + r"\text{" * MANY + r"\]",
    "formulas": AXES + r"$X \ndot{\ax} Y$ " * 30000,
    "formulas that are wrong": AXES + r"\[ Z = X \ndot{\ax} \] " * 3000,
    "names defined again": AXES + "".join(rf"\[ Z = X_{{{n}}} \ndot{{\ax}} Y \] " for n in range(300)),
    "a chain of what is not known": AXES + "".join(rf"\[ Z_{{{n + 1}}} = Z_{{{n}}} \ndot{{\ax}} Y \] " for n in range(1000)),
    "a macro without end": r"\newcommand{\a}{\a\a} " + AXES + r"$X \ndot{\ax} \a = 1$ " * 3000,
    "macros that grow": r"\def\a#1{#1#1#1#1#1#1#1#1#1#1}\def\b{\a{\a{\a{\a{\a{\a{x}}}}}}} " + AXES + r"$X \ndot{\ax} \b$ " * 300,
    "never read": r"\iffalse " * MANY,
    "files": r"\input{none} " * 20000,
    "options": r"\input[" * MANY,
    "comments for the checker": AXES + "% namedtensor: ignore\n" * 3000 + r"\[ Z = \nsum{\ax} [1]_{\seq} \] " * 1000,
    "facts": AXES + "% namedtensor: X ∈ ℝ^{a}\n" * MANY,
    "facts that are none": AXES + "% namedtensor: {{{;;;\n" * MANY,
    "rows that cannot be read": AXES + r"\begin{align} " + r"\langle X \rangle &= \nsum{\ax} X \\ " * 3000 + r"\end{align}",
    "displays with such rows": AXES + r"\begin{align} a &= \nsum{\ax} X \\ \langle X \rangle &= \nsum{\ax} X \end{align} " * 3000,
    "declarations again": AXES + "".join(rf"$X \in \reals^{{\name{{a{n}}}}}$ " for n in range(1000)),
}  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.slow
@pytest.mark.parametrize("source", TOO_MUCH.values(), ids=TOO_MUCH)
def test_too_much_of_something_takes_bounded_time(tmp_path, capsys, source):
    (tmp_path / "a.tex").write_text(source)
    with at_most(20):  # a few seconds where it is linear, hours where it is not
        assert cli.main(["check", str(tmp_path / "a.tex")]) in (0, 1)
    assert capsys.readouterr().out.count("\n") < 3000


def test_more_formulas_than_are_read_is_one_error(monkeypatch):
    from namedtensor.documents import notation

    monkeypatch.setattr(notation, "READ", 2000)
    report = check_document(AXES + r"\[ Z = X \ndot{\ax} Y \] " * 100)
    assert [error.code for error in report.errors] == [404] and 0 < report.formulas < 100 and report.unread


# ------------------------------------------------------------------------------------------------------ the command line
PAPER = (
    HEAD
    + ATTENTION
    + "\\section{Use}\nLet $q \\in \\reals^{\\key}$.\n\\[ Y = q \\ndot{\\kye} q \\]\n$\\mathfrak{S}$\n\\[ Z = q + x \\]\n"
)


@pytest.fixture
def paper(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")

    def command(*words):
        status = cli.main(["check", "paper.tex", *words])
        return status, capsys.readouterr().out

    return command


def line_of(text):
    return PAPER[: PAPER.index(text)].count("\n") + 1


def test_errors_are_told_as_file_line_column(paper):
    status, printed = paper()
    assert status == 1
    assert printed.startswith(f"paper.tex:{line_of('kye')}:16: error 301: ⊙_{{kye}} needs axis kye")
    assert f"{line_of('kye')} | \\[ Y = q \\ndot{{\\kye}} q \\]" in printed
    assert "1 error, 0 warnings" in printed.splitlines()[-1]


def test_types_and_all(paper):
    assert "  q : ℝ^{key}" in paper("--types")[1]
    assert "unsupported macro \\mathfrak" in paper("--all")[1]
    assert paper("--ascii")[1].isascii()


def test_a_document_in_json(paper):
    status, printed = paper("--json")
    record = json.loads(printed)
    assert status == 1 and not record["ok"] and record["sections"][1]["title"] == "Use"
    error = record["errors"][0]
    assert (error["file"], error["line"], error["column"], error["code"]) == ("paper.tex", line_of("kye"), 16, 301)


@pytest.mark.parametrize("name", ["attention.tex", "norms.tex"])
def test_the_examples_are_fine(name, capsys):
    from pathlib import Path

    path = Path(__file__).parent.parent / "docs" / "examples" / name
    assert cli.main(["check", str(path)]) == 0
    assert "0 errors" in capsys.readouterr().out


def test_any_text_is_checked_without_another_exception():
    from hypothesis import given
    from hypothesis import strategies as st

    words = ["$", "$$", "\\[", "\\]", "\\(", "\\)", "{", "}", "\\begin{align}", "\\end{align}", "\\section{", "%", "\n\n", "\\",
             "\\text{", "\\ndef{\\a}{a}", "\\newcommand", "\\def\\x", "\\let", "\\ndot{\\a}", "\\nfun{\\a}{softmax}", "X", "= ",
             "\\in \\reals^{\\a}", "&", "&& \\text{a b}", "% namedtensor: ", "ignore\n", "\\stackrel{1}{=}", "(B \\in \\reals^{\\a})", ";", "\\\\", "\\verb|", "\\begin{verbatim}", "_", "^", "(", ")", "1", "é", "\0"]  # fmt: skip

    @given(st.lists(st.sampled_from(words), max_size=30).map("".join), st.booleans())
    def check_any(source, everything):
        report = check_document(source, everything)
        findings_of(report, whole_text(source, "a.tex"))
        assert all(0 <= error.span[0] <= error.span[1] <= len(source) for error in report.errors if error.span)

    check_any()


# -------------------------------------------------------------------------------------------------------- inheritance
LATER = r"\section{B} \[ \text{half} \colon \reals^{\name{a}} \to \reals^{\name{a}} \] \[ \text{half}(x) = x / 2 \]"
OTHER = r"\[ \text{half} \colon \reals^{\name{b}} \to \reals \] \[ \text{half}(x) = \nsum{\name{b}} x \]"
OF_SECTIONS = {
    "a declaration counts in later sections": (
        r"\section{A} $X \in \reals^{\name{a}}$ \section{B} \[ Y = \nsum{\name{a}} \nsum{\name{b}} X \]",
        [301],
    ),
    "not where none of its axes is spoken of: that is another tensor": (
        r"\section{A} $X \in \reals^{\name{a}}$ \section{B} \[ Y = \nsum{\name{b}} X \]",
        [],
    ),
    "a later section may say it anew": (
        r"\section{A} $X \in \reals^{\name{a}}$ \section{B} $X \in \reals^{\name{b}}$ \[ Y = \nsum{\name{b}} X \]",
        [],
    ),
    "anew for that section and those after it": (
        r"\section{A} $X \in \reals^{\name{a}}$ \section{B} $X \in \reals^{\name{b}}$ \section{C} \[ Y = \nsum{\name{a}} \nsum{\name{b}} X \]",
        [301],
    ),
    "a function of an earlier section is called": (
        r"\section{A} \[ \text{half} \colon \reals^{\name{a}} \to \reals^{\name{a}} \] \[ \text{half}(x) = x / 2 \]"
        r"\section{B} $X \in \reals^{\name{b}}$ \[ Y = \nsum{\name{b}} \text{half}(X) \]",
        [305],
    ),
    "so is one that has its signature in a later section": (
        rf"\section{{A}} $X \in \reals^{{\seq \times \name{{a}}}}$ \[ Y = \text{{half}}(X) \] \[ Z = \nsum{{\name{{b}}}} Y \] {LATER}",
        [301],
    ),
    "which it is called with": (
        rf"\section{{A}} $X \in \reals^{{\name{{b}}}}$ \[ Y = \text{{half}}(X) + \nsum{{\name{{b}}}} X \] {LATER}",
        [305],
    ),
    "not where another section gives another": (
        rf"\section{{A}} $X \in \reals^{{\name{{b}}}}$ \[ Y = \text{{half}}(X) + \nsum{{\name{{b}}}} X \] {LATER} \section{{C}} {OTHER}",
        [],
    ),
    "nor where its name is one letter": (
        r"\section{A} $X \in \reals^{\name{b}}$ \[ Y = f(X) + \nsum{\name{b}} X \]"
        + LATER.replace(r"\text{half}", "f"),
        [],
    ),
    "what an inherited definition needs comes with it": (
        r"\section{A} $X \in \reals^{\name{a}}$ \[ Y = \nsum{\name{a}} X \] \section{B} \[ Z = \nsum{\name{a}} Y \]",
        [301],
    ),
    "an error is told once, in its own section": (
        r"\section{A} $X \in \reals^{\name{a}}$ \[ Y = \nsum{\name{b}} X \] \section{B} \[ Z = \nsum{\name{c}} (Y + X) \]",
        [301],
    ),
    "a definition below counts for what stands above": (
        r"$X \in \reals^{\name{a}}$ \[ Y = \text{half}(X) + \nsum{\name{b}} X \] \[ Z = X + 1 \] \[ Z = X + 2 \] \[ \text{half}(x) = x / 2 \]",
        [301],
    ),
}


@pytest.mark.parametrize("case", OF_SECTIONS)
def test_sections_inherit(case):
    source, numbers = OF_SECTIONS[case]
    assert [error.code for error in check_document(source).errors] == numbers


# ------------------------------------------------------------------------------------- shapes, facts, running text
READ = {
    "a shape of macros that nothing defines is one of axes": (
        r"$Q \in \reals^{\key}$ and $K \in \mathbb{R}^{\seq \times \key}$. \[ Y = Q \ndot{\seq} K \]",
        [301], [],
    ),
    "of what LaTeX has, it is not": (
        r"\[ Y = X \ndot{\name{a}} W \] $x \in \reals^{\ell}$, $y \in \mathbb{R}^{n \times \dots}$, $z \in \reals^{\infty}$",
        [], ["W", "X"],
    ),
    "of what the document defines to be another thing, it is not": (
        r"\newcommand{\dd}{d_1} $x \in \reals^{\dd}$ \[ Y = X \ndot{\name{a}} X \]",
        [], ["X"],
    ),
    "a condition asks for nothing": (
        "% namedtensor: n ≥ 1\n" + r"$\epsilon > 0$ $X \in \reals^{\name{a}}$ \[ Y = \nsum{\name{a}} X \]",
        [], [],
    ),
    "what a sentence says at its end counts for it": (
        r"$X \in \reals^{\name{a}}$. \[ Y = \nsum{\name{a}} X \]" + "\n\n"
        + r"So $Z = \nsum{\name{b}} X$ where $X \in \reals^{\name{b}}$, and \[ U = \nsum{\name{b}} X \]",
        [], [],
    ),
    "a shape variable is a shape of named axes": (
        r"$f \colon \reals^{\mathcal{S}} \to \reals^{\mathcal{T}}$ and $x \in F^{\mathcal{S'}}$ \[ Y = \nsum{\mathcal{S'}} \nsum{\name{a}} x \] \[ Z = \nsum{\name{a}} \nsum{\mathcal{S'}} x \]",
        [301], [r"\name{a}"],
    ),
    "a signature in another subsection is of another function": (
        r"\subsection{A} \[ f \colon \reals^{\name{a}} \to \reals \] \[ f(x) = \nsum{\name{a}} x \]"
        r"\subsection{B} \[ f \colon \reals^{\name{b}} \to \reals \] \[ f(x) = \nsum{\name{b}} x \]",
        [], [],
    ),
    "a definition in another subsection than the signature is of another function": (
        r"\subsection{A} $f \colon \reals^{\mathcal{S}} \to \reals^{\mathcal{T}}$"
        r"\subsection{B} \[ f(x) = \nsum{\name{b}} x \] where $x \in \reals^{\name{c}}$",
        [301], [],
    ),
    "claims about a parameter are of its declared shape": (
        r"\[ f(x) = x \ndot{\name{a}} x \] where $x \in \reals^{\name{a}}$ \[ \frac{\partial}{\partial x} \nfun{\name{a}}{softmax} x = 1 + x \]",
        [303], [],
    ),
    "text between rows parts them": (
        r"\begin{align} Y &= \left.u X\right|_{u=1} \intertext{or, where $n = 1$,} Z &= \nsum{\name{b}} X \end{align} $X \in \reals^{\name{a}}$",
        [301], [],
    ),
    "a display of nothing but known names is typed": (
        r"$X \in \reals^{\name{a}}$ \[ Y = \nsum{\name{a}} X \] \[ Z = \frac{X}{Y} \] \[ W = \nsum{\name{b}} Z \]",
        [301], [],
    ),
    "each row of a display that cannot be read is told of": (
        r"\begin{align} Y &= (\nsum{\name{a}} X)) \\ Z &= (\nsum{\name{a}} X)) \end{align}",
        [103, 103], [],
    ),
    "a declaration in another subsection is of another tensor": (
        r"\subsection{A} $W \in \reals^{\name{a}}$ \[ X^0 = W + 1 \] \subsection{B} $X^0 \in \reals^{\name{b}}$ \[ Y = \nsum{\name{b}} X^0 \]",
        [], [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_what_running_text_says(case):
    source, numbers, unknown = READ[case]
    report = check_document(source)
    assert [error.code for error in report.errors] == numbers
    assert sorted(name for section in report.sections for name in section.unknown) == unknown


def test_an_operator_s_signature_and_equations_about_renamed_tensors_are_read():
    source = (
        r"\[ \nsum{\name{a}} \mathord- \colon \reals^{\name{a}} \rightarrow \reals \] $X \in \reals^{\name{a}}$"
        r"\[ [X_{\name{a}\rightarrow\name{b}}]_{\name{b}(i)} = X_{\name{a}(i)} \] \section{B} \[ Y = \nsum{\name{a}} X \]"
    )
    assert not check_document(source).errors


SHAPES = {  # maths in running text, and how many formulas a document has with it beside one display
    r"\mathbb{R}^{\mathsf{h} \times \mathsf{w}}": 2,
    r"\mathbb{R}^{\mathsf{h}[n]} \rightarrow \mathbb{R}^{\mathsf{h}[n]}": 2,
    r"\mathsf{h}[n]": 2,
    r"\mathsf{h}[\{1, \ldots, n\}]": 2,
    r"\mathsf{h} \times \mathsf{w}": 2,
    r"\mathsf{h}[I] \in \mathcal{S}": 2,
    r"\mathsf{h}": 1,
    r"\mathsf{h}, \ldots, \mathsf{w}": 1,
    r"A + x": 2,
    r"2 A > 0": 2,
    r"A + B": 1,
    r"A": 1,
    r"3 \times 3": 1,
    r"n - 1": 1,
}


@pytest.mark.parametrize("maths", SHAPES)
def test_a_shape_in_running_text_and_what_is_made_of_known_tensors_are_formulas(maths):
    text = r"\[ x, A \in \mathbb{R}^{\mathsf{h}} \]" + "\n" + rf"of ${maths}$ here and \( \nsum{{\mathsf{{h}}}} x \)"
    report = check_document(text)
    assert (report.formulas - 1, report.errors) == (SHAPES[maths], [])


def test_a_shape_with_an_axis_twice_is_an_error():
    (error,) = check_document(r"A shape $\mathbb{R}^{\mathsf{h} \times \mathsf{h}}$.").errors
    assert error.code == 303 and error.position() == (1, 9)


def test_sums_of_known_tensors_in_running_text_are_typed():
    text = r"Let $X \in \mathbb{R}^{\mathsf{h}[2]}$ and $Y \in \mathbb{R}^{\mathsf{h}[3]}$. Then $X + Y$, $Y_1 + 1$, $Z - 1$."
    (error,) = check_document(text).errors
    assert error.code == 302 and error.span_text == "X + Y"


AGAIN = r"""
\section{One}
Let $W \in \mathbb{R}^{\mathsf{a}}$, and $Z = \sum_{\mathsf{a}} W$.
\begin{align*}
\text{F} \colon \mathbb{R}^{\mathsf{c}} &\rightarrow \mathbb{R}^{\mathsf{d}} \\
\text{F}(X; W) &= W \ndot{\mathsf{c}} X
\end{align*}
where
\begin{align*}
W &\in \mathbb{R}^{\mathsf{c} \times \mathsf{d}}
\end{align*}
"""


def test_what_a_head_takes_is_what_is_declared_below_it():
    assert not check_document(AGAIN).errors
    assert check_document(AGAIN.replace(r"\mathsf{c} \times \mathsf{d}", r"\mathsf{d}")).errors


def test_a_record_as_a_subscript_is_not_blamed():
    text = r"\[ Y_r = f(X_r) \] with \( Y, X \in \mathbb{R}^{\mathcal{S}} \) and $f \colon \mathbb{R}^{\mathcal{S}} \rightarrow \mathbb{R}$"
    assert not check_document(text).errors


def test_an_undefined_macro_is_reported_once_and_the_other_rows_are_checked(tmp_path, capsys):
    text = r"""Let $X \in \reals^{\nset{a}{n}}$.
\begin{align}
Y &= \nsum{\name{a}} \foo{X}{2} \\
Z &= \nsum{\name{b}} X \\
W &= \nsum{\name{a}} \foo{X}{3}
\end{align}"""
    report = check_document(text)
    assert [error.code for error in report.errors] == [301]  # of Z
    assert [skipped.reason for skipped in report.unread] == [r"macro \foo is not defined"] * 2
    (tmp_path / "a.tex").write_text(text, encoding="utf-8")
    assert cli.main(["check", str(tmp_path / "a.tex")]) == 1
    shown = capsys.readouterr().out
    assert shown.count("is not defined") == 1 and "(and 1 more: line 5)" in shown


def test_a_macro_of_two_words_is_one_operator():
    text = r"""\newcommand{\argmax}{\arg\max}
\newcommand{\seq}{\mathsf{seq}}
Let $X \in \mathbb{R}^{\seq}$.
\[ Y = \argmax_{\seq} X \]"""
    report = check_document(text)
    assert (report.formulas, len(report.errors), len(report.unread)) == (2, 0, 0)
