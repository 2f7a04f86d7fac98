"""`nt.translate`: the formula of each source, and its value against plain NumPy that is written by hand."""

import numpy as np
import pytest
from drawn_positional import draws

import namedtensor as nt
from namedtensor.positional.code import CodeReader

WORKED = [  # source, shapes, formula, result: the pairs of the design
    (r"\text{softmax}(QK^\top/\sqrt{d_k})V", "Q=query key;K=seq key;V=seq val", "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V", "query val"),
    (r"H = \mathrm{ReLU}(XW + b)", "X=seq chans;W=chans hidden;b=hidden", "H = relu(X ⊙_{chans} W + b)", "seq hidden"),
    (r"Z^\top Z v", "Z=n d;v=d", "Z ⊙_{n} Z_{d→d'} ⊙_{d'} v_{d→d'}", "d"),
    (r"\|X - UV^\top\|_F^2", "X=n m;U=n r;V=m r", "norm_{n, m}(X - U ⊙_{r} V)^2", ""),
    (r"v^\top M^{-1} v", "M=n n;v=n", "v ⊙_{n} inv_{n, n'}(M) ⊙_{n'} v_{n→n'}", ""),
    (r"a \otimes b", "a=i;b=j", "a ⊙ b", "i j"),
    (r"z_k = M_{kj} M_{ij} y_i", "M=p q;y=p", "M ⊙_{q} M_{p→p'} ⊙_{p'} y_{p→p'}", "p"),
    (r"\frac{1}{T}\sum_{t=1}^{T} h_{tj}", "h=time hidden", "mean_{time}(h)", "hidden"),
    (r"P_{ij} = K_{ij} / \sum_k K_{ik}", "K=n m", "K / ∑_{m} K", "n m"),
    ("np.einsum('nd,kd->nk', X, C)", "X=n d;C=col d", "X ⊙_{d} C", "n col"),
    ("rearrange(x, 't (k c) -> k t c', k=3)", "x=time layer", "|k| = 3\nx_{layer→(k,c)}", "k time c"),
    ("X - X.max(axis=-1, keepdims=True)", "X=n d", "X - max_{d}(X)", "n d"),
    ("(A * B).sum((0, 1))", "A=i j;B=i j", "A ⊙_{i, j} B", ""),
    ("torch.sigmoid(x @ W + b) * x", "x=n d;W=d d;b=d", "σ(x ⊙_{d} W + b_{d→d'}) ⊙ x_{d→d'}", "n d'"),
]  # fmt: skip


COMPARED = (
    "equal to",
    "the types are checked",
    "not compared: PyTorch is not installed",
    "not compared: einops is not installed",
)


def shapes_of(text):
    return dict(pair.split("=") for pair in text.split(";")) if text else {}


@pytest.mark.parametrize(("source", "shapes", "formula", "result"), WORKED)
def test_positional_worked_pair(source, shapes, formula, result):
    translation = nt.translate(source, shapes_of(shapes))
    assert translation.program().to_text() == nt.program(formula).to_text()
    assert " ".join(translation.result) == result
    assert translation.checked.startswith(COMPARED)


