"""ViT, an encoder of images, and the names of its weights in checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from namedtensor.initializers import Constant, Normal

from ..pretrained.model import Model
from ..pretrained.weights import WeightEntry

MAPS = {
    "Q^l": "N^l ⊙_{chans} W^{l,Q}",
    "K^l": "[N^l ⊙_{chans} W^{l,K}]_{seq→memory}",
    "V^l": "[N^l ⊙_{chans} W^{l,V}]_{seq→memory}",
}


def sides(size: Any) -> tuple[int, int]:
    """Return the height and the width of an image or patch. A configuration can give both as a single number."""
    if not isinstance(size, list):
        return size, size
    height, width = cast(list[int], size)
    return height, width


def tokens(config: Mapping[str, Any]) -> int:
    """Return the number of tokens, which are the patches and the class token."""
    (height, width), (down, across) = sides(config["image_size"]), sides(config["patch_size"])
    return 1 + (height // down) * (width // across)


class ViT(Model):
    """ViT, an encoder of image patches. `pooled` and `logits` are available if a checkpoint has their weights.

    The pixels have the axes chans, height and width. The formulas rename the axis chans of the pixels to color.
    """

    citation = "Dosovitskiy et al., An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale, 2021"
    file = "vit.nt"
    output = "states"
    inputs = ("pixels",)
    model_types = ("vit",)
    initializers = {"C": Normal("0.02"), "P": Normal("0.02"), "W": Normal("0.02"), "b": Constant(0.0)}
    config_sizes = {
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
    config_constants = {"ε": "layer_norm_eps"}
    activation = "hidden_act"
    required_config = {"pooler_act": "tanh"}
    base_model_prefix = "vit."
    weight_renames = {
        "layers.": "encoder.layer.", "attention.q_proj": "attention.attention.query",
        "attention.k_proj": "attention.attention.key", "attention.v_proj": "attention.attention.value",
        "attention.o_proj": "attention.output.dense", "mlp.fc1": "intermediate.dense", "mlp.fc2": "output.dense",
    }  # fmt: skip
    ignored_heads = ("embeddings.mask_token", "decoder.*")
    weights = "vit.weights"

    @classmethod
    def table(cls, config: Mapping[str, Any]) -> tuple[WeightEntry, ...]:
        """Return the weight entries that apply to this configuration."""
        if config.get("qkv_bias", True):
            return cls.weight_map
        return tuple(row for row in cls.weight_map if row.name not in ("b^{l,Q}", "b^{l,K}", "b^{l,V}"))

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        """Return the definitions that the configuration selects."""
        if config.get("qkv_bias", True):
            return super().config_definitions(config)
        plain = [f"{name} = {formula} for l = 1, …, L" for name, formula in MAPS.items()]
        return "\n".join((super().config_definitions(config), *plain))
