"""Mistral, Qwen2, Qwen3, Gemma 2 and Mixtral, which replace a few definitions of Llama."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import namedtensor as nt

from .llama import Llama

WINDOWED = "{ 0 if seen = 1 ∧ iota_{memory} > place - %s; -∞ otherwise }"


def window(config: Mapping[str, Any]) -> str:
    """Return the definition of the number of tokens that a token attends to. Without a limit, the number is ∞."""
    return f"window = {config.get('sliding_window') or '∞'}"


class Mistral(Llama):
    """Mistral, a Llama with attention to only the last `window` tokens."""

    citation = "Jiang et al., Mistral 7B, 2023"
    changes = "mistral.nt"
    model_types = ("mistral",)
    required_config = {}
    step_mask = f"M = {WINDOWED % 'window'}"

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        return f"{super().config_definitions(config)}\n{window(config)}"


class Qwen2(Llama):
    """Qwen2, a Llama with biases for queries, keys and values."""

    citation = "Yang et al., Qwen2 Technical Report, 2024"
    changes = "qwen2.nt"
    model_types = ("qwen2",)
    required_config = {"use_sliding_window": False}
    weight_changes = "qwen2.weights"


class Qwen3(Llama):
    """Qwen3, a Llama with a norm for each query and each key."""

    citation = "Yang et al., Qwen3 Technical Report, 2025"
    changes = "qwen3.nt"
    model_types = ("qwen3",)
    required_config = {"use_sliding_window": False, "attention_bias": False}
    weight_changes = "qwen3.weights"


class Gemma2(Llama):
    """Gemma 2, a Llama with norms before and after each sublayer and with capped scores."""

    citation = "Gemma Team, Gemma 2: Improving Open Language Models at a Practical Size, 2024"
    changes = "gemma2.nt"
    removes = ("M",)
    model_types = ("gemma2",)
    activation = "hidden_activation"
    tied_by_default = None  # the formulas contain only E
    optional_weights = {}
    required_config = {"attention_bias": False, "tie_word_embeddings": True, "use_bidirectional_attention": None}
    step_mask = f"M^l = {WINDOWED % 'width^l'} for l = 1, …, L"
    weight_changes = "gemma2.weights"

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        lines = [super().config_definitions(config)]
        caps = {"cap": config.get("final_logit_softcapping"), "bound": config.get("attn_logit_softcapping")}
        lines += [f"{name} = {number}" for name, number in caps.items() if number is not None]
        if caps["cap"] is None:
            lines.append("logits = states ⊙_{chans} E")
        if caps["bound"] is None:
            lines.append("A^l = softmax_{memory}(Q^l ⊙_{part, pair} K^l / √scale + M^l) for l = 1, …, L")
        if config.get("query_pre_attn_scalar") is not None:
            lines.append(f"scale = {config['query_pre_attn_scalar']}")
        lines += [window(config), widths(config)]
        return "\n".join(filter(None, lines))


def widths(config: Mapping[str, Any]) -> str:
    """Return the definition of each layer's window, or "" if, as by default, every second layer has a window."""
    kinds = config.get("layer_types")
    alternating = ["sliding_attention", "full_attention"]
    if kinds is None or kinds == [alternating[layer % 2] for layer in range(len(kinds))]:
        return ""
    if not set(kinds) <= set(alternating) or len(kinds) != config["num_hidden_layers"]:
        raise nt.NotationError(
            409, f"config.json has layer_types = {kinds!r}; expected sliding_attention or full_attention for each of "
            f"{config['num_hidden_layers']} layers",
        )  # fmt: skip
    sliding = " ∨ ".join(f"l = {layer}" for layer, kind in enumerate(kinds, 1) if kind == alternating[0]) or "l = 0"
    return f"width^l = {{ window if {sliding}; ∞ otherwise }} for l = 1, …, L"


class Mixtral(Mistral):
    """Mixtral, a Mistral with a mixture of experts as its feedforward network."""

    citation = "Jiang et al., Mixtral of Experts, 2024"
    changes = "mixtral.nt"
    model_types = ("mixtral",)
    config_sizes = {**Llama.config_sizes, "expert": "num_local_experts"}
    weight_changes = "mixtral.weights"

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        return f"{super().config_definitions(config)}\ncount = {config.get('num_experts_per_tok', 2)}"
