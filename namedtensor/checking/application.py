"""Apply operators to typed operands, with the lifting rule and the checks for each kind of operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grammar.errors import Hint
from grammar.nodes import Node

from ..core import axes as named
from ..core.axes import Shape, ShapeMismatchError, bind, find_marked_axis, operator_sign
from ..core.label_alignment import difference
from ..core.settings import OUTER, misspelt
from ..core.sizes import SizeVariable, is_ground, resolve, unify
from ..core.suggestions import near
from ..operators import REGISTRY
from ..operators.record import Operator
from ..scope.names import MARKS, component
from ..terms.environment import Environment, source_name
from ..terms.inference import CheckWarning, Inference, format_shape
from ..terms.labels import inputs_along
from ..terms.terms import Term, fold
from .axis_sizes import size_left_open
from .diagnostics import shape_error

Axes = tuple[tuple[str, Any], ...]  # The axes of a call, each with the node that names it.


def apply(
    checker: Inference,
    name: str,
    arguments: tuple[Term, ...],
    axes: Axes,
    node: Any,
    env: Environment,
    parts: Sequence[Any],
    options: Sequence[Any] = (),
) -> Term:
    """Return the term of a built-in operator applied to operands.

    `axes` contains each axis with the node that names it.
    """
    record = REGISTRY[name]
    names = tuple(axis for axis, _ in axes)
    shapes = tuple(argument.shape for argument in arguments)
    try:
        if record.kind == "elementwise" or not names:
            return elementwise(checker, record, name, arguments, names, node, parts, options)
        axis_sizes = new_axis_sizes(checker, record, arguments, names, node, env)
        if record.kind in ("reduction", "axis_map") and len(arguments) == 1 and not record.lifted.variadic:
            if len(names) != 1 and len(record.lifted.formals) == 1:
                raise ShapeMismatchError("number", detail=(1, len(names)))
        shape = record.result_shape(shapes, names, axis_sizes, unify)
    except ShapeMismatchError as problem:
        if problem.kind == "sizes" and checker.labels:
            check_labels(checker, problem.axis, arguments, parts, node)
        raise shape_error(checker, problem, name, shapes, parts, node, axes) from None
    if record.kind in ("reduction", "axis_map") and not record.of_nothing:
        check_numbers(checker, name, shapes[0], names, node)
    static = tuple(options)
    if axis_sizes:
        static += tuple((f"size {axis}", resolve(size)) for axis, size in axis_sizes.items())
    return checker.graph.intern(record.name, arguments, names, static, shape, record.boolean[1], node)


def check_labels(checker: Inference, axis: str, arguments: Sequence[Term], parts: Sequence[Any], node: Any) -> None:
    """Raise an error if two operands have different sizes along an axis and both have labels on it.

    The error lists the labels, which are more helpful than the sizes.
    """
    matches = inputs_along(arguments, axis, checker.labels)
    for labeled in matches:  # In a function's body, the message names a parameter, not the argument.
        texts = {
            checker.text(part) for argument, part in zip(arguments, parts) if argument.options[-1:] == (labeled.tensor,)
        }
        labeled.tensor = next(iter(texts), labeled.tensor)
    other = next((labeled for labeled in matches[1:] if len(labeled) != len(matches[0])), None)
    if other is not None:
        problem = difference(matches[0], other)
        raise checker.error(problem.code, problem.message, node, problem.notes, problem.hint)


def check_numbers(checker: Inference, name: str, shape: Mapping[str, Any], axes: tuple[str, ...], node: Any) -> None:
    """Raise an error if an operand is empty along an axis and the operator has no value for empty operands."""
    empty = next((axis for axis in axes if resolve(shape[axis]) == 0), None)
    if empty is not None:
        message = f"{name} of no numbers has no value: the size of {source_name(empty)} is 0"
        raise checker.error(405, message, node, hint="give the axis a size of at least 1")


def new_axis_sizes(
    checker: Inference, record: Operator, arguments: Sequence[Term], names: tuple[str, ...], node: Any, env: Environment
) -> Mapping[str, Any] | None:
    """Return the sizes of the axes that an operator creates, or None if the operator's record does not infer sizes."""
    if record.new_sizes is None:
        return None
    sizes: dict[str, Any] = {}
    output = set(record.lifted.output) - {formal for group in record.lifted.inputs for formal in group}
    bound = bind(record.lifted, names) if not record.lifted.variadic else {}
    for formal in (
        output if record.kind != "structure" else ()
    ):  # The size of a concatenated or stacked axis follows from the operands.
        for axis in bound.get(formal, ()):
            size = checker.solver.size_of(axis, env, node)
            if size is None:
                position = next((part for part in getattr(node, "subscript", ()) if component(part) == axis), node)
                size = size_left_open(checker, axis, position)
            sizes[axis] = size
    if any(not is_ground(size) for size in sizes.values()):
        sizes = {axis: resolve(size) for axis, size in sizes.items()}
    return record.new_sizes(tuple(argument.shape for argument in arguments), names, sizes)


