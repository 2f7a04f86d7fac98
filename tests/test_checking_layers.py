"""Layers as loops: tensors W^l, functions FFN^l and members X^l that are alike are planned once, as one step of a loop."""

import numpy as np
import pytest

import namedtensor as nt
import transformer
from benchmarks.growth import GPT2, LLAMA, SIZES, calls_of, model
from namedtensor import reference
from namedtensor.checking import loops
from namedtensor.programs.evaluate import EVALUATORS, EXECUTABLES
from namedtensor.terms import structural

MODULES = {"torch": "torch", "jax": "jax.numpy"}
RNG = np.random.default_rng(3)
L = 9
X = nt.tensor(RNG.normal(size=(2, 3)), "seq a")
GIVEN = {"X": X, "Z": nt.tensor(RNG.normal(size=(12, 3)), "time a")}
for number in range(1, L + 2):
    GIVEN[f"W^{number}"] = nt.tensor(RNG.normal(size=(3, 3)) / 2, "a a'")
    GIVEN[f"b^{{{number},1}}"] = nt.tensor(RNG.normal(size=3), "a")
    GIVEN[f"c_{number}"] = nt.tensor(RNG.normal(), "")
    GIVEN[f"γ^{number}'"] = nt.tensor(RNG.normal(size=3), "a")
    GIVEN[f"U^{number}"] = nt.tensor(RNG.normal(size=(3, number)), "a k")  # of sizes of their own
    GIVEN[f"S^{number}"] = nt.tensor(
        RNG.normal(size=(3, 3))[: 3 if number % 2 else 1].repeat(1 + 2 * (number % 2 == 0), 0), "a a'"
    )
