"""Whisper."""

from __future__ import annotations

from namedtensor.initializers import Constant, Normal

from ..pretrained.weights import WeightEntry
from .attention_is_all_you_need import MARIAN, EncoderDecoder
from .sequence_to_sequence import SequenceToSequence
from .task_heads import WHISPER_HEADS

CONVOLUTIONS = (
    WeightEntry("W^{conv,1}", "encoder.conv1.weight", "chans mel kernel"),
    WeightEntry("b^{conv,1}", "encoder.conv1.bias", "chans"),
    WeightEntry("W^{conv,2}", "encoder.conv2.weight", "out chans kernel"),
    WeightEntry("b^{conv,2}", "encoder.conv2.bias", "out"),
)
NUMBERED = {"1": "self_attn", "2": "encoder_attn", "3": "final"}
NORMS = (
    *(("enc,n", count, f"encoder.layers.{{n}}.{norm}_layer_norm") for count, norm in enumerate(("self_attn", "final"), 1)),
    *(("dec,l", count, f"decoder.layers.{{l}}.{norm}_layer_norm") for count, norm in NUMBERED.items()),
)  # fmt: skip


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
        *CONVOLUTIONS,
        *(row for row in MARIAN if "{" in row.tensor and "norm" not in row.tensor and not row.tensor.endswith("k_proj.bias")),
        *(
            WeightEntry(f"{letter}^{{{stack},{count}}}", f"{norm}.{name}", "chans")
            for stack, count, norm in NORMS
            for letter, name in (("γ", "weight"), ("β", "bias"))
        ),
        *(
            WeightEntry(f"{letter}^{{{stack[:3]}}}", f"{stack}.layer_norm.{name}", "chans")
            for stack in ("encoder", "decoder")
            for letter, name in (("γ", "weight"), ("β", "bias"))
        ),
    )  # fmt: skip
