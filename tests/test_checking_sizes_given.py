"""One meaning of `sizes=`, in the product and in the reference: it gives the sizes of axes of the inputs and of new axes.

At top level a contradiction is error 308. Inside a function it applies where the arguments do not say the size. After a window, a
pool or a slice the size is computed.
"""

import re

import pytest

import namedtensor as nt
from namedtensor import reference
from namedtensor.operators import REGISTRY
from namedtensor.scope.resized_axes import WINDOWS

INPUTS = {"x": ([1.0, 2.0, 3.0, 4.0], "d"), "y": ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "a")}
WINDOW = "F(U) = [unroll_{d,k}(U / (1 + iota_{d}))]_{d→q}\nout = F(2)\nout"
SUMS = "F : ℝ^{d} → ℝ\nF(U) = ∑_{d} U ⊙ iota_{d}"

# a program, the sizes that are given, and the shape of the value
COMPUTED = [
    # in a function whose arguments do not say the size
    (WINDOW, {"d": 4, "k": 2}, {"q": 3, "k": 2}),
    (WINDOW, {"d": 4, "k": 2, "q": 3}, {"q": 3, "k": 2}),
    ("F(U) = max_{k} pool_{d,k}(U iota_{d})\nF(2)", {"d": 4, "k": 2}, {"d": 2}),
    ("F(U) = max_{k} pool_{d,k}(U iota_{d})\nF(2) + F(3)", {"d": 4, "k": 2}, {"d": 2}),
    ("F(U) = (U iota_{d})_{d(2:4)}\nF(2)", {"d": 4}, {"d": 3}),
    ("F(U) = iota_{d} ⊙ U\nF(2)", {"d": 4}, {"d": 4}),
    ("F(U) = |d| U\nF(2)", {"d": 4}, {}),
    ("F(U) = G(U)\nG(V) = [unroll_{d,k}(V iota_{d})]_{d→q}\nF(2)", {"d": 4, "k": 2}, {"q": 3, "k": 2}),
    ("g_{ax}(U) = max_{k} pool_{ax,k}(U iota_{ax})\ng_{d}(2)", {"d": 4, "k": 2}, {"d": 2}),
    ("F(U) = ([3, 1]_{d} U)_{d→q}\nF(2)", {"d": 4}, {"q": 2}),
    ("F(U) = U_{a→(b,c)}\nF(y)", {"b": 2}, {"b": 2, "c": 3}),
    # in a function whose arguments say it
    (f"{SUMS}\nF(x) + F(y_{{a→d}})", {"d": 4}, {}),
    (f"{SUMS}\nF(x_{{d(1:2)}})", {"d": 4}, {}),
    ("F(U) = U ⊙ iota_{d}\nz = ∑_{k} unroll_{d,k}(x)\nF(z)", {"d": 4, "k": 2}, {"d": 3}),
    ("F(U) = iota_{d} ⊙ U\nF(x_{d(2:3)})", {"d": 4}, {"d": 2}),
    ("F(U) = |d| ∑_{k} unroll_{d,k}(U)\nF(x)", {"k": 2}, {"d": 3}),
    # at top level, after windows
    ("[unroll_{d,k}(iota_{d})]_{d→q}", {"d": 4, "k": 2}, {"q": 3, "k": 2}),
    ("unroll_{d,k}(iota_{d})", {"d": 4, "k": 2}, {"d": 3, "k": 2}),
    ("unroll_{d,k}(x)", {"d": 4, "k": 2}, {"d": 3, "k": 2}),
    ("pool_{d,k}(x)", {"d": 4, "k": 2}, {"d": 2, "k": 2}),
    ("pool_{d,k}(x)", {"k": 2}, {"d": 2, "k": 2}),
    ("z = ∑_{k} unroll_{d,k}(iota_{d})\nz |d|", {"d": 4, "k": 2}, {"d": 3}),
    ("z = ∑_{k} unroll_{d,k}(x)\nz |d|", {"d": 4, "k": 2}, {"d": 3}),
    ("z = (iota_{d})_{d(2:4)}\nz", {"d": 4}, {"d": 3}),
    ("x_{d(2:4)}", {"d": 4}, {"d": 3}),
    ("z = pool_{d,k}(y_{a→d})\n∑_{k} z", {"d": 6, "k": 2}, {"d": 3}),
    # at top level, new axes
    ("[3, 1]_{d}", {"d": 2}, {"d": 2}),
    ("y_{a→(b,c)}", {"b": 2}, {"b": 2, "c": 3}),
    ("x ⊕_{d} iota_{d}", {"d": 4}, {"d": 8}),
    ("G : ℝ → ℝ^{q}\nG(U) = U iota_{q}\nG(2)", {"q": 3}, {"q": 3}),
]  # fmt: skip

