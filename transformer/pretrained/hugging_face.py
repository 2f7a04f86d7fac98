"""Hugging Face folders, which contain config.json and one or several safetensors files.

Before the module creates a model, it compares the names of the arrays and their sizes with the formulas.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import namedtensor as nt
from grammar.errors import list_names

from .gguf_files import SUFFIX, GGUFFile
from .heads import NO_HEAD, drop_spare_rows, head_of, parts_of, tensors, with_head
from .model import Model
from .weights import WeightEntry, expand_entries, families, matching, take_parameters

CONFIG = "config.json"
INT8 = "int8"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"


def load(
    folder: str | os.PathLike[str],
    backend: str = "numpy",
    dtype: str | None = None,
    device: Any = None,
    head: bool = True,
) -> Model:
    """Load a model from a Hugging Face checkpoint or a GGUF file.

    If the checkpoint has layers for a task, such as the layers of BertForMaskedLM, they are also loaded. Call them with
    `model.evaluate("logits", ids)`.

    Parameters
    ----------
    folder : str or path
        A folder with config.json and model.safetensors, which may be sharded, or a GGUF file of Llama, Qwen2 or Qwen3.
    backend : {"numpy", "torch", "jax"}
        The library of the parameters (default: "numpy").
    dtype : str, optional
        The dtype of the parameters, such as "float32" (default: as stored, or float32 for a GGUF file). With "int8",
        weights are 8-bit integers with a scale, which need a quarter of the memory of float32.
    device : optional
        The device, by the library's name for it.
    head : bool
        Whether to load the layers for a task in addition to the model (default: True).

    Returns
    -------
    Model

    Raises
    ------
    NotationError
        If the checkpoint cannot be read, its model_type or its head is not supported, an array is missing, unexpected
        or has the wrong shape (409, 317), or no weight can be stored as "int8" (405).

    Examples
    --------
    >>> transformer.load("gpt2")  # doctest: +SKIP
    """
    path = Path(folder)
    if path.suffix != SUFFIX and not path.exists():
        raise nt.NotationError(409, f"{path} does not exist", hint="pass the folder of a Hugging Face checkpoint")
    if path.suffix == SUFFIX:
        arrays = GGUFFile(path)
        config = arrays.config
        kind = find_model_class(config, path)
    else:
        before = versions_in(path)
        config = read_json(path / CONFIG)
        kind = find_model_class(config, path)
        arrays = Arrays(path, kind)
        if versions_in(path) != before:
            raise nt.NotationError(
                409, f"{path} was changed while it was opened", hint="load it again when it is complete"
            )
    sizes = {name: number(config, key, path, int) for name, key in kind.config_sizes.items()}
    optional = kind.optional_rows(config)
    check_counts((*kind.table(config), *sum(optional.values(), ())), sizes, len(arrays), path)
    removed = [name for name, rows in optional.items() if not any(row.tensor in arrays for row in rows)]
    rows = kind.rows(config, sizes)
    rows += expand_entries((row for name, part in optional.items() if name not in removed for row in part), sizes)
    chosen = head_of(kind, config, arrays, tensors(rows), path) if head else NO_HEAD
    added, head_rows = parts_of(chosen, config, arrays)
    rows = [*drop_spare_rows(rows, chosen), *head_rows]
    match(kind, rows, arrays, sizes, path, chosen.spare)
    numbers = {name: number(config, key, path, float) for name, key in kind.config_constants.items()}
    table = (*kind.table(config), *sum(optional.values(), ()))
    elsewhere = {axis for row in (*rows, *table) for axis in row.axes}
    elsewhere |= families(table) - families(drop_spare_rows(table, chosen))
    left = {name: size for name, size in sizes.items() if name not in elsewhere}
    definitions = kind.config_definitions(config)
    if chosen is not NO_HEAD:
        definitions, removed = with_head(definitions, removed, added, chosen)
    if dtype == INT8:
        from namedtensor.layers import Quantization

        quantization = Quantization(kind.__name__, kind.formula.replace_definitions(definitions, removed))
        tensors_by_name = take_parameters(rows, arrays, sizes, quantization.parts)
        definitions = "\n".join(filter(None, (definitions, quantization.definitions(tensors_by_name))))
    else:
        tensors_by_name = take_parameters(rows, arrays, sizes)
    model = kind({**tensors_by_name, **numbers}, left, definitions, config, removed)
    dtype = None if dtype == INT8 else dtype
    if backend == "numpy":
        return model.to(backend, dtype, device).pack()
    return model.pack(backend).to(backend, dtype, device)


def versions_in(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the device, inode, size and modification time of the configuration, the index and each weight file."""
    files = [file for file in (path / CONFIG, path / INDEX) if file.exists()]
    status = {file.name: file.stat() for file in (*files, *path.glob("*.safetensors"))}
    return {name: (entry.st_dev, entry.st_ino, entry.st_size, entry.st_mtime_ns) for name, entry in status.items()}


