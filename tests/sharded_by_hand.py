"""What `test_sharding.py` compares with sharding by hand, in processes of 8, 64 and 512 devices: `python sharded_by_hand.py`.

The block is written in `jax.numpy` once more, with `with_sharding_constraint` where each way to shard it needs one: the
compiled functions are compared in kinds, counts and bytes of their collectives. The memory of looped layers is compared
with that of a scan that gathers the weights of one layer in its body.
"""

import sys
from types import MappingProxyType

import jax
import jax.numpy as jnp
import numpy as np
import sharded_cases
from jax.lax import with_sharding_constraint
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from sharded_cases import LAYER, MESH, ORDER, Block, Layers, less_or_equal, norm_by_hand

import namedtensor as nt
from namedtensor.sharding.collectives import collectives
from namedtensor.sharding.training import ADAM

EVERY = MESH.axis_names
AUTO = Mesh(MESH.devices, EVERY)
COUNT = MESH.devices.size
SIZES = {"batch": 2 * COUNT, "seq": 128, "chans": 1024, "heads": 16, "key": 64, "hidden": 4096}
ORDERS = {
    **dict.fromkeys(("W_Q", "W_K", "W_V"), "chans heads key"), "W_O": "heads key chans", "W_1": "chans hidden",
    "W_2": "hidden chans", **dict.fromkeys(("b_Q", "b_K", "b_V"), "heads key"), "b_1": "hidden",
}  # fmt: skip
NAMES = [name for name in LAYER.parameters if name != "ε"]
TENSOR = {"batch": "data", "heads": "model", "hidden": "model"}


def placed(rules, axes):
    return NamedSharding(AUTO, PartitionSpec(*(rules.get(axis) for axis in axes.split())))


def block_by_hand(computed, between):
    """The block with its parameters as `computed` with, and the values that `between` names placed."""

    def at(name, value):
        return with_sharding_constraint(value, between[name]) if name in between else value

    def block(parameters, x):
        p = {name: with_sharding_constraint(array, computed[name]) for name, array in parameters.items()}
        n = norm_by_hand(x, p["γ_1"], p["β_1"])
        q, k, v = (at(name, jnp.einsum("bsc,chk->bshk", n, p[f"W_{name}"]) + p[f"b_{name}"]) for name in "QKV")
        weights = jax.nn.softmax(jnp.einsum("bshk,bthk->bhst", q, k) / np.sqrt(q.shape[-1]), -1)
        mixed = jnp.einsum("bhst,bthk->bshk", weights, v)
        t = at("T", x + jnp.einsum("bshk,hkc->bsc", mixed, p["W_O"]) + p["b_O"])
        n = norm_by_hand(t, p["γ_2"], p["β_2"])
        return t + jax.nn.relu(n @ p["W_1"] + p["b_1"]) @ p["W_2"] + p["b_2"]

    return block


def compared(rules, compute_rules=None, value_rules=None, between=MappingProxyType({})):
    """The collectives of the block and of its gradient: by hand, and by names."""
    computed = compute_rules or rules
    sharded = nt.program(Block.notation).shard(rules, MESH, compute_rules, value_rules=value_rules)
    orders = {name: ORDERS.get(name, "chans") for name in NAMES}
    stored = {name: placed(rules, axes) for name, axes in orders.items()}
    shapes = {name: {axis: SIZES[axis] for axis in axes.split()} for name, axes in orders.items()}
    arrays = {
        name: jax.ShapeDtypeStruct(tuple(shape.values()), "float32", sharding=stored[name])
        for name, shape in shapes.items()
    }
    tensors = {name: sharded.abstract(shape) for name, shape in shapes.items()}
    rows, shape = placed(computed, ORDER), {axis: SIZES[axis] for axis in ORDER.split()}
    x = jax.ShapeDtypeStruct(tuple(shape.values()), "float32", sharding=rows)
    by_hand = block_by_hand({name: placed(computed, axes) for name, axes in orders.items()}, between)

    def error_by_hand(arrays, x):
        return jnp.mean(by_hand(arrays, x) ** 2)

    def error(values, x):
        return jnp.mean(sharded["Block"](x, values=values | {"ε": 1e-5}).to_array(ORDER) ** 2)

    forward = (
        collectives(jax.jit(by_hand, out_shardings=rows), arrays, x),
        sharded["Block"].collectives(shape, values=tensors | {"ε": 1e-5}),
    )
    gradient = (
        collectives(jax.jit(jax.grad(error_by_hand), out_shardings=stored), arrays, x),
        collectives(jax.jit(jax.grad(error)), tensors, sharded.abstract_input(shape)),
    )
    return forward, gradient


