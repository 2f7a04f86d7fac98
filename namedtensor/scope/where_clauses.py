"""Where-clauses: which definitions belong to a function (language.md §4).

A definition belongs to a function iff its body needs it and it mentions a parameter or superscript of the function,
directly or through another such definition. A family is one definition with all its starts:

    s^0 = 0 · b                             ┐
    s^t = s^{t-1}/2 + b for t = 1, …, 3     ┘ belong whole to f(b) = s^3
"""

# pyright: reportUnknownVariableType=false
# of the empty dicts and lists of new records
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

from grammar import nodes
from grammar.nodes import Axis, Call, Index, Name, Node, Number, axis_of
from grammar.traversal import children

from .mentions import OF_AXES
from .names import MARKS, Key, Spelled, component, component_names, spelled, walk
from .symbols import Definition, FunctionDefinition
from .zero_starts import substituted

ANY = "…"  # in a pattern: an index


Group = list["Definition"]  # of one name: one equation, or several for its elements


@dataclass(eq=False)
class BindingGroup:
    """One definition as it is owned: an equation, the equations for the elements of one name, or a family with its
    starts.

    `parts` are the families, several where each has a range of its own; `options` the equations of each other name, of
    which there are several where functions share a family and start it each in its own way.
    """

    base: str
    parts: list[Definition]
    options: dict[Key, list[Group]] = field(default_factory=dict)
    pattern: Key | None = None

    def __iter__(self) -> Iterator[Definition]:
        """All its equations."""
        yield from self.parts
        yield from (definition for groups in self.options.values() for group in groups for definition in group)

    @property
    def position(self) -> int:
        return self.parts[0].position if self.parts else next(iter(self)).position

    def means(self, key: Key) -> bool:
        """Whether a use of this name may be one of it."""
        return key in self.options or (self.pattern is not None and matches(self.pattern, key))


def pattern_of(name: Spelled, indices: set[str]) -> Key:
    """The pattern of a name, with … where an index appears: h^{l,t}_Q is ("h", ("Q",), ("…", "…"))."""

    def open(part: Node) -> str:
        return ANY if component_names(part) & indices else component(part)

    return Key(name.base, tuple(map(open, name.subscript)), tuple(map(open, name.superscript)))


def matches(pattern: Key, key: Key) -> bool:
    if pattern.base != key.base or [len(pattern[1]), len(pattern[2])] != [len(key[1]), len(key[2])]:
        return False
    pairs = zip((*pattern.subscript, *pattern.superscript), (*key.subscript, *key.superscript))
    return all(part in (ANY, use) for part, use in pairs)


def general_of(pattern: Key, patterns: Iterable[Key]) -> Key | None:
    """The most general of these patterns that matches E^{…,0}: E^{…,…}."""
    keys = [key for key in patterns if key != pattern and matches(key, pattern)]
    return max(keys, key=lambda key: [*key.subscript, *key.superscript].count(ANY), default=None)


def list_members(key: Key, keys: Iterable[Key]) -> list[Key]:
    """Return the names among these that a name with an index may mean: x_1 and x_2 for the x_t of ∑_{t=1}^{2} x_t."""
    scripts = (
        tuple(part if part.isdecimal() else ANY for part in script) for script in (key.subscript, key.superscript)
    )
    pattern = Key(key.base, *scripts)
    parts = (*pattern.subscript, *pattern.superscript)
    if ANY not in parts:
        return []
    members = (other for other in keys if matches(pattern, other))
    return [other for other in members if all(map(str.isdecimal, (*other.subscript, *other.superscript)))]


def beginning(family: Definition) -> tuple[Node, ...]:
    """Return the indices of a family's name and the first numbers of its ranges, with numbers for its variables."""
    numbers = {range_.variable.text: Number(slot) for slot, range_ in enumerate(family.ranges)}
    nodes_ = (*family.name.subscript, *family.name.superscript, *(range_.first for range_ in family.ranges))
    return tuple(substituted(node, numbers) for node in nodes_)


