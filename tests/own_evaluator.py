"""What a drawn program means, by the definitions of the language and by no code of the package.

A tensor is a dict from records to numbers; a record is a frozenset of pairs of an axis and an index from 1. A function is
its body, evaluated anew for every record of the axes that its arguments have besides those of its signature. A derivative
is the slope along one change for every record of what it is taken by, by dual numbers, which nest. Whole numbers are
Python's. Nothing is fast here, and nothing is shared with the package.

`evaluate` may be told to round after each operation in a way of its own (`Rounding`): the spread of such results is how far
a right answer may be off, and `UnfitShapesError` says that a program has no answer to compare: a root of −1, numbers out of range.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from drawn_tree import Elements, Family, Function, Input, Program, Shape, Term

Record = frozenset


LONG = 60_000  # numbers computed on the way


class UnfitShapesError(Exception):
    """The program has no value that could be compared."""


@dataclass(frozen=True)
class Tensor:
    shape: Shape
    entries: dict[Record, Any]

    def at(self, record: Record) -> Any:
        """The number at a record, which may have extra axes."""
        return self.entries[Record(pair for pair in record if pair[0] in self.shape)]


def records(shape: Shape) -> list[Record]:
    return [Record(zip(shape, places)) for places in itertools.product(*(range(1, n + 1) for n in shape.values()))]


def tensor_from(shape: Shape, entry: Callable[[Record], Any]) -> Tensor:
    return Tensor(shape, {record: entry(record) for record in records(shape)})


def scalar(value: Any) -> Tensor:
    return Tensor({}, {Record(): value})


def union(shapes: Iterable[Shape]) -> Shape:
    result: Shape = {}
    for shape in shapes:
        for axis, size in shape.items():
            if result.setdefault(axis, size) != size:
                raise AssertionError(f"{axis} is {result[axis]} and {size}: this was drawn wrongly")
    return result


def without(shape: Shape, axes: Iterable[str]) -> Shape:
    return {axis: size for axis, size in shape.items() if axis not in set(axes)}


# ------------------------------------------------------------------------------------------------------- dual numbers
@dataclass(frozen=True)
class Dual:
    """value + slope · ε, for the ε of this tag; both may have an ε of a lower tag."""

    tag: int
    value: Any
    slope: Any


def primal(x: Any) -> Any:
    """The number without its changes, to compare by."""
    while isinstance(x, Dual):
        x = x.value
    if x != x:
        raise UnfitShapesError("no number is compared")
    return x


def parted(x: Any, tag: int) -> tuple[Any, Any]:
    return (x.value, x.slope) if isinstance(x, Dual) and x.tag == tag else (x, 0)


def tag_of(*numbers: Any) -> int:
    return max((x.tag for x in numbers if isinstance(x, Dual)), default=0)


def is_nought(x: Any) -> bool:
    """Surely no change at all; only the whole number 0 says so."""
    return type(x) is int and x == 0


def scaled(slope: Any, factor: Callable[[], Any]) -> Any:
    """factor · slope; where nothing changes, the factor is not asked for, and may not exist."""
    return 0 if is_nought(slope) else times(factor(), slope)


def plus(x: Any, y: Any) -> Any:
    if tag := tag_of(x, y):
        (a, da), (b, db) = parted(x, tag), parted(y, tag)
        return Dual(tag, plus(a, b), plus(da, db))
    return x + y


def times(x: Any, y: Any) -> Any:
    if tag := tag_of(x, y):
        (a, da), (b, db) = parted(x, tag), parted(y, tag)
        return Dual(tag, times(a, b), plus(scaled(da, lambda: b), scaled(db, lambda: a)))
    return x * y


def minus(x: Any, y: Any) -> Any:
    return plus(x, times(-1, y))


def over(x: Any, y: Any) -> Any:
    return times(x, chain(y, lambda a: divide(1, a), lambda a: times(-1, over(1, times(a, a)))))


def divide(x: Any, y: Any) -> Any:
    return x / y if y != 0 else math.nan


def chain(x: Any, function: Callable[[Any], Any], slope: Callable[[Any], Any]) -> Any:
    """A function of one number, and its slope, itself a function of dual numbers."""
    if isinstance(x, Dual):
        return Dual(x.tag, chain(x.value, function, slope), scaled(x.slope, lambda: slope(x.value)))
    return function(x)


def real(function: Callable[[float], float]) -> Callable[[Any], float]:
    def apply(x: Any) -> float:
        try:
            return function(x)
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    return apply


def exp(x: Any) -> Any:
    return chain(x, real(math.exp), exp)


def log(x: Any) -> Any:
    return chain(x, real(math.log), lambda a: over(1, a))


def root(x: Any) -> Any:
    return chain(x, real(math.sqrt), lambda a: over(0.5, root(a)))


def sin(x: Any) -> Any:
    return chain(x, math.sin, cos)


def cos(x: Any) -> Any:
    return chain(x, math.cos, lambda a: times(-1, sin(a)))


def tanh(x: Any) -> Any:
    return chain(x, math.tanh, lambda a: minus(1, square(tanh(a))))


def sinh(x: Any) -> Any:
    return chain(x, real(math.sinh), cosh)


def cosh(x: Any) -> Any:
    return chain(x, real(math.cosh), sinh)


def erf(x: Any) -> Any:
    return chain(x, math.erf, lambda a: times(2 / math.sqrt(math.pi), exp(times(-1, square(a)))))


def square(x: Any) -> Any:
    return times(x, x)


def sign(x: Any) -> Any:
    return (primal(x) > 0) - (primal(x) < 0)


def absolute(x: Any) -> Any:
    return chain(x, abs, sign)


def relu(x: Any) -> Any:
    return chain(x, lambda a: max(a, 0), lambda a: int(primal(a) > 0))


def sigmoid(x: Any) -> Any:
    return over(1, plus(1, exp(times(-1, x))))


def softplus(x: Any) -> Any:
    return chain(x, lambda a: max(a, 0) + math.log1p(math.exp(-abs(a))), sigmoid)


def logsigmoid(x: Any) -> Any:
    return minus(0, softplus(minus(0, x)))


def arctan(x: Any) -> Any:
    return chain(x, math.atan, lambda a: over(1, plus(1, square(a))))


def lgamma(x: Any) -> Any:
    return chain(x, math.lgamma, polygamma(0))


def gamma(x: Any) -> Any:
    return chain(x, real(math.gamma), lambda a: times(gamma(a), polygamma(0)(a)))


def factorial(x: Any) -> Any:
    return gamma(plus(x, 1))


def binomial(n: Any, k: Any) -> Any:
    """Of k from 0 to n, which is all that is drawn."""
    return exp(minus(minus(lgamma(plus(n, 1)), lgamma(plus(k, 1))), lgamma(plus(minus(n, k), 1))))


def polygamma(order: int) -> Callable[[Any], Any]:
    """The derivatives of lgamma after the first: its sums, and what is left of them by Euler and Maclaurin."""

    def value(a: float) -> float:
        far, factor = a + 50, math.factorial(order)
        result = factor * math.fsum((a + k) ** (-order - 1) for k in range(50)) + factor / 2 * far ** (-order - 1)
        result += math.factorial(order - 1) * far**-order if order else -math.log(far)
        for k, number in ((2, 1 / 6), (4, -1 / 30), (6, 1 / 42)):
            result += number * math.factorial(k + order - 1) / math.factorial(k) * far ** (-k - order)
        return result if order % 2 else -result

    return lambda x: chain(x, value, polygamma(order + 1))


def elu(x: Any) -> Any:
    return x if primal(x) > 0 else minus(exp(x), 1)


def leaky_relu(x: Any) -> Any:
    return x if primal(x) > 0 else times(0.01, x)


def gelu(x: Any) -> Any:
    return times(0.5, times(x, plus(1, erf(times(x, math.sqrt(0.5))))))


def gelu_tanh(x: Any) -> Any:
    inner = times(math.sqrt(2 / math.pi), plus(x, times(0.044715, times(x, square(x)))))
    return times(0.5, times(x, plus(1, tanh(inner))))


def power(x: Any, y: Any) -> Any:
    if tag := tag_of(x, y):
        (a, da), (b, db) = parted(x, tag), parted(y, tag)
        from_base = scaled(da, lambda: times(b, power(a, minus(b, 1))))
        from_exponent = scaled(db, lambda: times(log(a), power(a, b)) if primal(a) > 0 else 0)
        return Dual(tag, power(a, b), plus(from_base, from_exponent))
    if isinstance(x, int) and isinstance(y, int) and abs(y) * abs(x).bit_length() > 1000:
        raise UnfitShapesError("a whole number out of range")
    try:
        result = x**y
    except (ZeroDivisionError, OverflowError):
        return math.nan
    return math.nan if isinstance(result, complex) else result


def shared(numbers: list[Any], best: Any) -> Any:
    """The extreme number; where several are, the change is shared, as argmax shares."""
    ties = [x for x in numbers if primal(x) == best]
    if len(ties) == 1 or not any(isinstance(x, Dual) for x in ties):
        return ties[0]
    tag = tag_of(*ties)
    values, slopes = zip(*(parted(x, tag) for x in ties))
    total = slopes[0]
    for slope in slopes[1:]:
        total = plus(total, slope)
    return Dual(tag, shared(list(values), best), times(1 / len(ties), total))


def largest(numbers: list[Any]) -> Any:
    return shared(numbers, max(map(primal, numbers)))


def smallest(numbers: list[Any]) -> Any:
    return shared(numbers, min(map(primal, numbers)))


def clip(x: Any, low: Any, high: Any) -> Any:
    if primal(x) < primal(low):
        return low
    return high if primal(x) > primal(high) else x


ONE = {
    "exp": exp, "log": log, "sqrt": root, "sin": sin, "cos": cos, "tan": lambda x: over(sin(x), cos(x)), "tanh": tanh,
    "sinh": sinh, "cosh": cosh, "abs": absolute, "sign": sign, "floor": lambda x: math.floor(primal(x)),
    "ceil": lambda x: math.ceil(primal(x)), "σ": sigmoid, "sigmoid": sigmoid, "relu": relu, "ReLU": relu, "gelu": gelu,
    "gelu_tanh": gelu_tanh, "silu": lambda x: times(x, sigmoid(x)), "softplus": softplus, "erf": erf,
    "arctan": arctan, "expm1": lambda x: minus(exp(x), 1), "logsigmoid": logsigmoid, "elu": elu, "leaky_relu": leaky_relu,
    "lgamma": lgamma, "digamma": polygamma(0), "polygamma": polygamma(1),
    "Γ": gamma, "factorial": factorial,
}  # fmt: skip
TWO = {
    "+": plus, "−": minus, "⊙": times, "·": times, "/": over, "pow": power, "binom": binomial,
    "max": lambda x, y: largest([x, y]), "min": lambda x, y: smallest([x, y]),
}  # fmt: skip
TRUTHS = {
    "=": lambda x, y: x == y, "≠": lambda x, y: x != y, "<": lambda x, y: x < y, "≤": lambda x, y: x <= y,
    ">": lambda x, y: x > y, "≥": lambda x, y: x >= y,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------- functions of lists
def total(x: list) -> Any:
    result = x[0]
    for element in x[1:]:
        result = plus(result, element)
    return result


def product(x: list) -> Any:
    factors = [abs(primal(factor)) for factor in x]
    if 0 in factors and math.prod(factor for factor in factors if factor) > 1e30:
        raise UnfitShapesError("in another order the product overflows before its factor 0")
    result = x[0]
    for element in x[1:]:
        result = times(result, element)
    return result


def mean(x: list) -> Any:
    return over(total(x), len(x))


def variance(x: list) -> Any:
    center = mean(x)
    return mean([square(minus(element, center)) for element in x])


def norm(x: list, p: Any) -> Any:
    sizes = [absolute(element) for element in x]
    if p == "∞":
        return largest(sizes)
    if all(primal(size) == 0 for size in sizes):
        return 0.0
    if p in (None, 2):
        return root(total([square(element) for element in x]))
    return power(total([power(size, p) for size in sizes]), 1 / p)


def exponentials(x: list) -> list:
    most = max(map(primal, x))
    return [exp(minus(element, most)) for element in x]


def softmax(x: list) -> list:
    powers = exponentials(x)
    return [over(element, total(powers)) for element in powers]


def logsumexp(x: list) -> Any:
    return plus(max(map(primal, x)), log(total(exponentials(x))))


def of_extreme(x: list, extreme: Callable) -> list:
    best = extreme(map(primal, x))
    hits = [primal(element) == best for element in x]
    return [hit / sum(hits) for hit in hits]


def standardize(x: list, eps: Any) -> list:
    center, spread = mean(x), root(plus(variance(x), 1e-5 if eps is None else eps))
    return [over(minus(element, center), spread) for element in x]


def running(join: Callable) -> Callable:
    return lambda x, _: list(itertools.accumulate(x, join))


def deviation(x: list) -> Any:
    spread = variance(x)
    return 0.0 if primal(spread) == 0 else root(spread)


# Each takes the numbers along the axes, in row-major order, and the option.
TO_ONE = {
    "∑": lambda x, _: total(x), "∏": lambda x, _: product(x), "mean": lambda x, _: mean(x), "var": lambda x, _: variance(x),
    "std": lambda x, _: deviation(x), "norm": norm, "max": lambda x, _: largest(x), "min": lambda x, _: smallest(x),
    "logsumexp": lambda x, _: logsumexp(x), "any": lambda x, _: any(x), "all": lambda x, _: all(x),
}  # fmt: skip
TO_LIST = {
    "softmax": lambda x, _: softmax(x), "logsoftmax": lambda x, _: [minus(element, logsumexp(x)) for element in x],
    "argmax": lambda x, _: of_extreme(x, max), "argmin": lambda x, _: of_extreme(x, min), "standardize": standardize,
    "cumsum": running(plus), "cumprod": running(times), "sort": lambda x, _: sorted(x, key=primal),
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- rounding
class Rounding:
    """After each operation a number may be off by `eps`, relatively; what few bits hold is not. Also watches the range.

    Whole numbers are exact as far as floats of this precision hold them all, and may go up to `whole`.
    """

    def __init__(self, eps: float = 0.0, seed: int = 0, most: float = 1e50, whole: float = 1e50):
        self.eps, self.most, self.whole = eps, most, whole
        self.exact = 2 / max(eps, 2.3e-16)
        self.random = random.Random(seed)
        self.computed = 0
        self.largest = 0.0  # of the numbers met, and of their slopes

    def __call__(self, tensor: Tensor) -> Tensor:
        self.computed += len(tensor.entries)
        if self.computed > LONG:
            raise UnfitShapesError("it takes long")
        return Tensor(tensor.shape, {record: self.number(entry) for record, entry in tensor.entries.items()})

    def number(self, x: Any) -> Any:
        if isinstance(x, Dual):
            return Dual(x.tag, self.number(x.value), self.number(x.slope))
        if isinstance(x, bool):
            return x
        self.largest = max(self.largest, abs(x))
        if isinstance(x, int):
            if abs(x) > self.whole:
                raise UnfitShapesError("a whole number out of range")
            return x if abs(x) < self.exact or not self.eps else round(x * (1 + self.off()))
        if abs(x) > self.most:
            raise UnfitShapesError("a number out of range")
        if not self.eps or (x * 8).is_integer() and abs(x) < 128:
            return x
        return x * (1 + self.off())

    def off(self) -> float:
        return self.eps * self.random.choice((-1, 1, self.random.uniform(-1, 1)))


# --------------------------------------------------------------------------------------------------------- environments
class Frame:
    """The names in sight: those of a function's call, or of the program."""

    def __init__(self, parent: Frame | None, names: dict[str, Tensor], facts: dict[str, Any], sizes: Shape):
        self.parent, self.names, self.facts, self.sizes = parent, names, facts, sizes
        self.known: dict[Any, Tensor] = {}
        self.asks: dict[Any, set[str]] = {}  # the inputs that a value was computed from

    def top(self) -> Frame:
        return self if self.parent is None else self.parent.top()

    def owner(self, name: str) -> Frame:
        if name in self.names or name in self.facts or self.parent is None:
            return self
        return self.parent.owner(name)

    def inner(self, **names: Tensor) -> Frame:
        return Frame(self, names, {}, {})

    def changed(self, owner: Frame, name: str, value: Tensor) -> Frame:
        """These frames, but for one name; what was computed with it is forgotten."""
        parent = None if self.parent is None else self.parent.changed(owner, name, value)
        names = {**self.names, name: value} if self is owner else self.names
        frame = Frame(parent, names, self.facts, self.sizes)
        frame.asks |= {item: asked for item, asked in self.asks.items() if item in names}
        return frame

    def size(self, axis: str) -> int:
        frame: Frame | None = self
        while frame is not None:
            if axis in frame.sizes:
                return frame.sizes[axis]
            frame = frame.parent
        return self.size(axis.rstrip("*†'")) if axis[-1] in "*†'" else self.missing(axis)

    def missing(self, axis: str) -> int:
        raise AssertionError(f"|{axis}| was drawn where nothing says it")


