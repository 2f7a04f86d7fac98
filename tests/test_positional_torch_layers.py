"""Families and recurrences: layers that repeat, whose text does not grow with the depth, recurrent layers over time, and functions."""

import numpy as np
import pytest

import namedtensor as nt

torch = pytest.importorskip("torch")
nn = torch.nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 7), nn.Linear(7, 4)

    def forward(self, x):
        h = torch.relu(self.up(x))
        return x + self.down(h)


class Averaging(Layer):
    """Adds a mean in place of what it takes."""

    def forward(self, x):
        h = torch.relu(self.up(x))
        return h.mean(-1, keepdim=True) + self.down(h)


class Net(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Injected(Net):
    """Each layer takes the input, too, and all results are used."""

    def forward(self, x):
        h, total = x, x
        for layer in self.layers:
            h = layer(h) * x
            total = total + h
        return total


class Again(nn.Module):
    """The same layer several times."""

    def __init__(self, depth):
        super().__init__()
        self.layer, self.depth = Layer(), depth

    def forward(self, x):
        for _ in range(self.depth):
            x = torch.sigmoid(self.layer(x))
        return x


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + x)


def several(make, depth):
    return [make() for _ in range(depth)]


MODULES = {
    "residual layers": (lambda depth: Net(several(Layer, depth)), (3, 4)),
    "layers that take the input": (lambda depth: Injected(several(Layer, depth)), (3, 4)),
    "a perceptron": (lambda depth: nn.Sequential(*(part for _ in range(depth) for part in (nn.Linear(4, 4), nn.Tanh()))), (3, 4)),
    "layers between others": (lambda depth: nn.Sequential(nn.Linear(5, 4), *several(Layer, depth), nn.Linear(4, 2)), (3, 5)),
    "an encoder": (lambda depth: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, batch_first=True), depth, enable_nested_tensor=False), (2, 5, 4)),
    "one layer again and again": (Again, (3, 4)),
    "convolutions": (lambda depth: nn.Sequential(*several(Residual, depth)), (2, 4, 6, 6)),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MODULES)
def test_eight_equal_layers_are_no_longer_than_two(name):
    make, shape = MODULES[name]
    lengths = []
    for depth in (2, 8):
        torch.manual_seed(depth)
        module = make(depth).eval()
        for parameter in module.parameters():  # equal layers begin equal in an encoder
            nn.init.normal_(parameter, std=0.4)
        read = nt.from_torch(module, torch.randn(shape))
        x = torch.randn(4, *shape[1:])
        with torch.no_grad():
            np.testing.assert_allclose(read(x), module(x), rtol=1e-4, atol=1e-5)
        assert not read.remarks and f"for l = 1, …, {depth}" in read.formula
        assert len(read.parameters) == len(dict(module.named_parameters())) + sum(
            "running" in name for name, _ in module.named_buffers()
        )
        lengths.append(len(read.text))
    assert lengths[1] <= lengths[0]


def test_the_members_of_a_family_are_the_parameters_of_the_layers():
    module = Net(several(Layer, 3))
    names = {"x": "batch chans", "layers.1.up.weight": "hidden chans"}
    read = nt.from_torch(module, torch.randn(3, 4), names=names)
    assert read.formula == (
        "layers^0 = x\n"
        "layers^l = layers^{l-1} + (relu(layers^{l-1} ⊙_{chans} W_{layersUp}^l + b_{layersUp}^l) ⊙_{hidden} W_{layersDown}^l"
        " + b_{layersDown}^l) for l = 1, …, 3\nlayers^3"
    )
    for number, layer in enumerate(module.layers, 1):
        family = read.parameters[f"W_{{layersUp}}^{number}"]
        np.testing.assert_array_equal(family.to_array(["hidden", "chans"]), layer.up.weight.detach())
    assert not read.unused