def elementwise(
    checker: Inference, record: Operator, name: str, arguments: tuple[Term, ...], names: tuple[str, ...], node: Any,
    parts: Sequence[Any], options: Sequence[Any],
) -> Term:  # fmt: skip
    """Return the term of an elementwise operator, and fold constants.

    Raise ShapeMismatchError if the operands do not fit, or if the operator needs axes.
    """
    fewest, most = record.arity
    of_two = record.kind == "reduction" and most == len(arguments) == 2
    needs_axes = record.kind not in ("elementwise", "contraction") and not of_two
    if needs_axes and not names and record.lifted.formals:
        raise ShapeMismatchError("number", detail=(len(record.lifted.formals), 0))
    if not fewest <= len(arguments) <= most:
        raise ShapeMismatchError("arity", detail=(fewest if fewest == most else f"{fewest} to {most}", len(arguments)))
    if names:
        raise ShapeMismatchError("number", detail=(0, len(names)))
    check_truth(checker, record, name, arguments, parts)
    shape = named.broadcast([argument.shape for argument in arguments], unify)
    if name in OUTER:
        watch_outer(checker, name, arguments, node, parts)
    if name in ("=", "≠", "<", "≤", ">", "≥"):
        watch_one_hot(checker, arguments, node, parts)
    folded = fold(record, [argument.number for argument in arguments], options)
    if folded is not None:
        return checker.graph.number(folded, node, boolean=record.boolean[1])
    return checker.graph.intern(
        record.term or record.name, arguments, (), tuple(options), shape, record.boolean[1], node
    )


def check_truth(
    checker: Inference, record: Operator, name: str, arguments: Sequence[Term], parts: Sequence[Any]
) -> None:
    """Raise an error if a Boolean operand must be a number, or if a numeric operand must be Boolean."""
    if record.chooses:
        truth(checker, arguments[0], parts[0])
        return
    for argument, part in zip(arguments, parts):
        if record.boolean[0] and not argument.boolean:
            truth(checker, argument, part)
        if argument.boolean and not record.boolean[0] and record.name not in ("=", "≠"):
            hint = Hint("𝕀[…] turns a condition into 0 and 1", f"𝕀[{checker.text(part)}]")
            raise checker.error(315, f"{name} expects numbers, got a condition", part, hint=hint)


def watch_one_hot(checker: Inference, arguments: Sequence[Term], node: Any, parts: Sequence[Any]) -> None:
    """Warn if a one-hot argmax or argmin is compared with an operand other than 0 or 1 that lacks the one-hot axes."""
    for (term, part), (other, beside) in zip(zip(arguments, parts), [*zip(arguments, parts)][::-1]):
        if term.operator not in ("argmax", "argmin") or set(term.axes) & other.shape.keys() or other.number in (0, 1):
            continue
        (axis, *_) = map(source_name, term.axes)
        text, number = checker.text(part), checker.text(beside)
        message = f"{text} is one-hot along {axis}, and {number} is not"
        hint = f"if {number} is an index, write onehot_{{{axis}}} {number}, or compare ∑_{{{axis}}} (iota_{{{axis}}} ⊙ {text})"
        warning = CheckWarning(411, message, node.span, hint)
        if warning not in checker.warnings:
            checker.warnings.append(warning)


