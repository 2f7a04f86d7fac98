"""What a layer is given, against what its formulas declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import namedtensor as nt
from grammar.nodes import Name
from namedtensor.core.axes import show
from namedtensor.core.suggestions import did_you_mean, near
from namedtensor.programs.parameters import parameter_shapes
from namedtensor.scope.names import key, walk

if TYPE_CHECKING:
    from .layer import Layer


def spelled(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Each name in its one spelling: `gamma` is γ. Raises NotationError where there are no names."""
    if not isinstance(parameters, Mapping):
        raise nt.NotationError(
            208, f"the parameters of a layer are a mapping from names to tensors, not {type(parameters).__name__}",
            hint="make the layer first, layer = FFN.init(sizes=…), and then call it, layer(X)",
        )  # fmt: skip
    return {str(key(name)): value for name, value in parameters.items()}


def expected(layer: type[Layer] | Layer, sizes: Mapping[str, int]) -> list[str]:
    """The parameters that the formulas declare, families counted out; `sizes` says how many layers there are."""
    return [name for name in shapes(layer, sizes) if name not in layer.inputs]


def shapes(
    layer: type[Layer] | Layer, sizes: Mapping[str, int], **tensors: nt.NamedTensor
) -> dict[str, dict[str, Any]]:
    """The shape of each name that is declared and not defined, but for the tensors that are given."""
    fixed = {axis for tensor in tensors.values() for axis in tensor.axes}
    counted = {axis: size for axis, size in layer.counted.items() if axis not in fixed}
    return parameter_shapes(layer.formula._goal, {**counted, **sizes}, tensors)


def constants(layer: type[Layer] | Layer) -> set[str]:
    """The names in the formulas that a number may be given for."""
    return {node.text for node in walk(layer.formula.tree) if isinstance(node, Name)}


def check_names(layer: Layer, named: Mapping[str, Any], inputs: tuple[str, ...]) -> None:
    """Raise where a call names what is no input and nowhere in the formulas."""
    for name in named:
        if name not in inputs and name not in layer.parameters and name not in constants(layer):
            takes = (
                f"{type(layer).__name__} takes {', '.join(inputs)}, and" if inputs else f"{type(layer).__name__} has"
            )
            known = inputs or (*layer.parameters, *constants(layer))
            raise nt.NotationError(201, f"{takes} no {name}", hint=did_you_mean(near(name, known)))


def checked(layer: Layer, parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters in the order of the formulas. Raises NotationError where they are not what those declare."""
    kind = type(layer).__name__
    sizes = layer.sizes
    needed = expected(layer, sizes)
    missing = [name for name in needed if name not in parameters]
    free = constants(layer) - set(needed)
    extra = [name for name in parameters if name not in needed and name not in free]
    if missing or extra:
        raise mismatch(layer, sizes, missing, extra, needed)
    tensors = {name: value for name, value in parameters.items() if isinstance(value, nt.NamedTensor)}
    try:
        declared = shapes(layer, sizes, **tensors)
    except nt.NotationError as problem:
        raise inside(kind, problem) from None
    for name, shape in declared.items():
        if name in parameters and (shape or not isinstance(parameters[name], (int, float))):
            raise unnamed(kind, name, shape, parameters[name])
    return {name: parameters[name] for name in (*needed, *(each for each in parameters if each in free))}


def not_by_keyword(layer: type[Layer], other: Mapping[str, Any]) -> nt.NotationError:
    """What `init` was given by a keyword that it does not have: sizes, as a rule."""
    name = next(iter(other))
    written = ", ".join(f'"{each}": {size!r}' for each, size in other.items())
    return nt.NotationError(
        201, f"{layer.__name__}.init has no {name}", hint=f"sizes come together: sizes={{{written}}}"
    )


def inside(kind: str, problem: nt.NotationError) -> nt.NotationError:
    """The same error, which says whose parameters it is about."""
    message = f"in the parameters of {kind}, {problem.message}"
    return nt.NotationError(
        problem.number, message, problem.source, problem.span, problem.notes, problem.hint, problem.labels
    )


def unnamed(kind: str, name: str, shape: Mapping[str, Any], value: Any) -> nt.NotationError:
    """A parameter that is no named tensor."""
    given = "a number" if isinstance(value, (int, float)) else f"{type(value).__name__} without names"
    axes = " ".join(shape)
    return nt.NotationError(
        317, f"{name} of {kind} was given as {given}, and is declared in {show(shape)}",
        hint=f'name its axes: nt.tensor(array, "{axes}")' if axes else "give a number, or a tensor",
    )  # fmt: skip


def mismatch(
    layer: Layer, sizes: Mapping[str, int], missing: list[str], extra: list[str], needed: list[str]
) -> nt.NotationError:
    """What is missing and what is left over, in one error."""
    kind = type(layer).__name__
    notes = [f"its formulas declare {listed(needed)}"]
    if missing and extra:
        return nt.NotationError(
            206, f"{kind} lacks {listed(missing)}, and was given {listed(extra)}, which it has not", notes=tuple(notes)
        )
    if missing:
        shape = shapes(layer, sizes)[missing[0]]
        return nt.NotationError(
            206, f"{kind} lacks {listed(missing)}", notes=tuple(notes), hint=f"give it: {missing[0]} ∈ {show(shape)}"
        )
    return nt.NotationError(
        201, f"{kind} has no parameter {listed(extra)}", notes=tuple(notes),
        hint=did_you_mean(near(extra[0], needed)),
    )  # fmt: skip


def listed(names: list[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
