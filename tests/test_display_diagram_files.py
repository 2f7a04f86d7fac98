"""Diagrams as SVG, TikZ, PDF and PNG: each format has all shapes, and a file holds what its name says."""

import shutil
import subprocess
import sys

import pytest

import namedtensor as nt
from namedtensor.display.diagram_shapes import Label, LineShape, Rectangle, spans_of
from namedtensor.display.diagram_tikz import math
from transformer import EncoderBlock

TYPES = {"X": "ℝ^{seq × chans}"}
DIAGRAMS = {
    "a block": EncoderBlock.formula.diagram(**TYPES, expand=["SelfAttention", "Attention"]),
    "a sum": nt.diagram("Y = X + γ ⊙ relu(X_{seq→seq'}) / √|chans|", **TYPES, γ="ℝ"),
    "underscores and signs": nt.diagram("W_1 ∈ ℝ^{a × b}\nZ = 𝕀[softmax_{a}(W_1 ⊙_{b} x_2) ≤ 0.5]", x_2="ℝ^{b}"),
}
BEGINS = {
    ".svg": b"<svg",
    ".tikz": b"\\begin{tikzpicture}",
    ".tex": b"\\begin{tikzpicture}",
    ".mmd": b"flowchart TD",
    ".pdf": b"%PDF-",
    ".png": b"\x89PNG",
    "": b"<svg",
}


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("ending", [*BEGINS, ".PDF"])
def test_a_file_holds_what_its_name_says(ending, tmp_path):
    if ending.lower() in (".pdf", ".png"):
        pytest.importorskip("matplotlib")
    path = tmp_path / f"drawing{ending}"
    DIAGRAMS["a block"].save(path)
    assert path.read_bytes().startswith(BEGINS[ending.lower()])


@pytest.mark.parametrize("ending", [".jpg", ".txt", ".eps", ".svgz"])
def test_no_file_is_written_that_would_hold_another_format(ending, tmp_path):
    path = tmp_path / f"drawing{ending}"
    with pytest.raises(nt.NotationError) as caught:
        DIAGRAMS["a sum"].save(path)
    assert caught.value.code == 409 and not path.exists()


def test_without_matplotlib_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(nt.NotationError) as caught:
        DIAGRAMS["a sum"].save(tmp_path / "a.pdf")
    assert caught.value.code == 408 and not (tmp_path / "a.pdf").exists()


@pytest.mark.parametrize("name", DIAGRAMS)
def test_every_format_has_all_shapes(name):
    svg, shapes = DIAGRAMS[name].to_svg(), DIAGRAMS[name].drawing.shapes
    counts = {kind: sum(isinstance(shape, kind) for shape in shapes) for kind in (Rectangle, LineShape, Label)}
    assert min(counts.values()) > 1
    assert counts == {
        Rectangle: svg.count("<rect"),
        LineShape: svg.count('<path class="nt-line"'),
        Label: svg.count("<text"),
    }
    tikz = DIAGRAMS[name].to_tikz()
    assert tikz.count("\n") == len(shapes) + 2
    assert counts == {Rectangle: tikz.count(r"\path["), LineShape: tikz.count(r"\draw["), Label: tikz.count(r"\node[")}


@pytest.mark.parametrize("name", DIAGRAMS)
def test_tikz_is_plain_characters(name):
    assert DIAGRAMS[name].to_tikz().isascii()


def test_mermaid_names_every_node_and_edge():
    diagram = DIAGRAMS["a block"]
    lines = diagram.to_mermaid().splitlines()
    nodes = list(diagram.graph.everything())
    groups = [node for node in nodes if node.inside is not None]
    edges = sum(len(graph.edges) for graph in (diagram.graph, *(node.inside for node in groups)))
    assert sum("subgraph" in line for line in lines) == len(groups) == lines.count("    end") + lines.count("  end")
    assert sum(" --> " in line for line in lines) == edges
    assert len(lines) == 1 + len(nodes) + len(groups) + edges
    assert '  n1[["LayerNorm"]]' in lines


def test_scripts_are_scripts():
    labels = [shape for shape in DIAGRAMS["a block"].drawing.shapes if isinstance(shape, Label)]
    spans = [list(spans_of(label)) for label in labels]
    texts = {math(span, ["#1b1f24"] * len(span)) for span in spans}
    assert r"\mathrm{LN}_{Q}" in texts and "LayerNorm" not in texts and r"\mathrm{LayerNorm}" in texts


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_tikz_compiles(tmp_path):
    body = r"\newpage ".join(
        rf"\resizebox{{!}}{{.8\textheight}}{{{diagram.to_tikz()}}}" for diagram in DIAGRAMS.values()
    )
    text = rf"\documentclass{{article}}\usepackage{{tikz}}{nt.latex_preamble()}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "a.tex").write_text(text)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "a.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    if "tikz.sty' not found" in run.stdout.decode("latin-1"):
        pytest.skip("the package tikz is not installed")
    assert run.returncode == 0, run.stdout.decode("latin-1")[-1500:]
