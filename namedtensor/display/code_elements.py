"""How numbers, elementwise operators, and moved, indexed and joined axes are written as array expressions; see `code`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from grammar import nodes

from ..operators import REGISTRY
from ..terms.terms import Term, resolved_shape
from .code_arrays import ArrayWriter
from .code_libraries import ATOM, POWER, PRODUCT, SUM, CodeExpression, repeats, template
from .code_writer import Writer

Rule: TypeAlias = Callable[[ArrayWriter, Term], CodeExpression]


# ------------------------------------------------------------------------------------------------------------- leaves
def number(w: Writer, term: Term) -> CodeExpression:
    value: Any = term.number
    if isinstance(value, bool):
        return CodeExpression(str(value), ())
    if math.isinf(value) or math.isnan(value):
        name = "nan" if math.isnan(value) else "inf"
        return CodeExpression(f"{'-' * (value < 0)}{w.library.prefix}.{name}", (), ATOM if value > 0 else PRODUCT)
    root = root_of_a_size(term.node, value)
    if root is not None:
        has_function = w.library.prefix in ("jnp", "math")  # NumPy returns a 64-bit number, PyTorch accepts tensors
        text = f"{w.library.prefix}.sqrt({root})" if has_function else f"{root}**0.5"
        return CodeExpression(text, (), ATOM if has_function else POWER)
    integer = value == int(value) and abs(value) < 1e15
    return CodeExpression(
        repr(int(value) if integer else float(value)), (), ATOM if value >= 0 else PRODUCT, integer=integer
    )


def parameter(term: Term, default: Any = None) -> Any:
    """The option of an operator that has one, such as the p of a norm."""
    options = {**dict(REGISTRY[term.operator].options), **dict(term.options)}
    return next(iter(options.values()), default)


def root_of_a_size(node: Any, value: float) -> int | None:
    """n of √|ax|, so that the code shows which root it is."""
    if isinstance(node, nodes.Call) and node.operator == "sqrt" and isinstance(node.arguments[0], nodes.Size):
        return round(value**2)
    return None


def first_of(term: Term) -> int:
    """The first number of iota."""
    return term.options[0] if len(term.options) > 1 else 1


def size_of(term: Term) -> int:
    return next(iter(resolved_shape(term.shape).values()))


def iota(w: ArrayWriter, term: Term) -> CodeExpression:
    text = f"{w.library.prefix}.arange({first_of(term)}, {first_of(term) + size_of(term)})"
    return CodeExpression(text, tuple(term.shape), integer=True)


def size_rule(name: str) -> Rule:
    """Return the rule of a constant array that its size specifies."""
    return lambda w, term: CodeExpression(w.call(term, name, str(size_of(term))), tuple(term.shape))


def nested_numbers(term: Term) -> Any:
    """The numbers of a constant as nested lists."""
    _, extents, numbers = term.options

    def nested(values: Any, sizes: Any) -> Any:
        if not sizes:
            return values[0]
        step = len(values) // sizes[0]
        return [nested(values[at * step : (at + 1) * step], sizes[1:]) for at in range(sizes[0])]

    return nested(list(numbers), list(extents))


def constant(w: ArrayWriter, term: Term) -> CodeExpression:
    axes, _, numbers = term.options
    numbers_text, integer = repr(nested_numbers(term)), all(isinstance(value, int) for value in numbers)
    text = (
        f"{w.library.prefix}.array({numbers_text})" if w.library.prefix != "torch" else f"torch.tensor({numbers_text})"
    )
    return CodeExpression(text if integer else w.call(term, "array", numbers_text), tuple(axes), integer=integer)


# ------------------------------------------------------------------------------------------------------------- elements
def order_of(codes: tuple[CodeExpression, ...]) -> tuple[str, ...]:
    """The order of the result's axes: that of the operand with the most, after the axes of the others only."""
    longest = max(codes, key=lambda code: len(code.axes))
    others = [axis for code in codes for axis in code.axes if axis not in longest.axes]
    return (*dict.fromkeys(others), *longest.axes)


