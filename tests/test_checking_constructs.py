"""Constructs of working papers: each in text and in LaTeX, against NumPy, the reference, every backend, and printed back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import javascript
import numpy as np
import pytest

import namedtensor as nt
from grammar import nodes
from grammar.parser import parse
from grammar.printer import to_latex, to_text
from namedtensor import reference

RANDOM = np.random.default_rng(14)
SIZES = {"seq": 5, "chans": 3, "a": 4, "b": 3, "time": 6}


def drawn(axes: str) -> nt.NamedTensor:
    return nt.tensor(RANDOM.normal(size=[SIZES[axis] for axis in axes.split()]), axes)


GIVEN = {
    "x": drawn("seq"), "y": drawn("seq"), "X": drawn("seq chans"), "w": drawn("time"), "c": drawn("a b"),
    "s": nt.tensor([1.0, 2, 3, 4], "a"), "u": nt.tensor([1.0, 3, 4], "b"),
}  # fmt: skip
x, y, X, w, c = (GIVEN[name].array for name in ("x", "y", "X", "w", "c"))


class Row(NamedTuple):
    """A construct: in text, in LaTeX where that is more than the same words, and its value as (axes, array)."""

    text: str
    latex: str
    axes: str
    value: Any
    values: Mapping[str, Any] = {}
    differentiable: bool = True
    lifted: bool = True  # over an extra axis of an input that is not declared


def edit_distance(first, second):
    table = np.zeros((len(first) + 1, len(second) + 1))
    table[:, 0], table[0] = range(len(first) + 1), range(len(second) + 1)
    for i, one in enumerate(first, 1):
        for j, other in enumerate(second, 1):
            skipped = min(table[i - 1, j], table[i, j - 1]) + 1
            table[i, j] = min(skipped, table[i - 1, j - 1] + (one != other))
    return table[-1, -1]


def time_warping(cost):
    table = np.full([size + 1 for size in cost.shape], np.inf)
    table[0, 0] = 0
    for i, j in np.ndindex(*cost.shape):
        table[i + 1, j + 1] = cost[i, j] + min(table[i, j + 1], table[i + 1, j], table[i, j])
    return table[-1, -1]


def states(steps, way=1):
    result, state = [], 0.0
    for value in steps[::way]:
        state = state / 2 + value
        result.append(state)
    return np.array(result[::way])


def spans(scores):
    """The sum over all binary trees above a row of leaves of the products of these, by spans."""
    best = {(i, i): scores[i] for i in range(len(scores))}
    for length in range(1, len(scores)):
        for i in range(len(scores) - length):
            j = i + length
            best[i, j] = sum(best[i, k] * best[k + 1, j] for k in range(i, j))
    return best[0, len(scores) - 1]


FAMILIES = {
    "downwards": Row("b^4 = 1\nb^t = 2 b^{t+1} + w_{time(t)} for t = 3, …, 1\nb^1",
                     r"b^4 = 1 \\ b^t = 2 b^{t+1} + w_{\name{time}(t)} \quad t = 3, \ldots, 1 \\ b^1",
                     "", 8 + w[:3] @ [1, 2, 4]),
    "down to n": Row("b^{n+1} = 0\nb^t = b^{t+1} / 2 + w_{time(t)} for t = n, n-1, …, 1\nB_{step(t)} = b^t for t = 1, …, n",
                     r"b^{n+1} = 0 \\ b^t = \frac{b^{t+1}}{2} + w_{\name{time}(t)} \quad t = n, n-1, \ldots, 1 \\ "
                     r"B_{\name{step}(t)} = b^t \quad t = 1, \ldots, n",
                     "step", states(w, -1), {"n": 6}),
    "states along an axis": Row("h^0 = 0\nh^t = h^{t-1} / 2 + w_{time(t)} for t = 1, …, n\nH_{step(t)} = h^t for t = 1, …, n",
                                r"h^0 = 0 \\ h^t = \frac{h^{t-1}}{2} + w_{\name{time}(t)} \quad t = 1, \ldots, n \\ "
                                r"H_{\name{step}(t)} = h^t \quad t = 1, \ldots, n",
                                "step", states(w), {"n": 6}),
    "edit distance": Row("E^{i,0} = i for i = 0, …, 4\nE^{0,j} = j for j = 1, …, 3\nE^{i,j} = min(min(E^{i-1,j}, E^{i,j-1}) + 1, "
                         "E^{i-1,j-1} + 𝕀[s_{a(i)} ≠ u_{b(j)}]) for i = 1, …, 4 for j = 1, …, 3",
                         r"E^{i,0} = i \quad i = 0, \ldots, 4 \\ E^{0,j} = j \quad j = 1, \ldots, 3 \\ E^{i,j} = \min(\min(E^{i-1,j}, "
                         r"E^{i,j-1}) + 1, E^{i-1,j-1} + \mathbb{I}[s_{\name{a}(i)} \neq u_{\name{b}(j)}]) "
                         r"\quad i = 1, \ldots, 4, j = 1, \ldots, 3",
                         "", edit_distance([1, 2, 3, 4], [1, 3, 4]), differentiable=False),
    "time warping in a function": Row(
        "warp : ℝ^{a × b} → ℝ\nwarp(c) = D^{|a|,|b|}\nD^{0,0} = 0\nD^{i,0} = ∞ for i = 1, …, |a|\nD^{0,j} = ∞ for j = 1, …, |b|\n"
        "D^{i,j} = c_{a(i), b(j)} + min(min(D^{i-1,j}, D^{i,j-1}), D^{i-1,j-1}) for i = 1, …, |a| for j = 1, …, |b|\nwarp(c^2)",
        r"\text{warp} \colon \mathbb{R}^{\name{a} \times \name{b}} \to \mathbb{R} \\ \text{warp}(c) = D^{|\name{a}|,|\name{b}|} \\ "
        r"D^{0,0} = 0 \\ D^{i,0} = \infty \quad i = 1, \ldots, |\name{a}| \\ D^{0,j} = \infty \quad j = 1, \ldots, |\name{b}| \\ "
        r"D^{i,j} = c_{\name{a}(i), \name{b}(j)} + \min(\min(D^{i-1,j}, D^{i,j-1}), D^{i-1,j-1}) "
        r"\quad i = 1, \ldots, |\name{a}| \quad j = 1, \ldots, |\name{b}| \\ \text{warp}(c^2)",
        "", time_warping(c**2)),
    "spans": Row("S^{i,i} = x_{seq(i)} for i = 1, …, 4\nS^{i,j} = ∑_{k=i}^{j-1} S^{i,k} ⊙ S^{k+1,j} for i = 3, …, 1 for j = i+1, …, 4\n"
                 "S^{1,4}", "", "", spans(x[:4])),
    "members of elements": Row("C^{i,j}_{chans(k)} = X_{seq(i), chans(k)} X_{seq(j), chans(k)} + j for k = 1, …, 3 for i = 1, …, 3 "
                               "for j = i, …, 3\nC^{2,3}", "", "chans", X[1] * X[2] + 3),
    "a table of them": Row("E^{i,0} = i for i = 0, …, 4\nE^{0,j} = j for j = 1, …, 3\nE^{i,j} = E^{i-1,j} + x_{seq(j)} E^{i,j-1} "
                           "for i = 1, …, 4 for j = 1, …, 3\nT_{a(i), b(j)} = E^{i,j} for i = 1, …, 4 for j = 1, …, 3",
                           "", "a b", None),
    "elements over two ranges": Row("Y_{p(i), q(j)} = x_{seq(i)} y_{seq(j)} for i = 1, …, 4 for j = 1, …, 3", "", "p q",
                                    np.outer(x[:4], y[:3])),
    "triangular": Row("C^{i,0} = 1 for i = 0, …, 6\nC^{i,j} = 0 for i = 0, …, 6 for j = i+1, …, 6\n"
                      "C^{i,j} = C^{i-1,j-1} + C^{i-1,j} for i = 1, …, 6 for j = 1, …, i\nC^{6,2}", "", "", 15.0,
                      differentiable=False),
}  # fmt: skip
READ = {
    "all axes with a mark": Row("(x ⊙ y)^* ⊙_{seq*} [x]_{seq→seq*} + (x^2)^†_{seq†→seq}", r"(x \odot y)^* \ndot{\name{seq}^*} [x]_{\name{seq}\rightarrow\name{seq}^*} + "
                                r"(x^2)^\dagger_{\name{seq}^\dagger\rightarrow\name{seq}}", "seq", (x * y) @ x + x**2, lifted=False),
    "instances with dots between": Row("h^0 = x\nh^1 = h^0 / 1\n⋮\nh^n = h^{n-1} / n\nh^3 + h^n",
                                       r"h^0 = x \\ h^1 = \frac{h^0}{1} \\ \vdots \\ h^n = \frac{h^{n-1}}{n} \\ h^3 + h^n",
                                       "seq", x / 6 + x / 120, {"n": 5}),
    "accents": Row("ŷ = x + 1\nȳ = mean_{seq} ŷ\nŷ − ȳ", r"\hat y = x + 1 \\ \bar{y} = \nfun{\name{seq}}{mean} \hat{y} \\ \widehat{y} - \bar y",
                   "seq", x - x.mean()),
    "accents on scripts": Row("x̃_1 = 2 x\nθ̂ = x̃_1 + x̃_1\nθ̂", r"\tilde{x_1} = 2 x \\ \hat{\theta} = \tilde{x_1} + \tilde{x}_1 \\ \hat\theta",
                              "seq", 4 * x),
    "calligraphic": Row("ℒ = ∑_{seq} x^2\nL = 2\nℒ / L", r"\mathcal{L} = \nsum{\name{seq}} x^2 \\ L = 2 \\ \frac{\mathcal L}{L}",
                        "", (x**2).sum() / 2),
    "the norm": Row("‖X − 1‖", r"\lVert X - 1 \rVert", "", np.linalg.norm(X - 1), lifted=False),
    "its square, of p = 1": Row("‖x‖_1^2 + ‖y‖", r"\lVert x \rVert_1^2 + \left\| y \right\|", "",
                                np.abs(x).sum() ** 2 + np.linalg.norm(y), lifted=False),
    "the norm in a function": Row("unit : ℝ^{chans} → ℝ^{chans}\nunit(v) = v / ‖v‖\nunit(X)",
                                  r"\text{unit} \colon \mathbb{R}^{\name{chans}} \to \mathbb{R}^{\name{chans}} \\ "
                                  r"\text{unit}(v) = \frac{v}{\lVert v \rVert} \\ \text{unit}(X)",
                                  "seq chans", X / np.linalg.norm(X, axis=1, keepdims=True)),
    "whole parts": Row("⌊2 x⌋ + ⌈x⌉", r"\lfloor 2 x \rfloor + \lceil x \rceil", "seq", np.floor(2 * x) + np.ceil(x),
                       differentiable=False),
    "a brace with a remark": Row("(x + 1) ⊙ y", r"\underbrace{(x + 1)}_{\text{shifted}} \odot y", "seq", (x + 1) * y),
    "an indicator in bold": Row("𝕀[x > 0] ⊙ x", r"\mathbf{1}[x > 0] \odot x", "seq", np.maximum(x, 0)),
    "an indicator in braces": Row("𝕀[x > 0]", r"\mathbb{1}\{x > 0\}", "seq", (x > 0).astype(float), differentiable=False),
    "fractions": Row("½ x + {1 / 4}", r"½ x + {1 \over 4}", "seq", x / 2 + 0.25),
    "nice fractions": Row("(1 / 2) x", r"\nicefrac{1}{2} x", "seq", x / 2),
    "a product of numbers": Row("2 × x_{seq(2 × 2)}", r"2 \times x_{\name{seq}(2 \times 2)}", "", 2 * x[3]),
    "an array of cases": Row("Y_{seq(i)} = { 0 if i ≤ 2; x_{seq(i)} otherwise }",
                             r"Y_{\name{seq}(i)} = \left\{ \begin{array}{ll} 0 & i \le 2 \\ x_{\name{seq}(i)} & \text{otherwise} \end{array} \right.",
                             "seq", np.where(np.arange(5) < 2, 0, x)),
    "digits in an axis": Row("∑_{seq2} x_{seq→seq2}", r"\nsum{seq2} x_{\name{seq}\rightarrow\mathsf{\vphantom{fg}seq2}}", "", x.sum()),
    "a logarithm to a base": Row("log_2 (x^2)", r"\log_2 (x^2)", "seq", np.log2(x**2)),
    "a second derivative": Row("∂(∂(∑_{seq} x^3)/∂x†)/∂x*", r"\frac{\partial^2 (\nsum{\name{seq}} x^3)}{\partial x^* \partial x^\dagger}",
                               "seq* seq†", np.diag(6 * x), lifted=False),
    "a field and other sets": Row("f : F^{seq} → F\nf(v) = ∑_{seq} v^2\nn ∈ ℕ\nr ∈ ℝ_{>0}\nf(x) + n + r",
                                  r"f \colon F^{\name{seq}} \rightarrow F \\ f(v) = \nsum{\name{seq}} v^2 \\ n \in \mathbb{N} \\ "
                                  r"r \in \mathbb{R}_{>0} \\ f(x) + n + r", "", (x**2).sum() + 5, {"n": 2, "r": 3.0}),
    "a fact": Row("x^2 + r\nr > 0", r"x^2 + r \\ r > 0", "seq", x**2 + 3, {"r": 3.0}),
    "between bounds": Row("Z_{seq(i)} = x_{seq(i)} + i for 1 ≤ i ≤ 5", r"Z_{\name{seq}(i)} = x_{\name{seq}(i)} + i \quad 1 \le i \le 5", "seq",
                          x + np.arange(1, 6)),
    "nearly": Row("Y = x ⊙ y ≈ x ≈ 2 y\nY ≈ softmax_{seq} x\n2 Y", r"Y = x \odot y \approx x \simeq 2 y \\ Y \approx \nfun{\name{seq}}{softmax} x \\ 2 Y",
                  "seq", 2 * x * y, lifted=False),
    "in proportion": Row("Y = softmax_{seq} x ∝ exp x", r"Y = \nfun{\name{seq}}{softmax} x \propto \exp x", "seq", np.exp(x) / np.exp(x).sum()),
    "signs of definition": Row("A ≔ x + 1\nB := 2 A\nC ≜ B ⊙ A\nD ≡ C", r"A \coloneqq x + 1 \\ B := 2 A \\ C \triangleq B \odot A \\ D \equiv C",
                               "seq", 2 * (x + 1) ** 2),
    "in a set of numbers": Row("Z_{seq(i)} = x_{seq(i)} + i for i ∈ {1, …, 5}",
                               r"Z_{\name{seq}(i)} = x_{\name{seq}(i)} + i \quad i \in \{1, \ldots, 5\}", "seq", x + np.arange(1, 6)),
}  # fmt: skip
BOUND = {
    "the largest over an index": Row("max_i x_{seq(i)}", r"\max_i x_{\name{seq}(i)}", "", x.max()),
    "the mean over an index": Row("mean_i (i x_{seq(i)})", "", "", (np.arange(1, 6) * x).mean()),
    "over the numbers to n": Row("min_{i ∈ [n]} x_{seq(i)} + 1", r"\min_{i \in [n]} x_{\name{seq}(i)} + 1", "", x[:3].min() + 1, {"n": 3}),
    "the mean over the numbers to n": Row("mean_{i ∈ [n]} (i x_{seq(i)})", "", "", (np.arange(1, 4) * x[:3]).mean(), {"n": 3}),
    "functions, one of an index of its own": Row("f^1(u) = 5 u\nf^i(u) = i u\n∑_{i=1}^{3} f^i(x)", "", "seq", 10 * x),
    "and by a number": Row("f_k(u) = k u\nf_1(u) = 5 u\n∑_{k=1}^{3} f_k(x)", "", "seq", 10 * x),
    "a set of elements": Row("min { x_{seq(i)} | i ∈ [3] }", r"\min \{x_{\name{seq}(i)} \mid i \in [3]\}", "", x[:3].min()),
    "numbers that are listed": Row("∑_{i ∈ {1, 3}} i x_{seq(i)}", r"\sum_{i \in \{1, 3\}} i x_{\name{seq}(i)}", "", x[0] + 3 * x[2]),
    "numbers of a tensor": Row("S = [2, 4, 5]_{k}\n∑_{i ∈ S} x_{seq(i)} y_{seq(i)}",
                               r"S = \nmatrix{}{\name{k}}{2 & 4 & 5} \\ \sum_{i \in S} x_{\name{seq}(i)} y_{\name{seq}(i)}",
                               "", (x * y)[[1, 3, 4]].sum()),
    "numbers of a tensor that depends on an index": Row("∑_{k ∈ [2]} f(k)\nf(k) = ∑_{j ∈ S} j x_{seq(j)}\nS = [k, 3]_{m}", "", "",
                                                        x[0] + 2 * x[1] + 6 * x[2]),
    "but for one": Row("Z_{seq(i)} = ∑_{j ≠ i} x_{seq(j)} y_{seq(i)}", r"Z_{\name{seq}(i)} = \sum_{j \neq i} x_{\name{seq}(j)} y_{\name{seq}(i)}",
                       "seq", (x.sum() - x) * y),
    "the largest before": Row("Z_{seq(i)} = max_{j ≤ i} x_{seq(j)}", "", "seq", np.maximum.accumulate(x)),
    "the largest of some": Row("max_{i=2}^{n} x_{seq(i)}", r"\max_{i=2}^{n} x_{\name{seq}(i)}", "", x[1:4].max(), {"n": 4}),
    "a slice": Row("x_{seq(2:4)} ⊙ y_{seq(1:3)}", r"x_{\name{seq}(2:4)} \odot y_{\name{seq}(1:3)}", "seq", x[1:4] * y[:3]),
    "a slice of that width": Row("Z_{chans(t)} = max_{seq} x_{seq(t:t+2)} for t = 1, …, 3", "", "chans",
                                 [x[t : t + 3].max() for t in range(3)]),
    "an update": Row("C = x + 1\nC ← C ⊙ y\nC ← C − 1\n2 C",
                     r"C = x + 1 \\ C \leftarrow C \odot y \\ C \leftarrow C - 1 \\ 2 C", "seq", 2 * ((x + 1) * y - 1)),
    "an update of what is given": Row("x ← x / 2\nx ← x + y", r"x \leftarrow \frac{x}{2} \\ x \gets x + y", "seq", x / 2 + y),
    "an update of elements": Row("C = x ⊙ y\nC_{seq(2)} ← 7\nC_{seq(4:5)} ← 2 x\nC + x",
                                 r"C = x \odot y \\ C_{\name{seq}(2)} \leftarrow 7 \\ C_{\name{seq}(4:5)} \leftarrow 2 x \\ C + x", "seq",
                                 np.where([0, 1, 0, 0, 0], 7, np.where([0, 0, 0, 1, 1], 2 * x, x * y)) + x),
    "an update of several elements": Row("S = [4, 2, 4]_{k}\nC = x ⊙ y\nC_{seq(S)} ← [7, 8, 9]_{k} + x_{seq(1)}\nC_{seq(1:2)} ← C_{seq(4:5)}\nC",
                                         r"S = \nmatrix{}{\name{k}}{4 & 2 & 4} \\ C = x \odot y \\ C_{\name{seq}(S)} \leftarrow \nmatrix{}{\name{k}}{7 & 8 & 9} + "
                                         r"x_{\name{seq}(1)} \\ C_{\name{seq}(1:2)} \gets C_{\name{seq}(4:5)} \\ C", "seq",
                                         [9 + x[0], x[4] * y[4], x[2] * y[2], 9 + x[0], x[4] * y[4]]),
    "an update by an index of each row": Row("C = X\nC_{chans(argmax_j X_{chans(j)})} ← 0\nC", "", "seq chans", np.where(X == X.max(1, keepdims=True), 0, X)),
    "several names": Row("A, B = x + 1, 2 y\nA ⊙ B", r"A, B = x + 1, 2 y \\ A \odot B", "seq", (x + 1) * 2 * y),
    "several results": Row("parts(v) = mean_{seq} v, v − mean_{seq} v\nm, d = parts(x)\nm d",
                           r"\text{parts}(v) = \nfun{\name{seq}}{mean} v, v - \nfun{\name{seq}}{mean} v \\ m, d = \text{parts}(x) \\ m d",
                           "seq", x.mean() * (x - x.mean())),
    "by the number of arguments": Row("f(v) = v^2\nf(v, m) = f(v) ⊙ m\nf(x, y) + f(x)", "f(v) = v^2 \\\\ f(v, m) = f(v) \\odot m \\\\ f(x, y) + f(x)",
                                      "seq", x**2 * y + x**2),
    "with their signatures": Row("f : ℝ^{chans} → ℝ\nf : ℝ^{chans} × ℝ^{chans} → ℝ\nf(v) = ∑_{chans} v^2\nf(v, u) = v ⊙_{chans} u\n"
                                 "f(X, X) − f(X)", "", "seq", np.zeros(5)),
    "conditional names": Row("p(B | A) ∈ [0,1]^{A × B}\np(A) ∈ [0,1]^{A}\np(B) = p(B | A) ⊙_{A} p(A)",
                             r"p(\name{B} \mid \name{A}) \in [0,1]^{\name{A} \times \name{B}} \\ p(\name{A}) \in [0,1]^{\name{A}} \\ "
                             r"p(\name{B}) = p(\name{B} \mid \name{A}) \ndot{\name{A}} p(\name{A})", "B", [0.45, 0.55],
                             {"p(B | A)": nt.tensor([[0.25, 0.75], [0.5, 0.5]], "A B"), "p(A)": nt.tensor([0.2, 0.8], "A")}, lifted=False),
    "shapes as variables with primes": Row("X ∈ ℝ^{𝒮' × chans}\n∑_{𝒮'} X", r"X \in \mathbb{R}^{\mathcal{S'} \times \name{chans}} \\ \nsum{\mathcal{S'}} X",
                                           "chans", X.sum(0), lifted=False),
    "shapes as variables": Row("X ∈ ℝ^{𝒮 × chans}\nV ∈ ℝ^{chans × 𝒯}\n(X ⊙_{chans} V) ⊙_{𝒮} X",
                               r"X \in \mathbb{R}^{\mathcal{S} \times \name{chans}} \\ V \in \mathbb{R}^{\name{chans} \times \mathcal{T}} \\ "
                               r"(X \ndot{\name{chans}} V) \ndot{\mathcal{S}} X", "b chans",
                               np.einsum("sc,cb,sd->bd", X, c[:3], X), {"V": nt.tensor(c[:3], "chans b")}, lifted=False),
    "a signature of an operator": Row("∑_{ax} : ℝ^{ax} → ℝ\n⊙_{ax} : ℝ^{ax} × ℝ^{ax} → ℝ\n[]_{ax→ax'} : ℝ^{ax} → ℝ^{ax'}\nx ⊙_{seq} y",
                                      r"\nsum{\name{ax}} \mathord- \colon \reals^{\name{ax}} \rightarrow \reals \\ \mathord- \ndot{\name{ax}} \mathord- "
                                      r"\colon \reals^{\name{ax}} \times \reals^{\name{ax}} \rightarrow \reals \\ [\mathord-]_{\name{ax}\rightarrow\name{ax'}} "
                                      r"\colon \reals^{\name{ax}} \rightarrow \reals^{\name{ax'}} \\ x \ndot{\name{seq}} y", "", x @ y),
    "a differential of a sum": Row("U = x_{seq→ax}\n∂∑_{ax} U = ∑_{ax} ∂U\nx ⊙_{seq} y",
                                   r"U = x_{\name{seq}\rightarrow\name{ax}} \\ \partial \nsum{\name{ax}} U = \nsum{\name{ax}} \partial U \\ x \ndot{\name{seq}} y",
                                   "", x @ y),
}  # fmt: skip
A = X[:3] + 3 * np.eye(3)
SQUARE = {"A": nt.tensor(A, "seq chans")}
OPERATORS = {
    "inverse functions": Row("arctan x + arcsin(x / 9) − arccos(x / 9)", "\\arctan x + \\arcsin(\\frac{x}{9}) - \\arccos(\\frac{x}{9})", "seq",
                             np.arctan(x) + np.arcsin(x / 9) - np.arccos(x / 9)),
    "exact near zero": Row("log1p(x^2) + expm1(x / 10^9)", "", "seq", np.log1p(x**2) + np.expm1(x / 1e9)),
    "natural logarithm": Row("ln(x^2)", r"\ln(x^2)", "seq", np.log(x**2)),
    "bent ones": Row("logsigmoid(x) + leaky_relu(x) + elu(y)", r"\text{logsigmoid}(x) + \text{leaky\_relu}(x) + \text{elu}(y)", "seq",
                     -np.logaddexp(0, -x) + np.where(x > 0, x, 0.01 * x) + np.where(y > 0, y, np.expm1(y))),
    "to whole numbers": Row("round(2 x) + round(2.5) + round(−0.5) + round(3.5)", "", "seq", np.round(2 * x) + 6, differentiable=False),
    "what is left": Row("mod(x, 0.3) + mod(−7, 3)", r"\text{mod}(x, 0.3) + \text{mod}(-7, 3)", "seq", np.mod(x, 0.3) + 2),
    "the order": Row("argsort_{seq} x", r"\nfun{\name{seq}}{argsort} x", "seq", np.argsort(x) + 1, differentiable=False),
    "one order for another": Row("y_{seq(argsort_{seq} x)}", r"y_{\name{seq}(\nfun{\name{seq}}{argsort} x)}", "seq", y[np.argsort(x)], differentiable=False),
    "the largest so far": Row("cummax_{seq} x − cummin_{seq} y", r"\nfun{\name{seq}}{cummax} x - \nfun{\name{seq}}{cummin} y", "seq",
                              np.maximum.accumulate(x) - np.minimum.accumulate(y)),
    "quantiles": Row("median_{seq} X + quantile_{seq}(X; 0.3)", r"\nfun{\name{seq}}{median} X + \nfun{\name{seq}}{quantile}(X; 0.3)", "chans",
                     np.median(X, 0) + np.quantile(X, 0.3, 0)),
    "a linear system": Row("solve_{seq,chans}(A, [1, 2, 3]_{seq})", r"\nfun{\name{seq}, \name{chans}}{solve}(A, \nmatrix{}{\name{seq}}{1 & 2 & 3})",
                           "chans", np.linalg.solve(A, [1, 2, 3]), SQUARE),
    "the logarithm of a determinant": Row("logdet_{seq,chans} A", r"\nfun{\name{seq}, \name{chans}}{logdet} A", "", np.linalg.slogdet(A)[1], SQUARE),
    "a diagonal": Row("diag_{seq,s} x", r"\nfun{\name{seq}, s}{diag} x", "seq s", np.diag(x)),
}  # fmt: skip
p = np.exp(w) / np.exp(w).sum()
FEW = {"draws": 40, "seed": 3}
RANDOM_VARIABLES = {
    "a normal variable": Row("𝔼_{z ∼ N(0, 1)}[z^2 ⊙ x]", r"\mathbb{E}_{z \sim \mathcal{N}(0, 1)} \left[ z^2 \odot x \right]", "seq", None, FEW),
    "its mean and variance": Row("𝔼_{z ∼ N(x, y^2)} exp z", r"\mathbb{E}_{z \sim \mathcal{N}(x, y^2)} \exp z", "seq", None, FEW, lifted=False),
    "in a function": Row("f : ℝ^{seq} → ℝ\nf(m) = 𝔼_{z ∼ N(m, 4)}[max_{seq} z]\nf(X)",
                         r"f \colon \mathbb{R}^{\name{seq}} \to \mathbb{R} \\ f(m) = \mathbb{E}_{z \sim \mathcal{N}(m, 4)}[\nfun{\name{seq}}{max} z] \\ f(X)",
                         "chans", None, FEW),
    "several variables": Row("𝔼_{u ∼ U(0, 1), v ∼ N(u, 1)}[(v − u)^2 ⊙ x]",
                             r"\mathbb{E}_{u \sim \mathcal{U}(0, 1), v \sim \mathcal{N}(u, 1)}[(v - u)^2 \odot x]", "seq", None, FEW),
    "of a shape": Row("𝔼_{z ∼ N(0, 1)^{seq × b[2]}}[∑_{seq} z^2 ⊙ x]",
                      r"\mathbb{E}_{z \sim \mathcal{N}(0, 1)^{\name{seq} \times \name{b}[2]}}[\nsum{\name{seq}} z^2 \odot x]", "b", None, FEW),
    "a variance": Row("𝔼_{t ∼ Exponential(2)}[t^2] − 𝔼_{t ∼ Exponential(2)}[t]^2 + 𝔼_{g ∼ Gumbel(1, 2)} g", "", "", None, FEW),
    "an index": Row("𝔼_{i ∼ q}[x_{seq(i)} i]\nq = [0.5, 0.25, 0.125, 0.125, 0]_{k}",
                    r"\mathbb{E}_{i \sim q}[x_{\name{seq}(i)} i] \\ q = \nmatrix{}{\name{k}}{0.5 & 0.25 & 0.125 & 0.125 & 0}", "",
                    x @ ([0.5, 0.25, 0.125, 0.125, 0] * np.arange(1, 6))),
    "of a softmax": Row("w ∈ ℝ^{time}\n𝔼_{i ∼ softmax_{time} w} i^2", r"w \in \mathbb{R}^{\name{time}} \\ \mathbb{E}_{i \sim \nfun{\name{time}}{softmax} w} i^2", "", p @ np.arange(1, 7) ** 2),
    "a conditional distribution": Row("Z_{seq(j)} = 𝔼_{i ∼ P_{seq(j)}} i ⊙ x_{seq(i)}\nP = softmax_{chans} X", "", "seq",
                                      np.exp(X) / np.exp(X).sum(1, keepdims=True) @ (np.arange(1, 4) * x[:3])),
    "a coin": Row("𝔼_{b ∼ Bernoulli(r), c ∼ Bernoulli(b / 2)}[b x + c y]",
                  r"\mathbb{E}_{b \sim \text{Bernoulli}(r), c \sim \mathrm{Bernoulli}(\frac{b}{2})}[b x + c y]", "seq", 0.25 * x + 0.125 * y, {"r": 0.25}),
    "a draw": Row("m ∼ Bernoulli(0.5)^{seq}\n2 m ⊙ x", r"m \sim \text{Bernoulli}(0.5)^{\name{seq}} \\ 2 m \odot x", "seq", None, {"seq": 5}, lifted=False),
    "an index that is drawn": Row("i ∼ softmax_{time} w\nx_{seq(i)} ⊙ y", r"i \sim \nfun{\name{time}}{softmax} w \\ x_{\name{seq}(i)} \odot y", "seq", None,
                                  {"seed": 5}, differentiable=False, lifted=False),
    "whose distribution is stated": Row("g ∼ N(x, 4)\n𝔼_g[g^2 ⊙ y]",
                                        r"g \sim \mathcal{N}(x, 4) \\ \underset{g}{\mathbb{E}}\left[g^2 \odot y\right]", "seq", None, FEW, lifted=False),
    "stated below, of several": Row("L = 𝔼_{v, g}[(v − g)^2 ⊙ x]\ng ∼ U(0, 1)\nv ∼ N(g, 1)",
                                    r"L = \operatorname*{\mathbb{E}}_{v, g}[(v - g)^2 \odot x] \\ g \sim \mathcal{U}(0, 1) \\ v \sim \mathcal{N}(g, 1)",
                                    "seq", None, FEW),
    "stated, of all that is drawn": Row("b ∼ Bernoulli(r)\ni ∼ q\nq = [0.5, 0.5]_{k}\n𝔼[b i x] − 𝔼[b] 𝔼[i] x + x",
                                        r"b \sim \text{Bernoulli}(r) \\ i \sim q \\ q = \nmatrix{}{\name{k}}{0.5 & 0.5} \\ \mathbb{E}[b i x] - \mathbb{E}[b] \mathbb{E}[i] x + x",
                                        "seq", x, {"r": 0.25}),
    "by way of definitions": Row("b ∼ Bernoulli(r)\nm = b x\nk = m^2 + 1\nμ = 𝔼[m]\nv = 𝔼[(m − μ)^2] + 𝔼_b k", "", "seq",
                                 (0.25 - 0.0625) * x**2 + 0.25 * x**2 + 1, {"r": 0.25}),
    "in a function, stated": Row("f : ℝ^{seq} → ℝ\nf(m) = 𝔼_g[max_{seq} g]\ng ∼ N(m, 4)\nf(X)", "", "chans", None, FEW),
    "a random walk": Row("h_0 = x\nh_t = h_{t-1} / 2 + z_t for t = 1, …, 4\nz_t ∼ N(y, 1) for t = 1, …, 4",
                         r"\begin{align} h_0 &= x \\ h_t &= \frac{h_{t-1}}{2} + z_t & t &= 1, \ldots, 4 \\ z_t &\sim \mathcal{N}(y, 1) & t &= 1, \ldots, 4 \end{align}",
                         "seq", None, {"seed": 2}, lifted=False),
    "a random walk of many steps": Row("h^{t+1} = h^t / 2 + z^t x + z^{t+1} for t = 0, …, 79\nh^0 = y\nz^t ∼ N(0, 1) for t = 0, …, 80", "", "seq", None),
    "steps of Langevin": Row("h^{t+1} = h^t − 0.1 ∂U(h^t)/∂h^t + √0.2 z^t for t = 0, …, 4\nU(v) = ∑_{seq} v^4 / 4\nh^0 = x\nz^t ∼ N(0, 1)^{seq} for t = 0, …, 4", "", "seq", None,
                             {"seq": 5}, lifted=False),
    "families of draws by labels": Row("z^{t,Q} ∼ N(0, 1) for t = 1, …, 3\nz^{t,K} ∼ U(0, 1) for t = 1, …, 3\nh^t = z^{t,Q} z^{t,K} x for t = 1, …, 3\n∑_{t=1}^{3} z^{t,Q} h^t", "", "seq", None),
    "a sum over draws": Row("∑_{t=1}^{9} z^t x_{seq(i)}\nz^t ∼ U(0, i) for t = 1, …, 9\ni = 2", "", "", None),
}  # fmt: skip
AHEAD = {
    "a head that is a step ahead": Row("h_0 = x\nh_{t+1} = h_t / 2 + t y for t = 0, …, 3", r"h_0 = x \\ h_{t+1} = h_t/2 + t y, \quad t = 0, \ldots, 3", "seq",
                                       x / 16 + y * (3 + 2 / 2 + 1 / 4)),
    "two steps, of many": Row("h^0 = x\nh^1 = y\nh^{t+2} = h^{t+1} / 2 + h^t / 4 for t = 0, …, 69", "", "seq", None),
    "in a function, a step ahead": Row("f(v) = s^3\ns^0 = v\ns^{t+1} = s^t ⊙ v for t = 0, …, 2\nf(x)", "", "seq", x**4),
    "downwards": Row("h^{t-1} = h^t + t x for t = 3, …, 1\nh^3 = y", r"\begin{align} h^{t-1} &= h^t + t x & t &= 3, \ldots, 1 \\ h^3 &= y \end{align}", "seq", y + 6 * x),
}  # fmt: skip
AS_WRITTEN = {
    "a logarithm of an expectation": Row("−log 𝔼_{i ∼ q}[exp x_{seq(i)}]\nq = [0.5, 0.5]_{k}",
                                         r"-\log \mathbb{E}_{i \sim q}[\exp x_{\name{seq}(i)}] \\ q = \nmatrix{}{\name{k}}{0.5 & 0.5}", "", -np.log(np.exp(x[:2]).mean())),
    "two bars between arguments": Row("D_{KL}(p ‖ q) = ∑_{seq} p log(p / q)\nD_{KL}(softmax_{seq} x ‖ softmax_{seq} y)",
                                      r"D_{\mathrm{KL}}(p \,\|\, q) = \nsum{\name{seq}} p \log (p / q) \\ D_{\mathrm{KL}}(\nfun{\name{seq}}{softmax} x \| \nfun{\name{seq}}{softmax} y)", "",
                                      (np.exp(x) / np.exp(x).sum() * (x - y - np.log(np.exp(x).sum()) + np.log(np.exp(y).sum()))).sum()),
    "cases that begin a recurrence": Row("F_n = { x if n ≤ 1; F_{n-1} + F_{n-2} y otherwise } for n = 0, …, 4",
                                         r"F_n = \begin{cases} x & n \le 1 \\ F_{n-1} + F_{n-2} y & \text{otherwise} \end{cases} \quad \text{for } n = 0, \ldots, 4", "seq",
                                         x * (1 + 3 * y + y**2)),
    "a running mean by cases": Row("s_t = { x_{seq(1)} if t = 1; 0.5 x_{seq(t)} + 0.5 s_{t-1} otherwise } for t = 1, …, |seq|\nY_{seq(t)} = s_t for t = 1, …, |seq|", "", "seq",
                                   [x[0], *(0.5 ** np.array([[1, 1, 8, 8, 8], [2, 2, 1, 8, 8], [3, 3, 2, 1, 8], [4, 4, 3, 2, 1]]) * (np.tri(4, 5, 1)) @ x)]),
    "a member at the end of an axis": Row("G_{|seq|} = 0\nG_t = x_{seq(t+1)} + 0.9 G_{t+1} for t = |seq|-1, …, 0\nG_0", r"G_{|\name{seq}|} = 0 \\ G_t = x_{\name{seq}(t+1)} + 0.9 G_{t+1}, \quad t = |\name{seq}|-1, \ldots, 0 \\ G_0", "",
                                          x @ 0.9 ** np.arange(5)),
    "families in a circle": Row("θ_0 = x\nm_0 = 0 x\ng_t = 2 θ_{t-1} for t = 1, …, 3\nm_t = 0.5 m_{t-1} + g_t for t = 1, …, 3\nθ_t = θ_{t-1} − 0.1 m_t for t = 1, …, 3",
                                r"\begin{align} \theta_0 &= x, m_0 = 0 x \\ g_t &= 2 \theta_{t-1} & t &= 1, \ldots, 3 \\ m_t &= 0.5 m_{t-1} + g_t & t &= 1, \ldots, 3 \\ \theta_t &= \theta_{t-1} - 0.1 m_t & t &= 1, \ldots, 3 \end{align}",
                                "seq", 0.302 * x),
    "a list with what is drawn": Row("Y = b x\nb ∼ Bernoulli(r)\nr = 1", r"Y = b x, \quad b \sim \mathrm{Bernoulli}(r), \quad r = 1", "seq", x),
    "a second derivative at a point": Row("f(v) = x v^3\n∂²f(k)/∂k²|_{k = r}", r"f(v) = x v^3 \\ \left.\frac{\partial^2 f(k)}{\partial k^2}\right|_{k=r}", "seq", 12 * x, {"r": 2.0}),
}  # fmt: skip
HIGHER = {
    "a third derivative": Row("∂³(x^5)/∂r³ + ∂³(r^4 x)/∂r³", r"\frac{\partial^3 (x^5)}{\partial r^3} + \frac{\partial^{3} (r^4 x)}{\partial r^{3}}", "seq", 24 * 2 * x, {"r": 2.0}),
    "of two variables": Row("∂³(r^2 k^3 x)/∂r²∂k", r"\frac{\partial^3 (r^2 k^3 x)}{\partial r^2 \partial k}", "seq", 2 * 3 * 9 * x, {"r": 2.0, "k": 3.0}),
    "along axes": Row("∑_{seq*, seq†} ∂³(∑_{seq} x^4)/∂x*∂x†∂x**", r"\nsum{\seq^*, \seq^\dagger} \frac{\partial^3 (\nsum{\seq} x^4)}{\partial x^* \partial x^\dagger \partial x^{**}}",
                      "seq**", 24 * x, lifted=False),
    "an operator in brackets": Row("(∂/∂x*) ∑_{seq} x^3", r"\left(\frac{\partial}{\partial x^*}\right) \nsum{\seq} x^3", "seq*", 3 * x**2, lifted=False),
}  # fmt: skip
POINTS = {
    "a derivative at a point": Row("Y = ∑_{seq} x^3\n∂Y/∂x|_{x = y}", r"Y = \nsum{\name{seq}} x^3 \\ \left. \frac{\partial Y}{\partial x} \right|_{x=y}",
                                   "seq", 3 * y**2, lifted=False, differentiable=False),
    "of a variable that is bound there": Row("f(t) = ∑_{seq} t^2\n∂f(t)/∂t*|_{t = 2 x}",
                                             r"f(t) = \nsum{\name{seq}} t^2 \\ \frac{\partial f(t)}{\partial t^*}\bigg|_{t=2 x}", "seq*", 4 * x, lifted=False),
    "at several": Row("(k t + x)|_{k = 2, t = y}", r"(k t + x)|_{k=2, t=y}", "seq", 2 * y + x),
    "by way of a definition": Row("m = ∑_{seq} x\nY = m x\nY|_{x = x^2} + x", "", "seq", (x**2).sum() * x**2 + x, lifted=False),
}  # fmt: skip
BEST = {
    "the index of the largest": Row("argmax_i x_{seq(i)}", r"\arg\max_i x_{\name{seq}(i)}", "", x.argmax() + 1, differentiable=False),
    "of the least of some": Row("argmin_{i ∈ {2, 4}} X_{seq(i)}", r"\operatorname*{arg\,min}_{i \in \{2, 4\}} X_{\name{seq}(i)}", "chans",
                                np.array([2, 4])[X[[1, 3]].argmin(0)], differentiable=False),
    "of the best before": Row("Z_{seq(i)} = argmax_{j ≤ i} x_{seq(j)}", r"Z_{\name{seq}(i)} = \argmax_{j \leq i} x_{\name{seq}(j)}", "seq",
                              [x[: i + 1].argmax() + 1 for i in range(5)], differentiable=False),
    "the number that is nearest": Row("argmin_{v ∈ S} abs(v − r)\nS = [0.5, 1.5, 4]_{k}", "", "", 1.5, {"r": 2.5}),
    "over numbers": Row("argmin_{i=2}^{4} (x_{seq(i)} + y)", "", "seq", np.full(5, x[1:4].argmin() + 2), differentiable=False),
}  # fmt: skip
BY_ELEMENTS = {
    "a function by its elements": Row("Y_{seq(i)} = v_{seq(i)}^2 + i\nf(v) = Y\nf(x)",
                                      r"Y_{\name{seq}(i)} = v_{\name{seq}(i)}^2 + i \\ f(v) = Y \\ f(x)", "seq",
                                      x**2 + np.arange(1, 6)),
    "element by element": Row("f : ℝ^{chans} → ℝ^{k[2]}\nY_{k(1)} = 7\nY_{k(2)} = ∑_{chans} v\nf(v) = Y\nf(X)", "", "seq k",
                              np.stack([np.full(5, 7), X.sum(1)], 1)),
    "of two tensors": Row("Y_{p(i), q(j)} = v_{seq(i)} − c u_{seq(j)} for i = 1, …, 5 for j = 1, …, 2\ng(v, u; c) = Y\ng(x, y; 3)", "", "p q",
                          x[:, None] - 3 * y[:2]),
}  # fmt: skip
ROWS = (
    FAMILIES | READ | BOUND | OPERATORS | RANDOM_VARIABLES | AHEAD | AS_WRITTEN | HIGHER | POINTS | BEST | BY_ELEMENTS
)


def test_every_kind_of_node_stands_in_a_row():
    """So each is held to the laws below: NumPy, the reference, printing, the backends, differences, lifting."""
    kinds = {
        name for name, var in vars(nodes).items() if isinstance(var, type) and "span" in getattr(var, "__slots__", ())
    }
    names = {type(node).__name__ for row in ROWS.values() for node in walk(parse(row.text))}
    assert kinds - names == {"Imports"}  # which has no value: its definitions stand in its place


def values_of(row: Row) -> dict[str, Any]:
    text = parse(row.text)
    named = {node.text for node in walk(text) if hasattr(node, "text")}
    return {name: tensor for name, tensor in GIVEN.items() if name in named} | dict(row.values)


def walk(tree):
    from namedtensor.scope.names import walk

    return walk(tree)


def array_of(value, axes: str) -> np.ndarray:
    array = value.to_array(axes) if axes else getattr(value, "array", value)
    return np.asarray(array.detach().numpy() if hasattr(array, "detach") else array, dtype="float64")


def given_to_the_reference(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: reference.tensor(value.array.tolist(), " ".join(value.axes))
        if isinstance(value, nt.NamedTensor)
        else value
        for name, value in values.items()
    }


@pytest.mark.sampled(3)
@pytest.mark.parametrize("title", ROWS)
def test_the_value_is_that_of_numpy_and_of_the_reference(title):
    row = ROWS[title]
    array = array_of(nt.evaluate(row.text, values_of(row)), row.axes)
    if row.value is not None:
        np.testing.assert_allclose(array, row.value, rtol=1e-12)
    expected = reference.evaluate(row.text, given_to_the_reference(values_of(row)))
    np.testing.assert_allclose(
        array,
        expected.to_list(row.axes) if row.axes else expected.entries[()],
        rtol=1e-9,
        atol=1e-4 if "∂³" in row.text else 1e-7 * ("∂" in row.text),
    )


@pytest.mark.parametrize("title", ROWS)
def test_both_spellings_are_one_tree_and_it_is_printed_back(title):
    row = ROWS[title]
    tree = parse(row.text)
    if row.latex:
        assert parse(row.latex, "latex") == tree
    assert parse(to_text(tree), "text") == tree
    assert parse(to_text(tree, ascii=True), "text") == tree
    assert parse(to_latex(tree), "latex") == tree
    assert parse(to_latex(tree, macros=True), "latex") == tree


@pytest.mark.parametrize("letter", ["𝒮", r"\mathcal{S}", r"\mathscr{S}", r"\cal{S}"])
def test_a_shape_variable_is_solved_in_each_spelling(letter):
    text = rf"X \in ℝ^{{{letter} \times \name{{chans}}}} \\ \nsum{{{letter}}} X"
    assert np.allclose(nt.evaluate(text, X=nt.tensor(X, "seq chans")).to_array("chans"), X.sum(0))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("backend", ["torch", "jax"])
@pytest.mark.parametrize("title", ROWS)
def test_every_backend_agrees(title, backend):
    library = pytest.importorskip("torch" if backend == "torch" else "jax.numpy")
    row = ROWS[title]
    make = library.tensor if backend == "torch" else lambda array: library.asarray(array)
    values = {
        name: nt.tensor(make(value.array), value.axes) if isinstance(value, nt.NamedTensor) else value
        for name, value in values_of(row).items()
    }
    expected = array_of(nt.evaluate(row.text, values_of(row)), row.axes)
    array = array_of(nt.evaluate(row.text, values), row.axes)
    np.testing.assert_allclose(array, expected, rtol=1e-5 if backend == "jax" else 1e-9, atol=1e-6)


@pytest.mark.slow
@pytest.mark.skipif(javascript.NODE is None, reason=javascript.REASON)
def test_javascript_agrees():
    cases = [javascript.case(title, row.text, values_of(row)) for title, row in ROWS.items()]
    assert javascript.compare(cases).different == []


def varied(row: Row) -> str | None:
    """The input that is varied: the first of those with axes that the text does not bind."""
    return next((name for name, value in values_of(row).items() if isinstance(value, nt.NamedTensor)), None)


def inputs_of(row: Row) -> tuple[dict[str, Any], str]:
    """The values, and which of them is varied."""
    name = varied(row)
    assert name is not None
    return values_of(row), name


@pytest.mark.parametrize("title", [title for title, row in ROWS.items() if row.differentiable and varied(row)])
def test_its_derivative_is_that_of_differences(title):
    row = ROWS[title]
    values, name = inputs_of(row)
    gradient = gradient_of(row, name, values)
    for index in range(min(3, values[name].array.size)):
        sides = []
        for sign in (1, -1):
            array = values[name].array.astype(float).copy()
            array.flat[index] += sign * 1e-6
            sides.append(
                array_of(nt.evaluate(row.text, {**values, name: nt.tensor(array, values[name].axes)}), row.axes).sum()
            )
        np.testing.assert_allclose(gradient.flat[index], (sides[0] - sides[1]) / 2e-6, rtol=1e-4, atol=1e-5)


def gradient_of(row: Row, name: str, values: Mapping[str, Any]) -> np.ndarray:
    """The derivative of the sum of the value by an input, of PyTorch's own."""
    torch = pytest.importorskip("torch")
    leaf = torch.tensor(values[name].array, dtype=torch.float64, requires_grad=True)
    tensors = {
        key: nt.tensor(torch.tensor(value.array), value.axes) if isinstance(value, nt.NamedTensor) else value
        for key, value in values.items()
    } | {name: nt.tensor(leaf, values[name].axes)}
    result = nt.evaluate(row.text, tensors)
    array = result.to_array(row.axes) if row.axes else result.array
    array.sum().backward()
    return leaf.grad.numpy()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("title", [title for title, row in ROWS.items() if row.lifted and varied(row)])