def fewer_bytes(right, result):
    """No more bytes of all kinds together, and no other kinds."""
    assert sum(result.bytes.values()) <= sum(right.bytes.values()), (result, right)
    assert set(result.counts) <= set(right.counts), (result, right)


def megabytes(collectives):
    return {kind: round(count / 1e6, 1) for kind, count in collectives.bytes.items()}


def case_fully_sharded_data_parallel():
    for right, result in (pairs := compared({"chans": EVERY}, {"batch": EVERY})):
        less_or_equal(result, right)
    (_, forward), (_, gradient) = pairs
    assert forward.counts == {"all-gather": 12}, forward
    assert megabytes(forward) == {"all-gather": 50.4} and megabytes(gradient)["all-reduce"] == 50.4


def case_fully_sharded_data_parallel_and_tensor_parallel():
    for right, result in compared({**TENSOR, "batch": None, "chans": "data"}, TENSOR):
        less_or_equal(result, right)
        assert result.counts["all-gather"] == 12


def case_tensor_and_sequence_parallel_by_the_name_of_a_value():
    """What lies between attention and the hidden units is sharded along the sequence."""
    rules = {"seq": "model"}
    forward, gradient = compared(TENSOR, None, {"T": rules}, {"T": placed({"batch": "data", **rules}, ORDER)})
    fewer_bytes(*forward)
    assert forward[1].counts == {"all-gather": 2, "all-reduce": 2}, forward[1]
    fewer_bytes(*gradient)


def case_sequence_parallel():
    """The keys and values of the sequence are gathered; its gradient has fewer bytes than by hand, in other kinds."""
    rows = placed({"batch": "data"}, ORDER)
    forward, gradient = compared({"batch": "data", "seq": "model"}, between={"K": rows, "V": rows})
    less_or_equal(*forward[::-1])
    assert forward[1].counts == {"all-gather": 2}
    fewer_bytes(*gradient)


def gradient_memory(function, *arguments, **places):
    """The bytes on a device of a compiled gradient: arguments, results and what lies between."""
    memory = jax.jit(jax.grad(function), **places).lower(*arguments).compile().memory_analysis()
    return memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes


def scan_by_hand(weights, x):
    def step(x, members):
        first, second = (with_sharding_constraint(member, NamedSharding(AUTO, PartitionSpec())) for member in members)
        return x + jax.nn.relu(x @ first) @ second.T, None

    return jnp.mean(jax.lax.scan(jax.checkpoint(step, prevent_cse=False), x, weights)[0] ** 2)


def by_formula(layer, x):
    return jnp.mean(layer(nt.tensor(x, ORDER)).to_array(ORDER) ** 2)


def case_of_eight_the_memory_of_looped_layers_is_that_of_a_scan_by_hand():
    for count in (6, 24):
        layer = Layers.init(0, {"L": count, "chans": 512, "hidden": 2048}, "float32")
        x = jax.ShapeDtypeStruct((16, 32, 512), jnp.float32, sharding=placed({"batch": EVERY}, ORDER))
        stored = placed({"hidden": EVERY}, "L chans hidden")
        weights = tuple(jax.ShapeDtypeStruct((count, 512, 2048), jnp.float32, sharding=stored) for _ in range(2))
        right = gradient_memory(scan_by_hand, weights, x, out_shardings=(stored, stored))
        for some in (layer, layer.stack_layers()):
            sharded = some.shard({"hidden": EVERY}, MESH, {"batch": EVERY})
            assert gradient_memory(by_formula, sharded, x) <= 1.3 * right, (count, some.sizes)
        copied = gradient_memory(by_formula, layer.stack_layers().shard({"batch": EVERY}, MESH), x)
        assert copied > 2 * right  # the weights of all layers on each device


