"""Checkpoints of sharded tensors. Each process writes its own shards. A mesh of any shape can load them.

A folder contains one safetensors file for each process, whose metadata contains the axes and the slice of each shard.
The file `complete.json` lists these files and is written last, so a folder without this file is not a checkpoint. A
folder of several steps contains one such folder for each step, such as `step-00000012`. The last complete checkpoint is
loaded.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from typing import Any

import numpy as np

from grammar.errors import NotationError

from ..core.axes import show
from ..core.families import FamilyName
from ..core.kinds import require_path, to_integer, wrong
from ..core.tensor import NamedTensor, wrap_array
from ..files.safetensors import TensorFile, save_tensors
from ..files.text import write_whole
from ..files.versions import read_one_version
from ..tensors.pytrees import jax_module
from .sharding import Sharding

COMPLETE = "complete.json"
STEP = re.compile(r"step-(\d{8})")
Tensors = Mapping[str, NamedTensor]


def save_shards(folder: Any, tensors: Tensors) -> None:
    """Write the shards of named tensors that this process stores. Every process of the mesh calls this function.

    A shard that several devices store is written once.

    Raises
    ------
    NotationError
        If a file cannot be written (409).
    """
    jax = jax_module()
    path, process = require_path(folder), jax.process_index()
    path.mkdir(parents=True, exist_ok=True)
    shards: dict[str, Any] = {}
    entries: dict[str, Any] = {}
    shapes: dict[str, Any] = {}
    for name, tensor in ((_write_name(name), tensor) for name, tensor in tensors.items()):
        dtype = str(tensor.array.dtype)
        shapes[name] = [list(tensor.axes), list(tensor.array.shape), dtype]
        for shard in tensor.array.addressable_shards:
            if shard.replica_id == 0:
                begin = [part.start or 0 for part in shard.index]
                text = f"{name} @ {','.join(map(str, begin))}"
                array = np.asarray(shard.data)
                shards[text] = wrap_array(array.astype("float32") if dtype == "bfloat16" else array, tensor.axes)
                entries[text] = {"name": name, "begin": begin}
    metadata = {"shards": json.dumps(entries), "tensors": json.dumps(shapes)}
    save_tensors(path / f"shards-{process:05d}.safetensors", shards, metadata)
    _wait("shards are written")
    if process == 0:
        files = [f"shards-{number:05d}.safetensors" for number in range(jax.process_count())]
        write_whole(path / COMPLETE, json.dumps({"files": files}))
    _wait("the checkpoint is complete")


def load_shards(folder: Any, sharding: Sharding) -> dict[str, Any]:
    """Load the tensors of a checkpoint onto a mesh. Each process loads only its own parts.

    The mesh may differ from the mesh that wrote the checkpoint.

    Raises
    ------
    NotationError
        If the checkpoint is incomplete or lacks a part (409), or if the rules cannot shard a tensor (303, 310).
    """
    jax = jax_module()
    path = require_path(folder)
    complete = path / COMPLETE
    if not complete.is_file():
        raise NotationError(
            409, f"{path.name} is not a complete checkpoint: it has no {COMPLETE}", hint="read an earlier step"
        )

    def open_all() -> list[TensorFile]:
        return [TensorFile(path / name) for name in json.loads(complete.read_text(encoding="utf-8"))["files"]]

    files = read_one_version(path, open_all)
    shapes: dict[str, Any] = json.loads(files[0].metadata["tensors"])
    pieces: dict[str, list[tuple[TensorFile, str, list[int]]]] = {name: [] for name in shapes}
    for file in files:
        for text, entry in json.loads(file.metadata["shards"]).items():
            pieces[entry["name"]].append((file, text, entry["begin"]))
    result: dict[str, Any] = {}
    for name, (axes, extent, dtype) in shapes.items():
        placed = sharding.placed_as(name, axes, extent)
        read = _reader(name, tuple(extent), dict(zip(axes, extent)), pieces[name], jax.numpy.dtype(dtype))
        result[_read(name)] = wrap_array(jax.make_array_from_callback(tuple(extent), placed, read), tuple(axes))
    return result


def _write_name(name: str) -> str:
    """Return the text that a file stores for a name. For a family, the text is the JSON list of its members."""
    return json.dumps(name.members, ensure_ascii=False) if isinstance(name, FamilyName) else name


def _read(text: str) -> str:
    return FamilyName(tuple(json.loads(text))) if text.startswith("[") else text


def _reader(name: str, extent: tuple[int, ...], sizes: Mapping[str, int], pieces: list[Any], dtype: Any) -> Any:
    """Return a function that loads a given part of a tensor, reading only the shards that overlap this part."""

    def read(index: tuple[slice, ...]) -> Any:
        bounds = [part.indices(size)[:2] for part, size in zip(index, extent)]
        result: Any = None
        filled = 0
        for file, text, begin in pieces:
            ends = [start + size for start, size in zip(begin, file.shape(text))]
            overlap = [(max(low, start), min(high, end)) for (low, high), start, end in zip(bounds, begin, ends)]
            if any(low >= high for low, high in overlap):
                continue
            array = file[text]
            if result is None:
                result = np.empty([high - low for low, high in bounds], dtype)
            inner = tuple(slice(low - start, high - start) for (low, high), start in zip(overlap, begin))
            outer = tuple(slice(low - first, high - first) for (low, high), (first, _) in zip(overlap, bounds))
            result[outer] = array[inner]
            filled += array[inner].size
        if result is None or filled != result.size:
            raise NotationError(
                409, f"the checkpoint lacks a part of {name}", notes=(f"{name} : {show(dict(sizes))}",),
                hint="read an earlier step",
            )  # fmt: skip
        return result

    return read


# ---------------------------------------------------------------------------------------------------------- many steps
def save_step(folder: Any, step: int, tensors: Tensors, keep: int = 2) -> None:
    """Write the checkpoint of a step to a folder. Remove all complete checkpoints but the last `keep`.

    Raises
    ------
    NotationError
        If `keep` is not an integer from 1 (208), or a file cannot be written (409).
    """
    path = require_path(folder)
    count = to_integer(keep)
    if count is None or count < 1:
        raise wrong(keep, "keep", "an integer from 1", "write keep=1 to keep only the last checkpoint")
    target = path / f"step-{step:08d}"
    if jax_module().process_index() == 0 and target.is_dir() and not (target / COMPLETE).is_file():
        shutil.rmtree(target)  # This folder is from a run that ended while it wrote.
    _wait("the folder is free")
    save_shards(target, tensors)
    if jax_module().process_index() == 0:
        for old in steps_in(path)[:-count]:
            shutil.rmtree(path / f"step-{old:08d}")
    _wait("old steps are removed")


def steps_in(folder: Any) -> list[int]:
    """Return the steps of the complete checkpoints in a folder, in ascending order."""
    path = require_path(folder)
    matches = ((STEP.fullmatch(entry.name), entry) for entry in (path.iterdir() if path.is_dir() else ()))
    return sorted(int(match[1]) for match, entry in matches if match and (entry / COMPLETE).is_file())


def load_last(folder: Any, sharding: Sharding) -> tuple[int, dict[str, Any]] | None:
    """Return the number and the tensors of the last complete step in a folder, or None if no step is complete."""
    steps = steps_in(folder)
    if not steps:
        return None
    return steps[-1], load_shards(require_path(folder) / f"step-{steps[-1]:08d}", sharding)


def _wait(name: str) -> None:
    """Wait until all other processes of the mesh have called this function with the same name."""
    if jax_module().process_count() > 1:
        from jax.experimental import multihost_utils  # type: ignore[import-not-found]

        multihost_utils.sync_global_devices(name)


def flat_state(state: Mapping[str, Any], step: str = "t") -> dict[str, NamedTensor]:
    """Return the tensors of a `Training` state and its step number in one dictionary, with names such as m/W_1."""
    tensors = {
        f"{kind}/{_write_name(name)}": value
        for kind, part in state.items()
        if kind != step
        for name, value in part.items()
    }
    return {**tensors, step: wrap_array(state[step], ())}


def nest_state(tensors: Tensors, step: str = "t") -> dict[str, Any]:
    """Return the state of a `Training` from its step number and from tensors with names such as m/W_1."""
    result: dict[str, Any] = {step: tensors[step].array}
    for text, value in tensors.items():
        if text != step:
            kind, _, name = text.partition("/")
            result.setdefault(kind, {})[_read(name)] = value
    return result
