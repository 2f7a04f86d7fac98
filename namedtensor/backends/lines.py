"""Lines of source text that several backends share, and a source text under construction."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ..planning.plan import Step

INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**", "remainder": "%", "equal": "==",
    "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "logical_and": "&",
    "logical_or": "|",
}  # fmt: skip
INFIX_LINES = {name: f"{{0}} {symbol} {{1}}" for name, symbol in INFIX.items()}
PREFIX_LINES = {"negative": "-{0}", "logical_not": "~{0}"}
UNARY = "exp log log1p expm1 sqrt sin cos tan arctan arcsin arccos tanh sinh cosh abs sign floor ceil isfinite".split()
FLOATING = frozenset(  # the primitives that return floats even for integers
    "exp log log1p expm1 sqrt sin cos tan arctan arcsin arccos tanh sinh cosh erf divide logaddexp det logdet inv cofactors "
    "cholesky eigvalsh eigh expm".split()
)
INDICES = frozenset("positions whole_positions ascending descending argmax".split())  # primitives that return positions
SUMMED = frozenset("sum prod cumsum cumprod trace".split())  # the primitives that widen integers
OF_NUMBERS = frozenset(("exact_add", "exact_subtract", *(name for name in INFIX if not name.startswith("logical"))))


def functions(prefix: str, *names: str) -> dict[str, str]:
    """Return, for each of these function names, the line that calls the function with its argument."""
    return {name: f"{prefix}{name}({{0}})" for name in names}


def expand(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    return f"{names[0]}[{', '.join(':' if is_kept else 'None' for is_kept in options['kept'])}]"


def pick(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    places = list(options["places"])
    while places and places[-1] is None:
        places.pop()
    return f"{names[0]}[{', '.join(':' if position is None else str(position) for position in places)}]"


def python(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    return f"python_{options['number']}({', '.join(names)})"


def write_tuple(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def numbers(values: tuple[Any, ...]) -> str:
    return f"[{', '.join(map(repr, values))}]"


def write_transpose(names: tuple[str, ...], options: dict[str, Any], step: Any, method: str = "transpose") -> str:
    """Return code that transposes an array with the library's method."""
    return f"{names[0]}.T" if options["moves"] == (1, 0) else f"{names[0]}.{method}{options['moves']}"


