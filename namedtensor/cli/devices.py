"""The command `devices`: reports the work of each mesh device for a program and its training step.

The command runs without these devices.
"""

from __future__ import annotations

import math
from typing import Any

from ..files.text import InputError
from .arguments import source_of
from .console import Console
from .inputs import is_file, shapes_of, sizes_of, split_given, split_pair
from .parsers import LIST, Argument, command, formula_with


@command(
    *formula_with("the inputs that are not parameters: types, ids='ℤ^{batch[8] × seq[64]}', or numbers"),
    Argument("--of", "NAME", "a name of the program (default: its value, or the loss)"),
    Argument("--mesh", "AXIS=N,...", "the axes of the mesh: data=32,model=8", {"required": True}),
    Argument("--topology", "NAME", "the devices: v5e:16x16, cpu:256 (default: CPU devices)"),
    Argument("--store", "AXIS=MESH_AXIS,...", "rules for parameters", {"default": ""}),
    Argument("--compute", "AXIS=MESH_AXIS,...", "rules for inputs, results and computation (default: as --store)"),
    Argument("--value", "NAME:AXIS=MESH_AXIS,...", "rules for one value: X^l:seq=model", LIST),
    Argument("--save", "NAME,...", "the values that loops save for gradients; all others are computed again"),
    Argument("--loss", "NAME|FORMULA|FILE", "the loss of a training step (default: no step)"),
    Argument("--update", "FILE.nt", "the optimizer, for one parameter θ (default: Adam)"),
    Argument("--accumulate", "AXIS", "the axis over which gradients are accumulated"),
    Argument("--dtype", "DTYPE", "dtype of the parameters (default: float32)", {"default": "float32"}),
)
def devices_command(options: Any, console: Console) -> None:
    r"""Print memory, FLOPs and communication of each device.

    namedtensor devices 'Y = X ⊙_{a} W' --mesh data=2,model=4 --store b=model X='ℝ^{batch[8] × a[16]}' W='ℝ^{a[16] × b[32]}'
    namedtensor devices model.nt --topology v5e:16x16 --mesh data=32,model=8 --store chans=data,hidden=model \
        --compute batch=data,hidden=model --loss loss --sizes L=80,chans=8192 ids='ℤ^{batch[32] × seq[4096]}'

    A rule AXIS=MESH_AXIS shards an axis over a mesh axis; AXIS=A+B shards it over two. TPU topologies need pip install
    libtpu.
    """
    from ..files.text import read_text
    from ..programs.program import Program

    source = source_of(options)
    mesh = sizes_of([options.mesh], "--mesh data=32,model=8")
    count = math.prod(mesh.values())
    topology = options.topology or f"cpu:{count}"
    emulate(topology)
    inputs = inputs_of(options, console)
    report = Program(source.text, source.syntax).for_devices(
        topology,
        rules_of(options.store),
        mesh,
        compute_rules=None if options.compute is None else rules_of(options.compute),
        value_rules=dict(map(value_rule, options.value)) or None,
        save=None if options.save is None else [name for name in options.save.split(",") if name],
        sizes=sizes_of(options.sizes),
        dtype=options.dtype,
        output=options.of,
        loss=read_text(options.loss) if is_file(options.loss or "") else options.loss,
        update=None if options.update is None else Program(read_text(options.update), "text"),
        accumulate=options.accumulate,
        **inputs,
    )
    if options.json:
        console.json(report_record(report))
    else:
        console.print(repr(report))


def inputs_of(options: Any, console: Console) -> dict[str, Any]:
    """Return the types and numbers of the inputs, by name.

    Integer types remain strings, because they determine the dtype.
    """
    from ..programs.devices import INTEGERS

    whole = {name: text for name, text in map(split_given, options.inputs) if INTEGERS.match(text)}
    others = [word for word in options.inputs if split_given(word)[0] not in whole]
    return {**shapes_of(others, options.header, console), **whole}


def emulate(topology: str) -> None:
    """Configure JAX to emulate the CPU devices of a topology, unless JAX has already started."""
    from ..sharding.meshes import VIRTUAL

    virtual = VIRTUAL.fullmatch(topology)
    if virtual is None:
        return
    from ..tensors.pytrees import jax_module

    jax = jax_module()
    try:
        jax.config.update("jax_num_cpu_devices", int(virtual[1]))
    except RuntimeError:
        pass  # JAX has already created its devices, which may be enough.


def rules_of(text: str) -> dict[str, Any]:
    """Return the rules in a string such as hidden=model,batch=data+model. Raise InputError if they are invalid."""
    rules: dict[str, Any] = {}
    for word in filter(None, map(str.strip, text.split(","))):
        axis, over = split_pair(word, "a rule; write hidden=model,batch=data")
        if axis in rules:
            raise InputError(f"the rule of {axis} is given twice")
        rules[axis] = tuple(map(str.strip, over.split("+"))) if over else None
    return rules


def value_rule(text: str) -> tuple[str, dict[str, Any]]:
    """Return a name and its rules, given a string such as X^l:seq=model. Raise InputError if they are invalid."""
    name, rules = split_pair(text, "a rule of a value; write --value X^l:seq=model", ":")
    return name, rules_of(rules)


def report_record(report: Any) -> dict[str, Any]:
    """Return a report on devices as a JSON record."""
    from ..sharding.device_report import count_moved_bytes

    record: dict[str, Any] = {"devices": report.devices, "device_count": report.device_count}
    for name, use in (("forward", report.forward), ("step", report.step)):
        if use is not None:
            moved = {key: {"count": n, "bytes": size} for key, (n, size) in count_moved_bytes(use.collectives).items()}
            record[name] = {**use._asdict(), "collectives": moved}
    return record
