"""Models at lengths that are new to them, in any order: what a plan of its own gives, without a plan for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import namedtensor as nt
import transformer
from benchmarks.growth import GPT2, LLAMA, SIZES, calls_of
from namedtensor.layers.layer_calls import variant
from namedtensor.programs.entry_points import EntryPoints
from namedtensor.programs.program import EntryPoint

LAYERS = 8  # a loop
LENGTHS = (31, 36, 1, 64, 2, 3, 300, 7, 8, 9, 63, 65, 127, 513, 40, 512, 66)
OTHER = (2, 512, 40, 39, 41, 1, 3, 36, 8, 9, 7, 65, 64, 63)
MADE = {
    kind: getattr(transformer, kind).init(0, {**SIZES, **sizes, "L": LAYERS}, "float32")
    for kind, sizes in {"Llama": LLAMA, "GPT2": GPT2 | {"place": 600}}.items()
}


def anew(model):
    """A model's value by a program that nobody has called."""
    return variant.__wrapped__(model.notation, model.definitions, model.removed)[model.output]


def tensor(library: str, numbers: Any, axes: str):
    if library == "torch":
        numbers = pytest.importorskip("torch").asarray(numbers)
    return nt.tensor(numbers, axes)


def given(library: str, length: int, batch: int | None = None, masked: bool = False) -> dict[str, Any]:
    shape, axes = ((length,), "seq") if batch is None else ((batch, length), "batch seq")
    tokens = {"ids": tensor(library, np.arange(np.prod(shape)).reshape(shape) % 7, axes)}
    return tokens | ({"mask": tensor(library, np.ones(shape, np.int64), axes)} if masked else {})


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize(
    ("kind", "inputs"),
    [
        ("Llama", [(n,) for n in LENGTHS]),
        ("GPT2", [(n,) for n in OTHER]),
        ("Llama", [(n, None, True) for n in OTHER if n < 100]),
        ("GPT2", [(9, n) for n in (2, 3, 1, 4, 9, 7, 5, 6)]),
        ("GPT2", [(n, 2, True) for n in (5, 9, 7, 1, 2, 3, 8, 30)]),
    ],
    ids=["lengths", "other lengths", "with a mask", "batches", "with a mask in a batch"],
)
def test_a_length_gives_what_a_plan_of_its_own_gives(kind, inputs, library):
    pytest.importorskip(library)
    model = MADE[kind] if library == "numpy" else MADE[kind].to(library)
    entry, values = anew(model), model.parameters
    for input_ in inputs:
        named = given(library, *input_)
        result, local = (it(values=values | named, sizes=model.sizes) for it in (entry, anew(model)))
        assert result.axes == local.axes and result.dtype == local.dtype, input_
        np.testing.assert_allclose(
            np.asarray(result.array), np.asarray(local.array), rtol=1e-4, atol=1e-4, err_msg=str(input_)
        )


MOST_CALLS = 1000  # of Python functions, for a length from the third on


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("kind", MADE)
def test_a_later_length_costs_few_calls_and_no_plan(kind, library, monkeypatch):
    pytest.importorskip(library)
    checked, typed = [], EntryPoint._typed
    monkeypatch.setattr(EntryPoint, "_typed", lambda self, *rest: checked.append(rest) or typed(self, *rest))
    model = MADE[kind] if library == "numpy" else MADE[kind].to(library)
    entry, values = anew(model), model.parameters

    def cost(length: int) -> int:
        named = given(library, length)
        return calls_of(lambda: entry(values=values | named, sizes=model.sizes))

    for length in (31, 36):
        cost(length)
    before = len(checked)
    later = [cost(length) for length in (33, 50, 63, 17, 40, 16, 20)]  # of the same factor of 4
    assert len(checked) == before <= 3
    assert max(later) <= MOST_CALLS, later


def test_each_factor_of_four_has_one_plan(monkeypatch):
    checked, typed = [], EntryPoint._typed
    monkeypatch.setattr(EntryPoint, "_typed", lambda self, *rest: checked.append(rest) or typed(self, *rest))
    entry, model = anew(MADE["Llama"]), MADE["Llama"]
    for length in (31, 36, 1, 2, 64, 3, 127, 300, 7, 8, 9, 63, 65, 33, 50, 100, 200, 255, 4, 5, 6):
        entry(values=model.parameters | given("numpy", length), sizes=model.sizes)
    assert len(checked) <= 1 + 5  # of numbers, and for 1-3, 4-15, 16-63, 64-255, 256-1023


def test_prompts_of_new_lengths_are_served(monkeypatch):
    result: list[Any] = []
    plans = EntryPoints._made
    monkeypatch.setattr(EntryPoints, "_made", lambda self, *rest: result.append(rest) or plans(self, *rest))
    model = transformer.GPT2.init(1, {**SIZES, **GPT2, "place": 600, "L": LAYERS}, "float32")
    for length in (20, 30, 25, 21):
        model.generate(nt.tensor(np.arange(length) % 7, "seq"), max_new_tokens=3)
    before = len(result)
    for length in (22, 23, 26, 28):
        model.generate(nt.tensor(np.arange(length) % 7, "seq"), max_new_tokens=3)
    assert len(result) == before
