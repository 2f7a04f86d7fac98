"""What is checked of a display that cannot be read whole, and which of two definitions counts."""

import pytest

from namedtensor.documents.document import MathSpan
from namedtensor.documents.rows import rows_of
from namedtensor.documents.sections import check_document

HEAD = "\\ndef{\\ax}{ax} \\ndef{\\seq}{seq} \\ndef{\\key}{key}\n$X \\in \\reals^{\\seq}$ and $W \\in \\reals^{\\seq}$\n"
BAD = r"Z &= \nsum{\ax} X"


def report(body):
    return check_document(HEAD + body)


def numbers(body):
    return [(error.code, error.span_text) for error in report(body).errors]


@pytest.mark.parametrize(("display", "rows"), [
    (r"\[ a \]", [" a "]), (r"\[ a \\ b & c \\[2pt] d \]", [" a ", " b & c ", " d "]),
    (r"\begin{align*} a \\ \begin{bmatrix} 1 \\ 2 \end{bmatrix} \\ \text{b \\ c} \end{align*}",
     [" a ", r" \begin{bmatrix} 1 \\ 2 \end{bmatrix} ", r" \text{b \\ c} "]),
    (r"\begin{equation}\label{x}\begin{aligned} a \\ b \end{aligned}\end{equation}", [" a ", " b "]),
    (r"$$ \nmatrix{a}{b}{1 \\ 2} \\ c $$", [r" \nmatrix{a}{b}{1 \\ 2} ", " c "]),
])  # fmt: skip
def test_rows(display, rows):
    display_rows = rows_of(display, MathSpan(0, len(display), True))
    assert [display[row.start : row.end].strip() for row in display_rows] == [row.strip() for row in rows]


@pytest.mark.parametrize(("display", "expected", "unread"), [
    (rf"\begin{{align}} Y &= \langle X \rangle + \nsum{{\seq}} X \\ {BAD} \end{{align}}", [(301, r"\ax")], 1),
    (rf"\begin{{align}} {BAD} \\ Y &= \langle X \rangle + \nsum{{\seq}} X \end{{align}}", [(301, r"\ax")], 1),
    (rf"\begin{{align}} Y &= \nsum{{\seq}} X ( \\ {BAD} \end{{align}}", [(102, "("), (301, r"\ax")], 0),
    (r"\begin{align} Y &= \langle X \rangle \\ &= \nsum{\ax} X \\ V &= \nsum{\seq} X \end{align}", [], 1),
    (r"\begin{align} V &= \nsum{\seq} X \\ &= \langle X \ndot{\ax} X \rangle \\ &= \nsum{\key} X \end{align}", [(301, r"\key")], 1),
    (r"\begin{align} \langle X \rangle &= \nsum{\ax} X \\ \langle Z \rangle &= \nsum{\ax} X \end{align} $\nsum{\seq} X = 1$", [], 1),
])  # fmt: skip
def test_an_unread_row_does_not_lose_its_display(display, expected, unread):
    assert numbers(display) == expected
    assert len(report(display).unread) == unread


@pytest.mark.parametrize("comment", [
    r"\text{matrix product}~(B \in \reals^{\seq \times \ax})", r"\text{by (1), where $x$ is} 3 + (", r"\text{see} \langle 2 \rangle",
])  # fmt: skip
def test_a_cell_that_begins_with_text_is_prose(comment):
    body = rf"\begin{{align}} Y &= \nsum{{\seq}} X && {comment} \\ {BAD} && {comment} \end{{align}}"
    assert numbers(body) == [(301, r"\ax")] and not report(body).unread


def test_a_declaration_in_such_a_cell_counts():
    body = r"\begin{align} Y &= \nsum{\key} B && \text{a sum}~(B \in \reals^{\seq \times \ax}) \end{align}"
    assert numbers(body) == [(301, r"\key")]


@pytest.mark.parametrize("relation", [
    r"\stackrel{\text{(1)}}{=}", r"\overset{\text{def}}{=}", r"\triangleq", r"\coloneqq", r"\overset{(\ref{a})}{=}",
])  # fmt: skip
def test_equals_signs(relation):
    assert numbers(rf"\[ Z {relation} X \ndot{{\name{{a}}}} W \]") == [(301, r"\name{a}")]


