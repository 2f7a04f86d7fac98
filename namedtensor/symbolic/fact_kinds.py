"""Recognize each kind of assumption in a program, or prove it from a definition."""

from __future__ import annotations

from fractions import Fraction

from . import algebra, canonical, signs
from .factoring import multiply_out
from .factors import is_function, sole, to_form, total_of
from .facts import FactRewrite, KnownFact, Sign, Statement
from .forms import DELTA, ONE_, ZERO, Factor, Form, NamedValue, Product, indices_of, opened, single
from .product_rules import inverse_rewrites


# ------------------------------------------------------------------------------------------------------- recognized
def make_symmetry_law(statement: Statement) -> KnownFact | None:
    """Return the law for an equation such as S = S_{a→b, b→a}, or None for any other statement."""
    left, relation, right = statement
    if relation != "=" or not (_is_tensor(left) and _is_tensor(right)) or left == right:
        return None
    ((_, (one,), _),), ((_, (other,), _),) = left, right
    if one.head.label != other.head.label or sorted(one.head.axes) != sorted(other.head.axes):
        return None
    if set(one.indices) != set(other.indices) or len(set(one.indices)) < len(one.indices):
        return None
    return KnownFact(statement, orders=(tuple(one.indices.index(index) for index in other.indices),))


def _is_tensor(form: Form) -> bool:
    return len(form) == 1 and form[0].coefficient == 1 and _is_name(form[0])


def _is_name(product: Product) -> bool:
    kinds = [(factor.head.kind, factor.exponent) for factor in product.factors]
    return not product.summed and kinds == [("tensor", 1)]


SCALARS = ("size", "number", "constant")


def shorter(statement: Statement) -> KnownFact | None:
    """Return the law that rewrites the longer side of an equation to its shorter side, as for ∑_{c} t = 1.

    Return None if the statement is not an equation, or if neither side can be rewritten to the other.
    """
    left, relation, right = statement
    for pattern, result in ((left, right), (right, left)) if relation == "=" else ():
        rewrites = _rewrites(pattern, result)
        if rewrites:
            return KnownFact(statement, rewrites)
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


def make_comparison_law(statement: Statement) -> KnownFact | None:
    """Return the law for a comparison that implies the sign of a factor, such as x > 0 or 1 ≤ x, or None otherwise."""
    left, relation, right = statement
    if relation in ("<", "≤"):
        left, right, relation = right, left, ">" if relation == "<" else "≥"
    if relation not in (">", "≥") or len(left) != 1 or len(left[0].factors) != 1 or left[0].summed:
        return None
    (factor,), bound = left[0].factors, signs.sign_of(right)
    if bound is None or factor.exponent != 1 or left[0].coefficient <= 0:
        return None
    sign: Sign = "positive" if relation == ">" or (right and bound == "positive") else "nonnegative"
    return KnownFact(statement, sign=(factor.head, sign))


# ----------------------------------------------------------------------------------------------------------- proved
MAX_SYMMETRIC_AXES = 4  # Symmetry is tested only for names with at most this many axes.


def symmetric_value(name: NamedValue) -> list[KnownFact]:
    """Return the symmetry laws of a value such as G = X ⊙_{n} X_{m→m'}.

    Such a value does not change if its indices are permuted.
    """
    indices = name.factor.indices
    if not 2 <= len(indices) <= MAX_SYMMETRIC_AXES or indices_of(name.value) != set(indices):
        return []
    _, order, symmetries = canonical.make_closed_key((name.value,), (), set(indices))
    laws = []
    for symmetry in symmetries[1:]:
        moved = tuple(order[symmetry[order.index(index)]] for index in indices)
        sides = to_form(name.factor), to_form(name.factor._replace(indices=moved))
        laws.append(KnownFact((sides[0], "=", sides[1]), orders=(tuple(map(indices.index, moved)),)))
    return laws


def make_total_laws(name: NamedValue) -> list[KnownFact]:
    """Return the laws about sums of a value along its axes, such as ∑_{c} t = 1 for t = softmax_{c} z.

    Another example is ∑_{n} C = 0 for C = X − mean_{n} X.
    """
    alone = sole(name.value)
    along = [[index] for index in name.factor.indices]
    if alone is not None and total_of(str(alone.head.label)) is not None:
        along = [alone.indices[: len(alone.indices) - len(alone.head.slots)]]
    laws = []
    for indices in along:
        total = multiply_out(algebra.sum_over(name.value, indices))
        if all(total == (Product(addend.coefficient),) for addend in total):  # The sum is a number.
            pattern = Product(ONE_, (name.factor,), frozenset(indices))
            laws.append(make_rewrite_law(pattern, total))
    return laws


def zero_or_one(name: NamedValue) -> list[KnownFact]:
    """Return the law T ⊙ T = T for a value with only zeros and ones, such as T = onehot_{c} y."""
    alone = sole(name.value)
    return [idempotent(name.factor)] if alone is not None and alone.head.label in ("onehot", "indicator") else []


def idempotent(factor: Factor) -> KnownFact:
    """Return the law T² = T for a factor T."""
    return make_rewrite_law(Product(ONE_, (factor._replace(exponent=Fraction(2)),)), to_form(factor))


def make_rewrite_law(pattern: Product, result: Form) -> KnownFact:
    """Return the law that a product is equal to a simpler form."""
    return KnownFact(((pattern,), "=", result), (FactRewrite(pattern, result),))


def inverses(name: NamedValue) -> list[KnownFact]:
    """Return the laws of an inverse such as V = inv_{a,b} S. Its product with S, on either side, is the identity."""
    alone = sole(name.value)
    if alone is None or not is_function(alone, "inv") or not _is_tensor(opened(alone)[0]):
        return []
    return [make_rewrite_law(*rewrite) for rewrite in inverse_rewrites(alone, name.factor)]


def eigenvectors(name: NamedValue) -> list[KnownFact]:
    """Return the laws for eigenvectors Q = eigh_{a,b} S.

    The products of Q and its transpose, in either order, are the identity, as in Q ⊙_{a} Q_{b→b'} = I_{b,b'}.
    """
    alone = sole(name.value)
    if alone is None or not is_function(alone, "eigh") or len(name.factor.indices) != 2:
        return []
    laws = []
    for position, index in enumerate(name.factor.indices):
        other = index.fresh()
        turned = name.factor.at({index: other})
        pattern = Product(ONE_, (name.factor, turned), frozenset((name.factor.indices[1 - position],)))
        laws.append(make_rewrite_law(pattern, single(DELTA, index, other)))
    return laws


def make_sign_laws(name: NamedValue) -> list[KnownFact]:
    """Return the law t > 0 for a positive value, such as t = softmax_{c} z, or t ≥ 0 for a nonnegative value."""
    sign = signs.sign_of(name.value)
    if sign is None:
        return []
    relation = ">" if sign == "positive" else "≥"
    return [KnownFact((to_form(name.factor), relation, ZERO), sign=(name.factor.head, sign))]


RECOGNIZED = (make_symmetry_law, shorter, make_comparison_law)  # From an equation or a comparison.
PROVED = (symmetric_value, make_total_laws, zero_or_one, eigenvectors, inverses, make_sign_laws)  # From a definition.
