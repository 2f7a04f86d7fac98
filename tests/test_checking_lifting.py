"""Lifting, hygienic, proved: [f(X, Y)]_s = f(X_s, Y_s) for every record s of the extra axes.

Programs are drawn: signatures, bodies with all that makes names meet (facts, free parameters, calls of other functions,
functions over axes, definitions by elements, renames, sums), and arguments whose extra axes are called like bound axes of
other arguments and like axes that the bodies make. The left side is what the arrays give; the right side is computed
here record by record, each time by the reference evaluator on tensors without any extra axis.
"""

from __future__ import annotations

import itertools
import math
import random as numbers
import re
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import namedtensor as nt
from grammar.errors import NotationError
from namedtensor import reference
from namedtensor.reference.definitions import Tensor, assemble, at, records, unite

BOUND = "a b c".split()
MADE = "d a' b' n".split()
EXTRA = "a b c d a' b' a* n k i t ax ax' seq".split()
OVER_AXES = {
    "center": "center_{ax} : ℝ^{ax} → ℝ^{ax}\ncenter_{ax}(t) = t − (∑_{ax} t) / |ax|",
    "weigh": "weigh_{ax} : ℝ^{ax} → ℝ^{ax}\nweigh_{ax}(t) = t ⊙ r\nr = softmax_{ax}(2 t)",
    "total": "total_{ax} : ℝ^{ax} → ℝ\ntotal_{ax}(t) = ∑_{ax} t^2",
    "mix": "mix_{ax} : ℝ^{ax} → ℝ^{ax}\nmix_{ax}(t) = t + ∑_{ax'} t_{ax→ax'} ⊙ t",
}
GIVES_A_NUMBER = {"total"}
MOST = 48  # numbers in one tensor


class Typed(NamedTuple):
    """A piece of a formula, and the axes and sizes that it has where just the bound axes are there."""

    text: str
    shape: dict


@dataclass
class Head:
    """A function that is drawn: the axes of its parameters and of its result."""

    name: str
    needed: list[dict]
    gives: dict


@dataclass
class Drawn:
    """A program: its text, its functions, and the shapes that its declared inputs are said to have."""

    bound: dict
    inputs: dict = field(default_factory=dict)
    options: tuple = ()
    heads: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    after: list = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join([*self.lines, *self.after])

    def used(self) -> set[str]:
        """The words that the last function needs, directly or by other lines; an input that it does not need is idle."""
        needed: set[str] = {self.heads[-1].name}
        size = 0
        while len(needed) > size:
            size = len(needed)
            for line in self.lines:
                head, equals, body = line.partition(" = ")
                words = names_in(head)
                if equals and words[0] in needed:
                    needed |= {*names_in(body), *(words if ";" in head else ())}
        return needed


def names_in(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:_\{?\w+\}?)?", text)


def set_of(shape: dict) -> str:
    return f"ℝ^{{{' × '.join(shape)}}}" if shape else "ℝ"


