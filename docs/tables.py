"""The tables of the reference and the cheat sheet. The tests run every row.

Each formula is evaluated in every spelling, and compared with the NumPy column (and einops, PyTorch, where installed).
The positional expressions speak of the arrays of INPUTS in the order of AXES, and give the axes of the row in its order.
"""

from __future__ import annotations

from typing import NamedTuple

# name -> axes, in the order of the positional array
AXES = {
    "A": ("height", "width"),
    "B": ("height", "width"),
    "x": ("height",),
    "y": ("width",),
    "z": ("height",),
    "Q": ("batch", "seq'", "key"),
    "K": ("batch", "seq", "key"),
    "V": ("batch", "seq", "val"),
    "X": ("batch", "seq", "chans"),
    "E": ("vocab", "emb"),
    "P": ("seq", "vocab"),
    "I": ("seq",),
    "L": ("layer",),
    "M": ("ax", "ax'"),
    "w": ("kernel",),
    "s": ("seq",),
    "α": (),
    "i": (),
    "p": (),
}
SIZES = {"height": 3, "width": 3, "batch": 2, "seq": 4, "seq'": 3, "key": 2, "val": 5, "chans": 6, "vocab": 5, "emb": 2,
         "layer": 6, "ax": 3, "ax'": 3, "kernel": 2, "heads": 2}  # fmt: skip


class Construct(NamedTuple):
    """A construct of the language: three spellings, a meaning, and the NumPy equivalent with the result's axes."""

    text: str
    ascii: str
    latex: str
    meaning: str
    numpy: str = ""
    axes: str = ""
    sizes: tuple[tuple[str, int], ...] = ()


