"""Tables: which first row is a header, the labels that it and a column of words give, and what is said of them."""

import csv
import io
import random

import numpy as np
import pytest

from namedtensor.cli import main
from namedtensor.cli.inputs import read_value
from namedtensor.files.csv_tables import read_table
from namedtensor.files.text import InputError

HEADERS = {
    "words above numbers": "name,x\nann,1\nbob,2\n",
    "years": "region,2020,2021\nNorth,10,11\nSouth,20,21\n",
    "years above decimals": "region,2020,2021\nNorth,10.5,11\n",
    "years by fives": "region,1990,1995,2000\nNorth,10,11,12\n",
    "years without labels": "2019,2020,2021\n10,12,15\n20,22,21\n",
    "one year beside labels": "region,2020\nNorth,10\nSouth,20\n",
    "years above a missing value": "region,2020,2021\nNorth,,11\nSouth,20,21\n",
    "an empty corner": ",2020,2021\nNorth,2015,2011\nSouth,1999,2021\n",
    "an empty corner above row numbers": ",x,y\n0,5,6\n1,7,8\n",
    "numbers above numbers, with row numbers": ",0,1\n0,5,6\n1,7,8\n",
    "counted columns beside labels": "region,1,2,3\nNorth,10,14,11\nSouth,20,25,27\n",
    "counted from 0 beside labels": "region;0;1;2\nNorth;10;14;9\n",
    "a label column at the end": "2020,2021,region\n10,11,North\n20,21,South\n",
}
DATA = {
    "numbers": "1,2\n3,4\n",
    "names and one number": "ann,1\nbob,2\n",
    "names and rows that count": "ann,1,2,3\nbob,4,5,6\n",
    "years among years": "ann,2020,2021\nbob,1999,2005\n",
    "years with unequal steps": "ann,2020,2021,2035\nbob,1,2,3\n",
    "falling years": "ann,2021,2020\nbob,1,2\n",
    "one year without labels": "2020\n10\n20\n",
    "a missing value in the first row": "1,,3\n4,5,6\n",
    "a missing value first": ",2,3\n4,5,6\n",
    "NA in the first row": "NA,2\n3,4\n",
    "decimals": "ann,1.5,2.5\nbob,3.5,4.5\n",
    "one row": "1,2,3\n",
    "two that count": "ann,1,2\nbob,3,9\n",
    "counted, but among the others": "ann,1,2\nbob,1,9\n",
}


@pytest.mark.parametrize("name", [*HEADERS, *DATA])
def test_the_first_row_is_a_header_or_data(tmp_path, name):
    path = tmp_path / "t.csv"
    text = {**HEADERS, **DATA}[name]
    path.write_text(text, encoding="utf-8")
    table = read_table(path)
    assert table.has_header == (name in HEADERS)
    assert table.count == text.count("\n") - (name in HEADERS)
    assert ("took the first row as header" in " ".join(table.notes)) == (name in HEADERS)


@pytest.mark.parametrize("name", [*HEADERS, *DATA])
def test_what_is_said_of_a_header_counts(tmp_path, name):
    path = tmp_path / "t.csv"
    text = {**HEADERS, **DATA}[name]
    path.write_text(text, encoding="utf-8")
    for header in (True, False):
        if header and text.count("\n") == 1:
            with pytest.raises(InputError, match="no rows of numbers"):
                read_table(path, header)
            continue
        table = read_table(path, header)
        assert table.has_header is header and table.count == text.count("\n") - header


