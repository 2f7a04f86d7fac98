"""Array expressions of numbers, elementwise operators, and moved, indexed and joined axes. See `code`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from grammar import nodes

from ..operators import REGISTRY
from ..terms.terms import Term, resolve_shape
from .code_arrays import ArrayWriter
from .code_libraries import ATOM, POWER, PRODUCT, SUM, CodeExpression
from .code_writer import Writer

Rule: TypeAlias = Callable[[ArrayWriter, Term], CodeExpression]


# ------------------------------------------------------------------------------------------------------------- leaves
def number(w: Writer, term: Term) -> CodeExpression:
    value: Any = term.number
    if isinstance(value, bool):
        return CodeExpression(str(value))
    if math.isinf(value) or math.isnan(value):
        name = "nan" if math.isnan(value) else "inf"
        return CodeExpression(f"{'-' * (value < 0)}{w.library.prefix}.{name}", (), ATOM if value > 0 else PRODUCT)
    node = term.node
    if isinstance(node, nodes.Call) and node.operator == "sqrt" and isinstance(node.arguments[0], nodes.Size):
        size = round(value**2)  # for √|ax|: the code then shows the root of the size
        if w.library.prefix in ("jnp", "math"):
            return CodeExpression(f"{w.library.prefix}.sqrt({size})")
        return CodeExpression(f"{size}**0.5", (), POWER)  # NumPy returns a 64-bit number, PyTorch accepts tensors
    integer = value == int(value) and abs(value) < 1e15
    text = repr(int(value) if integer else float(value))
    return CodeExpression(text, (), ATOM if value >= 0 else PRODUCT, integer)


def parameter(term: Term, default: Any = None) -> Any:
    """Return the value of an operator's first option, such as p for a norm, or the default."""
    options = {**dict(REGISTRY[term.operator].options), **dict(term.options)}
    return next(iter(options.values()), default)


def first_of(term: Term) -> int:
    """Return the first element of an iota term."""
    return term.options[0] if len(term.options) > 1 else 1


def size_of(term: Term) -> int:
    return next(iter(resolve_shape(term.shape).values()))


def iota(w: ArrayWriter, term: Term) -> CodeExpression:
    text = f"{w.library.prefix}.arange({first_of(term)}, {first_of(term) + size_of(term)})"
    return CodeExpression(text, tuple(term.shape), integer=True)


def size_rule(name: str) -> Rule:
    """Return the rule that writes a constant array by calling the function `name` with the array's size."""
    return lambda w, term: w.call(term, name, tuple(term.shape), str(size_of(term)))


def nest_numbers(term: Term) -> Any:
    """Return the elements of a constant term as nested lists."""
    _, extents, numbers = term.options

    def nested(values: Any, sizes: Any) -> Any:
        if not sizes:
            return values[0]
        step = len(values) // sizes[0]
        return [nested(values[at * step : (at + 1) * step], sizes[1:]) for at in range(sizes[0])]

    return nested(list(numbers), list(extents))


def constant(w: ArrayWriter, term: Term) -> CodeExpression:
    axes, _, numbers = term.options
    text, prefix = repr(nest_numbers(term)), w.library.prefix
    if all(isinstance(value, int) for value in numbers):
        return CodeExpression(f"{prefix}.{'tensor' if prefix == 'torch' else 'array'}({text})", axes, integer=True)
    return w.call(term, "array", axes, text)


# ------------------------------------------------------------------------------------------------------------- elements
def order_of(codes: Sequence[CodeExpression]) -> tuple[str, ...]:
    """Return an order for the axes of a result. It ends with the axes of the operand that has the most axes."""
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
    left, right = w.arranged(first, order).within(sign.left), w.arranged(second, order).within(sign.right)
    return CodeExpression(f"{left}{sign.sign}{right}", order, sign.level, integer)


def elementwise(w: Writer, term: Term) -> CodeExpression:
    return call_of(w, term, term.operator, [w.real(w.code(argument)) for argument in term.arguments])


def call_of(w: Writer, term: Term, name: str, codes: Sequence[CodeExpression], integer: bool = False) -> CodeExpression:
    """Return a call of an operator, with the axes of its operands aligned."""
    order = order_of(codes)
    return w.call(term, name, order, *(w.arranged(code, order) for code in codes), integer=integer)


def negative(w: Writer, term: Term) -> CodeExpression:
    code = w.code(term.arguments[0])
    return CodeExpression(f"-{code:product}", code.axes, PRODUCT, code.integer)


def negation(w: ArrayWriter, term: Term) -> CodeExpression:
    code = w.code(term.arguments[0])
    return CodeExpression(f"~{code:atom}", code.axes, PRODUCT)


def indicator(w: ArrayWriter, term: Term) -> CodeExpression:
    code = w.code(term.arguments[0])
    if term.arguments[0].number is not None:
        return CodeExpression(f"float({code})")
    return w.call(term, "float", code.axes, code)


def branches(w: Writer, term: Term) -> tuple[list[tuple[CodeExpression, CodeExpression]], CodeExpression]:
    """Return the branches of a cases term as pairs of a value and a condition, and the value if no condition holds."""
    arguments = [*term.arguments]
    if term.operator == "where":
        arguments[:2] = reversed(arguments[:2])
    codes = [w.code(argument) for argument in arguments]
    last = codes.pop() if len(codes) % 2 else CodeExpression(f"{w.library.prefix}.nan")
    return list(zip(codes[::2], codes[1::2])), last


