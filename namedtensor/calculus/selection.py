"""Mask tangents and cotangents, so that they are zero if their conditions are false.

The derivative of a case expression is the derivative of the selected case. The derivative of a case that is not
selected may be infinite or NaN, and 0 · ∞ is not 0. A mask therefore selects values through where(condition, …, 0)
instead of multiplying them by 0.

    { √x if x > 0; 0 otherwise }     contributes g / (2 √x) if x > 0, and 0 otherwise

A `Share` is a term with masks. There is a mask for each case, for each identity at the start of a derivative, and for
each selection by argmax or an index. Masks pass through operations that only move elements. They are applied at the
end, or before elements with different indices are added. A product with a finite factor (`finiteness`) needs no mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, reduce
from typing import Any, NamedTuple

from grammar.cache import cached_property

from ..operators import REGISTRY
from ..terms.builder import TermBuilder, identities
from ..terms.terms import Term
from .finiteness import Finite, number

Write = Callable[[], Term]


class SelectionMask:
    """The condition under which a masked term may be nonzero. Its term is built on demand.

    If the condition is an identity, `pair` contains its two axes. A `weak` condition states only that some element
    contributed to a sum.
    """

    def __init__(self, axes: Iterable[str], write: Write, pair: tuple[str, ...] = (), weak: bool = False):
        self.axes, self.write, self.pair, self.weak = frozenset(axes), write, pair, weak

    @cached_property
    def term(self) -> Term:
        return self.write()


Conditions = tuple[SelectionMask, ...]


class Share(NamedTuple):
    """A masked term, which is zero unless all masks in `within` are true. Masks in `due` have not been applied yet."""

    term: Term
    within: Conditions = ()
    due: Conditions = ()


def unite_masks(*several: Iterable[SelectionMask]) -> Conditions:
    """Return the union of several sets of masks, in order and without duplicates."""
    return tuple(dict.fromkeys(condition for some in several for condition in some))


def remove_masks(some: Conditions, others: Iterable[SelectionMask]) -> Conditions:
    """Return the masks in `some` that are not in `others`."""
    others = set(others)
    return tuple(condition for condition in some if condition not in others)


def touching(some: Conditions, axes: Iterable[str]) -> Conditions:
    """Return the masks that depend on any of these axes."""
    axes = frozenset(axes)
    return tuple(condition for condition in some if condition.axes & axes)


class Selecting:
    """Operations on masked terms. They correspond to the operations of `TermBuilder` on terms."""

    def __init__(self, make: TermBuilder):
        self.make, self.finite = make, Finite()
        self.known: dict[Any, SelectionMask] = {}

    # ---------------------------------------------------------------------------------------------------- conditions
    def pair(self, row: str, column: str, size: Any) -> SelectionMask:
        """Return the mask that is true at equal positions along the axes `row` and `column`."""
        return self.once(
            (row, column),
            SelectionMask((row, column), lambda: self.positive(self.make.identity(row, column, size)), (row, column)),
        )

    def once(self, key: Any, condition: SelectionMask) -> SelectionMask:
        """Return the mask for a key. If there is none, store the given mask and return it."""
        return self.known.setdefault(key, condition)

    def of(self, condition: Term) -> SelectionMask:
        return self.once(id(condition), SelectionMask(condition.shape, lambda: condition))

    def positive(self, term: Term) -> Term:
        return self.make.between(">", term, self.make.number(0))

    def all_of(self, conditions: Conditions) -> Term:
        """Return the conjunction of several masks as a term."""
        return reduce(partial(self.make.between, "∧"), [condition.term for condition in conditions])

    def indicator(self, conditions: Conditions, shape: Any) -> Term:
        """Return a term that is 1 at positions that satisfy all masks, and 0 elsewhere.

        It has the axes of the shape and the masks.
        """
        term = self.make.number(1)
        if conditions:
            holds = self.all_of(conditions)
            term = self.make.term("indicator", (holds,), shape=dict(holds.shape))
        return self.make.spread(term, shape)

    def selector(self, term: Term) -> SelectionMask | None:
        """Return the mask of a term that selects elements, such as an identity, or None for any other term."""
        if term.operator == "I":
            row, column = term.axes
            return self.pair(row, column, term.shape[row])
        if term.operator == "indicator":
            return self.of(term.arguments[0])
        picks = term.operator == "cases" and all(number(argument) is not None for argument in term.arguments[::2])
        picks = picks or (term.operator in REGISTRY and REGISTRY[term.operator].picks)
        return self.once(id(term), SelectionMask(term.shape, lambda: self.positive(term))) if picks else None

    def some_of(self, conditions: Conditions, shape: Any, axes: Iterable[str]) -> Conditions:
        """Return the masks that remain after a sum along axes.

        The sum may be nonzero if all masks are true for at least one element along these axes.
        """
        axes = frozenset(axes)
        open_ = [condition for condition in conditions if not self.holds_somewhere(condition, conditions, axes)]
        if not open_:
            return ()
        rest = {axis: size for axis, size in shape.items() if any(axis in condition.axes for condition in open_)}
        over = tuple(axis for axis in rest if axis in axes)

        def write() -> Term:
            return self.make.over("any", self.all_of(tuple(open_)), over)

        return (self.once((*open_, over), SelectionMask(rest.keys() - axes, write, weak=True)),)

    @staticmethod
    def holds_somewhere(one: SelectionMask, conditions: Conditions, axes: frozenset[str]) -> bool:
        """Return whether a mask is certainly true somewhere along the axes.

        This is known for an identity whose axes no other mask has.
        """
        return bool(one.pair) and not any(one.axes & condition.axes for condition in conditions if condition is not one)

    def union(self, one: Conditions, other: Conditions) -> Conditions:
        """Return masks that are true if all masks in `one` or all masks in `other` are true.

        The result contains the common masks, and a single mask that replaces all other masks.
        """
        common = tuple(condition for condition in one if condition in other)
        rest = remove_masks(one, common), remove_masks(other, common)
        if not all(rest):
            return common

        def write() -> Term:
            return self.make.between("∨", *map(self.all_of, rest))

        weak = any(all(condition.weak for condition in some) for some in rest)
        return (
            *common,
            SelectionMask(
                frozenset[str]().union(*(condition.axes for some in rest for condition in some)), write, weak=weak
            ),
        )

    # -------------------------------------------------------------------------------------------------------- shares
    def seed(self, shape: Any, partners: Any) -> Share:
        """Return the masked term at the start of a derivative (see `TermBuilder.seed`)."""
        conditions = tuple(self.pair(axis, partner, shape[axis]) for axis, partner in partners.items())
        return Share(self.make.seed(shape, partners), conditions)

    def where(self, conditions: Conditions, term: Term) -> Term:
        """Return a term that is equal to `term` at positions that satisfy all masks, and 0 elsewhere."""
        zero = self.make.number(0.0)
        if not conditions:
            return term
        holds = self.all_of(conditions)
        if holds.operator == "¬":
            return self.make.between("where", holds.arguments[0], zero, term)
        return self.make.between("where", holds, term, zero)

    def settled(self, share: Share, conditions: Iterable[SelectionMask] | None = None) -> Share:
        """Apply the pending masks to a masked term, or only the pending masks among `conditions`."""
        expected = None if conditions is None else set(conditions)
        now = tuple(condition for condition in share.due if expected is None or condition in expected)
        return Share(self.where(now, share.term), share.within, remove_masks(share.due, now))

    def add(self, one: Share, other: Share, sign: str = "+") -> Share:
        """Add two masked terms. Masks that only one of them has are applied first."""
        common = tuple(condition for condition in one.within if condition in other.within)
        one, other = (self.settled(share, remove_masks(share.due, common)) for share in (one, other))
        term = self.make.between(sign, one.term, other.term)
        return Share(term, self.union(one.within, other.within), unite_masks(one.due, other.due))

    def sum(self, share: Share, axes: Iterable[str], operator: str = "∑") -> Share:
        """Sum a masked term along some axes, or compute its mean."""
        axes = tuple(axes)
        if not axes:
            return share
        touched = touching(share.within, axes)
        share = self.settled(share, touched)
        left = self.some_of(touched, share.term.shape, axes)
        return Share(
            self.make.over(operator, share.term, axes),
            unite_masks(remove_masks(share.within, touched), left),
            share.due,
        )

    def within(self, share: Share, condition: SelectionMask) -> Share:
        """Add a pending mask to a masked term."""
        return Share(share.term, unite_masks(share.within, (condition,)), unite_masks(share.due, (condition,)))

    def quotient(self, share: Share, divisor: Term) -> Share:
        quotient = self.make.between("/", share.term, divisor)
        steady = not share.within or self.finite.reciprocal(divisor)
        return Share(quotient, share.within, share.due if steady else share.within)

    def product(self, share: Share, other: Term, axes: Iterable[str]) -> Share:
        """Return the masked term for share ⊙_{axes} other."""
        axes = tuple(axes)
        return self.contracted(share, other, axes) if axes else self.multiply_shares(share, other)

    def multiply_shares(self, share: Share, other: Term) -> Share:
        times, picks = self.make.times(share.term, other), self.selector(other)
        within, expected = share.within, share.due
        if within and not self.finite(other):
            expected = within
        if picks is not None:
            within = unite_masks(within, (picks,))
            expected = expected if self.finite(share.term) else unite_masks(expected, (picks,))
        return Share(times, within, expected)

    def contracted(self, share: Share, other: Term, axes: tuple[str, ...]) -> Share:
        """Contract a masked term with another term.

        Masks along the summed axes are applied first, unless this creates a larger tensor.
        """
        met = touching(share.within, axes)
        share, picks = self.settled(share, met), self.selector(other)
        conditions = remove_masks(share.within, met)
        expected = conditions if conditions and not self.finite(other) else share.due
        met_or_picked = unite_masks(met, () if picks is None else (picks,))
        within = unite_masks(conditions, self.some_of(met_or_picked, {**share.term.shape, **other.shape}, axes))
        if identities(share.term) is not None and all(condition.pair for condition in met):
            return Share(self.make.dot(share.term, other, axes), within, expected)
        masks = tuple(
            condition for condition in met if condition.axes <= other.shape.keys() and self.is_due(condition, other)
        )
        spoils = not self.finite(other) and bool(remove_masks(met, masks))
        spoilt = picks is not None and not self.finite(share.term)
        term = self.where(masks, other)
        if spoils or spoilt:
            result = self.multiply_counting(share.term, met, term, picks, axes)
        else:
            result = self.make.dot(share.term, term, axes)
        return Share(result, within, expected)

    def is_due(self, condition: SelectionMask, other: Term) -> bool:
        """Return whether a mask must be applied because the other factor may be NaN at excluded elements."""
        return number(other) is None and other.operator != "constant" and not (condition.weak and self.finite(other))

    def multiply_counting(
        self, share: Term, within: Conditions, other: Term, picks: SelectionMask | None, axes: tuple[str, ...]
    ) -> Term:
        """Return a sum of products. Infinite or NaN elements affect the sum only if no mask excludes them."""
        make = self.make
        counts = [self.indicator(within, share.shape), self.indicator((), other.shape)]
        if picks is not None:
            counts[1] = self.indicator((picks,), other.shape)
        finite = [self.is_finite(term) for term in (share, other)]
        zero, one = make.number(0.0), make.number(1.0)
        spoilt = [make.between("where", term, zero, one) for term in finite]
        spoils = make.add(
            make.dot(make.times(spoilt[0], counts[0]), counts[1], axes),
            make.dot(counts[0], make.times(spoilt[1], counts[1]), axes),
        )
        left, right = (make.between("where", holds, term, zero) for holds, term in zip(finite, (share, other)))
        return make.between("where", self.positive(spoils), make.dot(share, other, axes), make.dot(left, right, axes))

    def is_finite(self, term: Term) -> Term:
        return self.make.between("<", self.make.between("abs", term), self.make.number(float("inf")))

    # ------------------------------------------------------------------------------------------- numbers moved about
    def rename(self, share: Share, names: dict[str, str]) -> Share:
        within, expected = (
            [self.with_names(condition, names) for condition in some] for some in (share.within, share.due)
        )
        return Share(self.make.rename(share.term, names), tuple(within), tuple(expected))

    def with_names(self, one: SelectionMask, names: dict[str, str]) -> SelectionMask:
        if not one.axes & names.keys():
            return one
        axes, pair = ([names.get(axis, axis) for axis in some] for some in (one.axes, one.pair))
        condition = SelectionMask(axes, lambda: self.make.rename(one.term, names), tuple(pair), one.weak)
        return self.once((one, *sorted(names.items())), condition)

    def moved(self, share: Share, move: Callable[[Term], Term], axes: frozenset[str]) -> Share:
        """Apply an operation that moves elements to a masked term and its masks."""
        touched = touching(share.within, axes)
        share = self.settled(share, touched)
        term, conditions = move(share.term), remove_masks(share.within, touched)
        if touched:
            sizes = {axis: size for axis, size in share.term.shape.items() if axis in axes}
            ones = partial(self.indicator, touched, sizes)
            names = frozenset[str]().union(*(condition.axes for condition in touched)) - axes | (
                axes & term.shape.keys()
            )
            weak = all(condition.weak for condition in touched)
            conditions = (*conditions, SelectionMask(names, lambda: self.positive(move(ones())), weak=weak))
        return Share(term, conditions, share.due)
