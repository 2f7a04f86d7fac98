"""Translate the typed graph to index normal form, with one rule per operator.

The axes of a term are free indices of its form, one per name and size. A defined name remains a single tensor; its
definition is not expanded. A product of identities I_{ax,ax*} replaces ∂X. Terms that depend on ∂X are multiplied out
to remove these identities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from grammar.cache import cached_property

from ..calculus.record_formulas import make_checker
from ..core.sizes import SizeVariable, resolve
from ..operators import REGISTRY
from ..terms.environment import source_name
from ..terms.inference import Inference
from ..terms.terms import Term, topological
from . import algebra
from .applying import apply_operator, own_options
from .definitions import decide_condition, expand, root_of
from .factors import is_function, sole
from .forms import (
    DELTA,
    NUMBER,
    ONE,
    ONE_,
    Form,
    FormIndex,
    NamedValue,
    head,
    indices_of,
    number,
    opened,
    rename_indices,
    single,
    size,
)
from .linearizing import ReadingChecker, change_of
from .work import count_rule, current, tensor

CONSTANTS = {math.pi: "π", math.e: "e", math.inf: "∞"}


class NotReadableError(Exception):
    """Raised for a term that cannot be translated to a form."""

    def __init__(self, term: Term):
        super().__init__("a recurrence" if term.operator == "loop" else term.operator)
        self.term = term


class Forms:
    """A translator from terms to forms. `names` maps the ids of terms to the names that replace these terms."""

    def __init__(self, names: Mapping[int, str], room: int = 12):
        self.names, self.room = names, room
        self.free: dict[tuple[str, Any], FormIndex] = {}
        self.found: dict[int, Form] = {}
        self.changes: dict[str, dict[str, str]] = {}  # The starred axes of each ∂X.
        self.marked: dict[tuple[str, str], FormIndex] = {}  # The index of each starred axis, by its ∂X.
        self.linear: set[int] = set()
        self.cut: list[NamedValue] = []
        self.leaves: dict[str, str] = {}  # Maps inputs to new names.
        self.labels: Mapping[str, str] = {}  # Maps axes to new names.
        self.cut_name = "G"  # The name of the first derivative that has many terms.
        # The keys of nonzero forms and of invertible matrices, provided that all parts have a value.
        self.nonzero: set[Any] = set()

    @cached_property
    def checker(self) -> Inference:
        """Return the checker that types operators' definitions."""
        return make_checker(ReadingChecker)

    def index(self, axis: str, extent: Any) -> FormIndex:
        extent = resolve(extent)
        extent = extent.text if isinstance(extent, SizeVariable) else extent
        index = self.free.get((axis, extent))
        if index is None:
            index = self.free[axis, extent] = FormIndex(source_name(axis), extent)
        return index

    def mark(self, leaf: str, axis: str, extent: Any) -> FormIndex:
        """Return the index for a starred axis of ∂X. Create it on first use."""
        if (leaf, axis) not in self.marked:
            self.marked[leaf, axis] = self.index(axis, extent).fresh()
        return self.marked[leaf, axis]

    def outside(self) -> dict[FormIndex, str]:
        """Return a map from the outside indices to their axes."""
        axes = {index: axis for (_, axis), index in self.marked.items()}
        return axes | {index: axis for (axis, _), index in self.free.items()}

    def indices(self, term: Term, axes: Any = None) -> tuple[FormIndex, ...]:
        return tuple(self.index(axis, term.shape[axis]) for axis in (term.shape if axes is None else axes))

    def of(self, root: Term) -> Form:
        """Return the form of a term. Raise NotReadableError if it cannot be translated."""
        for term in topological(root):
            if (change := change_of(term)) is not None:
                self.changes[change.leaf] = dict(change.marks)
        for term in topological(root):
            if id(term) not in self.found and not isinstance(term.number, bool):  # A constant condition has no form.
                products = self.one(term)
                large = len(products) > self.room and id(term) in self.linear and term is not root
                self.found[id(term)] = self.name_derivative(products) if large else products
        return self.known(root)

    def name_derivative(self, form: Form) -> Form:
        """Give a derivative with many terms a name, and return the name as a form.

        Products with the derivative are then not multiplied out.
        """
        indices = tuple(sorted(indices_of(form), key=NUMBER))
        axes = self.outside()
        source_names = tuple(source_name(axes[index]) for index in indices)
        if len(set(source_names)) < len(source_names):
            return form
        name = f"{self.cut_name}{len(self.cut) + 1}" if self.cut else self.cut_name
        (product,) = tensor(name, source_names, indices)
        self.cut.append(NamedValue(product.factors[0], form))
        return (product,)

    def one(self, term: Term) -> Form:
        if term.operator == "input" and term.options[0] in self.changes:
            self.linear.add(id(term))
            return self.identities(term)
        if any(id(argument) in self.linear for argument in term.arguments):
            self.linear.add(id(term))
        elif id(term) in self.names:
            return self.tensor_named(self.names[id(term)], term)
        if term.operator in RULES:
            return RULES[term.operator](self, term)
        if current().proving and (definition := expand(self, term)) is not None:
            return definition
        if term.operator in REGISTRY:
            return self.operator(REGISTRY[term.operator], term, term.axes)
        if term.operator == "python" and hasattr(term.options[0], "lifted"):
            return self.operator(term.options[0], term, term.options[0].axes)
        raise NotReadableError(term)

    def identities(self, term: Term) -> Form:
        """Return the derivative of X with respect to itself as a product of identity matrices I_{ax,ax*}."""
        products = ONE
        for axis, mark in self.changes[term.options[0]].items():
            pair = self.index(axis, term.shape[axis]), self.mark(term.options[0], mark, term.shape[axis])
            products = algebra.multiply(products, single(DELTA, *pair))
        return products

    def tensor_named(self, name: str, term: Term) -> Form:
        """Return a tensor with this name, with the axes of a term as its indices."""
        return tensor(name, tuple(map(self.label, term.shape)), self.indices(term))

    def label(self, axis: str) -> str:
        return self.labels.get(axis) or source_name(axis)

    def part(self, term: Term, position: int) -> Form:
        return self.known(term.arguments[position])

    def parts(self, term: Term) -> list[Form]:
        return [self.known(argument) for argument in term.arguments]

    def known(self, term: Term) -> Form:
        if id(term) not in self.found:
            raise NotReadableError(term)
        return self.found[id(term)]

    def out(self, one: Term, other: Term | None = None) -> tuple[bool, bool]:
        """Return, for each of two terms, whether its products must be multiplied out because the term contains ∂X."""
        return id(one) in self.linear, other is not None and id(other) in self.linear

    def operator(self, record: Any, term: Term, axes: Sequence[str]) -> Form:
        """Apply an operator over these axes to a term's operands, and return the result as an opaque factor."""
        options = own_options(record, term) if term.operator in REGISTRY else ()
        if not axes:
            return apply_operator(record.name, self.parts(term), options=options)
        lifted = record.lifted_over(len(term.arguments))
        formals = [axes] if lifted.variadic else [(axis,) for axis in axes]
        axes_of = dict(zip(lifted.formals, formals))
        order = {axis: index for index, axis in enumerate(axes)}
        parts, bound, at = [], [], []
        for argument, part, needed in zip(term.arguments, self.parts(term), lifted.inputs):
            for axis in (axis for formal in needed for axis in axes_of[formal]):
                index = self.index(axis, argument.shape[axis])
                fresh = index.fresh()
                part = rename_indices(part, {index: fresh})
                bound.append(fresh)
                at.append(order[axis])
            parts.append(part)
        out = [axis for formal in lifted.output for axis in axes_of[formal]]
        places = tuple(at), tuple(order[axis] for axis in out)
        return apply_operator(record.name, parts, bound, self.indices(term, out), options, places)