def cases(w: ArrayWriter, term: Term) -> CodeExpression:
    """Return the code of a cases term, which consists of nested calls of `where`."""
    pairs, last = branches(w, term)
    values = [*(value for value, _ in pairs), last]
    if not all(value.integer for value in values):
        pairs, last = [(w.real(value), condition) for value, condition in pairs], w.real(last)
        if not any(value.axes for value in values):  # plain numbers alone would have the dtype of the library
            last = w.call(term, "array", (), last)
    for value, condition in reversed(pairs):
        if not condition.axes:
            raise w.unreadable(term, "a condition on a plain number has no readable form")
        last = call_of(w, term, "where", (condition, value, last))
    return last


# -------------------------------------------------------------------------------------------------- axes moved and named
def through(w: Writer, term: Term) -> CodeExpression:
    return w.code(term.arguments[0])


def write_rename(w: ArrayWriter, term: Term) -> CodeExpression:
    code, new = w.code(term.arguments[0]), dict(term.options)
    return CodeExpression(code.text, tuple(new.get(axis, axis) for axis in code.axes), code.level, code.integer)


def whole(w: ArrayWriter, term: Term) -> CodeExpression:
    """Return the expression of a term, repeated along the axes that the expression lacks."""
    code = w.code(term)
    if {*code.axes} == {*term.shape}:
        return code
    order = (*(axis for axis in term.shape if axis not in code.axes), *code.axes)
    return CodeExpression(w.broadcast(code, order, term.shape), order, integer=code.integer)


def operand(w: ArrayWriter, term: Term) -> CodeExpression:
    return whole(w, term.arguments[0])


def write_pick(w: ArrayWriter, term: Term) -> CodeExpression:
    """Return an indexing expression such as X[1, 2]. Nested indexing is merged into one index."""
    picks: dict[str, int] = {}
    tensor = term
    while tensor.operator == "pick" and (tensor is term or not w.has_a_line(tensor)):
        axis, index = tensor.options
        picks[axis] = index
        tensor = tensor.arguments[0]
    code = whole(w, tensor)
    words = [str(picks.get(axis, ":")) for axis in code.axes]
    while words[-1] == ":":
        words.pop()
    rest = tuple(axis for axis in code.axes if axis not in picks)
    return CodeExpression(f"{code:atom}[{', '.join(words)}]", rest, integer=code.integer)


def reshape(term: Term, code: CodeExpression, axes: Sequence[str]) -> CodeExpression:
    shape = resolve_shape(term.shape)
    sizes = ", ".join(str(shape[axis]) for axis in axes)
    return CodeExpression(f"{code:atom}.reshape({sizes})", tuple(axes), integer=code.integer)


def write_merge(w: ArrayWriter, term: Term) -> CodeExpression:
    old, new = term.options
    code = operand(w, term)
    names = [axis for axis in code.axes if axis not in old or axis == old[0]]
    order = [name for axis in names for name in (old if axis == old[0] else (axis,))]
    axes = [new if axis == old[0] else axis for axis in names]
    return reshape(term, w.arranged(code, order), axes)


def split(w: ArrayWriter, term: Term) -> CodeExpression:
    old, parts = term.options
    code = operand(w, term)
    return reshape(term, code, with_parts(code, old, [name for name, _ in parts]))


def blocks(w: ArrayWriter, term: Term) -> CodeExpression:
    code = operand(w, term)
    return reshape(term, code, with_parts(code, term.axes[0], term.axes))


def with_parts(code: CodeExpression, axis: str, parts: Sequence[str]) -> list[str]:
    """Return the axes of an expression, with one axis replaced by several axes."""
    return [name for other in code.axes for name in (parts if other == axis else (other,))]


def write_index(w: ArrayWriter, term: Term) -> CodeExpression:
    tensor, index = operand(w, term), w.code(term.arguments[1])
    (axis,) = term.axes
    if {*index.axes} & ({*tensor.axes} - {axis}):
        raise w.unreadable(term, "an index that shares an axis with its tensor has no readable form")
    return take(tensor, axis, CodeExpression(f"{index:sum} - 1", index.axes), tensor.integer)


def take(tensor: CodeExpression, axis: str, index: CodeExpression, integer: bool = False) -> CodeExpression:
    """Return an expression for the elements of a tensor that an index selects along an axis."""
    before = ":, " * tensor.axes.index(axis)
    return CodeExpression(
        f"{tensor:atom}[{before}{index}]", tuple(with_parts(tensor, axis, index.axes)), integer=integer
    )


def onehot(w: ArrayWriter, term: Term) -> CodeExpression:
    code, (axis,) = w.code(term.arguments[0]), term.axes
    axes, size = (*code.axes, axis), resolve_shape(term.shape)[axis]
    column = f"{w.arranged(code, axes):sum}" if code.axes else code.text
    return w.call(term, "float", axes, f"({column} == {w.library.prefix}.arange(1, {size + 1}))")


def write_concatenation(w: ArrayWriter, term: Term) -> CodeExpression:
    codes = [whole(w, argument) for argument in term.arguments]
    (axis,) = term.axes
    others = {name for code in codes for name in code.axes if name != axis}
    if any({*code.axes} - {axis} != others for code in codes):
        raise w.unreadable(term, "tensors of different axes that are joined have no readable form")
    order = codes[0].axes
    text = ", ".join(f"{w.arranged(code, order)}" for code in codes)
    return w.call(term, "concatenate", order, text, axis=order.index(axis))


def windows(w: ArrayWriter, term: Term) -> CodeExpression:
    code, (axis, kernel), prefix = operand(w, term), term.axes, w.library.prefix
    size, count = resolve_shape(term.shape)[kernel], resolve_shape(term.shape)[axis]
    if prefix == "jnp":
        at = CodeExpression(f"{prefix}.arange({count})[:, None] + {prefix}.arange({size})", (axis, kernel))
        return take(code, axis, at)
    return w.call(term, "windows", (*code.axes, kernel), code, size=size, place=code.axes.index(axis))
