"""The derivatives on the page of layers are those that the formulas have, for drawn tensors."""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.core.warned import silent, warn, warn_of_text

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))

from layers_derived import LAYERS, LOSSES

EXTENTS = {"seq": 5, "chans": 4, "key": 3, "val": 4, "kernel": 2, "hidden": 3, "hidden'": 3, "concat": 8, "heads": 2}

OF_LAYERS = {
    "Y = z'": {"key": 4},
    "Y = MaxPool1d_2(X)": {"seq": 4},
    "Y = MaxPool2d_{2,2}(X)": {"height": 4, "width": 6},
    "Y = o": {"key": 4},
    "Z = Y": {"val": 4},
}
INDICES = {"w"}  # which are whole numbers, counted from 1


def values_of(layer) -> dict[str, nt.NamedTensor]:
    """Tensors for all that a layer takes and is made of."""
    generator = np.random.default_rng(0)
    parameters = nt.parameters(
        layer.text, sizes={"n": EXTENTS["seq"]} if layer is LAYERS["RNN"] else None, **layer.shapes
    )
    shapes = {
        **{name: axes_of(text) for name, text in layer.shapes.items()},
        **{name: axes_of(text) for name, text in parameters.items()},
    }
    extents = {**EXTENTS, **OF_LAYERS.get(layer.value, {})}
    sizes = {name: [extents.get(axis, 2) for axis in axes.split()] for name, axes in shapes.items()}
    arrays = {
        name: generator.integers(1, 3, size) if name in INDICES else generator.normal(size=size)
        for name, size in sizes.items()
    }
    return {name: nt.tensor(array, shapes[name]) for name, array in arrays.items()}


def axes_of(text: str) -> str:
    return " ".join(part.split("[")[0] for part in text.partition("{")[2].rstrip("}").split(" × "))


CASES = [(title, by) for title, layer in LAYERS.items() for by in layer.names]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("title", "by"), CASES, ids=[f"{title} by {by}" for title, by in CASES])
def test_a_derivative_of_a_layer(title, by):
    layer = LAYERS[title]
    values = values_of(layer)
    derivative: Any = nt.derivative(layer.text, by)
    closed, expected = derivative.closed_form(**layer.shapes), derivative(values=values)
    result = nt.evaluate(closed.to_text(), values)
    assert set(result.axes) == set(expected.axes)
    assert nt.allclose(result, expected, rtol=1e-6, atol=1e-9)


def test_ones_of_a_size_that_no_tensor_has_are_not_written():
    layer = LAYERS["Conv1d"]
    with pytest.raises(nt.NotationError, match="1 along seq, whose size no tensor has"):
        asked: Any = nt.derivative(layer.text, "b")
        asked.closed_form(**layer.shapes)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.title)
def test_facts_make_the_gradient_of_a_loss_shorter(loss):
    closed = nt.derivative(loss.text, loss.by).closed_form(**loss.shapes)
    without = nt.derivative(loss.program, loss.by).closed_form(**loss.shapes)
    assert (closed.length < without.length) == bool(loss.facts)
    assert any(step.since for step in closed.steps) or not loss.facts


def is_nonzero(tensor: nt.NamedTensor) -> bool:
    return bool(np.any(np.abs(tensor.to_numpy(tuple(tensor.axes))) > 1e-12))


SECOND = [  # The second derivative of a recurrence is written out for a number of steps.
    (title, first, then)
    for title, layer in LAYERS.items()
    if title != "RNN"
    for first in layer.names
    for then in layer.names
]


@pytest.mark.sampled(48)
@pytest.mark.parametrize(("title", "first", "then"), SECOND, ids=[" by ".join(case) for case in SECOND])
def test_a_second_derivative_of_a_layer_and_each_of_its_steps(title, first, then):
    layer = LAYERS[title]
    values = values_of(layer)
    second: Any = nt.derivative(nt.derivative(layer.text, first), then)
    try:
        closed = second.closed_form(**layer.shapes)
    except nt.NotationError as problem:  # 0, along axes of convolutions and pools whose sizes no tensor has
        assert "whose size no tensor has" in str(problem) and not is_nonzero(second(values=values))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", nt.NotationWarning)
        closed.check(values)
        result = closed(values=values)
    expected = second(values=values)
    assert closed.steps or not is_nonzero(expected)
    assert nt.allclose(result, expected, rtol=1e-6, atol=1e-9)


def test_formulas_of_the_package_give_warnings_about_values():
    with silent(), pytest.warns(nt.NotationWarning, match="a value"):
        warn("a value")
    with warnings.catch_warnings(), silent():
        warnings.simplefilter("error")
        warn_of_text("a text")
    with pytest.warns(nt.NotationWarning, match="a text"):
        warn_of_text("a text")
