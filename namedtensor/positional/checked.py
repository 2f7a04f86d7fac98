"""Check translations: compare code with its library on random arrays, and check the types of formulas.

Also check the arrays that a translation is called with.
"""

from __future__ import annotations

import math
import re
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from grammar.errors import NotationError

from .axes import AxisKind, AxisVariable, Dims, Facts, axes_of
from .formula_writing import SourceText, TranslatedProgram
from .library_functions import HAS_VALUES, UnknownFunctionError, UnsupportedError, np
from .refusals import REFUSED, UnsafeError, make_refusal

DRAWS = 5
POSITIVE_DRAWS = 3  # so that roots and logarithms have values
UNIT = (0.1, 0.9)  # for functions of probabilities
NO_VALUE = "the source has no value"
DIFFERENT = "the values differ"
MAX_ELEMENTS = 2_000_000
TYPES_CHECKED = "the types are checked, the values are not compared"
DIFFERENTIAL = 405  # the code of a differential outside a derivative


class TrialSizes:
    """The axis sizes for a comparison. Sizes that the source does not determine are distinct."""

    def __init__(self, facts: Facts, downward: bool = False):
        self.sizes: dict[AxisKind, int] = {}
        self.order = (*range(9, 1, -1), *range(10, 10_000)) if downward else range(2, 10_000)
        self.facts = facts
        for axis, size in (*facts.stated, *facts.pinned):
            self.sizes[axis.kind] = size
        for whole, parts in facts.products:
            self.sizes[whole.kind] = math.prod(map(self.of, parts))
        for whole, part, factor in facts.multiples:
            self.sizes[whole.kind] = factor * self.of(part)
        for whole, parts in facts.totals:
            self.sizes[whole.kind] = sum(self.of(part) for part in parts)

    def of(self, axis: AxisVariable) -> int:
        return self.choose_size(axis.kind)

    def choose_size(self, kind: AxisKind) -> int:
        if kind.parts:
            return math.prod(self.choose_size(part.root) for part in kind.parts)
        if kind not in self.sizes:
            least = self.least(kind)
            divisor = math.lcm(*(number for axis, number in self.facts.divisors if axis.kind is kind))
            taken = {*self.sizes.values()}
            self.sizes[kind] = next(
                size for size in self.order if size not in taken and size >= least and size % divisor == 0
            )
        return self.sizes[kind]

    def least(self, kind: AxisKind) -> int:
        """Return the smallest size of axes of this kind for which the code can be evaluated."""
        sizes = [number for axis, number in self.facts.least if axis.kind is kind]
        longer = [other for axis, other in self.facts.longer if axis.kind is kind and other.kind is not kind]
        return max(sizes + [self.of(other) for other in longer], default=1)


def verify(translation: Any, program: TranslatedProgram, source: str) -> str:
    """Check a translation, and return a description of the check. Raise NotationError if a type or value is wrong."""
    if program.source is None:
        return check_types(translation, program, source)
    return compare_values(translation, program, program.source, source)


def unsafe(source: str, problem: str) -> UnsafeError:
    """Return the error for a translation whose check failed."""
    message = f"this cannot be translated safely: {problem}"
    hint = "give the axes of each input, or write it in parts"
    return UnsafeError(REFUSED, message, source, (0, len(source)), hint=hint)


def check_types(translation: Any, program: TranslatedProgram, source: str) -> str:
    """Check the types of a translated formula, and return a description of the check.

    Raise NotationError if a type is wrong.
    """
    from ..programs.checks import check_program_types
    from ..programs.parsed import ParsedProgram

    trial = TrialSizes(program.axes.facts)
    sizes = {
        axis: trial.of(variable)
        for name, axes in translation.axes.items()
        for axis, variable in zip(axes, axes_of(program.inputs[name].dims))
    }
    result = check_program_types(ParsedProgram(translation.declared, "text"), {}, sizes, None).result
    if result.errors and result.errors[0].code == DIFFERENTIAL:
        return "not checked: a differential by itself has no value"
    if result.errors:
        raise unsafe(source, f"its formula fails ({result.errors[0].message})")
    if result.shape is None or {*map(str, result.shape)} != {*translation.result}:
        raise unsafe(source, f"its formula has the type {result.type}")
    return TYPES_CHECKED


