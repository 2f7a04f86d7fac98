"""Derivatives: every operator against differences, whole programs against PyTorch, lifting against the loop over records."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ways import WAYS, going

import namedtensor as nt
from grammar.errors import NotationError
from grammar.parser import parse
from grammar.printer import to_latex, to_text
from namedtensor import reference
from namedtensor.operators import REGISTRY
from namedtensor.operators.prelude import load_definitions


@pytest.fixture(params=WAYS)
def way(request):
    with going(request.param):
        yield


def test_there_are_two_ways():
    """The same formula with the same tensors is planned anew for each."""
    text, tensors, result = "∂(exp X)/∂X*", {"X": drawn("a[3]")}, []
    for other in WAYS[:2]:
        with going(other):
            result.append(nt.evaluate(text, tensors).axes)
    assert result == [("a*", "a"), ("a", "a*")]


def drawn(shape: str, seed: int = 0, positive: bool = False) -> nt.NamedTensor:
    """A tensor of a[2] b[3]."""
    pairs = [part.rstrip("]").split("[") for part in shape.split()]
    array = np.random.default_rng(seed).normal(size=[int(size) for _, size in pairs])
    return nt.tensor(np.abs(array) + 0.5 if positive else array, [name for name, _ in pairs])


def by_differences(text: str, given: dict, by: str, sizes=None, step: float = 1e-5) -> np.ndarray:
    """The derivative, its axes those of the value in order of their names, then those of `by` in its own order."""
    at = given[by]

    def value(array):
        result = nt.evaluate(text, {**given, by: nt.tensor(array, at.axes)}, sizes=sizes)
        return result.to_array(sorted(result.axes)).astype(float)

    columns = []
    for index in np.ndindex(at.array.shape):
        above, below = at.array.copy(), at.array.copy()
        above[index] += step
        below[index] -= step
        columns.append((value(above) - value(below)) / (2 * step))
    stacked = np.stack(columns, axis=-1) if columns[0].ndim else np.array(columns)
    return stacked.reshape(*columns[0].shape, *at.array.shape)


def check(text: str, given: dict, by: str = "X", sizes=None, close: float = 1e-6) -> None:
    value = nt.evaluate(text, given, sizes=sizes)
    result = nt.evaluate(f"∂({text})/∂{by}*", given, sizes=sizes)
    axes = (*sorted(value.axes), *(f"{axis}*" for axis in given[by].axes))
    assert set(result.axes) == set(axes)
    np.testing.assert_allclose(result.to_array(axes), by_differences(text, given, by, sizes), rtol=close, atol=close)


# ------------------------------------------------------------------------------------------------- every operator
MATRIX, SQUARE = "a[2] b[3]", "a[3] b[3]"
ONE = [
    *(f"{name} X" for name in "exp sin cos tan tanh sinh cosh gelu gelu_tanh silu softplus erf σ abs sign floor ceil relu".split()),
    "log X", "√X", "−X", "X^3", "X^{−1.5}", "X^0", "2^X", "1 / X", "X / 3", "5 − X", "2 X X", "|X|", "clip(X, −0.5, 0.5)",
    "max(X, 0.1)", "min(X, X^2)", "where(X > 0, X^2, 3 X)", "{ X^2 if X > 0; sin X otherwise }", "𝕀[X > 0] ⊙ X",
    "∑_{a} X", "∑_{a,b} X^2", "∏_{a} X", "∏_{a,b} X", "mean_{b} X", "mean_{a,b}(X^2)", "var_{a,b} X", "std_{b} X", "norm_{b} X",
    "norm_{a,b}(X; 1)", "norm_{b}(X; 3)", "logsumexp_{b} X", "max_{b} X", "min_{a,b} X",
    "nansum_{b} X", "nanmean_{a,b} X", "nanmin_{b} X", "nanmax_{a,b} X", "nanvar_{b} X", "nanvar_{b}(X; 1)", "nanstd_{a,b}(X; 1)",
    "var_{b}(X; 1)", "std_{a,b}(X; 1)", "fillna(X, 2) ⊙ X", "fillna(0 / 0, X^2)", "𝕀[isnan(X)] ⊙ X",
    "softmax_{b} X", "softmax_{a,b} X", "logsoftmax_{b} X", "standardize_{b} X", "standardize_{a,b}(X; 0.1)",
    "argmax_{b} X", "cumsum_{b} X", "cumprod_{b} X", "sort_{b} X",
    "X_{a→c}", "X_{(a,b)→c}", "X_{b→(c,d)}", "X_{a(1)}", "X_{b(2), a(2)}", "[X^2]_{b→b'}", "X ⊕_{b} X^2", "stack_{c}(X, X^2)",
    "[∑_{a,b} X, 2]_{c}", "cummax_{b} X", "cummin_{b} X", "median_{b} X", "quantile_{b}(X; 0.3)", "diag_{b,s} X", "argsort_{b} X",
    "mod(X, 0.3)", "mod(3, X)", "arctan X", "elu(X)", "leaky_relu(X)", "logsigmoid(X)", "expm1 X", "log1p(X^2)", "round X",
    "lgamma X", "digamma X", "polygamma X", "polygamma(X; 2)", "Γ(X)", "(X^2)!", "binom(X^2 + 2, 1.5)", "binom(5, X^2)",
    "unroll_{b,k} X", "unroll_{b,k} X ⊙_{k} W", "pool_{b,j} X", "maxk_{b,k} X", "argmaxk_{b,k} X",
    "X ⊙_{a} X_{b→c}", "X ⊙ X", "X ⊙_{a,b} X", "X + ∑_{b} X", "X_{b(I)}", "index_{b}(X, I)", "∑_i X_{b(i)}^2", "Y ⊙_{b} exp X",
]  # fmt: skip
POSITIVE = {"log X", "√X", "X^{−1.5}", "1 / X"}
SIZES = {"k": 2, "j": 3, "d": 3}
ASIDE = {"W": drawn("k[2]", 5), "I": nt.tensor([3, 1, 3, 2], "c"), "Y": drawn("b[3]", 6)}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", ONE)
def test_operators_of_one(text, way):
    tensors = {"X": drawn(MATRIX, 1, text in POSITIVE)}
    tensors |= {name: tensor for name, tensor in ASIDE.items() if name in text}
    check(text, tensors, sizes={name: size for name, size in SIZES.items() if name in re.findall(r"\w+", text)})


@pytest.mark.parametrize("text", ["det_{a,b} X", "inv_{a,b} X", "trace_{a,b} X", "inv_{a,b} X ⊙_{b} Y"])
def test_functions_of_a_matrix(text, way):
    check(text, {"X": drawn(SQUARE, 2), **({"Y": ASIDE["Y"]} if "Y" in text else {})})


TWO = [
    "X + Y", "X − Y", "X Y", "X ⊙ Y", "X ⊙_{b} Y", "X / Y", "X^Y", "max(X, Y)", "min(X, Y)", "where(Z > 0, X, Y)",
    "clip(Z, X, Y)", "X ⊕_{b} Y", "stack_{c}(X, Y)", "[∑_{a,b} X, ∑_{b} Y; 1, X_{a(1), b(1)}]_{c, d}",
    "{ X if Z > 0.3; Y if Z > −0.3; X Y otherwise }", "{ X if Z > 0; Y if Z ≤ 0 }", "softmax_{b}(X + Y) ⊙_{b} Y",
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("by", ["X", "Y"])
@pytest.mark.parametrize("text", TWO)
def test_operators_of_two(text, by, way):
    tensors = {"X": drawn(MATRIX, 1, True), "Y": drawn("b[3]", 2, True), "Z": drawn(MATRIX, 3)}
    check(text, {name: tensor for name, tensor in tensors.items() if name in text}, by)


def test_every_operator_has_a_differential():
    """But for those that only make tensors, and what is written by rules of terms."""
    without = {record.name for record in REGISTRY.values() if not record.differentials} - {*load_definitions()}
    assert without == {"iota", "I", "ones", "index", "⊕", "stack"}


def test_a_zero_in_a_product():
    X = nt.tensor([2.0, 0.0, 3.0], "a")
    assert nt.evaluate("∂(∏_{a} X)/∂X*", X=X).to_array().tolist() == [0, 6, 0]
    result = nt.evaluate("∂(cumprod_{a} X)/∂X*", X=X).to_array("a a*").tolist()
    assert result == [[1, 0, 0], [0, 2, 0], [0, 6, 0]]
    assert nt.evaluate("∂(∑_{a} X^2)/∂X*", X=X).to_array().tolist() == [4, 0, 6]


def test_a_norm_of_nothing_grows_in_no_direction():
    X = nt.tensor([[0.0, 0.0], [3.0, 4.0]], "a b")
    np.testing.assert_allclose(nt.evaluate("∂(∑_{a} norm_{b} X)/∂X*", X=X).to_array("a* b*"), [[0, 0], [0.6, 0.8]])


def test_ties_share():
    X = nt.tensor([2.0, 2.0, 1.0], "a")
    assert nt.evaluate("∂(max_{a} X)/∂X*", X=X).to_array().tolist() == [0.5, 0.5, 0]
    assert nt.evaluate("∂ max(x, y)/∂x", x=1.0, y=1.0).item() == 0.5


# ------------------------------------------------------------------------------------------------ whole programs
NETWORK = """
    loss = mean_{batch}(−∑_{class} T ⊙ logsoftmax_{class} O)
    O = W^2 ⊙_{hidden} H + b^2
    H = standardize_{hidden}(gelu(W^1 ⊙_{in} X + b^1))
    W^1 ∈ ℝ^{hidden × in}
    b^1 ∈ ℝ^{hidden}
    W^2 ∈ ℝ^{class × hidden}
    b^2 ∈ ℝ^{class}
