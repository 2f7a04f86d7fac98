"""Layers under Optax and in modules of Flax: parameters are selected, differentiated and updated by their names."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import namedtensor as nt
from transformer import FFN, GPT2

jax = pytest.importorskip("jax")
optax = pytest.importorskip("optax")
jnp = jax.numpy
keystr, tree_map_with_path = jax.tree_util.keystr, jax.tree_util.tree_map_with_path

SIZES = {"chans": 4, "hidden": 8}
ARRAY = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
X = nt.tensor(jnp.asarray(ARRAY), "seq chans")


def layer(seed: int = 0) -> FFN:
    return FFN.init(seed, SIZES, "float32").to("jax")


def loss(layer: Any) -> Any:
    return nt.evaluate("∑_{seq,chans} Y^2", Y=layer(X)).array


def by_hand(parameters: dict[str, Any]) -> Any:
    """The same on plain arrays."""
    hidden = jax.nn.relu(ARRAY @ parameters["W_1"] + parameters["b_1"])
    return ((hidden @ parameters["W_2"] + parameters["b_2"]) ** 2).sum()


def arrays(layer: Any) -> dict[str, Any]:
    return {name: value.array for name, value in layer.parameters.items()}


def is_weight(path: Any) -> bool:
    return "W" in keystr(path)


def updated(transformation: Any, layer: Any, steps: int = 3) -> Any:
    state = transformation.init(layer)
    for _ in range(steps):
        updates, state = transformation.update(jax.grad(loss)(layer), state, layer)
        layer = optax.apply_updates(layer, updates)
    return layer


# -------------------------------------------------------------------------------------------------------------- Optax
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["adam", "sgd", "adafactor", "lamb"])
def test_an_optimizer_updates_a_layer_as_it_does_arrays(name: str):
    transformation = getattr(optax, name)(0.01)
    expected = arrays(layer())
    state = transformation.init(expected)
    for _ in range(3):
        updates, state = transformation.update(jax.grad(by_hand)(expected), state, expected)
        expected = optax.apply_updates(expected, updates)
    for name, value in arrays(updated(transformation, layer())).items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-4, atol=1e-5)


def test_a_mask_selects_parameters_by_name():
    decay = optax.masked(
        optax.add_decayed_weights(1.0), lambda tree: tree_map_with_path(lambda path, _: is_weight(path), tree)
    )
    updates, _ = decay.update(jax.tree.map(jnp.zeros_like, layer()), decay.init(layer()), layer())
    for name, value in arrays(updates).items():
        np.testing.assert_array_equal(value, arrays(layer())[name] if name.startswith("W") else 0 * value)


def test_groups_of_parameters_have_optimizers_of_their_own():
    """The labels are given by a function: Optax calls what can be called, as a layer can."""

    def labels(tree: Any) -> Any:
        return tree_map_with_path(lambda path, _: "weights" if is_weight(path) else "biases", tree)

    both = optax.multi_transform({"weights": optax.sgd(0.01), "biases": optax.set_to_zero()}, labels)
    for name, value in arrays(updated(both, layer())).items():
        assert np.array_equal(value, arrays(layer())[name]) is not name.startswith("W")


def test_a_model_in_a_tree_is_frozen_but_for_one_family():
    sizes = {"L": 2, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 7, "place": 5}
    tree = {"models": [GPT2.init(0, sizes, "float32").to("jax")], "scale": jnp.ones(())}
    names = [keystr(path) for path, chosen in jax.tree_util.tree_leaves_with_path(
        tree_map_with_path(lambda path, _: keystr(path).startswith("['models'][0]['W^{1,"), tree)) if chosen]  # fmt: skip
    assert "['models'][0]['W^{1,Q}']" in names and all("^{1," in name for name in names)


def test_a_checkpoint_has_the_names_of_parameters(tmp_path: Any):
    checkpoint = pytest.importorskip("orbax.checkpoint")
    with checkpoint.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "layer", layer())
        checkpointer.wait_until_finished()
        again = checkpointer.restore(tmp_path / "layer", jax.tree.map(jnp.zeros_like, layer(1)))
        plain = checkpointer.restore(tmp_path / "layer")
    for name, value in arrays(layer()).items():
        np.testing.assert_array_equal(again.parameters[name].array, value)
        np.testing.assert_array_equal(plain[name]["array"], value)


# --------------------------------------------------------------------------------------------------------------- Flax
def module() -> Any:
    nnx = pytest.importorskip("flax.nnx")

    class Net(nnx.Module):
        def __init__(self, rngs: Any):
            self.ffn = layer()
            self.scale = nnx.Linear(4, 4, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.ffn(x)

    return nnx, Net(nnx.Rngs(0))


def test_a_layer_in_a_module_has_parameters_by_name():
    nnx, net = module()
    state = nnx.state(net, nnx.Param)
    assert sorted(state["ffn"]) == ["W_1", "W_2", "b_1", "b_2"] and state["ffn"]["W_1"].axes == ("chans", "hidden")
    weights = nnx.state(net, nnx.All(nnx.Param, lambda path, _: path[-1].startswith("W_")))
    assert sorted(weights["ffn"]) == ["W_1", "W_2"]
    np.testing.assert_allclose(net(X).array, layer()(X).array)


@pytest.mark.parametrize("graph", [True, False])
def test_gradients_are_those_of_the_layer(graph: bool):
    nnx, net = module()
    nnx.state(net)
    gradients = nnx.grad(loss, graph=graph)(net)
    parameters = gradients["ffn"] if graph else gradients.ffn.parameters
    for name, value in jax.grad(by_hand)(arrays(layer())).items():
        array = parameters[name].get_value() if graph else parameters[name].array
        np.testing.assert_allclose(array, value, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("graph", [True, False])
def test_an_optimizer_of_flax_updates_the_layer(graph: bool):
    nnx, net = module()
    nnx.state(net)
    optimizer = nnx.Optimizer(net, optax.adam(0.01), wrt=nnx.Param, graph=graph)

    @nnx.jit(graph=graph)
    def step(net: Any, optimizer: Any) -> Any:
        value, gradients = nnx.value_and_grad(loss, graph=graph)(net)
        optimizer.update(net, gradients)
        return value

    values = [float(step(net, optimizer)) for _ in range(3)]
    expected = updated(optax.adam(0.01), layer())
    for name, value in arrays(net.ffn).items():
        np.testing.assert_allclose(value, expected.parameters[name].array, rtol=1e-3, atol=1e-4)
    assert values == sorted(values, reverse=True)


def test_a_module_is_split_merged_and_cloned():
    nnx, net = module()
    definition, state = nnx.split(net)
    merged, clone = nnx.merge(definition, jax.tree.map(lambda leaf: 2 * leaf, state)), nnx.clone(net)
    for name, value in arrays(layer()).items():
        np.testing.assert_array_equal(merged.ffn.parameters[name].array, 2 * value)
    assert type(merged.ffn) is FFN and merged.ffn.parameters["W_1"].axes == ("chans", "hidden")
    nnx.update(net, jax.tree.map(lambda leaf: 0 * leaf, nnx.state(net)))
    assert not net(X).array.any() and clone(X).array.any()
    np.testing.assert_allclose(jax.jit(lambda net: net(X).array)(clone), layer()(X).array, rtol=1e-5)
    assert type(clone.ffn.replace(b_2=nt.tensor(jnp.ones(4), "chans"))(X)) is nt.NamedTensor


def test_a_layer_of_numpy_and_a_list_of_layers():
    nnx, _ = module()

    class Net(nnx.Module):
        def __init__(self):
            self.layers = nnx.List([FFN.init(0, SIZES, "float32"), FFN.init(1, SIZES, "float32")])

        def __call__(self, x: Any) -> Any:
            for one in self.layers:
                x = one(x)
            return x

    net = Net()
    assert len(jax.tree.leaves(nnx.state(net, nnx.Param))) == 8
    gradients = nnx.grad(loss)(net)
    assert all(np.abs(leaf).sum() > 0 for leaf in jax.tree.leaves(gradients))


@pytest.mark.sampled(3)
def test_an_ensemble_of_modules_is_mapped_over():
    nnx = pytest.importorskip("flax.nnx")

    class Net(nnx.Module):
        def __init__(self, key: Any):
            self.ffn = FFN.init(key, SIZES, "float32")
            nnx.state(self)

    keys = jax.random.split(jax.random.key(0), 3)
    nets = nnx.vmap(Net)(keys)
    values = nnx.vmap(lambda net, x: net.ffn(x).array, in_axes=(0, None))(nets, X)
    for result, key in zip(values, keys):
        np.testing.assert_allclose(result, FFN.init(key, SIZES, "float32")(X).array, rtol=1e-4, atol=1e-5)
    with pytest.raises(nt.NotationError, match="3 axes"):
        nets.ffn(X)


LATE = """
import numpy as np, namedtensor as nt
from transformer import FFN
layer = FFN.init(0, {"chans": 4, "hidden": 8}, "float32")
import jax
from flax import nnx
class Net(nnx.Module):
    def __init__(self):
        self.ffn = layer
print(len(jax.tree.leaves(nnx.state(Net(), nnx.Param))))
"""


@pytest.mark.sampled(3)
def test_a_layer_that_was_made_before_flax_was_imported_is_no_exception():
    pytest.importorskip("flax")
    run = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=200)
    assert run.stdout.strip() == "4", run.stderr
