"""Formulas of well-known papers, each written as a program, against NumPy that is written for it alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import namedtensor as nt


class Paper(NamedTuple):
    """A paper's formula: the program, what it is given (axes in the order of NumPy's), the answer in NumPy, and its axes."""

    program: str
    given: dict[str, str]
    answer: Callable[..., Any]
    axes: str
    draw: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Any]] = {}


SIZES = {"seq": 5, "seq'": 4, "key": 3, "val": 2, "heads": 2, "chans": 4, "hidden": 6, "batch": 3, "node": 5, "node'": 5,
         "state": 3, "class": 3, "point": 6, "point'": 6, "feature": 2, "expert": 4, "rank": 2, "out": 3, "time": 5,
         "batch'": 3, "query": 4, "pair": 3, "half": 2}  # fmt: skip


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def positive(random, shape):
    return random.uniform(0.2, 2.0, shape)


def distribution(random, shape):
    return softmax(random.normal(size=shape), -1)


def adjacency(random, shape):
    edges = (random.uniform(size=shape) < 0.5).astype(float)
    np.fill_diagonal(edges, 1)
    return edges


def spd(random, shape):
    root = random.normal(size=shape)
    return root @ root.T + np.eye(shape[0])


# ----------------------------------------------------------------------------------------------------- the answers
def attention(Q, K, V):
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        scores = np.array([Q[i] @ K[j] for j in range(len(K))]) / math.sqrt(Q.shape[1])
        for j, weight in enumerate(softmax(scores, 0)):
            out[i] += weight * V[j]
    return out


def causal(Q, K, V):
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        weights = softmax(np.array([Q[i] @ K[j] for j in range(i + 1)]) / math.sqrt(Q.shape[1]), 0)
        out[i] = sum(weights[j] * V[j] for j in range(i + 1))
    return out


def alibi(Q, K, V):
    out = np.zeros((Q.shape[0], Q.shape[1], V.shape[2]))
    for h in range(Q.shape[0]):
        for i in range(Q.shape[1]):
            scores = [
                Q[h, i] @ K[h, j] / math.sqrt(3) - 2.0 ** (-8 * (h + 1) / 2) * abs(i - j) for j in range(K.shape[1])
            ]
            out[h, i] = softmax(np.array(scores), 0) @ V[h]
    return out


def rope(x):
    out = np.zeros_like(x)  # seq, pair, half
    for m in range(x.shape[0]):
        for p in range(x.shape[1]):
            angle = (m + 1) / 10000 ** (p / x.shape[1])
            turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
            out[m, p] = turn @ x[m, p]
    return out


def linear_attention(Q, K, V):
    q, k = (np.where(x > 0, x + 1, np.exp(x)) for x in (Q, K))
    return np.stack(
        [
            sum((q[i] @ k[j]) * V[j] for j in range(len(k))) / sum(q[i] @ k[j] for j in range(len(k)))
            for i in range(len(q))
        ]
    )


def layer_norm(x, g, b):
    return np.stack([(row - row.mean()) / math.sqrt(row.var() + 1e-5) * g + b for row in x])


def lstm(x, h, c, W, U, b):
    gates = [W[i] @ x + U[i] @ h + b[i] for i in range(4)]
    new = sigmoid(gates[0]) * c + sigmoid(gates[1]) * np.tanh(gates[3])
    return sigmoid(gates[2]) * np.tanh(new)


def gru(x, h, W, U):
    z, r = sigmoid(W[0] @ x + U[0] @ h), sigmoid(W[1] @ x + U[1] @ h)
    return (1 - z) * h + z * np.tanh(W[2] @ x + U[2] @ (r * h))


def rnn(x, h0, W, U):
    states, h = [], h0
    for step in x:
        h = np.tanh(W @ h + U @ step)
        states.append(h)
    return np.stack(states)


def gcn(X, A, W):
    degree = A.sum(1)
    return np.maximum(
        0,
        np.array([[A[i, j] / math.sqrt(degree[i] * degree[j]) for j in range(len(A))] for i in range(len(A))]) @ X @ W,
    )


def gat(X, A, W, a, b):
    H = X @ W
    out = np.zeros_like(H)
    for i in range(len(A)):
        near = [j for j in range(len(A)) if A[i, j]]
        scores = np.array([a @ H[i] + b @ H[j] for j in near])
        weights = softmax(np.where(scores > 0, scores, 0.2 * scores), 0)
        out[i] = sum(w * H[j] for w, j in zip(weights, near))
    return out


def pagerank(A):
    p = np.full(len(A), 1 / len(A))
    for _ in range(20):
        p = np.array(
            [0.15 / len(A) + 0.85 * sum(p[j] * A[j, i] / A[j].sum() for j in range(len(A))) for i in range(len(A))]
        )
    return p


def gaussian_process(K, k, y):
    return k @ np.linalg.inv(K + 0.1 * np.eye(len(K))) @ y


def k_means_step(X, C):
    nearest = [min(range(len(C)), key=lambda c: float(((x - C[c]) ** 2).sum())) for x in X]
    return np.stack(
        [
            np.mean([x for x, at in zip(X, nearest) if at == c], axis=0) if c in nearest else np.full(2, np.nan)
            for c in range(len(C))
        ]
    )


def responsibilities(X, mu, pi):
    weights = np.array([[pi[c] * math.exp(-0.5 * ((x - mu[c]) ** 2).sum()) for c in range(len(pi))] for x in X])
    return weights / weights.sum(1, keepdims=True)


def hmm_forward(p0, A, B):
    alpha = p0 * B[0]
    for t in range(1, len(B)):
        alpha = np.array([sum(alpha[i] * A[i, j] for i in range(len(p0))) * B[t, j] for j in range(len(p0))])
    return alpha.sum()


def crf(U, T):
    def score(path):
        return sum(U[t, s] for t, s in enumerate(path)) + sum(T[a, b] for a, b in zip(path, path[1:]))

    return math.log(sum(math.exp(score(path)) for path in itertools.product(range(3), repeat=len(U))))


def kalman(m, P, z, H, R):
    gain = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
    return m + gain @ (z - H @ m)


def pca_reconstruction(X):
    mean = X.mean(0)
    _, vectors = np.linalg.eigh((X - mean).T @ (X - mean) / len(X))
    top = vectors[:, -1]
    return mean + np.outer((X - mean) @ top, top)


def lora(x, W, A, B):
    return (W + 2 * B @ A) @ x


def routing(x, W, E):
    gates = softmax(W @ x, 0)
    best = np.argsort(-gates)[:2]
    return sum(gates[e] / gates[best].sum() * (E[e] @ x) for e in best)


def clip_loss(I, T):
    I, T = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (I, T))
    logits = I @ T.T / 0.07
    rows = -np.mean([math.log(softmax(logits, 1)[i, i]) for i in range(len(I))])
    columns = -np.mean([math.log(softmax(logits, 0)[i, i]) for i in range(len(I))])
    return (rows + columns) / 2


def ddpm_step(x, e, z):
    alpha, bar = 0.98, 0.5
    return (x - (1 - alpha) / math.sqrt(1 - bar) * e) / math.sqrt(alpha) + math.sqrt(1 - alpha) * z


def adam(w, g, m, v):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    return w - 0.001 * (m / (1 - 0.9**3)) / (np.sqrt(v / (1 - 0.999**3)) + 1e-8)


def policy_gradient(logits, a, R):
    pi = softmax(logits, 1)
    return sum(R[t] * (a[t] - pi[t]) for t in range(len(R)))[None].sum(0) / len(R)


def kl(p, q):
    return sum(p[i] * math.log(p[i] / q[i]) for i in range(len(p)))


def focal(p, y):
    return -np.mean([sum(y[t, c] * (1 - p[t, c]) ** 2 * math.log(p[t, c]) for c in range(3)) for t in range(len(p))])


def elbo_kl(mu, s):
    return -0.5 * sum(1 + math.log(s[i] ** 2) - mu[i] ** 2 - s[i] ** 2 for i in range(len(mu)))


def swiglu(x, W, V, U):
    return (x @ W * sigmoid(x @ W) * (x @ V)) @ U


def rms_norm(x, g):
    return np.stack([row / math.sqrt((row**2).mean() + 1e-6) * g for row in x])


def selective_scan(A, B, x):
    states, h = [], np.zeros(B.shape[1])
    for t in range(len(x)):
        h = A[t] * h + B[t] * x[t]
        states.append(h)
    return np.stack(states)


def one_hot_rows(random, shape):
    return np.eye(shape[1])[random.integers(0, shape[1], shape[0])]


# ---------------------------------------------------------------------------------------------------- the programs
PAPERS = {
    "scaled dot-product attention (Vaswani et al. 2017)": Paper(
        "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V", {"Q": "query key", "K": "seq key", "V": "seq val"}, attention, "query val",
    ),
    "causal attention (Radford et al. 2018)": Paper(
        "M ∈ ℝ^{seq × seq'}\nM_{seq(i), seq'(j)} = { 0 if i ≥ j; -∞ otherwise }\n"
        "Y = softmax_{seq'}(Q ⊙_{key} K_{seq→seq'} / √|key| + M) ⊙_{seq'} V_{seq→seq'}",
        {"Q": "seq key", "K": "seq key", "V": "seq val"}, causal, "seq val",
    ),
    "attention with linear biases (Press, Smith, Lewis 2022)": Paper(
        "m ∈ ℝ^{heads}\nm_{heads(h)} = 2^{-8 h / |heads|}\nD ∈ ℝ^{seq × seq'}\nD_{seq(i), seq'(j)} = abs(i - j)\n"
        "Y = softmax_{seq'}(Q ⊙_{key} K_{seq→seq'} / √|key| - m ⊙ D) ⊙_{seq'} V_{seq→seq'}",
        {"Q": "heads seq key", "K": "heads seq key", "V": "heads seq val"}, alibi, "heads seq val",
    ),
    "rotary positions (Su et al. 2021)": Paper(
        "θ ∈ ℝ^{seq × pair}\nθ_{seq(m), pair(p)} = m / 10000^{(p - 1) / |pair|}\nx1 = x_{half(1)}\nx2 = x_{half(2)}\n"
        "Y = stack_{half}(x1 ⊙ cos θ - x2 ⊙ sin θ, x1 ⊙ sin θ + x2 ⊙ cos θ)",
        {"x": "seq pair half"}, rope, "seq pair half",
    ),
    "linear attention (Katharopoulos et al. 2020)": Paper(
        "φ(x) = { x + 1 if x > 0; exp x otherwise }\nY = φ(Q) ⊙_{key} (φ(K) ⊙_{seq} V) / (φ(Q) ⊙_{key} (∑_{seq} φ(K)))",
        {"Q": "query key", "K": "seq key", "V": "seq val"}, linear_attention, "query val",
    ),
    "layer normalization (Ba, Kiros, Hinton 2016)": Paper(
        "(X - mean_{chans} X) / √(var_{chans} X + 0.00001) ⊙ γ + β",
        {"X": "seq chans", "γ": "chans", "β": "chans"}, layer_norm, "seq chans",
    ),
    "root mean square normalization (Zhang, Sennrich 2019)": Paper(
        "X / √(mean_{chans} X^2 + 0.000001) ⊙ γ", {"X": "seq chans", "γ": "chans"}, rms_norm, "seq chans",
    ),
    "LSTM (Hochreiter, Schmidhuber 1997; Gers et al. 2000)": Paper(
        "G = W ⊙_{chans} x + U ⊙_{hidden} h + b\nf = σ(G_{gate(1)})_{hidden'→hidden}\ni = σ(G_{gate(2)})_{hidden'→hidden}\n"
        "o = σ(G_{gate(3)})_{hidden'→hidden}\nc' = f ⊙ c + i ⊙ tanh(G_{gate(4)})_{hidden'→hidden}\nh' = o ⊙ tanh c'",
        {"x": "chans", "h": "hidden", "c": "hidden", "W": "gate hidden' chans", "U": "gate hidden' hidden", "b": "gate hidden'"},
        lstm, "hidden",
    ),
    "gated recurrent unit (Cho et al. 2014)": Paper(
        "z = σ(W_{gate(1)} ⊙_{chans} x + U_{gate(1)} ⊙_{hidden} h)_{hidden'→hidden}\n"
        "r = σ(W_{gate(2)} ⊙_{chans} x + U_{gate(2)} ⊙_{hidden} h)_{hidden'→hidden}\n"
        "n = tanh(W_{gate(3)} ⊙_{chans} x + U_{gate(3)} ⊙_{hidden} (r ⊙ h))_{hidden'→hidden}\nY = (1 - z) ⊙ h + z ⊙ n",
        {"x": "chans", "h": "hidden", "W": "gate3 hidden' chans", "U": "gate3 hidden' hidden"}, gru, "hidden",
    ),
    "simple recurrent network (Elman 1990)": Paper(
        "h^t = tanh(W ⊙_{hidden} h^{t-1} + U ⊙_{chans} x_{time(t)})_{hidden'→hidden} for t = 1, …, |time|\n"
        "H_{time(t)} = h^t for t = 1, …, |time|",
        {"x": "time chans", "h^0": "hidden", "W": "hidden' hidden", "U": "hidden' chans"}, rnn, "time hidden",
    ),
    "graph convolution (Kipf, Welling 2017)": Paper(
        "d = ∑_{node'} A\nN = A / (√d ⊙ √(d_{node→node'}))\nY = relu((N ⊙_{node'} X_{node→node'}) ⊙_{chans} W)",
        {"X": "node chans", "A": "node node'", "W": "chans out"}, gcn, "node out", {"A": adjacency},
    ),
    "graph attention (Veličković et al. 2018)": Paper(
        "H = X ⊙_{chans} W\nS = a ⊙_{out} H + (b ⊙_{out} H)_{node→node'}\nL = max(S, 0.2 S)\nE = { L if A > 0; -∞ otherwise }\n"
        "Y = softmax_{node'} E ⊙_{node'} H_{node→node'}",
        {"X": "node chans", "A": "node node'", "W": "chans out", "a": "out", "b": "out"}, gat, "node out", {"A": adjacency},
    ),
    "PageRank (Brin, Page 1998)": Paper(
        "P = A / ∑_{node'} A\np^0 = 1 / |node| + 0 ∑_{node'} A\n"
        "p^t = 0.15 / |node| + 0.85 (p^{t-1} ⊙_{node} P)_{node'→node} for t = 1, …, 20\nY = p^{20}",
        {"A": "node node'"}, pagerank, "node", {"A": adjacency},
    ),
    "posterior mean of a Gaussian process (Rasmussen, Williams 2006)": Paper(
        "k ⊙_{point} (inv_{point, point'}(K + 0.1 I_{point, point'}) ⊙_{point'} y_{point→point'})",
        {"K": "point point'", "k": "query point", "y": "point"}, gaussian_process, "query", {"K": spd},
    ),
    "a step of k-means (Lloyd 1982)": Paper(
        "Z = argmin_{class} ∑_{feature} (X - C)^2\nY = (Z ⊙_{point} X) / ∑_{point} Z",
        {"X": "point feature", "C": "class feature"}, k_means_step, "class feature",
        {"X": lambda random, shape: np.repeat(np.arange(3.0), 2)[:, None] * 4 + random.normal(size=shape),
         "C": lambda random, shape: np.arange(3.0)[:, None] * 4 + 0.1 * random.normal(size=shape)},
    ),
    "the E-step for a mixture of Gaussians (Dempster, Laird, Rubin 1977)": Paper(
        "softmax_{class}(log π - ∑_{feature} (X - μ)^2 / 2)",
        {"X": "point feature", "μ": "class feature", "π": "class"}, responsibilities, "point class", {"π": distribution},
    ),
    "the forward algorithm (Rabiner 1989)": Paper(
        "α^1 = p ⊙ B_{time(1)}\nα^t = (α^{t-1} ⊙_{state} A)_{state'→state} ⊙ B_{time(t)} for t = 2, …, |time|\n"
        "Y = ∑_{state} α^{|time|}",
        {"p": "state", "A": "state state'", "B": "time state"}, hmm_forward, "",
        {"p": distribution, "A": distribution, "B": positive},
    ),
    "the partition function of a conditional random field (Lafferty et al. 2001)": Paper(
        "a^1 = U_{time(1)}\na^t = logsumexp_{state}(a^{t-1} + T)_{state'→state} + U_{time(t)} for t = 2, …, |time|\n"
        "Y = logsumexp_{state} a^{|time|}",
        {"U": "time state", "T": "state state'"}, crf, "",
    ),
    "the update of a Kalman filter (Kalman 1960)": Paper(
        "S = H ⊙_{state} P ⊙_{state'} H_{state→state', seen→seen'} + R\nr = z - H ⊙_{state} m\n"
        "Y = m + (P_{state→state', state'→state} ⊙_{state'} H_{state→state'}) ⊙_{seen} (inv_{seen, seen'} S ⊙_{seen'} r_{seen→seen'})",
        {"m": "state", "P": "state state'", "z": "seen", "H": "seen state", "R": "seen seen'"}, kalman, "state",
        {"P": spd, "R": spd},
    ),
    "low-rank adaptation (Hu et al. 2022)": Paper(
        "(W + 2 B ⊙_{rank} A) ⊙_{chans} x", {"x": "chans", "W": "out chans", "A": "rank chans", "B": "out rank"}, lora, "out",
    ),
    "a sparse mixture of experts (Shazeer et al. 2017)": Paper(
        "|rank| = 2\ng = softmax_{expert}(W ⊙_{chans} x)\nk = argmaxk_{expert, rank} g\nt = g ⊙_{expert} k\nw = (t / ∑_{rank} t) ⊙_{rank} k\n"
        "Y = w ⊙_{expert} (E ⊙_{chans} x)",
        {"x": "chans", "W": "expert chans", "E": "expert out chans"}, routing, "out",
    ),
    "the contrastive loss of CLIP (Radford et al. 2021)": Paper(
        "i = I / norm_{chans} I\nt = T_{batch→batch'} / norm_{chans} T_{batch→batch'}\nZ = i ⊙_{chans} t / 0.07\n"
        "δ = I_{batch, batch'}\nr = -∑_{batch, batch'} (δ ⊙ logsoftmax_{batch'} Z) / |batch|\n"
        "c = -∑_{batch, batch'} (δ ⊙ logsoftmax_{batch} Z) / |batch|\nY = (r + c) / 2",
        {"I": "batch chans", "T": "batch chans"}, clip_loss, "",
    ),
    "a step of denoising diffusion (Ho, Jain, Abbeel 2020)": Paper(
        "α = 0.98\nᾱ = 0.5\nY = (1 / √α) (x - (1 - α) / √(1 - ᾱ) ⊙ e) + √(1 - α) z",
        {"x": "chans", "e": "chans", "z": "chans"}, ddpm_step, "chans",
    ),
    "Adam (Kingma, Ba 2015)": Paper(
        "m' = 0.9 m + 0.1 g\nv' = 0.999 v + 0.001 g^2\nY = w - 0.001 (m' / (1 - 0.9^3)) / (√(v' / (1 - 0.999^3)) + 0.00000001)",
        {"w": "chans", "g": "chans", "m": "chans", "v": "chans"}, adam, "chans", {"v": positive},
    ),
    "the policy gradient (Williams 1992)": Paper(
        "J = mean_{time}(R ⊙ ∑_{class} (a ⊙ logsoftmax_{class} z))\nY = ∂J/∂z^*\n[∑_{time*} Y]_{class*→class}",
        {"z": "time class", "a": "time class", "R": "time"}, policy_gradient, "class", {"a": one_hot_rows},
    ),
    "the divergence of Kullback and Leibler (1951)": Paper(
        "∑_{class} p ⊙ log(p / q)", {"p": "class", "q": "class"}, kl, "", {"p": distribution, "q": distribution},
    ),
    "focal loss (Lin et al. 2017)": Paper(
        "-mean_{batch} ∑_{class} (y ⊙ (1 - p)^2 ⊙ log p)", {"p": "batch class", "y": "batch class"}, focal, "",
        {"p": distribution, "y": one_hot_rows},
    ),
    "the prior's term of a variational autoencoder (Kingma, Welling 2014)": Paper(
        "-∑_{chans} (1 + log(s^2) - μ^2 - s^2) / 2", {"μ": "chans", "s": "chans"}, elbo_kl, "", {"s": positive},
    ),
    "SwiGLU (Shazeer 2020)": Paper(
        "(silu(X ⊙_{chans} W) ⊙ (X ⊙_{chans} V)) ⊙_{hidden} U",
        {"X": "seq chans", "W": "chans hidden", "V": "chans hidden", "U": "hidden out"}, swiglu, "seq out",
    ),
    "a selective state space (Gu, Dao 2023)": Paper(
        "h^0 = 0 B_{time(1)}\nh^t = A_{time(t)} ⊙ h^{t-1} + B_{time(t)} ⊙ x_{time(t)} for t = 1, …, |time|\n"
        "H_{time(t)} = h^t for t = 1, …, |time|",
        {"A": "time state", "B": "time state", "x": "time"}, selective_scan, "time state", {"A": distribution},
    ),
}  # fmt: skip

SIZES |= {"gate": 4, "gate3": 3, "hidden'": 6, "seen": 2, "seen'": 2, "state'": 3}


def drawn(paper: Paper, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    result = {}
    for name, axes in paper.given.items():
        shape = tuple(SIZES[axis] for axis in axes.split())
        result[name] = paper.draw.get(name, lambda source, of: source.normal(size=of))(random, shape)
    return result


def typed(axes: list[str]) -> str:
    """ℝ^{seq[5] × key[3]}"""
    return f"ℝ^{{{' × '.join(axis if '[' in axis else f'{axis}[{SIZES[axis]}]' for axis in axes)}}}" if axes else "ℝ"


def test_there_are_papers_enough():
    assert len(PAPERS) >= 20


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", PAPERS)
def test_a_formula_of_a_paper_has_the_value_of_its_own_numpy(name, seed):
    paper = PAPERS[name]
    arrays = drawn(paper, seed)
    tensors = {key: nt.tensor(array, paper.given[key].replace("gate3", "gate")) for key, array in arrays.items()}
    result = nt.evaluate(paper.program, tensors, syntax="text")
    expected = np.asarray(paper.answer(*arrays.values()))
    np.testing.assert_allclose(
        nt.tensor(result, "").to_numpy(()) if not paper.axes else result.to_numpy(tuple(paper.axes.split())),
        expected,
        rtol=1e-7,
        atol=1e-10,
    )


@pytest.mark.parametrize("name", PAPERS)
def test_a_formula_of_a_paper_is_typed_and_reads_the_same_as_latex(name):
    paper = PAPERS[name]
    shapes = {key: typed(axes.replace("gate3", "gate[3]").split()) for key, axes in paper.given.items()}
    checked = nt.check(paper.program, shapes, syntax="text")
    assert checked.ok and checked.shape is not None and set(checked.shape) == set(paper.axes.split())
    assert nt.to_text(nt.to_latex(paper.program, syntax="text"), syntax="latex") == nt.to_text(
        paper.program, syntax="text"
    )
