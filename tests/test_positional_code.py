"""Array code with indices, slices, conditions, windows and losses: the value of each translation against plain NumPy."""

import ast
import math
import re
import sys

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.positional.library_functions import UnsupportedError
from namedtensor.positional.library_values import LibraryWalk

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
    ("np.concatenate([x])", "x=n d", ""),
    ("np.stack([x], 1)", "x=n d", ""),
    ("np.concatenate([x, y[None]])", "x=n d;y=d", ""),
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
    ("y: float = np.exp(x)\ny + 1", "x=n", "np.exp(x) + 1"),
    ("y = np.exp(x)\ny *= 2", "x=n", "2 * np.exp(x)"),
    ("y = A.T\ny @ u + y.sum(1)", "A=n m;u=n", "A.T @ u + A.T.sum(1)"),
    ("w = x > 1\nx = 2 * x\nx[w].sum()", "x=n", "2 * x[x > 1].sum()"),
    ("A.mT @ u", "A=n m;u=n", "A.T @ u"),
    ("x.sum(x.ndim - 1)", "x=n d", "x.sum(1)"),
    ("torch.where((x > 1).bool(), x, 0.5 * x)", "x=n", "np.where(x > 1, x, 0.5 * x)"),
    ("E[I] * I.long()[:, None]", "E=v d;I=t", "E[I] * I[:, None]"),
    ("+np.exp(x)", "x=n", ""),
    ("(x > 1).astype(np.float32)", "x=n", ""),
    ("torch.sort(x, 1)[0]", "x=n d", "np.sort(x, 1)"),
    ("A.transpose(1, 0)", "A=n m", ""),
    ("np.ones_like(A.reshape(-1)) * A.reshape(-1)", "A=n m", "A.reshape(-1)"),
    ("np.zeros_like(A) + A", "A=n m", "A"),
    ("x.reshape(2, 2)", "x=n", ""),
    ("np.einsum('ij,jk->ik', A, B)", "A=n m;B=m d", "A @ B"),
    ("rearrange(x[:, None], 'i 1 -> i')", "x=n", "x"),
    ("torch.linalg.vector_norm(x, np.inf) + torch.linalg.vector_norm(x, 3)", "x=n", "np.abs(x).max() + (x**3).sum() ** (1 / 3)"),
    ("torch.max(x, u) + torch.max(x)", "x=n d;u=n d", "np.maximum(x, u) + x.max()"),
    ("torch.min(x, 1).values - torch.max(x, dim=1)[0]", "x=n d", "x.min(1) - x.max(1)"),
    ("F.scaled_dot_product_attention(x, u, u, scale=0.5)", "x=n d;u=t d", "softmax(0.5 * x @ u.T) @ u"),
    ("np.average(x, axis=0)", "x=n d", ""),
    ("x + np.ones((1, 1))", "x=n d", ""),
    ("np.tril(np.full((4, 4), 2.0)) @ A", "A=n n", ""),
    ("np.where(np.tril(np.ones((4, 4), dtype=bool)), A, 0)", "A=n n", "np.tril(A)"),
    ("np.where(np.triu(A > 1, 1), A, 0)", "A=n n", ""),
    ("np.array(x) + np.asarray(x)", "x=n", ""),
    ("x ** u + x ** 1", "x=n;u=n", ""),
    ("F.gelu(x)", "x=n", "x * (1 + np.vectorize(math.erf)(x / np.sqrt(2))) / 2"),
    ("F.gelu(x, approximate='tanh')", "x=n", "x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2"),
    ("np.clip(x, None, 1) + x.clip(0.5)", "x=n d", ""),
    ("x[~((x > 1) & (x < 1.5))].sum()", "x=n d", ""),
    ("F.leaky_relu(x - 1) + F.elu(x - 1)", "x=n", "np.where(x > 1, 2 * (x - 1), 0.01 * (x - 1) + np.expm1(x - 1))"),
    ("x.permute(dims=(1, 0)) + x.T", "x=n d", "2 * x.T"),
    ("np.dot(x, u) + np.dot(2, x)", "x=n;u=n", ""),
    ("np.inner(x, u)", "x=n d;u=m d", ""),
    ("np.tensordot(x, u, 1)", "x=n d;u=d m", ""),
    ("np.linalg.det(np.array([[1, 2], [3, 5]])) * x", "x=n", "-x"),
    ("F.layer_norm(x, (6,), u, c, 0.0)", "x=n d;u=d;c=d", "(x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True) * u + c"),
    ("F.layer_norm(x, (6,), eps=0.0)", "x=n d", "(x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)"),
    ("np.maximum(x, x.shape[0])", "x=n d", "np.maximum(x, 4)"),
    ("np.outer(x, u)", "x=n;u=d", ""),
    ("np.sum(np.full((2, 3), 2.0)) * x", "x=n d", "12 * x"),
    ("np.ones((4, 6)) + x", "x=n d", ""),
    ("np.ones((4, 6)).reshape(2, 2, 6).sum(1) + x", "x=b d", "x + 2"),
]  # fmt: skip


