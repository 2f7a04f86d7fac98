"""Identities from a first course in deep learning or matrix calculus, each beside a similar wrong equation.

The shapes of the tensors are those of `SHAPES`.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

SHAPES = {
    **dict.fromkeys("xyzt", "ℝ^{a}"), "c": "ℝ", "s": "ℝ", "w": "ℝ^{k}", "q": "ℝ^{n}", "X": "ℝ^{n × k}", "V": "ℝ^{n × d}",
    "A": "ℝ^{r × c}", "B": "ℝ^{r × c}", "b": "ℝ^{r}",
}  # fmt: skip


class Identity(NamedTuple):
    """An equation, and the same equation with one mistake."""

    text: str
    wrong: str


SECTIONS = {
    "Softmax and log-sum-exp": (
        Identity("∑_{a} softmax_{a} x = 1", "∑_{a} (softmax_{a} x)^2 = 1"),
        Identity("softmax_{a}(x + c) = softmax_{a} x", "softmax_{a}(c ⊙ x) = softmax_{a} x"),
        Identity("softmax_{a} x = exp(x − logsumexp_{a} x)", "softmax_{a} x = exp x − logsumexp_{a} x"),
        Identity("logsumexp_{a}(x + c) = c + logsumexp_{a} x", "logsumexp_{a}(c ⊙ x) = c ⊙ logsumexp_{a} x"),
        Identity("logsoftmax_{a} x = log(softmax_{a} x)", "logsoftmax_{a} x = softmax_{a}(log(exp x))"),
        Identity("exp(logsumexp_{a} x) = ∑_{a} exp x", "logsumexp_{a} x = ∑_{a} x"),
        Identity("softmax_{a}(2 x) = (softmax_{a} x)^2 / ∑_{a} (softmax_{a} x)^2", "softmax_{a}(2 x) = (softmax_{a} x)^2"),
        Identity("softmax_{n}(X ⊙_{k} w) ⊙_{n} V = ∑_{n} (exp(X ⊙_{k} w) ⊙ V) / ∑_{n} exp(X ⊙_{k} w)",
            "softmax_{n}(X ⊙_{k} w) ⊙_{n} V = ∑_{n} (exp(X ⊙_{k} w) ⊙ V)"),
        Identity("∂(softmax_{a} x)/∂x* = softmax_{a} x ⊙ (I_{a,a*} − [softmax_{a} x]_{a→a*})",
            "∂(softmax_{a} x)/∂x* = softmax_{a} x ⊙ (I_{a,a*} − softmax_{a} x)"),
        Identity("∂(logsumexp_{a} x)/∂x* = [softmax_{a} x]_{a→a*}", "∂(logsumexp_{a} x)/∂x* = [logsoftmax_{a} x]_{a→a*}"),
        Identity("∂(logsoftmax_{a} x)/∂x* = I_{a,a*} − [softmax_{a} x]_{a→a*}",
            "∂(logsoftmax_{a} x)/∂x* = [softmax_{a} x]_{a→a*} − I_{a,a*}"),
        Identity("∂(−∑_{a} (t ⊙ logsoftmax_{a} x))/∂x* = [softmax_{a} x ⊙ ∑_{a} t − t]_{a→a*}",
            "∂(−∑_{a} (t ⊙ logsoftmax_{a} x))/∂x* = [softmax_{a} x − t]_{a→a*}"),
    ),
    "Logistic function, tanh and softplus": (
        Identity("σ(x) = 1 − σ(−x)", "σ(x) = −σ(−x)"),
        Identity("σ(x) = exp x / (1 + exp x)", "σ(x) = exp x / (1 − exp x)"),
        Identity("tanh x = 2 σ(2 x) − 1", "tanh x = 2 σ(x) − 1"),
        Identity("tanh x = (exp x − exp(−x)) / (exp x + exp(−x))", "tanh x = (exp x + exp(−x)) / (exp x − exp(−x))"),
        Identity("log(σ(x) / (1 − σ(x))) = x", "log(σ(x) / (1 + σ(x))) = x"),
        Identity("softplus x − softplus(−x) = x", "softplus x + softplus(−x) = x"),
        Identity("log(σ(x)) = −softplus(−x)", "log(σ(x)) = −softplus x"),
        Identity("silu x − silu(−x) = x", "silu x + silu(−x) = x"),
        Identity("gelu x − gelu(−x) = x", "gelu x + gelu(−x) = x"),
        Identity("∂(σ(x))/∂x* = σ(x) ⊙ (1 − σ(x)) ⊙ I_{a,a*}", "∂(σ(x))/∂x* = σ(x) ⊙ (1 + σ(x)) ⊙ I_{a,a*}"),
        Identity("∂(tanh x)/∂x* = (1 − (tanh x)^2) ⊙ I_{a,a*}", "∂(tanh x)/∂x* = (1 − tanh x) ⊙ I_{a,a*}"),
        Identity("∂(softplus x)/∂x* = σ(x) ⊙ I_{a,a*}", "∂(softplus x)/∂x* = σ(−x) ⊙ I_{a,a*}"),
        Identity("∂(∑_{n} softplus(−q ⊙ (X ⊙_{k} w)))/∂w* = [−∑_{n} (q ⊙ σ(−q ⊙ (X ⊙_{k} w)) ⊙ X)]_{k→k*}",
            "∂(∑_{n} softplus(−q ⊙ (X ⊙_{k} w)))/∂w* = [−∑_{n} (q ⊙ σ(q ⊙ (X ⊙_{k} w)) ⊙ X)]_{k→k*}"),
    ),
    "Elementary functions": (
        Identity("(sin x)^2 + (cos x)^2 = 1", "(sin x)^2 − (cos x)^2 = 1"),
        Identity("sin(x + y) = sin x ⊙ cos y + cos x ⊙ sin y", "sin(x + y) = sin x ⊙ cos y − cos x ⊙ sin y"),
        Identity("cos(2 x) = 1 − 2 (sin x)^2", "cos(2 x) = 1 − (sin x)^2"),
        Identity("1 + (tan x)^2 = 1 / (cos x)^2", "1 + (tan x)^2 = 1 / (sin x)^2"),
        Identity("(cosh x)^2 − (sinh x)^2 = 1", "(cosh x)^2 + (sinh x)^2 = 1"),
        Identity("tanh(x + y) = (tanh x + tanh y) / (1 + tanh x ⊙ tanh y)", "tanh(x + y) = tanh x + tanh y"),
        Identity("exp(x + y) = exp x ⊙ exp y", "exp(x + y) = exp x + exp y"),
        Identity("log(x ⊙ y) = log x + log y", "log(x + y) = log x + log y"),
        Identity("log(x^2) = 2 log(abs x)", "log(x^2) = (log(abs x))^2"),
        Identity("log(∏_{a} x) = ∑_{a} log x", "log(∑_{a} x) = ∑_{a} log x"),
        Identity("√(x ⊙ y) = √x ⊙ √y", "√(x + y) = √x + √y"),
        Identity("√(x^2) = abs x", "√(x^2) = x"),
        Identity("x / (x + y) + y / (x + y) = 1", "x / (x + y) + y / (x − y) = 1"),
    ),
    "Maxima and rectifiers": (
        Identity("relu x − relu(−x) = x", "relu x + relu(−x) = x"),
        Identity("relu x + relu(−x) = abs x", "relu x − relu(−x) = abs x"),
        Identity("relu x = x ⊙ 𝕀[x > 0]", "relu x = 𝕀[x > 0]"),
        Identity("(relu x)^2 = x ⊙ relu x", "(relu x)^2 = x^2"),
        Identity("leaky_relu x = max(x, x / 100)", "leaky_relu x = max(0, x / 100)"),
        Identity("max(x, y) + min(x, y) = x + y", "max(x, y) ⊙ min(x, y) = x + y"),
        Identity("max(x, y) = (x + y + abs(x − y)) / 2", "max(x, y) = (x + y − abs(x − y)) / 2"),
        Identity("abs(x ⊙ y) = abs x ⊙ abs y", "abs(x + y) = abs x + abs y"),
    ),
    "Means, variances and norms": (
        Identity("var_{a} x = mean_{a}(x^2) − (mean_{a} x)^2", "var_{a} x = mean_{a}(x^2) − mean_{a} x"),
        Identity("var_{a}(c ⊙ x) = c^2 ⊙ var_{a} x", "var_{a}(c ⊙ x) = c ⊙ var_{a} x"),
        Identity("var_{a}(x; 1) = (|a| ⊙ var_{a} x) / (|a| − 1)", "var_{a}(x; 1) = var_{a} x"),
        Identity("∑_{a} ((x − c)^2) = |a| ⊙ var_{a} x + |a| ⊙ (mean_{a} x − c)^2", "∑_{a} ((x − c)^2) = |a| ⊙ var_{a} x"),
        Identity("standardize_{a}(x + c) = standardize_{a} x", "standardize_{a}(x ⊙ y) = standardize_{a} x ⊙ y"),
        Identity("var_{a}(standardize_{a}(x; 0)) = 1", "mean_{a}(standardize_{a}(x; 0)) = 1"),
        Identity("norm_{a}(c ⊙ x) = abs c ⊙ norm_{a} x", "norm_{a}(c ⊙ x) = c ⊙ norm_{a} x"),
        Identity("norm_{a}(x / norm_{a} x) = 1", "norm_{a}(x / ∑_{a} x) = 1"),
        Identity("(norm_{a}(x − y))^2 = (norm_{a} x)^2 + (norm_{a} y)^2 − 2 (x ⊙_{a} y)",
            "(norm_{a}(x − y))^2 = (norm_{a} x)^2 + (norm_{a} y)^2 − x ⊙_{a} y"),
        Identity("∂(norm_{a} x)/∂x* = [x / norm_{a} x]_{a→a*}", "∂(norm_{a} x)/∂x* = [x / (norm_{a} x)^2]_{a→a*}"),
        Identity("∂(var_{a} x)/∂x* = [2 (x − mean_{a} x) / |a|]_{a→a*}", "∂(var_{a} x)/∂x* = [2 (x − mean_{a} x)]_{a→a*}"),
        Identity("∂(∑_{n} ((q − X ⊙_{k} w)^2))/∂w* = [−2 X ⊙_{n} (q − X ⊙_{k} w)]_{k→k*}",
            "∂(∑_{n} ((q − X ⊙_{k} w)^2))/∂w* = [−2 X ⊙_{n} (q + X ⊙_{k} w)]_{k→k*}"),
    ),
    "Determinants and inverses": (
        Identity("det_{r,c}(A_{r→c, c→r}) = det_{r,c} A", "det_{r,c}(A_{r→c, c→r}) = −det_{r,c} A"),
        Identity("det_{r,c}(A_{c→m} ⊙_{m} B_{r→m}) = det_{r,c} A ⊙ det_{r,c} B", "det_{r,c}(A + B) = det_{r,c} A + det_{r,c} B"),
        Identity("det_{r,c}(s ⊙ A) = s^{|r|} ⊙ det_{r,c} A", "det_{r,c}(s ⊙ A) = s ⊙ det_{r,c} A"),
        Identity("det_{r,c}(inv_{r,c} A) = 1 / det_{r,c} A", "det_{r,c}(inv_{r,c} A) = −det_{r,c} A"),
        Identity("logdet_{r,c}(inv_{r,c} A) = −logdet_{r,c} A", "logdet_{r,c}(inv_{r,c} A) = 1 / logdet_{r,c} A"),
        Identity("A ⊙_{c} [inv_{r,c} A]_{r→c, c→m} = I_{r,m}", "A ⊙_{r} [inv_{r,c} A]_{c→m} = I_{c,m}"),
        Identity("inv_{r,c}(A_{c→m} ⊙_{m} B_{r→m}) = [inv_{r,c} B]_{c→m} ⊙_{m} [inv_{r,c} A]_{r→m}",
            "inv_{r,c}(A_{c→m} ⊙_{m} B_{r→m}) = [inv_{r,c} A]_{c→m} ⊙_{m} [inv_{r,c} B]_{r→m}"),
        Identity("inv_{r,c}(s ⊙ A) = inv_{r,c} A / s", "inv_{r,c}(s ⊙ A) = s ⊙ inv_{r,c} A"),
        Identity("inv_{r,c}(A_{r→c, c→r}) = [inv_{r,c} A]_{r→c, c→r}", "inv_{r,c}(A_{r→c, c→r}) = inv_{r,c} A"),
        Identity("A ⊙_{c} solve_{r,c}(A, b) = b", "A ⊙_{r} b = solve_{r,c}(A, b)"),
        Identity("trace_{r,c}(A_{c→m} ⊙_{m} B_{r→m}) = trace_{r,c}(B_{c→m} ⊙_{m} A_{r→m})",
            "trace_{r,c}(A_{c→m} ⊙_{m} B_{r→m}) = trace_{r,c} A ⊙ trace_{r,c} B"),
        Identity("∂(det_{r,c} A)/∂A* = det_{r,c} A ⊙ [inv_{r,c} A]_{r→c*, c→r*}", "∂(det_{r,c} A)/∂A* = [inv_{r,c} A]_{r→c*, c→r*}"),
        Identity("∂(logdet_{r,c} A)/∂A* = [inv_{r,c} A]_{r→c*, c→r*}", "∂(logdet_{r,c} A)/∂A* = [inv_{r,c} A]_{r→r*, c→c*}"),
        Identity("∂(inv_{r,c} A)/∂A* = −[inv_{r,c} A]_{c→r*} ⊙ [inv_{r,c} A]_{r→c*}",
            "∂(inv_{r,c} A)/∂A* = [inv_{r,c} A]_{c→r*} ⊙ [inv_{r,c} A]_{r→c*}"),
    ),
}  # fmt: skip
INEQUALITIES = {  # with the reverse, or the strict inequality if both sides may be equal
    "x ≤ softplus x": "x ≤ tanh x",
    "0 ≤ σ(x) ≤ 1": "0 ≤ tanh x ≤ 1",
    "(x ⊙_{a} y)^2 ≤ ∑_{a} x^2 ⊙ ∑_{a} y^2": "(∑_{a} x ⊙ ∑_{a} y)^2 ≤ ∑_{a} x^2 ⊙ ∑_{a} y^2",
    "norm_{a}(x + y) ≤ norm_{a} x + norm_{a} y": "norm_{a}(x + y) ≥ norm_{a} x + norm_{a} y",
    "exp(mean_{a} x) ≤ mean_{a}(exp x)": "exp(mean_{a} x) ≥ mean_{a}(exp x)",
    "mean_{a}(log x) ≤ log(mean_{a} x)": "mean_{a}(log x) ≥ log(mean_{a} x)",
    "max_{a} x ≤ logsumexp_{a} x": "logsumexp_{a} x ≤ max_{a} x",
    "relu x ≤ abs x": "relu x < abs x",
}


def shapes_of(text: str) -> dict[str, Any]:
    """Return the shapes of the tensors in an equation."""
    letters = re.sub(r"_\{[^}]*\}|\|\w\||[^\W\d_]{2,}", " ", text)
    return {name: shape for name, shape in SHAPES.items() if re.search(rf"(?<!\w){name}(?!\w)", letters)}


def table(section: str) -> str:
    """Return the identities of a section, each with its verdict and its conditions."""
    from namedtensor import prove

    verdicts = [(text, prove(text, **shapes_of(text))) for text, _ in SECTIONS[section]]
    return "\n".join(
        f"{verdict.status}    {text}" + (f"    where {verdict.domain}" if verdict.domain else "")
        for text, verdict in verdicts
    )


def near_misses(section: str) -> str:
    """Return the wrong equations of a section, each with a counterexample."""
    from namedtensor import prove

    return "\n".join(f"{wrong}\n    {prove(wrong, **shapes_of(wrong))}" for _, wrong in SECTIONS[section])