TURNED = {
    name: nt.tensor(tensor.array.T, tensor.axes[::-1]) if name in ("W^2", "W^7") else tensor
    for name, tensor in GIVEN.items()
}
LAYER = "X^0 = X\nX^l = X^{l-1} + tanh(X^{l-1} ⊙_{a} W^l)_{a'→a}"
RNN = "h^0 = 0\nh^t = tanh(h^{t-1} ⊙ c_t + Z_{time(t)})"
# what is written -> how many loops its plan has
LAYERED = {
    f"{LAYER} for l = 1, …, 9": 1,
    f"{LAYER} for l = 1, …, 3\nX^3": 1,
    f"{LAYER} for l = 1, …, 2\nX^2": 0,
    f"{LAYER} / l for l = 1, …, 9": 1,
    f"{LAYER} + b^{{l,1}} for l = 1, …, 9\nX^9 + X^4 - X^1": 1,
    f"{LAYER} for l = 1, …, 9\nX^2 + X^9": 1,
    "f^l(x) = tanh(x ⊙_{a} W^l + 1 / l)_{a'→a} + b^{l,1}\nX^0 = X\nX^l = f^l(X^{l-1}) for l = 1, …, 9": 1,
    "f^l(x) = y^l ⊙ y^l\ny^l = tanh(x ⊙_{a} W^l)_{a'→a}\nX^0 = X\nX^l = f^l(X^{l-1}) + f^{l+1}(X) for l = 1, …, 9": 1,
    "f^m(x) = ∑_{l=1}^{2} x ⊙ c_l + γ^{m'}\nX^0 = X\nX^l = f^l(X^{l-1}) / 9 for l = 1, …, 9": 1,
    "X^{10} = X\nX^l = tanh(X^{l+1} ⊙_{a} W^l)_{a'→a} ⊙ c_{l+1} for l = 9, …, 1\nX^1": 1,
    "A^l = softmax_{seq}(X^{l-1} ⊙ γ^{l'}) for l = 1, …, 9\nX^0 = X\nX^l = X^{l-1} / 2 + A^l for l = 1, …, 9\nX^9 + A^9 + A^3": 1,
    "X^1 = X\nX^0 = 2 X\nX^l = X^{l-1} ⊙ c_l - X^{l-2} ⊙ b^{l,1} for l = 2, …, 9": 1,
    f"{RNN} for t = 1, …, 9": 1,
    f"{RNN} for t = 1, …, 9\nh^9 + h^1": 1,
    "g(x) = s^9\ns^0 = 0 x\ns^l = s^{l-1} / 2 + x ⊙ c_l for l = 1, …, 9\nX^0 = X\nX^l = X^{l-1} + g(X^{l-1}) ⊙ b^{l,1} for l = 1, …, 9": 1,
    f"{LAYER} for l = 1, …, 9\nY^0 = X^9\nY^l = Y^{{l-1}} ⊙ b^{{l,1}} for l = 1, …, 9": 2,
    "B = 2\nX^0 = X\nX^l = X^{l-1} ⊙ B^l / c_l for l = 1, …, 9": 1,  # B^l is a power
    "f^0(x) = 5 x\nf^l(x) = tanh(x ⊙_{a} W^l)_{a'→a}\nX^0 = f^0(X)\nX^l = f^l(X^{l-1}) for l = 1, …, 9": 1,
    "f_0(x) = 5 x\nf_l(x) = x / l\nX^0 = f_0(X)\nX^l = f_l(X^{l-1}) ⊙ c_l for l = 1, …, 9": 1,
    # after a layer of its own
    "f^4(x) = 5 x\nf^l(x) = tanh(x ⊙_{a} W^l)_{a'→a}\nX^0 = X\nX^l = f^l(X^{l-1}) for l = 1, …, 9": 1,
    "f_4(x) = 5 x\nf_l(x) = x / l\nX^0 = X\nX^l = f_l(X^{l-1}) ⊙ c_l for l = 1, …, 9": 1,
    # members that are not alike
    "X^0 = X\nX^l = X^{l-1} / 2 + ∑_{k} U^l for l = 1, …, 9": 0,
    "X^0 = X\nX^l = X^{l-1} / 2 + W^l_{a'(1)} for l = 1, …, 4\nX^5 = X\nX^l = X^{l-1} + W^l_{a'(2)} for l = 6, …, 9": 0,
    "X^0 = X\nX^l = X^{l-1} ⊙ W^{9 - l}_{a'(1)} for l = 1, …, 8": 0,
}  # fmt: skip


def used(formula, given=GIVEN):
    return {name: value for name, value in given.items() if name[0] in formula}


def forget():
    for cache in (EXECUTABLES, EVALUATORS):
        cache.clear()


def written_out(monkeypatch, formula, given):
    forget()
    with monkeypatch.context() as context:
        context.setattr(loops, "MIN_LOOP_LAYERS", 10**9)
        context.setattr(loops, "MIN_LOOP_STEPS", 10**9)
        result = nt.evaluate(formula, given)
    forget()
    return result


def plan_of(formula, given):
    compiled = nt.formula(formula).compile()
    compiled(values=given)
    return compiled.plan


