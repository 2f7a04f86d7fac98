"""Recognize normalized exponentials in any form as softmax, which does not overflow.

    exp(s) / ∑_{ax} exp(s)             softmax_{ax} s          also exp(s) ⊙ (1 / ∑_{ax} exp(s)), and e^s for exp(s)
    (exp(s) ⊙_{ax} V) / ∑_{ax} exp(s)  softmax_{ax} s ⊙_{ax} V
    log ∑_{ax} exp(s)                  logsumexp_{ax} s

The sum may use other axis names, such as ∑_{j} exp(s_{ax(j)}). Derivatives and plans use the rewritten terms, so both
are accurate for any scores. The source of the formula does not change.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import count

from ..operators import REGISTRY
from .terms import OPERATOR, Term, TermGraph, topological

Axes = dict[str, str]  # Maps an axis of one term to the matching axis of another term.


def with_softmax(
    roots: tuple[Term, ...], graph: TermGraph | None = None, opaque: Collection[int] = ()
) -> tuple[Term, ...]:
    """Rewrite normalized exponentials as softmax or logsumexp, and return the roots.

    `opaque` contains the ids of terms that no rewrite changes or looks into. New terms are interned in
    `graph`. By default, a new graph continues the serial numbers of the roots.
    """
    order = topological(*roots)
    kinds = {*map(OPERATOR, order)}
    if "∑" not in kinds or kinds.isdisjoint(("exp", "^")):
        return roots
    rewriting = _Rewriting(graph or TermGraph(count(order[-1].serial + 1)), opaque)
    for term in order:
        rewriting.visit(term)
    return tuple(rewriting.found[id(root)] for root in roots)


class _Rewriting:
    """A pass that rewrites terms in topological order. `found` maps each term to its replacement."""

    def __init__(self, graph: TermGraph, opaque: Collection[int]):
        self.graph, self.opaque = graph, opaque
        self.found: dict[int, Term] = {}

    def visit(self, term: Term) -> None:
        arguments = tuple([self.found[id(argument)] for argument in term.arguments])
        result = self.rewrite_quotient(term) if id(term) not in self.opaque else None
        if result is None:
            same = all(new is old for new, old in zip(arguments, term.arguments))
            result = term if same else self.graph.like(term, arguments)
        self.found[id(term)] = result

    def rewrite_quotient(self, term: Term) -> Term | None:
        """Return the replacement of a quotient, a product with a reciprocal, or a logarithm, or None."""
        if term.operator == "log":
            return self.logarithm(term)
        if term.operator == "/":
            above, below = term.arguments
            return self.quotient(above, below, term)
        if term.operator == "⊙" and not term.axes:
            left, right = term.arguments
            for product, other in ((left, right), (right, left)):
                sums = self.reciprocal(other)
                result = None if sums is None else self.quotient(product, sums, term)
                if result is not None:
                    return result
        return None

    def logarithm(self, term: Term) -> Term | None:
        (sums,) = term.arguments
        score = None if sums.operator != "∑" or not self.is_open(sums) else self.score(sums.arguments[0])
        if score is None:
            return None
        return self.graph.intern("logsumexp", (self.found[id(score)],), sums.axes, (), term.shape, False, term.node)

    def reciprocal(self, term: Term) -> Term | None:
        """Return x for a term 1 / x or x^{−1}, or None for any other term or an opaque term."""
        if not self.is_open(term) or len(term.arguments) != 2:
            return None
        first, second = term.arguments
        if term.operator == "/" and first.number == 1:
            return second
        return first if term.operator == "^" and second.number == -1 else None

    def quotient(self, above: Term, sums: Term, term: Term) -> Term | None:
        """Return the replacement of a quotient by a sum of exponentials, or None if there is none."""
        if sums.operator != "∑" or not self.is_open(sums) or self.score(sums.arguments[0]) is None:
            return None
        return self.over(above, sums, term)

    def over(self, above: Term, sums: Term, term: Term) -> Term | None:
        """Return a quotient by a sum, with softmax in place of the numerator's exponential factor.

        Return None if no factor fits.
        """
        if not self.is_open(above):
            return None
        score = self.score(above)
        if score is not None:
            axes = match_sum(sums, above)
            return None if axes is None else self.softmax(score, axes, above.shape, term)
        if above.operator != "⊙" and not (above.operator == "∑" and above.axes):
            return None
        if above.operator == "∑":
            (inside,) = above.arguments
            if inside.operator != "⊙" or inside.axes:
                return None
            result = self.contracted(inside, above.axes, sums, term)
            return None if result is None else self.graph.like(above, (result,))
        if above.axes:
            return self.contracted(above, above.axes, sums, term)
        for index, factor in enumerate(above.arguments):
            result = self.over(factor, sums, term) if set(sums.shape) <= set(factor.shape) else None
            if result is not None:
                return self.with_factor(above, index, result)
        return None

    def contracted(self, product: Term, axes: tuple[str, ...], sums: Term, term: Term) -> Term | None:
        """Return a contraction divided by a sum, with softmax in place of an exponential factor.

        Return None if no factor fits.
        """
        for index, factor in enumerate(product.arguments):
            score = self.score(factor) if self.is_open(factor) else None
            named = None if score is None else match_sum(sums, factor)
            if score is None or named is None or set(named) != set(axes):
                continue
            soft = self.softmax(score, named, factor.shape, term)
            return self.with_factor(product, index, soft)
        return None

    def with_factor(self, product: Term, index: int, factor: Term) -> Term:
        """Return a product with `factor` as the factor at `index`.

        The other factors are replaced by their rewritten terms.
        """
        factors = [self.found[id(argument)] for argument in product.arguments]
        factors[index] = factor
        return self.graph.like(product, tuple(factors))

    def softmax(self, score: Term, axes: tuple[str, ...], shape: Mapping[str, object], term: Term) -> Term:
        return self.graph.intern("softmax", (self.found[id(score)],), axes, (), dict(shape), False, term.node)

    def is_open(self, term: Term) -> bool:
        return id(term) not in self.opaque

    def score(self, term: Term) -> Term | None:
        """Return s for a term exp(s) or e^s, or None for any other term or an opaque term."""
        return exponent(term) if self.is_open(term) else None


def exponent(term: Term) -> Term | None:
    """Return s for a term exp(s) or e^s if s is a tensor, or None for any other term."""
    if term.operator == "exp":
        (score,) = term.arguments
    elif term.operator == "^" and term.arguments[0].number == math.e:
        score = term.arguments[1]
    else:
        return None
    return score if score.shape else None


# ----------------------------------------------------------------------------------------- equal but for names of axes
def match_sum(sums: Term, above: Term) -> tuple[str, ...] | None:
    """Return the axes of `above` that `sums` sums over, or None if `sums` does not sum the elements of `above`."""
    axes = renaming(sums.arguments[0], above)
    if axes is None:
        return None
    rest = [name for name in sums.arguments[0].shape if name not in sums.axes]
    if any(axes.get(name) != name for name in rest) or not set(sums.axes) <= axes.keys():
        return None
    return tuple(axes[name] for name in sums.axes)


def renaming(x: Term, y: Term) -> Axes | None:
    """Return a map from the axes of x to the axes of y if only axis names differ, or None otherwise."""
    if x is y:
        return {name: name for name in x.shape}
    if "rename" in (x.operator, y.operator):
        inner, names_of_x = strip_renames(x)
        other, names_of_y = strip_renames(y)
        axes = renaming(inner, other)
        return None if axes is None else {names_of_x.get(a, a): names_of_y.get(b, b) for a, b in axes.items()}
    if x.operator != y.operator or x.options != y.options or len(x.arguments) != len(y.arguments) or not x.arguments:
        return None
    if REGISTRY.get(x.operator) is None or (x.axes and (x.axes != y.axes or x.operator != "⊙")) or y.axes != x.axes:
        return None
    joined: Axes = {name: name for name in x.axes}
    for pair in zip(x.arguments, y.arguments):
        axes = renaming(*pair)
        if axes is None or any(joined.get(name, axis) != axis for name, axis in axes.items()):
            return None
        joined |= axes
    joined = {name: axis for name, axis in joined.items() if name in x.shape}
    return joined if len(set(joined.values())) == len(joined) else None


def strip_renames(term: Term) -> tuple[Term, Axes]:
    """Return a term without its outer rename, and a map from the original axis names to the new names."""
    if term.operator != "rename":
        return term, {}
    (inner,) = term.arguments
    return inner, dict(term.options)
