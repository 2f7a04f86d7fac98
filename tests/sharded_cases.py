"""What `test_sharding.py` runs in a process of its own, where JAX has eight devices: `python sharded_cases.py`.

Each function that begins with `case_` is run; the answer is JSON, each case's name with "passed" or what was raised. A word
after it is what the names of the cases begin with that are run.
"""

import doctest
import io
import json
import sys
import traceback
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import namedtensor as nt
from namedtensor.layers.layer import Layer
from namedtensor.sharding.collectives import collectives, collectives_of
from namedtensor.sharding.device_report import count_moved_bytes
from namedtensor.sharding.sharding import Sharding
from transformer import GPT2

ROOT = Path(__file__).parent.parent
SIZES = {"chans": 16, "heads": 4, "key": 8, "hidden": 32}
RULES = {"batch": "data", "heads": "model", "hidden": "model"}
ORDER = "batch seq chans"


class Block(Layer):
    """A pre-LN block of a transformer, with several heads."""

    citation = "Xiong et al., On Layer Normalization in the Transformer Architecture, 2020"
    notation = """
        Block : ℝ^{seq × chans} → ℝ^{seq × chans}
        Block(X) = T + FFN(LayerNorm(T; γ_2, β_2))
        T = X + SelfAttention(LayerNorm(X; γ_1, β_1))
        LayerNorm(X; γ, β) = standardize_{chans}(X; ε) ⊙ γ + β
        γ_1, β_1, γ_2, β_2 ∈ ℝ^{chans}

        SelfAttention(X) = (softmax_{seq'}(Q ⊙_{key} K / √|key|) ⊙_{seq'} V) ⊙_{heads, key} W_O + b_O
        Q = X ⊙_{chans} W_Q + b_Q
        K = [X ⊙_{chans} W_K + b_K]_{seq→seq'}
        V = [X ⊙_{chans} W_V + b_V]_{seq→seq'}
        W_Q, W_K, W_V ∈ ℝ^{chans × heads × key}
        W_O ∈ ℝ^{heads × key × chans}
        b_Q, b_K, b_V ∈ ℝ^{heads × key}
        b_O ∈ ℝ^{chans}

        FFN(X) = relu(X ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 + b_2
        W_1 ∈ ℝ^{chans × hidden}
        W_2 ∈ ℝ^{hidden × chans}
        b_1 ∈ ℝ^{hidden}
        b_2 ∈ ℝ^{chans}
    """


def random(axes, *sizes, seed=0):
    return nt.tensor(np.random.default_rng(seed).normal(size=sizes).astype("float32"), axes)


def mesh_of(*shape):
    return jax.make_mesh(shape, ("data", "model"))