def read_json(path: Path, kind: type = dict) -> Any:
    """Read a JSON file of the checkpoint. Raise NotationError if the file is missing or invalid."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except RecursionError:
        raise nt.NotationError(409, f"cannot read {path}: the JSON is nested too deep") from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or f"it is not valid JSON: {problem}"
        raise nt.NotationError(409, f"cannot read {path}: {reason[:1].lower() + reason[1:]}") from None
    if not isinstance(data, kind):
        raise nt.NotationError(409, f"cannot read {path}: expected {'an object' if kind is dict else 'a list'}")
    return data


def find_model_class(config: Mapping[str, Any], path: Path) -> type[Model]:
    """Return the model class for the entry model_type of the configuration.

    Raise NotationError if there is no such class, or if its formulas do not support the other entries.
    """
    name = config.get("model_type")
    kind = Model.models.get(str(name))
    if kind is None:
        known = ", ".join(sorted(Model.models))
        raise nt.NotationError(
            409, f"{path}: unsupported model_type {name!r}" if name else f"{path / CONFIG} has no model_type",
            notes=(f"supported: {known}",),
            hint="read the formulas of any other model from its code: nt.from_torch(AutoModel.from_pretrained(folder), "
            "torch.tensor([[1, 2, 3]]))" if name else "write it there: \"model_type\": \"bert\"",
        )  # fmt: skip
    for key, expected in kind.required_config.items():
        if config.get(key, expected) != expected:
            raise nt.NotationError(
                409, f"config.json has {key} = {config[key]!r}, but the formulas of {kind.__name__} need {expected!r}"
            )
    return kind


Key = str | Callable[[Mapping[str, Any]], int]
Kind = TypeVar("Kind", int, float)


def number(config: dict[str, Any], key: Key, path: Path, kind: type[Kind]) -> Kind:
    """Return a number for `key`: an entry of config.json, or the result of a function of the configuration."""
    try:
        result = config[key] if isinstance(key, str) else key(config)
    except KeyError as problem:
        raise nt.NotationError(409, f"{path / CONFIG} has no {problem.args[0]}") from None
    except (TypeError, ValueError, ArithmeticError, LookupError):
        raise nt.NotationError(409, f"{path / CONFIG} has sizes that are not positive integers") from None
    if isinstance(result, bool) or not isinstance(result, int if kind is int else (int, float)) or result < 0:
        says = f"{key} = {result!r}" if isinstance(key, str) else repr(result)
        raise nt.NotationError(409, f"{path / CONFIG} has {says}, but a number is expected")
    return kind(result)


# ------------------------------------------------------------------------------------------------------- the arrays
class Arrays(Mapping[str, Any]):
    """The arrays of a folder, in one or several files, by the names in the model's weight entries.

    If the weight entries have the same name for several arrays, only the first array is accessible. `doubles` lists the
    other arrays by their names in the files.
    """

    def __init__(self, path: Path, kind: type[Model]):
        self.files: dict[str, tuple[nt.TensorFile, str]] = {}
        self.doubles: list[str] = []
        for text, file in files_of(path).items():
            name = remove_prefix(text, kind.base_model_prefix)
            for other, here in kind.weight_renames.items():
                name = name.replace(other, here)
            if name in self.files:
                self.doubles.append(text)
            self.files.setdefault(name, (file, text))

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __contains__(self, name: object) -> bool:
        return name in self.files

    def __getitem__(self, name: str) -> Any:
        file, text = self.files[name]
        return file[text]

    def own(self, name: str) -> str:
        """Return the name of an array in its file."""
        return self.files[name][1]

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an array."""
        file, text = self.files[name]
        return file.shape(text)


