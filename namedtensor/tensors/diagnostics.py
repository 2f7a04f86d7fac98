"""Errors and warnings for operands that do not match, which state the operands' axes and suggest a repair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..core.arrays import Layout, dtype_name, kind_of, library_of_namespace
from ..core.axes import (
    NAME_ONCE,
    SAME_SIZES,
    Shape,
    ShapeMismatchError,
    code_and_message,
    find_marked_axis,
    operator_sign,
    show,
)
from ..core.settings import misspelt
from ..core.tensor import NamedTensor
from ..core.warned import warn
from ..operators.record import Operator
from ..planning.whole_numbers import WHOLE

ORDINALS = ("first", "second", "third", "fourth")


class MissingPositions(NamedTuple):
    """The wording of a shape error, which identifies operands by position, as in "the second operand"."""

    problem: ShapeMismatchError
    sign: str
    shapes: Sequence[Shape]
    word: str = "operand"

    def lacking(self) -> str:
        return "the tensor" if len(self.shapes) == 1 else f"the {ordinal(self.problem.argument)} operand"

    def sizes(self) -> tuple[str, str]:
        first, second = self.problem.detail
        return f"{first} on one side of {self.sign}", f"{second} on the other"


def shape_error(
    problem: ShapeMismatchError, record: Operator, shapes: Sequence[Shape], axes: tuple[str, ...]
) -> NotationError:
    """Return the error for operands whose shapes do not fit an operator."""
    sign = operator_sign(record.name)
    code, message = code_and_message(problem, sign, axes, MissingPositions(problem, sign, shapes))
    notes = describe_shapes(shapes)
    if problem.kind == "sizes":
        notes += (f"they are one axis because they share the name {problem.axis}",)
    return NotationError(code, message, notes=notes, hint=_repair(problem, shapes))


def _repair(problem: ShapeMismatchError, shapes: Sequence[Shape]) -> str | None:
    match problem.kind:
        case "missing":
            return nearest(problem.axis, shapes[problem.argument])
        case "sizes":
            return SAME_SIZES
        case "clash":
            return f'rename it first: A.rename({{"{problem.axis}": "{problem.axis}\'"}})'
        case "repeated":
            return NAME_ONCE
        case "number":
            expected, have = problem.detail[0], list(dict.fromkeys(axis for shape in shapes for axis in shape))
            every = f", or axis={tuple(have)} for all" if len(have) > 1 and expected == 1 else ""
            return "remove axis=" if not expected else f'pass it: axis="{have[0]}"{every}' if have else None
        case _:
            return None


def describe_shapes(shapes: Sequence[Shape]) -> tuple[str, ...]:
    """Return a sentence that states the shape in the notation, for each of the first four operands."""
    if len(shapes) == 1:
        return (f"the tensor has {show(shapes[0])}",)
    return tuple(f"the {ordinal(index)} operand has {show(shape)}" for index, shape in enumerate(shapes[:4]))


def warn_of_marks(name: str, operands: Sequence[Any]) -> bool:
    """Warn if one operand has an axis a and the other has only the starred axis a*, as in a gradient.

    Return whether a warning was issued.
    """
    axes = [operand.axes if isinstance(operand, NamedTensor) else () for operand in operands]
    names = find_marked_axis(*axes)
    if names is not None:
        joins = " against ".join(show(operand.sizes) for operand in operands)
        plain, marked = sorted(names, key=len)
        warn(f"{operator_sign(name)} broadcasts {joins}: {plain} and {marked} are different axes (what nt.gradient gives has the axes "
             f"of its parameter, and so has rename({{{marked!r}: {plain!r}}}))")  # fmt: skip
    return names is not None


OUTER_HINT = "if unintended, check the axis names"


def outer_broadcast(name: str, operands: Sequence[Any]) -> NotationError | None:
    """Return an error if two operands each have an axis that the other lacks, or None if no such pair exists."""
    left, right = (operand.axes if isinstance(operand, NamedTensor) else () for operand in operands)
    if {*left} <= {*right} or {*right} <= {*left}:
        return None
    close = misspelt(*find_unshared_axes(operands))
    joins = " against ".join(show(operand.sizes) for operand in operands)
    hint = OUTER_HINT + (f": did you mean {close[0]} or {close[1]}?" if close else "")
    return NotationError(314, f"{operator_sign(name)} broadcasts {joins} (outer product)", hint=hint, symbol=name)


def find_unshared_axes(operands: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Return the axes of the first tensor that the second lacks, and the axes of the second that the first lacks."""
    left, right = (list(operand.axes) for operand in operands)
    return [axis for axis in left if axis not in right], [axis for axis in right if axis not in left]


def warn_of_misspelt(outer: NotationError, operands: Sequence[Any]) -> bool:
    """Warn if names of two axes in an outer broadcast differ by one letter. Return whether there are such axes."""
    result = misspelt(*find_unshared_axes(operands)) is not None
    if result:
        warn(f"{outer.message} ({outer.hint})")
    return result


def ordinal(position: int) -> str:
    return ORDINALS[position] if position < len(ORDINALS) else f"{position + 1}th"


def nearest(axis: str, names: Iterable[str]) -> str | None:
    """Return a hint with the closest name, or with all names if none is close, or None if there are no names."""
    have = list(dict.fromkeys(names))
    import difflib

    near = difflib.get_close_matches(axis, have, n=1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]}?"
    return f"the axes are {', '.join(have)}" if have else None


def no_names(value: Any, name: str) -> NotationError:
    """Return the error for an operand that is neither a named tensor nor a number."""
    hint = 'name its axes: nt.tensor(array, "seq chans")'
    if isinstance(value, str):
        return NotationError(
            317, f"{name} got the string {value!r} as an operand", hint=f'if it names an axis: axis="{value}"'
        )
    shape = getattr(value, "shape", None)
    if shape:
        extent = " × ".join(map(str, shape))
        return NotationError(317, f"{name} got an array of {extent} without axis names", hint=hint)
    return NotationError(317, f"{name} expects named tensors and numbers, got {type(value).__name__}", hint=hint)


def make_mixed_libraries_error(name: str, libraries: Sequence[str]) -> NotationError:
    plain = map(library_of_namespace, libraries)
    return NotationError(317, f"{name} got tensors of {' and of '.join(plain)}", hint="convert one of them first")


def truth_error(name: str, value: Any) -> NotationError:
    what = f"the number {value}" if isinstance(value, (int, float)) else f"numbers, of {value.dtype}"
    return NotationError(315, f"{name} expects conditions, got {what}", hint="compare first: A > 0")


def too_large(number: Any, layout: Layout) -> NotationError:
    whole = kind_of(dtype_name(layout.dtype)) in WHOLE
    dtype = "int64, in which integers are compared" if whole else f"{layout.dtype} of the tensor"
    hint = "write the number as a floating one, such as 1e30" if whole else "give a smaller number"
    return NotationError(405, f"{number} is too large for the dtype {dtype}", hint=hint)
