"""Readable code: what it says, and that it gives the values of the formula in each library."""

import re

import numpy as np
import pytest

import namedtensor as nt
import transformer
from namedtensor.display.code_statements import UnreadableFormulaError, identifier
from namedtensor.webpage.examples import EXAMPLES
from namedtensor.webpage.requests import Request
from namedtensor.webpage.stages import stages_of
from namedtensor.webpage.typed import read_typed_text

X, W, b = "ℝ^{batch[2] × seq[4] × chans[3]}", "ℝ^{hidden[5] × chans[3]}", "ℝ^{hidden[5]}"
A, S, v = "ℝ^{height[3] × width[4]}", "ℝ^{row[3] × column[3]}", "ℝ^{height[3]}"
FORMULAS = [  # the formula, its inputs, a line of its code for NumPy
    ("softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V",
     {"Q": "ℝ^{key[2]}", "K": "ℝ^{seq[3] × key[2]}", "V": "ℝ^{seq[3] × val[4]}"}, "scores = K @ Q / 2**0.5            # seq"),
    ("softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V",
     {"Q": "ℝ^{query[5] × key[2]}", "K": "ℝ^{seq[3] × key[2]}", "V": "ℝ^{seq[3] × val[4]}"}, "scores = Q @ K.T                   # query × seq"),
    ("softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V",
     {"Q": "ℝ^{heads[2] × query[5] × key[2]}", "K": "ℝ^{heads[2] × seq[3] × key[2]}", "V": "ℝ^{heads[2] × seq[3] × val[4]}"},
     'scores = np.einsum("hqk,hsk->hqs", Q, K)'),
    ("H = relu(X ⊙_{chans} W + b)\nstandardize_{hidden}(H)", {"X": X, "W": W, "b": b}, "H = np.maximum(X @ W.T + b, 0)"),
    ("mean_{chans}((X - mean_{chans}(X))^2)", {"X": X}, "np.mean((X - np.mean(X, axis=2)[:, :, None])**2, axis=2)"),
    ("A - v", {"A": A, "v": v}, "A - v[:, None]"),
    ("A ⊙ v / (1 + v)", {"A": A, "v": v}, "A * v[:, None] / (1 + v)[:, None]"),
    ("A ⊙_{height} v", {"A": A, "v": v}, "A.T @ v"),
    ("v ⊙ (A ⊙_{width} u)", {"A": A, "v": v, "u": "ℝ^{width[4]}"}, "v * (A @ u)"),
    ("logsumexp_{width}(1000 A) + logsoftmax_{width}(1000 A) ⊙_{width} A", {"A": A}, "logsumexp(scores, axis=1)"),
    ("A ⊙_{width} B", {"A": A, "B": "ℝ^{p[2] × q[5] × width[4]}"}, 'np.einsum("hw,pqw->hpq", A, B)'),
    ("A ⊙_{height, width} A", {"A": A}, 'np.einsum("hw,hw->", A, A)'),
    ("A_{height→width', width→height} ⊙_{width'} A_{width→width''}_{height→width'}", {"A": A}, "@"),
    ("max_{height} A - min_{width} A", {"A": A}, "np.max(A, axis=0)"),
    ("max(A, 2 v)", {"A": A, "v": v}, "np.maximum(A, (2 * v)[:, None])"),
    ("σ(A) ⊙ tanh(A) + exp(-A) - abs(v)", {"A": A, "v": v}, "sigmoid(A) * np.tanh(A)"),
    ("silu(A + 1) + gelu_tanh(A) + elu(A) + leaky_relu(A) + softplus(A) + logsigmoid(A)", {"A": A}, "np.logaddexp"),
    ("{ A if A > 0 ∧ v < 1; -A if A < -1; 0 otherwise }", {"A": A, "v": v}, "np.where((A > 0) & (v < 1)[:, None], A"),
    ("𝕀[A ≥ v] ⊙_{width} A", {"A": A, "v": v}, ".astype(A.dtype)"),
    ("A_{(height, width)→layer}", {"A": A}, "A.reshape(12)"),
    ("A_{(width, height)→layer}", {"A": A}, "A.T.reshape(12)"),
    ("|p| = 2\nA_{width→(p, q)}", {"A": A}, "A.reshape(3, 2, 2)"),
    ("A_{height(2)} + A_{width(1), height(3)}", {"A": A}, "A[1]"),
    ("I ∈ [3]^{seq}\nA_{height(I)}", {"A": A, "I": "[3]^{seq[5]}"}, "A[I - 1]"),
    ("I ∈ [4]^{seq}\nA_{width(I)} ⊙_{height} v", {"A": A, "v": v, "I": "[4]^{seq[5]}"}, "A[:, I - 1]"),
    ("iota_{width} ⊙_{width} A", {"A": A}, "np.arange(1, 5)"),
    ("softmax_{height, width}(A)", {"A": A}, "softmax(A, axis=(0, 1))"),
    ("argmax_{width}(A) ⊙_{width} A", {"A": A}, "one_hot_largest(A, axis=1)"),
    ("cumsum_{width}(A) + sort_{height}(A)", {"A": A}, "np.cumsum(A, axis=1) + np.sort(A, axis=0)"),
    ("norm_{width}(A) + logsumexp_{width}(A) + std_{width}(A) + var_{width}(A) + ∏_{width} A", {"A": A}, "np.linalg.norm(A, axis=1)"),
    ("det_{row, column}(S) + trace_{row, column}(S)", {"S": S}, "np.linalg.det(S)"),
    ("solve_{row, column}(S, w)", {"S": S, "w": "ℝ^{row[3]}"}, "np.linalg.solve(S, w)"),
    ("W ⊙_{kernel} unroll_{seq, kernel} Z", {"Z": "ℝ^{seq[7]}", "W": "ℝ^{kernel[3]}"}, "sliding_window_view(Z, 3, axis=0)"),
    ("W ⊙_{chans, kernel} unroll_{seq, kernel} Z", {"Z": "ℝ^{chans[2] × seq[7]}", "W": "ℝ^{chans[2] × kernel[3]}"}, "np.einsum("),
    ("|kernel| = 2\nmean_{kernel} pool_{seq, kernel} Z", {"Z": "ℝ^{seq[6]}"}, "Z.reshape(3, 2)"),
    ("A ⊕_{width} (A + 1)", {"A": A}, "np.concatenate([A, A + 1], axis=1)"),
    ("[1, 2, 3]_{height} ⊙_{height} A", {"A": A}, "np.array([1, 2, 3])"),
    ("f(x) = x^2 + 1\nf(A) / f(v)", {"A": A, "v": v}, "A**2 + 1"),
    ("x^1 + W^2 ⊙ x'", {"x^1": v, "W^2": v, "x'": v}, "def function(x_1, W_2, x_prime):"),
    ("yield + A", {"yield": "ℝ", "A": A}, "v_yield + A"),
    ("(A + v)^2 - A^{-1} - (-A)^2", {"A": A, "v": v}, "(A + v[:, None])**2 - A**(-1) - (-A)**2"),
    ("A / (v / 2) - (A - (v - 1))", {"A": A, "v": v}, "A / (v / 2)[:, None] - (A - (v - 1)[:, None])"),
    ("quantile_{width}(A; 0.3) + median_{width} A", {"A": A}, "np.quantile(A, 0.3, axis=1)"),
    ("norm_{width}(A; 3) - std_{width}(A; 1) + var_{height, width}(A)", {"A": A}, "np.linalg.norm(A, 3, axis=1)"),
    ("standardize_{width}(A; 0.5)", {"A": A}, "standardize(A, axis=1, eps=0.5)"),
    ("cumprod_{width}(A) + sort_{width}(v ⊙ A) - argmin_{height}(A)", {"A": A, "v": v}, "one_hot_largest(-A, axis=0)"),
    ("logsumexp_{height}({ A if A > v; -A otherwise })", {"A": A, "v": v}, "np.where(A > v[:, None], A, -A)"),
    ("Y = (A + 1)_{height→depth}\nY ⊙_{depth} Y", {"A": A}, "Y = A + 1"),
    ("f(X; w) = w X\nB ∈ ℝ^{height[3]}\nf(A; 2) + v", {"A": A, "v": v}, "2 * A + v[:, None]"),
    ("quantile_{width}(A; 0.4) + norm_{height, width}(A)", {"A": "ℝ^{height[3] × width[6]}"}, "np.quantile(A, 0.4, axis=1)"),
    ("𝕀[|height| > 2] A", {"A": A}, "float(True) * A"),
    ("where(A > 1, A, v)", {"A": A, "v": v}, "np.where(A > 1, A, v[:, None])"),
    ("mean_{width} iota_{width} + A", {"A": A}, "np.mean(np.arange(1, 5).astype(A.dtype), axis=0) + A"),
    ("onehot_{vocab}(I) ⊙_{vocab} E", {"I": "[5]^{seq[4]}", "E": "ℝ^{vocab[5] × emb[2]}"}, "I[:, None] == np.arange(1, 6)"),
]  # fmt: skip


