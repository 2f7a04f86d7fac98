"""RoBERTa and DistilBERT, which replace a few definitions of BERT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .bert import BERT
from .bert_heads import DISTILBERT_HEADS, ROBERTA_HEADS


class RoBERTa(BERT):
    """RoBERTa, a BERT whose position numbers skip padding tokens."""

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


class DistilBERT(BERT):
    """DistilBERT, a BERT that has neither token types nor a pooled vector."""

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
    weights = "distilbert.weights"

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        return f"{super().config_definitions(config)}\nε = 1e-12".strip()