def test_drawn_tables_of_years_and_labels(tmp_path):
    """Every table with years above values that are none is read without its header, whatever its shape."""
    path = tmp_path / "t.csv"
    for seed in range(200):
        mix = random.Random(seed)
        rows, columns = mix.randint(1, 5), mix.randint(1, 5)
        first, step = mix.randint(1900, 2050), mix.choice([1, 1, 2, 5])
        data = [
            [mix.choice([mix.randint(-999, 999), round(mix.uniform(-9, 9), 2)]) for _ in range(columns)]
            for _ in range(rows)
        ]
        table = io.StringIO()
        writer = csv.writer(table, delimiter=mix.choice(",;\t"))
        writer.writerow([mix.choice(["region", ""]), *range(first, first + step * columns, step)])
        writer.writerows([f"place {number}", *row] for number, row in enumerate(data))
        path.write_text(table.getvalue(), encoding="utf-8")
        inputs = read_value(f"{path}:region,year", "A")
        np.testing.assert_array_equal(inputs.value.to_array("region year"), data)
        assert inputs.value.labels["year"] == [*map(str, range(first, first + step * columns, step))]
        assert inputs.value.labels["region"] == [f"place {number}" for number in range(rows)]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(HEADERS["years"], encoding="utf-8")


WORDS = ("eval", "mean_{region} A", "A=t.csv:region,year")


def test_the_result_has_the_labels(table, capsys):
    assert main([*WORDS]) == 0
    out, err = capsys.readouterr()
    assert [line.split() for line in out.splitlines()][::2] == [["year", "│", "2020", "2021"], ["│", "15", "16"]]
    assert "A: took the first row as header: region, 2020, 2021\n" in err
    assert main(["eval", "2 A", "A=t.csv:region,year"]) == 0
    out = capsys.readouterr().out
    assert "North │   20    22" in out and "South │   40    42" in out


@pytest.mark.parametrize(("choice", "value"), [("auto", "15"), ("yes", "15"), ("no", "683.3")])
def test_the_command_says_what_is_a_header(table, capsys, choice, value):
    assert main([*WORDS, "--header", f"A={choice}"]) == 0
    assert value in capsys.readouterr().out.split()


def test_a_column_by_its_year(table, capsys):
    assert main(["eval", "∑_{region} A", "A=t.csv[2021]:region"]) == 0
    assert capsys.readouterr().out == "32\n"


def test_tables_are_aligned_by_their_labels_or_refused(table, tmp_path, capsys):
    years = HEADERS["years"]
    (tmp_path / "u.csv").write_text(years.replace("2020,2021", "2030,2031"), encoding="utf-8")
    assert main(["eval", "A + B", "A=t.csv:region,year", "B=u.csv:region,year"]) == 1
    assert "A and B have different labels on axis year" in capsys.readouterr().err
    (tmp_path / "v.csv").write_text(years.replace("2020,2021", "2021,2020"), encoding="utf-8")
    assert main(["eval", "A − B", "A=t.csv:region,year", "B=v.csv:region,year", "--header", "B=yes"]) == 0
    assert "North │   -1     1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--header", "A=maybe"), "invalid --header 'A=maybe'; write --header NAME=yes, NAME=no or NAME=auto"),
        (("--header", "B=no"), "--header B: no input B is given"),
        (("x=x.json:a", "--header", "x=no"), "x.json is not a table; leave out --header x=…"),
    ],
)
def test_a_wrong_choice_is_a_wrong_command(table, tmp_path, capsys, words, message):
    (tmp_path / "x.json").write_text("[1, 2]", encoding="utf-8")
    assert main([*WORDS, *words]) == 2
    assert message in capsys.readouterr().err


def test_the_other_commands_take_it_too(table, capsys):
    for header, size in (("yes", 2), ("no", 3)):
        assert main(["check", "mean_{year} A", "A=t.csv:region,year", "--header", f"A={header}"]) == 0
        assert f"value : ℝ^{{region[{size}]}}" in capsys.readouterr().out


