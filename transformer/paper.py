"""D. Chiang, A. M. Rush, B. Barak, *Named Tensor Notation*: the networks of sections 4 and A, as in the paper."""

from __future__ import annotations

from namedtensor.initializers import Normal, glorot_uniform, he_normal
from namedtensor.layers import Layer

SOURCE = "Chiang, Rush, Barak, Named Tensor Notation (TMLR 2023)"


class FullConn(Layer):
    """One fully connected layer."""

    citation = f"{SOURCE}, section 4.1"
    notation = """
        FullConn : ℝ^{layer} → ℝ^{layer}
        FullConn(x) = σ(W ⊙_{layer} x + b)_{layer'→layer}
        W ∈ ℝ^{layer' × layer}
        b ∈ ℝ^{layer'}
    """
    initializers = {"W": glorot_uniform}


class FeedForward(Layer):
    """L fully connected layers of sizes n_0, n_1, …, n_L."""

    citation = f"{SOURCE}, section 4.1"
    output = "Y"
    inputs = ("X^0",)
    notation = """
        Y = X^L
        X^0 ∈ ℝ^{layer[n_0]}
        X^l = FullConn^l(X^{l-1}) for l = 1, …, L
        FullConn^l(x) = σ(W^l ⊙_{layer} x + b^l)_{layer'→layer}
        W^l ∈ ℝ^{layer'[n_l] × layer[n_{l-1}]}
        b^l ∈ ℝ^{layer'[n_l]}
    """
    initializers = {"W": glorot_uniform}


class RNN(Layer):
    """A simple recurrent network (Elman); its value is the last state, and `rnn.evaluate("h^2", X, h)` the second.

    The paper declares inputs x^1, …, x^n; here they are the places of one tensor X.
    """

    citation = f"{SOURCE}, section 4.2"
    output = "Y"
    inputs = ("X", "h^0")
    notation = """
        Y = h^n
        n = |seq|
        X ∈ ℝ^{seq × input}
        x^t = X_{seq(t)} for t = 1, …, n
        W^h ∈ ℝ^{hidden × hidden'}
        |hidden| = |hidden'|
        W^i ∈ ℝ^{input × hidden'}
        b ∈ ℝ^{hidden'}
        h^0 ∈ ℝ^{hidden}
        h^t = σ(W^h ⊙_{hidden} h^{t-1} + W^i ⊙_{input} x^t + b)_{hidden'→hidden} for t = 1, …, n
    """
    default_sizes = {"seq": 1}
    initializers = {"W": glorot_uniform}


# --------------------------------------------------------------------------------------------------------- attention
class Attention(Layer):
    """Attention for one query, lifted over extra axes of the query such as seq' or heads."""

    citation = f"{SOURCE}, section 4.3"
    notation = """
        Attention : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}
        Attention(Q, K, V) = (softmax_{seq} (Q ⊙_{key} K / √|key|)) ⊙_{seq} V
    """


class MaskedAttention(Layer):
    """Attention with a mask M that is added to the scores: −∞ hides a key."""

    citation = f"{SOURCE}, section 4.3"
    output = "Attention"
    notation = """
        Attention : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} × ℝ^{seq} → ℝ^{val}
        Attention(Q, K, V, M) = (softmax_{seq} (Q ⊙_{key} K / √|key| + M)) ⊙_{seq} V
    """


# ------------------------------------------------------------------------------------------------------- convolution
class Conv1d(Layer):
    """A convolution over a sequence, with windows of |kernel| positions."""

    citation = f"{SOURCE}, section 4.4"
    notation = """
        Conv1d : ℝ^{chans × seq[n]} → ℝ^{chans' × seq[n']}
        Conv1d(X; W, b) = W ⊙_{chans, kernel} unroll_{seq,kernel} X + b
        W ∈ ℝ^{chans' × chans × kernel}
        b ∈ ℝ^{chans'}
    """
    initializers = {"W": he_normal}


class Conv2d(Layer):
    """A convolution over an image, with windows of |kh| × |kw| pixels."""

    citation = f"{SOURCE}, section 4.4"
    notation = """
        Conv2d : ℝ^{chans × height[h] × width[w]} → ℝ^{chans' × height[h'] × width[w']}
        Conv2d(X; W, b) = W ⊙_{chans, kh, kw} unroll_{height,kh} unroll_{width,kw} X + b
        W ∈ ℝ^{chans' × chans × kh × kw}
        b ∈ ℝ^{chans'}
    """
    initializers = {"W": he_normal}


