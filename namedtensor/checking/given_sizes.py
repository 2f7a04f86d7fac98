"""Check the sizes in `sizes={"a": 5}` and stated sizes against inputs, declarations and equations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from grammar import nodes
from grammar.errors import NotationError

from ..core.extents import Extent, is_size
from ..core.kinds import to_integer
from ..core.size_conditions import assume_equal
from ..core.sizes import is_ground, resolve, unify
from ..scope.names import plain_key, read_spelling, walk
from ..scope.resized_axes import may_resize, resizes
from ..scope.symbols import SizeEquation
from ..terms.inference import Inference, format_shape
from .inferred_sizes import axes_named
from .size_facts import make_stated_size_error, sides, source_text, words_in

HINT = "remove the size, or pass a tensor of that size"


def agree_with_given(
    checker: Inference, source: str, shape: Mapping[str, Any], axes: Iterable[str], node: Any = None
) -> None:
    """Raise an error if an input's size along one of these axes differs from the size in `sizes`."""
    for axis in axes:
        expected = checker.given_sizes.get(axis)
        if expected is not None and not unify(expected, shape[axis]):
            raise checker.error(
                308,
                f"axis {axis} has size {resolve(shape[axis])} in {source}, but sizes= gives {resolve(expected)}",
                node or place_of(checker, axis) or checker.scope.program,
                notes=(f"{source} has the shape {format_shape(shape)}",),
                hint=HINT,
            )


def place_of(checker: Inference, axis: str) -> Any:
    """Return the first node that uses the size of an axis or, if there is none, the first node that names the axis."""
    program = checker.scope.program
    asked = (node for node in walk(program) if isinstance(node, nodes.Size) and node.axis.name == axis)
    return next(chain(asked, (named for named in axes_named(program) if named.name == axis)), None)


def check_stated_sizes(checker: Inference) -> None:
    """Raise an error if the sides of a size equation differ, or if a declared size differs from an input's size."""
    facts = [(fact, checker.top) for fact in checker.scope.sizes]
    for fact, env in facts + checker.solver.declared:
        left = checker.solver.value(fact.left, env)
        stated: Any = fact.right
        right = stated if is_size(stated) else checker.solver.value(stated, env)
        if left is None or right is None or not is_ground(left) or not is_ground(right):
            continue
        left, right = resolve(left), resolve(right)
        if left == right or (
            Extent in (type(left), type(right)) and is_size(left) and is_size(right) and assume_equal(left, right)
        ):
            continue
        for node, side in ((fact.left, left), (fact.right, right)):
            if type(side) is not Extent and to_integer(side) is None:
                raise make_stated_size_error(checker, checker.text(node), side, fact)
        raise unequal(checker, fact, left, right)


def unequal(checker: Inference, fact: SizeEquation, left: Any, right: Any) -> NotationError:
    """Return the error for a size equation with different sides, or for a declared size that differs from the input."""
    text = source_text(checker, fact)
    if fact.text:
        return checker.error(
            308, f"axis {text} has size {left} in this declaration, but {right} in the tensor that was passed", fact.span,
            notes=[f"passed: {fact.text}"], hint="change the declaration, or pass a tensor that matches",
        )  # fmt: skip
    words = dict.fromkeys(name for side in sides(fact) for _, name in words_in(side))
    texts = [
        f"sizes= gives {name} = {resolve(checker.given_sizes[name])}" for name in words if name in checker.given_sizes
    ]
    return checker.error(
        308,
        f"size constraint {text} is violated",
        fact.span,
        notes=[f"left-hand side {left}, right-hand side {right}", *texts],
        hint="change the constraint, or pass a tensor that matches",
    )


def check_given_sizes(checker: Inference) -> None:
    """Raise an error if a size in `sizes` conflicts with a number, a declared size, or the size of a created axis."""
    for name, size in checker.given_sizes.items():
        if not is_ground(size) or isinstance(size, Extent):
            continue
        check_number(checker, name, resolve(size))
        check_declared(checker, name, resolve(size))
        if name not in checker.sized:
            check_made(checker, name, resolve(size))


def check_number(checker: Inference, name: str, size: int) -> None:
    """Raise an error if the value of a number such as n differs from the value that `sizes` gives.

    The number is an input, or an equation defines it.
    """
    spelling = plain_key(name)
    group = checker.scope.definitions.get(spelling)
    if group is None:
        value, node = getattr(checker.inputs.get(spelling), "number", None), None
        by = "as passed"
    else:
        value, node = checker.number(spelling, checker.top), group[0].statement.sides[0]
        by = "by its equation"
    if value is not None and value != size:
        raise checker.error(
            308, f"{name} is {value} {by}, but sizes= gives {size}", node or checker.scope.program,
            hint="remove the size, or change the equation" if group else "pass it once",
        )  # fmt: skip


def check_declared(checker: Inference, name: str, size: int) -> None:
    """Raise an error if a declared size, such as 3 in D ∈ ℝ^{a[3]}, differs from the size in `sizes`."""
    for _, declared, sets, _ in checker.scope.declarations:
        for axis, extent in (pair for of in sets for pair in of.axes):
            if extent is None or axis.name != name:
                continue
            value = checker.solver.value(extent, checker.top)
            if value is not None and is_ground(value) and resolve(value) != size:
                raise checker.error(
                    308, f"axis {name} has size {resolve(value)} in the declaration of {declared.key()}, but sizes= gives {size}",
                    axis, hint="remove the size, or change the declaration",
                )  # fmt: skip


def check_made(checker: Inference, axis: str, size: int) -> None:
    """Raise an error if a created axis, as in [3, 1]_{a}, does not have the size that `sizes` gives.

    It is enough that a name with the axis, or one of the outermost expressions with the axis, has this size. Ignore
    windows and slices that resize the axis, and the bodies of functions.
    """
    conditions = [
        (node, resolve(term.shape[axis]))
        for node, term, env in checker.trace
        if axis in term.shape and is_ground(term.shape[axis]) and env.nearest_call.function is None
    ]
    result = (
        [condition for condition in conditions if not resizes(checker.scope, condition[0], axis)]
        if may_resize(checker.scope)
        else conditions
    )
    if any(extent == size and read_spelling(node) is not None for node, extent in result):
        return
    outer = largest([node for node, _ in result])
    chosen = [(node, extent) for node, extent in result if node.span in outer]
    if chosen and all(extent != size for _, extent in chosen):
        node, extent = chosen[0]
        raise checker.error(
            308, f"axis {axis} has size {extent} here, but sizes= gives {size}", node,
            notes=(f"{checker.text(node)} has {axis}[{extent}]",), hint="remove the size, or change the formula",
        )  # fmt: skip


def largest(cells: list[Any]) -> set[tuple[int, int]]:
    """Return the spans of the nodes, except spans inside another span."""
    outer: set[tuple[int, int]] = set()
    end = -1
    for start, stop in sorted({node.span for node in cells}, key=lambda span: (span[0], -span[1])):
        if stop > end:
            outer.add((start, stop))
            end = stop
    return outer