def softmax(x):
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


@pytest.mark.sampled(3)
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
    assert re.fullmatch("equal to .* on 5 random inputs|not compared: PyTorch is not installed", translation.checked)
    expected = np.asarray(eval(value or source, {"np": np, "math": math, "softmax": softmax, **arrays}), dtype=float)
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
    ("F.conv2d(x, u, dilation=2)", "x=n c h w;u=o c p q", "a convolution with dilation, groups"),
    ("F.cross_entropy(x, y, label_smoothing=0.1)", "x=n k;y=n", "the keyword label_smoothing"),
    ("F.max_pool1d(x, 3, 1, ceil_mode=True)", "x=b c n", "ceil_mode=True is not supported"),
    ("F.avg_pool1d(x, 3, 1, 1, False, False)", "x=b c n", "count_include_pad=False is not supported"),
    ("F.interpolate(x, scale_factor=1.5)", "x=b c n", "an interpolation by anything but a whole factor"),
    ("np.correlate(x, u, mode='same')", "x=n;u=k", "correlate of anything but two vectors"),
    ("x.reshape(d, -1)", "x=b n d", "the shape (a length, -1) does not name the axes"),
    ("np.sort(x, axis=0, kind='stable')", "x=n", "the keyword kind of sort"),
    ("F.leaky_relu(x, 0.2, True)", "x=n", "the keyword inplace of leaky_relu is not supported"),
    ("np.ones((3, 4))[5]", "", "the index is out of range"),
    ("np.sum([" + "x, " * 2_600 + "x])", "x=n", "the code has more than 5000 parts"),
    ("assert np.exp(x)", "x=n", "this statement is not supported"),
    ("x[0] = 1", "x=n", "only names are assigned"),
    ("a, b = np.exp(x)", "x=n", "only names are assigned"),
    ("y = torch.sort(x, 1)\ny", "x=n d", "this is a pair of values and indices"),
    ("x.reshape(sizes=(3,))", "x=n", "the keyword sizes of reshape is not supported"),
    ("x.flatten(5)", "x=n d", "axis 5 is out of range for 2 axes"),
    ("x.unflatten(2)", "x=n d", "unflatten is missing an argument"),
    ("x.unflatten(5, (2, 3))", "x=n d", "axis 5 is out of range for 2 axes"),
    ("F.embedding(I)", "I=t", "embedding expects a table and indices"),
    ("np.ones()", "x=n", "ones is missing an argument"),
    ("np.ones((2, 3), 4)", "x=n", "the length of a new axis is a number, or the length of one axis"),
    ("np.exp(float(x))", "x=n", "float of this is not supported"),
    ("x.astype('float')", "x=n", "only a type of numbers is supported here"),
    ("x.shape.T", "x=n", ".T is not supported here"),
    ("x.grad", "x=n", ".grad is not supported"),
    ("x[x > 0][0]", "x=n", "an index of elements whose number depends on the data"),
    ("np.exp(x) if 1 else x", "x=n", "np.exp(x) if 1 else x is not supported"),
    ("np.exp(x) << 2", "x=n", "this operator is not supported"),
    ("np.exp(x) * (1 / 0)", "x=n", "this number cannot be computed"),
    ("0 < x < 1", "x=n", "this comparison is not supported"),
    ("x * np.little", "x=n", "np.little is not supported"),
    ("x.shape[x]", "x=n", "this index is not supported"),
    ("np.sum(*x)", "x=n", "starred arguments are not supported"),
    ("np.sum(**x)", "x=n", "starred arguments are not supported"),
    ("np.exp(x(3))", "x=n", "x is a tensor, not a function"),
    ("(lambda s, t: s)(np.exp(x))", "x=n", "only plain arguments of a lambda are supported"),
    ("x[0, 0, 0]", "x=n d", "3 indices for 2 axes"),
    ("x['a']", "x=n d", "only numbers, slices and integer inputs"),
    ("x[[0]]", "x=n d", "only a list of numbers from 0 on"),
    ("x[:, c > 0]", "x=n d;c=d", "a condition is only supported as an index of all axes"),
    ("A[x > 0]", "x=n;A=n d", "a condition is only supported as an index of all axes"),
    ("A[A[:, None, 0] > 0]", "A=n d", "the condition has another shape than the tensor"),
    ("x[::-2]", "x=n", "this step of a slice is not supported"),
    ("x[3::2]", "x=n", "these bounds of a slice with a step are not supported"),
    ("x[:0]", "x=n", "an empty slice"),
    ("x[:1.5]", "x=n", "only numbers and lengths are supported in slices"),
    ("x[:len(u)]", "x=n;u=m", "this cannot be translated safely: its formula fails (index 3 is out of range"),
    ("x[I, J, None]", "x=n d;I=n;J=n", "these indices together are not supported"),
    ("x[I, :, J]", "x=n m d;I=n;J=n", "indices that are not side by side"),
    ("E[I + 0.5]", "E=v d;I=t", "only numbers, slices and integer inputs"),
    ("p[np.arange(len(p)) - 1, y]", "p=n k;y=n", "of several indices all but one must be np.arange"),
    ("x[:, None][:, y]", "x=n;y=m", "an index of an axis of size 1, or of a merged one"),
    ("x[:, None][np.arange(len(x)), y]", "x=n;y=n", "an index of an axis of size 1, or of a merged one"),
    ("x[:, None] @ u", "x=n;u=m", "cannot align m of x[:, None] with m of u"),
    ("x.reshape(1, -1, 1)", "x=n", "this does not name the lengths of the parts"),
    ("x.reshape(5, 2)", "x=n[4] m[3]", "the shape (5, 2) does not name the axes of the tensor"),
    ("x.reshape(2, 4)", "x=n[6]", "the sizes of this shape do not fit the tensor"),
    ("x.reshape(len(x) // 2, -1)", "x=n", "this is not the length of a part"),
    ("x.reshape(-1, -1)", "x=n", "more than one length is left open"),
    ("ab,bc->ac", "A=m n", "there are 2 groups of letters, and 1 inputs"),
    ("np.einsum('ij->i', A, out=x)", "A=m n;x=m", "the keyword out of einsum is not supported"),
    ("np.einsum('ij,jk', A)", "A=m n", "there are 2 groups of letters, and 1 operands"),
    ("np.einsum('i&j->i', A)", "A=m n", "einsum expects letters, commas and ->"),
    ("np.einsum('ij->ii', A)", "A=m n", "a letter is twice in the result"),
    ("np.einsum('ijk->i', A)", "A=m n", "3 letters for 2 axes"),
    ("np.einsum('iii->i', A)", "A=n n n", "the letter i more than twice in one operand"),
    ("np.einsum('ii->i', A)", "A=m n", "the letter i is two different axes"),
    ("rearrange(x)", "x=m n", "rearrange expects a tensor and a pattern"),
    ("reduce(x, 'i j -> i', 'std')", "x=m n", "the reduction std is not supported"),
    ("rearrange(x, 'i i -> i')", "x=m n", "an axis is twice on one side of the pattern"),
    ("rearrange(x, 'i -> i j', j=3)", "x=m", "j is on the right only"),
    ("repeat(x, 'i -> i j')", "x=m", "the length of j is not known"),
    ("einx.dot('a [b], [b] c -> a c', x, y)", "x=a b;y=b c", "einx is not supported"),
    ("xr.where(x > 0, x, 0)", "x=n", "xr is not supported"),
    ("xr.dot(2 * x, y, dim='z')", "x=a z;y=z", "xr.dot expects inputs with named axes"),
    ("xr.dot(x, y, dim='q')", "x=a z;y=z", "no input has the axis q"),
    ("xr.dot(x, y, dim='z', optimize=True)", "x=a z;y=z", "the keyword optimize of xr.dot is not supported"),
    ("np.add.at(x, I, 1)", "x=n;I=t", "at is not supported: this method of a ufunc has no formula"),
    ("np.char.add(x, x)", "x=n", "np.char.add is not supported"),
    ("np.sum.mean(x)", "x=n", "np.sum.mean is not supported"),
    ("values, places = torch.max(x, 0)\nplaces", "x=n", "the value is not a tensor: the indices of a pair"),
    ("np.subtract.reduce(x)", "x=n", "subtract.reduce is not supported"),
    ("np.exp(x)", "x=n;y=n", "the code does not use y"),
    ("rearrange(x, 'i j -> i')", "x=m n", "j is on the left only"),
    ("rearrange(x, 'i j -> j i', k=3)", "x=m n", "k is not in the pattern"),
    ("rearrange(x, 'i j -> j *')", "x=m n", "* is not supported in a pattern"),
    ("rearrange(x, 'i 1 -> i')", "x=m n", "the pattern does not fit the tensor"),
    ("rearrange(x, '(i j k) -> i j k', i=3)", "x=m", "the lengths of j, k are not known: give j=…"),
    ("rearrange(x, '(i j) -> i j', i=x)", "x=m", "the length i is not a number"),
    ("x[:, None].std(axis=1)", "x=n", "std over an axis of size 1, or of a number"),
    ("x[x > 1].sum(axis=0)", "x=n d", "a selection by a condition has one axis, and is reduced over all of it"),
    ("np.median(x[x > 1])", "x=n d", "median of a selection by a condition is not supported"),
    ("np.any(x)", "x=n", "any of anything but a condition"),
    ("np.std(x, axis=0, ddof=None)", "x=n d", "ddof=None is not supported"),
    ("F.softmax(x, None)", "x=n d", "softmax needs its axis"),
    ("F.softmax(x)", "x=n d", "softmax is missing an argument"),
    ("F.softmax(x[:, None], 1)", "x=n", "softmax over an axis of size 1"),
    ("np.cumsum(x.reshape(-1), 0)", "x=n d", "cumsum over a merged axis"),
    ("x.permute(0, 0)", "x=n d", "(0, 0) does not name every dimension once"),
    ("x.permute(axes=(1, 0))", "x=n d", "the keyword axes of permute is not supported"),
    ("x.unsqueeze(3)", "x=n d", "axis 3 is out of range for 3 axes"),
    ("x.squeeze(1)", "x=n d", "squeeze of an axis whose size is not 1"),
    ("F.max_pool2d(x, 2)", "x=h w", "a pool needs 3 axes at least"),
    ("F.mse_loss(x, u, reduction='batchmean')", "x=n;u=n", "reduction='batchmean' is not supported"),
    ("F.mse_loss(x, u)", "x=n d;u=n", "a loss of tensors with different numbers of axes"),
    ("np.average(x, axis=0, weights=u)", "x=n d;u=n", "the weights of an average have the axes of the tensor"),
    ("np.eye(0)", "", "the length of a new axis is a number, or the length of one axis"),
    ("np.tril(x)", "x=n", "a triangle needs two axes, and a number for its diagonal"),
    ("np.array([[1, 2], [3]])", "", "stack of tensors with different shapes"),
    ("np.array([True, False])", "", "the value is a condition"),
    ("np.sum([1, 2] + [3, 4])", "", "an operator of lists is not supported"),
    ("np.einsum(A, [0, x])", "A=m n;x=m", "einsum expects its letters as a string"),
    ("np.where(2 * x, x, 0)", "x=n", "the condition is not a comparison"),
    ("np.sum(x, where=u > 0)", "x=n;u=m n", "the condition has another shape than the tensor"),
    ("np.mean(x, initial=1)", "x=n", "initial=1 is not supported"),
    ("np.pad(x, 1, 'linear_ramp')", "x=n", "mode='linear_ramp' of pad is not supported"),
    ("np.ravel(x, 'K')", "x=n d", "the order K depends on the memory"),
    ("np.round(x, 20)", "x=n", "decimals=20 is not supported"),
    ("np.diagonal(x, 0.5)", "x=n n", "the offset of a diagonal is a number"),
    ("F.gelu(x, approximate='erf')", "x=n", "approximate='erf' is not supported"),
    ("np.logical_and(x, x > 1)", "x=n", "& | ~ of anything but conditions"),
    ("np.sum(x, 0, True)", "x=n d", "the keyword dtype of sum is not supported"),
    ("torch.sum(x, 0, True, None)", "x=n d", "sum takes 3 arguments by position, got 4"),
    ("np.sum(x, keepdims=1)", "x=n d", "expected True or False, got 1"),
    ("np.sum(x, axis=5)", "x=n d", "axis 5 is out of range for 2 axes"),
    ("x[x > 1] + 1", "x=n", "the number of elements depends on the data: take sum, mean, max or min of it"),
    ("np.add(x, True)", "x=n", "True is not a tensor or a number"),
    ("np.exp('a')", "x=n", "str is not a tensor or a number"),
    ("2 @ x", "x=n d", "@ needs tensors, got a number"),
    ("np.tensordot(x, u, axes=None)", "x=n d;u=d m", "the axes of tensordot are a number, or a list for each tensor"),
    ("np.tensordot(x, u, axes=([0, 1], [0]))", "x=n d;u=d m", "the axes of tensordot are not as many in both tensors"),
    ("np.tensordot(x[:, None], u, axes=([1], [0]))", "x=n;u=d m", "an axis of size 1 is broadcast against a larger one"),
    ("np.linalg.det(x)", "x=n", "det needs a square matrix"),
    ("np.linalg.solve(A, x)", "A=n n;x=n b d", "solve of more than two axes"),
    ("F.layer_norm(x, (n, d))", "x=b n d", "layer_norm over more than one axis"),
    ("np.concatenate([x, u])", "x=n d;u=n", "concatenate of tensors with different numbers of axes"),
    ("np.stack([x, x], 3)", "x=n d", "stack of tensors with different numbers of axes, or along an axis that there is not"),
    ("np.stack([x, u[:, None]])", "x=n d;u=n", "stack of tensors with different shapes"),
    ("np.take_along_axis(x, y, 0)", "x=n d;y=n", "the index has another number of axes than the tensor"),
    ("torch.exp(x).gather(1, y[None])", "x=n d;y=m", "the index has size 1 along an axis, and the tensor has another size"),
    ("np.linalg.pinv(A, 0.1)", "A=n d", "pinv expects one matrix"),
    ("np.lib.stride_tricks.sliding_window_view(x, 3)", "x=n d", "windows over several axes, or of a length"),
    ("F.relu(x).unfold(0, 4, 0)", "x=n", "windows whose length or step is not a number above 0"),
    ("F.relu(x).chunk(1)", "x=n", "the number of pieces is a number above 1"),
    ("F.conv1d(x, u)", "x=b d;u=m c h", "conv1d needs 3 axes of its input and of its weight"),
    ("F.conv1d(x[:, None], u)", "x=b d;u=m c h", "cannot align h with c in F.conv1d(x[:, None], u)"),
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
    for source in ("np.diag(A)", "d_i = A_{ii}", "diag(A)"):
        assert np.asarray(nt.translate(source, A="n n")(A)).tolist() == [1.0, 2.0]