SIZES = dict(zip("m n p q d e k h t s b c v r".split(), (2, 3, 4, 5, 6, 7, 2, 4, 3, 5, 2, 3, 4, 6)))
PAIRS = [  # source, shapes, the value in NumPy
    # linear algebra
    ("A x", "A=m n;x=n", "A @ x"),
    ("Ax + b", "A=m n;x=n;b=m", "A @ x + b"),
    ("A B", "A=m n;B=n p", "A @ B"),
    ("AB^T", "A=m n;B=p n", "A @ B.T"),
    ("ABC", "A=m n;B=n p;C=p q", "A @ B @ C"),
    (r"A^\top x", "A=m n;x=m", "A.T @ x"),
    ("x^T A y", "A=m n;x=m;y=n", "x @ A @ y"),
    ("x'y", "x=n;y=n", "x @ y"),
    (r"x \cdot y", "x=n;y=n", "x @ y"),
    (r"\langle x, y\rangle", "x=n;y=n", "x @ y"),
    (r"\langle A, B \rangle", "A=m n;B=m n", "(A * B).sum()"),
    ("x y^T", "x=m;y=n", "np.outer(x, y)"),
    ("x x^T", "x=m", "np.outer(x, x)"),
    (r"\frac{x^\top A x}{x^\top x}", "A=n n;x=n", "(x @ A @ x) / (x @ x)"),
    ("A^T A", "A=m n", "A.T @ A"),
    ("A A^T A", "A=m n", "A @ A.T @ A"),
    ("tr(A B)", "A=m n;B=n m", "np.trace(A @ B)"),
    (r"\operatorname{tr}(A^\top B)", "A=m n;B=m n", "np.trace(A.T @ B)"),
    ("tr(A)", "A=n n", "np.trace(A)"),
    ("det(A)", "A=n n", "np.linalg.det(A)"),
    ("A^{-1} b", "A=n n;b=n", "np.linalg.solve(A, b)"),
    ("A^{-1} B", "A=n n;B=n m", "np.linalg.solve(A, B)"),
    (r"A^{-\top} b", "A=n n;b=n", "np.linalg.solve(A.T, b)"),
    ("B A^{-1}", "A=n n;B=m n", "B @ np.linalg.inv(A)"),
    (r"(X^\top X)^{-1} X^\top y", "X=s m;y=s", "np.linalg.solve(X.T @ X, X.T @ y)"),
    (r"(X^\top X + \lambda I)^{-1} X^\top y", "X=s d;y=s;λ=", "np.linalg.solve(X.T @ X + λ * np.eye(6), X.T @ y)"),
    (r"X (X^\top X)^{-1} X^\top", "X=s m", "X @ np.linalg.inv(X.T @ X) @ X.T"),
    (r"I - 2 \frac{v v^\top}{v^\top v}", "v=n", "np.eye(3) - 2 * np.outer(v, v) / (v @ v)"),
    (r"A \circ B", "A=m n;B=m n", "A * B"),
    (r"A \odot (x y^\top)", "A=m n;x=m;y=n", "A * np.outer(x, y)"),
    (r"A \otimes B", "A=m n;B=p q", "np.kron(A, B)"),
    ("vec(A)", "A=m n", "A.T.reshape(-1)"),
    ("diag(s) A", "s=m;A=m n", "np.diag(s) @ A"),
    ("A diag(s)", "s=n;A=m n", "A @ np.diag(s)"),
    (r"U \mathrm{diag}(s) V^\top", "U=m n;s=n;V=p n", "U @ np.diag(s) @ V.T"),
    (r"\mathbf{1}^\top x", "x=n", "x.sum()"),
    (r"A \mathbf{1}", "A=m n", "A.sum(1)"),
    ("2 A - B / 3", "A=m n;B=m n", "2 * A - B / 3"),
    ("½ x^T A x + b^T x", "A=n n;x=n;b=n", "0.5 * x @ A @ x + b @ x"),
    # norms and distances
    ("‖x‖", "x=n", "np.sqrt((x**2).sum())"),
    ("‖Ax − b‖²", "A=m n;x=n;b=m", "((A @ x - b)**2).sum()"),
    (r"\|x\|_1", "x=n", "np.abs(x).sum()"),
    (r"\|x\|_\infty", "x=n", "np.abs(x).max()"),
    (r"\|A\|_F", "A=m n", "np.sqrt((A**2).sum())"),
    (r"\frac{x^\top y}{\|x\| \|y\|}", "x=n;y=n", "x @ y / np.sqrt((x @ x) * (y @ y))"),
    (r"\exp(-\gamma \|x - y\|^2)", "x=n;y=n;γ=", "np.exp(-γ * ((x - y)**2).sum())"),
    (r"\frac{1}{2}\|y - Xw\|_2^2 + \lambda \|w\|_1", "X=n d;y=n;w=d;λ=", "0.5 * ((y - X @ w)**2).sum() + λ * np.abs(w).sum()"),
    # networks
    (r"\sigma(Wx + b)", "W=h d;x=d;b=h", "1 / (1 + np.exp(-(W @ x + b)))"),
    (r"\tanh(W h + U x)", "W=h h;h=h;U=h d;x=d", "np.tanh(W @ h + U @ x)"),
    ("max(0, XW + b)", "X=n d;W=d h;b=h", "np.maximum(0, X @ W + b)"),
    (r"W_2 \tanh(W_1 x)", "W_1=h d;W_2=m h;x=d", "W_2 @ np.tanh(W_1 @ x)"),
    (r"h = \tanh(W x)" "\n" "V h", "W=h d;x=d;V=m h", "V @ np.tanh(W @ x)"),
    (r"x \odot \sigma(x)", "x=n", "x / (1 + np.exp(-x))"),
    (r"\mathrm{softmax}(x)", "x=n", "softmax(x)"),
    (r"\mathrm{softmax}(X X^\top / \sqrt{d}) X", "X=n d", "softmax(X @ X.T / np.sqrt(6)) @ X"),
    (r"\mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V", "Q=n d;K=s d;V=s v", "softmax(Q @ K.T / np.sqrt(6)) @ V"),
    (r"\log\left(\mathrm{softmax}(z)\right)", "z=n", "np.log(softmax(z))"),
    (r"D^{-1} A X W", "D=n n;A=n n;X=n d;W=d h", "np.linalg.solve(D, A @ X @ W)"),
    # indices
    ("y_i = W_{ij} x_j", "W=m n;x=n", "W @ x"),
    ("yᵢ = Σⱼ Wᵢⱼ xⱼ + bᵢ", "W=m n;x=n;b=m", "W @ x + b"),
    ("C_{ik} = A_{ij} B_{jk}", "A=m n;B=n p", "A @ B"),
    ("C_{ki} = A_{ij} B_{jk}", "A=m n;B=n p", "(A @ B).T"),
    (r"\sum_i x_i y_i", "x=n;y=n", "x @ y"),
    ("∑_i x_i^2", "x=n", "(x**2).sum()"),
    (r"\sum_{i,j} A_{ij}", "A=m n", "A.sum()"),
    (r"\sum_i \sum_j A_{ij} x_i y_j", "A=m n;x=m;y=n", "x @ A @ y"),
    ("x_i A_{ij} x_j", "A=n n;x=n", "x @ A @ x"),
    (r"\sum_i A_{ii}", "A=n n", "np.trace(A)"),
    ("y_i = A_{ii}", "A=n n", "np.diag(A)"),
    ("y_i = δ_{ij} x_j", "x=n", "x"),
    ("A_{ij} B_{ij}", "A=m n;B=m n", "(A * B).sum()"),
    ("C_{ij} = A_{ij} B_{ij}", "A=m n;B=m n", "A * B"),
    ("C_{ij} = A_{ji}", "A=m n", "A.T"),
    (r"\frac{1}{n}\sum_{i=1}^n x_i", "x=n", "x.mean()"),
    (r"\frac{1}{n}\sum_{i=1}^n (y_i - w^\top x_i)^2", "x=n d;y=n;w=d", "((y - x @ w)**2).mean()"),
    (r"\sum_i x_i x_i^\top", "x=n d", "x.T @ x"),
    (r"\prod_i x_i", "x=n", "x.prod()"),
    (r"\max_j A_{ij}", "A=m n", "A.max(1)"),
    (r"\alpha_{ij} = \frac{\exp(e_{ij})}{\sum_k \exp(e_{ik})}", "e=n m", "softmax(e)"),
    (r"\alpha_{ij} = \mathrm{softmax}_j(e_{ij})", "e=n m", "softmax(e)"),
    (r"s_{ij} = u^\top \tanh(A x_i + B y_j)", "u=h;A=h d;B=h e;x=n d;y=m e", "np.tanh((x @ A.T)[:, None] + (y @ B.T)[None]) @ u"),
    (r"K_{ij} = \exp(-\gamma \|x_i - x_j\|^2)", "x=n d;γ=", "np.exp(-γ * ((x[:, None] - x[None])**2).sum(-1))"),
    (r"c_t = \sum_s a_{ts} h_s", "a=t s;h=s d", "a @ h"),
    (r"-\sum_i p_i \log q_i", "p=n;q=n", "-(p * np.log(q)).sum()"),
    ("T_{ijk} x_k", "T=m n p;x=p", "T @ x"),
    (r"\sum_{i=1}^n i x_i", "x=n", "np.arange(1, 4) @ x"),
    # sums under conditions and over parts of axes
    (r"y_t = \sum_{s \le t} x_s", "x=n", "np.cumsum(x)"),
    (r"y_t = \sum_{s < t} a_{ts} x_s", "a=n n;x=n", "np.tril(a, -1) @ x"),
    (r"y_i = \sum_{j \neq i} \frac{m_j}{x_j - x_i}", "m=n;x=n", "np.array([sum(m[j] / (x[j] - x[i]) for j in range(3) if j != i) for i in range(3)])"),
    (r"\sum_{i<j} A_{ij}", "A=n n", "np.triu(A, 1).sum()"),
    (r"\sum_{1 \le i < j \le n} x_i x_j", "x=n", "np.triu(np.outer(x, x), 1).sum()"),
    (r"\sum_i \sum_{j \neq i} A_{ij} x_j", "A=n n;x=n", "((A - np.diag(np.diag(A))) @ x).sum()"),
    (r"y_i = \prod_{j \neq i} (x_i - x_j)", "x=n", "np.array([np.prod([x[i] - x[j] for j in range(3) if j != i]) for i in range(3)])"),
    (r"\sum_{j>1} x_j", "x=n", "x[1:].sum()"),
    (r"\sum_{i=2}^n x_i", "x=n", "x[1:].sum()"),
    (r"\sum_{i=1}^{n-1} (x_{i+1} - x_i)^2", "x=n", "(np.diff(x)**2).sum()"),
    (r"\sum_{t=2}^{T} h_t^\top h_{t-1}", "h=t d", "(h[1:] * h[:-1]).sum()"),
    (r"\frac{1}{n-1}\sum_{i=1}^{n-1} x_i x_{i+1}", "x=n", "(x[1:] * x[:-1]).sum() / 2"),
    (r"y_t = \sum_k w_k x_{t+k-1}", "x=d;w=k", "np.correlate(x, w)"),
    (r"Y_{ij} = \sum_{k,l} W_{kl} X_{i+k-1,j+l-1}", "X=d q;W=k k", "np.einsum('ijkl,kl->ij', np.lib.stride_tricks.sliding_window_view(X, (2, 2)), W)"),
    (r"\mathbb{E}[x]", "x=n", "x.mean()"),
    (r"\mathbb{E}_i[x_i^2]", "x=n", "(x**2).mean()"),
    ("y_{ij} = |i - j| A_{ij}", "A=n n", "np.abs(np.arange(3)[:, None] - np.arange(3)) * A"),
    (r"\sum_{i=1}^{n}\sum_{j=1}^{i} A_{ij}", "A=n n", "np.tril(A).sum()"),
    (r"\sum_{i=1}^{n}\sum_{j=i+1}^{n} A_{ij}", "A=n n", "np.triu(A, 1).sum()"),
    (r"\sum_{i=1}^{n-1}\sum_{j=i}^{n} A_{ij}", "A=n n", "np.triu(A)[:-1].sum()"),
    (r"v_i = x_i - \sum_{j=1}^{i-1} a_{ij} x_j", "x=n;a=n n", "x - np.tril(a, -1) @ x"),
    (r"\sum_{t=1}^{T} \gamma^{t-1} r_t", "r=n;γ=", "(γ ** np.arange(3)) @ r"),
    (r"G_t = \sum_{s \geq t} \gamma^{s-t} r_s", "r=n;γ=", "np.array([sum(γ ** (s - t) * r[s] for s in range(t, 3)) for t in range(3)])"),
    # blocks and derivatives
    ("[x; y]", "x=m;y=n", "np.concatenate([x, y])"),
    ("W [c; x] + b", "W=h p;c=m;x=k;b=h", "W @ np.concatenate([c, x]) + b"),
    (r"\begin{bmatrix} A & B \\ C & D \end{bmatrix}", "A=m n;B=m k;C=p n;D=p k", "np.block([[A, B], [C, D]])"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} x", "x=m", "np.array([[1, 2], [3, 4]]) @ x"),
    (r"\begin{bmatrix} x \\ 1 \end{bmatrix}", "x=n", "np.append(x, 1)"),
    ("[x, y]", "x=n;y=n", "np.stack([x, y], 1)"),
    (r"\nabla_x (x^\top A x)", "A=n n;x=n", "(A + A.T) @ x"),
    (r"\nabla_x \frac{1}{2}\|A x - b\|^2", "A=m n;x=n;b=m", "A.T @ (A @ x - b)"),
    ("L = \\sum_i (y_i - W_{ij} x_j)^2\nG_{ij} = \\frac{\\partial L}{\\partial W_{ij}}", "W=m n;x=n;y=m", "-2 * np.outer(y - W @ x, x)"),
    ("L = (y - w^T x)^2\nw - η ∇_w L", "w=n;x=n;y=;η=", "w + 2 * η * (y - w @ x) * x"),
    # letters
    ("bqd,bkd->bqk", "Q=b q d;K=b k d", "np.einsum('bqd,bkd->bqk', Q, K)"),
    ("bhqd,bhkd->bhqk", "Q=b h q d;K=b h k d", "np.einsum('bhqd,bhkd->bhqk', Q, K)"),
    ("ij,jk,kl->il", "A=m n;B=n p;C=p q", "A @ B @ C"),
    ("ii->", "A=n n", "np.trace(A)"),
    ("ii->i", "A=n n", "np.diag(A)"),
    ("ij->", "A=m n", "A.sum()"),
    ("np.einsum('...ij,...jk', A, B)", "A=b m n;B=b n p", "A @ B"),
    ("rearrange(x, 'b h w -> b (h w)')", "x=b h c", "x.reshape(2, 12)"),
    ("rearrange(x, 'b (h w) -> b w h', h=2)", "x=b h", "x.reshape(2, 2, -1).transpose(0, 2, 1)"),
    ("reduce(x, 'b h w -> b', 'mean')", "x=b h c", "x.mean((1, 2))"),
    ("einops.einsum(Q, K, 'batch query key, batch seq key -> batch query seq')", "Q=b q d;K=b k d", "Q @ K.transpose(0, 2, 1)"),
    # code
    ("(X - X.mean(axis=0)) / X.std(axis=0)", "X=n d", "(X - X.mean(0)) / X.std(0)"),
    ("X / np.linalg.norm(X, axis=1, keepdims=True)", "X=n d", "X / np.sqrt((X**2).sum(1))[:, None]"),
    ("np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)", "X=n d", "softmax(X)"),
    ("np.linalg.inv(X.T @ X) @ X.T @ y", "X=s m;y=s", "np.linalg.solve(X.T @ X, X.T @ y)"),
    ("((A @ x - b)**2).mean()", "A=m n;x=n;b=m", "((A @ x - b)**2).mean()"),
    ("x[1:] - x[:-1]", "x=n", "x[1:] - x[:-1]"),
    ("np.where(x > 1, x, 0.1 * x)", "x=n", "np.where(x > 1, x, 0.1 * x)"),
    ("np.concatenate([A, B], axis=1)", "A=m n;B=m p", "np.concatenate([A, B], 1)"),
    ("np.maximum(0, X @ W1 + b1) @ W2", "X=n d;W1=d h;b1=h;W2=h m", "np.maximum(0, X @ W1 + b1) @ W2"),
    ("F.softmax(Q @ K.transpose(-2, -1) / math.sqrt(d_k), dim=-1) @ V", "Q=b q d;K=b k d;V=b k v", "softmax(Q @ K.transpose(0, 2, 1) / np.sqrt(6)) @ V"),
    ("F.scaled_dot_product_attention(q, k, v)", "q=b q d;k=b k d;v=b k v", "softmax(q @ k.transpose(0, 2, 1) / np.sqrt(6)) @ v"),
    ("x / len(x)", "x=n", "x / 3"),
    ("F.linear(x, W, b)", "x=n d;W=h d;b=h", "x @ W.T + b"),
    ("torch.var(x, dim=1)", "x=n d", "x.var(1, ddof=1)"),
    ("Q @ K.transpose(1, 2)", "Q=b q d;K=b k d", "Q @ K.transpose(0, 2, 1)"),
    ("x.permute(0, 2, 1)", "x=b h c", "x.transpose(0, 2, 1)"),
    ("b, s, d = x.shape\nx.view(b, s, 2, d // 2).transpose(1, 2)", "x=b s d", "x.reshape(2, 5, 2, 3).transpose(0, 2, 1, 3)"),
    ("1/2 x", "x=n", "x / 2"),
    ("(λ I) A", "A=m n;λ=", "λ * A"),
    ("x \\diag(s)", "x=n;s=n", "x * s"),
    ("A + (I + 2 I)", "A=n n", "A + 3 * np.eye(3)"),
    ("A - (-I)", "A=n n", "A + np.eye(3)"),
    ("b + A", "b=n;A=m n", "b + A"),
    ("𝟏^T A", "A=m n", "A.sum(0)"),
    ("A 𝟏", "A=m n", "A.sum(1)"),
    ("𝟏 + x", "x=n", "1 + x"),
    ("[1; 2] + x", "x=m", "np.array([1, 2]) + x"),
    ("softmax_{cols}(A)", "A=m n", "softmax(A.T).T"),
    ("y_i = softmax(z_i)", "z=n", "softmax(z)"),
    ("max(A)", "A=m n", "A.max()"),
    ("λ^{-1} x", "λ=;x=n", "x / λ"),
    ("y_i = a_i ∘ b_i", "a=n;b=n", "a * b"),
    ("3 × A + 2 ⊗ A", "A=m n", "5 * A"),
    ("\\sqrt{A}", "A=m n", "np.sqrt(A)"),
    ("⟨λ, c⟩", "λ=;c=", "λ * c"),
    ("y = ∑_j A_{1j} x_j", "A=m n;x=n", "A[0] @ x"),
    ("∑_{i=2}^{n} i x_i", "x=n", "2 * x[1] + 3 * x[2]"),
    ("∑_{i=2} x_i", "x=n", "x[1] + x[2]"),
    ("∑_{i=1}^{3} x_i", "x=n[3]", "x.sum()"),
    ("∑_{i=1}^{n} x_i", "A=n m;x=n", "x.sum()"),
    ("y = ∑_{1≤i≤j<3} x_i x_j", "x=n", "x[0] * x[0] + x[0] * x[1] + x[1] * x[1]"),
    ("∑_{1≤i<3} x_i", "x=n", "x[0] + x[1]"),
    ("y_i = a_i ∑_{j≤i} x_j", "a=n;x=n", "a * np.cumsum(x)"),
    ("\\left. x \\right.", "x=n", "x"),
    ("\\mathbf{\\alpha} x", "α=;x=n", "α * x"),
    ("\\hat{\\mathbf x} + x", "x̂=n;x=n", "x̂ + x"),
    ("[a; b;]", "a=n;b=n", "np.concatenate([a, b])"),
    ("∞ x", "x=n", "np.inf * x"),
    ("y := A x", "A=m n;x=n", "A @ x"),
    ("y_i = -x_i ∑_{j=1}^{3} x_j", "x=n", "-x * x.sum()"),
]  # fmt: skip


