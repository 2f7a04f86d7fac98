"""⊙_{ax} of whole numbers, in every shape of a product and in every library."""

from __future__ import annotations

import numpy as np
import pytest

import namedtensor as nt

SIZES = {"a": 2, "b": 3, "c": 4, "d": 2}
SHAPES = [
    "a,a->",
    "ab,ab->",
    "ab,ab->a",
    "abc,abc->a",
    "ab,b->a",
    "b,ab->a",
    "ab,bc->ac",
    "abc,bcd->ad",
    "abc,abd->acd",
    "abc,abcd->ad",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtypes", [("int64", "int64"), ("int32", "int64"), ("int64", "float32")], ids="-".join)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_whole_numbers_are_contracted(library, shape, dtypes):
    xp = pytest.importorskip(library)
    random = np.random.default_rng(3)
    inputs, rest = shape.split("->")
    arrays = [
        random.integers(-4, 5, [SIZES[axis] for axis in axes]).astype(dtype)
        for axes, dtype in zip(inputs.split(","), dtypes)
    ]
    tensors = [nt.tensor(xp.asarray(array), tuple(axes)) for array, axes in zip(arrays, inputs.split(","))]
    summed = ", ".join(sorted(set(inputs) - set(rest) - {","}))
    expected = np.einsum(shape, *arrays)
    for tensor in (
        nt.evaluate(f"X ⊙_{{{summed}}} Y", X=tensors[0], Y=tensors[1]),
        nt.evaluate(f"∑_{{{summed}}} X ⊙ Y", X=tensors[0], Y=tensors[1]),
        nt.dot(*tensors, axis=tuple(summed.split(", "))),
    ):
        assert np.array_equal(np.asarray(tensor.to_array(tuple(rest)) if rest else tensor.array), expected)
