"""The networks of sections 4 and A of *Named Tensor Notation* by D. Chiang, A. M. Rush and B. Barak."""

from __future__ import annotations

from namedtensor.initializers import Normal, glorot_uniform, he_normal
from namedtensor.layers import Layer

SOURCE = "Chiang, Rush, Barak, Named Tensor Notation (TMLR 2023)"


class FullConn(Layer):
    """One fully connected layer."""

    citation = f"{SOURCE}, section 4.1"
    file = "paper.nt"
    initializers = {"W": glorot_uniform}


class FeedForward(Layer):
    """A network of L fully connected layers of sizes n_0, n_1, …, n_L."""

    citation = f"{SOURCE}, section 4.1"
    output = "Y"
    inputs = ("X^0",)
    file = "paper.nt"
    initializers = {"W": glorot_uniform}


class RNN(Layer):
    """A simple recurrent network (Elman), which returns its last state. `rnn.evaluate("h^2", X, h)` returns state 2.

    The paper declares inputs x^1, …, x^n. Here, a single tensor X contains these inputs along an axis.
    """

    citation = f"{SOURCE}, section 4.2"
    output = "Y"
    inputs = ("X", "h^0")
    file = "paper.nt"
    default_sizes = {"seq": 1}
    initializers = {"W": glorot_uniform}


# --------------------------------------------------------------------------------------------------------- attention
class Attention(Layer):
    """Attention for one query, lifted over any extra axes of the query, such as seq' or heads."""

    citation = f"{SOURCE}, section 4.3"
    file = "paper.nt"


class MaskedAttention(Layer):
    """Attention with a mask M that is added to the scores. Where M is −∞, the key is hidden."""

    citation = f"{SOURCE}, section 4.3"
    output = "Attention"
    file = "paper.nt"


# ------------------------------------------------------------------------------------------------------- convolution
class Conv1d(Layer):
    """A convolution over a sequence, with windows of |kernel| positions."""

    citation = f"{SOURCE}, section 4.4"
    file = "paper.nt"
    initializers = {"W": he_normal}


class Conv2d(Layer):
    """A convolution over an image, with windows of |kh| × |kw| pixels."""

    citation = f"{SOURCE}, section 4.4"
    file = "paper.nt"
    initializers = {"W": he_normal}


class MaxPool1d(Layer):
    """The maximum of each window of k positions, as in `MaxPool1d(sizes={"k": 2})`."""

    citation = f"{SOURCE}, section 4.5"
    output = "MaxPool1d_k"
    file = "paper.nt"


class MaxPool2d(Layer):
    """The maximum of each window of kh × kw pixels, as in `MaxPool2d(sizes={"kh": 2, "kw": 2})`."""

    citation = f"{SOURCE}, section 4.5"
    output = "MaxPool2d_{kh,kw}"
    file = "paper.nt"


# ----------------------------------------------------------------------------------------------------- normalization
class BatchNorm(Layer):
    """Batch norm, which standardizes over the batch and the layer and then scales and shifts each channel."""

    citation = f"{SOURCE}, section 4.6"
    file = "paper.nt"


class InstanceNorm(Layer):
    """Instance norm, which standardizes over the layer and then scales and shifts each channel."""

    citation = f"{SOURCE}, section 4.6"
    file = "paper.nt"


class LayerNorm(Layer):
    """Layer norm, which standardizes over the layer and the channels and then scales and shifts each element."""

    citation = f"{SOURCE}, section 4.6"
    file = "paper.nt"


class CBOW(Layer):
    """A continuous bag of words: it adds the embeddings of the words and classifies the sum."""

    citation = f"{SOURCE}, a section kept in its LaTeX source"
    file = "paper.nt"
    initializers = {"E": Normal("1"), "W": glorot_uniform}


# ------------------------------------------------------------------------------------------------------ whole models
class Transformer(Layer):
    """The autoregressive transformer of appendix A.1. It has L layers and maps one-hot words to probabilities.

    Erratum: The paper declares b^{l,2} ∈ ℝ^{hidden}, but the equation requires the axis layer. This version is
    corrected.
    """

    citation = f"{SOURCE}, appendix A.1"
    file = "paper_transformer.nt"
    output = "O"
    inputs = ("I",)
    default_sizes = {"seq": 1}
    initializers = {"W": glorot_uniform, "E": Normal("√(1 / layer)"), "W^1": he_normal}


class LeNet(Layer):
    """LeNet: two convolutions, each followed by pooling by ph^l, and two linear layers. `sizes` has the image size.

    For images of 28 × 28 pixels and 10 classes:

    init(sizes={"c_0": 1, "c_1": 6, "c_2": 16, "kh_1": 5, "kw_1": 5, "kh_2": 5, "kw_2": 5, "ph^1": 2, "ph^2": 2,
    "height": 28, "width": 28, "hidden": 120, "classes": 10})
    """

    citation = f"{SOURCE}, appendix A.2"
    file = "lenet.nt"
    output = "O"
    inputs = ("X^0",)
    initializers = {"W": he_normal, "W^4": glorot_uniform}
