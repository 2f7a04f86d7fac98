"""The metadata of a layer, and the file that stores it with the parameters."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from grammar.errors import NotationError

from ..core.tensor import NamedTensor

if TYPE_CHECKING:
    from ..sharding.sharding import Sharding

ABOUT = ("numbers", "sizes", "definitions", "config", "removed")  # the metadata entries of a file, besides `layer`
STRICT = "strict"  # an entry that files of earlier versions lack


class LayerMetadata(NamedTuple):
    """The metadata of a layer: everything except its parameters. Two instances can be compared and hashed."""

    sizes: tuple[tuple[str, int], ...]
    definitions: str
    config: str
    removed: frozenset[str]
    sharding: Sharding | None = None  # where the parameters are placed, if given
    stacked: tuple[str, ...] = ()  # the names of all parameters if some families are stored in one array, else ()
    strict: bool = False  # whether outer broadcasts are forbidden

    @classmethod
    def of(
        cls, sizes: Mapping[str, int], definitions: str, config: Mapping[str, Any], remove: Iterable[str]
    ) -> LayerMetadata:
        written = json.dumps(dict(config), ensure_ascii=False)
        return cls(tuple(sorted(sizes.items())), definitions, written, frozenset(remove))


def write(path: str | os.PathLike[str], kind: str, parameters: Mapping[str, Any], about: LayerMetadata) -> None:
    """Write a safetensors file with a layer's parameters and metadata."""
    tensors = {name: value for name, value in parameters.items() if isinstance(value, NamedTensor)}
    numbers = {name: value for name, value in parameters.items() if name not in tensors}
    fields = (
        numbers,
        dict(about.sizes),
        about.definitions,
        json.loads(about.config),
        sorted(about.removed),
        about.strict,
    )
    entries = zip((*ABOUT, STRICT), fields, strict=True)
    written = {name: json.dumps(value, ensure_ascii=False) for name, value in entries}
    from ..files.safetensors import save_tensors

    save_tensors(path, tensors, {"layer": kind, **written})


def read(path: str | os.PathLike[str], kind: str) -> tuple[Any, ...]:
    """Return the parameters, sizes, definitions, configuration, removed names and strictness from a layer file.

    Raises NotationError if the file contains another layer class or lacks the metadata of a layer.
    """
    from ..files.safetensors import TensorFile, read_named_tensors

    file = TensorFile(path)
    about = file.metadata
    text = about.get("layer")
    if text != kind:
        holds = f"holds {text}" if text else "does not name its layer"
        raise NotationError(409, f"{path} {holds}, and is to be read as {kind}")
    try:
        numbers, *rest = (json.loads(about[name]) for name in ABOUT)
        strict = json.loads(about.get(STRICT, "false"))
    except (KeyError, ValueError):
        raise NotationError(409, f"{path} has no metadata of the layer that it holds") from None
    return {**read_named_tensors(file), **numbers}, *rest, strict
