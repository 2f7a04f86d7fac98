"""The assembly of a derivative of families: closed forms in programs of parts, and the lines that have them.

A part is one name, called as it is written, h^{t-1}; `labels` has its shape. So is any other name with the index in a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.nodes import Derivative, Equation, Name, Node, Number, Value
from grammar.printer import to_text
from grammar.traversal import mapped

from ..scope.names import key, spelled, walk
from ..scope.symbols import Scope
from ..symbolic.linearizing import ReadingChecker
from ..symbolic.naming import NameReading, names_left, words_of
from ..symbolic.spelling import expression, length
from .identification import reading_of
from .indices import UNIT, Linear
from .reading import Shapes, needed, reading_checker, spoken_in
from .recurrences import depending

MIN_SHAPE_STEPS = 3  # at which shapes are looked at

Bounds = tuple[Linear, Linear]


@dataclass
class Assembly:
    """One derivative of a program with families, as it is put together."""

    source: str
    tree: nodes.Program
    scope: Scope
    taken: Derivative
    shapes: dict[str, dict[str, Any]]
    sizes: dict[str, int]
    words: set[str]
    labels: dict[str, dict[str, Any]] = field(
        default_factory=dict[str, dict[str, Any]], kw_only=True
    )  # shapes of the placeholders of members
    lines: list[Equation] = field(default_factory=list[Equation], kw_only=True)
    length: int = field(default=0, kw_only=True)
    constants: dict[str, Node] = field(
        default_factory=dict[str, Node], kw_only=True
    )  # other names of parts, held fixed

    # ---------------------------------------------------------------------------------------------------------- types
    def checker(self, statements: list[Any], inputs: Shapes, sizes: Mapping[str, int] | None = None) -> ReadingChecker:
        program = nodes.Program(tuple(statements))
        return reading_checker(self.source, program, self.shapes, self.sizes if sizes is None else sizes, inputs)

    def probe(self, bounds: Iterable[Bounds]) -> tuple[ReadingChecker, dict[str, int]]:
        """The program with few steps between these bounds, and its sizes."""
        bounds = list(bounds)
        few: dict[str, int] = {}
        for symbol in {symbol for bound in bounds for side in bound for symbol in side} - {UNIT}:
            few[symbol.strip("|")] = MIN_SHAPE_STEPS + max(abs(first.get(UNIT, 0)) for first, _ in bounds)
        for statement in self.tree.statements:
            sides = statement.sides if isinstance(statement, Equation) else ()
            indices = [few[side.text] for side in sides if isinstance(side, Name) and side.text in few]
            few |= {side.axis.name: indices[0] for side in sides if isinstance(side, nodes.Size) and indices}
        shapes = {
            name: {axis: few.get(axis, extent) for axis, extent in shape.items()} for name, shape in self.shapes.items()
        }
        program = nodes.Program(self.tree.statements[:-1])
        return reading_checker(self.source, program, shapes, {**self.sizes, **few}), few

    @cached_property
    def facts(self) -> list[Any]:
        """The assertions of the program about its tensors: ∑_{v} T = 1, ∑_{v} T^t = 1 for t = 1, …, n."""
        spans = {claim.span for claim in self.scope.claims}
        return [
            statement
            for statement in self.tree.statements
            if getattr(statement, "span", None) in spans
            and words_of(statement) & self.tensors
            and self.covers(statement)
        ]

    def covers(self, fact: Any) -> bool:
        """Whether a fact holds for each index with which its tensors are used."""
        if getattr(fact, "range", None) is None:
            return True
        if len(fact.range.each) > 1:
            return False
        tensors = words_of(fact) & self.tensors
        sums = [node for node in walk(self.tree) if isinstance(node, nodes.IndexSum)]
        used = [(node.first, node.last) for node in sums if words_of(node.body) & tensors]
        used += [
            (family.range.low, family.range.high)
            for family in self.scope.families
            if family.range is not None and words_of(family.body) & tensors
        ]
        return all(ends == (fact.range.low, fact.range.high) for ends in used)

    def of_parts(self, fact: Any) -> Any:
        """The fact of one step where it is of all: ∑_{v} T^t = 1, of the part T^t."""
        if getattr(fact, "range", None) is None:
            return fact
        of_step = replace(fact, range=None)
        return mapped(of_step, lambda part: Name(text) if (text := to_text(part)) in self.labels else None)

    @cached_property
    def tensors(self) -> set[str]:
        """The bases of what is declared or given."""
        return {name.base for _, name, _, _ in self.scope.declarations} | {key(name).base for name in self.shapes}

    def others(self) -> list[Any]:
        """The statements about no family."""
        ranged = (Equation, nodes.Declaration)
        return [
            statement
            for statement in self.tree.statements[:-1]
            if not isinstance(statement, ranged) or statement.range is None
        ]

    def labeled(
        self, node: Any, variable: str, axes: Iterable[str], shape: Callable[[Node, str], dict[str, Any]]
    ) -> Any:
        """A tree in which a name with the index in a label, as x^t, is one name; families of `own` bases are left."""
        families = {family.name.base for family in self.scope.families} - set(axes)
        known = families | {name.base for _, name, _, over in self.scope.declarations if over is not None}
        known |= {key(name).base for name in self.shapes if "^" in name}

        def change(part: Any) -> Node | None:
            name = spelled(part) if isinstance(part, (nodes.Superscript, nodes.Subscript)) else None
            if name is None or name.base not in known:
                return None
            labeled = any(variable in words_of(part) for part in (*name.subscript, *name.superscript))
            if not labeled and name.base not in families:
                return None
            text = to_text(part)
            if text not in self.labels:
                self.labels[text] = shape(part, variable)
            return Name(text)

        return mapped(node, change)

    # --------------------------------------------------------------------------------------------------- closed forms
    def closed(
        self, statements: list[Any], body: Node, by: Node, called: Callable[[str], str] = str, mark: str | None = None
    ) -> NameReading | None:
        """The closed form of a derivative in a program of parts; None where it is 0."""
        derivative = Value(Derivative(body, by, self.taken.mark if mark is None else mark))
        names = words_of(nodes.Program((*statements, derivative)))
        facts = [
            fact for fact in map(self.of_parts, self.facts) if words_of(fact) & {*self.tensors, *self.labels} <= names
        ]
        tree = nodes.Program((*facts, *statements, derivative))
        taken = {
            statement.sides[0].text
            for statement in tree.statements
            if isinstance(statement, Equation) and isinstance(statement.sides[0], Name)
        }
        if not any(node == by for statement in (*statements, body) for node in walk(statement)):
            return None
        reached = depending(self.scope, nodes.Program(tuple(statements)), words_of(by))
        if not spoken_in(body) & reached:
            return None
        inputs = {name: shape for name, shape in self.labels.items() if name in names - taken}
        checker = self.checker(list(tree.statements), inputs)
        reading = reading_of(checker, checker.whole(), tree, self.words, called, () if facts else None)
        self.words |= {name.name for name in reading.names}
        return None if is_zero(reading.node) else reading

    def named(self, reading: NameReading, over: nodes.Range | None = None) -> Node:
        """A formula, its names as lines of their own: those of one step are a family over the steps."""
        node = reading.node
        renamed: dict[str, Node] = {}
        for name in reading.names:
            definition = _renamed(name.node, renamed)
            stepwise = over is not None and over.variable.text in words_of(definition)
            head = expression(f"{name.name}^{over.variable.text}") if over and stepwise else Name(name.name)
            same = next((line.sides[0] for line in self.lines if line.sides[1] == definition), None)
            if same is None:
                self.line(head, definition, over if stepwise else None)
            renamed[name.name] = same or head
        return _renamed(node, renamed)

    def constant(self, text: str) -> str:
        """Another name for a part, where that is a constant and does not stand for anything."""
        letter = next(names_left(self.words))
        self.words.add(letter)
        self.constants[letter] = expression(text)
        return letter

    def simplified(self, node: Node, over: nodes.Range | None) -> Node:
        """A formula in which no part has two names, simplified."""
        if not {*self.constants} & words_of(node):
            return node
        node = mapped(node, lambda part: self.constants.get(part.text) if isinstance(part, Name) else None)
        parts = {expression(text): Name(text) for text in self.labels if " alone" not in text}
        whole = mapped(node, lambda part: None if isinstance(part, Name) else parts.get(part))
        inputs = {name: shape for name, shape in self.labels.items() if name in words_of(whole)}
        declared = tuple(statement for statement in self.others() if isinstance(statement, nodes.Declaration))
        tree = nodes.Program((*needed(declared, words_of(whole)), Value(whole)))
        checker = self.checker([*tree.statements], inputs)
        return self.named(reading_of(checker, checker.whole(), tree, self.words), over)

    def line(self, head: Node, body: Node, over: nodes.Range | None = None) -> None:
        self.lines.append(Equation((head, body), range=over))
        self.length += 2 + length(body)


def axes_of(tree: nodes.Program, shapes: Shapes) -> set[str]:
    names = {axis for shape in shapes.values() for axis in shape}
    return names | {node.name for node in walk(tree) if isinstance(node, nodes.Axis)}


def is_zero(node: Node) -> bool:
    return node == Number(0) or (
        isinstance(node, nodes.Call) and node.operator in ("⊙", "juxtaposed") and is_zero(node.arguments[0])
    )


def _renamed(node: Any, names: Mapping[str, Node]) -> Any:
    return mapped(node, lambda part: names.get(part.text) if isinstance(part, Name) else None) if names else node
