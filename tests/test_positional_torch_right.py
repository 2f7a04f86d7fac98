"""Code of PyTorch that is its formula, written in several ways: no difference and no remark is reported."""

import pytest

import namedtensor as nt

torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional


def attention(q, k, v):
    scores = torch.einsum("bqd,bsd->bqs", q, k) / q.shape[-1] ** 0.5
    return scores.softmax(dim=-1) @ v


def heads(x, w, u):
    b, t, _ = x.shape
    h = (x @ w).view(b, t, 2, 3).permute(0, 2, 1, 3)
    return (h.softmax(-1).transpose(1, 2).reshape(b, t, 6)) @ u


def causal(q, k, v):
    n = q.shape[0]
    mask = torch.tril(torch.ones(n, n)).bool()
    return (q @ k.T).masked_fill(~mask, float("-inf")).softmax(1) @ v


def layer_norm(x, g, b):
    mean = x.mean(-1, keepdim=True)
    var = (x - mean).pow(2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + 1e-5) * g + b


def batch_norm(x):
    return (x - x.mean(0)) / torch.sqrt(x.var(0, unbiased=False) + 1e-5)


def cosine(x, y):
    return (F.normalize(x, dim=-1) * F.normalize(y, dim=-1)).sum(-1)


def distances(x, c):
    return ((x[:, None] - c[None]) ** 2).sum(-1).sqrt()


def cross_entropy(x, t):
    return -(t * x.log_softmax(-1)).sum(-1).mean()


def gated(x, w, v):
    return F.silu(x @ w) * (x @ v)


def low_rank(x, w, a, b):
    return x @ (w + a @ b)


def gram(x):
    return torch.mm(x, x.t())


def covariance(x):
    centered = x - x.mean(0, keepdim=True)
    return centered.t().mm(centered) / len(x)


def bilinear(x, a, y):
    return torch.einsum("bi,oij,bj->bo", x, a, y)


def squeeze_and_excite(x, w, u):
    s = torch.sigmoid(torch.relu(x.mean((2, 3)) @ w) @ u)
    return x * s[:, :, None, None]


def residual(x, w, u):
    return x + torch.relu(x @ w) @ u


def update(h, x, w, u, b):
    return torch.tanh(h @ w.t() + x @ u.t() + b)


def log_sum(x):
    m = x.max(-1, keepdim=True).values
    return (m + (x - m).exp().sum(-1, keepdim=True).log()).squeeze(-1)


def linear():
    return nn.Linear(4, 6)


CASES = {  # the code: the axes of its inputs, with the shapes, and the formula
    attention: (
        {"q": "batch query key", "k": "batch seq key", "v": "batch seq val"}, [(2, 3, 4), (2, 5, 4), (2, 5, 6)],
        "softmax_{seq}(q ⊙_{key} k / √|key|) ⊙_{seq} v",
    ),
    heads: (
        {"x": "batch seq chans", "w": "chans (heads[2] key)", "u": "(heads key) out"}, [(2, 5, 4), (4, 6), (6, 3)],
        "softmax_{key}(x ⊙_{chans} w) ⊙_{heads, key} u",
    ),
    causal: (
        {"q": "seq key", "k": "seq' key", "v": "seq' val"}, [(5, 4), (5, 4), (5, 3)],
        "softmax_{seq'}({ q ⊙_{key} k if iota_{seq'} ≤ iota_{seq}; -∞ otherwise }) ⊙_{seq'} v",
    ),
    layer_norm: (
        {"x": "batch chans", "g": "chans", "b": "chans"}, [(3, 6), (6,), (6,)],
        "((x - mean_{chans}(x)) / √(var_{chans}(x) + 0.00001)) ⊙ g + b",
    ),
    batch_norm: ({"x": "batch chans"}, [(5, 4)], "standardize_{batch}(x)"),
    cosine: (
        {"x": "batch chans", "y": "batch chans"}, [(3, 4), (3, 4)],
        "(x ⊙_{chans} y) / (norm_{chans}(x) ⊙ norm_{chans}(y))",
    ),
    distances: (
        {"x": "point dim", "c": "cluster dim"}, [(5, 3), (4, 3)], "norm_{dim}(x - c)",
    ),
    cross_entropy: (
        {"x": "batch class", "t": "batch class"}, [(5, 3), (5, 3)],
        "-mean_{batch}(t ⊙_{class} log(softmax_{class}(x)))",
    ),
    gated: (
        {"x": "batch chans", "w": "chans hidden", "v": "chans hidden"}, [(3, 4), (4, 6), (4, 6)],
        "(x ⊙_{chans} w) ⊙ σ(x ⊙_{chans} w) ⊙ (x ⊙_{chans} v)",
    ),
    low_rank: (
        {"x": "batch in", "w": "in out", "a": "in rank", "b": "rank out"}, [(3, 4), (4, 5), (4, 2), (2, 5)],
        "x ⊙_{in} w + (x ⊙_{in} a) ⊙_{rank} b",
    ),
    gram: ({"x": "row col"}, [(5, 3)], "x ⊙_{col} x_{row→row'}"),
    covariance: (
        {"x": "sample dim"}, [(5, 3)],
        "mean_{sample}((x - mean_{sample}(x)) ⊙ (x - mean_{sample}(x))_{dim→dim'})",
    ),
    bilinear: (
        {"x": "batch left", "a": "out left right", "y": "batch right"}, [(3, 4), (5, 4, 2), (3, 2)],
        "x ⊙_{left} a ⊙_{right} y",
    ),
    squeeze_and_excite: (
        {"x": "batch chans height width", "w": "chans mid", "u": "mid chans"}, [(2, 4, 3, 5), (4, 6), (6, 4)],
        "x ⊙ σ(relu(mean_{height, width}(x) ⊙_{chans} w) ⊙_{mid} u)",
    ),
    residual: (
        {"x": "batch chans", "w": "chans hidden", "u": "hidden chans"}, [(3, 4), (4, 6), (6, 4)],
        "x + relu(x ⊙_{chans} w) ⊙_{hidden} u",
    ),
    update: (
        {"h": "batch hidden", "x": "batch in", "w": "hidden' hidden", "u": "hidden' in", "b": "hidden'"},
        [(3, 4), (3, 5), (4, 4), (4, 5), (4,)], "tanh(h ⊙_{hidden} w + x ⊙_{in} u + b)_{hidden'→hidden}",
    ),
    log_sum: ({"x": "batch class"}, [(3, 5)], "log(∑_{class} exp(x))"),
    linear: ({"input": "batch chans", "weight": "hidden chans"}, [(3, 4)], "W ⊙_{chans} input + b"),
}  # fmt: skip


@pytest.mark.parametrize("code", CASES, ids=lambda code: code.__name__)
def test_right_code_is_its_formula(code):
    names, shapes, formula = CASES[code]
    subject = code() if not names.keys() <= {*code.__code__.co_varnames} else code
    torch.manual_seed(0)
    read = nt.from_torch(subject, *map(torch.randn, shapes), names=names)
    report = nt.equivalent(read, formula)
    assert report and not read.remarks, f"{read}\n{report}"
