"""M. Lelarge, *Transformers using Named Tensor Notation*: the layers of the encoder block, exactly as written there."""

from __future__ import annotations

from namedtensor.initial import GLOROT, HE

from .layer import Layer

SOURCE = "M. Lelarge, Transformers using Named Tensor Notation"


class Linear(Layer):
    """A linear layer: LN_W of the text."""

    source = f"{SOURCE}, Linear layers"
    value = "LN_W"
    notation = """
        LN_W : ℝ^{ax} → ℝ^{bx}
        LN_W(X) = X ⊙_{ax} W + b
        W ∈ ℝ^{ax × bx}
        b ∈ ℝ^{bx}
    """
    schemes = {"W": GLOROT}


class FFN(Layer):
    """A feedforward neural network with one hidden axis."""

    source = f"{SOURCE}, Summary"
    notation = """
        FFN : ℝ^{chans} → ℝ^{chans}
        FFN(X) = ReLU(X ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 + b_2
        W_1 ∈ ℝ^{chans × hidden}
        b_1 ∈ ℝ^{hidden}
        W_2 ∈ ℝ^{hidden × chans}
        b_2 ∈ ℝ^{chans}
    """
    schemes = {"W_1": HE, "W_2": GLOROT}


class LayerNorm(Layer):
    """Standardized over the channels, then scaled and shifted."""

    source = f"{SOURCE}, Normalization Layers"
    notation = """
        LayerNorm : ℝ^{chans} → ℝ^{chans}
        LayerNorm(X) = standardize_{chans}(X) ⊙ γ + β
        γ, β ∈ ℝ^{chans}
    """


class SelfAttention(Layer):
    """Attention of a sequence to itself; the result is on val."""

    source = f"{SOURCE}, Attention and SelfAttention"
    notation = """
        Attention : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}
        Attention(Q, K, V) = (softmax_{seq} (Q ⊙_{key} K / √|key|)) ⊙_{seq} V

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
    schemes = {"W": GLOROT}