def holds(family: Definition, key: Key) -> bool:
    """Whether a name is surely a member of X^l = … for l = 1, …, n, and so not its start."""
    over = family.range
    assert over is not None
    parts = list(zip((*family.name.subscript, *family.name.superscript), (*key.subscript, *key.superscript)))
    return all(
        surely_in(range_, next((use for part, use in parts if part == range_.variable), "")) for range_ in over.each
    )


def surely_in(over: nodes.Range, index: str) -> bool:
    """Whether an index surely lies in a range."""
    low, high = (end.value if isinstance(end, Number) else None for end in (over.low, over.high))
    return index.isdecimal() and low is not None and low <= int(index) <= (inf if high is None else high)


class Uses(NamedTuple):
    """What an equation mentions: the keys of names, single words, axes; and the equations that these names mean."""

    keys: list[Key]
    words: set[str]
    axes: set[str]
    meant: list[Definition]


class BindingGroups:
    """The definitions of a program, each family with its starts, by name."""

    def __init__(self, tensors: list[Definition], indices: set[str]):
        self.exact: dict[Key, list[BindingGroup]] = {}
        self.by_base: dict[str, list[Key]] = {}  # the names in `exact`
        self.families: dict[str, list[BindingGroup]] = {}
        self.left: dict[str, list[Key]] = {}  # the names that functions leave to their callers, by operator
        self._uses: dict[int, Uses] = {}
        plain: dict[Key, Group] = {}
        patterns: dict[Key, Group] = {}
        for definition in tensors:
            if definition.is_family:
                patterns.setdefault(pattern_of(definition.name, indices), []).append(definition)
            else:
                plain.setdefault(definition.key, []).append(definition)
        special = {name: general_of(name, patterns) for name in patterns}
        for pattern in [name for name, general in special.items() if general is None]:
            starts = {name: patterns[name] for name, general in special.items() if general == pattern}
            self.add_families(pattern, patterns[pattern], plain, starts)
        for key, group in plain.items():
            for run in runs(group):
                self.add(BindingGroup(key.base, [], {key: [run]}))

    def add(self, binding: BindingGroup) -> None:
        for key in binding.options:
            if key not in self.exact:
                self.by_base.setdefault(key.base, []).append(key)
            self.exact.setdefault(key, []).append(binding)
        if binding.pattern is not None:
            self.families.setdefault(binding.base, []).append(binding)

    def add_families(self, pattern: Key, families: Group, plain: dict[Key, Group], starts: dict[Key, Group]) -> None:
        """Add the families of one name; those that begin differently are parts of one, and their starts leave `plain`.

        E^{i,0} for every i, among the `starts`, is one of E^{i,j}.
        """
        bindings: list[BindingGroup] = []
        for family in families:
            if not bindings or beginning(family) in map(beginning, bindings[-1].parts):
                bindings.append(BindingGroup(pattern.base, [], pattern=pattern))
            bindings[-1].parts.append(family)
        for key in [
            key for key in plain if matches(pattern, key) and not any(holds(definition, key) for definition in families)
        ]:
            groups = runs(plain.pop(key))
            for index, binding in enumerate(bindings):
                near = sorted(groups, key=lambda group, binding=binding: abs(group[0].position - binding.position))
                binding.options[key] = [groups[index]] if len(groups) == len(bindings) else near
        for binding in bindings:
            binding.options |= {key: [group] for key, group in starts.items()}
            self.add(binding)

    def meant(self, key: Key) -> list[BindingGroup]:
        """The definitions that a use of this name may mean."""
        binding_groups = self.exact.get(key, [])
        families = self.families.get(key.base, ())
        return binding_groups + [binding for binding in families if key not in binding.options and binding.means(key)]

    def nearest(self, key: Key, using: Definition) -> list[BindingGroup]:
        """What an equation means by a name, where several equations give it."""
        return sorted(
            self.meant(key), key=lambda binding: (key not in binding.options, abs(binding.position - using.position))
        )[:1]

    def uses(self, definition: Definition) -> Uses:
        """What an equation mentions, and the equations that it means by the names."""
        if id(definition) not in self._uses:
            keys, words = mentions(definition, self)
            meant = [part for key in keys for binding in self.nearest(key, definition) for part in binding]
            self._uses[id(definition)] = Uses(keys, words, axes_of(definition), meant)
        return self._uses[id(definition)]

    def leave_to_callers(self, functions: Iterable[FunctionDefinition]) -> None:
        """Note the defined names that each function, or one that it calls, needs and neither binds nor owns."""
        self.left, self._uses = {}, {}
        callers = functions_by_calls(functions)
        waiting = [*functions] if any(function.operator in callers for function in functions) else []
        while waiting:
            function = waiting.pop()
            known = self.left.get(function.operator, [])
            needed = [key for key in self.needed(parts_of(function)) if self.meant(key) and not function.provides(key)]
            further = [key for key in dict.fromkeys(needed) if key not in known]
            if further:
                self.left[function.operator] = [*known, *further]
                waiting += callers.get(function.operator, ())

    def needed(self, nodes_: Iterable[Node], calls: bool = True) -> list[Key]:
        """Return the keys of the names that expressions use, the longest name first if a definition has it.

        With `calls`, the names that a called function leaves to its caller are among them.
        """
        keys: list[Key] = []
        stack: list[Any] = list(nodes_)
        while stack:
            current = stack.pop()
            name = spelled(current) if not isinstance(current, Axis) else None
            if name is not None:
                keys.append(name.key())
                if isinstance(current, (nodes.Superscript, nodes.Subscript)) and not self.meant(keys[-1]):
                    keys += list_members(keys[-1], self.by_base.get(name.base, ()))
                    stack.append(current.base)
            elif isinstance(current, Call):
                keys.extend(self.left.get(current.operator, ()) if calls else ())
                stack.extend(current.arguments)
                stack.extend(current.parameters)
            else:
                stack.extend(children(current))
        return keys


