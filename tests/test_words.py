"""Check that prose uses standard terms: no banned phrase outside code, in the docs, strings and comments of the sources."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

WORDS = {  # banned phrase: standard term
    r"(?<!there )\b(?:is|are|was|be) no (?!longer|more|less)\w": "is not a",
    r"\b(?:is|are|what is|values?) due\b": "expected",
    r"\bminds\b": "handles",
    r"\btold (?:of|rightly|wrongly)\b|\b(?:is|are) told\b|\btells of\b": "reported, classified",
    r"\banew\b": "again, re-",
    r"\b(?:its|their|and) kin\b": "similar",
    r"\bslopes?\b": "gradient",
    r"\bwhole (?:number|one)s?\b": "integer",
    r"\bbesides\b": "extra, also",
    r"\bwhere (?:it|they) (?:is|are) (?:left out|not given)\b": "default",
    r"\bput right\b|\bright by the rules\b|\bmended\b": "fixed, valid",
    r"\bstands? (?:here|there|below|above|behind|beside|side by side)\b": "is, appears",
    r"\bstanding side by side\b": "juxtaposition",
    r"\bheld against\b": "compared with",
    r"\bworked out\b": "closed form",
    r"\b(?:so many|says? so|is said|nobody said|by looks)\b": "N, declared",
    r"\bpass(?:ed|es) over\b": "skip",
    r"\bspeaks? (?:of|to)\b": "mention",
    r"\bhanded in\b": "submitted",
    r"\b(?:of|for) (?:one|each) kind\b": "signature",
    r"\bnumbers? of (?:a|the|one) (?:tensor|array|matrix)\b": "elements",
    r"\bslips? of the pen\b": "mistake",
    r"\b(?:asked about|lest|hang on)\b": "rejected as ambiguous",
    r"\b(?:rooms?|floors)\b": "package, layer",
    r"\bcarried along\b|\bmapped over all others\b": "lifted",
    r"\blikeliest\b": "most likely",
    r"\btruth values?\b": "boolean",
    r"\b(?:mends?|mending)\b": "fix",
    r"\breads? two ways\b": "is ambiguous",
    r"\bnumbers? of (?:an|the) errors?\b": "error code",
    r"\bneeds itself\b": "circular definition",
    r"\bgo(?:es)? backwards?\b": "runs backward, reverse mode",
    r"\bfirst values\b": "initial values, initialization",
    r"\bfolder of Hugging Face\b": "Hugging Face checkpoint",
    r"\bpages? of formulas\b": "program, source file",
    r"\b(?:is|are|be|or) left over\b": "unexpected",
    r"\bsilent of\b": "suppress",
    r"\bblamed\b": "reported as an error",
    r"\btabulator\b": "Tab",
    r"\bthe way there\b": "derivation",
    r"\bslips?\b": "mistake, typo, erratum",
    r"\bwhat stands\b": "what is, the text or element",
    r"\b(?:given|gives) back\b": "returned",
    r"\bspelled (?:so|out as)\b": "of that name",
    r"\b(?:foreseen|made unreadable)\b": "anticipated, obfuscated",
    r"\bmarking\b|\bmarks? (?:an|the|each) (?:answer|exercise)": "grading",
    r"\bhow much each number counts\b": "cotangent",
    r"\bat best\b": "minimum",
    r"\bfrom the ground up\b": "bottom-up",
    r"\b(?:asks|told) nobody\b|\bnobody (?:can be|was) told\b": "is not reported",
    r"\bright on (?:all|\d)|\bnot right yet\b": "correct",
    r"\b(?:learned nothing|without learning)\b": "untrained",
    r"\bst(?:ands?|ood|anding)\b(?! (?:for|out)\b)": "is, appears",
    r"\bclaim(?:s|ed|ing)?\b": "assertion",
    r"(?:an?|the|each|either|both|text|LaTeX|ASCII) spellings?\b|\bspelled (?:as|alike)\b": "syntax, form",
    r"\bdrawn (?:again|at random|numbers|tensors|shapes|matrices)\b": "sampled, random",
    r"\b(?:nobody|no one|nothing) says\b|\bnobody\b": "is not declared, no one",
    r"\bhangs? on\b": "depends on",
    r"\b(?:comes?|came) out\b": "is returned",
    r"\b(?:goes|go|going) over (?:the|an?|every|each|axes|axis)\b": "reduces over, applies along",
    r"\b(?:gets?|sees|seen) through\b": "is unchanged by",
    r"\brefus(?:e|es|al|als)\b|\brefused\b": "reject",
    r"\bremembers?\b": "cache",
    r"\blaws?\b": "rewrite rule",
    r"\b(?:derivatives?|gradients?) by (?:a |an |the |its |[A-Z]\b)": "with respect to",
    r"\bsays (?:which|how|where|what)\b": "specifies",
    r"\bwhat (?:it|a \w+) is made of\b": "parts, operands",
    r"\b(?:is|are) passed\b.{0,20}\blimit\b|\blimits? (?:is|are) passed\b": "limit exceeded",
    r"\bthe way to (?:a|the) (?:derivative|closed form)\b": "derivation",
    r"\bchooser\b": "sampler",
    r"\b(?:and its|or its) kin\b|\bwhoever\b": "and similar, anyone who",
    r"\b(?:a|the) (?:derivative|gradient) is taken by\b": "with respect to",
    r"\breads? in (?:two|several) ways\b": "is ambiguous",
    r"\bwhat is drawn\b": "random variable, sample",
    r"\b(?:colour|optimis|initialis|normalis|recognis|neighbour|favour|behaviour|labell|centre|misspelt|maths\b)\w*": "US",
}
BANNED = re.compile(
    r"\b(?=\w)(?:" + "|".join(f"(?P<w{number}>{word})" for number, word in enumerate(WORDS)) + ")", re.IGNORECASE
)
TERMS = list(WORDS.values())
CODE = re.compile(
    r"^[ ]*(?P<fence>```+|~~~+).*?^[ ]*(?P=fence)[ ]*$"  # code block
    r"|^[ ]*(?:>>>|\.\.\.) [^\n]*$"  # doctest
    r"|(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)"  # code span
    r"|\$\$.*?\$\$|\$[^$\n]*\$"  # math
    r"|\]\([^)\s]*\)",  # link target
    re.MULTILINE | re.DOTALL,
)
JAVASCRIPT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|>[^<>{}=;]+<""", re.DOTALL
)

