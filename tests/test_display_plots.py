"""Line plots and histograms: what is a line, a panel, a bar; labels; and what cannot be drawn."""

import sys

import numpy as np
import pytest

import namedtensor as nt

pytest.importorskip("matplotlib", reason="matplotlib draws the pictures")

RANDOM = np.random.default_rng(2)
A = nt.tensor(RANDOM.normal(size=(2, 3, 5)), "model rate epoch")


def panels(picture):
    return [panel for panel in picture.figure.axes if panel.get_visible() and panel.get_label() != "<colorbar>"]


def lines(panel):
    return np.array([line.get_ydata() for line in panel.lines])


def texts(picture):
    legend = picture.figure.legends[0]
    return legend.get_title().get_text(), [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize(
    "asked, order",
    [
        ({}, "model rate epoch"),
        ({"along": "rate"}, "model epoch rate"),
        ({"along": "epoch", "lines": "model"}, "rate model epoch"),
        ({"panels": "epoch"}, "epoch model rate"),
        ({"lines": "epoch"}, "model epoch rate"),
    ],
)
def test_axes_of_a_line_plot(asked, order):
    picture = nt.lineplot(A, **asked)
    array = A.to_array(order)
    assert len(panels(picture)) == len(array)
    for panel, expected in zip(panels(picture), array):
        np.testing.assert_array_equal(lines(panel), expected)
        np.testing.assert_array_equal(panel.lines[0].get_xdata(), np.arange(1, array.shape[-1] + 1))
    outer, inner, _ = order.split()
    assert texts(picture) == (inner, [str(n + 1) for n in range(array.shape[1])])
    assert [panel.get_title("left") for panel in panels(picture)] == [f"{outer} {n + 1}" for n in range(len(array))]


def test_labels_are_coordinates_words_and_names_of_lines():
    labels = {"epoch": [0, 10, 20, 40, 80], "rate": ["a", "$b", "c"], "model": ["GPT-2", "BERT"]}
    picture = nt.lineplot(A, labels=labels, title="loss", ylabel="y")
    first = panels(picture)[0]
    assert list(first.lines[0].get_xdata()) == labels["epoch"] and texts(picture)[1] == labels["rate"]
    assert [panel.get_title("left") for panel in panels(picture)] == labels["model"]
    one = nt.lineplot(A[{"model": 0, "rate": 0}], labels={"epoch": list("abcde")}, ylabel="loss")
    assert [tick.get_text() for tick in panels(one)[0].get_xticklabels()] == list("abcde")
    assert panels(one)[0].get_xlabel() == "epoch" and panels(one)[0].get_ylabel() == "loss" and not one.figure.legends


def test_many_lines_have_a_color_bar():
    picture = nt.lineplot(nt.tensor(RANDOM.normal(size=(20, 7)), "phase time"))
    assert not picture.figure.legends and len(picture.figure.axes) == 2
    assert picture.figure.axes[1].get_title() == "phase"


def test_gaps_where_numbers_are_missing():
    panel = panels(nt.lineplot(nt.tensor([1.0, np.nan, 3.0], "a")))[0]
    assert np.isnan(lines(panel)[0][1])


@pytest.mark.parametrize(
    "asked", [{}, {"by": "rate"}, {"panels": "model"}, {"by": "rate", "panels": "model"}, {"bins": 4}]
)
def test_bars_count_all_elements(asked):
    picture = nt.histogram(A, **asked)
    heads = [1 if name not in asked else A.sizes[asked[name]] for name in ("panels", "by")]
    assert len(panels(picture)) == heads[0]
    for panel in panels(picture):
        outlines = [patch for patch in panel.patches if not patch.get_fill()]
        assert len(outlines) == heads[1]
        for patch in outlines:
            heights = patch.get_data().values
            assert heights.sum() == 30 // heads[0] // heads[1]
            assert "bins" not in asked or len(heights) == 4
            assert heights.max() <= panel.get_ylim()[1]


def test_a_histogram_is_numpys():
    patch = [patch for patch in panels(nt.histogram(A, bins=6))[0].patches if not patch.get_fill()][0]
    heights, edges = np.histogram(A.array, 6)
    np.testing.assert_array_equal(patch.get_data().values, heights)
    np.testing.assert_allclose(patch.get_data().edges, edges)


def test_elements_that_are_not_finite_are_counted_and_not_drawn():
    picture = nt.histogram(nt.tensor([1.0, 2.0, np.nan, np.inf], "a"))
    assert [text.get_text() for text in picture.figure.texts] == ["2 not finite"]


WRONG = [
    (lambda: nt.lineplot(A, along="epohc"), 301, "did you mean epoch?"),
    (lambda: nt.lineplot(A, along="rate", lines="rate"), 303, "used twice"),
    (lambda: nt.lineplot(nt.tensor(1.0, ())), 316, "print the number"),
    (lambda: nt.lineplot(nt.tensor(np.zeros((100, 2)), "a b")), 404, "100 lines"),
    (lambda: nt.lineplot(nt.tensor(np.zeros((100, 2, 2)), "a b c")), 404, "100 panels"),
    (lambda: nt.lineplot(A, labels={"rate": ["a"]}), 317, "3 elements, got 1 label"),
    (lambda: nt.lineplot(nt.tensor([1j], "a")), 405, "real numbers"),
    (lambda: nt.histogram(A, by="rat"), 301, "did you mean rate?"),
    (lambda: nt.histogram(A, by="rate", panels="rate"), 303, "used twice"),
    (lambda: nt.histogram(nt.tensor([np.nan], "a")), 405, "finite"),
    (lambda: nt.histogram(nt.tensor(np.zeros((9, 2)), "a b"), by="a"), 404, 'panels="a"'),
    (lambda: nt.histogram(A, bins=0), None, "bins="),
    (lambda: nt.histogram(nt.tensor(np.zeros((0,)), "a")), 405, "nothing to draw"),
]


@pytest.mark.parametrize("draw, code, message", WRONG)
def test_what_cannot_be_drawn_is_a_sentence(draw, code, message):
    with pytest.raises(nt.NotationError) as caught:
        draw()
    assert message in str(caught.value) and code in (None, caught.value.code)


@pytest.mark.slow
@pytest.mark.parametrize("extension", ["svg", "png", "pdf"])
def test_a_plot_is_written(tmp_path, extension):
    path = tmp_path / f"plot.{extension}"
    nt.lineplot(A).save(path)
    assert path.stat().st_size > 1000
    assert nt.histogram(A)._repr_html_().startswith("<div")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for draw in (nt.lineplot, nt.histogram):
        with pytest.raises(nt.NotationError, match="matplotlib is not installed"):
            draw(A)