CONSTRUCTS = {
    "names": [
        Construct("A", "A", "A", "a tensor: a name, including sub- and superscripts that have a value"),
        Construct("W^Q", "W^Q", r"W^Q", "a name with a label; `W^Q` is one name if it is declared, defined or passed"),
        Construct("X²", "X^2", "X^2", "otherwise a superscript number is a power", "X ** 2", "batch seq chans"),
        Construct("α A", "alpha A", r"\alpha A", "a Greek letter; its spelled-out name works too", "α * A", "height width"),
        Construct("X_{seq→seq'}", "X_{seq->seq'}", r"X_{\seq\rightarrow\seq'}", "`seq'` and `seq` are different axes"),
    ],
    "arithmetic": [
        Construct("A + x", "A + x", "A + x", "sum; axes are aligned by name, missing ones broadcast", "A + x[:, None]", "height width"),
        Construct("A − y", "A - y", "A - y", "difference", "A - y", "height width"),
        Construct("A ⊙ x", "A * x", r"A \odot x", "elementwise product; also `·`, `\\cdot`", "A * x[:, None]", "height width"),
        Construct("α A", "alpha A", r"\alpha A", "juxtaposed factors multiply", "α * A", "height width"),
        Construct("A / x", "A / x", r"\frac{A}{x}", "quotient", "A / x[:, None]", "height width"),
        Construct("A^2", "A^2", "A^2", "power; `A²` too", "A ** 2", "height width"),
        Construct("√A", "sqrt(A)", r"\sqrt{A}", "square root of the next operand; `\\sqrt[3]{A}` is the cube root", "np.sqrt(A)", "height width"),
        Construct("Γ(x)", "Gamma(x)", r"\Gamma(x)", "the gamma function; Γ not followed by a bracket is a tensor", "np.array([1.0, 720.0, 1.0])", "height"),
        Construct("x!", "x!", "x!", "the factorial, Γ(x + 1)", "np.array([2.0, 5040.0, 1.0])", "height"),
        Construct("binom(5, p)", "binom(5, p)", r"\binom{5}{p}", "a binomial coefficient", "np.array(10)", ""),
        Construct("mod(x, p)", "mod(x, p)", r"x \bmod p", "the remainder of division by p", "x % p", "height"),
        Construct("−A", "-A", "-A", "the negative", "-A", "height width"),
        Construct("x / |height|", "x / |height|", r"\frac{x}{|\height|}", "the size of an axis", "x / len(x)", "height"),
        Construct("|A|", "|A|", "|A|", "the absolute values of a tensor", "np.abs(A)", "height width"),
        Construct("|A − x|", "|A - x|", "|A - x|", "absolute values of an expression, if the bars pair in only one way; also `abs(…)`", "np.abs(A - x[:, None])", "height width"),
    ],
    "contraction": [
        Construct("A ⊙_{height} x", "A @_{height} x", r"A \ndot{\height} x", "multiply, then sum over the axis", "np.einsum('hw,h->w', A, x)", "width"),
        Construct("A ⊙_{height, width} B", "A @_{height, width} B", r"A \ndot{\height \\ \width} B", "over several axes", "np.einsum('hw,hw->', A, B)", ""),
        Construct("Q ⊙_{key} K", "Q @_{key} K", r"Q \ndot{\key} K", "axes of one name that are not summed are aligned, here `batch`", "np.einsum('bqk,bsk->bqs', Q, K)", "batch seq' seq"),
    ],
    "functions": [
        Construct("∑_{seq} X", "sum_{seq} X", r"\nsum{\seq} X", "sum over an axis; extends over products to the next `+` or `−`", "X.sum(1)", "batch chans"),
        Construct("∑_{seq, chans} X", "sum_{seq, chans} X", r"\nsum{\seq \\ \chans} X", "over several axes", "X.sum((1, 2))", "batch"),
        Construct("∑_j A_{height(j)}", "sum_j A_{height(j)}", r"\sum_j A_{\height(j)}", "sum over an index that runs over the whole axis", "A.sum(0)", "width"),
        Construct("∑_{j=1}^{2} A_{height(j)}", "sum_{j=1}^{2} A_{height(j)}", r"\sum_{j=1}^{2} A_{\height(j)}", "or over a range", "A[0:2].sum(0)", "width"),
        Construct("∑_{j,k} A_{height(j), width(k)}", "sum_{j,k} A_{height(j), width(k)}", r"\sum_{j,k} A_{\height(j), \width(k)}", "over several indices; also `∑_{j,k=1}^{n}` and `∑_{j,k ∈ [n]}`", "A.sum()", ""),
        Construct("∑_{j<k} A_{height(j), width(k)}", "sum_{j<k} A_{height(j), width(k)}", r"\sum_{j<k} A_{\height(j), \width(k)}", "under a condition; also `∑_{j≠k}`, `∑_{k≠j}`", "np.triu(A, 1).sum()", ""),
        Construct("∑_{1≤j≤k≤p} A_{height(j), width(k)}", "sum_{1<=j<=k<=p} A_{height(j), width(k)}", r"\sum_{1 \leq j \leq k \leq p} A_{\height(j), \width(k)}", "within bounds", "np.triu(A).sum()", ""),
        Construct("max_{j≠k} (A_{height(j), width(k)})", "max_{j!=k} (A_{height(j), width(k)})", r"\max_{j \neq k} (A_{\height(j), \width(k)})", "∏, max and min work the same way", "A[~np.eye(3, dtype=bool)].max()", ""),
        Construct("softmax_{seq} X", "softmax_{seq} X", r"\nfun{\seq}{softmax} X", "a function along an axis", "np.exp(X) / np.exp(X).sum(1, keepdims=True)", "batch seq chans"),
        Construct("mean_{seq, chans}(X)", "mean_{seq, chans}(X)", r"\nfun{\seq \\ \chans}{mean}(X)", "the operand may be in brackets", "X.mean((1, 2))", "batch"),
        Construct("norm_{chans}(X; 3)", "norm_{chans}(X; 3)", r"\nfun{\chans}{norm}(X; 3)", "the p-norm (default: p = 2)", "(np.abs(X) ** 3).sum(2) ** (1 / 3)", "batch seq"),
        Construct("max(A, x)", "max(A, x)", r"\max(A, x)", "elementwise maximum of two tensors", "np.maximum(A, x[:, None])", "height width"),
        Construct("max_{height} A", "max_{height} A", r"\nfun{\height}{max} A", "maximum along an axis", "A.max(0)", "width"),
    ],
    "axes": [
        Construct("A_{height→rows}", "A_{height->rows}", r"A_{\height\rightarrow\rows}", "rename an axis", "A", "rows width"),
        Construct("[A + x]_{height→a, width→b}", "[A + x]_{height->a, width->b}", r"[A + x]_{\height\rightarrow\a, \width\rightarrow\b}", "rename several axes simultaneously", "A + x[:, None]", "a b"),
        Construct("A_{(height,width)→layer}", "A_{(height,width)->layer}", r"A_{(\height,\width)\rightarrow\layer}", "merge axes, row-major, in the order written", "A.reshape(9)", "layer"),
        Construct("L_{layer→(heads,key)}", "L_{layer->(heads,key)}", r"L_{\layer\rightarrow(\heads,\key)}", "split an axis; one of the new sizes must be known", "L.reshape(2, 3)", "heads key", (("heads", 2),)),
        Construct("(A + x)^*", "(A + x)^*", "(A + x)^*", "star all axes", "A + x[:, None]", "height* width*"),
        Construct("A^†", "A^†", r"A^\dagger", "dagger all axes", "A", "height† width†"),
        Construct("A ⊕_{height} B", "concat_{height}(A, B)", r"A \ncat{\height} B", "concatenate", "np.concatenate([A, B], 0)", "height width"),
        Construct("stack_{row}(x, z)", "stack_{row}(x, z)", r"\nfun{\row}{stack}(x, z)", "stack along a new axis", "np.stack([x, z])", "row height"),
    ],
    "indexing": [
        Construct("A_{height(1), width(3)}", "A_{height(1), width(3)}", r"A_{\height(1), \width(3)}", "an element; indices count from 1", "A[0, 2]", ""),
        Construct("A_{height(2)}", "A_{height(2)}", r"A_{\height(2)}", "a slice", "A[1]", "width"),
        Construct("A_{width(i+1)}", "A_{width(i+1)}", r"A_{\width(i+1)}", "an index may be an expression", "A[:, i]", "height"),
        Construct("[A + x]_{height(i)}", "[A + x]_{height(i)}", r"[A + x]_{\height(i)}", "of an expression", "(A + x[:, None])[i - 1]", "width"),
        Construct("E_{vocab(I)}", "E_{vocab(I)}", r"E_{\vocab(I)}", "an index may be a tensor", "E[I - 1]", "seq emb"),
        Construct("index_{vocab}(E, I)", "index_{vocab}(E, I)", r"\nfun{\vocab}{index}(E, I)", "the same as a function", "E[I - 1]", "seq emb"),
        Construct("index_{vocab}(P, I)", "index_{vocab}(P, I)", r"\nfun{\vocab}{index}(P, I)", "axes of one name are aligned, here `seq`", "np.take_along_axis(P, I[:, None] - 1, 1)[:, 0]", "seq"),
    ],
    "literals": [
        Construct("[3, 1, 4; 1, 5, 9]_{height, width}", "[3, 1, 4; 1, 5, 9]_{height, width}", r"\nmatrix{\height}{\width}{3 & 1 & 4 \\ 1 & 5 & 9}", "a literal with its axes", "np.array([[3, 1, 4], [1, 5, 9]])", "height width"),
        Construct("[2, 7, 1]_{height}", "[2, 7, 1]_{height}", r"\nmatrix{\height}{}{2 \\ 7 \\ 1}", "with one axis", "np.array([2, 7, 1])", "height"),
        Construct("I_{ax, ax'}", "I_{ax, ax'}", r"I_{\ax, \ax'}", "the identity", "np.eye(3)", "ax ax'", (("ax", 3), ("ax'", 3))),
    ],
    "derivatives": [
        Construct("∂(exp x)/∂x*", "d(exp x)/dx*", r"\frac{\partial (\exp x)}{\partial x^*}", "the derivative; the axes of the variable are starred", "np.diag(np.exp(x))", "height height*"),
        Construct("∂(x ⊙_{height} A)/∂A*", "d(x @_{height} A)/dA*", r"\frac{\partial (x \ndot{\height} A)}{\partial A^*}", "it has all axes of the expression and of the variable", "x[None, :, None] * np.eye(3)[:, None, :]", "width height* width*"),
        Construct("∂(∑_{height} x^3)/∂x", r"\partial (sum_{height} x^3)/\partial x", r"\frac{\partial (\nsum{\height} x^3)}{\partial x}", "without a star they keep their names, if these do not collide", "3 * x ** 2", "height"),
        Construct("x − α ∂(∑_{height} x^3)/∂x", r"x - alpha \partial (sum_{height} x^3)/\partial x", r"x - \alpha \frac{\partial (\nsum{\height} x^3)}{\partial x}", "a derivative is a factor like any other", "x - α * 3 * x ** 2", "height"),
    ],
    "conditions": [
        Construct("{ A if A ≥ 4; −A otherwise }", "{ A if A >= 4; -A otherwise }", r"\begin{cases} A & A \geq 4 \\ -A & \text{otherwise} \end{cases}", "cases", "np.where(A >= 4, A, -A)", "height width"),
        Construct("𝕀[A > x ∧ A ≠ 9]", "I[A > x and A != 9]", r"\mathbb{I}[A > x \land A \neq 9]", "1 if the condition holds, else 0; also `∨`, `¬`", "((A > x[:, None]) & (A != 9)).astype(float)", "height width"),
        Construct("where(A < 4, A, x)", "where(A < 4, A, x)", r"\nfun{}{where}(A < 4, A, x)", "the same as a function", "np.where(A < 4, A, x[:, None])", "height width"),
    ],
}  # fmt: skip


