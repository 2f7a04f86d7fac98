"""Elements: A_{height(i)}, Y_{seq(i), kernel(j)} = …

Definition by elements is lifting. In `Y_{seq(i)} = X_{seq(i+1)}` the variable i is the tensor 1…|seq| along an axis of
its own (`seq@1`), and the value is that of computing each element alone. Indices count from 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Index, Name, Node, Number, axis_of

from ..core.sizes import is_ground, resolve, unify
from ..core.suggestions import did_you_mean, near
from ..scope.names import Key, match_key, spelled, walk
from ..scope.symbols import Definition
from ..terms.environment import Environment, lifted_name
from ..terms.terms import Term
from .cases import guard_index
from .loops import Along, lifted

if TYPE_CHECKING:
    from .checker import Checker


# ----------------------------------------------------------------------------------------------------------- indexing
def index(checker: Checker, base: Term, node: Index, indices: tuple[Term, ...], env: Environment) -> Term:
    """X_{a(i), b(J)}: the indices of one subscript are taken at once (paper §2.3, §3.7)."""
    apart: dict[str, str] = {}
    seen: set[str] = set()
    for axis, _ in node.items:
        for real in env.real_axes(axis.name):
            if real not in base.shape:
                have = sorted(name for name in base.shape if "@" not in name)
                raise checker.error(
                    301,
                    f"{checker.text(node.base)} has no axis {real} to index",
                    axis,
                    notes=(checker.described(node.base, base.shape),),
                    hint=did_you_mean(near(real, have, 1)) or f"its axes are {', '.join(have) or 'none'}",
                )
            if real in seen:
                raise checker.error(303, f"{real} is indexed twice", axis, hint="index each axis once")
            seen.add(real)
            apart[real] = f"{real}@index"
    if len(apart) != len(node.items):
        raise checker.error(316, "an index takes one axis", node, hint="index one axis at a time")
    term = checker.renamed(base, apart, node)
    for (axis, part), at in zip(node.items, indices):
        name = apart[env.real_axes(axis.name)[0]]
        term = take(checker, term, name, at, part, node)
    return term


def take(checker: Checker, term: Term, axis: str, at: Term, part: Node, node: Node) -> Term:
    size = resolve(term.shape[axis])
    rest = {name: extent for name, extent in term.shape.items() if name != axis}
    if at.number is not None:
        position = check_position(checker, at.number, size, axis.partition("@")[0], part)
        return checker.graph.intern(
            "pick", (term,), options=(axis, position - 1), shape=rest, boolean=term.boolean, node=part
        )
    if (
        at.operator == "iota"
        and at.options[0] == 1
        and resolve(at.shape[at.axes[0]]) == size
        and at.axes[0] not in rest
    ):
        return checker.renamed(term, {axis: at.axes[0]}, node)
    at = guard_index(checker, at)
    shape = checker.broadcast((_Shaped(rest), at), part, node, "the index", (node, part))
    return checker.graph.intern("index", (term, at), (axis,), shape=shape, boolean=term.boolean, node=part)


class _Shaped:
    def __init__(self, shape):
        self.shape = shape


def check_position(checker: Checker, number: Any, size: Any, axis: str, part: Node) -> int:
    if isinstance(number, bool) or number != int(number):
        raise checker.error(402, f"an index is a whole number, and this is {number}", part, hint="write a whole number")
    if number < 1 or (is_ground(size) and number > size):
        raise checker.error(
            401,
            f"{axis} has no element {int(number)}: its indices go from 1 to {size}",
            part,
            hint="indices count from 1, never from the end" if number < 1 else f"the last one is |{axis}|",
        )
    return int(number)


# ------------------------------------------------------------------------------------------- definitions by elements
def define(checker: Checker, group: list[Definition], env: Environment) -> Term:
    """The tensor that equations for its elements give."""
    sized = left_sizes(checker, group, env)
    parts = [part for definition in group for part in parts_of(checker, definition, sized, env)]
    if len(parts) == 1 and parts[0][1] is None:
        term = parts[0][0]
    else:
        term = join(checker, parts, sized)
    for definition in group:
        checker.check_statement(definition, term, env)
    return term


def parts_of(checker: Checker, definition: Definition, sized: dict[str, Any], env: Environment) -> list[Part]:
    """One equation's parts: one for each element where its variable counts a family that is no loop; else one for all."""
    for place, (axis, part) in enumerate(definition.elements):
        if definition.range is None and isinstance(part, Name) and counts_family(checker, part.text, definition, env):
            (real,) = env.real_axes(axis.name)
            if not is_ground(sized[real]):
                raise checker.unknown_axis_size(real, axis)

            def at_once() -> Part:
                return one_part(checker, definition, sized, env)

            whole = lifted(checker, part.text, sized[real], definition.body, env, at_once)
            return [whole] if whole is not None else one_by_one(checker, definition, place, sized, env)
    return [one_part(checker, definition, sized, env)]