COUNT = len(jax.devices())
MESH = mesh_of(2, COUNT // 2) if COUNT <= 8 else mesh_of(COUNT // 8, 8)
LAYER = Block.init(0, SIZES, dtype="float32", constants={"ε": 1e-5})
X = random(ORDER, 4, 6, 16, seed=1)
TARGET = random(ORDER, 4, 6, 16, seed=2)
ONE = [nt.tensor(jnp.asarray(tensor.array), ORDER) for tensor in (X, TARGET)]  # on one device


def loss(layer, x, target):
    return jnp.mean((layer(x) - target).to_array(ORDER) ** 2)


def numbers(tensor):
    return np.asarray(tensor.to_array(sorted(tensor.axes)))


@cache
def slope_on_one_device():
    return jax.jit(jax.grad(loss))(LAYER.to("jax"), *ONE)


def same(left, right, tolerance=1e-5):
    assert set(left.axes) == set(right.axes), (left.axes, right.axes)
    np.testing.assert_allclose(numbers(left), numbers(right), rtol=tolerance, atol=tolerance)


def spec_of(tensor):
    """Where each axis lies, by name."""
    padded = (*tensor.array.sharding.spec, *[None] * len(tensor.axes))
    return {axis: over for axis, over in zip(tensor.axes, padded) if over is not None}


# ---------------------------------------------------------------------------------------------------------- the block
def case_a_layer_gives_what_it_gives_on_one_device():
    sharded = LAYER.shard(RULES, MESH)
    result = sharded(X)
    same(result, LAYER(X))
    same(result, jax.jit(LAYER.to("jax"))(ONE[0]))
    assert type(sharded) is Block
    assert spec_of(result) == {"batch": "data"}
    assert {name: spec_of(parameter) for name, parameter in sharded.parameters.items() if name != "ε"} == {
        name: {axis: "model" for axis in parameter.axes if axis in ("heads", "hidden")}
        for name, parameter in LAYER.parameters.items() if name != "ε"
    }  # fmt: skip
    assert {shard.data.shape for shard in result.array.addressable_shards} == {(2, 6, 16)}


def case_a_program_gives_what_it_gives_on_one_device():
    program = nt.program(Block.notation)
    sharded = program.shard(RULES, MESH)
    parameters = sharded.place(LAYER.parameters)
    for name in ("Block", "SelfAttention", "FFN"):
        same(sharded[name](X, values=parameters), program[name](X, values=LAYER.parameters))
    same(sharded.FFN(X, values=LAYER.parameters), program.FFN(X, values=LAYER.parameters))


def case_several_names_are_computed_together():
    program = nt.program("K = X ⊙_{chans} W\nV = K + 1\nX ∈ ℝ^{seq × chans}\nW ∈ ℝ^{chans × heads}")
    inputs = {"X": random("seq chans", 4, 8), "W": random("chans heads", 8, 4)}
    sharded = program.shard({"heads": "model", "seq": "data"}, MESH)
    for result, right in zip(sharded["K", "V"](values=inputs), program["K", "V"](values=inputs)):
        same(result, right)
        assert spec_of(result) == {"seq": "data", "heads": "model"}


def case_a_formula_and_a_program_without_a_function():
    q, k, v = random("seq key", 8, 4), random("seq key", 6, 4, seed=1), random("seq val", 6, 8, seed=2)
    attention = nt.formula(
        "f : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}\nf(Q, K, V) = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
    )
    result = attention.shard({"val": "model"}, MESH)(q, k, v)
    same(result, attention(q, k, v))
    assert spec_of(result) == {"val": "model"}
    expression = nt.formula("softmax_{seq} Q ⊙ scale")
    same(expression.shard({"seq": ("data", "model")}, MESH)(Q=q, scale=3), expression(Q=q, scale=3))


def case_numbers_and_sizes_are_part_of_the_call():
    program = nt.program("Y = α X ⊙_{a} I_{a, b}\nX ∈ ℝ^{c × a}")
    sharded = program.shard({"c": "data"}, MESH)
    x = random("c a", 4, 3)
    for alpha in (2, 2.5, True):
        same(sharded["Y"](X=x, α=alpha, sizes={"b": 3}), program["Y"](X=x, α=alpha, sizes={"b": 3}))
    same(sharded["Y"](X=x, alpha=nt.tensor(2.0), sizes={"b": 3}), program["Y"](X=x, α=2, sizes={"b": 3}))


def case_the_gradient_is_that_of_one_device_and_lies_where_its_parameters_do():
    slope = slope_on_one_device()
    sharded = LAYER.shard(RULES, MESH)
    gradient = jax.grad(loss)(sharded, *ONE)
    assert type(gradient) is Block and gradient.parameters["ε"] == 1e-5
    for name, parameter in gradient.parameters.items():
        if name != "ε":
            same(parameter, slope.parameters[name])
            assert spec_of(parameter) == spec_of(sharded.parameters[name]), name


def case_the_gradient_through_a_program():
    program = nt.program(Block.notation)
    sharded = program.shard(RULES, MESH)
    parameters = sharded.place({name: parameter for name, parameter in LAYER.parameters.items() if name != "ε"})

    def error(values):
        return jnp.mean(sharded["Block"](X, values=values).to_array(ORDER) ** 2)

    result = jax.jit(jax.grad(error))(parameters)
    right = jax.jit(jax.grad(lambda layer: jnp.mean(layer(ONE[0]).to_array(ORDER) ** 2)))(LAYER.to("jax")).parameters
    for name, value in result.items():
        same(value, right[name])


def case_training_goes_as_on_one_device():
    def step(layer, x, target):
        error, slope = jax.value_and_grad(loss)(layer, x, target)
        return jax.tree.map(lambda value, change: value - 0.1 * change, layer, slope), error

    jitted = jax.jit(step)
    one, many = LAYER.to("jax"), LAYER.shard(RULES, MESH)
    traced = []
    alone = jax.jit(step)
    for _ in range(4):
        one, left = alone(one, *ONE)
        many, right = jitted(many, *ONE)
        traced.append(spec_of(many.parameters["W_1"]))
        np.testing.assert_allclose(left, right, rtol=1e-5)
    assert traced == [{"hidden": "model"}] * 4
    same(one.parameters["W_Q"], many.parameters["W_Q"], 1e-4)


def case_repeated_calls_are_compiled_once():
    traces = []

    @nt.custom_function("watched : ℝ → ℝ")
    def watched(x):
        traces.append(x)
        return x

    class Watched(Layer):
        """Says when it is traced."""

        citation = "a test"
        notation = "Watched : ℝ^{chans} → ℝ^{hidden}\nWatched(X) = watched(X ⊙_{chans} W)\nW ∈ ℝ^{chans × hidden}"

    def gradient(layer):
        return jax.grad(lambda layer, x: layer(x).array.sum())(layer, X)

    layer = Watched.init(0, {"chans": 16, "hidden": 8}, dtype="float32").shard(
        {"batch": "data", "hidden": "model"}, MESH
    )
    placed = layer.sharding.place({"X": X})["X"]
    first = [layer(X), layer(placed), gradient(layer)]
    once = len(traces)
    second = [layer(X), layer(placed), gradient(layer), layer.replace(W=layer.parameters["W"] * 2)(X)]
    same(first[0], second[0])
    assert once and len(traces) == once, (once, len(traces))
    layer(random(ORDER, 8, 6, 16))
    assert len(traces) > once


def case_parameters_are_placed_once():
    sharded = LAYER.shard(RULES, MESH)
    program = nt.program(Block.notation).shard(RULES, MESH)
    parameters = program.place(LAYER.parameters)
    x = program.place(X=X)["X"]
    moved = []
    put, jax.device_put = jax.device_put, lambda array, placement: moved.append(array.shape) or put(array, placement)
    try:
        sharded(x), program["Block"](x, values=parameters)
        assert not moved, moved
        sharded(X)
        assert moved == [(4, 6, 16)], moved
        replaced = sharded.replace(W_1=random("chans hidden", 16, 32))
        assert moved[1:] == [(16, 32)]
        replaced(x)
        assert moved[1:] == [(16, 32)]
    finally:
        jax.device_put = put


def case_it_runs_inside_what_jax_transforms():
    sharded = LAYER.shard(RULES, MESH)
    right = LAYER(X)
    same(jax.jit(lambda layer, x: layer(x))(sharded, sharded.sharding.place({"X": X})["X"]), right)
    several = jnp.stack([X.array, 2 * X.array])
    result = jax.vmap(lambda array: sharded(nt.tensor(array, ORDER)).to_array(ORDER))(several)
    np.testing.assert_allclose(np.asarray(result[0]), right.to_array(ORDER), rtol=1e-5, atol=1e-5)
    shape = jax.eval_shape(lambda layer, x: layer(x), sharded, X)
    assert shape.sizes == right.sizes


def case_sharded_tensors_compute_as_others_do():
    x = random("batch heads", 4, 8)
    placed = Sharding(RULES, MESH).place({"x": x})["x"]
    for result, right in (
        (placed * 2, x * 2), (1 - placed, 1 - x), (placed + placed, x + x), (placed > 0, x > 0),
        (nt.softmax(placed, axis="heads"), nt.softmax(x, axis="heads")),
        (nt.evaluate("{ 2 x if x > 0; 1 / |batch| otherwise }", x=placed), nt.where(x > 0, 2 * x, 0.25)),
    ):  # fmt: skip
        same(result, right)
        assert spec_of(result) == {"batch": "data", "heads": "model"}


def case_a_mesh_of_either_kind_of_axes():
    for mesh in (MESH, Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))):
        same(LAYER.shard(RULES, mesh)(X), LAYER(X))
    inputs = jax.device_put(X.array, NamedSharding(MESH, PartitionSpec(None, None, "model")))
    same(LAYER.shard(RULES, MESH)(nt.tensor(inputs, ORDER)), LAYER(X))


