"""Layers as they are written, and with the two sides of each product exchanged: Q ⊙_{key} K as K ⊙_{key} Q."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import namedtensor as nt
from grammar.nodes import Call
from grammar.parser import parse
from grammar.printer import to_text
from grammar.traversal import map_nodes
from namedtensor.layers import Layer
from transformer import cheat_sheet, dataflowr, lelarge, paper, slides

from .measure import compare

BAR = 1.03  # either order over the other
WIDTH = {"chans": 512, "heads": 8, "key": 64, "val": 64, "hidden": 2048}
TOKENS = "seq[128] chans[512]"
MODEL = {"L": 2, "vocab": 1000, "layer": 512, "heads": 8, "hidden": 2048}
DEEP = {"L": 3, "n_0": 512, "n_1": 512, "n_2": 512, "n_3": 512}
LAYERS: dict[type[Layer], tuple[dict[str, int], tuple[str, ...]]] = {
    paper.FullConn: ({"layer": 512, "layer'": 512}, ("seq[128] layer[512]",)),
    paper.FeedForward: (DEEP, ("seq[128] layer[512]",)),
    paper.RNN: ({"input": 256, "hidden": 256}, ("batch[32] seq[20] input[256]", "batch[32] hidden[256]")),
    paper.Attention: ({}, ("heads[8] seq'[128] key[64]", "heads[8] seq[128] key[64]", "heads[8] seq[128] val[64]")),
    paper.CBOW: ({"vocab": 1000, "emb": 256, "classes": 100}, ("batch[8] seq[32] vocab[1000]",)),
    paper.Conv2d: (
        {"chans": 16, "chans'": 32, "kh": 3, "kw": 3},
        ("batch[8] chans[16] height[32] width[32]",),
    ),
    paper.Transformer: (MODEL, ("seq[128] vocab[1000]",)),
    lelarge.FFN: ({"chans": 512, "hidden": 2048}, (TOKENS,)),
    lelarge.SelfAttention: ({"chans": 512, "key": 64}, (TOKENS,)),
    lelarge.EncoderBlock: ({"chans": 512, "key": 64, "hidden": 2048}, (TOKENS,)),
    dataflowr.MultiHeadAttention: ({name: WIDTH[name] for name in ("chans", "heads", "key", "val")}, (TOKENS,)),
    dataflowr.Block: (WIDTH, (TOKENS,)),
    cheat_sheet.Attention: ({"chans": 512, "key": 64, "val": 64}, (TOKENS, "seq'[128] chans[512]")),
    cheat_sheet.MultiHeadBlock: ({name: WIDTH[name] for name in ("chans", "heads", "key", "hidden")}, (TOKENS,)),
    slides.CrossAttention: ({"chans": 512, "key": 64, "val": 64}, (TOKENS, "memory[128] chans[512]")),
    slides.MultiHeadAttention: ({"chans": 512, "heads": 8}, (TOKENS,)),
}


def exchanged(node: Any) -> Any:
    """A tree in which the sides of each product are exchanged."""
    if isinstance(node, Call) and node.operator == "⊙" and len(node.arguments) == 2:
        left, right = node.arguments
        return replace(node, arguments=(map_nodes(right, exchanged), map_nodes(left, exchanged)))
    return None


def in_other_order(kind: type[Layer]) -> type[Layer]:
    """The same layer with each product in the other order."""
    notation = to_text(map_nodes(parse(kind.notation, "text"), exchanged))
    return type(kind.__name__, (kind,), {"notation": notation, "includes": (), "__module__": __name__})


def drawn(generator: np.random.Generator, axes: str) -> nt.NamedTensor:
    sizes = {name: int(size[:-1]) for name, size in (word.split("[") for word in axes.split())}
    if "vocab" in sizes:  # words, one-hot
        *before, words = sizes.values()
        return nt.tensor(np.eye(words, dtype=np.float32)[generator.integers(words, size=before)], tuple(sizes))
    return nt.tensor(generator.standard_normal(tuple(sizes.values()), np.float32), tuple(sizes))


def rows(rounds: int = 40) -> list[dict]:
    """Each layer, the time of its other order over that as it is written."""
    result = []
    for kind, (sizes, arguments) in LAYERS.items():
        generator = np.random.default_rng(0)
        layer = kind.init(0, sizes, "float32")
        other = in_other_order(kind).init(0, sizes, "float32").replace(layer.parameters)
        given = [drawn(generator, axes) for axes in arguments]
        assert nt.allclose(layer(*given), other(*given), rtol=1e-3, atol=1e-4)
        ratio = compare(lambda: other(*given), lambda: layer(*given), rounds, 1)[0]  # noqa: B023
        name = f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"
        result.append(
            {"figure": f"order: {name}, products exchanged", "value": ratio, "unit": "× as it is written", "bar": BAR}
        )
    return result


if __name__ == "__main__":
    for row in rows():
        print(f"{row['figure']:<70} {row['value']:6.3f} {row['unit']}")
