"""The sizes in an ONNX graph: names for its open axes, and checks that sizes agree.

ONNX Runtime checks only the sizes that are constants in the graph. Without these checks, it would broadcast an axis of
size 1 to the size of another input, and the result would be wrong without an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import onnx_ir
    from onnx_ir import node
else:
    try:
        import onnx_ir
        from onnx_ir import node
    except ImportError:  # tools that list the package's modules import this one, too
        pass

from ..backends.entry_checks import reads_of
from ..core.extents import Size, extent
from .torch_forward import Forward

Axis = tuple[int, int]  # the number of an input, and the position of one of its axes
INT64 = 7  # the number of the element type int64 in ONNX


def name_axes(graph: Any, names: Sequence[Mapping[int, str]]) -> None:
    """Assign names to the open axes of a graph's inputs and outputs.

    `names` contains a map from axis positions to names for each input and output.
    """
    for value, of_value in zip((*graph.inputs, *graph.outputs), names):
        for axis, name in of_value.items():
            value.shape[axis] = name


def check_agreement(graph: Any, planned: Forward, names: Sequence[Mapping[int, str]]) -> None:
    """Add nodes to the graph that reject inputs of conflicting sizes.

    `forward` reads each open size from one axis. The nodes compare all other axes of this size with that axis.
    """
    read_from: dict[Size, Axis] = {
        read.size: (planned.plan.inputs.index(read.value), read.axis)
        for read in reads_of(planned.plan, shapes=True)
        if read.size == extent(read.symbol)
    }
    first, inputs = graph.node(0), [*graph.inputs]
    for number, value in enumerate(inputs):
        sources = [read_from.get(size, (number, axis)) for axis, size in enumerate(planned.shapes[number])]
        if all(source == (number, axis) for axis, source in enumerate(sources)):
            continue
        uses = [*value.uses()]
        sizes = ", ".join(names[number].get(axis, str(size)) for axis, size in enumerate(planned.shapes[number]))
        nodes = checking_nodes(value, [(inputs[source], axis) for source, axis in sources], sizes)
        for use in uses:
            use.node.replace_input_with(use.idx, nodes[-1].outputs[0])
        graph.insert_before(first, nodes)


def checking_nodes(value: Any, sources: Sequence[tuple[Any, int]], sizes: str) -> list[Any]:
    """Return nodes that pass an input through and fail if its sizes differ from the sizes of other axes.

    The nodes index a one-element array with 0 if a size agrees, and with 1 otherwise, which fails. They then reshape
    the input to the resulting zeros. In ONNX, a zero keeps the size of an axis. ONNX Runtime removes a `Reshape` node
    whose result is constant.
    """
    expected = [node("Shape", [source], {"start": axis, "end": axis + 1}) for source, axis in sources]
    listed = node("Concat", [part.outputs[0] for part in expected], {"axis": 0})
    actual = node("Shape", [value])
    agree = node("Equal", [listed.outputs[0], actual.outputs[0]])
    differ = node("Not", [agree.outputs[0]])
    index = node("Cast", [differ.outputs[0]], {"to": INT64})
    zero = node("Constant", [], {"value": onnx_ir.tensor([0])})
    checked = node("Gather", [zero.outputs[0], index.outputs[0]], name=f"{value.name} must have sizes [{sizes}]")
    reshape = node("Reshape", [value, checked.outputs[0]])
    return [*expected, listed, actual, agree, differ, index, zero, checked, reshape]