def compare_values(translation: Any, program: TranslatedProgram, code: SourceText, source: str) -> str:
    """Compare a formula with its code on random arrays, and return a description of the check.

    Raise NotationError if the formula cannot be evaluated or the values differ.
    """
    if not HAS_VALUES:
        return "not compared with the source: NumPy is not installed"
    generator = np.random.default_rng(0)
    draws = 0
    for draw in range(DRAWS):
        sizes = TrialSizes(program.axes.facts, downward=draw % 2 == 1)
        shapes = {
            name: [int(np.prod([sizes.of(axis) for axis in dim])) for dim in leaf.dims]
            for name, leaf in program.inputs.items()
        }
        if sum(int(np.prod(shape)) for shape in shapes.values()) > MAX_ELEMENTS:
            return "not compared: its smallest example is too large"
        for low, high in ((0.3, 1.7), UNIT) if draw < POSITIVE_DRAWS else ((-1.0, 1.0), UNIT):
            draw_number = partial(draw_array, generator, low=low, high=high)
            arrays = draw_inputs(generator, program, shapes, sizes, draw_number)
            outcome = same(translation, code, arrays, sizes)
            if not outcome.startswith(NO_VALUE):
                break
        if outcome.startswith("not compared"):
            return outcome
        if outcome == "singular":
            continue
        if outcome != "equal":
            raise unsafe(source, outcome)
        draws += 1
    if not draws:
        return "not compared: every example is singular"
    arrays = draw_inputs(generator, program, shapes, sizes, lambda shape: generator.integers(-4, 5, shape))
    if same(translation, code, arrays, sizes) == DIFFERENT:
        translation.reading = (*translation.reading, "the inputs are real numbers: for integers, the value differs")
        translation.of_reals = True
    translation.of_integers = code.integral
    return f"equal to {code.compared_with} on {draws} random inputs"


def draw_inputs(
    generator: Any, program: TranslatedProgram, shapes: Mapping[str, list[int]], sizes: TrialSizes, draw_number: Callable[[list[int]], Any]
) -> dict[str, Any]:  # fmt: skip
    """Return a random array for each input: indices, conditions, definite matrices, or numbers."""
    facts = program.axes.facts
    return {
        name: indices(generator, shape, facts.indices[name], sizes)
        if name in facts.indices
        else generator.integers(0, 2, shape).astype(bool)
        if name in facts.truths
        else draw_definite(generator, shape)
        if is_definite(program, name)
        else draw_number(shape)
        for name, shape in shapes.items()
    }


def is_definite(program: TranslatedProgram, name: str) -> bool:
    """Return whether an input is a square matrix that must be symmetric and positive definite in the comparison."""
    *_, rows, columns = ((), (), *program.inputs[name].dims)
    kinds = {axis.kind.root for axis in (*rows, *columns)}
    return len(rows) == len(columns) == len(kinds) == 1 and kinds <= {
        axis.kind.root for axis in program.axes.facts.definite
    }


def draw_definite(generator: Any, shape: list[int]) -> Any:
    x = generator.normal(size=shape)
    return x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1])


def draw_array(generator: Any, shape: list[int], low: float, high: float) -> Any:
    return generator.normal(size=shape) if low < 0 else generator.uniform(low, high, shape)


def indices(generator: Any, shape: list[int], along: Sequence[tuple[AxisVariable, int]], sizes: TrialSizes) -> Any:
    """Return an array of random integers. Each integer is a valid index for all of the listed axes."""
    first = max(start for _, start in along)
    last = min(start + sizes.of(axis) - 1 for axis, start in along)
    return generator.integers(first, max(first, last), shape, endpoint=True)


