"""Whisper."""

from __future__ import annotations

from namedtensor.initializers import Constant, Normal

from ..pretrained.weights import WeightEntry, linear, norm
from .attention_is_all_you_need import MARIAN, EncoderDecoder
from .sequence_to_sequence import SequenceToSequence
from .task_heads import WHISPER_HEADS

NORMS = {
    "enc,n,1": "encoder.layers.{n}.self_attn_layer_norm",
    "enc,n,2": "encoder.layers.{n}.final_layer_norm",
    "dec,l,1": "decoder.layers.{l}.self_attn_layer_norm",
    "dec,l,2": "decoder.layers.{l}.encoder_attn_layer_norm",
    "dec,l,3": "decoder.layers.{l}.final_layer_norm",
    "enc": "encoder.layer_norm",
    "dec": "decoder.layer_norm",
}


class Whisper(SequenceToSequence):
    """Whisper: an encoder of a spectrogram, ℝ^{mel × time}, and a decoder of its words."""

    citation = "Radford et al., Robust Speech Recognition via Large-Scale Weak Supervision, 2022"
    file = "whisper.nt"
    inputs = ("features", "ids")
    optional_inputs = ("mask", "positions")
    first_token = "0 argmax_{t} [max_{mel} source]_{time(t)} + start"
    model_types = ("whisper",)
    initializers = {"E": Normal("0.02"), "P": Normal("0.02"), "W": Normal("0.02"), "b": Constant(0.0)}
    config_sizes = {
        **EncoderDecoder.config_sizes,
        "mel": "num_mel_bins", "source": "max_source_positions", "place": "max_target_positions", "out": "d_model",
    }  # fmt: skip
    activation = "activation_function"
    required_config = {"tie_word_embeddings": True, "scale_embedding": False}
    base_model_prefix = "model."
    ignored_weights = ("proj_out.weight",)
    ignored_heads = ("projector.*", "classifier.*", "layer_weights")
    heads = WHISPER_HEADS
    weight_map = (
        WeightEntry("E", "decoder.embed_tokens.weight", "vocab chans"),
        WeightEntry("P^{enc}", "encoder.embed_positions.weight", "source chans"),
        WeightEntry("P^{dec}", "decoder.embed_positions.weight", "place chans"),
        *linear("conv,1", "encoder.conv1", "chans mel kernel"),
        *linear("conv,2", "encoder.conv2", "out chans kernel"),
        *(row for row in MARIAN if "{" in row.tensor and "norm" not in row.tensor and not row.tensor.endswith("k_proj.bias")),
        *(row for label, tensor in NORMS.items() for row in norm(label, tensor)),
    )  # fmt: skip
