"""The language model Llama and the names of its weights in checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import Any

import namedtensor as nt
from namedtensor.initializers import Constant, Normal

from ..pretrained.generation import LanguageModel
from ..pretrained.weights import read_sections
from .rotary import rope_type, rotation
from .task_heads import decoder_heads


class Llama(LanguageModel):
    """Llama: a decoder without biases, with grouped-query attention and rotary positions.

    The angles φ have the parameters' dtype. In half precision, they are accurate only for a few hundred positions.
    """

    citation = "Touvron et al., LLaMA: Open and Efficient Foundation Language Models, 2023"
    file = "llama.nt"
    model_types = ("llama",)
    initializers = {"E": Normal("0.02"), "U": Normal("0.02"), "W": Normal("0.02"), "b": Constant(0.0),
            "γ": Constant(1.0)}  # fmt: skip
    config_sizes = {
        "L": "num_hidden_layers", "chans": "hidden_size", "hidden": "intermediate_size", "vocab": "vocab_size",
        "groups": lambda config: groups(config),
        "queries": lambda config: config["num_attention_heads"] // groups(config),
        "pair": lambda config: head(config) // 2,
        "val": lambda config: head(config),
    }  # fmt: skip
    config_constants = {"ε": "rms_norm_eps"}
    activation = "hidden_act"
    tied_by_default = False
    base_model_prefix = ("model.", "transformer.")
    heads = decoder_heads()
    required_config = {"attention_bias": False, "mlp_bias": False}
    ignored_weights = ("layers.{l}.self_attn.rotary_emb.inv_freq", "lm_head.weight")
    weights = "llama.weights"
    cached = """
        past^{l,K} ∈ ℝ^{memory × groups × part × pair}
        past^{l,V} ∈ ℝ^{memory × groups × val}
    """

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        """Return the definitions that the configuration selects."""
        return "\n".join(filter(None, (super().config_definitions(config), cls.frequencies(config))))

    @classmethod
    def frequencies(cls, config: Mapping[str, Any]) -> str:
        """Return the definitions of θ and, unless rope_type is the default, of the rotation frequencies ω."""
        stated, frequencies = rotation(config), read_sections(cls.file_text("frequencies.templates"))
        del frequencies[""]
        kind = rope_type(config, cls.__name__, frequencies)
        if float(stated.get("partial_rotary_factor", 1.0)) != 1.0:
            raise nt.NotationError(
                409, f"config.json has partial_rotary_factor, but the formulas of {cls.__name__} rotate the whole key"
            )
        try:
            text = Template(frequencies[kind]).substitute(stated)
        except KeyError as problem:
            raise nt.NotationError(
                409, f"config.json does not set {problem.args[0]}, which rope_type = {kind!r} needs"
            ) from None
        base = stated.get("rope_theta", config.get("rope_theta", 10000))
        return f"θ = {base}\n{text}".strip()


def groups(config: Mapping[str, Any]) -> int:
    """Return the number of key heads. Several query heads share each key head."""
    return config.get("num_key_value_heads") or config["num_attention_heads"]


def head(config: Mapping[str, Any]) -> int:
    """Return the size of a query or key in one head."""
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
