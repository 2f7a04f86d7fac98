"""The symbol table of a program: its definitions, functions, declarations, size equations and assertions."""

# pyright: reportUnknownVariableType=false
# of the empty dicts and lists of new records
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, filterfalse
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.nodes import Axis, Call, Equation, Node, Range, Signature
from grammar.traversal import names_in

from .names import ByScripts, Key, Spelled, component, component_names, index_by_spelling, key, match_key
from .uses import Uses, uses_of

Scripts = Sequence[Collection[str]]  # For each component of a script, its possible texts.


@dataclass(frozen=True)
class Replaced:
    """A built-in function or number that the program redefines."""

    name: str
    span: tuple[int, int]


@dataclass(eq=False)
class Definition:
    """An equation that defines a name. If it defines elements, `elements` contains their indices.

    For a family, `range` contains the ranges over the members, and `filling` contains the ranges over the elements of
    each member.
    """

    position: int
    name: Spelled
    body: Node
    statement: Equation
    claims: tuple[Node, ...] = ()
    range: Range | None = None
    elements: tuple[tuple[Axis, Node], ...] = ()
    head: Node | None = None
    filling: Range | None = None

    @property
    def key(self) -> Key:
        return self.name.key()

    @property
    def is_family(self) -> bool:
        """Whether the ranges enumerate names, as in X^l for l = 1, …, L.

        Otherwise, they enumerate elements, as in p_{chans(2k+1)}.
        """
        if self.range is None:
            return False
        parts = (*self.name.subscript, *self.name.superscript)
        return not self.elements or any(component_names(part) & self.range.variables for part in parts)

    @cached_property
    def uses(self) -> Uses:
        """Return the names in the right-hand side, in the ranges, and in the indices of the elements."""
        ends = (end for range_ in self.ranges for end in (range_.first, range_.last))
        return uses_of(self.body, *ends, *(item for _, item in self.elements))

    def member(self) -> Definition:
        """Return the definition of one member of a family, which keeps only the ranges over the member's elements."""
        return replace(self, range=self.filling, filling=None)

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The ranges of a definition: first the ranges over members, then the ranges over elements."""
        return tuple(range_ for over in (self.range, self.filling) if over is not None for range_ in over.each)

    @property
    def local(self) -> set[str]:
        """The names that are local to the definition: range variables and indices of elements."""
        variables = {range_.variable.text for range_ in self.ranges}
        return variables.union(*(names_in(item) for _, item in self.elements))


@dataclass(eq=False)
class FunctionDefinition:
    """A function definition f^l_{ax}(X; W) = body, with the definitions and assertions that belong to the function.

    `subscript` contains the kind and the text of each subscript component on the left-hand side. The kind, "axis",
    "number" or "label", determines which components of a call match. `superscript` has the same form, with the kinds
    "index" and "label".
    """

    position: int
    operator: str
    head: Call
    parameters: tuple[Spelled, ...]
    options: tuple[Spelled, ...]
    body: Node
    statement: Equation
    claims: tuple[Node, ...] = ()
    subscript: tuple[tuple[str, str], ...] = ()
    superscript: tuple[tuple[str, str], ...] = ()
    signature: Signature | None = None
    facts: dict[Key, list[Definition]] = field(default_factory=dict)
    families: list[Definition] = field(default_factory=list)
    functions: list[FunctionDefinition] = field(default_factory=list)
    declarations: dict[Key, nodes.Set] = field(default_factory=dict)
    sizes: list[SizeEquation] = field(default_factory=list)
    local_claims: list[Claim] = field(default_factory=list)

    @property
    def bound(self) -> set[str]:
        """The names that the left-hand side binds: parameters, indices and numbers."""
        names = {name.base for name in (*self.parameters, *self.options) if not name.subscript and not name.superscript}
        names |= {text for kind, text in self.superscript if kind == "index"}
        return names | {text for kind, text in self.subscript if kind == "number"}

    @property
    def over_axes(self) -> frozenset[str]:
        """The axes that the left-hand side binds, such as ax in g_{ax}(X)."""
        return frozenset(text for kind, text in self.subscript if kind == "axis")

    @cached_property
    def uses(self) -> Uses:
        """Return the names in the body and in the other sides of the function's equation."""
        return uses_of(self.body, *self.claims)

    @property
    def all_uses(self) -> list[Uses]:
        """The names in the function and in each definition that belongs to it, as separate items."""
        return [self.uses, *(definition.uses for definition in self.all_definitions())]

    @cached_property
    def own_axes(self) -> frozenset[str]:
        """Return the axes in the function that neither its left-hand side nor its signature names."""
        assert self.signature is not None
        spoken = uses_of(self.body, *(definition.statement for definition in self.all_definitions())).axes()
        stated = {axis.name for of in (*self.signature.domain, self.signature.codomain) for axis, _ in of.axes}
        return spoken - stated - self.over_axes

    def all_definitions(self) -> Iterator[Definition]:
        """Yield the definitions that belong to the function, families first."""
        return chain(self.families, *self.facts.values())

    @property
    def sets(self) -> list[nodes.Set]:
        """The declared sets of the function's definitions, followed by the set of its result."""
        return [*self.declarations.values(), *([] if self.signature is None else [self.signature.codomain])]

    def provides(self, name: Key) -> bool:
        """Return whether a name is a parameter of the function or has a definition that belongs to it."""
        bound = name.base in self.bound and not (name.subscript or name.superscript)
        typed = any(name == parameter.key() for parameter in (*self.parameters, *self.options))
        families = any(family.name.base == name.base for family in self.families)
        return bound or typed or name in self.facts or families

    @property
    def arity(self) -> tuple[int, int]:
        """The number of arguments before the semicolon and the number after the semicolon."""
        return len(self.parameters), len(self.options)

    @property
    def open(self) -> int:
        """The number of scripts that a call must specify, such as 0 for f^0 and 1 for f^l."""
        return sum(kind != "label" for kind, _ in (*self.subscript, *self.superscript))

    def misfit(self, arguments: int, options: int) -> int:
        """Return how badly a call fits the parameters, from 0 for an exact match to 3 for no match.

        A call f(X) fits a definition of f(X) better than a definition of f(X; W), which then uses the program's W.
        """
        expected, further = self.arity
        if arguments == expected:
            return 0 if options == further else 1 if options < further else 3
        return 2 if options == 0 and expected < arguments <= expected + further else 3

    @property
    def title(self) -> str:
        key = Key(
            self.operator,
            tuple(component(node) for node in self.head.subscript),
            tuple(component(node) for node in self.head.superscript),
        )
        return str(key)


