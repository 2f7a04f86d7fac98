"""Operations of array code, each with a record of its names, its parameters, and its rule on dimensions and axes.

A call is bound to the parameters of its record, in the order of the library's signature. The parameter `axis|dim=None`
accepts either name. A keyword that the record does not list is rejected, since a formula that ignores the keyword would
be wrong. A parameter such as `-out=None` must have its default value or the dtype float, and `shape...` accepts all
further arguments. The parameters after `*` are keywords only. `rule` returns the value in named notation.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grammar import nodes
from grammar.cache import cached_property

from . import values
from .axes import Axes, Dim
from .values import AxisValue, number

REQUIRED = object()


class MisuseError(Exception):
    """The error for a call with arguments that the operation does not support."""


@dataclass(frozen=True)
class Parameter:
    names: tuple[str, ...]
    default: Any = REQUIRED
    fixed: bool = False  # whether only the default is supported


@dataclass(frozen=True)
class Operation:
    """An operation of array code. `library` is "numpy" or "torch" if the record is for this library only."""

    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    rule: Callable[..., Any]
    library: str = ""
    variadic: int | None = None  # the position of a parameter that takes all further arguments
    positional: int = 99  # how many arguments the library accepts by position

    def bound(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> list[Any]:
        """Return the arguments of a call in the order of the parameters, without the fixed parameters.

        Raise MisuseError for a missing, unknown or unsupported argument.
        """
        if self.variadic is not None and len(arguments) > self.variadic:
            arguments = [*arguments[: self.variadic], collect_arguments(arguments[self.variadic :])]
        if len(arguments) > self.positional:
            raise MisuseError(f"{self.names[0]} takes {self.positional} arguments by position, got {len(arguments)}")
        if len(arguments) > len(self.parameters):
            raise MisuseError(f"{self.names[0]} takes {len(self.parameters)} arguments here, got {len(arguments)}")
        known = {name: position for position, parameter in enumerate(self.parameters) for name in parameter.names}
        result = [*arguments, *(parameter.default for parameter in self.parameters[len(arguments) :])]
        for name, value in keywords.items():
            if name in SETTINGS and name not in known:
                continue
            if name not in known:
                raise MisuseError(f"the keyword {name} of {self.names[0]} is not supported")
            result[known[name]] = value
        if any(value is REQUIRED for value in result):
            raise MisuseError(f"{self.names[0]} is missing an argument")
        pairs = [*zip(self.parameters, result)]
        for parameter, value in pairs:
            if parameter.fixed and value != parameter.default and value != Dtype("float"):
                raise MisuseError(f"the keyword {parameter.names[0]} of {self.names[0]} is not supported")
        return [value for parameter, value in pairs if not parameter.fixed]


def collect_arguments(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Return the arguments as one tuple, so that permute(0, 2, 1) and permute((0, 2, 1)) have the same arguments."""
    whole = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)) else arguments
    return tuple(whole)


OPERATIONS: dict[str, list[Operation]] = {}


def parameters_of(text: str) -> tuple[Parameter, ...]:
    """Parse a parameter list such as "x, axis|dim=None, -out=None, keepdims|keepdim=False, shape..."."""
    result = []
    for piece in text.split(","):
        names, equals, default = piece.strip().partition("=")
        words = tuple(names.strip("-.").split("|"))
        result.append(Parameter(words, ast.literal_eval(default) if equals else REQUIRED, names.startswith("-")))
    return tuple(result)


def operation(names: str, parameters: str, rule: Any, library: str = "") -> None:
    """Register an operation under each of its names. The rule translates a call with these parameters."""
    before, star, after = parameters.partition(", *")
    positional = len(parameters_of(before)) if star else 99
    variadic = parameters.partition("...")[0].count(",") if "..." in parameters else None
    record = Operation(tuple(names.split()), parameters_of(before + after), rule, library, variadic, positional)
    for name in record.names:
        OPERATIONS.setdefault(name, []).append(record)


def operations(names: str, numpy: str, torch: str, rule: Any) -> None:
    """Register an operation with different parameters in NumPy and PyTorch but the same translation rule."""
    operation(names, numpy, rule, "numpy")
    operation(names, torch, rule, "torch")


def bound_to(name: str, parameters: str, arguments: Sequence[Any], keywords: dict[str, Any]) -> list[Any]:
    """Return the arguments of a call in the order of these parameters. Raise MisuseError if they do not fit."""
    return Operation((name,), parameters_of(parameters), tuple).bound(arguments, keywords)


def find_operation(name: str, library: str) -> Operation | None:
    """Return the operation with a name in a library, or None if the table has no such operation."""
    records = OPERATIONS.get(name, [])
    return next((record for record in records if record.library in ("", library)), None)


SETTINGS = {  # keywords that change no element of a value
    *"""copy order device layout requires_grad pin_memory memory_format subok casting precision preferred_element_type out_sharding stable
    indices_are_sorted unique_indices promote_integers overwrite_input compute_mode symmetrize_input _stacklevel""".split()
}  # fmt: skip


class Pair:
    """The result of a PyTorch operation that returns values and indices. Only the values can be used."""

    def __init__(self, values: Any):
        self.values = values


@dataclass(frozen=True)
class Masked:
    """The elements that satisfy a condition, as in x[x > 0]. The number of these elements depends on the data."""

    value: AxisValue
    condition: AxisValue