def one_by_one(
    checker: Checker, definition: Definition, place: int, sized: dict[str, Any], env: Environment
) -> list[Part]:
    """A part for each element along the axis that a definition names there, as in H_{seq(t)} = h^t."""
    axis, part = definition.elements[place]
    assert isinstance(part, Name)
    (real,) = env.real_axes(axis.name)
    found = []
    for number in range(1, resolve(sized[real]) + 1):
        checker.spend(definition.head)
        at = (*definition.elements[:place], (axis, Number(number, part.span)), *definition.elements[place + 1 :])
        inner = Environment(
            parent=env, sizes_parent=env, depth=env.depth, active=env.active, indices={part.text: number}
        )
        found.append(one_part(checker, replace(definition, elements=at), sized, inner))
    return found


def counts_family(checker: Checker, variable: str, definition: Definition, env: Environment) -> bool:
    """Whether the variable stands in the place of a family's index in the body."""
    families = list(checker.scope.families)
    current: Environment | None = env
    while current is not None:
        families += current.function.families if current.function is not None else ()
        current = current.parent
    bases = {family.name.base for family in families}
    for node in walk(definition.body):
        name = spelled(node) if isinstance(node, (nodes.Superscript, nodes.Subscript)) else None
        if name is None or name.base not in bases:
            continue
        key = name.key({variable: 1}.get)
        if key != name.key() and any(match_key(each.name, key, checker.scope.indices) is not None for each in families):
            return True
    return False


def left_sizes(checker: Checker, group: list[Definition], env: Environment) -> dict[str, Any]:
    """The size of each axis on the left: as declared, as the signature's result says, or as it is in this scope."""
    stated = stated_sizes(checker, group[0].key, env)
    found: dict[str, Any] = {}
    for definition in group:
        for axis, _ in definition.elements:
            for real in env.real_axes(axis.name):
                if real in found:
                    continue
                size = stated.get(real)
                if size is None:
                    size = checker.solver.size(real, env, axis)
                if size is None:
                    if not checker.infer_parameters:
                        raise checker.unknown_axis_size(real, axis)
                    size = checker.unknown_size(real)
                found[real] = resolve(size)
    return found


def stated_sizes(checker: Checker, key: Key, env: Environment) -> dict[str, Any]:
    found: dict[str, Any] = {}
    declared, declaring = checker.local_declaration(key, env)
    sets = [(declared, declaring)] if declared is not None else []
    current: Environment | None = env
    while current is not None:
        function = current.function
        if function is not None and function.signature is not None:
            name = spelled(function.body)
            if name is not None and name.key() == key:
                sets.append((function.signature.codomain, current))
            break
        current = current.parent
    for of, place in sets:
        for axis, size, _ in checker.set_axes(of, place):
            if size is not None:
                value = checker.solver.value(size, place)
                if value is not None:
                    if is_ground(value) and (resolve(value) != int(resolve(value)) or resolve(value) < 0):
                        raise checker.error(
                            310,
                            f"{axis} would have the size {resolve(value)}, and a size is a whole number",
                            size,
                            hint="give sizes that divide",
                        )
                    found[axis] = value
    return found


class Part(NamedTuple):
    """An equation's elements as a tensor, and which positions of which axis they fill (None where they are all)."""

    term: Term
    filled: tuple[str, list[int]] | None
    definition: Definition


