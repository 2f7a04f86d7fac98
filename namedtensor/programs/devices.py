"""Report the work of each device in a program.

The parameters need no values, and the devices may be absent.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

from ..core.arrays import Layout
from ..core.tensor import wrap_layout
from .arguments import layout_of
from .families import stack_families
from .initialization import whole
from .parameters import infer_types, shapes_of

if TYPE_CHECKING:
    from ..sharding.device_report import DeviceReport

LOSS = "loss"  # the name of a loss that is given as a formula
DEFINED = re.compile(rf"^\s*{LOSS}\s*=", re.MULTILINE)
INTEGERS = re.compile(r"\s*(?:ℤ|ℕ|[ZN]\b|\[)")  # the sets of integers that the type of an input begins with


def device_report_of(
    program: Any, placed: tuple[Any, ...], options: Mapping[str, Any], sizes: Mapping[str, int] | None, dtype: str,
    name: str | None, step: Mapping[str, Any], inputs: Mapping[str, Any],
) -> DeviceReport:  # fmt: skip
    """Return the device report of a program for inputs of these types; see `Program.for_devices`.

    `placed` and `options` are arguments of `shard`. `step` contains the loss, the update and the axis of accumulation.
    """
    from ..sharding.device_report import device_report
    from ..sharding.training import ADAM

    loss, update, accumulate = step["loss"], step["update"], step["accumulate"]
    if loss is not None:
        update = type(program)(ADAM, "text") if update is None else update
        program, name = loss_in(program, loss)
    sharded = program.shard(*placed, **options)
    constants = {key: value for key, value in inputs.items() if isinstance(value, (int, float))}
    texts = {key: value for key, value in inputs.items() if key not in constants}
    goal = program if name is None else program[name]
    shapes = shapes_of(infer_types(goal._goal, sizes, texts, tuple(texts)), inputs)
    known = {axis: size for shape in shapes.values() for axis, size in shape.items() if isinstance(size, int)}
    known |= sizes or {}
    parameters: dict[str, Any] = {}
    for key, shape in shapes.items():
        extent = whole(key, {axis: known.get(axis, size) for axis, size in shape.items()})
        parameters[key] = _make_abstract(key, dict(zip(shape, extent)), known, dtype)
    tensors = {
        key: _make_abstract(key, text, known, "int32" if INTEGERS.match(str(text)) else dtype)
        for key, text in texts.items()
    }
    return device_report(
        sharded, name, stack_families(parameters, program.declared, 2), tensors, sizes=sizes, constants=constants, update=update,
        accumulate=accumulate,
    )  # fmt: skip


def _make_abstract(name: str, shape: Any, sizes: Mapping[str, int], dtype: str) -> Any:
    """Return a JAX tensor that has the shape of an input or parameter, but no values."""
    from jax import ShapeDtypeStruct  # type: ignore[import-not-found]

    layout = layout_of(shape, name, sizes)
    try:
        array = ShapeDtypeStruct(layout.extent, dtype)
    except TypeError:
        raise NotationError(405, f"invalid dtype {dtype!r}", hint='write "float32" or "bfloat16"') from None
    return wrap_layout(array, Layout(layout.axes, layout.extent, array.dtype, None))


def loss_in(program: Any, loss: str) -> tuple[Any, str]:
    """Return a program that defines a loss, and the name of the loss.

    If `loss` is not a name that the program defines, it is a formula or a definition, which is added to the program.
    Raises NotationError if this program is in LaTeX.
    """
    if loss in program.names:
        return program, loss
    if program.syntax == "latex":
        raise NotationError(
            201, f"the program does not define {loss}", hint="define the loss in the program, and pass its name"
        )
    text = loss if DEFINED.search(loss) else f"{LOSS} = {loss}"
    return type(program)(f"{program.source}\n{text}\n", "text", program.strict), LOSS
