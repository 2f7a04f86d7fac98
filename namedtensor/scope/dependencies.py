"""Find the definition of each name, and the names that each expression needs. A family includes its initial values.

s^0 = 0 · b                             ┐
s^t = s^{t-1}/2 + b for t = 1, …, 3     ┘ one definition, and s^3 refers to it
"""

# pyright: reportUnknownVariableType=false
# The dicts and lists of new records are empty, so Pyright cannot infer their types.
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from operator import attrgetter
from typing import NamedTuple

from grammar import nodes
from grammar.nodes import Call, Name, Node, Number, Size, Subscript, Superscript

from .names import Key, Spelled, component, component_names, read_spelling
from .symbols import Definition, FunctionDefinition, Scope
from .uses import NOTHING, NameUse, Uses, reach, uses_of
from .zero_starts import substitute_nodes

ANY = "…"  # In a pattern, replaces an index.


Group = list["Definition"]  # The equations for one name: a single equation, or several equations for elements.


@dataclass(eq=False)
class BindingGroup:
    """A definition: one equation, all equations for elements of one name, or a family with its initial values.

    `parts` contains the equations of a family, one per separate range. `options` maps each name with separate
    equations, such as the initial value s^0, to groups of equations. A name has several groups if several functions
    share a family but use different initial values.
    """

    base: str
    parts: list[Definition]
    options: dict[Key, list[Group]] = field(default_factory=dict)
    pattern: Key | None = None

    def __iter__(self) -> Iterator[Definition]:
        """Yield all equations of the group."""
        yield from self.parts
        yield from (definition for groups in self.options.values() for group in groups for definition in group)

    @property
    def last(self) -> Definition:
        """The last equation of the definition. For a family, it is the last equation with a range."""
        return max(self.parts or self, key=attrgetter("position"))

    @property
    def is_size(self) -> bool:
        """Whether the definition only names a size, as in n = |seq|."""
        return all(any(isinstance(side, Size) for side in part.statement.sides) for part in self)

    @property
    def position(self) -> int:
        """The position of the first equation with a range or, if there is none, of the first equation."""
        return self.parts[0].position if self.parts else next(iter(self)).position

    def means(self, key: Key) -> bool:
        """Return whether a name may refer to this definition."""
        return key in self.options or (self.pattern is not None and matches(self.pattern, key))


def pattern_of(name: Spelled, indices: set[str]) -> Key:
    """Return the pattern of a name, with … in place of indices. For h^{l,t}_Q, it is ("h", ("Q",), ("…", "…"))."""

    def open(part: Node) -> str:
        return ANY if component_names(part) & indices else component(part)

    return Key(name.base, tuple(map(open, name.subscript)), tuple(map(open, name.superscript)))


def matches(pattern: Key, key: Key) -> bool:
    if pattern.base != key.base or [len(pattern[1]), len(pattern[2])] != [len(key[1]), len(key[2])]:
        return False
    pairs = zip((*pattern.subscript, *pattern.superscript), (*key.subscript, *key.superscript))
    return all(part in (ANY, use) for part, use in pairs)


def general_of(pattern: Key, patterns: Iterable[Key]) -> Key | None:
    """Return the most general pattern that also matches `pattern`, such as E^{…,…} for E^{…,0}.

    Return None if only `pattern` itself matches.
    """
    keys = [key for key in patterns if key != pattern and matches(key, pattern)]
    return max(keys, key=lambda key: [*key.subscript, *key.superscript].count(ANY), default=None)


def list_members(key: Key, keys: Iterable[Key], listed: Collection[str]) -> list[Key]:
    """Return the names in `keys` that an indexed name may refer to, such as x_1 and x_2 for x_t in ∑_{t=1}^{2} x_t.

    The labels of these names are integers or names in a set, such as Q and K in ∑_{t ∈ {Q, K}} x_t.
    """
    scripts = (
        tuple(part if part.isdecimal() else ANY for part in script) for script in (key.subscript, key.superscript)
    )
    pattern = Key(key.base, *scripts)
    parts = (*pattern.subscript, *pattern.superscript)
    if ANY not in parts:
        return []
    members = (other for other in keys if matches(pattern, other))
    labels = [(other, (*other.subscript, *other.superscript)) for other in members]
    return [other for other, texts in labels if all(text in listed or is_whole(text) for text in texts)]


def is_whole(label: str) -> bool:
    return label.removeprefix("-").isdecimal()


