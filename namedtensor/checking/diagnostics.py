"""Shapes that do not fit, in words: what each operand has, why it must agree, and what would mend it."""

from __future__ import annotations

from typing import Any

from grammar.errors import NotationError

from ..core import axes as named
from ..core.axes import ShapeMismatch
from ..core.sizes import resolve, unify
from ..core.suggestions import did_you_mean, near
from ..terms.environment import source_name
from ..terms.inference import Inference

ARGUMENTS = {
    "where": "write where(condition, value, otherwise)",
    "clip": "write clip(X, low, high)",
    "index": "write index_{axis}(X, I)",
    "pow": "write pow(x, y), or x^y",
}


def shape_error(
    checker: Inference, problem: ShapeMismatch, operator: str, arguments, parts, place, axes
) -> NotationError:
    """Turn a shape that does not fit into an error that shows what each operand has."""
    notes = [checker.described(part, argument.shape) for part, argument in zip(parts, arguments)]
    shown_operator = operator_sign(operator) + ("_{" + ", ".join(axis for axis, _ in axes) + "}" if axes else "")
    where = dict(axes)
    axis = problem.axis
    if problem.what == "missing":
        node = where.get(axis, place)
        have = sorted({name for argument in arguments for name in argument.shape if "@" not in name})
        lacking = [
            checker.text(part)
            for part, argument in zip(parts, arguments)
            if axis not in argument.shape and hasattr(part, "span")
        ]
        who = " and ".join(lacking) if len(lacking) <= 2 else "its operands"
        verb = "lacks" if len(lacking) == 1 else "lack"
        reason = "" if len(arguments) < 2 or len(lacking) > 1 else "; both operands need it"
        return checker.error(
            301,
            f"{shown_operator} needs the axis {axis}, which {who} {verb}{reason}",
            node,
            notes=notes,
            hint=other_axis(checker, axis, have, arguments),
        )
    if problem.what == "sizes":
        first, second = (resolve(size) for size in problem.detail)
        return checker.error(
            302,
            f"{source_name(axis)} is {first} {where_sized(checker, axis, first, arguments, parts)} and "
            f"{second} {where_sized(checker, axis, second, arguments, parts)}",
            place,
            notes=notes + [f"{shown_operator} takes axes of one name as one axis, so their sizes must agree"],
            hint="rename one of the two, or give tensors of one size",
        )
    if problem.what == "clash":
        return checker.error(
            306,
            f"{shown_operator} gives the axis {axis}, which its operand has already",
            where.get(axis, place),
            notes=notes,
            hint=f"rename the operand's {axis} first: X_{{{source_name(axis)}→{source_name(axis)}'}}",
        )
    if problem.what == "repeated":
        return checker.error(303, f"{axis} is named twice", where.get(axis, place), hint="name each axis once")
    if problem.what == "arity":
        wanted, have_number = problem.detail
        plural = "" if wanted == 1 else "s"
        return checker.error(
            304, f"{shown_operator} takes {wanted} argument{plural}, and was given {have_number}", place, notes=notes,
            hint=ARGUMENTS.get(operator),
        )  # fmt: skip
    if problem.what == "number":
        wanted, have_number = problem.detail
        return checker.error(
            316,
            f"{operator_sign(operator)} takes {_count(wanted)}, and {_named(have_number)}",
            place,
            notes=notes,
            hint=_axes_hint(operator_sign(operator), wanted, have_number, arguments),
        )
    if problem.what == "whole":
        return checker.error(310, str(problem.detail), place, notes=notes, hint="give sizes that divide")
    return checker.error(301, str(problem.detail), place, notes=notes)


def other_axis(checker: Inference, axis: str, have: list[str], arguments) -> str | None:
    """The axis that may have been meant, where the operands lack the one that is named."""
    if axis not in have and (meant := near(axis, have, 1)):
        return did_you_mean(meant)
    shared = [name for name in have if all(name in argument.shape for argument in arguments)]
    if len(arguments) > 1:
        return f"both have {', '.join(shared)}" if shared else "they have no axis in common"
    return f"its axes are {', '.join(have)}" if have else None


def where_sized(checker: Inference, axis: str, size: Any, arguments, parts) -> str:
    """The operands that have the axis in this size."""
    found = [
        checker.text(part)
        for part, argument in zip(parts, arguments)
        if hasattr(part, "span") and resolve(argument.shape.get(axis)) == size
    ]
    return "in " + ", ".join(dict.fromkeys(found)) if found else "elsewhere"


def _count(number: int) -> str:
    return "no axis" if number == 0 else "1 axis" if number == 1 else f"{number} axes"


def _named(number: int) -> str:
    return "none is named" if number == 0 else "1 is named" if number == 1 else f"{number} are named"


def _axes_hint(sign: str, wanted: int, have: int, arguments) -> str:
    axes = [axis for argument in arguments for axis in argument.shape if "@" not in axis]
    if not wanted:
        return f"write {sign} without a subscript: it goes over every element"
    if have > wanted == 1:
        return f"apply it once along each axis: {sign}_{{{axes[0] if axes else 'a'}}} {sign}_{{…}} X"
    named = ", ".join(axes[:wanted]) if len(axes) >= wanted else "axis" if wanted == 1 else "rows, columns"
    return f"name {'it' if wanted == 1 else 'them'} in the subscript, as in {sign}_{{{named}}}"


def operator_sign(operator: str) -> str:
    return {"juxtaposed": "the product", "negative": "−", "-": "−"}.get(operator, operator)


def broadcast(checker: Inference, terms, node: Any, span: Any, operator: str, parts) -> dict[str, Any]:
    try:
        return named.broadcast([term.shape for term in terms], unify)
    except ShapeMismatch as problem:
        raise shape_error(checker, problem, operator, terms, parts, span, ()) from None