class Same(NamedTuple):
    """One operation in four libraries. A column is empty if there is no useful counterpart."""

    formula: str
    numpy: str
    einops: str
    torch: str
    axes: str
    sizes: tuple[tuple[str, int], ...] = ()


CHEATS = {
    "sums and products": [
        Same("A + x", "A + x[:, None]", "", "A + x[:, None]", "height width"),
        Same("A ⊙ y", "A * y", "", "A * y", "height width"),
        Same("A ⊙_{height} x", "x @ A", "einsum(A, x, 'h w, h -> w')", "torch.einsum('hw,h->w', A, x)", "width"),
        Same("Q ⊙_{key} K", "np.einsum('bqk,bsk->bqs', Q, K)", "einsum(Q, K, 'b q k, b s k -> b q s')", "Q @ K.transpose(1, 2)", "batch seq' seq"),
        Same("x ⊙ y", "np.outer(x, y)", "einsum(x, y, 'h, w -> h w')", "torch.outer(x, y)", "height width"),
    ],
    "reductions": [
        Same("∑_{seq} X", "X.sum(axis=1)", "reduce(X, 'b s c -> b c', 'sum')", "X.sum(1)", "batch chans"),
        Same("mean_{seq, chans} X", "X.mean(axis=(1, 2))", "reduce(X, 'b s c -> b', 'mean')", "X.mean((1, 2))", "batch"),
        Same("max_{seq} X", "X.max(axis=1)", "reduce(X, 'b s c -> b c', 'max')", "X.amax(1)", "batch chans"),
        Same("var_{chans} X", "X.var(axis=2)", "", "X.var(2, correction=0)", "batch seq"),
        Same("norm_{chans} X", "np.linalg.norm(X, axis=2)", "", "torch.linalg.vector_norm(X, dim=2)", "batch seq"),
        Same("var_{chans}(X; 1)", "X.var(axis=2, ddof=1)", "", "X.var(2)", "batch seq"),
    ],
    "along an axis": [
        Same("softmax_{seq} X", "np.exp(X) / np.exp(X).sum(1, keepdims=True)", "", "torch.softmax(X, 1)", "batch seq chans"),
        Same("cumsum_{seq} X", "np.cumsum(X, axis=1)", "", "X.cumsum(1)", "batch seq chans"),
        Same("sort_{seq} X", "np.sort(X, axis=1)", "", "X.sort(1).values", "batch seq chans"),
    ],
    "reshaping": [
        Same("A_{height→width, width→height}", "A.T", "rearrange(A, 'h w -> w h')", "A.T", "height width"),
        Same("X_{(batch,seq)→rows}", "X.reshape(-1, 6)", "rearrange(X, 'b s c -> (b s) c')", "X.flatten(0, 1)", "rows chans"),
        Same("X_{chans→(heads,key)}", "X.reshape(2, 4, 2, 3)", "rearrange(X, 'b s (h k) -> b s h k', h=2)", "X.unflatten(2, (2, 3))", "batch seq heads key", (("heads", 2),)),
        Same("A ⊕_{height} B", "np.concatenate([A, B], axis=0)", "", "torch.cat([A, B], 0)", "height width"),
        Same("stack_{row}(x, z)", "np.stack([x, z])", "", "torch.stack([x, z])", "row height"),
    ],
    "windows": [
        Same("unroll_{seq,kernel} s", "np.lib.stride_tricks.sliding_window_view(s, 2)", "", "s.unfold(0, 2, 1)", "seq kernel", (("kernel", 2),)),
        Same("pool_{seq,kernel} s", "s.reshape(-1, 2)", "rearrange(s, '(s k) -> s k', k=2)", "s.unfold(0, 2, 2)", "seq kernel", (("kernel", 2),)),
        Same("max_{kernel} pool_{seq,kernel} s", "s.reshape(-1, 2).max(1)", "reduce(s, '(s k) -> s', 'max', k=2)", "torch.max_pool1d(s[None], 2)[0]", "seq", (("kernel", 2),)),
        Same("w ⊙_{kernel} unroll_{seq,kernel} s", "np.correlate(s, w)", "", "torch.conv1d(s[None, None], w[None, None])[0, 0]", "seq"),
    ],
    "indexing": [
        Same("A_{height(1)}", "A[0]", "", "A[0]", "width"),
        Same("E_{vocab(I)}", "E[I - 1]", "", "torch.embedding(E, I - 1)", "seq emb"),
        Same("P_{vocab(I)}", "np.take_along_axis(P, I[:, None] - 1, 1)[:, 0]", "", "P.gather(1, I[:, None] - 1)[:, 0]", "seq"),
        Same("onehot_{vocab} I", "np.eye(5)[I - 1]", "", "torch.nn.functional.one_hot(I - 1, 5)", "seq vocab", (("vocab", 5),)),
        Same("{ 0 if A > 4; A otherwise }", "np.where(A > 4, 0, A)", "", "torch.where(A > 4, 0, A)", "height width"),
    ],
    "attention": [
        Same(
            "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V",
            "(lambda s: (np.exp(s) / np.exp(s).sum(2, keepdims=True)) @ V)(Q @ K.transpose(0, 2, 1) / 2 ** 0.5)",
            "",
            "torch.nn.functional.scaled_dot_product_attention(Q, K, V)",
            "batch seq' val",
        ),
    ],
}  # fmt: skip


