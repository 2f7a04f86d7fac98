r"""A cell that is only \text{…}: the head of its row where the next cell goes on with a relation, else a comment."""

from itertools import product

import pytest

from grammar.parser import parse

RELATIONS = {
    r"\colon": r"\reals^{\seq} \to \reals",
    ":": r"\reals^{\seq} \to \reals",
    "=": "1",
    "{}=": "1",
    r"\in": r"\reals^{\seq}",
    r"\,=": "1",
}
TEXTS = ("text", "textrm", "mbox", "textit")
TABLES = ("align*", "align", "alignat*", "eqnarray", "aligned")


def table(name, *rows):
    inside = " \\\\ ".join(rows)
    if name == "aligned":
        return rf"\[ \begin{{aligned}} {inside} \end{{aligned}} \]"
    return rf"\begin{{{name}}}{'{2}' if 'alignat' in name else ''} {inside} \end{{{name}}}"


@pytest.mark.parametrize(("macro", "relation", "name"), list(product(TEXTS, RELATIONS, TABLES)))
def test_a_row_may_begin_with_a_name_in_text(macro, relation, name):
    row = rf"\{macro}{{total}} &{relation} {RELATIONS[relation]}"
    assert parse(table(name, row), "latex") == parse(row.replace("&", ""), "latex")


@pytest.mark.parametrize("rows", [
    (r"x &= 1 & \text{total} &\in \reals^{\seq}",),
    (r"x &= 1", r"\text{total} &\in \reals^{\seq}"),
    (r"x &= 1 \quad \text{total} &\in \reals^{\seq}",),
])  # fmt: skip
def test_it_may_stand_after_another_statement(rows):
    assert parse(table("align*", *rows), "latex") == parse("x = 1\ntotal ∈ ℝ^{seq}")


@pytest.mark.parametrize("rows", [
    (r"x &= 1 & \text{total}", "&= 1"),
    (r"x &= 1 & \text{total}", "y &= 2"),
    (r"\text{total} & x &= 1",),
    (r"\text{total} && y = 1",),
    (r"x &= 1 & \text{by the sum}", "&= 1"),
    (r"x &= 1", r"\text{by the sum} &= 1"),
    (r"x &= 1 \quad \text{total}", "&= 1"),
    (r"x &= 1", r"\text{total}", "y &= 1"),
])  # fmt: skip
def test_elsewhere_it_is_a_comment(rows):
    assert "total" not in repr(parse(table("align*", *rows), "latex"))
