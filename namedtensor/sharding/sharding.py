"""Tensors sharded over devices by the names of their axes.

A rule specifies the mesh axis that shards a tensor axis. The same rules apply to every tensor:

    sharded = program.shard({"batch": "data", "heads": "model", "hidden": "model"}, mesh)

The rules never change a formula's value, only the placement of its parts. `sharded.py` runs formulas under these rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grammar.cache import Cache
from grammar.errors import NotationError
from grammar.plain_text import encodable

from ..core.array_data import concrete
from ..core.axes import check_axis, names_of, show
from ..core.kinds import is_mapping, is_sequence, require_names
from ..core.suggestions import did_you_mean, near
from ..core.tensor import NamedTensor, wrap_array, wrap_layout
from ..tensors.pytrees import jax_module
from ..tensors.values import convert_value
from .meshes import extent_of, mesh_from

Rules = Mapping[str, "str | Sequence[str] | None"]


# ---------------------------------------------------------------------------------------------------------- the rules
class Sharding:
    """Rules from tensor axes to mesh axes. The rules are immutable and compared by value.

    A rule names one axis of the mesh, several axes, or None. An axis without a rule is copied to every device. The
    attribute `mesh` is a copy of the given mesh with its axes left to the compiler (`jax.sharding.AxisType.Auto`), or a
    mesh that `mesh_from` creates from the given sizes.

    Parameters are stored by `rules`. During computation, `compute_rules` place inputs, results and parameters, if these
    rules are given. A parameter that is stored in parts along `data` is then gathered before its use, and its gradient
    is scattered again. `value_rules` are additional rules for named values, such as {"X^l": {"seq": "model"}}. If
    `save` or `compute_rules` is given, the steps of loops are recomputed for their gradients, except for the values
    that `save` names.
    """

    def __init__(
        self, rules: Rules, mesh: Any, compute_rules: Rules | None = None, topology: str | None = None, *,
        value_rules: Mapping[str, Rules] | None = None, save: Iterable[str] | None = None,
    ):  # fmt: skip
        self.mesh: Any = mesh_from(mesh, topology)
        self.rules: dict[str, tuple[str, ...]] = {
            check_axis(axis): self._find_mesh_axes(axis, rule) for axis, rule in _items(rules)
        }
        self.computed: Sharding = self if compute_rules is None else Sharding(compute_rules, self.mesh)
        self.of_values: dict[str, Sharding] = {
            name: Sharding({**self.computed.rules, **dict(_items(text))}, self.mesh)
            for name, text in _group_by_name(value_rules).items()
        }
        self.save: tuple[str, ...] = () if save is None else require_names(save, "save=", 'write save=["A^l"]')
        self.computes_again: bool = save is not None or self.computed is not self
        self._mark = (
            tuple(sorted(self.rules.items())), self.mesh, None if compute_rules is None else self.computed,
            tuple(sorted(self.of_values.items(), key=str)), self.save, self.computes_again,
        )  # fmt: skip
        self.programs: Cache[int, Any] = Cache("sharded programs", 256)  # by the identity of the program
        self._placements: Cache[Any, Any] = Cache("placements on a mesh", 4096)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sharding) and self._mark == other._mark

    def __hash__(self) -> int:
        return hash(self._mark)

    @encodable
    def __repr__(self) -> str:
        rules = ", ".join(f"{axis} over {' and '.join(over) or 'nothing'}" for axis, over in self.rules.items())
        computed = "" if self.computed is self else f"; computed with {repr(self.computed).partition(';')[0]}"
        computed += "".join(
            f"; {name} with {repr(placed).partition(';')[0]}" for name, placed in self.of_values.items()
        )
        return f"{rules or 'nothing'}{computed}; the mesh is {self.extent}"

    def _find_mesh_axes(self, axis: str, rule: Any) -> tuple[str, ...]:
        over: Any = () if rule is None else (rule,) if isinstance(rule, str) else rule
        if not is_sequence(over) or not all(isinstance(name, str) for name in over):
            raise NotationError(
                208, f"the rule of axis {axis} must name a mesh axis, got {rule!r}",
                hint=f'write {{"{axis}": "{self.mesh.axis_names[0]}"}}',
            )  # fmt: skip
        for name in over:
            if name not in self.mesh.axis_names:
                raise NotationError(
                    201, f"the mesh has no axis {name}, required by the rule of axis {axis}",
                    notes=(f"the mesh is {self.extent}",),
                    hint=did_you_mean(near(name, self.mesh.axis_names))
                    or f"write {' or '.join(self.mesh.axis_names)}, or remove {axis} from the rules",
                )  # fmt: skip
            if over.count(name) > 1:
                raise NotationError(303, f"the rule of axis {axis} names {name} twice", hint="name each axis once")
        return tuple(over)

    @property
    def extent(self) -> str:
        """The axes of the mesh and their sizes, such as data[2] × model[4]."""
        return extent_of(self.mesh)

    @property
    def spread(self) -> dict[str, int]:
        """A mapping from each sharded axis to the number of its parts."""
        parts = {axis: math.prod(self.mesh.shape[name] for name in over) for axis, over in self.rules.items()}
        return {axis: count for axis, count in parts.items() if count > 1}

    # ------------------------------------------------------------------------------------------------------- one tensor
    def placement(self, axes: str | Sequence[str]) -> Any:
        """Return the `jax.sharding.NamedSharding` of an array whose axes, in order, are `axes`.

        Raises NotationError if two axes are sharded over one mesh axis (303).
        """
        return self._named("a tensor", dict.fromkeys(names_of(axes)))

    def of(self, tensor: NamedTensor, name: str) -> Any:
        """Return the `jax.sharding.NamedSharding` of a tensor, which error messages refer to as `name`.

        Raises NotationError if two axes are sharded over one mesh axis (303), or if a size is not divisible (310).
        """
        cache_key = tensor.axes, tuple(tensor.sizes.values())
        return self._placements.get_or_build(cache_key, lambda: self._named(name, tensor.sizes))

    def placed_as(self, name: str, axes: Sequence[str], extent: Sequence[int]) -> Any:
        """Return the `jax.sharding.NamedSharding` of an array with these axes and sizes. Errors mention `name`."""
        return self._named(name, dict(zip(axes, extent)))

    def _named(self, name: str, sizes: Mapping[str, int | None]) -> Any:
        from jax.sharding import NamedSharding, PartitionSpec  # type: ignore[import-not-found]

        parts = {axis: self.rules.get(axis, ()) for axis in sizes}
        self._check_apart(name, sizes, parts)
        for axis, size in sizes.items():
            self._check_divides(name, sizes, axis, size)
        spec = [_part(over) for over in parts.values()]
        while spec and spec[-1] is None:  # results of JAX have no trailing None, so one compiled function serves both
            spec.pop()
        return NamedSharding(self.mesh, PartitionSpec(*spec))

    def _check_apart(self, name: str, sizes: Mapping[str, int | None], parts: Mapping[str, tuple[str, ...]]) -> None:
        taken: dict[str, str] = {}
        for axis, over in parts.items():
            for text in over:
                other = taken.setdefault(text, axis)
                if other != axis:
                    raise NotationError(
                        303, f"the rules shard both axes {other} and {axis} of {name} over {text}",
                        notes=(f"{name} : {show(sizes)}", f"the mesh is {self.extent}"),
                        hint="shard one of them over another mesh axis, or remove it from the rules",
                    )  # fmt: skip

    def _check_divides(self, name: str, sizes: Mapping[str, int | None], axis: str, size: int | None) -> None:
        over = self.rules.get(axis, ())
        parts = math.prod(self.mesh.shape[text] for text in over)
        if size is None or size % parts == 0:
            return
        near_sizes = " or ".join(str(index) for index in (size - size % parts, size - size % parts + parts) if index)
        raise NotationError(
            310, f"axis {axis} of {name} has size {size}, not divisible by mesh axis {' × '.join(over)} ({parts})",
            notes=(f"{name} : {show(sizes)}", f"the mesh is {self.extent}"),
            hint=f"make the size a multiple of {parts}, such as {near_sizes}, or remove {axis} from the rules",
        )  # fmt: skip

    def placed(self, name: str, tensor: NamedTensor) -> NamedTensor:
        """Return a tensor placed on the devices. Return it unchanged if it is already there or is traced.

        If the mesh spans several processes, each process passes the whole value, or an array that already spans the
        processes.
        """
        jax = jax_module()

        expected, array = self.of(tensor, name), tensor.array
        if isinstance(array, jax.core.Tracer) or getattr(array, "sharding", None) == expected:
            return tensor
        if isinstance(array, jax.ShapeDtypeStruct):
            return wrap_layout(jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=expected), tensor.layout)
        if not isinstance(array, jax.Array):
            array = concrete(array)
        if expected.is_fully_addressable or (isinstance(array, jax.Array) and not array.is_fully_addressable):
            return wrap_array(jax.device_put(array, expected), tensor.axes)
        rows = concrete(array).astype(jax.dtypes.canonicalize_dtype(array.dtype))
        return wrap_array(jax.make_array_from_callback(rows.shape, expected, rows.__getitem__), tensor.axes)

    def place_inputs(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Place inputs by name on the devices where formulas compute with them. Numbers stay unchanged."""
        return self.computed.place(values)

    def place(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Place tensors on the devices by name. Numbers stay unchanged. Raise NotationError for other values."""
        result = {name: convert_value(value, name) for name, value in values.items()}
        return {
            name: self.placed(name, value) if isinstance(value, NamedTensor) else value
            for name, value in result.items()
        }

    def constrain_placement(self, name: str, tensor: NamedTensor) -> NamedTensor:
        """Return a traced tensor with a constraint that tells the compiler on which devices to place its parts."""
        jax = jax_module()

        return wrap_array(jax.lax.with_sharding_constraint(tensor.array, self.of(tensor, name)), tensor.axes)


def _part(over: tuple[str, ...]) -> Any:
    return over if len(over) > 1 else over[0] if over else None


def _group_by_name(rules: Mapping[str, Rules] | Any) -> Mapping[str, Rules]:
    if rules is None:
        return {}
    if not is_mapping(rules) or not all(map(is_mapping, rules.values())):
        raise NotationError(
            208, f"value_rules must be a mapping from names to rules, got {rules!r}",
            hint='write {"X^l": {"seq": "model"}}',
        )  # fmt: skip
    return rules


def _items(rules: Mapping[str, Any] | Any) -> Any:
    if not is_mapping(rules):
        raise NotationError(
            208, f"rules must be a mapping from axes to mesh axes, got {type(rules).__name__}",
            hint='write {"batch": "data", "heads": "model"}',
        )  # fmt: skip
    return rules.items()
