"""Every operator with every float dtype of NumPy, PyTorch and JAX: a value of this dtype, or an error with a hint.

The expected values are NumPy's in float64, written by hand.
"""

import math

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError
from namedtensor.operators import REGISTRY

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
ml_dtypes = pytest.importorskip("ml_dtypes")

# All dtypes represent these numbers.
X, Y, S = np.array([0.5, 1.5, 2.0]), np.array([1.25, 0.75, 2.5]), np.array([[2, 0.5], [0.5, 1]])
GAPS = np.array([0.5, np.nan, 2.0])
INPUTS = {"X": ("a", X), "Y": ("a", Y), "S": ("r c", S), "G": ("a", GAPS)}
DTYPES = {
    "numpy": {
        **{name: np.dtype(name) for name in ("float16", "float32", "float64", "longdouble")},
        "bfloat16": np.dtype(ml_dtypes.bfloat16),
    },
    "torch": {name: getattr(torch, name) for name in ("float16", "bfloat16", "float32", "float64")},
    "jax": {name: jax.numpy.dtype(name) for name in ("float16", "bfloat16", "float32", "float64")},
}
EPSILONS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23}


def array_of(numbers, library, dtype):
    """Return numbers as an array of a library."""
    if library == "torch":
        return torch.tensor(numbers, dtype=DTYPES[library][dtype])
    return (np if library == "numpy" else jax.numpy).asarray(numbers, dtype=DTYPES[library][dtype])


def float64_of(value, axes):
    array = value.array
    array = array.to(torch.float64).numpy() if isinstance(array, torch.Tensor) else np.asarray(array)
    return np.moveaxis(array, range(array.ndim), [axes.index(axis) for axis in value.axes]).astype(float)


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def entry(function):
    """Return a function of numbers, applied to entry element."""
    return lambda *arrays: np.vectorize(function)(*arrays)


def digamma(x):
    """Return the derivative of log Γ by central differences."""
    return (math.lgamma(x + 1e-5) - math.lgamma(x - 1e-5)) / 2e-5


def trigamma(x):
    return sum(1 / (x + k) ** 2 for k in range(1000)) + 1 / (x + 999.5)


