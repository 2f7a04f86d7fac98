"""Type indexing, X_{a(i), b(J)}, and tensors that depend only on axes: ι_{a}, I_{a,b} and ones_{a}.

Indices start at 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grammar import nodes
from grammar.errors import Hint, NotationError
from grammar.nodes import Index, Node, axis_of

from ..core.extents import Extent, format_size
from ..core.kinds import to_integer
from ..core.size_conditions import assume_at_most, is_assuming
from ..core.sizes import is_ground, resolve, unify
from ..operators import REGISTRY
from ..scope.names import read_spelling
from ..scope.uses import OF_AXES
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .application import apply, broadcast
from .axis_sizes import size_left_open, size_of_made
from .cases import guard_index
from .declarations import end_needed, unknown_in
from .diagnostics import no_such_axis


def index(checker: Inference, node: Index, env: Environment) -> Term:
    """Return the term of X_{a(i), b(J)}. All indices in a subscript apply simultaneously (paper §2.3, §3.7)."""
    (base,) = checker.infer_all((node.base,), env)
    indices = [type_positions(checker, axis, part, base, env) for axis, part in node.items]
    apart: dict[str, str] = {}
    seen: set[str] = set()
    for axis, _ in node.items:
        real = find_indexed_axis(checker, axis, env)
        if real not in base.shape:
            raise no_such_axis(checker, node.base, base.shape, axis, real, "index")
        if real in seen:
            raise checker.error(303, f"axis {real} is indexed twice", axis, hint="index each axis once")
        seen.add(real)
        apart[real] = f"{real}@index"
    term = checker.renamed(base, apart, node)
    for (axis, part), at in zip(node.items, indices):
        name = apart[env.resolve_axis(axis.name)[0]]
        term = take(checker, term, name, at, part, node)
    return term


def find_indexed_axis(checker: Inference, axis: nodes.Axis, env: Environment, use: str = "an index") -> str:
    """Return the axis that an index or literal names. Raise an error if it represents several axes."""
    axes = env.resolve_axis(axis.name)
    if len(axes) != 1:
        raise checker.error(
            316, f"{use} takes one axis, but {axis.name} stands for {' and '.join(axes) or 'no axis'} here", axis,
            hint="call the function over one axis at a time",
        )  # fmt: skip
    return axes[0]


def type_positions(checker: Inference, axis: nodes.Axis, part: Node, base: Term, env: Environment) -> Term:
    """Return the term of the positions that an index selects.

    A slice selects first, first + 1, …, last along the axis itself.
    """
    real = find_indexed_axis(checker, axis, env)
    if checker.labels:
        part = replace_labels(checker, real, part, base, env)
    if not isinstance(part, nodes.Slice):
        at = checker.infer(part, env)
        number = checker.solver.value(part, env) if is_assuming() and not at.shape else None
        if isinstance(number, Extent) and real in base.shape:
            check_position(checker, number, resolve(base.shape[real]), real, part)
        return at
    first, last = checker.solver.value(part.first, env), checker.solver.value(part.last, env)
    if isinstance(first, (int, Extent)) and isinstance(last, (int, Extent)):
        if not assume_at_most(first, last):
            raise checker.error(
                401, f"empty slice {checker.text(part)}", part, hint="slices start at 1 and include both ends"
            )
        for end, node in ((first, part.first), (last, part.last)):
            if real in base.shape:
                check_position(checker, end, resolve(base.shape[real]), real, node)
        return iota(checker, real, first, last - first + 1, part)  # pyright: ignore
    width = width_of(checker, part, env)
    if width is None:
        for end in (part.first, part.last):
            if unknown_in(checker, end, env) is not None:
                raise end_needed(checker, end, f"the slice {checker.text(part)}", env)
        raise checker.error(
            309, f"cannot infer the length of the slice {checker.text(part)}", part,
            hint="write one end in terms of the other: t-2:t",
        )  # fmt: skip
    start, steps = checker.infer(part.first, env), iota(checker, real, 0, width + 1, part)
    return apply(checker, "+", (start, steps), (), part, env, (part.first, part))


def replace_labels(checker: Inference, axis: str, part: Node, base: Term, env: Environment) -> Node:
    """Replace each label in an index or slice with its position."""
    from .label_index import with_positions

    return with_positions(checker, axis, part, base, env)


def width_of(checker: Inference, part: nodes.Slice, env: Environment) -> int | None:
    """Return the width w of a slice t-w:t or t:t+w, or None for any other slice."""
    for sign, end, other in (("-", part.first, part.last), ("+", part.last, part.first)):
        if isinstance(end, nodes.Call) and end.operator == sign and end.arguments[:1] == (other,):
            width = checker.solver.value(end.arguments[1], env)
            return width if isinstance(width, int) and width >= 0 else None
    return None


def take(checker: Inference, term: Term, axis: str, at: Term, part: Node, node: Node) -> Term:
    size = resolve(term.shape[axis])
    rest = {name: extent for name, extent in term.shape.items() if name != axis}
    if at.number is not None:
        position = check_position(checker, at.number, size, axis.partition("@")[0], part)
        return checker.graph.intern(
            "pick", (term,), options=(axis, position - 1), shape=rest, boolean=term.boolean, node=part
        )
    if (
        at.operator == "iota"
        and at.options[0] == 1
        and resolve(at.shape[at.axes[0]]) == size
        and at.axes[0] not in rest
    ):
        return checker.renamed(term, {axis: at.axes[0]}, node)
    if at.operator in REGISTRY and REGISTRY[at.operator].picks and size != 1:
        raise no_position(checker, axis.partition("@")[0], at, part, node)
    at = guard_index(checker, at)
    shape = broadcast(checker, (rest, at.shape), node, "the index", (node, part))
    return checker.graph.intern("index", (term, at), (axis,), shape=shape, boolean=term.boolean, node=part)


def no_position(checker: Inference, axis: str, at: Term, part: Node, node: Node) -> NotationError:
    """Return the error for an index that is a one-hot tensor, such as an argmax."""
    base = checker.text(node.base) if isinstance(node, Index) else "X"
    meant = f"{base} ⊙_{{{axis}}} {checker.text(part)}"
    return checker.error(
        401,
        f"{checker.text(part)} is not an index: it is 1 at the selected element and 0 elsewhere",
        part,
        notes=(checker.describe_with_shape(part, at.shape),),
        hint=f"write the product, which selects the elements: {meant}" if axis in at.shape else None,
    )


def check_position(checker: Inference, number: Any, size: Any, axis: str, part: Node) -> int:
    integer = number if isinstance(number, Extent) else to_integer(number)
    if integer is None:
        raise checker.error(402, f"index must be an integer, got {number}", part, hint="write an integer")
    if not assume_at_most(1, integer) or (is_ground(size) and not assume_at_most(integer, size)):
        raise checker.error(
            401,
            f"index {format_size(number)} is out of range for axis {axis} (1 to {format_size(size)})",
            part,
            hint="indices start at 1; negative indices are not supported"
            if not isinstance(integer, Extent) and integer < 1
            else f"the last index is |{axis}|",
        )
    return integer  # pyright: ignore


def iota(checker: Inference, axis: str, first: int, size: Any, node: Node) -> Term:
    """Return the tensor with the elements first, first + 1, … along an axis."""
    return checker.graph.intern("iota", axes=(axis,), options=(first, resolve(size)), shape={axis: size}, node=node)


def make_created_tensor(checker: Inference, node: nodes.Subscript, env: Environment) -> Term | None:
    """Return the term of iota_{ax}, I_{ax,ax'} or ones_{ax,…}, or None for any other node."""
    name = read_spelling(node)
    if name is None or name.superscript or name.base not in OF_AXES:
        return None
    parts = [(axis_of(part), part) for part in name.subscript]
    if any(axis is None for axis, _ in parts):
        return None
    axes = [(real, part) for axis, part in parts for real in env.resolve_axis(axis.name)]  # type: ignore[union-attr]
    if name.base == "I":
        return identity(checker, axes, node, env) if len(axes) == 2 else None
    if name.base == "ones":
        return ones(checker, axes, node, env)
    if len(axes) != 1:
        return None
    axis, part = axes[0]
    return iota(checker, axis, 1, size_of_made(checker, axis, env, part), node)


def ones(checker: Inference, axes: Any, node: Node, env: Environment) -> Term:
    """Return the term of ones_{ax,…}, a tensor of ones."""
    shape: dict[str, Any] = {}
    for axis, part in axes:
        if axis in shape:
            raise checker.error(303, f"axis {axis} occurs twice", part, hint="name each axis once")
        shape[axis] = resolve(size_of_made(checker, axis, env, part))
    return checker.spread(checker.graph.number(1, node), shape, node)


def identity(checker: Inference, axes: Sequence[tuple[str, Any]], node: Any, env: Environment) -> Term:
    """Return the term of I_{ax,ax'}. If only one size is known, the other is equal to it."""
    if axes[0][0] == axes[1][0]:
        raise checker.error(
            303,
            f"axis {axes[0][0]} occurs twice",
            axes[1][1],
            hint=Hint(f"write I_{{{axes[0][0]},{axes[0][0]}'}}", f"{axes[0][0]}'"),
        )
    sizes: list[Any] = []
    for size_by in (checker.solver.size_said, checker.solver.size_of):
        sizes = sizes or [size for axis, part in axes if (size := size_by(axis, env, part)) is not None]
    sizes = sizes or [size_left_open(checker, *axes[0])]
    left, right = sizes[0], sizes[-1]
    if not unify(left, right):
        raise checker.error(
            302,
            f"an identity must be square, but axis {axes[0][0]} has size {resolve(left)} and axis {axes[1][0]} has size {resolve(right)}",
            node,
        )
    names = tuple(axis for axis, _ in axes)
    return checker.graph.intern(
        "identity", axes=names, options=(resolve(left),), shape=dict.fromkeys(names, left), node=node
    )