LARGE = {
    "numbers": ("a,b\n", lambda at: f"{at},{at / 7}"),
    "integers": ("a,b\n", lambda at: f"{at},{at * 3}"),
    "labels": ("name;x;y\n", lambda at: f"row {at};{at}; {at / 7} "),
    "missing cells": ("a,b,c\n", lambda at: f"{at},{'' if at % 5 else at},{at}"),
    "missing words": ("a,b\n", lambda at: f"{at},{'NA' if at % 5 == 1 else at}"),
    "row numbers": (",a,b\n", lambda at: f"{at},{at / 3},{at}"),
    "comments": ("# made today\na,b\n", lambda at: f"{at},{at / 7}"),
    "quoted": ("a,b\n", lambda at: f'"{at}",{at / 7}'),
    "two columns of words": ("n,k,x\n", lambda at: f"n{at},k{at % 3},{at}"),
    "blank lines": ("a,b\n", lambda at: f"{at},{at}\n"),
    "a late quotation mark": ("a,b\n", lambda at: f'"{at}",{at}' if at == 2500 else f"{at},{at}"),
    "long rows": ("", lambda at: ",".join(f"{at}.{column}" for column in range(2000)) if at < 40 else ""),
    "one row": ("1,2,3", lambda at: ""),
    "a column of missing cells": ("a,b,c\n", lambda at: f"{at},NA,{at}"),
    "labels that are words for missing cells": ("a,b\n", lambda at: f"{'NA' if at == 9 else f'n{at}'},{at}"),
    "labels that are truth values": ("a,b\n", lambda at: f"{'true' if at % 2 else 'FALSE'},{at}"),
    "rows without a cell": ("a,b\n", lambda at: "," if at == 2000 else f"{at},{at}"),
    "a label that is missing": ("a,b\n", lambda at: f"{'' if at == 2000 else f'n{at}'},{at}"),
    "a late number": ("a,b\n", lambda at: f"{at},{at if at > 2500 else 'NA'}"),
}


@pytest.mark.parametrize("reader", ["pandas", "without pandas"])
@pytest.mark.parametrize("name", LARGE)
def test_a_large_table_is_read_as_a_small_one(tmp_path, monkeypatch, name, reader):
    from namedtensor.files import formats, large_tables

    if reader == "pandas":
        pytest.importorskip("pandas")
    else:
        monkeypatch.setattr(large_tables, "pandas_columns", lambda *given: None)
    path = tmp_path / "t.csv"
    header, row = LARGE[name]
    path.write_text(header + "".join(f"{row(at)}\n" for at in range(3000)), encoding="utf-8")
    small = read_table(path)
    monkeypatch.setattr(formats, "MIN_LARGE_BYTES", 1)
    large = formats.table_of(path)
    assert (large.titles, large.labels, large.has_header, large.notes) == (
        small.titles,
        small.labels,
        small.has_header,
        small.notes,
    )
    expected, actual = small.values(small.columns), large.values(large.columns)
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("reader", ["pandas", "without pandas"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n" + "1,2\n" * 2500 + "3\n", "line 2502: 1 cells, where the first row has 2"),
        ("a,b\n" + "1,x\n" * 2500 + "3\n", "line 2502: 1 cells, where the first row has 2"),
        ("a,b\n" + "x,y\n" * 2500, "holds no column of numbers"),
    ],
)
def test_what_is_wrong_in_a_large_table_is_said_as_in_a_small_one(tmp_path, monkeypatch, text, message, reader):
    from namedtensor.files import formats, large_tables

    if reader == "pandas":
        pytest.importorskip("pandas")
    else:
        monkeypatch.setattr(large_tables, "pandas_columns", lambda *given: None)
    monkeypatch.setattr(formats, "MIN_LARGE_BYTES", 1)
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_value(f"{path}:row,column", "X")


def test_a_word_late_in_a_large_table_is_said_with_its_line(tmp_path, monkeypatch):
    from namedtensor.files import formats

    monkeypatch.setattr(formats, "MIN_LARGE_BYTES", 1)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 2500 + "3,oops\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2502, b: 'oops' is not a number"):
        read_value(f"{path}:row,column", "X")
