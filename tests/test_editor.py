"""What an editor shows of a document: findings, types, completion, definitions, renaming and quick fixes, as functions of texts."""

import json
import random
import re

import pytest

from grammar.errors import NotationError
from namedtensor.editor.analysis import EditedDocument
from namedtensor.editor.completions import completions
from namedtensor.editor.descriptions import definition, hover, references
from namedtensor.editor.fixes import fixes
from namedtensor.editor.positions import Lines
from namedtensor.editor.renaming import apply_edits, rename
from namedtensor.editor.statements import blank_spans, scopes, split

TEXT = """\
# attention
Attention : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}
Attention(Q, K, V) = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V
Norm_{ax}(X) = √(∑_{ax} X^2)
Q ∈ ℝ^{key[3]}
M ∈ ℝ^{seq[4] × key[3]}
Y = Attention(Q, M, M_{key→val})
Z^l = Norm_{seq}(M) + Z^{l-1}   for l = 1, …, L
Z^0 = 0
A_{seq(i)} = M_{seq(i), key(1)} i
"""
PAPER = r"""\section{Attention}
\ndef{\seq}{seq} \ndef{\key}{key} \ndef{\val}{val}
Let $Q \in \reals^{\key}$, $K \in \reals^{\seq \times \key}$ and $V \in \reals^{\seq \times \val}$.
\begin{align}
  S &= \frac{Q \ndot{\key} K}{\sqrt{|\key|}} \\
  P &= \nfun{\key}{softmax} S \\
  Y &= P \ndot{\seq} V
\end{align}
\section{Loss}
The loss is $L = \nsum{\seq} K^2$.
"""
CODE = """\
import namedtensor as nt

A = nt.tensor([[1, 2, 3], [4, 5, 6]], "height width")
é = nt.evaluate("softmax_{widht} A", A=A)
block = nt.program(\"\"\"
H = relu(X ⊙_{chans} W)
W ∈ ℝ^{chans × hidden}
\"\"\")
"""


def opened(text, path="a.nt"):
    document = EditedDocument(path)
    document.update(text)
    document.settle()
    return document


def findings_of(document):
    """Code, severity and place of each finding, and the text there."""
    return [
        (item.error.code, item.severity, *item.error.position(), item.error.span_text) for item in document.problems
    ]


