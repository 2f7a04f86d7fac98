"""Models at lengths that are new to them, in any order: what a plan of its own gives, and as few checks and plans as may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import namedtensor as nt
import transformer
from benchmarks.growth import GPT2, LLAMA, SIZES, calls_of
from namedtensor.programs import sizes_used
from namedtensor.programs.program import EntryPoint, EntryPoints
from transformer.core.layer import variant

LAYERS = 8  # a loop
LENGTHS = (31, 36, 1, 64, 2, 3, 300, 7, 8, 9, 63, 65, 127, 513, 40, 512, 66)
OTHER = (2, 512, 40, 39, 41, 1, 3, 36, 8, 9, 7, 65, 64, 63)
MADE = {
    kind: getattr(transformer, kind).init(0, {**SIZES, **sizes, "L": LAYERS}, "float32")
    for kind, sizes in {"Llama": LLAMA, "GPT2": GPT2 | {"place": 600}}.items()
}


def anew(model):
    """A model's value by a program that nobody has called."""
    return variant.__wrapped__(model.notation, model.definitions, model.without)[model.value]


def tensor(library: str, numbers: Any, axes: str):
    if library == "torch":
        numbers = pytest.importorskip("torch").asarray(numbers)
    return nt.tensor(numbers, axes)


def given(library: str, length: int, batch: int | None = None, masked: bool = False) -> dict[str, Any]:
    shape, axes = ((length,), "seq") if batch is None else ((batch, length), "batch seq")
    tokens = {"ids": tensor(library, np.arange(np.prod(shape)).reshape(shape) % 7, axes)}
    return tokens | ({"mask": tensor(library, np.ones(shape, np.int64), axes)} if masked else {})


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
    for each in inputs:
        named = given(library, *each)
        found, own = (it(values=values | named, sizes=model.sizes) for it in (entry, anew(model)))
        assert found.axes == own.axes and np.array_equal(np.asarray(found.array), np.asarray(own.array)), each


@pytest.mark.parametrize("kind", MADE)
def test_a_model_is_checked_for_five_lengths_at_most(kind, monkeypatch):
    checked, typed = [], EntryPoint._typed
    monkeypatch.setattr(EntryPoint, "_typed", lambda self, *rest: checked.append(rest) or typed(self, *rest))
    entry, model = anew(MADE[kind]), MADE[kind]
    for length in (31, 36, 1, 2, 64, 3, 127, 300, 7, 8, 9, 63, 65, 33, 50):
        entry(values=model.parameters | given("numpy", length), sizes=model.sizes)
    assert len(checked) <= 5


def test_a_later_length_costs_a_part_of_the_calls_that_the_second_did():
    entry, model = anew(MADE["Llama"]), MADE["Llama"]

    def cost(length: int) -> int:
        return calls_of(lambda: entry(values=model.parameters | given("numpy", length), sizes=model.sizes))

    _, second, *_ = map(cost, (31, 36, 1, 200))
    later = [cost(length) for length in (2, 3, 64, 100, 50, 52, 51, 90)]
    assert max(later) < second * 2 / 3 and min(later) < second / 10


def test_prompts_of_new_lengths_are_served(monkeypatch):
    made: list[Any] = []
    plans = EntryPoints._made
    monkeypatch.setattr(EntryPoints, "_made", lambda self, *rest: made.append(rest) or plans(self, *rest))
    model = transformer.GPT2.init(1, {**SIZES, **GPT2, "place": 600, "L": LAYERS}, "float32")
    for length in (20, 30, 25, 21):
        model.generate(nt.tensor(np.arange(length) % 7, "seq"), max_new_tokens=3)
    before = len(made)
    for length in (22, 23, 26, 28):
        model.generate(nt.tensor(np.arange(length) % 7, "seq"), max_new_tokens=3)
    assert len(made) == before


@pytest.mark.parametrize(
    ("text", "decides"),
    [
        ("n = |seq| - 1\nX / n", False), ("n = |seq| - 1\n{ X if n > 40; 2 X otherwise }", False),
        ("n = |seq|\nm = n + 1\nX_{seq(m - 1)}", False), ("|memory| = |seq| + n\nn = |memory| - 1\nX_{seq(1)}", False),
        ("n = |seq| - 1\ncos(n) X", True), ("n = |seq|\nm = n + 1\nX^m", True), ("n = |seq|\n{ X if n = 44; 2 X otherwise }", True),
        ("n = |seq|\nk = n n\nX k", True), ("n = |seq| - 1\nn n n X", True),
    ],
)  # fmt: skip
def test_a_name_for_a_size_is_used_as_the_size_is(text, decides):
    assert sizes_used.says_sizes(nt.program(text)._goal.program.scope, {"seq"}) == decides
