"""Compute canonical keys of forms.

Two keys are equal if and only if the forms differ only in the names of bound indices.

The factors around an index determine its color. The coloring is refined until no more indices can be separated. If
several indices still have the same color, the search tries each of them first and keeps the smallest key. Refinement
alone cannot distinguish (tr A)² from tr(A²).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from fractions import Fraction
from itertools import permutations
from math import factorial, gcd, lcm, prod
from typing import Any

from .forms import NUMBER, ONE_, ZERO, Factor, Form, FormIndex, Product, indices_of
from .work import current

Labels = Mapping[FormIndex, Any]
Color = tuple[Any, ...]


def product_key(product: Product, labels: Labels) -> tuple[Any, ...]:
    """Return the key of a product without its coefficient. In the key, `labels` replace the outside indices."""
    return _search_key(product, dict(labels), dict.fromkeys(product.summed, ()))


def form_key(form: Form, labels: Labels) -> tuple[Any, ...]:
    return tuple(sorted((product_key(product, labels), product.coefficient) for product in form))


def outside_labels(indices: Iterable[FormIndex]) -> dict[FormIndex, Any]:
    """Return a distinct label for each index."""
    return {index: (0, index.number) for index in indices}


def key(form: Form) -> tuple[Any, ...]:
    """Return the key of a form, with a distinct label for each outside index."""
    return form_key(form, outside_labels({index for product in form for index in product.indices()}))


def _search_key(product: Product, labels: dict[Any, Any], colors: dict[FormIndex, tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the canonical key of a product.

    If several indices have the same color, try each of them first, and use the smallest key.
    """
    colors = _refine_colors(product, labels, colors)
    classes: dict[tuple[Any, ...], list[FormIndex]] = {}
    for index, color in colors.items():
        classes.setdefault(color, []).append(index)
    tied = min((color for color, group in classes.items() if len(group) > 1), default=None)
    if tied is None:
        order = sorted(colors, key=lambda index: colors[index])
        return _write_key(product, {**labels, **{index: (1, position) for position, index in enumerate(order)}})
    candidates = _inequivalent(product, labels, colors, classes[tied])
    return min(_search_key(product, labels, _individualize(colors, one)) for one in candidates)


def _individualize(colors: dict[FormIndex, Color], index: FormIndex) -> dict[FormIndex, Color]:
    return {**colors, index: (*colors[index], -1)}


def _inequivalent(
    product: Product, labels: dict[Any, Any], colors: dict[FormIndex, Color], tied: list[FormIndex]
) -> Iterable[FormIndex]:
    """Return one index from each set of tied indices that can be exchanged together with their factors.

    For example, all n sums in (∑ x)ⁿ are alike, so a single sum represents all of them. Their n! orders would give the
    same key.
    """
    current().spend(len(tied))
    indices: dict[tuple[Any, ...], FormIndex] = {}
    for index in tied:
        part = _find_connected_factors(product, index, colors.keys())
        if part.summed == colors.keys():
            return tied
        inside = _individualize({label: colors[label] for label in part.summed}, index)
        key = _search_key(part, labels, inside)
        indices.setdefault((key, tuple(sorted(inside.values()))), index)
    return indices.values()


def _find_connected_factors(product: Product, index: FormIndex, bound: Set[FormIndex]) -> Product:
    """Return the factors that bound indices connect to an index, directly or through other factors."""
    reached, factors = {index}, list(product.factors)
    inside: list[Factor] = []
    while more := [factor for factor in factors if not reached.isdisjoint(factor.indices)]:
        inside += more
        factors = [factor for factor in factors if reached.isdisjoint(factor.indices)]
        reached.update(label for factor in more for label in factor.indices if label in bound)
    return Product(product.coefficient, tuple(inside), frozenset(reached))


def _refine_colors(
    product: Product, labels: dict[Any, Any], colors: dict[FormIndex, tuple[Any, ...]]
) -> dict[FormIndex, tuple[Any, ...]]:
    """Refine the colors of a product's indices.

    The new colors distinguish indices in different factors or positions.
    """
    if not colors:
        return colors
    while True:
        seen = {index: [] for index in colors}
        for factor in product.factors:
            around = [(2, *colors[label]) if label in colors else labels[label] for label in factor.indices]
            mark = (factor.head.serial, factor.exponent)
            for position, index in enumerate(factor.indices):
                if index in seen:
                    seen[index].append((mark, factor.head.orbits[position], _arrange_factor(factor, around, position)))
        result = {index: (colors[index], tuple(sorted(seen[index]))) for index in colors}
        ranks = {color: (rank,) for rank, color in enumerate(sorted(set(result.values())))}
        refined = {index: ranks[color] for index, color in result.items()}
        if len(ranks) == len(set(colors.values())):
            return refined
        colors = refined