def test_an_index_is_no_letter_that_an_axis_or_an_input_has():
    read = nt.from_torch(Net(several(Layer, 3)), torch.randn(3, 4), names={"x": "l chans"})
    assert "for m = 1, …, 3" in read.formula
    recurrent = nt.from_torch(nn.RNN(6, 5, batch_first=True), torch.randn(3, 4, 6), names={"input": "batch t chans"})
    assert "for i = 1, …, |t|" in recurrent.formula and recurrent(torch.randn(2, 7, 6)).shape == (2, 7, 5)


def test_layers_that_differ_are_written_out():
    read = nt.from_torch(Net([Layer(), Averaging(), Layer()]), torch.randn(3, 4))
    assert " for l = " not in read.text and "W_{layers1Up}" in read.text


def test_equal_layers_after_another_are_a_family():
    read = nt.from_torch(Net([Averaging(), Layer(), Layer()]), torch.randn(3, 4))
    assert "for l = 1, …, 2" in read.text and "W_{layers0Up}" in read.text


PAPER = """y^0 = x
y^l = y^{l-1} + relu(y^{l-1} ⊙_{chans} W_{layersUp}^l + b_{layersUp}^l) ⊙_{hidden} W_{layersDown}^l + b_{layersDown}^l for l = 1, …, 5
y^5"""


@pytest.mark.parametrize("kind", [Layer, Averaging])
def test_a_slip_within_layers_is_found_at_its_line(kind):
    names = {"x": "batch chans", "layers.0.up.weight": "hidden[7] chans", "layers.0.down.weight": "chans hidden"}
    comparison = nt.equivalent(nt.from_torch(Net(several(kind, 5)), torch.randn(3, 4), names=names), PAPER)
    assert bool(comparison) == (kind is Layer)
    assert [line.text for line in comparison.lines] == (
        [] if comparison else ["return h.mean(-1, keepdim=True) + self.down(h)"]
    )


# -------------------------------------------------------------------------------------------------------------- functions
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.norm, self.outer = nn.Linear(4, 6), nn.LayerNorm(6), nn.Linear(6, 3)

    def forward(self, x):
        h = torch.relu(self.inner(x))
        h = h + torch.tanh(h)
        return self.outer(self.norm(h))


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x, y):
        u, v = self.encoder(x), self.encoder(y)
        return torch.softmax(u, -1) * v + u


def test_a_module_that_is_called_twice_is_a_function():
    module = Twice()
    read = nt.from_torch(module, torch.randn(5, 4), torch.randn(5, 4), names={"x": "batch chans", "y": "batch chans"})
    assert read.formula == (
        "h = relu(x_2 ⊙_{chans} W_{encoderInner} + b_{encoderInner})\n"
        "encoder(x_2) = (standardize_{inner}(h + tanh(h)) ⊙ W_{encoderNorm} + b_{encoderNorm}) ⊙_{inner} W_{encoderOuter}"
        " + b_{encoderOuter}\n"
        "outer = encoder(x)\n"
        "softmax_i(outer) ⊙ encoder(y) + outer"
    )
    x, y = torch.randn(2, 7, 4)
    with torch.no_grad():
        np.testing.assert_allclose(read(x, y), module(x, y), rtol=1e-4, atol=1e-5)
    assert read.sources["encoder(x_2)"].text == "return self.outer(self.norm(h))"


def test_a_module_that_is_called_with_two_shapes_is_written_out():
    module = Twice()
    read = nt.from_torch(module, torch.randn(5, 4), torch.randn(1, 4), names={"x": "batch chans"})
    assert "encoder(" not in read.formula
    x, y = torch.randn(7, 4), torch.randn(1, 4)
    with torch.no_grad():
        np.testing.assert_allclose(read(x, y), module(x, y), rtol=1e-4, atol=1e-5)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(4, 3) for _ in range(3))

    def forward(self, x, memory):
        scores = self.q(x) @ self.k(memory).transpose(-1, -2) / 3**0.5
        return torch.softmax(scores, -1) @ self.v(memory)


class HeadThenEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.up, self.encoder = Head(), nn.Linear(3, 4), Encoder()

    def forward(self, x, memory):
        return self.encoder(self.up(self.head(x, memory * 2)))


def test_long_modules_that_are_called_once_are_functions():
    module = HeadThenEncoder()
    x, memory = torch.randn(2, 5, 4), torch.randn(2, 6, 4)
    read = nt.from_torch(module, x, memory, names={"x": "batch query chans", "memory": "batch seq chans"})
    lines = read.formula.splitlines()
    assert lines[0].startswith("head(x_2, x_3) = softmax_{seq}(") and lines[-1].startswith(
        "encoder(head(x, 2 ⊙ memory) ⊙"
    )
    x, memory = torch.randn(3, 7, 4), torch.randn(3, 9, 4)
    with torch.no_grad():
        np.testing.assert_allclose(read(x, memory), module(x, memory), rtol=1e-4, atol=1e-5)
    assert read.sources["head(x_2, x_3)"].text == "return torch.softmax(scores, -1) @ self.v(memory)"


def test_the_module_that_holds_all_others_is_no_function():
    module = nn.Sequential()
    module.add_module("encoder", Encoder())
    read = nt.from_torch(module, torch.randn(5, 4), names={"input": "batch chans"})
    assert "encoder(" not in read.formula


def test_a_mistake_in_a_module_that_is_a_function_is_found_at_its_line():
    read = nt.from_torch(
        HeadThenEncoder(), torch.randn(2, 5, 4), torch.randn(2, 6, 4),
        names={"x": "batch query chans", "memory": "batch seq chans"},
    )  # fmt: skip
    formula = read.formula
    assert nt.equivalent(read, formula)
    wrong = nt.equivalent(read, formula.replace(" / √|q|", ""))
    assert not wrong and [line.text for line in wrong.lines] == [
        "scores = self.q(x) @ self.k(memory).transpose(-1, -2) / 3**0.5"
    ]


