"""A wrong axis ends in a check within a bounded number of operations: each axis of the layers, exchanged for another.

NAMEDTENSOR_EXCHANGES=all checks every one of more than 8,000, and a number n checks one in n of each layer, which rotate
(`rotation_seed`); otherwise some are drawn.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import random
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

import namedtensor as nt
import transformer
from grammar import nodes
from grammar.nodes import axis_of
from namedtensor.checking import size_solver
from namedtensor.checking.inferred_sizes import SizeInference
from namedtensor.checking.size_solver import SizeSolver
from namedtensor.layers.layer import Layer
from namedtensor.scope.names import walk
from namedtensor.terms.inference import Inference

from .rotation import rotation_seed

ASKED = os.environ.get("NAMEDTENSOR_EXCHANGES")
MAX_OPERATIONS = 150_000  # pieces typed, sizes searched and size expressions read: about 5 s where nothing else runs
MAX_DRAWN = 150  # exchanges in a normal run


class TooMany(BaseException):
    """No error that a checker could catch."""


@pytest.fixture
def operations(monkeypatch):
    """Count what a check does, and end it where that is too much."""
    count = [0]

    def counted(function):
        def call(*arguments, **named):
            count[0] += 1
            if count[0] > MAX_OPERATIONS:
                raise TooMany
            return function(*arguments, **named)

        return call

    for kind, names in (
        (Inference, ["infer"]),
        (SizeSolver, ["search", "value", "symbols"]),
        (SizeInference, ["sizes"]),
    ):
        for name in names:
            monkeypatch.setattr(kind, name, counted(getattr(kind, name)))
    return count


class Exchange(NamedTuple):
    """An axis of a text, replaced by another of that text."""

    title: str
    text: str
    span: tuple[int, int]
    axis: str

    @property
    def changed(self) -> str:
        return self.text[: self.span[0]] + self.axis + self.text[self.span[1] :]


def subclasses(kind: type[Layer]) -> Iterator[type[Layer]]:
    for other in kind.__subclasses__():
        yield other
        yield from subclasses(other)


@cache
def layers() -> dict[str, str]:
    """The formulas of every layer and model, each with the first that has them."""
    for module in pkgutil.walk_packages(transformer.__path__, "transformer."):
        importlib.import_module(module.name)
    titles: dict[str, str] = {}
    for kind in subclasses(Layer):
        if kind.notation and kind.__module__.startswith("transformer."):
            titles.setdefault(kind.notation, f"{kind.__module__}.{kind.__name__}")
    return titles


def axes_of(text: str) -> dict[tuple[int, int], str]:
    """Each place where an axis stands: in subscripts, and in the shapes of declarations."""
    places: dict[tuple[int, int], str] = {}
    for node in walk(nt.program(text, syntax="text").tree):
        parts = {
            nodes.Axis: lambda node: (node,),
            nodes.Call: lambda node: node.subscript,
            nodes.Subscript: lambda node: node.components,
        }
        for part in parts.get(type(node), lambda node: ())(node):
            axis = part if isinstance(part, nodes.Axis) else axis_of(part)
            if axis is not None and text[axis.span[0] : axis.span[1]] == axis.name:
                places[axis.span] = axis.name
    return places


def exchanges(text: str) -> list[Exchange]:
    places = axes_of(text)
    names = sorted(set(places.values()))
    return [Exchange(layers()[text], text, span, new) for span, old in places.items() for new in names if new != old]


def check(text: str, count: list[int]) -> nt.CheckResult | nt.NotationError:
    """The result of a check, or the error of a text that cannot be read as a program."""
    count[0] = 0
    try:
        return nt.check(text, syntax="text")
    except nt.NotationError as problem:
        return problem


def test_axes_of_layers_are_found():
    assert len(layers()) > 40 and sum(len(exchanges(text)) for text in layers()) > 8000


def checked(exchange: Exchange, operations: list[int]) -> None:
    """Check the text: an error about a size speaks of the axis that was exchanged, or of what stands in its place.

    It may also speak of an axis whose size the text states by one of these.
    """
    report = check(exchange.changed, operations)
    problems = [report] if isinstance(report, nt.NotationError) else [*report.errors]
    for problem in problems[:1]:
        if problem.code in (204, 309):
            axes = {exchange.text[slice(*exchange.span)], exchange.axis}
            sizes = [set(re.findall(r"\|([\w']+)\|", line)) for line in exchange.changed.splitlines()]
            tied = axes.union(*(line for line in sizes if line & axes))
            assert any(axis in str(problem) for axis in tied), problem


@pytest.mark.sampled(3)
@pytest.mark.slow
def test_a_drawn_exchange_ends_soon_and_is_told_of_its_axis(operations):
    draws = random.Random(7)
    for text in draws.choices(list(layers()), k=MAX_DRAWN):
        if some := exchanges(text):
            checked(draws.choice(some), operations)


if ASKED:

    @pytest.mark.parametrize("text", layers(), ids=layers().get)
    def test_every_exchange_ends_soon(text, operations):
        step = 1 if ASKED == "all" else int(ASKED)
        for exchange in exchanges(text)[rotation_seed() % step :: step]:
            checked(exchange, operations)


STATISTICS = """
mean_{ax} X = (1/|ax|) ∑_{ax} X
var_{ax} X = (1/|ax|) ∑_{ax} (X − mean_{AXIS} X)^2
standardize_{ax} X = (X − mean_{ax} X) / √(var_{ax} X + ε)
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("axis", ["key", "val", "heads", "hidden", "seq", "seq'", "vocab"])
def test_a_wrong_axis_in_a_definition_that_a_transformer_uses(axis, operations):
    """The transformer states sizes by each other, |key| = |val| = |layer|/|heads|, so that each search asked for all of them."""
    text = transformer.paper.Transformer.notation
    assert "|layer|/|heads|" in text
    assert nt.check(STATISTICS.replace("AXIS", "ax") + text, syntax="text").ok
    report = check(STATISTICS.replace("AXIS", axis) + text, operations)
    assert report.errors[0].code == 301 and axis in report.errors[0].message