def one_part(checker: Checker, definition: Definition, sized: dict[str, Any], env: Environment) -> Part:
    """What one equation gives."""
    depth = env.depth + 1
    inner = Environment(parent=env, sizes_parent=env, depth=depth, active=env.active)
    back: dict[str, str] = {}
    filled: tuple[str, list[int]] | None = None
    over = definition.range
    for axis, part in definition.elements:
        (real,) = env.real_axes(axis.name)
        apart = lifted_name(real, depth)
        back[apart] = real
        name = part.text if isinstance(part, Name) else None
        if name is not None and (over is None or name != over.variable.text):
            inner.variables[Key(name)] = iota(checker, apart, 1, sized[real], part)
            inner.members[name] = Along(apart, 1, sized[real])
            continue
        positions = part_positions(checker, part, over, real, sized[real], env)
        if over is not None:
            first = checker.solver.value(over.first, env)
            inner.variables[Key(over.variable.text)] = iota(checker, apart, first, len(positions), part)
            inner.members[over.variable.text] = Along(apart, first, len(positions))
        if filled is not None:
            raise checker.error(
                406, "only one axis can be filled in parts", part, hint="give the other axes a plain variable"
            )
        filled = (real, positions)
    term = checker.infer(definition.body, inner)
    extents = {real: len(filled[1]) if filled and filled[0] == real else sized[real] for real in back.values()}
    missing = tuple((apart, extents[real]) for apart, real in back.items() if apart not in term.shape)
    if missing:
        shape = {**term.shape, **dict(missing)}
        term = checker.graph.intern(
            "spread", (term,), options=missing, shape=shape, boolean=term.boolean, node=definition.body
        )
    for real in back.values():
        if real in term.shape:
            raise checker.error(
                306,
                f"the right side has the axis {real} besides the {real} of the left",
                definition.body,
                notes=(checker.described(definition.body, {a: s for a, s in term.shape.items() if "@" not in a}),),
                hint=f"index it, as in X_{{{real}(i)}}, or sum over it",
            )
    return Part(checker.renamed(term, back, definition.body), filled, definition)


def iota(checker: Checker, axis: str, first: int, size: Any, node: Node) -> Term:
    """The tensor first, first + 1, … along an axis."""
    return checker.graph.intern("iota", axes=(axis,), options=(first, resolve(size)), shape={axis: size}, node=node)


def part_positions(checker: Checker, part: Node, over, axis: str, size: Any, env: Environment) -> list[int]:
    """The positions, from 1, that an index on the left such as 2k+1 takes."""
    if over is None:
        values = [checker.solver.value(part, env)]
    else:
        first, last = checker.solver.value(over.first, env), checker.solver.value(over.last, env)
        if not isinstance(first, int) or not isinstance(last, int):
            raise checker.unknown_bound(over, env)
        if last - first >= checker.limits.steps:
            raise checker.error(404, "this range is too long", over, hint="raise limits.steps")
        values = []
        for step in range(first, last + 1):
            place = Environment(parent=env, sizes_parent=env, indices={over.variable.text: step})
            values.append(checker.solver.value(part, place))
    return [check_position(checker, _number(checker, value, part), size, axis, part) for value in values]


def _number(checker: Checker, value: Any, part: Node) -> Any:
    if value is None:
        raise checker.error(309, "this index has no value", part, hint="bind its variable by a range: for k = 0, …, n")
    return value


def join(checker: Checker, parts: list[Part], sized: dict[str, Any]) -> Term:
    """Parts that fill one axis between them."""
    axis = next((part.filled[0] for part in parts if part.filled is not None), None)
    if axis is None:
        other = parts[1].definition
        raise checker.error(406, f"this equation and another both fill all of {other.key}", other.head)
    order: list[int] = []
    for _, filled, definition in parts:
        if filled is None or filled[0] != axis:
            raise checker.error(406, f"this equation and another both fill all of {axis}", definition.head)
        order += filled[1]
    first = parts[0].definition
    size = resolve(sized[axis])
    missing = sorted(set(range(1, size + 1)) - set(order)) if is_ground(size) else []
    if missing or len(set(order)) != len(order):
        twice = sorted(position for position, count in Counter(order).items() if count > 1)
        which = missing or twice
        text = ", ".join(map(str, which[:5])) + (", …" if len(which) > 5 else "")
        how = "no value" if missing else "several values"
        raise checker.error(
            406,
            f"{first.key} has {how} at {axis} {text}",
            first.head,
            hint="let the ranges fill every element once",
        )
    terms = tuple(part.term for part in parts)
    others = tuple(_Shaped({a: s for a, s in term.shape.items() if a != axis}) for term in terms)
    shape = checker.broadcast(others, first.body, first.body, "the parts", [part.definition.body for part in parts])
    shape = {**shape, axis: size}
    positions = tuple(position - 1 for position in order)
    return checker.graph.intern("fill", terms, options=(axis, positions), shape=shape, node=first.body)