def case_a_layer_that_goes_back_to_one_device():
    back = LAYER.shard(RULES, MESH).to("numpy")
    assert back._about == LAYER._about
    same(back(X), LAYER(X), 0)


def case_a_language_model_and_what_it_generates():
    sizes = {"L": 1, "chans": 16, "heads": 4, "key": 4, "val": 4, "hidden": 32, "vocab": 24, "place": 20}
    model = GPT2.init(0, sizes, dtype="float32", constants={"ε": 1e-5})
    sharded = model.shard({**RULES, "vocab": "model"}, MESH)
    ids = nt.tensor(np.array([[1, 5, 3], [2, 0, 23], [4, 4, 4], [9, 8, 7]]), "batch seq")
    result = sharded(ids)
    same(result, model(ids))
    assert spec_of(result) == {"batch": "data", "vocab": "model"}
    listed = collectives(lambda model, ids: model(ids), sharded, sharded.sharding.place({"ids": ids})["ids"])
    assert described(listed) == [("all-reduce", ("model",))] * 3  # after the look-up, the heads, the hidden units
    assert numbers(sharded.generate(ids, 2)).tolist() == numbers(model.generate(ids, 2)).tolist()
    with TemporaryDirectory() as folder:
        sharded.save(Path(folder) / "model.safetensors")
        same(GPT2.load(Path(folder) / "model.safetensors")(ids), model(ids), 0)


