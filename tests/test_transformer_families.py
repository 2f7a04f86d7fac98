"""Layers that keep each family of parameters in one array: they are what they were, and less for JAX to go through."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import namedtensor as nt
import transformer
from namedtensor.core.families import FamilyName
from transformer import BERT, GPT2, EncoderDecoder, Layer, Llama, ViT

SIZES = {"L": 4, "chans": 8, "hidden": 12}
HEADS = {"heads": 2, "key": 4, "val": 4}
IDS = np.array([[1, 2, 3, 4, 0], [4, 0, 2, 2, 1]])
MODELS: dict[
    type[Layer], tuple[dict[str, int], int]
] = {  # what else fixes their sizes, and how many families they have
    GPT2: ({**HEADS, "vocab": 11, "place": 9}, 16),
    Llama: ({"vocab": 11, "groups": 2, "queries": 1, "pair": 2, "part": 2, "val": 4}, 9),
    BERT: ({**HEADS, "vocab": 11, "place": 9, "type": 2, "out": 8}, 16),
    EncoderDecoder: ({**HEADS, "vocab": 11, "N": 3}, 42),
    ViT: ({**HEADS, "height": 6, "width": 4, "down": 3, "across": 2, "color": 3, "out": 8, "class": 4}, 16),
}


class Residual(Layer):
    """Layers whose first states lack an axis of the others, so that their loop begins with the second."""

    citation, output, inputs = "a test", "Y", ("X",)
    notation = """
        Y = h^L + W^1 ⊙_{chans'} b^{2,1}_{chans→chans'}
        h^0 = b^{1,1}
        h^l = tanh(h^{l-1} ⊙_{chans} W^l)_{chans'→chans} + X + b^{l,1} + b^{l,2} for l = 1, …, L
        X ∈ ℝ^{seq × chans}
        W^l ∈ ℝ^{chans × chans'}
        b^{l,1}, b^{l,2} ∈ ℝ^{chans}
    """


class Backwards(Layer):
    """Layers from the last to the first, against the order of the members in their array."""

    citation, output, inputs = "a test", "Y", ("X",)
    notation = """
        Y = h^1
        h^{L} = X
        h^l = tanh(h^{l+1} ⊙_{a} W^l)_{a'→a} + h^{l+1} for l = L - 1, …, 1
        W^l ∈ ℝ^{a × a'}
        X ∈ ℝ^{seq × a}
    """


def model_of(kind: type[Layer], seed: int = 0, dtype: str = "float64") -> Any:
    """A model whose every parameter is drawn, also those that begin as zero or one."""
    random, layer = np.random.default_rng(seed), kind.init(seed, {**SIZES, **MODELS[kind][0]}, dtype)
    drawn = {
        name: nt.tensor(random.normal(size=parameter.array.shape).astype(dtype) / 3, parameter.axes)
        for name, parameter in layer.parameters.items()
        if isinstance(parameter, nt.NamedTensor)
    }
    return layer.replace(drawn)


def inputs(kind: type[Layer], library: Any = np) -> list[nt.NamedTensor]:
    if kind is ViT:
        return [nt.tensor(library.asarray(np.linspace(-1, 1, 72).reshape(3, 6, 4)), "chans height width")]
    ids = nt.tensor(library.asarray(IDS), "batch seq")
    return [nt.tensor(library.asarray(IDS[:, ::-1].copy()), "batch source"), ids] if kind is EncoderDecoder else [ids]


def residual(seed: int = 0) -> Layer:
    random = np.random.default_rng(seed)
    shapes = {"W^{}": "chans chans'", "b^{{{},1}}": "chans", "b^{{{},2}}": "chans"}
    return Residual(
        {name.format(l): nt.tensor(random.normal(size=(3,) * len(axes.split())), axes)
         for l in range(1, 6) for name, axes in shapes.items()}, {"L": 5},
    )  # fmt: skip


def near(actual: Any, expected: Any, tolerance: float = 1e-9) -> None:
    assert set(actual.axes) == set(expected.axes)
    np.testing.assert_allclose(
        np.asarray(actual.to_array(expected.axes)),
        np.asarray(expected.to_array(expected.axes)),
        rtol=tolerance,
        atol=tolerance,
    )


def same_parameters(layer: Layer, expected: Layer, tolerance: float = 0) -> None:
    assert list(layer.parameters) == list(expected.parameters)
    for name, parameter in expected.parameters.items():
        if isinstance(parameter, nt.NamedTensor):
            near(layer.parameters[name], parameter, tolerance)
        else:
            assert layer.parameters[name] == parameter


def families(layer: Layer) -> list[FamilyName]:
    return [name for name in layer._kept if isinstance(name, FamilyName)]


# ------------------------------------------------------------------------------------------------------ what it keeps
@pytest.mark.parametrize("kind", MODELS)
def test_each_family_is_one_array_of_its_members(kind):
    model = model_of(kind)
    stacked = model.stack_layers()
    assert len(families(stacked)) == MODELS[kind][1]
    assert stacked.stack_layers() is stacked and type(stacked) is kind
    for name in families(stacked):
        array = stacked._kept[name].array
        np.testing.assert_array_equal(array, [model.parameters[member].array for member in name.members])
    same_parameters(stacked, model)
    same_parameters(stacked.unstack_layers(), model)
    assert not families(stacked.unstack_layers()) and stacked.unstack_layers()._about == model._about


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("kind", MODELS)
def test_it_gives_what_the_layer_gives(kind, library):
    xp = pytest.importorskip(library)
    model = model_of(kind).to(library)
    near(model.stack_layers()(*inputs(kind, xp)), model(*inputs(kind, xp)))


def test_a_loop_that_begins_later_and_a_member_that_stands_alone():
    layer, x = residual(), nt.tensor(np.linspace(-1, 1, 6).reshape(2, 3), "seq chans")
    assert [str(family) for family in families(layer.stack_layers())] == [
        "b^{1,1} … b^{5,1}",
        "W^1 … W^5",
        "b^{1,2} … b^{5,2}",
    ]
    near(layer.stack_layers()(x), layer(x))
    values = {name: parameter.array for name, parameter in layer.parameters.items()}
    h = values["b^{1,1}"]
    for l in range(1, 6):
        h = np.tanh(h @ values[f"W^{l}"]) + x.array + values[f"b^{{{l},1}}"] + values[f"b^{{{l},2}}"]
    np.testing.assert_allclose(layer.stack_layers()(x).to_array("seq chans"), h + values["W^1"] @ values["b^{2,1}"])


def test_a_loop_against_the_order_of_the_members():
    weights, h = np.random.default_rng(0).normal(size=(11, 3, 3)), np.linspace(-1, 1, 6).reshape(2, 3)
    tensors = {f"W^{l}": nt.tensor(weight, "a a'") for l, weight in enumerate(weights, 1)}
    result = Backwards(tensors, {"L": 12}).stack_layers()(nt.tensor(h, "seq a"))
    for weight in weights[::-1]:
        h = np.tanh(h @ weight) + h
    np.testing.assert_allclose(result.to_array("seq a"), h)


def test_members_that_differ_stay_as_they_are():
    model = model_of(GPT2)
    single = model.parameters["W^{2,Q}"]
    model = model.replace({"W^{2,Q}": nt.tensor(single.array.astype("float32"), single.axes)})
    stacked = model.stack_layers()
    assert len(families(stacked)) == 15 and "W^{3,Q}" in stacked._kept
    near(stacked(*inputs(GPT2)), model(*inputs(GPT2)))
    assert transformer.FFN.init(sizes={"chans": 4, "hidden": 8}).stack_layers()._about.stacked == ()


class Two(Layer):
    """Two families, one of many members."""

    citation, output, inputs = "a test", "Y", ("X",)
    notation = """
        Y = g^N
        g^0 = h^L
        h^0 = X
        h^l = tanh(h^{l-1} + w^l) for l = 1, …, L
        g^n = tanh(g^{n-1} + v^n) for n = 1, …, N
        w^l, v^l, X ∈ ℝ^{a}
    """


def test_a_layer_keeps_the_families_that_it_has_and_may_get_others():
    tensors = {
        f"{name}^{n}": nt.tensor([0.1 * n, 0.2], "a") for name, most in (("w", 5), ("v", 3)) for n in range(1, most + 1)
    }
    layer, x = Two(tensors, {"L": 5, "N": 3}), nt.tensor([0.5, -0.5], "a")
    some = layer._stack_families(4)
    assert [*map(str, families(some))] == [*map(str, families(some.replace({"w^2": tensors["w^1"]})))] == ["w^1 … w^5"]
    assert some._stack_families(4) is some and len(families(some.stack_layers())) == 2
    for two in (some, some.stack_layers(), some.stack_layers().unstack_layers()):
        near(two(x), layer(x))
        same_parameters(two, layer)


# -------------------------------------------------------------------------------------------------- every other verb
@pytest.mark.slow
def test_the_verbs_of_a_layer(tmp_path):
    model, (ids,) = model_of(GPT2), inputs(GPT2)
    stacked = model.stack_layers()
    assert "W^{4,Q}" in stacked.parameters and "W^{5,Q}" not in stacked.parameters
    with pytest.raises(KeyError):
        stacked.parameters["W^{5,Q}"]
    assert len(stacked.parameters) == len(model.parameters)
    near(stacked.evaluate("A^2", ids), model.evaluate("A^2", ids))
    shapes = [line for line in repr(stacked).splitlines() if "…" in line and "one array" in line]
    assert len(shapes) == 16 and "    W^{1,Q} … W^{4,Q} = ℝ^{chans[8] × heads[2] × key[4]}, 4 in one array" in shapes

    again = pickle.loads(pickle.dumps(stacked))
    assert families(again) == families(stacked) and families(again)[3].members == families(stacked)[3].members
    same_parameters(again, model)
    near(again(ids), model(ids))

    stacked.save(tmp_path / "stacked.safetensors")
    model.save(tmp_path / "plain.safetensors")
    assert (tmp_path / "stacked.safetensors").read_bytes() == (tmp_path / "plain.safetensors").read_bytes()
    same_parameters(GPT2.load(tmp_path / "stacked.safetensors"), model)

    other = nt.tensor(np.ones((8, 2, 4)), "chans heads key")
    replaced = stacked.replace({"W^{3,Q}": other})
    assert families(replaced) == families(stacked)
    same_parameters(replaced, model.replace({"W^{3,Q}": other}))
    with pytest.raises(nt.NotationError) as caught:
        stacked.replace({"W^{5,Q}": other})
    assert caught.value.code == 201
    single = stacked.to("numpy", "float32")
    assert families(single) == families(stacked) and single.parameters["W^{4,Q}"].dtype == np.float32
    near(model.explain(ids).value, stacked.explain(ids).value)
    assert stacked.diagram(ids).to_svg() == model.diagram(ids).to_svg()
    assert stacked.highlight()._repr_html_() == model.highlight()._repr_html_()
    near(stacked.generate(ids, 3), model.generate(ids, 3))


def test_a_call_may_give_a_member():
    model, (ids,) = model_of(GPT2), inputs(GPT2)
    other = {"W^{3,Q}": nt.tensor(np.ones((8, 2, 4)), "chans heads key")}
    near(model.stack_layers()(ids, **other), model(ids, **other))


def test_a_module_of_pytorch_has_the_members():
    torch = pytest.importorskip("torch")
    model = model_of(GPT2)
    module = model.stack_layers().module(ids="batch seq", dtype="float64")
    assert len(dict(module.named_parameters())) == len(dict(model.module(ids="batch seq").named_parameters()))
    ids = torch.asarray(IDS)
    torch.testing.assert_close(module(ids), model.module(ids="batch seq", dtype="float64")(ids))
    same_parameters(GPT2.from_module(module).to("numpy"), model)


def test_pytorch_differentiates_by_the_array():
    torch = pytest.importorskip("torch")
    model, (ids,) = model_of(GPT2).to("torch"), inputs(GPT2, torch)
    stacked, slopes = model.stack_layers(), {}
    for layer in (model, stacked):
        for item in layer._kept.values():
            if isinstance(item, nt.NamedTensor):
                item.array.requires_grad_()
        (layer(ids) ** 2).array.sum().backward()
        slopes |= {name: value.array.grad for name, value in layer._kept.items() if isinstance(value, nt.NamedTensor)}
    for name in families(stacked):
        torch.testing.assert_close(slopes[name], torch.stack([slopes[member] for member in name.members]))


# --------------------------------------------------------------------------------------------------------- under JAX
def loss(layer: Layer, *given: nt.NamedTensor) -> Any:
    result = layer(*given)
    return (result * result).sum(axis=result.axes).array


@pytest.mark.sampled(6)
def test_gradients_are_those_of_the_members():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        tensors = [nt.tensor(jax.numpy.linspace(-1, 1, 6).reshape(2, 3), "seq chans")]
        model = residual().to("jax")
        stacked = model.stack_layers()
        value, slope = jax.jit(jax.value_and_grad(loss))(stacked, *tensors)
        expected, right = jax.jit(jax.value_and_grad(loss))(model, *tensors)
        np.testing.assert_allclose(value, expected, rtol=1e-10)
        assert type(slope) is Residual and slope._about == stacked._about
        same_parameters(slope, right, 1e-8)
        along = jax.jit(lambda layer, change: jax.jvp(lambda layer: loss(layer, *tensors), (layer,), (change,))[1])
        np.testing.assert_allclose(along(stacked, slope), along(model, right), rtol=1e-9)


@pytest.mark.sampled(6)
def test_a_model_by_hand_in_jax_has_the_same_gradients():
    """The same layers by `lax.scan` over arrays that are stacked by hand."""
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    with jax.enable_x64(True):
        layer, x = residual(), jnp.linspace(-1, 1, 6).reshape(2, 3)
        arrays = [jnp.stack([layer.parameters[name.format(l)].array for l in range(1, 6)])
                  for name in ("b^{{{},1}}", "W^{}", "b^{{{},2}}")]  # fmt: skip

        def by_hand(arrays):
            def step(h, local):
                one, weight, other = local
                return jnp.tanh(h @ weight) + x + one + other, None

            ones, weights, _ = arrays
            first = jnp.broadcast_to(ones[0], (2, 3))
            return ((jax.lax.scan(step, first, arrays)[0] + weights[0] @ ones[1]) ** 2).sum()

        result = jax.jit(jax.grad(loss))(layer.to("jax").stack_layers(), nt.tensor(x, "seq chans"))
        for got, expected in zip(jax.tree.leaves(result), jax.grad(by_hand)(arrays), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.sampled(6)
def test_training_goes_as_with_the_members():
    jax, optax = pytest.importorskip("jax"), pytest.importorskip("optax")
    optimizer = optax.adamw(1e-2)

    @jax.jit
    def step(layer, state, ids):
        value, slope = jax.value_and_grad(loss)(layer, ids)
        changes, state = optimizer.update(slope, state, layer)
        return optax.apply_updates(layer, changes), state, value

    with jax.enable_x64(True):
        (ids,), model = inputs(GPT2, jax.numpy), model_of(GPT2).to("jax")
        ends = []
        for layer in (model, model.stack_layers()):
            state, values = optimizer.init(layer), []
            for _ in range(3):
                layer, state, value = step(layer, state, ids)
                values.append(float(value))
            ends.append((layer, values))
        (plain, left), (stacked, right) = ends
        np.testing.assert_allclose(left, right, rtol=1e-9)
        assert left[0] > left[-1] and families(stacked)
        same_parameters(stacked, plain, 1e-6)


def test_shapes_alone_and_trees_of_what_is_no_array():
    jax = pytest.importorskip("jax")
    model, (ids,) = model_of(GPT2, dtype="float32").to("jax"), inputs(GPT2, jax.numpy)
    stacked = model.stack_layers()
    leaves, structure = jax.tree.flatten(stacked)
    assert len(leaves) == 20 and len(jax.tree.leaves(model)) == 4 + 16 * 4
    assert structure == jax.tree.structure(pickle.loads(pickle.dumps(stacked)))
    shapes = jax.eval_shape(lambda: model_of(GPT2, dtype="float32").to("jax"))
    assert jax.tree.structure(shapes.stack_layers()) == structure
    assert shapes.stack_layers().parameters["W^{4,Q}"].sizes == {"chans": 8, "heads": 2, "key": 4}
    text = jax.jit(lambda layer, ids: layer(ids)).lower(shapes.stack_layers(), ids).as_text()
    assert text == jax.jit(lambda layer, ids: layer(ids)).lower(stacked, ids).as_text()
    named = jax.tree.unflatten(structure, range(20))
    assert jax.tree.leaves(named) == [*range(20)] and "W^{1,Q}" in named.parameters
    assert jax.tree.map(lambda _: None, stacked).parameters.keys() == model.parameters.keys()


@pytest.mark.sampled(6)
def test_what_is_compiled_is_as_long_for_many_layers_as_for_few():
    jax = pytest.importorskip("jax")
    ids, lengths = nt.tensor(jax.numpy.asarray(IDS[0]), "seq"), []
    for count in (3, 24):
        model = GPT2.init(0, {**SIZES, **MODELS[GPT2][0], "L": count}, "float32").to("jax").stack_layers()
        lowered = jax.jit(jax.value_and_grad(loss)).lower(model, ids)  # which costs less than to compile it
        lengths.append(lowered.as_text().count("\n"))
        assert len(jax.tree.leaves(lowered.out_info)) == 21
    assert lengths[0] == lengths[1]


def test_text_is_generated_without_taking_families_apart(monkeypatch):
    model = model_of(GPT2)
    prompt = nt.tensor(IDS[:, :3], "batch seq")
    expected = model.generate(prompt, max_new_tokens=3)
    stacked = model.stack_layers()
    monkeypatch.setattr("namedtensor.layers.families.member", lambda *given: pytest.fail("a member was made"))
    assert nt.allclose(stacked.generate(prompt, max_new_tokens=3), expected)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("layers", [23, 24])
def test_on_jax_families_of_many_are_one_array(layers):
    jax = pytest.importorskip("jax")
    sizes = {**SIZES, **MODELS[GPT2][0], "L": layers, "chans": 4}
    model = GPT2.init(0, sizes, "float32")
    moved = model.to("jax")
    assert len(jax.tree.leaves(moved)) == (20 if layers == 24 else 16 * layers + 4)
    assert [*moved.parameters] == [*model.parameters]
    result = (moved, jax.numpy.asarray(IDS)), (model, IDS)
    there, here = (layer(nt.tensor(ids, "batch seq")).to_array("batch seq vocab") for layer, ids in result)
    np.testing.assert_allclose(there, here, rtol=2e-4, atol=2e-6)
    assert len(jax.tree.leaves(moved.unstack_layers())) == 16 * layers + 4
