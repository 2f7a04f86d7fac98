"""Plans: what they say, what they are made into, and that what makes them faster leaves their results alone."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import re
import subprocess
import sys
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import namedtensor as nt
from namedtensor import reference
from namedtensor.backends.function import NAMES, backend, target_of
from namedtensor.core.arrays import namespace_of
from namedtensor.planning import contraction_order as chains
from namedtensor.planning import core_use
from namedtensor.planning import plan as plan_module
from namedtensor.planning import regions as blocks
from namedtensor.planning.memory import Workspace
from namedtensor.planning.optimizations import OPTIMIZATIONS
from namedtensor.planning.plan import CHECKS, Plan, PlanValue, Step, safe
from namedtensor.planning.planner import REWRITES
from namedtensor.planning.primitives import PRIMITIVES, MalformedPlanError, verify, verify_memory
from namedtensor.programs.arguments import BoundArguments
from namedtensor.programs.entries import WholeProgram
from namedtensor.programs.executable import Options, compile_plan, type_goal
from namedtensor.programs.named_plans import plan_of, target_named
from namedtensor.programs.parsed import ParsedProgram

ATTENTION = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
RANDOM = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def _short_chains_are_tiled(monkeypatch):
    """Examples are small."""
    monkeypatch.setattr(core_use, "MIN_TILED_CHAIN_MS", 0.0)


def tensor(axes: str, dtype: Any = "float64", **sizes: Any) -> nt.NamedTensor:
    shape = [sizes.get(axis, 3) for axis in axes.split()]
    return nt.tensor(RANDOM.normal(size=shape).astype(dtype), axes)


def compiled(text: str, without=(), **values):
    arguments = BoundArguments(values)
    goal, target = WholeProgram(ParsedProgram(text)), target_of(namespace_of(arguments.arrays))
    return compile_plan(
        type_goal(goal, arguments, Options()), arguments.abstract, target, Options(disable=tuple(without))
    )


def of_attention(dtype: Any = "float64", **sizes: Any) -> dict[str, nt.NamedTensor]:
    axes = {"Q": "heads seq' key", "K": "heads seq key", "V": "heads seq val"}
    return {name: tensor(axis, dtype, **sizes) for name, axis in axes.items()}


# ------------------------------------------------------------------------------------------------------ what it says
def test_a_plan_prints_itself():
    values = of_attention(**{"heads": 2, "seq'": 4, "seq": 5, "key": 8, "val": 2})
    assert str(compiled(ATTENTION, OPTIMIZATIONS, **values).plan) == (
        "t1 = transpose(K; moves 0 2 1) : ℝ^{heads[2] × key[8] × seq[5]}\n"
        "t2 = matmul(Q, t1) : ℝ^{heads[2] × seq'[4] × seq[5]}\n"
        "t3 = divide(t2, 2.8284271247461903) : ℝ^{heads[2] × seq'[4] × seq[5]}\n"
        "t4 = max(t3; at 2; keep True) : ℝ^{heads[2] × seq'[4] × seq[1]}\n"
        "t5 = subtract(t3, t4) : ℝ^{heads[2] × seq'[4] × seq[5]}\n"
        "t6 = exp(t5) : ℝ^{heads[2] × seq'[4] × seq[5]}\n"
        "t7 = sum(t6; at 2; keep True) : ℝ^{heads[2] × seq'[4] × seq[1]}\n"
        "t8 = divide(t6, t7) : ℝ^{heads[2] × seq'[4] × seq[5]}\n"
        "t9 = matmul(t8, V) : ℝ^{heads[2] × seq'[4] × val[2]}"
    )


def test_equal_parts_are_computed_once():
    plan = compiled("exp(X) + exp(X) ⊙ exp(X)", X=tensor("a")).plan
    assert [step.primitive for step in plan.steps] == ["exp", "multiply", "add"]


def test_a_product_written_side_by_side_is_the_one_with_its_sign():
    plan = compiled("exp(X Y) + exp(X ⊙ Y)", X=tensor("a"), Y=tensor("a")).plan
    assert [step.primitive for step in plan.steps] == ["multiply", "exp", "add"]


def test_what_needs_no_input_is_done_before():
    plan = compiled("X + I_{a,a'} ⊙_{a'} [1, 2, 3]_{a'}", X=tensor("a")).plan
    assert [step.primitive for step in plan.steps if not step.value.fixed] == ["add"]


def test_numbers_are_no_part_of_what_is_compiled():
    x, numbers = tensor("a"), ((0.5, 3.0), (2.0, 7.25), (1e-9, 1e200))
    functions = [inspect.unwrap(compiled(f"{a} x + {b}", x=x).function.run) for a, b in numbers]
    assert len({function.__code__ for function in functions}) == 1
    for function, (a, b) in zip(functions, numbers):
        assert np.array_equal(function(x.array), a * x.array + b)


def test_a_rename_is_no_step():
    plan = compiled("A ⊙_{b} A_{a→a'}", A=tensor("a b")).plan
    assert [step.primitive for step in plan.steps if step.primitive != "same"] == ["transpose", "dot"]


# -------------------------------------------------------------------------------------------------------- its source
HOSTILE = [
    "lambda",
    "def",
    "np",
    "exp",
    "W^Q",
    "x'",
    "function",
    "t1",
    "c1",
    "γ",
    "print",
    "__import__",
    "None",
    "a b",
    "(",
    "",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_becomes_a_safe_identifier(name):
    text = safe(name)
    assert text.isidentifier() and text not in dir(__builtins__)
    assert text not in {**backend("numpy").aliases, **backend("numpy").kernels, "np": "", "function": ""}


def test_names_that_look_alike_are_kept_apart():
    values = {"t1": tensor("a"), "exp": tensor("a"), "W^Q": tensor("a"), "W_Q": tensor("a"), "np": tensor("a")}
    text = "t1 + exp + W^Q − W_Q ⊙ np"
    array = {name: value.array for name, value in values.items()}
    want = array["t1"] + array["exp"] + array["W^Q"] - array["W_Q"] * array["np"]
    np.testing.assert_allclose(nt.evaluate(text, values).array, want)


def test_an_axis_cannot_leave_its_comment():
    X = nt.tensor(np.ones((2, 3)), ("a", "b"))
    plan = compiled("exp X", X=X).plan
    plan.steps[0].value.order = ("a\nimport os", "b")
    assert "\nimport os" not in backend("numpy").whole(plan)


FORMULAS = {
    "attention": (ATTENTION, of_attention()),
    "layer-norm": ("standardize_{b} X ⊙ g + b", {"X": tensor("a b"), "g": tensor("b"), "b": tensor("b")}),
    "gelu": ("gelu(X) + silu(X)", {"X": tensor("a")}),
    "index": ("E_{v(I)}", {"E": tensor("v a"), "I": nt.tensor(np.array([1, 3]), "n")}),
    "cases": ("{ X if X > 0; −1 otherwise } + [1, 2, 3]_{a}", {"X": tensor("a")}),
    "tiling": (ATTENTION, of_attention(**{"heads": 2, "seq": 1024, "seq'": 600, "key": 4, "val": 4})),
}


ALONE = """
import runpy, sys
import numpy
sys.modules["namedtensor"] = None
{wide}
for name in sys.argv[1:]:
    values = numpy.load(f"{{name}}.npz")
    function = runpy.run_path(f"{{name}}.py")["function"]
    numpy.save(f"{{name}}.npy", numpy.asarray(function(*[{wrap}(values[f"x{{n}}"]) for n in range(len(values))])))
