"""Programs are drawn and computed in every way; what each way gives is what an evaluator of its own says.

NAMEDTENSOR_DRAWS_SECONDS says for how long to draw, NAMEDTENSOR_DRAWS_SEED from where; by default a few programs are drawn,
the same each time. `python tests/differential.py 10000` draws many and tells how far it is.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import differential
import drawn_not_finite
import drawn_sight
import drawn_terms
import drawn_tree
import own_evaluator
import pytest
from drawn_programs import constructs, draw
from drawn_tree import Input, Program, Term
from drawn_windows import difference_beside_windows
from known_faults import KNOWN

import namedtensor as nt
from namedtensor.calculus import derivative as calculus
from namedtensor.checking import lifting
from namedtensor.operators import REGISTRY
from namedtensor.planning import whole_numbers
from namedtensor.programs import evaluate

SECONDS = float(os.environ.get("NAMEDTENSOR_DRAWS_SECONDS", "0"))
SEED = int(os.environ.get("NAMEDTENSOR_DRAWS_SEED", "0"))
DRAWS = 30


@pytest.mark.slow
def test_every_way_gives_what_the_definitions_say():
    seeds = itertools.count(SEED) if SECONDS else range(SEED, SEED + DRAWS)
    done = differential.run(seeds, SECONDS or None, progress=bool(SECONDS))
    print(f"{done.draws} draws, {done.fit} fit, {sum(done.taken.values())} results")
    assert not done.found, "\n\n".join(done.found)
    assert done.fit > 0.6 * done.draws, done.unfit


# ------------------------------------------------------------------------------------------------------------- coverage
TIMES = 3
DRAWN = 2000
FORMS = set(drawn_tree.WRITTEN)
OPERATORS = {
    *drawn_terms.ONE_NUMBER, *drawn_terms.GUARDED, *drawn_tree.RELATIONS, *drawn_terms.REDUCTIONS, *"+−⊙·/∧∨¬",
    *"max min pow clip where softmax logsoftmax argmax argmin standardize cumsum cumprod sort any all odd even".split(),
    *"concat stack unroll pool maxk argmaxk onehot iota ones I".split(),
}  # fmt: skip
DTYPES = {*drawn_sight.FLOATS, *drawn_sight.WHOLE, "bool", "int", "float"}
STATEMENTS = {
    "Definition", "Elements", "Family", "Function", "claim", "function over axes", "function without signature",
    "family in a function", "definition in a function", "family of parameters", "lifted call", "lifted input",
    "second derivative", "long family", "size of what is made",
}  # fmt: skip
NOT_YET = {"slice": "slices"}  # a form, and what it waits for


@pytest.fixture(scope="module")
def drawn() -> Counter:
    counter: Counter = Counter()
    for seed in range(DRAWN):
        counter.update(constructs(draw(seed)).keys())
    return counter


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [FORMS, OPERATORS, DTYPES, STATEMENTS], ids=["forms", "operators", "dtypes", "statements"]
)
def test_every_construct_is_drawn(drawn, kind):
    missing = {item: drawn[item] for item in kind if drawn[item] < TIMES and NOT_YET.get(item) not in KNOWN}
    assert not missing


def test_every_built_in_is_drawn_or_left_out_for_a_reason(drawn):
    """A new operator is to be drawn too."""
    left_out = {
        "det",
        "inv",
        "trace",
        "cofactors",
        "logdet",
        "solve",
        "diag",
        "cholesky",
        "eigvalsh",
        "eigh",
        "expm",
    }  # matrices are drawn ill-conditioned
    left_out |= {"arcsin", "arccos", "log1p"}  # of numbers within bounds
    left_out |= {"uniform"}  # of whole numbers: any rounding of another makes another draw
    left_out |= {
        "ln",
        "round",
        "mod",
        "argsort",
        "cummax",
        "cummin",
        "median",
        "quantile",
        *("isnan", "fillna", "nansum", "nanmean", "nanmin", "nanmax", "nanvar", "nanstd"),
    }  # others under another name, and steps
    written = {
        "⊕": "concat",
        "negative": "negative",
        "juxtaposed": "juxtaposed",
        "index": "index",
        "^": "power",
        "-": "−",
    }
    names = {written.get(record.name, record.name) for record in REGISTRY.values()} - left_out
    assert not {name for name in names if not drawn[name]}


# --------------------------------------------------------------------------------------- the harness notices what is wrong
def lowered_as(name: str, other: str) -> Callable[[Any], None]:
    """An operator computed as another."""
    return lambda patch: set_record(patch, name, lower=REGISTRY[other].lower)


def set_record(patch: Any, name: str, **changes: Any) -> None:
    record = REGISTRY[name]
    for alias in (record.name, *record.aliases):
        patch.setitem(REGISTRY, alias, replace(record, **changes))


def wrapped(patch: Any) -> None:
    """Whole numbers that pass 64 bits come round."""
    patch.setattr(whole_numbers, "fits", lambda w, interval, checked: True)


def unhygienic(patch: Any) -> None:
    patch.setattr(lifting, "make_lifted_name", lambda axis, depth: axis)


def exchanged(patch: Any) -> None:
    """Windows whose two axes are exchanged."""
    lower = REGISTRY["pool"].lower
    set_record(patch, "pool", lower=lambda w, x, axes, options: lower(w, x, axes[::-1], options))


def misprinted(patch: Any) -> None:
    text = nt.Program.to_text
    patch.setattr(nt.Program, "to_text", lambda program, **options: text(program, **options).replace(" - ", " + "))


FAULTS: dict[str, tuple[Callable[[Any], None], str, str]] = {  # how, what it is drawn with, and a way that shows it
    "a slope with the other sign": (
        lambda patch: set_record(patch, "^", differentials=("−Y ⊙ X^{Y − 1} ⊙ ∂X", "0")),
        "derivative",
        "evaluate",
    ),
    "half of a product's slope": (
        lambda patch: set_record(patch, "⊙", differentials=("∂X ⊙_{ax} Y", "0")),
        "derivative",
        "evaluate",
    ),
    "extra axes that keep their names": (unhygienic, "lifted call", "evaluate"),
    "whole numbers that wrap": (wrapped, "∏", "evaluate"),
    "cumsum as cumprod": (lowered_as("cumsum", "cumprod"), "cumsum", "evaluate"),
    "var as std": (lowered_as("var", "std"), "var", "evaluate"),
    "argmin as argmax": (lowered_as("argmin", "argmax"), "argmin", "evaluate"),
    "< as ≤": (lowered_as("<", "≤"), "<", "evaluate"),
    "windows with their axes exchanged": (exchanged, "pool", "evaluate"),
    "a minus printed as a plus": (misprinted, "−", "printed"),
}
MOST = 2000


def forget() -> None:
    for cache in (evaluate.EXECUTABLES, evaluate.EVALUATORS):
        cache.clear()
    for cached in vars(calculus).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(fault, monkeypatch):
    plant, needed, name = FAULTS[fault]
    programs = (program for seed in range(MOST) if needed in constructs(program := draw(f"planted {seed}")))
    way = {name: differential.WAYS[name]}
    forget()
    try:
        plant(monkeypatch)
        assert any(differential.compare(program, way).differences for program in programs)
    finally:
        monkeypatch.undo()
        forget()


# --------------------------------------------------------------------------------------------- the evaluator, by hand
def value(text_shape: dict, out: Term) -> dict:
    program = Program((Input("X", tuple(text_shape.items()), "float64", (1.0, 2.0, 4.0)),), (), (), out)
    return own_evaluator.evaluate(program).entries


@pytest.mark.slow
def test_sizes_beside_windows_are_computed_as_they_should_be():
    assert [wrong for seed in range(60) if (wrong := difference_beside_windows(seed))] == []


def test_the_evaluator_differentiates():
    x = Term("name", (), ("X",), (("a", 3),))
    cube = Term("power", (x, drawn_sight.number(3)), (), x.shape)
    total = Term("over", (cube,), ("∑", ("a",), None))
    slope = Term("derivative", (total,), ("X", "*"), (("a*", 3),))
    bend = Term("derivative", (slope,), ("X", "†"), (("a*", 3), ("a†", 3)))
    assert {dict(r)["a*"]: x for r, x in value({"a": 3}, slope).items()} == {1: 3, 2: 12, 3: 48}
    result = value({"a": 3}, bend)
    assert all(x == (6 * 2 ** (dict(r)["a*"] - 1) if len({i for _, i in r}) == 1 else 0) for r, x in result.items())


@pytest.mark.slow
def test_what_differs_is_made_smaller(monkeypatch):
    forget()
    try:
        lowered_as("tanh", "sin")(monkeypatch)
        way = {"evaluate": differential.WAYS["evaluate"]}
        for seed in itertools.count():
            program = draw(f"smaller {seed}")
            differences = differential.compare(program, way).differences
            if differences and len(program.text) > 100:
                break
        small = differential.shrunk(program, differences[0], seconds=3)
        assert "tanh" in small.text and len(small.text) < 0.7 * len(program.text)
        assert "tanh" in differential.reproduction(small, differences[0])
    finally:
        monkeypatch.undo()
        forget()


def given(entries: tuple, dtype: str, out: Term) -> Program:
    return Program((Input("X", (("a", len(entries)),), dtype, entries),), (), (), out)


X = Term("name", (), ("X",), (("a", 3),))


def test_what_cancels_is_no_difference_where_double_precision_is_right():
    """∑_{a} X^3 − ∑_{a} X^3 by way of a softmax's slope: each library leaves another nothing."""
    softmax = Term(
        "over", (Term("power", (X, drawn_sight.number(3)), (), X.shape),), ("softmax", ("a",), None), X.shape
    )
    total = Term("over", (softmax,), ("∑", ("a",), None))
    program = given((2.5, 2.375, 2.25), "float16", Term("derivative", (total,), ("X", "*"), (("a*", 3),)))
    way = differential.WAYS["evaluate"]
    assert not differential.compare(program, {"evaluate": way}).differences
    for off, rounding in ((1e-4, True), (1e3, False)):
        difference = differential.Difference("evaluate", "", "value", off)
        assert differential.is_rounding(program, "evaluate", way, difference) == rounding


