"""The gallery: formulas of the paper, and of texts that teach transformers with it, each with inputs of small sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .replies import Reply
from .requests import Request
from .site import SITE

PAPER = "Named Tensor Notation"
LELARGE = "Lelarge, Transformers using Named Tensor Notation"


class PageExample(NamedTuple):
    """One formula; `values` are those that are worth a look, `labels` words on the positions of an axis,
    `record` the index that is looked at first."""

    name: str
    title: str
    source: str
    text: str
    inputs: Mapping[str, str | int] = {}
    values: Mapping[str, Any] = {}
    labels: Mapping[str, Sequence[str]] = {}
    record: Mapping[str, int] = {}


WORDS = ["a", "fluffy", "blue", "creature"]
MATRIX = {"A": "ℝ^{height[3] × width[3]}"}
NUMBERS = {"A": [[3, 1, 4], [1, 5, 9], [2, 6, 5]]}

SENTENCE = "the cat slept because it was tired".split()  # its features are made by hand: who, does what, how, other
QUERIES = [
    [2.4, 0, 0.5, 0], [0.5, 2.6, 0.8, 0], [2.2, 0, 1.5, 0], [0, 1.8, 1.8, 0], [2.8, 0, 0.4, 0], [0.8, 0, 2.2, 0], [2.4, 0.3, 0, 0.2]
]  # fmt: skip
KEYS = [
    [0.2, 0, 0, 1], [2.5, 0.3, 0.2, 0], [0, 2.5, 0.5, 0], [0, 0, 0, 1.5], [1.2, 0, 0, 0.2], [0, 1, 0.2, 0.5], [0, 0.4, 2.5, 0]
]  # fmt: skip
FLOWERS = [
    [1.4, 0.2],
    [1.4, 0.2],
    [1.3, 0.2],
    [4.7, 1.4],
    [4.5, 1.5],
    [4.5, 1.3],
    [6.0, 2.5],
    [5.1, 1.9],
    [5.9, 2.1],
]  # Iris
SPECIES = [f"{name} {number}" for name in ("setosa", "versicolor", "virginica") for number in (1, 2, 3)]
LETTER = ["........", ".######.", "...##...", "...##...", "...##...", "...##...", "...##...", "........"]
PICTURE = [[int(name == "#") for name in row] for row in LETTER]

EXAMPLES = (
    PageExample(
        "sentence", "attention between the words of a sentence", f"{PAPER}, §4.3", "softmax_{seq}(Q ⊙_{key} K / √|key|)",
        {"Q": "ℝ^{seq'[7] × key[4]}", "K": "ℝ^{seq[7] × key[4]}"}, {"Q": QUERIES, "K": KEYS},
        {"seq'": SENTENCE, "seq": SENTENCE, "key": ["who", "does", "how", "other"]}, {"seq'": 5},
    ),
    PageExample(
        "attention", "attention of one query", f"{PAPER}, §4.3", "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V",
        {"Q": "ℝ^{key[3]}", "K": "ℝ^{seq[4] × key[3]}", "V": "ℝ^{seq[4] × val[2]}"}, {}, {"seq": WORDS},
    ),
    PageExample("sum", "a sum over one axis", f"{PAPER}, §3.3", "∑_{height} A", MATRIX, NUMBERS),
    PageExample("broadcasting", "a row added to a matrix, by name", f"{PAPER}, §3.2", "A + y", {**MATRIX, "y": "ℝ^{width[3]}"},
            {**NUMBERS, "y": [1, 4, 1]}),
    PageExample("contraction", "a contraction: multiply, then sum", f"{PAPER}, §3.4", "A ⊙_{width} y", {**MATRIX, "y": "ℝ^{width[3]}"},
            {**NUMBERS, "y": [1, 4, 1]}),
    PageExample("outer", "an outer product", f"{PAPER}, §3.4", "x ⊙ y", {"x": "ℝ^{height[3]}", "y": "ℝ^{width[4]}"}),
    PageExample("softmax", "softmax, by its definition", f"{PAPER}, §3.5", "exp A / ∑_{height} exp A", MATRIX, NUMBERS),
    PageExample("renaming", "all products of rows with rows", f"{PAPER}, §3.6", "A ⊙_{width} A_{height→height'}", MATRIX, NUMBERS),
    PageExample("reshaping", "two axes become one", f"{PAPER}, §3.6", "A_{(height, width)→layer}", MATRIX, NUMBERS),
    PageExample("indexing", "the embeddings of a sequence of words", f"{PAPER}, §3.7", "I ∈ [5]^{seq}\nE_{vocab(I)}",
            {"E": "ℝ^{vocab[5] × emb[3]}", "I": "ℝ^{seq[4]}"}, {"I": [3, 1, 5, 2]}, {"seq": WORDS}),
    PageExample(
        "layer", "a layer of a network", f"{PAPER}, §4.1", "σ(W ⊙_{input} X + b)",
        {"W": "ℝ^{hidden[3] × input[2]}", "X": "ℝ^{batch[4] × input[2]}", "b": "ℝ^{hidden[3]}"},
    ),
    PageExample(
        "recurrence", "a recurrent network", f"{PAPER}, §4.2",
        "x^t ∈ ℝ^{input} for t = 1, …, n\nW ∈ ℝ^{hidden × hidden'}\n|hidden| = |hidden'|\nU ∈ ℝ^{input × hidden'}\nb ∈ ℝ^{hidden'}\n"
        "h^0 ∈ ℝ^{hidden}\nh^t = σ(W ⊙_{hidden} h^{t-1} + U ⊙_{input} x^t + b)_{hidden'→hidden} for t = 1, …, n\nh^n",
        {"n": 3},
    ),
    PageExample(
        "masked", "causal self-attention", f"{PAPER}, §4.3",
        "S = Q ⊙_{key} K / √|key|\nM = { 0 if iota_{seq} ≤ iota_{seq'}; −∞ otherwise }\nsoftmax_{seq}(S + M) ⊙_{seq} V",
        {"Q": "ℝ^{seq'[4] × key[3]}", "K": "ℝ^{seq[4] × key[3]}", "V": "ℝ^{seq[4] × val[2]}"}, {}, {"seq": WORDS, "seq'": WORDS},
    ),
    PageExample(
        "heads", "self-attention with several heads", f"{PAPER}, appendix A.1",
        "Q = W^Q ⊙_{layer} X_{seq→seq'}\nK = W^K ⊙_{layer} X\nV = W^V ⊙_{layer} X\n"
        "W^Q, W^K ∈ ℝ^{heads × layer × key}\nW^V ∈ ℝ^{heads × layer × val}\nW^O ∈ ℝ^{heads × val × layer'}\n"
        "Y = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V\nY ⊙_{heads, val} W^O",
        {"X": "ℝ^{seq[4] × layer[3]}", "W^Q": "ℝ^{heads[2] × layer[3] × key[2]}", "W^K": "ℝ^{heads[2] × layer[3] × key[2]}",
         "W^V": "ℝ^{heads[2] × layer[3] × val[2]}", "W^O": "ℝ^{heads[2] × val[2] × layer'[3]}"}, {}, {"seq": WORDS, "seq'": WORDS},
    ),
    PageExample("convolution", "a convolution in one dimension", f"{PAPER}, §4.4", "W ⊙_{kernel} unroll_{seq, kernel} X",
            {"X": "ℝ^{seq[7]}", "W": "ℝ^{kernel[3]}"}, {"W": [-1, 0, 1]}),
    PageExample("pooling", "max pooling", f"{PAPER}, §4.5", "|kernel| = 2\nmax_{kernel} pool_{seq, kernel} X", {"X": "ℝ^{seq[6]}"}),
    PageExample(
        "layernorm", "layer normalization", f"{PAPER}, §4.6", "standardize_{layer} X ⊙ γ + β",
        {"X": "ℝ^{seq[3] × layer[4]}", "γ": "ℝ^{layer[4]}", "β": "ℝ^{layer[4]}"}, {"γ": [1, 1, 1, 1], "β": [0, 0, 0, 0]},
    ),
    PageExample("jacobian", "the derivative of softmax", f"{PAPER}, §5.1", "∂(softmax_{ax} X)/∂X*", {"X": "ℝ^{ax[4]}"}, {"X": [0.5, 2, 1, -1]}),
    PageExample(
        "kmeans", "the nearest center of each flower", "k-means clustering", "argmin_{cluster} norm_{feature}(X − C)",
        {"X": "ℝ^{flower[9] × feature[2]}", "C": "ℝ^{cluster[3] × feature[2]}"}, {"X": FLOWERS, "C": [[1.4, 0.2], [4.3, 1.3], [5.6, 2.1]]},
        {"flower": SPECIES, "feature": ["petal length", "petal width"]},
    ),
    PageExample(
        "edges", "an image filter that finds edges", f"{PAPER}, §4.4", "C ⊙_{kh, kw} unroll_{width, kw} unroll_{height, kh} I",
        {"I": "ℝ^{height[8] × width[8]}", "C": "ℝ^{kh[3] × kw[3]}"}, {"I": PICTURE, "C": [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]},
    ),
    PageExample(
        "block", "a block of a transformer", LELARGE,
        "LN(X) = standardize_{chans} X ⊙ γ + β\nγ, β ∈ ℝ^{chans}\n"
        "Att(X) = softmax_{seq}(X_{seq→seq'} ⊙_{chans} X / √|chans|) ⊙_{seq} X\n"
        "FFN(X) = W ⊙_{hidden} relu(U ⊙_{chans} X)\nU ∈ ℝ^{hidden × chans}\nW ∈ ℝ^{hidden × chans}\n"
        "Y = X + Att(LN(X))_{seq'→seq}\nY + FFN(LN(Y))",
        {"X": "ℝ^{seq[4] × chans[3]}", "U": "ℝ^{hidden[5] × chans[3]}", "W": "ℝ^{hidden[5] × chans[3]}", "γ": "ℝ^{chans[3]}",
         "β": "ℝ^{chans[3]}"}, {"γ": [1, 1, 1], "β": [0, 0, 0]}, {"seq": WORDS},
    ),
    PageExample(
        "covariance", "a covariance matrix", "a use of renaming",
        "D = X − mean_{n} X\nD ⊙_{n} D_{feature→feature'} / |n|", {"X": "ℝ^{n[6] × feature[3]}"},
    ),
    PageExample(
        "gradient", "the gradient of least squares", f"{PAPER}, §5.2", "∂(∑_{n} (X ⊙_{feature} w − y)^2 / 2)/∂w*",
        {"X": "ℝ^{n[5] × feature[2]}", "w": "ℝ^{feature[2]}", "y": "ℝ^{n[5]}"},
    ),
)  # fmt: skip


def examples(request: Request) -> Reply:
    """The answer to `examples`."""
    return {"examples": [example._asdict() for example in EXAMPLES], "site": SITE}