def softmax(x):
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("source", "shapes", "value"), PAIRS)
def test_positional_translation_has_the_value_of_plain_numpy(source, shapes, value):
    chance = np.random.default_rng(5)
    inputs = shapes_of(shapes)
    sizes = {name: [SIZES[axis.split("[")[0]] for axis in words.split()] for name, words in inputs.items()}
    arrays = {name: chance.uniform(0.3, 1.7, shape) for name, shape in sizes.items()}
    translation = nt.translate(source, inputs)
    expected = np.asarray(eval(value, {"np": np, "softmax": softmax, **arrays}))
    actual = np.asarray(translation(*(arrays[name] for name in translation.axes)))
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-7)
    assert translation.checked.startswith(COMPARED)


def test_positional_table_is_long():
    assert len(PAIRS) >= 100


QUESTIONS = [  # source, shapes, the formulas of its readings
    ("u v", "u=n;v=n", ("u ⊙_{n} v", "u ⊙ v")),
    ("2 u v", "u=n;v=n", ("2 u ⊙_{n} v", "2 u ⊙ v")),
    ("A^2", "A=n n", ("A ⊙_{n'} A_{n→n', n'→n''}", "A^2")),
    ("exp(A)", "A=n n", ("exp(A)", "expm_{n, n'}(A)")),
    ("x^2", "x=n", ("x^2", "x ⊙_{n} x")),
    ("|x|", "x=n", ("abs(x)", "norm_{n}(x)")),
    ("‖A‖", "A=m n", ("norm_{m, n}(A)", "√max_{n}(eigvalsh_{n, n'}(A ⊙_{m} A_{n→n'}))")),
    ("A * B", "A=n n;B=n n", ("A ⊙_{n'} B_{n→n', n'→n''}", "A ⊙ B")),
    ("A.transpose(0, 1)", "A=m n", ("A", "A")),
    (r"\frac{\partial A x}{\partial x}", "A=m n;x=n", ("[∂(A ⊙_{n} x)/∂x*]_{n*→n}",) * 2),
    (r"\text{softmax}(Q K^\top / \sqrt{d_k})", "Q=q d;K=k d", ("softmax_{k}(Q ⊙_{d} K / √|k|)", "softmax_{k}(Q ⊙_{d} K / √|d|)")),
    ("x.std(1)", "x=n d", ("std_{d}(x)", "std_{d}(x) ⊙ √(|d| / (|d| - 1))")),
    (r"\sum_{i \neq j} A_{ij}", "A=n n", ("∑_{n, n'} { A if iota_{n} ≠ iota_{n'}; 0 otherwise }", "∑_{n} { A if iota_{n} ≠ iota_{n'}; 0 otherwise }")),
    ("a / b c", "a=;b=;c=n", ("(a / b) ⊙ c", "a / (b ⊙ c)")),
    ("y_t = ∑_k w_k x_{t-k+1}", "w=k;x=n", ("|n'| = |n|\nw ⊙_{k} { x_{n(max(1, iota_{n'} - iota_k + 1))} if iota_k ≤ iota_{n'}; 0 otherwise }", "|k'| = |k|\nw ⊙_{k} [unroll_{n, k'}(x)]_{n→t}_{k'(|k| - iota_k + 1)}")),
]  # fmt: skip


