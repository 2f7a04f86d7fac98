"""Recurrent layers as recurrences over their time axis.

h^0 = hx
h^t = tanh(x_{seq(t)} ⊙_{in} W + b + h^{t-1}_{hidden→hidden'} ⊙_{hidden'} U + c) for t = 1, …, |seq|
Y_{seq(t)} = h^t for t = 1, …, |seq|
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from grammar import nodes
from grammar.nodes import Node

from .axes import AxisVariable, Dim, Move, axes_of
from .torch_graph import GraphReader
from .torch_operations import apply, product, transpose_last
from .torch_replacements import GATES
from .torch_shapes import cat, stack
from .torch_tensors import TracedTensor, plain
from .torch_trace import rule
from .values import number, plus, size


class Clock(NamedTuple):
    """The time axis of a sequence, the index along this axis, and whether the index counts down."""

    axis: AxisVariable
    index: nodes.Name
    down: bool

    @property
    def range(self) -> nodes.Range:
        first, last = number(1), size(self.axis)
        return nodes.Range(self.index, last, first) if self.down else nodes.Range(self.index, first, last)

    @property
    def start(self) -> Node:
        return plus(size(self.axis), 1) if self.down else number(0)

    @property
    def before(self) -> Node:
        return plus(self.index, 1 if self.down else -1)

    @property
    def last(self) -> Node:
        return number(1) if self.down else size(self.axis)


class ValueFamily(NamedTuple):
    """A family of values over time: its name, and a tensor that has the axes of each value."""

    base: Node
    like: TracedTensor

    def member(self, r: GraphReader, index: Node) -> TracedTensor:
        """Return the family's value at an index, with separate axes for this use."""
        node = nodes.Superscript(self.base, (*(span.variable for span in r.ranges), index))
        return TracedTensor(node, self.like.dims, named=True).used(r.axes)


@rule("recurrent", moves=True)
def recurrent(
    r: GraphReader,
    kind: str,
    input: TracedTensor,
    state: Sequence[TracedTensor],
    weights: Sequence[TracedTensor],
    biased: bool,
    layers: int,
    both_ways: bool,
    batch_first: bool,
) -> tuple[TracedTensor | None, ...]:
    states, parameters = ([tensor.used(r.axes) for tensor in tensors] for tensors in (state, weights))
    directions, count = (2 if both_ways else 1), (4 if biased else 2)
    x = input if batch_first else input.permute_dimensions((1, 0, 2))
    ends: list[list[TracedTensor]] = [[] for _ in states]
    split_gates(r, parameters, GATES[kind])
    for layer in range(layers):
        x = r.shared(x if x.dims[1] else r.with_axis(x.used(r.axes), 1))
        outputs = []
        for way in range(directions):
            number_of_layer = layer * directions + way
            begin = [r.views.picked(state, 0, number_of_layer) for state in states]
            weights = parameters[number_of_layer * count :][:count]
            step = RecurrenceStep(r, x, begin, weights, way == 1)
            STEPS[kind](step)
            outputs.append(step.laid_out(step.families[0]))
            for end, family in zip(ends, step.families):
                end.append(family.member(r, step.clock.last))
        x = cat(r, outputs, 2) if directions == 2 else outputs[0]
    last = [stack(r, end, 0) if r.uses[ref] else None for end, ref in zip(ends, r.step_now.results[1:])]
    return x if batch_first else x.permute_dimensions((1, 0, 2)), *last


