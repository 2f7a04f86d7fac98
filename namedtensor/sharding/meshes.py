"""Meshes of named devices. The devices are local or belong to a remote topology."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from grammar.errors import NotationError

from ..core.kinds import is_mapping
from ..tensors.pytrees import jax_module

VIRTUAL = re.compile(r"cpu:([1-9]\d{0,5})")  # devices that one CPU emulates, and their number


def extent_of(mesh: Any) -> str:
    """Format the axes of a mesh and their sizes, as in data[2] × model[4]."""
    return " × ".join(f"{name}[{size}]" for name, size in mesh.shape.items())


def mesh_from(given: Any, topology: str | None = None) -> Any:
    """Return a mesh whose axes the compiler manages.

    The mesh is created from a JAX mesh, or from sizes by name such as {"data": 2, "model": 4}. Its devices are JAX's
    devices. To compile without running, pass a `topology` such as "v5e:16x16", whose devices are used instead. Raises
    NotationError if a size is invalid or there are too few devices (310), if `given` is neither a mesh nor a mapping
    (208), or if the topology is unknown (208).
    """
    jax = jax_module()

    if is_mapping(given):
        return jax.sharding.Mesh(_arrange_devices(given, topology), tuple(given))
    if not isinstance(given, jax.sharding.Mesh):
        raise NotationError(
            208, f"expected a JAX mesh, got {type(given).__name__}",
            hint='write jax.make_mesh((2, 4), ("data", "model")), or {"data": 2, "model": 4}',
        )  # fmt: skip
    return jax.sharding.Mesh(given.devices, given.axis_names)


def _arrange_devices(sizes: Mapping[str, Any], topology: str | None) -> np.ndarray:
    if not sizes:
        raise NotationError(310, "a mesh needs at least one axis", hint='write {"data": 2}')
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise NotationError(
                310, f"the size of {name} must be a positive integer, got {size!r}", hint=f'write {{"{name}": 2}}'
            )
    devices = _here() if topology is None else _elsewhere(topology)
    count = math.prod(sizes.values())
    if count > len(devices):
        extent = " × ".join(f"{name}[{size}]" for name, size in sizes.items())
        raise NotationError(
            310, f"a mesh of {extent} needs {count} devices, got {len(devices)}",
            hint=f"make it smaller, or emulate the devices on one CPU: XLA_FLAGS=--xla_force_host_platform_device_count={count}"
            if topology is None else "make it smaller, or pass a larger topology",
        )  # fmt: skip
    return np.array(devices[:count]).reshape(tuple(sizes.values()))


def _here() -> list[Any]:
    return jax_module().devices()


def _elsewhere(topology: str) -> list[Any]:
    if virtual := VIRTUAL.fullmatch(topology):
        here, count = jax_module().devices("cpu"), int(virtual[1])
        if count > len(here):
            raise NotationError(
                310, f"{topology} needs {count} CPU devices, got {len(here)}",
                hint=f"set XLA_FLAGS=--xla_force_host_platform_device_count={count} before Python starts, or use the command "
                "namedtensor devices",
            )  # fmt: skip
        return here[:count]
    topologies: Any = import_module("jax.experimental.topologies")

    try:
        return list(topologies.get_topology_desc(topology, platform="tpu").devices)
    except Exception as problem:  # each version of libtpu raises its own exceptions
        raise NotationError(
            208, f"unknown topology {topology!r}",
            notes=(str(problem).partition("\n")[0],),
            hint='for a TPU topology such as "v5e:16x16", pip install libtpu; without topology=, the mesh has the local devices',
        ) from None  # fmt: skip