def test_a_fault_of_coarse_numbers_is_no_rounding(monkeypatch):
    forget()
    try:
        lowered_as("tanh", "sin")(monkeypatch)
        program = given((2.5, 0.25, 0.125), "float16", Term("applied", (X,), ("tanh",), X.shape))
        assert differential.compare(program, {"evaluate": differential.WAYS["evaluate"]}).differences
    finally:
        monkeypatch.undo()
        forget()


@pytest.mark.parametrize("sign, fit", [("⊙", False), ("+", True)])
def test_products_beyond_double_precision_are_not_compared(sign, fit):
    twice = [Term("infix", (X, other), (sign,), X.shape) for other in (X, drawn_sight.number(4_000_000_000))]
    relation = Term("relation", (twice[0], twice[1]), ("≠",), X.shape)
    program = given((4_000_000_000,) * 3, "int64", Term("indicator", (relation,), (), X.shape))
    assert (differential.compare(program, {"evaluate": differential.WAYS["evaluate"]}).unfit is None) == fit


def test_whole_numbers_that_jax_has_not_are_not_given_to_it():
    assert differential.fits_int32(given((2**31 - 1, 0, 1), "int64", X))
    assert not differential.fits_int32(given((2**31, 0, 1), "int64", X))
    assert differential.fits_int32(given((2.0**40, 0.0, 1.0), "float64", X))


@pytest.mark.parametrize("start", range(0, 24, 12))
def test_numbers_that_are_not_finite_are_those_of_the_definitions(start):
    for seed in range(start, start + 12):
        sample = drawn_not_finite.draw(seed)
        assert not drawn_not_finite.differences(sample), (seed, sample)
