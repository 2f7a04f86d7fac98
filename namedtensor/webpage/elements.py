"""Elementwise definitions of terms: one element of a term from elements of its arguments, a rule for each operator that
has one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..display.code_elements import root_of_a_size
from ..operators import REGISTRY
from ..terms.terms import Term

LOOSE, RELATION, SUM, PRODUCT, ATOM = range(5)  # how tightly a piece of text binds
Place = Mapping[str, str]


@dataclass(frozen=True)
class WrittenElement:
    """A piece of text, and how tightly it binds."""

    text: str
    level: int = ATOM

    def within(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"


class ElementWrites(Protocol):
    def element(self, term: Term, at: Place) -> WrittenElement: ...
    def opaque(self, term: Term, at: Place) -> WrittenElement: ...
    def remember(self, term: Term, at: Place, element: WrittenElement) -> WrittenElement: ...
    def total(
        self, term: Term, at: Place, axes: tuple[str, ...], sizes: Mapping[str, int], start: str, grow: str,
        body: Callable[[Place], WrittenElement],
    ) -> WrittenElement: ...  # fmt: skip


Rule = Callable[[ElementWrites, Term, Place], WrittenElement]


# ----------------------------------------------------------------------------------------------------- one element each
def input_element(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    name = str(term.options[-1])
    return WrittenElement(f"{name}[{', '.join(at.values())}]" if at else name)


def number(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    value: Any = term.number
    if isinstance(value, bool):
        return WrittenElement(str(int(value)))
    if math.isnan(value):
        return WrittenElement("undefined")
    root = root_of_a_size(term.node, value)
    if root is not None:
        return WrittenElement(f"√({root})")
    text = "∞" if math.isinf(value) else repr(int(value) if value == int(value) else value).replace("-", "−")
    return WrittenElement(f"−{text}" if value == -math.inf else text, ATOM if value >= 0 else SUM)


def infix(sign: str, level: int, right: int | None = None) -> Rule:
    def rule(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
        first, second = (w.element(argument, at) for argument in term.arguments)
        return WrittenElement(f"{first.within(level)} {sign} {second.within(level if right is None else right)}", level)

    return rule


def function(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    arguments = [w.element(argument, at).text for argument in term.arguments]
    if term.options:
        return w.opaque(term, at)
    return WrittenElement(f"{term.operator}({', '.join(arguments)})")


def before(sign: str, level: int) -> Rule:
    return lambda w, term, at: WrittenElement(f"{sign}{w.element(term.arguments[0], at).within(ATOM)}", level)


def around(opens: str, closes: str) -> Rule:
    return lambda w, term, at: WrittenElement(f"{opens}{w.element(term.arguments[0], at).text}{closes}")


def power(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    base, exponent = (w.element(argument, at) for argument in term.arguments)
    return WrittenElement(f"{base.within(ATOM)}^{exponent.within(ATOM)}", PRODUCT)


def where(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    condition, yes, no = (w.element(argument, at).within(RELATION) for argument in term.arguments)
    return WrittenElement(f"{yes} if {condition} else {no}", LOOSE)


def cases(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    parts = [w.element(argument, at).within(RELATION) for argument in term.arguments]
    if len(parts) % 2 == 0:
        parts.append("undefined")
    part = parts.pop()
    while parts:
        condition, value = parts.pop(), parts.pop()
        part = f"{value} if {condition} else {part}"
    return WrittenElement(part, LOOSE)


# ------------------------------------------------------------------------------------------------------ indices, renamed
def through(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    return w.element(term.arguments[0], at)


def renamed(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    old = {new: old for old, new in term.options}
    return w.element(term.arguments[0], {old.get(axis, axis): index for axis, index in at.items()})


def picked(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    axis, index = term.options
    return w.element(term.arguments[0], {**at, axis: str(index + 1)})


def merged(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    """Of (a, b) → c the element c is that of a and b, row by row."""
    old, new = term.options
    sizes = term.arguments[0].shape
    index, result, rest = bracketed(at[new]), {**at}, 1
    for axis in reversed(old):
        step = f"({index} − 1)" if rest == 1 else f"({index} − 1) div {rest}"
        result[axis] = f"{step} mod {sizes[axis]} + 1" if axis != old[0] else f"{step} + 1"
        rest *= sizes[axis]
    return w.element(term.arguments[0], result)


def split(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    old, parts = term.options
    text = ""
    for axis, size in parts:
        index = at[axis]
        text = f"({text} − 1)·{size} + {bracketed(index)}" if text else bracketed(index)
    return w.element(term.arguments[0], {**at, old: text})


def bracketed(index: str) -> str:
    return f"({index})" if " " in index else index


def iota(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    (index,) = at.values()
    first = term.options[0] if term.options and isinstance(term.options[0], int) else 1
    if first == 1:
        return WrittenElement(index, SUM if " " in index else ATOM)
    return WrittenElement(f"{bracketed(index)} {'+' if first > 1 else '−'} {abs(first - 1)}", SUM)


def identity(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    row, column = (at[axis] for axis in term.axes)
    return WrittenElement(f"𝕀[{row} = {column}]")


def onehot(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    (axis,) = term.axes
    return WrittenElement(f"𝕀[{w.element(term.arguments[0], at).within(SUM)} = {at[axis]}]")


def indexed(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    tensor, index = term.arguments
    text = w.element(index, at).text
    return w.element(tensor, {**at, term.axes[0]: text})


def window(between: Callable[[str, str, int], str]) -> Rule:
    def rule(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
        axis, kernel = term.axes
        where = between(bracketed(at[axis]), bracketed(at[kernel]), term.shape[kernel])
        return w.element(term.arguments[0], {**at, axis: where})

    return rule


def joined(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    """X ⊕ Y: of X as far as it goes, then of Y."""
    (axis,) = term.axes
    first, second = term.arguments
    size, index = first.shape[axis], at[axis]
    early = w.element(first, at)
    late = w.element(second, {**at, axis: f"{bracketed(index)} − {size}"})
    return WrittenElement(f"{early.within(SUM)} if {index} ≤ {size} else {late.within(SUM)}", LOOSE)


# --------------------------------------------------------------------------------------------------------------- totals
def extents(term: Term) -> dict[str, Any]:
    return {axis: size for argument in term.arguments for axis, size in argument.shape.items()}


def count(term: Term) -> int:
    result = 1
    for axis in term.axes:
        result *= extents(term)[axis]
    return result


def reduced(start: str, grow: str, body: Callable[[ElementWrites, Term, Place], WrittenElement]) -> Rule:
    """A loop that makes one number of many."""

    def rule(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
        total = w.total(term, at, term.axes, extents(term), start, grow, lambda point: body(w, term, point))
        return w.remember(term, at, total)

    return rule


def operand(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    return w.element(term.arguments[0], at)


def product(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    return infix("·", PRODUCT)(w, term, at)


def contraction(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    return (reduced("0", "{0} += {1}", product) if term.axes else infix("·", PRODUCT))(w, term, at)


def extremum(name: str, start: str) -> Rule:
    over = reduced(start, f"{{0}} = {name}({{0}}, {{1}})", operand)
    return lambda w, term, at: over(w, term, at) if term.axes else function(w, term, at)


def outside(axes: tuple[str, ...], at: Place) -> dict[str, str]:
    return {axis: index for axis, index in at.items() if axis not in axes}


def summed(w: ElementWrites, term: Term, at: Place, of: Callable[[WrittenElement], str]) -> WrittenElement:
    """The sum along the axes of something of each element."""
    rest = outside(term.axes, at)
    return w.total(
        term,
        rest,
        term.axes,
        extents(term),
        "0",
        "{0} += {1}",
        lambda point: WrittenElement(of(operand(w, term, point))),
    )


def mean(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    return w.remember(
        term, at, WrittenElement(f"{summed(w, term, at, lambda element: element.text).text} / {count(term)}", PRODUCT)
    )


def deviations(w: ElementWrites, term: Term, at: Place) -> tuple[WrittenElement, WrittenElement]:
    """The mean, and the mean square of the distances from it."""
    middle = WrittenElement(f"{summed(w, term, at, lambda element: element.text).text} / {count(term)}", PRODUCT)
    squares = summed(w, term, at, lambda element: f"({element.within(SUM)} − {middle.text})^2")
    return middle, WrittenElement(f"{squares.text} / {count(term)}", PRODUCT)


def variance(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    return w.remember(term, at, deviations(w, term, at)[1])


def deviation(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    return w.remember(term, at, WrittenElement(f"√({deviations(w, term, at)[1].text})"))


def standardized(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    middle, square = shared(w, term, at, deviations)
    epsilon = term.options[0] if term.options else dict(REGISTRY["standardize"].options)["eps"]
    return WrittenElement(
        f"({operand(w, term, at).within(SUM)} − {middle.text}) / √({square.text} + {epsilon})", PRODUCT
    )


def shared(w: Any, term: Term, at: Place, make: Callable[..., Any]) -> Any:
    """What all elements along the axes share, computed once in the block where their other indices are known."""
    rest = outside(term.axes, at)
    block = w.blocks[w.depth(rest)]
    mark = ("shared", id(term), *sorted(rest.items()))
    if mark not in block.known:
        block.known[mark] = make(w, term, rest)
    return block.known[mark]


def of_exponentials(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    return summed(w, term, at, lambda element: f"exp({element.text})")


def softmax(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    total = shared(w, term, at, of_exponentials)
    return WrittenElement(f"exp({operand(w, term, at).text}) / {total.text}", PRODUCT)


def logsoftmax(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    total = shared(w, term, at, of_exponentials)
    return WrittenElement(f"{operand(w, term, at).within(SUM)} − log({total.text})", SUM)


def logsumexp(w: ElementWrites, term: Term, at: Place) -> WrittenElement:
    return w.remember(term, at, WrittenElement(f"log({of_exponentials(w, term, at).text})"))


ELEMENTS: dict[str, Rule] = {
    **{record.name: function for record in REGISTRY.values() if record.kind == "elementwise" and record.name.isidentifier()},
    "input": input_element, "number": number, "unknown": lambda w, term, at: WrittenElement(str(term.options[0])),
    "+": infix("+", SUM), "-": infix("−", SUM, PRODUCT), "/": infix("/", PRODUCT, ATOM),
    "negative": before("−", SUM), "sqrt": around("√(", ")"), "indicator": around("𝕀[", "]"), "^": power, "pow": power,
    **{sign: infix(sign, RELATION, SUM) for sign in ("=", "≠", "<", "≤", ">", "≥", "∧", "∨")},
    "where": where, "cases": cases, "variable": through, "rename": renamed, "pick": picked, "merge": merged, "split": split,
    "spread": through, "iota": iota, "identity": identity, "I": identity, "onehot": onehot, "index": indexed,
    "unroll": window(lambda position, kernel, size: f"{position} + {kernel} − 1"),
    "pool": window(lambda position, kernel, size: f"({position} − 1)·{size} + {kernel}"),
    "⊕": joined, "concat": joined, "⊙": contraction, "dot": contraction,
    **dict.fromkeys(("∑", "sum"), reduced("0", "{0} += {1}", operand)),
    **dict.fromkeys(("∏", "prod"), reduced("1", "{0} ·= {1}", operand)),
    "max": extremum("max", "−∞"), "min": extremum("min", "∞"), "mean": mean, "var": variance, "std": deviation,
    "logsumexp": logsumexp, "softmax": softmax, "logsoftmax": logsoftmax, "standardize": standardized,
}  # fmt: skip
