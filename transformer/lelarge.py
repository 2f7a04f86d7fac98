"""M. Lelarge, *Transformers using Named Tensor Notation*: the layers of the encoder block, exactly as written there."""

from __future__ import annotations

from namedtensor.initializers import glorot_uniform, he_normal
from namedtensor.layers import Layer

SOURCE = "M. Lelarge, Transformers using Named Tensor Notation"


class Linear(Layer):
    """A linear layer: LN_W of the text."""

    citation = f"{SOURCE}, Linear layers"
    output = "LN_W"
    notation = """
        LN_W : ℝ^{ax} → ℝ^{bx}
        LN_W(X) = X ⊙_{ax} W + b
        W ∈ ℝ^{ax × bx}
        b ∈ ℝ^{bx}
    """
    initializers = {"W": glorot_uniform}


class FeedForward(Layer):
    """A feedforward network with one hidden layer, from one axis to another."""

    citation = f"{SOURCE}, Feedforward neural networks"
    output = "FFN"
    notation = """
        FFN : ℝ^{ax} → ℝ^{bx}
        FFN(X) = ReLU(X ⊙_{ax} W_1 + b_1) ⊙_{hidden} W_2 + b_2
        W_1 ∈ ℝ^{ax × hidden}
        b_1 ∈ ℝ^{hidden}
        W_2 ∈ ℝ^{hidden × bx}
        b_2 ∈ ℝ^{bx}
    """
    initializers = {"W_1": he_normal, "W_2": glorot_uniform}


class FFN(Layer):
    """A feedforward network with one hidden layer, from chans to chans.

    Examples
    --------
    >>> import namedtensor as nt
    >>> network = FFN.init(0, {"chans": 2, "hidden": 3})
    >>> network(nt.tensor([1.0, 2.0], "chans")).axes
    ('chans',)
    """

    citation = f"{SOURCE}, Summary"
    notation = """
        FFN : ℝ^{chans} → ℝ^{chans}
        FFN(X) = ReLU(X ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 + b_2
        W_1 ∈ ℝ^{chans × hidden}
        b_1 ∈ ℝ^{hidden}
        W_2 ∈ ℝ^{hidden × chans}
        b_2 ∈ ℝ^{chans}
    """
    initializers = {"W_1": he_normal, "W_2": glorot_uniform}


# --------------------------------------------------------------------------------------------------------- attention
class Attention(Layer):
    """Attention for one query, lifted over extra axes of the query such as seq or heads."""

    citation = f"{SOURCE}, Attention and SelfAttention"
    notation = """
        Attention : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}
        Attention(Q, K, V) = (softmax_{seq} (Q ⊙_{key} K / √|key|)) ⊙_{seq} V
    """


class SelfAttention(Layer):
    """Attention of a sequence to itself; the result has the axis val."""

    citation = f"{SOURCE}, Attention and SelfAttention"
    includes = (Attention,)
    notation = """
        SelfAttention : ℝ^{chans × seq} → ℝ^{val × seq}
        SelfAttention(X) = Attention(LN_Q(X), LN_K(X), LN_V(X))
        LN_Q(X) = X ⊙_{chans} W_Q + b_Q
        LN_K(X) = X ⊙_{chans} W_K + b_K
        LN_V(X) = X ⊙_{chans} W_V + b_V
        W_Q, W_K ∈ ℝ^{chans × key}
        b_Q, b_K ∈ ℝ^{key}
        W_V ∈ ℝ^{chans × val}
        b_V ∈ ℝ^{val}
        |val| = |chans|
    """
    initializers = {"W": glorot_uniform}


# ----------------------------------------------------------------------------------------------------- normalization
class Mean(Layer):
    """The mean over an axis: `Mean().evaluate("mean_{seq}", X)`."""

    citation = f"{SOURCE}, Normalization Layers"
    output = "mean_{ax}"
    notation = """
        mean_{ax} : ℝ^{ax} → ℝ
        mean_{ax}(X) = (1/|ax|) ∑_{ax} X
    """


class Variance(Layer):
    """The variance over an axis, as the paper defines it."""

    citation = f"{SOURCE}, Normalization Layers; Chiang, Rush, Barak, Named Tensor Notation, section 3.3"
    output = "var_{ax}"
    includes = (Mean,)
    notation = """
        var_{ax} : ℝ^{ax} → ℝ
        var_{ax}(X) = (1/|ax|) ∑_{ax} (X − mean_{ax}(X))^2
    """


class Standardize(Layer):
    """Shift and scale to mean 0 and variance 1 over one or several axes."""

    citation = f"{SOURCE}, Normalization Layers"
    output = "standardize_{ax}"
    includes = (Variance,)
    notation = """
        standardize_{ax} : ℝ^{ax} → ℝ^{ax}
        standardize_{ax}(X) = (X − mean_{ax}(X)) / √(var_{ax}(X) + ε)
    """


class BatchNorm(Layer):
    """Standardize over the batch and the layer, then scale and shift each channel."""

    citation = f"{SOURCE}, Normalization Layers"
    notation = """
        BatchNorm : ℝ^{batch × chans × layer} → ℝ^{batch × chans × layer}
        BatchNorm(X; γ, β) = standardize_{batch,layer}(X) ⊙ γ + β
        γ, β ∈ ℝ^{chans}
    """


class InstanceNorm(Layer):
    """Standardize over the layer, then scale and shift each channel."""

    citation = f"{SOURCE}, Normalization Layers"
    notation = """
        InstanceNorm : ℝ^{batch × chans × layer} → ℝ^{batch × chans × layer}
        InstanceNorm(X; γ, β) = standardize_{layer}(X) ⊙ γ + β
        γ, β ∈ ℝ^{chans}
    """


class LayerNormOfLayer(Layer):
    """Standardize over the layer and the channels, then scale and shift each element."""

    citation = f"{SOURCE}, Normalization Layers"
    output = "LayerNorm"
    notation = """
        LayerNorm : ℝ^{batch × chans × layer} → ℝ^{batch × chans × layer}
        LayerNorm(X; γ, β) = standardize_{layer,chans}(X) ⊙ γ + β
        γ, β ∈ ℝ^{chans × layer}
    """


class LayerNorm(Layer):
    """Standardize over the channels, then scale and shift: the form for |layer| = 1."""

    citation = f"{SOURCE}, Normalization Layers"
    notation = """
        LayerNorm : ℝ^{chans} → ℝ^{chans}
        LayerNorm(X) = standardize_{chans}(X) ⊙ γ + β
        γ, β ∈ ℝ^{chans}
    """


# --------------------------------------------------------------------------------------------------------- the block
class EncoderBlock(Layer):
    """The pre-LN block with one head; both norms share the γ and β that the text declares.

    Erratum: the text renames val→ax where X needs val→chans; this version is corrected.

    Examples
    --------
    >>> import namedtensor as nt
    >>> block = EncoderBlock.init(0, {"chans": 2, "key": 2, "val": 2, "hidden": 4})
    >>> sorted(block(nt.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "seq chans")).axes)
    ['chans', 'seq']
    """

    citation = f"{SOURCE}, A simple Transformer block"
    includes = (LayerNorm, SelfAttention, FFN)
    output = "Y"
    inputs = ("X",)
    notation = """
        X ∈ ℝ^{chans × seq}
        X_1 = LayerNorm(X) ∈ ℝ^{chans × seq}
        X_2 = X + SelfAttention(X_1)_{val→chans} ∈ ℝ^{chans × seq}
        Y = X_2 + FFN(LayerNorm(X_2)) ∈ ℝ^{chans × seq}
    """
