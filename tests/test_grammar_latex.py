"""LaTeX to tree: each construct beside the text that says the same, the places of names and errors, and any string."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from timing import at_most

from grammar import nodes
from grammar.errors import NotationError
from grammar.latex.lexer import tokenize
from grammar.parser import parse
from grammar.traversal import children

NAMES_AND_NUMBERS = {
    r"x": "x",
    r"\alpha + \varepsilon + \Omega": "α + ε + Ω",
    r"\infty": "∞",
    r"\text{LN}_Q(x)": "LN_Q (x)",
    r"\text{Conv1d}": "Conv1d",
    r"\mathbf W^{\mathbf Q}": "W^{Q}",
    r"\mathit{p} + \texttt{q} + \mathrm{r}": "p + q + r",
    r"\boldsymbol{\gamma} \odot \bm x": "γ ⊙ x",
    r"\operatorname*{arg\,max}_{\ax} X": "argmax_{ax} X",
    r"\arg\max_{\ax} X": "argmax_{ax} X",
    r"\arg\,\min_{\ax} X + \max(X, 0)": "argmin_{ax}(X) + max(X, 0)",
    r"\underset{\ax}{\arg \max} X": "argmax_{ax} X",
    r"\text{gelu\_tanh}(X) + \text{gelu_tanh}(X)": "gelu_tanh(X) + gelu_tanh(X)",
    r"\operatorname{where}(x > 0, x, y)": "where(x > 0, x, y)",
    r"\text{where}(x > 0, x, y)": "where(x > 0, x, y)",
    r"2x + 0.25 y": "2 x + 0.25 y",
    r"x2": "x (2)",
    r"\epsilon = 1e-5": "ε = 1e-5",
    r"X' + X'' + X^\prime + X^{\prime\prime}": "X' + X'' + X' + X''",
    r"u_i' + u_{\seq}'": "u'_i + u'_{seq}",
    r"X^{1'} + X^{l'}": "X^{1'} + X^{l'}",
    r"\alpha_{i, j^\prime}": "α_{i, j'}",
}
SCRIPTS = {
    r"x^2 + W^{l,Q} + h^{t-1}": "x^2 + W^{l,Q} + h^{t-1}",
    r"x^12": "x^1 (2)",
    r"W^kh": "W^{kh}",
    r"x^\frac12": "x^{1/2}",
    r"x^{\frac1p}": "x^{1/p}",
    r"x^\alpha_\beta": "x^α_β",
    r"{x^2}^3": "(x^2)^3",
    r"(A + B)^*": "(A + B)^*",
    r"X^\dagger": "X^†",
    r"X^{\ast}": "X^*",
    r"X_{\seq^*(3)} + X_{\seq^{*}(3)}": "X_{seq*(3)} + X_{seq*(3)}",
    r"X_{\seq^\dagger\to\seq}": "X_{seq†→seq}",
    r"X_{\hidden_1^*(2)}": "X_{hidden_1^*(2)}",
    r"\text{MaxPool2d}_{ph^l,ph^l}(X)": "MaxPool2d_{ph^l,ph^l} (X)",
    r"n_{l-1}": "n_{l-1}",
}
AXES = {
    r"A_{\height(1), \width(i+1)}": "A_{height(1), width(i+1)}",
    r"[X+Y]_{\mathsf{b}(1)}": "[X+Y]_{b(1)}",
    r"\left[A_{\name{a}(2)}\right]_{\name{b}(3)}": "[A_{a(2)}]_{b(3)}",
    r"X_{\seq\rightarrow\seq', \key\to\name{k}}": "X_{seq→seq', key→k}",
    r"X_{(\height,\width)\rightarrow\layer}": "X_{(height,width)→layer}",
    r"X_{\layer\rightarrow(\heads,\key)}": "X_{layer→(heads,key)}",
    r"X_{\name{hidden_1}\to\name{if}}": "X_{hidden_1→if}",
    r"|\key| + |\seq'| + |\hidden_1| + |\seq^*|": "|key| + |seq'| + |hidden_1| + |seq*|",
    r"10|\seq|": "10 |seq|",
    r"\left|\key\right|": "|key|",
    r"\left| x + y \right|": "abs(x + y)",
    r"\lvert x + y \rvert \odot z": "abs(x + y) ⊙ z",
    r"\bigl| \left|x - y\right| - z \bigr|": "abs(abs(x - y) - z)",
}
OPERATORS = {
    r"Q \ndot{\key} K": "Q ⊙_{key} K",
    r"Q \ndot{\mathcal{S'}} K \ndot{\mathcal{S}'} Q": "Q ⊙_{𝒮'} K ⊙_{𝒮'} Q",
    r"Q \ndot{\mathcal{S^*}} K_{\mathcal{S} \rightarrow \mathcal{S}^*}": "Q ⊙_{𝒮*} K_{𝒮→𝒮*}",
    r"\lim_{\alpha \rightarrow -\infty} \nfun{\seq}{softmax} \alpha X": "lim_{α→-∞} (softmax_{seq} (α X))",
    r"\lim_{h \rightarrow -2} h X": "lim_{h→-2} (h X)",
    r"Q \ndot{\key} K. \qedhere": "Q ⊙_{key} K",
    r"Q \ndot\key K": "Q ⊙_{key} K",
    r"Q \ndot{\heads \\ \val, \key} K": "Q ⊙_{heads, val, key} K",
    r"Q \ndot{} K \odot K \cdot K * K": "Q ⊙ K ⊙ K ⊙ K ⊙ K",
    r"Q \mathbin{\mathop{\odot}\limits_{\mathsf{key}}} K": "Q ⊙_{key} K",
    r"X \ncat{\chans} Y \oplus Z": "X ⊕_{chans} Y ⊕ Z",
    r"X \nbin{\ax}{\star} Y \nbin\ax\otimes Z": "X ★_{ax} Y ⊗_{ax} Z",
    r"\nfun{\seq}{softmax} X": "softmax_{seq} X",
    r"\nfun\seq{softmax}(X)": "softmax_{seq}(X)",
    r"\nfun{\seq \\ \kernel}{unroll} X": "unroll_{seq, kernel} X",
    r"\nfun{\kh, \kw}{max} X": "max_{kh, kw} X",
    r"\nfun{\ax}{\sigma} X + \nfun{\ax}{\text{arg}\,} X": "σ_{ax} X + arg_{ax} X",
    r"\nfun{\ax}{norm_\mathit{p}} X": "norm_{ax}(X; p)",
    r"\nfun{\ax}{norm_p}(X) + \nfun{\ax}{norm_{2}} X": "norm_{ax}(X; p) + norm_{ax}(X; 2)",
    r"\underset{\ax}{\mathrm{softmax}} X": "softmax_{ax} X",
    r"\mathop{\mathrm{softmax}}\limits_{\mathsf{seq}} X": "softmax_{seq} X",
    r"\text{softmax}_\seq X": "softmax_seq X",
    r"\max\limits_{\ax} X": "max_{ax} X",
    r"\exp X + \log(X) \odot \max(0, X)": "exp X + log(X) ⊙ max(0, X)",
    r"\exp\!\left( X \right)": "exp(X)",
    r"\nsum{\seq \\ \key \\} X": "∑_{seq, key} X",
    r"\nsum\height X + \nprod{\substack{\seq \\ \key}} X": "∑_{height} X + ∏_{seq, key} X",
    r"\nfun{\ax}{prod} X + \text{sum}_{\ax} X": "∏_{ax} X + ∑_{ax} X",
    r"\sum_i A_{\height(i)}": "∑_i A_{height(i)}",
    r"\sum_{i=1}^n x + \sum\limits^n_{i=1} x": "∑_{i=1}^{n} x + ∑_{i=1}^{n} x",
    r"\mathbb{1}[x > 0] + \mathbb I\left[i = j \land i \neq k\right]": "𝕀[x > 0] + 𝕀[i = j ∧ i ≠ k]",
}
FRACTIONS_AND_LITERALS = {
    r"\frac{\mathrm{d} L}{\mathrm{d} x}": "∂L/∂x",
    r"\frac{\mathrm{d}}{\mathrm{d} x} (x^2)": "∂(x^2)/∂x",
    r"\frac{\mathrm{d}_k}{\mathrm{d}_v}": "d_k / d_v",
    r"\frac{\mathrm{d}}{\mathrm{d}}": "d / d",
    r"\frac{\mathrm{d} x}{2}": "d x / 2",
    r"\frac{a}{b} \odot \dfrac{c}{d}": "(a / b) ⊙ (c / d)",
    r"\frac12 + \frac1p + \frac ab + \frac1{b}": "1/2 + 1/p + a/b + 1/b",
    r"\frac{x}{y}_{\seq(1)}": "(x / y)_{seq(1)}",
    r"\exp \frac{a}{b} c": "exp((a / b) c)",
    r"\sqrt{a + b} + \sqrt A + \sqrt{|\key|} x": "√(a + b) + √A + √|key| x",
    r"\sqrt{x}^2": "(√x)^2",
    r"\sqrt xy": "√x y",
    r"Z \stackrel{\text{(1)}}{=} X": "Z = X",
    r"Z \overset{!}= X": "Z = X",
    r"X \overset{\mathrm{def}}{\in} \reals^{\seq}": "X ∈ ℝ^{seq}",
    r"\begin{align} Y &\stackrel{(1)}{=} X \\ &\overset{(2)}{=} Z \end{align}": "Y = X = Z",
    r"Y \triangleq 3": "Y = 3",
    r"Y \coloneqq 3": "Y = 3",
    r"Y ≔ 3": "Y = 3",
    r"\sqrt[3]{A} + \sqrt[n]{x + y}": "A^{1/3} + (x + y)^{1/n}",
    r"\frac{\partial f(X)}{\partial X^*}": "∂(f (X))/∂X*",
    r"\frac{\partial X \odot X}{\partial X}": "∂(X ⊙ X)/∂X",
    r"\frac{\partial}{\partial X^*} (X \odot X) + Y": "∂(X ⊙ X)/∂X* + Y",
    r"\frac{\partial}{\partial X^*} \nfun{\ax}{softmax} X": "∂(softmax_{ax} X)/∂X*",
    r"\partial (X)/\partial X^\dagger": "∂(X)/∂X†",
    r"\nmatrix{\height}{\width}{3 & 1 \\[1ex] 1 & -5 \\}": "[3, 1; 1, -5]_{height, width}",
    r"\nmatrix{\height}{}{2 \\ 7 \\ 1}": "[2, 7, 1]_{height}",
    r"\nmatrix{}{\width}{2 & 7}": "[2, 7]_{width}",
    r"\nmatrix{\height'}{\hidden_1}{\frac12 & x}": "[1/2, x]_{height', hidden_1}",
    r"\mathinner{\mathsf{a}\overset{\mathsf{b}}{\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}}}": "[1, 2; 3, 4]_{a, b}",
    r"\begin{cases} 0 & i \leq j \\ -\infty & \text{otherwise} \end{cases}": "{ 0 if i ≤ j; -∞ otherwise }",
    r"\begin{cases} x & \text{if $i$ is even.} \\ y, & \text{else} \end{cases}": "{ x if i even; y otherwise }",
    r"\begin{cases} x & \text{if } i = j \\ y & \text{for } i \neq j. \\ \end{cases}": "{ x if i = j; y if i ≠ j }",
    r"\begin{cases} x & i < j \text{ and } k \text{ odd} \end{cases}": "{ x if i < j and k odd }",
}
SETS = {
    r"W \in \mathbb{R}^{\chans[3] \times \seq[n-|\kernel|+1], \kernel}": "W ∈ ℝ^{chans[3] × seq[n-|kernel|+1], kernel}",
    r"W \in \mathbb R^\seq": "W ∈ ℝ^{seq}",
    r"\gamma, \beta \in \reals^{\chans}": "γ, β ∈ ℝ^{chans}",
    r"I \in \{0, 1\}^{\seq \times \vocab}": "I ∈ {0, 1}^{seq × vocab}",
    r"I \in [n]^\subseq": "I ∈ [n]^{subseq}",
    r"x \in [0,1]": "x ∈ [0,1]",
    r"f \colon \{0,1\}^{\seq} \times [n]^{\max} \rightarrow \R": "f : {0,1}^{seq} × [n]^{max} → ℝ",
    r"\nfun{\ax}{g}: \reals^{\ax} \to \reals": "g_{ax} : ℝ^{ax} → ℝ",
    r"\mathord- \nbin{\ax}{\star} \mathord{-} \colon \reals \times \reals \to \reals": "★_{ax} : ℝ × ℝ → ℝ",
    r"x = a + \mathord{-} b": "x = a + -b",
    r"x = a \mathord- b": "x = a - b",
    r"y = [x]^2": "y = [x]^2",
}
STATEMENTS = {
    r"\begin{align*} a &= b & c &= d \\ e &= f, \end{align*}": "a = b\nc = d\ne = f",
    r"\begin{align} a &= b \label{eq:a} \\ &\quad + c \notag \\ &= d. \end{align}": "a = b + c = d",
    r"\begin{align} a &= b + \\ & c \end{align}": "a = b + c",
    r"\begin{align} a &= (b \\ &\qquad + c) \end{align}": "a = (b + c)",
    r"\begin{eqnarray} a &=& b \\ c &=& d \end{eqnarray}": "a = b\nc = d",
    r"\begin{equation}\begin{aligned}[t] a &= b \\ c &= d \end{aligned}\end{equation}": "a = b\nc = d",
    r"\begin{alignat}{2} a &= b & c &= d \end{alignat}": "a = b\nc = d",
    r"a = b \\ -c": "a = b - c",
    r"a \\ (-c)": "a\n(-c)",
    r"a = 1, \quad b = 2, |\seq| = n": "a = 1\nb = 2\n|seq| = n",
    r"f(x) = x, g_{\ax} X = X, h(x; y) = x": "f(x) = x\ng_{ax} X = X\nh(x; y) = x",
    r"W \in \reals^{\ax}, b, c \in \reals": "W ∈ ℝ^{ax}\nb, c ∈ ℝ",
    r"A, \quad B \in \reals": "A, B ∈ ℝ",
    r"\nsum{\ax} X, \\ Y": "∑_{ax} X\nY",
    r"\oplus \colon \reals \times \reals \to \reals \\ \ncat{\ax} \colon \reals \to \reals": "⊕ : ℝ × ℝ → ℝ\n⊕_{ax} : ℝ → ℝ",
    r"x &= 1 && \text{positions, so to say; 100\%} \\ y &= 2": "x = 1\ny = 2",
    r"Y &= X,\ \text{where} \\ X &= 2": "Y = X\nX = 2",
    r"x = y \text{ where } y = 2 \text{ and } z = 3": "x = y\ny = 2\nz = 3",
    r"x = 1 \intertext{so that} y = 2": "x = 1\ny = 2",
    r"\text{logits}": "logits",
    r"x^t &\in \reals & t &= 1, \ldots, n": "x^t ∈ ℝ for t = 1, …, n",
    r"x^t = y^t, t = 1, \ldots, n, z \in \reals": "x^t = y^t for t = 1, …, n\nz ∈ ℝ",
    r"x^t = y^t \quad \text{for $t = 1, \ldots, n$.}": "x^t = y^t for t = 1, …, n",
    r"x^t = y^t, \text{ for } t = 1, \ldots, n": "x^t = y^t for t = 1, …, n",
    r"x = 2 k, \qquad k = 0, 1, \cdots, n/2 - 1": "x = 2 k for k = 0, …, n/2 - 1",
    r"T^1 &= X \\ &\vdotswithin{=} \\ T^L &= Y": "T^1 = X\n⋮\nT^L = Y",
    r"T^1 &= X \\ \vdots &= \vdots \\ & \ldots \\ T^L &= Y": "T^1 = X\n⋮\nT^L = Y",
    "x + y % and more, \\[ z\n% all of it": "x + y",
    r"Let $x \in \reals$, which is 100\% sure \& fine_. Then \[ y = x, \] and \(z = y\). So #?": "x ∈ ℝ\ny = x\nz = y",
    r"$a = 1$$b = 2$ $$c = 3$$": "a = 1\nb = 2\nc = 3",
    r"\textcolor{red}{(x + y)}\phantom{z} \, \mathopen{} z \tag*{1}": "(x + y) z",
}
MACROS = {
    r"\ndef{\inp}{input} |\inp| + |\inp'|": "|input| + |input'|",
    r"\newcommand{\attwt}{\alpha} \newcommand{\sm}[1]{\nfun\seq{softmax} #1} \attwt = \sm{X}": "α = softmax_{seq} X",
    r"\newcommand\a{b}\newcommand*{\c}[2]{#1 + #2^2} \c{\a}{x}": "b + x^2",
    r"\newcommand{\a}{b}\renewcommand{\a}{c} \a": "c",
    r"\def\c#1#2{#1/#2} \c xy + \c12": "x/y + 1/2",
    r"\let\foo\alpha \let\bar=\foo \bar": "α",
    r"\DeclareMathOperator*{\smx}{softmax} \smx_{\ax} X": "softmax_{ax} X",
    r"\newcommand{\fn}[1]{\text{#1}} \newcommand{\op}[1]{\operatorname{#1}} \fn{Conv1d} + \op{Conv1d}": "Conv1d + Conv1d",
    r"\newcommand{\be}{\begin{equation}} \newcommand{\ee}{\end{equation}} Prose. \be x = y \ee": "x = y",
    r"\newcommand{\name}[1]{\mathsf{#1}} \newcommand{\ndot}[1]{\odot} A \ndot{\name{a}} B": "A ⊙_{a} B",
    r"\newcommand{\R}{\mathbb{R}} x \in \R": "x ∈ ℝ",
    r"\newcommand{\odd}[3][x]{#1 #2 #3} y": "y",
}
EDGES = {  # what is left out, laid in one another, or replace_definitions by what the notation has already
    r"\begin{align} x &= \text{a \\ b} \end{align}": "x = a b",
    r"\nsum{\a \\} X": "∑_{a} X",
    r"\left. x": "x",
    r"\left. \left( x \right) + 1 \right|_{x = 2}": "(x + 1)|_{x = 2}",
    r"x^{***}": "x^{***}",
    r"\text x": "x",
    r"\mathbf{1}\left[x = 1\right]": "𝕀[x = 1]",
    r"\mathbf{1} \bigl[x = 1 \bigr]": "𝕀[x = 1]",
    r"\mathbf{x + y}": "x + y",
    r"\tilde\theta + \hat{\theta}": "θ̃ + θ̂",
    r"\hat{y_1}": "ŷ_1",
    r"\underbrace{x + y} + z": "x + y + z",
    r"{{a} + {b \over c}}": "a + b/c",
    r"\{ \begin{array}{ll} x & y > 0 \\ 1 & \text{otherwise} \end{array}": "{ x if y > 0; 1 otherwise }",
    r"\begin{array}[b]{c} x = 1 \\ y = 2 \end{array}": "x = 1\ny = 2",
    r"\nmatrix{}{\b}{1 & 2}": "[1, 2]_{b}",
    r"X \in \mathbb{R}^{\mathcal{S} \cup \mathcal{T}}": "X ∈ ℝ^{𝒮 × 𝒯}",
    r"\nfun{\a}{norm_p^2} X": "norm_{a}^2(X; p)",
    r"\mathinner{x}": "x",
    r"\mathinner{\mathsf{a} \overset{\mathsf{b}}{\begin{bmatrix} 1 & 2 \end{bmatrix}}}": "[1, 2]_{a, b}",
    r"a \overset{!}{=} b": "a = b",
    r"\begin{align} \begin{alignedat}{2} x &= 1 \\ y &= 2 \end{alignedat} \end{align}": "x = 1\ny = 2",
    r"\begin{align} x^1 &= 1 \\ \vdotswithin{=} \\ x^L &= 2 \end{align}": "x^1 = 1\n⋮\nx^L = 2",
    r"\vdotswithin": "⋮",
    r"\mathbb{E}\limits_{x \sim p} x": "𝔼_{x ∼ p}[x]",
    r"\mathbb{E} x": "E x",
    r"\DeclarePairedDelimiter{\nsum}{\lVert}{\rVert} \nsum{\a} x": "∑_{a} x",
    r"\newenvironment*{foo}{}{} \begin{foo} x \end{foo}": "x",
    r"\newenvironment{align}{2}{} \begin{align} x \end{align}": "x",
    r"\newcommand{\q}{x}\let\nsum=\q \nsum{\a} y": "∑_{a} y",
    r"\newcommand{\q}{x}\let\g=\q \g": "x",
    r"\DeclareMathOperator{\foo}{bar} \foo x": "bar x",
    r"x \in \text{ $\mathbb{R}$ }": "x ∈ ℝ",
    r"\begin{align} & \text{note}. \\ x &= 1 \end{align}": "x = 1",
    r"\begin{align} & \text{note}, & y = 2 \\ x &= 1 \end{align}": "y = 2\nx = 1",
    r"y = 2 \\ 1 \leq i \leq n": "y = 2\n1 ≤ i ≤ n",
    r"y_i = 1, \quad 1 \leq i \leq n": "y_i = 1 for i = 1, …, n",
    r"\begin{align} x &= 1, \\ & , \\ y &= 2 \end{align}": "x = 1\ny = 2",
    r"x_k = 1, \quad k = 0, 1, \ldots, n": "x_k = 1 for k = 0, …, n",
}
TABLES = (NAMES_AND_NUMBERS, SCRIPTS, AXES, OPERATORS, FRACTIONS_AND_LITERALS, SETS, STATEMENTS, MACROS, EDGES)
SAME = {latex: text for table in TABLES for latex, text in table.items()}


@pytest.mark.parametrize("latex", SAME)
def test_latex_says_what_text_says(latex):
    assert parse(latex, "latex") == parse(SAME[latex], "text")


# ------------------------------------------------------------------------------------------------------ where it stands
def find(tree, kind, number=0):
    result, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        result += [node] if type(node) is kind else []
        waiting.extend(reversed(children(node)))
    return result[number]


SPANS = [
    (r"A \ndot{\key} B", nodes.Name, 0, r"\key"),
    (r"A \ndot\key B", nodes.Name, 0, r"\key"),
    (r"A \ndot{\name{a}} B", nodes.Name, 0, r"\name{a}"),
    (r"X_{\seq'(1)}", nodes.Axis, 0, r"\seq'"),
    (r"X_{\seq^*(1)}", nodes.Axis, 0, r"\seq^*"),
    (r"|\hidden_1|", nodes.Axis, 0, r"\hidden_1"),
    (r"1 + \text{logit}", nodes.Name, 0, r"\text{logit}"),
    (r"\mathbf x", nodes.Name, 0, r"x"),
    (r"\bm{\gamma}", nodes.Name, 0, r"\bm{\gamma}"),
    (r"\ndef{\inp}{input} |\inp|", nodes.Axis, 0, r"\inp"),
    (r"\newcommand{\a}{1 + b} 2 \odot (\a)", nodes.Name, 0, r"\a"),
    (r"\newcommand{\s}[1]{\exp #1} \s{X}", nodes.Name, 0, r"X"),
    (r"1 + \nfun{\seq}{softmax} X", nodes.Call, 1, r"\nfun{\seq}{softmax} X"),
    (r"1 + \nfun{\seq}{softmax}(X)", nodes.Call, 1, r"\nfun{\seq}{softmax}(X)"),
    (r"1 + \nsum{\seq} X", nodes.Call, 1, r"\nsum{\seq} X"),
    (r"1 + \frac{a}{b}", nodes.Call, 1, r"\frac{a}{b}"),
    (r"1 + \sqrt{a}", nodes.Call, 1, r"\sqrt{a}"),
    (r"1 + \sqrt[3]{a}", nodes.Superscript, 0, r"\sqrt[3]{a}"),
    (r"1 + \left| a + b \right|", nodes.Call, 1, r"\left| a + b \right|"),
    (r"1 + |\key|", nodes.Size, 0, r"|\key|"),
    (r"1 + \nmatrix{\a}{}{1 \\ 2}", nodes.Literal, 0, r"\nmatrix{\a}{}{1 \\ 2}"),
    (r"x \in \mathbb{R}^\seq", nodes.Set, 0, r"\mathbb{R}^\seq"),
    (r"\begin{cases} 1 & a = b \end{cases}", nodes.Cases, 0, r"\begin{cases} 1 & a = b \end{cases}"),
]


@pytest.mark.parametrize(("latex", "kind", "number", "expected"), SPANS)
def test_a_node_stands_where_it_was_written(latex, kind, number, expected):
    start, end = find(parse(latex, "latex"), kind, number).span
    assert latex[start:end] == expected


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"A \ndot{\key} B", r"\ndot{\key}"),
        (r"A \nbin{\ax}{\star} B", r"\nbin{\ax}{\star}"),
        (r"\nsum\key B", r"\nsum\key"),
        (r"\nfun{\key}{max} B", "max"),
        (r"A \odot B", r"\odot"),
    ],
)
def test_an_operator_takes_in_its_subscript_and_a_function_is_its_name(latex, expected):
    start, end = find(parse(latex, "latex"), nodes.Call).operator_span
    assert latex[start:end] == expected


# ----------------------------------------------------------------------------------------------------------- wrong LaTeX
WRONG = [
    (r"\left( A + x", 102, "("),
    (r"A \ndot{\height x", 102, "{"),
    (r"\text{softmax", 102, "{"),
    (r"\begin{align} x", 102, r"\begin{align}"),
    (r"$x", 102, "$"),
    (r"\( x \]", 102, r"\("),
    (r"\newcommand{\x}{a", 102, "{"),
    (r"x }", 103, "}"),
    (r"A + x) \odot x", 103, ")"),
    (r"\frac{x)}{y}", 103, ")"),
    (r"\nmatrix{\a}{}{1 ] + [ 2}", 103, "]"),
    (r"\end{align} x", 103, r"\end{align}"),
    (r"A_{\height(1}", 104, "}"),
    (r"A \ndot{\height}", 105, r"\ndot{\height}"),
    (r"\nfun{\height}{softmax}", 105, r"\nfun{\height}{softmax}"),
    (r"A \odot / x", 105, "/"),
    (r"\frac{x + }{y}", 105, "}"),
    (r"B =", 105, "="),
    (r"A + x ? x", 106, "?"),
    (r"A.array", 106, "."),
    (r"2 + ' 1", 106, "'"),
    (r"A ₐ", 106, "ₐ"),
    (r"\frac{a & b}{c}", 106, "&"),
    ("x\\", 106, "\\"),
    (r"X / 2 Y", 107, "X / 2 Y"),
    (r"% nothing", 108, "% nothing"),
    (r"A + \frac{x}", 109, r"\frac"),
    (r"A + \sqrt", 109, r"\sqrt"),
    (r"A + \sqrt(x)", 109, r"\sqrt"),
    (r"\sqrt[3 x", 109, r"\sqrt"),
    (r"A \ndot", 109, r"\ndot"),
    (r"\newcommand{\x}{a \x} 1 + \x", 109, r"\x"),
    (r"\def\a{\b\b}\def\b{\a} 1 + \a", 109, r"\a"),
    (r"\newcommand{\x}[1]{#1} \x", 109, r"\x"),
    (r"\ndef{x}{y}", 109, r"\ndef"),
    (r"\begin{align*} A \end{equation}", 110, r"\end{equation}"),
    (r"A + \mathfrak{F}", 111, r"\mathfrak"),
    (r"\rec\{x\}", 111, r"\rec"),
    (r"x \in \mathbb{Q}", 111, r"\mathbb{Q}"),
    (r"\langle x, y \rangle", 111, r"\langle"),
    (r"\begin{bmatrix} 1 \end{bmatrix}", 111, r"\begin{bmatrix}"),
    (r"\newcommand{\x}[2][a]{#1} \x{1}", 111, r"\x"),
    (r"\def\x#1.{#1} \x 1.", 111, r"\x"),
    (r"x^-1", 101, "-"),
    (r"\begin{cases} x \\ y \end{cases}", 101, r"\\"),
    (r"\nmatrix{\a}{\b}{1 & 2 \\ 3}", 311, "3"),
    (r"\frac{a \\ b}{c}", 106, r"\\"),
    (r"\left. x \right|", 101, r"\right|"),
    (r"\{x | y\}", 101, r"\}"),
    (r"x \$ y", 106, r"\$"),
    (r"\hat{y + 1}", 111, r"\hat"),
    (r"\hat{}", 111, r"\hat"),
    (r"\rVert x", 103, r"\rVert"),
    (r"x \rfloor", 103, r"\rfloor"),
    (r"a \over b", 111, r"\over"),
    (r"2 \begin{array}{c} x \\ y \end{array}", 111, r"\begin{array}"),
    (r"\nmatrix{}{}{1 & 2 \\ 3 & 4}", 113, r"\nmatrix{}{}{1 & 2 \\ 3 & 4}"),
    (r"X \cup Y", 111, r"\cup"),
    (
        r"\mathsf{h} \begin{array}[b]{c}\mathsf{w}\\ \begin{bmatrix} 3 & 1 \end{bmatrix}\end{array}",
        111,
        r"\begin{array}",
    ),
    (r"\begin{align} Y &= x && \text{twice}~(x \in \mathbb{R}^{\name{a}}) \end{align}", 101, r"\in"),
    (r"\nfun{\a}{} X", 101, r"\nfun{\a}{}"),
    (r"\mathinner{\overset{x}{y}}", 111, r"\overset"),
    (r"\mathinner{\mathsf{a} \overset{\mathsf{b}}{\begin{bmatrix} 1 & 2 \end{bmatrix}} x}", 111, r"\overset"),
    (r"a \overset{!}{==} b", 111, r"\overset"),
    (r"a \overset{!}{+} b", 111, r"\overset"),
    (r"\newcommand{\f}[1][x", 109, r"\newcommand"),
    (r"x_k = 1, \quad k = 0, 2, \ldots, n", 114, r"2"),
    (r", ,", 108, r", ,"),
    (r"\text{if $i$}", 108, r"\text{if $i$}"),
]


@pytest.mark.parametrize(("latex", "number", "at"), WRONG)
def test_wrong_latex_gets_a_numbered_error_at_its_place(latex, number, at):
    with pytest.raises(NotationError) as caught:
        parse(latex, "latex")
    assert (caught.value.code, caught.value.span_text) == (number, at)


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    "latex",
    [
        "{" * 100_000 + "x" + "}" * 100_000,
        r"\frac{" * 20_000 + "x" + "}{y}" * 20_000,
        "x_{" * 20_000 + "x" + "}" * 20_000,
        r"\left|" * 20_000 + r"\right|" * 20_000,
        r"\sqrt" * 20_000 + "x",
        r"\text{a" + " " * 100_000,
        r"\text{ }" * 20_000,
        "(" * 20_000 + "&" * 20_000,
        "x = 1, " * 20_000,
        "= 0, 1, \\ldots, " * 20_000,
        r"\def\a{\b\b}\def\b{\c\c}\def\c{\d\d}\def\d{\a\a}\a",
        r"\newcommand{\s}[1]{#1#1#1}" + r"\s{" * 200 + "x" + "}" * 200,
        "\\" * 100_001,
    ],
    ids=lambda source: source[:12],
)
def test_long_sources_end_soon(latex):
    with at_most(5):
        try:
            tokenize(latex)
        except NotationError:
            pass


# ------------------------------------------------------------------------------------------------------------ any string
WORDS = r"""\alpha \seq \ndot \nfun \nsum \ncat \nbin \nmatrix \frac \sqrt \left \right \bigl| \text \mathrm \name{a}
    \text{if} \text{otherwise} \text{where} \text{Conv1d} \mathbb{R} \reals \in \times \to \colon = + - * / , . ; ( ) [ ] { }
    {x} {\seq} | ^ _ ' \prime \ast \dagger & \\ \\[1ex] \quad \begin{cases} \end{cases} \begin{align*} \end{align*} \begin{x}
    \begin{aligned} \end{aligned} $ $$ \[ \] \ldots \vdots \vdotswithin \partial \sum \infty 1 12 3.5 1e5 x ab % # #1
    \newcommand \def \let \ndef \foo \foo \mathord \mathcal \| ~ \, \label \intertext \underset \operatorname \mathbb \mathinner
    \overset \stackrel \triangleq \star \{ \} \lvert \rvert \limits é ₐ ² ⊙ ∈ @ !""".split()
pieces = st.lists(st.sampled_from([*WORDS, " ", "\n", "\\", "\0"]), max_size=25).map("".join)
SHAPES = r"""\frac{A}{A} @ \frac12A @ \sqrt{A} @ \sqrt[A]{A} @ A^{A} @ A_{A} @ A^* @ A' @ \left(A\right) @ (A) @ [A]_{\seq(A)}
    @ \left|A\right| @ |A| @ A + A @ A A @ A \ndot{\key} A @ \nfun{\seq}{softmax} A @ \nfun\seq{max}(A) @ \nsum{\seq \\ \key} A
    @ \sum^{A}_{i=1} A @ \nmatrix{\seq}{\key}{A & A \\ A & A} @ \begin{cases} A & A = A \\ A & \text{otherwise} \end{cases}
    @ A_{\seq\to\key} @ A_{\seq(A),\key(A)} @ \underset{\ax}{\text{max}} A @ A \nbin{\ax}{\star} A @ \frac{\partial A}{\partial A^*}
    @ \frac{\partial}{\partial X^*} A @ \text{if $A$ odd} @ \nfun{\ax}{norm_A} A @ A, A = A @ A & A @ A \\ A @ A \quad A @ \text{A}
    @ A \in \reals^{\seq[A]} @ t = 1, \ldots, A @ f(A; A) = A @ x^\frac{A}{A} @ \begin{align*} A \end{align*} @ \[ A \] @ $A$
    @ \newcommand{\foo}[1]{A #1} \foo{A}""".split("@")
shaped = st.recursive(
    st.sampled_from(
        [r"x", r"\alpha", "2", r"\text{ab}", r"\name{ax}", "X'", r"|\key|", r"\mathbf x", r"\key^*", r"\foo"]
    ),
    lambda inner: st.tuples(st.sampled_from(SHAPES), inner, inner).map(lambda drawn: fill(*drawn)),
    max_leaves=8,
)


def fill(shape, first, second):
    return shape.strip().replace("A", first, 1).replace("A", second)


@settings(max_examples=300, deadline=None)
@given(st.one_of(pieces, shaped))
@example(r"\nfun3.5{\width}{min} X")
@example("0.5^{0.5}'")
@example(r"\sum^12_3 x")
def test_any_string_is_a_tree_or_a_notation_error(source):
    try:
        tree = parse(source, "latex")
    except NotationError as error:
        assert error.source == source and error.span is not None
        assert 0 <= error.span[0] <= error.span[1] <= len(source)
        assert str(error)
    else:
        assert isinstance(tree, nodes.Program)


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"X_{\nidx{a}{2}}", "X_{a(2)}"),
        (r"X_{\nmov{a}{b}}", "X_{a→b}"),
        (r"X \in \reals^{\nset{a}{3}}", "X ∈ ℝ^{a[3]}"),
        (r"\ndef{\ax}{a} X_{\nidx{\ax}{i+1}}", "X_{a(i + 1)}"),
        (r"\newcommand{\nidx}[2]{#1 + #2} \nidx{X}{Y}", "X + Y"),  # the author's own
    ],
)
def test_macros_of_older_versions_of_the_package_are_known(latex, text):
    assert parse(latex, "latex") == parse(text, "text")