# ------------------------------------------------------------------------------------------------------------- findings
FINDINGS = {
    "nothing": ("a.nt", TEXT, []),
    "misspelled axis": ("a.nt", TEXT + "B = softmax_{sek} M\n", [(301, "error", 11, 14, "sek")]),
    "undeclared input": ("a.nt", "Y = 2 Inputs\n", [(201, "information", 1, 7, "Inputs")]),
    "misspelled name": ("a.nt", "weights ∈ ℝ^{a}\nY = 2 weigths\n", [(201, "error", 2, 7, "weigths")]),
    "two wrong statements": (
        "a.nt", "A = (1\nB = A + 2\nC = 3 + )\nX ∈ ℝ^{a}\nD = ∑_{b} X\n",
        [(102, "error", 1, 5, "("), (105, "error", 3, 9, ")"), (301, "error", 5, 8, "b")],
    ),
    "defined twice": ("a.nt", "A = 1\nA = 2\nX ∈ ℝ^{a}\nD = ∑_{b} X\n", [(202, "error", 2, 1, "A"), (301, "error", 4, 8, "b")]),
    "a name that resembles a declared one": ("a.nt", "Inputs ∈ ℝ^{a}\nY = 2 Input\n", [(201, "error", 2, 7, "Input")]),
    "outer product": ("a.nt", "x ∈ ℝ^{a}\ny ∈ ℝ^{b}\nZ = x + y\n", [(314, "warning", 3, 5, "x + y")]),
    "exercises are programs of their own": (
        "a.nt", "#: exercise one\nX ∈ ℝ^{n}\nanswer = ∑_{n} X\n\n#: exercise two\nX ∈ ℝ^{m}\nanswer = ∑_{n} X\n",
        [(301, "error", 7, 13, "n")],
    ),
    "LaTeX": ("a.tex", PAPER, [(301, "error", 6, 14, r"\key")]),
    "Markdown": ("a.md", r"Let $X \in \reals^{\name{a}}$. $$Y = \nsum{\name{b}} X$$", [(301, "error", 1, 44, r"\name{b}")]),
    "a notebook that is none": ("a.ipynb", "{", [(409, "information", 1, 1, "{")]),
    "Python": ("a.py", CODE, [(301, "error", 4, 27, "widht")]),
    "Python that is being typed": ("a.py", CODE + "x = (1 +\n", [(301, "error", 4, 27, "widht")]),
    "Python that does not parse": ("a.py", "for for for\n" * 9, []),
    "an escape": ("a.py", 'import namedtensor as nt\nnt.evaluate("\\u2211_{b} x", x="ℝ^{a}")', [(301, "error", 2, 22, "b")]),
    "literals in a row": (
        "a.py", 'import namedtensor as nt\nnt.evaluate("∑_{"\n  r"b} x", x="ℝ^{a}")', [(301, "error", 3, 5, "b")]
    ),
    "given by name, of unknown type": ("a.py", "import namedtensor as nt\nnt.evaluate('∑_{a} x + y', x=f())", [(201, "error", 2, 24, "y")]),
    "a mapping that is not shown": ("a.py", "import namedtensor as nt\nnt.evaluate('∑_{a} x', values)", []),
    "a constant that several calls use": (
        "a.py", "import namedtensor as nt\nTEXT = '∑_{b} x'\nnt.evaluate(TEXT, x='ℝ^{a}')\nnt.formula(TEXT)", [(301, "error", 2, 12, "b")]
    ),
    "a variable that is assigned twice": ("a.py", "import namedtensor as nt\nT = '('\nT = '1'\nnt.evaluate(T)", []),
    "a parameter": ("a.py", "import namedtensor as nt\nT = '('\ndef f(T):\n    return nt.evaluate(T)", []),
    "an f-string": ("a.py", "import namedtensor as nt\nnt.evaluate(f'∑_{a} {1}')", []),
    "another library": ("a.py", "import numpy as nt\nnt.evaluate('(', x)", []),
    "LaTeX in Python": ("a.py", "import namedtensor as nt\nnt.evaluate(r'\\nsum{\\b} x', x='ℝ^{a}')", [(301, "error", 2, 21, r"\b")]),
    "an empty file": ("a.nt", "", []),
    "comments alone": ("a.nt", "# nothing\n\n", []),
    "a kind without formulas": ("a.c", "int x = (;", []),
}  # fmt: skip


@pytest.mark.parametrize("name", FINDINGS)
def test_findings(name):
    path, text, expected = FINDINGS[name]
    assert findings_of(opened(text, path)) == expected


def test_a_statement_that_does_not_parse_keeps_the_types_of_the_others():
    document = opened(TEXT + "B = (Y\n")
    assert {item.text for item in document.hints} >= {"ℝ^{val[3]}"}