def beginning(family: Definition) -> tuple[Node, ...]:
    """Return a family's indices and the first values of its ranges, with a number in place of each range variable.

    Two families have equal results if they begin at the same member.
    """
    numbers = {range_.variable.text: Number(slot) for slot, range_ in enumerate(family.ranges)}
    nodes_ = (*family.name.subscript, *family.name.superscript, *(range_.first for range_ in family.ranges))
    return tuple(substitute_nodes(node, numbers) for node in nodes_)


def holds(family: Definition, key: Key) -> bool:
    """Return whether a name is certainly a member of a family X^l = … for l = 1, …, n, rather than an initial value."""
    over = family.range
    assert over is not None
    parts = list(zip((*family.name.subscript, *family.name.superscript), (*key.subscript, *key.superscript)))
    return all(
        surely_in(range_, next((use for part, use in parts if part == range_.variable), "")) for range_ in over.each
    )


def surely_in(over: nodes.Range, index: str) -> bool:
    """Return whether a number is certainly in a range."""
    low, high = (end.value if isinstance(end, Number) else None for end in (over.low, over.high))
    return index.isdecimal() and low is not None and low <= int(index) <= (inf if high is None else high)


class DefinitionNeeds(NamedTuple):
    """The names that an equation needs, as keys and as words without scripts, and the equations that define them."""

    keys: list[Key]
    words: set[str]
    meant: list[Definition]