@pytest.mark.parametrize(("source", "shapes", "formulas"), QUESTIONS)
def test_positional_ambiguity_is_a_question_with_readings(source, shapes, formulas):
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, shapes_of(shapes))
    assert caught.value.code == 116 and caught.value.span_text in source
    readings = caught.value.readings  # type: ignore[attr-defined]
    assert [nt.to_text(reading.formula) for reading in readings] == [nt.to_text(formula) for formula in formulas]
    for number, formula in enumerate(formulas, 1):
        translation = nt.translate(source, shapes_of(shapes), reading=number)
        assert nt.to_text(translation.formula) == nt.to_text(formula)


REFUSALS = [  # source, shapes, the piece under the caret, the message
    ("A + B", "A=m n;B=n m", "A + B", "shapes differ: A is m × n, B is n × m"),
    ("A B", "A=m n;B=p q", "A B", "no product: the columns of A are n, the rows of B are p"),
    ("tr(A)", "A=m n", "tr(A)", "trace needs a square matrix, got m, n"),
    ("A^{-1}", "A=m n", "A^{-1}", "an inverse needs a square matrix, got m, n"),
    ("A^{1/2}", "A=n n", "A^{1/2}", "A^{1/2}: only whole powers of a square matrix and its inverse are supported"),
    (r"u \times v", "u=n;v=n", r"u \times v", "the cross product is not supported"),
    ("f(x)", "x=n", "f", "unknown function f"),
    ("size(x)", "x=n", "size", "unknown name or function size"),
    ("np.linalg.inv(3)", "", "np.linalg.inv(3)", "inv needs a square matrix"),
    ("x[5]", "x=n[3]", "x[5]", "the index is out of range: n has 3 elements"),
    ("y_i = A_{ij}", "A=m n", "A_{ij}", "index j is on the right only"),
    ("y_{ij} = x_i", "x=m", "y_{ij}", "index j is on the left only"),
    ("x_{t+1} = A x_t", "", "x_{t+1}", "x_{t+1} is defined by itself"),
    (r"\sum_{i \in S} x_i", "x=n", r"{i \in S}", "the sum over i∈S is not supported"),
    (r"\sum_i i x_i", "x=n;i=", "i", "i is both an input and an index"),
    (r"\sum_{i=1}^{m} x_i", "x=n;A=m n", r"\sum_{i=1}^{m} x_i", "the sum ends at |m|, and its axis is n"),
    (r"\sum_{i=1}^{m} x_i", "x=n;m=", r"\sum_{i=1}^{m} x_i", "m is a tensor, and the end of a sum is a length"),
    (r"\sum_{i=0}^{n} x_i", "x=n", r"\sum_{i=0}^{n}", "the sum from i=0 is not supported"),
    (r"\sum_{i=1}^{n} x_i x_{i+1}", "x=n", "x_{i+1}", "the index i+1 leaves its axis"),
    ("y_i = x_{i+1} - x_i", "x=n", "x_{i+1}", "the index i+1 is not supported"),
    (r"y_t = \sum_k w_k x_{t+k}", "x=n;w=k", "x_{t+k}", "the index t+k is not supported"),
    (r"\mathbb{E}[x x^\top]", "x=n", r"\mathbb{E}[x x^\top]", "the expectation is over one axis, and there are 2"),
    ("[A, x]", "A=m n;x=n", "[A, x]", "the rows of the blocks differ: m and n"),
    (r"\nabla_W (W x)", "W=m n;x=n", "(W x)", "only derivatives of a number are supported"),
    (r"\nabla_x (x^\top x) \cdot v", "x=n;v=n", r"(x^\top x) \cdot", "cannot tell which expression is differentiated"),
    (r"\exp(I) x", "x=n", r"\exp(I) x", "I and 𝟏 are only supported in sums and products"),
    ("L = x^T x\n∂L/∂L", "x=n", "L", "L is not an input: a derivative is taken with respect to one"),
    ("hidden state", "", "hidden", "unknown name or function hidden"),
    (r"\epsilon_{ijk} x_j y_k", "x=n;y=n", r"\epsilon_{ijk}", "the Levi-Civita symbol ε_{ijk} is not supported"),
    ("np.tanh(Z) - m", "Z=seq chans;m=seq", "np.tanh(Z) - m", "cannot align chans of np.tanh(Z) with seq of m"),
    ("x[x > 0]", "x=n", "x[x > 0]", "the value is not a tensor: the number of elements depends on the data: take sum, mean, max or min of it"),
    ("np.random.randn(3)", "", "np.random.randn(3)", "randn is not supported: random numbers have no formula"),
    ("np.fft.fft(x)", "x=n", "np.fft.fft(x)", "fft is not supported: Fourier transforms are not in the notation"),
    ("for i in range(3): x = x + 1", "x=n", "for i in range(3): x = x + 1", "control flow has no formula"),
    ("nn.Linear(3, 4)(x)", "x=n", "nn.Linear(3, 4)", "Linear is not supported: this module has weights: read it with nt.from_torch"),
    ("F.gelu(x, approx=1)", "x=n", "F.gelu(x, approx=1)", "the keyword approx of gelu is not supported"),
    ("X @ np.foo(Y)", "X=n d;Y=d m", "np.foo(Y)", "unknown function foo"),
    ("X @ Y", "X=n d", "Y", "the shape of Y is not known"),
    ("ab,bc->ad", "A=m n;B=n p", "ab,bc->ad", "d is a letter of no operand"),
    ("x.sum(3)", "x=n d", "x.sum(3)", "axis 3 is out of range for 2 axes"),
    ("y = a_i b_i c_i", "a=n;b=n;c=n", "a_i b_i c_i", "the index i is 3 times in a product"),
    ("A x B", "A=m n;x=n;B=p q", "A x B", "no product: the columns of A x are one, the rows of B are p"),
    (r"\mathbf{1} 3 x", "x=n", r"\mathbf{1} 3", "nothing specifies how long this vector of ones is"),
    ("diag(s) x^T", "x=n;s=n", "diag(s) x^T", "no product: the columns of diag(s) are n', the rows of x^T are one"),
    ("L = ∑_{i} (a_i + b_j)", "a=n;b=m", "a_i + b_j", "the indices of the summands differ: i and j"),
    ("I + x", "x=n", "I + x", "cannot add I, which is square, to a value with the axes n"),
    ("x / A", "A=m n;x=n", "x / A", "division by a matrix is not defined"),
    ("[A, B; C]", "A=n m;B=n m;C=n m", "[A, B; C]", "the rows of this matrix have different numbers of blocks"),
    ("[A ⊗ B, C]", "A=n m;B=p q;C=n s", "[A ⊗ B, C]", "the rows of the blocks differ: n, p and n"),
    ("[A, I]", "A=n m", "[A, I]", "nothing specifies how large a block of this matrix is"),
    ("[A ⊗ B, A ⊗ C]", "A=n m;B=p q;C=p s", "[A ⊗ B, A ⊗ C]", "a block with merged columns is not supported"),
    ("softmax(λ)", "λ=", "softmax(λ)", "softmax has no axis to be taken over"),
    ("tr(x^T y)", "x=n;y=n", "tr(x^T y)", "trace needs a square matrix, got one"),
    ("mean(λ)", "λ=", "mean(λ)", "mean has no axis to be taken over"),
    ("logsumexp(A)", "A=m n", "logsumexp(A)", "logsumexp of a matrix needs an axis"),
    ("∇_2 x", "x=n", "2", "a derivative is taken with respect to an input"),
    ("∂A/∂W_{ij}", "A=m n;W=m n", "A", "only derivatives of a number are supported"),
    ("∂(∑_k x_k^2)/∂T", "x=n;T=m n p", "T", "T has 3 axes"),
    ("∂(x^T W x)/∂W_{ii}", "W=n n;x=n", "W_{ii}", "W needs a separate letter for each of its 2 axes"),
    ("∂I", "x=n", "∂I", "a constant has no differential"),
    ("I ⊗ A", "A=m n", "I ⊗ A", "⊗ of an identity or of ones needs their sizes"),
    ("(A B)_i", "A=m n;B=n p", "(A B)_i", "(A B)_i has 2 axes, and 1 indices"),
    ("A^B", "A=m n;B=m n", "B", "an exponent is a number"),
    ("‖λ‖", "λ=", "‖λ‖", "a norm needs a vector or a matrix"),
    ("‖x‖_A", "x=n;A=m n", "‖x‖_A", "the norm with the subscript A is not supported"),
    ("⟨I, A⟩", "A=n n", "⟨I, A⟩", "⟨ ⟩ expects two vectors or two matrices"),
    ("⟨a, b, c⟩", "a=n;b=n;c=n", "⟨a, b, c⟩", "⟨ ⟩ expects two arguments"),
    ("A x", "A=m n p;x=n", "A", "A has 3 axes, and matrix notation has two"),
    ("T_i", "T=m n p q", "T_i", "T has 4 axes, and 1 indices"),
    ("T_{iii}", "T=n n n", "T_{iii}", "T_{iii} has the index i more than once"),
    ("A_{ii}", "A=m n", "A_{ii}", "A_{ii} is the diagonal of a square tensor, and its axes are m and n"),
    ("y_i = A_{ii} δ_{ii}", "A=n n", "δ_{ii}", "δ expects two different indices"),
    (r"\mathrm{2x} + x", "x=n", r"\mathrm{2x}", "2x is not a name or a known function"),
    ("(x + y)^{,}", "x=n;y=n", "(x + y)^", "(x + y)^ cannot be read in matrix notation"),
    ("∑_{i=1}^{3} x_i", "x=n[2]", "x_i", "the index i leaves its axis"),
    ("mean_{i≠j} x_i", "x=n", "mean_{i≠j} x_i", "mean under a condition is not supported"),
    ("mean_{i=2}^{n} x_i", "x=n", "mean_{i=2}^{n} x_i", "mean over this part of an axis is not supported"),
    ("∑_{i≤k} x", "x=n", "∑_{i≤k} x", "nothing has the index i"),
    ("∑_{i=2}^{m} x_i", "x=n;m=", "∑_{i=2}^{m} x_i", "m is a tensor, and the end of a sum is a length"),
    ("∑_{i=2}^{n} y_j", "y=n", "∑_{i=2}^{n} y_j", "nothing under the ∑ has the index i"),
    ("∑_{j=i+2} x_j", "x=n", "{j=i+2}", "the sum over j=i+2 is not supported"),
    ("y_k = ∑_{i=j<k} x_i", "x=n", "{i=j<k}", "the sum over i=j<k is not supported"),
    ("∑_{i<jk} x_i", "x=n", "{i<jk}", "the sum over i<jk is not supported"),
    (r"\hat{ x", "x=n", "{", "{ is not closed"),
    (r"\text{if x} x", "x=n", r"\text{if x}", "if x is not a name or a known function"),
    (r"\hat{xy} + x", "x=n", r"\hat{xy}", "an accent belongs to one letter"),
    ("I", "A=n n", "I", "nothing specifies how large this is"),
    ("A_{ij} x_j + A_{ijk}", "x=n", "A_{ijk}", "A has 3 indices here, and 2 elsewhere"),
    ("x if 1 else x", "x=n", "x if 1 else x", "x if 1 else x is ambiguous, and so are other pieces"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "shapes", "piece", "message"), REFUSALS)