def positions(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    """Return code that converts indices to positions from 0 and checks their range."""
    return f"positions({names[0]}, {options['size']}, {options['base']})"


def write_scatter(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    """Return code that adds values to the elements of a zero array at given positions along one axis."""
    array, at = names
    if options["rank"] != 1:
        sizes, start = options["sizes"], options["at"]
        count = step.arguments[1].count
        array = f"{array}.reshape({(*sizes[:start], count, *sizes[start + 1 :])})"
        at = f"{at}.reshape({count})"
    return f"scatter_add({array}, {at}, {options['at']}, {options['sizes'][options['at']]})"


def parts_of_loop(names: tuple[str, ...], options: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Return the arguments of a loop, grouped into states, sequences for the steps, and inputs that all steps share.

    The sequences are slices and lists of family members.
    """
    slices, steps = options["states"] + options["slices"], options["steps"]
    end = slices + options["members"] * steps
    lists = (f"[{', '.join(names[at : at + steps])}]" for at in range(slices, end, steps))
    return names[: options["states"]], (*names[options["states"] : slices], *lists), names[end:]


def loop(names: tuple[str, ...], options: dict[str, Any], step: Any, kernel: str = "loop") -> str:
    """Return the source text that calls a loop kernel. Each step receives its slice elements and its members."""
    text = ", ".join(map(write_tuple, parts_of_loop(names, options)))
    listed_ = f", {options['listed']}" if options["listed"] else ""
    return f"{kernel}({options['function']}, {text}, {options['steps']}, {options['kept']}{listed_})"


def keep_in_range(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    """Return code that computes the last arguments' value as written if the first arguments are out of range."""
    end = 1 + options["made"]
    return f"keep_in_range({names[0]}, {write_tuple(names[1:end])}, {options['function']}, {write_tuple(names[end:])})"


LOOP = """
def loop(step, states, slices, given, steps, kept, listed=()):
    \"\"\"Run a step for each slice. Return the final states, and the `kept` states after each step.\"\"\"
    through = [[] for _ in (*kept, *listed)]
    for elements in zip(*slices) if slices else ((),) * steps:
        states = step(*states, *elements, *given)
        for found, number in zip(through, (*kept, *listed)):
            found.append(states[number])
    return (*states, *map(stacked, through[: len(kept)]), *through[len(kept) :])
"""
INDEX_ERROR = '''
def index_error(index, size=None, base=1):
    """Return the error for an index that is not an integer or is out of range."""
    expected = "an integer" if size is None else f"from {base} to {base + size - 1}"
    error = IndexError(f"an index must be {expected}, got {index}")
    error.index, error.size = index, size
    return error
'''
COMMON = {
    **INFIX_LINES, **PREFIX_LINES, "expand": expand, "transpose": write_transpose, "pick": pick, "python": python, "head": "{0}[..., :{size}]", "part": "{0}[..., {start}:{stop}]",
    "unfold": "windows({0}, {at}, {size})", "positions": positions, "whole_positions": "whole_positions({0})", "covered": "covered({0})",
    "item": "{0}[{at}]", "loop": loop, "keep_in_range": keep_in_range,
    "exact_add": "exact_add({0}, {1})", "exact_subtract": "exact_subtract({0}, {1})",
    "exact_abs": "exact_abs({0})", "exact_cast": "exact_cast({0})",
}  # fmt: skip


EXACT = {
    "exact_add": '''
def exact_add(x, y):
    """Add integers. Raise OverflowError if a sum exceeds 64 bits."""
    total = x + y
    if {(((x ^ total) & (y ^ total)) < 0)}:
        raise OverflowError("integer overflow: exceeds int64")
    return total
''',
    "exact_subtract": '''
def exact_subtract(x, y):
    """Subtract integers. Raise OverflowError if a difference exceeds 64 bits."""
    away = x - y
    if {(((x ^ y) & (x ^ away)) < 0)}:
        raise OverflowError("integer overflow: exceeds int64")
    return away
''',
    "exact_abs": '''
def exact_abs(x):
    """Return absolute values of integers. Raise OverflowError if one exceeds 64 bits."""
    return of_64_bits(abs(x))
''',
    "of_64_bits": '''
def of_64_bits(x):
    """Return these integers. Raise OverflowError if one is below 0, which only a 64-bit overflow can cause."""
    if {(x < 0)}:
        raise OverflowError("integer overflow: exceeds int64")
    return x
''',
}  # A sum has overflowed if its sign differs from the signs of both operands.


def exact(any_of: str) -> dict[str, str]:
    """Return the kernels that detect overflow of int64, by name. `any_of` is the template of a call of `any`."""
    return {name: re.sub(r"\{(.*)\}", lambda match: any_of.format(match[1]), text) for name, text in EXACT.items()}


class GeneratedSource(NamedTuple):
    """The source text of a function and of its preparation, and a map from line numbers to the steps they compute."""

    text: str
    steps: dict[int, Step]


class Written:
    """A source text under construction: its lines, and a map from line numbers to the steps they compute."""

    def __init__(self):
        self.lines: list[str] = []
        self.steps: dict[int, Step] = {}

    def add(self, line: str, step: Step | None = None) -> None:
        self.lines.append(line)
        if step is not None:
            self.steps[len(self.lines)] = step

    def include(self, source: GeneratedSource, indent: str = "") -> None:
        self.steps |= {len(self.lines) + line: step for line, step in source.steps.items()}
        self.lines += [indent + line for line in source.text.splitlines()]

    def include_before_function(self, source: GeneratedSource, name: str) -> GeneratedSource:
        """Move the text before the function with this name to the preparation, and return the rest of the source."""
        lines = source.text.splitlines()
        start = next(number for number, line in enumerate(lines) if line.startswith(f"def {name}("))
        before = {line: step for line, step in source.steps.items() if line <= start}
        self.include(GeneratedSource("\n".join(lines[:start]), before))
        return GeneratedSource(
            "\n".join(lines[start:]) + "\n",
            {line - start: step for line, step in source.steps.items() if line > start},
        )

    def source(self) -> GeneratedSource:
        return GeneratedSource("\n".join(self.lines) + "\n", self.steps)


FILE = "<formula>"
MAX_KEPT_SIZES = 4  # combinations of sizes for which a function keeps the values that depend only on sizes
MAX_COMPILED_TEXTS = 512


@lru_cache(maxsize=MAX_COMPILED_TEXTS)
def code_of(text: str, file: str) -> CodeType:
    """Return the compiled code of a source text."""
    return compile(text, file, "exec")


def function_in(space: dict[str, Any]) -> Callable[..., Any]:
    """Return the function that a source text defines, with only the globals that it uses.

    With only these globals, the function and the functions that it calls form no reference cycles, so their arrays are
    freed together with the function. Unused values are freed immediately. If a function calls itself or a function that
    is defined later, all globals are kept.
    """
    functions: dict[str, Any] = {}
    for name, value in space.items():
        if type(value) is FunctionType and value.__globals__ is space:
            used = names_in(value.__code__)
            if any(
                other not in functions and getattr(space.get(other), "__globals__", None) is space for other in used
            ):
                return space["function"]  # A function calls itself or a later function.
            known = {
                other: functions[other] if other in functions else space[other] for other in used if other in space
            }
            known["__builtins__"] = space["__builtins__"]
            functions[name] = FunctionType(value.__code__, known, name, value.__defaults__)
            if name == "of_sizes":
                functions[name] = lru_cache(MAX_KEPT_SIZES)(functions[name])
    space.clear()  # This breaks the reference cycles.
    return functions["function"]


def names_in(code: CodeType) -> set[str]:
    """Return the names of globals and attributes that code uses, including the code of nested functions."""
    names = set(code.co_names)
    for co_const in code.co_consts:
        if isinstance(co_const, CodeType):
            names |= names_in(co_const)
    return names


@lru_cache(maxsize=MAX_COMPILED_TEXTS)
def selecting(dimensions: tuple[int, ...], checks_range: bool) -> Callable[..., Callable[[Any, Iterable[Any]], Any]]:
    """Return a function that creates selectors. A selector returns one element along each of these dimensions.

    The returned function accepts the sizes of the dimensions, the layout of the result, a function for entries that are
    not integers within these sizes, `object.__new__`, and the class NamedTensor. `checks_range` specifies whether the
    library raises IndexError for an index that is out of range. JAX selects the nearest element instead.
    """
    numbers = range(len(dimensions))
    names = ", ".join(f"index_{number}" for number in numbers)
    fit = f"{' is '.join(f'type(index_{at})' for at in numbers)} is int"
    if not checks_range:
        fit += "".join(f" and -size_{at} <= index_{at} < size_{at}" for at in numbers)
    places = {dimension: f"index_{number}" for number, dimension in enumerate(dimensions)}
    at = ", ".join(places.get(dimension, ":") for dimension in range(max(dimensions) + 1))
    text = [
        f"def make({''.join(f'size_{number}, ' for number in numbers)}layout, others, new, NamedTensor):",
        "    def select(tensor, entries):",
        f"        {names}, = entries",
        f"        if {fit}:",
        "            try:",
        f"                elements = tensor._array[{at}]",
        "            except IndexError:",
        f"                return others(tensor, ({names},))",
        "            result = new(NamedTensor)",
        "            result._array, result.layout = elements, layout",
        "            return result",
        f"        return others(tensor, ({names},))",
        "    return select",
    ]
    space: dict[str, Any] = {}
    exec(code_of("\n".join(text) + "\n", "<selection>"), space)
    return space["make"]
