"""Array code with indices, slices, conditions, windows and losses: the value of each translation against plain NumPy."""

import numpy as np
import pytest

import namedtensor as nt

SIZES = dict(zip("n m d h k v t b c w".split(), (4, 3, 6, 3, 5, 5, 3, 2, 4, 2)))
INDICES = {"I": 5, "J": 3, "y": 5}  # integer inputs, below these numbers
ROWS = [  # source, shapes, the value in NumPy where it is not the source
    ("E[I]", "E=v d;I=t", ""),
    ("E[I - 1 + 1].sum(0)", "E=v d;I=t", ""),
    ("E[I][J]", "E=v d;I=t;J=m", ""),
    ("np.take(E, I, axis=0)", "E=v d;I=t", ""),
    ("p[np.arange(len(p)), y]", "p=n k;y=n", ""),
    ("np.take_along_axis(p, y[:, None], 1)[:, 0]", "p=n k;y=n", ""),
    ("p.gather(1, y.unsqueeze(1)).squeeze(1)", "p=n k;y=n", "p[np.arange(4), y]"),
    ("F.one_hot(y, 5).float().T @ x", "x=n d;y=n", "np.eye(5)[y].T @ x"),
    ("F.cross_entropy(x, y)", "x=n k;y=n", "-np.log(softmax(x))[np.arange(4), y].mean()"),
    ("F.cross_entropy(x, y, reduction='sum')", "x=n k;y=n", "-np.log(softmax(x))[np.arange(4), y].sum()"),
    ("F.nll_loss(x, y, reduction='none')", "x=n k;y=n", "-x[np.arange(4), y]"),
    ("x[[0, 2]]", "x=n", ""),
    ("x[-3:] + x[:3]", "x=n", ""),
    ("x[::-1]", "x=n", ""),
    ("x[:, ::2] - x[:, 1::2]", "x=n d", ""),
    ("x[..., :d // 2]", "x=n d", "x[..., :3]"),
    ("np.concatenate([-x[..., d // 2:], x[..., :d // 2]], -1)", "x=n d", "np.concatenate([-x[..., 3:], x[..., :3]], -1)"),
    ("x1, x2 = x[..., :d // 2], x[..., d // 2:]\nx1 * c - x2 * s", "x=n d;c=n h;s=n h", "x[:, :3] * c - x[:, 3:] * s"),
    ("x[x > 1].sum()", "x=n d", ""),
    ("x[(x > 1) & ~(x > 1.5)].mean()", "x=n d", ""),
    ("(x > 1).mean(axis=0)", "x=n d", ""),
    ("np.all(x > 0.5, axis=1).sum()", "x=n d", ""),
    ("A[~np.eye(4, dtype=bool)].max()", "A=n n", ""),
    ("np.where(np.arange(n)[:, None] >= np.arange(n), A, 0)", "A=n n", "np.tril(A)"),
    ("np.diag(A) + np.diag(np.diag(A)).sum(0)", "A=n n", ""),
    ("(1 - np.eye(n)) * A", "A=n n", "(1 - np.eye(4)) * A"),
    ("np.argmax(x, axis=1) + np.argmin(x, axis=1)", "x=n d", ""),
    ("np.sort(x, axis=0)[::-1]", "x=n d", ""),
    ("torch.sort(x, 1, descending=True).values", "x=n d", "np.sort(x, 1)[:, ::-1]"),
    ("np.median(x, axis=0)", "x=n d", ""),
    ("np.cumprod(x, axis=1)", "x=n d", ""),
    ("np.tensordot(A, B, axes=([1], [0]))", "A=n m;B=m d", "A @ B"),
    ("np.average(x, axis=0, weights=u)", "x=n d;u=n d", ""),
    ("np.linalg.norm(x, np.inf)", "x=n", ""),
    ("x % 2 + x // 0.5", "x=n", ""),
    ("np.log2(x) + np.log10(x) + np.floor(x)", "x=n", ""),
    ("a, g = x.chunk(2, dim=-1)\na * torch.sigmoid(g)", "x=n d", "x[:, :3] / (1 + np.exp(-x[:, 3:]))"),
    ("q, k, v = (x @ W).chunk(3, dim=-1)\nF.softmax(q @ k.T, dim=-1) @ v", "x=n c;W=c d", "softmax(x @ W[:, :2] @ (x @ W[:, 2:4]).T) @ x @ W[:, 4:]"),
    ("b, n, d = x.shape\nx.reshape(b * n, d)", "x=b n d", "x.reshape(8, 6)"),
    ("y.transpose(1, 2).reshape(b, n, h * c)", "y=b h n c", "y.transpose(0, 2, 1, 3).reshape(2, 4, 12)"),
    ("np.lib.stride_tricks.sliding_window_view(x, 3)", "x=d", ""),
    ("np.correlate(x, u)", "x=d;u=h", ""),
    ("F.conv1d(x, u)", "x=b c d;u=m c h", "np.einsum('bclk,ock->bol', np.lib.stride_tricks.sliding_window_view(x, 3, 2), u)"),
    ("F.max_pool1d(x, 2)", "x=b m d", "x.reshape(2, 3, 3, 2).max(-1)"),
    ("(lambda s: s / s.sum())(np.exp(x))", "x=n", ""),
    ("F.normalize(x, dim=-1)", "x=n d", "x / np.sqrt((x**2).sum(-1, keepdims=True))"),
    ("F.binary_cross_entropy_with_logits(x, u)", "x=n;u=n", "-(u * np.log(1 / (1 + np.exp(-x))) + (1 - u) * np.log(1 - 1 / (1 + np.exp(-x)))).mean()"),
]  # fmt: skip


