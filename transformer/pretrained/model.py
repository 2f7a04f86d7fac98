"""Pretrained models: layers whose parameters come from a file, with a table that specifies how the file names them.

A file of Hugging Face holds positional arrays. A row of the table names one of our parameters, the array that holds it,
and the axes of that array in its order, where (heads key) is one axis made of two:

    WeightEntry("W^{l,Q}", "h.{l}.attn.c_attn.weight", "chans (three[3] heads key)", three=0)

Our l counts from 1 to L, the file's from 0; so do n and N, where there are two families.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import namedtensor as nt

from ..core.layer import Layer
from ..core.parameters import shapes

if TYPE_CHECKING:
    from ..core.torch_modules import LayerModule

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


class WeightEntry:
    """The place of a parameter in a file: the name of an array, its axes in its order, and which part of it (from 0)."""

    def __init__(self, name: str, tensor: str, axes: str, **part: int):
        self.name, self.tensor, self.part = name, tensor, part
        self.spelled = name  # in the formulas
        self.layer = 0  # which the row is of, where it is one of a family
        plain = re.sub(r"\[\d+\]", "", axes)
        self.stated = {axis: int(size) for axis, size in re.findall(r"(\w+)\[(\d+)\]", axes)}
        self.groups = tuple(tuple(group.strip("()").split()) for group in re.findall(r"\([^()]*\)|\S+", plain))

    def counted(self, count: int) -> WeightEntry:
        """The row of one layer of a family, counted from 1."""
        weight_entry = object.__new__(WeightEntry)
        weight_entry.name, weight_entry.spelled = re.sub(rf"\b{self.family}\b", str(count), self.name), self.spelled
        weight_entry.tensor = self.tensor.replace(f"{{{self.family}}}", str(count - 1))
        weight_entry.part, weight_entry.groups, weight_entry.stated, weight_entry.layer = (
            self.part,
            self.groups,
            self.stated,
            count,
        )
        return weight_entry

    @property
    def family(self) -> str | None:
        """The letter that counts the layers, where there is a tensor for each."""
        letter = re.search(r"\{(\w)\}", self.tensor)
        return letter and letter[1]

    @property
    def axes(self) -> set[str]:
        """The axes of the parameter."""
        return {axis for group in self.groups for axis in group} - set(self.part)

    def sizes(self, known: Mapping[str, int]) -> tuple[int | None, ...]:
        """The sizes that the array must have; None where nothing specifies."""
        indices: list[int | None] = []
        for group in self.groups:
            total: int | None = 1
            for axis in group:
                size = self.stated.get(axis, known.get(axis))
                total = None if size is None or total is None else total * size
            indices.append(total)
        return tuple(indices)

    def take(self, array: Any, known: Mapping[str, int]) -> nt.NamedTensor:
        """The parameter out of the array, in its memory."""
        merged = ["_".join(group) for group in self.groups]
        tensor = nt.tensor(array, merged)
        for name, group in zip(merged, self.groups):
            if len(group) > 1:
                tensor = tensor.split({name: {axis: self.stated.get(axis, known.get(axis)) for axis in group}})
        return tensor[self.part] if self.part else tensor


def expanded(rows: Iterable[WeightEntry], sizes: Mapping[str, int]) -> list[WeightEntry]:
    """A row for each parameter, families counted out."""
    weight_entries: list[WeightEntry] = []
    for row in rows:
        last = sizes[row.family.upper()] if row.family else None
        weight_entries += [row] if last is None else [row.counted(count) for count in range(1, last + 1)]
    return weight_entries


class Model(Layer):
    """A layer that `transformer.load` makes of a Hugging Face checkpoint; `config` is what its config.json has."""

    file: ClassVar[str] = ""
    model_types: ClassVar[tuple[str, ...]] = ()  # model_type in config.json
    config_sizes: ClassVar[
        Mapping[str, str | Callable[[Mapping[str, Any]], int]]
    ] = {}  # sizes by name, and how config says them
    config_constants: ClassVar[Mapping[str, str]] = {}  # constants of the formulas, and their keys in config
    activation: ClassVar[str] = ""  # the key in config that names the activation
    required_config: ClassVar[Mapping[str, Any]] = {}  # keys whose values the formulas are for
    base_model_prefix: ClassVar[str] = ""  # what some files put before each name
    weight_renames: ClassVar[
        Mapping[str, str]
    ] = {}  # parts of names renamed from the files' form to the formulas' form
    ignored_weights: ClassVar[tuple[str, ...]] = ()  # arrays of such files that are not parameters
    ignored_heads: ClassVar[
        tuple[str, ...]
    ] = ()  # arrays of heads that the formulas do not have: loading warns of them
    weight_map: ClassVar[tuple[WeightEntry, ...]] = ()
    optional_weights: ClassVar[
        Mapping[str, tuple[WeightEntry, ...]]
    ] = {}  # definitions whose parameters some files lack
    models: ClassVar[dict[str, type[Model]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for kind in cls.model_types:
            Model.models[kind] = cls

    def module(
        self, name: str | tuple[str, ...] = "", /, *, dtype: str | None = None, **inputs: str | Iterable[str]
    ) -> LayerModule:
        """The model as a `torch.nn.Module`, as `Layer.module` makes it.

        Without `inputs` it takes what a call needs, with the axes of the declarations after an axis `batch`.

        >>> from transformer import GPT2
        >>> sizes = {"L": 1, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 9, "place": 20}
        >>> GPT2.init(sizes=sizes).module().axes
        ('batch', 'seq', 'vocab')
        """
        return super().module(name, dtype=dtype, **(inputs or self._batched_inputs()))

    def _batched_inputs(self) -> dict[str, list[str]]:
        """The axes of the inputs that a call needs, after an axis `batch`."""
        tensors = {name: value for name, value in self.parameters.items() if isinstance(value, nt.NamedTensor)}
        declared = shapes(self._declared(), self.sizes, **tensors)
        return {
            name: ["batch", *(axis if size is None else f"{axis}[{size}]" for axis, size in declared[name].items())]
            for name in self.inputs
        }

    @classmethod
    def rows(cls, config: Mapping[str, Any], sizes: Mapping[str, int]) -> list[WeightEntry]:
        """A row for each parameter, families counted out."""
        return expanded(cls.table(config), sizes)

    @classmethod
    def table(cls, config: Mapping[str, Any]) -> tuple[WeightEntry, ...]:
        """The rows that a config asks for."""
        return cls.weight_map

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        """The definitions that a config asks for in place of those in the formulas."""
        name = config.get(cls.activation) if cls.activation else None
        if name is None:
            return ""
        if name not in ACTIVATIONS:
            raise nt.NotationError(
                409, f"config.json has an unsupported {cls.activation}: {name!r}",
                hint=f"supported: {', '.join(ACTIVATIONS)}",
            )  # fmt: skip
        return f"act(x) = {ACTIVATIONS[name]}"
