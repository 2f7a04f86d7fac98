"""The encoder-decoder model T5 and the names of its weights in checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import namedtensor as nt
from namedtensor.initializers import Constant, Normal

from ..pretrained.model import ACTIVATIONS
from ..pretrained.weights import WeightEntry
from .sequence_to_sequence import SequenceToSequence
from .task_heads import T5_HEADS


class T5(SequenceToSequence):
    """T5, an encoder and a decoder whose attention uses only relative positions."""

    citation = "Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, 2020"
    file = "t5.nt"
    optional_inputs = ("source_mask", "mask", "X^0", "Y^0")
    model_types = ("t5",)
    initializers = {"E": Normal("1"), "U": Normal("1"), "W": Normal("√(1 / fan_in)"), "B": Normal("√(1 / chans)"),
            "γ": Constant(1.0)}  # fmt: skip
    config_sizes = {
        "N": "num_layers", "L": lambda config: config.get("num_decoder_layers") or config["num_layers"],
        "chans": "d_model", "vocab": "vocab_size", "heads": "num_heads", "hidden": "d_ff", "key": "d_kv", "val": "d_kv",
        "bucket": "relative_attention_num_buckets",
    }  # fmt: skip
    config_constants = {"ε": "layer_norm_epsilon"}
    step_mask = "M = { 0 if seen = 1; -∞ otherwise }\nd = iota_{memory} - place"
    ignored_weights = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight",
            "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight")  # fmt: skip
    base_model_prefix = "transformer."
    ignored_heads = ("classification_head.*", "classifier.*", "qa_outputs.*")
    heads = T5_HEADS
    tied_by_default = True
    weights = "t5.weights"

    @classmethod
    def table(cls, config: Mapping[str, Any]) -> tuple[WeightEntry, ...]:
        return cls.weight_map + cls.weight_tables["gated" if feedforward(config)[1] else "plain"]

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        activation, gated = feedforward(config)
        texts = [f"act(x) = {ACTIVATIONS[activation]}", f"far = {config.get('relative_attention_max_distance', 128)}"]
        texts += [super().config_definitions(config)]
        texts += [] if config.get("scale_decoder_outputs", cls.is_tied(config)) else ["scale = 1"]
        texts += [cls.file_text("t5_gated.nt")] if gated else []
        return "\n".join(filter(None, texts))


def feedforward(config: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the activation of the feedforward networks, and whether the networks are gated.

    Raise NotationError if the configuration has an unknown activation.
    """
    stated = str(config.get("feed_forward_proj", "relu"))
    name = stated.removeprefix("gated-")
    gated = name != stated
    name = "gelu_new" if stated == "gated-gelu" else name
    if name not in ACTIVATIONS:
        raise nt.NotationError(
            409, f"config.json has an unsupported feed_forward_proj: {stated!r}",
            hint=f"supported: {', '.join(ACTIVATIONS)}, and each after gated-",
        )  # fmt: skip
    return name, gated
