"""The derivative of a recurrence as a recurrence: the adjoint of its states, from the end back, and a sum over the steps.

    h^t = f(h^{t-1}, W) for t = 1, …, n;   L = ℓ(h^n)
    g^n = ∂L/∂h^n                                            what L is by the last state
    g^t = g^{t+1} ⊙ ∂h^{t+1}/∂h^t for t = n − 1, …, 0        from each state to the one before
    D = ∑_{t=1}^{n} g^t ⊙ ∂h^t/∂W                            what each step adds

One step is a program of its own, in which h^{t-1} and g^t are tensors that are given, and so is what comes after
the last; their closed forms are put together here. A term that a sum has for each step counts in its step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from grammar import nodes
from grammar.nodes import Axis, Derivative, Equation, IndexSum, Name, Node, Number, Rename, Value
from grammar.printer import to_text

from ..scope.binder import bind
from ..scope.names import walk
from ..symbolic.lengths import length
from ..symbolic.naming import LETTERS, names_left, words_of
from ..symbolic.spelling import MARKS, call, with_axes
from .indices import UNIT, Linear, at, plus, written
from .needed import needed
from .recurrences import Family, NotARecurrence, Recurrence, recurrence_of, substituted
from .step_programs import Derivation, Shapes
from .steps import Step, Steps

SHORT = 5  # symbols of a weight that is written where it counts
ADJOINTS = "gabqvpru"


@dataclass
class Adjoint:
    """What a value is by a state or by a sum: its name, the axes of what it is by, and these as the name has them."""

    letter: str
    axes: tuple[str, ...]
    marked: tuple[str, ...]

    def times(self, weight: Node, of: Node) -> Node:
        """Their product over the axes."""
        moved = tuple(((Axis(old),), (Axis(new),)) for old, new in zip(self.axes, self.marked) if old != new)
        return call("⊙", weight, Rename(of, moved) if moved else of, axes=self.marked)


def recurrent(
    source: str, tree: nodes.Program, shapes: dict[str, dict[str, Any]], sizes: dict[str, int]
) -> tuple[nodes.Program, int, Steps] | None:
    """The program whose last line is the derivative that is the value of `tree`, its recurrences kept, how long it is, and steps.

    None where there is no recurrence, or it is of another kind.
    """
    last = tree.statements[-1] if tree.statements else None
    if not isinstance(last, Value) or not isinstance(last.body, Derivative) or not isinstance(last.body.mark, str):
        return None
    scope = bind(source, tree)
    try:
        recurrence = recurrence_of(scope, tree, last.body)
        words = {word for each in tree.statements for word in words_of(each)} | axes_of(tree, shapes) | {"D", "I", "e"}
        words |= {recurrence.variable}
        derivation = Derivation(source, tree, scope, last.body, shapes, sizes, recurrence, words)
        derivation.shaped()
        return assembled(derivation)
    except NotARecurrence:
        return None


def axes_of(tree: nodes.Program, shapes: Shapes) -> set[str]:
    found = {axis for shape in shapes.values() for axis in shape}
    return found | {each.name for each in walk(tree) if isinstance(each, Axis)}


def assembled(derivation: Derivation) -> tuple[nodes.Program, int, Steps]:
    """Every part of the derivative, put together."""
    recurrence, variable = derivation.recurrence, derivation.recurrence.variable
    outside, taken = derivation.outside(), derivation.taken
    whole = derivation.outer(taken.body)
    derivation.labels[variable] = {}
    inputs = dict(derivation.labels)
    for each in recurrence.sums:
        inputs[to_text(each.node)] = derivation.labels[to_text(each.node)] = summed_shape(derivation, each)
    value = derivation.checker([*outside, Value(whole)], inputs).whole().shape
    adjoints = {id(each): adjoint_of(derivation, derivation.labels[_end(derivation, each)], value, ADJOINTS)
                for each in recurrence.states}  # fmt: skip
    parts: list[Node] = []
    direct = derivation.closed(outside, whole, taken.variable)
    if direct is not None:
        parts.append(derivation.named(direct))
    total = weighted(derivation, outside, whole, value)
    ends = []
    for family in recurrence.states:
        adjoint = adjoints[id(family)]
        called = plain if adjoint.marked == adjoint.axes else str
        end = derivation.closed(outside, whole, Name(_end(derivation, family)), called)
        ends.append(Number(0) if end is None else derivation.named(end))
        if end is None:
            ends[-1] = with_axes(Number(0), [*value, *adjoint.marked])
        derivation.labels[f"{adjoint.letter}^{variable}"] = {
            **value, **dict(zip(adjoint.marked, derivation.labels[_end(derivation, family)].values()))
        }  # fmt: skip
        total.append(adjoint.times(Name(f"{adjoint.letter}^{variable}"), derivation.label(family, {variable: 1})))
    step = derivation.within_step()
    if total:
        body = total[0]
        for each in total[1:]:
            body = call("+", body, each)
        recurrences(derivation, step, body, adjoints, ends)
        found = derivation.closed(step, body, taken.variable)
        if found is not None:
            node = derivation.named(found)
            over = recurrence if recurrence.families else recurrence.sums[0]
            parts.append(IndexSum("∑", Name(variable), written(over.first), written(over.last), node))
    parts += starts(derivation, outside, adjoints)
    result = parts[0] if parts else Number(0)
    for each in parts[1:]:
        result = call("+", result, each)
    alone = len(recurrence.states) == 1 and not recurrence.sums
    steps = steps_back(derivation, adjoints[id(recurrence.states[0])]) if alone else []
    return finished(derivation, result, steps)


def _end(derivation: Derivation, family: Family) -> str:
    return derivation.label(family, derivation.recurrence.end).text


def plain(axis: str) -> str:
    return axis.rstrip(MARKS)


def summed_shape(derivation: Derivation, each: Any) -> dict[str, Any]:
    """The shape of a sum: that of one of its terms."""
    step = derivation.within_step()
    body = derivation.opaque(substituted(each.body, derivation.recurrence, derivation.in_step))
    own = {line.sides[0].text for line in step if isinstance(line, Equation) and isinstance(line.sides[0], Name)}
    inputs = {name: shape for name, shape in derivation.labels.items() if name not in own}
    return dict(derivation.checker([*step, Value(body)], inputs).whole().shape)


def adjoint_of(derivation: Derivation, shape: Mapping[str, Any], value: Mapping[str, Any], letters: str) -> Adjoint:
    """A name for what a value is by something of a shape; the axes are marked where the value has them as well."""
    letter = next((each for each in letters if each not in derivation.words), None) or next(
        names_left(derivation.words)
    )
    derivation.words.add(letter)
    axes = tuple(shape)
    marked = tuple(axis + derivation.taken.mark for axis in axes) if set(axes) & set(value) else axes
    return Adjoint(letter, axes, marked)


def weighted(derivation: Derivation, outside: list[Any], whole: Node, value: Mapping[str, Any]) -> list[Node]:
    """The terms of the sums in one step, each by what the value is by its sum."""
    found = []
    recurrence = derivation.recurrence
    if len({(str(each.first), str(each.last)) for each in recurrence.sums}) > 1:
        raise NotARecurrence
    for each in recurrence.sums:
        text = to_text(each.node)
        adjoint = adjoint_of(derivation, derivation.labels[text], value, LETTERS)
        called = plain if adjoint.marked == adjoint.axes else str
        weight = derivation.closed(outside, whole, Name(text), called)
        term = derivation.opaque(substituted(each.body, recurrence, derivation.in_step))
        if weight is None:
            continue
        if weight.node == Number(1):
            found.append(term)
        elif not weight.names and length(weight.node) <= SHORT:
            found.append(adjoint.times(weight.node, term))
        else:
            derivation.line(Name(adjoint.letter), derivation.named(weight))
            extents = derivation.labels[text].values()
            derivation.labels[adjoint.letter] = {**value, **dict(zip(adjoint.marked, extents))}
            found.append(adjoint.times(Name(adjoint.letter), term))
    return found


def recurrences(
    derivation: Derivation, step: list[Any], body: Node, adjoints: dict[int, Adjoint], ends: list[Node]
) -> None:
    """The lines of the adjoints: at the end, and from one step to the one before."""
    recurrence, variable = derivation.recurrence, derivation.recurrence.variable
    for family, end in zip(recurrence.states, ends):
        derivation.line(_member(adjoints[id(family)], recurrence.end), end)
    for family in recurrence.states:
        adjoint = adjoints[id(family)]
        called = plain if adjoint.marked == adjoint.axes else str
        before = derivation.label(family, {variable: 1, UNIT: -recurrence.step})
        found = derivation.closed(step, body, before, called)
        if found is None:
            node: Node = with_axes(Number(0), tuple(derivation.labels[f"{adjoint.letter}^{variable}"]))
        else:
            node = derivation.named(found)
        after = {variable: 1, UNIT: recurrence.step}
        derivation.line(_member(adjoint, {variable: 1}), at(node, variable, after), back(recurrence))


def back(recurrence: Recurrence) -> nodes.Range:
    """The steps from the one before the end to what they begin with."""
    first, last = written(plus(recurrence.end, {UNIT: -recurrence.step})), written(recurrence.start)
    plain_end = isinstance(last, Number) and (last.value <= 1 or isinstance(first, Number))
    return nodes.Range(Name(recurrence.variable), first, last, down=recurrence.step > 0 and not plain_end)


def _member(adjoint: Adjoint, index: Linear) -> Node:
    return nodes.Superscript(Name(adjoint.letter), (written(index),))


def starts(derivation: Derivation, outside: list[Any], adjoints: dict[int, Adjoint]) -> list[Node]:
    """What the derivative has by what the states begin with."""
    recurrence, found = derivation.recurrence, []
    for family in recurrence.states:
        adjoint = adjoints[id(family)]
        label = to_text(_member(adjoint, recurrence.start))
        derivation.labels[label] = derivation.labels[f"{adjoint.letter}^{recurrence.variable}"]
        begins = family.member(written(recurrence.start))
        program = [derivation.begun(each) for each in outside]
        reading = derivation.closed(program, adjoint.times(Name(label), begins), derivation.taken.variable)
        if reading is not None:
            found.append(derivation.named(reading))
    return found


def steps_back(derivation: Derivation, adjoint: Adjoint) -> list[Step]:
    """The lines of an adjoint as equations of what it is: the derivative by a state. Of a sum's terms it has not its own step's."""
    taken, (family,) = derivation.taken, derivation.recurrence.states
    mark = taken.mark if adjoint.marked != adjoint.axes else ""
    found = []
    for line in derivation.lines:
        head, *others = line.sides
        if isinstance(head, nodes.Superscript) and head.base == Name(adjoint.letter):
            by = nodes.Superscript(Name(family.base), head.components)
            rule = "chain" if line.range is not None else "end"
            found.append(Step(rule, replace(line, sides=(Derivative(taken.body, by, mark), *others)), BACK[rule]))
    return found


BACK = {"end": "the value by its last state", "chain": "∂L/∂h^{t-1} = ∂L/∂h^t ⊙ ∂h^t/∂h^{t-1}"}


def finished(derivation: Derivation, result: Node, steps: list[Step]) -> tuple[nodes.Program, int, Steps]:
    """The program: what it needs of the one that was given, the lines, and the derivative; and the way to it."""
    kept = [derivation.begun(each) for each in derivation.tree.statements[:-1]]
    wanted = words_of(result)
    for each in derivation.lines:
        wanted |= words_of(each)
        if each.range is not None:
            wanted |= words_of(each.range)
    title = Name("D" if "D" not in wanted else next(names_left(derivation.words)))
    statements = (*needed(tuple(kept), wanted), *derivation.lines, Equation((title, result)))
    steps.append(Step("identification", Equation((title, result, derivation.taken)), "D = ∑_{t} ∂L/∂h^t ⊙ ∂h^t/∂W"))
    way = Steps((), tuple(steps), tuple(kept))
    return nodes.Program(statements), derivation.length + length(result), way
