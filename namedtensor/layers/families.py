"""Families of parameters stored in one array each. For example, W^{1,Q}, …, W^{96,Q} are declared as W^{l,Q}."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from grammar.cache import cached_property
from grammar.plain_text import encodable

from ..core.array_data import concrete
from ..core.arrays import Layout, dtype_name, library, place_array
from ..core.families import FamilyName
from ..core.tensor import NamedTensor, wrap_array, wrap_layout

INT8 = "int8"  # the dtype of weights that are integers with a scale, and the label of the integers
MANY = 24  # the fewest members for which `to("jax")` stores a family in one array


class Members(Mapping[str, Any]):
    """The parameters of a layer by name. A member of a stacked family becomes a separate tensor when it is accessed."""

    def __init__(self, parameters: Mapping[str, Any], names: Sequence[str]):
        self.kept, self.names = parameters, names

    @cached_property
    def places(self) -> dict[str, tuple[FamilyName, int]]:
        """Return a mapping from each member of a stacked family to the family and the position of the member."""
        return {member: (name, index) for name in families_in(self.kept) for index, member in enumerate(name.members)}

    def __getitem__(self, name: str) -> Any:
        if name not in self.places:
            return self.kept[name]
        family, position = self.places[name]
        return member(self.kept[family], position)

    def __contains__(self, name: object) -> bool:
        return name in self.places or name in self.kept

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @encodable
    def __repr__(self) -> str:
        return repr(dict(self))


def families_in(names: Iterable[str]) -> list[FamilyName]:
    """Return the names in `names` that stand for families stored in one array."""
    return [name for name in names if isinstance(name, FamilyName)]


def least(names: Iterable[str]) -> int:
    """Return the number of members in the smallest of the stacked families in `names`."""
    return min(len(name.members) for name in families_in(names))


def move_parameters(parameters: Mapping[str, Any], backend: str, dtype: str | None, device: Any) -> dict[str, Any]:
    """Convert the stored parameters to another library, device and dtype. Quantized integers keep their dtype."""

    def array(value: NamedTensor) -> Any:
        array = concrete(value.array)
        if backend == "torch" and library(array) == "numpy" and not array.flags.forc:  # a part of a larger matrix
            array = array.copy()
        return place_array(array, backend, None if dtype_name(value.layout.dtype) == INT8 else dtype, device)

    return {
        name: wrap_array(array(value), value.axes) if isinstance(value, NamedTensor) else value
        for name, value in parameters.items()
    }


def member(family: Any, position: int) -> Any:
    """Return the member at a position in a family that is stored in one array."""
    layout, array = family.layout, family.array
    if layout.xp is not None:
        return wrap_array(array[position], layout.axes[1:])
    struct = array if layout.dtype is None else type(array)(layout.extent[1:], layout.dtype)
    return wrap_layout(struct, Layout(layout.axes[1:], layout.extent[1:], layout.dtype, None))


def member_shape(family: NamedTensor) -> str:
    """Format the shape of a stacked family: the shape of one member, and the number of members."""
    layout = family.layout
    shape = Layout(layout.axes[1:], layout.extent[1:], layout.dtype, layout.xp)
    return f"{wrap_layout(None, shape).shape}, {layout.extent[0]} in one array"
