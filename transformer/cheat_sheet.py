"""The transformer block of *Self-attention cheat-sheet* by C. Singh: post-LN, with one head or with H heads.

The rows of X are the source's x_i. The size of chans is d, and the size of key and val is d'. The axis seq corresponds
to the index i, and seq' to the index j.
"""

from __future__ import annotations

from namedtensor.initializers import glorot_uniform, he_normal
from namedtensor.layers import Layer

SOURCE = "C. Singh, Self-attention cheat-sheet"


class LayerNorm(Layer):
    """Layer norm without ε, which centers its input, divides it by the standard deviation, scales it and shifts it."""

    citation = SOURCE
    file = "cheat_sheet.nt"


class Attention(Layer):
    """Ordinary attention. The queries are computed from X, and the keys and values from another input X'."""

    citation = f"{SOURCE}: in ordinary attention, keys/queries take different inputs"
    output = "u"
    inputs = ("X", "X'")
    file = "cheat_sheet.nt"
    initializers = {"W": glorot_uniform}


class Block(Layer):
    """The block with one head, which computes the values α, u, u', z and z'.

    The sum X + u requires d' = d.
    """

    citation = SOURCE
    output = "z'"
    inputs = ("X",)
    file = "cheat_sheet.nt"
    initializers = {"W": glorot_uniform, "W_1": he_normal}


class MultiHeadBlock(Layer):
    """The block with H heads, in which W_c maps the output of each head back to the channels."""

    citation = f"{SOURCE}, multi-headed attention with H heads"
    output = "z'"
    inputs = ("X",)
    file = "cheat_sheet.nt"
    initializers = {"W": glorot_uniform, "W_1": he_normal}
