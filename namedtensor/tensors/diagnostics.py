"""Diagnostics of the Python functions: what each operand has, why the shapes must agree, and a repair."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from grammar.errors import NotationError

from ..core.arrays import library_of_namespace
from ..core.axes import Shape, ShapeMismatch, marked_apart, show
from ..core.strictness import misspelt
from ..core.tensor import NamedTensor
from ..core.warned import warn
from ..operators.record import Operator

ORDINALS = ("first", "second", "third", "fourth")
SIGNS = {"negative": "−", "-": "−", "juxtaposed": "the product"}


def shape_error(
    problem: ShapeMismatch, record: Operator, shapes: Sequence[Shape], axes: tuple[str, ...]
) -> NotationError:
    """The error for operands that do not fit an operator."""
    shown = SIGNS.get(record.name, record.name) + (f"_{{{', '.join(axes)}}}" if axes else "")
    number, message, hint = DIAGNOSTICS[problem.kind](problem, shown, shapes)
    notes = described(shapes)
    if problem.kind == "sizes":
        notes += (f"they are one axis because they share the name {problem.axis}",)
    return NotationError(number, message, notes=notes, hint=hint)


def described(shapes: Sequence[Shape]) -> tuple[str, ...]:
    """The shape of each operand, in the notation."""
    if len(shapes) == 1:
        return (f"the tensor has {show(shapes[0])}",)
    return tuple(f"the {ordinal(place)} operand has {show(shape)}" for place, shape in enumerate(shapes[:4]))


def warn_of_marks(name: str, operands: Sequence[Any]) -> bool:
    """Warn where one operand has an axis and the other the same axis with a mark alone, as a gradient has; say whether."""
    axes = [each.axes if isinstance(each, NamedTensor) else () for each in operands]
    found = marked_apart(*axes)
    if found is not None:
        joins = " against ".join(show(each.sizes) for each in operands)
        plain, marked = sorted(found, key=len)
        warn(f"{SIGNS.get(name, name)} broadcasts {joins}: {plain} and {marked} are different axes (what nt.gradient gives has the axes "
             f"of its parameter, and so has rename({{{marked!r}: {plain!r}}}))")  # fmt: skip
    return found is not None


OUTER_HINT = "if unintended, check the axis names"


def outer_broadcast(name: str, operands: Sequence[Any]) -> NotationError | None:
    """The error, where these are errors, of two tensors neither of which has all axes of the other."""
    left, right = (each.axes if isinstance(each, NamedTensor) else () for each in operands)
    if {*left} <= {*right} or {*right} <= {*left}:
        return None
    close = misspelt(*apart(operands))
    joins = " against ".join(show(each.sizes) for each in operands)
    hint = OUTER_HINT + (f": did you mean {close[0]} or {close[1]}?" if close else "")
    return NotationError(314, f"{SIGNS.get(name, name)} broadcasts {joins} (outer product)", hint=hint, symbol=name)


def apart(operands: Sequence[Any]) -> tuple[list[str], list[str]]:
    """The axes of each of two tensors that the other lacks."""
    left, right = (list(each.axes) for each in operands)
    return [axis for axis in left if axis not in right], [axis for axis in right if axis not in left]


def warn_of_misspelt(outer: NotationError, operands: Sequence[Any]) -> bool:
    """Warn where the axes of an outer broadcast are one letter apart; say whether."""
    found = misspelt(*apart(operands)) is not None
    if found:
        warn(f"{outer.message} ({outer.hint})")
    return found


def ordinal(place: int) -> str:
    return ORDINALS[place] if place < len(ORDINALS) else f"{place + 1}th"


def nearest(axis: str, names: Iterable[str]) -> str | None:
    """A hint with the nearest axis name, or with all of them."""
    have = list(dict.fromkeys(names))
    near = difflib.get_close_matches(axis, have, n=1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]}?"
    return f"the axes are {', '.join(have)}" if have else None


ErrorText = tuple[int, str, "str | None"]


def _missing(problem: ShapeMismatch, shown: str, shapes: Sequence[Shape]) -> ErrorText:
    who = "the tensor" if len(shapes) == 1 else f"the {ordinal(problem.argument)} operand"
    message = f"{shown} needs axis {problem.axis}, missing from {who}"
    return 301, message, nearest(problem.axis, shapes[problem.argument])


def _sizes(problem: ShapeMismatch, shown: str, shapes: Sequence[Shape]) -> ErrorText:
    first, second = problem.detail
    message = f"axis {problem.axis} has size {first} on one side of {shown} and size {second} on the other"
    return 302, message, "rename one of the two axes, or pass tensors of the same size"


def _clash(problem: ShapeMismatch, shown: str, shapes: Sequence[Shape]) -> ErrorText:
    message = f"{shown} returns axis {problem.axis}, but its operand already has an axis {problem.axis}"
    return 306, message, f'rename it first: A.rename({{"{problem.axis}": "{problem.axis}\'"}})'


def _repeated(problem: ShapeMismatch, shown: str, shapes: Sequence[Shape]) -> ErrorText:
    return 303, f"axis {problem.axis} is named twice", "name each axis once"


def _number(problem: ShapeMismatch, shown: str, shapes: Sequence[Shape]) -> ErrorText:
    wanted, found = problem.detail
    have = list(dict.fromkeys(axis for shape in shapes for axis in shape))
    hint = "remove axis=" if not wanted else None
    if wanted and have:
        hint = f'pass it: axis="{have[0]}"' + (
            f", or axis={tuple(have)} for all" if len(have) > 1 and wanted == 1 else ""
        )
    return 316, f"{shown} expects {_count(wanted)}, got {found}", hint


def _count(axes: int) -> str:
    return "no axes" if axes == 0 else f"{axes} {'axis' if axes == 1 else 'axes'}"


def _arity(problem: ShapeMismatch, shown: str, shapes: Sequence[Shape]) -> ErrorText:
    wanted, found = problem.detail
    return 304, f"{shown} expects {wanted} operand{'s' * (wanted != '1')}, got {found}", None


DIAGNOSTICS: dict[str, Callable[[ShapeMismatch, str, Sequence[Shape]], ErrorText]] = {
    "missing": _missing,
    "sizes": _sizes,
    "clash": _clash,
    "repeated": _repeated,
    "number": _number,
    "arity": _arity,
    "whole": lambda problem, shown, shapes: (310, str(problem.detail), None),
    "other": lambda problem, shown, shapes: (308, str(problem.detail), None),
}


def no_names(value: Any, name: str) -> NotationError:
    """Return the error for an operand that is not a tensor."""
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


def of_libraries(name: str, libraries: Sequence[str]) -> NotationError:
    plain = map(library_of_namespace, libraries)
    return NotationError(317, f"{name} got tensors of {' and of '.join(plain)}", hint="convert one of them first")


def truth_error(name: str, value: Any) -> NotationError:
    what = f"the number {value}" if isinstance(value, (int, float)) else f"numbers, of {value.dtype}"
    return NotationError(315, f"{name} expects conditions, got {what}", hint="compare first: A > 0")