# ------------------------------------------------------------------------------------------------------ one rule each
def _number(self: Forms, term: Term) -> Form:
    value = term.options[0]
    if value in CONSTANTS or -value in CONSTANTS:
        products = single(head("constant", CONSTANTS[abs(value)]))
        return products if value > 0 else algebra.scale_form(products, -1)
    if value != value:
        raise NotReadableError(term)
    if not isinstance(value, float):
        return number(value)
    if (root := root_of(value)) is not None:
        return root
    short = Fraction(f"{value:.12g}")  # For example, 1/5 for 1 − 0.8, which is 0.19999999999999996.
    return number(short if abs(float(short) - value) <= 4e-15 * abs(value) else Fraction(repr(value)))


def _input(self: Forms, term: Term) -> Form:
    return self.tensor_named(self.leaves.get(term.options[0]) or term.options[-1], term)


def _unknown(self: Forms, term: Term) -> Form:
    text = term.options[0]
    if text in ("π", "e"):
        return single(head("constant", text))
    return size(text)


def _same(self: Forms, term: Term) -> Form:
    change = change_of(term)
    if change is None:
        return self.part(term, 0)
    marks = {index: axis for (leaf, axis), index in self.marked.items() if leaf == change.leaf}
    return rename_indices(
        self.part(term, 0), {index: self.index(axis, term.shape[axis]) for index, axis in marks.items()}
    )


