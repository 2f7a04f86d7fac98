"""A repeated call of a layer, or of values that are bound: the value, the errors and the checks of the first call."""

import pickle

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.programs.call_cache import CachedCall
from transformer import FFN, GPT2, EncoderBlock, Layer

SIZES = {"chans": 3, "hidden": 5}


class Masked(Layer):
    notation = """
        m ∈ {0, 1}^{seq}
        Y = X ⊙ m ⊙ w + c
        X ∈ ℝ^{seq × chans}
        w ∈ ℝ^{chans}
        c ∈ ℝ
    """
    output = "Y"
    inputs = ("X", "m")


def masked() -> Masked:
    return Masked({"w": nt.tensor([1.0, 2.0, 3.0], "chans"), "c": 0.5})


def drawn(seed: int, shape: str) -> nt.NamedTensor:
    return nt.random_normal(shape, seed=seed)


@pytest.fixture
def slow_calls(monkeypatch):
    """The calls whose layouts or names were new."""
    calls, slow_path = [], CachedCall._slow_path
    monkeypatch.setattr(CachedCall, "_slow_path", lambda self, *given: calls.append(given) or slow_path(self, *given))
    return calls


def test_a_repeated_call_has_the_values_of_a_new_layer(slow_calls):
    layer = FFN.init(0, SIZES)
    shapes = ["chans[3]", "chans[3]", "chans[3]", "seq[4] chans[3]", "seq[4] chans[3]", "chans[3] seq[4]", "chans[3]"]
    given = [drawn(seed, shape) for seed, shape in enumerate(shapes)]
    results = [layer(X) for X in given]
    slow_calls.clear()
    assert all(nt.allclose(layer(X), result) for X, result in zip(given, results)) and not slow_calls
    for X, result in zip(given, results):
        assert nt.allclose(result, FFN.init(0, SIZES)(X)) and result.axes == FFN.init(0, SIZES)(X).axes


def test_other_names_are_another_call(slow_calls):
    layer, X, m = masked(), drawn(0, "seq[2] chans[3]"), nt.tensor([1, 0], "seq")
    expected = layer(X, m)
    for _ in range(2):
        slow_calls.clear()
        for result in (layer(X, m), layer(X, m=m), layer(m=m, X=X), layer(X=X, m=m)):
            assert nt.allclose(result, expected)
    assert not slow_calls
    with pytest.raises(nt.NotationError, match="expects X, m, got 3"):
        layer(X, m, m)


def test_a_repeated_call_checks_assertions(slow_calls):
    layer, X, m = masked(), drawn(0, "seq[2] chans[3]"), nt.tensor([1, 0], "seq")
    first = layer(X, m)
    slow_calls.clear()
    assert nt.allclose(layer(X, m), first) and not slow_calls
    for _ in range(2):
        with pytest.raises(nt.NotationError, match=r"value 2 is not in \{0, 1\}"):
            layer(X, nt.tensor([2, 0], "seq"))
    many = nt.tensor(np.ones(400, int), "seq")
    wrong = nt.tensor(np.r_[np.ones(399, int), -1], "seq")
    Y = drawn(1, "seq[400] chans[3]")
    assert nt.allclose(layer(Y, many), layer(Y, many))
    for _ in range(2):
        with pytest.raises(nt.NotationError, match=r"value -1 is not in \{0, 1\}"):
            layer(Y, wrong)


def test_a_parameter_given_by_a_call_is_that_of_this_call_alone():
    layer, X, m = masked(), drawn(0, "seq[2] chans[3]"), nt.tensor([1, 1], "seq")
    for factor in (1.0, 2.0, 3.0, 3.0):
        w = nt.tensor([factor] * 3, "chans")
        assert nt.allclose(layer(X, m, w=w), X * factor + 0.5)
        assert nt.allclose(layer(X, m), X * layer.parameters["w"] + 0.5)
        assert nt.allclose(layer(X, m, c=factor), X * layer.parameters["w"] + factor)


def test_a_changed_layer_repeats_nothing_of_the_first():
    layer, X = FFN.init(0, SIZES), drawn(0, "chans[3]")
    first = layer(X), layer(X)
    other = layer.replace(b_2=layer.parameters["b_2"] + 1)
    assert nt.allclose(other(X), first[1] + 1) and nt.allclose(other(X), other(X)) and nt.allclose(layer(X), first[0])
    again = pickle.loads(pickle.dumps(layer))
    assert nt.allclose(again(X), first[0])


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_layers_of_other_libraries(library, slow_calls):
    pytest.importorskip(library)
    layer, X = FFN.init(0, SIZES, dtype="float32"), drawn(0, "seq[4] chans[3]").astype("float32")
    there = layer.to(library)
    results = [there(X.to(library))]
    slow_calls.clear()
    results += [there(X.to(library)) for _ in range(2)]
    assert not slow_calls
    for result in results:
        assert nt.allclose(result.to("numpy"), layer(X), rtol=1e-5, atol=1e-6)
    if library == "jax":
        import jax

        traced = jax.jit(lambda layer, X: layer(X))
        assert nt.allclose(traced(there, X.to(library)).to("numpy"), layer(X), rtol=1e-5, atol=1e-6)
        gradient = jax.grad(lambda layer: (lambda Y: Y.array.sum())(there(X.to(library)) + layer(X.to(library))))(there)
        assert gradient.parameters["b_2"].array.tolist() == [4.0] * 3


