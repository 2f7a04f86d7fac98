"""How the work beside the arrays grows with a text: calls of Python functions, which no other work on a machine changes.

The exponent is that of the last step: 1 where twice the text makes twice the calls.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import namedtensor as nt

BAR = 1.1  # the largest exponent
Call = Callable[[], Any]


class Curve(NamedTuple):
    """`make(n)` gives the call whose cost is counted; `sizes` are what n is on the curve, `few` in a test."""

    name: str
    make: Callable[[int], Call]
    sizes: tuple[int, ...]
    few: tuple[int, int]


def calls_of(work: Call) -> int:
    """The calls of Python functions that some work makes."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def exponent(first: tuple[int, int], second: tuple[int, int]) -> float:
    """By which power of the size the calls grow from one (size, calls) to another."""
    return math.log(second[1] / first[1]) / math.log(second[0] / first[0])


def counted(curve: Curve, sizes: Iterable[int]) -> list[tuple[int, int]]:
    """The points of a curve: sizes, and the calls of the work at each."""
    curve.make(2)()  # what is imported and read once
    return [(size, calls_of(curve.make(size))) for size in sizes]


# ---------------------------------------------------------------------------------------------------------- programs
def ones(*sizes: int, axes: str) -> Any:
    return nt.tensor(np.ones(sizes, np.float32), axes)


X = ones(4, axes="chans")
SQUARE = ones(4, 4, axes="chans chans'")


def evaluated(text: str, **further: Any) -> Call:
    return lambda: nt.evaluate(text, {"X": X, **further})


def numbers(n: int) -> range:
    return range(1, n + 1)


def flat_sum(n: int) -> Call:
    return evaluated(" + ".join(f"exp({k} X)" for k in numbers(n)))


def chain(n: int) -> Call:
    return evaluated("\n".join(["Y_0 = X", *(f"Y_{k} = Y_{k - 1} + X" for k in numbers(n)), f"Y_{n}"]))


def inside(*lines: str) -> str:
    """A program whose last line is the value of a function with these definitions at X."""
    *definitions, value = lines
    return "\n".join([f"f(Z) = {value}", *definitions, "f(X)"])


def chain_in_a_function(n: int) -> Call:
    return evaluated(inside("Y_0 = Z", *(f"Y_{k} = Y_{k - 1} + Z" for k in numbers(n)), f"Y_{n}"))


def declared_in_a_function(n: int) -> Call:
    sets = [f"W_{k} ∈ ℝ^{{chans}}" for k in numbers(n)]
    text = inside(*sets, "Y_0 = Z", *(f"Y_{k} = Y_{k - 1} ⊙ W_{k}" for k in numbers(n)), f"Y_{n}")
    return evaluated(text, **{f"W_{k}": X for k in numbers(n)})


def unused_definitions(n: int) -> Call:
    return evaluated(inside("Y_0 = Z", *(f"Y_{k} = Y_{k - 1} + Z" for k in numbers(n)), "Y_0"))


def declared(n: int) -> Call:
    sets = [f"W_{k} ∈ ℝ^{{chans}}" for k in numbers(n)]
    text = "\n".join([*sets, "Y_0 = X", *(f"Y_{k} = Y_{k - 1} ⊙ W_{k}" for k in numbers(n)), f"Y_{n}"])
    return evaluated(text, **{f"W_{k}": X for k in numbers(n)})


def functions(n: int) -> Call:
    uses = (f"f_{k}(t) = f_{k - 1}(t) + {k}" for k in numbers(n))
    return evaluated("\n".join(["f_0(t) = t + 1", *uses, f"f_{n}(X)"]))


def sizes_in_a_chain(n: int) -> Call:
    sets = [f"W_{k} ∈ ℝ^{{a_{k}[d_{k}] × a_{k + 1}[d_{k + 1}]}}" for k in numbers(n)]
    text = "\n".join([*sets, "Y_1 = V", *(f"Y_{k + 1} = Y_{k} ⊙_{{a_{k}}} W_{k}" for k in numbers(n)), f"Y_{n + 1}"])
    inputs = {f"W_{k}": ones(3, 3, axes=f"a_{k} a_{k + 1}") for k in numbers(n)}
    return lambda: nt.evaluate(text, {"V": ones(3, axes="a_1"), **inputs})