MARKED = "∂L/∂W, without the star, has the axes of W; to remove the stars of a gradient, rename its axes: G_{a*→a}"


def is_written(axis: str) -> bool:
    """Return whether an axis name can occur in a formula. The name of a lifted axis cannot, because it contains `@`."""
    return "@" not in axis


def watch_outer(checker: Inference, name: str, arguments: Sequence[Term], node: Any, parts: Sequence[Any]) -> None:
    """Warn about an outer broadcast, in which each operand has an axis that the other lacks.

    Also warn if two axes differ only by a star. Warn about a quotient only if an axis name seems misspelled. Store the
    error for the first outer broadcast in `checker.outer`. In a strict check, raise an error for every outer broadcast.
    """
    left, right = arguments[0].shape.keys(), arguments[1].shape.keys()
    alone = sorted(filter(is_written, left - right)), sorted(filter(is_written, right - left))
    if not all(alone):
        return
    joins = f"{operator_sign(name)} broadcasts {format_shape(arguments[0].shape)} against {format_shape(arguments[1].shape)}"
    marked = find_marked_axis(*alone) if name in ("+", "-") else None
    code, message = (
        (319, f"{joins}: {' and '.join(sorted(marked, key=len))} are different axes")
        if marked
        else (314, f"{joins} (outer product)")
    )
    close = misspelt(*alone)
    meant = [close] if close else [(axis, text) for axis in alone[0] for text in near(axis, alone[1], 1)]
    hint = "if unintended, check the axis names" + (f": did you mean {meant[0][0]} or {meant[0][1]}?" if meant else "")
    hint = MARKED if marked else hint
    if checker.strict or checker.outer is None:
        notes = [checker.describe_with_shape(part, argument.shape) for part, argument in zip(parts, arguments)]
        checker.outer = checker.error(code, message, node, notes=notes, hint=hint, symbol=name)
        if checker.strict:
            raise checker.outer
    # A sum of two vectors with different axes is rarely intended, unless the axes differ only by a prime or star.
    unrelated = {axis.rstrip(MARKS + "'") for axis in left}.isdisjoint(axis.rstrip(MARKS + "'") for axis in right)
    evaluating = close is not None or (name in ("+", "-") and unrelated)
    warning = CheckWarning(code, message, node.span, hint, evaluating)
    if (name != "/" or close is not None) and warning not in checker.warnings:
        checker.warnings.append(warning)


def broadcast(
    checker: Inference, shapes: Sequence[Shape], span: Any, operator: str, parts: Sequence[Any]
) -> dict[str, Any]:
    """Return the union of the operands' axes. Raise NotationError if an axis has two sizes."""
    try:
        return named.broadcast(shapes, unify)
    except ShapeMismatchError as problem:
        raise shape_error(checker, problem, operator, shapes, parts, span, ()) from None


def scalar_term(checker: Inference, value: Any, key: Any, node: Any) -> Term:
    value = resolve(value)
    if isinstance(value, SizeVariable):
        return checker.graph.intern("unknown", options=(str(key),), node=node)
    return checker.graph.number(value, node)


def truth(checker: Inference, term: Term, node: Node) -> Term:
    if not term.boolean:
        raise checker.error(315, "expected a condition, got a number", node, hint="compare it, as in i ≤ j or i = 1")
    return term


def option(checker: Inference, node: Node, env: Environment) -> Any:
    value = checker.infer(node, env).number
    if value is None:
        raise checker.error(
            304, "a parameter after the semicolon must be a number here, not a tensor", node, hint="write a number"
        )
    return value


def takes_index(operator: str) -> bool:
    """Return whether an operator accepts an index in place of an axis, as in ∑_i. Reductions, argmax and argmin do."""
    return operator in ("argmax", "argmin") or operator in REGISTRY and REGISTRY[operator].kind == "reduction"
