"""The language model GPT-2 and the names of its weights in checkpoints."""

from __future__ import annotations

from namedtensor.initializers import Constant, Normal

from ..pretrained.generation import LanguageModel
from .task_heads import decoder_heads


class GPT2(LanguageModel):
    """GPT-2, a decoder whose layer norms precede the sublayers."""

    citation = "Radford, Wu, Child, Luan, Amodei, Sutskever, Language Models are Unsupervised Multitask Learners, 2019"
    file = "gpt2.nt"
    model_types = ("gpt2",)
    initializers = {
        "E": Normal("0.02"), "P": Normal("0.01"), "W": Normal("0.02"), "b": Constant(0.0),
        "W^O": Normal("0.02 / √(2 L)"), "W^2": Normal("0.02 / √(2 L)"),
    }  # fmt: skip
    config_sizes = {
        "L": "n_layer", "chans": "n_embd", "heads": "n_head", "vocab": "vocab_size", "place": "n_positions",
        "hidden": lambda config: config.get("n_inner") or 4 * config["n_embd"],
        "key": lambda config: config["n_embd"] // config["n_head"],
        "val": lambda config: config["n_embd"] // config["n_head"],
    }  # fmt: skip
    config_constants = {"ε": "layer_norm_epsilon"}
    activation = "activation_function"
    required_config = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "reorder_and_upcast_attn": False,
            "tie_word_embeddings": True}  # fmt: skip
    base_model_prefix = "transformer."
    heads = decoder_heads("classifier")
    ignored_weights = ("lm_head.weight", "h.{l}.attn.bias", "h.{l}.attn.masked_bias")
    weights = "gpt2.weights"
