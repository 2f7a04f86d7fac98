"""Programs that are right by construction, drawn at random: a small syntax tree of their own, how it is drawn and how it is
written as text.

Nothing here is the package's: a term says its form, its parts and its shape, and `own_evaluator.py` says what each form
means. A term is drawn for a shape that is wanted, from the top down, so every draw has a type and few are thrown away.

`KNOWN` names constructs that the package gets wrong, and why; they are not drawn. The table only shrinks.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, NamedTuple

KNOWN: dict[str, str] = {
    "start with a parameter": "a start of a family of a function that mentions its parameter is not taken as the function's",
    "whole numbers wrap": "whole numbers that a formula makes are int64 and wrap",
    "narrow whole numbers": "integers narrower than 64 bits are not widened before arithmetic",
    "case not taken": "the derivative of a case is nan where the branch not taken has none",
    "reference's derivatives": "the reference evaluator forgets what a definition between depends on",
    "slope of norm ∞": "the differential of norm is that of finite p",
    "slope of std at nought": "the differential of std divides by std",
    "windows twice": "a second derivative through unroll is refused",
    "size of what is made": "the size of an axis that a split, rename or literal makes is not known",
    "slices": "X_{seq(a:b)} is not read",
    "own axes of g_{ax}": "an axis that the body of g_{ax} uses meets the axis of the use, where both have one name",
    "marks of ax": "ax* in the body of g_{ax} is no mark on what ax stands for",
    "size alone": "h^0 = |a| and f(X) = |a| are taken as facts of sizes, and define nothing",
    "sizes outside": "a definition outside of a function takes the sizes of the call that it is mentioned in",
    "derivative through an argument": "a derivative by a name outside of a function sees it in the function's arguments",
    "families of one base": "h_1^t of one function and h_2^t of another are taken for each other's, by the order of statements",
    "ax in a fact alone": "g_{ax} takes an axis only where its body says so, or a fact just below its head",
    "uint16 on PyTorch": "PyTorch has no arithmetic for it, and its error comes bare",
}

AXES = ("a", "b", "c", "seq", "b'")
OVER_AXES = ("gain", "turn", "mix")  # names of functions over axes
GENERIC = 97  # sizes from here on are not known where a function is written
MOST = 36  # numbers in a tensor
FLOATS = {"float64": 6, "float32": 3, "float16": 2}
WHOLE = {"int64": 4, "int32": 2, "int16": 1, "int8": 2, "uint8": 2, "uint16": 1}

Shape = dict[str, int]


# ---------------------------------------------------------------------------------------------------------- the tree
@dataclass(frozen=True)
class Term:
    """A piece of a formula: `data` is what is no term, such as axes and names."""

    form: str
    parts: tuple[Term, ...] = ()
    data: tuple = ()
    shape: tuple[tuple[str, int], ...] = ()

    @property
    def sizes(self) -> Shape:
        return dict(self.shape)

    def walk(self) -> Iterator[Term]:
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True)
class Input:
    """A tensor that is given: its entries in the order of its axes, the last fastest. `declared` has the axes said of it."""

    name: str
    shape: tuple[tuple[str, int], ...]
    dtype: str
    entries: tuple
    declared: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Definition:
    """name = term = claim"""

    name: str
    term: Term
    claim: Term | None = None


@dataclass(frozen=True)
class Elements:
    """name_{axis(i), …} = term, each variable going over its axis."""

    name: str
    over: tuple[tuple[str, str], ...]
    term: Term


@dataclass(frozen=True)
class Family:
    """name^start = …, name^index = rule for index = low, …, high; down where high is less."""

    name: str
    index: str
    starts: tuple[tuple[int, Term], ...]
    rule: Term
    low: int
    high: int
    bound: str | None = None  # the input that says how far

    def span(self) -> range:
        return range(self.low, self.high + 1)


@dataclass(frozen=True)
class Function:
    """name_{over}(parameters; options) = body, and the definitions that belong to it. Without `gives` it has no signature."""

    name: str
    over: tuple[str, ...]
    parameters: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    body: Term
    gives: tuple[tuple[str, int], ...] | None
    options: tuple[str, ...] = ()
    facts: tuple[Any, ...] = ()
    of_one_axis: bool = False


@dataclass(frozen=True)
class Program:
    inputs: tuple[Input, ...]
    sizes: tuple[tuple[str, int], ...]  # stated: |a| = 3
    statements: tuple[Any, ...]
    out: Term
    families: tuple[tuple[str, tuple[str, ...], int], ...] = ()  # of parameters: W^l ∈ ℝ^{…} for l = 1, …, n

    @property
    def text(self) -> str:
        return "\n".join([*self.lines(), f"out = {written(self.out)}"])

    def lines(self) -> list[str]:
        lines = [f"|{axis}| = {size}" for axis, size in self.sizes]
        members = {f"{name}^{{{n}}}" for name, _, most in self.families for n in range(1, most + 1)}
        lines += [
            f"{each.name} ∈ {field_of(each.declared)}"
            for each in self.inputs
            if each.declared is not None and each.name not in members
        ]
        lines += [f"{name}^l ∈ {field_of(axes)} for l = 1, …, {most}" for name, axes, most in self.families]
        for statement in self.statements:
            lines += statement_lines(statement)
        return lines


def terms_of(thing: Any) -> Iterator[Term]:
    """Every term in a program or statement, with its parts."""
    if isinstance(thing, Term):
        yield from thing.walk()
    elif is_dataclass(thing):
        for each in fields(thing):
            yield from terms_of(getattr(thing, each.name))
    elif isinstance(thing, tuple):
        for each in thing:
            yield from terms_of(each)


# ------------------------------------------------------------------------------------------------------- how it is written
SUM, BIG, PRODUCT, PREFIX, BESIDE, CALLED, POSTFIX, ATOM = range(8)  # from the loosest to the tightest
INFIX = {"+": SUM, "−": SUM, "⊙": PRODUCT, "·": PRODUCT, "/": PRODUCT}
RELATIONS = ("=", "≠", "<", "≤", ">", "≥")


def field_of(axes: Any) -> str:
    return f"ℝ^{{{' × '.join(axes)}}}" if (axes := tuple(axes)) else "ℝ"


def listed(axes: Any) -> str:
    return ", ".join(axes)


def written(term: Term, least: int = SUM) -> str:
    """The term as text, in brackets where it binds looser than `least`."""
    text, level = WRITTEN[term.form](term)
    return text if level >= least else f"({text})"


def _number(term: Term) -> tuple[str, int]:
    value = term.data[0]
    if isinstance(value, str):
        return value, ATOM
    return (f"−{-value}", PREFIX) if value < 0 else (f"{value}", ATOM)


def _member(term: Term) -> tuple[str, int]:
    name, index, shift = term.data
    if index is None:
        return f"{name}^{{{shift}}}", POSTFIX
    return f"{name}^{{{index}{'+' if shift > 0 else '-'}{abs(shift)}}}" if shift else f"{name}^{{{index}}}", POSTFIX


def _infix(term: Term) -> tuple[str, int]:
    sign, (left, right) = term.data[0], term.parts
    level = INFIX[sign]
    after = written(right, level + 1)
    if sign == "/" and right.form in ("juxtaposed", "infix", "contract"):
        after = written(right, CALLED)
    if left.form == "sum over":
        return f"{written(left, PRODUCT)} {sign} {after}", level
    return f"{written(left, level)} {sign} {after}", level


def _power(term: Term) -> tuple[str, int]:
    base, exponent = term.parts
    return f"{written(base, ATOM)}^{{{written(exponent)}}}", POSTFIX


def _cases(term: Term) -> tuple[str, int]:
    *pairs, otherwise = term.parts
    rows = [f"{written(value)} if {written(test)}" for value, test in zip(pairs[::2], pairs[1::2])]
    return f"{{ {'; '.join([*rows, f'{written(otherwise)} otherwise'])} }}", ATOM


def _over(term: Term) -> tuple[str, int]:
    """A reduction or a function along axes."""
    name, axes, option = term.data
    (part,) = term.parts
    if name in ("∑", "∏"):
        return f"{name}_{{{listed(axes)}}} {written(part, PRODUCT)}", BIG
    more = "" if option is None else f"; {option}"
    return f"{name}_{{{listed(axes)}}}({written(part)}{more})", CALLED


def _contract(term: Term) -> tuple[str, int]:
    left, right = term.parts
    return f"{written(left, PRODUCT)} ⊙_{{{listed(term.data[0])}}} {written(right, PREFIX)}", PRODUCT


def _subscripted(inside: Callable[[Term], str]) -> Callable[[Term], tuple[str, int]]:
    def write(term: Term) -> tuple[str, int]:
        first = term.parts[0]
        text = first.data[0] if first.form == "name" else f"[{written(first)}]"
        return f"{text}_{{{inside(term)}}}", POSTFIX

    return write


def _index(term: Term) -> tuple[str, int]:
    axes, spelling = term.data
    first, *indices = term.parts
    if spelling == "index":
        return f"index_{{{axes[0]}}}({written(first)}, {written(indices[0])})", CALLED
    return _subscripted(lambda _: listed(f"{axis}({written(at)})" for axis, at in zip(axes, indices)))(term)


def _literal(term: Term) -> tuple[str, int]:
    axes, columns = term.data
    cells = [written(part) for part in term.parts]
    rows = [listed(cells[start : start + columns]) for start in range(0, len(cells), columns)]
    return f"[{'; '.join(rows)}]_{{{listed(axes)}}}", ATOM


def _sum_over(term: Term) -> tuple[str, int]:
    sign, variable, low, high = term.data
    bounds = variable if low is None else f"{variable}={low}"
    above = "" if low is None else f"^{{{high}}}"
    return f"{sign}_{{{bounds}}}{above} {written(term.parts[0], PRODUCT)}", BIG


def _derivative(term: Term) -> tuple[str, int]:
    name, mark = term.data
    return f"∂({written(term.parts[0])})/∂{name}{mark}", PRODUCT


def _call(term: Term) -> tuple[str, int]:
    name, axes, options = term.data
    most = len(term.parts) - options
    texts = [written(part) for part in term.parts]
    more = f"; {listed(texts[most:])}" if options else ""
    over = f"_{{{listed(axes)}}}" if axes else ""
    return f"{name}{over}({listed(texts[:most])}{more})", CALLED


def _applied(term: Term) -> tuple[str, int]:
    """exp(x), unroll_{a,k}(x), max(x, y): a name, its axes, its operands."""
    name, *axes = term.data
    over = f"_{{{listed(axes)}}}" if axes else ""
    return f"{name}{over}({listed(map(written, term.parts))})", CALLED


def _logic(term: Term) -> tuple[str, int]:
    sign = term.data[0]
    if sign == "¬":
        return f"¬({written(term.parts[0])})", PREFIX
    return f" {sign} ".join(f"({written(part)})" for part in term.parts), SUM


WRITTEN: dict[str, Callable[[Term], tuple[str, int]]] = {
    "number": _number,
    "name": lambda term: (term.data[0], ATOM if term.data[0].isalpha() else POSTFIX),
    "member": _member,
    "size": lambda term: (f"|{term.data[0]}|", ATOM),
    "made": lambda term: (f"{term.data[0]}_{{{listed(term.data[1])}}}", POSTFIX),
    "negative": lambda term: (f"−{written(term.parts[0], BESIDE)}", PREFIX),
    "prefixed": lambda term: (f"{term.data[0]} {written(term.parts[0], POSTFIX)}", PREFIX),
    "root": lambda term: (f"√({written(term.parts[0])})", CALLED),
    "applied": _applied,
    "infix": _infix,
    "juxtaposed": lambda term: (" ".join(written(part, POSTFIX) for part in term.parts), BESIDE),
    "power": _power,
    "cases": _cases,
    "indicator": lambda term: (f"𝕀[{written(term.parts[0])}]", ATOM),
    "relation": lambda term: (f" {term.data[0]} ".join(written(part, SUM) for part in term.parts), SUM),
    "property": lambda term: (f"{written(term.parts[0], ATOM)} {term.data[0]}", SUM),
    "logic": _logic,
    "over": _over,
    "contract": _contract,
    "rename": _subscripted(lambda term: listed(f"{old}→{new}" for old, new in term.data)),
    "star": lambda term: (f"({written(term.parts[0])})^{term.data[0]}", POSTFIX),
    "merge": _subscripted(lambda term: f"({listed(term.data[0])})→{term.data[1]}"),
    "split": _subscripted(lambda term: f"{term.data[0]}→({listed(term.data[1])})"),
    "slice": _subscripted(lambda term: f"{term.data[0]}({term.data[1]}:{term.data[2]})"),
    "index": _index,
    "concat": lambda term: (
        f"{written(term.parts[0], PRODUCT)} ⊕_{{{term.data[0]}}} {written(term.parts[1], PREFIX)}",
        PRODUCT,
    ),
    "literal": _literal,
    "sum over": _sum_over,
    "derivative": _derivative,
    "call": _call,
}


def statement_lines(statement: Any) -> list[str]:
    if isinstance(statement, Definition):
        claim = "" if statement.claim is None else f" = {written(statement.claim)}"
        return [f"{statement.name} = {written(statement.term)}{claim}"]
    if isinstance(statement, Elements):
        places = listed(f"{axis}({variable})" for axis, variable in statement.over)
        return [f"{statement.name}_{{{places}}} = {written(statement.term)}"]
    if isinstance(statement, Family):
        starts = [f"{statement.name}^{{{at}}} = {written(term)}" for at, term in statement.starts]
        index, last = statement.index, statement.bound or statement.high
        rule = f"{statement.name}^{index} = {written(statement.rule)} for {index} = {statement.low}, …, {last}"
        return [*starts, rule]
    lines = []
    over = f"_{{{listed(statement.over)}}}" if statement.over else ""
    if statement.gives is not None:
        domain = " × ".join(field_of(axis for axis, _ in shape) for _, shape in statement.parameters)
        gives = field_of(axis for axis, _ in statement.gives)
        lines.append(f"{statement.name}{over} : {domain} → {gives}")
    names = listed(name for name, _ in statement.parameters)
    more = f"; {listed(statement.options)}" if statement.options else ""
    lines.append(f"{statement.name}{over}({names}{more}) = {written(statement.body)}")
    for fact in statement.facts:
        lines += statement_lines(fact)
    return lines


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
        self.outer = self.sizes  # those outside of functions
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
            found = self.new_axis(shape)
            if found is None or not self.fits({**shape, found[0]: found[1]}):
                break
            shape = {**shape, found[0]: found[1]}
            new.append(found[0])
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
            large = dtype in ("int64", "int32") and self.chance(0.25)
            low, high = (1, size or 1) if kind == "index" else (0 if dtype.startswith("u") else -3, 500 if large else 5)
            entries = [self.random.randint(low, high) for _ in range(many)]
        if scalar:
            dtype = {"number": "float", "whole": "int"}[kind]
        declared = self.declared(axes)
        self.inputs.append(Input(name, tuple((axis, shape[axis]) for axis in axes), dtype, tuple(entries), declared))
        leaf = Leaf(Term("name", (), (name,), shaped(shape)), kind.replace("index", "whole"), low, high)
        return leaf._replace(by=name) if kind == "number" and not scalar else leaf

    def declared(self, axes: list[str]) -> tuple[str, ...] | None:
        return tuple(axes) if self.chance(0.5) else None

    def leaf(self, shape: Shape, sight: Sight) -> Term:
        """A term without parts worth the name: a name in sight, a number, a new input, a literal."""
        fitting = [each for each in sight.leaves if each.kind != "truth" and each.term.sizes == shape]
        within = [
            each
            for each in sight.leaves
            if each.kind != "truth" and each.term.shape and each.term.sizes.items() <= shape.items()
        ]
        wanted = {name for name, _ in sight.marks}
        preferred = [each for each in fitting if each.by in wanted]
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
        if axis in sight.sized and self.chance(0.5) and size == self.sizes.get(axis) and self.speak_of(axis):
            return Term("made", (), ("iota", (axis,)), shaped(shape))
        cells = tuple(number(self.value()) for _ in range(size))
        return Term("literal", cells, ((axis,), size), shaped(shape))

    def open_vector(self, shape: Shape, sight: Sight) -> Term:
        """Something along an axis whose size is a call's: the size tells from which leaf it comes."""
        ((axis, size),) = shape.items()
        pairs = [(each.term, own) for each in sight.leaves for own, n in each.term.shape if n == size]
        term, own = self.one(pairs)
        rest = tuple(name for name in term.sizes if name != own)
        found = self.make("over", {own: size}, (term,), self.one(["mean", "∑", "max"]), rest, None) if rest else term
        return found if own == axis else self.make("rename", shape, (found,), (own, axis))

    def whole_shape(self, shape: Shape, sight: Sight, within: list[Leaf]) -> Term:
        """A product of what is in sight, and of literals, that has every axis."""
        have: Shape = {}
        factors = []
        self.random.shuffle(within)
        for each in within:
            if each.term.sizes.items() - have.items():
                factors.append(each.term)
                have |= each.term.sizes
        for axis in shape:
            if axis not in have:
                vector = self.open_vector if is_generic(shape[axis]) else self.constant_vector
                factors.append(vector({axis: shape[axis]}, replace(sight, sized=())))
        found = factors[0]
        for factor in factors[1:]:
            found = Term("infix", (found, factor), ("⊙",), shaped(found.sizes | factor.sizes))
        return found

    # ---------------------------------------------------------------------------------------------------------- terms
    def term(self, shape: Shape, depth: int, sight: Sight) -> Term:
        """A term of exactly this shape."""
        if depth <= 0:
            return self.leaf(shape, sight)
        for _ in range(12):
            (draw,) = self.random.choices([draw for _, draw in FORMS], [weight for weight, _ in FORMS])
            found = draw(self, shape, depth - 1, sight)
            if found is not None:
                return found
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
        truths = [each for each in sight.leaves if each.kind == "truth" and each.term.sizes == shape]
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
        fitting = [each.term for each in sight.leaves if each.kind == "whole" and each.term.sizes == shape]
        if fitting and self.chance(0.7):
            return self.one(fitting)
        if not shape:
            return number(self.random.randint(0, 4))
        if len(shape) == 1 and self.chance(0.5):
            ((axis, size),) = shape.items()
            if axis in sight.sized and size == self.sizes.get(axis) and self.speak_of(axis):
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
            each.term
            for each in sight.leaves
            if each.kind == "whole" and each.term.sizes == shape and 1 <= each.low <= each.high <= size
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
        return axis in self.bound or self.fix(axis, self.sizes[axis])

    def fix(self, axis: str, size: int) -> bool:
        if any(size != other for each in self.inputs for name, other in each.shape if name == axis):
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