ERF, LGAMMA, GAMMA = entry(math.erf), entry(math.lgamma), entry(math.gamma)
CLEAN = GAPS[[0, 2]]
STANDARD = (X - X.mean()) / np.sqrt(X.var() + 1e-5)
# formula: axes of the result, and its value in NumPy
FORMULAS = {
    "∑_{a} X": ("", X.sum()), "sum_{a} X": ("", X.sum()), "∏_{a} X": ("", X.prod()), "prod_{a} X": ("", X.prod()),
    "mean_{a} X": ("", X.mean()), "var_{a} X": ("", X.var()), "std_{a} X": ("", X.std()),
    "norm_{a} X": ("", np.linalg.norm(X)), "logsumexp_{a} X": ("", np.log(np.exp(X).sum())),
    "any_{a}(X > 1)": ("", True), "all_{a}(X > 1)": ("", False), "max_{a} X": ("", 2), "min_{a} X": ("", 0.5),
    "quantile_{a}(X; 0.25)": ("", 1.0), "median_{a} X": ("", 1.5), "nansum_{a} G": ("", 2.5), "nanmean_{a} G": ("", 1.25),
    "nanmax_{a} G": ("", 2), "nanmin_{a} G": ("", 0.5), "nanvar_{a} G": ("", CLEAN.var()), "nanstd_{a} G": ("", CLEAN.std()),
    "isnan G": ("a", np.isnan(GAPS)), "fillna(G, 0.25)": ("a", [0.5, 0.25, 2]), "softmax_{a} X": ("a", softmax(X)),
    "logsoftmax_{a} X": ("a", np.log(softmax(X))), "argmax_{a} X": ("a", [0, 0, 1]), "argmin_{a} X": ("a", [1, 0, 0]),
    "standardize_{a} X": ("a", STANDARD), "cumsum_{a} X": ("a", X.cumsum()), "cumprod_{a} X": ("a", X.cumprod()),
    "sort_{a} Y": ("a", np.sort(Y)), "cummax_{a} Y": ("a", [1.25, 1.25, 2.5]), "cummin_{a} Y": ("a", [1.25, 0.75, 0.75]),
    "argsort_{a} Y": ("a", [2, 1, 3]), "X ⊙_{a} Y": ("", X @ Y), "dot_{a}(X, Y)": ("", X @ Y), "X ⊙ Y": ("a", X * Y),
    "exp X": ("a", np.exp(X)), "log X": ("a", np.log(X)), "ln X": ("a", np.log(X)), "√X": ("a", np.sqrt(X)), "sqrt X": ("a", np.sqrt(X)),
    "sin X": ("a", np.sin(X)), "cos X": ("a", np.cos(X)), "tan X": ("a", np.tan(X)), "tanh X": ("a", np.tanh(X)),
    "sinh X": ("a", np.sinh(X)), "cosh X": ("a", np.cosh(X)), "arctan X": ("a", np.arctan(X)),
    "arcsin(X/4)": ("a", np.arcsin(X / 4)), "arccos(X/4)": ("a", np.arccos(X / 4)), "log1p X": ("a", np.log1p(X)),
    "expm1 X": ("a", np.expm1(X)), "logsigmoid X": ("a", np.log(sigmoid(X))), "leaky_relu(−X)": ("a", -X * 0.01),
    "elu(−X)": ("a", np.expm1(-X)), "gelu X": ("a", X * (1 + ERF(X / math.sqrt(2))) / 2),
    "gelu_tanh X": ("a", X * (1 + np.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3))) / 2), "silu X": ("a", X * sigmoid(X)),
    "softplus X": ("a", np.log1p(np.exp(X))), "erf X": ("a", ERF(X)), "σ(X)": ("a", sigmoid(X)), "sigmoid X": ("a", sigmoid(X)),
    "sign(X − 1)": ("a", [-1, 1, 1]), "floor X": ("a", [0, 1, 2]), "⌈X⌉": ("a", [1, 2, 2]), "ceil X": ("a", [1, 2, 2]),
    "|X − 1|": ("a", [0.5, 0.5, 1]), "abs(X − 1)": ("a", [0.5, 0.5, 1]), "round Y": ("a", [1, 1, 2]), "relu(X − 1)": ("a", [0, 0.5, 1]), "ReLU(X − 1)": ("a", [0, 0.5, 1]),
    "−X": ("a", -X), "X + Y": ("a", X + Y), "X + 1": ("a", X + 1), "X − Y": ("a", X - Y), "X/Y": ("a", X / Y), "X/3": ("a", X / 3),
    "2 X": ("a", 2 * X), "X^2": ("a", X**2), "X^{1.5}": ("a", X**1.5), "pow(X, Y)": ("a", X**Y), "mod(X, 1)": ("a", [0.5, 0.5, 0]),
    "𝕀[X = 1.5]": ("a", X == 1.5), "𝕀[X ≠ 1.5]": ("a", X != 1.5), "𝕀[X < Y]": ("a", X < Y), "𝕀[X ≤ Y]": ("a", X <= Y), "𝕀[X > Y]": ("a", X > Y),
    "𝕀[X ≥ Y]": ("a", X >= Y), "𝕀[X > 1 ∧ Y > 1]": ("a", [False, False, True]), "𝕀[X > 1 ∨ Y > 1]": ("a", [True, True, True]),
    "𝕀[¬(X > 1)]": ("a", [True, False, False]), "where(X > 1, X, 0)": ("a", [0, 1.5, 2]), "{ X if X > 1; 0 otherwise }": ("a", [0, 1.5, 2]),
    "𝕀[X > 1] ⊙ X": ("a", [0, 1.5, 2]), "clip(X, 0.75, 1.75)": ("a", np.clip(X, 0.75, 1.75)), "max(X, 0.75)": ("a", np.maximum(X, 0.75)),
    "min(X, Y)": ("a", np.minimum(X, Y)), "lgamma X": ("a", LGAMMA(X)), "digamma X": ("a", entry(digamma)(X)), "polygamma(X; 1)": ("a", entry(trigamma)(X)),
    "Γ(X)": ("a", GAMMA(X)), "X!": ("a", GAMMA(X + 1)), "binom(X, 2)": ("a", X * (X - 1) / 2), "X_{a(2)}": ("", 1.5), "X_{a(X_{a(3)})}": ("", 1.5),
    "maxk_{a,k}(Y)\n|k| = 2": ("k", [2.5, 1.25]), "argmaxk_{a,k}(Y)\n|k| = 2": ("a k", [[0, 1], [0, 0], [1, 0]]),
    "onehot_{a}(2) ⊙ X": ("a", [0, 1.5, 0]), "X + iota_{a}": ("a", X + [1, 2, 3]), "X + ones_{a}": ("a", X + 1),
    "X ⊙_{a} I_{a,b}": ("b", X), "X ⊙ [1, 2, 3]_{a}": ("a", X * [1, 2, 3]), "X/√|a|": ("a", X / math.sqrt(3)), "|a| X": ("a", 3 * X),
    "det_{r,c} S": ("", 1.75), "cofactors_{r,c} S": ("r c", [[1, -0.5], [-0.5, 2]]), "inv_{r,c} S": ("r c", np.linalg.inv(S)),
    "trace_{r,c} S": ("", 3), "solve_{r,c}(S, [1, 2]_{r})": ("c", np.linalg.solve(S, [1, 2])), "logdet_{r,c} S": ("", math.log(1.75)),
    "diag_{a,b} X": ("a b", np.diag(X)), "cholesky_{r,c} S": ("r c", np.linalg.cholesky(S)), "eigvalsh_{r,c} S": ("r", np.linalg.eigvalsh(S)),
    "expm_{r,c}(S/4)": ("r c", sum(np.linalg.matrix_power(S / 4, k) / math.factorial(k) for k in range(20))),
    "(eigh_{r,c} S)^2": ("r c", np.linalg.eigh(S)[1] ** 2), "X ⊕_{a} Y": ("a", [*X, *Y]), "concat_{a}(X, Y)": ("a", [*X, *Y]),
    "stack_{n}(X, Y)": ("n a", [X, Y]), "unroll_{a,k}(X)\n|k| = 2": ("a k", [X[:2], X[1:]]), "∑_{k} pool_{a,k}(X ⊕_{a} [4]_{a})\n|k| = 2": ("a", [2, 6]),
    "∂(∑_{a} X^3)/∂X": ("a", 3 * X**2), "∂(∑_{a} exp X)/∂X": ("a", np.exp(X)), "∂(log ∑_{a} exp X)/∂X": ("a", softmax(X)),
    "∂(X_{a(1)} X_{a(2)})/∂X": ("a", [1.5, 0.5, 0]), "∂(∑_{a} tanh X ⊙ Y)/∂X": ("a", Y / np.cosh(X) ** 2), "∂(max_{a} X)/∂X": ("a", [0, 0, 1]),
    "∂(norm_{a} X)/∂X": ("a", X / np.linalg.norm(X)), "∂(∑_{a} √X)/∂X": ("a", 0.5 / np.sqrt(X)), "∂(det_{r,c} S)/∂S": ("r c", [[1, -0.5], [-0.5, 2]]),
    "mean_{a}(standardize_{a}(X) ⊙ Y)": ("", (STANDARD * Y).mean()), "cumsum_{a} exp(−X)": ("a", np.exp(-X).cumsum()),
}  # fmt: skip
UNNAMED = {
    "-": "X − Y",
    "factorial": "X!",
    "juxtaposed": "2 X",
    "negative": "−X",
    "index": "X_{a(2)}",
    "onehot": "",
    "iota": "",
    "ones": "",
    "I": "",
    "identity": "I_{",
}
MATRICES = "det cofactors inv solve logdet cholesky eigvalsh eigh".split()  # NumPy has none in extended precision.
PAIRS = [(library, dtype) for library in DTYPES for dtype in DTYPES[library]]