def loops_in(plan):
    return [step for step in plan.steps if step.primitive == "loop"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("given", [GIVEN, TURNED], ids=["", "some lie otherwise"])
@pytest.mark.parametrize("formula", LAYERED)
def test_layers_give_what_they_give_written_out(formula, given, monkeypatch):
    given = used(formula, given)
    assert nt.allclose(nt.evaluate(formula, given), written_out(monkeypatch, formula, given))
    assert len(loops_in(plan_of(formula, given))) == LAYERED[formula]


@pytest.mark.parametrize("formula", [*LAYERED][::2])
def test_layers_give_what_the_definitions_give(formula):
    tensors = {name: reference.tensor(tensor.array.tolist(), tensor.axes) for name, tensor in used(formula).items()}
    exact, result = reference.evaluate(formula, tensors), nt.evaluate(formula, used(formula))
    assert np.allclose(result.to_array(result.axes), exact.to_list(result.axes))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize("formula", LAYERED)
def test_layers_are_the_same_in_each_library(formula, library):
    expected = nt.evaluate(formula, used(formula))
    xp = pytest.importorskip(MODULES[library], reason=f"{library} is not installed")
    tensors = {name: nt.tensor(xp.asarray(tensor.array), tensor.axes) for name, tensor in used(formula).items()}
    result = nt.evaluate(formula, tensors)
    assert np.allclose(np.asarray(result.to_array(expected.axes)), expected.array, rtol=1e-3, atol=1e-3)


def test_many_layers_are_scanned_by_jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    formula, n = f"{LAYER} for l = 1, …, 30", 30
    numbers = {"X": X} | {f"W^{k}": nt.tensor(RNG.normal(size=(3, 3)), "a a'") for k in range(1, n + 1)}
    tensors = {name: nt.tensor(jax.numpy.asarray(number.array), number.axes) for name, number in numbers.items()}
    expected = nt.evaluate(formula, numbers)
    assert np.allclose(np.asarray(nt.evaluate(formula, tensors).to_array(expected.axes)), expected.array, atol=1e-3)
    text = nt.formula(formula).to_python("jax", tensors)
    assert "jax.lax.scan" in text and text.count("tanh") == 1

    def loss(w):
        return nt.evaluate(formula, tensors | {"W^5": nt.tensor(w, "a a'")}).array.sum()

    gradient = jax.grad(loss)(tensors["W^5"].array)
    step = np.zeros((3, 3))
    step[1, 2] = 1e-5
    both = [nt.evaluate(formula, numbers | {"W^5": numbers["W^5"] + s * nt.tensor(step, "a a'")}) for s in (1, -1)]
    assert np.isclose(float(gradient[1, 2]), (both[0] - both[1]).array.sum() / 2e-5, rtol=1e-2)


def test_jax_differentiates_many_layers_by_looking_their_weights_up():
    """Against the same by hand; no weights are put together but their differentials."""
    jax = pytest.importorskip("jax", reason="jax is not installed")
    n, size, rng = 24, 130, np.random.default_rng(4)
    formula = f"X^l = X^{{l-1}} + tanh(X^{{l-1}} ⊙_{{a}} (v W^l))_{{a'→a}} for l = 1, …, {n}\n∑_{{a}} (X^{n})^2"
    numbers = [rng.normal(size=(size, size)).astype("float32") / 20 for _ in range(n)]
    weights = [jax.numpy.asarray(number) for number in numbers]
    x, v = rng.normal(size=size).astype("float32"), np.float32(0.7)
    compiled = nt.formula(formula).compile()

    def loss(weights, x, v):
        tensors = {f"W^{k}": nt.tensor(other, "a a'") for k, other in enumerate(weights, 1)}
        return compiled(values=tensors | {"X^0": nt.tensor(x, "a"), "v": nt.tensor(v, "")}).array

    inputs = weights, jax.numpy.asarray(x), jax.numpy.asarray(v)
    slopes = jax.jit(jax.grad(loss, (0, 1, 2))).lower(*inputs).compile()
    memory = slopes.memory_analysis()
    assert memory is None or memory.temp_size_in_bytes < 2 * sum(other.nbytes for other in weights)
    states = [x]
    for weight in numbers:
        states.append(states[-1] + np.tanh(states[-1] @ (v * weight)))
    count, of_v, of_weights = 2 * states[-1], 0.0, list[np.ndarray]()
    for state, weight in zip(reversed(states[:-1]), reversed(numbers)):
        inner = count * (1 - np.tanh(state @ (v * weight)) ** 2)
        of_weights.insert(0, v * np.outer(state, inner))
        of_v += float(inner @ (state @ weight))
        count = count + v * weight @ inner
    for leaf, expected in zip(jax.tree.leaves(slopes(*inputs)), (*of_weights, count, of_v), strict=True):
        assert np.allclose(leaf, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


def differentiated_by_jax(n, size):
    """The gradient by all weights of n layers, lowered, with the weights and the gradient's function."""
    jax = pytest.importorskip("jax", reason="jax is not installed")
    rng = np.random.default_rng(5)
    compiled = nt.formula(f"{LAYER} for l = 1, …, {n}\n∑_{{seq,a}} X^{{{n}}}").compile()
    weights = [jax.numpy.asarray(rng.normal(size=(size, size)).astype("float32") / size) for _ in range(n)]
    x = jax.numpy.asarray(rng.normal(size=(2, size)).astype("float32"))

    def loss(weights, x):
        tensors = {f"W^{k}": nt.tensor(weight, "a a'") for k, weight in enumerate(weights, 1)}
        return compiled(values=tensors | {"X": nt.tensor(x, "seq a")}).array

    slopes = jax.jit(jax.grad(loss))
    return slopes, slopes.lower(weights, x).as_text(), weights, x


def test_what_jax_compiles_for_a_gradient_has_one_layer_at_any_depth():
    """Lines of its text: one line to lay a weight beside the others, and four to give its gradient by itself."""
    short, long = (differentiated_by_jax(n, 3)[1].splitlines() for n in (3, 13))
    assert len(long) - len(short) <= 10 * 5 and sum("tanh" in line for line in long) < 4
    assert any("stablehlo.while" in line for line in long)


def test_jax_writes_a_few_layers_of_vast_weights_out_and_traces_them_once():
    """Against the same by hand: a step that is given its weights as they are runs faster than one that gets copies."""
    slopes, text, weights, x = differentiated_by_jax(8, 363)
    assert "stablehlo.while" not in text and text.count("stablehlo.tanh") <= 3  # the first, those after it, the last
    numbers, states = [np.asarray(other) for other in weights], [np.asarray(x)]
    for weight in numbers:
        states.append(states[-1] + np.tanh(states[-1] @ weight))
    count = np.ones_like(states[-1])
    for slope, state, weight in zip(slopes(weights, x)[::-1], states[-2::-1], numbers[::-1], strict=True):
        inner = count * (1 - np.tanh(state @ weight) ** 2)
        assert np.allclose(slope, state.T @ inner, rtol=1e-3, atol=1e-5)
        count = count + inner @ weight.T


def test_pytorch_differentiates_layers():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    formula = f"{LAYER} for l = 1, …, 9"
    leaf = torch.tensor(GIVEN["W^5"].array, requires_grad=True)
    tensors = {name: nt.tensor(torch.tensor(tensor.array), tensor.axes) for name, tensor in used(formula).items()}
    nt.evaluate(formula, tensors | {"W^5": nt.tensor(leaf, "a a'")}).array.sum().backward()
    step = np.zeros((3, 3))
    step[1, 2] = 1e-6
    both = [nt.evaluate(formula, used(formula) | {"W^5": GIVEN["W^5"] + s * nt.tensor(step, "a a'")}) for s in (1, -1)]
    assert np.isclose(leaf.grad[1, 2], (both[0] - both[1]).array.sum() / 2e-6, rtol=1e-5)


def test_layers_of_several_dtypes_meet_in_one():
    tensors = used("X W") | {"W^4": nt.tensor(GIVEN["W^4"].array.astype("float32"), "a a'")}
    formula = f"{LAYER} for l = 1, …, 9"
    assert nt.allclose(nt.evaluate(formula, tensors), nt.evaluate(formula, used("X W")), rtol=1e-5)


def test_a_layer_that_is_missing_is_told_of():
    tensors = {name: tensor for name, tensor in used("X W").items() if name != "W^4"}
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(f"W^l ∈ ℝ^{{a × a'}}\n{LAYER} for l = 1, …, 9", tensors)
    assert caught.value.code == 206 and "W^4" in str(caught.value)


# ----------------------------------------------------------------------------------------------------- whole models
@pytest.mark.parametrize("kind, sizes", [("GPT2", GPT2), ("Llama", LLAMA)])
def test_parameters_are_in_the_order_of_the_layers(kind, sizes):
    sizes = {**SIZES, **sizes, "L": 9}
    rolled = getattr(transformer, kind).init(0, sizes)
    plain = getattr(transformer, kind).init(0, {**sizes, "L": 2})
    assert [name for name in rolled.parameters if name.partition("^")[2][1:2] not in {*"3456789"}] == [
        *plain.parameters
    ]


def test_attention_of_each_layer_is_found_with_the_states():
    sizes = {**SIZES, **GPT2, "L": 9}
    gpt2 = transformer.GPT2.init(1, sizes)
    ids = nt.tensor([1, 2, 3, 4], "seq")
    names = ("states", *(f"A^{l}" for l in range(1, 10)))
    states, *maps = gpt2.evaluate(names, ids=ids)
    assert nt.allclose(states, gpt2.evaluate("states", ids=ids))
    for name, mapping in zip(names[1:], maps):
        assert nt.allclose(mapping, gpt2.evaluate(name, ids=ids))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(x, B^2) = h^4\nh^0 = x\nh^l = h^{l-1} ⊙ B^l for l = 1, …, 4\nf(X, 10)", 2 * 2 * 10 * 7 * 5),
        ("f(x) = h^4 + B^2\nh^0 = x\nB^2 = x\nh^l = h^{l-1} ⊙ B^l for l = 1, …, 4\nf(X)", 2 * 2 * 2 * 7 * 5 + 2),
        # each f^l has a B^2 of its own, which needs the layer before: 6, 42, 336, 2016
        ("f^l(x) = x ⊙ B^l + B^2\nB^2 = x\nh^0 = X\nh^l = f^l(h^{l-1}) for l = 1, …, 4\nh^4", 336 * 5 + 336),
    ],
)
def test_a_weight_of_one_layer_may_be_that_of_a_function(text, expected):
    values = {"X": 2.0, "B^1": 2.0, "B^2": 3.0, "B^3": 7.0, "B^4": 5.0}
    assert float(nt.evaluate(text, {name: nt.tensor(value) for name, value in values.items()})) == expected


