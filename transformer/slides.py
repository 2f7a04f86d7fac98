"""The networks of lecture slides on attention: attention and self-attention, several heads, an RNN, and translation.

A column of a matrix in the slides corresponds to a position along a sequence axis here. The slides' t is the size of
seq, and τ is the size of memory, the axis of ξ. The sizes of chans, key and val are d, d' and d''.
"""

from __future__ import annotations

import namedtensor as nt
from namedtensor.initializers import Normal, glorot_uniform, he_normal
from namedtensor.layers import Layer

SOURCE = "lecture slides on attention and the transformer"


class Attention(Layer):
    """Attention of a single x to the set ξ. The weights are a, and h is the weighted sum of the values."""

    citation = f"{SOURCE}, queries, keys, and values"
    output = "h"
    inputs = ("x", "ξ")
    file = "slides.nt"
    initializers = {"W": glorot_uniform}


class CrossAttention(Layer):
    """Attention of each position of x to the set ξ. The weights are A, and the result is H = V A."""

    citation = f"{SOURCE}, queries, keys, and values"
    output = "H"
    inputs = ("x", "ξ")
    file = "slides.nt"
    initializers = {"W": glorot_uniform}


class SelfAttention(Layer):
    """Self-attention of a sequence, which is attention with ξ = x and d' = d'' = d."""

    citation = f"{SOURCE}, self attention"
    output = "H"
    inputs = ("x",)
    file = "slides.nt"
    initializers = {"W": glorot_uniform}


class MultiHeadAttention(Layer):
    """Self-attention with h heads. The heads' results are stacked, and W_h maps the h·d channels back to d."""

    citation = f"{SOURCE}, implementation"
    output = "Y"
    inputs = ("x",)
    file = "slides.nt"
    initializers = {"W": glorot_uniform}


class RNN(Layer):
    """A recurrent network with its two matrices stacked. The function g is tanh, and the value is the last state."""

    citation = f"{SOURCE}, from the RNN lecture"
    output = "Y"
    inputs = ("x",)
    file = "slides.nt"
    default_sizes = {"seq": 1}
    initializers = {"W": glorot_uniform}


class EncoderPredictorDecoder(Layer):
    """The encoder–predictor–decoder transformer. It scores each next word of y as ỹ, given the source sentence x.

    The encoder reads x. The decoder reads y, and each position depends only on itself and on earlier positions. The
    predictor queries the encoder's states. A call with the whole target sentence scores all words at once (teacher
    forcing), and `evaluate("loss", x, y)` returns the loss. `translate` generates one word at a time. Words count
    from 0.

    The slides show the connections in a figure, and omit positions, norms and hidden layers. Here, these parts follow
    *Attention Is All You Need*.
    """

    citation = f"{SOURCE}, encoders-predictor-decoder architecture for neural machine translation"
    file = "translation.nt"
    output = "ỹ"
    inputs = ("x", "y")
    optional_inputs = ("h^{Enc}",)
    default_sizes = {"memory": 1, "seq": 2}
    initializers = {"W": glorot_uniform, "E": Normal("√(1 / chans)"), "W_1": he_normal}

    def translate(self, x: nt.NamedTensor, start: int, stop: int, most: int = 20) -> nt.NamedTensor:
        """Translate sentences greedily from the word `start`, until each reaches `stop` or has `most` new words.

        `x` has the axis memory, and may have other axes. The result, which begins with `start`, has the axis seq
        instead of memory. A translation that has reached `stop` repeats it.

        Raises NotationError (401) if `start` or a word in `x` is not in the vocabulary.
        """
        states = self.evaluate("h^{Enc}", x=x)
        first = nt.evaluate("0 x_{memory(1)} + start", x=x, start=start)
        y = nt.stack(first, axis="seq")
        for _ in range(most):
            word = self.evaluate("next", y=y, **{"h^{Enc}": states})
            word = nt.evaluate("{ stop if y_{seq(|seq|)} = stop; word otherwise }", y=y, word=word, stop=stop)
            word = nt.stack(word, axis="seq")
            y = nt.concat(y, word, axis="seq")
            if bool((word == stop).all(axis=word.axes)):
                break
        return y
