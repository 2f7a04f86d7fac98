"""Assemble the derivative of a recurrence from closed forms in two programs.

The first is the program of a single step. The second contains the statements after the steps.

In the first program, h^{t-1} is an input with this name, and an equation defines h^t. The second program has h^n as an
input. Other names with the step index in a label, such as W^t, are also inputs. `labels` contains their shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.nodes import Derivative, Equation, Name, Node, Number, Value
from grammar.printer import to_text
from grammar.traversal import map_nodes

from ..calculus.record_formulas import expression
from ..scope.names import Key, key, read_spelling, walk
from ..scope.symbols import Scope
from ..symbolic.linearizing import ReadingChecker
from ..symbolic.naming import NameReading, names_left, words_of
from ..symbolic.spelling import length, with_axes
from .identification import DerivativeProgram, reading_of
from .indices import UNIT, Linear, number_of, plus, substitute_index, write_index
from .reading import Shapes, find_names, needed
from .recurrences import (
    Family,
    FamilyRecurrence,
    NotARecurrenceError,
    depending,
    find_index,
    replace_members,
    size_few_steps,
)


@dataclass
class Assembly:
    """The derivative of a program with recurrences, and the lines that its formula needs."""

    typed: DerivativeProgram
    scope: Scope
    taken: Derivative
    words: set[str]
    recurrence: FamilyRecurrence
    labels: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]], kw_only=True)
    lines: list[Equation] = field(default_factory=list[Equation], kw_only=True)
    length: int = field(default=0, kw_only=True)
    fixed: dict[str, Name] = field(default_factory=dict[str, Name], kw_only=True)  # Names for constant states.
    restated: dict[Key, Equation] = field(default_factory=dict[Key, Equation], kw_only=True)

    # ---------------------------------------------------------------------------------------------------------- shapes
    def checker(self, statements: Sequence[Any]) -> ReadingChecker:
        """Return the checker of a program whose undefined labels are inputs."""
        tree = nodes.Program(tuple(statements))
        heads = (statement.sides[0] for statement in statements if isinstance(statement, Equation))
        inputs = words_of(tree) - {head.text for head in heads if isinstance(head, Name)}
        return self.typed.of(tree).checker({name: shape for name, shape in self.labels.items() if name in inputs})

    def probe_shape(self, node: Node, back: int = 0) -> dict[str, Any]:
        """Return the shape of a family's member at the second step, or `back` steps earlier."""
        recurrence, few = self.recurrence, size_few_steps(self.typed.tree)
        shapes = {
            name: {axis: few.get(axis, extent) for axis, extent in shape.items()}
            for name, shape in self.typed.shapes.items()
        }
        program = nodes.Program(self.typed.tree.statements[:-1])
        checker = replace(self.typed, tree=program, shapes=shapes, sizes={**self.typed.sizes, **few}).checker()
        start = recurrence.start if recurrence.families else plus(recurrence.sums[0].first, {UNIT: -1})
        offset = plus(start, {UNIT: recurrence.step * (2 - back)})
        step = number_of(offset, few)
        name = None if step is None else read_spelling(substitute_index(node, recurrence.variable, {UNIT: step}))
        index = None if name is None else checker.find(name.key(), checker.top, node)
        if index is None:
            raise NotARecurrenceError
        return dict(index.shape)

    def learn_shapes(self) -> None:
        """Infer the shapes of the states. If an initial state lacks an axis, restate it with all axes."""
        recurrence, variable = self.recurrence, self.recurrence.variable
        for family in recurrence.families:
            shape = self.probe_shape(family.head)
            if shape.keys() != self.probe_shape(family.head, 1).keys():
                raise NotARecurrenceError
            for index in ({variable: 1}, {variable: 1, UNIT: -recurrence.step}, recurrence.end):
                self.labels[self.label(family, index).text] = shape
            if family in recurrence.states:
                self.restate_start(family, shape)

    def restate_start(self, family: Family, shape: dict[str, Any]) -> None:
        """Restate a state's initial value with all axes of the family if the value lacks an axis."""
        begins = self.probe_shape(family.head, 2)
        missing = [axis for axis in shape if axis not in begins]
        name = read_spelling(family.member(self.recurrence.start))
        if not missing:
            return
        if name is None or not self.scope.definitions.get(name.key()):
            raise NotARecurrenceError
        statement = self.scope.definitions[name.key()][0].statement
        sides = statement.sides[0], with_axes(statement.sides[1], missing)
        self.restated[name.key()] = replace(statement, sides=sides)

    def restate(self, statement: Any) -> Any:
        """Return the restated form of a statement that defines an initial state without all axes.

        Return any other statement unchanged.
        """
        name = read_spelling(statement.sides[0]) if isinstance(statement, Equation) else None
        return statement if name is None else self.restated.get(name.key(), statement)

    # ----------------------------------------------------------------------------------------------------------- facts
    @cached_property
    def facts(self) -> list[Any]:
        """Return the program's assertions about its declared and given tensors, such as ∑_{v} T = 1.

        An assertion with a range, such as ∑_{v} T^t = 1 for each t, is included only if each sum and family that uses
        its tensors has the same range.
        """
        spans = {claim.span for claim in self.scope.claims}
        return [
            statement
            for statement in self.typed.tree.statements
            if getattr(statement, "span", None) in spans
            and words_of(statement) & self.tensors
            and self.covers(statement)
        ]

    def covers(self, fact: Any) -> bool:
        """Return whether an assumption has the same range as each sum and family that uses its tensors."""
        if getattr(fact, "range", None) is None:
            return True
        if len(fact.range.each) > 1:
            return False
        tensors = words_of(fact) & self.tensors
        sums = [node for node in walk(self.typed.tree) if isinstance(node, nodes.IndexSum)]
        used = [(node.first, node.last) for node in sums if words_of(node.body) & tensors]
        used += [
            (family.range.low, family.range.high)
            for family in self.scope.families
            if family.range is not None and words_of(family.body) & tensors
        ]
        return all(ends == (fact.range.low, fact.range.high) for ends in used)

    def restrict_to_step(self, fact: Any) -> Any:
        """Restrict an assumption about all steps, such as ∑_{v} T^t = 1 for each t, to one step."""
        if getattr(fact, "range", None) is None:
            return fact
        of_step = replace(fact, range=None)
        return map_nodes(of_step, lambda part: Name(text) if (text := to_text(part)) in self.labels else None)

    @cached_property
    def tensors(self) -> set[str]:
        """Return the names of the declared and given tensors, without scripts."""
        return {name.base for _, name, _, _ in self.scope.declarations} | {key(name).base for name in self.typed.shapes}

    # ------------------------------------------------------------------------------------------------------ programs
    def others(self) -> list[Any]:
        """Return the statements before the value, except definitions and declarations of families."""
        ranged = (Equation, nodes.Declaration)
        return [
            statement
            for statement in self.typed.tree.statements[:-1]
            if not isinstance(statement, ranged) or statement.range is None
        ]

    def label(self, family: Family, index: Linear) -> Name:
        """Return a family's member at an index as a single name, such as h^{t-1}."""
        return Name(to_text(family.member(index)))

    def label_in_step(self, family: Family, index: Linear) -> Node:
        """Return the node for a family member in the program of one step.

        A state of the current step becomes a constant, because its adjoint accounts for it.
        """
        label = self.label(family, index)
        if family not in self.recurrence.states or index != {self.recurrence.variable: 1}:
            return label
        if label.text not in self.fixed:
            letter = next(names_left(self.words))
            self.words.add(letter)
            self.fixed[label.text] = Name(letter)
            self.labels[letter] = self.labels[label.text]
        return self.fixed[label.text]

    def label_after(self, family: Family, index: Linear) -> Node | None:
        """Return a member as it occurs outside the steps, or None for an initial state.

        Only the last member occurs there. Raise NotARecurrenceError for any other member.
        """
        recurrence = self.recurrence
        if index == recurrence.start:
            return None
        if index != recurrence.end:
            raise NotARecurrenceError
        if family in recurrence.states:
            return self.label(family, index)
        return replace_members(substitute_index(family.body, recurrence.variable, index), recurrence, self.label_after)

    def build_step(self) -> list[Any]:
        """Return the statements of one step."""
        recurrence, variable = self.recurrence, self.recurrence.variable
        sums = {id(sum_.node) for sum_ in recurrence.sums}
        parts = [part.body for part in (*recurrence.families, *recurrence.sums)]
        before = [
            statement
            for statement in self.others()
            if not any(recurrence.references(statement)) and not any(id(node) in sums for node in walk(statement))
        ]
        statements = needed(tuple(before), set().union(*map(find_names, parts)))
        bodies = ((self.label(family, {variable: 1}), family.body) for family in recurrence.families)
        return [
            *map(self.name_labels, statements),
            *(Equation((head, self.write_in_step(body))) for head, body in bodies),
        ]

    def write_in_step(self, body: Node) -> Node:
        """Return a formula in the program of one step.

        States are constants, because their adjoints account for them.
        """
        return self.name_labels(replace_members(body, self.recurrence, self.label_in_step))

    def build_outside(self) -> list[Any]:
        """Return the statements after the steps."""
        return [
            replace(statement, sides=(statement.sides[0], *map(self.write_outside, statement.sides[1:])))
            if isinstance(statement, Equation)
            else statement
            for statement in self.others()
        ]

    def write_outside(self, body: Node) -> Node:
        """Return a formula in the program after the steps."""
        texts = {id(sum_.node): to_text(sum_.node) for sum_ in self.recurrence.sums}
        without_sums = map_nodes(body, lambda part: Name(texts[id(part)]) if id(part) in texts else None)
        return self.name_labels(replace_members(without_sums, self.recurrence, self.label_after))

    def name_labels(self, node: Any) -> Any:
        """Replace each name with the step index as a label, such as x^t, with a single name."""
        families = {family.name.base for family in self.scope.families}
        families -= {family.base for family in self.recurrence.families}
        known = families | {name.base for _, name, _, over in self.scope.declarations if over is not None}
        known |= {key(name).base for name in self.typed.shapes if "^" in name}

        def change(part: Any) -> Node | None:
            name = read_spelling(part) if isinstance(part, (nodes.Superscript, nodes.Subscript)) else None
            if name is None or name.base not in known:
                return None
            labeled = any(self.recurrence.variable in words_of(of) for of in (*name.subscript, *name.superscript))
            if not labeled and name.base not in families:
                return None
            text = to_text(part)
            if text not in self.labels:
                self.labels[text] = self.probe_shape(part)
            return Name(text)

        return map_nodes(node, change)

    def find_labels(self, variable: Node) -> list[tuple[str, Linear]]:
        """Return the labels, such as W^t, that denote a name such as W^2 at some index, each with this index.

        Raise NotARecurrenceError if the index of a label cannot be determined.
        """
        expected, labeled = read_spelling(variable), []
        bases = {family.base for family in self.recurrence.families}
        if expected is None or not (expected.subscript or expected.superscript) or expected.base in bases:
            return []
        for label in [*self.labels]:
            name = read_spelling(expression(label)) if label.endswith("}") or "^" in label or "_" in label else None
            index = None if name is None else find_index(name, self.recurrence.variable, expected)
            if index is not None:
                labeled.append((label, index))
        return labeled

    # --------------------------------------------------------------------------------------------------- closed forms
    def find_closed(
        self, statements: list[Any], body: Node, by: Node, called: Callable[[str], str] = str
    ) -> NameReading | None:
        """Return the closed form of ∂body/∂by after the given statements, or None if the derivative is zero."""
        if not any(node == by for statement in (*statements, body) for node in walk(statement)):
            return None
        reached = depending(nodes.Program(tuple(statements)), words_of(by))
        if not find_names(body) & reached:
            return None
        derivative = Value(Derivative(body, by, self.taken.mark))
        names = words_of(nodes.Program((*statements, derivative)))
        facts = [
            fact
            for fact in map(self.restrict_to_step, self.facts)
            if words_of(fact) & {*self.tensors, *self.labels} <= names
        ]
        tree = nodes.Program((*facts, *statements, derivative))
        checker = self.checker(tree.statements)
        reading = reading_of(checker, checker.whole(), tree, self.words, called, () if facts else None)
        self.words |= {name.name for name in reading.names}
        return None if is_zero(reading.node) else reading

    def write_closed(
        self, statements: list[Any], body: Node, by: Node, called: Callable[[str], str] = str
    ) -> Node | None:
        """Return the formula for ∂body/∂by, or None if it is zero. Add a line for each name in the formula."""
        reading = self.find_closed(statements, body, by, called)
        return None if reading is None else self.write_lines(reading)

    def write_lines(self, reading: NameReading) -> Node:
        """Add a line for each name of a formula, and return the formula.

        A name that is defined inside a step becomes a family over the steps.
        """
        node = self.add_names(reading)
        states = {letter.text: expression(state) for state, letter in self.fixed.items()}
        if not states.keys() & words_of(node):
            return node
        node = replace_names(node, states)
        parts = {expression(text): Name(text) for text in self.labels}
        whole = map_nodes(node, lambda part: None if isinstance(part, Name) else parts.get(part))
        declared = tuple(statement for statement in self.others() if isinstance(statement, nodes.Declaration))
        tree = nodes.Program((*needed(declared, words_of(whole)), Value(whole)))
        checker = self.checker(tree.statements)
        return self.add_names(reading_of(checker, checker.whole(), tree, self.words))

    def add_names(self, reading: NameReading) -> Node:
        """Add a line for each name of a closed form, and return its formula."""
        recurrence = self.recurrence
        over = nodes.Range(Name(recurrence.variable), write_index(recurrence.first), write_index(recurrence.last))
        renamed: dict[str, Node] = {}
        for name in reading.names:
            definition = replace_names(name.node, renamed)
            stepwise = recurrence.variable in words_of(definition)
            head = expression(f"{name.name}^{recurrence.variable}") if stepwise else Name(name.name)
            same = next((line.sides[0] for line in self.lines if line.sides[1] == definition), None)
            if same is None:
                self.line(head, definition, over if stepwise else None)
            renamed[name.name] = same or head
        return replace_names(reading.node, renamed)

    def line(self, head: Node, body: Node, over: nodes.Range | None = None) -> None:
        """Add an equation to the lines of the derivative."""
        self.lines.append(Equation((head, body), range=over))
        self.length += 2 + length(body)


def axes_of(tree: nodes.Program, shapes: Shapes) -> set[str]:
    """Return the names of all axes in a program and in the shapes of its inputs."""
    names = {axis for shape in shapes.values() for axis in shape}
    return names | {node.name for node in walk(tree) if isinstance(node, nodes.Axis)}


def is_zero(node: Node) -> bool:
    """Return whether a formula is 0 or a tensor of zeros."""
    return node == Number(0) or (
        isinstance(node, nodes.Call) and node.operator in ("⊙", "juxtaposed") and is_zero(node.arguments[0])
    )


def replace_names(node: Any, names: Mapping[str, Node]) -> Any:
    """Replace the given names in a tree with nodes."""
    return map_nodes(node, lambda part: names.get(part.text) if isinstance(part, Name) else None) if names else node
