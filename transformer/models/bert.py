"""BERT."""

from __future__ import annotations

from namedtensor.initializers import Constant, Normal

from ..pretrained.model import Model, Stored


class BERT(Model):
    """BERT: an encoder whose layer norms stand after the sums; `pooled` is where the file holds its map."""

    source = "Devlin, Chang, Lee, Toutanova, BERT: Pre-training of Deep Bidirectional Transformers, 2019"
    file = "bert.nt"
    value = "states"
    inputs = ("ids",)
    optional = ("mask", "types", "positions")
    kinds = ("bert",)
    initializers = {
        "E": Normal("0.02"), "P": Normal("0.02"), "S": Normal("0.02"), "W": Normal("0.02"), "b": Constant(0.0),
    }  # fmt: skip
    counts = {
        "L": "num_hidden_layers", "chans": "hidden_size", "heads": "num_attention_heads",
        "hidden": "intermediate_size", "vocab": "vocab_size", "place": "max_position_embeddings",
        "type": "type_vocab_size", "out": "hidden_size",
        "key": lambda config: config["hidden_size"] // config["num_attention_heads"],
        "val": lambda config: config["hidden_size"] // config["num_attention_heads"],
    }  # fmt: skip
    numbers = {"ε": "layer_norm_eps"}
    activation = "hidden_act"
    only = {"is_decoder": False, "add_cross_attention": False, "position_embedding_type": "absolute"}
    prefix = "bert."
    respelled = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
    spare = ("embeddings.position_ids",)
    ignored_heads = ("cls.*", "classifier.*", "qa_outputs.*")
    stored = (
        Stored("E", "embeddings.word_embeddings.weight", "vocab chans"),
        Stored("P", "embeddings.position_embeddings.weight", "place chans"),
        Stored("S", "embeddings.token_type_embeddings.weight", "type chans"),
        Stored("γ", "embeddings.LayerNorm.weight", "chans"),
        Stored("β", "embeddings.LayerNorm.bias", "chans"),
        Stored("W^{l,Q}", "encoder.layer.{l}.attention.self.query.weight", "(heads key) chans"),
        Stored("W^{l,K}", "encoder.layer.{l}.attention.self.key.weight", "(heads key) chans"),
        Stored("W^{l,V}", "encoder.layer.{l}.attention.self.value.weight", "(heads val) chans"),
        Stored("b^{l,Q}", "encoder.layer.{l}.attention.self.query.bias", "(heads key)"),
        Stored("b^{l,K}", "encoder.layer.{l}.attention.self.key.bias", "(heads key)"),
        Stored("b^{l,V}", "encoder.layer.{l}.attention.self.value.bias", "(heads val)"),
        Stored("W^{l,O}", "encoder.layer.{l}.attention.output.dense.weight", "chans (heads val)"),
        Stored("b^{l,O}", "encoder.layer.{l}.attention.output.dense.bias", "chans"),
        Stored("γ^{l,1}", "encoder.layer.{l}.attention.output.LayerNorm.weight", "chans"),
        Stored("β^{l,1}", "encoder.layer.{l}.attention.output.LayerNorm.bias", "chans"),
        Stored("W^{l,1}", "encoder.layer.{l}.intermediate.dense.weight", "hidden chans"),
        Stored("b^{l,1}", "encoder.layer.{l}.intermediate.dense.bias", "hidden"),
        Stored("W^{l,2}", "encoder.layer.{l}.output.dense.weight", "chans hidden"),
        Stored("b^{l,2}", "encoder.layer.{l}.output.dense.bias", "chans"),
        Stored("γ^{l,2}", "encoder.layer.{l}.output.LayerNorm.weight", "chans"),
        Stored("β^{l,2}", "encoder.layer.{l}.output.LayerNorm.bias", "chans"),
    )
    parts = {
        "pooled": (
            Stored("W^{pool}", "pooler.dense.weight", "out chans"),
            Stored("b^{pool}", "pooler.dense.bias", "out"),
        ),
    }