@dataclass(frozen=True)
class Dtype:
    """A dtype that code names: float, bool or int."""

    name: str


DTYPES = {
    **dict.fromkeys("float float16 float32 float64 double half bfloat16".split(), Dtype("float")),
    **dict.fromkeys("int int8 int16 int32 int64 long uint8".split(), Dtype("int")),
    **dict.fromkeys(["bool", "bool_"], Dtype("bool")),
}


# ------------------------------------------------------------------------------------------------------------- pieces
class Listed(tuple[Any, ...]):
    """A list or tuple in code. An operation that needs a tensor uses `value`, the tensor that `convert` returns."""

    convert: Callable[[Listed], AxisValue]

    @cached_property
    def value(self) -> AxisValue:
        return self.convert(self)


class SizeArgument:
    """An argument that is the length of a dimension, such as x.shape[0]."""

    def __init__(self, dim: Dim):
        self.dim = dim


class PartArgument:
    """The length of one part of a split dimension, as a quotient such as d // heads."""

    def __init__(self, whole: SizeArgument, divisor: int):
        self.whole, self.divisor = whole, divisor


def to_value(x: Any) -> AxisValue:
    """Convert a tensor, number or length to a value with axes. Raise MisuseError for any other argument."""
    if isinstance(x, AxisValue):
        return x
    if isinstance(x, Listed):
        return x.value
    if isinstance(x, Masked):
        raise MisuseError("the number of elements depends on the data: take sum, mean, max or min of it")
    if isinstance(x, Pair):
        raise MisuseError(
            "the indices of a pair have no formula" if x.values is None else "this is a pair of values and indices"
        )
    if isinstance(x, bool) or x is None:
        raise MisuseError(f"{x} is not a tensor or a number")
    if isinstance(x, (int, float)):
        return AxisValue(number(x))
    if isinstance(x, SizeArgument):
        return AxisValue(values.size_of(x.dim))
    raise MisuseError(f"{type(x).__name__} is not a tensor or a number")


def shape_of(x: Any) -> tuple[Any, ...]:
    """Return the length of each dimension of a tensor: 1, or a `SizeArgument` for a dimension with axes."""
    return tuple(SizeArgument(dim) if dim else 1 for dim in to_value(x).dims)


def numeric(x: Any) -> Any:
    """Return a value with numeric elements. A condition is converted to 0 and 1."""
    value = to_value(x)
    return replace(value, node=nodes.Indicator(value.node), truth=False) if value.truth else value


def is_condition(x: Any) -> bool:
    """Return whether an argument is a value, or a list of values, whose elements are true or false."""
    if isinstance(x, Listed):
        return bool(x) and all(isinstance(part, bool) or is_condition(part) for part in x)
    return isinstance(x, AxisValue) and x.truth


def name_of_input(axes: Axes, node: nodes.Node) -> str:
    """Return the name of the input that a node represents, possibly with renamed axes, or "" for any other node."""
    while isinstance(node, nodes.Rename):
        node = node.base
    return next((name for name, source in axes.inputs.items() if source.leaf.node == node), "")


def condition_of(axes: Axes, x: Any) -> AxisValue:
    """Return an argument as a condition. The elements of an input are true if they are not 0.

    Raise MisuseError if the argument is neither a condition nor an input.
    """
    value = to_value(x)
    if value.truth:
        return value
    if not (name := name_of_input(axes, value.node)):
        raise MisuseError("the condition is not a comparison")
    axes.facts.truths.add(name)
    return replace(value, node=values.call("≠", (value.node, number(0))), truth=True)


def positions(x: AxisValue, axis: Any) -> list[int]:
    """Return the nonnegative positions of the dimensions that the argument `axis` selects. None selects all.

    Raise MisuseError if a position is out of range.
    """
    rank = len(x.dims)
    if axis is None:
        return list(range(rank))
    listed = axis if isinstance(axis, (tuple, list)) else (axis,)
    if not all(isinstance(position, int) and -rank <= position < rank for position in listed):
        raise MisuseError(f"axis {axis} is out of range for {rank} axes")
    return [position % rank for position in listed]


def one_position(x: AxisValue, axis: Any) -> int:
    """Return the position of the dimension that `axis` selects. Raise MisuseError if `axis` selects none or several."""
    selected = positions(x, axis)
    if len(selected) != 1:
        raise MisuseError(f"axis {axis} selects {len(selected)} axes, and one is needed")
    return selected[0]


def truth(x: Any) -> bool:
    if not isinstance(x, bool):
        raise MisuseError(f"expected True or False, got {x}")
    return x


PEERS = {
    *"einx xr xarray pd pandas pl polars tf mx cp cupy keras sklearn ein nt".split()
}  # libraries whose calls are not translated
REFUSED = {  # from the name of a function to the reason why it is not supported
    **dict.fromkeys("at reduceat".split(), "this method of a ufunc has no formula"),
    **dict.fromkeys("rand randn randint normal uniform rand_like randn_like bernoulli multinomial".split(), "random numbers have no formula"),
    **dict.fromkeys("fft rfft ifft fft2 irfft stft".split(), "Fourier transforms are not in the notation"),
    **dict.fromkeys("nonzero argwhere unique item tolist".split(), "its shape or value depends on data"),
    **dict.fromkeys("Linear Conv1d Conv2d LayerNorm Embedding LSTM GRU MultiheadAttention Sequential".split(), "this module has weights: read it with nt.from_torch"),
}  # fmt: skip
