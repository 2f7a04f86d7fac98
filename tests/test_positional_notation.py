"""Matrix and index notation against NumPy that is written by hand for each row; nothing here reads a formula."""

import numpy as np
import pytest

import namedtensor as nt

SIZES = dict(zip("m n p q d h k t c s".split(), (2, 6, 4, 5, 3, 7, 8, 9, 10, 11)))
inv, det, solve, norm, outer, trace = np.linalg.inv, np.linalg.det, np.linalg.solve, np.linalg.norm, np.outer, np.trace


def softmax(x):
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


V, VV, M, MV, S, SV = "x=n", "x=n;y=n", "A=m n", "A=m n;x=n", "A=n n", "A=n n;x=n"
VALUES = [  # source, shapes, the value in NumPy of the arrays in the order of the shapes
    # TeX takes one token as an argument
    (r"\frac12 x", V, lambda x: x / 2),
    (r"\log_2 x", V, lambda x: np.log2(x)),
    (r"-\sum_i x_i \log_{10} x_i", V, lambda x: -(x * np.log10(x)).sum()),
    (r"\frac34 x", V, lambda x: 3 * x / 4),
    (r"\frac12x", V, lambda x: x / 2),
    (r"\tfrac12 x^\top x", V, lambda x: x @ x / 2),
    (r"\dfrac1{4} x", V, lambda x: x / 4),
    (r"\frac{1}2 x", V, lambda x: x / 2),
    (r"\frac1n \sum_i x_i", V, lambda x: x.mean()),
    (r"\frac xy", "x=n;y=", lambda x, y: x / y),
    (r"\frac1\lambda x", "x=n;λ=", lambda x, a: x / a),
    (r"\frac\alpha2 x", "x=n;α=", lambda x, a: a / 2 * x),
    (r"x^{\frac12}", V, np.sqrt),
    (r"x^\frac12", V, np.sqrt),
    (r"x^{\frac32}", V, lambda x: x**1.5),
    (r"\frac12 \sum_i x_i^2", V, lambda x: (x**2).sum() / 2),
    (r"\frac12\|x\|_2^2", V, lambda x: x @ x / 2),
    (r"\frac{1}{2}x - \frac14y", VV, lambda x, y: x / 2 - y / 4),
    (r"\sqrt2 x", V, lambda x: np.sqrt(2) * x),
    (r"\sqrt{x}", V, np.sqrt),
    (r"\sqrt[3]{x}", V, np.cbrt),
    (r"\sqrt[4]{x^\top x}", V, lambda x: (x @ x) ** 0.25),
    (r"x^2_1", V, lambda x: x[0] ** 2),
    (r"x^{10}", V, lambda x: x**10),
    ("x^10", V, lambda x: x**10),
    ("x¹⁰", V, lambda x: x**10),
    ("½ x", V, lambda x: x / 2),
    ("¾x", V, lambda x: 0.75 * x),
    ("2x", V, lambda x: 2 * x),
    (r"2\cdot x", V, lambda x: 2 * x),
    (r"1.5 x", V, lambda x: 1.5 * x),
    (r"10^{-3} x", V, lambda x: x / 1000),
    (r"\nabla_x \frac12 \|A x - b\|^2", "A=m n;x=n;b=m", lambda A, x, b: A.T @ (A @ x - b)),
    # macros, fonts and accents
    ("\\newcommand{\\half}{\\frac12}\n\\half x", V, lambda x: x / 2),
    ("\\newcommand{\\norm}[1]{\\left\\|#1\\right\\|}\n\\norm{x}", V, norm),
    ("\\newcommand{\\R}{\\mathbf{R}}\n\\R x", "R=m n;x=n", lambda R, x: R @ x),
    ("\\DeclareMathOperator{\\trace}{tr}\n\\trace(A)", S, trace),
    (r"\mathbf{A}\mathbf{x}", MV, lambda A, x: A @ x),
    (r"\boldsymbol{A} \bm x", MV, lambda A, x: A @ x),
    (r"\mathbf A \mathbf x", MV, lambda A, x: A @ x),
    (r"\boldsymbol{\beta}^\top x", "β=n;x=n", lambda b, x: b @ x),
    (r"\hat{x} + x", "x̂=n;x=n", lambda y, x: y + x),
    (r"\bar x - x", "x̄=n;x=n", lambda y, x: y - x),
    (r"\mathcal{L} x", "L=m n;x=n", lambda A, x: A @ x),
    (r"\left( A x \right)", MV, lambda A, x: A @ x),
    (r"A\,x \quad", MV, lambda A, x: A @ x),
    (r"$A x$", MV, lambda A, x: A @ x),
    (r"\mathrm{tr}(A)", S, trace),
    (r"\operatorname{tr} (A)", S, trace),
    (r"\text{softmax}(x)", V, softmax),
    ("W1 x", "W1=m n;x=n", lambda A, x: A @ x),
    ("lam x", "lam=;x=n", lambda a, x: a * x),
    ("query^T x", "query=n;x=n", lambda q, x: q @ x),
    # transposes, inverses, products
    (r"A^\top A", M, lambda A: A.T @ A),
    (r"A^T A", M, lambda A: A.T @ A),
    (r"A^{\mathsf T} A", M, lambda A: A.T @ A),
    (r"A^{\intercal} A", M, lambda A: A.T @ A),
    ("A'A", M, lambda A: A.T @ A),
    (r"A^\prime A", M, lambda A: A.T @ A),
    (r"A^{\prime} A", M, lambda A: A.T @ A),
    ("A^H x", "A=n m;x=n", lambda A, x: A.T @ x),
    (r"x^H A x", "x=n;A=n n", lambda x, A: x @ A @ x),
    ("Aᵀ A", M, lambda A: A.T @ A),
    ("A⁻¹ x", SV, solve),
    (r"A^{-1} x", SV, solve),
    (r"A^{-T} x", SV, lambda A, x: solve(A.T, x)),
    (r"(A^\top A)^{-1} A^\top y", "A=n m;y=n", lambda A, y: solve(A.T @ A, A.T @ y)),
    (r"x^\top A^{-1} x", "x=n;A=n n", lambda x, A: x @ inv(A) @ x),
    (r"x y^\top", "x=m;y=n", outer),
    (r"\langle x, y \rangle", VV, np.dot),
    (r"x \cdot y", VV, np.dot),
    (r"A \circ A", M, lambda A: A * A),
    (r"A \odot A", M, lambda A: A * A),
    (r"A \otimes B", "A=m n;B=p d", np.kron),
    (r"\operatorname{vec}(A)", M, lambda A: A.T.reshape(-1)),
    (r"A B C", "A=m n;B=n p;C=p q", lambda A, B, C: A @ B @ C),
    (r"\mathbf{1}_n^\top x", V, np.sum),
    (r"A - \mathbf{1}_{m \times n}", M, lambda A: A - 1),
    (r"\left\| |X W| - \mathbf{1}_{n\times k} \right\|_F^2", "X=n d;W=d k", lambda X, W: ((np.abs(X @ W) - 1) ** 2).sum()),
    # identities
    (r"I \odot A", S, lambda A: np.diag(np.diag(A))),
    (r"A \circ I", S, lambda A: np.diag(np.diag(A))),
    (r"\|I \odot A\|_F^2", S, lambda A: (np.diag(A) ** 2).sum()),
    (r"2 I \odot A", S, lambda A: 2 * np.diag(np.diag(A))),
    (r"(A \odot I) x", SV, lambda A, x: np.diag(A) * x),
    (r"I A", S, lambda A: A),
    (r"A - \lambda I", "A=n n;λ=", lambda A, a: A - a * np.eye(6)),
    (r"(A + 2 I)^{-1} x", SV, lambda A, x: solve(A + 2 * np.eye(6), x)),
    (r"(I - x x^\top) y", VV, lambda x, y: y - x * (x @ y)),
    (r"\operatorname{tr}(I \odot A)", S, trace),
    # derivatives
    (r"\frac{d}{dx} x^\top x", V, lambda x: 2 * x),
    (r"\frac{d (x^\top x)}{d x}", V, lambda x: 2 * x),
    (r"\frac{\mathrm{d}}{\mathrm{d}x} x^\top x", V, lambda x: 2 * x),
    (r"\frac{\mathrm{d} (x^\top A x)}{\mathrm{d} x}", "x=n;A=n n", lambda x, A: (A + A.T) @ x),
    ("d(x^T x)/dx", V, lambda x: 2 * x),
    ("x^-2", V, lambda x: x**-2.0),
    ("A^-1 x", SV, solve),
    (r"\frac{\partial}{\partial x} x^\top x", V, lambda x: 2 * x),
    (r"\frac{\partial (b^\top x)}{\partial x}", "b=n;x=n", lambda b, x: b),
    (r"\nabla_x x^\top x", V, lambda x: 2 * x),
    (r"\nabla_x (x^\top A x + b^\top x)", "x=n;A=n n;b=n", lambda x, A, b: (A + A.T) @ x + b),
    (r"w - \eta \nabla_w \|X w - y\|^2", "w=m;η=;X=n m;y=n", lambda w, e, X, y: w - 2 * e * X.T @ (X @ w - y)),
    (r"\nabla_x \|x\|^2 + b", "x=n;b=n", lambda x, b: 2 * x + b),
    (r"\nabla_A \operatorname{tr}(A^\top A)", M, lambda A: 2 * A),
    # norms and functions
    (r"\|x\|", V, norm),
    (r"\lVert x \rVert_1", V, lambda x: np.abs(x).sum()),
    (r"\|x\|_\infty", V, lambda x: np.abs(x).max()),
    (r"\|A\|_F", M, norm),
    (r"\|A x - b\|_2^2", "A=m n;x=n;b=m", lambda A, x, b: ((A @ x - b) ** 2).sum()),
    (r"\|x - y\|^2 / 2", VV, lambda x, y: ((x - y) ** 2).sum() / 2),
    (r"\exp(x)", V, np.exp),
    (r"e^x", V, np.exp),
    (r"e^{-\frac12 x^\top x}", V, lambda x: np.exp(-x @ x / 2)),
    (r"\log x", V, np.log),
    (r"\sigma(A x)", MV, lambda A, x: sigmoid(A @ x)),
    (r"\tanh(A x + b)", "A=m n;x=n;b=m", lambda A, x, b: np.tanh(A @ x + b)),
    (r"\frac{1}{1 + e^{-x}}", V, sigmoid),
    (r"\log\det(A)", S, lambda A: np.log(det(A))),
    (r"\max(0, x)", V, lambda x: np.maximum(0, x)),
    (r"\mathrm{softmax}(Q K^\top / \sqrt{d}) V", "Q=n d;K=k d;V=k c", lambda Q, K, V: softmax(Q @ K.T / 3**0.5) @ V),
    (r"\operatorname{softmax}_{\text{k}}(Q K^\top) V", "Q=n d;K=k d;V=k c", lambda Q, K, V: softmax(Q @ K.T) @ V),
    # elements of a given input
    ("x_1 + x_2", V, lambda x: x[0] + x[1]),
    ("x_1^2 + x_2^2", V, lambda x: x[0] ** 2 + x[1] ** 2),
    (r"\sqrt{x_1 x_2}", V, lambda x: np.sqrt(x[0] * x[1])),
    ("A_{1,2}", S, lambda A: A[0, 1]),
    ("A_{12} - A_{21}", S, lambda A: A[0, 1] - A[1, 0]),
    ("A_{11} A_{22} - A_{12} A_{21}", "A=n n", lambda A: A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]),
    ("x_1 x", V, lambda x: x[0] * x),
    ("x_1 A", "x=n;A=m n", lambda x, A: x[0] * A),
    ("x₁ + x₂", V, lambda x: x[0] + x[1]),
    ("y_i = x_i - x_1", V, lambda x: x - x[0]),
    (r"\sum_j A_{1j} x_j", MV, lambda A, x: A[0] @ x),
    # indices, also in plain text
    ("∑_j W_ij x_j", "W=n m;x=m", lambda W, x: W @ x),
    ("y_i = ∑_j W_ij x_j + b_i", "W=n m;x=m;b=n", lambda W, x, b: W @ x + b),
    ("C_ik = A_ij B_jk", "A=m n;B=n p", lambda A, B: A @ B),
    ("∑_i x_iy_i", VV, np.dot),
    ("∑_ij A_ij", M, np.sum),
    (r"\sum_j W_{ij} x_j", "W=n m;x=m", lambda W, x: W @ x),
    ("Σⱼ Wᵢⱼ xⱼ", "W=n m;x=m", lambda W, x: W @ x),
    (r"\sum_{i,j} A_{ij}^2", M, lambda A: (A**2).sum()),
    (r"\sum_i A_{ii}", S, trace),
    ("A_{ij} x_j", MV, lambda A, x: A @ x),
    (r"y_{ij} = x_i z_j", "x=m;z=n", outer),
    (r"\sum_i i x_i", V, lambda x: np.arange(1, 7) @ x),
    (r"\prod_i x_i", V, np.prod),
    (r"\max_j A_{ij}", M, lambda A: A.max(1)),
    (r"p_i = \frac{e^{x_i}}{\sum_j e^{x_j}}", V, softmax),
    (r"K_{ij} = e^{-\|x_i - x_j\|^2}", "x=n d", lambda x: np.exp(-((x[:, None] - x[None]) ** 2).sum(-1))),
    # ends of sums
    (r"\sum_{i=1}^{n} x_i", V, np.sum),
    (r"\sum_{i=1}^{K} x_i", V, np.sum),
    (r"\sum_{i=1}^{n/2} x_i", V, lambda x: x[:3].sum()),
    (r"\sum_{i=1}^{n/3} x_i^2", V, lambda x: (x[:2] ** 2).sum()),
    (r"\sum_{i=1}^{n-1} x_i", V, lambda x: x[:-1].sum()),
    (r"\sum_{i=2}^{n} x_i", V, lambda x: x[1:].sum()),
    (r"\sum_{i=1}^{n-1} (x_{i+1} - x_i)^2", V, lambda x: (np.diff(x) ** 2).sum()),
    (r"\sum_{i=1}^{n-2} x_i x_{i+2}", V, lambda x: x[:-2] @ x[2:]),
    (r"\frac{1}{3}\sum_{i=1}^{3} x_i", V, lambda x: x[:3].mean()),
    (r"\frac{\sum_{j=1}^{5} x_j}{\sum_{k=6}^{n} x_k}", V, lambda x: x[:5].sum() / x[5]),
    (r"\sum_{i=2}^{4} x_i y_i", VV, lambda x, y: x[1:4] @ y[1:4]),
    (r"\prod_{i=1}^{3} x_i", V, lambda x: x[:3].prod()),
    (r"\sum_{i=1}^{6} x_i", "x=n[6]", np.sum),
    (r"\sum_{i=1}^{4} x_i", "x=n[6]", lambda x: x[:4].sum()),
    (r"\sum_{i=1}^{2} \sum_{j=1}^{3} A_{ij}", M, lambda A: A[:2, :3].sum()),
    (r"\sum_{i,j=1}^{3} A_{ij}", S, lambda A: A[:3, :3].sum()),
    (r"\sum_{i,j=1}^{n-1} A_{ij}", S, lambda A: A[:-1, :-1].sum()),
    (r"\sum_{i,j=2}^{n} A_{ij}", S, lambda A: A[1:, 1:].sum()),
    (r"\sum_{i,j=1}^{n} A_{ij}", S, np.sum),
    (r"z = \sum_{i<j}^{3} A_{ij}", S, lambda A: np.triu(A[:3, :3], 1).sum()),
    (r"y_i = \sum_{j=i}^{3} A_{ij}", S, lambda A: np.triu(A)[:, :3].sum(1)),
    (r"y_i = \sum_{j \neq i}^{3} A_{ij}", S, lambda A: (A - np.diag(np.diag(A)))[:, :3].sum(1)),
    (r"\sum_{t=0}^{T-1} \gamma^{t} x_t", "x=n;γ=", lambda x, g: g ** np.arange(6) @ x),
    (r"\sum_{i=0}^{n-1} x_i", V, np.sum),
    (r"\sum_{k=0}^{n-1} k x_k", V, lambda x: np.arange(6) @ x),
    (r"y_i = \sum_{j=1}^{i} x_j", V, np.cumsum),
    (r"y_i = \sum_{j=1}^{i-1} x_j", V, lambda x: np.cumsum(x) - x),
    (r"y_t = \sum_{s \le t} x_s", V, np.cumsum),
    (r"y_i = \sum_{j=i}^{n} x_j", V, lambda x: x[::-1].cumsum()[::-1]),
    (r"\sum_{i<j} A_{ij}", S, lambda A: np.triu(A, 1).sum()),
    (r"\frac{1}{N} \sum_{i=1}^{N} (y_i - w^\top x_i)^2", "y=n;w=d;x=n d", lambda y, w, x: ((y - x @ w) ** 2).mean()),
    (r"\frac1n \sum_{i=1}^n x_i x_i^\top", "x=n d", lambda x: x.T @ x / 6),
]  # fmt: skip


