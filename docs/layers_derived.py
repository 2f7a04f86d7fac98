"""The layers and losses on the page of derivatives, with the shapes of their inputs."""

from __future__ import annotations

from typing import Any, NamedTuple

import transformer
from namedtensor import derivative, program
from transformer import cheat_sheet, learning_records, lelarge, paper


class Derived(NamedTuple):
    """A layer with the line to differentiate, the axes of its inputs, and its parameters."""

    layer: Any
    value: str
    inputs: dict[str, str]
    parameters: tuple[str, ...] = ()
    without: tuple[str, ...] = ()  # names without a derivative on the page

    @property
    def text(self) -> str:
        return f"{self.layer.notation}\n{self.value}"

    @property
    def shapes(self) -> dict[str, str]:
        return {name: f"ℝ^{{{' × '.join(axes.split())}}}" for name, axes in self.inputs.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the derivatives."""
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
    "EncoderBlock": Derived(lelarge.EncoderBlock, "Z = Y", {"X": "chans seq"}, ("W_1", "b_1", "W_2"), without=("X",)),
    "CBOW": Derived(paper.CBOW, "Y = CBOW(X; E, W)", {"X": "seq vocab", "E": "vocab emb", "W": "classes emb"}),
    "RNN": Derived(paper.RNN, "L = ∑_{hidden} Y^2", {"X": "seq input"}, ("W^h", "W^i", "b")),
}


class WithFacts(NamedTuple):
    """A loss with its assumptions, its program, the variable, and the axes of its inputs."""

    title: str
    facts: str
    program: str
    by: str
    inputs: dict[str, str]

    @property
    def text(self) -> str:
        return "\n".join(filter(None, (self.facts, self.program)))

    @property
    def shapes(self) -> dict[str, str]:
        return {name: f"ℝ^{{{' × '.join(axes.split())}}}" for name, axes in self.inputs.items()}


ATTENTION = "α = softmax_{s}(Q ⊙_{k} K / √|k|)\nA = α ⊙_{s} V\nL = ∑_{t,v} (A − T)^2 / 2"
OF_ATTENTION = {"Q": "t k", "K": "s k", "V": "s v", "T": "t v"}
LOSSES = (
    WithFacts("softmax regression", "∑_{u} T = 1", "P = softmax_{u}(X ⊙_{h} W)\nL = −mean_{n} ∑_{u} T ⊙ log P", "W",
              {"T": "n u", "X": "n h", "W": "h u"}),
    WithFacts("label smoothing", "∑_{u} T = 1", "q = (1 − ε) ⊙ T + ε / |u|\nL = −∑_{u} q ⊙ logsoftmax_{u} z", "z",
              {"T": "u", "z": "u", "ε": ""}),
    WithFacts("distillation", "∑_{u} T = 1", "p = softmax_{u}(z / τ)\nL = ∑_{u} T ⊙ (log T − log p)", "z", {"T": "u", "z": "u", "τ": ""}),
    WithFacts("attention, queries", "", ATTENTION, "Q", OF_ATTENTION),
    WithFacts("attention, keys", "", ATTENTION, "K", OF_ATTENTION),
    WithFacts("cosine similarity of unit vectors", "norm_{a} x = 1\nnorm_{a} y = 1", "L = (x ⊙_{a} y) / (norm_{a} x ⊙ norm_{a} y)", "x",
              {"x": "a", "y": "a"}),
    WithFacts("ridge regression with orthonormal columns", "Q ⊙_{n} Q_{m→k} = I_{m,k}",
              "L = ∑_{n} (y − Q ⊙_{m} w)^2 + λ ∑_{m} w^2", "w", {"Q": "n m", "w": "m", "y": "n", "λ": ""}),
    WithFacts("intercept with centered inputs", "", "C = X − mean_{n} X\nL = ∑_{n} (y − C ⊙_{d} w − b)^2 / 2", "b",
              {"X": "n d", "y": "n", "w": "d", "b": ""}),
    WithFacts("Mahalanobis distance", "S = S_{a→b, b→a}", "V = inv_{a,b} S\nr = x − m\nL = r ⊙_{a} V ⊙_{b} r_{a→b}", "x",
              {"S": "a b", "x": "a", "m": "a"}),
)  # fmt: skip


def with_facts() -> str:
    """Yield each loss with its assumptions, its program and the closed form."""
    parts = []
    for loss in LOSSES:
        asked: Any = derivative(loss.text, loss.by)
        closed = asked.closed_form(**loss.shapes)
        head = f"{loss.title}, with respect to {loss.by}"
        stated = (
            f"given:   {'; '.join(loss.facts.splitlines())}"
            if loss.facts
            else "given:   nothing; the definitions suffice"
        )
        lines = "; ".join(loss.program.splitlines())
        parts.append("\n  ".join([head, stated, f"program: {lines}", str(closed).splitlines()[-1]]))
    return "\n".join(parts)


def shown(name: str) -> str:
    """Return a layer and its derivative with respect to each name, without the lines of the layer."""
    of = LAYERS[name]
    local = set(program(of.text).to_text().splitlines())
    parts = [str(of.layer.notation).strip()]
    for by in of.names:
        asked: Any = derivative(of.text, by)
        text = str(asked.closed_form(**of.shapes))
        lines = [line for line in text.splitlines() if line not in local and not line.startswith(RESTATED)]
        parts.append(f"with respect to {by}:\n" + "\n".join(f"  {line}" for line in lines))
    return "\n\n".join(parts)


RESTATED = ("h^t =",)  # repeats a line of the layer with other brackets
