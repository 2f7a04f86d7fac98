"""What PyTorch has as one operation is found in formulas, and only there: attention, linear maps, layer norms."""

import re

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.planning.optimizations import OPTIMIZATIONS

SIZES = {
    "query": 3,
    "seq": 5,
    "ax": 5,
    "key": 4,
    "e": 2,
    "val": 3,
    "heads": 2,
    "batch": 2,
    "other": 2,
    "w": 2,
    "a": 2,
    "in": 3,
    "out": 4,
}
ATTENDED = {"Q": "query key", "K": "seq key", "V": "seq val"}
HEADS = {"Q": "heads query key", "K": "heads seq key", "V": "heads seq val"}
MAPPED = {"X": "a in", "W": "in out", "b": "out"}
NORMED = {"X": "a in"}
CALL = re.compile(r"= (?:torch\.nn\.functional\.)?((?:scaled_dot_product_attention|linear|layer_norm)\(.*\))  #")


def tensors(axes, whole=(), single=()):
    draw = np.random.default_rng(0)
    dtypes = {name: int if name in whole else np.float32 if name in single else float for name in axes}
    return {
        name: nt.tensor((2 * draw.normal(size=[SIZES[axis] for axis in order.split()])).astype(dtypes[name]), order)
        for name, order in axes.items()
    }


def kernels(formula, given):
    """The calls of such operations in the plan for PyTorch; what is merely laid out otherwise has the name of a step."""
    return CALL.findall(nt.formula(formula).to_python("torch", given))


def attended(scores):
    return f"softmax_{{seq}}({scores}) ⊙_{{seq}} V"


# The formula, the axes of what it is given, and the call.
FOUND = {
    "attention": (attended("Q ⊙_{key} K"), ATTENDED, "scaled_dot_product_attention(t1, t2, t3, scale=1.0)"),
    "divided": (attended("Q ⊙_{key} K / 2"), ATTENDED, "scaled_dot_product_attention(t1, t2, t3, scale=0.5)"),
    "times a number": (attended("(Q ⊙_{key} K) ⊙ 3"), ATTENDED, "scaled_dot_product_attention(t1, t2, t3, scale=3.0)"),
    "a number times": (attended("3 ⊙ (Q ⊙_{key} K)"), ATTENDED, "scaled_dot_product_attention(t1, t2, t3, scale=3.0)"),
    "keys first": (attended("K ⊙_{key} Q"), ATTENDED, "scaled_dot_product_attention(t1, t2, t3, scale=1.0)"),
    "values first": (
        "V ⊙_{seq} softmax_{seq}(Q ⊙_{key} K)", ATTENDED, "scaled_dot_product_attention(t1, t2, t3, scale=1.0)",
    ),
    "heads": (attended("Q ⊙_{key} K / 2"), HEADS, "scaled_dot_product_attention(t1, t2, t3, scale=0.5)"),
    "a batch of heads": (
        attended("Q ⊙_{key} K / 2"), {name: f"batch {axes}" for name, axes in HEADS.items()},
        "scaled_dot_product_attention(Q, K, V, scale=0.5)",
    ),
    "a mask": (
        attended("Q ⊙_{key} K / 2 + M"), {**ATTENDED, "M": "query seq"},
        "scaled_dot_product_attention(t1, t2, t3, t4, scale=0.5)",
    ),
    "a mask first": (
        attended("M + Q ⊙_{key} K"), {**ATTENDED, "M": "query seq"},
        "scaled_dot_product_attention(t1, t2, t3, t4, scale=1.0)",
    ),
    "a mask of the keys": (
        attended("Q ⊙_{key} K + M"), {**ATTENDED, "M": "seq"},
        "scaled_dot_product_attention(t1, t2, t3, t5, scale=1.0)",
    ),
    "a linear map": ("X ⊙_{in} W + b", MAPPED, "linear(X, t1, b)"),
    "from the left": ("b + W ⊙_{in} X", MAPPED, "linear(X, t1, b)"),
    "something else is added": ("X ⊙_{in} W + b + c", {**MAPPED, "c": "a"}, "linear(X, t1, b)"),
    "used twice": ("Z = X ⊙_{in} W + b\nZ ⊙ Z", MAPPED, "linear(X, t1, b)"),
    "over two axes": ("X ⊙_{in, e} W + b", {"X": "a in e", "W": "in e out", "b": "out"}, "linear(t1, t3, b)"),
    "to two axes": ("X ⊙_{in} W + b", {"X": "a in", "W": "in out e", "b": "out e"}, "linear(X, t2, t3)"),
    "standardized": ("standardize_{in} X", NORMED, "layer_norm(X, (3,), None, None, 1e-05)"),
    "standardized, and ε": ("standardize_{in}(X; 0.1)", NORMED, "layer_norm(X, (3,), None, None, 0.1)"),
    "standardized over two": ("standardize_{in, a} X", NORMED, "layer_norm(X, (2, 3), None, None, 1e-05)"),
    "by hand": ("(X - mean_{in} X)/√(var_{in} X + 0.1)", NORMED, "layer_norm(X, (3,), None, None, 0.1)"),
    "by hand, ε first": ("(X - mean_{in} X)/√(0.1 + var_{in} X)", NORMED, "layer_norm(X, (3,), None, None, 0.1)"),
    "by hand without ε": ("(X - mean_{in} X)/√(var_{in} X)", NORMED, "layer_norm(X, (3,), None, None, 0.0)"),
    "with weights": (
        "standardize_{in} X ⊙ g + h", {**NORMED, "g": "in", "h": "in"}, "layer_norm(X, (3,), g, h, 1e-05)",
    ),
    "weights first": (
        "h + g ⊙ standardize_{in} X", {**NORMED, "g": "in", "h": "in"}, "layer_norm(X, (3,), g, h, 1e-05)",
    ),
    "one weight of the two": ("standardize_{in} X + h", {**NORMED, "h": "in"}, "layer_norm(X, (3,), None, None, 1e-05)"),
    "weights of another axis": (
        "standardize_{in} X ⊙ g + h", {**NORMED, "g": "a", "h": "a"}, "layer_norm(X, (3,), None, None, 1e-05)",
    ),
}  # fmt: skip