def inputs_of(shapes):
    return dict(pair.split("=") for pair in shapes.split(";")) if shapes else {}


def arrays_of(inputs):
    chance = np.random.default_rng(3)
    sizes = [[SIZES[axis.split("[")[0]] for axis in axes.split()] for axes in inputs.values()]
    arrays = [chance.uniform(0.3, 1.7, size) for size in sizes]
    return [a + 3 * np.eye(len(a)) if a.ndim == 2 and len(a) == a.shape[1] else a for a in arrays]


def assert_value(translation, inputs, value):
    arrays = arrays_of(inputs)
    expected = np.asarray(value(*arrays))
    assert [*translation.axes] == [name for name in inputs if name in translation.axes]
    actual = np.asarray(
        translation(**dict(zip(inputs, arrays))) if all(map(str.isidentifier, inputs)) else translation(*arrays)
    )
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("source", "shapes", "value"), VALUES)
def test_notation_has_the_value_of_hand_written_numpy(source, shapes, value):
    inputs = inputs_of(shapes)
    assert_value(nt.translate(source, inputs), inputs, value)


def expm(a):
    values, vectors = np.linalg.eig(a)
    return (vectors * np.exp(values) @ inv(vectors)).real


ASKED = [  # source, shapes, the value of each interpretation
    (r"e^{A}", S, np.exp, expm),
    (r"\operatorname{tr}(e^{A})", S, lambda A: trace(np.exp(A)), lambda A: trace(expm(A))),
    (r"\exp(A)", S, np.exp, expm),
    ("x * S", "x=n;S=n n", lambda x, S: x @ S, None),
    (r"\nabla_x x^\top A x + b^\top x", "x=n;A=n n;b=n", lambda x, A, b: (A + A.T) @ x + b @ x, lambda x, A, b: (A + A.T) @ x + b),
    (r"\frac{d}{dx} x^\top x - b^\top x", "x=n;b=n", lambda x, b: 2 * x - b @ x, lambda x, b: 2 * x - b),
    ("x^2", V, np.square, lambda x: x @ x),
]  # fmt: skip


