"""Axes in color: one color for a name throughout, in each spelling; legible, and told apart."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest

import namedtensor as nt
from grammar.parser import parse
from grammar.printer import to_latex, to_text
from grammar.printer.runs import axes_in, plain, to_runs
from namedtensor.display.colors import COLORS, supports_color, tints

FORMULAS = [
    "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V",
    "X_{seq→seq', (heads,key)→chans}",
    "f : ℝ^{chans[3] × seq} × {0,1}^{seq} → ℝ^{hidden_1}",
    "Y_{seq(i), kernel(j)} = X_{seq(i+j-1)}",
    "[1, 2; 3, 4]_{height, width} + I_{a,b}",
    "LN_Q(X) = X ⊙_{chans} W_Q + b_Q",
    "∑_i A_{height(i)} + ∑_{width} A + ∑_{k=1}^{n} x^k",
    "concat_{chans}(X, Y) ⊕_{seq} Z",
    "argmaxk_{seq,k} X + E_{vocab(I)}",
    "g_{ax}(X)^2 - mean_{ax} X",
    "W^{l,Q} ∈ ℝ^{chans × key} for l = 1, …, L",
    "{ 0 if i ≤ j; -∞ otherwise }",
    "|seq|^2 + (X + Y)^*",
]
AXES = {
    FORMULAS[0]: {"seq", "key"}, FORMULAS[1]: {"seq", "seq'", "heads", "key", "chans"},
    FORMULAS[2]: {"chans", "seq", "hidden_1"}, FORMULAS[5]: {"chans"}, FORMULAS[6]: {"height", "width"},
    FORMULAS[8]: {"seq", "vocab"}, FORMULAS[9]: {"ax"}, FORMULAS[11]: set(),
}  # fmt: skip


@pytest.mark.parametrize("text", AXES, ids=str)
def test_the_tree_says_which_names_are_axes(text):
    assert set(axes_in(parse(text))) == AXES[text]


# ------------------------------------------------------------------------------------------------------ the spellings
def escapes(tree):
    return {axis: tint.escape for axis, tint in tints(axes_in(tree)).items()}


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("ascii", [False, True])
def test_a_terminal_shows_the_same_text(text, ascii):
    tree = parse(text)
    colored = to_text(tree, ascii, escapes(tree))
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == to_text(tree, ascii)
    assert ("\x1b" in colored) == bool(axes_in(tree))


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("macros", [False, True])
def test_colored_latex_reads_as_the_same_formula(text, macros):
    tree = parse(text)
    colors = {axis: tint.color.light for axis, tint in tints(axes_in(tree)).items()}
    colored = to_latex(tree, macros, colors)
    assert parse(colored) == parse(to_latex(tree, macros)) == tree
    assert ("\\textcolor" in colored) == bool(axes_in(tree))


@pytest.mark.parametrize("text", FORMULAS)
def test_runs_hold_the_whole_formula(text):
    tree = parse(text)
    letters = lambda spelled: re.sub(r"[\s{}_^−-]", "", spelled)
    assert letters(plain(to_runs(tree))) == letters(to_text(tree))
    assert {run.axis for run in to_runs(tree)} - {None} == set(axes_in(tree))


def test_scripts_stand_in_runs_of_their_own():
    result = [(run.text, run.scripts) for run in to_runs(parse("X^{l-1}_{seq(t_1)}"))]
    assert result == [
        ("X", ()), ("l", ("above",)), ("−1", ("above",)), ("seq", ("below",)), ("(", ("below",)), ("t", ("below",)),
        ("1", ("below", "below")), (")", ("below",)),
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "script"), [
    ("max_{i ∈ [n]} X", "i∈[n]"), ("lim_{α→∞} f(α)", "α→∞"), ("‖x‖_1", "1"), ("f(t)|_{t = 0}", "t=0"),
    ("𝔼_{x ∼ N(0, 1)}[x]", "x∼N(0,1)"), ("∑_{i=1}^{n} X", "i=1"), ("[1, 2]_{seq}", "seq"),
])  # fmt: skip
def test_every_operator_has_its_script_below(text, script):
    below = [run.text for run in to_runs(parse(text)) if run.scripts == ("below",)]
    assert "".join(below).replace(" ", "") == script


def test_a_function_d_has_no_blank_before_its_bracket():
    assert plain(to_runs(parse("d(x) = 2 x"))) == "d(x) = 2 x"


PROGRAM = nt.program(
    "SelfAtt : ℝ^{seq × chans} → ℝ^{seq × chans}\nSelfAtt(X) = softmax_{seq}(X ⊙_{chans} X_{seq→memory} / √|chans|) ⊙_{seq} X"
    "\nW ∈ ℝ^{chans × hidden}"
)


@pytest.mark.parametrize(
    ("spelled", "pattern"),
    [
        (PROGRAM.to_html(), r'<span class="nt-axis (nt-\d)">([^<]*)</span>'),
        (PROGRAM.to_latex(colors=True), r"\\textcolor\{(#\w+)\}\{\\mathsf\{(\w+)\}\}"),
        (PROGRAM.to_latex(macros=True, colors=True), r"\\textcolor\[HTML\]\{(\w+)\}\{\\name\{(\w+)\}"),
        (PROGRAM.to_text(colors=True), "\x1b\\[([0-9;]*)m([^\x1b]+)\x1b\\[0m"),
    ],
    ids=["html", "latex", "macros", "terminal"],
)
def test_each_axis_has_one_color_throughout(spelled, pattern):
    colors = {}
    for color, axis in re.findall(pattern, spelled):
        colors.setdefault(axis, set()).add(color)
    assert set(colors) == {"seq", "memory", "chans", "hidden"}
    assert all(len(result) == 1 for result in colors.values())
    assert len(set.union(*colors.values())) == 4


# --------------------------------------------------------------------------------------------------------------- pages
def test_a_page_escapes_what_would_be_markup():
    page = nt.formula("{ x if x < 2; y otherwise }").to_html()
    assert "&lt; 2" in page and "< 2" not in page.replace("&lt; 2", "")


def test_the_legend_tells_the_sizes_that_are_known():
    page = PROGRAM.to_html({"chans": 512})
    assert ">chans</span> = 512<" in page
    assert ">seq</span><" in page
    assert "&lt;b&gt;" in PROGRAM.to_html({"chans": "<b>"})


def test_what_is_printed_has_colors_in_a_terminal_alone(monkeypatch, capsys):
    print(PROGRAM.highlight({"chans": 3}))
    assert capsys.readouterr().out == f"{PROGRAM}\n"
    assert "\x1b[" in PROGRAM.highlight().to_text()
    assert PROGRAM.highlight()._repr_html_() == PROGRAM.to_html()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_may_refuse_colors(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert supports_color(Terminal()) and not supports_color(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not supports_color(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not supports_color(Terminal())


# ------------------------------------------------------------------------------------------------------------ palette
def linear(color):
    parts = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(first, second):
    """WCAG 2.1, from 1 to 21."""
    light, dark = sorted((linear(item) @ [0.2126, 0.7152, 0.0722] for item in (first, second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("color", COLORS, ids=str)
def test_a_color_is_legible_on_its_pages(color):
    assert contrast(color.light, "#ffffff") >= 4.5
    assert contrast(color.dark, "#131416") >= 4.5


def oklab(rgb):
    """Ottosson 2020: a space in which distances are those that people see."""
    cones = rgb @ np.array([[0.4122214708, 0.2119034982, 0.0883024619], [0.5363325363, 0.6806995451, 0.2817188376],
                            [0.0514459929, 0.1073969566, 0.6299787005]])  # fmt: skip
    return np.cbrt(np.maximum(cones, 0)) @ np.array(
        [[0.2104542553, 1.9779984951, 0.0259040371], [0.7936177850, -2.4285922050, 0.7827717662],
         [-0.0040720468, 0.4505937099, -0.8086757660]])  # fmt: skip


SEEN = {  # Machado, Oliveira, Fernandes 2009, severity 1
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("page", ["light", "dark"])
def test_two_colors_are_told_apart(eyes, page):
    """A distance of 0.02 is just seen; colors of small text need more."""
    seen = [oklab(np.clip(np.array(SEEN[eyes]) @ linear(getattr(color, page)), 0, 1)) for color in COLORS]
    for first in range(len(seen)):
        for second in range(first):
            assert np.linalg.norm(seen[first] - seen[second]) > 0.06, (COLORS[first], COLORS[second])


def test_the_ninth_axis_is_underlined():
    result = tints("abcdefghij")
    assert result["i"].color == result["a"].color and result["i"].underlined and not result["a"].underlined
