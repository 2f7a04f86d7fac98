"""Tensors spread over many devices by the names of their axes.

A rule says which axis of a mesh an axis of tensors goes over; the same rules serve every tensor:

    sharded = program.shard({"batch": "data", "heads": "model", "hidden": "model"}, mesh)

Inputs, parameters and results are placed by their names, the formulas run as one function of `jax.jit`, and XLA puts the
communication in. The rules never change what a formula gives, only where its parts lie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from grammar import nodes
from grammar.errors import NotationError

from ..core.axes import check_axis, names_of, show
from ..core.suggestions import did_you_mean, near
from ..core.tensor import NamedTensor, concrete
from ..operators.user_functions import USER_FUNCTIONS
from ..scope.names import key, walk
from ..tensors.pytrees import jax_module, of_the_language
from ..tensors.values import as_value

if TYPE_CHECKING:
    from .collectives import Collectives

Rules = Mapping[str, "str | Sequence[str] | None"]


class Formulas(Protocol):
    """What can be sharded: called for its value, asked for a name, and read."""

    @property
    def tree(self) -> Any: ...
    def __call__(self, *arguments: Any, values: Any = None, sizes: Any = None, **named: Any) -> Any: ...
    def __getitem__(self, name: Any, /) -> Callable[..., Any]: ...


# ---------------------------------------------------------------------------------------------------------- the rules
class Sharding:
    """Rules from axes of tensors to axes of a mesh; immutable, and equal where both are equal.

    A rule names one axis of the mesh, several, or None. An axis without a rule is copied to every device. `mesh` is the
    given one with its axes left to the compiler (`jax.sharding.AxisType.Auto`).
    """

    def __init__(self, rules: Rules, mesh: Any):
        jax = jax_module()
        if not isinstance(mesh, jax.sharding.Mesh):
            raise NotationError(
                208, f"a mesh of jax was due, not {type(mesh).__name__}",
                hint='write jax.make_mesh((2, 4), ("data", "model"))',
            )  # fmt: skip
        self.mesh: Any = jax.sharding.Mesh(mesh.devices, mesh.axis_names)
        self.rules: dict[str, tuple[str, ...]] = {
            check_axis(axis): self._over(axis, rule) for axis, rule in _items(rules)
        }
        self._mark = (tuple(sorted(self.rules.items())), self.mesh)
        self._programs: dict[int, Sharded] = {}
        self._placements: dict[Any, Any] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sharding) and self._mark == other._mark

    def __hash__(self) -> int:
        return hash(self._mark)

    def __repr__(self) -> str:
        rules = ", ".join(f"{axis} over {' and '.join(over) or 'nothing'}" for axis, over in self.rules.items())
        return f"{rules or 'nothing'}; the mesh is {self.extent}"

    def _over(self, axis: str, rule: Any) -> tuple[str, ...]:
        over = () if rule is None else (rule,) if isinstance(rule, str) else rule
        if not isinstance(over, Sequence) or not all(isinstance(name, str) for name in over):
            raise NotationError(
                208, f"the rule of {axis} names an axis of the mesh, and is {rule!r}",
                hint=f'write {{"{axis}": "{self.mesh.axis_names[0]}"}}',
            )  # fmt: skip
        for name in over:
            if name not in self.mesh.axis_names:
                raise NotationError(
                    201, f"the mesh has no axis {name}, over which {axis} is to go",
                    notes=(f"the mesh is {self.extent}",), hint=did_you_mean(near(name, self.mesh.axis_names)),
                )  # fmt: skip
            if over.count(name) > 1:
                raise NotationError(303, f"the rule of {axis} names {name} twice", hint="name each axis once")
        return tuple(over)

    @property
    def extent(self) -> str:
        """The axes of the mesh and their sizes: data[2] × model[4]."""
        return " × ".join(f"{name}[{size}]" for name, size in self.mesh.shape.items())

    # ------------------------------------------------------------------------------------------------------- one tensor
    def placement(self, axes: str | Sequence[str]) -> Any:
        """The `jax.sharding.NamedSharding` of a positional array with these axes, in their order.

        Raises NotationError where two of them go over one axis of the mesh (303).
        """
        return self._named("a tensor", dict.fromkeys(names_of(axes)))

    def of(self, tensor: NamedTensor, name: str) -> Any:
        """The `jax.sharding.NamedSharding` of a tensor; `name` is what an error calls it.

        Raises NotationError where two axes go over one of the mesh (303), or do not divide (310).
        """
        mark = tensor.axes, tuple(tensor.sizes.values())
        found = self._placements.get(mark)
        if found is None:
            found = self._placements[mark] = self._named(name, tensor.sizes)
        return found

    def _named(self, name: str, sizes: Mapping[str, int | None]) -> Any:
        from jax.sharding import NamedSharding, PartitionSpec  # type: ignore[import-not-found]

        parts = {axis: self.rules.get(axis, ()) for axis in sizes}
        self._check_apart(name, sizes, parts)
        for axis, size in sizes.items():
            self._check_divides(name, sizes, axis, size)
        spec = [_part(over) for over in parts.values()]
        while spec and spec[-1] is None:  # as JAX writes that of a result, so that one function serves both
            spec.pop()
        return NamedSharding(self.mesh, PartitionSpec(*spec))

    def _check_apart(self, name: str, sizes: Mapping[str, int | None], parts: Mapping[str, tuple[str, ...]]) -> None:
        taken: dict[str, str] = {}
        for axis, over in parts.items():
            for each in over:
                other = taken.setdefault(each, axis)
                if other != axis:
                    raise NotationError(
                        303, f"{name} has {other} and {axis}, and the rules let both go over {each}",
                        notes=(f"{name} : {show(sizes)}", f"the mesh is {self.extent}"),
                        hint="let one of them go over another axis of the mesh, or leave it out of the rules",
                    )  # fmt: skip

    def _check_divides(self, name: str, sizes: Mapping[str, int | None], axis: str, size: int | None) -> None:
        over = self.rules.get(axis, ())
        parts = 1
        for each in over:
            parts *= self.mesh.shape[each]
        if size is None or size % parts == 0:
            return
        near_sizes = " or ".join(str(each) for each in (size - size % parts, size - size % parts + parts) if each)
        raise NotationError(
            310, f"{axis} of {name} has size {size}, which is no multiple of {parts}, the size of {' × '.join(over)}",
            notes=(f"{name} : {show(sizes)}", f"the mesh is {self.extent}"),
            hint=f"make the size a multiple of {parts}, such as {near_sizes}, or leave {axis} out of the rules",
        )  # fmt: skip

    def placed(self, name: str, tensor: NamedTensor) -> NamedTensor:
        """The tensor on the devices; as it is where it lies so already, or is being traced.

        Where the mesh spans several processes, each gives the whole value, or an array that spans them already.
        """
        jax = jax_module()

        wanted, array = self.of(tensor, name), tensor.array
        if isinstance(array, jax.core.Tracer) or getattr(array, "sharding", None) == wanted:
            return tensor
        if not isinstance(array, jax.Array):
            array = concrete(array)
        if wanted.is_fully_addressable or (isinstance(array, jax.Array) and not array.is_fully_addressable):
            return NamedTensor(jax.device_put(array, wanted), tensor.axes)
        rows = concrete(array).astype(jax.dtypes.canonicalize_dtype(array.dtype))
        return NamedTensor(jax.make_array_from_callback(rows.shape, wanted, rows.__getitem__), tensor.axes)

    def place(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The tensors on the devices, by name. Numbers stay numbers. Raises NotationError for what is neither."""
        found = {name: as_value(value, name) for name, value in values.items()}
        return {
            name: self.placed(name, value) if isinstance(value, NamedTensor) else value for name, value in found.items()
        }

    def constrained(self, name: str, tensor: NamedTensor) -> NamedTensor:
        """The tensor, while a function is traced, with the word to the compiler where its parts lie."""
        jax = jax_module()

        return NamedTensor(jax.lax.with_sharding_constraint(tensor.array, self.of(tensor, name)), tensor.axes)

    def sharded(self, program: Formulas) -> Sharded:
        """A program under these rules; the same one each time, so that what it compiled is found again."""
        found = self._programs.get(id(program))
        if found is None:
            found = self._programs[id(program)] = Sharded(program, self)
        return found


