"""The files for language models: they are what the script makes, small enough, and every example in them is true."""

import doctest
import re

import llms
import pytest

import namedtensor as nt
from grammar.parser import parse

tables, errors_examples = llms.tables, llms.errors_examples

FULL = llms.FULL.read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0].partition(":")[0]: part for part in FULL.split("\n## ")[1:]}
ROWS = [row for rows in tables.CONSTRUCTS.values() for row in rows]


@pytest.mark.parametrize("path", llms.FILES, ids=lambda path: path.name)
def test_files_are_those_of_the_script(path):
    assert path.read_text(encoding="utf-8") == llms.FILES[path](), "run python docs/_extensions/llms.py --write"


def test_one_page_fits_a_small_context():
    assert 5000 < llms.tokens(FULL) <= llms.MAX_TOKENS
    assert llms.tokens("∑" * 10) == 10 and llms.tokens("a" * 35) == 10


def test_python_examples_run():
    examples = doctest.DocTestParser().get_doctest(FULL, {}, "llms-full.txt", "llms-full.txt", 0)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    results = doctest.DocTestRunner(optionflags=flags).run(examples)
    assert results.attempted > 15 and not results.failed


def forms(line):
    return re.findall(r"`([^`]+)`", line)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.text)
def test_rows_of_the_syntax_are_checked_rows(row):
    line = next(
        line
        for line in SECTIONS["Syntax"].splitlines()
        if line.endswith(f"` {row.meaning}") and f"`{row.text}`" in line
    )
    assert forms(line)[0] == row.text and {row.ascii, row.latex} <= {*forms(line)}
    tables.check_construct(row)


def test_uses_of_functions_parse():
    lines = [line for line in SECTIONS["Built-in functions"].splitlines() if line.startswith("- ")]
    assert len(lines) > 80
    for line in lines:
        use = forms(line)[0]
        assert parse(f"𝕀[{use}]" if use.endswith(("odd", "even")) else use).statements


def test_rows_from_numpy_are_checked_rows():
    rows = {row.formula: row for rows in tables.CHEATS.values() for row in rows}
    lines = [
        line
        for line in SECTIONS["From NumPy (arrays have the axes of the formula's tensors in order)"].splitlines()
        if line.startswith("- ")
    ]
    assert len(lines) > 20
    for line in lines:
        formula, numpy = forms(line)
        assert rows[formula].numpy == numpy
        tables.check_same(rows[formula])


ERRORS = [line for line in SECTIONS["Errors"].splitlines() if "→ `" in line]


@pytest.mark.parametrize("line", ERRORS)
def test_wrong_formulas_have_their_code_and_fixed_ones_run(line):
    code, wrong = int(line.split()[1]), forms(line)[0]
    example = next(item for item in errors_examples.EXAMPLES[code] if item.formula == wrong)
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(wrong, example.inputs, sizes=example.sizes, **example.options)
    assert caught.value.code == code and f"→ `{example.fixed}`" in line
    nt.evaluate(example.fixed, example.inputs, sizes=example.sizes, **{**example.options, "strict": False})


def test_every_page_is_listed():
    names = re.findall(r"\]\((.+)\.html\)", llms.INDEX.read_text(encoding="utf-8"))
    assert len(names) > 25
    for name in names:
        assert (llms.DOCS / f"{name}.md").is_file()