@pytest.mark.parametrize(
    "text", ["\x00", "\ud800", "a\u202eb = 1", "(" * 3000, "X_{" * 500, "\r\n\r\nX = 1\r\nY = (\r\n"]
)
@pytest.mark.parametrize("kind", ["nt", "tex", "md", "ipynb", "html", "py"])
def test_no_text_raises(text, kind):
    for content in (text, f"import namedtensor as nt\nnt.evaluate({text!r})", f"$X = {text}$"):
        document = opened(content, f"a.{kind}")
        _ = document.problems, document.parts, document.hints
        hover(document, len(content) // 2)
        completions(document, len(content) // 2)


# --------------------------------------------------------------------------------------------------------- while typing
def program(lines):
    """A program of about so many lines, whose layers follow each other."""
    texts = [
        "X0 ∈ ℝ^{seq × chans}",
        "act(x) = x / (1 + exp(-x))",
        "Norm_{ax}(x; γ) = γ ⊙ x / √(mean_{ax}(x^2) + 0.001)",
    ]
    for at in range(1, (lines - 3) // 9 + 1):
        texts += f"""
# layer {at}
N{at} = Norm_{{chans}}(X{at - 1}; g{at})
Q{at} = N{at} ⊙_{{chans}} WQ{at}
K{at} = (N{at} ⊙_{{chans}} WK{at})_{{seq→memory}}
A{at} = softmax_{{memory}}(Q{at} ⊙_{{key}} K{at} / √|key|)
X{at} = X{at - 1} + act(A{at} ⊙_{{memory}} N{at}_{{seq→memory}})
WQ{at}, WK{at} ∈ ℝ^{{chans × heads × key}}
g{at} ∈ ℝ^{{chans}}""".split("\n")[1:]
        texts[-8] += ""
        texts = [
            *texts[:-3],
            f"X{at} = X{at - 1} + ∑_{{heads}} act(A{at} ⊙_{{memory}} N{at}_{{seq→memory}})",
            *texts[-2:],
        ]
    return "\n".join(texts) + "\n"


def typed(text, edits, seed):
    """Texts on the way of typing: statements are taken away and typed again, character by character."""
    draw = random.Random(seed)
    for _ in range(edits):
        statement = draw.choice([item for item in split(text) if len(item.text) > 8])
        at = statement.start + draw.randrange(len(statement.text))
        new = text[:at] + draw.choice(["x", "+ 1", "}", "_{seq}", " ", "ab"]) + text[at:]
        yield new
        if draw.random() < 0.7:
            yield text
        else:
            text = new


def shapes(document):
    return [(item.span, str(dict(item.shape))) for item in document.parts]


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_document_that_was_edited_is_as_one_that_is_new(seed):
    text = program(60)
    document = opened(text)
    for new in typed(text, 12, seed):
        document.update(new)
        document.settle()
        fresh = opened(new)
        assert findings_of(document) == findings_of(fresh)
        assert shapes(document) == shapes(fresh)


WRONG = {  # a statement that is typed into a long program, and what is found when there is time
    "B = softmax_{sek} Q3": (301, "sek"),
    "B = act(X2, X1)": (304, "act(X2, X1)"),
    "B = X2 +": (105, "+"),
    "B = (X2": (102, "("),
    "B = Q3 ⊙_{memory} N1": (301, "memory"),
    "B = act(X1) + Nrom": (201, "Nrom"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("statement", WRONG)
def test_a_long_program_is_checked_when_there_is_time(statement):
    text = program(120)
    document = opened(text)
    assert findings_of(document) == []
    document.update(text + statement + "\n")
    assert not document.settled and findings_of(document) == []
    document.settle()
    assert [(item[0], item[-1]) for item in findings_of(document) if item[1] == "error"] == [WRONG[statement]]


def test_findings_in_the_edited_part_wait_for_the_next_check():
    document = opened("B = softmax_{sek} Q3\n" + program(80))
    assert [item[0] for item in findings_of(document)] == [301]
    document.update(document.text.replace("sek", "seq", 1))
    assert not document.settled and findings_of(document) == []


def test_findings_of_other_statements_move_with_them():
    text = program(80) + "B = softmax_{sek} Q3\n"
    document = opened(text)
    (before,) = findings_of(document)
    document.update("# one more line\nU = 1\n" + text)
    assert not document.settled
    assert findings_of(document) == [(*before[:2], before[2] + 2, *before[3:])]


# --------------------------------------------------------------------------------------------------------------- shown
HOVERS = {  # a place in TEXT, or in another document, and what is shown
    ("a.nt", TEXT, "Attention(Q, M"): ("`Attention(Q, M, M_{key→val})` : `ℝ^{val[3]}`", "function `Attention`", "Attention : ℝ^{key}"),
    ("a.nt", TEXT, "M_{key→val}"): ("`M` : `ℝ^{seq[4] × key[3]}`",),
    ("a.nt", TEXT, "softmax"): ("softmax_{ax} X is", "ℝ^{ax} → ℝ^{ax}"),
    ("a.nt", TEXT, "⊙_{key}"): ("the sum of products over the axes", "`Q ⊙_{key} K`"),
    ("a.nt", TEXT, "key[3]"): ("axis `key`", "size 3"),
    ("a.nt", TEXT, "Y ="): ("`Y` : `ℝ^{val[3]}`",),
    ("a.tex", PAPER, r"\ndot{\key}"): ("ℝ^{seq}", "the sum of products over the axes"),
    ("a.tex", PAPER, r"S &="): ("`S` : `ℝ^{seq}`",),
    ("a.py", CODE, "A\", A=A"): ("`A` : `ℝ^{height[2] × width[3]}`",),
}  # fmt: skip


@pytest.mark.parametrize("case", HOVERS)
def test_hover(case):
    path, text, position = case
    shown = hover(opened(text, path), text.index(position))
    assert shown is not None
    for part in HOVERS[case]:
        assert part in shown.text


def test_there_is_no_hover_outside_of_formulas():
    assert hover(opened(CODE, "a.py"), 3) is None
    assert hover(opened(TEXT), 3) is None


def test_type_hints_are_after_statements_whose_type_is_not_declared():
    text = "X ∈ ℝ^{a[2] × b}\nY = ∑_{a} X  # a comment\nZ ∈ ℝ\nZ = ∑_{b} Y\nY + 1\n"
    hints = [(text[: item.offset].rpartition("\n")[2], item.text) for item in opened(text).hints]
    assert hints == [("Y = ∑_{a} X", "ℝ^{b}"), ("Y + 1", "ℝ^{b}")]


DEFINITIONS = {  # a place, and the line and text of item definition
    ("a.nt", TEXT, "Attention(Q, M"): [(2, "Attention"), (3, "Attention")],
    ("a.nt", TEXT, "M_{key→val}"): [(6, "M")],
    ("a.nt", TEXT, "K / √"): [(3, "K")],
    ("a.nt", TEXT, "X^2"): [(4, "X")],
    ("a.tex", PAPER, r"\seq} V"): [(2, r"\seq")],
    ("a.tex", PAPER, r"S \\"): [(5, "S")],
    ("a.tex", PAPER, "K^2"): [(3, "K")],
    ("a.py", CODE, "W)"): [(7, "W")],
    ("a.py", CODE, "import"): [],
}


@pytest.mark.parametrize("case", DEFINITIONS)
def test_definition(case):
    path, text, position = case
    spans = definition(opened(text, path), text.index(position))
    assert [(text.count("\n", 0, start) + 1, text[start:end]) for start, end in spans] == DEFINITIONS[case]


def test_references():
    spans = references(opened(TEXT), TEXT.index("M ∈"))
    assert [start for start, _ in spans] == [match.start() for match in re.finditer(r"(?<!\w)M(?![^\W_])", TEXT)]


COMPLETIONS = {  # a text that ends where one types: the first completions
    ("a.nt", TEXT + "B = Y @"): ["⊙"],
    ("a.nt", TEXT + r"B = Y \nd"): ["⊙"],
    ("a.nt", TEXT + r"B = Y \odo"): ["⊙"],
    ("a.nt", TEXT + "f : R ->"): ["→"],
    ("a.nt", TEXT + "B = Att"): ["Attention"],
    ("a.nt", TEXT + "B = softm"): ["softmax"],
    ("a.nt", TEXT + "B = softmax_{se"): ["seq"],
    ("a.nt", TEXT + "B = M_{k"): ["key"],
    ("a.nt", TEXT + "# B = Att"): [],
    ("a.nt", "Y = ∑_{idx=1}^{3} X_{a(idx)}\nZ = ∑_{idx=1}^{3} X_{a(id"): ["idx"],
    ("a.nt", "Y = W^{query} X\nZ = W^{qu"): ["query"],
    ("a.nt", "Y = E_{z ∼ Normal(0, 1)} z\nZ = dr"): [],
    ("a.tex", PAPER + r"Now $Z = V \nd"): [r"\ndot{}"],
    ("a.tex", PAPER + r"Now $Z = V \ndot{\s"): [r"\seq", r"\sqrt"][:1],
    ("a.tex", PAPER + r"Now $Z = V \ndot{"): [r"\key", r"\seq", r"\val"],
    ("a.tex", PAPER + r"Now \nd"): [],
    ("a.md", r"$X \in \reals^{\name{a}}$ and $\ns"): [r"\nsum{}"],
    ("a.py", CODE + 'nt.evaluate("∑_{hei'): [],
}


@pytest.mark.parametrize("case", COMPLETIONS)
def test_completion(case):
    path, text = case
    expected = COMPLETIONS[case]
    items = completions(opened(text, path), len(text))
    assert [item.text for item in items][: max(len(expected), 1)] == expected
    assert all(item.span[1] == len(text) for item in items)


def test_completion_in_a_string_of_python_knows_the_axes_of_its_inputs():
    text = CODE + 'nt.evaluate("∑_{hei} A", A=A)\n'
    (item,) = completions(opened(text, "a.py"), text.index("hei}") + 3)
    assert (item.text, text[slice(*item.span)]) == ("height", "hei")


# -------------------------------------------------------------------------------------------------------------- renaming
RENAMED = {  # a place, the new name, and the pattern whose matches are replaced
    ("a.nt", TEXT, "seq", "time"): r"\bseq\b",
    ("a.nt", TEXT, "Q, K", "Query"): (r"\bQ\b", (2, 3)),
    ("a.nt", "k = 2\nX ∈ ℝ^{a}\nf_{l}(Z) = 2 Z for l = 1, …, 3\nY = f_{k}(X_{a(k)})\nZ = k + 1", "k", "num"): (
        r"\bk\b(?!}\()",
        None,
    ),
    ("a.nt", TEXT, "Q ∈", "Query"): (r"\bQ\b", (5, 7)),
    ("a.nt", TEXT, "ax}", "over"): r"\bax\b",
    ("a.nt", TEXT, "l = 1", "n"): (r"\bl\b", (8,)),
    ("a.nt", TEXT, "i)", "row"): (r"\bi\b", (10,)),
    ("a.nt", TEXT, "Norm", "Size"): r"Norm",
    ("a.nt", TEXT, "Z^0", "State"): r"\bZ(?!\w)",
    ("a.tex", PAPER, r"\seq", "time"): r"(?<=\\)seq|(?<=\{)seq",
    ("a.tex", PAPER, "S &=", "R"): r"\bS\b",
    ("a.tex", PAPER, "K^2", "O"): r"\bK\b",
    ("a.py", CODE, "chans", "width"): r"\bchans\b",
    ("a.py", CODE, "W)", "Weights"): r"\bW\b",
}


@pytest.mark.parametrize("case", RENAMED)
def test_rename(case):
    path, text, position, new = case
    pattern = RENAMED[case]
    pattern, lines = pattern if isinstance(pattern, tuple) else (pattern, None)
    expected = "\n".join(
        re.sub(pattern, new, line) if lines is None or number in lines else line
        for number, line in enumerate(text.split("\n"), 1)
    )
    assert apply_edits(text, rename(opened(text, path), text.index(position), new)) == expected


REFUSED = {
    ("a.nt", TEXT, "seq", "key"): "key is an axis already, in line 2",
    ("a.nt", TEXT, "seq", "Y"): "Y is a name already",
    ("a.nt", TEXT, "Q ∈", "M"): "M is a name already",
    ("a.nt", TEXT, "seq", "a b"): "'a b' cannot be the name of an axis",
    ("a.nt", TEXT, "seq", "2"): "'2' cannot be the name of an axis",
    ("a.nt", TEXT, "seq", ""): "'' cannot be the name of an axis",
    ("a.nt", TEXT, "Y =", "x + 1"): "'x + 1' cannot be the name of a tensor",
    ("a.nt", TEXT + "B = (\n", "seq", "time"): "line 11 does not parse",
    ("a.nt", TEXT, "# att", "x"): "there is no name or axis here",
    ("a.tex", PAPER, r"\seq", "alpha"): r"\alpha is a macro of LaTeX or of the notation",
    ("a.tex", PAPER, r"\seq", "a1"): "'a1' cannot be the macro of an axis",
    ("a.py", CODE, 'A", A', "B"): "with the name B there would be an error: unexpected input A",
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_renaming_that_is_not_safe_is_refused(case):
    path, text, position, new = case
    with pytest.raises(NotationError) as raised:
        rename(opened(text, path), text.index(position), new)
    assert REFUSED[case] in raised.value.message


# ----------------------------------------------------------------------------------------------------------- quick fixes
FIXES = {
    ("a.nt", TEXT + "B = softmax_{sek} M\n", "sek"): ("Replace sek by seq", "softmax_{seq} M"),
    ("a.nt", TEXT + "B = (Y\n", "(Y"): ("Insert )", "B = (Y)"),
    ("a.tex", PAPER, r"\key}{softmax"): (r"Replace \key by \seq", r"\nfun{\seq}{softmax}"),
    ("a.py", CODE, "widht"): ("Replace widht by width", "softmax_{width} A"),
}


@pytest.mark.parametrize("case", FIXES)
def test_quick_fix(case):
    path, text, position = case
    title, result = FIXES[case]
    document = opened(text, path)
    at = text.index(position)
    (fix, *_) = fixes(document, (at, at))
    new = apply_edits(text, [fix.edit])
    assert fix.title == title and result in new
    assert len(findings_of(opened(new, path))) < len(findings_of(document))
    assert fixes(document, (0, 0)) == []


def test_a_quick_fix_in_a_program_that_is_being_typed():
    base = program(60) + "Z = softmax_{sek} Q3\n"
    document = opened(base)
    text = base.replace("Q5 =", "Q5 = (X +", 1)
    document.update(text)
    assert not document.settled
    at = text.index("sek")
    assert "Replace sek by seq" in [fix.title for fix in fixes(document, (at, at))]


# ------------------------------------------------------------------------------------------------------------- positions
def test_positions_are_those_of_utf_16():
    text = "𝒮 ∈ ℝ\nx𝒮y\r\n"
    lines = Lines(text)
    for offset in range(len(text) + 1):
        line = text.count("\n", 0, offset)
        before = text[:offset].rpartition("\n")[2]
        assert lines.position(offset) == (line, len(before.encode("utf-16-le")) // 2)
        assert lines.offset(lines.position(offset)) == offset
    assert lines.offset((9, 9)) == len(text) and lines.offset((0, 99)) == 5
    assert Lines(text, "utf-8").position(2) == (0, 5) and Lines(text, "utf-32").offset((0, 3)) == 3


def test_statements_and_scopes():
    text = "A = 1\n  + 2\nB = {1 if i = j;\n 0 otherwise}\n\n# c\nC(x) =\n x"
    assert [item.text for item in split(text)] == ["A = 1\n  + 2", "B = {1 if i = j;\n 0 otherwise}", "C(x) =\n x"]
    assert scopes("a\n#: exercise x\nb") == [(0, 2), (2, 17)]
    assert blank_spans("ab\ncd", [(1, 4)]) == "a \n d"


def test_a_notebook_shows_findings_of_its_own_text_only():
    cell = {"cell_type": "markdown", "source": [r"$$ Y = \nsum{\name{b}} X $$ with $X \in \reals^{\name{a}}$"]}
    document = opened(json.dumps({"cells": [cell]}), "a.ipynb")
    assert document.problems == [] and document.report is not None and document.report.errors
