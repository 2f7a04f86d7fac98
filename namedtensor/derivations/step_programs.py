"""A program with recurrences as two programs, of one step and of what comes after the last; closed forms in these.

In the program of a step h^{t-1} is a tensor that is given, called as it is written, and h^t has its equation; in the
other so is h^n. What the index labels besides, W^t, is given as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from grammar import nodes
from grammar.nodes import Derivative, Equation, Name, Node, Number, Value
from grammar.printer import to_text

from ..scope.names import Key, key, spelled, walk
from ..scope.symbols import Scope
from ..symbolic.lengths import length
from ..symbolic.linearizing import ReadingChecker
from ..symbolic.naming import Reading, words_of
from ..symbolic.spelling import expression, with_axes
from .closed_forms import closed_form
from .indices import UNIT, Linear, at, mapped, plus, written
from .reading import Shapes, reading_checker
from .recurrences import Family, NotARecurrence, Recurrence, base_of, depending, start_of, substituted

STEPS = 3  # at which shapes are looked at


@dataclass
class Derivation:
    """One derivative of a program with recurrences, as it is put together."""

    source: str
    tree: nodes.Program
    scope: Scope
    taken: Derivative
    shapes: dict[str, dict[str, Any]]
    sizes: dict[str, int]
    recurrence: Recurrence
    words: set[str]
    labels: dict[str, dict[str, Any]] = field(default_factory=dict)  # shapes of what stands for members
    lines: list[Equation] = field(default_factory=list)
    restated: dict[Key, Equation] = field(default_factory=dict)
    length: int = 0

    # ------------------------------------------------------------------------------------------------------ programs
    def label(self, family: Family, index: Linear) -> Name:
        """A member as one name."""
        return Name(to_text(family.member(written(index))))

    def in_step(self, family: Family, index: Linear) -> Node:
        return self.label(family, index)

    def after(self, family: Family, index: Linear) -> Node | None:
        """A member that stands outside of the steps: the last, what they begin with, or a name within one step."""
        recurrence = self.recurrence
        if index == recurrence.start:
            return None
        if index != recurrence.end:
            raise NotARecurrence
        if family in recurrence.states:
            return self.label(family, index)
        body = at(family.body, recurrence.variable, index)
        return substituted(body, recurrence, self.after)

    def sums_replaced(self, node: Any) -> Any:
        own = {id(each.node): to_text(each.node) for each in self.recurrence.sums}
        return mapped(node, lambda each: Name(own[id(each)]) if id(each) in own else None)

    def others(self) -> list[Any]:
        """The statements about no family."""
        ranged = (Equation, nodes.Declaration)
        return [each for each in self.tree.statements[:-1] if not isinstance(each, ranged) or each.range is None]

    def within_step(self) -> list[Any]:
        """The program of one step."""
        recurrence, variable = self.recurrence, self.recurrence.variable
        sums = {id(each.node) for each in recurrence.sums}
        later, kept = set(), self.others()  # what is said of what comes after the steps
        while True:
            gone = [
                each for each in kept
                if any(recurrence.references(each)) or any(id(node) in sums for node in walk(each))
                or (isinstance(each, Equation) and spoken(each) & later)
            ]  # fmt: skip
            if not gone:
                break
            later |= {word for each in gone if isinstance(each, Equation) for word in words_of(base_of(each.sides[0]))}
            kept = [each for each in kept if each not in gone]
        kept = [self.opaque(each) for each in kept]
        for family in recurrence.families:
            body = self.opaque(substituted(family.body, recurrence, self.in_step))
            kept.append(Equation((self.label(family, {variable: 1}), body)))
        return kept

    def outside(self) -> list[Any]:
        """The program of what comes after the steps."""
        found = []
        for each in self.others():
            head, *bodies = each.sides if isinstance(each, Equation) else (None,)
            if head is None:
                found.append(each)
                continue
            found.append(replace(each, sides=(head, *map(self.outer, bodies))))
        return found

    def outer(self, body: Node) -> Node:
        """A formula of what comes after the steps."""
        return self.opaque(substituted(self.sums_replaced(body), self.recurrence, self.after))

    def opaque(self, node: Any) -> Any:
        """A tree in which what the index labels besides, as in x^t, is one name."""
        variable = self.recurrence.variable
        families = {each.name.base for each in self.scope.families}
        families -= {each.base for each in self.recurrence.families}
        known = families | {name.base for _, name, _, over in self.scope.declarations if over is not None}
        known |= {key(name).base for name in self.shapes if "^" in name}

        def change(each: Any) -> Node | None:
            name = spelled(each) if isinstance(each, (nodes.Superscript, nodes.Subscript)) else None
            if name is None or name.base not in known:
                return None
            labelled = any(variable in words_of(part) for part in (*name.subscript, *name.superscript))
            if not labelled and name.base not in families:
                return None
            text = to_text(each)
            if text not in self.labels:
                self.labels[text] = self.probed(each)
            return Name(text)

        return mapped(node, change)

    # ---------------------------------------------------------------------------------------------------------- types
    def checker(self, statements: list[Any], inputs: Shapes, sizes: Mapping[str, int] | None = None) -> ReadingChecker:
        program = nodes.Program(tuple(statements))
        return reading_checker(self.source, program, self.shapes, self.sizes if sizes is None else sizes, inputs)

    def probe(self) -> tuple[ReadingChecker, dict[str, int]]:
        """The program with few steps, and its sizes."""
        few: dict[str, int] = {}
        bounds = [self.recurrence, *self.recurrence.sums]
        for symbol in {symbol for each in bounds for symbol in (*each.first, *each.last)} - {UNIT}:
            few[symbol.strip("|")] = STEPS + max(abs(each.first.get(UNIT, 0)) for each in bounds)
        for each in self.tree.statements:
            sides = each.sides if isinstance(each, Equation) else ()
            said = [few[side.text] for side in sides if isinstance(side, Name) and side.text in few]
            few |= {side.axis.name: said[0] for side in sides if isinstance(side, nodes.Size) and said}
        shapes = {
            name: {axis: few.get(axis, extent) for axis, extent in shape.items()} for name, shape in self.shapes.items()
        }
        program = nodes.Program(self.tree.statements[:-1])
        return reading_checker(self.source, program, shapes, {**self.sizes, **few}), few

    def probed(self, node: Node, back: int = 0) -> dict[str, Any]:
        """The shape of a member, at the second step or so many before."""
        checker, few = self.probe()
        recurrence = self.recurrence
        start = recurrence.start if recurrence.families else plus(recurrence.sums[0].first, {UNIT: -1})
        place = plus(start, {UNIT: recurrence.step * (2 - back)})
        number = sum(count * (1 if symbol == UNIT else few[symbol.strip("|")]) for symbol, count in place.items())
        name = spelled(at(node, recurrence.variable, {UNIT: number}))
        found = None if name is None else checker.find(name.key(), checker.top, node)
        if found is None:
            raise NotARecurrence
        return dict(found.shape)

    def shaped(self) -> None:
        """Learn the shapes of the states; restate what they begin with where it lacks an axis."""
        recurrence, variable = self.recurrence, self.recurrence.variable
        for family in recurrence.families:
            member = family.member(Name(variable))
            shape = self.probed(member)
            if shape.keys() != self.probed(member, 1).keys():
                raise NotARecurrence
            for index in ({variable: 1}, {variable: 1, UNIT: -recurrence.step}, recurrence.end):
                self.labels[self.label(family, index).text] = shape
            if family in recurrence.states:
                self.started(family, member, shape)

    def started(self, family: Family, member: Node, shape: dict[str, Any]) -> None:
        begins = self.probed(member, 2)
        missing = [axis for axis in shape if axis not in begins]
        start = start_of(self.recurrence, family)
        definitions = self.scope.definitions.get(start, [])
        if not missing:
            return
        if not definitions:
            raise NotARecurrence
        statement = definitions[0].statement
        body = with_axes(statement.sides[1], missing)
        self.restated[start] = replace(statement, sides=(statement.sides[0], body))

    # --------------------------------------------------------------------------------------------------- closed forms
    def closed(self, statements: list[Any], body: Node, by: Node, called: Callable[[str], str] = str) -> Reading | None:
        """The closed form of a derivative in a program of parts; None where it is 0."""
        mark = self.taken.mark
        tree = nodes.Program((*statements, Value(Derivative(body, by, mark))))
        names = words_of(nodes.Program(tree.statements))
        inputs = {name: shape for name, shape in self.labels.items() if name in names}
        taken = {
            each.sides[0].text
            for each in tree.statements
            if isinstance(each, Equation) and isinstance(each.sides[0], Name)
        }
        if not any(node == by for each in (*statements, body) for node in walk(each)):
            return None
        reached = depending(self.scope, nodes.Program(tuple(statements)), words_of(by))
        if not (words_of(body) | {each.operator for each in walk(body) if isinstance(each, nodes.Call)}) & reached:
            return None
        checker = self.checker(list(tree.statements), {name: inputs[name] for name in inputs if name not in taken})
        found = closed_form(checker, checker.whole(), tree, self.words, called)
        self.words |= {each.name for each in found.names}
        return None if is_zero(found.node) else found

    def named(self, reading: Reading) -> Node:
        """A formula, its names as lines of their own: those of one step are a family."""
        variable = self.recurrence.variable
        node = reading.node
        renamed: dict[str, Node] = {}
        for each in reading.names:
            definition = _renamed(each.node, renamed)
            stepwise = variable in words_of(definition)
            head = expression(f"{each.name}^{variable}") if stepwise else Name(each.name)
            same = next((line.sides[0] for line in self.lines if line.sides[1] == definition), None)
            if same is None:
                self.lines.append(Equation((head, definition), range=self.steps() if stepwise else None))
                self.length += 2 + length(definition)
            renamed[each.name] = same or head
        return _renamed(node, renamed)

    def steps(self) -> nodes.Range:
        recurrence = self.recurrence
        return nodes.Range(Name(recurrence.variable), written(recurrence.first), written(recurrence.last))

    def line(self, head: Node, body: Node, over: nodes.Range | None = None) -> None:
        self.lines.append(Equation((head, body), range=over))
        self.length += 2 + length(body)

    def begun(self, statement: Any) -> Any:
        """A statement, or what it is where it says what a state begins with and that lacks an axis."""
        name = spelled(statement.sides[0]) if isinstance(statement, Equation) else None
        return statement if name is None else self.restated.get(name.key(), statement)


def spoken(statement: Equation) -> set[str]:
    """The names that an equation needs."""
    return set().union(*map(words_of, statement.sides[1:]))


def is_zero(node: Node) -> bool:
    return node == Number(0) or (isinstance(node, nodes.Call) and node.operator == "⊙" and is_zero(node.arguments[0]))


def _renamed(node: Any, names: Mapping[str, Node]) -> Any:
    return mapped(node, lambda each: names.get(each.text) if isinstance(each, Name) else None) if names else node
