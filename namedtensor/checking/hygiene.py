"""Rename axes so that a function's body does not capture axes of a call's arguments.

    g_{ax} : ℝ^{ax} → ℝ
    g_{ax}(X) = ∑_{ax} ∑_{c} X ⊙ [1, 2]_{c}
    g_{c}(V)                                    means g_{c'}(V_{c→c'})

The body of a function without a signature is substituted for the call. Its axes are aligned by name and are not
renamed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grammar.nodes import Set

from ..scope.names import MARKS
from ..scope.symbols import FunctionDefinition
from ..terms.inference import Inference

if TYPE_CHECKING:
    from ..terms.terms import Term


def find_argument_sets(function: FunctionDefinition, count: int, given: int) -> list[Set | None]:
    """Return the declared sets of a function's first `count` arguments and its first `given` parameters after `;`."""
    assert function.signature is not None
    options = [function.declarations.get(name.key()) for name in function.options[:given]]
    return [*function.signature.domain[:count], *options]


def has_head_axes(of: Set | None, formals: set[str]) -> bool:
    """Return whether a tensor with this declared set may have axes that the left-hand side binds.

    The set is None if the tensor is undeclared.
    """
    return of is None or any(axis.name in formals for axis, _ in of.axes)


def find_captured_axes(
    function: FunctionDefinition, axes: Mapping[str, tuple[str, ...]], shapes: Sequence[Any], given: int
) -> list[str]:
    """Return the axes of a call that have the name of an axis in the function's body and would be captured."""
    names: list[str] = []
    if function.signature is None or not axes or len(shapes) - given != len(function.signature.domain):
        return names
    for axis in sorted({real for reals in axes.values() for real in reals} & function.own_axes):
        formals = {formal for formal, reals in axes.items() if axis in reals}
        stated = find_argument_sets(function, len(shapes) - given, given)
        have = [axis in shape for shape, of in zip(shapes, stated) if has_head_axes(of, formals)]
        others = [axis in shape for shape, of in zip(shapes, stated) if not has_head_axes(of, formals)]
        if have and all(have) and not any(others):
            names.append(axis)
    return names


def names_apart(axes: Sequence[str], taken: set[str]) -> dict[str, str]:
    """Return a fresh name for each axis.

    >>> names_apart(["c"], {"c", "c'"})
    {'c': "c''"}
    """
    result: dict[str, str] = {}
    for axis in axes:
        name = f"{axis}'"
        while name in taken:
            name += "'"
        taken = {*taken, name}
        result[axis] = name
    return result


def put_apart(
    checker: Inference,
    function: FunctionDefinition,
    axes: Mapping[str, tuple[str, ...]],
    terms: Sequence[Term],
    given: int,
) -> dict[str, str]:
    """Return fresh names for the axes of a call that the function's body would otherwise capture."""
    meeting = find_captured_axes(function, axes, [term.shape for term in terms], given)
    if not meeting:
        return {}
    taken = {*checker.scope.axes_named}.union(*(term.shape for term in (*terms, *checker.top.variables.values())))
    return names_apart(meeting, taken)


def bound_to(axes: Mapping[str, tuple[str, ...]], apart: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {formal: tuple(apart.get(real, real) for real in reals) for formal, reals in axes.items()}


def renaming(shape: Any, names: Mapping[str, str]) -> dict[str, str]:
    """Return the renaming for a shape's axes, including starred axes such as a*."""
    bare = {axis: axis.rstrip(MARKS) for axis in shape}
    return {axis: names[name] + axis[len(name) :] for axis, name in bare.items() if name in names}