class Evaluator:
    def __init__(self, program: Program, rounding: Rounding):
        self.program, self.rounding = program, rounding
        self.tags = itertools.count(1)
        self.needed: set[str] = set()  # names of inputs that were asked for
        self.facts = {statement.name: statement for statement in program.statements}

    # --------------------------------------------------------------------------------------------------------- programs
    def value(self) -> Tensor:
        """The value of the program, mapped over the axes that declared inputs which it needs have besides."""
        tensors = {input_.name: tensor_of(input_) for input_ in self.program.inputs}
        extras = {
            input_.name: without(tensors[input_.name].shape, input_.declared or ())
            for input_ in self.program.inputs
            if input_.declared is not None
        }
        results = {record: self.at(record, tensors, extras) for record in records(union(extras.values()))}
        extra = union(shape for name, shape in extras.items() if name in self.needed)
        if extra.keys() < union(extras.values()).keys():
            raise UnfitShapesError("an input is named in vain, so that it is open whether its axes count")
        shape = next(iter(results.values())).shape
        result = {
            frozenset(pair for pair in s if pair[0] in extra) | r: x
            for s, tensor in results.items()
            for r, x in tensor.entries.items()
        }
        return Tensor({**extra, **shape}, result)

    def at(self, record: Record, given: dict[str, Tensor], extras: dict[str, Shape]) -> Tensor:
        """The value at a record of extra axes."""
        names = {name: part(X, record, tuple(without(X.shape, extras.get(name, ())))) for name, X in given.items()}
        sizes: Shape = {}
        for tensor in names.values():
            sizes |= tensor.shape
        return self.term(
            self.program.out, Frame(None, names, self.facts, sizes | dict((*self.program.made, *self.program.sizes)))
        )

    # ------------------------------------------------------------------------------------------------------------ names
    def name(self, name: str, frame: Frame) -> Tensor:
        owner = frame.owner(name)
        if name in owner.names:
            self.needed |= owner.asks.get(name, {name})
            return owner.names[name]
        if name not in owner.known:
            fact = owner.facts[name]
            compute = self.elements if isinstance(fact, Elements) else lambda fact, owner: self.term(fact.term, owner)
            owner.known[name], owner.asks[name] = self.asking(lambda: compute(fact, owner))
        self.needed |= owner.asks[name]
        return owner.known[name]

    def asking(self, compute: Callable[[], Tensor]) -> tuple[Tensor, set[str]]:
        """What is computed, and the inputs that it needs."""
        before, self.needed = self.needed, set()
        tensor = compute()
        asked, self.needed = self.needed, before
        return tensor, asked

    def elements(self, fact: Elements, frame: Frame) -> Tensor:
        """Every element computed alone."""
        shape = {axis: frame.size(axis) for axis, _ in fact.over}
        parts = {}
        for record in records(shape):
            indices = dict(record)
            parts[record] = self.term(fact.term, frame.inner(**{v: scalar(indices[axis]) for axis, v in fact.over}))
        rest = next(iter(parts.values())).shape
        return Tensor({**shape, **rest}, {s | r: x for s, part in parts.items() for r, x in part.entries.items()})

    def member(self, name: str, at: int, frame: Frame) -> Tensor:
        spelling = f"{name}^{{{at}}}"
        if frame.owner(spelling).names.get(spelling) is not None:  # of a family of parameters
            self.needed.add(spelling)
            return frame.owner(spelling).names[spelling]
        owner = frame.owner(name)
        if spelling not in owner.known:
            family: Family = owner.facts[name]
            starts = dict(family.starts)
            for before in range(family.low, at - 3):  # from below, so that nothing nests deeply
                if f"{name}^{{{before}}}" not in owner.known:
                    self.asking(lambda before=before: self.member(name, before, owner))
            inside = owner if at in starts else owner.inner(**{family.index: scalar(at)})
            term = starts.get(at, family.rule)
            owner.known[spelling], owner.asks[spelling] = self.asking(lambda: self.term(term, inside))
        self.needed |= owner.asks[spelling]
        return owner.known[spelling]

    # ------------------------------------------------------------------------------------------------------------ calls
    def call(self, function: Function, axes: tuple[str, ...], parts: tuple[Term, ...], frame: Frame) -> Tensor:
        top = frame.top()
        result = [self.asking(lambda part=part: self.term(part, frame)) for part in parts]
        arguments = [tensor for tensor, _ in result]
        asks = [asked for _, asked in result]
        if function.gives is not None:  # else this is substitution, which asks for what the body mentions
            self.needed = self.needed.union(*asks)
        if function.over:
            return self.over_axes(function, axes, arguments, top, asks)
        if function.gives is None:
            return self.entered(function, arguments, top, asks)
        needed = [tuple(axis for axis, _ in local) for _, local in function.parameters]
        return self.lifted(function, arguments, [*needed, *[()] * len(function.options)], top)

    def lifted(self, function: Function, arguments: list[Tensor], needed: list[tuple[str, ...]], top: Frame) -> Tensor:
        """[f(X, Y)]_s = f(X_s, Y_s), for every record s of the axes that are not needed."""
        extra = union(without(X.shape, names) for X, names in zip(arguments, needed))
        results = {}
        for record in records(extra):
            parts = [part(X, record, names) for X, names in zip(arguments, needed)]
            results[record] = self.entered(function, parts, top)
        shape = next(iter(results.values())).shape
        if set(shape) & set(extra):
            raise AssertionError("an extra axis is an axis of the result: this was drawn wrongly")
        return Tensor({**extra, **shape}, {s | r: x for s, value in results.items() for r, x in value.entries.items()})

    def entered(self, function: Function, arguments: list[Tensor], top: Frame, asks: Iterable[set[str]] = ()) -> Tensor:
        """The body, its parameters being these; |a| is that of an axis of an argument."""
        names = [name for name, _ in function.parameters] + list(function.options)
        sizes: Shape = {}
        for X in arguments:
            sizes |= X.shape
        frame = Frame(top, dict(zip(names, arguments)), {f.name: f for f in function.facts}, sizes)
        frame.asks |= dict(zip(names, asks))
        return self.term(function.body, frame)

    def over_axes(
        self, function: Function, axes: tuple[str, ...], arguments: list[Tensor], top: Frame, asks: list[set[str]]
    ) -> Tensor:
        """g_{a,b}: a and b become one axis, the function's own, and are what they were in the result."""
        (text,) = function.over
        sizes = {axis: next(X.shape[axis] for X in arguments if axis in X.shape) for axis in axes}
        order = records(sizes)
        joined = [merged(X, order, text) for X in arguments]
        needed = [(text,)] * len(joined)
        tensor = (
            self.lifted(function, joined, needed, top)
            if function.gives is not None
            else self.entered(function, joined, top, asks)
        )
        if text not in tensor.shape:
            return tensor
        rest = without(tensor.shape, [text])
        entries = {r | old: tensor.at(r | {(text, n)}) for r in records(rest) for n, old in enumerate(order, 1)}
        return Tensor({**rest, **sizes}, entries)

    # ------------------------------------------------------------------------------------------------------------ terms
    def term(self, term: Term, frame: Frame) -> Tensor:
        terms = TERMS[term.form](self, term, frame)
        exact = term.form in ("name", "member") or term.form == "number" and not isinstance(term.data[0], int)
        large = any(type(x) is int and abs(x) >= self.rounding.exact for x in terms.entries.values())
        return terms if exact and not large else self.rounding(terms)

    def parts(self, term: Term, frame: Frame) -> list[Tensor]:
        return [self.term(part, frame) for part in term.parts]

    def elementwise(self, function: Callable, *tensors: Tensor) -> Tensor:
        shape = union(X.shape for X in tensors)
        return tensor_from(shape, lambda record: function(*(X.at(record) for X in tensors)))


