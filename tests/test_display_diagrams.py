"""Diagrams: which values go where, of which type; where each stands; and that the drawing is what it should be."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import namedtensor as nt
from grammar.printer.runs import plain
from namedtensor.display.diagram_drawing import label_runs, place_graph
from namedtensor.display.diagram_layout import GAP, Link, count_crossings, distance, lay_out
from transformer import BERT, FFN, GPT2, Attention, EncoderBlock

SVG = "{http://www.w3.org/2000/svg}"


def text(node):
    """What is written in a node: its text, and below it the parameters."""
    return plain(node.runs) + (f"; {plain(node.detail)}" if node.detail else "")


def edges(graph):
    """The edges of a graph by what their ends say; the end in a group by what is within."""

    def end(port):
        node = graph.nodes[port.node]
        return f"{text(node)}[{text(node.inside.nodes[port.within.node])}]" if node.inside else text(node)

    return {(end(edge.source), end(edge.target)) for edge in graph.edges}


def labels(graph):
    return {text(node): plain(label_runs(node)) for node in graph.nodes if node.inside is None}


# ---------------------------------------------------------------------------------------------------------- the flow
def test_the_flow_of_attention():
    graph = Attention.formula["Attention"].diagram().graph
    assert edges(graph) == {
        ("Q", "⊙key"), ("K", "⊙key"), ("⊙key", "softmaxseq(• / √|key|)"), ("softmaxseq(• / √|key|)", "⊙seq"), ("V", "⊙seq"),
    }  # fmt: skip
    assert labels(graph) == {
        "Q": "ℝkey", "K": "ℝseq × key", "V": "ℝseq × val", "⊙key": "ℝseq", "softmaxseq(• / √|key|)": "ℝseq", "⊙seq": "ℝval",
    }  # fmt: skip


def test_further_axes_go_with_the_values():
    graph = Attention.formula["Attention"].diagram(Q="ℝ^{seq × key}").graph
    assert labels(graph)["⊙key"] in ("ℝseq × seq'", "ℝseq' × seq")


def test_the_flow_of_a_block_with_what_goes_round():
    graph = EncoderBlock.formula["Y"].diagram(X="ℝ^{seq × chans}").graph
    kinds = [node.kind for node in graph.nodes]
    assert (kinds.count("sign"), kinds.count("function"), kinds.count("input")) == (2, 4, 1)
    assert {("X", "LayerNorm"), ("X", "+"), ("LayerNorm", "SelfAttention"), ("FFN", "+")} <= edges(graph)
    assert {plain(label_runs(node)) for node in graph.nodes} >= {"X1 ∈ ℝseq × chans", "Y ∈ ℝseq × chans"}


CASES = {
    "a bias belongs to what it is added to": (
        "Y = X + f(X) + b\nf(t) = 2 t\nb ∈ ℝ^{a}", {"X": "ℝ^{a}"},
        {("X", "f"), ("f", "• + b"), ("X", "+"), ("• + b", "+")},
    ),
    "one value through one box": ("Y = 2 x^2 + 1 / x", {"x": "ℝ^{a}"}, {("x", "2 x2 + 1 / x")}),
    "a constant is written": ("c = 3\nY = c x", {"x": "ℝ^{a}"}, {("x", "c x")}),
    "two values meet": ("Y = x ⊙_{a} y", {"x": "ℝ^{a}", "y": "ℝ^{a}"}, {("x", "⊙a"), ("y", "⊙a")}),
    "values meet in a function": ("Y = max(x, f(y))\nf(t) = t + 1", {"x": "ℝ^{a}", "y": "ℝ^{a}"},
                                 {("x", "max(x, •)"), ("y", "f"), ("f", "max(x, •)")}),
    "an index": ("Y = E_{vocab(ids + 1)}\nE ∈ ℝ^{vocab × chans}", {"ids": "ℝ^{seq}"}, {("ids", "Evocab(ids+1)")}),
    "by elements": ("Y ∈ ℝ^{seq[3]}\nY_{seq(i)} = { 0 if i < 2; x_{seq(i)} otherwise }", {"x": "ℝ^{seq[3]}"},
                    {("x", "{ 0 if i < 2; xseq(i) otherwise }")}),
    "what a body takes from outside": ("Y = f(x)\nf(t) = t + m", {"x": "ℝ^{a}", "m": "ℝ^{a}"}, {("x", "f"), ("m", "f")}),
    "parameters of a call": ("Y = f(x; W)\nf(t; V) = t ⊙_{a} V\nW ∈ ℝ^{a × b}", {"x": "ℝ^{a}"}, {("x", "f; W")}),
    "an expression": ("relu(x) + f(x)\nf(t) = 2 t", {"x": "ℝ^{a}"}, {("x", "relu(x)"), ("relu(x)", "+"), ("x", "f"), ("f", "+")}),
    "two names beside each other": ("Y = x y", {"x": "ℝ^{a}", "y": "ℝ^{a}"}, {("x", "⊙"), ("y", "⊙")}),
    "a value that is used twice": ("Y = max(x, x + y)", {"x": "ℝ^{a}", "y": "ℝ^{a}"},
                                   {("x", "+"), ("y", "+"), ("x", "max(x, •)"), ("+", "max(x, •)")}),
    "a call in a sum": ("f(t) = 2 t\nY = ∑_{i=1}^{2} i f(x)", {"x": "ℝ^{a}"}, {("x", "∑i=12 i f(x)")}),
    "a name for a name": ("z = x\nY = f(z)\nf(t) = t", {"x": "ℝ^{a}"}, {("x", "f")}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_goes_where(case):
    formula, shapes, want = CASES[case]
    assert edges(nt.program(formula).diagram(**shapes).graph) == want


def test_a_family_is_drawn_once():
    diagram = GPT2.formula["logits"].diagram(ids="ℝ^{seq}", sizes={"L": 12})
    (group,) = [node for node in diagram.graph.nodes if node.inside is not None]
    assert plain(group.runs) == "for l = 1, …, L (L = 12)"
    entries = [node for node in group.inside.nodes if node.kind == "entry"]
    assert [text(node) for node in entries] == ["Xl−1"]
    assert {plain(node.name) for node in group.inside.nodes} >= {"Nl", "Ql", "Kl", "Vl", "Al", "Tl", "Xl"}
    assert len([edge for edge in edges(diagram.graph) if edge[1].startswith("for l")]) == 1
    assert ("LayerNorm; γ, β", "states ⊙chans E") in edges(diagram.graph)


def test_without_a_number_of_members_it_is_the_same_drawing():
    diagram = GPT2.formula["logits"].diagram(ids="ℝ^{seq}")
    assert "for l = 1, …, L" in [plain(node.runs) for node in diagram.graph.nodes]


@pytest.mark.parametrize("name", ["l", "X"])
def test_members_are_drawn_one_by_one_on_request(name):
    diagram = GPT2.formula["logits"].diagram(ids="ℝ^{seq}", sizes={"L": 3}, expand=name if name == "l" else "X^l")
    titles = [plain(node.runs) for node in diagram.graph.nodes if node.inside is not None]
    assert [title for title in sorted(titles) if re.fullmatch(r"l = \d", title)] == ["l = 1", "l = 2", "l = 3"]


def test_what_a_family_takes_from_outside_enters_it():
    program = GPT2.formula.replace_definitions(remove=["mask"])
    diagram = program["logits"].diagram(ids="ℝ^{seq}", mask="ℝ^{seq}")
    (group,) = [node for node in diagram.graph.nodes if node.inside is not None]
    assert {text(node) for node in group.inside.nodes if node.kind == "entry"} == {"Xl−1", "M"}


def test_what_comes_out_of_a_family_is_shown():
    diagram = BERT.formula["states"].diagram(ids="ℝ^{seq}")
    assert diagram.graph.nodes[-1].kind == "result" and text(diagram.graph.nodes[-1]) == "states"


def test_a_function_is_opened_on_request():
    shut = EncoderBlock.formula["Y"].diagram(X="ℝ^{seq × chans}")
    assert all(node.inside is None for node in shut.graph.nodes)
    diagram = EncoderBlock.formula["Y"].diagram(X="ℝ^{seq × chans}", expand=["SelfAttention", "Attention"])
    (group,) = [node for node in diagram.graph.nodes if node.inside is not None]
    (inner,) = [node for node in group.inside.nodes if node.inside is not None]
    assert (plain(group.runs), plain(inner.runs)) == ("SelfAttention", "Attention")
    assert [text(node) for node in inner.inside.nodes if node.kind == "entry"] == ["Q", "K", "V"]


# ---------------------------------------------------------------------------------------------------------- the types
OPENED = {  # programs whose f is opened, and the edges outside of it
    "a body that uses no argument": ("f(t) = 3\nY = y + f(x)", {("y", "+"), ("x", "f[t]")}),
    "a body that uses no argument, in a function": ("f(t) = 3\nY = y + exp(f(x))", {("y", "+"), ("x", "f[t]")}),
    "an argument without data": ("f(t, b) = t + b\nY = f(x, 2) + y", {("x", "f[t]"), ("f[t + b]", "+"), ("y", "+")}),
    "what a closed function takes from outside has no arrow": (
        "f(t) = 3\nm = f(x)\ng(t) = t + m\nY = g(x) + y", {("x", "f[t]"), ("x", "g"), ("g", "+"), ("y", "+")},
    ),
    "a name in cases has no arrow": (
        "f(t) = 3\nm = f(x)\nY = y + { m if x > 0; 0 otherwise }",
        {("x", "f[t]"), ("x", "{ m if x > 0; 0 otherwise }"), ("{ m if x > 0; 0 otherwise }", "+"), ("y", "+")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OPENED)
def test_what_has_no_data_enters_no_opened_function_and_leaves_none(case):
    formula, expected = OPENED[case]
    diagram = nt.program(formula).diagram(x="ℝ^{a}", y="ℝ^{a}", expand="f")
    assert edges(diagram.graph) == expected


@pytest.mark.parametrize("kind", [GPT2, BERT])
def test_the_types_are_those_that_check_finds(kind):
    shapes = {"ids": "ℝ^{seq}"}
    diagram = kind.formula.diagram(**shapes) if kind is GPT2 else kind.formula["states"].diagram(**shapes)
    checked = nt.check(kind.notation, sizes={"L": 1}, syntax="text", **shapes)
    compared = 0
    for node in diagram.graph.everything():
        name = plain(node.name).replace("l", "^1") if node.name else ""
        if name in checked.types:
            assert set(re.findall(r"\w+(?=\[|\s|\}|$)", checked.types[name].removeprefix("ℝ^{"))) >= set(node.axes)
            assert set(node.axes) == set(checked.shapes[name])
            compared += 1
    assert compared >= 6


def test_the_legend_has_the_sizes_that_are_known():
    layer = FFN.init(sizes={"chans": 4, "hidden": 8})
    drawing = layer.diagram(X="ℝ^{seq × chans}")
    assert drawing.sizes == {"chans": 4}
    assert layer.diagram(nt.tensor(np.ones((3, 4)), "seq chans")).sizes == {"seq": 3, "chans": 4}
    assert " = 4" in drawing.to_svg()


# --------------------------------------------------------------------------------------------------------- the drawing
DRAWINGS = {
    "attention": lambda: Attention.formula["Attention"].diagram(Q="ℝ^{seq × key}"),
    "block": lambda: EncoderBlock.formula["Y"].diagram(
        X="ℝ^{seq × chans}", expand=["FFN", "SelfAttention", "Attention"]
    ),
    "model": lambda: GPT2.formula["logits"].diagram(ids="ℝ^{batch × seq}", sizes={"L": 2}, expand=["l", "FFN"]),
    "cases": lambda: nt.program("Y = { x if x < y ∧ ¬(y > 2); y otherwise }").diagram(x="ℝ^{a}", y="ℝ^{a}"),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_it_is_xml_with_a_shape_for_each_node_and_an_arrow_for_each_edge(name):
    drawing = DRAWINGS[name]()
    for svg in (drawing.to_svg(), drawing._repr_html_()):
        tree = ElementTree.fromstring(svg)
        nodes = list(drawing.graph.everything())
        assert len(list(tree.iter(f"{SVG}rect"))) == len(nodes)
        graphs = [drawing.graph, *(node.inside for node in nodes if node.inside is not None)]
        arrows = [path for path in tree.iter(f"{SVG}path") if "marker-end" in path.attrib]
        assert len(arrows) == sum(len(graph.edges) for graph in graphs)


def test_signs_that_are_markup_are_text():
    svg = DRAWINGS["cases"]().to_svg()
    assert "&lt;" in svg and "&gt;" in svg
    ElementTree.fromstring(svg)


@pytest.mark.parametrize("name", DRAWINGS)
def test_each_axis_has_one_color_throughout(name):
    colors = {}
    for span in ElementTree.fromstring(DRAWINGS[name]().to_svg()).iter(f"{SVG}tspan"):
        kind = span.attrib.get("class", "")
        if kind.startswith("nt-axis"):
            colors.setdefault(span.text, set()).add(kind)
    assert all(len(color) == 1 for color in colors.values())
    assert len({kind for color in colors.values() for kind in color}) == len(colors)


@pytest.mark.parametrize("name", DRAWINGS)
def test_nothing_lies_upon_anything_else(name):
    def checked(actual):
        cells = actual.layout.cells
        for one, cell in enumerate(cells):
            for other in cells[:one]:
                apart = abs(cell.x - other.x) >= (cell.width + other.width) / 2 - 0.01
                below = cell.y >= other.y + other.height - 0.01 or other.y >= cell.y + cell.height - 0.01
                assert apart or below
        for box in actual.boxes:
            if box.inner is not None:
                assert box.width >= box.inner.layout.width and box.height >= box.inner.layout.height
                checked(box.inner)

    checked(place_graph(DRAWINGS[name]().graph))


def test_a_dark_page_has_its_own_colors_and_a_file_has_none():
    drawing = DRAWINGS["attention"]()
    assert "prefers-color-scheme" in drawing._repr_html_() and "[data-theme=dark]" in drawing._repr_html_()
    assert "prefers-color-scheme" not in drawing.to_svg()


def test_it_is_saved(tmp_path):
    drawing = DRAWINGS["attention"]()
    drawing.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == drawing.to_svg() == DRAWINGS["attention"]().to_svg()
    with pytest.raises(nt.NotationError) as caught:
        drawing.save(tmp_path / "nowhere" / "a.svg")
    assert caught.value.code == 409


# ------------------------------------------------------------------------------------------------------------- errors
WRONG = [
    (lambda: FFN.formula.diagram(Y="ℝ^{seq}"), 201, None),
    (lambda: FFN.formula.diagram(X="ℝ^{seq × chans}", expand="FNF"), 201, "did you mean FFN?"),
    (lambda: FFN.formula.diagram("ℝ^{seq × chans}", "ℝ"), 304, None),
    (lambda: FFN.formula.diagram(X="ℝ^{seq}"), 305, None),
    (lambda: nt.program("f(x) = 2 x").diagram(), 206, 'pass it by name: x="ℝ^{seq × chans}"'),
    (
        lambda: nt.program("Y = ∑_{a} [1, 2]_{a}").diagram(),
        206,
        'pass the types of its inputs by name: X="ℝ^{seq × chans}"',
    ),
    (lambda: nt.program("Y = A ⊙_{b} x").diagram(A="ℝ^{a}", x="ℝ^{b}"), 301, None),
]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_what_cannot_be_drawn_is_an_error(case):
    call, number, hint = WRONG[case]
    with pytest.raises(nt.NotationError) as caught:
        call()
    assert caught.value.code == number
    assert hint is None or caught.value.hint == hint


# ------------------------------------------------------------------------------------------------------------- layout
@st.composite
def graphs(draw):
    count = draw(st.integers(1, 12))
    sizes = [(draw(st.floats(5, 120)), draw(st.floats(5, 60))) for _ in range(count)]
    links = []
    for target in range(1, count):
        for source in draw(st.sets(st.integers(0, target - 1), max_size=3)):
            links.append(Link(source, target, draw(st.floats(-5, 5)), draw(st.floats(-5, 5))))
    return sizes, links


@given(graphs())
def test_links_go_down_and_cells_keep_their_distance(graph):
    sizes, links = graph
    diagram_layout = lay_out(sizes, links)
    cells = diagram_layout.cells
    for link in diagram_layout.links:
        stations = [link.source, *link.ways, link.target]
        assert [cells[station].rank for station in stations] == list(
            range(cells[link.source].rank, cells[link.target].rank + 1)
        )
        assert cells[link.source].y + cells[link.source].height <= cells[link.target].y - GAP + 1e-6
        assert (
            not link.ways
            or max(cells[way].x for way in link.ways) - min(cells[way].x for way in link.ways) < 1e-6
            or (crossings_of(diagram_layout) > 0)
        )
    for rank in ranks_of(cells):
        for left, right in zip(rank, rank[1:]):
            assert cells[right].x - cells[left].x >= distance(cells[left], cells[right]) - 1e-6
    assert all(
        cell.x - cell.width / 2 >= -1e-6 and cell.x + cell.width / 2 <= diagram_layout.width + 1e-6 for cell in cells
    )


def crossings_of(layout):
    return count_crossings(ranks_of(layout.cells), [piece for link in layout.links for piece in link.pieces()])


def ranks_of(cells):
    ranks = [[] for _ in range(1 + max(cell.rank for cell in cells))]
    for index, cell in sorted(enumerate(cells), key=lambda pair: pair[1].x):
        ranks[cell.rank].append(index)
    return ranks


def test_a_chain_is_straight_and_what_goes_round_it_too():
    links = [Link(0, 1), Link(1, 2), Link(2, 3), Link(0, 3)]
    diagram_layout = lay_out([(40, 20), (60, 20), (50, 20), (20, 20)], links)
    assert len({round(cell.x, 6) for cell in diagram_layout.cells[:4]}) == 1
    assert len({round(cell.x, 6) for cell in diagram_layout.cells[4:]}) == 1 and len(diagram_layout.cells) == 6


def test_a_crossing_that_need_not_be_is_not():
    diagram_layout = lay_out([(20, 20)] * 4, [Link(0, 3), Link(1, 2)])
    assert crossings_of(diagram_layout) == 0


# ------------------------------------------------------------------------------------------------------- command line
def test_the_command_draws(tmp_path, capsys):
    from namedtensor.cli.commands import main

    path = tmp_path / "y.svg"
    words = [
        "diagram",
        "Y = X + f(X)\nf(t) = 2 t\nZ = 2 Y",
        "X=ℝ^{a × b}",
        "--of",
        "Y",
        "--expand",
        "f",
        "--out",
        str(path),
    ]
    assert main(words) == 0
    tree = ElementTree.parse(path).getroot()
    assert len(list(tree.iter(f"{SVG}rect"))) == 5
    assert main(words[:-2]) == 0
    assert (svg := capsys.readouterr().out).startswith("<svg")
    assert main([*words[:-2], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"svg": svg.removesuffix("\n")}
    assert main(["diagram", "Y = X + W", "X=ℝ^{a}", "--expand", "q"]) == 1


def test_a_diagram_says_in_a_terminal_where_to_look():
    diagram = nt.formula("∑_{a} X").diagram(X="ℝ^{a × b}")
    assert repr(diagram).endswith("a notebook shows it, and save('x.svg') writes it")