"""
WRAPPED = {
    "numpy": ("", ""),
    "torch": ("import torch", "torch.asarray"),
    "jax": ("import jax.numpy as jnp", "jnp.asarray"),  # in the precision of the text
}


@pytest.fixture(scope="module")
def found_alone(tmp_path_factory):
    """What each formula gives in a Python of its own, one for each library, where this project is not to be found."""

    @functools.cache
    def folder_of(library):
        folder = tmp_path_factory.mktemp(library)
        for name, (text, values) in FORMULAS.items():
            (folder / f"{name}.py").write_text(nt.formula(text).to_python(library, values), encoding="utf-8")
            np.savez(folder / f"{name}.npz", **{f"x{n}": value.array for n, value in enumerate(values.values())})
        wide, wrap = WRAPPED[library]
        (folder / "run.py").write_text(ALONE.format(wide=wide, wrap=wrap), encoding="utf-8")
        run = subprocess.run([sys.executable, "run.py", *FORMULAS], cwd=folder, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return folder

    return folder_of


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("name", FORMULAS)
def test_the_source_runs_by_itself(name, library, found_alone):
    pytest.importorskip(library)
    text, values = FORMULAS[name]
    result, want = np.load(found_alone(library) / f"{name}.npy"), nt.evaluate(text, values)
    single = library == "jax"
    np.testing.assert_allclose(result, want.array, rtol=1e-4 if single else 1e-6, atol=1e-5 if single else 1e-9)


# ------------------------------------------------------------------------------------- with and without each optimization
LARGE = {"heads": 2, "seq": 700, "seq'": 650, "key": 8, "val": 4}
OPTIMIZED = {
    "attention": (ATTENTION, of_attention(**LARGE)),
    "attention in single precision": (ATTENTION, of_attention("float32", **LARGE)),
    "a mask": ("softmax_{seq}(Q ⊙_{key} K / √|key| + M) ⊙_{seq} V", {**of_attention(**LARGE), "M": tensor("seq' seq", **LARGE)}),
    "causal": (
        "S_{seq'(i), seq(j)} = { 1 if j ≤ i; 0 otherwise }\nsoftmax_{seq}({ Q ⊙_{key} K if S > 0; −∞ otherwise }) ⊙_{seq} V",
        of_attention(**{**LARGE, "seq'": 700}),
    ),
    "self-attention": (
        "softmax_{seq'}(X ⊙_{chans} X_{seq→seq'}) ⊙_{seq'} X_{seq→seq'}", {"X": tensor("seq chans", seq=1500, chans=8)}
    ),
    "small": (ATTENTION, of_attention()),
    "a chain of four": ("((A ⊙_{b} B) ⊙_{c} C) ⊙_{d} x", {name: tensor(axes, a=90, b=30, c=80, d=30) for name, axes in (("A", "a b"), ("B", "b c"), ("C", "c d"), ("x", "d"))}),
    "linear attention": ("Q ⊙_{key} (K ⊙_{seq} V)", of_attention()),
    "Tucker": (
        "((G ⊙_{p} A) ⊙_{q} B) ⊙_{r} C",
        {"G": tensor("p q r"), "A": tensor("p a", a=7), "B": tensor("q b", b=6), "C": tensor("r c", c=5)},
    ),
    "a sum of a product": ("∑_{a} (A ⊙ B ⊙ x)", {"A": tensor("a b"), "B": tensor("a c"), "x": tensor("a")}),
    "an axis that is two": ("(A ⊙_{b} B) ⊙_{c} D", {"A": tensor("a b"), "B": tensor("b c"), "D": tensor("c b")}),
    "a chain": ("exp(−X²) ⊙ sin(X) / (1 + X²)", {"X": tensor("a b", a=700, b=701)}),
    "gelu": ("gelu(X) + x", {"X": tensor("a b", a=900, b=333), "x": tensor("a", a=900)}),
    "standardize": ("standardize_{b} X ⊙ g + X", {"X": tensor("a b", a=900, b=333), "g": tensor("b", b=333)}),
    "standardize over rows": ("standardize_{a} X", {"X": tensor("a b", a=900, b=333)}),
    "standardize and a chain": ("standardize_{b} (X ⊙ g) ⊙ g + x", {"X": tensor("a b", a=900, b=333), "g": tensor("b", b=333), "x": tensor("b", b=333)}),
    "axes that are consumed one by one": ("softmax_{a} X + softmax_{b} X ⊙ Y", {"X": tensor("a b c", a=90, b=33, c=99), "Y": tensor("a b c", a=90, b=33, c=99)}),
    "a wide layer": (
        "tanh(X ⊙_{a} W + b) ⊙_{h} U + X ⊙_{a} W + b",
        {"X": tensor("n m a", n=30, m=20, a=8), "W": tensor("a h", a=8, h=9), "b": tensor("h", h=9), "U": tensor("h k", h=9)},
    ),
    "a large product": ("X ⊙_{a} W + b", {"X": tensor("n m a", n=30, m=21, a=333), "W": tensor("a h", a=333, h=401), "b": tensor("h", h=401)}),
    "layers": (
        "X + tanh(standardize_{a} X ⊙_{a} W + b) ⊙_{h} U_{k→a}",
        {"X": tensor("n a", n=601, a=240), "W": tensor("a h", a=240, h=500), "b": tensor("h", h=500), "U": tensor("h k", h=500, k=240)},
    ),
    "layers over a batch": (
        "Y = X + softmax_{m}(X ⊙_{a} X_{s→m}) ⊙_{m} X_{s→m}\nY + tanh(Y ⊙_{a} W) ⊙_{h} U",
        {"X": tensor("s n a", n=9, s=80, a=200), "W": tensor("a h", a=200, h=500), "U": tensor("h a", h=500, a=200)},
    ),
    "layers along a sequence": (
        "Y = X + softmax_{m}(X ⊙_{a} X_{s→m}) ⊙_{m} X_{s→m}\nY + tanh(Y ⊙_{a} W) ⊙_{h} U",
        {"X": tensor("n s a", n=1, s=701, a=200), "W": tensor("a h", a=200, h=500), "U": tensor("h a", h=500, a=200)},
    ),
    "columns in single precision": (
        "gelu(X ⊙_{a} W + b)",
        {"X": tensor("n a", "float32", n=60, a=600), "W": tensor("a h", "float32", a=600, h=4001), "b": tensor("h", "float32", h=4001)},
    ),
    "a product that is scaled": (
        "((Q + q) ⊙_{key} (K + k)) / √|key|",
        {"Q": tensor("h i key", h=6, i=40, key=4096), "q": tensor("key", key=4096), "K": tensor("h j key", h=6, j=41, key=4096), "k": tensor("key", key=4096)},
    ),
    "three projections": (
        "(X ⊙_{a} P + p) ⊙ (Q ⊙_{a} X) ⊙ [X ⊙_{a} R + r]_{d→c}",
        {"X": tensor("n m a", n=80, m=60, a=4), "P": tensor("a b c", a=4), "p": tensor("c b"),
         "Q": tensor("c a", a=4), "R": tensor("d a", a=4), "r": tensor("d")},
    ),
    "slice-update": ("{ x if iota_{b} = p; X otherwise }", {"x": tensor("c a"), "p": nt.tensor(2, ""), "X": tensor("a b c", b=4)}),
    "a flat chain": ("tanh(exp(X) + 1)", {"X": tensor("a", a=300_001)}),
}  # fmt: skip


ORDERS = {  # a product, the shapes of its operands, and the axes of its result as they are stored
    "the larger matrix is on the left": ("X ⊙_{in} W", "rows[16] in[128]", "out[512] in[128]", "out rows"),
    "also where it is written so": ("W ⊙_{in} X", "rows[16] in[128]", "out[512] in[128]", "out rows"),
    "of the same size the order is as written": ("X ⊙_{in} W", "rows[512] in[128]", "out[512] in[128]", "rows out"),
    "small ones too": ("X ⊙_{in} W", "rows[2] in[3]", "out[5] in[3]", "rows out"),
    "no matrix is transposed": ("W ⊙_{in} X", "rows[16] in[128]", "in[128] out[512]", "rows out"),
    "the axis of a softmax is the last": ("softmax_{out}(W ⊙_{in} X)", "rows[16] in[128]", "out[512] in[128]", "rows out"),
    "of scores that are scaled": ("softmax_{out}(W ⊙_{in} X / 8)", "rows[16] in[128]", "out[512] in[128]", "rows out"),
    "of a stack": ("softmax_{out}(W ⊙_{in} X)", "heads[2] rows[6] in[4]", "heads[2] out[6] in[4]", "heads rows out"),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
def test_products_are_computed_in_the_faster_order(name):
    text, *shapes, axes = ORDERS[name]
    random = np.random.default_rng(0)
    sizes = [{word.split("[")[0]: int(word.split("[")[1][:-1]) for word in shape.split()} for shape in shapes]
    X, W = (nt.tensor(random.normal(size=tuple(size.values())), tuple(size)) for size in sizes)
    result = nt.evaluate(text, X=X, W=W)
    assert result.axes == tuple(axes.split())
    letters = dict(zip({**sizes[0], **sizes[1]}, "abcdef"))
    x, w, out = ("".join(letters[axis] for axis in axes) for axes in (X.axes, W.axes, result.axes))
    expected = np.einsum(f"{x},{w}->{out}", X.array, W.array)
    if "softmax" in text:
        powers = np.exp(expected / (8 if "8" in text else 1))
        expected = powers / powers.sum(-1, keepdims=True)
    assert np.allclose(result.array, expected)


def test_a_copy_for_a_product_has_no_short_rows():
    random = np.random.default_rng(0)
    X, W = nt.tensor(random.normal(size=(6, 40, 3)), "c rows k"), nt.tensor(random.normal(size=(5, 6, 3)), "out c k")
    run = nt.formula("X ⊙_{c,k} W").compile("numpy")
    assert np.allclose(run(X=X, W=W).to_array("rows out"), np.einsum("crk,ock->ro", X.array, W.array))
    assert (18, 40) in [step.value.shape for step in run.plan.steps if step.primitive == "reshape"]


def test_a_chain_goes_by_vectors():
    plan = compiled(*OPTIMIZED["a chain of four"][:1], **OPTIMIZED["a chain of four"][1]).plan
    assert [step.primitive for step in plan.steps if step.primitive != "same"] == ["dot"] * 3 + ["keep_in_range"]
    assert [len(step.value.order) for step in plan.steps if step.primitive == "dot"] == [1, 1, 1]


@given(
    st.lists(st.sets(st.sampled_from("abcdef"), min_size=1, max_size=3), min_size=2, max_size=5),
    st.sets(st.sampled_from("abcdef")),
)
def test_the_best_order_is_as_good_as_every_other(factors, summed):
    """Against all trees, made one by one."""
    shapes = [frozenset(factor) for factor in factors]
    axes = frozenset(summed) & frozenset().union(*shapes)
    sizes: dict[str, int] = dict(zip("abcdef", (2, 3, 5, 7, 11, 13)))

    def cheapest(parts):
        if len(parts) == 1:
            return 0.0
        costs = []
        for left, right in itertools.combinations(range(len(parts)), 2):
            rest = [part for index, part in enumerate(parts) if index not in (left, right)]
            outside = frozenset().union(*rest)
            part = (parts[left] | parts[right]) - (axes - outside)
            costs.append(chains.price(parts[left], parts[right], axes, outside, sizes) + cheapest([*rest, part]))
        return min(costs)

    assert chains.best(shapes, axes, sizes)[0] == pytest.approx(cheapest(shapes))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("off", [*OPTIMIZATIONS, "all"])
@pytest.mark.parametrize("name", OPTIMIZED)
def test_results_with_and_without_agree(name, off):
    text, values = OPTIMIZED[name]
    arrays = [value.array for value in values.values()]
    without = OPTIMIZATIONS if off == "all" else (off,)
    result, want = compiled(text, **values)(*arrays), compiled(text, without, **values)(*arrays)
    assert result.dtype == want.dtype
    rtol = 1e-4 if "single" in name else 1e-10
    assert nt.allclose(result, want, rtol=rtol, atol=rtol)


FEW = (
    "slice-update",
    "three projections",
    "a wide layer",
    "a large product",
    "small",
    "causal",
    "a chain of four",
    "linear attention",
    "Tucker",
    "a sum of a product",
    "an axis that is two",
)


def primitives(name, without=()):
    text, values = OPTIMIZED[name]
    return [step.primitive for step in compiled(text, without, **values).plan.steps]


@pytest.mark.parametrize("name", [name for name in OPTIMIZED if name not in FEW])
def test_large_ones_are_done_in_blocks(name):
    assert "tiling" in primitives(name)
    assert "tiling" not in primitives(name, ("tiling",))


@pytest.mark.parametrize("position", [0, 1, 3, 4, 5, -1, 2.5, np.nan, np.inf, np.uint8(4)])
@pytest.mark.parametrize("axes", ["a c", "c", ""])
def test_one_slice_of_a_copy(position, axes):
    """Of none where no element has the number; what is given stays."""
    X, x = tensor("a b c", b=4), tensor(axes)
    before, tensors = X.array.copy(), {"x": x, "p": nt.tensor(np.asarray(position), ""), "X": X}
    text = "{ x if iota_{b} = p; X otherwise }"
    function = compiled(text, **tensors)
    assert "put" in [step.primitive for step in function.plan.steps]
    result = function(*(value.array for value in tensors.values()))
    there = (np.arange(1, 5) == position)[:, None]
    part = x.array[:, None] if axes == "a c" else x.array
    assert np.array_equal(result.to_array("a b c"), np.where(there, part, X.array)) and np.array_equal(X.array, before)


@pytest.mark.parametrize("text", [
    "{ x if iota_{b} = p; X otherwise }", "{ X if iota_{b} = p; x otherwise }", "{ y if iota_{b} = q; X otherwise }",
    "{ y if iota_{b} < p; X otherwise }", "{ n if iota_{b} = p; N otherwise }",
])  # fmt: skip
def test_what_is_no_slice_is_chosen_number_by_number(text):
    """An x with the axis itself, a place for each row, another condition, whole numbers."""
    tensors = {
        "x": tensor("b", b=4),
        "y": tensor("a"),
        "X": tensor("a b", b=4),
        "p": nt.tensor(2, ""),
        "n": nt.tensor(7, ""),
        "N": nt.tensor([1, 2, 3, 4], "b"),
        "q": nt.tensor([1, 2, 3], "a"),
    }
    tensors = {name: value for name, value in tensors.items() if name in text}
    function = compiled(text, **tensors)
    assert "put" not in [step.primitive for step in function.plan.steps]
    result = function(*(value.array for value in tensors.values()))
    plain = {name: reference.tensor(value.array.tolist(), value.axes) for name, value in tensors.items()}
    assert np.allclose(result.array, reference.evaluate(text, plain).to_list(result.axes))


@pytest.mark.parametrize("name", ["layers", "layers over a batch"])
def test_layers_are_one_function_of_some_rows(name):
    """Which has the matrices whole; no array in between is."""
    text, values = OPTIMIZED[name]
    plan = compiled(text, **values).plan
    (step,) = [step for step in plan.steps if step.primitive not in ("same", "transpose")]
    cuts = {plan.names[value]: cut for value, cut in zip(step.arguments, step.options["cuts"])}
    assert cuts["W"] == cuts["U"] == (None, None) and 0 in cuts["X"]
    assert step.options["rows"] == -(-step.options["counts"][0] // 2)
    assert len(primitives(name, ("layer-tiling",))) > len(plan.steps)


@pytest.mark.parametrize(
    "cores, size, rows", [(1, 512, 0), (1, 4096, 1024), (2, 512, 256), (2, 4096, 1024), (3, 512, 171), (4, 512, 128),
                          (8, 512, 64), (16, 512, 0), (3, 128, 0), (2, 128, 64), (64, 65536, 1024)],
)  # fmt: skip
def test_there_are_as_few_blocks_as_keep_all_cores_busy(cores, size, rows, monkeypatch):
    """And none where a block would be too large for the cache, or too narrow for a product; 0 stands for no blocks."""
    monkeypatch.setattr(blocks, "cores", lambda: cores)
    shapes = {"X": {"s": size, "a": 512}, "W": {"a": 512, "h": 1024}, "U": {"h": 1024, "b": 512}}
    zero = np.zeros((), np.float32)
    tensors = {name: nt.tensor(np.broadcast_to(zero, [*sizes.values()]), [*sizes]) for name, sizes in shapes.items()}
    text = nt.formula("max(X ⊙_{a} W, 0) ⊙_{h} U").to_python("numpy", tensors)
    _, _, name = text.partition("def block_1")
    match = re.search(r"run_in_blocks\(.+?, block_1, .*, \(\d+,\), (\d+), 0", name)
    whole = name.partition("def function")[0].count("matmul(") == 2  # both products are within
    assert (int(match[1]) if match and whole else 0) == rows


CHAIN = "exp(−X²) ⊙ sin(X) / (1 + X²)"
PRODUCT_OF_EACH_ROW = {
    "X": "m[128] × n[120] × a[256]",
    "P": "n[120] × m[128]",
    "Q": "n[120] × m[128] × a[256]",
    "W": "a[256] × h[256]",
}
TILES = {  # of numbers with 4 bytes: a formula, shapes, what is off, the sizes that are cut, and the rows of a tile
    "rows, as many as 2^18 bytes hold, a multiple of 16": (CHAIN, {"X": "a[1000] × b[701]"}, (), (1000,), 80),
    "parts of rows that are longer": (CHAIN, {"X": "a[4] × b[300001]"}, (), (4, 300001), 2**16),
    "rows that are consumed whole": ("softmax_{b} exp X", {"X": "a[2] × b[300001]"}, (), (2,), 1),
    "one row is not cut": ("softmax_{b} exp X", {"X": "a[1] × b[600001]"}, (), None, None),
    "exp B has twice the numbers of the result": (
        "A ⊙_{k} exp(B)", {"A": "b[8] × n[300] × k[600]", "B": "b[8] × k[600] × m[100]"}, (), (8,), 1
    ),
    "exp B has fewer than twice the numbers of the result": (
        "A ⊙_{k} exp(B)", {"A": "b[8] × n[300] × k[400]", "B": "b[8] × k[400] × m[100]"}, (), None, None
    ),
    "products of 2^26 multiply-adds, a millisecond": (
        "(Q ⊙_{k} K) ⊙_{j} V", {"Q": "i[1024] × k[32]", "K": "j[1024] × k[32]", "V": "j[1024] × v[32]"}, ("contraction-order",), (1024,), 128,
    ),
    "products of fewer multiply-adds": (
        "(Q ⊙_{k} K) ⊙_{j} V", {"Q": "i[1024] × k[31]", "K": "j[1024] × k[31]", "V": "j[1024] × v[32]"}, ("contraction-order",), None, None,
    ),
    "the first of axes with the same multiply-adds by one matrix": (
        "tanh((X + P ⊙_{m} Q) ⊙_{a} W)", PRODUCT_OF_EACH_ROW, (), (128,), 32
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TILES)
def test_what_is_cut_into_tiles_and_how(name):
    text, shapes, disable, counts, rows = TILES[name]
    inputs = {name: f"ℝ^{{{shape}}}" for name, shape in shapes.items()}
    plan, _ = plan_of(nt.formula(text)._goal, target_named("numpy"), inputs, Options(disable=disable))
    tiled = [(step.options["counts"], step.options["rows"]) for step in plan.steps if step.primitive == "tiling"]
    assert tiled == ([(counts, rows)] if counts else [])


def test_keys_are_made_whole_where_queries_are_made_in_blocks():
    text = "K = exp(X_{s→m})\nY = X + softmax_{m}(X ⊙_{a} K) ⊙_{m} K\nY + tanh(Y ⊙_{a} W) ⊙_{h} U"
    sizes = {"s": 700, "a": 200, "h": 500}
    values = {"X": tensor("s a", **sizes), "W": tensor("a h", **sizes), "U": tensor("h a", **sizes)}
    plan = compiled(text, **values).plan
    assert [step.primitive for step in plan.steps if step.primitive != "same"] == ["exp", "tiling"]
    assert plan.steps[-1].options["counts"] == (700,)


def test_squares_that_overflow_in_one_block_make_no_difference():
    text = """
    Y = T + relu(standardize_{a}(T) ⊙_{a} W) ⊙_{h} U
    T = X + softmax_{m}(N ⊙_{a} N_{s→m}) ⊙_{m} N_{s→m}
    N = (standardize_{a}(X) ⊙ g + g) ⊙ g + g
    """
    sizes = {"b": 4, "s": 150, "a": 300, "h": 512}
    values = {
        "X": tensor("b s a", **sizes),
        "W": tensor("a h", **sizes),
        "U": tensor("h a", **sizes),
        "g": tensor("a", **sizes),
    }
    values = {name: nt.tensor(value.array.astype("float32"), value.axes) for name, value in values.items()}
    values["X"].array[2] *= np.float32(1e30)
    function = compiled(text, **values)
    assert [step.primitive for step in function.plan.steps].count("tiling") == 1
    arrays = [value.array for value in values.values()]
    result, want = function(*arrays), compiled(text, ("unshifted-softmax",), **values)(*arrays)
    away, size = (np.abs(array).max((1, 2)) for array in (result.array - want.array, want.array))
    assert np.isfinite(want.array).all() and (away <= 1e-5 * size).all()


@pytest.mark.parametrize("change", [{"n": 70}, {"a": 20}])
def test_few_rows_or_little_work_are_no_layers(change):
    sizes = {"n": 601, "a": 240, "h": 500} | change
    X, W, U = tensor("n a", **sizes), tensor("a h", **sizes), tensor("h a", **sizes)
    plans = [compiled("X + tanh(X ⊙_{a} W) ⊙_{h} U", off, X=X, W=W, U=U).plan for off in ((), ("layer-tiling",))]
    assert str(plans[0]) == str(plans[1])


def test_inputs_are_never_overwritten():
    for text, values in OPTIMIZED.values():
        before = {name: value.array.copy() for name, value in values.items()}
        nt.evaluate(text, values)
        for name, value in values.items():
            np.testing.assert_array_equal(value.array, before[name])


def test_a_function_that_is_normalized_is_in_one_block_with_what_follows():
    assert primitives("standardize and a chain").count("tiling") == 1


def test_what_is_added_to_a_product_is_added_in_place():
    X, W, b = tensor("n m a"), tensor("a h k"), tensor("h k")
    source = nt.formula("exp(X ⊙_{a} W + b)").to_python("numpy", X=X, W=W, b=b)
    assert "t5 = add(t4, b, t4)" in source and "exp(t5, t5)" in source


def test_what_is_large_and_needed_no_more_is_given_back():
    X, W = tensor("n a", n=700, a=300), tensor("a h", a=300, h=300)
    text = nt.formula("(X ⊙_{a} W) ⊙_{h} W_{a→b} + 1").compile("numpy", disable=("tiling", "contraction-order"))
    text(X=X, W=W)
    assert "    del t1\n" in text.source and "del X" not in text.source
    name = nt.formula("relu(X ⊙_{a} W) ⊙_{h} W_{a→b} + 1").to_python("torch", {"X": X, "W": W})
    assert "del t1" in name and "del X" not in name


def test_blocks_write_into_the_result():
    """And keep no more buffers than they need at once."""
    text, values = OPTIMIZED["standardize"]
    source = backend("numpy").source(compiled(text, **values).plan).text
    block = source[source.index("def block_1(") : source.index("def function(")]
    assert ", out)" in block and "buffer_2" not in block and "return t" not in block


def test_blocks_need_little_memory():
    import tracemalloc

    text, values = ATTENTION, of_attention("float32", **{"heads": 2, "seq": 4096, "seq'": 4096, "key": 8, "val": 8})
    nt.evaluate(text, values)
    tracemalloc.start()
    result = nt.evaluate(text, values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak - result.array.nbytes < 30e6 < 2 * 4096 * 4096 * 4


def test_blocks_lie_where_they_lay_last_time():
    """A thread keeps the memory of its buffers, if it is small, and one that is at work inside another has its own."""
    kernels = backend("numpy").globals(np)
    buffers, seen = (((3, 5), np.float32), ((2,), np.float64)), []

    def outer(result):
        first = result(buffers)
        first[0][...], first[1][...] = 1, 2
        kernels["in_buffers"](lambda inner: [part.fill(7) for part in inner(buffers)])
        seen.append([item.ctypes.data for item in first])
        return [item.shape for item in first], [item.mean() for item in first]

    for _ in range(2):
        assert kernels["in_buffers"](outer) == ([(3, 5), (2,)], [1, 2])
    assert seen[0] == seen[1] and seen[0][0] + 64 == seen[0][1]
    with pytest.raises(ZeroDivisionError):
        kernels["in_buffers"](lambda result: result(buffers) and 1 / 0)
    assert kernels["in_buffers"](outer) and seen[2] == seen[0]


def test_an_error_inside_a_block_is_one_of_the_formula():
    n = blocks.MIN_TILED_BYTES // 8
    X = nt.tensor(np.ones((n,), "int64"), "a")
    with pytest.raises(nt.NotationError, match="index 3 is out of range for axis b"):
        nt.evaluate("Y_{b(X + 2)} + 0.5", X=X, Y=tensor("b", b=2))


@pytest.mark.parametrize(
    ("formula", "shape", "alone", "expected"),
    [
        ("exp(X ⊙ 2 + cumsum_{a} X)", (2**18,), "cumsum", lambda x: np.exp(2 * x + x.cumsum())),
        ("exp(inv_{a,b} (X ⊙ 2) + X)", (2**9, 2**9), "inv", lambda x: np.exp(np.linalg.inv(2 * x) + x)),
    ],
)
def test_what_needs_a_whole_axis_is_not_computed_in_blocks(formula, shape, alone, expected):
    array = (np.arange(math.prod(shape)) % 7 / 1e6).reshape(shape) + (np.eye(*shape) if len(shape) == 2 else 0)
    X = nt.tensor(array, ("a", "b")[: len(shape)])
    steps = [step.primitive for step in compiled(formula, X=X).plan.steps]
    assert alone in steps and "tiling" in steps
    np.testing.assert_allclose(nt.evaluate(formula, X=X).array, expected(array), rtol=1e-9)


# ------------------------------------------------------------------------------------------------------------ PyTorch
def torch_values(values):
    torch = pytest.importorskip("torch")
    return {name: nt.tensor(torch.asarray(value.array), value.axes) for name, value in values.items()}


OWN = {
    "attention": (ATTENTION, of_attention(), "attention"),
    "attention and a mask": (
        "softmax_{seq}(Q ⊙_{key} K / √|key| + M) ⊙_{seq} V", {**of_attention(), "M": tensor("seq seq'")}, "attention"
    ),
    "attention of one head": (
        "softmax_{seq}(2 (q ⊙_{key} k)) ⊙_{seq} v",
        {"q": tensor("n key"), "k": tensor("seq key"), "v": tensor("val seq")}, "attention",
    ),
    "a layer": ("X ⊙_{a} W + b", {"X": tensor("a n"), "W": tensor("a h"), "b": tensor("h")}, "addmm"),
    "a layer of several axes": (
        "X ⊙_{a, c} W + b", {"X": tensor("n c m a"), "W": tensor("a h k c"), "b": tensor("k h")}, "addmm"
    ),
    "a layer between sums": (
        "2 + (Y + (X ⊙_{a} W)) + b", {"X": tensor("n a"), "Y": tensor("h n"), "W": tensor("a h"), "b": tensor("h")}, "addmm"
    ),
    "attention before a layer": (
        "(softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V) ⊙_{val} W", {**of_attention(), "W": tensor("val c")}, "attention",
    ),
    "layer-norm": ("standardize_{a} X", {"X": tensor("n a")}, "layer_norm"),
    "layer norm with what it learns": (
        "g ⊙ standardize_{a}(X; 0.01) + h", {"X": tensor("n a"), "g": tensor("a"), "h": tensor("a")}, "layer_norm"
    ),
    "layer norm written out": (
        "(X − mean_{a, b} X) / √(0.01 + var_{a, b} X) ⊙ g + h",
        {"X": tensor("n a b"), "g": tensor("b a"), "h": tensor("a b")}, "layer_norm",
    ),
    "softmax": ("softmax_{a} X", {"X": tensor("n a")}, "softmax"),
}  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_pytorch_has_operations_of_its_own(name):
    text, values, primitive = OWN[name]
    tensors = torch_values(values)
    element = compiled(text, **tensors)
    assert primitive in [step.primitive for step in element.plan.steps]
    result = element(*[value.array for value in tensors.values()])
    assert nt.allclose(result, nt.evaluate(text, values), rtol=1e-10)
    if "g" in values:
        assert "multiply" not in [step.primitive for step in element.plan.steps]  # its weights are given to it
    without = compiled(text, ("attention", "layer-norm", "linear"), **tensors)(
        *[value.array for value in tensors.values()]
    )
    assert nt.allclose(result, without, rtol=1e-10)


def test_a_module_learns():
    torch = pytest.importorskip("torch")
    parameters = torch_values({"W": tensor("a h"), "b": tensor("h")})
    module = nt.formula("X ⊙_{a} W + b").compile("torch").module(parameters)
    assert {name for name, _ in module.named_parameters()} == {"W", "b"}
    X = torch_values({"X": tensor("n a")})
    result = module(**X)
    want = X["X"].array @ parameters["W"].array + parameters["b"].array
    torch.testing.assert_close(result.array, want)
    result.array.sum().backward()
    torch.testing.assert_close(module.b.grad, torch.full((3,), 3.0, dtype=torch.float64))


# ---------------------------------------------------------------------------------------------------------- compiled
def test_a_compiled_function_shows_what_it_is():
    f = nt.formula("f(x, y) = x^2 + y").compile("numpy")
    assert float(f(3.0, 1.0)) == 10.0
    x = tensor("a")
    assert nt.allclose(f(x, x), x * x + x) and "def function(x, y):" in f.source
    np.testing.assert_allclose(f.specialize(x, x).function(x.array, x.array), x.array**2 + x.array)
    assert str(f.plan).startswith("t1 = ")


REFUSED = [
    (lambda: nt.formula("x + 1").compile("tensorflow"), 408, "unknown backend 'tensorflow'"),
    (lambda: nt.formula("x + 1").compile().plan, 309, "call the compiled formula first"),
    (lambda: nt.formula("f(x) = x").compile()(1, 2), 304, "f expects 1 argument, got 2"),
    (lambda: nt.formula("x + 1").compile(disable=("speed",)), 208, "unknown optimization 'speed'"),
    (lambda: nt.compile("x + 1", disable="tilings"), 208, "did you mean tiling?"),
    (lambda: nt.cost("x + 1", x="ℝ^{a[2]}", disable="tilings"), 208, "did you mean tiling?"),
    (
        lambda: nt.formula("∑_{i=1}^{n} h^i\nh^t = t ∑_{a} x for t = 1, …, n\nn = |a|").to_python("numpy", x="ℝ^{a}"),
        309,
        "needs the size of a as a number",
    ),
    (lambda: nt.formula("x + y").compile()(x=tensor("a"), y=tensor("a", a=4)), 302, "axis a has size 3"),
]


@pytest.mark.parametrize("wrong, number, words", REFUSED)
def test_what_is_refused(wrong, number, words):
    with pytest.raises(nt.NotationError) as caught:
        wrong()
    assert (caught.value.code, words in str(caught.value)) == (number, True), str(caught.value)


# -------------------------------------------------------------------------------------------------------------- costs
SHAPES = {
    "Q": "ℝ^{heads[2] × seq'[5] × key[8]}",
    "K": "ℝ^{heads[2] × seq[7] × key[8]}",
    "V": "ℝ^{heads[2] × seq[7] × val[3]}",
}


def test_a_cost_is_known_before_there_is_data():
    cost = nt.formula(ATTENTION).cost(SHAPES, disable=("small-sum-as-matmul",))
    assert cost.multiply_adds == 2 * 5 * 7 * (8 + 3)
    assert cost.largest == 2 * 5 * 7 * 4 and "matmul over heads[2] × seq'[5] × seq[7] × key[8]" in repr(cost)


def test_blocks_cost_as_much_and_need_less():
    shapes = {
        name: f"ℝ^{{heads[2] × {axis}[2048] × {last}[8]}}"
        for name, (axis, last) in {"Q": ("seq'", "key"), "K": ("seq", "key"), "V": ("seq", "val")}.items()
    }
    blocked, whole = (nt.formula(ATTENTION).cost(shapes, disable=off) for off in ((), ("tiling",)))
    assert blocked.multiply_adds == whole.multiply_adds == 2 * 2 * 2048 * 2048 * 8
    assert whole.largest == 2 * 2048 * 2048 * 4 and blocked.largest <= 2**20


def test_too_large_a_result_is_refused_before_it_is_made():
    with pytest.raises(nt.NotationError, match="the limit is") as caught:
        nt.formula("x ⊙ y").cost(x="ℝ^{a[100000]}", y="ℝ^{b[100000]}")
    assert caught.value.code == 404


# ------------------------------------------------------------------------------------------- what holds for every plan
def test_every_primitive_that_a_library_writes_has_a_row_and_back():
    written = {name for library in NAMES for name in backend(library).lines}
    assert written | {"same"} == set(PRIMITIVES)


def made_of(*steps, results=()):
    return Plan("", ["x"], [steps[0].arguments[0]], steps, results or [steps[-1].value])


def test_a_plan_that_breaks_a_law_is_malformed():
    CHECKS_BEFORE, CHECKS[:] = [*CHECKS], []
    try:
        x = PlanValue(("a", "b"), (2, 3), "float64")
        good = Step(PlanValue(("b", "a"), (3, 2), "float64"), "transpose", (x,), {"moves": (1, 0)})
        verify(made_of(good))
        wrong = {
            "it gives": good._replace(value=PlanValue(("b", "a"), (2, 3), "float64")),
            "there is no such primitive": good._replace(primitive="turn"),
            "it has 2 arguments": good._replace(arguments=(x, x)),
            "is not an order of": good._replace(options={"moves": (1, 1)}),
            "does not fit the shape": good._replace(value=PlanValue(("b", "b"), (3, 2), "float64")),
        }
        for text, step in wrong.items():
            with pytest.raises(MalformedPlanError, match=text):
                verify(made_of(step))
        late = Step(PlanValue(("b", "a"), (3, 2), "float64"), "exp", (good.value,), {})
        plan = made_of(good, late)
        plan.steps = plan.steps[::-1]
        with pytest.raises(MalformedPlanError, match="used before it is made"):
            verify(plan)
        one = Step(PlanValue(x.order, x.shape, x.dtype), "exp", (x,), {})
        two = Step(PlanValue(x.order, x.shape, x.dtype), "negative", (one.value,), {})
        both = Step(PlanValue(x.order, x.shape, x.dtype), "add", (one.value, two.value), {})
        with pytest.raises(MalformedPlanError, match="written over"):
            verify_memory(made_of(one, two, both), {two.value: one.value})
        verify_memory(made_of(one, two, both), {both.value: one.value})
        with pytest.raises(MalformedPlanError, match="the memory that it is made of"):
            verify_memory(made_of(one, two), {}, Workspace({one.value: "buffer_1", two.value: "buffer_1"}, (), None))
    finally:
        CHECKS[:] = CHECKS_BEFORE


def test_a_buffer_is_free_only_after_the_step_that_reads_it():
    """A product reads its operands while it writes: three in a row take turns with two buffers."""
    value = lambda: PlanValue(("a", "b"), (2, 2), "float64")
    x = value()
    products: list[Step] = []
    for _ in range(4):
        products.append(Step(value(), "dot", (products[-1].value if products else x, x), {}))
    plan = Plan("", ["x"], [x], products, [products[-1].value])
    buffers = backend("numpy").buffers(plan, False, fits=lambda item: True)
    assert [buffers.places.get(step.value) for step in products] == ["buffer_1", "buffer_2", "buffer_1", None]
    assert buffers.made == (((2, 2), "float64"),) * 2


# ------------------------------------------------------------------------------------------ the table of optimizations
def test_every_optimization_names_the_function_that_does_it():
    for row in OPTIMIZATIONS.values():
        module, _, function = row.by.partition(".")
        package = "operators" if module == "contraction" else "planning"
        assert callable(attrgetter(function)(import_module(f"namedtensor.{package}.{module}"))), row


LAWS = {  # the rows whose law is an equation, and the axes of what it names
    "deferred-normalization": {"E": "b ax", "V": "ax c", "s": "b"},
    "unshifted-softmax": {"X": "b ax"},
    "scale-smaller-operand": {"c": "", "X": "b ax", "Y": "ax d"},
    "small-sum-as-matmul": {"X": "b ax", "I": "ax"},
    "scaled-integers": {"X": "b ax", "Q": "ax c", "s": "c"},
    "broadcast-constants": {"X": "b ax", "c": "", "I": "ax"},
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_that_is_an_equation_holds(name):
    """Evaluate both sides by the paper's definitions; the text after the comma is the condition."""
    draw = np.random.default_rng(0).standard_normal
    values = {
        text: reference.tensor(
            (np.ones if text == "I" else draw)([4] * len(axes.split())).tolist(), tuple(axes.split())
        )
        for text, axes in LAWS[name].items()
    }
    left, right = re.split(", (?:where|if) ", OPTIMIZATIONS[name].identity)[0].split(" = ")
    ours, theirs = (reference.evaluate(side, values) for side in (left, right))
    np.testing.assert_allclose(ours.to_list(tuple(ours.shape)), theirs.to_list(tuple(ours.shape)), rtol=1e-12)


