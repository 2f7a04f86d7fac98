"""A program with recurrences as two programs: of one step, and of what comes after the last; closed forms in these.

In the program of a step h^{t-1} is a tensor that is given, called as it is written, and h^t has its equation; in the
other so is h^n. Other names with the index in a label, W^t, are given as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from grammar import nodes
from grammar.nodes import Equation, Name, Node
from grammar.printer import to_text
from grammar.traversal import mapped

from ..scope.names import Key, component, spelled, walk
from ..symbolic.naming import NameReading, words_of
from ..symbolic.spelling import expression, with_axes
from .assembly import Assembly
from .indices import UNIT, Linear, at, linear, number_of, plus, written
from .reading import base_of
from .recurrences import Family, FamilyRecurrence, NotARecurrence, start_of, substituted


@dataclass
class RecurrenceAssembly(Assembly):
    """One derivative of a program with recurrences, as it is put together."""

    recurrence: FamilyRecurrence
    restated: dict[Key, Equation] = field(default_factory=dict[Key, Equation], kw_only=True)
    fixed: dict[str, Name] = field(
        default_factory=dict, kw_only=True
    )  # the states of a step if its formulas mention them

    # ------------------------------------------------------------------------------------------------------ programs
    def label(self, family: Family, index: Linear) -> Name:
        """A member as one name."""
        return Name(to_text(family.member(written(index))))

    def in_step(self, family: Family, index: Linear) -> Node:
        label = self.label(family, index)
        if family not in self.recurrence.states or index != {self.recurrence.variable: 1}:
            return label
        if label.text not in self.fixed:
            self.fixed[label.text] = Name(self.constant(label.text))
            self.labels[self.fixed[label.text].text] = self.labels[label.text]
        return self.fixed[label.text]

    def after(self, family: Family, index: Linear) -> Node | None:
        """A member that appears outside of the steps: the last, what they begin with, or a name within one step."""
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
        texts = {id(sum_.node): to_text(sum_.node) for sum_ in self.recurrence.sums}
        return mapped(node, lambda part: Name(texts[id(part)]) if id(part) in texts else None)

    def within_step(self) -> list[Any]:
        """The program of one step."""
        recurrence, variable = self.recurrence, self.recurrence.variable
        sums = {id(sum_.node) for sum_ in recurrence.sums}
        later, opaques = set(), self.others()  # what is stated about what comes after the steps
        while True:
            gone = [
                opaque for opaque in opaques
                if any(recurrence.references(opaque)) or any(id(node) in sums for node in walk(opaque))
                or (isinstance(opaque, Equation) and spoken(opaque) & later)
            ]  # fmt: skip
            if not gone:
                break
            later |= {
                word
                for statement in gone
                if isinstance(statement, Equation)
                for word in words_of(base_of(statement.sides[0]))
            }
            opaques = [opaque for opaque in opaques if opaque not in gone]
        opaques = [self.opaque(opaque) for opaque in opaques]
        for family in recurrence.families:
            opaques.append(Equation((self.label(family, {variable: 1}), self.within(family.body))))
        return opaques

    def within(self, body: Node) -> Node:
        """A formula of one step; a state of this step is held fixed in it, for its adjoint has what that does."""
        return self.opaque(substituted(body, self.recurrence, self.in_step))

    def outside(self) -> list[Any]:
        """The program of what comes after the steps."""
        outside: list[Any] = []
        for statement in self.others():
            head, *bodies = statement.sides if isinstance(statement, Equation) else (None,)
            if head is None:
                outside.append(statement)
                continue
            outside.append(replace(statement, sides=(head, *map(self.outer, bodies))))
        return outside

    def outer(self, body: Node) -> Node:
        """A formula of what comes after the steps."""
        return self.opaque(substituted(self.sums_replaced(body), self.recurrence, self.after))

    def opaque(self, node: Any) -> Any:
        """A tree in which other names with the index in a label, as x^t, are one name each."""
        bases = {family.base for family in self.recurrence.families}
        return self.labeled(node, self.recurrence.variable, bases, lambda part, _: self.probed(part))

    def labeled_by(self, variable: Node) -> list[tuple[str, Linear]]:
        """The names of one step, W^t, of which this is a member, and the step. Raises NotARecurrence where that is not known."""
        expected, t, labeled = spelled(variable), self.recurrence.variable, []
        bases = {family.base for family in self.recurrence.families}
        if expected is None or not (expected.subscript or expected.superscript) or expected.base in bases:
            return []
        for label in [*self.labels]:
            name = spelled(expression(label)) if label.endswith("}") or "^" in label or "_" in label else None
            if name is None or name.base != expected.base:
                continue
            pairs = [
                (mine, theirs)
                for mine_scripts, other in zip(name[1:], expected[1:])
                for mine, theirs in zip(mine_scripts, other)
            ]
            counted = [(linear(mine), linear(theirs)) for mine, theirs in pairs if t in words_of(mine)]
            fixed = all(component(mine) == component(theirs) for mine, theirs in pairs if t not in words_of(mine))
            if not fixed or [*map(len, name[1:])] != [*map(len, expected[1:])]:
                continue
            mine, theirs = counted[0] if len(counted) == 1 else (None, None)
            if mine is None or theirs is None or mine.get(t) != 1:
                raise NotARecurrence
            labeled.append((label, plus(theirs, {text: count for text, count in mine.items() if text != t}, -1)))
        return labeled

    def probed(self, node: Node, back: int = 0) -> dict[str, Any]:
        """Return the shape of a member, at the second step or `back` steps before."""
        recurrence = self.recurrence
        checker, few = self.probe((sum_.first, sum_.last) for sum_ in (recurrence, *recurrence.sums))
        start = recurrence.start if recurrence.families else plus(recurrence.sums[0].first, {UNIT: -1})
        offset = plus(start, {UNIT: recurrence.step * (2 - back)})
        name = spelled(at(node, recurrence.variable, {UNIT: number_of(offset, few)}))
        index = None if name is None else checker.find(name.key(), checker.top, node)
        if index is None:
            raise NotARecurrence
        return dict(index.shape)

    def shaped(self) -> None:
        """Learn the shapes of the states; restate what they begin with where it is missing an axis."""
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

    def steps(self) -> nodes.Range:
        recurrence = self.recurrence
        return nodes.Range(Name(recurrence.variable), written(recurrence.first), written(recurrence.last))

    def in_lines(self, reading: NameReading) -> Node:
        """A formula, its names as lines of their own."""
        return self.simplified(self.named(reading, self.steps()), self.steps())

    def begun(self, statement: Any) -> Any:
        """A statement, or what it is where it specifies what a state begins with and that is missing an axis."""
        name = spelled(statement.sides[0]) if isinstance(statement, Equation) else None
        return statement if name is None else self.restated.get(name.key(), statement)


def spoken(statement: Equation) -> set[str]:
    """The names that an equation needs."""
    return set().union(*map(words_of, statement.sides[1:]))
