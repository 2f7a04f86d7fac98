"""dataflowr, Module 12: attention of inputs to a database of samples, self-attention, several heads, and the block.

The axis chans is the text's d (d_in where inputs and samples differ), key is k, seq is T or s, memory is t.
"""

from __future__ import annotations

from namedtensor.initializers import glorot_uniform, he_normal
from namedtensor.layers import Layer

SOURCE = "dataflowr, Deep Learning Do It Yourself, Module 12"


class Attention(Layer):
    """Attention of inputs X to a database of samples X', which have a separate feature space."""

    citation = f"{SOURCE}, attention layer"
    output = "Y"
    inputs = ("X", "X'")
    notation = """
        Y = softmax_{memory}(Q ⊙_{key} K / √|key|) ⊙_{memory} V
        Q = W_Q ⊙_{chans} X
        K = W_K ⊙_{chans'} X'
        V = W_V ⊙_{chans'} X'
        X ∈ ℝ^{chans × seq}
        X' ∈ ℝ^{chans' × memory}
        W_Q ∈ ℝ^{key × chans}
        W_K ∈ ℝ^{key × chans'}
        W_V ∈ ℝ^{out × chans'}
    """
    initializers = {"W": glorot_uniform}


class SelfAttention(Layer):
    """Attention of a sequence to itself: Y_s = ∑_t softmax_t(X_sᵀ W_Qᵀ W_K X_t / √k) W_V X_t."""

    citation = f"{SOURCE}, self-attention layer"
    notation = """
        SelfAttention : ℝ^{chans × seq} → ℝ^{chans × seq}
        SelfAttention(X) = Y_{chans'→chans}
        Y = softmax_{seq'}((W_Q ⊙_{chans} X) ⊙_{key} (W_K ⊙_{chans} X_{seq→seq'}) / √|key|) ⊙_{seq'} V
        V = W_V ⊙_{chans} X_{seq→seq'}
        W_Q, W_K ∈ ℝ^{key × chans}
        W_V ∈ ℝ^{chans' × chans}
        |chans'| = |chans|
    """
    initializers = {"W": glorot_uniform}


class MultiHeadAttention(Layer):
    """Attention with several heads, which are concatenated and mapped linearly."""

    citation = f"{SOURCE}, multi-head attention"
    notation = """
        MultiHeadAttention : ℝ^{chans × seq} → ℝ^{chans × seq}
        MultiHeadAttention(X) = W_O ⊙_{concat} Y_{(heads,val)→concat}
        Y = softmax_{seq'}((W_Q ⊙_{chans} X) ⊙_{key} (W_K ⊙_{chans} X_{seq→seq'}) / √|key|) ⊙_{seq'} V
        V = W_V ⊙_{chans} X_{seq→seq'}
        W_Q, W_K ∈ ℝ^{heads × key × chans}
        W_V ∈ ℝ^{heads × val × chans}
        W_O ∈ ℝ^{chans × concat}
        |concat| = |heads| · |val|
    """
    initializers = {"W": glorot_uniform}


class LayerNorm(Layer):
    """Centered and divided by the standard deviation, then scaled and shifted. Like the text, it has no ε."""

    citation = f"{SOURCE}, Layer Norm"
    output = "LN"
    notation = """
        LN : ℝ^{chans} → ℝ^{chans}
        LN(x) = γ · (x − mean_{chans}(x)) / std_{chans}(x) + β
        γ, β ∈ ℝ^{chans}
    """


class FFN(Layer):
    """A perceptron with one hidden layer, on each vector separately."""

    citation = f"{SOURCE}, Feed Forward Network"
    notation = """
        FFN : ℝ^{chans} → ℝ^{chans}
        FFN(x) = max(0, x ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 + b_2
        W_1 ∈ ℝ^{chans × hidden}
        b_1 ∈ ℝ^{hidden}
        W_2 ∈ ℝ^{hidden × chans}
        b_2 ∈ ℝ^{chans}
    """
    initializers = {"W_1": he_normal, "W_2": glorot_uniform}


class Block(Layer):
    """The transformer block, equivariant: inputs in another order give the outputs in that order.

    The text shows it as a figure and gives its layers. The connections follow *Attention Is All You Need*:
    each layer is added to its input, and the sum is normed.
    """

    citation = f"{SOURCE}, transformer block"
    includes = (MultiHeadAttention, FFN)
    output = "Block"
    notation = """
        Block : ℝ^{chans × seq} → ℝ^{chans × seq}
        Block(X) = LN(T + FFN(T); γ_2, β_2)
        T = LN(X + MultiHeadAttention(X); γ_1, β_1)
        LN(x; γ, β) = γ · (x − mean_{chans}(x)) / std_{chans}(x) + β
        γ_1, β_1, γ_2, β_2 ∈ ℝ^{chans}
    """