def test_positional_refusal_names_the_piece_and_the_reason(source, shapes, piece, message):
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, shapes_of(shapes))
    assert (caught.value.code, caught.value.message) == (115, message)
    assert caught.value.span_text == piece


def test_positional_keyword_that_is_not_known_is_refused():
    with pytest.raises(nt.NotationError, match="the keyword is_causal"):
        nt.translate("F.scaled_dot_product_attention(q, k, v, is_causal=True)", q="s d", k="t d", v="t e")


def test_positional_misfit_offers_what_would_fit():
    with pytest.raises(nt.NotationError) as caught:
        nt.translate("A B", A="m n", B="m n")
    assert caught.value.hint == "write A^⊤ B or A B^⊤ or A ∘ B"


def test_positional_translation_without_shapes_says_what_it_assumed():
    translation = nt.translate("QK^T")
    assert (translation.formula, translation.axes) == ("Q ⊙_{j} K", {"Q": ("i", "j"), "K": ("k", "j")})
    assert translation.reading == ("Q is read as a matrix", "K is read as a matrix")


def test_positional_shapes_may_be_sizes_arrays_tensors_and_sets():
    A = np.arange(6.0).reshape(2, 3)
    for shape in ((2, 3), A, nt.tensor(A, "i j"), nt.tensor(A, "i j").shape, "ℝ^{i × j}"):
        translation = nt.translate("A A^T", A=shape)
        np.testing.assert_allclose(translation(A), A @ A.T)
    assert nt.translate("A x", A=(3, 3), x=(3,)).axes == {"A": ("i", "j"), "x": ("j",)}
    with pytest.raises(nt.NotationError, match="no product"):
        nt.translate("A x", A=(2, 3), x=(4,))
    with pytest.raises(nt.NotationError, match="invalid shape"):
        nt.translate("A x", A=object(), x="n")