@pytest.fixture
def wide():
    """Let JAX have 64 bits."""
    jax.config.update("jax_enable_x64", True)


def test_the_table_has_every_operator():
    text = "\n".join(FORMULAS)
    missing = {name for name in REGISTRY if UNNAMED.get(name, name) not in text}
    assert missing - {"uniform", "odd", "even"} == set()  # random numbers, and integers


@pytest.mark.sampled(18)
@pytest.mark.parametrize(("library", "dtype"), PAIRS)
@pytest.mark.parametrize("text", FORMULAS)
def test_an_operator_has_a_value_of_the_dtype_or_an_error_with_a_hint(wide, text, library, dtype):
    axes, expected = FORMULAS[text]
    expected = np.asarray(expected)
    inputs = {
        name: nt.tensor(array_of(numbers, library, dtype), names)
        for name, (names, numbers) in INPUTS.items()
        if name in text
    }
    refusable = dtype == "longdouble" and any(word in text for word in MATRICES)
    for evaluate in (nt.evaluate, lambda text, given: nt.formula(text).compile(library)(values=given)):
        try:
            value = evaluate(text, inputs)
        except NotationError as problem:
            assert refusable and problem.hint
            continue
        matches = float64_of(value, axes.split())
        epsilon = EPSILONS.get(dtype, 1e-10 if "gamma" in text else 2.0**-52)
        tolerance = 1e-9 if dtype not in EPSILONS and "digamma" in text else 16 * epsilon
        np.testing.assert_allclose(matches, expected.astype(float), tolerance, tolerance)
        if expected.dtype.kind == "f" or "X" in text and expected.dtype.kind == "i" and "arg" not in text:
            assert value.array.dtype == DTYPES[library][dtype]


