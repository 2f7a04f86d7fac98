"""What `check` says of documents that others wrote, where their repositories are at hand: NAMEDTENSOR_DOCUMENTS=FOLDER.

The list has repository, path and commit; `check_public_documents.py` says how a folder of them is made.
"""

import os
import re
from pathlib import Path

import pytest
from check_public_documents import Document, checked, documents, unpack

from namedtensor.cli.arguments import FormulaSource
from namedtensor.cli.check_documents import whole_of
from namedtensor.documents.findings import findings_of
from namedtensor.documents.sections import check_document
from namedtensor.documents.verdicts import Draws

FOLDER = os.environ.get(
    "NAMEDTENSOR_DOCUMENTS", ""
)  # where there is none, conftest.py leaves out what is marked `texts`
ORDINARY = [document for document in documents() if document.ordinary]
NOTATION = "namedtensor/notation"
PAPER = "d0b26abb19f3709016f974a6679413411987c1f1"
KNOWN = {
    ("examples_long.tex", 58, 307),
    ("calculus.tex", 137, 303),
    ("calculus.tex", 205, 103),
    ("calculus.tex", 207, 103),
}  # slips in the paper, with the lines they are told at


# Our own text with the forms of the paper's drafts, so that a test reads them without the drafts.
DIFFERENTIALS = r"""
\newcommand{\ax}{\name{ax}}
If $f(X) = X \ndot{\ax} X$ and $Z, H, D \in \mathbb{R}^{\ax}$, then
\begin{align}
\partial f(Z; H) &= 2Z \ndot{\ax} H.
\end{align}
If $\partial Z \in \mathbb{R}^{\ax}$, a canonical form is
\begin{equation}
\partial f(Z) = D \ndot{\ax} \partial Z + \text{const.}
\end{equation}
"""


# Our own text with the displays of the paper: boxes, relations with a reference, and names that two functions share.
DISPLAYS = r"""
\newcommand{\eqby}[1]{\stackrel{\text{(\ref{#1})}}{=}}
\newcommand{\firsteq}[1]{\mathmakebox[6em][l]{#1} \\}
\section{Pooling}
\begin{align*}
\nfun{\name{seq},\name{kernel}}{blocks} \colon \mathbb{R}^{\name{seq}} &\rightarrow \mathbb{R}^{\name{seq} \times \name{kernel}} \\
\nfun{\name{seq},\name{kernel}}{blocks} X &= Y \\
Y &= X_{\name{seq}\rightarrow(\name{seq},\name{kernel})}
\end{align*}
\section{Attention}
\begin{align*}
Z &= \nfun{\name{kernel}}{max} \nfun{\name{seq},\name{kernel}}{blocks} U \\
\text{Mix} \colon \mathbb{R}^{\name{seq} \times \name{layer}} &\rightarrow \mathbb{R}^{\name{seq} \times \name{layer}} \\
\text{Mix}(X) &= Y
\end{align*}
where
\begin{align*}
K &= A \ndot{\name{layer}} X & A &\in \mathbb{R}^{\name{layer} \times \name{key}} \\
Y &= B \ndot{\name{key}} K & B &\in \mathbb{R}^{\name{layer} \times \name{key}}
\end{align*}
\section{Derivatives}
Let $Q, V \in \mathbb{R}^{\name{key}}$.
\begin{align*}
\firsteq{Q \ndot{\name{key}} (V + Q)}
&\eqby{a} Q \ndot{\name{key}} V + Q \ndot{\name{key}} Q \\
&\eqby{b} V \ndot{\name{key}} Q + Q \ndot{\name{key}} Q
\end{align*}
"""


# Our own text with two displays of the paper that define no name of a formula with named axes: records and plain indices.
RECORDS = r"""
\newcommand{\ax}{\name{ax}}
Let $X \in \mathbb{R}^{\ax}$.
\[ \left[X_s\right]_t = X_{s \cup t} \]
\[ \left[\text{Mix}(A, B)\right]_{k} = A_{i} B_{ik} \]
\[ A = 2 X \]
\[ C = A \ndot{\ax} X \]
"""


def test_a_display_without_named_axes_is_read_if_a_formula_with_named_axes_needs_its_name():
    report = check_document(RECORDS)
    assert [RECORDS[slice(*maths[:2])] for maths in read(report)][1:] == [r"\[ A = 2 X \]", r"\[ C = A \ndot{\ax} X \]"]
    assert [skipped.reason for skipped in report.skipped] == ["no named axes"] * 2
    for formula in (r"X_{s \cup t}", r"A_{i} B_{ik}"):  # a skipped display has no errors
        assert list_errors(RECORDS.replace(formula, r"3 Q_{undefined}")) == []
    assert list_errors(RECORDS.replace("2 X", "2")) == [(301, r"\ax")]


def test_displays_of_our_own_text_are_read():
    assert list_errors(DISPLAYS) == []
    report = check_document(DISPLAYS, draws=Draws())
    assert not report.errors and [tried.status for tried in report.tried] == ["proved"]
    assert len([span for span in read(report) if span.display]) == 4


