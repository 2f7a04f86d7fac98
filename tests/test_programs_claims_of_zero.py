"""Equations whose sides are 0 but for rounding hold, in every library and dtype; those that are wrong by more do not."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference

ROWS = {"X": "n a", "Y": "n a", "W": "a b", "S": "a c", "t": "n", "u": "n"}

HOLD = (  # what is true of X, Y, W, t and u, and computed with rounding
    "∑_{n} (X − mean_{n} X) = 0", "0 = ∑_{n} (X − mean_{n} X)", "∑_{n} standardize_{n} X = 0", "∑_{n} softmax_{n} t − 1 = 0",
    "(X + Y) ⊙_{a} W − X ⊙_{a} W − Y ⊙_{a} W = 0", "∑_{a} X ⊙ Y − X ⊙_{a} Y = 0", "C = X − mean_{n} X\nmean_{n} C = 0",
    "∑_{n} (t − 3) − ∑_{n} t + 3 |n| = 0", "log ∑_{n} softmax_{n} t = 0", "exp(t) ⊙ exp(u) − exp(t + u) = 0",
    "(t^2 − u^2) − (t − u) (t + u) = 0", "sin(t)^2 + cos(t)^2 − 1 = 0", "S ⊙_{c} inv_{a,c}(S)_{a→c,c→d} − I_{a,d} = 0",
    "max_{n} (t − max_{n} t) = 0", "t / u ⊙ u − t = 0", "norm_{n}(t)^2 − t ⊙_{n} t = 0", "(1000 + t) − 1000 − t = 0",
    "logsoftmax_{n} t − t + logsumexp_{n} t = 0", "tanh t − (exp(2 t) − 1) / (exp(2 t) + 1) = 0",
)  # fmt: skip
NEAR_MISSES = (  # what is wrong by little
    "∑_{n} (X − mean_{n} X) = 0.001", "∑_{n} (X − mean_{n} X + 0.001) = 0", "∑_{n} standardize_{n} X = 0.001",
    "∑_{n} softmax_{n} t − 0.999 = 0", "(X + Y) ⊙_{a} W − X ⊙_{a} W − 1.001 Y ⊙_{a} W = 0", "mean_{n} X = 0", "sin 3.141 = 0",
    "∑_{a} X ⊙ Y − X ⊙_{a} abs Y = 0", "log(1.0001 ∑_{n} softmax_{n} t) = 0", "exp(t) ⊙ exp(u) − exp(t + u + 0.001) = 0",
    "(t^2 − u^2) − (t − u) (t + u + 0.001) = 0", "sin(t)^2 + cos(t)^2 − 1.001 = 0", "max_{n} (t − 0.999 max_{n} t) = 0",
    "t / u ⊙ u − 1.001 t = 0", "norm_{n}(t)^2 − 1.001 t ⊙_{n} t = 0", "(1000 + t) − 1000 − t = 0.01", "t − t = 0.0001",
    "0.0001 t = 0", "{ t if t > 0; 0 otherwise } = 0", "∑_{n} X − X = 0",
)  # fmt: skip
VERY_NEAR = (  # in double precision
    "∑_{n} (X − mean_{n} X) = 0.0000000001", "t − t = 0.000000000001", "(1000 + t) − 1000 − t = 0.0000000001",
    "(1000000 + t) − 1000000 = t + 0.00001", "∑_{n} softmax_{n} t − 1 = 0.0000000000001",
)  # fmt: skip


def values(library: str, dtype: str):
    generator, sizes, result = np.random.default_rng(3), {"n": 7, "a": 3, "b": 2, "c": 3}, {}
    for name, axes in ROWS.items():
        numbers = generator.normal(size=[sizes[axis] for axis in axes.split()]) + (2 if name in "tu" else 0)
        numbers = numbers.astype(dtype)
        if library == "torch":
            torch = pytest.importorskip("torch")
            numbers = torch.tensor(numbers)
        elif library == "jax":
            numbers = pytest.importorskip("jax.numpy").asarray(numbers)
        result[name] = nt.tensor(numbers, axes)
    return result


def evaluated(text: str, given) -> None:
    with_names = {name: value for name, value in given.items() if name in text}
    nt.evaluate(f"{text}\nD = 1", with_names)


LIBRARIES = (("numpy", "float64"), ("numpy", "float32"), ("torch", "float64"), ("torch", "float32"), ("jax", "float32"))


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore::namedtensor.NotationWarning")
@pytest.mark.parametrize(("library", "dtype"), LIBRARIES)
def test_an_equation_of_zero_holds_up_to_rounding(library, dtype):
    given = values(library, dtype)
    for text in HOLD:
        evaluated(text, given)


@pytest.mark.filterwarnings("ignore::namedtensor.NotationWarning")
def test_an_equation_of_zero_holds_up_to_rounding_at_every_size():
    texts = [f"S ⊙_{{c}} inv_{{a,c}}(S)_{{a→c,c→d}} − {factor} I_{{a,d}} = 0\nD = 1" for factor in (1, 1.001)]
    holds, fails = map(nt.program, texts)
    for size in (3, 4, 5, 4, 6):
        S = nt.tensor(np.random.default_rng(size).normal(size=(size, size)), "a c")
        assert float(holds(S=S)) == 1
        with pytest.raises(nt.NotationError, match="assertion failed"):
            fails(S=S)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::namedtensor.NotationWarning")
@pytest.mark.parametrize(("library", "dtype"), LIBRARIES)
def test_an_equation_that_is_wrong_by_little_does_not_hold(library, dtype):
    given = values(library, dtype)
    for text in (*NEAR_MISSES, *(VERY_NEAR if dtype == "float64" else ())):
        with pytest.raises(nt.NotationError, match="assertion failed"):
            evaluated(text, given)


def test_the_reference_evaluator_agrees():
    given = values("numpy", "float64")
    for texts, holds in ((HOLD, True), (NEAR_MISSES, False), (VERY_NEAR, False)):
        for text in texts:
            named = {name: value for name, value in given.items() if name in text}
            tensors = {
                name: reference.tensor(value.tolist(ROWS[name].split()), ROWS[name]) for name, value in named.items()
            }
            try:
                reference.evaluate(f"{text}\nD = 1", tensors)
            except nt.NotationError as problem:
                assert problem.code == 403 and not holds, text
            else:
                assert holds, text


def test_other_lengths_and_compiled_programs():
    program = nt.program("C = X − mean_{n} X\n∑_{n} C = 0\nY = C ⊙ C")
    for length in (3, 4, 5, 6, 50):
        X = nt.tensor(np.random.default_rng(length).normal(size=(length, 3)), "n a")
        assert program(X=X).sizes["n"] == length
    with pytest.raises(nt.NotationError, match="assertion failed"):
        nt.program("∑_{n} X = 0\nY = X")(X=nt.tensor([1.0, -0.999], "n"))


def test_a_recurrence_is_compared_as_before():
    text = "h^t = h^{t-1} / 2 for t = 1, …, 40\nh^0 = x\nh^{40} = 0\ny = h^{40}"
    with pytest.raises(nt.NotationError, match="assertion failed"):
        nt.evaluate(text, x=1.0)
