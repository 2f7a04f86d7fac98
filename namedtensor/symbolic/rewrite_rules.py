"""List the rewrite rules that simplify forms.

Each rule has a name, an equation, the kind of form that it rewrites, and a function.

The tests check each equation as an assertion on random shapes. They also check that the rule's function gives both
sides the same form. The rows are in order of application. Rules for one product (`algebra.PRODUCT_RULES`) come first,
then rules for sums and operators. These rules apply to every new form. The next rules apply to an entire form, and only
in closed forms. The last rules apply only in proofs. Each of them is valid if both of its sides have a value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from . import algebra, applying, definitions, factoring, factors, from_terms, known, matching, matrices, product_rules


class RewriteRule(NamedTuple):
    """A rewrite rule. `shapes` contains the shapes of the tensors in its equation."""

    name: str
    equation: str
    shapes: dict[str, str]
    kind: Literal["product", "sum", "operator", "form", "proof"]
    function: Callable[..., Any]


def proof(name: str, equation: str, shapes: dict[str, str], function: Callable[..., Any]) -> RewriteRule:
    """Create a rewrite rule that applies only in proofs."""
    return RewriteRule(name, equation, shapes, "proof", function)


A, AB, SQUARE = "ℝ^{a}", "ℝ^{a × b}", "ℝ^{a × c}"
REWRITE_RULES = (
    RewriteRule("identity", "X ⊙_{a} I_{a,c} = X_{a→c}", {"X": AB}, "product", factors.contract_identities),
    RewriteRule("trace of an identity", "trace_{a,c} (I_{a,c} ⊙ X) = ∑_{a} X", {"X": AB}, "product", factors.contract_identities),
    RewriteRule("equal factors", "x ⊙ y ⊙ x / y = x^2", {"x": A, "y": A}, "product", factors.gather_powers),
    RewriteRule("sign of a number", "sign(x) ⊙ x = abs x", {"x": A}, "product", algebra.apply_sign_rules),
    RewriteRule("sign", "sign(x) ⊙ abs x = x", {"x": A}, "product", algebra.apply_sign_rules),
    RewriteRule("square of an absolute value", "abs(x)^2 = x^2", {"x": A}, "product", algebra.apply_sign_rules),
    RewriteRule("sum of softmax", "∑_{a} (softmax_{a} X ⊙ y) = y", {"X": AB, "y": "ℝ^{b}"}, "product", matching.apply_totals),
    RewriteRule("sum of standardize", "∑_{a} (standardize_{a} X ⊙ y) = 0 y", {"X": AB, "y": "ℝ^{b}"}, "product", matching.apply_totals),
    RewriteRule("sum of argmax", "∑_{a} (argmax_{a} X ⊙ y) = y", {"X": AB, "y": "ℝ^{b}"}, "product", matching.apply_totals),
    RewriteRule("sum of argmin", "∑_{a} (argmin_{a} X ⊙ y) = y", {"X": AB, "y": "ℝ^{b}"}, "product", matching.apply_totals),
    RewriteRule("sum of onehot", "∑_{a} (onehot_{a}(1) ⊙ y) + 0 ∑_{a} x = y + 0 ∑_{a} x", {"x": A, "y": "ℝ^{b}"}, "product", matching.apply_totals),
    RewriteRule("no such axis", "∑_{a} (x + 0 X) = |a| x + ∑_{a} 0 X", {"x": "ℝ^{b}", "X": AB}, "product", factors.sum_constants),
    RewriteRule("like terms", "X ⊙_{a} y + 2 (y ⊙_{a} X) = 3 (X ⊙_{a} y)", {"X": AB, "y": A}, "sum", algebra.add),
    RewriteRule("distribute", "(x + y) ⊙_{a} (X + I_{a,b}) = x ⊙_{a} X + y ⊙_{a} X + x_{a→b} + y_{a→b}", {"x": A, "y": A, "X": AB},
        "sum", factoring.multiply_out),
    RewriteRule("exponent", "exp(−x) ⊙ exp(3 x) = exp(x)^2", {"x": A}, "operator", applying.exponential),
    RewriteRule("logarithm", "log(exp x ⊙ exp y) = x + y", {"x": A, "y": A}, "operator", applying.logarithm),
    RewriteRule("sign of an argument", "tanh(−x) + cos(−x) = cos x − tanh x", {"x": A}, "operator", applying.apply_parity),
    RewriteRule("comparison", "𝕀[exp x > 0] ⊙ y = y", {"x": A, "y": A}, "operator", applying.simplify_indicator),
    RewriteRule("symmetric", "inv_{a,c}(X ⊙_{b} X_{a→c}) = [inv_{a,c}(X ⊙_{b} X_{a→c})]_{a→c, c→a}", {"X": AB}, "operator", applying.apply_operator),
    RewriteRule("name", "A = X ⊙_{a} y\nX ⊙_{a} (y ⊙ 3) = 3 A", {"X": AB, "y": A}, "form", known.fold_named_parts),
    RewriteRule("softmax", "exp x / ∑_{a} exp x = softmax_{a} x", {"x": A}, "form", known.recognize_functions),
    RewriteRule("σ", "exp(x) / (1 + exp x) = σ(x)", {"x": A}, "form", known.recognize_functions),
    RewriteRule("rank one", "[inv_{a,c}(I_{a,c} + x ⊙ y_{a→c})]_{a→k} ⊙_{c} x_{a→c} = x_{a→k} / (1 + x ⊙_{a} y)", {"x": A, "y": A}, "form", known.simplify_update),
    RewriteRule("along", "M ⊙_{a,c} expm_{a,c}(M, N) = N ⊙_{a,c} [expm_{a,c}(M, M_{a→c, c→a})]_{a→c, c→a}",
        {"M": SQUARE, "N": SQUARE}, "form", known.recognize_solve),
    RewriteRule("solve", "[inv_{a,c} M]_{a→k, c→a} ⊙_{a} x = [solve_{a,c}(M, x)]_{c→k}", {"M": SQUARE, "x": A}, "form", known.recognize_solve),
    RewriteRule("fraction", "x / (1 + y / z) = x ⊙ z / (z + y)", {"x": A, "y": A, "z": A}, "form", factoring.clear_fractions),
    RewriteRule("factor", "X ⊙_{a} y + X ⊙_{a} z = X ⊙_{a} (y + z)", {"X": AB, "y": A, "z": A}, "form", factoring.factor_form),
    *(proof(f"definition of {operator}", definitions.equation_with_defaults(operator), dict.fromkeys("XYZ", "ℝ^{row}" if "row" in definitions.equation_with_defaults(operator) else "ℝ^{ax}"),
        definitions.expand) for operator in definitions.definitions() if operator not in from_terms.RULES),
    proof("indicator", "𝕀[x > y] = (sign(x − y)^2 + sign(x − y)) / 2", {"x": A, "y": A}, applying.simplify_indicator),
    proof("element", "X_{a(1)} = X ⊙_{a} onehot_{a}(1)", {"X": AB}, applying.apply_operator),
    proof("sine and cosine", "(sin x)^2 + (cos x)^2 = 1", {"x": A}, product_rules.pythagorean),
    proof("sum of angles", "sin(x + y) = sin x ⊙ cos y + cos x ⊙ sin y", {"x": A, "y": A}, applying.apply_addition_theorem),
    proof("factors of an argument", "abs(x ⊙ y) = abs x ⊙ abs y", {"x": A, "y": A}, applying.apply_to_factors),
    proof("power of a sign", "(sign x)^3 ⊙ y = sign x ⊙ y", {"x": A, "y": A}, algebra.apply_sign_rules),
    proof("logarithm of a product", "log(x ⊙ y) = log x + log y", {"x": A, "y": A}, applying.sum_of_logarithms),
    proof("product of exponentials", "∏_{a} exp x = exp(∑_{a} x)", {"x": A}, definitions.product_of_exponentials),
    proof("root of a square", "√(x^2) = abs x", {"x": A}, algebra.power),
    proof("power of a size", "(x ⊙ y)^{|a|} = x^{|a|} ⊙ y^{|a|}", {"x": A, "y": A}, applying.whole_power),
    proof("common factor", "1 / (x ⊙ y + x ⊙ z) = (1 / x) ⊙ (1 / (y + z))", {"x": A, "y": A, "z": A}, algebra.power),
    proof("product of sums", "1 / (∑_{a} x ⊙ ∑_{a} y) = (1 / ∑_{a} x) ⊙ (1 / ∑_{a} y)", {"x": A, "y": A}, algebra.power),
    proof("quotient of sums", "∑_{b} (∑_{a} (X ⊙ Y) / ∑_{a} (X ⊙ Y)) = |b|", {"X": AB, "Y": AB}, product_rules.quotient_of_sums),
    proof("common denominator", "x / (x + y) + y / (x + y) = 1", {"x": A, "y": A}, factoring.vanishes),
    proof("inverse of a matrix", "X ⊙_{c} [inv_{a,c} X]_{a→c, c→b} = I_{a,b}", {"X": SQUARE}, product_rules.inverse_product),
    proof("transpose", "det_{a,c}(X_{a→c, c→a}) = det_{a,c} X", {"X": SQUARE}, matrices.orient_matrix),
    proof("determinant of a product", "det_{a,c}(X_{c→b} ⊙_{b} Y_{a→b}) = det_{a,c} X ⊙ det_{a,c} Y", {"X": SQUARE, "Y": SQUARE}, matrices.determinant),
    proof("determinant of a multiple", "det_{a,c}(s ⊙ X) = s^{|a|} ⊙ det_{a,c} X", {"X": SQUARE, "s": "ℝ"}, matrices.determinant),
    proof("determinant of an inverse", "det_{a,c}(inv_{a,c} X) = 1 / det_{a,c} X", {"X": SQUARE}, matrices.determinant),
    proof("inverse of a product", "inv_{a,c}(X_{c→b} ⊙_{b} Y_{a→b}) = [inv_{a,c} Y]_{c→b} ⊙_{b} [inv_{a,c} X]_{a→b}",
        {"X": SQUARE, "Y": SQUARE}, matrices.inverse),
    proof("inverse of a multiple", "inv_{a,c}(s ⊙ X) = inv_{a,c} X / s", {"X": SQUARE, "s": "ℝ"}, matrices.inverse),
    proof("inverse of an inverse", "inv_{a,c}(inv_{a,c} X) = X", {"X": SQUARE}, matrices.inverse),
    proof("cofactors", "∂(det_{a,c} X)/∂X* = det_{a,c} X ⊙ [inv_{a,c} X]_{a→c*, c→a*}", {"X": SQUARE}, matrices.MATRICES["cofactors"]),
)  # fmt: skip
