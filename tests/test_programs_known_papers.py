"""Formulas of well-known papers, written with named axes: each against the reference, and printed back in each spelling."""

import warnings

import numpy as np
import pytest

import namedtensor as nt
from grammar.parser import parse
from grammar.printer import to_latex, to_text
from namedtensor import reference

SIZES = dict.fromkeys(("seq", "experts", "node", "time", "dim", "height", "width"), 4) | {"vocab": 5, "code": 5}
SIZES |= dict.fromkeys(("heads", "out", "comp", "slots", "batch", "kh", "kw"), 2)

PAPERS = {
    "a state space model": (
        "h^0 = 0 B\n"
        "h^t = [A ⊙_{state} h^{t-1}]_{state'→state} + B u_{seq(t)} for t = 1, …, |seq|\n"
        "y_{seq(t)} = C ⊙_{state} h^t",
        {"A": "state' state", "B": "state", "C": "state", "u": "seq"},
    ),
    "Mamba": (
        "Δ = softplus(x ⊙_{chans} W_Δ)\n"
        "Ā = exp(Δ ⊙ A)\n"
        "B̄ = Δ ⊙ B\n"
        "B = x ⊙_{chans} W_B\n"
        "C = x ⊙_{chans} W_C\n"
        "h^0 = 0\n"
        "h^t = Ā_{seq(t)} ⊙ h^{t-1} + B̄_{seq(t)} ⊙ x_{seq(t)} for t = 1, …, |seq|\n"
        "y_{seq(t)} = C_{seq(t)} ⊙_{state} h^t",
        {"x": "seq chans", "A": "state", "W_Δ": "chans", "W_B": "chans state", "W_C": "chans state"},
    ),
    "RWKV": (
        "a^0 = 0 · k_{seq(1)}\n"
        "b^0 = 0 · k_{seq(1)}\n"
        "a^t = e^{-w} a^{t-1} + e^{k_{seq(t)}} v_{seq(t)} for t = 1, …, |seq|\n"
        "b^t = e^{-w} b^{t-1} + e^{k_{seq(t)}} for t = 1, …, |seq|\n"
        "wkv_{seq(t)} = (a^{t-1} + e^{u + k_{seq(t)}} v_{seq(t)}) / (b^{t-1} + e^{u + k_{seq(t)}}) for t = 1, …, |seq|",
        {"k": "seq chans", "v": "seq chans", "w": "chans", "u": "chans"},
    ),
    "linear attention": (
        "φ(x) = elu(x) + 1\nY = φ(Q) ⊙_{key} (φ(K) ⊙_{seq'} V) / (φ(Q) ⊙_{key} ∑_{seq'} φ(K))",
        {"Q": "seq key", "K": "seq' key", "V": "seq' val"},
    ),
    "rotary positions": (
        "θ_{half(i)} = 10000^{-2(i-1)/|key|}\n"
        "φ_{seq(m), half(i)} = m θ_{half(i)}\n"
        "R = [cos φ, -sin φ; sin φ, cos φ]_{rot', rot}\n"
        "Y = (R ⊙_{rot} X_{key→(half, rot)})_{(half, rot')→key}\n"
        "|rot| = 2",
        {"X": "seq key[4]"},
    ),
    "ALiBi": (
        "A = softmax_{seq'} (Q ⊙_{key} K / √|key| − m ⊙ D + M) ⊙_{seq'} V\n"
        "D_{seq(i), seq'(j)} = i − j\n"
        "M_{seq(i), seq'(j)} = { 0 if j ≤ i; -∞ otherwise }\n"
        "m_{heads(h)} = 2^{-8h/|heads|}",
        {"Q": "heads seq key", "K": "heads seq' key", "V": "heads seq' val"},
    ),
    "grouped queries": (
        "A = softmax_{seq'} (Q_{heads→(group, member)} ⊙_{key} K / √|key|) ⊙_{seq'} V\n|member| = 2",
        {"Q": "heads[4] seq key", "K": "group[2] seq' key", "V": "group[2] seq' val"},
    ),
    "a mixture of the best experts": (
        "G = softmax_{experts} { H if H ≥ τ; -∞ otherwise }\n"
        "H = x ⊙_{layer} W\n"
        "τ = min_{k} maxk_{experts,k} H\n"
        "|k| = 2",
        {"x": "seq layer", "W": "layer experts"},
    ),
    "diffusion, forwards": (
        "ᾱ = cumprod_{time} (1 − β)\nx^t = √ᾱ_{time(t)} x_0 + √(1 − ᾱ_{time(t)}) ε for t = 1, …, |time|\nx^3",
        {"β": nt.tensor([0.1, 0.2, 0.3, 0.4], "time"), "x_0": "dim", "ε": "dim"},
    ),
    "diffusion, a step back": (
        "μ(x, t) = (1 / √α_{time(t)}) (x − (β_{time(t)} / √(1 − ᾱ_{time(t)})) f(x))\n"
        "α = 1 − β\n"
        "ᾱ = cumprod_{time} α\n"
        "f(x) = x^2\n"
        "μ(z, 2)",
        {"β": nt.tensor([0.1, 0.2, 0.3, 0.4], "time"), "z": "dim"},
    ),
    "flow matching": (
        "x_t = (1 − t) x_0 + t x_1\nL = ‖v(x_t) − (x_1 − x_0)‖^2\nv(x) = tanh x",
        {"t": 0.3, "x_0": "dim", "x_1": "dim"},
    ),
    "DPO": (
        "L = −log σ(β log(π_w / r_w) − β log(π_l / r_l))",
        {"β": 0.1, "π_w": 0.5, "r_w": 0.4, "π_l": 0.2, "r_l": 0.3},
    ),
    "PPO": (
        "L = mean_{time} min(r ⊙ Â, clip(r, 1 − ε, 1 + ε) ⊙ Â)\nr = exp(ℓ − ℓ')",
        {"Â": "time", "ℓ": "time", "ℓ'": "time", "ε": 0.2},
    ),
    "InfoNCE": (
        "S = (u ⊙_{dim} w_{batch→batch'}) / τ\n"
        "L = −mean_{batch} ℓ\n"
        "ℓ_{batch(i)} = log (exp S_{batch(i), batch'(i)} / ∑_j exp S_{batch(i), batch'(j)})",
        {"u": "batch dim", "w": "batch dim", "τ": 0.1},
    ),
    "VQ-VAE": (
        "z = E ⊙_{code} argmin_{code} ∑_{dim} (x − E)^2",
        {"x": "seq dim", "E": "code dim"},
    ),
    "routing between capsules": (
        "b^0 = 0\n"
        "c^t = softmax_{out} (b^{t-1} + z) for t = 1, …, 3\n"
        "s^t = ∑_{comp} c^t ⊙ û for t = 1, …, 3\n"
        "v^t = squash(s^t) for t = 1, …, 3\n"
        "b^t = b^{t-1} + û ⊙_{dim} v^t for t = 1, …, 3\n"
        "squash : ℝ^{dim} → ℝ^{dim}\n"
        "squash(s) = (‖s‖^2 / (1 + ‖s‖^2)) (s / ‖s‖)\n"
        "z = 0 ∑_{dim} û\n"
        "v^3",
        {"û": "comp out dim"},
    ),
    "GAT": (
        "s_{node(i), node'(j)} = leaky_relu(a ⊙_{out} z_{node(i)} + b ⊙_{out} z_{node(j)})\n"
        "z = W ⊙_{feat} X\n"
        "α = softmax_{node'} { s if A > 0; -∞ otherwise }\n"
        "H = α ⊙_{node'} z_{node→node'}",
        {
            "W": "out feat",
            "X": "node feat",
            "a": "out",
            "b": "out",
            "A": nt.tensor(np.tril(np.ones((4, 4))), "node node'"),
        },
    ),
    "GCN": (
        "D = ∑_{node'} (A + I_{node,node'})\n"
        "Ã = (A + I_{node,node'}) / √(D ⊙ D_{node→node'})\n"
        "H = relu(Ã ⊙_{node'} X_{node→node'} ⊙_{feat} W)",
        {"X": "node feat", "W": "feat out", "A": nt.tensor(np.ones((4, 4)), "node node'")},
    ),
    "slot attention": (
        "A = softmax_{slots} (k ⊙_{key} q / √|key|)\nW = A / ∑_{seq} A\nU = W ⊙_{seq} v",
        {"k": "seq key", "q": "slots key", "v": "seq val"},
    ),
    "a hidden Markov model": (
        "α^1 = π ⊙ B_{vocab(o_{time(1)})}\n"
        "α^t = (α^{t-1} ⊙_{state} A)_{state'→state} ⊙ B_{vocab(o_{time(t)})} for t = 2, …, |time|\n"
        "p = ∑_{state} α^{|time|}",
        {
            "π": nt.tensor([0.2, 0.3, 0.5], "state"),
            "A": nt.tensor(np.full((3, 3), 1 / 3), "state state'"),
            "B": nt.tensor(np.full((3, 5), 0.2), "state vocab"),
            "o": nt.tensor([1, 2, 5, 3], "time"),
        },
    ),
    "Viterbi": (
        "δ^1 = log π + b_{time(1)}\n"
        "δ^t = [max_{state} (δ^{t-1} + log A)]_{state'→state} + b_{time(t)} for t = 2, …, |time|\n"
        "best = max_{state} δ^{|time|}",
        {
            "π": nt.tensor([0.2, 0.3, 0.5], "state"),
            "A": nt.tensor(np.full((3, 3), 1 / 3), "state state'"),
            "b": "time state",
        },
    ),
    "the path of Viterbi": (
        "δ^1 = b_{time(1)}\n"
        "δ^t = [max_{state} (δ^{t-1} + A)]_{state'→state} + b_{time(t)} for t = 2, …, n\n"
        "ψ^t = argmax_{state} (δ^{t-1} + A) for t = 2, …, n\n"
        "y^n = argmax_{state} δ^n\n"
        "y^t = ψ^{t+1} ⊙_{state'} y^{t+1}_{state→state'} for t = n-1, …, 1\n"
        "Y_{time(t)} = y^t for t = 1, …, n\n"
        "n = 4",
        {"A": "state state'", "b": "time state"},
    ),
    "a conditional random field": (
        "Z = logsumexp_{state} α^{|time|}\n"
        "α^1 = b_{time(1)}\n"
        "α^t = [logsumexp_{state} (α^{t-1} + T)]_{state'→state} + b_{time(t)} for t = 2, …, |time|\n"
        "s = ∑_{t=1}^{|time|} b_{time(t), state(y_{time(t)})} + ∑_{t=2}^{|time|} T_{state(y_{time(t-1)}), state'(y_{time(t)})}\n"
        "L = Z − s",
        {"T": "state state'", "b": "time state", "y": nt.tensor([1, 2, 3, 1], "time")},
    ),
    "a Kalman filter": (
        "x_p = [F ⊙_{state} x]_{row→state}\n"
        "P_p = [F ⊙_{state} P ⊙_{state'} F_{state→state', row→row'}]_{row→state, row'→state'} + Q\n"
        "S = H ⊙_{state} P_p ⊙_{state'} H_{obs→obs', state→state'} + R\n"
        "K = P_p ⊙_{state'} H_{state→state'} ⊙_{obs} inv_{obs,obs'} S\n"
        "x_n = x_p + K ⊙_{obs'} (z − H ⊙_{state} x_p)_{obs→obs'}",
        {
            "F": "row state",
            "x": "state",
            "P": nt.tensor(np.eye(3), "state state'"),
            "Q": nt.tensor(np.eye(3), "state state'"),
            "H": "obs[2] state",
            "R": nt.tensor(np.eye(2), "obs obs'"),
            "z": "obs[2]",
        },
    ),
    "EM of a Gaussian mixture": (
        "γ = softmax_{comp} (log π − ½ ∑_{dim} ((x − μ)^2 / v + log(2 π_c v)))\n"
        "π_c = 3.14159\n"
        "N = ∑_{seq} γ\n"
        "μ' = (∑_{seq} γ ⊙ x) / N\n"
        "v' = (∑_{seq} γ ⊙ (x − μ')^2) / N\n"
        "v'",
        {
            "x": "seq dim",
            "μ": "comp dim",
            "v": nt.tensor(np.ones((2, 4)), "comp dim"),
            "π": nt.tensor([0.4, 0.6], "comp"),
        },
    ),
    "a step of k-means": (
        "q = argmin_{comp} ∑_{dim} (x − c)^2\nc' = (∑_{seq} q ⊙ x) / ∑_{seq} q\nc'",
        {"x": "seq dim", "c": "comp dim"},
    ),
    "PageRank": (
        "r^0_{node(i)} = 1 / |node|\n"
        "r^t = (1 − d) / |node| + d (M ⊙_{node'} r^{t-1}_{node→node'}) for t = 1, …, 20\n"
        "r^20",
        {"M": nt.tensor(np.full((4, 4), 0.25), "node node'"), "d": 0.85},
    ),
    "SimRank": (
        "s^0 = I_{node,node'}\n"
        "s^t = { 1 if i = j; C (W ⊙_{node} s^{t-1} ⊙_{node'} W_{node→node', p→p'})_{p→node, p'→node'} otherwise } for t = 1, …, 3\n"
        "i = iota_{node}\n"
        "j = iota_{node'}\n"
        "s^3",
        {"W": nt.tensor(np.full((4, 4), 0.25), "p node"), "C": 0.8},
    ),
    "addressing of a neural Turing machine": (
        "cosine : ℝ^{dim} × ℝ^{dim} → ℝ\n"
        "cosine(u, v) = (u ⊙_{dim} v) / (‖u‖ ‖v‖)\n"
        "a = softmax_{mem} (β cosine(k, M))\n"
        "b = g a + (1 − g) w\n"
        "c_{mem(i)} = ∑_{j=1}^{|mem|} b_{mem(j)} s_{mem(mod(i − j, |mem|) + 1)}\n"
        "d = c^γ / ∑_{mem} c^γ",
        {
            "M": "mem dim",
            "k": "dim",
            "β": 2.0,
            "g": 0.3,
            "w": nt.tensor([0.2, 0.3, 0.5], "mem"),
            "s": nt.tensor([0.1, 0.8, 0.1], "mem"),
            "γ": 1.0,
        },
    ),
    "a highway": (
        "y = T ⊙ H(x) + (1 − T) ⊙ x\nT = σ(x ⊙_{chans} W_{out→chans'})_{chans'→chans}\nH(x) = tanh x",
        {"x": "chans", "W": "chans out[3]"},
    ),
    "a convolution": (
        "Y = ∑_{kh,kw,chans} W ⊙ unroll_{height,kh} unroll_{width,kw} X",
        {"X": "chans height width", "W": "out chans kh kw"},
    ),
    "a depthwise convolution": (
        "Y = ∑_{kh,kw} W ⊙ unroll_{height,kh} unroll_{width,kw} X",
        {"X": "chans height width", "W": "chans kh kw"},
    ),
    "GroupNorm": (
        "Y = [standardize_{member,height,width} X_{chans→(groups,member)}]_{(groups,member)→chans} γ + β\n|groups| = 2",
        {"X": "chans[4] height[3] width[3]", "γ": "chans[4]", "β": "chans[4]"},
    ),
    "InstanceNorm": (
        "Y = (X − μ) / √(σ^2 + ε)\nμ = mean_{height,width} X\nσ^2 = var_{height,width} X",
        {"X": "batch chans height width"},
    ),
    "dropout": (
        "Y = X ⊙ M / (1 − p)",
        {"X": "seq", "M": nt.tensor([1, 0, 1, 1], "seq"), "p": 0.25},
    ),
    "the score of a beam": (
        "s(y) = log P / lp\nlp = ((5 + n)^α) / (5 + 1)^α\ns(1)",
        {"P": 0.3, "n": 5, "α": 0.6},
    ),
    "BLEU": (
        "BP = { 1 if c > r; e^{1 − r/c} otherwise }\nBLEU = BP exp(∑_{n=1}^{4} w_{gram(n)} log p_{gram(n)})",
        {"c": 9, "r": 10, "w": nt.tensor([0.25] * 4, "gram"), "p": nt.tensor([0.5, 0.4, 0.3, 0.2], "gram")},
    ),
}


