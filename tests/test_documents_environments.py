"""Documents whose formulas stand in environments of packages, or of the author's own: read as those of align are, or told of."""

import pytest
from timing import at_most

from namedtensor.documents.sections import check_document

HEAD = "\\ndef{\\seq}{seq}\\ndef{\\key}{key}\\ndef{\\ax}{ax}\n\\begin{document}\nLet $X \\in \\reals^{\\seq \\times \\key}$.\n"


def report(body, head=""):
    return check_document(head + HEAD + body + "\n\\end{document}\n")


def types(checked):
    return {name: text for section in checked.sections for name, text in section.types.items()}


READ = {
    "IEEEeqnarray": r"\begin{IEEEeqnarray}{rCl} Y & = & \nsum{\seq} X \\ Z & = & Y^2 \IEEEyesnumber \end{IEEEeqnarray}",
    "one column": r"\begin{IEEEeqnarray*}{c} Y = \nsum{\seq} X \\ Z = Y^2 \end{IEEEeqnarray*}",
    "what spans columns": r"\begin{IEEEeqnarray}{rCl} \IEEEeqnarraymulticol{3}{l}{Y = \nsum{\seq} X} \\ Z &=& Y^2 \end{IEEEeqnarray}",
    "array": r"$$\begin{array}{rcl} Y &=& \nsum{\seq} X \\ Z &=& Y^2 \end{array}$$",
    "array of formulas": r"\[ \begin{array}{ll} Y = \nsum{\seq} X, & Z = Y^2 \end{array} \]",
    "array in an equation": r"\begin{equation}\begin{array}{l} Y = \nsum{\seq} X \\ Z = Y^2 \end{array}\end{equation}",
    "eqnarray": r"\begin{eqnarray} Y &=& \nsum{\seq} X \nonumber \\ Z &=& Y^2 \end{eqnarray}",
    "xalignat": r"\begin{xalignat}{2} Y &= \nsum{\seq} X & Z &= Y^2 \end{xalignat}",
    "empheq": r"\begin{empheq}[box=\fbox]{align} Y &= \nsum{\seq} X \\ Z &= Y^2 \end{empheq}",
    "subequations": r"\begin{subequations}\begin{align} Y &= \nsum{\seq} X \\ Z &= Y^2 \end{align}\end{subequations}",
    "dgroup": r"\begin{dgroup}\begin{dmath} Y = \nsum{\seq} X \end{dmath}\begin{dmath} Z = Y^2 \end{dmath}\end{dgroup}",
}
OWN = {
    "def": (r"\def\be{\begin{equation}}\def\ee{\end{equation}}", r"\be Y = \nsum{\seq} X \ee \be Z = Y^2 \ee"),
    "newcommand": (r"\newcommand{\bea}{\begin{align}}\newcommand\eea{\end{align}}", r"\bea Y &= \nsum{\seq} X \\ Z &= Y^2 \eea"),
    "columns": (r"\newcommand{\bi}{\begin{IEEEeqnarray}{rCl}}\newcommand\ei{\end{IEEEeqnarray}}", r"\bi Y &=& \nsum{\seq} X \\ Z &=& Y^2 \ei"),
    "one end of its own": (r"\def\be{\begin{equation}}", r"\be Y = \nsum{\seq} X \end{equation} \be Z = Y^2 \end{equation}"),
    "newenvironment": (r"\newenvironment{shown}{\begin{align}}{\end{align}}", r"\begin{shown} Y &= \nsum{\seq} X \\ Z &= Y^2 \end{shown}"),
    "more around it": (r"\newenvironment{shown}{\small\begin{align*}}{\end{align*}}", r"\begin{shown} Y &= \nsum{\seq} X \\ Z &= Y^2 \end{shown}"),
}  # fmt: skip


@pytest.mark.parametrize("body", READ.values(), ids=READ)
def test_environments_of_packages_are_read(body):
    result = report(body)
    assert not result.errors and not result.unread
    assert types(result) == types(report(r"\begin{align} Y &= \nsum{\seq} X \\ Z &= Y^2 \end{align}"))


@pytest.mark.parametrize(("head", "body"), OWN.values(), ids=OWN)
def test_what_the_author_defines_to_begin_a_display_begins_one(head, body):
    result = report(body, head)
    assert not result.errors and not result.unread
    assert types(result) == types(report(r"\begin{align} Y &= \nsum{\seq} X \\ Z &= Y^2 \end{align}"))


@pytest.mark.parametrize(("head", "body"), [
    ("", READ["IEEEeqnarray"]), ("", READ["array"]), ("", READ["empheq"]), OWN["newcommand"], OWN["newenvironment"],
])  # fmt: skip
def test_a_row_that_cannot_be_read_is_left_out_of_them(head, body):
    display = body.replace(
        "Y^2", "Y^2 \\\\ \\nsum{\\ax} X = \\langle X \\ndot{\\seq} X \\rangle \\\\ W = \\nsum{\\ax} X"
    )
    result = report(display, head)
    assert [(error.code, error.span_text) for error in result.errors] == [(301, r"\ax")] and len(result.unread) == 1


def test_an_array_within_a_formula_is_no_table_of_formulas():
    result = report(r"$\nsum{\seq} X = 1$ \[ Y = \begin{array}{cc} 1 & 2 \end{array} \ndot{\seq} X \]")
    assert [left.problem.code for left in result.unread] == [111]


@pytest.mark.parametrize(("body", "around"), [
    (r"\begin{shown} Y = \nsum{\seq} X \end{shown}", r", in \begin{shown}"),
    (r"\show Y = \nsum{\seq} X + \nsum{\key} X \hide", ""),
])  # fmt: skip
def test_operators_outside_of_all_maths_that_is_known_are_told_of(body, around):
    (left,) = report(body).unread
    assert left.reason == rf"\nsum is outside a supported math environment{around}"


@pytest.mark.parametrize("body", [
    r"\NewDocumentCommand{\total}{m O{2}}{\nsum{\seq} #1}", r"\newcommand{\total}[1]{\nsum{\seq} #1}",
    r"\verb|\nsum{a}| \begin{verbatim} \nsum{a} \end{verbatim} % \nsum{a}", r"\texttt{\textbackslash nsum}",
    r"\newenvironment{total}[1]{\begin{center} $\nsum{\seq} X$}{\end{center}}",
])  # fmt: skip
def test_what_defines_or_shows_an_operator_is_none_outside_of_maths(body):
    assert not report(body).unread


@pytest.mark.parametrize("source", ["%" * 200_000, "% " * 200_000, "\\begin{x}" * 50_000, "\\newenvironment{x}{" * 30_000, HEAD + r"\nsum " * 50_000])  # fmt: skip
def test_what_is_looked_through_is_looked_through_once(source):
    with at_most(10):  # under a second where it is linear, hours where it is not
        check_document(source)


def test_no_more_pieces_of_maths_are_looked_at_than_a_book_has(monkeypatch):
    from namedtensor.documents import maths

    monkeypatch.setattr(maths, "PIECES", 10)
    result = report(r"$\nsum{\seq} X = 1$ " * 20)
    assert [error.code for error in result.errors] == [404] and 0 < result.formulas <= 11 and not result.unread
