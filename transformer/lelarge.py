"""The layers of the encoder block in *Transformers using Named Tensor Notation* by M. Lelarge, exactly as written."""

from __future__ import annotations

from namedtensor.initializers import glorot_uniform, he_normal
from namedtensor.layers import Layer

SOURCE = "M. Lelarge, Transformers using Named Tensor Notation"


class Linear(Layer):
    """A linear layer, called LN_W in the source."""

    citation = f"{SOURCE}, Linear layers"
    output = "LN_W"
    file = "lelarge.nt"
    initializers = {"W": glorot_uniform}


class FeedForward(Layer):
    """A feedforward network with one hidden layer, which maps one axis to another."""

    citation = f"{SOURCE}, Feedforward neural networks"
    output = "FFN"
    file = "lelarge.nt"
    initializers = {"W_1": he_normal, "W_2": glorot_uniform}


class FFN(Layer):
    """A feedforward network with one hidden layer, whose input and output have the axis chans.

    Examples
    --------
    >>> import namedtensor as nt
    >>> network = FFN.init(0, {"chans": 2, "hidden": 3})
    >>> network(nt.tensor([1.0, 2.0], "chans")).axes
    ('chans',)
    """

    citation = f"{SOURCE}, Summary"
    file = "lelarge.nt"
    initializers = {"W_1": he_normal, "W_2": glorot_uniform}


# --------------------------------------------------------------------------------------------------------- attention
class Attention(Layer):
    """Attention for one query, lifted over any extra axes of the query, such as seq or heads."""

    citation = f"{SOURCE}, Attention and SelfAttention"
    file = "lelarge.nt"


class SelfAttention(Layer):
    """Attention of a sequence to itself. The result has the axis val."""

    citation = f"{SOURCE}, Attention and SelfAttention"
    includes = (Attention,)
    file = "lelarge.nt"
    initializers = {"W": glorot_uniform}


# ----------------------------------------------------------------------------------------------------- normalization
class Mean(Layer):
    """The mean over an axis, as in `Mean().evaluate("mean_{seq}", X)`."""

    citation = f"{SOURCE}, Normalization Layers"
    output = "mean_{ax}"
    file = "lelarge.nt"


class Variance(Layer):
    """The variance over an axis, as the paper defines it."""

    citation = f"{SOURCE}, Normalization Layers; Chiang, Rush, Barak, Named Tensor Notation, section 3.3"
    output = "var_{ax}"
    includes = (Mean,)
    file = "lelarge.nt"


class Standardize(Layer):
    """Standardization, which shifts and scales a tensor to mean 0 and variance 1 over one or several axes."""

    citation = f"{SOURCE}, Normalization Layers"
    output = "standardize_{ax}"
    includes = (Variance,)
    file = "lelarge.nt"


class BatchNorm(Layer):
    """Batch norm, which standardizes over the batch and the layer and then scales and shifts each channel."""

    citation = f"{SOURCE}, Normalization Layers"
    file = "lelarge.nt"


class InstanceNorm(Layer):
    """Instance norm, which standardizes over the layer and then scales and shifts each channel."""

    citation = f"{SOURCE}, Normalization Layers"
    file = "lelarge.nt"


class LayerNormOfLayer(Layer):
    """Layer norm, which standardizes over the layer and the channels and then scales and shifts each element."""

    citation = f"{SOURCE}, Normalization Layers"
    output = "LayerNorm"
    file = "lelarge.nt"


class LayerNorm(Layer):
    """Layer norm for |layer| = 1, which standardizes over the channels and then scales and shifts them."""

    citation = f"{SOURCE}, Normalization Layers"
    file = "lelarge.nt"


# --------------------------------------------------------------------------------------------------------- the block
class EncoderBlock(Layer):
    """The pre-LN block with one head. Both norms use the same γ and β, which the source declares.

    Erratum: The source renames val→ax, but X requires val→chans. This version is corrected.

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
    file = "lelarge.nt"