# -------------------------------------------------------------------------------------------------------- recurrent layers
RECURRENT = {
    "RNN": lambda: nn.RNN(6, 5, batch_first=True), "RNN of relu": lambda: nn.RNN(6, 5, nonlinearity="relu", bias=False),
    "RNN of two layers": lambda: nn.RNN(6, 5, 2), "GRU": lambda: nn.GRU(6, 5, batch_first=True),
    "GRU both ways": lambda: nn.GRU(6, 5, 2, bidirectional=True), "LSTM": lambda: nn.LSTM(6, 5, batch_first=True),
    "LSTM both ways": lambda: nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrent_layer_is_a_recurrence_for_all_lengths(name):
    torch.manual_seed(0)
    module = RECURRENT[name]().eval()
    axes = "batch seq chans" if module.batch_first else "seq batch chans"
    read = nt.from_torch(module, torch.randn(3, 4, 6), names={"input": axes})
    assert "for t = 1, …, |seq|" in read.formula and not read.remarks and "chans" not in read.axes
    assert ("for t = |seq|, …, 1" in read.formula) == module.bidirectional
    x = torch.randn(2, 9, 6)
    with torch.no_grad():
        np.testing.assert_allclose(read(x), module(x)[0], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("output", [1, 2])
def test_the_last_states_of_a_recurrent_layer(output):
    module = nn.LSTM(6, 5, 2, batch_first=True)
    read = nt.from_torch(module, torch.randn(3, 4, 6), output=output)
    x = torch.randn(2, 7, 6)
    with torch.no_grad():
        np.testing.assert_allclose(read(x), module(x)[1][output - 1], rtol=1e-4, atol=1e-6)


def test_the_equations_of_a_gated_recurrent_unit():
    read = nt.from_torch(
        nn.GRU(6, 5, batch_first=True), torch.randn(3, 4, 6), torch.randn(1, 3, 5),
        names={"input": "batch seq in", "hx": "layer batch hidden"},
    )  # fmt: skip
    assert read.formula == (
        "h^0 = hx\n"
        "g^t = input_{seq(t)} ⊙_{in} W_{ihL0} + b_{ihL0} for t = 1, …, |seq|\n"
        "g_2^t = h^{t-1}_{hidden→hidden'} ⊙_{hidden'} W_{hhL0} + b_{hhL0} for t = 1, …, |seq|\n"
        "z^t = σ(g^t_{gate(2)} + g_2^t_{gate(2)}) for t = 1, …, |seq|\n"
        "h^t = (1 - z^t) ⊙ tanh(g^t_{gate(3)} + σ(g^t_{gate(1)} + g_2^t_{gate(1)}) ⊙ g_2^t_{gate(3)}) + z^t ⊙ h^{t-1}"
        " for t = 1, …, |seq|\nY_{seq(t)} = h^t for t = 1, …, |seq|\nY"
    )
    assert read.parameters["W_{hhL0}"].axes == ("gate", "hidden", "hidden'")


class Tagger(nn.Module):
    """A recurrent layer within a module, after an embedding and before an output for each position."""

    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.out = nn.Embedding(9, 6), nn.LSTM(6, 4, batch_first=True), nn.Linear(4, 3)

    def forward(self, ids):
        states, _ = self.lstm(self.embed(ids))
        return self.out(states)


def test_a_recurrent_layer_within_a_module():
    module = Tagger()
    read = nt.from_torch(module, torch.randint(0, 9, (2, 5)), names={"ids": "batch seq"})
    ids = torch.randint(0, 9, (3, 8))
    with torch.no_grad():
        np.testing.assert_allclose(read(ids), module(ids), rtol=1e-4, atol=1e-6)


class OfCondition(Layer):
    """Takes a condition and gives one."""

    def forward(self, x):
        return super().forward(x.float()) > 0.1


class Conditions(Net):
    def forward(self, x):
        x = x > 0
        for layer in self.layers:
            x = layer(x)
        return x.float()


class WithCondition(Layer):
    """Gives a condition beside what passes on."""

    def forward(self, x):
        x = super().forward(x)
        return x, x > 0


class Counted(Net):
    def forward(self, x):
        total = 0
        for layer in self.layers:
            x, condition = layer(x)
            total = total + condition.float()
        return total


class OfTwo(Layer):
    """Takes two tensors."""

    def forward(self, x, y):
        return super().forward(x) * y


class GivenTwice(Net):
    """Every layer but the first takes what the one before gives twice."""

    def forward(self, x):
        y = x * 2
        for layer in self.layers:
            x = y = layer(x, y)
        return x


@pytest.mark.parametrize(("net", "kind"), [(Conditions, OfCondition), (Counted, WithCondition), (GivenTwice, OfTwo)])
def test_a_first_layer_that_is_no_member_of_a_family_is_written_out(net, kind):
    torch.manual_seed(1)
    module = net(several(kind, 3))
    read = nt.from_torch(module, torch.randn(3, 4))
    x = torch.randn(5, 4)
    with torch.no_grad():
        np.testing.assert_allclose(read(x), module(x), rtol=1e-4, atol=1e-5)
    assert "W_{layers0Up}" in read.text


def test_layers_whose_parameters_get_different_names_are_written_out():
    names = {"layers.0.up.weight": "hidden chans", "layers.1.up.weight": "wide chans"}
    read = nt.from_torch(Net(several(Layer, 3)), torch.randn(3, 4), names=names)
    assert " for l = " not in read.text
    assert [read.parameters[f"W_{{layers{number}Up}}"].axes[0] for number in (0, 1)] == ["hidden", "wide"]


def test_equal_layers_within_others_are_members_of_the_same_family():
    module = Net([Layer(), nn.Sequential(Layer()), Layer()])
    read = nt.from_torch(module, torch.randn(3, 4))
    x = torch.randn(5, 4)
    with torch.no_grad():
        np.testing.assert_allclose(read(x), module(x), rtol=1e-4, atol=1e-5)
    assert "for l = 1, …, 3" in read.text
