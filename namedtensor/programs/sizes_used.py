"""Sizes as numbers in a program: whether what is computed from them holds for all sizes between some that were planned.

A plan has |seq| as a number, and what is computed of it alone: √|seq| is 5.57 in it. Where that is c nᵖ + d, three plans
tell; of cos(π |seq|), or of whether |seq| = 44, they tell nothing about the sizes between. So all that is made of sizes has
to be a sum, or a product, a quotient or a root of few of them, that meets an array before anything else is done to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from grammar import nodes
from grammar.nodes import Call, Node
from grammar.traversal import children

from ..checking.size_facts import sides
from ..scope.names import CONSTANTS, key, spelled, walk
from ..scope.symbols import Definition, Scope

SUMS = ("+", "-")
ALGEBRA = frozenset((*SUMS, "negative", "juxtaposed", "⊙", "/", "sqrt"))
ORDERS, EQUALS, LOGIC = ("<", ">", "≤", "≥"), ("=", "≠"), ("∧", "∨", "¬")
MOST = 2  # sizes in one number: three plans of a law that it does not follow are then no chance


class Decisive(Exception):
    """Raised where something else is made of a size."""


class Part(NamedTuple):
    """What an expression may be once sizes are numbers: an array, or a number made of so many sizes."""

    is_array: bool
    sizes: int = 0


ARRAY, NUMBER = Part(True), Part(False)


def says_sizes(scope: Scope, axes: Collection[str], fixed: Collection[str] = (), numbers: Collection[str] = ()) -> bool:
    """Whether a program says, of the sizes of axes or by them, what need not be so between two of them.

    Inputs have the axes `fixed` in one size; of the names given `numbers` are plain ones.
    """
    mark = says_sizes, frozenset(axes), frozenset(fixed), frozenset(numbers)
    if mark not in scope.notes:
        reader = Reader(scope, fixed, numbers)
        scope.notes[mark] = reader.has_equations(axes) or reader.is_decided()
    return scope.notes[mark]


def is_sum(size: Node) -> bool:
    """Whether a size expression is made of names and numbers by + and − alone."""
    return all(
        isinstance(node, (nodes.Name, nodes.Number, nodes.Size, nodes.Axis, nodes.Subscript))
        or (isinstance(node, nodes.Superscript) and spelled(node) is not None)
        or (isinstance(node, Call) and node.operator in SUMS)
        for node in walk(size)
    )


class Reader:
    """What the parts of a program are, once sizes are numbers."""

    def __init__(self, scope: Scope, fixed: Collection[str], numbers: Collection[str]):
        self.scope, self.every = scope, [*walk(scope.program)]
        self.fixed: Collection[str] = fixed  # but in functions, whose axes may be others
        self.local: set[str] = set()  # the index variables of a definition by elements
        self.facts = [*scope.sizes, *(fact for function in scope.all_functions() for fact in function.sizes)]
        self.of_sets = [
            (axis.name, size) for each in self.every if isinstance(each, nodes.Set) for axis, size in each.axes if size
        ]
        said = [*(size for _, size in self.of_sets), *(side for fact in self.facts for side in sides(fact))]
        self.scalars = {node.text for size in said for node in walk(size) if isinstance(node, nodes.Name)}
        while further := {*map(self.named, scope.program.statements)} - self.scalars - {None}:
            self.scalars |= further
        counted = {
            each.variable.text for each in self.every if isinstance(each, (nodes.Range, nodes.IndexSum, nodes.Over))
        }
        self.constants = {*CONSTANTS, *(key(name).base for name in numbers), *counted}

    def has_equations(self, axes: Collection[str]) -> bool:
        """Whether sizes are said to be others than sums: |a| = 2 |b|, a[2 n]."""
        said = [
            *(side for fact in self.facts for side in sides(fact)),
            *(size for axis, size in self.of_sets if axis in axes),
        ]
        return not all(map(is_sum, said))

    def is_decided(self) -> bool:
        """Whether anything is made of sizes that need not follow a law."""
        if not any(isinstance(each, nodes.Size) or getattr(each, "text", None) in self.scalars for each in self.every):
            return False
        self.read_definitions()
        facts = {fact.span for fact in self.facts}
        try:
            for statement in self.scope.program.statements:
                if isinstance(statement, nodes.Equation) and statement.span not in facts:
                    self.equation(statement)
                elif not isinstance(statement, (nodes.Equation, nodes.Declaration, nodes.Signature)):
                    for each in children(statement):
                        self.part(each)
        except Decisive:
            return True
        return False

    def read_definitions(self) -> None:
        """Which functions have sizes in them, and which names stand for numbers."""
        outside, self.fixed = self.fixed, ()
        defined = [*(each for group in self.scope.definitions.values() for each in group), *self.scope.families]
        self.owned: set[tuple[int, int]] = set()  # the statements of functions
        uses: dict[str, set[str]] = {}  # the functions that each calls; "" for sizes
        for function in self.scope.all_functions():
            own: list[Definition] = [*(each for group in function.facts.values() for each in group), *function.families]
            self.owned |= {each.statement.span for each in own}
            defined += own
            within = [node for body in (function.body, *(each.body for each in own)) for node in walk(body)]
            found = {"" if self.is_size(node) else getattr(node, "operator", "-") for node in within}
            uses.setdefault(function.operator, set()).update(found)
        self.measuring = {""}
        while further := {name for name, each in uses.items() if each & self.measuring} - self.measuring:
            self.measuring |= further
        self.fixed = outside
        bodies = [(each.name.base, each.body) for each in defined if not each.elements]
        while further := {base for base, body in bodies if base not in self.constants and self.is_number(body)}:
            self.constants |= further

    def is_size(self, node: Any) -> bool:
        """Whether a node is a size that may be another at each call."""
        if isinstance(node, nodes.Size):
            return node.axis.name not in self.fixed
        return isinstance(node, nodes.Name) and node.text in self.scalars and node.text not in self.local

    def named(self, statement: Any) -> str | None:
        """The name that an equation gives a sum of sizes: n of `n = |seq| - 1`, which is used as a size is."""
        if not isinstance(statement, nodes.Equation) or statement.range is not None:
            return None
        head, *bodies = statement.sides
        if not isinstance(head, nodes.Name):
            return None
        return head.text if all(map(is_sum, bodies)) and self.has_size(bodies) else None

    def has_size(self, parts: Iterable[Any]) -> bool:
        return any(self.is_size(each) for part in parts for each in walk(part))

    def is_number(self, body: Node) -> bool:
        try:
            return not self.part(body).is_array
        except Decisive:
            return False  # which is found again where its statement is read

    def equation(self, statement: nodes.Equation) -> None:
        head, *bodies = statement.sides
        by_elements, outside = isinstance(head, nodes.Index), self.fixed
        if isinstance(head, nodes.Index):
            self.local = {each.text for _, item in head.items for each in walk(item) if isinstance(each, nodes.Name)}
        elif not isinstance(head, Call) and spelled(head) is None:
            bodies.append(head)
        if isinstance(head, Call) or statement.span in self.owned:
            self.fixed = ()
        if any(self.part(body).sizes for body in bodies) and not by_elements and self.named(statement) is None:
            raise Decisive
        if statement.range is not None:
            self.ends(statement.range.first, statement.range.last)
        self.local, self.fixed = set(), outside

    # -------------------------------------------------------------------------------------------------- expressions
    def part(self, node: Any) -> Part:
        """What an expression is. Raises Decisive where a size in it decides."""
        if isinstance(node, (nodes.Number, nodes.Size)):
            return Part(False, int(self.is_size(node)))
        name = spelled(node)
        if name is not None:
            return self.name(name.base, name.subscript, name.superscript)
        rule = RULES.get(type(node))
        return self.closed(children(node)) if rule is None else rule(self, node)

    def name(self, base: str, subscript: Sequence[Node], superscript: Sequence[Node]) -> Part:
        is_scalar = base in self.scalars and base not in self.local
        if is_scalar or (base in self.constants and base not in self.local):
            return self.raised(Part(False, int(is_scalar)), superscript)
        if self.has_size((*subscript, *superscript)):  # a label
            raise Decisive
        return ARRAY

    def raised(self, base: Part, components: Sequence[Node]) -> Part:
        """A power of a number or of an array."""
        found = [self.part(each) for each in components]
        if any(each.is_array for each in found):
            return ARRAY
        is_square = len(components) == 1 and isinstance(components[0], nodes.Number) and components[0].value == 2
        if any(each.sizes for each in found) or (base.sizes and components and not is_square):
            raise Decisive
        return base._replace(sizes=base.sizes * (1 + is_square))

    def combined(self, parts: Iterable[Any]) -> Part:
        """Numbers and arrays by sums, products and quotients."""
        found = [self.part(each) for each in parts]
        sizes = sum(each.sizes for each in found)
        if sizes > MOST:
            raise Decisive
        return ARRAY if any(each.is_array for each in found) else Part(False, sizes)

    def closed(self, parts: Iterable[Any]) -> Part:
        """What is made of these otherwise: of arrays, or of numbers without sizes."""
        found = [self.part(each) for each in parts if not isinstance(each, (nodes.Axis, nodes.Set))]
        if any(each.sizes for each in found):
            raise Decisive
        return Part(any(each.is_array for each in found))

    def ends(self, *ends: Any) -> None:
        """Ends of ranges, and indices: sums, or arrays."""
        for end in ends:
            if isinstance(end, nodes.Slice):
                self.ends(end.first, end.last)
            elif self.part(end).sizes and not is_sum(end):
                raise Decisive

    def call(self, node: Call) -> Part:
        operator, own = node.operator, node.operator in self.scope.functions
        if self.has_size(node.superscript):
            raise Decisive
        if not own and not node.subscript and operator in ALGEBRA:
            return self.combined(node.arguments)
        if not own and operator in (*ORDERS, *EQUALS):
            return self.comparison(node)
        if not own and operator in LOGIC:
            return ARRAY if [self.part(each) for each in node.arguments] else NUMBER
        found = self.closed((*node.arguments, *node.parameters))
        if operator in self.measuring and not found.is_array:
            raise Decisive
        return ARRAY if node.subscript else found

    def comparison(self, node: Call) -> Part:
        """What is decided alike at two sizes by the order of sums is decided so between them; by their being equal it is not."""
        found = [self.part(each) for each in node.arguments]
        if any(each.sizes and not is_sum(argument) for each, argument in zip(found, node.arguments)):
            raise Decisive
        if node.operator in EQUALS and any(each.sizes for each in found) and not any(each.is_array for each in found):
            raise Decisive
        return ARRAY

    def power(self, node: nodes.Superscript) -> Part:
        return self.raised(self.part(node.base), node.components)

    def cases(self, node: nodes.Cases) -> Part:
        for _, condition in node.branches:
            if condition is not None:
                self.part(condition)
        return self.combined(value for value, _ in node.branches)

    def index(self, node: nodes.Index) -> Part:
        self.ends(*(item for _, item in node.items))
        self.closed((node.base,))
        return ARRAY

    def index_sum(self, node: nodes.IndexSum) -> Part:
        self.ends(node.first, node.last)
        return self.closed((node.body,))

    def over(self, node: nodes.Over) -> Part:
        self.ends(*(node.over.elements if isinstance(node.over, nodes.Set) else (node.over,)))
        return self.closed((node.body,))

    def indicator(self, node: nodes.Indicator) -> Part:
        self.part(node.condition)
        return ARRAY


RULES: dict[type, Callable[[Reader, Any], Part]] = {
    Call: Reader.call,
    nodes.Superscript: Reader.power,
    nodes.Cases: Reader.cases,
    nodes.Index: Reader.index,
    nodes.IndexSum: Reader.index_sum,
    nodes.Over: Reader.over,
    nodes.Indicator: Reader.indicator,
    nodes.Rename: lambda reader, node: reader.closed((node.base,)),
    nodes.Starred: lambda reader, node: reader.closed((node.base,)),
}