# ------------------------------------------------------------------------------------------------------------- bodies
class Writer:
    """Writes expressions over what is in sight; every one is right by construction, so that each draw proves something."""

    def __init__(self, random, drawn: Drawn, parameters: dict, inputs: dict, label: str):
        self.random, self.drawn, self.label = random, drawn, label
        self.leaves = [Typed(name, shape) for name, shape in {**parameters, **inputs}.items()]
        self.raw = list(self.leaves)
        self.known = {axis: size for shape in parameters.values() for axis, size in shape.items()}
        self.facts: list[str] = []
        self.count = itertools.count(1)

    def pick(self, options):
        return self.random.choice(sorted(options))

    def leaf(self) -> Typed:
        return self.leaves[self.random.randrange(len(self.leaves))]

    def expression(self, depth: int) -> Typed:
        if depth == 0:
            return self.leaf()
        rule = self.RULES[self.random.randrange(len(self.RULES))]
        return rule(self, depth - 1)

    def some_axes(self, shape) -> list[str]:
        axes = sorted(shape)
        self.random.shuffle(axes)
        return axes[: self.random.randint(1, min(2, len(axes)))]

    def fits(self, *shapes) -> dict | None:
        """The union, where sizes agree and it is small enough."""
        try:
            union = unite(*shapes)
        except NotationError:
            return None
        return union if math.prod(union.values()) <= MOST and len(union) <= 4 else None

    # each rule gives an expression, or falls back on its operand
    def reduced(self, depth: int) -> Typed:
        inner = self.expression(depth)
        if not inner.shape:
            return inner
        axes = self.some_axes(inner.shape)
        name = self.pick(["mean", "max", "min", "norm", "var", "logsumexp"])
        return Typed(f"{name}_{{{', '.join(axes)}}}({inner.text})", without(inner.shape, axes))

    def transformed(self, depth: int) -> Typed:
        inner = self.expression(depth)
        if not inner.shape:
            return inner
        name = self.pick(["softmax", "standardize", "logsoftmax", "cumsum", "sort"])
        axes = self.some_axes(inner.shape)[: 1 if name in ("cumsum", "sort") else 2]
        return Typed(f"{name}_{{{', '.join(axes)}}}({inner.text})", inner.shape)

    def joined(self, depth: int) -> Typed:
        left, right = self.expression(depth), self.expression(depth)
        shape = self.fits(left.shape, right.shape)
        if shape is None:
            return left
        return Typed(f"({left.text} {self.pick('+−⊙')} {right.text})", shape)

    def contracted(self, depth: int) -> Typed:
        left, right = self.expression(depth), self.expression(depth)
        shape = self.fits(left.shape, right.shape)
        shared = set(left.shape) & set(right.shape)
        if shape is None or not shared:
            return left
        axes = self.some_axes(shared)
        return Typed(f"({left.text} ⊙_{{{', '.join(axes)}}} {right.text})", without(shape, axes))

    def renamed(self, depth: int) -> Typed:
        inner = self.expression(depth)
        free = {*BOUND, *MADE} - set(inner.shape)
        if not inner.shape:
            return inner
        old, new = self.pick(inner.shape), self.pick(free)
        return Typed(f"{inner.text}_{{{old}→{new}}}", renaming(inner.shape, {old: new}))

    def exchanged(self, depth: int) -> Typed:
        inner = self.expression(depth)
        if len(inner.shape) < 2:
            return inner
        one, two = self.random.sample(sorted(inner.shape), 2)
        return Typed(f"{inner.text}_{{{one}→{two}, {two}→{one}}}", renaming(inner.shape, {one: two, two: one}))

    def starred(self, depth: int) -> Typed:
        inner = self.leaf()
        shape = renaming(inner.shape, {axis: f"{axis}*" for axis in inner.shape})
        union = self.fits(shape, inner.shape)
        return inner if union is None else Typed(f"({inner.text}^* ⊙ {inner.text})", union)

    def merged(self, depth: int) -> Typed:
        inner = self.expression(depth)
        if len(inner.shape) < 2:
            return inner
        axes = self.random.sample(sorted(inner.shape), 2)
        new = self.pick({*axes, *MADE} - set(without(inner.shape, axes)))
        shape = {**without(inner.shape, axes), new: math.prod(inner.shape[axis] for axis in axes)}
        return Typed(f"{inner.text}_{{({', '.join(axes)})→{new}}}", shape)

    def indexed(self, depth: int) -> Typed:
        inner = self.expression(depth)
        if not inner.shape:
            return inner
        axis = self.pick(inner.shape)
        index = self.random.randint(1, inner.shape[axis])
        return Typed(f"{inner.text}_{{{axis}({index})}}", without(inner.shape, [axis]))

    def picked(self, depth: int) -> Typed:
        """Indexed by a tensor, along an axis that the operand may have besides."""
        inner = self.expression(depth)
        if not inner.shape:
            return inner
        axis, along = self.pick(inner.shape), self.pick([*BOUND, *MADE])
        indices = [str(self.random.randint(1, inner.shape[axis])) for _ in range(inner.shape.get(along, 2))]
        size = len(indices)
        shape = self.fits(without(inner.shape, [axis]), {along: size})
        text = f"[{', '.join(indices)}]_{{{along}}}"
        return inner if shape is None else Typed(f"(index_{{{axis}}}({inner.text}, {text}))", shape)

    def measured(self, depth: int) -> Typed:
        inner = self.expression(depth)
        return Typed(f"({inner.text} / |{self.pick(self.known)}|)", inner.shape) if self.known else inner

    def added(self, depth: int) -> Typed:
        inner = self.expression(depth)
        if not inner.shape:
            return inner
        axes = self.some_axes(inner.shape)
        return Typed(f"(∑_{{{', '.join(axes)}}} {inner.text})", without(inner.shape, axes))

    def summed(self, depth: int) -> Typed:
        inner = self.expression(depth)
        if not inner.shape:
            return inner
        axis, index = self.pick(inner.shape), f"m{next(self.count)}"
        return Typed(f"(∑_{index} {inner.text}_{{{axis}({index})}})", without(inner.shape, [axis]))

    def chosen(self, depth: int) -> Typed:
        test = self.raw[self.random.randrange(len(self.raw))]
        one, two = self.expression(depth), self.expression(depth)
        shape = self.fits(test.shape, one.shape, two.shape)
        return one if shape is None else Typed(f"{{ {one.text} if {test.text} > 0; {two.text} otherwise }}", shape)

    def windowed(self, depth: int) -> Typed:
        inner = self.expression(depth)
        axes = [axis for axis, size in inner.shape.items() if size >= 2]
        if not axes or "k" in inner.shape or "k" not in self.drawn.bound:
            return inner
        axis = self.pick(axes)
        shape = self.fits({**inner.shape, axis: inner.shape[axis] - 1, "k": 2})
        return inner if shape is None else Typed(f"unroll_{{{axis}, k}}({inner.text})", shape)

    def over_axes(self, depth: int) -> Typed:
        inner = self.expression(depth)
        if not inner.shape:
            return inner
        name = self.pick(OVER_AXES)
        axes = self.some_axes(inner.shape)[: 1 if name == "mix" else 2]
        shape = without(inner.shape, axes) if name in GIVES_A_NUMBER else inner.shape
        return Typed(f"{name}_{{{', '.join(axes)}}}({inner.text})", shape)

    def fact(self, depth: int) -> Typed:
        """A part named by an equation of its own."""
        inner = self.expression(depth)
        return self.name(inner.shape, f" = {inner.text}")

    def elements(self, depth: int) -> Typed:
        """A part defined by its elements."""
        inner = self.expression(depth)
        axes = [axis for axis, size in inner.shape.items() if self.known.get(axis) == size]
        if not axes:
            return inner
        axis = self.pick(axes)
        index = self.pick(["i", f"|{axis}| − i + 1"])
        return self.name(inner.shape, f"_{{{axis}(i)}} = {inner.text}_{{{axis}({index})}} ⊙ i")

    def name(self, shape: dict, rest: str) -> Typed:
        name = f"{self.pick('PRSU')}_{{{self.label}{len(self.facts)}}}"
        self.facts.append(name + rest)
        self.leaves.append(Typed(name, shape))
        return Typed(name, shape)

    def called(self, depth: int) -> Typed:
        """A call of another function; axes that its result has too, or that would not agree, are indexed away."""
        if not self.drawn.heads:
            return self.expression(depth)
        head = self.drawn.heads[self.random.randrange(len(self.drawn.heads))]
        extra: dict = {}
        texts = []
        for needed in head.needed:
            part = self.having(self.expression(depth), needed)
            for axis, size in part.shape.items():
                if axis not in needed and (axis in head.gives or extra.get(axis, size) != size):
                    part = Typed(f"{part.text}_{{{axis}(1)}}", without(part.shape, [axis]))
                elif axis not in needed:
                    extra[axis] = size
            texts.append(part.text)
        shape = self.fits(extra, head.gives)
        return self.leaf() if shape is None else Typed(f"{head.name}({', '.join(texts)})", shape)

    def having(self, part: Typed, needed: dict) -> Typed:
        """The expression with the axes that a parameter needs."""
        for axis, size in needed.items():
            if part.shape.get(axis, size) != size:
                part = Typed(f"{part.text}_{{{axis}(1)}}", without(part.shape, [axis]))
            if axis not in part.shape:
                text = ", ".join(str(self.random.randint(1, 3)) for _ in range(size))
                part = Typed(f"({part.text} ⊙ [{text}]_{{{axis}}})", {**part.shape, axis: size})
        return part

    RULES = [
        reduced, added, transformed, joined, joined, contracted, contracted, renamed, exchanged, starred, merged, indexed, picked,
        measured, summed, chosen, windowed, over_axes, over_axes, fact, fact, elements, called, called, called,
    ]  # fmt: skip


