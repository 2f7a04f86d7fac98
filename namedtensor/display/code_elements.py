"""How numbers, elementwise operators, and moved, indexed and joined axes are written as array expressions; see `code`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from grammar import nodes

from ..terms.terms import Term, resolved_shape
from .code_libraries import ATOM, INFIX, PRODUCT, SUM, CodeExpression, Writes, template

Rule: TypeAlias = Callable[[Writes, Term], CodeExpression]


def expression(
    text: str, axes: tuple[str, ...], operations: int, level: int = ATOM, integer: bool = False
) -> CodeExpression:
    return CodeExpression(text, axes, level, operations, integer)


# ------------------------------------------------------------------------------------------------------------- leaves
def input_code(w: Writes, term: Term) -> CodeExpression:
    return expression(w.inputs[str(term.options[-1])], tuple(term.shape), 0)


def number(w: Writes, term: Term) -> CodeExpression:
    value: Any = term.number
    if isinstance(value, bool):
        return expression(str(value), (), 0)
    if math.isinf(value) or math.isnan(value):
        name = "nan" if math.isnan(value) else "inf"
        return expression(f"{'-' * (value < 0)}{w.library.prefix}.{name}", (), 0, ATOM if value > 0 else PRODUCT)
    root = root_of_a_size(term.node, value)
    if root is not None:
        text = f"{w.library.prefix}.sqrt({root})" if w.library.prefix != "torch" else f"{root}**0.5"
        return expression(text, (), 0, ATOM if w.library.prefix != "torch" else PRODUCT)
    text = repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
    return expression(text, (), 0, ATOM if value >= 0 else PRODUCT)


def root_of_a_size(node: Any, value: float) -> int | None:
    """n of √|ax|, so that the code shows which root it is."""
    if isinstance(node, nodes.Call) and node.operator == "sqrt" and isinstance(node.arguments[0], nodes.Size):
        return round(value**2)
    return None


def iota(w: Writes, term: Term) -> CodeExpression:
    first, size = (
        (*term.options, *term.shape.values())[:2]
        if len(term.options) > 1
        else (1, next(iter(resolved_shape(term.shape).values())))
    )
    return expression(f"{w.library.prefix}.arange({first}, {first + size})", tuple(term.shape), 0, integer=True)


def identity(w: Writes, term: Term) -> CodeExpression:
    return expression(w.call(term, "eye", str(next(iter(resolved_shape(term.shape).values())))), tuple(term.shape), 0)


def ones(w: Writes, term: Term) -> CodeExpression:
    return expression(
        f"{w.library.prefix}.ones({next(iter(resolved_shape(term.shape).values()))})", tuple(term.shape), 0
    )


def constant(w: Writes, term: Term) -> CodeExpression:
    axes, extents, numbers = term.options

    def nested(values: Any, sizes: Any) -> Any:
        if not sizes:
            return values[0]
        step = len(values) // sizes[0]
        return [nested(values[at * step : (at + 1) * step], sizes[1:]) for at in range(sizes[0])]

    integer = all(isinstance(value, int) for value in numbers)
    return expression(
        w.call(term, "array", repr(nested(list(numbers), list(extents)))), tuple(axes), 0, integer=integer
    )


# ------------------------------------------------------------------------------------------------------------- elements
def order_of(codes: tuple[CodeExpression, ...]) -> tuple[str, ...]:
    """The order of the result's axes: that of the operand with the most, after the axes of the others only."""
    longest = max(codes, key=lambda code: len(code.axes))
    others = [axis for code in codes for axis in code.axes if axis not in longest.axes]
    return (*dict.fromkeys(others), *longest.axes)


def total(*codes: CodeExpression) -> int:
    return 1 + sum(code.operations for code in codes)


def infix(w: Writes, term: Term) -> CodeExpression:
    sign = INFIX["⊙" if term.operator in ("juxtaposed", "dot") else term.operator]
    first, second = w.code(term.arguments[0]), w.code(term.arguments[1])
    order = order_of((first, second))
    if sign.sign in ("&", "|"):
        left, right = w.arranged(first, order, sign.left), w.arranged(second, order, sign.right)
    else:
        left, right = w.arranged(first, order, sign.left), w.arranged(second, order, sign.right)
    return expression(
        f"{left} {sign.sign} {right}" if sign.sign != "**" else f"{left}**{right}",
        order,
        total(first, second),
        sign.level,
        first.integer and second.integer and sign.sign not in "/**",
    )