def infix(w: Writer, term: Term) -> CodeExpression:
    sign = w.library.signs["⊙" if term.operator in ("juxtaposed", "dot") else term.operator]
    first, second = w.code(term.arguments[0]), w.code(term.arguments[1])
    integer = first.integer and second.integer and term.operator not in "/^"
    if not integer and sign.level >= SUM:
        first, second = w.real(first), w.real(second)
    order = order_of((first, second))
    left, right = w.arranged(first, order, sign.left), w.arranged(second, order, sign.right)
    return CodeExpression(f"{left}{sign.sign}{right}", order, sign.level, integer)


def elementwise(w: Writer, term: Term) -> CodeExpression:
    text = template(w.library, term.operator)
    repeated = repeats(w.library, term.operator)
    codes = tuple(w.real(w.code(argument)) for argument in term.arguments)
    order = order_of(codes)
    inside = ATOM if repeated or term.operator in ("logsigmoid", "factorial") else 0
    operands = [w.arranged(code, order, inside) for code in codes]
    level = PRODUCT if repeated or (text or "").startswith("-") else ATOM
    return CodeExpression(w.call(term, term.operator, *operands), order, level)


def negative(w: Writer, term: Term) -> CodeExpression:
    code = w.code(term.arguments[0])
    return CodeExpression(f"-{code.within(PRODUCT)}", code.axes, PRODUCT, code.integer)


def negation(w: ArrayWriter, term: Term) -> CodeExpression:
    code = w.code(term.arguments[0])
    return CodeExpression(f"~{code.within(ATOM)}", code.axes, PRODUCT)


def indicator(w: ArrayWriter, term: Term) -> CodeExpression:
    code = w.code(term.arguments[0])
    if term.arguments[0].number is not None:
        return CodeExpression(f"float({code.text})")
    return CodeExpression(w.call(term, "float", code.within(ATOM)), code.axes)


def branches(w: Writer, term: Term) -> tuple[list[tuple[CodeExpression, CodeExpression]], CodeExpression]:
    """The values and conditions of cases in turn, and the last value."""
    arguments = [*term.arguments]
    if term.operator == "where":
        arguments[:2] = reversed(arguments[:2])
    codes = [w.code(argument) for argument in arguments]
    last = codes.pop() if len(codes) % 2 else CodeExpression(f"{w.library.prefix}.nan")
    return list(zip(codes[::2], codes[1::2])), last


def cases(w: ArrayWriter, term: Term) -> CodeExpression:
    """Nested calls of where."""
    pairs, last = branches(w, term)
    values = [*(value for value, _ in pairs), last]
    if not all(value.integer for value in values):
        pairs, last = [(w.real(value), condition) for value, condition in pairs], w.real(last)
        if not any(value.axes for value in values):  # plain numbers alone would have the dtype of the library
            last = CodeExpression(w.call(term, "array", last.text))
    for value, condition in reversed(pairs):
        order = order_of((condition, value, last))
        if not condition.axes:
            raise w.unreadable(term, "a condition on a plain number has no readable form")
        operands = (w.arranged(code, order) for code in (condition, value, last))
        last = CodeExpression(w.call(term, "where", *operands), order)
    return last


# -------------------------------------------------------------------------------------------------- axes moved and named
def through(w: Writer, term: Term) -> CodeExpression:
    return w.code(term.arguments[0])


def renamed(w: ArrayWriter, term: Term) -> CodeExpression:
    code, new = w.code(term.arguments[0]), dict(term.options)
    return CodeExpression(code.text, tuple(new.get(axis, axis) for axis in code.axes), code.level, code.integer)


def whole(w: ArrayWriter, term: Term, code: CodeExpression) -> CodeExpression:
    """An expression with every axis of its term."""
    if {*code.axes} == {*term.shape}:
        return code
    order = (*(axis for axis in term.shape if axis not in code.axes), *code.axes)
    return CodeExpression(w.broadcast(code, order, term.shape), order, integer=code.integer)


def operand(w: ArrayWriter, term: Term) -> CodeExpression:
    argument = term.arguments[0]
    return whole(w, argument, w.code(argument))


