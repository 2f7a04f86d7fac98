"""RoBERTa and DistilBERT: BERT with other definitions of a few names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..pretrained.weights import WeightEntry
from .bert import BERT
from .bert_heads import DISTILBERT_HEADS, ROBERTA_HEADS


class RoBERTa(BERT):
    """RoBERTa: BERT, with positions that count only tokens that are not padding."""

    citation = "Liu et al., RoBERTa: A Robustly Optimized BERT Pretraining Approach, 2019"
    changes = "roberta.nt"
    model_types = ("roberta",)
    base_model_prefix = "roberta."
    ignored_weights = ("embeddings.position_ids", "lm_head.decoder.*", "lm_head.bias")
    ignored_heads = ("lm_head.*", "classifier.*", "qa_outputs.*")
    heads = ROBERTA_HEADS

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        return f"{super().config_definitions(config)}\npadding = {config.get('pad_token_id', 1)}".strip()


LAYER = {
    "W^{l,Q}": ("attention.q_lin.weight", "(heads key) chans"),
    "W^{l,K}": ("attention.k_lin.weight", "(heads key) chans"),
    "W^{l,V}": ("attention.v_lin.weight", "(heads val) chans"),
    "b^{l,Q}": ("attention.q_lin.bias", "(heads key)"),
    "b^{l,K}": ("attention.k_lin.bias", "(heads key)"),
    "b^{l,V}": ("attention.v_lin.bias", "(heads val)"),
    "W^{l,O}": ("attention.out_lin.weight", "chans (heads val)"),
    "b^{l,O}": ("attention.out_lin.bias", "chans"),
    "γ^{l,1}": ("sa_layer_norm.weight", "chans"),
    "β^{l,1}": ("sa_layer_norm.bias", "chans"),
    "W^{l,1}": ("ffn.lin1.weight", "hidden chans"),
    "b^{l,1}": ("ffn.lin1.bias", "hidden"),
    "W^{l,2}": ("ffn.lin2.weight", "chans hidden"),
    "b^{l,2}": ("ffn.lin2.bias", "chans"),
    "γ^{l,2}": ("output_layer_norm.weight", "chans"),
    "β^{l,2}": ("output_layer_norm.bias", "chans"),
}


class DistilBERT(BERT):
    """DistilBERT: BERT without token types and without a pooled vector."""

    citation = "Sanh, Debut, Chaumond, Wolf, DistilBERT, a distilled version of BERT, 2019"
    changes = "distilbert.nt"
    removes = ("types", "pooled")
    optional_inputs = ("mask", "positions")
    model_types = ("distilbert",)
    config_sizes = {
        "L": "n_layers", "chans": "dim", "heads": "n_heads", "hidden": "hidden_dim", "vocab": "vocab_size",
        "place": "max_position_embeddings",
        "key": lambda config: config["dim"] // config["n_heads"],
        "val": lambda config: config["dim"] // config["n_heads"],
    }  # fmt: skip
    config_constants = {}
    activation = "activation"
    base_model_prefix = "distilbert."
    ignored_weights = ("embeddings.position_ids", "vocab_projector.weight")
    ignored_heads = ("vocab_*", "pre_classifier.*", "classifier.*", "qa_outputs.*")
    heads = DISTILBERT_HEADS
    weight_map = (
        *(row for row in BERT.weight_map if row.name in ("E", "P", "γ", "β")),
        *(WeightEntry(name, f"transformer.layer.{{l}}.{tensor}", axes) for name, (tensor, axes) in LAYER.items()),
    )
    optional_weights = {}

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        return f"{super().config_definitions(config)}\nε = 1e-12".strip()
