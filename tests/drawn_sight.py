"""What a term that is drawn may name, and how its leaves are drawn: names, numbers, new inputs.

A term is drawn for a shape that is wanted, from the top down, so every draw has a type and few are thrown away. A function may
leave the sizes of its axes open: they are numbers that are no sizes (`GENERIC`), each call fills them.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from drawn_tree import RELATIONS, Function, Input, Shape, Term
from known_faults import KNOWN

AXES = ("a", "b", "c", "seq", "b'")
OVER_AXES = ("gain", "turn", "mix")  # names of functions over axes
GENERIC = 97  # sizes from here on are not known where a function is written
MOST = 36  # numbers in a tensor
FLOATS = {"float64": 6, "float32": 3, "float16": 2}
WHOLE = {"int64": 4, "int32": 2, "int16": 1, "int8": 2, "uint8": 2, "uint16": 1}


# --------------------------------------------------------------------------------------------------------- what is in sight
class Leaf(NamedTuple):
    """A name in sight. Its kind is number, whole or truth; of a whole one `low` and `high` bound its entries."""

    term: Term
    kind: str = "number"
    low: int = 0
    high: int = 0
    by: str | None = None  # the name that derivatives are taken by


@dataclass(frozen=True)
class Sight:
    """What a term may name where it stands."""

    leaves: tuple[Leaf, ...] = ()
    sized: tuple[str, ...] = ()  # axes whose |size| is known here
    functions: tuple[Function, ...] = ()
    marks: tuple[tuple[str, int], ...] = ()  # names that a derivative around this is taken by, and how many
    depth_of_derivatives: int = 0
    variables: tuple[str, ...] = ()

    def plus(self, *leaves: Leaf) -> Sight:
        return replace(self, leaves=(*self.leaves, *leaves))


def shaped(shape: Shape) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(shape.items()))


def count(shape: Shape) -> int:
    return math.prod(shape.values())


def is_generic(size: int) -> bool:
    return size >= GENERIC


def number(value: Any) -> Term:
    return Term("number", (), (value,))


FORMS: list[tuple[int, Callable]] = []


def form(weight: int):
    """A way to draw a term of a shape; it gives None where it does not fit."""

    def keep(draw: Callable) -> Callable:
        FORMS.append((weight, draw))
        return draw

    return keep


class Drawing:
    """Draws one program."""

    def __init__(self, seed: Any, known: Any = None):
        self.random = random.Random(seed)
        self.known = KNOWN if known is None else known
        sizes = [1, 2, 3, 4, 3]
        self.random.shuffle(sizes)
        self.sizes = dict(zip(AXES, sizes if self.random.random() < 0.85 else [2] * 5))
        self.float = self.weighted(FLOATS)
        self.inputs: list[Input] = []
        self.stated: dict[str, int] = {}
        self.fixed: dict[str, int] = {}  # sizes that the program speaks of, so that no input may have others
        self.bound: Shape = {}  # the axes of the function that is being drawn
        self.speaking: set[str] = set()  # names whose definitions speak of sizes
        self.called_with: set[tuple[str, int]] = set()  # sizes that axes of functions have in calls
        self.closed = False  # whether what is drawn may name no new input
        self.parameter_families: list[tuple[str, tuple[str, ...], int]] = []
        self.numbered = Counter()

    # ------------------------------------------------------------------------------------------------------- choosing
    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one(self, options: Any) -> Any:
        return self.random.choice(tuple(options))

    def weighted(self, weights: dict[str, int]) -> str:
        return self.random.choices(tuple(weights), tuple(weights.values()))[0]

    def fresh(self, letter: str) -> str:
        self.numbered[letter] += 1
        return f"{letter}_{self.numbered[letter]}"

    def subset(self, shape: Shape, probability: float = 0.6) -> Shape:
        return {axis: size for axis, size in shape.items() if self.chance(probability)}

    def halves(self, shape: Shape, probability: float = 0.55) -> tuple[Shape, Shape]:
        """Two shapes whose union is this."""
        first = self.subset(shape, probability)
        rest = {axis: size for axis, size in shape.items() if axis not in first}
        return first, rest | self.subset(first, 0.5)

    def new_axis(self, *shapes: Shape, size: int | None = None, most: int = 4) -> tuple[str, int] | None:
        taken = set().union(*shapes)
        free = [axis for axis in AXES if axis not in taken]
        if not free:
            return None
        axis = self.one(free)
        if axis in self.bound:
            return (axis, self.bound[axis]) if size in (None, self.bound[axis]) else None
        chosen = self.sizes[axis] if self.chance(0.8) else self.random.randint(1, 4)
        return axis, min(chosen, most) if size is None else size

    def fits(self, shape: Shape) -> bool:
        return len(shape) <= 4 and math.prod(2 if is_generic(size) else size for size in shape.values()) <= MOST

    def extended(self, shape: Shape, most: int = 2) -> tuple[Shape, list[str]] | None:
        """The shape with one or two new axes."""
        new: list[str] = []
        for _ in range(self.random.randint(1, most)):
            axis = self.new_axis(shape)
            if axis is None or not self.fits({**shape, axis[0]: axis[1]}):
                break
            shape = {**shape, axis[0]: axis[1]}
            new.append(axis[0])
        return (shape, new) if new else None

    # --------------------------------------------------------------------------------------------------------- leaves
    def value(self) -> Any:
        return self.one([0, 1, 2, 3, 0.5, 1.5, -1, -0.5, 0.25, 2.5])

    def may_be_given(self, shape: Shape) -> bool:
        """Whether an input of this shape keeps to the sizes that the program speaks of."""
        open_sizes = any(map(is_generic, shape.values()))
        return (
            not self.closed
            and len(self.inputs) < 6
            and not open_sizes
            and all(self.fixed.get(a, n) == n for a, n in shape.items())
        )

    def given(self, shape: Shape, kind: str = "number", size: int | None = None, scalar: bool = False) -> Leaf:
        """A new input of this shape; of kind index, its entries are indices into an axis of `size`."""
        letter = {"number": "ABUV", "whole": "MN", "index": "JK", "truth": "PQ"}[kind]
        name = self.fresh(self.one(letter))
        axes = list(shape)
        self.random.shuffle(axes)
        many = count(shape)
        if kind == "truth":
            dtype, low, high = "bool", 0, 1
            entries: list[Any] = [self.chance(0.5) for _ in range(many)]
        elif kind == "number":
            dtype, low, high = self.float if self.chance(0.9) else self.weighted(FLOATS), 0, 0
            entries = [self.random.randint(-24, 24) / 8 for _ in range(many)]
        else:
            dtype = self.weighted(WHOLE)
            low, high = (1, size or 1) if kind == "index" else self.range_of(dtype)
            entries = [self.random.randint(low, high) for _ in range(many)]
        if scalar:
            dtype = {"number": "float", "whole": "int"}[kind]
        declared = self.declared(axes)
        self.inputs.append(Input(name, tuple((axis, shape[axis]) for axis in axes), dtype, tuple(entries), declared))
        leaf = Leaf(Term("name", (), (name,), shaped(shape)), kind.replace("index", "whole"), low, high)
        return leaf._replace(by=name) if kind == "number" and not scalar else leaf

    def range_of(self, dtype: str) -> tuple[int, int]:
        """Between which numbers the entries of whole inputs lie: mostly small, at times all that the dtype has."""
        least = 0 if dtype.startswith("u") else -1
        if self.chance(0.25):
            bits = int(dtype.lstrip("uint")) + least
            return least * 2 ** min(bits, 33), 2 ** min(bits, 33) - 1
        return 3 * least, self.one([5, 5, 100])

    def declared(self, axes: list[str]) -> tuple[str, ...] | None:
        return tuple(axes) if self.chance(0.5) else None

    def leaf(self, shape: Shape, sight: Sight) -> Term:
        """A term without parts worth the name: a name in sight, a number, a new input, a literal."""
        fitting = [leaf for leaf in sight.leaves if leaf.kind != "truth" and leaf.term.sizes == shape]
        within = [
            leaf
            for leaf in sight.leaves
            if leaf.kind != "truth" and leaf.term.shape and leaf.term.sizes.items() <= shape.items()
        ]
        expected = {name for name, _ in sight.marks}
        preferred = [leaf for leaf in fitting if leaf.by in expected]
        if preferred and self.chance(0.7):
            return self.one(preferred).term
        if fitting and self.chance(0.75):
            return self.one(fitting).term
        if not shape:
            if sight.sized and self.chance(0.25) and self.speak_of(axis := self.one(sight.sized)):
                return Term("size", (), (axis,))
            return number(self.one([self.value(), self.value(), self.value(), self.value(), "π", "e", "0.1"]))
        if any(map(is_generic, shape.values())):
            return self.whole_shape(shape, sight, within)
        if len(shape) == 1 and self.chance(0.2):
            return self.constant_vector(shape, sight)
        if self.may_be_given(shape):
            return self.given(shape).term
        return self.whole_shape(shape, sight, within)

    def constant_vector(self, shape: Shape, sight: Sight) -> Term:
        ((axis, size),) = shape.items()
        if axis in sight.sized and self.chance(0.5) and size == self.sizes.get(axis) and self.speak_of(axis):  # type: ignore
            return Term("made", (), (self.one(["iota", "ones"]), (axis,)), shaped(shape))
        cells = tuple(number(self.value()) for _ in range(size))
        return Term("literal", cells, ((axis,), size), shaped(shape))

    def open_vector(self, shape: Shape, sight: Sight) -> Term:
        """Something along an axis whose size is a call's: the size tells from which leaf it comes."""
        ((axis, size),) = shape.items()
        pairs = [(leaf.term, text) for leaf in sight.leaves for text, n in leaf.term.shape if n == size]
        term, local = self.one(pairs)
        rest = tuple(name for name in term.sizes if name != local)
        make = self.make("over", {local: size}, (term,), self.one(["mean", "∑", "max"]), rest, None) if rest else term
        return make if local == axis else self.make("rename", shape, (make,), (local, axis))

    def whole_shape(self, shape: Shape, sight: Sight, within: list[Leaf]) -> Term:
        """A product of what is in sight, and of literals, that has every axis."""
        have: Shape = {}
        factors = []
        self.random.shuffle(within)
        for leaf in within:
            if leaf.term.sizes.items() - have.items():
                factors.append(leaf.term)
                have |= leaf.term.sizes
        for axis in shape:
            if axis not in have:
                vector = self.open_vector if is_generic(shape[axis]) else self.constant_vector
                factors.append(vector({axis: shape[axis]}, replace(sight, sized=())))
        term = factors[0]
        for factor in factors[1:]:
            term = Term("infix", (term, factor), ("⊙",), shaped(term.sizes | factor.sizes))
        return term

    # ---------------------------------------------------------------------------------------------------------- terms
    def term(self, shape: Shape, depth: int, sight: Sight) -> Term:
        """A term of exactly this shape."""
        if depth <= 0:
            return self.leaf(shape, sight)
        for _ in range(12):
            (draw,) = self.random.choices([draw for _, draw in FORMS], [weight for weight, _ in FORMS])
            term = draw(self, shape, depth - 1, sight)
            if term is not None:
                return term
        return self.leaf(shape, sight)

    def make(self, name: str, shape: Shape, parts: tuple[Term, ...], *data: Any) -> Term:
        return Term(name, parts, data, shaped(shape))

    def shift(self, term: Term, by: Any) -> Term:
        return self.make("infix", term.sizes, (term, number(by)), "+")

    def not_less_than_nought(self, term: Term) -> Term:
        """Something of it that is positive."""
        if self.chance(0.5):
            return self.shift(self.make("power", term.sizes, (term, number(2))), self.one([0.5, 1, 2]))
        return self.shift(self.make("applied", term.sizes, (term,), "abs"), self.one([0.5, 1]))

    def condition(self, shape: Shape, depth: int, sight: Sight) -> Term:
        """A condition of exactly this shape, mostly of names and numbers."""
        kind = self.random.random()
        if depth > 0 and kind < 0.12:
            first, second = self.halves(shape)
            parts = (self.condition(first, depth - 1, sight), self.condition(second, depth - 1, sight))
            return self.make("logic", shape, parts, self.one("∧∨"))
        if depth > 0 and kind < 0.18:
            return self.make("logic", shape, (self.condition(shape, depth - 1, sight),), "¬")
        if depth > 0 and kind < 0.24:
            wider = self.extended(shape, 1)
            if wider is not None:
                part = self.condition(wider[0], depth - 1, sight)
                return self.make("over", shape, (part,), self.one(["any", "all"]), tuple(wider[1]), None)
        truths = [leaf for leaf in sight.leaves if leaf.kind == "truth" and leaf.term.sizes == shape]
        if truths and self.chance(0.3):
            return self.one(truths).term
        generic = any(map(is_generic, shape.values()))
        if kind < 0.34 and shape and self.may_be_given(shape):
            return self.given(shape, "truth").term
        if kind < 0.5 and not generic:
            return self.make("property", shape, (self.whole(shape, sight),), self.one(["odd", "even"]))
        first, second = self.halves(shape)
        left, right = self.term(first, depth - 1, sight), self.term(second, 0, sight)
        if left.form == "number" and right.form == "number":
            left = self.leaf({}, sight)
        return self.make("relation", shape, (left, right), self.one(RELATIONS))

    def whole(self, shape: Shape, sight: Sight) -> Term:
        """Whole numbers of exactly this shape, small."""
        fitting = [leaf.term for leaf in sight.leaves if leaf.kind == "whole" and leaf.term.sizes == shape]
        if fitting and self.chance(0.7):
            return self.one(fitting)
        if not shape:
            return number(self.random.randint(0, 4))
        if len(shape) == 1 and self.chance(0.5):
            ((axis, size),) = shape.items()
            if axis in sight.sized and size == self.sizes.get(axis) and self.speak_of(axis):  # type: ignore
                return Term("made", (), ("iota", (axis,)), shaped(shape))
            return Term(
                "literal", tuple(number(self.random.randint(0, 5)) for _ in range(size)), ((axis,), size), shaped(shape)
            )
        return (
            self.given(shape, "whole").term
            if self.may_be_given(shape)
            else self.written_out(shape, lambda: self.random.randint(0, 5))
        )

    def written_out(self, shape: Shape, cell: Callable[[], int]) -> Term:
        """Whole numbers of any shape, written out."""
        last = sorted(shape)[-1]
        rest = {axis: size for axis, size in shape.items() if axis != last}
        parts = tuple(self.written_out(rest, cell) if rest else number(cell()) for _ in range(shape[last]))
        return Term("literal", parts, ((last,), shape[last]), shaped(shape))

    def position(self, shape: Shape, size: int, sight: Sight) -> Term:
        """Indices of exactly this shape into an axis of `size`."""
        fitting = [
            leaf.term
            for leaf in sight.leaves
            if leaf.kind == "whole" and leaf.term.sizes == shape and 1 <= leaf.low <= leaf.high <= size
        ]
        if fitting and self.chance(0.8):
            return self.one(fitting)
        if not shape:
            return number(self.random.randint(1, size))
        if len(shape) == 1 and self.chance(0.5):
            cells = tuple(number(self.random.randint(1, size)) for _ in range(count(shape)))
            return Term("literal", cells, (tuple(shape), count(shape)), shaped(shape))
        if self.may_be_given(shape):
            return self.given(shape, "index", size).term
        return self.written_out(shape, lambda: self.random.randint(1, size))

    def speak_of(self, axis: str) -> bool:
        """Whether |axis| may be written: in a function that of a call, elsewhere the one that all inputs have."""
        return axis in self.bound or self.fix(axis, self.sizes[axis])  # type: ignore

    def fix(self, axis: str, size: int) -> bool:
        if any(size != other for input_ in self.inputs for name, other in input_.shape if name == axis):
            return False
        return self.fixed.setdefault(axis, size) == size

    def state(self, axis: str, size: int) -> bool:
        """Say |axis| = size once and for all; False where something else is said."""
        if axis in self.bound:
            return self.bound[axis] == size
        if not self.fix(axis, size):
            return False
        self.stated[axis] = size
        return True
