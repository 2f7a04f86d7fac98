"""Transpose linear terms (VJP) and push tangents forward through them, with masks.

A differential is linear in ∂X and contains only three kinds of operators: products with terms that do not depend on X,
choices between cases, and operators that move and add elements. The rule in the operator's record propagates a
cotangent back to an operand. `TRANSPOSE_RULES` contains the rules for structural terms.

    t = u ⊙_{key} v      if t has the cotangent c, u has the cotangent c ⊙_{the axes that only v has} v
    t = ∑_{seq} u        if t has the cotangent c, u has the cotangent c at each element of seq

Products and choices use shares (`selection`), so that excluded elements remain zero even if they are multiplied by
infinity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.sizes import resolve
from ..operators import REGISTRY
from ..terms.builder import TermBuilder
from ..terms.structural import is_joining
from ..terms.terms import Term, topological
from . import loops
from .selection import Selecting, SelectionMask, Share, remove_masks, touching, unite_masks

Rule = Callable[[TermBuilder, Term, Term, int], Term]


def transpose(
    make: TermBuilder, whole: Term, leaf: Term, shape: Mapping[str, Any], partners: Mapping[str, str]
) -> Term:
    """Return the cotangent of `leaf` for one cotangent per element of `whole`, along new axes.

    `partners` maps the axes of `whole` to the new axes.
    """
    return transpose_leaves(make, whole, [leaf], shape, partners)[id(leaf)]


def transpose_leaves(
    make: TermBuilder, whole: Term, leaves: Sequence[Term], shape: Mapping[str, Any], partners: Mapping[str, str]
) -> dict[int, Term]:
    """Return the cotangents of several leaves from one backward sweep, by the leaves' ids.

    Leaves that do not affect `whole` are left out.
    """
    select = Selecting(make)
    cotangents = cotangents_of(select, [(whole, select.seed(shape, partners))], leaves, frozenset(partners.values()))
    return {mark: select.settled(share).term for mark, share in cotangents.items()}


def cotangents_of(
    select: Selecting, roots: Sequence[tuple[Term, Share]], leaves: Sequence[Term], extra: frozenset[str]
) -> dict[int, Share]:
    """Return the cotangents of leaves, by the leaves' ids, given the cotangents of roots.

    `extra` contains the axes that only cotangents have.
    """
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
            shares = loops.back(select, term, asked.pop(id(term), ()), depends, cotangents_of)
        elif (cotangent := counts.pop(id(term), None)) is None:
            continue
        elif term.operator in loops.READING:
            asked.setdefault(id(term.arguments[0]), []).append((term, cotangent))
            continue
        else:
            places = (index for index, operand in enumerate(term.arguments) if id(operand) in depends)
            shares = {position: cotangent_of_argument(select, term, cotangent, position) for position in places}
        for position, more in shares.items():
            argument = term.arguments[position]
            if id(argument) in depends:
                axes = [axis for axis in more.term.shape if axis not in argument.shape and axis not in extra]
                count(argument, select.sum(more, axes))
    return {mark: counts[mark] for mark in ends if mark in counts}


def pushforward(
    make: TermBuilder, whole: Term, leaf: Term, shape: Mapping[str, Any], partners: Mapping[str, str]
) -> Term:
    """Return the tangents of `whole` for each element of `leaf`. `partners` maps the axes of `leaf` to new axes."""
    select, extra = Selecting(make), {new: shape[old] for old, new in partners.items()}
    order, _ = dependent([whole], [leaf])
    changes: dict[int, Share] = {id(leaf): select.seed(shape, partners)}
    for term in order:
        if term is not leaf:
            parts = [changes.get(id(argument)) for argument in term.arguments]
            changes[id(term)] = tangent_of_term(select, term, parts, extra)
    return select.settled(changes[id(whole)]).term


def dependent(roots: Sequence[Term], leaves: Sequence[Term]) -> tuple[list[Term], set[int]]:
    """Return the terms that depend on a leaf, in topological order, and the ids of these terms."""
    ends = {id(leaf) for leaf in leaves}
    depends, order = {*ends}, list[Term]()
    for term in topological(*roots):
        if id(term) in ends or any(id(argument) in depends for argument in term.arguments):
            depends.add(id(term))
            order.append(term)
    return order, depends


# --------------------------------------------------------------------------------------------------- products, choices
def cotangent_of_argument(select: Selecting, term: Term, cotangent: Share, position: int) -> Share:
    """Return the cotangent of an argument, given the cotangent of the term.

    Apply the operator's rule for shares, if there is one. Otherwise, apply the operator's transpose rule to the share.
    """
    rule = COTANGENT_RULES.get(term.operator)
    if rule is not None:
        return rule(select, term, cotangent, position)
    move = rule_of(term.operator)
    return select.moved(cotangent, lambda part: move(select.make, term, part, position), axes_moved(term))


def _rename_cotangent(select: Selecting, term: Term, cotangent: Share, position: int) -> Share:
    return select.rename(cotangent, {new: old for old, new in term.options})


def _product(select: Selecting, term: Term, cotangent: Share, position: int) -> Share:
    """Return the transpose of ⊙: the cotangent times the other factor, summed over axes that only this factor has."""
    argument, other = term.arguments[position], term.arguments[1 - position]
    return select.product(cotangent, other, [axis for axis in other.shape if axis not in argument.shape])


def _quotient(select: Selecting, term: Term, cotangent: Share, position: int) -> Share:
    return select.quotient(cotangent, term.arguments[1])


def _chosen(select: Selecting, term: Term, cotangent: Share, position: int) -> Share:
    """Return the transpose of a choice: the cotangent, masked by the conditions that select the argument."""
    for condition in conditions_taken(select, term, position):
        cotangent = select.within(cotangent, select.of(condition))
    return cotangent


def conditions_taken(select: Selecting, term: Term, position: int) -> list[Term]:
    """Return the conditions that are all true if a choice selects the value at this position."""
    if term.operator == "where":
        holds = term.arguments[0]
        return [holds if position == 1 else select.make.between("¬", holds)]
    before = [select.make.between("¬", argument) for argument in term.arguments[1:position:2]]
    return [*before, *term.arguments[position + 1 : position + 2]]


def _transpose_pick(select: Selecting, term: Term, cotangent: Share, position: int) -> Share:
    axis, index = term.options
    make = select.make
    return select.product(cotangent, make.onehot(make.number(index + 1), axis, term.arguments[0].shape[axis]), ())


def _transpose_index(select: Selecting, term: Term, cotangent: Share, position: int) -> Share:
    """Return the transpose of indexing, a scatter-add. Elements that no index selects are zero."""
    make, (whole, at), (axis,) = select.make, term.arguments, term.axes
    over = frozenset(name for name in at.shape if name not in whole.shape)
    touched = touching(cotangent.within, axes_moved(term))
    settled = select.settled(cotangent, touched)
    result = make.scatter(make.spread(settled.term, term.shape), axis, whole.shape[axis], at, over)

    def picked() -> Term:
        ones = select.indicator(touched, {**at.shape})
        return select.positive(make.scatter(ones, axis, whole.shape[axis], at, over))

    names = frozenset[str]().union(at.shape, *(condition.axes for condition in touched)) - over | {axis}
    conditions = remove_masks(settled.within, touched)
    return Share(result, (*conditions, SelectionMask(names, picked)), settled.due)


def _trace(select: Selecting, term: Term, cotangent: Share, position: int) -> Share:
    row, column = term.axes
    return select.product(cotangent, select.make.identity(row, column, term.arguments[0].shape[row]), ())


def _exponential(select: Selecting, term: Term, cotangent: Share, position: int) -> Share:
    """Return the transpose of e^X's derivative: the cotangent replaces a direction, and the matrices are transposed."""
    row, column = term.axes
    others = [select.make.rename(argument, {row: column, column: row}) for argument in term.arguments]
    return _transpose_along(select, term, others, cotangent, position)