def test_a_weight_that_a_function_defines_is_no_parameter():
    text = "B^l ∈ ℝ for l = 1, …, 4\nf(x) = h^4 + B^2\nh^0 = x\nB^2 = x\nh^l = h^{l-1} ⊙ B^l for l = 1, …, 4\nf(X)"
    assert nt.program(text).parameters(X=2.0) == dict.fromkeys(["B^1", "B^3", "B^4"], "ℝ")


@pytest.mark.parametrize("given", [(), (1, 2, 3, 4, 5, 7, 8, 9)], ids=["none", "all but one"])
def test_weights_of_layers_that_are_declared_must_be_given(given):
    text = "W^l ∈ ℝ^{a'[2] × a[2]} for l = 1, …, 9\nX^0 = X\nX^l = (W^l ⊙_{a} X^{l-1})_{a'→a} for l = 1, …, 9\nX^9"
    values = {"X": nt.tensor([1.0, 2.0], "a"), **{f"W^{l}": nt.tensor(np.eye(2), "a' a") for l in given}}
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, values)
    assert caught.value.code == 206
    assert caught.value.message == f"no value for declared name W^{6 if given else 1}"


@pytest.mark.parametrize("kind, sizes", [("GPT2", GPT2), ("Llama", LLAMA)])
def test_a_model_of_many_layers_costs_little_more_than_one_of_few(kind, sizes, monkeypatch):
    """In calls of Python functions to the first value; what grows is what makes a term and an input of each tensor."""
    monkeypatch.setattr(structural, "after_pass", [])  # no verification, which goes through all terms
    make = model(kind, {**sizes, "vocab": 11})  # of its own, lest another test has its plan already
    make(2)()
    few, many = (calls_of(make(n)) for n in (3, 96))
    assert many < 1.45 * few  # 1.38 with Python 3.13


