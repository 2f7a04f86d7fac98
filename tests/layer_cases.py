"""The layers of the source texts: sizes to make each with, and the axes of what it is called with."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

import namedtensor as nt
from namedtensor.layers.layer import Layer
from transformer import cheat_sheet, dataflowr, learning_records, lelarge, paper, slides

LENET = {"c_0": 1, "c_1": 2, "c_2": 3, "kh_1": 3, "kw_1": 3, "kh_2": 2, "kw_2": 2, "ph^1": 2, "ph^2": 2,
         "height": 12, "width": 8, "hidden": 5, "classes": 4}  # fmt: skip
TRANSLATION = {"L": 2, "chans": 8, "heads": 2, "key": 3, "val": 5, "hidden": 7, "source": 9, "target": 6}


class Case(NamedTuple):
    """A layer; `arguments` are the axes of each with their sizes, and what is drawn: numbers, words, or one-hot words."""

    kind: type[Layer]
    sizes: dict[str, int]
    arguments: tuple[str, ...]
    draw: str = "numbers"

    @property
    def title(self) -> str:
        return f"{self.kind.__module__.rpartition('.')[2]}.{self.kind.__name__}"

    def layer(self, seed: int = 0) -> Layer:
        """The layer with every parameter drawn, also those that the initialization makes zero or one."""
        layer = initialized(self.kind, tuple(self.sizes.items()), seed)
        random = np.random.default_rng(seed + 1)
        return layer.replace({name: drawn(random, value.sizes) for name, value in layer.parameters.items()})

    def inputs(self, seed: int = 0, further: dict[str, int] | None = None) -> list[nt.NamedTensor]:
        random = np.random.default_rng(seed + 2)
        return [given(random, {**(further or {}), **axes(text)}, self.draw) for text in self.arguments]


@cache
def initialized(kind: type[Layer], sizes: tuple[tuple[str, int], ...], seed: int) -> Layer:
    return kind.init(seed=seed, sizes=dict(sizes))


def axes(text: str) -> dict[str, int]:
    return {name: int(size) for name, size in (word.rstrip("]").split("[") for word in text.split())}


def drawn(random: np.random.Generator, sizes: dict[str, int]) -> nt.NamedTensor:
    return nt.tensor(random.normal(size=tuple(sizes.values())), tuple(sizes))


def given(random: np.random.Generator, sizes: dict[str, int], kind: str) -> nt.NamedTensor:
    if kind == "numbers":
        return drawn(random, sizes)
    if kind == "words":
        return nt.tensor(random.integers(1, 6, tuple(sizes.values())), tuple(sizes))
    words = random.integers(0, sizes["vocab"], tuple(sizes.values())[:-1])
    return nt.tensor(np.eye(sizes["vocab"])[words], tuple(sizes))


CASES = [
    Case(lelarge.Linear, {"ax": 3, "bx": 4}, ("ax[3]",)),
    Case(lelarge.FeedForward, {"ax": 3, "hidden": 5, "bx": 4}, ("ax[3]",)),
    Case(lelarge.FFN, {"chans": 3, "hidden": 5}, ("chans[3]",)),
    Case(lelarge.Attention, {}, ("key[3]", "seq[4] key[3]", "seq[4] val[2]")),
    Case(lelarge.SelfAttention, {"chans": 4, "key": 3}, ("seq[5] chans[4]",)),
    Case(lelarge.Mean, {}, ("ax[3]",)),
    Case(lelarge.Variance, {}, ("ax[3]",)),
    Case(lelarge.Standardize, {}, ("ax[3]",)),
    Case(lelarge.BatchNorm, {"chans": 3}, ("batch[4] chans[3] layer[5]",)),
    Case(lelarge.InstanceNorm, {"chans": 3}, ("batch[4] chans[3] layer[5]",)),
    Case(lelarge.LayerNormOfLayer, {"chans": 3, "layer": 5}, ("batch[4] chans[3] layer[5]",)),
    Case(lelarge.LayerNorm, {"chans": 3}, ("chans[3]",)),
    Case(lelarge.EncoderBlock, {"chans": 4, "key": 3, "hidden": 6}, ("seq[5] chans[4]",)),
    Case(dataflowr.Attention, {"chans": 3, "chans'": 4, "key": 2, "out": 5}, ("chans[3] seq[2]", "chans'[4] memory[6]")),
    Case(dataflowr.SelfAttention, {"chans": 4, "key": 3}, ("chans[4] seq[5]",)),
    Case(dataflowr.MultiHeadAttention, {"chans": 4, "heads": 2, "key": 3, "val": 5}, ("chans[4] seq[5]",)),
    Case(dataflowr.LayerNorm, {"chans": 4}, ("chans[4]",)),
    Case(dataflowr.FFN, {"chans": 4, "hidden": 6}, ("chans[4]",)),
    Case(dataflowr.Block, {"chans": 4, "heads": 2, "key": 3, "val": 5, "hidden": 6}, ("chans[4] seq[5]",)),
    Case(learning_records.PositionalEncoding, {"seq": 5, "chans": 6}, ()),
    Case(learning_records.Embedding, {"vocab": 7, "chans": 6}, ("seq[5]",), "words"),
    Case(learning_records.KeyQueryValueAttention, {"chans": 4}, ("seq[5] chans[4]",)),
    Case(cheat_sheet.LayerNorm, {"chans": 4}, ("chans[4]",)),
    Case(cheat_sheet.Attention, {"chans": 4, "key": 3, "val": 5}, ("seq[5] chans[4]", "seq'[6] chans[4]")),
    Case(cheat_sheet.Block, {"chans": 4, "hidden": 6}, ("seq[5] chans[4]",)),
    Case(cheat_sheet.MultiHeadBlock, {"chans": 4, "heads": 2, "key": 3, "hidden": 6}, ("seq[5] chans[4]",)),
    Case(slides.Attention, {"chans": 4, "key": 3, "val": 5}, ("chans[4]", "memory[6] chans[4]")),
    Case(slides.CrossAttention, {"chans": 4, "key": 3, "val": 5}, ("seq[5] chans[4]", "memory[6] chans[4]")),
    Case(slides.SelfAttention, {"chans": 4}, ("seq[5] chans[4]",)),
    Case(slides.MultiHeadAttention, {"chans": 4, "heads": 2}, ("seq[5] chans[4]",)),
    Case(slides.RNN, {"chans": 3, "hidden": 4}, ("seq[5] chans[3]",)),
    Case(slides.EncoderPredictorDecoder, TRANSLATION, ("memory[4]", "seq[3]"), "words"),
    Case(paper.FullConn, {"layer": 3, "layer'": 4}, ("layer[3]",)),
    Case(paper.FeedForward, {"L": 3, "n_0": 3, "n_1": 4, "n_2": 5, "n_3": 2}, ("layer[3]",)),
    Case(paper.RNN, {"input": 3, "hidden": 4}, ("seq[5] input[3]", "hidden[4]")),
    Case(paper.Attention, {}, ("key[3]", "seq[4] key[3]", "seq[4] val[2]")),
    Case(paper.MaskedAttention, {}, ("key[3]", "seq[4] key[3]", "seq[4] val[2]", "seq[4]")),
    Case(paper.Conv1d, {"chans": 2, "chans'": 3, "kernel": 2}, ("chans[2] seq[6]",)),
    Case(paper.Conv2d, {"chans": 2, "chans'": 3, "kh": 2, "kw": 3}, ("chans[2] height[5] width[6]",)),
    Case(paper.MaxPool1d, {"k": 2}, ("seq[6]",)),
    Case(paper.MaxPool2d, {"kh": 2, "kw": 3}, ("height[4] width[6]",)),
    Case(paper.BatchNorm, {"chans": 3}, ("batch[4] chans[3] layer[5]",)),
    Case(paper.InstanceNorm, {"chans": 3}, ("batch[4] chans[3] layer[5]",)),
    Case(paper.LayerNorm, {"chans": 3, "layer": 5}, ("batch[4] chans[3] layer[5]",)),
    Case(paper.CBOW, {"vocab": 7, "emb": 3, "classes": 4}, ("seq[5] vocab[7]",), "one-hot"),
    Case(paper.Transformer, {"L": 2, "vocab": 7, "layer": 8, "heads": 2, "hidden": 6}, ("seq[5] vocab[7]",), "one-hot"),
    Case(paper.LeNet, LENET, ("batch[2] chans[1] height[12] width[8]",)),
]  # fmt: skip
