"""The layers whose derivatives a page shows: what is differentiated, and the shapes of the inputs."""

from __future__ import annotations

from typing import Any, NamedTuple

import transformer
from namedtensor import derivative, program
from transformer import cheat_sheet, dataflowr, learning_records, lelarge, paper


class Derived(NamedTuple):
    """A layer, the line that is differentiated, the axes of what it takes, and its parameters."""

    layer: Any
    value: str
    inputs: dict[str, str]
    parameters: tuple[str, ...] = ()
    without: tuple[str, ...] = ()  # what no derivative is shown by

    @property
    def text(self) -> str:
        return f"{self.layer.notation}\n{self.value}"

    @property
    def shapes(self) -> dict[str, str]:
        return {name: f"ℝ^{{{' × '.join(axes.split())}}}" for name, axes in self.inputs.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """What derivatives are taken by."""
        return tuple(name for name in (*self.inputs, *self.parameters) if name not in self.without)


LAYERS = {
    "FFN": Derived(transformer.FFN, "Y = FFN(X)", {"X": "chans"}, ("W_1", "b_1", "W_2", "b_2")),
    "LayerNorm": Derived(transformer.LayerNorm, "Y = LayerNorm(X)", {"X": "chans layer"}, ("γ", "β")),
    "Attention": Derived(transformer.Attention, "Y = Attention(Q, K, V)", {"Q": "key", "K": "seq key", "V": "seq val"}),
    "SelfAttention": Derived(
        transformer.SelfAttention, "Y = SelfAttention(X)", {"X": "seq chans"}, ("W_Q", "W_K", "b_K", "W_V", "b_V")
    ),
    "MultiHeadAttention": Derived(
        transformer.MultiHeadAttention, "Z = MultiHeadAttention(X)", {"X": "seq chans"}, ("W_Q", "W_K", "W_V", "W_O")
    ),
    "BatchNorm": Derived(
        paper.BatchNorm, "Y = BatchNorm(X; γ, β)", {"X": "batch chans layer", "γ": "chans", "β": "chans"}
    ),
    "Conv1d": Derived(
        paper.Conv1d,
        "Y = Conv1d(X; W, b)",
        {"X": "chans seq", "W": "chans' chans kernel", "b": "chans'"},
        without=("b",),
    ),
    "InstanceNorm": Derived(
        paper.InstanceNorm, "Y = InstanceNorm(X; γ, β)", {"X": "batch chans layer", "γ": "chans", "β": "chans"}
    ),
    "MaskedAttention": Derived(
        paper.MaskedAttention, "Y = Attention(Q, K, V, M)", {"Q": "key", "K": "seq key", "V": "seq val", "M": "seq"}
    ),
    "CrossAttention": Derived(
        cheat_sheet.Attention, "Y = u", {"X": "seq chans", "X'": "seq' chans"}, ("W_v", "W_q", "W_k")
    ),
    "Block": Derived(cheat_sheet.Block, "Y = z'", {"X": "seq chans"}, ("W_1", "W_2", "γ_2", "β_2"), without=("X",)),
    "FullConn": Derived(paper.FullConn, "Y = FullConn(x)", {"x": "layer"}, ("W", "b")),
    "Conv2d": Derived(
        paper.Conv2d,
        "Y = Conv2d(X; W, b)",
        {"X": "chans height width", "W": "chans' chans kh kw", "b": "chans'"},
        without=("b",),
    ),
    "MaxPool1d": Derived(paper.MaxPool1d, "Y = MaxPool1d_2(X)", {"X": "seq"}),
    "MaxPool2d": Derived(paper.MaxPool2d, "Y = MaxPool2d_{2,2}(X)", {"X": "height width"}),
    "Embedding": Derived(learning_records.Embedding, "Y = x", {"e": "vocab chans[4]", "w": "seq"}, without=("w",)),
    "KeyQueryValueAttention": Derived(
        learning_records.KeyQueryValueAttention, "Y = o", {"h": "seq chans"}, ("W_q", "W_k", "W_v"), without=("h",)
    ),
    "HeadsOfDataflowr": Derived(
        dataflowr.MultiHeadAttention,
        "Z = MultiHeadAttention(X)",
        {"X": "chans seq"},
        ("W_O", "W_V", "W_Q"),
        without=("X",),
    ),
    "EncoderBlock": Derived(lelarge.EncoderBlock, "Z = Y", {"X": "chans seq"}, ("W_1", "b_1", "W_2"), without=("X",)),
    "CBOW": Derived(paper.CBOW, "Y = CBOW(X; E, W)", {"X": "seq vocab", "E": "vocab emb", "W": "classes emb"}),
    "RNN": Derived(paper.RNN, "L = ∑_{hidden} Y^2", {"X": "seq input"}, ("W^h", "W^i", "b")),
}


def shown(name: str) -> str:
    """A layer, and its derivative by each of its names: the lines that are not of the layer itself."""
    of = LAYERS[name]
    local = set(program(of.text).to_text().splitlines())
    parts = [str(of.layer.notation).strip()]
    for by in of.names:
        asked: Any = derivative(of.text, by)
        text = str(asked.closed_form(**of.shapes))
        lines = [line for line in text.splitlines() if line not in local and not line.startswith(RESTATED)]
        parts.append(f"with respect to {by}:\n" + "\n".join(f"  {line}" for line in lines))
    return "\n\n".join(parts)


RESTATED = ("h^t =",)  # what stands above in other brackets