def test_positional_size_that_is_not_known_is_read_as_a_number():
    assert nt.translate("x / d", x="n").reading == ("d is read as a number",)
    assert nt.translate("T x", x="n").reading == ("T is read as a matrix",)


def test_positional_name_with_an_index_that_nothing_binds_is_one_name():
    translation = nt.translate("h_{t-1} + x_t", x="n")
    assert (translation.formula, [*translation.axes]) == ("h_{t-1} + x", ["x", "h_{t-1}"])
    assert translation.reading == ("h_{t-1} is read as a number",)
    np.testing.assert_allclose(translation(np.array([1.0, 2.0]), 3.0), [4.0, 5.0])
    assert nt.translate("W h_{t-1}", {"h_{t-1}": "n"}, W="m n").axes == {"h_{t-1}": ("n",), "W": ("m", "n")}


def test_positional_identity_of_free_indices():
    translation = nt.translate("y_{ij} = δ_{ij} a_k b_k", a="n", b="n")
    assert (translation.formula, translation.result) == ("I_{i, i'} ⊙ a ⊙_{n} b", ("i", "i'"))
    translation = nt.translate("y_{ij} = A_{ij} + δ_{ij}", A="n n")
    np.testing.assert_allclose(translation(np.ones((2, 2))), np.ones((2, 2)) + np.eye(2))
    with pytest.raises(nt.NotationError, match="δ relates m and n, which are different axes"):
        nt.translate("y_{ij} = A_{ij} + δ_{ij}", A="m n")


