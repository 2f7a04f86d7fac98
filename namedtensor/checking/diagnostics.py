"""Create error messages about shapes: the shape of each operand, the reason why the shapes must agree, and a repair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from grammar.errors import Hint, NotationError
from grammar.nodes import Axis, Node

from ..core.axes import NAME_ONCE, SAME_SIZES, Shape, ShapeMismatchError, code_and_message, operator_sign
from ..core.sizes import resolve
from ..core.suggestions import did_you_mean, near
from ..operators import REGISTRY
from ..terms.environment import source_name
from ..terms.inference import Inference

ARGUMENTS = {
    "where": "write where(condition, value, otherwise)",
    "clip": "write clip(X, low, high)",
    "index": "write index_{axis}(X, I)",
    "pow": "write pow(x, y), or x^y",
    "mod": "write mod(X, Y)",
}


class Use(NamedTuple):
    """An operator whose operands have incompatible shapes, and the nodes for the error message."""

    checker: Inference
    problem: ShapeMismatchError
    operator: str
    shapes: Sequence[Shape]
    parts: Sequence[Any]
    place: Any
    axes: Sequence[tuple[str, Any]]
    word: str = "argument"

    @property
    def sign(self) -> str:
        return operator_sign(self.operator)

    @property
    def sign_with_axes(self) -> str:
        return self.sign + (f"_{{{', '.join(axis for axis, _ in self.axes)}}}" if self.axes else "")

    def lacking(self) -> str:
        written = [pair for pair in zip(self.parts, self.shapes) if hasattr(pair[0], "span")]
        parts = [self.checker.text(part) for part, shape in written if self.problem.axis not in shape]
        who = " and ".join(parts) if len(parts) <= 2 else "its operands"
        return who + ("" if len(self.shapes) < 2 or len(parts) > 1 else "; both operands need it")

    def sizes(self) -> tuple[str, str]:
        first, second = (resolve(size) for size in self.problem.detail)
        return f"{first} {self.where_sized(first)}", f"{second} {self.where_sized(second)}"

    def where_sized(self, size: Any) -> str:
        """Return a phrase that lists the operands with this size along the mismatched axis."""
        written = [pair for pair in zip(self.parts, self.shapes) if hasattr(pair[0], "span")]
        parts = [self.checker.text(part) for part, shape in written if resolve(shape.get(self.problem.axis)) == size]
        return "in " + ", ".join(dict.fromkeys(parts)) if parts else "elsewhere"

    @property
    def notes(self) -> list[str]:
        """The notes of the error, which give the shape of each operand."""
        if self.problem.kind == "repeated":
            return []
        shapes = [self.checker.describe_with_shape(part, shape) for part, shape in zip(self.parts, self.shapes)]
        if self.problem.kind == "sizes":
            shapes.append(f"{self.sign_with_axes} aligns axes by name, so their sizes must match")
        return shapes

    @property
    def location(self) -> Any:
        """The node under the caret: the node that names the mismatched axis, or the whole call."""
        named = self.problem.kind in ("missing", "clash", "repeated")
        return dict(self.axes).get(self.problem.axis, self.place) if named else self.place

    def repair(self) -> str | None:
        match self.problem.kind:
            case "missing":
                have = sorted({name for shape in self.shapes for name in shape if "@" not in name})
                return other_axis(self.problem.axis, have, self.shapes)
            case "sizes":
                return SAME_SIZES
            case "clash":
                plain = source_name(self.problem.axis)
                return f"rename the operand's {self.problem.axis} first: X_{{{plain}→{plain}'}}"
            case "repeated":
                return NAME_ONCE
            case "arity":
                return self._arguments_to_write(*self.problem.detail)
            case "number":
                return self._axes_to_name(*self.problem.detail)
            case "whole":
                return "choose a size that divides it"
            case _:
                return None

    def _arguments_to_write(self, expected: Any, have: int) -> str | None:
        if self.operator in ("max", "min") and (expected, have) == (1, 2):
            name = self.operator
            return f"for two tensors write {name}(X, Y), with a reduction {name}({self.sign_with_axes} X, Y)"
        return ARGUMENTS.get(self.operator)

    def _axes_to_name(self, expected: int, have: int) -> str:
        sign = self.sign
        axes = [axis for shape in self.shapes for axis in shape if "@" not in axis]
        formals = REGISTRY[self.operator].lifted.formals if self.operator in REGISTRY else ()
        hint = _axes_hint(sign, expected, have, axes, formals or ("axis", "other"))
        if have == 0 and len(axes) >= expected and self.checker.text(self.place).startswith(sign):  # Suggest each axis.
            start = self.place.span[0]
            named = axes if expected == 1 else [", ".join(axes[:expected])]
            return Hint(hint, *(f"{sign}_{{{name}}}" for name in named), at=(start, start + len(sign)))
        return hint


def shape_error(
    checker: Inference,
    problem: ShapeMismatchError,
    operator: str,
    shapes: Sequence[Shape],
    parts: Sequence[Any],
    node: Any,
    axes: Sequence[tuple[str, Any]],
) -> NotationError:
    """Return the error for operands with incompatible shapes. Its notes give the shape of each operand."""
    use = Use(checker, problem, operator, shapes, parts, node, axes)
    code, message = code_and_message(problem, use.sign, [axis for axis, _ in axes], use)
    return checker.error(
        code, message, use.location, use.notes, use.repair(), symbol=operator, axis=use.problem.axis or None
    )


def no_such_axis(checker: Inference, base: Node, shape: Shape, axis: Axis, real: str, purpose: str) -> NotationError:
    """Return the error for an axis in a subscript that the tensor does not have.

    `real` is the resolved name of the axis in this environment.
    """
    have = sorted(name for name in shape if "@" not in name)
    return checker.error(
        301, f"{checker.text(base)} has no axis {real} to {purpose}", axis, notes=(checker.describe_with_shape(base, shape),),
        hint=did_you_mean(near(real, have, 1)) or Hint(f"its axes are {', '.join(have) or 'none'}", *have), axis=real,
    )  # fmt: skip


def other_axis(axis: str, have: list[str], shapes: Sequence[Shape]) -> str | None:
    """Return a hint for an axis that the operands lack: the axis that was probably meant, or their common axes.

    Return None for a single operand without axes.
    """
    if axis not in have and (meant := near(axis, have, 1)):
        return did_you_mean(meant)
    alike = [name for shape in shapes if axis not in shape for name in near(axis, shape, 1)]
    if alike:
        return f"use one name for {axis} and {alike[0]}, or rename {alike[0]}: X_{{{alike[0]}→{axis}}}"
    shared = [name for name in have if all(name in shape for shape in shapes)]
    if len(shapes) > 1:
        return Hint(f"both have {', '.join(shared)}", *shared) if shared else "they have no axis in common"
    return Hint(f"its axes are {', '.join(have)}", *have) if have else None


def _axes_hint(sign: str, expected: int, have: int, axes: Sequence[str], formals: Sequence[str]) -> str:
    if not expected:
        return f"write {sign} without a subscript: it applies to every element"
    if have > expected == 1:
        return f"apply it once along each axis: {sign}_{{{axes[0] if axes else 'a'}}} {sign}_{{…}} X"
    named = ", ".join([*axes, *formals[len(axes) :]][:expected])
    return f"name {'it' if expected == 1 else 'them'} in the subscript, as in {sign}_{{{named}}}"
