"""Named shapes and the lifting rule.

A shape is a dict from axis names to sizes. Its order has no meaning. A signature specifies the axes of each argument
and of the result. Lifting removes the signature's axes from each argument, takes the union of the remaining axes, and
adds the result axes. It fails if a remaining axis has the name of a result axis (paper §3, definitions of unary and
binary lifting).

    softmax : ax… -> ax…      on {seq: 4, batch: 2} over seq           returns {batch: 2, seq: 4}
    ⊙       : ax…, ax… ->     on {key, seq'} and {key, seq} over key   returns {seq', seq}

A size is an int, an `Extent` from `core.extents`, or, during a check without values, a `SizeVariable` from
`core.sizes`. The function `unify` decides whether two sizes are equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Protocol

from grammar.errors import NotationError
from grammar.folding import fold
from grammar.plain_text import encodable
from grammar.text_tables import ACCENT

from .extents import format_size, is_size_of

Shape = Mapping[str, Any]
Order = tuple[str, ...]  # Axes in storage order.


class AxisSignature(NamedTuple):
    """A parsed signature: the axes of the arguments and the result.

    `formals` lists the axes that each use must name. If `variadic` is true, the only formal represents any number of
    axes.
    """

    inputs: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]
    formals: tuple[str, ...]
    variadic: bool


@lru_cache(maxsize=1024)
def signature(text: str) -> AxisSignature:
    """Parse a signature in the paper's form.

    >>> signature("seq -> seq kernel")
    AxisSignature(inputs=(('seq',),), output=('seq', 'kernel'), formals=('seq', 'kernel'), variadic=False)
    >>> signature("ax…, ax… ->").inputs
    (('ax',), ('ax',))
    """
    left, _, right = text.partition("->")
    variadic = "…" in text
    inputs = tuple(tuple(part.replace("…", "").split()) for part in left.split(","))
    output = tuple(right.replace("…", "").split())
    formals: dict[str, None] = {}
    for group in (*inputs, output):
        formals.update(dict.fromkeys(group))
    return AxisSignature(inputs, output, tuple(formals), variadic)


Mismatch = Literal["missing", "sizes", "clash", "repeated", "number", "arity", "whole", "other"]


class ShapeMismatchError(Exception):
    """A shape mismatch. Callers that know the operands' names convert it to a NotationError.

    `kind` is one of these strings:

    missing    an argument lacks an axis
    sizes      an axis has two sizes
    clash      an extra axis has the name of a result axis
    repeated   an axis is named twice
    number     the number of axes is wrong
    arity      the number of arguments is wrong
    whole      a size is not an integer
    other      `detail` describes the mismatch
    """

    def __init__(self, kind: Mismatch, axis: str = "", argument: int = 0, detail: Any = None):
        super().__init__(kind, axis, argument, detail)
        self.kind: Mismatch = kind
        self.axis: str = axis
        self.argument: int = argument
        self.detail: Any = detail


SIGNS = {"juxtaposed": "the product", "negative": "−", "-": "−"}
SAME_SIZES = "rename one of the two axes, or pass tensors of the same size"
NAME_ONCE = "name each axis once"


class Operands(Protocol):
    """An interface for callers to describe their operands in error messages."""

    @property
    def word(self) -> str: ...

    def lacking(self) -> str:
        """Return a phrase that lists the operands that lack the axis."""
        ...

    def sizes(self) -> tuple[str, str]:
        """Return two phrases. Each phrase gives a size of the axis and names the operands with this size."""
        ...


def code_and_message(
    problem: ShapeMismatchError, sign: str, axes: Sequence[str], operands: Operands
) -> tuple[int, str]:
    """Return the error code and the message for a mismatch."""
    axis, use = problem.axis, sign + (f"_{{{', '.join(axes)}}}" if axes else "")
    match problem.kind:
        case "missing":
            return 301, f"{use} needs axis {axis}, missing from {operands.lacking()}"
        case "sizes":
            first, second = operands.sizes()
            return 302, f"axis {axis.partition('@')[0]} has size {first} and size {second}"
        case "clash":
            return 306, f"{use} returns axis {axis}, but its operand already has an axis {axis}"
        case "repeated":
            return 303, f"axis {axis} is named twice"
        case "arity":
            expected, got = problem.detail
            return 304, f"{use} expects {expected} {operands.word}{'' if str(expected) == '1' else 's'}, got {got}"
        case "number":
            expected, got = problem.detail
            return 316, f"{sign} expects {expected or 'no'} {'axis' if expected == 1 else 'axes'}, got {got}"
        case "whole":
            return 310, str(problem.detail)
        case _:
            return 308, str(problem.detail)


def operator_sign(operator: str) -> str:
    """Return the sign of an operator for messages."""
    return SIGNS.get(operator, operator)


def same(left: Any, right: Any) -> bool:
    """Return whether two known sizes are equal."""
    return left == right


def bind(of: AxisSignature, axes: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return a mapping from each formal axis of a signature to the actual axes in a call."""
    if len(set(axes)) != len(axes):
        raise ShapeMismatchError("repeated", next(axis for axis in axes if axes.count(axis) > 1))
    if of.variadic:
        if not axes:
            raise ShapeMismatchError("number", detail=(1, 0))
        return {of.formals[0]: axes}
    if len(axes) != len(of.formals):
        raise ShapeMismatchError("number", detail=(len(of.formals), len(axes)))
    return {formal: (axis,) for formal, axis in zip(of.formals, axes)}