def test_positional_end_of_a_sum_names_the_axis_of_an_input_without_a_shape():
    assert nt.translate("∑_{i=1}^{n} x_i", A="n m").axes == {"x": ("n",)}


def test_positional_merged_axes_get_a_name_that_no_input_has():
    translation = nt.translate("x.reshape(-1)[:, None] * u", x="m n", u="mn")
    x, u = np.arange(6.0).reshape(2, 3), np.arange(4.0)
    assert translation.result == ("mn'", "mn")
    np.testing.assert_allclose(translation(x, u), x.reshape(-1)[:, None] * u)


@pytest.mark.parametrize(
    ("source", "shapes", "checked"),
    [
        ("rearrange(x, '(i j) -> i j', i=3_000_000)", {"x": "m"}, "not compared: its smallest example is too large"),
        ("np.linalg.inv(A - A)", {"A": "n n"}, "not compared: every example is singular"),
        ("np.ones((3_000, 1_000)).sum()", {}, "not compared: its value is too large"),
    ],
)
def test_positional_translation_says_why_it_was_not_compared(source, shapes, checked):
    assert nt.translate(source, shapes).checked == checked


@pytest.mark.parametrize(
    ("value", "difference"),
    [
        (lambda x: x[:1], "its shape is 1, the formula's 2"),
        (lambda x: x + 1e-3, "the values differ"),
        (lambda x: np.where(x == x[0], np.inf, x), "the values differ"),
    ],
)
def test_positional_translation_with_another_value_than_the_source_is_refused(monkeypatch, value, difference):
    monkeypatch.setattr(CodeReader, "value", lambda reader, arrays, *_: value(arrays["x"]))
    with pytest.raises(nt.NotationError) as caught:
        nt.translate("np.abs(np.abs(x)) * np.sign(x)", x="n")
    assert caught.value.message == f"this cannot be translated safely: {difference}"


