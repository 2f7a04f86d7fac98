"""The kinds of assumptions, with functions that recognize each kind in a program or derive it from a definition.

The tests check the equation of each kind as an assertion. They also check that its rewrite rule gives both sides the
same form.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from . import algebra, canonical, signs
from .factoring import multiply_out
from .factors import is_function, sole, total_of
from .facts import FactRewrite, Orders, Sign
from .forms import DELTA, ONE_, ZERO, Factor, Form, FormHead, FormIndex, Product, indices_of, opened, single
from .product_rules import inverse_rewrites


class NamedValue(NamedTuple):
    """A name at its indices, with its value and the operator of this value."""

    factor: Factor
    operator: str
    value: Form

    def at(self, *indices: FormIndex) -> Form:
        return single(self.factor.head, *indices)


Statement = tuple[Form, str, Form]  # a left side, a relation such as "=", a right side


class Law(NamedTuple):
    """The consequences of an assumption: rewrites, symmetries and signs, with the assumption's statement."""

    statement: Statement
    rewrites: tuple[FactRewrite, ...] = ()
    orders: Orders = ()
    sign: tuple[FormHead, Sign] | None = None


class FactKind(NamedTuple):
    """A kind of assumption: an example in the notation, and functions that recognize it and derive it."""

    name: str
    equation: str
    declared: Callable[[Statement], Law | None]
    proved: Callable[[NamedValue], list[Law]] | None


# ------------------------------------------------------------------------------------------------------- recognized
def make_symmetry_law(statement: Statement) -> Law | None:
    """Return the law that an equation such as S = S_{a→b, b→a} states, or None for any other statement."""
    left, relation, right = statement
    if relation != "=" or not (_is_tensor(left) and _is_tensor(right)) or left == right:
        return None
    ((_, (one,), _),), ((_, (other,), _),) = left, right
    if one.head.label != other.head.label or sorted(one.head.axes) != sorted(other.head.axes):
        return None
    if set(one.indices) != set(other.indices) or len(set(one.indices)) < len(one.indices):
        return None
    return Law(statement, orders=(tuple(one.indices.index(index) for index in other.indices),))


def _is_tensor(form: Form) -> bool:
    return len(form) == 1 and form[0].coefficient == 1 and _is_name(form[0])


def _is_name(product: Product) -> bool:
    kinds = [(factor.head.kind, factor.exponent) for factor in product.factors]
    return not product.summed and kinds == [("tensor", 1)]


SCALARS = ("size", "number", "constant")


def shorter(statement: Statement) -> Law | None:
    """Return the law that rewrites the longer side of an equation to the shorter, as for ∑_{c} t = 1, or None."""
    left, relation, right = statement
    for pattern, result in ((left, right), (right, left)) if relation == "=" else ():
        rewrites = _rewrites(pattern, result)
        if rewrites:
            return Law(statement, rewrites)
    return None


def _rewrites(pattern: Form, result: Form) -> tuple[FactRewrite, ...]:
    if len(pattern) != 1 or len(result) > 1:
        return ()
    (product,) = pattern
    scale = [factor for factor in product.factors if factor.head.kind in SCALARS]
    factors = tuple(factor for factor in product.factors if factor not in scale)
    core = Product(ONE_, factors, product.summed)
    if (
        not factors
        or _is_name(core)
        or any(factor.exponent < 0 or factor.exponent.denominator > 1 for factor in factors)
    ):
        return ()
    inverse = tuple(factor._replace(exponent=-factor.exponent) for factor in scale)
    result = algebra.multiply(result, (Product(1 / product.coefficient, inverse),))
    if any(addend.summed or _weight(addend) >= _weight(core) for addend in result):
        return ()
    if not indices_of(result) <= core.indices():
        return ()
    if core.summed or not result:
        return (FactRewrite(core, result),)
    below = core._replace(factors=tuple(factor._replace(exponent=-factor.exponent) for factor in factors))
    return FactRewrite(core, result), FactRewrite(below, algebra.power(result, -ONE_))


def _weight(product: Product) -> Fraction:
    powers = (abs(factor.exponent) for factor in product.factors if factor.head.kind not in SCALARS)
    return sum(powers, Fraction(len(product.summed)))


def make_comparison_law(statement: Statement) -> Law | None:
    """Return the law of a comparison that implies that a factor is nonnegative, such as x > 0 or 1 ≤ x, or None."""
    left, relation, right = statement
    if relation in ("<", "≤"):
        left, right, relation = right, left, ">" if relation == "<" else "≥"
    if relation not in (">", "≥") or len(left) != 1 or len(left[0].factors) != 1 or left[0].summed:
        return None
    (factor,), bound = left[0].factors, signs.sign_of(right)
    if bound is None or factor.exponent != 1 or left[0].coefficient <= 0:
        return None
    sign: Sign = "positive" if relation == ">" or (right and bound == "positive") else "nonnegative"
    return Law(statement, sign=(factor.head, sign))