NOT_FOUND = {
    "a quotient by scores": (attended("2 / (Q ⊙_{key} K)"), ATTENDED),
    "a constant is added to scores": (attended("Q ⊙_{key} K + 1"), ATTENDED),
    "the mask has an axis more": (attended("Q ⊙_{key} K + M"), {**ATTENDED, "M": "other seq"}),
    "the softmax is used twice": ("(S ⊙_{seq} V) ⊙ ∑_{seq} S\nS = softmax_{seq}(Q ⊙_{key} K)", ATTENDED),
    "the scores are used twice": ("(softmax_{seq}(S) ⊙_{seq} V) ⊙ ∑_{seq} S\nS = Q ⊙_{key} K", ATTENDED),
    "a softmax over another axis": ("softmax_{query}(Q ⊙_{key} K) ⊙_{seq} V", ATTENDED),
    "no axis of queries": (attended("Q ⊙_{key} K"), {**ATTENDED, "Q": "key"}),
    "two axes of queries": (attended("Q ⊙_{key} K"), {**ATTENDED, "Q": "heads query key"}),
    "two axes of values": (attended("Q ⊙_{key} K"), {**ATTENDED, "V": "seq val w"}),
    "no axis of values": (attended("Q ⊙_{key} K"), {**ATTENDED, "V": "seq"}),
    "two axes of keys": (attended("Q ⊙_{key, e} K"), {**ATTENDED, "Q": "query key e", "K": "seq key e"}),
    "heads of the values alone": (attended("Q ⊙_{key} K"), {**ATTENDED, "V": "heads seq val"}),
    "three axes of batches": (
        attended("Q ⊙_{key} K"), {name: f"batch other {axes}" for name, axes in HEADS.items()},
    ),
    "a scaled map": ("2 (X ⊙_{in} W) + b", MAPPED),
    "a number is added to a map": ("X ⊙_{in} W + 1", {"X": "a in", "W": "in out"}),
    "a vector is mapped": ("X ⊙_{in} W + b", {**MAPPED, "X": "in"}),
    "a map of a batch of matrices": ("X ⊙_{in} W + b", {**MAPPED, "W": "a in out"}),
    "the bias has an axis less": ("X ⊙_{in} W + b", {**MAPPED, "W": "in out e"}),
    "the bias has an axis of X": ("X ⊙_{in} W + b", {**MAPPED, "b": "a out"}),
    "another mean": ("(X - mean_{in} Y)/√(var_{in} X)", {**NORMED, "Y": "a in"}),
    "another variance": ("(X - mean_{in} X)/√(var_{in} Y)", {**NORMED, "Y": "a in"}),
    "something else is centered": ("(Y - mean_{in} X)/√(var_{in} X)", {**NORMED, "Y": "a in"}),
    "the first axis": ("standardize_{a} X", NORMED),
    "a variance over another axis": ("(X - mean_{in} X)/√(var_{a} X)", NORMED),
    "a mean is added": ("(X + mean_{in} X)/√(var_{in} X)", NORMED),
    "a sum is taken off": ("(X - ∑_{in} X)/√(var_{in} X)", NORMED),
    "no root": ("(X - mean_{in} X)/(var_{in} X)", NORMED),
}  # fmt: skip


