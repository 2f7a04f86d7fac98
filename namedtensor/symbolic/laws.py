"""The laws by which forms are simplified: a name, an equation of the notation, the kind of form, and the function that applies it.

Each equation is tested as a claim, on tensors of drawn shapes, and as what its function does: both sides have one form.
The rows stand in the order in which they are tried: first those of one product, `algebra.PRODUCT_RULES`, then sums and
operators, whenever a form is made; then those of a whole form, in reading alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from . import algebra, applying, factoring, folding, known


class Law(NamedTuple):
    """A law of simplification; `shapes` are those of the tensors in its equation."""

    name: str
    equation: str
    shapes: dict[str, str]
    kind: Literal["product", "sum", "operator", "form"]
    function: Callable[..., Any]


A, AB, SQUARE = "ℝ^{a}", "ℝ^{a × b}", "ℝ^{a × c}"
LAWS = (
    Law("identity", "X ⊙_{a} I_{a,c} = X_{a→c}", {"X": AB}, "product", algebra.contracted),
    Law("trace of an identity", "trace_{a,c} (I_{a,c} ⊙ X) = ∑_{a} X", {"X": AB}, "product", algebra.contracted),
    Law("equal factors", "x ⊙ y ⊙ x / y = x^2", {"x": A, "y": A}, "product", algebra.gathered),
    Law("sign of a number", "sign(x) ⊙ x = abs x", {"x": A}, "product", algebra.signed),
    Law("sign", "sign(x) ⊙ abs x = x", {"x": A}, "product", algebra.signed),
    Law("square of an absolute value", "abs(x)^2 = x^2", {"x": A}, "product", algebra.signed),
    Law("sum of softmax", "∑_{a} (softmax_{a} X ⊙ y) = y", {"X": AB, "y": "ℝ^{b}"}, "product", algebra.totalled),
    Law("sum of standardize", "∑_{a} (standardize_{a} X ⊙ y) = 0 y", {"X": AB, "y": "ℝ^{b}"}, "product", algebra.totalled),
    Law("sum of argmax", "∑_{a} (argmax_{a} X ⊙ y) = y", {"X": AB, "y": "ℝ^{b}"}, "product", algebra.totalled),
    Law("sum of argmin", "∑_{a} (argmin_{a} X ⊙ y) = y", {"X": AB, "y": "ℝ^{b}"}, "product", algebra.totalled),
    Law("sum of onehot", "∑_{a} (onehot_{a}(1) ⊙ y) + 0 ∑_{a} x = y + 0 ∑_{a} x", {"x": A, "y": "ℝ^{b}"}, "product", algebra.totalled),
    Law("no such axis", "∑_{a} (x + 0 X) = |a| x + ∑_{a} 0 X", {"x": "ℝ^{b}", "X": AB}, "product", algebra.sized),
    Law("like terms", "X ⊙_{a} y + 2 (y ⊙_{a} X) = 3 (X ⊙_{a} y)", {"X": AB, "y": A}, "sum", algebra.add),
    Law("distribute", "(x + y) ⊙_{a} (X + I_{a,b}) = x ⊙_{a} X + y ⊙_{a} X + x_{a→b} + y_{a→b}", {"x": A, "y": A, "X": AB},
        "sum", algebra.multiplied_out),
    Law("exponent", "exp(−x) ⊙ exp(3 x) = exp(x)^2", {"x": A}, "operator", applying.exponential),
    Law("logarithm", "log(exp x ⊙ exp y) = x + y", {"x": A, "y": A}, "operator", applying.logarithm),
    Law("sign of an argument", "tanh(−x) + cos(−x) = cos x − tanh x", {"x": A}, "operator", applying.by_parity),
    Law("symmetric", "inv_{a,c}(X ⊙_{b} X_{a→c}) = [inv_{a,c}(X ⊙_{b} X_{a→c})]_{a→c, c→a}", {"X": AB}, "operator", applying.applied),
    Law("name", "A = X ⊙_{a} y\nX ⊙_{a} (y ⊙ 3) = 3 A", {"X": AB, "y": A}, "form", folding.folded),
    Law("softmax", "exp x / ∑_{a} exp x = softmax_{a} x", {"x": A}, "form", known.recognized),
    Law("σ", "exp(x) / (1 + exp x) = σ(x)", {"x": A}, "form", known.recognized),
    Law("rank one", "[inv_{a,c}(I_{a,c} + x ⊙ y_{a→c})]_{a→k} ⊙_{c} x_{a→c} = x_{a→k} / (1 + x ⊙_{a} y)", {"x": A, "y": A}, "form", known.updated),
    Law("along", "M ⊙_{a,c} expm_{a,c}(M, N) = N ⊙_{a,c} [expm_{a,c}(M, M_{a→c, c→a})]_{a→c, c→a}",
        {"M": SQUARE, "N": SQUARE}, "form", known.solved),
    Law("solve", "[inv_{a,c} M]_{a→k, c→a} ⊙_{a} x = [solve_{a,c}(M, x)]_{c→k}", {"M": SQUARE, "x": A}, "form", known.solved),
    Law("fraction", "x / (1 + y / z) = x ⊙ z / (z + y)", {"x": A, "y": A, "z": A}, "form", factoring.cleared),
    Law("factor", "X ⊙_{a} y + X ⊙_{a} z = X ⊙_{a} (y + z)", {"X": AB, "y": A, "z": A}, "form", factoring.factored),
)  # fmt: skip
