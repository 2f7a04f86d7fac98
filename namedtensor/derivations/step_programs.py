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

from ..scope.names import Key, component, spelled, walk
from ..symbolic.naming import NameReading, words_of
from ..symbolic.spelling import expression, with_axes
from .assembly import Assembly
from .indices import UNIT, Linear, at, linear, mapped, plus, written
from .recurrences import Family, NotARecurrence, Recurrence, base_of, start_of, substituted


@dataclass
class RecurrenceAssembly(Assembly):
    """One derivative of a program with recurrences, as it is put together."""

    recurrence: Recurrence
    restated: dict[Key, Equation] = field(default_factory=dict[Key, Equation], kw_only=True)
    fixed: dict[str, Name] = field(
        default_factory=dict, kw_only=True
    )  # the states of a step where its formulas speak of them

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
            kept.append(Equation((self.label(family, {variable: 1}), self.within(family.body))))
        return kept

    def within(self, body: Node) -> Node:
        """A formula of one step; a state of this step is held fixed in it, for its adjoint has what that does."""
        return self.opaque(substituted(body, self.recurrence, self.in_step))

    def outside(self) -> list[Any]:
        """The program of what comes after the steps."""
        found: list[Any] = []
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
        """A tree in which other names with the index in a label, as x^t, are one name each."""
        own = {each.base for each in self.recurrence.families}
        return self.labeled(node, self.recurrence.variable, own, lambda each, _: self.probed(each))

    def labeled_by(self, variable: Node) -> list[tuple[str, Linear]]:
        """The names of one step, W^t, of which this is a member, and the step. Raises NotARecurrence where that is not known."""
        wanted, t, found = spelled(variable), self.recurrence.variable, []
        own = {each.base for each in self.recurrence.families}
        if wanted is None or not (wanted.subscript or wanted.superscript) or wanted.base in own:
            return []
        for label in [*self.labels]:
            name = spelled(expression(label)) if label.endswith("}") or "^" in label or "_" in label else None
            if name is None or name.base != wanted.base:
                continue
            pairs = [(mine, theirs) for own, other in zip(name[1:], wanted[1:]) for mine, theirs in zip(own, other)]
            counted = [(linear(mine), linear(theirs)) for mine, theirs in pairs if t in words_of(mine)]
            fixed = all(component(mine) == component(theirs) for mine, theirs in pairs if t not in words_of(mine))
            if not fixed or [*map(len, name[1:])] != [*map(len, wanted[1:])]:
                continue
            mine, theirs = counted[0] if len(counted) == 1 else (None, None)
            if mine is None or theirs is None or mine.get(t) != 1:
                raise NotARecurrence
            found.append((label, plus(theirs, {each: count for each, count in mine.items() if each != t}, -1)))
        return found

    def probed(self, node: Node, back: int = 0) -> dict[str, Any]:
        """Return the shape of a member, at the second step or `back` steps before."""
        recurrence = self.recurrence
        checker, few = self.probe((each.first, each.last) for each in (recurrence, *recurrence.sums))
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

    def steps(self) -> nodes.Range:
        recurrence = self.recurrence
        return nodes.Range(Name(recurrence.variable), written(recurrence.first), written(recurrence.last))

    def in_lines(self, reading: NameReading) -> Node:
        """A formula, its names as lines of their own."""
        return self.simplified(self.named(reading, self.steps()), self.steps())

    def begun(self, statement: Any) -> Any:
        """A statement, or what it is where it says what a state begins with and that lacks an axis."""
        name = spelled(statement.sides[0]) if isinstance(statement, Equation) else None
        return statement if name is None else self.restated.get(name.key(), statement)


def spoken(statement: Equation) -> set[str]:
    """The names that an equation needs."""
    return set().union(*map(words_of, statement.sides[1:]))