def case_families_in_one_array_say_what_their_members_say():
    """A model of several layers whose families are kept in one array each: values, gradients, messages, where they lie."""
    sizes = {"L": 3, "chans": 16, "heads": 4, "key": 4, "val": 4, "hidden": 32, "vocab": 24, "place": 20}
    model = GPT2.init(0, sizes, dtype="float32", constants={"ε": 1e-5})
    rules = {**RULES, "vocab": "model"}
    plain, stacked = model.shard(rules, MESH), model.stack_layers().shard(rules, MESH)
    ids = nt.tensor(np.array([[1, 5, 3], [2, 0, 23], [4, 4, 4], [9, 8, 7]]), "batch seq")
    placed = plain.sharding.place({"ids": ids})["ids"]
    for parameter in (stacked, plain.stack_layers()):
        assert len(jax.tree.leaves(parameter)) == 20 and parameter.sharding == plain.sharding
        for name, tensor in plain.parameters.items():
            assert name == "ε" or spec_of(parameter.parameters[name]) == spec_of(tensor), name
    same(stacked(ids), model(ids))

    def error(layer, ids):
        return jnp.mean(layer(ids).array ** 2)

    slopes = [jax.jit(jax.grad(error)).lower(layer, placed).compile() for layer in (stacked, plain)]
    message = [described(collectives_of(slope.as_text(), MESH)) for slope in slopes]
    assert message[0] == message[1]
    result, right = (slope(layer, placed) for slope, layer in zip(slopes, (stacked, plain)))
    for name, parameter in right.parameters.items():
        if name != "ε":
            same(result.parameters[name], parameter)
            assert spec_of(result.parameters[name]) == spec_of(stacked.parameters[name]), name


# -------------------------------------------------------------------------------------------------- rules do not matter
def case_the_rules_never_change_the_value():
    program = nt.program(
        "Y = softmax_{seq'}(X ⊙_{chans} K / √|chans|) ⊙_{seq'} (relu(V ⊙_{hidden} U) + mean_{chans} X_{seq→seq'})\n"
        "X ∈ ℝ^{seq × chans}\nK ∈ ℝ^{heads × seq' × chans}\nV ∈ ℝ^{heads × hidden × seq'}\nU ∈ ℝ^{hidden × val}"
    )
    inputs = {
        "X": random("batch seq chans", 8, 8, 8), "K": random("heads seq' chans", 4, 8, 8, seed=1),
        "V": random("heads hidden seq'", 4, 16, 8, seed=2), "U": random("hidden val", 16, 3, seed=3),
    }  # fmt: skip
    axes = ("batch", "seq", "chans", "heads", "seq'", "hidden", "val")
    right = program["Y"](values=inputs)
    choice = np.random.default_rng(0)
    over = [None, None, "data", "model", ("data", "model"), ("model", "data")]
    seen, refused = 0, {303: 0, 310: 0}
    while seen < 12:
        rules = {axis: over[choice.integers(len(over))] for axis in axes}
        try:
            result = program.shard(rules, mesh_of(*[(2, 4), (4, 2)][seen % 2]))["Y"](values=inputs)
        except nt.NotationError as problem:
            refused[problem.code] += 1
            continue
        same(result, right)
        assert spec_of(result) == {axis: rules[axis] for axis in result.axes if rules[axis]}, (
            rules,
            result.array.sharding,
            result.axes,
        )
        seen += 1
    assert all(refused.values()), refused


def case_the_rules_never_change_the_gradient_of_the_block():
    slope = slope_on_one_device()
    for rules in (
        {"batch": "data", "chans": "model"},
        {"seq": "data", "heads": "model"},
        {"key": "data", "hidden": ("model", "data")},
    ):
        result = jax.jit(jax.grad(loss))(LAYER.shard(rules, MESH), *ONE)
        for name in ("W_Q", "W_O", "W_1", "γ_1", "b_2"):
            same(result.parameters[name], slope.parameters[name])


# -------------------------------------------------------------------------------------------- against sharding by hand
SPECS = {  # Shoeybi et al., Megatron-LM: the heads and the hidden units are split, what follows them is summed
    "W_Q": (None, "model"), "W_K": (None, "model"), "W_V": (None, "model"), "W_O": ("model",), "W_1": (None, "model"),
    "W_2": ("model",), "b_Q": ("model",), "b_K": ("model",), "b_V": ("model",), "b_1": ("model",),
}  # fmt: skip


def norm_by_hand(x, scale, shift):
    x = x - jnp.mean(x, -1, keepdims=True)
    return x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * scale + shift


def block_by_hand(p, x):
    n = norm_by_hand(x, p["γ_1"], p["β_1"])
    q, k, v = (jnp.einsum("bsc,chk->bshk", n, p[f"W_{name}"]) + p[f"b_{name}"] for name in "QKV")
    weights = jax.nn.softmax(jnp.einsum("bshk,bthk->bhst", q, k) / np.sqrt(q.shape[-1]), -1)
    t = x + jnp.einsum("bshk,hkc->bsc", jnp.einsum("bhst,bthk->bshk", weights, v), p["W_O"]) + p["b_O"]
    n = norm_by_hand(t, p["γ_2"], p["β_2"])
    return t + jax.nn.relu(n @ p["W_1"] + p["b_1"]) @ p["W_2"] + p["b_2"]


