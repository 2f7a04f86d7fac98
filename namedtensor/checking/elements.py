"""Type definitions by elements, such as Y_{seq(i), kernel(j)} = … for each pair of indices.

Lifting implements definitions by elements. In `Y_{seq(i)} = X_{seq(i+1)}`, the variable i becomes the tensor 1, …,
|seq| along a separate axis (`seq@1`). The result is the same as if each element were computed separately. Indices start
at 1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Axis, Name, Node, Range

from ..core.extents import Size, is_size
from ..core.sizes import is_ground, resolve
from ..scope.names import Key, match_key, read_spelling, walk
from ..scope.symbols import Definition
from ..terms.environment import Environment, make_lifted_name
from ..terms.inference import Inference
from ..terms.terms import Term
from .application import broadcast
from .axis_sizes import size_left_open, unknown_axis_size
from .claims import check_statement
from .declarations import local_declaration, set_axes
from .filled_positions import Filled, Positions, all_of, count_of, length, numbers_to, positions_at
from .indexing import check_position, find_indexed_axis, iota
from .ranges import numbers_of
from .size_facts import no_size, to_size
from .stacked_families import StackedIndex, laid


def define_by_elements(checker: Inference, group: list[Definition], env: Environment) -> Term:
    """Return the term of a tensor whose elements one or more equations define."""
    sized = left_sizes(checker, group, env)
    term = whole_of(checker, group, sized, env)
    for definition in group:
        check_statement(checker, definition, term, env)
    return term


def whole_of(checker: Inference, group: list[Definition], sized: dict[str, Any], env: Environment) -> Term:
    """Return the tensor whose elements a group of equations defines."""
    parts = [part for definition in group for part in parts_of(checker, definition, sized, env)]
    return parts[0][0] if len(parts) == 1 and parts[0][1] is None else join(checker, parts, sized)


def parts_of(checker: Inference, definition: Definition, sized: dict[str, Any], env: Environment) -> list[Part]:
    """Return the parts of a tensor that one equation defines.

    If a variable is the index of a family that cannot be a loop, each value of the variable has a separate part.
    """
    for index, (axis, part) in enumerate(definition.elements):
        over = counting(definition, part)
        variable = part.text if over is None and isinstance(part, Name) else over and over.variable.text
        if variable and counts_family(checker, variable, definition, env):
            (real,) = env.resolve_axis(axis.name)
            if over is None and not is_ground(sized[real]):
                raise unknown_axis_size(checker, real, axis)
            numbers = numbers_to(1, resolve(sized[real])) if over is None else numbers_of(checker, over, env)

            def at_once() -> Part:
                return one_part(checker, definition, sized, env)

            if isinstance(numbers, Positions):
                return [at_once()]
            whole = laid(checker, variable, len(numbers), definition.body, env, at_once)
            if whole is not None:
                return [whole]
            return one_by_one(checker, definition, index, variable, numbers, sized, env)
    return [one_part(checker, definition, sized, env)]


def one_by_one(
    checker: Inference, definition: Definition, position: int, variable: str, numbers: range, sized: dict[str, Any],
    env: Environment,
) -> list[Part]:  # fmt: skip
    """Return one part per value of a variable. For H_{seq(t)} = h^t, each part is the slice of H at a position t."""
    axis, part = definition.elements[position]
    (real,) = env.resolve_axis(axis.name)
    others = definition.elements[:position] + definition.elements[position + 1 :]
    rest = replace(definition, elements=others, range=drop_range(definition.range, variable))
    across = {name: size for name, size in sized.items() if name != real}
    parts: list[Part] = []
    for number in numbers:
        checker.spend(definition.head)
        inner = env.within(indices={variable: number})
        value = _number(checker, checker.solver.number(part, inner), part)
        at = check_position(checker, value, sized[real], real, part)
        slice = whole_of(checker, [rest], across, inner)
        if real in slice.shape:
            raise surplus_axis(checker, definition, real, slice)
        parts.append(Part(checker.spread(slice, {real: 1}, definition.body), (real, [at]), definition))
    return parts


def drop_range(over: Range | None, variable: str) -> Range | None:
    """Remove the range of a variable from a chain of ranges. Return None if no range remains."""
    if over is None:
        return None
    rest = drop_range(over.further, variable)
    return rest if over.variable.text == variable else replace(over, further=rest)


def counts_family(checker: Inference, variable: str, definition: Definition, env: Environment) -> bool:
    """Return whether the body uses a variable as the index of a family."""
    families = checker.families_around(env)
    bases = {family.name.base for family in families}
    for node in walk(definition.body):
        name = read_spelling(node) if isinstance(node, (nodes.Superscript, nodes.Subscript)) else None
        if name is None or name.base not in bases:
            continue
        key = name.key({variable: 1}.get)
        if key != name.key() and any(
            match_key(family.name, key, checker.scope.indices) is not None for family in families
        ):
            return True
    return False


def left_sizes(checker: Inference, group: list[Definition], env: Environment) -> dict[str, Any]:
    """Return the size of each axis on the left-hand side.

    A size may come from a declaration, the function's signature, the defined positions, or this scope.
    """
    stated = find_stated_sizes(checker, group[0].key, env)
    result: dict[str, Any] = {}
    for definition in group:
        for axis, _ in definition.elements:
            real = find_indexed_axis(checker, axis, env)
            if real in result:
                continue
            size = stated.get(real)
            size = checker.solver.size_said(real, env, axis) if size is None else size
            size = find_filled_size(checker, group, axis, env) if size is None else size
            size = checker.solver.size_of(real, env, axis) if size is None else size
            result[real] = resolve(size_left_open(checker, real, axis) if size is None else size)
    return result


def find_filled_size(checker: Inference, group: list[Definition], axis: Axis, env: Environment) -> Size | None:
    """Return n if the equations certainly define exactly the positions 1, …, n of an axis, or None otherwise."""
    filled: list[Filled] = []
    for definition in group:
        for named, part in definition.elements:
            if named.name == axis.name:
                over = counting(definition, part)
                if over is None and not is_number(checker, part, env):
                    return None
                filled.append(positions_of(checker, part, over, env))
    return count_of(filled)


def is_number(checker: Inference, part: Node, env: Environment) -> bool:
    return is_size(checker.solver.number(part, env))


def counting(definition: Definition, part: Node) -> Range | None:
    """Return the range whose variable occurs in an index of the left-hand side, or None if there is none."""
    names = {node.text for node in walk(part) if isinstance(node, Name)}
    ranges = definition.range.each if definition.range is not None else ()
    return next((range_ for range_ in ranges if range_.variable.text in names), None)


def find_stated_sizes(checker: Inference, key: Key, env: Environment) -> dict[str, Any]:
    result: dict[str, Any] = {}
    declared, declaring = local_declaration(checker, key, env)
    sets = [(declared, declaring)] if declared is not None else []
    for outer in env.outward:
        function = outer.function
        if function is not None and function.signature is not None:
            name = read_spelling(function.body)
            if name is not None and name.key() == key:
                sets.append((function.signature.codomain, outer))
            break
    for of, environment in sets:
        for axis, size, _ in set_axes(checker, of, environment):
            if size is not None:
                value = resolve(checker.solver.number(size, environment))
                if value is not None:
                    result[axis] = to_size(value)
                    if result[axis] is None:
                        raise no_size(checker, f"axis {axis} would have size", value, size)
    return result


class Part(NamedTuple):
    """A tensor of the elements that one equation defines.

    `filled` contains an axis and the positions of the elements along this axis. It is None if the equation defines all
    elements.
    """

    term: Term
    filled: tuple[str, Filled] | None
    definition: Definition


def one_part(checker: Inference, definition: Definition, sized: dict[str, Any], env: Environment) -> Part:
    """Return the elements that one equation defines, and their positions."""
    depth = env.depth + 1
    inner = env.within(depth=depth)
    back: dict[str, str] = {}
    filled: tuple[str, Filled] | None = None
    for axis, part in definition.elements:
        (real,) = env.resolve_axis(axis.name)
        apart = make_lifted_name(real, depth)
        back[apart] = real
        name = part.text if isinstance(part, Name) else None
        over = counting(definition, part)
        if name is not None and (over is None or fills(checker, over, sized[real], definition, env)):
            inner.variables[Key(name)] = iota(checker, apart, 1, sized[real], part)
            inner.members[name] = StackedIndex(apart, 1, sized[real])
            continue
        positions = part_positions(checker, part, over, real, sized[real], env)
        if over is not None:
            first, count = checker.solver.number(over.low, env), length(positions)
            inner.variables[Key(over.variable.text)] = iota(checker, apart, first, count, part)
            inner.members[over.variable.text] = StackedIndex(apart, first, count)
        if filled is not None:
            raise checker.error(
                406, "only one axis can be defined in parts", part, hint="index the other axes with plain variables"
            )
        filled = (real, positions)
    term = checker.infer(definition.body, inner)
    extents = {real: length(filled[1]) if filled and filled[0] == real else sized[real] for real in back.values()}
    term = checker.spread(term, {apart: extents[real] for apart, real in back.items()}, definition.body)
    for real in back.values():
        if real in term.shape:
            raise surplus_axis(checker, definition, real, term)
    return Part(checker.renamed(term, back, definition.body), filled, definition)


def surplus_axis(checker: Inference, definition: Definition, axis: str, term: Term) -> NotationError:
    """Return the error for an axis of the right-hand side that the left-hand side indexes."""
    return checker.error(
        306,
        f"the right-hand side has an extra axis {axis} beside the axis {axis} of the left-hand side",
        definition.body,
        notes=(checker.describe_with_shape(definition.body, {a: s for a, s in term.shape.items() if "@" not in a}),),
        hint=f"index it, as in X_{{{axis}(i)}}, or sum over it",
    )


def fills(checker: Inference, over: Range, size: Any, definition: Definition, env: Environment) -> bool:
    """Return whether one of several ranges covers a whole axis, so that its variable needs no range."""
    if definition.range is over and over.further is None:
        return False
    return is_ground(size) and count_of([positions_of(checker, over.variable, over, env)]) == resolve(size)


def part_positions(
    checker: Inference, part: Node, over: Range | None, axis: str, size: Any, env: Environment
) -> Filled:
    """Return the 1-based positions that an index on the left-hand side selects, such as 2k+1.

    Raise NotationError if a position is out of range.
    """
    values = positions_of(checker, part, over, env)
    for value in (values.first, values.last) if isinstance(values, Positions) else ():
        check_position(checker, value, size, axis, part)
    if isinstance(values, Positions):
        return values
    return [check_position(checker, _number(checker, value, part), size, axis, part) for value in values]


def positions_of(checker: Inference, part: Node, over: Range | None, env: Environment) -> Filled:
    """Return the positions that an index on the left-hand side selects, one per number in its range."""

    def position(number: Size) -> Any:
        assert over is not None
        environment = Environment(parent=env, sizes_parent=env, indices={over.variable.text: number})
        return checker.solver.number(part, environment)

    if over is None:
        return [checker.solver.number(part, env)]
    numbers = numbers_of(checker, over, env)
    if isinstance(numbers, Positions):
        return positions_at(numbers, lambda number: _number(checker, position(number), part))
    return [*map(position, numbers)]


def _number(checker: Inference, value: Any, part: Node) -> Any:
    if value is None:
        raise checker.error(309, "the index has no value", part, hint="bind its variable by a range: for k = 0, …, n")
    return value


def join(checker: Inference, parts: list[Part], sized: dict[str, Any]) -> Term:
    """Join the parts of a tensor along the axis that they fill together.

    Raise NotationError unless the parts define each element exactly once.
    """
    axis = next((part.filled[0] for part in parts if part.filled is not None), None)
    if axis is None:
        other = parts[1].definition
        raise checker.error(406, f"this equation and another both define all of {other.key}", other.head)
    taken: list[Filled] = []
    for _, filled, definition in parts:
        if filled is None or filled[0] != axis:
            raise checker.error(406, f"this equation and another both define all of {axis}", definition.head)
        taken.append(filled[1])
    first = parts[0].definition
    size = resolve(sized[axis])
    filled = all_of(taken, size)
    order = filled or []
    missing = sorted(set(range(1, size + 1)) - set(order)) if type(size) is int and filled is not None else []
    if missing or len(set(order)) != len(order):
        twice = sorted(position for position, count in Counter(order).items() if count > 1)
        which = missing or twice
        text = ", ".join(map(str, which[:5])) + (", …" if len(which) > 5 else "")
        how = "is undefined" if missing else "has several values"
        raise checker.error(
            406,
            f"{first.key} {how} at {axis} = {text}",
            first.head,
            hint="make the ranges cover each element exactly once",
        )
    terms = tuple(part.term for part in parts)
    others = [{a: s for a, s in term.shape.items() if a != axis} for term in terms]
    shape = broadcast(checker, others, first.body, "the parts", [part.definition.body for part in parts])
    shape = {**shape, axis: size}
    positions = tuple(position - 1 for position in order)
    return checker.graph.intern("fill", terms, options=(axis, positions), shape=shape, node=first.body)
