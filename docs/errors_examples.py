"""Wrong formulas for each code of the catalogue, shown in `docs/errors.md`.

`python docs/_extensions/errors_page.py --write` runs them and writes the page; a test keeps the page true.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import namedtensor as nt


class Example(NamedTuple):
    """A formula that fails with these inputs. If the formula is empty, Python code that fails."""

    formula: str = ""
    inputs: dict[str, Any] = {}
    sizes: dict[str, Any] = {}
    options: dict[str, Any] = {}  # further arguments of nt.evaluate: syntax, strict, …
    fixed: str = ""  # the corrected formula; it must run with the same inputs and sizes
    note: str = ""
    python: str = ""
    document: str = ""  # a LaTeX document with a warning


A = nt.tensor(np.array([[3.0, 1, 4], [1, 5, 9], [2, 6, 5]]), "height width")
x = nt.tensor(np.array([2.0, 7, 1]), "height")
y = nt.tensor(np.array([1.0, 4, 1]), "width")

Q = nt.tensor(np.array([[1.0, 0.5], [0.0, 1.0]]), "seq key")
K = nt.tensor(np.array([[1.0, 2.0], [0.0, 1.0], [2.0, 0.5]]), "seq key")
V = nt.tensor(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), "seq val")
L = nt.tensor(np.arange(5.0), "layer")

rain = nt.tensor([3.0, 1.0, 4.0], "city", labels={"city": ["Oslo", "Rome", "Kyiv"]})
wind = nt.tensor([2.0, 7.0], "city", labels={"city": ["Rome", "Oslo"]})
twice = nt.tensor([2.0, 7.0, 1.0], "city", labels={"city": ["Rome", "Oslo", "Kyiv"]})
plain = nt.tensor([1.0, 8.0, 2.0], "city")

ATTENTION = """\
Attention : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}
Attention(Q, K, V) = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V
"""

EXAMPLES: dict[int, tuple[Example, ...]] = {
    101: (Example("A ^ -1", {"A": A}, fixed="A^{-1}"),),
    102: (Example("softmax_{width}(A", {"A": A}, fixed="softmax_{width}(A)"),),
    103: (Example("A + x)", {"A": A, "x": x}, fixed="A + x"),),
    104: (Example("exp(A]", {"A": A}, fixed="exp(A)"),),
    105: (
        Example("A ⊙_{height}", {"A": A, "x": x}, fixed="A ⊙_{height} x"),
        Example("∑ A", {"A": A}, fixed="∑_{width} A"),
    ),
    106: (
        Example("A ? x", {"A": A, "x": x}, fixed="A + x"),
        Example("A ** 2", {"A": A}, fixed="A^2"),
    ),
    107: (
        Example("A / 2 x", {"A": A, "x": x}, fixed="A / (2 x)"),
        Example("2^3^2", fixed="2^{3^2}"),
        Example("mean_{width} (A)^2", {"A": A}, fixed="mean_{width}((A)^2)"),
        Example("sin^{-1} x", {"x": x}, fixed="arcsin x"),
    ),
    108: (Example(""),),
    109: (Example(r"\frac{A}", {"A": A}, fixed=r"\frac{A}{2}"),),
    110: (
        Example(
            r"\begin{align*} B &= A + x \end{align}",
            {"A": A, "x": x},
            fixed=r"\begin{align*} B &= A + x \end{align*}",
        ),
    ),
    111: (Example(r"\mathfrak{S} + A", {"A": A}, fixed="2 + A"),),
    112: (Example("A_{height(1), width→w}", {"A": A}, fixed="[A_{height(1)}]_{width→w}"),),
    113: (Example("[3, 1, 4]", fixed="[3, 1, 4]_{width}"),),
    114: (
        Example("f(t + 1) = 2 t\nf(x)", {"x": x}, fixed="f(t) = 2 (t − 1)\nf(x)"),
        Example("h = x\nh = h^{t-1} / 2 for t = 1, …, 3", {"x": x}, fixed="h^0 = x\nh^t = h^{t-1} / 2 for t = 1, …, 3"),
    ),
    115: (
        Example(python="nt.translate('A B', A='m n', B='m n')"),
        Example(python="nt.translate('np.tanh(Z) - m', Z='seq chans', m='seq')"),
    ),
    116: (Example(python="nt.translate('u v', u='n', v='n')"),),
    201: (
        Example("A + z", {"A": A, "x": x}, fixed="A + x"),
        Example("sofmax_{width} A", {"A": A}, fixed="softmax_{width} A"),
    ),
    202: (Example("y = 1\ny = 2\ny + 1", fixed="y = 1\ny' = 2\ny' + 1"),),
    203: (Example("y = z + 1\nz = 2 y", fixed="y = 3\nz = 2 y"),),
    204: (Example("A / |depth|", {"A": A}, fixed="A / |width|"),),
    205: (
        Example(
            "|width| A",
            {"A": A, "width": nt.tensor(np.array([1.0, 2.0, 3.0]), "width")},
            fixed="abs(width) A",
        ),
    ),
    206: (
        Example(
            "W ∈ ℝ^{width × out}\nA ⊙_{width} W",
            {"A": A},
            fixed="W ∈ ℝ^{width × out}\nW = [1, 0; 0, 1; 1, 1]_{width, out}\nA ⊙_{width} W",
        ),
    ),
    207: (
        Example(
            document=r"""\[ \text{Conv}(X; W, b) = W \ndot{\name{chans}} X \]""",
            fixed=r"\[ \text{Conv}(X; W, b) = W \ndot{\name{chans}} X + b \]",
            note="A warning of `namedtensor check` for documents: a term may have been dropped.",
        ),
    ),
    208: (Example("A + 1", {"A": A, "x y": x}),),
    209: (
        Example(
            "e = A + x\n2 e",
            {"A": A, "x": x},
            options={"strict": True},
            fixed="E = A + x\n2 E",
            note="A warning without `strict`.",
        ),
    ),
    210: (
        Example(
            "C(w) = argmax_{k=1}^{3} S^{k,2}\nS^{i,i} = w_{n(i)} for i = 1, …, 3\n"
            "S^{i,j} = S^{i,j-1} + S^{j,j} for i = 1, …, 3 for j = i + 1, …, 3\nC(z)",
            {"z": nt.tensor(np.array([1.0, 2.0, 3.0]), "n")},
            fixed="C(w) = argmax_{k=1}^{2} S^{k,2}\nS^{i,i} = w_{n(i)} for i = 1, …, 3\n"
            "S^{i,j} = S^{i,j-1} + S^{j,j} for i = 1, …, 3 for j = i + 1, …, 3\nC(z)",
        ),
    ),
    211: (
        Example(
            "A + x\nB = A ⊙ x",
            {"A": A, "x": x},
            options={"strict": True},
            fixed="A + x",
            note="A warning without `strict`.",
        ),
    ),
    301: (
        Example("A ⊙_{widht} y", {"A": A, "y": y}, fixed="A ⊙_{width} y"),
        Example("A_{depth(1)}", {"A": A}, fixed="A_{width(1)}"),
    ),
    302: (Example("A + z", {"A": A, "z": nt.tensor(np.array([1.0, 2.0]), "height")}),),
    303: (Example("softmax_{width, width} A", {"A": A}, fixed="softmax_{width} A"),),
    304: (Example("where(A > 2, A)", {"A": A}, fixed="where(A > 2, A, 0)"),),
    305: (
        Example(
            ATTENTION + "Attention(Q, K_{seq→place}, V)",
            {"Q": Q, "K": K, "V": V},
            fixed=ATTENTION + "Attention(Q, K, V)",
        ),
    ),
    306: (
        Example(
            ATTENTION + "Attention(Q_{seq→val}, K, V)",
            {"Q": Q, "K": K, "V": V},
            fixed=ATTENTION + "Attention(Q, K, V)",
        ),
    ),
    307: (
        Example(
            "f : ℝ^{height} → ℝ\nf(t) = 2 t\nf(x)", {"x": x}, fixed="f : ℝ^{height} → ℝ^{height}\nf(t) = 2 t\nf(x)"
        ),
    ),
    308: (Example("|height| = 4\nA + 1", {"A": A}, fixed="|height| = 3\nA + 1"),),
    309: (Example("P ∈ ℝ^{seq}\nP_{seq(i)} = i", fixed="P ∈ ℝ^{seq[4]}\nP_{seq(i)} = i"),),
    310: (Example("pool_{layer, kernel} L", {"L": L}, {"kernel": 2}),),
    311: (Example("[3, 1, 4; 1, 5]_{height, width}", fixed="[3, 1, 4; 1, 5, 9]_{height, width}"),),
    312: (Example("A_{height→width}", {"A": A}, fixed="A_{height→width, width→height}"),),
    313: (Example("L_{layer→(heads,key)}", {"L": L}, {"heads": 2}),),
    314: (Example("x + y_{width→heigth}", {"x": x, "y": y}, options={"strict": True}, fixed="x + y_{width→height}"),),
    315: (Example("A + (x > 2)", {"A": A, "x": x}, fixed="A + 𝕀[x > 2]"),),
    316: (Example("cumsum_{height, width} A", {"A": A}, fixed="cumsum_{height} cumsum_{width} A"),),
    317: (Example("A ∈ ℝ^{height × depth}\nA + 1", {"A": A}, fixed="A ∈ ℝ^{height × width}\nA + 1"),),
    318: (
        Example(python="np.asarray(A)", fixed="", note="Axis order has no meaning, so the conversion needs it."),
        Example(python="A[0]"),
    ),
    319: (
        Example(
            "w − 0.1 (∂(∑_{width} w^2)/∂w*)",
            {"w": y},
            options={"strict": True},
            fixed="w − 0.1 (∂(∑_{width} w^2)/∂w)",
            note="A warning without `strict`. The derivative with respect to w* has the axis width*.",
        ),
    ),
    401: (
        Example("x_{height(0)}", {"x": x}, fixed="x_{height(1)}"),
        Example("x_{height(4)}", {"x": x}, fixed="x_{height(|height|)}"),
    ),
    402: (Example("x_{height(1.5)}", {"x": x}, fixed="x_{height(2)}"),),
    403: (
        Example("s = ∑_{height} x = 11", {"x": x}, fixed="s = ∑_{height} x = 10"),
        Example("max_{height} A = [9, 9, 9]_{width}", {"A": A}, fixed="max_{height} A = [3, 6, 9]_{width}"),
    ),
    404: (Example("P ∈ ℝ^{a[100000] × b[100000]}\nP_{a(i), b(j)} = i + j"),),
    405: (Example("{ 1 / x if x > 1 }", {"x": x}, fixed="{ 1 / x if x > 1; 0 otherwise }"),),
    406: (Example("Y ∈ ℝ^{seq[4]}\nY_{seq(2k)} = k for k = 1, …, 2"),),
    407: (Example("I ∈ {0, 1}^{height}\nI + 1", {"I": x}, fixed="I ∈ [0, 9]^{height}\nI + 1"),),
    408: (Example(python="nt.formula('x + 1').compile('tensorflow')"),),
    409: (
        Example(
            python="nt.load_tensors('weights.safetensors')",
            note="A file of tensors is read completely or not at all. Truncated files and files of other layers are rejected, too.",
        ),
    ),
    411: (
        Example(
            document=r"""Let $S \in \reals^{\name{class}}$ and $Y \in \reals^{\name{batch}}$. \[ C = \mathbb{I}[\nfun{\name{class}}{argmax} S = Y] \]""",
            fixed=r"""Let $S \in \reals^{\name{class}}$ and $Y \in \reals^{\name{batch}}$. \[ C = \mathbb{I}[\nfun{\name{class}}{argmax} S = \nfun{\name{class}}{onehot} Y] \]""",
            note="A warning of `namedtensor check`.",
        ),
    ),
    412: (
        Example(
            python="nt.evaluate('rain + wind', rain=rain, wind=wind)",
            note='The labels of `rain` are "Oslo", "Rome", "Kyiv"; the labels of `wind` are "Rome", "Oslo".',
        ),
        Example(
            python="nt.evaluate('rain + twice + plain', rain=rain, twice=twice, plain=plain)",
            note="`twice` has the labels of `rain` in another order, so `plain` could have either order.",
        ),
    ),
}
