"""Source text whose sizes are open: one function for every length, which refuses what cannot be in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import javascript
import numpy as np
import pytest

import namedtensor as nt

LENGTHS = (1, 2, 3, 6, 64, 130)
ATTENTION = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
QKV = {"Q": "ℝ^{query × key}", "K": "ℝ^{seq × key}", "V": "ℝ^{seq × val}"}


class Case(NamedTuple):
    formula: str
    shapes: Mapping[str, str]
    sizes: Mapping[str, int] = {}
    least: int = 1  # length
    multiple: int = 1


TABLE = {
    "attention": Case(ATTENTION, QKV),
    "causal attention": Case("softmax_{seq}(X ⊙_{chans} X_{seq→query} + M) ⊙_{seq} X where M_{query(i), seq(j)} = { 0 if j ≤ i; −∞ otherwise }", {"X": "ℝ^{seq × chans[4]}"}),
    "a mean": Case("X − mean_{seq} X", {"X": "ℝ^{batch × seq × chans[4]}"}),
    "a size as a number": Case("X / √|seq| + |seq|", {"X": "ℝ^{seq}"}),
    "a case on a size": Case("{ X if |seq| > 5; 2 X otherwise }", {"X": "ℝ^{seq}"}),
    "a place": Case("X_{seq(3)}", {"X": "ℝ^{seq}"}, least=3),
    "the last place": Case("X_{seq(|seq|)}", {"X": "ℝ^{seq}"}),
    "a slice": Case("X_{seq(2:|seq|)}", {"X": "ℝ^{seq}"}, least=2),
    "a merge": Case("X_{(seq,chans)→flat}", {"X": "ℝ^{seq × chans[4]}"}),
    "a merge beside its result": Case("X_{(seq,chans)→flat} + Y_{(seq,chans)→flat}", {"X": "ℝ^{seq × chans}", "Y": "ℝ^{seq × chans}"}),
    "a split": Case("X_{seq→(half,pair)}", {"X": "ℝ^{seq}"}, {"pair": 2}, multiple=2),
    "a pool": Case("max_{kernel} pool_{seq, kernel} X", {"X": "ℝ^{seq}"}, {"kernel": 2}, multiple=2),
    "a sum over places": Case("∑_{i=1}^{|seq|} i X_{seq(i)}", {"X": "ℝ^{seq}"}),
    "a slope of the last row, masked": Case("∂L/∂X\nL = ∑_{k=|seq|}^{|seq|} ∑_{chans} (softmax_{chans}({ X_{seq(k)} if iota_{chans} ≤ k; −∞ otherwise }))^2", {"X": "ℝ^{seq × chans[4]}"}),
    "a product": Case("X ⊙_{chans} W", {"X": "ℝ^{batch × seq × chans}", "W": "ℝ^{chans × val}"}),
    "a loop": Case("h^0 = X\nh^t = h^{t-1} / 2 + mean_{n} tanh(iota_{n} + mean_{seq} h^{t-1}) for t = 1, …, 400\n|n| = |seq|\nh^{400}", {"X": "ℝ^{seq}"}),
    "distances": Case("√(∑_{chans} ((X − X_{seq→query})²) + 1)", {"X": "ℝ^{seq × chans[3]}"}),
}  # fmt: skip
OTHER = {"batch": 2, "query": 3, "key": 4, "val": 2, "chans": 4}


def arrays(case: Case, length: int, dtype: str = "float64") -> dict[str, nt.NamedTensor]:
    result = {}
    for number, (name, shape) in enumerate(case.shapes.items()):
        axes = [axis.partition("[")[0].strip() for axis in shape[3:-1].split("×")]
        stated = {
            axis.partition("[")[0].strip(): axis.partition("[")[2].rstrip("] ") for axis in shape[3:-1].split("×")
        }
        sizes = tuple(length if axis == "seq" else int(stated[axis] or OTHER[axis]) for axis in axes)
        result[name] = nt.tensor(np.random.default_rng([length, number]).normal(size=sizes).astype(dtype), axes)
    return result


def text_and_function(case: Case, library: str, dtype: str) -> tuple[str, Any]:
    source = nt.formula(case.formula).to_python(library, case.shapes, sizes=case.sizes)
    space: dict[str, Any] = {}
    exec(compile(source, "<source>", "exec"), space)
    return source, space["function"]


def dtype_of(source: str) -> str:
    return "float64" if "float64" in source.partition("def function(")[2] else "float32"


def fits(case: Case, length: int) -> bool:
    return length >= case.least and length % case.multiple == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("name", TABLE)
def test_one_text_serves_every_length(name, library):
    case = TABLE[name]
    module = np if library == "numpy" else pytest.importorskip("torch" if library == "torch" else "jax.numpy")
    source, function = text_and_function(case, library, "float64")
    dtype = dtype_of(source)
    assert "namedtensor" not in source
    for length in LENGTHS:
        values = arrays(case, length, dtype)
        inputs = [module.asarray(value.array) for value in values.values()]
        if not fits(case, length):
            with pytest.raises(ValueError, match="seq"):
                function(*inputs)
            continue
        array, expected = np.asarray(function(*inputs)), nt.evaluate(case.formula, values, sizes=case.sizes)
        assert array.shape == expected.array.shape, length
        np.testing.assert_allclose(array, expected.array, rtol=1e-4, atol=1e-4 if dtype == "float32" else 1e-9)


@pytest.mark.skipif(javascript.NODE is None, reason=javascript.REASON)
def test_one_module_of_javascript_serves_every_length():
    calls = []
    for name, case in TABLE.items():
        module = nt.formula(case.formula).to_javascript(case.shapes, sizes=case.sizes)
        calls += [(name, length, module, arrays(case, length)) for length in LENGTHS]
    results = javascript.run((module, [value.array for value in values.values()]) for *_, module, values in calls)
    for (name, length, _, values), result in zip(calls, results):
        case = TABLE[name]
        if not fits(case, length):
            assert result.get("name") == "NotationError", (name, length, result)
            continue
        assert "data" in result, (name, length, result)
        expected = nt.evaluate(case.formula, values, sizes=case.sizes)
        array = np.array([float(datum) for datum in result["data"]]).reshape(result["shape"])
        assert array.shape == expected.array.shape, (name, length)
        np.testing.assert_allclose(array, expected.array, rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------------------------------------------------ refusals
REFUSED = {
    "two inputs that disagree": (
        ATTENTION, QKV, {}, [(3, 4), (5, 4), (6, 2)], "axis seq of V must have size 5, got 6",
    ),
    "a merge that another input denies": (
        "X_{(seq,chans)→flat} + Y", {"X": "ℝ^{seq × chans[4]}", "Y": "ℝ^{flat}"}, {}, [(2, 4), (6,)],
        "axis flat of Y must have size 8, got 6",
    ),
    "no multiple": (
        "X_{seq→(half,pair)}", {"X": "ℝ^{seq}"}, {"pair": 2}, [(7,)], "axis seq of X must have a size that is a multiple of 2",
    ),
    "too short": ("X_{seq(3)}", {"X": "ℝ^{seq}"}, {}, [(2,)], "sizes must satisfy 3 ≤ |seq|"),
    "a size that was stated": (
        ATTENTION, QKV | {"Q": "ℝ^{query × key[4]}"}, {}, [(3, 5), (5, 5), (5, 2)], "axis key of Q must have size 4, got 5",
    ),
    "twice the other": (
        "|seq| = 2 |half|\nX + ∑_{half} Y", {"X": "ℝ^{seq}", "Y": "ℝ^{half}"}, {}, [(7,), (3,)], "seq",
    ),
    "another rank": ("∑_{seq} X", {"X": "ℝ^{seq}"}, {}, [(3, 4)], "X must have axes [seq], got shape (3, 4)"),
}  # fmt: skip


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize(("formula", "shapes", "sizes", "given", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_in_one_sentence(formula, shapes, sizes, given, sentence, library):
    module = np if library == "numpy" else pytest.importorskip(library)
    source, function = text_and_function(Case(formula, shapes, sizes), library, "")
    dtype = getattr(module, dtype_of(source))
    with pytest.raises(ValueError) as problem:
        function(*(module.ones(shape, dtype=dtype) for shape in given))
    assert sentence in str(problem.value) and "\n" not in str(problem.value)


@pytest.mark.parametrize(
    "text",
    [
        "h^0 = 0\nh^t = tanh(h^{t−1} + X_{seq(t)}) for t = 1, …, |seq|\nh^{|seq|}",
        "g^i(x) = 2 x + i\n∑_{i=1}^{|seq|} g^i(∑_{seq} X)",
        "n = |seq|\ng^i(x) = 2 x + i\n∑_{i=1}^{n} g^i(∑_{seq} X)",
    ],
)
def test_a_size_that_decides_the_form_is_asked_for(text):
    for library in ("numpy", "torch", "jax"):
        with pytest.raises(nt.NotationError, match="the formula needs the size of seq as a number") as problem:
            nt.formula(text).to_python(library, X="ℝ^{seq}")
        assert problem.value.hint == "declare it, as in ℝ^{seq[3]}"
    assert "function" in nt.formula(text).to_python("numpy", X="ℝ^{seq[3]}")


def test_a_merge_that_no_size_solves_is_refused_at_once():
    with pytest.raises(nt.NotationError) as problem:
        nt.formula("X_{seq→(a,b)}").to_python("numpy", X="ℝ^{seq[6]}", sizes={"a": 4})
    assert "seq" in str(problem.value) and "4" in str(problem.value)


# ---------------------------------------------------------------------------------------------------------------- text
GOLDEN = """
def function(Q, K, V):
    check("Q", Q, {"query": None, "key": None}, torch.float32)
    key = Q.shape[1]
    check("K", K, {"seq": None, "key": key}, torch.float32)
    seq = K.shape[0]
    check("V", V, {"seq": seq, "val": None}, torch.float32)
    device = Q.device
    t1 = K.T  # ℝ^{key × seq}
    t2 = torch.matmul(Q, t1)  # ℝ^{query × seq}
    c1 = torch.tensor(key, dtype=torch.int64, device=device)  # ℝ
    c2 = c1.to(torch.float32)  # ℝ
    c3 = torch.sqrt(c2)  # ℝ
    t3 = t2 / c3  # ℝ^{query × seq}
    t4 = torch.softmax(t3, 1)  # ℝ^{query × seq}
    t5 = torch.matmul(t4, V)  # ℝ^{query × val}
    return t5
