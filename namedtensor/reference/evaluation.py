"""Formulas and programs, for the reference evaluator: the tree is walked, and each piece has a value.

A call of a function with a signature is the definition of lifting itself, [f(X, Y)]_s = f(X_s, Y_s): its body meets only
the axes of the signature. What a formula claims is checked as it is computed.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Index, Name, Node, Number, Size, axis_of
from grammar.parser import parse
from grammar.symbols import FUNCTIONS

from ..scope.binder import bind
from ..scope.names import Key, component, key, match_key, spelled, walk
from ..scope.symbols import Claim, Definition, FunctionDefinition, Scope
from .calculus import changes_in, derivative, differential
from .definitions import (
    Tensor,
    assemble,
    at,
    broadcast,
    index,
    lift,
    listed,
    merge,
    number,
    records,
    rename,
    split,
    unite,
)
from .environment import Environment, Fact, axis_named, need, plain, set_axes, whole
from .functions import apply, divide, power
from .names import CALLS, STEPS, Names
from .sizes import stated

TOLERANCE = 1e-6


class Evaluation(Names):
    """The value of each piece of one program, for given values and sizes."""

    def __init__(self, scope: Scope, values: Mapping[Key, Tensor], sizes: Mapping[str, int]):
        self.scope = scope
        self.sizes = sizes
        self.top = Environment(variables=dict(values))
        self.busy = set()
        self.calls = 0
        self.used = set()
        self.changes: dict[Key, tuple[Tensor, Tensor]] = {}
        for name, X in values.items():
            self.top.facts += declared_sizes(scope, name, X, self)

    def whole(self) -> Tensor:
        last = self.scope.last
        if last is None:
            raise NotationError(105, "there is no value here, only functions")
        if isinstance(last, Definition):
            return self.checked(self.last(last), True)
        return self.checked(
            self.all_elements(last, self.top) if self.scope.of_claim else self.value(last, self.top), True
        )

    def all_elements(self, side: Node, env: Environment) -> Tensor:
        """The value of a side of a claim, for every index that nothing says."""
        free = self.free_index((side,), env)
        if free is None:
            return self.value(side, env)
        name, axis, size = free
        envs = {(n,): Environment(parent=env, sizes_from=env, elements={name: number(n)}) for n in range(1, size + 1)}
        return assemble({axis: size}, {place: self.all_elements(side, inner) for place, inner in envs.items()})

    def last(self, definition: Definition) -> Tensor:
        if not definition.is_family:
            return self.find_known(definition.key)
        assert definition.range is not None
        end = self.bound(definition.range.last, self.top)
        return self.find_known(definition.name.key({definition.range.variable.text: end}.get))

    def find_known(self, name: Key) -> Tensor:
        found = self.find(name, self.top)
        if found is None:
            raise NotationError(201, f"{name} is not known")
        return found

    def checked(self, value: Tensor, whole: bool = False) -> Tensor:
        """The value, once everything that the program says of sizes and values is found to hold.

        Of a part of the program, not the `whole`, what is not given for that part may be claimed anything about.
        """
        self.check_facts([*stated(self.scope.sizes, self.top), *self.top.facts])
        self.check_given()
        for claim in self.scope.claims:
            try:
                self.check_claim(claim, self.top)
            except NotationError as problem:
                if whole or problem.number not in (201, 204, 206, 309):
                    raise
        self.check_members({*self.scope.definitions, *self.top.variables}, self.scope.families, self.top)
        for name in self.top.variables if whole else self.used:
            declared = self.scope.declaration(name)
            if declared is not None:
                self.check_domain(self.top.variables[name], declared[0], self.top)
        return value

    # -------------------------------------------------------------------------------------------------- expressions
    def value(self, node: Node, env: Environment) -> Tensor:
        """The value of an expression."""
        try:
            return self.RULES[type(node)](self, node, env)
        except NotationError as problem:
            raise problem.located(self.scope.source, node.span) from None

    def values(self, parts, env: Environment) -> list[Tensor]:
        return [self.value(part, env) for part in parts]

    def power(self, node: nodes.Superscript, env: Environment) -> Tensor:
        if spelled(node) is not None and len(node.components) != 1:
            raise NotationError(201, f"{spelled(node).key()} is not known")  # type: ignore[union-attr]
        return broadcast(power, *self.values((node.base, node.components[0]), env))

    def superscript(self, node: nodes.Superscript, env: Environment) -> Tensor:
        return self.power(node, env) if spelled(node) is None else self.name(node, env)

    def subscript(self, node: nodes.Subscript, env: Environment) -> Tensor:
        if spelled(node) is None:
            raise NotationError(112, "this subscript says neither an index nor a rename")
        return self.name(node, env)

    def index(self, node: Index, env: Environment) -> Tensor:
        base = self.value(node.base, env)
        indices: dict[str, Tensor] = {}
        for axis, part in node.items:
            for real in env.real(axis.name):
                need(base, real)
                if real in indices:
                    raise NotationError(303, f"{real} is indexed twice")
                indices[real] = self.value(part, env)
        return index(base, indices)

    def rename(self, node: nodes.Rename, env: Environment) -> Tensor:
        """Renames, merges and splits of one subscript: all old axes are taken before any new one is made."""
        base = self.value(node.base, env)
        pairs = [[tuple(r for axis in side for r in env.real(axis.name)) for side in item] for item in node.items]
        old = [axis for before, _ in pairs for axis in before]
        for axis in old:
            need(base, axis)
        if len(set(old)) != len(old):
            raise NotationError(303, "an axis is renamed twice")
        apart = {axis: f"old {axis}" for axis in old}
        result = rename(base, apart)
        for before, after in pairs:
            sources = tuple(apart[axis] for axis in before)
            if len(sources) == len(after):
                result = rename(result, dict(zip(sources, after)))
            elif len(after) == 1:
                result = merge(result, sources, after[0])
            else:
                result = split(result, sources[0], self.split_sizes(result.shape[sources[0]], after, env))
        return result

    def split_sizes(self, size: int, into: tuple[str, ...], env: Environment) -> dict[str, int]:
        """The sizes of the axes that one of this size becomes; one of them may follow from the others."""
        sizes = {axis: self.said(axis, env) for axis in into}
        if list(sizes.values()).count(None) > 1:
            sizes = {axis: self.known(("size", axis), env) for axis in into}
        unknown = [axis for axis in into if sizes[axis] is None]
        product = math.prod(found for found in sizes.values() if found is not None)
        if len(unknown) > 1:
            raise NotationError(309, f"the sizes of {' and '.join(unknown)} are not known")
        if unknown and (product == 0 or size % product):
            raise NotationError(313, f"{size} cannot be split by {product}")
        return {axis: size // product if found is None else found for axis, found in sizes.items()}

    def starred(self, node: nodes.Starred, env: Environment) -> Tensor:
        base = self.value(node.base, env)
        return rename(base, {axis: axis + node.mark for axis in base.shape})

    def literal(self, node: nodes.Literal, env: Environment) -> Tensor:
        axes = [real for axis in node.axes for real in env.real(axis.name)]
        if len(axes) != len(node.axes):
            raise NotationError(316, f"a literal takes {len(node.axes)} axes, not {len(axes)}")
        if len(set(axes)) < len(axes):
            raise NotationError(303, f"{axes[0]} is named twice")
        places = {
            (row, column)[2 - len(axes) :]: self.value(cell, env)
            for row, cells in enumerate(node.rows, 1)
            for column, cell in enumerate(cells, 1)
        }
        return assemble(dict(zip(axes, (len(node.rows), len(node.rows[0]))[2 - len(axes) :])), places)

    def cases(self, node: nodes.Cases, env: Environment) -> Tensor:
        """The value of the first case whose condition holds; a case that never holds needs no value."""
        conditions = [number(True) if test is None else self.condition(test, env) for _, test in node.branches]
        first = broadcast(lambda *holds: holds.index(True) if True in holds else None, *conditions)
        taken = set(first.entries.values())
        if None in taken:
            raise NotationError(405, "no case holds for some elements")
        options = [self.option(part, env, place in taken) for place, (part, _) in enumerate(node.branches)]
        return broadcast(lambda place, *found: found[place], first, *options)

    def option(self, node: Node, env: Environment, taken: bool) -> Tensor:
        try:
            return self.value(node, env)
        except NotationError as problem:
            if taken or problem.kind != "value":
                raise
            return number(math.nan)

    def condition(self, node: Node, env: Environment) -> Tensor:
        found = self.value(node, env)
        if not all(isinstance(entry, bool) for entry in found.entries.values()):
            raise NotationError(315, "a condition is due here, and this is a number")
        return found

    def indicator(self, node: nodes.Indicator, env: Environment) -> Tensor:
        return broadcast(int, self.condition(node.condition, env))

    def axis_size(self, node: Size, env: Environment) -> Tensor:
        """|a|: the size of an axis, or the absolute value of a tensor."""
        axis = node.axis.name
        size = self.size_value(node, env)
        base, _, label = axis.partition("_")
        found = self.find(Key(base, (label,) if label else ()), env)
        if size is not None and found is not None and found.shape:
            raise NotationError(205, f"{axis} is both an axis and a tensor")
        if size is not None:
            return number(size)
        if found is not None:
            return broadcast(abs, found)
        mentioned = [
            each.name for each in walk(self.scope.program) if isinstance(each, nodes.Axis) and each is not node.axis
        ]
        raise NotationError(309 if axis in mentioned else 204, f"the size of {axis} is not known")

    def derivative(self, node: nodes.Derivative, env: Environment) -> Tensor:
        return derivative(self, node, env)

    def differential(self, node: nodes.Differential, env: Environment) -> Tensor:
        return differential(self, node, env)

    # ------------------------------------------------------------------------------------------------- sums by index
    def index_sum(self, node: nodes.IndexSum, env: Environment) -> Tensor:
        first, last = self.bound(node.first, env), self.bound(node.last, env)
        return self.sum_over(node.operator, node.variable, range(first, last + 1), node.body, env)

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

    def summed_index(self, node: Call, env: Environment) -> range | None:
        """The values of i in ∑_i A_{height(i)}; None where i is an axis."""
        variable = node.subscript[0] if len(node.subscript) == 1 else None
        if not isinstance(variable, Name) or variable.text in env.axes:
            return None
        sizes = set()
        for base_node, axis in indexed_by(variable, node.arguments[0]):
            base = self.value(base_node, env)
            need(base, *env.real(axis.name))
            sizes |= {base.shape[real] for real in env.real(axis.name)}
        if len(sizes) > 1:
            raise NotationError(302, f"{variable.text} indexes axes of several sizes: {sorted(sizes)}")
        return range(1, sizes.pop() + 1) if sizes else None

    # ------------------------------------------------------------------------------------------------------- calls
    def call(self, node: Call, env: Environment) -> Tensor:
        function, bound = self.matching(node, env)
        if function is not None:
            return self.call_defined(function, bound, node, env)
        if node.operator == "size":
            return self.size_of(node, env)
        if node.operator in ("∑", "∏"):
            over = self.summed_index(node, env)
            if over is not None:
                return self.sum_over(node.operator, node.subscript[0], over, node.arguments[0], env)  # type: ignore[arg-type]
        axes = tuple(real for part in node.subscript for real in env.real(axis_named(part)))
        options = tuple(plain(option) for option in self.values(node.parameters, env))
        if None in options or len(options) > (node.operator in ("norm", "standardize")):
            raise NotationError(304, f"{node.operator} was given what it does not take after the semicolon")
        arguments = self.values(node.arguments, env)
        small = self.find(Key("ε"), env) if node.operator == "standardize" and not options else None
        if small is not None and len(arguments) == 1:
            return self.standardized(arguments[0], axes, small)
        result = apply(node.operator, arguments, axes, options, lambda axis: self.size(axis, env))
        return broadcast(power, result, self.value(node.superscript[0], env)) if node.superscript else result

    def standardized(self, X: Tensor, axes: tuple[str, ...], small: Tensor) -> Tensor:
        """standardize_{ax} X with an ε that the program has, or was given."""
        mean, var = (apply(name, [X], axes, (), len) for name in ("mean", "var"))
        return broadcast(lambda x, m, v, e: divide(x - m, power(v + e, 0.5)), X, mean, var, small)

    def size_of(self, node: Call, env: Environment) -> Tensor:
        if len(node.arguments) != 1:
            raise NotationError(304, "size takes the name of one axis")
        return number(math.prod(self.size(axis, env) for axis in env.real(axis_named(node.arguments[0]))))

    def matching(self, node: Call, env: Environment) -> tuple[FunctionDefinition | None, dict[str, Any]]:
        """The function that a use means, the one spelled exactly so before others, and what its head binds."""
        found = []
        for function in self.scope.functions.get(node.operator, []):
            bound = self.match(function, node, env)
            same = (function.head.subscript, function.head.superscript) == (node.subscript, node.superscript)
            if bound is not None:
                found.append((not same, len(found), function, bound))
        if not found and node.operator in self.scope.functions:
            raise NotationError(201, f"no definition of {node.operator} fits this use")
        return min(found)[2:] if found else (None, {})

    def match(self, function: FunctionDefinition, node: Call, env: Environment) -> dict[str, Any] | None:
        """What each component of a head stands for in this use: an axis, a number, an index, or just its label."""
        heads = list(function.subscript)
        if len(heads) == 1 and heads[0][0] == "axis":
            heads *= max(1, len(node.subscript))  # one axis of a head stands for as many as the use names
        if (len(heads), len(function.superscript)) != (len(node.subscript), len(node.superscript)):
            return None
        bound: dict[str, Any] = {"axes": {}, "numbers": {}, "indices": {}}
        for (kind, text), part in zip((*heads, *function.superscript), (*node.subscript, *node.superscript)):
            use = component(part, env.index)
            if kind == "axis":
                axis = axis_of(part)
                if axis is None:
                    return None
                bound["axes"][text] = bound["axes"].get(text, ()) + env.real(axis.name)
            elif kind == "number":
                bound["numbers"][text] = part
            elif kind == "index":
                if bound["indices"].setdefault(text, use) != use:
                    return None
            elif text not in (use, component(part)):
                return None
        return bound

    def call_defined(self, function: FunctionDefinition, bound: dict[str, Any], node: Call, env: Environment) -> Tensor:
        arguments = self.values((*node.arguments, *node.parameters), env)
        count = len(function.parameters) if not node.parameters else len(node.arguments)
        numbers = {name: self.value(part, env) for name, part in bound["numbers"].items()}
        return self.enter(function, bound, numbers, arguments[:count], arguments[count:], env)

    def enter(self, function: FunctionDefinition, bound, numbers, arguments, options, caller: Environment) -> Tensor:
        """f(X; W): where f has a signature, for every record of the extra axes, f of the parts of its arguments there."""
        if len(arguments) != len(function.parameters) or len(options) > len(function.options):
            given = f"{len(arguments)} arguments and {len(options)} options"
            raise NotationError(304, f"{function.title} was given {given}")
        options = [*options, *(self.option_named(function, name.key()) for name in function.options[len(options) :])]
        needed = needed_axes(function, bound["axes"], [*arguments, *options])
        met = self.meeting(function, bound["axes"], [*arguments, *options])
        if met is not None:
            return self.enter_apart(met, function, bound, numbers, arguments, options, caller)
        mark = (id(function), str(bound["indices"]), str(numbers))
        if mark in self.busy:
            raise NotationError(203, f"{function.title} needs itself")

        def result(*parts: Tensor) -> Tensor:
            return self.body(function, bound, numbers, parts, caller)

        self.busy.add(mark)
        try:
            return lift(result, [*arguments, *options], needed)
        finally:
            self.busy.discard(mark)

    def meeting(
        self, function: FunctionDefinition, axes: dict[str, tuple[str, ...]], tensors: list[Tensor]
    ) -> str | None:
        """An axis of this use that is also one of the body's own, and that each argument over it has."""
        if function.signature is None:
            return None
        own = axes_of_body(function)
        for formal, real in ((formal, real) for formal, reals in axes.items() for real in reals if real in own):
            sets = [*function.signature.domain, *(function.declarations.get(name.key()) for name in function.options)]
            due = [of is None or formal in {axis.name for axis, _ in of.axes} for of in sets]
            if any(due) and all((real in X.shape) == wanted for X, wanted in zip(tensors, due)):
                return real
        return None

    def enter_apart(
        self, axis: str, function: FunctionDefinition, bound, numbers, arguments, options, caller: Environment
    ) -> Tensor:
        """g_{c}(V) as g_{c'}(V_{c→c'}), where the body has an axis c of its own."""
        named = {each.name for each in walk(self.scope.program) if isinstance(each, nodes.Axis)} | axes_of_body(
            function
        )
        named = named.union(*(X.shape for X in (*arguments, *options, *self.top.variables.values())))
        other = axis + "'"
        while other in named:
            other += "'"

        def turned(X: Tensor, old: str, new: str) -> Tensor:
            return rename(X, {each: new + each[len(old) :] for each in X.shape if each.rstrip("*†‡") == old})

        axes = {
            formal: tuple(other if real == axis else real for real in reals) for formal, reals in bound["axes"].items()
        }
        parts = [turned(X, axis, other) for X in (*arguments, *options)]
        count = len(arguments)
        value = self.enter(function, {**bound, "axes": axes}, numbers, parts[:count], parts[count:], caller)
        return turned(value, other, axis)

    def option_named(self, function: FunctionDefinition, name: Key) -> Tensor:
        """A parameter after the semicolon that the call leaves out: the input or tensor of that name."""
        found = self.find(name, self.top) if name in self.top.variables or name not in function.declarations else None
        if found is None:
            raise NotationError(206, f"{name} is a parameter of {function.title}, and no value was given for it")
        return found

    def body(self, function: FunctionDefinition, bound, numbers, parts, caller: Environment) -> Tensor:
        """The value of a function's body for arguments that have no extra axes."""
        self.calls += 1
        if self.calls > CALLS:
            raise NotationError(404, f"functions are called more than {CALLS} times here")
        names = [name.key() for name in (*function.parameters, *function.options)]
        signature = function.signature
        inner = Environment(
            parent=self.top, sizes_from=caller, function=function,
            variables={**dict(zip(names, parts)), **{Key(text): value for text, value in numbers.items()}},
            axes=bound["axes"], indices=bound["indices"],
        )  # fmt: skip
        for name, X in zip(names, parts):
            if name in function.declarations:
                inner.facts += self.sizes_of(function.declarations[name], X, inner)
        for of, X in zip(signature.domain if signature else (), parts):
            inner.facts += self.sizes_of(of, X, inner)
        value = self.value(function.body, inner)
        for of in (*((signature.codomain,) if signature else ()), *function.statement.sets):
            self.check_member(value, of, inner)
        self.check_facts([*stated(function.sizes, inner), *inner.facts])
        for claim in (*function.local_claims, *(Claim(function.body, other, (0, 0)) for other in function.claims)):
            self.check_claim(claim, inner)
        self.check_members(set(function.facts), function.families, inner)
        return value

    # ------------------------------------------------------------------------------------------------ what is claimed
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
        ends = [self.size_value(node, env) for node in of.elements]
        if None in ends or of.domain == "reals":
            return
        holds = {
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
                step = whole(indices.get(over.variable.text))
                if step is not None and self.bound(over.first, holder) <= step <= self.bound(over.last, holder):
                    env = Environment(parent=holder, sizes_from=holder, indices={**indices, over.variable.text: step})
                    self.check_claim(Claim(family.head, family.body, family.statement.span), env)

    def check_claim(self, claim: Claim, env: Environment) -> None:
        if claim.range is not None:
            over = claim.range
            for step in range(self.bound(over.first, env), self.bound(over.last, env) + 1):
                place = Environment(parent=env, sizes_from=env, indices={over.variable.text: step})
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
        self.changes = changes_in(self, (claim.left, claim.right), env)
        left, right = self.value(claim.left, env), self.value(claim.right, env)
        self.changes = {}
        if left.shape and right.shape and set(left.shape) != set(right.shape):
            raise NotationError(307, "the two sides of = have different axes")
        pairs = [(left(record), right(record)) for record in records(unite(left.shape, right.shape))]
        scale = max((abs(x) for pair in pairs for x in pair if abs(x) < math.inf), default=0)
        for x, y in pairs:
            if not (x == y or abs(x - y) <= TOLERANCE * scale or (x != x and y != y)):
                message = f"this does not hold: {x} on the left, {y} on the right"
                raise NotationError(403, message, self.scope.source, claim.span)

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

    RULES: dict[type, Callable[..., Tensor]] = {
        Number: lambda self, node, env: number(node.value),
        Name: Names.name,
        nodes.Subscript: subscript,
        nodes.Superscript: superscript,
        Index: index,
        nodes.Rename: rename,
        nodes.Starred: starred,
        Size: axis_size,
        Call: call,
        nodes.IndexSum: index_sum,
        nodes.Literal: literal,
        nodes.Cases: cases,
        nodes.Indicator: indicator,
        nodes.Differential: differential,
        nodes.Derivative: derivative,
    }


def indexed_by(variable: Name, node: Any) -> Iterator[tuple[Node, nodes.Axis]]:
    """What a variable indexes below a node, and along which axis; a sum inside that binds it anew is passed over."""
    for inner in nodes.children(node):
        if not (isinstance(inner, Call) and inner.operator in ("∑", "∏") and inner.subscript == (variable,)):
            yield from indexed_by(variable, inner)
    if isinstance(node, Index):
        yield from ((node.base, axis) for axis, part in node.items if part == variable)


# ------------------------------------------------------------------------------------------------- what is declared
def declared_sizes(scope: Scope, name: Key, X: Tensor, evaluation: Evaluation) -> list[Fact]:
    declared = scope.declaration(name)
    if declared is None:
        return []
    env = Environment(parent=evaluation.top, indices=declared[1])
    for axis, _ in set_axes(declared[0], env):
        if axis in evaluation.sizes and evaluation.sizes[axis] != X.shape.get(axis):
            wanted = evaluation.sizes[axis]
            raise NotationError(308, f"{axis} is {X.shape.get(axis)} in {name}, and sizes= says {wanted}")
    return evaluation.sizes_of(declared[0], X, env)


def input_axes(scope: Scope, name: Key, X: Tensor) -> tuple[str, ...]:
    """The axes that the program itself gives an input; all others are extra."""
    declared = scope.declaration(name)
    of = declared[0] if declared is not None else None
    for function in scope.all_functions():
        if of is None and function.signature is not None and name in (option.key() for option in function.options):
            of = function.declarations.get(name)
    return tuple(X.shape) if of is None else tuple(axis for axis, _ in set_axes(of, Environment()))


def axes_of_body(function: FunctionDefinition) -> set[str]:
    """The axes that the body of a function, and what belongs to it, name, and neither its head nor its signature."""
    pieces = [function.body, *(each.statement for group in function.facts.values() for each in group)]
    pieces += [each.statement for each in function.families]
    found: set[str] = set()
    for node in (inner for piece in pieces for inner in walk(piece)):
        found |= {node.name.rstrip("*†‡")} if isinstance(node, nodes.Axis) else set()
        named = node.subscript if isinstance(node, Call) else ()
        if isinstance(node, nodes.Subscript) and isinstance(node.base, Name) and node.base.text in ("iota", "ι", "I"):
            named = node.components
        found |= {axis.name.rstrip("*†‡") for axis in map(axis_of, named) if axis is not None}
    assert function.signature is not None
    stated = {axis.name for of in (*function.signature.domain, function.signature.codomain) for axis, _ in of.axes}
    return found - stated - {text for kind, text in function.subscript if kind == "axis"}


def needed_axes(
    function: FunctionDefinition, axes: dict[str, tuple[str, ...]], tensors: list[Tensor]
) -> list[tuple[str, ...]]:
    """The axes that a function needs of each argument and parameter: those of its signature and of its declarations."""
    if function.signature is None:
        return [tuple(X.shape) for X in tensors]
    domain = list(function.signature.domain)
    if len(domain) != len(function.parameters):
        raise NotationError(304, f"the signature of {function.title} has another number of arguments than its head")
    sets = domain + [function.declarations.get(name.key()) for name in function.options]
    place = Environment(axes=axes)
    return [tuple(X.shape if of is None else (a for a, _ in set_axes(of, place))) for X, of in zip(tensors, sets)]


# ---------------------------------------------------------------------------------------------------- the public way
def as_tensor(value: Any, name: str) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (bool, int, float)):
        return number(value)
    raise NotationError(317, f"{name} was given as {type(value).__name__}, which is neither a Tensor nor a number")


