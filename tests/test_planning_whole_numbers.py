"""Whole numbers of all dtypes: formulas are over ℝ, and no number wraps around in silence.

Programs over tensors of whole numbers are drawn, and computed a second time by `exact`, in Python's fractions, with how far
floating numbers may be off. Dtypes depend on dtypes and the text, never on values.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import math
import operator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import namedtensor as nt

SIZES = {"a": 3, "b": 2}
NAMES = {"int8": "K", "int16": "L", "int32": "M", "int64": "N", "uint8": "P", "uint16": "Q", "uint32": "S", "uint64": "T",
         "bool": "B"}  # fmt: skip
INPUTS = {f"{letter}{axes}": (dtype, axes) for dtype, letter in NAMES.items() for axes in ("a", "b", "ab")}
WHOLE = (-(2**63), 2**63 - 1)


# ---------------------------------------------------------------------------------------------------------- programs
class Tree(NamedTuple):
    """An operator and its operands; `axes` are those of the result."""

    kind: str
    parts: tuple[Tree, ...]
    axes: frozenset[str]
    detail: Any = None

    @property
    def text(self) -> str:
        return FORMS[self.kind].format(*[part.text for part in self.parts], detail=self.detail)


FORMS = {
    "input": "{detail}", "truth": "𝕀[{detail}]", "number": "{detail}", "iota": "iota_{{{detail}}}", "+": "({0} + {1})", "-": "({0} - {1})",
    "*": "({0} ⊙ {1})", "/": "({0} / {1})", "negative": "(-{0})", "abs": "abs({0})", "sign": "sign({0})",
    "relu": "relu({0})", "floor": "floor({0})", "max2": "max({0}, {1})", "min2": "min({0}, {1})",
    "power": "({0}^{detail})", "raised": "({detail}^{{{0}}})", "sum": "(∑_{{{detail}}} {0})", "prod": "(∏_{{{detail}}} {0})",
    "max": "(max_{{{detail}}} {0})", "mean": "(mean_{{{detail}}} {0})", "cumsum": "(cumsum_{{{detail}}} {0})",
    "cumprod": "(cumprod_{{{detail}}} {0})", "sort": "(sort_{{{detail}}} {0})", "dot": "({0} ⊙_{{{detail}}} {1})",
    "pick": "[{0}]_{{{detail}(2)}}", "where": "where({0} > {1}, {2}, {3})",
    "join": "[{0} ⊕_{{{detail}}} {1}]_{{{detail}(4)}}", "cases": "{{ {2} if {0} ≤ {1}; {3} otherwise }}",
}  # fmt: skip
UNARY = ("negative", "abs", "sign", "relu", "floor")
BINARY = ("+", "-", "*", "+", "-", "*", "max2", "min2")
OVER = ("sum", "prod", "max", "mean", "cumsum", "cumprod", "sort", "pick")
KEEPING = ("cumsum", "cumprod", "sort")


@st.composite
def trees(draw, depth: int = 3) -> Tree:
    kind = draw(st.sampled_from(["leaf"] * (1 if depth else 50) + ["unary", "binary", "binary", "over", "more"]))
    if depth == 0 or kind == "leaf":
        return draw(leaves())
    first = draw(trees(depth - 1))
    if kind == "unary":
        name = draw(st.sampled_from((*UNARY, "power", "raised")))
        detail = draw(st.integers(0, 12)) if name == "power" else draw(st.integers(0, 7))
        return Tree(name, (first,), first.axes, detail if name in ("power", "raised") else None)
    if kind == "over":
        if not first.axes:
            return first
        name, axis = draw(st.sampled_from(OVER)), draw(st.sampled_from(sorted(first.axes)))
        return Tree(name, (first,), first.axes if name in KEEPING else first.axes - {axis}, axis)
    second = draw(trees(depth - 1))
    both = first.axes | second.axes
    if kind == "binary":
        return Tree(draw(st.sampled_from(BINARY)), (first, second), both)
    if "a" in first.axes & second.axes:
        name = draw(st.sampled_from(("dot", "join", "where", "cases")))
        if name in ("dot", "join"):
            return Tree(name, (first, second), both - {"a"}, "a")
    third, fourth = draw(leaves()), draw(leaves())
    return Tree(
        draw(st.sampled_from(("where", "cases"))), (first, second, third, fourth), both | third.axes | fourth.axes
    )


@st.composite
def leaves(draw) -> Tree:
    kind = draw(st.sampled_from(("input", "input", "input", "number", "iota")))
    if kind == "number":
        return Tree(
            kind, (), frozenset(), draw(st.sampled_from((0, 1, 2, 3, 7, 255, 300, 2**31, 2**53 + 1, 2**62 + 1)))
        )
    if kind == "iota":
        return Tree(kind, (), frozenset("a"), "a")
    name = draw(st.sampled_from([*INPUTS]))
    dtype, axes = INPUTS[name]
    return Tree("truth" if dtype == "bool" else "input", (), frozenset(axes), name)


def inputs_of(tree: Tree) -> set[str]:
    local = {tree.detail} if tree.kind in ("input", "truth") else set()
    return local.union(*map(inputs_of, tree.parts))


def drawn_values(names: set[str], draw) -> dict[str, np.ndarray]:
    """Arrays whose entries are often the least or the largest of their dtype."""
    result = {}
    for name in sorted(names):
        dtype, axes = INPUTS[name]
        low, high = (0, 1) if dtype == "bool" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
        shape = [SIZES[axis] for axis in axes]
        one = st.one_of(
            st.sampled_from((low, high, 0, 1)), st.integers(max(low, -20), min(high, 20)), st.integers(low, high)
        )
        numbers = draw(st.lists(one, min_size=math.prod(shape), max_size=math.prod(shape)))
        result[name] = np.array(numbers, dtype=dtype).reshape(shape)
    return result


# --------------------------------------------------------------------------------------------- the same, in fractions
class Number(NamedTuple):
    """A fraction, and how far floating numbers may be from it."""

    value: Any
    off: Any = 0


UNKNOWN = Number(Fraction(0), Fraction(10) ** 400)


class Float(NamedTuple):
    """Floating numbers: the largest whole number before their first gap, and their relative error."""

    gap: int
    error: Fraction
    held: tuple[int, int] = WHOLE


DOUBLE, SINGLE = Float(2**53, Fraction(1, 2**49)), Float(2**24, Fraction(1, 2**19), (-(2**31), 2**31 - 1))
Record = tuple[tuple[str, int], ...]


class Exact:
    """What a program is on given arrays; `passes` tells whether a sum of two passes 64 bits anywhere."""

    def __init__(self, arrays: dict[str, np.ndarray], kind: Float):
        self.arrays, self.kind, self.passes = arrays, kind, False

    def value(self, tree: Tree, at: dict[str, int]) -> Number:
        """One entry, at positions from 0."""
        if tree.kind in ("input", "truth"):
            number = int(self.arrays[tree.detail][tuple(at[axis] for axis in INPUTS[tree.detail][1])])
            return self.rounded(Number(Fraction(number)), whole=True)
        if tree.kind == "number":
            return self.rounded(Number(Fraction(tree.detail)), whole=True)
        if tree.kind == "iota":
            return Number(Fraction(at[tree.detail] + 1))
        return getattr(self, RULES.get(tree.kind, tree.kind))(tree, at)

    def rounded(self, x: Number, whole: bool = False) -> Number:
        """A result as floating numbers have it; a sum or a difference that must be whole where 64 bits hold it."""
        if whole and not self.kind.held[0] <= x.value <= self.kind.held[1]:
            self.passes = True
        if not x.off and x.value.denominator == 1 and abs(x.value) <= self.kind.gap:
            return x
        return Number(x.value, x.off + self.kind.error * (abs(x.value) + x.off))

    def entries(self, tree: Tree, at: dict[str, int], axis: str) -> list[Number]:
        return [self.value(tree, {**at, axis: index}) for index in range(SIZES[axis])]

    def parts(self, tree: Tree, at: dict[str, int]) -> list[Number]:
        return [self.value(part, at) for part in tree.parts]

    # ---------------------------------------------------------------------------------------------------- operators
    def plus(self, x: Number, y: Number) -> Number:
        number = self.rounded(Number(x.value + y.value, x.off + y.off), whole=True)
        apart = abs(x.value) + abs(y.value) > self.kind.gap  # where the operands themselves may have been rounded
        return Number(number.value, number.off + (self.kind.error * (abs(x.value) + abs(y.value)) if apart else 0))

    def times(self, x: Number, y: Number) -> Number:
        off = abs(x.value) * y.off + abs(y.value) * x.off + x.off * y.off
        apart = max(abs(x.value), abs(y.value)) > self.kind.gap
        number = self.rounded(Number(x.value * y.value, off))
        return Number(number.value, number.off + (4 * self.kind.error * abs(number.value) if apart else 0))

    def folded(self, join, numbers: list[Number], first: int) -> Number:
        total = Number(Fraction(first))
        for number in numbers:
            total = join(total, number)
        return total

    def sum_of(self, numbers: list[Number]) -> Number:
        size = sum(abs(number.value) + number.off for number in numbers)
        value = sum(number.value for number in numbers)
        off = sum(number.off for number in numbers)
        return Number(value, off + (4 * self.kind.error * size if off or size > self.kind.gap else 0))

    def binary(self, tree: Tree, at: dict[str, int]) -> Number:
        x, y = self.parts(tree, at)
        if tree.kind == "*":
            return self.times(x, y)
        return self.plus(x, y if tree.kind == "+" else Number(-y.value, y.off))

    def unary(self, tree: Tree, at: dict[str, int]) -> Number:
        (x,) = self.parts(tree, at)
        value = {"negative": -x.value, "abs": abs(x.value), "relu": max(x.value, Fraction(0))}[tree.kind]
        return self.rounded(Number(value, x.off), whole=tree.kind != "relu")

    def steps(self, tree: Tree, at: dict[str, int]) -> Number:
        """sign and floor, which jump where x may be off."""
        (x,) = self.parts(tree, at)
        value = Fraction((x.value > 0) - (x.value < 0)) if tree.kind == "sign" else Fraction(math.floor(x.value))
        return Number(value, x.off + 2 if x.off else 0)

    def extreme(self, tree: Tree, at: dict[str, int]) -> Number:
        several = self.entries(tree.parts[0], at, tree.detail) if tree.detail else self.parts(tree, at)
        choose = min if tree.kind == "min2" else max
        off = max(self.rounded(number).off for number in several)
        return Number(choose(number.value for number in several), off)

    def power(self, tree: Tree, at: dict[str, int]) -> Number:
        (part,) = self.parts(tree, at)
        if tree.kind == "power":
            return self.folded(self.times, [part] * tree.detail, 1)
        base, exponent = tree.detail, part
        if base == 1:
            return Number(Fraction(1))
        if exponent.off or exponent.value < -40 or exponent.value.denominator != 1:
            return UNKNOWN
        if base == 0 and exponent.value < 0:
            return UNKNOWN
        if base == 0:
            return Number(Fraction(exponent.value == 0))
        if exponent.value > 200:
            return UNKNOWN
        value = Fraction(base) ** int(exponent.value)
        return self.rounded(Number(value, 4 * self.kind.error * value if value > self.kind.gap or value < 1 else 0))

    def over(self, tree: Tree, at: dict[str, int]) -> Number:
        (part,), axis = tree.parts, tree.detail
        numbers = self.entries(part, at, axis)
        if tree.kind == "prod":
            return self.folded(self.times, numbers, 1)
        total = self.sum_of(numbers)
        if tree.kind == "mean":
            size = sum(abs(number.value) for number in numbers)
            return Number(total.value / len(numbers), total.off + 4 * self.kind.error * size)
        return self.rounded(total, whole=True)

    def along(self, tree: Tree, at: dict[str, int]) -> Number:
        numbers = self.entries(tree.parts[0], {**at}, tree.detail)
        position = at[tree.detail]
        if tree.kind == "sort":
            off = max(self.rounded(number).off for number in numbers)
            return Number(sorted(number.value for number in numbers)[position], off)
        upto = numbers[: position + 1]
        return (
            self.folded(self.times, upto, 1) if tree.kind == "cumprod" else self.rounded(self.sum_of(upto), whole=True)
        )

    def dot(self, tree: Tree, at: dict[str, int]) -> Number:
        left, right = (self.entries(part, at, tree.detail) for part in tree.parts)
        return self.sum_of([self.times(x, y) for x, y in zip(left, right)])

    def pick(self, tree: Tree, at: dict[str, int]) -> Number:
        self.entries(tree.parts[0], at, tree.detail)  # which are computed too, and may pass
        return self.value(tree.parts[0], {**at, tree.detail: 1})

    def join(self, tree: Tree, at: dict[str, int]) -> Number:
        for part in tree.parts:
            self.entries(part, at, tree.detail)
        return self.rounded(self.value(tree.parts[1], {**at, tree.detail: 0}), whole=True)

    def choice(self, tree: Tree, at: dict[str, int]) -> Number:
        x, y, left, right = self.parts(tree, at)
        left, right = (self.rounded(number, whole=True) for number in (left, right))
        x, y = self.rounded(x, whole=True), self.rounded(y, whole=True)
        if (x.off or y.off) and abs(x.value - y.value) <= x.off + y.off:
            return Number(left.value, abs(left.value - right.value) + left.off + right.off)
        return left if (x.value > y.value) == (tree.kind == "where") else right


RULES = {
    "+": "binary", "-": "binary", "*": "binary", "negative": "unary", "abs": "unary", "relu": "unary", "sign": "steps",
    "floor": "steps", "max2": "extreme", "min2": "extreme", "max": "extreme", "power": "power", "raised": "power",
    "sum": "over", "prod": "over", "mean": "over", "cumsum": "along", "cumprod": "along", "sort": "along", "where": "choice",
    "cases": "choice",
}  # fmt: skip


# --------------------------------------------------------------------------------------------------------- libraries
def library(name: str) -> tuple[Any, Any]:
    """A function that makes arrays, and a context to compute in."""
    if name == "numpy":
        return lambda array: array, contextlib.nullcontext()
    module = {"torch": "torch", "strict": "array_api_strict"}.get(name, "jax")
    pytest.importorskip(module, reason=f"{module} is not installed")
    if module == "jax":
        jax = importlib.import_module("jax")
        wide = (
            jax.enable_x64(name == "jax of 64 bits")
            if hasattr(jax, "enable_x64")
            else jax.experimental.enable_x64(name == "jax of 64 bits")
        )
        return importlib.import_module("jax.numpy").asarray, wide
    xp = importlib.import_module(module)
    return (xp.from_numpy if module == "torch" else xp.asarray), contextlib.nullcontext()


LIBRARIES = ("numpy", "torch", "strict", "jax of 64 bits", "jax")


def computed(text: str, arrays: dict[str, np.ndarray], make: Any) -> Any:
    """The value, or None where 64 bits are passed and that is said."""
    try:
        tensors = {name: nt.tensor(make(array), " ".join(INPUTS[name][1])) for name, array in arrays.items()}
        return nt.evaluate(text, tensors, sizes={"a": SIZES["a"]} if "iota" in text else {})
    except nt.NotationError as error:
        assert "integer overflow" in str(error), error
        return None


def agree(tree: Tree, arrays: dict[str, np.ndarray], kind: Float, actual: Any) -> None:
    """Compare each entry with the exact one, which floating numbers may be off as far as it says."""
    exact = Exact(arrays, kind)
    order = sorted(tree.axes)
    expected = {
        places: exact.value(tree, dict(zip(order, places)))
        for places in itertools.product(*(range(SIZES[axis]) for axis in order))
    }
    if actual is None:
        assert exact.passes, tree.text
        return
    array = np.asarray(actual.to_array(order) if order else actual.array)
    largest = 2.0**1023 if kind is DOUBLE else 2.0**127
    for places, number in expected.items():
        if abs(number.value) + number.off > largest / 2**10 or not math.isfinite(float(array[places])):
            continue  # what is beyond floating numbers is ∞, and what is made of that
        entry = Fraction(array[places].item())
        assert abs(entry - number.value) <= number.off, (tree.text, places, entry, number, array.dtype)


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_whole_numbers_are_those_of_exact_arithmetic(name):
    """And other values of the same dtypes give the same dtype."""
    make, context = library(name)
    draws = settings().max_examples // (
        5 if name.startswith("jax") else 1
    )  # what JAX compiles for each takes most of it

    @settings(max_examples=draws, deadline=None)
    @given(data=st.data())
    def agrees(data):
        tree = data.draw(trees())
        names, single = inputs_of(tree), name == "jax"
        dtypes = set()
        for _ in range(2):
            arrays = drawn_values(names, data.draw)
            result = computed(tree.text, arrays, make)
            narrow = {key: np.asarray(make(array)) for key, array in arrays.items()}  # JAX may have no 64 bits
            agree(tree, narrow, SINGLE if single else DOUBLE, result)
            dtypes |= {str(result.dtype)} if result is not None else set()
        assert len(dtypes) <= 1, tree.text

    with context:
        agrees()


@pytest.mark.parametrize("name", ("numpy", "jax"))
@pytest.mark.parametrize(
    ("dtype", "exponents", "large", "fits"),
    [
        ("uint8", [255, 0, 3], 2**31 - 1, {"numpy": True, "jax": False}),  # 1^P is whole, and the sum 2^31
        ("uint8", [255, 0, 3], 2**31 - 2, {"numpy": True, "jax": True}),
        ("uint16", [65535, 201, 0], 2**31 - 1, {"numpy": True, "jax": False}),
        (
            "int8",
            [127, -3, 0],
            2**31 - 1,
            {"numpy": True, "jax": True},
        ),  # 1^P may be a fraction, as 2^{-3} is: floating
    ],
)
def test_a_power_of_one_is_exact_for_each_exponent(name, dtype, exponents, large, fits):
    """The dtype of the exponent decides whether the sum is of integers, which may exceed 32 bits."""
    make, context = library(name)
    letter = NAMES[dtype]
    leaves = [Tree("input", (), frozenset("a"), f"{name}a") for name in (letter, "M", "K" if letter != "K" else "L")]
    raised = Tree("raised", leaves[:1], frozenset("a"), 1)
    tree = Tree("+", (raised, Tree("+", tuple(leaves[1:]), frozenset("a"))), frozenset("a"))
    arrays = {
        leaves[0].detail: np.array(exponents, dtype),
        leaves[1].detail: np.array([large, 0, -5], "int32"),
        leaves[2].detail: np.zeros(3, INPUTS[leaves[2].detail][0]),
    }
    with context:
        result = computed(tree.text, arrays, make)
        agree(tree, arrays, SINGLE if name == "jax" else DOUBLE, result)
    assert (result is not None) == fits[name]


# ---------------------------------------------------------------------------------------------- the text alone decides
KNOWN = {
    "∑_{i=1}^{70} 2^i": 2**71 - 2, "∏_{i=1}^{25} i": math.factorial(25), "h^0 = 1\nh^t = 3 h^{t-1} for t = 1, …, 50\nh^50": 3**50,
    "(∏_{i=1}^{30} i) / ((∏_{i=1}^{15} i) ⊙ (∏_{i=1}^{15} i))": math.comb(30, 15), "∏_{i=1}^{18} i": math.factorial(18),
    "[4000000000, 3]_{a} ⊙_{a} [4000000000, 3]_{a}": 16 * 10**18 + 9, "max_{a} [9223372036854775807, 1]_{a}": 2**63 - 1,
    "3^30 ⊙ 3^10": 3**40, "2^62 + 1": 2**62 + 1, "∑_{a} [9007199254740993, 1]_{a}": 2**53 + 2, "20000000000000000000": 2 * 10**19,
    "max_{a} [9223372036854775807 + 1, 1]_{a}": 2**63, "(9223372036854775807 - 1) - 9223372036854775806": 0,
}  # fmt: skip
SIZED = {"∏_{a} iota_{a}^{25}": math.factorial(3) ** 25, "∑_{a} 2^{30 iota_{a}}": sum(2 ** (30 * i) for i in (1, 2, 3)),
         "∑_{a} 2^{3 iota_{a}}": 8 + 64 + 512}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [*KNOWN.items(), *SIZED.items()])
def test_numbers_of_the_text_alone(text, expected):
    result = nt.evaluate(text, sizes={"a": 3} if text in SIZED else {})
    assert result.item() == pytest.approx(expected, rel=1e-14, abs=0)


# ------------------------------------------------------------------------------------- one dtype, wherever it is computed
PROGRAMS = {
    "u - 2": "int64", "2 u": "int64", "u ⊙ n": "float64", "n + 1": "int64", "n ⊙ n": "float64", "abs(k)": "int64", "-k": "int64",
    "u ⊙_{a} u": "int64", "∑_{a} n": "float64", "u^3": "int64", "u^9": "float64", "n^2": "float64", "2^u": "float64", "max(u, k)": "int64",
    "max_{a} u": "uint8", "sort_{a} n": "int64", "cumsum_{a} u": "int64", "where(u > n, u, 300)": "int64", "u ⊕_{a} u": "uint8",
    "∂(∑_{a} (u - 3)^2)/∂u*": "int64", "2 n ⊙ f": "float32", "n^2 ⊙ f": "float32", "(n ⊙ n) / 2 + f": "float32", "f ⊙ u": "float32",
    "f + ∑_{b} ((n / 3)_{a→b} + n / 3)": "float32", "35184372088832 u": "int64", "70368744177664 u": "float64",
    "(-35184372088832) ⊙ u": "int64", "(-70368744177664) ⊙ u": "float64",
}  # fmt: skip


def tensors(values, make):
    inputs = {
        "u": ("uint8", [1, 200, 7]),
        "k": ("int8", [-128, 5, 1]),
        "n": ("int64", values),
        "f": ("float32", [0.5, 1, 2]),
    }
    return {name: nt.tensor(make(np.array(numbers, dtype)), "a") for name, (dtype, numbers) in inputs.items()}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ("numpy", "torch", "strict", "jax of 64 bits"))
@pytest.mark.parametrize(("text", "dtype"), PROGRAMS.items())
def test_one_dtype_however_it_is_computed(text, dtype, name):
    make, context = library(name)
    with context:
        results = []
        for values in ([3, -4, 5], [2**53 + 1, 0, -(2**62)]):
            inputs = {key: tensor for key, tensor in tensors(values, make).items() if key in text}
            formula = nt.formula(text)
            compiled = formula.compile()
            several = [
                nt.evaluate(text, inputs),
                *(run(values=inputs) for run in (formula, nt.program(text), compiled, compiled)),
            ]
            if name in ("numpy", "torch"):
                space: dict[str, Any] = {}
                exec(formula.to_python(name, inputs), space)
                several.append(
                    nt.tensor(space["function"](*(input_.array for input_ in inputs.values())), several[0].axes)
                )
            assert all(nt.allclose(several[0], item, rtol=0, atol=0) for item in several)
            results += [str(item.dtype).rpartition(".")[2] for item in several]
    assert set(results) == {dtype}


COMPARED = {"u > 5": [2, 1, 1], "u > 300": [2, 2, 2], "u = 200": [2, 1, 2], "b = 1": [1, 2, 1], "b ≠ 1": [2, 1, 2]}


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize(("condition", "expected"), COMPARED.items())
def test_whole_numbers_and_conditions_are_compared_with_numbers(condition, expected, name):
    make, context = library(name)
    arrays = {"u": np.array([1, 200, 7], "uint8"), "b": np.array([True, False, True])}
    with context:
        operand = nt.tensor(make(arrays[condition[0]]), "a")
        result = nt.evaluate(f"{{ 1 if {condition}; 2 otherwise }}", {condition[0]: operand})
    assert np.asarray(result.to_array("a")).tolist() == expected


BEYOND = {"n < {}": [1, 1, 1], "n = {}": [2, 2, 2], "{} ≤ n": [2, 2, 2], "n > -3{}": [1, 1, 1], "-3{} ≥ n": [2, 2, 2],
          "n < ∞": [1, 1, 1], "n ≤ -∞": [2, 2, 2]}  # fmt: skip


@pytest.mark.filterwarnings("error::namedtensor.NotationWarning")
@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize(("condition", "expected"), BEYOND.items())
def test_the_largest_integers_are_less_than_the_number_after_them(condition, expected, name):
    make, context = library(name)
    bits = 32 if name == "jax" else 64
    integers = np.array([2 ** (bits - 1) - 1, 0, -(2 ** (bits - 1))], f"int{bits}")
    with context:
        text = f"{{ 1 if {condition.format(2 ** (bits - 1))}; 2 otherwise }}"
        result = nt.evaluate(text, n=nt.tensor(make(integers), "a"))
    assert np.asarray(result.to_array("a")).tolist() == expected


COMPARISONS = {
    "<": operator.lt,
    "≤": operator.le,
    "=": operator.eq,
    "≠": operator.ne,
    "≥": operator.ge,
    ">": operator.gt,
}


@pytest.mark.filterwarnings("error::namedtensor.NotationWarning")
@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("symbol", COMPARISONS)
def test_integers_at_the_ends_are_compared_exactly(symbol, name):
    make, context = library(name)
    bits = 32 if name == "jax" else 64
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    integers = [low, low + 1, low + 2, 0, high - 2, high - 1, high]
    expected = COMPARISONS[symbol]
    with context:
        n = nt.tensor(make(np.array(integers, f"int{bits}")), "a")
        for number in (end + offset for end in (low, high) for offset in (-2, -1, 0, 1, 2)):
            for text, values in ((f"𝕀[n {symbol} {number}]", [(integer, number) for integer in integers]),
                                 (f"𝕀[{number} {symbol} n]", [(number, integer) for integer in integers])):  # fmt: skip
                actual = np.asarray(nt.evaluate(text, n=n).to_array("a")).tolist()
                assert actual == [expected(*pair) for pair in values], text


@pytest.mark.filterwarnings("ignore::namedtensor.NotationWarning")
@pytest.mark.parametrize(("number", "expected"), [("2147483647.0", [1, 2, 2]), ("-2147483648.0", [2, 2, 1])])
def test_the_floats_at_the_ends_of_the_integers_are_equal_to_them(number, expected):
    make, context = library("jax")
    with context:
        n = nt.tensor(make(np.array([2**31 - 1, 0, -(2**31)], "int32")), "a")
        assert nt.evaluate(f"{{ 1 if n = {number}; 2 otherwise }}", n=n).array.tolist() == expected


def test_narrow_whole_numbers_are_compared_as_they_are():
    u = nt.tensor(np.array([1, 200, 7], "uint8"), "a")
    for number, copies in ((5, 0), (255, 0), (256, 1)):
        compiled = nt.formula(f"{{ 1 if u = {number}; 2 otherwise }}").compile("numpy")
        compiled(u=u)
        assert [step.primitive for step in compiled.plan.steps].count("cast") == copies, number


# ------------------------------------------------------------------------------------------------- eager, and what fails
def test_python_operators_go_by_the_same_rule():
    u, n = (
        nt.tensor(np.array(numbers, dtype), "a") for numbers, dtype in (([1, 200], "uint8"), ([2**62, -5], "int64"))
    )
    truth = nt.tensor([True, False], "a")
    for _ in range(2):  # the second time it is prepared already
        assert (u - 2).array.tolist() == [-1, 198] and (u * 2).array.tolist() == [2, 400]
        assert (u - nt.tensor(np.array([3, 250], "uint8"), "a")).array.tolist() == [-2, -50]
        assert (n * n).array.tolist() == [2.0**124, 25] and nt.dot(n, n, axis="a").item() == pytest.approx(2.0**124)
        assert nt.abs(nt.tensor(np.array([-128], "int8"), "a")).array.tolist() == [128]
        assert (truth + truth).array.tolist() == [2, 0] and (truth + True).array.tolist() == [2, 1]
        assert (u**True).dtype == np.int64 and (u**True).array.tolist() == [1, 200]


PASSED = {"n + n": (0, 5), "n - k": (0, 5), "-k": (0, 2), "abs(k)": (0, 6), "1 + (w + k)": (4, 11)}


@pytest.mark.parametrize("name", ("numpy", "torch", "strict", "jax of 64 bits"))
@pytest.mark.parametrize(("text", "span"), PASSED.items())
def test_a_sum_beyond_64_bits_is_an_error_that_says_where(text, span, name):
    make, context = library(name)
    numbers = {"n": np.array([2**62, 1]), "k": np.array([-(2**63), 1]), "w": np.array([2**63, 1], "uint64")}
    with context:
        inputs = {key: nt.tensor(make(array), "a") for key, array in numbers.items() if key in text}
        compiled = nt.formula(text).compile()
        for run in (
            lambda: nt.evaluate(text, inputs),
            lambda: compiled(values=inputs),
            lambda: compiled(values=inputs),
        ):
            with pytest.raises(nt.NotationError, match="integer overflow") as caught:
                run()
            assert (caught.value.code, caught.value.span) == (405, span)


def test_what_pytorch_compiles_fails_too():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    compiled = nt.formula("n + 1").compile("torch").specialize(n=nt.tensor(torch.tensor([1, 2]), "a"))
    function = torch.compile(compiled.function, backend="eager", fullgraph=True)
    assert function(torch.tensor([1, 2])).tolist() == [2, 3]
    with pytest.raises(RuntimeError, match="integer overflow"):
        function(torch.tensor([2**63 - 1, 2]))


# ------------------------------------------------------------------------------------------------------ complex numbers
REAL = ("σ(u)", "relu(u)", "max_{a} u", "max(u, 1)", "argmax_{a} u", "sort_{a} u", "clip(u, 0, 1)", "var_{a} u", "std_{a} u",
        "floor u", "ceil u", "gelu u", "softmax_{a} u", "standardize_{a} u", "sign(u)", "softplus u", "𝕀[u < 1]", "logsumexp_{a} u")  # fmt: skip
COMPLEX = {"u + 1": lambda u: u + 1, "u ⊙_{a} u": lambda u: (u * u).sum(), "exp u": np.exp, "abs(u)": np.abs, "u^2": lambda u: u * u,
           "norm_{a} u": np.linalg.norm, "mean_{a} u": np.mean, "𝕀[u = u]": lambda u: np.ones(2), "cumsum_{a} u": np.cumsum}  # fmt: skip
U = np.array([1 + 2j, -3 + 0.5j])


@pytest.mark.parametrize("text", REAL)
def test_what_goes_by_an_order_refuses_complex_numbers(text):
    with pytest.raises(nt.NotationError, match="expects real numbers, got complex128") as caught:
        nt.evaluate(text, u=nt.tensor(U, "a"))
    assert caught.value.code == 405 and caught.value.span is not None


@pytest.mark.parametrize("text", COMPLEX)
def test_what_does_not_is_right_for_them(text):
    np.testing.assert_allclose(nt.evaluate(text, u=nt.tensor(U, "a")).array, COMPLEX[text](U), rtol=1e-14)


def test_every_operator_says_whether_it_is_right_for_complex_numbers():
    """Each gives of complex numbers what it gives of real ones, turned by a plane rotation where it is linear; or refuses."""
    from namedtensor.operators import REGISTRY

    x = np.array([0.5, 2.0])
    for record in set(REGISTRY.values()):
        if (
            record.kind not in ("elementwise", "reduction", "axis_map", "contraction")
            or record.boolean[0]
            or record.name == "where"
        ):
            continue
        axis = {} if record.kind == "elementwise" else {"axis": "a"}
        operands = [nt.tensor(array.astype(complex), "a") for array in (x, x)[: record.arity[0]]]
        function = getattr(nt, record.python_name)
        if record.complex:
            expected = function(*[nt.tensor(operand.array.real, "a") for operand in operands], **axis)
            np.testing.assert_allclose(
                function(*operands, **axis).array, expected.array, rtol=1e-12, err_msg=record.name
            )
        else:
            with pytest.raises(nt.NotationError, match="expects real numbers"):
                function(*(operands * 3)[: record.arity[0]], **axis)


# ----------------------------------------------------------------------------------------------- standard deviations
@pytest.mark.parametrize(
    ("dtype", "scale"), [("float64", 1e200), ("float64", 1e-200), ("float32", 1e20), ("float32", 1e-25)]
)
def test_a_deviation_neither_overflows_nor_vanishes(dtype, scale):
    X = nt.tensor((np.array([3.0, 5.0]) * scale).astype(dtype), "a")
    assert nt.std(X, axis="a").item() == pytest.approx(scale, rel=1e-6)


@pytest.mark.parametrize("name", ("standardize", "std", "var"))
def test_half_precision_takes_off_its_mean_in_single(name):
    numbers = np.array([1e4, 1e4 + 8, 1e4 + 8], "float16")
    result = nt.evaluate(f"{name}_{{a}} X", X=nt.tensor(numbers, "a"))
    expected = nt.evaluate(f"{name}_{{a}} X", X=nt.tensor(numbers.astype("float64"), "a"))
    assert result.dtype == np.float16
    np.testing.assert_allclose(result.array, expected.array, rtol=2e-3)


def test_what_was_planned_with_64_bits_is_no_plan_for_32():
    jax = pytest.importorskip("jax")
    inputs = {"S": np.array([0, 0, 2**32 - 1], "uint32"), "P": np.zeros(3, "uint8")}
    program = nt.program("where(iota_{a} > 1, S, P)")
    dtypes = []
    for wide in (True, False, True):
        jax.config.update("jax_enable_x64", wide)
        tensors = {name: nt.tensor(jax.numpy.asarray(array), "a") for name, array in inputs.items()}
        for result in (program(**tensors), nt.evaluate("where(iota_{a} > 1, S, P)", tensors)):
            assert [float(item) for item in result.array] == [
                0,
                0,
                float(np.float32(2**32 - 1)) if not wide else 2**32 - 1,
            ]
        dtypes.append(str(result.dtype))
    assert dtypes == ["int64", "float32", "int64"]


@pytest.mark.parametrize("value", [2**63, 2**64, -(2**63) - 2, 10**30, -(10**400), 10**400])
def test_a_plain_number_beyond_64_bits_is_a_float(value):
    expected = float(value) if abs(value) < 10**308 else math.copysign(math.inf, 1 if value > 0 else -1)
    for result in (nt.evaluate("x + 1", x=value), nt.compile("x + 1")(x=value), nt.formula("x")(x=value)):
        assert str(result.dtype) == "float64" and float(result) == expected


def test_creating_integers_beyond_64_bits_raises_an_error():
    for create in (
        lambda: nt.full("a[2]", 2**63),
        lambda: nt.full_like(nt.tensor([1], "a"), 2**63),
        lambda: nt.arange("a[2]", -(2**63) - 1),
        lambda: nt.arange("a[2]", step=2**63),
    ):
        with pytest.raises(nt.NotationError, match="exceeds 64 bits") as caught:
            create()
        assert caught.value.code == 405
    for data in (2**70, [2**70, 1]):
        with pytest.raises(nt.NotationError, match="got integers that exceed 64 bits"):
            nt.tensor(data, "a" if isinstance(data, list) else "")
