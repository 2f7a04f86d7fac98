"""Folders of Hugging Face: config.json, and one or several files of safetensors.

Everything is compared before anything is made: which arrays there are, and the sizes of each against the formulas.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import namedtensor as nt
from namedtensor.arrays import placed
from namedtensor.tensor_files import TensorFile

from .model import Model, Stored
from .parameters import listed

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"


def load(folder: str | os.PathLike[str], backend: str = "numpy", dtype: str | None = None, device: Any = None) -> Model:
    """The model of a Hugging Face folder: config.json, and model.safetensors or its parts.

    `backend` is "numpy", "torch" or "jax"; `dtype` that of the parameters ("float32"), else they stay as they are kept.
    Raises NotationError 409 where the folder cannot be read, is of a model that is not known, or has a tensor missing,
    left over or of other sizes than the formulas say.
    """
    place = Path(folder)
    config = read_json(place / "config.json")
    kind = known_kind(config, place)
    arrays = Arrays(place)
    sizes = {name: counted(config, key, place) for name, key in kind.counts.items()}
    rows = kind.rows(config, sizes)
    found = matched(kind, rows, arrays, sizes, place)
    parameters: dict[str, Any] = {}
    for row, name in zip(rows, found):
        tensor = row.take(arrays[name], sizes)
        parameters[row.name] = nt.tensor(placed(tensor.array, backend, dtype, device), tensor.axes)
    parameters |= {name: config[key] for name, key in kind.numbers.items()}
    axes = {axis for tensor in parameters.values() if isinstance(tensor, nt.NamedTensor) for axis in tensor.axes}
    left = {name: size for name, size in sizes.items() if name not in axes}
    return kind(parameters, left, kind.changes(config), config)


def read_json(place: Path) -> dict[str, Any]:
    try:
        found = json.loads(place.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or f"it is no JSON: {problem}"
        raise nt.NotationError(409, f"{place} cannot be read: {reason[:1].lower() + reason[1:]}") from None
    if not isinstance(found, dict):
        raise nt.NotationError(409, f"{place} cannot be read: it holds no names")
    return found


def known_kind(config: Mapping[str, Any], place: Path) -> type[Model]:
    name = config.get("model_type")
    kind = Model.models.get(str(name))
    if kind is None:
        known = ", ".join(sorted(Model.models))
        raise nt.NotationError(
            409, f"{place} is of a model that is not known: its config.json says model_type = {name!r}",
            hint=f"known are {known}",
        )  # fmt: skip
    for key, wanted in kind.only.items():
        if config.get(key, wanted) != wanted:
            raise nt.NotationError(
                409, f"config.json says {key} = {config[key]!r}, and the formulas of {kind.__name__} are for {wanted!r}"
            )
    return kind


def counted(config: dict[str, Any], key: str | Callable[[Mapping[str, Any]], int], place: Path) -> int:
    try:
        return int(config[key] if isinstance(key, str) else key(config))
    except KeyError as problem:
        raise nt.NotationError(409, f"{place / 'config.json'} does not say {problem.args[0]}") from None


# ------------------------------------------------------------------------------------------------------- the arrays
class Arrays(Mapping[str, Any]):
    """The arrays of a folder by name, in one file or several."""

    def __init__(self, place: Path):
        if (place / INDEX).exists():
            places = read_json(place / INDEX).get("weight_map", {})
            files = {name: TensorFile(place / name) for name in sorted(set(places.values()))}
            self.files = {name: files[file] for name, file in places.items()}
            for name, file in self.files.items():
                if name not in file:
                    raise nt.NotationError(409, f"{file.place} lacks {name}, which {INDEX} says it holds")
        else:
            file = TensorFile(place / WEIGHTS)
            self.files = dict.fromkeys(file, file)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, name: str) -> Any:
        return self.files[name][name]

    def shape(self, name: str) -> tuple[int, ...]:
        return self.files[name].shape(name)


def matched(kind: type[Model], rows: list[Stored], arrays: Arrays, sizes: Mapping[str, int], place: Path) -> list[str]:
    """The array of each row. Raises where one is missing, is left over, or has other sizes."""
    found = [row.tensor if row.tensor in arrays else kind.prefix + row.tensor for row in rows]
    missing = [name for name in dict.fromkeys(found) if name not in arrays]
    spare = [re.escape(name).replace(r"\{l\}", r"\d+") for name in kind.spare]
    fits = re.compile("|".join(f"({re.escape(kind.prefix)})?{name}" for name in spare)) if spare else None
    further = [name for name in arrays if name not in found and not (fits and fits.fullmatch(name))]
    if missing or further:
        raise nt.NotationError(
            409, f"the arrays in {place} are not those of {kind.__name__}",
            notes=tuple(
                f"{what}: {listed(names)}" for what, names in (("missing", missing), ("left over", further)) if names
            ),
        )  # fmt: skip
    for row, name in zip(rows, found):
        has, wanted = arrays.shape(name), row.sizes(sizes)
        if len(has) != len(wanted) or any(want is not None and want != size for want, size in zip(wanted, has)):
            raise misshapen(kind, row, name, has, wanted)
    return found


def misshapen(kind: type[Model], row: Stored, name: str, has: tuple[int, ...], wanted: Any) -> nt.NotationError:
    axes = ["·".join(group) for group in row.groups]
    says = " × ".join(f"{axis}[{size or '?'}]" for axis, size in zip(axes, wanted))
    return nt.NotationError(
        317, f"{row.name} of {kind.__name__} is kept as {says}, and {name} has {' × '.join(map(str, has))}",
        notes=("the sizes are those that config.json says",),
    )  # fmt: skip
