"""The cost on each device of a program and its training step, without values: memory, FLOPs and collectives."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from grammar.errors import NotationError
from grammar.plain_text import encodable

from ..core.tensor import NamedTensor
from ..tensors.pytrees import jax_module
from .collectives import Collectives, collectives_of
from .device_cost import bytes_shown
from .sharded import Sharded
from .training import PARAMETER, STEP, Training

NEEDED = re.compile(r"required[^(]*\((\S+)\) exceeds available HBM \((\S+?)\)")  # libtpu's message for too much memory


class DeviceUse(NamedTuple):
    """The cost of a function on each device: bytes by kind, FLOPs of matrix products, and collective operations."""

    parameters: int
    states: int
    inputs: int
    results: int
    temporary: int
    total: int
    flops: int
    collectives: Collectives


class DeviceReport(NamedTuple):
    """The cost of a program's value and, if there is a loss, of a training step, on each of `device_count` devices."""

    devices: str
    device_count: int
    forward: DeviceUse
    step: DeviceUse | None = None

    @encodable
    def __repr__(self) -> str:
        uses = [("forward", self.forward), *([("training step", self.step)] if self.step else [])]
        rows = [(f"on each of {self.device_count} devices, {self.devices}", *(name for name, _ in uses))]
        for name, label in LABELS.items():
            sizes = [getattr(use, name) for _, use in uses]
            if any(sizes):
                rows.append((label, *map(bytes_shown, sizes)))
        rows.append(("FLOPs of products", *(f"{use.flops:.3g}" for _, use in uses)))
        moved = [count_moved_bytes(use.collectives) for _, use in uses]
        for key in dict.fromkeys(key for one in moved for key in one):
            rows.append((key, *(_collective(*one[key]) if key in one else "–" for one in moved)))
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows)
        return "\n".join(lines)


LABELS = {
    "parameters": "  parameters", "states": "  optimizer", "inputs": "  inputs", "results": "  results",
    "temporary": "  between", "total": "  in all",
}  # fmt: skip


def _collective(count: int, size: int) -> str:
    return f"{count:,} × {bytes_shown(size / count)}" if count else "–"


def count_moved_bytes(collectives: Collectives) -> dict[str, tuple[int, int]]:
    """Return the number of runs and the total bytes of the collective operations, by kind and mesh axes."""
    result: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for one in collectives:
        key = f"{one.kind} over {' × '.join(one.over) or 'some devices'}"
        count, size = result[key]
        result[key] = count + one.times, size + one.times * one.bytes
    return dict(sorted(result.items()))


def device_report(
    sharded: Sharded, name: str | None, parameters: Mapping[str, NamedTensor], inputs: Mapping[str, Any], *,
    sizes: Mapping[str, int] | None, constants: Mapping[str, float], update: Any = None, accumulate: str | None = None,
) -> DeviceReport:  # fmt: skip
    """Return the report for a program's value and, if `update` and `name` are given, its training step."""
    placed, tensors = sharded.place(parameters), sharded.place_inputs(inputs)
    mesh = sharded.mesh
    entry = sharded._entry(name)
    one = (
        tensors
        if accumulate is None
        else {key: _drop_element(sharded, value, accumulate) for key, value in tensors.items()}
    )
    traced = entry.traced(values={**placed, **constants}, sizes=sizes, **one)
    forward = _use(traced, mesh, placed, {}, one, "the value")
    step = None
    if update is not None and name is not None:
        training = Training(sharded, name, update, sizes=sizes, constants=constants, accumulate=accumulate)
        state = training.abstract_state(placed)
        states = {key: value for key, value in state.items() if key not in (PARAMETER, STEP)}
        step = _use(training.traced(state, **tensors), mesh, placed, states, tensors, "the training step")
    extent = " × ".join(f"{axis}[{size}]" for axis, size in mesh.shape.items())
    return DeviceReport(f"{extent} of {mesh.devices.flat[0].device_kind}", mesh.devices.size, forward, step)


def _drop_element(sharded: Sharded, tensor: NamedTensor, axis: str) -> NamedTensor:
    """Return the abstract input for one element along an axis. Return inputs without this axis unchanged."""
    if axis not in tensor.axes:
        return tensor
    sizes = {name: size for name, size in tensor.sizes.items() if name != axis}
    return sharded.abstract_input(sizes, str(tensor.array.dtype))


def _use(traced: Any, mesh: Any, parameters: Any, states: Any, inputs: Any, name: str) -> DeviceUse:
    try:
        compiled = traced.lower().compile()
    except Exception as problem:
        needed = NEEDED.search(str(problem))
        if needed is None:
            raise
        raise NotationError(
            404, f"{name} needs {needed[1]} of memory on each device, which has {needed[2]}",
            hint="shard more axes, accumulate over an axis, or save fewer values: save=[]",
        ) from None  # fmt: skip
    memory = compiled.memory_analysis()
    given, results, between = (
        memory.argument_size_in_bytes, memory.output_size_in_bytes, memory.temp_size_in_bytes,
    )  # fmt: skip
    total = given + results + between - memory.alias_size_in_bytes
    flops = products_flops(traced.jaxpr.jaxpr) // mesh.devices.size
    collectives = collectives_of(compiled.as_text(), mesh)
    stored, carried, read = bytes_on_device(parameters), bytes_on_device(states), bytes_on_device(inputs)
    return DeviceUse(
        stored, carried, read, results - memory.alias_size_in_bytes, between, total, flops, collectives,
    )  # fmt: skip


def bytes_on_device(tensors: Any) -> int:
    """Return the number of bytes that tensors occupy on one device."""
    return sum(
        math.prod(leaf.sharding.shard_shape(leaf.shape)) * leaf.dtype.itemsize
        for leaf in jax_module().tree.leaves(tensors)
    )


def products_flops(jaxpr: Any) -> int:
    """Return the number of floating-point operations in the matrix products of a JAX function.

    A product in a scan counts once per step.
    """
    total = 0
    for equation in jaxpr.eqns:
        times = equation.params.get("length", 1) if equation.primitive.name == "scan" else 1
        if equation.primitive.name == "dot_general":
            (contracted, _), _ = equation.params["dimension_numbers"]
            summed = math.prod(equation.invars[0].aval.shape[axis] for axis in contracted)
            total += 2 * summed * math.prod(equation.outvars[0].aval.shape)
        for inner in _inner(equation.params.values()):
            total += times * products_flops(inner)
    return total


def _inner(parameters: Iterable[Any]) -> Iterator[Any]:
    """Yield the JAX functions in the parameters of a JAX equation."""
    for parameter in parameters:
        several: list[Any] = [*parameter] if isinstance(parameter, (tuple, list)) else [parameter]
        for one in several:
            inner = getattr(one, "jaxpr", one)
            if hasattr(inner, "eqns"):
                yield inner