def without(shape: dict, axes) -> dict:
    return {axis: size for axis, size in shape.items() if axis not in axes}


def renaming(shape: dict, names: dict) -> dict:
    return {names.get(axis, axis): size for axis, size in shape.items()}


# ----------------------------------------------------------------------------------------------------------- programs
def draw_program(random, functions: int, options: bool = True) -> Drawn:
    """Declared inputs, functions over axes, and functions f1, f2, … each of which may call those before it."""
    drawn = Drawn({axis: random.randint(1, 3) for axis in BOUND})
    drawn.lines += OVER_AXES.values()
    for name in ["W", "V"][: random.randint(0, 2)]:
        drawn.inputs[name] = draw_shape(random, drawn.bound, 2)
    if random.random() < 0.3:
        drawn.bound["k"] = drawn.inputs.setdefault("w", {"k": 2})["k"]
    drawn.options = tuple(drawn.inputs)[: random.randint(0, 2)] if options and random.random() < 0.4 else ()
    drawn.after = [f"{name} ∈ {set_of(shape)}" for name, shape in drawn.inputs.items()]
    for index in range(1, functions + 1):
        draw_function(random, drawn, f"f_{index}", last=index == functions)
    return drawn


def draw_shape(random, bound: dict, most: int) -> dict:
    axes = [axis for axis in BOUND if axis in bound]
    random.shuffle(axes)
    return {axis: bound[axis] for axis in axes[: random.randint(0, most)]}