@pytest.mark.parametrize("kind, sizes", [("GPT2", GPT2), ("Llama", LLAMA)])
def test_no_model_of_fewer_layers_costs_more(kind, sizes):
    """In calls of Python functions to the first value: three layers are typed and planned as one already.

    What the process did before may have left some of the work done.
    """
    make = model(kind, {**sizes, "vocab": 13})
    make(2)()
    *few, many = (calls_of(make(n)) for n in (3, 6, 12))
    assert max(few) < 1.05 * many


@pytest.mark.parametrize("kind, sizes", [("GPT2", GPT2), ("Llama", LLAMA)])
def test_layers_are_initialized_at_few_calls_a_tensor(kind, sizes, monkeypatch):
    """What declares a tensor is found once for its family: what is left makes a name, a term and the numbers of each."""
    monkeypatch.setattr(structural, "after_pass", [])
    result = getattr(transformer, kind)
    few, many = ({**SIZES, **sizes, "L": layers} for layers in (3, 96))
    tensors = len(result.init(0, many).parameters) - len(result.init(0, few).parameters)
    spent = calls_of(lambda: result.init(0, many)) - calls_of(lambda: result.init(0, few))
    assert spent < 12 * tensors


# ------------------------------------------------------------------------------------ members looked up by their family
DECLARED = """
X^0 = X
X^l = tanh(X^{l-1} ⊙_{a} W^{l,1}) ⊙_{b} W^{l,2} for l = 1, …, 4
W^{l,1} ∈ ℝ^{a × b}
W^{l,2} ∈ ℝ^{b × a}
"""
# what is said besides of some members -> the shape of W^{3,1} that is inferred, and the parameters there are
APART = {
    "": ("a[3] × b[5]", 8),
    "W^{3,1} = 2 W^{2,1}": (None, 7),
    "V = ∑_{b} W^{3,1} + ∑_{a} W^{3,2}_{b→a}": ("a[3] × b[5]", 8),
}


