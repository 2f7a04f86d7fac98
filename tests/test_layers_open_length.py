"""Layers and programs that run along an axis of any length: h^t for t = 1, …, |seq|."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.layers import Layer

RANDOM = np.random.default_rng(4)
STEP = "tanh(x_{seq(t)} ⊙_{emb} U + W ⊙_{hid'} h^{t-1}_{hid→hid'})"
PARAMETERS = "U ∈ ℝ^{emb × hid}\nW ∈ ℝ^{hid × hid'}\n"
DECLARED = f"""h^0 = 0
h^t = {STEP} for t = 1, …, |seq|
Y_{{seq(t)}} = h^t for t = 1, …, |seq|
x ∈ ℝ^{{seq × emb}}
{PARAMETERS}"""
FUNCTION = f"""RNN : ℝ^{{seq × emb}} → ℝ^{{hid}}
RNN(x) = h^{{|seq|}}
h^0 = 0
h^t = {STEP} for t = 1, …, |seq|
{PARAMETERS}"""
BACKWARD = f"""h^{{|seq|+1}} = 0
h^t = {STEP.replace("t-1", "t+1")} for t = |seq|, …, 1
Y = h^1
x ∈ ℝ^{{seq × emb}}
{PARAMETERS}"""


class Recurrent(Layer):
    """The hidden states."""

    notation, output, inputs = DECLARED, "Y", ("x",)


class RNN(Layer):
    """The last hidden state, by a function."""

    notation = FUNCTION


class Reversed(Layer):
    """The last hidden state from the end to the beginning."""

    notation, output, inputs = BACKWARD, "Y", ("x",)


def hidden_states(layer, x):
    """Return the hidden states of plain arrays in order."""
    U, W = layer.parameters["U"].to_array("emb hid"), layer.parameters["W"].to_array("hid hid'")
    states = [np.zeros(len(W))]
    for row in x:
        states.append(np.tanh(row @ U + W @ states[-1]))
    return np.array(states[1:])


EXPECTED = {
    Recurrent: hidden_states,
    RNN: lambda layer, x: hidden_states(layer, x)[-1],
    Reversed: lambda layer, x: hidden_states(layer, x[::-1])[-1],
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_one_layer_takes_every_length(kind):
    layer = kind.init(1, sizes={"emb": 3, "hid": 4})
    assert layer.sizes == {} and layer.parameters["W"].to_array("hid hid'").std() > 0  # contracted, so not zero
    for length in (4, 1, 7):
        x = RANDOM.normal(size=(length, 3))
        value = layer(nt.tensor(x, "seq emb"))
        assert np.allclose(value.to_array("seq hid" if "seq" in value.axes else "hid"), EXPECTED[kind](layer, x))


@pytest.mark.parametrize("kind", EXPECTED)
def test_its_module_takes_every_length(kind):
    torch = pytest.importorskip("torch")
    layer = kind.init(1, sizes={"emb": 3, "hid": 4})
    module = layer.module(x="batch seq emb")
    for length in (5, 1, 3):
        x = torch.randn(2, length, 3)
        value = module(x)
        expected = [EXPECTED[kind](layer, row.double().numpy()) for row in x]
        assert np.allclose(value.detach().numpy(), expected, atol=1e-5)
        value.sum().backward()
    assert module.W.grad is not None


def test_the_parameters_of_an_open_length():
    assert nt.parameters(FUNCTION, sizes={"hid": 2}) == {"U": "ℝ^{emb × hid[2]}", "W": "ℝ^{hid[2] × hid'[2]}"}
    assert Recurrent.init(0, sizes={"emb": 3, "hid": 4}).input_shapes == {"x": {"seq": None, "emb": 3}}
    assert nt.check(FUNCTION).ok


@pytest.mark.parametrize("end", ["|seq|", "L"])
def test_an_open_number_of_parameters_needs_a_size(end):
    family = f"h^0 = 0\nh^t = h^{{t-1}} + x ⊙_{{seq}} W^t for t = 1, …, {end}\nY = h^{{{end}}}\nx ∈ ℝ^{{seq}}\nW^t ∈ ℝ^{{seq × b}}"
    with pytest.raises(nt.NotationError, match="undefined name") as caught:
        nt.parameters(family)
    assert caught.value.hint == f"pass it: sizes={{'{end.strip('|')}': 3}}"


def test_the_argument_of_module_is_a_name():
    pytest.importorskip("torch")
    layer = RNN.init(1, sizes={"emb": 3, "hid": 4})
    with pytest.raises(nt.NotationError, match="RNN has no batch seq emb") as caught:
        layer.module("batch seq emb")
    assert caught.value.hint == 'pass the axes of an input by name: .module(x="batch seq chans")'


@pytest.mark.parametrize("shape", ["ℝ^{seq × emb}", "ℝ^{seq[3] × emb}"])
def test_a_diagram_draws_one_step(shape):
    diagram = nt.program(DECLARED)["Y"].diagram(x=shape)
    assert "|seq|" in diagram.to_mermaid() and diagram.sizes.get("seq") == (3 if "3" in shape else None)


def test_the_call_of_a_function_counts_along_its_argument():
    for argument, types in (("x_{time→seq}", "x ∈ ℝ^{time × emb}"), ("x_{(a,b)→seq}", "x ∈ ℝ^{a × b × emb}")):
        result = nt.check(f"{FUNCTION}Z = RNN({argument})\n{types}")
        assert result.ok and not result.conditions
