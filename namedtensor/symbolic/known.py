"""Recognition of functions written out: exp u / ∑ exp u = softmax u, 1 / (1 + exp(−u)) = σ(u)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from . import algebra
from .applying import applied
from .factors import denominators, is_function
from .forms import DELTA, ONE, ONE_, Factor, Form, FormIndex, Product, opened, renamed
from .work import used


def recognized(form: Form) -> Form:
    """Rewrite the functions that a form holds written out by their names."""
    return rewritten(form, _softmax, _logistic)


def rewritten(form: Form, *rules: Callable[[Product], Product | None]) -> Form:
    """The form whose products these rules change no more."""
    result = []
    for product in form:
        for rule in rules:
            while (better := rule(product)) is not None:
                product = better
        result.append(product)
    return algebra.add(tuple(result))


def _put(product: Product, without: dict[Factor, Fraction], form: Form) -> Product | None:
    """The product with less of some factors, times one factor more."""
    rest = []
    for factor in product.factors:
        left = factor.exponent - without.get(factor, Fraction(0))
        if left:
            rest.append(factor._replace(exponent=left))
    within = algebra.within(Product(product.coefficient, tuple(rest), product.summed), form[0])
    return within[0] if len(within) == 1 else None


def _softmax(product: Product) -> Product | None:
    """exp(u)_i / ∑_j exp(u)_j = softmax(u)_i"""
    for below, inner in denominators(product):
        if len(inner) != 1 or len(inner[0].factors) != 1 or not inner[0].summed or inner[0].coefficient != 1:
            continue
        (power,) = inner[0].factors
        if not is_function(power, "exp"):
            continue
        for above in product.factors:
            if above.head is not power.head or above.exponent < power.exponent:
                continue
            pairs = [(mine, theirs) for mine, theirs in zip(above.indices, power.indices) if theirs in inner[0].summed]
            same = all(
                mine is theirs for mine, theirs in zip(above.indices, power.indices) if theirs not in inner[0].summed
            )
            if not same or len(pairs) != len(inner[0].summed):
                continue
            u = algebra.scaled(opened(power)[0], power.exponent)
            bound, indices = tuple(theirs for _, theirs in pairs), tuple(mine for mine, _ in pairs)
            order = tuple(range(len(pairs)))
            used("softmax")
            return _put(
                product,
                {below: -ONE_, above: power.exponent},
                applied("softmax", (u,), bound, indices, (), (order, order)),
            )
    return None


def _logistic(product: Product) -> Product | None:
    """1 / (1 + exp(−u)) = exp u / (1 + exp u) = σ(u)"""
    for below, inner in denominators(product):
        rest = [addend for addend in inner if addend != ONE[0]]
        if len(inner) != 2 or len(rest) != 1 or rest[0].coefficient != 1 or rest[0].summed or len(rest[0].factors) != 1:
            continue
        (power,) = rest[0].factors
        if not is_function(power, "exp"):
            continue
        u = algebra.scaled(opened(power)[0], power.exponent)
        used("σ")
        for above in product.factors:
            if above.head is power.head and above.indices == power.indices and above.exponent / power.exponent >= 1:
                return _put(product, {below: -ONE_, above: power.exponent}, applied("σ", (u,)))
        return _put(product, {below: -ONE_}, applied("σ", (algebra.scaled(u, -1),)))
    return None


def solved(form: Form) -> Form:
    """inv_{r,c} A ⊙ b, summed over the rows of b, is solve_{r,c}(A, b); C ⊙_{r,c} expm(X, E) is E ⊙_{r,c} expm(X, Cᵀ)ᵀ."""
    return rewritten(tuple(_turned(product) or product for product in form), _solution)


def _turned(product: Product) -> Product | None:
    """What counts how e^X changes along E is what E counts how it changes along that, transposed."""
    for index, factor in enumerate(product.factors):
        if not is_function(factor, "expm") or len(factor.head.parts) != 2:
            continue
        row, column = factor.indices[:2]
        rest = [part for at, part in enumerate(product.factors) if at != index]
        inside = [part for part in rest if {row, column} & set(part.indices)]
        outer = [part for part in rest if part not in inside]
        if factor.exponent != 1 or not {row, column} <= product.summed or {row, column} & set(factor.indices[2:]):
            continue
        (matrix, along), (r, c) = opened(factor), factor.head.bound[:2]
        indices = (row.fresh(), column.fresh())
        within: set[FormIndex] = set()
        if row is column:
            products = applied("expm", (matrix,), (r, c), indices[::-1], (), ((0, 1), (0, 1)))
        else:
            within = {index for part in inside for index in part.indices} & product.summed - {row, column}
            if within & {index for part in outer for index in part.indices} or not inside:
                continue
            counts = (Product(ONE_, tuple(inside), frozenset(within)),)
            products = applied("expm", (matrix, counts), (r, c, column, row), indices[::-1], (), ((0, 1, 0, 1), (0, 1)))
        of = factor.head.bound[2:]
        put = algebra.multiply(products, renamed(along, dict(zip(of, indices))), (False, True))
        left = Product(product.coefficient, tuple(outer), product.summed - {row, column} - within | set(indices))
        total = algebra.add(*(algebra.within(left, addend) for addend in put))
        used("along")
        return total[0] if len(total) == 1 else None
    return None


def _solution(product: Product) -> Product | None:
    for index, factor in enumerate(product.factors):
        if not is_function(factor, "inv") or factor.exponent != 1:
            continue
        for order in factor.head.symmetries:
            out, row = (factor.indices[at] for at in order[:2])
            others = [part for at, part in enumerate(product.factors) if at != index]
            inside = [part for part in others if row in part.indices]
            rest = [part for part in others if row not in part.indices]
            outer = {index for part in rest for index in part.indices}
            if row not in product.summed or row in factor.indices[2:] or out is row or not inside:
                continue
            if any(part.exponent < 0 or part.head is factor.head for part in inside):
                continue
            within = {index for part in inside for index in part.indices} - {row}
            if out in within or (within & product.summed) & (outer | set(factor.indices)):
                continue
            indices = within & product.summed
            (matrix,) = opened(factor)
            b = (Product(ONE_, tuple(inside), frozenset(indices)),)
            bound = (*factor.head.bound, row)
            put = applied("solve", (matrix, b), bound, (out,), (), ((0, 1, 0), (1,)))
            used("solve")
            left = Product(product.coefficient, tuple(rest), product.summed - indices - {row})
            products = algebra.within(left, put[0])
            return products[0] if len(products) == 1 else None
    return None


def updated(form: Form) -> Form:
    """What meets the inverse of an identity and a product: inv_{r,c}(I + u ⊙ v) ⊙ u is u / (1 + v ⊙ u), and v of it likewise."""
    return rewritten(form, _rank_one)


def _rank_one(product: Product) -> Product | None:
    for position, factor in enumerate(product.factors):
        if not is_function(factor, "inv") or factor.exponent != 1:
            continue
        r, c = factor.head.bound[:2]
        added = _beside_identity(opened(factor)[0], r, c)
        others = [part for at, part in enumerate(product.factors) if at != position]
        for order in factor.head.symmetries if added is not None else ():
            first, second = (factor.indices[at] for at in order[:2])
            for index, left, local in ((second, first, r), (first, second, c)):
                inside = [part for part in others if index in part.indices]
                met = [part.at({local: index}) for part in (added or ()) if local in part.indices]
                if index not in product.summed or index in factor.indices[2:] or first is second:
                    continue
                if len(inside) != len(met) or any(part not in met for part in inside):
                    continue
                both = tuple(part.at({c: r}) for part in added or ())
                share = algebra.power(algebra.add(ONE, algebra.sum_over((Product(ONE_, both),), [r])), -ONE_)
                rest = [part.at({index: left}) if part in inside else part for part in others]
                products = algebra.multiply(
                    (Product(product.coefficient, tuple(rest), product.summed - {index}),), share
                )
                if len(products) == 1:
                    used("rank one")
                    return products[0]
    return None


def _beside_identity(matrix: Form, r: FormIndex, c: FormIndex) -> tuple[Factor, ...] | None:
    """The factors of u ⊙ v in I_{r,c} + u ⊙ v, none of which has both axes; None of other matrices."""
    ones = [
        addend for addend in matrix if [factor.head for factor in addend.factors] == [DELTA] and addend.coefficient == 1
    ]
    rest = [addend for addend in matrix if addend not in ones]
    if len(ones) != 1 or len(rest) != 1 or set(ones[0].factors[0].indices) != {r, c}:
        return None
    (product,) = rest
    if product.coefficient != 1 or product.summed or any({r, c} <= set(factor.indices) for factor in product.factors):
        return None
    return product.factors