def _product(self: Forms, term: Term) -> Form:
    left, right = self.parts(term)
    products = algebra.multiply(left, right, self.out(term.arguments[0], term.arguments[1]))
    shapes = {**term.arguments[0].shape, **term.arguments[1].shape}
    return algebra.sum_over(products, [self.index(axis, shapes[axis]) for axis in term.axes])


def _quotient(self: Forms, term: Term) -> Form:
    left, right = self.parts(term)
    if not right:
        raise NotReadableError(term)
    return algebra.multiply(left, algebra.power(right, -ONE_), self.out(term.arguments[0], term.arguments[1]))


def _power(self: Forms, term: Term) -> Form:
    base, exponent = self.parts(term)
    alone = sole(base)
    even = len(exponent) == 1 and not exponent[0].factors and exponent[0].coefficient % 2 == 0
    if even and alone is not None and current().proving and is_function(alone, "abs"):
        count_rule("square of an absolute value")
        (base,) = opened(alone)
    if not exponent or (len(exponent) == 1 and not exponent[0].factors):
        return _raise_form(term, base, exponent[0].coefficient if exponent else Fraction(0))
    if base == single(head("constant", "e")):
        return apply_operator("exp", (exponent,))
    return apply_operator("^", (base, exponent))


def _raise_form(term: Term, base: Form, exponent: Fraction) -> Form:
    try:
        return algebra.power(base, exponent)
    except ArithmeticError:
        raise NotReadableError(term) from None


def _mean(self: Forms, term: Term) -> Form:
    indices = self.indices(term.arguments[0], term.axes)
    count = reduce(algebra.multiply, (size(index.size) for index in indices), ONE)
    return algebra.multiply(
        algebra.sum_over(self.part(term, 0), indices), algebra.power(count, -ONE_), self.out(term.arguments[0])
    )


def _rename(self: Forms, term: Term) -> Form:
    shape = term.arguments[0].shape
    names = {self.index(old, shape[old]): self.index(new, term.shape[new]) for old, new in term.options}
    return rename_indices(self.part(term, 0), names)


def _trace(self: Forms, term: Term) -> Form:
    row, column = self.indices(term.arguments[0], term.axes)
    return algebra.sum_over(rename_indices(self.part(term, 0), {column: row}), [row])


def _index_form(self: Forms, term: Term, at: Form) -> Form:
    """Return the form of X_{ax(i)}.

    If X depends on ∂X, the form is onehot_{ax}(i) ⊙_{ax} X.
    """
    axis = term.axes[0] if term.axes else term.options[0]
    whole = term.arguments[0]
    index = self.index(axis, whole.shape[axis])
    fresh = index.fresh()
    part = rename_indices(self.part(term, 0), {index: fresh})
    if id(whole) in self.linear or current().proving:
        if current().proving:
            count_rule("element")
        chosen = _apply_along("onehot", (at,), (fresh,))
        return algebra.sum_over(algebra.multiply(part, chosen, (True, False)), [fresh])
    return apply_operator("index", (part, at), (fresh,), (), (), ((0,), ()))


def _apply_along(
    operator: str, parts: Sequence[Form], indices: tuple[FormIndex, ...], options: tuple[Any, ...] = ()
) -> Form:
    """Apply an operator that creates the given axes, which its operands lack."""
    return apply_operator(operator, parts, (), indices, options, ((), tuple(range(len(indices)))))


