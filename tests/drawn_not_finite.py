"""Drawn formulas with NaN and ±∞ among their numbers, on several libraries and dtypes, against the reference evaluator.

    python tests/drawn_not_finite.py 1000 0        a thousand draws from seed 0 on, and what differs

Operators are those that define what they give of such numbers in any order of computing: no product is summed here, for
0 · ∞ comes and goes with the order of a contraction.
"""

from __future__ import annotations

import math
import random
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import namedtensor as nt
from namedtensor import reference

LIBRARIES = ("numpy", "torch", "jax.numpy", "array_api_strict")
SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0)
# fmt: off
OF_ONE = "−{0}|abs({0})|sign({0})|exp({0})|tanh({0})|σ({0})|relu({0})|elu({0})|leaky_relu({0})|floor({0})|round({0})|arctan({0})|silu({0})".split("|")
OF_TWO = "({0} + {1})|({0} − {1})|({0} ⊙ {1})|({0} / {1})|max({0}, {1})|min({0}, {1})|{{ {0} if {0} < {1}; {1} otherwise }}|where({0} ≥ {1}, {1}, {0})".split("|")
ALONG = "softmax_{{{1}}}({0})|logsoftmax_{{{1}}}({0})|sort_{{{1}}}({0})|argsort_{{{1}}}({0})|argmax_{{{1}}}({0})|cummax_{{{1}}}({0})|exp({0}) / (∑_{{{1}}} exp({0}))".split("|")
OVER = "max_{{{1}}}({0})|min_{{{1}}}({0})|∑_{{{1}}} {0}|mean_{{{1}}}({0})|median_{{{1}}}({0})|logsumexp_{{{1}}}({0})|log(∑_{{{1}}} exp({0}))".split("|")


# fmt: on


MEANING = {  # what is written out has the meaning of the function
    "exp({0}) / (∑_{{{1}}} exp({0}))": "softmax_{{{1}}}({0})",
    "log(∑_{{{1}}} exp({0}))": "logsumexp_{{{1}}}({0})",
}


class Sample(NamedTuple):
    text: str
    arrays: dict[str, np.ndarray]
    meaning: str  # for the reference evaluator, which computes what is written


def draw(seed: int) -> Sample:
    """A formula over X and Y, whose numbers are small or not finite."""
    random_ = random.Random(seed)
    dtype = random_.choice(("float64", "float64", "float32"))

    def entries(shape: tuple[int, ...]) -> np.ndarray:
        numbers = [
            random_.choice(SPECIAL) if random_.random() < 0.3 else random_.randint(-12, 12) / 4
            for _ in range(math.prod(shape))
        ]
        return np.array(numbers, dtype).reshape(shape)

    def filled(form: str, *parts: Any) -> tuple[str, str]:
        pairs = [part if isinstance(part, tuple) else (part, part) for part in parts]
        return tuple(
            name.format(*(pair[at] for pair in pairs)) for at, name in enumerate((form, MEANING.get(form, form)))
        )  # type: ignore[return-value]

    def term(depth: int, axes: str) -> tuple[str, str]:
        if depth == 0:
            return ("X", "X") if axes == "ab" else ("Y", "Y")
        kind = random_.random()
        if kind < 0.3:
            return filled(random_.choice(OF_ONE), term(depth - 1, axes))
        if kind < 0.6:
            return filled(random_.choice(OF_TWO), term(depth - 1, axes), term(random_.randint(0, depth - 1), axes))
        if kind < 0.8 or axes == "ab":
            return filled("({0})", filled(random_.choice(ALONG), term(depth - 1, axes), "a"))
        return filled("({0})", filled(random_.choice(OVER), term(depth - 1, "ab"), "b"))

    arrays = {"X": entries((3, 2)), "Y": entries((3,))}
    text, meaning = term(random_.randint(1, 3), random_.choice(("a", "ab")))
    return Sample(text, {name: array for name, array in arrays.items() if name in text}, meaning)


def axes_of(array: np.ndarray) -> tuple[str, ...]:
    return ("a", "b")[: array.ndim]


def values(sample: Sample) -> Iterator[tuple[str, Any]]:
    """What each library gives, compiled and not, by its name."""
    for library in LIBRARIES:
        try:
            xp = import_module(library)
        except ImportError:
            continue
        tensors = {
            name: nt.tensor(xp.from_numpy(array.copy()) if library == "torch" else xp.asarray(array), axes_of(array))
            for name, array in sample.arrays.items()
        }
        yield library, nt.evaluate(sample.text, tensors)
        if library in ("torch", "numpy"):
            yield f"{library}, compiled", nt.formula(sample.text).compile(library)(values=tensors)


def differences(sample: Sample) -> list[str]:
    """The libraries that give other numbers than the reference evaluator, and what both give."""
    tensors = {name: reference.tensor(array.tolist(), axes_of(array)) for name, array in sample.arrays.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = reference.evaluate(sample.meaning, tensors)
        order = tuple(expected.shape)
        exact = np.array(expected.to_list(order), dtype=float)
        element = []
        single = any(array.dtype == np.float32 for array in sample.arrays.values())
        for name, value in values(sample):
            array = value.to_array(order)
            result = np.asarray(getattr(array, "_array", array), dtype=float)
            close = 1e-4 if single or name.startswith("jax") else 1e-9
            if result.shape != exact.shape or not np.allclose(result, exact, rtol=close, atol=close, equal_nan=True):
                element.append(f"{name}: {result.tolist()}, where {exact.tolist()} is due")
    return element


def main() -> int:
    count, start = (int(text) for text in (*sys.argv[1:], "1000", "0")[:2])
    wrong = 0
    for seed in range(start, start + count):
        sample = draw(seed)
        for difference in differences(sample):
            wrong += 1
            print(
                f"seed {seed}: {sample.text}\n  {difference}\n  { ({name: array.tolist() for name, array in sample.arrays.items()}) }"
            )
    print(f"{count} formulas, {wrong} differences")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