def test_positional_input_called_I_does_not_hide_the_identity():
    translation = nt.translate("np.eye(3)[I] @ A", I="t", A="n d")
    A, indices = np.arange(6.0).reshape(3, 2), np.array([2, 0])
    np.testing.assert_allclose(translation(I=indices, A=A), np.eye(3)[indices] @ A)


MATRIX, CUBE = np.arange(6.0).reshape(2, 3) - 2.5, np.arange(24.0).reshape(2, 3, 4)
WHOLE = [  # a source that NumPy computes, too, from the arrays
    ("from numpy import linalg as LA\nLA.norm(x)", {"x": MATRIX}),
    ("import numpy.linalg as la\nla.norm(x, 1) + la.norm(x, -np.inf)", {"x": MATRIX}),
    ("from numpy.linalg import norm as size\nsize(x, 0, axis=1) + size(x, -2, axis=1)", {"x": MATRIX}),
    ("np.arccos([1, -1])", {}),
    ("np.array([[1], [2]]) + [1, 2, 3]", {}),
    ("np.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]) * x", {"x": np.array([2.0, 3.0])}),
    ("np.nansum([x, [1, np.nan, 2]], axis=0)", {"x": np.array([np.nan, np.nan, 1.0])}),
    ("np.where([True, False, True], x, 0)", {"x": MATRIX}),
    ("np.where(m, x, 0)", {"x": MATRIX, "m": MATRIX > 0}),
    ("np.where(is_used, x[:, row_ids], 0)", {"x": MATRIX, "is_used": np.eye(2) > 0, "row_ids": np.array([2, 0])}),
    ("np.where(np.isnan(x), 0, x)", {"x": np.array([np.nan, 1.0])}),
    ("np.nanmax(x, axis=0) - np.nanmin(x)", {"x": np.array([[np.nan, 1.0], [3.0, 2.0]])}),
    ("np.log(0) + np.sqrt(4)", {}),
    ("np.add(x, y)", {"x": np.ones((1, 3)), "y": np.ones((2, 1))}),
    ("np.concatenate([x, y], axis=1)", {"x": np.ones((2, 1)), "y": MATRIX}),
    ("np.sum(x, axis=1, initial=2, where=x > 0)", {"x": MATRIX}),
    ("np.max(x, initial=4) + np.min(x, where=[[True], [False]], initial=9) + np.prod(x, where=x > 0)", {"x": MATRIX}),
    ("np.mean(x, axis=1, where=[True, False, True])", {"x": MATRIX}),
    ("np.nanmean(x, where=x > 0)", {"x": MATRIX}),
    ("np.trace(x) + np.trace(x, 1) + np.trace(x, -1, 1, 2)[0]", {"x": CUBE}),
    ("np.linalg.trace(x, offset=-1) + np.linalg.diagonal(x, offset=1)[:, 0]", {"x": CUBE}),
    ("np.diagonal(x) + np.diagonal(x, 1)", {"x": MATRIX}),
    ("np.diag(x, 1) - np.diag(x, -1)", {"x": np.array([1.0, 2.0])}),
    ("np.eye(3, k=1) + np.eye(3, 3, -1)", {}),
    ("np.argmax(x) + np.argmin(x, keepdims=True)", {"x": MATRIX}),
    ("np.cumsum(x)", {"x": MATRIX}),
    ("np.sort(x, axis=None)", {"x": MATRIX}),
    ("np.roll(x, 2)", {"x": MATRIX}),
    ("np.take(x, i) + np.median(x)", {"x": MATRIX, "i": np.array([5, 0, 3])}),
    ("np.repeat(x, 2)", {"x": MATRIX}),
    ("np.concatenate([x, y], axis=None)", {"x": MATRIX, "y": np.array([1.0, 2.0])}),
    ("np.reshape(x, (3, 2)) + np.reshape(x, (3, 2), order='F')", {"x": MATRIX}),
    ("x.ravel(order='F') + x.flatten('F') + x.size + np.size(x, 1)", {"x": MATRIX}),
    ("np.round(x, 1) + np.round(100 * x, -2)", {"x": np.array([0.26, 1.34, -2.75])}),
    ("np.pad(x, {0: (3, 0), 1: 2}) + np.pad(x, ((1, 2), (2, 2)), constant_values=(4, 6))", {"x": MATRIX}),
    *((f"np.pad(x, ((1, 0), (2, 1)), {mode!r})", {"x": MATRIX}) for mode in "edge symmetric wrap mean maximum minimum median".split()),
    ("np.pad(x, (2, 3), 'reflect')", {"x": np.arange(5.0) ** 2}),
    ("np.einsum(x, [0, 1], y, [1, 2], [0, 2]) + np.einsum(x, [..., 0], y, [0, ...])", {"x": MATRIX, "y": MATRIX.T}),
    ("np.outer(x, x) + np.vdot(x, x)", {"x": MATRIX}),
    ("np.kron(x, [1, 2])", {"x": MATRIX}),
    ("np.dot(x, y) + np.inner(x, y.transpose(0, 2, 1))", {"x": MATRIX, "y": CUBE}),
    ("np.linalg.matrix_power(x, -2) + np.linalg.matrix_power(x, 0)", {"x": np.array([[2.0, 1.0], [1.0, 1.0]])}),
    ("np.copysign(x, y)", {"x": np.ones(3), "y": np.array([-0.0, 0.0, -np.inf])}),
    ("np.fmax(x, 0) + np.fmin(x, y) + np.heaviside(y, 0.5)", {"x": np.array([np.nan, 1.0]), "y": np.array([3.0, -0.0])}),
    ("np.full_like(x, 2.0, shape=(2, 3)) + x", {"x": MATRIX}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "arrays"), WHOLE)
