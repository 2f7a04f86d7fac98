"""Tensors as pictures: what is drawn where, what stands beside it, and what is said where nothing can be drawn."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.layers.attention_maps import attention_maps
from transformer import GPT2

pytest.importorskip("matplotlib", reason="matplotlib draws the pictures")

A = nt.tensor(np.arange(24.0).reshape(2, 3, 4), "heads seq memory")
SIGNED = nt.tensor([[-1.0, 0.5], [0.0, 2.0]], "a b")


def panels(picture):
    """The panels that show numbers, with those."""
    return [panel for panel in picture.figure.axes if panel.images]


def drawn(picture):
    return [np.asarray(panel.images[0].get_array()) for panel in panels(picture)]


def beside(side):
    return [label.get_text() for label in side.get_ticklabels()]


# ---------------------------------------------------------------------------------------------------- what goes where
@pytest.mark.parametrize(
    ("asked", "order"),
    [
        ({}, "heads seq memory"),
        ({"rows": "seq", "columns": "memory"}, "heads seq memory"),
        ({"rows": "memory", "columns": "seq"}, "heads memory seq"),
        ({"columns": "heads"}, "seq memory heads"),
        ({"facets": "memory"}, "memory heads seq"),
    ],
)
def test_rows_columns_and_panels_are_the_axes_asked_for(asked, order):
    heatmap = nt.heatmap(A, **asked)
    want = A.to_array(order)
    assert len(panels(heatmap)) == len(want)
    for got, array in zip(drawn(heatmap), want):
        np.testing.assert_array_equal(got, array)
    outer, rows, columns = order.split()
    first, last = panels(heatmap)[0], panels(heatmap)[-1]
    assert (first.get_ylabel(), last.get_xlabel()) == (rows, columns)
    assert [panel.get_title("left") for panel in panels(heatmap)] == [f"{outer} {n + 1}" for n in range(len(want))]


def test_panels_that_do_not_fill_their_grid():
    heatmap = nt.heatmap(nt.tensor(np.arange(30.0).reshape(5, 2, 3), "heads seq memory"))
    assert len(panels(heatmap)) == 5
    assert [panel.get_visible() for panel in heatmap.figure.axes[:6]] == [True] * 5 + [False]


def test_one_number_has_no_color_scale():
    assert len(nt.heatmap(nt.tensor([[3.0]], "a b")).figure.axes) == 1
    assert len(nt.heatmap(nt.tensor([[3.0, 4.0]], "a b")).figure.axes) == 2


def test_a_picture_has_a_title_and_is_saved_without_an_extension(tmp_path):
    heatmap = nt.heatmap(SIGNED, title="The scores")
    assert heatmap.figure.get_suptitle() == "The scores"
    heatmap.save(tmp_path / "scores")
    assert (tmp_path / "scores.png").read_bytes()[:4] == b"\x89PNG"


def test_the_order_of_storage_changes_nothing_that_is_asked_for():
    turned = nt.tensor(A.to_array("memory heads seq"), "memory heads seq")
    for one, other in zip(drawn(nt.heatmap(A)), drawn(nt.heatmap(turned, rows="seq", columns="memory"))):
        np.testing.assert_array_equal(one, other)


def test_axes_of_size_one_are_left_out_unless_asked_for():
    one = nt.tensor(np.ones((1, 2, 3)), "batch a b")
    assert [panel.get_title("left") for panel in panels(nt.heatmap(one))] == [""]
    assert [panel.get_title("left") for panel in panels(nt.heatmap(one, facets="batch"))] == ["batch 1"]


def test_a_vector_is_a_row():
    (panel,) = panels(nt.heatmap(nt.tensor([1.0, 2.0, 3.0], "seq")))
    assert panel.get_xlabel() == "seq" and beside(panel.xaxis) == ["1", "2", "3"] and not beside(panel.yaxis)


@pytest.mark.parametrize(
    ("tensor", "ends"), [(SIGNED, (-2, 2)), (A, (0, 23)), (nt.tensor([[0.0, 0.0]], "a b"), (0, 1)),
                         (nt.tensor([[True, False]], "a b"), (0, 1)),
                         (nt.tensor([[-np.inf, np.nan, 3.0]], "a b"), (0, 3))]
)  # fmt: skip
def test_zero_is_the_color_of_the_page(tensor, ends):
    image = panels(nt.heatmap(tensor))[0].images[0]
    assert image.get_clim() == ends
    assert image.to_rgba(np.array([[0.0]]))[0, 0, 3] < 0.01


# -------------------------------------------------------------------------------------------------------------- labels
def test_labels_stand_at_the_left_and_at_the_bottom_as_they_are():
    words = ["the", "$\\frac$", "<b>&"]
    heatmap = nt.heatmap(A, rows="seq", columns="memory", labels={"seq": words, "heads": ["left", "right"]})
    assert beside(panels(heatmap)[0].yaxis) == words
    assert [panel.get_title("left") for panel in panels(heatmap)] == ["left", "right"]
    assert beside(panels(heatmap)[0].xaxis) == ["1", "2", "3", "4"]
    svg = heatmap.to_svg()
    ElementTree.fromstring(svg)
    assert "$\\frac$" in svg and "&lt;b&gt;&amp;" in svg


def test_control_characters_and_any_script_can_be_labels():
    heatmap = nt.heatmap(nt.tensor([[1.0, 2.0, 3.0]], "a b"), labels={"b": ["\x1b[31m", "日本", "Ġthe"]})
    ElementTree.fromstring(heatmap.to_svg())
    assert "\x1b" not in heatmap.to_svg() and "日本" in heatmap.to_svg()


def test_of_many_elements_some_are_numbered():
    (panel,) = panels(nt.heatmap(nt.tensor(np.ones((3, 200)), "a b")))
    assert beside(panel.xaxis)[:3] == ["1", "10", "20"] and beside(panel.xaxis)[-1] == "200"


# --------------------------------------------------------------------------------------------------------- as a file
def test_a_page_shows_it_in_its_own_ink():
    page = nt.heatmap(A)._repr_html_()
    tree = ElementTree.fromstring(page)
    assert tree.tag == "div" and "currentColor" in page and nt.heatmap(A).to_svg().count("currentColor") == 0


def test_the_same_tensor_is_the_same_svg():
    assert nt.heatmap(A).to_svg() == nt.heatmap(A).to_svg()


@pytest.mark.parametrize(("name", "begins"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_it_is_saved_as_the_name_says(tmp_path, name, begins):
    nt.heatmap(A).save(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_what_cannot_be_written_is_said(tmp_path):
    for position in (tmp_path / "nowhere" / "a.png", tmp_path / "a.formula"):
        with pytest.raises(nt.NotationError) as caught:
            nt.heatmap(A).save(position)
        assert caught.value.code == 409


# -------------------------------------------------------------------------------------------------------------- errors
WRONG = [
    (lambda: nt.heatmap(A, rows="sqe"), 301, "did you mean seq?"),
    (lambda: nt.heatmap(A, rows="seq", columns="seq"), 303, None),
    (lambda: nt.heatmap(nt.tensor(3.0)), 316, None),
    (lambda: nt.heatmap(A, labels={"seq": ["a"]}), 317, "pass one label for each element"),
    (lambda: nt.heatmap(A, labels={"sqe": ["a"]}), 301, "did you mean seq?"),
    (lambda: nt.heatmap(nt.tensor([[1j]], "a b")), 405, None),
    (lambda: nt.heatmap(nt.tensor(np.ones((0, 2)), "a b")), 405, None),
    (lambda: nt.heatmap(nt.tensor(np.ones((65, 1, 1)), "a b c"), facets="a", rows="b", columns="c"), 404,
     'take one element of an axis: A[{"a": 0}]'),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_what_cannot_be_drawn_is_an_error(case):
    call, number, hint = WRONG[case]
    with pytest.raises(nt.NotationError) as caught:
        call()
    assert caught.value.code == number
    assert hint is None or caught.value.hint == hint


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(nt.NotationError) as caught:
        nt.heatmap(A)
    assert (caught.value.code, caught.value.hint) == (408, "pip install '.[pictures]'")


# ------------------------------------------------------------------------------------------------------- attention maps
SIZES = {"L": 2, "chans": 8, "heads": 3, "key": 2, "val": 2, "hidden": 8, "vocab": 10, "place": 6}
MODEL = GPT2.init(seed=1, sizes=SIZES)
IDS = nt.tensor([[3, 1, 4], [1, 5, 9]], "batch seq")


@pytest.mark.parametrize("of", [0, 1])
def test_a_head_is_a_panel_and_its_rows_sum_to_one(of):
    tokens = ["<s>", "cat", "sat"]
    picture = attention_maps(MODEL, IDS, tokens=tokens, name="A^2", of={"batch": of})
    want = MODEL.evaluate("A^2", IDS)[{"batch": of}].to_array("heads seq memory")
    assert len(drawn(picture)) == 3
    for got, array in zip(drawn(picture), want):
        np.testing.assert_allclose(got, array, rtol=1e-12)
        np.testing.assert_allclose(got.sum(1), 1)
        assert np.all(got[np.triu_indices(3, 1)] == 0)
    assert beside(panels(picture)[0].yaxis) == beside(panels(picture)[-1].xaxis) == tokens


def test_the_wrong_number_of_tokens_is_an_error():
    with pytest.raises(nt.NotationError) as caught:
        attention_maps(MODEL, IDS, tokens=["a", "b"], of={"batch": 0})
    assert caught.value.code == 317


def test_a_single_sentence_needs_no_batch():
    picture = attention_maps(MODEL, IDS[{"batch": 0}])
    assert len(panels(picture)) == 3
    assert panels(picture)[0].get_ylabel() == "seq" and panels(picture)[-1].get_xlabel() == "memory"