def draw_function(random, drawn: Drawn, name: str, last: bool) -> None:
    parameters = {text: draw_shape(random, drawn.bound, 3) for text in ["X", "Y", "Z"][: random.randint(1, 3)]}
    inputs = drawn.inputs if last else without(drawn.inputs, drawn.options)
    writer = Writer(random, drawn, parameters, inputs, name[-1])
    body = writer.expression(random.randint(1, 3))
    options = options_of(drawn) if last else ""
    drawn.heads.append(Head(name, list(parameters.values()), body.shape))
    domain = " × ".join(set_of(shape) for shape in parameters.values())
    drawn.lines.append(f"{name} : {domain} → {set_of(body.shape)}")
    drawn.lines.append(f"{name}({', '.join(parameters)}{options}) = {body.text}")
    drawn.lines += writer.facts


def draw_extra(random, local: dict, given: dict, sizes: dict) -> dict:
    """A shape with up to two axes besides its own, none of them an axis of the result."""
    free = [axis for axis in EXTRA if axis not in local and axis not in given]
    return {**local, **{axis: sizes[axis] for axis in random.sample(free, random.randint(0, 2))}}


def draw_tensor(random, shape: dict) -> Tensor:
    """Halves from −2 to 2, so that comparisons are exact; the axes in any order."""
    axes = list(shape)
    random.shuffle(axes)
    values = numbers.Random(random.randint(0, 10**6))
    return Tensor({axis: shape[axis] for axis in axes}, lambda record: values.randint(-4, 4) / 2)


