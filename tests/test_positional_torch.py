"""Modules and functions of PyTorch read as programs: values, names, remarks, and what is refused."""

import math

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError

torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.drop = nn.Linear(6, 8), nn.Linear(8, 6), nn.Dropout(0.5)

    def forward(self, x):
        h = torch.relu(self.fc1(x))
        return x + self.drop(self.fc2(h))


class Attention(nn.Module):
    """Causal attention as small GPTs write it."""

    def __init__(self, d=16, heads=2):
        super().__init__()
        self.qkv, self.proj, self.heads = nn.Linear(d, 3 * d), nn.Linear(d, d), heads
        self.register_buffer("bias", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (word.view(B, T, self.heads, -1).transpose(1, 2) for word in self.qkv(x).split(C, dim=2))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Informer(nn.Module):
    """The heads are joined without being brought back beside their keys."""

    def __init__(self, d=8, heads=2):
        super().__init__()
        self.q, self.v, self.heads = nn.Linear(d, d), nn.Linear(d, d), heads

    def forward(self, x):
        B, L, D = x.shape
        q = self.q(x).view(B, L, self.heads, -1).transpose(1, 2)
        v = self.v(x).view(B, L, self.heads, -1).transpose(1, 2)
        y = torch.softmax(q @ q.transpose(-2, -1), -1) @ v
        return y.reshape(B, L, D)


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.fc = nn.Conv2d(1, 3, 5, padding=2), nn.Conv2d(3, 4, 5), nn.Linear(16, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(torch.flatten(x, 1))


class Residual(nn.Module):
    def __init__(self, c=4):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c)

    def forward(self, x):
        return F.relu(self.bn1(self.conv1(x)) + x)


MODULES = {
    "mlp": (MLP, (3, 6), "batch chans"),
    "attention": (Attention, (2, 5, 16), "batch seq chans"),
    "lenet": (LeNet, (2, 1, 16, 16), "batch color height width"),
    "residual": (Residual, (2, 4, 6, 6), "batch chans height width"),
    "encoder layer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (3, 5, 8), "batch seq chans"),
    "gru": (lambda: nn.GRU(6, 5, batch_first=True), (3, 4, 6), "batch seq chans"),
    "lstm": (lambda: nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True), (3, 3, 6), "batch seq chans"),
}


def value_of(module, *arrays):
    with torch.no_grad():
        result = module.eval()(*arrays)
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_the_value_of_its_program(name):
    make, shape, axes = MODULES[name]
    torch.manual_seed(0)
    module = make()
    argument = "src" if name == "encoder layer" else "input" if name in ("gru", "lstm") else "x"
    read = nt.from_torch(module, torch.randn(shape), names={argument: axes})
    x = torch.randn(4, *shape[1:])
    np.testing.assert_allclose(read(x), value_of(module, x), rtol=1e-4, atol=1e-5)
    assert not read.remarks
    assert nt.program(read.text).names is not None  # the text is read again


def test_other_sizes_than_those_of_the_example():
    module = Attention()
    read = nt.from_torch(module, torch.randn(2, 2, 16), names={"x": "batch seq chans"})
    x = torch.randn(3, 7, 16)
    np.testing.assert_allclose(read(x), value_of(module, x), rtol=1e-4, atol=1e-5)
    assert "iota_{seq'} ≥ iota_{seq} + 1" in read.text and "√|" in read.text
    assert read.axes == ("batch", "seq", "proj")


def test_names_of_parameters_split_their_axes():
    names = {"x": "batch chans", "fc1.weight": "(heads[2] key) chans"}
    read = nt.from_torch(MLP(), torch.randn(3, 6), names=names)
    assert "W_{fc1} ∈ ℝ^{heads[2] × key[4] × chans}" in read.text
    assert read.parameters["W_{fc1}"].axes == ("heads", "key", "chans")
    assert read.formula == "x + (relu(x ⊙_{chans} W_{fc1} + b_{fc1}) ⊙_{heads, key} W_{fc2} + b_{fc2})"


