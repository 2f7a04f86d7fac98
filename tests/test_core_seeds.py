"""Seeds: a key of `jax.random` is one wherever an integer is."""

from typing import Any

import numpy as np
import pytest

import namedtensor as nt
from transformer import FFN, GPT2

jax = pytest.importorskip("jax")
jnp = jax.numpy

SIZES = {"chans": 16, "hidden": 32}
KEY = jax.random.key(7)


def arrays(layer: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(layer)]


def same(left: Any, right: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(arrays(left), arrays(right), strict=True))


def init(key: Any) -> FFN:
    return FFN.init(key, SIZES, dtype="float32")


@pytest.mark.slow
def test_a_key_draws_the_parameters_of_a_layer():
    layer = init(KEY)
    assert all(isinstance(leaf, jax.Array) and leaf.dtype == "float32" for leaf in jax.tree.leaves(layer))
    assert same(layer, init(jax.random.key(7))) and not same(layer, init(jax.random.key(8)))
    W = layer.parameters["W_1"]
    assert W.axes == FFN.init(0, SIZES).parameters["W_1"].axes
    assert abs(float(W.array.std()) / (2 / 16) ** 0.5 - 1) < 0.15 and not layer.parameters["b_1"].array.any()
    x = nt.tensor(jnp.ones((3, 16)), "seq chans")
    assert layer(x).sizes == {"seq": 3, "chans": 16}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_key_draws_the_same_while_jax_traces(dtype: str):
    make = lambda key: FFN.init(key, SIZES, dtype=dtype)
    traced = jax.jit(make)(KEY)
    for name, value in make(KEY).parameters.items():
        assert traced.parameters[name].dtype == dtype
        np.testing.assert_allclose(
            traced.parameters[name].array, value.array, rtol=1e-2 if dtype == "float16" else 1e-6
        )


def test_keys_that_are_mapped_over_make_an_ensemble():
    keys = jax.random.split(KEY, 3)
    ensemble = jax.vmap(init, out_axes="member")(keys)
    assert ensemble.parameters["W_1"].sizes == {"member": 3, "chans": 16, "hidden": 32}
    x = nt.tensor(jnp.linspace(0, 1, 16), "chans")
    y = jax.vmap(lambda layer: layer(x), in_axes="member")(ensemble)
    for number, key in enumerate(keys):
        np.testing.assert_allclose(y.array[number], init(key)(x).array, rtol=1e-5, atol=1e-6)


def test_a_parameter_is_drawn_by_its_name():
    """So other parameters of a program do not change it."""
    one = nt.init("W ∈ ℝ^{a × b}\nY = X ⊙_{a} W", KEY, {"b": 2}, X="ℝ^{a[3]}")
    two = nt.init("V ∈ ℝ^{a × b}\nW ∈ ℝ^{a × b}\nY = X ⊙_{a} W + X ⊙_{a} V", KEY, {"b": 2}, X="ℝ^{a[3]}")
    assert np.array_equal(one["W"].array, two["W"].array) and not np.array_equal(two["W"].array, two["V"].array)


DRAW = "z ∼ N(0, 1)\n𝔼_{z}[z^2] − 1"


@pytest.mark.slow
def test_a_key_is_the_seed_of_a_formula():
    one, again, other = (float(nt.evaluate(DRAW, seed=jax.random.key(n), draws=5)) for n in (1, 1, 2))
    assert one == again != other and abs(float(nt.evaluate(DRAW, seed=KEY, draws=10_000))) < 0.1
    draw = nt.formula("z ∼ N(0, 1)\nz").compile("jax")
    values = jax.vmap(jax.jit(lambda key: draw(seed=key).array))(jax.random.split(KEY, 2000))
    assert abs(values.mean()) < 0.1 and abs(values.std() - 1) < 0.1


def test_a_key_draws_tokens():
    sizes = {"L": 1, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 9, "place": 20}
    model, ids = GPT2.init(0, sizes), nt.tensor([[1, 2, 3]], "batch seq")
    one, again, other = (
        model.generate(ids, max_new_tokens=12, temperature=5.0, seed=jax.random.key(n)).tolist("batch seq")
        for n in (1, 1, 2)
    )
    assert one == again != other


WRONG = {
    "several keys": (lambda: init(jax.random.split(KEY, 3)), "208: expected one key as the seed, got 3 keys"),
    "a text": (lambda: init("a"), "208: the seed must be a non-negative integer"),
    "keys in a tensor": (lambda: nt.tensor(jax.random.split(KEY, 3), "run"), "317: expected numbers"),
    "several keys in a formula": (lambda: nt.evaluate(DRAW, seed=jax.random.split(KEY, 3)), "208: expected one key"),
}  # fmt: skip


@pytest.mark.parametrize("call, message", WRONG.values(), ids=WRONG)
def test_what_is_no_seed_is_refused(call: Any, message: str):
    with pytest.raises(nt.NotationError) as raised:
        call()
    assert message in str(raised.value)
