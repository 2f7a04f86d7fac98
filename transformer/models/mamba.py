"""The language model Mamba and the names of its weights in checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from namedtensor.initializers import Constant, Normal

from ..pretrained.recurrent import RecurrentModel


def inner(config: Mapping[str, Any]) -> int:
    return config.get("intermediate_size") or int(config.get("expand", 2) * config["hidden_size"])


def rank(config: Mapping[str, Any]) -> int:
    stated = config.get("time_step_rank", "auto")
    return -(-config["hidden_size"] // 16) if stated == "auto" else stated


class Mamba(RecurrentModel):
    """Mamba, a stack of selective state space blocks. Its time and memory are linear in the length of a sequence."""

    citation = "Gu, Dao, Mamba: Linear-Time Sequence Modeling with Selective State Spaces, 2023"
    file = "mamba.nt"
    cached = """
        edge^l ∈ ℝ^{edge × inner}
        start^l ∈ ℝ^{inner × state}
    """
    memory = {"edge^l": "rest^l", "start^l": "last^l"}
    model_types = ("mamba",)
    initializers = {"E": Normal("0.02"), "U": Normal("0.02"), "W": Normal("0.02"), "b": Constant(0.0), "γ": Constant(1.0),
            "D": Constant(1.0)}  # fmt: skip
    config_sizes = {
        "L": "num_hidden_layers", "chans": "hidden_size", "vocab": "vocab_size", "inner": inner, "rank": rank,
        "state": "state_size", "kernel": "conv_kernel",
        "select": lambda config: rank(config) + 2 * config["state_size"],
    }  # fmt: skip
    default_sizes = {"seq": 2}
    config_constants = {"ε": "layer_norm_epsilon"}
    activation = "hidden_act"
    required_config = {"use_bias": False, "use_conv_bias": True}
    base_model_prefix = "backbone."
    ignored_weights = ("lm_head.weight",)
    tied_by_default = True
    weights = "mamba.weights"