def _arrange_factor(factor, around: list[Any], position: int) -> tuple[Any, ...]:
    """Return the labels of a factor's indices, in the smallest order that the factor's symmetries allow.

    Each label is paired with a flag, which is true for the index at `position`.
    """
    marked = [(label, at == position) for at, label in enumerate(around)]
    return min(tuple(marked[at] for at in order) for order in factor.head.symmetries)


def _write_key(product: Product, labels: Labels) -> tuple[Any, ...]:
    result = []
    for factor in product.factors:
        around = [labels[index] for index in factor.indices]
        least = min(tuple(around[at] for at in order) for order in factor.head.symmetries)
        result.append((factor.head.serial, factor.exponent, least))
    return tuple(sorted(result)), len(product.summed)


def make_closed_key(
    parts: tuple[Form, ...], bound: tuple[FormIndex, ...], outside: set[FormIndex]
) -> tuple[tuple[Any, ...], list[FormIndex], list[Any]]:
    """Return a key of forms that does not depend on the order of the outside indices.

    Also return the order of these indices that produces the key, and all orders that produce the same key.
    """
    ranks = {index: (3, position) for position, index in enumerate(bound)}
    if len(outside) <= 1:
        order = list(outside)
        return _parts_key(parts, ranks, order), order, [tuple(range(len(order)))]
    apart = {
        index: _parts_key(parts, {**ranks, **dict.fromkeys(outside, (4, 1)), index: (4, 0)}, []) for index in outside
    }
    classes: dict[Any, list[FormIndex]] = {}
    for index in sorted(outside, key=NUMBER):
        classes.setdefault(apart[index], []).append(index)
    groups = [classes[class_] for class_ in sorted(classes)]
    current().spend(prod(factorial(len(group)) for group in groups))
    orders = [[]]
    for group in groups:
        orders = [[*before, *some] for before in orders for some in permutations(group)]
    keys = [_parts_key(parts, ranks, order) for order in orders]
    least = min(keys)
    best = [order for order, name in zip(orders, keys) if name == least]
    first = best[0]
    return least, first, [tuple(first.index(index) for index in order) for order in best]


def is_symmetric(
    parts: tuple[Form, ...], bound: tuple[FormIndex, ...], order: list[FormIndex], key: tuple[Any, ...]
) -> bool:
    """Return whether an exchange of two bound indices leaves the key of forms unchanged."""
    return _parts_key(parts, {bound[0]: (3, 1), bound[1]: (3, 0)}, order) == key


def _parts_key(parts: tuple[Form, ...], ranks: dict[Any, Any], order: list[FormIndex]) -> tuple[Any, ...]:
    labels = {**ranks, **{index: (5, position) for position, index in enumerate(order)}}
    return tuple(form_key(part, labels) for part in parts)


def scale_form(form: Form, by: Fraction | int) -> Form:
    by = Fraction(by)
    return tuple(product._replace(coefficient=product.coefficient * by) for product in form) if by else ZERO


def content(form: Form) -> tuple[Fraction, Form]:
    """Return the content of a form, and the form divided by its content.

    The content is the greatest common divisor of the coefficients. It is negative if most coefficients are negative, or
    if half of them are, including the first.
    """
    if not form:
        return ONE_, form
    above = gcd(*(product.coefficient.numerator for product in form))
    fraction = Fraction(above, lcm(*(product.coefficient.denominator for product in form)))
    negative = sum(addend.coefficient < 0 for addend in form)
    first = leading(form) if current().proving and 2 * negative == len(form) else form[0]
    if 2 * negative > len(form) or (2 * negative == len(form) and first.coefficient < 0):
        fraction = -fraction
    return fraction, scale_form(form, 1 / fraction)


def leading(form: Form) -> Product:
    labels = outside_labels(indices_of(form))
    return min(form, key=lambda product: product_key(product, labels))
