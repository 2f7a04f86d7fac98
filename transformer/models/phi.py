"""The language model Phi and the names of its weights in checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from namedtensor.initializers import Constant, Normal

from ..pretrained.generation import LanguageModel
from .llama import groups
from .rotary import count_rotated_pairs, theta
from .task_heads import decoder_heads


class Phi(LanguageModel):
    """Phi, a decoder whose attention and feedforward network run in parallel after a single layer norm."""

    citation = "Li, Bubeck, Eldan, Del Giorno, Gunasekar, Lee, Textbooks Are All You Need II: phi-1.5, 2023"
    file = "phi.nt"
    model_types = ("phi",)
    initializers = {"E": Normal("0.02"), "U": Normal("0.02"), "W": Normal("0.02"), "b": Constant(0.0)}
    config_sizes = {
        "L": "num_hidden_layers", "chans": "hidden_size", "hidden": "intermediate_size", "vocab": "vocab_size",
        "groups": lambda config: groups(config),
        "queries": lambda config: config["num_attention_heads"] // groups(config),
        "key": lambda config: config["hidden_size"] // config["num_attention_heads"],
        "val": lambda config: config["hidden_size"] // config["num_attention_heads"],
        "pair": count_rotated_pairs,
    }  # fmt: skip
    default_sizes = {"key": 1024, "pair": 1}
    config_constants = {"ε": "layer_norm_eps"}
    activation = "hidden_act"
    base_model_prefix = "model."
    heads = decoder_heads()
    required_config = {"qk_layernorm": False, "tie_word_embeddings": False}
    ignored_weights = ("layers.{l}.self_attn.rotary_emb.inv_freq",)
    weights = "phi.weights"
    cached = """
        past^{l,K} ∈ ℝ^{memory × groups × key}
        past^{l,V} ∈ ℝ^{memory × groups × val}
    """

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        return f"{super().config_definitions(config)}\nθ = {theta(config, cls.__name__)}".strip()
