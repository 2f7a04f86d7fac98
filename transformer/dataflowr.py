"""The networks of dataflowr, Module 12: attention to samples, self-attention, multi-head attention and the block.

The axis chans corresponds to the source's index d, or d_in if inputs and samples differ. The axis key corresponds to k,
seq to T or s, and memory to t.
"""

from __future__ import annotations

from namedtensor.initializers import glorot_uniform, he_normal
from namedtensor.layers import Layer

SOURCE = "dataflowr, Deep Learning Do It Yourself, Module 12"


class Attention(Layer):
    """Attention of inputs X to a database of samples X'. X and X' have different feature axes."""

    citation = f"{SOURCE}, attention layer"
    output = "Y"
    inputs = ("X", "X'")
    file = "dataflowr.nt"
    initializers = {"W": glorot_uniform}


class SelfAttention(Layer):
    """Attention of a sequence to itself: Y_s = ∑_t softmax_t(X_sᵀ W_Qᵀ W_K X_t / √k) W_V X_t."""

    citation = f"{SOURCE}, self-attention layer"
    file = "dataflowr.nt"
    initializers = {"W": glorot_uniform}


class MultiHeadAttention(Layer):
    """Attention with several heads, whose results are concatenated and mapped linearly."""

    citation = f"{SOURCE}, multi-head attention"
    file = "dataflowr.nt"
    initializers = {"W": glorot_uniform}


class LayerNorm(Layer):
    """Layer norm without ε, which centers its input, divides it by the standard deviation, scales it and shifts it."""

    citation = f"{SOURCE}, Layer Norm"
    output = "LN"
    file = "dataflowr.nt"


class FFN(Layer):
    """A perceptron with one hidden layer, applied to each vector separately."""

    citation = f"{SOURCE}, Feed Forward Network"
    file = "dataflowr.nt"
    initializers = {"W_1": he_normal, "W_2": glorot_uniform}


class Block(Layer):
    """The transformer block, which is equivariant: if its inputs are reordered, its outputs are reordered the same way.

    The source shows the block in a figure and defines the layers. The connections follow *Attention Is All You Need*:
    each layer's output is added to its input, and the sum is normalized.
    """

    citation = f"{SOURCE}, transformer block"
    includes = (MultiHeadAttention, FFN)
    output = "Block"
    file = "dataflowr.nt"