def test_a_macro_with_two_arguments_that_nothing_defines_is_an_error():
    with pytest.raises(NotationError) as caught:
        parse(r"Y + \foo{X}{2}", "latex")
    assert caught.value.code == 111 and caught.value.message == r"macro \foo is not defined"
    assert caught.value.span_text == r"\foo" and "style file" in caught.value.hint
    parse(r"\foo{} + \alpha{X} + \foo + \foo{X} + \exp{X} + \norm{X}", "latex")  # \foo is a name, and a function


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("body", [r"\arg\%s", r"\arg\,\%s", r"\operatorname*{arg\,%s}", r"\mathrm{arg%s}"])
def test_a_document_may_define_argmax_by_arg_and_max(name, body):
    defined = rf"\newcommand{{\arg{name}}}{{{body % name}}} Y = \arg{name}_{{\name{{seq}}}} X"
    assert parse(defined, "latex") == parse(f"Y = arg{name}_{{seq}} X", "text")


def test_a_box_in_latex_is_its_content():
    assert parse(r"\mathmakebox[6em][l]{x + y}", "latex") == parse("x + y", "latex")


@pytest.mark.parametrize("source", [r"\[ A  + x \] where \(( x \) is a vector", r"\[ A \] where \( () \) is a vector"])
def test_an_open_or_empty_group_beside_a_formula_is_a_syntax_error(source):
    with pytest.raises(NotationError):
        parse(source)