def test_positional_code_of_documentation_has_the_value_of_numpy(source, arrays):
    if "np.pad(x, {" in source:
        try:
            np.pad([1.0], {0: 1})
        except TypeError:
            pytest.skip("this NumPy pads no axes by name")
    translation = nt.translate(source, arrays)
    names = {"np": np, **{name: array.copy() for name, array in arrays.items()}}
    *lines, last = source.splitlines()
    with np.errstate(all="ignore"):
        exec("\n".join(lines), names)
        expected = np.asarray(eval(last, names), dtype=float)
    actual = np.asarray(translation(**{name: arrays[name] for name in translation.axes}))
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-7, atol=1e-12)


def test_positional_extremes_have_one_level_of_braces():
    assert nt.translate("np.fmax(x, 0)", x="n").formula == "{ 0 if isnan(x); max(x, 0) otherwise }"
    assert (
        nt.translate("np.fmin(x, y)", x="n", y="n").formula == "{ y if isnan(x); x if isnan(y); min(x, y) otherwise }"
    )


@pytest.mark.parametrize(
    ("source", "array", "message"),
    [
        ("np.diff(x)", np.array([1, 0], np.uint8), "x has the dtype uint8: its library's integers wrap around"),
        ("np.negative(x)", np.array([1, 2], np.uint32), "x has the dtype uint32: its library's integers wrap around"),
        ("x.mean(0)", np.array([1, 2], np.int8), "x has the dtype int8: its library's integers wrap around"),
        ("np.full_like(x, 0.1)", np.array([1, 2]), "x has the dtype int64: for integers, its library's value differs"),
        ("np.prod(x)", np.full(4, 536870910), "the value overflows 64 bits"),
        ("np.prod(x)", np.full(4, 536870, np.int32), "the value overflows 32 bits"),
    ],
)
def test_positional_integers_with_another_value_in_the_library_are_rejected(source, array, message):
    translation = nt.translate(source, x="n")
    with pytest.raises(nt.NotationError) as caught:
        translation(array)
    assert (caught.value.code, caught.value.message) == (405, message)
    assert np.all(np.isfinite(translation(array.astype(float))))


