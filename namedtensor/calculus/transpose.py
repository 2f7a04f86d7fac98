"""Linear pieces, back: from how much each number of the result counts to how much each number of the operand does.

A differential is linear in ∂X, being made of few operators: products with what does not depend on X, choices between cases,
and what moves numbers about and adds them. A row of `TRANSPOSE_RULES` is how one of these carries a weight back to an operand.

    t = u ⊙_{key} v      the cotangent c of t makes that of u  c ⊙_{the axes that only v has} v
    t = ∑_{seq} u        that of u is c at each element of seq

Products and choices are of shares (`selection`), so that what is nothing by a choice stays so beside what is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.sizes import resolve
from ..terms.builder import TermBuilder
from ..terms.terms import Term, topological
from . import loops
from .selection import Condition, Selecting, Share, touching, without

Rule = Callable[[TermBuilder, Term, Term, int], Term]


def transpose(
    make: TermBuilder, whole: Term, leaf: Term, shape: Mapping[str, Any], partners: Mapping[str, str]
) -> Term:
    """What each number of `leaf` counts for each number of `whole`, whose axes get the names of their partners."""
    return transposed(make, whole, [leaf], shape, partners)[id(leaf)]


def transposed(
    make: TermBuilder, whole: Term, leaves: Sequence[Term], shape: Mapping[str, Any], partners: Mapping[str, str]
) -> dict[int, Term]:
    """The same for several leaves, by their identities; without those that nothing depends on."""
    select = Selecting(make)
    found = carried_back(select, [(whole, select.seed(shape, partners))], leaves, frozenset(partners.values()))
    return {mark: select.settled(share).term for mark, share in found.items()}


def carried_back(
    select: Selecting, roots: Sequence[tuple[Term, Share]], leaves: Sequence[Term], further: frozenset[str]
) -> dict[int, Share]:
    """The cotangents of leaves, by their identities, from those of roots; `further` are axes that only cotangents have."""
    order, depends = dependent([root for root, _ in roots], leaves)
    ends = {id(leaf) for leaf in leaves}
    counts: dict[int, Share] = {}
    asked: dict[int, list[tuple[Term, Share]]] = {}

    def count(term: Term, more: Share) -> None:
        before = counts.get(id(term))
        counts[id(term)] = more if before is None else select.add(before, more)

    for root, share in roots:
        if id(root) in depends:
            count(root, share)
    for term in reversed(order):
        if id(term) in ends:
            continue
        if term.operator == "loop":
            shares = loops.back(select, term, asked.pop(id(term), ()), depends, carried_back)
        elif (cotangent := counts.pop(id(term), None)) is None:
            continue
        elif term.operator in loops.READING:
            asked.setdefault(id(term.arguments[0]), []).append((term, cotangent))
            continue
        else:
            places = (place for place, each in enumerate(term.arguments) if id(each) in depends)
            shares = {place: back(select, term, cotangent, place) for place in places}
        for place, more in shares.items():
            argument = term.arguments[place]
            if id(argument) in depends:
                axes = [axis for axis in more.term.shape if axis not in argument.shape and axis not in further]
                count(argument, select.sum(more, axes))
    return {mark: counts[mark] for mark in ends if mark in counts}


def dependent(roots: Sequence[Term], leaves: Sequence[Term]) -> tuple[list[Term], set[int]]:
    """The terms that depend on one of the leaves, in order, and their ids."""
    ends = {id(leaf) for leaf in leaves}
    depends, order = {*ends}, []
    for term in topological(*roots):
        if id(term) in ends or any(id(each) in depends for each in term.arguments):
            depends.add(id(term))
            order.append(term)
    return order, depends


# --------------------------------------------------------------------------------------------------- products, choices
def back(select: Selecting, term: Term, cotangent: Share, place: int) -> Share:
    """The cotangent of one argument of a term for the cotangent of the term."""
    rule = BACK.get(term.operator)
    if rule is not None:
        return rule(select, term, cotangent, place)
    return select.moved(
        cotangent, lambda each: TRANSPOSE_RULES[term.operator](select.make, term, each, place), ranged(term)
    )


def _named_back(select: Selecting, term: Term, cotangent: Share, place: int) -> Share:
    return select.rename(cotangent, {new: old for old, new in term.options})


def _product(select: Selecting, term: Term, cotangent: Share, place: int) -> Share:
    own, other = term.arguments[place], term.arguments[1 - place]
    return select.product(cotangent, other, [axis for axis in other.shape if axis not in own.shape])


def _quotient(select: Selecting, term: Term, cotangent: Share, place: int) -> Share:
    return select.quotient(cotangent, term.arguments[1])


def _chosen(select: Selecting, term: Term, cotangent: Share, place: int) -> Share:
    """What counts in this case, nothing in the others."""
    for condition in taken(select, term, place):
        cotangent = select.within(cotangent, select.of(condition))
    return cotangent


def taken(select: Selecting, term: Term, place: int) -> list[Term]:
    """The conditions under which a choice takes one of its values."""
    if term.operator == "where":
        holds = term.arguments[0]
        return [holds if place == 1 else select.make.between("¬", holds)]
    before = [select.make.between("¬", each) for each in term.arguments[1:place:2]]
    return [*before, *term.arguments[place + 1 : place + 2]]


def _picked(select: Selecting, term: Term, cotangent: Share, place: int) -> Share:
    axis, index = term.options
    make = select.make
    return select.product(cotangent, make.onehot(make.number(index + 1), axis, term.arguments[0].shape[axis]), ())


def _indexed(select: Selecting, term: Term, cotangent: Share, place: int) -> Share:
    """Each index adds to its element; elements of several indices get the sum, and what no index picks counts for nothing."""
    make, (whole, at), (axis,) = select.make, term.arguments, term.axes
    over = frozenset(name for name in at.shape if name not in whole.shape)
    touched = touching(cotangent.within, ranged(term))
    settled = select.settled(cotangent, touched)
    found = make.scatter(make.spread(settled.term, term.shape), axis, whole.shape[axis], at, over)

    def picked() -> Term:
        ones = select.indicator(touched, {**at.shape})
        return select.positive(make.scatter(ones, axis, whole.shape[axis], at, over))

    own = frozenset().union(at.shape, *(each.axes for each in touched)) - over | {axis}
    kept = without(settled.within, touched)
    return Share(found, (*kept, Condition(own, picked)), settled.due)


def _trace(select: Selecting, term: Term, cotangent: Share, place: int) -> Share:
    row, column = term.axes
    return select.product(cotangent, select.make.identity(row, column, term.arguments[0].shape[row]), ())


BACK: dict[str, Callable[[Selecting, Term, Share, int], Share]] = {
    "⊙": _product,
    "juxtaposed": _product,
    "/": _quotient,
    "where": _chosen,
    "cases": _chosen,
    "pick": _picked,
    "index": _indexed,
    "trace": _trace,
    "rename": _named_back,
}


def ranged(term: Term) -> frozenset[str]:
    """The axes along which a term moves numbers."""
    if term.operator == "merge":
        sources, target = term.options
        return frozenset((*sources, target))
    if term.operator == "split":
        source, parts = term.options
        return frozenset((source, *(axis for axis, _ in parts)))
    if term.operator in ("pick", "fill"):
        return frozenset(term.options[:1])
    if term.operator == "literal":
        return frozenset(term.options[0])
    if term.operator in INDEXED:
        return frozenset((*term.axes, *term.arguments[1].shape))
    return frozenset(term.axes)


INDEXED = frozenset(("index", "scatter"))  # whose second argument says where


# --------------------------------------------------------------------------------------------------------- arithmetic
def _same(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    return cotangent


def _difference(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    return make.negative(cotangent) if place else cotangent


def _negative(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    return make.negative(cotangent)


# --------------------------------------------------------------------------------------------------------- reductions
def _sum(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    return make.spread(cotangent, {**cotangent.shape, **term.arguments[0].shape})


def _mean(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    total = math.prod(resolve(term.arguments[0].shape[axis]) for axis in term.axes)
    return _sum(make, term, make.between("/", cotangent, make.number(total)), place)


def _cumsum(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    """The sums from each element on: those up to each in the other direction."""
    (axis,) = term.axes
    size = resolve(cotangent.shape[axis])
    turned = make.between("-", make.number(size + 1), make.iota(axis, 1, size))
    up_to = make.term("cumsum", (make.at(cotangent, axis, turned),), term.axes, (), dict(cotangent.shape))
    return make.at(up_to, axis, turned)


# ------------------------------------------------------------------------------------------------- renaming, reshaping
def _spread(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    return cotangent  # summed to the operand's axes by `transpose`


def _merge(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    sources, target = term.options
    shape = term.arguments[0].shape
    return make.split(cotangent, target, tuple((axis, shape[axis]) for axis in sources))


def _split(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    source, parts = term.options
    return make.merge(cotangent, tuple(name for name, _ in parts), source, term.arguments[0].shape[source])


def _joined(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    (axis,) = term.axes
    sizes = [resolve(each.shape[axis]) for each in term.arguments]
    return make.at(cotangent, axis, make.iota(axis, 1 + sum(sizes[:place]), sizes[place]))


def _stacked(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    return make.pick(cotangent, term.axes[0], place)


def _filled(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    axis, positions = term.options
    sizes = [resolve(each.shape[axis]) for each in term.arguments]
    first = sum(sizes[:place])
    places = (position + 1 for position in positions[first : first + sizes[place]])
    return make.at(cotangent, axis, make.constant(axis, places))


def _literal(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    axes, extent = term.options
    for axis, size in reversed([*zip(axes, extent)]):
        place, index = divmod(place, size)
        cotangent = make.pick(cotangent, axis, index)
    return cotangent


# ------------------------------------------------------------------------------------------------- indexing, windows
def _unrolled(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    """An element counts in every window that it lies in: element s is the k-th of the window that begins at s − k + 1."""
    seq, kernel = term.axes
    whole, windows = term.arguments[0].shape[seq], term.shape[seq]
    begin = make.add(
        make.between("-", make.iota(seq, 1, whole), make.iota(kernel, 1, term.shape[kernel])), make.number(1)
    )
    one, last = make.number(1), make.number(resolve(windows))
    inside = make.between("∧", make.between("≥", begin, one), make.between("≤", begin, last))
    places = make.between("where", inside, begin, one)
    found = make.at(cotangent, seq, places)
    return make.sum(make.between("where", inside, found, make.number(0.0)), (kernel,))


def _scattered(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    """Each number counts what the element counts that it is added to."""
    places = term.arguments[1]
    sizes = {name: size for name, size in cotangent.shape.items() if name not in term.axes}
    return make.term("index", (cotangent, places), term.axes, (), {**sizes, **places.shape})


def _pooled(make: TermBuilder, term: Term, cotangent: Term, place: int) -> Term:
    seq, kernel = term.axes
    return make.merge(
        make.rename(cotangent, {seq: f"{seq}@pool"}), (f"{seq}@pool", kernel), seq, term.arguments[0].shape[seq]
    )


TRANSPOSE_RULES: dict[str, Rule] = {
    "+": _same,
    "-": _difference,
    "negative": _negative,
    "∑": _sum,
    "mean": _mean,
    "cumsum": _cumsum,
    "spread": _spread,
    "merge": _merge,
    "split": _split,
    "⊕": _joined,
    "stack": _stacked,
    "fill": _filled,
    "literal": _literal,
    "scatter": _scattered,
    "unroll": _unrolled,
    "pool": _pooled,
}
