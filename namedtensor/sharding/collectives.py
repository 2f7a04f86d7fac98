"""Collective operations: the exchange of data between the devices of a mesh while a compiled function runs.

The operations are parsed from the compiler's output, so the list shows the operations that actually run.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from grammar.plain_text import encodable

from ..tensors.pytrees import jax_module, keep_language_errors
from .loop_counts import lines_with_counts

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast")

# Another operation, ‥-done, ends a started operation. It is not counted.
LINE = re.compile(rf"= (?P<result>\(.*?\)|\S+) (?P<kind>{'|'.join(KINDS)})(?P<start>-start)?\((?P<rest>.*)")
SHAPE = re.compile(r"\w+\[[\d,]*\]")
CHANNEL = re.compile(r"channel_id=(\d+)")
EVERY = re.compile(r"replica_groups=\{\}")
LISTED = re.compile(r"replica_groups=\{(\{[\d,]+\}(?:,\{[\d,]+\})*)\}")
RANGED = re.compile(r"replica_groups=\[([\d,]+)\]<=(\[[\d,]+\](?:T\([\d,]+\))?)")
MESHED = re.compile(
    r"replica_groups=mesh\[([^\[\]]*)\](?:, device_ids=\((\[[\d,]+\](?:T\([\d,]+\))?|[\d,]+)\))? ?\{([^{}]*)\}"
)
ORDER = re.compile(r"\[([\d,]+)\](?:T\(([\d,]+)\))?")
PAIRS = re.compile(r"source_target_pairs=\{(\{\d+,\d+\}(?:,\{\d+,\d+\})*)\}")


class Collective(NamedTuple):
    """A collective operation: its kind, the shapes of its result on each device, and the mesh axes that it uses.

    `over` is empty if the compiler's groups are not groups along axes of the mesh. `times` is greater than 1 inside a
    loop.
    """

    kind: str
    shapes: tuple[str, ...]
    over: tuple[str, ...] = ()
    times: int = 1

    @property
    def bytes(self) -> int:
        """The size of the result on each device in bytes."""
        return sum(map(_bytes_of, self.shapes))

    @encodable
    def __str__(self) -> str:
        over = f" over {', '.join(self.over)}" if self.over else ""
        return f"{self.kind} of {', '.join(self.shapes)}{over}" + (f", {self.times} times" if self.times > 1 else "")


class Collectives(tuple[Collective, ...]):
    """The collective operations of a compiled function, in order of its text. An operation in a loop is listed once."""

    @property
    def counts(self) -> dict[str, int]:
        """The number of collective operations by kind."""
        return dict(sorted(Counter(collective.kind for collective in self).items()))

    @property
    def bytes(self) -> dict[str, int]:
        """The total size in bytes of the results on each device, by kind of collective operation."""
        return {kind: sum(collective.bytes for collective in self if collective.kind == kind) for kind in self.counts}

    @encodable
    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "no collective operations"


def _bytes_of(shape: str) -> int:
    """Return the number of bytes of a shape in XLA's syntax.

    >>> _bytes_of("bf16[2,8]"), _bytes_of("pred[3]")
    (32, 3)
    """
    dtype, _, sizes = shape.rstrip("]").partition("[")
    bits = int("".join(filter(str.isdigit, dtype)) or 8)
    return math.prod(map(int, filter(None, sizes.split(",")))) * max(1, bits // 8)


def collectives(function: Callable[..., Any], *arguments: Any, **named: Any) -> Collectives:
    """Return the collective operations that XLA generates for a function of sharded tensors, layers or arrays.

    Raises NotationError if JAX is not installed (408). Exceptions of the function are propagated.
    """
    jax = jax_module()
    lower: Any = getattr(function, "lower", None) or jax.jit(function).lower
    with keep_language_errors():
        text = lower(*arguments, **named).compile().as_text()
    places: list[Any] = [getattr(leaf, "sharding", None) for leaf in jax.tree.leaves((arguments, named))]
    meshes: list[Any] = [position.mesh for position in places if isinstance(position, jax.sharding.NamedSharding)]
    return collectives_of(text, meshes[0] if meshes else None)


def collectives_of(text: str, mesh: Any = None) -> Collectives:
    """Return the collective operations in the text of a compiled function (HLO).

    >>> collectives_of("%r = f32[2,8]{1,0} all-reduce(%x), replica_groups={{0,1},{2,3}}, to_apply=%add")
    all-reduce of f32[2,8]
    """
    result_by_channel: dict[str, Collective] = {}  # a compiler may write one operation in several forms
    for number, (line, times) in enumerate(lines_with_counts(text)):
        match = LINE.search(line)
        if match:
            channel = CHANNEL.search(line)
            result = match["result"]
            if match["start"] and match["kind"] != "all-reduce":  # a started operation returns (operands, results, …)
                result = _second(result)
            collective = Collective(
                match["kind"], tuple(SHAPE.findall(result)), _find_mesh_axes(match["rest"], mesh), times
            )
            name = channel[1] if channel else f"line {number}"
            first = result_by_channel.setdefault(name, collective)
            if times > first.times:
                result_by_channel[name] = first._replace(times=times)
    return Collectives(result_by_channel.values())


def _second(result: str) -> str:
    """Return the second part of a tuple in HLO text. The parts can themselves be tuples."""
    depth, parts = 0, [""]
    for character in result[1:-1]:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts[1] if len(parts) > 1 else result


def _find_mesh_axes(rest: str, mesh: Any) -> tuple[str, ...]:
    """Return the mesh axes along which communicating devices differ, or no axes if the groups match no mesh axes."""
    if mesh is None:
        return ()
    extent: tuple[int, ...] = mesh.devices.shape
    places = np.arange(math.prod(extent)).reshape(extent)
    if pairs := PAIRS.search(rest):
        moved = [np.unravel_index(pair, places.shape) for pair in _numbers(pairs[1])]
        differ = [any(arrays[axis][0] != arrays[axis][1] for arrays in moved) for axis in range(places.ndim)]
        return tuple(name for name, differs in zip(mesh.axis_names, differ) if differs)
    groups = _groups(rest, places.size)
    for count in range(places.ndim + 1):
        for axes in combinations(range(places.ndim), count):
            if _group_devices(places, axes) == groups:
                return tuple(mesh.axis_names[axis] for axis in axes)
    return ()


def _group_devices(places: Any, axes: tuple[int, ...]) -> set[frozenset[int]]:
    """Return the groups of devices that differ only in their positions along the given mesh axes."""
    length = int(np.prod([places.shape[axis] for axis in axes]))
    rows = np.moveaxis(places, axes, range(-len(axes), 0)).reshape(-1, length)
    return {frozenset(row) for row in rows.tolist()}


def _groups(rest: str, count: int) -> set[frozenset[int]]:
    """Return the groups of communicating devices in HLO text, or no groups if the format is unknown."""
    if EVERY.search(rest):
        return {frozenset(range(count))}
    if listed := LISTED.search(rest):
        return {frozenset(group) for group in _numbers(listed[1])}
    if ranged := RANGED.search(rest):  # [2,4]<=[4,2]T(1,0): a range, given a shape, transposed, given another
        rows = _read_device_order(ranged[2], count).reshape(_sizes(ranged[1]))
        return {frozenset(row) for row in rows.tolist()}
    if (meshed := MESHED.search(rest)) and ":" not in meshed[3]:  # mesh['a'=2,'b'=4] {'b'}: in a mesh of XLA's own
        names, sizes = zip(*re.findall(r"'(\w+)'=(\d+)", meshed[1]))
        axes = tuple(map(names.index, re.findall(r"'(\w+)'", meshed[3])))
        return _group_devices(_read_device_order(meshed[2], count).reshape(tuple(map(int, sizes))), axes)
    return set()


def _read_device_order(text: str | None, count: int) -> Any:
    """Return the device numbers in the order that the text specifies.

    The text is None for the default order, a shape with a permutation such as [2,4]T(1,0), or a list of numbers.
    """
    places = np.arange(count)
    if text is None:
        return places
    match = ORDER.fullmatch(text)
    if match is None:
        return np.array(_sizes(text))
    places = places.reshape(_sizes(match[1]))
    return places.transpose(_sizes(match[2])) if match[2] else places


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def _numbers(text: str) -> list[tuple[int, ...]]:
    """Return the tuples of numbers in a text such as {0,1},{2,3}."""
    return [_sizes(group) for group in re.findall(r"\{([\d,]+)\}", text)]
