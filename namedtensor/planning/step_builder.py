"""Construction of a plan's steps, including their dtypes, constants and casts. Equal steps are shared.

`builder` uses these steps to implement operations on values with named axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.arrays import HALF
from ..core.axes import Order
from ..core.extents import Extent, largest, symbols_of, upper_bound
from ..core.size_conditions import canonical
from ..operators.plain_numbers import to_float
from . import dtypes, whole_numbers
from .intervals import interval_of, interval_of_dtype, interval_of_step, is_within
from .optimizations import select_enabled
from .plan import Argument, Plan, PlanValue, Scalar, Step
from .target import Target
from .whole_numbers import WHOLE

NUMBERS = frozenset((bool, int, float, complex))
ENDS = {"float32": 127, "float64": 1023}  # numbers up to 2^end are in the range of the dtype


def is_sized(arguments: Sequence[Argument]) -> bool:
    """Return whether any argument depends on the sizes of the inputs."""
    return any(isinstance(argument, PlanValue) and argument.sized for argument in arguments)


class StepBuilder:
    """The steps of one plan for one target, under construction; `real` is the dtype of constants that are floats.

    Half precision represents every integer only up to 256 (bfloat16) or 2,048 (float16). If tensors have half
    precision, values that are computed only from constants and integers, such as the angle of a position, are computed
    in single precision and then rounded.
    """

    def __init__(self, target: Target, real: str | None = None, disable: Sequence[str] = ()):
        self.optimized = select_enabled(target.name, disable)
        self.target = target
        self.half = real if real in HALF else None
        self.real = target.canonical("float32") if self.half else real or target.default_float
        self.names: list[str] = []
        self.inputs: list[PlanValue | Scalar] = []
        self.donated: frozenset[PlanValue] = frozenset()
        self.steps: list[Step] = []
        self.origin: Any = None
        self.rounds = False  # whether integers from inputs are converted to floats that may round them
        self.in_block = False  # whether this is the plan of a block, which one thread computes
        self.cut: set[PlanValue] = set()  # the inputs that a block receives only in part
        self._made: dict[tuple[Any, ...], PlanValue] = {}
        self._written: dict[PlanValue, Step] = {}
        # Copies of values as matrices, by the original value, the row axes and the column axes.
        self.matrices: dict[tuple[PlanValue, Order, Order], PlanValue] = {}
        self._unnamed: dict[Argument, PlanValue] = {}  # maps renamed values to their originals

    def plan(self, source: str, results: Sequence[Argument], prefix: str = "") -> Plan:
        """Return the finished plan."""
        in_place = "in-place" in self.optimized
        return Plan(source, self.names, self.inputs, self.steps, results, in_place, prefix, self.donated)

    def scalar(self, name: str, kind: type) -> Scalar:
        """Add an input that is a plain number, and return it."""
        scalar = Scalar(kind)
        self.names.append(name)
        self.inputs.append(scalar)
        return scalar

    # ------------------------------------------------------------------------------------------------------- steps
    def input(
        self, name: str, order: Order, shape: tuple[int, ...], dtype: str, like: PlanValue | None = None
    ) -> PlanValue:
        """Add an input that is an array, and return it.

        If the input is a part or a copy of another value, `like` is that value. Its integer bounds then apply to the
        input.
        """
        interval, weak = (interval_of_dtype(dtype), False) if like is None else (like.interval, like.weak)
        value = PlanValue(order, tuple(shape), dtype, interval=interval, weak=weak)
        self.names.append(name)
        self.inputs.append(value)
        return value

    def step(
        self, primitive: str, arguments: Sequence[Argument], order: Order, shape: Sequence[int], dtype: str | None = None,
        **options: Any,
    ) -> PlanValue:  # fmt: skip
        """Append a step, or return the value of an equal step that already exists (common subexpressions)."""
        arguments = tuple([self._unnamed.get(argument, argument) for argument in arguments])
        shape = tuple([canonical(size) if type(size) is Extent else size for size in shape])
        for name, size in options.items():
            if type(size) is Extent:  # Write the size with symbols that can be read from the inputs.
                options[name] = canonical(size)
        # Different constants may be equal as numbers: 0.0 and −0.0, 1 and True.
        written = tuple([repr(argument) if type(argument) in NUMBERS else type(argument) for argument in arguments])
        key = (primitive, arguments, written, shape, dtype, repr(options))
        value = self._made.get(key)
        if value is None:
            if dtype is None:
                dtype = dtypes.dtype_of(self, primitive, arguments, options)
            fixed, dynamic = primitive not in ("python", "loop"), primitive == "python"
            for argument in arguments:
                if isinstance(argument, (PlanValue, Scalar)):
                    fixed = fixed and argument.fixed
                    dynamic = dynamic or (argument.dynamic and dtype != "bool")
            value = self._made[key] = PlanValue(order, shape, dtype, fixed, dynamic)
            value.sized = fixed and (is_sized(arguments) or bool(symbols_of((shape, options, arguments))))
            value.interval = interval_of_step(primitive, arguments, options, dtype)
            if primitive == "cast" or any(getattr(operand, "weak", False) for operand in arguments):
                value.weak = whole_numbers.is_weak(self, primitive, arguments, dtype)
            step = self._written[value] = Step(value, primitive, arguments, options, self.origin)
            self.steps.append(step)
        return value if order == value.order else self.renamed(value, order)

    def unnamed(self, argument: Argument) -> Argument:
        """Return the original of a value with renamed axes, or the argument itself if it was not renamed.

        Equal steps are shared regardless of their axis names.
        """
        return self._unnamed.get(argument, argument)

    def written(self, x: PlanValue) -> Step | None:
        """Return the step that defines a value, or None for an input."""
        return self._written.get(x)

    def is_cut(self, x: PlanValue) -> bool:
        """Return whether a value within a block depends on an input that the block receives only in part."""
        pending, known = [x], {x}
        for value in pending:
            step = self.written(value)
            operands = () if step is None else step.arguments
            new = [operand for operand in operands if isinstance(operand, PlanValue) and operand not in known]
            pending += new
            known.update(new)
        return not known.isdisjoint(self.cut)

    def renamed(self, x: PlanValue, order: Order) -> PlanValue:
        """Return the array with other axis names. The step `same` records this and generates no code."""
        if order == x.order:
            return x
        x = self.unnamed(x)
        key = ("same", x, order)
        value = self._made.get(key)
        if value is None:
            value = self._made[key] = PlanValue(order, x.shape, x.dtype, x.fixed, x.dynamic, x.interval, x.weak)
            value.sized = x.sized
            step = self._written[value] = Step(value, "same", (x,), {}, self.origin)
            self.steps.append(step)
            self._unnamed[value] = x
        return value if order != x.order else x

    def reshape(self, x: PlanValue, order: Order, shape: Sequence[int]) -> PlanValue:
        """Return the same elements in another shape, in row-major order."""
        shape = tuple(shape)
        if shape == x.shape:
            return self.renamed(x, order)
        return self.step("reshape", (x,), order, shape, x.dtype, sizes=shape)

    def native_or(
        self, name: str, arguments: Sequence[Argument], write: Callable[[], PlanValue], **options: Any
    ) -> PlanValue:
        """Return the result of the target's native operation, or of `write` if the target has no such operation."""
        if name in self.target.natives:
            (first, *_) = arguments
            return self.step(name, arguments, first.order, first.shape, first.dtype, **options)
        return write()

    # ---------------------------------------------------------------------------------------------------- constants
    def constant(self, number: Any, dtype: str | None = None) -> PlanValue:
        """Return a number as a tensor without axes.

        Unless `dtype` is given, a Boolean number has the dtype bool, an integer has the dtype of `whole_dtype`, and any
        other number has the formula's float dtype.
        """
        number = canonical(number) if type(number) is Extent else number
        kind = number.kind if isinstance(number, Scalar) else int if type(number) is Extent else type(number)
        if dtype is None:
            dtype = "bool" if kind is bool else self.whole_dtype(number) if issubclass(kind, int) else self.real
        if isinstance(number, Scalar):
            return self.step("as_array", (number,), (), (), self.target.canonical(dtype))
        return self.step("constant", (), (), (), self.target.canonical(dtype), number=number)

    def numbers(self, numbers: Sequence[Any], order: Order, shape: Sequence[int], dtype: str) -> PlanValue:
        dtype = self.target.canonical(dtype)
        return self.step("numbers", (), order, shape, dtype, numbers=tuple(numbers), sizes=tuple(shape))

    def whole_dtype(self, *numbers: Any) -> str:
        """Return the dtype of literal integers: the target's int64, or its float64 if an integer is out of range."""
        whole = self.target.default_whole
        held = interval_of_dtype(whole)
        numbers = tuple(upper_bound(number) if type(number) is Extent else number for number in numbers)
        fit = all(is_within(interval_of(number) or (0, 0), held) for number in numbers)  # type: ignore[arg-type]
        return whole if fit else self.target.wide_float

    def arange(self, start: int, stop: int, axis: str, dtype: str | None = None) -> PlanValue:
        dtype = dtype or self.whole_dtype(start, stop)
        size = largest(0, stop - start)
        return self.step("arange", (), (axis,), (size,), dtype, start=start, stop=start + size)

    def identity(self, size: int, order: Order) -> PlanValue:
        """Return an identity matrix. Like 0 and 1, it adopts the dtype of the floats that it is combined with."""
        value = self.step("eye", (), order, (size, size), self.real, size=size)
        value.weak = True
        return value

    def array(self, argument: Argument) -> PlanValue:
        return argument if isinstance(argument, PlanValue) else self.constant(argument)

    # ------------------------------------------------------------------------------------------------------- dtypes
    def cast(self, x: PlanValue, dtype: str) -> PlanValue:
        if x.dtype == dtype and not x.dynamic:
            return x
        x = whole_numbers.undo_cast(self, x)
        primitive = "exact_cast" if whole_numbers.passes(self, x, dtype) else "cast"
        return self.step(primitive, (x,), x.order, x.shape, dtype, to=dtype)

    def kind(self, x: PlanValue) -> str:
        return self.target.kind(x.dtype)

    def are_whole(self, arguments: Sequence[Argument]) -> bool:
        """Return whether all arrays among the arguments contain integers or Booleans."""
        return all(self.kind(argument) in WHOLE for argument in arguments if isinstance(argument, PlanValue))

    def floating(self, x: PlanValue) -> PlanValue:
        """Return a value as floats.

        Integers that do not depend on inputs receive the formula's dtype, and other integers the widest float dtype.
        """
        return (
            x if self.kind(x) in dtypes.FLOATING and not x.dynamic else self.cast(x, dtypes.default_float(self, (x,)))
        )

    def common(self, arguments: Sequence[Argument], floats: bool = False, numbers: bool = False) -> list[Argument]:
        """Return arguments with a common dtype. Plain numbers stay plain unless `numbers` requires arrays."""
        return dtypes.common(self, arguments, floats, numbers)

    def common_dtype(self, arguments: Sequence[Argument], floats: bool = False) -> str:
        return dtypes.common_dtype(self, arguments, floats)

    def coerced(self, arguments: Sequence[Argument], rule: str) -> list[Argument]:
        """Convert arguments by a dtype rule: to one dtype, to one float dtype, for a comparison, or only to arrays."""
        return dtypes.coerce_arguments(self, arguments, rule)

    def result(self, argument: Argument) -> Argument:
        """Return a result of the plan. Single precision is cast to half precision if the inputs have half precision.

        An integer that exceeds the target's integers is converted to a float.
        """
        if type(argument) is int and self.whole_dtype(argument) != self.target.default_whole:
            argument = self.constant(to_float(argument))
        elif type(argument) is float:
            argument = self.constant(argument)
        if self.half is not None and isinstance(argument, PlanValue) and argument.dtype == self.real:
            return self.cast(argument, self.half)
        return argument

    def summable(self, arguments: Sequence[PlanValue], kind: str, count: int) -> list[PlanValue]:
        """Return arrays ready for a reduction of `count` elements, or of their products.

        Integers are cast to a dtype that can represent the result.
        """
        return whole_numbers.summable(self, arguments, kind, count) if self.are_whole(arguments) else [*arguments]
