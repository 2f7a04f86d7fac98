"""Translations at the edges: large values, repeated words of a pattern, unlisted functions and unclear scopes."""

import numpy as np
import pytest

import namedtensor as nt

torch = pytest.importorskip("torch")
pytest.importorskip("einops")

HALVES = [[-0.5, 1.5, 0.0, 2.0], [3.0, -1.0, 0.5, -2.5]]
LARGE = [[1000.0, -1000.0, 0.0, 40.0], [-40.0, 1e4, -1e4, 1.0]]
BITS = [[0.0, 1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0]]
UNKNOWN = [[np.nan, 1.5, np.nan, 2.0], [3.0, np.nan, np.nan, -2.5]]
CODE = [  # source, arrays; the value is the library's
    ("F.binary_cross_entropy_with_logits(X, Y)", {"X": LARGE, "Y": BITS}),
    ("F.binary_cross_entropy_with_logits(X, Y, reduction='none')", {"X": LARGE, "Y": BITS}),
    ("F.binary_cross_entropy(Y, Z)", {"Y": BITS, "Z": BITS[::-1]}),
    ("F.binary_cross_entropy(Y, Y)", {"Y": BITS}),
    ("torch.logaddexp(X, Z)", {"X": LARGE, "Z": LARGE[::-1]}),
    ("torch.logaddexp(X, X)", {"X": [[-np.inf, 0.0, 1.0, 2.0]]}),
    ("F.normalize(X, p=1.0, dim=1)", {"X": HALVES}),
    ("F.normalize(X, p=3)", {"X": HALVES}),
    ("torch.linalg.cholesky(A)", {"A": [[4.0, 2.0], [2.0, 5.0]]}),
    ("torch.linalg.eigvalsh(A)", {"A": [[4.0, 2.0], [2.0, -5.0]]}),
    ("torch.logdet(A)", {"A": [[4.0, 2.0], [-2.0, 5.0]]}),
    ("torch.slogdet(A)[1]", {"A": [[4.0, 2.0], [2.0, -5.0]]}),
    ("torch.linalg.matrix_exp(A)", {"A": [[0.5, 2.0], [-1.0, 0.25]]}),
    ("torch.special.round(X)", {"X": HALVES}),
    ("torch.fix(X)", {"X": HALVES}),
    ("np.fix(X)", {"X": HALVES}),
    ("np.radians(X) + np.degrees(X)", {"X": HALVES}),
    ("np.linalg.trace(np.linalg.matmul(X, Z.T))", {"X": HALVES, "Z": LARGE}),
    ("np.linalg.outer(X[0], Z[1])", {"X": HALVES, "Z": LARGE}),
    ("np.logaddexp(X[:, None], 3.0)", {"X": LARGE}),
    ("np.nansum(X)", {"X": UNKNOWN}),
    ("np.nansum(X, axis=0, keepdims=True)", {"X": UNKNOWN}),
    ("np.nanmean(X, axis=1)", {"X": UNKNOWN}),
    ("torch.nansum(X, 1)", {"X": UNKNOWN}),
    ("torch.nanmean(X, dim=0)", {"X": UNKNOWN}),
    ("np.fmax(X, Z)", {"X": UNKNOWN, "Z": HALVES}),
    ("np.fmin(X, Z)", {"X": HALVES, "Z": UNKNOWN}),
    ("torch.fmax(X, Z)", {"X": UNKNOWN, "Z": HALVES}),
    ("rearrange(X, '... -> (...)')", {"X": HALVES}),
    ("rearrange(X, '... m -> m (...)')", {"X": HALVES}),
    ("repeat(X, 'n m -> (2 n) (m 2) 2')", {"X": HALVES}),
    ("repeat(X, '... -> (...) 2')", {"X": HALVES}),
    ("reduce(X, 'n (m 2) -> n m', 'mean')", {"X": HALVES}),
    ("reduce(X, 'n 4 -> n', 'sum')", {"X": HALVES}),
]
AXES = {"X": "n m", "Y": "n m", "Z": "n m", "A": "n n"}


@pytest.mark.parametrize(("source", "arrays"), CODE)
def test_code_has_the_value_of_its_library_at_the_edges(source, arrays):
    import einops

    values = {name: np.array(array) for name, array in arrays.items()}
    translation = nt.translate(source, {name: AXES[name] for name in arrays})
    given = values if "np." in source else {name: torch.from_numpy(array) for name, array in values.items()}
    functions = {name: getattr(einops, name) for name in ("rearrange", "repeat", "reduce")}
    expected = np.asarray(eval(source, {"np": np, "torch": torch, "F": torch.nn.functional, **functions, **given}))
    actual = np.asarray(translation(**values))
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)
    assert translation.checked.startswith("equal to ")


