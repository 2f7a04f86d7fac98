"""Fused kernels: patterns of terms that a library computes in one operation, matched by structure, not by name."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

from ..terms.terms import Term
from . import scaled_integers
from .lowering import Lowering, multiple
from .plan import PlanValue
from .regions import is_product

SCALES = ("/", "⊙")
# The library may multiply Q and K by the root of the scale. A tiny factor then loses up to four bits.
MIN_ATTENTION_SCALE = 2.0**-8


def attention(lowering: Lowering, term: Term) -> Any:
    """Match softmax_{ax}(c Q ⊙_{key} K + M) ⊙_{ax} V, and return the fused attention, or None if it does not match."""
    for soft, other in (term.arguments, term.arguments[::-1]):
        if soft.operator == "softmax" and soft.axes == term.axes and len(soft.axes) == 1 and lowering.has_one_use(soft):
            result = _attention(lowering, soft.arguments[0], other, soft.axes[0])
            if result is not None:
                lowering.fused.add(id(term))
                return result
    return None


def _attention(lowering: Lowering, scores: Term, values: Term, column: str) -> Any:
    b = lowering.builder
    bias = None
    if scores.operator == "+":
        for part, rest in (scores.arguments, scores.arguments[::-1]):
            if _match_scaled_contraction(lowering, part) is not None and rest.number is None:
                scores, bias = part, lowering.known(rest)
                break
    element = _match_scaled_contraction(lowering, scores)
    if element is None:
        return None
    product, scale = element
    if abs(scale) < MIN_ATTENTION_SCALE:
        return None
    pair = [lowering.known(argument) for argument in (*product.arguments, values)]
    if any(
        not isinstance(operand, PlanValue) or b.kind(operand) != "f" or operand.dtype != pair[0].dtype  # type: ignore[union-attr]
        for operand in pair
    ):
        return None
    q, k, v = pair
    assert isinstance(q, PlanValue) and isinstance(k, PlanValue) and isinstance(v, PlanValue)
    if column in q.order:
        q, k = k, q
    (key,) = product.axes
    batch = tuple(axis for axis in q.order if axis in k.order and axis != key)
    rows = tuple(axis for axis in q.order if axis not in (*batch, key))
    inner = tuple(axis for axis in v.order if axis not in (*batch, column))
    fits = set(k.order) == {*batch, column, key} and set(v.order) == {*batch, column, *inner} and column not in q.order
    if not fits or len(rows) != 1 or len(inner) != 1 or inner[0] in (*rows, key) or len(batch) > 2:
        return None

    def laid(x: PlanValue, *last: str) -> PlanValue:
        x = b.reorder(x, (*batch, *last))
        ones = 2 - len(batch)
        return b.reshape(x, (*[f"1{n}" for n in range(ones)], *x.order), (*[1] * ones, *x.shape))

    arguments = [laid(q, *rows, key), laid(k, column, key), laid(v, column, *inner)]
    if bias is not None:
        allowed = {*batch, *rows, column}
        if not isinstance(bias, PlanValue) or bias.dtype != q.dtype or not set(bias.order) <= allowed:
            return None
        arguments.append(
            laid(
                b.broadcast(bias, (*batch, *rows, column), (*arguments[0].shape[2 - len(batch) : 3], k.size(column))),
                *rows,
                column,
            )
        )
    order = (*batch, *rows, *inner)
    shape = (*arguments[0].shape[:3], arguments[2].shape[-1])
    whole = (*arguments[0].order[: 2 - len(batch)], *order)
    result = b.step("attention", arguments, whole, shape, q.dtype, scale=scale)
    return b.reshape(result, order, shape[2 - len(batch) :])


def _match_scaled_contraction(lowering: Lowering, term: Term, several: bool = False) -> tuple[Term, float] | None:
    """Match a contraction, or a contraction times or divided by a number. Return the contraction and its scale.

    The result is None if the term does not match or is used twice. The contraction must be over one axis, unless
    `several` is true.
    """
    scale = 1.0
    if term.operator in SCALES and not term.axes and lowering.has_one_use(term):
        scaled = multiple(term)
        if scaled is None:
            return None
        term, scale = scaled
    contraction = is_product(term) and (several or len(term.axes) == 1)
    return (term, scale) if contraction and lowering.has_one_use(term) else None


def linear(lowering: Lowering, term: Term) -> Any:
    """Match X ⊙_{ax} W + b, and return its fused value, or None if the term does not match.

    The axes of b are the axes of W except ax. The sum may have further addends.
    """
    addends = _addends(lowering, term, True)
    for product, bias in permutations(range(len(addends)), 2):
        result = _linear(lowering, addends[product], lowering.known(addends[bias]))
        if result is not None:
            for index, addend in enumerate(addends):  # Compare indices, since one addend may appear twice.
                if index not in (product, bias):
                    result = lowering.builder.add(lowering.value(addend), result)
            return result
    return None


def _addends(lowering: Lowering, term: Term, first: bool = False) -> list[Term]:
    """Return the addends of a sum, including the addends of each nested sum that is used only here."""
    if term.operator != "+" or not (first or lowering.has_one_use(term)):
        return [term]
    return [addend for argument in term.arguments for addend in _addends(lowering, argument)]


def _linear(lowering: Lowering, product: Term, bias: Any) -> Any:
    b, scaled = lowering.builder, _match_scaled_contraction(lowering, product, several=True)
    if scaled is None or scaled[1] != 1.0 or scaled_integers.is_product(lowering, product):
        return None
    if not isinstance(bias, PlanValue) or not bias.order or b.kind(bias) != "f":
        return None
    for first, second in (product.arguments, product.arguments[::-1]):
        x, matrix = lowering.known(first), lowering.known(second)
        if (
            not isinstance(x, PlanValue)
            or not isinstance(matrix, PlanValue)
            or not x.dtype == matrix.dtype == bias.dtype
        ):
            continue
        axes = tuple(axis for axis in x.order if axis in product.axes)
        rows, out = tuple(axis for axis in x.order if axis not in axes), bias.order
        if (
            not rows
            or set(rows) & set(out)
            or set(matrix.order) != {*axes, *out}
            or len(matrix.order) != len(axes + out)
        ):
            continue
        counts = [math.prod(b.extents(matrix, names)) for names in (out, axes)]
        extents = b.extents(x, rows)
        x = b.reshape(b.reorder(x, (*rows, *axes)), (*rows, "(in)"), (*extents, counts[1]))
        matrix = b.reshape(b.reorder(matrix, (*out, *axes)), ("(out)", "(in)"), counts)
        flat = b.reshape(bias, ("(out)",), counts[:1])
        step = b.step("addmm", (x, matrix, flat), (*rows, "(out)"), (*extents, counts[0]), x.dtype)
        return b.reshape(step, (*rows, *out), (*extents, *bias.shape))
    return None


def layer_norm(lowering: Lowering, term: Term) -> Any:
    """Match (X − mean_{ax} X) / √(var_{ax} X + ε), and return its fused value, or None if the term does not match.

    The quotient may be scaled and shifted, as in … ⊙ γ + β. With such a scale and shift, the operator `standardize`
    also matches in place of the quotient.
    """
    if term.operator == "/":
        result = _match_standardization(term)
        return None if result is None else _layer_norm(lowering, *result)
    for scaled, shift in (term.arguments, term.arguments[::-1]):
        if scaled.operator != "⊙" or scaled.axes or not lowering.has_one_use(scaled):
            continue
        for inner, scale in (scaled.arguments, scaled.arguments[::-1]):
            result = _match_standardization(inner) if lowering.has_one_use(inner) else None
            if result is not None:
                return _layer_norm(lowering, *result, lowering.known(scale), lowering.known(shift))
    return None


def _match_standardization(term: Term) -> tuple[Term, tuple[str, ...], float] | None:
    """Match a term that standardizes X. Return X, the axes and ε, or None if the term does not match."""
    if term.operator == "standardize":
        eps = dict(term.options).get("eps", 1e-5)
        return (term.arguments[0], term.axes, eps) if isinstance(eps, (int, float)) else None
    if term.operator != "/" or term.axes:
        return None
    away, root = term.arguments
    if away.operator != "-" or root.operator != "sqrt":
        return None
    spread, eps = root.arguments[0], 0.0
    if spread.operator == "+":
        for left, right in (spread.arguments, spread.arguments[::-1]):
            if isinstance(right.number, (int, float)):
                spread, eps = left, float(right.number)
                break
    x, mean = away.arguments
    if mean.operator != "mean" or spread.operator != "var" or mean.axes != spread.axes or not mean.axes:
        return None
    same = mean.arguments[0] is x and spread.arguments[0] is x and not mean.options and not spread.options
    return (x, mean.axes, eps) if same else None


def _layer_norm(lowering: Lowering, x: Term, axes: tuple[str, ...], eps: float, *weights: Any) -> Any:
    b, known = lowering.builder, lowering.known(x)
    if not isinstance(known, PlanValue) or b.kind(known) != "f" or known.dynamic:
        return None
    last = known.order[len(known.order) - len(axes) :]
    if set(last) != set(axes) or any(
        not isinstance(weight, PlanValue) or set(weight.order) != set(axes) for weight in weights
    ):
        return None
    if any(weight.dtype != known.dtype for weight in weights):
        return None
    sizes = known.shape[len(known.order) - len(axes) :]
    arguments = [known, *(b.reorder(weight, last) for weight in weights)]
    return b.step("layer_norm", arguments, known.order, known.shape, known.dtype, sizes=sizes, eps=eps)
