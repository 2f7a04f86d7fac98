"""The encoder–predictor–decoder of the slides in PyTorch, by position: what `slides.EncoderPredictorDecoder` is compared with."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")
functional = torch.nn.functional


class Translator:
    """One sentence or several, as arrays (batch, words); the parameters are those of the layer."""

    def __init__(self, layer, sizes):
        self.layer, self.sizes = layer, sizes

    def parameter(self, name, axes):
        return torch.tensor(self.layer.parameters[name].to_array(axes))

    def placed(self, name, axes, words):
        d = self.sizes["chans"]
        vectors = self.parameter(name, axes)[torch.tensor(words)] * math.sqrt(d)
        places = torch.zeros(vectors.shape[1], d, dtype=torch.float64)
        steps = torch.arange(vectors.shape[1], dtype=torch.float64)[:, None]
        rates = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
        places[:, 0::2], places[:, 1::2] = torch.sin(steps * rates), torch.cos(steps * rates)
        return vectors + places

    def attended(self, x, ξ, part, causal=False):
        q, k, v = (
            torch.einsum("hkc,bsc->bhsk", self.parameter(f"W_{letter}^{{{part}}}", f"heads {axis} chans"), source)
            for letter, axis, source in (("q", "key", x), ("k", "key", ξ), ("v", "val", ξ))
        )
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return torch.einsum("chv,bhsv->bsc", self.parameter(f"W_h^{{{part}}}", "chans heads val"), mixed)

    def normed(self, x, part, which):
        γ, β = (self.parameter(f"{letter}_{which}^{{{part}}}", "chans") for letter in "γβ")
        return functional.layer_norm(x, (self.sizes["chans"],), γ, β)

    def fed(self, x, part):
        W_1, W_2 = (self.parameter(f"W_{n}^{{{part}}}", axes) for n, axes in ((1, "hidden chans"), (2, "chans hidden")))
        b_1, b_2 = (self.parameter(f"b_{n}^{{{part}}}", axis) for n, axis in ((1, "hidden"), (2, "chans")))
        return functional.linear(functional.relu(functional.linear(x, W_1, b_1)), W_2, b_2)

    def states(self, source):
        e = self.placed("E", "source chans", source)
        for l in range(1, self.sizes["L"] + 1):
            part = f"{l},Enc"
            s = self.normed(e + self.attended(e, e, part), part, 1)
            e = self.normed(s + self.fed(s, part), part, 2)
        return e

    def scores(self, source, target):
        states = self.states(source)
        d = self.placed("D", "target chans", target)
        for l in range(1, self.sizes["L"] + 1):
            s = self.normed(d + self.attended(d, d, f"{l},Dec", causal=True), f"{l},Dec", 1)
            s = self.normed(s + self.attended(s, states, f"{l},Pre"), f"{l},Pre", 1)
            d = self.normed(s + self.fed(s, f"{l},Pre"), f"{l},Pre", 2)
        return d @ self.parameter("D", "target chans").T