class BindingGroups:
    """The definitions of a program, for lookup by name. The definition of a family includes its initial values."""

    def __init__(self, scope: Scope, tensors: list[Definition], indices: set[str]):
        self.given = scope.given
        self.labels = {
            function.operator: {text for kind, text in (*function.subscript, *function.superscript) if kind == "label"}
            for function in scope.all_functions()
        }
        self.declared: dict[str, list[Key]] = {}
        for _, name, _, _ in scope.declarations:
            self.declared.setdefault(name.base, []).append(pattern_of(name, indices))
        self.exact: dict[Key, list[BindingGroup]] = {}
        self.by_base: dict[str, list[Key]] = {}  # The keys of `exact`, by base name.
        self.families: dict[str, list[BindingGroup]] = {}
        self.groups: list[BindingGroup] = []
        self.left: dict[str, list[Key]] = {}  # For each operator, the names that its functions leave to their callers.
        self._needs: dict[int, DefinitionNeeds] = {}
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
        """Add a definition under each name that it defines."""
        self.groups.append(binding)
        for key in binding.options:
            if key not in self.exact:
                self.by_base.setdefault(key.base, []).append(key)
            self.exact.setdefault(key, []).append(binding)
        if binding.pattern is not None:
            self.families.setdefault(binding.base, []).append(binding)

    def add_families(self, pattern: Key, families: Group, plain: dict[Key, Group], starts: dict[Key, Group]) -> None:
        """Add the families of one name.

        Families with different first indices become parts of one group. A repeated first index starts a new group.
        Equations for the families' initial values are removed from `plain`. `starts` contains initial values that are
        families, such as E^{i,0} for every i, which is the initial value of E^{i,j}.
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
        """Return the definitions that a name may refer to."""
        binding_groups = self.exact.get(key, [])
        families = self.families.get(key.base, ())
        return binding_groups + [binding for binding in families if key not in binding.options and binding.means(key)]

    def overriding(self, family: BindingGroup) -> list[BindingGroup]:
        """Return the separate definitions of a family's members, which override the family."""
        return [group for group in self.groups if group.pattern is None and any(map(family.means, group.options))]

    def nearest(self, key: Key, using: Definition) -> list[BindingGroup]:
        """Return the nearest definition that a name in an equation may refer to, as a list with at most one item.

        Prefer a definition of exactly this name to a family.
        """
        return sorted(
            self.meant(key), key=lambda binding: (key not in binding.options, abs(binding.position - using.position))
        )[:1]

    def needs(self, definition: Definition) -> DefinitionNeeds:
        """Return the names that an equation needs, and the equations that define them."""
        if id(definition) not in self._needs:
            uses, local = definition.uses, definition.local
            keys = self.needed(uses, local)
            written = self.needed(uses, local, calls=False) if self.left else keys
            words = {key.base for key in written if not key.subscript and not key.superscript} - local
            meant = [part for key in keys for binding in self.nearest(key, definition) for part in binding]
            self._needs[id(definition)] = DefinitionNeeds(keys, words | uses.sizes | uses.indices, meant)
        return self._needs[id(definition)]

    def leave_to_callers(self, functions: Iterable[FunctionDefinition]) -> None:
        """Record, for each function, the defined names that it needs but neither binds nor defines.

        The function's callers must provide these names. They include the names that called functions leave to their
        callers.
        """
        self.left, self._needs = {}, {}
        callers = functions_by_calls(functions)
        waiting = [*functions] if any(function.operator in callers for function in functions) else []
        while waiting:
            function = waiting.pop()
            known = self.left.get(function.operator, [])
            keys = [key for uses in function.all_uses for key in self.needed(uses)]
            needed = [key for key in keys if self.meant(key) and not function.provides(key)]
            further = [key for key in dict.fromkeys(needed) if key not in known]
            if further:
                self.left[function.operator] = [*known, *further]
                waiting += callers.get(function.operator, ())

    def needed(self, uses: Uses, local: Collection[str] = NOTHING, calls: bool = True) -> list[Key]:
        """Return the keys of the names that expressions use. For a name with scripts, prefer the longest defined form.

        Skip the `local` names, which have another meaning in the expressions. If `calls` is true, include the names
        that called functions leave to their callers.
        """
        keys = [key for operator in uses.calls for key in self.left.get(operator, ())] if calls and self.left else []
        for size in uses.sizes:
            base, _, label = size.partition("_")
            keys.append(Key(base, (label,) if label else ()))
        waiting = list(uses.references)
        while waiting:
            node, bound = waiting.pop()
            parts: Sequence[Node] = ()
            if isinstance(node, Call):
                labels = self.labels.get(node.operator)
                scripts = node.superscript if labels is None else (*node.superscript, *node.subscript)
                parts = [part for part in scripts if labels is None or component(part) not in labels]
            elif not isinstance(node, Name):
                parts = self.indices_in(node)
            elif node.text not in bound and node.text not in local:
                keys.append(Key(node.text))
            while isinstance(node, (Subscript, Superscript)) and (name := read_spelling(node)) is not None:
                key = name.key()
                keys.append(key)
                if self.meant(key) or self.is_declared(key):
                    break
                keys += list_members(key, self.by_base.get(key.base, ()), uses.variables)
                node = node.base
                keys += [Key(node.text)] if isinstance(node, Name) else []
            inner = [reference for part in parts for reference in uses_of(part).references]
            waiting += (NameUse(reference.node, reference.bound | bound) for reference in inner)
        return keys

    def is_declared(self, key: Key) -> bool:
        """Return whether a name is given or has a declaration."""
        return key in self.given or any(matches(pattern, key) for pattern in self.declared.get(key.base, ()))

    def indices_in(self, node: Node) -> Sequence[Node]:
        """Return the indices or powers among a name's components, such as L in X^L or n in x^n. Labels are left out."""
        name = read_spelling(node)
        assert name is not None
        key = name.key()
        if key in self.given or key in self.exact:
            return ()
        patterns = [group.pattern for group in self.families.get(key.base, ()) if group.pattern is not None]
        for pattern in patterns + self.declared.get(key.base, []):
            if matches(pattern, key):
                texts = zip((*pattern.subscript, *pattern.superscript), (*name.subscript, *name.superscript))
                return [part for text, part in texts if text == ANY]
        return name.superscript

    def find_reached(self, function: FunctionDefinition) -> Iterable[Definition]:
        """Yield, without repetition, each definition that a function's equation needs directly or indirectly."""
        bound = {name.key() for name in (*function.parameters, *function.options)}

        def meant(uses: Uses) -> list[Definition]:
            keys = (key for key in self.needed(uses) if key not in bound)
            return [definition for key in keys for binding in self.meant(key) for definition in binding]

        return reach(meant(function.uses), lambda definition: meant(definition.uses))


def runs(group: Group) -> list[Group]:
    """Split the equations for one name into definitions.

    If all equations define elements, equations for ranges or single elements form one definition. Every other equation
    is a separate definition.
    """
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
    """Return whether an equation defines a single element or slice of a tensor, as in Y_{h(1)} = 3."""
    return all(not isinstance(item, Name) for _, item in definition.elements)


def functions_by_calls(functions: Iterable[FunctionDefinition]) -> dict[str, list[FunctionDefinition]]:
    """Return a map from each operator to the functions that call it."""
    callers: dict[str, list[FunctionDefinition]] = {}
    for function in functions:
        for operator in NOTHING.union(*(uses.calls for uses in function.all_uses)):
            callers.setdefault(operator, []).append(function)
    return callers


def callers_of(function: FunctionDefinition, functions: Iterable[FunctionDefinition]) -> list[FunctionDefinition]:
    """Return the functions that call a function, directly or indirectly."""
    by_calls = functions_by_calls(functions)
    callers = by_calls.get(function.operator, ())
    return [*reach(callers, lambda caller: by_calls.get(caller.operator, ()))]