def runs(group: Group) -> list[Group]:
    """Equations of one name: those for elements with a range fill parts together, and so do single elements in a row."""
    if not all(definition.elements for definition in group):
        return [[definition] for definition in group]
    parts: Group = []
    whole: list[Group] = []
    for definition in group:
        if definition.range is not None or is_one_element(definition):
            parts.append(definition)
        else:
            whole.append([definition])
    return whole + ([parts] if parts else [])


def is_one_element(definition: Definition) -> bool:
    """Whether an equation is of one element, or one slice: Y_{h(1)} = 3"""
    return all(not isinstance(item, Name) for _, item in definition.elements)


def definitions_of(
    function: FunctionDefinition, bindings: BindingGroups, over: frozenset[str] | None = None
) -> list[Definition]:
    """Return the definitions that belong to a function: those that use its arguments, or its axes `over`.

    Of several definitions of one name, the nearest below the head is taken, then the nearest above.
    """
    bound = function.bound
    axes = function.over_axes if over is None else over
    parameters = {name.key() for name in (*function.parameters, *function.options)}
    labeled = {key for key in parameters if key.subscript or key.superscript}

    def candidates(key: Key) -> list[BindingGroup]:
        """What a name may mean here: the symbol of that name before a family of which it may be a member."""

        def far(binding: BindingGroup) -> tuple[Any, ...]:
            return (
                key not in binding.options,
                binding.position < function.position,
                abs(binding.position - function.position),
            )

        return sorted(bindings.meant(key), key=far)

    touching: dict[int, bool] = {}  # of the equations that were looked at

    def touches(definitions: list[Definition]) -> bool:
        """Whether equations mention what the head binds, directly or through others."""
        users: dict[int, list[int]] = {}
        stack, reached = list(definitions), list[int]()
        while stack:
            definition = stack.pop()
            if id(definition) in touching:
                reached.append(id(definition))
                continue
            uses = bindings.uses(definition)
            is_own = bool(uses.words & bound or axes & uses.axes) or any(key in labeled for key in uses.keys)
            touching[id(definition)] = is_own
            reached.append(id(definition))
            for other in () if is_own else uses.meant:
                users.setdefault(id(other), []).append(id(definition))
                stack.append(other)
        mentioning = [other for other in reached if touching[other]]
        while mentioning:
            for user in users.get(mentioning.pop(), ()):
                if not touching[user]:
                    touching[user] = True
                    mentioning.append(user)
        return any(touching[id(definition)] for definition in definitions)

    verdicts: dict[int, bool] = {}

    def belongs(binding: BindingGroup) -> bool:
        if id(binding) not in verdicts:
            verdicts[id(binding)] = touches([*binding])
        return verdicts[id(binding)]

    taken: dict[int, list[Definition]] = {}
    pending = bindings.needed((function.body, *function.claims))
    while pending:
        key = pending.pop()
        if key in parameters:
            continue
        binding = next((binding for binding in candidates(key) if belongs(binding)), None)
        if binding is None or id(binding) in taken:
            continue
        whole = taken[id(binding)] = list(binding.parts)
        for groups in binding.options.values():
            whole += next((group for group in groups if len(groups) > 1 and touches(group)), groups[0])
        for definition in whole:
            pending += bindings.uses(definition).keys
    return [definition for whole in taken.values() for definition in whole]