def request(text, inputs):
    return Request({"text": text, "inputs": dict(inputs)})


def drawn(shape, order, generator):
    text = str(shape)
    if text.startswith("["):
        return generator.integers(1, int(text[1 : text.index("]")]) + 1, order)
    return generator.uniform(0.3, 1.7, order)


def arrays_of(stages, inputs, library):
    generator = np.random.default_rng(0)
    result = {}
    for name, shape in stages.typed.given.items():
        sizes = [size for _, size in sizes_of(shape)]
        result[name] = drawn(inputs.get(name, shape), sizes, generator)
    return result


def sizes_of(shape):
    return list(getattr(shape, "sizes", shape).items())


def check(text, inputs, library):
    """The value of the code beside that of the formula."""
    pytest.importorskip({"loops": "numpy"}.get(library, library))
    stages = stages_of(read_typed_text(request(text, inputs)))
    code = nt.to_python(text, library, stages.typed.given, style="readable", sizes=dict(stages.typed.sizes))
    result = arrays_of(stages, inputs, library)
    space: dict = {}
    exec(code, space)
    arrays = list(result.values())
    if library == "torch":
        torch = pytest.importorskip("torch")
        arrays = [torch.tensor(array) for array in arrays]
        torch.set_default_dtype(torch.float64)
        try:
            actual = space["function"](*arrays)
        finally:
            torch.set_default_dtype(torch.float32)
    elif library == "jax":
        jax = pytest.importorskip("jax")
        actual = space["function"](*map(jax.numpy.asarray, arrays))
    elif library == "loops":
        actual = space["function"](*(array.tolist() for array in arrays))
    else:
        actual = space["function"](*arrays)
    named = {
        name: nt.tensor(array, [axis for axis, _ in sizes_of(stages.typed.given[name])]) if array.ndim else float(array)
        for name, array in result.items()
    }
    expected = nt.evaluate(text, named)
    value = expected.to_array([*stages.root.shape]) if expected.shape else float(expected)
    np.testing.assert_allclose(
        np.asarray(actual, dtype=float), value, rtol=1e-4 if library == "jax" else 1e-9, atol=1e-5
    )
    return code