"""
SHAPES = {"X": "batch[4] in[3]", "T": "batch[4] class[2]", "W^1": "hidden[5] in[3]", "b^1": "hidden[5]",
          "W^2": "class[2] hidden[5]", "b^2": "class[2]"}  # fmt: skip


def network_in_torch(given):
    import torch
    from torch.nn.functional import gelu, layer_norm, log_softmax

    t = {name: torch.tensor(value.array, requires_grad=True) for name, value in given.items()}
    hidden = layer_norm(gelu(t["X"] @ t["W^1"].T + t["b^1"]), (5,), eps=1e-5)
    loss = -(t["T"] * log_softmax(hidden @ t["W^2"].T + t["b^2"], -1)).sum(-1).mean()
    loss.backward()
    return loss.item(), {name: value.grad.numpy() for name, value in t.items()}  # type: ignore


def test_the_gradient_of_a_loss_by_every_parameter(way):
    pytest.importorskip("torch")
    tensors = {name: drawn(shape, number) for number, (name, shape) in enumerate(SHAPES.items())}
    loss, gradients = network_in_torch(tensors)
    statements = "\n".join(f"D_{number} = ∂loss/∂{name}*" for number, name in enumerate(SHAPES))
    program = nt.program(f"{NETWORK}\n{statements}\nloss")
    assert np.isclose(float(program(values=tensors)), loss)
    for number, name in enumerate(SHAPES):
        result = program[f"D_{number}"](values=tensors)
        np.testing.assert_allclose(
            result.to_array([f"{axis}*" for axis in tensors[name].axes]), gradients[name], atol=1e-10
        )


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_derivatives_in_other_libraries(library):
    xp = pytest.importorskip({"torch": "torch", "jax": "jax.numpy"}[library])
    text = "∂(softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V)/∂K*"
    tensors = {"Q": drawn("query[2] key[3]", 1), "K": drawn("seq[4] key[3]", 2), "V": drawn("seq[4] val[2]", 3)}
    right = nt.evaluate(text, tensors)
    there = {name: nt.tensor(xp.asarray(tensor.array), tensor.axes) for name, tensor in tensors.items()}
    result = nt.evaluate(text, there)
    order = sorted(right.axes)
    np.testing.assert_allclose(np.asarray(result.to_array(order)), right.to_array(order), atol=1e-5)


def test_a_derivative_stands_alone_as_source():
    formula = nt.formula("f(X) = ∂(∑_{a} X^3)/∂X*")
    space: dict = {}
    exec(formula.to_python("numpy", X="ℝ^{a[3]}"), space)
    np.testing.assert_allclose(space["function"](np.array([1.0, 2.0, 3.0], "float32")), [3, 12, 27])


# ----------------------------------------------------------------------------------------- what is taken by what
def test_by_a_defined_name():
    """Y counts where it is named, and what equals it does not."""
    A, X = drawn("b[3] a[2]", 1), drawn("a[2]", 2)
    text = "Y = A ⊙_{a} X\nL = ∑_{b} Y^2 + ∑_{b} (A ⊙_{a} X)\n∂L/∂Y*"
    result = nt.evaluate(text, A=A, X=X)
    np.testing.assert_allclose(result.to_array(), 2 * A.array @ X.array)


def test_by_a_parameter_whatever_it_is_called_outside():
    T = drawn("a[3]", 1)
    program = nt.program("f(X) = ∂(X ⊙_{a} T)/∂X*\nf(T) + 0 f([T]_{a→a})")
    np.testing.assert_allclose(program(T=T).to_array(), T.array)


def test_by_an_argument_that_is_a_rename():
    T = drawn("c[3]", 1)
    result = nt.evaluate("f(X) = ∂(∑_{b} X_{a→b}^2)/∂X*\nf(T_{c→a})", T=T)
    np.testing.assert_allclose(result.to_array("a*"), 2 * T.array)


def test_numbers():
    assert nt.evaluate("∂(x^3)/∂x", x=2.0).item() == 12
    assert nt.evaluate("∂(x y)/∂x", x=2.0, y=2.0).item() == 2
    assert nt.evaluate("∂(x^2)/∂x", x=2).item() == 4
    assert nt.evaluate("∂(3 y)/∂x", x=2.0, y=2.0).item() == 0
    assert nt.evaluate("f(x) = ∂(sin x)/∂x\nf(0)").item() == 1
    assert nt.evaluate("∂(x^0 + x^1)/∂x", x=0.0).item() == 1


def test_what_does_not_depend():
    X, Y = drawn("a[2]"), drawn("b[3]")
    result = nt.evaluate("∂(Y^2)/∂X*", X=X, Y=Y)
    assert result.sizes == {"b": 3, "a*": 2} and not result.array.any()
    assert nt.evaluate("∂(floor Y)/∂Y*", Y=Y).array.any() == False  # noqa: E712


def test_second_derivatives():
    X = drawn("a[3]", 1)
    result = nt.evaluate("∂(∂(∑_{a} X^3)/∂X*)/∂X†", X=X)
    np.testing.assert_allclose(result.to_array("a* a†"), np.diag(6 * X.array))


def test_a_step_of_descent():
    """What a reader would write: W − η ∂L/∂W."""
    W, x = drawn("out[2] in[3]", 1), drawn("in[3]", 2)
    result = nt.evaluate("L = ∑_{out} (W ⊙_{in} x)^2\nW − 0.1 ∂L/∂W", W=W, x=x)
    expected = W.array - 0.2 * np.outer(W.array @ x.array, x.array)
    np.testing.assert_allclose(result.to_array("out in"), expected)


# --------------------------------------------------------------------------------------------------------- lifting
LIFTED = [
    ("f : ℝ^{a} → ℝ^{a* × a}", "softmax_{a} X"), ("f : ℝ^{a} → ℝ^{a*}", "X ⊙_{a} X"),
    ("f : ℝ^{a} → ℝ^{a*}", "∑_{b} (X ⊙_{a} W)^2"), ("f : ℝ^{a} → ℝ^{b × a*}", "exp(X ⊙_{a} W)"),
]  # fmt: skip


@pytest.mark.parametrize("signature, body", LIFTED)
def test_lifted_derivatives_are_those_of_each_record(signature, body, way):
    """[f(X)]_s = f(X_s): no derivative by what another record has."""
    program = nt.program(f"{signature}\nf(X) = ∂({body})/∂X*")
    X, W = drawn("batch[2] a[3] seq[2]", 1), drawn("a[3] b[2]", 2)
    tensors = {"W": W} if "W" in body else {}
    result = program["f"](X, values=tensors)
    for batch in range(2):
        for seq in range(2):
            alone = program["f"](X[{"batch": batch, "seq": seq}], values=tensors)
            order = sorted(alone.axes)
            array = result[{"batch": batch, "seq": seq}].to_array(order)
            np.testing.assert_allclose(array, alone.to_array(order), atol=1e-12)


def test_a_program_lifted_over_a_batch():
    text = "∂(softmax_{a} X)/∂X*\nX ∈ ℝ^{a}"
    X = drawn("batch[2] a[3]", 1)
    result = nt.evaluate(text, X=X)
    assert result.sizes == {"batch": 2, "a": 3, "a*": 3}
    alone = nt.evaluate(text, X=X[{"batch": 1}])
    np.testing.assert_allclose(result[{"batch": 1}].to_array("a a*"), alone.to_array("a a*"))


def test_what_is_lifted_only_beside():
    """X is one for all records of Q: the derivative is one for each."""
    program = nt.program("f : ℝ^{a} × ℝ^{a} → ℝ^{a*}\nf(Q, X) = ∂(∑_{a} Q ⊙ X^2)/∂X*")
    Q, X = drawn("batch[2] a[3]", 1), drawn("a[3]", 2)
    np.testing.assert_allclose(program["f"](Q, X).to_array("batch a*"), 2 * Q.array * X.array)


# --------------------------------------------------------------------------------------------------------- errors
ERRORS = {
    "∂(X ⊙ X)/∂(X Y)": ("112", "a derivative is taken with respect to a name"),
    "∂(X^4)/∂X^2*": ("112", "a derivative is taken with respect to a name"),
    "∂X + 1": ("405", "a differential by itself has no value"),
    "∂(∂(∑_{a} X)/∂X* ⊙ X)/∂X*": ("303", "the derivative would have axis a* twice"),
    "∂(X > 1)/∂X*": ("315", "a condition has no derivative"),
    "∂(∑_{a} X)/∂Z*": ("201", "undefined name Z"),
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text):
    number, message = ERRORS[text]
    with pytest.raises(NotationError) as exception_info:
        nt.evaluate(text, {"X": drawn("a[2]"), "Y": drawn("a[2]")})
    assert f"error {number}: {message}" in str(exception_info.value) and "^" in str(exception_info.value)


def test_python_functions_have_none():
    @nt.custom_function("twice : ℝ → ℝ")
    def twice(x):
        return 2 * x

    with pytest.raises(NotationError, match=r"no derivative rule for twice\(X\)"):
        nt.evaluate("∂(∑_{a} twice(X))/∂X*", X=drawn("a[2]"))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", [*ONE, *TWO, "det_{a,b} X", "inv_{a,b} X", "trace_{a,b} X"])
@pytest.mark.parametrize("shape", ["ℝ^{a × b}", "ℝ^{a[3] × b}", "ℝ^{a × b[3]}"])
def test_types_without_sizes(text, shape, way):
    inputs = {"X": shape, "Y": "ℝ^{b}", "Z": "ℝ^{a × b}", "W": "ℝ^{k}", "I": "ℝ^{c}"}
    checked = nt.check(f"∂({text})/∂X*", **{name: input_ for name, input_ in inputs.items() if name in text})
    assert not checked.errors and {"a*", "b*"} <= {part.partition("[")[0] for part in checked.type[3:-1].split(" × ")}  # type: ignore


def test_a_diagram_shows_it_as_one_step():
    shown = nt.program("L = ∑_{a} (W ⊙ X)^2\nD = ∂L/∂W*\nD").diagram(W="ℝ^{a[2]}", X="ℝ^{a[2]}")
    assert "∂" in str(shown.to_svg() if hasattr(shown, "to_svg") else shown)


def test_types_without_data():
    checked = nt.check("B = ∂(softmax_{ax} X)/∂X*", X="ℝ^{ax[4] × bx}")
    assert not checked.errors and sorted(checked.type[3:-1].split(" × ")) == ["ax*[4]", "ax[4]", "bx", "bx*"]  # type: ignore
    assert nt.check("∂(X ⊙ X", X="ℝ^{a}").errors


# --------------------------------------------------------------------------------------------- against the definition
DEFINED = [
    ("∂(softmax_{a} X)/∂X*", {"X": drawn("a[3]", 1)}),
    ("∂(exp X ⊙_{a} Y)/∂X*", {"X": drawn("a[2] b[2]", 1), "Y": drawn("a[2] c[2]", 2)}),
    ("Y = X ⊙_{a} W\nL = ∑_{b} Y^2\nL + ∂L/∂Y*", {"X": drawn("a[2]", 1), "W": drawn("a[2] b[2]", 2)}),
    ("f : ℝ^{a} → ℝ^{a*}\nf(X) = ∂(∑_{a} X^3)/∂X*\nf(T)", {"T": drawn("a[2] batch[2]", 1)}),
    ("g(X) = Z X\nZ = X^2\nf(X) = ∂(∑_{a} g(X))/∂X*\nf(T)", {"T": drawn("a[2]", 1)}),
    ("h^t = tanh(w h^{t-1}) for t = 1, …, 3\nh^0 = X\n∂h^3/∂w", {"X": drawn("a[2]", 1), "w": nt.tensor(0.7)}),
    ("Y_{b(i)} = X_{a(i)}^2 + X_{a(i+1)}\nY ∈ ℝ^{b[2]}\n∂Y/∂X*", {"X": drawn("a[3]", 1)}),
    ("f : ℝ^{a} → ℝ^{a}\nf(X) = X / norm_{a} X\n∂f(T)/∂T*", {"T": drawn("a[2] b[2]", 1)}),
]  # fmt: skip


@pytest.mark.parametrize("text, given", DEFINED, ids=[text for text, _ in DEFINED])
def test_derivatives_are_the_limits_that_define_them(text, given, way):
    right = reference.evaluate(
        text, {name: reference.tensor(value.array.tolist(), value.axes) for name, value in given.items()}
    )
    result = nt.evaluate(text, given)
    assert result.sizes == right.shape
    order = tuple(right.shape)
    np.testing.assert_allclose(result.to_array(order), np.array(right.to_list(order)), atol=1e-8)


# ------------------------------------------------------------------------------------------------- as a formula
FORMULAS = [
    ("softmax_{a} X", "X", "∂softmax_a(X)/∂X*"),
    ("Y = W^1 ⊙_{a} x\nL = ∑_{b} Y^2", "W^1", "Y = W^1 ⊙_{a} x\nL = ∑_{b} Y^2\n∂L/∂W^1^*"),
    ("f : ℝ^{a} → ℝ^{b}\nf(X) = W ⊙_{a} X", "X",
     "f : ℝ^{a} → ℝ^{b}\nf(X) = W ⊙_{a} X\nf' : ℝ^{a} → ℝ^{b × a*}\nf'(X) = ∂f(X)/∂X*"),
    (r"\text{Att}(Q, K) = Q \ndot{\key} K", "K", "Att(Q, K) = Q ⊙_{key} K\nAtt'(Q, K) = ∂Att(Q, K)/∂K*"),
    ("∂(∑_{a} X^3)/∂X*", "X", "∂(∂(∑_{a} X^3)/∂X*)/∂X†"),
]  # fmt: skip


@pytest.mark.parametrize("text, by, expected", FORMULAS)
def test_the_derivative_of_a_formula_is_a_formula(text, by, expected):
    derivative = nt.derivative(text, by)
    assert derivative.to_text() == expected and nt.formula(derivative.to_latex()) == derivative


def test_it_runs_and_is_lifted():
    slope = nt.derivative("f : ℝ^{a} → ℝ^{a}\nf(X) = X^2", "X")
    X = drawn("batch[2] a[3]", 1)
    result = slope(X)
    np.testing.assert_allclose(result.to_array("batch a a*"), 2 * X.array[:, :, None] * np.eye(3))


def test_names_to_derive_by():
    with pytest.raises(NotationError, match="invalid name"):
        nt.derivative("X Y", "X Y")
    with pytest.raises(NotationError):
        nt.derivative("X Y", "1")
    with pytest.raises(
        NotationError,
        match="cannot differentiate with respect to Query: the formula uses Queries\n  hint: did you mean Queries",
    ):
        nt.derivative("Queries^2", "Query")


WRITTEN = [
    ("0.1 ∂L/∂W", "0.1 (∂L/∂W)"), ("W − 0.1 ∂(f(X))/∂X*", "W - 0.1 (∂f(X)/∂X*)"), ("A ⊙ ∂L/∂W^1*", "A ⊙ (∂L/∂W^1^*)"),
    ("−∂L/∂W", "-(∂L/∂W)"), ("∂L/∂W*/2 + 1", "(∂L/∂W*) / 2 + 1"), ("∂L/∂W^1*+1", "∂L/∂W^1^* + 1"), ("(0.1 ∂L)/∂W", "(0.1 ∂L) / ∂W"), ("∂L/∂W^{1,Q}*\n∂L/∂b_1*", "∂L/∂W^{1,Q}^*\n∂L/∂b_1^*"),
]  # fmt: skip


@pytest.mark.parametrize("text, printed", WRITTEN)
def test_how_derivatives_are_written(text, printed):
    tree = parse("f(X) = X\nY = " + text)
    assert to_text(tree).partition("Y = ")[2] == printed
    for spelling in (to_text(tree), to_text(tree, ascii=True), to_latex(tree)):
        assert parse(spelling) == tree


TWICE = [
    "exp(X ⊙_{a} W)", "∏_{a} (X + 1)", "∏_{a,b} (X W)", "cumprod_{a} (2 X)", "softmax_{a} X", "sort_{a} X^3", "norm_{a} X",
    "standardize_{a} X", "max_{a} X^2", "logsumexp_{b}(X W)", "[X_{a(1)}^2, X_{a(1)} X_{a(2)}^3]_{c}", "inv_{b,c}(M ⊙_{a} X)",
]  # fmt: skip


@pytest.mark.parametrize("text", TWICE)
def test_twice(text, way):
    """No axis of the inner derivative is taken for one of the outer."""
    tensors = {"X": drawn("a[2]", 1), "W": drawn("a[2] b[3]", 2), "M": drawn("a[2] b[3] c[3]", 3)}
    tensors = {name: tensor for name, tensor in tensors.items() if name in text}
    once = f"∂({text})/∂X*"
    result = nt.evaluate(f"∂({once})/∂X†", tensors)
    axes = (*sorted(nt.evaluate(once, tensors).axes), "a†")
    np.testing.assert_allclose(result.to_array(axes), by_differences(once, tensors, "X"), rtol=1e-5, atol=1e-5)


# ------------------------------------------------------------------------------------------------- drawn formulas
DEFINITIONS = """f : ℝ^{b} → ℝ^{b}
f(Y) = Y ⊙ (Y ⊙_{b} v)
v_{b(k)} = 1 / k
g(Y) = Y^2 / 3 + sin Y
h : ℝ^{a} → ℝ^{a}
h(Y) = softmax_{a} Y ⊙ Y
"""
PIECES = (
    "exp(0.3 #)", "softmax_{b} #", "tanh #", "# ⊙ W", "[# ⊙_{b} M]_{c→b}", "standardize_{b} #", "[#]_{a→b,b→a} N",
    "# + mean_{b} #", "cumsum_{a} #", "# / (2 + norm_{b} #)", "[[#]_{(a,b)→d}]_{d→(a,b)}", "[#]_{b(J)}", "σ # ⊙ #",
    "{ # if W > 0; #^2 otherwise }", "f(#)", "g(#)", "h(#)", "# − max_{a} #", "√(1 + #^2)", "∑_i [#]_{a(i)} + W",
)  # fmt: skip
ENDS = ("", "∑_{a} ", "mean_{a,b} ", "∑_{b} ")
DRAWN = {"X": drawn("a[3] b[3]", 1), "W": drawn("a[3] b[3]", 2), "M": drawn("b[3] c[3]", 3), "N": drawn("a[3]", 4),
         "J": nt.tensor([2, 1, 3], "b")}  # fmt: skip


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4), st.sampled_from(ENDS), st.sampled_from([True, False]))
@settings(deadline=None)
def test_derivatives_of_drawn_formulas_are_quotients_of_differences(pieces, end, reverse):
    text = "X"
    for piece in pieces:
        text = piece.replace("#", f"({text})")
        if len(text) > 400:
            break
    names = {name: tensor for name, tensor in DRAWN.items() if name == "X" or name in text}
    assume(np.abs(nt.evaluate(DEFINITIONS + text, names).array).max() < 50)
    with going("reverse" if reverse else "forward"):
        result = nt.evaluate(f"{DEFINITIONS}∂({end}({text}))/∂X*", names)
    formula = f"{DEFINITIONS}{end}({text})"
    axes = (*sorted(nt.evaluate(formula, names).axes), "a*", "b*")
    np.testing.assert_allclose(result.to_array(axes), by_differences(formula, names, "X"), rtol=1e-3, atol=1e-3)


# ------------------------------------------------------------------------------------------ equations of differentials
RULES = [
    "∂(exp X) = exp X ⊙ ∂X", "∂(X ⊙ Y) = ∂X ⊙ Y + X ⊙ ∂Y", "∂(X / Y) = (∂X ⊙ Y − X ⊙ ∂Y) / Y^2", "∂(X ⊙ Y) = ∂X ⊙ Y",
    "∂(softmax_{a} X) = softmax_{a} X ⊙ (∂X − softmax_{a} X ⊙_{a} ∂X)", "∂(A ⊙_{a} X) = A ⊙_{a} ∂X + ∂A ⊙_{a} X",
    "∂(A ⊙_{a} X) = A ⊙_{a} ∂X", "∂(X_{a→c}) = [∂X]_{a→c}", "∂(∑_{a} X) = ∑_{a} ∂X", "Z = X ⊙ X\n∂Z = 2 X ⊙ ∂X",
    "f(t) = t^3\n∂f(X) = 3 X^2 ⊙ ∂X", "∂(x^2) = 2 x ∂x", "∂(X + 3) = ∂X",
    "c = 2\n2 X ⊙ ∂(c X) = c ∂(X^2)", "∂(floor(X)) = 0 ∂X",
    "∂(X + A) = ∂X + ∂A", "Z = softmax_{a}(X ⊙ Y)\n∂Z = Z ⊙ (∂(X ⊙ Y) − Z ⊙_{a} ∂(X ⊙ Y))",
    "Z = softmax_{a}(Y ⊙ X)\n∂Z = Z ⊙ (∂(X ⊙ Y) − Z ⊙_{a} ∂(X ⊙ Y))", "Z = log(X^2 + Y^2)\n∂Z = ∂(X^2 + Y^2) / (X^2 + Y^2)",
]  # fmt: skip
CHANGING = {"X": drawn("a[3]", 1), "Y": drawn("a[3]", 2), "A": drawn("b[2] a[3]", 3), "x": 2.0}


WRONG = [
    "∂(exp X) = X ⊙ ∂X", "∂(X ⊙ Y) = ∂X ⊙ Y − X ⊙ ∂Y", "∂(X / Y) = ∂X / Y + X ⊙ ∂Y / Y", "Z = X ⊙ X\n∂Z = X ⊙ ∂X",
    "∂(softmax_{a} X) = softmax_{a} X ⊙ ∂X", "∂(A ⊙_{a} X) = A ⊙_{a} ∂X − ∂A ⊙_{a} X", "∂(x^2) = x ∂x",
    "∂(X + A) = ∂X − ∂A", "Z = softmax_{a}(X ⊙ Y)\n∂Z = Z ⊙ (∂(X ⊙ Y) + Z ⊙_{a} ∂(X ⊙ Y))", "∂(X ⊙ Y) = 0 X",
]  # fmt: skip


def of_rule(rule):
    """What a rule is checked with, for arrays and for the reference evaluator."""
    inputs = {name: value for name, value in CHANGING.items() if name in rule}
    return inputs, {
        name: input_ if name == "x" else reference.tensor(input_.array.tolist(), input_.axes)
        for name, input_ in inputs.items()
    }


@pytest.mark.parametrize("rule", RULES)
def test_equations_of_differentials_hold(rule):
    """The rules of the paper, as they stand there."""
    inputs, plain = of_rule(rule)
    assert nt.evaluate(f"{rule}\n1", inputs).item() == 1
    assert reference.evaluate(f"{rule}\n1", plain).to_list(()) == 1
    shapes = {name: "ℝ" if name == "x" else str(input_.shape) for name, input_ in inputs.items()}
    assert not nt.check(f"{rule}\n1", shapes).errors
    assert not nt.check(f"{rule}\n1", {name: shape.replace("[3]", "") for name, shape in shapes.items()}).errors


def test_equations_of_differentials_alone_are_checked_and_have_no_value():
    rule, X = "∂(X ⊙ X) = 2 X ⊙ ∂X", CHANGING["X"]
    assert not nt.check(rule, X="ℝ^{a}").errors
    with pytest.raises(NotationError, match="error 105: there is no value to compute"):
        nt.evaluate(rule, X=X)


@pytest.mark.parametrize("rule", WRONG)
def test_wrong_equations_of_differentials_do_not(rule):
    inputs, plain = of_rule(rule)
    for evaluate, values in ((nt.evaluate, inputs), (reference.evaluate, plain)):
        with pytest.raises(NotationError, match="assertion failed"):
            evaluate(f"{rule}\n1", values)


# ------------------------------------------------------------------------------------------- arguments of a function
INSIDE = [
    ("f(X) = ∂(X ⊙ s)/∂s\nf(s^2)", 9.0), ("f : ℝ → ℝ\nf(X) = ∂(X ⊙ s)/∂s\nf(s^2)", 9.0), ("f(X) = ∂(X ⊙ s)/∂s\nf(s)", 3.0),
    ("f(X) = D\nD = ∂(X ⊙ s)/∂s\nf(s^2)", 9.0), ("f(X) = g(X)\ng(t) = ∂(t ⊙ s)/∂s\nf(s^2)", 9.0),
    ("f(X) = ∂g(X)/∂s\ng(t) = t ⊙ s\nf(s^2)", 9.0), ("f(X; W) = ∂(X ⊙ W ⊙ s)/∂s\nf(s; s)", 9.0),
    ("f(X) = ∂(X ⊙ Y)/∂s\nY = s^2\nf(s)", 18.0), ("f(X) = X ⊙ s\n∂f(s^2)/∂s", 27.0), ("f(X, Y) = ∂(X ⊙ Y)/∂X\nf(s, s)", 3.0),
    ("f(X) = ∂(X ⊙ s)/∂s\n∂f(s^2)/∂s", 6.0), ("f(X, n) = ∂(X^n)/∂X\nf(s, 2)", 6.0),
]  # fmt: skip


@pytest.mark.parametrize("text, right", INSIDE)
def test_what_a_function_is_given_is_constant_inside(text, right, way):
    """A function is one of values: f(s^2) is f(Z) for what s^2 is."""
    assert nt.evaluate(text, s=3.0).item() == pytest.approx(right)
    assert reference.evaluate(text, {"s": 3.0}).to_list(()) == pytest.approx(right)
