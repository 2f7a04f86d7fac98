"""Claims, for the reference evaluator: equations and memberships that define nothing are checked."""

from __future__ import annotations

import math
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Index, Name

from ..scope.distributions import depends_on_draws
from ..scope.mentions import is_open
from ..scope.names import Key, match_key, walk
from ..scope.symbols import Claim, Definition
from .calculus import changes_in
from .definitions import Tensor, listed, number, records, unite
from .environment import Environment, Fact, need, set_axes, whole
from .names import Names

TOLERANCE = 1e-6


class Claims(Names):
    """The claims of one program, checked while it is evaluated."""

    changes: dict[Key, tuple[Tensor, Tensor]]

    def check_definition(self, group: list[Definition], value: Tensor, env: Environment) -> Tensor:
        for definition in group:
            for of in definition.statement.sets:
                self.check_member(value, of, env)
            places = self.places(definition, value.shape, env) if definition.elements else (env,)
            for other, place in ((other, place) for other in definition.claims for place in places):
                self.check_claim(Claim(definition.body, other, (0, 0)), place)
        for of, place in self.sets_of(group[0].key, env):
            self.check_member(value, of, place)
        return value

    def check_member(self, value: Tensor, of: nodes.Set, env: Environment) -> None:
        axes = set_axes(of, env)
        if {axis for axis, _ in axes} != set(value.shape):
            have, wanted = listed(value.shape), listed(axis for axis, _ in axes)
            raise NotationError(307, f"a value with the axes {have} cannot be in a set with {wanted}")
        self.check_facts([Fact(size, value.shape[axis], env) for axis, size in axes if size is not None])
        self.check_domain(value, of, env)

    def check_domain(self, value: Tensor, of: nodes.Set, env: Environment) -> None:
        """{0, 1}, [0, 1] and [n] hold the numbers that they say."""
        if of.domain in ("reals", "field"):
            return
        ends = [self.size_value(node, env) for node in of.elements]
        if None in ends:
            return
        holds = {
            "integers": lambda x: x == int(x),
            "naturals": lambda x: x == int(x) and x >= 0,
            "positive": lambda x: x > 0,
            "nonnegative": lambda x: x >= 0,
            "elements": lambda x: x in ends,
            "interval": lambda x: ends[0] <= x <= ends[1],
            "count": lambda x: x == int(x) and 1 <= x <= ends[0],
        }[of.domain]
        for entry in value.entries.values():
            if not holds(entry):
                raise NotationError(407, f"{entry} does not lie in the declared set")

    def check_members(self, names: set[Key], families: list[Definition], holder: Environment) -> None:
        """What a family says of a member that is given, or has an equation of its own, is a claim."""
        for family in families:
            over = family.range
            assert over is not None and family.head is not None
            known = [(name, match_key(family.name, name, self.scope.indices)) for name in names]
            for indices in (found for name, found in known if found is not None):
                step = {each: whole(indices.get(each)) for each in over.variables}
                if None not in step.values() and self.in_ranges(over, {**indices, **step}, holder):
                    env = Environment(parent=holder, sizes_from=holder, indices={**indices, **step})
                    self.check_claim(Claim(family.head, family.body, family.statement.span), env)

    def check_claim(self, claim: Claim, env: Environment) -> None:
        if claim.range is not None:
            for step in self.steps(claim.range, env):
                place = Environment(parent=env, sizes_from=env, indices=step)
                self.check_claim(Claim(claim.left, claim.right, claim.span), place)
            return
        free = self.free_index((claim.left, claim.right), env)
        if free is not None:
            name, _, size = free
            for place in range(1, size + 1):
                inner = Environment(parent=env, sizes_from=env, elements={name: number(place)})
                self.check_claim(claim, inner)
            return
        if isinstance(claim.right, nodes.Set):
            return self.check_member(self.value(claim.left, env), claim.right, env)
        if is_open(claim.left) or is_open(claim.right) or depends_on_draws(self.scope, (claim.left, claim.right)):
            return
        self.changes = changes_in(self, (claim.left, claim.right), env)
        left, right = self.value(claim.left, env), self.value(claim.right, env)
        self.changes = {}
        if left.shape and right.shape and set(left.shape) != set(right.shape):
            raise NotationError(307, "the two sides of = have different axes")
        pairs = [(left(record), right(record)) for record in records(unite(left.shape, right.shape))]
        scale = max((abs(x) for pair in pairs for x in pair if abs(x) < math.inf), default=0)
        for x, y in pairs:
            if not (x == y or abs(x - y) <= TOLERANCE * scale or (x != x and y != y)):
                message = f"assertion failed: left-hand side {x}, right-hand side {y}"
                raise NotationError(403, message, self.scope.source, claim.span)

    def nearly(self, node: nodes.Call, env: Environment) -> Tensor:
        """a ≈ b: a, where b has the same axes."""
        left = self.value(node.arguments[0], env)
        if not is_open(node.arguments[1]):
            right = self.value(node.arguments[1], env)
            if left.shape and right.shape and set(left.shape) != set(right.shape):
                raise NotationError(307, f"the two sides of {node.operator} have different axes")
        return left

    def free_index(self, sides: tuple[Any, ...], env: Environment) -> tuple[Key, str, int] | None:
        """An index i of A_{height(i)} that nothing says, the axis, and how far it goes: the claim is about all elements."""
        for part in (part for side in sides for part in walk(side) if isinstance(part, Index)):
            for axis, place in part.items:
                name = Key(place.text) if isinstance(place, Name) else None
                if name is None or self.find(name, env) is not None or self.known(("scalar", name), env) is not None:
                    continue
                base = self.value(part.base, env)
                need(base, *env.real(axis.name))
                (real,) = env.real(axis.name)
                return name, real, base.shape[real]
        return None