def _transpose_along(select: Selecting, term: Term, arguments: Sequence[Term], share: Share, position: int) -> Share:
    """Return the derivative of e^X along directions, with a masked term in place of the argument at this position."""
    touched = touching(share.within, term.axes)
    share = select.settled(share, touched)
    terms = (*arguments[:position], share.term, *arguments[position + 1 :])
    shape = {axis: size for part in terms for axis, size in part.shape.items()}
    result = select.make.term(term.operator, terms, term.axes, term.options, shape)
    return Share(result, remove_masks(share.within, touched), share.due)


COTANGENT_RULES: dict[str, Callable[[Selecting, Term, Share, int], Share]] = {
    "⊙": _product,
    "/": _quotient,
    "where": _chosen,
    "cases": _chosen,
    "pick": _transpose_pick,
    "index": _transpose_index,
    "trace": _trace,
    "rename": _rename_cotangent,
    "expm": _exponential,
}


def axes_moved(term: Term) -> frozenset[str]:
    """Return the axes along which a term moves elements."""
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


# ------------------------------------------------------------------------------------------------------------------ on
def tangent_of_term(select: Selecting, term: Term, parts: list[Share | None], extra: Mapping[str, Any]) -> Share:
    """Return the tangent of a linear term, given the tangents of its arguments. None represents zero."""
    rule, record = TANGENT_RULES.get(term.operator), REGISTRY.get(term.operator)
    if rule is not None:
        return rule(select, term, parts)
    if record is not None and record.kind == "reduction":
        return _transpose_sum(select, term, parts)
    return tangent_by_same_operator(select, term, parts, extra)