def test_an_assumed_symmetric_matrix_is_said():
    assert nt.translate("np.linalg.cholesky(A)", A="n n").reading == ("the matrix of cholesky is symmetric",)
    assert nt.translate("torch.logdet(A)", A="n n").reading == ("the matrix of logdet has a positive determinant",)


REFUSED = {
    "scipy.linalg.cholesky(X)": "scipy.linalg.cholesky is not supported",  # the upper factor by default
    "np.linalg.mean(X)": "numpy.linalg.mean is not supported",
    "torch.nn.functional.sum(X)": "F.sum is not supported",
    "math.sum(X)": "math.sum is not supported",
    "rearrange(X, '(...) -> ...')": "the dimensions of ... cannot be split",
    "rearrange(X, 'n 4 -> n')": "4 is on the left only",
    "rearrange(X, 'n ... -> n')": "... is on the left only",
    "rearrange(X, 'n m -> n m 2')": "2 is on the right only",
    "np.average(X, axis=0, weights=[0.25, 0.75])": "the weights of an average have the axes of the tensor",
    "X * torch.tensor([])": "stack needs a list of tensors and an axis",
    "np.argmax(X, (0, 1))": "axis (0, 1) selects 2 axes, and one is needed",
    "np.swapaxes(X, None, 0)": "axis None selects 2 axes, and one is needed",
    "np.take_along_axis(X, J, None)": "axis None selects 2 axes, and one is needed",
    "np.vstack([X, [1, 2]])": "concatenate of tensors with different numbers of axes",
    "np.hstack([X, 2])": "concatenate of tensors with different numbers of axes",
}


@pytest.mark.parametrize("source", REFUSED)
def test_unlisted_functions_and_unreadable_patterns_are_refused(source):
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, X="n n" if "(X)" in source else "n m", **({"J": "n m"} if "J" in source else {}))
    assert (caught.value.code, caught.value.message) == (115, REFUSED[source])


def test_gelu_of_jax_is_approximate_by_default():
    x = np.linspace(-3, 3, 7)
    tanh = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    for source in ("jax.nn.gelu(x)", "jax.nn.gelu(x, True)", "F.gelu(x, approximate='tanh')"):
        np.testing.assert_allclose(nt.translate(source, x="n")(x), tanh, rtol=1e-12, atol=1e-15)
    exact = nt.translate("F.gelu(x)", x="n")(x)
    np.testing.assert_allclose(nt.translate("jax.nn.gelu(x, approximate=False)", x="n")(x), exact)
    assert np.max(np.abs(exact - tanh)) > 1e-4


SCOPES = [  # source, the values of its readings for x = [1, 2], y = [3, 5] and A = [[1, 2], [3, 4]]
    (r"\sum_i x_i + y_i", ([6, 8], 11)),
    (r"\frac{1}{2} \sum_{i=1}^{n} x_i - y_i", ([-1.5, -3.5], -2.5)),
    (r"\sum_i x_i^2 + x_i + y_i", ([9, 12], [11, 13], 16)),
    (r"A_{ii}", (5, [1, 4])),
    (r"A_{ii} + 1", (6, [2, 5])),
]


@pytest.mark.parametrize(("source", "values"), SCOPES)
def test_an_unclear_scope_of_a_sum_is_asked_about(source, values):
    arrays = {"x": np.array([1.0, 2.0]), "y": np.array([3.0, 5.0]), "A": np.array([[1.0, 2.0], [3.0, 4.0]])}
    axes = {name: shape for name, shape in {"x": "n", "y": "n", "A": "n n"}.items() if name in source}
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, axes)
    assert caught.value.code == 116
    readings = caught.value.readings
    assert [np.asarray(reading(**{name: arrays[name] for name in axes})).tolist() for reading in readings] == [*values]


LAST = [  # source, the value for x = [1, 2, 4] and A = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    (r"\sum_{i=1}^{n} x_i + x_n", 11),
    (r"\sum_{i=1}^{n} (x_i - x_n)^2", 13),
    (r"\sum_{i=1}^{n-1} x_i x_n", 12),
    (r"\sum_{i=1}^{n-1} (x_{i+1} - x_i) - x_n", -1),
    (r"\sum_{i=1}^{n} x_i + x_{n-1}", 9),
    (r"\sum_{i=1}^{n} A_{in}", 18),
    (r"\sum_{i=1}^{n} x_i + A_{nn}", 16),
]


@pytest.mark.parametrize(("source", "value"), LAST)
def test_the_end_of_a_sum_is_a_length_in_an_index(source, value):
    arrays = {"x": np.array([1.0, 2.0, 4.0]), "A": np.arange(1.0, 10.0).reshape(3, 3)}
    translation = nt.translate(source, {name: "n" if name == "x" else "n n" for name in arrays if name in source})
    assert float(translation(**{name: arrays[name] for name in translation.axes})) == value