@pytest.mark.parametrize("text", ["X + Y", "Y ⊙_{a} X", "{ X if X > 0; Y otherwise }"])
def test_half_precisions_of_numpy_have_no_common_dtype(text):
    given = {"X": nt.tensor(np.ones(3, "float16"), "a"), "Y": nt.tensor(np.ones(3, ml_dtypes.bfloat16), "a")}
    with pytest.raises(NotationError, match="no common dtype") as raised:
        nt.evaluate(text, given)
    assert raised.value.code == 405 and raised.value.hint
    assert nt.evaluate(text, given | {"Y": given["Y"].astype("float32")}).dtype == np.float32


def attention(q, k, v):
    return softmax(q @ k.T / math.sqrt(q.shape[1])) @ v


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("library", "dtype"), PAIRS)
@pytest.mark.parametrize(("keys", "queries"), [(1024, 1024), (1500, 40), (4096, 1), (1100, 1100)])
def test_attention_has_a_value_of_the_dtype_with_every_kernel(wide, library, dtype, keys, queries):
    if keys * queries > 2**18 and library != "numpy":
        pytest.skip("one kernel of the library serves all sizes")
    rng = np.random.default_rng(keys)
    q, k, v = (array_of(rng.normal(size=(count, 8)), library, dtype) for count in (queries, keys, keys))
    given = {"Q": nt.tensor(q, "q d"), "K": nt.tensor(k, "k d"), "V": nt.tensor(v, "k v")}
    exact = [float64_of(given[name], given[name].axes) for name in "QKV"]
    value = nt.evaluate("softmax_{k}(Q ⊙_{d} K / √|d|) ⊙_{k} V", given)
    tolerance = 8 * EPSILONS.get(dtype, 1e-13)
    np.testing.assert_allclose(float64_of(value, ["q", "v"]), attention(*exact), tolerance, tolerance)
    assert value.array.dtype == DTYPES[library][dtype]