def softmax(x):
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


@pytest.mark.parametrize(("source", "shapes", "value"), ROWS)
def test_positional_code_has_the_value_of_numpy(source, shapes, value):
    chance = np.random.default_rng(3)
    inputs = dict(pair.split("=") for pair in shapes.split(";"))
    integers = (
        "one_hot" in source
        or "[" in source
        or "loss" in source
        or "entropy" in source
        or "gather" in source
        or "take" in source
    )
    arrays = {
        name: chance.integers(0, INDICES[name], [SIZES[axis] for axis in words.split()])
        if name in INDICES and integers
        else chance.uniform(0.3, 1.7, [SIZES[axis] for axis in words.split()])
        for name, words in inputs.items()
    }
    translation = nt.translate(source, inputs)
    assert translation.checked == "equal to the source on 5 draws"
    expected = np.asarray(eval(value or source, {"np": np, "softmax": softmax, **arrays}), dtype=float)
    actual = np.asarray(translation(*(arrays[name] for name in translation.axes)))
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-7, atol=1e-12)


REFUSALS = [  # source, shapes, the beginning of the message
    ("x[I] + I", "x=n;I=n", "I would index its own axis"),
    ("E[2 * I]", "E=v d;I=t", "only numbers, slices and integer inputs"),
    ("x[0, I]", "x=n m;I=k", "numbers and tensors together"),
    ("x[I, J]", "x=n m;I=k;J=k", "of several indices all but one"),
    ("x[3:2]", "x=n", "an empty slice"),
    ("x > 0", "x=n", "the value is a condition"),
    ("np.fft.rfft(x)", "x=n", "rfft is not supported"),
    ("x.astype(int)", "x=n", "a conversion to int rounds"),
    ("F.conv2d(x, u, padding=1)", "x=n c h w;u=o c p q", "a convolution with a stride, padding"),
    ("F.cross_entropy(x, y, label_smoothing=0.1)", "x=n k;y=n", "the keyword label_smoothing"),
    ("F.max_pool1d(x, 3, 1)", "x=b c n", "a pool whose stride is not its length"),
    ("np.correlate(x, u, mode='same')", "x=n;u=k", "correlate of anything but two vectors"),
    ("x.reshape(d, -1)", "x=b n d", "the shape (a length, -1) does not name the axes"),
    ("np.sort(x, axis=0, kind='stable')", "x=n", "the keyword kind of sort"),
    ("F.leaky_relu(x, 0.2)", "x=n", "negative_slope=0.2 is not supported"),
    ("np.ones((3, 4))[5]", "", "the index is out of range"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "shapes", "message"), REFUSALS)
def test_positional_code_is_refused_in_words(source, shapes, message):
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, dict(pair.split("=") for pair in shapes.split(";")) if shapes else {})
    assert caught.value.code == 115
    assert caught.value.message.startswith(message), caught.value.message


def test_positional_numbers_in_a_shape_are_read_as_sizes_with_a_remark():
    translation = nt.translate("X.reshape(-1, 6)", X="batch[2] seq[4] chans[6]")
    assert (translation.formula, translation.reading) == ("X_{(batch,seq)→batchseq}", ("6 is read as |chans|",))
    with pytest.raises(nt.NotationError, match="does not name the axes"):
        nt.translate("X.reshape(-1, 6)", X="batch seq chans")


def test_positional_diagonal_leaves_out_what_is_beside_it():
    A = np.array([[1.0, np.inf], [np.nan, 2.0]])
    for source in ("np.diag(A)", "A_{ii}", "diag(A)"):
        assert np.asarray(nt.translate(source, A="n n")(A)).tolist() == [1.0, 2.0]


def test_positional_input_called_I_does_not_hide_the_identity():
    translation = nt.translate("np.eye(3)[I] @ A", I="t", A="n d")
    A, indices = np.arange(6.0).reshape(3, 2), np.array([2, 0])
    np.testing.assert_allclose(translation(I=indices, A=A), np.eye(3)[indices] @ A)
