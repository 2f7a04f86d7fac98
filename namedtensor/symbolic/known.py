"""Recognize named values, and functions in expanded form, such as softmax u in the form exp u / ∑ exp u."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from . import algebra
from .applying import apply_operator
from .factors import denominators, is_function, to_factors, to_form
from .facts import FactRewrite
from .forms import DELTA, ONE, ONE_, Factor, Form, FormIndex, NamedValue, Product, opened, rename_indices, split_parts
from .matching import replace_part
from .work import count_rule


def recognize_functions(form: Form) -> Form:
    """Replace expanded softmax and logistic functions in a form with the functions."""
    return apply_rules(form, _softmax, _logistic)


def apply_rules(form: Form, *rules: Callable[[Product], Product | None]) -> Form:
    """Apply rules to each product of a form until no rule changes it."""
    result = []
    for product in form:
        for rule in rules:
            while (better := rule(product)) is not None:
                product = better
        result.append(product)
    return algebra.add(tuple(result))


def _put(product: Product, pattern: Product, result: Form, rule: str) -> Product | None:
    """Replace a pattern in a product. Return None if this is impossible or if the result is not a single product."""
    put = replace_part(product, FactRewrite(pattern, result))
    products = () if put is None else algebra.normalize_product(*put)
    if put is not None:
        count_rule(rule)
    return products[0] if len(products) == 1 else None


def fold_named_parts(form: Form, names: Sequence[NamedValue]) -> Form:
    """Replace factors that are equal to named values with the names."""
    return apply_rules(form, *(partial(_put_name, name) for name in names))


def _put_name(name: NamedValue, product: Product) -> Product | None:
    ((coefficient, factors, summed),) = name.value
    result = algebra.scale_form(to_form(name.factor), 1 / coefficient)
    return _put(product, Product(ONE_, factors, summed), result, "name")


def _softmax(product: Product) -> Product | None:
    """Replace exp(u)_i / ∑_j exp(u)_j in a product with softmax(u)_i. Return None if it does not occur."""
    for below, inner in denominators(product):
        if len(inner) != 1 or len(inner[0].factors) != 1 or not inner[0].summed or inner[0].coefficient != 1:
            continue
        (power,) = inner[0].factors
        bound = [index for index in power.indices if index in inner[0].summed]
        above = next((factor for factor in product.factors if factor.head is power.head), None)
        if above is None or not is_function(power, "exp") or len(bound) != len(inner[0].summed):
            continue
        u = algebra.scale_form(opened(power)[0], power.exponent)
        outs = {index: out.fresh() for index, out in zip(power.indices, above.indices) if index in bound}
        order = tuple(range(len(bound)))
        softmax = apply_operator("softmax", (u,), bound, tuple(outs.values()), (), (order, order))
        pattern = Product(ONE_, (power.at(outs), below._replace(exponent=-ONE_)))
        if (put := _put(product, pattern, softmax, "softmax")) is not None:
            return put
    return None


def _logistic(product: Product) -> Product | None:
    """Replace 1 / (1 + exp(−u)) or exp u / (1 + exp u) in a product with σ(u). Return None if neither occurs."""
    for below, inner in denominators(product):
        rest = tuple(addend for addend in inner if addend != ONE[0])
        factors = to_factors(rest) or ()
        if len(inner) != 2 or len(factors) != 1 or not is_function(factors[0], "exp"):
            continue
        (power,), inverse = factors, below._replace(exponent=-ONE_)
        u = algebra.scale_form(opened(power)[0], power.exponent)
        whole = _put(product, Product(ONE_, (inverse, power)), apply_operator("σ", (u,)), "σ")
        return whole or _put(product, Product(ONE_, (inverse,)), apply_operator("σ", (algebra.scale_form(u, -1),)), "σ")
    return None


def recognize_solve(form: Form) -> Form:
    """Recognize solve_{r,c}(A, b) in a form, and transpose derivatives of expm.

    The product inv_{r,c} A ⊙ b, summed over the rows of b, becomes solve_{r,c}(A, b). The product C ⊙_{r,c} expm(X, E)
    becomes E ⊙_{r,c} expm(X, Cᵀ)ᵀ.
    """
    return apply_rules(tuple(_transpose_change(product) or product for product in form), _solution)


def _transpose_change(product: Product) -> Product | None:
    """Exchange G and E in a product of G with the derivative of e^X in direction E. The result is transposed.

    Return None if there is no such product.
    """
    for index, factor in enumerate(product.factors):
        if not is_function(factor, "expm") or len(factor.head.parts) != 2:
            continue
        row, column = factor.indices[:2]
        others = product.factors[:index] + product.factors[index + 1 :]
        inside, outer = split_parts(others, {row, column})
        if factor.exponent != 1 or not {row, column} <= product.summed or {row, column} & set(factor.indices[2:]):
            continue
        (matrix, along), (r, c) = opened(factor), factor.head.bound[:2]
        indices = (row.fresh(), column.fresh())
        within: set[FormIndex] = set()
        if row is column:
            products = apply_operator("expm", (matrix,), (r, c), indices[::-1], (), ((0, 1), (0, 1)))
        else:
            within = {index for part in inside for index in part.indices} & product.summed - {row, column}
            if within & {index for part in outer for index in part.indices} or not inside:
                continue
            counts = (Product(ONE_, tuple(inside), frozenset(within)),)
            products = apply_operator(
                "expm", (matrix, counts), (r, c, column, row), indices[::-1], (), ((0, 1, 0, 1), (0, 1))
            )
        of = factor.head.bound[2:]
        put = algebra.multiply(products, rename_indices(along, dict(zip(of, indices))), (False, True))
        left = Product(product.coefficient, tuple(outer), product.summed - {row, column} - within | set(indices))
        total = algebra.add(*(algebra.multiply_within(left, addend) for addend in put))
        count_rule("along")
        return total[0] if len(total) == 1 else None
    return None


def _solution(product: Product) -> Product | None:
    for index, factor in enumerate(product.factors):
        if not is_function(factor, "inv") or factor.exponent != 1:
            continue
        for order in factor.head.symmetries:
            out, row = (factor.indices[at] for at in order[:2])
            others = product.factors[:index] + product.factors[index + 1 :]
            inside, rest = split_parts(others, {row})
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
            put = apply_operator("solve", (matrix, b), bound, (out,), (), ((0, 1, 0), (1,)))
            count_rule("solve")
            left = Product(product.coefficient, tuple(rest), product.summed - indices - {row})
            products = algebra.multiply_within(left, put[0])
            return products[0] if len(products) == 1 else None
    return None


def simplify_update(form: Form) -> Form:
    """Simplify products with the inverse of I + u ⊙ v in a form.

    The product inv_{r,c}(I + u ⊙ v) ⊙ u becomes u / (1 + v ⊙ u). A product with v is simplified in the same way.
    """
    return apply_rules(form, _rank_one)


def _rank_one(product: Product) -> Product | None:
    for factor in product.factors:
        if not is_function(factor, "inv") or factor.exponent != 1:
            continue
        (r, c), (first, second) = factor.head.bound[:2], factor.indices[:2]
        added = _find_update_factors(opened(factor)[0], r, c)
        if added is None:
            continue
        for index, left, local in ((second, first, r), (first, second, c)):
            met = [part.at({local: index}) for part in added if local in part.indices]
            both = tuple(part.at({c: r}) for part in added)
            share = algebra.power(algebra.add(ONE, algebra.sum_over((Product(ONE_, both),), [r])), -ONE_)
            moved = (Product(ONE_, tuple(part.at({index: left}) for part in met)),)
            pattern = Product(ONE_, (factor, *met), frozenset((index,)))
            put = _put(product, pattern, algebra.multiply(moved, share), "rank one")
            if put is not None:
                return put
    return None


def _find_update_factors(matrix: Form, r: FormIndex, c: FormIndex) -> tuple[Factor, ...] | None:
    """Return the factors of u ⊙ v in a matrix of the form I_{r,c} + u ⊙ v, or None for any other matrix.

    No factor may have both axes.
    """
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
