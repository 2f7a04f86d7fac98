"""Single operations of PyTorch, of repeated dimensions, slices, assignments, masks and parts of axes: values and refusals."""

import math

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError

torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional
attention = F.scaled_dot_product_attention
numbers = torch.tensor


def assigned(index, value):
    """A function that returns a copy of its operand with a value, or the value of a function, at an index."""

    def function(x):
        result = x.clone()
        result[index] = value(x) if callable(value) else value
        return result

    return function


def copied(x):
    result = torch.zeros(3, 4)
    result.copy_(x.sum(0))
    return result


def not_together(x, y):
    """A function that takes other sizes of either operand, and not of both."""
    if x.shape[0] != 3 and y.shape[0] != 4:
        raise RuntimeError("one of the sizes is fixed")
    return x.sum() + y.sum()


class Parameters(nn.Module):
    """The product of its operand and of parameters with these names."""

    def __init__(self, *words, shape=(4,)):
        super().__init__()
        self.words = words
        for word in words:
            self.register_parameter(word, nn.Parameter(torch.randn(shape)))

    def forward(self, x):
        for word in self.words:
            x = x * getattr(self, word)
        return x


inference = torch.inference_mode()
PARTS = {"x": "batch a b"}
VALUES = [  # function, shapes, names
    (lambda x: x[:, 0:4] + x.narrow(1, 0, 4), [(3, 4)], {}),
    (lambda x: x[::2], [(4, 4)], {}),
    (lambda x: x[:, 1::2], [(3, 5)], {}),
    (lambda x: x[:, 0:3:2], [(3, 4)], {"x": "batch chans"}),
    (lambda x: x[-3:-1], [(6, 4)], {}),
    (lambda x: x[:, : x.shape[0] - 1], [(3, 8)], {}),
    (lambda x: x[: x.shape[0] // 2], [(6, 4)], {}),
    (lambda x: x[:, None].expand(-1, 5)[:, 1:3], [(3,)], {}),
    (lambda x: x.flatten(1).chunk(2, 1)[1], [(3, 2, 4)], PARTS),
    (lambda x, y: (x[:, :, None] * y[:, None, :]).flatten(1).split(5, 1)[2], [(3, 4), (3, 5)], {}),
    (lambda x: torch.stack([x], 1), [(3, 4)], {}),
    (lambda x: x.flip(1), [(3, 4)], {}),
    (lambda x: x[:, None].flip((1, 2)), [(3, 4)], {}),
    (lambda x: x[:, None].repeat(1, 2, 1), [(3, 4)], {}),
    (copied, [(5, 4)], {}),
    (assigned((slice(None), slice(None)), 1.0), [(5, 4)], {}),
    (assigned((slice(None), slice(None)), lambda x: x.sum(0)), [(5, 4)], {}),
    (assigned((slice(None), slice(1, 3)), 1.0), [(5, 4)], {}),
    (assigned((slice(None), slice(1, None)), 1.0), [(5, 4)], {}),
    (assigned((slice(None), slice(0, 2)), 1.0), [(5, 4)], {}),
    (assigned((slice(None), slice(0, 0)), 1.0), [(5, 4)], {}),
    (assigned((slice(None, -1),), 1.0), [(5, 4)], {}),
    (assigned((slice(None), -1), 1.0), [(5, 4)], {}),
    (lambda q, m: attention(q, q, q, attn_mask=m), [(2, 3, 4), (3, 3)], {}),
    (lambda q, m: attention(q, q, q, attn_mask=m > -1), [(2, 3, 4), (3, 3)], {}),
    (lambda q, k, m: attention(q, k, k, attn_mask=m, enable_gqa=True), [(2, 4, 3, 4), (2, 2, 3, 4), (2, 1, 3, 3)], {}),
    (lambda q, k, m: attention(q, k, k, attn_mask=m, enable_gqa=True), [(2, 4, 3, 4), (2, 2, 3, 4), (3, 3)], {}),
    (lambda q: attention(q, q, q), [(2, 3, 1)], {}),
    (lambda x: F.embedding(torch.zeros(3, dtype=torch.long), x.expand(5, 4)), [(1, 4)], {}),
    (lambda x: x[:, numbers([0, 1]), numbers([2, 1])], [(3, 4, 5)], {}),
    (lambda x: x[:, None].expand(-1, 4, -1)[:, numbers([0, 1]), numbers([2, 1])], [(3, 5)], {}),
    (nn.LSTM(3, 4, proj_size=2), [(5, 2, 3)], {}),
    (lambda x, y: torch.addmm(x, x, y, beta=0, alpha=3.0), [(4, 4), (4, 4)], {}),
    (lambda x: x.roll((-1, 4), (1, 1)), [(3, 4)], {}),
    (lambda x, y: x[:, None].expand(-1, 5) @ y, [(3,), (5, 2)], {}),
    (lambda x, y: y @ x[None].expand(5, -1), [(3,), (2, 5)], {}),
    (lambda x, y: x[:, None] @ y[None], [(3,), (2,)], {}),
    (lambda x, y: x @ y.expand(5, 4), [(5,), (1, 4)], {}),
    (lambda x, y: x.expand(5, 4).t() @ y, [(1, 4), (5,)], {}),
    (lambda x, w: F.linear(x, w), [(2, 3), (3,)], {}),
    (lambda x: x.var(1, unbiased=False) + x.var(1, correction=2), [(3, 4)], {}),
    (lambda x: x.std(1), [(3, 4)], {}),
    (lambda x: x.norm(math.inf, 1) + torch.linalg.vector_norm(x, -math.inf, 1), [(3, 4)], {}),
    (lambda x: x.sort(1)[0], [(3, 4)], {}),
    (lambda x: x[:, None].softmax(1), [(3, 4)], {}),
    (lambda x: x[:, None].log_softmax(1) + x[:, None].cumsum(1), [(3, 4)], {}),
    (lambda x: torch.where((x > 0) & (x < 1), x, 0.0), [(3, 4)], {}),
    (lambda x: torch.logical_and(x, x > 0).float() + torch.logical_not(x), [(3, 4)], {}),
    (lambda x: x.relu().bool().float() + (x > 0).to(torch.bool), [(3, 4)], {}),
    (lambda x: torch.div(x, 0.3, rounding_mode="floor"), [(3, 4)], {}),
    (lambda x, y: torch.add(x, y, alpha=2) * torch.sub(x, y, alpha=3), [(3, 4), (3, 4)], {}),
    (lambda x: x + (-3), [(3, 4)], {}),
    (lambda x: x[:, None].expand(-1, 3, -1).reshape(-1, 4), [(2, 4)], {}),
    (lambda x, y: x.flatten(1) + y, [(2, 3, 4), (2, 12)], {**PARTS, "y": "batch chans"}),
    (lambda x, y: y + x.flatten(1), [(2, 3, 4), (2, 12)], {**PARTS, "y": "batch chans"}),
    (lambda x: F.avg_pool2d(x, (2, 3), 1, (0, 1), count_include_pad=False), [(2, 3, 4, 6)], {}),
    (lambda x: F.adaptive_avg_pool2d(x, (4, 2)), [(2, 3, 4, 6)], {}),
    (lambda x: F.adaptive_avg_pool2d(x, (None, 1)), [(2, 3, 4, 6)], {}),
    (lambda x: F.interpolate(x, scale_factor=(1, 2)), [(2, 3, 4, 4)], {}),
    (lambda x: F.pad(x, (-1, 2)), [(3, 4)], {}),
    (lambda x: F.pad(x, (0, 0, 1, 0), mode="replicate"), [(2, 3, 4, 4)], {}),
    (nn.Conv1d(3, 2, 4), [(2, 3, 4)], {}),
    (lambda x: torch.where(torch.ones(4, dtype=torch.bool), x, 0.0), [(3, 4)], {}),
    (lambda x: x * torch.arange(2.0), [(3, 2)], {}),
    (lambda x: x * numbers([[1.0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 0]]), [(4, 4)], {}),
    (lambda x: x @ numbers([[1.0, 5], [2, 3], [7, 1], [0, 0.5]]), [(3, 4)], {}),
    (lambda x: torch.cat([x, torch.zeros(3, 0)], 1), [(3, 4)], {}),
    (lambda x, y: x + y.sum(), [(3, 4), (0,)], {}),
    (Parameters("sum", "exp", "relu", "iota"), [(3, 4)], {}),
    (Parameters("a_b", "aB", "weight_a", "a_weight"), [(3, 4)], {}),
    (Parameters("w", shape=(2, 1, 2, 1, 2, 4)), [(4,)], {}),
    (lambda x: x.sum((0, 1)), [(4, 4, 4)], {"x": "a a a"}),
    (lambda x: x.argmax(), [(3, 4)], {}),
    (lambda x: torch.meshgrid(x.sum(0), x.sum(1), indexing="ij")[0], [(3, 4)], {}),
    (lambda x: x + torch.zeros(3)[:, None] @ torch.zeros(1, 4), [(3, 4)], {}),
    (lambda x: torch.instance_norm(x, None, None, None, None, True, 0.1, 1e-5, False), [(3, 4, 5)], {}),
    (lambda x: x.narrow(1, 0, x.shape[1]), [(3, 4)], {}),
    (lambda x: torch.slice_scatter(x, x * 2, 1), [(3, 4)], {}),
    (lambda x: torch.slice_scatter(x, x.sum(1, True).expand(-1, x.shape[1] - 1), 1, 0, x.shape[1] - 1), [(3, 4)], {}),
    (lambda x: (x > 0).to(torch.int64).bool().float(), [(3, 4)], {}),
    (not_together, [(3,), (4,)], {}),
    (lambda x: F.max_pool1d(x, 4), [(2, 3, 4)], {"x": "batch chans seq[4]"}),
    (nn.RNN(3, 4), [(5, 1, 3)], {}),
    (lambda x: F.pad(F.pad(x, (1, 1)), (-1, -1)), [(3, 4)], {}),
    (lambda x: x * torch.ones(x.shape[0], x.shape[0]).triu(x.shape[0] // 2), [(4, 4)], {}),
    (lambda x: F.multi_margin_loss(x, numbers(1)), [(4,)], {}),
    (lambda x, y: x[:, None].expand(-1, 5) @ y[None].expand(5, -1), [(3,), (2,)], {}),
    (lambda x: x[:, None].expand(-1, 5).sum(1) + x[:, None].expand(-1, 5).softmax(1).sum(1), [(3,)], {}),
    (lambda x: x.sort(1, descending=True)[0].sum() + x.flatten().sort()[0], [(3, 4)], {}),
    (lambda x: x.flatten(1).cumsum(1), [(3, 2, 4)], {}),
    (lambda x: x[:, None].expand(-1, 5).tril() + x[:, None].expand(-1, 5).triu(1), [(3,)], {}),
    (lambda x: x.relu().frac() + torch.heaviside(x, x) + torch.logaddexp(x, 2 * x) + torch.hypot(x, x), [(3, 4)], {}),
    (lambda x: F.celu(x, 0.5) + F.elu(x, 0.3) + F.softplus(x, 2.0), [(3, 4)], {}),
    (lambda x: torch.cat([x.expand(3, 4), x.expand(3, 4)]), [(1, 4)], {}),
    (lambda x: F.avg_pool2d(x, 2, divisor_override=3), [(2, 3, 4, 4)], {}),
    (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), [(2, 3, 6, 4)], {}),
    (lambda x: F.max_pool2d(x, 3, 3, 1, ceil_mode=True), [(2, 3, 6, 4)], {}),
    (lambda x: F.pad(x, (-1, 2), mode="reflect"), [(3, 4)], {}),
    (lambda q, k, m: attention(q, k, k, attn_mask=m, enable_gqa=True), [(2, 4, 3, 4), (2, 2, 3, 4), (2, 4, 3, 3)], {}),
    (lambda x: F.pad(x, (-1, 1), mode="circular"), [(3, 4)], {}),
    (lambda x: x.repeat(2, 1) + x.repeat(2, 1, 1).flatten(0, 1), [(3, 4)], {}),
    (lambda x: torch.cat([x[:, :1].repeat(1, 2), x], 1), [(3, 4)], {}),
    (lambda x: torch.cdist(x, 2 * x), [(3, 4)], {}),
    (lambda x: F.layer_norm(x[:, :, None].expand(-1, -1, 3), (3,)), [(2, 4)], {}),
    (lambda x, w: F.conv1d(x.flatten(1, 2), w, padding=1, dilation=2), [(2, 3, 4, 5), (6, 12, 2)], {"x": "b p q seq"}),
    (lambda x, y: torch.cat([x, y], 1).unflatten(1, (2, -1)).transpose(1, 2).flatten(1), [(2, 3), (2, 5)], {}),
    (
        lambda x, y: torch.cat([x, y], 1).view(2, 2, 4) * y.sum(),
        [(2, 4), (2, 4)],
        {"x": "batch left", "y": "batch right"},
    ),
    # in inference mode an operation that consists of others comes as one
    (inference(lambda x, w: F.linear(x * 2, w * 2, w.sum(1) * 2)), [(2, 3), (5, 3)], {}),
    (inference(lambda x, w: F.linear(x * 2, w * 2)), [(2, 3), (3,)], {}),
    (inference(lambda x, y: x @ y), [(3,), (2, 3, 4)], {}),
    (inference(lambda x: torch.meshgrid(x.sum(0), x.sum(1), indexing="ij")[1]), [(3, 4)], {}),
    (inference(lambda x: torch.meshgrid(x.sum(0), x.sum(1), indexing="xy")[0]), [(3, 4)], {}),
    (inference(lambda x: torch.outer(F.rms_norm(x, (4,))[0], F.layer_norm(x, (4,)).flatten())), [(3, 4)], {}),
    (inference(lambda q, m: attention(q, q, q, attn_mask=m > -1)), [(2, 2, 3, 4), (3, 3)], {}),
    (inference(lambda q: attention(q, q, q)), [(2, 2, 3, 1)], {}),
    (inference(lambda x: x.var(1, unbiased=False) + x.var(1)), [(3, 4)], {}),
    (lambda x: x.roll(1), [(3, 4)], {}),
    (lambda x: torch.round(x, decimals=2), [(3, 4)], {}),
    (lambda x: x.sum(0, keepdim=True).expand(3, 4)[torch.arange(2)[:, None], torch.arange(4)[None]], [(5, 4)], {}),
    (lambda x: (lambda a, b: a @ b.T)(*x.view(-1, 2, 4).unbind(1)), [(3, 8)], {}),
    (lambda x: torch.select_scatter(x, x.sum(1), 1, 2), [(3, 4)], {}),
    (lambda x: x.sum(1, True).squeeze(1) * x.squeeze().sum(1), [(3, 4)], {}),
    (lambda x: x * x.new_ones(3, 4) + torch.full_like(x, 2.0) - torch.zeros_like(x), [(3, 4)], {}),
]


@pytest.mark.parametrize("row", range(len(VALUES)))
def test_an_operation_has_the_value_of_pytorch(row):
    function, shapes, names = VALUES[row]
    torch.manual_seed(row)
    read = nt.from_torch(function, *map(torch.randn, shapes), names=names)
    arrays = [torch.randn(shape) for shape in shapes]
    with torch.no_grad():
        expected = function(*arrays)
    expected = expected[0] if isinstance(expected, tuple) else expected
    actual = np.asarray(read(*arrays))
    assert actual.shape == tuple(expected.shape) and not read.remarks
    np.testing.assert_allclose(actual, expected.numpy(), rtol=1e-4, atol=1e-5)


whole = torch.arange(12).reshape(3, 4)
REFUSED = [  # function, shapes or tensors, the end of the message
    (assigned((slice(None), slice(0, 4, 2)), 1.0), [(5, 4)], "an assignment to a slice with steps"),
    (
        assigned((slice(None), slice(1, 3)), lambda x: x[:, :2]),
        [(5, 4)],
        "an assignment of several elements to a slice",
    ),
    (
        lambda x: x.diagonal(1),
        [(4, 4)],
        "aten.diagonal beside the diagonal, or of a tensor that is not square",
    ),
    (
        lambda x: x[torch.arange(4) > 2],
        [(4, 3)],
        "the shape of a tensor indexed by a condition depends on values of tensors",
    ),
    (
        lambda x: x[numbers([0, 1]), :, numbers([2, 1])],
        [(3, 4, 5)],
        "aten.index at dimensions that are not side by side",
    ),
    (
        lambda x: x.gather(1, numbers([[0], [1]])),
        [(3, 4)],
        "aten.gather with an index that is shorter than the tensor",
    ),
    (lambda x: F.one_hot((x > 0).long().sum(1)), [(3, 4)], "the control flow depends on values of tensors"),
    (
        lambda x: torch._trilinear(x, x, x, [], [], [], [1]),
        [(3, 4)],
        "aten._trilinear has no form in the notation yet",
    ),
    (lambda x: x.sort(1)[1] * 1.0, [(3, 4)], "aten.sort gives a second result that has no form"),
    (lambda i: i & 1, [whole], "aten.bitwise_and of integers works on bits"),
    (lambda i: ~i, [whole], "aten.bitwise_not of integers works on bits"),
    (lambda x: torch.div(x, 0.3, rounding_mode="trunc"), [(3, 4)], "div rounds toward zero"),
    (
        lambda x: x[:, None].expand(-1, 3).reshape(3, -1),
        [(4,)],
        "view merges a repeated dimension with another",
    ),
    (
        lambda x: F.adaptive_avg_pool2d(x, 3),
        [(2, 3, 4, 4)],
        "to 3, in windows of several sizes",
    ),
    (
        lambda x: F.interpolate(x, size=(6, 5)),
        [(2, 3, 4, 4)],
        "an interpolation by a factor that is not whole",
    ),
    (lambda x: 3, [(3, 4)], "it gives no tensor"),
]


@pytest.mark.parametrize("row", range(len(REFUSED)))
def test_an_operation_without_a_form_is_refused(row):
    function, operands, message = REFUSED[row]
    with pytest.raises(NotationError) as refused:
        nt.from_torch(function, *(torch.randn(shape) if isinstance(shape, tuple) else shape for shape in operands))
    assert refused.value.code == 405 and refused.value.message.endswith(message), refused.value.message


def test_the_values_of_several_indices_are_limited_to_their_axes():
    indices = numbers([0, 3, 2]), numbers([0, 1, 2])
    read = nt.from_torch(lambda x, i, j: x[i, j], torch.randn(4, 3), *indices, names={"x": "rows[4] columns[3]"})
    assert (read.types["i"], read.types["j"]) == ("{0,1,2,3}^{seq}", "{0,1,2}^{seq}")


def test_sums_of_names_that_meet_other_names_are_refused():
    for shape in ((6, 4), (2, 12)):
        with pytest.raises(NotationError, match="a meets c in aten.add"):
            nt.from_torch(
                lambda x, y: x.flatten() + y.flatten(),
                torch.randn(4, 6),
                torch.randn(shape),
                names={"x": "a b", "y": "c d"},
            )


def test_dropout_without_a_probability_is_nothing_also_in_training():
    assert nt.from_torch(lambda x: F.dropout(x, 0.0), torch.randn(3, 4), training=True).formula == "x"
    with pytest.raises(NotationError, match="aten.bernoulli generates random numbers"):
        nt.from_torch(nn.LSTM(3, 4, 2, dropout=0.5), torch.randn(5, 2, 3), training=True)


@pytest.mark.parametrize("kind", [torch.bool, torch.float32])
def test_inputs_of_two_values_are_drawn_from_these(kind):
    example = numbers([[0, 1, 1], [1, 0, 1]]).to(kind)
    read = nt.from_torch(lambda x: 1 / (x * 1.0 * (x * 1.0 - 1) + (x == 1) + (x == 0)), example)
    np.testing.assert_array_equal(read(example), np.ones((2, 3)))


def test_parameters_of_a_recurrent_layer_with_names_that_differ_are_refused():
    with pytest.raises(NotationError, match="other meets hid in aten.recurrent"):
        names = {"weight_ih_l0": "hid[4] width[3]", "weight_hh_l0": "other[4] back[4]"}
        nt.from_torch(nn.RNN(3, 4), torch.randn(5, 2, 3), names=names)


class WithPositions(nn.Module):
    def __init__(self, context):
        super().__init__()
        self.positions = nn.Embedding(context, 4)

    def forward(self, x):
        return x + self.positions(torch.arange(x.shape[1]))


@pytest.mark.parametrize("context", [16, 32])
def test_a_length_with_a_limit_is_free_below_it(context):
    module = WithPositions(context)
    read = nt.from_torch(module, torch.randn(2, context, 4), names={"x": "batch seq chans"})
    x = torch.randn(3, 3, 4)
    np.testing.assert_allclose(read(x), module(x).detach(), rtol=1e-5, atol=1e-6)


def test_a_size_that_only_the_example_has_is_a_line_of_the_reading():
    read = nt.from_torch(lambda x: x.view(2, 3, 4) * torch.ones(3, 1), torch.randn(6, 4))
    assert read.reading == (
        "dimension 1 of x: the size is 6, as in the example",
        "dimension 2 of x: the size is 4, as in the example",
    )


class TwoResults(nn.Module):
    def forward(self, x):
        return {"logits": x * 2, "loss": x.sum()}


@pytest.mark.parametrize("output", [1, "loss"])
def test_a_result_is_chosen_by_its_number_or_its_name(output):
    x = torch.randn(3, 4)
    read = nt.from_torch(TwoResults(), x, output=output)
    assert read.formula == "∑_{batch, chans} x" and read.reading == ("of 2 results the one read is ['loss']",)


@pytest.mark.parametrize("output", [5, "hidden"])
def test_an_output_that_a_module_does_not_give_is_named(output):
    with pytest.raises(NotationError) as refused:
        nt.from_torch(TwoResults(), torch.randn(3, 4), output=output)
    assert refused.value.message == f"the module gives no output {output!r}; it gives ['logits'], ['loss']"


def test_what_is_read_has_the_value_of_the_example():
    """Also where the module takes another branch at other sizes."""
    read = nt.from_torch(lambda x: x * 2 if x.shape[0] > 3 else x + 1, torch.randn(3, 4))
    assert read.formula == "x + 1" and read.reading == ("dimension 1 of x: the size is 3, as in the example",)


@pytest.mark.parametrize("word", ["chans[]", "[4]"])
def test_a_name_that_is_not_an_axis_is_told(word):
    with pytest.raises(NotationError) as refused:
        nt.from_torch(lambda x: x, torch.randn(3, 4), names={"x": f"batch {word}"})
    assert (refused.value.code, refused.value.message) == (405, f"{word} is not an axis")


def test_arrays_that_do_not_fit_the_program_are_told():
    read = nt.from_torch(lambda x: x.sum(1), torch.randn(3, 4), names={"x": "batch chans[4]"})
    with pytest.raises(NotationError, match="x has 3 dimensions; expected 2"):
        read(np.ones((3, 4, 1)))
    with pytest.raises(NotationError, match="x has 5 elements along chans, and the program is for 4"):
        read(np.ones((3, 5)))


def test_parameters_whose_names_are_taken_get_numbers():
    read = nt.from_torch(Parameters("a_b", "aB", "weight_a", "a_weight", "exp"), torch.randn(3, 4))
    assert read.formula == "x ⊙ aB ⊙ aB_2 ⊙ W_a ⊙ W_{a, 2} ⊙ expValue"