def test_a_function_and_its_lines():
    def scores(q, k):
        s = q @ k.T
        return torch.softmax(s / q.shape[-1] ** 0.5, -1)

    read = nt.from_torch(scores, torch.randn(2, 4), torch.randn(3, 4), names={"q": "query key", "k": "seq key"})
    assert read.formula.startswith("softmax_{seq}(q ⊙_{key} k / √|key|")
    assert read.source_of(read.tree.statements[-1].body).text.startswith("return torch.softmax")


@pytest.mark.parametrize("size", [5, 2])
def test_a_view_that_scrambles_axes_is_a_remark_also_where_sizes_are_equal(size):
    read = nt.from_torch(Informer(), torch.randn(2, size, 8), names={"x": "batch seq chans"})
    (remark,) = read.remarks
    assert remark.source.text == "return y.reshape(B, L, D)" and "across the borders" in remark.sentence
    assert "^^^" in str(remark) and "test_positional_torch.py" in str(remark)


def test_a_view_that_cuts_a_named_axis_is_a_remark():
    read = nt.from_torch(lambda x: x.view(x.shape[0], 2, 3).sum(1), torch.randn(4, 6), names={"x": "batch chans"})
    (remark,) = read.remarks
    assert remark.sentence == "view cuts the axis chans[6] into 2 × 3"
    x = torch.randn(5, 6)
    np.testing.assert_allclose(read(x), x.view(5, 2, 3).sum(1), rtol=1e-5)


def decides(x):
    if x.sum() > 0:
        return x
    return -x


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return 2 * x


REFUSED = {
    "the control flow depends on values of tensors if x.sum() > 0:": decides,
    "aten.rand_like generates random numbers": lambda x: x + torch.rand_like(x),
    "aten.nonzero depends on values": lambda x: x[torch.nonzero(x)],
    "aten.linalg_qr has no form in the notation yet": lambda x: torch.linalg.qr(x)[0],
    "a cast to torch.int64 cuts fractions off": lambda x: x.to(torch.int64) + 1,
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_refused_says_operator_file_and_line(sentence):
    with pytest.raises(NotationError, match="test_positional_torch.py:[0-9]+: ") as refused:
        nt.from_torch(REFUSED[sentence], torch.randn(4, 4))
    words = str(refused.value)
    assert refused.value.code == 405 and all(word in words for word in sentence.split())


def test_missing_example_inputs_are_listed():
    def attention(q, k, v, *, scale=1.0):
        return torch.softmax(q @ k.T * scale, -1) @ v

    with pytest.raises(NotationError, match="no example input for x\n  hint: pass one, .*x=torch.randn"):
        nt.from_torch(MLP())
    with pytest.raises(NotationError, match="no example input for k, v"):
        nt.from_torch(attention, torch.randn(3, 4))
    square = torch.randn(3, 3)
    assert nt.from_torch(attention, square, v=square, k=square).formula


def test_names_that_do_not_fit_are_told():
    with pytest.raises(NotationError, match=r"unknown key 'y' in names=; the module has x, fc1.weight"):
        nt.from_torch(MLP(), torch.randn(3, 6), names={"y": "batch chans"})
    with pytest.raises(NotationError, match=r"unknown key 'fc1.wight' in names=; .*\n  hint: did you mean fc1.weight"):
        nt.from_torch(MLP(), torch.randn(3, 6), names={"fc1.wight": "batch chans"})
    with pytest.raises(NotationError, match=r"'batch seq chans' names 3 axes, but x has 2 dimensions"):
        nt.from_torch(MLP(), torch.randn(3, 6), names={"x": "batch seq chans"})
    with pytest.raises(NotationError, match=r"names 1 axis, but x has 2 dimensions \(\d+ × 6\)\n.* 'batch chans'"):
        nt.from_torch(MLP(), torch.randn(3, 6), names={"x": "batch"})
    with pytest.raises(NotationError, match="does not run on these inputs"):
        nt.from_torch(MLP(), torch.randn(3, 5))
    with pytest.raises(
        NotationError, match=r"chans is 6 in x, and another size elsewhere|whose sizes do not make that"
    ):
        nt.from_torch(MLP(), torch.randn(3, 6), names={"x": "batch chans", "fc1.weight": "chans chans"})


def test_in_place_operations_are_read_as_what_they_leave():
    def first_is_zero(x):
        y = x.clone()
        y[:, 0] = 0
        y += 1
        return y

    read = nt.from_torch(first_is_zero, torch.randn(3, 4), names={"x": "batch seq"})
    x = torch.randn(5, 6)
    np.testing.assert_allclose(read(x), first_is_zero(x), rtol=1e-6)


def test_the_module_is_left_as_it_is():
    module = MLP().train()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    read = nt.from_torch(module, (torch.randn(3, 6),))  # all inputs as one, too
    assert read.reading == ("read in evaluation mode; in training Dropout would act differently",)
    assert module.training and all(torch.equal(value, before[name]) for name, value in module.state_dict().items())


class Regularized(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.norm, self.drop, self.down = nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.25), nn.Linear(6, 3)

    def forward(self, x):
        return self.down(self.drop(torch.relu(self.norm(self.up(x)))))


def test_a_module_in_training():
    module, x = Regularized(), torch.randn(7, 4)
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    read = nt.from_torch(module, torch.randn(5, 4), names={"x": "batch chans"}, training=True)
    assert "mask_1 ∈ {0,1}^{batch × up}" in read.text
    assert "standardize_{batch}" in read.formula and "running" not in read.text
    assert ["BatchNorm1d takes the statistics of the batch" in line for line in read.reading] == [True, False]
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())
    mask = torch.randint(0, 2, (7, 6)).float()
    with torch.no_grad():
        hidden = torch.relu(module.train().norm(module.up(x)))
        np.testing.assert_allclose(read(x, mask), module.down(hidden * mask / 0.75), rtol=1e-4, atol=1e-5)