def test_several_values_and_stacked_layers(slow_calls):
    sizes = {"L": 3, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 7, "place": 5}
    layer, ids = GPT2.init(0, sizes), nt.tensor([1, 2, 3], "seq")
    stacked = layer.stack_layers()
    for model in (layer, stacked, layer, stacked):
        one, two = model.evaluate(("X^1", "X^2"), ids)
        assert nt.allclose(one, layer.evaluate("X^1", ids)) and nt.allclose(two, layer.evaluate("X^2", ids))
        assert nt.allclose(model(ids), layer(ids))
        b = nt.ones("hidden[8]")
        assert nt.allclose(model(ids, **{"b^{2,1}": b}), layer.replace(**{"b^{2,1}": b})(ids))


def test_a_function_of_several_arguments():
    layer = EncoderBlock.init(0, {"chans": 4, "key": 4, "val": 4, "hidden": 8})
    for seed in range(3):
        X = drawn(seed, "seq[3] chans[4]")
        assert nt.allclose(layer(X), pickle.loads(pickle.dumps(layer))(X))


# ------------------------------------------------------------------------------------------------------------- bind
POWERS = nt.program("y = ∑_{i=1}^{n} x^i\nn ∈ ℕ\nx ∈ ℝ^{a}")


def powers(x, n: int) -> list[float]:
    return [sum(value**i for i in range(1, n + 1)) for value in x]


def test_bound_values_with_a_number_that_a_plan_depends_on():
    call, x = POWERS["y",].bind({"x": nt.tensor([1.0, 2.0], "a")}), (1.0, 2.0)
    for n in (2, 3, 3, 2, 5):
        for given in (nt.tensor(np.array(n), ""), n):
            assert call({"n": given})[0].to_array("a").tolist() == powers(x, n)


def test_a_bound_value_may_be_given_again():
    call = POWERS["y",].bind({"n": 3, "x": nt.tensor([1.0, 2.0], "a")})
    for x in ([3.0, 1.0], [2.0, 2.0], [2.0, 2.0]):
        assert call({"x": nt.tensor(x, "a")})[0].to_array("a").tolist() == powers(x, 3)
    assert call({})[0].to_array("a").tolist() == call({})[0].to_array("a").tolist() == powers((1.0, 2.0), 3)


def test_numbers_and_tensors_that_change_beside_bound_ones():
    call = nt.program("y = w x + n\nw ∈ ℝ^{a}\nx ∈ ℝ^{b}\nn ∈ ℝ")["y",].bind({"w": nt.tensor([1.0, 2.0], "a")})
    for x, n in (([1.0], 2.0), ([3.0], 5), ([3.0, 4.0], 5), ([5.0, 4.0], 7.0)):
        result = call({"x": nt.tensor(x, "b"), "n": n})[0]
        np.testing.assert_allclose(result.to_array("a b"), np.outer([1.0, 2.0], x) + n)


def test_what_is_bound_is_what_the_mapping_held_then():
    given = {"w": nt.tensor([1.0, 2.0], "a")}
    call = nt.program("y = w x\nw ∈ ℝ^{a}\nx ∈ ℝ")["y",].bind(given)
    given["w"] = nt.tensor([7.0, 7.0], "a")
    assert call({"x": 2.0})[0].to_array("a").tolist() == [2.0, 4.0]


def test_errors_of_a_bound_call_have_no_frames_of_the_package():
    call = nt.program("y = w x\nm ∈ {0, 1}\nw ∈ ℝ^{a}\nx ∈ ℝ^{a}\nz = x m")["y", "z"].bind({"w": nt.ones("a[2]")})
    x = nt.ones("a[2]")
    call({"x": x, "m": nt.tensor(1, "")})
    for _ in range(3):
        with pytest.raises(nt.NotationError, match="value 2 is not in") as caught:
            call({"x": x, "m": nt.tensor(2, "")})
        assert len(caught.traceback) <= 3
    with pytest.raises(nt.NotationError):
        call({"x": nt.ones("a[3]"), "m": nt.tensor(1, "")})
