"""LaTeX for papers: displays that are broken where they are too broad, read back, and compiled by pdflatex as pasted."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from layer_cases import CASES

import namedtensor as nt
import transformer
from grammar.parser import parse
from grammar.printer import to_latex, to_text
from grammar.printer.latex import MacrosLayout
from grammar.printer.lines import fit, row_of, width_of
from grammar.printer.preamble import PREAMBLE

WIDTH = 34.5  # ems: the text of `article`
FOLDER = Path(transformer.__file__).parent
TEXTS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.rglob("*.nt"))}
TEXTS |= {case.title: case.kind.notation for case in CASES}
PROGRAMS = {name: parse(text, "text") for name, text in TEXTS.items()}
COLORS = {"seq": "#0b80a6", "key": "#a04902", "chans": "#3b38c5", "heads": "#23734b", "hidden": "#85112d"}
WAYS = {"macros": {"macros": True}, "plain": {}, "colored": {"macros": True, "colors": COLORS}}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", ["macros", "plain"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_broken_program_is_read_as_the_same(name, way):
    printed = to_latex(PROGRAMS[name], width=WIDTH, **WAYS[way])
    assert to_text(parse(printed, "latex")) == to_text(PROGRAMS[name])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_row_of_a_program_has_room(name):
    layout = MacrosLayout(PROGRAMS[name])
    layout.box()
    rows = fit([row_of(layout.box_of(statement), None) for statement in PROGRAMS[name].statements], WIDTH)
    left = max(width_of(head) for head, _ in rows)
    assert [line for _, lines in rows for line in lines if left + width_of(line) > WIDTH] == []


# a formula, its room, and its lines
BROKEN = [
    ("a + b", 99, ["a + b"]),
    ("a + b + c + d", 5.0, ["a + b + c", "+ d"]),
    ("a ⊙ b + c ⊙ d", 5.5, [r"a \odot b", r"+ c \odot d"]),
    ("relu(a + b + c + d) ⊙ e", 9, [r"\text{relu}(a + b + c + d)", r"\odot e"]),
    ("exp(a + b / 2 + c + d)", 5.6, [r"\exp\Bigl(a + \frac{b}{2}", r"+ c + d\Bigr)"]),
    ("(a + b + c + d) / 2", 5, [r"\frac{a + b + c + d}{2}"]),
    ("Y = -a - b", 5, ["Y = -a", "- b"]),
    ("{ a + b + c if d < 1 }", 3, [r"\begin{cases} a + b + c & \text{if } d < 1 \end{cases}"]),
    ("h^t = X + Y for t = 1, …, n", 12, [r"h^t = X + Y", r"\quad \text{for } t = 1, \ldots, n"]),
    ("f : ℝ^{a} → ℝ^{b}", 4, [r"f \colon \mathbb{R}^{\mathsf{a}}", r"\rightarrow \mathbb{R}^{\mathsf{b}}"]),
]


@pytest.mark.parametrize(("text", "room", "lines"), BROKEN)
def test_a_row_is_broken_at_its_loosest_operator(text, room, lines):
    printed = to_latex(parse(text, "text"), width=room).splitlines()[1:-1]
    assert [line.removesuffix(r" \\").replace("&", "", 1).removeprefix(r"\quad {}") for line in printed] == lines


@pytest.mark.parametrize("way", [{}, {"macros": True}], ids=["plain", "macros"])
def test_a_program_in_color_is_broken_where_it_is_without(way):
    colors = dict.fromkeys(("seq", "key", "val"), COLORS["seq"])
    program = parse("Y = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V + ∑_{seq} V ⊙ ∑_{key} (Q + 1)", "text")
    colored = to_latex(program, width=20, colors=colors, **way)
    assert colored.count(r"\textcolor") >= 6 and len(colored.splitlines()) > 3
    assert re.sub(r"\\textcolor(?:\[HTML\])?\{[^{}]*\}\{(\\\w+\{\w+\})\}", r"\1", colored) == to_latex(
        program, width=20, **way
    )


def test_a_program_has_a_display_of_its_own():
    text = nt.to_latex("f(x) = x + 1\nY = f(X)", width=30)
    assert text == "\\begin{align*}\n\\text{f}(x) &= x + 1 \\\\\nY &= \\text{f}(X)\n\\end{align*}".replace(
        r"\text{f}", "f"
    )


# ------------------------------------------------------------------------------------------------------------ pdflatex
PDFLATEX = shutil.which("pdflatex")
needs_pdflatex = pytest.mark.skipif(PDFLATEX is None, reason="pdflatex is not installed")


def compiled(folder: Path, body: str, preamble: str = PREAMBLE) -> str:
    """The log of pdflatex; the test fails where it stops."""
    document = rf"\documentclass{{article}}{preamble}\begin{{document}}{body}\end{{document}}"
    (folder / "a.tex").write_text(document, encoding="utf-8")
    command = [str(PDFLATEX), "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "a.tex"]
    run = subprocess.run(command, cwd=folder, capture_output=True, timeout=240, check=False)
    log = (folder / "a.log").read_text("latin-1")
    assert run.returncode == 0, log[log.find("\n!") :][:2000]
    return log


@needs_pdflatex
@pytest.mark.parametrize("way", WAYS)
def test_every_program_compiles_within_the_text(way, tmp_path):
    parts = {name: to_latex(tree, width=WIDTH, **WAYS[way]) for name, tree in PROGRAMS.items()}
    assert len(parts) > 40 and all(part.isascii() for part in parts.values())
    log = compiled(tmp_path, "\n".join(f"\\typeout{{BEGIN {name.replace('_', '-')}}}\n{parts[name]}" for name in parts))
    broad = [(at, float(by)) for at, by in OVERFULL.findall(log)]
    assert not broad, "\n".join(f"{at}: {by} pt" for at, by in broad)


OVERFULL = re.compile(r"BEGIN (\S+)(?:(?!BEGIN).)*?Overfull \\hbox \(([\d.]+)pt", re.DOTALL)


@needs_pdflatex
def test_the_macros_of_a_package_that_is_loaded_before_stay(tmp_path):
    local = r"\newcommand{\ndot}[1]{\typeout{THEIRS}\odot}" + PREAMBLE
    assert "THEIRS" in compiled(tmp_path, to_latex(parse("Q ⊙_{key} K"), macros=True, width=30), local)


TENSORS = {
    "a matrix": nt.tensor([[1.5, -2], [3e-7, 4e10]], "seq b'"),
    "a row": nt.tensor([1, 2, 3], "a_1"),
    "whether": nt.tensor([True, False], "a"),
    "no numbers": nt.tensor([float("inf"), -float("inf"), float("nan")], "a"),
    "a number": nt.tensor(-3.25, ""),
    "broad": nt.tensor(list(range(40)), "n"),
}


@needs_pdflatex
def test_tensors_compile(tmp_path):
    for macros in (False, True):
        compiled(tmp_path, "\n".join(rf"\[ {tensor.to_latex(macros=macros)} \]" for tensor in TENSORS.values()))


@pytest.mark.parametrize("name", [name for name in TENSORS if name != "no numbers"])
@pytest.mark.parametrize("macros", [False, True])
def test_a_tensor_is_read_back_as_a_literal(name, macros):
    tensor = TENSORS[name]
    again = nt.evaluate(tensor.to_latex(macros=macros, digits=17), syntax="latex")
    assert again.tolist(tensor.axes) == tensor.tolist(tensor.axes)


def test_a_tensor_of_three_axes_is_no_matrix():
    with pytest.raises(nt.NotationError) as caught:
        nt.tensor([[[1]]], "a b c").to_latex()
    assert caught.value.code == 316