def test_a_law_is_a_phrase_for_a_cell_of_a_table():
    """As the page of optimizations shows them: no full stop, no exclamation."""
    assert not [
        row.identity for row in OPTIMIZATIONS.values() if not (row.identity[-1].isalnum() or row.identity[-1] == ")")
    ]


def test_every_optimization_is_done_for_libraries_that_there_are():
    assert all(set(row.targets) <= set(NAMES) for row in OPTIMIZATIONS.values())


def test_every_rewrite_is_an_optimization_in_the_place_that_its_row_names():
    for name, _, function in REWRITES:
        assert OPTIMIZATIONS[name].by == f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


@pytest.mark.parametrize(
    "sizes, is_row", [((32, 64), True), ((2**12,), True), ((4, 8, 65), True), ((15, 64), False), ((1024, 2), False)]
)
@pytest.mark.parametrize("text", ["relu(X)", "max(X, 0.5)", "min(-1, X)", "clip(X, -0.5, 0.5)"])
def test_a_number_beside_a_large_array_is_compared_as_a_row(text, sizes, is_row, monkeypatch):
    """NumPy compares an array with a row of it several entries at a time, and with a number one after the other."""
    array = np.random.default_rng(0).standard_normal(sizes).astype(np.float32)
    array.flat[:3] = np.nan, np.inf, -np.inf
    by_hand = {
        "relu(X)": lambda x: np.maximum(x, np.float32(0)), "max(X, 0.5)": lambda x: np.maximum(x, np.float32(0.5)),
        "min(-1, X)": lambda x: np.minimum(np.float32(-1), x), "clip(X, -0.5, 0.5)": lambda x: np.clip(x, -0.5, 0.5),
    }  # fmt: skip
    plans: list[Plan] = []
    monkeypatch.setattr(plan_module, "CHECKS", [*CHECKS, plans.append])
    axes = ["a", "b", "c"][: len(sizes)]
    result = nt.formula(text)(X=nt.tensor(array, axes)).to_array(axes)
    np.testing.assert_array_equal(result, by_hand[text](array))
    assert result.dtype == np.float32
    compared = [step for step in plans[-1].steps if step.primitive in ("maximum", "minimum")]
    rows = {argument.shape for step in compared for argument in step.arguments if argument.fixed}
    assert rows == ({sizes[-1:]} if is_row else {()})