def test_positional_declarations_in_the_text_are_shapes():
    assert nt.translate(r"A x, A ∈ ℝ^{m × n}").axes["A"] == ("m", "n")


def test_positional_code_reads_a_function():
    source = "def attention(Q, K, V):\n    scores = Q @ K.T / np.sqrt(K.shape[-1])\n    weights = np.exp(scores)\n    return weights / weights.sum(-1, keepdims=True) @ V"
    with pytest.raises(nt.NotationError, match="cannot align"):  # weights.sum has no axis of V, but its place is V's
        nt.translate(source.replace(" @ V", " + V"), Q="q d", K="k d", V="k v")
    translation = nt.translate(source, Q="q d", K="k d", V="k v")
    Q, K, V = (np.random.default_rng(n).normal(size=shape) for n, shape in enumerate([(2, 3), (4, 3), (4, 5)]))
    np.testing.assert_allclose(translation(Q, K, V), softmax(Q @ K.T / np.sqrt(3)) @ V)


@pytest.mark.parametrize(
    "source",
    ["(" * 200 + "x" + ")" * 200, "x + " * 30_000 + "x", "A" * 100_001, "x^" * 500, "\\frac" * 500, "((((", "x_{", "‖", "|", "a->b->c", "", "  ", "\\", "_", "∑", "np.", "A[", "x" * 4 + "\ud800"],
)  # fmt: skip
def test_positional_hostile_text_is_refused_in_words(source):
    with pytest.raises(nt.NotationError):
        nt.translate(source, x="n", A="n n")


def test_positional_wrong_arguments():
    for call in (
        lambda: nt.translate(3),
        lambda: nt.translate("A x", kind="prose"),
        lambda: nt.translate("u v", u="n", v="n", reading=5),
    ):  # type: ignore[arg-type]
        with pytest.raises(nt.NotationError) as caught:
            call()
        assert caught.value.code == 208
    with pytest.raises(nt.NotationError, match="no array for x"):
        nt.translate("A x", A="m n", x="n")(np.ones((2, 3)))


@pytest.mark.slow
def test_positional_random_expressions_are_equal_asked_or_refused():
    outcomes, different = draws(200, 3)
    assert not different
    assert sum(number for line, number in outcomes.items() if line.endswith("equal")) > 150
