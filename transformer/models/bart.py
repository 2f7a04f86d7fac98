"""The encoder-decoder model BART and the names of its weights in checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from namedtensor.initializers import Constant, Normal

from ..pretrained.model import Model
from .attention_is_all_you_need import EncoderDecoder
from .task_heads import sequence_heads


class BART(EncoderDecoder):
    """BART, a Transformer with learned positions and with layer norms after the embeddings."""

    citation = "Lewis et al., BART: Denoising Sequence-to-Sequence Pre-training, 2020"
    changes = "bart.nt"
    removes = ("Position", "p")
    model_types = ("bart",)
    position_offset = 2
    initializers = {"E": Normal("0.02"), "P": Normal("0.02"), "W": Normal("0.02"), "b": Constant(0.0)}
    config_sizes = {**EncoderDecoder.config_sizes, "place": lambda config: config["max_position_embeddings"] + 2}
    required_config = {"tie_word_embeddings": True}
    ignored_weights = ("lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
    ignored_heads = ("classification_head.*", "qa_outputs.*")
    heads = sequence_heads(eos=2, start=2)
    weights = "bart.weights"

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        scale = "\nscale = √|chans|" if config.get("scale_embedding") else ""
        return Model.config_definitions.__func__(cls, config) + scale
