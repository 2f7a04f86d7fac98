"""The laws by which forms are simplified: a name, an equation of the notation, and the function that applies it.

Each equation is tested as a claim, on tensors of drawn shapes, and as what its function does: both sides have one form.
`when` says where a law is used: always, in reading alone, or in reading under a condition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from . import algebra, applying, factoring, folding, known


class Law(NamedTuple):
    """A law of simplification; `shapes` are those of the tensors in its equation."""

    name: str
    equation: str
    shapes: dict[str, str]
    function: Callable[..., Any]
    when: str = "always"


A, AB = "ℝ^{a}", "ℝ^{a × b}"
LAWS = (
    Law("identity", "X ⊙_{a} I_{a,c} = X_{a→c}", {"X": AB}, algebra.settled),
    Law("trace of an identity", "∑_{a} (I_{a,c} ⊙ I_{a,c} ⊙ X) = X_{a→c}", {"X": AB}, algebra.settled),
    Law("no such axis", "∑_{a} (x + 0 X) = |a| x + ∑_{a} 0 X", {"x": "ℝ^{b}", "X": AB}, algebra.settled),
    Law("like terms", "X ⊙_{a} y + 2 (y ⊙_{a} X) = 3 (X ⊙_{a} y)", {"X": AB, "y": A}, algebra.add),
    Law("equal factors", "x ⊙ y ⊙ x / y = x^2", {"x": A, "y": A}, algebra.settled),
    Law("distribute", "(x + y) ⊙_{a} (X + I_{a,b}) = x ⊙_{a} X + y ⊙_{a} X + x_{a→b} + y_{a→b}", {"x": A, "y": A, "X": AB},
        algebra.multiplied_out),
    Law("sign", "sign(x) ⊙ abs x = x", {"x": A}, algebra.settled),
    Law("square of an absolute value", "abs(x)^2 = x^2", {"x": A}, algebra.settled),
    Law("sign of an argument", "tanh(−x) + cos(−x) = cos x − tanh x", {"x": A}, applying.applied),
    Law("sign of a number", "sign(x) ⊙ x = abs x", {"x": A}, algebra.settled),
    Law("exponent", "exp(−x) ⊙ exp(3 x) = exp(x)^2", {"x": A}, applying.applied),
    Law("logarithm", "log(exp x ⊙ exp y) = x + y", {"x": A, "y": A}, applying.applied),
    Law("sum of softmax", "∑_{a} (softmax_{a} X ⊙ y) = y", {"X": AB, "y": "ℝ^{b}"}, algebra.settled),
    Law("sum of standardize", "∑_{a} (standardize_{a} X ⊙ y) = 0 y", {"X": AB, "y": "ℝ^{b}"}, algebra.settled),
    Law("sum of argmax", "∑_{a} (argmax_{a} X ⊙ y) = y", {"X": AB, "y": "ℝ^{b}"}, algebra.settled),
    Law("factor", "X ⊙_{a} y + X ⊙_{a} z = X ⊙_{a} (y + z)", {"X": AB, "y": A, "z": A}, factoring.factored, "reading"),
    Law("softmax", "exp x / ∑_{a} exp x = softmax_{a} x", {"x": A}, known.recognized),
    Law("σ", "exp(x) / (1 + exp x) = σ(x)", {"x": A}, known.recognized),
    Law("symmetric", "inv_{a,c}(X ⊙_{b} X_{a→c}) = [inv_{a,c}(X ⊙_{b} X_{a→c})]_{a→c, c→a}", {"X": AB}, applying.applied),
    Law("solve", "[inv_{a,c} M]_{a→k, c→a} ⊙_{a} x = [solve_{a,c}(M, x)]_{c→k}", {"M": "ℝ^{a × c}", "x": A}, known.solved, "reading"),
    Law("along", "M ⊙_{a,c} expm_{a,c}(M, N) = N ⊙_{a,c} [expm_{a,c}(M, M_{a→c, c→a})]_{a→c, c→a}",
        {"M": "ℝ^{a × c}", "N": "ℝ^{a × c}"}, known.solved, "reading"),
    Law("fraction", "x / (1 + y / z) = x ⊙ z / (z + y)", {"x": A, "y": A, "z": A}, factoring.cleared, "reading"),
    Law("name", "A = X ⊙_{a} y\nX ⊙_{a} (y ⊙ 3) = 3 A", {"X": AB, "y": A}, folding.folded, "reading"),
)  # fmt: skip