def split_gates(r: GraphReader, parameters: Sequence[TracedTensor], gates: int) -> None:
    """Unify the row axes of all parameters. An unnamed row axis is also split into a gate axis and a hidden axis."""
    rows = [r.axes.expand_axes(parameter.dims[0]) for parameter in parameters]
    for first, other in ((rows[0][0], axes[0]) for axes in rows[1:] if len(axes) == len(rows[0]) == 1):
        first.kind.unify(other.kind)
    if gates > 1 and len(rows[0]) == 1 and not rows[0][0].kind.name:
        r.views.cut(parameters[0], rows[0][0], (gates, parameters[0].shape[0] // gates), ("gate", "hidden"))


class RecurrenceStep:
    """The equations of one step of a recurrent layer in one direction.

    `weights` contains the input weights, the state weights, and the two biases if there are any.
    """

    def __init__(
        self,
        r: GraphReader,
        x: TracedTensor,
        begin: Sequence[TracedTensor],
        weights: Sequence[TracedTensor],
        down: bool,
    ):
        sequence, axis = r.views.joined(x.used(r.axes), 1)
        self.r, self.clock, self.weights = r, Clock(axis, r.index("t"), down), weights
        self.x = r.views.take_index(sequence, 1, self.clock.index, [])
        self.families = [self.begun(name, tensor) for name, tensor in zip(("h", "c"), begin)]

    def begun(self, name: str, start: TracedTensor) -> ValueFamily:
        """Define the initial state as `start`, and return the family of the state's values."""
        for dim, hint in enumerate(("batch", "hidden")):
            if start.shape[dim] != 1:
                start = self.r.with_axis(start, dim, hint)
        family = ValueFamily(self.r.names.fresh(nodes.Name(name)), start)
        indices = (*(span.variable for span in self.r.ranges), self.clock.start)
        self.r.equation(nodes.Superscript(family.base, indices), start.node, self.r.ranges)
        return family

    def before(self, state: int) -> TracedTensor:
        return self.families[state].member(self.r, self.clock.before)

    def of_input(self) -> TracedTensor:
        return self.multiply(self.x, 0)

    def multiply_state(self) -> TracedTensor:
        """Return W h + b for the previous state h. The result has the axis of h, so h is renamed in the product."""
        state = self.before(0)
        self.r.axes.apart([*axes_of(self.families[0].like.dims), *state.dims[1]])
        return self.multiply(state, 1)

    def multiply(self, tensor: TracedTensor, which: int) -> TracedTensor:
        """Return the product of a tensor with the weights of this number, plus the bias if there is one."""
        result = product(self.r, tensor, transpose_last(self.weights[which]))
        return apply(self.r, "+", result, self.weights[which + 2]) if self.weights[2:] else result

    def gates(self, tensor: TracedTensor, count: int) -> list[TracedTensor]:
        """Define the tensor under a name, and return its `count` equal parts, one for each gate."""
        whole, parts = self.shared("g", tensor), []
        for gate in range(count):
            member = whole()
            split = self.r.views.regroup_dimensions(member, [member.shape[0], count, member.shape[1] // count])
            parts.append(self.r.views.picked(split, 1, gate))
        return parts

    def shared(self, name: str, tensor: TracedTensor) -> Callable[[], TracedTensor]:
        """Define the tensor under a name at the current step, and return a function that returns it for each use."""
        family = ValueFamily(self.r.names.fresh(nodes.Name(name)), tensor)
        self.r.line(family.base, tensor.node, [self.clock.range])
        return lambda: family.member(self.r, self.clock.index)

    def define(self, state: int, tensor: TracedTensor) -> None:
        """Define the value of a state at the current step."""
        family = self.families[state]
        tensor = self.r.along(tensor, family.like, twins=True)
        self.r.line(family.base, tensor.node, [self.clock.range])

    def now(self, state: int) -> TracedTensor:
        return self.families[state].member(self.r, self.clock.index)

    def laid_out(self, family: ValueFamily) -> TracedTensor:
        """Return the values of a family at all times as one tensor with a time axis."""
        r, clock = self.r, self.clock
        time = r.axes.twin(clock.axis)
        r.axes.moves.append(Move(clock.axis, time))
        batch, hidden = family.like.dims
        dims: list[Dim] = [batch, (time,), hidden]
        r.axes.apart(axes_of(dims))
        base: Node = r.names.fresh(nodes.Name("Y"))
        outer = tuple(span.variable for span in r.ranges)
        base = nodes.Superscript(base, outer) if outer else base
        head = nodes.Index(base, ((nodes.Axis(time.key), clock.index),))
        node = nodes.Superscript(family.base, (*outer, clock.index))
        r.equation(head, node, [*r.ranges, nodes.Range(clock.index, number(1), size(clock.axis))])
        return TracedTensor(base, tuple(dims), named=True)


def plain_step(function: str) -> Callable[[RecurrenceStep], None]:
    def define(step: RecurrenceStep) -> None:
        step.define(0, apply(step.r, function, apply(step.r, "+", step.of_input(), step.multiply_state())))

    return define


def gru_step(step: RecurrenceStep) -> None:
    r = step.r
    one, two = step.gates(step.of_input(), 3), step.gates(step.multiply_state(), 3)
    reset = apply(r, "σ", apply(r, "+", one[0], two[0]))
    update = step.shared("z", apply(r, "σ", apply(r, "+", one[1], two[1])))
    candidate = apply(r, "tanh", apply(r, "+", one[2], apply(r, "⊙", reset, two[2])))
    left = apply(r, "⊙", apply(r, "-", plain(number(1)), update()), candidate)
    step.define(0, apply(r, "+", left, apply(r, "⊙", update(), step.before(0))))


def lstm_step(step: RecurrenceStep) -> None:
    r = step.r
    taken, forget, candidate, shown = step.gates(apply(r, "+", step.of_input(), step.multiply_state()), 4)
    remembered = apply(r, "⊙", apply(r, "σ", forget), step.before(1))
    new = apply(r, "⊙", apply(r, "σ", taken), apply(r, "tanh", candidate))
    step.define(1, apply(r, "+", remembered, new))
    step.define(0, apply(r, "⊙", apply(r, "σ", shown), apply(r, "tanh", step.now(1))))


STEPS: dict[str, Callable[[RecurrenceStep], None]] = {
    "rnn_tanh": plain_step("tanh"),
    "rnn_relu": plain_step("relu"),
    "gru": gru_step,
    "lstm": lstm_step,
}