def draw_arguments(random, drawn: Drawn, often: float = 0.4) -> tuple[list[Tensor], dict[str, Tensor]]:
    """Tensors for the last function and for the inputs, with extra axes; one name of an extra axis has one size."""
    head = drawn.heads[-1]
    sizes = {axis: random.randint(1, 2) for axis in EXTRA}
    arguments = [draw_tensor(random, draw_extra(random, local, head.gives, sizes)) for local in head.needed]
    lifted = drawn.used() if random.random() < often else ()
    inputs = {
        name: draw_tensor(random, draw_extra(random, input_, head.gives, sizes) if name in lifted else input_)
        for name, input_ in drawn.inputs.items()
    }
    return arguments, inputs


# ------------------------------------------------------------------------------------------------------ the definition
def by_definition(function, tensors: list[Tensor], needed: list) -> Tensor:
    """[f(X, Y)]_s = f(X_s, Y_s), for every record s of the axes that the tensors have besides those needed."""
    extra = unite(*(without(X.shape, axes) for X, axes in zip(tensors, needed)))
    if not extra:
        return function(*tensors)
    results = {}
    for s in records(extra):
        parts = [at(X, {a: s[a] for a in X.shape if a not in axes}) for X, axes in zip(tensors, needed)]
        results[tuple(s.values())] = function(*parts)
    return assemble(extra, results)


def expected(drawn: Drawn, arguments: list[Tensor], inputs: dict[str, Tensor]) -> Tensor:
    head, count = drawn.heads[-1], len(arguments)

    def call(*parts: Tensor) -> Tensor:
        return reference.call(drawn.text, head.name, *parts[:count], values=dict(zip(inputs, parts[count:])))

    return by_definition(call, [*arguments, *inputs.values()], [*head.needed, *drawn.inputs.values()])


def show(drawn: Drawn, arguments, inputs) -> None:
    """What hypothesis prints where a test fails."""
    texts = [f"argument {X}" for X in arguments] + [f"{name} = {X}" for name, X in inputs.items()]
    note("\n".join([drawn.text, *texts]))


def close(left: Tensor, right: Tensor) -> bool:
    return left.shape == right.shape and all(
        x == y or abs(x - y) <= 1e-8 * (1 + abs(y)) or (x != x and y != y)
        for x, y in ((left(record), right(record)) for record in records(left.shape))
    )


def options_of(drawn: Drawn) -> str:
    return f"; {', '.join(drawn.options)}" if drawn.options else ""


def as_array(X: Tensor) -> nt.NamedTensor:
    return nt.tensor(X.to_list(tuple(X.shape)), tuple(X.shape)) if X.shape else X.entries[()]


def computed(drawn: Drawn, arguments: list[Tensor], inputs: dict[str, Tensor]):
    values = {name: as_array(X) for name, X in inputs.items()}
    return nt.program(drawn.text)[drawn.heads[-1].name](*map(as_array, arguments), values=values)


def same(value, tensor: Tensor) -> None:
    """That arrays and reference give the same tensor."""
    axes = tuple(tensor.shape)
    assert sorted(value.axes) == sorted(axes), f"axes {value.axes}, expected {axes}"
    scale = max((abs(x) for x in tensor.entries.values() if abs(x) < math.inf), default=0) + 1
    array = value.to_array(axes) if axes else value.array
    for record, entry in zip(records(tensor.shape), tensor.entries.values()):
        number = float(array[tuple(index - 1 for index in record.values())])
        assert number == entry or abs(number - entry) <= 1e-8 * scale or number != number != entry != entry, (
            f"{number} at {record}, expected {entry}"
        )


def many(times: float):
    """So many examples of the profile's number."""
    return settings(max_examples=int(times * settings().max_examples), deadline=None)


RANDOM = st.randoms(use_true_random=False)