@dataclass(eq=False, frozen=True)
class SizeEquation:
    """An equation left = right between sizes and numbers, with its span in the source."""

    left: Node
    right: Node | int
    span: tuple[int, int]
    text: str = ""


@dataclass(eq=False, frozen=True)
class Claim:
    """An assertion, left = right or left ∈ set, which does not define a name.

    If `range` is given, the assertion applies to every number in the range. If the equation has more than two sides,
    `step` is the span of `right`.
    """

    left: Node
    right: Node | nodes.Set
    span: tuple[int, int]
    range: Range | None = None
    step: tuple[int, int] | None = None


def equal_sides(
    first: Node, others: Iterable[Node], span: tuple[int, int], over: Range | None = None, several: bool = True
) -> Iterator[Claim]:
    """Yield the assertions that one side of an equation equals each side in `others`.

    If `several` is true, the `step` of each assertion is the span of its right side.
    """
    for other in others:
        yield Claim(first, other, span, over, other.span if several else None)


@dataclass(eq=False)
class Scope:
    """The symbol table of a program."""

    source: str
    program: nodes.Program
    definitions: dict[Key, list[Definition]] = field(default_factory=dict)
    families: list[Definition] = field(default_factory=list)
    functions: dict[str, list[FunctionDefinition]] = field(default_factory=dict)
    signatures: list[tuple[int, Signature]] = field(default_factory=list)
    declarations: list[tuple[int, Spelled, tuple[nodes.Set, ...], Range | None]] = field(default_factory=list)
    sizes: list[SizeEquation] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    values: list[tuple[int, Node]] = field(default_factory=list)
    indices: set[str] = field(default_factory=set)
    last: Any = None  # The program's value as a Definition or Node, or None if it has no value.
    unused: Definition | None = None  # An unused definition after the expression that is the value.
    claimed: Any = None  # The left side of the program's first assertion.
    # The variables of derivatives and of points such as |_{x = 0}, without labels.
    varied: frozenset[str] = frozenset()
    differentiated: tuple[Spelled, ...] = ()  # The variables of derivatives, with labels.
    apart: frozenset[str] = frozenset()  # The parameters of functions that contain a derivative.
    given: frozenset[Key] = frozenset()  # The names of the given values.
    replaced: tuple[Replaced, ...] = ()  # The built-ins that the program redefines.
    facts: set[tuple[int, int]] = field(default_factory=set)  # The spans of asserted comparisons.
    # The spans of assertions that look like the definition of a function.
    calls: frozenset[tuple[int, int]] = frozenset()

    @property
    def valued(self) -> Any:
        """The program's value or, if it has none, the left side of its first assertion.

        A program without a value computes this side, so that its assertions are checked.
        """
        return self.claimed if self.last is None else self.last

    @cached_property
    def uses(self) -> Uses:
        """Return the names in the program, grouped by role."""
        return uses_of(self.program)

    @cached_property
    def axes_named(self) -> frozenset[str]:
        """Return the axes that the program names."""
        return self.uses.axes()

    def declaration(self, expected: Key) -> tuple[nodes.Set, dict[str, Any]] | None:
        """Return the declared set of a name and the values of its declaration's indices.

        Return None if there is no declaration.
        """
        if expected not in self._sets:
            self._sets[expected] = self._declaration(expected)
        return self._sets[expected]

    def find_declared_sets(self, names: Iterable[Key]) -> Mapping[Key, tuple[nodes.Set, dict[str, Any]] | None]:
        """Return a map from names to their declared sets. Look up names with the same declaration together."""
        sets = self._sets
        for position, (first, *others) in self._declared.alike(filterfalse(sets.__contains__, names)):
            declaration = self.declaration(first)
            if declaration is None or not others:
                sets.update(dict.fromkeys(others, declaration))
                continue
            declared, indices = declaration
            number = (*first.subscript, *first.superscript)[position]
            varying = [variable for variable, text in indices.items() if text == number]
            for other in others:
                number = (*other.subscript, *other.superscript)[position]
                sets[other] = declared, {**indices, **dict.fromkeys(varying, number)}
        return sets

    @cached_property
    def _sets(self) -> dict[Key, tuple[nodes.Set, dict[str, Any]] | None]:
        return {}

    def _declaration(self, expected: Key) -> tuple[nodes.Set, dict[str, Any]] | None:
        # A declaration of W^h itself precedes a declaration of a family W^l.
        closest: tuple[nodes.Set, dict[str, Any]] | None = None
        for name, sets, over in self._declared.find(
            expected.base, [*zip(expected.subscript)], [*zip(expected.superscript)]
        ):
            indices = match_key(name, expected, self.indices)
            counted = () if over is None else over.variables
            if indices is not None and all(map(str.isdecimal, map(str, map(indices.get, counted)))):
                if closest is None or len(indices) < len(closest[1]):
                    closest = sets[0], indices
        return closest

    @cached_property
    def _declared(self) -> ByScripts[tuple[Spelled, tuple[nodes.Set, ...], Range | None]]:
        return index_by_spelling(
            ((name, (name, sets, over)) for _, name, sets, over in self.declarations), self.indices
        )

    @cached_property
    def bounded(self) -> frozenset[str]:
        """Return the names with a declared set other than ℝ, without scripts."""
        return frozenset(name.base for _, name, sets, _ in self.declarations if sets[0].domain != "reals")

    def families_of(self, expected: Key) -> list[Definition]:
        """Return the families of the program whose pattern matches a name."""
        if expected.base not in self.bases_of_families:
            return []
        return self._families.find(expected.base, [*zip(expected.subscript)], [*zip(expected.superscript)])

    @cached_property
    def bases_of_families(self) -> frozenset[str]:
        """Return the names of families, without scripts."""
        return frozenset(family.name.base for family in self.families)

    @cached_property
    def bases_over_two_indices(self) -> frozenset[str]:
        """Return the names of families with several indices, without scripts, including families in functions."""
        families = (*self.families, *(family for function in self.all_functions() for family in function.families))
        return frozenset(
            family.name.base for family in families if family.range is not None and family.range.further is not None
        )

    @cached_property
    def _families(self) -> ByScripts[Definition]:
        return index_by_spelling(((family.name, family) for family in self.families), self.indices)

    def functions_of(self, operator: str, subscripts: Scripts, superscripts: Scripts) -> list[FunctionDefinition]:
        """Return the functions with this name and one of the given labels, or with only an axis in the subscript."""
        labeled, over_all = self._functions
        index = labeled.find(operator, subscripts, superscripts)
        further = over_all.get(operator)
        return sorted([*index, *further], key=lambda definition: definition.position) if further else index

    @cached_property
    def _functions(self) -> tuple[ByScripts[FunctionDefinition], dict[str, list[FunctionDefinition]]]:
        labeled: ByScripts[FunctionDefinition] = ByScripts()
        over_all: dict[str, list[FunctionDefinition]] = {}
        for function in self.all_functions():
            if len(function.subscript) == 1 and function.subscript[0][0] == "axis":
                over_all.setdefault(function.operator, []).append(function)
                continue
            subscript, superscript = (
                [text if kind == "label" else None for kind, text in pair]
                for pair in (function.subscript, function.superscript)
            )
            labeled.add(function.operator, subscript, superscript, function)
        return labeled, over_all

    def varies(self, name: str) -> bool:
        """Return whether the program contains a derivative with respect to a name or one of its members."""
        named, indexed = self._differentiated
        return name in named or (bool(indexed) and key(name).base in indexed)

    @cached_property
    def _differentiated(self) -> tuple[frozenset[str], frozenset[str]]:
        indexed = {
            name
            for name in self.differentiated
            if any(isinstance(part, nodes.Name) and part.text in self.indices for script in name[1:] for part in script)
        }
        named = frozenset(str(name.key()) for name in self.differentiated if name not in indexed)
        return named, frozenset(name.base for name in indexed)

    def all_functions(self) -> Iterable[FunctionDefinition]:
        return chain(*self.functions.values())

    def all_definitions(self) -> Iterator[Definition]:
        """Yield the definitions that belong to no function, families first."""
        return chain(self.families, *self.definitions.values())

    def bodies_named(self, name: str) -> Iterator[Node]:
        """Yield the right-hand sides of all definitions and functions with this name, even inside other functions."""
        for holder in (self, *self.all_functions()):
            yield from (definition.body for definition in holder.all_definitions() if definition.name.base == name)
        yield from (function.body for function in self.functions.get(name, ()))
