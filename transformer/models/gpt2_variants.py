"""GPT-NeoX and OPT: GPT-2 with other definitions of a few names."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from namedtensor.initializers import Constant, Normal

from ..pretrained.heads import TaskHead
from ..pretrained.weights import WeightEntry, linear, norm
from .gpt2 import GPT2
from .rotary import count_rotated_pairs, theta
from .task_heads import decoder_heads


class GPTNeoX(GPT2):
    """GPT-NeoX: a decoder with parallel attention and feedforward network, and partial rotary positions."""

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
    weight_map = (
        WeightEntry("E", "embed_in.weight", "vocab chans"),
        *norm("l,1", "layers.{l}.input_layernorm"),
        *norm("l,2", "layers.{l}.post_attention_layernorm"),
        *linear("l,Q", "layers.{l}.attention.query_key_value", "(heads three[3] key) chans", three=0),
        *linear("l,K", "layers.{l}.attention.query_key_value", "(heads three[3] key) chans", three=1),
        *linear("l,V", "layers.{l}.attention.query_key_value", "(heads three[3] val) chans", three=2),
        *linear("l,O", "layers.{l}.attention.dense", "chans (heads val)"),
        *linear("l,1", "layers.{l}.mlp.dense_h_to_4h", "hidden chans"),
        *linear("l,2", "layers.{l}.mlp.dense_4h_to_h", "chans hidden"),
        *norm("", "final_layer_norm"),
    )
    optional_weights = {"logits": (WeightEntry("U", "embed_out.weight", "vocab chans"),)}

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        texts = [super().config_definitions(config), f"θ = {theta(config, cls.__name__)}"]
        if not config.get("use_parallel_residual", True):
            texts.append("X^l = T^l + FFN^l(LayerNorm(T^l; γ^{l,2}, β^{l,2})) for l = 1, …, L")
        return "\n".join(filter(None, texts))


OPT_LAYER = (
    *norm("l,1", "layers.{l}.self_attn_layer_norm"),
    *norm("l,2", "layers.{l}.final_layer_norm"),
    *linear("l,Q", "layers.{l}.self_attn.q_proj", "(heads key) chans"),
    *linear("l,K", "layers.{l}.self_attn.k_proj", "(heads key) chans"),
    *linear("l,V", "layers.{l}.self_attn.v_proj", "(heads val) chans"),
    *linear("l,O", "layers.{l}.self_attn.out_proj", "chans (heads val)"),
    *linear("l,1", "layers.{l}.fc1", "hidden chans"),
    *linear("l,2", "layers.{l}.fc2", "chans hidden"),
)


class OPT(GPT2):
    """OPT: GPT-2, with positions that count only tokens that are not padding."""

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

    @classmethod
    def task_heads(cls, config: Mapping[str, Any]) -> Mapping[str, TaskHead]:
        """Return the heads, which use the word embeddings if these are narrower than the blocks."""
        return decoder_heads(**({"what": "states ⊙_{chans} W^{out}", "axis": "word"} if narrow(config) else {}))

    @classmethod
    def table(cls, config: Mapping[str, Any]) -> tuple[WeightEntry, ...]:
        rows = [WeightEntry("P", "embed_positions.weight", "place chans"), *OPT_LAYER]
        rows.append(WeightEntry("E", "embed_tokens.weight", f"vocab {'word' if narrow(config) else 'chans'}"))
        if narrow(config):
            rows.append(WeightEntry("W^{in}", "project_in.weight", "chans word"))
            rows.append(WeightEntry("W^{out}", "project_out.weight", "word chans"))
        if config.get("do_layer_norm_before", True):
            rows += norm("", "final_layer_norm")
        return tuple(rows)

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        files = ["opt_narrow.nt"] if narrow(config) else []
        files += [] if config.get("do_layer_norm_before", True) else ["opt_after.nt"]
        texts = (super().config_definitions(config), "ε = 1e-5", *(cls.file_text(file) for file in files))
        return "\n".join(inspect.cleandoc(text) for text in texts if text)


def narrow(config: Mapping[str, Any]) -> bool:
    """Return whether the words have fewer numbers than the blocks."""
    return config.get("word_embed_proj_dim", config["hidden_size"]) != config["hidden_size"]
