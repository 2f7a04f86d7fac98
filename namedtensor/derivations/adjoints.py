"""Derive the derivative of a recurrence as a backward recurrence of adjoints and a sum over the steps.

    h^t = f(h^{t-1}, W) for t = 1, …, n;   L = ℓ(h^n) + ∑_{t=1}^{n} c(h^t)
    g^n = ∂L/∂h^n                                            with respect to the last state
    g^t = g^{t+1} ⊙ ∂h^{t+1}/∂h^t + ∂c(h^t)/∂h^t             with respect to each state
    D = ∑_{t=1}^{n} g^t ⊙ ∂h^t/∂W                            the contribution of each step

One step is a separate program with the inputs h^{t-1} and g^t. The statements after the last step are another program.
This module combines the closed forms of both programs. Inside a step, the formulas treat the states of this step as
constants, because the adjoints account for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

from grammar import nodes
from grammar.nodes import Axis, Derivative, Equation, IndexSum, Name, Node, Number, Rename, Value
from grammar.printer import to_text

from ..scope.binder import bind
from ..scope.names import walk
from ..symbolic.naming import LETTERS, NameReading, names_left, words_of
from ..symbolic.spelling import MARKS, call, length, rename, with_axes
from .assembly import Assembly, axes_of
from .identification import DerivativeProgram
from .indices import UNIT, Linear, linear, plus, substitute_index, write_index
from .reading import needed, words_in
from .recurrences import Family, NotARecurrenceError, recurrence_of
from .steps import DerivationStep, DerivationSteps

MAX_INLINE_SYMBOLS = 5  # A longer weight gets a name.
ADJOINTS = "gabqvpru"
BACK = {"end": "the value by its last state", "chain": "∂L/∂h^{t-1} = ∂L/∂h^t ⊙ ∂h^t/∂h^{t-1}"}


@dataclass(frozen=True)
class Adjoint:
    """The derivative of the value with respect to a state or a sum.

    `letter` is its name. `axes` contains the axes of the state or sum, and `marked` contains their names in the
    derivative.
    """

    letter: str
    axes: tuple[str, ...]
    marked: tuple[str, ...]

    def at(self, index: Linear) -> Node:
        return nodes.Superscript(Name(self.letter), (write_index(index),))

    def call_axis(self, axis: str) -> str:
        """Return the name in the adjoint for an axis of the derivative. If `marked` has no stars, remove the stars."""
        return axis.rstrip(MARKS) if self.marked == self.axes else axis

    def times(self, weight: Node, of: Node) -> Node:
        """Return the product of the adjoint `weight` and the value `of`, summed over the axes `marked`."""
        moved = tuple(((Axis(old),), (Axis(new),)) for old, new in zip(self.axes, self.marked) if old != new)
        return call("⊙", weight, Rename(of, moved) if moved else of, axes=self.marked)


def recurrent(typed: DerivativeProgram) -> tuple[nodes.Program, int, DerivationSteps] | None:
    """Return a program whose last line defines the derivative, the length of its formulas, and its derivation.

    The program keeps the recurrences. Return None if the value of `typed` is not a derivative, if the program contains
    other derivatives or differentials, or if it has no recurrence of a supported form.
    """
    *before, last = typed.tree.statements or (None,)
    taken = last.body if isinstance(last, nodes.Value) else None
    inside = [node for part in (*before, getattr(taken, "body", None)) for node in walk(part)]
    if not isinstance(taken, Derivative) or any(isinstance(node, (Derivative, nodes.Differential)) for node in inside):
        return None
    scope = bind(typed.source, typed.tree)
    try:
        recurrence = recurrence_of(scope, typed.tree, taken)
        words = words_in(typed.tree) | axes_of(typed.tree, typed.shapes) | {recurrence.variable}
        return BackwardAssembly(typed, scope, taken, words, recurrence).assemble()
    except NotARecurrenceError:
        return None


def sum_of(parts: Iterable[Node]) -> Node:
    return reduce(partial(call, "+"), parts)


@dataclass
class BackwardAssembly(Assembly):
    """The assembly of a derivative by adjoints, one per state of the recurrence."""

    adjoints: list[tuple[Family, Adjoint]] = field(default_factory=list[tuple[Family, Adjoint]], kw_only=True)

    def assemble(self) -> tuple[nodes.Program, int, DerivationSteps]:
        """Return the program of the derivative, the length of its formulas, and its derivation."""
        self.learn_shapes()
        recurrence, variable, by = self.recurrence, self.recurrence.variable, self.taken.variable
        outside = self.build_outside()
        state, offset = recurrence.found(by) or (None, recurrence.start)
        inside = state is not None and offset != recurrence.start
        if inside and state not in recurrence.states:
            raise NotARecurrenceError
        whole = self.write_outside(self.taken.body)
        self.labels[variable] = {}
        for sum_ in recurrence.sums:
            statements = [*self.build_step(), Value(self.write_in_step(sum_.body))]
            self.labels[to_text(sum_.node)] = dict(self.checker(statements).whole().shape)
        value = self.checker([*outside, Value(whole)]).whole().shape
        for family in recurrence.states:
            self.adjoints.append((family, self.name_adjoint(self.labels[self.end(family)], value, ADJOINTS)))
        direct = None if inside else self.write_closed(outside, whole, by)
        parts = [] if direct is None else [direct]
        total = self.weigh_sums(outside, whole, value)
        ends: list[Node | None] = []
        for family, adjoint in self.adjoints:
            end, label = self.end(family), f"{adjoint.letter}^{variable}"
            ends.append(self.write_closed(outside, whole, Name(end), adjoint.call_axis))
            self.labels[label] = {**value, **dict(zip(adjoint.marked, self.labels[end].values()))}
            total.append(adjoint.times(Name(label), self.label(family, {variable: 1})))
        step = self.build_step()
        begun = [] if inside else self.find_starts(outside)
        if total:
            body = sum_of(total)
            self.write_adjoints(step, body, ends, [family for family, _ in begun])
            term = None if inside else self.write_closed(step, body, by)
            if term is not None:
                over = recurrence if recurrence.families else recurrence.sums[0]
                parts.append(IndexSum("∑", Name(variable), write_index(over.first), write_index(over.last), term))
            for label, index in self.find_labels(by):
                part = self.shift(self.write_closed(step, body, Name(label)), index)
                parts += [] if part is None else [part]
        parts += [self.write_lines(other) for _, other in begun]
        if inside:
            adjoint = next(adjoint for family, adjoint in self.adjoints if family is state)
            marks = {now: axis + self.taken.mark for axis, now in zip(adjoint.axes, adjoint.marked)}
            parts = [rename(adjoint.at(offset), marks)]
        return self.finish(sum_of(parts) if parts else Number(0))

    def end(self, family: Family) -> str:
        return self.label(family, self.recurrence.end).text

    def shift(self, node: Node | None, index: Linear) -> Any:
        """Substitute another index for the step index in a formula. If there is no formula, return None."""
        return None if node is None else substitute_index(node, self.recurrence.variable, index)

    def name_adjoint(self, shape: Mapping[str, Any], value: Mapping[str, Any], letters: str) -> Adjoint:
        """Name the adjoint for a tensor of this shape.

        If the value shares an axis name with the shape, all axes of the adjoint have stars.
        """
        letter = next((name for name in letters if name not in self.words), None) or next(names_left(self.words))
        self.words.add(letter)
        axes = tuple(shape)
        marked = tuple(axis + self.taken.mark for axis in axes) if set(axes) & set(value) else axes
        return Adjoint(letter, axes, marked)

    def weigh_sums(self, outside: list[Any], whole: Node, value: Mapping[str, Any]) -> list[Node]:
        """Return one step's summand of each sum, multiplied by the derivative of the value with respect to this sum."""
        result: list[Node] = []
        sums = self.recurrence.sums
        if len({(str(sum_.first), str(sum_.last)) for sum_ in sums}) > 1:
            raise NotARecurrenceError
        for text, body in {to_text(sum_.node): sum_.body for sum_ in sums}.items():  # Equal sums have one name.
            adjoint = self.name_adjoint(self.labels[text], value, LETTERS)
            weight = self.find_closed(outside, whole, Name(text), adjoint.call_axis)
            term = self.write_in_step(body)
            if weight is None:
                continue
            if weight.node == Number(1):
                result.append(term)
            elif not weight.names and length(weight.node) <= MAX_INLINE_SYMBOLS:
                result.append(adjoint.times(weight.node, term))
            else:
                self.line(Name(adjoint.letter), self.write_lines(weight))
                self.labels[adjoint.letter] = {**value, **dict(zip(adjoint.marked, self.labels[text].values()))}
                result.append(adjoint.times(Name(adjoint.letter), term))
        return result

    def write_adjoints(self, step: list[Any], body: Node, ends: list[Node | None], begun: list[Family]) -> None:
        """Add the lines of the adjoints.

        Each adjoint has one line for the last step and one for each earlier step. A state in `begun` also has a line
        for the start.
        """
        recurrence, variable = self.recurrence, self.recurrence.variable
        direct, through = [], []
        for family, adjoint in self.adjoints:
            fixed = self.fixed.get(self.label(family, {variable: 1}).text)
            before = self.label(family, {variable: 1, UNIT: -recurrence.step})
            direct.append(None if fixed is None else self.write_closed(step, body, fixed, adjoint.call_axis))
            through.append(self.write_closed(step, body, before, adjoint.call_axis))
        for (_, adjoint), end, here in zip(self.adjoints, ends, direct):
            self.write_adjoint(adjoint, recurrence.end, end, self.shift(here, recurrence.end))
        second = plus(recurrence.start, {UNIT: recurrence.step})
        for (family, adjoint), here, later in zip(self.adjoints, direct, through):
            after = self.shift(later, {variable: 1, UNIT: recurrence.step})
            self.write_adjoint(adjoint, {variable: 1}, here, after, self.find_range(here is None))
            if here is not None and family in begun:
                self.write_adjoint(adjoint, recurrence.start, None, self.shift(later, second))

    def write_adjoint(
        self, adjoint: Adjoint, index: Linear, here: Node | None, after: Node | None, over: nodes.Range | None = None
    ) -> None:
        """Add a line that defines an adjoint at an index as the sum of `here` and `after`.

        If both are None, the line defines the adjoint as zeros.
        """
        parts = [part for part in (here, after) if part is not None]
        zero = with_axes(Number(0), tuple(self.labels[f"{adjoint.letter}^{self.recurrence.variable}"]))
        self.line(adjoint.at(index), sum_of(parts) if parts else zero, over)

    def find_range(self, whole: bool) -> nodes.Range:
        """Return the range from the next-to-last step down to the first step.

        If `whole` is true, the range ends at the start.
        """
        recurrence = self.recurrence
        start = recurrence.start if whole else plus(recurrence.start, {UNIT: recurrence.step})
        first, last = write_index(plus(recurrence.end, {UNIT: -recurrence.step})), write_index(start)
        plain_end = isinstance(last, Number) and (last.value <= 1 or isinstance(first, Number))
        return nodes.Range(Name(recurrence.variable), first, last, down=recurrence.step > 0 and not plain_end)

    def find_starts(self, outside: list[Any]) -> list[tuple[Family, NameReading]]:
        """Return each state with an initial value that depends on the variable.

        Each state is paired with the contribution of its initial value to the derivative.
        """
        recurrence, result = self.recurrence, []
        program = [self.restate(statement) for statement in outside]
        for family, adjoint in self.adjoints:
            label = to_text(adjoint.at(recurrence.start))
            self.labels[label] = self.labels[f"{adjoint.letter}^{recurrence.variable}"]
            begins = family.member(recurrence.start)
            reading = self.find_closed(program, adjoint.times(Name(label), begins), self.taken.variable)
            if reading is not None:
                result.append((family, reading))
        return result

    def explain_lines(self) -> list[DerivationStep]:
        """Return the lines of the adjoints as steps.

        Each step also states the derivative that the adjoint is equal to.
        """
        result: list[DerivationStep] = []
        letters = {adjoint.letter: (family, adjoint) for family, adjoint in self.adjoints}
        for line in self.lines:
            head = line.sides[0]
            if isinstance(head, nodes.Superscript) and isinstance(head.base, Name) and head.base.text in letters:
                family, adjoint = letters[head.base.text]
                rule = "end" if line.range is None and head == adjoint.at(self.recurrence.end) else "chain"
                mark = self.taken.mark if adjoint.marked != adjoint.axes else ""
                by = Derivative(self.taken.body, family.member(linear(head.components[0]) or {}), mark)
                result.append(DerivationStep(rule, replace(line, sides=(*line.sides, by)), BACK[rule]))
        return result

    def finish(self, result: Node) -> tuple[nodes.Program, int, DerivationSteps]:
        """Return the program of the derivative, its length, and its derivation, given the formula of the result."""
        definitions = tuple(self.restate(statement) for statement in self.typed.tree.statements[:-1])
        ranges = (line.range for line in self.lines if line.range is not None)
        expected = set[str]().union(*map(words_of, (result, *self.lines, *ranges)))
        title = Name("D" if "D" not in expected else next(names_left(self.words)))
        last = Equation((title, result))
        identified = DerivationStep(
            "identification", replace(last, sides=(title, result, self.taken)), "D = ∑_{t} ∂L/∂h^t ⊙ ∂h^t/∂W"
        )
        way = DerivationSteps((), (*self.explain_lines(), identified), definitions)
        program = nodes.Program((*needed(definitions, expected), *self.lines, last))
        return program, self.length + length(result), way