# --------------------------------------------------------------------------------------------------------- the tests
@pytest.mark.slow
@many(2)
@given(RANDOM)
def test_a_call_is_the_call_for_every_record_of_the_extra_axes(random):
    drawn = draw_program(random, random.randint(1, 3))
    arguments, inputs = draw_arguments(random, drawn)
    show(drawn, arguments, inputs)
    same(computed(drawn, arguments, inputs), expected(drawn, arguments, inputs))


@pytest.mark.slow
@many(1)
@given(RANDOM)
def test_a_program_is_lifted_over_what_its_inputs_have_besides(random):
    """A batch: declared inputs with an extra axis, aligned between them."""
    drawn = draw_program(random, random.randint(0, 1), options=False)
    drawn.inputs.update({name: draw_shape(random, drawn.bound, 3) for name in ["A", "B"]})
    writer = Writer(random, drawn, drawn.inputs, {}, "9")
    body = writer.expression(random.randint(1, 3))
    drawn.lines += [*writer.facts, f"O = {body.text}"]
    drawn.after = [f"{name} ∈ {set_of(shape)}" for name, shape in drawn.inputs.items()] + ["O"]
    drawn.heads.append(Head("O", [], body.shape))
    _, inputs = draw_arguments(random, drawn, often=1)
    show(drawn, [], inputs)

    def value(*parts: Tensor) -> Tensor:
        return reference.evaluate(drawn.text, dict(zip(inputs, parts)))

    tensor = by_definition(value, list(inputs.values()), list(drawn.inputs.values()))
    same(nt.evaluate(drawn.text, {name: as_array(X) for name, X in inputs.items()}), tensor)
    assert close(reference.evaluate(drawn.text, inputs), tensor)


@many(1)
@given(RANDOM)
def test_the_reference_lifts_by_the_definition_too(random):
    drawn = draw_program(random, random.randint(1, 2))
    arguments, inputs = draw_arguments(random, drawn)
    show(drawn, arguments, inputs)
    lifted = reference.call(drawn.text, drawn.heads[-1].name, *arguments, values=inputs)
    assert close(lifted, expected(drawn, arguments, inputs))


@pytest.mark.slow
@many(1)
@given(RANDOM)
def test_lifting_a_lift_is_lifting(random):
    """A function whose signature has some of the extra axes, and that calls the first, is the first lifted over them."""
    drawn = draw_program(random, random.randint(1, 2))
    arguments, inputs = draw_arguments(random, drawn, often=0)
    head = drawn.heads[-1]
    extra = unite(*(without(X.shape, local) for X, local in zip(arguments, head.needed)))
    taken = {axis: size for axis, size in extra.items() if random.random() < 0.6}
    domain = [{**local, **{a: n for a, n in taken.items() if a in X.shape}} for X, local in zip(arguments, head.needed)]
    names = ", ".join("XYZ"[: len(domain)])
    drawn.lines.append(f"outer : {' × '.join(map(set_of, domain))} → {set_of({**taken, **head.gives})}")
    drawn.lines.append(f"outer({names}) = {head.name}({names}{options_of(drawn)})")
    show(drawn, arguments, inputs)
    tensor = expected(drawn, arguments, inputs)
    drawn.heads.append(Head("outer", domain, {**taken, **head.gives}))
    same(computed(drawn, arguments, inputs), tensor)


@pytest.mark.slow
@many(1)
@given(RANDOM)
def test_the_order_of_axes_means_nothing(random):
    drawn = draw_program(random, random.randint(1, 2))
    arguments, inputs = draw_arguments(random, drawn)
    show(drawn, arguments, inputs)
    first = computed(drawn, arguments, inputs)
    second = computed(drawn, [turned(X) for X in arguments], {name: turned(X) for name, X in inputs.items()})
    assert first.axes == second.axes or sorted(first.axes) == sorted(second.axes)
    assert nt.allclose(first, second)


def turned(X: Tensor) -> Tensor:
    """The same tensor, its axes stored the other way round."""
    return Tensor(dict(reversed(X.shape.items())), X)


