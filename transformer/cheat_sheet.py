"""The transformer block of *Self-attention cheat-sheet* by C. Singh: post-LN, with one head or with H heads.

The rows of X are the text's x_i. The axis chans is its d, key and val are its d'; seq counts i, and seq' counts j.
"""

from __future__ import annotations

from namedtensor.initializers import glorot_uniform, he_normal
from namedtensor.layers import Layer

SOURCE = "C. Singh, Self-attention cheat-sheet"


class LayerNorm(Layer):
    """Layer norm, which centers, divides by the standard deviation, scales and shifts; there is no ε in the source."""

    citation = SOURCE
    file = "cheat_sheet.nt"


class Attention(Layer):
    """Ordinary attention, in which the keys and values are computed from another input X' than the queries."""

    citation = f"{SOURCE}: in ordinary attention, keys/queries take different inputs"
    output = "u"
    inputs = ("X", "X'")
    file = "cheat_sheet.nt"
    initializers = {"W": glorot_uniform}


class Block(Layer):
    """The block with one head, whose values are α, u, u', z and z'.

    X + u requires d' = d.
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