def test_positional_integers_with_the_value_of_the_library_are_accepted():
    summed = nt.translate("x[I] + np.exp(x).sum()", x="n", I="t")(np.array([60, 2]), np.array([1, 1], np.uint8))
    np.testing.assert_allclose(summed, np.full(2, 2 + np.exp(60) + np.exp(2)))
    assert nt.translate("np.full_like(x, 0.1)", x="n").reading == (
        "the inputs are real numbers: for integers, the value differs",
    )


VALUES = [  # source, shapes, arrays, the value by hand
    ("np.add.outer(x, y)", "x=n;y=m", {"x": [2.0, 4.0, 6.0], "y": [1.0, 2.0]}, [[3, 4], [5, 6], [7, 8]]),
    ("np.greater.outer(x, y) * 1.0", "x=n;y=m", {"x": [2.0, 4.0], "y": [1.0, 3.0]}, [[1, 0], [1, 1]]),
    ("np.multiply.reduce(X)", "X=n m", {"X": [[1.0, 2.0], [3.0, 4.0]]}, [3, 8]),
    ("np.add.accumulate(X)", "X=n m", {"X": [[1.0, 2.0], [3.0, 4.0]]}, [[1, 2], [4, 6]]),
    ("np.arange(1, 6)", "", {}, [1, 2, 3, 4, 5]),
    ("np.arange(7, 0, -3)", "", {}, [7, 4, 1]),
    ("x - np.arange(1, 4)", "x=n", {"x": [1.0, 1.0, 1.0]}, [0, -1, -2]),
    ("X.mean(1, keepdims=True)", "X=n m", {"X": [[1.0, 2.0], [3.0, 4.0]]}, [[1.5], [3.5]]),
    ("x[None, :, None]", "x=n", {"x": [1.0, 2.0]}, [[[1], [2]]]),
    ("np.sum(X, 0, None, None, True)", "X=n m", {"X": [[1.0, 2.0], [3.0, 4.0]]}, [[4, 6]]),
    ("np.std(x, 0, None, None, 1)", "x=n", {"x": [1.0, 3.0, 5.0]}, 2.0),
    ("torch.std(x, 0, True)", "x=n", {"x": [1.0, 3.0, 5.0]}, 2.0),
    ("torch.var(x, False)", "x=n", {"x": [1.0, 3.0, 5.0, 7.0]}, 5.0),
    ("np.clip(x, 0, 1)", "x=n", {"x": [-1.0, 0.5, 2.0]}, [0, 0.5, 1]),
    ("X.median(1)[0]", "X=n m", {"X": [[1.0, 2.0], [3.0, 4.0]]}, [1, 3]),
    ("np.moveaxis(x, -1, 0)", "x=n m", {"x": [[1.0, 2.0], [3.0, 4.0]]}, [[1, 3], [2, 4]]),
    ("repeat(x, 'h w -> h (w r)', r=2)", "x=h w", {"x": [[1.0, 2.0]]}, [[1, 1, 2, 2]]),
    ("repeat(x, 'w -> (2 w)')", "x=w", {"x": [1.0, 2.0]}, [1, 2, 1, 2]),
    ("rearrange(x, 'b ... c -> b c ...')", "x=b h c", {"x": [[[1.0, 2.0], [3.0, 4.0]]]}, [[[1, 3], [2, 4]]]),
    ("torch.sub(x, y, alpha=2)", "x=n;y=n", {"x": [5.0], "y": [1.0]}, [3]),
    ("np.roll(x, 1)", "x=n", {"x": [1.0, 2.0, 3.0]}, [3, 1, 2]),
    ("F.pad(x, (1, 2))", "x=n", {"x": [1.0, 2.0]}, [0, 1, 2, 0, 0]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "shapes", "arrays", "value"), VALUES)