def lift(
    of: AxisSignature,
    axes: tuple[str, ...],
    shapes: tuple[Shape, ...],
    unify: Callable[[Any, Any], bool] = same,
    new_sizes: Shape | None = None,
    differing: bool = False,
) -> dict[str, Any]:
    """Return the result shape of a lifted function (paper §3): the axes of its signature and the arguments' extra axes.

    `new_sizes` contains the sizes of result axes that the arguments lack, as for a window or a concatenation. If
    `differing` is true, the sizes of the bound axes may differ between arguments.

    >>> lift(signature("ax… -> ax…"), ("seq",), ({"seq": 4, "batch": 2},))
    {'batch': 2, 'seq': 4}
    """
    if len(shapes) != len(of.inputs):
        raise ShapeMismatchError("arity", detail=(len(of.inputs), len(shapes)))
    bound = bind(of, axes) if of.formals else {}
    sizes: dict[str, Any] = {}
    extras: dict[str, Any] = {}
    for position, (needed, shape) in enumerate(zip(of.inputs, shapes)):
        names = [axis for formal in needed for axis in bound[formal]]
        for axis in names:
            if axis not in shape:
                raise ShapeMismatchError("missing", axis, position)
            if axis in sizes and not differing and not unify(sizes[axis], shape[axis]):
                raise ShapeMismatchError("sizes", axis, position, (sizes[axis], shape[axis]))
            sizes.setdefault(axis, shape[axis])
        for axis, size in shape.items():
            if axis in names:
                continue
            if axis in extras and not unify(extras[axis], size):
                raise ShapeMismatchError("sizes", axis, position, (extras[axis], size))
            extras.setdefault(axis, size)
    result = dict(extras)
    for formal in of.output:
        for axis in bound[formal]:
            if axis in extras:
                raise ShapeMismatchError("clash", axis)
            result[axis] = new_sizes[axis] if new_sizes and axis in new_sizes else sizes[axis]
    return result


def broadcast(shapes: Sequence[Shape], unify: Callable[[Any, Any], bool] = same) -> dict[str, Any]:
    """Return the union of the axes of several shapes, which is the shape of an elementwise operation (paper §3.2).

    >>> broadcast(({"height": 3}, {"height": 3, "width": 2}))
    {'height': 3, 'width': 2}
    """
    result: dict[str, Any] = {}
    for position, shape in enumerate(shapes):
        for axis, size in shape.items():
            if axis not in result:
                result[axis] = size
            elif not unify(result[axis], size):
                raise ShapeMismatchError("sizes", axis, position, (result[axis], size))
    return result