# ---------------------------------------------------------------------------------------------------- what is refused
def refused_by_both(drawn: Drawn, arguments, inputs) -> None:
    with pytest.raises(NotationError) as caught:
        reference.call(drawn.text, drawn.heads[-1].name, *arguments, values=inputs)
    assert caught.value.kind == "shape", str(caught.value)
    with pytest.raises(NotationError) as caught:
        computed(drawn, arguments, inputs)
    assert caught.value.kind == "shape", str(caught.value)


@many(1)
@given(RANDOM)
def test_an_extra_axis_cannot_be_an_axis_of_the_result(random):
    drawn = draw_program(random, random.randint(1, 2))
    arguments, inputs = draw_arguments(random, drawn, often=0)
    head = drawn.heads[-1]
    places = [(n, axis) for n, local in enumerate(head.needed) for axis in head.gives if axis not in local]
    if places:
        position, axis = random.choice(places)
        shape = {**arguments[position].shape, axis: random.randint(1, 3)}
        show(drawn, [shape], inputs)
        refused_by_both(drawn, [*arguments[:position], draw_tensor(random, shape), *arguments[position + 1 :]], inputs)


@many(1)
@given(RANDOM)
def test_extra_axes_of_one_name_have_one_size(random):
    drawn = draw_program(random, random.randint(1, 2))
    head = drawn.heads[-1]
    free = [axis for axis in EXTRA if axis not in head.gives and not any(axis in local for local in head.needed)]
    axis = random.choice(free)
    if len(head.needed) > 1:
        arguments = [draw_tensor(random, {**local, axis: size}) for size, local in enumerate(head.needed, 1)]
        show(drawn, arguments, {})
        refused_by_both(drawn, arguments, {name: draw_tensor(random, input_) for name, input_ in drawn.inputs.items()})


@pytest.mark.slow
@many(1)
@given(RANDOM)
def test_every_argument_has_the_axes_of_the_signature(random):
    drawn = draw_program(random, random.randint(1, 2))
    arguments, inputs = draw_arguments(random, drawn, often=0)
    places = [(n, axis) for n, local in enumerate(drawn.heads[-1].needed) for axis in local]
    if places:
        position, axis = random.choice(places)
        shape = without(arguments[position].shape, [axis])
        show(drawn, [shape], inputs)
        refused_by_both(drawn, [*arguments[:position], draw_tensor(random, shape), *arguments[position + 1 :]], inputs)


# ------------------------------------------------------------------------------------------- the cases of the language
ATTENTION = """Attention : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}
Attention(Q, K, V) = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V
"""


@pytest.mark.parametrize(
    "query, keys, values, result",
    [
        ("key", "seq key", "seq val", "val"),
        ("seq key", "seq key", "seq val", "seq val"),
        ("seq* key", "seq key", "seq val", "seq* val"),
        ("heads seq key", "heads seq key", "heads seq val", "heads seq val"),
        ("key", "val seq key", "seq val", None),
        ("key val", "seq key", "seq val", None),
        ("key", "seq key", "key seq val", "key val"),
        ("seq key", "batch seq key", "key seq val", "seq batch key val"),
    ],
)
def test_attention_on_arguments_with_extra_axes(query, keys, values, result):
    sizes = {"key": 2, "val": 3, "heads": 2, "batch": 2, "seq*": 2}
    shapes = [{axis: sizes.get(axis, 3) for axis in axes.split()} for axes in (query, keys, values)]
    if "seq" in shapes[0]:
        shapes[0]["seq"] = 2  # another seq than that of K and V
    needed = [{"key": 2}, {"seq": 3, "key": 2}, {"seq": 3, "val": 3}]
    drawn = Drawn({}, lines=[ATTENTION], heads=[Head("Attention", needed, {})])
    arguments = [draw_tensor(numbers.Random(n), shape) for n, shape in enumerate(shapes)]
    if result is None:
        refused_by_both(drawn, arguments, {})
        return
    tensor = expected(drawn, arguments, {})
    assert sorted(tensor.shape) == sorted(result.split())
    same(computed(drawn, arguments, {}), tensor)
