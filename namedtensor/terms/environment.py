"""Define environments, in which names are looked up: for the program, for each call, and for equations by elements.

If an environment does not contain a name, the search continues in `parent`. The search for a size continues in
`sizes_parent` instead, because sizes belong to a call.
"""

# pyright: reportUnknownVariableType=false
# The empty dicts of new records have no known type.
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ..core.sizes import unify
from ..scope.names import MARKS, Key
from ..scope.symbols import Definition, FunctionDefinition
from .terms import Term


class Conflict:
    """The conflicting sizes of an axis in one scope. They cause an error only if the size of the axis is needed."""

    def __init__(self, axis: str, sources: list[tuple[str, Any]]):
        self.axis, self.sources = axis, sources


@dataclass(eq=False)
class Environment:
    """The names in one scope of a formula, with their values.

    `axes` contains the values of axis parameters. `indices` contains the values of superscript indices and range
    variables. `sizes` contains the sizes of the arguments' axes, and `sources` contains the tensor that determines each
    size. `scalars` contains the values of symbols such as `n` in `seq[n]`. `depth` makes the names of lifted axes
    unique.

    The environment of a call has the `function`, the `call` itself and the `caller`. Its `extras` maps each lifted axis
    to its outer name, its size, and the argument that has it. The environment of an equation has a `definition`.

    `memo` contains the terms, or the errors, of the definitions in this environment. If an index variable is a tensor
    here, `members` maps it to the loop or axis that provides the members of families at this index.

    Five fields store the results for each family. `steps` contains the indices of existing members, and `loops`
    contains the typed loops. `unrollable` contains the families that cannot become loops. `domains` belongs to families
    over two indices, and `inductions` belongs to families with an unknown end.
    """

    parent: Environment | None = None
    sizes_parent: Environment | None = None
    caller: Environment | None = None
    function: FunctionDefinition | None = None
    call: Any = None
    definition: Definition | None = None
    depth: int = 0
    variables: dict[Key, Term] = field(default_factory=dict)
    axes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    indices: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)
    scalars: dict[Key, Any] = field(default_factory=dict)
    memo: dict[Key, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    extras: dict[str, tuple[str, Any, Any]] = field(default_factory=dict)
    steps: dict[tuple[Any, ...], list[int]] = field(default_factory=dict)
    loops: dict[tuple[Any, ...], list[Any]] = field(default_factory=dict)
    unrollable: dict[tuple[Any, ...], None] = field(default_factory=dict)
    domains: dict[int, Any] = field(default_factory=dict)
    inductions: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    active: frozenset[Any] = frozenset()
    members: dict[str, Any] = field(default_factory=dict)
    serial: int = field(default_factory=count().__next__, init=False, repr=False)
    complete: bool = False  # Whether it contains all inputs, so that results derived from it can be kept.

    @property
    def outward(self) -> Iterator[Environment]:
        """This environment and all enclosing environments, innermost first."""
        env: Environment | None = self
        while env is not None:
            yield env
            env = env.parent

    @property
    def nearest_call(self) -> Environment:
        """The environment of the innermost call or of the program. It stores values that depend on its sizes."""
        env = self
        while env.function is None and (outer := env.sizes_parent or env.parent) is not None:
            env = outer
        return env

    @property
    def calls(self) -> Iterator[Environment]:
        """The environments of all enclosing calls, innermost first."""
        env: Environment | None = self
        while env is not None:
            call = next((outer for outer in env.outward if outer.function is not None), None)
            if call is None:
                return
            yield call
            env = call.caller

    def within(self, **known: Any) -> Environment:
        """Return an environment for an equation inside this environment, with the same sizes.

        `known` contains the values of other fields.
        """
        shared: dict[str, Any] = {"depth": self.depth, "active": self.active}
        return Environment(parent=self, sizes_parent=self, **{**shared, **known})

    def index(self, name: str) -> Any:
        """Return the value of an index or integer, or None for any other name.

        For a loop variable, return the loop's marker.
        """
        for env in self.outward:
            if name in env.indices:
                return env.indices[name]
            if Key(name) in env.variables:
                value = env.variables[Key(name)].number
                return value if isinstance(value, int) else getattr(env.members.get(name), "mark", None)
        return None

    def resolve_axis(self, name: str) -> tuple[str, ...]:
        """Return the axes that a name denotes: the axis itself, or the value of a function's axis parameter.

        For ax*, return the starred axes.
        """
        bare = name.rstrip(MARKS) if name[-1:] in MARKS else name
        env: Environment | None = self
        while env is not None:
            if name in env.axes:
                return env.axes[name]
            if bare in env.axes:
                return tuple(axis + name[len(bare) :] for axis in env.axes[bare])
            env = env.parent
        return (name,)

    def note_sizes(self, source: str, shape: Mapping[str, Any]) -> None:
        """Record the sizes of a tensor's axes in this scope. `source` is the tensor's name in error messages."""
        for axis, size in shape.items():
            result = self.sizes.get(axis)
            if result is None:
                self.sizes[axis] = size
                self.sources[axis] = source
            elif result == size:
                continue
            elif isinstance(result, Conflict):
                result.sources.append((source, size))
            elif not unify(result, size):
                first = self.sources.get(axis, "another")
                self.sizes[axis] = Conflict(axis, [(first, result), (source, size)])


def make_lifted_name(axis: str, depth: int) -> str:
    """Return the unique name of an extra axis in a function's body. It contains `@`, which formulas cannot contain."""
    return axis if "@" in axis else f"{axis}@{depth}"


def source_name(axis: str) -> str:
    """Return the name of an axis in the formula. This is the inverse of `make_lifted_name`."""
    return axis.partition("@")[0]


def distinct_names(axes: Iterable[str]) -> dict[str, str]:
    """Return a plain name for each axis of a tensor. Lifted axes get primes if their names are already in use.

    >>> distinct_names(["a@1", "a", "b@2"])
    {'a@1': "a'", 'a': 'a', 'b@2': 'b'}
    """
    axes = list(axes)
    taken = {axis for axis in axes if "@" not in axis}
    result: dict[str, str] = {}
    for axis in axes:
        name = source_name(axis)
        while "@" in axis and name in taken:
            name += "'"
        taken.add(name)
        result[axis] = name
    return result