SOURCES = sorted(
    path.relative_to(ROOT).as_posix()
    for top in ("grammar", "namedtensor", "transformer", "web/src")
    for path in (ROOT / top).rglob("*")
    if path.suffix in (".py", ".js", ".jsx")
)
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
]


def strings(path: Path) -> Iterator[str]:
    """Yield the prose of a file: a whole page, strings and comments of a Python module or of JavaScript."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield node.value
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string
    elif path.suffix in (".js", ".jsx"):
        yield from (match[0] for match in JAVASCRIPT.finditer(text) if " " in match[0])
    else:
        yield text


def banned_phrases(text: str) -> list[tuple[str, str]]:
    """Return the banned phrases outside code, each with its standard term."""
    prose = CODE.sub(" ` ", text)
    return [(match[0], TERMS[int((match.lastgroup or "w0")[1:])]) for match in BANNED.finditer(prose)]


@cache
def phrases(name: str) -> list[tuple[str, str]]:
    """Return the banned phrases of a file outside code, each with its standard term."""
    return [phrase for text in strings(ROOT / name) for phrase in banned_phrases(text)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*PAGES, *SOURCES])
def test_prose_uses_standard_terms(name):
    assert not phrases(name)


def test_code_is_not_prose():
    page = "The `colour` of\n```text\nanew\n```\nis $anew$, [so](anew.md): anew.\n\n>>> anew()\n"
    assert banned_phrases(page) == [("anew", "again, re-")]
    script = 'let anew = "so many"; // anew\n<p>is told</p>'
    assert [match[0] for match in JAVASCRIPT.finditer(script)] == ['"so many"', "// anew", ">is told<"]
