"""CLIP, a model of texts and images, and the names of its weights in checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from namedtensor.initializers import Constant, Normal

from ..pretrained.model import Model, activation_named
from .task_heads import CLIP_HEADS
from .vit import sides, tokens


def read_config_entry(part: str, key: str, divided_by: str = "") -> Callable[[Mapping[str, Any]], Any]:
    """Return a function that reads a number from the part of config.json for the text encoder or the image encoder.

    If `divided_by` is not empty, divide the number by the entry with this key.
    """

    def read(config: Mapping[str, Any]) -> Any:
        stated = config[f"{part}_config"]
        return stated[key] // stated[divided_by] if divided_by else stated[key]

    return read


class CLIP(Model):
    """CLIP, with encoders for texts and images. `logits` compares the unit vectors `text` and `image`.

    Texts and images have separate axes. If the ids have the axes `texts` and `seq`, and the pixels have the axes
    `images`, `color`, `height` and `width`, the logits have the axes `texts` and `images`.
    """

    citation = "Radford et al., Learning Transferable Visual Models From Natural Language Supervision, 2021"
    file = "clip.nt"
    output = "logits"
    inputs = ("ids", "pixels")
    optional_inputs = ("mask", "positions")
    model_types = ("clip",)
    initializers = {"E": Normal("0.02"), "P": Normal("0.01"), "C": Normal("0.02"), "W": Normal("0.02"), "b": Constant(0.0),
            "τ": Constant(2.6592)}  # fmt: skip
    config_sizes = {
        "L": read_config_entry("text", "num_hidden_layers"), "N": read_config_entry("vision", "num_hidden_layers"), "joint": "projection_dim",
        "vocab": read_config_entry("text", "vocab_size"), "place": read_config_entry("text", "max_position_embeddings"),
        "color": read_config_entry("vision", "num_channels"),
        "patch": lambda config: tokens(config["vision_config"]),
        "height": lambda config: sides(config["vision_config"]["image_size"])[0],
        "width": lambda config: sides(config["vision_config"]["image_size"])[1],
        "down": lambda config: sides(config["vision_config"]["patch_size"])[0],
        "across": lambda config: sides(config["vision_config"]["patch_size"])[1],
        **{
            f"{axis}{prime}": read_config_entry(part, *keys)
            for part, prime in (("text", ""), ("vision", "'"))
            for axis, keys in {
                "chans": ("hidden_size",), "hidden": ("intermediate_size",), "heads": ("num_attention_heads",),
                "key": ("hidden_size", "num_attention_heads"), "val": ("hidden_size", "num_attention_heads"),
            }.items()
        },
    }  # fmt: skip
    config_constants = {}
    ignored_weights = ("text_model.embeddings.position_ids", "vision_model.embeddings.position_ids")
    ignored_heads = ("classifier.*",)
    heads = CLIP_HEADS
    weights = "clip.weights"

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        last = config["text_config"].get("eos_token_id", 49407)
        lines = [f"last = {last}"] if last != 2 else ["ends = ids"]  # a wrong value of old files: take the largest id
        for name, part in (("ε", "text"), ("δ", "vision")):
            lines.append(f"{name} = {config[f'{part}_config'].get('layer_norm_eps', 1e-5)}")
        for name, part in (("act", "text"), ("act'", "vision")):
            activation = config[f"{part}_config"].get("hidden_act", "quick_gelu")
            lines.append(f"{name}(x) = {activation_named(activation, 'hidden_act')}")
        return "\n".join(lines)
