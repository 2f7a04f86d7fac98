"""Softmax that does not take the largest off first, unless the numbers are extreme: the same in every case."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest

import namedtensor as nt

ATTENTION = "Attention(Q, K, V) = softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V"
SMALL = {"heads": 2, "queries": 4, "seq": 5, "key": 8, "val": 3}
LATE = SMALL | {"seq": 9}  # more keys than values: the sums divide last
BLOCKED = {"heads": 2, "queries": 700, "seq": 900, "key": 8, "val": 16}
SLICED = {"heads": 2, "queries": 500, "seq": 1100, "key": 8, "val": 16}  # two slices of keys, and a rest
AXES = {"Q": "heads queries key", "K": "heads seq key", "V": "heads seq val"}


def drawn(sizes, dtype="float32"):
    generator = np.random.default_rng(3)
    return {
        name: generator.normal(size=[sizes[axis] for axis in axes.split()]).astype(dtype) for name, axes in AXES.items()
    }


def moderate(arrays):
    return arrays


def large(arrays):
    """Scores of hundreds, in all rows."""
    return arrays | {"Q": 100 * arrays["Q"]}


def one_large(arrays):
    """Scores of thousands in one row, moderate ones elsewhere."""
    Q = arrays["Q"].copy()
    Q[1, 3] *= 1000
    return arrays | {"Q": Q}


def far_below(arrays):
    """Scores that are all about −500: every exponential is zero in float32."""
    Q, K = np.abs(arrays["Q"]) + 1, -np.abs(arrays["K"]) - 1
    return arrays | {"Q": 30 * Q, "K": K}


def large_values(arrays):
    """Sums that are moderate, and values near the end of what numbers there are."""
    V = arrays["V"] * arrays["V"].dtype.type(2.0 ** (100 if arrays["V"].dtype == np.float32 else 900))
    return arrays | {"Q": 5 * arrays["Q"], "V": V}


def nothing_there(arrays):
    K = arrays["K"].copy()
    K[0, 2] = np.nan
    return arrays | {"K": K}


KINDS = {
    item.__name__.replace("_", " "): item
    for item in (moderate, large, one_large, far_below, large_values, nothing_there)
}


def by_definition(Q, K, V):
    """Row by row in float64, or wider where there is more."""
    Q, K, V = (item.astype(np.longdouble) for item in (Q, K, V))
    array = np.empty((*Q.shape[:2], V.shape[-1]), np.longdouble)
    for h in range(Q.shape[0]):
        for q in range(Q.shape[1]):
            scores = K[h] @ Q[h, q]
            weights = np.exp(scores - scores.max())
            array[h, q] = (weights / weights.sum()) @ V[h]
    return array


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", [SMALL, LATE, BLOCKED, SLICED], ids=["small", "late", "blocked", "sliced"])
@pytest.mark.parametrize("kind", KINDS)
def test_extreme_numbers_make_no_difference(kind, sizes, dtype):
    arrays = KINDS[kind](drawn(sizes, dtype))
    tensors = {name: nt.tensor(array, AXES[name]) for name, array in arrays.items()}
    formula = nt.formula(ATTENTION)
    fast, fallback = formula.compile("numpy"), formula.compile("numpy", disable=("unshifted-softmax",))
    order = "heads queries val"
    with np.errstate(all="ignore"):
        right = by_definition(**arrays)
    for _ in range(3):
        result, other = (compiled_formula(*tensors.values()).to_array(order) for compiled_formula in (fast, fallback))
        scores = np.abs(arrays["Q"]).max() * np.abs(arrays["K"]).max() * sizes["key"]  # whose rounding exp makes larger
        close = {"rtol": float(20 * np.finfo(dtype).eps * max(10.0, scores)), "equal_nan": True}
        size = float(np.nanmax(np.abs(right)))
        assert np.allclose(result / size, (right / size).astype(dtype), atol=close["rtol"], **close)
        assert np.allclose(result / size, other / size, atol=close["rtol"], **close)
    assert ("shifted(" in fast.source) == (sizes is not SLICED) and "shifted(" not in fallback.source
    assert ("sum_slices(" in fast.source) == (sizes is SLICED) and "sum_slices(" not in fallback.source


def test_the_plan_checks_the_sums():
    tensors = {name: nt.tensor(array, AXES[name]) for name, array in drawn(SMALL).items()}
    compiled = nt.formula(ATTENTION).compile("numpy")
    compiled(*tensors.values())
    text = str(compiled.plan)
    assert " = max(" not in text and "= shifted(t6, t3, t2; along 2)" in text and "= normalize(t8, t9, t3, V;" in text


def test_a_softmax_written_out_is_done_as_written():
    """exp(X − max X) is what it says, also beside a softmax of the same."""
    X = nt.tensor([[1.0, 2.0, 4.0], [0.0, 1.0, 0.0]], "b a")
    array = nt.evaluate("softmax_{a} X + exp(X − max_{a} X)", X=X).to_array("b a")
    away = np.exp(X.array - X.array.max(1, keepdims=True))
    assert np.allclose(array, away / away.sum(1, keepdims=True) + away)


@pytest.mark.parametrize("sizes", [SMALL, BLOCKED, SLICED], ids=["small", "blocked", "sliced"])
def test_the_text_for_extreme_numbers_runs_by_itself(tmp_path, sizes):
    arrays = one_large(drawn(sizes))
    tensors = {name: nt.tensor(array, AXES[name]) for name, array in arrays.items()}
    formula = nt.formula(ATTENTION)
    text = formula.to_python("numpy", tensors)
    np.savez(tmp_path / "arrays.npz", allow_pickle=False, **arrays)
    (tmp_path / "alone.py").write_text(
        f"{text}\n\narrays = np.load('arrays.npz')\nnp.save('found.npy', function(*(arrays[name] for name in 'QKV')))\n"
    )
    subprocess.run([sys.executable, "-I", "alone.py"], cwd=tmp_path, check=True)
    result = np.load(tmp_path / "found.npy")
    assert np.allclose(result, by_definition(**arrays), atol=1e-3)


def test_rows_of_nothing_but_masks_have_no_answer():
    X = nt.tensor(np.array([[-np.inf, -np.inf], [0.0, -np.inf]]), "b a")
    array = nt.evaluate("softmax_{a} X", X=X).to_array("b a")
    assert np.isnan(array[0]).all() and array[1].tolist() == [1, 0]


MASKED = "softmax_{seq}(Q ⊙_{key} K / √|key| + M) ⊙_{seq} V"


@pytest.mark.parametrize("text", [MASKED, "V ⊙_{seq} softmax_{seq}(relu(Q ⊙_{key} K_{keys→seq}) + M)"])
def test_what_the_scores_are_made_of_is_sliced_too(text):
    """Masks with and without the axis of the keys, keys by another name, values before the weights."""
    generator = np.random.default_rng(5)
    axes = {"Q": "q key", "K": ("keys key" if "keys" in text else "seq key"), "V": "seq val"}
    sizes = {"q": 900, "seq": 1500, "keys": 1500, "key": 4, "val": 3}
    tensors = {
        name: nt.tensor(generator.normal(size=[sizes[a] for a in axis.split()]), axis) for name, axis in axes.items()
    }
    for mask in ("q seq", "seq", "q"):
        M = generator.normal(size=[sizes[axis] for axis in mask.split()])
        tensors["M"] = nt.tensor(np.where(M < -1, -np.inf, M) if "seq" in mask else M, mask)
        whole, sliced = (nt.formula(text).compile("numpy", disable=off) for off in (("tiling",), ()))
        result, right = (compiled_formula(values=tensors).to_array("q val") for compiled_formula in (sliced, whole))
        assert "sum_slices(" in sliced.source
        assert np.allclose(result, right, rtol=1e-12, atol=1e-12)


def test_a_long_sum_costs_no_more_in_slices():
    shapes = {"Q": "ℝ^{q[4096] × key[8]}", "K": "ℝ^{seq[100000] × key[8]}", "V": "ℝ^{seq[100000] × val[8]}"}
    formula = nt.formula(ATTENTION)
    sliced, blocked = (formula.cost(shapes, disable=off) for off in ((), ("online-softmax",)))
    assert sliced.multiply_adds == blocked.multiply_adds
    assert sliced.largest == 4 * 512 * 512


LONG = "softmax_{b} X + standardize_{b} X + softmax_{b}(3 standardize_{b} X) + standardize_{b}(softmax_{b}(2 X))"
ROWS_OF = {
    "moderate": lambda row: row,
    "large": lambda row: 500 * row,
    "far below": lambda row: row - 500,
    "squares overflow": lambda row: row * row.dtype.type(2.0 ** (100 if row.dtype == np.float32 else 900)),
    "masked": lambda row: np.where(np.arange(len(row)) < 3, row, -np.inf).astype(row.dtype),
    "nan": lambda row: np.where(np.arange(len(row)) < 3, row, np.nan).astype(row.dtype),
}


def long_by_definition(row):
    """In wider floats, and by the largest, as the definitions say."""
    row = row.astype(np.longdouble)

    def softmax(x):
        powers = np.exp(x - x.max())
        return powers / powers.sum()

    def standardize(x):
        return (x - x.mean()) / np.sqrt(x.var() + 1e-5)

    return softmax(row) + standardize(row) + softmax(3 * standardize(row)) + standardize(softmax(2 * row))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ROWS_OF)
@pytest.mark.parametrize("columns", [96, 700])
def test_extreme_numbers_make_no_difference_to_a_long_plan(kind, dtype, columns):
    array = np.random.default_rng(5).normal(size=(128, columns)).astype(dtype)
    array[7] = ROWS_OF[kind](array[7])
    X = nt.tensor(array, "a b")
    fast, fallback = (nt.formula(LONG).compile("numpy", disable=item) for item in ((), ("unshifted-softmax",)))
    result, other = (compiled_formula(X=X).to_array("a b") for compiled_formula in (fast, fallback))
    with np.errstate(all="ignore"):
        right = np.array([long_by_definition(row) for row in array])
    close = {"atol": 2e-2 if dtype == "float32" and kind == "large" else 1e-4, "rtol": 1e-4, "equal_nan": True}
    assert np.allclose(result, right.astype(dtype), **close)
    assert np.allclose(result, other, **close)
    kernels = [step.primitive for step in fast.plan.steps if step.primitive in ("shifted", "standardize")]
    assert sorted(kernels) == ["shifted"] * 3 + ["standardize"] * 2
    assert "shifted(" not in fallback.source


def test_a_long_text_runs_by_itself(tmp_path):
    array = np.random.default_rng(5).normal(size=(128, 96))
    array[3] *= 1e200
    np.save(tmp_path / "x.npy", array)
    text = nt.formula(LONG).to_python("numpy", {"X": nt.tensor(array, "a b")})
    (tmp_path / "alone.py").write_text(f"{text}\n\nnp.save('found.npy', function(np.load('x.npy')))\n")
    subprocess.run([sys.executable, "-I", "alone.py"], cwd=tmp_path, check=True)
    with np.errstate(all="ignore"):
        right = np.array([long_by_definition(row) for row in array])
    assert np.allclose(np.load(tmp_path / "found.npy"), right.astype(float), atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 5), (40, 60), (300, 7), (2, 3, 4), (9000, 3), (1, 5)])
def test_sums_of_new_arrays_over_the_first_and_the_last_axes(shape, dtype):
    array = np.random.default_rng(6).normal(size=shape).astype(dtype)
    axes = "abc"[: len(shape)]
    X, exact = nt.tensor(array, " ".join(axes)), np.exp(array.astype(np.longdouble))
    for first in range(len(shape) + 1):
        for last in range(first, len(shape) + 1):
            summed, remaining = axes[first:last], axes[:first] + axes[last:]
            if summed:
                result = nt.evaluate(f"∑_{{{','.join(summed)}}} exp X", X=X).to_array(" ".join(remaining))
                right = exact.sum(tuple(range(first, last))).astype(dtype)
                assert result.dtype == dtype and np.allclose(result, right, rtol=1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("text, step", [("argmax_{i} x_{a(i)}", "argmax"), ("argmin_{i} x_{a(i)}", "argmax")])
def test_the_place_of_an_extreme_is_found_without_sorting(text, step):
    x = nt.tensor([3.0, 1.0, 5.0, 2.0], "a")
    code = nt.program(text).to_python(x=x)
    assert f".{step}(" in code and "sort" not in code
    assert int(nt.evaluate(text, x=x)) == {"argmax": 3, "argmin": 2}[text[:6]]


LARGEST = {
    "float16": (0.0, -5.0),
    "float32": (0.0, -6.5, -20.0, -40.0, -85.0, 30.0),
    "float64": (0.0, -6.5, -300.0, -700.0, 300.0),
}
BELOW = {"float16": (5.0, 9.0), "float32": (60.0, 70.0, 80.0), "float64": (60.0, 460.0, 700.0)}
LOGARITHMS = {  # formulas for the logarithms of the weights of a row of scores X, and V that picks the first weight
    "softmax": "log(softmax_{a} X)_{a(1)}",
    "a quotient": "log((exp(X) / ∑_{a} exp(X))_{a(1)})",
    "over two axes": "log((softmax_{c, b} [X]_{a→(c, b)})_{c(1), b(1)})\n|b| = 2",
    "normalized late": "log(softmax_{a} X ⊙_{a} V)_{v(1)}",
    "a sum of cases": "∑_{a} { log(softmax_{a} X) if iota_{a} = 1; 0 otherwise }",
    "in slices": "log(softmax_{a}(Q ⊙_{d} K) ⊙_{a} V)_{v(1), q(7)}",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", LARGEST)
@pytest.mark.parametrize("name", LOGARITHMS)
def test_a_weight_far_below_the_largest_is_exact(name, dtype):
    """e^(largest − below) may be 0, or have a few bits alone, although the weight e^−below has all."""
    text, sizes = LOGARITHMS[name], {"a": 1200 if name == "in slices" else 100}
    for largest, below in itertools.product(LARGEST[dtype], BELOW[dtype]):
        scores = np.full(sizes["a"], -2e4, dtype)
        scores[:2] = largest - below, largest
        V = np.zeros((sizes["a"], 32 if name == "in slices" else 2), dtype)  # else float32 has no slices
        V[0, 0] = 1
        given = {"X": nt.tensor(scores, "a"), "V": nt.tensor(V, "a v")}
        if name == "in slices":
            Q, K = np.zeros((700, 32), dtype), np.zeros((sizes["a"], 32), dtype)
            Q[:, 0], K[:, 0] = 1, scores
            given |= {"Q": nt.tensor(Q, "q d"), "K": nt.tensor(K, "a d")}
        result = nt.formula(text)(values={key: given[key] for key in given if key in text})
        assert float(result) == pytest.approx(-below, rel={"float16": 2e-2}.get(dtype, 1e-5)), (largest, below)


@pytest.mark.parametrize(("largest", "other"), [(-300.0, -760.0), (-700.0, -745.0), (0.0, -460.0), (600.0, 140.0)])
def test_entropy_and_gradient_of_scores_far_apart(largest, other):
    x, t = nt.tensor([largest, other], "c"), nt.tensor([0.0, 1.0], "c")
    below = largest - other
    entropy = nt.evaluate("−∑_{c} p ⊙ log p\np = softmax_{c} x", x=x)
    assert float(entropy) == pytest.approx(below * np.exp(-below), rel=1e-9)
    gradient = nt.evaluate("∂(−∑_{c} t ⊙ log(softmax_{c} x))/∂x", x=x, t=t)
    assert gradient.array == pytest.approx([1.0, -1.0], abs=1e-15)


def test_the_gradient_of_attention_to_large_values_is_finite():
    torch = pytest.importorskip("torch")
    V = torch.full((100, 8), 1e38, requires_grad=True)
    given = {"Q": (torch.zeros(20, 8), "q d"), "K": (torch.zeros(100, 8), "k d"), "V": (V, "k v")}
    tensors = {name: nt.tensor(array, axes) for name, (array, axes) in given.items()}
    result = nt.evaluate("softmax_{k}(Q ⊙_{d} K) ⊙_{k} V", tensors).to_array("q v")
    np.testing.assert_allclose(result.detach().numpy(), 1e38, rtol=1e-5)
    result.sum().backward()
    np.testing.assert_allclose(V.grad.numpy(), 0.2, rtol=1e-5)


CHAIN, OF_CHAIN, CHAIN_SIZES = (
    "A ⊙_{m} B ⊙_{k} C",
    {"A": "n m", "B": "m k", "C": "k"},
    {"n": 130, "m": 120, "k": 100},
)
END = {"float32": 30, "float64": 240}  # 10^END is in the range of the dtype, but its square is not
SCALES = {
    "B ⊙ C overflows": lambda end: (10.0**-end, 10.0**end, 10.0**end),
    "B ⊙ C underflows": lambda end: (10.0**end, 10.0**-end, 10.0 ** (-end // 2)),
    "A ⊙ B overflows": lambda end: (10.0 ** (end // 4), 10.0 ** (end // 4), 10.0 ** (-end // 4)),
}
CHAIN_SHAPES = {
    name: f"ℝ^{{{' × '.join(f'{axis}[{CHAIN_SIZES[axis]}]' for axis in axes.split())}}}"
    for name, axes in OF_CHAIN.items()
}


def factors_of_chain(a, b, c):
    """Return the factors of A ⊙ B ⊙ C, whose numbers are between 1 and 2, or 0, times these."""
    draw = np.random.default_rng(4)
    shapes = [[CHAIN_SIZES[axis] for axis in axes.split()] for axes in OF_CHAIN.values()]
    return {name: draw.uniform(1, 2, shape) * scale for name, shape, scale in zip(OF_CHAIN, shapes, (a, b, c))}


def chain_of(arrays, library, dtype):
    """Return the value of the chain for arrays of a library."""
    xp = pytest.importorskip("jax.numpy" if library == "jax" else library)
    if (library, dtype) == ("jax", "float64"):
        pytest.importorskip("jax").config.update("jax_enable_x64", True)  # set back by tests/conftest.py
    tensors = {
        name: nt.tensor(xp.asarray(array.astype(dtype), dtype=getattr(xp, dtype)), OF_CHAIN[name])
        for name, array in arrays.items()
    }
    result = nt.evaluate(CHAIN, tensors).to_array("n")
    return np.asarray(getattr(result, "_array", result))


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_the_chain_of_these_tests_is_computed_in_another_order(library):
    assert "written_1, (A, B, C))" in nt.formula(CHAIN).to_python(library, CHAIN_SHAPES)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "array_api_strict"])
@pytest.mark.parametrize("dtype", END)
@pytest.mark.parametrize("name", [*SCALES, "one row underflows", "one column of zeros"])
def test_a_chain_keeps_its_range_in_each_element(name, dtype, library):
    end = END[dtype]
    if name in SCALES:
        arrays = factors_of_chain(*SCALES[name](end))
    else:
        row = np.ones((CHAIN_SIZES["m"], 1))
        row[0] = 10.0**-end if name == "one row underflows" else 0
        arrays = factors_of_chain(1, row, 10.0 ** (-end // 2) if row[0] else 1)
        if row[0]:  # Only the tiny row counts.
            arrays["A"][:, 0] *= 10.0**end
            arrays["A"][:, 1:] = 0
    A, B, C = (array.astype(dtype).astype(np.longdouble) for array in arrays.values())
    np.testing.assert_allclose(chain_of(arrays, library, dtype), A @ B @ C, rtol=1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize(
    ("factors", "recomputes"),
    [((1, 1, 1), False), ((1e-12, 1e-12, 1e12), False), ((1, "mask", 1), False), ((1e-25, 1e-25, 1e-20), True), ((1, 1e30, 1e30), True)],
)  # fmt: skip
def test_zeros_in_the_data_do_not_make_a_chain_recompute(factors, recomputes, library):
    """The values that the other order makes may be 0 without an underflow."""
    xp = pytest.importorskip(library)
    mask = np.arange(CHAIN_SIZES["m"])[:, None] % 2
    arrays = factors_of_chain(*(mask if factor == "mask" else factor for factor in factors))
    space, calls = {}, []
    exec(nt.formula(CHAIN).to_python(library, CHAIN_SHAPES), space)
    written = space["written_1"]
    space["written_1"] = lambda *factors: calls.append(factors) or written(*factors)
    with np.errstate(over="ignore"):
        result = space["function"](**{name: xp.asarray(array.astype("float32")) for name, array in arrays.items()})
    assert len(calls) == recomputes
    if not recomputes:
        np.testing.assert_allclose(result, arrays["A"] @ arrays["B"] @ arrays["C"], rtol=1e-5)


@pytest.mark.parametrize("sizes", [{"n": 0}, {"m": 0}, {"k": 0}])
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_a_chain_of_unknown_sizes_may_be_empty(library, sizes):
    pytest.importorskip(library)
    arrays = factors_of_chain(1, 1, 1)
    compiled = nt.formula(CHAIN).compile(library)
    for size in ({}, {"n": 129}, {"n": 128}, sizes):
        given = {
            name: array[tuple(slice((CHAIN_SIZES | size)[axis]) for axis in OF_CHAIN[name].split())]
            for name, array in arrays.items()
        }
        tensors = {name: nt.tensor(array, OF_CHAIN[name]).to(library) for name, array in given.items()}
        result = np.asarray(compiled(**tensors).to_array("n"))
        np.testing.assert_allclose(result, given["A"] @ given["B"] @ given["C"], rtol=1e-5)


def gradients_of_chain(A, B, C, G):
    return np.outer(G, B @ C), np.outer(G @ A, C), G @ (A @ B)


OVERFLOW, GRADIENT = factors_of_chain(1e-30, 1e30, 1e30), np.full(CHAIN_SIZES["n"], 1e-30)


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_the_gradient_of_a_chain_as_written_has_no_other_infinities(library, mapped):
    module = pytest.importorskip("torch.func" if library == "torch" else "jax")
    xp = pytest.importorskip("torch" if library == "torch" else "jax.numpy")

    def loss(*given):
        tensors = {name: nt.tensor(array, OF_CHAIN[name]) for name, array in zip(OF_CHAIN, given)}
        return (nt.formula(CHAIN)(values=tensors).to_array("n") * xp.asarray(GRADIENT.astype("float32"))).sum()

    gradient, given = module.grad(loss, (0, 1, 2)), [xp.asarray(array.astype("float32")) for array in OVERFLOW.values()]
    if mapped:
        results = [array[1] for array in module.vmap(gradient)(*(xp.stack([array, array]) for array in given))]
    else:
        results = gradient(*given)
    for array, expected in zip(results, gradients_of_chain(**OVERFLOW, G=GRADIENT)):
        np.testing.assert_allclose(np.asarray(array), expected, rtol=1e-5)