def same(translation: Any, code: SourceText, arrays: Mapping[str, Any], sizes: TrialSizes) -> str:
    """Compare the values on given arrays.

    Return "equal", "singular", a reason why the values cannot be compared, or a description of the difference.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = np.asarray(code.value(arrays, sizes.of))
        except UnknownFunctionError as problem:
            text, hint = translation.source, "write it with a function of NumPy, PyTorch or einops"
            raise make_refusal(text, (0, len(text)), f"{problem} is not supported", hint) from None
        except UnsupportedError as problem:
            return f"not compared: {problem}"
        except np.linalg.LinAlgError:
            return "singular"
        except MemoryError:
            return "not compared: its smallest example is too large"
        except Exception as problem:  # Functions of a library reject their arguments with various errors.
            if type(problem).__name__ == "_LinAlgError":  # PyTorch's error for a singular matrix
                return "singular"
            return f"{NO_VALUE} ({textwrap.shorten(str(problem), 120) or type(problem).__name__})"
        try:
            actual = np.asarray(
                translation(**arrays) if all(name.isidentifier() for name in arrays) else translation(*arrays.values())
            )
        except NotationError as problem:
            return f"its formula fails ({problem.message})"
    if actual.shape != expected.shape:
        return f"its shape is {shape_text(expected)}, the formula's {shape_text(actual)}"
    return "equal" if close(actual, expected) else DIFFERENT


def shape_text(array: Any) -> str:
    return " × ".join(map(str, array.shape)) or "a number"


def close(actual: Any, expected: Any) -> bool:
    actual, expected = (np.asarray(side, dtype=float) for side in (actual, expected))
    finite = np.isfinite(expected)
    if not np.array_equal(np.nan_to_num(actual[~finite], nan=0.5), np.nan_to_num(expected[~finite], nan=0.5)):
        return False
    scale = float(np.max(np.abs(expected[finite]), initial=1.0))
    return bool(np.all(np.abs(actual[finite] - expected[finite]) <= 1e-7 * scale + 1e-6 * np.abs(expected[finite])))


# ---------------------------------------------------------------------------------------------------- given arrays
def check_dtypes(translation: Any, inputs: Mapping[str, Any]) -> None:
    """Raise NotationError for an array of integers if the library's value may differ from the formula's value."""
    for name in sorted(translation.numbers):
        dtype = dtype_of(inputs[name])
        narrow = re.fullmatch(r"uint\d+|int8|int16", dtype)
        if narrow or (translation.of_reals and dtype.startswith("int")):
            reason = "its library's integers wrap around" if narrow else "for integers, its library's value differs"
            raise NotationError(405, f"{name} has the dtype {dtype}: {reason}", hint=f"pass {name} as float64")


def check_overflow(translation: Any, inputs: Mapping[str, Any], array: Any) -> None:
    """Raise NotationError if the library's value, which is an integer, would overflow."""
    dtypes = {dtype_of(inputs[name]) for name in translation.numbers}
    if translation.of_integers and dtypes and dtypes <= {"int32", "int64"}:
        bits = 31 if dtypes == {"int32"} else 63
        if np.any(np.abs(array.astype(float)) >= 2.0**bits):
            raise NotationError(405, f"the value overflows {bits + 1} bits", hint="pass the inputs as float64")


def dtype_of(array: Any) -> str:
    """Return the name of an array's dtype, such as int64."""
    return str(getattr(array, "dtype", None) or np.asarray(array).dtype).removeprefix("torch.")


def drop_ones(array: Any, positions: Sequence[int]) -> Any:
    """Return an array without its dimensions at these positions, or unchanged if their sizes are not all 1."""
    shape = np.shape(array) if positions else ()
    if not positions or any(shape[position : position + 1] != (1,) for position in positions):
        return array
    index = tuple(0 if position in positions else slice(None) for position in range(len(shape)))
    return array[index] if hasattr(array, "shape") else np.asarray(array)[index]


def find_ones(dims: Dims) -> tuple[int, ...]:
    """Return the positions of the dimensions of size 1, which have no axes."""
    return tuple(position for position, dim in enumerate(dims) if not dim)
