"""The value of an operator of float32 arrays has their dtype, whatever the library's own default is, and gives it to a sum."""

from __future__ import annotations

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.operators import REGISTRY

NUMBERS = np.array([0.5, -1.25, 3.0], np.float32)
CALLS = ("{}_{{c}}(B) + ∑_{{seq}} U", "{}(B) + ∑_{{seq}} U", "{}_{{c}}([1.5, 1.5, 1]_{{c}}) + ∑_{{seq}} U")


@pytest.fixture(params=["numpy", "torch", "jax.numpy", "jax.numpy of 64 bits"])
def make(request):
    module = request.param.partition(" ")[0]
    xp = pytest.importorskip(module)
    if request.param.endswith("bits"):
        pytest.importorskip("jax").config.update("jax_enable_x64", True)  # set back by tests/conftest.py
    return xp.from_numpy if module == "torch" else xp.asarray


@pytest.mark.sampled(3)
def test_operators_keep_single_precision(make):
    tensors = {"B": nt.tensor(make(NUMBERS), "c"), "U": nt.tensor(make(NUMBERS), "seq")}
    dtypes = {}
    for operator in REGISTRY:
        for call in CALLS:
            text = call.format(operator)
            try:
                dtypes[text] = str(nt.evaluate(text, tensors).dtype).removeprefix("torch.")
            except nt.NotationError:  # not an operator of one argument
                continue
    assert len(dtypes) > 60
    assert {text: dtype for text, dtype in dtypes.items() if dtype != "float32"} == {}


@pytest.mark.parametrize("text", ["{ ∑_{c} B if 0.1 > π; e otherwise }", "{ ∑_{c} B if |c| > 5; 0.1 otherwise }"])
def test_a_constant_result_has_the_dtype_of_the_inputs(make, text):
    dtypes = [make(NUMBERS.astype(dtype)) for dtype in ("float32", "float64")]
    assert [nt.evaluate(text, B=nt.tensor(array, "c")).dtype for array in dtypes] == [array.dtype for array in dtypes]


@pytest.mark.parametrize(
    ("number", "dtype"),
    [("0.00006103515625", "float16"), ("0.000061035156", "float32"), ("65504.0", "float16"), ("65504.5", "float32")],
)
def test_half_precision_multiplies_by_the_numbers_that_it_represents_at_full_precision(number, dtype):
    """The normal numbers of half precision reach from 2^−14 to 65504; others multiply in single precision."""
    compiled = nt.formula(f"B {number}").compile("numpy")
    assert compiled(B=nt.tensor(np.array([0.5, 1], np.float16), "c")).dtype == np.float16
    assert [step.value.dtype for step in compiled.plan.steps if step.primitive == "multiply"] == [dtype]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_an_identity_matrix_takes_the_dtype_beside_it(size):
    """Whether a derivative is written by an identity matrix depends on sizes; its dtype does not."""
    text = "[∂(A ⊙ (∑_{c} B))/∂B*]_{c*→c} + sinh(𝕀[V > 1])"
    numbers = np.arange(size) + 0.5
    tensors = {"A": nt.tensor(np.float32(numbers), "b"), "B": nt.tensor(np.float32([1, 2]), "c")}
    tensors["V"] = nt.tensor(np.array([1.0, 2.0]), "d")
    value = nt.program(f"B ∈ ℝ^{{c}}\nout = {text}")["out"](values=tensors)
    assert value.dtype == np.float32
    expected = numbers[:, None, None] + np.sinh([0.0, 1.0]) + np.zeros((2, 1))
    np.testing.assert_allclose(value.to_numpy("b c d"), expected, rtol=1e-6)


FULL = np.full
WRITTEN = {  # formulas whose value as written is ordinary although another order would leave the range, and this value
    "∑_{a} c ⊙ X": ("float16", 100, {"X": (FULL(1000, 100.0), "a"), "c": (0.001, "")}),
    "∑_{a} γ ⊙ X": ("float16", 100, {"X": (FULL((1000, 2), 100.0), "a b"), "γ": (FULL(2, 0.001), "b")}),
    "∑_{a} X / c": ("float16", 100, {"X": (FULL(1000, 100.0), "a"), "c": (1000, "")}),
    "(X ⊙_{k} W) ⊙ 1000": ("float16", 400, {"X": (FULL((2, 4), 100.0), "n k"), "W": (FULL((4, 300), 0.001), "k m")}),
    "A ⊙_{m} B ⊙_{k} C": (
        "float16", 1e4,
        {"A": (FULL((500, 40), 0.001), "n m"), "B": (FULL((40, 50), 10.0), "m k"), "C": (FULL(50, 500.0), "k")},
    ),
    "∑_{a} X ⊙ Y ⊙ Z": (
        "float16", 10, {"X": (FULL((10, 2), 1e-6), "a b"), "Y": (FULL((10, 2), 1e3), "a b"), "Z": (FULL(10, 1e3), "a")},
    ),
    "softmax_{k}(S) ⊙_{k} V": ("float16", 1000, {"S": (FULL((2, 100), 0.0), "q k"), "V": (FULL((100, 3), 1000.0), "k v")}),
    "logsumexp_{k}(S)": ("float16", np.log(70_000), {"S": (FULL((2, 70_000), 0.0), "q k")}),
    "X ⊙_{a} (Q ⊙ s)": (
        "float16", 700,
        {"X": (FULL((2, 7), 100.0), "n a"), "Q": (FULL((3, 7), 100, np.int8), "m a"), "s": (FULL(3, 0.01), "m")},
    ),
    "(X ⊙_{k} W) / 10^{30}": ("float32", 4e-20, {"X": (FULL((2, 4), 1e-20), "n k"), "W": (FULL((4, 300), 1e30), "k m")}),
    "∑_{a} c ⊙ X + 0": ("float32", 7e36, {"X": (FULL(70, 1e38), "a"), "c": (1e-3, "")}),
    "∑_{a} (c ⊙ X)": ("bfloat16", 7e36, {"X": (FULL(70, 1e38), "a"), "c": (1e-3, "")}),
    "softmax_{k}(S) ⊙_{k} V + 0": ("float32", 1e38, {"S": (FULL((2, 100), 0.0), "q k"), "V": (FULL((100, 3), 1e38), "k v")}),
    "0 + softmax_{k}(S) ⊙_{k} V": ("float64", 1e307, {"S": (FULL((2, 100), 3.0), "q k"), "V": (FULL((100, 3), 1e307), "k v")}),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("text", WRITTEN)
def test_no_optimization_leaves_the_range_of_the_dtype(text, library):
    module = pytest.importorskip("jax.numpy" if library == "jax" else library)
    dtype, expected, given = WRITTEN[text]
    if (library, dtype) == ("jax", "float64"):
        pytest.importorskip("jax").config.update("jax_enable_x64", True)  # set back by tests/conftest.py
    tensors = {}
    for name, (numbers, axes) in given.items():
        of_integers = getattr(numbers, "dtype", "") == np.int8
        make = module.tensor if library == "torch" else module.asarray
        names = pytest.importorskip("ml_dtypes") if (library, dtype) == ("numpy", "bfloat16") else module
        tensors[name] = nt.tensor(make(numbers, dtype=module.int8 if of_integers else getattr(names, dtype)), axes)
    result = nt.evaluate(text, tensors)
    array = np.asarray(result.array.double() if library == "torch" else result.array, dtype=float)
    assert str(result.dtype).removeprefix("torch.") == dtype
    np.testing.assert_allclose(array, expected, rtol=2e-2 if dtype in ("float16", "bfloat16") else 1e-5)
