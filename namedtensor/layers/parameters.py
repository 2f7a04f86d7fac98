"""Validation of the parameters of a layer against the declarations in its formulas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from grammar.errors import NotationError, list_names
from grammar.nodes import Name

from ..core.axes import show
from ..core.suggestions import did_you_mean, near
from ..core.tensor import NamedTensor
from ..programs.parameters import parameter_shapes
from ..scope.names import index_by_key, walk

if TYPE_CHECKING:
    from ..programs.program import Program


Layer: TypeAlias = Any  # of `layer.py`, which imports this file


def normalize_names(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters by normalized name, such as γ for `gamma`.

    Raises NotationError if `parameters` is not a mapping, or contains two spellings of one name.
    """
    if not isinstance(parameters, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise NotationError(
            208, f"the parameters of a layer must be a mapping from names to tensors, got {type(parameters).__name__}",
            hint="create the layer first, layer = FFN.init(sizes=…), and then call it, layer(X)",
        )  # fmt: skip
    return {str(name): value for name, value in index_by_key(parameters).items()}


def list_expected(layer: Layer) -> list[str]:
    """Return the names of the parameters that the formulas declare, including every member of a family."""
    return [name for name in shapes(layer) if name not in layer.inputs]


def shapes(layer: Layer, **tensors: NamedTensor) -> dict[str, dict[str, Any]]:
    """Return the shape of each name that is declared but not defined, except for the names of given tensors."""
    fixed = {axis for tensor in tensors.values() for axis in tensor.axes}
    default_sizes = {axis: size for axis, size in layer.default_sizes.items() if axis not in fixed}
    return parameter_shapes(
        layer.formula._goal,  # pyright: ignore[reportPrivateUsage]
        {**default_sizes, **layer.sizes},
        tensors,
    )


def constants(formula: Program) -> set[str]:
    """Return all names in the formulas. A call can pass a number for any of these names."""
    return {node.text for node in walk(formula.tree) if isinstance(node, Name)}


def check_names(layer: Layer, names: Iterable[str], inputs: tuple[str, ...]) -> None:
    """Raise NotationError if the formulas do not contain one of the names.

    The hint suggests one of the `inputs` or, if there are none, one of the parameters and names in the formulas.
    """
    free, kind = constants(layer.formula), type(layer).__name__
    for name in names:
        if name not in free:
            takes = f"{kind} takes {', '.join(inputs)}, and" if inputs else f"{kind} has"
            known = inputs or (*layer.parameters, *free)
            raise NotationError(201, f"{takes} no {name}", hint=did_you_mean(near(name, known)))


def check_parameters(layer: Layer, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters in the order of the formulas. Raise NotationError if they do not fit the declarations."""
    needed, kind = list_expected(layer), type(layer).__name__
    missing = [name for name in needed if name not in parameters]
    free = constants(layer.formula) - set(needed)
    extra = [name for name in parameters if name not in needed and name not in free]
    if missing or extra:
        raise mismatch(layer, missing, extra, needed)
    tensors = {name: value for name, value in parameters.items() if isinstance(value, NamedTensor)}
    try:
        stated = shapes(layer, **tensors)
    except NotationError as problem:
        raise inside(kind, problem) from None
    for name, shape in stated.items():
        if name in parameters and (shape or not isinstance(parameters[name], (int, float))):
            raise make_unnamed_error(kind, name, shape, parameters[name])
    return {name: parameters[name] for name in (*needed, *(parameter for parameter in parameters if parameter in free))}


def not_by_keyword(kind: str, other: Mapping[str, Any]) -> NotationError:
    """Return the error for keywords that `init` does not accept. The hint suggests passing them in `sizes`."""
    name = next(iter(other))
    written = ", ".join(f'"{text}": {size!r}' for text, size in other.items())
    return NotationError(201, f"{kind}.init has no {name}", hint=f"sizes come together: sizes={{{written}}}")


def inside(kind: str, problem: NotationError) -> NotationError:
    """Return the same error with the name of the layer added to the message."""
    return problem.replace(message=f"in the parameters of {kind}, {problem.message}")


def make_unnamed_error(kind: str, name: str, shape: Mapping[str, Any], value: Any) -> NotationError:
    """Return the error for a parameter that is not a named tensor."""
    text = "a number" if isinstance(value, (int, float)) else f"{type(value).__name__} without names"
    axes = " ".join(shape)
    return NotationError(
        317, f"{name} of {kind} is declared in {show(shape)}, got {text}",
        hint=f'name its axes: nt.tensor(array, "{axes}")' if axes else "pass a number or a tensor",
    )  # fmt: skip


def mismatch(layer: Layer, missing: list[str], extra: list[str], needed: list[str]) -> NotationError:
    """Return the error for missing parameters, for unexpected parameters, or for both."""
    kind = type(layer).__name__
    notes = [f"its formulas declare {list_names(needed)}"]
    if missing and extra:
        return NotationError(
            206, f"{kind} is missing {list_names(missing)}; unexpected: {list_names(extra)}", notes=tuple(notes)
        )
    if missing:
        shape = shapes(layer)[missing[0]]
        return NotationError(
            206,
            f"{kind} is missing {list_names(missing)}",
            notes=tuple(notes),
            hint=f"pass it: {missing[0]} ∈ {show(shape)}",
        )
    return NotationError(
        201, f"{kind} has no parameter {list_names(extra)}", notes=tuple(notes),
        hint=did_you_mean(near(extra[0], needed)),
    )  # fmt: skip