def test_positional_arguments_mean_what_the_signature_says(source, shapes, arrays, value):
    translation = nt.translate(source, dict(pair.split("=") for pair in shapes.split(";")) if shapes else {})
    actual = np.asarray(translation(**{name: np.array(array) for name, array in arrays.items()}))
    assert actual.shape == np.shape(value)
    np.testing.assert_allclose(actual, value)


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("X.max(1)[0]", (2.0, [2.0, 4.0])),
        ("X.std(0)", ([1.0, 1.0], [2**0.5, 2**0.5])),
        ("X.repeat(2, 1)", ([[1, 1, 2, 2], [3, 3, 4, 4]], [[1, 2], [3, 4], [1, 2], [3, 4]])),
    ],
)
def test_positional_methods_that_differ_between_libraries_are_asked_about(source, values):
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, X="n m")
    assert caught.value.code == 116
    for reading, value in zip(caught.value.readings, values, strict=True):
        np.testing.assert_allclose(np.asarray(reading(np.array([[1.0, 2.0], [3.0, 4.0]]))), value)


def test_positional_comparison_names_the_library():
    assert nt.translate("np.exp(x)", x="n").checked == "equal to NumPy's own value on 5 random inputs"
    assert nt.translate("torch.exp(x)", x="n").checked in (
        "equal to PyTorch's own value on 5 random inputs",
        "not compared: PyTorch is not installed",
    )
    assert nt.translate("scipy.special.softmax(x, axis=0)", x="n").checked == "equal to NumPy's own value (with our own softmax) on 5 random inputs"  # fmt: skip


