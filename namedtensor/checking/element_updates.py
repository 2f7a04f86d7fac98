"""Type functional updates such as C_{seq(2)} ← 0, which return a copy of C with the selected elements replaced.

C_{seq(2)} ← 0           one element, or all elements along the axes without an index
C_{seq(2:4)} ← V         a slice, where V has the size of seq or the size of the slice
C_{seq(S)} ← V           the elements at the positions in S, where V has one value for each position

If S repeats a position, the last value is used.
"""

from __future__ import annotations

from typing import Any

from grammar import nodes
from grammar.nodes import Call, Index

from ..core.sizes import is_ground, resolve
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .application import apply, broadcast
from .diagnostics import no_such_axis
from .indexing import check_position, iota, take


def type_replacement(checker: Inference, node: Call, env: Environment) -> Term:
    target, body = node.arguments
    assert isinstance(target, Index)
    base, value = checker.infer_all((target.base, body), env)
    replacing = _Replacing(checker, node, base, env)
    for axis, part in target.items:
        for real in env.resolve_axis(axis.name):
            if real not in base.shape:
                raise no_such_axis(checker, target.base, base.shape, axis, real, "index")
            if isinstance(part, nodes.Slice):
                value = replacing.slice(real, part, value)
            else:
                value = replacing.element(real, part, value)
    shapes = value.shape, replacing.holds.shape, base.shape
    shape = broadcast(checker, shapes, node.span, "←", (body, target, target.base))
    return checker.graph.intern("cases", (value, replacing.holds, base), shape=shape, boolean=base.boolean, node=node)


class _Replacing:
    """A traversal of an update's indices. `holds` is the condition that selects the elements to replace."""

    def __init__(self, checker: Inference, node: Call, base: Term, env: Environment):
        self.checker, self.node, self.base, self.env = checker, node, base, env
        self.holds: Any = None

    def op(self, name: str, *terms: Any, over: tuple[str, ...] = ()) -> Term:
        numbers = tuple(term if isinstance(term, Term) else self.checker.graph.number(term) for term in terms)
        axes = tuple((axis, self.node) for axis in over)
        return apply(self.checker, name, numbers, axes, self.node, self.env, (self.node,) * len(numbers))

    def where(self, condition: Term) -> None:
        self.holds = condition if self.holds is None else self.op("∧", self.holds, condition)

    def along(self, axis: str) -> Term:
        return iota(self.checker, axis, 1, self.base.shape[axis], self.node)

    def check_range(self, axis: str, at: Term, part: Any) -> Term:
        """Return an index along an axis of the updated tensor, with a check that it is in range."""
        if at.number is not None:
            check_position(self.checker, at.number, resolve(self.base.shape[axis]), axis, part)
            return at
        return self.taken(self.along(axis), axis, at, part)

    def slice(self, axis: str, part: nodes.Slice, value: Term) -> Term:
        first, last = self.checker.infer_all((part.first, part.last), self.env)
        first, last = self.check_range(axis, first, part.first), self.check_range(axis, last, part.last)
        here = self.along(axis)
        self.where(self.op("∧", self.op("≥", here, first), self.op("≤", here, last)))
        ends = first.number, last.number
        if axis not in value.shape or None in ends or not is_ground(value.shape[axis]):
            return value
        size = resolve(value.shape[axis])
        if size != ends[1] - ends[0] + 1 or size == resolve(self.base.shape[axis]):
            return value
        term = self.op("clip", self.op("-", here, ends[0] - 1), 1, size)
        return self.taken(value, axis, term, part)

    def element(self, axis: str, part: Any, value: Term) -> Term:
        checker, here = self.checker, self.along(axis)
        at = self.check_range(axis, checker.infer(part, self.env), part)
        names = [name for name in at.shape if "@" not in name and name not in self.base.shape]
        if not names:
            self.where(self.op("=", here, at))
            return value
        if len(names) > 1:
            raise checker.error(
                316, f"{checker.text(part)} has axes {' and '.join(names)}, but an update takes one axis", part,
                notes=(checker.describe_with_shape(part, at.shape),), hint="merge them into one",
            )  # fmt: skip
        (over,) = names
        number = iota(checker, over, 1, at.shape[over], self.node)
        last = self.op("max", self.op("where", self.op("=", here, at), number, 0), over=(over,))
        self.where(self.op("≥", last, 1))
        return self.taken(value, over, self.op("max", last, 1), part) if over in value.shape else value

    def taken(self, value: Term, axis: str, term: Term, part: Any) -> Term:
        """Return the elements of `value` at the positions `term` along an axis. `term` may also have this axis."""
        apart = self.checker.renamed(value, {axis: f"{axis}@index"}, part)
        return take(self.checker, apart, f"{axis}@index", term, part, self.node)
