"""Linear pieces, on: from how much each number of an operand changes to how much each number of the result does.

t = u ⊙_{key} v      the change d of u makes that of t  d ⊙_{key} v
t = ∑_{seq} u        that of t is ∑_{seq} d
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..terms.builder import TermBuilder
from ..terms.terms import Term
from .selection import Condition, Selecting, Share, joined, touching, without
from .transpose import INDEXED, dependent, ranged

JOINS = frozenset(("fill", "literal", "⊕", "stack"))


def carried_on(
    make: TermBuilder, whole: Term, leaf: Term, shape: Mapping[str, Any], partners: Mapping[str, str]
) -> Term:
    """How much each number of `whole` changes with each number of `leaf`, whose axes get the names of their partners."""
    select, further = Selecting(make), {new: shape[old] for old, new in partners.items()}
    order, depends = dependent([whole], [leaf])
    changes: dict[int, Share] = {id(leaf): select.seed(shape, partners)}
    for term in order:
        if term is not leaf:
            parts = [changes.get(id(each)) for each in term.arguments]
            changes[id(term)] = on(select, term, parts, further)
    return select.settled(changes[id(whole)]).term


def on(select: Selecting, term: Term, parts: list[Share | None], further: Mapping[str, Any]) -> Share:
    """How a term changes with its arguments, of which some do not."""
    rule = ON.get(term.operator)
    if rule is not None:
        return rule(select, term, parts)
    return together(select, term, parts, further)


def _added(select: Selecting, term: Term, parts: list[Share | None]) -> Share:
    one, other = parts
    if one is not None and other is not None:
        return select.add(one, other, term.operator)
    found = one or other
    assert found is not None
    return found._replace(term=select.make.negative(found.term)) if one is None and term.operator == "-" else found


def _times(select: Selecting, term: Term, parts: list[Share | None]) -> Share:
    ((place, share),) = (each for each in enumerate(parts) if each[1] is not None)
    assert share is not None
    return select.product(share, term.arguments[1 - place], term.axes)


def _divided(select: Selecting, term: Term, parts: list[Share | None]) -> Share:
    assert parts[0] is not None
    return select.quotient(parts[0], term.arguments[1])


def _summed(select: Selecting, term: Term, parts: list[Share | None]) -> Share:
    assert parts[0] is not None
    return select.sum(parts[0], term.axes, term.operator)


def _renamed(select: Selecting, term: Term, parts: list[Share | None]) -> Share:
    assert parts[0] is not None
    return select.rename(parts[0], dict(term.options))


ON: dict[str, Callable[[Selecting, Term, list[Share | None]], Share]] = {
    "+": _added,
    "-": _added,
    "⊙": _times,
    "juxtaposed": _times,
    "/": _divided,
    "∑": _summed,
    "mean": _summed,
    "rename": _renamed,
}


def together(select: Selecting, term: Term, parts: list[Share | None], further: Mapping[str, Any]) -> Share:
    """The same done with how the arguments change as with these: what moves, joins and chooses between numbers."""
    make, axes = select.make, ranged(term)
    shares = [each for each in parts if each is not None]
    common = tuple(each for each in shares[0].within if all(each in other.within for other in shares[1:]))
    kept = without(common, touching(common, axes))
    settled = [None if each is None else select.settled(each, without(each.due, kept)) for each in parts]
    fixed = {place for place, each in enumerate(term.arguments) if is_fixed(term, place, each)}
    zero = make.number(0.0)

    def of(given: list[Term], shape: Mapping[str, Any]) -> Term:
        pieces = tuple(term.arguments[place] if place in fixed else each for place, each in enumerate(given))
        return make.term(term.operator, pieces, term.axes, term.options, dict(shape))

    given = [zero if each is None else each.term for each in settled]
    if term.operator in JOINS:
        given = [make.spread(each, {**argument.shape, **further}) for each, argument in zip(given, term.arguments)]
    found = of(given, {**term.shape, **further})
    left = [None if each is None else without(each.within, kept) for each in settled]
    if any(left) or any(each is None and place not in fixed for place, each in enumerate(left)):
        seen = {axis for some in left for each in some or () for axis in each.axes}
        seen |= {axis for place in fixed for axis in term.arguments[place].shape} | axes
        own = {axis: size for axis, size in found.shape.items() if axis in seen}

        def ones() -> Term:
            given = []
            for some, argument in zip(left, term.arguments):
                sizes = {axis: size for axis, size in {**further, **argument.shape}.items() if axis in seen}
                given.append(make.spread(zero, sizes) if some is None else select.indicator(some, sizes))
            return select.positive(of(given, own))

        kept = (*kept, Condition(own, ones))
    return Share(found, kept, joined(*(each.due for each in settled if each is not None)))


def is_fixed(term: Term, place: int, argument: Term) -> bool:
    """Whether an argument says where numbers go, and is none of them."""
    return argument.boolean or (term.operator in INDEXED and place == 1)
