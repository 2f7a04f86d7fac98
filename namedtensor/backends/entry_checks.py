"""Generation of the checks at the start of exported source. One line per input rejects other axes, sizes and dtypes.

    def function(x, y):
        check("x", x, {"a": 3, "b": None}, np.float32, np.float64)
        b = x.shape[1]
        check("y", y, {"b": b}, x.dtype)

The first array with an open size determines the size, and the other arrays must agree.

Constants of exported source are Python numbers, which adopt the dtype of the arrays that they are combined with. If all
floating inputs are float32, or all are float64, and no line depends on this dtype, the source usually supports both
dtypes. The first floating argument then determines the dtype of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from ..core.extents import SizeSymbol, extent, format_size, symbols_of, terms_of
from ..planning.optimizations import OPTIMIZATIONS
from ..planning.plan import Plan, PlanValue, Step
from ..terms.environment import distinct_names

_CHECK = '''
def check(name, x, sizes, *dtypes):
    """Raise TypeError or ValueError if an input has another type, dtype or size than this function expects."""
    if not isinstance(x, {array}):
        raise TypeError(f"{name} must be a {kind}, got {type(x).__name__}")
    if x.dtype not in dtypes:
        raise TypeError(f"{name} must have dtype {' or '.join({dtype_name} for dtype in dtypes)}, got {x.dtype}")
    if x.ndim != len(sizes):
        raise ValueError(f"{name} must have axes [{', '.join(sizes)}], got shape {tuple(x.shape)}")
    for (axis, size), actual in zip(sizes.items(), x.shape):
        if size is not None and actual != size:
            raise ValueError(f"axis {axis} of {name} must have size {size}, got {actual}")
'''
ARRAYS = {
    "numpy": ("(np.ndarray, np.generic)", "NumPy array", "np.dtype(dtype).name"),
    "torch": ("torch.Tensor", "PyTorch tensor", "str(dtype)"),
    "jax": ("jax.Array", "JAX array", "np.dtype(dtype).name"),
}
CHECK = {
    library: _CHECK.replace("{array}", array).replace("{kind}", kind).replace("{dtype_name}", name)
    for library, (array, kind, name) in ARRAYS.items()
}
AS_NUMBERS = (
    "typed-constants",
    "broadcast-constants",
    "small-sum-as-matmul",
)  # optimizations that write a number as an array
SHARED = ("float32", "float64")  # dtypes that one text can serve
NAMES_DTYPE = frozenset("cast constant arange ones eye numbers as_array tiling slices".split())


def plain(library: str, without: tuple[str, ...]) -> tuple[str, ...]:
    """Return the optimizations to disable in exported source, so that its constants are Python numbers.

    The result begins with the optimizations in `without`.
    """
    return tuple(dict.fromkeys((*without, *(name for name in AS_NUMBERS if library in OPTIMIZATIONS[name].targets))))


def entry_checks(plan: Plan, library: str, dtype_text: Callable[[str], str]) -> list[str]:
    """Return the lines that check a plan's inputs. `dtype_text` returns the library's source text for a dtype."""
    shared = find_shared_dtypes(plan, NAMES_DTYPE | {"erf"} if library == "numpy" else NAMES_DTYPE)
    inputs = [value for value in plan.inputs if isinstance(value, PlanValue)]
    first = next((value for value in inputs if value.dtype in shared), None)

    def line(value: PlanValue, sizes: str) -> str:
        dtypes = ", ".join(map(dtype_text, shared if value is first else (value.dtype,)))
        if first is not None and value is not first and value.dtype in shared:
            dtypes = f"{plan.names[first]}.dtype"
        name = plan.names[value]
        return f"    check({quote_name(name)}, {name}, {sizes}, {dtypes})"

    return input_checks(plan, inputs, line, write_refusal)


def input_checks(
    plan: Plan,
    inputs: Sequence[PlanValue],
    check_line: Callable[[PlanValue, str], str],
    requirement: Callable[[str, str, str], list[str]],
) -> list[str]:
    """Return the lines that check the sizes of inputs, and read from inputs the sizes that the source text uses.

    `check_line` returns the check of an input, given the source of its axes and sizes. `requirement` returns the lines
    for a condition, its negation and a message.
    """
    lines: list[str] = []
    known: set[SizeSymbol] = set()
    reads = reads_of(plan)
    for value in inputs:
        name, axes = plan.names[value], distinct_names(value.order)
        stated = [size if known >= symbols_of(size).keys() else None for size in value.shape]
        sizes = ", ".join(f"{quote_name(axes[axis])}: {size}" for axis, size in zip(value.order, stated))
        lines.append(check_line(value, f"{{{sizes}}}"))
        reads_of_value = [read for read in reads if read.value is value]
        known |= {read.symbol for read in reads_of_value}
        lines += [read.line for read in reads_of_value]
        for axis in unread_axes(value, stated, reads_of_value, known):
            text, size = f"{name}.shape[{axis}]", value.shape[axis]
            message = f"axis {axes[value.order[axis]]} of {name} must {describe_size(size)}"
            lines += requirement(f"{text} == {size}", f"{text} != {size}", message)
    for condition in plan.conditions:
        lines += requirement(str(condition), f"not {condition}", f"sizes must satisfy {condition.shown}")
    return lines


class Read(NamedTuple):
    """A size symbol, and the input axis that it is read from. The axis size is a linear function of the symbol."""

    symbol: SizeSymbol
    value: PlanValue
    name: str
    axis: int

    @property
    def size(self) -> Any:
        return self.value.shape[self.axis]

    @property
    def solved(self) -> Any:
        """The value of the symbol, computed from the size of the axis."""
        slope = terms_of(self.size)[(self.symbol,)]
        actual = extent(SizeSymbol(f"{self.name}.shape[{self.axis}]", self.symbol.axis))
        return (actual - (self.size - slope * extent(self.symbol))) // slope

    @property
    def line(self) -> str:
        return f"    {self.symbol} = {self.solved}"


def unread_axes(
    value: PlanValue, stated: Sequence[Any], reads: Sequence[Read], known: Collection[SizeSymbol]
) -> list[int]:
    """Return the axes of one input that still need a check of their size, given the symbols that were already read."""
    plain = {read.axis for read in reads if read.size == extent(read.symbol)}
    return [
        axis
        for axis, size in enumerate(value.shape)
        if stated[axis] is None and axis not in plain and all(symbol in known for symbol in symbols_of(size))
    ]


def describe_size(size: Any) -> str:
    """Return a phrase for the required symbolic size of an axis, such as "have a size that is a multiple of 2"."""
    (symbol, *more) = symbols_of(size)
    if not more and symbol.part > 1 and size == symbol.part * extent(symbol):
        return f"have a size that is a multiple of {symbol.part}"
    return f"have size {format_size(size)}"


def write_refusal(condition: str, negation: str, message: str) -> list[str]:
    """Return the lines that raise an error with this message if a condition on the sizes is false."""
    return [f"    if {negation}:", f"        raise ValueError({quote_name(message)})"]


def size_lines(plan: Plan) -> list[str]:
    """Return the lines that read, from the shapes of inputs, the sizes that the source text uses."""
    return [read.line for read in reads_of(plan)]


def reads_of(plan: Plan, shapes: bool = False) -> list[Read]:
    """Return the input axes whose sizes determine the symbols that the source text uses or that several axes share.

    If `shapes` is true, the source text also uses the symbols in the shapes of all values.
    """
    if not plan.is_open:
        return []
    axes = [
        (value, axis, symbols_of(value.shape[axis]))
        for value in plan.inputs
        if isinstance(value, PlanValue)
        for axis in range(len(value.shape))
    ]
    counts = Counter(symbol for _, _, symbols in axes for symbol in symbols)
    used = {*plan.symbols, *(symbol for symbol, count in counts.items() if count > 1)}
    if shapes:
        used |= symbols_of([step.value.shape for step in plan.steps]).keys()
    readings: dict[SizeSymbol, Read] = {}
    for value, axis, symbols in sorted(axes, key=lambda name: len(name[2])):
        new = [symbol for symbol in symbols if symbol not in readings]
        if len(new) == 1 and new[0] in used and is_linear(value.shape[axis], new[0]):
            readings[new[0]] = Read(new[0], value, plan.names[value], axis)
    return [*readings.values()]


def is_linear(size: Any, symbol: SizeSymbol) -> bool:
    slope = terms_of(size).get((symbol,), 0)
    return slope > 0 and symbol not in symbols_of(size - slope * extent(symbol))


def quote_name(name: str) -> str:
    """Return a name as the source text of a Python string."""
    import json

    return json.dumps(name, ensure_ascii=not name.isprintable())


def find_shared_dtypes(plan: Plan, names_dtype: frozenset[str] = NAMES_DTYPE) -> tuple[str, ...]:
    """Return the floating dtypes for which a plan's text is valid, provided that all floating inputs share one dtype.

    The result is empty if the plan's own floating inputs differ or have another dtype, or if a line depends on the
    dtype.
    """
    inputs = {value.dtype for value in plan.inputs if isinstance(value, PlanValue) and "float" in value.dtype}
    if len(inputs) != 1 or not inputs <= {*SHARED}:
        return ()
    (dtype,) = inputs
    steps = [*every_step(plan)]
    if any(step.primitive in names_dtype and "float" in step.value.dtype for step in steps):
        return ()
    if any("float" in step.value.dtype and step.value.dtype != dtype for step in steps):
        return ()
    return SHARED


def every_step(plan: Plan) -> Iterator[Step]:
    """Yield the steps of a plan and its inner plans."""
    for step in plan.steps:
        yield step
        inner: Any = step.options.get("plan")
        if inner is not None:
            yield from every_step(inner)