# ------------------------------------------------------------------------------------------------------------- the forms
ONE_NUMBER = ("exp", "sin", "cos", "tanh", "sinh", "cosh", "abs", "sign", "floor", "ceil", "σ", "relu", "gelu", "gelu_tanh",
              "silu", "softplus", "erf", "tan", "ReLU", "sigmoid")  # fmt: skip
GUARDED = ("log", "sqrt")


@form(5)
def infix(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    left, right = d.halves(shape)
    sign = d.one(["+", "+", "−", "⊙", "⊙", "·", "/"])
    first, second = d.term(left, depth, sight), d.term(right, depth, sight)
    return d.make("infix", shape, (first, d.not_less_than_nought(second) if sign == "/" else second), sign)


@form(1)
def divided(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    below = number(d.one([2, 4, 3, 0.5]))
    if sight.sized and d.chance(0.5) and d.speak_of(axis := d.one(sight.sized)):
        below = Term("size", (), (axis,))
    return d.make("infix", shape, (d.term(shape, depth, sight), below), "/")


@form(1)
def juxtaposed(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    names = [
        each.term
        for each in sight.leaves
        if each.kind != "truth" and each.term.sizes == shape and each.term.form == "name"
    ]
    return d.make("juxtaposed", shape, (number(d.one([2, 3, 0.5])), d.one(names))) if names else None


@form(3)
def of_one_number(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    part = d.term(shape, depth, sight)
    if d.chance(0.15):
        return d.make("negative", shape, (part,))
    if d.chance(0.15):
        return d.make("root", shape, (d.not_less_than_nought(part),))
    if d.chance(0.15):
        return d.make("applied", shape, (d.not_less_than_nought(part),), d.one(GUARDED))
    name = d.one(ONE_NUMBER)
    if part.form == "name" and d.chance(0.3):
        return d.make("prefixed", shape, (part,), name)
    return d.make("applied", shape, (part,), name)


@form(2)
def power(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    kind = d.random.random()
    if kind < 0.5:
        return d.make("power", shape, (d.term(shape, depth, sight), number(d.one([2, 2, 3, 1, 0]))))
    if kind < 0.65:
        exponent: Any = number(d.one([-1, 0.5, 1.5, -2]))
        return d.make("power", shape, (d.not_less_than_nought(d.term(shape, depth, sight)), exponent))
    if kind < 0.75 and not any(map(is_generic, shape.values())):
        left, right = d.halves(shape)
        return d.make(
            "power", shape, (d.term(left, depth, sight), d.make("applied", right, (d.whole(right, sight),), "abs"))
        )
    left, right = d.halves(shape)
    if kind < 0.85:
        parts = (d.not_less_than_nought(d.term(left, depth, sight)), d.term(right, depth, sight))
        return d.make("applied", shape, parts, "pow")
    return d.make("power", shape, (number(d.one([2, 3, 0.5])), d.term(shape, depth, sight)))


@form(2)
def of_several_numbers(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    left, right = d.halves(shape)
    first, second = d.term(left, depth, sight), d.term(right, depth, sight)
    kind = d.random.random()
    if kind < 0.5:
        return d.make("applied", shape, (first, second), d.one(["max", "min"]))
    if kind < 0.75:
        low = d.one([-2, -1, 0, 0.5])
        return d.make(
            "applied", shape, (d.term(shape, depth, sight), number(low), number(low + d.one([0.5, 1, 2]))), "clip"
        )
    test = d.condition(d.subset(shape, 0.5), depth, sight)
    return d.make("applied", shape, (test, first, second), "where")


@form(2)
def cases(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    first, second = d.halves(shape)
    parts = [d.term(first, depth, sight), d.condition(d.subset(shape), depth, sight)]
    if d.chance(0.25):
        parts += [d.term(d.subset(shape), 0, sight), d.condition(d.subset(shape), 0, sight)]
    return d.make("cases", shape, (*parts, d.term(second, depth, sight)))


@form(1)
def indicator(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    return d.make("indicator", shape, (d.condition(shape, depth, sight),))


REDUCTIONS = ("∑", "∑", "∑", "∏", "mean", "var", "std", "norm", "min", "max", "logsumexp")


@form(4)
def reduced(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    wider = d.extended(shape)
    if wider is None:
        return None
    name = d.one(REDUCTIONS)
    option = d.one([None, 1, 2, 3, "∞"]) if name == "norm" else None
    if sight.marks and (
        option == "∞" and "slope of norm ∞" in d.known or name == "std" and "slope of std at nought" in d.known
    ):
        return None
    if name == "∏" and len(wider[1]) > 1 and sight.marks and d.chance(0.5):
        return None
    return d.make("over", shape, (d.term(wider[0], depth, sight),), name, tuple(wider[1]), option)


@form(3)
def along(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    if not shape:
        return None
    name = d.one(["softmax", "softmax", "logsoftmax", "argmax", "argmin", "standardize", "cumsum", "cumprod", "sort"])
    axes = d.random.sample(
        sorted(shape), 1 if name in ("cumsum", "cumprod", "sort") or d.chance(0.7) else min(2, len(shape))
    )
    option = 0.5 if name == "standardize" and d.chance(0.7) else None
    return d.make("over", shape, (d.term(shape, depth, sight),), name, tuple(axes), option)


@form(4)
def contracted(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    wider = d.extended({}, 2)
    if wider is None or set(wider[0]) & set(shape):
        return None
    left, right = d.halves(shape)
    left, right = left | wider[0], right | wider[0]
    if not d.fits(left) or not d.fits(right) or not d.fits(shape | wider[0]):
        return None
    return d.make("contract", shape, (d.term(left, depth, sight), d.term(right, depth, sight)), tuple(wider[1]))


@form(2)
def renamed(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    if not shape:
        return None
    if len(shape) > 1 and d.chance(0.3):
        one, two = d.random.sample(sorted(shape), 2)
        if "ax" in (one, two):  # ax has one size
            return None
        inner = {{one: two, two: one}.get(axis, axis): size for axis, size in shape.items()}
        return d.make("rename", shape, (d.term(inner, depth, sight),), (one, two), (two, one))
    old = d.one(sorted(shape))
    found = d.new_axis(shape, size=shape[old])
    if found is None:
        return None
    inner = {found[0] if axis == old else axis: size for axis, size in shape.items()}
    return d.make("rename", shape, (d.term(inner, depth, sight),), (found[0], old))


@form(1)
def starred(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """(X)^*, and its axes named back."""
    if not shape or any(axis[-1] in "*†" for axis in shape) or any(map(is_generic, shape.values())):
        return None
    mark = d.one("*†")
    marked = {f"{axis}{mark}": size for axis, size in shape.items()}
    inner = d.make("star", marked, (d.term(shape, depth, sight),), mark)
    return d.make("rename", shape, (inner,), *((f"{axis}{mark}", axis) for axis in sorted(shape)))


@form(2)
def merged(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    able = [axis for axis, size in shape.items() if not is_generic(size)]
    if not able:
        return None
    new = d.one(sorted(able))
    size = shape[new]
    first = d.one([n for n in range(1, size + 1) if size % n == 0])
    rest = {axis: n for axis, n in shape.items() if axis != new}
    free = [axis for axis in AXES if axis not in rest]
    if len(free) < 2:
        return None
    one, two = d.random.sample(free, 2)
    inner = {**rest, one: first, two: size // first}
    return d.make("merge", shape, (d.term(inner, depth, sight),), (one, two), new) if d.fits(inner) else None


@form(2)
def split(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    if len(shape) < 2:
        return None
    one, two = d.random.sample(sorted(shape), 2)
    if is_generic(shape[one]) or is_generic(shape[two]) or not d.state(one, shape[one]) or not d.state(two, shape[two]):
        return None
    rest = {axis: n for axis, n in shape.items() if axis not in (one, two)}
    found = d.new_axis(shape, size=shape[one] * shape[two])
    if found is None:
        return None
    return d.make("split", shape, (d.term({**rest, found[0]: found[1]}, depth, sight),), found[0], (one, two))


@form(2)
def indexed(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    wider = d.extended(shape, 2)
    if wider is None or any(is_generic(wider[0][axis]) for axis in wider[1]):
        return None
    indices = tuple(d.position({}, wider[0][axis], sight) for axis in wider[1])
    return d.make("index", shape, (d.term(wider[0], depth, sight), *indices), tuple(wider[1]), "subscript")


@form(2)
def picked(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """Indexed by a tensor, whose axes the operand may have besides."""
    at = {axis: size for axis, size in d.subset(shape, 0.5).items() if not is_generic(size)}
    rest = {axis: size for axis, size in shape.items() if axis not in at}
    rest |= d.subset(at, 0.4)
    found = d.new_axis(rest)
    if found is None or not at or is_generic(found[1]) or not d.fits({**shape, **dict([found])}):
        return None
    axis, size = found
    inner = d.term({**rest, axis: size}, depth, sight)
    return d.make("index", shape, (inner, d.position(at, size, sight)), (axis,), d.one(["index", "subscript"]))


@form(2)
def sliced(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    able = [axis for axis, size in shape.items() if not is_generic(size) and size < 5]
    if not able or "slices" in d.known:
        return None
    axis = d.one(sorted(able))
    before, after = d.random.randint(0, 2), d.random.randint(0, 2)
    inner = {**shape, axis: before + shape[axis] + after}
    return d.make("slice", shape, (d.term(inner, depth, sight),), axis, before + 1, before + shape[axis])


@form(2)
def concatenated(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    able = [axis for axis, size in shape.items() if 2 <= size < GENERIC]
    if not able:
        return None
    axis = d.one(sorted(able))
    first = d.random.randint(1, shape[axis] - 1)
    rest = {name: size for name, size in shape.items() if name != axis}
    left, right = d.halves(rest, 0.8)
    parts = (d.term({**left, axis: first}, depth, sight), d.term({**right, axis: shape[axis] - first}, depth, sight))
    return d.make("concat", shape, parts, axis) if d.chance(0.6) else d.make("applied", shape, parts, "concat", axis)


@form(2)
def laid(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """A literal of terms, or a stack."""
    able = [axis for axis, size in shape.items() if not is_generic(size)]
    if not able:
        return None
    axes = d.random.sample(sorted(able), 2 if len(able) > 1 and d.chance(0.3) else 1)
    rest = {name: size for name, size in shape.items() if name not in axes}
    many = math.prod(shape[axis] for axis in axes)
    parts = [d.term(rest if n == 0 else d.subset(rest), depth if n == 0 else 0, sight) for n in range(many)]
    d.random.shuffle(parts)
    if len(axes) == 1 and d.chance(0.4):
        return d.make("applied", shape, tuple(parts), "stack", axes[0])
    return d.make("literal", shape, tuple(parts), tuple(axes), shape[axes[-1]])


@form(2)
def windows(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    able = [axis for axis, size in shape.items() if not is_generic(size)]
    if len(able) < 2:
        return None
    seq, kernel = d.random.sample(sorted(able), 2)
    name = d.one(["unroll", "pool"])
    if name == "unroll" and sight.depth_of_derivatives > 1 and "windows twice" in d.known:
        return None
    whole = shape[seq] + shape[kernel] - 1 if name == "unroll" else shape[seq] * shape[kernel]
    inner = {axis: size for axis, size in shape.items() if axis != kernel} | {seq: whole}
    if not d.fits(inner) or not d.state(kernel, shape[kernel]):
        return None
    return d.make("applied", shape, (d.term(inner, depth, sight),), name, seq, kernel)


@form(1)
def largest(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    able = [axis for axis, size in shape.items() if not is_generic(size)]
    if not able:
        return None
    rank = d.one(sorted(able))
    rest = {axis: size for axis, size in shape.items() if axis != rank}
    if rest and d.chance(0.4):
        axis = d.one(sorted(rest))
        if rest[axis] < shape[rank] or is_generic(rest[axis]) or not d.state(rank, shape[rank]):
            return None
        return d.make("applied", shape, (d.term(rest, depth, sight),), "argmaxk", axis, rank)
    found = d.new_axis(shape, size=shape[rank] + d.random.randint(0, 2))
    inner = {**rest, **dict([found])} if found else {}
    if not found or not d.fits(inner) or not d.state(rank, shape[rank]):
        return None
    return d.make("applied", shape, (d.term(inner, depth, sight),), "maxk", found[0], rank)


@form(1)
def made_of_indices(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """onehot, or an identity."""
    able = [axis for axis, size in shape.items() if not is_generic(size)]
    pairs = [(one, two) for one in able for two in able if one != two and shape[one] == shape[two]]
    if pairs and len(shape) == 2 and d.chance(0.7):
        axes = d.one(sorted(pairs))
        return d.make("made", shape, (), "I", axes) if all(d.state(axis, shape[axis]) for axis in axes) else None
    if not able:
        return None
    axis = d.one(sorted(able))
    rest = {name: size for name, size in shape.items() if name != axis}
    if any(map(is_generic, rest.values())) or not d.state(axis, shape[axis]):
        return None
    return d.make("applied", shape, (d.position(rest, shape[axis], sight),), "onehot", axis)


@form(2)
def summed_over_an_index(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    variable = next((name for name in "ijm" if name not in sight.variables), None)
    if variable is None:
        return None
    sight = replace(sight, variables=(*sight.variables, variable))
    found = d.new_axis(shape)
    if found is not None and d.chance(0.5) and d.fits({**shape, **dict([found])}):
        axis, size = found
        whole = d.term({**shape, axis: size}, depth - 1, sight)
        index = Term("name", (), (variable,))
        part = d.make("index", shape, (whole, index), (axis,), "subscript")
        if d.chance(0.4):
            part = d.make("infix", shape, (part, index), "⊙")
        return d.make("sum over", shape, (part,), "∑", variable, None, None)
    low = d.random.randint(0, 2)
    high = low + d.random.randint(0, 2)
    sight = sight.plus(Leaf(Term("name", (), (variable,)), "whole", low, high))
    part = d.term(shape, depth, sight)
    if d.chance(0.5):
        part = d.make("infix", shape, (part, Term("name", (), (variable,))), d.one("+⊙"))
    return d.make("sum over", shape, (part,), d.one("∑∑∏"), variable, low, high)


@form(4)
def differentiated(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """A derivative, its starred axes summed, or named as what is wanted."""
    able = [
        leaf
        for leaf in sight.leaves
        if leaf.by is not None and count_of(leaf.term.sizes) <= 6 and marks_of(sight, leaf.by) < 2
    ]
    if not able or sight.depth_of_derivatives > 1 or "ax" in d.bound and "marks of ax" in d.known:
        return None
    leaf = d.one(able)
    mark = ("*", "†")[marks_of(sight, leaf.by)]
    marked = {f"{axis}{mark}": size for axis, size in leaf.term.sizes.items()}
    inner = replace(sight, marks=(*sight.marks, (leaf.by, 1)), depth_of_derivatives=sight.depth_of_derivatives + 1)
    if set(marked) & set(shape) or not d.fits({**shape, **marked}):
        return None
    if leaf.term.shape and leaf.term.sizes.items() <= shape.items() and d.chance(0.6):  # named back
        rest = {axis: size for axis, size in shape.items() if axis not in leaf.term.sizes}
        slope = d.make("derivative", {**rest, **marked}, (d.mentioning(rest, depth, inner, leaf),), leaf.by, mark)
        return d.make("rename", shape, (slope,), *((f"{axis}{mark}", axis) for axis in sorted(leaf.term.sizes)))
    whole = {**shape, **marked}
    slope = d.make("derivative", whole, (d.mentioning(shape, depth, inner, leaf),), leaf.by, mark)
    if not marked:
        return slope
    if d.chance(0.5):
        return d.make("over", shape, (slope,), d.one(["∑", "max", "mean"]), tuple(sorted(marked)), None)
    weights = d.leaf(leaf.term.sizes, sight)
    weights = d.make("rename", marked, (weights,), *((axis, f"{axis}{mark}") for axis in sorted(leaf.term.sizes)))
    return d.make("contract", shape, (slope, weights), tuple(sorted(marked)))


def marks_of(sight: Sight, name: str | None) -> int:
    return sum(1 for each, _ in sight.marks if each == name)


def count_of(shape: Shape) -> int:
    return math.prod(2 if is_generic(size) else size for size in shape.values())


def _mentioning(d: Drawing, shape: Shape, depth: int, sight: Sight, leaf: Leaf) -> Term:
    """A term of this shape that names what a derivative is taken by."""
    found = d.term(shape, depth, sight)
    if any(leaf.term == each for each in found.walk()) and d.chance(0.8):
        return found
    have = {axis: size for axis, size in leaf.term.sizes.items() if axis in shape and shape[axis] == size}
    extra = [axis for axis in leaf.term.sizes if axis not in have]
    term = d.term(leaf.term.sizes, depth, sight)
    if not mentions(term, [leaf]):
        power = d.make("power", leaf.term.sizes, (leaf.term, number(d.one([2, 3]))))
        term = power if d.chance(0.5) else d.make("infix", leaf.term.sizes, (term, power), d.one("+⊙"))
    if extra:
        clash = [axis for axis in extra if axis in shape]
        if clash:
            term = d.make("over", {}, (term,), "∑", tuple(leaf.term.sizes), None)
            have = {}
        else:
            term = d.make("over", have, (term,), "∑", tuple(extra), None)
    return d.make("infix", {**shape, **have}, (found, term), d.one("+⊙"))


Drawing.mentioning = _mentioning  # type: ignore[attr-defined]


@form(5)
def called(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """A call, whose arguments have axes besides those of the signature: also such as others of it bind."""
    able = [each for each in sight.functions if fitting(each, shape)]
    if not able:
        return None
    function = d.one(able)
    if function.over:
        return called_over_axes(d, function, shape, depth, sight)
    gives = dict(function.gives if function.gives is not None else function.body.shape)
    sizes = {axis: shape[axis] for axis in gives}  # what this call makes of sizes that the function leaves open
    extra = {axis: size for axis, size in shape.items() if axis not in gives}
    if extra and function.gives is None:
        return None
    arguments = []
    needed = [call_shape(d, own, sizes) for _, own in function.parameters]
    d.called_with |= set(sizes.items())
    where = {axis: [n for n, own in enumerate(needed) if axis not in own] for axis in extra}
    if not all(where.values()):
        return None
    must = {axis: d.one(places) for axis, places in where.items()}
    for place, own in enumerate(needed):
        more = {axis: extra[axis] for axis in extra if place in where[axis] and (must[axis] == place or d.chance(0.4))}
        if not d.fits({**own, **more}):
            return None
        arguments.append(d.term({**own, **more}, depth - (place > 0), sight))
    arguments += [d.term({}, 0, sight) for _ in function.options]
    return d.make("call", shape, tuple(arguments), function.name, (), len(function.options))


def fitting(function: Function, shape: Shape) -> bool:
    gives = dict(function.gives if function.gives is not None else function.body.shape)
    if function.over:
        return bool(shape) or not gives
    return all(axis in shape and (is_generic(size) or shape[axis] == size) for axis, size in gives.items())


def call_shape(d: Drawing, own: tuple, sizes: Shape) -> Shape:
    """The shape of an argument, sizes that the function leaves open being chosen once a call."""
    return {axis: sizes.setdefault(axis, d.sizes.get(axis, 2) if is_generic(size) else size) for axis, size in own}


def axes_within(function: Function) -> set[str]:
    """The axes that a function speaks of."""
    return {axis for each in terms_of((function.body, function.facts)) for axis, _ in each.shape}


def called_over_axes(d: Drawing, function: Function, shape: Shape, depth: int, sight: Sight) -> Term | None:
    keeps = bool(dict(function.gives if function.gives is not None else function.body.shape))
    own = axes_within(function)
    several = 1 if function.of_one_axis or d.chance(0.7) else 2
    if keeps:
        axes = d.random.sample(sorted(shape), min(several, len(shape)))
        inner = shape
    else:
        wider = d.extended(shape, several)
        if wider is None:
            return None
        inner, axes = wider
    meets = set(inner if function.gives is None else axes) & own
    if meets and (function.gives is None or "own axes of g_{ax}" in d.known):
        return None
    parts = [d.term(inner, depth, sight)]
    parts += [d.term({axis: inner[axis] for axis in axes}, 0, sight) for _ in function.parameters[1:]]
    return d.make("call", shape, tuple(parts), function.name, tuple(axes), 0)


# ---------------------------------------------------------------------------------------------------------- statements
def draw_shape(d: Drawing, most: int = 3) -> Shape:
    while True:
        axes = d.random.sample(AXES, d.random.choices([0, 1, 2, 3], [1, 4, 4, 1])[0])
        shape = {axis: d.sizes[axis] for axis in axes[:most]}
        if d.fits(shape):
            return shape


def definition(d: Drawing, sight: Sight, name: str, depth: int) -> tuple[Any, Leaf]:
    """A name for a term, with a claim at times."""
    shape = draw_shape(d)
    term = d.term(shape, depth, sight)
    claim = None
    if d.chance(0.12):
        claim = d.make("negative", shape, (d.make("negative", shape, (term,)),))
    leaf = Leaf(Term("name", (), (name,), shaped(shape)), by=name)
    return Definition(name, term, claim), leaf


def elements(d: Drawing, sight: Sight, name: str, depth: int) -> tuple[Any, Leaf] | None:
    """A definition by elements: every element of an axis computed alone."""
    able = [axis for axis in sight.sized if axis in d.sizes and d.speak_of(axis)]
    if not able:
        return None
    axes = d.random.sample(able, 2 if len(able) > 1 and d.chance(0.3) else 1)
    shape = {axis: size for axis, size in draw_shape(d, 1).items() if axis not in axes}
    over = tuple(zip(axes, "ij"))
    variables = [Leaf(Term("name", (), (variable,)), "whole", 1, d.sizes[axis]) for axis, variable in over]
    inside = replace(sight.plus(*variables), variables=("i", "j"))
    term = d.term(shape, depth, inside)
    axis, variable = over[0]
    at = Term("name", (), (variable,))
    whole = d.leaf({**shape, axis: d.sizes[axis]}, sight)
    back = d.make("infix", {}, (d.make("infix", {}, (Term("size", (), (axis,)), at), "−"), number(1)), "+")
    element = d.make("index", shape, (whole, d.one([at, back])), (axis,), "subscript")
    term = d.make("infix", shape, (term, element), d.one("+⊙"))
    whole_shape = {**shape, **{axis: d.sizes[axis] for axis in axes}}
    return Elements(name, over, term), Leaf(Term("name", (), (name,), shaped(whole_shape)), by=name)


def family(
    d: Drawing, sight: Sight, name: str, index: str, depth: int, sources: tuple[Leaf, ...] = ()
) -> tuple[Any, Leaf]:
    """A recurrence with one or two starts, and at times a member of a family of parameters in its rule.

    `sources` are a function's parameters, one of which its rule names, and its starts where that is right.
    """
    mention = not sources or "start with a parameter" not in d.known
    shape = d.one(sources).term.sizes if sources and d.chance(0.7) else draw_shape(d, 2)
    if not mention:
        shape = {axis: size for axis, size in shape.items() if d.outer.get(axis) == size}
    starts_count = d.one([1, 1, 2])
    low = starts_count + d.one([0, 0, 1]) - (d.one([0, 0, 1]))
    low = max(low, starts_count)
    high = low + d.one([0, 1, 1, 2])
    outside = sight if mention else replace(without_own(sight, sources), sized=())
    starts = []
    bound = d.bound, d.sizes
    if not mention:
        d.bound, d.sizes = {}, d.outer
    for n in range(starts_count):
        start = d.term(shape, int(d.chance(0.5)), outside)
        if start.form == "size" and "size alone" in d.known:
            start = d.shift(start, 0)
        starts.append((low - starts_count + n, start))
    d.bound, d.sizes = bound
    members = [Leaf(Term("member", (), (name, index, -back), shaped(shape))) for back in range(1, starts_count + 1)]
    inside = sight.plus(*members, *members, Leaf(Term("name", (), (index,)), "whole", low, high))
    rule = d.term(shape, depth, replace(inside, variables=(*inside.variables, index)))
    rule = d.make("infix", shape, (rule, members[-1].term), d.one(["+", "−", "⊙"]))
    if sources:
        rule = with_parameter(d, rule, d.one(sources))
    parameters = parameter_family(d, shape, high) if low >= 1 and not sources and d.chance(0.25) else None
    if parameters is not None:
        rule = d.make("infix", shape, (rule, Term("member", (), (parameters, index, 0), shaped(shape))), "+")
    last = None
    if not sources and d.chance(0.2):
        last = d.fresh("L")
        d.inputs.append(Input(last, (), "int", (high,)))
    at = d.random.randint(low, high) if d.chance(0.3) and last is None else high
    found = Family(name, index, tuple(starts), rule, low, high, last)
    return found, Leaf(Term("member", (), (name, None, at), shaped(shape)))


def without_own(sight: Sight, sources: tuple[Leaf, ...]) -> Sight:
    """What is in sight outside of a function: the leaves before its parameters."""
    return replace(sight, leaves=sight.leaves[: sight.leaves.index(sources[0])])


def with_parameter(d: Drawing, term: Term, leaf: Leaf) -> Term:
    """The term and something of the leaf, in the term's shape."""
    sizes = leaf.term.sizes
    axes = tuple(axis for axis in sizes if sizes[axis] != term.sizes.get(axis))
    if any(axis in term.sizes for axis in axes):
        axes = tuple(sizes)
    part = (
        d.make("over", {a: n for a, n in sizes.items() if a not in axes}, (leaf.term,), "mean", axes, None)
        if axes
        else leaf.term
    )
    return d.make("infix", term.sizes | part.sizes, (term, part), "+")


def parameter_family(d: Drawing, shape: Shape, high: int) -> str | None:
    """W^l ∈ ℝ^{…} for l = 1, …, n, its members given."""
    if any(map(is_generic, shape.values())) or len(d.inputs) > 6:
        return None
    name = "WRST"[len(d.parameter_families)]
    for n in range(1, high + 1):
        entries = tuple(d.random.randint(-8, 8) / 4 for _ in range(count(shape)))
        d.inputs.append(Input(f"{name}^{{{n}}}", shaped(shape), d.float, entries, tuple(sorted(shape))))
    d.parameter_families.append((name, tuple(sorted(shape)), high))
    return name


def function(d: Drawing, sight: Sight, name: str, depth: int) -> Function:
    """A function with a signature or without, of fixed or open sizes, with definitions and families of its own."""
    generic = d.chance(0.5)
    own_sizes = dict(d.sizes)
    if not generic and d.chance(0.3):
        own_sizes = {axis: d.random.randint(1, 4) for axis in AXES}
    names = ["X", "Y", "Z"][: d.random.choices([1, 2, 3], [4, 4, 1])[0]]
    parameters = []
    for each in names:
        axes = d.random.sample(AXES, d.random.choices([0, 1, 2], [1, 5, 3])[0])
        shape = {axis: GENERIC + AXES.index(axis) if generic else own_sizes[axis] for axis in axes}
        parameters.append((each, shaped(shape)))
    signature = d.chance(0.8)
    leaves = tuple(Leaf(Term("name", (), (each,), shape), by=each) for each, shape in parameters)
    axes = {axis: size for _, shape in parameters for axis, size in shape}
    inside = replace(sight, sized=tuple(sorted(axes)), leaves=outside_leaves(d, sight))
    options = ("w",) if d.chance(0.15) else ()
    inside = inside.plus(*leaves, *leaves, *(Leaf(Term("name", (), (each,))) for each in options))
    outer, d.sizes, d.bound = d.sizes, {**own_sizes, **axes}, axes
    facts = []
    for n in range(d.random.choices([0, 1, 2], [4, 4, 1])[0]):
        if d.chance(0.5):
            found: Any = family(d, inside, family_name(d, n, name[-1]), "t", depth - 1, leaves)
        else:
            title = f"R_{{{name[-1]}{n}}}" if d.chance(0.7) else "RST"[n]
            shape = d.one([shape for _, shape in parameters])
            term = with_parameter(d, d.term(dict(shape), depth - 1, inside), d.one(leaves))
            found = Definition(title, term), Leaf(Term("name", (), (title,), term.shape), by=title)
        facts.append(found[0])
        inside = inside.plus(found[1], found[1])
    gives = d.subset(axes, 0.5)
    if not d.fits(gives):
        gives = {}
    body = d.term(gives, depth, inside)
    for fact in facts:  # each is needed
        leaf = next(each for each in inside.leaves if each.term.data[0] == fact.name)
        body = with_parameter(d, body, leaf) if not clashing(body, leaf.term) else d.make(
            "infix", body.sizes, (body, d.make("over", {}, (leaf.term,), "∑", tuple(leaf.term.sizes), None)), "+")  # fmt: skip
    body = with_parameter(d, body, leaves[0]) if not mentions(body, leaves) else body
    for option in options:
        body = d.make("infix", body.sizes, (body, Term("name", (), (option,))), "⊙")
    d.sizes, d.bound = outer, {}
    return Function(name, (), tuple(parameters), body, body.shape if signature else None, options, tuple(facts))


SIZED = ("size", "made", "split", "unroll", "pool", "maxk", "argmaxk", "onehot", "iota", "I")


def outside_leaves(d: Drawing, sight: Sight) -> tuple[Leaf, ...]:
    """What a function may name of what is outside."""
    leaves = sight.leaves
    if "derivative through an argument" in d.known:
        leaves = tuple(each._replace(by=None) for each in leaves)
    if "sizes outside" in d.known:
        leaves = tuple(each for each in leaves if each.term.data[0] not in d.speaking)
    return leaves


def speaks_of_sizes(thing: Any) -> bool:
    return isinstance(thing, Elements) or any(
        each.form in SIZED or each.data[:1] and each.data[0] in SIZED for each in terms_of(thing)
    )


def family_name(d: Drawing, place: int, function: str) -> str:
    """Families of two functions have one base, told apart by their labels."""
    letters = ("hpq", "kru", "vyz")[int(function) - 1 if "families of one base" in d.known else 0]
    return f"{letters[place]}_{function}"


def clashing(term: Term, other: Term) -> bool:
    return any(term.sizes.get(axis, size) != size for axis, size in other.shape)


def mentions(term: Term, leaves: Any) -> bool:
    return any(leaf.term == each for each in term.walk() for leaf in leaves)


def function_over_axes(d: Drawing, sight: Sight, name: str, depth: int) -> Function:
    """g_{ax}, which says nothing of the axes that a use names; with ax' it takes one axis."""
    shape = {"ax": GENERIC + 9}
    leaf = Leaf(Term("name", (), ("X",), shaped(shape)), by="X")
    parameters: list[Any] = [("X", shaped(shape))]
    leaves = [leaf, leaf, leaf]
    if d.chance(0.3):
        parameters.append(("Y", shaped(shape)))
        leaves.append(Leaf(Term("name", (), ("Y",), shaped(shape)), by="Y"))
    inside = Sight(leaves=tuple(leaves), sized=("ax",))
    outer, d.sizes, d.bound, d.closed = d.sizes, {**d.sizes, **shape}, shape, True
    facts = []
    if d.chance(0.4):
        title = f"S_{{{name[-1]}}}"
        term = with_parameter(d, d.term(shape, depth - 1, inside), leaf)
        facts.append(Definition(title, term))
        inside = inside.plus(Leaf(Term("name", (), (title,), shaped(shape))))
    gives = shape if d.chance(0.7) else {}
    body = d.term(shape, depth, inside)
    for fact in facts:
        body = d.make("infix", shape, (body, Term("name", (), (fact.name,), shaped(shape))), "+")
    one = d.chance(0.4)
    if one:
        other = {"ax'": GENERIC + 9}
        turned = d.make("rename", other, (leaf.term,), ("ax", "ax'"))
        met = d.make("infix", {**shape, **other}, (turned, leaf.term), d.one("+⊙"))
        body = d.make("infix", shape, (body, d.make("over", shape, (met,), d.one(["∑", "max"]), ("ax'",), None)), "+")
    if not mentions(body, [leaf]):
        body = d.make("infix", shape, (body, leaf.term), "+")
    if not gives:
        body = d.make("over", {}, (body,), d.one(["∑", "max", "norm"]), ("ax",), None)
    one = one or any(each.form == "over" and each.data[0] in ("cumsum", "cumprod", "sort") for each in body.walk())
    one = one or any(
        each.form == "over" and each.data[0] in ("cumsum", "cumprod", "sort") for each in terms_of(tuple(facts))
    )
    one = one or any(each.form in ("derivative", "rename") for each in terms_of((body, tuple(facts))))
    d.sizes, d.bound, d.closed = outer, {}, False
    facts_say = () if "ax in a fact alone" in d.known else (fact.term for fact in facts)
    said = " ".join(map(written, (body, *facts_say)))
    signature = d.chance(0.7) or "ax" not in said.replace("max", "")  # else the subscript is a label
    return Function(name, ("ax",), tuple(parameters), body, shaped(gives) if signature else None, (), tuple(facts), one)


def draw(seed: Any, known: Any = None, depth: int | None = None) -> Program:
    """The program of this seed."""
    for attempt in range(100):
        d = Drawing(f"{seed} {attempt}", known)
        program = drawn(d, depth)
        stated = dict(program.sizes)
        if all(stated.get(axis, size) == size for axis, size in d.called_with):  # what is stated holds in calls too
            return program
    raise AssertionError(f"seed {seed} gives no program")


def drawn(d: Drawing, depth: int | None) -> Program:
    deep = d.one([1, 2, 3, 3, 4]) if depth is None else depth
    leaves = tuple(d.given(draw_shape(d)) for _ in range(d.one([1, 2])))
    if d.chance(0.3):
        leaves += (d.given(draw_shape(d, 1), "whole"),)
    if d.chance(0.2):
        leaves += (d.given({}, d.one(["number", "whole"]), scalar=True),)
    sized = tuple(sorted({axis for each in d.inputs for axis, size in each.shape if d.sizes[axis] == size}))
    sight = Sight(leaves=leaves, sized=sized)
    statements: list[Any] = []
    for n in range(1, d.one([0, 1, 2, 3]) + 1):
        kind = d.random.random()
        if kind < 0.35:
            made = function(d, sight, f"f_{n}", deep)
        elif kind < 0.5:
            made = function_over_axes(d, sight, OVER_AXES[n - 1], deep)
        else:
            found: Any = None
            if kind < 0.65:
                found = elements(d, sight, f"E_{n}", deep - 1)
            elif kind < 0.8:
                found = family(d, sight, f"F_{n}", d.one("tl"), deep - 1)
            found = found or definition(d, sight, f"D_{n}", deep)
            statements.append(found[0])
            sight = sight.plus(found[1], found[1])
            if speaks_of_sizes(found[0]) or names_in(found[0]) & d.speaking:
                d.speaking.add(found[0].name)
            continue
        statements.append(made)
        sight = replace(sight, functions=(*sight.functions, made, made))
    out = d.term(draw_shape(d), deep, sight)
    if d.chance(0.15):
        by = [leaf for leaf in sight.leaves if leaf.by is not None and count_of(leaf.term.sizes) <= 8]
        if by:
            leaf = d.one(by)
            inner = replace(sight, marks=((leaf.by, 1),), depth_of_derivatives=1)
            marked = {f"{axis}*": size for axis, size in leaf.term.sizes.items()}
            body = d.mentioning(draw_shape(d, 1), deep, inner, leaf)  # type: ignore[attr-defined]
            out = d.make("derivative", {**body.sizes, **marked}, (body,), leaf.by, "*")
    for statement in statements:
        if statement not in needed(statements, out) and d.chance(0.9):
            out = naming(d, out, statement, sight)
    statements = needed(statements, out)
    return tidy(
        lifted(d, Program(tuple(d.inputs), shaped(d.stated), tuple(statements), out, tuple(d.parameter_families))),
        d.fixed,
    )


def naming(d: Drawing, out: Term, statement: Any, sight: Sight) -> Term:
    """The term and something that a statement gives, so that none is idle."""
    if not isinstance(statement, Function):
        leaf = next(each for each in sight.leaves if each.term.data[0] == statement.name)
        return with_parameter(d, out, leaf)
    shape = draw_shape(d, 2) | {
        axis: d.sizes.get(axis, 2) if is_generic(size) else size
        for axis, size in (statement.gives if statement.gives is not None else statement.body.shape)
        if not statement.over
    }
    for wanted in (shape, {axis: n for axis, n in shape.items() if axis in dict(statement.body.shape)}):
        only = replace(sight, functions=(statement,))
        call = called(d, wanted, 1, only) if fitting(statement, wanted) else None
        if call is not None:
            return with_parameter(d, out, Leaf(call))
    return out


def names_in(thing: Any) -> set[str]:
    found = {each.data[0] for each in terms_of(thing) if each.form in ("name", "member", "call", "derivative")}
    return found | {
        each.bound
        for each in (thing if isinstance(thing, (list, tuple)) else (thing,))
        if isinstance(each, Family) and each.bound
    }


def needed(statements: list[Any], out: Term) -> list[Any]:
    """Those statements that the value needs, directly or by others; the others are kept at times, for all is checked."""
    wanted, size = names_in(out), -1
    while len(wanted) > size:
        size = len(wanted)
        for each in statements:
            if each.name in wanted:
                wanted |= names_in(each)
    return [each for each in statements if each.name in wanted]


def tidy(program: Program, fixed: Shape) -> Program:
    """Without the inputs that nothing names; what they said of sizes that are spoken of is stated."""
    used = names_in((*program.statements, program.out))
    families = tuple(each for each in program.families if each[0] in used)
    had = {axis for each in program.inputs if each.name in used for axis, _ in each.shape}
    said = {axis: size for axis, size in fixed.items() if axis not in had} | dict(program.sizes)
    members = {f"{name}^{{{n}}}" for name, _, most in families for n in range(1, most + 1)}
    inputs = tuple(each for each in program.inputs if each.name in used | members)
    return replace(program, inputs=inputs, families=families, sizes=shaped(said))


def lifted(d: Drawing, program: Program) -> Program:
    """At times declared inputs are given with a further axis, over which the whole program is mapped."""
    able = [
        each
        for each in program.inputs
        if each.declared is not None and not each.name.endswith("}") and each.dtype not in ("bool", "int", "float")
    ]
    if not able or not d.chance(0.15) or count(program.out.sizes) > 12:
        return program
    chosen = set(d.random.sample([each.name for each in able], d.random.randint(1, min(2, len(able)))))
    inputs = []
    for each in program.inputs:
        if each.name in chosen:
            entries = tuple(
                each.entries[(n * 7 + k) % len(each.entries)] for k in range(2) for n in range(len(each.entries))
            )
            each = replace(each, shape=(("batch", 2), *each.shape), entries=entries)
        inputs.append(each)
    return replace(program, inputs=tuple(inputs))


# ------------------------------------------------------------------------------------------------------------ coverage
def constructs(program: Program) -> Counter:
    """What a program is made of: forms, operators, dtypes, kinds of statements."""
    found: Counter = Counter()
    for term in terms_of(program):
        found[term.form] += 1
        if term.form in ("applied", "prefixed", "over", "infix", "relation", "logic", "property", "made", "sum over"):
            found[str(term.data[0])] += 1
        if term.form == "derivative" and any(each.form == "derivative" for part in term.parts for each in part.walk()):
            found["second derivative"] += 1
    for each in program.inputs:
        found[each.dtype] += 1
        found["lifted input"] += each.shape[:1] == (("batch", 2),)
    for statement in program.statements:
        found[type(statement).__name__] += 1
        if isinstance(statement, Definition) and statement.claim is not None:
            found["claim"] += 1
        if isinstance(statement, Function):
            found["function over axes"] += bool(statement.over)
            found["function without signature"] += statement.gives is None
            found["family in a function"] += any(isinstance(fact, Family) for fact in statement.facts)
            found["definition in a function"] += any(isinstance(fact, Definition) for fact in statement.facts)
    found["family of parameters"] += bool(program.families)
    found["lifted call"] += any(
        term.form == "call" and any(part.shape != own for part, own in zip(term.parts, owned(program, term)))
        for term in terms_of(program)
    )
    return +found


def owned(program: Program, call: Term) -> list:
    return [
        shape
        for statement in program.statements
        if isinstance(statement, Function) and statement.name == call.data[0] and not statement.over
        for _, shape in statement.parameters
    ]