def test_random_layers_are_refused_in_training():
    for layer in (nn.AlphaDropout(), nn.RReLU(), nn.Dropout2d()):
        with pytest.raises(NotationError, match="generates random numbers"):
            nt.from_torch(layer, torch.randn(2, 4, 3, 3), training=True)
    with pytest.raises(NotationError, match="pass training=True"):
        nt.from_torch(lambda x: F.dropout(x), torch.randn(3, 4))
    assert nt.from_torch(lambda x: F.dropout(x), torch.randn(3, 4), training=True).formula == "x ⊙ mask_1 / 0.5"


def test_a_function_with_a_derivative_of_its_own_is_refused():
    with pytest.raises(NotationError, match=r"torch.py:\d+: the module has a torch.autograd.Function"):
        nt.from_torch(lambda x: Doubled.apply(x) + 1, torch.randn(3, 4))


def overwrite(x, y):
    return x.mul_(2) + y.transpose(0, 1).add_(1)


class Counter(torch.nn.Module):
    """A module that changes its input and its buffer in place."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x, y):
        self.count.add_(1)
        return torch.relu_(x[0]) + y.sub_(self.count)


@pytest.mark.parametrize(
    "function, expected",
    [(overwrite, lambda x, y: 2 * x + y.T + 1), (Counter(), lambda x, y: np.maximum(x[0], 0) + y - 1)],
    ids=["function", "module"],
)
def test_functions_that_change_their_inputs_leave_the_examples(function, expected):
    x, y = torch.randn(3, 3), torch.randn(3, 3)
    before = x.clone(), y.clone()
    read = nt.from_torch(function, x, y)
    assert torch.equal(x, before[0]) and torch.equal(y, before[1])
    assert not any(buffer.any() for buffer in getattr(function, "buffers", list)())
    np.testing.assert_allclose(np.asarray(read(x, y)), expected(x.numpy(), y.numpy()), atol=1e-5)