def _part(over: tuple[str, ...]) -> Any:
    return over if len(over) > 1 else over[0] if over else None


def _items(rules: Any) -> Any:
    if not isinstance(rules, Mapping):
        raise NotationError(
            208, f"rules are a mapping from axes to axes of the mesh, not {type(rules).__name__}",
            hint='write {"batch": "data", "heads": "model"}',
        )  # fmt: skip
    return rules.items()


# ------------------------------------------------------------------------------------------------------- the formulas
class Sharded:
    """A program whose tensors go over the devices of a mesh; called as the program is.

    Its values are those of the program. What a formula says of values (claims, indices in range) is not checked, as in
    all that `jax.jit` compiles; shapes are.
    """

    def __init__(self, program: Formulas, sharding: Sharding):
        self.program: Formulas = program
        self.sharding: Sharding = sharding
        self._entries: dict[Any, ShardedEntry] = {}

    def __repr__(self) -> str:
        return f"{self.program}\n# {self.sharding}"

    @property
    def mesh(self) -> Any:
        return self.sharding.mesh

    @cached_property
    def axes(self) -> frozenset[str]:
        """The axes that the formulas speak of."""
        return frozenset(node.name for node in walk(self.program.tree) if isinstance(node, nodes.Axis))

    def __getitem__(self, name: str | tuple[str, ...]) -> ShardedEntry:
        return self._entry(name)

    def __getattr__(self, name: str) -> ShardedEntry:
        if name.startswith("_"):
            raise AttributeError(name)
        getattr(self.program, name)  # which has it, or says what is near
        return self._entry(name)

    def __call__(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Any:
        """The program's value; or, where it ends with a function, that function of the arguments."""
        return self._entry(None)(*arguments, values=values, sizes=sizes, **named)

    def _entry(self, name: str | tuple[str, ...] | None) -> ShardedEntry:
        found = self._entries.get(name)
        if found is None:
            found = self._entries[name] = ShardedEntry(self, name)
        return found

    def place(self, values: Mapping[str, Any] | None = None, **named: Any) -> dict[str, Any]:
        """The tensors on the devices, by name: to be given at each call, and moved no more. Numbers stay numbers.

        Raises NotationError where two axes of one go over one axis of the mesh (303), or do not divide (310).
        """
        return self.sharding.place({**(values or {}), **named})

    def collectives(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Collectives:
        """What the compiler makes the devices say to each other in such a call (see `collectives`)."""
        return self._entry(None).collectives(*arguments, values=values, sizes=sizes, **named)


class Fixed(NamedTuple):
    """What of a call is compiled in: how many arguments it has, its numbers, its sizes, the Python functions."""

    count: int
    numbers: tuple[tuple[str, str, Any], ...]  # the type's name too: True and 1.0 are not 1
    sizes: tuple[tuple[str, int], ...]
    version: int


class ShardedEntry:
    """A name of a program whose tensors go over a mesh, or several; called as that of the program is."""

    def __init__(self, sharded: Sharded, name: str | tuple[str, ...] | None):
        self.sharded: Sharded = sharded
        self.name: str | tuple[str, ...] | None = name
        self.entry: Callable[..., Any] = sharded.program if name is None else sharded.program[name]
        self._compiled = lru_cache(maxsize=256)(self._function)

    def __repr__(self) -> str:
        return f"{self.entry!r}\n# {self.sharded.sharding}"

    def __call__(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Any:
        """Its value, spread by the names of its axes; compiled at the first call with tensors of these types.

        Raises what the program raises; and NotationError where a rule is for an axis that nothing has (201), or where an
        input or a result cannot be spread so (303, 310).
        """
        function, tensors = self._call(arguments, {**(values or {}), **named}, sizes)
        with of_the_language():
            return function(tensors)

    def lowered(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Any:
        """The call before it is compiled, as `jax.stages.Lowered`: its text, its cost, and `compile()`."""
        function, tensors = self._call(arguments, {**(values or {}), **named}, sizes)
        with of_the_language():
            return function.lower(tensors)

    def collectives(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Collectives:
        """What the compiler makes the devices say to each other in such a call (see `collectives`)."""
        from .collectives import collectives_of

        lowered = self.lowered(*arguments, values=values, sizes=sizes, **named)
        return collectives_of(lowered.compile().as_text(), self.sharded.mesh)

    def _call(self, arguments: tuple[Any, ...], named: Mapping[str, Any], sizes: Mapping[str, int] | None):
        """The function of the tensors of a call, and these, on the devices."""
        given = dict(zip(_positions(len(arguments)), arguments)) | {
            str(key(name)): each for name, each in named.items()
        }
        placed = self.sharded.place(given)
        tensors = {name: value for name, value in placed.items() if isinstance(value, NamedTensor)}
        numbers = [(name, type(value).__name__, value) for name, value in placed.items() if name not in tensors]
        extent = tuple(sorted((sizes or {}).items()))
        return self._compiled(Fixed(len(arguments), tuple(sorted(numbers)), extent, USER_FUNCTIONS.version)), tensors

    def _function(self, fixed: Fixed) -> Any:
        """The formulas as a function of tensors by name, under `jax.jit`."""
        jax = jax_module()

        sharding = self.sharded.sharding

        def run(tensors: Mapping[str, NamedTensor]) -> Any:
            self._check_rules(tensors)
            given: dict[str, Any] = {name: value for name, _, value in fixed.numbers}
            given |= {name: sharding.constrained(name, tensor) for name, tensor in tensors.items()}
            arguments = [given.pop(name) for name in _positions(fixed.count)]
            value = self.entry(*arguments, values=given, sizes=dict(fixed.sizes))
            if isinstance(self.name, tuple):
                return tuple(map(sharding.constrained, self.name, value))
            return sharding.constrained(self.name or "the value", value)

        return jax.jit(run)

    def _check_rules(self, tensors: Mapping[str, NamedTensor]) -> None:
        """A rule for an axis that is nowhere is a slip: its tensors would be copied to each device, unseen."""
        known = sorted(self.sharded.axes.union(*(tensor.axes for tensor in tensors.values())))
        for axis in self.sharded.sharding.rules:
            if axis not in known:
                raise NotationError(
                    201, f"the rules speak of the axis {axis}, which neither the formulas nor the tensors given have",
                    notes=(f"they have {', '.join(known) or 'none'}",),
                    hint=did_you_mean(near(axis, known)) or f"leave {axis} out of the rules",
                )  # fmt: skip


def _positions(count: int) -> list[str]:
    return [f"argument {number}" for number in range(1, count + 1)]