def given(values):
    """The values; of axes, "seq key[4]", a tensor that is drawn."""
    random = np.random.default_rng(5)
    result = {}
    for name, value in values.items():
        if isinstance(value, str):
            parts = [part.partition("[") for part in value.split()]
            sizes = [int(size[:-1]) if size else SIZES.get(axis.rstrip("'"), 3) for axis, _, size in parts]
            value = nt.tensor(random.normal(size=sizes), " ".join(axis for axis, *_ in parts))
        result[name] = value
    return result


def for_reference(value):
    is_tensor = isinstance(value, nt.NamedTensor)
    return reference.tensor(value.array.tolist(), " ".join(value.axes)) if is_tensor else value


@pytest.mark.parametrize("title", PAPERS)
def test_its_value_is_that_of_the_reference(title):
    text, values = PAPERS[title]
    values = given(values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = nt.evaluate(text, values)
    expected = reference.evaluate(text, {name: for_reference(value) for name, value in values.items()})
    expected = expected.to_list(" ".join(result.axes)) if result.axes else expected.entries[()]
    np.testing.assert_allclose(np.asarray(result.array, dtype=float), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("title", PAPERS)
def test_check_types_it_and_it_is_printed_back(title):
    text, values = PAPERS[title]
    shapes = {
        name: value.shape if isinstance(value, nt.NamedTensor) else value for name, value in given(values).items()
    }
    numbers = {name: value for name, value in shapes.items() if isinstance(value, (int, float))}
    report = nt.check(text, {name: "ℝ" if name in numbers else shape for name, shape in shapes.items()})
    assert not [error for error in report.errors if error.code != 309]
    tree = parse(text)
    for printed, spelling in ((to_text(tree), "text"), (to_text(tree, ascii=True), "text"), (to_latex(tree), "latex")):
        assert parse(printed, spelling) == tree


def test_values_known_by_hand():
    text, values = PAPERS["BLEU"]
    expected = np.exp(1 - 10 / 9) * (0.5 * 0.4 * 0.3 * 0.2) ** 0.25
    assert float(nt.evaluate(text, given(values))) == pytest.approx(expected)
    text, values = PAPERS["the path of Viterbi"]
    values = given(values)
    A, b = values["A"].to_array("state state'"), values["b"].to_array("time state")
    paths = [(p, q, r, s) for p in range(3) for q in range(3) for r in range(3) for s in range(3)]
    best = max(
        paths, key=lambda at: sum(b[t, at[t]] for t in range(4)) + sum(A[one, two] for one, two in zip(at, at[1:]))
    )
    result = nt.evaluate(text, values)
    np.testing.assert_allclose(result.to_array("time state").argmax(1), best)
    text, values = PAPERS["a convolution"]
    values = given(values)
    X, W = values["X"].to_array("chans height width"), values["W"].to_array("out chans kh kw")
    expected = [[[(W[o] * X[:, i : i + 2, j : j + 2]).sum() for j in range(3)] for i in range(3)] for o in range(2)]
    np.testing.assert_allclose(nt.evaluate(text, values).to_array("out height width"), expected)