def _iota(self: Forms, term: Term) -> Form:
    first = term.options[0] if term.options and isinstance(term.options[0], int) else 1
    products = _apply_along("iota", (ONE,), self.indices(term, term.axes))
    return products if first == 1 else algebra.add(products, number(first - 1))


def _select_cases(self: Forms, arguments: Sequence[Term]) -> Form:
    """Return the form of cases, without cases that are never selected, such as all cases after a true condition."""
    terms: list[Term] = []
    for value, condition in zip(arguments[::2], arguments[1::2]):
        if (holds := decide_condition(self, condition)) is True:
            terms.append(value)
            break
        if holds is None:
            terms += (value, condition)
    else:
        terms += arguments[len(arguments) // 2 * 2 :]
    if not terms:
        raise NotReadableError(arguments[1])
    forms = [self.known(argument) for argument in terms]
    return forms[0] if len(forms) == 1 else apply_operator("cases", forms)


def _indicator(self: Forms, term: Term) -> Form:
    if (truth := term.arguments[0].number) is not None:
        return ONE if truth else algebra.ZERO
    return apply_operator("indicator", self.parts(term))


def _join_axes(self: Forms, term: Term) -> Form:
    """Return the form of a tensor after a merge of some axes or a split of one axis."""
    whole = term.arguments[0]
    if term.operator == "merge":
        old, new = term.options[0], (term.options[1],)
    else:
        old, new = (term.options[0],), tuple(axis for axis, _ in term.options[1])
    fresh = {index: index.fresh() for index in self.indices(whole, old)}
    part = rename_indices(self.part(term, 0), fresh)
    places = tuple(range(len(old))), tuple(range(len(old), len(old) + len(new)))
    return apply_operator(term.operator, (part,), tuple(fresh.values()), self.indices(term, new), (), places)


def _uniform(self: Forms, term: Term) -> Form:
    """Convert a term for random numbers to a form.

    Raise NotReadableError for the samples of an expectation, which cannot be listed.
    """
    if any(argument.operator == "iota" and argument.axes[0].startswith("draws@") for argument in term.arguments):
        raise NotReadableError(term)
    return self.operator(REGISTRY[term.operator], term, term.axes)


def _constant(self: Forms, term: Term) -> Form:
    axes, extent, numbers = term.options
    if len(numbers) > 64 or len(axes) > 2:
        raise NotReadableError(term)
    return _apply_along("literal", (ONE,), self.indices(term, axes), (extent, tuple(numbers)))


RULES: dict[str, Callable[[Forms, Term], Form]] = {
    "number": _number, "input": _input, "unknown": _unknown, "variable": _same, "spread": _same,
    "+": lambda self, term: algebra.add(*self.parts(term)),
    "-": lambda self, term: algebra.subtract(*self.parts(term)),
    "negative": lambda self, term: algebra.scale_form(self.part(term, 0), -1),
    "sqrt": lambda self, term: _raise_form(term, self.part(term, 0), Fraction(1, 2)),
    "∑": lambda self, term: algebra.sum_over(self.part(term, 0), self.indices(term.arguments[0], term.axes)),
    "⊙": _product, "/": _quotient, "^": _power, "mean": _mean, "rename": _rename, "trace": _trace, "iota": _iota,
    "I": lambda self, term: single(DELTA, *self.indices(term, term.axes)),
    "identity": lambda self, term: single(DELTA, *self.indices(term, term.axes)),
    "index": lambda self, term: _index_form(self, term, self.part(term, 1)),
    "pick": lambda self, term: _index_form(self, term, number(term.options[1] + 1)),
    "onehot": lambda self, term: _apply_along("onehot", self.parts(term), self.indices(term, term.axes)),
    "stack": lambda self, term: _apply_along("stack", self.parts(term), self.indices(term, term.axes)),
    "cases": lambda self, term: _select_cases(self, term.arguments),
    "where": lambda self, term: _select_cases(self, (term.arguments[1], term.arguments[0], *term.arguments[2:])),
    "indicator": _indicator, "merge": _join_axes, "split": _join_axes, "uniform": _uniform, "constant": _constant,
    **dict.fromkeys(
        "= ≠ < ≤ > ≥ ∧ ∨ ¬ odd even".split(), lambda self, term: apply_operator(term.operator, self.parts(term))
    ),
}  # fmt: skip
