"""The speech recognition model Whisper and the names of its weights in checkpoints."""

from __future__ import annotations

from namedtensor.initializers import Constant, Normal

from .attention_is_all_you_need import EncoderDecoder
from .sequence_to_sequence import SequenceToSequence
from .task_heads import WHISPER_HEADS


class Whisper(SequenceToSequence):
    """Whisper, with an encoder for a spectrogram in ℝ^{mel × time} and a decoder for the transcript."""

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
    weights = "whisper.weights"
