"""NaN and ±∞ as inputs of every operator, on every library, against its definition on plain numbers.

The table has every record with a definition on numbers or rows; what an operator gives beside a NaN is thereby settled: a
function of numbers gives NaN (a comparison: false), a reduction gives NaN, `sort`, `argsort` put it last, `maxk` first.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference
from namedtensor.operators import REGISTRY

NAN, INF = math.nan, math.inf
NUMBERS = (NAN, INF, -INF, 0.0, -0.0, 1.5, -2.0, 0.25)
ROWS = (
    (1.0, NAN, 0.5), (INF, 1.0, 2.0), (-INF, 1.0, 2.0), (INF, -INF, 1.0), (-INF, -INF, -INF), (INF, INF, 1.0), (NAN, INF, 1.0),
    (NAN, -INF, -1.0), (2.0, 1.0, NAN), (NAN, NAN, NAN), (-INF, -INF, 3.0), (0.5, 0.25, 2.0),
)  # fmt: skip
LIBRARIES = ("numpy", "torch", "jax.numpy", "array_api_strict")
RECORDS = sorted({id(record): record for record in REGISTRY.values()}.values(), key=lambda operator: operator.name)
OF_NUMBERS = [
    record for record in RECORDS if record.kind == "elementwise" and not record.boolean[0] and record.name != "where"
]
OF_ROWS = [
    record
    for record in RECORDS
    if record.kind in ("reduction", "axis_map") and not record.boolean[0] and record.name not in "∧∨"
]


def tensor(library: str, numbers: Any, axes: str) -> nt.NamedTensor:
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    array = np.array(numbers)
    return nt.tensor(xp.from_numpy(array) if library == "torch" else xp.asarray(array), axes)


def plain(actual: nt.NamedTensor, order: tuple[str, ...]) -> np.ndarray:
    array = actual.to_array(order) if order else actual.array
    array = getattr(array, "_array", array)  # that of array_api_strict
    return np.asarray(array, dtype="float64")


def defined(record: Any, *arguments: Any) -> Any:
    """Return an operator's value by its definition on plain numbers, or by the reference evaluator if there is none."""
    if record.definition:
        definition = record.definition(*arguments)
    elif record.kind == "elementwise":
        names = dict(zip("xyz", arguments))
        definition = reference.evaluate(f"{record.name}({', '.join(names)})", names).to_list("")
    else:
        definition = reference.evaluate(f"{record.name}_{{a}} x", {"x": reference.tensor(*arguments, "a")})
        definition = definition.to_list(tuple(definition.shape))
    return [float(item) for item in definition] if isinstance(definition, list) else float(definition)


def same(actual: Any, expected: Any, library: str) -> None:
    single = library == "jax.numpy"
    np.testing.assert_allclose(actual, expected, rtol=2e-5 if single else 1e-12, atol=1e-6 if single else 1e-15)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("record", OF_NUMBERS, ids=lambda item: item.name)
def test_functions_of_numbers(record, library):
    count = record.arity[0]
    axes = "abc"[:count]
    operands = [tensor(library, NUMBERS, axis) for axis in axes]
    array = plain(getattr(nt, record.python_name)(*operands), tuple(axes))
    expected = [defined(record, *numbers) for numbers in itertools.product(NUMBERS, repeat=count)]
    same(array.reshape(-1), expected, library)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("record", OF_ROWS, ids=lambda item: item.name)
def test_functions_of_rows(record, library):
    element = getattr(nt, record.python_name)(tensor(library, ROWS, "b a"), axis="a")
    result = plain(element, ("b", "a") if "a" in element.axes else ("b",))
    base = 1 if record.counts_from_zero else 0  # as the Python functions count
    expected = np.array([defined(record, list(row)) for row in ROWS]) - base
    same(result, expected, library)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("text", ["argsort_{a} x", "sort_{a} x", "argmaxk_{a,k} x", "maxk_{a,k} x", "[argsort_{a} x]_{a(1)}", "[argsort_{a}(−x)]_{a(1)}",
                                  "x_{a(argsort_{a} x)}"])  # fmt: skip
def test_formulas_that_go_by_an_order_are_those_of_the_reference(text, library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    sizes = {"k": 2} if "k}" in text else {}
    for row in ROWS:
        result = nt.evaluate(text, x=tensor(library, row, "a"), sizes=sizes)
        expected = nt.evaluate(text, x=tensor("numpy", row, "a"), sizes=sizes)
        order = tuple(expected.axes)
        same(plain(result, order), plain(expected, order), library)


def test_sort_is_what_argsort_picks():
    for row in ROWS:
        x = tensor("numpy", row, "a")
        np.testing.assert_array_equal(
            nt.evaluate("x_{a(argsort_{a} x)}", x=x).array, nt.evaluate("sort_{a} x", x=x).array
        )
        assert nt.evaluate("[argsort_{a} x]_{a(1)}", x=x).item() == nt.argsort(x, axis="a").array[0] + 1


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_least_of_64_bits_is_sorted_too(library):
    if library == "jax.numpy":
        pytest.skip("JAX has no 64 bits here")
    x = tensor(library, np.array([3, -(2**63), 2**63 - 1]), "a")
    assert plain(nt.argsort(x, axis="a"), ("a",)).tolist() == [1, 0, 2]
