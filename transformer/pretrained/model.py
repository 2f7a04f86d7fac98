"""Pretrained models: layers with parameters from a file, and a table of the names of these parameters in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import namedtensor as nt
from namedtensor.layers import Layer

from .heads import TaskHead
from .weights import WeightEntry, expand_entries, read_tables

if TYPE_CHECKING:
    from namedtensor.layers import LayerModule

OPTIONAL = "optional "  # in the title of a section whose weights some files lack
ACTIVATIONS = {
    "gelu": "gelu(x)",
    "gelu_new": "gelu_tanh(x)",
    "gelu_pytorch_tanh": "gelu_tanh(x)",
    "gelu_fast": "gelu_tanh(x)",
    "gelu_python": "gelu(x)",
    "gelu_python_tanh": "gelu_tanh(x)",
    "gelu_accurate": "gelu_tanh(x)",
    "gelu_10": "clip(gelu(x), -10, 10)",
    "quick_gelu": "x σ(1.702 x)",
    "hardswish": "x ⊙ clip(x + 3, 0, 6) / 6",
    "leaky_relu": "max(x, 0.01 x)",
    "linear": "x",
    "mish": "x tanh(softplus(x))",
    "relu": "relu(x)",
    "relu2": "relu(x)^2",
    "relu6": "clip(x, 0, 6)",
    "sigmoid": "σ(x)",
    "silu": "silu(x)",
    "swish": "silu(x)",
    "tanh": "tanh(x)",
}


class Model(Layer):
    """A layer that `transformer.load` creates from a Hugging Face checkpoint. `config` is the parsed config.json."""

    model_types: ClassVar[tuple[str, ...]] = ()  # model_type in config.json
    config_sizes: ClassVar[
        Mapping[str, str | Callable[[Mapping[str, Any]], int]]
    ] = {}  # sizes by name, each with a key of config or a function of config
    config_constants: ClassVar[Mapping[str, str]] = {}  # constants of the formulas, and their keys in config
    activation: ClassVar[str] = ""  # the key in config that names the activation
    required_config: ClassVar[Mapping[str, Any]] = {}  # keys, each with the value that the formulas require
    base_model_prefix: ClassVar[str | tuple[str, ...]] = ""  # the prefix of each name in some files
    weight_renames: ClassVar[
        Mapping[str, str]
    ] = {}  # parts of names renamed from the files' form to the formulas' form
    ignored_weights: ClassVar[tuple[str, ...]] = ()  # arrays that are not parameters of the formulas
    ignored_heads: ClassVar[
        tuple[str, ...]
    ] = ()  # arrays of heads; an array that matches none of `heads` raises an error, unless the head is left out
    heads: ClassVar[Mapping[str, TaskHead]] = {}  # by the end of the name of their class in transformers
    weights: ClassVar[str] = ""  # a table of weights beside the formulas
    weight_changes: ClassVar[str] = ""  # a table whose rows replace rows of the base class, or follow them
    weight_tables: ClassVar[Mapping[str, tuple[WeightEntry, ...]]] = {}  # the sections of the table
    weight_map: ClassVar[tuple[WeightEntry, ...]] = ()
    optional_weights: ClassVar[
        Mapping[str, tuple[WeightEntry, ...]]
    ] = {}  # definitions whose parameters some files lack
    # whether U = E by default, if a config does not say; None if U = E is impossible
    tied_by_default: ClassVar[bool | None] = None
    models: ClassVar[dict[str, type[Model]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for kind in cls.model_types:
            Model.models[kind] = cls
        if file := cls.__dict__.get("weights"):
            cls.weight_tables = read_tables(cls.file_text(file))
            cls.weight_map = cls.weight_tables[""]
            cls.optional_weights = {
                title.removeprefix(OPTIONAL): rows
                for title, rows in cls.weight_tables.items()
                if title.startswith(OPTIONAL)
            }
        if file := cls.__dict__.get("weight_changes"):
            rows = {row.name: row for row in (*cls.weight_map, *read_tables(cls.file_text(file))[""])}
            cls.weight_map = tuple(rows.values())

    def module(
        self, name: str | tuple[str, ...] = "", /, *, dtype: str | None = None, **inputs: str | Iterable[str]
    ) -> LayerModule:
        """Return the model as a `torch.nn.Module`, like `Layer.module`.

        If `inputs` is empty, the module accepts the arguments of a call, with an axis `batch` before the declared axes.

        >>> from transformer import GPT2
        >>> sizes = {"L": 1, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 9, "place": 20}
        >>> GPT2.init(sizes=sizes).module().axes
        ('batch', 'seq', 'vocab')
        """
        return super().module(name, dtype=dtype, **(inputs or self._find_batched_inputs()))

    def _find_batched_inputs(self) -> dict[str, list[str]]:
        """Return the axes of each input that a call requires, starting with `batch`."""
        tensors = (value for value in self.parameters.values() if isinstance(value, nt.NamedTensor))
        known = {*self.sizes, *(axis for tensor in tensors for axis in tensor.axes)}
        open_axes = self.default_sizes.keys() - known
        return {
            name: [
                "batch",
                *(axis if size is None or axis in open_axes else f"{axis}[{size}]" for axis, size in shape.items()),
            ]
            for name, shape in self.input_shapes.items()
        }

    @classmethod
    def rows(cls, config: Mapping[str, Any], sizes: Mapping[str, int]) -> list[WeightEntry]:
        """Return a weight entry for each parameter, including every member of a family."""
        return expand_entries(cls.table(config), sizes)

    @classmethod
    def table(cls, config: Mapping[str, Any]) -> tuple[WeightEntry, ...]:
        """Return the weight entries of a model with this configuration."""
        return cls.weight_map

    @classmethod
    def optional_rows(cls, config: Mapping[str, Any]) -> Mapping[str, tuple[WeightEntry, ...]]:
        """Return weight entries that a file may lack, keyed by the name of the definition that requires them."""
        return {} if cls.is_tied(config) else cls.optional_weights

    @classmethod
    def is_tied(cls, config: Mapping[str, Any]) -> bool:
        """Return whether the logits use the embedding as weights, for a model that also supports separate weights."""
        return cls.tied_by_default is not None and bool(config.get("tie_word_embeddings", cls.tied_by_default))

    @classmethod
    def task_heads(cls, config: Mapping[str, Any]) -> Mapping[str, TaskHead]:
        """Return the task heads of a model. A key is the suffix of a class name in the library transformers."""
        return cls.heads

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        """Return the definitions that replace definitions in the formulas for this configuration."""
        name = config.get(cls.activation) if cls.activation else None
        activation = "" if name is None else f"act(x) = {activation_named(name, cls.activation)}"
        return "\n".join(filter(None, (activation, "U = E" if cls.is_tied(config) else "")))


def families(model: Model, names: Iterable[str]) -> list[str]:
    """Return the names of all members of these families, ordered by layer."""
    names = tuple(names)
    return [re.sub(r"\bl\b", str(l), name) for l in range(1, model.sizes["L"] + 1) for name in names]


def activation_named(name: Any, key: str) -> str:
    """Return the formula of an activation in config.json. Raise NotationError if the activation is unknown."""
    if name not in ACTIVATIONS:
        raise nt.NotationError(
            409, f"config.json has an unsupported {key}: {name!r}", hint=f"supported: {', '.join(ACTIVATIONS)}"
        )
    return ACTIVATIONS[name]
