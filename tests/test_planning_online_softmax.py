"""softmax_{S}(X) ⊙_{C} V for every S and C: what plans make of it is the sum of the products."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.planning.optimizations import OPTIMIZATIONS

AXES = {"a": 2, "b": 3, "c": 4}
RANDOM = np.random.default_rng(5)
SOME = [axes for count in (1, 2, 3) for axes in itertools.combinations(AXES, count)]


def tensor(axes: tuple[str, ...]) -> nt.NamedTensor:
    return nt.tensor(RANDOM.normal(size=[AXES[axis] for axis in axes]), axes)


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("summed", SOME, ids="".join)
@pytest.mark.parametrize("soft", SOME, ids="".join)
def test_a_softmax_contracted_over_any_axes(soft, summed, flipped):
    X = tensor(("a", "b", "c"))
    V = nt.tensor(RANDOM.normal(size=[AXES[axis] for axis in summed] + [5]), (*summed, "v"))
    powers = np.exp(X.array)
    weights = powers / powers.sum(tuple("abc".index(axis) for axis in soft), keepdims=True)
    rest = "".join(axis for axis in "abc" if axis not in summed)
    expected = np.einsum(f"abc,{''.join(summed)}v->{rest}v", weights, V.array)
    sides = [f"softmax_{{{', '.join(soft)}}}(X)", "V"][:: -1 if flipped else 1]
    formula = nt.formula(f" ⊙_{{{', '.join(summed)}}} ".join(sides))
    for without in ((), tuple(OPTIMIZATIONS)):
        result = formula.compile("numpy", disable=without)(X=X, V=V)
        np.testing.assert_allclose(result.to_array((*rest, "v")), expected, rtol=1e-12)


def test_a_renamed_tensor_is_sliced_as_it_is_weighed_and_as_it_is():
    """Of one tensor that the weights read by two names of an axis, each slice is of its own rows."""
    sizes = {"heads": 4, "seq": 1200, "key": 8}
    X, V = (nt.tensor(RANDOM.normal(size=[*sizes.values()]), (*sizes,)) for _ in range(2))
    text = "softmax_{seq'}(X ⊙_{key} X_{seq→seq'}) ⊙_{seq'} V_{seq→seq'}"
    scores = X.array @ X.array.transpose(0, 2, 1)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    expected = powers / powers.sum(-1, keepdims=True) @ V.array
    np.testing.assert_allclose(nt.evaluate(text, X=X, V=V).to_array((*sizes,)), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("sliced", [True, False])
def test_a_sliced_product_has_the_axes_of_the_first_factor_first_and_a_block_its_rows(sliced):
    Q, K = (nt.tensor(RANDOM.normal(size=(1200, 8)), (axis, "key")) for axis in ("query", "seq"))
    V = nt.tensor(RANDOM.normal(size=(8, 1200)), ("val", "seq"))
    soft = "softmax_{seq}(Q ⊙_{key} K)"
    for text, axes in ((f"{soft} ⊙_{{seq}} V", ("query", "val")), (f"V ⊙_{{seq}} {soft}", ("val", "query"))):
        compiled = nt.formula(text).compile("numpy", disable=() if sliced else ("online-softmax",))
        assert compiled(Q=Q, K=K, V=V).axes == (axes if sliced else ("query", "val"))
        assert ("_slice_" in str(compiled.plan)) == sliced
