"""Formulas whose tensors are sharded over the devices of a mesh.

Inputs, parameters and results are placed by the names of their axes. The formulas run as one function of `jax.jit`, and
XLA inserts the communication.
"""

# Private members of programs are used here.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from grammar import nodes
from grammar.cache import Cache, cached_property
from grammar.errors import NotationError
from grammar.plain_text import encodable
from grammar.printer import to_text

from ..core.arrays import Layout
from ..core.families import ALONG, FamilyName
from ..core.suggestions import did_you_mean, near
from ..core.tensor import NamedTensor, wrap_layout
from ..operators.user_functions import USER_FUNCTIONS
from ..scope.names import index_by_key, key, walk
from ..tensors.pytrees import jax_module, keep_language_errors
from .placement import ComputePlacement
from .sharding import Sharding

if TYPE_CHECKING:
    from .collectives import Collectives
    from .device_cost import DeviceCost
    from .training import Training


class Formulas(Protocol):
    """The methods that a program needs in order to be sharded."""

    @property
    def tree(self) -> Any: ...
    def _run_placed(self, arguments: Any, values: Any, sizes: Any, placement: Any) -> Any: ...
    def _align(self, arguments: Any, values: Any, sizes: Any) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    def _layout(self, value: Any, name: str) -> Layout: ...
    def __getitem__(self, name: Any, /) -> Any: ...


def shard_program(program: Formulas, sharding: Sharding) -> Sharded:
    """Return the program sharded by these rules. The result is cached, so its compiled functions are reused."""
    return sharding.programs.get_or_build(id(program), lambda: Sharded(program, sharding))