def by_hand():
    """The parameters in the order of axes that `block_by_hand` takes, and its arguments' shardings."""
    mesh = Mesh(MESH.devices, MESH.axis_names)
    orders = dict.fromkeys(("W_Q", "W_K", "W_V"), "chans heads key") | {"W_O": "heads key chans"}
    orders |= {"W_1": "chans hidden", "W_2": "hidden chans"} | {f"b_{name}": "heads key" for name in "QKV"}
    tensors = {name: parameter for name, parameter in LAYER.parameters.items() if name != "ε"}
    arrays = {name: tensor.to_array(orders.get(name, tensor.axes)) for name, tensor in tensors.items()}
    places = {name: NamedSharding(mesh, PartitionSpec(*SPECS.get(name, ()))) for name in arrays}
    return jax.device_put(arrays, places), places, NamedSharding(mesh, PartitionSpec("data"))


def described(actual):
    return sorted((item.kind, item.over) for item in actual)


def case_the_collectives_are_those_of_the_block_sharded_by_hand():
    arrays, places, batch = by_hand()
    x, target = jax.device_put((X.array, TARGET.array), batch)
    hand = jax.jit(block_by_hand, in_shardings=(places, batch), out_shardings=batch)
    np.testing.assert_allclose(np.asarray(hand(arrays, x)), LAYER(X).to_array(ORDER), rtol=1e-5, atol=1e-5)
    sharded = LAYER.shard(RULES, MESH)
    inputs = sharded.sharding.place({"X": X, "Y": TARGET})
    right, result = collectives(hand, arrays, x), collectives(lambda layer, x: layer(x), sharded, inputs["X"])
    assert right.counts == result.counts == {"all-reduce": 2}, (right, result)
    assert described(right) == described(result) == [("all-reduce", ("model",))] * 2
    program = nt.program(Block.notation).shard(RULES, MESH)
    listed = program["Block"].collectives(X, values=LAYER.parameters)
    assert (
        described(listed) == described(result)
        and "all-reduce" in program["Block"].lowered(X, values=LAYER.parameters).compile().as_text()
    )

    slope = jax.jit(jax.grad(lambda p, x, t: jnp.mean((block_by_hand(p, x) - t) ** 2)), out_shardings=places)
    right = collectives(slope, arrays, x, target)
    result = collectives(jax.grad(loss), sharded, inputs["X"], inputs["Y"])
    assert described(right) == described(result), (right, result)
    assert ("all-reduce", ("data",)) in described(result)


def large_by_hand():
    """A block of 8,192 rows without numbers: its parameters and input by hand and by names, and the rows' placement."""
    sizes = {"batch": 64, "seq": 128, "chans": 1024, "heads": 16, "key": 64, "hidden": 4096}
    mesh = Mesh(MESH.devices, MESH.axis_names)
    sharded = nt.program(Block.notation).shard(RULES, MESH)
    orders = dict.fromkeys(("W_Q", "W_K", "W_V"), "chans heads key") | {"W_O": "heads key chans"}
    orders |= {"W_1": "chans hidden", "W_2": "hidden chans"} | {f"b_{text}": "heads key" for text in "QKV"}
    arrays, tensors = {}, {}
    for name, parameter in LAYER.parameters.items():
        if name != "ε":
            axes = orders.get(name, " ".join(parameter.axes)).split()
            shape = {axis: sizes[axis] for axis in axes}
            named_sharding = NamedSharding(mesh, PartitionSpec(*SPECS.get(name, ())))
            arrays[name] = jax.ShapeDtypeStruct(tuple(shape.values()), "float32", sharding=named_sharding)
            tensors[name] = sharded.abstract(shape)
    rows = NamedSharding(mesh, PartitionSpec("data"))
    x = jax.ShapeDtypeStruct((64, 128, 1024), "float32", sharding=rows)
    return arrays, x, rows, sharded, tensors, sharded.abstract({axis: sizes[axis] for axis in ORDER.split()})


def less_or_equal(actual, right):
    """No more of any kind, neither in number nor in bytes."""
    for of_found, of_right in ((actual.counts, right.counts), (actual.bytes, right.bytes)):
        assert all(count <= of_right.get(kind, 0) for kind, count in of_found.items()), (actual, right)


def case_of_many_rows_the_collectives_are_those_by_hand():
    arrays, x, rows, sharded, tensors, tensor = large_by_hand()
    right = collectives(jax.jit(block_by_hand, out_shardings=rows), arrays, x)
    result = sharded["Block"].collectives(tensor, values=tensors | {"ε": 1e-5})
    less_or_equal(result, right)
    assert set(result.counts) == {"all-reduce"}