@pytest.mark.sampled(9)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "loops"])
@pytest.mark.parametrize(("text", "inputs", "line"), FORMULAS, ids=lambda item: item if isinstance(item, str) else "")
def test_the_code_of_a_formula_gives_its_value(text, inputs, line, library):
    try:
        code = check(text, inputs, library)
    except UnreadableFormulaError as refusal:
        if library == "loops":
            operator, _, message = refusal.message.partition(" ")
            assert operator in ("det", "solve", "sort", "quantile", "median", "norm"), text
            assert message.endswith("has no readable form as loops")
            return
        assert library == "torch" and ("height, width" in text or "max(A, 2 v)" in text)
        return
    if library == "numpy":
        assert line in code, code


@pytest.mark.sampled(6)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "loops"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_code_of_an_example_gives_its_value(example, library):
    inputs = {**example.inputs, **({"I": "[5]^{seq[4]}"} if example.name == "indexing" else {})}
    if any(isinstance(value, int) for value in inputs.values()):
        pytest.skip("its sizes are numbers of steps")
    check(example.text, inputs, library)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "text", ["x + 0.1 π", "0.3 x", "x / 3 + e^x", "softmax_{a}(x / √|a|)", "[0.1, 0.2]_{k} ∑_{a} x"]
)
def test_constants_keep_the_dtype_of_tensors_in_pytorch(text, dtype):
    torch = pytest.importorskip("torch")
    array = torch.tensor([0.1, -0.2, 0.3, 1.0], dtype=getattr(torch, dtype))
    space: dict = {}
    exec(nt.to_python(text, "torch", x="ℝ^{a[4]}", style="readable"), space)
    actual = space["function"](array)
    expected = nt.evaluate(text, x=nt.tensor(array.double().numpy(), "a"))
    close = 8 * torch.finfo(array.dtype).eps
    assert actual.dtype == array.dtype
    np.testing.assert_allclose(actual.double(), expected.to_array(expected.axes), rtol=close, atol=close)


