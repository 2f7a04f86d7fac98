"""Types for sizes between those that were checked: the same as a check of their own finds."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.backends.function import PlanFunction
from namedtensor.core.collection import collection_paused
from namedtensor.programs import generic_types, lengths
from namedtensor.programs.generic_types import KnownTypes, flat
from namedtensor.programs.program import EntryPoint
from namedtensor.terms.terms import topological

PROGRAMS = {
    "a mask": "Y = softmax_{seq}((X ⊙_{chans} X_{seq→query}) / √|chans| + M) ⊙_{seq} X\nM_{query(i), seq(j)} = { 0 if j ≤ i; −∞ otherwise }",
    "places": "Y_{seq(i)} = { X_{seq(i)} if i = |seq|; X_{seq(i+1)} if i < |seq| }",
    "numbers of a size": "Y = X / √|seq| + |seq|^2 X - 1/|seq|",
    "a recurrence": "h^0 = 0\nh^t = tanh(h^{t-1} + X_{seq(t)}) for t = 1, …, |seq|\nY = h^{|seq|}",
    "layers": "X^0 = X\nX^l = X^{l-1} + tanh(standardize_{seq}(X^{l-1}) ⊙_{chans} W^l)_{chans'→chans} for l = 1, …, 8\nY = X^8",
    "a merged axis": "Y = X_{(seq,chans)→flat}",
    "a claim": "Y = X\nX ∈ ℝ^{seq[n] × chans}\nY ∈ [n]^{seq × chans}",
}
ORDERS = [
    (80, 100, 90, 3, 2, 1, 85, 300, 5000, 299, 64, 63),
    (1, 2, 3, 9, 8, 7, 512, 513, 36, 31),
    (127, 1000, 65, 66, 900, 70, 2),
]
SQUARE = nt.tensor(np.eye(4), "chans chans'")


def types(text: str, length: int):
    """The types of a program for a length, by a check."""
    entry = nt.program(text)["Y"]
    given: dict[str, Any] = {f"W^{k}": SQUARE for k in range(1, 9)} if "W^l" in text else {}
    bound = entry._bound((), {"X": nt.tensor(np.broadcast_to(0.0, (length, 4)), "seq chans"), **given})
    return entry._typed(bound, {}, (*given, "X"))


def shown(typed) -> list[str]:
    """All terms, with their places for their numbers."""
    order = topological(*typed.roots)
    place = {id(term): number for number, term in enumerate(order)}
    return [
        f"{each.operator} {[place[id(it)] for it in each.arguments]} {each.axes} {each.shape} {flat_options(each.options)}" for each in order
    ]  # fmt: skip


def flat_options(options: tuple[Any, ...]) -> str:
    loops = [each for each in options if isinstance(each, generic_types.Loop)]
    inner = [(each.axis, each.steps, [str(term.shape) for term in topological(*each.results)]) for each in loops]
    return f"{inner} {[each for each in options if each not in loops]}"


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_types_between_are_those_that_a_check_finds(text, order):
    known, served = KnownTypes(), 0
    for length in order:
        checked, found = types(text, length), known.at(length)
        if found is None:
            known.note(length, checked)
            continue
        served += 1
        assert shown(found) == shown(checked)
        assert flat(found) == flat(checked)
    assert served >= 2 or "h^t" in text


def test_what_has_no_law_is_checked_for_each():
    known = KnownTypes()
    for length in range(3, 12):  # each has as many terms as steps
        assert known.at(length) is None
        known.note(length, types(PROGRAMS["a recurrence"], length))


def test_sizes_between_which_another_is_otherwise_are_checked():
    known = KnownTypes()
    for length in (70, 20, 90, 80, 10):
        known.note(length, types(PROGRAMS["a recurrence"], length))
    assert known.at(85) is not None and known.at(50) is None
    known.note(60, types(PROGRAMS["a recurrence"], 60))
    assert known.at(65) is None


def test_one_look_far_beyond_tells_the_types_of_all_before_it(monkeypatch):
    checks, typed = [], EntryPoint._typed

    def noted(self, given, *rest):
        checks.append(given.values["X"].sizes["seq"])
        return typed(self, given, *rest)

    monkeypatch.setattr(EntryPoint, "_typed", noted)
    monkeypatch.setattr(lengths, "STEPS", 0)
    entry = nt.program(PROGRAMS["a mask"])["Y"]
    for length in (50, 40, 60, 100, 300, 700, 20, 1000, 10, 9, 8):
        entry(X=nt.tensor(np.ones((length, 4)), "seq chans"))
    assert checks == [50, 40, 60, 100 * generic_types.FAR, 2]


def test_a_size_that_is_refused_far_beyond_is_checked_itself(monkeypatch):
    monkeypatch.setattr(lengths, "STEPS", 0)
    text = PROGRAMS["a recurrence"]  # of which so many steps are refused
    entry = nt.program(text)["Y"]
    for length in (100, 120, 140, 20_000):
        x = nt.tensor(np.linspace(0, 1, length), "seq")
        assert np.allclose(entry(X=x).array, nt.evaluate(text, X=x).array)


@pytest.mark.parametrize("last, own", [(43, 5), (60, 6)])
def test_a_size_beyond_is_planned_where_sizes_grow_and_is_not_compiled(last, own, monkeypatch):
    made, compiled = [], []
    init, compile = PlanFunction.__init__, PlanFunction.compile
    monkeypatch.setattr(PlanFunction, "__init__", lambda self, *given: made.append(self) or init(self, *given))
    monkeypatch.setattr(PlanFunction, "compile", lambda self: compiled.append(self) or compile(self))
    monkeypatch.setattr(lengths, "STEPS", 0)
    entry = nt.program("Y = softmax_{seq}(X) + X")["Y"]
    for length in (20, 30, 40, 41, 42, last):
        entry(X=nt.tensor(np.ones(length), "seq"))
    assert (
        len(made) == 6 and compiled == made[:own]
    )  # where 43 follows 40, 41 and 42, the sixth is that of a size beyond it


def test_collections_are_paused_for_all_threads_and_as_they_were_afterwards():
    assert gc.isenabled()
    inside, leave = threading.Event(), threading.Event()

    def other():
        with collection_paused():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with collection_paused():
        thread.start()
        inside.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()
    gc.disable()
    try:
        with collection_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