def test_the_searches_for_sizes_are_limited(monkeypatch):
    monkeypatch.setattr(size_solver, "MAX_SEARCHES_PER_PIECE", 0)
    problem = nt.check("Y = |b| ⊙ X\n|b| = |a| + 1", X="ℝ^{a}").errors[0]
    assert problem.code == 404 and problem.span == (4, 7)
    assert problem.message == "inferring |b| exceeds the limit of 0 searches for sizes"
    assert problem.hint == "state the sizes of axes by equations or by sizes=, or raise limits.max_expanded_nodes"


def test_a_size_that_a_call_needs_is_that_of_its_own_axis():
    """The axis of a function is what the call wrote: that is the size to state, and sizes= takes it."""
    text = "Y = max_{down} Every_{down}(x)\nEvery_{kh}(x) = y\ny_{up(i), kh(m)} = x_{height(i + m - 1)} for i = 1, …, |height| - |kh| + 1"
    checked = nt.check(text, syntax="text", x="ℝ^{height}")
    assert checked.ok and "Y : ℝ^{up[-|down| + |height| + 1]}" in str(checked)
    x = nt.tensor([3.0, 1.0, 4.0, 1.0, 5.0], "height")
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, syntax="text", x=x)
    assert caught.value.axis == "down" and caught.value.notes == ("kh is down in this call",)
    assert caught.value.hint == "pass it: sizes={'down': 3}"
    assert nt.evaluate(text, syntax="text", x=x, sizes={"down": 3}).to_numpy("up").tolist() == [4, 4, 5]


@pytest.mark.slow
def test_sizes_that_follow_from_each_other_stay_within_the_limit(operations):
    lines = [f"Y_{{{k}}} = [Y_{{{k - 1}}}]_{{a_{k - 1}→a_{k}}} / |a_{k}|" for k in range(1, 120)]
    value = nt.evaluate("\n".join(["Y_0 = [1, 2]_{a_0}", *lines, "2^{119} ∑_{a_119} Y_{119}"]))
    assert float(value) == 3