class State(dict[str, Any]):
    """Arrays that are not in a file, such as the arrays of a state_dict. The interface is the same as in `Arrays`."""

    doubles: ClassVar[list[str]] = []

    def own(self, name: str) -> str:
        """Return the name of an array in the state_dict."""
        return name

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an array."""
        return tuple(self[name].shape)


def files_of(path: Path) -> dict[str, nt.TensorFile]:
    """Return the file that contains each array of a folder, keyed by the array's name."""
    if not (path / INDEX).exists():
        file = nt.TensorFile(path / WEIGHTS)
        return dict.fromkeys(file, file)
    listed = read_json(path / INDEX).get("weight_map")
    if not isinstance(listed, dict) or not all(map(is_plain, listed.values())):  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        raise nt.NotationError(
            409, f"cannot read {path / INDEX}: its weight_map must name a file of the folder for each array"
        )
    places = cast(Mapping[str, str], listed)
    files = {name: nt.TensorFile(path / name) for name in sorted(set(places.values()))}
    for name, file in places.items():
        if name not in files[file]:
            raise nt.NotationError(409, f"{path / file} is missing {name}, listed in {INDEX}")
    return {name: files[file] for name, file in places.items()}


def remove_prefix(name: str, prefixes: str | tuple[str, ...]) -> str:
    """Return the name of an array without the first of these prefixes that it starts with."""
    listed = (prefixes,) if isinstance(prefixes, str) else prefixes
    return next((name.removeprefix(prefix) for prefix in listed if name.startswith(prefix)), name)


def is_plain(name: Any) -> bool:
    """Return whether a name is only a file name, without a path to another folder."""
    return isinstance(name, str) and Path(name).name == name and "\0" not in name


def check_counts(rows: Iterable[WeightEntry], sizes: Mapping[str, int], arrays: int, path: Path) -> None:
    """Raise NotationError if config.json specifies more layers than there are arrays in the files.

    This is checked before any weight entries are created for the layers.
    """
    layers = max((sizes[row.family.upper()] for row in rows if row.family), default=0)
    if layers > arrays:
        raise nt.NotationError(409, f"{path / CONFIG} has {layers} layers, but the folder has {arrays} arrays")


def match(
    kind: type[Model],
    rows: list[WeightEntry],
    arrays: Arrays | GGUFFile | State,
    sizes: Mapping[str, int],
    path: Path | str,
    spare: Iterable[str] = (),
) -> None:
    """Raise NotationError if an array is missing or unexpected or has the wrong shape.

    `spare` contains patterns for the names of arrays to ignore.
    """
    expected = dict.fromkeys(row.tensor for row in rows)
    missing = [name for name in expected if name not in arrays]
    unread = {name for name in arrays if name not in expected} - {*matching((*kind.ignored_weights, *spare), arrays)}
    heads = matching(kind.ignored_heads, unread)
    further = [arrays.own(name) for name in arrays if name in unread and name not in heads]
    further += arrays.doubles
    if missing or further:
        raise nt.NotationError(
            409, f"the weights in {path} do not match {kind.__name__}",
            notes=tuple(
                f"{what}: {list_names(names)}" for what, names in (("missing keys", missing), ("unexpected keys", further)) if names
            ),
        )  # fmt: skip
    for row in rows:
        has, result = arrays.shape(row.tensor), row.sizes(sizes)
        if len(has) != len(result) or any(want is not None and want != size for want, size in zip(result, has)):
            raise misshapen(kind, row, arrays.own(row.tensor), has, result)


def misshapen(kind: type[Model], row: WeightEntry, name: str, has: tuple[int, ...], expected: Any) -> nt.NotationError:
    """Return the error for an array whose shape is not the shape in its weight entry."""
    axes = ["·".join(group) for group in row.groups]
    says = " × ".join(f"{axis}[{size or '?'}]" for axis, size in zip(axes, expected))
    return nt.NotationError(
        317, f"{name} has shape {' × '.join(map(str, has))}, but {row.name} of {kind.__name__} is stored as {says}",
        notes=("the expected sizes come from config.json",),
    )  # fmt: skip
