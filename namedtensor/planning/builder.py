"""The plan builder: operations on values with named axes, lowered to primitive steps on positions.

Operators say by this what they mean, once, whatever library will run it: `b.exp(b.subtract(x, m))`. Axes are aligned by
name, equal steps are written once, and what a target has as one operation of its own is one step there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..core.arrays import HALF
from ..core.axes import Order, union
from . import dtypes, sums_as_products, whole_numbers
from .fast_path import ENDS, FALLBACK, FAR, FAST, GUARDED, LARGE, version
from .intervals import of_dtype, within
from .optimisations import enabled
from .plan import Argument, Plan, Scalar, Step, Value, needed
from .target import Target


class PlanBuilder:
    """The builder of one plan for one target; `real` is the dtype of constants.

    Where the tensors are of half precision, which has not every whole number from 257 or 2,049 on, what is made of constants
    and whole numbers alone, such as the angle of a position, is computed in single, and rounded where it meets them.
    """

    def __init__(self, target: Target, real: str | None = None, without: Sequence[str] = ()):
        self.optimised = enabled(target.name, without)
        self.target = target
        self.half = real if real in HALF else None
        self.real = target.canonical("float32") if self.half else real or target.default_float
        self.wide = target.result_type((target.default_float, self.real))  # what whole numbers become by themselves
        self.names: list[str] = []
        self.inputs: list[Value | Scalar] = []
        self.donated: frozenset[Value] = frozenset()
        self.steps: list[Step] = []
        self.origin: Any = None
        self.in_block = False  # whether this is the plan of a block, which one thread computes
        self._made: dict[tuple[Any, ...], Value] = {}
        self._written: dict[Value, Step] = {}
        self.matrices: dict[tuple[Value, Order, Order], Value] = {}  # copies, by their rows and columns
        self._unnamed: dict[Argument, Value] = {}  # what was given other names, and what it was before

    def plan(self, source: str, results: Sequence[Argument], prefix: str = "", short: int = 0) -> Plan:
        """The finished plan: the fast path with its fallback where that has at most `short` steps, and all inputs are still
        there for it, else the fallback alone.
        """

        def built(which: int, prefix: str, fallback: Plan | None = None) -> Plan:
            steps, final = version(which, self.steps, results)
            in_place = "in place" in self.optimised
            return Plan(source, self.names, self.inputs, steps, final, in_place, prefix, fallback, self.donated)

        if not any(step.primitive == "select" for step in self.steps):
            return built(FALLBACK, prefix)
        if short and not self.donated and len(needed(*version(FALLBACK, self.steps, results))) <= short:
            return built(FAST, prefix, built(FALLBACK, f"{prefix}fallback_"))
        return built(GUARDED, prefix)

    def scalar(self, name: str, kind: type) -> Scalar:
        """A plain number that is given when the plan runs."""
        found = Scalar(kind)
        self.names.append(name)
        self.inputs.append(found)
        return found

    # ------------------------------------------------------------------------------------------------------- steps
    def input(self, name: str, order: Order, shape: tuple[int, ...], dtype: str, like: Value | None = None) -> Value:
        """An array that is given when the plan runs; `like` is what it is a part of, where that is known."""
        interval, weak = (of_dtype(dtype), False) if like is None else (like.interval, like.weak)
        value = Value(order, tuple(shape), dtype, interval=interval, weak=weak)
        self.names.append(name)
        self.inputs.append(value)
        return value

    def step(
        self, primitive: str, arguments: Sequence[Argument], order: Order, shape: Sequence[int], dtype: str | None = None,
        **options: Any,
    ) -> Value:  # fmt: skip
        """Append a step, or give the equal one that was written already (common subexpressions)."""
        arguments, shape = tuple([self._unnamed.get(each, each) for each in arguments]), tuple(shape)
        # What differs as an option may be equal as a number: 0.0 and −0.0, 1 and True.
        key = (primitive, arguments, tuple(map(type, arguments)), shape, dtype, repr(options) if options else "")
        found = self._made.get(key)
        if found is None:
            if dtype is None:
                dtype = dtypes.dtype_of(self, primitive, arguments, options)
            fixed, dynamic = primitive not in ("python", "loop"), primitive == "python"
            for each in arguments:
                if isinstance(each, (Value, Scalar)):
                    fixed = fixed and each.fixed
                    dynamic = dynamic or (each.dynamic and dtype != "bool")
            found = self._made[key] = Value(order, shape, dtype, fixed, dynamic)
            found.interval = whole_numbers.interval_of_step(primitive, arguments, options, dtype)
            found.weak = whole_numbers.is_weak(self, primitive, arguments, dtype)
            step = self._written[found] = Step(found, primitive, arguments, options, self.origin)
            self.steps.append(step)
        return found if order == found.order else self.renamed(found, order)

    def unnamed(self, argument: Argument) -> Argument:
        """The value before renames: equal steps are one whatever the names of axes."""
        return self._unnamed.get(argument, argument)

    def renamed(self, x: Value, order: Order) -> Value:
        """The array under other names of axes: no step, for a plan has no names."""
        if order == x.order:
            return x
        x = self.unnamed(x)
        key = ("same", x, order)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = Value(order, x.shape, x.dtype, x.fixed, x.dynamic, x.interval, x.weak)
            step = self._written[found] = Step(found, "same", (x,), {}, self.origin)
            self.steps.append(step)
            self._unnamed[found] = x
        return found if order != x.order else x

    def native_or(self, name: str, arguments: Sequence[Argument], write: Callable[[], Value], **options: Any) -> Value:
        """The target's own operation as one step, else the steps that `write` writes."""
        if name in self.target.natives:
            (first, *_) = arguments
            return self.step(name, arguments, first.order, first.shape, first.dtype, **options)
        return write()

    # ---------------------------------------------------------------------------------------------------- constants
    def constant(self, number: Any, dtype: str | None = None) -> Value:
        """A number as a tensor without axes: whole where it is whole and 64 bits hold it, else of the formula's own dtype."""
        kind = number.kind if isinstance(number, Scalar) else type(number)
        if dtype is None:
            dtype = "bool" if kind is bool else self.whole_dtype(number) if issubclass(kind, int) else self.real
        if isinstance(number, Scalar):
            return self.step("as_array", (number,), (), (), self.target.canonical(dtype))
        return self.step("constant", (), (), (), self.target.canonical(dtype), number=number)

    def numbers(self, numbers: Sequence[Any], order: Order, shape: Sequence[int], dtype: str) -> Value:
        dtype = self.target.canonical(dtype)
        return self.step("numbers", (), order, shape, dtype, numbers=tuple(numbers), sizes=tuple(shape))

    def whole_dtype(self, *numbers: Any) -> str:
        """The dtype of whole numbers that are written: 64 bits, or floats of 64 bits where those are too few."""
        whole = self.target.default_whole
        held = of_dtype(whole)
        fit = all(within(whole_numbers.interval_of(each) or (0, 0), held) for each in numbers)  # type: ignore[arg-type]
        return whole if fit else self.target.wide_float

    def arange(self, start: int, stop: int, axis: str, dtype: str | None = None) -> Value:
        dtype = dtype or self.whole_dtype(start, stop)
        return self.step("arange", (), (axis,), (max(0, stop - start),), dtype, start=start, stop=stop)

    def identity(self, size: int, order: Order) -> Value:
        return self.step("eye", (), order, (size, size), self.real, size=size)

    def array(self, argument: Argument) -> Value:
        return argument if isinstance(argument, Value) else self.constant(argument)

    # ------------------------------------------------------------------------------------------------------- dtypes
    def cast(self, x: Value, dtype: str) -> Value:
        if x.dtype == dtype and not x.dynamic:
            return x
        x = whole_numbers.before_cast(self, x)
        primitive = "exact_cast" if whole_numbers.passes(self, x, dtype) else "cast"
        return self.step(primitive, (x,), x.order, x.shape, dtype, to=dtype)

    def kind(self, x: Value) -> str:
        return self.target.kind(x.dtype)

    def floating(self, x: Value) -> Value:
        """Whole numbers become floating ones, those of the formula where all is known before there is data."""
        return (
            x if self.kind(x) in dtypes.FLOATING and not x.dynamic else self.cast(x, dtypes.default_float(self, (x,)))
        )

    def common(self, arguments: Sequence[Argument], floats: bool = False, numbers: bool = False) -> list[Argument]:
        """Arguments of one dtype; plain numbers stay so unless `numbers` become arrays too."""
        return dtypes.common(self, arguments, floats, numbers)

    def common_dtype(self, arguments: Sequence[Argument], floats: bool = False) -> str:
        return dtypes.common_dtype(self, arguments, floats)

    def coerced(self, arguments: Sequence[Argument], rule: str) -> list[Argument]:
        """Arguments as a rule of dtypes asks for: numbers, floats, compared (as narrow as they are), as they are."""
        return dtypes.coerced(self, arguments, rule)

    def result(self, argument: Argument) -> Argument:
        """A result, cast back to the dtype of the inputs."""
        single = isinstance(argument, Value) and argument.dtype == self.real
        return self.cast(argument, self.half) if self.half is not None and single else argument

    # -------------------------------------------------------------------------------------------------- elementwise
    def elementwise(self, primitive: str, *arguments: Argument) -> Value:
        """A function of numbers over the union of the axes."""
        values = [each for each in arguments if isinstance(each, Value)]
        if len(values) < len(arguments):
            if not values or primitive not in self.target.numbers:
                arguments = dtypes.with_arrays(self, arguments)
            elif "numbers as arrays" in self.optimised:
                arguments = dtypes.with_constants(self, primitive, arguments)
        if primitive in whole_numbers.ARITHMETIC:
            primitive, safe = whole_numbers.safe(self, primitive, arguments)
            arguments = tuple(safe)
        if len(arguments) == 1:
            (x,) = arguments
            return self.step(primitive, arguments, x.order, x.shape)
        order = union([each.order for each in values])
        shape = self.shape_over(order, values)
        laid = [self.align(each, order) if isinstance(each, Value) else each for each in arguments]
        return self.step(primitive, laid, order, shape)

    def shape_over(self, order: Order, values: Sequence[Value]) -> tuple[int, ...]:
        found = dict.fromkeys(order, 1)
        for each in values:
            for axis, size in zip(each.order, each.shape):
                if size != 1:
                    found[axis] = size
        return tuple(found.values())

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Every elementwise primitive by its name: b.exp(x), b.add(x, y)."""

    # -------------------------------------------------------------------------------------------------- reductions
    def reduce(self, kind: str, x: Value, axes: Order, keep: bool = False) -> Value:
        """Over axes, which stay with size 1 where they are to be kept."""
        places = tuple(sorted(x.order.index(axis) for axis in axes))
        at = places[0] if len(places) == 1 else None if len(places) == len(x.order) else places
        if kind in ("sum", "prod"):
            (x,) = self.summable((x,), kind, math.prod(self.extents(x, axes)))
        if kind == "sum" and places == (len(x.order) - 1,):
            found = sums_as_products.sum_last(self, x, keep)
            if found is not None:
                return found
        if kind == "sum" and not keep and places == tuple(range(len(places))):
            found = sums_as_products.sum_first(self, x, len(places))
            if found is not None:
                return found
        if keep:
            shape = tuple(1 if axis in axes else size for axis, size in zip(x.order, x.shape))
            return self.step(kind, (x,), x.order, shape, at=at, keep=True)
        rest = tuple(axis for axis in x.order if axis not in axes)
        return self.step(kind, (x,), rest, self.extents(x, rest), at=at, keep=False)

    def exponentials(self, x: Value, axes: Order, keep: bool) -> tuple[Value, Value]:
        """exp(x − m) and its sums, m the largest of x, to be divided by them; see the text on the fast path."""
        largest = self.reduce("max", x, axes, True)
        if not self.has_fast_path(x):
            powers = self.exp(self.subtract(x, largest))
            return powers, self.reduce("sum", powers, axes, keep)
        powers = self.exp(self.select(x, self.subtract(x, largest)))
        total = self.reduce("sum", powers, axes, keep)
        self.guard(total)
        return powers, total

    def has_fast_path(self, x: Value) -> bool:
        """Whether what is made of a value may take a fast path, whose guard finds out whether that was right."""
        return "no largest" in self.optimised and x.dtype in FAR and not x.fixed and not x.dynamic

    def select(self, fast: Value, fallback: Value) -> Value:
        """A φ of two versions: the value of the fast path, and that of the fallback which stands for it there."""
        return self.step("select", (fast, fallback), fast.order, fast.shape, fast.dtype)

    def guarded(self, primitive: str, x: Value, value: Value, axes: Order, **options: Any) -> Value:
        """A value that has a fast path over these axes; in a long plan one step of `x` that has a guard of its own."""
        if self.in_block or x.count < LARGE or axes != x.order[-1:] or not self.has_fast_path(x):
            return value
        one = self.step(primitive, (x,), x.order, x.shape, x.dtype, **options)
        return self.step("select", (value, value, one), x.order, x.shape, x.dtype)

    def guard(self, x: Value) -> None:
        """Guard the fast path: where an entry is near the ends of the range of its dtype, the fallback is run."""
        far = 2.0 ** FAR[x.dtype]
        self.step("guard", (x,), (), (), "bool", low=1 / far, high=far)

    def guard_finite(self, x: Value) -> None:
        """Check the same of what the values make of it, which may be small."""
        if x.dtype in ENDS and "no largest" in self.optimised:
            end = 2.0 ** ENDS[x.dtype]
            self.step("guard", (x,), (), (), "bool", low=-end, high=end)

    def written(self, x: Value) -> Step | None:
        """The step that defines a value; None for an input."""
        return self._written.get(x)

    def summable(self, arguments: Sequence[Value], kind: str, count: int) -> list[Value]:
        """Whole numbers in what holds a sum, or so, of `count` of them or of their products."""
        return whole_numbers.summable(self, arguments, kind, count)

    def along(self, primitive: str, x: Value, axis: str) -> Value:
        if primitive in ("cumsum", "cumprod"):
            (x,) = self.summable((x,), primitive, x.size(axis))
        return self.step(primitive, (x,), x.order, x.shape, at=x.order.index(axis))

    # ------------------------------------------------------------------------------------------------------- layout
    def extents(self, x: Value, order: Order) -> tuple[int, ...]:
        if order == x.order:
            return x.shape
        return tuple([x.shape[x.order.index(axis)] for axis in order])

    def reorder(self, x: Value, order: Order) -> Value:
        """The same numbers with the axes in another order."""
        if order == x.order:
            return x
        moves = tuple(x.order.index(axis) for axis in order)
        step = self._written.get(self.unnamed(x))
        if step is not None and step.primitive == "transpose":  # straight from what was transposed before
            moves = tuple(step.options["moves"][place] for place in moves)
            x = step.arguments[0]
        else:
            x = self.unnamed(x)
        if moves == tuple(range(len(moves))):
            return self.renamed(x, order)
        return self.step("transpose", (x,), order, tuple(x.shape[place] for place in moves), x.dtype, moves=moves)

    def reshape(self, x: Value, order: Order, shape: Sequence[int]) -> Value:
        shape = tuple(shape)
        if shape == x.shape:
            return self.renamed(x, order)
        return self.step("reshape", (x,), order, shape, x.dtype, sizes=shape)

    def align(self, x: Value, order: Order) -> Value:
        """Transpose and expand an array so that it broadcasts against `order`."""
        own = x.order
        if not own or own == order[len(order) - len(own) :]:
            return x
        present = tuple(axis for axis in order if axis in own)
        first = min(order.index(axis) for axis in present)
        x = self.reorder(x, present)
        spread = tuple(axis in own for axis in order[first:])
        if all(spread):
            return x
        sizes = dict(zip(x.order, x.shape))
        shape = tuple(sizes.get(axis, 1) for axis in order[first:])
        return self.step("expand", (x,), order[first:], shape, x.dtype, kept=spread)

    def broadcast(self, x: Argument, order: Order, shape: Sequence[int]) -> Value:
        """An array with all of these axes, in these sizes."""
        x = self.align(self.array(x), order)
        shape = tuple(shape)
        if x.shape == shape and x.order == order:
            return x
        return self.step("broadcast", (x,), order, shape, x.dtype, sizes=shape)

    def merge(self, x: Value, sources: Order, target: str) -> Value:
        """X_{(a,b)→c}: row-major in the order written, whatever the order of storage."""
        first = x.order.index(sources[0])
        rest = tuple(axis for axis in x.order if axis not in sources)
        together = x.order[first : first + len(sources)] == sources
        before = x.order[:first] if together else rest
        after = x.order[first + len(sources) :] if together else ()
        turned = self.reorder(x, (*before, *sources, *after))
        merged = math.prod(self.extents(x, sources))
        shape = (*self.extents(x, before), merged, *self.extents(x, after))
        return self.reshape(turned, (*before, target, *after), shape)

    def split(self, x: Value, source: str, parts: Sequence[tuple[str, int]]) -> Value:
        """X_{c→(a,b)}: what merging undoes."""
        place = x.order.index(source)
        order = (*x.order[:place], *[axis for axis, _ in parts], *x.order[place + 1 :])
        return self.reshape(x, order, (*x.shape[:place], *[size for _, size in parts], *x.shape[place + 1 :]))

    # ------------------------------------------------------------------------------------------------- parts, joins
    def pick(self, x: Value, at: dict[str, int]) -> Value:
        """One element of each of these axes, counted from 0."""
        rest = tuple(axis for axis in x.order if axis not in at)
        places = tuple(at.get(axis) for axis in x.order)
        return self.step("pick", (x,), rest, self.extents(x, rest), x.dtype, places=places)

    def head(self, x: Value, size: int) -> Value:
        """The first elements of the last axis."""
        return self.step("head", (x,), x.order, (*x.shape[:-1], size), x.dtype, size=size)

    def part(self, x: Value, start: int, size: int) -> Value:
        """So many entries along the last axis, from one on."""
        return self.step("part", (x,), x.order, (*x.shape[:-1], size), x.dtype, start=start, stop=start + size)

    def concat(self, values: Sequence[Value], axis: str) -> Value:
        """Arrays of one order joined along an axis."""
        first = values[0]
        at = first.order.index(axis)
        total = sum(each.shape[at] for each in values)
        shape = (*first.shape[:at], total, *first.shape[at + 1 :])
        return self.step("concat", values, first.order, shape, first.dtype, at=at)

    def stack(self, values: Sequence[Value], axis: str) -> Value:
        """Arrays of one shape side by side along a new, first axis."""
        first = values[0]
        return self.step("stack", values, (axis, *first.order), (len(values), *first.shape), first.dtype)

    def take(self, x: Value, places: Value, axis: str) -> Value:
        """The elements at positions, whose axes stand where `axis` was."""
        at = x.order.index(axis)
        order = (*x.order[:at], *places.order, *x.order[at + 1 :])
        shape = (*x.shape[:at], *places.shape, *x.shape[at + 1 :])
        return self.step("take", (x, places), order, shape, x.dtype, at=at, sizes=shape, rank=len(places.order))


ELEMENTWISE = frozenset(
    "exp log log1p expm1 sqrt sin cos tan arctan arcsin arccos tanh sinh cosh abs sign floor ceil negative logical_not isfinite erf add subtract "
    "multiply divide power maximum minimum equal not_equal less less_equal greater greater_equal logical_and "
    "logical_or remainder logaddexp where".split()
)


def _elementwise(name: str) -> Callable[..., Value]:
    return lambda self, *arguments: self.elementwise(name, *arguments)


for _name in ELEMENTWISE:
    setattr(PlanBuilder, _name, _elementwise(_name))
