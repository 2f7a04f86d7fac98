"""The parameters of rotary positions, read from config.json."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import namedtensor as nt


def rotation(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of config.json for rotary positions, which are in rope_scaling or rope_parameters."""
    stated: dict[str, Any] = {}
    for part in ("rope_scaling", "rope_parameters"):
        stated |= config.get(part) or {}
    return stated


def count_rotated_pairs(config: Mapping[str, Any]) -> int:
    """Return the number of pairs of elements in a key that are rotated."""
    size = config["hidden_size"] // config["num_attention_heads"]
    share = rotation(config).get(
        "partial_rotary_factor", config.get("rotary_pct", config.get("partial_rotary_factor", 1))
    )
    return int(size * share) // 2


def rope_type(config: Mapping[str, Any], kind: str, supported: Collection[str]) -> str:
    """Return the kind of rotation frequencies. Raise NotationError if a model's formulas do not support this kind."""
    stated = rotation(config)
    name = stated.get("rope_type") or stated.get("type") or "default"
    if name not in supported:
        raise nt.NotationError(
            409, f"config.json has rope_type = {name!r}, which the formulas of {kind} do not support",
            hint=f"supported: {', '.join(supported)}",
        )  # fmt: skip
    return name


def theta(config: Mapping[str, Any], kind: str) -> float:
    """Return the base of the rotation frequencies. Raise NotationError unless they are of the default kind."""
    rope_type(config, kind, ("default",))
    return rotation(config).get("rope_theta", config.get("rope_theta", config.get("rotary_emb_base", 10000)))