"""


def test_the_text_reads_its_sizes_first():
    source = nt.formula(ATTENTION).to_python("torch", QKV)
    assert source.endswith(GOLDEN)


def test_an_axis_that_is_a_word_of_the_text_has_another_name_in_it():
    source = nt.formula("∑_{n} (X / |n|) + ∑_{np} (X / |np|) + ∑_{if} (X / |if|)").to_python(
        "numpy", X="ℝ^{n × np × if}"
    )
    space: dict[str, Any] = {}
    exec(source, space)
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    expected = nt.evaluate("∑_{n} (X / |n|) + ∑_{np} (X / |np|) + ∑_{if} (X / |if|)", X=nt.tensor(x, ("n", "np", "if")))
    np.testing.assert_allclose(np.broadcast_to(space["function"](x), expected.array.shape), expected.array)


LOOP = "h^0 = x\nh^t = h^{t-1} / 2 + mean_{n} tanh(iota_{n} + mean_{h} h^{t-1}) for t = 1, …, 400\n|n| = |h|\nh^{400}"


@pytest.mark.parametrize("length", [2, 5])
def test_a_loop_whose_state_has_the_name_of_an_axis(length):
    x = np.linspace(0.5, 1, length)
    names: dict[str, Any] = {}
    exec(nt.formula(LOOP).to_python("numpy", {"x": "ℝ^{h}"}), names)
    expected = nt.evaluate(LOOP, x=nt.tensor(x, "h")).array
    np.testing.assert_allclose(names["function"](x), expected, rtol=0, atol=1e-9)
    if javascript.NODE is not None:
        (result,) = javascript.run([(nt.formula(LOOP).to_javascript({"x": "ℝ^{h}"}), [x])])
        np.testing.assert_allclose(result["data"], expected, rtol=0, atol=1e-9)


def test_sizes_by_numbers_and_open_ones_stand_together():
    source = nt.formula(ATTENTION).to_python("numpy", QKV | {"Q": "ℝ^{query[1] × key[64]}"})
    assert '{"query": 1, "key": 64}' in source and '{"seq": None, "key": 64}' in source and "8.0" in source
