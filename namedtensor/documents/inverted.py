r"""Quotients whose operands seem to be exchanged, or whose divisor is 0 for the first index.

\sqrt{|\key|} / (Q ⊙_{key} K)        scores are divided by the root, and not the reverse
\sqrt{mean X^2 + ε} / X              a tensor is divided by its norm
θ^{(k-1)/n} / 1                      a division by 1
1 / θ^{n/(k-1)}                      k - 1 is 0 for k = 1
1 / θ^{(1-k)/n}                      the exponent is never positive
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grammar import nodes

from ..scope.names import walk
from .index_values import affine
from .lines import DocumentLines, Line, Suspicion, is_call

CODE = 411
NORMS = ("norm", "std", "∑")  # of X, by which X is divided
EXCHANGED = "exchange the numerator and the denominator"


def inverted_quotients(lines: DocumentLines) -> Iterator[Suspicion]:
    """Yield a suspicion for each quotient that seems to be inverted, or to have no value."""
    for line in lines.all:
        for node, above in line.with_ancestors:
            if is_call(node, "/") and len(node.arguments) == 2:
                suspicion = _of_quotient(lines, line, node, above)
                if suspicion is not None:
                    yield suspicion


def _of_quotient(lines: DocumentLines, line: Line, node: Any, above: tuple[Any, ...]) -> Suspicion | None:
    over, under = node.arguments
    upper, lower = lines.text(line, over), lines.text(line, under)
    if over == under and not isinstance(over, nodes.Number):
        return Suspicion(
            CODE, line, node, f"{upper} is divided by itself", "write 1, or put in the missing term or factor"
        )
    if under == nodes.Number(1):
        return Suspicion(CODE, line, node, "division by 1", EXCHANGED)
    if is_call(over, "sqrt") and _is_product_of(under, over.arguments[0], above):
        return Suspicion(CODE, line, node, f"{upper} is divided by scores, {lower}", EXCHANGED)
    if (norm := _norm_of(over)) is not None and norm == under and not any(is_call(parent, "log") for parent in above):
        return Suspicion(CODE, line, node, f"{upper} is computed of {lower}, and divided by it", EXCHANGED)
    if _is_guarded_root(over, under) and not isinstance(under, (nodes.Number, nodes.Size)):
        return Suspicion(CODE, line, node, f"{upper} has an ε as a divisor has, and is divided by {lower}", EXCHANGED)
    zero = _zero_of(line, under, above)
    if zero:
        return Suspicion(CODE, line, under, f"{lower} is 0 for {zero}", "change the divisor, or exchange the operands")
    if isinstance(over, nodes.Number) and (exponent := _falling_exponent(line, under)) is not None:
        text = lines.text(line, exponent)
        return Suspicion(CODE, line, exponent, f"{text} is never positive, and {lower} is a divisor", "exchange the operands of the exponent")  # fmt: skip
    return None


def _is_product_of(node: Any, scale: Any, above: tuple[Any, ...]) -> bool:
    """Whether a node is a contraction over the axes of whose sizes `scale` is the product, or one within a softmax."""
    if not is_call(node, "⊙") or not node.subscript:
        return False
    sizes = {part.axis.name for part in walk(scale) if isinstance(part, nodes.Size)}
    axes = {axis.text for axis in node.subscript if isinstance(axis, nodes.Name)}
    return bool(sizes) and sizes == axes or any(is_call(parent, "softmax") for parent in above)


def _norm_of(node: Any) -> Any:
    """Of what a node is a norm: X of norm_{ax} X, ∑_{ax} X and √(mean_{ax}(X^2) + ε)."""
    if is_call(node, *NORMS) and node.subscript and len(node.arguments) == 1:
        return node.arguments[0]
    if not is_call(node, "sqrt"):
        return None
    inner = node.arguments[0]
    inner = inner.arguments[0] if is_call(inner, "+", "-") and len(inner.arguments) == 2 else inner
    if not is_call(inner, "mean", "∑") or not inner.subscript:
        return None
    squared = inner.arguments[0]
    if is_call(squared, "⊙") and not squared.subscript and squared.arguments[0] == squared.arguments[1]:
        return squared.arguments[0]
    is_square = isinstance(squared, nodes.Superscript) and squared.components == (nodes.Number(2),)
    return squared.base if is_square else None


def _is_guarded_root(node: Any, under: Any) -> bool:
    """Whether a node is √(v + ε), of a variance, or √(σ^2 + ε) above a difference: the ε keeps a divisor from 0."""
    if not is_call(node, "sqrt") or not is_call(node.arguments[0], "+"):
        return False
    of, small = node.arguments[0].arguments
    is_variance = isinstance(of, nodes.Name) or is_call(of, "var", "mean", "∑")
    return is_small(small) and (is_variance or is_call(under, "-") and isinstance(of, nodes.Superscript))


def is_small(node: Any) -> bool:
    """Whether a node is ε, or a small number: 10^{-5}."""
    if isinstance(node, nodes.Superscript) and node.base == nodes.Number(10) and len(node.components) == 1:
        power = node.components[0]
        return is_call(power, "negative") or isinstance(power, nodes.Number) and power.value < 0
    return isinstance(node, nodes.Name) and node.text == "ε" or isinstance(node, nodes.Number) and 0 < node.value < 0.01


PARITIES = {"odd": 1, "even": 0}


def _zero_of(line: Line, under: Any, above: tuple[Any, ...]) -> str:
    """The least value of the index in a divisor, k = 1, where the divisor is 0 for it."""
    index, bound = affine(under), line.indices
    if index is None or len(index.names) != 1:
        return ""
    (name,) = index.names
    least = affine(bound[name]) if name in bound else None
    if least is None or least.names:
        return ""
    first = least.constant
    guards = [condition for parent in above if isinstance(parent, nodes.Cases) for value, condition in parent.branches if value in above or value == under]  # fmt: skip
    for condition in guards:
        if not is_call(condition, *PARITIES) or condition.arguments != (nodes.Name(name),):
            return ""
        first += (first - PARITIES[condition.operator]) % 2
    return f"{name} = {first}" if index.at({name: first}) == 0 else ""


def _falling_exponent(line: Line, node: Any) -> Any:
    """The exponent of a power, (1 - k) / n, if it is never positive and not written as negative."""
    if not isinstance(node, nodes.Superscript) or len(node.components) != 1:
        return None
    exponent = node.components[0]
    over = exponent.arguments[0] if is_call(exponent, "/") else exponent
    index = affine(over) if is_call(over, "-") else None
    if index is None or len(index.names) != 1:
        return None
    ((name, factor),) = index.coefficients.items()
    least = affine(line.indices[name]) if name in line.indices else None
    is_falling = least is not None and not least.names and factor < 0 and index.at({name: least.constant}) <= 0
    return exponent if is_falling else None