def picked(w: ArrayWriter, term: Term) -> CodeExpression:
    """X[1, 2]: what is picked of what was picked is one index."""
    picks: dict[str, int] = {}
    tensor = term
    while tensor.operator == "pick" and (tensor is term or not w.has_a_line(tensor)):
        axis, index = tensor.options
        picks[axis] = index
        tensor = tensor.arguments[0]
    code = whole(w, tensor, w.code(tensor))
    words = [str(picks.get(axis, ":")) for axis in code.axes]
    while words[-1] == ":":
        words.pop()
    rest = tuple(axis for axis in code.axes if axis not in picks)
    return CodeExpression(f"{code.within(ATOM)}[{', '.join(words)}]", rest, integer=code.integer)


def merged(w: ArrayWriter, term: Term) -> CodeExpression:
    old, new = term.options
    code = operand(w, term)
    names = [axis for axis in code.axes if axis not in old or axis == old[0]]
    order = [name for axis in names for name in (old if axis == old[0] else (axis,))]
    axes = tuple(new if axis == old[0] else axis for axis in names)
    shape = resolved_shape(term.shape)
    sizes = ", ".join(str(shape[axis]) for axis in axes)
    return CodeExpression(f"{w.arranged(code, order, ATOM)}.reshape({sizes})", axes, integer=code.integer)


def split(w: ArrayWriter, term: Term) -> CodeExpression:
    old, parts = term.options
    code = operand(w, term)
    axes = tuple(name for axis in code.axes for name in ([name for name, _ in parts] if axis == old else [axis]))
    shape = resolved_shape(term.shape)
    sizes = ", ".join(str(shape[axis]) for axis in axes)
    return CodeExpression(f"{code.within(ATOM)}.reshape({sizes})", axes, integer=code.integer)


def indexed(w: ArrayWriter, term: Term) -> CodeExpression:
    tensor, index = operand(w, term), w.code(term.arguments[1])
    (axis,) = term.axes
    position = tensor.axes.index(axis)
    if {*index.axes} & ({*tensor.axes} - {axis}):
        raise w.unreadable(term, "an index that shares an axis with its tensor has no readable form")
    axes = (*tensor.axes[:position], *index.axes, *tensor.axes[position + 1 :])
    where = f"{index.within(SUM)} - 1"
    return CodeExpression(f"{tensor.within(ATOM)}[{':, ' * position}{where}]", axes, integer=tensor.integer)


def onehot(w: ArrayWriter, term: Term) -> CodeExpression:
    code, (axis,) = w.code(term.arguments[0]), term.axes
    size = resolved_shape(term.shape)[axis]
    column = w.arranged(code, (*code.axes, axis), SUM) if code.axes else code.text
    text = w.call(term, "float", f"({column} == {w.library.prefix}.arange(1, {size + 1}))")
    return CodeExpression(text, (*code.axes, axis))


def joined(w: ArrayWriter, term: Term) -> CodeExpression:
    codes = [whole(w, argument, w.code(argument)) for argument in term.arguments]
    (axis,) = term.axes
    others = {name for code in codes for name in code.axes if name != axis}
    if any({*code.axes} - {axis} != others for code in codes):
        raise w.unreadable(term, "tensors of different axes that are joined have no readable form")
    order = codes[0].axes
    text = ", ".join(w.arranged(code, order) for code in codes)
    return CodeExpression(w.call(term, "concatenate", text, axis=order.index(axis)), order)


def windows(w: ArrayWriter, term: Term) -> CodeExpression:
    code = operand(w, term)
    axis, kernel = term.axes
    size, count = resolved_shape(term.shape)[kernel], resolved_shape(term.shape)[axis]
    position = code.axes.index(axis)
    prefix = w.library.prefix
    if prefix != "jnp":
        text = w.call(term, "windows", code.text, code.within(ATOM), size=size, place=position)
        return CodeExpression(text, (*code.axes, kernel))
    at = f"{prefix}.arange({count})[:, None] + {prefix}.arange({size})"
    axes = (*code.axes[: position + 1], kernel, *code.axes[position + 1 :])
    return CodeExpression(f"{code.within(ATOM)}[{':, ' * position}{at}]", axes)


def blocks(w: ArrayWriter, term: Term) -> CodeExpression:
    code = operand(w, term)
    axis, kernel = term.axes
    shape = resolved_shape(term.shape)
    position = code.axes.index(axis)
    axes = (*code.axes[: position + 1], kernel, *code.axes[position + 1 :])
    return CodeExpression(f"{code.within(ATOM)}.reshape({', '.join(str(shape[name]) for name in axes)})", axes)
