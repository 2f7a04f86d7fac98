"""*Learning records from the 2024-06-23*: positional encodings, and attention with keys, queries and values.

The size of the axis chans is the source's D. Positions along seq count tokens from 1, like the source's index i.
"""

from __future__ import annotations

from namedtensor.initializers import glorot_uniform
from namedtensor.layers import Layer

SOURCE = "Learning records from the 2024-06-23"


class PositionalEncoding(Layer):
    """The encoding p of positions, which count from 1: `PositionalEncoding(sizes={"seq": 9, "chans": 6})()`."""

    citation = f"{SOURCE}, positional encodings"
    output = "p"
    file = "learning_records.nt"
    default_sizes = {"seq": 1, "chans": 2}


class Embedding(Layer):
    """The embeddings e of the tokens w, scaled by √D, plus the encoding of the positions. Tokens start at 1."""

    citation = f"{SOURCE}, positional encodings"
    includes = (PositionalEncoding,)
    output = "x"
    inputs = ("w",)
    file = "learning_records.nt"
    default_sizes = PositionalEncoding.default_sizes


class KeyQueryValueAttention(Layer):
    """Self-attention of h with three D × D matrices. It defines q, k, v, scores s, weights α and outputs o."""

    citation = f"{SOURCE}, key-query-value attention mechanism"
    output = "o"
    inputs = ("h",)
    file = "learning_records.nt"
    initializers = {"W": glorot_uniform}
