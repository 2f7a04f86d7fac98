"""Operators over a variable, for the reference evaluator: ∑_{i=1}^{n}, max_{i ∈ [n]}, argmin_i, each term computed alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Index, Name, Node
from grammar.traversal import children

from ..scope.names import Key
from .calls import Calls
from .definitions import Tensor, broadcast, number
from .environment import Environment, need, one_axis, plain
from .functions import apply
from .names import STEPS

NESTING = ("∑", "∏", "max", "min", "mean", "any", "all", "logsumexp")
BEST = ("argmax", "argmin")  # over a variable, the value of that


class Sums(Calls):
    condition: Callable[..., Tensor]

    def index_sum(self, node: nodes.IndexSum, env: Environment) -> Tensor:
        first, last = self.bound(node.first, env), self.bound(node.last, env)
        return self.fold(node.operator, node.variable, range(first, last + 1), node.body, env)

    def over(self, node: nodes.Over, env: Environment) -> Tensor:
        """max_{i ∈ [n]} …, ∑_{j ≠ i} …"""
        of = node.over
        if node.operator == "lim" or isinstance(of, nodes.Set) and of.domain not in ("count", "elements", "field"):
            raise NotationError(405, "this has a type and no value")
        if isinstance(of, nodes.Set):
            if of.domain == "count":
                values: Any = range(1, self.bound(of.elements[0], env) + 1)
            elif of.domain == "elements":
                values = [plain(self.value(each, env)) for each in of.elements]
            else:
                values = list(self.value(of.elements[0], env).entries.values())
            return self.fold(node.operator, node.variable, values, node.body, env)
        call = Call(node.operator, (), (node.variable,), (node.body,))
        values = self.summed_index(call, env)
        if values is None:
            raise NotationError(309, f"the range of {node.variable.text} is unknown")
        kept = []
        for value in values:
            place = Environment(parent=env, sizes_from=env, elements={Key(node.variable.text): number(value)})
            if plain(self.condition(of, place)):
                kept.append(value)
        return self.fold(node.operator, node.variable, kept, node.body, env)

    def fold(self, operator: str, variable: Name, values, body: Node, env: Environment) -> Tensor:
        """An operator over what a body is for each value of a variable."""
        if operator in BEST:
            return self.best(operator, variable, [*values], body, env)
        if operator in ("∑", "∏"):
            return self.sum_over(operator, variable, values, body, env)
        elements = [{Key(variable.text): number(value)} for value in values]
        found = [self.value(body, Environment(parent=env, sizes_from=env, elements=each)) for each in elements]
        if not found and operator in ("max", "min"):
            return number(-math.inf if operator == "max" else math.inf)
        stacked = apply("stack", found, ("over",), (), lambda axis: len(found))
        return apply(operator, [stacked], ("over",), (), len)

    def best(self, operator: str, variable: Name, values: list[Any], body: Node, env: Environment) -> Tensor:
        """The value of the variable for which the body is the least, or the largest; of equals the first."""
        elements = [{Key(variable.text): number(value)} for value in values]
        found = [self.value(body, Environment(parent=env, sizes_from=env, elements=each)) for each in elements]
        if not found:
            raise NotationError(405, f"{operator} of no numbers has no value")
        choose = max if operator == "argmax" else min
        return broadcast(lambda *numbers: values[numbers.index(choose(numbers))], *found)

    def sum_over(self, sign: str, variable: Name, values: range, body: Node, env: Environment) -> Tensor:
        """∑_i …, each term computed alone."""
        if len(values) > STEPS:
            raise NotationError(404, f"a sum of {len(values)} terms is too long here")
        result = number(0 if sign == "∑" else 1)
        for value in values:
            term = self.value(
                body, Environment(parent=env, sizes_from=env, elements={Key(variable.text): number(value)})
            )
            result = apply("+" if sign == "∑" else "⊙", [result, term], (), (), len)
        return result

    def several_sums(self, node: Call, env: Environment) -> Tensor | None:
        """∑_{i,j} A_{r(i), c(j)}, as ∑_i ∑_j …; None where no part of the subscript is an index."""
        (body,) = node.arguments
        names = [part for part in node.subscript if isinstance(part, Name) and part.text not in env.axes]
        indices = [part for part in names if any(True for _ in indexed_by(part, body))]
        if len(node.subscript) < 2 or not indices:
            return None
        if node.operator not in NESTING:
            raise NotationError(301, f"{node.operator} takes one index at a time")
        axes = tuple(part for part in node.subscript if part not in indices)
        whole = replace(node, subscript=axes) if axes else body
        for variable in reversed(indices):
            whole = replace(node, subscript=(variable,), arguments=(whole,))
        return self.value(whole, env)

    def summed_index(self, node: Call, env: Environment) -> range | None:
        """The values of i in ∑_i A_{height(i)}; None where i is an axis."""
        variable = node.subscript[0] if len(node.subscript) == 1 else None
        if not isinstance(variable, Name) or variable.text in env.axes:
            return None
        sizes = set()
        for base_node, axis in indexed_by(variable, node.arguments[0]):
            base = self.value(base_node, env)
            real = one_axis(axis, env)
            need(base, real)
            sizes.add(base.shape[real])
        if len(sizes) > 1:
            raise NotationError(302, f"{variable.text} indexes axes of several sizes: {sorted(sizes)}")
        return range(1, sizes.pop() + 1) if sizes else None


def indexed_by(variable: Name, node: Any) -> Iterator[tuple[Node, nodes.Axis]]:
    """Yield what a variable indexes below a node, and along which axis; an inner sum that rebinds it is skipped."""
    for inner in children(node):
        if not (isinstance(inner, Call) and inner.operator in ("∑", "∏") and inner.subscript == (variable,)):
            yield from indexed_by(variable, inner)
    if isinstance(node, Index):
        yield from ((node.base, axis) for axis, part in node.items if part == variable)