# a program, and sizes that contradict it
CONTRADICTED = [
    (WINDOW, {"d": 4, "k": 2, "q": 2}),
    (WINDOW, {"d": 4, "k": 2, "q": 4}),
    ("unroll_{d,k}(x)", {"d": 3, "k": 2}),
    ("z = x_{d(2:4)}\nz", {"d": 3}),
    ("z = pool_{d,k}(y_{a→d})\n∑_{k} z", {"d": 3, "k": 2}),
    ("F(U) = iota_{d} ⊙ U\nF(x)", {"d": 5}),
    ("F(U) = iota_{d} ⊙ U\nF(x_{d→e})", {"d": 3}),
    ("[3, 1]_{d}", {"d": 4}),
    ("F(U) = [3, 1]_{d} U\nF(2)", {"d": 4}),
    (f"{SUMS}\nF(y_{{a→d}})", {"d": 4}),
    ("G : ℝ^{d} → ℝ^{q}\nG(U) = [∑_{k} unroll_{d,k}(U)]_{d→q}\nG(x)", {"k": 2, "q": 4}),
    ("x ⊕_{d} x", {"d": 8}),
]  # fmt: skip


def inputs_of(text, tensor):
    return {name: tensor(*input_) for name, input_ in INPUTS.items() if re.search(rf"\b{name}(?!\w{{2}})", text)}


@pytest.mark.parametrize(("text", "sizes", "shape"), COMPUTED)
def test_sizes_are_those_of_inputs_and_new_axes(text, sizes, shape):
    values = inputs_of(text, nt.tensor)
    result = nt.evaluate(text, values, sizes=sizes)
    expected = reference.evaluate(text, inputs_of(text, reference.tensor), sizes=sizes)
    assert getattr(result, "sizes", {}) == expected.shape == shape
    assert nt.allclose(result, nt.tensor(expected.to_list(tuple(shape)), tuple(shape)))
    assert nt.formula(text).compile()(**values, sizes=sizes).sizes == shape
    assert nt.check(text, values, sizes=sizes).ok


@pytest.mark.parametrize(("text", "sizes"), CONTRADICTED)
def test_a_contradiction_at_top_level_is_an_error(text, sizes):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, inputs_of(text, nt.tensor), sizes=sizes)
    assert caught.value.code == 308
    with pytest.raises(nt.NotationError) as caught:
        reference.evaluate(text, inputs_of(text, reference.tensor), sizes=sizes)
    assert caught.value.code == 308


# The size of an axis that a body makes, where a caller has an axis of that name: no window of the body itself says it.
def test_a_window_says_nothing_of_the_axis_that_it_is_made_of():
    text = "F(U) = [unroll_{d,k}(U iota_{d})]_{d→q}\nF(2) + 0 ∑_{d} x"
    for result in (
        nt.evaluate(text, inputs_of(text, nt.tensor), sizes={"k": 2}).sizes,
        reference.evaluate(text, inputs_of(text, reference.tensor), sizes={"k": 2}).shape,
    ):
        assert result == {"q": 3, "k": 2}


def test_windows_are_the_operators_that_give_their_axis_another_size():
    assert {name for name, record in REGISTRY.items() if record.kind == "window"} >= WINDOWS
    for name in WINDOWS:
        result = nt.evaluate(f"{name}_{{d,k}}(x)", x=nt.tensor([1.0, 2.0, 3.0, 4.0], "d"), sizes={"k": 2})
        assert result.sizes["d"] < 4