@pytest.mark.parametrize(("right", "wrong", "error"), [
    (r"B \ndot{\name{key}} K", r"B \ndot{\name{row}} K", (301, r"\name{row}")),
    (r"{b} V \ndot{\name{key}}", r"{b} V \ndot{\name{seq}}", (301, r"\name{seq}")),
    (r"(V + Q)}", r"(V + Q))}", (103, ")")),
])  # fmt: skip
def test_mistakes_in_displays_are_reported(right, wrong, error):
    assert error in list_errors(DISPLAYS.replace(right, wrong))


def list_errors(text):
    return [(error.code, error.span_text) for error in check_document(text).errors]


def test_forms_of_the_drafts_raise_no_errors():
    report = check_document(DIFFERENTIALS)
    assert not report.errors and report.formulas == 5
    reasons = [skipped.reason for skipped in report.skipped]
    assert "f(Z; H) is a differential with its increment" in reasons


@pytest.mark.parametrize(("right", "wrong", "error"), [
    (r"\partial f(Z; H) &=", r"Y &= f(Z, H) +", (304, "f(Z, H)")),
    (r"const.", r"conts.", (201, r"\text{conts.}")),
    (r"D \ndot{\ax}", r"D \ndot{\name{b}}", (301, r"\name{b}")),
])  # fmt: skip
def test_mistakes_beside_the_forms_of_the_drafts_are_reported(right, wrong, error):
    assert error in list_errors(DIFFERENTIALS.replace(right, wrong))


def test_at_least_fifty_texts_of_machine_learning_have_no_named_axes():
    assert len(ORDINARY) >= 50 and len({example.repository for example in ORDINARY}) >= 8


@pytest.mark.texts
@pytest.mark.parametrize("repository", sorted({example.repository for example in ORDINARY}))
def test_an_ordinary_text_raises_no_alarm(repository, tmp_path):
    expected = [example for example in ORDINARY if example.repository == repository]
    assert unpack(Path(FOLDER), repository, expected[0].commit, tmp_path)
    outcomes = [checked(document, tmp_path / document.path) for document in expected]
    assert not [
        outcome for outcome in outcomes if outcome.crash or outcome.errors or outcome.warnings or outcome.unread
    ]


def read(report):
    return [maths for section in report.sections for maths in section.formulas if not maths.written]


@pytest.mark.texts
def test_displays_and_pieces_of_the_paper_are_read(tmp_path):
    """The whole source, with what stands between \\iffalse and \\fi: 108 displays and 480 pieces of maths."""
    assert unpack(Path(FOLDER), NOTATION, PAPER, tmp_path)
    for file in tmp_path.glob("*.tex"):
        file.write_text(re.sub(r"^\\(iffalse|fi)\n", "", file.read_text("utf-8"), flags=re.MULTILINE), "utf-8")
    paper = tmp_path / "paper.tex"
    report = check_document(whole_of(FormulaSource(paper.read_text("utf-8"), str(paper), "latex")).text)
    pieces = [maths for section in report.sections for maths in section.maths if not maths.written]
    assert (len(pieces), len([piece for piece in pieces if piece.display])) == (480, 108)
    assert len(read(report)) >= 150 and len([span for span in read(report) if span.display]) >= 95
    assert len(report.errors) <= 4


@pytest.mark.texts
def test_a_slip_in_the_values_of_the_paper_is_told_by_random_tensors(tmp_path):
    assert unpack(Path(FOLDER), NOTATION, PAPER, tmp_path)
    paper = tmp_path / "paper.tex"
    whole = whole_of(FormulaSource(paper.read_text("utf-8"), str(paper), "latex"))
    report = check_document(whole.text, draws=Draws())
    false = [whole.error(error) for error in report.errors if error.code == 403]
    assert [(Path(file).name, error.position()[0]) for file, error in false] == [("operations.tex", 244)]


@pytest.mark.texts
def test_the_slips_of_the_paper_are_told_at_their_lines(tmp_path):
    assert unpack(Path(FOLDER), NOTATION, PAPER, tmp_path)
    paper = tmp_path / "paper.tex"
    whole = whole_of(FormulaSource(paper.read_text("utf-8"), str(paper), "latex"))
    report = check_document(whole.text)
    displays = [maths for section in report.sections for maths in section.maths if maths.display]
    assert len(displays) == 91 and len([span for span in read(report) if span.display]) >= 85
    errors = {(Path(finding.file).name, finding.problem.position()[0], finding.problem.code)
              for finding in findings_of(report, whole) if finding.severity == "error"}  # fmt: skip
    assert errors >= KNOWN and len(errors - KNOWN) <= 4 and report.formulas >= 130


@pytest.mark.texts
@pytest.mark.parametrize(
    "draft", [document for document in documents() if document.repository == NOTATION and document.path == "main.tex"]
)
def test_a_draft_has_at_most_one_error_in_three_formulas(draft: Document, tmp_path):
    assert unpack(Path(FOLDER), NOTATION, draft.commit, tmp_path)
    outcome = checked(draft, tmp_path / draft.path)
    dead = draft.commit.startswith("a6a973c")  # of 2020-12-02, in a syntax of its own
    assert not outcome.crash and (dead or 3 * outcome.errors <= outcome.formulas)