def test_the_nearest_earlier_declaration_counts():
    later = report(r"\[ Y = \nsum{\seq} X \] Now $X \in \reals^{\ax}$. \[ Z = \nsum{\ax} X \]")
    assert not later.errors and "X is defined again" in later.notes[0].text
    assert numbers(r"Now $X \in \reals^{\ax}$. \[ Z = \nsum{\seq} X \]") == [(301, r"\seq")]
    assert numbers(r"Again $X \in \reals^{\seq}$. \[ Z = \nsum{\ax} X \]") == [(301, r"\ax")]


def test_what_is_taken_out_of_a_row_leaves_its_columns():
    first = r"\begin{align} Y &= X & B &\in \reals^{\ax} & V &\in \reals^{\key} \end{align}"
    assert numbers(first + r" Let $B \in \reals^{\seq}$. \[ Z = \nsum{\ax} V + \nsum{\seq} B \]") == [(301, r"\ax")]


@pytest.mark.parametrize("body", [
    r"\begin{align} C &= X \ndot{\seq} W & C &= \nsum{\seq} X \odot W \end{align}",
    r"\begin{align} \only<1>{Y &= \nsum{\seq} X} \end{align}",
])  # fmt: skip
def test_what_the_notation_does_not_have_is_not_checked_and_no_error(body):
    assert not numbers(body) and report(body).unread


def test_where_a_value_is_taken_is_read_and_typed():
    assert not numbers(r"\[ Y = \left.X \ndot{\seq} U\right|_{U=X} \]")
    assert numbers(r"\[ Y = \left.X \ndot{\seq} U\right|_{U=\nsum{\seq} X} \]") == [(301, r"\seq")]


@pytest.mark.parametrize("body", [
    r"\begin{align} \mathord- \ndot{\ax} \mathord- \colon \reals^{\ax} \times \reals^{\ax} &\rightarrow \reals \\ X \ndot{\seq} W &= 1 \end{align}",
    r"\[ Y = \text{LN}(X; \gamma, \beta) \ndot{\seq} X \]",
])  # fmt: skip
def test_what_other_pages_define_is_no_error(body):
    assert not numbers(body) and not report(body).unread


def test_what_is_never_read():
    from namedtensor.documents.included_files import whole_text

    source = rf"\iffalse \[ {BAD} \] \fi \[ Y = \nsum{{\seq}} X \]"
    assert BAD not in whole_text(source, "-").text


def test_the_macros_of_the_document_win():
    assert not check_document(r"\newcommand{\nbin}[1]{NBin(#1)} \[ X \sim \nbin{r}, x = \nbin{+} \]").errors
    assert not check_document(r"\newcommand{\nsum}{N} \[ X = \nsum + \] $\nsum = 3 ( $").errors


@pytest.mark.parametrize(
    "fragment", [r"$\ax(i)$", r"$\ax[n]$", r"$\ax[3] \times \seq$", r"$|\ax|$", r"$\ndot{\ax}$", r"$\ax(i), \seq(j)$"]
)
def test_fragments_of_prose_are_never_blamed(fragment):
    result = report(f"We write {fragment} and " + r"\[ Y = \nsum{\seq} X \]")
    assert not result.errors and not result.unread


def test_what_the_notation_does_not_have_is_told_at_its_place_without_another_hint():
    (left,) = report(
        r"$\nsum{\seq} X = 1$ \[ r (\seq_1[I] \times \seq_2[I]) = \left\{ \nsum{\seq} X \mid i \in I \right\} \]"
    ).unread
    assert left.problem.span_text == r"\mid" and left.reason == r"\mid is not read here" and not left.problem.hint


def test_signatures_beside_rows_are_of_their_rows():
    body = r"""\begin{align}
    Y &= \nsum{\seq} X && f \colon \reals^{\ax} \to \reals \\
    Z &= \nsum{\ax} X && f \colon \reals \to \reals
    \end{align} $f(x) = \nsum{\key} x$ and $x \in \reals^{\key}$"""
    assert numbers(body) == [(301, r"\ax")]


def test_a_comment_behind_a_wide_space_is_none_of_the_formula():
    report = check_document(
        r"""$$
A \ndot{\name{w}} B = C \qquad \text{product}~(B \in \reals^{\name{w} \times \name{v}})
$$
\[ A \in \reals^{\name{w}} \]"""
    )
    assert not report.errors and not report.unread and report.sections[0].types["B"] == "ℝ^{w × v}"
