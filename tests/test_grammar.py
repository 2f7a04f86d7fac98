"""The grammar itself: no conflict is resolved silently, every rule has its method, and the saved parser is that of the grammar."""

import pathlib
import re

import pytest
from lark import GrammarError, Lark, Transformer, UnexpectedToken, __version__

import grammar
from grammar import parser as lark_parser
from grammar.builder.literals import SOURCE
from grammar.errors import NotationError
from grammar.parser import TokenLexer, build, find_expected, formula_parser, parse, recognizer, tokens_of
from grammar.symbols import SYMBOLS

FOLDER = pathlib.Path(grammar.__file__).parent
TEXT = (FOLDER / "formula.lark").read_text(encoding="utf-8")
SAVED = (FOLDER / "formula.pickle").read_bytes()
WRITE = "run: python -m grammar.parser"
LINES = """
softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V
f(x; W, b) = max(W ⊙_{in} x + b, 0) − 2 exp x!
f : ℝ^{in[3]} × ℝ → {0, 1}^{out}
A, B = X_{a(i+1)}, Y_{b(2:4), c=1}
h^t = tanh(h^{t-1} + x^t) ∈ ℝ^{hidden} for t = 1, …, n for k ∈ [m]
∑_{i=1}^{n} 𝕀[i ≤ j ∧ ¬(j odd)] / n − ∑_{k ∈ [n], k ≠ i} X_{a(k)}
∂(X ⊙_{ax} X)/∂X^* + ∂Y/∂X|_{X=0}
z = 𝔼_{x ∼ N(0, 1)}[x^2] + lim_{h→0} (1 / h)
Y = { X if X > 0; −∞ otherwise } [1, 2; 3, 4]_{height, width}
[X]_{a→b} ≈ ε > 0
C_{i} ← C_{i} + 1
x ∼ U[0, 1]^{seq}
""".strip().splitlines()


def outcome(parser, text):
    """The tree of a text, or what could come in the place of its first token that is wrong."""
    before = SOURCE.set(text)
    try:
        return parser.parse(tokens_of(text, "text"))
    except UnexpectedToken as error:
        return error.token.type, error.accepts
    except NotationError as error:
        return error.code, error.span
    finally:
        SOURCE.reset(before)


# --------------------------------------------------------------------------------------------------------- the saved parser
def test_the_saved_parser_is_of_this_grammar():
    header, _, saved = SAVED.partition(b"\n")
    version = header.decode().split()[1].rstrip(",")
    assert header == lark_parser._header(saved, version), WRITE
    assert (lark_parser._load_saved() is not None) == (version == __version__)


def test_the_saved_parser_does_what_the_built_one_does():
    built, loaded = build(), formula_parser()
    results = []
    for line in LINES:
        for end in range(1, len(line) + 1):
            try:
                tokens_of(line[:end], "text")
            except NotationError:
                continue
            results.append(outcome(built, line[:end]))
            assert outcome(loaded, line[:end]) == results[-1], line[:end]
    assert sum(type(value) is tuple for value in results) > 50 < sum(type(value) is not tuple for value in results)


@pytest.fixture
def builds(monkeypatch):
    """How often the parser is built while `formula.pickle` holds other bytes."""
    count = []

    def counted():
        count.append(None)
        return build()

    def parsing_with(content, text=TEXT):
        def held(package, name):
            if name != "formula.pickle":
                return text.encode()
            if content is None:
                raise FileNotFoundError(name)
            return content

        monkeypatch.setattr(lark_parser, "get_data", held)
        for function in (formula_parser, recognizer):
            function.cache_clear()
        assert str(parse("A ⊙_{x} B + 1727", "text")) and "NAME" in find_expected("A + 1727 ")
        return len(count)

    monkeypatch.setattr(lark_parser, "build", counted)
    yield parsing_with
    for function in (formula_parser, recognizer):
        function.cache_clear()
    parse.__globals__["_parse"].cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [None, b"", b"lark 1.3.1", SAVED[:-1], SAVED.replace(b"lark ", b"lark 0.", 1), SAVED[:200] + b"?" + SAVED[201:]],
    ids=["missing", "empty", "a header", "cut short", "another version", "changed"],
)
def test_a_saved_parser_that_does_not_fit_is_built_anew(builds, content):
    assert builds(content) == 1


def test_another_grammar_is_built_anew(builds):
    assert builds(SAVED, TEXT + "\n// changed\n") == 1


@pytest.mark.skipif(lark_parser._load_saved() is None, reason="another version of Lark wrote it")
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["plain", "of Windows"])
def test_a_saved_parser_that_fits_is_loaded(builds, ends):
    assert builds(SAVED, TEXT.replace("\n", ends)) == 0


def test_nothing_is_unpickled_that_the_header_does_not_vouch_for(builds):
    """A pickle may call what it names: this one ends the process."""
    assert builds(SAVED.partition(b"\n")[0] + b"\nc__builtin__\nexit\n(tR.") == 1


# --------------------------------------------------------------------------------------------------------------- the rules
def test_no_conflict_is_resolved_silently():
    pytest.importorskip("interegular")
    Lark(TEXT, start="program", parser="lalr", lexer=TokenLexer, strict=True)
    with pytest.raises(GrammarError):
        ambiguous = TEXT.replace("?term: product | reaching", "?term: product | reaching | term PLUS term")
        Lark(ambiguous, start="program", parser="lalr", lexer=TokenLexer, strict=True)


def test_every_rule_has_its_method():
    """But for those of one child, which are the child."""
    names = set()

    class Asked(Transformer):
        def __getattr__(self, name):
            names.add(name)
            raise AttributeError(name)

    Lark(TEXT, start="program", parser="lalr", lexer=TokenLexer, transformer=Asked())
    rules = {name for name in names if name.islower() and not name.startswith("__")}
    single = set(re.findall(r"^\?(\w+):", TEXT, re.MULTILINE))
    assert len(rules) > 80 and {name for name in rules if not hasattr(lark_parser.BUILDER, name)} <= single


@pytest.mark.parametrize("symbol", [s for s in SYMBOLS if s.terminal == "OPERATOR"], ids=lambda s: s.text)
def test_every_operator_sign_parses(symbol):
    for spelling in symbol.text.split():
        assert parse(f"A {spelling}_{{a}} B", "text").statements[0].body.operator == symbol.text.split()[0]