def run(scope: Scope, inputs: Mapping[Key, Tensor], sizes, arguments, needed, compute) -> Tensor:
    """A program is a function of its arguments and of the declared inputs that it uses: it is lifted by that type."""
    used: set[Key] = set()

    def result(*parts: Tensor) -> Tensor:
        evaluation = Evaluation(scope, dict(zip(inputs, parts)), sizes)
        value = compute(evaluation, parts[len(inputs) :])
        used.update(evaluation.used)
        return value

    tensors = [*inputs.values(), *arguments]
    axes = [*(input_axes(scope, name, X) for name, X in inputs.items()), *needed]
    with deep_recursion():
        anywhere = [first(X, own) for X, own in zip(tensors, axes)]
        value = result(*anywhere)  # tells which inputs are used
        lifted = [*(name in used for name in inputs), *(True for _ in arguments)]
        tensors = [X if chosen else part for X, part, chosen in zip(tensors, anywhere, lifted)]
        return value if all(map(operator.is_, tensors, anywhere)) else lift(result, tensors, axes)


def first(X: Tensor, axes: tuple[str, ...]) -> Tensor:
    """The part of a tensor at the first record of its extra axes; itself where it has none."""
    extra = {axis: 1 for axis in X.shape if axis not in axes}
    return at(X, extra) if extra else X