def case_of_eight_gathered_layers_give_what_they_give_on_one_device():
    layer = Layers.init(0, {"L": 5, "chans": 16, "hidden": 32}, "float32")
    layer = layer.to("jax")
    x = nt.tensor(jnp.asarray(np.random.default_rng(0).normal(size=(8, 4, 16)), jnp.float32), ORDER)
    slope = jax.grad(lambda layer: jnp.mean(layer(x).to_array(ORDER) ** 2))
    right = slope(layer)
    for some in (layer, layer.stack_layers()):
        for more in ({}, {"save": ["X^l"]}, {"value_rules": {"X^l": {"seq": "model", "batch": "data"}}}):
            sharded = some.shard({"hidden": EVERY}, MESH, {"batch": EVERY}, **more)
            sharded_cases.same(sharded(x), layer(x))
            gradient = slope(sharded)
            for name, value in right.parameters.items():
                sharded_cases.same(gradient.parameters[name], value)
            assert "hidden" in sharded_cases.spec_of(gradient.parameters["W^{1,1}"])


def case_of_eight_training_with_accumulation_is_adam_by_hand():
    program = nt.program("loss = mean_{hidden}((X ⊙_{chans} W)^2)\nX ∈ ℝ^{chans}\nW ∈ ℝ^{chans × hidden}")
    rng = np.random.default_rng(0)
    weights, rows = rng.normal(size=(16, 8)), rng.normal(size=(2, 8, 16))
    sharded = program.shard({"chans": "data", "hidden": "model"}, MESH, {"batch": "data", "hidden": "model"})
    training = sharded.training("loss", nt.program(ADAM), rates={"α": 0.1}, accumulate="micro")
    state = training.begin({"W": nt.tensor(weights.astype("float32"), "chans hidden")})
    x = nt.tensor(rows.astype("float32"), "micro batch chans")
    m = s = np.zeros_like(weights)
    for step in range(1, 4):
        state, error = training.step(state, X=x)
        product = rows.reshape(-1, 16) @ weights
        np.testing.assert_allclose(float(error), (product**2).mean(), rtol=1e-5)
        slope = 2 * rows.reshape(-1, 16).T @ product / product.size
        m, s = 0.9 * m + 0.1 * slope, 0.999 * s + 0.001 * slope**2
        weights = weights - 0.1 * (m / (1 - 0.9**step)) / (np.sqrt(s / (1 - 0.999**step)) + 1e-8)
        np.testing.assert_allclose(np.asarray(state["θ"]["W"].array), weights, rtol=1e-4, atol=1e-5)
    assert {key: sharded_cases.spec_of(state[key]["W"]) for key in "θms"} == dict.fromkeys(
        "θms", {"chans": "data", "hidden": "model"}
    )


class Hidden(Layers):
    """Layers whose steps have an intermediate value with a name."""

    notation = Layers.notation.replace("X ∈", "H^l = X^{l-1} ⊙_{chans} W^{l,1} for l = 1, …, L\n        X ∈").replace(
        "+ relu(X^{l-1} ⊙_{chans} W^{l,1})", "+ relu(H^l)"
    )


def case_of_eight_a_saved_value_is_not_computed_again():
    layer = Hidden.init(0, {"L": 6, "chans": 16, "hidden": 32}, "float32").stack_layers()
    x = jax.ShapeDtypeStruct((8, 6, 16), jnp.float32, sharding=placed({"batch": EVERY}, ORDER))
    again, saved = (
        jax.jit(jax.grad(by_formula)).lower(layer.shard({"batch": EVERY}, MESH, save=save), x).compile()
        for save in ([], ["H^l"])
    )
    assert saved.cost_analysis()["flops"] < again.cost_analysis()["flops"]
    assert saved.memory_analysis().temp_size_in_bytes > again.memory_analysis().temp_size_in_bytes


if __name__ == "__main__":
    sys.stdout = sys.stderr
    sharded_cases.main(*(sys.argv[1:] or ["case_"]), cases=globals())
