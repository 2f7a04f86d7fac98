"""How tensors look: in one line, as a table of a terminal, as a table of a notebook."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.core.arrays import rename_layout
from namedtensor.tensors.tables import choose_positions, number, summary

INF, NAN = np.inf, np.nan
A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")

LINES = [
    (A, "NamedTensor(height[2] × width[3], int64, 1…9)"), (nt.tensor([0.5, 2.0], "seq"), "NamedTensor(seq[2], float64, 0.5…2)"),
    (nt.tensor(2.5), "NamedTensor(float64, 2.5)"), (nt.tensor(7), "NamedTensor(int64, 7)"),
    (nt.tensor([7, 7], "a"), "NamedTensor(a[2], int64, 7)"), (nt.tensor(True), "NamedTensor(bool, true)"),
    (nt.tensor([True, False], "a"), "NamedTensor(a[2], bool, false…true)"), (nt.tensor([], "a"), "NamedTensor(a[0], float64, empty)"),
    (nt.tensor([NAN, NAN], "a"), "NamedTensor(a[2], float64, nan)"),
    (nt.tensor([NAN, 1.0, INF], "a"), "NamedTensor(a[3], float64, 1…∞, with nan)"),
    (nt.tensor([-INF, 0.0], "a"), "NamedTensor(a[2], float64, -∞…0)"),
    (nt.tensor(np.broadcast_to(np.float32([2, NAN]), (10**9, 2)), "a b"), "NamedTensor(a[1000000000] × b[2], float32, 2, with nan)"),
    (nt.tensor(np.ones(2, "float32"), "seq'"), "NamedTensor(seq'[2], float32, 1)"),
    (nt.tensor([1.23456789e-9, 1.5e10], "a"), "NamedTensor(a[2], float64, 1.235e-09…1.5e+10)"),
    (nt.tensor([1 + 2j], "a"), "NamedTensor(a[1], complex128)"), (nt.tensor(np.float16(0.1)), "NamedTensor(float16, 0.1)"),
]  # fmt: skip


@pytest.mark.parametrize(("tensor", "line"), LINES, ids=lambda item: str(item)[:40])
def test_a_summary_has_names_sizes_dtype_and_range(tensor, line):
    assert summary(tensor) == line


REPRS = [
    (A, 'NamedTensor([[3, 1, 4], [1, 5, 9]], "height width")'), (nt.tensor(2.0), "NamedTensor(2.0)"),
    (nt.tensor(True), "NamedTensor(True)"), (nt.tensor(1.00001), "NamedTensor(1.00001)"),
    (nt.tensor([NAN, -INF, 1e20], "seq'"), 'NamedTensor([nan, -inf, 1e+20], "seq\'")'),
    (nt.tensor([1 + 2j, 0.5], "a"), 'NamedTensor([1+2j, 0.5+0j], "a")'),
    (nt.tensor(np.float32([0.1, 1]), "a"), 'NamedTensor([0.1, 1.0], "a", float32)'),
    (nt.tensor(np.uint8(7)), "NamedTensor(7, uint8)"), (nt.tensor(np.float16(0.1)), "NamedTensor(0.1, float16)"),
]  # fmt: skip


@pytest.mark.parametrize(("tensor", "text"), REPRS, ids=lambda item: repr(item)[:40])
def test_a_few_numbers_are_all_in_one_line_which_makes_the_tensor_anew(tensor, text):
    assert repr(tensor) == text and repr([tensor]) == f"[{text}]"
    if "float32" not in text and "uint8" not in text and "float16" not in text:
        result = eval(text, {"NamedTensor": nt.NamedTensor, "nan": NAN, "inf": INF})
        assert nt.allclose(result, tensor) and result.dtype == tensor.dtype


@pytest.mark.parametrize(("count", "whole"), [(24, True), (25, False), (0, False)])
def test_of_more_numbers_it_has_the_range(count, whole):
    tensor = nt.tensor(np.arange(float(count)), "a")
    assert repr(tensor).count("\n") == 0 and (repr(tensor) == summary(tensor)) is not whole


@pytest.mark.parametrize("value", [1.00001, 0.9999999, -2.000001, 1000.0001, 1 + 1e-15])
@pytest.mark.parametrize("digits", [None, 1, 4, 8])
def test_what_is_not_whole_never_looks_whole(value, digits):
    with nt.set_printoptions(digits=digits):
        for text in (repr(nt.tensor(value)), str(nt.tensor(value)), str(nt.tensor([value], "a")), number(value)):
            assert re.search(r"\d[.e][\d+]", text) and not re.search(r"\d\.0\)?$", text), text


def test_digits_are_said_for_once_for_a_while_or_from_then_on():
    third = nt.tensor([1 / 3], "a")
    assert "0.33333333\n" in third.to_text(digits=8) + "\n" and "0.333\n" in f"{third:.3f}\n"
    with nt.set_printoptions(digits=2):
        assert (
            repr(third) == 'NamedTensor([0.33], "a")'
            and str(third).endswith(" 0.33")
            and ">0.33<" in third._repr_html_()
        )
        with nt.set_printoptions(digits=3):
            assert str(nt.tensor(1 / 3)) == "0.333"
        assert str(nt.tensor(1 / 3)) == "0.33" and "0.33333" in third.to_text(digits=5)
    assert str(third).endswith(" 0.3333")
    nt.set_printoptions(digits=9)
    assert str(third).endswith(" 0.333333333")
    nt.set_printoptions(digits=None)
    for wrong in (0, 18, 2.5, True, "4"):
        with pytest.raises(nt.NotationError, match="the number of digits must be an integer from 1 to 17"):
            nt.set_printoptions(digits=wrong)
        with pytest.raises(nt.NotationError, match="310"):
            third.to_text(digits=wrong)


NUMBERS = [
    (1, "1"), (123456, "123456"), (1.0, "1"), (0.1 + 0.2, "0.3"), (1 / 3, "0.3333"), (INF, "∞"), (-INF, "-∞"), (NAN, "nan"),
    (True, "true"), (False, "false"), (1e-20, "1e-20"), (12345.678, "1.235e+04"), (1.00001, "1.000"), (-0.0, "0"), (2.5 - 1j, "2.5-1j"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), NUMBERS, ids=str)
def test_a_number_for_people(value, text):
    assert number(value) == text


TABLES = {
    "two axes": (A, """
