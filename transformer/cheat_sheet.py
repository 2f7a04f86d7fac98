"""C. Singh, *Self-attention cheat-sheet*: the post-LN block, with one head and with H of them.

The rows of X are the text's x_i. The axis chans is its d, key and val are its d'; seq counts i, and seq' counts j.
"""

from __future__ import annotations

from namedtensor.initializers import glorot_uniform, he_normal
from namedtensor.layers import Layer

SOURCE = "C. Singh, Self-attention cheat-sheet"


class LayerNorm(Layer):
    """Centered and divided by the standard deviation, then scaled and shifted. Like the text, it has no ε."""

    citation = SOURCE
    notation = """
        LayerNorm : ℝ^{chans} → ℝ^{chans}
        LayerNorm(z; γ, β) = γ (z − mean_{chans} z) / std_{chans} z + β
        γ, β ∈ ℝ^{chans}
    """


class Attention(Layer):
    """Ordinary attention: the keys and values are of another input X' than the queries."""

    citation = f"{SOURCE}: in ordinary attention, keys/queries take different inputs"
    output = "u"
    inputs = ("X", "X'")
    notation = """
        v(x) = W_v ⊙_{chans} x
        q(x) = W_q ⊙_{chans} x
        k(x) = W_k ⊙_{chans} x
        α = softmax_{seq'}(q(X) ⊙_{key} k(X') / √|key|)
        u = ∑_{seq'} α ⊙ v(X')
        X ∈ ℝ^{seq × chans}
        X' ∈ ℝ^{seq' × chans}
        W_v ∈ ℝ^{chans × val}
        W_q, W_k ∈ ℝ^{chans × key}
    """
    initializers = {"W": glorot_uniform}


class Block(Layer):
    """The block with one head: α, u, u', z and z'.

    X + u requires d' = d.
    """

    citation = SOURCE
    output = "z'"
    inputs = ("X",)
    notation = """
        v(x) = W_v ⊙_{chans} x
        q(x) = W_q ⊙_{chans} x
        k(x) = W_k ⊙_{chans} x
        α = softmax_{seq'}(q(X) ⊙_{key} k(X_{seq→seq'}) / √|key|)
        u = ∑_{seq'} α ⊙ v(X_{seq→seq'})
        u' = LayerNorm(X + u_{val→chans}; γ_1, β_1)
        z = W_2 ⊙_{hidden} ReLU(W_1 ⊙_{chans} u')
        z' = LayerNorm(u' + z; γ_2, β_2)
        LayerNorm(z; γ, β) = γ (z − mean_{chans} z) / std_{chans} z + β
        X ∈ ℝ^{seq × chans}
        W_v ∈ ℝ^{chans × val}
        W_q, W_k ∈ ℝ^{chans × key}
        |key| = |val| = |chans|
        W_1 ∈ ℝ^{chans × hidden}
        W_2 ∈ ℝ^{hidden × chans}
        γ_1, β_1, γ_2, β_2 ∈ ℝ^{chans}
    """
    initializers = {"W": glorot_uniform, "W_1": he_normal}


class MultiHeadBlock(Layer):
    """The block with H heads; W_c takes each back to the channels."""

    citation = f"{SOURCE}, multi-headed attention with H heads"
    output = "z'"
    inputs = ("X",)
    notation = """
        v(x) = W_v ⊙_{chans} x
        q(x) = W_q ⊙_{chans} x
        k(x) = W_k ⊙_{chans} x
        α = softmax_{seq'}(q(X) ⊙_{key} k(X_{seq→seq'}) / √|key|)
        u = W_c ⊙_{heads, val} ∑_{seq'} α ⊙ v(X_{seq→seq'})
        u' = LayerNorm(X + u; γ_1, β_1)
        z = W_2 ⊙_{hidden} ReLU(W_1 ⊙_{chans} u')
        z' = LayerNorm(u' + z; γ_2, β_2)
        LayerNorm(z; γ, β) = γ (z − mean_{chans} z) / std_{chans} z + β
        X ∈ ℝ^{seq × chans}
        W_v ∈ ℝ^{heads × chans × val}
        W_q, W_k ∈ ℝ^{heads × chans × key}
        |key| = |val|
        W_c ∈ ℝ^{heads × val × chans}
        W_1 ∈ ℝ^{chans × hidden}
        W_2 ∈ ℝ^{hidden × chans}
        γ_1, β_1, γ_2, β_2 ∈ ℝ^{chans}
    """
    initializers = {"W": glorot_uniform, "W_1": he_normal}
