"""Names, for the reference evaluator: what a name stands for where it is used, and what an equation gives it.

A name is looked up in the call of a function (its arguments, the equations that belong to it), then in the program. An
equation for elements computes each element alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Name, Node, axis_of

from ..scope.mentions import OF_AXES
from ..scope.names import CONSTANTS, Key, Spelled, component, match_key, spelled, walk
from ..scope.symbols import Definition
from .definitions import Tensor, assemble, number, position, records
from .environment import Environment, nearest_call, one_axis, plain, set_axes, whole
from .sizes import Sizes, whole_size

STEPS = 10**5
CALLS = 4 * 10**4


class Names(Sizes):
    """Name resolution of one program while it is evaluated."""

    used: set[Key]
    value: Callable[..., Tensor]
    power: Callable[..., Tensor]
    check_definition: Callable[..., Tensor]

    def find(self, name: Key, env: Environment) -> Tensor | None:
        """Resolve a name: an argument, a fact of the function, an index, a size; then the same further out."""
        for place in env.outwards():
            if name in place.elements:
                return place.elements[name]
            if name in place.variables:
                self.used |= {name} if place is self.top else set()
                return place.variables[name]
            found = self.fact(name, place, env)
            if found is not None:
                return found
            solved = self.solve(("scalar", name), place.facts) if place.function is not None else None
            if solved is not None:
                return number(solved)
            if name == Key(name.base) and whole(place.indices.get(name.base)) is not None:
                return number(whole(place.indices[name.base]))
        return None

    def fact(self, name: Key, holder: Environment, env: Environment) -> Tensor | None:
        """The value of an equation that belongs to the function called, or to the program."""
        owner: Any = holder.function or (self.scope if holder is self.top else None)
        if owner is None:
            return None
        definitions = owner.facts if holder.function else owner.definitions
        if name in definitions:
            return self.define(name, definitions[name], holder, env)
        for own, group in definitions.items() if name.superscript else ():
            if own.base == name.base and group[0].name.key(env.index) == name:  # h^l in a function f^l
                return self.define(own, group, holder, env)
        for family in owner.families:
            indices = match_key(family.name, name, self.scope.indices)
            member = None if indices is None else self.family(family, indices, holder, env)
            if member is not None:
                return member
        for own, group in definitions.items() if owner.families and (name.superscript or name.subscript) else ():
            if own.base == name.base and self.numbered(group[0].name, env) == name:  # a^{n} where n is 4
                return self.define(own, group, holder, env)
        return None

    def numbered(self, name: Spelled, env: Environment) -> Key:
        """The key of a name whose labels are numbers where these are known."""

        def text(part: Node) -> str:
            size = whole(self.size_value(part, env)) if not isinstance(part, nodes.Number) else None
            return component(part, env.index) if size is None else str(size)

        return Key(name.base, tuple(map(text, name.subscript)), tuple(map(text, name.superscript)))

    def define(self, name: Key, group: list[Definition], holder: Environment, env: Environment) -> Tensor:
        """The value of an equation. What the program says of sizes is about the call that asks."""
        asking = nearest_call(env) if holder is self.top else holder
        place = Environment(parent=holder, sizes_from=asking)

        def compute() -> Tensor:
            value = self.by_elements(group, place) if group[0].elements else self.value(group[0].body, place)
            return self.check_definition(group, value, place)

        return self.once(name, asking, compute)

    def once(self, name: Key, holder: Environment, compute: Callable[[], Tensor]) -> Tensor:
        """The value of a name in an environment, computed once; it cannot need itself."""
        if name not in holder.memo:
            mark = (id(holder), name)
            if mark in self.busy:
                raise NotationError(203, f"circular definition of {name}")
            self.busy.add(mark)
            try:
                holder.memo[name] = compute()
            finally:
                self.busy.discard(mark)
        return holder.memo[name]

    def family(
        self, family: Definition, indices: dict[Any, Any], holder: Environment, env: Environment
    ) -> Tensor | None:
        """X^l of X^l = … for l = 1, …, n; those before it come first."""
        assert family.range is not None
        variable = family.range.variable.text
        found = {each: whole(indices[each]) if each in indices else None for each in family.range.variables}
        if None in found.values():
            return None
        if (name := family.name.key({**indices, **found}.get)) in holder.memo:
            return holder.memo[name]
        if not self.in_ranges(family.range, {**indices, **found}, holder):
            return None
        indices, wanted = {**indices, **found}, int(indices[variable])
        if family.range.further is not None or family.range.downward:  # no order that is surely right
            place = Environment(parent=holder, sizes_from=holder, indices=indices)
            return self.once(name, holder, partial(self.member, family, place))
        first = self.bound(family.range.first, holder)
        if wanted - first >= STEPS:
            raise NotationError(404, f"a recurrence of {wanted - first + 1} steps is too long here")
        value = None
        for step in range(first, wanted + 1):
            place = Environment(parent=holder, sizes_from=holder, indices={**indices, variable: step})
            name = family.name.key(place.indices.get)
            own = holder.function.facts if holder.function is not None else self.scope.definitions
            if step == wanted or (name not in {*holder.variables, *own} and (id(holder), name) not in self.busy):
                value = self.once(name, holder, partial(self.member, family, place))
        return value

    def in_ranges(self, over: nodes.Range, indices: Mapping[str, Any], holder: Environment) -> bool:
        """Whether the numbers that indices are lie in their ranges, of which later ones may depend on earlier."""
        for each in over.each:
            place = Environment(parent=holder, sizes_from=holder, indices=dict(indices))
            if not self.bound(each.low, place) <= indices[each.variable.text] <= self.bound(each.high, place):
                return False
        return True

    def member(self, family: Definition, place: Environment) -> Tensor:
        value = self.by_elements([family.member()], place) if family.elements else self.value(family.body, place)
        return self.check_definition([family], value, place)

    def bound(self, node: Node, env: Environment) -> int:
        """The beginning or the end of a range or a sum."""
        found = whole(self.size_value(node, env))
        if found is None:
            raise NotationError(309, "this end of a range has no value", hint="give it by name in sizes")
        return found

    def name(self, node: Node, env: Environment) -> Tensor:
        """A name, with or without labels; or a power of one."""
        name = spelled(node)
        assert name is not None
        wanted = name.key(env.index)
        found = self.find(wanted, env)
        if found is None and (name.subscript or name.superscript):
            found = self.find_by_value(name, env)
        if found is None and isinstance(node, nodes.Subscript):
            found = self.made_of_axes(name, env)
        if found is not None:
            return found
        size = self.known(("scalar", wanted), env)
        if size is not None:
            return number(size)
        if self.scope.declaration(wanted) is not None:
            raise NotationError(206, f"{wanted} is declared, but no value was given for it")
        if isinstance(node, nodes.Superscript):
            return self.power(node, env)
        if wanted == Key(name.base) and name.base in CONSTANTS:
            return number(CONSTANTS[name.base])
        raise NotationError(201, f"{wanted} is not known", symbol=str(wanted))

    def key_of(self, name: Spelled, env: Environment) -> Key:
        """Which name is meant: X^L may be X^2."""
        wanted = name.key(env.index)
        if self.find(wanted, env) is not None:
            return wanted
        return self.key_by_value(name, env) or wanted

    def find_by_value(self, name: Spelled, env: Environment) -> Tensor | None:
        found = self.key_by_value(name, env)
        return None if found is None else self.find(found, env)

    def key_by_value(self, name: Spelled, env: Environment) -> Key | None:
        """X^L as X^2, where L is 2 and X a family."""
        families = [family.name.base for family in self.scope.families]
        families += [each.base for _, each, _, over in self.scope.declarations if over is not None]
        for place in env.outwards():
            families += [family.name.base for family in place.function.families] if place.function else []
        if name.base not in families:
            return None

        def value(word: str) -> Any:
            return env.index(word) or whole(self.known_number(("scalar", Key(word)), env))

        def member(part: Node) -> str:
            size = None if isinstance(part, (Name, nodes.Number)) else self.size_value(part, env)
            return component(part, value) if size is None else str(whole_size(size, name.base))

        return Key(name.base, tuple(map(member, name.subscript)), tuple(map(member, name.superscript)))

    def made_of_axes(self, name: Spelled, env: Environment) -> Tensor | None:
        """iota_{ax}, I_{ax,ax'} and ones_{ax,…}."""
        axes = [axis_of(part) for part in name.subscript]
        if name.superscript or name.base not in OF_AXES or None in axes:
            return None
        real = [each for axis in axes for each in env.real(axis.name)]  # type: ignore[union-attr]
        if name.base == "ones" and real:
            if len(set(real)) < len(real):
                raise NotationError(303, f"{', '.join(real)} names an axis twice")
            return Tensor({axis: self.size(axis, env) for axis in real}, lambda s: 1)
        if name.base != "I" and len(real) == 1:
            return Tensor({real[0]: self.size(real[0], env)}, lambda s: s[real[0]])
        if name.base != "I" or len(real) != 2:
            return None
        if real[0] == real[1]:
            raise NotationError(303, f"{real[0]} occurs twice")
        sizes = [self.said(axis, env) for axis in real]
        if sizes == [None, None]:
            sizes = [self.known(("size", axis), env) for axis in real]
        known = [size for size in sizes if size is not None]
        if not known:
            raise NotationError(309, f"the size of {real[0]} is not known")
        shape = dict(zip(real, known if len(known) == 2 else known * 2))
        if len(set(shape.values())) != 1:
            raise NotationError(302, f"an identity is square: {real[0]} and {real[1]} differ in size")
        return Tensor(shape, lambda s: int(s[real[0]] == s[real[1]]))

    # ----------------------------------------------------------------------------------------- equations for elements
    def by_elements(self, group: list[Definition], env: Environment) -> Tensor:
        """Y_{seq(i), kernel(j)} = …: each element computed alone, its indices plain numbers (§2.3)."""
        sizes = self.element_sizes(group, env)
        elements: dict[tuple[Any, ...], Tensor] = {}
        for definition in group:
            for place in self.places(definition, sizes, env):
                record = {}
                for axis, part in definition.elements:
                    (real,) = env.real(axis.name)
                    record[real] = position(plain(self.value(part, place)), sizes[real], real)
                where = tuple(record[axis] for axis in sizes)
                if where in elements:
                    raise NotationError(406, f"{definition.key} has several values at {record}")
                elements[where] = self.value(definition.body, place)
        missing = next((record for record in records(sizes) if tuple(record.values()) not in elements), None)
        if missing is not None:
            raise NotationError(406, f"{group[0].key} has no value at {missing}")
        return assemble(sizes, elements)

    def places(self, definition: Definition, sizes: Mapping[str, int], env: Environment) -> Iterator[Environment]:
        """An environment for each element that an equation gives: i, j from 1 to the size, the variable of a range over it."""
        over, ranges = definition.range, {}
        counted = frozenset() if over is None else over.variables
        for axis, part in definition.elements:
            if isinstance(part, Name) and part.text not in counted:
                ranges[part.text] = sizes[env.real(axis.name)[0]]
        for step in [{}] if over is None else self.steps(over, env):
            for record in records(ranges):
                elements = {Key(name): number(value) for name, value in {**record, **step}.items()}
                yield Environment(parent=env, sizes_from=env, elements=elements)

    def steps(self, over: nodes.Range, env: Environment) -> Iterator[dict[str, int]]:
        """What the variables of ranges are, one after the other."""
        first, last = self.bound(over.low, env), self.bound(over.high, env)
        if last - first >= STEPS:
            raise NotationError(404, "the range is too long")
        for step in range(first, last + 1):
            own = {over.variable.text: step}
            place = Environment(parent=env, sizes_from=env, indices=own)
            for further in [{}] if over.further is None else self.steps(over.further, place):
                yield own | further

    def element_sizes(self, group: list[Definition], env: Environment) -> dict[str, int]:
        """The size of each axis on the left: as declared, as the function's result says, or as it is in this call."""
        stated = {}
        for of, place in self.sets_of(group[0].key, env):
            for axis, size in set_axes(of, place):
                found = None if size is None else self.size_value(size, place)
                if found is not None:
                    stated[axis] = whole_size(found, axis)
        found = {}
        for definition in group:
            for axis, _ in definition.elements:
                real = one_axis(axis, env)
                if real not in stated and self.known(("size", real), env) is None:
                    found[real] = self.filled(group, axis, env)
                else:
                    found[real] = stated[real] if real in stated else self.size(real, env)
        return found

    def filled(self, group: list[Definition], axis: nodes.Axis, env: Environment) -> int:
        """The n of an axis whose positions 1, …, n equations over ranges fill."""
        places: set[int] = set()
        for definition in group:
            (part,) = [part for named, part in definition.elements if named.name == axis.name]
            over = definition.range
            if over is None or not any(isinstance(n, Name) and n.text in over.variables for n in walk(part)):
                return self.size(env.real(axis.name)[0], env)
            for step in self.steps(over, env):
                inner = Environment(parent=env, sizes_from=env, elements={Key(k): number(n) for k, n in step.items()})
                places.add(plain(self.value(part, inner)))
        if places != set(range(1, len(places) + 1)):
            return self.size(env.real(axis.name)[0], env)
        return len(places)

    def sets_of(self, name: Key, env: Environment) -> Iterator[tuple[nodes.Set, Environment]]:
        """Return the declared sets of a defined name."""
        for place in env.outwards():
            function = place.function
            if function is not None and name in function.declarations:
                yield function.declarations[name], env
            if function is not None and function.signature is not None:
                result = spelled(function.body)
                if result is not None and result.key() == name:
                    yield function.signature.codomain, place
        declared = self.scope.declaration(name)
        if declared is not None:
            yield declared[0], Environment(parent=env, sizes_from=env, indices=declared[1])
