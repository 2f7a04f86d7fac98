"""Rules for loops: for each operator, the code that computes one element of its term. See `code_loops`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from string import Formatter
from typing import NamedTuple, TypeAlias

from ..operators import REGISTRY
from ..terms.terms import Term, resolve_shape
from .code_elements import branches, elementwise, first_of, infix, negative, nest_numbers, number, parameter, through
from .code_libraries import ATOM, INFIX, LOOSE, PRODUCT, SUM, CodeExpression
from .code_loops import Indices, LoopWriter, extents

LoopRule: TypeAlias = Callable[[LoopWriter, Term], CodeExpression]


def joint(text: str, level: int, *codes: CodeExpression, integer: bool = False) -> CodeExpression:
    """Return a template filled with expressions. The result uses the indices of all the expressions."""
    indices = dict.fromkeys(index for code in codes for index in code.axes)
    return CodeExpression(text.format(*codes), (*indices,), level, integer)


# ------------------------------------------------------------------------------------------------------------- indices
def plus(index: CodeExpression, by: int) -> CodeExpression:
    """Return an index increased by a number, in simplified form. For example, i + 1 increased by −1 is i."""
    if index.text.isdigit():
        return CodeExpression(str(int(index.text) + by), integer=True)
    match = re.fullmatch(r"(.*) ([+-]) (\d+)", index.text) if index.level == SUM else None
    base, moved = (match[1], int(match[2] + match[3])) if match else (f"{index:sum}", 0)
    moved += by
    text = f"{base} {'-' if moved < 0 else '+'} {abs(moved)}" if moved else base
    return CodeExpression(text, index.axes, SUM if moved or " " in base else ATOM, index.integer)


def read_at(indices: Callable[[LoopWriter, Term], Indices]) -> LoopRule:
    """Return the rule for an operator that reads elements of its first argument at other indices.

    `indices` returns these indices.
    """
    return lambda w, term: w.code_at(term.arguments[0], {**w.at, **indices(w, term)})


def old_indices(w: LoopWriter, term: Term) -> Indices:
    return {old: w.at[new] for old, new in term.options}


def find_picked_index(w: LoopWriter, term: Term) -> Indices:
    axis, index = term.options
    return {axis: CodeExpression(str(index), integer=True)}


def position(w: LoopWriter, term: Term) -> Indices:
    index = term.arguments[1]
    code = w.code(index)
    if index.operator != "input" and not code.integer:
        code = joint("int({})", ATOM, code)
    return {term.axes[0]: plus(code, -1)}


def merge_indices(w: LoopWriter, term: Term) -> Indices:
    """Return an index for each old axis, given an index of the merged axis, as in (a, b) → c, in row-major order."""
    old, new = term.options
    sizes, index = extents(term), w.at[new]
    indices, rest = dict[str, CodeExpression](), 1
    for axis in reversed(old):
        block = f" // {rest}" if rest > 1 else ""
        inner = f" % {sizes[axis]}" if axis != old[0] else ""
        indices[axis] = joint(f"{{:product}}{block}{inner}", PRODUCT, index, integer=True)
        rest *= sizes[axis]
    return indices


def split_index(w: LoopWriter, term: Term) -> Indices:
    old, ((first, _), *others) = term.options
    index = w.at[first]
    for axis, size in others:
        index = scale_index(index, int(size), w.at[axis])
    return {old: index}


def scale_index(block: CodeExpression, size: int, index: CodeExpression) -> CodeExpression:
    start = "{:sum}" if size == 1 else f"{{:product}} * {size}"
    return joint(f"{start} + {{:sum}}", SUM, block, index, integer=True)


def window_index(w: LoopWriter, term: Term) -> Indices:
    axis, kernel = term.axes
    return {axis: scale_index(w.at[axis], 1, w.at[kernel])}


def pool_index(w: LoopWriter, term: Term) -> Indices:
    axis, kernel = term.axes
    return {axis: scale_index(w.at[axis], resolve_shape(term.shape)[kernel], w.at[kernel])}


def write_concatenation(w: LoopWriter, term: Term) -> CodeExpression:
    """Return the code of an element of X ⊕ Y. It is an element of X for indices within X, and otherwise of Y."""
    (axis,) = term.axes
    index, start, parts, codes = w.at[axis], 0, list[str](), list[CodeExpression]()
    for argument in term.arguments:
        codes.append(w.code_at(argument, {**w.at, axis: plus(index, -start)}))
        start += resolve_shape(argument.shape)[axis]
        parts.append(f"{{:relation}} if {index} < {start} else ")
    return joint("".join(parts[:-1]) + "{:relation}", LOOSE, *codes, index)


def iota(w: LoopWriter, term: Term) -> CodeExpression:
    (axis,) = term.shape
    return plus(w.at[axis], first_of(term))


def identity(w: LoopWriter, term: Term) -> CodeExpression:
    return joint("float({} == {})", ATOM, *(w.at[axis] for axis in term.shape))


def onehot(w: LoopWriter, term: Term) -> CodeExpression:
    return joint("float({:sum} == {})", ATOM, w.code(term.arguments[0]), plus(w.at[term.axes[0]], 1))


# --------------------------------------------------------------------------------------------------------- conditions
def make_template_rule(text: str, level: int = ATOM) -> LoopRule:
    """Return the rule for a unary operator, which fills a template with the operand."""
    return lambda w, term: joint(text, level, w.code(term.arguments[0]))


def cases(w: LoopWriter, term: Term) -> CodeExpression:
    pairs, last = branches(w, term)
    text = "{:relation} if {:relation} else " * len(pairs) + "{:relation}"
    return joint(text, LOOSE, *(code for pair in pairs for code in pair), last)


# ------------------------------------------------------------------------------------------------------------- totals
class Pass(NamedTuple):
    """The computation of a number, such as a maximum, that all elements along the axes share.

    Loops compute the number from the value `start` by applying `step` to each element. If `step` is empty, the
    expression `element` is the number. In templates, {x} is an element, {count} is the number of elements, and {p} is
    the parameter. Any other word is the name of a pass, and is replaced by the result of this pass.
    """

    name: str
    element: str = "{x}"
    start: str = "0"
    step: str = "{0} += {1}"


PASSES = {
    "total": Pass("total"),
    "product": Pass("product", "{x}", "1", "{0} *= {1}"),
    "found": Pass("found", "{x}", "False", "{0} = {0} or {1}"),
    "every": Pass("every", "{x}", "True", "{0} = {0} and {1}"),
    "largest": Pass("largest", "{x}", "-math.inf", "{0} = max({0}, {1})"),
    "smallest": Pass("smallest", "{x}", "math.inf", "{0} = min({0}, {1})"),
    "mean": Pass("mean", "{total} / {count}", step=""),
    "squares": Pass("squares", "({x:sum} - {mean})**2"),
    "deviation": Pass("deviation", "math.sqrt({squares} / {count} + {p})", step=""),
    "total_of_squares": Pass("total", "{x:atom}**2"),
    "normalizer": Pass("normalizer", "math.exp({x:sum} - {largest})"),
    "equal_largest": Pass("equal", "{x:sum} == {largest}"),
    "equal_smallest": Pass("equal", "{x:sum} == {smallest}"),
}
ALONG = {  # code for one element of an operator's result, given the numbers that passes compute
    "∑": "{total}", "∏": "{product}", "any": "{found}", "all": "{every}", "max": "{largest}", "min": "{smallest}",
    "mean": "{total:product} / {count}", "var": "{squares} / {count}", "std": "math.sqrt({squares} / {count})",
    "standardize": "({x:sum} - {mean}) / {deviation}", "norm": "math.sqrt({total_of_squares})",
    "softmax": "math.exp({x:sum} - {largest}) / {normalizer}", "logsumexp": "{largest} + math.log({normalizer})",
    "logsoftmax": "{x:sum} - {largest} - math.log({normalizer})",
    "argmax": "({x:sum} == {largest}) / {equal_largest}", "argmin": "({x:sum} == {smallest}) / {equal_smallest}",
}  # fmt: skip


def fill(w: LoopWriter, term: Term, text: str) -> CodeExpression:
    """Write the passes that a template of `ALONG` or of a pass mentions, and return the filled template."""
    words = dict.fromkeys(word for _, word, _, _ in Formatter().parse(text) if word)
    codes = {word: number_of(w, term, word) for word in words if word in PASSES}
    codes |= {"x": w.code(term.arguments[0])} if "x" in words else {}
    if len(codes) == 1 and text in ("{x}", *(f"{{{word}}}" for word in codes)):
        return next(iter(codes.values()))
    count = math.prod(extents(term)[axis] for axis in term.axes)
    indices = dict.fromkeys(index for code in codes.values() for index in code.axes)
    outside = re.sub(r"\([^()]*\)", "", text)
    level = SUM if re.search(" [+-] ", outside) else PRODUCT if " / " in outside else ATOM
    return CodeExpression(text.format(**codes, count=count, p=parameter(term)), (*indices,), level)


def number_of(w: LoopWriter, term: Term, word: str) -> CodeExpression:
    """Return the result of the pass with this name."""
    name, element, start, step = PASSES[word]
    if not step:
        return w.shared(term, word, lambda: w.line(term, name, fill(w, term, element).text))
    return w.shared(term, word, lambda: w.total(term, name, start, step, lambda: fill(w, term, element)))


def write_along(w: LoopWriter, term: Term) -> CodeExpression:
    if len(term.arguments) > 1:  # of max and min
        codes = [w.code(argument) for argument in term.arguments]
        return joint(f"{term.operator}({', '.join(['{}'] * len(codes))})", ATOM, *codes)
    if term.operator == "norm" and parameter(term) != 2:
        raise w.unreadable(term, f"norm with p = {parameter(term)} has no readable form as loops")
    return fill(w, term, ALONG[term.operator] if term.axes else "{x}")


def contraction(w: LoopWriter, term: Term) -> CodeExpression:
    if not term.axes:
        return infix(w, term)
    name, _, start, step = PASSES["total"]
    return w.shared(term, name, lambda: w.total(term, name, start, step, lambda: infix(w, term)))


def running(w: LoopWriter, term: Term) -> CodeExpression:
    """Return the code for a cumulative sum or product. A loop over the elements up to the current one computes it."""
    (axis,) = term.axes
    name, _, start, step = PASSES["total" if term.operator == "cumsum" else "product"]
    ends = {axis: plus(w.at[axis], 1).text}
    return w.total(term, name, start, step, lambda: w.code(term.arguments[0]), ends)


LOOP_RULES: dict[str, LoopRule] = {
    **{record.name: elementwise for record in REGISTRY.values() if record.kind == "elementwise"},
    **dict.fromkeys(INFIX, infix), **dict.fromkeys(ALONG, write_along), **dict.fromkeys(("cumsum", "cumprod"), running),
    **dict.fromkeys(("⊙", "dot", "juxtaposed"), contraction), **dict.fromkeys(("variable", "spread"), through),
    **dict.fromkeys(("where", "cases"), cases), **dict.fromkeys(("⊕", "concat"), write_concatenation), **dict.fromkeys(("identity", "I"), identity),
    "number": number, "constant": lambda w, term: w.list_of(term, nest_numbers(term)), "iota": iota, "onehot": onehot,
    "ones": lambda w, term: CodeExpression("1"), "negative": negative, "¬": make_template_rule("not {:relation}", LOOSE),
    "indicator": make_template_rule("float({:loose})"), "rename": read_at(old_indices), "pick": read_at(find_picked_index),
    "index": read_at(position), "merge": read_at(merge_indices), "split": read_at(split_index),
    "unroll": read_at(window_index), "pool": read_at(pool_index),
}  # fmt: skip