def _add_tangents(select: Selecting, term: Term, parts: list[Share | None]) -> Share:
    one, other = parts
    if one is not None and other is not None:
        return select.add(one, other, term.operator)
    share = one or other
    assert share is not None
    return share._replace(term=select.make.negative(share.term)) if one is None and term.operator == "-" else share


def _times(select: Selecting, term: Term, parts: list[Share | None]) -> Share:
    ((position, share),) = (pair for pair in enumerate(parts) if pair[1] is not None)
    assert share is not None
    return select.product(share, term.arguments[1 - position], term.axes)


def _transpose_division(select: Selecting, term: Term, parts: list[Share | None]) -> Share:
    assert parts[0] is not None
    return select.quotient(parts[0], term.arguments[1])


def _transpose_sum(select: Selecting, term: Term, parts: list[Share | None]) -> Share:
    assert parts[0] is not None
    return select.sum(parts[0], term.axes, term.operator)


def _transpose_rename(select: Selecting, term: Term, parts: list[Share | None]) -> Share:
    assert parts[0] is not None
    return select.rename(parts[0], dict(term.options))


def _move_tangent(select: Selecting, term: Term, parts: list[Share | None]) -> Share:
    ((position, share),) = (pair for pair in enumerate(parts) if pair[1] is not None)
    assert share is not None
    return _transpose_along(select, term, term.arguments, share, position)


TANGENT_RULES: dict[str, Callable[[Selecting, Term, list[Share | None]], Share]] = {
    "+": _add_tangents,
    "-": _add_tangents,
    "⊙": _times,
    "/": _transpose_division,
    "rename": _transpose_rename,
    "expm": _move_tangent,
}