def test_all_targets_have_the_same_statements():
    words = {"Q": "ℝ^{query[5] × key[2]}", "K": "ℝ^{seq[3] × key[2]}", "V": "ℝ^{seq[3] × val[4]}"}
    text = "A = softmax_{seq}(Q ⊙_{key} K / √|key|)\nC = A ⊙_{seq} V\nrelu(C) ⊙ C / (1 + A ⊙_{seq} A)"
    statements = {}
    for library in ("numpy", "torch", "jax", "loops"):
        body = nt.to_python(text, library, words, style="readable").partition("def function(")[2]
        statements[library] = re.findall(r"^    (\w+) = ", body, re.MULTILINE)
    assert statements["numpy"] == statements["torch"] == statements["jax"] == ["scores", "A", "C"]
    assert statements["loops"] == ["scores", "A", "C", "result"]


@pytest.mark.parametrize(("text", "lines"), [
    ("∑_{a} x", ["total = 0", "for a in range(3):", "    total += x[a]", "return total"]),
    ("(∑_{a} x) / |a|", ["total = 0", "for a in range(3):", "    total += x[a]", "return total / 3"]),
    ("x_{a→b}", ["return x"]),
    ("x_{a(2)}", ["return x[1]"]),
    ("m = max_{a} x\nx - m", [
        "m = -math.inf", "for a in range(3):", "    m = max(m, x[a])", "result = [0.0] * 3  # a", "for a in range(3):",
        "    result[a] = x[a] - m", "return result"]),
])  # fmt: skip
def test_loops_are_as_one_writes_them(text, lines):
    code = nt.to_python(text, "loops", x="ℝ^{a[3]}")
    assert code.partition("def function(x):\n")[2].splitlines() == [f"    {line}" for line in lines]


def test_loops_are_always_readable():
    assert nt.to_python("∑_{a} X", "loops", X="ℝ^{a[3]}") == nt.to_python(
        "∑_{a} X", "loops", X="ℝ^{a[3]}", style="readable"
    )
    with pytest.raises(nt.NotationError, match="modules are supported for torch only, got loops"):
        nt.to_python("∑_{a} X", "loops", X="ℝ^{a[3]}", style="module")


def test_layers_have_readable_code():
    text = transformer.EncoderBlock.formula.to_python(
        style="readable", X="ℝ^{seq[4] × chans[8]}", sizes={"key": 2, "val": 8, "hidden": 16}
    )
    assert "LN_Q = X_1 @ W_Q + b_Q" in text or "scores = " in text
    layer = transformer.EncoderBlock.init(0, {"chans": 8, "key": 2, "val": 8, "hidden": 16})
    X = nt.tensor(np.random.default_rng(0).normal(size=(4, 8)), "seq chans")
    names = re.search(r"def function\((.*)\):", text)[1].split(", ")
    space: dict = {}
    exec(text, space)
    arrays = {identifier(name): value.array for name, value in layer.parameters.items()} | {"X": X.array}
    np.testing.assert_allclose(
        space["function"](*(arrays[name] for name in names)), layer(X).to_array(["seq", "chans"]), rtol=1e-6
    )


@pytest.mark.parametrize(("words", "message"), [
    ({"X": "ℝ^{a × b[2]}"}, "the size of axis a in X is missing"),
    ({"X": "ℝ^{a[3]}", "library": "tensorflow"}, "unknown backend 'tensorflow'"),
])  # fmt: skip
def test_readable_code_is_refused_in_a_sentence(words, message):
    library = words.pop("library", "numpy")
    with pytest.raises(nt.NotationError, match=message):
        nt.to_python("∑_{a} X", library, style="readable", **words)


def test_an_operator_without_readable_code_is_named():
    with pytest.raises(nt.NotationError, match='erf has no readable form in NumPy\n.*choose style="function"'):
        nt.to_python("erf(X)", style="readable", X="ℝ^{a[3]}")
    with pytest.raises(nt.NotationError, match='inv has no readable form as loops\n.*choose "numpy"'):
        nt.to_python("inv_{a, b}(X)", "loops", X="ℝ^{a[3] × b[3]}")