@contextmanager
def deep_recursion():
    """Formulas nest deeper than Python's own limit on calls."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 20_000))
    try:
        yield
    except RecursionError:
        raise NotationError(404, "this formula nests too deep") from None
    finally:
        sys.setrecursionlimit(before)


def read(source: str, syntax: str, values: Mapping[str, Any]) -> tuple[Scope, dict[Key, Tensor]]:
    inputs = {key(name): as_tensor(value, name) for name, value in values.items()}
    shadowed = frozenset(str(name) for name in inputs if str(name) in FUNCTIONS or name != Key(name.base))
    given = {name: frozenset(X.shape) for name, X in inputs.items()}
    return bind(source, parse(source, syntax, shadowed), given), inputs


def evaluate(source: str, values: Mapping[str, Any], sizes: Mapping[str, int], syntax: str) -> Tensor:
    scope, inputs = read(source, syntax, values)
    return run(scope, inputs, sizes, [], [], lambda evaluation, _: evaluation.whole())


def call(source: str, name: str, arguments, values: Mapping[str, Any], sizes: Mapping[str, int], syntax: str) -> Tensor:
    scope, inputs = read(source, syntax, values)
    wanted = key(name)
    if wanted.base not in scope.functions:
        if arguments:
            raise NotationError(304, f"{name} is no function, and was given {len(arguments)} arguments")
        return run(
            scope, inputs, sizes, [], [], lambda evaluation, _: evaluation.checked(evaluation.find_known(wanted))
        )
    superscript, subscript = (tuple(map(part_of_name, parts)) for parts in (wanted.superscript, wanted.subscript))
    use = Call(wanted.base, superscript, subscript, ())
    function, bound = Evaluation(scope, {}, sizes).matching(use, Environment())
    assert function is not None
    tensors = [as_tensor(argument, f"argument {place}") for place, argument in enumerate(arguments, 1)]
    tensors += [inputs[name.key()] for name in function.parameters[len(tensors) :] if name.key() in inputs]
    count = len(function.parameters)

    def compute(evaluation: Evaluation, parts) -> Tensor:
        numbers = {text: evaluation.value(part, evaluation.top) for text, part in bound["numbers"].items()}
        value = evaluation.enter(function, bound, numbers, parts[:count], parts[count:], evaluation.top)
        return evaluation.checked(value)

    return run(scope, inputs, sizes, tensors, needed_axes(function, bound["axes"], tensors), compute)


def part_of_name(text: str) -> Node:
    return Number(int(text)) if text.isdecimal() else Name(text)
