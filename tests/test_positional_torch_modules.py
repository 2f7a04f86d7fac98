"""The common modules of torch.nn: read with their values, or refused by operator, file and line."""

import re

import pytest

import namedtensor as nt
from grammar.errors import NotationError

torch = pytest.importorskip("torch")
nn = torch.nn
X, IMAGE, SIGNAL, PAIR = (3, 4, 6), (2, 4, 6, 6), (2, 4, 12), (3, 6)
ELEMENTWISE = """ReLU GELU SiLU Sigmoid Tanh ELU SELU CELU Softplus Softsign Hardtanh Hardsigmoid Hardswish LogSigmoid Mish PReLU ReLU6
Tanhshrink Softshrink Hardshrink Identity Dropout""".split()
READ = {
    **{name: (getattr(nn, name), X) for name in ELEMENTWISE},
    "LeakyReLU": (lambda: nn.LeakyReLU(0.2), X), "Threshold": (lambda: nn.Threshold(0.1, 2.0), X), "GLU": (nn.GLU, X),
    "Softmax": (lambda: nn.Softmax(-1), X), "LogSoftmax": (lambda: nn.LogSoftmax(-1), X), "Softmin": (lambda: nn.Softmin(-1), X),
    "Linear": (lambda: nn.Linear(6, 5), X), "Bilinear": (lambda: nn.Bilinear(6, 5, 7), PAIR, (3, 5)),
    "LayerNorm": (lambda: nn.LayerNorm(6), X), "RMSNorm": (lambda: nn.RMSNorm(6), X), "GroupNorm": (lambda: nn.GroupNorm(2, 4), IMAGE),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(4), SIGNAL), "BatchNorm2d": (lambda: nn.BatchNorm2d(4), IMAGE),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(4), IMAGE), "Flatten": (nn.Flatten, X), "Unflatten": (lambda: nn.Unflatten(2, (2, 3)), X),
    "Conv1d": (lambda: nn.Conv1d(4, 6, 3, padding=1), SIGNAL), "Conv2d": (lambda: nn.Conv2d(4, 6, 3), IMAGE),
    "Conv2d with a stride": (lambda: nn.Conv2d(4, 6, 3, stride=2, padding=1), IMAGE),
    "Conv2d in groups": (lambda: nn.Conv2d(4, 8, 3, groups=2), IMAGE), "Conv3d": (lambda: nn.Conv3d(2, 3, 2), (1, 2, 4, 5, 6)),
    "MaxPool1d": (lambda: nn.MaxPool1d(2), SIGNAL), "MaxPool2d": (lambda: nn.MaxPool2d(3, 2, 1), IMAGE),
    "AvgPool1d": (lambda: nn.AvgPool1d(3), SIGNAL), "AvgPool2d": (lambda: nn.AvgPool2d(2), IMAGE), "LPPool2d": (lambda: nn.LPPool2d(2, 2), IMAGE),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d(1), IMAGE), "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d(1), IMAGE),
    "ZeroPad2d": (lambda: nn.ZeroPad2d(1), IMAGE), "ConstantPad1d": (lambda: nn.ConstantPad1d(2, 1.5), SIGNAL),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), IMAGE), "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), IMAGE),
    "ChannelShuffle": (lambda: nn.ChannelShuffle(2), IMAGE), "Upsample": (lambda: nn.Upsample(scale_factor=2), IMAGE),
    "RNN": (lambda: nn.RNN(6, 5, batch_first=True), X), "LSTMCell": (lambda: nn.LSTMCell(6, 5), PAIR),
    "GRUCell": (lambda: nn.GRUCell(6, 5), PAIR, (3, 5)),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(6, 2, batch_first=True), X, (3, 5, 6), (3, 5, 6)),
    "TransformerDecoderLayer": (lambda: nn.TransformerDecoderLayer(6, 2, 8, batch_first=True), X, (3, 5, 6)),
    "CosineSimilarity": (nn.CosineSimilarity, PAIR, PAIR), "PairwiseDistance": (nn.PairwiseDistance, PAIR, PAIR),
    **{name: (getattr(nn, name), PAIR, PAIR) for name in "MSELoss L1Loss SmoothL1Loss HuberLoss BCEWithLogitsLoss PoissonNLLLoss".split()},
    "TripletMarginLoss": (nn.TripletMarginLoss, PAIR, PAIR, PAIR),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(4, 6, 3), SIGNAL),
    "ConvTranspose1d with a stride": (lambda: nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1), SIGNAL),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(4, 6, 2, dilation=2), IMAGE),
    "ConvTranspose2d in groups": (lambda: nn.ConvTranspose2d(4, 6, 3, groups=2, stride=2, padding=1), IMAGE),
    "ReflectionPad1d": (lambda: nn.ReflectionPad1d(2), SIGNAL), "ReflectionPad2d": (lambda: nn.ReflectionPad2d((1, 2, 0, 1)), IMAGE),
    "ReplicationPad1d": (lambda: nn.ReplicationPad1d((3, 1)), SIGNAL), "ReplicationPad2d": (lambda: nn.ReplicationPad2d(1), IMAGE),
    "CircularPad1d": (lambda: nn.CircularPad1d((2, 1)), SIGNAL), "CircularPad2d": (lambda: nn.CircularPad2d(1), IMAGE),
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(4, affine=True), SIGNAL),
    "InstanceNorm2d with statistics": (lambda: nn.InstanceNorm2d(4, track_running_stats=True), IMAGE),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(3), IMAGE), "Unfold": (lambda: nn.Unfold((2, 3), padding=1, stride=2), IMAGE),
    "AvgPool2d without its padding": (lambda: nn.AvgPool2d(3, 1, padding=1, count_include_pad=False), IMAGE),
    "AvgPool1d without its padding": (lambda: nn.AvgPool1d(4, 2, 1, count_include_pad=False), SIGNAL),
    "MaxPool2d with ceil_mode": (lambda: nn.MaxPool2d(4, ceil_mode=True), IMAGE),
    "AvgPool2d with ceil_mode": (lambda: nn.AvgPool2d(4, ceil_mode=True), IMAGE),
    "RReLU": (nn.RReLU, X), "Softmax2d": (nn.Softmax2d, IMAGE), "SoftMarginLoss": (nn.SoftMarginLoss, PAIR, PAIR),
    "Transformer": (lambda: nn.Transformer(6, 2, 2, 2, 8, batch_first=True), X, (3, 5, 6)),
    "CosineEmbeddingLoss": (nn.CosineEmbeddingLoss, PAIR, PAIR, (3,)), "HingeEmbeddingLoss": (nn.HingeEmbeddingLoss, PAIR, PAIR),
}  # fmt: skip
REFUSED = {
    "FractionalMaxPool2d": (lambda: nn.FractionalMaxPool2d(2, output_size=3), "rand generates random numbers"),
    "Upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), "upsample_bilinear2d"),
    "Upsample of cubes": (lambda: nn.Upsample(scale_factor=2, mode="bicubic"), "upsample_bicubic2d"),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", READ)
def test_a_module_is_read_with_its_value(name):
    """`from_torch` compares with the module before it gives a program back; here once more, at a size of our own."""
    torch.manual_seed(0)
    make, *shapes = READ[name]
    module = make().eval()
    read = nt.from_torch(module, *map(torch.randn, shapes))
    assert not read.remarks
    arrays = [torch.randn(shape) for shape in shapes]
    with torch.no_grad():
        expected = module(*arrays)
    expected = expected[0] if isinstance(expected, tuple) else expected
    assert torch.allclose(torch.as_tensor(read(*arrays)).to(expected.dtype), expected, rtol=1e-4, atol=1e-5)


def test_modules_of_indices():
    ids = torch.randint(0, 10, (2, 7))
    module = nn.Embedding(10, 4)
    assert torch.allclose(torch.as_tensor(nt.from_torch(module, ids)(ids)), module(ids))
    logits, target = torch.randn(3, 5), torch.randint(0, 5, (3,))
    read = nt.from_torch(nn.CrossEntropyLoss(), logits, target, names={"input": "batch class", "target": "batch"})
    assert read.formula == "mean_{batch}(-[logsoftmax_{class}(input)]_{class(target+1)})"


def classes(*shape):
    return torch.randint(0, 5, shape)


LOSSES_OF_CLASSES = {
    "weights": lambda: nn.CrossEntropyLoss(weight=torch.rand(5)), "a class that is ignored": lambda: nn.CrossEntropyLoss(ignore_index=1),
    "both": lambda: nn.CrossEntropyLoss(weight=torch.rand(5), ignore_index=1), "a sum": lambda: nn.CrossEntropyLoss(torch.rand(5), reduction="sum"),
    "smooth labels": lambda: nn.CrossEntropyLoss(label_smoothing=0.1), "margins": nn.MultiMarginLoss, "squared margins": lambda: nn.MultiMarginLoss(p=2, margin=0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES_OF_CLASSES)
def test_losses_of_classes(name):
    torch.manual_seed(0)
    module = LOSSES_OF_CLASSES[name]()
    read = nt.from_torch(module, torch.randn(3, 5), classes(3), names={"input": "batch class", "target": "batch"})
    logits, target = torch.randn(8, 5), classes(8)
    assert torch.allclose(torch.as_tensor(read(logits, target)).float(), module(logits, target), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("ignored", [-1, 2])
@pytest.mark.parametrize(
    "options", [{}, {"weight": torch.arange(1.0, 6.0)}, {"reduction": "none"}, {"label_smoothing": 0.1}], ids=str
)
def test_a_class_that_is_ignored_need_not_exist(options, ignored):
    torch.manual_seed(0)
    module = nn.CrossEntropyLoss(ignore_index=ignored, **options)
    logits, target = torch.randn(8, 5), classes(8)
    target[[1, 4]] = ignored
    read = nt.from_torch(module, torch.randn(8, 5), target, names={"input": "batch class", "target": "batch"})
    logits[1] = torch.tensor([0.0, -torch.inf, 1.0, 2.0, 3.0])
    if "label_smoothing" in options:
        logits[1, 1] = 0
    actual = torch.as_tensor(read(logits, target)).float()
    assert torch.allclose(actual, module(logits, target), rtol=1e-4, atol=1e-5)


CHOICES = {
    "topk": lambda x: torch.topk(x, 2, -1).values, "indices of topk": lambda x: torch.topk(x, 2, 0).indices,
    "the smallest": lambda x: torch.topk(x, 2, -1, largest=False).values, "argmax": lambda x: x.argmax(-1),
    "argmin": lambda x: x.argmin(0, keepdim=True), "one_hot": lambda x: nn.functional.one_hot(x.argmax(-1), 6),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOICES)
def test_the_largest_and_their_numbers(name):
    function = CHOICES[name]
    read = nt.from_torch(function, torch.randn(4, 6), names={"x": "batch class"})
    for x in (torch.randn(7, 6), torch.ones(3, 6)):  # of equal elements the first is chosen
        expected = function(x)
        if x.unique().numel() > 1 or "topk" not in name:
            assert torch.equal(torch.as_tensor(read(x)).to(expected.dtype), expected)


@pytest.mark.parametrize("name", REFUSED)
def test_a_module_without_a_form_is_refused_in_a_sentence(name):
    make, words = REFUSED[name]
    with pytest.raises(NotationError, match=r"\w+\.py:\d+: aten\.\w+") as refused:
        nt.from_torch(make(), torch.randn(IMAGE))
    assert re.search(re.escape(words), str(refused.value))


def test_most_of_the_common_modules_are_read():
    assert len({name.split()[0] for name in READ}) >= 70
