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