def layers(n: int) -> str:
    layer = "X^l = X^{l-1} + tanh(X^{l-1} ⊙_{chans} W^l)_{chans'→chans}"
    return f"X^0 = X\n{layer} for l = 1, …, {n}\nW^l ∈ ℝ^{{chans × chans'}}\nloss = ∑_{{chans}} X^{{{n}}}"


def weights(n: int) -> dict[str, Any]:
    return {f"W^{k}": SQUARE for k in numbers(n)}


def gradient_by_the_last(n: int) -> Call:
    return evaluated(f"{layers(n)}\n∂loss/∂W^{{{n}}}*", **weights(n))


def gradients_by_all(n: int) -> Call:
    gradient = nt.gradient(layers(n), "loss", [*weights(n)])
    return lambda: gradient(values=weights(n), X=X)


# ------------------------------------------------------------------------------------------------------------ models
IDS = nt.tensor(np.arange(8) % 7, "seq")
SIZES = {"vocab": 7, "chans": 8, "hidden": 16}


def model(kind: str, sizes: dict[str, int]) -> Callable[[int], Call]:
    def make(n: int) -> Call:
        import transformer

        result = getattr(transformer, kind).init(0, {**SIZES, **sizes, "L": n}, "float32")
        return lambda: result(IDS)

    return make


def known(kind: str, sizes: dict[str, int]) -> Callable[[int], Call]:
    """A call as it is from the third one on."""

    def make(n: int) -> Call:
        result = model(kind, sizes)(n)
        result(), result()
        return result

    return make


def initialized(n: int) -> Call:
    import transformer

    return lambda: transformer.GPT2.init(0, {**SIZES, **GPT2, "L": n}, "float32")


GPT2 = {"heads": 2, "key": 4, "val": 4, "place": 32}
LLAMA = {"groups": 2, "queries": 2, "pair": 2, "val": 4}
DEPTHS = (1, 6, 12, 24, 48, 96)
CURVES = (
    Curve("symbols in a flat sum", flat_sum, (100, 300, 1_000, 3_000), (300, 900)),
    Curve("equations in a chain", chain, (100, 300, 1_000, 3_000), (300, 900)),
    Curve("equations in a chain, in a function", chain_in_a_function, (100, 300, 1_000, 3_000), (300, 900)),
    Curve("declared parameters in a function", declared_in_a_function, (100, 300, 1_000, 3_000), (200, 600)),
    Curve("definitions that nothing uses", unused_definitions, (100, 300, 1_000, 3_000), (300, 900)),
    Curve("declared parameters", declared, (100, 300, 1_000, 3_000), (200, 600)),
    Curve("functions that call each other", functions, (20, 40, 80, 160), (40, 160)),
    Curve("sizes in a chain", sizes_in_a_chain, (20, 40, 80, 160, 320), (40, 120)),
    Curve("gradient by the last layer's weight", gradient_by_the_last, DEPTHS, (16, 64)),
    Curve("gradients by the weights of all layers", gradients_by_all, DEPTHS, (16, 64)),
    Curve("GPT-2 by its layers, initialized", initialized, DEPTHS, (6, 24)),
    Curve("GPT-2 by its layers, first call", model("GPT2", GPT2), DEPTHS, (6, 24)),
    Curve("GPT-2 by its layers, known call", known("GPT2", GPT2), (6, 24, 48, 96, 192, 500), (6, 24)),
    Curve("Llama by its layers, first call", model("Llama", LLAMA), DEPTHS, (6, 24)),
)


def rows() -> list[dict]:
    """The exponent of each curve, with its points."""
    result = []
    for curve in CURVES:
        points = counted(curve, curve.sizes)
        result.append(
            {
                "figure": f"growth: {curve.name}, {points[-2][0]} to {points[-1][0]}", "value": exponent(*points[-2:]),
                "unit": "exponent of calls", "bar": BAR, "curve": curve.name, "points": points,
            }
        )  # fmt: skip
    return result