def test_x_n_beside_x_1_is_asked_about():
    x = np.array([1.0, 2.0, 4.0])
    for source, values in (("x_n - x_1", (3, [0, 1, 3])), (r"\frac{x_n - x_1}{n - 1}", (1.5, None))):
        with pytest.raises(nt.NotationError) as caught:
            nt.translate(source, x="n")
        assert (caught.value.code, caught.value.span_text) == (116, "x_n")
        last, elements = (np.asarray(reading(x)).tolist() for reading in caught.value.readings)
        assert last == values[0] and (values[1] is None or elements == values[1])
    assert nt.translate("y_n = x_n - x_1", x="n")(x).tolist() == [0, 1, 3]
    assert nt.translate("x_n + 1", x="n")(x).tolist() == [2, 3, 5]


def test_a_left_side_decides_the_scope_of_a_sum():
    x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert nt.translate(r"z_i = \sum_i x_i + y_i", x="n", y="n")(x, y).tolist() == [6, 8]
    whole = nt.translate(r"s = \sum_i x_i + y_i", x="n", y="n")
    assert (float(whole(x, y)), whole.reading) == (11, (r"\sum_i x_i + y_i is read as all terms are summed",))
    assert float(nt.translate(r"s = \sum_{i<j} A_{ij} - A_{ji}", A="n n")(A)) == -1
    assert nt.translate(r"\sum_j A_{ij} x_j + y_i", A="n n", x="n", y="n")(A, x, y).tolist() == [8, 16]


@pytest.mark.parametrize(
    ("source", "axes", "message"),
    [
        (r"\kappa(A)", {"A": "n n"}, "unknown function κ"),
        (r"\lambda_{\max}(A)", {"A": "n n"}, "unknown function λ_{max}"),
        (r"2 f_\theta(x)", {"x": "n"}, "unknown function f_θ"),
        (r"H(x) + x", {"x": "n"}, "unknown function H"),
        (r"\|x\|_0", {"x": "n"}, "the norm with the subscript 0 is not supported"),
        (r"X / N", {"X": "n d"}, "N is read as a matrix"),
        (r"\frac{1}{N} X^\top X", {"X": "n d"}, "N is read as a matrix"),
    ],
)
def test_notation_without_a_sure_meaning_is_refused(source, axes, message):
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, axes)
    assert (caught.value.code, caught.value.message) == (115, message)


WRITTEN = [  # sources with the value of x^⊤ y + ‖y‖ − 1
    "\\[ x^\\top y + ||y|| - 1. \\]",
    "\\begin{equation}\\label{eq} x^\\top y + ||y||_2 - 1 \\end{equation}",
    "\\begin{align*} s &= x^\\top y - 1 \\\\[2pt] r &= s + \\left|\\left| y \\right|\\right| \\end{align*}",
    "x^T y + || y || - 1",
]


@pytest.mark.parametrize("source", WRITTEN)
def test_displays_and_norms_of_two_bars_are_read(source):
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    assert float(nt.translate(source, x="n", y="n")(x, y)) == 15


def test_a_single_bar_shows_that_bars_are_nested():
    assert nt.translate("||a| - |b||", a="", b="").formula == "abs(abs(a) - abs(b))"
    assert nt.translate("|a||b|", a="", b="").formula == "abs(a) ⊙ abs(b)"


def test_a_factor_in_brackets_is_no_function():
    A, x = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 2.0])
    assert nt.translate(r"W_1(x)", {"W_1": "m n", "x": "n"})(A, x).tolist() == [5, 11]
    assert nt.translate(r"2\lambda(A + I)", A="n n").axes == {"A": ("n", "n'"), "λ": ()}
    assert nt.translate("A(x)").axes == {"A": ("i", "j"), "x": ("j",)}


@pytest.mark.parametrize(
    ("name", "source"),
    [(r"\beta", r"\beta^\top x"), (r"\tilde h", r"\tilde{h}^\top x"), (r"\mathbf{w}", r"\mathbf w^\top x")],
)
def test_a_shape_may_name_its_input_in_latex(name, source):
    translation = nt.translate(source, {name: "n", "x": "n"})
    assert float(translation(np.array([1.0, 2.0]), np.array([3.0, 5.0]))) == 13


def test_expand_keeps_a_dimension_of_one_element():
    torch = pytest.importorskip("torch")
    x = torch.arange(4.0)
    result = nt.translate("x[:, None].expand(-1, -1)", x="n", kind="torch")(x)
    assert np.asarray(result).tolist() == x[:, None].tolist()