def test_a_batch_is_mapped_over(title):
    row = ROWS[title]
    values, name = inputs_of(row)
    item = [values[name].array, values[name].array[::-1].copy()]
    batch = nt.tensor(np.stack(item), ("batch", *values[name].axes))
    result = nt.evaluate(row.text, {**values, name: batch})
    alone = [
        array_of(nt.evaluate(row.text, {**values, name: nt.tensor(one, values[name].axes)}), row.axes) for one in item
    ]
    np.testing.assert_allclose(array_of(result, f"batch {row.axes}".strip()), np.stack(alone), rtol=1e-9)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("C = x\nC_{seq(6)} ← 0", 401), ("C = x\nC_{seq([1, 7]_{k})} ← 0", 401), ("C = x\nC_{other(1)} ← 0", 301), ("𝔼_{z ∼ Foo(1)} z", 201), ("𝔼_{z ∼ N(0)} z", 304), ("𝔼_{i ∼ 0.5} i", 405), ("𝔼_{i ∼ Bernoulli(x)} i", 405), ("𝔼_{z ∼ N(0, 1)}", 101),
        ("x + 1 ∼ N(0, 1)", 114), ("z ∼ N(0, 1)\nu ∼ N(z, 1)\n𝔼_u u", 114), ("z ∼ N(0, 1)\n𝔼[x]", 201), ("𝔼_z z", 201), ("z^t ∼ N(0, 1)\nY_{seq(t)} = z^t", 114), ("z ∼ N(0, 1)\n𝔼_z[h^99]\nh^t = h^{t-1} + z for t = 1, …, 99\nh^0 = 0", 114), ("𝔼_{z ∼ N(0, 1)^{other}} z", 309), ("argmax_{i=2}^{1} x_{seq(i)}", 405), ("x|_{x = 2}", 307), ("𝔼[x]", 201),
        ("QK^T", 201), ("QK", 201), ("x(1, 2)", 201), ("LN(x; 2)", 201), ("p(B | A)", 201), ("x_{seq(4:2)}", 401), ("x_{seq(2:9)}", 401),
        ("x_{seq(a:b)}", 309), ("∑_{j ≠ i} 3", 309), ("x ≈ [1, 2]_{other}", 307), ("𝕀[x ≈ 2]", 101), ("x ≈ Q2", 201),
        ("f : ℝ → ℝ\ng(f, t) = f(t)\ng(exp, x)", 114), ("g : (ℝ → ℝ) × ℝ → ℝ\ng(f, t) = f(t)", 114), ("mean_{j ≠ 2} x_{seq(j)}", 301), ("softmax_{i ∈ [3]} x_{seq(i)}", 301),
        ("A, B = x", 114), ("f(a) = a\nf(b) = b\nf(x)", 202), ("f(a) = a\nf(a, b) = b\nf(x, x, x)", 304), ("2½", 107), ("r ≥ 5\nr", 403),
        ("n ∈ ℕ\nn + x", 407), ("r ∈ ℝ_{>0}\n(−r) ∈ ℝ_{>0}\nr", 407), ("lim_{α→∞} α x", 405), ("argmin_{v ∈ ℝ^{seq}} v ⊙_{seq} x", 405),
        ("X^t = 1 for t = 1, 3, …, 9", 114), ("X^{i,i} = 1 for i = 1, …, 2 for i = 1, …, 2", 114), ("‖x", 102), ("x + 1 ← 2", 101),
        ("quantile_{seq}(x; 2)", 405), ("x ∈ Whole^{seq}", 101), ("C ← C + 1\nC", 201),
    ],
)  # fmt: skip
def test_a_wrong_use_gets_a_numbered_error(text, number):
    inputs = {"x": GIVEN["x"], "Q": GIVEN["x"], "K": GIVEN["x"], "r": 2.0, "n": 0.5}
    program = parse(text) if number not in (101, 102, 107, 114) else None
    named = {node.text for node in walk(program) if hasattr(node, "text")} if program else {"x"}
    known = {name: value for name, value in inputs.items() if name in named or (name in "QK" and "QK" in named)}
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, known)
    assert caught.value.code == number


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("LN : ℝ^{chans} → ℝ^{chans}\nX ∈ ℝ^{seq × chans}\nZ = LN(X)", {"Z": "ℝ^{seq × chans}"}),
        ("x ∈ ℝ^{seq}\nw = argmin_{v ∈ ℝ^{seq}} ∑_{seq} (v − x)^2", {"w": "ℝ^{seq}"}),
        ("x ∈ ℝ^{seq}\ny = lim_{α→∞} softmax_{seq} α x", {"y": "ℝ^{seq}"}),
    ],
)
def test_check_types_what_has_no_value(text, types):
    report = nt.check(text)
    assert not report.errors
    assert {name: report.types[name] for name in types} == types


@pytest.mark.parametrize("text", ["x\n(−1) ≤ r", "lim_{a→∞} a", "⊤ + 1", "‖(‖x‖ − 1)‖_1"])
def test_what_is_printed_with_care_is_read_back(text):
    tree = parse(text)
    for printed, spelling in ((to_text(tree), "text"), (to_text(tree, ascii=True), "text"), (to_latex(tree), "latex")):
        assert parse(printed, spelling) == tree


@pytest.mark.parametrize(
    "text", ["h^{n+1} = 0\nh^t = h^{t+1} / 2 + x_{time(t)} for t = n, …, 1\nH_{step(t)} = h^t for t = 1, …, n"]
)
def test_a_long_recurrence_downwards_is_a_loop(text):
    steps = RANDOM.normal(size=2000)
    inputs = {"x": nt.tensor(steps, "time"), "n": 2000}
    result = nt.evaluate(text, inputs)
    np.testing.assert_allclose(result.to_array("step"), states(steps, -1), rtol=1e-9)
    assert len(nt.to_python(text, "numpy", inputs)) < 10_000