def functions_by_calls(functions: Iterable[FunctionDefinition]) -> dict[str, list[FunctionDefinition]]:
    """Return the functions that call each operator."""
    callers: dict[str, list[FunctionDefinition]] = {}
    for function in functions:
        for operator in {node.operator for part in parts_of(function) for node in walk(part) if type(node) is Call}:
            callers.setdefault(operator, []).append(function)
    return callers


def callers_of(function: FunctionDefinition, functions: Iterable[FunctionDefinition]) -> list[FunctionDefinition]:
    """Return the functions that call a function, directly or through others."""
    by_calls, waiting, matches = functions_by_calls(functions), [function], list[FunctionDefinition]()
    while waiting:
        further = [caller for caller in by_calls.get(waiting.pop().operator, ()) if caller not in matches]
        matches += further
        waiting += further
    return matches


def parts_of(function: FunctionDefinition) -> list[Node]:
    """Return the expressions in a function, and in the definitions that belong to it."""
    mine = (part for definition in function.all_definitions() for part in expressions_of(definition))
    return [function.body, *function.claims, *mine]


def expressions_of(definition: Definition) -> tuple[Node, ...]:
    """The expressions of an equation: its right side, and the ends of its range."""
    return (definition.body, *(end for range_ in definition.ranges for end in (range_.first, range_.last)))


def axes_of(definition: Definition) -> set[str]:
    """Return the axes in an equation."""
    axes: set[str] = set()
    for node in expressions_of(definition):
        for inner in walk(node):
            if isinstance(inner, Axis):
                axes.add(inner.name.rstrip(MARKS))
            parts: tuple[Node, ...] = ()
            if isinstance(inner, Call):
                parts = inner.subscript
            elif isinstance(inner, nodes.Subscript) and (name := spelled(inner)) is not None and name.base in OF_AXES:
                parts = inner.components
            axes.update(axis.name.rstrip(MARKS) for axis in map(axis_of, parts) if axis is not None)
    return axes


def mentions(definition: Definition, bindings: BindingGroups) -> tuple[list[Key], set[str]]:
    """The keys that an equation uses, and the single words (names and indices) that it mentions."""
    local = definition.local
    keys = bindings.needed(expressions_of(definition))
    written = bindings.needed(expressions_of(definition), calls=False) if bindings.left else keys
    words = {key.base for key in written if not key.subscript and not key.superscript} - local
    for node in (*expressions_of(definition), *(item for _, item in definition.elements)):
        for inner in walk(node):
            if isinstance(inner, nodes.Size):  # |x| of a tensor
                words.add(inner.axis.name)
            elif isinstance(inner, (nodes.Superscript, nodes.Subscript)):
                for part in inner.components:
                    words |= component_names(part)
            elif isinstance(inner, Call):
                for part in (*inner.superscript, *inner.subscript):
                    words |= component_names(part)
            elif isinstance(inner, Index):
                for _, index in inner.items:
                    words |= component_names(index) - local
    return keys, words