def arrays():
    """Return the positional arrays of every row."""
    import numpy as np

    random = np.random.default_rng(0)
    normals = {
        name: random.normal(size=[SIZES[axis] for axis in axes]) for name, axes in AXES.items() if axes and name != "I"
    }
    normals["A"] = np.array([[3.0, 1.0, 4.0], [1.0, 5.0, 9.0], [2.0, 6.0, 5.0]])
    normals["x"] = np.array([2.0, 7.0, 1.0])
    normals["y"] = np.array([1.0, 4.0, 1.0])
    normals["I"] = np.array([3, 1, 5, 2])
    normals.update({"α": 0.5, "i": 2, "p": 3})
    return normals


def value(formula: str, axes: str, sizes=(), syntax: str = "text"):
    """Return the value of a formula as a positional array with the axis order `axes`."""
    import numpy as np

    import namedtensor as nt

    positional, used = arrays(), names_in(formula, syntax)
    inputs = {
        name: nt.tensor(positional[name], order) if order else positional[name]
        for name, order in AXES.items()
        if name in used
    }
    result = nt.evaluate(formula, inputs, sizes=dict(sizes), syntax=syntax)
    order = tuple(axes.split())
    if not order:
        return np.asarray(getattr(result, "array", result))
    assert sorted(result.axes) == sorted(order), f"{formula} gives {result.axes}, the table says {order}"
    return np.asarray(result.to_array(order))


