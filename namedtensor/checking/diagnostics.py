"""Diagnostics of shapes: what each operand has, why the shapes must agree, and a repair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from grammar.errors import Hint, NotationError

from ..core import axes as named
from ..core.axes import Mismatch, ShapeMismatch
from ..core.sizes import resolve, unify
from ..core.suggestions import did_you_mean, near
from ..terms.environment import source_name
from ..terms.inference import Inference


class Operand(Protocol):
    """What has a shape: a term, or a part of one."""

    @property
    def shape(self) -> Mapping[str, Any]: ...


ARGUMENTS = {
    "where": "write where(condition, value, otherwise)",
    "clip": "write clip(X, low, high)",
    "index": "write index_{axis}(X, I)",
    "pow": "write pow(x, y), or x^y",
    "mod": "write mod(X, Y)",
}


class Use(NamedTuple):
    """A use of an operator whose shapes do not fit: the mismatch, the operands, and the nodes that name them and the
    axes.
    """

    checker: Inference
    problem: ShapeMismatch
    operator: str
    arguments: Sequence[Any]
    parts: Sequence[Any]
    place: Any
    axes: Sequence[tuple[str, Any]]

    @property
    def sign(self) -> str:
        """The operator with its axes, as it is shown."""
        named = ", ".join(axis for axis, _ in self.axes)
        return operator_sign(self.operator) + (f"_{{{named}}}" if named else "")

    @property
    def axis(self) -> str:
        return self.problem.axis

    @property
    def notes(self) -> list[str]:
        """Notes with the shape of each operand."""
        return [self.checker.described(part, argument.shape) for part, argument in zip(self.parts, self.arguments)]

    @property
    def where_named(self) -> Any:
        """The node that names the axis of the problem."""
        return dict(self.axes).get(self.axis, self.place)


class ErrorText(NamedTuple):
    """The parts of an error: code, message, place, notes and hint."""

    code: int
    message: str
    place: Any
    notes: Sequence[str]
    hint: str | None = None


def shape_error(
    checker: Inference,
    problem: ShapeMismatch,
    operator: str,
    arguments: Sequence[Operand],
    parts: Sequence[Any],
    place: Any,
    axes: Sequence[tuple[str, Any]],
) -> NotationError:
    """The error of a shape that does not fit, which shows what each operand has."""
    text = DIAGNOSTICS[problem.kind](Use(checker, problem, operator, arguments, parts, place, axes))
    return checker.error(*text, symbol=operator, axis=problem.axis or None)


def _missing(use: Use) -> ErrorText:
    axis, arguments = use.axis, use.arguments
    have = sorted({name for argument in arguments for name in argument.shape if "@" not in name})
    lacking = [
        use.checker.text(part)
        for part, argument in zip(use.parts, arguments)
        if axis not in argument.shape and hasattr(part, "span")
    ]
    who = " and ".join(lacking) if len(lacking) <= 2 else "its operands"
    reason = "" if len(arguments) < 2 or len(lacking) > 1 else "; both operands need it"
    message = f"{use.sign} needs axis {axis}, missing from {who}{reason}"
    return ErrorText(301, message, use.where_named, use.notes, other_axis(axis, have, arguments))


def _sizes(use: Use) -> ErrorText:
    axis = use.axis
    first, second = (resolve(size) for size in use.problem.detail)
    return ErrorText(
        302,
        f"axis {source_name(axis)} has size {first} {where_sized(use, first)} and size {second} {where_sized(use, second)}",
        use.place,
        [*use.notes, f"{use.sign} aligns axes by name, so their sizes must match"],
        "rename one of the two axes, or pass tensors of the same size",
    )


def _clash(use: Use) -> ErrorText:
    axis = use.axis
    return ErrorText(
        306,
        f"{use.sign} returns axis {axis}, but its operand already has an axis {axis}",
        use.where_named,
        use.notes,
        f"rename the operand's {axis} first: X_{{{source_name(axis)}→{source_name(axis)}'}}",
    )


def _repeated(use: Use) -> ErrorText:
    return ErrorText(303, f"axis {use.axis} is named twice", use.where_named, (), "name each axis once")


def _arity(use: Use) -> ErrorText:
    wanted, have = use.problem.detail
    message = f"{use.sign} expects {wanted} argument{'' if wanted == 1 else 's'}, got {have}"
    hint = ARGUMENTS.get(use.operator)
    if use.operator in ("max", "min") and (wanted, have) == (1, 2):
        name = use.operator
        hint = f"for two tensors write {name}(X, Y), with a reduction {name}({use.sign} X, Y)"
    return ErrorText(304, message, use.place, use.notes, hint)


def _number(use: Use) -> ErrorText:
    wanted, have = use.problem.detail
    sign = operator_sign(use.operator)
    axes = [axis for argument in use.arguments for axis in argument.shape if "@" not in axis]
    hint = _axes_hint(sign, wanted, have, axes)
    if (
        have == 0 and len(axes) >= wanted and use.checker.text(use.place).startswith(sign)
    ):  # several axes: each may be meant
        start = use.place.span[0]
        named = axes if wanted == 1 else [", ".join(axes[:wanted])]
        hint = Hint(hint, *(f"{sign}_{{{each}}}" for each in named), at=(start, start + len(sign)))
    return ErrorText(316, f"{sign} expects {_count(wanted)}, got {have}", use.place, use.notes, hint)


def _whole(use: Use) -> ErrorText:
    return ErrorText(310, str(use.problem.detail), use.place, use.notes, "choose sizes that divide")


def _other(use: Use) -> ErrorText:
    return ErrorText(301, str(use.problem.detail), use.place, use.notes)


DIAGNOSTICS: dict[Mismatch, Callable[[Use], ErrorText]] = {
    "missing": _missing,
    "sizes": _sizes,
    "clash": _clash,
    "repeated": _repeated,
    "arity": _arity,
    "number": _number,
    "whole": _whole,
    "other": _other,
}


def other_axis(axis: str, have: list[str], arguments: Sequence[Operand]) -> str | None:
    """The axis that may have been meant, where the operands lack the one that is named."""
    if axis not in have and (meant := near(axis, have, 1)):
        return did_you_mean(meant)
    shared = [name for name in have if all(name in argument.shape for argument in arguments)]
    if len(arguments) > 1:
        return Hint(f"both have {', '.join(shared)}", *shared) if shared else "they have no axis in common"
    return Hint(f"its axes are {', '.join(have)}", *have) if have else None


def where_sized(use: Use, size: Any) -> str:
    """The operands that have the axis of the problem in this size."""
    found = [
        use.checker.text(part)
        for part, argument in zip(use.parts, use.arguments)
        if hasattr(part, "span") and resolve(argument.shape.get(use.axis)) == size
    ]
    return "in " + ", ".join(dict.fromkeys(found)) if found else "elsewhere"


def _count(number: int) -> str:
    return "no axis" if number == 0 else "1 axis" if number == 1 else f"{number} axes"


def _axes_hint(sign: str, wanted: int, have: int, axes: Sequence[str]) -> str:
    if not wanted:
        return f"write {sign} without a subscript: it goes over every element"
    if have > wanted == 1:
        return f"apply it once along each axis: {sign}_{{{axes[0] if axes else 'a'}}} {sign}_{{…}} X"
    named = ", ".join(axes[:wanted]) if len(axes) >= wanted else "axis" if wanted == 1 else "rows, columns"
    return f"name {'it' if wanted == 1 else 'them'} in the subscript, as in {sign}_{{{named}}}"


def operator_sign(operator: str) -> str:
    return {"juxtaposed": "the product", "negative": "−", "-": "−"}.get(operator, operator)


def broadcast(
    checker: Inference, terms: Sequence[Operand], node: Any, span: Any, operator: str, parts: Sequence[Any]
) -> dict[str, Any]:
    """The shape over the union of the axes. Raises NotationError where one has two sizes."""
    try:
        return named.broadcast([term.shape for term in terms], unify)
    except ShapeMismatch as problem:
        raise shape_error(checker, problem, operator, terms, parts, span, ()) from None