@pytest.mark.parametrize(("formula", "axes", "call"), FOUND.values(), ids=FOUND)
def test_an_operation_of_the_library_is_found(formula, axes, call):
    assert kernels(formula, tensors(axes)) == [call]


LIBRARY = " is the library's "
LAWS = {name: row.identity.split(LIBRARY) for name, row in OPTIMIZATIONS.items() if LIBRARY in row.identity}
OF_LAWS = {
    "attention": {"Q": "query key", "K": "ax key", "M": "query ax", "V": "ax val"},
    "layer-norm": {"X": "a ax", "γ": "ax", "β": "ax"},
    "linear": {"X": "a ax", "W": "ax out", "b": "out"},
}


@pytest.mark.parametrize("name", OF_LAWS)
def test_the_law_of_such_an_operation_has_its_formula_and_its_name(name):
    formula, words = LAWS[name]
    (call,) = kernels(formula.replace("c Q", "3 Q").replace("ε", "0.1"), tensors(OF_LAWS[name]))
    assert call.startswith(re.sub("[ -]", "_", words.removesuffix(" map")) + "(")


def test_each_such_law_is_tried():
    assert LAWS.keys() == OF_LAWS.keys()


@pytest.mark.parametrize(("formula", "axes"), NOT_FOUND.values(), ids=NOT_FOUND)
def test_what_is_another_thing_is_none(formula, axes):
    assert kernels(formula, tensors(axes)) == []


@pytest.mark.parametrize(
    ("case", "whole", "single"),
    [
        ("attention", "QK", ""), ("attention", "V", ""), ("attention", "", "V"), ("a mask", "", "M"),
        ("a linear map", "X", ""), ("a linear map", "", "W"), ("a linear map", "", "b"), ("a linear map", "b", ""),
        ("standardized", "X", ""), ("with weights", "", "g"), ("with weights", "", "X"),
    ],
)  # fmt: skip
def test_all_are_floating_numbers_of_one_dtype(case, whole, single):
    formula, axes, call = FOUND[case]
    assert call not in kernels(formula, tensors(axes, whole, single))


@pytest.mark.parametrize(("formula", "axes"), [case[:2] for case in (*FOUND.values(), *NOT_FOUND.values())])
def test_they_give_what_the_steps_of_numpy_give(formula, axes):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    inputs = tensors(axes)
    theirs = {name: nt.tensor(torch.from_numpy(input_.array), input_.axes) for name, input_ in inputs.items()}
    want, got = nt.evaluate(formula, inputs), nt.evaluate(formula, theirs)
    np.testing.assert_allclose(got.to_array(want.axes).numpy(), want.array, rtol=1e-10, atol=1e-12)
