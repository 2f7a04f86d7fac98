"""GPT-NeoX and OPT, which replace a few definitions of GPT-2."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from namedtensor.initializers import Constant, Normal

from ..pretrained.heads import TaskHead
from ..pretrained.weights import WeightEntry
from .gpt2 import GPT2
from .rotary import count_rotated_pairs, theta
from .task_heads import decoder_heads


class GPTNeoX(GPT2):
    """GPT-NeoX, a decoder whose attention and feedforward network run in parallel, with partial rotary positions."""

    citation = "Black et al., GPT-NeoX-20B: An Open-Source Autoregressive Language Model, 2022"
    changes = "gpt_neox.nt"
    model_types = ("gpt_neox",)
    initializers = {"E": Normal("0.02"), "U": Normal("0.02"), "W": Normal("0.02"), "b": Constant(0.0)}
    config_sizes = {
        "L": "num_hidden_layers", "chans": "hidden_size", "heads": "num_attention_heads", "vocab": "vocab_size",
        "hidden": "intermediate_size", "pair": count_rotated_pairs,
        "key": lambda config: config["hidden_size"] // config["num_attention_heads"],
        "val": lambda config: config["hidden_size"] // config["num_attention_heads"],
    }  # fmt: skip
    default_sizes = {"key": 1024, "pair": 1}
    config_constants = {"ε": "layer_norm_eps"}
    activation = "hidden_act"
    required_config = {"attention_bias": True, "tie_word_embeddings": False}
    base_model_prefix = "gpt_neox."
    ignored_weights = ("layers.{l}.attention.bias", "layers.{l}.attention.masked_bias",
            "layers.{l}.attention.rotary_emb.inv_freq")  # fmt: skip
    weights = "gpt_neox.weights"

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        texts = [super().config_definitions(config), f"θ = {theta(config, cls.__name__)}"]
        if not config.get("use_parallel_residual", True):
            texts.append("X^l = T^l + FFN^l(LayerNorm(T^l; γ^{l,2}, β^{l,2})) for l = 1, …, L")
        return "\n".join(filter(None, texts))


class OPT(GPT2):
    """OPT, a GPT-2 whose position numbers skip padding tokens."""

    citation = "Zhang et al., OPT: Open Pre-trained Transformer Language Models, 2022"
    changes = "opt.nt"
    model_types = ("opt",)
    position_offset = 2
    config_sizes = {
        "L": "num_hidden_layers", "chans": "hidden_size", "heads": "num_attention_heads", "vocab": "vocab_size",
        "hidden": "ffn_dim", "place": lambda config: config["max_position_embeddings"] + 2,
        "key": lambda config: config["hidden_size"] // config["num_attention_heads"],
        "val": lambda config: config["hidden_size"] // config["num_attention_heads"],
    }  # fmt: skip
    config_constants = {}
    required_config = {"enable_bias": True, "layer_norm_elementwise_affine": True, "tie_word_embeddings": True,
            "_remove_final_layer_norm": False}  # fmt: skip
    base_model_prefix = "model."
    weight_renames = {"decoder.": ""}
    ignored_weights = ("lm_head.weight",)
    weights = "opt.weights"

    @classmethod
    def task_heads(cls, config: Mapping[str, Any]) -> Mapping[str, TaskHead]:
        """Return the task heads. If word embeddings are narrow, the states are first mapped to their axis."""
        return decoder_heads(**({"what": "states ⊙_{chans} W^{out}", "axis": "word"} if narrow(config) else {}))

    @classmethod
    def table(cls, config: Mapping[str, Any]) -> tuple[WeightEntry, ...]:
        tables = cls.weight_tables
        norms = tables["before"] if config.get("do_layer_norm_before", True) else ()
        return (*cls.weight_map, *tables["narrow" if narrow(config) else "wide"], *norms)

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        files = ["opt_narrow.nt"] if narrow(config) else []
        files += [] if config.get("do_layer_norm_before", True) else ["opt_after.nt"]
        texts = (super().config_definitions(config), "ε = 1e-5", *(cls.file_text(file) for file in files))
        return "\n".join(inspect.cleandoc(text) for text in texts if text)


def narrow(config: Mapping[str, Any]) -> bool:
    """Return whether the axis of the word embeddings has a different size than the axis of the states."""
    return config.get("word_embed_proj_dim", config["hidden_size"]) != config["hidden_size"]