def test_a_matrix_that_needs_a_copy_is_copied_once(monkeypatch):
    """What counts in a product is needed as it is and transposed: for what was multiplied, and for the weights."""
    axes = {"G": "n h s k", "W": "h k c", "X": "n s c"}
    sizes = {"n": 3, "h": 2, "s": 5, "k": 4, "c": 6}
    generator = np.random.default_rng(0)
    arrays = {name: generator.normal(size=[sizes[axis] for axis in axis.split()]) for name, axis in axes.items()}
    tensors = {name: nt.tensor(array, axes[name]) for name, array in arrays.items()}
    plans: list[Plan] = []
    monkeypatch.setattr(plan_module, "CHECKS", [*CHECKS, plans.append])
    A, B = nt.program("A = G ⊙_{h,k} W\nB = G ⊙_{n,s} X")["A", "B"](**tensors)
    assert np.allclose(A.to_array("n s c"), np.einsum("nhsk,hkc->nsc", arrays["G"], arrays["W"]))
    assert np.allclose(B.to_array("h k c"), np.einsum("nhsk,nsc->hkc", arrays["G"], arrays["X"]))
    (plan,) = plans
    (inputs,) = (value for value, name in plan.names.items() if name == "G")
    assert sum(step.primitive == "transpose" and step.arguments[0] is inputs for step in plan.steps) == 1


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("∑_{b} exp X", 128, "vecdot"),  # a product with the matrix would wake the threads of the BLAS
        ("∑_{b} exp X", 64, "dot"),
        ("∑_{c} exp(X ⊙_{b} Y)", 128, "dot"),  # they are awake
    ],
)
def test_a_sum_alone_wakes_no_thread(text, size, expected):
    run = nt.formula(text).compile("numpy", disable=("tiling",))
    tensors = {"X": tensor("a b", a=200, b=size), "Y": tensor("b c", b=size, c=128)}
    run(values={name: tensors[name] for name in tensors if name in text})
    last = [step.primitive for step in run.plan.steps if step.primitive in ("vecdot", "dot")][-1]
    assert last == expected