@pytest.mark.parametrize(("source", "shapes", "first", "second"), ASKED)
def test_ambiguous_notation_is_asked_about(source, shapes, first, second):
    inputs = inputs_of(shapes)
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, inputs)
    assert caught.value.code == 116
    for number, value in enumerate(filter(None, (first, second)), 1):
        assert_value(nt.translate(source, inputs, reading=number), inputs, value)


REFUSED = [  # source, shapes, the piece under the caret, the message
    (r"\sum_{i=1}^{2n} x_i", V, r"\sum_{i=1}^{2n} x_i", "the sum ends at 2n, past its axis"),
    (r"\sum_{i=1}^{n+1} x_i", V, r"\sum_{i=1}^{n+1} x_i", "the sum ends at n+1, past its axis"),
    (r"\sum_{i=1}^{n^2} x_i", V, r"\sum_{i=1}^{n^2} x_i", "the end n^2 of a sum is not supported"),
    (r"\sum_{i=1}^{3} x_i", "x=n[2]", "x_i", "the index i leaves its axis"),
    (r"\sum_{i=1}^{K} \sum_{j=1}^{K} A_{ij}", M, r"\sum_{i=1}^{K} \sum_{j=1}^{K} A_{ij}", "the sum ends at |n|, and its axis is m"),
    ("x_0 + x_1", V, "x_0", "the index 0 leaves its axis"),
    ("x_4", "x=n[3]", "x_4", "the index 4 leaves its axis"),
    ("A^i_j x^j", "A=n m;x=m", "x^j", "the upper index of x^j is not supported"),
    (r"\operatorname{prox}_{\lambda f}(x)", V, r"\operatorname{prox}", "unknown operator prox"),
    (r"\operatorname{foo} x", V, r"\operatorname{foo}", "unknown operator foo"),
    (r"\mathrm{conv} S", "S=n", r"\mathrm{conv}", "unknown operator conv"),
    (r"\text{conv}\, \frac{S}{2}", "S=n", r"\text{conv}", "unknown operator conv"),
    ("A^* b", "A=m n;b=m", "A^*", "^* is not supported"),
    (r"\log_b x", "x=n;b=", r"\log_b x", "the subscript b of log is not supported"),
    (r"\exp_2 x", V, r"\exp_2 x", "the subscript 2 of exp is not supported"),
    (r"\operatorname{ReLU}_6 x", V, r"\operatorname{ReLU}_6 x", "the subscript 6 of relu is not supported"),
    (r"\operatorname{tr}_3 A", S, r"\operatorname{tr}_3 A", "the subscript 3 of trace is not supported"),
    (r"\foo x", V, r"\foo", r"\foo is not supported in matrix or index notation"),
    ("A x", "A=m n;x=n;b=m", "A x", "the source does not use the input b"),
    ("X_1 + X_2", "X=n d", "X_1 + X_2", "the source does not use the input X"),
    (r"\alpha x^-1", "α=;x=", "-", "unexpected -"),
    ("x_{new} + y", "x=n;y=n", "x_{new} + y", "the source does not use the input x"),
    (r"\alpha x^10", "α=;x=n", "10", "TeX reads ^10 as ^1 0"),
    ("Aprime x", MV, "Aprime", "unknown name or function Aprime"),
    (r"x + \mathbf{1}_m", "x=n;A=m n", r"x + \mathbf{1}_m", "shapes differ: x is n × one, \\mathbf{1}_m is m × one"),
    ("y_{ii} = x_i", V, "y_{ii}", "the left side has the index i more than once"),
    (r"\nabla_n x^\top x", V, "n", "n is not an input: a derivative is taken with respect to one"),
    (r"\frac{\partial x^\top x}{\partial x^2}", V, "x^2", "x^2 is not an input: a derivative is taken with respect to one"),
    (r"\sum_{j,k=0}^{n-1} x_k", V, r"\sum_{j,k=0}^{n-1} x_k", "nothing under the ∑ has the index j"),
    (r"z = \sum_{i<j}^{n-1} A_{ij}", S, r"\sum_{i<j}^{n-1} A_{ij}", "the end n-1 of a sum with a condition is not supported"),
    (r"\exp(I)", "", r"\exp(I)", "I and 𝟏 are only supported in sums and products"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "shapes", "piece", "message"), REFUSED)
