"""The reference evaluator: a value for each node of the tree, by the definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Index, Name, Node, Number, Size

from ..operators import REGISTRY
from ..operators.definitions import divide, power
from ..scope.mentions import NEARLY
from ..scope.names import Key, plain_key, spelled, walk
from ..scope.resized_axes import is_used
from ..scope.shape_variables import stand_for
from ..scope.symbols import Definition, Scope
from ..scope.updates import REPLACING
from .calculus import derivative, differential, with_others
from .definitions import Tensor, assemble, broadcast, index, merge, number, rename, split, unite
from .draws import draw, expectation
from .element_updates import chosen_by
from .environment import Environment, Fact, axis_named, need, one_axis, plain, set_axes
from .functions import apply, is_reduction
from .names import Names
from .sizes import facts_in
from .sums import BEST, Sums


class Evaluation(Sums):
    """The value of each piece of one program, for given values and sizes."""

    def __init__(self, scope: Scope, values: Mapping[Key, Tensor], sizes: Mapping[str, int]):
        self.scope = scope
        self.sizes = sizes
        self.top = Environment(
            variables=dict(values), axes=stand_for(scope, {name: X.shape for name, X in values.items()})
        )
        self.busy = set()
        self.calls = 0
        self.used = set()
        self.changes: dict[Key, tuple[Tensor, Tensor]] = {}
        for name, X in values.items():
            self.top.facts += declared_sizes(scope, name, X, self)

    def whole(self) -> Tensor:
        last = self.scope.valued
        if last is None:
            raise NotationError(105, "there is no value to compute, only functions")
        if isinstance(last, Definition):
            return self.checked(self.last(last), True)
        return self.checked(
            self.all_elements(last, self.top) if last is self.scope.claimed else self.value(last, self.top), True
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
        ends: dict[str, int] = {}
        for over in definition.range.each:
            place = Environment(parent=self.top, sizes_from=self.top, indices=dict(ends))
            ends[over.variable.text] = self.bound(over.last, place)
        return self.find_known(definition.name.key(ends.get))

    def find_known(self, name: Key) -> Tensor:
        found = self.find(name, self.top)
        if found is None:
            raise NotationError(201, f"{name} is not known", symbol=str(name))
        return found

    def checked(self, value: Tensor, whole: bool = False) -> Tensor:
        """The value, once everything that the program says of sizes and values is found to hold.

        Of a part of the program, not the `whole`, what is not given for that part may be claimed anything about.
        """
        self.check_facts([*facts_in(self.scope.sizes, self.top), *self.top.facts])
        self.check_given()
        for claim in self.scope.claims:
            try:
                self.check_claim(claim, self.top)
            except NotationError as problem:
                if whole or problem.code not in (201, 204, 206, 309):
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
        if len(node.components) != 1:
            raise NotationError(201, "expected one exponent or a defined name")
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
            real = one_axis(axis, env)
            need(base, real)
            if real in indices:
                raise NotationError(303, f"axis {real} is indexed twice")
            indices[real] = self.sliced(part, real, env) if isinstance(part, nodes.Slice) else self.value(part, env)
        return index(base, indices)

    def sliced(self, part: nodes.Slice, axis: str, env: Environment) -> Tensor:
        """first, first + 1, …, last along an axis"""
        first, last = (int(plain(self.value(end, env))) for end in (part.first, part.last))
        if last < first:
            raise NotationError(401, "a slice is empty")
        return Tensor({axis: last - first + 1}, lambda s: first + s[axis] - 1)

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
            raise NotationError(405, "no case applies to some elements")
        options = [self.option(part, env, place in taken) for place, (part, _) in enumerate(node.branches)]
        return broadcast(lambda place, *found: found[place], first, *options)

    def option(self, node: Node, env: Environment, taken: bool) -> Tensor:
        try:
            return self.value(node, env)
        except NotationError as problem:
            if taken or not (problem.kind == "value" or self.is_beyond_family(problem, env)):
                raise
            return number(math.nan)

    def is_beyond_family(self, problem: NotationError, env: Environment) -> bool:
        """Whether a member is not known, F_{-1}, of a family that is."""
        functions = [place.function for place in env.outwards() if place.function is not None]
        families = [*self.scope.families, *(family for function in functions for family in function.families)]
        bases = {family.name.base for family in families}
        return problem.code in (201, 310) and problem.symbol is not None and plain_key(problem.symbol).base in bases

    def condition(self, node: Node, env: Environment) -> Tensor:
        found = self.value(node, env)
        if not all(isinstance(entry, bool) for entry in found.entries.values()):
            raise NotationError(315, "expected a condition, got a number")
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
        raise self.unknown_size(axis)

    def unknown_size(self, axis: str) -> NotationError:
        """Return the error for |axis| if no tensor has the axis: of unknown size, or not an axis at all."""
        sized = {id(each.axis) for each in walk(self.scope.program) if isinstance(each, Size)}
        named = (each for each in walk(self.scope.program) if isinstance(each, nodes.Axis) and id(each) not in sized)
        known = any(each.name == axis for each in named)
        return NotationError(309 if known else 204, f"the size of {axis} is not known")

    def derivative(self, node: nodes.Derivative, env: Environment) -> Tensor:
        return derivative(self, node, env)

    def at_point(self, node: nodes.AtPoint, env: Environment) -> Tensor:
        """The body, did these names stand for other tensors."""
        others = {Key(name.text): self.value(value, env) for name, value in node.points}
        for name, value in node.points:
            if not is_used(self.scope, node.body, name.text):
                raise NotationError(201, f"this has no {name.text}", symbol=name.text)
            found = self.find(Key(name.text), env)
            if found is not None and isinstance(value, Number) and value.value == 0:  # zeros of its type
                others[Key(name.text)] = broadcast(lambda _: 0, found)
        known = {key for key in others if self.find(key, env) is not None}
        own = {key: X for key, X in others.items() if key not in known}
        inner = Environment(parent=env, sizes_from=env, elements=own)
        return with_others(self, node.body, inner, {key: others[key] for key in known})

    def differential(self, node: nodes.Differential, env: Environment) -> Tensor:
        return differential(self, node, env)

    # ------------------------------------------------------------------------------------------------------- calls
    def call(self, node: Call, env: Environment) -> Tensor:
        function, bound = self.matching(node, env)
        if function is not None:
            return self.call_defined(function, bound, node, env)
        if node.operator in NEARLY:
            return self.nearly(node, env)
        if node.operator == "size":
            return self.size_of(node, env)
        if (is_reduction(node.operator) or node.operator in BEST) and len(node.arguments) == 1 and not node.parameters:
            several = self.several_sums(node, env)
            if several is not None:
                return several
            over = self.summed_index(node, env)
            if over is not None:
                return self.fold(node.operator, node.subscript[0], over, node.arguments[0], env)  # type: ignore[arg-type]
        if node.operator == REPLACING:
            return self.replaced(node, env)
        if node.operator == "‖":
            return self.norm_of_all(node, env)
        if node.operator == "log" and [type(part) for part in node.subscript] == [Number]:
            (X,) = self.values(node.arguments, env)
            base = self.value(node.subscript[0], env)
            result = broadcast(
                lambda x, b: divide(*(apply("log", [number(n)], (), (), len)({}) for n in (x, b))), X, base
            )
            return broadcast(power, result, self.value(node.superscript[0], env)) if node.superscript else result
        axes = tuple(real for part in node.subscript for real in env.real(axis_named(part)))
        options = tuple(plain(option) for option in self.values(node.parameters, env))
        known = REGISTRY[node.operator].options if node.operator in REGISTRY else ()
        if None in options or len(options) > len(known):
            raise NotationError(304, f"{node.operator} was given what it does not take after the semicolon")
        arguments = self.values(node.arguments, env)
        small = self.find(Key("ε"), env) if node.operator == "standardize" and not options else None
        if small is not None and len(arguments) == 1:
            return self.standardized(arguments[0], axes, small)
        while len(arguments) > 2 and is_reduction(node.operator) and not axes:  # max(x, y, z)
            arguments = [apply(node.operator, arguments[:2], axes, options, len), *arguments[2:]]
        result = apply(node.operator, arguments, axes, options, lambda axis: self.size(axis, env))
        return broadcast(power, result, self.value(node.superscript[0], env)) if node.superscript else result

    def replaced(self, node: Call, env: Environment) -> Tensor:
        """C_{seq(2)} ← V: at each record the value that replaces it, or what is there."""
        target, body = node.arguments
        assert isinstance(target, Index)
        base, value = self.values((target.base, body), env)
        result = base
        items = [(real, part) for axis, part in target.items for real in env.real(axis.name)]
        need(base, *(axis for axis, _ in items))
        for record, chosen in chosen_by(items, base, value, lambda part: self.value(part, env)):
            shape = unite(result.shape, {axis: size for axis, size in chosen.shape.items() if axis not in base.shape})
            before = result
            result = Tensor(
                shape,
                lambda s, before=before, record=record, chosen=chosen: (
                    chosen(s) if all(s[axis] == at for axis, at in record.items()) else before(s)
                ),
            )
        return result

    def norm_of_all(self, node: Call, env: Environment) -> Tensor:
        """‖x‖, ‖x‖_p"""
        (X,) = self.values(node.arguments, env)
        options = tuple(plain(option) for option in self.values(node.parameters, env))
        return apply("norm", [X], tuple(X.shape), options, len) if X.shape else broadcast(abs, X)

    def standardized(self, X: Tensor, axes: tuple[str, ...], small: Tensor) -> Tensor:
        """standardize_{ax} X with an ε that the program has, or was given."""
        mean, var = (apply(name, [X], axes, (), len) for name in ("mean", "var"))
        return broadcast(lambda x, m, v, e: divide(x - m, power(v + e, 0.5)), X, mean, var, small)

    def size_of(self, node: Call, env: Environment) -> Tensor:
        if len(node.arguments) != 1:
            raise NotationError(304, "size expects the name of one axis")
        axes = env.real(axis_named(node.arguments[0]))
        sizes = [self.known(("size", axis), env) for axis in axes]
        if None in sizes:
            raise self.unknown_size(axes[sizes.index(None)])
        return number(math.prod(sizes))

    RULES: dict[type, Callable[..., Tensor]] = {
        Number: lambda self, node, env: number(node.value),
        Name: Names.name,
        nodes.Over: Sums.over,
        nodes.AtPoint: at_point,
        nodes.Draw: draw,
        nodes.Expectation: expectation,
        nodes.Subscript: subscript,
        nodes.Superscript: superscript,
        Index: index,
        nodes.Rename: rename,
        nodes.Starred: starred,
        Size: axis_size,
        Call: call,
        nodes.IndexSum: Sums.index_sum,
        nodes.Literal: literal,
        nodes.Cases: cases,
        nodes.Indicator: indicator,
        nodes.Differential: differential,
        nodes.Derivative: derivative,
    }


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
