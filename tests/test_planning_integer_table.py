"""One rule of whole numbers on every library: a table of operators and dtypes against Python's own integers.

Where a dtype has an end (2^24, 2^31, 2^53, 2^63), a formula is evaluated just before and behind it. A result of whole numbers
is exact or an error; one of floating numbers is exact to the rounding of its dtype, which the dtypes of the inputs decide.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.checking.loops import MIN_LOOP_STEPS

LIBRARIES = ("numpy", "torch", "array_api_strict", "jax", "jax with x64")
INTEGERS = ("bool", "uint8", "int8", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
LARGEST = {"float16": 65504, "bfloat16": 3 * 10**38, "float32": 3 * 10**38, "float64": 10**308}
ENDS = (2**24, 2**31, 2**53, 2**63)
STEPS = MIN_LOOP_STEPS + 1


def recurrence(steps: int) -> str:
    return f"h^0 = 0 x\nh^t = h^{{t-1}} + x for t = 1, …, {steps}\nh^{{{steps}}}"


class Case(NamedTuple):
    """A formula, its exact value on the numbers of x along `a`, and the dtype that it has of 64-bit integers.

    `narrow` is the dtype on JAX without x64.
    """

    text: str
    exact: Callable[[list[Any]], Any]
    dtype: str
    narrow: str


def variance(x: list[Any]) -> Fraction:
    mean = Fraction(sum(x), len(x))
    return sum((element - mean) ** 2 for element in x) / len(x)


CASES = [
    Case("x + 1", lambda x: [element + 1 for element in x], "int64", "int32"),
    Case("x − 1", lambda x: [element - 1 for element in x], "int64", "int32"),
    Case("x − x", lambda x: [0 for _ in x], "int64", "int32"),
    Case("−x", lambda x: [-element for element in x], "int64", "int32"),
    Case("abs(x)", lambda x: [abs(element) for element in x], "int64", "int32"),
    *[Case(f"x − {end}", lambda x, end=end: [element - end for element in x], "int64", "int32") for end in ENDS[:1]],
    *[Case(f"𝕀[x {sign} {end}]", lambda x, end=end, holds=holds: [int(holds(element, end)) for element in x], "float64", "float32")
      for end in ENDS for sign, holds in (("<", int.__lt__), ("=", int.__eq__), ("≥", int.__ge__))],
    Case("𝕀[x = x]", lambda x: [1 for _ in x], "float64", "float32"),
    Case("max(x, 1)", lambda x: [max(element, 1) for element in x], "int64", "int32"),
    Case("max_{a} x", max, "int64", "int32"),
    Case("∑_{a} x", sum, "float64", "int32"),
    Case("cumsum_{a} x", lambda x: [sum(x[: index + 1]) for index in range(len(x))], "float64", "int32"),
    Case("x ⊙ x", lambda x: [element * element for element in x], "float64", "float32"),
    Case("x^2", lambda x: [element * element for element in x], "float64", "float32"),
    Case("x ⊙_{a} x", lambda x: sum(element * element for element in x), "float64", "float32"),
    Case("∏_{a} x", math.prod, "float64", "float32"),
    Case("x / 3", lambda x: [Fraction(element, 3) for element in x], "float64", "float32"),
    Case("mean_{a} x", lambda x: Fraction(sum(x), len(x)), "float64", "float32"),
    Case("var_{a} x", variance, "float64", "float32"),
    Case("std_{a} x", lambda x: math.sqrt(variance(x)), "float64", "float32"),
    Case(recurrence(MIN_LOOP_STEPS), lambda x: [MIN_LOOP_STEPS * element for element in x], "int64", "int32"),
    Case(recurrence(STEPS), lambda x: [STEPS * element for element in x], "float64", "int32"),
]  # fmt: skip
SAME = ("max_{a} x",)  # which give entries of x: their dtype stays


def library(name: str) -> tuple[Any, Any]:
    """The functions of a library, and a context in which it has 64 bits or not."""
    xp = pytest.importorskip("jax.numpy" if "jax" in name else name, reason=f"{name} is not installed")
    if "jax" not in name:
        return xp, nullcontext()
    import jax

    enable = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    return xp, enable("x64" in name)


def tensor(xp: Any, numbers: list[Any], dtype: str) -> nt.NamedTensor:
    if xp.__name__ == "torch":
        return nt.tensor(xp.tensor(numbers, dtype=getattr(xp, dtype)), "a")
    return nt.tensor(
        xp.asarray(np.array(numbers, dtype) if hasattr(np, dtype) else numbers, dtype=getattr(xp, dtype)), "a"
    )


def inputs_of(dtype: str) -> list[list[Any]]:
    """Numbers about the ends that a dtype of whole numbers reaches."""
    if dtype == "bool":
        return [[True, False, True]]
    info = np.iinfo(dtype)
    near = [end + away for end in ENDS for away in (-2, -1, 0, 1, 3) if end + away <= info.max]
    near += [-number for number in near if info.min < 0] + [int(info.max), int(info.min)]
    return [
        [3, 0, 1],
        *([number, 1, 2] for number in near),
        *([number, number + 2] for number in near if number + 2 <= info.max),
    ]


def entries(actual: Any) -> list[Any]:
    array = actual.array
    if type(array).__module__.startswith("torch"):
        return [item.item() for item in array.reshape(-1)]
    return np.asarray(array).reshape(-1).tolist()


def is_right(entry: Any, exact: Any, dtype: str, scale: Any) -> bool:
    """Exact where whole, else as near as some roundings of the largest number that takes part."""
    if dtype not in BITS:
        return entry == exact
    off = Fraction(16) * max(abs(Fraction(scale)), abs(Fraction(exact))) / 2 ** BITS[dtype]
    small = abs(Fraction(scale)) <= 2 ** (BITS[dtype] // 2 - 4)
    return abs(Fraction(entry) - Fraction(exact)) <= (off / 4 if small else off)


@pytest.mark.sampled(12)
@pytest.mark.filterwarnings("ignore::namedtensor.NotationWarning")
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text.splitlines()[-1])
@pytest.mark.parametrize("name", LIBRARIES)
def test_integers_are_exact_or_refused(name, case, dtype):
    xp, context = library(name)
    if name == "jax" and dtype == "int64":
        pytest.skip("JAX has none without x64")
    with context:
        known = set()
        for numbers in inputs_of(dtype):
            exact = case.exact([int(number) for number in numbers])
            exact = exact if isinstance(exact, list) else [exact]
            whole = 2**31 if name == "jax" else 2**63
            try:
                name_of_input = "B" if dtype == "bool" else "x"
                text = f"{case.text}\nx = 𝕀[B]" if dtype == "bool" else case.text
                result = nt.evaluate(text, {name_of_input: tensor(xp, numbers, dtype)})
            except nt.NotationError as error:
                assert error.code == 405 and "integer overflow" in str(error), (numbers, error)
                partial = exact if "cumsum" not in case.text else [*exact, *numbers]
                assert any(not -whole <= item < whole for item in partial), numbers
                continue
            type_name = str(result.dtype).rpartition(".")[2]
            known.add(type_name)
            largest = max(abs(int(number)) for number in numbers)
            scale = largest if type_name == "float64" or "x" not in case.text else largest
            scale = max(scale, *(abs(item) for item in exact)) if not case.text.startswith("var") else scale**2
            for entry, value in zip(entries(result), exact, strict=True):
                assert is_right(entry, value, type_name, scale), (numbers, entries(result), exact)
        assert len(known) == 1, "the dtype depends on values"
        if dtype == "int64":
            assert known == {case.dtype}
        if dtype == "int32" and name == "jax":
            assert known == {case.narrow}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("text", [case.text for case in CASES if "𝕀" not in case.text and "x^2" not in case.text])
def test_floats_keep_their_dtype(name, dtype, text):
    xp, context = library(name)
    with context:
        if not hasattr(xp, dtype) or (name == "jax" and dtype == "float64"):
            pytest.skip("the library has no such dtype")
        result = nt.evaluate(text, x=tensor(xp, [1.0, 2.0, 4.0], dtype))
        assert str(result.dtype).rpartition(".")[2] == dtype


HALVES = [("numpy", "float16"), ("torch", "float16"), ("torch", "bfloat16"), ("jax", "float16"), ("jax", "bfloat16")]
LONG = {
    "(∑_{a} x) / |a|": lambda x: x.mean(),
    "x ⊙ |a| / 100000": lambda x: x * len(x) / 100000,
    "∑_{a} (x / |a|)": lambda x: x.mean(),
    "x / 0.00000001 ⊙ 0.00000001": lambda x: x,
    "(x + 100000) / 100000": lambda x: (x + 100000) / 100000,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "dtype"), HALVES)
@pytest.mark.parametrize("text", LONG)
def test_sizes_beyond_half_precision_take_part_in_single(name, dtype, text):
    xp, _ = library(name)
    numbers = np.full(70000, 0.25)
    result = nt.evaluate(text, x=tensor(xp, numbers.tolist(), dtype))
    assert str(result.dtype).rpartition(".")[2] == dtype
    expected = np.broadcast_to(LONG[text](numbers), (len(entries(result)),))
    if "∑" in text:  # the sum itself is one of half precision
        assert entries(result)[0] == pytest.approx(expected[0], rel=0.3)
    else:
        np.testing.assert_allclose(entries(result), expected, rtol=2 ** -(BITS[dtype] - 3))


# ------------------------------------------------------------------------------------------------ JAX without 64 bits
def warnings_of(run: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as warning_messages:
        warnings.simplefilter("always")
        run()
    return [str(warning_message.message) for warning_message in warning_messages]


@pytest.mark.parametrize(("text", "is_rounded"), [("x ⊙ x", True), ("mean_{a} x", True), ("x + 1", False), ("∑_{a} x", False),
                                                  ("u / 255", False), ("(u ⊙ u)_{a(1)}", False), ("mean_{a} u", False)])  # fmt: skip
def test_jax_without_x64_warns_where_integers_become_floats(text, is_rounded):
    xp, context = library("jax")
    with context:
        values = {"x": tensor(xp, [1, 2] * 8, "int32"), "u": tensor(xp, [1, 2] * 8, "uint8")}
        program = nt.program(f"(({text}))")  # which no test has planned before
        tensors = {name: value for name, value in values.items() if name in text}
        first, second = warnings_of(lambda: program(values=tensors)), warnings_of(lambda: program(values=tensors))
    message = "JAX without jax_enable_x64 rounds integers beyond 16777216 here: they become float32"
    assert first == [message] * is_rounded and not second


@pytest.mark.parametrize("reduction", ["∑", "cumsum"])
def test_jax_without_x64_keeps_integers_that_are_bounded_after_a_checked_sum(reduction):
    xp, context = library("jax")
    with (
        context
    ):  # the sum of 40000 numbers of 16 bits may be beyond 32 bits, so that it is checked; it is not negative
        result = nt.evaluate(f"min({reduction}_{{a}} x, 5)^2", x=nt.tensor(xp.ones(40000, "uint16"), "a"))
    assert result.dtype == xp.int32 and np.asarray(result.array).max() == 25


@pytest.mark.parametrize("text", ["x + 1", "−x", "∑_{a} x", "cumsum_{a} x", recurrence(STEPS), recurrence(5)])
def test_jax_warns_once_where_it_traces_what_it_would_check(text):
    xp, context = library("jax")
    import jax

    with context:
        program = nt.program(text)
        function = jax.jit(lambda x: program(x=nt.tensor(x, "a")).array)
        array = xp.asarray([1000003, -5], dtype="int32")
        messages = warnings_of(lambda: function(array))
        assert ["not checked for overflow" in message for message in messages] == [True]
        assert not warnings_of(lambda: function(array + 1))
        assert np.array_equal(function(array), program(x=nt.tensor(array, "a")).array)
        with pytest.raises(nt.NotationError, match=r"integer overflow: exceeds int32 \(maximum 2147483647\)"):
            program(
                x=nt.tensor(
                    xp.asarray([2**31 - 1, 2**31 - 1] if "−" not in text else [-(2**31), 1], dtype="int32"), "a"
                )
            )
