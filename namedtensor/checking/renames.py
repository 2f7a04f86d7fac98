"""Type renames, merges and splits in one subscript, which apply simultaneously (paper §3.6)."""

from __future__ import annotations

import math
from typing import Any

from grammar.errors import SIZE_NEEDED
from grammar.nodes import Rename, Starred

from ..core.size_conditions import assume_divides, assume_equal
from ..core.sizes import is_ground, resolve
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .axis_sizes import unknown_size
from .diagnostics import no_such_axis


def rename(checker: Inference, node: Rename, env: Environment) -> Term:
    """Return the term of a subscript with renames, merges and splits, which apply simultaneously (paper §3.6)."""
    base = checker.infer(node.base, env)
    shape = base.shape
    old: set[str] = set()
    for axis in (axis for before, _ in node.items for axis in before):
        for real in env.resolve_axis(axis.name):
            if real not in shape:
                raise no_such_axis(checker, node.base, shape, axis, real, "rename")
            if real in old:
                raise checker.error(303, f"axis {real} is renamed twice", axis, hint="rename each axis once")
            old.add(real)
    names = {axis for axis in shape if axis not in old}
    taken: set[str] = set()
    for axis in (axis for _, after in node.items for axis in after):
        for real in env.resolve_axis(axis.name):
            if real in names or real in taken:
                why = "another axis has this name" if real in names else "two axes would get this name"
                raise checker.error(
                    312,
                    f"cannot rename an axis to {real}: {why}",
                    axis,
                    notes=(checker.describe_with_shape(node.base, shape),),
                    hint=f"choose another name, or rename the other {real} at the same time",
                )
            taken.add(real)
    items = [
        tuple([real for axis in axes for real in env.resolve_axis(axis.name)] for axes in item) for item in node.items
    ]
    pairs = [pair for before, after in items if len(before) == len(after) for pair in zip(before, after)]
    term = checker.renamed(base, {name: f"{new}@new" for name, new in pairs}, node)
    for before, after in items:
        if len(before) != len(after):
            make = merge if len(after) == 1 else split
            term = make(checker, term, before, after, node, env)
    back = {axis: axis.removesuffix("@new") for axis in term.shape if axis.endswith("@new")}
    return checker.renamed(term, back, node)


def type_starred(checker: Inference, node: Starred, env: Environment) -> Term:
    """Return the term of X*, in which every axis of X gets a star."""
    base = checker.infer(node.base, env)
    return checker.renamed(base, {axis: axis + node.mark for axis in base.shape if "@" not in axis}, node)


def merge(
    checker: Inference, term: Term, sources: list[str], targets: list[str], node: Rename, env: Environment
) -> Term:
    size: Any = 1
    for axis in sources:
        size = resolve(term.shape[axis]) if size == 1 else size * resolve(term.shape[axis])
    target = f"{targets[0]}@new"
    shape = {axis: extent for axis, extent in term.shape.items() if axis not in sources}
    shape[target] = size
    return checker.graph.intern("merge", (term,), options=(tuple(sources), target), shape=shape, node=node)


def split(
    checker: Inference, term: Term, sources: list[str], targets: list[str], node: Rename, env: Environment
) -> Term:
    whole = resolve(term.shape[sources[0]])
    sizes: dict[str, Any] = {axis: checker.solver.size_said(axis, env, node) for axis in targets}
    if sum(size is None for size in sizes.values()) > 1:
        sizes = {axis: checker.solver.size_of(axis, env, node) for axis in targets}
    unknown = [axis for axis, size in sizes.items() if size is None or not is_ground(size)]
    product = math.prod(resolve(size) for axis, size in sizes.items() if axis not in unknown)
    if len(unknown) > 1 or not is_ground(whole):
        if not checker.infer_parameters:
            raise checker.error(
                309,
                f"cannot split axis {sources[0]}: the sizes of {' and '.join(unknown)} are unknown",
                node,
                notes=(f"axis {sources[0]} has size {whole}",),
                hint=f"pass one of them: sizes={{{unknown[0]!r}: 2}}",
                symbol=unknown[0], axis=unknown[0], reason=SIZE_NEEDED,
            )  # fmt: skip
        for axis in unknown:
            sizes[axis] = unknown_size(checker, axis)
    elif not (assume_divides(product, whole) if unknown else assume_equal(product, whole)):
        text = " × ".join(f"{axis}[{resolve(size)}]" for axis, size in sizes.items() if axis not in unknown)
        raise checker.error(
            313,
            f"cannot split axis {sources[0]} of size {whole} into {text}",
            node,
            notes=(checker.describe_with_shape(node.base, term.shape),),
            hint="choose sizes whose product is the size of the axis",
        )
    elif unknown:
        sizes[unknown[0]] = resolve(whole) // resolve(product)
    shape = {axis: extent for axis, extent in term.shape.items() if axis not in sources}
    shape |= {f"{axis}@new": resolve(size) for axis, size in sizes.items()}
    parts = tuple((f"{axis}@new", resolve(size)) for axis, size in sizes.items())
    return checker.graph.intern("split", (term,), options=(sources[0], parts), shape=shape, node=node)
