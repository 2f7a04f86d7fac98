"""Strings of tokens in any order at every entry that takes a text: a value or a NotationError, never another exception.

NAMEDTENSOR_FUZZ_ENTRIES is how many are drawn.
"""

import os
import random
import re
import warnings

import pytest

import namedtensor as nt
from grammar.parser import parse
from grammar.printer import to_latex, to_text
from namedtensor import cli
from namedtensor.webpage.answers import answer

COUNT = int(os.environ.get("NAMEDTENSOR_FUZZ_ENTRIES", "300"))
SEEDS = r"""f(x) = E_{y \sim p_d(y|x)} y
p_{q}(a|b) p_d(c|d) / p_{q(a|b)}(c|d)
p(B | A) = p(A | B) p(B) / p(A)
A_{ij} + A_{12} ⊙ W_{xh} x_{i,jk}
softmax_{a} A_{ij}
h^t = h^{t-1} W_{t} for t = 1, …, 3
l = ∑_{d} h^3
mean_{n} ((x)^2) + (max_{i ∈ [3]}(x_{a(i)}))^2
∂(x ⊙_{a} w)/∂w* + ∂y/∂x|_{x=1}
X, Y ∈ ℝ^{a × b[3]}
f(X; W) = X ⊙_{a} W_{a→b}
∑_{i=1}^{n} x^i + ∏_{j} y_{a(j)}
\frac{\partial f(X)}{\partial X^*} = \hat{y}_{12}
\nfun{\name{a}}{softmax} \left(Q \ndot{\name{k}} K\right)
\mathbb{E}_{x \sim \mathcal{N}(0,1)}[x^2] + \lVert x \rVert_2
{ x if x > 0; 0 otherwise } − sin^{-1} x
y ∼ N(0, 1)^{a[3]}
|a| + |x| + ‖x‖ + ⌊x⌋
[1, 2; 3, 4]_{a, b}
lim_{h → 0} (f(x + h) − f(x)) / h""".splitlines()
TOKEN = re.compile(r"\\[A-Za-z]+|\w+|\s+|.")
WORDS = [word for seed in SEEDS for word in TOKEN.findall(seed)]
FOUND = [  # by this, or by readers
    r"f(x) = E_{y \sim p_d(y|x)} y", r"p_d(y|x)", "p_{q(a|b)}(c|d)", "i_d(y|x)", "σsoftmax_†(y|x)×0", r"\lVert{;W)}", "‖x, y‖", "x in [j]", "A_{ij}", "A_{12}",
    "W_{xh} ⊙ x", r"\mathbf{W}_{xh} x", " max_n²(y|x)0d^{X}", "∑_ij^*(y|x)otherwisen1",
]  # fmt: skip


def drawn(number):
    """A string by its number: a formula with tokens left out, put in or exchanged, or tokens alone."""
    rng = random.Random(number)
    tokens = TOKEN.findall(rng.choice(SEEDS)) if rng.random() < 0.7 else rng.choices(WORDS, k=rng.randint(2, 9))
    for _ in range(rng.randint(1, 3)):
        at, kind = rng.randrange(len(tokens) + 1), rng.random()
        if kind < 0.3:
            del tokens[at : at + rng.randint(1, 2)]
        elif kind < 0.6:
            tokens.insert(at, rng.choice(WORDS))
        elif tokens:
            other = rng.randrange(len(tokens))
            tokens[at % len(tokens)], tokens[other] = tokens[other], tokens[at % len(tokens)]
    return "".join(tokens)


STRINGS = [*FOUND, *map(drawn, range(COUNT))]
QUESTIONS = ("check", "plan", "steps", "code", "derive", "complete")


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def refused(entry):
    """The NotationError that an entry raises, whose message can be shown, or None."""
    try:
        entry()
    except nt.NotationError as problem:
        assert str(problem) and isinstance(problem.edits, tuple)
        return problem


@pytest.mark.parametrize("syntax", ["text", "latex", "auto"])
def test_whatever_is_parsed_is_printed(syntax):
    trees = []
    for text in STRINGS:
        refused(lambda text=text: trees.append(parse(text, syntax)))
    assert len(trees) > 20
    for tree in trees:
        for written in (to_text(tree), to_text(tree, ascii=True), to_latex(tree), to_latex(tree, macros=True)):
            assert written


@pytest.mark.parametrize("part", range(4))
def test_programs_and_checks_have_a_result(part):
    for text in STRINGS[part::4]:
        if refused(lambda text=text: nt.program(text)) is None:
            assert str(nt.check(text)) is not None
            refused(lambda text=text: nt.check(text, x="ℝ^{a[3]}"))
            refused(lambda text=text: nt.evaluate(text, {"x": 2.0, "y": 3.0}))


@pytest.mark.parametrize("part", range(4))
def test_the_playground_has_an_answer_of_its_own(part):
    for text in STRINGS[part::4]:
        for ask in QUESTIONS:
            request = {"ask": ask, "text": text, "library": "numpy", "by": "x", "before": text, "superscripts": True}
            message = (answer(request).get("error") or {}).get("message", "")
            assert "could not be answered" not in message and "nests too deep" not in message, (ask, text)
            if ask == "check" and message:
                break


def test_the_command_has_a_status(capsys):
    for text in STRINGS[: len(FOUND) + 40]:
        assert cli.main(["check", "--", text]) in (0, 1, 2)
        assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["tex", "md"])
def test_a_document_of_them_is_checked(tmp_path, capsys, suffix):
    page = tmp_path / f"page.{suffix}"
    page.write_text("\n\n".join(f"Let ${text}$ be." for text in STRINGS[:100] if "$" not in text), encoding="utf8")
    assert cli.main(["check", "--all", str(page)]) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err