def case_of_many_rows_the_collectives_of_the_gradient_are_those_by_hand():
    arrays, x, _, sharded, tensors, tensor = large_by_hand()
    places = {name: array.sharding for name, array in arrays.items()}
    right = collectives(
        jax.jit(jax.grad(lambda p, x: jnp.mean(block_by_hand(p, x) ** 2)), out_shardings=places), arrays, x
    )

    def error(values, x):
        return jnp.mean(sharded["Block"](x, values=values | {"ε": 1e-5}).to_array(ORDER) ** 2)

    result = collectives(jax.jit(jax.grad(error)), tensors, tensor)
    less_or_equal(result, right)


class Layers(Layer):
    """Layers of hidden units, 12 say."""

    citation, output, inputs = "a test", "Y", ("X",)
    notation = """
        Y = X^L
        X^0 = X
        X^l = X^{l-1} + relu(X^{l-1} ⊙_{chans} W^{l,1}) ⊙_{hidden} W^{l,2} for l = 1, …, L
        X ∈ ℝ^{batch × seq × chans}
        W^{l,1}, W^{l,2} ∈ ℝ^{chans × hidden}
    """


def case_of_many_rows_the_collectives_of_stacked_layers_are_those_of_a_scan_by_hand():
    """Of the gradient: two for a step of the loop, and over the rows one for both families."""
    rules = {"batch": "data", "hidden": "model"}
    layer = Layers.init(0, {"L": 12, "chans": 16, "hidden": 32}, "float32").stack_layers().shard(rules, MESH)
    mesh = layer.sharding.mesh
    rows = NamedSharding(mesh, PartitionSpec("data"))
    x = jax.ShapeDtypeStruct((2 * mesh.shape["data"], 6, 16), jnp.float32, sharding=rows)
    weights = jax.ShapeDtypeStruct(
        (12, 16, 32), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(None, None, "model"))
    )

    def by_hand(arrays, x):
        def step(x, local):
            return x + jax.nn.relu(x @ local[0]) @ local[1].T, None

        return jnp.mean(jax.lax.scan(step, x, arrays)[0] ** 2)

    def by_formula(layer, x):
        return jnp.mean(layer(nt.tensor(x, ORDER)).to_array(ORDER) ** 2)

    right = collectives(jax.grad(by_hand), (weights, weights), x)
    result = collectives(jax.grad(by_formula), layer, x)
    less_or_equal(result, right)
    assert described(result) == described(right) and right.counts, (result, right)