def tangent_by_same_operator(
    select: Selecting, term: Term, parts: list[Share | None], extra: Mapping[str, Any]
) -> Share:
    """Return the tangent of a term that moves, combines or selects elements, by applying its operator to tangents."""
    make, axes = select.make, axes_moved(term)
    shares = [part for part in parts if part is not None]
    common = tuple(
        condition for condition in shares[0].within if all(condition in other.within for other in shares[1:])
    )
    conditions = remove_masks(common, touching(common, axes))
    settled = [None if part is None else select.settled(part, remove_masks(part.due, conditions)) for part in parts]
    fixed = {index for index, argument in enumerate(term.arguments) if is_fixed(term, index, argument)}
    zero = make.number(0.0)

    def of(given: list[Term], shape: Mapping[str, Any]) -> Term:
        pieces = tuple(term.arguments[index] if index in fixed else part for index, part in enumerate(given))
        return make.term(term.operator, pieces, term.axes, term.options, dict(shape))

    terms = [zero if share is None else share.term for share in settled]
    if is_joining(term.operator):
        terms = [
            make.spread(cotangent_part, {**argument.shape, **extra})
            for cotangent_part, argument in zip(terms, term.arguments)
        ]
    result = of(terms, {**term.shape, **extra})
    left = [None if share is None else remove_masks(share.within, conditions) for share in settled]
    if any(left) or any(condition is None and index not in fixed for index, condition in enumerate(left)):
        seen = {axis for some in left for condition in some or () for axis in condition.axes}
        seen |= {axis for position in fixed for axis in term.arguments[position].shape} | axes
        shared = {axis: size for axis, size in result.shape.items() if axis in seen}

        def ones() -> Term:
            operands: list[Term] = []
            for some, argument in zip(left, term.arguments):
                sizes = {axis: size for axis, size in {**extra, **argument.shape}.items() if axis in seen}
                operands.append(make.spread(zero, sizes) if some is None else select.indicator(some, sizes))
            return select.positive(of(operands, shared))

        conditions = (*conditions, SelectionMask(shared, ones))
    return Share(result, conditions, unite_masks(*(share.due for share in settled if share is not None)))


def is_fixed(term: Term, position: int, argument: Term) -> bool:
    """Return whether an argument only specifies positions or conditions, rather than elements."""
    return argument.boolean or (term.operator in INDEXED and position == 1)


INDEXED = frozenset(("index", "scatter"))  # Their second argument specifies positions.


# ------------------------------------------------------------------------------------------------- renaming, reshaping
def _spread(make: TermBuilder, term: Term, cotangent: Term, position: int) -> Term:
    return cotangent  # summed to the operand's axes by `transpose`


def _merge(make: TermBuilder, term: Term, cotangent: Term, position: int) -> Term:
    sources, target = term.options
    shape = term.arguments[0].shape
    return make.split(cotangent, target, tuple((axis, shape[axis]) for axis in sources))


def _split(make: TermBuilder, term: Term, cotangent: Term, position: int) -> Term:
    source, parts = term.options
    return make.merge(cotangent, tuple(name for name, _ in parts), source, term.arguments[0].shape[source])


def _transpose_fill(make: TermBuilder, term: Term, cotangent: Term, position: int) -> Term:
    axis, positions = term.options
    sizes = [resolve(argument.shape[axis]) for argument in term.arguments]
    first = sum(sizes[:position])
    places = (position + 1 for position in positions[first : first + sizes[position]])
    return make.at(cotangent, axis, make.constant(axis, places))


def _literal(make: TermBuilder, term: Term, cotangent: Term, position: int) -> Term:
    axes, extent = term.options
    for axis, size in reversed([*zip(axes, extent)]):
        position, index = divmod(position, size)
        cotangent = make.pick(cotangent, axis, index)
    return cotangent


def _transpose_scatter(make: TermBuilder, term: Term, cotangent: Term, position: int) -> Term:
    """Return the transpose of scatter-add: a summand's cotangent is the cotangent of the element that contains it."""
    places = term.arguments[1]
    sizes = {name: size for name, size in cotangent.shape.items() if name not in term.axes}
    return make.term("index", (cotangent, places), term.axes, (), {**sizes, **places.shape})


TRANSPOSE_RULES: dict[str, Rule] = {  # for structural terms; operators have rules in their records
    "spread": _spread,
    "merge": _merge,
    "split": _split,
    "fill": _transpose_fill,
    "literal": _literal,
    "scatter": _transpose_scatter,
}


def rule_of(operator: str) -> Rule:
    """Return the transpose rule of an operator, from the table of structural rules or from the operator's record."""
    rule = TRANSPOSE_RULES.get(operator) or REGISTRY[operator].transpose
    assert rule is not None, f"nothing is linear in {operator}"
    return rule
