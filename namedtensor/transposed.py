"""Linear pieces backwards: from how much each number of a result counts, to how much each number of an operand does.

A differential is linear in ∂X, being made of few operators: sums, products with what does not depend on X, and what moves
numbers about. A row of `TRANSPOSED` is how one of them carries a weight back to one of its operands.

    t = u ⊙_{key} v      what t counts, g, makes u count g ⊙_{the axes that only v has} v
    t = ∑_{seq} u        u counts g at each element of seq
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .making import Making
from .sizes import known
from .terms import Term, in_order

Rule = Callable[[Making, Term, Term, int], Term]


def carried_back(make: Making, whole: Term, leaf: Term, seed: Term, further: frozenset[str]) -> Term:
    """What each number of `leaf` counts, if those of `whole` count what `seed` says; both carry the `further` axes."""
    order = in_order(whole)
    depends = {id(leaf)}
    for term in order:
        if any(id(each) in depends for each in term.arguments):
            depends.add(id(term))
    counts: dict[int, Term] = {id(whole): seed}
    for term in reversed(order):
        if id(term) not in depends or term is leaf:
            continue
        g = counts.pop(id(term))
        for place, argument in enumerate(term.arguments):
            if id(argument) in depends:
                more = TRANSPOSED[term.operator](make, term, g, place)
                more = make.sum(
                    more, [axis for axis in more.shape if axis not in argument.shape and axis not in further]
                )
                before = counts.get(id(argument))
                counts[id(argument)] = more if before is None else make.add(before, more)
    return counts[id(leaf)]


# --------------------------------------------------------------------------------------------------------- arithmetic
def _same(make: Making, term: Term, g: Term, place: int) -> Term:
    return g


def _difference(make: Making, term: Term, g: Term, place: int) -> Term:
    return make.negative(g) if place else g


def _negative(make: Making, term: Term, g: Term, place: int) -> Term:
    return make.negative(g)


def _product(make: Making, term: Term, g: Term, place: int) -> Term:
    own, other = term.arguments[place], term.arguments[1 - place]
    return make.dot(g, other, [axis for axis in other.shape if axis not in own.shape])


def _quotient(make: Making, term: Term, g: Term, place: int) -> Term:
    return make.between("/", g, term.arguments[1])


def _where(make: Making, term: Term, g: Term, place: int) -> Term:
    zero = make.number(0.0)
    return make.between("where", term.arguments[0], *((g, zero) if place == 1 else (zero, g)))


def _cases(make: Making, term: Term, g: Term, place: int) -> Term:
    """What counts in this case, nothing in the others."""
    zero = make.number(0.0)
    pieces = list(term.arguments)
    for other in range(0, len(pieces), 2):
        pieces[other] = g if other == place else zero
    if len(pieces) % 2 == 0:
        pieces.append(zero)
    return make.term("cases", tuple(pieces), (), (), {**term.shape, **g.shape})


# --------------------------------------------------------------------------------------------------------- reductions
def _sum(make: Making, term: Term, g: Term, place: int) -> Term:
    return make.spread(g, {**g.shape, **term.arguments[0].shape})


def _mean(make: Making, term: Term, g: Term, place: int) -> Term:
    total = math.prod(known(term.arguments[0].shape[axis]) for axis in term.axes)
    return _sum(make, term, make.between("/", g, make.number(total)), place)


def _trace(make: Making, term: Term, g: Term, place: int) -> Term:
    row, column = term.axes
    return make.times(g, make.identity(row, column, term.arguments[0].shape[row]))


def _cumsum(make: Making, term: Term, g: Term, place: int) -> Term:
    """The sums from each element on."""
    up_to = make.term("cumsum", (g,), term.axes, (), dict(g.shape))
    return make.add(make.between("-", make.sum(g, term.axes), up_to), g)


# ------------------------------------------------------------------------------------------------- renaming, reshaping
def _rename(make: Making, term: Term, g: Term, place: int) -> Term:
    return make.rename(g, {new: old for old, new in term.options})


def _spread(make: Making, term: Term, g: Term, place: int) -> Term:
    return g  # summed to the operand's axes by `carried_back`


def _merge(make: Making, term: Term, g: Term, place: int) -> Term:
    sources, target = term.options
    shape = term.arguments[0].shape
    return make.split(g, target, tuple((axis, shape[axis]) for axis in sources))


def _split(make: Making, term: Term, g: Term, place: int) -> Term:
    source, parts = term.options
    return make.merge(g, tuple(name for name, _ in parts), source, term.arguments[0].shape[source])


def _joined(make: Making, term: Term, g: Term, place: int) -> Term:
    (axis,) = term.axes
    sizes = [known(each.shape[axis]) for each in term.arguments]
    return make.at(g, axis, make.iota(axis, 1 + sum(sizes[:place]), sizes[place]))


def _stacked(make: Making, term: Term, g: Term, place: int) -> Term:
    return make.pick(g, term.axes[0], place)


def _filled(make: Making, term: Term, g: Term, place: int) -> Term:
    axis, positions = term.options
    sizes = [known(each.shape[axis]) for each in term.arguments]
    first = sum(sizes[:place])
    places = (position + 1 for position in positions[first : first + sizes[place]])
    return make.at(g, axis, make.constant(axis, places))


def _literal(make: Making, term: Term, g: Term, place: int) -> Term:
    axes, extent = term.options
    for axis, size in reversed([*zip(axes, extent)]):
        place, index = divmod(place, size)
        g = make.pick(g, axis, index)
    return g


# ------------------------------------------------------------------------------------------------- indexing, windows
def _picked(make: Making, term: Term, g: Term, place: int) -> Term:
    axis, index = term.options
    return make.times(g, make.onehot(make.number(index + 1), axis, term.arguments[0].shape[axis]))


def _indexed(make: Making, term: Term, g: Term, place: int) -> Term:
    """Each index adds to its element; elements of several indices get the sum."""
    whole, at = term.arguments
    (axis,) = term.axes
    return make.dot(g, make.onehot(at, axis, whole.shape[axis]), [name for name in at.shape if name not in whole.shape])


def _unrolled(make: Making, term: Term, g: Term, place: int) -> Term:
    """An element counts in every window that it lies in: element s is the k-th of the window that begins at s − k + 1."""
    seq, kernel = term.axes
    whole, windows = term.arguments[0].shape[seq], term.shape[seq]
    begin = make.add(
        make.between("-", make.iota(seq, 1, whole), make.iota(kernel, 1, term.shape[kernel])), make.number(1)
    )
    one, last = make.number(1), make.number(known(windows))
    inside = make.between("∧", make.between("≥", begin, one), make.between("≤", begin, last))
    places = make.between("where", inside, begin, one)
    found = make.at(g, seq, places)
    return make.sum(make.between("where", inside, found, make.number(0.0)), (kernel,))


def _pooled(make: Making, term: Term, g: Term, place: int) -> Term:
    seq, kernel = term.axes
    return make.merge(make.rename(g, {seq: f"{seq}@pool"}), (f"{seq}@pool", kernel), seq, term.arguments[0].shape[seq])


TRANSPOSED: dict[str, Rule] = {
    "+": _same,
    "-": _difference,
    "negative": _negative,
    "⊙": _product,
    "juxtaposed": _product,
    "/": _quotient,
    "where": _where,
    "cases": _cases,
    "∑": _sum,
    "mean": _mean,
    "trace": _trace,
    "cumsum": _cumsum,
    "rename": _rename,
    "spread": _spread,
    "merge": _merge,
    "split": _split,
    "⊕": _joined,
    "stack": _stacked,
    "fill": _filled,
    "literal": _literal,
    "pick": _picked,
    "index": _indexed,
    "unroll": _unrolled,
    "pool": _pooled,
}
