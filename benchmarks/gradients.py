"""Gradients by the notation, beside PyTorch's: a network of three layers, a recurrent one, an embedding, a step of training."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import namedtensor as nt

from .block import AS_FORMULA, TORCH, in_torch
from .work import Bar, Ready, Side, Work, both, side

Arrays = dict[str, Any]


def drawn(shapes: dict[str, tuple[int, ...]], whole: dict[str, tuple[int, tuple[int, ...]]]) -> dict[str, Arrays]:
    """Arrays of these shapes, weights scaled to what they sum over; and whole numbers below these."""
    generator = np.random.default_rng(0)
    arrays = {name: generator.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}
    arrays = {
        name: array * np.float32(array.shape[0] ** -0.5 if name[0] in "WUV" else 1) for name, array in arrays.items()
    }
    return {"arrays": arrays | {name: generator.integers(0, most, shape) for name, (most, shape) in whole.items()}}


def ours(text: str, axes: dict[str, str], wrt: str, one: str, sizes: dict[str, int] | None = None) -> Side:
    """The side of a formula `loss`, of whose slopes that by `one` is compared; what counts from 0 is to count from 1."""

    @side(AS_FORMULA)
    def gradient(arrays) -> Ready:
        step = nt.gradient(text, "loss", wrt.split(), return_value=True)
        values = {name: nt.tensor(array + (array.dtype.kind == "i"), axes[name]) for name, array in arrays.items()}
        return Ready(lambda: step(values=values, sizes=sizes), lambda actual: actual[1][one].to_array(axes[one]))

    return gradient


def pulled(loss: Any, leaves: list[Any], position: int) -> Ready:
    """The gradient by all leaves, of which one is compared."""
    import torch

    for leaf in leaves:
        leaf.requires_grad_()
    return Ready(lambda: torch.autograd.grad(loss(), leaves), lambda actual: actual[position].numpy())


# ------------------------------------------------------------------------------------------------------- three layers
MLP = """
loss = −mean_{batch} index_{class}(logsoftmax_{class}(H_2 ⊙_{second} W_3 + b_3), t)
H_2 = relu(H_1 ⊙_{first} W_2 + b_2)
H_1 = relu(X ⊙_{pixel} W_1 + b_1)
"""
MLP_AXES = {"X": "batch pixel", "W_1": "pixel first", "b_1": "first", "W_2": "first second", "b_2": "second",
            "W_3": "second class", "b_3": "class", "t": "batch"}  # fmt: skip


def mlp_inputs(batch: int, pixels: int, hidden: int, classes: int) -> dict[str, Arrays]:
    shapes = {"X": (batch, pixels), "W_1": (pixels, hidden), "b_1": (hidden,), "W_2": (hidden, hidden), "b_2": (hidden,),
              "W_3": (hidden, classes), "b_3": (classes,)}  # fmt: skip
    return drawn(shapes, {"t": (classes, (batch,))})


@side(TORCH, needs=("torch",))
def mlp_torch(arrays) -> Ready:
    from torch.nn import functional as F

    a = in_torch(arrays)

    def loss():
        h = F.relu(F.relu(a["X"] @ a["W_1"] + a["b_1"]) @ a["W_2"] + a["b_2"])
        return F.cross_entropy(h @ a["W_3"] + a["b_3"], a["t"])

    return pulled(loss, [a[name] for name in ("W_1", "b_1", "W_2", "b_2", "W_3", "b_3")], 0)


# ---------------------------------------------------------------------------------------------------------- recurrent
RNN = """
loss = mean_{batch, hidden} ((h^n − T)^2)
h^t = tanh([h^{t-1} ⊙_{hidden} U]_{next→hidden} + X_{time(t)} ⊙_{in} W + b) for t = 1, …, n
h^0 = 0 · T
"""
RNN_AXES = {"X": "time batch in", "T": "batch hidden", "U": "hidden next", "W": "in hidden", "b": "hidden"}


def rnn_inputs(steps: int, batch: int, hidden: int) -> dict[str, Arrays]:
    shapes = {
        "X": (steps, batch, hidden),
        "T": (batch, hidden),
        "U": (hidden, hidden),
        "W": (hidden, hidden),
        "b": (hidden,),
    }
    return drawn(shapes, {})


@side(AS_FORMULA)
def rnn(arrays) -> Ready:
    return ours(RNN, RNN_AXES, "U W b", "U", {"n": len(arrays["X"])}).make(arrays)


@side(TORCH, needs=("torch",))
def rnn_torch(arrays) -> Ready:
    import torch

    a = in_torch(arrays)

    def loss():
        h = torch.zeros_like(a["T"])
        for x in a["X"]:
            h = torch.tanh(h @ a["U"] + x @ a["W"] + a["b"])
        return ((h - a["T"]) ** 2).mean()

    return pulled(loss, [a[name] for name in "UWb"], 0)


# ---------------------------------------------------------------------------------------------------------- embedding
EMBEDDING = "loss = ∑_{word, chans} (G ⊙ E_{vocab(t)}^2)"
EMBEDDING_AXES = {"E": "vocab chans", "G": "word chans", "t": "word"}


def embedding_inputs(words: int, vocab: int, chans: int) -> dict[str, Arrays]:
    return drawn({"E": (vocab, chans), "G": (words, chans)}, {"t": (vocab, (words,))})


@side(TORCH, needs=("torch",))
def embedding_torch(arrays) -> Ready:
    from torch.nn import functional as F

    a = in_torch(arrays)
    return pulled(lambda: (a["G"] * F.embedding(a["t"], a["E"]) ** 2).sum(), [a["E"]], 0)


# --------------------------------------------------------------------------------------------------- a step of training
EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"


def characters() -> Any:
    """The example that trains a transformer over characters."""
    sys.path.insert(0, str(EXAMPLES))
    import characters  # type: ignore[import-not-found]

    return characters


def training_inputs(**sizes: int) -> dict[str, Any]:
    example = characters()
    return {"sizes": {**example.SIZES, **sizes}}


@side(AS_FORMULA)
def training(sizes) -> Ready:
    example = characters()
    state, data = example.start(sizes), example.batch(0, sizes)
    trainer = example.Trainer([*state.parameters], sizes["L"])
    return Ready(lambda: trainer(state, data), lambda actual: np.asarray(actual[0]))


@side(TORCH, needs=("torch",))
def training_torch(sizes) -> Ready:
    import torch
    from torch.nn import functional as F

    example = characters()
    start, data = example.start(sizes).parameters, example.batch(0, sizes)
    axes = {"2": "hidden chans", "O": "heads val chans"}
    p = {
        name: torch.tensor(value.to_array(axes.get(name[-2:-1], value.axes) if name[0] == "W" else value.axes))
        for name, value in start.items()
    }
    chans, heads, layers = sizes["chans"], sizes["heads"], range(1, sizes["L"] + 1)
    flat = {
        name: tensor.reshape((chans, -1) if name[-2] in "QKV1" else (-1, chans)).T.contiguous()
        for name, tensor in p.items()
        if name[0] == "W"
    }
    p = {name: tensor.requires_grad_() for name, tensor in (p | flat).items()}
    begin = {name: tensor.detach().clone() for name, tensor in p.items()}
    ids, following = (torch.tensor(data[name].array - 1) for name in ("ids", "next"))
    optimizer = torch.optim.Adam(p.values(), lr=example.RATES["α"])

    def norm(x, *labels):
        name = f"^{{{','.join(labels)}}}" if labels else ""
        return F.layer_norm(x, (chans,), p[f"γ{name}"], p[f"β{name}"])

    def call():
        optimizer.zero_grad()
        x = F.embedding(ids, p["E"]) + p["P"]
        for layer in map(str, layers):
            n = norm(x, layer, "1")
            q, k, v = (
                F.linear(n, p[f"W^{{{layer},{name}}}"]).unflatten(-1, (heads, -1)).transpose(1, 2) for name in "QKV"
            )
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
            x = x + F.linear(mixed, p[f"W^{{{layer},O}}"])
            h = F.relu(F.linear(norm(x, layer, "2"), p[f"W^{{{layer},1}}"], p[f"b^{{{layer},1}}"]))
            x = x + F.linear(h, p[f"W^{{{layer},2}}"], p[f"b^{{{layer},2}}"])
        loss = F.cross_entropy(F.linear(norm(x), p["U"]).flatten(0, 1), following.flatten())
        loss.backward()
        optimizer.step()
        return loss

    def answer(actual):
        """The loss at the start, whatever was learned since."""
        with torch.no_grad():
            for name, tensor in p.items():
                tensor.copy_(begin[name])
        return np.asarray(call().item())

    return Ready(call, answer)


# -------------------------------------------------------------------------------------------------------------- works
def work(name: str, title: str, inputs: Any, formula: Side, torch: Side, sizes: Any, small: Any, most: float) -> Work:
    bars = (Bar(AS_FORMULA, most, TORCH),)
    return Work(
        name,
        title,
        inputs,
        (*both(formula), *both(torch)),
        sizes,
        small,
        base=TORCH,
        bars=bars,
        memory=True,
        close=1e-3,
    )


WORKS = (
    work(
        "mlp-gradient", "gradient of three layers, batch 128, 784 – 512 – 512 – 10", mlp_inputs,
        ours(MLP, MLP_AXES, "W_1 b_1 W_2 b_2 W_3 b_3", "W_1"), mlp_torch,
        {"batch": 128, "pixels": 784, "hidden": 512, "classes": 10}, {"batch": 4, "pixels": 5, "hidden": 6, "classes": 3}, 1.0,
    ),
    work(
        "rnn-gradient", "gradient of a recurrent network, 64 steps, batch 32, 128 hidden", rnn_inputs, rnn, rnn_torch,
        {"steps": 64, "batch": 32, "hidden": 128}, {"steps": 4, "batch": 3, "hidden": 5}, 1.0,
    ),
    work(
        "embedding-gradient", "gradient of an embedding, 4,096 words of 20,000 × 128", embedding_inputs,
        ours(EMBEDDING, EMBEDDING_AXES, "E", "E"), embedding_torch,
        {"words": 4096, "vocab": 20_000, "chans": 128}, {"words": 7, "vocab": 5, "chans": 4}, 3.0,
    ),
    work(
        "training", "a step of training, 2 layers, 64 channels, 16 × 64 characters", training_inputs, training, training_torch,
        {}, {"chans": 8, "heads": 2, "key": 4, "val": 4, "hidden": 12, "batch": 2, "seq": 5}, 1.25,
    ),
)  # fmt: skip