def elementwise(w: Writes, term: Term) -> CodeExpression:
    text = template(w.library, term.operator)
    repeated = text is not None and any(text.count(f"{{{index}}}") > 1 for index in range(3))
    codes = tuple(w.code(argument, 0 if repeated else 3) for argument in term.arguments)
    order = order_of(codes)
    operands = [w.arranged(code, order, ATOM if repeated or term.operator in ("logsigmoid",) else 0) for code in codes]
    level = PRODUCT if repeated or (text or "").startswith("-") else ATOM
    return expression(w.call(term, term.operator, *operands), order, total(*codes), level)


def negative(w: Writes, term: Term) -> CodeExpression:
    code = w.code(term.arguments[0])
    return expression(f"-{code.within(PRODUCT)}", code.axes, total(code), PRODUCT, code.integer)


def negation(w: Writes, term: Term) -> CodeExpression:
    code = w.code(term.arguments[0])
    return expression(f"~{code.within(ATOM)}", code.axes, total(code), PRODUCT)


def indicator(w: Writes, term: Term) -> CodeExpression:
    code = w.code(term.arguments[0])
    if not code.axes and code.operations == 0:
        return expression(f"float({code.text})", (), 1)
    return expression(w.call(term, "float", code.within(ATOM)), code.axes, total(code))


def where(w: Writes, term: Term) -> CodeExpression:
    return chosen(w, term, [(w.code(term.arguments[1]), w.code(term.arguments[0]))], w.code(term.arguments[2]))


def cases(w: Writes, term: Term) -> CodeExpression:
    codes = [w.code(argument) for argument in term.arguments]
    last = codes.pop() if len(codes) % 2 else expression(f"{w.library.prefix}.nan", (), 0)
    return chosen(w, term, list(zip(codes[::2], codes[1::2])), last)


def chosen(
    w: Writes, term: Term, branches: list[tuple[CodeExpression, CodeExpression]], last: CodeExpression
) -> CodeExpression:
    """Nested calls of where: (value, condition) in turn, then the last value."""
    for value, condition in reversed(branches):
        order = order_of((condition, value, last))
        if not condition.axes:
            raise w.unreadable(term, "a condition on a plain number has no readable form")
        operands = (w.arranged(code, order) for code in (condition, value, last))
        last = expression(w.call(term, "where", *operands), order, total(condition, value, last))
    return last


# -------------------------------------------------------------------------------------------------- axes moved and named
def through(w: Writes, term: Term) -> CodeExpression:
    return w.code(term.arguments[0])


def renamed(w: Writes, term: Term) -> CodeExpression:
    code, new = w.code(term.arguments[0]), dict(term.options)
    return expression(
        code.text, tuple(new.get(axis, axis) for axis in code.axes), code.operations, code.level, code.integer
    )


def whole(w: Writes, term: Term, code: CodeExpression) -> CodeExpression:
    """An expression with every axis of its term."""
    if {*code.axes} == {*term.shape}:
        return code
    order = (*(axis for axis in term.shape if axis not in code.axes), *code.axes)
    return expression(w.broadcast(code, order, term.shape), order, total(code), integer=code.integer)


def operand(w: Writes, term: Term, limit: int = 3) -> CodeExpression:
    argument = term.arguments[0]
    return whole(w, argument, w.code(argument, limit))


def picked(w: Writes, term: Term) -> CodeExpression:
    """X[1, 2]: what is picked of what was picked is one index."""
    picks: dict[str, int] = {}
    tensor = term
    while tensor.operator == "pick" and (tensor is term or not w.has_a_name(tensor)):
        axis, index = tensor.options
        picks[axis] = index
        tensor = tensor.arguments[0]
    code = whole(w, tensor, w.code(tensor))
    words = [str(picks.get(axis, ":")) for axis in code.axes]
    while words[-1] == ":":
        words.pop()
    rest = tuple(axis for axis in code.axes if axis not in picks)
    return expression(f"{code.within(ATOM)}[{', '.join(words)}]", rest, total(code), integer=code.integer)