def names_in(formula: str, syntax: str) -> set[str]:
    """Return the names in a formula."""
    from grammar.nodes import Axis, Name
    from grammar.parser import parse
    from grammar.traversal import children

    names, waiting = set(), list(parse(formula, syntax).statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (Axis, Name)):
            names.add(node.name if isinstance(node, Axis) else node.text)
        waiting.extend(children(node))
    return names


def numpy_value(expression: str):
    import numpy as np

    return np.asarray(eval(expression, {"np": np, **arrays()}))


def einops_value(expression: str):
    import einops

    return eval(expression, {name: getattr(einops, name) for name in ("einsum", "rearrange", "reduce")} | arrays())


def torch_value(expression: str):
    import torch

    tensors = {name: torch.as_tensor(array) if AXES[name] else array for name, array in arrays().items()}
    return eval(expression, {"torch": torch, **tensors}).numpy()


def check_construct(row: Construct) -> None:
    """Check that the three spellings have the same tree, and the value of NumPy."""
    import numpy as np

    from grammar.parser import parse

    tree = parse(row.text, "text")
    assert parse(row.ascii, "text") == tree, f"{row.ascii} is read otherwise than {row.text}"
    assert parse(row.latex, "latex") == tree, f"{row.latex} is read otherwise than {row.text}"
    if row.numpy:
        want = numpy_value(row.numpy)
        for syntax, formula in (("text", row.text), ("text", row.ascii), ("latex", row.latex)):
            np.testing.assert_allclose(value(formula, row.axes, row.sizes, syntax), want, rtol=1e-6, err_msg=formula)


def check_same(row: Same) -> None:
    """Check that every column that can run here has the same value."""
    import importlib.util

    import numpy as np

    want = value(row.formula, row.axes, row.sizes)
    np.testing.assert_allclose(numpy_value(row.numpy), want, rtol=1e-6, err_msg=row.numpy)
    if row.einops and importlib.util.find_spec("einops"):
        np.testing.assert_allclose(einops_value(row.einops), want, rtol=1e-6, err_msg=row.einops)
    if row.torch and importlib.util.find_spec("torch"):
        np.testing.assert_allclose(torch_value(row.torch), want, rtol=1e-5, err_msg=row.torch)
