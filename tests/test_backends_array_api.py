"""The same operators and formulas with arrays of every library inside, equal to NumPy's; gradients flow through them."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

import namedtensor as nt


def of_numpy(array):
    return array


def of_strict(array):
    return pytest.importorskip("array_api_strict").asarray(array)


def of_torch(array):
    return pytest.importorskip("torch").asarray(array)


def of_jax(array):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray(array)


LIBRARIES = {"numpy": of_numpy, "array_api_strict": of_strict, "torch": of_torch, "jax": of_jax}
OTHERS = {name: convert for name, convert in LIBRARIES.items() if name != "numpy"}


def array_tensor(convert, axes, dtype="float64", positive=False, whole=None):
    sizes = {
        "a": 2,
        "b": 3,
        "c": 4,
        "d": 3,
        "seq": 4,
        "seq'": 3,
        "key": 2,
        "val": 3,
        "heads": 2,
        "batch": 2,
        "vocab": 5,
    }
    generator = np.random.default_rng(len(axes))
    extent = [sizes[axis] for axis in axes.split()]
    array = generator.integers(0, whole, extent) if whole else generator.normal(size=extent).astype(dtype)
    return nt.tensor(convert(np.abs(array) + 0.5 if positive else array), axes)


def same(tensor: nt.NamedTensor, want: nt.NamedTensor, library: str, rtol: float = 1e-9) -> None:
    assert tensor.sizes == want.sizes
    assert type(tensor.array).__module__.partition(".")[0].removesuffix("lib") == library, type(tensor.array)
    assert nt.allclose(tensor, want, rtol=rtol, atol=1e-12)
    if rtol < 1e-8:
        assert str(tensor.dtype).rpartition(".")[2] == str(want.dtype)


OF_ONE = (
    "exp sqrt sin cos tan tanh sinh cosh abs sign floor ceil log gelu gelu_tanh silu softplus erf sigmoid relu negative odd even"
).split()
OVER_AXES = "sum prod mean var std norm logsumexp max min softmax logsoftmax argmax argmin standardize".split()


def of_one(name, **options):
    return lambda x, y, i: getattr(nt, name)(x, **options)


def of_positive(name):
    return lambda x, y, i: getattr(nt, name)(nt.abs(x) + 0.5)


def of_two(name):
    return lambda x, y, i: getattr(nt, name)(x, y)


OF_TWO = "add subtract multiply divide max min equal not_equal less less_equal greater greater_equal".split()
CALLS = {
    **{name: of_positive(name) for name in OF_ONE},
    **{name: of_one(name, axis=("a", "c")) for name in OVER_AXES},
    **{f"{name} of one axis": of_one(name, axis="b") for name in (*OVER_AXES, "cumsum", "cumprod", "sort")},
    **{name: of_two(name) for name in OF_TWO},
    "any": lambda x, y, i: nt.any(x > 0, axis="a"), "all": lambda x, y, i: nt.all(x > 0, axis=("a", "b", "c")),
    "logical": lambda x, y, i: (x > 0) & ~(y > 0) | (y > 1), "where": lambda x, y, i: nt.where(x > 0, x, y),
    "where a number": lambda x, y, i: nt.where(x > 0, x, 0), "clip": lambda x, y, i: nt.clip(x, -0.5, y),
    "numbers": lambda x, y, i: (2 * x + 1.5 - x / 3 + 1 / (x**2 + 1)) ** 3, "power": lambda x, y, i: nt.abs(x) ** y,
    "whole numbers": lambda x, y, i: i * i + 2 * i - 1, "whole over whole": lambda x, y, i: i / (i + 1),
    "whole beside real": lambda x, y, i: i * y + i, "whole powers": lambda x, y, i: i**2,
    "dot": lambda x, y, i: nt.dot(x, y, axis="c"), "dot over two": lambda x, y, i: nt.dot(x, y, axis=("b", "c")),
    "dot of vectors": lambda x, y, i: nt.dot(x, x, axis=("a", "b", "c")), "dot in stacks": lambda x, y, i: nt.dot(x, y, axis="b"),
    "whole dot": lambda x, y, i: nt.dot(i, i.rename(d="e"), axis="a"), "concat": lambda x, y, i: nt.concat(x, y, axis="b"),
    "stack": lambda x, y, i: nt.stack(x, y, axis="copy"), "unroll": lambda x, y, i: nt.unroll(x, axis=("c", "w"), size=2),
    "pool": lambda x, y, i: nt.pool(x, axis=("c", "w"), size=2), "index": lambda x, y, i: nt.index(x, i, axis="b"),
    "index by a number": lambda x, y, i: nt.index(x, 2, axis="b"), "onehot": lambda x, y, i: nt.onehot(i, axis="vocab", size=5),
    "maxk": lambda x, y, i: nt.maxk(x, axis=("c", "k"), size=2), "argmaxk": lambda x, y, i: nt.argmaxk(x, axis=("c", "k"), size=2),
    "det": lambda x, y, i: nt.det(nt.dot(x, x.rename(b="e"), axis=("a", "c")), axis=("b", "e")),
    "inv": lambda x, y, i: nt.inv(nt.dot(x, x.rename(b="e"), axis=("a", "c")), axis=("b", "e")),
    "trace": lambda x, y, i: nt.trace(nt.dot(x, x.rename(b="e"), axis="c"), axis=("b", "e")),
    "rename, merge, split": lambda x, y, i: x.rename(a="e").merge(f=("c", "e")).split(f={"g": 4, "h": None}),
    "elements": lambda x, y, i: x[{"a": 0, "b": slice(0, 2)}], "element": lambda x, y, i: x[{"a": 0, "b": 1, "c": -1}],
    "elements by tensors": lambda x, y, i: x[{"b": i, "c": 0}], "every other": lambda x, y, i: x[{"c": slice(None, None, 2)}],
    "without axes": lambda x, y, i: nt.sum(x, axis=x.axes) * 2 - 1,
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("library", OTHERS)
def test_an_operator_is_that_of_numpy(library, name):
    def operands(convert):
        return array_tensor(convert, "a b c"), array_tensor(convert, "c b"), array_tensor(convert, "a d", whole=3)

    want = CALLS[name](*operands(of_numpy))
    for _ in range(2):
        # PyTorch's own floating numbers are single, and so are its quotients of whole ones
        single = library == "torch" and name == "whole over whole"
        same(CALLS[name](*operands(OTHERS[library])), want, library, 1e-6 if single else 1e-9)


@pytest.mark.parametrize("library", OTHERS)
def test_single_precision_stays_single(library):
    x = array_tensor(OTHERS[library], "a b", "float32")
    whole = array_tensor(OTHERS[library], "a b", whole=3)
    for tensor in (x + 1, 2.5 * x, x**2, x + whole, nt.softmax(x, axis="a"), nt.gelu(x), nt.norm(x, axis="b"), nt.dot(x, x, axis="a"),
                  nt.evaluate("2.5 X + I", X=x, I=whole), nt.evaluate("standardize_{a} X", X=x)):  # fmt: skip
        assert str(tensor.dtype).rpartition(".")[2] == "float32"


def test_rows_are_taken_by_index_in_every_library():
    for convert in OTHERS.values():
        x = array_tensor(convert, "a b c")
        with pytest.raises(nt.NotationError, match="401"):
            nt.index(x, nt.tensor(convert(np.array([0, 3])), "q"), axis="b")


@pytest.mark.parametrize("library", OTHERS)
def test_how_it_looks(library):
    tensor = nt.tensor(OTHERS[library](np.array([[1.5, 2.0]])), "a b")
    assert repr(tensor) == 'NamedTensor([[1.5, 2.0]], "a b")'
    assert str(tensor) == tensor.to_text() == "a\\b │   1  2\n────┼───────\n  1 │ 1.5  2"
    assert tensor.to_array("b a").shape == (2, 1) and np.asarray(tensor[{"a": 0}]).tolist() == [1.5, 2.0]
    assert float(tensor[{"a": 0, "b": 0}]) == 1.5 and tensor[{"a": 0, "b": 1}].item() == 2


@pytest.mark.parametrize("library", OTHERS)
def test_libraries_do_not_mix(library):
    left, right = array_tensor(of_numpy, "a b"), array_tensor(OTHERS[library], "b c")
    for run in (
        lambda: left + right,
        lambda: nt.dot(right, left, axis="b"),
        lambda: nt.evaluate("X + Y", X=left, Y=right),
    ):
        with pytest.raises(nt.NotationError, match=rf"317.* of {library}\b(?!\.)"):
            run()


# ---------------------------------------------------------------------------------------------------------------- formulas
TENSORS = {
    "Q": ("heads seq' key", {}), "K": ("heads seq key", {}), "V": ("heads seq val", {}), "X": ("batch a b", {}), "A": ("a b", {}),
    "γ": ("b", {}), "β": ("b", {}), "E": ("vocab key", {}), "I": ("seq", {"whole": 5}), "M": ("a d", {}), "x": ("b", {}),
    "P": ("b", {"positive": True}),
}  # fmt: skip
FORMULAS = {
    "attention": "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V",
    "attention with a signature": "Att : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}\n"
    "Att(Q, K, V) = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V\nAtt(Q, K, V)",
    "layer norm": "γ ⊙ standardize_{b} X + β", "layer norm by hand": "(X − mean_{b} X) / √(var_{b} X + ε)",
    "embedding": "E_{vocab(I + 1)}", "one element": "A_{a(1), b(2)}", "rename": "A_{a→a', b→b'} ⊙ A",
    "cases": "{ x if x > 0; −1 otherwise }", "mask": "{ A if A < 0 ∧ x > 0; 2 if A > 1; 0 otherwise }",
    "by elements": "B_{a(i), b(j)} = A_{a(i), b(j)} + i − 2 j\nB", "convolution": "w = [1, −2]_{kernel}\nw ⊙_{kernel} unroll_{b,kernel} X",
    "feed forward": "relu(X ⊙_{a} M) ⊙_{d} M_{a→a'}", "literal": "A + [1, 2, 3]_{b}", "a sum over an index": "∑_i A_{b(i)}",
    "concatenation": "X ⊕_{a} A", "covariance": "Z ⊙_{a} Z_{b→b'}\nZ = A − mean_{a} A", "indicator": "𝕀[A > 0] ⊙ x",
    "entropy": "−∑_b p ⊙ log p\np = softmax_b x", "powers": "P^{1/3} + P^{−1} + P²", "gelu": "gelu(X) + gelu_tanh(X)",
    "largest two": "maxk_{b,k} A",
}  # fmt: skip
SIZES = {"largest two": {"k": 2}, "convolution": {"kernel": 2}}


def values_for(formula, convert):
    return {name: array_tensor(convert, axes, **more) for name, (axes, more) in TENSORS.items() if name in formula}


def evaluated(name, convert):
    tensors = {key: value for key, value in values_for(FORMULAS[name], convert).items() if used(FORMULAS[name], key)}
    return nt.evaluate(FORMULAS[name], tensors, sizes=SIZES.get(name))


def used(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w]){name}(?![\w])", text.replace("_", " ")) is not None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("library", OTHERS)
def test_a_formula_is_that_of_numpy(library, name):
    want = evaluated(name, of_numpy)
    for _ in range(2):
        same(evaluated(name, OTHERS[library]), want, library)


# --------------------------------------------------------------------------------------------------------------- gradients
DIFFERENTIABLE = [
    "attention",
    "layer norm",
    "feed forward",
    "cases",
    "by elements",
    "convolution",
    "entropy",
    "gelu",
    "one element",
]


def slope(name, key, step=1e-6):
    """The derivative of the sum of all elements, by differences."""
    tensors = {k: v for k, v in values_for(FORMULAS[name], of_numpy).items() if used(FORMULAS[name], k)}

    def total(array):
        result = nt.evaluate(
            FORMULAS[name], {**tensors, key: nt.tensor(array, tensors[key].axes)}, sizes=SIZES.get(name)
        )
        return float(np.sum(np.sin(result.array)))

    array = tensors[key].array
    result = np.empty_like(array)
    for index in np.ndindex(array.shape):
        moved = [array.copy(), array.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        result[index] = (total(moved[0]) - total(moved[1])) / (2 * step)
    return tensors, result


def of_interest(name):
    return "Q" if name == "attention" else next(key for key in ("X", "A", "x") if used(FORMULAS[name], key))


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_flow_back_through_torch(name):
    torch = pytest.importorskip("torch")
    key = of_interest(name)
    inputs, want = slope(name, key)
    leaf = torch.asarray(inputs[key].array, copy=True).requires_grad_()
    tensors = {k: nt.tensor(leaf if k == key else torch.asarray(v.array), v.axes) for k, v in inputs.items()}
    result = nt.evaluate(FORMULAS[name], tensors, sizes=SIZES.get(name))
    nt.sum(nt.sin(result), axis=result.axes).array.backward() if result.axes else nt.sin(result).array.backward()
    np.testing.assert_allclose(leaf.grad.numpy(), want, rtol=1e-5, atol=1e-7)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("compiled", [False, True], ids=["traced", "compiled"])
def test_gradients_flow_back_through_jax(name, compiled):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    key = of_interest(name)
    inputs, want = slope(name, key)
    tensors = {k: nt.tensor(jax.numpy.asarray(v.array), v.axes) for k, v in inputs.items()}

    def total(array):
        result = nt.evaluate(
            FORMULAS[name], {**tensors, key: nt.tensor(array, inputs[key].axes)}, sizes=SIZES.get(name)
        )
        return jax.numpy.sum(jax.numpy.sin(result.array))

    gradient = jax.grad(jax.jit(total) if compiled else total)
    np.testing.assert_allclose(gradient(tensors[key].array), want, rtol=1e-5, atol=1e-7)


def test_a_traced_tensor_shows_that_it_has_no_values_yet():
    jax = pytest.importorskip("jax")
    seen = []
    jax.jit(lambda x: seen.append(repr(nt.tensor(x, "a"))) or x)(jax.numpy.zeros(3, "float32"))
    assert seen == ["NamedTensor(a[3], float32, no values yet)"]


def test_a_named_tensor_is_a_tree_of_jax():
    jax = pytest.importorskip("jax")
    x = nt.tensor(jax.numpy.asarray([[1.0, 2.0], [3.0, 4.0]]), "a b")
    doubled = jax.jit(lambda t: nt.sum(2 * t, axis="a"))(x)
    assert doubled.axes == ("b",) and doubled.array.tolist() == [8, 12]
    gradient = jax.grad(lambda t: nt.sum(t * t, axis=("a", "b")).array)(x)
    assert gradient.axes == ("a", "b") and gradient.array.tolist() == [[2, 4], [6, 8]]


def test_an_index_that_is_traced_is_taken_as_it_is():
    jax = pytest.importorskip("jax")
    x = nt.tensor(jax.numpy.asarray([10.0, 20.0, 30.0]), "a")

    def picked(at):
        return nt.index(x, nt.tensor(at, "q"), axis="a").array, nt.evaluate(
            "X_{a(I)}", X=x, I=nt.tensor(at + 1, "q")
        ).array

    for result in jax.jit(picked)(jax.numpy.asarray([2, 0])):
        assert result.tolist() == [30, 10]


# ------------------------------------------------------------------------------ what a plan computes beforehand stays
SHIFTED = "Y = X ⊙ P\nP_{a(i)} = sin(i) + SHIFT\nX ∈ ℝ^{a}"  # P needs no input, so that the plan holds it


def test_a_plan_made_while_jax_records_serves_later_calls():
    jax = pytest.importorskip("jax")
    program = nt.program(SHIFTED.replace("SHIFT", "1"))
    X = nt.tensor(jax.numpy.ones(3), "a")
    recorded = jax.jit(lambda X: program["Y"](X=X))(X)
    again = jax.jit(lambda X: program["Y"](X=X) * 2)(X)
    for result in (recorded, again / 2, program["Y"](X=X)):
        np.testing.assert_allclose(np.asarray(result.array), np.sin([1, 2, 3]) + 1, rtol=1e-6)


def test_a_plan_made_while_pytorch_infers_serves_gradients_later():
    torch = pytest.importorskip("torch")
    program = nt.program(SHIFTED.replace("SHIFT", "2"))
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    with torch.inference_mode():
        program["Y"](X=nt.tensor(x, "a"))
    program["Y"](X=nt.tensor(x, "a")).array.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.sin([1, 2, 3]) + 2, rtol=1e-6)


def test_jax_is_told_by_the_first_tensor_of_its_arrays():
    """In a process that has done nothing else."""
    pytest.importorskip("jax")
    text = "import jax, namedtensor as nt; print(len(jax.tree.leaves(nt.tensor(jax.numpy.ones(3), 'a'))[0].shape))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n" and isinstance(nt.tensor(np.ones(3), "a"), nt.NamedTensor)
    text = text.replace(")[0].shape", ")[0].axes")
    assert subprocess.run([sys.executable, "-c", text], capture_output=True, check=False).returncode
