"""The lexer for Pygments and the grammar for editors: both are made from the notation's tables, and agree with its own lexer."""

import json
import re
import runpy
from pathlib import Path

import pytest

from grammar.symbols import FUNCTIONS, SYMBOLS
from grammar.text import tokenize
from namedtensor.display import token_classes

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted([*(ROOT / "transformer" / "models").glob("*.nt"), *(ROOT / "docs" / "examples").rglob("*.nt")])
TEXTMATE = runpy.run_path(str(ROOT / "editors" / "textmate.py"))


def test_each_terminal_of_the_grammar_has_a_class():
    assert TEXTMATE["declared_terminals"]() - token_classes.CLASSES.keys() == set()
    assert {symbol.terminal for symbol in SYMBOLS} <= token_classes.CLASSES.keys()


def test_the_grammar_for_editors_is_the_one_that_is_made():
    assert TEXTMATE["FILE"].read_text(encoding="utf-8") == TEXTMATE["written"]()
    text = json.dumps(TEXTMATE["textmate"](), ensure_ascii=False)
    for symbol in SYMBOLS:
        if token_classes.CLASSES[symbol.terminal] == token_classes.OPERATOR and symbol.text != "|":
            assert symbol.text.split()[0].replace("|", r"\|") in text
    assert all(name in text for name in FUNCTIONS if name.isascii())


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_pygments_sees_what_the_notation_sees(path):
    pytest.importorskip("pygments")
    from pygments.token import Comment, Name, Number

    from namedtensor.display.pygments_lexer import NamedTensorLexer

    source = path.read_text(encoding="utf-8").rstrip("\n") + "\n"
    kinds = {}
    at = 0
    for kind, text in NamedTensorLexer(stripnl=False).get_tokens(source):
        kinds |= dict.fromkeys(range(at, at + len(text)), kind)
        at += len(text)
    assert at == len(source)
    for token in tokenize(source):
        kind = kinds[token.start]
        assert kind not in Comment, token
        if token.type == "NUMBER":
            assert kind in Number
        if token.type == "NAME" and token.place != "axis":
            assert kind in Name, token
        if token.type == "NAME" and source[token.start - 1] in "{" and source[token.start - 2] == "_":
            assert kind is Name.Attribute, token
        if token.text in FUNCTIONS and len(token.text) > 1 and token.place != "axis":
            assert kind is Name.Builtin, token


def test_pygments_finds_the_lexer_by_its_name():
    pygments_lexers = pytest.importorskip("pygments.lexers")
    entries = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'namedtensor = "namedtensor.display.pygments_lexer:NamedTensorLexer"' in entries
    from namedtensor.display.pygments_lexer import NamedTensorLexer

    assert NamedTensorLexer.aliases == ["namedtensor", "nt"] and NamedTensorLexer.filenames == ["*.nt"]
    assert pygments_lexers


def test_words_of_an_import_are_keywords_in_its_line_alone():
    pytest.importorskip("pygments")
    from pygments.token import Comment, Keyword, Name, String

    from namedtensor.display.pygments_lexer import NamedTensorLexer

    text = 'from "lib/a.nt" import f, g as h  # why\nY = from + import as\n'
    kinds = [(kind, value) for kind, value in NamedTensorLexer().get_tokens(text) if value.strip()]
    assert [value for kind, value in kinds if kind is Keyword] == ["from", "import", "as"]
    assert [value for kind, value in kinds if kind is String] == ['"lib/a.nt"']
    assert [value for kind, value in kinds if kind is Comment.Single] == ["# why"]
    assert [value for kind, value in kinds if kind is Name] == ["f", "g", "h", "Y", "from", "import", "as"]
    imports = next(rule for rule in TEXTMATE["textmate"]()["patterns"] if "import" in rule.get("begin", ""))
    begin = imports["begin"].replace(r"\p{L}", "A-Za-z").replace(r"\p{N}", "0-9")
    assert re.match(begin, text)[4] == '"lib/a.nt"' and not re.search(begin, text.splitlines()[1])