def case_shapes_stand_for_tensors_where_nothing_is_computed():
    program = nt.program("FFN(X) = relu(X ⊙_{chans} W_1) ⊙_{hidden} W_2")
    sharded = program.shard({"batch": "data", "hidden": "model"}, {"data": 2, "model": len(jax.devices()) // 2})
    shapes = {"W_1": "ℝ^{chans[16] × hidden[64]}", "W_2": {"hidden": 64, "chans": 16}}
    cost = sharded["FFN"].cost("ℝ^{batch[4] × seq[10] × chans[16]}", values=shapes)
    assert cost.collectives.counts == {"all-reduce": 1}
    assert cost.arguments == 4 * (2 * 10 * 16 + 2 * 16 * 64 // sharded.mesh.shape["model"])
    assert cost.peak >= cost.arguments and cost.operations > 0
    assert "all-reduce" in repr(cost) and "on each device" in repr(cost)
    half = sharded.abstract("ℝ^{chans[16] × hidden[64]}", "bfloat16")
    assert half.array.sharding.spec == PartitionSpec(None, "model") and str(half.array.dtype) == "bfloat16"


def case_an_input_is_never_refused_and_the_share_of_a_device_is_what_counts():
    program = nt.program("Y = E_{vocab(ids)} ⊙_{chans} W\nE ∈ ℝ^{vocab × chans}")
    sharded = program.shard({"batch": "data", "hidden": "model"}, MESH)
    E, W = "ℝ^{vocab[200000] × chans[8192]}", "ℝ^{chans[8192] × hidden[28672]}"  # E has 6.1 GiB

    def lowered(of, batch):
        return of["Y"].lowered(ids=of.abstract({"batch": batch, "seq": 1024}, "int32"), E=E, W=W)

    lowered(sharded, 64)  # Y has 7 GiB, of which each device computes an eighth
    for of, batch in ((sharded, 1024), (program.shard({"seq": None}, MESH), 64)):
        try:
            lowered(of, batch)
        except nt.NotationError as problem:
            assert problem.code == 404 and "the limit is 4 GiB" in str(problem), problem
        else:
            raise AssertionError("this was to be refused")


def case_tensors_are_stored_by_one_set_of_rules_and_computed_with_by_another():
    rules, stored = {"batch": "data", "hidden": "model"}, {"batch": "data", "hidden": "model", "chans": "data"}
    program = nt.program(Block.notation)
    sharded = program.shard({**stored, "batch": None}, MESH, compute_rules=rules)
    parameters = {name: parameter for name, parameter in LAYER.parameters.items() if name != "ε"}
    placed = sharded.place(parameters)
    assert spec_of(placed["W_1"]) == {"chans": "data", "hidden": "model"}
    result = sharded["FFN"](X, values=placed)
    same(result, program["FFN"](X, values=LAYER.parameters))
    kinds = sharded["FFN"].collectives(X, values=placed).counts
    assert "all-gather" in kinds, kinds

    def error(values):
        return jnp.mean(sharded["FFN"](X, values=values).to_array(ORDER) ** 2)

    slope = jax.jit(jax.grad(error))(placed)
    assert spec_of(slope["W_1"]) == {"chans": "data", "hidden": "model"}
    layer = LAYER.shard({**stored, "batch": None}, MESH, compute_rules=rules)
    same(layer(X), LAYER(X))


def case_a_report_of_devices_has_no_values():
    """Of a network of two layers on 8 devices: each number by hand."""
    program = nt.program("Y = relu(X ⊙_{a} W) ⊙_{b} V\nX ∈ ℝ^{a}\nW ∈ ℝ^{a × b}\nV ∈ ℝ^{b × a}")
    report = program.for_devices(
        "cpu:8", {"b": "model"}, {"data": 2, "model": 4}, compute_rules={"batch": "data", "b": "model"},
        sizes={"b": 64}, X="ℝ^{batch[8] × a[16]}", loss="mean_{a}(Y^2)", dtype="float32",
    )  # fmt: skip
    weights = 4 * 2 * 16 * 64 // 4
    assert (report.forward.parameters, report.forward.states, report.forward.inputs) == (weights, 0, 4 * 4 * 16)
    assert (report.step.parameters, report.step.states) == (weights, 2 * weights)
    products = 2 * 8 * 16 * 64
    assert report.forward.flops == 2 * products // 8 and report.step.flops == 5 * products // 8
    assert count_moved_bytes(report.forward.collectives)["all-reduce over model"] == (1, 4 * 4 * 16)
    assert "all-reduce over data" in repr(report) and "training step" in repr(report)
    with_steps = program.for_devices(
        "cpu:8", {"b": "model"}, {"data": 2, "model": 4}, compute_rules={"batch": "data", "b": "model"},
        sizes={"b": 64}, X="ℝ^{micro[4] × batch[8] × a[16]}", loss="mean_{a}(Y^2)", accumulate="micro",
    )  # fmt: skip
    assert with_steps.step.flops == 4 * report.step.flops and with_steps.forward.flops == report.forward.flops
    times = [one.times for one in with_steps.step.collectives if one.over == ("model",)]
    assert max(times) == 4, with_steps.step.collectives


def case_an_unknown_topology_is_told():
    try:
        nt.program("Y = 2 X").shard({"heads": "model"}, {"model": 8}, topology="v0q:1x1")
    except nt.NotationError as problem:
        assert problem.code == 208 and "unknown topology 'v0q:1x1'" in str(problem)
        assert "pip install libtpu" in problem.hint
    else:
        raise AssertionError("this was to be refused")


def case_collectives_of_every_kind_are_listed():
    program = nt.program("Y = X ⊙_{a} W\nX ∈ ℝ^{b × a}\nW ∈ ℝ^{a × c}")
    inputs = {"X": random("b a", 8, 8), "W": random("a c", 8, 8)}
    gathered = program.shard({"b": None, "a": None, "c": "model"}, MESH)["Y"].collectives(values=inputs)
    assert repr(gathered) == "no collective operations"
    summed = program.shard({"a": "model"}, MESH)["Y"].collectives(values=inputs)
    assert repr(summed) == "all-reduce of f32[8,8] over model", summed
    one = Mesh(MESH.devices, MESH.axis_names)
    moved = jax.jit(lambda x: x, out_shardings=NamedSharding(one, PartitionSpec(None, "model")))
    array = jax.device_put(np.ones((8, 8), "float32"), NamedSharding(one, PartitionSpec("model")))
    assert collectives(moved, array).counts == {"all-to-all": 1}
    whole = jax.jit(lambda x: x, out_shardings=NamedSharding(one, PartitionSpec()))
    assert repr(collectives(whole, array)) == "all-gather of f32[8,8] over model"


# ------------------------------------------------------------------------------------------------------------- errors
def errors():
    """The text of each error."""
    program = nt.program("Y = X ⊙_{chans} W\nX ∈ ℝ^{chans}\nW ∈ ℝ^{chans × heads × hidden}")
    w = random("chans heads hidden", 6, 4, 8)
    x = random("batch chans", 5, 6)
    wrong = {
        "no such axis of the mesh": lambda: program.shard({"heads": "modle"}, MESH),
        "no such axis": lambda: program.shard({"haeds": "model"}, MESH)["Y"](X=x, W=w),
        "no axis that is near": lambda: program.shard({"time": "model"}, MESH)["Y"](X=x, W=w),
        "two axes over one": lambda: program.shard({"heads": "model", "hidden": "model"}, MESH).place(W=w),
        "sizes that do not divide": lambda: program.shard({"batch": "data"}, MESH)["Y"](X=x, W=w),
        "over both": lambda: program.shard({"chans": ("data", "model")}, MESH)["Y"](X=x, W=w),
        "a result": lambda: nt.program("Y = [X]_{a→b}\nX ∈ ℝ^{a}\nZ ∈ ℝ^{b}").shard({"b": "model"}, MESH)["Y"](
            X=random("a", 6)
        ),
        "twice in a rule": lambda: program.shard({"heads": ("model", "model")}, MESH),
        "no rule": lambda: program.shard({"heads": 1}, MESH),
        "no rules": lambda: program.shard(["heads"], MESH),
        "a mesh too small": lambda: program.shard({"heads": "model"}, {"data": 64, "model": 8}),
        "a mesh of no sizes": lambda: program.shard({"heads": "model"}, {"data": 2.5}),
        "computed by no axis": lambda: program.shard({"heads": "model"}, MESH, compute_rules={"heads": "modle"}),
        "no mesh": lambda: program.shard({"heads": "model"}, (2, 4)),
        "no name of an axis": lambda: program.shard({"heads, hidden": "model"}, MESH),
        "no tensor": lambda: program.shard({}, MESH)["Y"](X=np.ones((2, 6)), W=w),
        "no tensor by position": lambda: nt.program("f(x) = 2 x").shard({}, MESH)["f"]([1, 2]),
        "the formula's own": lambda: program.shard({"hidden": "model"}, MESH)["Y"](X=random("cans", 6), W=w),
        "no such name": lambda: program.shard({"hidden": "model"}, MESH)["Z"](X=x, W=w),
        "no such value": lambda: program.shard({"heads": "model"}, MESH, value_rules={"Z": {"heads": "model"}})["Y"](
            X=x, W=w
        ),
        "no rules of a value": lambda: program.shard({"heads": "model"}, MESH, value_rules={"Y": "model"}),
        "no value to save": lambda: program.shard({"heads": "model"}, MESH, save=["V"])["Y"](X=x, W=w),
        "too few devices emulated": lambda: program.shard({"heads": "model"}, {"model": 4}, topology="cpu:512"),
        "a report of sizes that do not divide": lambda: program.for_devices(
            "cpu:8", {"heads": "model"}, {"model": 8}, sizes={"heads": 12, "hidden": 4}, X="ℝ^{chans[6]}"
        ),
        "a report without a size": lambda: program.for_devices(
            "cpu:8", {"heads": "model"}, {"model": 8}, sizes={"heads": 16}, X="ℝ^{chans[6]}"
        ),
        "a report with a rule too many": lambda: program.for_devices(
            "cpu:8", {"haeds": "model"}, {"model": 8}, sizes={"heads": 16, "hidden": 2}, X="ℝ^{chans[6]}"
        ),
        "an update without a next value": lambda: program.shard({}, MESH).training("Y", nt.program("M = θ − g")),
        "nothing to accumulate over": lambda: (
            program.shard({}, MESH)
            .training("Y", nt.program("W = θ − α g"), accumulate="micro")
            .step({"θ": {"W": w}, "t": jnp.zeros((), "int32")}, X=x)
        ),
        "no such parameter": lambda: LAYER.shard({"heads": "model", "key": "model"}, MESH),
    }
    result = {}
    for name, call in wrong.items():
        try:
            call()
        except nt.NotationError as problem:
            result[name] = str(problem)
            assert not getattr(problem, "__notes__", ()), name
    return result


# --------------------------------------------------------------------------------------------------------------- docs
def case_the_page_says_what_happens():
    with redirect_stdout(io.StringIO()) as stream:
        test_results = doctest.testfile(
            str(ROOT / "docs" / "sharding.md"), module_relative=False, encoding="utf-8",
            optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
        )  # fmt: skip
    assert test_results.attempted > 10 and not test_results.failed, stream.getvalue()


def main(*prefixes, cases=None):
    results = {}
    for name, case in list((cases or globals()).items()):
        if name.startswith(prefixes or ("case_",)):
            try:
                case()
                results[name] = "passed"
            except BaseException:
                results[name] = traceback.format_exc()
    json.dump({"cases": results, "errors": errors() if "errors" in prefixes else {}}, sys.__stdout__)


if __name__ == "__main__":
    sys.stdout = sys.stderr  # what is printed on the way does not mix with the answer
    main(*sys.argv[1:])