@pytest.mark.parametrize(("text", "library", "message"), [
    ("norm_{height, width}(A; 3)", "numpy", "norm has no readable form in NumPy"),
    ("∏_{height, width} A", "torch", "∏ has no readable form in PyTorch"),
    ("max(A, 2)", "torch", "torch.maximum takes tensors"),
    ("solve_{row, column}(B, w)", "numpy", "solve has no readable form in NumPy"),
    ("A_{width(I)}", "numpy", "an index that shares an axis with its tensor has no readable form"),
    ("A ⊕_{width} w_{row→width}", "numpy", "tensors of different axes that are joined have no readable form"),
    (" + ".join(f"sin(A / {n})" for n in range(2, 150)), "numpy", "more than the 400 of readable code"),
])  # fmt: skip
def test_what_has_no_readable_code_says_why(text, library, message):
    shapes = {"A": A, "B": "ℝ^{batch[2] × row[3] × column[3]}", "w": "ℝ^{row[3]}", "I": "[4]^{height[3]}"}
    with pytest.raises(UnreadableFormulaError) as caught:
        nt.to_python(text, library, shapes, style="readable")
    assert caught.value.message.endswith(message)
    assert caught.value.hint == (None if text.startswith("sin") else 'choose style="function"')


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "loops"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32"])
@pytest.mark.parametrize("text", ["u - 2", "u ⊙ u", "2 u", "-u", "u ⊙_{a} u", "abs(u)", "∑_{a} u^2"])
def test_readable_code_of_narrow_integers_does_not_overflow(text, dtype, library):
    if (library, dtype) == ("jax", "int32"):
        pytest.skip("JAX has no wider integers without x64")
    xp = pytest.importorskip({"jax": "jax.numpy", "loops": "numpy"}.get(library, library))
    numbers = np.array([1, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    namespace: dict = {}
    exec(nt.to_python(text, library, style="readable", u=nt.tensor(numbers, "a")), namespace)
    actual = namespace["function"](numbers.tolist() if library == "loops" else xp.asarray(numbers))
    np.testing.assert_allclose(actual, nt.evaluate(text, u=nt.tensor(numbers, "a")).to_numpy(), rtol=1e-15)


COLUMNS, ROWS = np.arange(1, 5), np.arange(1, 4)
WITH_CONSTANTS = {  # formulas of A, with height 3 and width 4, whose code needs arrays or numbers beside it
    "A / √|width|": lambda A: A / 2,
    "A ⊙ { 0.1 if A > 1; 0.3 otherwise }": lambda A: A * np.where(A > 1, 0.1, 0.3),
    "A ⊙ [0.1, 0.2, 0.7]_{height}": lambda A: A * np.array([[0.1], [0.2], [0.7]]),
    "A ⊙_{height} [1, 2, 3]_{height}": lambda A: ROWS @ A,
    "A + iota_{width} / 3": lambda A: A + COLUMNS / 3,
    "A^{iota_{width}} ⊙ exp(iota_{width} / 7)": lambda A: A**COLUMNS * np.exp(COLUMNS / 7),
    "A + mean_{width}(iota_{width}) / 3": lambda A: A + 2.5 / 3,
    "𝕀[A > 1] ⊙_{width} A / 3": lambda A: (A * (A > 1)).sum(1) / 3,
    "A + argmax_{width}(A) / 3": lambda A: A + (A == A.max(1, keepdims=True)) / 3,
    "max(A, iota_{width} / 3)": lambda A: np.maximum(A, COLUMNS / 3),
    "gelu_tanh(A)": lambda A: A * (1 + np.tanh(np.sqrt(2 / np.pi) * (A + 0.044715 * A**3))) / 2,
}
FLOATS = {
    "numpy": ("float16", "float32", "float64"),
    "torch": ("float16", "bfloat16", "float32", "float64"),
    "jax": ("float16", "bfloat16", "float32", "float64"),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("library", "dtype"), [(library, dtype) for library in FLOATS for dtype in FLOATS[library]])
def test_constants_of_readable_code_have_the_dtype_of_the_inputs(library, dtype):
    """PyTorch would give 0.1 the 32 bits of its default dtype, and NumPy √4 64 bits."""
    module = pytest.importorskip("jax.numpy" if library == "jax" else library)
    if library == "jax":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)  # set back by tests/conftest.py
    numbers = np.random.default_rng(0).integers(5, 30, (3, 4)) / 16  # which every dtype represents
    array = getattr(module, "tensor" if library == "torch" else "asarray")(numbers, dtype=getattr(module, dtype))
    tolerance = {"float64": 1e-14, "float32": 1e-6, "float16": 4e-3, "bfloat16": 4e-2}[dtype]
    for text, by_hand in WITH_CONSTANTS.items():
        space: dict = {}
        try:
            exec(nt.to_python(text, library, {"A": nt.tensor(array, "height width")}, style="readable"), space)
        except UnreadableFormulaError:
            assert library == "torch" and text.startswith("max(")
            continue
        actual = space["function"](array)
        assert actual.dtype == array.dtype, text
        actual = np.asarray(actual.double() if library == "torch" else actual, dtype=float)
        np.testing.assert_allclose(actual, by_hand(numbers), rtol=tolerance, atol=tolerance, err_msg=text)