# ----------------------------------------------------------------------------------------------------------- proved
MAX_SYMMETRIC_AXES = 4  # axes of a name whose symmetry is looked for, in each of their orders


def symmetric_value(name: NamedValue) -> list[Law]:
    """Return the symmetry laws of a value such as G = X ⊙_{n} X_{m→m'}, which permuting its indices does not change."""
    indices = name.factor.indices
    if not 2 <= len(indices) <= MAX_SYMMETRIC_AXES or indices_of(name.value) != set(indices):
        return []
    _, order, symmetries = canonical.make_closed_key((name.value,), (), set(indices))
    laws = []
    for symmetry in symmetries[1:]:
        moved = tuple(order[symmetry[order.index(index)]] for index in indices)
        laws.append(Law((name.at(*indices), "=", name.at(*moved)), orders=(tuple(map(indices.index, moved)),)))
    return laws


def make_total_laws(name: NamedValue) -> list[Law]:
    """Return the laws about totals of a value, such as ∑_{c} t = 1 for t = softmax_{c} z.

    Another example is ∑_{n} C = 0 for C = X − mean_{n} X.
    """
    alone = name.value[0].factors if len(name.value) == 1 else ()
    along = [[index] for index in name.factor.indices]
    if total_of(name.operator) is not None and len(alone) == 1 and alone[0].head.label == name.operator:
        along = [alone[0].indices[: len(alone[0].indices) - len(alone[0].head.slots)]]
    laws = []
    for indices in along:
        total = multiply_out(algebra.sum_over(name.value, indices))
        if all(total == (Product(addend.coefficient),) for addend in total):  # a number
            pattern = Product(ONE_, (name.factor,), frozenset(indices))
            laws.append(Law(((pattern,), "=", total), (FactRewrite(pattern, total),)))
    return laws


def zero_or_one(name: NamedValue) -> list[Law]:
    """Return the law T ⊙ T = T for a value of zeros and ones, such as T = onehot_{c} y."""
    alone = sole(name.value)
    return [idempotent(name.factor)] if alone is not None and alone.head.label in ("onehot", "indicator") else []


def idempotent(factor: Factor) -> Law:
    """Return the law T² = T for a factor T."""
    square, same = Product(ONE_, (factor._replace(exponent=Fraction(2)),)), (Product(ONE_, (factor,)),)
    return Law(((square,), "=", same), (FactRewrite(square, same),))


def inverses(name: NamedValue) -> list[Law]:
    """Return the laws of an inverse such as V = inv_{a,b} S, whose product with S from either side is the identity."""
    alone = sole(name.value)
    if alone is None or not is_function(alone, "inv") or not _is_tensor(opened(alone)[0]):
        return []
    return [
        Law(((rewrite.pattern,), "=", rewrite.result), (rewrite,)) for rewrite in inverse_rewrites(alone, name.factor)
    ]


def _identity(pattern: Product, *indices: FormIndex) -> Law:
    result = single(DELTA, *indices)
    return Law(((pattern,), "=", result), (FactRewrite(pattern, result),))


def eigenvectors(name: NamedValue) -> list[Law]:
    """Return the laws of eigenvectors Q = eigh_{a,b} S: Q ⊙_{a} Q_{b→b'} = I_{b,b'}, and likewise for a."""
    if name.operator != "eigh" or len(name.factor.indices) != 2:
        return []
    laws = []
    for position, index in enumerate(name.factor.indices):
        other = index.fresh()
        turned = name.factor.at({index: other})
        pattern = Product(ONE_, (name.factor, turned), frozenset((name.factor.indices[1 - position],)))
        laws.append(_identity(pattern, index, other))
    return laws


def make_sign_laws(name: NamedValue) -> list[Law]:
    """Return the law t > 0 for a value that is positive, such as t = softmax_{c} z, or t ≥ 0 if it is nonnegative."""
    sign = signs.sign_of(name.value)
    if sign is None:
        return []
    relation = ">" if sign == "positive" else "≥"
    return [Law((name.at(*name.factor.indices), relation, ZERO), sign=(name.factor.head, sign))]


FACT_KINDS = (
    FactKind("symmetry", "X = X_{a→b, b→a}", make_symmetry_law, symmetric_value),
    FactKind("total", "∑_{a} X = 1", shorter, make_total_laws),
    FactKind("zero or one", "X ⊙ X = X", shorter, zero_or_one),
    FactKind("orthogonality", "X ⊙_{a} X_{b→c} = I_{b,c}", shorter, eigenvectors),
    FactKind("inverse", "X ⊙_{b} Y_{a→c} = I_{a,c}", shorter, inverses),
    FactKind("idempotence", "X ⊙_{b} X_{a→b, b→c} = X_{b→c}", shorter, None),
    FactKind("unit length", "norm_{a} X = 1", shorter, None),
    FactKind("sign", "X > 0", make_comparison_law, make_sign_laws),
)  # fmt: skip