def part(X: Tensor, record: Record, names: tuple[str, ...]) -> Tensor:
    """X at a record of extra axes; an axis that is its parameter's own is not meant by it."""
    rest = without_axes(record, names)
    return tensor_from({axis: X.shape[axis] for axis in names}, lambda r: X.at(r | rest))


def without_axes(record: Record, axes: Iterable[str]) -> Record:
    """A record without some axes."""
    return Record(pair for pair in record if pair[0] not in set(axes))


def tensor_of(given: Input) -> Tensor:
    shape = dict(given.shape)
    return Tensor(shape, dict(zip(records(shape), given.entries)))


# ------------------------------------------------------------------------------------------------- one row for each form
def _number(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    value = term.data[0]
    named = {"π": math.pi, "e": math.e}
    return scalar(value if not isinstance(value, str) else named.get(value) or float(value))


def _member(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    name, index, shift = term.data
    at = shift if index is None else e.name(index, frame).at(Record()) + shift
    return e.member(name, at, frame)


def _element_tensor(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    name, axes = term.data
    shape = {axis: frame.size(axis) for axis in axes}
    if name == "ones":
        return tensor_from(shape, lambda record: 1)
    if name == "iota":
        return tensor_from(shape, lambda record: dict(record)[axes[0]])
    return tensor_from(shape, lambda record: int(dict(record)[axes[0]] == dict(record)[axes[1]]))


def _cases(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    *pairs, otherwise = term.parts
    tests = [e.term(test, frame) for test in pairs[1::2]]
    values = [e.term(value, frame) for value in (*pairs[::2], otherwise)]
    shape = union(X.shape for X in (*tests, *values))

    def entry(record: Record) -> Any:
        return next((X.at(record) for X, test in zip(values, tests) if test.at(record)), values[-1].at(record))

    return tensor_from(shape, entry)


def _truth(function: Callable) -> Callable[[Evaluator, Term, Frame], Tensor]:
    return lambda e, term, frame: e.elementwise(lambda *x: function(term, *map(primal, x)), *e.parts(term, frame))


def _relation(term: Term, x: Any, y: Any) -> bool:
    """Products of whole numbers are floats, which do not tell large ones apart; sums stay whole."""
    most = max(abs(x), abs(y)) if type(x) is type(y) is int else 0
    if most > 2**53 and abs(x - y) <= 1e-15 * most and not all(map(stays_whole, term.walk())):
        raise UnfitShapesError("whole numbers are compared that double precision does not tell apart")
    return TRUTHS[term.data[0]](x, y)


def stays_whole(term: Term) -> bool:
    """Whether whole numbers stay such in this step, however large."""
    if term.form == "infix":
        return term.data[0] in ("+", "−")
    return term.form in ("relation", "name", "member", "number", "literal", "negative", "rename")


def _logic(term: Term, *truths: bool) -> bool:
    sign = term.data[0]
    return not truths[0] if sign == "¬" else all(truths) if sign == "∧" else any(truths)


def _over(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    name, axes, option = term.data
    (X,) = e.parts(term, frame)
    along = {axis: X.shape[axis] for axis in axes}
    order = records(along)
    rest = without(X.shape, axes)
    if name in TO_ONE:
        return tensor_from(rest, lambda record: TO_ONE[name]([X.at(record | r) for r in order], option))
    result = {}
    for record in records(rest):
        numbers = TO_LIST[name]([X.at(record | r) for r in order], option)
        result |= {record | r: x for r, x in zip(order, numbers)}
    return Tensor(X.shape, result)


def _contract(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    left, right = e.parts(term, frame)
    (axes,) = term.data
    order = records({axis: left.shape[axis] for axis in axes})
    rest = union([without(left.shape, axes), without(right.shape, axes)])
    return tensor_from(rest, lambda record: total([times(left.at(record | r), right.at(record | r)) for r in order]))


def renamed(X: Tensor, names: dict[str, str]) -> Tensor:
    shape = {names.get(axis, axis): size for axis, size in X.shape.items()}
    entries = {Record((names.get(axis, axis), i) for axis, i in record): x for record, x in X.entries.items()}
    return Tensor(shape, entries)


def _star(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    (X,) = e.parts(term, frame)
    return renamed(X, {axis: f"{axis}{term.data[0]}" for axis in X.shape})


def merged(X: Tensor, order: list[Record], new: str) -> Tensor:
    """One axis whose elements are these records of others."""
    rest = without(X.shape, [axis for axis, _ in order[0]])
    result = {r | {(new, n)}: X.at(r | old) for r in records(rest) for n, old in enumerate(order, 1)}
    return Tensor({**rest, new: len(order)}, result)


def _merge(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    (X,) = e.parts(term, frame)
    axes, new = term.data
    return merged(X, records({axis: X.shape[axis] for axis in axes}), new)


def _split(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    (X,) = e.parts(term, frame)
    old, axes = term.data
    order = records({axis: frame.size(axis) for axis in axes})
    rest = without(X.shape, [old])
    result = {r | new: X.at(r | {(old, n + 1)}) for r in records(rest) for n, new in enumerate(order)}
    return Tensor({**rest, **{axis: frame.size(axis) for axis in axes}}, result)


def _slice(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    (X,) = e.parts(term, frame)
    axis, low, high = term.data
    shape = {**X.shape, axis: high - low + 1}
    return tensor_from(shape, lambda r: X.at(moved(r, axis, dict(r)[axis] + low - 1)))


def moved(record: Record, axis: str, to: int) -> Record:
    return Record((name, to if name == axis else i) for name, i in record)


def _index(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    """All at once; an axis that the operand and the indices share is one axis."""
    axes = term.data[0]
    X, *indices = e.parts(term, frame)
    shape = union([without(X.shape, axes), *(I.shape for I in indices)])

    def entry(record: Record) -> Any:
        at = {axis: primal(I.at(record)) for axis, I in zip(axes, indices)}
        return X.at(without_axes(record, axes) | Record(at.items()))

    return tensor_from(shape, entry)


def _joined(e: Evaluator, axis: str, parts: list[Tensor]) -> Tensor:
    rest = union(without(X.shape, [axis]) for X in parts)
    places = [(X, n) for X in parts for n in range(1, X.shape[axis] + 1)]
    result = {r | {(axis, n)}: X.at(r | {(axis, m)}) for r in records(rest) for n, (X, m) in enumerate(places, 1)}
    return Tensor({**rest, axis: len(places)}, result)


def _literal(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    axes, columns = term.data
    return laid(e.parts(term, frame), axes, [len(term.parts) // columns, columns][-len(axes) :])


def laid(parts: list[Tensor], axes: tuple[str, ...], sizes: list[int]) -> Tensor:
    rest = union(X.shape for X in parts)
    new = dict(zip(axes, sizes))
    result = {r | record: X.at(r) for X, record in zip(parts, records(new)) for r in records(rest)}
    return Tensor({**rest, **new}, result)


def _sum_over(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    sign, variable, low, high = term.data
    if low is None:
        low, high = 1, extent(e, term.parts[0], variable, frame)
    parts = [e.term(term.parts[0], frame.inner(**{variable: scalar(n)})) for n in range(low, high + 1)]
    tensor = parts[0]
    for part in parts[1:]:
        tensor = e.rounding(e.elementwise(plus if sign == "∑" else times, tensor, part))
    return tensor


def extent(e: Evaluator, term: Term, variable: str, frame: Frame) -> int:
    """The size of the axis that a variable indexes."""
    for node in term.walk():
        if node.form == "index" and node.parts[1].form == "name" and node.parts[1].data[0] == variable:
            return e.term(node.parts[0], frame.inner(**{variable: scalar(1)})).shape[node.data[0][0]]
    raise AssertionError("an index that indexes nothing was drawn")


def _derivative(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    """For every record of X, the slope of the value along the change of that one number."""
    name, mark = term.data
    owner = frame.owner(name)
    X = e.name(name, frame)
    tag = next(e.tags)
    result: dict[Record, Any] = {}
    shape: Shape = {}
    for record in records(X.shape):
        entries = {r: Dual(tag, x, 1 if r == record else 0) for r, x in X.entries.items()}
        value = e.term(term.parts[0], frame.changed(owner, name, Tensor(X.shape, entries)))
        shape = value.shape
        marked = Record((f"{axis}{mark}", i) for axis, i in record)
        result |= {r | marked: parted(x, tag)[1] for r, x in value.entries.items()}
    return Tensor({**shape, **{f"{axis}{mark}": size for axis, size in X.shape.items()}}, result)


def _call(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    name, axes, _ = term.data
    return e.call(frame.top().facts[name], axes, term.parts, frame)


def _unroll(e: Evaluator, X: Tensor, seq: str, kernel: str, size: int) -> Tensor:
    shape = {**X.shape, seq: X.shape[seq] - size + 1, kernel: size}
    return tensor_from(shape, lambda r: X.at(moved(without_axes(r, [kernel]), seq, dict(r)[seq] + dict(r)[kernel] - 1)))


def _pool(e: Evaluator, X: Tensor, seq: str, kernel: str, size: int) -> Tensor:
    shape = {**X.shape, seq: X.shape[seq] // size, kernel: size}
    return tensor_from(
        shape, lambda r: X.at(moved(without_axes(r, [kernel]), seq, (dict(r)[seq] - 1) * size + dict(r)[kernel]))
    )


def ranks(X: Tensor, axis: str, record: Record) -> list[int]:
    """Indices along the axis, the largest number first; of equals the first."""
    return sorted(range(1, X.shape[axis] + 1), key=lambda i: -primal(X.at(record | {(axis, i)})))


def _maxk(e: Evaluator, X: Tensor, axis: str, rank: str, size: int) -> Tensor:
    shape = {**without(X.shape, [axis]), rank: size}

    def entry(record: Record) -> Any:
        rest = without_axes(record, [rank])
        return X.at(rest | {(axis, ranks(X, axis, rest)[dict(record)[rank] - 1])})

    return tensor_from(shape, entry)


def _argmaxk(e: Evaluator, X: Tensor, axis: str, rank: str, size: int) -> Tensor:
    def entry(record: Record) -> Any:
        return int(ranks(X, axis, without_axes(record, [rank, axis]))[dict(record)[rank] - 1] == dict(record)[axis])

    return tensor_from({**X.shape, rank: size}, entry)


WINDOWS = {"unroll": _unroll, "pool": _pool, "maxk": _maxk, "argmaxk": _argmaxk}


def _applied(e: Evaluator, term: Term, frame: Frame) -> Tensor:
    name, *axes = term.data
    parts = e.parts(term, frame)
    if name in WINDOWS:
        return WINDOWS[name](e, parts[0], axes[0], axes[1], frame.size(axes[1]))
    if name == "concat":
        return _joined(e, axes[0], parts)
    if name == "stack":
        return laid(parts, (axes[0],), [len(parts)])
    if name == "onehot":
        shape = {**parts[0].shape, axes[0]: frame.size(axes[0])}
        return tensor_from(shape, lambda r: int(primal(parts[0].at(r)) == dict(r)[axes[0]]))
    if name == "clip":
        return e.elementwise(clip, *parts)
    if name == "where":
        return e.elementwise(lambda test, x, y: x if test else y, *parts)
    return e.elementwise(ONE[name] if len(parts) == 1 else TWO[name], *parts)


def _of_one(function: Callable) -> Callable[[Evaluator, Term, Frame], Tensor]:
    return lambda e, term, frame: e.elementwise(function, *e.parts(term, frame))


TERMS: dict[str, Callable[[Evaluator, Term, Frame], Tensor]] = {
    "number": _number,
    "name": lambda e, term, frame: e.name(term.data[0], frame),
    "member": _member,
    "size": lambda e, term, frame: scalar(frame.size(term.data[0])),
    "made": _element_tensor,
    "negative": _of_one(lambda x: times(-1, x)),
    "prefixed": _applied,
    "root": _of_one(root),
    "applied": _applied,
    "infix": lambda e, term, frame: e.elementwise(TWO[term.data[0]], *e.parts(term, frame)),
    "juxtaposed": _of_one(times),
    "power": _of_one(power),
    "cases": _cases,
    "indicator": _of_one(int),
    "relation": _truth(_relation),
    "property": _truth(lambda term, x: x % 2 == (1 if term.data[0] == "odd" else 0)),
    "logic": _truth(_logic),
    "over": _over,
    "contract": _contract,
    "rename": lambda e, term, frame: renamed(e.term(term.parts[0], frame), dict(term.data)),
    "star": _star,
    "merge": _merge,
    "split": _split,
    "slice": _slice,
    "index": _index,
    "concat": lambda e, term, frame: _joined(e, term.data[0], e.parts(term, frame)),
    "literal": _literal,
    "sum over": _sum_over,
    "derivative": _derivative,
    "call": _call,
}


def evaluate(program: Program, rounding: Rounding | None = None) -> Tensor:
    """The value of a drawn program; raises UnfitShapesError where there is none to compare."""
    value = Evaluator(program, rounding or Rounding()).value()
    if any(x != x for x in value.entries.values()):
        raise UnfitShapesError("no number")
    return value