def merged(w: Writes, term: Term) -> CodeExpression:
    old, new = term.options
    code = operand(w, term)
    names = [axis for axis in code.axes if axis not in old or axis == old[0]]
    order = [name for axis in names for name in (old if axis == old[0] else (axis,))]
    axes = tuple(new if axis == old[0] else axis for axis in names)
    shape = resolved_shape(term.shape)
    sizes = ", ".join(str(shape[axis]) for axis in axes)
    return expression(f"{w.arranged(code, order, ATOM)}.reshape({sizes})", axes, total(code), integer=code.integer)


def split(w: Writes, term: Term) -> CodeExpression:
    old, parts = term.options
    code = operand(w, term)
    axes = tuple(name for axis in code.axes for name in ([name for name, _ in parts] if axis == old else [axis]))
    shape = resolved_shape(term.shape)
    sizes = ", ".join(str(shape[axis]) for axis in axes)
    return expression(f"{code.within(ATOM)}.reshape({sizes})", axes, total(code), integer=code.integer)


def indexed(w: Writes, term: Term) -> CodeExpression:
    tensor, index = operand(w, term), w.code(term.arguments[1])
    (axis,) = term.axes
    position = tensor.axes.index(axis)
    if {*index.axes} & ({*tensor.axes} - {axis}):
        raise w.unreadable(term, "an index that shares an axis with its tensor has no readable form")
    axes = (*tensor.axes[:position], *index.axes, *tensor.axes[position + 1 :])
    where = f"{index.within(SUM)} - 1"
    return expression(
        f"{tensor.within(ATOM)}[{':, ' * position}{where}]", axes, total(tensor, index), integer=tensor.integer
    )


def onehot(w: Writes, term: Term) -> CodeExpression:
    code, (axis,) = w.code(term.arguments[0]), term.axes
    size = resolved_shape(term.shape)[axis]
    column = w.arranged(code, (*code.axes, axis), SUM) if code.axes else code.text
    text = w.call(term, "float", f"({column} == {w.library.prefix}.arange(1, {size + 1}))")
    return expression(text, (*code.axes, axis), total(code))


def joined(w: Writes, term: Term) -> CodeExpression:
    codes = [whole(w, argument, w.code(argument)) for argument in term.arguments]
    (axis,) = term.axes
    others = {name for code in codes for name in code.axes if name != axis}
    if any({*code.axes} - {axis} != others for code in codes):
        raise w.unreadable(term, "tensors of different axes that are joined have no readable form")
    order = codes[0].axes
    text = ", ".join(w.arranged(code, order) for code in codes)
    return expression(w.call(term, "concatenate", text, axis=order.index(axis)), order, total(*codes))


def windows(w: Writes, term: Term) -> CodeExpression:
    code = operand(w, term)
    axis, kernel = term.axes
    size, count = resolved_shape(term.shape)[kernel], resolved_shape(term.shape)[axis]
    position = code.axes.index(axis)
    prefix = w.library.prefix
    if prefix == "np":
        return expression(
            w.call(term, "windows", code.text, size=size, axis=position), (*code.axes, kernel), total(code)
        )
    if prefix == "torch":
        return expression(f"{code.within(ATOM)}.unfold({position}, {size}, 1)", (*code.axes, kernel), total(code))
    at = f"{prefix}.arange({count})[:, None] + {prefix}.arange({size})"
    axes = (*code.axes[: position + 1], kernel, *code.axes[position + 1 :])
    return expression(f"{code.within(ATOM)}[{':, ' * position}{at}]", axes, total(code))


def blocks(w: Writes, term: Term) -> CodeExpression:
    code = operand(w, term)
    axis, kernel = term.axes
    shape = resolved_shape(term.shape)
    position = code.axes.index(axis)
    axes = (*code.axes[: position + 1], kernel, *code.axes[position + 1 :])
    return expression(f"{code.within(ATOM)}.reshape({', '.join(str(shape[name]) for name in axes)})", axes, total(code))