class Sharded:
    """A program whose tensors are sharded over the devices of a mesh. It is called like the original program.

    It returns the same values as the original program. Shapes are checked. As in all code under `jax.jit`, conditions
    on values, such as assertions and index ranges, are not checked.
    """

    def __init__(self, program: Formulas, sharding: Sharding):
        self.program: Formulas = program
        self.sharding: Sharding = sharding
        self._entries: Cache[Any, ShardedEntry] = Cache("names of a sharded program", 1024)

    @encodable
    def __repr__(self) -> str:
        return f"{self.program}\n# {self.sharding}"

    @property
    def mesh(self) -> Any:
        return self.sharding.mesh

    @cached_property
    def axes(self) -> frozenset[str]:
        """Return the names of the axes that the formulas use."""
        return frozenset(node.name for node in walk(self.program.tree) if isinstance(node, nodes.Axis))

    @cached_property
    def values(self) -> dict[Any, str]:
        """Map source spans to names, for each value that has sharding rules or is saved for the gradient."""
        spans: dict[str, list[Any]] = {}
        for node in walk(self.program.tree):
            if isinstance(node, nodes.Equation) and isinstance(node.sides[0], (nodes.Name, nodes.Superscript)):
                spans.setdefault(str(key(to_text(node.sides[0]))), []).append(node.sides[-1].span)
        for name in (names := dict.fromkeys((*self.sharding.of_values, *self.sharding.save))):
            if str(key(name)) not in spans:
                raise NotationError(
                    201, f"sharding rule for unknown value {name}: the formulas do not define it",
                    hint=did_you_mean(near(name, spans)) or f"remove {name} from the rules",
                )  # fmt: skip
        return {span: name for name in names for span in spans[str(key(name))]}

    def __getitem__(self, name: str | tuple[str, ...]) -> ShardedEntry:
        return self._entry(name)

    def __getattr__(self, name: str) -> ShardedEntry:
        if name.startswith("_"):
            raise AttributeError(name)
        getattr(self.program, name)  # raises an AttributeError for an unknown name
        return self._entry(name)

    def __call__(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Any:
        """Return the program's value, or the value of the function that the program ends with."""
        return self._entry(None)(*arguments, values=values, sizes=sizes, **named)

    def _entry(self, name: str | tuple[str, ...] | None) -> ShardedEntry:
        return self._entries.get_or_build(name, lambda: ShardedEntry(self, name))

    def place(self, values: Mapping[str, Any] | None = None, **named: Any) -> dict[str, Any]:
        """Place tensors on the devices once, for repeated calls. Numbers stay unchanged.

        Raises NotationError if two axes of a tensor are sharded over one mesh axis (303), or if a size is not divisible
        (310).
        """
        return self.sharding.place({**(values or {}), **named})

    def place_inputs(self, values: Mapping[str, Any] | None = None, **named: Any) -> dict[str, Any]:
        """Place inputs where the formulas compute with them. Without `compute_rules`, `place` does the same."""
        return self.sharding.place_inputs({**(values or {}), **named})

    def abstract(self, shape: Any, dtype: str = "float32") -> NamedTensor:
        """Return a parameter without values, placed by the rules, for `lowered`, `collectives` and `cost`.

        `shape` is a string such as ℝ^{seq[8] × chans[16]}, or a mapping from axis names to sizes.
        """
        return self._abstract(shape, dtype, self.sharding)

    def abstract_input(self, shape: Any, dtype: str = "float32") -> NamedTensor:
        """Return an input without values, placed by `compute_rules` if they are given, or otherwise by the rules."""
        return self._abstract(shape, dtype, self.sharding.computed)

    def _abstract(self, shape: Any, dtype: str, sharding: Sharding) -> NamedTensor:
        jax = jax_module()

        layout = self.program._layout(shape, "a tensor")
        placed = sharding.placed_as("a tensor", layout.axes, layout.extent)
        array = jax.ShapeDtypeStruct(layout.extent, dtype, sharding=placed)
        return wrap_layout(array, Layout(layout.axes, layout.extent, array.dtype, None))

    def training(
        self, loss: str, update: Any, *, rates: Mapping[str, float] | None = None, accumulate: str | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> Training:  # fmt: skip
        """Return the training step for a loss. The optimizer `update` is a program for a single parameter.

        `loss` is a name in the program.
        """
        from .training import Training

        return Training(self, loss, update, rates, accumulate, sizes)

    def collectives(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Collectives:
        """Return the communication between devices that the compiler inserts in this call (see `collectives`)."""
        return self._entry(None).collectives(*arguments, values=values, sizes=sizes, **named)

    def cost(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> DeviceCost:
        """Return the cost of this call of the program on each device (see `ShardedEntry.cost`)."""
        return self._entry(None).cost(*arguments, values=values, sizes=sizes, **named)


class Fixed(NamedTuple):
    """The static part of a compiled call: all arguments except tensors, and the version of the user's functions."""

    positional: int
    numbers: tuple[tuple[str, str, Any], ...]  # the type's name too: True and 1.0 are not 1
    sizes: tuple[tuple[str, int], ...]
    parameters: frozenset[str]
    version: int


class ShardedEntry:
    """An entry point of a sharded program, which computes one or several names.

    It is called like the same entry point of the original program.
    """

    def __init__(self, sharded: Sharded, name: str | tuple[str, ...] | None):
        self.sharded: Sharded = sharded
        self.name: str | tuple[str, ...] | None = name
        self.entry: Formulas = sharded.program if name is None else sharded.program[name]
        self._compiled = lru_cache(maxsize=256)(self._function)

    @encodable
    def __repr__(self) -> str:
        return f"{self.entry!r}\n# {self.sharded.sharding}"

    def __call__(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Any:
        """Return the value, sharded by the names of its axes. The first call with given types compiles the function.

        Raises the program's errors, and NotationError if a rule names an unknown axis (201), or if an input or a result
        cannot be sharded by the rules (303, 310).
        """
        function, tensors = self._call(arguments, values or {}, named, sizes)
        with keep_language_errors():
            return function(tensors)

    def lowered(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Any:
        """Return the call before compilation, as `jax.stages.Lowered`, which has text, a cost and a method `compile()`.

        No value is computed, so a shape such as X="ℝ^{seq[8] × chans[16]}" can replace a float32 tensor. For other
        dtypes, the result of `Sharded.abstract` can replace the tensor.
        """
        return self.traced(*arguments, values=values, sizes=sizes, **named).lower()

    def traced(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Any:
        """Return the call before lowering, as `jax.stages.Traced` (see `lowered`)."""
        sharded = self.sharded
        parameters = {name: _drop_numbers(value, sharded.abstract) for name, value in (values or {}).items()}
        inputs = {name: _drop_numbers(value, sharded.abstract_input) for name, value in named.items()}
        positional = tuple(_drop_numbers(value, sharded.abstract_input) for value in arguments)
        function, tensors = self._call(positional, parameters, inputs, sizes)
        with keep_language_errors():
            return function.trace(tensors)

    def collectives(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Collectives:
        """Return the communication between devices that the compiler inserts in this call (see `collectives`)."""
        from .collectives import collectives_of

        lowered = self.lowered(*arguments, values=values, sizes=sizes, **named)
        return collectives_of(lowered.compile().as_text(), self.sharded.mesh)

    def cost(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> DeviceCost:
        """Return the cost of this call on each device: bytes, operations and communication between devices.

        The call is compiled, but not run. Shapes can replace tensors, as in `lowered`.
        """
        from .device_cost import device_cost

        compiled = self.lowered(*arguments, values=values, sizes=sizes, **named).compile()
        return device_cost(compiled, self.sharded.mesh)

    def _call(
        self,
        arguments: tuple[Any, ...],
        values: Mapping[str, Any],
        named: Mapping[str, Any],
        sizes: Mapping[str, int] | None,
    ):
        """Return a compiled function and its arguments, which are tensors on the devices.

        `values` contains parameters, and the other arguments are inputs.
        """
        if any(
            getattr(getattr(value, "layout", None), "labels", ())
            for value in (*arguments, *named.values(), *values.values())
        ):
            arguments, aligned = self.entry._align(arguments, {**values, **named}, sizes)
            named, values = ({_spelling(name): aligned[_spelling(name)] for name in names} for names in (named, values))
        inputs = dict(zip(_positions(len(arguments)), arguments)) | index_by_key(named, _spelling)
        parameters = {name: value for name, value in index_by_key(values, _spelling).items() if name not in inputs}
        placed = self.sharded.place(parameters) | self.sharded.place_inputs(inputs)
        tensors = {name: value for name, value in placed.items() if isinstance(value, NamedTensor)}
        numbers = [(name, type(value).__name__, value) for name, value in placed.items() if name not in tensors]
        extent = tuple(sorted((sizes or {}).items()))
        stored = frozenset(parameters)
        fixed = Fixed(len(arguments), tuple(sorted(numbers)), extent, stored, USER_FUNCTIONS.version)
        return self._compiled(fixed), tensors

    def _function(self, fixed: Fixed) -> Any:
        """Return the formulas as a function that `jax.jit` compiles, with tensors by name as its arguments."""
        jax = jax_module()

        sharding, values = self.sharded.sharding, self.sharded.values
        computed, parameters = sharding.computed, fixed.parameters
        members = {member for name in parameters for member in getattr(name, "members", (name,))}
        placement = ComputePlacement(sharding, members, values)

        def run(tensors: Mapping[str, NamedTensor]) -> Any:
            self._check_rules(tensors)
            inputs: dict[str, Any] = {name: value for name, _, value in fixed.numbers}
            for name, tensor in tensors.items():
                inputs[name] = (sharding if name in parameters else computed).constrain_placement(name, tensor)
            arguments = tuple([inputs.pop(name) for name in _positions(fixed.positional)])
            value = self.entry._run_placed(arguments, inputs, dict(fixed.sizes), placement)
            if isinstance(self.name, tuple):
                return tuple(map(computed.constrain_placement, self.name, value))
            return computed.constrain_placement(self.name or "the value", value)

        return jax.jit(run)

    def _check_rules(self, tensors: Mapping[str, NamedTensor]) -> None:
        """Raise NotationError if a rule names an unknown axis. Otherwise, the tensors would silently not be sharded."""
        known = sorted(self.sharded.axes.union(*(tensor.axes for tensor in tensors.values())) - {ALONG})
        sharding = self.sharded.sharding
        for axis in {**sharding.rules, **sharding.computed.rules}.keys() | {
            axis for placed in sharding.of_values.values() for axis in placed.rules
        }:
            if axis not in known:
                raise NotationError(
                    201, f"sharding rule for unknown axis {axis}: not in the formulas or the tensors",
                    notes=(f"they have {', '.join(known) or 'none'}",),
                    hint=did_you_mean(near(axis, known)) or f"remove {axis} from the rules",
                )  # fmt: skip


def _drop_numbers(value: Any, abstract: Callable[[Any], NamedTensor]) -> Any:
    """Return a tensor without values if the value is a shape. Return any other value unchanged."""
    return abstract(value) if isinstance(value, (str, Mapping)) else value


def _spelling(name: str) -> str:
    return name if isinstance(name, FamilyName) else str(key(name))


def _positions(count: int) -> list[str]:
    return [f"argument {number}" for number in range(1, count + 1)]