def union(orders: Sequence[Order | None]) -> Order:
    """Return the storage order of a broadcast result: the axes outside the longest order, followed by this order."""
    known = [order for order in orders if order is not None]
    longest = max(known, key=len, default=())
    further = dict.fromkeys([axis for order in known if order is not longest for axis in order if axis not in longest])
    return (*further, *longest) if further else longest


def show(shape: Shape) -> str:
    """Format a shape in the notation.

    >>> show({"height": 3, "width": 2})
    'ℝ^{height[3] × width[2]}'
    """
    if not shape:
        return "ℝ"
    inside = " × ".join(
        axis if size is None or is_size_of(axis, size) else f"{axis}[{format_size(size)}]"
        for axis, size in shape.items()
    )
    return f"ℝ^{{{inside}}}"


# ------------------------------------------------------------------------------------------------- names as people write them
_REST = rf"(?:[^\W_]|[{ACCENT}])"  # A character after the first, such as the accent of x̂.
AXIS = re.compile(rf"[^\W\d_]{_REST}*(?:_{_REST}+)*(?:['*†‡]|_{_REST}+)*")


def check_axis(name: Any) -> str:
    """Return the normal form of an axis name. Raise NotationError if the name is invalid.

    >>> check_axis("seq’")
    "seq'"
    """
    return _check_name(name) if isinstance(name, str) else _check_name.__wrapped__(name)


@lru_cache(maxsize=4096)
def _check_name(name: Any) -> str:
    """Return the normal form of an axis name, from a cache if possible."""
    if isinstance(name, str):
        folded = fold(name.strip())
        if AXIS.fullmatch(folded):
            return folded
    hint = "a name is made of letters and digits, with ', *, † or _label at its end"
    if isinstance(name, str) and "," in name:
        hint = f'axes are separated with spaces, not commas: "{" ".join(part.strip() for part in name.split(","))}"'
    raise NotationError(208, f"invalid axis name {name!r}", hint=hint)


def find_marked_axis(left: Iterable[str], right: Iterable[str]) -> tuple[str, str] | None:
    """Return a pair of axes, one from each shape, that differ only in their stars, or None if there is no such pair.

    Neither axis may occur in both shapes.

    >>> find_marked_axis(["batch", "a"], ["batch", "a*"]), find_marked_axis(["a", "a*"], ["a*"])
    (('a', 'a*'), None)
    """
    left, right = set(left), set(right)
    plain = {axis.rstrip("*†"): axis for axis in right - left}
    return next(((axis, plain[axis.rstrip("*†")]) for axis in sorted(left - right) if axis.rstrip("*†") in plain), None)


def names_of(axes: str | Iterable[str]) -> tuple[str, ...]:
    """Return the axis names in a string with blanks between names, or in an iterable of strings.

    >>> names_of("height width")
    ('height', 'width')
    """
    if isinstance(axes, str):
        return _from_text(axes)
    try:
        return tuple([check_axis(axis) for axis in axes])
    except TypeError:
        raise NotationError(
            208, f"{axes!r} does not name axes", hint='write "height width", or ("height", "width")'
        ) from None


@lru_cache(maxsize=4096)
def _from_text(text: str) -> tuple[str, ...]:
    if "," in text:
        check_axis(text)
    return tuple(check_axis(axis) for axis in text.split())


class PositionalError(NotationError, TypeError):
    """An error for positional Python protocols, whose callers expect a TypeError."""


class NamedShape(dict[str, int]):
    """A mapping from axis names to sizes that prints as ℝ^{height[3] × width[3]}. Comparisons ignore the order."""

    def __missing__(self, axis: Any) -> int:
        if isinstance(axis, str):
            raise KeyError(axis)
        raise NotationError(
            318,
            f"{self} has no axis order, so it has no size {axis!r}",
            hint=f'name the axis: A.sizes["{next(iter(self), "seq")}"]',
        )

    @encodable
    def __repr__(self) -> str:
        return show(self)

    __str__ = __repr__