@pytest.mark.parametrize("further", APART)
def test_members_that_are_declared_together_are_parameters_each(further):
    shape, many = APART[further]
    program = nt.program(DECLARED + further)
    result = program["X^4"].init(1, {"a": 3, "b": 5}, X="ℝ^{seq[2] × a[3]}")
    assert len(result) == many and ("W^{3,1}" in result) == (shape is not None)
    if shape is not None:
        assert str(result["W^{3,1}"].shape) == f"ℝ^{{{shape}}}"


# declarations of members -> their shapes
MEMBERS = {
    "V^3 ∈ ℝ^{b}\nV^l ∈ ℝ^{a}": ["a[3]", "a[3]", "b[5]", "a[3]"],
    "V^l ∈ ℝ^{a[l]}": ["a[1]", "a[2]", "a[3]", "a[4]"],
    "V^l ∈ ℝ^{a[2 n]}\nn = 4": ["a[8]"] * 4,
}


@pytest.mark.parametrize("declared", MEMBERS)
def test_each_member_lies_in_its_own_set(declared):
    text = f"{declared}\nY^l = V^l + 0 for l = 1, …, 4\nY^4"
    result = nt.program(text).init(0, {} if "[" in declared else {"a": 3, "b": 5})
    expected = {f"V^{l}": f"ℝ^{{{shape}}}" for l, shape in enumerate(MEMBERS[declared], 1)}
    assert {name: str(value.shape) for name, value in result.items()} == expected
    inputs = {**result, "V^1": nt.tensor(np.ones(7), "a")}
    if "[" in declared:
        with pytest.raises(nt.NotationError, match="7"):
            nt.evaluate(text, inputs)
    assert nt.evaluate(text, result).sizes == result["V^4"].sizes
