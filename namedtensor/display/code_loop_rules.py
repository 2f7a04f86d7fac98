"""The table of rules for loops: for each operator, how one element of a term of it is written; see `code_loops`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from ..operators import REGISTRY
from ..terms.terms import Term, resolved_shape
from .code_elements import branches, elementwise, first_of, infix, negative, nested_numbers, number, parameter, through
from .code_libraries import ATOM, INFIX, LOOSE, POWER, PRODUCT, RELATION, SUM, CodeExpression
from .code_loops import Indices, LoopWriter, extents

LoopRule: TypeAlias = Callable[[LoopWriter, Term], CodeExpression]


def joint(text: str, level: int, *codes: CodeExpression, integer: bool = False) -> CodeExpression:
    """An expression made of others: it uses their indices."""
    return CodeExpression(text, (*dict.fromkeys(index for code in codes for index in code.axes),), level, integer)


def count(term: Term) -> int:
    return math.prod(extents(term)[axis] for axis in term.axes)


# ------------------------------------------------------------------------------------------------------------- indices
def plus(index: CodeExpression, by: int) -> CodeExpression:
    """An index moved by a number: i + 1 moved by −1 is i."""
    if index.text.isdigit():
        return CodeExpression(str(int(index.text) + by), integer=True)
    match = re.fullmatch(r"(.*) ([+-]) (\d+)", index.text) if index.level == SUM else None
    base, moved = (match[1], int(match[2] + match[3])) if match else (index.within(SUM), 0)
    moved += by
    text = f"{base} {'-' if moved < 0 else '+'} {abs(moved)}" if moved else base
    return joint(text, SUM if moved or " " in base else ATOM, index, integer=index.integer)


def read_at(indices: Callable[[LoopWriter, Term], Indices]) -> LoopRule:
    """Return the rule of an element of the first argument, which reads it at these indices instead."""
    return lambda w, term: w.code_at(term.arguments[0], {**w.at, **indices(w, term)})


def old_indices(w: LoopWriter, term: Term) -> Indices:
    return {old: w.at[new] for old, new in term.options}


def picked_index(w: LoopWriter, term: Term) -> Indices:
    axis, index = term.options
    return {axis: CodeExpression(str(index), integer=True)}


def position(w: LoopWriter, term: Term) -> Indices:
    index = term.arguments[1]
    code = w.code(index)
    if index.operator != "input" and not code.integer:
        code = joint(f"int({code.text})", ATOM, code)
    return {term.axes[0]: plus(code, -1)}


def merge_indices(w: LoopWriter, term: Term) -> Indices:
    """Return the indices of a and b for an element of (a, b) → c, row by row."""
    old, new = term.options
    sizes, index = extents(term), w.at[new]
    indices, rest = dict[str, CodeExpression](), 1
    for axis in reversed(old):
        block = f" // {rest}" if rest > 1 else ""
        inner = f" % {sizes[axis]}" if axis != old[0] else ""
        indices[axis] = joint(f"{index.within(PRODUCT)}{block}{inner}", PRODUCT, index, integer=True)
        rest *= sizes[axis]
    return indices


def split_index(w: LoopWriter, term: Term) -> Indices:
    old, ((first, _), *others) = term.options
    index = w.at[first]
    for axis, size in others:
        index = scaled(index, int(size), w.at[axis])
    return {old: index}


def scaled(block: CodeExpression, size: int, index: CodeExpression) -> CodeExpression:
    start = block.within(SUM) if size == 1 else f"{block.within(PRODUCT)} * {size}"
    return joint(f"{start} + {index.within(SUM)}", SUM, block, index, integer=True)


def window_index(w: LoopWriter, term: Term) -> Indices:
    axis, kernel = term.axes
    return {axis: scaled(w.at[axis], 1, w.at[kernel])}


def pool_index(w: LoopWriter, term: Term) -> Indices:
    axis, kernel = term.axes
    return {axis: scaled(w.at[axis], resolved_shape(term.shape)[kernel], w.at[kernel])}


def joined(w: LoopWriter, term: Term) -> CodeExpression:
    """X ⊕ Y: of X as far as it goes, then of Y."""
    (axis,) = term.axes
    index, (*earlier, last) = w.at[axis], term.arguments
    start, parts, used = 0, "", [index]
    for argument in earlier:
        code = w.code_at(argument, {**w.at, axis: plus(index, -start)})
        start += resolved_shape(argument.shape)[axis]
        parts += f"{code.within(RELATION)} if {index.text} < {start} else "
        used.append(code)
    code = w.code_at(last, {**w.at, axis: plus(index, -start)})
    return joint(parts + code.within(RELATION), LOOSE, *used, code)


def iota(w: LoopWriter, term: Term) -> CodeExpression:
    (axis,) = term.shape
    return plus(w.at[axis], first_of(term))


def one(w: LoopWriter, term: Term) -> CodeExpression:
    return CodeExpression("1")


def identity(w: LoopWriter, term: Term) -> CodeExpression:
    row, column = (w.at[axis] for axis in term.shape)
    return joint(f"float({row.text} == {column.text})", ATOM, row, column)


def onehot(w: LoopWriter, term: Term) -> CodeExpression:
    code, index = w.code(term.arguments[0]), plus(w.at[term.axes[0]], 1)
    return joint(f"float({code.within(SUM)} == {index.text})", ATOM, code, index)


def constant(w: LoopWriter, term: Term) -> CodeExpression:
    return w.list_of(term, nested_numbers(term))


# --------------------------------------------------------------------------------------------------------- conditions
def around(opens: str, closes: str = "", inside: int = LOOSE, level: int = ATOM) -> LoopRule:
    """The operand, which binds at least as tightly as `inside`, between two texts."""

    def rule(w: LoopWriter, term: Term) -> CodeExpression:
        code = operand(w, term)
        return joint(f"{opens}{code.within(inside)}{closes}", level, code)

    return rule


def cases(w: LoopWriter, term: Term) -> CodeExpression:
    pairs, last = branches(w, term)
    text = "".join(f"{value.within(RELATION)} if {condition.within(RELATION)} else " for value, condition in pairs)
    return joint(text + last.within(RELATION), LOOSE, *(code for pair in pairs for code in pair), last)


# ------------------------------------------------------------------------------------------------------------- totals
def operand(w: LoopWriter, term: Term) -> CodeExpression:
    return w.code(term.arguments[0])


def totaled(
    w: LoopWriter, term: Term, name: str = "total", start: str = "0", step: str = "{0} += {1}",
    element: LoopRule = operand,
) -> CodeExpression:  # fmt: skip
    return w.shared(term, f"{name} {step}", lambda: w.total(term, name, start, step, lambda: element(w, term)))


def reduction(name: str, start: str, step: str) -> LoopRule:
    return lambda w, term: totaled(w, term, name, start, step) if term.axes else operand(w, term)


def contraction(w: LoopWriter, term: Term) -> CodeExpression:
    return totaled(w, term, element=infix) if term.axes else infix(w, term)


def extremum(name: str, start: str, word: str) -> LoopRule:
    over = reduction(word, start, f"{{0}} = {name}({{0}}, {{1}})")

    def rule(w: LoopWriter, term: Term) -> CodeExpression:
        if len(term.arguments) == 1:
            return over(w, term)
        codes = [w.code(argument) for argument in term.arguments]
        return joint(f"{name}({', '.join(code.text for code in codes)})", ATOM, *codes)

    return rule


def mean(w: LoopWriter, term: Term) -> CodeExpression:
    total = totaled(w, term)
    return joint(f"{total.within(PRODUCT)} / {count(term)}", PRODUCT, total)


def deviations(w: LoopWriter, term: Term) -> tuple[CodeExpression, CodeExpression]:
    """The mean, and the mean square of the distances from it, which all elements share."""

    def compute() -> tuple[CodeExpression, CodeExpression]:
        average = w.line(term, "mean", mean(w, term).text)

        def square(w: LoopWriter, term: Term) -> CodeExpression:
            code = operand(w, term)
            return joint(f"({code.within(SUM)} - {average.text})**2", POWER, code)

        total = totaled(w, term, "squares", element=square)
        return average, joint(f"{total.text} / {count(term)}", PRODUCT, total)

    return w.shared(term, "deviations", compute)


def variance(w: LoopWriter, term: Term) -> CodeExpression:
    return deviations(w, term)[1]


def deviation(w: LoopWriter, term: Term) -> CodeExpression:
    return CodeExpression(f"math.sqrt({variance(w, term).text})")


def standardized(w: LoopWriter, term: Term) -> CodeExpression:
    def scale() -> CodeExpression:
        return w.line(term, "deviation", f"math.sqrt({deviations(w, term)[1].text} + {parameter(term)})")

    code, (average, _), deviation = operand(w, term), deviations(w, term), w.shared(term, "scale", scale)
    return joint(f"({code.within(SUM)} - {average.text}) / {deviation.text}", PRODUCT, code, average)


def exponentials(w: LoopWriter, term: Term) -> tuple[CodeExpression, CodeExpression]:
    """The largest number, and the sum of the exponentials of the distances from it, which all elements share."""

    def compute() -> tuple[CodeExpression, CodeExpression]:
        largest = extremum("max", "-math.inf", "largest")(w, term)
        return largest, totaled(w, term, "normalizer", element=lambda w, term: shifted_exponential(w, term, largest))

    return w.shared(term, "exponentials", compute)


def shifted_exponential(w: LoopWriter, term: Term, largest: CodeExpression) -> CodeExpression:
    code = operand(w, term)
    return joint(f"math.exp({code.within(SUM)} - {largest.text})", ATOM, code, largest)


def softmax(w: LoopWriter, term: Term) -> CodeExpression:
    largest, normalizer = exponentials(w, term)
    code = shifted_exponential(w, term, largest)
    return joint(f"{code.text} / {normalizer.text}", PRODUCT, code)


def logsumexp(w: LoopWriter, term: Term) -> CodeExpression:
    largest, normalizer = exponentials(w, term)
    return joint(f"{largest.text} + math.log({normalizer.text})", SUM, largest, normalizer)


def logsoftmax(w: LoopWriter, term: Term) -> CodeExpression:
    (largest, normalizer), code = exponentials(w, term), operand(w, term)
    return joint(f"{code.within(SUM)} - {largest.text} - math.log({normalizer.text})", SUM, code)


def norm(w: LoopWriter, term: Term) -> CodeExpression:
    if parameter(term) != 2:
        raise w.unreadable(term, f"norm with p = {parameter(term)} has no readable form as loops")

    def square(w: LoopWriter, term: Term) -> CodeExpression:
        code = operand(w, term)
        return joint(f"{code.within(ATOM)}**2", POWER, code)

    return CodeExpression(f"math.sqrt({totaled(w, term, element=square).text})")


def chosen_element(extreme: LoopRule) -> LoopRule:
    """argmax and argmin: 1 for the extreme element, shared where several are."""

    def rule(w: LoopWriter, term: Term) -> CodeExpression:
        def compute() -> tuple[CodeExpression, CodeExpression]:
            most = extreme(w, term)

            def equal(w: LoopWriter, term: Term) -> CodeExpression:
                return joint(f"{operand(w, term).within(SUM)} == {most.text}", RELATION, most)

            return most, totaled(w, term, "equal", element=equal)

        (most, equal), code = w.shared(term, "extreme", compute), operand(w, term)
        return joint(f"({code.within(SUM)} == {most.text}) / {equal.text}", PRODUCT, code, most)

    return rule


def running(name: str, start: str, step: str) -> LoopRule:
    """What a loop as far as the element itself makes."""

    def rule(w: LoopWriter, term: Term) -> CodeExpression:
        (axis,) = term.axes
        return w.total(term, name, start, step, lambda: operand(w, term), {axis: plus(w.at[axis], 1).text})

    return rule


SMALLEST, LARGEST = extremum("min", "math.inf", "smallest"), extremum("max", "-math.inf", "largest")
LOOP_RULES: dict[str, Any] = {
    **{record.name: elementwise for record in REGISTRY.values() if record.kind == "elementwise"},
    **dict.fromkeys(INFIX, infix),
    "number": number, "constant": constant, "iota": iota, "identity": identity, "I": identity,
    "ones": one, "negative": negative, "¬": around("not ", "", RELATION, LOOSE), "indicator": around("float(", ")"), "where": cases, "cases": cases,
    "variable": through, "spread": through, "rename": read_at(old_indices), "pick": read_at(picked_index), "index": read_at(position),
    "merge": read_at(merge_indices), "split": read_at(split_index), "unroll": read_at(window_index), "pool": read_at(pool_index), "⊕": joined, "concat": joined, "onehot": onehot, "⊙": contraction, "dot": contraction,
    "juxtaposed": contraction, "∑": reduction("total", "0", "{0} += {1}"), "∏": reduction("product", "1", "{0} *= {1}"),
    "any": reduction("found", "False", "{0} = {0} or {1}"), "all": reduction("every", "True", "{0} = {0} and {1}"),
    "max": LARGEST, "min": SMALLEST, "mean": mean, "var": variance, "std": deviation, "norm": norm, "logsumexp": logsumexp,
    "softmax": softmax, "logsoftmax": logsoftmax, "standardize": standardized, "argmax": chosen_element(LARGEST),
    "argmin": chosen_element(SMALLEST), "cumsum": running("total", "0", "{0} += {1}"), "cumprod": running("product", "1", "{0} *= {1}"),
}  # fmt: skip
