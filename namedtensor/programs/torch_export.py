"""Export of modules to `torch.export` programs and ONNX files in which the sizes of open axes are dynamic."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
else:
    try:
        import torch
    except ImportError:  # tools that list the package's modules import this one, too
        pass

from grammar.errors import NotationError

from ..core.extents import Extent, extent, symbols_of, value_at
from ..terms.environment import distinct_names
from .torch_forward import Forward

EXAMPLES = (3, 5, 7, 11, 2, 4, 8, 16)  # sizes for tracing, which differ for different open axes if possible
MAX_EXAMPLES = 5000  # tuples of sizes that are tried
MAX_INLINE_BYTES = 2**30  # the most parameter bytes in one file with the graph; the limit of Protobuf is twice as high


def forward_of(planned: Forward | None, problem: NotationError | None) -> Forward:
    """Return the `forward` function that a module exports. Raise NotationError if the module has none."""
    if planned is not None:
        return planned
    if problem is None:
        raise NotationError(
            309, "cannot export the module: the axes of its inputs are missing",
            hint='pass them when you create the module: .module(X="batch seq chans")',
        )  # fmt: skip
    raise NotationError(problem.code, f"the module cannot be exported: {problem.message}", hint=problem.hint)


def shapes_to_trace(planned: Forward) -> list[tuple[int, ...]]:
    """Return input shapes that satisfy the plan's conditions. If possible, each open size differs from all others.

    Raises NotationError if no example sizes satisfy the conditions.
    """
    symbols = [*symbols_of(planned.shapes)]
    fixed = {size for shape in planned.shapes for size in shape if type(size) is int}
    for number, sizes in enumerate(choices(len(symbols), fixed)):
        known = dict(zip(symbols, sizes))
        if all(condition.holds(known) for condition in planned.plan.conditions):
            return [tuple(value_at(size, known) for size in shape) for shape in planned.shapes]
        if number > MAX_EXAMPLES:
            break
    conditions = ", ".join(condition.shown for condition in planned.plan.conditions)
    raise NotationError(309, f"found no example sizes to export the module with that satisfy {conditions}")


def choices(count: int, fixed: set[int]) -> Iterator[tuple[int, ...]]:
    unlike = [size for size in EXAMPLES if size not in fixed]
    for sizes in product(unlike, repeat=count):
        if len(set(sizes)) == count:
            yield sizes
    yield from product(EXAMPLES, repeat=count)


def arrays_of(planned: Forward, device: Any, floating: torch.dtype) -> tuple[torch.Tensor, ...]:
    """Return arrays on this device for tracing the module, with the shapes and dtypes of its inputs."""
    return tuple(
        torch.ones(shape, dtype=floating if dtype in planned.shared else getattr(torch, dtype), device=device)
        for shape, dtype in zip(shapes_to_trace(planned), planned.dtypes)
    )


def open_axes(planned: Forward) -> list[dict[int, str]]:
    """Return the name of each open axis by its position, for each input and then for each result."""
    tensors = [*planned.plan.inputs[: len(planned.shapes)], *planned.plan.results]
    names: dict[Any, str] = {}
    names_by_position: list[dict[int, str]] = []
    for tensor in tensors:
        shown = distinct_names(tensor.order)
        names_by_position.append(
            {
                position: names.setdefault(size, identifier(shown[tensor.order[position]]))
                for position, size in enumerate(tensor.shape)
                if type(size) is Extent
            }
        )
    return names_by_position


def identifier(axis: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in axis.replace("'", "_prime"))


def dynamic_shapes(planned: Forward) -> tuple[dict[int, Any], ...]:
    """Return the open axes of each input, for `torch.export`. If sizes have conditions, PyTorch finds their ranges."""
    axes = open_axes(planned)[: len(planned.shapes)]
    sizes = [size for shape in planned.shapes for size in shape if type(size) is Extent]
    is_free = not planned.plan.conditions and all(
        len(size.symbols) == 1 and size == extent(*size.symbols) for size in sizes
    )
    dimension: Any = torch.export.Dim if is_free else lambda name: torch.export.Dim.DYNAMIC  # whose range PyTorch finds
    return tuple({position: dimension(name) for position, name in of_input.items()} for of_input in axes)


def export_module(module: torch.nn.Module, planned: Forward, device: Any, floating: torch.dtype) -> Any:
    """Return the module as a `torch.export` program in which open sizes are dynamic."""
    arrays, shapes = arrays_of(planned, device, floating), dynamic_shapes(planned)
    try:
        return torch.export.export(module, arrays, dynamic_shapes=shapes)
    except (
        RuntimeError
    ):  # Some PyTorch kernels exclude a size. For dynamic axes without names, PyTorch infers the allowed sizes.
        dynamic = tuple(dict.fromkeys(of_input, torch.export.Dim.DYNAMIC) for of_input in shapes)
        return torch.export.export(module, arrays, dynamic_shapes=dynamic)


def to_onnx(
    module: torch.nn.Module, planned: Forward, path: str | os.PathLike[str], outputs: Sequence[str], device: Any,
    floating: torch.dtype,
) -> None:  # fmt: skip
    """Write the module to an ONNX file. Raise NotationError if a package that PyTorch needs is missing."""
    for library in ("onnx", "onnxscript"):
        if find_spec(library) is None:
            raise NotationError(408, f"{library} is not installed", hint="pip install '.[onnx]'")
    from .onnx_sizes import check_agreement, name_axes

    size = sum(parameter.numel() * parameter.element_size() for parameter in module.parameters())
    program = torch.onnx.export(
        export_module(module, planned, device, floating), dynamo=True, verbose=False, input_names=list(planned.inputs),
        output_names=list(outputs),
    )  # fmt: skip
    assert program is not None
    graph, names = program.model.graph, open_axes(planned)
    name_axes(graph, names)
    check_agreement(graph, planned, names)
    program.save(os.fspath(path), external_data=size > MAX_INLINE_BYTES)
