"""ViT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from namedtensor.initializers import Constant, Normal

from ..pretrained.model import Model, Stored

MAPS = {
    "Q^l": "N^l ⊙_{chans} W^{l,Q}",
    "K^l": "[N^l ⊙_{chans} W^{l,K}]_{seq→memory}",
    "V^l": "[N^l ⊙_{chans} W^{l,V}]_{seq→memory}",
}


def sides(size: Any) -> tuple[int, int]:
    """Height and width, where a config may say one number for both."""
    if not isinstance(size, list):
        return size, size
    height, width = cast(list[int], size)
    return height, width


def tokens(config: Mapping[str, Any]) -> int:
    (height, width), (down, across) = sides(config["image_size"]), sides(config["patch_size"])
    return 1 + (height // down) * (width // across)


class ViT(Model):
    """ViT: an encoder of an image's patches; `pooled` and `logits` are where the file holds their maps.

    The axis chans of the pixels is called color in the formulas, where chans are the features.
    """

    source = "Dosovitskiy et al., An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale, 2021"
    file = "vit.nt"
    value = "states"
    inputs = ("pixels",)
    kinds = ("vit",)
    initializers = {"C": Normal("0.02"), "P": Normal("0.02"), "W": Normal("0.02"), "b": Constant(0.0)}
    counts = {
        "L": "num_hidden_layers", "chans": "hidden_size", "heads": "num_attention_heads",
        "hidden": "intermediate_size", "color": "num_channels",
        "height": lambda config: sides(config["image_size"])[0],
        "width": lambda config: sides(config["image_size"])[1],
        "down": lambda config: sides(config["patch_size"])[0],
        "across": lambda config: sides(config["patch_size"])[1],
        "seq": tokens,
        "out": lambda config: config.get("pooler_output_size") or config["hidden_size"],
        "key": lambda config: config["hidden_size"] // config["num_attention_heads"],
        "val": lambda config: config["hidden_size"] // config["num_attention_heads"],
    }  # fmt: skip
    numbers = {"ε": "layer_norm_eps"}
    activation = "hidden_act"
    only = {"pooler_act": "tanh"}
    prefix = "vit."
    respelled = {
        "layers.": "encoder.layer.", "attention.q_proj": "attention.attention.query",
        "attention.k_proj": "attention.attention.key", "attention.v_proj": "attention.attention.value",
        "attention.o_proj": "attention.output.dense", "mlp.fc1": "intermediate.dense", "mlp.fc2": "output.dense",
    }  # fmt: skip
    ignored_heads = ("embeddings.mask_token", "decoder.*")
    stored = (
        Stored("W", "embeddings.patch_embeddings.projection.weight", "chans color down across"),
        Stored("b", "embeddings.patch_embeddings.projection.bias", "chans"),
        Stored("C", "embeddings.cls_token", "batch[1] first[1] chans", batch=0, first=0),
        Stored("P", "embeddings.position_embeddings", "batch[1] seq chans", batch=0),
        Stored("γ^{l,1}", "encoder.layer.{l}.layernorm_before.weight", "chans"),
        Stored("β^{l,1}", "encoder.layer.{l}.layernorm_before.bias", "chans"),
        Stored("W^{l,Q}", "encoder.layer.{l}.attention.attention.query.weight", "(heads key) chans"),
        Stored("W^{l,K}", "encoder.layer.{l}.attention.attention.key.weight", "(heads key) chans"),
        Stored("W^{l,V}", "encoder.layer.{l}.attention.attention.value.weight", "(heads val) chans"),
        Stored("b^{l,Q}", "encoder.layer.{l}.attention.attention.query.bias", "(heads key)"),
        Stored("b^{l,K}", "encoder.layer.{l}.attention.attention.key.bias", "(heads key)"),
        Stored("b^{l,V}", "encoder.layer.{l}.attention.attention.value.bias", "(heads val)"),
        Stored("W^{l,O}", "encoder.layer.{l}.attention.output.dense.weight", "chans (heads val)"),
        Stored("b^{l,O}", "encoder.layer.{l}.attention.output.dense.bias", "chans"),
        Stored("γ^{l,2}", "encoder.layer.{l}.layernorm_after.weight", "chans"),
        Stored("β^{l,2}", "encoder.layer.{l}.layernorm_after.bias", "chans"),
        Stored("W^{l,1}", "encoder.layer.{l}.intermediate.dense.weight", "hidden chans"),
        Stored("b^{l,1}", "encoder.layer.{l}.intermediate.dense.bias", "hidden"),
        Stored("W^{l,2}", "encoder.layer.{l}.output.dense.weight", "chans hidden"),
        Stored("b^{l,2}", "encoder.layer.{l}.output.dense.bias", "chans"),
        Stored("γ", "layernorm.weight", "chans"),
        Stored("β", "layernorm.bias", "chans"),
    )
    parts = {
        "pooled": (
            Stored("W^{pool}", "pooler.dense.weight", "out chans"),
            Stored("b^{pool}", "pooler.dense.bias", "out"),
        ),
        "logits": (
            Stored("W^{class}", "classifier.weight", "class chans"),
            Stored("b^{class}", "classifier.bias", "class"),
        ),
    }

    @classmethod
    def table(cls, config: Mapping[str, Any]) -> tuple[Stored, ...]:
        if config.get("qkv_bias", True):
            return cls.stored
        return tuple(row for row in cls.stored if row.name not in ("b^{l,Q}", "b^{l,K}", "b^{l,V}"))

    @classmethod
    def changes(cls, config: Mapping[str, Any]) -> str:
        if config.get("qkv_bias", True):
            return super().changes(config)
        plain = [f"{name} = {formula} for l = 1, …, L" for name, formula in MAPS.items()]
        return "\n".join((super().changes(config), *plain))