height\\width │ 1  2  3
─────────────┼────────
           1 │ 3  1  4
           2 │ 1  5  9"""),
    "one axis": (nt.tensor([1.5, 20.0, -3.25], "seq"), """
seq │   1   2      3
────┼───────────────
    │ 1.5  20  -3.25"""),
    "points under one another": (nt.tensor([[1.5], [20.0], [-3.25], [0.0]], "a b"), """
a\\b │     1
────┼──────
  1 │  1.5
  2 │ 20
  3 │ -3.25
  4 │  0"""),
    "no finite number": (nt.tensor([[NAN, INF], [-INF, 1.0]], "a b"), """
a\\b │   1  2
────┼───────
  1 │ nan  ∞
  2 │  -∞  1"""),
    "truth values": (nt.tensor([True, False], "a"), """
a │    1      2
──┼────────────
  │ true  false"""),
    "facets": (nt.tensor(np.arange(8).reshape(2, 2, 2), "batch a b"), """
batch 1
a\\b │ 1  2
────┼─────
  1 │ 0  1
  2 │ 2  3

batch 2
a\\b │ 1  2
────┼─────
  1 │ 4  5
  2 │ 6  7"""),
    "a number": (nt.tensor(3.14159265), "3.14159"),
    "nothing": (nt.tensor(np.zeros((0, 2)), "a b"), "NamedTensor(a[0] × b[2], float64, empty)"),
    "an abridged axis": (nt.tensor(np.arange(100), "seq"), """
seq │ 1  2  3  4  5  6  …  95  96  97  98  99  100
────┼─────────────────────────────────────────────
    │ 0  1  2  3  4  5  …  94  95  96  97  98   99"""),
}  # fmt: skip


@pytest.mark.parametrize(("tensor", "table"), TABLES.values(), ids=TABLES)
def test_a_table_of_a_terminal(tensor, table):
    assert str(tensor) == tensor.to_text() == f"{tensor}" == table.removeprefix("\n")


def test_big_tables_are_abridged():
    text = nt.tensor(np.zeros((40, 50)), "rows columns").to_text()
    lines = text.splitlines()
    assert len(lines) == 2 + 13 and max(map(len, lines)) < 80
    assert lines[8].startswith("           … │ …") and lines[-1].split()[0] == "40"


def test_further_facets_are_counted():
    text = nt.tensor(np.zeros((3, 4, 2, 2)), "batch head a b").to_text()
    assert (
        len(re.findall("^batch", text, re.MULTILINE)) == 6
        and "batch 1, head 1\n" in text
        and "batch 2, head 2\n" in text
    )
    assert text.endswith("… and 6 more of batch × head")


@pytest.mark.parametrize(("size", "count"), [(1, 1), (12, 12), (13, 13), (1000, 13)])
def test_the_first_and_last_of_a_long_axis_are_shown(size, count):
    places = choose_positions(size)
    assert len(places) == count and places[0] == 0 and places[-1] == size - 1
    assert (None in places) == (size > 12)


# ------------------------------------------------------------------------------------------------------------- notebooks
class Tables(HTMLParser):
    """The cells of each table, row by row; every element must be closed in turn."""

    def __init__(self, source: str):
        super().__init__()
        self.open: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data


def test_a_table_of_a_notebook_has_the_names_at_its_sides():
    (table,) = Tables(A._repr_html_()).tables
    assert table == [["", "width"], ["height", "1", "2", "3"], ["1", "3", "1", "4"], ["2", "1", "5", "9"]]


def test_one_axis_is_a_row():
    (table,) = Tables(nt.tensor([NAN, INF], "seq'")._repr_html_()).tables
    assert table == [["", "seq'"], ["", "1", "2"], ["", "nan", "∞"]]


def test_more_axes_are_several_tables():
    source = nt.tensor(np.zeros((9, 2, 20)), "batch a b")._repr_html_()
    tables = Tables(source).tables
    assert len(tables) == 6 and all(len(table) == 4 and len(table[2]) == 14 for table in tables)
    assert "batch 6</caption>" in source and "… and 3 more of batch" in source


def test_what_has_no_table_is_a_line():
    assert Tables(nt.tensor([], "a")._repr_html_()).tables == []
    assert "<code>2.5</code>" in nt.tensor(2.5)._repr_html_()


def test_what_is_shown_is_static_and_escaped():
    source = A._repr_html_()
    assert "<script" not in source and re.search(r"\son\w+=", source) is None
    odd = nt.NamedTensor([1], "a")
    odd.layout = rename_layout(odd.layout, ("<b>&",))
    assert "<b>&<" not in odd._repr_html_() and "&lt;b&gt;&amp;" in odd._repr_html_()