def test_unsupported_notation_is_refused_at_its_piece(source, shapes, piece, message):
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, inputs_of(shapes))
    assert (caught.value.code, caught.value.message, caught.value.span_text) == (115, message, piece)


FORMULAS = [  # source, shapes, reading, formula
    ("∑_j δ_{ij} x_j", "x=n", None, "I_{n', n} ⊙_{n} x"),
    ("∑_{ij} δ_{ij} A_{kl}", "A=n n", None, "∑_{i, i'} I_{i, i'} ⊙ A"),
    ("A_{ij} δ_{ij}", "A=n n", None, "trace_{n, n'}(A)"),
    ("exp(A)", "A=n n", 2, "expm_{n, n'}(A)"),
    ("∑_{k=1}^{n} k", "x=n", None, "∑_{n} iota_n"),
    ("a / b c", "a=;b=;c=", 1, "(a / b) ⊙ c"),
    ("a / b c", "a=;b=;c=", 2, "a / (b ⊙ c)"),
    ("x / 2 y", "x=n;y=n", 2, "(x / 2) ⊙ y"),
    ("A_{ij} ∘ B_{ij}", "A=n m;B=n m", None, "A ⊙_{n, m} B"),
    ("∑_i x_i y_i ∘ z_i", "x=n;y=n;z=n", None, "x ⊙ y ⊙_{n} z"),
    ("I/2 + A", "A=n n", None, "(1 / 2) ⊙ I_{n, n'} + A"),
    ("diag(x_i y)", "x=n;y=m", None, "diag_{m, m'}(x ⊙ y)"),
    ("a ⊗ B", "a=;B=n m", None, "a ⊙ B"),
    ("(x_i A) ⊗ B", "x=n;A=n m;B=n m", None, "[x ⊙ A_{n→n'} ⊙ B_{n→n'', m→m'}]_{(n',n'')→nn}_{(m,m')→mm}"),
    ("∂ log det X / ∂X", "X=n n", None, "∂log(det_{n, n'}(X))/∂X"),
    ("∑_k x_{t-k+1}", "x=n", 2, "|k'| = |k|\n∑_{k} [unroll_{n, k'}(x)]_{n→t}_{k'(|k| - iota_k + 1)}"),
    (r"\sum_{\text{seq}} S", "S=query seq", None, "∑_{seq} S"),
    (r"\max_{\text{seq}} (Q K^\top)", "Q=query key;K=seq key", None, "max_{seq}(Q ⊙_{key} K)"),
    (r"\sum_{\text{key}} (Q + M)", "Q=query key;M=query key", None, "∑_{key} (Q + M)"),
    (r"\sum_{\text{seq}} A x", "A=seq d;x=d", None, "∑_{seq} A ⊙_{d} x"),
    (r"\sum_{ij} A_{ij}", "A=m ij", None, "∑_{m, ij} A"),
    (r"\sum_{i=2}^{n-1} (A x)_i x_i", SV, None, "∑_{i=2}^{|n| - 1} [A ⊙_{n'} x_{n→n'}]_{n(i)} ⊙ x_{n(i)}"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "shapes", "reading", "formula"), FORMULAS)
def test_notation_is_translated_to_a_formula(source, shapes, reading, formula):
    translation = nt.translate(source, inputs_of(shapes), reading=reading)
    assert translation.formula == formula
    assert translation.checked == "the types are checked, the values are not compared"


def test_notation_without_a_type_is_not_checked():
    assert nt.translate(r"\partial X", X="i j").checked == "not checked: a differential by itself has no value"


def test_notation_whose_formula_fails_is_refused():
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(r"\lambda_{\max}_j x", x="n")
    assert caught.value.message.startswith("this cannot be translated safely: its formula fails (")


def test_a_declaration_of_a_negative_formula_is_read():
    declared = nt.translate("-y^T x", x="n", y="n").declared
    assert declared == "x ∈ ℝ^{n}\ny ∈ ℝ^{n}\nY = -(y ⊙_{n} x)"
    assert nt.check(declared).ok


def test_the_end_of_a_sum_without_a_shape_is_said():
    assert nt.translate(r"\sum_{i=1}^{K} x_i", x="n").reading == ("K is read as |n|",)
    assert nt.translate("A^H x", A="n m", x="n").reading == ("A^H is read as the transpose of real numbers",)


def test_the_table_is_long():
    assert len(VALUES) + len(ASKED) >= 150