class MaxPool1d(Layer):
    """The maximum of each window of k positions: `MaxPool1d(sizes={"k": 2})`."""

    citation = f"{SOURCE}, section 4.5"
    output = "MaxPool1d_k"
    notation = """
        MaxPool1d_k : ℝ^{seq[n]} → ℝ^{seq[n/k]}
        MaxPool1d_k(X) = max_{kernel} pool_{seq,kernel} X
        |kernel| = k
    """


class MaxPool2d(Layer):
    """The maximum of each window of kh × kw pixels: `MaxPool2d(sizes={"kh": 2, "kw": 2})`."""

    citation = f"{SOURCE}, section 4.5"
    output = "MaxPool2d_{kh,kw}"
    notation = """
        MaxPool2d_{kh,kw} : ℝ^{height[h] × width[w]} → ℝ^{height[h/kh] × width[w/kw]}
        MaxPool2d_{kh,kw}(X) = max_{kh,kw} pool_{height,kh} pool_{width,kw} X
        |kh| = kh
        |kw| = kw
    """


# ----------------------------------------------------------------------------------------------------- normalization
class BatchNorm(Layer):
    """Standardize over the batch and the layer, then scale and shift each channel."""

    citation = f"{SOURCE}, section 4.6"
    notation = """
        BatchNorm : ℝ^{batch × chans × layer} → ℝ^{batch × chans × layer}
        BatchNorm(X; γ, β) = standardize_{batch,layer}(X) ⊙ γ + β
        γ, β ∈ ℝ^{chans}
    """


class InstanceNorm(Layer):
    """Standardize over the layer, then scale and shift each channel."""

    citation = f"{SOURCE}, section 4.6"
    notation = """
        InstanceNorm : ℝ^{batch × chans × layer} → ℝ^{batch × chans × layer}
        InstanceNorm(X; γ, β) = standardize_{layer}(X) ⊙ γ + β
        γ, β ∈ ℝ^{chans}
    """


class LayerNorm(Layer):
    """Standardize over the layer and the channels, then scale and shift each element."""

    citation = f"{SOURCE}, section 4.6"
    notation = """
        LayerNorm : ℝ^{batch × chans × layer} → ℝ^{batch × chans × layer}
        LayerNorm(X; γ, β) = standardize_{layer,chans}(X) ⊙ γ + β
        γ, β ∈ ℝ^{chans, layer}
    """


class CBOW(Layer):
    """A continuous bag of words: sums the embeddings of the words, and classifies the sum."""

    citation = f"{SOURCE}, a section kept in its LaTeX source"
    notation = """
        CBOW : {0,1}^{seq × vocab} → ℝ^{classes}
        CBOW(X; E, W) = softmax_{classes}(∑_{seq} W ⊙_{emb} E ⊙_{vocab} X)
        E ∈ ℝ^{vocab × emb}
        W ∈ ℝ^{classes × emb}
    """
    initializers = {"E": Normal("1"), "W": glorot_uniform}


# ------------------------------------------------------------------------------------------------------ whole models
class Transformer(Layer):
    """The autoregressive transformer of appendix A.1, with L layers: from one-hot words to probabilities.

    Erratum: the paper declares b^{l,2} ∈ ℝ^{hidden} where the equation needs layer; this version is corrected.
    """

    citation = f"{SOURCE}, appendix A.1"
    file = "paper_transformer.nt"
    output = "O"
    inputs = ("I",)
    default_sizes = {"seq": 1}
    initializers = {"W": glorot_uniform, "E": Normal("√(1 / layer)"), "W^1": he_normal}


class LeNet(Layer):
    """LeNet: two convolutions, each with pooling by ph^l, and two linear layers; `sizes` has the sizes of the images.

    init(sizes={"c_0": 1, "c_1": 6, "c_2": 16, "kh_1": 5, "kw_1": 5, "kh_2": 5, "kw_2": 5, "ph^1": 2, "ph^2": 2,
    "height": 28, "width": 28, "hidden": 120, "classes": 10})
    """

    citation = f"{SOURCE}, appendix A.2"
    file = "lenet.nt"
    output = "O"
    inputs = ("X^0",)
    initializers = {"W": he_normal, "W^4": glorot_uniform}