@pytest.mark.parametrize("source", ["rearrange(x, 'a (b c) ... -> ... c (a 1 b)', c=2)", "reduce(x, 'a b ... -> 1 ...', 'max')", "repeat(x, 'a b ... -> (a r) b ... 3', r=2)"])  # fmt: skip
def test_positional_pattern_is_compared_without_einops(monkeypatch, source):
    monkeypatch.setitem(sys.modules, "einops", None)
    assert nt.translate(source, x="a b c d").checked == f"equal to NumPy's own value (with our own {source.partition('(')[0]}) on 5 random inputs"  # fmt: skip


def test_positional_comparison_calls_only_listed_functions():
    walk = LibraryWalk({"x": np.ones(2)}, "numpy")
    for source in ("np.load('a')", "x.tofile('a')", "x.__class__", "np.lib.format.open_memmap('a')", "open('a')", "np.save('a', x)", "np.add.__call__(x, x)", "[x] * 3", "np.ones(10**9)", "2**1_000_000"):  # fmt: skip
        with pytest.raises(UnsupportedError):
            walk.run(ast.parse(source).body)


@pytest.mark.parametrize(
    ("shapes", "hint"),
    [
        (("m n", "m n"), "write A.T @ B or A @ B.T"),
        (("m n", "m k"), "write A.T @ B"),
        (("m n", "k n"), "write A @ B.T"),
        (("m n", "k j"), None),
    ],
)
def test_a_product_that_does_not_fit_names_the_transposes_that_do(shapes, hint):
    with pytest.raises(nt.NotationError, match="cannot multiply A by B") as raised:
        nt.translate("A @ B", A=shapes[0], B=shapes[1])
    assert raised.value.hint == hint