# -------------------------------------------------------------------------------------------- claims about elements
def each_element(checker: Checker, items: Iterable[tuple], shape: Mapping[str, Any], env: Environment) -> Environment:
    """An environment in which each plain name of these indices is 1, …, n along an axis of its own."""
    inner = Environment(parent=env, sizes_parent=env, depth=env.depth, active=env.active)
    for axis, index in items:
        for real in env.real_axes(axis.name):
            if isinstance(index, Name) and real in shape and is_free(checker, index, env):
                inner.variables[Key(index.text)] = iota(checker, f"{real}@{index.text}", 1, shape[real], index)
    return inner


def of_index(axis: str) -> bool:
    """Whether an axis is that of an index: height@i of A_{height(i)}, not seq@1 of what is lifted."""
    return "@" in axis and not axis.partition("@")[2].isdecimal()


def is_free(checker: Checker, index: Name, env: Environment) -> bool:
    """Whether nothing says what an index is."""
    key = Key(index.text)
    if env.index(index.text) is not None or checker.solver.scalar(key, env) is not None:
        return False
    try:
        return checker.find(key, env, index) is None
    except NotationError:
        return False


# ------------------------------------------------------------------------------------------- tensors of their axes
def created(checker: Checker, node: nodes.Subscript, env: Environment) -> Term | None:
    """iota_{ax} and I_{ax,ax'}: tensors that only their axes make."""
    name = spelled(node)
    if name is None or name.superscript or name.base not in ("iota", "ι", "I"):
        return None
    parts = [(axis_of(part), part) for part in name.subscript]
    if any(axis is None for axis, _ in parts):
        return None
    axes = [(real, part) for axis, part in parts for real in env.real_axes(axis.name)]  # type: ignore[union-attr]
    if name.base == "I":
        return identity(checker, axes, node, env) if len(axes) == 2 else None
    if len(axes) != 1:
        return None
    axis, part = axes[0]
    size = checker.solver.size(axis, env, part)
    if size is None:
        if not checker.infer_parameters:
            raise checker.unknown_axis_size(axis, part)
        size = checker.unknown_size(axis)
    return iota(checker, axis, 1, size, node)


def identity(checker: Checker, axes, node, env: Environment) -> Term:
    """I_{ax,ax'}; one size is enough, for the two are the same."""
    if axes[0][0] == axes[1][0]:
        raise checker.error(
            303, f"{axes[0][0]} occurs twice", axes[1][1], hint=f"write I_{{{axes[0][0]},{axes[0][0]}'}}"
        )
    sizes = [checker.solver.size_said(axis, env, part) for axis, part in axes]
    if sizes[0] is None and sizes[1] is None:
        sizes = [checker.solver.size(axis, env, part) for axis, part in axes]
    if sizes[0] is None and sizes[1] is None:
        if not checker.infer_parameters:
            raise checker.unknown_axis_size(axes[0][0], axes[0][1])
        sizes[0] = checker.unknown_size(axes[0][0])
    left = sizes[0] if sizes[0] is not None else sizes[1]
    right = sizes[1] if sizes[1] is not None else sizes[0]
    if not unify(left, right):
        raise checker.error(
            302,
            f"an identity is square, and {axes[0][0]} is {resolve(left)} where {axes[1][0]} is {resolve(right)}",
            node,
        )
    names = tuple(axis for axis, _ in axes)
    return checker.graph.intern(
        "identity", axes=names, options=(resolve(left),), shape=dict.fromkeys(names, left), node=node
    )
