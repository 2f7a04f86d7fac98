"""The derivative of a recurrence as a recurrence: the adjoints of its states, backward, and a sum over the steps.

    h^t = f(h^{t-1}, W) for t = 1, …, n;   L = ℓ(h^n) + ∑_{t=1}^{n} c(h^t)
    g^n = ∂L/∂h^n                                            by the last state
    g^t = g^{t+1} ⊙ ∂h^{t+1}/∂h^t + ∂c(h^t)/∂h^t             by each state: through the next one, and in its own step
    D = ∑_{t=1}^{n} g^t ⊙ ∂h^t/∂W                            what each step adds

One step is a separate program with inputs h^{t-1} and g^t, and so is the part after the last step; this module combines
their closed forms. A state that other states of its step use is held fixed in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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
from .indices import UNIT, Linear, at, plus, written
from .reading import needed, words_in
from .recurrences import Family, FamilyRecurrence, NotARecurrence, recurrence_of
from .steps import DerivationStep, DerivationSteps

MAX_INLINE_SYMBOLS = 5  # symbols of a weight that is written where it counts
ADJOINTS = "gabqvpru"


@dataclass
class Adjoint:
    """An adjoint: the derivative with respect to a state or by a sum, with its name, and the axes of the variable in both syntaxes."""

    letter: str
    axes: tuple[str, ...]
    marked: tuple[str, ...]

    def times(self, weight: Node, of: Node) -> Node:
        """Their product over the axes."""
        moved = tuple(((Axis(old),), (Axis(new),)) for old, new in zip(self.axes, self.marked) if old != new)
        return call("⊙", weight, Rename(of, moved) if moved else of, axes=self.marked)


def recurrent(
    source: str, tree: nodes.Program, shapes: dict[str, dict[str, Any]], sizes: dict[str, int]
) -> tuple[nodes.Program, int, DerivationSteps] | None:
    """Return the program whose last line is the derivative that `tree` computes, its length, and its steps.

    The program keeps the recurrences. The result is None if no recurrence has an adjoint.
    """
    *before, last = tree.statements or (None,)
    taken = last.body if isinstance(last, nodes.Value) else None
    inside = [node for part in (*before, getattr(taken, "body", None)) for node in walk(part)]
    if not isinstance(taken, Derivative) or any(isinstance(node, (Derivative, nodes.Differential)) for node in inside):
        return None
    scope = bind(source, tree)
    try:
        recurrence = recurrence_of(scope, tree, taken)
        words = words_in(tree) | axes_of(tree, shapes) | {recurrence.variable}
        assembly = Assembly(source, tree, scope, taken, shapes, sizes, words, recurrence)
        assembly.learn_shapes()
        return assemble(assembly)
    except NotARecurrence:
        return None


def assemble(assembly: Assembly) -> tuple[nodes.Program, int, DerivationSteps]:
    """Put the parts of the derivative together."""
    recurrence, variable = assembly.recurrence, assembly.recurrence.variable
    outside, taken = assembly.build_outside(), assembly.taken
    state, offset = recurrence.found(taken.variable) or (None, recurrence.start)
    if state is not None and offset != recurrence.start and state not in recurrence.states:
        raise NotARecurrence
    whole = assembly.write_outside(taken.body)
    assembly.labels[variable] = {}
    inputs = dict(assembly.labels)
    for sum_ in recurrence.sums:
        inputs[to_text(sum_.node)] = assembly.labels[to_text(sum_.node)] = summed_shape(assembly, sum_)
    value = assembly.checker([*outside, Value(whole)], inputs).whole().shape
    adjoints = {id(member): adjoint_of(assembly, assembly.labels[_end(assembly, member)], value, ADJOINTS)
                for member in recurrence.states}  # fmt: skip
    parts: list[Node] = []
    inside = state is not None and offset != recurrence.start
    direct = None if inside else assembly.find_closed(outside, whole, taken.variable)
    if direct is not None:
        parts.append(assembly.write_lines(direct))
    total = weighted(assembly, outside, whole, value)
    ends: list[Node | None] = []
    for family in recurrence.states:
        adjoint = adjoints[id(family)]
        called = plain if adjoint.marked == adjoint.axes else str
        end = assembly.find_closed(outside, whole, Name(_end(assembly, family)), called)
        ends.append(None if end is None else assembly.write_lines(end))
        assembly.labels[f"{adjoint.letter}^{variable}"] = {
            **value, **dict(zip(adjoint.marked, assembly.labels[_end(assembly, family)].values()))
        }  # fmt: skip
        total.append(adjoint.times(Name(f"{adjoint.letter}^{variable}"), assembly.label(family, {variable: 1})))
    step = assembly.build_step()
    begun = [] if inside else starts(assembly, outside, adjoints)
    if total:
        body = sum_of(total)
        recurrences(assembly, step, body, adjoints, ends, [family for family, _ in begun])
        reading = None if inside else assembly.find_closed(step, body, taken.variable)
        if reading is not None:
            node = assembly.write_lines(reading)
            over = recurrence if recurrence.families else recurrence.sums[0]
            parts.append(IndexSum("∑", Name(variable), written(over.first), written(over.last), node))
        for label, index in assembly.find_labels(taken.variable):
            reading = assembly.find_closed(step, body, Name(label))
            parts += [] if reading is None else [at(assembly.write_lines(reading), variable, index)]
    parts += [assembly.write_lines(other) for _, other in begun]
    if inside and state is not None:
        adjoint = adjoints[id(state)]
        parts = [
            rename(
                _member(adjoint, offset), {now: axis + taken.mark for axis, now in zip(adjoint.axes, adjoint.marked)}
            )
        ]
    return finished(assembly, sum_of(parts) if parts else Number(0), steps_back(assembly, adjoints))


def sum_of(parts: Iterable[Node]) -> Node:
    return reduce(partial(call, "+"), parts)


def _end(assembly: Assembly, family: Family) -> str:
    return assembly.label(family, assembly.recurrence.end).text


def plain(axis: str) -> str:
    return axis.rstrip(MARKS)


def summed_shape(assembly: Assembly, factor: Any) -> dict[str, Any]:
    """The shape of a sum: that of one of its terms."""
    step = assembly.build_step()
    body = assembly.write_in_step(factor.body)
    texts = {line.sides[0].text for line in step if isinstance(line, Equation) and isinstance(line.sides[0], Name)}
    inputs = {name: shape for name, shape in assembly.labels.items() if name not in texts}
    return dict(assembly.checker([*step, Value(body)], inputs).whole().shape)


def adjoint_of(assembly: Assembly, shape: Mapping[str, Any], value: Mapping[str, Any], letters: str) -> Adjoint:
    """A name for the derivative of a value by a tensor of a shape; axes are marked where the value has them as well."""
    letter = next((name for name in letters if name not in assembly.words), None) or next(names_left(assembly.words))
    assembly.words.add(letter)
    axes = tuple(shape)
    marked = tuple(axis + assembly.taken.mark for axis in axes) if set(axes) & set(value) else axes
    return Adjoint(letter, axes, marked)


def weighted(assembly: Assembly, outside: list[Any], whole: Node, value: Mapping[str, Any]) -> list[Node]:
    """The terms of the sums in one step, each times the derivative of the value by its sum."""
    result: list[Node] = []
    recurrence = assembly.recurrence
    if len({(str(sum_.first), str(sum_.last)) for sum_ in recurrence.sums}) > 1:
        raise NotARecurrence
    sums = {to_text(sum_.node): sum_ for sum_ in recurrence.sums}  # equal sums have one name
    for text, sum_ in sums.items():
        adjoint = adjoint_of(assembly, assembly.labels[text], value, LETTERS)
        called = plain if adjoint.marked == adjoint.axes else str
        weight = assembly.find_closed(outside, whole, Name(text), called)
        term = assembly.write_in_step(sum_.body)
        if weight is None:
            continue
        if weight.node == Number(1):
            result.append(term)
        elif not weight.names and length(weight.node) <= MAX_INLINE_SYMBOLS:
            result.append(adjoint.times(weight.node, term))
        else:
            assembly.line(Name(adjoint.letter), assembly.write_lines(weight))
            extents = assembly.labels[text].values()
            assembly.labels[adjoint.letter] = {**value, **dict(zip(adjoint.marked, extents))}
            result.append(adjoint.times(Name(adjoint.letter), term))
    return result


def recurrences(
    assembly: Assembly, step: list[Any], body: Node, adjoints: dict[int, Adjoint], ends: list[Node | None],
    begun: list[Family],
) -> None:  # fmt: skip
    """The lines of the adjoints: at the end, from one step to the one before, and of what the `begun` begin with."""
    recurrence, variable = assembly.recurrence, assembly.recurrence.variable
    direct, through = [], []
    for family in recurrence.states:
        called = plain if adjoints[id(family)].marked == adjoints[id(family)].axes else str
        fixed = assembly.fixed.get(assembly.label(family, {variable: 1}).text)
        before = assembly.label(family, {variable: 1, UNIT: -recurrence.step})
        for by, result in ((fixed, direct), (before, through)):
            reading = None if by is None else assembly.find_closed(step, body, by, called)
            result.append(None if reading is None else assembly.write_lines(reading))
    for family, end, here in zip(recurrence.states, ends, direct):
        last = None if here is None else at(here, variable, recurrence.end)
        assembly.line(
            _member(adjoints[id(family)], recurrence.end), add_parts(assembly, adjoints[id(family)], end, last)
        )
    for family, here, next_one in zip(recurrence.states, direct, through):
        adjoint = adjoints[id(family)]
        after = None if next_one is None else at(next_one, variable, {variable: 1, UNIT: recurrence.step})
        whole = add_parts(assembly, adjoint, here, after)
        assembly.line(_member(adjoint, {variable: 1}), whole, back(recurrence, here is None))
        if here is not None and family in begun:
            first = (
                None if next_one is None else at(next_one, variable, plus(recurrence.start, {UNIT: recurrence.step}))
            )
            assembly.line(_member(adjoint, recurrence.start), add_parts(assembly, adjoint, first))


def add_parts(assembly: Assembly, adjoint: Adjoint, *parts: Node | None) -> Node:
    """Return the sum of the parts that are not None."""
    result = [part for part in parts if part is not None]
    if not result:
        return with_axes(Number(0), tuple(assembly.labels[f"{adjoint.letter}^{assembly.recurrence.variable}"]))
    return sum_of(result)


def back(recurrence: FamilyRecurrence, whole: bool) -> nodes.Range:
    """Return the steps from the last but one to the first, and to the start if that is not a special case."""
    start = recurrence.start if whole else plus(recurrence.start, {UNIT: recurrence.step})
    first, last = written(plus(recurrence.end, {UNIT: -recurrence.step})), written(start)
    plain_end = isinstance(last, Number) and (last.value <= 1 or isinstance(first, Number))
    return nodes.Range(Name(recurrence.variable), first, last, down=recurrence.step > 0 and not plain_end)


def _member(adjoint: Adjoint, index: Linear) -> Node:
    return nodes.Superscript(Name(adjoint.letter), (written(index),))


def starts(assembly: Assembly, outside: list[Any], adjoints: dict[int, Adjoint]) -> list[tuple[Family, NameReading]]:
    """The contribution of the initial states to the derivative."""
    recurrence, result = assembly.recurrence, []
    for family in recurrence.states:
        adjoint = adjoints[id(family)]
        label = to_text(_member(adjoint, recurrence.start))
        assembly.labels[label] = assembly.labels[f"{adjoint.letter}^{recurrence.variable}"]
        begins = family.member(written(recurrence.start))
        program = [assembly.restate(statement) for statement in outside]
        reading = assembly.find_closed(program, adjoint.times(Name(label), begins), assembly.taken.variable)
        if reading is not None:
            result.append((family, reading))
    return result


def steps_back(assembly: Assembly, adjoints: dict[int, Adjoint]) -> list[DerivationStep]:
    """The lines of the adjoints as equations of what these are: the derivative with respect to the states."""
    taken, result = assembly.taken, []
    letters = {adjoint.letter: (family, adjoint) for family in assembly.recurrence.states
               for adjoint in [adjoints[id(family)]]}  # fmt: skip
    for line in assembly.lines:
        head = line.sides[0]
        if isinstance(head, nodes.Superscript) and isinstance(head.base, Name) and head.base.text in letters:
            family, adjoint = letters[head.base.text]
            by = family.member(head.components[0])
            rule = "end" if line.range is None and head == _member(adjoint, assembly.recurrence.end) else "chain"
            mark = taken.mark if adjoint.marked != adjoint.axes else ""
            result.append(
                DerivationStep(rule, replace(line, sides=(*line.sides, Derivative(taken.body, by, mark))), BACK[rule])
            )
    return result


BACK = {"end": "the value by its last state", "chain": "∂L/∂h^{t-1} = ∂L/∂h^t ⊙ ∂h^t/∂h^{t-1}"}


def finished(
    assembly: Assembly, result: Node, steps: list[DerivationStep]
) -> tuple[nodes.Program, int, DerivationSteps]:
    """The program: what it needs of the one that was given, the lines, and the derivative; and the way to it."""
    definitions = [assembly.restate(statement) for statement in assembly.tree.statements[:-1]]
    expected = words_of(result)
    for line in assembly.lines:
        expected |= words_of(line)
        if line.range is not None:
            expected |= words_of(line.range)
    title = Name("D" if "D" not in expected else next(names_left(assembly.words)))
    statements = (*needed(tuple(definitions), expected), *assembly.lines, Equation((title, result)))
    steps.append(
        DerivationStep("identification", Equation((title, result, assembly.taken)), "D = ∑_{t} ∂L/∂h^t ⊙ ∂h^t/∂W")
    )
    way = DerivationSteps((), tuple(steps), tuple(definitions))
    return nodes.Program(statements), assembly.length + length(result), way
